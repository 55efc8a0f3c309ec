"""The report: every figure and the ledger of every paper, in one HTML page that needs no network."""

import html
import json
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import altair as alt
import pandas as pd
import vl_convert
from tqdm.auto import tqdm

from schedlab import __version__, papers
from schedlab.workload import archive

VERSIONS = ("schedlab", "numpy", "numba", "pandas", "altair")
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 1px solid #ccc; padding-top: 1rem; margin-top: 2.5rem; }
nav li { margin: .15rem 0; } figure { margin: 1.5rem 0; } figcaption { max-width: 48rem; }
svg.marks { max-width: 100%; height: auto; } .wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: 1rem 0; } th { text-align: left; }
td:first-child, td.number, td[class] { white-space: nowrap; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.note { background: #fff4d6; border-left: 4px solid #e69f00; padding: .5rem 1rem; }
.reproduced { color: #00734f; } .not-reproduced { color: #b3261e; } .trend-only { color: #8a5a00; }
@media (max-width: 60rem) { table { font-size: .75rem; } th, td { padding: .2rem .35rem; } }
@media print { figure, tr { break-inside: avoid; } body { margin: 0; max-width: none; } }
"""
VEGA_LITE = alt.SCHEMA_VERSION.removeprefix("v").rpartition(".")[0]  # the version that the charts are written in
EMBED = """window.draw = (id, spec) => {
  const place = document.getElementById(id);
  vegaEmbed(place, spec, {actions: false, renderer: 'svg'}).catch(error => { place.textContent = error; });
};"""


def figures(out: str | os.PathLike, size: str | None = None, progress: bool = True, only: Iterable[str] = ()) -> Path:
    """Rebuild every figure and ledger and write the page.

    Parameters
    ----------
    out : path
        The page; its folder is made if missing. It appears only when it is whole.
    size : {"quick", "full"}, optional
        As the environment variable SCHEDLAB_SIZE says if left out, else quick.
    progress : bool
        Show progress bars.
    only : names of papers
        All if left out.
    """
    size = papers.chosen_size(size)
    out = Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)  # first, since a folder that cannot be had is better known early
    sections = []
    for paper in tqdm(papers.modules(only), desc="papers", unit="paper", delay=1, disable=not progress):
        built = [function(size=size, progress=progress) for function in paper.FIGURES]
        sections.append((paper.__name__.rpartition(".")[2], paper.TITLE, built, paper.claims(size, progress)))
    part = out.with_name(f".{os.getpid()}.{out.name}")
    try:
        part.write_text(_page(sections, size), encoding="utf-8")
        os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)
    return out


def pictures(
    folder: str | os.PathLike, size: str | None = None, progress: bool = True, only: Iterable[str] = ()
) -> list[Path]:
    """Rebuild every figure of some papers that has a chart and write it as ``PAPER-FIGURE.png``; give the files."""
    written = []
    for paper in papers.modules(only):
        for function in paper.FIGURES:
            figure = function(size=size, progress=progress)
            if figure.chart is not None:
                path = Path(folder) / f"{paper.__name__.rpartition('.')[2]}-{figure.name}.png"
                figure.chart.save(path, scale_factor=1.5)
                written.append(path)
    return written


def _page(sections, size):
    contents = "".join(
        f'<li><a href="#{name}">{_text(title)}</a><ul>'
        + "".join(f'<li><a href="#{name}-{figure.name}">{_text(figure.title)}</a></li>' for figure in built)
        + f'<li><a href="#{name}-ledger">Ledger</a></li></ul></li>'
        for name, title, built, _ in sections
    )
    notes = dict.fromkeys(note for _, _, built, _ in sections for figure in built for note in figure.notes)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>schedlab: figures</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{STYLE}</style>",
            f"<script>{vl_convert.javascript_bundle(EMBED, vl_version=VEGA_LITE)}</script></head><body>",
            "<h1>Figures rebuilt by schedlab</h1>",
            f"<p>{_text(_settings(size))}</p>",
            *(f'<p class="note">{_text(note)}</p>' for note in notes),
            f"<nav><h2>Contents</h2><ul>{contents}</ul></nav>",
            *(_section(*section) for section in sections),
            _traces(),
            "</body></html>\n",
        ]
    )


def _settings(size):
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    packages = ", ".join(f"{name} {__version__ if name == 'schedlab' else version(name)}" for name in VERSIONS)
    return f"Made {made}, size {size}; {packages}, Python {platform.python_version()}. Times in seconds unless said."


def _section(name, title, built, ledger):
    parts = [f'<section id="{name}"><h2>{_text(title)}</h2>']
    for figure in built:
        key = f"{name}-{figure.name}"
        parts.append(f'<figure id="{key}"><h3>{_text(figure.title)}</h3>')
        if figure.chart is not None:
            spec = json.dumps(figure.chart.to_dict()).replace("<", "\\u003c")  # no word may end the script
            parts.append(f'<div id="{key}-chart"></div><script>draw("{key}-chart", {spec})</script>')
        parts.append(f"<figcaption>{_text(figure.caption)}</figcaption>")
        if figure.table is not None:
            parts.append(_table(figure.table))
        parts.append("</figure>")
    told = ledger.loc[:, (ledger != "").any()]
    parts.append(f'<h3 id="{name}-ledger">Ledger: published and measured</h3>{_table(told)}</section>')
    return "".join(parts)


def _traces():
    thanked = archive.catalogue()["acknowledge"]
    rows = [f"<li>{_text(name)}: {_text(str(whom))}</li>" for name, whom in thanked.items() if archive.find(name)]
    thanks = "<p>Logs at hand, and whom to thank for them:</p><ul>" + "".join(rows) + "</ul>" if rows else ""
    return (
        "<section><h2>Traces</h2><p>Logs come from the Parallel Workloads Archive: D. G. Feitelson, D. Tsafrir and "
        "D. Krakov, “Experience with using the Parallel Workloads Archive”, J. Parallel Distrib. Comput. 74(10), "
        f"2014, pp. 2967-2982.</p>{thanks}</section>"
    )


def _table(table: pd.DataFrame) -> str:
    head = "".join(f"<th>{_text(str(column))}</th>" for column in table.columns)
    body = "".join("<tr>" + "".join(_cell(value) for value in row) + "</tr>" for row in table.itertuples(index=False))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cell(value):
    if isinstance(value, float):
        return f'<td class="number">{value:,.0f}</td>' if abs(value) >= 1000 else f'<td class="number">{value:.4g}</td>'
    kind = f' class="{value.replace(" ", "-")}"' if value in papers.VERDICTS else ""
    return f"<td{kind}>{_text(str(value))}</td>"


def _text(words):
    return html.escape(words)
