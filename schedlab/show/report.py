"""The report: every figure and the ledger of every paper, in one HTML page that needs no network."""

import hashlib
import json
import os
import platform
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import ModuleType

import altair as alt
from joblib import Parallel, delayed
from tqdm.auto import tqdm

from schedlab import __version__, charts, papers
from schedlab._runtime import compiling
from schedlab._runtime.paths import kept_script, replacing
from schedlab._runtime.remarks import progress as is_on
from schedlab.charts._altair import VEGA_LITE, converter
from schedlab.experiment import Store
from schedlab.papers import kept
from schedlab.papers.cards import NO_PAPER
from schedlab.papers.names import paper_in
from schedlab.show import card as cards
from schedlab.show.ledgers import LEDGER, VERDICT_STYLE, as_html, counted
from schedlab.show.ledgers import STYLE as LEDGER_STYLE
from schedlab.show.page import text_beside
from schedlab.workload import archive

VERSIONS = ("schedlab", "numpy", "numba", "pandas", "altair")
STYLE = f"{text_beside(__file__, 'report.css')}{LEDGER_STYLE}{VERDICT_STYLE}{text_beside(__file__, 'phone.css')}"
DRAW = text_beside(__file__, "drawing.js")
TURN = text_beside(__file__, "pages.js")  # each paper is a page of its own; without scripts all stand below one another
ABOUT = (
    "schedlab rebuilds the figures of five papers on parallel job scheduling from real logs, and checks what the "
    "papers say: each published number or statement is a row of a ledger, with what was measured and a verdict. "
    "Pictures and verdicts come from the full size, whose results are kept; rings are what this run simulated."
)
RULE = (
    "Each claim has one main check on one sample, and its verdict is that of this check at full size. A case supports "
    "the claim if its interval lies on the claimed side, beyond the noise stated beforehand; all intervals of a check "
    "hold jointly with 95 %. Some support, none contradicts, and the effect over all cases supports: reproduced. The "
    "effect over all cases contradicts, or some contradict and none supports: not reproduced. Else, some support and "
    "some contradict, or the claim holds under some readings of the paper only: in part. The intervals allow both: "
    "undecided. What cannot be measured here cannot be tested. A quick run only says whether it agrees with the full "
    "size."
)


MOST_CONDITIONS = 30  # of a claim; thousands would make half of the page
LEDGER_PIECE = "ledger"  # beside the pieces that are named by the numbers of figures
PAUSE = 1  # seconds between two looks at what is done, and before the progress bar appears
RELOADED = 5  # seconds after which a growing page reloads itself; writing it more often costs a tenth of a core
GROWING = "This page shows each figure as it is finished, and reloads itself until it is complete."
STOPPED = "This page is incomplete: the run was stopped before all figures were done."
NOT_YET = "Not done yet."


def figures(
    out: str | os.PathLike,
    size: str | None = None,
    progress: bool = True,
    only: Iterable[str] = (),
    keep: bool = False,
    processes: int | None = None,
) -> Path:
    """Rebuild every figure and ledger and write the page.

    The page grows: it appears with the first figure and is rewritten every few seconds. A run that stops early leaves
    what was done by then, and the page says so. If a paper fails, the others are still rebuilt; then its error is
    raised, with a note that names the paper and the figure.

    Parameters
    ----------
    out : path
        The page; its folder is made if missing. An existing page is replaced once the first figure is done.
    size : {"quick", "full"}, optional
        Default: the environment variable SCHEDLAB_SIZE, or quick.
    progress : bool
        Show a progress bar.
    only : names of papers
        Default: all.
    keep : bool
        Keep the results of a full-size run in data/results, to be shown beside quick ones.
    processes : int, optional
        How many papers are rebuilt at once, each in a process of its own. Default: one for each core, but only one
        with `keep`, since some results are measured times.
    """
    size = papers.chosen_size(size)
    progress = progress and is_on()
    if keep and size != "full":
        raise ValueError(f"only results of the full size are kept, got size {size!r}")
    modules = papers.modules(only)
    out = Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)  # first, to fail early if the folder cannot be made
    count = min(len(modules), processes or (1 if keep else os.cpu_count()))
    with TemporaryDirectory() as folder:
        sections = [Section(paper, Path(folder)) for paper in modules]
        with _growing(out, sections, size, progress):
            if count == 1:
                failures = [section.build(size, keep, progress) for section in sections]
            else:
                workers = Parallel(count, return_as="generator_unordered", backend="loky", batch_size=1)
                names = [section.name for section in _in_turn(sections)]
                with warnings.catch_warnings():
                    # joblib replaces a process whose memory has grown, for instance by a paper's logs: that is fine.
                    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
                    failures = list(workers(delayed(_build)(name, folder, size, keep) for name in names))
            for error in filter(None, failures):
                raise error
        _write(out, sections, size)
    if size == "full" and (runs := papers.runs_folder()):
        Store(runs).prune(older_than="90 days")
    return out


