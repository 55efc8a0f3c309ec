"""The rules that make a trace of a table of runs, behind every reader but that of SWF.

A run is one allocation, from a start to an end; a job that is run again has several. A front end says what its columns
are (`tables.Table`). Then the same is known of all logs: what is no run, what has not ended, what a clock change does
to times, which runs are of one job, what a log cannot say.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime.remarks import SchedlabWarning
from schedlab._runtime.text import plain

from . import fields, swf, values
from . import filter as load_filter
from .columns import WORDS
from .conventions import TAKEN
from .loading import SizeUnknown, from_log
from .records import header_of, left_out, most_in_use, put_on_the_clock_of_the_log
from .tables import INSTANTS, NAMES, REQUESTED, ROLES, TEXTS, UNITS, Table
from .trace import Trace

UNIX = 500_000_000  # seconds since 1970: November 1985, earlier than any log and longer than any log lasts
HOUR = 3_600  # of a clock change
MOST_LATE = 0.5  # warn if more than this share of the jobs ...
FAR_BEYOND = 10  # ... outlive their estimates by this factor
CPUS = ("alloccpus", "ncpus", "cpus_req")
NODES = ("nnodes", "nodes_alloc")
OTHER_NAME = "_given"
NO_CLOCK = (
    load_filter.STEP,
    load_filter.RUNNING,
    load_filter.GIVEN_TWICE,
)  # records that do not set the clock of the log


class UnitWarning(SchedlabWarning):
    """The numbers of a column probably do not have the stated unit."""


class GpuWarning(SchedlabWarning):
    """Jobs have GPUs, which are not simulated: the machine is counted in processors or nodes."""


def trace_of(table: Table, name: str, machine=None, missing_estimate="run") -> Trace:
    """Make a trace of a table; parameters as in `from_frame`."""
    for role in table.sources:
        _ = [column.series for column in table.columns(role)]  # a column that is not there is an error
    if not len(table.frame):
        raise table.error(f"{table.file}: the table has no rows, expected one for each job")
    sources = [f"{role} = {table.source(role)}" for role in ROLES if table.has(role)]
    history = [] if table.origin else [f"columns: {', '.join(sources)}"]
    called = {}
    records, repairs, dated = _records(table, called, history)
    epoch = _put_on_the_clock(table, records, dated)
    numbers = records["job_number"]
    dropped = _left_out(table, records)
    kept = table.kept()
    jobs = pd.DataFrame({key: column if kept.all() else column[kept] for key, column in records.items()}, copy=False)
    records.clear()
    size = getattr(machine, "procs", machine)
    if size is None:
        started = jobs[jobs["start_time"].notna()]
        if started.empty and len(jobs):
            raise SizeUnknown(f"{table.file}: the size of the machine is not known; give machine=")
        size = max(1, most_in_use(started))
        history.append(f"size of the machine not given; the most {table.unit} in use at one instant: {size:,}")
    header = _header(table, called, size, epoch if dated else None)
    del jobs["start_time"]
    log = swf.Log(header, jobs, swf.skipped_table(), "", Path(table.file))
    trace = from_log(log, name, "file", size, missing_estimate, dropped, error=table.error)
    _warn_of_units(table, trace)
    history += _warn_of_gpus(table, trace)
    repairs += [_unread(table, role, numbers) for role in table.unread]
    history += [f"cannot be read: {next(iter(rows.values())).shown(min(rows))}" for rows in table.unread.values()]
    repaired = pd.concat([*repairs, trace.repaired], ignore_index=True)
    people = {field: called[field] for field in ("user_id", "group_id") if called.get(field)} if table.people else {}
    return replace(trace, repaired=repaired, history=(*history,), people=people or None)


def _records(table, called, history):
    """Return the columns of the records, by name; repairs of their numbers; and whether their times are dates.

    Times in seconds, on their own clock; nan where a value is unknown. Rows that are no runs, or have not ended, are
    left out of the table. `called` gets the names behind numbers, `history` what is to be said.
    """
    numbers, identity = values.jobs(table.columns("job"))
    identity = values.as_text(table.frame[table.identity]) if table.identity else identity
    if identity is not None:
        table.leave_out(identity.str.fullmatch(values.A_STEP), load_filter.STEP)
    state, status, unknown = _states(table)
    has_swf = not table.has("status") and "status" in table.frame  # SWF's own column goes first
    records = {} if status is None or has_swf else {"status": status}
    history += [f"status: {_listed(unknown)} not known, taken for unknown"] if unknown else []
    procs, allocated = _sizes(table)
    records["requested_procs"] = procs
    times, dated, notes = _times(table)
    history += notes + _asked(table, procs, times["run"])
    for role in filter(table.has, NAMES):
        field = NAMES[role]
        records[field], called[field] = values.names(table.columns(role)[0])
    called |= table.called
    _leave_out_what_has_not_ended(table, times, state, allocated)
    if table.unit == "gpus":
        table.leave_out((procs == 0) | (np.isnan(procs) & table.lines), load_filter.NO_GPU)  # sacct lists what there is
    history += _check_times(table, times)
    if table.has("job"):
        _leave_out_what_is_given_twice(table, numbers if identity is None else identity, times, procs)
    records |= _of_swf(table, times)
    records |= _memory(table, records)
    records["job_number"], repairs = _numbers(table, numbers, identity, times)
    further, renamed = _further(table, records, state, identity, numbers)
    history += renamed
    unknown = np.full(len(procs), np.nan)
    records = dict.fromkeys(swf.FIELDS, unknown) | {"allocated_procs": allocated} | records
    return records | {"start_time": times["start"]} | further, repairs, dated


def _left_out(table, records):
    """Return the records that are left out, with the reasons, in the form of `Trace.dropped`."""
    rows = list(table.refused)
    columns = pd.DataFrame({field: records[field][rows] for field in swf.FIELDS}, index=rows)
    parts = (table.omitted, left_out(columns, table.refused))
    return pd.concat([part for part in parts if part is not None])


def _states(table):
    """Return the states of runs by name; SWF's codes, None if nothing tells them; and texts that are not known."""
    column = next(iter(table.columns("status")), None)
    if column is None or not (table.has("status") or values.is_told(column)):
        return np.full(len(table.frame), "", dtype=object), None, []
    return values.states(column)


