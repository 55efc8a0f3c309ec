"""Sabin, Lang and Sadayappan: moldable jobs get processors by shares and efficiency, or by iteration."""

from ..cards import Paper
from .beyond import decision_times, heuristic, mixes, other_logs, sensitivity
from .figures import NUMBERED, overbooking, waste, widths
from .grids import SCENARIOS
from .ledger import claims
from .live_figures import CHOICES, NAMES, RANGES, live, live_decision

TITLE = "Moldable jobs (Sabin, Lang and Sadayappan)"
PAPER = Paper(
    authors="G. Sabin, M. Lang and P. Sadayappan",
    title="Moldable parallel job scheduling using job efficiency: an iterative approach",
    venue="JSSPP",
    year=2006,
    says=(
        "If jobs scale to the whole machine, overbooked shares with efficiency are best; if they scale to about what "
        "they ask for, plain shares are; an iterative scheme without parameters beats both."
    ),
    findings=(
        ("If jobs scale to the whole machine, iteration beats ObF 4 with EF 1, by 6 %", "SAB-11"),
        ("If they scale to what they ask for, iteration beats all shares only at high load", "SAB-13a"),
        ("Against ObF 4 with EF 1, iteration helps small jobs; the largest pay for it", "SAB-12b"),
    ),
    terms=(
        ("moldable", "the scheduler chooses a job's processors when it starts the job; they stay as they are"),
        ("plain shares", "each job gets processors by the square root of its work (ObF 1, EF 0)"),
        ("ObF", "overbooking factor: multiplies a job's share of the machine"),
        ("EF", "efficiency factor: how far processors move from jobs that gain little from them to others"),
        ("A", "average parallelism of a job: about how many processors it can use"),
        ("A = P", "jobs can use the whole machine"),
        ("A random", "jobs can use one to two times the processors they ask for"),
        ("sigma", "variance of a job's parallelism: at 0 it speeds up without loss up to A"),
        ("iterative", "starts from one processor a job, and adds one where the mean turnaround of the plan falls"),
        ("effective load", "the work of the jobs on one processor each, as a share of what the machine could do"),
        ("shares by work", "a reading: in proportion to the work of a job, not to its square root"),
        ("work as estimate x processors", "a reading: of the processors that a job asks for, not of one"),
        ("shares among queued jobs only", "a reading: running jobs do not count when the machine is shared out"),
        (
            "backfilled jobs start at once or wait",
            "a reading: on what is free now, even if it is less than their share",
        ),
    ),
    defaults=(
        ("shares by work", "by the square root of the work"),
        ("work as estimate x processors", "the work on one processor"),
        ("shares among queued jobs only", "among running and queued jobs"),
        ("backfilled jobs start at once or wait", "they may wait for more processors where they end sooner with them"),
    ),
    others=(("Figure 6", "pseudo-code of the iterative scheme; Figures 7 to 10 test it"),),
    doi="10.1007/978-3-540-71035-6_5",
)
figure2, figure3, figure4, figure5, figure7, figure8, figure9, figure10 = NUMBERED
FIGURES = (*NUMBERED, overbooking, widths, waste, sensitivity, other_logs, mixes, decision_times, heuristic)

__all__ = ["CHOICES", "FIGURES", "NAMES", "PAPER", "RANGES", "SCENARIOS", "TITLE", "claims", "live", "live_decision"]
