"""Published EASY schedules of KTH and CTC, job by job (specification, section 10, BASE-2); test_papers has means."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from workloads import trace_of

import schedlab as sl

PROCS = {"KTH-SP2-1996": 100, "CTC-SP2-1996": 338}
BACKFILL = {"easy": None, "easy-clairvoyant": None, "easy-sjbf-clairvoyant": "sjf"}


@pytest.mark.traces
@pytest.mark.parametrize(("log", "variant"), [*product(PROCS, BACKFILL)])
def test_every_job_waits_as_published(reference, log, variant):
    table = pd.read_csv(reference / f"{log}.{variant}.csv.gz")
    estimate = table["run_time"] if "clairvoyant" in variant else table["requested_time"]
    trace = trace_of(
        list(zip(table["submit_time"], table["run_time"], estimate, table["procs"], strict=True)), PROCS[log]
    )
    assert (table["run_time"] <= trace.jobs["requested_time"].to_numpy()).all()
    schedule = sl.simulate(trace, sl.EASY(backfill=BACKFILL[variant]), events="each").validate()
    assert np.array_equal(schedule.jobs["wait_time"].to_numpy(), table["wait_time"].to_numpy())
