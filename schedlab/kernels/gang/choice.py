"""Which task a PE runs: the task of its row, or else the one with the highest priority (section 3.3).

If the row has no task for a PE, or that task is blocked, the reference scheduler leaves the PE idle. The priority
scheduler runs another of its tasks. Round robin is the same with equal priorities for all tasks (`classes.show`), so
that all ready tasks of the PE take turns.
"""

import numpy as np

from .._jit import inlined
from ..sorted_pairs import NEVER
from . import state
from .state import spend


@inlined
def _ready(g, pe, task, now):
    return g.ready[pe, g.tasks[task, state.PLACE]] <= now


@inlined
def next_task(g, rules, pe, now):
    """Return the task that a PE without one runs next in mid-slice; if there is none, let it idle and return -1."""
    pes, turn = g.pes, g.pes[pe, state.TURN]
    task, due = -1, turn if turn >= 0 and _ready(g, pe, turn, now) else -1
    if pes[pe, state.DOES] == state.IDLE:
        spend(g, pe, -1, state.TIME_IDLE, pes[pe, state.SINCE], now)
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
    turn, upto = g.pes[pe, state.TURN], g.clock[state.UPTO]
    g.pes[pe, state.LIMIT] = upto if turn < 0 or turn == task else min(upto, g.ready[pe, g.tasks[turn, state.PLACE]])


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
    enough, after = max(level - 1e-9, rules.beta), g.pes[pe, state.NEXT]
    turn = 2 * end
    for place in range(end):
        fits = (ready[pe, place] <= now) & (priority[pe, place] >= enough)
        turn = min(turn, (place if place >= after else place + end) if fits else 2 * end)
    chosen = turn - end if turn >= end else turn
    g.pes[pe, state.NEXT] = chosen + 1
    return g.on[pe, chosen]


@inlined
def _idle(g, rules, pe, now):
    """Let a PE idle until a task that it would run becomes ready."""
    event = NEVER
    for place in range(places_of(g, pe)):
        event = min(event, g.ready[pe, place] if is_wanted(g, rules, pe, place) else NEVER)
    g.pes[pe, state.DOES], g.pes[pe, state.SINCE], g.pes[pe, state.RUNNING], g.pes[pe, state.CHANGE] = (
        state.IDLE,
        now,
        -1,
        event,
    )


@inlined
def places_of(g, pe):
    """Return how many places of a PE to scan; a multiple of four, so that the loop runs without branches."""
    return (g.pes[pe, state.TASKS] + 3) & ~3


@inlined
def is_wanted(g, rules, pe, place):
    """Tell whether an idle PE would run the task in this place if the task were ready."""
    return (g.pes[pe, state.TURN] == g.on[pe, place]) | (rules.priority & (g.priority[pe, place] >= rules.beta))


@inlined
def take_turn(g, rules, pe, now):
    """Return the task that a PE runs after a global switch; if there is none, let the PE idle and return -1."""
    task = g.pes[pe, state.TURN]
    if task < 0 or not _ready(g, pe, task, now):
        task = _best(g, rules, pe, now) if rules.priority else -1
    if task < 0:
        g.pes[pe, state.CUT_TO] = -1
        _idle(g, rules, pe, now)
    if rules.reclaim:
        _limit(g, pe, task)
    return task


@inlined
def free_pe(g, pe, now):
    """Take the PE from its task."""
    pes = g.pes
    pes[pe, state.DOES], pes[pe, state.SINCE], pes[pe, state.RUNNING], pes[pe, state.CHANGE] = (
        state.LOST_TASK,
        now,
        -1,
        now,
    )


# --- Spinning: a task waits on its PE for a message; it may make room for a task that does I/O ----------------
@inlined
def when_to_check(g, rules, pe, task, now):
    """Return when a spin that begins now is checked, or NEVER if the check cannot have an effect.

    The effect is known in advance, except when a task that does I/O has made room until it receives a message that has
    not been sent: that task may be ready by the time of the check.
    """
    check = now + 2 * rules.latency + 4 * rules.overhead
    if not rules.spin_block or g.clock[state.BOUNDARY] - check <= rules.delta:
        return NEVER
    if g.pes[pe, state.ABSENT] > 0 and _other_has_io(g, pe, task, NEVER):
        return check
    return check if _other_has_io(g, pe, task, check) else NEVER


@inlined
def spin(g, pe, now, check, until):
    """Let a task spin on its PE, as the end of the spin is not yet known or not within reach."""
    pes, change = g.pes, min(check, until)
    if pes[pe, state.LIMIT] < g.clock[state.UPTO]:
        change = min(change, pes[pe, state.LIMIT])
    pes[pe, state.DOES], pes[pe, state.SINCE], pes[pe, state.CHECK], pes[pe, state.CHANGE] = (
        state.SPINNING,
        now,
        check,
        change,
    )


@inlined
def end_spin(g, rules, pe, now):
    """End or check a spin, or give the PE to the task of the row; return the task that runs next, or -1."""
    pes, task = g.pes, g.pes[pe, state.RUNNING]
    until = g.tasks[task, state.UNTIL]
    if until > now and rules.reclaim:
        spend(g, pe, task, state.TIME_SPINNING, pes[pe, state.SINCE], now)
        free_pe(g, pe, now)
        return next_task(g, rules, pe, now)
    if until > now and _other_has_io(g, pe, task, now):
        spend(g, pe, task, state.TIME_SPINNING, pes[pe, state.SINCE], now)
        g.ready[pe, g.tasks[task, state.PLACE]] = until
        pes[pe, state.ABSENT] += until == NEVER
        free_pe(g, pe, now)
        return next_task(g, rules, pe, now)
    if until > now:
        spin(g, pe, pes[pe, state.SINCE], NEVER, until)
        return -1
    spend(g, pe, task, state.TIME_SPINNING, pes[pe, state.SINCE], now)
    return task


@inlined
def _other_has_io(g, pe, task, now):
    """Tell whether another ready task of a PE does I/O or is interactive."""
    others = False
    for place in range(places_of(g, pe)):
        others |= (g.ready[pe, place] <= now) & (g.does_io[pe, place] > 0) & (g.on[pe, place] != task)
    return others
