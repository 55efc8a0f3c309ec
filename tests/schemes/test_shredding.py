"""Parameter sweeps, flooded and shredded: the kernel against its naive twin, the laws, and cases worked by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import twin_shredding
from hypothesis import given
from hypothesis import strategies as st
from twin_shredding import Job
from workloads import among, examples, integers, trace_of

import schedlab as sl
from schedlab.schedule import ScheduleError
from schedlab.workload import swf

pytestmark = pytest.mark.reduced

BREAKDOWNS = st.sampled_from([0, 0, 1, 2, 3, 4])
SCHEMES = st.one_of(
    st.builds(sl.Flooding, local=st.sampled_from(["easy", "conservative"])),
    st.builds(
        sl.OpportuneShredding,
        local=st.sampled_from(["easy", "conservative"]),
        release=st.booleans(),
        everywhere=st.booleans(),
    ),
)
SPEEDS = st.lists(st.sampled_from([1, 1, 2, 3]), min_size=3, max_size=3)


@st.composite
def swept_workloads(draw, most_sites=3, exact=False):
    """Draw for each of some sites (jobs, procs): jobs in submit order, full of ties, some of them sweeps."""
    sites = []
    n_sites = draw(integers(1, most_sites))
    for _ in range(n_sites):
        procs = draw(integers(1, 6))
        jobs = []
        for _ in range(draw(integers(1, 12 if n_sites == 1 else 6))):
            run, breakdown = draw(integers(0, 8)), draw(BREAKDOWNS)
            run = max(run, 1) if breakdown else run
            over = 0 if exact else draw(among(0, 0, 1, 3, 8))
            width = draw(among(1, procs, draw(integers(1, procs))))
            jobs.append(Job(draw(integers(0, 12)), run, run + over, width, breakdown))
        sites.append((sorted(jobs, key=lambda job: job.submit), procs))
    return sites


def swept(jobs, procs):
    """Make a trace of a twin's jobs."""
    trace = trace_of([job[:4] for job in jobs], procs)
    return replace(trace, table=trace.table.assign(breakdown=[job.breakdown for job in jobs]))


def simulated(sites, scheme, speeds):
    """Simulate traces whose clocks agree."""
    traces = [swept(*site) for site in sites]
    return sl.simulate_sites(traces, scheme, speeds=speeds[: len(sites)], begins=[0] * len(sites))


def found(sites):
    """Return the results in the twin's form, exact."""
    result = sites[0].outcome.shared
    begin, tick = sites[0].origin, result.tick  # the same for all: the clocks agree
    outcomes, placed = [], []

    def seconds(ticks):
        return Fraction(int(ticks), tick) + begin

    for home, schedule in enumerate(sites):
        outcomes.append([])
        placed.append([])
        ends = schedule.outcome._own
        for job in range(len(schedule)):
            entry, sweep = ends[job], result.sweep[ends[job]]
            tasks, began, ran = {}, None, None
            for site, pieces in enumerate(result.pieces):
                for i in np.flatnonzero((pieces.home == home) & (pieces.job == job)):
                    when = seconds(pieces.start[i])
                    if pieces.tasks[i]:
                        tasks[site, when] = tasks.get((site, when), 0) + int(pieces.tasks[i])
                    else:
                        other = np.flatnonzero((result.home == home) & (result.job == job) & (result.start >= 0))[0]
                        lasts = max(Fraction(int(pieces.end[i] - pieces.start[i]), tick), ran[3] if ran else 0)
                        began, ran = when, (site, when, int(result.width[other]), lasts)
            end = seconds(result.end[sweep]) if sweep >= 0 else began + int(schedule.run[job])
            promise = seconds(result.promise[entry]) if result.promise[entry] >= 0 else -1
            outcomes[-1].append((began, end, sorted((*key, count) for key, count in tasks.items()), promise))
            placed[-1].append(ran)
    return outcomes, [Fraction(int(lost), tick) for lost in result.lost], placed


def twin(sites, scheme, speeds):
    """Run the twin."""
    outcomes, loss, placed = twin_shredding.shredded(
        [jobs for jobs, _ in sites],
        [procs for _, procs in sites],
        speeds[: len(sites)],
        scheme="flooding" if scheme.flooding else "ojs",
        local=scheme.local,
        release=scheme.release,
        everywhere=scheme.everywhere,
    )
    return [[tuple(one) for one in row] for row in outcomes], loss, placed


