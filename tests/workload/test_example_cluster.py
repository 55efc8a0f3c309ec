"""The made-up cluster: the script makes the file, EASY makes its starts, and it has what logs of clusters have."""

import lzma
import random
from collections import Counter

import example_cluster as cluster
import pytest

import schedlab as sl
from schedlab.workload import filter as load_filter
from schedlab.workload.runs import GpuWarning
from schedlab.workload.sacct import COMMAND, example_path

PARTITIONS = ("cpu", "debug", "gpu", "himem")
CPUS = 46 * 64


def read(**settings):
    return sl.read_sacct(example_path("cluster"), time_zone="Europe/Berlin", names=True, **settings)


@pytest.fixture(scope="module")
def log():
    with pytest.warns(GpuWarning):
        return read(machine=CPUS, partition=PARTITIONS)


@pytest.fixture(scope="module")
def gpus():
    return read(machine=cluster.POOLS["gpu"], partition="gpu", procs_of="gpus", arrival="eligible")


def test_the_script_makes_the_file():
    assert example_path("cluster") == cluster.PATH
    assert cluster.PATH.stat().st_size < 700_000
    assert f"--format={cluster.COLUMNS.replace('|', ',')} >" in COMMAND
    assert lzma.decompress(cluster.PATH.read_bytes()).decode() == cluster.export()


def drawn(seed):
    """Draw plain jobs for a pool of 16: no QOS but normal, none that is taken back, fails or outlives its limit."""
    draw = random.Random(seed)
    jobs = []
    submit = 0
    for raw in range(150):
        submit += draw.choice((0, 0, 1, 30, 200))
        limit = draw.choice((60, 60, 300, 900))
        facts = {"submit": submit, "eligible": submit, "size": draw.choice((1, 1, 2, 4, 8, 16)), "raw": raw}
        facts |= {"limit": limit, "run": draw.choice((1, limit // 2, limit)), "state": "COMPLETED"}
        what = {"user": "user01", "account": "astro", "qos": "normal", "partition": "cpu"}
        what |= {"cpus": 1, "nodes": 1, "memory": "2G", "tres": "", "limit_text": "1"}
        jobs.append(cluster.Job(**what, **facts))
    return jobs


@pytest.mark.parametrize("seed", range(5))
def test_without_the_rules_of_the_site_its_scheduler_is_easy(seed):
    jobs = drawn(seed)
    starts = [run.start for run in sorted(cluster.simulated(jobs, 16), key=lambda run: run.raw)]
    trace = sl.testing.trace_of([(job.submit, job.run, job.limit, job.size) for job in jobs], machine=16)
    assert starts == sl.simulate(trace, "easy").jobs["start_time"].tolist()
    assert len(set(starts)) > 20


def test_nothing_runs_in_the_maintenance_and_jobs_wait_for_it(log):
    happened = sl.recorded(log)
    assert not happened.notes
    zero = log.header.unix_start_time
    begin, end = (second - zero for second in cluster.MAINTENANCE)
    jobs = happened.jobs
    last = jobs["start_time"] + jobs["run_time"]
    assert not ((jobs["start_time"] < end) & (last > begin)).any()
    early = (jobs["submit_time"] < begin) & (jobs["start_time"] >= end)
    assert early.sum() > 50


@pytest.mark.parametrize(("partition", "unit"), [(("cpu", "debug"), "cpus"), ("gpu", "gpus"), ("himem", "cpus")])
def test_no_pool_holds_more_than_it_has_and_is_neither_idle_nor_full(partition, unit):
    pool = partition if isinstance(partition, str) else partition[0]
    happened = sl.recorded(read(machine=cluster.POOLS[pool], partition=partition, procs_of=unit))
    assert not happened.notes
    assert 0.45 < happened.metrics()["utilization"] < 0.75


def test_it_has_what_logs_of_clusters_have(log):
    reasons = {row.reason: row.count for row in log.repairs[["reason", "count"]].itertuples(index=False)}
    expected = [load_filter.RUNNING, load_filter.WAITING, load_filter.CANCELLED_EARLY, load_filter.NO_TIME]
    expected += [load_filter.STEP, load_filter.NOISE, load_filter.SEVERAL_RUNS, load_filter.RUN_TAKEN]
    assert {*expected} <= {*reasons}
    assert any("the clock showed twice" in step for step in log.history)
    jobs = log.jobs
    assert 19_000 < len(jobs) < 21_000
    assert (jobs["account"].nunique(), jobs["qos"].nunique(), jobs["user_id"].nunique()) == (6, 3, 40)
    assert {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "REQUEUED"} <= {*jobs["state"]}
    assert (jobs["reservation"] == "course").any()
    forms = Counter(text.count("gres/gpu:a100") + 2 * text.count("gres/gpu=") for text in jobs["AllocTRES"])
    assert {0, 1, 2, 3} == {*forms}  # without GPUs, typed, untyped, both
    assert int(jobs["gpus"].sum()) > 0


def test_a_part_of_it_has_the_waits_of_the_whole(gpus):
    dates = ("2024-10-30", "2024-11-04")
    whole = sl.simulate(gpus, "easy").metrics(window=dates)["wait_time"]
    part = sl.simulate(gpus.between(*dates), "easy").metrics()["wait_time"]
    alone = sl.simulate(gpus.between(*dates, lead=False), "easy").metrics()["wait_time"]
    assert part == pytest.approx(whole, rel=0.05)
    assert alone < 0.8 * whole
