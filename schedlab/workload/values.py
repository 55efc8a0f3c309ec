"""The values of a `Column`, as numbers: instants, durations, sizes, GPUs, memory, names, states, numbers of jobs.

Each function returns float64 of shape (n_rows,), nan where a value is unknown, if it says nothing else.
"""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from . import fields, swf
from .tables import Column

NOTHING = (*fields.NO_VALUE, "nan", "nat", "null", "\\n", "<na>", "-1")  # texts that mean unknown
OFFSET = r".*[0-9]:[0-9]{2}[0-9:.]* ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)"  # a time with its time zone
A_TIME = "a time like 2024-03-01 12:00:00, or seconds (pd.to_datetime(..., format=...) reads others)"
A_LENGTH = f"seconds, or {fields.A_DURATION}"
NO_LIMIT = (2**32 - 1, 2**32 - 2)  # Slurm's INFINITE and NO_VAL
# A job's number in Slurm's forms: 7, 7_4, 7_[5-9%2], 7+1; then the step.
JOB = re.compile(r"([0-9]{1,15})(?:_(?:[0-9]+|\[[^]]*\]?)|\+[0-9]+)?(\..+)?")
A_STEP = r"[0-9]+(?:_[0-9]+|\+[0-9]+)?\.(?:batch|extern|interactive|[0-9]+)"  # 123.batch, 123_4.0; 1.5e6 is none
_IN_WORDS = re.compile(r"(?!.*[0-9],[0-9]).*[a-zA-Z].*")  # 2 days, 1h 30min; no number with a comma
A_NUMBER = r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?"
SWF_STATES = range(-1, 6)
EXIT_CODES = "SWF's 1 (completed), 0 (failed) or 5 (cancelled), or Slurm's; of exit codes make True where they are 0"


class Instants(NamedTuple):
    """Seconds; the later ones differ where the clocks showed a time twice.

    `dated`: from dates, not from numbers; `local`: these have no time zone of their own.
    """

    early: np.ndarray
    late: np.ndarray
    dated: bool = False
    local: bool = False


def instants(column: Column) -> Instants:
    """Read instants, on the clock that they are given in, or since 1970."""
    series = column.series
    if pd.api.types.is_datetime64_any_dtype(series):
        dates = pd.DatetimeIndex(series)
        return Instants(*_since_1970(column, dates), dated=True, local=dates.tz is None)
    if pd.api.types.is_timedelta64_dtype(series):
        seconds = _seconds(series)
    elif is_numeric(series):
        seconds = numbers(column)
    else:
        return _instants_of_texts(column)
    return Instants(seconds, seconds)


def _instants_of_texts(column):
    """Read dates and seconds from text, each distinct one once; of dates either all or none must have a time zone."""
    codes, texts = _distinct(column)
    seconds = _number(texts) * column.unit
    known = (texts != "") & np.isnan(seconds)
    if not known.any():
        seconds = seconds[codes]
        return Instants(seconds, seconds)
    with_zone = pd.Series(texts, dtype=object).str.fullmatch(OFFSET).to_numpy(bool)
    zoned = with_zone[known][0]
    other = known & (with_zone != zoned)
    iso = pd.Series(np.where(known & ~other, texts, None), dtype=object)
    iso = iso.str.replace(r" ?UTC$", "Z", regex=True) if zoned else iso
    dates = pd.DatetimeIndex(pd.to_datetime(iso, format="ISO8601", errors="coerce", utc=zoned))
    early, late = _since_1970(column, dates, codes)
    column.refuse((known & dates.isna() & ~other)[codes], A_TIME)
    column.refuse(other[codes], f"a time {'with' if zoned else 'without'} a time zone, like those before")
    read = (np.where(np.isnan(seconds), instants, seconds)[codes] for instants in (early, late))
    return Instants(*read, dated=True, local=not zoned)


def _since_1970(column, dates, codes=slice(None)):
    """Convert dates to seconds since 1970; those without a time zone are in the table's, and may mean two instants."""
    zone = column.table.zone
    early = fields.since_1970(dates, zone)
    column.refuse((np.isnan(early) & ~dates.isna())[codes], fields.shown_by(zone))
    late = early if dates.tz is not None or zone.key == "UTC" else fields.since_1970(dates, zone, fold=1)
    return early, late


