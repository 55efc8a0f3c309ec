"""Variations of a log: another load, submissions shaken, weeks drawn anew."""

import warnings
from dataclasses import replace
from typing import Self

import numpy as np
import pandas as pd

from schedlab._runtime.streams import entropy
from schedlab._runtime.text import check_known, spelt
from schedlab._runtime.words import Overrun, Rescaled

from . import swf
from .conventions import check_positive
from .copies import copied
from .filter import LoadWarning
from .models.common import whole_seconds

MOST_LOAD = 1.5  # a higher load is probably a mistake
WEEK = 7 * 24 * 3600  # seconds


class Variations:
    def scale_load(self, load: float, by: Rescaled = "run_time", overrun: Overrun = "kill") -> Self:
        """Scale the trace to a given offered load, or effective load.

        Parameters
        ----------
        load : float
            Target load, above 0; 1 is the whole capacity of the machine.
        by : {"run_time", "interarrival", "effective"}
            What to scale.

            - ``"run_time"``: multiply run times and estimates. They are rounded to whole seconds, at least one, so the
              load reaches the target only within that rounding.
            - ``"interarrival"``: divide the times between submissions, rounded to whole seconds.
            - ``"effective"``: multiply run times and estimates until `effective_load` reaches the target.
        overrun : {"kill", "extend", "keep", "kill-backfilled"}
            As in `offered_load`.

        Raises
        ------
        ValueError
            For a load that is not above 0, or a trace whose jobs are all submitted at one instant. With "effective",
            also for a trace without speed-up data.

        Warns
        -----
        LoadWarning
            Above a load of 1.5: 90 % is 0.9, not 90.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=1)
        >>> longer, denser = trace.scale_load(0.8), trace.scale_load(0.8, by="interarrival")
        >>> round(longer.offered_load(), 2), round(denser.offered_load(), 2)
        (0.8, 0.8)
        >>> denser.jobs["run_time"].equals(trace.jobs["run_time"])
        True
        """
        check_positive("load", load)
        if load > MOST_LOAD:
            percent = f"if you mean {load:g} %, give {load / 100:g}"
            meant = percent if load >= 10 else "the queue grows as long as jobs arrive"
            message = f"load {load:g} is {100 * load:,.6g} % of the machine; {meant}"
            warnings.warn(message, LoadWarning, stacklevel=2)
        check_known("by", by, ("run_time", "interarrival", "effective"))
        effective = by == "effective"
        if effective:
            self.check_speedup("scale_load(by='effective')")
        what, before = ("effective", self.effective_load) if effective else ("offered", self.offered_load)
        before = before(overrun)
        if not np.isfinite(before):
            raise ValueError(f"{self.name} has no {what} load to scale: all its jobs are submitted at one instant")
        return self.scale(load / before, "run_time" if effective else by, f"{what} load {before:.4f} -> {load:g}")

    def scale(self, factor: float, by: Rescaled = "run_time", why: str = "load") -> Self:
        """Multiply the load by a factor: run times and estimates, or the rate of submissions.

        Parameters
        ----------
        factor : float
            The factor, above 0.
        by : {"run_time", "interarrival"}
            Multiply run times and estimates, or divide the times between submissions, as in `scale_load`.
        why : str
            The reason that the history gives.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.testing.trace_of([(0, 60, 100, 4), (100, 60, 60, 4)], machine=8)
        >>> trace.scale(0.5).jobs[["run_time", "requested_time"]].to_numpy().tolist()
        [[30, 50], [30, 30]]
        >>> trace.scale(2, by="interarrival").jobs["submit_time"].tolist()
        [0, 50]
        """
        check_positive("factor", factor)
        check_known("by", by, ("run_time", "interarrival"))
        table = copied(self.table)
        if by == "run_time":
            for field in ("run_time", "requested_time"):
                table[field] = np.maximum(1, whole_seconds(np.rint(table[field] * factor)))
            return self._altered(table, f"{why}: run times and estimates x {factor:.4f}")
        first = table["submit_time"].iloc[0]
        table["submit_time"] = first + whole_seconds(np.rint((table["submit_time"] - first) / factor))
        return self._altered(table, f"{why}: inter-arrival times / {factor:.4f}")

    def shake(self, seconds: int = 60, seed: int = 0) -> Self:
        """Move each submission at random, by at most a given number of seconds.

        Schedules are chaotic: if one job arrives a second later, thousands start at other times. The spread of a
        measure over shaken copies shows how large a difference must be to mean anything: smaller ones are noise.

        Parameters
        ----------
        seconds : int
            Each job moves up to this many seconds, at least 1, earlier or later, every whole number equally likely. A
            time before the first submission is reflected there.
        seed : int
            Seed of the random moves. They depend on job numbers only, not on the order of simultaneous jobs in the
            table.

        Examples
        --------
        A measure that differs by less than it does between shaken copies says nothing about schemes:

        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=300, machine=64, seed=1).scale_load(0.8)
        >>> waits = [sl.simulate(trace.shake(60, seed), "easy").start.sum() for seed in range(3)]
        >>> len(set(waits))
        3

        References
        ----------
        Tsafrir and Feitelson, "Instability in parallel job scheduling simulation: the role of workload flurries",
        IPDPS 2006; Tsafrir, Ouaknine and Feitelson, "Reducing performance evaluation sensitivity and variability by
        input shaking", MASCOTS 2007.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, int | np.integer) or not 1 <= seconds < swf.EXACT:
            raise ValueError(f"seconds must be a whole number of at least 1 and less than 2**53, got {spelt(seconds)}")
        seed = entropy(seed)
        table = copied(self.table)
        moved = np.empty(len(table), dtype="int64")
        by_number = np.argsort(table.index, kind="stable")
        moved[by_number] = np.random.default_rng(seed).integers(-seconds, seconds, len(table), endpoint=True)
        first = table["submit_time"].min()
        table["submit_time"] = first + (table["submit_time"] - first + moved).abs()
        return self._altered(table, f"submissions shaken by up to {seconds:,} s, seed {seed}")

    def bootstrap(self, seed: int = 0, weeks: int = 1) -> Self:
        """Make another plausible log of the same length: blocks of whole weeks, drawn with replacement.

        Blocks start at the weekday and hour of the first submission, in any week, so the daily and weekly cycles
        continue across the seams (except for daylight saving). An incomplete week at the end of the log is not used.

        Parameters
        ----------
        seed : int
            The same seed gives the same log.
        weeks : int
            Length of a block; the log must have at least one week more. Patterns that last longer are broken up.

        Returns
        -------
        Trace
            Jobs are renumbered from 1; users, groups and the like stay. preceding_job is kept if that job is in the
            same block; otherwise it and think_time are -1. A lead-in (`between`) is left out.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1)
        >>> drawn = [trace.bootstrap(seed) for seed in (1, 2)]
        >>> drawn[0].history[-1]
        '7 blocks of 1 week(s) drawn from 6, seed 1'
        >>> chart = sl.charts.weekly([trace, *drawn], subtitle="")

        References
        ----------
        Kunsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17(3), 1989.
        """
        if isinstance(weeks, bool) or not isinstance(weeks, int | np.integer) or weeks < 1:
            raise ValueError(f"weeks must be a whole number of at least 1, got {spelt(weeks)}")
        if self.table.empty:
            raise ValueError(f"{self.name} has no jobs to draw from")
        if not self.counted().all():
            return self.without_lead_in().bootstrap(seed, weeks)
        after = (self.table["submit_time"] - self.table["submit_time"].iloc[0]).to_numpy()
        length = int(after[-1]) + 1
        starts = length // WEEK - weeks + 1
        if starts < 2:
            expected = f"expected at least {weeks + 1} for blocks of {weeks}"
            raise ValueError(f"{self.name} has {length // WEEK} whole weeks, {expected}")
        block = weeks * WEEK
        seed = entropy(seed)
        begin = WEEK * np.random.default_rng(seed).integers(0, starts, -(-length // block))
        place = block * np.arange(begin.size)
        low = np.searchsorted(after, begin)
        high = np.searchsorted(after, begin + np.minimum(block, length - place))  # the last block may be cut short
        size = high - low
        shift = np.repeat(np.cumsum(size) - size - low, size)  # from a row of this log to the same row of the new log
        row = np.arange(size.sum()) - shift
        table = self.table.iloc[row]
        area = self.logged_area.reindex(table.index).to_numpy()
        preceding = self.table.index.get_indexer(table["preceding_job"])
        known = (preceding >= np.repeat(low, size)) & (preceding < np.repeat(high, size))
        table = table.set_axis(pd.RangeIndex(1, len(table) + 1, name=self.table.index.name))
        table["submit_time"] += np.repeat(place - begin, size)
        table["preceding_job"] = np.where(known, preceding + shift + 1, -1)
        table["think_time"] = table["think_time"].where(known, -1)
        step = f"{begin.size} blocks of {weeks} week(s) drawn from {length // WEEK}, seed {seed}"
        drawn = pd.DataFrame({"job_number": self.table.index[row], "new": table.index})
        repaired = drawn.merge(self.repaired, on="job_number").drop(columns="job_number")
        repaired = repaired.rename(columns={"new": "job_number"})[self.repaired.columns]
        changed = self._altered(table, step)
        return replace(changed, logged_area=pd.Series(area, index=table.index), repaired=repaired)
