"""The arena: every scheme on every log, with intervals from shaken copies, and lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from os import PathLike

import numpy as np
import pandas as pd

from .._runtime.text import check_known
from .._runtime.words import Rescaled
from ..experiment.grids import is_several, several, table_of
from ..experiment.memory import remember
from ..experiment.stores import Store
from ..machine import Flat, KaryTree
from ..schedule.bounds import ROUNDS, check_rigid, lower_bounds
from ..schedule.metrics import TAU, bounded_slowdown, classes
from ..schedule.simulation import simulate
from ..schedule.statistics import NOISE, ratio_over_seeds, t_quantile
from ..schemes import DPSA, EASY, FCFS, Conservative, Scheme
from ..schemes import scheme as scheme_named
from ..schemes.cases import check_trace
from ..workload import archive
from ..workload.conventions import OVERRUN, run_times
from ..workload.labels import labels
from ..workload.loading import load_trace
from ..workload.trace import Trace

RIGID, JOBS_CHANGED, MACHINE_CHANGED = "rigid", "jobs changed", "machine changed"
LOADS = (0.6, 0.7, 0.8, 0.9, 0.95)
SHAKE = 60  # seconds
MEASURES = (
    "wait_time",
    "turnaround",
    "bounded_slowdown",
    "p95_wait_time",
    "max_wait_time",
    "makespan",
    "utilization",
    "loss_of_capacity_share",
)  # of a whole schedule, as `Schedule.metrics` has them
BOUNDED = ("wait_time", "turnaround", "bounded_slowdown", "makespan")  # measures that have lower bounds
CLASSES = ("SN", "SW", "LN", "LW")  # short or long, narrow or wide: the classes "kurian" of `metrics.classes`
JUDGED = (*MEASURES, "gini", "unfair", *(f"{name} {code}" for code in CLASSES for name in BOUNDED[:3]))
BETWEEN = "; "  # separates the names of tied schemes, since some contain commas
WON = ("winner", "value", "tied", "next", "behind", "low", "high")  # columns of `Arena.wins`
LARGEST = ("utilization",)  # measures of which the largest is the best


@dataclass(frozen=True)
class Entrant:
    """A scheme in the arena, and what it needs besides the log.

    Attributes
    ----------
    scheme : Scheme or name
    name : str, optional
        Its name in tables and charts. Default: the name of the scheme.
    kind : str, optional
        Entrants of the kind "rigid" compete for the wins; those of other kinds are only shown. Default: "jobs changed"
        or "machine changed" if the entrant or its scheme changes the jobs or the machine, otherwise "rigid".
    change : function, optional
        Takes a trace and a seed, and returns the trace that the scheme gets, such as one with moldable jobs. It must
        keep the number of jobs and their order.
    machine : function, optional
        Takes a trace, and returns the machine, such as a `KaryTree`.

    Examples
    --------
    >>> import schedlab as sl
    >>> def moldable(trace, seed):
    ...     return trace.with_speedup(sl.Downey("system"), seed=seed)
    >>> def tree(trace):
    ...     return sl.KaryTree(k=4, n=3, allocation="contiguous")
    >>> own_procs = sl.Entrant(sl.FairShareMoldable(), "moldable jobs", change=moldable)
    >>> in_blocks = sl.Entrant("easy", "in blocks", machine=tree)
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> result = sl.arena(trace, ["easy", own_procs, in_blocks], load=0.8, seed=1, rounds=None)
    >>> result.cells("turnaround")[["scheme", "kind", "value"]].round().values.tolist()
    [['EASY', 'rigid', 11609.0], ['moldable jobs', 'jobs changed', 7909.0], ['in blocks', 'machine changed', 16027.0]]
    """

    scheme: Scheme
    name: str = ""
    kind: str = ""
    change: Callable[[Trace, int], Trace] | None = None
    machine: Callable[[Trace], Flat | KaryTree] | None = None

    def __post_init__(self):
        object.__setattr__(self, "scheme", scheme_named(self.scheme))
        object.__setattr__(self, "name", self.name or str(self.scheme))
        for name in ("change", "machine"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise TypeError(f"{name} of {self.name} is {getattr(self, name)!r}, expected a function")
        for name in ("name", "kind"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} of an entrant is {getattr(self, name)!r}, expected a text")
        if BETWEEN in self.name:
            raise ValueError(f"the name of the entrant {self.name!r} has {BETWEEN!r}, which separates tied names")
        jobs = self.change is not None or self.scheme.needs is not None
        kind = JOBS_CHANGED if jobs else RIGID if self.machine is None else MACHINE_CHANGED
        if self.kind == RIGID != kind:
            raise ValueError(f"{self.name} is not a rigid entrant: {kind}; leave out kind, or give another")
        object.__setattr__(self, "kind", self.kind or kind)

    def __str__(self) -> str:
        return self.name


# The schemes for rigid jobs: those of the five papers, and related ones.
ENTRANTS = (
    FCFS(),
    EASY(),
    EASY(order="sjf"),
    EASY(backfill="sjf"),
    EASY(order="saf"),
    EASY(order="wfp3"),
    EASY(order="f1"),
    EASY(reservations=4),
    Conservative(),
    Entrant(Conservative(compression="reservation"), "Conservative, by reservation"),
    Entrant(Conservative(compression="rebuild"), "Conservative, rebuilt"),
    Entrant(Conservative(compression="none"), "Conservative, uncompressed"),
    Entrant(Conservative(compress_on="completion", repeat=True), "Conservative, repeated"),
    DPSA(variant="p"),
    DPSA(variant="n"),
    DPSA(variant="w"),
)


def arena(
    trace: Trace | str | Iterable[Trace | str] | None = None,
    scheme: Scheme | str | Entrant | Iterable[Scheme | str | Entrant] | None = None,
    load: float | Iterable[float] = LOADS,
    seed: int | Iterable[int] = range(5),
    *,
    measure: str = "bounded_slowdown",
    rounds: int | None = ROUNDS,
    shake: int = SHAKE,
    by: Rescaled = "run_time",
    tau: float = TAU,
    confidence: float = 0.95,
    threads: int | None = None,
    progress: bool = True,
    store: str | PathLike | Store | None = None,
) -> Arena:
    """Let schemes compete on the same shaken copies of logs at several loads, and compute lower bounds.

    Parameters
    ----------
    trace : Trace or name, or several, optional
        By default all logs of the archive that are at hand, which may take hours.
    scheme : Scheme, name or Entrant, or several, optional
        By default `ENTRANTS` of this module.
    load : float, or several
        Offered loads that each trace is scaled to.
    seed : int, or several
        One seed for each copy: submissions are moved by up to `shake` seconds (`Trace.shake`). All schemes get the same
        copies, so that they are compared pair by pair. A single copy tells no schemes apart.
    measure : str
        The measure that decides who wins, unless a method is given another one. One of `JUDGED`, such as "wait_time",
        "turnaround" or "bounded_slowdown", or the measure of a class of jobs, such as "wait_time SW" (short and wide).
    rounds : int, optional
        How long to look for good lower bounds, as in `lower_bounds`; None: compute no bounds.
    shake : int, seconds
        The most that a submission moves.
    by : {"run_time", "interarrival"}
        How loads are scaled (`Trace.scale_load`).
    tau : float, seconds
        Threshold of the bounded slowdown.
    confidence : float
        Confidence with which a scheme wins a cell.
    threads, progress, store
        As in `grid`.

    Returns
    -------
    Arena

    Raises
    ------
    ValueError, TypeError
        For an unknown measure, scheme or trace, or two entrants of one name; for a trace of jobs that are not rigid,
        unless ``rounds=None`` leaves out the bounds.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1)
    >>> result = sl.arena(trace, ["fcfs", "easy"], load=0.8, seed=range(3), measure="wait_time")
    >>> result.wins()[["load", "winner", "tied"]].values.tolist()
    [[0.8, 'EASY', '']]
    """
    check_known("measure", measure, JUDGED)
    _check(rounds, tau, confidence)
    if trace is None:
        trace = logs()
        if not trace:
            raise ValueError("no log of the archive is at hand; give traces, or set SCHEDLAB_DATA")
    if scheme is None:
        scheme = ENTRANTS
    called = _called(trace)
    for trace in called.values() if rounds is not None else ():
        check_rigid(trace)  # before anything is simulated
    setting = Setting(_numbers("load", load, Real), _numbers("seed", seed, Integral), shake, by, tau)
    entrants = _entrants(several("scheme", scheme, not is_several(scheme)))
    how = {"threads": threads, "progress": progress, "store": store}
    runs = _runs(called, entrants, setting, how)
    bounds = pd.DataFrame() if rounds is None else _bounds(called, setting, rounds, how)
    return Arena(runs, bounds, setting, measure, confidence, called)


def logs() -> list[str]:
    """List the logs of the archive that are at hand, by name."""
    known = archive.list_traces()
    return known.loc[known["local"].ne("") & known["jobs"].notna(), "name"].tolist()


def _called(traces):
    """Return traces by distinct names; those given by name are loaded."""
    single = not is_several(traces) or isinstance(traces, Trace | str)
    loaded = [load_trace(trace) if isinstance(trace, str) else trace for trace in several("traces", traces, single)]
    for trace in loaded:
        check_trace(trace)
    return dict(zip(labels(loaded), loaded, strict=True))


def _numbers(name, values, kind):
    """List numbers, each once."""
    numbers = several(name, values, not is_several(values) or isinstance(values, str))
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, kind) or (kind is Real and not 0 < number < np.inf):
            expected = "numbers above 0" if kind is Real else "whole numbers"
            raise ValueError(f"{name}: {number!r}, expected {expected}")
    return tuple(dict.fromkeys(numbers))


def _check(rounds, tau, confidence):
    whole = isinstance(rounds, Integral) and not isinstance(rounds, bool)
    if rounds is not None and not (whole and rounds >= 0):
        raise ValueError(f"rounds is {rounds!r}, expected a whole number of at least 0, or None")
    if isinstance(tau, bool) or not (isinstance(tau, Real) and 0 <= tau < np.inf):
        raise ValueError(f"tau is {tau!r}, expected a number of seconds")
    if isinstance(confidence, bool) or not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(f"confidence is {confidence!r}, expected a number between 0 and 1, such as 0.95")


def _entrants(schemes):
    entrants = [scheme if isinstance(scheme, Entrant) else Entrant(scheme) for scheme in schemes]
    names = [entrant.name for entrant in entrants]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two entrants are called {twice[0]!r}; give one of them another name: Entrant(scheme, name)")
    return entrants


@dataclass(frozen=True)
class Setting:
    """How the copies of an arena are made: the loads, the seeds, and how far submissions move."""

    loads: tuple[float, ...]
    seeds: tuple[int, ...]
    shake: int = SHAKE
    by: str = "run_time"
    tau: float = TAU


def _cells(traces, setting):
    """Yield the columns and the values of each copy of each trace at each load."""
    for name, trace in traces.items():
        for load in setting.loads:
            for seed in setting.seeds:
                values = {"trace": trace, "load": load, "seed": seed, "shake": setting.shake, "by": setting.by}
                yield {"log": name, "load": load, "seed": seed}, values


def _runs(traces, entrants, setting, how):
    names, runs = [], []
    for about, values in _cells(traces, setting):  # all entrants in turn, so that each copy is made once
        for entrant in entrants:
            names.append(about | {"scheme": entrant.name, "kind": entrant.kind})
            runs.append(values | {"entrant": entrant, "tau": setting.tau})
    return _tabled(_measured, runs, names, setting, how | {"words": "simulating"})


def _bounds(traces, setting, rounds, how):
    names, runs = [], []
    for about, values in _cells(traces, setting):
        names.append(about)
        runs.append(values | {"tau": setting.tau, "rounds": rounds})
    return _tabled(_bounded, runs, names, setting, how | {"words": "bounding"})


def _tabled(function, runs, names, setting, how):
    about = {"shake": setting.shake, "by": setting.by, "tau": setting.tau}
    return table_of(function, runs, names, about, **how)


@remember(4)
def _copy(trace, load, seed, shake, by):
    return trace.scale_load(load, by=by).shake(shake, seed)


@remember(4)
def _first_come(trace, load, seed, shake, by):
    return simulate(_copy(trace, load, seed, shake, by), FCFS()).start


def _measured(trace, load, seed, shake, by, entrant, tau):
    copy = _copy(trace, load, seed, shake, by)
    changed = copy if entrant.change is None else entrant.change(copy, seed)
    if len(changed) != len(copy):
        raise ValueError(f"change of {entrant} gave {len(changed):,} jobs, expected the {len(copy):,} of the copy")
    schedule = simulate(changed, entrant.scheme, machine=entrant.machine and entrant.machine(changed))
    measures = schedule.metrics(tau=tau)[list(MEASURES)].to_dict()
    measures["gini"] = schedule.gini()
    measures["unfair"] = float((schedule.start > _first_come(trace, load, seed, shake, by)).mean())
    return measures | _by_class(copy, schedule, tau)


def _by_class(copy, schedule, tau):
    """Return the means of each class of jobs; classes depend on run times and requested processors."""
    sizes = {"run_time": run_times(copy.table, OVERRUN[0]), "procs": copy.table["requested_procs"].to_numpy()}
    of_class = classes(pd.DataFrame(sizes), "kurian").to_numpy()
    turnaround = schedule.end - schedule.submit
    columns = {
        "wait_time": schedule.start - schedule.submit,
        "turnaround": turnaround,
        "bounded_slowdown": bounded_slowdown(turnaround, schedule.run, tau),
    }
    return {
        f"{name} {code}": float(values[jobs].mean()) if jobs.any() else float("nan")
        for code, jobs in ((code, of_class == code) for code in CLASSES)
        for name, values in columns.items()
    }


def _bounded(trace, load, seed, shake, by, tau, rounds):
    return lower_bounds(_copy(trace, load, seed, shake, by), tau=tau, rounds=rounds)["bound"].to_dict()


@dataclass(frozen=True, eq=False, repr=False)
class Arena:
    """The results of an `arena`.

    Attributes
    ----------
    runs : DataFrame
        One row per run: log, load, seed, scheme, kind (of the `Entrant`), and the measures; times are in seconds.
    bounds : DataFrame
        One row per copy: log, load, seed, and a lower bound on each of `BOUNDED`. Empty if none were requested.
    setting : Setting
    measure : str
        The measure that decides who wins.
    confidence : float
    traces : dict of str to Trace
        The traces by their names in `runs`; empty for kept results.
    load : function
        Takes a name in `runs`, and returns its trace. It is called for traces that are not in `traces`.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1)
    >>> result = sl.arena(trace, ["easy", "easy-sjf"], load=(0.7, 0.9), seed=range(3), rounds=None)
    >>> result = result.with_schemes("conservative")
    >>> result.ranks()[["scheme", "rank", "wins"]].values.tolist()
    [['EASY-SJF', 1.5, 1], ['Conservative', 1.5, 0], ['EASY', 3.0, 0]]
    >>> chart = sl.contest.winners(result.wins(), title="By the mean bounded slowdown", width=480)
    """

    runs: pd.DataFrame
    bounds: pd.DataFrame
    setting: Setting
    measure: str = "bounded_slowdown"
    confidence: float = 0.95
    traces: dict[str, Trace] = field(default_factory=dict)
    load: Callable[[str], Trace] = load_trace

    def __repr__(self) -> str:
        several = {"scheme": self.runs["scheme"].nunique(), "log": self.runs["log"].nunique()}
        several |= {"load": len(self.setting.loads), "run": len(self.runs)}
        schemes, logs, loads, runs = (f"{count:,} {name}{'s' * (count != 1)}" for name, count in several.items())
        return f"<Arena: {schemes} on {logs} at {loads}, {runs}>"

    def judged_by(self, measure: str) -> Arena:
        """Return the same results, judged by another measure.

        Parameters
        ----------
        measure : str
            One of `JUDGED`.
        """
        return replace(self, measure=check_known("measure", measure, JUDGED))

    def of_kind(self, *kinds: str) -> Arena:
        """Return only the results of some kinds of entrants.

        Parameters
        ----------
        *kinds : str
            Such as "rigid".
        """
        for kind in kinds:
            check_known("kind", kind, self.runs["kind"].unique())
        return replace(self, runs=self.runs[self.runs["kind"].isin(kinds)])

    def with_schemes(
        self, *schemes: Scheme | str | Entrant, threads: int | None = None, progress: bool = True, store=None
    ) -> Arena:
        """Let more schemes compete on the same copies; nothing else is simulated again.

        Parameters
        ----------
        *schemes : Scheme, name or Entrant
            The newcomers. One with the name of an earlier entrant replaces it.
        threads, progress, store
            As in `grid`.
        """
        entrants = _entrants(schemes)
        if not entrants:
            raise ValueError("there is no scheme to add, give one or more")
        names = self.runs["log"].unique()
        traces = {name: self.traces[name] if name in self.traces else self.load(name) for name in names}
        how = {"threads": threads, "progress": progress, "store": store}
        more = _runs(traces, entrants, self.setting, how)
        kept = self.runs[~self.runs["scheme"].isin([entrant.name for entrant in entrants])]
        return replace(self, runs=pd.concat([kept, more], ignore_index=True), traces=traces)

    def with_traces(
        self,
        *traces: Trace | str,
        schemes: Iterable[Scheme | str | Entrant] = ENTRANTS,
        rounds: int | None = ROUNDS,
        threads: int | None = None,
        progress: bool = True,
        store=None,
    ) -> Arena:
        """Let schemes compete on more traces, at the same loads and with the same seeds.

        Parameters
        ----------
        *traces : Trace or name
            The newcomers.
        schemes : iterable of Scheme, name or Entrant
            The schemes that compete on these traces. Schemes left out here cannot win here.
        rounds : int, optional
            As in `arena`.
        threads, progress, store
            As in `grid`.
        """
        called, setting = _called(traces), self.setting
        if twice := sorted(set(called) & set(self.runs["log"])):
            raise ValueError(f"{twice[0]} is in the arena already")
        how = {"shake": setting.shake, "by": setting.by, "tau": setting.tau, "rounds": rounds, "store": store}
        more = arena(called.values(), schemes, setting.loads, setting.seeds, threads=threads, progress=progress, **how)
        runs, bounds = (
            pd.concat([getattr(part, name) for part in (self, more)], ignore_index=True) for name in ("runs", "bounds")
        )
        return replace(self, runs=runs, bounds=bounds, traces=self.traces | more.traces)

    def cells(self, measure: str | None = None) -> pd.DataFrame:
        """Return the mean of a measure over the copies, by log, load and scheme, with its lower bound if there is one.

        Parameters
        ----------
        measure : str, optional
            Default: the measure that decides.

        Returns
        -------
        DataFrame
            One row per scheme and cell: log, load, scheme, kind, value, bound, and above (percent above the bound, nan
            if there is no bound or it is 0).
        """
        measure = check_known("measure", measure or self.measure, JUDGED)
        by = ["log", "load", "scheme", "kind"]
        table = self.runs.groupby(by, sort=False)[measure].mean().rename("value").reset_index()
        table["bound"] = np.nan
        if measure in BOUNDED and len(self.bounds):
            least = self.bounds.groupby(["log", "load"])[measure].mean()
            table["bound"] = least.reindex(pd.MultiIndex.from_frame(table[["log", "load"]])).to_numpy()
            # Entrants that change the jobs or the machine may beat bounds for the original jobs and machine.
            table.loc[table["kind"] != RIGID, "bound"] = np.nan
        table["above"] = 100 * (table["value"] / table["bound"].where(table["bound"] > 0) - 1)
        return table

    def wins(self, measure: str | None = None) -> pd.DataFrame:
        """Find the rigid scheme with the best mean in each cell, and the schemes tied with it.

        A scheme is tied with the winner if the interval of the ratio of their means over the copies contains 1, or if
        the means differ by less than 0.5 % (`schedlab.statistics.NOISE`), which is no difference to a user. The
        intervals of a cell hold jointly (Bonferroni): with the stated confidence, the scheme whose true mean is best is
        the winner or among those that are tied with it.

        Parameters
        ----------
        measure : str, optional
            Default: the measure that decides.

        Returns
        -------
        DataFrame
            One row per cell that has jobs of the measure: log, load, winner, value; tied (names, joined by "; "; with a
            single copy all others are); next, the best of those that are not tied; behind, by how many percent next is
            worse, with low and high.
        """
        measure = check_known("measure", measure or self.measure, JUDGED)
        rigid = self.runs[self.runs["kind"] == RIGID]
        if rigid.empty:
            raise ValueError("no rigid scheme is in the arena; kinds: " + ", ".join(self.runs["kind"].unique()))
        rows = [
            {"log": log, "load": load} | self._win(cell.pivot_table(measure, "seed", "scheme"), measure)
            for (log, load), cell in rigid.dropna(subset=measure).groupby(["log", "load"], sort=False)
        ]
        return pd.DataFrame(rows, columns=["log", "load", *WON])

    def _win(self, values, measure):
        sign = -1 if measure in LARGEST else 1
        means = (sign * values.mean()).sort_values(kind="stable")
        winner = means.index[0]
        others = {}
        for other in means.index[1:]:
            level = 1 - (1 - self.confidence) / (len(means) - 1)
            ratio, low, high = _ratio(values[other].to_numpy(), values[winner].to_numpy(), level)
            others[other] = (ratio, low, high) if sign == 1 else (ratio, high, low)
        tied = [
            other
            for other, (ratio, low, _) in others.items()
            if not (sign * (low - 1) > 0 and 100 * abs(ratio - 1) >= NOISE)
        ]
        clear = [other for other in others if other not in tied]
        row = {
            "winner": winner,
            "value": values[winner].mean(),
            "tied": BETWEEN.join(tied),
            "next": "",
            "behind": np.nan,
        }
        row |= {"low": np.nan, "high": np.nan}
        if clear:
            behind = [100 * sign * (factor - 1) for factor in others[clear[0]]]
            row |= {"next": clear[0]} | dict(zip(("behind", "low", "high"), behind, strict=True))
        return row

    def against(self, base: str = "EASY", measure: str | None = None) -> pd.DataFrame:
        """Compare every scheme with one of them in each cell, pair by pair over the copies.

        Parameters
        ----------
        base : str
            The scheme that the others are compared with.
        measure : str, optional
            Default: the measure that decides.

        Returns
        -------
        DataFrame
            One row per other scheme and cell: log, load, scheme, kind; change, by how many percent its mean differs
            from that of the base; low and high, the ends of its interval at the confidence of the arena (nan with a
            single copy). Each interval holds by itself. Cells in which the base has a mean of 0 are nan.
        """
        measure = check_known("measure", measure or self.measure, JUDGED)
        check_known("base", base, self.runs["scheme"].unique())
        runs, rows = self.runs.dropna(subset=measure), []
        for (log, load), cell in runs.groupby(["log", "load"], sort=False):
            values = cell.pivot_table(measure, "seed", "scheme")
            if base not in values:
                continue
            kinds = cell.drop_duplicates("scheme").set_index("scheme")["kind"]
            for scheme in kinds.index.drop(base):
                pair = values[[scheme, base]].dropna()
                ratios = ratio_over_seeds(pair[scheme], pair[base], self.confidence)
                change = dict(zip(("change", "low", "high"), (100 * (ratio - 1) for ratio in ratios), strict=True))
                rows.append({"log": log, "load": load, "scheme": scheme, "kind": kinds[scheme]} | change)
        return pd.DataFrame(rows, columns=["log", "load", "scheme", "kind", "change", "low", "high"])

    def ranks(self, measure: str | None = None) -> pd.DataFrame:
        """Rank the rigid schemes.

        Parameters
        ----------
        measure : str, optional
            Default: the measure that decides.

        Returns
        -------
        DataFrame
            One row per scheme, the best mean rank first: scheme, rank (mean over cells; equal values share one), best
            and worst rank, wins (cells won alone), tied (cells in which it wins or is tied with the winner), cells
            (that have jobs of the measure).
        """
        cells = self.cells(measure)
        cells = cells[cells["kind"] == RIGID]
        largest = (measure or self.measure) in LARGEST
        cells["rank"] = cells.groupby(["log", "load"])["value"].rank(ascending=not largest)
        table = cells.groupby("scheme", sort=False)["rank"].agg(["mean", "min", "max", "count"])
        table.columns = ["rank", "best", "worst", "cells"]
        won, shared = dict.fromkeys(table.index, 0), dict.fromkeys(table.index, 0)
        for winner, tied in self.wins(measure)[["winner", "tied"]].itertuples(index=False):
            won[winner] += not tied
            for name in (winner, *filter(None, tied.split(BETWEEN))):
                shared[name] += 1
        table.insert(3, "wins", pd.Series(won))
        table.insert(4, "tied", pd.Series(shared))
        return table.sort_values("rank", kind="stable").reset_index()

    def price(
        self, measures: str | Iterable[str] = ("max_wait_time", "gini", "loss_of_capacity_share"), base: str = "EASY"
    ) -> pd.DataFrame:
        """Compare what each scheme gains with what it costs, relative to one of them.

        Parameters
        ----------
        measures : str, or several
            The costs: any of `JUDGED`.
        base : str
            The scheme that the others are compared with.

        Returns
        -------
        DataFrame
            One row per scheme: scheme, kind, and for the measure that decides and for each cost the change against the
            base in percent. It is the geometric mean of the ratios over the cells in which no scheme has a mean of 0;
            nan if there is no such cell.
        """
        columns = {}
        check_known("base", base, self.runs["scheme"].unique())
        for measure in (self.measure, *([measures] if isinstance(measures, str) else measures)):
            values = self.cells(measure).pivot_table("value", ["log", "load"], "scheme", sort=False)
            values = values.reindex(columns=self.runs["scheme"].unique())
            values = values[(values > 0).all(axis=1)]
            logs = np.log(values).sub(np.log(values[base]), axis=0)
            columns[measure] = 100 * np.expm1(logs.mean())
        table = pd.DataFrame(columns)
        kinds = self.runs.drop_duplicates("scheme").set_index("scheme")["kind"]
        table.insert(0, "kind", kinds.reindex(table.index))
        return table.reindex(kinds.index).rename_axis("scheme").reset_index()


def _ratio(other, winner, confidence):
    """Compare two schemes over the copies: the ratio of their means, with its interval."""
    if (other == winner).all():
        return 1.0, 1.0, 1.0  # equal on every copy
    if winner.any() and other.any():
        return ratio_over_seeds(other, winner, confidence)
    # One scheme is 0 on every copy, so their ratio has no interval. The interval of the other's mean decides instead:
    # they differ if it excludes 0.
    values = other if other.any() else winner
    half = np.inf
    if values.size > 1:
        half = t_quantile((1 + confidence) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size)
    ratio = np.inf if other.any() else 0.0
    return (ratio, ratio, ratio) if values.mean() > half else (ratio, 1.0, 1.0)
