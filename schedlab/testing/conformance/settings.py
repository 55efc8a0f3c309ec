"""The settings that a whole log is tried with: schemes, events, overrun rules and estimates, and how well each fits."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from schedlab._runtime.threads import pool
from schedlab.kernels.parts import FREE, back, begin, front
from schedlab.schedule import Schedule
from schedlab.schedule.simulation import EVENTS, simulate
from schedlab.schemes import DPSA, EASY, FCFS, Conservative, Scheme
from schedlab.schemes.cases import case_of
from schedlab.schemes.compiled import CompiledScheme
from schedlab.schemes.orders import NAMES, OF_USERS
from schedlab.workload.conventions import KEEP, OVERRUN
from schedlab.workload.trace import Trace

GIVEN, EXACT = "as given", "exact"
DOUBLED, TWICE_RUN = "doubled", "twice the run time"
LONGEST, UNKNOWN = "missing: the longest of the log", "missing: no end is expected"
ESTIMATES = {
    EXACT: "exact run times as estimates",
    DOUBLED: "doubled estimates",
    TWICE_RUN: "twice the run times as estimates",
    LONGEST: "the longest estimate of the log for missing ones",
    UNKNOWN: "no expected end where an estimate is missing",
}
NO_END = 10**9  # seconds; longer than any log
ORDERS = tuple(name for name in NAMES if name not in ("fcfs", *OF_USERS))
FIRST = 2_000  # jobs of the first part of a log that all settings are tried on
GROWTH = 8  # how many times longer the next part is
BEST = 12  # settings that do not give all starts of a part, but are tried on the next: those that give most


def first_fit(c):
    """Start whatever fits, in the order of the queue."""
    place = front(c.queue)
    while place < back(c.queue):
        if c.jobs.procs[c.queue.item[place]] <= c.clock[FREE]:
            place = begin(c, place)
        else:
            place += 1


def schemes() -> list[Scheme]:
    """Return the schemes that a log is tried with."""
    return [
        EASY(),
        EASY(backfill="sjf"),
        *(EASY(reservations=count) for count in (2, 4, "all")),
        FCFS(),
        *(CompiledScheme(order, function=first_fit) for order in ("fcfs", "sjf", "narrow", "wide")),
        Conservative(),
        *(Conservative(compression=how) for how in ("reservation", "none", "rebuild")),
        *(Conservative(compression=how, repeat=True) for how in ("queue", "reservation")),
        *(
            Conservative(compression=how, repeat=repeat, compress_on="completion")
            for how in ("queue", "reservation")
            for repeat in (False, True)
        ),
        *(DPSA(variant=variant) for variant in "pnw"),
        *(EASY(backfill=order) for order in ORDERS if order != "sjf"),
        *(EASY(order=order) for order in ORDERS),
        *(FCFS(order=order) for order in ORDERS),
        *(Conservative(order=order) for order in ("sjf", "narrow", "wide", "saf")),
    ]


@dataclass(frozen=True, eq=False)
class Setting:
    """A scheme and the conventions that it is simulated under.

    `estimates` is what it takes for the estimates, a key of `estimates_of`; the trace is the log with these.
    """

    scheme: Scheme
    events: str
    overrun: str
    estimates: str
    trace: Trace

    def simulate(self) -> Schedule:
        """Simulate the log."""
        return simulate(self.trace, self.scheme, overrun=self.overrun, events=self.events)

    @property
    def kind(self) -> str | None:
        """The kind of scheme that the suite's probes test (`KINDS`), if it is one."""
        plain = {FCFS(): "FCFS", FCFS(order="sjf"): "SJF", EASY(): "EASY"}
        if isinstance(self.scheme, Conservative) and self.scheme.order == "fcfs":
            return "conservative"
        return plain.get(self.scheme)

    @property
    def conventions(self) -> tuple[str, str, str]:
        """Events, overrun and estimates."""
        return self.events, self.overrun, self.estimates


def settings(trace: Trace) -> list[Setting]:
    """Return all settings that a log is tried with."""
    late = (trace.table["run_time"] > trace.table["requested_time"]).any()
    rules = OVERRUN if late else OVERRUN[:1]
    return [
        Setting(scheme, events, overrun, name, variant)
        for overrun in rules
        for name, variant in estimates_of(trace, overrun).items()
        for scheme in schemes()
        if overrun in scheme.overruns and not (overrun == KEEP and name in (EXACT, TWICE_RUN))  # the same as "extend"
        for events in EVENTS
    ]


