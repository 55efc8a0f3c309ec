"""The page that simulates logs by itself, opened from the disk in a real browser."""

import gzip
import json
import re
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from browser import CHROME, browser

import schedlab as sl
from schedlab import cli
from schedlab.web import page

SIZE = 1_500_000  # bytes of the page without logs, at most
DRAWN = "#chart svg"
in_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROME, reason="no chromium to be found"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's own sockets
]
browsed = [pytest.param(None, marks=in_browser)]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Write the page with a small log of a model and a stand-in."""
    path = tmp_path_factory.mktemp("page") / "try.html"
    trace = sl.model_trace("lublin", jobs=800, machine=64, seed=1)
    return page.write(path, [trace, sl.load_trace("KTH-SP2-1996", standin=True).head(3000)])


@pytest.fixture(scope="module")
def chromium():
    with browser() as chromium:
        yield chromium


@pytest.fixture
def opened(chromium, file):
    """Return a function that opens the page; whatever goes wrong on it fails the test."""
    contexts, errors = [], []

    def open_page(setting="", width=1366, height=768, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("request", lambda request: errors.append(request.url) if request.url.startswith("http") else None)
        tab.goto(f"{file.as_uri()}#{setting}")
        tab.wait_for_selector(DRAWN)
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def settled(tab):
    """Wait until nothing is simulated, and return the finding."""
    tab.wait_for_function("document.querySelector('#busy').hidden && document.querySelector('#finding').textContent")
    tab.wait_for_timeout(300)
    return tab.inner_text("#finding")


def schedule_of(tab):
    with tab.expect_download() as download:
        tab.click("#csv")
    return pd.read_csv(download.value.path())


def dropped(tab, path):
    """Give the page a file, and wait until it is read, or refused."""
    tab.set_input_files("#file", path)
    tab.wait_for_timeout(300)
    name = json.dumps(getattr(path, "name", None) or path["name"])
    tab.wait_for_function(
        f"!document.querySelector('#trouble').hidden || document.querySelector('#about').textContent.includes({name})"
        " || document.querySelector('#columns').open"
    )


def test_the_page_without_a_log_is_small(file):
    whole = page.page([], [])
    assert len(whole) < SIZE
    assert "http://" not in re.sub(r'"http://www\.w3\.org/[^"]*"', "", whole.split('id="wide"')[0])


def test_the_command_writes_it(tmp_path, capsys):
    trace = sl.model_trace("lublin", jobs=50, machine=64, seed=1)
    trace.to_swf(tmp_path / "mine.swf")
    assert cli.main(["page", str(tmp_path / "try.html"), str(tmp_path / "mine.swf")]) == 0
    text = (tmp_path / "try.html").read_text()
    assert '"name": "mine"' in text
    assert not re.search(r"\{\{\w+\}\}", text)


def test_times_that_do_not_fit_are_refused():
    trace = sl.testing.trace_of([(0, 10, 10, 1), (2**31, 10, 10, 1)], machine=2)
    with pytest.raises(ValueError, match=r"has the time 2,147,483,648, expected less than 2\*\*31 seconds in a page"):
        page.packed(trace)


@pytest.mark.parametrize("_", browsed)
def test_it_follows_the_slider(_, opened):
    tab = opened()
    before = settled(tab)
    tab.evaluate("""() => { const load = document.querySelector('#load');
        for (const value of [0.8, 0.95]) { load.value = value; load.dispatchEvent(new Event('input')); } }""")
    tab.wait_for_function(f"document.querySelector('#finding').textContent !== {json.dumps(before)}")
    after = settled(tab)
    trace = sl.model_trace("lublin", jobs=800, machine=64, seed=1).scale_load(0.95)
    wait = sl.simulate(trace, "easy").metrics()["wait_time"]
    assert f"waits {wait / 3600:.3g} h" in after
    assert "load=0.95" in tab.url
    assert "scale_load(0.95)" in tab.inner_text("#code")
    assert tab.locator("#chart svg path[stroke-width='1']").count() == 2  # thin: before the hand took the slider


@pytest.mark.parametrize("_", browsed)
def test_every_view_in_both_themes_and_on_a_phone(_, opened):
    for theme, width in product(("light", "dark"), (1366, 390)):
        tab = opened(width=width, color_scheme=theme)
        for view in ("waits", "slowdown", "time", "gantt"):
            tab.click(f"[data-view={view}]")
            settled(tab)
            assert tab.locator(DRAWN).count() == 1
            wider = tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wider <= 0, (view, theme, width)
            cut = tab.evaluate("""() => { const box = document.querySelector('#chart svg').getBoundingClientRect();
                return [...document.querySelectorAll('#chart svg text')].map(text => text.getBoundingClientRect())
                    .filter(text => text.width && (text.left < box.left - 1 || text.right > box.right + 1
                        || text.top < box.top - 1 || text.bottom > box.bottom + 1)).length;
            }""")
            assert cut == 0, (view, theme, width)
            assert "{" not in tab.inner_text("#chart")


@pytest.mark.parametrize("_", browsed)
def test_a_link_holds_the_setting(_, opened):
    setting = "load=0.85&scheme=Conservative&against=DPSAn&order=sjf&machine=80&view=gantt&week=0"
    tab = opened(setting)
    first = settled(tab)
    assert "Under Conservative" in first
    assert "under DPSAn" in first
    assert (
        tab.inner_text("#code").splitlines()[-1]
        == "schedule = sl.simulate(trace, sl.Conservative(order='sjf'), machine=80)"
    )
    table = schedule_of(tab)
    trace = sl.model_trace("lublin", jobs=800, machine=64, seed=1).scale_load(0.85)
    schedule = sl.simulate(trace, sl.Conservative(order="sjf"), machine=80)
    assert (table["start_time"] == schedule.start).all()
    assert settled(opened(tab.url.partition("#")[2])) == first


@pytest.mark.parametrize("_", browsed)
def test_a_link_holds_the_week(_, opened):
    tab = opened("view=gantt&week=1")
    settled(tab)
    assert "week=1" in tab.url
    second = tab.inner_text("#week-text")
    tab.evaluate("location.hash = 'view=gantt&scheme=DPSAn'")
    tab.wait_for_function("document.querySelector('#finding').textContent.includes('Under DPSAn')")
    settled(tab)
    assert "week" not in tab.url
    assert tab.inner_text("#week-text") != second
    tab.evaluate("location.hash = 'week=99'")  # which the log does not have
    tab.wait_for_function("document.querySelector('#finding').textContent.includes('Under EASY')")
    assert "week=99" not in tab.url


@pytest.mark.parametrize("_", browsed)
def test_a_nonsense_link_opens_the_page(_, opened):
    tab = opened("load=x&scheme=nothing&machine=-3&view=%3Cb%3E&week=1e99&log=other")
    assert "Under EASY" in settled(tab)


@pytest.mark.parametrize("_", browsed)
def test_a_log_of_ones_own(_, opened, tmp_path):
    trace = sl.load_trace("KTH-SP2-1996", standin=True).head(2000)
    trace.to_swf(tmp_path / "mine.swf.gz")
    tab = opened()
    dropped(tab, tmp_path / "mine.swf.gz")
    settled(tab)
    assert "2,000 jobs, 100 processors" in tab.inner_text("#about")
    assert 'sl.read_swf("mine.swf.gz")' in tab.inner_text("#code")
    mine = sl.read_swf(tmp_path / "mine.swf.gz")
    table = schedule_of(tab)
    start = sl.simulate(mine, "easy").jobs["start_time"]
    assert (table.set_index("job_number")["start_time"] == start).all()


@pytest.mark.parametrize("_", browsed)
def test_a_table_whose_columns_are_asked_for(_, opened, tmp_path):
    rows = [(0, 4, 100, 200), (10, 8, 50, 60), (20, 16, 500, 900), (400, 2, 30, 60)]
    table = pd.DataFrame(rows, columns=["when", "wide", "lasted", "asked for"])
    table.to_csv(tmp_path / "mine.csv", index=False, sep=";")
    tab = opened()
    dropped(tab, tmp_path / "mine.csv")
    assert tab.inner_text("#columns table").split("\t")[0] == "when"
    columns = {"submit": "when", "procs": "wide", "run": "lasted", "estimate": "asked for"}
    for role, name in columns.items():
        tab.select_option(f"#columns select[name={role}]", label=name)
    tab.click("#columns button[value=read]")
    tab.wait_for_function("document.querySelector('#about').textContent.includes('mine.csv')")
    settled(tab)
    code = tab.inner_text("#code").splitlines()[1].removeprefix("trace = ")
    trace = eval(code.replace("mine.csv", str(tmp_path / "mine.csv")), {"sl": sl})
    assert trace.procs == 16
    assert schedule_of(tab)["start_time"].tolist() == sl.simulate(trace, "easy").start.tolist()


@pytest.mark.parametrize("_", browsed)
def test_jobs_that_are_all_submitted_at_once_have_no_load(_, opened, tmp_path):
    sl.testing.trace_of([(0, 10, 10, 1), (0, 10, 10, 2)], machine=2).to_swf(tmp_path / "once.swf")
    tab = opened("load=0.95&machine=200")  # neither is for the next log
    dropped(tab, tmp_path / "once.swf")
    assert "a job waits 5 s" in settled(tab)
    assert tab.locator("#trouble").is_hidden()
    assert "machine" not in tab.inner_text("#code")
    assert "2 jobs, 2 processors" in tab.inner_text("#about")
    assert tab.locator("#load").is_disabled()
    tab.click("[data-view=slowdown]")
    tab.wait_for_selector("#trouble:visible")
    assert tab.inner_text("#trouble") == "all jobs are submitted at one instant: there is no load to scale"


@pytest.mark.parametrize("_", browsed)
def test_a_schedule_of_a_stand_in_says_so(_, opened):
    tab = opened("log=KTH-SP2-1996-2.1-cln")
    settled(tab)
    with tab.expect_download() as download:
        tab.click("#csv")
    assert download.value.suggested_filename == "KTH-SP2-1996-2.1-cln (stand-in, not the real log), EASY.csv"


@pytest.mark.parametrize("_", browsed)
def test_long_work_can_be_cancelled(_, opened, tmp_path):
    sl.load_trace("KTH-SP2-1996", standin=True).scale_load(1.3).to_swf(tmp_path / "long.swf")
    tab = opened()
    dropped(tab, tmp_path / "long.swf")
    settled(tab)
    tab.select_option("#scheme", "Conservative (rebuild)")  # half a minute
    tab.click("#cancel", timeout=30_000)  # which appears
    tab.wait_for_selector("#trouble:visible")
    assert tab.inner_text("#trouble") == "Cancelled."
    assert tab.locator("#busy").is_hidden()
    tab.select_option("#scheme", "EASY-SJBF")
    tab.wait_for_function("document.querySelector('#finding').textContent.includes('Under EASY-SJBF')")
    before = settled(tab)
    assert "long.swf" in tab.inner_text("#about")
    tab.evaluate(
        "() => { const load = document.querySelector('#load'); load.value = 0.7; "
        "load.dispatchEvent(new Event('input')); }"
    )
    assert settled(tab) != before
    assert "scale_load(0.7)" in tab.inner_text("#code")


@pytest.mark.parametrize("_", browsed)
def test_a_file_can_be_given_again(_, opened, tmp_path):
    log = tmp_path / "mine.swf"
    tab = opened()
    for jobs in (1, 2):  # after which it has another
        sl.testing.trace_of([(i, 10, 10, 1) for i in range(jobs)], machine=2).to_swf(log)
        dropped(tab, log)
        tab.wait_for_function(f"document.querySelector('#about').textContent.includes(', {jobs} job')")
        settled(tab)
        assert tab.input_value("#file") == ""  # or a browser would take the same name for no change


@pytest.mark.parametrize("_", browsed)
def test_a_picture_can_be_taken_along(_, opened):
    tab = opened()
    settled(tab)
    with tab.expect_download() as download:
        tab.click("#svg")
    assert download.value.suggested_filename.endswith(", EASY.svg")
    picture = Path(download.value.path()).read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "share of jobs at or below" in picture


@pytest.mark.parametrize("_", browsed)
def test_a_job_says_on_a_phone_how_it_started(_, opened):
    tab = opened("view=gantt", width=375, height=740, has_touch=True, is_mobile=True)
    settled(tab)
    marks = tab.locator("#chart .mark-rect.role-mark path")
    widths = marks.evaluate_all("marks => marks.map(mark => mark.getBoundingClientRect().width)")
    marks.nth(widths.index(max(widths))).tap()
    tab.wait_for_selector("#vg-tooltip-element.visible")
    words = tab.inner_text("#vg-tooltip-element")
    assert "its reservation, when first made" in words
    assert re.search(r"submitted\s+[\d.]{1,4} h\s", words), words
    legend = tab.locator("#chart .role-legend-title").first.bounding_box()
    assert legend["x"] + legend["width"] <= 375


BROKEN = {
    "empty.swf": b"",
    "words.swf": b"; MaxProcs: 4\n1 0 -1 ten 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n",
    "cut.swf.gz": gzip.compress(b"1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1\n" * 99)[:40],
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "short.swf": b"1 2 3\n",
    "nobody.swf": b"; MaxProcs: 4\n",
}


@pytest.mark.parametrize("_", browsed)
def test_broken_files_give_one_message_and_the_page_lives(_, opened):
    tab = opened()
    before = settled(tab)
    for name, content in BROKEN.items():
        dropped(tab, {"name": name, "mimeType": "text/plain", "buffer": content})
        message = tab.inner_text("#trouble")
        assert message.startswith(name), message
        assert "\n" not in message
        assert "undefined" not in message
    tab.click("[data-view=time]")
    assert settled(tab) == before
    assert tab.locator("#trouble").is_hidden()


@pytest.mark.parametrize("_", browsed)
def test_tabs_follow_the_keyboard(_, opened):
    tab = opened()
    tab.focus("[data-view=waits]")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.dataset.view") == "slowdown"
    assert tab.get_attribute("[data-view=slowdown]", "aria-selected") == "true"
    settled(tab)
    assert tab.get_attribute("#chart", "aria-label").startswith("Mean bounded slowdown by offered load. Under EASY")


@pytest.mark.traces
@pytest.mark.parametrize("_", browsed)
@pytest.mark.parametrize("name", ["KTH-SP2-1996", "CTC-SP2-1996"])
def test_every_start_of_a_real_log(_, name, opened):
    from schedlab.workload import archive

    trace = sl.load_trace(name)
    tab = opened()
    dropped(tab, archive.find(trace.name))
    for load, scheme in product((0.6, 1.0), ("EASY", "EASY (4 reservations)")):
        tab.evaluate(f"location.hash = 'load={load}&scheme={scheme}'")
        tab.wait_for_timeout(100)
        settled(tab)
        code = page.schemes()[scheme]["code"]
        start = sl.simulate(trace.scale_load(load), eval(code, {"sl": sl})).start
        table = schedule_of(tab)
        assert (table["start_time"] == start).all(), (load, scheme)
