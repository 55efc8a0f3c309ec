"""The Ousterhout matrix: where jobs are placed, whose turn it is, and how rows are dropped when jobs finish."""

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from .classes import show
from .operations import start_job
from .state import (
    ARRIVAL,
    BUDDY,
    CURRENT,
    FINISH,
    FIRST,
    FIRST_FIT,
    JOB,
    LEFT,
    LIMIT,
    NEXT,
    NEXT_FINISH,
    NEXT_JOB,
    PE,
    PLACE,
    PLACED,
    ROW,
    ROWS,
    SIZE,
    STUCK,
    TASKS,
    TURN,
    UPTO,
)


@routine
def drop_finished(g, rules, now):
    """Free the columns of finished jobs; drop empty rows, and merge rows if `unify` is set."""
    clock, matrix, pes = g.clock, g.matrix, g.pes
    clock[STUCK], clock[NEXT_FINISH] = 0, NEVER
    for pe in range(rules.pes):
        kept = after = 0
        for place in range(pes[pe, TASKS]):
            task = g.on[pe, place]
            job = g.tasks[task, JOB]
            if g.jobs[job, LEFT] == 0 and g.jobs[job, FINISH] <= now:
                matrix[g.jobs[job, ROW], pe] = -1
                continue
            g.on[pe, kept], g.ready[pe, kept] = task, g.ready[pe, place]
            g.tasks[task, PLACE] = kept
            show(g, rules, pe, kept, task)
            kept += 1
            after += place < pes[pe, NEXT]
            if g.jobs[job, LEFT] == 0:
                clock[NEXT_FINISH] = min(clock[NEXT_FINISH], g.jobs[job, FINISH])
        for place in range(kept, pes[pe, TASKS]):
            g.ready[pe, place] = NEVER
        pes[pe, TASKS], pes[pe, NEXT] = kept, after
    if rules.unify:
        for row in range(clock[ROWS]):
            for other in range(row + 1, clock[ROWS]):
                if not _overlap(matrix, row, other, rules.pes):
                    for pe in range(rules.pes):
                        if matrix[other, pe] >= 0:
                            matrix[row, pe] = matrix[other, pe]
                            matrix[other, pe] = -1
    kept = before = 0
    for row in range(clock[ROWS]):
        empty = True
        for pe in range(rules.pes):
            empty = empty and matrix[row, pe] < 0
        if empty:
            continue
        for pe in range(rules.pes):
            task = matrix[row, pe]
            matrix[row, pe] = -1
            matrix[kept, pe] = task
            if task >= 0:
                g.jobs[g.tasks[task, JOB], ROW] = kept
        kept += 1
        before += row < clock[CURRENT]
    clock[ROWS], clock[CURRENT] = kept, before


@inlined
def _overlap(matrix, row, other, pes):
    both = 0
    for pe in range(pes):
        both += matrix[row, pe] >= 0 and matrix[other, pe] >= 0
    return both > 0


@inlined
def admit_jobs(g, rules, now):
    """Place the jobs that have arrived, in order of arrival, until one has to wait."""
    clock = g.clock
    while not clock[STUCK] and clock[NEXT_JOB] < g.jobs.shape[0] and g.jobs[clock[NEXT_JOB], ARRIVAL] <= now:
        job = clock[NEXT_JOB]
        row, column = _find_place(g, rules, g.jobs[job, SIZE])
        if row < 0:
            clock[STUCK] = 1
            return
        clock[ROWS] = max(clock[ROWS], row + 1)
        _place(g, rules, job, row, column, now)
        clock[NEXT_JOB] += 1


@inlined
def _find_place(g, rules, size):
    """Find a row and first column for a job, or -1. Except under BUDDY, a job takes the lowest columns with room."""
    best, fewest = -1, rules.pes + 1
    for row in range(g.clock[ROWS] + 1):
        if row == g.clock[ROWS] and best >= 0:
            break
        if rules.packing == BUDDY:
            column = _find_block(g, rules, row, size)
            if column >= 0:
                return row, column
            continue
        free = 0
        for pe in range(rules.pes):
            free += _has_room(g, rules, row, pe)
        if free >= size and free < fewest:
            best, fewest = row, free
            if rules.packing == FIRST_FIT:
                break
    return best, 0


@inlined
def _find_block(g, rules, row, size):
    """Find the first aligned block of a power of two that has room for a job, or -1."""
    block = 1
    while block < size:
        block *= 2
    for column in range(0, rules.pes - size + 1, block):
        fits = True
        for pe in range(column, min(column + block, rules.pes)):
            fits = fits and _has_room(g, rules, row, pe)
        if fits:
            return column
    return -1


@inlined
def _has_room(g, rules, row, pe):
    """Tell whether a column of a row is free and its PE may hold another task; the row may be a new one."""
    return g.pes[pe, TASKS] < rules.max_tasks and (row == g.clock[ROWS] or g.matrix[row, pe] < 0)


@inlined
def _place(g, rules, job, row, column, now):
    jobs, matrix = g.jobs, g.matrix
    jobs[job, PLACED], jobs[job, ROW] = now, row
    start_job(g, rules, job)
    task = jobs[job, FIRST]
    end = task + jobs[job, SIZE]
    pe = column
    while task < end:
        if _has_room(g, rules, row, pe):
            matrix[row, pe] = task
            place = g.pes[pe, TASKS]
            g.on[pe, place], g.ready[pe, place] = task, 0
            g.tasks[task, PE], g.tasks[task, PLACE] = pe, place
            show(g, rules, pe, place, task)
            g.pes[pe, TASKS] = place + 1
            task += 1
        pe += 1


@inlined
def switch_row(g, rules):
    """Switch to the current row."""
    clock, pes = g.clock, g.pes
    rows = clock[ROWS]
    clock[CURRENT] = row = clock[CURRENT] % rows if rows else 0
    for pe in range(rules.pes):
        pes[pe, TURN], pes[pe, LIMIT] = g.matrix[row, pe] if rows else -1, clock[UPTO]
    if rules.alternate:
        for further in range(1, rows):
            _alternate(g, rules, (row + further) % rows)


@inlined
def _alternate(g, rules, row):
    """Also give a turn to the jobs of another row whose columns are all free."""
    for pe in range(rules.pes):
        task = g.matrix[row, pe]
        if task >= 0 and task == g.jobs[g.tasks[task, JOB], FIRST]:
            end = task + g.jobs[g.tasks[task, JOB], SIZE]
            free = True
            for other in range(task, end):
                free = free and g.pes[g.tasks[other, PE], TURN] < 0
            if free:
                for other in range(task, end):
                    g.pes[g.tasks[other, PE], TURN] = other
