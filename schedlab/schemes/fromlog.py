"""What really happened, in the place of a scheme."""

from dataclasses import dataclass

from .rigid import Arrivals, Scheme


@dataclass(frozen=True)
class FromLog(Scheme):
    """The starts that a log records (`schedlab.recorded`). Nothing is simulated, and no law is sure to be kept.

    Parameters
    ----------
    order : "fcfs"
        For the sake of the other schemes; the log has its own order.
    """

    label = "log"
    simulated = False

    def __post_init__(self):
        if self.order != "fcfs":
            raise ValueError(f"log has an order of its own, got {self.order!r}")

    @property
    def origin(self) -> str:
        """As of `Scheme`."""
        return "starts as the log records them"

    def run(self, jobs: Arrivals, procs: int, each: bool):
        """Refuse: what happened on these jobs cannot be told for others."""
        raise ValueError("log is what happened and cannot be simulated")

    def notes(self, schedule) -> tuple[str, ...]:
        """Say where the log has no waits, and where it holds more processors than there are."""
        waits, notes = schedule.trace.table["wait_time"].to_numpy(), []
        unknown = int((waits < 0).sum())
        if unknown == waits.size:
            notes.append("no wait is recorded; all jobs are taken to start when they were submitted")
        elif unknown:
            taken = "these jobs are taken to start when they were submitted"
            notes.append(f"{unknown:,} of {waits.size:,} waits are not recorded; {taken}")
        elif not waits.any() and waits.size > 1:
            notes.append("all waits are 0: what is recorded as submission may be the start")
        procs, used, lasts = schedule.machine.procs, *schedule.held
        if used.max() > procs:
            share = lasts[used > procs].sum() / max(lasts.sum(), 1)
            most = f"up to {used.max():,} processors are held, the machine has {procs:,}"
            notes.append(f"{most}; more than it has in {100 * share:.2g} % of the time")
        return tuple(notes)
