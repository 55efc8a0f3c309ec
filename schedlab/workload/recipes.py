"""Read public logs that are not plain SWF: PM100, F-DATA, Frontier, Theta, Cori, Kestrel, Philly, Helios.

Each function names the columns of its log and describes the log's peculiarities. A machine is counted in nodes if jobs
get whole nodes, and in GPUs if jobs request GPUs; `Trace.history` says which. Most of these logs have rows that
contradict themselves; such rows are omitted, and `Trace.dropped` lists them.

If `machine` is omitted and the size of the log's machine is not known, it is the most that was in use at one instant.

References
----------
The columns are those that the loaders of public projects read (ExaDigiT/RAPS, ``raps/dataloaders``;
FuldaHPC/ElastisimFulda, ``scripts/csv_to_jobs.py``) and that the documentation of each log describes.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.files import opened
from schedlab._runtime.text import check_known, plain

from . import swf
from .filter import NO_GPU
from .frames import Table, TableError, loaded, trace_of
from .trace import Trace, from_log


def read_pm100(path, *, machine: int | None = None, procs_of: str = "nodes") -> Trace:
    """Read PM100, jobs of Marconi100 (CINECA, 2020): ``job_table.parquet``.

    The log has only jobs that were alone on their nodes. Its load is therefore lower than the machine's was, and the
    recorded waits are partly due to jobs that are not in the log. Time limits are in minutes.

    Parameters
    ----------
    path : path
        The Parquet file, or a CSV file with its columns.
    machine : int, optional
        Size of the machine. Default: 980 nodes or 3,920 GPUs.
    procs_of : {"nodes", "gpus"}
        Unit of jobs and machine.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"submit_time": "2020-05-31 22:00:00+00:00", "start_time": "2020-05-31 22:00:10+00:00"}
    >>> job |= {"end_time": "2020-05-31 22:12:10+00:00", "time_limit": 20, "num_nodes_alloc": 16, "num_gpus_alloc": 64}
    >>> job |= {"user_id": 310, "qos": "1", "partition": "1", "job_state": "COMPLETED", "job_id": 10}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "job_table.csv"), index=False)
    ...     trace = sl.read_pm100(Path(folder, "job_table.csv"))
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[10, 720, 1200, 16]]
    >>> trace.procs, trace.history[-1]
    (980, 'a processor is a node; only jobs alone on their nodes')

    References
    ----------
    Antici et al., "PM100: A job power consumption dataset of a large-scale production HPC system", SC-W 2023;
    https://doi.org/10.5281/zenodo.10127767.
    """
    check_known("procs_of", procs_of, ("nodes", "gpus"))
    columns = {"submit": "submit_time", "start": "start_time", "end": "end_time", "estimate": "time_limit"}
    columns |= {"procs": f"num_{procs_of}_alloc", "user": "user_id", "queue": "qos", "partition": "partition"}
    columns |= {"status": "job_state", "job": "job_id"}
    frame = loaded(Path(path), [*columns.values(), "priority", "num_nodes_alloc", "num_gpus_alloc", "mem_alloc"])
    size = machine or {"nodes": 980, "gpus": 3_920}[procs_of]
    note = f"a processor is a {procs_of[:-1].upper() if procs_of == 'gpus' else 'node'}; only jobs alone on their nodes"
    return _trace(frame, path, columns, size, note, unit={"estimate": "min"}, time_zone="Europe/Rome")


def read_fdata(path, *, machine: int = 158_976) -> Trace:
    """Read a month of F-DATA, jobs of Fugaku (RIKEN, 2021-2024): ``21_04.parquet``; `Trace.concat` joins months.

    A processor is a node of 48 cores. The log has no cancelled jobs, and its users are numbered. The size of a job is
    its number of allocated nodes, or of requested nodes if the former is unknown.

    Parameters
    ----------
    path : path
        The Parquet file, or a CSV file with its columns.
    machine : int
        Nodes of the machine.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"usr": "usr_5", "adt": "2021-04-01 10:28:01+09", "sdt": "2021-04-01 10:28:31+09"}
    >>> job |= {"edt": "2021-04-01 10:38:31+09", "elpl": 3600, "nnuma": 384, "nnumr": 400, "exit state": "completed"}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "21_04.csv"), index=False)
    ...     trace = sl.read_fdata(Path(folder, "21_04.csv"))
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[30, 600, 3600, 384]]

    References
    ----------
    Antici et al., "F-DATA: A Fugaku workload dataset for job-centric predictive modelling in HPC systems", Scientific
    Data 12, 2025; https://doi.org/10.5281/zenodo.11467483.
    """
    columns = {"submit": "adt", "start": "sdt", "end": "edt", "estimate": "elpl", "user": "usr"}
    columns |= {"procs": "nnuma", "status": "exit state"}
    further = ["nnumr", "jobenv_req", "econ", "avgpcon", "freq_req", "pclass"]
    frame = loaded(Path(path), [*columns.values(), *further])
    if {"nnuma", "nnumr"} <= {*frame.columns}:
        columns["procs"] = frame["nnuma"].where(frame["nnuma"] > 0, frame["nnumr"])
        frame = frame.drop(columns="nnuma")
    return _trace(frame, path, columns, machine, "a processor is a node of 48 cores", time_zone="Asia/Tokyo")


def read_frontier(path, *, machine: int = 9_472) -> Trace:
    """Read the public SWF of Frontier (OLCF, 2024-2025), with 21 fields.

    A processor is a node. A job's nodes are taken from field 21, such as ``frontier:excl:2500x112``, since field 5
    counts nodes in some records and cores in others. Records without a size in field 21 are omitted.

    Parameters
    ----------
    path : path
        The .swf or .swf.gz file.
    machine : int
        Nodes of the machine.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> job = "1 1 0 5585 336 5585 -1 336 7200 -1 1 0 0 -1 0 -1 -1 -1 0 5585 frontier:excl:3x112"
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "frontier-2025.swf").write_text(job)
    ...     trace = sl.read_frontier(Path(folder, "frontier-2025.swf"))
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[0, 5585, 7200, 3]]

    References
    ----------
    Workload archive of JSSPP, https://jsspp.org/workload/.
    """
    log = swf.read_log(path)
    if len(log.records.columns) < 21:
        found = f"{len(log.records.columns)} fields"
        raise swf.SWFError(f"{plain(Path(path).name)}: records of {found}, expected 21; read_swf reads other logs")
    nodes = log.records.iloc[:, 20].astype("str").str.extract(r"^[^:]+:[^:]+:([0-9]{1,7})x[0-9]+$")[0].astype("float64")
    sizes = dict.fromkeys(swf.SIZES, nodes.fillna(-1).astype("int64"))
    trace = from_log(
        replace(log, records=log.records.assign(**sizes)), log.name, "file", machine, "run", files=opened(path)
    )
    return replace(trace, history=("a processor is a node, as field 21 has them",))


def read_theta(path, *, machine: int = 4_392, time_zone: str | None = None) -> Trace:
    """Read a year of Theta, Mira or Polaris (ALCF): ``ANL-ALCF-DJC-THETA_20230101_20231231.csv.gz``.

    A processor is a node. Jobs that ended with status 0 are completed, all others failed. Theta's queues
    ``debug-cache-quad`` and ``debug-flat-quad`` have their own nodes:
    ``trace.where("queue not in ('debug-cache-quad', 'debug-flat-quad')").with_machine(4360)`` is the rest.

    Parameters
    ----------
    path : path
        The CSV file, gzipped or not.
    machine : int
        Nodes of the machine: 4,392 for Theta, 49,152 for Mira, 560 for Polaris.
    time_zone : str, optional
        Time zone of the dates, which the log does not state. Default: UTC.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"QUEUED_TIMESTAMP": "2023-01-01 08:00:00", "START_TIMESTAMP": "2023-01-01 08:30:00"}
    >>> job |= {"END_TIMESTAMP": "2023-01-01 09:30:00", "WALLTIME_SECONDS": 7200.0, "NODES_USED": 128.0}
    >>> job |= {"USERNAME_GENID": 5, "PROJECT_NAME_GENID": 8, "QUEUE_NAME": "default", "EXIT_STATUS": 0}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "theta.csv"), index=False)
    ...     trace = sl.read_theta(Path(folder, "theta.csv"), time_zone="America/Chicago")
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[1800, 3600, 7200, 128]]

    References
    ----------
    ALCF public data, https://reports.alcf.anl.gov/data/.
    """
    columns = {"submit": "QUEUED_TIMESTAMP", "start": "START_TIMESTAMP", "end": "END_TIMESTAMP"}
    columns |= {"estimate": "WALLTIME_SECONDS", "procs": "NODES_USED", "user": "USERNAME_GENID"}
    columns |= {"group": "PROJECT_NAME_GENID", "queue": "QUEUE_NAME"}
    frame = loaded(Path(path), [*columns.values(), "EXIT_STATUS", "NODES_REQUESTED", "MODE", "ELIGIBLE_WAIT_SECONDS"])
    if "EXIT_STATUS" in frame:
        exit_status = pd.to_numeric(frame["EXIT_STATUS"], errors="coerce")
        columns["status"] = (exit_status == 0).astype("boolean").where(exit_status.notna())
    return _trace(frame, path, columns, machine, "a processor is a node", time_zone=time_zone)


def read_cori(path, *, machine: int = 9_688, time_zone: str = "America/Los_Angeles") -> Trace:
    """Read a table of Cori (NERSC) with columns Job, Submit, Nodes Allocated and Elapsed Secs.

    A processor is a node. The log has neither start times nor limits: each job's estimate is its run time.

    Parameters
    ----------
    path : path
        The CSV file.
    machine : int
        Nodes of the machine: 9,688 of KNL, 2,388 of Haswell.
    time_zone : str
        Time zone of the dates, which the log does not state.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"Job": 7, "Submit": "2022-07-11 00:00:00", "Nodes Allocated": 2.0, "Elapsed Secs": 3600.0}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "knl.csv"), index=False)
    ...     trace = sl.read_cori(Path(folder, "knl.csv"))
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[-1, 3600, 3600, 2]]

    References
    ----------
    FuldaHPC/ElastisimFulda, ``scripts/csv_to_jobs.py``.
    """
    columns = {"submit": "Submit", "run": "Elapsed Secs", "procs": "Nodes Allocated", "job": "Job"}
    frame = loaded(Path(path), columns.values())
    return _trace(frame, path, columns, machine, "a processor is a node", time_zone=time_zone)


def read_kestrel(path, *, machine: int | None = None, procs_of: str = "nodes") -> Trace:
    """Read Slurm's records of Kestrel (NREL, 2023-2025), a Parquet file of ``esif.hpc.kestrel.job-anon``.

    In some partitions jobs may share nodes. If a job names several partitions, the first counts.

    Parameters
    ----------
    path : path
        The Parquet file, a folder of them as published, or a CSV file with its columns.
    machine : int, optional
        Size of the machine. There are 2,304 standard nodes of 104 cores, and other nodes.
    procs_of : {"nodes", "cpus"}
        Unit of jobs and machine.

    Returns
    -------
    Trace
        Jobs still waiting or running have no run time, and are omitted.

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"submit_time": "2024-02-19 16:17:31-07", "start_time": "2024-02-19 16:17:41-07"}
    >>> job |= {"end_time": "2024-02-19 17:17:41-07", "wallclock_req": "2:00:00", "nodes_used": 2}
    >>> job |= {"user_hash": "a1b2c3d", "account_hash": "fff0001", "qos": "normal", "state": "COMPLETED", "job_id": 1}
    >>> job |= {"processors_used": 208, "partition": "short,standard"}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "part-0.csv"), index=False)
    ...     trace = sl.read_kestrel(Path(folder, "part-0.csv"), machine=2_304)
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[10, 3600, 7200, 2]]
    >>> trace.names["partition"]
    {1: 'short'}

    References
    ----------
    Open Energy Data Initiative, submission 8643, https://data.openei.org/submissions/8643.
    """
    check_known("procs_of", procs_of, ("nodes", "cpus"))
    columns = {"submit": "submit_time", "start": "start_time", "end": "end_time", "estimate": "wallclock_req"}
    columns |= {"procs": {"nodes": "nodes_used", "cpus": "processors_used"}[procs_of], "user": "user_hash"}
    columns |= {"group": "account_hash", "queue": "qos", "partition": "partition", "status": "state", "job": "job_id"}
    frame = loaded(Path(path), [*columns.values(), "gpus_requested", "nodes_req", "processors_req", "array_pos"])
    if "partition" in frame:
        frame["partition"] = frame["partition"].astype(object).str.split(",").str[0]
    note = f"a processor is a {'node' if procs_of == 'nodes' else 'CPU'}"
    return _trace(frame, path, columns, machine, note, time_zone="America/Denver")


def read_philly(path, *, machine: int | None = None, time_zone: str = "America/Los_Angeles") -> Trace:
    """Read the deep learning jobs of Microsoft's Philly (2017): ``cluster_job_log``, a JSON file.

    A processor is a GPU. A job holds the GPUs of its first attempt, from the start of the first attempt to the end of
    the last. It has no limit, so its estimate is its run time. Queues are the virtual clusters.

    Parameters
    ----------
    path : path
        The JSON file.
    machine : int, optional
        GPUs of the machine.
    time_zone : str
        Time zone of the dates, which the log does not state.

    Returns
    -------
    Trace
        Jobs that never started have no run time, and are omitted.

    Examples
    --------
    One made-up job in the columns of the log:

    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> attempt = {"start_time": "2017-10-07 12:00:30", "end_time": "2017-10-07 12:10:30"}
    >>> attempt |= {"detail": [{"ip": "m0", "gpus": ["gpu0", "gpu1"]}]}
    >>> job = {"jobid": "application_1", "submitted_time": "2017-10-07 12:00:00", "attempts": [attempt]}
    >>> job |= {"status": "Pass", "vc": "ee9e8c", "user": "aaaaaa"}
    >>> with TemporaryDirectory() as folder:
    ...     written = Path(folder, "cluster_job_log").write_text(json.dumps([job]))
    ...     trace = sl.read_philly(Path(folder, "cluster_job_log"), machine=2_816)
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[30, 600, 600, 2]]

    References
    ----------
    Jeon et al., "Analysis of large-scale multi-tenant GPU clusters for DNN training workloads", USENIX ATC 2019;
    https://github.com/msr-fiddle/philly-traces.
    """
    file = plain(Path(path).name)
    opened(path)
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = [_philly_row(job) for job in listed]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise TableError(
            f"{file}: {type(error).__name__}: {error}; expected a JSON list of jobs as Philly has it"
        ) from None
    frame = pd.DataFrame(rows, columns=["jobid", "submit", "start", "end", "gpus", "user", "vc", "status"])
    columns = {role: role for role in ("submit", "start", "end", "user", "status")} | {"procs": "gpus", "queue": "vc"}
    return _trace(frame, path, columns, machine, "a processor is a GPU", time_zone=time_zone)


def _philly_row(job):
    attempts = job["attempts"]
    start, end, gpus = None, None, 0
    if attempts:
        start, end = attempts[0].get("start_time"), attempts[-1].get("end_time")
        gpus = sum(len(part["gpus"]) for part in attempts[0].get("detail") or ())
    return job["jobid"], job["submitted_time"], start, end, gpus, job["user"], job["vc"], job["status"]


def read_helios(path, *, machine: int | None = None, time_zone: str = "Asia/Shanghai") -> Trace:
    """Read a cluster of SenseTime's Helios (2020): ``cluster_log.csv`` of Earth, Saturn, Uranus or Venus.

    A processor is a GPU; jobs without GPUs are omitted. Jobs have no limit, so a job's estimate is its run time. Queues
    are the virtual clusters; the log's own column ``queue``, the wait in seconds, is not used. The machines grew over
    the months.

    Parameters
    ----------
    path : path
        The CSV file.
    machine : int, optional
        GPUs of the machine; at its largest, Venus had 1,264 and Earth 1,232.
    time_zone : str
        Time zone of the dates, which the log does not state.

    Returns
    -------
    Trace

    Examples
    --------
    One made-up job in the columns of the log:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import schedlab as sl
    >>> job = {"job_id": 1425511, "user": "uXBbc", "vc": "vcJkd", "gpu_num": 16, "cpu_num": 64, "node_num": 2}
    >>> job |= {"state": "COMPLETED", "submit_time": "2020-06-09 18:41:11", "start_time": "2020-06-09 18:42:11"}
    >>> job |= {"end_time": "2020-06-09 18:52:11", "duration": 600, "queue": 60}
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame([job]).to_csv(Path(folder, "cluster_log.csv"), index=False)
    ...     trace = sl.read_helios(Path(folder, "cluster_log.csv"), machine=1_264)
    >>> trace.jobs[["wait_time", "run_time", "requested_time", "requested_procs"]].to_numpy().tolist()
    [[60, 600, 600, 16]]

    References
    ----------
    Hu et al., "Characterization and prediction of deep learning workloads in large-scale GPU datacenters", SC 2021;
    https://github.com/S-Lab-System-Group/HeliosData.
    """
    columns = {"submit": "submit_time", "start": "start_time", "end": "end_time", "procs": "gpu_num"}
    columns |= {"user": "user", "queue": "vc", "status": "state", "job": "job_id"}
    frame = loaded(Path(path), [*columns.values(), "cpu_num", "node_num"])
    left_out = {NO_GPU: frame["gpu_num"] == 0} if "gpu_num" in frame else {}
    return _trace(frame, path, columns, machine, "a processor is a GPU", left_out, time_zone=time_zone)


def _trace(frame, path, columns, machine, note, left_out=None, **options):
    """Make a trace of a public log; further columns keep the names that they have in the log."""
    file = plain(Path(path).name)
    table = Table(frame, columns, file, range(1, len(frame) + 1), lenient=True, **options)
    for reason, rows in (left_out or {}).items():
        table.leave_out(np.asarray(rows), reason)
    trace = trace_of(table, file.removesuffix(".gz").rpartition(".")[0] or file, machine)
    return replace(trace, history=(*trace.history, note), files=opened(path))


RECIPES = {
    "pm100": read_pm100,
    "fdata": read_fdata,
    "frontier": read_frontier,
    "theta": read_theta,
    "cori": read_cori,
    "kestrel": read_kestrel,
    "philly": read_philly,
    "helios": read_helios,
}
