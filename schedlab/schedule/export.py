"""Schedules as files: SWF, and the columns of Batsim."""

import numpy as np
import pandas as pd

from schedlab._runtime.text import cell
from schedlab.machine import KaryTree
from schedlab.workload import swf


class Exporting:
    def to_swf(self, path) -> None:
        """Write the simulated log as SWF: the trace's records with the simulated waits and run times.

        If sweeps ran in pieces, one record covers all pieces of a sweep: from the first start to the last end, rounded
        outwards to whole seconds, on the processors of the parallel job; a note in the header says so.

        Parameters
        ----------
        path : path
            The file to write, gzipped if its name ends in .gz.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> schedule = sl.simulate(sl.model_trace("lublin", jobs=100, seed=1), "easy")
        >>> with TemporaryDirectory() as folder:
        ...     schedule.to_swf(f"{folder}/simulated.swf.gz")
        ...     again = sl.recorded(sl.read_swf(f"{folder}/simulated.swf.gz"))
        >>> bool((again.start == schedule.start).all())
        True
        """
        table = self.jobs
        table["allocated_procs"] = table["procs"]
        nodes = f" on a {self.machine}" if isinstance(self.machine, KaryTree) else ""
        notes = [f"; Note: {self.scheme.origin}{nodes} (overrun {self.overrun})"]
        if self.outcome.estimate is not None:
            notes.append("; Note: run times are on the allocated processors, requested times on the requested ones")
        if self.outcome.in_pieces:
            start, end = np.floor(self.start).astype("int64"), np.ceil(self.end).astype("int64")
            table["wait_time"], table["run_time"] = start - self.submit, end - start
            notes.append("; Note: sweeps ran in pieces; a run time is from the first start to the last end of a job")
        simulated = swf.Header((*self.trace.swf_header().lines, *notes))
        swf.write_log((simulated, table.reset_index()[list(swf.FIELDS)]), path)

    def to_csv(self, path) -> None:
        """Write the schedule in the columns of Batsim's jobs file, which evalys reads too.

        Times are in seconds. The processors of a job are those of `allocations`, as intervals ("0-3 7"); if sweeps ran
        in pieces, all that the job held at this site at any time. A killed job does not count as a success. A name that
        a spreadsheet would read as a formula gets a ``'`` in front.

        Parameters
        ----------
        path : path
            The file to write.
        """
        jobs = self.jobs
        pd.DataFrame(
            {
                "job_id": jobs.index,
                "workload_name": cell(self.trace.name),
                "profile": "",
                "submission_time": jobs["submit_time"],
                "requested_number_of_resources": jobs["procs"],
                "requested_time": self.estimate,
                "success": (~jobs["killed"]).astype(int),
                "final_state": np.where(jobs["killed"], "COMPLETED_WALLTIME_REACHED", "COMPLETED_SUCCESSFULLY"),
                "starting_time": jobs["start_time"],
                "execution_time": jobs["end_time"] - jobs["start_time"],
                "finish_time": jobs["end_time"],
                "waiting_time": jobs["wait_time"],
                "turnaround_time": jobs["turnaround"],
                "stretch": jobs["slowdown"],
                "allocated_resources": self.allocations(),
                "consumed_energy": -1,
                "metadata": "",
            }
        ).to_csv(path, index=False)
