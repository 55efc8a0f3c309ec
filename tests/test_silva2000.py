"""The paper on gang scheduling: figures from few jobs, the picture of the matrix, and verdicts."""

import pandas as pd
import pytest

import schedlab as sl
from schedlab import charts, experiment, gang, papers
from schedlab.papers import silva2000 as paper


@pytest.fixture
def small(monkeypatch):
    """Few seeds, whose jobs come and go so fast that a simulation takes milliseconds."""
    monkeypatch.setattr(paper, "RUNS", {"quick": (2, 1000), "full": (3, 1000)})
    monkeypatch.setattr(paper, "SIDE", {"quick": (2, 2000), "full": (3, 2000)})
    monkeypatch.setattr(paper, "SCALED", {"quick": (1, 5000), "full": (2, 5000)})
    monkeypatch.setattr(paper, "SIZES", {"quick": (8, 32), "full": (8, 16, 32)})
    experiment.forget()
    yield
    experiment.forget()


# What is simulated


def test_jobs_that_come_faster_are_the_same_jobs():
    whole, fast = (paper.workload("IO/Msg", 8, "kth", 3, faster) for faster in (1, 100))
    assert (whole.horizon, fast.horizon) == (50_000, 500)
    assert whole == gang.Workload(("io", "msg"), pes=8, horizon=50_000, table="kth", seed=3)
    one, other = whole.jobs_table, fast.jobs_table
    assert len(one) > 50
    assert other[["procs", "kind"]].equals(one[["procs", "kind"]])
    assert other["submit_time"].tolist() == pytest.approx((one["submit_time"] / 100).tolist())
    assert other["duration"].tolist() == pytest.approx((one["duration"] / 100).tolist())


def test_rows_are_those_of_the_simulations(small, shared_runs):
    data = paper.results("IO/Msg", "quick", progress=False)
    assert len(data) == 2 * 2 * 2 * 3
    for name, scheduler in paper.SCHEDULERS.items():
        jobs = paper.workload("IO/Msg", 16, "ctc", 1, 1000)
        schedule = gang.simulate(jobs, scheduler).validate()
        keys = {"pes": 16, "fit": "CTC fit", "seed": 1, "scheduler": name}
        (row,) = data[(data[list(keys)] == pd.Series(keys)).all(axis=1)].to_dict("records")
        assert row["completed"] == schedule.completed
        assert row["utilization"] == schedule.utilization


def test_the_same_jobs_for_all_schedulers(small, shared_runs):
    data = paper.results("IO/BSP", "quick", progress=False)
    wide = data.pivot_table(index=["pes", "fit", "seed"], columns="scheduler", values="jobs")
    for name in paper.SCHEDULERS:
        assert wide[name].equals(wide[paper.WITHOUT].rename(name))
    assert len(set(wide[paper.WITH])) > 2  # others for another seed


# The figures


@pytest.mark.parametrize("size", ["quick", "full"])
@pytest.mark.parametrize("function", paper.FIGURES, ids=lambda function: function.__name__)
def test_every_figure_is_drawn_from_few_jobs(small, shared_runs, function, size):
    figure = function(size, progress=False)
    assert figure.name == function.__name__.replace("_", "-")
    alone = function in (paper.picture, paper.memberships)
    assert ("full size:" in figure.caption) == (size == "quick" and not alone)
    assert len(figure.data)
    if figure.chart is not None:
        figure.chart.to_dict()
    else:
        assert len(figure.table)


def test_tables_1_to_6_and_figures_3_to_11_are_there():
    names = [function.__name__ for function in paper.FIGURES]
    assert names[:15] == [*(f"table{n}" for n in range(1, 7)), *(f"figure{n}" for n in range(3, 12))]


def test_full_size_is_the_papers_with_twenty_seeds():
    seeds, faster = paper.RUNS["full"]
    assert seeds >= 20
    assert (faster, paper.HORIZON) == (1, 50_000)


def test_a_table_has_published_numbers_beside_measured_ones(small, shared_runs):
    table = paper.table3("quick", progress=False).table.set_index("")
    sources = ("published", "KTH fit", "CTC fit")
    assert list(table.index) == [f"{words}, {one}" for words in ("completed jobs", "utilization") for one in sources]
    assert table.loc["completed jobs, published"].to_dict() == {
        "with information": "50",
        "without information": "43",
        "with information and spin control": "-",
        "ratio": "1.16",
    }
    data = paper.results("IO/Msg", "quick", progress=False)
    mine = data[(data["pes"] == 8) & (data["fit"] == "KTH fit")].groupby("scheduler")["completed"].mean()
    for name in paper.SCHEDULERS:
        assert table.loc["completed jobs, KTH fit", name].startswith(f"{mine[name]:.1f} [")
    ratio = mine["with information"] / mine["without information"]
    assert table.loc["completed jobs, KTH fit", "ratio"].startswith(f"{ratio:.2f} [")