def _in_turn(sections: list["Section"]) -> list["Section"]:
    """Return papers in the order in which processes take them: the first, so that the page appears early; then by the
    seconds that their kept full size took, longest first, so that all end at about the same time.
    """
    runs = {section.name: kept.made(section.name) for section in sections}
    first, *others = sections
    return [first, *sorted(others, key=lambda section: -(runs[section.name] or {}).get("seconds", 0))]


def _build(name, folder, size, keep):
    """Build a paper's section in a process of its own; the calling process reports what is compiled."""
    (paper,) = papers.modules([name])
    section = Section(paper, Path(folder))
    compiling.tell(section.note_compiling)
    error = section.build(size, keep, progress=False)
    if error is not None:
        error.add_note("".join(traceback.format_exception(error)))  # else the traceback would stay in this process
    return error


@contextmanager
def _growing(out: Path, sections: list["Section"], size: str, progress: bool) -> Iterator[None]:
    """Rewrite the page as pieces are finished, until the block ends, and once more if the block fails."""
    over = Event()

    def grow():
        drawn, written = 0, -RELOADED
        while not over.wait(PAUSE):
            for group in dict.fromkeys(group for section in sections for group in section.compiled()):
                compiling.hear(group)
            finished = sum(len(section.pieces()) for section in sections)
            bar.update(finished - bar.n)
            if finished > drawn and time.monotonic() - written >= RELOADED:
                with suppress(Exception):  # the same error is raised when the final page is written
                    _write(out, sections, size, GROWING)
                    if not drawn and progress:
                        tqdm.write(f"{out} can be opened now; it grows until all papers are done", sys.stderr)
                    drawn, written = finished, time.monotonic()

    total = sum(len(section.paper.FIGURES) + 1 for section in sections)
    with tqdm(total=total, desc="figures and ledgers", unit="", delay=PAUSE, disable=not progress) as bar:
        thread = Thread(target=grow, daemon=True)
        thread.start()
        try:
            yield
        except BaseException as error:
            over.set()
            thread.join()
            if any(section.pieces() for section in sections):
                with suppress(Exception):  # the failure that stopped the run is the one to report
                    _write(out, sections, size, _not_whole(error))
            raise
        finally:
            over.set()
            thread.join()
        bar.update(total - bar.n)


def _not_whole(error):
    """Say why the page is incomplete, with the note of what failed if anything did."""
    notes = getattr(error, "__notes__", ())
    return f"This page is incomplete. {notes[0]} {type(error).__name__}: {error}" if notes else STOPPED


def _write(out, sections, size, note=""):
    with replacing(out) as part:
        part.write_text(_page(sections, size, note), encoding="utf-8")


def pictures(
    folder: str | os.PathLike, size: str | None = None, progress: bool = True, only: Iterable[str] = ()
) -> list[Path]:
    """Write the chart of every figure of some papers as ``PAPER-FIGURE.png``; return the files.

    Figures are drawn from what is kept, or simulated if nothing is.
    """
    written = []
    for paper in papers.modules(only):
        for function in paper.FIGURES:
            figure = function.as_kept() or function(size=size, progress=progress)
            if figure.chart is not None:
                path = Path(folder) / f"{paper.__name__.rpartition('.')[2]}-{figure.name}.png"
                charts.save(figure.chart, path)
                written.append(path)
    return written


