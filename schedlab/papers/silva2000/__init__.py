"""Silva and Scherson: gang scheduling that runs other tasks of a PE where measurements at run time say it pays."""

from ..cards import Paper
from .beyond import machine_sizes, options, sensitivity, slice_lengths
from .figures import PAPERS_FIGURES, PAPERS_TABLES, SHOWN, memberships, picture, time_spent  # noqa: F401 - the paper's own names
from .grids import MIXES, SPIN, TURNS, WITH, workload  # noqa: F401 - the paper's own names
from .ledger import claims  # noqa: F401 - the paper's own names
from .live_figures import live, live_memberships  # noqa: F401 - the paper's own names

TITLE = "Gang scheduling with runtime measurements (Silva and Scherson)"
PAPER = Paper(
    authors="F. A. B. da Silva and I. D. Scherson",
    title="Improving parallel job scheduling using runtime measurements",
    venue="JSSPP",
    year=2000,
    says=(
        "Measuring at run time what each task does, and running another task where one blocks, doubles the utilization "
        "of a gang-scheduled machine with I/O jobs and completes 1.5 times as many jobs."
    ),
    findings=(
        ("Every mix with I/O jobs gains in utilization and throughput", "SIL-8"),
        ("With I/O jobs alone utilization less than doubles, unless bursts have a constant length", "SIL-2a"),
        ("Spin control lowers utilization a little; throughput does not gain, and falls with one job model", "SIL-6a"),
    ),
    terms=(
        ("PE", "processing element: a processor with its own disk"),
        ("IO", "jobs that compute and use the disk by turns"),
        ("Msg", "jobs whose tasks send one another messages"),
        ("BSP", "jobs whose tasks meet at barriers (bulk-synchronous parallel)"),
        ("Emb", "jobs that only compute (embarrassingly parallel)"),
        ("IO/Msg", "a mix: each job that arrives is of one of these kinds"),
        ("KTH fit, CTC fit", "the model of arrivals, sizes and durations, fitted to the log of that machine"),
        (
            "without information",
            "gang scheduling: all tasks of a job run at once, a slice long; a PE whose task waits idles",
        ),
        ("with information", "where a task waits, the PE runs another of its tasks, chosen by what it was seen to do"),
        ("spin control", "a task that has waited in vain for a message a short while makes room, too"),
        ("constant bursts", "a reading: all computing and all disk accesses last equally long, not at random"),
        ("alternate selection", "a reading: without information, too, jobs of other rows fill columns that are empty"),
        ("uneven supersteps", "a reading: tasks reach a barrier at different times, not together"),
    ),
    defaults=(
        ("constant bursts", "bursts of random length"),
        ("alternate selection", "without information, empty columns stay empty"),
        ("uneven supersteps", "the tasks of a job reach a barrier together"),
        ("average over the last 5 slices", "the last slice alone"),
    ),
    others=(("Figures 1 and 2", "drawings: a task as a point of a fuzzy set, and a job with I/O"),),
    doi="10.1007/3-540-39997-6_2",
)
table1, table2, table3, table4, table5, table6 = PAPERS_TABLES
figure3, figure4, figure5, figure6, figure7, figure8, figure9, figure10, figure11 = PAPERS_FIGURES
BESIDE = (picture, time_spent, memberships, sensitivity, slice_lengths, machine_sizes, options)
FIGURES = (*PAPERS_TABLES, *PAPERS_FIGURES, *BESIDE)
