"""The conformance suite: its answers, wrong schedulers that it catches, and the files of other simulators."""

import re
from functools import cache

import pandas as pd
import pytest
from find_probes import conventions_of, mistakes, starts_in, under
from mutants import AS_PYSS, CLOCKS, FIRST_FIT, MUTANTS, RIGHT, ByHand, Easy

import schedlab as sl
from schedlab import charts, conformance
from schedlab.schemes import by_name
from schedlab.testing.conformance import NONE, export, fault, judge, probes, read_starts
from schedlab.workload import swf

PROBES = {probe.number: probe for probe in probes()}
ANSWERS = [(probe, answer) for probe in probes() for answer in probe.answers]
OF_OTHER_CHOICES = (8, 9, 10, 12)  # of overruns, missing estimates, equal submissions and zero lengths
OURS = [(probe, answer) for probe, answer in ANSWERS if answer.ours]


def named(one):
    return str(one.number) if hasattr(one, "number") else one.convention


verdicts = cache(judge)  # on all probes of a kind at once


@pytest.mark.parametrize(("probe", "answer"), OURS, ids=named)
def test_schedlab_gives_the_answer_that_is_said_to_be_its_own(probe, answer):
    settings = dict(answer.ours)
    conventions = {name: settings.pop(name) for name in ("overrun", "events") if name in settings}
    scheme = by_name()[settings.pop("scheme")](**settings)
    found = verdicts(scheme, probe.scheme, **conventions).set_index("probe").loc[probe.number]
    assert (found["starts"], found["convention"]) == (answer.starts, answer.convention)


def test_probes_tell_conventions_apart():
    assert [probe.number for probe in probes()] == [*range(1, 59)]
    for probe in probes():
        starts = [answer.starts for answer in probe.answers]
        assert len(set(starts)) == len(starts), probe.name
        assert len(starts) + len(conformance.mistakes()[probe.number]) >= 2 or probe.scheme == "SJF", probe.name
        assert len({answer.convention for answer in probe.answers}) == len(starts)
        assert probe.answers[0].follows
        assert all(len(one) == len(probe.records) for one in starts)
        assert all(text.endswith(".") for text in (probe.words, *(answer.words for answer in probe.answers)))
    assert {probe.scheme for probe in probes()} == set(conformance.KINDS)


@pytest.mark.parametrize(("probe", "answer"), ANSWERS, ids=named)
def test_an_answer_is_a_schedule_that_can_be_drawn(probe, answer):
    schedule = probe.schedule(answer)
    assert schedule.start.tolist() == [answer.starts[job - 1] for job in schedule.trace.table.index]
    assert sl.charts.gantt(schedule).to_dict()


def test_logs_are_in_the_standard_format_and_their_headers_say_what_they_ask():
    for probe in probes():
        log = swf.read_log(probe.path)
        assert (log.header.procs, len(log.skipped)) == (probe.procs, 0)
        assert probe.title in probe.path.read_text()
        assert log.records["requested_procs"].max() <= probe.procs


# --- What is refused ---


@cache
def made_of_the_probes(kind, member):
    """Return what a member of the library makes of the probes of a kind, as `judge` takes it."""
    return {
        probe.name: dict(zip(probe.records.index, starts_in(probe, member), strict=True))
        for probe in probes()
        if probe.scheme == kind
    }


WRONG = [(kind, name) for kind, members in MUTANTS.items() for name in members]
RIGHT_ONES = [
    (kind, name)
    for kind, members in RIGHT.items()
    for name in members
    if kind != "conservative" or name.startswith("queue;") or name.endswith((AS_PYSS, next(iter(CLOCKS))))
]


@pytest.mark.parametrize(("kind", "name"), WRONG)
def test_every_mutant_is_refused_by_name(kind, name):
    verdicts = judge(made_of_the_probes(kind, MUTANTS[kind][name]), kind)
    assert not verdicts.passed
    assert f"not {kind}: " in str(verdicts)
    assert name in verdicts.mistakes[kind]
    same = [one for one in verdicts.mistakes[kind] if not one.startswith("is ")]  # other schemes may agree everywhere
    assert same == [name] * (not name.startswith("is "))
    if len(verdicts.mistakes[kind]) <= 3:
        names = ", or it ".join(verdicts.mistakes[kind])
        assert f"one mistake explains all of these probes: the scheduler {names}" in str(verdicts)


