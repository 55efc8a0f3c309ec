"""The page that simulates logs by itself: ``schedlab page try.html``.

It is one file that needs no network: the kernels, the script that draws charts, and some logs are packed in it.
"""

import base64
import gzip
import json
import os
import re
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import vl_convert

import schedlab as sl
from schedlab._runtime.paths import kept_script, replacing
from schedlab.charts._altair import VEGA_LITE
from schedlab.charts.clock import DATES
from schedlab.schemes.conservative import COMPRESSION
from schedlab.schemes.lookahead import SEARCHES, VARIANTS
from schedlab.schemes.rigid import LOOKS, MANY
from schedlab.web import HERE, description
from schedlab.web.templates import templates
from schedlab.workload.trace import Trace

MODULES = (
    "kernels",
    "simulate",
    "views",
    "reading_text",
    "reading_rules",
    "reading_swf",
    "reading",
    "worker",
)  # in this order
COLUMNS = ("submit_time", "run_time", "requested_time", "requested_procs")
# Stand-ins of the site's page.
LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002", "SDSC-BLUE-2000")
FIRST = LOGS[:2]  # of a page that is given no log
LINES = re.MULTILINE
DRAWING = "window.vegaEmbed = vegaEmbed;"
EXACT = 2**53 - 1  # the largest whole number of JavaScript; a bound that no search reaches


def schemes() -> dict[str, dict]:
    """Return each scheme of the page by its name: how Python calls it, its colour, its kernel and the rules of that."""
    offered = [sl.FCFS(), sl.EASY(), sl.EASY(backfill="sjf"), sl.EASY(reservations=2), sl.EASY(reservations=4)]
    offered += [sl.Conservative(compression=rule) for rule in COMPRESSION]
    offered += [sl.DPSA(variant=variant) for variant in VARIANTS]
    described = {str(scheme): _described(scheme) for scheme in offered}
    for (_, entry), colour in zip(described.items(), sl.charts.colours(list(described)), strict=True):
        entry["colour"] = colour
    return described


def _described(scheme):
    """Say with which rules a scheme calls which kernel; rules named in `perJob` are for each job of a log."""
    settings = {name: value for name, value in vars(scheme).items() if value != getattr(type(scheme)(), name)}
    code = f"sl.{type(scheme).__name__}({', '.join(f'{name}={value!r}' for name, value in settings.items())})"
    entry = {"code": code, "backfill": None, "perJob": [], "oneReservation": scheme.one_reservation, "rules": {}}
    if isinstance(scheme, sl.FCFS):
        return entry | {"kernel": "fcfs"}
    if isinstance(scheme, sl.Conservative):
        rules = {"compression": COMPRESSION[scheme.compression], "on_completion": False, "repeat": False}
        return entry | {"kernel": "conservative", "rules": rules}
    if isinstance(scheme, sl.DPSA):
        bounds = {"budget": EXACT, "patience": EXACT, "audit": False}
        rules = {"variant": VARIANTS[scheme.variant], "ranked": False, "search": SEARCHES[scheme.search]}
        return entry | {"kernel": "lookahead", "rules": {"settings": rules | bounds}}
    if scheme.reservations == 1:
        entry |= {"kernel": "easy", "rules": {"many": MANY, "looks": LOOKS}, "perJob": ["looks"]}
        return entry | {"backfill": scheme.backfill}
    return entry | {"kernel": "easy_depth", "rules": {"depth": scheme.reservations}}


