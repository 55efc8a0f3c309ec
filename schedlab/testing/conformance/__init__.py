"""The conformance suite: small logs that each isolate one choice of a scheduler, and whole logs of other simulators.

Two simulators of "EASY" seldom give the same schedule, because they differ in what no paper specifies: what ends at the
shadow time, which of two simultaneous events comes first, what a missing estimate means. Each probe is a small log with
the schedule that follows from each convention, most of them worked out by hand. Run a simulator on the logs, and
`judge` says which conventions it follows, in which probes it follows none, and whether one convention explains all
probes. Given a whole log and when its jobs started, it says which scheme and conventions give these starts.
"""

from .files import read_starts
from .judging import Verdicts, fault, judge
from .logs import Difference, LogVerdict
from .simulators import others, picture
from .suite import KINDS, NONE, Answer, Probe, export, folder, mistakes, probe, probes

__all__ = [
    "KINDS",
    "NONE",
    "Answer",
    "Difference",
    "LogVerdict",
    "Probe",
    "Verdicts",
    "export",
    "fault",
    "folder",
    "judge",
    "mistakes",
    "others",
    "picture",
    "probe",
    "probes",
    "read_starts",
]