def _first_known(table, columns, read):
    """Read some columns, of which in each row the first known value counts."""
    amounts = np.full(len(table.frame), np.nan)
    for column in columns:
        amounts = np.where(np.isnan(amounts), read(column), amounts)
    return amounts


def _sizes(table):
    """Return what runs occupied, for both fields of SWF; the GPUs; and a note if jobs had asked for other sizes."""
    columns = table.columns("procs" if table.has("procs") else "nodes")
    read = values.whole_gpus if table.unit == "gpus" else values.sizes
    allocated = _first_known(table, [column for column in columns if str(column.source).lower() not in REQUESTED], read)
    procs = np.where(np.isnan(allocated), _first_known(table, columns, read), allocated)
    if table.has("procs_per_node"):
        procs = allocated = procs * values.sizes(table.columns("procs_per_node")[0])
    return procs, allocated


def _asked(table, procs, run):
    """Say so if jobs with more than 1 % of the work had asked for other sizes than they got."""
    name = table.named(REQUESTED)
    if name is None or table.unit == "gpus":
        return []
    requested = _amount(table, REQUESTED, np.nan)
    work = np.where(table.kept(), np.nan_to_num(run * procs), 0)
    share = work[(requested > 0) & (requested != procs)].sum() / max(work.sum(), 1)
    message = f"{100 * share:.3g} % of the work had asked for other sizes ({plain(str(name))}) than it got, which count"
    return [message] if share > load_filter.FEW else []


