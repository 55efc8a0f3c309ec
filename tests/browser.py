"""A real JupyterLab in a real browser without a network: what the browser tests and the screenshots share."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHROME = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FINISHED = """() => [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].every(
    prompt => !prompt.textContent.includes('*'))"""
ERRORS = "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']"
BUSY = ".schedlab-busy"
SETTLED = f"() => !document.querySelector({BUSY!r})"


class Trouble(AssertionError):
    """What should not happen in a notebook happened: an error, a request to the outside, a spinner left over."""


@contextlib.contextmanager
def lab(folder: Path, theme="Light", **environment):
    """Serve a folder of notebooks with a JupyterLab whose settings are its own; give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = folder.parent / "jupyter"
    user = settings / "user/@jupyterlab/apputils-extension"
    _write(user / "notification.jupyterlab-settings", {"fetchNews": "false"})
    _write(user / "themes.jupyterlab-settings", {"theme": f"JupyterLab {theme}"})
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += ["--IdentityProvider.token=t", f"--ServerApp.root_dir={folder}", "--ServerApp.log_level=ERROR"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    own = {"JUPYTER_CONFIG_DIR": str(settings), "JUPYTERLAB_SETTINGS_DIR": str(settings / "user")}
    with (folder.parent / "lab.log").open("w") as log:
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
    """A page that may load from one address only and that minds what goes wrong.

    Attributes
    ----------
    outside : list of str
        Addresses that the page asked for in vain.
    errors : list of str
        JavaScript errors.
    """

    def __init__(self, chromium, address, height=1600):
        self.address = address
        self.outside, self.errors = [], []
        self.page = chromium.new_page(viewport={"width": 1300, "height": height})
        self.page.route("**/*", self._gate)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _gate(self, route):
        if route.request.url.startswith((self.address, "data:", "blob:", "file:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def open(self, notebook):
        """Open a notebook and wait for its kernel."""
        self.page.goto(f"{self.address}/lab/tree/{notebook}?token=t&reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        self.page.get_by_text("| Idle").first.wait_for(timeout=60_000)  # Run All before asks for a kernel
        return self

    def command(self, *names):
        """Choose from the menus."""
        for name in names:
            self.page.get_by_role("menuitem", name=name, exact=True).first.click()

    def run_all(self, timeout=180):
        """Run all cells and wait until they have run."""
        self.command("Run", "Run All Cells")
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            self.page.wait_for_timeout(200)
            if self.page.get_by_text("| Idle").count() and self.page.evaluate(FINISHED):
                return self
        raise Trouble(f"cells still run after {timeout} s")

    def settled(self, timeout=60):
        """Wait until no figure is busy."""
        self.page.wait_for_function(SETTLED, timeout=1000 * timeout)
        return self

    def live_figures(self):
        """Give the live figures; those further down are drawn once they are in view."""
        figures = self.page.locator(".schedlab-live")
        found = [figures.nth(i) for i in range(figures.count())]
        for figure in found:
            figure.scroll_into_view_if_needed()
            figure.locator("svg.marks").first.wait_for(timeout=30_000)
        return found

    def drag(self, figure, pixels=30):
        """Drag the first slider of a figure with the mouse."""
        handle = figure.locator(".noUi-handle").first
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + pixels, y, steps=6)
        self.page.mouse.up()

    def picture(self, figure):
        """Give the chart of a figure as it is drawn now; nothing while there is none."""
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

    def close(self):
        """Close the page."""
        self.page.close()

    def check(self):
        """Raise where anything went wrong so far."""
        self.page.wait_for_timeout(300)
        if self.errors:
            raise Trouble(f"JavaScript errors: {self.errors}")
        if self.outside:
            raise Trouble(f"requests to the outside: {self.outside}")
        shown = self.page.locator(ERRORS)
        if shown.count():
            raise Trouble(f"a cell failed: {shown.first.text_content()[:500]}")
        if self.page.locator(".schedlab-error").count():
            raise Trouble(f"a figure failed: {self.page.locator('.schedlab-error').first.text_content()}")
        if not self.page.evaluate(SETTLED):
            raise Trouble("a figure is still marked as busy")


def screenshots(folder: Path) -> None:
    """Run every notebook and save a picture of how it looks."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "notebooks"
        shutil.copytree(ROOT / "notebooks", copy)
        with lab(copy) as address, browser() as chromium:
            for notebook in sorted(copy.glob("*.ipynb")):
                page = Page(chromium, address, height=1000).open(notebook.name)
                page.page.keyboard.press("Control+b")  # hides the list of files
                page.run_all().settled()
                figures = page.live_figures()
                page.check()
                if figures:
                    figures[-1].scroll_into_view_if_needed()
                page.page.wait_for_timeout(500)
                page.page.screenshot(path=folder / f"{notebook.stem}.png")
                page.close()
                print(folder / f"{notebook.stem}.png")


if __name__ == "__main__":
    screenshots(Path(sys.argv[1]))
