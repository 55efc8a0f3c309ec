"""Live figures as plain functions: without a browser or a notebook kernel."""

import ast
import asyncio
import gc
import inspect
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import altair as alt
import ipywidgets
import nbformat
import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab import widgets
from schedlab.show.page import duration, unit_of
from schedlab.show.reading import MINUS
from schedlab.workload import swf

pytestmark = pytest.mark.tables

calls = []


@pytest.fixture(autouse=True)
def alone(request, monkeypatch, tmp_path):
    calls.clear()
    if "traces" not in request.keywords:
        monkeypatch.delenv("SCHEDLAB_DATA", raising=False)
        monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))


def keys_of(page):
    """Return the keys of all figures of a page, and of those that are not hidden."""
    keys = re.findall(r'class="live-figure" data-key="([^"]+)"( hidden)?', page)
    return [key for key, _ in keys], [key for key, hidden in keys if not hidden]


def specs_of(page):
    return [json.loads(text.replace("<\\/", "</")) for text in re.findall(r"json\" id=\"[^>]+>(.*?)</script>", page)]


@pytest.fixture
def page_of(monkeypatch):
    """Return the page that a live figure becomes where there is no kernel."""
    monkeypatch.setenv("SCHEDLAB_PAGE", "1")
    return lambda figure: figure._repr_mimebundle_()["text/html"]


def drawing(load=0.8, scheme="easy"):
    """Draw a point, and note that it was drawn."""
    calls.append((load, scheme))
    points = alt.Chart(pd.DataFrame({"load": [load]})).mark_point().encode(alt.X("load:Q"))
    return points.properties(title=scheme, height=120)


def numbered(load=1):
    return drawing(load)


def failing(load=0.5):
    if load > 0.7:
        raise ValueError(f"load <{load}> is too high")
    return drawing(load)


@pytest.fixture
def figure():
    return sl.widgets.live(drawing, load=(0.5, 1.0, 0.1), scheme=["fcfs", "easy"])


def drawn_load(figure):
    """Read the load from the data of the chart that is on the screen."""
    ((row,),) = figure.chart.spec["datasets"].values()
    return row["load"]


def heading(figure):
    return figure.chart.spec["title"]["text"]


def untitled(spec):
    """Return a figure without its title, which says the setting in a live figure."""
    return {name: part for name, part in spec.items() if name != "title"}


def test_a_move_draws_anew_and_a_return_comes_from_memory(figure):
    assert figure.settings == {"load": 0.8, "scheme": "easy"}
    assert (drawn_load(figure), heading(figure)) == (0.8, "easy")
    figure.controls["load"].value = 0.6
    assert drawn_load(figure) == pytest.approx(0.6)
    figure.controls["scheme"].value = "fcfs"
    assert heading(figure) == "fcfs"
    figure.controls["scheme"].value = "easy"
    assert (drawn_load(figure), heading(figure)) == (pytest.approx(0.6), "easy")
    assert [scheme for _, scheme in calls] == ["easy", "easy", "fcfs"]
    assert figure.drawn == 3
    figure.reset()
    assert figure.settings == {"load": 0.8, "scheme": "easy"}
    assert drawn_load(figure) == 0.8


def test_the_primary_slider_follows_the_hand_if_figures_are_drawn_at_once(figure, monkeypatch):
    assert figure.controls["load"].continuous_update is True
    assert figure._hint.value == ""
    monkeypatch.setattr(widgets.live_figure, "AT_ONCE", 0)
    figure.controls["load"].value = 0.65
    assert figure.controls["load"].continuous_update is False
    assert "release" in figure._hint.value
    many = sl.widgets.live(lambda a=1, b=1, c=1, d=1, e=1: drawing(a), **dict.fromkeys("abcde", (0, 5)))
    assert [many.controls[name].continuous_update for name in "bcde"] == [False] * 4


def test_the_primary_slider_is_by_itself_and_others_are_folded():
    controls = {"f": ["x", "y"], "a": (0, 5), "b": (0, 5), "c": (0, 5), "d": (0, 5)}
    many = sl.widgets.live(lambda a=1, b=1, c=1, d=1, f="x": drawing(a), **controls)
    primary, beside, folded = many.children[0].children
    assert primary.children[0] is many.controls["a"]
    assert beside.children[:2] == (many.controls["f"], many.controls["b"])
    more = beside.children[2]
    assert (more.description, folded.children[0].children) == ("More (2)", (many.controls["c"], many.controls["d"]))
    assert folded.layout.display == "none"
    more.value = True
    assert folded.layout.display == "flex"
    grouped = sl.widgets.live(lambda **_: drawing(1), groups={"view": ["d"], "log": ["c", "a"]}, **controls)
    parts = [row.children for row in grouped.children[0].children[2].children[:-1]]
    assert [part[0].value for part in parts] == ["<b>view</b>", "<b>log</b>"]
    assert [part[1:] for part in parts] == [(grouped.controls["d"],), (grouped.controls["c"],)]
    own = ipywidgets.IntSlider(1, 0, 5, layout={"width": "7em"})
    assert sl.widgets.live(lambda a: drawing(a), a=own).controls["a"].layout.width == "7em"
    few = sl.widgets.live(lambda a=1, b=1, c=1, d=1: drawing(a), **dict.fromkeys("abcd", (0, 5)))
    assert len(few.children[0].children) == 2  # a fold for one control would be in its place


