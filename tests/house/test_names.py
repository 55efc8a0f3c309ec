"""Names from outside, in every output: a terminal, a page, a table, a log. Markup, formulas and controls stay text."""

import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from html import escape

import ipywidgets
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import charts, widgets
from schedlab._runtime.text import plain
from schedlab.cli import tables
from schedlab.workload.models.jann import JannTable, jann_table

IMAGE = "<img src=x onerror='window.hacked=1'>"
MARKUP = f"</script>{IMAGE}<!--"
CONTROLS = "a\x1b[2Jb\rc\x9b31md\u202ee\u2028f\x07"
LINES = "one\n1 2 3\n; MaxProcs: 5\r; MaxProcs: 6"
FORMULA = "=HYPERLINK(A1)"
JOBS = [(0, 10, 20, 2), (5, 30, 35, 1), (5, 7, 7, 3), (20, 4, 9, 1), (4000, 9000, 9000, 4)]
RECORD = "1 0 -1 60 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1"
SACCT = """\
JobID|JobIDRaw|Cluster|Partition|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|State
1|1|{name}|{name}|a|2024-03-01T00:00:00|2024-03-01T00:00:00|2024-03-01T00:01:00|60|5|4|COMPLETED
"""


def named(name):
    return replace(trace_of(JOBS, 4), name=name)


def ordered(name):
    """Return a scheme whose order is a function of the user's, of some name."""

    def order(submit, estimate, procs):
        return estimate

    order.__name__ = name
    return sl.EASY(order=order)


def assert_shown(words, lines=True):
    """Check that a text has no control characters; line ends are allowed if it may have several lines."""
    for letter in words.replace("\n", "") if lines else words:
        assert unicodedata.category(letter) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), f"{letter!r} in {words!r}"


# --- A terminal ---
@pytest.mark.parametrize("name", [CONTROLS, LINES, MARKUP])
def test_reprs_titles_and_messages_control_no_terminal(name):
    trace = named(name).head(5)
    trace = replace(trace, history=(*trace.history, f"from {name}"))
    schedule = sl.simulate(trace, ordered(name))
    sites = sl.simulate_sites([trace.with_parameter_sweeps(1, min_procs=2)] * 2, "ojs", speeds=(1, 2))
    for words in (repr(trace), repr(schedule), repr(sites), trace.title, str(schedule.scheme)):
        assert_shown(words)
    assert len(repr(trace).splitlines()) == 3
    assert_shown(repr(schedule), lines=False)
    for wrong in (lambda: trace.between(10**6, 10**7), lambda: trace.between("1999", "2000"), lambda: trace.laws()):
        with pytest.raises(ValueError) as error:
            wrong()
        assert_shown(str(error.value))
        assert plain(name) in str(error.value)


def test_an_order_that_fails_and_a_table_are_shown_plainly(capsys):
    def order(*a):
        return 0

    order.__name__ = CONTROLS
    with pytest.raises(ValueError) as error:
        sl.EASY(order=order)
    assert_shown(str(error.value))
    tables.print_table(pd.DataFrame({CONTROLS: [CONTROLS, "x"], "value": [1.5, 2]}))
    out = capsys.readouterr().out
    assert_shown(out)
    assert plain(CONTROLS) in out


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    return run


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "\u202eb", "\x9b31m"])
def test_the_command_line_shows_names_plainly(run, tmp_path, name):
    path = tmp_path / f"{name}.swf"
    path.write_text(f"; MaxProcs: 8\n{RECORD}\n{RECORD.replace('1 0', '2 50', 1)}\n")
    sl.sweep(sl.model_trace("lublin", jobs=2), ("fcfs", "easy"), progress=False)  # compiling would show a bar
    for arguments in (
        ("simulate", path, "--out", tmp_path / f"{name}.csv"),
        ("simulate", path, "--classes", "queue", "--out", tmp_path / f"{name}-out.swf"),
        ("compare", path, "--scheme", "fcfs,easy", "--out", tmp_path / f"{name}.csv"),
    ):
        code, out, err = run(*arguments)
        assert code == 0, err
        assert_shown(out)
        assert_shown(err)
        assert plain(name) in out
        assert f"written: {plain(str(arguments[-1]))}\n" in err
    path.write_text("abc\n")
    for arguments in ((path,), (f"{path}x.swf",), (name,), (path, "--out", name)):
        code, _, err = run("simulate", *arguments)
        assert code > 0
        assert_shown(err)
        assert plain(name) in err
    sl.read_swf(tmp_path / f"{name}-out.swf")


