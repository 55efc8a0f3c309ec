"""Which tests notice a mistake? Plant small mistakes in a module, one at a time, and run tests on each.

    python tests/mutation.py schedlab/schedule/statistics/batches.py tests/schedule/test_statistics.py --mutants 40

A mistake is another comparison, sign, connective or number. What survives is printed with its line: a test is missing,
or the line does not matter. With --all each mutant runs every test instead of stopping at the first that fails; then
the tests that killed nothing are listed, too: they may go if no other module needs them. The work is done in a copy,
with numba's JIT off, so kernels can be mutated like any other module.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPERATIONS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
CONNECTIVES = {ast.And: ast.Or, ast.Or: ast.And}


def sites(tree: ast.Module) -> list:
    """Return what can be mutated: (node, attribute, the value to put there)."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    places = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            places.append((node, "ops", [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]))
        elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATIONS:
            places.append((node, "op", OPERATIONS[type(node.op)]()))
        elif isinstance(node, ast.BoolOp):
            places.append((node, "op", CONNECTIVES[type(node.op)]()))
        elif isinstance(node, ast.Constant) and id(node) not in docstrings and type(node.value) in (int, float, bool):
            places.append((node, "value", not node.value if isinstance(node.value, bool) else node.value + 1))
    return places


def failures(folder: Path, tests: list[str], stop: bool) -> set[str] | None:
    """Return the tests that fail in a folder, by name; None if they do not end in time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not browser", *tests]
    env = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = subprocess.run(
            [*command, *["-x"] * stop], cwd=folder, env=env, capture_output=True, text=True, timeout=300
        )
    except subprocess.TimeoutExpired:
        return None
    failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE))
    return failed or ({"collection"} if run.returncode else set())


def main() -> int:
    """Plant the mistakes; the exit code tells whether one survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--mutants", type=int, default=30, help="how many, drawn at random (default: 30)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--all", action="store_true", help="run all tests on each mutant, and list those that kill none"
    )
    options = parser.parse_args()
    source = (ROOT / options.module).read_text(encoding="utf-8")
    count = len(sites(ast.parse(source)))
    chosen = sorted(random.Random(options.seed).sample(range(count), min(options.mutants, count)))
    kills, survivors = Counter(), 0
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary)
        for name in ("schedlab", "tests", "data", "notebooks"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        if before := failures(copy, options.tests, stop=True):
            raise SystemExit(f"these tests fail without a mistake: {', '.join(before)}")
        for number in chosen:
            tree = ast.parse(source)
            node, attribute, value = sites(tree)[number]
            right = ast.unparse(node)
            setattr(node, attribute, value)
            (copy / options.module).write_text(ast.unparse(tree), encoding="utf-8")
            killers = failures(copy, options.tests, stop=not options.all)
            kills.update(killers or ())
            if killers == set():
                survivors += 1
                print(f"survived: {options.module}:{node.lineno}: {right} -> {ast.unparse(node)}", flush=True)
        print(f"{survivors} of {len(chosen)} mutants survived ({count} places)")
        if options.all:
            collected = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "--collect-only", *options.tests],
                cwd=copy, capture_output=True, text=True, check=True,
            )  # fmt: skip
            for test in collected.stdout.split("\n\n")[0].splitlines():
                if not kills[test.split(" ")[0]]:
                    print(f"kills nothing: {test}")
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
