"""The load filter: which records of a log can be simulated, and how missing values are filled in.

The rules are those of published simulations on the archive's logs (Gaussier et al., SC 2015). Nothing disappears: each
omitted record and each filled-in value has a row, with the reason, in the tables that `usable` returns beside the jobs.
`account` counts these rows by reason, and separates what is common in logs from what deserves a look.
"""

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab._runtime.remarks import SchedlabWarning
from schedlab._runtime.text import plain, spelt
from schedlab.kernels.swf_text import EXACT

from .copies import LAZY, copied

SIZES = ("requested_procs", "allocated_procs")
WHOLE = {"submit_time": np.floor} | dict.fromkeys(("run_time", "requested_time", *SIZES), np.ceil)
WITH_AREA = ("run_time", "requested_procs")  # a job's work is their product
PARTIAL_EXECUTION = (2, 3, 4)
CANCELLED = 5

PART = "part of a job whose summary line is kept"
NO_SUBMISSION = "submit time unknown"
NO_RUN_TIME = "run time unknown: never started, or not recorded"
NO_TIME = "run time is 0"
NO_SIZE = "number of processors unknown"
TOO_WIDE = "wider than the machine"  # followed by its size
NO_ESTIMATE = "no estimate"
ROUNDED = "rounded to a whole number"
OTHER_SIZE = "not in the log; taken from the other size field"
RUN_TAKEN = "no estimate; the run time is taken"
NUMBER_TAKEN = "no estimate; the number given is taken"
SHARED_NUMBERS = "job numbers were not unique"
BAD_LINE = "line "  # followed by its number and what is wrong with it
BAD_ROW = "row "  # of a table; followed by the same

# Reasons of `schedlab.workload.sacct`.
STEP = "a step of a job, not a job"
NOISE = "a message of a tool, not a record"
GIVEN_TWICE = "given twice: same job, submission and start"
OTHER_PARTITION = "not of partition"  # followed by its name
OTHER_CLUSTER = "not of cluster"  # followed by its name
WAITING = "still waiting when the record was made"
CANCELLED_EARLY = "cancelled before it started"
NEVER_STARTED = "never started"
RUNNING = "still running when the record was made"
UNREADABLE = "cannot be read; taken for unknown"
INTERRUPTED = "interrupted, and run again or deleted: its end is not recorded"
ARRAY = "an array as a whole, whose tasks are the jobs"
SEVERAL_RUNS = "several runs, or tasks, under one number; the last keeps it"

# Reasons of `schedlab.workload.public`.
NO_GPU = "asks for no GPU, and the machine is counted in GPUs"

KINDS = USUAL, LOOK = ("usual", "worth a look")
FEW = 0.01  # of the jobs, since even good logs lack something for so many; and of the work, since less is negligible
# Records that are no lost work: no jobs of their own, or left out as asked.
NO_WORK = (PART, STEP, ARRAY, NOISE, GIVEN_TWICE, OTHER_PARTITION, OTHER_CLUSTER, NO_GPU)
UNENDED = (RUNNING, INTERRUPTED)  # runs that are never kept, though another run of the same job may be
WITH_WORK = (NO_SUBMISSION, TOO_WIDE, NO_ESTIMATE)  # jobs that ran and whose work is omitted


class LoadWarning(SchedlabWarning):
    """A load is probably not the one that was meant.

    Either it is so high that a percentage was meant, or more than 1 % of the work was left out as a trace was loaded or
    put on another machine.
    """


class Meaning(NamedTuple):
    """How to present a reason: its kind (None: usual only if it affects few jobs), and words for one line."""

    kind: str | None
    noun: str
    rest: str