# --- A page ---
@pytest.fixture
def schedule():
    return sl.simulate(named(MARKUP), ordered(MARKUP))


def drawn(schedule):
    """Draw charts with names in their titles, legends, axes and data."""
    table = schedule.trace.table.assign(account=[MARKUP, "a", "a", "b", "b"])
    owned = replace(schedule, trace=replace(schedule.trace, table=table))
    table = sl.sweep([schedule.trace, named(f"{MARKUP}2")], [schedule.scheme, "fcfs"], [0.5, 0.9], progress=False)
    return {
        "profile": charts.profile(schedule),
        "gantt": charts.gantt(schedule),
        "owners": charts.gantt(owned, color="account"),
        "usage": charts.usage(owned, by="account"),
        "lines": charts.lines(table, x="load", y="wait_time", color="trace", column="scheme"),
        "schemes": charts.lines(table, x="load", y="wait_time", column="trace"),
        "scatter": charts.scatter(schedule, sl.simulate(schedule.trace, "fcfs")),
    }


def test_no_name_ends_the_script_of_a_page(schedule, tmp_path):
    for what, chart in drawn(schedule).items():
        if what == "profile":
            page = charts.save(chart, tmp_path / "chart.html").read_text(encoding="utf-8")
            assert "<img src=x" not in page
            assert "\\u003c /script>\\u003cimg src=x" in page
        for words in (chart.to_html(), chart._repr_mimebundle_()["text/html"]):
            scripts = words.count("<script")
            assert words.count("</script") == scripts, what
            assert "<!--" not in words


def test_tables_for_notebooks_escape_names(schedule):
    frame = pd.DataFrame({IMAGE: [IMAGE, "x"], "n": [1, 2]}, index=pd.Index([IMAGE, "b"], name=f"{IMAGE}2"))
    frame.columns.name = IMAGE
    measures = charts.table(schedule.metrics())
    for styled in (charts.table(frame, caption=IMAGE), charts.table(frame["n"].rename(IMAGE)), measures):
        page = styled.to_html()
        assert "<img" not in page
    assert charts.table(frame, caption=IMAGE).to_html().count(escape(IMAGE)) == 5


def test_live_figures_escape_names(tmp_path, monkeypatch):
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    panel = widgets.explore(named(MARKUP), replace(named(CONTROLS), history=(LINES,)))
    for view in panel.controls["view"].options:
        panel.controls["view"].value = view
        texts = [one.value for one in every(panel) if isinstance(one, ipywidgets.HTML)]
        assert not any("<img" in text for text in texts)
        compile(panel._script.code, "code", "exec")
    assert not any(getattr(one, "description_allow_html", False) for one in every(panel))

    def fails(label=IMAGE):
        raise ValueError(f"{label}: {MARKUP}")

    figure = widgets.live(fails, label=[IMAGE])
    assert "<img" not in figure._error.value
    assert escape(IMAGE) in figure._error.value