def test_figures_have_both_fits_and_what_is_published(small, shared_runs):
    for function, printed in ((paper.figure4, 4), (paper.figure6, 0), (paper.figure9, 0)):
        spec = function("quick", progress=False).chart.to_dict()
        drawn = pd.DataFrame(spec["datasets"][spec["data"]["name"]])
        assert drawn["fit"].nunique() == 2
        assert drawn["fit"].isna().sum() == printed  # points of the paper's own tables
        assert drawn[paper.MEASURED].drop_duplicates().tolist() == [
            "utilization, 8 PEs",
            "throughput, 8 PEs",
            "utilization, 16 PEs",
            "throughput, 16 PEs",
        ]


def test_readings_change_what_they_say(small, shared_runs):
    plain, idle, spun = (
        paper.runs_as_read("IO/Msg", "quick", "", False, **paper.READINGS[name])
        for name in ("as in the figures", "spinning is not busy", "with information: spin control, too")
    )
    assert (idle["utilization"] < plain["utilization"]).all()
    assert idle["utilization"].tolist() == pytest.approx((plain["utilization"] - plain["spinning"]).tolist())
    assert (spun["scheduler"] == plain["scheduler"]).all()
    assert spun["spinning"].sum() < plain["spinning"].sum()


# The pictures


@pytest.fixture
def logged():
    jobs = paper.workload("IO/Msg", 8, "kth", 1, 500)
    return gang.simulate(jobs, "priority", log=(60.0, 61.0))


def test_the_picture_has_every_moment_of_every_pe(logged):
    chart = charts.slices(logged, (60.2, 60.8))
    pieces = chart.layer[0].data
    assert pieces["begin"].min() >= 60.2
    assert pieces["end"].max() <= 60.8
    ordered = pieces.sort_values(["pe", "begin"])
    for _, lane in ordered.groupby("pe"):
        assert (lane["begin"].to_numpy()[1:] >= lane["end"].to_numpy()[:-1] - 1e-9).all()
    log = logged.log
    inside = log.assign(begin=log["start_time"].clip(60.2, 60.8), end=log["end_time"].clip(60.2, 60.8))
    busy = inside[inside["job_number"] >= 0]
    lasts, shown = ((table["end"] - table["begin"]).groupby(table["pe"]).sum() for table in (busy, pieces))
    pixel = 0.6 / 720
    assert (abs(lasts - shown) <= pixel * busy.groupby("pe").size()).all()
    assert chart.layer[1].data["words"].tolist() == [f"row {row + 1}" for row in inside_rows(log)]


def inside_rows(log):
    """Return the current rows of the slices from 60.2 to 60.8."""
    return [
        log.loc[(log["start_time"] >= at - 1e-9) & (log["end_time"] <= at + 0.2 + 1e-9), "row"].iloc[0]
        for at in (60.2, 60.4, 60.6)
    ]


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
        ({"window": 5}, "window is 5, expected two times in seconds"),
        ({"window": (60, 60.5, 61)}, r"window is \(60, 60.5, 61\), expected two times in seconds"),
        ({"window": ("a", "b")}, r"window is \('a', 'b'\), expected two times in seconds"),
    ],
)
def test_a_picture_that_cannot_be_drawn(logged, settings, message):
    with pytest.raises(ValueError, match=message):
        charts.slices(logged, **settings)
    with pytest.raises(TypeError, match="expected GangSchedule, got DataFrame"):
        charts.slices(logged.log)


@pytest.mark.parametrize("color", ["job", "what"])
def test_a_picture_of_a_machine_that_idles(color):
    jobs = gang.Workload(pes=2, horizon=2, jobs=((1.5, 1, "io", 1),))
    schedule = gang.simulate(jobs, log=(0, 2))
    spec = charts.slices(schedule, (0, 1), color).to_dict()
    assert [len(spec["datasets"][layer["data"]["name"]]) for layer in spec["layer"]] == [0, 5, 5]


def test_shares_make_up_a_whole(small, shared_runs):
    data = paper.time_spent("quick", progress=False).data
    assert data[list(gang.DOES)].sum(axis=1).tolist() == pytest.approx([1.0] * len(data))


def test_a_change_of_phase_is_seen_with_a_floor_only():
    floored, free = (paper.memberships_of_a_task(floor=floor) for floor in paper.FLOORS)
    assert free["f_comp"].iloc[-1] == 0
    assert free["priority"].iloc[-1] < 0.3
    assert floored["f_comp"].iloc[-1] > 0.99
    changed = floored["f_comm"].to_numpy() < 0.5
    assert 0 < changed[2:].sum() < 100  # it communicates nearly all along


