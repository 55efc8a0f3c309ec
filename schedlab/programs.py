"""Programs of gang-scheduled jobs: what each task does, operation by operation, as a table; see `gang.Workload`.

A task computes for a while, does an operation, and so on to its end. The table has a row for each operation.
"""

from collections import deque

import numpy as np
import pandas as pd

from .kernels import gang as kernel

COLUMNS = ("job", "rank", "compute", "operation", "seconds", "peer")
OPERATIONS = {
    "disk": kernel.DISK,
    "think": kernel.THINK,
    "send": kernel.SEND,
    "receive": kernel.RECEIVE,
    "barrier": kernel.BARRIER,
    "end": kernel.END,
}
ENDS = {"disk": kernel.LAST_DISK, "think": kernel.LAST_THINK, "end": kernel.END}  # what a program may end with
NAMES = {code: name for codes in (OPERATIONS, ENDS) for name, code in codes.items()}
BLOCKS = ("disk", "think")
MESSAGES = ("send", "receive")
NANO = 1_000_000_000
LONGEST = 10**8  # seconds, as of `gang`


def checked(programs: pd.DataFrame, jobs: int) -> pd.DataFrame:
    """Check programs of so many jobs, and give them sorted by job and rank, in each task in the order given.

    Returns
    -------
    DataFrame
        `COLUMNS`: whole numbers and seconds; 0 seconds and peer -1 where the operation has none.

    Raises
    ------
    ValueError
        Naming the row, counted from 1 on, the column and the value; or the job and its tasks, where messages or
        barriers do not match or the tasks would wait for one another forever.
    """
    if not isinstance(programs, pd.DataFrame):
        raise ValueError(f"programs is a {type(programs).__name__}, expected a DataFrame of {', '.join(COLUMNS)}")
    table = pd.DataFrame(index=pd.RangeIndex(1, len(programs) + 1))
    for column in COLUMNS:
        found = list(programs.columns).count(column)
        if found > 1:
            raise ValueError(f"programs has column {column} more than once, expected {', '.join(COLUMNS)}")
        if not found and column not in ("seconds", "peer"):
            raise ValueError(f"programs has no column {column}, expected {', '.join(COLUMNS)}")
        table[column] = programs[column].to_numpy() if found else np.nan
    if table.empty:
        raise ValueError("programs has no rows, expected at least one operation for each task")
    what = table["operation"]
    _every(what.isin(list(OPERATIONS)), table, "operation", ", ".join(OPERATIONS))
    blocks, sends = what.isin(BLOCKS), what.isin(MESSAGES)
    table["job"] = _numbers(table, "job", f"a job's number, 1 to {jobs}", lambda job: (job >= 1) & (job <= jobs))
    table["rank"] = _numbers(table, "rank", "a task's rank, from 0 on", lambda rank: rank >= 0)
    sizes = table.groupby("job")["rank"].max() + 1
    for job, several in table.groupby("job")["rank"]:
        if several.nunique() < sizes[job]:
            missing = min(set(range(sizes[job])) - set(several))
            raise ValueError(
                f"job {job} has no program for task {missing}, expected one for each rank below {sizes[job]}"
            )
    size = table["job"].map(sizes)
    seconds = f"seconds, from 0 to below {LONGEST:g}"
    table["compute"] = _numbers(table, "compute", seconds, _is_time, whole=False)
    seconds = _numbers(table, "seconds", f"{seconds}, of disk and think", _is_time, blocks, whole=False)
    table["seconds"] = seconds.where(blocks, 0.0)
    peers = "the rank of another task of the job, of send and receive"
    peer = _numbers(table, "peer", peers, lambda peer: (peer >= 0) & (peer < size) & (peer != table["rank"]), sends)
    table["peer"] = peer.where(sends, -1)
    table = table.sort_values(["job", "rank"], kind="stable")
    last = ~table.duplicated(["job", "rank"], keep="last")
    _every(
        ~(last & ~table["operation"].isin(list(ENDS))), table, "operation", "end, disk or think as a task's last one"
    )
    _every(last | (table["operation"] != "end"), table, "operation", "end as a task's last one only")
    for job, several in table.groupby("job"):
        if several["operation"].isin([*MESSAGES, "barrier"]).any():
            _check_meetings(job, several)
    return table.astype({"job": "int64", "rank": "int64", "peer": "int64"}).reset_index(drop=True)


def _every(right, table, column, expected):
    """Raise an error that names the first row that is not right."""
    for row in table.index[~right.to_numpy(bool)]:
        value = table[[column]].loc[row].tolist()[0]
        raise ValueError(f"programs, row {row}: {column} is {value!r}, expected {expected}")


def _numbers(table, column, expected, fits, needed=None, whole=True):
    """Read a column as numbers that fit, where they are needed; 0 elsewhere."""
    needed = pd.Series(True, index=table.index) if needed is None else needed
    numbers = pd.to_numeric(table[column], errors="coerce").astype("float64")
    _every(~needed | (fits(numbers) & (not whole or numbers % 1 == 0)), table, column, expected)
    numbers = numbers.where(needed, 0.0)
    return numbers.astype("int64") if whole else numbers


def _is_time(seconds):
    return (seconds >= 0) & (seconds < LONGEST)


