"""Processors without a topology."""

from dataclasses import dataclass

from schedlab.workload.conventions import check_procs


@dataclass(frozen=True)
class Flat:
    """Identical processors without a topology: a job can run on any that are free.

    Parameters
    ----------
    procs : int
        Number of processors.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=200, machine=64, seed=1)
    >>> own, twice = (sl.simulate(trace, "easy", machine=sl.Flat(procs)).metrics() for procs in (64, 128))
    >>> bool(twice["wait_time"] < own["wait_time"])
    True
    """

    procs: int

    def __post_init__(self):
        check_procs(self.procs)

    def __str__(self) -> str:
        return f"{self.procs:,} processors"
