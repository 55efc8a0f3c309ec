"""A trace as a file: SWF, CSV and Parquet."""

import json
import re
from collections.abc import Sequence

import pandas as pd

from schedlab._runtime.paths import replacing
from schedlab._runtime.text import cell, check_known

from . import swf
from .edges import COUNTED
from .filter import in_one_line

HEADER = "schedlab_header"  # of a Parquet file: the lines of the header
TEXTS = "; Texts: "  # the last line above a table of CSV, if it has columns in which 007 and NA are texts
_COUNTS = re.compile(r";\s*(MaxJobs|MaxRecords|MaxProcs)\s*:", re.IGNORECASE)  # wrong for a changed trace


class Writing:
    def to_swf(self, path, further: Sequence[str] = ()) -> None:
        """Write the jobs as an SWF log, gzipped if the name ends in .gz; its header says what was done to them.

        It says, too, which columns SWF cannot keep.

        Parameters
        ----------
        path : path
            The file to write.
        further : list of str
            Columns to write as fields behind SWF's 18, such as ``["gpus", "account"]``; the header names them. Texts
            must be single words.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, seed=1).scale_load(0.8)
        >>> with TemporaryDirectory() as folder:
        ...     trace.to_swf(Path(folder, "scaled.swf.gz"))
        ...     again = sl.read_swf(Path(folder, "scaled.swf.gz"))
        >>> again.jobs["run_time"].equals(trace.jobs["run_time"])
        True
        """
        header = self.swf_header(further)
        records = self.table.reset_index()[[*swf.FIELDS, *header.further(self.table.columns)]]
        swf.write_log((header, records), path)

    def to_parquet(self, path) -> None:
        """Write the jobs as a Parquet file, which `read_table` reads back; needs pyarrow (``schedlab[parquet]``).

        All columns are kept, the size of the machine, its time zone, and the names of queues and partitions; those of
        users and groups are not.

        Parameters
        ----------
        path : path
            The file to write.
        """
        from pyarrow import Table, parquet

        table = Table.from_pandas(self.table)
        header = {HEADER.encode(): json.dumps(self.swf_header(self._further()).lines).encode()}
        parquet.write_table(table.replace_schema_metadata({**table.schema.metadata, **header}), path)

    def to_csv(self, path) -> None:
        """Write the jobs as CSV, below the lines of an SWF header, which `read_table` reads back.

        It keeps what `to_parquet` keeps. Text that a spreadsheet would take for a formula gets a leading ``'``.

        Parameters
        ----------
        path : path
            The file to write.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> import schedlab as sl
        >>> trace = sl.model_trace("lublin", jobs=100, machine=64, seed=1)
        >>> with TemporaryDirectory() as folder:
        ...     trace.to_csv(f"{folder}/jobs.csv")
        ...     again = sl.read_table(f"{folder}/jobs.csv")
        >>> again.procs, again.jobs.equals(trace.jobs)
        (64, True)
        """
        texts = [name for name, column in self.table.items() if pd.api.types.infer_dtype(column) == "string"]
        table = self.table.assign(**{name: self.table[name].map(cell) for name in texts})
        with replacing(path) as part, open(part, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(f"{line}\n" for line in self.swf_header(self._further()).lines)
            if texts := [name for name in texts if not table[name].isna().any()]:
                stream.write(f"{TEXTS}{json.dumps(texts)}\n")
            table.to_csv(stream)

    def _further(self):
        """Return the columns beyond SWF's, save that of a lead-in, which the header speaks of only where it is lost."""
        return [name for name in self.table.columns if name not in swf.FIELDS]

    def swf_header(self, further: Sequence[str] = ()) -> swf.Header:
        """Return the header to write: the log's own lines, and notes of what was done to the trace.

        Parameters
        ----------
        further : list of str
            Columns that are kept beside SWF's; the header says which others are not.
        """
        kept = [*self.header.further(self.table.columns)]
        for name in further:
            check_known("column", name, map(str, self._further()))
        added = [name for name in further if name not in kept]
        first = len(swf.FIELDS) + len(kept) + 1
        steps = [f"read by schedlab as {self.name} ({self.source})", *self.history]
        if repairs := in_one_line(self.repairs):
            steps.append(repairs)
        lost = [name for name in self._further() if name not in (*kept, *added)]
        if COUNTED in lost:
            lead = int((~self.counted()).sum())
            steps.append(f"SWF cannot say which {lead:,} of these jobs are a lead-in and do not count")
            lost.remove(COUNTED)
        if lost:
            steps.append(f"columns that SWF does not keep: {', '.join(map(str, lost))}")
        lines = [line for line in self.header.lines if not _COUNTS.match(line)]
        size = [f"; MaxRecords: {len(self)}", f"; MaxProcs: {self.procs}"]
        names = [f"; {number}: {name}" for number, name in enumerate(added, start=first)]
        return swf.Header((*lines, *size, *names, *(f"; Note: {step}" for step in steps)))
