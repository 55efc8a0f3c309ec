"""Build the site into build/site, with no network: `make docs`.

The sources are gathered in build/site-source: the pages beside this file, the notebooks, the changelog, and a reference
page for each room of `LINES`, which lists its public names.
"""

import hashlib
import inspect
import os
import shutil
import subprocess
import sys
from collections import Counter
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = Path(__file__).parent
SOURCE, OUT, KEPT = (ROOT / "build" / name for name in ("site-source", "site", "site-cache"))
PAGE = "SCHEDLAB_PAGE"  # set: charts and live figures are drawn for a page, not for JupyterLab
NOTEBOOKS = {  # of papers
    "sabin2006": "02-moldable-sabin",
    "silva2000": "03-gang-silva",
    "kurian2003": "04-shredding-kurian",
    "grudenic2010": "05-dpsa-grudenic",
    "pascual2008": "06-placement-pascual",
}
LINES = {  # one line about each room, for the contents of the reference
    "schedlab": "the names that most notebooks need: traces, schemes, simulations, experiments",
    "charts": "table, trace or schedule in, chart out",
    "conformance": "small logs that tell conventions apart",
    "contest": "schemes compete: which wins where",
    "decisions": "the decisions of schemes for moldable jobs",
    "experiment": "grids, stores, sweeps",
    "gang": "gang scheduling of tasks",
    "metrics": "measures of schedules and of jobs",
    "papers": "the papers, their figures and ledgers",
    "parts": "the building blocks of compiled schemes",
    "pool_parts": "the building blocks of compiled schemes for pools",
    "schemes": "orders of the queue, and schemes by name",
    "statistics": "intervals and comparisons",
    "testing": "checks for a policy or scheme of your own",
    "widgets": "live figures",
}


def main() -> int:
    """Gather the sources and build the pages; warnings are errors."""
    os.environ[PAGE] = "1"
    for folder in (SOURCE, OUT):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SITE, SOURCE, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in ("conf.py", "pictures.py"):
        shutil.copy(SITE / name, SOURCE)
    (SOURCE / "notebooks").mkdir()
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        shutil.copy(notebook, SOURCE / "notebooks")
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        (SOURCE / f"{name.removesuffix('.md').lower()}.md").write_text(text, encoding="utf-8")
    _write_reference(SOURCE / "reference")
    _write_script(SOURCE / "_static")
    # In a process of its own: vl-convert's threads would not live on in the processes that Sphinx forks.
    subprocess.run([sys.executable, __file__, str(SOURCE / "walls")], check=True)
    from sphinx.cmd.build import main as sphinx

    options = ["-W", "--keep-going", "-q", "-j", "auto", "-D", f"nb_execution_cache_path={_kept()}"]
    code = sphinx([*options, "-E", "-d", str(ROOT / "build" / "site-doctrees"), str(SOURCE), str(OUT)])
    _write_page()
    return code


def _write_page():
    """Write the page that simulates logs by itself, from the module that `make web` made."""
    from schedlab import web
    from schedlab.web import page

    if changed := web.stale():
        sys.exit(f"{', '.join(changed)} changed since the WebAssembly module was made: run `make web`")
    page.site(OUT)


def _kept():
    """Return the folder that keeps what notebooks gave; it belongs to exactly the present package and data."""
    sha = hashlib.sha256()
    for folder in ("schedlab", "data"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                sha.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    place = KEPT / sha.hexdigest()[:16]
    for other in KEPT.glob("*"):
        if other != place:
            shutil.rmtree(other) if other.is_dir() else other.unlink()
    return place


def write_walls(folder: Path) -> None:
    """Write the wall of each paper that has a notebook, whose tiles lead there, and a line that counts all claims.

    Write the first picture, too: the waits, which its title is about.
    """
    from schedlab import charts, papers
    from schedlab.show import card, ledgers

    folder.mkdir()
    total = Counter()
    for name, notebook in NOTEBOOKS.items():
        (paper,) = papers.modules([name])
        wall = papers.Wall(paper)
        html = wall.html(f"notebooks/{notebook}.html#", "published-beside-measured")
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
        total.update({} if wall.ledger is None else ledgers.counted(wall.ledger))
    line = f'<div class="schedlab-wall"><p class="lead">{card.counts(total)}</p></div>'
    (folder / "total.html").write_text(line, encoding="utf-8")
    first = papers.base.figure1.as_kept()
    logs = first.data["trace"].str.replace(r"-\d+(\.\d+)?-cln$", "", regex=True)
    waits = charts.lines(first.data.assign(trace=logs), "load", "wait_time", column="trace", log=True)
    chart = charts.on_page(charts.specified(waits))
    (folder / "first.html").write_text(f"<p><strong>{escape(first.title)}</strong></p>\n{chart}", encoding="utf-8")


def _write_script(folder):
    """Write the script that draws charts, as in the report, and the one that simulates live figures.

    It is a classic script, since browsers load no module from a file of the disk; a function keeps its names its own.
    """
    from schedlab.show import report
    from schedlab.web import figures

    wrapped = f'(() => {{\n"use strict";\n{report.script()}\n}})();\n'
    (folder / "charts.js").write_text(wrapped, encoding="utf-8")
    (folder / figures.SCRIPT).write_text(figures.script(), encoding="utf-8")


def _write_reference(folder):
    import schedlab as sl
    import schedlab.schemes

    folder.mkdir()
    rooms = {"schedlab": [name for name in sl.__all__ if not inspect.ismodule(getattr(sl, name))]}
    known = [getattr(sl, name) for name in rooms["schedlab"]]
    for room in [*LINES][1:]:
        module = getattr(sl, room)
        rooms[room] = [name for name in _names(module) if getattr(module, name) not in known]
    lines = ["# Reference", "", "By room. The page of a name describes its parameters and results, with examples.", ""]
    lines += [f"- [{room}]({room}.md): {LINES[room]}" for room in rooms]
    hidden = ["```{toctree}", ":hidden:", "", *rooms, "```", ""]
    (folder / "index.md").write_text("\n".join([*lines, "", *hidden]), encoding="utf-8")
    for room, names in rooms.items():
        module = (sl if room == "schedlab" else getattr(sl, room)).__name__
        title = "The package" if room == "schedlab" else room
        table = ["```{eval-rst}", f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: generated", ""]
        table += [f"   {name}" for name in names]
        about = inspect.getdoc(sys.modules[module]).partition("\n")[0]
        page = [f"# {title}", "", about, "", *table, "```", ""]
        (folder / f"{room}.md").write_text("\n".join(page), encoding="utf-8")


def _names(module):
    """Return the public names of a room that have a docstring of their own."""
    listed = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    found = []
    for name in sorted(listed):
        one = getattr(module, name)
        own = inspect.isclass(one) or inspect.isroutine(one)
        if own and getattr(one, "__module__", "").startswith(module.__name__) and inspect.getdoc(one):
            found.append(name)
    return found


if __name__ == "__main__":
    sys.exit(write_walls(Path(sys.argv[1])) if sys.argv[1:] else main())
