"""How tasks are classified by what they did: the paper's classification (section 3.2).

A task has memberships in three classes: I/O, communicating and computing. They start equal and are updated at the end
of every slice in which the task held its PE. They determine the priority by which PEs choose.
"""

from .._jit import inlined
from .state import (
    DID_IO,
    F_COMM,
    F_COMP,
    F_IO,
    HELD,
    HOLDERS,
    INTERACTIVE,
    JOB,
    KIND,
    PE,
    PLACE,
    PRIORITY,
    S_COMM,
    S_COMP,
    S_IO,
    STATEMENTS,
)


@inlined
def classify(g, rules):
    """Update the memberships of tasks by what the tasks did in the slice."""
    tasks = g.tasks
    for i in range(g.clock[HOLDERS]):
        task = g.held[i]
        communicated = tasks[task, STATEMENTS] >= rules.statements
        _measure(g.members, rules, task, tasks[task, DID_IO] and (rules.both or not communicated), communicated)
        show(g, tasks[task, PE], tasks[task, PLACE], task)
        tasks[task, HELD] = tasks[task, STATEMENTS] = tasks[task, DID_IO] = 0
    g.clock[HOLDERS] = 0


@inlined
def show(g, pe, place, task):
    """Copy a task's classification to the tables of its PE."""
    members = g.members
    inputs = members[task, F_IO] > members[task, F_COMM] and members[task, F_IO] > members[task, F_COMP]
    g.does_io[pe, place] = inputs or g.jobs[g.tasks[task, JOB], KIND] == INTERACTIVE
    g.priority[pe, place] = members[task, PRIORITY]


@inlined
def _measure(members, rules, task, did_io, communicated):
    """Update the running measurements and turn them into memberships by Bayes' rule; none may vanish."""
    io = members[task, S_IO] / 2 + (1 / 2 if did_io else 0)
    comm = members[task, S_COMM] / 2 + (1 / 2 if communicated else 0)
    comp = members[task, S_COMP] / 2 + (0 if did_io or communicated else 1 / 2)
    members[task, S_IO], members[task, S_COMM], members[task, S_COMP] = io, comm, comp
    io, comm, comp = io * members[task, F_IO], comm * members[task, F_COMM], comp * members[task, F_COMP]
    least = rules.floor * (io + comm + comp)  # of their sum, because they are not normalized yet
    io, comm, comp = max(io, least), max(comm, least), max(comp, least)
    total = io + comm + comp
    share = 1 / total if total > 0 else 0.0  # without a floor all may vanish
    io, comm, comp = io * share, comm * share, comp * share
    members[task, F_IO], members[task, F_COMM], members[task, F_COMP] = io, comm, comp
    members[task, PRIORITY] = max(rules.alpha * io, comp)
