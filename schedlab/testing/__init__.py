"""What a policy of one's own must pass before its figures are believed."""

from .policies import check_policy
from .report import Check, CheckError, Report

__all__ = ["Check", "CheckError", "Report", "check_policy"]
