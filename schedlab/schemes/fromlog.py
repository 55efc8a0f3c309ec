"""What really happened, in the form of a scheme."""

from dataclasses import dataclass

import numpy as np

from schedlab.workload.edges import runaways

from .base import Case, Outcome, Scheme


@dataclass(frozen=True)
class FromLog(Scheme):
    """The starts that a log records (`schedlab.recorded`). Nothing is simulated, so a law may be broken.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=128, partition="long")
    >>> recorded = sl.simulate(trace, sl.FromLog())
    >>> bool((recorded.jobs["wait_time"] == trace.jobs["wait_time"]).all())
    True
    >>> chart = sl.charts.distribution({"as recorded": recorded, "EASY": sl.simulate(trace, "easy")})
    """

    label = "log"
    names = {"log": {}}
    colours = {"log": "#6751D4"}
    needs = "waits"
    simulated = False

    @property
    def origin(self) -> str:
        return "starts as the log records them"

    def conventions(self, overrun: str, events: str) -> tuple[str, str]:
        """As in `Scheme`: jobs run as long as the log says."""
        return "extend", "batched"

    def simulate(self, case: Case) -> Outcome:
        """As in `Scheme`; a job whose wait is not recorded starts when it is submitted."""
        return case.outcome(case.jobs.submit + np.maximum(case.waits, 0))

    def notes(self, schedule) -> tuple[str, ...]:
        """Say if the log lacks waits, or holds more processors than the machine has."""
        waits, notes = schedule.trace.table["wait_time"].to_numpy(), []
        unknown = int((waits < 0).sum())
        if unknown == waits.size:
            notes.append("no wait is recorded; all jobs are taken to start when they were submitted")
        elif unknown:
            assumption = "these jobs are taken to start when they were submitted"
            notes.append(f"{unknown:,} of {waits.size:,} waits are not recorded; {assumption}")
        elif not waits.any() and waits.size > 1:
            notes.append("all waits are 0: recorded submissions may be start times")
        if (lost := runaways(schedule.trace.table)).any():
            days = schedule.trace.table["run_time"][lost].max() / 86_400
            runs = f"{lost.sum():,} runs" if lost.sum() > 1 else "1 run"
            notes.append(f"{runs} of up to {days:,.0f} days, as if no end was recorded: measure a window=(begin, end)")
        procs, used, lasts = schedule.machine.procs, *schedule.held
        if used.max() > procs:
            share = lasts[used > procs].sum() / max(lasts.sum(), 1)
            most = f"up to {used.max():,} processors are held, the machine has {procs:,}"
            notes.append(f"{most}; more than it has in {100 * share:.2g} % of the time")
        return tuple(notes)
