"""The page in a real browser: every start against Python's, and the time from the slider to the chart.

    python tests/benchmarks/bench_web.py [--slider] [LOG ...]

It needs the archive's logs and Chromium. For each log, load and scheme of the page it prints how many starts differ;
with ``--slider`` the median time of twelve moves.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import schedlab as sl
from schedlab.web import page

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import browser

LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "SDSC-Par-1996", "OSC-Clust-2000", "NASA-iPSC-1993")
LOGS += ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "Sandia-Ross-2001", "SDSC-DS-2004", "LANL-CM5-1994", "HPC2N-2002")
LOADS = (0.6, 0.8, 1)
MOVED = """async () => {
    const load = document.querySelector('#load'), chart = document.querySelector('#chart'), times = [];
    for (let i = 0; i < 12; i++) {
        const begin = performance.now();
        load.value = 0.6 + 0.03 * i;
        load.dispatchEvent(new Event('input'));
        await new Promise(resolve => {
            const seen = new MutationObserver(() => { seen.disconnect(); resolve(); });
            seen.observe(chart, {attributes: true, attributeFilter: ['aria-label']});
        });
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - begin);
    }
    return times;
}"""
IDLE = "document.querySelector('#busy').hidden && document.querySelector('#code').textContent.includes({text})"


def starts(tab, load, scheme, code):
    """Let the page simulate a setting, and return the starts."""
    tab.evaluate(f"location.hash = 'load={load}&scheme={scheme}&against={scheme}'")
    tab.wait_for_function(IDLE.format(text=json.dumps(f"scale_load({load})")), timeout=0)
    tab.wait_for_function(IDLE.format(text=json.dumps(code)), timeout=0)
    with tab.expect_download(timeout=0) as download:
        tab.click("#csv")
    return pd.read_csv(download.value.path())["start_time"].to_numpy()


def compare(tab, trace):
    for load in LOADS:
        workload = trace.scale_load(load)
        for scheme, entry in page.schemes().items():
            begin = time.perf_counter()
            theirs = starts(tab, load, scheme, entry["code"])
            seconds = time.perf_counter() - begin
            ours = sl.simulate(workload, eval(entry["code"], {"sl": sl})).start
            print(
                f"{trace.name:28} {load} {scheme:28} {(ours != theirs).sum():6} of {len(ours):,} {seconds:6.1f} s",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", default=LOGS)
    parser.add_argument("--slider", action="store_true", help="only the slider")
    options = parser.parse_args()
    with browser() as chromium, tempfile.TemporaryDirectory() as folder:
        for name in options.logs:
            trace = sl.load_trace(name)
            file = page.write(Path(folder) / f"{name}.html", [trace])
            for scheme in ("EASY", "Conservative") if options.slider else ():
                tab = chromium.new_page()
                tab.goto(f"{file.as_uri()}#scheme={scheme}")
                tab.wait_for_selector("#chart svg", timeout=0)
                times = tab.evaluate(MOVED)
                print(f"{name}: {statistics.median(times):.0f} ms from the slider to the chart, {scheme} and FCFS")
                tab.close()
            if options.slider:
                continue
            tab = chromium.new_page()
            tab.goto(file.as_uri())
            tab.wait_for_selector("#chart svg", timeout=0)
            compare(tab, trace)
            tab.close()


if __name__ == "__main__":
    main()
