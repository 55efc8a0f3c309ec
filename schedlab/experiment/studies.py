"""A study in a file: a grid shared by job arrays or several computers, where each process runs a part of the plan."""

import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from .._runtime.text import plain, spelt
from .grids import Known, Plan, planned
from .results import tabled
from .stores import Store

EXPECTED = "expected a study: a Python file that defines a function run, and values as grid takes them"


def read_study(path: str | os.PathLike) -> Plan:
    """Read the plan of a study: a Python file that defines ``run`` and ``values``, as `grid` takes them.

    It may also define ``combinations``, a list of mappings. The file is executed. Raises ValueError if these names are
    missing or something else.
    """
    path, file = Path(path), plain(str(path))
    if not path.is_file():
        raise FileNotFoundError(f"{file}: no such file, {EXPECTED}")
    # Not as a module that others may import: its functions are sent to workers by value.
    sys.path.insert(0, str(path.parent.resolve()))  # as when the file is run as a script
    try:
        namespace = runpy.run_path(str(path), run_name="schedlab_study")
    except (Exception, SystemExit) as error:  # whatever the user's file raises
        raise ValueError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    run, values, combinations = (namespace.get(name) for name in ("run", "values", "combinations"))
    if not callable(run):
        raise ValueError(f"{file} defines no function run, {EXPECTED}")
    if not isinstance(values or {}, Mapping) or (values is None and combinations is None):
        expected = "expected a mapping such as {'load': [0.7, 0.8]}; the file only names them, and does not call grid"
        raise ValueError(f"{file}: values is {spelt(values)}, {expected}")
    try:
        return planned(run, combinations, **(values or {}))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from None


def shard_of(plan: Plan, number: int, count: int) -> Plan:
    """Return one part of a plan, from 1 to `count`. Every run is in exactly one part, and all cost about the same."""
    # By keys, which are as good as random: in the plan's order, one part could get the costly scheme of each pair.
    chosen = set(sorted(set(plan.keys))[number - 1 :: count])
    places = [place for place, key in enumerate(plan.keys) if key in chosen]
    return Plan(plan.run, [plan.runs[place] for place in places], [plan.names[place] for place in places])


def status(plan: Plan, store: str | os.PathLike | Store) -> tuple[dict, pd.DataFrame]:
    """Return how many runs of a plan are done, failed and to do, and the failed ones: values, error and error_at."""
    results = Known(plan, store, look=True).in_order()
    failed = [place for place, result in enumerate(results) if result is not None and result.failed]
    missing = results.count(None)
    counts = {"done": len(plan) - len(failed) - missing, "failed": len(failed), "to do": missing}
    return counts, tabled([plan.names[i] for i in failed], [results[i] for i in failed], True)


def table(plan: Plan, store: str | os.PathLike | Store) -> pd.DataFrame | None:
    """Return the table of a plan, or None until all its runs are there."""
    known = Known(plan, store, look=True)
    return None if known.missing else tabled(plan.names, known.in_order(), True)