def test_the_lines_before_a_drag_stay_as_a_ghost_where_axes_are_the_same(trace, monkeypatch):
    figure = sl.widgets.live(partial(widgets.waits, trace), load=(0.5, 1.0, 0.1), scheme=["easy", "easy-sjf"])
    first = figure.chart.spec
    alone = len(first["layer"])
    figure._drawn_at = -widgets.live_figure.DRAG
    for load in (0.7, 0.8):  # one drag
        figure.controls["load"].value = load
        ghost, shown = figure.chart.spec["layer"][:2]
        assert ghost["data"] == first["data"]
        assert figure.chart.spec["data"] != first["data"]
        assert ghost["mark"]["strokeWidth"] == 1
        assert ghost["encoding"].items() <= shown["encoding"].items()  # one legend for both
        names = {ghost["data"]["name"], figure.chart.spec["data"]["name"]}
        assert names <= set(figure.chart.spec["datasets"])
    figure.controls["scheme"].value = "easy-sjf"  # other lines: nothing to compare with
    assert len(figure.chart.spec["layer"]) == alone
    assert figure._recall(figure.settings)[0] == figure.chart.spec  # memory has no ghosts


def test_the_oldest_figures_are_forgotten(monkeypatch):
    monkeypatch.setattr(widgets.live_figure, "REMEMBERED", 2)
    figure = sl.widgets.live(numbered, load=[1, 2, 3])
    for load in (2, 3, 2, 1, 2, 3):
        figure.controls["load"].value = load
    assert [load for load, _ in calls] == [1, 2, 3, 1, 3]  # 2 was used again before 1 came


def test_an_error_takes_the_place_of_the_figure_and_goes_again():
    figure = sl.widgets.live(failing, load=(0.5, 1.0, 0.1))
    figure.controls["load"].value = 0.9
    assert figure.chart.spec is None
    assert "ValueError: load &lt;0.9&gt; is too high" in figure._error.value
    assert figure._busy.value == widgets.live_figure.IDLE
    figure.controls["load"].value = 0.6
    assert figure._error.value == ""
    assert drawn_load(figure) == pytest.approx(0.6)
    at_once = sl.widgets.live(lambda load: failing(load), load=(0.8, 1.0, 0.1))
    assert "is too high" in at_once._error.value


def test_a_table_goes_below_the_figure():
    def both(load=0.5):
        return drawing(load), pd.DataFrame({"load": [load]})

    figure = sl.widgets.live(both, load=(0.5, 1.0, 0.1))
    assert "0.5" in figure._table.value
    assert "border" not in figure._table.value
    assert "jp-RenderedHTMLCommon" in figure._table._dom_classes  # for the padding of Lab's own tables, in either theme
    assert "chart, table = both(load=0.5)" in figure._script.code


def test_the_copied_code_rebuilds_the_figure(figure):
    figure.controls["load"].value = 0.9
    lines = figure._script.code.splitlines()
    assert lines == [f"from {__name__} import drawing", "chart = drawing(load=0.9, scheme='easy')", "chart"]
    names = {"drawing": drawing}
    exec(lines[1], names)
    assert untitled(names["chart"].to_dict()) == untitled(figure.chart.spec)


def test_the_place_of_the_figure_keeps_its_height(figure):
    height = figure._place.layout.min_height
    assert height == "228px"
    figure.controls["load"].value = 0.9
    assert figure._place.layout.min_height == height
    assert sl.widgets.live(numbered, height=500, load=[1, 2])._place.layout.min_height == "500px"


@pytest.mark.parametrize(
    ("given", "kind", "value"),
    [
        ((1, 5), ipywidgets.IntSlider, 1),
        ((1, 9, 2), ipywidgets.IntSlider, 1),
        ((0.5, 1.0), ipywidgets.FloatSlider, 0.5),
        ((0, 1, 0.1), ipywidgets.FloatSlider, 0.0),
        ([1, 10, 100], ipywidgets.SelectionSlider, 1),
        (range(3, 6), ipywidgets.SelectionSlider, 3),
        (["a", "b"], ipywidgets.Dropdown, "a"),
        ({"one": "a", "two": "b"}, ipywidgets.Dropdown, "a"),
        (True, ipywidgets.Checkbox, True),
        ("text", ipywidgets.Text, "text"),
        (ipywidgets.IntText(7), ipywidgets.IntText, 7),
    ],
)
def test_kinds_of_controls(given, kind, value):
    control = sl.widgets.live(lambda some_value: drawing(), some_value=given).controls["some_value"]
    assert type(control) is kind
    assert control.value == value
    assert control.description == control.tooltip == "some value"  # without a tooltip browsers show "null"


@pytest.mark.parametrize(("step", "shown"), [(0.5, ".2f"), (0.02, ".2f"), (0.0008, ".4f"), (1e-5, ".5f")])
def test_a_slider_shows_every_step(step, shown):
    control = sl.widgets.live(lambda value: drawing(), value=(0.0, 1.0, step)).controls["value"]
    assert control.readout_format == shown


@pytest.mark.parametrize(
    ("default", "given", "words"),
    [
        (0.2, (0.5, 1.0), "0.2, expected a number from 0.5 to 1.0"),
        (9, (1, 5), "9, expected a number from 1 to 5"),
        ("high", (1, 5), "'high', expected a number from 1 to 5"),
        (7, [1, 10, 100], "7, expected one of 1, 10, 100"),
        ("c", ["a", "b"], "'c', expected one of a, b"),
        ("c", {"A": "a", "B": None}, "'c', expected one of A, B"),
        ("c", True, "'c', expected a value like True"),
    ],
)
def test_a_default_that_is_not_offered_is_named(default, given, words):
    with pytest.raises(ValueError, match=f"^the default of load is {words}$"):
        sl.widgets.live(lambda load=default: drawing(), load=given)


def test_quick_moves_are_drawn_once():
    async def moves():
        figure = sl.widgets.live(numbered, load=(1, 100))
        for load in range(2, 30):
            figure.controls["load"].value = load
        assert figure._busy.value == widgets.live_figure.BUSY
        await asyncio.sleep(10 * widgets.live_figure.PATIENCE)
        return figure

    figure = asyncio.run(moves())
    assert [load for load, _ in calls] == [1, 29]
    assert drawn_load(figure) == 29
    assert figure._busy.value == widgets.live_figure.IDLE


