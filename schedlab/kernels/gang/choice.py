"""Which task a PE runs: the task of its row, or else the one with the highest priority (section 3.3).

If the row has no task for a PE, or that task is blocked, the reference scheduler leaves the PE idle. The priority
scheduler runs another of its tasks. Round robin is the same with equal priorities for all tasks (`classes.show`), so
that all ready tasks of the PE take turns.
"""

import numpy as np

from .._jit import inlined
from ..sorted_pairs import NEVER
from .log import spend
from .state import (
    CHANGE,
    CUT_TO,
    DOES,
    IDLE,
    LIMIT,
    LOST_TASK,
    NEXT,
    PLACE,
    RUNNING,
    SINCE,
    TASKS,
    TIME_IDLE,
    TURN,
    UPTO,
)


@inlined
def _ready(g, pe, task, now):
    return g.ready[pe, g.tasks[task, PLACE]] <= now


@inlined
def next_task(g, rules, pe, now):
    """Return the task that a PE without one runs next in mid-slice; if there is none, let it idle and return -1."""
    pes, turn = g.pes, g.pes[pe, TURN]
    task, due = -1, turn if turn >= 0 and _ready(g, pe, turn, now) else -1
    if pes[pe, DOES] == IDLE:
        spend(g, pe, -1, TIME_IDLE, pes[pe, SINCE], now)
        task = due
    if rules.reclaim:
        task = due
    if task < 0 and rules.priority:
        task = _best(g, rules, pe, now)
    if task < 0:
        task = due
    if task < 0:
        _idle(g, rules, pe, now)
    if rules.reclaim:
        _limit(g, pe, task)
    return task


@inlined
def _limit(g, pe, task):
    """Let a task of another row keep its PE only until the task of the current row is ready."""
    turn, upto = g.pes[pe, TURN], g.clock[UPTO]
    g.pes[pe, LIMIT] = upto if turn < 0 or turn == task else min(upto, g.ready[pe, g.tasks[turn, PLACE]])


@inlined
def _best(g, rules, pe, now):
    """Choose the ready task with the highest priority, among equals the next in turn; -1 if there is none."""
    ready, priority, end = g.ready, g.priority, places_of(g, pe)
    highest = np.int64(-1)
    for place in range(end):
        highest = max(highest, g.rank[pe, place] if ready[pe, place] <= now else np.int64(-1))
    level = np.int64(highest).view(np.float64)
    if highest < 0 or level < rules.beta:
        return -1
    enough, after = max(level - 1e-9, rules.beta), g.pes[pe, NEXT]
    turn = 2 * end
    for place in range(end):
        fits = (ready[pe, place] <= now) & (priority[pe, place] >= enough)
        turn = min(turn, (place if place >= after else place + end) if fits else 2 * end)
    chosen = turn - end if turn >= end else turn
    g.pes[pe, NEXT] = chosen + 1
    return g.on[pe, chosen]


@inlined
def _idle(g, rules, pe, now):
    """Let a PE idle until a task that it would run becomes ready."""
    event = NEVER
    for place in range(places_of(g, pe)):
        event = min(event, g.ready[pe, place] if is_wanted(g, rules, pe, place) else NEVER)
    g.pes[pe, DOES], g.pes[pe, SINCE], g.pes[pe, RUNNING], g.pes[pe, CHANGE] = IDLE, now, -1, event


@inlined
def places_of(g, pe):
    """Return how many places of a PE to scan; a multiple of four, so that the loop runs without branches."""
    return (g.pes[pe, TASKS] + 3) & ~3


@inlined
def is_wanted(g, rules, pe, place):
    """Tell whether an idle PE would run the task in this place if the task were ready."""
    return (g.pes[pe, TURN] == g.on[pe, place]) | (rules.priority & (g.priority[pe, place] >= rules.beta))


@inlined
def take_turn(g, rules, pe, now):
    """Return the task that a PE runs after a global switch; if there is none, let the PE idle and return -1."""
    task = g.pes[pe, TURN]
    if task < 0 or not _ready(g, pe, task, now):
        task = _best(g, rules, pe, now) if rules.priority else -1
    if task < 0:
        g.pes[pe, CUT_TO] = -1
        _idle(g, rules, pe, now)
    if rules.reclaim:
        _limit(g, pe, task)
    return task


@inlined
def free_pe(g, pe, now):
    """Take the PE from its task."""
    pes = g.pes
    pes[pe, DOES], pes[pe, SINCE], pes[pe, RUNNING], pes[pe, CHANGE] = LOST_TASK, now, -1, now
