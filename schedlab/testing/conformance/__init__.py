"""The conformance suite: small logs that each isolate one choice of a scheduler, and whole logs of other simulators.

Two simulators of "EASY" seldom give the same schedule, because they differ in what no paper specifies: what ends at the
shadow time, which of two simultaneous events comes first, what a missing estimate means. Each case is a small log with
the schedule that follows from each convention, most of them worked out by hand. Run a simulator on the logs, and
`judge` says which conventions it follows, in which cases it follows none, and whether one convention explains all
cases. Given a whole log and when its jobs started, it says which scheme and conventions give these starts.
"""

from .files import read_starts
from .judging import Verdicts, fault, judge, others, picture
from .logs import Difference, LogVerdict
from .suite import KINDS, NONE, Answer, Case, case, cases, export, folder, mistakes

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
    "mistakes",
    "others",
    "picture",
    "read_starts",
]
