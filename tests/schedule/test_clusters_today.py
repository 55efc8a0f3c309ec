"""What notebook 11 says of the example cluster: which part of the distance to the recorded starts has which cause."""

import random
import re
import warnings
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import example_cluster
import nbformat
import numpy as np
import pandas as pd
import pytest
from example_cluster import END, MAINTENANCE, POOL, POOLS, RANK, SPARE

import schedlab as sl
from schedlab.charts import palette

pytestmark = pytest.mark.filterwarnings("ignore::schedlab.workload.GpuWarning")


@pytest.fixture(scope="module")
def drawn():
    """All jobs of the cluster, without what a log lacks or a simulation does not know: a complete list."""
    jobs = example_cluster.drawn_jobs(random.Random(20_241_111))
    return [replace(job, patience=None, failure=None) for job in jobs]


def own_runs(jobs):
    """Let the site's scheduler run the jobs."""
    runs = []
    for pool, size in POOLS.items():
        runs += example_cluster.simulated([job for job in jobs if POOL[job.partition] == pool], size, MAINTENANCE)
    return runs


def own_starts(jobs):
    """Return when the site's scheduler starts each job, by number; nan if it waits at the end of the export."""
    return pd.Series({run.raw: run.start for run in own_runs(jobs)}, dtype="float64")


def simulated(jobs, spare):
    """Simulate the jobs on the machine of the notebook; return the starts by number."""
    columns = {
        "job": [job.raw for job in jobs],
        "submit": [job.eligible for job in jobs],
        "run": [job.run for job in jobs],
        "procs": [job.cpus for job in jobs],
        "gpus": [job.size if job.partition == "gpu" else 0 for job in jobs],
        "estimate": [job.limit for job in jobs],
        "partition": [job.partition for job in jobs],
        "place": [0 if job.partition == "debug" else 1 + RANK[job.qos] for job in jobs],
    }
    table = pd.DataFrame(columns).sort_values(["submit", "job"])
    roles = {name: name for name in ("job", "submit", "run", "procs", "gpus", "estimate", "partition")}
    trace = sl.from_frame(table, machine=46 * 64, **roles)
    later = table["submit"].iloc[0] - trace.table["submit_time"].iloc[0]
    pools = {"cpu": sl.Pool(2_048, partitions=("cpu", "debug")), "gpu": sl.Pool(768, gpus=48), "himem": sl.Pool(128)}
    begin, end = (int(second - later) for second in MAINTENANCE)
    machine = sl.Pools(pools, closed=sl.Closed(begin - spare, end))
    order = sl.EASY(order=lambda place, submit: place * 1e9 + submit)
    schedule = sl.simulate(trace, order, machine=machine).validate()
    return pd.Series(schedule.start + later, trace.table.index)


def agreeing(starts, expected):
    """Return the share of equal starts among the jobs that started before the export ended."""
    known = expected.dropna()
    known = known[known < END]
    return (starts[known.index] == known).mean()


def test_with_a_complete_list_of_jobs_each_starts_when_the_site_starts_it(drawn):
    jobs = [replace(job, run=max(1, min(job.run, job.limit))) for job in drawn]
    expected = own_starts(jobs)
    assert len(expected) > 20_000
    assert agreeing(simulated(jobs, SPARE), expected) == 1
    assert agreeing(simulated(jobs, 0), expected) < 0.95  # without the minute before the maintenance


def test_jobs_over_their_limit_move_others(drawn):
    jobs = [replace(job, run=max(1, job.run)) for job in drawn]
    assert max(job.run - job.limit for job in jobs) < 30
    assert 0.7 < agreeing(simulated(jobs, SPARE), own_starts(jobs)) < 0.9


def test_jobs_of_no_length_that_are_left_out_move_others(drawn):
    jobs = [replace(job, run=min(job.run, job.limit)) for job in drawn]
    kept = [job for job in jobs if job.run > 0]
    expected = own_starts(jobs)
    expected = expected[[job.raw for job in kept]]
    assert 0.7 < agreeing(simulated(kept, SPARE), expected) < 0.95


def test_jobs_that_are_withdrawn_move_no_other():
    jobs = example_cluster.drawn_jobs(random.Random(20_241_111))
    jobs = [replace(job, failure=None) for job in jobs]
    withdrawn = {run.raw for run in own_runs(jobs) if run.start is None and run.end is not None}
    assert len(withdrawn) > 200
    stay = [job for job in jobs if job.raw not in withdrawn]
    assert agreeing(own_starts(stay), own_starts(jobs)) == 1


@pytest.fixture(scope="module")
def cells():
    """What the notebook computes, by name."""
    notebook = nbformat.read(Path(__file__).parents[2] / "notebooks" / "11-clusters-today.ipynb", 4)
    names = {"sl": sl}
    with warnings.catch_warnings(), redirect_stdout(StringIO()), pytest.MonkeyPatch.context() as patch:
        patch.setattr(palette, "_registered", dict(palette._registered))
        for cell in notebook.cells:
            if cell.cell_type == "code" and not re.search(r"check_scheme|charts\.setup", cell.source):
                exec(compile(cell.source, cell.id, "exec"), names)
    return names