@examples(300)
@given(swept_workloads(), SCHEMES, SPEEDS)
def test_shredding_is_its_twin(sites, scheme, speeds):
    schedules = simulated(sites, scheme, speeds).validate()
    assert found(schedules) == twin(sites, scheme, speeds)


@given(swept_workloads(most_sites=1), SCHEMES)
def test_one_site_is_simulate(sites, scheme):
    trace = swept(*sites[0])
    alone, one = sl.simulate(trace, scheme).validate(), sl.simulate_sites([trace], scheme)[0]
    assert alone.end.tolist() == one.end.tolist()
    assert alone.jobs.equals(one.jobs)


@given(swept_workloads(), st.sampled_from(["easy", "conservative"]))
def test_without_sweeps_there_are_only_the_local_schedulers(sites, local):
    plain = [([job._replace(breakdown=0) for job in jobs], procs) for jobs, procs in sites]
    shredded = simulated(plain, sl.OpportuneShredding(local=local), [1, 1, 1])
    for schedule, base in zip(shredded, simulated(plain, local, [1, 1, 1]), strict=True):
        assert schedule.start.tolist() == base.start.tolist()
        assert schedule.end.tolist() == base.end.tolist()
        assert schedule.promise.tolist() == base.promise.tolist()
        found, expected = schedule.metrics(), base.metrics()
        assert found.drop("makespan").equals(expected.drop("makespan")) or np.allclose(found, expected, equal_nan=True)


@given(swept_workloads(most_sites=1), SCHEMES)
def test_shifting_all_times_shifts_the_schedule(sites, scheme):
    jobs, procs = sites[0]
    plain, later = (
        sl.simulate(swept([job._replace(submit=job.submit + by) for job in jobs], procs), scheme) for by in (0, 10**8)
    )
    assert [piece.tolist() for piece in later.outcome.pieces] == [p.tolist() for p in plain.outcome.pieces]
    assert later.origin - 10**8 == plain.origin


# --- By hand ------------------------------------------------------------------------------------------------
def test_kur_0_a_job_of_p_processors_is_ten_p_tasks_of_a_tenth():
    jobs = [Job(0, 1000, 1000, 16, 0), Job(1, 100, 100, 12, 10)]
    trace = swept(jobs, 16)
    schedule = sl.simulate(trace, "flooding").validate()
    assert schedule.outcome.shared.tasks.tolist() == [120]
    pieces = schedule.pieces[schedule.pieces["tasks"] > 0]
    assert (pieces["end_time"] - pieces["start_time"] == 10).all()
    # 7 rounds of 16 and one of 8, from the end of the first job on.
    assert pieces["tasks"].tolist() == [16] * 7 + [8]
    assert schedule.end.tolist() == [1000, 1080]
    assert schedule.jobs["slowdown"].tolist() == [1, (1080 - 1) / 100]


def test_tasks_fill_the_hole_before_the_head_and_the_parallel_job_runs_the_rest():
    # 4 processors. A job holds 3 until 10. The sweep (4 processors, 4 s, 4 x 2 tasks of 2 s) is the head: reserved for
    # 10. On the fourth processor its own tasks run at 0, 2, 4, 6 and 8; three are left at 10: one round of 2 s.
    jobs = [Job(0, 10, 10, 3, 0), Job(0, 4, 4, 4, 2)]
    schedule = sl.simulate(swept(jobs, 4), "ojs").validate()
    assert schedule.start.tolist() == [0, 0]
    assert schedule.jobs["parallel_start"].tolist() == [0, 10]
    assert schedule.promise.tolist() == [-1, 10]
    assert schedule.end.tolist() == [10, 12]
    assert schedule.jobs["tasks_alone"].tolist() == [0, 5]
    # The sweep waits, but no processor is idle; 1 is in its last round, for which 4 are held.
    assert schedule.metrics()["loss_of_capacity"] == 0
    assert schedule.timeline()["demand"].tolist() == [4, 4, 4, 4, 3, 0, 0]
    released = sl.simulate(swept(jobs, 4), sl.OpportuneShredding(release=True)).validate()
    assert released.timeline()["used"].tolist()[-2:] == [3, 0]


def test_measures_of_the_whole_divide_by_an_end_within_a_second():
    # One processor is held until 1. Of the sweep's 6 tasks of a third of a second 3 run beside it, 3 in two rounds.
    schedule = sl.simulate(swept([Job(0, 1, 1, 1, 0), Job(0, 1, 1, 2, 3)], 2), "ojs").validate()
    values = schedule.metrics()
    assert values["makespan"] == schedule.end.max() == pytest.approx(5 / 3)
    assert values["throughput"] == 3600 * 2 / values["makespan"]
    assert values["mean_queue"] == pytest.approx(1 / (5 / 3))


