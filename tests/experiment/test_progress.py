"""Progress of a grid: a bar in a terminal, few lines in a file, nothing where it is quick."""

import io
import re
import sys
import time

import pytest

import schedlab as sl
from schedlab.experiment import progress

pytestmark = pytest.mark.tables


class Terminal(io.StringIO):
    def isatty(self):
        return True


def slow(a):
    time.sleep(0.12)  # a bar is drawn anew after 0.1 s at the earliest
    if a == 1:
        raise ValueError("one")
    return a


def test_a_terminal_gets_a_bar_that_is_taken_away(monkeypatch):
    sl.experiment.forget()
    monkeypatch.setattr(progress, "SILENT", 0.15)
    monkeypatch.setattr(sys, "stderr", Terminal())
    sl.grid(slow, a=range(5), threads=1, activity="trying", errors="keep")
    shown = sys.stderr.getvalue()
    assert re.search(r"\rtrying:  [468]0%\|.*\| [234]/5 \[00:0\d<00:0\d, .*, failed=1\]", shown)
    assert shown.endswith("\r")


def test_a_file_gets_few_lines(monkeypatch):
    monkeypatch.setattr(progress, "SILENT", 0.02)
    monkeypatch.setattr(progress, "LINES", 0.2)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    begin = time.monotonic()
    sl.grid(lambda a: time.sleep(0.01) or a, a=range(80), threads=1)
    took = time.monotonic() - begin
    lines = sys.stderr.getvalue().splitlines()
    assert 3 <= len(lines) <= 2 + took / 0.2
    assert all(re.fullmatch(r"running: +\d+%\|.*\| \d+/80 \[.*", line) for line in lines)
    assert "80/80" in lines[-1]
