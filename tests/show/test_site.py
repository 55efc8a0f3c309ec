"""The site that `make docs` builds: links work, nothing is loaded from elsewhere, and pages fit the screen and work."""

import functools
import http.server
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from browser import CHROME, DRAWING, ROOT, browser, scroll_to
from pages import Page

SITE = ROOT / "build" / "site"
CLICKS = 3
SHOWN = (  # in the browser: the pages that show most, and one of each kind
    "index.html",
    "start.html",
    "try.html",
    "guide/backfilling.html",
    "guide/compare.html",
    "guide/figure.html",
    "notebooks/00-tour.html",
    "notebooks/05-dpsa-grudenic.html",
    "notebooks/06-placement-pascual.html",
    "notebooks/07-arena.html",
    "notebooks/10-semantics.html",
    "notebooks/11-clusters-today.html",
    "reference/index.html",
    "reference/generated/schedlab.EASY.html",
    "reference/generated/schedlab.charts.lines.html",
)
WORDS = {  # words that users may search for, and a page that must be found
    "backfilling": "EASY",
    "conservative": "Conservative",
    "store": "A study on a cluster",
    "paper_style": "A figure for a paper",
    "sacct": "read_sacct",
    "moldable": "Sabin",
    "gang": "gang",
    "contiguous": "KaryTree",
    "lower_bounds": "lower_bounds",
    "conformance": "semantics",
}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="there is no site: make docs builds it"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's own sockets
]
in_browser = pytest.mark.skipif(not CHROME, reason="no chromium to be found")


@pytest.fixture(scope="module")
def pages():
    paths = [path for path in SITE.rglob("*.html") if "_static" not in path.parts]
    return {path.relative_to(SITE).as_posix(): Page(path.read_text(encoding="utf-8")) for path in paths}


def within(page, link):
    """Return the page of the site that a link leads to, and the anchor there; None for a link to elsewhere."""
    if ":" in link.partition("/")[0]:
        return None
    target, anchor = urldefrag(urljoin(page, link))
    return unquote(target) or page, unquote(anchor)


def test_links_lead_to_pages_and_anchors_that_there_are(pages):
    broken = []
    for page, found in pages.items():
        for link in found.links:
            target, anchor = within(page, link) or (page, "")
            if target.endswith(".html"):
                there = pages.get(target)
                if there is None or (anchor and anchor not in {*there.ids, *there.names}):
                    broken.append(f"{page}: {link}")
            elif not (SITE / target).exists():
                broken.append(f"{page}: {link}")
    assert not broken, "\n".join(sorted(broken)[:30])


def test_every_page_is_within_three_clicks_of_the_first(pages):
    reached, edge = {"index.html"}, {"index.html"}
    for _ in range(CLICKS):
        targets = {within(page, link) for page in edge for link in pages[page].links}
        edge = {target[0] for target in targets if target and target[0] in pages} - reached
        reached |= edge
    left = set(pages) - reached - {"search.html"}
    assert not left, sorted(left)[:20]


def test_every_public_name_has_its_page(pages):
    import schedlab as sl

    names = [name for name in sl.__all__ if name not in sl._ROOMS]
    missing = [name for name in names if f"reference/generated/schedlab.{name}.html" not in pages]
    assert not missing


@pytest.fixture(scope="module")
def address():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium):
    """Open a page without an address, whose errors are recorded; there must be none in the end."""
    contexts = []
    trouble = []

    def opened(address, scheme="light", width=1366):
        contexts.append(chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        inside = (address, "data:", "blob:")
        page.on("request", lambda request: request.url.startswith(inside) or note(page, f"asks for {request.url}"))
        page.on("console", lambda message: message.type == "error" and note(page, message.text))
        page.on("pageerror", lambda error: note(page, str(error)))
        return page

    def note(page, words):
        trouble.append(f"{page.url}: {words}")

    yield opened
    for context in contexts:
        context.close()
    assert not trouble


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1366, 390])
def test_pages_ask_for_nothing_elsewhere_fail_nowhere_and_fit(opened, address, scheme, width):
    page = opened(address, scheme, width)
    for name in SHOWN:
        page.goto(f"{address}/{name}")
        for chart in page.query_selector_all(".chart"):
            if chart.is_visible():
                scroll_to(chart)
                chart.wait_for_selector("svg", timeout=DRAWING)
        beyond = page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth")
        assert beyond <= 1, name


