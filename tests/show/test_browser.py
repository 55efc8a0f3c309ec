"""Every notebook in a real JupyterLab, in a browser without a network: it runs, its sliders answer, nothing fails."""

import contextlib
import re
import shutil
import statistics
import textwrap
import time
from dataclasses import replace

import altair as alt
import kept_report
import nbformat
import pandas as pd
import pytest
import vl_convert
from browser import CHROME, DRAWING, ROOT, Page, Trouble, browser, drawn_in, lab, scroll_to

from schedlab import charts, contest, papers
from schedlab.show import report

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROME, reason="no chromium to be found"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's own sockets
]

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SMALL = 1366  # pixels of a usual laptop's screen
MOVES = 12
LATENCY = {5_000: 0.150, 77_205: 0.500}  # seconds from the release to the new chart, on an idle machine
PATIENCE = 4  # factor for a machine that others use too

# Note when a key or mouse button is released, and when the next chart appears.
STOPWATCH = """() => {
    const now = () => performance.now();
    window.took = [];
    let released = null;
    for (const kind of ["keyup", "pointerup"]) document.addEventListener(kind, () => { released = now(); }, true);
    new MutationObserver(changes => {
        const drawn = changes.some(change => [...change.addedNodes].some(
            node => node.querySelector && (node.matches("svg.marks") || node.querySelector("svg.marks"))));
        if (drawn && released !== null) { window.took.push(now() - released); released = null; }
    }).observe(document.body, {childList: true, subtree: true});
}"""


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a copy of the notebooks, since Lab saves what it runs."""
    copy = tmp_path_factory.mktemp("lab") / "notebooks"
    shutil.copytree(ROOT / "notebooks", copy)
    return copy


@pytest.fixture(scope="module")
def server(folder):
    with lab(folder) as address:
        yield address


@pytest.fixture(scope="module")
def dark(folder):
    with lab(folder, "Dark") as address:
        yield address


def written(folder, name, *cells):
    """Write a notebook of some cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / f"{name}.ipynb")
    return f"{name}.ipynb"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_sliders_answer(server, dark, chromium, folder, notebook):
    page = Page(chromium, server, width=SMALL).open(notebook.name).run_all()
    page.settled().check()
    figures = page.live_figures()
    assert page.faint_texts() == []
    assert page.too_wide() == []
    page.save()
    as_exported(page, folder / notebook.name)
    again = Page(chromium, dark).open(notebook.name)
    assert len(again.static_charts()) == len(page.static_charts())
    assert again.faint_texts() == []
    again.close()
    for figure in figures:
        before = page.picture(figure)
        page.drag(figure)
        page.changed(figure, before).settled().check()
    page.close()


# A widget's script counts as late at once.
LATE = """const timeout = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = ms => ms === 2000 ? timeout(0) : timeout(ms);"""


def test_a_slider_answers_in_a_page_that_loaded_its_script_late(server, chromium, folder):
    cells = [
        """
        import pandas as pd, altair as alt, schedlab as sl
        def figure(slope=3):
            return alt.Chart(pd.DataFrame({"x": [0, 1], "y": [0, slope]})).mark_line().encode(x="x", y="y")
        """,
        "sl.widgets.live(figure, slope=range(1, 9))",
    ]
    page = Page(chromium, server)
    late = []
    page.page.on("pageerror", lambda error: late.append(str(error)))
    page.page.add_init_script(LATE)
    page.open(written(folder, "late", *cells)).run_all().settled()
    (figure,) = page.live_figures()
    assert late
    before = page.picture(figure)
    page.drag(figure)
    page.changed(figure, before).settled().check()
    code = figure.locator("pre").text_content()
    assert "figure(slope=" in code
    assert "slope=3" not in code
    page.close()


