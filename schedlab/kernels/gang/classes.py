"""How tasks are classified by what they did: the paper's classification (section 3.2).

A task has memberships in three classes: I/O, communicating and computing. They start equal and are updated at the end
of every slice in which the task held its PE, by measurements that are smoothed exponentially, or averaged over the
task's last slices. They determine the priority by which PEs choose, except under round robin.
"""

from .._jit import inlined
from . import state


@inlined
def classify(g, rules):
    """Update the memberships of tasks by what the tasks did in the slice."""
    tasks = g.tasks
    for i in range(g.clock[state.HOLDERS]):
        task = g.held[i]
        communicated = tasks[task, state.STATEMENTS] >= rules.statements
        _measure(g, rules, task, tasks[task, state.DID_IO] and (rules.both or not communicated), communicated)
        show(g, rules, tasks[task, state.PE], tasks[task, state.PLACE], task)
        tasks[task, state.HELD] = tasks[task, state.STATEMENTS] = tasks[task, state.DID_IO] = 0
    g.clock[state.HOLDERS] = 0


@inlined
def show(g, rules, pe, place, task):
    """Copy a task's classification to the tables of its PE; under round robin, all tasks have the highest priority."""
    members = g.members
    inputs = (
        members[task, state.F_IO] > members[task, state.F_COMM]
        and members[task, state.F_IO] > members[task, state.F_COMP]
    )
    g.does_io[pe, place] = inputs or g.jobs[g.tasks[task, state.JOB], state.KIND] == state.INTERACTIVE
    g.priority[pe, place] = rules.alpha if rules.round_robin else members[task, state.PRIORITY]


@inlined
def _measure(g, rules, task, did_io, communicated):
    """Update the running measurements and turn them into memberships by Bayes' rule; none may vanish."""
    members = g.members
    if rules.window > 0:
        io, comm, comp = _average(g, rules, task, did_io, communicated)
    else:
        io = members[task, state.S_IO] / 2 + (1 / 2 if did_io else 0)
        comm = members[task, state.S_COMM] / 2 + (1 / 2 if communicated else 0)
        comp = members[task, state.S_COMP] / 2 + (0 if did_io or communicated else 1 / 2)
    members[task, state.S_IO], members[task, state.S_COMM], members[task, state.S_COMP] = io, comm, comp
    io, comm, comp = (
        io * members[task, state.F_IO],
        comm * members[task, state.F_COMM],
        comp * members[task, state.F_COMP],
    )
    least = rules.floor * (io + comm + comp)  # of their sum, because they are not normalized yet
    io, comm, comp = max(io, least), max(comm, least), max(comp, least)
    total = io + comm + comp
    share = 1 / total if total > 0 else 0.0  # without a floor all may vanish
    io, comm, comp = io * share, comm * share, comp * share
    members[task, state.F_IO], members[task, state.F_COMM], members[task, state.F_COMP] = io, comm, comp
    members[task, state.PRIORITY] = max(rules.alpha * io, comp)


@inlined
def _average(g, rules, task, did_io, communicated):
    """Return the moving averages of a task's measurements, with those of this slice; at first over fewer slices."""
    measured = g.tasks[task, state.MEASURED]
    g.recent[task, measured % rules.window] = (1 if did_io else 0) + (2 if communicated else 0)
    g.tasks[task, state.MEASURED] = measured + 1
    count, io, comm, comp = min(measured + 1, rules.window), 0, 0, 0
    for at in range(count):
        activity = g.recent[task, at]
        io += activity & 1
        comm += activity >> 1
        comp += activity == 0
    return io / (2 * count), comm / (2 * count), comp / (2 * count)  # a measurement is 1/2 or 0