def test_memory_does_not_grow_with_the_moves():
    figure = sl.widgets.live(numbered, load=(1, 1000))

    def objects_after(moves):
        for load in moves:
            figure.controls["load"].value = load
            calls.clear()
        gc.collect()
        return len(gc.get_objects())

    early = objects_after(range(2, 102))
    assert objects_after(range(102, 602)) < early + 250  # a chart is more than a hundred objects


# What may go wrong -------------------------------------------------------------------------------------


def giving(drawn):
    return sl.widgets.live(lambda load: drawn, load=[1, 2])


@pytest.mark.parametrize(
    ("drawn", "kinds"),
    [
        (None, "NoneType"),
        ("a chart", "str"),
        ((drawing(), None, None), "Chart, NoneType, NoneType"),
        ((drawing(), "a table"), "Chart, str"),
        ((None, pd.DataFrame()), "NoneType, DataFrame"),
    ],
)
def test_what_is_no_chart_is_named(drawn, kinds):
    error = giving(drawn)._error.value
    assert f"TypeError: the function gave {kinds}, expected a chart, or a chart and a table" in error


def test_code_that_cannot_be_had_leaves_the_figure():
    def code(load):
        raise ValueError(f"no code\nfor {load}")

    other = sl.widgets.live(numbered, load=[1, 2], code=lambda load: f"draw({load})")
    assert other._script.code == "draw(1)"
    figure = sl.widgets.live(numbered, load=[1, 2], code=code)
    figure.controls["load"].value = 2
    assert (drawn_load(figure), figure._error.value, figure._busy.value) == (2, "", widgets.live_figure.IDLE)
    assert figure._script.code == "# there is no code for this figure: ValueError: no code\n# for 2"


def test_values_that_cannot_be_remembered_are_drawn():
    figure = sl.widgets.live(lambda loads: drawing(loads[0]), loads={"one": [1], "two": [2]})
    figure.controls["loads"].value = [2]
    assert drawn_load(figure) == 2
    assert figure.drawn == 2


def test_none_is_a_value_like_others():
    def figure_of(load=None):
        return drawing(load or 0.5)

    assert sl.widgets.live(figure_of, load=(0.5, 1.0)).settings == {"load": 0.5}  # a slider begins at its front
    for given in ([0.8, None], {"high": 0.8, "as it is": None}):
        figure = sl.widgets.live(figure_of, load=given)
        assert figure.settings == {"load": None}
        figure.controls["load"].value = 0.8
        figure.reset()
        assert figure.settings == {"load": None}
        assert drawn_load(figure) == 0.5


@pytest.mark.parametrize(
    ("function", "name"),
    [(lambda load: drawing(load), "load"), (partial(numbered), "load"), (lambda self: drawing(self), "self")],
)
def test_the_code_of_what_has_no_name(function, name):
    code = sl.widgets.live(function, **{name: [1, 2]})._script.code
    assert code == f"# function is the one given to live\nchart = function({name}=1)\nchart"


def test_the_code_is_python_whatever_the_values():
    def figure_of(load, trace):
        return drawing(load)

    figure = sl.widgets.live(figure_of, load=list(np.array([0.5, 0.6])), trace={"a log": object(), "b": object()})
    assert figure._script.code.splitlines() == [
        "# figure_of is defined in this notebook",
        "# trace is what the menu calls 'a log'",
        "chart = figure_of(load=0.5, trace=trace)",
        "chart",
    ]


BACKWARD = [(5, 1), (1, 1), (1, 5, 0), (1.0, 2.0, -0.1)]
NO_CONTROL = "no control can have this name"
NO_LABELS = f"labels is .*, expected a mapping of parameters to words; {NO_CONTROL}"


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        *(({"load": value}, TypeError, r"load is .*, expected \(low, high\)") for value in (None, (), [], {}, 3.5)),
        *(({"load": ends}, ValueError, "load is from .* expected low < high") for ends in BACKWARD),
        ({"code": ["a", "b"]}, TypeError, f"code is .*, expected .*; {NO_CONTROL}"),
        *(({"height": value}, TypeError, f"height is .*, expected .*; {NO_CONTROL}") for value in ((1, 5), 0)),
        *(({"labels": labels}, TypeError, NO_LABELS) for labels in (["a", "b"], "load", {"load": 5}, 3)),
        ({"labels": {"lode": "x"}}, ValueError, "labels has 'lode', which is no .*: load, scheme; did you mean 'load'"),
        ({"limits": 3}, TypeError, f"limits is 3, expected a function; {NO_CONTROL}"),
        ({"groups": 3}, TypeError, "groups is 3, expected lists of controls by name"),
        ({"groups": {"x": ["lode"]}}, ValueError, "groups has 'lode', which is no .*; did you mean 'load'"),
    ],
)
def test_what_is_no_control_and_no_setting_is_refused(settings, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        sl.widgets.live(drawing, **{"load": (0.5, 1.0)} | settings)


# Labels, tooltips, and sliders of many steps ----------------------------------------------------------


def documented(s=0.1, alpha=2.0, beta=0.3, plain=1, bare=0, *rest):
    """Draw something.

    Takes several things: and this is no parameter.

    Parameters
    ----------
    s : float, seconds
        By how much the run times
        of jobs fall.

        A second paragraph.
    alpha, beta : float
        Of the priority.
    plain : int
    bare
        Without a type.
    *rest : str
        What is left: all of it.

    Returns
    -------
    chart : altair chart
        Not a parameter.
    """
    return drawing(s)


DOCUMENTED = {
    "s": (
        "by how much the run times of jobs fall",
        "s (float, seconds): By how much the run times of jobs fall. A second paragraph.",
    ),
    "alpha": ("", "alpha (float): Of the priority."),
    "beta": ("", "beta (float): Of the priority."),
    "plain": ("", "plain (int)"),
    "bare": ("", "bare: Without a type."),
    "rest": ("", "rest (str): What is left: all of it."),
}


@pytest.mark.parametrize("function", [documented, partial(documented, plain=2)])
def test_parameters_are_read_from_the_docstring(function):
    assert widgets.controls.documented(function) == DOCUMENTED


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "Draw.", "Draw.\n\nParameters\n", "Draw.\n\nParameters\n----------\n"),
        "Draw.\n\nParameters\n----------\n\nReturns\n-------\nchart : a chart\n",
        "Parameters of a kind\n----------\ns : float",
    ],
)
def test_a_docstring_without_parameters_tells_nothing(text):
    def function(s):
        return drawing(s)

    function.__doc__ = text
    assert widgets.controls.documented(function) == {}


