"""Schedules as files: SWF, and the columns of Batsim."""

import numpy as np
import pandas as pd

from schedlab._runtime.text import cell
from schedlab.machine import KaryTree
from schedlab.workload import swf


def to_swf(schedule, path) -> None:
    """Write the simulated log as SWF; see `Schedule.to_swf`."""
    table = schedule.jobs
    table["allocated_procs"] = table["procs"]
    nodes = f" on a {schedule.machine}" if isinstance(schedule.machine, KaryTree) else ""
    notes = [f"; Note: {schedule.scheme.origin}{nodes} (overrun {schedule.overrun})"]
    if schedule.outcome.estimate is not None:
        notes.append("; Note: run times are on the allocated processors, requested times on the requested ones")
    if schedule.outcome.in_pieces:
        start, end = np.floor(schedule.start).astype("int64"), np.ceil(schedule.end).astype("int64")
        table["wait_time"], table["run_time"] = start - schedule.submit, end - start
        notes.append("; Note: sweeps ran in pieces; a run time is from the first start to the last end of a job")
    simulated = swf.Header((*schedule.trace.swf_header().lines, *notes))
    swf.write_log((simulated, table.reset_index()[list(swf.FIELDS)]), path)


def to_csv(schedule, path) -> None:
    """Write the schedule in the columns of Batsim's jobs file; see `Schedule.to_csv`."""
    jobs = schedule.jobs
    pd.DataFrame(
        {
            "job_id": jobs.index,
            "workload_name": cell(schedule.trace.name),
            "profile": "",
            "submission_time": jobs["submit_time"],
            "requested_number_of_resources": jobs["procs"],
            "requested_time": schedule.estimate,
            "success": (~jobs["killed"]).astype(int),
            "final_state": np.where(jobs["killed"], "COMPLETED_WALLTIME_REACHED", "COMPLETED_SUCCESSFULLY"),
            "starting_time": jobs["start_time"],
            "execution_time": jobs["end_time"] - jobs["start_time"],
            "finish_time": jobs["end_time"],
            "waiting_time": jobs["wait_time"],
            "turnaround_time": jobs["turnaround"],
            "stretch": jobs["slowdown"],
            "allocated_resources": schedule.allocations(),
            "consumed_energy": -1,
            "metadata": "",
        }
    ).to_csv(path, index=False)
