"""Names inside functions say what a thing is; those that say nothing are counted, and only ever become fewer.

A case is what one simulation needs, and nothing else.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import schedlab as sl

ROOT = Path(sl.__file__).parent
TESTS = Path(__file__).parents[1]
FILLERS = {"found", "given", "words", "one", "said", "told", "each", "own", "asked", "shown", "made", "done"}
CASE = re.compile(r"(^|_)cases?(_|$)", re.IGNORECASE)
# Rooms of simulations, whose cases are all of the one kind.
SIMULATING = ("schedlab/schedule/", "schedlab/schemes/", "schedlab/testing/")
SIMULATING += ("tests/benchmarks/", "tests/kernels/", "tests/schedule/", "tests/schemes/", "tests/testing/")
SIMULATING += ("tests/museum.py", "tests/mutants.py", "tests/planted.py")
# Shown to readers, who know the conditions of a claim as cases.
HEADINGS = {"schedlab/papers/pascual2008/figures.py": ["case"], "schedlab/show/ledgers.py": ["case"]}
MOST = {"fillers": 36, "double assignments": 1007}


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


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names in code: of variables, parameters, attributes, functions, classes, modules and columns."""
    for node in ast.walk(tree):
        for field in ("id", "arg", "attr", "name", "asname"):
            yield getattr(node, field, None) or ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value


def other_cases(tree: ast.Module) -> list[str]:
    """Return the names of cases in statements of a module that have nothing to do with `Case`.

    What makes a case (`Case`, `case_of`), what takes one (`simulate`) and ``schedule.case`` have to do with it.
    """
    others = []
    for statement in tree.body:
        nodes, names = list(ast.walk(statement)), list(bound_names(statement))
        taken = any(isinstance(node, ast.FunctionDef) and node.name == "simulate" for node in nodes)
        if not (taken or {"Case", "case_of"} & {*names}):
            of_schedules = sum(getattr(node, "attr", "") == "case" for node in nodes)
            others += sorted(name for name in names if CASE.search(name) and name != "case")
            others += ["case"] * (names.count("case") - of_schedules)
    return others


def test_a_case_is_what_one_simulation_needs():
    places = {path.relative_to(room.parent).as_posix(): path for room in (ROOT, TESTS) for path in room.rglob("*.py")}
    others = {
        place: other_cases(ast.parse(path.read_text("utf-8")))
        for place, path in places.items()
        if "statistics" in place or not place.startswith(SIMULATING)
    }
    del others["tests/house/test_vocabulary.py"]
    assert {place: names for place, names in others.items() if names} == HEADINGS


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(check): return [case for case in check.rows]", ["case", "case"]),
        ("class Check:\n    def cases(self): pass", ["cases"]),
        ("row['kept_cases'], row['a case'] = LEDGER_CASES, case(1)", ["LEDGER_CASES", "kept_cases", "case"]),
        ("def f(best_case): pass", ["best_case"]),
        ("from a import b as case", ["case"]),
        ("f(case=1)", ["case"]),
        ("def f():\n    case, _ = case_of(log, scheme)\n    return case.jobs", []),
        ("class Mine(Scheme):\n    def simulate(self, case): return case.outcome([])", []),
        ("a, b = schedule.case.jobs, name.casefold()", []),
    ],
)
def test_a_second_meaning_of_case_is_refused(text, names):
    assert other_cases(ast.parse(text)) == names