def test_the_library_is_of_all_kinds():
    assert len({name for _, name in WRONG}) >= 100
    assert min(len(members) for members in MUTANTS.values()) >= 30


@pytest.mark.parametrize(("kind", "name"), RIGHT_ONES)
def test_every_convention_passes_as_itself(kind, name):
    verdicts = judge(made_of_the_probes(kind, RIGHT[kind][name]), kind)
    assert verdicts.passed, str(verdicts)
    for choice, own in conventions_of(kind, name).items():
        assert own in verdicts.conventions.get((kind, choice), (own,))


def test_what_is_written_of_conventions_is_what_the_library_gives():
    for probe in probes():
        if probe.scheme in RIGHT and probe.number not in OF_OTHER_CHOICES:
            written = {answer.starts: dict(answer.under) for answer in probe.answers if answer.follows}
            assert written == under(probe), probe.number


def test_what_is_written_of_mistakes_is_what_the_library_gives():
    written = pd.read_csv(conformance.folder() / "mistakes.csv", dtype=str)
    pd.testing.assert_frame_equal(written, mistakes().astype(str))


def test_conventions_that_contradict_each_other_are_refused():
    """One that sees early completions together, but not others, follows a convention in each probe, and none in all."""
    together, apart = (made_of_the_probes("EASY", RIGHT["EASY"][name]) for name in list(RIGHT["EASY"])[:2])
    mixed = {"two-early-completions": together, "completions-on-time-and-early": apart}
    verdicts = judge({name: made[name] for name, made in mixed.items()})
    assert verdicts["follows"].all()
    assert not verdicts.passed
    assert verdicts.contradictions == ("EASY: probes 3, 36 follow no single convention about events",)
    assert str(verdicts).endswith("all of 2 probes follow their scheme, but not under one convention")


CAUGHT = {
    FIRST_FIT: "probe 6 (Candidates that would delay the head of the queue): as with: whatever fits starts. Job 3 "
    "starts at 2 and delays job 2 from 10 to 22.",
    "completions, then arrivals, a pass after each": "EASY, probe 3 (Two early completions at one instant): a pass "
    "after each completion",
    "arrivals and a pass, then completions and a pass": "EASY, probe 4 (An arrival at the instant of a completion): "
    "arrivals first",
}


@pytest.mark.parametrize("name", CAUGHT)
def test_mistakes_and_conventions_are_named_at_the_probes_that_show_them(name):
    verdicts = judge((MUTANTS | RIGHT)["EASY"].get(name) or MUTANTS["EASY"][name], "EASY")
    assert CAUGHT[name] in str(verdicts)
    assert verdicts.passed == (name in CLOCKS) != ("not EASY" in str(verdicts))


def test_schemes_that_are_right_pass_as_what_they_are():
    for scheme, kind in (("fcfs", "FCFS"), ("easy", "EASY"), ("conservative", "conservative")):
        verdicts = judge(by_name()[scheme]())
        assert verdicts.passed
        assert set(verdicts["scheme"]) == {kind}
        assert str(verdicts).endswith("follow their scheme")
    assert judge(ByHand(Easy), "EASY").passed
    with pytest.raises(ValueError, match='say which probes it should be judged by, with scheme="EASY"'):
        judge(sl.FCFS(order="sjf"))
    with pytest.raises(ValueError, match="unknown scheme 'easy'; known: FCFS, SJF, EASY, conservative"):
        judge(sl.EASY(), "easy")


@pytest.mark.parametrize(
    ("number", "starts", "words"),
    [
        (1, (0, NONE, 2, 3), "job 2 never starts"),
        (1, (0, 0, 2, 3), "job 2 starts at 0, before its submission at 1"),
        (1, (0, 5, 2, 3), "at 5 jobs hold 7 processors of 4"),
        (2, (0, 11, 3), "job 3 starts at 3 and may run until 11, though job 2, the head of the queue, could start at "
         "10, and waits until 11"),
        (2, (0, 12, 17), "job 2 is first in the queue and fits at 10, but starts at 12"),
        (11, (0, 12, 10), "job 3 starts at 10, ahead of job 2, which waits since 1"),
        (13, (0, 10, 16), "job 3 is first in the queue and fits at 15, but starts at 16"),
        (6, (0, 10, 15), "follows a known convention"),
        (42, (0, 4, 5, 3), "job 4 starts at 3, but at 6 if a reservation needs its processors for the whole estimate"),
        (41, (0, 1, 5, 3), "at 3 jobs hold 7 processors of 6"),
    ],
)  # fmt: skip
def test_what_follows_nothing_is_told_in_a_sentence(number, starts, words):
    assert fault(PROBES[number], starts) == words