@in_browser
def test_on_a_phone_no_line_of_code_is_cut_and_no_text_of_a_picture_is_small(opened, address):
    page = opened(address, width=390)
    page.goto(f"{address}/notebooks/00-tour.html")
    cut = """() => [...document.querySelectorAll(".cell_input pre")]
        .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"""
    small = """() => [...document.querySelectorAll(".cell_output svg:not(.marks) text")]
        .filter(one => { const {a, b} = one.getScreenCTM(); return Math.hypot(a, b) < 0.99; })
        .filter(one => one.getBoundingClientRect().width).map(one => one.textContent)"""
    assert page.evaluate(cut) == []
    assert page.evaluate(small) == []
    page.goto(f"{address}/index.html")
    assert page.query_selector(".bd-article .chart")  # drawn in the page's ink, and narrow on a phone
    page.goto(f"{address}/papers.html")
    assert page.inner_text(".schedlab-wall").startswith("Of ")
    page.goto(f"{address}/notebooks/04-shredding-kurian.html")
    assert page.locator(".bd-article svg.marks:not(.chart svg)").count() == 0  # of fixed width
    page.wait_for_function("() => document.querySelector('.cell_output .wide.more-right')")  # a table scrolls by itself
    fading = "found => found.filter(one => one.querySelector('p, summary')).map(one => one.innerText.slice(0, 60))"
    assert page.locator("main .more-right:not(.chart)").evaluate_all(fading) == []


@in_browser
def test_a_live_figure_on_a_page_shows_what_is_chosen(opened, address):
    page = opened(address)
    page.goto(f"{address}/notebooks/06-placement-pascual.html")
    live = page.query_selector(".live-page")

    def shown():
        return [one for one in live.query_selector_all(".live-figure") if one.is_visible()]

    def key():
        controls = live.query_selector_all("select, input")
        return " ".join(f"{one.get_attribute('name')}={one.input_value()}" for one in controls)

    assert [one.get_attribute("data-key") for one in shown()] == [key()]
    first = key()
    slider = live.query_selector("input[type=range]")
    slider.focus()
    page.keyboard.press("End")
    menu = live.query_selector("select")
    menu.select_option(index=1 if menu.input_value() == "0" else 0)
    assert slider.input_value() == slider.get_attribute("max")  # both hold their values
    seen = shown()
    assert [one.get_attribute("data-key") for one in seen] == [key()]
    assert sum(a != b for a, b in zip(key().split(), first.split(), strict=True)) == 2
    scroll_to(seen[0])
    seen[0].wait_for_selector("svg", timeout=DRAWING)


def simulated(page):
    """Move the slider of a figure that the page simulates to its end, and wait for the picture."""
    live = page.wait_for_selector(".live-simulated")
    slider = live.wait_for_selector("input[type=range]:enabled", timeout=DRAWING)
    scroll_to(live)
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function(
        "() => document.querySelector('.live-simulated svg')?.textContent.includes('load 1,')", timeout=DRAWING
    )
    return live


@in_browser
@pytest.mark.parametrize(
    ("notebook", "menu"),
    [("00-tour", "easy-sjf"), ("02-moldable-sabin", "greedy"), ("05-dpsa-grudenic", "wide jobs")],
)
def test_a_page_simulates_its_live_figure(notebook, menu, opened, address):
    page = opened(address)
    page.goto(f"{address}/notebooks/{notebook}.html")
    live = simulated(page)
    before = live.query_selector("svg").text_content()
    assert "under EASY" in before
    live.query_selector("select").select_option(label=menu)
    page.wait_for_function(
        f"() => document.querySelector('.live-simulated svg')?.textContent.includes(': {menu}')", timeout=DRAWING
    )
    assert live.query_selector("svg").text_content().partition("under")[0] != before.partition("under")[0]
    assert live.query_selector("[role=status]").inner_text() == ""


@in_browser
def test_pages_opened_from_the_disk_draw_charts_move_sliders_and_search(opened):
    page = opened(SITE.as_uri())
    page.goto((SITE / "index.html").as_uri())
    page.wait_for_selector(".bd-article .chart svg.marks", timeout=DRAWING)
    page.goto((SITE / "notebooks" / "00-tour.html").as_uri())
    simulated(page)
    page.goto((SITE / "try.html").as_uri())
    page.wait_for_selector("#chart svg")
    page.select_option("#log", index=1)  # which stands beside the page
    page.wait_for_function("() => document.querySelector('#about').textContent.includes('77,205 jobs')")
    page.goto((SITE / "search.html").as_uri() + "?q=EASY")
    page.wait_for_function("() => /found|did not match/.test(document.querySelector('#search-results').innerText)")
    assert page.query_selector("#search-results a")


@in_browser
def test_the_search_finds_ten_words(opened, address):
    page = opened(address)
    for word, expected in WORDS.items():
        page.goto(f"{address}/search.html?q={word}")
        page.wait_for_function("() => /found|did not match/.test(document.querySelector('#search-results').innerText)")
        found = page.inner_text("#search-results").casefold()
        assert expected.casefold() in found, word


def test_sources_lie_under_notebooks_and_pages_elsewhere():
    assert Path(ROOT, "notebooks", "site", "index.md").is_file()
    assert not list(Path(ROOT, "notebooks").rglob("*.html"))
