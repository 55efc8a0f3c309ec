"""Explore on machines of pools: what is offered, compared and drawn, and the code that gives the same."""

import html
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab.show import widgets
from schedlab.show.page import duration
from schedlab.show.widgets import comparing
from schedlab.show.widgets.controls import NOTHING, value_of

BEGIN = 40_000  # of the closed window, in seconds of the log
CLOSED = sl.Closed(BEGIN, BEGIN + 40_000)
VIEWS = list(widgets.exploring.VIEWS)


def cluster(gpus=8, closed=CLOSED, **settings):
    pools = {"cpu": sl.Pool(64, partitions=("batch", "debug")), "gpu": sl.Pool(64, gpus=gpus, memory="4 GB")}
    return sl.Pools(pools, closed=closed, **settings)


MACHINES = {"as it is": cluster(), "2 more GPUs": cluster(10), "always open": cluster(closed=())}


@pytest.fixture(scope="module")
def trace():
    """Return a log with dates and waits, of jobs in two pools, some with GPUs, some beyond their estimates."""
    jobs = sl.model_trace("lublin", jobs=300, machine=64, seed=3).jobs
    number = np.arange(len(jobs))
    estimate = jobs["requested_time"].where(number % 10 > 0, jobs["run_time"] // 2).clip(lower=1)
    partition = np.array(["batch", "debug", "gpu"])[number % 3]
    gpus = np.where(partition == "gpu", number % 9, 0)
    submit = jobs["submit_time"] // 5 + 1_700_000_000
    table = pd.DataFrame({"submit": submit, "start": submit + 60, "run": jobs["run_time"], "estimate": estimate})
    table = table.assign(procs=jobs["requested_procs"], partition=partition, gpus=gpus, user="a", memory=512)  # MB
    roles = {name: name for name in table}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.workload.GpuWarning)
        return sl.from_frame(table, **roles, machine=128, name="a cluster", time_zone="UTC")


@pytest.fixture(scope="module")
def panel(trace):
    return sl.widgets.explore(trace, machine=MACHINES)


@pytest.fixture(scope="module")
def alone(trace):
    return sl.widgets.explore(trace, machine=MACHINES["as it is"])


def error_of(panel):
    return html.unescape(panel._error.value.partition(">")[2].removesuffix("</div>"))


def offered(panel, name):
    return [value_of(option) for option in panel.controls[name].options]


def drawn(panel):
    """Return the figure without its title and without the lines from before the move."""
    spec, _ = panel._recall(panel.settings)
    return spec | {"title": None}


def of_code(panel, **names):
    *lines, last = panel._script.code.splitlines()
    exec("\n".join([*lines, f"chart = {last}"]), names)
    return names["chart"].to_dict() | {"title": None}


def heading(panel):
    text = panel.chart.spec["title"]["text"]
    return text if isinstance(text, str) else " ".join(text)


def wait(trace, machine, scheme="easy", pool=None):
    schedule = sl.simulate(trace, scheme, machine=machine)
    return (schedule if pool is None else schedule.pools[pool]).metrics()["wait_time"]


