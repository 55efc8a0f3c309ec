"""Decisions of the iterative scheme: made again, one by one; how long they take, and how good they are."""

from itertools import product
from time import perf_counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab.experiment import grid
from schedlab.kernels.iterative import decision
from schedlab.kernels.speedup import DOWNEY, durations
from schedlab.schedule import Schedule
from schedlab.workload.speedup import Laws

from ..figure import Figure, chosen_size, rebuilt, standing_in
from .grids import ITERATIVE, LOG, SCENARIOS, SIDE, SIGMA, about, simulated

TIMED = {"quick": (0.7,), "full": (0.5, 0.7, 0.9)}  # loads
DECISIONS = {"quick": 300, "full": 5_000}  # of a schedule that are timed, at most
INSTANCES = {"quick": 100, "full": 1_000}  # small decisions


class Decision(NamedTuple):
    """What the iterative scheme decides on at an instant; jobs are told by their places in the trace."""

    now: int  # seconds on the clock of the log
    queued: np.ndarray  # in the order of the queue
    running: np.ndarray  # by their estimated ends
    ends: np.ndarray  # of the running jobs, estimated, in seconds after `now`
    held: np.ndarray  # processors of the running jobs
    estimate: np.ndarray  # of the queued jobs, as the trace has it
    procs: np.ndarray  # which the queued jobs ask for
    laws: Laws  # of the queued jobs
    machine: int  # processors

    def made(self):
        """Give widths, reservations (seconds after `now`) and steps, as `schedlab.kernels.iterative.decision` does."""
        return decision(self.ends, self.held, self.estimate, self.procs, self.machine, self.laws, 0)

    def lasting(self, width) -> np.ndarray:
        """Give how long the queued jobs are estimated to take on so many processors each; int64, seconds."""
        return durations(self.estimate, self.procs, width, self.laws)

    def reserved(self, width) -> np.ndarray:
        """Give the reservations (seconds after `now`) of the queued jobs on so many processors each."""
        rigid = self.laws._replace(moldable=np.zeros(self.queued.size, bool))
        return decision(self.ends, self.held, self.lasting(width), width, self.machine, rigid, 0)[1]

    def total(self, width) -> int:
        """Add up the estimated completions of the queued jobs (seconds after `now`) on so many processors each."""
        return int((self.reserved(width) + self.lasting(width)).sum())


