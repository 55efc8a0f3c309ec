"""BASE-1 and BASE-2 (specification, section 10): published EASY schedules of KTH and CTC, job by job."""

import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl

pytestmark = pytest.mark.traces

PROCS = {"KTH-SP2-1996": 100, "CTC-SP2-1996": 338}
BACKFILL = {"easy": None, "easy-clairvoyant": None, "easy-sjbf-clairvoyant": "sjf"}
# Mean bounded slowdown (tau 10 s) and mean wait in seconds, as printed in section 10.
MEANS = {
    ("CTC-SP2-1996", "easy"): (49.571290, 14272.5945),
    ("CTC-SP2-1996", "easy-clairvoyant"): (37.165401, 13581.7165),
    ("CTC-SP2-1996", "easy-sjbf-clairvoyant"): (17.571687, 10004.9610),
    ("KTH-SP2-1996", "easy"): (92.576540, 6836.8721),
    ("KTH-SP2-1996", "easy-clairvoyant"): (71.722385, 6327.6816),
    ("KTH-SP2-1996", "easy-sjbf-clairvoyant"): (49.847719, 5436.0208),
}


def published(reference, log, variant):
    """Read a published schedule; return its table and the trace of exactly its rows."""
    table = pd.read_csv(reference / f"{log}.{variant}.csv.gz")
    estimate = table["run_time"] if "clairvoyant" in variant else table["requested_time"]
    jobs = list(zip(table["submit_time"], table["run_time"], estimate, table["procs"], strict=True))
    return table, trace_of(jobs, PROCS[log])


@pytest.mark.parametrize(("log", "variant"), list(MEANS))
def test_base_2_every_job_waits_as_published(reference, log, variant):
    table, trace = published(reference, log, variant)
    assert (table["run_time"] <= trace.jobs["requested_time"].to_numpy()).all()
    schedule = sl.simulate(trace, sl.EASY(backfill=BACKFILL[variant]), events="each").validate()
    assert np.array_equal(schedule.jobs["wait_time"].to_numpy(), table["wait_time"].to_numpy())
    measured = schedule.metrics()
    slowdown, wait = MEANS[log, variant]
    assert measured["bounded_slowdown"] == pytest.approx(slowdown, abs=5e-7)
    assert measured["wait_time"] == pytest.approx(wait, abs=5e-5)


def test_base_1_batched_clairvoyant_easy_on_kth():
    trace = sl.load_trace("KTH-SP2-1996-2", missing_estimate="drop").cut_at_estimates().with_estimates("exact")
    assert len(trace) == 28_481
    measured = sl.simulate(trace, "easy").validate().metrics()
    assert measured["turnaround"] == pytest.approx(15187.6077, abs=5e-5)
    assert measured["bounded_slowdown"] == pytest.approx(71.7224, abs=5e-5)
