"""Programs of jobs: what each task does, operation by operation, as a table; see `Workload`.

A task computes for a while, does an operation, and so on until it ends. The table has one row per operation.
"""

from collections import deque
from itertools import groupby
from numbers import Real
from operator import itemgetter

import numpy as np
import pandas as pd

from schedlab._runtime.text import spelt
from schedlab.kernels.gang import state

from .times import LONGEST, NANO, durations

COLUMNS = ("job_number", "rank", "compute", "operation", "seconds", "peer")
OPERATIONS = {
    "disk": state.DISK,
    "think": state.THINK,
    "send": state.SEND,
    "receive": state.RECEIVE,
    "barrier": state.BARRIER,
    "end": state.END,
}
ENDS = {"disk": state.LAST_DISK, "think": state.LAST_THINK, "end": state.END}  # what a program may end with
NAMES = {code: name for codes in (OPERATIONS, ENDS) for name, code in codes.items()}
BLOCKS = ("disk", "think")
MESSAGES = ("send", "receive")


def as_frame(programs) -> pd.DataFrame:
    """Return programs as a table with the columns `COLUMNS`: a table without seconds and peer, or a workload's rows.

    Raises ValueError if they are neither, or a column is missing or duplicated.
    """
    expected = f"expected a DataFrame of {', '.join(COLUMNS)}"
    if isinstance(programs, tuple):
        for number, row in enumerate(programs, 1):
            if not isinstance(row, tuple) or len(row) != len(COLUMNS):
                raise ValueError(f"row {number} of programs is {spelt(row)}, {expected}")
        return pd.DataFrame(list(programs), columns=COLUMNS)
    if not isinstance(programs, pd.DataFrame):
        raise ValueError(f"programs is a {type(programs).__name__}, {expected}")
    table = pd.DataFrame(index=pd.RangeIndex(1, len(programs) + 1))
    for column in COLUMNS:
        count = list(programs.columns).count(column)
        if count > 1:
            raise ValueError(f"programs has column {column} more than once, {expected}")
        if not count and column not in ("seconds", "peer"):
            raise ValueError(f"programs has no column {column}, {expected}")
        table[column] = programs[column].to_numpy() if count else np.nan
    return table


def checked(programs: pd.DataFrame | tuple, jobs: int, pes: int) -> pd.DataFrame:
    """Return the programs that `Workload` describes, checked, as `COLUMNS`, sorted by job_number and rank.

    Operations of a task keep the given order. Where an operation has no seconds they are 0, and where it has no peer it
    is -1. Raises ValueError, which names the row (counted from 1), the column and the value; or the job and its tasks,
    if messages or barriers do not match or the tasks would wait for one another forever.
    """
    table = as_frame(programs).set_axis(pd.RangeIndex(1, len(programs) + 1))
    if table.empty:
        raise ValueError("programs has no rows, expected at least one operation for each task")
    operation = table["operation"]
    _every(operation.isin(list(OPERATIONS)), table, "operation", ", ".join(OPERATIONS))
    blocks, sends = operation.isin(BLOCKS), operation.isin(MESSAGES)
    numbers = f"a job's number, 1 to {jobs}"
    table["job_number"] = _numbers(table, "job_number", numbers, lambda job: (job >= 1) & (job <= jobs))
    ranks = f"a task's rank, from 0 on and below the {pes} PEs"
    table["rank"] = _numbers(table, "rank", ranks, lambda rank: (rank >= 0) & (rank < pes))
    size = table["job_number"].map(_sizes(table))
    seconds = f"seconds, from 0 to below {LONGEST:g}"
    table["compute"] = _numbers(table, "compute", seconds, _is_time, whole=False)
    table["seconds"] = _numbers(table, "seconds", f"{seconds}, of disk and think", _is_time, blocks, whole=False)
    peers = "the rank of another task of the job, of send and receive"
    peer = _numbers(table, "peer", peers, lambda peer: (peer >= 0) & (peer < size) & (peer != table["rank"]), sends)
    table["peer"] = peer.where(sends, -1)
    table = table.sort_values(["job_number", "rank"], kind="stable")
    last = ~table.duplicated(["job_number", "rank"], keep="last")
    may_end = table["operation"].isin(list(ENDS))
    _every(~last | may_end, table, "operation", "end, disk or think as a task's last one")
    _every(last | (table["operation"] != "end"), table, "operation", "end as a task's last one only")
    _check_times(table)
    _check_messages(table)
    _check_barriers(table)
    for job, steps in _waiting(table):
        _check_ends(job, steps)
    return table.reset_index(drop=True)


def _every(right, table, column, expected):
    """Raise an error that names the first row that is not right."""
    for row in table.index[~right.to_numpy(bool)]:
        value = table[[column]].loc[row].tolist()[0]
        raise ValueError(f"programs, row {row}: {column} is {spelt(value)}, expected {expected}")


