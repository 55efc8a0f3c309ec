"""Machines: what the jobs run on."""

from .flat import Flat
from .pools import Closed, Limit, Partitions, Pool, Pools
from .trees import ALLOCATIONS, Allocation, KaryTree

__all__ = ["ALLOCATIONS", "Allocation", "Closed", "Flat", "KaryTree", "Limit", "Partitions", "Pool", "Pools"]
