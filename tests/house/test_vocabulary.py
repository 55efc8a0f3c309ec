"""Names inside functions say what a thing is; those that say nothing are counted, and only ever become fewer."""

import ast
from pathlib import Path

import pytest

import schedlab as sl

ROOT = Path(sl.__file__).parent
FILLERS = {"found", "given", "words", "one", "said", "told", "each", "own", "asked", "shown", "made", "done"}
MOST = {"fillers": 41, "double assignments": 1017}


def fillers(tree: ast.Module) -> list[str]:
    """Return the names of variables and parameters that are fillers."""
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    return [name for name in names if name.strip("_") in FILLERS]


def double_assignments(tree: ast.Module) -> list[ast.Assign]:
    """Return the assignments of several values to several names in one line."""
    assignments = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    return [
        each for each in assignments if isinstance(each.targets[0], ast.Tuple) and isinstance(each.value, ast.Tuple)
    ]


@pytest.mark.parametrize(("what", "count"), [("fillers", fillers), ("double assignments", double_assignments)])
def test_there_are_no_more_of_them_and_what_has_gone_stays_away(what, count):
    places = {path.relative_to(ROOT): len(count(ast.parse(path.read_text("utf-8")))) for path in ROOT.rglob("*.py")}
    most = sorted(places, key=places.get, reverse=True)[:5]
    assert sum(places.values()) == MOST[what], (
        f"{sum(places.values())} {what}, expected {MOST[what]}: say the noun (CONTRIBUTING.md), or lower the number "
        f"here if there are fewer; fillers are {', '.join(sorted(FILLERS))}, and each binding counts, a second one of "
        f"the same name too; most are in {', '.join(map(str, most))}"
    )


def test_a_filler_is_counted_wherever_a_name_is_bound():
    text = "found = 1\nfor one in x:\n    pass\ndef f(words, *given): return [said for said in words]\nlambda each: 0"
    assert sorted(fillers(ast.parse(text))) == ["each", "found", "given", "one", "said", "words"]
    assert len(double_assignments(ast.parse("a, b = 1, 2\nc, d = f()\ne = f, g = 1, 2"))) == 1