def test_another_site_runs_tasks_at_its_own_speed():
    # The home is full until 8. Its sweep has 2 x 2 tasks of 4 s there, 2 s at the site of twice the speed.
    home = [Job(0, 8, 8, 2, 0), Job(0, 8, 8, 2, 2)]
    sites = sl.simulate_sites([swept(home, 2), swept([Job(0, 1, 1, 1, 0)], 1)], speeds=(1, 2)).validate()
    assert sites[1].pieces["end_time"].tolist() == [1, 3, 5, 7, 9]
    assert sites[0].end.tolist() == [8, 9]
    assert sites.metrics()["jobs"] == 3
    assert sites.metrics("site")["jobs"].tolist() == [2, 1]


def tampered(schedule, piece=None, **changes):
    """Return the schedule with other values at one place: of a piece, or of a column that all sites share."""
    shared = schedule.outcome.shared
    pieces, expected = shared.pieces[0], shared.expected[0]
    for name, value in changes.items():
        if piece is None:
            at, value = value
            shared = replace(shared, **{name: altered(getattr(shared, name), at, value)})
        elif name == "expected":
            expected = altered(expected, piece, value)
        else:
            pieces = pieces._replace(**{name: altered(getattr(pieces, name), piece, value)})
    shared = replace(shared, pieces=(pieces,), expected=(expected,))
    return replace(schedule, outcome=replace(schedule.outcome, shared=shared))


def altered(column, at, value):
    column = column.copy()
    column[at] = value
    return column


LOCALS = pytest.mark.parametrize("local", ["easy", "conservative"])
# The cases by hand: tasks fill a hole before the parallel job, and the last task withdraws the parallel job.
HOLE = [Job(0, 10, 10, 3, 0), Job(0, 8, 8, 4, 2)]
WITHDRAWN = [Job(0, 3, 3, 1, 0), Job(0, 1, 1, 3, 1), Job(0, 5, 5, 1, 0)]


def shredded(jobs, procs, local):
    return sl.simulate(swept(jobs, procs), sl.OpportuneShredding(local=local)).validate()


@LOCALS
def test_validate_finds_tasks_that_delay_what_is_promised(local):
    schedule = shredded(HOLE, 4, local)
    task, tick = np.flatnonzero(schedule.outcome.pieces.tasks)[-1], schedule.outcome.tick
    with pytest.raises(ScheduleError, match=r"at 4.0 s: tasks delay what the local scheduler has promised"):
        tampered(schedule, task, expected=11 * tick).validate()
    tampered(schedule, task, expected=10 * tick).validate()  # up to the shadow time there is room
    with pytest.raises(ScheduleError, match="of sweep 0, 9 of 8 tasks ran"):
        tampered(schedule, task, tasks=2).validate()
    with pytest.raises(ScheduleError, match="5 processors held"):
        tampered(schedule, task, procs=2).validate()
    with pytest.raises(ScheduleError, match="the pieces differ from those of the log of events"):
        tampered(schedule, task, start=5 * tick).validate()


@LOCALS
def test_validate_finds_tasks_that_delay_a_promise_while_a_sweep_is_withdrawn(local):
    schedule = shredded(WITHDRAWN, 3, local)
    task = np.flatnonzero(schedule.outcome.pieces.tasks)[-1]  # with this start the sweep is gone
    with pytest.raises(ScheduleError, match=r"at 1 s: tasks delay"):
        tampered(schedule, task, expected=4).validate()


@LOCALS
def test_validate_finds_tasks_that_start_before_a_job_that_could(local):
    # The last job comes at 9, to the processor that tasks leave idle at 8; one that had come at 3 could start at 4.
    schedule = shredded([*HOLE, Job(9, 1, 1, 1, 0)], 4, local)
    assert schedule.start.tolist() == [0, 0, 9]
    with pytest.raises(ScheduleError, match=r"at 4.0 s: a job waits that the local scheduler could start"):
        tampered(schedule, submit=(2, 3 * schedule.outcome.tick)).validate()