@pytest.mark.parametrize(
    ("words", "label"),
    [
        ("Offered load. Run times are scaled to it.", "offered load"),
        ("PEs. Processing elements of the machine.", "PEs"),
        ("k: ports down of a switch. A block of stage 1 has k nodes.", "k: ports down of a switch"),
        ("Offered load.", "load"),
        ("Scale factor, e.g. 0.5 of the run time. Whole trace.", "load"),
        ("Fraction of jobs (approx. The rest is rigid).", "load"),
        ("As in `Queued`. Another.", "load"),
        ("Offered load to which the run times of all jobs are scaled. Whole trace.", "load"),
    ],
)
def test_the_first_of_several_short_sentences_is_the_label(words, label):
    def drawn(load):
        return drawing(load)

    drawn.__doc__ = f"Draw.\n\nParameters\n----------\nload : float\n    {words}"
    assert sl.widgets.live(drawn, load=(0.5, 1.0)).controls["load"].description == label
    assert sl.widgets.live(drawn, load=(0.5, 1.0), labels={"load": "L"}).controls["load"].description == "L"


def test_labels_are_words_and_tooltips_come_from_the_docstring():
    labels = {"s": "speed-up (share)", "beta": "has no control"}
    figure = sl.widgets.live(documented, s=(0.0, 0.5), alpha=(1.0, 4.0), plain=[1, 2], labels=labels)
    shown = {name: (control.description, control.tooltip) for name, control in figure.controls.items()}
    words = {"s": "speed-up (share)", "alpha": "alpha", "plain": "plain"}
    assert shown == {name: (description, DOCUMENTED[name][1]) for name, description in words.items()}
    assert "s=0.1" in figure._script.code  # the parameter, not its label


def test_a_widget_keeps_its_own_words():
    own, bare = ipywidgets.IntText(1, description="mine", tooltip="my own"), ipywidgets.IntText(1)
    sl.widgets.live(documented, s=own, alpha=bare, labels={"s": "not mine", "alpha": "weight"})
    assert (own.description, own.tooltip) == ("mine", "my own")
    assert (bare.description, bare.tooltip) == ("weight", DOCUMENTED["alpha"][1])


def boxes(part):
    """Return all boxes of boxes within a part of a figure."""
    if isinstance(part, ipywidgets.Box):
        yield part
        for inner in part.children:
            yield from boxes(inner)


def fields(figure):
    """Return the number fields, and the sliders that each stands beside."""
    found, numbers = {}, (ipywidgets.BoundedFloatText, ipywidgets.BoundedIntText)
    for part in boxes(figure.children[0]):
        if len(part.children) == 2 and isinstance(part.children[1], numbers):
            slider, field = part.children
            found[slider.description] = (part, slider, field)
    return found


@pytest.mark.parametrize(
    ("given", "kind", "typed"),
    [((0.0, 1_999.0, 0.2), ipywidgets.BoundedFloatText, 1_234.6), ((0, 167), ipywidgets.BoundedIntText, 99)],
)
def test_a_slider_of_many_steps_has_the_whole_width_and_a_number_field(given, kind, typed):
    figure = sl.widgets.live(lambda load=1: drawing(load), load=given, labels={"load": "begins at (s)"})
    ((box, slider, field),) = fields(figure).values()
    assert slider is figure.controls["load"]
    assert type(field) is kind
    assert (field.min, field.max, field.step) == (slider.min, slider.max, slider.step)
    assert box.layout.width == "100%"
    assert slider.layout.flex == "1 1 auto"
    assert slider.readout is False
    field.value = typed
    assert slider.value == typed
    assert drawn_load(figure) == typed
    assert figure.drawn == 2
    figure.reset()
    assert field.value == slider.value == 1


@pytest.mark.parametrize("given", [(1, 150), (0.0, 1.5, 0.01), (0.5, 1.0), [1, 2, 3]])
def test_a_slider_of_few_steps_is_by_itself(given):
    figure = sl.widgets.live(lambda load: drawing(load), load=given)
    assert fields(figure) == {}
    assert figure.controls["load"].readout is True


def test_a_longer_label_leaves_the_slider_its_room():
    def width(label):
        figure = sl.widgets.live(lambda a=1, b=1: drawing(a), a=(1, 9), b=(1, 9), labels={"b": label})
        return float(figure.controls["b"].layout.width.removesuffix("em"))

    assert width("tasks for each processor of a sweep") - width("load") > 12  # for 31 letters more


def test_on_a_page_a_live_figure_has_figures_made_beforehand(monkeypatch):
    def drawn(load=0.7, scheme="easy", fast=False, name="x"):
        table = pd.DataFrame({"load": [0, 1], "wait_time": [load, 1 + fast], "scheme": scheme})
        return sl.charts.lines(table, "load", "wait_time")

    figure = widgets.live(drawn, load=(0.5, 1.0, 0.05), scheme=["easy", "fcfs"], fast=False, name="x")
    assert "application/vnd.jupyter.widget-view+json" in figure._repr_mimebundle_()
    monkeypatch.setenv("SCHEDLAB_PAGE", "1")
    ((kind, page),) = figure._repr_mimebundle_().items()
    assert kind == "text/html"
    ((slider, said),) = re.findall(r'<input type="range" ([^>]+)> <output>([^<]+)</output>', page)
    assert 'name="load" max="3" value="1"' in slider
    assert 'data-texts="0.55|0.7|0.85|1"' in slider
    assert said == "0.7"
    options = re.findall(r'<option value="(\d)"( selected)?>([^<]+)</option>', page)
    assert [text for _, _, text in options] == ["easy", "fcfs", "no", "yes"]
    assert [(place, text) for place, chosen, text in options if chosen] == [("0", "easy"), ("0", "no")]
    combined = [f"load={load} scheme={scheme} fast={fast}" for load in range(4) for scheme in "01" for fast in "01"]
    assert keys_of(page) == (combined, ["load=1 scheme=0 fast=0"])
    assert "There you can change, too: name." in page
    settings = [spec["title"]["subtitle"][-1] for spec in specs_of(page)]
    assert len(settings) == 16
    assert settings[:2] == ["load 0.55, scheme: easy, fast: no, name: x", "load 0.55, scheme: easy, fast: yes, name: x"]
    assert figure.settings == {"load": 0.7, "scheme": "easy", "fast": False, "name": "x"}


