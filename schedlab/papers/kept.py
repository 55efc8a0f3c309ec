"""Kept results of the full size in data/results: ledgers and figures, and how they were made.

Full-size runs take long. Their results are kept as small tables: cards draw them, and conclusions quote nothing else.
`schedlab figures --size full --keep` recomputes them. They are stale if the kernels that produced them have changed
since.

The quick ledger is kept, too: it is the expected result of a quick run, and `moved` lists the differences.
"""

import ast
import gzip
import hashlib
import json
import os
import platform
import re
import shutil
import sys
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path

import numpy as np
import pandas as pd

from .. import __version__
from .._runtime.paths import data_dir
from ..show.ledgers import CONDITION, LEDGER, SAME, Ledger

PACKAGES = ("numpy", "numba", "pandas")
KERNELS = "schedlab.kernels"
PACKAGE = Path(__file__).parents[1]
COMPILING = ("_jit", "_compiler")  # modules of kernels
TIMED = ("SAB-15", "GRU-7")  # claims on times measured on this machine
EQUAL = 1e-6  # relative: kept numbers have nine digits
FULL, QUICK = "", "quick-"  # beginnings of the file names of each size
NUMBERED = re.compile(r"(Figure|Table)s? (\d+(?:(?:, | and | to )\d+)*)")
NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?")
INTERVAL = re.compile(rf"\[({NUMBER.pattern}) to ({NUMBER.pattern})\]")


def folder() -> Path:
    """Return the folder of kept results."""
    return data_dir() / "results"


def kernels_of(paper: str) -> dict[str, str]:
    """Return the kernels that a paper uses: for each module, the digest of its present code.

    These are the kernels that this process has compiled or loaded, and those that were kept for the paper before,
    because results may have come from a store.
    """
    used = set((made(paper) or {}).get("kernels", ()))
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{KERNELS}."):
            functions = [value for value in vars(module).values() if getattr(value, "__module__", None) == name]
            if any(getattr(function, "signatures", ()) for function in functions):  # compiled for some arguments
                used.add(name)
    return {name: digest for name in sorted(used) if (digest := kernel_digest(name)) is not None}


def kernel_digest(name: str) -> str | None:
    """Digest the code of a kernel module and of the modules that it imports; None if there is no such module.

    Comments and docstrings do not count, and neither does the way in which kernels are compiled.
    """
    codes, left = {}, [name]
    while left:
        module = left.pop()
        if module not in codes and (source := _source(module)) is not None:
            codes[module], imported = source
            left += imported
    text = "\n".join(codes[module] for module in sorted(codes))
    return hashlib.sha256(text.encode()).hexdigest()[:16] if codes else None


@cache  # every figure in a notebook asks for it, and kernels share most modules
def _source(name):
    """Return the code of a kernel module and what it imports; None for other modules and for those that compile."""
    within = name.removeprefix(f"{KERNELS}.").replace(".", "/")
    if not name.startswith(f"{KERNELS}.") or within in COMPILING:
        return None
    paths = (PACKAGE / "kernels" / f"{within}.py", PACKAGE / "kernels" / within / "__init__.py")
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _dumped(_without_docstrings(tree)), tuple(_imported(tree, package))


