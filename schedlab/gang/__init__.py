"""Gang scheduling of tasks on processing elements (PEs): a workload and a configuration in, a schedule out.

After F. A. B. da Silva and I. D. Scherson, "Improving parallel job scheduling using runtime measurements", JSSPP 2000,
LNCS 1911. `schedlab.kernels.gang` defines what happens in a simulation, to the nanosecond. Here all times are in
seconds, rounded once to whole nanoseconds.
"""

from .config import BURSTS, DOES, PACKINGS, SCHEDULERS, Config
from .schedule import GangSchedule
from .simulation import simulate, simulate_many
from .workload import KINDS, Workload

__all__ = [
    "BURSTS",
    "DOES",
    "KINDS",
    "PACKINGS",
    "SCHEDULERS",
    "Config",
    "GangSchedule",
    "Workload",
    "simulate",
    "simulate_many",
]
