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
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from schedlab._runtime import paths
from schedlab._runtime.files import opened
from schedlab._runtime.text import check_known, plain, suggestion
from schedlab._runtime.words import MissingEstimate

from . import fields, swf
from . import filter as load_filter
from .loading import from_log
from .packed import without_suffix
from .records import header_of, left_out, most_in_use, on_the_clock_of_the_log
from .sacct_export import COMMAND, Export, SacctError, cluster_of, text_of
from .sacct_export import is_export as is_export
from .trace import Trace

PROCS_OF = {"cpus": ("AllocCPUS", "NCPUS", "ReqCPUS"), "nodes": ("NNodes", "AllocNodes", "ReqNodes")}
USER = ("User", "UID")
GROUP = ("Group", "GID")
ARRIVAL = {"submit": "Submit", "eligible": "Eligible"}
GPUS = ("AllocTRES", "AllocGRES", "ReqTRES", "ReqGRES")
# Columns that become fields of SWF, and the names of others that have a role.
USED = {*(name.lower() for names in (*PROCS_OF.values(), USER, GROUP, ARRIVAL.values()) for name in names)}
USED |= {"jobid", "jobidraw", "cluster", "partition", "start", "end", "elapsedraw", "elapsed", "timelimitraw"}
USED |= {"timelimit", "reqmem", "state"}
ROLES = {"account": "account", "qos": "qos", "reservation": "reservation", "jobname": "name"}


class PartitionWarning(UserWarning):
    """Jobs of several partitions are put on one machine."""


class GpuWarning(UserWarning):
    """Jobs have GPUs, which are not simulated: the machine is counted in processors or nodes."""


def example_path() -> Path:
    """Return the path of a small invented export that comes with the package."""
    return paths.data_dir() / "sacct-example.txt"