@LOCALS
def test_validate_finds_a_job_that_waits_though_a_withdrawal_made_room(local):
    # The last task of the sweep, at 1, withdraws its parallel job: the last job could start at 1.
    schedule = shredded(WITHDRAWN, 3, local)
    events = schedule.outcome.shared.events
    row = np.flatnonzero((events[:, 4] == 1) & (events[:, 0] == 2))[0]
    piece = 1  # of the parallel jobs the second
    later = tampered(schedule, piece, start=2, end=7, expected=7)
    later = tampered(later, start=(2, 2), gone=(2, 2), events=((row, 2), 2))
    with pytest.raises(ScheduleError, match=r"at 1 s: a job waits that the local scheduler could start"):
        later.validate()


@LOCALS
def test_validate_finds_a_job_that_the_local_scheduler_would_not_start(local):
    schedule = shredded([HOLE[0], HOLE[1]._replace(breakdown=1), Job(0, 2, 2, 1, 0)], 4, local)
    assert schedule.start[2] == 0
    longer = tampered(tampered(schedule, 2, expected=20), estimate=(2, 20))
    with pytest.raises(ScheduleError, match=r"at 0 s: a job starts that the local scheduler would not start"):
        longer.validate()


# --- Files and processors ---
def test_files_have_the_jobs_of_a_sweep_in_one_record(tmp_path):
    # Of four processors one is held until 3; the sweep's six tasks of a third of a second go around it.
    jobs = [Job(0, 3, 3, 1, 0), Job(0, 1, 1, 2, 3), Job(1, 2, 2, 4, 0)]
    schedule = sl.simulate(swept(jobs, 4), sl.OpportuneShredding()).validate()
    assert schedule.allocations() == ["0", "1-2", "0-3"]
    schedule.to_csv(tmp_path / "a.csv")
    table = pd.read_csv(tmp_path / "a.csv")
    assert table["allocated_resources"].tolist() == schedule.allocations()
    assert table["execution_time"].tolist() == (schedule.end - schedule.start).tolist()
    schedule.to_swf(tmp_path / "a.swf")
    again = sl.read_swf(tmp_path / "a.swf", lenient=True).table
    assert again["run_time"].tolist() == [3, 1, 2]
    assert "sweeps ran in pieces" in (tmp_path / "a.swf").read_text()


def test_sweeps_tell_what_their_tasks_held():
    # As in the case by hand: five of eight tasks of 2 s on the fourth processor, three in the parallel job.
    jobs = [Job(0, 10, 10, 3, 0), Job(0, 4, 4, 4, 2)]
    held = {"tasks": 5, "tasks_procs": 5, "tasks_area": 10, "shortest": 2, "longest": 2, "parallel_time": 2}
    for release in (False, True):  # then the parallel job has pieces of its own
        (row,) = sl.simulate(swept(jobs, 4), sl.OpportuneShredding(release=release)).sweeps().to_dict("records")
        assert row == {"procs": 4, "run_time": 4, "breakdown": 2, "tasks_alone": 5} | held
    (row,) = sl.simulate(swept(jobs[1:], 4), "ojs").sweeps().to_dict("records")
    assert (row["tasks"], row["tasks_area"], row["parallel_time"]) == (0, 0, 4)
    assert np.isnan(row["shortest"])
    with pytest.raises(ValueError, match="sweeps needs a scheme that runs the tasks of sweeps; EASY"):
        sl.simulate(swept(jobs, 4), "easy").sweeps()


def test_tasks_of_a_sweep_at_other_sites_are_told_with_it():
    # The home is full until 100; on the other site, twice as fast, all four tasks of 2 s run at once, in 1 s.
    home = ([Job(0, 100, 100, 2, 0), Job(0, 4, 4, 2, 2)], 2)
    first, second = simulated([home, ([Job(0, 100, 100, 1, 0)], 5)], sl.OpportuneShredding(), (1, 2)).validate()
    (row,) = first.sweeps().to_dict("records")
    assert (row["tasks"], row["tasks_procs"], row["tasks_area"]) == (4, 4, 4)
    assert (row["shortest"], row["longest"], row["parallel_time"]) == (1, 1, 0)
    assert second.sweeps().empty


# --- Fairness ---
@pytest.mark.parametrize("scheme", ["ojs", "flooding"])
def test_fair_starts_are_of_a_schedule_without_later_arrivals(scheme):
    trace = sl.model_trace("lublin", jobs=60, machine=16, seed=1).with_parameter_sweeps(0.3, min_procs=2, seed=1)
    schedule = sl.simulate(trace, scheme).validate()
    fair = sl.fair_starts(schedule)
    for count in range(1, 61, 7):
        part = trace.head(count)
        part = sl.simulate(part, scheme) if part.table["breakdown"].any() else sl.simulate(part, "easy")
        assert fair.iloc[count - 1] == part.start[-1]
    assert sl.fair_start_miss(schedule)["jobs"] == 60
    assert sl.fair_start_miss(schedule, "fcfs")["unfair"] < 1