def _numbers(table, column, expected, fits, needed=None, whole=True):
    """Read a column as numbers and check them where needed; 0 elsewhere."""
    values = table[column]
    if values.dtype.kind not in "iufO" or (values.dtype.kind == "O" and isinstance(values.dtype, pd.StringDtype)):
        raise ValueError(f"programs: column {column} holds {values.dtype}, expected {expected}")
    if values.dtype.kind == "O":
        values = values.map(lambda value: value if isinstance(value, Real) and not isinstance(value, bool) else np.nan)
    needed = pd.Series(True, index=table.index) if needed is None else needed
    numbers = values.astype("float64")
    _every(~needed | (fits(numbers) & (not whole or numbers % 1 == 0)), table, column, expected)
    numbers = numbers.where(needed, 0.0)
    return numbers.astype("int64") if whole else numbers


def _is_time(seconds):
    return (seconds >= 0) & (seconds < LONGEST)


def _sizes(table):
    """Return the number of tasks of each job; ranks must run from 0 without gaps."""
    tasks = table[["job_number", "rank"]].drop_duplicates().sort_values(["job_number", "rank"])
    gaps = tasks["rank"] != tasks.groupby("job_number").cumcount()
    for job, rank in tasks[gaps].to_numpy():
        missing = int((tasks["job_number"] == job).to_numpy().nonzero()[0][0])
        missing = next(at for at, number in enumerate(tasks["rank"].iloc[missing:]) if number != at)
        raise ValueError(f"job {job} has a program for task {rank}, but none for task {missing}")
    return tasks.groupby("job_number").size()


def _check_times(table):
    """Check that the time of each task can be counted in nanoseconds."""
    takes = (table["compute"] + table["seconds"]).groupby([table["job_number"], table["rank"]]).sum()
    for job, rank in takes.index[takes >= LONGEST]:
        raise ValueError(f"task {rank} of job {job} takes {takes[job, rank]:g} s, expected below {LONGEST:g}")


def _check_messages(table):
    """Check that the messages a task receives from each other task are as many as that task sends to it."""
    counts = {
        "send": ["job_number", "rank", "peer"],
        "receive": ["job_number", "peer", "rank"],  # sender, then receiver
    }
    sent, received = (
        table[table["operation"] == name].groupby(by).size().rename_axis(["job_number", "sender", "receiver"])
        for name, by in counts.items()
    )
    both = pd.concat([sent.rename("sent"), received.rename("received")], axis=1).fillna(0).astype("int64")
    for (job, sender, receiver), row in both[both["sent"] != both["received"]].iterrows():
        raise ValueError(
            f"job {job}: task {sender} sends {row['sent']} messages to task {receiver}, which receives "
            f"{row['received']} from it, expected as many"
        )


def _check_barriers(table):
    """Check that all tasks of a job reach the same number of barriers."""
    barriers = (table["operation"] == "barrier").groupby([table["job_number"], table["rank"]]).sum()
    first = barriers.groupby("job_number").transform("first")
    for job, rank in barriers.index[barriers != first]:
        count, expected = barriers[job, rank], first[job, rank]
        raise ValueError(f"job {job}: task {rank} has {count} barriers, task 0 has {expected}, expected as many")


def _waiting(table):
    """Return the jobs whose tasks wait for one another, each with the steps of its tasks: operation and peer."""
    waits = table["operation"].isin(["receive", "barrier"]).groupby(table["job_number"]).transform("any")
    table = table[waits]
    rows = zip(*(table[name].tolist() for name in ("job_number", "rank", "operation", "peer")), strict=True)
    tasks = {}
    for (job, _), steps in groupby(rows, key=itemgetter(0, 1)):
        tasks.setdefault(job, []).append([step[2:] for step in steps])
    return tasks.items()


def _check_ends(job, steps):
    """Check that all tasks of a job reach their ends."""
    stuck = _stuck(steps)
    if stuck:
        waits = [
            f"task {rank} for the others at a barrier"
            if steps[rank][at][0] == "barrier"
            else f"task {rank} for a message from task {steps[rank][at][1]}"
            for rank, at in stuck[:3]
        ]
        more = [f"and {len(stuck) - 3} more"] if len(stuck) > 3 else []
        raise ValueError(
            f"job {job}: its tasks would wait for one another forever: {'; '.join(waits + more)}; expected an order of "
            "sends, receives and barriers in which all can end"
        )