def _times(table):
    """Return the times of runs in seconds, by role, nan if unknown; whether they are dates; and notes on them."""
    read = {role: values.instants(table.columns(role)[0]) for role in INSTANTS if table.has(role)}
    _check_zones(table, read)
    known = read["submit"].early[read["submit"].early != 0]
    dated = read["submit"].dated or (np.isfinite(known).any() and np.nanmin(known) >= UNIX)
    unknown = np.full(len(table.frame), np.nan)
    early = {role: _checked(table, role, instants.early, dated) for role, instants in read.items()}
    late = {
        role: early[role] if instants.late is instants.early else _checked(table, role, instants.late, dated)
        for role, instants in read.items()
    }
    run = _first_known(table, table.columns("run"), values.durations)
    times, twice = _resolved({role: early.get(role, unknown) for role in INSTANTS}, late, run)
    local = any(instants.local for instants in read.values()) and not table.zone_is_given
    lasted = times["end"] - times["start"]
    times |= {"run": np.where(np.isnan(run), lasted, run), "lasted": lasted, "local": local}
    times["start"] = times["start"] if table.has("start") else times["end"] - run
    times["estimate"] = _first_known(table, table.columns("estimate"), values.durations)
    notes = []
    if twice:
        runs = f"{twice:,} run{'s' * (twice > 1)} at a time that the clock showed twice"
        notes.append(f"{runs}: read by how long they ran, by order, or else the earlier")
    return times, dated, notes


def _check_zones(table, read):
    """Refuse instants of which some have a time zone, or are seconds since 1970, and others none that is known."""
    local = [role for role, instants in read.items() if instants.local]
    absolute = [role for role, instants in read.items() if not instants.local and (instants.early >= UNIX).any()]
    if local and absolute and not table.zone_is_given:
        without, having = (table.columns(roles[0])[0].title for roles in (local, absolute))
        raise table.error(f"{table.file}: {having} has times of a known zone, {without} of none; give time_zone=")


def _checked(table, role, seconds, dated):
    """Refuse instants that are on another clock, or on none; 0 is no date."""
    column = table.columns(role)[0]
    seconds = np.where(seconds == 0, np.nan, seconds) if dated else seconds
    other = ~np.isnan(seconds) & ((seconds >= UNIX) != dated) & ((seconds >= 0) | (not dated))
    column.refuse((seconds < 0) & dated, "a date from 1970 on")
    kind = "a date" if dated else "seconds on the clock"
    column.refuse(other & (seconds <= fields.LATEST), f"{kind}, as in {table.columns('submit')[0].title}")
    column.refuse(seconds > fields.LATEST, _a_second(seconds))
    return np.where(other | (seconds > fields.LATEST) | ((seconds < 0) & dated), np.nan, seconds)


def _a_second(seconds):
    """Describe a valid instant, with a hint if the numbers are too large to be seconds."""
    largest = np.max(seconds, initial=0, where=~np.isnan(seconds))
    unit = next((name for name in ("ms", "us", "ns") if UNIX <= largest * UNITS[name] <= fields.LATEST), None)
    return f"seconds since 1970{f'; are these {unit}? unit={unit!r}' if unit else ''}"


def _resolved(early, late, run):
    """Choose between the two meanings of times that the clock showed twice; count the runs that have some.

    By the time that a run took, if it is known; else by order: after the submission, and the end after the start; else
    the earlier one.
    """
    twice = np.any([seconds > early[role] for role, seconds in late.items()], axis=0)
    if not twice.any():
        return dict(early), 0
    times = {role: seconds.copy() for role, seconds in early.items()}
    times["submit"] = _in_order(early["submit"], late["submit"], np.fmax(late.get("start", early["start"]), 0))
    later = {role: late.get(role, early[role])[twice] for role in INSTANTS}
    sooner = {role: times[role][twice] for role in INSTANTS}
    choices = [(start, end) for start in (sooner["start"], later["start"]) for end in (sooner["end"], later["end"])]
    costs = []
    for start, end in choices:
        against_order = (start < sooner["submit"]) | (end < start)
        costs.append(np.where(against_order, 1e12, 0) + np.nan_to_num(np.abs(end - start - run[twice])))
    best = np.argmin(costs, axis=0)  # the first of equal ones, which is the earlier
    times["start"][twice] = np.choose(best, [start for start, _ in choices])
    times["end"][twice] = np.choose(best, [end for _, end in choices])
    at_once = (sooner["submit"] == sooner["start"]) & (times["start"][twice] == later["submit"])
    times["submit"][twice] = np.where(at_once, later["submit"], sooner["submit"])  # the same text, so the same time
    before = sooner["eligible"] < times["submit"][twice]
    times["eligible"][twice] = np.where(before, later["eligible"], sooner["eligible"])
    return times, int(twice.sum())


