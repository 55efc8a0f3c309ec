"""Schemes for rigid jobs: FCFS and EASY backfilling, on processors without a topology and on the nodes of a tree."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.threads import interruptible
from schedlab.kernels import placement as on_nodes
from schedlab.kernels.conservative import NO_COMPRESSION
from schedlab.kernels.easy import easy
from schedlab.kernels.easy_depth import easy_depth
from schedlab.kernels.fcfs import fcfs
from schedlab.kernels.pools_conservative import new_book, pools_conservative
from schedlab.kernels.pools_easy import new_heads, pools_easy
from schedlab.machine import Flat, KaryTree, Pools
from schedlab.workload.conventions import KILL_BACKFILLED, OVERRUN

from .._runtime.words import Shadow
from . import placement, pooled
from .base import Case, Outcome, Scheme
from .orders import OF_USERS, Order, check_order, check_veto, explained, order_name, policy_name, prepare, prepare_veto

ALL = "all"

# If more than MANY jobs wait, an index finds the candidates of EASY, once there were LOOKS looks at waiting jobs per
# job of the log. Measured on whole logs: with LOOKS divided by 4, HPC2N takes 3 % longer; with LOOKS doubled, EASY-SJBF
# takes 14 % longer on SDSC-SP2 at a load of 1.05.
MANY, LOOKS = 400, 32


@dataclass(frozen=True)
class Queued(Scheme):
    """Base of the schemes that serve a queue in some order.

    Parameters
    ----------
    order : str or function
        Order of the queue: a name, or a function that returns a number. The names:

        - "fcfs", "lcfs": first come, or last come, first served.
        - "sjf", "ljf": shortest, or longest, estimate first; "narrow", "wide": fewest, or most, processors; "saf",
          "laf": smallest, or largest, area (estimate x processors).
        - "xfactor": largest expansion factor first, (wait + estimate) / estimate.
        - "wfp3", "unicef": Tang et al., Cluster 2009. "f1" to "f4": Carastan-Santos and de Camargo, SC 2017, Table 3.
        - "fairshare": least recent usage of the user first; "multifactor": Slurm's multifactor priority.
          (`sl.fairshare` and `sl.multifactor` have settings.)

        The job for which a function returns the smallest number goes first; equal numbers go first come, first served.
        The function's parameters name the values that it gets, any of these:

        - ``now, submit, estimate, procs``: int64, seconds since the first submission, and processors. With `now`, the
          order changes with time.
        - Columns of the jobs: ``user``, ``group``, ``queue``, ``partition``, ``requested_memory``, or one that a reader
          kept, such as ``account``. Text arrives as codes (`Trace.codes`); see `schedlab.workload.columns.Columns`. An
          order that uses ``run_time`` is clairvoyant.
        - Running sums, which change with time: ``user_usage`` (processor-seconds so far, with a half-life of 7 days;
          see `Usage` for others), ``user_running`` (jobs), ``user_held`` (processors now), ``user_queued`` (jobs). Any
          column can replace ``user`` (``account_usage``); ``total`` means all jobs (``total_usage``).
        - ``machine_procs`` and ``user_count``: processors of the machine, and number of users. Jobs with an unknown
          user count as one user.

        Other parameters need a default, or a value fixed by `functools.partial`. Methods and objects that can be called
        work, too; compiled code reads the numbers, text and arrays that they find in ``self``. A function is compiled
        once, and again only if it or what it uses from outside has changed, such as an array or an ``@njit`` helper.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
    >>> def patience(now, submit, estimate):
    ...     return -(now - submit) / estimate
    >>> schemes = [sl.EASY(), sl.EASY(order="sjf"), sl.Conservative(order="wfp3"), sl.EASY(order=patience)]
    >>> sl.sweep(trace, schemes, progress=False)["scheme"].tolist()
    ['EASY', 'EASY-SJF', 'Conservative-WFP3', 'EASY-PATIENCE']
    """

    order: str | Callable = "fcfs"

    events = ("batched", "each")

    def __post_init__(self):
        check_order(self.order)

    def __str__(self) -> str:
        return self.label if self.order == "fcfs" else f"{self.label}-{order_name(self.order).upper()}"

    @property
    def policies(self) -> tuple:
        """Settings that may be a user's function: here the order."""
        return (self.order,)

    @property
    def forgets(self) -> bool:
        """As in `Scheme`: true if its policies have names and keep no running sums."""
        return all(policy is None or (isinstance(policy, str) and policy not in OF_USERS) for policy in self.policies)

    def queue(self, case: Case) -> Order:
        """Return the order of the queue in the form that the kernels take."""
        return prepare(self.order, case)