def row_of(cells, change, partition):
    return cells["pairs"][change].difference.loc[partition].iloc[0]


def test_as_configured_has_the_recorded_waits_and_one_machine_has_not(cells):
    weeks = cells["weeks"]
    waits = {name: part.metrics(by="partition", window=weeks)["wait_time"] for name, part in cells["kinds"].items()}
    assert (waits["as configured"] / waits["recorded"]).between(0.97, 1.03).all()
    assert (waits["as one machine"] / waits["recorded"]).max() < 0.35
    off = cells["off"].droplevel("measure")
    assert ((off["low"] <= 0) & (off["high"] >= 0)).all()
    assert set(off.index[off["note"] != ""]) == {"cpu", "himem"}  # two that may be too narrow
    reach = off[["low", "high"]].abs().max(axis=1) / waits["recorded"]
    assert 0.15 < reach["cpu"] < 0.17  # up to a sixth
    assert reach.idxmax() == "debug"
    assert 0.19 < reach["debug"] < 0.22  # up to a fifth
    shares = cells["shares"]["at the same second"]
    assert 0.7 < shares["all"] < 0.8  # about a quarter starts otherwise
    assert shares["himem"] > 0.9
    assert cells["log"].jobs.eval("run_time - requested_time").max() <= 30
    missing = cells["log"].repaired["job_number"][cells["log"].repaired["field"] == "requested_time"]
    assert set(cells["real"].classes("partition")[missing]) == {"himem"}
    assert cells["peak"] > 8


def test_what_the_prose_says_of_each_change(cells):
    """Of each change: in which partitions it is surely shorter (-1) or longer (1), and where there is no interval."""

    def sure(row):
        if row["note"] or np.isnan(row["low"]):
            return 0
        return int(row["low"] > 0) - int(row["high"] < 0)

    partitions = ("cpu", "gpu", "himem", "debug")
    said = {
        "20 running jobs a user": [1, 0, 0, 0],
        "order of arrival": [-1, 0, 0, 1],
        "no priority for debug": [0, 0, 0, 1],
        "fair share in each QOS": [-1, -1, 0, 0],
        "maintenance on Sunday": [0, 0, 0, 0],
        "16 more GPUs": [0, 0, 0, 0],
        "memory counts": [0, 0, 1, 0],
    }
    assert set(said) == set(cells["pairs"])
    for change, signs in said.items():
        assert [sure(row_of(cells, change, partition)) for partition in partitions] == signs, change
    without = {change for change in said if np.isnan(row_of(cells, change, "gpu")["low"])}
    assert without == {"order of arrival", "20 running jobs a user"}
    assert all(row_of(cells, "maintenance on Sunday", partition)["mean"] < 0 for partition in partitions)
    more = {partition: row_of(cells, "16 more GPUs", partition) for partition in partitions}
    assert [more[partition]["mean"] for partition in ("cpu", "himem", "debug")] == [0, 0, 0]
    assert "still correlated" in more["gpu"]["note"]
    assert more["gpu"]["high"] < 0
    assert row_of(cells, "no priority for debug", "cpu")["low"] > row_of(cells, "order of arrival", "cpu")["high"]
    differences = [pair.difference for pair in cells["pairs"].values()]
    assert sum((table["high"] > table["low"]).sum() for table in differences) == 18
    means = [abs(row_of(cells, change, partition)["mean"]) for change in said for partition in partitions]
    assert max(means) == abs(more["gpu"]["mean"])
    assert sorted(means)[-2] < max(means) / 2


def test_more_gpus_help_in_each_week_and_most_in_the_last_two(cells):
    saved = cells["saved"]
    assert len(saved) == 6
    assert (saved > 0).all()  # by chance 2 times in 2**6
    assert saved.iloc[-2:].sum() > 2 * saved.iloc[:-2].sum()


def test_a_reservation_of_cores_only_starves_jobs_of_many_gpus(cells):
    reserved = cells["reserved"]
    waits = {
        name: part.metrics(by=cells["size"], window=cells["weeks"])["wait_time"] for name, part in reserved.items()
    }
    change = waits["cores only"] - waits["cores and GPUs"]
    assert (change[["1", "2"]] < 0).all()
    assert (change[["8", "16"]] > 0).all()
    assert change["16"] > 8 * 3600
    means = {name: part.metrics()["wait_time"] for name, part in reserved.items()}
    assert means["cores only"] < means["cores and GPUs"]
    assert cells["longer"] > 15 * cells["shorter"]


def test_a_check_against_easy_finds_it(cells):
    report = sl.testing.check_scheme(cells["cores_only"], like="easy", pools=True, raises=False, effort=0.3)
    assert [check.name for check in report.checks if not check.passed] == ["starts every job when EASY does"]