# --- Files of others ---


def as_swf(probe, starts):
    records = probe.records
    lines = (
        f"{job} {row.submit_time} {starts[job] - row.submit_time} {row.run_time} " + " ".join(14 * ["-1"])
        for job, row in zip(records.index, records.itertuples(), strict=True)
    )
    return "; written by another simulator\n" + "\n".join(lines)


def as_batsim(probe, starts):
    lines = (f"w0!{job},w0,{start + 0.000001:.6f},0.0" for job, start in starts.items())
    return "\n".join(["job_id,workload_name,starting_time,waiting_time", *lines])


def as_evalys(probe, starts):
    return "\n".join(["jobID;starting_time", *(f"{job};{start}" for job, start in starts.items())])


def as_pairs(probe, starts):
    return "\n".join(f"{job},{start}" for job, start in starts.items())


def as_accasim(probe, starts):
    def clock(second):
        return pd.Timestamp(1_000_000_000 + int(second), unit="s").strftime("%Y-%m-%d %H:%M:%S")

    told = [(job, probe.records.loc[job, "submit_time"], start) for job, start in starts.items()]
    return "\n".join(
        f"{job};1;{clock(queued)}__1;1#2;1#__{clock(start)};{clock(start)};1;1;NA;9;" for job, queued, start in told
    )


@pytest.mark.parametrize("write", [as_swf, as_batsim, as_evalys, as_pairs, as_accasim])
def test_files_of_other_simulators_are_read(tmp_path, write):
    ours = verdicts(sl.EASY())
    for row in ours.itertuples():
        starts = dict(enumerate(row.starts, start=1))
        (tmp_path / f"{PROBES[row.probe].path.stem}.csv").write_text(write(PROBES[row.probe], starts))
    found = judge(tmp_path, "EASY")
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(ours))
    assert judge(tmp_path)["probe"].tolist() == ours["probe"].tolist()  # the probes that there is a file for


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no jobs in the file"),
        ("job,start\n1,0\n2,soon\n", ":3: start is 'soon', expected a whole number"),
        ("job,start\n1,0.4\n", ":2: start is '0.4', expected a whole number"),
        ("job,start,end\n1\n", ":2: 1 fields, expected 3"),
        ("name,when,where\n1,2,3\n", ":1: no job among name, when, where; expected a column job_id or job"),
        ("job_id,when,where\n1,2,3\n", ":1: no start among job_id, when, where; expected a column starting_time"),
        ("1;1;2001-01-31 12:00:00__1;1#__noon;x;1;1;NA;9;", ":1: start is 'noon', expected a time such as 2001"),
        ("7;1;2001-01-31 12:00:00__1;1#__2001-01-31 12:00:00;x;1;1;NA;9;", ":1: job 7 is not in probe 1"),
        ("1 0 x " + " ".join(15 * ["-1"]), ":1: wait_time is 'x', expected a whole number"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_file_and_line(tmp_path, text, words):
    path = tmp_path / f"{PROBES[1].path.stem}.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}:.*") as error:
        read_starts(path, PROBES[1])
    assert words in str(error.value)


def test_a_folder_without_results_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"no file of any probe, expected such as 01-extra-processors.csv"):
        judge(tmp_path)
    with pytest.raises(ValueError, match="no such folder"):
        judge(tmp_path / "gone")


def test_logs_are_exported(tmp_path):
    paths = export(tmp_path / "logs")
    assert [path.name for path in paths] == [probe.path.name for probe in probes()]
    assert all(path.read_bytes() == probe.path.read_bytes() for path, probe in zip(paths, probes(), strict=True))


def test_jobs_that_a_file_does_not_name_never_start():
    verdicts = judge({"extra-processors": {1: 0, 2: 10}})
    assert verdicts.loc[0, "starts"] == (0, 10, NONE, NONE)
    assert verdicts.loc[0, "words"] == "job 3 never starts"