def test_a_page_has_no_more_figures_than_it_can_carry(page_of, monkeypatch):
    monkeypatch.setattr(widgets.pages, "HEAVIEST", 1)
    page = page_of(widgets.live(lambda load=0.7, fast=False: drawing(load), load=(0.5, 1.0, 0.05), fast=False))
    assert re.findall('data-key="([^"]+)"', page) == [f"load={place}" for place in range(4)]
    assert "There you can change, too: fast." in page


def test_a_page_offers_a_default_of_none_and_keeps_to_the_limits(page_of):
    def drawn(load=None, order="a"):
        if load and order == "b":
            raise ValueError("b has no load")
        return drawing(load or 0, order)

    def limits(load):
        return {"order": (["a"], "b has no load") if load else (["a", "b"], "")}

    slider = ipywidgets.SelectionSlider(options=[("as it is", widgets.controls.NOTHING), ("0.5", 0.5)])
    figure = widgets.live(drawn, limits=limits, load=slider, order=["a", "b"])
    page = page_of(figure)
    assert keys_of(page) == ([f"load={load} order={order}" for load in "01" for order in "01"], ["load=0 order=0"])
    assert figure.settings == {"load": None, "order": "a"}
    assert [spec["title"]["text"] for spec in specs_of(page)] == ["a", "b", "a", "a"]  # the last as in JupyterLab


def test_controls_without_values_to_list_stay_off_a_page(page_of):
    several = ipywidgets.SelectMultiple(options=["x", "y"], value=["x"])
    controls = {"a": several, "b": ipywidgets.FloatLogSlider(10), "c": ipywidgets.IntRangeSlider()}
    page = page_of(widgets.live(lambda **_: drawing(1), **controls))
    assert "There you can change, too: " in page
    assert page.count("live-figure") == 1


def live_cells():
    """Return each call of `live` on a paper's figure in the notebooks: the paper, its figure, the controls."""
    for path in sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb")):
        cells = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        for cell in cells:
            if "widgets.live(\n    paper." in cell:
                (call,) = [node.value for node in ast.parse(cell).body]
                (paper,) = re.findall(r"import (\w+) as paper", "\n".join(cells))
                yield paper, call.args[0].attr, {keyword.arg for keyword in call.keywords} - {"height"}


@pytest.mark.parametrize(("paper", "name", "controls"), list(live_cells()))
def test_live_figures_in_notebooks_say_what_their_controls_are(paper, name, controls):
    function = getattr(getattr(sl.papers, paper), name)
    documented = widgets.controls.documented(function)
    assert controls <= {*documented}
    assert list(documented) == list(inspect.signature(function).parameters)
    for label, tooltip in documented.values():
        assert len(label) > 1
        assert ": " in tooltip  # a sentence, not only a type


def test_a_bench_has_its_words(trace):
    controls = sl.widgets.explore(trace).controls
    descriptions = {"load": "offered load", "overrun": "jobs beyond their estimates", "week": "first week shown"}
    descriptions |= {"order": "order of its queue", "against": "scheme to compare with", "weeks": "weeks shown"}
    assert {name: control.description for name, control in controls.items()} == {
        name: descriptions.get(name, name) for name in (*descriptions, "trace", "scheme", "view")
    }
    assert all(control.tooltip.startswith(f"{name} (") for name, control in controls.items())


# limits -------------------------------------------------------------------------------------------------


def stepping(step=1, of="ten", kind="steps", share=0.5, noise=0):
    return drawing(step)


def stepping_limits(of, kind):
    share = "steps have no shares" if kind == "steps" else None
    kinds = (["steps", "both"], "one has no parts") if of == "one" else None
    return {"step": {"ten": 10, "three": 3, "one": 1}[of], "share": share, "kind": kinds}


@pytest.fixture
def limited():
    kinds, sizes = ["steps", "parts", "both"], ["ten", "three", "one"]
    controls = {"step": (1, 200), "of": sizes, "kind": kinds, "share": (0.0, 1.0)}
    return sl.widgets.live(stepping, limits=stepping_limits, **controls)


def test_a_slider_ends_where_its_effect_does(limited):
    step = limited.controls["step"]
    assert (step.max, step.disabled) == (10, False)
    step.value = 7
    limited.controls["of"].value = "three"
    assert (step.max, step.value, limited.settings["step"]) == (3, 3, 3)
    assert calls == [(1, "easy"), (7, "easy"), (3, "easy")]  # drawn once for both moves
    ((_, _, field),) = fields(limited).values()
    assert (field.max, field.value) == (3, 3)
    limited.controls["of"].value = "one"
    assert (step.disabled, field.disabled) == (True, True)
    assert "step: only 1 is left" in limited._reasons.value
    limited.controls["of"].value = "ten"
    assert (step.max, step.disabled, field.disabled, step.value) == (10, False, False, 1)


