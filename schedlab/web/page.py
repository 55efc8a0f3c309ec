"""The page that simulates logs by itself: ``schedlab page try.html``.

It is one file that needs no network: the kernels, the script that draws charts, and some logs are packed in it.
"""

import base64
import gzip
import inspect
import json
import os
import re
from collections.abc import Iterable
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from schedlab import __version__, charts
from schedlab._runtime.paths import kept_script, replacing
from schedlab.charts._altair import VEGA_LITE, converter
from schedlab.charts.clock import DATES
from schedlab.schemes import DPSA, EASY, FCFS, Conservative
from schedlab.schemes.conservative import COMPRESSION
from schedlab.schemes.lookahead import VARIANTS
from schedlab.web import HERE, description
from schedlab.web.schemes import described
from schedlab.web.templates import templates
from schedlab.workload.loading import load_trace
from schedlab.workload.trace import Trace

READING = ("rules", "swf", "table")
MODULES = ("kernels", "simulate", "views", *(f"reading_{name}" for name in READING), "reading", "worker")
COLUMNS = ("submit_time", "run_time", "requested_time", "requested_procs")
# Stand-ins of the site's page.
LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002", "SDSC-BLUE-2000")
FIRST = LOGS[:2]  # of a page that is given no log
LINES = re.MULTILINE
VIEWS = {"waits": "Waits", "slowdown": "Slowdown by load", "time": "Over time", "gantt": "Gantt chart"}
ORDERS = {
    "fcfs": "first come first",
    "lcfs": "last come first",
    "sjf": "shortest first",
    "ljf": "longest first",
    "narrow": "narrowest first",
    "wide": "widest first",
    "saf": "smallest area first",
    "laf": "largest area first",
}
# Columns of a table of jobs that the page asks for.
ASKED_FOR = {"submit": "submission", "start": "start", "end": "end", "run": "run time (s)", "procs": "processors"}
ASKED_FOR |= {"estimate": "estimate (s)"}
TAB = '<button type="button" role="tab" aria-controls="panel" data-view="{}">{}</button>'
FIELD = '<label>{} <select name="{}"></select></label>'
# What tells apart schemes of one class.
OPTIONS = {
    "EASY-SJBF": "Candidates for backfilling are taken shortest estimate first.",
    "EASY (2 reservations)": "The first two jobs that do not fit hold reservations.",
    "EASY (4 reservations)": "The first four jobs that do not fit hold reservations.",
    "Conservative": "When a job ends early, others move forward in the order of the queue.",
    "Conservative (reservation)": "When a job ends early, others move forward in the order of their reservations.",
    "Conservative (none)": "When a job ends early, reservations stay as they are.",
    "Conservative (rebuild)": "All reservations are made anew at every pass, so that a job can lose its place.",
    "DPSAp": "Of sets that use equally many processors, that of the jobs that came first is started.",
    "DPSAn": "Of sets that use equally many processors, that of the narrower jobs is started.",
    "DPSAw": "Of sets that use equally many processors, that of the wider jobs is started.",
}
WORDS = {
    "offered load": "The work that jobs bring, over what the machine can do from the first to the last submission. The "
    "slider multiplies all run times and estimates, so that jobs can change from short to long.",
    "stand-in": "A workload generated from figures that were fitted to a log: how many jobs, how wide, how long, when. "
    "None of its jobs ever ran, so its numbers are not the log's. Drop the log itself on the page to simulate that.",
    "reservation": "The earliest instant at which, by the estimates, enough processors are free for a job that waits. "
    "Others may pass the job if they do not move it. It can start before its reservation, where jobs end early; yet it "
    "can start later than under FCFS, where no other job passed it.",
    "within the shadow, on extra processors": "The two ways to pass the first job under EASY: to end, by the estimate, "
    "before its reservation; or to use processors that it will not need then.",
    "in its turn": "It was the first in the queue, and fitted.",
    "short, long; narrow, wide": "Run time below one hour, or from it on; below 32 processors, or from 32 on.",
    "bounded slowdown": "Wait and run time, over the run time; run times below 10 s count as 10 s.",
    "utilization": "The share of the machine's time that jobs used, from the first submission to the last end.",
    "loss of capacity": "The share of the machine's time that idled although jobs waited that could have used it.",
}
DRAWING = "window.vegaEmbed = vegaEmbed;"