def test_a_chart_of_memberships_has_the_slices_in_which_the_task_held_its_pe():
    table = paper.memberships_of_a_task()
    held = table[table["held"]]
    assert 0 < len(held) < len(table)
    for chart in (charts.memberships(table), charts.memberships(table.assign(floor="some"), column="floor")):
        spec = chart.to_dict()
        (drawn,) = [pd.DataFrame(rows) for rows in spec["datasets"].values()]
        assert set(drawn["of"]) == {"I/O", "communicating", "computing", "priority"}
        shown = drawn[drawn["of"] == "priority"]
        assert shown["time (s)"].tolist() == held["time"].tolist()
        assert shown["membership"].tolist() == held["priority"].tolist()
    with pytest.raises(ValueError, match="held"):
        charts.memberships(table.drop(columns="held"))


# Live


def test_live_figures(small, shared_runs):
    chart, table = paper.live(faster=200, second=100.0)
    assert chart.to_dict()
    assert "with information and spin control" in table.to_html()
    later, same = paper.live(faster=200, second=120.0)
    assert later.to_dict() != chart.to_dict()
    assert same.to_html() == table.to_html()
    beyond, _ = paper.live(faster=200, second=10_000.0)  # the last slices
    assert beyond.to_dict()
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
    assert limits("IO") == {"second": 249.0, "delta": spins, "scheduler": spins}
    tables = [paper.live(mix="IO", faster=200, second=0.0, delta=delta)[1].to_html() for delta in (0.0, 0.2)]
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
        ({"faster": -1}, "faster must be greater than 0, got -1"),
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


def test_the_ledger_has_every_target_for_both_fits(small, shared_runs):
    ledger = paper.claims("quick", progress=False)
    both = [f"SIL-{n}" for n in (*range(2, 9), *(f"T{n}" for n in range(1, 7)))]
    assert ledger["id"].tolist() == ["SIL-0", "SIL-1", *(name for name in both for _ in range(2))]
    assert ledger["verdict"].tolist()[:2] == ["reproduced", "reproduced"]
    assert ledger["measured"].tolist()[:2] == ["55 us", "f_IO 0.6, 0.913043, 0.993691, 0.999795"]
    assert set(ledger["trace"][2:]) == set(paper.MODELS.values())


def made(values, seeds=6, noise=0.01):
    """Make runs as the ledger takes them: for mix, PEs and scheduler the jobs and the utilization."""
    rows = []
    for mix in paper.MIXES:
        for pes in paper.MACHINES:
            for name in paper.SCHEDULERS:
                jobs, use = values(mix, pes, name)
                for seed in range(seeds):
                    shaken = 1 + noise * (seed - (seeds - 1) / 2)
                    rows.append(
                        {
                            "mix": mix,
                            "pes": pes,
                            "fit": "KTH fit",
                            "seed": seed,
                            "scheduler": name,
                            "completed": jobs * shaken,
                            "utilization": use * shaken,
                            "one_task_share": 0.5 * shaken,
                        }
                    )
    return pd.DataFrame(rows)


def as_published(mix, pes, name):
    """Return jobs and utilization as the paper has them, with barriers as with messages."""
    for words, machine, new, old in paper.TABLES.values():
        if (words, machine) == (mix.replace("BSP", "Msg"), pes) and mix.startswith("IO"):
            if name == paper.SPIN:
                return new[0] * 1.05, new[1] * 0.97
            return new if name == paper.WITH else old
    return (50, 0.9) if name == paper.WITHOUT else (51, 0.93)


def judged(values, **settings):
    return of(made(values, **settings))


def of(data):
    """Judge all claims on some runs, by their numbers."""
    checks = paper.checks(data)
    assert [*checks] == [*paper.CLAIMS][2:]  # the first two must come out exactly
    judged = {name: papers.judged(paper.CLAIMS[name], one, "a model") for name, one in checks.items()}
    return {name.removeprefix("SIL-"): row for name, row in judged.items()}


def test_what_the_paper_has_is_reproduced():
    assert {name: row["verdict"] for name, row in judged(as_published).items()} == dict.fromkeys(
        [*map(str, range(2, 9)), *(f"T{n}" for n in range(1, 7))], "reproduced"
    )


def changed(mixes, name, jobs=1.0, use=1.0):
    """Return the published runs, some changed."""

    def values(mix, pes, scheduler):
        one, other = as_published(mix, pes, scheduler)
        return (one * jobs, other * use) if mix in mixes and scheduler == name else (one, other)

    return values


