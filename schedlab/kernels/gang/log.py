"""What PEs do: added up by kind and, on request, logged piece by piece."""

from .._jit import inlined, routine
from .state import (
    CURRENT,
    DISK_FREE,
    FULL,
    LOG_FROM,
    LOG_PE,
    LOG_ROW,
    LOG_TASK,
    LOG_TURN,
    LOG_UNTIL,
    LOG_WHAT,
    LOGGED,
    LOGS,
    NO_LOG,
    OVERLAP,
    TIME_COMPUTING,
    TURN,
)


@inlined
def spend(g, pe, task, what, begin, end):
    """Record what a PE does on [begin, end)."""
    g.pes[pe, what] += end - begin
    if what == TIME_COMPUTING and begin < g.pes[pe, DISK_FREE]:  # its disk gets no request meanwhile
        g.pes[pe, OVERLAP] += min(end, g.pes[pe, DISK_FREE]) - begin
    if g.clock[LOGS] and end > begin:
        _log(g.log, g.clock, pe, task, what - TIME_COMPUTING, begin, end, task >= 0 and task == g.pes[pe, TURN])


@routine
def _log(log, clock, pe, task, what, begin, end, turn):
    at = clock[LOGGED]
    if at == log.shape[1]:
        clock[FULL] |= NO_LOG
        return
    log[LOG_PE, at], log[LOG_TASK, at], log[LOG_WHAT, at] = pe, task, what
    log[LOG_FROM, at], log[LOG_UNTIL, at] = begin, end
    log[LOG_ROW, at], log[LOG_TURN, at] = clock[CURRENT], turn
    clock[LOGGED] += 1