def test_a_control_without_effect_is_disabled_and_says_why_and_is_not_on_a_page(limited, page_of):
    share = limited.controls["share"]
    assert share.disabled
    assert share.tooltip == "share (No effect now: steps have no shares.)"
    assert "share: steps have no shares" in limited._reasons.value
    assert [f'name="{name}"' in page_of(limited) for name in ("step", "share")] == [True, False]
    limited.controls["kind"].value = "parts"
    assert (share.disabled, share.tooltip, limited._reasons.value) == (False, "share", "")


def test_a_menu_offers_what_can_be_and_says_why(limited):
    kind = limited.controls["kind"]
    kind.value = "parts"
    limited.controls["of"].value = "one"
    assert kind.options == ("steps", "both")
    assert kind.value == "steps"  # the first value, which it began with
    assert "kind: one has no parts" in limited._reasons.value
    assert limited.controls["share"].disabled  # as follows from the new value
    limited.controls["of"].value = "ten"
    assert kind.options == ("steps", "parts", "both")


def test_reset_goes_beyond_present_limits(limited):
    limited.controls["step"].value = 8
    limited._first["step"] = 8
    limited.controls["of"].value = "one"
    before = len(calls)
    limited.reset()
    assert limited.settings == {"step": 8, "of": "ten", "kind": "steps", "share": 0.5}
    assert len(calls) == before  # drawn from memory, and once for all controls


def test_limits_that_cannot_be_told_change_nothing(limited):
    limited._limits = lambda of: {}[of]
    limited.controls["of"].value = "three"
    assert (limited.controls["step"].max, limited._error.value) == (10, "")


def test_limits_take_the_defaults_of_what_has_no_control_and_come_with_the_function(monkeypatch):
    monkeypatch.setattr(stepping, "limits", stepping_limits, raising=False)
    panel = sl.widgets.live(stepping, step=(1, 200))
    assert panel.controls["step"].max == 10


# explore ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trace():
    return sl.model_trace("lublin", jobs=400, machine=64, seed=3)


@pytest.mark.parametrize("view", sorted(set(widgets.exploring.VIEWS) - {"arrivals"}))
def test_every_view_is_drawn_with_the_measures_of_both_schemes(trace, view):
    chart, table = widgets.bench(trace, load=0.8, scheme="easy", order="sjf", against="fcfs", view=view, weeks=1)
    chart.to_dict()
    schedules = [sl.simulate(trace.scale_load(0.8), one) for one in ("easy-sjf", "fcfs")]
    waits = [schedule.metrics()["wait_time"] for schedule in schedules]
    row = table.data.iloc[0]
    unit, seconds = unit_of((waits[0] * waits[1]) ** 0.5)
    assert row["measure"] == f"mean wait ({unit})"
    assert row[["EASY-SJF", "FCFS"]].tolist() == pytest.approx([wait / seconds for wait in waits])
    assert row["difference"] == pytest.approx((waits[0] - waits[1]) / seconds)
    assert row["change (%)"] == pytest.approx(100 * (waits[0] / waits[1] - 1))


def test_a_wait_beside_one_of_zero_is_in_a_readable_unit(trace):
    quiet = sl.simulate(trace.scale_load(0.1), "easy")
    busy = sl.simulate(trace.scale_load(1.5), "fcfs")
    assert quiet.metrics()["median_wait_time"] == 0 < 7200 < busy.metrics()["median_wait_time"]
    table, _ = widgets.exploring.side_by_side(busy, quiet)
    assert table["measure"][1] in ("median wait (h)", "median wait (days)")


def test_the_setting_is_said_below_the_title(figure):
    assert figure.chart.spec["title"] == {"text": "easy", "subtitle": ["load 0.8, scheme: easy"]}
    figure.controls["scheme"].value = "fcfs"
    figure.controls["load"].value = 0.6
    assert figure.chart.spec["title"] == {"text": "fcfs", "subtitle": ["load 0.6, scheme: fcfs"]}
    long = widgets.figures.titled({"title": "a long word " * 20}, "load: 0.8")["title"]["text"]
    assert [len(line) <= widgets.figures.TITLE for line in long] == [True] * 3
    panels = widgets.figures.titled({"vconcat": []}, "load: 0.8")
    assert panels["title"]["text"] == ["load: 0.8"]


def test_the_setting_is_short_and_in_words():
    labels = {"load": "s: offered load (share)", "second": "start (s)", "draw": "draw (A, sigma)", "order": "order"}

    def drawn(load=0.8, second=5, draw=0, order="fcfs", window=7, exact=True):
        return drawing()

    controls = {"load": (0.5, 1.0), "second": (0, 9), "draw": [0, 1], "order": ["fcfs", "sjf"], "window": [7, 8]}
    figure = sl.widgets.live(drawn, labels=labels, **controls, exact=True)
    assert figure._setting() == "offered load 0.8, start 5 s, draw 0, the rest as at first"
    figure.controls["exact"].value = False
    figure.controls["order"].value = "sjf"
    assert figure._setting() == "offered load 0.8, start 5 s, draw 0, order: sjf, exact: no, the rest as at first"
    figure.controls["window"].value = 8
    assert figure._setting().endswith("draw 0, order: sjf, window 8, exact: no")


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ("easy", "fcfs", "less than under FCFS ("),
        ("fcfs", "easy", "more than under EASY ("),
        ("easy", "easy", "Under EASY a job waits"),
    ],
)
def test_the_title_of_a_comparison_says_the_difference(trace, ours, theirs, difference):
    chart, table = widgets.bench(trace, load=0.6, scheme=ours, against=theirs)
    title = chart.to_dict()["title"]["text"]
    assert difference in title
    assert duration(sl.simulate(trace.scale_load(0.6), ours).metrics()["wait_time"]) in title
    assert ("difference" in table.data) == (ours != theirs)


def test_schemes_under_which_jobs_wait_alike_are_not_told_apart():
    alone = sl.testing.trace_of([(0, 6, 8, 5), (9, 6, 8, 5)], machine=8)
    difference = widgets.exploring.difference(sl.simulate(alone, "easy"), sl.simulate(alone, "fcfs"))
    assert difference == "Under EASY a job waits 0 s on average, as long as under FCFS (0 s)"


