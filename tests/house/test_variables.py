"""The page on environment variables names those that the package reads, and no others."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

import schedlab as sl

PACKAGE = Path(sl.__file__).parent
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "notebooks/site/guide/environment.md"
OURS = re.compile(r"\b(?:SCHEDLAB|XDG)_[A-Z_]+\b")
PYTHONS = {"PATH", "PYTHONHASHSEED", "PYTHONPATH", "PYTHONWARNINGS"}  # passed on to processes
TOOLS = ("web/build.py",)  # makes the WebAssembly module, in an environment of its own


def is_environ(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "environ"


def keys(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that name a variable which the code reads."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="get", value=value), args=[key, *_]) if is_environ(value):
                yield key
            case ast.Call(func=ast.Attribute(attr="getenv") | ast.Name(id="getenv"), args=[key, *_]):
                yield key
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if is_environ(value):
                yield key
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[value]) if is_environ(value):
                yield key


def constants(tree: ast.Module) -> dict[str, str]:
    """Return the texts that a module names."""
    return {
        statement.targets[0].id: statement.value.value
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    }


def names_read(trees: dict[str, ast.Module]) -> tuple[set[str], list[str]]:
    """Return the names of the variables that modules read, and the places where a name cannot be told."""
    texts = {name: text for tree in trees.values() for name, text in constants(tree).items()}
    names = set()
    unknown = []
    for place, tree in trees.items():
        for key in keys(tree):
            name = key.value if isinstance(key, ast.Constant) else texts.get(getattr(key, "id", ""))
            if name is None:
                unknown.append(f"{place}:{key.lineno}")
            else:
                names.add(name)
    return names, unknown


def read_by_the_package() -> set[str]:
    places = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {place: ast.parse(path.read_text("utf-8")) for place, path in places.items() if place not in TOOLS}
    names, unknown = names_read(trees)
    assert not unknown, f"{unknown}: name the variable by a text, or by a constant of a module"
    return names - PYTHONS


def rows(page: str) -> set[str]:
    """Return the variables that have a row in a table of the page."""
    return set(re.findall(r"^\| `([A-Z_]+)(?:=\w+)?` \|", page, re.MULTILINE))


def test_each_variable_that_is_read_has_a_row_and_no_other_has_one():
    read = read_by_the_package() | set(OURS.findall((ROOT / "Makefile").read_text("utf-8")))
    page = PAGE.read_text("utf-8")
    named = {name for name in rows(page) if OURS.fullmatch(name)}
    assert read - named == set(), "is read, but has no row in guide/environment.md"
    assert named - read == set(), "has a row in guide/environment.md, but nothing reads it"
    assert set(OURS.findall(page)) == named


def test_the_other_variables_of_the_page_are_settings_of_numba():
    others = {name for name in rows(PAGE.read_text("utf-8")) if not OURS.fullmatch(name)}
    assert others
    assert [name for name in others if not {name, name.removeprefix("NUMBA_")} & {*dir(numba.config)}] == []


@pytest.mark.parametrize(
    "text",
    [
        'import os\nos.environ.get("SCHEDLAB_NEW")',
        'from os import environ\nenviron["SCHEDLAB_NEW"]',
        'import os\nos.getenv("SCHEDLAB_NEW", "1")',
        'import os\nNEW = "SCHEDLAB_NEW"\nif NEW not in os.environ: pass',
    ],
)
def test_a_new_variable_is_found_however_it_is_read(text):
    assert names_read({"new.py": ast.parse(text)}) == ({"SCHEDLAB_NEW"}, [])


def test_a_name_that_is_computed_is_refused_and_one_that_is_set_is_not_read():
    text = "import os\nos.environ['SCHEDLAB_SET'] = '1'\nos.environ.get(prefix + 'NEW')"
    assert names_read({"new.py": ast.parse(text)}) == (set(), ["new.py:3"])