def test_what_other_simulators_made_of_the_logs_is_shown():
    table = conformance.others()
    assert (table["convention"] != "").all()
    easy = table[table["scheme"] == "EASYBackfilling"].set_index("probe")["convention"]
    assert easy[[5, 6]].tolist() == ["the reservation is kept", "whatever fits starts"]
    assert table[table["scheme"] == "FirstInFirstOut"]["follows"].all()
    hpcsim = table[table["simulator"] == "hpcsim"].set_index(["scheme", "probe"])
    assert hpcsim.loc[("FIFO", 11), "convention"] == "whatever fits starts"
    dropped = hpcsim.loc[("FIFO + EASYBackfillPolicy", 3), "convention"]
    assert dropped == "none: job 2 is first in the queue and fits at 0, but starts at 1"


def test_the_picture_of_other_simulators_has_a_mark_for_each_schedule():
    table = conformance.others()
    (cells,) = conformance.picture().to_dict()["datasets"].values()
    assert len(cells) == len(table)
    marks = {(cell["simulator"], cell["tested"]): (cell["mark"], cell["convention"]) for cell in cells}
    for row in table.itertuples():
        probe = conformance.probe(row.probe)
        mark, convention = marks[row.simulator, f"{probe.scheme}, probe {row.probe}: {row.title}"]
        assert convention == row.convention
        assert (mark == "not the scheme") == (not row.follows)
        assert (mark == "the scheme, as in schedlab") == (convention == probe.answers[0].convention)


def test_marks_of_no_known_meaning_and_two_in_a_cell_are_refused():
    table = pd.DataFrame({"x": ["a", "b"], "y": "c", "mark": ["good", "bad"]})
    charts.marks(table, "x", "y", "mark", ("good", "bad")).to_dict()
    with pytest.raises(ValueError, match="a mark is 'bad', expected one of 'good', 'poor'"):
        charts.marks(table, "x", "y", "mark", ("good", "poor"))
    with pytest.raises(ValueError, match="the table has two marks for a and c, expected one"):
        charts.marks(table.assign(x="a"), "x", "y", "mark", ("good", "bad"))
    with pytest.raises(ValueError, match="got 4 meanings, expected 2 or 3"):
        charts.marks(table, "x", "y", "mark", "abcd")


def test_the_picture_of_a_probe_is_as_wide_as_other_charts_and_drawn_for_the_width_of_a_page(monkeypatch):
    probe = conformance.probe(12)
    assert {part["width"] for part in probe.chart().to_dict()["vconcat"]} == {charts.sizes.WIDE}
    monkeypatch.setenv(charts.theme.ON_PAGE, "1")
    shown = probe._repr_html_()
    assert '<div class="chart"' in shown
    assert "<svg" not in shown


def test_a_probe_displays_itself():
    shown = conformance.probe(12)._repr_html_()
    assert "Probe 12, FCFS: A job of length zero" in shown
    assert "Starts: 0, never, 5." in shown
    assert "<svg" in shown
    assert "looks at the first candidate only" in conformance.probe(22)._repr_html_()
    with pytest.raises(ValueError, match="unknown probe 99; known: 1 to 58"):
        conformance.probe(99)


def test_verdicts_display_their_total_first_and_fold_the_probes():
    right = verdicts(sl.EASY(), events="each")
    opened, _, folded = right._repr_html_().partition("<details")
    assert "all of 35 probes follow their scheme" in opened
    assert "EASY, events: as pyss" in opened
    assert "probe 3 (" not in opened
    assert "probe 3 (" in folded
    opened = verdicts(sl.FCFS(), "EASY")._repr_html_().partition("<details")[0]
    assert "not following their scheme" in opened
    assert opened.count("not EASY: probe") == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no probe is given, expected the starts of one or more, by the name of the probe"),
        ({"extra-procesors": {1: 0}}, "unknown probe 'extra-procesors'; known: extra-processors"),
        ({"extra-processors": {7: 0}}, "extra-processors: there is no job 7, expected numbers of 1, 2, 3, 4"),
        ({"extra-processors": {1: 0.5}}, "extra-processors: job 1 starts at 0.5, expected a whole number of seconds"),
        ({"extra-processors": [0, 10]}, r"extra-processors: the starts are \[0, 10\], expected the start of each job"),
    ],
)
def test_starts_are_of_probes_that_there_are(given, message):
    with pytest.raises(ValueError, match=message):
        judge(given)


def test_a_probe_of_another_scheme_is_not_judged_in_silence():
    with pytest.raises(ValueError, match="none of the probes given tests FCFS; these do: equal-submissions"):
        judge({"extra-processors": {1: 0, 2: 10, 3: 2, 4: 3}}, "FCFS")
