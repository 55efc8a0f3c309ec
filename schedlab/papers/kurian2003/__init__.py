"""Kurian, Balaji and Sadayappan: opportune job shredding, which runs tasks of sweeps in the holes of a schedule."""

from ..cards import Paper
from .figures import OF_PAPER, sensitivity
from .ledger import claims  # noqa: F401 - the paper's own names
from .live_figures import NAMES, RATIOS, live  # noqa: F401 - the paper's own names

TITLE = "Opportune job shredding (Kurian, Balaji and Sadayappan)"
PAPER = Paper(
    authors="R. Kurian, P. Balaji and P. Sadayappan",
    title="Opportune job shredding: an effective approach for scheduling parameter sweep applications",
    venue="The Ohio State University",
    year=2003,
    says=(
        "A parameter sweep is many independent tasks. Started one by one on processors that would otherwise idle, they "
        "finish much sooner and hardly delay the other jobs; flooding the queue with them delays all other jobs."
    ),
    findings=(
        ("The slowdown of sweeps improves about as much as published", "KUR-1"),
        ("The loss of capacity falls by more than published, and further with more sweeps", "KUR-2"),
        ("Short jobs lose more than published under EASY, and not under conservative backfilling", "KUR-4a"),
    ),
    terms=(
        ("sweep", "many independent tasks, submitted as one parallel job; the paper's PSA"),
        ("flooding", "all tasks of a sweep are put into the queue as jobs of their own"),
        ("shredding", "the tasks run on processors that would idle, while the sweep's parallel job still waits"),
        ("short, long", "run time of less than an hour, or of at least an hour"),
        ("narrow, wide", "fewer than 32 processors, or at least 32"),
        ("SN, SW, LN, LW", "short narrow, short wide, long narrow, long wide jobs"),
        ("loss of capacity", "processor-seconds that idle although jobs wait that could use them"),
        ("EASY, conservative backfilling", "the scheduler beneath, which the paper does not name: two readings"),
        ("percent of all jobs", "a reading: so many of all jobs are sweeps, not of the jobs large enough for one"),
        (
            "processors given back in the last round",
            "a reading: a sweep gives up each processor that has no more tasks",
        ),
        ("a copy in every queue", "a reading: at three sites, each queue holds the sweep's parallel job"),
    ),
    defaults=(
        ("EASY", "EASY"),
        ("conservative backfilling", "EASY"),
        ("percent of all jobs", "percent of the jobs of more than 8 processors"),
        ("processors given back in the last round", "a sweep holds them until its last task ends"),
        ("a copy in every queue", "only in the queue of the home site"),
    ),
    others=(
        ("Figures 1 to 3", "drawings: EASY, how a sweep becomes a job, and the schedulers above it"),
        ("Figures 21 to 23", "the paper shows the loss of capacity at three sites and claims nothing about it"),
    ),
)
figure4, figure5, figure6, figure7, figure8, figure9, figure10 = OF_PAPER[:7]
figure11, figure12, figure13, figure14, figure15, figure16, figure17 = OF_PAPER[7:14]
figure18, figure19, figure20, figure21, figure22, figure23 = OF_PAPER[14:]
FIGURES = (*OF_PAPER, sensitivity)