def durations(column: Column) -> np.ndarray:
    """Read durations, in seconds."""
    series = column.series
    if pd.api.types.is_timedelta64_dtype(series):
        lengths = _seconds(series)
    elif pd.api.types.is_datetime64_any_dtype(series):
        column.refuse_all("a duration; dates go to start and end")
        lengths = np.full(len(series), np.nan)
    else:
        lengths = numbers(column, _duration, A_LENGTH, unknown=NO_LIMIT)
    bad = (lengths < 0) | (lengths > fields.LATEST)
    column.refuse(lengths < 0, "0 or more, or -1 for unknown")
    column.refuse(lengths > fields.LATEST, "seconds that a job can last")
    return np.where(bad, np.nan, lengths)


def _duration(text):
    """Read a duration in the form of Slurm or pandas."""
    try:
        return fields.duration(text)
    except ValueError:
        if not _IN_WORDS.fullmatch(text):  # of 3,600 and 60,5 pandas makes nanoseconds
            raise
        length = pd.to_timedelta(text, errors="coerce") / pd.Timedelta(1, "s")
        if np.isnan(length):
            raise
        return length


def _seconds(lengths):
    return (lengths / pd.Timedelta(1, "s")).to_numpy("float64", na_value=np.nan)


def sizes(column: Column) -> np.ndarray:
    """Read numbers of processors or nodes; 0 means none yet."""
    amounts = numbers(column)
    expected = f"a number up to {fields.MOST_PROCS:,}, or -1 for unknown"
    column.refuse((amounts < 0) | (amounts > fields.MOST_PROCS), expected)
    return np.where(amounts == 0, np.nan, amounts)


def gpus(column: Column) -> np.ndarray:
    """Read numbers of GPUs: plain ones, or those in a TRES or GRES (see `fields.gpus`)."""
    amounts = numbers(column, fields.gpus)
    column.refuse(amounts > fields.MOST_PROCS, f"a number up to {fields.MOST_PROCS:,}")  # Slurm's NO_VAL, for example
    return np.where((amounts < 0) | (amounts > fields.MOST_PROCS), np.nan, amounts)


def whole_gpus(column: Column) -> np.ndarray:
    """Read numbers of GPUs as processors: a part of one counts as one."""
    return np.ceil(gpus(column))


def whole(amounts: np.ndarray) -> np.ndarray:
    """Return numbers as int64 if all of them are whole."""
    return amounts.astype("int64") if (amounts % 1 == 0).all() else amounts