def read_sacct(
    path: str | os.PathLike,
    *,
    machine: int | None = None,
    procs_of: Literal["cpus", "nodes"] = "cpus",
    partition: str | Collection[str] | None = None,
    arrival: str = "submit",
    time_zone: str | None = None,
    missing_estimate: MissingEstimate = "run",
    names: bool = False,
    lenient: bool = False,
    columns: str | Sequence[str] | None = None,
) -> Trace:
    """Read Slurm's accounting, as written by `sacct --parsable2`, and keep the jobs that can be simulated.

    Run this command on the cluster, on one line and without ``--truncate``, which would change the times. With
    ``SLURM_TIME_FORMAT=%s`` in front of it, times are exact whatever the time zone::

        sacct --allusers --allocations --duplicates --parsable2 --noconvert --starttime=2024-03-01 --endtime=2024-04-01
        --format=JobID,JobIDRaw,Cluster,Partition,User,Group,Submit,Eligible,Start,End,
        ElapsedRaw,TimelimitRaw,AllocCPUS,NNodes,ReqMem,State > jobs.txt

    Parameters
    ----------
    path : path
        The output, plain or packed (.gz, .bz2, .xz), with any ``--delimiter``, or ``--json``. Several outputs of
        one form may be joined in one file.
    machine : int, optional
        Size of the machine, in the unit of `procs_of`. sacct does not record it. Default: the most that the kept jobs
        used at one instant; `Trace.history` then says so, and the real machine may be larger.
    procs_of : {"cpus", "nodes"}
        Unit of jobs and machine. Use "nodes" if each node is given to one job at a time.
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
        file, but appear in what you show.
    lenient : bool
        Skip bad lines instead of raising; `Trace.dropped` lists them.
    columns : str or list of str, optional
        The columns of an output without a header line, as given to ``--format``: ``"JobID,Submit,Start,..."``.

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
    needed       JobID or JobIDRaw (both is best); Submit; Start; State;
                 ElapsedRaw or Elapsed or End; TimelimitRaw or Timelimit;
                 AllocCPUS or NCPUS or ReqCPUS, for `procs_of="nodes"` NNodes or AllocNodes or ReqNodes
    optional     End, Partition, User or UID, Group or GID, Account, QOS, AllocTRES, Eligible, Cluster,
                 ReqMem (with NNodes)
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
      a bad line) if Elapsed is longer than from Start to End, or if End is before Start.
    - *Daylight saving*: a time that the clock showed twice means the earlier one, unless the job would then start
      before its submission, end before its start, or end sooner than it ran. A time that the clock skipped is an error:
      the time zone is wrong.
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
    check_known("arrival", arrival, ARRIVAL)
    zone = fields.zone_named(time_zone)
    path = Path(path)
    file = plain(path.name)
    text = text_of(path, file)
    export = Export(text, file, lenient, columns.split(",") if isinstance(columns, str) else columns)
    export.require(_needed(procs_of, partition, arrival))
    if not export.rows:
        problem = f"{len(export.steps):,} steps, {len(export.bad_lines):,} bad lines"
        raise SacctError(f"{file}: no job in it ({problem}), expected a line for each; run\n    {COMMAND}")
    listed = dict.fromkeys(name for text in export.text("Partition") for name in text.split(",") if name)
    partitions = {name: number for number, name in enumerate(listed, start=1)}  # a job may name several
    wanted = None if partition is None else (partition,) if isinstance(partition, str) else tuple(partition)
    for name in wanted or ():
        if name not in partitions:
            known = plain(f"{', '.join(sorted(partitions))}{suggestion(name, partitions)}")
            raise SacctError(f"{file}: no job of partition {name!r}; known: {known}")

    records = _records(export, procs_of, wanted, partitions, arrival, zone)
    reasons = _reasons(export, records, wanted)
    records, epoch = on_the_clock_of_the_log(records)
    dropped = pd.concat([export.left_out(), left_out(records, reasons[reasons != ""].to_dict())])
    highest = max([*export.numbers, *export.steps], default=0)
    jobs, renumbered = _with_numbers_of_their_own(records[reasons == ""].reset_index(drop=True), highest)

    history = ()
    if machine is None:
        machine = max(1, most_in_use(jobs))
        history += (f"size of the machine not in the record; the most {procs_of} in use at one instant: {machine:,}",)
    cluster = cluster_of(export)
    origin = [f"Computer: Slurm cluster {plain(cluster)}"] if cluster else []
    origin += ["Conversion: by schedlab from the output of sacct"]
    called = {"partition": {number: name for name, number in partitions.items()}}
    header = header_of(origin, machine, epoch, zone, called, _notes(procs_of, arrival, time_zone, names))
    kept = [*swf.FIELDS, *(name for name in (*_further(export).values(), "gpus") if name in jobs)]
    log = swf.Log(header, jobs[kept], swf.skipped_table(), "", path)
    name = Path(without_suffix(path.name)).stem
    trace = from_log(log, name, "file", machine, missing_estimate, dropped, error=SacctError)
    repaired = pd.concat([renumbered, trace.repaired], ignore_index=True)
    people = {"user_id": _numbers(export, *USER)[1], "group_id": _numbers(export, *GROUP)[1]} if names else None
    pooled = _pooled(jobs[jobs["job_number"].isin(trace.table.index)], partitions, machine)
    if len(pooled) > 1:
        message = f"{len(pooled)} partitions on one machine of {machine:,} {procs_of}: {_uses(pooled)}"
        history += (message,)
        if partition is None:
            shared = "if they share their nodes, name them all with partition="
            advice = f"{shared}; if each has its own, do so and simulate with machine={{name: processors, ...}}"
            warnings.warn(f"{file}: {message}; {advice}", PartitionWarning, stacklevel=2)
    if "gpus" in trace.table and (having := trace.table["gpus"] > 0).any():
        area = load_filter.area(trace.table)
        share = area[having].sum() / area.sum()
        jobs = f"{having.sum():,} jobs have" if having.sum() > 1 else "1 job has"
        message = f"{jobs} GPUs, with {100 * share:.3g} % of the work; {procs_of} are simulated"
        history += (message,)
        warnings.warn(f"{file}: {message}, GPUs are not", GpuWarning, stacklevel=2)
    return replace(trace, repaired=repaired, history=history, people=people, files=opened(path))


def _needed(procs_of, partition, arrival):
    """List the columns without which the export cannot be read, each with its alternatives."""
    needed = [("Submit",), ("Start",), ("State",), ("ElapsedRaw", "Elapsed", "End"), ("TimelimitRaw", "Timelimit")]
    needed += [PROCS_OF[procs_of]]
    return needed + [("Partition",)] * (partition is not None) + [("Eligible",)] * (arrival == "eligible")


def _records(export, procs_of, wanted, partitions, arrival, zone):
    """Make SWF's columns, with times in seconds since 1970 and nan for unknown; and the facts that `_reasons` needs."""
    run = export.read(fields.count, "ElapsedRaw")
    run = np.where(np.isnan(run), export.read(fields.duration, "Elapsed"), run)
    submit, start, end, eligible = _times(export, zone, run)
    run = np.where(np.isnan(run) & (end >= start), end - start, run)
    arrived = submit if arrival == "submit" else np.where(np.isnan(eligible), submit, eligible)
    allocated = export.read(fields.size, *PROCS_OF[procs_of][:2])
    size = export.read(fields.size, *PROCS_OF[procs_of])
    state = np.nan_to_num(export.read(fields.state, "State")).astype(int)
    codes = np.array([fields.ENDED.get(name, -1) for name in fields.STATES])
    listed = [text.split(",") for text in export.text("Partition")]
    first = [next((name for name in names if name in (wanted or ())), names[0]) for names in listed]
    columns = dict.fromkeys(swf.FIELDS, np.nan) | {
        "job_number": np.array(export.numbers, dtype="int64"),
        "submit_time": arrived,
        "wait_time": np.where(start >= arrived, start - arrived, np.nan),
        "run_time": run,
        "allocated_procs": allocated,
        "requested_procs": size,
        "requested_time": export.read(fields.limit, "TimelimitRaw", "Timelimit"),
        "requested_memory": _memory(export, size),
        "status": codes[state],
        "user_id": _numbers(export, *USER)[0],
        "group_id": _numbers(export, *GROUP)[0],
        "partition": [partitions.get(name, -1) for name in first],
        "state": [fields.STATES[place] for place in state],
        "start_time": start,
        "end_time": end,
        "ended": ~np.isnan(end) if export.has("End") else True,
        "in_partition": [wanted is None or not set(wanted).isdisjoint(names) for names in listed],
    }
    for name, role in _further(export).items():
        columns[role] = pd.array(export.text(name), dtype="str")
    if any(map(export.has, GPUS)):
        known = export.read(fields.gpus, *GPUS)
        columns["gpus"] = np.where(np.isnan(known), -1, known).astype("int64")
    return pd.DataFrame(columns, index=range(len(export.rows)))


