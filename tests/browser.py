"""A real JupyterLab in a real browser without a network: what the browser tests share."""

import contextlib
import html
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
DRAWING = 120_000  # milliseconds; a chart is drawn once it is in view
CHROME = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FINISHED = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
    prompt => !prompt.textContent.includes('*'))"""
ERRORS = "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']"
TOLD = re.compile(r"\s*schedlab: compiling scheme \w+, about \d+ s\s*")  # about a user's own scheme, at its first use
TRIES = 5
BUSY = ".schedlab-busy"
HARMLESS = (
    'Infinite extent for field "published',  # of a panel that has no published number
    '{"signal":"{data: datetime(',  # bounds of a time axis, which Vega-Lite 5.6 reads twice: as dates, and as numbers
)
# ipywidgets says this if a progress bar ends before its parts are drawn, as the first one of a page may.
CLOSED = "Cannot read properties of null (reading 'widgets')"
LATE = "[anywidget] Failed to initialize model."  # on a busy machine; see LISTENING in live_figure.py
DRAWN = "() => [...document.querySelectorAll('.jp-RenderedVegaLite')].every(one => one.querySelector('svg, canvas'))"
SETTLED = f"() => !document.querySelector({BUSY!r})"
# Charts and ledgers that reach beyond their cell, with the pixels; tables may, since they scroll.
WIDER = """() => [...document.querySelectorAll(".jp-RenderedVegaLite, .schedlab-ledger, .schedlab-live")].map(one => {
    const title = (one.querySelector("text") || one).textContent.trim().slice(0, 60);
    return [title, one.scrollWidth - one.clientWidth];
}).filter(([, pixels]) => pixels > 1)"""

# Texts of charts with too little contrast. WCAG 2 requires 4.5, or 3 for large texts. The colour under a text is
# blended from the page up: backgrounds of the elements around it, then marks painted before it that reach under it.
FAINT = """() => {
    const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const seen = new Map();
    const parse = colour => {
        if (!seen.has(colour)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = "rgba(0, 0, 0, 0)";
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
            seen.set(colour, [r, g, b, a / 255]);
        }
        return seen.get(colour);
    };
    const over = (top, alpha, ground) => ground.map((part, i) => part + (top[i] - part) * alpha);
    const opacity = element => {
        let product = 1;
        for (let one = element; one && one.nodeType === 1; one = one.parentNode)
            product *= parseFloat(getComputedStyle(one).opacity);
        return product;
    };
    const painted = element => {
        const style = getComputedStyle(element);
        if (style.fill === "none" || style.visibility === "hidden" || style.display === "none") return null;
        const [r, g, b, a] = parse(style.fill);
        const alpha = a * parseFloat(style.fillOpacity) * opacity(element);
        return alpha > 0 ? {colour: [r, g, b], alpha} : null;
    };
    const luminance = colour => {
        const [r, g, b] = colour.map(part => part / 255).map(
            part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (a, b) => {
        const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const page = element => {
        const around = [];
        for (let one = element; one; one = one.parentElement) around.push(parse(getComputedStyle(one).backgroundColor));
        return around.reverse().reduce((ground, [r, g, b, a]) => over([r, g, b], a, ground), [255, 255, 255]);
    };
    // Of a clipped mark, only what lies in the plot is seen.
    const frame = element => element.closest("[clip-path]")?.parentNode.parentNode
        .querySelector(":scope > path.background")?.getBoundingClientRect();
    const faint = [];
    for (const svg of document.querySelectorAll("svg.marks")) {
        const ground = page(svg), shapes = [];
        for (const element of svg.querySelectorAll("path, rect, circle, text")) {
            if (element.closest("defs, clipPath")) continue;
            const box = element.getBoundingClientRect(), paint = painted(element);
            if (!paint) continue;
            if (element.tagName !== "text") {
                const seen = frame(element);
                shapes.push({element, paint, box: seen ? {
                    left: Math.max(box.left, seen.left), right: Math.min(box.right, seen.right),
                    top: Math.max(box.top, seen.top), bottom: Math.min(box.bottom, seen.bottom),
                } : box});
                continue;
            }
            const words = element.textContent.trim(), seen = frame(element);
            const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
            if (!words || !box.width) continue;
            if (seen && (x < seen.left || x > seen.right || y < seen.top || y > seen.bottom)) continue;
            const style = getComputedStyle(element), size = parseFloat(style.fontSize);
            const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
            let least = Infinity;
            for (const part of [0.1, 0.5, 0.9]) {
                const x = box.left + part * box.width, y = box.top + box.height / 2;
                let under = ground;
                for (const shape of shapes) {
                    const {left, right, top, bottom} = shape.box;
                    if (x < left || x > right || y < top || y > bottom) continue;
                    const place = new DOMPoint(x, y).matrixTransform(shape.element.getScreenCTM().inverse());
                    if (shape.element.isPointInFill(place)) under = over(shape.paint.colour, shape.paint.alpha, under);
                }
                least = Math.min(least, contrast(over(paint.colour, paint.alpha, under), under));
            }
            if (least < (large ? 3 : 4.5)) faint.push(`${words} (${least.toFixed(2)})`);
        }
    }
    return faint;
}"""


class Trouble(AssertionError):
    """Something went wrong in a notebook: an error, a request to the outside, a spinner left over."""


@contextlib.contextmanager
def lab(folder: Path, theme="Light", **environment):
    """Serve a folder of notebooks with a JupyterLab that has its own settings; return its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = folder.parent / f"jupyter-{theme}"
    user = settings / "user/@jupyterlab/apputils-extension"
    _write(user / "notification.jupyterlab-settings", {"fetchNews": "false"})
    _write(user / "themes.jupyterlab-settings", {"theme": f"JupyterLab {theme}"})
    # Draw all cells, also those out of sight.
    tracker = settings / "user/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    _write(tracker, {"windowingMode": "none"})
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--IdentityProvider.token=t", f"--ServerApp.root_dir={folder}", "--ServerApp.log_level=ERROR"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    own = {"JUPYTER_CONFIG_DIR": str(settings), "JUPYTERLAB_SETTINGS_DIR": str(settings / "user")}
    with (folder.parent / f"lab-{theme}.log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **own, **environment}, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api?token=t").close()
                break
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait(20)


@contextlib.contextmanager
def browser():
    """Start chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROME, args=["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
        )
        yield chromium
        chromium.close()


def _write(path, settings):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))


class Page:
    """A page that may load from one address only and that records what goes wrong.

    `outside` lists the addresses that it requested and was refused, `errors` are JavaScript's, `warnings` Vega's.
    """

    def __init__(self, chromium, address, height=1600, width=1300):
        self.address = address
        self.outside, self.errors, self.warnings = [], [], []
        self.page = chromium.new_page(viewport={"width": width, "height": height})
        self.page.route("**/*", self._gate)
        self.page.on("pageerror", self._failed)
        self.page.on("console", self._told)

    def _gate(self, route):
        if route.request.url.startswith((self.address, "data:", "blob:", "file:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def _failed(self, error):
        closed = str(error) == CLOSED and "@jupyter-widgets" in (error.stack or "")
        if not closed and str(error) != LATE:
            self.errors.append(str(error))

    def _told(self, message):
        # Vega's own warnings begin like this.
        if message.text.startswith("WARN") and not any(words in message.text for words in HARMLESS):
            self.warnings.append(message.text)

    def open(self, notebook):
        """Open a notebook and wait for its kernel."""
        self.page.goto(f"{self.address}/lab/tree/{notebook}?token=t&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.page.get_by_text("| Idle").first.wait_for(timeout=60_000)  # before that, Run All asks for a kernel
        self.page.wait_for_function(DRAWN, timeout=60_000)
        return self

    def command(self, *names):
        """Choose from the menus."""
        for name in names:
            self.page.get_by_role("menuitem", name=name, exact=True).first.click()

    def run_all(self, timeout=600):
        """Run all cells and wait until they have run."""
        self.command("Run", "Run All Cells")
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.page.wait_for_timeout(200)
            if self.page.get_by_text("| Idle").count() and self.page.evaluate(FINISHED):
                self.page.wait_for_function(DRAWN, timeout=60_000)
                return self
        raise Trouble(f"cells still run after {timeout} s")

    def settled(self, timeout=60):
        """Wait until no figure is busy."""
        self.page.wait_for_function(SETTLED, timeout=1000 * timeout)
        return self

    def live_figures(self):
        """Return the live figures; those further down are drawn once they are in view."""
        figures = self.page.locator(".schedlab-live")
        found = [figures.nth(i) for i in range(figures.count())]
        for figure in found:
            scroll_to(figure)
            figure.locator("svg.marks").first.wait_for(timeout=DRAWING)
        return found

    def drag(self, figure):
        """Drag the first slider of a figure with the mouse, by a quarter of its length: one of few values is far.

        A mouse that misses, since the page moved under it, tries again as a reader would.
        """
        handle = figure.locator(".noUi-handle").first
        before = handle.get_attribute("aria-valuenow")
        for _ in range(TRIES):
            scroll_to(handle)
            box, pixels = handle.bounding_box(), figure.locator(".noUi-target").first.bounding_box()["width"] / 4
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            self.page.mouse.move(x, y)
            self.page.mouse.down()
            self.page.mouse.move(x + pixels, y, steps=6)
            self.page.mouse.up()
            if handle.get_attribute("aria-valuenow") != before:
                return
            self.page.wait_for_timeout(500)
        raise Trouble(f"a slider is where it was, though it was dragged {TRIES} times")

    def picture(self, figure):
        """Return the chart of a figure as it is drawn now; nothing while there is none."""
        drawn = figure.locator("svg.marks")
        return drawn.first.inner_html() if drawn.count() else ""

    def changed(self, figure, before, timeout=30):
        """Wait until a figure looks different."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
            if self.picture(figure) != before:
                return self
        raise Trouble(f"a figure is as it was {timeout} s after its slider was moved")

    def static_charts(self):
        """Return the charts that cells show directly, as drawn: SVG."""
        found = self.page.locator(".jp-RenderedVegaLite svg.marks")
        return found.evaluate_all("found => found.map(svg => svg.outerHTML)")

    def faint_texts(self):
        """Return the texts of all charts with too little contrast, and their contrast; there should be none."""
        return self.page.evaluate(FAINT)

    def too_wide(self):
        """Return what reaches beyond its cell, with the pixels; nothing should."""
        return self.page.evaluate(WIDER)

    def save(self):
        """Save the notebook with its outputs."""
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("() => !document.querySelector('.jp-mod-current.jp-mod-dirty')", timeout=30_000)

    def close(self):
        """Close the page."""
        self.page.close()

    def check(self):
        """Raise if anything has gone wrong so far."""
        self.page.wait_for_timeout(300)
        if self.errors:
            raise Trouble(f"JavaScript errors: {self.errors}")
        if self.warnings:
            raise Trouble(f"warnings of charts: {list(dict.fromkeys(self.warnings))}")
        if self.outside:
            raise Trouble(f"requests to the outside: {self.outside}")
        shown = [text for text in self.page.locator(ERRORS).all_text_contents() if not TOLD.fullmatch(text)]
        if shown:
            raise Trouble(f"a cell failed: {shown[0][:500]}")
        if self.page.locator(".schedlab-error").count():
            raise Trouble(f"a figure failed: {self.page.locator('.schedlab-error').first.text_content()}")
        if not self.page.evaluate(SETTLED):
            raise Trouble("a figure is still marked as busy")


def scroll_to(place):
    """Bring an element into view as a reader does, with the wheel: only then the top of a notebook lets go of the page.

    Playwright's own way waits for the element to stand still, without end on a busy machine.
    """
    place.evaluate("one => { dispatchEvent(new Event('wheel')); one.scrollIntoView({block: 'center'}); }")


def drawn_in(svg: str) -> dict:
    """Return what a picture drawn by Vega shows: the domains of its axes, and its marks by kind and vertices."""
    tags = re.findall(r"<(?:path|g|text|image)\b[^>]*>", svg)
    told = [dict(re.findall(r'([\w-]+)="([^"]*)"', html.unescape(tag))) for tag in tags]
    axes = sorted(one["aria-label"] for one in told if one.get("aria-roledescription") == "axis")
    marks = Counter(
        (one["aria-roledescription"], len(re.findall(r"[MLHVCAZ]", one.get("d", ""), re.IGNORECASE)))
        for one in told
        if one.get("role") == "graphics-symbol" and one["aria-roledescription"] not in ("axis", "legend", "title")
    )
    return {"axes": axes, "marks": dict(marks)}