NEVER_RAN = Meaning(USUAL, "job", "cancelled before the start (left out)")
# By table, field of a repair, and beginning of the reason. Reasons that are not listed are worth a look.
MEANINGS = {
    ("dropped", "", PART): Meaning(USUAL, "part", "of jobs kept as a whole (left out)"),
    ("dropped", "", NO_SUBMISSION): Meaning(LOOK, "record", "without a submit time (left out)"),
    ("dropped", "", NO_RUN_TIME): Meaning(None, "record", "without a run time (left out)"),
    ("dropped", "", NO_TIME): Meaning(USUAL, "job", "of 0 s (left out)"),
    ("dropped", "", NO_SIZE): Meaning(None, "record", "without a number of processors (left out)"),
    ("dropped", "", TOO_WIDE): Meaning(LOOK, "job", "wider than the machine (left out)"),
    ("dropped", "", NO_ESTIMATE): Meaning(None, "job", "without an estimate (left out, as asked)"),
    ("dropped", "", BAD_LINE): Meaning(LOOK, "line", "that could not be read (left out)"),
    ("dropped", "", BAD_ROW): Meaning(LOOK, "row", "that could not be read (left out)"),
    ("dropped", "", STEP): Meaning(USUAL, "step", "of jobs (left out: no jobs themselves)"),
    ("dropped", "", NOISE): Meaning(USUAL, "line", "with a message of a tool (left out: no record)"),
    ("dropped", "", GIVEN_TWICE): Meaning(USUAL, "record", "given twice (left out once)"),
    ("dropped", "", OTHER_PARTITION): Meaning(USUAL, "job", "of other partitions (left out, as asked)"),
    ("dropped", "", OTHER_CLUSTER): Meaning(USUAL, "job", "of other clusters (left out, as asked)"),
    ("dropped", "", WAITING): Meaning(USUAL, "job", "still waiting (left out)"),
    ("dropped", "", CANCELLED_EARLY): NEVER_RAN,
    ("dropped", "", NEVER_STARTED): Meaning(USUAL, "job", "that never started (left out)"),
    ("dropped", "", RUNNING): Meaning(None, "job", "still running (left out)"),
    ("dropped", "", INTERRUPTED): Meaning(None, "run", "interrupted, without an end (left out)"),
    ("dropped", "", ARRAY): Meaning(USUAL, "record", "of an array as a whole (left out: its tasks are jobs)"),
    ("dropped", "", NO_GPU): Meaning(USUAL, "job", "without GPUs (left out)"),
    ("repaired", "", UNREADABLE): Meaning(LOOK, "value", "that cannot be read (taken for unknown)"),
    ("repaired", "job_number", SEVERAL_RUNS): Meaning(USUAL, "record", "numbered anew (other runs of a job)"),
    ("repaired", "job_number", SHARED_NUMBERS): Meaning(LOOK, "record", "numbered anew (numbers were not unique)"),
    ("repaired", SIZES[0], OTHER_SIZE): Meaning(USUAL, "job", "without requested processors (allocated taken)"),
    ("repaired", SIZES[1], OTHER_SIZE): Meaning(USUAL, "job", "without allocated processors (requested taken)"),
    ("repaired", "requested_time", RUN_TAKEN): Meaning(None, "job", "without an estimate (run time taken)"),
    ("repaired", "requested_time", NUMBER_TAKEN): Meaning(None, "job", "without an estimate (the number given taken)"),
    **{("repaired", field, ROUNDED): Meaning(USUAL, "time", "rounded to a whole second") for field in WHOLE},
    **{("repaired", field, ROUNDED): Meaning(None, "number", "of processors rounded up") for field in SIZES},
}