def _imported(tree, package):
    """Return what a module of a package imports from other modules, whether modules or names in them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package)
            yield from (origin, *(f"{origin}.{alias.name}" for alias in node.names))


def _without_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _dumped(part):
    """Write a part of a syntax tree; unlike `ast.dump`, in the same way with any version of Python.

    Each version adds fields, which are empty in the code of older ones.
    """
    if isinstance(part, list):
        return f"[{', '.join(map(_dumped, part))}]"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = (f"{name}={_dumped(value)}" for name, value in ast.iter_fields(part) if value is not None and value != [])
    return f"{type(part).__name__}({', '.join(fields)})"


def keep(paper: str, ledger: pd.DataFrame, quick: pd.DataFrame, figures: Iterable, seconds: float) -> None:
    """Keep the ledgers and figures of a paper; what was kept before stays in place until the new results are complete.

    `ledger` and `figures` are of the full size, which took some seconds; `quick` is the ledger of a quick run.
    """
    place = folder() / paper
    new, old = (place.with_name(f".{paper}-{os.getpid()}-{name}") for name in ("new", "old"))
    new.mkdir(parents=True)
    try:
        _write(new, {FULL: ledger, QUICK: quick}, figures, seconds, kernels_of(paper))
        if place.exists():
            place.rename(old)
        new.rename(place)
    finally:
        if old.exists() and not place.exists():
            old.rename(place)
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    ledger_of.cache_clear()


def _write(place, ledgers, figures, seconds, kernels):
    for size, ledger in ledgers.items():
        ledger[[name for name in LEDGER if name != "conditions"]].to_csv(place / f"{size}ledger.csv", index=False)
        rows = [{"row": number, **row} for number, several in enumerate(ledger["conditions"]) for row in several]
        conditions = pd.DataFrame(rows, columns=["row", *CONDITION])
        (place / f"{size}conditions.csv.gz").write_bytes(_packed(conditions.to_csv(index=False)))
    for figure in figures:
        if figure.data.empty:
            raise ValueError(f"{figure.name} has nothing to keep: {figure.seen}")
        text = figure.data.infer_objects().to_csv(index=False, float_format="%.9g")
        (place / f"{figure.name}.csv.gz").write_bytes(_packed(text))
    about = {
        "schedlab": __version__,
        **{name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "made": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "seconds": round(seconds),
        "size": "full",
        "kernels": kernels,
    }
    (place / "made.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _packed(text):
    return gzip.compress(text.encode(), mtime=0)  # no time stamp: same text, same bytes


def made(paper: str) -> dict | None:
    """Return how the kept results of a paper were made: versions, date, machine, seconds; None if none are kept."""
    path = folder() / paper / "made.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def stale(paper: str) -> bool:
    """Tell whether the kernels that a paper uses have changed since its results were kept."""
    return any(kernel_digest(name) != digest for name, digest in made(paper)["kernels"].items())


@cache
def ledger_of(paper: str, size: str = FULL) -> Ledger | None:
    """Return the kept ledger of a paper, of the full size or of a quick run (`QUICK`); None if none is kept."""
    place = folder() / paper
    if not (place / f"{size}ledger.csv").is_file():
        return None
    table = pd.read_csv(place / f"{size}ledger.csv", keep_default_na=False, dtype=str)
    conditions = pd.read_csv(place / f"{size}conditions.csv.gz", keep_default_na=False, dtype=str)
    return Ledger(table.assign(conditions=[_of_row(conditions, number) for number in range(len(table))]))


def _of_row(conditions, number):
    return conditions[conditions["row"] == str(number)].drop(columns="row").to_dict("records")


def moved(expected: pd.DataFrame, ledger: pd.DataFrame, timed: Collection[str] = TIMED) -> list[str]:
    """List the rows of a ledger that differ from the expected ones, which were kept, one line each.

    A row differs if it starts or stops to reproduce, is new or missing, or has a condition that has moved outside
    its previous interval. Claims on measured times (`timed`) differ between machines: only their verdicts are compared.
    """
    old, new = _by_claim(expected), _by_claim(ledger)
    lines = [f"{claim}, {statement}: no longer there" for claim, statement, _ in sorted(old.keys() - new.keys())]
    for key, row in new.items():
        name, before = f"{key[0]}, {key[1]}", old.get(key)
        if before is None:
            lines.append(f"{name}: new")
        elif before["verdict"] != row["verdict"]:
            lines.append(f"{name}: {before['verdict']} before, {row['verdict']} now")
        elif key[0] not in timed:
            lines += [f"{name}: {change}" for change in _moved_conditions(before, row)]
    return lines


def _by_claim(table):
    return {tuple(row[name] for name in SAME): row for row in table.to_dict("records")}


def _moved_conditions(before, now):
    old, new = _measured(before), _measured(now)
    for condition in {**old, **new}:
        if not _within(old.get(condition, ""), new.get(condition, "")):
            yield f"{condition} was {old.get(condition, 'not there')}, is {new.get(condition, 'not there')}"


def _measured(row):
    """Return the measured value under each condition, or of a claim without conditions."""
    if not row["conditions"]:
        return {"what was measured": row["measured"]}
    return {
        f"{part['check']} ({part['condition']}; {part['expected']})": part["measured"] for part in row["conditions"]
    }


def _within(old, new):
    """Tell whether a number, as `show.interval` writes it, lies in another's interval; words must be the same."""
    if old == new:
        return True
    was, value = INTERVAL.search(old), NUMBER.match(new)
    return bool(was and value) and _number(was[1]) <= _number(value[0]) <= _number(was[2])


