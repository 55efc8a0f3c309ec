"""Machines: what the jobs run on."""

from .flat import Flat
from .partitions import Partitions
from .pools import Closed, Limit, Pool, Pools
from .trees import ALLOCATIONS, Allocation, KaryTree

__all__ = ["ALLOCATIONS", "Allocation", "Closed", "Flat", "KaryTree", "Limit", "Partitions", "Pool", "Pools"]
