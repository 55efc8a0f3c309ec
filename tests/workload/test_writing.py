"""Traces as files: what comes back from CSV and Parquet, and what SWF says that it cannot keep."""

import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import examples

import schedlab as sl

pytestmark = [
    pytest.mark.tables,
    pytest.mark.filterwarnings("ignore::schedlab.workload.runs.GpuWarning"),
    pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning"),
]

EXPORT = """JobID|Partition|User|Account|QOS|Submit|Start|End|AllocCPUS|AllocTRES|State|WorkDir
1|gpu|ann|physics|high|2024-10-26T20:00:00|2024-10-26T20:10:00|2024-10-27T05:10:00|16|cpu=16,gres/gpu=4|COMPLETED|/home/ann
2|cpu|bob|bio|low|2024-10-27T02:30:00|2024-10-27T02:40:00|2024-10-27T07:40:00|8|cpu=8|FAILED|/home/bob
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "jobs.txt"
    path.write_text(EXPORT)
    return sl.read_sacct(path, machine=64, partition=("cpu", "gpu"), time_zone="Europe/Berlin", names=True)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_columns_names_zone_and_machine_come_back(log, tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow")
        log.to_parquet(path)
    else:
        log.to_csv(path)
    again = sl.read_table(path)
    assert again.procs == 64
    assert again.names["partition"] == log.names["partition"] == {1: "gpu", 2: "cpu"}
    assert again.at(0) == log.at(0) == pd.Timestamp("2024-10-26 20:00", tz="Europe/Berlin")
    assert again.between("2024-10-27", "2024-10-28", lead=False).jobs.index.tolist() == [2]
    assert list(again.jobs.columns) == list(log.jobs.columns)
    for column in log.jobs.columns:
        assert again.jobs[column].tolist() == log.jobs[column].tolist(), column
    assert sl.recorded(again).start.tolist() == sl.recorded(log).start.tolist()
    assert "ann" not in "".join(again.header.lines)  # names of people are written nowhere
    assert sl.read_table(path, machine=128).procs == 128


def test_swf_says_what_it_cannot_keep_and_writes_fields_that_are_asked_for(log, tmp_path):
    path = tmp_path / "out.swf"
    log.to_swf(path)
    (note,) = re.findall("; Note: columns that SWF does not keep: (.*)", path.read_text())
    assert note.split(", ") == ["AllocTRES", "WorkDir", "account", "qos", "state", "gpus"]
    log.to_swf(path, further=["gpus", "account"])
    again = sl.read_swf(path)
    assert again.jobs[["gpus", "account"]].to_numpy().tolist() == [[4, "physics"], [0, "bio"]]
    assert "columns that SWF does not keep: AllocTRES, WorkDir, qos, state" in path.read_text()
    again.to_swf(tmp_path / "again.swf", further=["account"])  # which it has already
    assert sl.read_swf(tmp_path / "again.swf").jobs.equals(again.jobs)
    with pytest.raises(ValueError, match="unknown column 'colour'; known: AllocTRES, "):
        log.to_swf(path, further=["colour"])


def test_what_names_people_is_kept_only_where_names_are(log, tmp_path):
    assert log.jobs["WorkDir"].tolist() == ["/home/ann", "/home/bob"]
    trace = sl.read_sacct(tmp_path / "jobs.txt", machine=64, partition=("cpu", "gpu"))
    assert "WorkDir" not in trace.jobs
    assert "WorkDir: not kept, since they name people; names=True keeps them" in trace.header.all("Note")


WORDS = st.text("abc=+-@',\"é ", min_size=1, max_size=4).filter(lambda text: text.strip() == text)


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**5), st.integers(1, 64), WORDS), min_size=1))
def test_any_text_comes_back_from_csv(tmp_path_factory, rows):
    frame = pd.DataFrame(rows, columns=["submit", "run", "procs", "account"])
    trace = sl.from_frame(frame, submit="submit", run="run", procs="procs", account="account", machine=64)
    path = tmp_path_factory.mktemp("csv") / "jobs.csv"
    trace.to_csv(path)
    again = sl.read_table(path)
    assert again.procs == 64
    texts = again.jobs["account"].astype(str).str.replace(r"^'(?='*[=+@-])", "", regex=True)
    assert texts.str.strip("'").tolist() == trace.jobs["account"].str.strip("'").tolist()
    numbers = ["submit_time", "run_time", "requested_procs", "requested_time"]
    assert again.jobs[numbers].equals(trace.jobs[numbers])


def test_texts_that_look_like_numbers_or_like_nothing_stay_texts_in_csv(tmp_path):
    texts = ["007", "7", "NA", "1e5", ""]
    jobs = pd.DataFrame({"submit_time": range(5), "run_time": 60, "requested_procs": 1, "account": texts})
    trace = sl.from_frame(jobs, machine=8)
    trace.to_csv(tmp_path / "jobs.csv")
    again = sl.read_table(tmp_path / "jobs.csv")
    assert again.jobs["account"].tolist() == texts
    again.to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text().count("; Texts: ") == 1
    assert sl.read_table(tmp_path / "jobs.csv", keep=[]).procs == 8
