"""The arena on machines of pools: the runs are those of `simulate`, bounds hold, and who cannot run is listed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import schedlab as sl
from schedlab.contest import entrants
from schedlab.contest.entrants import BOUNDED, JUDGED

SCHEMES = ("fcfs", "easy", "easy-sjbf", "conservative", "dpsan")
MACHINE = sl.Pools(
    cpu=sl.Pool(64), gpu=sl.Pool(64, gpus=8), closed=sl.Closed(20_000, 60_000), limits=sl.Limit("user", running=6)
)
HOW = {"progress": False, "seed": range(2)}


def with_pools(trace, first=0):
    jobs = np.arange(first, first + len(trace))
    columns = {"partition": np.where(jobs % 3, "cpu", "gpu"), "gpus": np.where(jobs % 3, 0, jobs % 7)}
    return replace(trace, table=trace.table.assign(user_id=jobs % 5, **columns), procs=128)


@pytest.fixture(scope="module")
def trace():
    return with_pools(sl.model_trace("lublin", jobs=200, machine=64, seed=1))


@pytest.fixture(scope="module")
def result(trace):
    return sl.arena(trace, SCHEMES, load=(0.3, 0.5), rounds=5, machine=MACHINE, **HOW)


@pytest.mark.parametrize("by", ["run_time", "interarrival"])
def test_every_run_is_that_of_the_scheme_on_the_machine(trace, by):
    result = sl.arena(trace, SCHEMES, load=0.5, rounds=2, by=by, machine=MACHINE, **HOW)
    assert set(JUDGED) < set(result.runs.columns)
    names = dict(zip(("FCFS", "EASY", "EASY-SJBF", "Conservative"), SCHEMES, strict=False))
    assert set(result.runs["scheme"]) == set(names)
    for row in result.runs.itertuples():
        copy = trace.scale_load(0.5, by=by).shake(60, row.seed)
        schedule = sl.simulate(copy, names[row.scheme], machine=MACHINE).validate()
        late = schedule.start > sl.simulate(copy, "fcfs", machine=MACHINE).start
        assert (row.wait_time, row.gini, row.unfair) == (
            schedule.metrics()["wait_time"],
            schedule.gini(),
            late.mean(),
        )
    for row in result.bounds.itertuples():
        copy = trace.scale_load(0.5, by=by).shake(60, row.seed)
        bounds = sl.lower_bounds(copy, MACHINE, rounds=2)["bound"]
        assert [getattr(row, name) for name in BOUNDED] == bounds[list(BOUNDED)].tolist()


def test_no_scheme_is_below_its_bound_and_all_compete(result):
    for measure in BOUNDED:
        cells = result.cells(measure)
        assert cells["bound"].notna().all()
        assert (cells["value"] >= cells["bound"]).all()
    assert set(result.runs["kind"]) == {"rigid"}
    assert len(result.wins()) == 2
    sl.contest.winners(result.wins()).to_dict()
    sl.contest.against_bounds(result.cells("turnaround").query("load == 0.5"), "turnaround").to_dict()


def test_one_pool_of_processors_is_the_machine_of_the_trace(trace):
    flat, pooled, function = (
        sl.arena(trace, SCHEMES, load=0.8, rounds=3, machine=machine, **HOW)
        for machine in (None, sl.Pools(all=sl.Pool(128, partitions=("cpu", "gpu"))), lambda trace: trace.procs)
    )
    for other in (pooled, function):
        pd.testing.assert_frame_equal(other.runs, flat.runs)
        pd.testing.assert_frame_equal(other.bounds, flat.bounds)
        assert other.refused.empty


def test_who_cannot_run_is_listed_with_the_reason(trace, result):
    ((log, scheme, reason),) = result.refused.itertuples(index=False)
    assert (log, scheme) == (trace.title, "DPSAn")
    assert reason.startswith("DPSAn cannot run on pools cpu")
    assert repr(result).endswith(", 16 runs; refused: DPSAn>")
    assert "DPSAn" not in result.ranks()["scheme"].tolist()
    more = result.with_schemes("easy-sjf", sl.DPSA(variant="w"), "easy", progress=False)
    assert more.refused["scheme"].tolist() == ["DPSAn", "DPSAw"]
    assert set(more.runs["scheme"]) == {*result.runs["scheme"], "EASY-SJF"}
    both = ["log", "load", "seed", "scheme"]
    before, after = (table.runs.set_index(both).sort_index() for table in (result, more))
    pd.testing.assert_frame_equal(before, after.loc[before.index])  # the newcomers run on the same machine
    with pytest.raises(ValueError, match="^no scheme can run .* on its machine: DPSAp cannot run on pools"):
        result.with_schemes("dpsap", progress=False)
    able = sl.Entrant("easy", "DPSAn")
    replaced = result.with_schemes(able, progress=False)
    assert replaced.refused.empty
    assert "DPSAn" in set(replaced.runs["scheme"])


def test_a_further_trace_runs_on_the_same_machine(trace, result):
    other = with_pools(sl.model_trace("jann", jobs=200, machine=64, seed=2), first=1)
    more = result.with_traces(other, schemes=SCHEMES, rounds=0, progress=False)
    assert more.refused["log"].tolist() == [trace.title, other.title]
    row = more.runs.query("log == @other.title and load == 0.5 and seed == 1 and scheme == 'EASY'").iloc[0]
    copy = other.scale_load(0.5).shake(60, 1)
    assert row["wait_time"] == sl.simulate(copy, machine=MACHINE).metrics()["wait_time"]


def test_a_function_gives_each_trace_its_machine(trace):
    flat = sl.model_trace("lublin", jobs=100, machine=64, seed=3).rename("flat")
    machines = {trace.title: MACHINE, flat.title: sl.Flat(70)}

    def by_title(trace):
        return machines[trace.title]

    result = sl.arena([trace, flat], SCHEMES, load=0.5, rounds=0, machine=by_title, **HOW)
    assert result.refused["log"].tolist() == [trace.title]
    assert result.runs.groupby("log", sort=False)["scheme"].nunique().tolist() == [4, 5]
    row = result.runs.query("log == @flat.title and seed == 0 and scheme == 'DPSAn'").iloc[0]
    copy = flat.scale_load(0.5).shake(60, 0)
    assert row["wait_time"] == sl.simulate(copy, "dpsan", machine=70).metrics()["wait_time"]


def test_entrants_keep_machines_of_their_own(trace):
    placed = sl.Entrant("easy", "on nodes", machine=entrants.tree)
    molded = sl.Entrant(sl.FairShareMoldable(), "moldable", change=entrants.moldable)
    swept = sl.Entrant(sl.Flooding(), "sweeps", change=entrants.sweeping)
    searched = sl.Entrant(sl.DPSA(), "DPSA on nodes", machine=entrants.tree)  # needs a bound there
    several = ["easy", placed, molded, swept, searched]
    result = sl.arena(trace, several, load=0.5, rounds=0, machine=MACHINE, **HOW)
    assert set(result.runs["scheme"]) == {"EASY", "on nodes"}
    assert set(result.refused["scheme"]) == {"moldable", "sweeps", "DPSA on nodes"}
    reasons = result.refused.set_index("scheme")["reason"]
    assert "needs a bound" in reasons["DPSA on nodes"]
    assert "runs jobs in pieces, which pools do not allow" in reasons["sweeps"]
    row = result.runs.query("scheme == 'on nodes' and seed == 1").iloc[0]
    copy = trace.scale_load(0.5).shake(60, 1)
    assert row["wait_time"] == sl.simulate(copy, machine=entrants.tree(copy)).metrics()["wait_time"]
    assert result.cells().set_index("scheme")["bound"].notna().to_dict() == {"EASY": True, "on nodes": False}


def test_partitions_are_given_as_to_simulate(trace):
    result = sl.arena(trace, ["easy", "dpsan"], load=0.5, rounds=0, machine={"cpu": 64, "gpu": 64}, **HOW)
    assert result.refused.empty
    row = result.runs.query("scheme == 'DPSAn' and seed == 0").iloc[0]
    copy = trace.scale_load(0.5).shake(60, 0)
    machine = {"cpu": 64, "gpu": 64}
    assert row["wait_time"] == sl.simulate(copy, "dpsan", machine=machine).metrics()["wait_time"]


KILLS = sl.Pools(
    cpu=sl.Pool(64), gpu=sl.Pool(64, gpus=8), closed=sl.Closed(20_000, 60_000, announced=0), on_closure="kill"
)


@pytest.mark.parametrize(
    ("machine", "error", "message"),
    [
        (
            sl.Pools(cpu=sl.Pool(64), gpu=sl.Pool(64, gpus=5)),
            ValueError,
            "job 7 asks for 6 GPUs, pool 'gpu' has 5",
        ),
        (sl.Pools(cpu=sl.Pool(128)), ValueError, ".* jobs of partition 'gpu', expected one of 'cpu'"),
        (32, ValueError, ".* has a job of .* processors, the machine 32"),
        (KILLS, ValueError, "bounds need jobs with known run times; here closed windows may end jobs"),
        ("big", TypeError, r"machine is 'big', expected a machine such as sl.Pools\(...\), or a function of a trace"),
        (True, TypeError, "machine is True, expected a machine"),
        (lambda trace: "big", TypeError, "machine is 'big', expected processors or a machine"),
    ],
)
def test_bad_machines_are_refused_before_anything_is_simulated(trace, monkeypatch, machine, error, message):
    monkeypatch.setattr(entrants, "simulate", None)
    with pytest.raises(error, match=f"^{message}"):
        sl.arena(trace, SCHEMES, load=0.5, machine=machine, **HOW)


def test_without_bounds_windows_may_end_jobs(trace):
    result = sl.arena(trace, SCHEMES, load=0.5, rounds=None, machine=KILLS, **HOW)
    assert result.bounds.empty
    copy = trace.scale_load(0.5).shake(60, 0)
    schedule = sl.simulate(copy, machine=KILLS)
    assert schedule.outcome.killed.any()
    row = result.runs.query("scheme == 'EASY' and seed == 0").iloc[0]
    assert row["wait_time"] == schedule.metrics()["wait_time"]


def test_a_store_tells_machines_apart(trace, tmp_path):
    waits = [
        sl.arena(trace, "easy", load=0.5, rounds=None, machine=machine, store=tmp_path / "runs", **HOW).runs
        for machine in (MACHINE, {"cpu": 64, "gpu": 64}, MACHINE, None)
    ]
    pd.testing.assert_frame_equal(waits[0], waits[2])
    assert waits[0]["wait_time"].tolist() != waits[1]["wait_time"].tolist()
    assert waits[1]["wait_time"].tolist() != waits[3]["wait_time"].tolist()