def as_exported(page, notebook):
    """Check that each chart is drawn as it is exported: axes, and marks by kind. The notebook must be saved."""
    cells = nbformat.read(notebook, as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    specs = [output.data[charts.LAB] for output in outputs if charts.LAB in output.get("data", {})]
    drawn = page.static_charts()
    assert len(drawn) == len(specs)
    newest = {"$schema": "https://vega.github.io/schema/vega-lite/v6.json"}
    version = vl_convert.get_vegalite_versions()[-1]
    for svg, spec in zip(drawn, specs, strict=True):
        exported = vl_convert.vegalite_to_svg({**spec, **newest}, vl_version=version)
        assert drawn_in(svg) == drawn_in(exported), spec.get("title")


CHARTS = """
    import numpy as np, pandas as pd, schedlab as sl
    sl.charts.setup()
    table = pd.DataFrame({"load": [0.5, 0.7, 0.9] * 2, "scheme": ["EASY"] * 3 + ["Conservative"] * 3})
    table["wait_time"] = [3600.0, 7200, 36000, 4000, 9000, 50000]
    table = table.assign(wait_time_low=table.wait_time / 1.5, wait_time_high=table.wait_time * 1.5)
    said = table[1:2].drop(columns="wait_time_high").assign(wait_time=7e3, wait_time_low=6e3, wait_time_high=9e3)
    two = pd.concat([table.assign(trace=name) for name in ("A", "B")])
    """


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_kind_of_chart_is_read_and_drawn_as_exported(request, chromium, folder, theme):
    address = request.getfixturevalue({"light": "server", "dark": "dark"}[theme])
    cells = [
        CHARTS,
        'sl.charts.lines(table, "load", "wait_time", log=True, published=said, title="Lines", subtitle="of a test")',
        'sl.charts.lines(two, "load", "wait_time", column="trace", log=True, published=said.assign(trace="B"))',
        'sl.charts.bars(table[["load", "scheme", "wait_time"]], "load", "wait_time", "EASY")',
        'sl.charts.ratios(table.assign(wait_time_high=1e9), "load", "wait_time", published=said)',
        'sl.charts.stacked([sl.charts.bars(part, "load", "wait_time") for part in (table, table[:3])])',
        'sl.charts.heatmap(sl.model_trace("lublin", jobs=500, machine=128))',
        'sl.charts.distribution({"a": [1, 2, 3], "b": [2, 40, 5]})',
    ]
    page = Page(chromium, address).open(written(folder, f"charts-{theme}", *cells)).run_all().settled()
    page.check()
    assert len(page.static_charts()) == len(cells) - 1
    assert page.faint_texts() == []
    page.save()
    as_exported(page, folder / f"charts-{theme}.ipynb")
    page.close()


SCREEN = """
    from schedlab.papers.ledger import Claim, ledger, untestable

    def day(number=0):
        schedule = sl.simulate(sl.model_trace("lublin", jobs=50, machine=16), "easy")
        return sl.charts.gantt(schedule, (1e9 + number, 1e9 + number + 1))

    words = "a sentence of the paper, which says what was seen and under which circumstances"
    claim = Claim("PAS-1 (count)", "Figure 2", words, "7 to 100 times")
    row = untestable(claim, 2 * words, "LLNL-Thunder-2007-1.1-cln, SDSC-BLUE-2000-4.2-cln") | {"measured": words}
    three = pd.concat([two, table.assign(trace="C")]).drop(columns=["wait_time_low", "wait_time_high"])
    three["wait_time"] *= 1e4  # labels of seven letters
    """


def test_charts_ledgers_and_live_figures_fit_a_small_screen(server, chromium, folder):
    cells = [
        CHARTS,
        SCREEN,
        'sl.charts.lines(three, "load", "wait_time", column="trace")',
        "ledger([row])",
        "sl.widgets.live(day, number=(0, 5))",
    ]
    page = Page(chromium, server, width=SMALL).open(written(folder, "small", *cells)).run_all().settled()
    (figure,) = page.live_figures()
    page.check()
    assert page.too_wide() == []
    widths = page.page.locator(".schedlab-ledger thead th").evaluate_all("all => all.map(one => one.clientWidth)")
    assert 1.5 * widths[0] < min(widths[1], widths[3])  # id; statement, measured
    figure.locator("svg.marks text", has_text="no job runs from").wait_for()
    place = figure.locator(".widget-vbox:has(svg.marks)").last.bounding_box()
    assert 0 <= place["height"] - figure.locator("svg.marks").bounding_box()["height"] < 40
    page.close()


def test_a_chart_that_is_too_wide_is_seen(server, chromium, folder):
    cells = [CHARTS, 'sl.charts.lines(two, "load", "wait_time", column="trace", width=2000)']
    page = Page(chromium, server, width=SMALL).open(written(folder, "too-wide", *cells)).run_all().settled()
    ((_, pixels),) = page.too_wide()
    assert pixels > 1000
    page.close()


def test_a_slider_that_cannot_be_moved_is_seen(chromium):
    page = Page(chromium, "about:blank")
    handle = '<div class="noUi-handle" aria-valuenow="1" style="width: 9px; height: 9px"></div>'
    page.page.set_content(f'<div id="figure"><div class="noUi-target" style="width: 99px">{handle}</div></div>')
    with pytest.raises(Trouble, match="a slider is where it was, though it was dragged 5 times"):
        page.drag(page.page.locator("#figure"))
    page.close()


def test_a_faint_text_is_seen(chromium):
    page = Page(chromium, "about:blank")
    page.page.set_content(
        """<body style="background: #111"><svg class="marks" width="400" height="200" style="font: 11px sans-serif">
        <rect width="400" height="200" fill="white"/><rect y="100" width="400" height="100" fill="#332288"/>
        <text x="10" y="30" fill="#222">right on white</text><text x="10" y="60" fill="#bbb">pale on white</text>
        <text x="10" y="130" fill="#fff">right on blue</text><text x="10" y="160" fill="#222">dark on blue</text>
        <text x="200" y="30" fill="#222" fill-opacity="0.3">see-through</text>
        <g opacity="0.4"><text x="200" y="60" fill="#222">in a pale group</text></g>
        <text x="200" y="95" fill="#888" style="font-size: 30px">large</text>
        </svg><svg class="marks"><text y="20" fill="#222">on the page</text></svg></body>"""
    )
    assert [words.rpartition(" (")[0] for words in page.faint_texts()] == [
        "pale on white",
        "dark on blue",
        "see-through",
        "in a pale group",
        "on the page",
    ]
    page.close()


LIVE = """
    import schedlab as sl
    sl.charts.setup()
    trace = sl.papers.base.log_or_model("CTC-SP2-1996")
    trace = trace.head({jobs})

    def queue(load=0.6):
        return sl.charts.profile(sl.simulate(trace.scale_load(load), "easy"))

    sl.widgets.live(queue, load=(0.5, 1.0, 0.01))
    """


@pytest.mark.parametrize("jobs", LATENCY)
def test_a_slider_answers_before_the_hand_has_left_the_mouse(server, chromium, folder, jobs, record_property):
    from playwright.sync_api import TimeoutError as Late  # installed only with chromium

    page = Page(chromium, server).open(written(folder, f"latency-{jobs}", LIVE.format(jobs=jobs))).run_all().settled()
    (figure,) = page.live_figures()
    page.page.evaluate(STOPWATCH)
    handle = figure.locator(".noUi-handle").first
    handle.focus()
    for _ in range(MOVES):
        before = page.page.evaluate("() => window.took.length")
        page.page.keyboard.press("ArrowRight")
        with contextlib.suppress(Late):  # a busy machine may draw before it learns of the key's release
            page.page.wait_for_function("count => window.took.length > count", arg=before, timeout=15_000)
    page.settled().check()
    took = sorted(page.page.evaluate("() => window.took"))
    assert len(took) > MOVES // 2
    median, high = statistics.median(took) / 1000, took[-1] / 1000
    record_property(f"latency_{jobs}", f"median {median:.3f} s, longest of {MOVES} {high:.3f} s")
    print(f"\n{jobs:,} jobs: median {median:.3f} s, longest of {MOVES} {high:.3f} s")
    page.close()
    assert median < PATIENCE * LATENCY[jobs]


FAILURES = {
    "a failing cell": ("1 / 0", "(?s)a cell failed: .*ZeroDivisionError"),
    "a warning": ("import warnings; warnings.warn('beware')", "(?s)a cell failed: .*beware"),
    "a request to the outside": (
        """
        import anywidget

        class Asks(anywidget.AnyWidget):
            _esm = "export default { render({el}) { fetch('http://example.org/').catch(() => 0); } }"

        Asks()
        """,
        "requests to the outside: .*example.org",
    ),
    "a warning of a chart": (
        """
        import altair as alt, pandas as pd, schedlab as sl

        sl.charts.setup()
        alt.Chart(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})).mark_point().encode(x="a:Q", size="b:N")
        """,
        "warnings of charts: .*WARN .*size",
    ),
    "an error of JavaScript": (
        """
        import anywidget

        class Fails(anywidget.AnyWidget):
            _esm = "export default { render() { setTimeout(() => { throw new Error('broken'); }, 0); } }"

        Fails()
        """,
        "JavaScript errors: .*broken",
    ),
    "a figure that fails": (
        """
        import schedlab as sl

        def figure(load=1):
            raise ValueError("no such load")

        sl.widgets.live(figure, load=(1, 2))
        """,
        "a figure failed: ValueError: no such load",
    ),
    "a mark left over": (
        """
        import ipywidgets
        from schedlab import widgets

        ipywidgets.HTML(widgets.live_figure.BUSY)
        """,
        "a figure is still marked as busy",
    ),
}


@pytest.mark.parametrize("what", FAILURES)
def test_what_goes_wrong_is_seen(server, chromium, folder, what):
    cell, message = FAILURES[what]
    page = Page(chromium, server).open(written(folder, what.replace(" ", "-"), cell)).run_all()
    with pytest.raises(Trouble, match=message):
        page.check()
    page.close()


def test_an_error_in_place_of_a_figure_goes_with_the_next_move(server, chromium, folder):
    cell = """
        import altair as alt, pandas as pd, schedlab as sl

        def figure(load=1):
            if load == 2:
                raise ValueError("two is too many")
            return alt.Chart(pd.DataFrame({"load": [load]})).mark_point().encode(x="load:Q")

        sl.widgets.live(figure, load=(1, 3))
        """
    page = Page(chromium, server).open(written(folder, "in-place", cell)).run_all().settled()
    (figure,) = page.live_figures()
    figure.locator(".noUi-handle").first.focus()
    page.page.keyboard.press("ArrowRight")
    figure.locator(".schedlab-error", has_text="two is too many").wait_for()
    figure.locator("svg.marks").wait_for(state="detached")
    page.page.keyboard.press("ArrowRight")
    figure.locator("svg.marks").wait_for()
    page.settled().check()
    page.close()


def test_the_code_is_copied_and_reset_sets_back(server, chromium, folder):
    cell = """
        import altair as alt, pandas as pd, schedlab as sl

        def figure(load=1):
            points = alt.Chart(pd.DataFrame({"load": [load]})).mark_point()
            return points.encode(x="load:Q").properties(title=f"{load=}")

        sl.widgets.live(figure, load=(1, 3))
        """
    page = Page(chromium, server).open(written(folder, "code", cell)).run_all().settled()
    (figure,) = page.live_figures()
    figure.locator(".noUi-handle").first.focus()
    page.page.keyboard.press("ArrowRight")
    figure.locator("svg.marks text", has_text="load=2").wait_for()
    figure.locator(".schedlab-code").click()
    shown = figure.locator("pre", has_text="chart = figure(load=2)")
    shown.wait_for()
    figure.get_by_role("button", name="Reset").click()
    figure.locator("svg.marks text", has_text="load=1").wait_for()
    page.check()
    page.close()


COPIES = 60  # copies of a chart, as many charts as the whole report has


def test_the_report_opens_at_once_without_a_network_and_draws_what_comes_into_view(chromium, tmp_path, monkeypatch):
    monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    load = papers.base.load_trace
    monkeypatch.setattr(papers.base, "load_trace", lambda name, **settings: load(name, **settings).head(300))
    figure = papers.base.figure1(progress=False)
    copies = [lambda n=n, **_: replace(figure, name=f"figure{n}", title=f"{n}") for n in range(COPIES)]
    for copy in copies:
        copy.number, copy.claims, copy.as_kept = "", (), lambda: None
    monkeypatch.setattr(papers.base, "FIGURES", copies)
    path = report.figures(tmp_path / "report.html", progress=False, only=["base"])
    page = Page(chromium, path.as_uri())
    begin = time.monotonic()
    page.page.goto(f"{path.as_uri()}#base")
    took = time.monotonic() - begin
    print(f"\nthe report with {COPIES} figures opens in {took:.1f} s")
    assert took < PATIENCE * 3 / 2
    places = page.page.locator(".chart")
    assert places.count() == COPIES
    for n in (0, COPIES // 2, COPIES - 1):
        scroll_to(places.nth(n))
        places.nth(n).locator("svg.marks").wait_for(timeout=DRAWING)
    assert page.page.locator("svg.marks").count() < COPIES
    assert page.page.locator("nav").bounding_box()["y"] == 0  # visible at any scroll position
    assert page.page.locator("section h2").count() == 1 + 1
    assert page.faint_texts() == []
    page.check()
    page.close()


NARROW = """() => {
  const small = [], inside = document.querySelector('section:not([hidden])');
  for (const text of inside.querySelectorAll('svg.marks text, p, td, li, summary, .schedlab-badge')) {
    const svg = text.closest('svg.marks'), shown = text.getBoundingClientRect().width > 0;
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (shown && text.textContent.trim() && size < 11.6) small.push([text.textContent.slice(0, 40), size]);
  }
  return [document.documentElement.scrollWidth, small];
}"""


def test_the_report_fits_a_phone_with_text_of_12_px(chromium, tmp_path, monkeypatch):
    names = ["silva2000", "grudenic2010", "pascual2008"]  # bars, panels, matrices, lines with their names, tables
    path = kept_report.write(tmp_path / "report.html", monkeypatch, names)
    page = Page(chromium, path.as_uri(), width=390, height=844)
    for name in names:
        page.page.goto(f"{path.as_uri()}#{name}")
        page.page.reload()
        places = page.page.locator(f"#{name} .chart")
        page.page.evaluate("name => Promise.all([...document.querySelectorAll(`#${name} .chart`)].map(draw))", name)
        for n in range(places.count()):
            places.nth(n).locator("svg.marks").wait_for(timeout=DRAWING)
        page.page.wait_for_timeout(500)
        assert page.page.evaluate(NARROW) == [390, []]
    page.check()
    page.close()


def _on_a_phone(chromium, tmp_path, body):
    page = tmp_path / "page.html"
    script = f"<script type='module'>{report.script()}</script>"
    page.write_text(f"<!doctype html><meta charset='utf-8'><main>{body}</main>{script}", encoding="utf-8")
    page = Page(chromium, page.as_uri(), width=390, height=844)
    page.page.goto(page.address)
    page.page.wait_for_function("() => window.draw")
    page.page.evaluate("() => Promise.all([...document.querySelectorAll('.chart')].map(draw))")
    return page


WORDS = """() => [...document.querySelectorAll('svg.marks .role-mark text')].map(text => {
  const {left, right, top, bottom} = text.getBoundingClientRect();
  return {words: text.textContent, left, right, top, bottom};
})"""
DOTS = """() => [...document.querySelectorAll('svg.marks .role-mark.mark-symbol path')].map(dot => {
  const {left, right, top, bottom} = dot.getBoundingClientRect();
  return {words: '', left, right, top, bottom};
})"""


def _over(one, other):
    across = min(one["right"], other["right"]) - max(one["left"], other["left"])
    return across > 2 and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 4


def _body(*drawn):
    return "".join(charts.on_page(charts.specified(chart)) for chart in drawn)


def test_on_a_phone_long_names_of_lines_become_a_legend_and_short_ones_stay(chromium, tmp_path):
    def lines(names):
        rows = [(name, week, 1 + place + week % 2) for place, name in enumerate(names) for week in range(5)]
        return charts.lines(pd.DataFrame(rows, columns=["log", "week", "load"]), "week", "load", "log")

    logs = ["CTC-SP2-1996-3.1-cln", "CTC-SP2-1996-3.1-cln, seed 1 (stand-in, not the real log)"]
    for names, legends in ((logs, 1), (["EASY", "FCFS"], 0)):
        page = _on_a_phone(chromium, tmp_path, _body(lines(names)))
        assert page.page.locator("svg.marks .role-legend").count() == legends
        assert page.page.locator("svg.marks .role-frame .background").first.bounding_box()["width"] > 200
        assert page.page.locator("svg.marks").first.bounding_box()["width"] <= 390
        page.check()
        page.close()


def test_on_a_phone_words_lie_neither_on_points_nor_on_one_another(chromium, tmp_path):
    gains = papers.grudenic2010.figure4_estimates.as_kept().chart
    page = _on_a_phone(chromium, tmp_path, _body(gains))
    words, dots = page.page.evaluate(WORDS), page.page.evaluate(DOTS)
    assert len(words) > 10 < len(dots)
    assert [(one["words"], two["words"]) for i, one in enumerate(words) for two in words[:i] if _over(one, two)] == []
    assert [one["words"] for one in words for dot in dots if _over(one, dot)] == []
    page.check()
    page.close()


def test_on_a_phone_numbers_of_narrow_bars_stand_upright_beside_one_another(chromium, tmp_path):
    page = _on_a_phone(chromium, tmp_path, _body(papers.pascual2008.figure2.as_kept().chart))
    words = page.page.evaluate(WORDS)
    assert all(one["bottom"] - one["top"] > one["right"] - one["left"] for one in words)
    assert [(one["words"], two["words"]) for i, one in enumerate(words) for two in words[:i] if _over(one, two)] == []
    assert page.faint_texts() == []
    page.check()
    page.close()


def test_on_a_phone_lines_below_a_title_are_broken_once(chromium, tmp_path):
    settings = "; ".join(f"setting number {place}: 0.{place}" for place in range(12))
    table = pd.DataFrame({"scheme": "EASY", "load": [0.5, 0.7], "wait_time": [10.0, 20.0]})
    chart = charts.lines(table, "load", "wait_time", title="Waits", subtitle=settings)
    page = _on_a_phone(chromium, tmp_path, _body(chart))
    lines = page.page.locator("svg.marks .role-title-subtitle tspan").all_text_contents()
    assert " ".join(lines) == settings
    assert all(len(line) > 30 for line in lines[:-1])
    page.close()


def test_on_a_phone_short_brackets_of_a_title_stay_whole(chromium, tmp_path):
    table = pd.DataFrame({"scheme": "EASY", "load": [0.5, 0.7], "bounded_slowdown": [10.0, 20.0]})
    page = _on_a_phone(chromium, tmp_path, _body(charts.lines(table, "load", "bounded_slowdown")))
    lines = page.page.locator("svg.marks .role-axis-title tspan").all_text_contents()
    assert [line for line in lines if ("(" in line) != (")" in line)] == []
    page.close()


def test_a_matrix_too_wide_for_a_phone_becomes_several_with_all_of_its_words(chromium, tmp_path):
    cells = [(f"column {x}", f"KTH-SP2-1996-2.1-cln, row {y}", f"{x}{y} is long enough") for x in "abcde" for y in "pq"]
    base = alt.Chart(pd.DataFrame(cells, columns=["x", "y", "words"])).encode(x="x:N", y="y:N")
    chart = charts.themed((base.mark_rect(opacity=0.2) + base.mark_text().encode(text="words:N")).properties(width=720))
    page = _on_a_phone(chromium, tmp_path, charts.on_page(charts.specified(chart)))
    place = page.page.locator(".chart")
    assert place.evaluate("place => place.scrollWidth - place.clientWidth") <= 0
    words = place.locator("text").all_text_contents()
    assert {cell[2] for cell in cells} <= set(words)
    assert {cell[0] for cell in cells} <= set(words)
    assert not [word for word in words if "cln" in word]
    page.check()
    page.close()


def test_a_large_matrix_of_few_words_fits_a_phone_with_numbers_and_a_key(chromium, tmp_path):
    table = papers.arena.kept_results().judged_by("wait_time").wins()
    page = _on_a_phone(chromium, tmp_path, charts.on_page(charts.specified(contest.winners(table, title="Winners"))))
    place = page.page.locator(".chart")
    assert place.evaluate("place => place.scrollWidth - place.clientWidth") <= 0
    assert place.bounding_box()["height"] < 844  # one screen
    numbers = [word for word in place.locator("text").all_text_contents() if word.isdigit()]
    names = dict(re.findall(r"(\d+) ([^;.]*)[;.]", " ".join(place.locator("tspan").all_text_contents())))
    assert sorted(set(numbers), key=int) == list(names)
    counts = [numbers.count(each) for each in names]
    assert sum(counts) == len(table)
    assert counts == sorted(counts, reverse=True)
    assert set(names.values()) >= set(table.loc[table["tied"] == "", "winner"])
    page.check()
    page.close()


def test_what_scrolls_sideways_fades_out_where_there_is_more(chromium, tmp_path):
    body = "<div id='box' style='overflow-x: auto'><div style='width: 900px'>long</div></div><div id='fits'>short</div>"
    page = _on_a_phone(chromium, tmp_path, body).page
    page.wait_for_function("() => document.getElementById('box').className === 'more-right'")
    page.evaluate("() => document.getElementById('box').scrollTo(200, 0)")
    page.wait_for_function("() => document.getElementById('box').classList.length === 2")
    page.evaluate("() => document.getElementById('box').scrollTo(900, 0)")
    page.wait_for_function("() => document.getElementById('box').className === 'more-left'")
    assert page.evaluate("() => getComputedStyle(document.getElementById('box')).maskImage").startswith("linear")
    assert page.evaluate("() => document.getElementById('fits').className") == ""
    page.close()


# A name that would run: it ends the script around a chart and goes on as markup. It is short and has no blank, since
# subtitles are broken into lines.
EVIL = "</script><img/src='x'onerror='hacked=1'>"
SHOWN = "img/src='x'onerror="

NAMED = """
    from dataclasses import replace
    import schedlab as sl
    trace = replace(sl.model_trace("lublin", jobs=60, machine=16), name={name!r})

    def evil(submit, estimate, procs):
        return estimate

    evil.__name__ = {name!r}
    schedule = sl.simulate(trace, sl.EASY(order=evil))
    """


def assert_unharmed(page, dialogs):
    page.page.wait_for_timeout(500)  # an image that cannot be loaded fails later than the page
    assert page.page.evaluate("() => window.hacked || window.HACKED") is None  # names of orders are in capitals
    assert page.page.locator("img[src=x]").count() == 0
    assert dialogs == []


def _watched(page):
    """Note and close dialogs."""
    dialogs = []

    def closed(dialog):
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.page.on("dialog", closed)
    return dialogs


def test_a_name_with_markup_does_not_run_in_a_saved_chart(chromium, tmp_path):
    made = {}
    exec(textwrap.dedent(NAMED.format(name=EVIL)), made)
    path = charts.save(charts.gantt(made["schedule"]), tmp_path / "chart.html")
    page = Page(chromium, path.as_uri())
    dialogs = _watched(page)
    page.page.goto(path.as_uri())
    page.page.locator("svg.marks text, canvas.marks").first.wait_for()
    page.check()
    assert_unharmed(page, dialogs)
    page.close()


def test_a_name_with_markup_does_not_run_in_a_page_of_altairs_own(chromium, tmp_path):
    made = {}
    exec(textwrap.dedent(NAMED.format(name=EVIL)), made)
    path = tmp_path / "chart.html"
    path.write_text(charts.gantt(made["schedule"]).to_html(), encoding="utf-8")
    page = Page(chromium, path.as_uri())  # it cannot load Vega, but the page contains the markup all the same
    dialogs = _watched(page)
    page.page.goto(path.as_uri())
    assert_unharmed(page, dialogs)
    page.close()


@pytest.mark.parametrize("at_top", [True, False])
def test_a_notebook_shows_its_top_or_its_end_when_all_of_it_was_run(server, chromium, folder, at_top):
    first = f"import schedlab as sl\nsl.charts.setup(at_top={at_top})"
    page = Page(chromium, server, height=768)
    page.open(written(folder, "top", first, *["print('line')\n" * 15] * 8)).run_all()
    page.page.wait_for_timeout(1000)
    scrolled = page.page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTop")
    assert (scrolled == 0) == at_top
    if at_top:  # not once the reader scrolls
        page.page.mouse.move(600, 400)
        page.page.mouse.wheel(0, 500)
        page.page.wait_for_timeout(500)
        assert page.page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTop") > 0
    page.close()


def test_a_name_with_markup_does_not_run_in_a_notebook(server, chromium, folder):
    cells = (
        NAMED.format(name=EVIL),
        "schedule.trace",
        "schedule",
        "sl.charts.profile(schedule)",  # by Altair's own renderer, for users who do not call setup
        "sl.charts.setup()",
        "sl.charts.gantt(schedule)",
        "sl.charts.table(schedule.metrics(), caption=trace.name)",
        "sl.sweep(trace, [schedule.scheme, 'fcfs'], progress=False)",
        "sl.widgets.explore(trace)",
    )
    page = Page(chromium, server)
    dialogs = _watched(page)
    page.open(written(folder, "evil", *cells)).run_all().settled()
    (figure,) = page.live_figures()
    figure.locator(".schedlab-code").click()
    figure.locator("pre", has_text=SHOWN).wait_for()
    figure.locator("svg.marks text", has_text=SHOWN).wait_for()
    figure.locator("svg.marks").hover()  # tooltips
    assert_unharmed(page, dialogs)
    page.close()


def test_a_name_that_runs_is_noticed(server, chromium, folder):
    """Show what the two tests before this one look for: HTML that is not escaped."""
    page = Page(chromium, server)
    dialogs = _watched(page)
    cells = ("from IPython.display import HTML", f"HTML({EVIL + '<script>alert(1)</script>'!r})")
    page.open(written(folder, "unescaped", *cells)).run_all()
    page.page.wait_for_function("() => window.hacked")
    with pytest.raises(AssertionError):
        assert_unharmed(page, dialogs)
    assert dialogs
    page.close()


def test_on_a_phone_numbers_in_a_matrix_stay_however_often_they_repeat(chromium, tmp_path):
    page = _on_a_phone(chromium, tmp_path, _body(papers.silva2000.sensitivity.as_kept().chart))
    words = {one["words"] for one in page.page.evaluate(WORDS)}
    assert len(words) > 20
    assert all("." in word for word in words if word)  # utilizations and ratios
    page.check()
    page.close()