class Section:
    """A paper in the report: its figures and its ledger, each a file in a folder once it is done."""

    def __init__(self, paper: ModuleType, folder: Path):
        self.paper, self.name = paper, paper_in(paper.__name__)
        self.folder = folder / self.name

    def build(self, size: str, keep: bool, progress: bool) -> Exception | None:
        """Rebuild every figure and the ledger; each goes into the folder at once, full-size runs into a store.

        Return the error that ended it early, if any, with a note that names the paper and the figure.
        """
        with papers.keeping(size):
            return self._build(size, keep, progress)

    def _build(self, size, keep, progress):
        self.folder.mkdir(exist_ok=True)
        begin, built = time.perf_counter(), []
        try:
            for number, function in enumerate(self.paper.FIGURES):
                doing = function.__name__
                figure = function(size=size, progress=progress)
                built.append(figure)
                body = _figure(figure, self.name)
                about = {"title": f"{figure.number} {figure.title}".strip(), "name": figure.name}
                self._leave(f"{number:03}", **about, standins=figure.standins, body=body)
            doing = "the ledger"
            ledger = self.paper.claims(size, progress)
            if keep:
                seconds = time.perf_counter() - begin
                before = kept.ledger_of(self.name)
                ledger = ledger[list(LEDGER)]  # without the kept columns, which this run replaces
                for change in () if before is None else kept.moved(before, ledger):
                    tqdm.write(change)
                quick = self.paper.claims("quick", progress, ledger)[list(LEDGER)]  # agrees with what is kept now
                kept.keep(self.name, ledger, quick, built, seconds)
            wall = papers.Wall(self.paper, ledger).html(f"#{self.name}-").replace(cards.STYLE, "")
            body = as_html(ledger, MOST_CONDITIONS).replace(LEDGER_STYLE + VERDICT_STYLE, "")  # it is in the page once
            body = _kept(self.name) + body
            self._leave(LEDGER_PIECE, counts=counted(ledger), body=body, wall=wall)
        except Exception as error:  # any error: the other papers go on, and the page names it
            error.add_note(f"{self.paper.TITLE}: {doing} could not be made.")
            return error

    def note_compiling(self, group: str, *_) -> None:
        """Note that a group of kernels is being compiled, for the process that waits."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / f"{group}.compiling").touch()

    def compiled(self) -> list[str]:
        """Return the groups of kernels noted as being compiled."""
        return sorted(path.stem for path in self.folder.glob("*.compiling"))

    def _leave(self, piece, **content):
        with replacing(self.folder / f"{piece}.json") as part:
            part.write_text(json.dumps(content), encoding="utf-8")

    def pieces(self) -> list[Path]:
        return sorted(self.folder.glob("[!.]*.json"))

    def figures(self) -> list[dict]:
        """Return the figures that are done: name, title, stand-ins and body."""
        return [json.loads(path.read_text("utf-8")) for path in self.pieces() if path.stem != LEDGER_PIECE]

    def standins(self) -> str:
        """Return the notes about logs that are not at hand, each once."""
        notes = dict.fromkeys(note for figure in self.figures() for note in figure["standins"])
        return "".join(f'<p class="note">{escape(note)}</p>' for note in notes)

    def ledger(self) -> dict | None:
        """Return the ledger, if it is done: the counts of verdicts, the body, and the wall."""
        path = self.folder / f"{LEDGER_PIECE}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None


def _page(sections, size, note):
    reload = f'<meta http-equiv="refresh" content="{RELOADED}">' if note == GROWING else ""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>schedlab: papers rebuilt</title>',
            f'<meta name="viewport" content="width=device-width, initial-scale=1">{reload}',
            # Papers are laid out once their page is chosen; so the first page is there sooner.
            f"<style>{STYLE}</style>{cards.STYLE}<script>document.documentElement.className = 'opening'</script>",
            "</head><body>",
            _contents(sections),
            "<main>",
            _front(sections, size, note),
            *map(_section, sections),
            _traces(),
            "</main>",
            # Last, so that the text is there before half a megabyte of script is read.
            f"<script>window.look = {_json(_look())};\n{TURN}</script><script>{script()}</script></body></html>\n",
        ]
    )


@cache
def script() -> str:
    """Return the script that draws the charts of a page, each as it comes into view."""
    bundle = converter().javascript_bundle
    about = f"{VEGA_LITE}-{version('vl-convert-python')}-{hashlib.sha256(DRAW.encode()).hexdigest()[:16]}"
    return kept_script(f"report-{about}.js", lambda: bundle(DRAW, vl_version=VEGA_LITE))


def _contents(sections):
    parts = [
        f"<li><details{' open' if len(sections) == 1 else ''}><summary>{escape(section.paper.TITLE)}</summary><ul>"
        f'<li><a href="#{section.name}">Figures and verdicts</a></li>'
        + "".join(
            f'<li><a href="#{section.name}-{figure["name"]}">{escape(figure["title"])}</a></li>' for figure in figures
        )
        + f'<li><a href="#{section.name}-ledger">Ledger</a></li>'
        + "</ul></details></li>"
        for section in sections
        for figures in [section.figures()]
    ]
    links = f'<a href="#front">Summary</a><ul>{"".join(parts)}</ul><a href="#traces">Traces</a>'
    return f'<nav><details id="contents" open><summary>Contents</summary>{links}</details></nav>'


def _front(sections, size, note):
    in_order = sorted(sections, key=lambda section: section.name not in FIVE)
    return "".join(
        [
            '<header id="front" data-page="Summary"><h1>Papers on job scheduling, rebuilt</h1>',
            f'<p class="note">{escape(note)}</p>' if note else "",  # first, since only a part of the rest is there
            f'<div class="schedlab-wall"><p class="total">{_total(sections)}</p></div>',
            '<p><input id="search" type="search" placeholder="search figures and claims" aria-label="search"></p>',
            '<ul id="found"></ul>',
            f'<ul class="index schedlab-wall">{"".join(map(_entry, in_order))}</ul>',
            *map(_card, in_order),
            f'<p class="says">{escape(ABOUT)}</p>',
            f'<details><summary>How claims are judged</summary><p class="says">{escape(RULE)}</p></details>',
            f"<p>{escape(_settings(size))}</p></header>",
        ]
    )


FIVE = ("sabin2006", "silva2000", "kurian2003", "grudenic2010", "pascual2008")


def _total(sections):
    """Say in a line how the claims of the five papers fared, as far as their ledgers are done."""
    five = [section for section in sections if section.name in FIVE]
    ledgers = [ledger for section in five if (ledger := section.ledger())]
    if not ledgers:
        return escape(NOT_YET) if five else ""
    sums = {verdict: sum(ledger["counts"][verdict] for ledger in ledgers) for verdict in ledgers[0]["counts"]}
    return cards.counts(sums, "one paper" if len(ledgers) == 1 else f"{NUMBERS[len(ledgers)]} papers")


NUMBERS = ("no", "one", "two", "three", "four", "five")


def _entry(section):
    """Return a paper in a line of the front page, with its verdicts."""
    ledger = section.ledger()
    verdicts = cards.brief(ledger["counts"]) if ledger else NOT_YET
    return f'<li><a href="#{section.name}">{escape(section.paper.TITLE)}</a> {verdicts}</li>'


def _card(section):
    """Return a paper on the front page: what it is, what was found, its verdicts and the tiles of its figures."""
    paper, ledger = section.paper.PAPER, section.ledger()
    notes = section.standins().replace('<p class="note">', f'<p class="note">{escape(section.paper.TITLE)}: ')
    return (
        f'<article><h2><a href="#{section.name}">{escape(section.paper.TITLE)}</a></h2>'
        f"<p>{escape(paper.authors)}, <em>{escape(paper.title)}</em>, {escape(paper.venue)} {paper.year}</p>"
        f'{notes}{_findings(paper)}<div id="{section.name}-wall">{ledger["wall"] if ledger else f"<p>{NOT_YET}</p>"}'
        "</div></article>"
    )


def _findings(paper):
    return f"<ul>{''.join(f'<li>{escape(finding)} ({escape(claim)}).</li>' for finding, claim in paper.findings)}</ul>"


def _settings(size):
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    packages = ", ".join(f"{name} {__version__ if name == 'schedlab' else version(name)}" for name in VERSIONS)
    return (
        f"Made {now} with {packages} and Python {platform.python_version()}; what was simulated just now, in the "
        f"{size} size."
    )


def _section(section):
    ledger, title, claim = section.ledger(), escape(section.paper.TITLE), escape(section.paper.PAPER.says)
    claim = claim if section.name in NO_PAPER else f"The paper says: {claim}"  # the arena is a study of our own
    parts = [
        f'<section id="{section.name}" data-page="{title}"><h2>{title}</h2>',
        f'<p class="says">{claim} Here:</p>{_findings(section.paper.PAPER)}',
        section.standins(),
        f'<div data-wall="{section.name}"></div>',
        f'<p><a href="#{section.name}-ledger">All claims, published beside measured</a></p>',
        *(figure["body"] for figure in section.figures()),
        f'<h3 id="{section.name}-ledger">Ledger: published and measured</h3>',
        ledger["body"] if ledger else f"<p>{NOT_YET}</p>",
        "</section>",
    ]
    return "".join(parts)


def _figure(card, paper):
    """Return a card as HTML; its chart is drawn as it comes into view."""
    key = f"{paper}-{card.name}"
    parts = [f'<figure id="{key}">{card.head()}']
    if card.chart is not None:
        spec = charts.specified(card.chart)
        text = _json(_packed(spec))
        height = f"min-height: {charts.height_of(spec):.0f}px"
        parts.append(f'<div class="chart" data-spec="{key}-spec" style="{height}"></div>')
        parts.append(f'<script type="application/json" id="{key}-spec">{text}</script>')
    below = CELL.sub(r'<\1 class="\2">', card.below())
    return "".join([*parts, below, "</figure>"]).replace(cards.STYLE, "")  # it is in the page once


# Of a cell in a table of pandas only the column is used by a rule of its style.
CELL = re.compile(r'\s*<(t[dh]) (?:id="[^"]*" )?class="\w+ (?:row|level)\d+ (col\d+)" *>')


def _packed(spec):
    """Return a chart without what all charts share, with short numbers, and with its tables by columns."""
    short = json.loads(json.dumps(spec), parse_float=lambda digits: float(f"{float(digits):.6g}"))
    if short.get("config") == _look():
        del short["config"]
    short["datasets"] = {name: _by_columns(rows) for name, rows in short.get("datasets", {}).items()}
    return short


def _by_columns(rows):
    """Turn the rows of a table into columns, of which each is a list, or one value if all are the same."""
    if not rows or any(row.keys() != rows[0].keys() for row in rows):
        return rows
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for name, (first, *others) in columns.items():
        if not isinstance(first, list) and all(value == first for value in others):
            columns[name] = first
    return {"rows": len(rows), "columns": columns}


@cache
def _look():
    chart = charts.themed(alt.Chart().mark_point())
    return json.loads(json.dumps(charts.specified(chart)["config"]))


def _json(content):
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c")  # no word may end the script


def _kept(name):
    """Say how the kept results of the full size were made, if there are any."""
    about = kept.made(name)
    if about is None:
        return ""
    old = " The kernels have changed since." if kept.stale(name) else ""
    sentence = f"Full size: made {about['made']} with schedlab {about['schedlab']} on {about['machine']}.{old}"
    return f"<p>{escape(sentence)}</p>"


def _traces():
    thanked = archive.catalogue()["acknowledge"]
    rows = [f"<li>{escape(name)}: {escape(str(whom))}</li>" for name, whom in thanked.items() if archive.find(name)]
    thanks = "<p>Logs at hand, and whom to thank for them:</p><ul>" + "".join(rows) + "</ul>" if rows else ""
    return (
        '<section id="traces" data-page="Traces"><h2>Traces</h2><p>Logs come from the Parallel Workloads Archive: '
        "D. G. Feitelson, D. Tsafrir and D. Krakov, “Experience with using the Parallel Workloads Archive”, J. "
        f"Parallel Distrib. Comput. 74(10), 2014, pp. 2967-2982.</p>{thanks}</section>"
    )
