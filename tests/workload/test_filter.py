"""The load filter against a twin of plain loops, its accounting, and known counts of archive logs."""

import re
from math import ceil, floor, inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workloads import among, booleans, integers

import schedlab as sl
from schedlab.workload.filter import account, area, in_one_line, repairs_of, usable
from schedlab.workload.swf import FIELDS

pytestmark = pytest.mark.tables

SIZES = ("requested_procs", "allocated_procs")
FILLED = "not in the log; taken from the other size field"
ROUNDED = "rounded to a whole number"


def twin(rows, procs, missing):
    """Filter records given as dictionaries; return (jobs, [(reason, record)], [repair]), as lists."""

    def is_part(row):
        summaries = [other["job_number"] for other in rows if other["status"] not in (2, 3, 4)]
        return row["status"] in (2, 3, 4) and row["job_number"] in summaries

    numbers = [row["job_number"] for row in rows if not is_part(row)]
    anew = len(set(numbers)) < len(numbers)
    jobs, dropped, repairs = [], [], []
    for place, row in enumerate(rows, start=1):
        record = dict(row)

        def put(field, now, reason, record=record):
            if record[field] != now:
                was, record[field] = record[field], now
                repairs.append((record["job_number"], field, was, now, reason))

        if anew:
            put("job_number", place, "job numbers were not unique")
        size = record["requested_procs"] if record["requested_procs"] > 0 else record["allocated_procs"]
        why = None
        if is_part(row):
            why = "part of a job whose summary line is kept"
        elif record["submit_time"] < 0:
            why = "submit time unknown"
        elif record["run_time"] < 0:
            why = "run time unknown: never started, or not recorded"
        elif record["run_time"] == 0:
            why = "run time is 0"
        elif size <= 0:
            why = "number of processors unknown"
        elif size > procs:
            why = f"wider than the machine ({procs} processors)"
        elif missing == "drop" and record["requested_time"] <= 0:
            why = "no estimate"
        if why:
            dropped.append((why, record))
            continue
        put("submit_time", floor(record["submit_time"]), ROUNDED)
        for field in ("run_time", "requested_time", *SIZES):
            put(field, ceil(record[field]), ROUNDED)
        for field, other in (SIZES, SIZES[::-1]):
            if record[field] <= 0:
                put(field, record[other], FILLED)
        if record["requested_time"] <= 0 and missing == "run":
            put("requested_time", record["run_time"], "no estimate; the run time is taken")
        elif record["requested_time"] <= 0:
            put("requested_time", ceil(missing), "no estimate; the number given is taken")
        jobs.append(record)
    return sorted(jobs, key=lambda job: job["submit_time"]), dropped, repairs


@st.composite
def logs(draw):
    """Draw records rich in unknown values, shared numbers, partial executions and, at times, halves."""
    halves = draw(booleans())

    def number(*whole):
        drawn = draw(among(*whole))
        return drawn + draw(among(0, 0, 0.5)) if halves and drawn >= 0 else drawn

    rows = []
    for place in range(draw(integers(1, 8))):
        row = dict.fromkeys(FIELDS, 100 * place)  # the fields that the filter must not touch
        row |= {
            "job_number": place + 1 if draw(booleans()) else draw(integers(1, 4)),
            "submit_time": number(-1, 0, 1, 2, 3),
            "run_time": number(-1, 0, 1, 2, 7),
            "allocated_procs": number(-1, 0, 1, 2, 3, 4),
            "requested_procs": number(-1, 0, 1, 2, 3, 4),
            "requested_time": number(-1, 0, 1, 5),
            "status": draw(among(-1, 0, 1, 1, 2, 3, 4, 5)),
        }
        rows.append(row)
    return rows


MISSING = st.sampled_from(["run", "drop", 600, 0.5, np.int64(3)])


@given(logs(), st.integers(1, 4), MISSING)
def test_the_filter_is_its_twin(rows, procs, missing):
    records = pd.DataFrame(rows)
    before = records.copy()
    jobs, dropped, repaired = usable(records, procs, missing)
    expected_jobs, expected_dropped, expected_repairs = twin(rows, procs, missing)

    assert jobs.reset_index()[list(FIELDS)].to_dict("records") == expected_jobs
    assert jobs.index.is_unique
    table = dropped.reset_index()
    given_up = zip(table["reason"], table[list(FIELDS)].to_dict("records"), strict=True)
    assert list(given_up) == expected_dropped
    assert sorted(repaired.itertuples(index=False, name=None)) == sorted(expected_repairs)
    assert list(repaired.columns) == ["job_number", "field", "was", "now", "reason"]
    for field in ("submit_time", "run_time", "requested_time", *SIZES):
        assert jobs[field].dtype == np.int64
    pd.testing.assert_frame_equal(records, before)


