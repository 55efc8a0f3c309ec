"""The arena: every scheme on every log, with intervals from shaken copies, and lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from os import PathLike

import numpy as np
import pandas as pd

from .._runtime.text import check_known, spelt
from .._runtime.words import Rescaled
from ..experiment.grids import several
from ..experiment.stores import Store
from ..machine import Flat, KaryTree, Pools
from ..schedule.bounds import ROUNDS, check_rigid
from ..schedule.metrics import TAU
from ..schedule.statistics import NOISE, ratio_over_seeds, t_quantile
from ..schemes import Scheme
from ..workload import archive
from ..workload.loading import load_trace
from ..workload.trace import Trace
from .entrants import (
    BETWEEN,
    BOUNDED,
    ENTRANTS,
    JUDGED,
    LOADS,
    REFUSED,
    RIGID,
    SHAKE,
    Entrant,
    Setting,
    bounds_of,
    check_machine,
    entrants_of,
    refusals_of,
    runs_of,
    traces_by_name,
)

WON = ("winner", "value", "tied", "next", "behind", "low", "high")  # columns of `Arena.wins`
LARGEST = ("utilization",)  # measures of which the largest is the best


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
    machine: Flat | KaryTree | Pools | Mapping | int | Callable[[Trace], Flat | KaryTree | Pools] | None = None,
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
    machine : Flat, KaryTree, Pools, mapping, int or function, optional
        The machine of all entrants that have none of their own, as in `simulate`, or a function that takes a trace and
        returns it. Default: that of each trace. Loads are those of the traces on their own processors. Closed windows
        stay at their dates, also where ``by="interarrival"`` moves submissions. Entrants that cannot run on it do not
        compete, and are listed in `Arena.refused`. In pools, bounds count the processors of each pool only
        (`lower_bounds`).
    threads, progress, store
        As in `grid`.

    Returns
    -------
    Arena

    Raises
    ------
    ValueError, TypeError
        For an unknown measure, scheme or trace, or two entrants of one name; for a trace of jobs that are not rigid, or
        a machine whose closed windows end jobs, unless ``rounds=None`` leaves out the bounds; for a job that does not
        fit on the machine, or if no entrant can run on it.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1)
    >>> result = sl.arena(trace, ["fcfs", "easy"], load=0.8, seed=range(3), measure="wait_time")
    >>> result.wins()[["load", "winner", "tied"]].values.tolist()
    [[0.8, 'EASY', '']]

    On a machine of pools:

    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
    >>> pools = sl.Pools(short=sl.Pool(64), long=sl.Pool(128), limits=sl.Limit("user", running=8))
    >>> result = sl.arena(trace, ["fcfs", "easy", "dpsan"], load=0.8, seed=range(2), machine=pools)
    >>> result.runs["scheme"].unique().tolist(), result.refused["scheme"].tolist()
    (['FCFS', 'EASY'], ['DPSAn'])
    """
    check_known("measure", measure, JUDGED)
    _check(rounds, tau, confidence)
    if trace is None:
        trace = logs()
        if not trace:
            raise ValueError("no log of the archive is at hand; give traces, or set SCHEDLAB_DATA")
    if scheme is None:
        scheme = ENTRANTS
    called = traces_by_name(trace)
    for trace in called.values() if rounds is not None else ():
        check_rigid(trace)  # before anything is simulated
    loads = _numbers("load", load, Real)
    seeds = _numbers("seed", seed, Integral)
    setting = Setting(loads, seeds, shake, by, tau, check_machine(machine))
    entrants = entrants_of(several("scheme", scheme))
    how = {"threads": threads, "progress": progress, "store": store}
    refused = refusals_of(called, entrants, setting, rounds is not None)
    runs = runs_of(called, entrants, setting, refused, how)
    bounds = pd.DataFrame() if rounds is None else bounds_of(called, setting, rounds, how)
    return Arena(runs, bounds, setting, measure, confidence, called, refused=refused)


def logs() -> list[str]:
    """List the logs of the archive that are at hand, by name."""
    known = archive.list_traces()
    return known.loc[known["local"].ne("") & known["jobs"].notna(), "name"].tolist()


