"""Copies of tables: a caller's changes to one stay the caller's, with any version of pandas."""

import contextlib
import dataclasses
import gc

import pandas as pd
import pytest

import schedlab as sl
from schedlab._runtime.digests import digest
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
    trace = sl.model_trace("lublin", jobs=20, machine=16, seed=1)
    schedule = sl.simulate(trace, "easy")
    for give in (lambda: trace.jobs, lambda: schedule.jobs, archive.catalogue):
        before = give().copy(deep=True)
        table = give()
        table.iloc[:, 0] = table.iloc[::-1, 0].to_numpy()
        table[table.columns[1]] = 0
        assert give().equals(before)


@pytest.mark.parametrize("name", ["table", "dropped", "repaired", "logged_area"])
@pytest.mark.parametrize("change", [
    lambda table: table.__setitem__(table.columns[0] if table.ndim == 2 else table.index[0], 77),
    lambda table: table.iloc.__setitem__((0, -1) if table.ndim == 2 else 0, 77),
    lambda table: None if isinstance(table.index, pd.RangeIndex) else table.index.to_numpy().__setitem__(0, 77),
    lambda table: (table.iloc[:, -1] if table.ndim == 2 else table).to_numpy().__setitem__(0, 77),
])  # fmt: skip
def test_the_tables_of_a_trace_cannot_be_changed(name, change, tmp_path):
    path = tmp_path / "my.swf"
    row = "{0} {0} 0 9 {1} -1 -1 {1} -1 -1 1 1 1 1 1 1 -1 -1\n"
    path.write_text("; MaxProcs: 4\n" + "".join(row.format(i, procs) for i, procs in enumerate((1, 3, 7, 2))))
    with pytest.warns(sl.workload.LoadWarning):
        trace = sl.read_swf(path)
    before, schedule = digest(trace), sl.simulate(trace, "easy").start.tolist()
    with contextlib.suppress(TypeError, ValueError):  # what is read-only refuses
        change(getattr(trace, name))
    again = dataclasses.replace(trace)  # without what is remembered of it
    assert digest(again) == before
    assert sl.simulate(again, "easy").start.tolist() == schedule
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(trace, name, trace.table)


def test_a_table_that_was_handed_out_is_the_callers_even_when_its_trace_is_gone():
    jobs = sl.model_trace("lublin", jobs=20, machine=16, seed=1).jobs
    gc.collect()
    jobs.iloc[0, 3] = 5
    jobs["run_time"] += 1
    assert jobs.iloc[0, 3] in (5, 6)
