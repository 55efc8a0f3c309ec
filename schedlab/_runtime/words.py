"""The words that arguments may be, for editors and type checkers."""

from typing import Literal

Overrun = Literal["kill", "extend", "keep", "kill-backfilled"]
Events = Literal["batched", "each"]
Rescaled = Literal["run_time", "interarrival", "effective"]
MissingEstimate = Literal["run", "drop"] | float
Shadow = Literal["count", "block"]
