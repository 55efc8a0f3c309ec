"""Read public logs that are not plain SWF, whose columns are known: PM100, F-DATA, Frontier, Theta, SuperCloud, ...

A machine is counted in nodes if jobs get whole nodes, and in GPUs if jobs request GPUs; `Trace.history` says which.
Most of these logs have rows that contradict themselves; such rows are omitted, and `Trace.dropped` lists them.

References
----------
The columns are those that the loaders of public projects read (ExaDigiT/RAPS, ``raps/dataloaders``;
FuldaHPC/ElastisimFulda, ``scripts/csv_to_jobs.py``) and that the documentation of each log describes.
"""

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.paths import data_dir
from schedlab._runtime.text import check_known, plain

from . import packed, swf
from .filter import NO_GPU
from .frames import loaded
from .loading import from_log
from .packed import without_suffix
from .runs import trace_of
from .tables import ROLES, Table, TableError
from .trace import Trace

PROCS_OF = {"nodes": "a node", "cpus": "a CPU", "gpus": "a GPU"}
DELETED = "marked as deleted"
PAI_TASKS = (
    "job_name",
    "task_name",
    "inst_num",
    "status",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
)
PAI_TASKS += ("gpu_type",)
PAI_JOBS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")


@cache
def logs() -> pd.DataFrame:
    """Return the table of the logs that are known, by name; what is not so is empty.

    Columns: those of `from_frame`, each with the name that it has in the log; ``nodes``, ``cpus`` and ``gpus``, the
    sizes of jobs, of which the first is the default; ``machine_nodes`` and ``machine_gpus``; ``unit`` of the estimate;
    ``time_zone`` of dates without one; ``note``, on what a processor is; and ``further`` columns that the trace keeps.
    """
    return pd.read_csv(data_dir() / "public_logs.csv", dtype=str, keep_default_na=False).set_index("log")