def _further(export):
    """Return the columns that are kept beside those of SWF, and their names in the trace."""
    names = [name for name in export.fields if name and name.lower() not in USED]
    return {name: ROLES.get(name.lower(), name) for name in names}


def _times(export, zone, run):
    """Return submission, start, end and eligibility of jobs with some run times, in seconds since 1970."""
    times = []
    ran = np.nan_to_num(run)
    for column, after, least in (("Submit", None, 0), ("Start", 0, 0), ("End", 1, ran), ("Eligible", 0, 0)):
        early, late = (
            export.read(partial(fields.instant, **clock), column, most=partial(fields.plain_instants, **clock))
            for clock in ({"zone": zone, "fold": 0}, {"zone": zone, "fold": 1})
        )
        # If a local time occurred twice, take the earlier one, unless that breaks the order of events.
        times.append(early if after is None else np.where(early < times[after] + least, late, early))
    return times


def _memory(export, size):
    """Return the requested memory in KB per processor, rounded up."""
    amount = export.read(fields.kilobytes, "ReqMem")
    of_what = np.array([text[-1:].lower() for text in export.text("ReqMem")], dtype="str")
    cpus, nodes = (export.read(fields.size, *PROCS_OF[unit]) for unit in ("cpus", "nodes"))
    times = np.select([of_what == "c", of_what == "n"], [cpus, nodes], default=1.0)
    return np.ceil(amount * times / size)


def _numbers(export, *columns):
    """Number the names in the first existing column: see `fields.numbered`."""
    return fields.numbered(export.text(next(filter(export.has, columns), columns[0])))