def _in_order(early, late, start):
    """Choose the later of two meanings of a submission where a job before it in the log came between them.

    Only of logs that are in the order of their submissions; and if the job did not start before.
    """
    clear = early[(early == late) & ~np.isnan(early)]
    if (np.diff(clear) < 0).any():
        return early
    before = np.concatenate([[-np.inf], np.fmax.accumulate(early)[:-1]])
    return np.where((early < before) & (before <= late) & ~(start < late), late, early)


def _leave_out_what_has_not_ended(table, times, state, allocated):
    """Leave out runs that wait or go on, and jobs that never ran: by their states, or by what is missing."""
    states = pd.Series(state)
    start, end, run = (times[role] for role in ("start", "end", "run"))
    started = ~np.isnan(start) | ~np.array(table.has("start"))
    unended = table.has("end") & table.has("start") & ~np.isnan(start) & np.isnan(end)
    goes_on = states.isin(fields.RUNNING) | (unended & ~(states.isin(fields.ENDED) & (run > 0)))
    unused = (run == 0) & np.isnan(allocated) | (end < start) & ~(run > 0)
    never = ~started & ~(run > 0)
    cancelled = states.eq("CANCELLED").to_numpy()
    table.leave_out(states.isin(fields.WAITING), load_filter.WAITING)
    table.leave_out(cancelled & (never | unused), load_filter.CANCELLED_EARLY)
    table.leave_out(never & table.has("start"), load_filter.NEVER_STARTED)
    table.leave_out(goes_on, load_filter.RUNNING)
    if goes_on.any():  # what these have done so far, by the last that the log knows
        last = np.nanmax(np.concatenate([start, end, times["submit"]]))
        times["run"] = np.where(goes_on & np.isnan(run), last - start, run)


def _check_times(table, times):
    """Refuse runs whose times contradict each other, and return notes on them.

    One that was suspended may have run for less than it lasted.
    """
    if not (table.has("start") and table.has("end")):
        return []
    run = times["run"]
    lasted = times["lasted"]
    put_back = times["local"] & (np.abs(run - lasted - HOUR) <= 1)  # the clock, in between
    hint = "; if the clock was put back, give time_zone=" if times["local"] else ""
    table.columns("end")[0].refuse((lasted < 0) & (run != 0) & ~put_back, f"a time at or after the start{hint}")
    too_long = (lasted >= 0) & (run > lasted + 1) & ~put_back  # 1: fractions of a second
    for column in table.columns("run") if too_long.any() and table.has("run") else ():
        known = ~np.isnan(values.durations(column))
        column.refuse(too_long & known, "at most the time from start to end; is the unit right, and the time_zone?")
    count = int((put_back & table.kept()).sum())
    runs = f"{count:,} run{'s' * (count > 1)} longer by an hour than from start to end"
    return [f"{runs}: the clock was put back in between, and the run time counts; time_zone= says when"] * (count > 0)


