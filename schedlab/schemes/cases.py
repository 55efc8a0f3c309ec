"""Make from a trace the `Case` that a scheme simulates."""

from dataclasses import replace

import numpy as np

from schedlab.kernels.swf_text import EXACT
from schedlab.machine import Flat, KaryTree, Pools
from schedlab.workload.conventions import run_times
from schedlab.workload.trace import Trace

from .base import Case, Jobs, Outcome, Scheme
from .pooled import pooled_of

MOST_WORK = 2**62  # processor-seconds; int64 can add up that much, with room to spare


def check_trace(trace) -> None:
    """Raise a TypeError if something other than a trace was given."""
    if not isinstance(trace, Trace):
        description = repr(trace) if isinstance(trace, str) else f"a {type(trace).__name__}"
        raise TypeError(f"trace is {description}, expected a Trace: load_trace(name) or read_swf(path) gives one")


def case_of(
    trace: Trace,
    scheme: Scheme,
    machine: Flat | KaryTree | Pools | None = None,
    overrun: str = "kill",
    events: str = "batched",
) -> tuple[Case, int]:
    """Return the case of a trace for a scheme, and the second of the log at which it begins: the first submission.

    Parameters are those of `simulate`. Without `machine`, it is the trace's own.
    """
    machine = Flat(trace.procs) if machine is None else machine
    overrun, events = scheme.conventions(overrun, events)
    table = trace.table
    if table.empty:
        raise ValueError(f"{trace.name} has no jobs to simulate")
    # Copies: kernels are compiled once for writable arrays, and once more for the read-only ones of pandas.
    submit = table["submit_time"].to_numpy(copy=True)
    run = run_times(table, overrun).copy()
    estimate = table["requested_time"].to_numpy(copy=True)
    if overrun == "extend":
        estimate = np.maximum(estimate, run)
    procs = table["requested_procs"].to_numpy(copy=True)
    _check_limits(trace, submit, np.maximum(run, estimate), procs)
    origin = int(submit[0])
    cut = table["run_time"].to_numpy() > run
    jobs = Jobs(submit - origin, run, estimate, procs)
    more = _NEEDED[scheme.needs](trace, scheme, machine)
    if isinstance(machine, Pools):
        more["places"] = machine.places(table, trace.names)
        more["pooled"] = pooled_of(trace, machine, more["places"], origin)
        jobs = jobs._replace(procs=more["pooled"].demand[:, 0].copy())
    more |= {"columns": trace.columns, "name": trace.name, "numbers": table.index}
    return Case(jobs, machine, overrun, events, cut, **more), origin


def known_at(case: Case, outcome: Outcome, now: int) -> Case:
    """Return what is known of a case `now` seconds after its beginning, as a case in which nothing new happens.

    Jobs not yet submitted are left out. Jobs that have ended by then in `outcome`, in which each is one piece, keep
    their run times. All others run as long as estimated; one that is past its estimate ends a second from now.
    """
    known = int(np.searchsorted(outcome.submit, now, side="right"))
    part, start = case.first(known), outcome.start[:known]
    estimate = part.jobs.estimate if outcome.estimate is None else outcome.estimate[:known]
    run = np.where(outcome.end[:known] <= now, part.jobs.run, part.jobs.estimate)
    overdue = (start <= now) & (outcome.end[:known] > now) & (start + estimate <= now)
    run = np.where(overdue, now + 1 - start, run)
    pooled = None if part.pooled is None else part.pooled.known_at(now)
    return replace(
        part, pooled=pooled, jobs=part.jobs._replace(run=run), columns=part.columns.with_numbers(run_time=run)
    )


def _laws(trace, scheme, machine):
    trace.check_speedup(scheme)
    return {"laws": trace.laws(machine.procs)}


def _sweeps(trace, scheme, machine):
    return {"breakdown": trace.table["breakdown"].to_numpy()} if "breakdown" in trace.table else {}


def _waits(trace, scheme, machine):
    if trace.source in ("model", "stand-in"):
        raise ValueError(f"{trace.name} is a {trace.source}: nothing was recorded; recorded() is for real logs")
    if trace.altered:
        reason = "the waits that the log records are no longer those of its jobs"
        raise ValueError(
            f"{trace.name} was changed ({trace.altered}): {reason}; take recorded() of the log before that"
        )
    if machine != Flat(trace.procs):
        raise ValueError(f"the log was recorded on {trace.procs:,} processors, not on {machine}")
    return {"waits": trace.table["wait_time"].to_numpy()}


# By what a scheme needs to know of the jobs besides the usual arrays: the function that gives it.
_NEEDED = {None: lambda *_: {}, "speedup": _laws, "sweeps": _sweeps, "waits": _waits}


def _check_limits(trace, submit, longest, procs):
    """Raise if a time or an area is too large to be exact; all other quantities are bounded by these (`simulate`)."""
    seconds = float(submit[-1] - submit[0]) + longest.sum(dtype="float64")
    if seconds >= EXACT:
        last = f"the last submission of {trace.name} and then all its jobs take {seconds:.4g} s"
        raise ValueError(f"{last}, expected less than 2**53")
    area = longest * procs.astype("float64")
    if area.max() >= EXACT:
        job, most = trace.table.index[area.argmax()], f"{area.max():.4g} processor-seconds"
        raise ValueError(f"job {job} of {trace.name} may hold {most}, expected less than 2**53")
    if area.sum() >= MOST_WORK:
        most = f"{area.sum():.4g} processor-seconds"
        raise ValueError(f"the jobs of {trace.name} may hold {most} in all, expected less than 2**62")