def usable(
    records: pd.DataFrame, procs: int, missing_estimate: str | float = "run", spare: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Keep the records that can be simulated on `procs` processors, fill in missing values, and return three tables.

    Records have SWF columns, with job_number among them; -1 means unknown. `missing_estimate` is as in `read_swf`. With
    `spare`, the columns are removed from `records` as they are used, so that memory does not hold a second table.

    - The jobs: index job_number, sorted by submit time (stable). Times are whole seconds and sizes whole processors:
      submit times are rounded down, all others up, so that no work is lost. Requested and allocated processors are
      known and positive, and so is the requested time.
    - The omitted records, with a first column "reason".
    - A row per value that was filled in or rounded: job_number (as in the jobs), field, was, now, reason.
    """
    check_missing_estimate(missing_estimate)
    records = records if spare and LAZY else copied(records)  # below pandas 3.0 it may share data with another table
    part = _is_part(records)
    repairs = _renumber(records, part)
    left_out, reasons = _left_out(records, part, procs, missing_estimate == "drop")
    dropped = records[left_out].set_index("job_number")
    dropped.insert(0, "reason", pd.Series(reasons, index=dropped.index, dtype="str"))

    kept = ~left_out
    for field, whole in WHOLE.items():
        if records[field].dtype.kind == "f":
            rounded = whole(records[field].where(kept, 0))  # omitted records may have invalid values
            repairs += _fill(records, field, kept & (rounded != records[field]), rounded, ROUNDED)
            records[field] = records[field].where(kept, 0).astype("int64")
    size = _size(records)
    for field in SIZES:
        repairs += _fill(records, field, kept & (records[field] <= 0), size, OTHER_SIZE)
    unknown = kept & (records["requested_time"] <= 0)
    if missing_estimate == "run":
        repairs += _fill(records, "requested_time", unknown, records["run_time"], RUN_TAKEN)
    elif missing_estimate != "drop":
        number = pd.Series(int(np.ceil(missing_estimate)), index=records.index)
        repairs += _fill(records, "requested_time", unknown, number, NUMBER_TAKEN)
    repaired = pd.concat([_no_repairs(), *repairs], ignore_index=True)
    return _in_order(records, kept), dropped, repaired


def _in_order(records, kept):
    """Return the kept records in order of submission; if a copy is needed, empty the given table of its columns."""
    submit = records["submit_time"].to_numpy()
    submit = submit if kept.all() else submit[kept]
    in_order = not (submit[1:] < submit[:-1]).any()
    if in_order and len(submit) == len(records):
        return records.set_index("job_number")
    place = np.flatnonzero(kept)
    if not in_order:
        place = place[np.argsort(submit, kind="stable")]
    del submit
    index = pd.Index(records.pop("job_number").to_numpy()[place], name="job_number")
    return pd.DataFrame({name: records.pop(name).take(place).set_axis(index) for name in list(records)}, copy=False)


def check_missing_estimate(rule) -> None:
    """Raise ValueError if this is not a valid rule for jobs without an estimate."""
    if rule not in ("run", "drop") and not (isinstance(rule, int | float | np.number) and 0 < rule < EXACT):
        raise ValueError(f'missing_estimate is {spelt(rule)}, expected "run", "drop" or a positive number of seconds')


def _no_repairs():
    types = {"job_number": "int64", "field": "str", "was": "float64", "now": "float64", "reason": "str"}
    return pd.DataFrame({name: pd.array([], dtype=kind) for name, kind in types.items()})


def _renumber(records, part):
    """Renumber the records if two share a job number and neither is a part of the other."""
    numbers = records["job_number"]
    if not part.any() and (np.diff(numbers.to_numpy()) > 0).all():  # a quick test that nearly all logs pass
        return []
    if not numbers[~part].duplicated().any():
        return []
    number = pd.Series(np.arange(1, len(records) + 1), index=records.index)
    return _fill(records, "job_number", number != numbers, number, SHARED_NUMBERS)


def _is_part(records):
    """Tell which records are parts of a job that also has a summary line: same number, status 2, 3 or 4."""
    partial = records["status"].isin(PARTIAL_EXECUTION)
    if not partial.any():
        return partial
    return partial & records["job_number"].isin(records["job_number"][~partial])


def _size(records):
    requested = records["requested_procs"]
    # Not `Series.where`: below pandas 3.0 it converts whole floats to integers, and warns.
    return pd.Series(np.where(requested > 0, requested, records["allocated_procs"]), index=records.index)


def _left_out(records, part, procs, without_estimate):
    """Tell which records to omit, and the first reason for each of them."""
    run = records["run_time"]
    size = _size(records)
    checks = [
        (part, PART),
        (records["submit_time"] < 0, NO_SUBMISSION),
        (run < 0, NO_RUN_TIME),
        (run == 0, NO_TIME),
        (size <= 0, NO_SIZE),
        (size > procs, f"{TOO_WIDE} ({procs} processors)"),
    ]
    if without_estimate:
        checks.append((records["requested_time"] <= 0, NO_ESTIMATE))
    conditions, texts = zip(*checks, strict=True)
    first = np.select(conditions, range(len(texts)), default=len(texts))
    left_out = first < len(texts)
    return left_out, [texts[reason] for reason in first[left_out]]


def _fill(table, field, where, values, reason):
    """Put `values` into a column where asked, and return a list of one table of repairs, or of none."""
    if not where.any():
        return []
    was = table[field]
    table[field] = was.where(~where, values)
    numbers = table.loc[where, "job_number"].to_numpy()
    return [repairs_of(numbers, field, was[where], table.loc[where, field], reason)]


def repairs_of(numbers: np.ndarray, field: str, was, now, reason: str) -> pd.DataFrame:
    """Make the table of the values of a field that were changed for one reason: see `usable`."""
    columns = {"was": np.asarray(was, "float64"), "now": np.asarray(now, "float64"), "reason": reason}
    return pd.DataFrame({"job_number": numbers, "field": field} | columns)


def account(
    dropped: pd.DataFrame, repaired: pd.DataFrame, work: pd.Series, modelled: bool = False, procs: int | None = None
) -> pd.DataFrame:
    """Add up omitted records and filled-in values by reason, and tell the usual reasons from those worth a look.

    A reason is usual in three cases: it cannot change a schedule, such as a filled-in size that nothing reads; the
    records are not jobs that ran; or it affects at most a hundredth of the work (where that is unknown, of the jobs).
    Every other reason is worth a look: work is missing, or numbers are guesses.

    `dropped` and `repaired` are as in `usable`, or with a reader's own reasons. `work` has the processor-seconds of the
    jobs kept when the log was read; index job_number. `modelled` jobs have only the fields that a model needs. `procs`
    is the size of the machine.

    Return a row per reason, those worth a look first, then by decreasing work: table ("dropped" or "repaired"), field
    (of repairs), reason (bad lines count as one), kind ("worth a look" or "usual"), count, work (processor-seconds),
    share (of the work of all jobs, nan if it is not part of that), and words for people.
    """
    lost = work_of(dropped, work) if len(dropped) else pd.Series(dtype="float64")
    total = float(work.sum() + lost[~lost.index.isin(work.index)].sum()) or 1.0
    rows = []
    for key, places, meaning in _reasons(dropped) if len(dropped) else ():
        amount = lost.iloc[places].sum()
        count = len(places)
        share = amount / total
        unknown = int((lost.iloc[places] == 0).sum())  # of which the work is unknown, so that their number counts
        kind = LOOK if share > FEW else meaning.kind or (USUAL if unknown <= FEW * len(work) else LOOK)
        extra = [f"{100 * share:.3g} % of the work"] if share > FEW else []
        if key[2] == RUNNING and procs:
            held = _size(dropped.iloc[places]).clip(lower=0).sum() / procs
            extra += [f"{_percent(held)} % of the machine at the end of the log"] if held > FEW else []
        rest = f"{meaning.rest.removesuffix(')')}{''.join(f', {part}' for part in extra)})"
        sentence = f"{count:,} {meaning.noun}{'s' * (count != 1)} {rest}"
        rows.append((*key, kind, count, amount, np.nan if key[2] in NO_WORK else share, sentence))
    for (field, reason), values in repaired.groupby(["field", "reason"]) if len(repaired) else ():
        meaning = _meaning("repaired", field, reason)
        amounts = work.reindex(values["job_number"]).fillna(0).to_numpy("float64")
        if reason == ROUNDED:  # what it adds
            added = 1 - values["was"] / values["now"] if field in WITH_AREA else pd.Series(0.0, values.index)
            amounts = amounts * added.to_numpy()
        amount = amounts.sum()
        count = len(values)
        share = amount / total
        kind = meaning.kind or (USUAL if (share if amount else count / max(len(work), 1)) <= FEW else LOOK)
        kind = LOOK if reason == ROUNDED and share > FEW else kind
        if modelled and reason in (OTHER_SIZE, RUN_TAKEN):
            kind = USUAL
        whole = count == len(work) > 1
        rest = meaning.rest
        if kind == LOOK and amount and (reason == ROUNDED or not whole):
            percent = f"{100 * share:.3g} % of the work)"
            rest = f"{rest[:-1]}, {percent}" if rest.endswith(")") else f"{rest} ({percent}"
        sentence = f"{'all ' * whole}{count:,} {meaning.noun}{'s' * (count != 1)} {rest}"
        rows.append(("repaired", field, reason, kind, count, amount, share, sentence))
    rows.sort(key=lambda row: (-KINDS.index(row[3]), -np.nan_to_num(row[6]), -row[4]))
    types = {"table": "str", "field": "str", "reason": "str", "kind": "str", "count": "int64"}
    types |= {"work": "float64", "share": "float64", "words": "str"}
    return pd.DataFrame(rows, columns=list(types)).astype(types)


def in_one_line(accounted: pd.DataFrame) -> str:
    """Summarize what `account` returns; an empty string if nothing was omitted or filled in."""
    look = _listed(accounted[accounted["kind"] == LOOK], 4)
    usual = _listed(accounted[accounted["kind"] == USUAL], 2)
    if look:
        return f"worth a look: {look}" + (f"; usual: {usual}" if usual else "")
    return f"nothing to worry about: {usual}" if usual else ""


def _listed(rows, most):
    """List the words of the first rows, and the total count of the others."""
    rest = int(rows["count"].iloc[most:].sum())
    return ", ".join([*rows["words"].iloc[:most], *[f"{rest:,} more"] * (rest > 0)])


def work_of(dropped: pd.DataFrame, work: pd.Series | None = None) -> pd.Series:
    """Return the processor-seconds of records that are left out, 0 if they are no jobs or are left out as asked.

    Of jobs that still run, it is what they have done so far. `work` has that of jobs when the log was read, which
    counts; index job_number.
    """
    area = (dropped["run_time"].clip(lower=0) * _size(dropped).clip(lower=0)).astype("float64")
    if work is not None:
        known = work.reindex(dropped.index).astype("float64")
        area = known.where(known.notna() & ~dropped["reason"].isin(UNENDED), area)
    return area.where(~dropped["reason"].str.startswith(NO_WORK), 0.0)


def with_work(table: pd.DataFrame, work: pd.Series) -> pd.DataFrame:
    """Return the records left out, or the values filled in, with a column of the work of each of these jobs."""
    if "reason" not in table or ("work" in table and not table["work"].isna().any()):
        return table
    table = table.drop(columns="work", errors="ignore")
    if "job_number" in table:
        return table.assign(work=work.reindex(table["job_number"]).fillna(0).to_numpy("float64"))
    table.insert(1, "work", work_of(table, work))
    return table


def warn_of_lost_work(name: str, dropped: pd.DataFrame, kept: pd.DataFrame, stacklevel: int) -> str:
    """Warn if jobs with more than 1 % of the work are left out, and say how much; else return an empty text."""
    if dropped.empty:
        return ""
    lost = work_of(dropped)
    total = area(kept).sum() + lost.sum()
    lost = lost[dropped["reason"].str.startswith(WITH_WORK)]
    work = lost.sum()
    if work <= FEW * total:
        return ""
    counts = dropped["reason"].value_counts().to_dict()
    lacking = [reason for reason in counts if reason.startswith(WITH_WORK)]
    reasons = "; ".join(f"{counts[reason]:,} job{'s' * (counts[reason] != 1)}: {reason}" for reason in lacking)
    share = f"{100 * work / total:.3g} % of the work left out"
    message = f"{plain(str(name))}: {share} ({work:,.0f} processor-seconds; {reasons})"
    warnings.warn(message, LoadWarning, stacklevel=stacklevel)
    return share


def area(jobs: pd.DataFrame) -> pd.Series:
    """Return run time x processors of each job."""
    return jobs["run_time"] * jobs["requested_procs"]


def _percent(share):
    return f"{100 * share:,.0f}" if share >= 1 else f"{100 * share:.3g}"


def _reasons(dropped: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], np.ndarray, Meaning]]:
    """Yield (table, field, reason), the rows and the meaning of each reason to omit records."""
    reasons = dropped["reason"].to_numpy()
    bad = {begin: np.char.startswith(reasons.astype(str), begin) for begin in (BAD_LINE, BAD_ROW)}
    for begin, rows in bad.items():  # each has its own wording, but all count as one reason
        if rows.any():
            yield ("dropped", "", f"the {begin}is bad"), np.flatnonzero(rows), MEANINGS["dropped", "", begin]
    rest = pd.Series(np.flatnonzero(~np.any([*bad.values()], axis=0)))
    for reason, places in rest.groupby(reasons[rest], sort=False) if len(rest) else ():
        key = ("dropped", "", reason)
        rows = places.to_numpy()
        if reason == NO_RUN_TIME:
            never = (dropped["status"].iloc[rows] == CANCELLED).to_numpy()
            if never.any():
                yield key, rows[never], NEVER_RAN
            rows = rows[~never]
        if len(rows):
            yield key, rows, _meaning(*key)


def _meaning(table, field, reason):
    for key, meaning in MEANINGS.items():
        if key[:2] in ((table, field), (table, "")) and reason.startswith(key[2]):
            return meaning
    if table == "dropped":
        return Meaning(LOOK, "record", f"left out ({reason})")
    return Meaning(LOOK, "value", f"of {field} changed ({reason})")
