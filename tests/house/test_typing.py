"""What editors and type checkers see: the names of the package, their types, and mistakes in code that uses them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat

import schedlab as sl
from schedlab.schemes import classes

ROOT = Path(__file__).parents[2]
CHECKER = [sys.executable, "-m", "basedpyright", "--outputjson"]
HEAD = 'import schedlab as sl\n\ntrace = sl.load_trace("KTH-SP2-1996")\nschedule = sl.simulate(trace, "easy")\n'
# Each line is right up to its last expression, and then has the one mistake that a message must name.
MISTAKES = {
    'sl.EASYY("sjf")': "EASYY",
    'sl.EASY(ordr="sjf")': "ordr",
    'sl.simulate("KTH-SP2-1996", "easy")': '"trace"',
    'sl.simulate(trace, "easy", overrun="klil")': '"overrun"',
    "sl.simulate(trace, sl.EASY)": '"scheme"',
    "trace.scale_lod(0.9)": "scale_lod",
    'trace.head("5")': '"jobs"',
    'sl.sweep(trace, ["fcfs", "easy"], load=[0.7, 0.9], by="runtime")': '"by"',
    'sl.load_trace("KTH-SP2-1996", procs=100)': "procs",
    "schedule.metrics(ci=0.95)": "metrics",
}
RIGHT = """
sl.EASY(order="sjf", reservations=2)
sl.simulate(trace, sl.DPSA(variant="n"), overrun="extend", machine=sl.KaryTree(4, 4)).validate().to_swf("out.swf")
trace.head(5).scale_load(0.9, by="interarrival").jobs["run_time"].mean()
sl.sweep([trace], ["fcfs", sl.EASY()], load=[0.7, 0.9], seed=range(3)).groupby("scheme")["wait_time"].mean()
sl.charts.gantt(schedule).to_dict()
schedule.metrics(by="size", confidence=0.95).round(2)
sl.paired(schedule, schedule, "wait_time").ratio.low.is_integer()
sl.paired(schedule, schedule, "wait_time", by="partition").difference.round(2)
sl.papers.sabin2006.figure2(size="quick").chart
"""
# A cell ends with what it shows.
IN_NOTEBOOKS = {"reportUnusedExpression", "reportUnusedCoroutine", "reportRedeclaration"}


def faults(folder, texts):
    """Return (file, line, message) of what is wrong in files with these texts."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    settings = {"typeCheckingMode": "standard", "reportMissingTypeStubs": False, "extraPaths": [str(ROOT)]}
    settings |= dict.fromkeys(IN_NOTEBOOKS, False)
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [*CHECKER, "--pythonpath", sys.executable, "--project", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    found = json.loads(said.stdout)["generalDiagnostics"]
    return [
        (Path(one["file"]).name, one["range"]["start"]["line"], one["message"])
        for one in found
        if one["severity"] == "error"
    ]


def test_the_stub_names_what_the_package_offers():
    stub = (ROOT / "schedlab" / "__init__.pyi").read_text(encoding="utf-8")
    homes = {name: home for home, name in re.findall(r"^from (\S+) import \w+ as (\w+)$", stub, re.MULTILINE)}
    assert sorted(homes) == sorted(sl.__all__)
    expected = {name: f".{home}" for name, home in sl._HOME.items()}
    expected |= {name: f".{home.rpartition('.')[0]}" for name, home in sl._ROOMS.items()}
    expected |= {name: kind.__module__.removeprefix("schedlab") for name, kind in classes().items() if name in homes}
    assert homes == expected
    assert (ROOT / "schedlab" / "py.typed").is_file()


def test_a_checker_sees_ten_planted_mistakes_and_nothing_else(tmp_path):
    lines = [*MISTAKES]
    seen = faults(tmp_path, {"planted.py": HEAD + "\n".join(lines), "right.py": HEAD + RIGHT})
    first = HEAD.count("\n")
    assert sorted((file, line - first) for file, line, _ in seen) == [("planted.py", number) for number in range(10)]
    for _, line, message in seen:
        assert MISTAKES[lines[line - first]] in message


def test_a_checker_sees_nothing_wrong_in_the_notebooks(tmp_path):
    texts = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        code = "\n".join(line for cell in cells for line in cell.splitlines() if not line.startswith(("%", "!")))
        texts[f"{path.stem.replace('-', '_')}.py"] = code
    assert faults(tmp_path, texts) == []
