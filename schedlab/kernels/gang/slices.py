"""The simulation, slice by slice: all PEs switch together, then events are processed until the slice is over."""

import numpy as np

from .._jit import inlined, kernel
from ..sorted_pairs import NEVER
from .choice import take_turn
from .classes import classify
from .events import is_alone, next_event, set_event
from .log import spend
from .matrix import admit_jobs, drop_finished, switch_row
from .meeting import meet
from .running import go_on, run
from .state import (
    ANSWERED,
    BOUNDARY,
    BUSY,
    CHANGE,
    CURRENT,
    DOES,
    EVENTS,
    FULL,
    HELD,
    IDLE,
    LOGGED,
    LOGS,
    MEETINGS,
    NEXT_FINISH,
    NOW,
    ROWS,
    RUNNING,
    SINCE,
    SLICES,
    SPINNING,
    TIME_IDLE,
    TIME_SPINNING,
    UPTO,
    new_gang,
)


@inlined
def _stop(g, rules, now):
    """Take the PEs from all tasks, which have been simulated up to this instant."""
    pes = g.pes
    for pe in range(rules.pes):
        if pes[pe, DOES] == SPINNING:
            spend(g, pe, pes[pe, RUNNING], TIME_SPINNING, pes[pe, SINCE], now)
        elif pes[pe, DOES] == IDLE:
            spend(g, pe, -1, TIME_IDLE, pes[pe, SINCE], now)
        pes[pe, DOES] = BUSY  # until its turn to switch comes


@kernel
def gang(jobs, programs, rules, room, logging, watched, halt):
    """Simulate gang scheduling.

    `room` is how many operations of a task may be known ahead, a power of two, for jobs that send messages or have
    programs. The memberships of the tasks `watched`, numbered across all jobs, are recorded at the end of every slice.
    Return NO_ROOM if `room` was too small, plus NO_LOG if the log was (the other results are then useless); the tables
    of `Gang`, transposed: jobs, tasks, members and pes; the log; the history, float64 of shape (n_watched, n_slices,
    8): measurements, memberships, priority, and whether the task held a PE in the slice; and the number of events.
    """
    g = new_gang(jobs, programs, rules, room, logging.most)
    slices = -(-rules.horizon // rules.slice)
    history = np.zeros((watched.size, slices, 8), np.float64)
    while g.clock[NOW] < rules.horizon and not g.clock[FULL] and not halt[0]:
        _simulate_slice(g, rules, logging, watched, history, halt)
    return (
        g.clock[FULL],
        g.jobs.T,
        g.tasks.T,
        g.members.T,
        g.pes.T,
        g.log[:, : g.clock[LOGGED]].copy(),
        history,
        g.clock[EVENTS],
    )


@inlined
def _simulate_slice(g, rules, logging, watched, history, halt):
    clock, now = g.clock, g.clock[NOW]
    clock[BOUNDARY] = now + rules.slice
    clock[UPTO] = min(clock[BOUNDARY], rules.horizon)
    clock[LOGS] = now < logging.end and clock[UPTO] > logging.begin
    # This many rows come before the next row; `drop_finished` subtracts those of them that have become empty.
    clock[CURRENT] = min(clock[CURRENT] + 1, clock[ROWS])
    if clock[NEXT_FINISH] <= now:
        drop_finished(g, rules, now)
    admit_jobs(g, rules, now)
    switch_row(g, rules)
    switched, pe, goes_on = 0, 0, False
    while not clock[FULL] and not halt[0]:
        loads = True
        if not goes_on and switched < rules.pes:
            pe, now = switched, clock[NOW]
            task = take_turn(g, rules, pe, now)
            switched += 1
        elif not goes_on and clock[ANSWERED] == 0 and clock[MEETINGS] > 0:
            meet(g, rules)
            continue
        else:
            if not goes_on:
                pe, now = next_event(g)
                if now > clock[UPTO]:
                    break
            spins = g.pes[pe, RUNNING]
            task = go_on(g, rules, pe, now)
            loads = task != spins
        if task >= 0:  # inlined only here: a call would pass all arrays and rules, which takes as long as an event
            run(g, rules, pe, task, now, loads)
        # At the end of the slice, the global switch decides which task gets a PE.
        now, last = g.pes[pe, CHANGE], clock[UPTO] - (g.pes[pe, DOES] != SPINNING)
        goes_on = now <= last and is_alone(g, pe)
        if not goes_on:
            set_event(g, pe, now if now <= last else NEVER)
    _stop(g, rules, clock[UPTO])
    for i in range(watched.size):
        history[i, clock[SLICES], 7] = g.tasks[watched[i], HELD]
    if clock[UPTO] < rules.horizon:
        classify(g, rules)
    for i in range(watched.size):
        for row in range(7):
            history[i, clock[SLICES], row] = g.members[watched[i], row]
    clock[SLICES] += 1
    clock[NOW] = clock[UPTO]
