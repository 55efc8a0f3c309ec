"""What is no error in a scheme but worth knowing: starvation, waits far over EASY's, a head that is delayed."""

from collections.abc import Mapping

import numpy as np

from schedlab.schemes import EASY, Outcome, Scheme

from .faults import Broken, starts, tried
from .workloads import Workload

STREAM = 100  # jobs that arrive one after the other; then twice as many
TIMES, LEAST = 10, 60  # waits so many times as long as EASY's, if those are so many seconds
MOST = 400  # jobs of a workload in which heads are followed


def of_scheme(scheme: Scheme, seen: Mapping[Workload, Outcome]) -> list[str]:
    """Return notes on a lawful scheme, from what was simulated."""
    real = [(workload, outcome) for workload, outcome in seen.items() if len(workload) > 20]
    notes = [*(_starved(scheme, *victim) for victim in VICTIMS), _waits(scheme, real), _promised(scheme, seen)]
    if getattr(scheme, "order", "fcfs") == "fcfs":  # else the head is another job
        notes.append(_delayed(seen))
    return [note for note in notes if note]


# One job among others on 16 processors: the job's run time and processors, those of the others, and their load.
VICTIMS = (
    ("a job of all 16 processors", (100, 16), (100, 4), 0.95),
    ("a job of 10,000 s", (10_000, 4), (100, 4), 1.05),
)


def _starved(scheme, name, victim, other, load):
    """Say so if a job waits as long as others arrive, and under EASY it does not."""
    waits = [
        _wait(contender, victim, other, load, count) for contender in (scheme, EASY()) for count in (STREAM, 2 * STREAM)
    ]
    if None in waits:
        return None
    once, twice, _, easy = waits
    span = STREAM * other[0] * other[1] / (16 * load)
    if once < 0.8 * span or twice < 1.6 * span or easy > 0.4 * span:
        return None
    kind = f"jobs of {other[1]} processors and {other[0]} s"
    return f"{name} waits as long as {kind} arrive: {twice:,} s, under EASY {easy:,} s (starvation)"


def _wait(scheme, victim, other, load, count):
    submit = (np.arange(count) * (other[0] * other[1] / (16 * load))).astype("int64")
    rows = np.column_stack([submit, *np.full((2, count), other[0]), np.full(count, other[1])])
    place = 8
    rows = np.insert(rows, place, [submit[place], victim[0], victim[0], victim[1]], axis=0)
    workload = Workload(rows, 16)
    try:
        start = starts(scheme, workload)
    except Broken:
        if isinstance(tried(scheme, workload), str):  # it always fails, as these jobs lack a column that it needs
            return None
        raise
    return int(start[place] - rows[place, 0])


def _promised(scheme, seen):
    """Say so if promises are declared, and none says more than the start itself."""
    for workload, outcome in seen.items():
        promised = outcome.promise >= 0
        if not scheme.promises(workload.case.machine) or (promised & (outcome.promise != outcome.start)).any():
            return None
    message = "promises are declared, but no promise was made: no job was promised a start other than its own"
    return message if seen else None


def _waits(scheme, real):
    """Say so if the mean wait of a workload is over ten times EASY's."""
    ratios = []
    for workload, outcome in real:
        easy = (EASY().outcome(workload.case).start - outcome.submit).mean()
        if easy >= LEAST:
            ratios.append(((outcome.start - outcome.submit).mean() / easy, easy, workload))
    ratio, easy, workload = max(ratios, default=(0, 0, None), key=lambda row: row[0])
    if ratio <= TIMES:
        return None
    jobs = f"{len(workload):,} jobs on {workload.procs:,} processors"
    return f"the mean wait of {jobs} is {ratio:,.0f} times that under EASY, {easy:,.0f} s"


def _delayed(seen):
    """Say so if a head of the queue starts later than it could expect when it became the head."""
    count, example = 0, ""
    for workload, outcome in seen.items():
        if len(workload) > MOST or workload.overrun != "kill":
            continue
        for place, expected in _heads(workload.case.jobs, outcome.start, workload.procs):
            if outcome.start[place] > expected:
                count += 1
                times = f"at {outcome.start[place]:,} s, and could expect {expected:,} s when it came to the head"
                example = example or f"job {workload.numbers[place]} starts {times}\n{workload}"
    if not count:
        return None
    heads = f"{count:,} heads of the queue are" if count > 1 else "a head of the queue is"
    return f"{heads} delayed (first come, first served), for example:\n{example}"


def _heads(jobs, start, procs):
    """Yield each job that waits at the head of the queue, and when it can start then, by the estimates."""
    before = np.concatenate([[-1], np.maximum.accumulate(start)[:-1]])  # all earlier jobs have started then
    for place in np.flatnonzero((start > np.maximum(before, jobs.submit)) & (jobs.estimate > 0)):
        now = max(before[place], jobs.submit[place])
        places = np.arange(len(start))
        begun = (start < now) | ((start == now) & (places < place))
        runs = begun & ((start + jobs.run > now) | (start == now))  # a job of no length holds processors in its pass
        ends = np.maximum(start[runs] + jobs.estimate[runs], now)
        order = np.argsort(ends, kind="stable")
        free = procs - jobs.procs[runs].sum()
        if free >= jobs.procs[place]:
            yield place, now
            continue
        enough = np.flatnonzero(free + np.cumsum(jobs.procs[runs][order]) >= jobs.procs[place])[0]
        yield place, int(ends[order][enough])