def _numbers(name, values, kind):
    """List numbers, each once."""
    numbers = several(name, values)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, kind) or (kind is Real and not 0 < number < np.inf):
            expected = "numbers above 0" if kind is Real else "whole numbers"
            raise ValueError(f"{name}: {number!r}, expected {expected}")
    return tuple(dict.fromkeys(numbers))


def _check(rounds, tau, confidence):
    whole = isinstance(rounds, Integral) and not isinstance(rounds, bool)
    if rounds is not None and not (whole and rounds >= 0):
        raise ValueError(f"rounds is {spelt(rounds)}, expected a whole number of at least 0, or None")
    if isinstance(tau, bool) or not (isinstance(tau, Real) and 0 <= tau < np.inf):
        raise ValueError(f"tau is {spelt(tau)}, expected a number of seconds")
    if isinstance(confidence, bool) or not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(f"confidence is {spelt(confidence)}, expected a number between 0 and 1, such as 0.95")


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
    measure, confidence : str, float
        The measure that decides who wins, and how surely.
    traces, load : dict of str to Trace, function
        The traces by their names in `runs`; kept results have none, so the function loads them by name.
    refused : DataFrame
        One row per log and entrant that cannot run on its machine there: log, scheme, reason.

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
    refused: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=REFUSED))

    def __repr__(self) -> str:
        several = {"scheme": self.runs["scheme"].nunique(), "log": self.runs["log"].nunique()}
        several |= {"load": len(self.setting.loads), "run": len(self.runs)}
        schemes, logs, loads, runs = (f"{count:,} {name}{'s' * (count != 1)}" for name, count in several.items())
        names = ", ".join(self.refused["scheme"].unique())
        return f"<Arena: {schemes} on {logs} at {loads}, {runs}{f'; refused: {names}' if names else ''}>"

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
        entrants = entrants_of(schemes)
        if not entrants:
            raise ValueError("there is no scheme to add, give one or more")
        names = self.runs["log"].unique()
        traces = {name: self.traces[name] if name in self.traces else self.load(name) for name in names}
        how = {"threads": threads, "progress": progress, "store": store}
        refused = refusals_of(traces, entrants, self.setting, False)
        more = runs_of(traces, entrants, self.setting, refused, how)
        names = [entrant.name for entrant in entrants]
        runs, refused = (
            pd.concat([table[~table["scheme"].isin(names)], new], ignore_index=True)
            for table, new in ((self.runs, more), (self.refused, refused))
        )
        return replace(self, runs=runs, traces=traces, refused=refused)

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
        rounds, threads, progress, store
            As in `arena`.
        """
        called, setting = traces_by_name(traces), self.setting
        if twice := sorted(set(called) & set(self.runs["log"])):
            raise ValueError(f"{twice[0]} is in the arena already")
        how = {"shake": setting.shake, "by": setting.by, "tau": setting.tau, "machine": setting.machine}
        how |= {"rounds": rounds, "store": store}
        more = arena(called.values(), schemes, setting.loads, setting.seeds, threads=threads, progress=progress, **how)
        tables = {
            name: pd.concat([getattr(part, name) for part in (self, more)], ignore_index=True)
            for name in ("runs", "bounds", "refused")
        }
        return replace(self, **tables, traces=self.traces | more.traces)

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
        winner, *others = (sign * values.mean()).sort_values(kind="stable").index
        tied, clear = [], []
        for other in others:
            level = 1 - (1 - self.confidence) / len(others)
            ratio, *ends = _ratio(values[other].to_numpy(), values[winner].to_numpy(), level)
            behind, low, high = (100 * sign * (factor - 1) for factor in (ratio, *ends[::sign]))
            if low > 0 and abs(behind) >= NOISE:
                clear.append({"next": other, "behind": behind, "low": low, "high": high})
            else:
                tied.append(other)
        row = {"winner": winner, "value": values[winner].mean(), "tied": BETWEEN.join(tied)}
        return row | next(iter(clear), {"next": "", "behind": np.nan, "low": np.nan, "high": np.nan})

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
            from that of the base (nan if this is 0); low and high, the ends of its interval at the confidence of the
            arena, which holds by itself (nan with a single copy).
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
