"""Which columns of kept results no card needs, so that the wheel goes without: ``python tests/kept_columns.py``.

A column is needed if a card without it is another one, or cannot be made, or if runs are compared by it. The list is
`data/results/unneeded.json`, which `data/wheel.py` reads; tests/house/test_install.py compares the cards of the wheel.
"""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from schedlab import charts, papers
from schedlab.papers import kept

LEAST = 8_000  # bytes of a file that is worth it


def made_of(card):
    """Return all that a card shows, as text."""
    chart = None if card.chart is None else charts.specified(card.chart)
    return json.dumps([card.head(), chart, card.below()], sort_keys=True, default=str)


def compared_by(figure):
    """Return the columns by which new runs are compared with kept ones."""
    ways = figure.compared
    return {
        "seed",
        *ways["by"],
        *ways["measures"],
        *(name for pair in (ways["within"] or {}).values() for name in pair),
    }


def unneeded(figures, name, path):
    """Return the columns of a kept table without which the card of its figure, and all others, are the same."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    content = path.read_bytes()

    def is_same_without(columns, names):
        table.drop(columns=columns).to_csv(path, index=False)
        try:
            return all(made_of(figures[each].as_kept()) == whole[each] for each in names)
        except Exception:  # whatever a card raises that misses a column
            return False
        finally:
            path.write_bytes(content)

    whole = {each: made_of(figure.as_kept()) for each, figure in figures.items() if figure.as_kept() is not None}
    compared = compared_by(figures[name])
    columns = [column for column in table if column not in compared and is_same_without([column], [name])]
    if columns and not is_same_without(columns, whole):  # another figure draws some of them
        columns = [column for column in columns if is_same_without([column], whole)]
    return columns if columns and is_same_without(columns, whole) else []


def main():
    left = {}
    with TemporaryDirectory() as folder:
        copy = Path(folder, "results")
        original = kept.folder()
        shutil.copytree(original, copy)
        kept.folder = lambda: copy
        for paper, module in zip(papers.PAPERS, papers.modules(), strict=True):
            figures = {figure.__name__.replace("_", "-"): figure for figure in module.FIGURES}
            for name in figures:
                path = copy / paper / f"{name}.csv.gz"
                if path.is_file() and path.stat().st_size >= LEAST and (columns := unneeded(figures, name, path)):
                    left[f"{paper}/{path.name}"] = columns
                    print(paper, name, columns, file=sys.stderr)
    (original / "unneeded.json").write_text(json.dumps(left, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
