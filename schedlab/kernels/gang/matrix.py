"""The Ousterhout matrix: where jobs are placed, whose turn it is, and how rows are dropped when jobs finish."""

from .._jit import inlined, routine
from ..sorted_pairs import NEVER
from . import state
from .classes import show
from .operations import start_job


@routine
def drop_finished(g, rules, now):
    """Free the columns of finished jobs; drop empty rows, and merge rows if `unify` is set."""
    clock, matrix, pes = g.clock, g.matrix, g.pes
    clock[state.STUCK], clock[state.NEXT_FINISH] = 0, NEVER
    for pe in range(rules.pes):
        kept = after = 0
        for place in range(pes[pe, state.TASKS]):
            task = g.on[pe, place]
            job = g.tasks[task, state.JOB]
            if g.jobs[job, state.LEFT] == 0 and g.jobs[job, state.FINISH] <= now:
                matrix[g.jobs[job, state.ROW], pe] = -1
                continue
            g.on[pe, kept], g.ready[pe, kept] = task, g.ready[pe, place]
            g.tasks[task, state.PLACE] = kept
            show(g, rules, pe, kept, task)
            kept += 1
            after += place < pes[pe, state.NEXT]
            if g.jobs[job, state.LEFT] == 0:
                clock[state.NEXT_FINISH] = min(clock[state.NEXT_FINISH], g.jobs[job, state.FINISH])
        for place in range(kept, pes[pe, state.TASKS]):
            g.ready[pe, place] = NEVER
        pes[pe, state.TASKS], pes[pe, state.NEXT] = kept, after
    if rules.unify:
        for row in range(clock[state.ROWS]):
            for other in range(row + 1, clock[state.ROWS]):
                if not _overlap(matrix, row, other, rules.pes):
                    for pe in range(rules.pes):
                        if matrix[other, pe] >= 0:
                            matrix[row, pe] = matrix[other, pe]
                            matrix[other, pe] = -1
    kept = before = 0
    for row in range(clock[state.ROWS]):
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
                g.jobs[g.tasks[task, state.JOB], state.ROW] = kept
        kept += 1
        before += row < clock[state.CURRENT]
    clock[state.ROWS], clock[state.CURRENT] = kept, before


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
    while (
        not clock[state.STUCK]
        and clock[state.NEXT_JOB] < g.jobs.shape[0]
        and g.jobs[clock[state.NEXT_JOB], state.ARRIVAL] <= now
    ):
        job = clock[state.NEXT_JOB]
        row, column = _find_place(g, rules, g.jobs[job, state.SIZE])
        if row < 0:
            clock[state.STUCK] = 1
            return
        clock[state.ROWS] = max(clock[state.ROWS], row + 1)
        _place(g, rules, job, row, column, now)
        clock[state.NEXT_JOB] += 1


@inlined
def _find_place(g, rules, size):
    """Find a row and first column for a job, or -1. Except under BUDDY, a job takes the lowest columns with room."""
    best, fewest = -1, rules.pes + 1
    for row in range(g.clock[state.ROWS] + 1):
        if row == g.clock[state.ROWS] and best >= 0:
            break
        if rules.packing == state.BUDDY:
            column = _find_block(g, rules, row, size)
            if column >= 0:
                return row, column
            continue
        free = 0
        for pe in range(rules.pes):
            free += _has_room(g, rules, row, pe)
        if free >= size and free < fewest:
            best, fewest = row, free
            if rules.packing == state.FIRST_FIT:
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
    return g.pes[pe, state.TASKS] < rules.max_tasks and (row == g.clock[state.ROWS] or g.matrix[row, pe] < 0)


@inlined
def _place(g, rules, job, row, column, now):
    jobs, matrix = g.jobs, g.matrix
    jobs[job, state.PLACED], jobs[job, state.ROW] = now, row
    start_job(g, rules, job)
    task = jobs[job, state.FIRST]
    end = task + jobs[job, state.SIZE]
    pe = column
    while task < end:
        if _has_room(g, rules, row, pe):
            matrix[row, pe] = task
            place = g.pes[pe, state.TASKS]
            g.on[pe, place], g.ready[pe, place] = task, 0
            g.tasks[task, state.PE], g.tasks[task, state.PLACE] = pe, place
            show(g, rules, pe, place, task)
            g.pes[pe, state.TASKS] = place + 1
            task += 1
        pe += 1


@inlined
def switch_row(g, rules):
    """Switch to the current row."""
    clock, pes = g.clock, g.pes
    rows = clock[state.ROWS]
    clock[state.CURRENT] = row = clock[state.CURRENT] % rows if rows else 0
    for pe in range(rules.pes):
        pes[pe, state.TURN], pes[pe, state.LIMIT] = g.matrix[row, pe] if rows else -1, clock[state.UPTO]
    if rules.alternate:
        for further in range(1, rows):
            _alternate(g, rules, (row + further) % rows)


@inlined
def _alternate(g, rules, row):
    """Also give a turn to the jobs of another row whose columns are all free."""
    for pe in range(rules.pes):
        task = g.matrix[row, pe]
        if task >= 0 and task == g.jobs[g.tasks[task, state.JOB], state.FIRST]:
            end = task + g.jobs[g.tasks[task, state.JOB], state.SIZE]
            free = True
            for other in range(task, end):
                free = free and g.pes[g.tasks[other, state.PE], state.TURN] < 0
            if free:
                for other in range(task, end):
                    g.pes[g.tasks[other, state.PE], state.TURN] = other
