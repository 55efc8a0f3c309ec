"""What all schemes share: a `Case` goes in, an `Outcome` comes out, and callers can ask a `Scheme` what it supports."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from importlib.metadata import entry_points
from typing import ClassVar

import numpy as np

from schedlab._runtime.remarks import warn
from schedlab._runtime.text import spelt, suggestion
from schedlab.kernels.cluster import Jobs
from schedlab.machine import Flat, KaryTree, Pools
from schedlab.workload.columns import Columns
from schedlab.workload.conventions import KEEP, KILL_BACKFILLED, OVERRUN
from schedlab.workload.speedup import Laws

from .checking import checked
from .outcomes import Outcome
from .pool_steps import decided
from .pooled import Pooled

NEEDS = (None, "speedup", "sweeps", "waits")
ENTRY_POINTS = "schedlab.schemes"  # the group in which other packages register their schemes


@dataclass(frozen=True, eq=False)
class Case:
    """Everything one simulation needs: jobs, machine, conventions, and the further facts that some schemes need.

    Attributes
    ----------
    jobs : Jobs
        An estimate of 0 s becomes 1 s here: it counts as 1 s wherever a plan is made, in the queue's order, for
        reservations and for the expected ends of running jobs. The job still ends after its run time.
    machine : Flat, KaryTree or Pools
    overrun, events : str
        The conventions, as in `schedlab.simulate`.
    cut : bool, shape (n_jobs,), optional
        True for jobs whose run time was cut at their estimate.
    laws, breakdown, waits : optional
        What a scheme may need: how the jobs speed up (`Laws`); rounds of tasks of each sweep, 0 for an ordinary job;
        waits in the log (seconds). The latter two are int64, shape (n_jobs,).
    places : int64, shape (n_jobs,), optional
        The pool in which each job runs, if the machine is `Pools`.
    pooled : Pooled, optional
        Demands, windows and limits, if the machine is `Pools` (`schedlab.schemes.pooled`).
    pool : str or int, optional
        The name of the pool, if the machine is one of several (`parts`).
    columns : Columns
        The columns of the trace as numbers: ``case.columns["user"]``. Default: no columns.
    name, numbers : str, and sequence, optional
        For errors: name of the trace, and job numbers (default: counted from 1).

    Examples
    --------
    >>> import numpy as np
    >>> import schedlab as sl
    >>> from schedlab.schemes import Jobs
    >>> submit, run, estimate, procs = np.array([[0, 1, 2], [6, 4, 3], [6, 4, 3], [5, 6, 3]])
    >>> case = sl.Case(Jobs(submit, run, estimate, procs), sl.Flat(8))
    >>> sl.EASY().outcome(case).start.tolist(), sl.FCFS().outcome(case).start.tolist()
    ([0, 6, 2], [0, 6, 10])
    """

    jobs: Jobs
    machine: Flat | KaryTree | Pools
    overrun: str = "kill"
    events: str = "batched"
    cut: np.ndarray | None = None
    laws: Laws | None = None
    breakdown: np.ndarray | None = None
    waits: np.ndarray | None = None
    places: np.ndarray | None = None
    pooled: Pooled | None = None
    pool: str | int | None = None
    columns: Columns = field(default_factory=Columns)
    name: str = "the trace"
    numbers: Sequence | None = None

    def __post_init__(self):
        """Check the columns: a kernel would read past the end of a short one, and recompile for another type."""
        columns = {name: np.asarray(column) for name, column in zip(Jobs._fields, self.jobs, strict=True)}
        for name, column in columns.items():
            if column.ndim != 1 or column.dtype.kind not in "iu":
                raise TypeError(f"{name} of {self.name} is {column.dtype}, expected a whole number for each job")
            if column.size != columns["submit"].size:
                raise ValueError(f"{self.name} has {columns['submit'].size} submissions, but {column.size} of {name}")
        columns["estimate"] = np.maximum(columns["estimate"], 1)  # time is in whole seconds: no job is planned for none
        object.__setattr__(self, "jobs", Jobs(*(np.require(column, np.int64, "CW") for column in columns.values())))
        most = self.machine.procs
        wrong = np.flatnonzero((self.jobs.procs < 1) | (most is not None and self.jobs.procs > most))
        if wrong.size:
            request = f"job {self.number(wrong[0])} asks for {self.jobs.procs[wrong[0]]} processors"
            raise ValueError(f"{request}, expected 1 to {self.machine}")

    def __len__(self) -> int:
        return self.jobs.submit.size

    @property
    def per_event(self) -> bool:
        """Whether there is one scheduling pass per event, rather than one per instant."""
        return self.events == "each"

    @property
    def kills(self) -> bool:
        """Whether jobs may end at their estimates."""
        return self.overrun != KEEP

    def number(self, place: int) -> int:
        """Return the number of a job, for messages.

        Parameters
        ----------
        place : int
            Its position in the order of arrival, from 0.
        """
        return place + 1 if self.numbers is None else self.numbers[place]

    def first(self, count: int) -> "Case":
        """Return the case in which only the first jobs arrive.

        Parameters
        ----------
        count : int
            How many.
        """
        return self._of(slice(0, count), self.machine, first=True)

    def some(self, jobs: np.ndarray) -> "Case":
        """Return the case with only some of the jobs.

        Parameters
        ----------
        jobs : int64 array
            Their positions, in order of arrival.
        """
        return self._of(jobs, self.machine, first=True)

    def parts(self) -> list["Case"]:
        """Return the case of each pool of the machine (`Pools`): its jobs on its resources."""
        parts = []
        for place, machine in enumerate(self.machine.parts()):
            part = self._of(np.flatnonzero(self.places == place), machine)
            pooled = None
            if not isinstance(machine, Flat):
                pooled = part.pooled.pool(place, [self.machine.resources.index(name) for name in machine.resources])
            pool = self.machine.pools[place][0]
            parts.append(replace(part, places=np.zeros(len(part), np.int64), pooled=pooled, pool=pool))
        return parts

    @property
    def in_parts(self) -> bool:
        """Whether the pools of the machine are simulated one by one: nothing in one depends on the others."""
        return isinstance(self.machine, Pools) and self.machine.in_parts

    def _of(self, jobs, machine, first=False):
        """Return the case of some jobs, by a slice or positions; with `first`, others follow, else these are all."""
        columns = {name: getattr(self, name) for name in ("cut", "breakdown", "waits", "places", "numbers")}
        columns = {name: column if column is None else column[jobs] for name, column in columns.items()}
        laws = None if self.laws is None else self.laws.of(jobs)
        columns["pooled"] = None if self.pooled is None else self.pooled.of(jobs)
        columns["columns"] = self.columns.of(jobs, first=first)
        return replace(self, jobs=Jobs(*(column[jobs] for column in self.jobs)), machine=machine, laws=laws, **columns)

    def outcome(self, start: np.ndarray, promise: np.ndarray | None = None, **more) -> "Outcome":
        """Return the outcome in which jobs start at the given times and hold their processors for their run times.

        Parameters
        ----------
        start : int64, shape (n_jobs,), seconds
            When each job starts, counted from the beginning of the case.
        promise : int64, shape (n_jobs,), seconds, optional
            The first start promised to each job, -1 if none was.
        **more
            Other fields of `Outcome`.
        """
        columns = {"run": self.jobs.run, "procs": self.jobs.procs, "killed": self.cut}
        return Outcome(submit=self.jobs.submit, start=start, promise=promise, **(columns | more))


class Scheme:
    """A policy that gives processors to queued jobs.

    To write a scheme, define a subclass (a frozen dataclass if it has settings) with one of two methods:

    - ``decide(state)`` is called at each pass, in plain Python: it looks at the queue and starts jobs. See
      `schedlab.schemes.steps.State`, and on `Pools`, where each pass is one in one pool,
      `schedlab.schemes.pool_steps.PoolState`. `schedlab.python_scheme` makes such a scheme from a function.
    - ``simulate(case)`` gives the start of every job at once. It may call a kernel of your own.

    In either way, holding more than the machine has is an error.

    The class attributes below say what the scheme can do; `schedlab.simulate`, `schedlab.sweep`, `Schedule.validate`
    and the charts read them.

    Attributes
    ----------
    label : str
        Its name in tables and charts. Default: the name of the class. ``str(scheme)`` adds the settings.
    names : dict of str to dict
        Plain names (``"easy"``), each with its settings. Defining the class registers them.
    colours : dict of str to str
        Its colours in charts, by ``str(scheme)``.
    needs : {None, "speedup", "sweeps", "waits"}
        What it must know about the jobs: how they speed up, which ones are parameter sweeps, or their waits in the log.
    machines, overruns, events : tuple
        The machines (`Flat`, `KaryTree`, `Pools`) and the conventions that it supports, as in `schedlab.simulate`.
    promises : bool, or a method
        Whether no job starts later than its first reservation (`Outcome.promise`). ``promises = True`` declares it for
        all machines on which it is possible. `Schedule.validate` and `schedlab.testing.check_scheme` then check it.
    in_order, backfills : bool
        Whether jobs start in order of arrival (if so, these two check it), and whether they may start ahead of others.
    one_reservation : bool
        Whether only the head of the queue holds a reservation.
    forgets : bool
        Whether, once no job waits, its decisions depend only on the running jobs and no longer on the past. This is
        assumed of your own schemes; `Schedule.why` checks what follows from it.
    simulated, splits : bool
        Whether its starts are simulated, not taken from a log, and whether it may run a job in several pieces.

    Examples
    --------
    >>> import numpy as np
    >>> import schedlab as sl
    >>> class FirstFit(sl.Scheme):
    ...     def decide(self, state):
    ...         for job in state.queue:
    ...             if job.procs <= state.free:
    ...                 state.start(job)
    >>> class OneByOne(sl.Scheme):
    ...     def simulate(self, case):
    ...         start, now = [], 0
    ...         for submit, run in zip(case.jobs.submit, case.jobs.run):
    ...             start.append(max(now, submit))
    ...             now = start[-1] + run
    ...         return case.outcome(np.array(start))
    >>> trace = sl.model_trace("lublin", jobs=100, seed=1)
    >>> [bool(sl.simulate(trace, each).validate().metrics()["max_queue"] > 1) for each in (FirstFit(), OneByOne())]
    [True, True]
    """

    label: ClassVar[str] = ""
    names: ClassVar[Mapping[str, Mapping]] = {}
    colours: ClassVar[Mapping[str, str]] = {}
    needs: ClassVar[str | None] = None
    machines: ClassVar[tuple[type, ...]] = (Flat,)
    overruns: ClassVar[tuple[str, ...]] = ("kill", "extend")
    events: ClassVar[tuple[str, ...]] = ("batched",)
    in_order: ClassVar[bool] = False
    backfills: ClassVar[bool] = True
    one_reservation: ClassVar[bool] = False
    forgets: ClassVar[bool] = False
    simulated: ClassVar[bool] = True
    splits: ClassVar[bool] = False

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        if cls.needs not in NEEDS:
            raise ValueError(f"needs of {cls.__name__} is {spelt(cls.needs)}; known: {', '.join(map(repr, NEEDS))}")
        _check_declarations(cls)
        if "decide" in vars(cls):
            known = {"overruns": OVERRUN, "forgets": True, "machines": (Flat, Pools)}  # to `decided`
            for name, usual in known.items():
                if name not in vars(cls):
                    setattr(cls, name, usual)
        schemes = {name.lower(): partial(cls, **settings) for name, settings in vars(cls).get("names", {}).items()}
        for name in schemes.keys() & _named.keys():
            before = _named[name].func
            if (before.__module__, before.__qualname__) != (cls.__module__, cls.__qualname__):  # another class
                raise ValueError(f"the name {name!r} of {cls.__name__} is taken by {before.__name__}")
        _named.update(schemes)

    def __str__(self) -> str:
        name = self.label or type(self).__name__
        usual = {field.name: field.default for field in fields(self)} if is_dataclass(self) else {}
        changed = [
            f"{setting} {getattr(self, setting)}" for setting in usual if getattr(self, setting) != usual[setting]
        ]
        return f"{name} ({', '.join(changed)})" if changed else name

    @property
    def origin(self) -> str:
        """The origin of the starts, for the header of a file."""
        return f"simulated with {self}"

    def notes(self, schedule) -> tuple[str, ...]:
        """Return notes that every summary of a schedule must show; by default none.

        Parameters
        ----------
        schedule : Schedule
            The schedule that the scheme made.
        """
        return ()

    def queue(self, case: Case) -> tuple | None:
        """Return the order of the queue for the kernels (`schedlab.kernels.priority.Order`); None: as jobs arrive.

        Parameters
        ----------
        case : Case
            The jobs to order.
        """
        return None

    def promises(self, machine: Flat | KaryTree) -> bool:
        """Tell whether no job starts later than promised on this machine. `Schedule.validate` then checks it.

        A class may set ``promises = True`` instead of defining this method.

        Parameters
        ----------
        machine : Flat or KaryTree
            The machine it runs on.
        """
        return False

    def conventions(self, overrun: str, events: str) -> tuple[str, str]:
        """Return the conventions that the scheme really follows, by default those that are asked for.

        Parameters
        ----------
        overrun, events : str
            Those passed to `schedlab.simulate`.
        """
        return overrun, events

    def check(self, case: Case) -> None:
        """Raise a ValueError if the scheme cannot schedule a case; it says what the scheme supports instead.

        Parameters
        ----------
        case : Case
            The jobs, the machine and the conventions.
        """
        tree = isinstance(case.machine, KaryTree)
        flat = isinstance(case.machine, Flat)
        if not isinstance(case.machine, self.machines):
            others = _who(lambda other: isinstance(case.machine, other.machines))
            what = "place jobs on nodes" if tree else "simulate several resources, closed windows and limits"
            raise ValueError(f"{self} cannot run on {case.machine}: {others} {what}")
        if isinstance(case.machine, Pools) and case.overrun == KEEP:
            expected = "expected overrun 'kill' or 'extend': jobs in pools end at their estimates"
            raise ValueError(f"{self} on {case.machine}: overrun {KEEP!r}, {expected}")
        if case.events not in self.events or (not flat and case.per_event):
            where = f"under {self}" if flat else f"on {case.machine}"
            raise ValueError(f"events are batched {where}, got {spelt(case.events)}")
        if case.overrun == KILL_BACKFILLED and not tree:
            instead = f": give a KaryTree, not {case.machine}" if KaryTree in self.machines else f", not for {self}"
            raise ValueError(f"overrun {case.overrun!r} is for jobs on nodes{instead}")
        if case.overrun not in self.overruns:
            others, known = _who(lambda other: case.overrun in other.overruns), " or ".join(map(repr, self.overruns))
            raise ValueError(f"overrun {case.overrun!r} is for {others}, not for {self}: use {known}")

    def check_whole(self, case: Case) -> None:
        """Do what `check` does; if the machine has partitions, for each of them.

        Parameters
        ----------
        case : Case
            As in `check`.
        """
        if isinstance(case.machine, Pools) and self.splits:
            raise ValueError(f"{self} runs jobs in pieces, which pools do not allow; use simulate_sites()")
        if not case.in_parts:
            self.check(case)
            return
        for part in case.parts():
            self.check(part)

    def simulate(self, case: Case) -> Outcome:
        """Simulate a case that `check` has accepted: return an outcome, for example from ``case.outcome(start)``.

        The default calls `decide` at each pass.

        Parameters
        ----------
        case : Case
            As in `check`.
        """
        if not hasattr(self, "decide"):
            raise NotImplementedError(f"{type(self).__name__} has neither simulate(case) nor decide(state)")
        return decided(self.decide, case, self)

    def outcome(self, case: Case) -> Outcome:
        """Check a case, simulate it, and check that the result fits it.

        Parameters
        ----------
        case : Case
            As in `check`.
        """
        self.check_whole(case)
        if case.in_parts:
            return Outcome.together(case, [self.outcome(part) for part in case.parts()])
        outcome = self.simulate(case) if len(case) else case.outcome(np.zeros(0, np.int64))
        return checked(self, case, outcome)

    def simulate_sites(self, cases: Sequence[Case], speeds: Sequence[int]) -> Sequence[Outcome]:
        """Simulate several sites, each on its own unless the scheme lets sites share jobs; return an outcome for each.

        Parameters
        ----------
        cases : sequence of Case
            One per site, with times in seconds since a common beginning.
        speeds : sequence of int
            Relative speeds of the sites.
        """
        return [self.simulate(case) for case in cases]


def can_promise(machine: Flat | KaryTree | Pools) -> bool:
    """Tell whether a start can be promised on a machine."""
    return not isinstance(machine, Pools) or machine.keeps_promises


def _check_declarations(cls):
    """Make a method of ``promises = True``, and raise for what no caller could use."""
    annotation = vars(cls).get("__annotations__", {}).get("promises", "ClassVar")
    setting = "ClassVar" not in str(annotation)
    if isinstance(cls.promises, bool) and not setting:
        declared = cls.promises
        cls.promises = lambda self, machine: declared and can_promise(machine)
    elif setting or not inspect.isfunction(cls.promises):
        description = "annotated like a setting" if setting else repr(cls.promises)
        expected = "promises = True, promises = False, or a method promises(self, machine)"
        raise TypeError(f"promises of {cls.__name__} is {description}, expected {expected}")
    if callable(cls.in_order):
        raise TypeError(f"in_order of {cls.__name__} is {spelt(cls.in_order)}, expected True, False or a property")


_named: dict[str, partial] = {}


def _who(can):
    """Name the classes that can do something: "FCFS and EASY"."""
    *more, last = [name for name, cls in classes().items() if can(cls)] or ["none"]
    return f"{', '.join(more)} and {last}" if more else last


@cache
def _load_others() -> None:
    """Load the schemes that other packages register; only the first call does."""
    for point in entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:  # a faulty package must not stop this one
            warn(f"the schemes of {point.name} ({point.value}) cannot be loaded: {error!r}")


def by_name() -> Mapping[str, partial]:
    """Return all plain names, each with a function that makes its scheme."""
    _load_others()
    return dict(sorted(_named.items()))


def classes() -> dict[str, type[Scheme]]:
    """Return the classes that have plain names, by the name of the class."""
    return {make.func.__name__: make.func for make in by_name().values()}


def colours() -> dict[str, str]:
    """Return the colours of all schemes, by their names in charts."""
    return {label: colour for scheme in classes().values() for label, colour in scheme.colours.items()}


def scheme(name: str | Scheme) -> Scheme:
    """Return a scheme by its plain name: ``"easy"``, ``"easy-sjf"`` (with an order), ``"easy-sjbf"``, ``"ojs"``.

    ``"log"`` is the schedule that really happened (`schedlab.recorded`). A `Scheme` is returned unchanged.

    Parameters
    ----------
    name : Scheme or str
        The scheme, or its plain name.
    """
    if isinstance(name, Scheme):
        return name
    if not isinstance(name, str):
        raise TypeError(f"scheme is {spelt(name)}, expected a scheme such as EASY() or its name")
    known, plain = _named, name.lower()
    if plain not in known and plain.partition("-")[0] not in known:
        known = by_name()
    if plain in known:
        return known[plain]()
    plain, _, order = plain.partition("-")
    if plain not in known or "order" not in getattr(known[plain].func, "__dataclass_fields__", {}):
        raise ValueError(f"unknown scheme {name!r}; known: {', '.join(by_name())}{_meant(name)}")
    return known[plain](order=order)


def _meant(text):
    """Suggest the name of a scheme that is spelt alike, with an order if it has one: "easy-sjf" for "easy_sjf"."""
    from .orders import NAMES  # here, since orders are built on this module

    ordered = [name for name, make in by_name().items() if "order" in getattr(make.func, "__dataclass_fields__", {})]
    return suggestion(text, [*by_name(), *(f"{name}-{order}" for name in ordered for order in NAMES)])
