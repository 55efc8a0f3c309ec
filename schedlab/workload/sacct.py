"""Read what Slurm's `sacct --parsable2` writes: the accounting of a cluster, as a `Trace`.

An export is text: a line of column names, then one line per record, with fields separated by ``|``. A record is a job,
one run of a requeued job, or a step of a job. `read_sacct` says which columns it needs and how it uses each.

References
----------
SchedMD, "sacct" (manual page), https://slurm.schedmd.com/sacct.html
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from schedlab._runtime import paths
from schedlab._runtime.files import opened
from schedlab._runtime.remarks import SchedlabWarning
from schedlab._runtime.text import check_known, plain, suggestion
from schedlab._runtime.words import MissingEstimate

from . import filter as load_filter
from .fields import clipped, duration
from .packed import without_suffix
from .records import most_in_use
from .runs import GpuWarning as GpuWarning
from .runs import trace_of
from .sacct_export import COMMAND, Export, SacctError
from .sacct_export import is_export as is_export
from .tables import ARRIVALS as ARRIVALS
from .tables import FirstKnown, Table
from .trace import Trace

GPUS = ("AllocTRES", "AllocGRES", "ReqTRES", "ReqGRES")
PROCS_OF = {"cpus": ("AllocCPUS", "NCPUS", "ReqCPUS"), "nodes": ("NNodes", "AllocNodes", "ReqNodes"), "gpus": GPUS}
# What the columns of sacct are; of several that a row may have, the first with a known value counts.
ROLES = {
    "submit": ("Submit",),
    "eligible": ("Eligible",),
    "start": ("Start",),
    "end": ("End",),
    "run": ("ElapsedRaw", "Elapsed"),
    "estimate": ("TimelimitRaw", "Timelimit"),
    "gpus": GPUS,
    "memory": ("ReqMem",),
    "user": ("User", "UID"),
    "group": ("Group", "GID"),
    "account": ("Account",),
    "qos": ("QOS",),
    "reservation": ("Reservation",),
    "job_name": ("JobName",),
    "partition": ("Partition",),
    "status": ("State",),
}
EXAMPLES = {"small": "sacct-example.txt", "cluster": "cluster-sacct.txt.xz"}
PRIVATE = ("SubmitLine", "WorkDir", "StdIn", "StdOut", "StdErr")  # paths and commands, which name people
A_CPU = "a processor is a CPU as Slurm counts them"
MOST_LISTED = 10  # clusters in a message


class PartitionWarning(SchedlabWarning):
    """Jobs of several partitions are put on one machine."""


def example_path(name: Literal["small", "cluster"] = "small") -> Path:
    """Return the path of an invented export that comes with the package.

    Parameters
    ----------
    name : {"small", "cluster"}
        - "small": 270 jobs in two and a half days, with an example of everything that `read_sacct` handles.
        - "cluster": 19,000 jobs in six weeks, on partitions of CPUs, GPUs and large memory, with a maintenance, a
          clock change, and a rush before a deadline.
    """
    check_known("name", name, EXAMPLES)
    return paths.data_dir() / EXAMPLES[name]


def read_sacct(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    procs_of: Literal["cpus", "nodes", "gpus"] = "cpus",
    partition: str | Collection[str] | None = None,
    arrival: str = "submit",
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    names: bool = False,
    lenient: bool = False,
    columns: str | Sequence[str] | None = None,
    cluster: str | None = None,
) -> Trace:
    """Read Slurm's accounting, as written by `sacct --parsable2`, and keep the jobs that can be simulated.

    Run this command on the cluster, on one line and without ``--truncate``, which would change the times; ``schedlab
    sacct-command`` prints it. With ``SLURM_TIME_FORMAT=%s``, times are exact whatever the time zone::

        SLURM_TIME_FORMAT=%s sacct --allusers --allocations --duplicates --parsable2 --noconvert
        --starttime=2024-03-01 --endtime=2024-04-01
        --format=JobID,JobIDRaw,Cluster,Partition,User,Group,Account,QOS,Submit,Eligible,Start,End,
        ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,ReqMem,AllocTRES,Reservation,State > jobs.txt

    Parameters
    ----------
    path : path
        The output, plain or packed (.gz, .bz2, .xz, .zst), with any ``--delimiter``, or ``--json``. Several outputs of
        one form may be joined in one file.
    machine : int, optional
        Size of the machine, in the unit of `procs_of`. sacct does not record it. Default: the most that the kept jobs
        used at one instant; `Trace.history` then says so, and the real machine may be larger.
    procs_of : {"cpus", "nodes", "gpus"}
        Unit of jobs and machine. Use "nodes" if each node is given to one job at a time, "gpus" for partitions whose
        jobs wait for GPUs; jobs without any are then omitted.
    partition : str, or several, optional
        Keep only the jobs of this partition, or of these. All jobs go to one machine, so name several partitions only
        if they share their nodes.
    arrival : {"submit", "eligible"}
        When a job arrives.

        - "submit": when it was submitted.
        - "eligible": when nothing held it back any more (such as a dependency or a begin time), if that is known.
    time_zone : str, optional
        Time zone of the cluster, such as "Europe/Stockholm". Default: UTC. Seconds since 1970 need it only to show
        dates.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a job without a time limit (UNLIMITED, Partition_Limit), as in `read_swf`.
    names : bool
        Keep the names of users and groups, for classes (``schedule.metrics(by="user")``). They are never written to a
        file, but appear in what you show. Also keep SubmitLine, WorkDir, StdIn, StdOut and StdErr, which name people.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.
    columns : str or list of str, optional
        The columns of an output without a header line, as given to ``--format``: ``"JobID,Submit,Start,..."``.
    cluster : str, optional
        Keep only the jobs of this cluster, of an output of several.

    Returns
    -------
    Trace
        Users, groups and partitions are numbered in order of first appearance. The header keeps the names of the
        partitions and of the cluster. ``gpus`` has the GPUs of each job, ``account`` and ``qos`` their names; other
        columns are kept under their own names.

    Warns
    -----
    PartitionWarning
        If jobs of several partitions go to one machine and `partition` does not name them.
    GpuWarning
        If jobs have GPUs, and the machine is counted in processors or nodes.
    LoadWarning
        If jobs with more than 1 % of the work are left out, for example because they are wider than the machine.

    Raises
    ------
    SacctError
        Names file, line, field, value and what was expected.

    Notes
    -----
    Columns may be in any order; others are ignored. A ``|`` inside a JobName, Comment or similar column is told apart
    from a separator by counting from both ends of the line. If there are several such columns, all extra ``|`` of a
    record must be in the same one.

    ===========  ======================================================================================
    needed       JobID or JobIDRaw (both is best); Submit; Start; ElapsedRaw or Elapsed or End;
                 AllocCPUS or NCPUS or ReqCPUS, for `procs_of="nodes"` NNodes or AllocNodes or ReqNodes,
                 for "gpus" AllocTRES or AllocGRES or ReqTRES or ReqGRES
    optional     End, State, TimelimitRaw or Timelimit, Partition, User or UID, Group or GID, Account, QOS,
                 Reservation, JobName, AllocTRES, Eligible, Cluster, ReqMem (with NNodes)
    ===========  ======================================================================================

    If several alternatives are present, the first with a known value counts.

    - *Sizes*: the number of processors is what a job occupied, AllocCPUS, not what it requested, ReqCPUS, which is
      smaller if whole cores or nodes are allocated. Both size fields of SWF get it.
    - *Arrays and heterogeneous jobs*: each task, and each component, is a separate job. The information that components
      start together is lost.
    - *Requeued and resized jobs*: each run of a job is a separate job, since each used its share of the machine, and
      Slurm itself gives each its own submit time. The last run keeps the job number; the earlier ones get new numbers,
      listed in `Trace.repaired`.
    - *Omitted*, with the reason in `Trace.dropped`: steps; duplicate records (same job, submission and start; the last
      one with an end is kept); other partitions; jobs still waiting or running; jobs cancelled before they started. A
      pending array is one record. The load filter then omits jobs that lasted 0 s.
    - *Status*: COMPLETED 1; CANCELLED, PREEMPTED, REQUEUED, RESIZING, REVOKED 5; TIMEOUT and all failures 0.
    - *Run times* are Slurm's Elapsed, which excludes the time that a job was suspended. It is an error (with `lenient`,
      a bad line) if Elapsed is longer than from Start to End, or if End is before Start; except by an hour where no
      time zone is known.
    - *Daylight saving*: a time that the clock showed twice is read by how long the job ran, or else by order, or else
      as the earlier one. A time that the clock skipped is an error: the time zone is wrong.
    - *What costs no job*: a limit, a state, an amount of memory or a name that cannot be read becomes unknown, and
      `Trace.repaired` lists it.
    - *What it cannot know*: how large the machine was, which partitions share nodes, which nodes were down or reserved,
      why a job waited (a dependency, a limit), and when it was suspended.
    - *Memory*: "c" means per CPU, "n" per node, neither means per job; 0 and ? mean unknown.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> all_of_it = {"partition": ("debug", "short", "long"), "time_zone": "Europe/Stockholm"}
    >>> trace = sl.read_sacct(example_path(), machine=128, **all_of_it)
    >>> sl.simulate(trace, "easy").validate().metrics()  # doctest: +SKIP
    """
    check_known("procs_of", procs_of, PROCS_OF)
    path = Path(path)
    file = plain(path.name)
    export = Export(path, file, lenient, columns.split(",") if isinstance(columns, str) else columns)
    export.require(_needed(procs_of, partition, arrival))
    if not len(export.lines):
        problem = f"{len(export.steps):,} steps, {len(export.bad_lines):,} bad lines"
        raise SacctError(f"{file}: no job in it ({problem}), expected a line for each; run\n    {COMMAND}")
    table = _table(export, procs_of, time_zone, lenient, arrival)
    table.identity = None if export.numbers_say_all else export.named(export.identity)
    private = [name for name in table.frame if name in PRIVATE and not names]
    table.frame = table.frame.drop(columns=private)
    several = _keep_cluster(table, export, cluster)
    wanted = None if partition is None else (partition,) if isinstance(partition, str) else tuple(partition)
    _keep_partitions(table, export, wanted)
    table.omitted = export.left_out()
    table.highest = max(export.steps, default=0)
    table.people = names
    table.origin = [f"Computer: Slurm cluster {plain(several)}"] if several else []
    table.origin += ["Conversion: by schedlab from the output of sacct"]
    table.notes = tuple(_notes(procs_of, arrival, names, private))
    trace = trace_of(table, Path(without_suffix(path.name)).stem, machine, missing_estimate)
    pooled = _pooled(trace, trace.procs)
    if len(pooled) > 1:
        message = f"{len(pooled)} partitions on one machine of {trace.procs:,} {procs_of}: {_uses(pooled)}"
        trace = replace(trace, history=(*trace.history, message))
        if partition is None:
            shared = "if they share their nodes, name them all with partition="
            advice = f"{shared}; if each has its own, do so and simulate with machine={{name: processors, ...}}"
            warnings.warn(f"{file}: {message}; {advice}", PartitionWarning, stacklevel=2)
    return replace(trace, files=opened(path))


class Records(Table):
    """The records of an export; messages name their fields as the header does."""

    def title(self, role: str, source) -> str:
        names = [*self.known]
        return f"field {names.index(source) + 1} ({source})" if source in names else role


def _needed(procs_of, partition, arrival):
    """List the columns without which the export cannot be read, each with its alternatives."""
    needed = [("Submit",), ("Start",), ("ElapsedRaw", "Elapsed", "End"), PROCS_OF[procs_of]]
    return needed + [("Partition",)] * (partition is not None) + [("Eligible",)] * (arrival == "eligible")


def _table(export, procs_of, time_zone, lenient, arrival):
    """Say what the columns of an export are."""
    frame = export.frame()
    if procs_of == "cpus" and not (export.has("AllocCPUS") or export.has("NCPUS")) and export.has("CPUTimeRAW"):
        frame["AllocCPUS"] = _occupied(frame, export)
    called = {str(name).lower(): name for name in reversed(frame.columns)}
    columns = {}
    for role, names in (ROLES | {"procs": PROCS_OF[procs_of]}).items():
        here = [called[name.lower()] for name in names if name.lower() in called]
        columns[role] = FirstKnown(here) if here else None
    if len(export.numbers):
        columns["job"] = np.asarray(export.numbers)
    frame.attrs["columns"] = export.fields
    settings = {"unit": {"estimate": "min"}, "time_zone": time_zone, "lenient": lenient, "arrival": arrival}
    kind = {"states": "slurm", "lines": True, "error": SacctError}
    table = Records(frame, columns, export.name, export.lines, **settings, **kind)
    table.unit = procs_of
    return table


def _occupied(frame, export):
    """Return the CPUs that jobs occupied: Slurm's CPU time is that number times what elapsed."""
    raw = export.has("ElapsedRaw")
    elapsed = frame[export.named("ElapsedRaw")].replace("", "0") if raw else frame[export.named("Elapsed")]
    elapsed = elapsed.astype("float64") if raw else elapsed.map(duration)
    return (frame[export.named("CPUTimeRAW")].replace("", "0").astype("float64") / elapsed.where(elapsed > 0)).round()


