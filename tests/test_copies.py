"""Copies of tables: a caller's changes to one stay the caller's, with any version of pandas."""

import pandas as pd
import pytest

import schedlab as sl
from schedlab.workload import archive, copies

pytestmark = pytest.mark.tables


@pytest.mark.parametrize("lazy", {False, copies.LAZY})
def test_a_change_of_a_copy_leaves_the_table_alone(monkeypatch, lazy):
    monkeypatch.setattr(copies, "LAZY", lazy)
    table = pd.DataFrame({"a": [1, 2]})
    copy = copies.copied(table)
    copy.loc[0, "a"] = 5
    copy["a"] += 1
    assert table["a"].tolist() == [1, 2]
    assert copy["a"].tolist() == [6, 3]


@pytest.mark.parametrize("lazy", {False, copies.LAZY})
def test_what_traces_schedules_and_the_catalogue_give_is_the_callers(monkeypatch, lazy):
    monkeypatch.setattr(copies, "LAZY", lazy)
    trace = sl.model_trace("lublin", jobs=20, procs=16, seed=1)
    schedule = sl.simulate(trace, "easy")
    for give in (lambda: trace.jobs, lambda: schedule.jobs, archive.catalogue):
        before = give().copy(deep=True)
        table = give()
        table.iloc[:, 0] = table.iloc[::-1, 0].to_numpy()
        table[table.columns[1]] = 0
        assert give().equals(before)