def instants(schedule: Schedule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tell when the iterative scheme decides: where jobs wait and processors are free.

    Returns
    -------
    instants : int64, seconds on the clock of the log
    waiting, free : int64
        How many jobs are decided on, and how many processors are free for them.
    """
    start, end, procs = schedule.start, schedule.end, schedule.procs
    times = np.unique(np.concatenate([schedule.submit, end]))
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    begun = np.searchsorted(start[by_start], times, side="left")  # before this instant's decision
    ended = np.searchsorted(end[by_end], times, side="right")
    held = np.append(0, procs[by_start].cumsum())[begun] - np.append(0, procs[by_end].cumsum())[ended]
    waiting = np.searchsorted(schedule.submit, times, side="right") - begun
    free = schedule.machine.procs - held
    decides = (waiting > 0) & (free > 0)
    return times[decides], waiting[decides], free[decides]


def situation(schedule: Schedule, now: int) -> Decision:
    """Give what the iterative scheme decided on at an instant of its schedule."""
    queued = np.flatnonzero((schedule.submit <= now) & (schedule.start >= now))
    running = np.flatnonzero((schedule.start < now) & (schedule.end > now))
    ends = (schedule.start + schedule.estimate)[running] - now
    order = np.argsort(ends, kind="stable")
    running, ends = running[order], ends[order]
    table, machine = schedule.trace.table, schedule.machine.procs
    estimate, procs = (table[name].to_numpy()[queued] for name in ("requested_time", "requested_procs"))
    laws = schedule.trace.laws(machine).of(queued)
    return Decision(int(now), queued, running, ends, schedule.procs[running], estimate, procs, laws, machine)


def widths_after(asked: Decision, steps) -> np.ndarray:
    """Give the processors of the queued jobs after some steps of a decision; int64, shape (n_queued,)."""
    width = np.where(asked.laws.moldable, 1, asked.procs)
    for place, tried, stays, _ in steps.tolist():
        if stays:
            width[place] = tried
    return width


@rebuilt
def decision_times(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate how long a decision of the iterative scheme takes."""
    size = chosen_size(size)
    jobs, most = SIDE[size][0], DECISIONS[size]
    values = {"scenario": list(SCENARIOS), "load": TIMED[size], "jobs": jobs, "most": most}
    # One after the other, or they would slow one another down.
    data = grid(_timed, threads=1, words="decisions", progress=progress, **values).drop(columns=["jobs", "most"])
    return Figure(
        name="decision-times",
        title="How long a decision of the iterative scheme takes",
        caption=(
            f"{about(jobs=jobs)}. Every decision of a schedule, or {most:,} of them evenly spaced where there are "
            "more, made again by itself, in one thread, as it took this machine while the page was made. The paper "
            "says a few hundred ms."
        ),
        data=data,
        table=data,
        notes=standing_in([LOG]),
    )


def _timed(scenario, load, jobs, most):
    """Make decisions of a schedule again, and measure how long they take."""
    schedule = simulated(ITERATIVE, A=SCENARIOS[scenario], load=load, jobs=jobs)
    times, waiting, _ = instants(schedule)
    some = np.unique(np.linspace(0, times.size - 1, min(most, times.size)).round().astype(int))
    situation(schedule, times[some[0]]).made()  # so that nothing is compiled while the clock runs
    took = []
    for now in times[some]:
        asked = situation(schedule, now)
        begin = perf_counter()
        asked.made()
        took.append(1000 * (perf_counter() - begin))
    return {
        "decisions": some.size,
        "jobs waiting, median": float(np.median(waiting[some])),
        "jobs waiting, most": int(waiting[some].max()),
        "median (ms)": float(np.median(took)),
        "99th percentile (ms)": float(np.quantile(took, 0.99)),
        "longest (ms)": max(took),
    }


def optimum(asked: Decision) -> int:
    """Give the least sum of estimated completions that any widths have, each job placed in the order of the queue."""
    n = asked.queued.size
    return min(asked.total(np.array(width)) for width in product(range(1, asked.machine + 1), repeat=n))


def small_decisions(count: int, seed: int = 1) -> list[Decision]:
    """Draw decisions so small that all outcomes can be tried: 2 to 4 jobs on 3 to 6 processors, some of them busy."""
    random = np.random.default_rng(seed)
    drawn = []
    for i in range(count):
        machine, n = int(random.integers(3, 7)), int(random.integers(2, 5))
        procs = random.integers(1, machine + 1, n)
        A = np.full(n, machine) if i % 2 else procs * random.uniform(1, 2, n)
        laws = Laws(DOWNEY, A.astype("float64"), random.uniform(*SIGMA, n), np.zeros((1, 1)), np.ones(n, bool))
        held = random.integers(1, 3, random.integers(0, machine // 2))
        ends = np.sort(random.integers(1, 3_600, held.size))
        estimate = np.exp(random.uniform(np.log(60), np.log(36_000), n)).astype("int64")
        drawn.append(Decision(0, np.arange(n), np.arange(held.size), ends, held, estimate, procs, laws, machine))
    return drawn


def _tried(asked):
    best, found = optimum(asked), asked.total(asked.made()[0])
    return {"jobs": asked.queued.size, "processors": asked.machine, "best": best, "found": found}


@rebuilt
def heuristic(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: how good the iterative scheme's decisions are, where all outcomes can be tried."""
    size = chosen_size(size)
    drawn = [{"asked": asked} for asked in small_decisions(INSTANCES[size])]
    data = grid(_tried, drawn, words="small decisions", progress=progress).drop(columns="asked")
    data["gap"] = 100 * (data["found"] / data["best"] - 1)
    groups = data.groupby("jobs")["gap"]
    table = pd.DataFrame(
        {
            "decisions": groups.size(),
            "at the optimum (%)": 100 * groups.agg(lambda gap: (gap == 0).mean()),
            "median gap (%)": groups.median(),
            "95th percentile (%)": groups.quantile(0.95),
            "worst gap (%)": groups.max(),
        }
    ).reset_index()
    return Figure(
        name="heuristic",
        title="Beyond the paper: how good the iterative decisions are",
        caption=(
            "Random decisions on 3 to 6 processors. The sum of the estimated completions (from now) that the iterative "
            "scheme finds, compared with the least that any widths have: all are tried, jobs placed in the order "
            "of the queue." + (f" Quick; full size: {INSTANCES['full']:,}." if size == "quick" else "")
        ),
        data=data,
        table=table,
    )
