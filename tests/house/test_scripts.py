"""The page's scripts are few: what Python and its kernels can do is not written again in JavaScript."""

import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "schedlab/web"
MOST = 1_500  # lines of code of all scripts


def code_of(script):
    """Return the lines of a script that are neither empty nor comments."""
    lines = re.sub(r"/\*\*.*?\*/", "", script, flags=re.DOTALL).splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("//")]


def test_they_are_few():
    count = {path.name: len(code_of(path.read_text("utf-8"))) for path in WEB.glob("*.mjs")}
    assert len(count) > 5
    assert sum(count.values()) <= MOST, count


@pytest.mark.parametrize(
    ("script", "lines"),
    [("a();\n\n// b\n", 1), ("/** One.\n *\n * More.\n */\nf(2 ** 3, 4); // five\n", 1), ("a();\nb();", 2), ("", 0)],
)
def test_lines_of_code_are_counted(script, lines):
    assert len(code_of(script)) == lines