def records(**columns):
    """Make plain records: one job a second, of ten seconds, on two processors."""
    n = len(next(iter(columns.values())))
    plain = {field: np.full(n, -1) for field in FIELDS}
    plain |= {
        "job_number": np.arange(1, n + 1),
        "submit_time": np.arange(n),
        "run_time": np.full(n, 10),
        "allocated_procs": np.full(n, 2),
        "requested_procs": np.full(n, 2),
        "requested_time": np.full(n, 60),
        "status": np.ones(n, int),
    }
    return pd.DataFrame(plain | columns)


def test_parts_of_a_job_give_way_to_its_summary_even_where_other_numbers_are_shared():
    log = records(job_number=[1, 1, 1, 2], status=[1, 2, 3, 2], run_time=[30, 10, 20, 5])
    jobs, dropped, _ = usable(log, 4)
    assert jobs["run_time"].to_dict() == {1: 30, 2: 5}  # job 2 has no summary: 2 is a site's own code there
    assert dropped["reason"].tolist() == ["part of a job whose summary line is kept"] * 2
    assert kinds(log) == {"2 parts of jobs kept as a whole (left out)": "usual"}
    jobs, dropped, repaired = usable(records(job_number=[1, 1, 2, 2], status=[1, 3, 1, 1], run_time=[30, 30, 7, 8]), 4)
    assert jobs["run_time"].to_dict() == {1: 30, 3: 7, 4: 8}
    assert dropped.index.tolist() == [2]
    assert repaired[["job_number", "was", "now"]].to_numpy().tolist() == [[2, 1, 2], [3, 2, 3], [4, 2, 4]]


@pytest.mark.parametrize("bad", [0, -5, nan, inf, -inf, "mean", None, [1]])
def test_a_missing_estimate_is_a_word_or_a_positive_number(bad):
    with pytest.raises(ValueError, match=re.escape(f"missing_estimate is {bad!r}, expected")):
        usable(records(requested_time=[-1]), 4, bad)


# What to make of it -------------------------------------------------------------------------------------
def kinds(log, procs=4, missing="run"):
    """Return the kind of each reason, by its words."""
    jobs, dropped, repaired = usable(log, procs, missing)
    accounted = account(dropped, repaired, area(jobs))
    assert accounted["count"].sum() == len(dropped) + len(repaired)
    return accounted.set_index("words")["kind"].to_dict()


@pytest.mark.parametrize(
    ("columns", "words", "kind"),
    [
        ({"requested_procs": -1}, "1 job without requested processors (allocated taken)", "usual"),
        ({"allocated_procs": -1}, "1 job without allocated processors (requested taken)", "usual"),
        ({"run_time": 0}, "1 job of 0 s (left out)", "usual"),
        ({"run_time": -1, "status": 5}, "1 job cancelled before the start (left out)", "usual"),
        ({"run_time": -1}, "1 record without a run time (left out)", "worth a look"),
        ({"submit_time": -1}, "1 record without a submit time (left out)", "worth a look"),
        ({"requested_procs": -1, "allocated_procs": 0}, "1 record without a number of processors", "worth a look"),
        ({"requested_procs": 5}, "1 job wider than the machine (left out)", "worth a look"),
        ({"requested_time": -1}, "1 job without an estimate (run time taken)", "worth a look"),
        ({"run_time": 9.9}, "1 time rounded to a whole second", "usual"),
        ({"requested_procs": 1.5}, "1 number of processors rounded up", "worth a look"),
        ({"job_number": 1}, "1 record numbered anew (numbers were not unique)", "worth a look"),
    ],
)
def test_what_every_log_has_is_told_from_what_is_worth_a_look(columns, words, kind):
    log = records(submit_time=range(3))
    for field, value in columns.items():
        log[field] = [log[field][0], value, log[field][2]]
    found = {text: kind for text, kind in kinds(log).items() if text.startswith(words.rstrip(")"))}
    assert list(found.values()) == [kind]


@pytest.mark.parametrize(
    ("columns", "missing", "words"),
    [
        ({"requested_time": -1}, "run", "without an estimate (run time taken)"),
        ({"requested_time": -1}, 60, "without an estimate (the number given taken)"),
        ({"requested_time": -1}, "drop", "without an estimate (left out, as asked)"),
        ({"run_time": -1}, "run", "without a run time (left out)"),
    ],
)
def test_what_one_job_in_a_hundred_lacks_is_usual(columns, missing, words):
    for few, kind in ((2, "usual"), (3, "worth a look")):
        log = records(submit_time=range(200 + few))
        for field, value in columns.items():
            log.loc[: few - 1, field] = value
        if missing != "drop" and "run_time" not in columns:
            log = log.iloc[:200]
        ((text, found),) = kinds(log, missing=missing).items()
        assert words.rstrip(")") in text
        assert ("% of the work" in text) == (kind == "worth a look" and "run_time" not in columns)
        assert found == kind