def _distinct(table, export, column):
    return [text for text in table.frame[export.named(column)].unique() if text] if export.has(column) else []


def _keep_cluster(table, export, cluster):
    """Leave out the jobs of other clusters; return the name of the one that is kept, if it is known."""
    names = _distinct(table, export, "Cluster")
    if cluster is None and len(names) > 1:
        listed = plain(", ".join(map(clipped, names[:MOST_LISTED]))) + ", ..." * (len(names) > MOST_LISTED)
        raise SacctError(f"{export.name}: jobs of several clusters ({listed}), expected one; give cluster=")
    if cluster is not None:
        check_known("cluster", cluster, names)
        other = (table.frame[export.named("Cluster")] != cluster).to_numpy()
        table.leave_out(other, f"{load_filter.OTHER_CLUSTER} {cluster}")
    if names:
        del table.frame[export.named("Cluster")]  # the header has it
    return cluster or next(iter(names), "")


def _keep_partitions(table, export, wanted):
    """Leave out the jobs of other partitions than those wanted; a job may name several, of which the first counts."""
    if not export.has("Partition"):
        return
    column = table.frame[export.named("Partition")]
    listed = {text: [name for name in text.split(",") if name] for text in _distinct(table, export, "Partition")}
    in_order = dict.fromkeys(name for names in listed.values() for name in names)
    numbers = {name: number for number, name in enumerate(in_order, start=1)}
    for name in wanted or ():
        if name not in numbers:
            known = plain(f"{', '.join(sorted(numbers))}{suggestion(name, numbers)}")
            raise SacctError(f"{export.name}: no job of partition {name!r}; known: {known}")
    listed = {text: names for text, names in listed.items() if names}
    first = {text: next((name for name in names if name in (wanted or ())), names[0]) for text, names in listed.items()}
    if wanted is not None:
        other = ~column.map(first).isin(wanted)
        table.leave_out(other, f"{load_filter.OTHER_PARTITION} {' or '.join(wanted)}")
    table.sources["partition"] = column.map({text: numbers[name] for text, name in first.items()}).to_numpy("float64")
    table.called = {"partition": {number: name for name, number in numbers.items()}}
    if max(map(len, listed.values()), default=0) < 2:
        del table.frame[export.named("Partition")]  # it says no more