@pytest.mark.parametrize("pool", [NOTHING, "gpu", "cpu"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("several", [True, False])
def test_every_view_is_drawn_and_its_code_draws_the_same(trace, panel, alone, view, pool, several):
    panel, machine = (panel, MACHINES) if several else (alone, MACHINES["as it is"])
    panel.reset()
    panel.controls["load"].value = 0.5
    panel.controls["order"].value = "sjf"
    panel.controls["pool"].value = pool
    panel.controls["view"].value = view
    assert error_of(panel) == ""
    assert of_code(panel, trace=trace, machine=machine) == drawn(panel)


def test_it_opens_on_the_second_machine_compared_with_the_first(trace, panel):
    panel.reset()
    ours, theirs = (wait(trace, MACHINES[name]) for name in ("2 more GPUs", "as it is"))
    assert 0.5 < ours / theirs < 1
    more = f"{1 - ours / theirs:.0%} less than on “as it is” ({duration(theirs)})"
    assert heading(panel).startswith(f"Under EASY on “2 more GPUs” a job waits {duration(ours)} on average, {more}")
    _, table = widgets.bench(
        trace, against="easy", machine="2 more GPUs", against_machine="as it is", machines=MACHINES
    )
    rows = table.data.set_index("measure")
    assert rows.columns.tolist()[:3] == ["2 more GPUs", "as it is", "difference"]
    for name in ("2 more GPUs", "as it is"):
        for (pool, resource), share in sl.simulate(trace, machine=MACHINES[name]).resources()["utilization"].items():
            called = {"procs": "processors", "gpus": "GPUs"}.get(resource, resource)
            assert rows.loc[f"{pool}: {called} in use (%)", name] == pytest.approx(100 * share)
    assert table.caption.endswith("; in use: the share of what was open")


def test_what_differs_by_rounding_alone_is_no_difference(trace, monkeypatch):
    shares = iter([0.455, np.nextafter(0.455, 1)])
    monkeypatch.setattr(comparing, "_in_use", lambda _: pd.Series({"cpu: processors in use (%)": next(shares)}))
    schedule = sl.simulate(trace, machine=MACHINES["as it is"])
    table, _ = comparing.side_by_side(schedule, schedule, ("a", "b"))
    assert table.set_index("measure").loc["cpu: processors in use (%)", ["difference", "change (%)"]].tolist() == [0, 0]


def test_names_tell_schemes_machines_or_both_apart(trace, panel):
    panel.reset()
    panel.controls["against"].value = "fcfs"
    assert " than under FCFS on “as it is” (" in heading(panel)
    assert "EASY, 2 more GPUs" in str(panel.chart.spec["datasets"])
    panel.controls["machine"].value = "as it is"
    assert heading(panel).startswith("Under EASY a job waits")
    assert "FCFS" in str(panel.chart.spec["datasets"])
    assert "as it is" not in heading(panel)


def test_one_pool_alone_is_compared(trace, panel):
    panel.reset()
    panel.controls["pool"].value = "gpu"
    ours = wait(trace, MACHINES["2 more GPUs"], pool="gpu")
    assert heading(panel).startswith(f"Under EASY on “2 more GPUs” a job in gpu waits {duration(ours)}")
    assert "gpu: GPUs in use (%)" in panel._table.value
    assert "cpu: processors in use (%)" not in panel._table.value
    panel.controls["pool"].value = "cpu"
    assert "as long as on “as it is”" in heading(panel)  # GPUs change nothing there


def test_windows_stay_at_their_dates_at_every_load(trace, alone):
    alone.reset()
    alone.controls["view"].value = "over time"
    bands = []
    for load in (NOTHING, 0.4, 0.9):
        alone.controls["load"].value = load
        assert error_of(alone) == ""
        charts = [layer for plot in alone.chart.spec["vconcat"] for layer in plot.get("layer", ())]
        named = [layer["data"]["name"] for layer in charts if layer["mark"]["type"] == "rect"]
        assert len(named) == 4  # processors, and processors, GPUs and memory
        bands += [[(row["begin"], row["end"]) for row in alone.chart.spec["datasets"][name]] for name in named]
    begin = (trace.header.unix_start_time + BEGIN) * 1000
    assert {tuple(band) for band in bands} == {((begin, begin + 40_000_000),)}


def test_what_cannot_run_in_pools_is_not_offered_and_a_line_says_why(trace, panel, alone):
    for bench in (panel, alone):
        bench.reset()
        for name in ("scheme", "against"):
            assert offered(bench, name) == ["conservative", "easy", "easy-sjbf", "fcfs", "log"]
        assert offered(bench, "overrun") == ["kill", "extend"]
        able = "Conservative, EASY and FCFS simulate several resources, closed windows and limits"
        assert f"without dpsan, dpsap, dpsaw: {able}" in bench._reasons.value
        assert able not in bench._reasons_of_more.value
        assert "jobs in pools end at their estimates" in bench._reasons_of_more.value
    for name in offered(alone, "scheme")[:-1]:
        alone.controls["scheme"].value = name
        assert error_of(alone) == ""
    partitions = sl.widgets.explore(trace, machine={"batch": 64, "debug": 64, "gpu": 64})  # as `simulate` takes it
    assert "dpsan" in offered(partitions, "scheme")
    assert offered(partitions, "overrun") == ["kill", "extend", "keep"]
    assert offered(partitions, "pool") == [NOTHING, "batch", "debug", "gpu"]
    partitions.controls["scheme"].value = "dpsan"
    partitions.controls["pool"].value = "debug"
    assert error_of(partitions) == ""


def test_what_happened_is_on_the_machine_of_the_trace(trace, panel):
    panel.reset()
    panel.controls["pool"].value = "gpu"
    panel.controls["scheme"].value = "log"
    assert (error_of(panel), panel.settings["pool"]) == ("", None)
    assert heading(panel).startswith("Under log a job waits 60 s on average, ")
    assert panel.controls["machine"].disabled
    assert "machine: “log” is what happened, on the machine of the trace" in panel._reasons.value
    panel.controls["view"].value = "over time"
    assert (error_of(panel), panel.settings["view"]) == ("", "over time")
    assert of_code(panel, trace=trace, machine=MACHINES) == drawn(panel)
    assert "machine=" not in panel._script.code.partition("against=")[0]


def test_a_machine_without_the_pool_is_shown_as_a_whole(trace):
    panel = sl.widgets.explore(trace, machine={"pools": cluster(), "one": sl.Flat(128), "smaller": 64})
    panel.controls["machine"].value = "pools"
    panel.controls["pool"].value = "gpu"
    assert "in gpu" in heading(panel)
    panel.controls["machine"].value = "one"
    assert (error_of(panel), panel.settings["pool"]) == ("", None)
    assert "not every pool is on both machines" in panel._reasons_of_more.value
    assert "dpsan" in offered(panel, "scheme")
    panel.controls["view"].value = "over time"  # the area is of 128 processors, as the pools together are
    assert (error_of(panel), panel.settings["view"]) == ("", "over time")
    panel.controls["machine"].value = "smaller"
    assert (error_of(panel), panel.settings["view"]) == ("", "waits")
    assert "machines of different sizes are not drawn over time together" in panel._reasons_of_more.value


def test_with_a_machine_only_the_given_traces_are_offered(trace):
    short = trace.head(50).rename("short")
    panel = sl.widgets.explore(trace, short, machine=cluster())
    assert [label for label, _ in panel.controls["trace"].options] == ["a cluster", "short"]
    assert "machine" not in panel.controls
    assert "pool" not in sl.widgets.explore(trace, machine=sl.Flat(128)).controls
    named = sl.widgets.explore(trace, machine={"as it is": cluster()})  # one is no choice
    assert "machine" not in named.controls
    assert heading(named) == heading(panel)
    assert of_code(named, trace=trace, machine={"as it is": cluster()}) == drawn(named)


def test_names_of_machines_and_pools_are_text(trace):
    name = "<img src=x>'] + 1 #"
    pools = {name: sl.Pool(128, partitions=("batch", "debug", "gpu")), "b": sl.Pool(1)}
    machines = {name: sl.Pools(pools), "other": sl.Pools(pools, closed=CLOSED)}
    panel = sl.widgets.explore(trace, machine=machines)
    panel.controls["pool"].value = name
    assert error_of(panel) == ""
    assert "<img" not in panel._table.value + panel._reasons.value + panel._reasons_of_more.value
    assert of_code(panel, trace=trace, machine=machines) == drawn(panel)


def test_a_tree_is_a_machine_too(trace):
    panel = sl.widgets.explore(trace.head(50), machine={"tree": sl.KaryTree(2, 7), "flat": sl.Flat(128)})
    panel.controls["machine"].value = "tree"
    assert "dpsan" not in offered(panel, "scheme")
    for name in offered(panel, "scheme"):
        panel.controls["scheme"].value = name
        assert error_of(panel) == ""


@pytest.mark.parametrize(
    ("machine", "error", "message"),
    [
        ({}, ValueError, "machine is an empty mapping, expected machines by name, or leave it out"),
        ({"a": None}, TypeError, r"machine 'a' is None, expected a machine such as sl.Pools\(...\), or machines by"),
        ({"a": "big", "b": 64}, TypeError, "machine 'a' is 'big', expected a machine"),
        ({"a": 64, "b": True}, TypeError, "machine 'b' is True, expected a machine"),
        ("big", TypeError, "machine is 'big', expected a machine"),
        ([cluster()], TypeError, r"machine is \[.*, expected a machine"),
    ],
)
def test_what_is_no_machine_is_refused(trace, machine, error, message):
    with pytest.raises(error, match=f"^{message}"):
        sl.widgets.explore(trace, machine=machine)


def test_a_machine_needs_a_trace():
    with pytest.raises(ValueError, match="^explore needs a trace whose jobs run on the machine"):
        sl.widgets.explore(machine=cluster())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"machine": "larger", "machines": MACHINES}, "unknown machine 'larger'; known: as it is, 2 more GPUs, always"),
        ({"machine": "larger"}, "unknown machine 'larger'; known: none"),
        ({"machine": cluster(), "against_machine": "x"}, "unknown machine 'x'; known: none"),
        ({"machine": cluster(), "pool": "cup"}, "unknown pool 'cup'; known: cpu, gpu"),
        ({"pool": "cpu"}, "pools need a machine that has them; this schedule is of 128 processors"),
        ({"machine": cluster(), "overrun": "keep"}, "overrun 'keep', expected overrun 'kill' or 'extend'"),
        ({"machine": cluster(), "scheme": "dpsan"}, "DPSAn cannot run on pools"),
        ({"machine": cluster(), "scheme": "log", "pool": "cpu"}, "pools need a machine that has them"),
    ],
)
def test_a_bench_refuses_what_cannot_be(trace, settings, message):
    with pytest.raises(ValueError, match=message):
        widgets.bench(trace, **settings)


