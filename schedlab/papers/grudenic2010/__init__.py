"""Grudenić and Bogunović: DPSA, lookahead backfilling that fills the hole before the reservation as best it can."""

from ..cards import Paper
from .beyond import bound, effort, figure4_load, sensitivity
from .figures import figure1, figure3, figure3_estimates, figure4, figure4_estimates
from .grids import EXACT, RUN_ON, USERS, logs  # noqa: F401 - the paper's own names
from .ledger import claims  # noqa: F401 - the paper's own names
from .live_figures import PREFERRED, live  # noqa: F401 - the paper's own names

TITLE = "Lookahead backfilling (Grudenić and Bogunović)"
PAPER = Paper(
    authors="I. Grudenić and N. Bogunović",
    title="Computer cluster scheduling algorithm based on time bounded dynamic programming",
    venue="University of Zagreb",
    year=2010,
    says="Filling the hole before EASY's reservation with the best set of jobs lowers the mean bounded slowdown.",
    findings=(
        ("Preferring narrow jobs (DPSAn) beats EASY on every available log where jobs wait", "GRU-1a"),
        ("On most logs the effect of DPSAp (first come, first served) is smaller than chance variation", "GRU-2a"),
        ("Preferring wide jobs (DPSAw) is worse", "GRU-3a"),
    ),
    terms=(
        ("EASY", "backfilling: jobs may pass the head of the queue if they do not delay it"),
        ("DPSA", "the paper's scheduler: like EASY, but the set of jobs that passes the head is the best one"),
        ("DPSAn, DPSAp, DPSAw", "among equal sets, that of narrow jobs, of jobs that came first, of wide jobs"),
        ("narrow, wide", "of few processors, of many"),
        ("bounded slowdown", "wait and run time, over the run time; run times below tau count as tau"),
        ("tau", "10 s, unless it says otherwise"),
        ("exact estimates, overruns run on", "readings: estimates are the run times; jobs may outlive their estimates"),
    ),
    defaults=(
        ("exact estimates", "the users' estimates"),
        ("overruns run on", "jobs are killed at their estimates"),
        ("tau 1 s", "tau 10 s"),
        ("tau 60 s", "tau 10 s"),
    ),
    others=(("Figure 2", "pseudo-code of DPSA; Figures 3 and 4 test it"),),
)
FIGURES = (figure1, figure3, figure3_estimates, figure4, figure4_estimates, figure4_load, bound, effort, sensitivity)