def test_a_field_that_the_log_lacks_altogether():
    log = records(requested_procs=[-1] * 3, requested_time=[-1] * 3)
    estimates = "all 3 jobs without an estimate (run time taken)"
    sizes = "all 3 jobs without requested processors (allocated taken)"
    assert kinds(log) == {estimates: "worth a look", sizes: "usual"}
    jobs, *tables = usable(log, 4)
    assert in_one_line(account(*tables, area(jobs))) == f"worth a look: {estimates}; usual: {sizes}"
    modelled = account(*tables, area(jobs), modelled=True)
    assert in_one_line(modelled) == f"nothing to worry about: {sizes}, {estimates}"


def test_what_is_worth_a_look_comes_first_and_a_long_line_counts_what_it_leaves_out():
    wide = [2, 2, 9, 2, 2, 2, 2]
    log = records(run_time=[0, 0, 10, 10, -1, -1, -1], status=[1, 1, 1, 1, 5, 5, 5], requested_procs=wide)
    jobs, *tables = usable(log, 4)
    accounted = account(*tables, area(jobs))
    assert accounted[["kind", "count", "table", "reason"]].to_numpy().tolist() == [
        ["worth a look", 1, "dropped", "wider than the machine (4 processors)"],
        ["usual", 3, "dropped", "run time unknown: never started, or not recorded"],
        ["usual", 2, "dropped", "run time is 0"],
    ]
    log = records(run_time=[0, 10, 10, 10, -1], status=[1, 1, 1, 1, 5], requested_procs=[2, -1, -1, -1, 2])
    jobs, *tables = usable(log, 4)
    line = in_one_line(account(*tables, area(jobs)))
    first = "nothing to worry about: all 3 jobs without requested processors (allocated taken)"
    assert re.fullmatch(rf"{re.escape(first)}, 1 job .* \(left out\), 1 more", line)
    jobs, *nothing = usable(records(submit_time=[0]), 4)
    assert in_one_line(account(*nothing, area(jobs))) == ""


def test_a_reason_that_nobody_thought_of_is_worth_a_look():
    jobs = usable(records(submit_time=range(200)), 4)[0]
    dropped = records(submit_time=[0]).assign(reason="eaten by the dog", run_time=30)
    changed = repairs_of(np.array([1, 2]), "run_time", [9, 9], [3, 3], "longer than the longest estimate")
    accounted = account(dropped, changed, area(jobs))
    assert accounted["kind"].tolist() == ["worth a look"] * 2
    assert accounted["words"].tolist() == [
        "1 record left out (eaten by the dog, 1.48 % of the work)",
        "2 values of run_time changed (longer than the longest estimate, 0.985 % of the work)",
    ]


def test_rounding_is_worth_a_look_where_it_adds_work():
    assert kinds(records(run_time=[29.9, 30, 30])) == {"1 time rounded to a whole second": "usual"}
    days = kinds(records(run_time=[0.2, 0.4, 0.5]))  # an Excel sheet counts in days
    assert days == {"all 3 times rounded to a whole second (63.3 % of the work)": "worth a look"}


def test_one_known_amount_of_work_does_not_excuse_many_unknown_ones():
    log = records(submit_time=range(300))
    log.loc[:9, "requested_procs"] = log.loc[:9, "allocated_procs"] = -1
    log.loc[10, "run_time"] = -1
    assert "worth a look" in kinds(log).values()


@given(st.lists(st.tuples(st.sampled_from([-1, 0, 5, 400]), st.sampled_from([-1, 1, 3, 9]), st.booleans()), min_size=1))
def test_nothing_to_worry_about_is_said_only_where_less_than_a_hundredth_of_the_work_is_touched(rows):
    run, procs, known = zip(*[(400, 3, True), *rows], strict=True)
    log = records(run_time=run, requested_procs=procs, allocated_procs=procs)
    log["requested_time"] = np.where(known, 500, -1)
    jobs, dropped, repaired = usable(log, 4)
    accounted = account(dropped, repaired, area(jobs))
    work = [max(seconds, 0) * max(size, 0) for seconds, size in zip(run, procs, strict=True)]
    wide = sum(amount for amount, size in zip(work, procs, strict=True) if size > 4)
    guessed = sum(amount for amount, size, sure in zip(work, procs, known, strict=True) if size <= 4 and not sure)
    by_reason = accounted.groupby("reason")["work"].sum()
    assert by_reason.get("wider than the machine (4 processors)", 0) == wide
    assert by_reason.get("no estimate; the run time is taken", 0) == guessed
    calm = in_one_line(accounted).startswith("nothing to worry about")
    assert not (calm and max(wide, guessed) > sum(work) / 100)
    shares = accounted["share"].fillna(0)
    assert (accounted.loc[shares > 0.01, "kind"] == "worth a look").all()
    assert shares[accounted["kind"] == "worth a look"].is_monotonic_decreasing  # the worst comes first