def _number(text):
    return float(text.replace(",", ""))


def numbers_of(paper: str, figure: str) -> pd.DataFrame | None:
    """Return the kept numbers of a figure; None if none are kept."""
    path = folder() / paper / f"{figure}.csv.gz"
    return pd.read_csv(path) if path.is_file() else None


def compared(
    before: pd.DataFrame,
    now: pd.DataFrame,
    by: Iterable[str],
    measures: Iterable[str],
    within: dict[str, tuple[str, str]] | None = None,
) -> pd.DataFrame:
    """Compare runs made just now with kept ones: a row for each group (by the columns `by`) and measure made just now.

    The columns are those of `by`; measure, now, low, high, agrees. Where both have seeds, a run agrees if it gives the
    number of the kept run of its seed, and runs of other seeds if their mean lies within the kept single runs of the
    group. Without seeds, numbers must be the same, or lie between two columns of the kept table, which `within` names
    for a measure. A group that is not kept does not agree; one that has no number in either is left out.
    """
    by, within, parts = list(by), within or {}, []
    seeds = "seed" in before and "seed" in now
    for measure in measures:
        if seeds:
            kept_runs = before.groupby(by, dropna=False, sort=False)[measure].agg(["min", "max"])
            both = now[[*by, "seed", measure]].merge(before[[*by, "seed", measure]], on=[*by, "seed"])
            pair = both[[f"{measure}_x", f"{measure}_y"]].to_numpy(float).T
            both["same"] = np.isclose(*pair, rtol=EQUAL, atol=0, equal_nan=True)
            twins = both.groupby(by, dropna=False)["same"].all()
        else:
            low, high = within.get(measure, (measure, measure))
            kept_runs = before.set_index(by)[list(dict.fromkeys((low, high)))]
            kept_runs = pd.DataFrame({"min": kept_runs[low], "max": kept_runs[high]})
        means = now.groupby(by, dropna=False, sort=False)[measure].mean().rename("now")
        rows = kept_runs.join(means, how="right").rename(columns={"min": "low", "max": "high"})
        value, low, high = (rows[name].to_numpy(float) for name in ("now", "low", "high"))
        slack = EQUAL * np.maximum(np.abs(low), np.abs(high))
        agrees = (value >= low - slack) & (value <= high + slack)
        if seeds:
            agrees &= twins.reindex(rows.index, fill_value=True).to_numpy(bool)
        some = ~(np.isnan(value) & np.isnan(low))
        parts.append(rows.assign(measure=measure, agrees=agrees)[some].reset_index())
    columns = [*by, "measure", "now", "low", "high", "agrees"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def claims_about(paper: str, number: str, others: Iterable[str] = ()) -> pd.DataFrame:
    """Return the rows of a paper's kept ledger that name a figure or table, or have one of some ids."""
    ledger = ledger_of(paper) if paper else None
    if ledger is None:
        return pd.DataFrame()
    named = [
        number in named_in(where) or claim in others for claim, where in zip(ledger["id"], ledger["where"], strict=True)
    ]
    return ledger[named].reset_index(drop=True)


def named_in(where: str) -> set[str]:
    """Return the figures and tables that a place names, each by its number.

    Examples
    --------
    >>> sorted(named_in("Figures 4 to 6")), named_in("caption of Figure 8"), named_in("section 5")
    (['Figure 4', 'Figure 5', 'Figure 6'], {'Figure 8'}, set())
    """
    names = set()
    for kind, numbers in NUMBERED.findall(where):
        for part in re.split(r",| and ", numbers):
            first, _, last = part.partition(" to ")
            if first.strip():
                names |= {f"{kind} {number}" for number in range(int(first), int(last or first) + 1)}
    return names