@pytest.mark.parametrize(
    ("values", "fails"),
    [
        (changed(["IO"], paper.WITH, use=0.7), {"2", "T1", "T2"}),
        (changed(["IO"], paper.WITH, jobs=1.5), {"2", "T1", "T2"}),
        (changed(["IO/BSP"], paper.WITH, use=0.5), {"4", "6", "8"}),
        (changed(["IO/Msg"], paper.WITHOUT, use=0.8), {"5", "4", "T3", "T4"}),
        (changed(["IO/Msg"], paper.SPIN, jobs=0.9), {"6"}),
        (changed(["Emb/BSP"], paper.WITH, use=1.3), {"7"}),
        (changed(["IO/BSP/Emb"], paper.WITH, jobs=0.7), {"8"}),
    ],
)
def test_what_differs_is_not_reproduced_and_says_where(values, fails):
    rows = judged(values)
    assert {name for name, row in rows.items() if row["verdict"] != "reproduced"} == fails
    for name in fails:
        assert rows[name]["reason"].startswith("Holds in ")


def test_published_ratios_are_asked_for_by_one_rule_everywhere():
    rows = judged(changed(["IO"], paper.WITH, use=0.825))  # 1.65 beside 2.00
    assert [case["holds"] for case in rows["2"]["cases"] if "utilization, ratio" in case["quantity"]] == ["no", "no"]
    (ratio,) = [case["holds"] for case in rows["T1"]["cases"] if case["quantity"] == "utilization, ratio"]
    assert ratio == "no"


def test_a_share_of_one_task_jobs_far_from_half_is_not_reproduced():
    data = made(as_published).assign(one_task_share=lambda table: 0.3 * (1 + 0.001 * table["seed"]))
    row = of(data)["3"]
    assert row["verdict"] == "not reproduced"
    assert row["reason"] == "Holds in 0 of 6 cases."


def test_what_the_seeds_leave_open_is_not_decided():
    wide = judged(as_published, noise=0.4, seeds=3)
    assert wide["3"]["verdict"] == "not testable"
    assert wide["3"]["reason"].endswith("cases are open: their intervals do not decide them.")


def test_gains_are_compared_seed_by_seed():
    data = made(as_published)
    luck = data["seed"].map(dict(enumerate([0.9, 1.1, 1, 1.05, 0.95, 1])))
    lucky = data["scheduler"] == paper.WITH
    data.loc[lucky, "utilization"] *= luck  # of all mixes alike, hence of no comparison
    case = paper.checks(data)["SIL-4"][0].cases.iloc[0]
    assert case["high"] - case["low"] < 0.001
    data.loc[lucky & (data["mix"] == "IO/Msg"), "utilization"] *= luck
    case = paper.checks(data)["SIL-4"][0].cases.iloc[0]
    mean = data[data["pes"] == 8].groupby(["mix", "scheduler"])["utilization"].mean()
    gains = [mean[mix, paper.WITH] / mean[mix, paper.WITHOUT] for mix in ("IO/Msg", "IO")]
    assert case["value"] == pytest.approx(gains[0] / gains[1])
    assert 0.05 < case["high"] - case["low"] < 0.4


def test_a_mix_without_a_gain_is_no_case():
    def values(mix, pes, name):
        return (0, 0) if mix == "IO" and name == paper.WITHOUT else as_published(mix, pes, name)

    cases = pd.concat([check.cases for check in paper.checks(made(values))["SIL-4"]])
    assert "IO/Msg over IO" not in set(cases["mixes"])
    assert "IO/Msg/Emb over IO/Msg" in set(cases["mixes"])


def test_all_that_chance_moves_has_an_interval():
    for name, checks in paper.checks(made(as_published)).items():
        for check in checks:
            assert check.cases[["low", "high"]].notna().all(axis=None), (name, check.quantity)


def test_the_room_is_the_users_too():
    assert sl.gang is gang


def test_claims_say_the_numbers_of_the_code():
    near = f"within {100 * paper.CLOSE:g} % of the published figure"
    for number, (mix, pes, new, old) in paper.TABLES.items():
        claim = paper.CLAIMS[f"SIL-T{number}"]
        means = f"{new[0]}, {new[1]:.0%}; {old[0]}, {old[1]:.0%}"
        assert claim.statement.startswith(f"{mix}, {pes} PEs: ")
        assert claim.published == f"{means}; {new[0] / old[0]:.2f}, {new[1] / old[1]:.2f}"
        assert claim.tolerance == paper.CLAIMS["SIL-5"].tolerance == near
    assert paper.CLAIMS["SIL-1"].published == f"f_IO {', '.join(map(str, paper.STEPS))}"
    assert paper.CLAIMS["SIL-7"].tolerance == f"ratios from {1 - paper.CLOSE:g} to {1 + paper.CLOSE:g}"