def test_machines_given_to_a_bench_are_named_by_what_they_are(trace):
    chart, table = widgets.bench(trace, against="easy", machine=cluster(10), against_machine=cluster())
    title = chart.to_dict()["title"]["text"]
    assert "on “pools cpu (64 processors), gpu (64 processors, 10 GPUs, 4 GB of memory); 1 closed window”" in title
    assert table.data.columns[1] == str(cluster(10))


def test_a_machine_that_does_not_fit_the_trace_is_an_error_in_place(trace):
    panel = sl.widgets.explore(trace, machine={"as it is": cluster(), "too few GPUs": cluster(7)})
    assert "asks for 8 GPUs, pool 'gpu' has 7 GPUs" in error_of(panel)
    panel.controls["machine"].value = "as it is"
    assert error_of(panel) == ""
    other = sl.widgets.explore(trace, machine=sl.Pools(cpu=sl.Pool(128)))
    assert "jobs of partition 'batch', expected one of 'cpu'" in error_of(other)


def test_a_pool_without_jobs_says_so(trace):
    machine = sl.Pools(dict(cluster().pools) | {"spare": sl.Pool(8)})
    panel = sl.widgets.explore(trace, machine=machine)
    panel.controls["pool"].value = "spare"
    assert error_of(panel) == "ValueError: a cluster has no jobs in pool 'spare'; choose another one"


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "b", "c"), ("a", 2)])
def test_charts_of_two_schedules_take_two_names(trace, names):
    first, second = (sl.simulate(trace, machine=MACHINES[name]) for name in ("as it is", "2 more GPUs"))
    for draw in (lambda: sl.charts.profile(first, against=second, names=names), lambda: scatter(first, second, names)):
        with pytest.raises(ValueError, match="^names are .*, expected two texts: one for each schedule"):
            draw()
    spec = scatter(first, second, ("today", "tomorrow")).to_dict()
    assert [spec["layer"][0]["encoding"][axis]["title"] for axis in "xy"] == ["wait, today", "wait, tomorrow"]
    assert "tomorrow is better for" in str(spec["title"]["subtitle"])
    spec = sl.charts.profile(first, against=second, names=("today", "tomorrow")).to_dict()
    assert "area: today; line: tomorrow" in str(spec["title"]["subtitle"])


def scatter(first, second, names):
    return sl.charts.scatter(first, second, names=names)


@pytest.mark.parametrize("view", ["waits", "over time", "Gantt chart", "job by job"])
def test_partitions_that_are_numbers_are_pools(view):
    trace = sl.testing.trace_of([(0, 60, 60, 2), (1, 60, 60, 2), (2, 60, 60, 2)], machine=4)
    trace = replace(trace, table=trace.table.assign(where=[1, 2, 2]))
    machine = sl.Pools({1: 2, 2: 2}, column="where")
    panel = sl.widgets.explore(trace, machine=machine)
    panel.controls["view"].value = view
    panel.controls["pool"].value = 2
    assert error_of(panel) == ""
    with pytest.raises(ValueError, match="unknown pool '2'; known: 1, 2$"):
        sl.widgets.bench(trace, machine=machine, pool="2")
    assert sl.charts.gantts(sl.simulate(trace, machine=machine).pools).vconcat[0].title["text"] == "1"