def every(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from every(child)


def test_the_code_of_a_live_figure_is_only_the_code():
    def draw(trace=None):
        return charts.profile(sl.simulate(trace, "easy"))

    draw.__name__ = "f(); import os #"
    label = "x\n__import__('os').system('true')\r1"
    panel = widgets.live(draw, trace={label: named(LINES)})
    code = compile(panel._script.code, "code", "exec")
    assert code.co_names == ("function", "trace", "chart")


# --- A table ---
@pytest.mark.parametrize("name", [FORMULA, "+1+cmd", "-1+2", "@SUM(1)"])
def test_no_cell_of_a_csv_is_a_formula(name, run, tmp_path):
    path = tmp_path / f"{name}.swf"
    path.write_text(f"; MaxProcs: 8\n{RECORD}\n{RECORD.replace('1 0', '2 50', 1)}\n")
    assert run("simulate", path, "--out", tmp_path / "one.csv")[0] == 0
    one = pd.read_csv(tmp_path / "one.csv", keep_default_na=False)
    assert one["workload_name"].tolist() == [f"'{name}"] * 2
    assert one["consumed_energy"].tolist() == [-1, -1]
    assert run("compare", path, "--scheme", "fcfs,easy", "--out", tmp_path / "two.csv")[0] == 0
    two = pd.read_csv(tmp_path / "two.csv")
    assert two["trace"].tolist() == [f"'{name}"] * 2
    assert two["scheme"].tolist() == ["FCFS", "EASY"]
    assert two["wait_time"].dtype == "float64"


def test_the_ledger_is_written_without_formulas(run, tmp_path, monkeypatch):
    row = dict.fromkeys(sl.papers.LEDGER, "entry") | {"verdict": "reproduced", "reason": "=1+1", "measured": "-5.2 %"}
    row["conditions"] = []
    module = type(sys)("paper")
    module.TITLE, module.claims = "=title", lambda *_: sl.papers.ledger([row])
    monkeypatch.setattr(sl.papers, "modules", lambda _: [module])
    assert run("claims", "--out", tmp_path / "claims.csv")[0] == 0
    written = pd.read_csv(tmp_path / "claims.csv")
    assert (written["reason"][0], written["measured"][0]) == ("'=1+1", "-5.2 %")


# --- A log ---
@pytest.mark.parametrize("name", [LINES, CONTROLS, "\udce9", MARKUP])
def test_no_name_makes_a_line_of_a_written_log(name, tmp_path):
    trace = replace(named(name), history=(name,))
    schedule = sl.simulate(trace, ordered(name))
    for write in (trace.to_swf, schedule.to_swf):
        write(tmp_path / "X.swf")
        again = sl.read_swf(tmp_path / "X.swf")
        assert len(again) == len(trace)
        assert again.procs == trace.procs
        lines = (tmp_path / "X.swf").read_text().split("\n")
        assert sum(plain(name) in line for line in lines) >= 2


def test_a_model_whose_table_has_an_odd_name_is_written(tmp_path):
    table = JannTable(LINES, jann_table("kth").ranges)
    sl.model_trace("jann", jobs=5, table=table).to_swf(tmp_path / "X.swf")
    assert len(sl.read_swf(tmp_path / "X.swf")) == 5


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\rb", "b\r", MARKUP, "a\x0bb", "\u2028"])
def test_names_of_partitions_and_clusters_are_header_lines(name, tmp_path):
    path = tmp_path / "jobs.txt"
    path.write_text(SACCT.format(name=f"x{name},y"), newline="")
    trace = sl.read_sacct(path)
    assert trace.header.partitions == {1: plain(f"x{name}").strip(), 2: "y"}
    trace.to_swf(tmp_path / "X.swf")
    assert sl.read_swf(tmp_path / "X.swf").header.partitions == trace.header.partitions
    assert_shown(repr(trace))


def test_names_that_are_no_text_can_be_printed_and_saved(tmp_path):
    trace = named("caf\udce9")
    assert trace.name == r"caf\udce9"
    sl.simulate(trace, "easy").to_csv(tmp_path / "jobs.csv")
    charts.save(charts.profile(sl.simulate(trace, "easy")), tmp_path / "chart.svg")
    shown = subprocess.run([sys.executable, "-c", f"print({trace.name!r})"], capture_output=True, check=True)
    assert re.fullmatch(rb"caf\\udce9\s*", shown.stdout)