def test_there_are_intervals_if_both_schemes_settle():
    trace = sl.model_trace("lublin", jobs=5000, machine=64, seed=1).scale_load(0.5)
    _, table = widgets.bench(trace, scheme="easy", order="sjf", against="easy")
    pairs = sl.paired(*(sl.simulate(trace, one) for one in ("easy-sjf", "easy")), "wait_time").difference
    assert table.caption == "Intervals of the paired difference by batch means"
    low, high = (float(end.replace(MINUS, "-")) for end in table.data["95 % interval"][0].split(" to "))
    minutes = [pairs.low / 60, pairs.high / 60]
    assert table.data["measure"][0] == "mean wait (min)"
    assert [low, high] == pytest.approx(minutes, rel=0.005)  # three digits
    assert table.data["95 % interval"][1] == ""  # of the median


def test_a_scheme_that_does_not_settle_is_named_and_there_are_no_intervals(trace):
    chart, table = widgets.bench(trace, load=1.2, scheme="easy", against="fcfs")
    assert chart.to_dict()["title"]["text"].endswith("; under EASY and FCFS the queue never settles")
    reasons = [sl.simulate(trace.scale_load(1.2), one).unsettled for one in ("easy", "fcfs")]
    assert all(reasons)
    assert table.caption == f"No intervals: {'; '.join(reasons)}"
    assert table.data.columns.tolist() == ["measure", "EASY", "FCFS", "difference", "change (%)"]


@pytest.mark.traces
def test_the_first_picture_of_the_tour_says_what_first_come_first_served_does():
    _, table = widgets.bench("KTH-SP2-1996", scheme="easy", against="fcfs")
    assert table.caption.startswith("No intervals: FCFS does not settle within the log at this load: one pile-up")
    assert "95 % interval" not in table.data.columns


def test_waits_under_two_schemes(trace):
    spec = widgets.waits(trace, 0.8, sl.EASY(order="sjf"), "fcfs").to_dict()
    assert all({row["scheme"] for row in rows} == {"FCFS", "EASY-SJF"} for rows in spec["datasets"].values())
    schedules = [sl.simulate(trace.scale_load(0.8), one) for one in ("fcfs", "easy-sjf")]
    last = float(trace.table["submit_time"].iloc[-1] - trace.table["submit_time"].iloc[0])
    title = spec["title"]["text"]
    means = [duration(one.metrics()["wait_time"]) for one in reversed(schedules)]
    assert title == f"Mean wait: {means[0]} under EASY-SJF, {means[1]} under FCFS"
    assert spec == sl.charts.distribution(schedules, up_to=last, title=title).to_dict()
    drawn = [widgets.waits(trace, load).to_dict()["layer"][0] for load in (0.5, 0.95)]
    axes = [line["encoding"]["x"]["scale"] for line in drawn]
    assert axes[0] == axes[1]
    assert axes[0]["domain"] == [1, last]
    widgets.waits(trace, scheme="easy", against=sl.EASY()).to_dict()  # one curve
    with pytest.raises(ValueError, match="unknown view 'pie'; known: waits, over time, Gantt chart, job by job, arri"):
        widgets.bench(trace, view="pie")


def test_explore_begins_with_the_trace_given(trace):
    panel = sl.widgets.explore(trace)
    assert panel.controls["trace"].options == ((trace.title, trace),)
    assert panel.settings["scheme"] == "easy"
    assert panel.chart.spec is not None
    assert panel.controls["week"].max == widgets.exploring.weeks_of(trace) - 1
    first = panel.settings
    panel.controls["load"].value = 0.8
    panel.controls["scheme"].value = "conservative"
    panel.reset()
    assert (panel.settings, panel._error.value) == (first, "")
    with pytest.raises(ValueError, match="there is no trace to explore: give one, or set SCHEDLAB_DATA"):
        sl.widgets.explore()


def test_the_weeks_to_choose_are_those_of_the_trace(trace):
    short = trace.head(20)
    panel = sl.widgets.explore(trace, replace(short, name="short"))
    panel.controls["week"].value = panel.controls["week"].max
    panel.controls["trace"].value = panel.controls["trace"].options[1][1]
    assert panel.controls["week"].max == widgets.exploring.weeks_of(short) - 1
    assert panel.settings["week"] <= panel.controls["week"].max
    assert panel._error.value == ""


@pytest.mark.parametrize("chosen", ["scheme", "against"])
def test_explore_offers_what_both_schemes_do_with_jobs_beyond_their_estimates(trace, chosen):
    panel = sl.widgets.explore(trace.with_estimates("factor", factor=0.5))
    rules, schemes = panel.controls["overrun"], panel.controls[chosen]
    assert rules.options == ("kill", "extend", "keep")
    rules.value = "keep"
    schemes.value = "conservative"
    assert (rules.options, rules.value, panel._error.value) == (("kill", "extend"), "kill", "")
    rules.value = "extend"
    schemes.value = "dpsan"
    assert (rules.options, rules.value, panel._error.value) == (("kill", "extend", "keep"), "extend", "")


def test_traces_of_one_name_are_told_apart(trace):
    short = trace.head(20)
    panel = sl.widgets.explore(trace, short, trace, trace.head(20))
    names = [name for name, _ in panel.controls["trace"].options]
    assert names == [trace.title, f"{trace.title}, first 20 jobs", f"{trace.title}, first 20 jobs (2)"]
    assert panel.controls["trace"].options[1][1] is short


def test_a_load_that_cannot_be_is_an_error_in_place(trace):
    panel = sl.widgets.explore(trace.head(1))
    panel.controls["load"].value = 0.5
    assert "no offered load to scale" in panel._error.value
    assert panel._busy.value == widgets.live_figure.IDLE


