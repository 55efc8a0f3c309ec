"""The conformance suite: small logs that each isolate one choice of a scheduler, and the results of other simulators.

Two simulators of "EASY" seldom give the same schedule, because they differ in what no paper specifies: what ends at the
shadow time, which of two simultaneous events comes first, what a missing estimate means. Each case is a log of two to
five jobs, with the schedule that follows from each convention, worked out by hand. Run a simulator on the logs, and
`judge` says which conventions it follows, and in which cases it follows none.
"""

from .files import read_starts
from .judging import Verdicts, fault, judge, others
from .logs import Difference, LogVerdict
from .suite import KINDS, NONE, Answer, Case, case, cases, export, folder

__all__ = [
    "KINDS",
    "NONE",
    "Answer",
    "Case",
    "Difference",
    "LogVerdict",
    "Verdicts",
    "case",
    "cases",
    "export",
    "fault",
    "folder",
    "judge",
    "others",
    "read_starts",
]