def estimates_of(trace: Trace, overrun: str) -> dict[str, Trace]:
    """Return the log with the estimates that a simulator might have used, by their names, each only once.

    Under overrun "kill", run times are cut at the estimates of the log before they are replaced.
    """
    table = trace.table
    original = table["requested_time"].to_numpy()
    cut = trace.cut_at_estimates() if overrun == "kill" and (table["run_time"].to_numpy() > original).any() else trace
    run = cut.table["run_time"].to_numpy()
    doubled = 2 * (np.maximum(original, run) if overrun == "extend" else original)
    variants = {EXACT: run, DOUBLED: doubled, TWICE_RUN: 2 * run}
    repaired = trace.repaired[trace.repaired["field"] == "requested_time"] if len(trace.repaired) else ()
    missing = table.index.isin(repaired["job_number"]) if len(repaired) else np.zeros(len(table), bool)
    if missing.any() and not missing.all():
        variants[LONGEST] = np.where(missing, np.maximum(original[~missing].max(), run), original)
        variants[UNKNOWN] = np.where(missing, NO_END, original)
    named, seen = {GIVEN: trace}, [np.maximum(original, run) if overrun == "extend" else original]
    for name, estimates in variants.items():
        if not any(np.array_equal(estimates, other) for other in seen):
            seen.append(estimates)
            table = cut.table.assign(requested_time=estimates)
            named[name] = replace(cut, table=table, history=(*cut.history, f"estimates: {name}"))
    return named


@dataclass(frozen=True, eq=False)
class Fit:
    """How well a setting fits the starts of another simulator, tried on the first `jobs` of the log.

    `agree` of them start at the same time, as far as the part can tell; `alike` have the same difference, whatever it
    is: all if a schedule is that of the setting, but later. `difference` is the mean of the other's starts minus these,
    `largest` the largest absolute difference, both in seconds.
    """

    setting: Setting
    jobs: int
    agree: int
    alike: int
    difference: float
    largest: int

    @property
    def all(self) -> bool:
        """Whether all jobs of the part start at the same time."""
        return self.agree == self.jobs


def fits(trace: Trace, start: np.ndarray, kind: str | None = None) -> list[Fit]:
    """Try all settings on a log, and return how well each fits the starts, best first.

    All are tried on the first part of the log, and only those on a longer part that give all starts of the part before,
    or nearly most; the best of `kind` (`Setting.kind`) in any case. What starts before the first job that a part leaves
    out is submitted does not depend on the rest, so a setting that is dropped cannot give all starts of the log.
    """
    submit, waiting = trace.table["submit_time"].to_numpy(), settings(trace)
    dropped, jobs = [], min(FIRST, len(trace))
    while True:
        if 2 * jobs > len(trace):
            jobs = len(trace)
        tried = list(_tried(waiting, jobs, submit, start))
        tried.sort(key=lambda fit: (not fit.all, -fit.alike, -fit.agree))
        if jobs == len(trace):
            return tried + dropped
        last = sum(fit.all for fit in tried) + BEST
        of_kind = [fit for fit in tried[last:] if fit.setting.kind == kind][:BEST] if kind else []
        waiting = [fit.setting for fit in (*tried[:last], *of_kind)]
        dropped = [fit for fit in tried[last:] if fit not in of_kind] + dropped
        jobs *= GROWTH


def _tried(settings, jobs, submit, start) -> Iterator[Fit]:
    until = submit[jobs] if jobs < submit.size else max(start.max(), submit[-1]) + NO_END
    theirs = np.minimum(start[:jobs], until)
    cases = {}  # schemes share them: making one takes as long as the simulation of a few hundred jobs
    for setting in settings:
        key = setting.trace, setting.overrun, setting.events
        if key not in cases:
            cases[key] = case_of(setting.trace.head(jobs), setting.scheme, None, *key[1:])

    def fit(setting):
        case, origin = cases[setting.trace, setting.overrun, setting.events]
        difference = theirs - np.minimum(origin + setting.scheme.outcome(case).start, until)
        agree = int((difference == 0).sum())
        alike = max(agree, int(np.unique(difference, return_counts=True)[1].max()))
        return Fit(setting, jobs, agree, alike, float(difference.mean()), int(np.abs(difference).max()))

    for setting in settings:
        if isinstance(setting.scheme, CompiledScheme):
            fit(setting)  # makes its kernel here, once: several threads would make it at the same time
            break
    with pool() as threads:
        yield from threads.map(fit, settings)