@dataclass(frozen=True)
class FCFS(Queued):
    """First come, first served; the first job that does not fit blocks all behind it.

    Parameters
    ----------
    order : str or function
        See `schedlab.schemes.Queued`. Any order but "fcfs" makes this list scheduling by that priority.

    Examples
    --------
    Job 2 does not fit beside job 1. Under FCFS, jobs 3 and 4 wait behind it, although they fit. EASY backfills them:

    >>> import schedlab as sl
    >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6), (2, 3, 3, 3), (3, 7, 7, 2)]  # submission, run time, estimate, processors
    >>> trace = sl.testing.trace_of(jobs, machine=8)
    >>> schedules = {"FCFS": sl.simulate(trace, sl.FCFS()), "EASY": sl.simulate(trace, sl.EASY())}
    >>> [schedule.jobs["wait_time"].tolist() for schedule in schedules.values()]
    [[0, 5, 8, 7], [0, 5, 0, 2]]
    >>> chart = sl.charts.gantts(schedules, color="job_number", label="job_number")
    """

    label = "FCFS"
    names = {"fcfs": {}}
    colours = {"FCFS": "#8C8C8C", "FCFS-SJF": "#CC79A7"}
    machines = (Flat, KaryTree, Pools)
    overruns = (*OVERRUN, KILL_BACKFILLED)
    backfills = False

    @property
    def in_order(self) -> bool:
        """Jobs start in order of arrival only with the order "fcfs"."""
        return self.order == "fcfs"

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.fcfs` and `schedlab.kernels.placement`."""
        if isinstance(case.machine, KaryTree):
            rules = (prepare_veto(None, case), on_nodes.NO_RESERVATION, on_nodes.OFF, case.kills)
            return placement.simulate(on_nodes.placement, case, self.queue(case), *rules)
        if isinstance(case.machine, Pools):
            order = self.queue(case)
            return pooled.simulate(pools_easy, new_heads, case, order, order, False, prepare_veto(None, case), False)
        return case.outcome(*interruptible(fcfs, case.jobs, case.machine.procs, self.queue(case), case.per_event))


@dataclass(frozen=True)
class EASY(Queued):
    """EASY (aggressive) backfilling: only the head of the queue holds a reservation, or the first k blocked jobs do.

    Parameters
    ----------
    order : str or function
        See `schedlab.schemes.Queued`.
    backfill : str or function, optional
        Order in which candidates for backfilling are tried. Default: the order of the queue. "sjf" makes EASY-SJBF.
    shadow : {"count", "block"}
        What the head of the queue is promised on a tree: its shadow time. On a flat machine, both are the usual rule.

        - "count": a time at which, by the estimates, enough nodes are free. Only jobs that end by then may start ahead
          of the head, unless `spare` says otherwise.
        - "block": that time and a block of nodes. Jobs that leave those nodes free may start, too. If nodes need not be
          contiguous, this is EASY's usual rule, with extra processors.
    spare : {"off", "on", "any"}, optional
        Which jobs may start ahead of the head on a tree although they do not end by its reservation. Default: "off" for
        a shadow time by "count", "on" for one by "block".

        - "off": none.
        - "on": jobs on nodes that the head does not need then. By count, it gets no block, and may wait without end.
        - "any": all that can be placed. Each head keeps its first reservation, and once that has come, jobs that
          started ahead of it are killed for it, those that started last first. This needs
          ``overrun="kill-backfilled"``.
    reservations : int or "all"
        How many blocked jobs at the front of the queue hold a reservation. All reservations are made anew at each pass,
        so only a single one is a promise. "all" is conservative backfilling without compression passes
        (``Conservative(compression="rebuild")``). On a tree it must be 1.
    may_backfill : function, optional
        Whether a job may start ahead of a reservation: 0 or False means no. It takes the same parameters as an order
        (`Queued`). It is called when a job could be backfilled, and never for the head of the queue.

    Notes
    -----
    Simulation time is nearly linear in the number of jobs, even above a load of 1, where the queue grows with the log:
    with 500 jobs waiting, one job takes 0.2 us; with 90,000, 1 us. Above a load of 1, it grows with the square of the
    number of jobs if the order of the candidates depends on the time, with several reservations, and on a tree: then
    each pass looks at every waiting job.

    Examples
    --------
    A policy may restrict backfilling, and several jobs may hold reservations:

    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> short = sl.EASY(may_backfill=lambda estimate: estimate <= 3600)
    >>> one_at_a_time = sl.EASY(may_backfill=lambda user_running: user_running == 0)
    >>> [len(sl.simulate(trace, each).validate()) for each in (short, one_at_a_time, sl.EASY(reservations=4))]
    [47, 47, 47]

    Job 2, the head of the queue, holds a reservation at 8 s, the estimated end of job 1. By its estimate, job 3 ends
    before. Job 4 does not, but uses 2 processors that the head does not need. Job 1 ends early, at 6 s:

    >>> jobs = [(0, 6, 8, 5), (1, 4, 4, 6), (2, 3, 5, 3), (3, 7, 9, 2)]  # submission, run time, estimate, processors
    >>> schedule = sl.simulate(sl.testing.trace_of(jobs, machine=8), sl.EASY())
    >>> schedule.jobs["started_by"].tolist()
    ['head', 'head', 'backfilled within the shadow', 'backfilled on extra processors']
    >>> chart = sl.charts.gantt(schedule, color="job_number", label="job_number", estimates=True, subtitle="")

    References
    ----------
    Lifka 1995; Skovira et al. 1996; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001. On a tree: Pascual and Miguel-Alonso,
    Technical Report EHU-KAT-IK-09-08, University of the Basque Country, 2008.
    """

    backfill: str | Callable | None = None
    shadow: Shadow = "count"
    spare: Literal["off", "on", "any"] | None = None
    reservations: int | str = 1
    may_backfill: Callable | None = None

    label = "EASY"
    names = {"easy": {}, "easy-sjbf": {"backfill": "sjf"}}
    colours = {
        "EASY": "#0072B2",
        "EASY (count)": "#3E79E0",
        "EASY (block)": "#199BE4",
        "EASY-SJF": "#C28700",
        "EASY-SJBF": "#A35BD0",
    }
    machines = (Flat, KaryTree, Pools)
    overruns = (*OVERRUN, KILL_BACKFILLED)

    def __post_init__(self):
        super().__post_init__()
        if self.backfill is not None:
            check_order(self.backfill)
        check_known("shadow", self.shadow, placement.RULES)
        if self.spare is not None:
            check_known("spare", self.spare, placement.SPARE)
        many = isinstance(self.reservations, Integral) and not isinstance(self.reservations, bool)
        every = isinstance(self.reservations, str) and self.reservations == ALL
        if not every and not (many and self.reservations >= 1):
            raise ValueError(
                f'reservations must be a whole number of at least 1, or "all", got {spelt(self.reservations)}'
            )
        if self.may_backfill is not None:
            check_veto(self.may_backfill)

    def __str__(self) -> str:
        name = super().__str__()
        if self.backfill is not None:
            name += "-SJBF" if self.backfill == "sjf" else f"-BACKFILL-{order_name(self.backfill).upper()}"
        settings = [] if self.shadow == "count" else [self.shadow]
        settings += [] if self.spare is None else [f"spare {self.spare}"]
        settings += [] if self.reservations == 1 else [f"{self.reservations} reservations"]
        settings += [] if self.may_backfill is None else [f"backfills if {policy_name(self.may_backfill)}"]
        return f"{name} ({', '.join(settings)})" if settings else name

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether promises are kept: only one reservation, order "fcfs", and no counts where blocks are needed."""
        if self.order != "fcfs" or self.reservations != 1:
            return False  # the head may lose its place before it starts, and another job's reservation may move
        if isinstance(machine, Pools):
            return machine.keeps_promises
        return isinstance(machine, Flat) or machine.policy.whole or self.shadow == "block"

    @property
    def policies(self) -> tuple:
        return (self.order, self.backfill, self.may_backfill)

    @property
    def stops_early(self) -> bool:
        """Whether jobs that started ahead of the head may be killed before their estimates."""
        return self.spare == "any"

    @property
    def one_reservation(self) -> bool:
        """Whether only the head of the queue holds a reservation."""
        return self.reservations == 1

    def check(self, case: Case) -> None:
        super().check(case)
        tree = case.machine
        if not isinstance(tree, KaryTree):
            if self.spare is not None:
                raise ValueError(f"{self} cannot run on {tree}: spare is for a KaryTree; leave it out")
            return
        if self.spare == "any" and case.overrun != KILL_BACKFILLED:
            expected = f'expected overrun="{KILL_BACKFILLED}"'
            raise ValueError(f'{self} kills jobs at a reservation; got overrun="{case.overrun}", {expected}')
        if self.backfill is not None:
            raise ValueError(f"{self} cannot run on {tree}: on nodes, candidates are tried in the order of the queue")
        if self.reservations != 1:
            instead = "leave out reservations, or use Conservative()"
            raise ValueError(f"{self} cannot run on {tree}: on nodes there is one reservation; {instead}")

    @explained
    def simulate(self, case: Case) -> Outcome:
        """As of `Scheme`; see `schedlab.kernels.easy` and `schedlab.kernels.placement`."""
        order, veto = self.queue(case), prepare_veto(self.may_backfill, case)
        if isinstance(case.machine, KaryTree):
            spare = placement.SPARE[self.spare or placement.USUAL[self.shadow]]
            rules = (veto, placement.RULES[self.shadow], spare, case.kills)
            return placement.simulate(on_nodes.placement, case, order, *rules)
        ordered = self.backfill is not None
        rules = (order, prepare(self.backfill, case) if ordered else order, ordered, veto)
        depth = len(case) if self.reservations == ALL else min(self.reservations, len(case))
        if isinstance(case.machine, Pools):
            if self.reservations == 1:
                return pooled.simulate(pools_easy, new_heads, case, *rules, True)
            return pooled.simulate(pools_conservative, new_book, case, *rules, depth, NO_COMPRESSION, False, False)
        rules += (MANY, LOOKS * len(case)) if self.reservations == 1 else (depth,)
        kernel = easy if self.reservations == 1 else easy_depth
        return case.outcome(*interruptible(kernel, case.jobs, case.machine.procs, *rules, case.per_event))