def _pooled(trace, procs):
    """List the partitions with the share of the machine that each used, largest first, and the most in use at once."""
    jobs = trace.table.assign(start_time=trace.table["submit_time"] + trace.table["wait_time"])
    capacity = procs * ((jobs["start_time"] + jobs["run_time"]).max() - jobs["start_time"].min())
    names = trace.header.partitions
    parts = [(names[number], part) for number, part in jobs.groupby("partition") if number in names]
    pooled = [(name, load_filter.area(part).sum() / capacity, most_in_use(part)) for name, part in parts]
    return sorted(pooled, key=lambda each: -each[1])


def _uses(pooled, most=6):
    uses = [f"{name} uses {100 * share:.1f} % (up to {procs:,} at once)" for name, share, procs in pooled[:most]]
    rest = [share for _, share, _ in pooled[most:]]
    return ", ".join([*uses, *[f"{len(rest)} more use {100 * sum(rest):.1f} %"] * (len(rest) > 0)])


def _notes(procs_of, arrival, names, private):
    yield {"nodes": "a processor is a node", "gpus": "a processor is a GPU"}.get(procs_of, A_CPU)
    if arrival == "eligible":
        yield "submit times are those at which jobs became eligible"
    if private:
        yield f"{', '.join(private)}: not kept, since they name people; names=True keeps them"
    yield "users and groups are numbered" if names else "users and groups are numbered, their names were not kept"