# What the checks say of each log: nothing about the archive's own marks, or about fields that nobody uses.
CALM = ("CTC-SP2-1996", "HPC2N-2002", "KTH-SP2-1996-2.1-cln", "SDSC-BLUE-2000")
NO_ESTIMATE = {"LLNL-Thunder-2007": "80,197", "LLNL-Atlas-2006": "5,352", "LANL-CM5-1994": "11,286"}
NO_ESTIMATE |= {"SDSC-Par-1996": "all 32,128", "OSC-Clust-2000": "all 35,592"}
LOOKS = dict.fromkeys((*CALM, "SDSC-SP2-1998", "Sandia-Ross-2001"))
SHARES = {"LLNL-Thunder-2007": ", 99.7 %", "LLNL-Atlas-2006": ", 24.8 %", "LANL-CM5-1994": ", 1.34 %"}
SHARES = {name: f"{share} of the work" for name, share in SHARES.items()}
LOOKS |= {
    name: f"{jobs} jobs without an estimate (run time taken{SHARES.get(name, '')})"
    for name, jobs in NO_ESTIMATE.items()
}
LOOKS["LLNL-Thunder-2007"] += ", 1,190 records without a submit time (left out)"


@pytest.mark.traces
@pytest.mark.parametrize("name", LOOKS)
def test_what_is_worth_a_look_in_the_archives_logs(name):
    trace = sl.load_trace(name)
    accounted = trace.repairs
    found = accounted.loc[accounted["kind"] == "worth a look", "words"]
    assert (", ".join(found) or None) == LOOKS[name]
    assert accounted["count"].sum() == len(trace.dropped) + len(trace.repaired)


@pytest.mark.traces
@pytest.mark.parametrize(
    ("name", "words"),
    [("LANL-CM5-1994", "24.7 % of the work"), ("RICC-2010", "6.3 %"), ("CTC-SP2-1996", ""), ("LLNL-Thunder-2007", "")],
)
def test_what_is_cut_at_the_estimates_in_the_archives_logs(name, words):
    message = sl.load_trace(name).cut_words()
    assert words in message
    assert bool(message) == bool(words)


# Counted independently, traces/README.md sections 1 and 3.
COUNTS = [
    ("CTC-SP2-1996-3.1-cln", "run", 77_205),
    ("KTH-SP2-1996-2.1-cln", "run", 28_467),
    ("SDSC-SP2-1998-4.2-cln", "run", 54_034),
    ("HPC2N-2002-2.2-cln", "run", 202_871),
    ("SDSC-BLUE-2000-4.2-cln", "run", 232_536),
    ("CTC-SP2-1996-3.1-cln", "drop", 77_199),
    ("SDSC-SP2-1998-4.2-cln", "drop", 53_999),
    ("KTH-SP2-1996-2", "drop", 28_481),
    ("LLNL-Thunder-2007-1.1-cln", "drop", 33_416),
]
RECORDS = {"CTC": 77_222, "KTH-SP2-1996-2.1": 28_476, "KTH-SP2-1996-2": 28_489, "SDSC-SP2": 59_715}


@pytest.mark.filterwarnings("ignore::schedlab.workload.LoadWarning")
@pytest.mark.traces
@pytest.mark.parametrize(("name", "missing", "count"), COUNTS)
def test_as_many_jobs_as_published(name, missing, count):
    trace = sl.load_trace(name, missing_estimate=missing)
    assert len(trace) == count
    stem = next((stem for stem in RECORDS if name.startswith(stem)), None)
    if stem:
        assert len(trace) + len(trace.dropped) == RECORDS[stem]


@pytest.mark.traces
def test_reasons_on_thunder_and_exit_codes_of_sandia_ross():
    reasons = sl.load_trace("LLNL-Thunder-2007").dropped["reason"].value_counts().to_dict()
    assert reasons == {"run time is 0": 6_236, "submit time unknown": 1_190}
    trace = sl.load_trace("Sandia-Ross-2001")
    codes = (trace.jobs["status"] == 2).sum() + (trace.dropped["status"] == 2).sum()
    assert codes == 1_994
    assert (trace.jobs["status"] == 2).sum() == 1_829  # the others have run time 0 or no processors
    assert not trace.dropped["reason"].str.startswith("part of").any()