def read_public(
    path: str | os.PathLike,
    log: str,
    *,
    machine: int | None = None,
    procs_of: str | None = None,
    time_zone: str | None = None,
) -> Trace:
    """Read a public log whose columns are known.

    Parameters
    ----------
    path : path
        The file as published, a CSV file with its columns, or a folder of Parquet files.
    log : str
        - "pm100": Marconi100 (CINECA, 2020), ``job_table.parquet``. It has only jobs that were alone on their nodes, so
          its load is lower than the machine's was. Processors are nodes (980) or GPUs (3,920). [1]_
        - "fdata": a month of Fugaku (RIKEN, 2021-2024), ``21_04.parquet``; `Trace.concat` joins months. Processors are
          nodes (158,976); if the allocated nodes of a job are unknown, the requested ones count. [2]_
        - "frontier": the SWF of Frontier (OLCF, 2024-2025), with 21 fields. Processors are nodes (9,472), taken from
          field 21, since field 5 counts nodes in some records and cores in others. [3]_
        - "theta": a year of Theta, Mira or Polaris (ALCF), ``ANL-ALCF-DJC-THETA_20230101_20231231.csv.gz``. Processors
          are nodes: 4,392 for Theta; give ``machine=49_152`` for Mira, 560 for Polaris. Jobs that ended with status 0
          are completed, all others failed. Theta's queues ``debug-cache-quad`` and ``debug-flat-quad`` have nodes of
          their own. [4]_
        - "cori": a table of Cori (NERSC). Processors are nodes: 9,688 of KNL; give ``machine=2_388`` for Haswell. It
          has neither starts nor limits: each job's estimate is its run time. [5]_
        - "kestrel": Slurm's records of Kestrel (NREL, 2023-2025), ``esif.hpc.kestrel.job-anon``. Processors are nodes
          (2,304 standard ones, and others) or CPUs. If a job names several partitions, the first counts. [6]_
        - "philly": deep learning at Microsoft (2017), ``cluster_job_log``. Processors are GPUs. Each attempt is a run,
          and all but the first arrive when the one before ended. It has no limits: the estimate is the run time. [7]_
        - "helios": Earth, Saturn, Uranus or Venus of SenseTime (2020), ``cluster_log.csv``. Processors are GPUs (at
          most 1,264 of Venus, 1,232 of Earth); jobs without any are omitted. It has no limits. [8]_
        - "slurmdbd": the table of jobs of any cluster's Slurm database (``<cluster>_job_table``), as CSV or TSV.
          Processors are the CPUs allocated (TRES 1). ``gpus`` are those of TRES 1001, which is the first that a site
          adds: ``sacctmgr show tres`` says whether it is gres/gpu. [9]_
        - "supercloud": ``slurm-log.csv`` of MIT SuperCloud (2021), the same with two kinds of GPUs. [10]_
        - "alibaba2020": ``pai_task_table.csv`` of Alibaba's GPU cluster. Each task is a run of all its instances;
          ``pai_job_table.csv`` beside it gives submissions and users, else no wait is known. Processors are CPUs (100 %
          of one, rounded up) or GPUs. [11]_
        - "alibaba2023": ``openb_pod_list``; each pod is a run. Processors are CPUs, rounded up, or GPUs. [11]_
    machine : int, optional
        Size of the machine. Default: as above, or else the most that was in use at one instant.
    procs_of : {"nodes", "cpus", "gpus"}, optional
        What a processor is, where there is a choice above. Default: the first.
    time_zone : str, optional
        Time zone of dates that do not state one. Default: that of the machine, UTC for "theta".

    Returns
    -------
    Trace
        Jobs that never started or have not ended are omitted, and listed in `dropped`. It keeps the columns named in
        `schedlab.workload.public.logs`, and no others. None of these logs says which nodes were down or reserved.

    Raises
    ------
    ValueError
        For an unknown log, or something that it does not count; TableError or SWFError for a file of another form.

    Examples
    --------
    One made-up job in the columns of PM100:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"submit_time": "2020-05-31 22:00:00+00:00", "start_time": "2020-05-31 22:00:10+00:00"}
    >>> job |= {"end_time": "2020-05-31 22:12:10+00:00", "time_limit": 20, "num_nodes_alloc": 16, "num_gpus_alloc": 64}
    >>> job |= {"user_id": 310, "qos": "1", "partition": "1", "job_state": "COMPLETED", "job_id": 10}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "job_table.csv"), index=False)
    ...     trace = sl.read_public(Path(folder, "job_table.csv"), log="pm100")
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[10, 720, 1200, 16]]
    >>> trace.procs, trace.history[-1]
    (980, 'a processor is a node; only jobs alone on their nodes')

    References
    ----------
    .. [1] Antici et al., SC-W 2023; https://doi.org/10.5281/zenodo.10127767
    .. [2] Antici et al., Scientific Data 12, 2025; https://doi.org/10.5281/zenodo.11467483
    .. [3] Workload archive of JSSPP, https://jsspp.org/workload/
    .. [4] ALCF public data, https://reports.alcf.anl.gov/data/
    .. [5] FuldaHPC/ElastisimFulda, ``scripts/csv_to_jobs.py``
    .. [6] Open Energy Data Initiative, submission 8643, https://data.openei.org/submissions/8643
    .. [7] Jeon et al., USENIX ATC 2019; https://github.com/msr-fiddle/philly-traces
    .. [8] Hu et al., SC 2021; https://github.com/S-Lab-System-Group/HeliosData
    .. [9] SchedMD, Slurm, ``src/plugins/accounting_storage/mysql``
    .. [10] Samsi et al., HPEC 2021; https://dcc.mit.edu
    .. [11] Weng et al., NSDI 2022; https://github.com/alibaba/clusterdata
    """
    about = logs().loc[check_known("log", log, tuple(logs().index))]
    sizes = {of: about[of] for of in PROCS_OF if about[of]}
    procs_of = check_known("procs_of", procs_of or next(iter(sizes)), tuple(sizes))
    machine = machine or int(about.get(f"machine_{procs_of}") or 0) or None
    note = f"a processor is {PROCS_OF[procs_of]}{about['note']}"
    if log == "frontier":
        return replace(_frontier(path, machine), history=(note,))
    columns = {role: about[role] for role in ROLES if role not in ("nodes", "procs") and about.get(role)}
    columns["procs"] = sizes[procs_of]
    wanted = [*columns.values(), *sizes.values(), *about["further"].split()]
    frame = FRAMES[log](Path(path)) if log in FRAMES else loaded(Path(path), wanted)
    file = plain(Path(path).name)
    try:
        left_out = CLEAN[log](frame, columns) if log in CLEAN else None
    except KeyError as error:
        raise TableError(f"{file}: no column {error}, which {log} has; columns: {', '.join(frame.columns)}") from None
    unit = {"estimate": about["unit"]} if about["unit"] else "s"
    zone = time_zone or about["time_zone"] or None
    table = Table(frame, columns, file, range(1, len(frame) + 1), unit, zone, lenient=True)
    table.unit = procs_of
    for reason, rows in (left_out or {}).items():
        table.leave_out(rows, reason)
    trace = trace_of(table, without_suffix(file).rpartition(".")[0] or file, machine)
    return replace(trace, history=(*trace.history, note), files=opened(path))


def _allocated_or_requested(frame, columns):
    """Take the requested nodes of F-DATA where the allocated ones are unknown."""
    if {"nnuma", "nnumr"} <= {*frame.columns}:
        columns["procs"] = frame["nnuma"].where(frame["nnuma"] > 0, frame["nnumr"])
        del frame["nnuma"]


def _completed_with_0(frame, columns):
    if "EXIT_STATUS" in frame:
        exit_status = pd.to_numeric(frame["EXIT_STATUS"], errors="coerce")
        columns["status"] = (exit_status == 0).astype("boolean").where(exit_status.notna())


def _first_partition(frame, _):
    if "partition" in frame:
        frame["partition"] = frame["partition"].astype(object).str.split(",").str[0]


def _without_gpu(frame, _):
    return {NO_GPU: frame["gpu_num"] == 0} if "gpu_num" in frame else None