def test_explore_offers_no_arrivals_of_a_trace_without_dates(trace):
    panel = sl.widgets.explore(trace)
    assert panel.controls["view"].options == ("waits", "over time", "Gantt chart", "job by job")
    assert "view: arrivals need dates, which the trace lacks" in panel._reasons_of_more.value
    with pytest.raises(ValueError, match="has no dates .*, which this view needs; choose another view") as raised:
        widgets.bench(trace, view="arrivals")
    assert "start=" not in str(raised.value)


@pytest.fixture
def waited(trace):
    """Return a trace of a log with waits, users and dates, some of whose jobs outlive their estimates."""
    table = trace.jobs.assign(wait_time=60, user_id=1, submit_time=10 * trace.jobs["submit_time"])
    table["requested_time"] = (table["run_time"] // 2).clip(lower=1)
    header = swf.Header(("; UnixStartTime: 0", "; TimeZoneString: UTC"))
    return replace(trace, table=table, source="file", header=header, name="waited")


def offered(panel, name):
    return [widgets.controls.value_of(option) for option in panel.controls[name].options]


def test_explore_offers_the_log_only_at_its_own_load(waited):
    panel = sl.widgets.explore(waited)
    for name in ("scheme", "against"):
        assert "log" in offered(panel, name)
        panel.controls[name].value = "log"
        assert panel.controls["load"].disabled
        assert "offered load: “log” is what happened, at no other load" in panel._reasons.value
        assert panel._error.value == ""
        panel.controls[name].value = "easy"
    assert not panel.controls["load"].disabled
    assert panel._reasons.value == ""
    panel.controls["load"].value = 0.8  # until now, this replaced the chart of log by an error
    assert panel.controls["load"].value == 0.8
    for name in ("scheme", "against"):
        assert "log" not in offered(panel, name)
    assert "scheme, scheme to compare with: “log” is what happened, at no other load" in panel._reasons.value
    panel.controls["load"].value = widgets.controls.NOTHING
    assert "log" in offered(panel, "scheme")


def test_explore_does_not_offer_the_log_of_a_trace_without_waits(trace, waited):
    panel = sl.widgets.explore(waited, trace)
    panel.controls["scheme"].value = "log"
    panel.controls["trace"].value = trace
    assert "log" not in offered(panel, "scheme")
    assert (panel.settings["scheme"], panel._error.value) == ("easy", "")


def test_controls_of_explore_without_effect_are_disabled_and_say_why(waited, trace):
    def idle(panel):
        return {name for name, control in panel.controls.items() if control.disabled}

    panel = sl.widgets.explore(waited, waited.head(20).rename("a week"), trace)
    controls = panel.controls
    assert idle(panel) == {"week", "weeks"}  # waits are those of the whole trace
    controls["view"].value = "over time"
    assert idle(panel) == set()
    controls["scheme"].value = "log"
    assert idle(panel) == {"load", "order"}
    controls["against"].value = "log"
    assert idle(panel) == {"load", "order", "overrun"}
    assert controls["overrun"].tooltip.endswith("(No effect now: “log” is what happened, whatever the rule.)")
    panel.reset()
    assert idle(panel) == {"week", "weeks"}
    assert "No effect" not in controls["overrun"].tooltip
    controls["view"].value = "job by job"
    assert idle(panel) == {"week", "weeks"}
    assert "first week shown, weeks shown: this view is of the whole trace" in panel._reasons_of_more.value
    controls["view"].value = "Gantt chart"
    controls["trace"].value = controls["trace"].options[1][1]
    assert idle(panel) == {"week", "weeks"}
    assert "first week shown, weeks shown: the trace has one week" in panel._reasons_of_more.value
    controls["trace"].value = trace
    assert idle(panel) == {"overrun", "week", "weeks"}
    assert "jobs beyond their estimates: no job outlives its estimate" in panel._reasons_of_more.value


@pytest.mark.traces
def test_explore_offers_the_logs_at_hand():
    panel = sl.widgets.explore("kth-sp2-1996")
    names = [label for label, _ in panel.controls["trace"].options]
    assert names[0] == "KTH-SP2-1996-2.1-cln"
    assert "CTC-SP2-1996-3.1-cln" in names


@pytest.mark.parametrize("view", sorted(set(widgets.exploring.VIEWS) - {"arrivals"}))
@pytest.mark.parametrize("load", [None, 0.8])
def test_the_code_that_explore_gives_draws_the_same(trace, view, load):
    panel = sl.widgets.explore(trace)
    panel.controls["view"].value = view
    if load is not None:
        panel.controls["load"].value = load
    panel.controls["scheme"].value = "conservative"
    *first, last = panel._script.code.splitlines()
    names = {"trace": trace}
    exec("\n".join([*first, f"chart = {last}"]), names)
    assert untitled(names["chart"].to_dict()) == untitled(panel.chart.spec)


@pytest.mark.traces
def test_the_code_for_a_log_loads_it():
    settings = {"load": 0.8, "overrun": "kill", "scheme": "easy", "order": "sjf", "against": "fcfs"}
    code = widgets.exploring.code_of_bench(trace="KTH-SP2-1996", view="over time", week=1, weeks=2, **settings)
    window = "window=(1204650, 2414250)"  # the log begins at 599,850 s
    assert code.splitlines() == [
        "import schedlab as sl",
        "workload = sl.load_trace('KTH-SP2-1996').scale_load(0.8, overrun='kill')",
        f"sl.charts.profile(sl.simulate(workload, sl.EASY(order='sjf'), overrun='kill'), {window}, "
        "against=sl.simulate(workload, sl.FCFS(), overrun='kill'))",
    ]


def test_the_script_that_needs_no_network_is_made_once_for_all_sessions(monkeypatch, tmp_path):
    made = []
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda script, **_: made.append(script) or f"bundled({script})")
    for _ in range(2):
        widgets.scripted.script.cache_clear()  # as a new session has it
        assert widgets.scripted.Chart()._esm == f"bundled({made[0]})"
    assert len(made) == 1
    widgets.scripted.script.cache_clear()
