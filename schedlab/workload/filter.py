"""The load filter: which records of a log can be simulated, and what is filled in where the log is silent.

Follows PAPERS.md section 8. Nothing disappears: a record left out and a value filled in each give a row, with the
reason, in the tables that `usable` returns beside the jobs.
"""

import numpy as np
import pandas as pd

TIMES = {"submit_time": np.floor, "run_time": np.ceil, "requested_time": np.ceil}
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
        Index job_number, sorted by submit time (stable). Times are whole seconds: submit times rounded
        down, durations up, so that no work is lost. Requested and allocated processors both known and
        positive, requested time positive.
    dropped : DataFrame
        The records left out, with a first column "reason".
    repaired : DataFrame
        One row per value filled in or rounded: job_number, field, was, now, reason.
    """
    _check_missing_estimate(missing_estimate)
    records, repairs = _numbered(records)
    size = _known(records["requested_procs"], records["allocated_procs"])
    reasons = _reasons(records, size, procs, missing_estimate == "drop")
    kept = records[reasons == ""].copy()
    size = size[reasons == ""]

    for field in ("requested_procs", "allocated_procs"):
        repairs.append(_fill(kept, field, kept[field] <= 0, size, "not in the log; taken from the other size field"))
    for field, whole in TIMES.items():
        if kept[field].dtype.kind == "f":
            rounded = whole(kept[field])
            repairs.append(_fill(kept, field, rounded != kept[field], rounded, "rounded to a whole second"))
            kept[field] = kept[field].astype("int64")
    unknown = kept["requested_time"] <= 0
    if missing_estimate == "run":
        repairs.append(_fill(kept, "requested_time", unknown, kept["run_time"], "no estimate; the run time is taken"))
    elif missing_estimate != "drop":
        given = pd.Series(int(np.ceil(missing_estimate)), index=kept.index)
        repairs.append(_fill(kept, "requested_time", unknown, given, "no estimate; the number given is taken"))

    jobs = kept.set_index("job_number").sort_values("submit_time", kind="stable")
    dropped = records[reasons != ""].set_index("job_number")
    dropped.insert(0, "reason", reasons[reasons != ""].to_numpy())
    repaired = pd.concat([_no_repairs(), *(table for table in repairs if len(table))], ignore_index=True)
    return jobs, dropped, repaired


def _check_missing_estimate(given):
    if given in ("run", "drop") or (isinstance(given, int | float | np.number) and given > 0):
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


def _numbered(records):
    """Number the records anew where two share a job number and neither is a part of the other."""
    shared = records["job_number"].duplicated() & ~_is_part(records)
    if not shared.any():
        return records, []
    renumbered = records.copy()
    number = pd.Series(np.arange(1, len(records) + 1), index=records.index)
    repair = _fill(renumbered, "job_number", number != records["job_number"], number, "job numbers were not unique")
    return renumbered, [repair]


def _is_part(records):
    """Tell which records are parts of a job that has a summary line too: same number, status 2, 3 or 4."""
    return records["job_number"].duplicated() & records["status"].isin(PARTIAL_EXECUTION)


def _known(first, second):
    return first.where(first > 0, second)


def _reasons(records, size, procs, without_estimate):
    """Give for each record the first reason to leave it out, or an empty text."""
    run = records["run_time"]
    checks = [
        (_is_part(records), "part of a job whose summary line is kept"),
        (records["submit_time"] < 0, "submit time unknown"),
        (run < 0, "run time unknown: never started, or not recorded"),
        (run == 0, "run time is 0"),
        (size <= 0, "number of processors unknown"),
        (size > procs, f"wider than the machine ({procs} processors)"),
    ]
    if without_estimate:
        checks.append((records["requested_time"] <= 0, "no estimate"))
    conditions, texts = zip(*checks, strict=True)
    return pd.Series(np.select(conditions, texts, default=""), index=records.index)


def _fill(table, field, where, values, reason):
    """Put `values` into a column where asked, and give the rows that say so."""
    rows = table.loc[where]
    repair = pd.DataFrame(
        {
            "job_number": rows["job_number"].to_numpy(),
            "field": field,
            "was": rows[field].to_numpy(dtype="float64"),
            "now": values[where].to_numpy(dtype="float64"),
            "reason": reason,
        }
    )
    table[field] = table[field].where(~where, values)
    return repair