def _leave_out_what_is_given_twice(table, identity, times, procs):
    """Keep the last of equal records, one with an end if there is any.

    Those that ended at different times, or have other sizes, are runs of their own. Numbers in a table may be those of
    whole arrays, so that its settled rows count as equal only if all their columns are.
    """
    started = np.where(np.isnan(times["start"]), times["run"], times["start"])
    keys = pd.DataFrame({"job": np.asarray(identity), "submit": times["submit"], "start": started})
    nameless = pd.isna(keys["job"]) | (keys["job"] == "")
    elsewhere = [row for row, reason in table.refused.items() if reason.startswith(load_filter.OTHER_CLUSTER)]
    nameless.iloc[elsewhere] = True  # the same number on another cluster is another job
    settled = table.kept()
    in_order = keys.iloc[np.argsort(settled, kind="stable")]
    again = in_order.duplicated(keep="last").sort_index() & ~nameless
    if again.any():
        ends = keys.assign(run=times["run"], procs=procs)
        rows = ends if table.lines else table.frame[keys.duplicated(keep=False)].astype(str)
        equal = rows.loc[in_order.index.intersection(rows.index, sort=False)].duplicated(keep="last")
        again &= ~settled | equal.reindex(again.index, fill_value=False)
    for row in np.flatnonzero(again & ~table.is_unreadable()).tolist():
        table.refused[row] = load_filter.GIVEN_TWICE


def _of_swf(table, times):
    """Return the times in SWF's fields."""
    arrived = times["submit"]
    if table.arrival == "eligible":
        arrived = np.where(np.isnan(times["eligible"]), arrived, times["eligible"])
    records = {"submit_time": arrived, "run_time": times["run"]}
    if not np.isnan(times["start"]).all():
        records["wait_time"] = np.where(times["start"] >= arrived, times["start"] - arrived, np.nan)
    if table.has("estimate"):
        records["requested_time"] = times["estimate"]
    return records


def _memory(table, records):
    """Return the requested memory in KB per processor, rounded up; nan if unknown."""
    if not table.has("memory"):
        return {}
    procs = records["requested_procs"]
    amount, of_what = values.memory(table.columns("memory")[0])
    units = {"c": _amount(table, CPUS, procs), "n": _amount(table, NODES, np.nan)}
    times = np.select([of_what == unit for unit in units], [*units.values()], default=1.0)
    return {"requested_memory": np.ceil(amount * times / np.where(procs > 0, procs, np.nan))}


def _amount(table, names, default):
    """Return the numbers in the first column with one of some names."""
    name = table.named(names)
    return default if name is None else pd.to_numeric(table.frame[name], errors="coerce").to_numpy("float64")


def _numbers(table, numbers, identity, times):
    """Return the job numbers, each once among the rows that are kept, and the repairs for that.

    The last run of a job keeps its number. Jobs without a number get those of their rows.
    """
    places = np.arange(1.0, len(table.frame) + 1)
    if not table.has("job") or np.isnan(numbers).all():
        return places.astype("int64"), []
    highest = max(0, int(np.nanmax(numbers)), table.highest)
    numbers = np.where(np.isnan(numbers), highest + places, numbers).astype("int64")
    highest = max(highest, int(numbers.max()))
    kept = pd.Series(numbers)[table.kept()]
    shared = kept[kept.duplicated(keep="last")]
    now = highest + np.arange(1, len(shared) + 1)
    numbers[shared.index] = now
    if shared.empty:
        return numbers, []
    same = pd.DataFrame(
        {"job": kept if identity is None else identity[kept.index], "start": times["start"][kept.index]}
    )
    same["end"] = same["start"] + times["run"][kept.index]
    same = same.sort_values(["job", "start"], kind="stable")
    overlap = ((same["job"] == same["job"].shift()) & (same["start"] < same["end"].shift())).any()
    reason = load_filter.SHARED_NUMBERS if overlap else load_filter.SEVERAL_RUNS
    return numbers, [load_filter.repairs_of(now, "job_number", shared, now, reason)]


