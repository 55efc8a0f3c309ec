"""Pascual and Miguel-Alonso: what contiguous placement in a k-ary n-tree costs, and what speed-up pays for it."""

from ..cards import Paper
from .figures import allocations, by_stage, figure2, figure3, figure4, figure5, other_trees, sensitivity, thresholds
from .grids import LOGS, POLICIES  # noqa: F401 - the paper's own names
from .ledger import claims  # noqa: F401 - the paper's own names
from .live_figures import live  # noqa: F401 - the paper's own names

TITLE = "Contiguous placement (Pascual and Miguel-Alonso)"
PAPER = Paper(
    authors="J. A. Pascual and J. Miguel-Alonso",
    title="Effects of job placement on scheduling performance",
    venue="Technical Report EHU-KAT-IK-09-08, University of the Basque Country",
    year=2008,
    says=(
        "Jobs that must lie in one block of a k-ary n-tree wait 7 to 100 times as long. Contiguity pays if it shortens "
        "their run times by 25 to 30 % or more."
    ),
    findings=(
        ("On HPC2N contiguity pays from a speed-up of 0.22 on (published: about 0.25)", "PAS-2a"),
        ("If the head of the queue is promised nodes, contiguity costs backfilling little", "PAS-1"),
        ("For backfilling the threshold depends on the reservation rule, and the paper names none", "PAS-7"),
    ),
    terms=(
        ("contiguous", "all nodes of a job lie in one block: a switch, or a subtree of switches"),
        ("quasi-contiguous", "in one block, or in one a stage higher"),
        ("first-free", "the first free nodes, wherever they lie"),
        ("best-fit", "contiguous, in the block that leaves the fewest nodes free"),
        ("k-ary n-tree", "n stages of switches with k ports down each; it connects k to the power of n nodes"),
        ("EASY (count)", "backfilling; the head of the queue is promised the time when enough nodes are free"),
        ("EASY (block)", "backfilling; the head of the queue is promised nodes, the others may use the rest"),
        ("by count, by block", "these two readings of what the head of the queue is promised"),
        (
            "with, without spare nodes",
            "readings: whether jobs that end later may use nodes that the head does not need",
        ),
        ("whatever fits until the reservation", "a reading: any job may start, and is killed at the head's time"),
        ("s", "speed-up factor: by how much contiguity shortens the run times; 0.25 is 25 %"),
        ("hops", "links between two nodes of a job, averaged over its pairs of nodes"),
    ),
    defaults=(
        ("reservation by count", "reservation by count"),
        ("reservation by block", "by count"),
        ("by count with spare nodes", "by count, without spare nodes"),
        ("by block without spare nodes", "by count, without spare nodes"),
        ("whatever fits until the reservation", "only jobs that end before the reservation pass the head"),
    ),
)
FIGURES = (figure2, figure3, figure4, figure5, thresholds, allocations, other_trees, by_stage, sensitivity)
