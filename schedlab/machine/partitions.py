"""Machines of partitions: pools that are nothing but processors."""

from collections.abc import Mapping

from .pools import Pools


class Partitions(Pools):
    """Independent machines side by side: each job runs in its own partition, which has a queue of its own.

    It is the short form of `Pools` for pools of processors, each of which serves the partition of its name.

    Parameters
    ----------
    sizes : mapping of str or int to int
        Processors of each partition, by the partition's name or number.
    column : str
        The column of the jobs that says which partition each belongs to.

    Examples
    --------
    >>> import schedlab as sl
    >>> machine = sl.Partitions({"short": 64, "long": 128})
    >>> machine.procs, str(machine)
    (192, 'partitions short (64), long (128)')
    >>> from schedlab.workload.sacct import example_path
    >>> trace = sl.read_sacct(example_path(), machine=192, partition=["short", "long"])
    >>> schedule = sl.simulate(trace, "easy", machine=machine)
    >>> {name: len(part) for name, part in schedule.partitions.items()}
    {'short': 163, 'long': 47}
    >>> chart = sl.charts.gantts(schedule.partitions)
    """

    part = "partition"

    def __init__(self, sizes: Mapping[str | int, int], column: str = "partition"):
        if not dict(sizes):
            raise ValueError("sizes is empty, expected the processors of each partition by its name")
        super().__init__(dict(sizes), column=column)

    @property
    def sizes(self) -> tuple[tuple[str | int, int], ...]:
        """The partitions: names and processors."""
        return tuple((name, dict(pool.amounts)["procs"]) for name, pool in self.pools)

    def __str__(self) -> str:
        return f"partitions {', '.join(f'{name} ({procs:,})' for name, procs in self.sizes)}"
