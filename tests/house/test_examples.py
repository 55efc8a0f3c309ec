"""The examples in docstrings give the output that they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import schedlab as sl

ROOT = Path(sl.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_give_what_they_say(module):
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for text in doctest.DocTestFinder().find(import_module(module.removesuffix(".__init__"))):
        if text.examples:  # for each that has none, doctest looks at all files that Python has read
            runner.run(text)
    found = runner.summarize()
    assert found.attempted
    assert not found.failed