def _reasons(export, records, wanted):
    """Tell why a record cannot be simulated: str, shape (n_jobs,), "" if it can."""
    state = records["state"]
    started = records["start_time"].notna()
    waiting = state.isin(fields.WAITING)
    cancelled = state == "CANCELLED"
    running = state.isin(fields.RUNNING) | (started & ~records["ended"])
    unused = (records["run_time"] == 0) & records["allocated_procs"].isna()
    unused |= (records["end_time"] < records["start_time"]) & ~(records["run_time"] > 0)
    _check_times(export, records[~waiting & ~running & ~(cancelled & unused)])
    bad = records.index.isin(list(export.bad_rows))
    conditions = {
        load_filter.GIVEN_TWICE: _given_again(export, waiting | running | bad),
        f"{load_filter.OTHER_PARTITION} {' or '.join(wanted or ())}": ~records["in_partition"],
        load_filter.WAITING: waiting,
        load_filter.CANCELLED_EARLY: cancelled & (~started | unused),
        load_filter.NEVER_STARTED: ~started,
        load_filter.RUNNING: running,
    }
    reasons = np.select(list(conditions.values()), list(conditions), default="").astype(object)
    reasons[list(export.bad_rows)] = list(export.bad_rows.values())
    return pd.Series(reasons, index=records.index, dtype="str")


def _check_times(export, records):
    """Refuse records with contradictory times; a suspended job may have run for less time than from start to end."""
    lasted = records["end_time"] - records["start_time"]
    for row in records.index[(lasted < 0) & (records["run_time"] != 0)]:  # else it is a job of no length
        export.refuse(row, "End", f"a time at or after Start, {export.text('Start')[row]}")
    for row in records.index[(lasted >= 0) & (records["run_time"] > lasted + 1)]:  # 1: fractions of a second
        known = (name for name in ("ElapsedRaw", "Elapsed") if export.text(name)[row].lower() not in fields.NO_VALUE)
        hint = "is the time_zone that of the cluster?"
        export.refuse(row, next(known), f"at most the {lasted[row]:,.0f} s from Start to End ({hint})")


def _given_again(export, unsettled):
    """Find duplicate records; the last one with an end is kept."""
    keys = pd.DataFrame({name: export.text(name) for name in (export.identity, "Submit", "Start")})
    return keys.iloc[np.argsort(~unsettled.to_numpy(), kind="stable")].duplicated(keep="last").sort_index()


def _with_numbers_of_their_own(jobs, highest):
    """Renumber, above the highest, all but the last of the jobs that share a number; return also these repairs."""
    shared = jobs["job_number"].duplicated(keep="last")
    was = jobs.loc[shared, "job_number"]
    now = highest + np.arange(1, len(was) + 1)
    numbered = jobs.copy()
    numbered.loc[shared, "job_number"] = now
    return numbered, load_filter.repairs_of(now, "job_number", was, now, load_filter.SEVERAL_RUNS)


def _pooled(jobs, partitions, procs):
    """List the partitions with the share of the machine that each used, largest first, and the most in use at once."""
    capacity = procs * ((jobs["start_time"] + jobs["run_time"]).max() - jobs["start_time"].min())
    names = {number: plain(name) for name, number in partitions.items()}
    parts = [(names[number], part) for number, part in jobs.groupby("partition") if number in names]
    pooled = [(name, load_filter.area(part).sum() / capacity, most_in_use(part)) for name, part in parts]
    return sorted(pooled, key=lambda each: -each[1])


def _uses(pooled, most=6):
    uses = [f"{name} uses {100 * share:.1f} % (up to {procs:,} at once)" for name, share, procs in pooled[:most]]
    rest = [share for _, share, _ in pooled[most:]]
    return ", ".join([*uses, *[f"{len(rest)} more use {100 * sum(rest):.1f} %"] * (len(rest) > 0)])


def _notes(procs_of, arrival, time_zone, names):
    yield "a processor is a node" if procs_of == "nodes" else "a processor is a CPU as Slurm counts them"
    if arrival == "eligible":
        yield "submit times are those at which jobs became eligible"
    if time_zone is None:
        yield "no time zone was given; dates are those of UTC"
    yield "users and groups are numbered" if names else "users and groups are numbered, their names were not kept"
