"""What is measured of a schedule: means by class, queue and load over time, fairness."""

from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known, spelt, suggestion
from schedlab.machine import Pools
from schedlab.schedule import metrics, statistics
from schedlab.schedule.calendar import classes_of
from schedlab.schedule.metrics import TAU, Measures, MeasureTable
from schedlab.schedule.statistics.batches import check_warm_up

MEANS = ("wait_time", "turnaround", "slowdown", "bounded_slowdown", "per_processor_slowdown")  # over jobs
AREA_WEIGHTED = "area_weighted_turnaround"
PERIODS = {"throughput_sd_day": metrics.DAY, "throughput_sd_week": metrics.WEEK}


class Measured(NamedTuple):
    """What is measured: which jobs count, and from when until when (seconds) the machine and the queue are watched."""

    jobs: np.ndarray
    begin: float
    end: float
    whole: bool  # whether nothing is left out


class Measuring:
    def classes(self, by) -> pd.Series:
        """Return the class of each job (`schedlab.metrics.classes`).

        Parameters
        ----------
        by : str, mapping, function or Series
            As in `metrics`.
        """
        whole = callable(by) or (isinstance(by, str) and by == "started_by")
        return classes_of(self.jobs if whole else self._table, by, self.trace)

    @overload
    def metrics(self, by: None = None, tau: float = ..., window=..., *, warm_up: int | str = ...) -> Measures: ...

    @overload
    def metrics(
        self, by=None, tau: float = ..., window=..., confidence: float | None = ..., warm_up: int | str = ...
    ) -> MeasureTable: ...

    def metrics(
        self, by=None, tau: float = TAU, window="makespan", confidence: float | None = None, warm_up: int | str = 0
    ):
        """Measure the schedule: all of it, or each class of jobs.

        Parameters
        ----------
        by : optional
            Classes of jobs, as in `schedlab.metrics.classes`; or the "hour", "weekday" or "month" of their submission
            on the clock of the machine. The result then has one row per class, with the measures that a class has. Jobs
            in no class have a last row, nan.
        tau : float, seconds
            Threshold of the bounded slowdown. Run times below it count as tau.
        window : "makespan", "arrivals" or (begin, end)
            - "makespan" (default): all jobs that are counted (`Trace.counted`); machine and queue from the first of
              their submissions to the last of their ends.
            - "arrivals": the same, with the utilization up to the last submission. Not for classes and intervals.
            - A period, by dates at the machine or in seconds on the clock of the log: the jobs submitted in [begin,
              end), however long they wait and run; utilization, queue, loss of capacity and throughput of that period,
              whoever's jobs run in it; and the load that is offered in it.
        confidence : float, optional
            Confidence level, such as 0.95. If given, the result has intervals by batch means
            (`schedlab.statistics.batch_means`) on the means over jobs, instead of the measures below.
        warm_up : int or "mser"
            Jobs to leave out at the beginning of each class, or of the whole. Only for intervals.

        Returns
        -------
        DataFrame, where `confidence` is given
            One row per measure, or per (class, measure) for each class that has jobs: mean, low, high, batches,
            batch_size (jobs), warm_up (jobs), and a note with reasons to doubt the interval, which an `IntervalWarning`
            points out. If the queue does not settle (`settles`), low and high are nan. On several pools, that is
            the queue of each pool; for a class, of those in which its jobs wait, and the queue of these jobs.
        Series, or DataFrame where `by` is given
            It displays with units (`schedlab.metrics.Measures`); anything computed from it is plain pandas.

            - jobs: how many; killed: how many of them were killed.
            - Means of wait_time, turnaround (seconds), slowdown, bounded_slowdown, per_processor_slowdown; the median,
              95th percentile and maximum of wait_time (seconds).
            - area_weighted_turnaround: the mean turnaround, each job weighted by the processor-seconds that it held
              (`schedlab.metrics.area_weighted_turnaround`; seconds).
            - throughput_sd_day, throughput_sd_week: standard deviation of the jobs completed per day and per week.
              These count from the first submission, for classes, too; a last one that is cut short is left out
              (`schedlab.metrics.throughput_deviation`).
            - With speed-up data, wasted_share: the part of all processor-seconds held that exceeds the sequential work.
            - Only for the whole: utilization, makespan (seconds), throughput (ends per hour), loss_of_capacity
              (processor-seconds), loss_of_capacity_share (of processors x makespan), mean_queue and max_queue (jobs),
              longest_pile_up (share of the makespan for which the queue stays long: `schedlab.metrics.pile_up`),
              offered_load, and effective_load (from the sequential work; a job without speed-up counts as efficient).

        Examples
        --------
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.testing.trace_of([(0, 7200, 7200, 8), (0, 3600, 3600, 4)], machine=8), "easy")
        >>> schedule.metrics()[["wait_time", "utilization"]].round(3).to_dict()
        {'wait_time': 3600.0, 'utilization': 0.833}
        >>> schedule.metrics(by="size")["turnaround"].dropna().to_dict()
        {'3-4': 10800.0, '5-8': 7200.0}
        >>> schedule.metrics(window=(0, 7200))["utilization"].item()
        1.0

        Intervals on the means, by batches of jobs in the order of submission:

        >>> trace = sl.model_trace("lublin", jobs=1000, machine=64, seed=2).scale_load(0.5)
        >>> table = sl.simulate(trace, "easy").metrics(confidence=0.95)
        >>> table[["mean", "low", "high"]].round(-3).loc["wait_time"].tolist()
        [2000.0, 1000.0, 4000.0]
        """
        check_warm_up(confidence, warm_up)
        if not (by is None and confidence is None) and isinstance(window, str) and window == "arrivals":
            reason = "classes and intervals have no utilization: leave out by and confidence"
            raise ValueError(f"window is {spelt(window)}, but {reason}")
        per_job, measured = self._per_job(tau), self.measured(window)
        labels = None if by is None else self.classes(by)
        if confidence is not None:
            unsettled = self._unsettled(window) if labels is None else self._unsettled_by(labels, window)
            how = {"warm_up": warm_up, "unsettled": unsettled}
            labels = None if labels is None else labels[measured.jobs]
            counted = per_job.loc[measured.jobs, list(MEANS)]
            return metrics.MeasureTable(statistics.intervals(counted, confidence, labels, **how))
        if by is not None:
            return metrics.MeasureTable(_means(per_job, labels, measured))
        return self._measures(per_job, window)

    def _measures(self, per_job, window="makespan"):
        measured = self.measured(window)
        values = _means_of_all(per_job if measured.whole else per_job[measured.jobs]) | self._whole(window, measured)
        return metrics.Measures(values, name=str(self.scheme), dtype="float64")

    def measured(self, window="makespan") -> Measured:
        """Return which jobs count, as a mask, and from when until when the machine and the queue are measured.

        Parameters
        ----------
        window : "makespan", "arrivals", None or (begin, end)
            As in `metrics`; None is "makespan".
        """
        names = ("makespan", "arrivals")
        if isinstance(window, str) and window not in names:
            known = f"makespan, arrivals, or (begin, end): dates or seconds{suggestion(window, names)}"
            raise ValueError(f"unknown window {window!r}; known: {known}")
        if window is not None and not isinstance(window, str):
            return Measured(self.trace.counted(window), *self.trace.period(window), False)
        jobs = self.trace.some_counted()
        return Measured(jobs, self.submit[jobs][0], self.end[jobs].max(), bool(jobs.all()))

    def _per_job(self, tau):
        turnaround = self.end - self.submit
        columns = {
            "wait_time": self.start - self.submit,
            "turnaround": turnaround,
            "slowdown": metrics.slowdown(turnaround, self.run),
            "bounded_slowdown": metrics.bounded_slowdown(turnaround, self.run, tau),
            "per_processor_slowdown": metrics.per_processor_slowdown(turnaround, self.run, self.procs, tau),
            "killed": self.killed,
            "end": self.end.astype("float64"),
            "area": self.run * self.procs,
        }
        work = {} if self._sequential_work is None else {"sequential_work": self._sequential_work}
        return pd.DataFrame(columns | work, index=self.trace.table.index)

    def _whole(self, window, measured):
        jobs, begin, end, whole = measured
        first, last = self.submit[jobs][[0, -1]] if jobs.any() else (begin, end)
        span = None if whole else (begin, end)
        period = None if window is None or isinstance(window, str) else span
        timeline = self._timeline(span)
        lasts = np.diff(timeline["time"]).astype("float64")
        length, size = (end - begin).item() if whole else float(end - begin), self.machine.procs
        lost = self._lost(timeline, span)
        piled, until = metrics.pile_up(timeline["time"].to_numpy(), timeline["queued"].to_numpy())
        capacity, pieces = size * length, self.outcome.pieces
        held = (self.seconds(pieces.start), self.seconds(pieces.end), pieces.procs)
        work = self._sequential_work
        work = self.run * self.procs if work is None else work
        arrivals = length if period else int(last - first)
        busy = (first, last) if isinstance(window, str) and window == "arrivals" else (begin, end)
        ended = int(((self.end >= begin) & (self.end <= end)).sum())
        return {
            "utilization": metrics.utilization(*held, size, busy),
            "makespan": (self.end[jobs].max() - first).item() if jobs.any() else float("nan"),
            "throughput": 3600 * ended / length if length else float("nan"),
            **{name: metrics.throughput_deviation(self.end, begin, end, days) for name, days in PERIODS.items()},
            "loss_of_capacity": lost,
            "loss_of_capacity_share": lost / capacity if capacity else float("nan"),
            "mean_queue": float((timeline["queued"].to_numpy()[:-1] * lasts).sum() / length) if length else 0.0,
            "max_queue": int(timeline["queued"].max()),
            "longest_pile_up": float((until - piled) / length) if length else 0.0,
            "offered_load": self.trace.offered_load(self.overrun, period) * self.trace.procs / size,
            "effective_load": float(work[jobs].sum()) / (size * arrivals) if arrivals else float("inf"),
        }

    def loss_of_capacity(self, window="makespan") -> float:
        """Add up what idled while queued jobs could have used it, in processor-seconds
        (`schedlab.metrics.loss_of_capacity`).

        On `schedlab.Pools` it is the sum over the pools, since jobs of one pool cannot use what idles in another. It
        counts open processors only, whether or not a job would also have had enough of the other resources.

        Parameters
        ----------
        window : optional
            As in `metrics`.
        """
        span = self._span(window)
        return self._lost(self._timeline(span), span)

    def _lost(self, timeline, span):
        if isinstance(self.machine, Pools):
            if len(self.machine.pools) > 1:  # jobs of one pool cannot use what idles in another
                return sum(part._lost(part._timeline(span), span) for part in filter(len, self.pools.values()))
            return metrics.loss_of_capacity(*self._open_over_time(timeline))
        lost = self.outcome.lost if span is None else None
        return metrics.loss_of_capacity(timeline, self.machine.procs) if lost is None else lost / self.outcome.tick

    @cached_property
    def states(self) -> tuple[np.ndarray, ...]:
        """Instants in ticks of the outcome; from each on: processors in use, jobs queued, what these want."""
        return metrics.states(*self.outcome.changes())

    def timeline(self, window="makespan") -> pd.DataFrame:
        """Follow the machine and the queue over time, one row per distinct instant.

        It has the time (seconds), and from then until the next row the processors used, the jobs queued, and the
        demand: processors that these want; a queued sweep wants at most as many as it has tasks left.

        Parameters
        ----------
        window : optional
            As in `metrics`: without a lead-in the whole schedule, or from the begin to the end of a period.

        Examples
        --------
        >>> import schedlab as sl
        >>> jobs = [(0, 6, 6, 5), (1, 4, 4, 6)]  # submission, run time, estimate, processors
        >>> schedule = sl.simulate(sl.testing.trace_of(jobs, machine=8), "easy")
        >>> schedule.timeline()[["time", "used", "queued", "demand"]].to_numpy().tolist()
        [[0, 5, 0, 0], [1, 5, 1, 6], [6, 6, 0, 0], [10, 0, 0, 0]]
        >>> schedule.timeline((0, 8)).to_numpy().tolist()[-2:]
        [[6.0, 6.0, 0.0, 0.0], [8.0, 0.0, 0.0, 0.0]]
        """
        return self._timeline(self._span(window))

    def _timeline(self, span):
        time, *states = self.states
        time = self.seconds(time)
        if span is not None:
            instants = np.concatenate([[span[0]], time[(time > span[0]) & (time < span[1])], [span[1]]])
            place = np.searchsorted(time, instants[:-1], side="right") - 1
            states = [np.append(np.where(place >= 0, state[place], 0), 0) for state in states]
            time = instants
        return pd.DataFrame(dict(zip(("time", "used", "queued", "demand"), (time, *states), strict=True)))

    def _span(self, window):
        """Return from when until when the machine and the queue are measured; None for all that there is."""
        measured = self.measured(window)
        return None if measured.whole else measured[1:3]

    @property
    def settles(self) -> bool:
        """Whether the queue settles, or that of each pool; means over the jobs then have intervals by batch means.

        Examples
        --------
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1)
        >>> sl.simulate(trace.scale_load(0.5), "easy").settles
        True
        >>> sl.simulate(trace.scale_load(1.1), "easy").unsettled
        'EASY does not settle within the log at this load: its queue piles up and does not drain before the end'
        """
        return not self.unsettled

    @cached_property
    def unsettled(self) -> str:
        """Why the queue does not settle (`schedlab.statistics.unsettled`); empty if it does."""
        return self._unsettled()

    def _unsettled(self, window=None, queue="its queue"):
        """Say why the queue does not settle, or the first of several pools' that does not; "" if all do."""
        measured = self.measured(window)
        if self._in_several_pools:
            return next(filter(None, self._unsettled_pools(measured.jobs, window)), "")
        timeline = self._timeline(None if measured.whole else measured[1:3])
        return self._reason(timeline["time"].to_numpy(), timeline["queued"].to_numpy(), measured, queue)

    @property
    def _in_several_pools(self):
        return isinstance(self.machine, Pools) and len(self.machine.pools) > 1

    def _unsettled_pools(self, jobs, window):
        """Say why the queue of each pool that has some of the jobs does not settle."""
        pools = list(self.pools.items())
        for name, part in (pools[i] for i in np.unique(self.case.places[jobs])):
            yield part._unsettled(window, f"the queue of {self.machine.part} {name}")

    def _reason(self, time, queued, measured, queue):
        """Say why a queue over time does not settle; "" if it does."""
        reason = statistics.unsettled(time, queued, self.submit[measured.jobs][-1]).replace("its queue", queue)
        return f"{self.scheme} does not settle within the log at this load: {reason}" if reason else ""

    def _unsettled_by(self, labels, window):
        """Say for each job why a queue of its class does not settle: its own, or one in which its jobs wait."""
        measured = self.measured(window)
        of_all = "" if self._in_several_pools else self._unsettled(window)
        codes, _ = pd.factorize(labels, use_na_sentinel=False)
        reasons = pd.Series("", index=labels.index)
        for code in np.unique(codes[measured.jobs]):
            mine = codes == code
            texts = [of_all]
            if self._in_several_pools:
                texts += self._unsettled_pools(mine & measured.jobs, window)
            texts.append(self._reason(*self._queue_of(mine, measured), measured, "the queue of these jobs"))
            reasons[mine] = next(filter(None, texts), "")
        return reasons

    def _queue_of(self, jobs, measured):
        """Return instants (seconds) from the begin to the end of what is measured, and how many of some jobs queue."""
        outcome = self.outcome
        came = outcome.submit
        left = outcome.start
        if outcome.interrupted is not None:  # jobs that a closed window ended come again
            came, left = outcome.queued()
            jobs = jobs[outcome.pieces.job]
        came, left = (np.sort(self.seconds(times[jobs])) for times in (came, left))
        time = np.unique(np.concatenate([came, left, [measured.begin, measured.end]]))
        time = time[(time >= measured.begin) & (time <= measured.end)]
        return time, np.searchsorted(came, time, "right") - np.searchsorted(left, time, "right")

    def users(self, window=None) -> pd.DataFrame:
        """Return each user's share of the machine, largest area first (`schedlab.metrics.user_shares`).

        Parameters
        ----------
        window : (begin, end), optional
            Of the jobs submitted in [begin, end), as in `metrics`; default: of all that are counted.
        """
        return metrics.user_shares(self._table[self.trace.counted(window)])

    def gini(self, measure: str = "bounded_slowdown", window=None) -> float:
        """Measure how unequal the values of a column of `jobs` are: its Gini coefficient (`schedlab.metrics.gini`).

        Parameters
        ----------
        measure : str
            Name of a column without values below 0.
        window : (begin, end), optional
            As in `users`.
        """
        check_known("measure", measure, self._table.columns)
        return metrics.gini(self._table[measure][self.trace.counted(window)])


