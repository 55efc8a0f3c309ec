"""Fuzzers: programs that draw extreme input for a given time and stop at the first failure; see README.md."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that the fuzzers find the tests' shared modules
