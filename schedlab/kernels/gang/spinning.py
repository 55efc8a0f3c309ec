"""Spinning: a task waits for a message on its PE; under spin control it makes room for a task that does I/O."""

from .._jit import inlined
from ..sorted_pairs import NEVER
from .choice import free_pe, next_task, places_of
from .log import spend
from .state import (
    ABSENT,
    BOUNDARY,
    CHANGE,
    CHECK,
    DOES,
    LIMIT,
    PLACE,
    RUNNING,
    SINCE,
    SPINNING,
    TIME_SPINNING,
    UNTIL,
    UPTO,
)


@inlined
def when_to_check(g, rules, pe, task, now):
    """Return when a spin that begins now is checked, or NEVER if the check cannot have an effect.

    The effect is known in advance, except when a task that does I/O has made room until it receives a message that has
    not been sent: that task may be ready by the time of the check.
    """
    check = now + 2 * rules.latency + 4 * rules.overhead
    if not rules.spin_block or g.clock[BOUNDARY] - check <= rules.delta:
        return NEVER
    if g.pes[pe, ABSENT] > 0 and _other_has_io(g, pe, task, NEVER):
        return check
    return check if _other_has_io(g, pe, task, check) else NEVER


@inlined
def spin(g, pe, now, check, until):
    """Let a task spin on its PE, as the end of the spin is not yet known or not within reach."""
    pes, change = g.pes, min(check, until)
    if pes[pe, LIMIT] < g.clock[UPTO]:
        change = min(change, pes[pe, LIMIT])
    pes[pe, DOES], pes[pe, SINCE], pes[pe, CHECK], pes[pe, CHANGE] = SPINNING, now, check, change


@inlined
def end_spin(g, rules, pe, now):
    """End or check a spin, or give the PE to the task of the row; return the task that runs next, or -1."""
    pes, task = g.pes, g.pes[pe, RUNNING]
    until = g.tasks[task, UNTIL]
    if until > now and rules.reclaim:
        spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
        free_pe(g, pe, now)
        return next_task(g, rules, pe, now)
    if until > now and _other_has_io(g, pe, task, now):
        spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
        g.ready[pe, g.tasks[task, PLACE]] = until
        pes[pe, ABSENT] += until == NEVER
        free_pe(g, pe, now)
        return next_task(g, rules, pe, now)
    if until > now:
        spin(g, pe, pes[pe, SINCE], NEVER, until)
        return -1
    spend(g, pe, task, TIME_SPINNING, pes[pe, SINCE], now)
    return task


@inlined
def _other_has_io(g, pe, task, now):
    """Tell whether another ready task of a PE does I/O or is interactive."""
    others = False
    for place in range(places_of(g, pe)):
        others |= (g.ready[pe, place] <= now) & (g.does_io[pe, place] > 0) & (g.on[pe, place] != task)
    return others