def _further(table, records, state, identity, numbers):
    """Return the columns that fill no field of SWF, under unique names, and notes on renamed ones for the history."""
    roles = {name: pd.Series(table.columns(role)[0].series) for role, name in TEXTS.items() if table.has(role)}
    if table.has("status") and (state != "").any():
        roles["state"] = pd.Series(state, dtype="str")
    if (columns := table.columns("gpus")) and not {"gpus"} & {*table.further()}:
        amounts = _first_known(table, columns, values.gpus)
        if not np.isnan(amounts).all():
            texts = any(not values.is_numeric(column.series) for column in columns)  # where an empty TRES has none
            roles["gpus"] = pd.Series(values.whole(np.nan_to_num(amounts, nan=0 if texts else -1)))
    further = table.further()
    if (
        identity is not None
        and table.has("job")
        and not table.identity
        and (identity != pd.Series(numbers).map("{:.0f}".format)).any()
    ):
        further[str(table.columns("job")[-1].source)] = identity
    columns = {}
    notes = []
    for name, column in (further | roles).items():
        column = values.narrowed(column) if table.lines else column
        number = values.is_numeric(column)
        if name in swf.FIELDS and name not in records and number:
            records[name] = column.to_numpy("float64", na_value=np.nan)
            records[name] = np.where(np.abs(records[name]) < swf.EXACT, records[name], np.nan)
            continue
        free = name
        taken = {*swf.FIELDS, *TAKEN, *(() if name in roles else roles)}
        while free in taken or WORDS.get(free) in records or (free != name and free in further):
            free += OTHER_NAME
        columns[free] = column
        notes += [f"column {name} is kept as {free}"] if free != name else []
    return columns, notes


def _put_on_the_clock(table, records, dated):
    """Count dates from the first submission, which is returned; other clocks from 0, unless they begin earlier."""
    ended = np.ones(len(table.frame), dtype=bool)
    ended[[row for row, reason in table.refused.items() if reason in NO_CLOCK]] = False
    epoch = put_on_the_clock_of_the_log(records, ended)
    if not dated and epoch >= 0:
        records["submit_time"] += np.where(records["submit_time"] >= 0, epoch, 0)
        records["start_time"] += epoch
    return epoch


def _header(table, called, size, epoch):
    notes = [] if epoch is None or table.zone_is_given else ["no time zone was given; dates are those of UTC"]
    if table.has("nodes") and not table.has("procs_per_node"):
        notes += ["a processor is a node"]
    origin = table.origin or [f"Conversion: by schedlab from {table.file}"]
    return header_of(origin, size, epoch, table.zone, called, [*notes, *table.notes])


def _unread(table, role, numbers):
    """Return the repairs for the values of a role that could not be read."""
    rows = list(table.unread[role])
    return load_filter.repairs_of(numbers[rows], role, np.nan, np.nan, load_filter.UNREADABLE)


def _warn_of_units(table, trace):
    """Warn if most jobs run far longer than their estimates."""
    if not table.has("estimate"):
        return
    repaired = trace.repaired
    filled_in = repaired.loc[repaired["field"] == "requested_time", "job_number"]
    jobs = trace.jobs[~trace.jobs.index.isin(filled_in)]
    late = jobs["run_time"] > FAR_BEYOND * jobs["requested_time"]
    if len(jobs) and late.mean() > MOST_LATE:
        message = f"{100 * late.mean():.0f} % of the jobs run more than {FAR_BEYOND} times as long as their estimates"
        hint = "are these minutes? unit={'estimate': 'min'}"
        warnings.warn(f"{table.file}: {message}; {hint}", UnitWarning, stacklevel=4)


def _warn_of_gpus(table, trace):
    """Warn if jobs have GPUs and processors are counted, not GPUs or whole nodes; return what is said."""
    jobs = trace.table
    if table.unit in ("gpus", "nodes") or "gpus" not in jobs or not values.is_numeric(jobs["gpus"]):
        return []
    having = jobs["gpus"] > 0
    if not having.any():
        return []
    area = load_filter.area(jobs)
    count = f"{having.sum():,} jobs have" if having.sum() > 1 else "1 job has"
    message = (
        f"{count} GPUs, with {100 * area[having].sum() / area.sum():.3g} % of the work; {table.unit} are simulated"
    )
    warnings.warn(f"{table.file}: {message}, GPUs are not", GpuWarning, stacklevel=4)
    return [message]


def _listed(texts, most=5):
    return plain(", ".join(map(repr, texts[:most])) + ", ..." * (len(texts) > most))