def _stuck(steps):
    """Run the tasks in any order, since sending never waits; return the tasks that get stuck, and at which step."""
    at, sent = [0] * len(steps), {}
    waits = set()  # tasks at a barrier
    able = deque(range(len(steps)))
    while able:
        rank = able.popleft()
        while at[rank] < len(steps[rank]):
            operation, peer = steps[rank][at[rank]]
            if operation == "send":
                sent[rank, peer] = sent.get((rank, peer), 0) + 1
                if at[peer] < len(steps[peer]) and steps[peer][at[peer]] == ("receive", rank):
                    able.append(peer)
            elif operation == "receive":
                if not sent.get((peer, rank)):
                    break
                sent[peer, rank] -= 1
            elif operation == "barrier":
                waits.add(rank)
                break
            at[rank] += 1
        if len(waits) == len(steps):
            waits, at = set(), [step + 1 for step in at]
            able.extend(range(len(steps)))
    return [(rank, step) for rank, step in enumerate(at) if step < len(steps[rank])]


def summed_up(programs: pd.DataFrame) -> pd.DataFrame:
    """Derive from checked programs, by job_number: procs (tasks), kind, duration (seconds, of the longest task)."""
    blocks = programs["operation"].isin(BLOCKS)
    time = durations(programs["compute"]) + np.where(blocks, durations(programs["seconds"]), 0)
    task = pd.Series(time, index=programs.index).groupby([programs["job_number"], programs["rank"]]).sum() / NANO
    procs = programs.groupby("job_number")["rank"].max() + 1
    kind = pd.Series("emb", index=procs.index)
    for operation, name in (("barrier", "bsp"), ("send", "msg"), ("disk", "io"), ("think", "interactive")):
        kind[programs["job_number"][programs["operation"] == operation].unique()] = name
    return pd.DataFrame({"procs": procs, "kind": kind, "duration": task.groupby("job_number").max()})


def as_arrays(programs: pd.DataFrame | None, jobs: pd.DataFrame) -> state.Programs:
    """Return checked programs as the kernel takes them (`schedlab.kernels.gang.state`), times in nanoseconds.

    The jobs are in the order of arrival, by job_number, with their procs.
    """
    procs = jobs["procs"]
    if programs is None or programs.empty:
        return state.Programs(np.zeros(int(procs.sum()) + 1, "int64"), np.zeros((0, 4), "int64"))
    first = procs.cumsum() - procs
    task = programs["job_number"].map(first) + programs["rank"]
    table = programs.assign(task=task).sort_values("task", kind="stable")
    table["place"] = table.groupby("task").cumcount()
    table["length"], table["burst"] = (durations(table[name]) for name in ("compute", "seconds"))
    last = ~table["task"].duplicated(keep="last")
    code = table["operation"].map(OPERATIONS).where(~last, table["operation"].map(ENDS)).astype("int64")
    blocks, sends, receives = (table["operation"].isin(names) for names in (BLOCKS, ["send"], ["receive"]))
    peer = table["job_number"].map(first) + table["peer"]
    other = pd.Series(0, index=table.index, dtype="int64").mask(receives, state.NEVER)
    messages = table[sends | receives].assign(
        sender=peer.where(receives, table["task"]), receiver=peer.where(sends, table["task"])
    )
    # Messages from one task to another are received in the order in which they are sent.
    messages["number"] = messages.groupby(["operation", "sender", "receiver"]).cumcount()
    pairs = messages.set_index(["sender", "receiver", "number"])
    places = pairs.loc[receives[messages.index].to_numpy(), "place"]
    other[sends] = places.reindex(pairs.index[sends[messages.index].to_numpy()]).to_numpy("int64")
    operations = np.column_stack([table["length"], code, peer.where(~blocks, table["burst"]), other]).astype("int64")
    begins = np.searchsorted(table["task"].to_numpy(), np.arange(int(procs.sum()) + 1))
    return state.Programs(begins.astype("int64"), np.ascontiguousarray(operations))


def as_table(operations: np.ndarray, jobs: pd.DataFrame) -> pd.DataFrame:
    """Return what `list_operations` lists (int64, shape (5, n_operations), nanoseconds) as `COLUMNS`, times in seconds.

    The jobs are in the order in which the kernel numbers them, by job_number, with their procs.
    """
    operations = operations[:, np.argsort(operations[0], kind="stable")]
    task, compute, code, other, _ = operations
    procs = jobs["procs"].to_numpy()
    first, number = np.cumsum(procs) - procs, np.repeat(np.arange(procs.size), procs)
    names = pd.Series(code).map(NAMES)
    blocks, sends = names.isin(BLOCKS).to_numpy(), names.isin(MESSAGES).to_numpy()
    job = number[task]
    return pd.DataFrame(
        {
            "job_number": jobs.index.to_numpy()[job],
            "rank": task - first[job],
            "compute": compute / NANO,
            "operation": names.astype("str"),
            "seconds": np.where(blocks, other, 0) / NANO,
            "peer": np.where(sends, other - first[job], -1),
        }
    )