def schemes() -> dict[str, dict]:
    """Return each scheme of the page by its name: how Python calls it, its colour, its kernel and the rules of that."""
    offered = [FCFS(), EASY(), EASY(backfill="sjf"), EASY(reservations=2), EASY(reservations=4)]
    offered += [Conservative(compression=rule) for rule in COMPRESSION]
    offered += [DPSA(variant=variant) for variant in VARIANTS]
    entries = {str(scheme): described(scheme) for scheme in offered}
    for (_, entry), colour in zip(entries.items(), charts.colours(list(entries)), strict=True):
        entry["colour"] = colour
    for scheme in offered:
        about = inspect.getdoc(type(scheme)).partition("\n")[0]
        entries[str(scheme)]["about"] = f"{about} {OPTIONS.get(str(scheme), '')}".strip()
    return entries


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
    counted = np.flatnonzero(trace.counted())
    more = {}
    if trace.has_speedup:
        laws = {name: np.asarray(part).tolist() for name, part in trace.laws()._asdict().items()}
        more = {"load": trace.effective_load(), "laws": laws}
    elif counted.size < len(trace):
        more = {"load": trace.offered_load(), "counted": [int(counted[0]), int(counted[-1]) + 1]}
    return more | {
        "name": trace.name,
        "title": trace.title,
        "procs": trace.procs,
        "jobs": counted.size,
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
    logs = [*map(packed, traces), *further]
    known = schemes()
    data = {
        "kernels": description()["kernels"],
        "schemes": known,
        "templates": templates(),
        "dates": DATES,
        "logs": logs,
    }
    content = {
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "home": f'<p class="home"><a href="{escape(home)}">schedlab</a></p>' if home else "",
        "data": json.dumps(data).replace("</", "<\\/"),
        **parts(),
        "logs": _options({log["name"]: log["title"] for log in logs}),
        "schemes": _options({name: name for name in known}),
        "orders": _options(ORDERS),
        "views": "".join(TAB.format(name, escape(text)) for name, text in VIEWS.items()),
        "words": "\n".join(f"<dt>{escape(word)}</dt><dd>{escape(text)}</dd>" for word, text in WORDS.items()),
        "columns": "".join(FIELD.format(escape(text), name) for name, text in ASKED_FOR.items()),
        "version": __version__,
        "drawing": _text(_drawing().encode()),
        "script": bundled("office", "words", "page"),
    }
    whole = (HERE / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: content[match[1]], whole)


def parts() -> dict[str, str]:
    """Return what a page needs to simulate, as text: the worker's script, and the module in both its forms."""
    wide, narrow = (_text((HERE / name).read_bytes()) for name in ("kernels64.wasm", "kernels.wasm"))
    return {"worker": bundled(*MODULES), "wide": wide, "narrow": narrow}


def bundled(*names: str) -> str:
    """Return modules of JavaScript as one classic script, since browsers load no module from a file of the disk."""
    scripts = ['"use strict";', "const modules = {};"]
    for name in names:
        text = (HERE / f"{name}.mjs").read_text(encoding="utf-8")
        text = re.sub(r'^(?:im|ex)port (\{[^}]*\}) from "\./(\w+)\.mjs";', r"const \1 = modules.\2;", text, flags=LINES)
        exported = re.findall(r"^export (?:async )?(?:function\*?|class|const) (\w+)", text, LINES)
        exported += re.findall(r"^export \{([^}]*)\};", text, LINES)
        text = re.sub(r"^export (\{[^}]*\};)?", "", text, flags=LINES)
        scripts.append(f"modules.{name} = (() => {{\n{text}\nreturn {{ {', '.join(exported)} }};\n}})();")
    return "\n".join(scripts).replace("</", "<\\/")


def site(folder: Path) -> None:
    """Write the page of the site into its folder: the logs but the first stand beside it, and are fetched if chosen."""
    first, *others = (load_trace(name, standin=True) for name in LOGS)
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
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = page([*traces] or first())
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def first() -> list[Trace]:
    """Return the stand-ins of a page that has no other logs."""
    return [load_trace(name, standin=True) for name in FIRST]


def _options(texts):
    return "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in texts.items())


def _drawing():
    bundle = converter().javascript_bundle
    name = f"page-{VEGA_LITE}-{version('vl-convert-python')}.js"
    return kept_script(name, lambda: bundle(DRAWING, vl_version=VEGA_LITE))


def _text(content):
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()
