"""The simulation, slice by slice: all PEs switch together, then events are processed until the slice is over."""

import numpy as np

from .._jit import inlined, kernel
from ..sorted_pairs import NEVER
from . import state
from .choice import take_turn
from .classes import classify
from .events import is_alone, next_event, set_event
from .matrix import admit_jobs, drop_finished, switch_row
from .meeting import meet
from .running import go_on, run
from .state import new_gang, spend


@inlined
def _stop(g, rules, now):
    """Take the PEs from all tasks, which have been simulated up to this instant."""
    pes = g.pes
    for pe in range(rules.pes):
        if pes[pe, state.DOES] == state.SPINNING:
            spend(g, pe, pes[pe, state.RUNNING], state.TIME_SPINNING, pes[pe, state.SINCE], now)
        elif pes[pe, state.DOES] == state.IDLE:
            spend(g, pe, -1, state.TIME_IDLE, pes[pe, state.SINCE], now)
        pes[pe, state.DOES] = state.BUSY  # until its turn to switch comes


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
    while g.clock[state.NOW] < rules.horizon and not g.clock[state.FULL] and not halt[0]:
        _simulate_slice(g, rules, logging, watched, history, halt)
    return (
        g.clock[state.FULL],
        g.jobs.T,
        g.tasks.T,
        g.members.T,
        g.pes.T,
        g.log[:, : g.clock[state.LOGGED]].copy(),
        history,
        g.clock[state.EVENTS],
    )


@inlined
def _simulate_slice(g, rules, logging, watched, history, halt):
    clock, now = g.clock, g.clock[state.NOW]
    clock[state.BOUNDARY] = now + rules.slice
    clock[state.UPTO] = min(clock[state.BOUNDARY], rules.horizon)
    clock[state.LOGS] = now < logging.end and clock[state.UPTO] > logging.begin
    # This many rows come before the next row; `drop_finished` subtracts those of them that have become empty.
    clock[state.CURRENT] = min(clock[state.CURRENT] + 1, clock[state.ROWS])
    if clock[state.NEXT_FINISH] <= now:
        drop_finished(g, rules, now)
    admit_jobs(g, rules, now)
    switch_row(g, rules)
    switched, pe, goes_on = 0, 0, False
    while not clock[state.FULL] and not halt[0]:
        loads = True
        if not goes_on and switched < rules.pes:
            pe, now = switched, clock[state.NOW]
            task = take_turn(g, rules, pe, now)
            switched += 1
        elif not goes_on and clock[state.ANSWERED] == 0 and clock[state.MEETINGS] > 0:
            meet(g, rules)
            continue
        else:
            if not goes_on:
                pe, now = next_event(g)
                if now > clock[state.UPTO]:
                    break
            spins = g.pes[pe, state.RUNNING]
            task = go_on(g, rules, pe, now)
            loads = task != spins
        if task >= 0:  # inlined only here: a call would pass all arrays and rules, which takes as long as an event
            run(g, rules, pe, task, now, loads)
        # At the end of the slice, the global switch decides which task gets a PE.
        now, last = g.pes[pe, state.CHANGE], clock[state.UPTO] - (g.pes[pe, state.DOES] != state.SPINNING)
        goes_on = now <= last and is_alone(g, pe)
        if not goes_on:
            set_event(g, pe, now if now <= last else NEVER)
    _stop(g, rules, clock[state.UPTO])
    for i in range(watched.size):
        history[i, clock[state.SLICES], 7] = g.tasks[watched[i], state.HELD]
    if clock[state.UPTO] < rules.horizon:
        classify(g, rules)
    for i in range(watched.size):
        for row in range(7):
            history[i, clock[state.SLICES], row] = g.members[watched[i], row]
    clock[state.SLICES] += 1
    clock[state.NOW] = clock[state.UPTO]