def _database(frame, columns):
    """Take what was allocated from the TRES of a database of Slurm, in which 1 are CPUs and a site's own begin at 1001.

    Most exports lack some columns; rows that are marked as deleted are none.
    """
    tres = frame["tres_alloc"].fillna("").astype(str) if "tres_alloc" in frame else pd.Series("", frame.index)
    frame["cpus"] = _tres(tres, 1).where(lambda amount: amount > 0, frame.get("cpus_req"))
    frame["gpus"] = _tres(tres, 1001)
    for role in ("eligible", "estimate", "user", "group", "account", "qos", "partition"):
        if role in columns and columns[role] not in frame:
            del columns[role]
    return {DELETED: frame.pop("deleted") == 1} if "deleted" in frame else None


def _supercloud(frame, columns):
    """Count both kinds of GPUs, which have no common TRES there."""
    left_out = _database(frame, columns)
    frame["gpus"] += _tres(frame["tres_alloc"].fillna("").astype(str), 1002)
    return left_out


def _tres(texts, number):
    """Return the amounts of one TRES in texts such as 1=8,2=16000,1001=2; 0 where it is not there."""
    return texts.str.extract(rf"(?:^|,){number}=([0-9]+)")[0].astype("float64").fillna(0)


def _alibaba2020(path):
    """Read the tasks, each a run of all its instances; the table of jobs beside theirs has the submissions."""
    file = plain(path.name)
    tasks = pd.read_csv(path, names=PAI_TASKS, header=None)
    if not tasks["job_name"].size or not pd.api.types.is_numeric_dtype(tasks["inst_num"]):
        raise TableError(f"{file}: expected the 10 columns of pai_task_table.csv, without a header")
    tasks["submit"] = tasks["start_time"]
    jobs = path.with_name("pai_job_table.csv")
    if jobs.exists():
        opened(jobs)
        table = pd.read_csv(jobs, names=PAI_JOBS, header=None).drop_duplicates("job_name").set_index("job_name")
        tasks["submit"] = tasks["job_name"].map(table["start_time"]).fillna(tasks["start_time"])
        tasks["user"] = tasks["job_name"].map(table["user"])
    tasks["user"] = tasks.get("user")
    tasks["cpus"] = np.ceil(tasks["inst_num"] * tasks["plan_cpu"].fillna(0) / 100)
    tasks["gpus"] = tasks["inst_num"] * tasks["plan_gpu"].fillna(0) / 100
    tasks["status"] = tasks["status"].replace({"Terminated": "COMPLETED"})
    return tasks


def _pods(frame, _):
    frame["cpus"] = np.ceil(frame["cpu_milli"] / 1000)
    frame["gpus"] = frame["num_gpu"] * frame["gpu_milli"] / 1000


def _philly(path):
    """Read Philly's JSON: a row an attempt, with its GPUs; an attempt arrives when the one before it ended."""
    content = packed.undamaged(packed.content_of(path, "Philly's jobs"), plain(path.name), TableError, "JSON")
    try:
        rows = [row for job in json.loads(content) for row in _attempts(job)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        expected = "expected a JSON list of jobs as Philly has it"
        raise TableError(f"{plain(path.name)}: {type(error).__name__}: {error}; {expected}") from None
    return pd.DataFrame(rows, columns=["jobid", "submit", "start", "end", "gpus", "user", "vc", "status"])


def _attempts(job):
    """Yield the attempts of a job; where one has no list of its GPUs, it has those of another."""
    attempts = job["attempts"] or [{}]
    gpus = [sum(len(part["gpus"]) for part in attempt.get("detail") or ()) for attempt in attempts]
    arrival = job["submitted_time"]
    for attempt, count in zip(attempts, gpus, strict=True):
        start = attempt.get("start_time")
        end = attempt.get("end_time")
        last = attempt is attempts[-1]
        status = job["status"] if last or job["status"] == "Running" else "Failed"
        yield job["jobid"], arrival, start, end, count or max(gpus) or None, job["user"], job["vc"], status
        arrival = end if end not in (None, "", "None") else arrival


def _frontier(path, machine):
    """Read Frontier's SWF, with the nodes of field 21, such as ``frontier:excl:2500x112``."""
    log = swf.read_log(path)
    if (fields := len(log.records.columns)) < 21:
        other = "read_swf reads other logs"
        raise swf.SWFError(f"{plain(Path(path).name)}: records of {fields} fields, expected 21; {other}")
    nodes = log.records.iloc[:, 20].astype("str").str.extract(r"^[^:]+:[^:]+:([0-9]{1,7})x[0-9]+$")[0].astype("float64")
    sizes = dict.fromkeys(swf.SIZES, nodes.fillna(-1).astype("int64"))
    log = replace(log, records=log.records.assign(**sizes))
    return from_log(log, log.name, "file", machine, "run", files=opened(path))


FRAMES = {"philly": _philly, "alibaba2020": _alibaba2020}  # files that are no tables with a header
CLEAN = {
    "fdata": _allocated_or_requested,
    "theta": _completed_with_0,
    "kestrel": _first_partition,
    "helios": _without_gpu,
    "slurmdbd": _database,
    "supercloud": _supercloud,
    "alibaba2023": _pods,
}