def _check_meetings(job, table):
    """Check that the tasks of a job, which wait for one another, all come to their ends."""
    sends = table[table["operation"] == "send"].groupby(["rank", "peer"]).size()
    receives = table[table["operation"] == "receive"].groupby(["peer", "rank"]).size()
    for sender, receiver in sends.index.union(receives.index):
        sent, received = sends.get((sender, receiver), 0), receives.get((sender, receiver), 0)
        if sent != received:
            raise ValueError(
                f"job {job}: task {sender} sends {sent} messages to task {receiver}, which receives {received} from it"
            )
    barriers = (table["operation"] == "barrier").groupby(table["rank"]).sum()
    for rank in barriers.index[barriers != barriers[0]]:
        raise ValueError(f"job {job}: task {rank} has {barriers[rank]} barriers, task 0 has {barriers[0]}")
    steps = [list(zip(part["operation"], part["peer"], strict=True)) for _, part in table.groupby("rank")]
    stuck = _stuck(steps)
    if stuck:
        told = "; ".join(
            f"task {rank} for the others at a barrier"
            if steps[rank][at][0] == "barrier"
            else f"task {rank} for a message from task {steps[rank][at][1]}"
            for rank, at in stuck
        )
        raise ValueError(f"job {job}: its tasks would wait for one another forever: {told}")


def _stuck(steps):
    """Let tasks go on in any order, as sending waits for nobody; give who waits in the end, and at which step."""
    at, sent = [0] * len(steps), {}
    waits = [False] * len(steps)  # at a barrier
    able = deque(range(len(steps)))
    while able:
        rank = able.popleft()
        while at[rank] < len(steps[rank]):
            operation, peer = steps[rank][at[rank]]
            if operation == "send":
                sent[rank, peer] = sent.get((rank, peer), 0) + 1
                able.append(peer)
            elif operation == "receive":
                if not sent.get((peer, rank)):
                    break
                sent[peer, rank] -= 1
            elif operation == "barrier":
                waits[rank] = True
                break
            at[rank] += 1
        if all(waits):
            waits, at = [False] * len(steps), [step + 1 for step in at]
            able.extend(range(len(steps)))
    return [(rank, step) for rank, step in enumerate(at) if step < len(steps[rank])]


def summed_up(programs: pd.DataFrame) -> pd.DataFrame:
    """Give what programs say of their jobs, by job: size, kind, duration (seconds, of the longest task)."""
    by = programs.groupby("job")
    time = (programs["compute"] + programs["seconds"]).groupby([programs["job"], programs["rank"]]).sum()
    size = by["rank"].max() + 1
    kind = pd.Series("emb", index=size.index)
    for operation, name in (("barrier", "bsp"), ("send", "msg"), ("disk", "io"), ("think", "interactive")):
        kind[programs["job"][programs["operation"] == operation].unique()] = name
    return pd.DataFrame({"size": size, "kind": kind, "duration": time.groupby("job").max()})


def as_arrays(programs: pd.DataFrame | None, jobs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Give programs as the kernel takes them, for jobs in the order of their arrival: begins and given."""
    size = jobs["size"]
    if programs is None or programs.empty:
        return np.zeros(int(size.sum()) + 1, "int64"), np.zeros((0, 4), "int64")
    first = size.cumsum() - size
    table = programs.assign(task=programs["job"].map(first) + programs["rank"]).sort_values("task", kind="stable")
    table["place"] = table.groupby("task").cumcount()
    table["length"], table["burst"] = (nanoseconds(table[name]) for name in ("compute", "seconds"))
    last = ~table["task"].duplicated(keep="last")
    code = table["operation"].map(OPERATIONS).where(~last, table["operation"].map(ENDS)).astype("int64")
    blocks, sends, receives = (table["operation"].isin(names) for names in (BLOCKS, ["send"], ["receive"]))
    peer = table["job"].map(first) + table["peer"]
    other = pd.Series(0, index=table.index, dtype="int64").mask(receives, kernel.NEVER)
    messages = table[sends | receives].assign(
        sender=peer.where(receives, table["task"]), receiver=peer.where(sends, table["task"])
    )
    # The messages of a task to another are received in the order in which they are sent.
    messages["number"] = messages.groupby(["operation", "sender", "receiver"]).cumcount()
    pairs = messages.set_index(["sender", "receiver", "number"])
    places = pairs.loc[receives[messages.index].to_numpy(), "place"]
    other[sends] = places.reindex(pairs.index[sends[messages.index].to_numpy()]).to_numpy("int64")
    given = np.column_stack([table["length"], code, peer.where(~blocks, table["burst"]), other]).astype("int64")
    begins = np.searchsorted(table["task"].to_numpy(), np.arange(int(size.sum()) + 1))
    return begins.astype("int64"), np.ascontiguousarray(given)


def nanoseconds(seconds: pd.Series) -> np.ndarray:
    """Round seconds to whole nanoseconds; 0 becomes 1, the least time of a simulation."""
    return np.maximum(np.rint(seconds.to_numpy("float64") * NANO).astype("int64"), 1)


def as_table(operations: np.ndarray, jobs: pd.DataFrame) -> pd.DataFrame:
    """Give what `schedlab.kernels.gang.programs` lists, for jobs in the order in which it numbers them."""
    operations = operations[:, np.argsort(operations[0], kind="stable")]
    task, compute, code, more, _ = operations
    size = jobs["size"].to_numpy()
    first, number = np.cumsum(size) - size, np.repeat(np.arange(size.size), size)
    names = pd.Series(code).map(NAMES)
    blocks, sends = names.isin(BLOCKS).to_numpy(), names.isin(MESSAGES).to_numpy()
    job = number[task]
    return pd.DataFrame(
        {
            "job": jobs.index.to_numpy()[job],
            "rank": task - first[job],
            "compute": compute / NANO,
            "operation": names.astype("str"),
            "seconds": np.where(blocks, more, 0) / NANO,
            "peer": np.where(sends, more - first[job], -1),
        }
    )