def test_fair_starts_of_one_of_several_sites_are_refused():
    sites = sl.simulate_sites([swept([Job(0, 1, 1, 1, 1)], 1)] * 2)
    with pytest.raises(ValueError, match="fair starts by arrivals need a single site; a test is one of several"):
        sl.fair_starts(sites[1])


# --- What is refused ----------------------------------------------------------------------------------------
def test_a_trace_without_sweeps_is_refused():
    trace = trace_of([(0, 1, 1, 1)], 1)
    words = r"OJS needs sweeps, and a test has none: mark some with trace.with_parameter_sweeps\(\)"
    with pytest.raises(ValueError, match=words):
        sl.simulate(trace, "ojs")
    assert sl.simulate(trace.with_parameter_sweeps(), "ojs").validate().metrics()["jobs"] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"speeds": (1, 2)}, "speeds has 2 values, expected one for each of 1 sites"),
        ({"speeds": (0,)}, "speeds must be whole numbers of at least 1, relative to one another, got 0"),
        ({"speeds": (1.5,)}, "got 1.5"),
        ({"speeds": 1.5}, "got 1.5"),
        ({"machines": (1, 2)}, "machines has 2 values"),
        ({"machines": (sl.KaryTree(2, 2),)}, "sites must be machines without a topology"),
        ({"overrun": "never"}, "unknown overrun 'never'"),
    ],
)
def test_sites_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        sl.simulate_sites([swept([Job(0, 1, 1, 1, 1)], 1)], **settings)


def test_conventions_that_do_not_apply_are_refused():
    trace = swept([Job(0, 1, 1, 1, 1)], 1)
    for given_so, message in (
        ({"events": "each"}, "events are batched under OJS"),
        ({"machine": sl.KaryTree(2, 2)}, "OJS cannot run on"),
        ({"overrun": "kill-backfilled"}, "is for jobs on nodes, not for OJS"),
    ):
        with pytest.raises(ValueError, match=message):
            sl.simulate(trace, "ojs", **given_so)
    for scheme in (sl.Flooding, sl.OpportuneShredding):
        with pytest.raises(ValueError, match="unknown local 'fcfs'; known: easy, conservative"):
            scheme(local="fcfs")
    with pytest.raises(ValueError, match="unknown scheme 'ojs-sjf'; known: "):
        sl.simulate(trace, "ojs-sjf")
    with pytest.raises(TypeError, match="release is 1"):
        sl.OpportuneShredding(release=1)
    with pytest.raises(ValueError, match="traces is an empty list"):
        sl.simulate_sites([])


def test_more_tasks_than_can_each_have_a_reservation_are_refused():
    # Before, hours: 2 million processors, each with a thousand tasks.
    trace = trace_of([(0, 1000, 1000, 2_000_000)], 2_000_000).with_parameter_sweeps(1, min_procs=1, breakdown=1000)
    with pytest.raises(ValueError, match="gives each task a reservation, and cannot for 2,000,000,000 tasks"):
        sl.simulate(trace, sl.Flooding(local="conservative"))


def test_sites_say_which_instants_of_their_logs_are_one():
    header = ("; UnixStartTime: 0", "; TimeZoneString: UTC")
    a, b = (trace_of([(first, 8, 8, 8), (first + 9, 8, 8, 8)], 8) for first in (0, 86_400))
    a, b = (replace(log, header=swf.Header(header)).with_parameter_sweeps(1, min_procs=8) for log in (a, b))
    aligned, together = sl.simulate_sites([a, b]), sl.simulate_sites([a, b], begins=["1970-01-01"] * 2)
    assert [str(begin) for begin in aligned.begins] == ["1970-01-01 00:00:00+00:00", "1970-01-02 00:00:00+00:00"]
    note = "the clocks of the logs are aligned; one instant: 1970-01-01 00:00, 1970-01-02 00:00"
    assert aligned.notes == (note,)
    assert f"\n   {note}>" in repr(aligned)
    assert note in aligned._repr_html_()
    assert together.notes == ()
    assert len(set(together.begins)) == 1
    assert repr(together).endswith(": a test, a test>")
    days = sl.simulate_sites([a, b], begins=["1970-01-01", "1970-01-02"])
    assert days.begins == aligned.begins
    assert days.jobs["start_time"].equals(aligned.jobs["start_time"])
