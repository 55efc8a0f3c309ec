"""The paper on gang scheduling: figures from few jobs, the picture of the matrix, and verdicts."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from replacing import rebuild, replaced

from schedlab import charts, gang, papers
from schedlab.papers import silva2000 as paper
from schedlab.papers.silva2000 import grids


@pytest.fixture
def small(monkeypatch, nothing_kept):
    """Few seeds, whose jobs come and go so fast that a simulation takes milliseconds."""
    few = {"RUNS": {"quick": (2, 1000), "full": (3, 1000)}, "SIDE": {"quick": (2, 2000), "full": (3, 2000)}}
    few |= {"SCALED": {"quick": (1, 5000), "full": (2, 5000)}, "SIZES": {"quick": (8, 32), "full": (8, 16, 32)}}
    replaced(monkeypatch, paper, READ=(2, 2000), **few)


# What is simulated


def test_jobs_that_come_faster_are_the_same_jobs():
    whole, fast = (paper.workload("IO/Msg", 8, "kth", 3, faster) for faster in (1, 100))
    assert (whole.horizon, fast.horizon) == (50_000, 500)
    assert whole == gang.Workload(("io", "msg"), pes=8, horizon=50_000, table="kth", seed=3)
    one, other = whole.jobs_table, fast.jobs_table
    assert len(one) > 50
    assert other[["procs", "kind"]].equals(one[["procs", "kind"]])
    for column in ("submit_time", "duration"):
        assert other[column].tolist() == pytest.approx((one[column] / 100).tolist())


def test_rows_are_those_of_the_simulations(small, shared_runs):
    data = grids.results("IO/Msg", "quick", progress=False)
    assert len(data) == 2 * 2 * 2 * 3
    for name in grids.DRAWN:
        jobs = paper.workload("IO/Msg", 16, "ctc", 1, 1000)
        schedule = gang.simulate(jobs, grids.SCHEDULERS[name]).validate()
        keys = {"pes": 16, "fit": "CTC fit", "seed": 1, "scheduler": name}
        (row,) = data[(data[list(keys)] == pd.Series(keys)).all(axis=1)].to_dict("records")
        assert row["completed"] == schedule.completed
        assert row["utilization"] == schedule.utilization


def test_the_same_jobs_for_all_schedulers(small, shared_runs):
    data = grids.results("IO/BSP", "quick", progress=False)
    wide = data.pivot_table(index=["pes", "fit", "seed"], columns="scheduler", values="jobs")
    assert wide[list(grids.DRAWN)].nunique(axis="columns").eq(1).all()
    assert len(set(wide[paper.WITH])) > 2  # others for another seed


# The figures


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_few_jobs(small, shared_runs, function, size):
    figure = rebuild(function, size)
    alone = function in (paper.picture, paper.memberships)
    assert ("full size:" in figure.sample) == (size == "quick" and not alone)


def test_full_size_is_the_papers_with_twenty_seeds():
    seeds, faster = grids.RUNS["full"]
    assert seeds >= 20
    assert (faster, grids.HORIZON) == (1, 50_000)


def test_a_table_has_published_numbers_beside_measured_ones(small, shared_runs):
    table = paper.table3("quick", progress=False).table.set_index("")
    sources = ("published", "KTH fit", "CTC fit")
    assert list(table.index) == [f"{words}, {one}" for words in ("completed jobs", "utilization") for one in sources]
    columns = ["with information", "without information", "with information and spin control", "ratio"]
    assert table.loc["completed jobs, published", columns].tolist() == ["50", "43", "-", "1.16"]
    data = grids.results("IO/Msg", "quick", progress=False)
    mine = data[(data["pes"] == 8) & (data["fit"] == "KTH fit")].groupby("scheduler")["completed"].mean()
    for name in grids.DRAWN:
        assert table.loc["completed jobs, KTH fit", name].startswith(f"{mine[name]:.1f} [")
    ratio = mine["with information"] / mine["without information"]
    assert table.loc["completed jobs, KTH fit", "ratio"].startswith(f"{ratio:.2f} [")


def test_figures_have_both_fits_and_what_is_published(small, shared_runs):
    for function, printed in ((paper.figure4, 4), (paper.figure6, 0), (paper.figure9, 0)):
        spec = function("quick", progress=False).chart.to_dict()
        drawn = pd.DataFrame(spec["datasets"][spec["data"]["name"]])
        assert drawn["fit"].nunique() == 2
        assert drawn["fit"].isna().sum() == printed  # points of the paper's own tables
        measures = [f"{measure}, {pes} PEs" for pes in (8, 16) for measure in ("utilization", "throughput")]
        assert drawn[paper.figures.MEASURED].drop_duplicates().tolist() == measures


def test_a_single_run_lies_in_the_range_of_the_kept_ones_around_the_mean():
    kept = paper.figure3.as_kept().data
    rows = grids.ratios(kept)
    ends = rows[["ratio_range_low", "ratio", "ratio_range_high"]].to_numpy()
    assert (np.diff(ends, axis=1) > 0).all()
    for seed in range(3):
        single = grids.ratios(kept[kept["seed"] == seed])["ratio"]
        assert single.between(rows["ratio_range_low"], rows["ratio_range_high"]).all()


def test_readings_change_what_they_say(small, shared_runs):
    plain, idle, spun = (
        paper.beyond.runs_as_read("IO/Msg", "quick", "", False, **paper.beyond.READINGS[name])
        for name in ("as in the figures", "spinning is not busy", "with information: spin control, too")
    )
    assert (idle["utilization"] < plain["utilization"]).all()
    assert idle["utilization"].tolist() == pytest.approx((plain["utilization"] - plain["spinning"]).tolist())
    assert (spun["scheduler"] == plain["scheduler"]).all()
    assert spun["spinning"].sum() < plain["spinning"].sum()


def test_the_matrix_of_readings_has_the_numbers_of_the_kept_table():
    card = paper.sensitivity.as_kept()
    (cells,) = card.chart.to_dict()["datasets"].values()
    assert len(cells) == 4 * len(card.data)
    written = {(cell["measure"].replace(", ", " "), cell["mix"], cell["reading"]): cell for cell in cells}
    for row in card.data.to_dict("records"):
        place = row["mix"], row["reading"]
        both = [written[f"utilization {name}", *place]["text"] for name in (grids.WITHOUT, paper.WITH)]
        assert ", ".join(both) == row["utilization"]
        for words in ("utilization", "throughput"):
            cell = written[f"{words} multiplied by", *place]
            assert row[f"{words}, ratio"].startswith(f"{cell['text']} [")
            assert (cell["share"] == 0) == (abs(cell["value"]) < 0.5)
            assert place[1] != "as in the figures" or cell["value"] == 0


# The pictures


@pytest.fixture
def logged():
    jobs = paper.workload("IO/Msg", 8, "kth", 1, 500)
    return gang.simulate(jobs, "priority", log=(60.0, 61.0))


def test_the_picture_has_every_moment_of_every_pe(logged):
    chart = charts.slices(logged, (60.2, 60.8))
    pieces = chart.layer[0].data.sort_values(["pe", "begin"])
    assert pieces["begin"].min() >= 60.2
    assert pieces["end"].max() <= 60.8
    for _, lane in pieces.groupby("pe"):
        assert (lane["begin"].to_numpy()[1:] >= lane["end"].to_numpy()[:-1] - 1e-9).all()
    log = logged.log.assign(
        begin=logged.log["start_time"].clip(60.2, 60.8), end=logged.log["end_time"].clip(60.2, 60.8)
    )
    busy = log[log["job_number"] >= 0]
    lasts, shown = ((table["end"] - table["begin"]).groupby(table["pe"]).sum() for table in (busy, pieces))
    pixel = 0.6 / 720
    assert (abs(lasts - shown) <= pixel * busy.groupby("pe").size()).all()
    begin, end = log["start_time"] + 1e-9, log["end_time"] - 1e-9
    slices = [log[(begin >= at) & (end <= at + 0.2)] for at in (60.2, 60.4, 60.6)]
    assert chart.layer[1].data["words"].tolist() == [f"row {each['row'].iloc[0] + 1}" for each in slices]


def test_pictures_of_the_same_jobs_colour_them_alike(logged):
    """Whatever the schedulers that are drawn, and whatever job each begins with: colours are given by job number."""
    chart = charts.slices(logged).layer[0]
    assert chart.encoding.color.to_dict()["sort"] == {"field": "number", "op": "min"}
    assert [f"{number} " for number in chart.data["number"]] == [job.partition("(")[0] for job in chart.data["job"]]


def test_the_picture_tells_tasks_of_the_row_from_those_chosen_locally(logged):
    log = logged.log
    shown = charts.slices(logged).layer[0].data
    assert set(shown["chosen"]) == {"in its own row", "chosen locally"}
    for piece in shown.itertuples():
        middle = (piece.begin + piece.end) / 2
        (at,) = log[(log["pe"] == piece.pe) & (log["start_time"] <= middle) & (log["end_time"] > middle)].itertuples()
        assert piece.job == f"{at.job_number} ({logged.jobs['kind'][at.job_number]})"
        assert (piece.chosen == "in its own row") == at.gang
    reference = gang.simulate(logged.workload, "gang", log=(60.0, 61.0))
    assert set(charts.slices(reference).layer[0].data["chosen"]) == {"in its own row"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"color": "mood"}, "unknown color 'mood'; known: job, what"),
        ({"window": (61, 60)}, "the window must begin before it ends, got 61 to 60"),
        ({"window": (60.9, 61.1)}, "the window, 60.9 to 61.1 s, must lie in what was logged, 60 to 61 s"),
        ({"window": (0, 1)}, "the window, 0 to 1 s, must lie in what was logged, 60 to 61 s"),
        *(({"window": window}, "window is .*, expected two times in seconds") for window in (5, (60, 60.5, 61), "ab")),
    ],
)
def test_a_picture_that_cannot_be_drawn(logged, settings, message):
    with pytest.raises(ValueError, match=message):
        charts.slices(logged, **settings)
    with pytest.raises(TypeError, match="expected GangSchedule, got DataFrame"):
        charts.slices(logged.log)


@pytest.mark.parametrize("color", ["job", "what"])
def test_a_picture_of_a_machine_that_idles(color):
    schedule = gang.simulate(gang.Workload(pes=2, horizon=2, jobs=((1.5, 1, "io", 1),)), log=(0, 2))
    spec = charts.slices(schedule, (0, 1), color).to_dict()
    assert [len(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"]] == [0, 5, 5]


def test_shares_make_up_a_whole(small, shared_runs):
    data = paper.time_spent("quick", progress=False).data
    assert data[list(gang.DOES)].sum(axis=1).tolist() == pytest.approx([1.0] * len(data))


def test_a_change_of_phase_is_seen_with_a_floor_only():
    floored, free = (paper.figures.memberships_of_a_task(floor=floor) for floor in paper.figures.FLOORS)
    assert free["f_comp"].iloc[-1] == 0
    assert free["priority"].iloc[-1] < 0.3
    assert floored["f_comp"].iloc[-1] > 0.99
    changed = floored["f_comm"].to_numpy() < 0.5
    assert 0 < changed[2:].sum() < 100  # it communicates nearly all along


def test_a_chart_of_memberships_has_the_slices_in_which_the_task_held_its_pe():
    table = paper.figures.memberships_of_a_task()
    held = table[table["held"]]
    assert 0 < len(held) < len(table)
    for chart in (charts.memberships(table), charts.memberships(table.assign(floor="some"), column="floor")):
        spec = chart.to_dict()
        (drawn,) = [pd.DataFrame(rows) for rows in spec["datasets"].values()]
        assert set(drawn["line"]) == {"I/O", "communicating", "computing", "priority"}
        shown = drawn[drawn["line"] == "priority"]
        assert shown["time (s)"].tolist() == held["time"].tolist()
        assert shown["membership"].tolist() == held["priority"].tolist()
    with pytest.raises(ValueError, match="held"):
        charts.memberships(table.drop(columns="held"))


# Live


def test_live_figures(small, shared_runs):
    # The last is beyond the end: the last slices.
    (chart, table), (later, same), (last, _) = (paper.live(faster=200, second=at) for at in (100.0, 120.0, 10_000.0))
    assert "with information and spin control" in table.to_html()
    rows = table.data.set_index("scheduler")
    assert rows[[f"{what} (%)" for what in gang.DOES]].sum(axis=1).tolist() == pytest.approx([100, 100])
    assert "mean response (min)" in rows
    assert chart.to_dict() != later.to_dict() != last.to_dict()
    assert same.to_html() == table.to_html()
    for kind in gang.KINDS:
        chart, table = paper.live_memberships(kind=kind)
        assert chart.to_dict()
        assert "priority" in table.to_html()


def test_controls_that_would_do_nothing_are_idle(small, shared_runs):
    def limits(mix="IO/Msg", scheduler=paper.SPIN, slice=0.2, faster=200):
        return paper.live.limits(mix, scheduler, slice, faster)

    assert limits() == {"second": 249.0}
    assert limits(scheduler=paper.WITH) == {"second": 249.0, "delta": "only spin control has it"}
    spins = "no job of this mix communicates, so no task spins"
    assert limits("IO") == {"second": 249.0, "delta": spins}
    turns = limits(scheduler=paper.TURNS)
    assert turns["alpha"] == turns["beta"] == "round robin knows no priorities"
    for idle, *values in (
        ({"scheduler": paper.TURNS}, {"alpha": 1.0, "beta": 0.0}, {"alpha": 4.0, "beta": 1.0}),
        ({"mix": "IO"}, {"delta": 0.0}, {"delta": 0.2}),
    ):
        tables = [paper.live(**idle, faster=200, second=0.0, **value)[1].to_html() for value in values]
        assert tables[0] == tables[1]
    for kind in gang.KINDS:
        tables = [paper.live_memberships(kind=kind, statements=count)[1].to_html() for count in (1, 8)]
        assert ("statements" in paper.live_memberships.limits(kind)) == (tables[0] == tables[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mix": "IO/Mpi"}, "unknown mix 'IO/Mpi'; known: IO, IO/Msg, .*, Msg/interactive"),
        ({"scheduler": "gang"}, "unknown scheduler 'gang'; known: without information, with information"),
        ({"faster": 0}, "faster must be greater than 0, got 0"),
        ({"faster": float("nan")}, "faster must be greater than 0, got nan"),
        ({"second": -5.0}, "second must be at least 0, got -5.0"),
        ({"faster": 100_000}, "0.5 s is too short for five slices of 0.2 s; choose a shorter slice or a lower faster"),
    ],
)
def test_a_live_figure_says_what_is_wrong(settings, message):
    with pytest.raises(ValueError, match=message):
        paper.live(**settings)


def test_the_disk_on_top_of_what_is_computed_doubles_io_jobs_only():
    plain = paper.workload("IO/Msg", 8, "kth", 1, 100)
    longer = paper.workload("IO/Msg", 8, "kth", 1, 100, on_top=True)
    factor = (longer.jobs_table["duration"] / plain.jobs_table["duration"]).groupby(plain.jobs_table["kind"]).unique()
    assert factor["io"].tolist() == [2]
    assert factor["msg"].tolist() == [1]


# The ledger


def test_the_ledger_has_every_claim_once_with_both_fits(small, shared_runs):
    ledger = paper.claims("full", progress=False).set_index("id")
    assert [*ledger.index] == [*paper.ledger.CLAIMS]
    exact = ledger.loc[["SIL-0", "SIL-1"]]
    assert exact["verdict"].tolist() == ["reproduced", "reproduced"]
    assert exact["measured"].tolist() == ["55 us", "f_IO 0.6, 0.913043, 0.993691, 0.999795"]
    assert set(ledger["trace"][2:]) == {", ".join(grids.MODELS.values())}
    for conditions in ledger["conditions"][2:]:
        told = [row["condition"] for row in conditions if row["condition"] != "all cases together"]
        assert sum("KTH fit" in each for each in told) == sum("CTC fit" in each for each in told) == len(told) / 2 > 0


def test_every_reading_stands_in_the_ledger_where_it_can_change_something(small, shared_runs):
    ledger = paper.claims("full", progress=False).set_index("id")

    def readings(name):
        return {condition["check"].rpartition(", ")[2] for condition in ledger.loc[name, "conditions"]}

    every = {*paper.ledger.JUDGED, *paper.ledger.BESIDE}
    assert readings("SIL-8") == every
    assert readings("SIL-T3") == readings("SIL-2a") == every - {paper.ledger.UNEVEN}
    average = f"average over the last {paper.ledger.SLICES_BACK} slices"
    assert readings("SIL-10") == {*paper.ledger.JUDGED, average, "utilization of priority over round robin"}
    # What is only shown beside does not vote.
    assert {name for name in every if name in ledger.loc["SIL-8", "readings"]} == {*paper.ledger.JUDGED}
    conditions = pd.DataFrame(paper.claims("quick", progress=False).set_index("id").loc["SIL-8", "conditions"])
    # A quick run has the reading of the figures.
    assert conditions["check"].str.endswith(f", {paper.ledger.AS_DRAWN}").all()


BOTH = tuple(grids.FITS.values())


def made(values, seeds=6, noise=0.01, fits=BOTH):
    """Make runs as the ledger takes them: for mix, PEs, scheduler and fit the jobs and the utilization."""
    rows = []
    for mix, pes, fit, (place, name) in product(paper.MIXES, grids.MACHINES, fits, enumerate(grids.DRAWN)):
        jobs, use = values(mix, pes, name, fit)
        for seed in range(seeds):
            shaken = 1 + noise * ((seed + place) % seeds - (seeds - 1) / 2)
            run = {"mix": mix, "pes": pes, "fit": fit, "seed": seed, "scheduler": name, "jobs": 100, "idle": 1 - use}
            measured = {grids.JOBS: jobs * shaken, grids.UTILIZATION: use * shaken, "one_task_share": 0.5 * shaken}
            rows.append(run | measured | {"io_overlap": min(0.95 * shaken, 1)})
    return pd.DataFrame(rows)


def as_published(mix, pes, name, fit=""):
    """Return jobs and utilization as the paper has them, with barriers as with messages."""
    for words, machine, new, old in grids.TABLES.values():
        if (words, machine) == (mix.replace("BSP", "Msg"), pes) and mix.startswith("IO"):
            if name == paper.SPIN:
                return new[0] * 1.05, new[1] * 0.97
            return new if name == paper.WITH else old
    return (50, 0.9) if name == grids.WITHOUT else (51, 0.94)


def of(data):
    """Judge all claims on some runs, by the ends of their ids."""
    checks = paper.ledger.checks(data)
    exactly, turns = {"SIL-0", "SIL-1"}, {"SIL-10"}  # of the others, which have other runs
    assert [*checks] == [name for name in paper.ledger.CLAIMS if name not in exactly | turns]
    judged = {name: papers.judged(paper.ledger.CLAIMS[name], one, "a model") for name, one in checks.items()}
    return {name.removeprefix("SIL-"): row for name, row in judged.items()}


def verdicts(values, **settings):
    return {name: row["verdict"] for name, row in of(made(values, **settings)).items()}


def changed(mixes, name, jobs=1.0, use=1.0, fits="KTH fit, CTC fit"):
    """Return the published runs, some changed."""

    def values(mix, pes, scheduler, fit):
        one, other = as_published(mix, pes, scheduler)
        return (one * jobs, other * use) if mix in mixes and scheduler == name and fit in fits else (one, other)

    return values


NOT, PART = "not reproduced", "in part"


@pytest.mark.parametrize(
    ("values", "different"),
    [
        (as_published, {}),
        (changed(["IO"], paper.WITH, use=0.7), {"2a": NOT, "2b": NOT, "T1": PART, "T2": PART}),
        (changed(["IO"], paper.WITH, use=0.7, fits="CTC fit"), {"2a": NOT, "2b": PART, "T1": PART, "T2": PART}),
        (changed(["IO"], paper.WITH, jobs=1.5), {"2b": NOT, "T1": PART, "T2": PART}),
        (changed(["IO/BSP"], paper.WITH, use=0.5), {"4b": NOT, "4c": NOT, "6b": NOT, "8": PART}),
        (changed(["IO/Msg"], grids.WITHOUT, use=0.6), {"4a": PART, "4c": NOT, "5": PART, "T3": PART, "T4": PART}),
        (changed(["IO/Msg"], paper.SPIN, jobs=0.9), {"6a": PART}),
        (changed(grids.SPUN, paper.SPIN, jobs=0.9), {"6a": NOT}),
        (changed(grids.SPUN, paper.SPIN, use=0.8), {"6b": NOT}),
        (changed(["Emb/BSP"], paper.WITH, use=1.15), {"7a": PART}),
        (changed(["Emb/BSP"], paper.WITH, use=1.3), {"7a": NOT}),  # on average too far from 1
        (changed(grids.COMPUTING, paper.WITH, jobs=1.3, use=1.3), {"7a": NOT}),
        (changed(grids.COMPUTING, paper.WITH, jobs=1.08), {"7b": NOT}),
        (changed(["IO/BSP/Emb"], paper.WITH, jobs=0.7), {"8": PART}),
    ],
)
def test_what_the_paper_has_is_reproduced_and_what_differs_is_not_and_says_where(values, different):
    rows = of(made(values, noise=0.001))
    assert {name: row["verdict"] for name, row in rows.items() if row["verdict"] != "reproduced"} == different
    for name in different:
        assert "contradict" in rows[name]["reason"]


def test_a_number_that_differs_says_by_what_factor():
    reason = of(made(changed(["IO"], paper.WITH, use=0.5, fits="CTC fit"), noise=0.001))["T1"]["reason"]
    assert "(utilization with information, CTC fit), 0.5 times the published 84 %" in reason
    assert "(utilization ratio, CTC fit), 0.5 times the published 2.00" in reason


@pytest.mark.parametrize(("mixes", "verdict"), [(["IO"], NOT), (paper.MIXES, NOT)])
def test_io_that_is_not_hidden_behind_computing_is_told(mixes, verdict):
    data = made(as_published, noise=0.001)
    data.loc[data["mix"].isin(mixes) & (data["scheduler"] == paper.WITH), "io_overlap"] -= 0.3
    assert of(data)["9"]["verdict"] == verdict
    assert f"{0.65:.2f} (IO)" in paper.ledger.reasons_for(data)["SIL-9"]
    data["io_overlap"] = data["io_overlap"].where(data["scheduler"] == paper.WITH, 0)  # the others do not count
    assert of(data)["9"]["verdict"] == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.1, "reproduced"), (1.0, "undecided"), (0.9, NOT)])
def test_priority_against_round_robin(monkeypatch, factor, verdict):
    def compare(mix, sample, words, progress, schedulers, **settings):
        runs = made(lambda mix, pes, name, fit: (50 * factor if name == paper.WITH else 50, 0.8), noise=0.001)
        names = {paper.WITH: paper.WITH, grids.WITHOUT: paper.TURNS}
        runs = runs[(runs["mix"] == mix) & runs["scheduler"].isin(names)]
        spinning = runs["scheduler"].map({paper.WITH: 0.1, grids.WITHOUT: 0.3})
        return runs.assign(scheduler=runs["scheduler"].map(names), spinning=spinning)

    replaced(monkeypatch, paper, compare=compare)
    row = paper.ledger._by_turns("full", False, "a model")
    assert row["verdict"] == verdict
    told = "PEs spin 30 % of the time under round robin, and 10 % by priority."
    assert (told in row["reason"]) == (verdict != "reproduced")
    checks = {condition["check"] for condition in row["conditions"]}
    readings = {check.rpartition(", ")[2] for check in checks if check.startswith("throughput")}
    assert readings == {*paper.ledger.JUDGED, f"average over the last {paper.ledger.SLICES_BACK} slices"}


def test_a_published_number_within_the_spread_of_single_runs_is_met():
    condition = paper.ledger.checks(made(as_published, noise=0.1))["SIL-T1"].conditions.iloc[0]
    spread = 60 * 0.1 * pd.Series(range(6)).std()
    assert condition["spread"] == pytest.approx(spread)
    assert condition["high"] - condition["value"] > spread * 2.57  # of a single run, jointly with eleven others
    off = changed(["IO"], paper.WITH, jobs=1.2)
    assert verdicts(off, noise=0.1)["T1"] == "reproduced"
    assert verdicts(off, noise=0.001)["T1"] == PART


def test_a_share_of_one_task_jobs_far_from_half_is_not_reproduced():
    data = made(as_published).assign(one_task_share=lambda table: 0.3 * (1 + 0.001 * table["seed"]))
    assert of(data)["3"]["verdict"] == NOT
    data.loc[data["fit"] == "CTC fit", "one_task_share"] += 0.2
    assert of(data)["3"]["verdict"] == PART


def test_what_the_seeds_leave_open_is_not_decided():
    wide = of(made(as_published, noise=0.4, seeds=3))
    assert wide["3"]["verdict"] == "undecided"
    assert wide["3"]["reason"] == "The intervals of all 12 cases allow both."


def test_gains_are_compared_seed_by_seed():
    data = made(as_published, noise=0.0, fits=("KTH fit",))
    luck = data["seed"].map(dict(enumerate([0.9, 1.1, 1, 1.05, 0.95, 1])))
    lucky = data["scheduler"] == paper.WITH
    data.loc[lucky, "utilization"] *= luck  # of all mixes alike, hence of no comparison
    condition = paper.ledger.checks(data)["SIL-4a"].conditions.iloc[0]
    assert condition["high"] - condition["low"] < 0.001
    data.loc[lucky & (data["mix"] == "IO/Msg"), "utilization"] *= luck
    condition = paper.ledger.checks(data)["SIL-4a"].conditions.iloc[0]
    mean = data[data["pes"] == 8].groupby(["mix", "scheduler"])["utilization"].mean()
    gains = [mean[mix, paper.WITH] / mean[mix, grids.WITHOUT] for mix in ("IO/Msg", "IO")]
    assert condition["value"] == pytest.approx(gains[0] / gains[1])
    assert 0.05 < condition["high"] - condition["low"] < 0.4


def test_a_mix_without_a_gain_is_no_condition():
    def values(mix, pes, name, fit):
        return (0, 0) if mix == "IO" and name == grids.WITHOUT else as_published(mix, pes, name)

    assert paper.ledger.checks(made(values))["SIL-4a"].conditions.empty
    checks = paper.ledger.checks(made(as_published))
    assert len(checks["SIL-4a"].conditions) == 8
    for check in checks.values():  # all that chance moves has an interval
        assert check.conditions[["low", "high"]].notna().all(axis=None), check.quantity


def test_reasons_have_the_numbers_of_the_runs():
    data = made(as_published, noise=0.0)
    data.loc[data["fit"] == "CTC fit", "one_task_share"] = 0.25
    data.loc[(data["fit"] == "CTC fit") & (data["scheduler"] == paper.WITH), "one_task_share"] = 0.29
    data.loc[data["fit"] == "CTC fit", "jobs"] = 50
    reasons = paper.ledger.reasons_for(data)
    assert set(reasons) <= {*paper.ledger.CLAIMS}
    assert reasons["SIL-9"].startswith("The share by mix: 0.95 (IO), 0.95 (IO/Msg), 0.95 (IO/Msg/Emb), ")
    assert reasons["SIL-3"] == (
        "The share is 0.50 with the KTH fit and 0.26 with the CTC fit; schedulers differ by 0.04 at most."
    )
    assert "10 to 10 % of the time without information." in reasons["SIL-7a"]
    assert reasons["SIL-7a"].endswith("and idles for 6 to 6 %.")
    assert reasons["SIL-T2"].endswith("without information are 36 % with the KTH fit and 72 % with the CTC fit.")


def test_claims_say_the_numbers_of_the_code():
    for number, (mix, pes, *_) in grids.TABLES.items():
        claim = paper.ledger.CLAIMS[f"SIL-T{number}"]
        assert claim.statement.startswith(f"{mix}, {pes} PEs: ")
        assert not claim.tolerance
    assert paper.ledger.CLAIMS["SIL-1"].published.endswith(f"f_IO {', '.join(map(str, paper.ledger.STEPS))}")
    met = {name.removeprefix("SIL-"): claim.tolerance for name, claim in paper.ledger.CLAIMS.items() if claim.tolerance}
    assert met == {
        "2a": "a ratio from {} to {}".format(*paper.ledger.DOUBLES),
        "3": "a share from {} to {}".format(*paper.ledger.SHARE),
        "4c": f"within {100 * paper.ledger.CLOSE:g} % of the ratio with Msg",
        "6b": "ratios from {} to {}".format(*paper.ledger.A_LITTLE),
        "7a": "ratios from {} to {}".format(*paper.ledger.ABOUT),
        "9": f"almost entirely is a share of at least {1 - paper.ledger.CLOSE:g}",
    }


def test_measured_numbers_are_written_as_the_published_ones():
    checks = paper.ledger.checks(made(as_published, noise=0.001))
    for name in paper.ledger.PRINTED:
        published = paper.ledger.CLAIMS[name].published
        assert paper.ledger._as_printed(name, checks[name]) == f"KTH fit: {published}. CTC fit: {published}"