def packed(trace: Trace) -> dict:
    """Return a trace as the page reads it: the jobs' numbers in 32 bits, byte by byte, as gzipped text."""
    jobs = trace.table[list(COLUMNS)].to_numpy()
    if jobs.max() >= 2**31:
        raise ValueError(f"{trace.name} has the time {jobs.max():,}, expected less than 2**31 seconds in a page")
    clock = None
    if trace.header.unix_start_time is not None:
        clock = trace.header.unix_start_time + trace.at(int(jobs[0, 0])).utcoffset().total_seconds()
    numbers = np.diff(jobs[:, 0], prepend=0), *jobs[:, 1:].T
    planes = [column.astype("<i4").view("u1").reshape(-1, 4).T.tobytes() for column in numbers]
    standin = ", standin=True" * (trace.source == "stand-in")
    code = f"sl.load_trace({trace.name!r}{standin})" if standin or trace.source == "archive" else None
    return {
        "name": trace.name,
        "title": trace.title,
        "procs": trace.procs,
        "jobs": len(trace),
        "clock": clock,
        "code": code,
        "data": _text(b"".join(planes)),
    }


def page(traces: Iterable[Trace], further: Iterable[dict] = (), home: str = "") -> str:
    """Return the page as HTML.

    Parameters
    ----------
    traces : iterable of Trace
        Logs that are in the page; it opens on the first.
    further : iterable of dict
        Logs that stand beside it, as `packed` describes them, with the address of a script as ``src`` in place of
        ``data``.
    home : str
        Address of the site; by default the page stands alone.
    """
    data = {
        "kernels": description()["kernels"],
        "schemes": schemes(),
        "templates": templates(),
        "dates": DATES,
        "logs": [*map(packed, traces), *further],
        "version": sl.__version__,
    }
    modules = [(name, (HERE / f"{name}.mjs").read_text(encoding="utf-8")) for name in MODULES]
    parts = {
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "home": f'<p class="home"><a href="{escape(home)}">schedlab</a></p>' if home else "",
        "data": json.dumps(data).replace("</", "<\\/"),
        "worker": bundled(modules),
        "wide": _text((HERE / "kernels64.wasm").read_bytes()),
        "narrow": _text((HERE / "kernels.wasm").read_bytes()),
        "drawing": _text(_drawing().encode()),
        "script": bundled([("page", (HERE / "page.mjs").read_text(encoding="utf-8"))]),
    }
    whole = (HERE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], whole)


def bundled(modules: Iterable[tuple[str, str]]) -> str:
    """Return modules of JavaScript as one classic script, since browsers load no module from a file of the disk."""
    parts = ['"use strict";', "const modules = {};"]
    for name, text in modules:
        text = re.sub(r'^(?:im|ex)port (\{[^}]*\}) from "\./(\w+)\.mjs";', r"const \1 = modules.\2;", text, flags=LINES)
        names = re.findall(r"^export (?:async )?(?:function\*?|class|const) (\w+)", text, LINES)
        names += re.findall(r"^export \{([^}]*)\};", text, LINES)
        text = re.sub(r"^export (\{[^}]*\};)?", "", text, flags=LINES)
        parts.append(f"modules.{name} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();")
    return "\n".join(parts).replace("</", "<\\/")


def site(folder: Path) -> None:
    """Write the page of the site into its folder: the logs but the first stand beside it, and are fetched if chosen."""
    first, *others = (sl.load_trace(name, standin=True) for name in LOGS)
    (folder / "logs").mkdir(exist_ok=True)
    further = []
    for trace in others:
        entry = packed(trace)
        address = f"logs/{trace.name}.js"
        (folder / address).write_text(f"logOfPage({json.dumps(entry.pop('data'))});\n", encoding="utf-8")
        further.append(entry | {"src": address})
    (folder / "try.html").write_text(page([first], further, home="index.html"), encoding="utf-8")


def write(path: str | os.PathLike, traces: Iterable[Trace] = ()) -> Path:
    """Write the page as one file that opens from the disk.

    Parameters
    ----------
    path : path
        Its folder is made if missing.
    traces : iterable of Trace, optional
        Logs in the page; it opens on the first. Default: the stand-ins of `FIRST`.
    """
    traces = [*traces] or [sl.load_trace(name, standin=True) for name in FIRST]
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = page(traces)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def _drawing():
    name = f"page-{VEGA_LITE}-{version('vl-convert-python')}.js"
    return kept_script(name, lambda: vl_convert.javascript_bundle(DRAWING, vl_version=VEGA_LITE))


def _text(content):
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()