def memory(column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Read amounts of memory in KB, of which numbers are MB; and what each is for: "c" a CPU, "n" a node, "" a job."""
    codes, texts = _distinct(column)
    amounts, problems = fields.parsed(texts, fields.kilobytes)
    column.refuse((problems != "")[codes], fields.A_MEMORY)
    return amounts[codes], np.array([text[-1:].lower() for text in texts], dtype="str")[codes]


def numbers(column: Column, parse=fields.count, expected: str = "a number", unknown: tuple = ()) -> np.ndarray:
    """Read numbers, in their unit; of a text that is no number, the value that `parse` reads in it."""
    series = column.series
    if is_numeric(series):
        amounts = series.to_numpy("float64", na_value=np.nan)
        column.refuse(np.isinf(amounts), "a number")
        return np.where((amounts == -1) | np.isin(amounts, unknown), np.nan, amounts) * column.unit
    codes, texts = _distinct(column)
    texts[np.isin(_number(texts), unknown)] = ""
    amounts, problems = fields.parsed(texts, parse, most=lambda distinct: _number(distinct) * column.unit)
    if (problems != "").any():
        scaled = [text for text in texts[problems != ""][:1] if text[-1:] in "KMG"]
        column.refuse((problems != "")[codes], f"{expected}{' (run sacct with --noconvert)' if scaled else ''}")
    return amounts[codes]


def _number(texts):
    return pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy("float64", copy=True)


def is_numeric(values: pd.Series) -> bool:
    return pd.api.types.is_any_real_numeric_dtype(values)


def _distinct(column):
    """Return the distinct texts of a column, without blanks around them, empty if unknown; and which each row has."""
    if pd.api.types.is_bool_dtype(column.series):
        column.refuse_all("a number")
    codes, distinct = pd.factorize(column.series, use_na_sentinel=False)
    texts = as_text(pd.Series(distinct, dtype=distinct.dtype))
    return codes, texts.where(~texts.str.lower().isin(NOTHING), "").to_numpy(object, copy=True)


def narrowed(series: pd.Series) -> pd.Series:
    """Return texts as numbers if all of them are numbers, as of a log that is text; unknown ones stay texts."""
    if is_numeric(series) or not series.str.fullmatch(A_NUMBER).all():
        return series
    return pd.to_numeric(series)


def as_text(values: pd.Series) -> pd.Series:
    """Return values as texts without blanks around them, empty where they are missing; whole numbers without a .0."""
    if isinstance(values.dtype, pd.StringDtype):
        return values.fillna("").str.strip()
    return values.astype(object).map(_text_of, na_action="ignore").astype(object).where(values.notna(), "").str.strip()


def _text_of(value):
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def names(column: Column) -> tuple[np.ndarray, dict[int, str]]:
    """Read the user, group or the like of each job; return its number, and the names, if any."""
    series = column.series
    if not is_numeric(series):
        return fields.numbered(as_text(series))
    codes = series.to_numpy("float64", na_value=np.nan)
    codes = np.where(codes < 0, np.nan, codes)
    wrong = ~np.isnan(codes) & ((codes != np.floor(codes)) | (codes >= swf.EXACT))
    column.refuse(wrong, "a name or a whole number below 2^53")
    return np.where(wrong, np.nan, codes), {}


def states(column: Column) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Read how jobs ended: states by name, object, and SWF's codes; and texts that are not known.

    A name is one of `fields.STATES`, empty if unknown; of SWF's codes all are empty. Numbers are SWF's or Slurm's: it
    is an error if that is not said and cannot be told.
    """
    series = column.series
    codes, distinct = pd.factorize(series, use_na_sentinel=False)
    distinct = pd.Series(np.asarray(distinct, dtype=object), dtype=object)
    if pd.api.types.is_bool_dtype(series):
        texts = distinct.astype(object).map({True: "COMPLETED", False: "FAILED"}).fillna("")
    else:
        texts = as_text(distinct)
        texts = texts.where(~texts.str.lower().isin(NOTHING) | (texts == "-1"), "")
        coded = _number(texts)
        if ((known := ~np.isnan(coded)) | (texts == "")).all() and known.any():
            if _of_swf(column, coded, codes):
                return np.full(len(series), "", dtype=object), np.where(known, coded, -1.0)[codes], []
            texts = pd.Series(coded).map(dict(enumerate(fields.NUMBERED)) | fields.FLAGGED).fillna(texts)
    called = texts.map(fields.state_of)
    known = called.isin(fields.STATES)
    unknown = sorted({*texts[~known & (texts != "") & (texts != "-1")]})
    called = called.where(known, "")
    ended = called.map(fields.ENDED).fillna(-1).to_numpy("float64")
    return called.to_numpy(object)[codes], ended[codes], unknown


def is_told(column: Column) -> bool:
    """Tell whether a column that nobody named holds states: texts, or the numbers of a database of Slurm."""
    return not (is_numeric(column.series) or pd.api.types.is_bool_dtype(column.series)) or _is_database(column.table)


def _is_database(table):
    return {"time_submit", "id_job"} <= {*map(str, table.known)}


def _of_swf(column, coded, codes):
    """Tell whether distinct numbers are SWF's codes, not Slurm's; `codes` says which each row has."""
    table = column.table
    if table.states == "slurm" or _is_database(table):  # numbers that are none of Slurm's are unknown states
        return False
    none = ~np.isnan(coded) & ((coded % 1 != 0) | (coded < -1) | (coded >= len(fields.NUMBERED)))
    if none.any():
        column.refuse_all(EXIT_CODES, none[codes])
    dialect = table.states or ("slurm" if np.nanmax(coded) > SWF_STATES[-1] else None)
    dialect = dialect or ("swf" if np.nanmin(coded) < 0 or {"job_number", "submit_time"} <= {*table.known} else None)
    if dialect is None:
        meanings = "SWF's (0 failed, 1 completed, 5 cancelled) or Slurm's (1 running, 3 completed, 5 failed)"
        raise table.error(f"{table.file}: {column.title} has numbers, {meanings}? give states='swf' or 'slurm'")
    return dialect == "swf"


def jobs(columns: list[Column]) -> tuple[np.ndarray, pd.Series | None]:
    """Read the numbers of jobs, and the last of these columns if it is text."""
    codes = np.full(len(columns[0].table.frame) if columns else 0, np.nan)
    texts = None
    for column in columns:
        series = column.series
        if is_numeric(series):
            known = series.to_numpy("float64", na_value=np.nan)
            wrong = ~np.isnan(known) & (~(np.abs(known) < swf.EXACT) | (known % 1 != 0))
            column.refuse(wrong, "a whole number")
            known = np.where(wrong, np.nan, known)
        else:
            texts = as_text(series)
            match = texts.str.extract(f"^{JOB.pattern}$")[0]
            named = (match.isna() & (texts != "")).any()  # such as application_15_7
            known = np.full(len(codes), np.nan) if named else match.astype("float64").to_numpy()
        codes = np.where(np.isnan(codes), known, codes)
    return codes, texts
