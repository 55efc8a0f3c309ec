"""Checks that your own policy or scheme should pass before you trust its figures."""

from .policies import check_policy
from .report import Check, CheckError, Report
from .schemes import check_scheme
from .workloads import trace_of

__all__ = ["Check", "CheckError", "Report", "check_policy", "check_scheme", "trace_of"]