def _means_of_all(per_job):
    """Do what `_means` does, for one class of all jobs, in a tenth of the time."""
    count = len(per_job)
    if not count:  # in a window without submissions all is unknown
        per_job = per_job.astype("float64").reindex([-1])
    columns = {name: per_job[name].to_numpy() for name in per_job}
    waits = columns["wait_time"]
    middle, late = np.quantile(waits, (0.5, 0.95))
    measures = {"jobs": count, "wait_time": waits.mean(), "median_wait_time": middle, "p95_wait_time": late}
    measures |= {"max_wait_time": waits.max()} | {name: columns[name].mean() for name in MEANS}
    measures[AREA_WEIGHTED] = metrics.area_weighted_turnaround(columns["turnaround"], columns["area"])
    measures["killed"] = columns["killed"].sum()
    if "sequential_work" in columns:
        measures["wasted_share"] = 1 - columns["sequential_work"].sum() / columns["area"].sum()
    return measures


def _means(per_job, labels, measured):
    """Measure each class; its throughput is counted in the periods of the whole schedule, whoever's jobs end then."""
    ends = per_job["end"].groupby(labels, observed=False, dropna=False)
    groups = per_job[measured.jobs].groupby(labels[measured.jobs], observed=False, dropna=False)
    means = groups[list(MEANS)].mean()
    waits = groups["wait_time"]
    means.insert(0, "jobs", groups.size())
    means.insert(2, "median_wait_time", waits.median())
    means.insert(3, "p95_wait_time", waits.quantile(0.95))
    means.insert(4, "max_wait_time", waits.max())
    means[AREA_WEIGHTED] = groups[["turnaround", "area"]].apply(
        lambda jobs: metrics.area_weighted_turnaround(jobs["turnaround"], jobs["area"])
    )
    means["killed"] = groups["killed"].sum()
    for name, period in PERIODS.items():
        means[name] = ends.agg(metrics.throughput_deviation, measured.begin, measured.end, period)
    if "sequential_work" in groups.obj:
        sums = groups[["area", "sequential_work"]].sum()
        means["wasted_share"] = 1 - sums["sequential_work"] / sums["area"]
    return means
