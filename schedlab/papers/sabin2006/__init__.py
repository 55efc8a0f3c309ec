"""Sabin, Lang and Sadayappan: moldable jobs, whose processors follow from shares and efficiency, or from iteration."""

from ..figure import Paper
from .decisions import decision_times, heuristic
from .figures import (
    figure2,
    figure3,
    figure4,
    figure5,
    figure7,
    figure8,
    figure9,
    figure10,
    mixes,
    other_logs,
    overbooking,
    sensitivity,
    waste,
    widths,
)
from .grids import SCENARIOS
from .ledger import claims
from .live_figures import CHOICES, LABELS, LABELS_OF_DECISION, NAMES, RANGES, live, live_decision

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
    found=(
        ("If jobs scale to the whole machine, iteration beats ObF 4 with EF 1 on the whole log only", "SAB-11"),
        ("If they scale to what they ask for, iteration beats all shares at high load only", "SAB-13"),
        ("Iteration helps small jobs; the largest pay for it", "SAB-12"),
    ),
)
FIGURES = (
    *(figure2, figure3, figure4, figure5, figure7, figure8, figure9, figure10, overbooking, widths, waste),
    *(sensitivity, other_logs, mixes, decision_times, heuristic),
)

__all__ = [
    "CHOICES",
    "FIGURES",
    "LABELS",
    "LABELS_OF_DECISION",
    "NAMES",
    "PAPER",
    "RANGES",
    "SCENARIOS",
    "TITLE",
    "claims",
    "decision_times",
    "figure2",
    "figure3",
    "figure4",
    "figure5",
    "figure7",
    "figure8",
    "figure9",
    "figure10",
    "heuristic",
    "live",
    "live_decision",
    "mixes",
    "other_logs",
    "overbooking",
    "sensitivity",
    "waste",
    "widths",
]
