"""Find the smallest workload that still shows a fault: fewer jobs, then smaller numbers."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .workloads import ESTIMATE, PROCS, RUN, SUBMIT, Workload

SECONDS = 2.0  # for one fault


def smallest(fault: Callable[[Workload], object], workload: Workload, seconds: float = SECONDS) -> Workload:
    """Simplify a workload as long as `fault` returns something true for it, and for so many seconds at most."""
    end = time.perf_counter() + seconds

    def shows(simpler):
        return time.perf_counter() < end and fault(simpler)

    workload = _fewer(shows, workload)
    while simpler := next((candidate for candidate in _simpler(workload) if shows(candidate)), None):
        workload = _fewer(shows, simpler) if len(simpler) < 9 else simpler
    return workload


def _fewer(shows, workload):
    """Leave out jobs: halves of them first, then ever smaller parts, then single ones (delta debugging)."""
    part = max(1, len(workload) // 2)
    while len(workload) > 1:
        first, before = 0, len(workload)
        while first < len(workload):
            rest = np.ones(len(workload), bool)
            rest[first : first + part] = False
            if rest.any() and shows(simpler := workload.some(rest)):
                workload = simpler
            else:
                first += part
        if part == 1 and len(workload) == before:
            break
        part = max(1, min(part // 2, len(workload) // 2))
    return workload


def _simpler(workload) -> Iterator[Workload]:
    """Yield workloads with smaller numbers, but positive run times, since charts show no others."""
    rows, counted = workload.rows, np.arange(len(workload)) + 1
    if (workload.numbers != counted).any():
        yield replace(workload, numbers=counted)
        rank = np.argsort(np.argsort(workload.numbers)) + 1
        if (workload.numbers != rank).any():
            yield replace(workload, numbers=rank)
    if workload.overrun != "kill":
        yield replace(workload, overrun="kill")
    if workload.origin:
        yield replace(workload, origin=0)
    for part in (3_600, 60, 10, 2):
        if (rows[:, :PROCS] >= part).any():
            shorter = rows // np.array([part, part, part, 1])
            times = slice(RUN, PROCS)  # of 1 s at least, as before: a run time of 0 would become 1 again below
            shorter[:, times] = np.maximum(shorter[:, times], rows[:, times] > 0)
            yield _with(workload, shorter)
    for fewer in _smaller(workload.procs, 1):
        yield replace(
            _with(workload, np.column_stack([rows[:, :PROCS], np.minimum(rows[:, PROCS], fewer)])), procs=fewer
        )
    for place in range(1, len(rows)):  # this job and all later ones arrive sooner
        gap = int(rows[place, SUBMIT] - rows[place - 1, SUBMIT])
        for less in _smaller(gap, 0):
            sooner = rows.copy()
            sooner[place:, SUBMIT] -= gap - less
            yield _with(workload, sooner)
    for place, (_, run, estimate, procs) in enumerate(rows.tolist()):
        over = estimate - run
        yield from (_one(workload, place, RUN, less, less + over) for less in (_smaller(run, 1) if run else [1]))
        yield from (_one(workload, place, ESTIMATE, less) for less in _smaller(estimate, min(run, estimate)))
        yield from (_one(workload, place, PROCS, less) for less in _smaller(procs, 1))


def _smaller(value, least):
    """Return smaller values, the smallest first."""
    return sorted({number for number in (least, (least + value) // 2, value - 1) if least <= number < value})


def _one(workload, place, column, value, estimate=None):
    rows = workload.rows.copy()
    rows[place, column] = value
    if estimate is not None:
        rows[place, ESTIMATE] = max(0, estimate)
    return _with(workload, rows)


def _with(workload, rows):
    return replace(workload, rows=rows).from_zero()
