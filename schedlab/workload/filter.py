"""The load filter: which records of a log can be simulated, and what is filled in where the log is silent.

The rules are those of published simulations on the archive's logs (Gaussier et al., SC 2015). Nothing disappears: a
record left out and a value filled in each give a row, with the reason, in the tables that `usable` returns beside the
jobs.
"""

import numpy as np
import pandas as pd

from schedlab.kernels.swf_text import EXACT

SIZES = ("requested_procs", "allocated_procs")
WHOLE = {"submit_time": np.floor} | dict.fromkeys(("run_time", "requested_time", *SIZES), np.ceil)
PARTIAL_EXECUTION = (2, 3, 4)


def usable(
    records: pd.DataFrame, procs: int, missing_estimate: str | float = "run"
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Keep the records that can be simulated and fill in what they lack.

    Parameters
    ----------
    records : DataFrame
        SWF columns, with job_number among them; -1 is unknown.
    procs : int
        Processors of the machine.
    missing_estimate : "run", "drop" or a number of seconds
        What to do with a record that has no requested time: take its run time, leave it out, or take the number.

    Returns
    -------
    jobs : DataFrame
        Index job_number, sorted by submit time (stable). Times are whole seconds, sizes whole processors:
        submit times rounded down, all others up, so that no work is lost. Requested and allocated
        processors both known and positive, requested time positive.
    dropped : DataFrame
        The records left out, with a first column "reason".
    repaired : DataFrame
        One row per value filled in or rounded: job_number (as in `jobs`), field, was, now, reason.
    """
    _check_missing_estimate(missing_estimate)
    part = _is_part(records)
    records, repairs = _numbered(records, part)
    left_out, reasons = _left_out(records, part, procs, missing_estimate == "drop")
    kept = records[~left_out].copy()

    for field, whole in WHOLE.items():
        if kept[field].dtype.kind == "f":
            rounded = whole(kept[field])
            repairs.append(_fill(kept, field, rounded != kept[field], rounded, "rounded to a whole number"))
            kept[field] = kept[field].astype("int64")
    size = _size(kept)
    for field in SIZES:
        repairs.append(_fill(kept, field, kept[field] <= 0, size, "not in the log; taken from the other size field"))
    unknown = kept["requested_time"] <= 0
    if missing_estimate == "run":
        repairs.append(_fill(kept, "requested_time", unknown, kept["run_time"], "no estimate; the run time is taken"))
    elif missing_estimate != "drop":
        given = pd.Series(int(np.ceil(missing_estimate)), index=kept.index)
        repairs.append(_fill(kept, "requested_time", unknown, given, "no estimate; the number given is taken"))

    jobs = kept.set_index("job_number").sort_values("submit_time", kind="stable")
    dropped = records[left_out].set_index("job_number")
    dropped.insert(0, "reason", pd.Series(reasons, index=dropped.index, dtype="str"))
    repaired = pd.concat([_no_repairs(), *(table for table in repairs if len(table))], ignore_index=True)
    return jobs, dropped, repaired


def _check_missing_estimate(given):
    if given in ("run", "drop") or (isinstance(given, int | float | np.number) and 0 < given < EXACT):
        return
    raise ValueError(f'missing_estimate is {given!r}, expected "run", "drop" or a positive number of seconds')


def _no_repairs():
    return pd.DataFrame(
        {
            "job_number": pd.Series(dtype="int64"),
            "field": pd.Series(dtype="str"),
            "was": pd.Series(dtype="float64"),
            "now": pd.Series(dtype="float64"),
            "reason": pd.Series(dtype="str"),
        }
    )


def _numbered(records, part):
    """Number the records anew where two share a job number and neither is a part of the other."""
    if not records["job_number"][~part].duplicated().any():
        return records, []
    renumbered = records.copy()
    number = pd.Series(np.arange(1, len(records) + 1), index=records.index)
    repair = _fill(renumbered, "job_number", number != records["job_number"], number, "job numbers were not unique")
    return renumbered, [repair]


def _is_part(records):
    """Tell which records are parts of a job that has a summary line too: same number, status 2, 3 or 4."""
    partial = records["status"].isin(PARTIAL_EXECUTION)
    if not partial.any():
        return partial
    return partial & records["job_number"].isin(records["job_number"][~partial])


def _size(records):
    return records["requested_procs"].where(records["requested_procs"] > 0, records["allocated_procs"])


def _left_out(records, part, procs, without_estimate):
    """Tell which records to leave out, and for each of these the first reason."""
    run, size = records["run_time"], _size(records)
    checks = [
        (part, "part of a job whose summary line is kept"),
        (records["submit_time"] < 0, "submit time unknown"),
        (run < 0, "run time unknown: never started, or not recorded"),
        (run == 0, "run time is 0"),
        (size <= 0, "number of processors unknown"),
        (size > procs, f"wider than the machine ({procs} processors)"),
    ]
    if without_estimate:
        checks.append((records["requested_time"] <= 0, "no estimate"))
    conditions, texts = zip(*checks, strict=True)
    first = np.select(conditions, range(len(texts)), default=len(texts))
    left_out = first < len(texts)
    return left_out, [texts[reason] for reason in first[left_out]]


def _fill(table, field, where, values, reason):
    """Put `values` into a column where asked, and give the rows that say so."""
    was = table[field]
    table[field] = was.where(~where, values)
    return pd.DataFrame(
        {
            "job_number": table.loc[where, "job_number"].to_numpy(),
            "field": field,
            "was": was[where].to_numpy(dtype="float64"),
            "now": table.loc[where, field].to_numpy(dtype="float64"),
            "reason": reason,
        }
    )
