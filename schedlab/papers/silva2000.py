"""Silva and Scherson: gang scheduling that runs other tasks of a PE where measurements at run time say it pays."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from schedlab import charts, gang
from schedlab._runtime.text import check_known
from schedlab.charts.gang import MEMBERSHIPS
from schedlab.charts.theme import WIDE, headed
from schedlab.experiment import remember, table_of
from schedlab.gang import Config, GangSchedule, Workload
from schedlab.schedule.statistics import over_seeds, ratio_over_seeds, ratios_of_means
from schedlab.show import interval

from .cards import Drawing, Paper, rebuilt
from .checks import Check
from .ledger import claimed, claims_of, exact, judged

TITLE = "Gang scheduling with runtime measurements (Silva and Scherson)"
PAPER = Paper(
    authors="F. A. B. da Silva and I. D. Scherson",
    title="Improving parallel job scheduling using runtime measurements",
    venue="JSSPP",
    year=2000,
    says=(
        "Measuring at run time what each task does, and running another task where one blocks, doubles the utilization "
        "of a gang-scheduled machine with I/O jobs and completes 1.5 times as many jobs."
    ),
    found=(
        ("Every mix with I/O jobs gains in utilization and throughput", "SIL-8"),
        ("With I/O jobs alone utilization less than doubles, unless bursts have a constant length", "SIL-2a"),
        ("Spin control lowers utilization a little; throughput does not gain, and falls with one job model", "SIL-6a"),
    ),
    words=(
        ("PE", "processing element: a processor with its own disk"),
        ("IO", "jobs that compute and use the disk by turns"),
        ("Msg", "jobs whose tasks send one another messages"),
        ("BSP", "jobs whose tasks meet at barriers (bulk-synchronous parallel)"),
        ("Emb", "jobs that only compute (embarrassingly parallel)"),
        ("IO/Msg", "a mix: each job that arrives is of one of these kinds"),
        ("KTH fit, CTC fit", "the model of arrivals, sizes and durations, fitted to the log of that machine"),
        (
            "without information",
            "gang scheduling: all tasks of a job run at once, a slice long; a PE whose task waits idles",
        ),
        ("with information", "where a task waits, the PE runs another of its tasks, chosen by what it was seen to do"),
        ("spin control", "a task that has waited in vain for a message a short while makes room, too"),
        ("constant bursts", "a reading: all computing and all disk accesses last equally long, not at random"),
        ("alternate selection", "a reading: without information, too, jobs of other rows fill columns that are empty"),
        ("uneven supersteps", "a reading: tasks reach a barrier at different times, not together"),
    ),
    defaults=(
        ("constant bursts", "bursts of random length"),
        ("alternate selection", "without information, empty columns stay empty"),
        ("uneven supersteps", "the tasks of a job reach a barrier together"),
        ("average over the last 5 slices", "the last slice alone"),
    ),
    others=(("Figures 1 and 2", "drawings: a task as a point of a fuzzy set, and a job with I/O"),),
    doi="10.1007/3-540-39997-6_2",
)
MIXES = ("IO", "IO/Msg", "IO/Msg/Emb", "IO/BSP", "IO/BSP/Emb", "Emb/Msg", "Emb/BSP")
COMPUTING = ("Emb/Msg", "Emb/BSP")  # the mixes without I/O
SPUN = ("IO/BSP", "IO/Msg")  # mixes under spin control, Figures 8 and 9
ADDED = ("IO/interactive", "Msg/interactive")  # to those of the paper
KINDS = {mix: tuple(mix.lower().split("/")) for mix in MIXES + ADDED}
MACHINES = (8, 16)
FITS = {"kth": "KTH fit", "ctc": "CTC fit"}
MODELS = {"kth": "Jann model (KTH fit, not Jann's numbers)", "ctc": "Jann model (CTC fit)"}
WITHOUT, WITH, SPIN = "without information", "with information", "with information and spin control"
TURNS = "round robin among ready tasks"
charts.register({WITHOUT: "#8C8C8C", WITH: "#0072B2", SPIN: "#D55E00", "CTC fit": "#735ED7", "KTH fit": "#CB337F"})
SCHEDULERS = {WITHOUT: "gang", WITH: "priority", SPIN: "spin-block", TURNS: "round-robin"}
DRAWN = (WITHOUT, WITH, SPIN)
COMPARED = {mix: DRAWN if mix in SPUN else DRAWN[:2] for mix in MIXES}
JOBS, UTILIZATION = "completed", "utilization"
WORDS = {UTILIZATION: "utilization", JOBS: "throughput"}
HORIZON = 50_000  # seconds
RUNS = {"quick": (8, 50), "now": (1, 1), "full": (20, 1)}  # seeds, and how many times as fast jobs come and go
SIDE = {"quick": (4, 200), "now": (1, 20), "full": (10, 20)}  # the same, for experiments outside the paper's figures
RATIO = ["ratio", "ratio_low", "ratio_high"]
SINGLE = ["ratio_range_low", "ratio_range_high"]  # of single seeds
CLOSE = 0.1  # ratios that differ from one another, or from 1, by no more than this are called close

# Names of columns in the figures' data, which the kept results have too.
KEPT_AS = {"turnaround": "response_time", "job_number": "job", "start_time": "begin", "end_time": "end"}

# Tables 1 to 6: mix and PEs; jobs and utilization with information, and without it.
TABLES = {
    1: ("IO", 8, (60, 0.84), (40, 0.42)),
    2: ("IO", 16, (55, 0.84), (36, 0.43)),
    3: ("IO/Msg", 8, (50, 0.82), (43, 0.63)),
    4: ("IO/Msg", 16, (53, 0.79), (40, 0.62)),
    5: ("IO/Msg/Emb", 8, (47, 0.83), (40, 0.72)),
    6: ("IO/Msg/Emb", 16, (61, 0.81), (51, 0.70)),
}
LABELLED = (
    "Jann's own tables were not available: CTC fit is his model fitted to the log of his machine and months; KTH fit "
    "is the same model fitted to another machine's log, not Jann's numbers."
)


# What is simulated -------------------------------------------------------------------------------------------


@remember(1024)
def workload(
    mix: str, pes: int, table: str, seed: int, faster: float = 1, sizes: str = "uniform", on_top: bool = False
) -> Workload:
    """Return the jobs of an experiment of 50,000 s, or the same jobs coming and going `faster` times as fast.

    What they do within a slice is the same, and so is the load: at 100 times as fast, a hundredth of the time has the
    same number of jobs. With `on_top`, the mean time at the disk is added to the durations of I/O jobs.
    """
    if not faster > 0:
        raise ValueError(f"faster must be greater than 0, got {faster}")
    whole = Workload(
        KINDS[check_known("mix", mix, KINDS)], pes=pes, horizon=HORIZON, table=table, sizes=sizes, seed=seed
    )
    if faster == 1 and not on_top:
        return whole
    jobs, config = whole.jobs_table, Config()
    jobs[["submit_time", "duration"]] /= faster
    if on_top:
        jobs.loc[jobs["kind"] == "io", "duration"] *= 1 + config.disk / config.compute
    return replace(whole, horizon=HORIZON / faster, jobs=jobs)


def configs(*names: str, **settings) -> dict[str, Config]:
    """Return the configurations of schedulers, by the paper's names for them."""
    return {name: Config(SCHEDULERS[check_known("scheduler", name, SCHEDULERS)], **settings) for name in names}


def run(mix, pes, table, seed, faster, scheduler, sizes="uniform", on_top=False, **settings) -> dict[str, float]:
    """Measure a simulation of a `workload`; turnaround is called response_time, as in the paper."""
    jobs, config = workload(mix, pes, table, seed, faster, sizes, on_top), Config(SCHEDULERS[scheduler], **settings)
    return {KEPT_AS.get(name, name): value for name, value in gang.simulate(jobs, config).metrics().items()}


def compare(mix, sample, words, progress=True, machines=MACHINES, tables=tuple(FITS), schedulers=(), **settings):
    """Simulate the same jobs of a mix under each scheduler (by default those that the paper compares on it).

    Returns
    -------
    DataFrame
        One row a run: mix, pes, fit, seed, scheduler, and the measures of `run`.
    """
    seeds, faster = sample
    runs, names = [], []
    for table, pes, seed, scheduler in product(tables, machines, range(seeds), schedulers or COMPARED[mix]):
        names.append({"mix": mix, "pes": pes, "fit": FITS[table], "seed": seed, "scheduler": scheduler})
        runs.append(dict(mix=mix, pes=pes, table=table, seed=seed, faster=faster, scheduler=scheduler, **settings))
    return table_of(run, runs, names, words=words, progress=progress)


def results(mix: str, size: str, progress: bool = True, machines: tuple[int, ...] = MACHINES) -> pd.DataFrame:
    """Return the runs behind the paper's tables and figures of a mix, as `compare` does."""
    tables = ("kth",) if size == "now" else tuple(FITS)  # beside a kept figure
    return compare(mix, RUNS[size], f"gangs, {mix}", progress, machines, tables)


def ratios(data: pd.DataFrame, new: str = WITH, old: str = WITHOUT) -> pd.DataFrame:
    """Compare two schedulers over the same seeds: a row for each mix, fit, machine and measure (of `WORDS`)."""
    rows = []
    for case, part in data.groupby(["mix", "fit", "pes"], sort=False):
        by = part.set_index(["scheduler", "seed"])[list(WORDS)]
        these, those = by.loc[new].align(by.loc[old])  # seed by seed
        single = (these / those).agg(["min", "max"])
        rows += [
            (*case, measure, *ratio_over_seeds(these[measure], those[measure]), *single[measure]) for measure in WORDS
        ]
    return pd.DataFrame(rows, columns=["mix", "fit", "pes", "measure", *RATIO, *SINGLE])


def _sample(size, runs=RUNS):
    """Say how many seeds are run for how long, and for a quick run how many the full size has."""
    seeds, faster = runs[size]
    text = f"{seeds} {'seed' if seeds == 1 else 'seeds'} of {HORIZON:,} s"
    if faster != 1:
        text += f", arrivals and durations compressed {faster} times"
    return text if size == "full" else f"{text} (quick; full size: {_sample('full', runs)})"


CASE = ("mix", "pes", "fit", "scheduler")
OF_RUNS = {"by": CASE, "measures": (JOBS, UTILIZATION), "again": "now"}


def _table(number):
    """Make the function that rebuilds one of the paper's tables."""
    mix, pes, *published = TABLES[number]

    def run(size, progress):
        data = results(mix, size, progress, (pes,) if size == "now" else MACHINES)
        return data[data["pes"] == pes]

    def draw(shown):
        (new, old), ratio = published, ratios(shown.data).set_index(["fit", "measure"])["ratio"]
        gains = {fit: ratio[fit, UTILIZATION] for fit in FITS.values()}
        return Drawing(
            f"{mix} on {pes} PEs: information multiplies utilization by {_between(gains.values())} (published: "
            f"{new[1] / old[1]:.2f})",
            f"Throughput is multiplied by {_between(ratio[fit, JOBS] for fit in FITS.values())} (published: "
            f"{new[0] / old[0]:.2f}). {_kinds(mix)} PEs: processors.",
            f"Completed jobs and utilization, as published and under two fits of the job model. "
            f"{_measured_on(shown.size)}",
            None,
            _beside_published(shown.data, *published),
        )

    about = f"Rebuild Table {number}: {mix} on {pes} PEs."
    return rebuilt(f"Table {number}", draw, (LABELLED,), name=f"table{number}", about=about, **OF_RUNS)(run)


def _between(values):
    low, high = min(values := list(values)), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def _measured_on(size):
    return f"Means of {_sample(size)}, 95 % intervals over the seeds; the paper has one run."


def _beside_published(data, new, old):
    """Tabulate both measures, as published and under each fit, a row each; schedulers and their ratio side by side."""
    rows = []
    measures = ((JOBS, "completed jobs", "{:.1f}"), (UTILIZATION, "utilization", "{:.3f}"))
    for (measure, label, form), with_, without in zip(measures, new, old, strict=True):
        published = {WITH: f"{with_:g}", WITHOUT: f"{without:g}", "ratio": f"{with_ / without:.2f}"}
        rows.append({"": f"{label}, published"} | published)
        for fit in FITS.values():
            part = data[data["fit"] == fit]
            means = over_seeds(part[["scheduler", "seed", measure]], "scheduler").drop(columns="seeds")
            row = {"": f"{label}, {fit}"} | {name: interval(*mean, form) for name, *mean in means.to_numpy()}
            rows.append(row | {"ratio": _written_ratios(part)[f"{WORDS[measure]}, ratio"]})
    named = dict.fromkeys([WITH, WITHOUT, *data["scheduler"]])
    return pd.DataFrame(rows, columns=["", *named, "ratio"]).fillna("-")


def _written_ratios(data):
    """Write down the ratios of one mix on one machine, with their intervals."""
    intervals = ratios(data).set_index("measure")[RATIO]
    return {f"{label}, ratio": interval(*intervals.loc[measure]) for measure, label in WORDS.items()}


table1, table2, table3, table4, table5, table6 = PAPERS_TABLES = tuple(map(_table, TABLES))


GAIN = "In the paper utilization gains most, since other tasks use the time that a task leaves."
SPUN_GAIN = "In the paper spin control raises throughput and lowers utilization a little, since tasks spin less."
CLOSE_GAIN = "In the paper all ratios are close to 1; the gain comes from idle slots that computing tasks fill."

RATIO_FIGURES = {  # mix; scheduler, compared with the next simpler one; what the paper says
    3: ("IO", WITH, "In the paper utilization doubles, and throughput grows by half."),
    4: ("IO/Msg", WITH, GAIN),
    5: ("IO/Msg/Emb", WITH, GAIN),
    6: ("IO/BSP", WITH, f"{GAIN} Barriers behave like messages."),
    7: ("IO/BSP/Emb", WITH, f"{GAIN} Barriers behave like messages."),
    8: ("IO/BSP", SPIN, SPUN_GAIN),
    9: ("IO/Msg", SPIN, SPUN_GAIN),
    10: ("Emb/Msg", WITH, CLOSE_GAIN),
    11: ("Emb/BSP", WITH, CLOSE_GAIN),
}
MEASURED = "measure and machine"
BROAD = 760  # pixels, for bars that have the page to themselves
SAID = {
    "IO": "compute and use the disk by turns",
    "Msg": "send messages",
    "BSP": "meet at barriers",
    "Emb": "only compute",
}


def _kinds(mix):
    """Say what the jobs of a mix do."""
    return f"Jobs: {'; '.join(f'{kind}: {SAID[kind]}' for kind in mix.split('/'))}."


def _ratio_figure(number):
    """Make the function that rebuilds one of the figures of ratios."""
    mix, new, in_the_paper = RATIO_FIGURES[number]
    old, what = (WITHOUT, "information") if new == WITH else (WITH, "spin control")

    def run(size, progress):
        return results(mix, size, progress, MACHINES[:1] if size == "now" else MACHINES)

    def draw(shown):
        data, rings = (
            None if runs is None else _by_machine(ratios(runs, new, old).dropna(subset="ratio"))
            for runs in (shown.data, shown.now)
        )
        published = _published(mix) if new == WITH else None
        options = {"published": published, "rings": rings, "range_label": "single runs, least to most"}
        chart = charts.ratios(data, x=MEASURED, y="ratio", color="fit", width=BROAD, **options)
        of = {measure: _between(data.loc[data["measure"] == measure, "ratio"]) for measure in WORDS}
        return Drawing(
            f"{mix}: {what} multiplies utilization by {of[UTILIZATION]}, throughput by {of[JOBS]}",
            f"{_by_fit(data)} {in_the_paper} {_kinds(mix)}",
            f"Of the same jobs under the scheduler {new}, over {old}. {_measured_on(shown.size)}",
            chart,
            printed="diamonds" if published is not None else "",
        )

    about = f"Rebuild Figure {number}: {mix}, {new} over {old}."
    return rebuilt(f"Figure {number}", draw, (LABELLED,), name=f"figure{number}", about=about, **OF_RUNS)(run)


def _by_fit(data):
    """Say by what throughput is multiplied under each fit of the job model."""
    means = data[data["measure"] == JOBS].groupby("fit", sort=False)["ratio"].mean()
    factors = " and ".join(f"{mean:.2f} with the {fit}" for fit, mean in means.items())
    return f"Throughput is multiplied by {factors} of the job model, on average over the machines."


def _by_machine(rows):
    """Name the groups of bars: each machine's utilization and throughput."""
    groups = [f"{WORDS[measure]}, {pes} PEs" for measure, pes in zip(rows["measure"], rows["pes"], strict=True)]
    return rows.assign(**{MEASURED: groups}).sort_values(["pes", "measure"], ascending=[True, False], kind="stable")


def _published(mix):
    """Return the ratios from the paper's tables of a mix; None if it has no table."""
    rows = [
        {"pes": pes, "measure": measure, "ratio": new[place] / old[place]}
        for name, pes, new, old in TABLES.values()
        if name == mix
        for place, measure in enumerate((JOBS, UTILIZATION))
    ]
    return _by_machine(pd.DataFrame(rows))[[MEASURED, "ratio"]] if rows else None


figure3, figure4, figure5, figure6, figure7, figure8, figure9, figure10, figure11 = PAPERS_FIGURES = tuple(
    map(_ratio_figure, RATIO_FIGURES)
)


# What explains them ------------------------------------------------------------------------------------------

SHOWN = {"mix": "IO/Msg", "pes": 8, "table": "kth", "seed": 1, "faster": 25}
PICTURED = (1_200.0, 1_201.0)


@remember(64)
def _logged(workload, config, begin, end) -> GangSchedule:
    return gang.simulate(workload, config, log=(begin, end))


def _slices(workload, settings, window, color="job", **size):
    """Draw some slices of the same jobs under schedulers by name."""
    schedules = {name[0].upper() + name[1:]: _logged(workload, config, *window) for name, config in settings.items()}
    return charts.stacked(
        [charts.slices(schedule, window, color, title=title, **size) for title, schedule in schedules.items()]
    )


def _draw_slices(runs):
    return Drawing(
        "With information, a PE whose task waits runs another one",
        "Tasks of one job share a row and run together. Without information a PE idles if the row has no task for "
        "it or its task waits for the disk. With information the PE runs another of its tasks, from any row, that "
        "is likely to compute or do I/O (outlined). Under spin control a task that waits for a message (faint) "
        "also makes room.",
        f"One second, five slices: {SHOWN['mix']}, {MODELS[SHOWN['table']]}, seed {SHOWN['seed']}, jobs coming and "
        f"going {SHOWN['faster']} times as fast.",
        _slices(workload(**SHOWN), configs(*DRAWN), PICTURED),
        ringed=False,
    )


@rebuilt("", _draw_slices, by=("scheduler", "order"), measures=("pe", "job", "rank", "begin", "end"))
def picture(size: str, progress: bool) -> pd.DataFrame:
    """Show what each PE does, slice by slice, without and with information, and under spin control."""
    jobs, settings = workload(**SHOWN), configs(*DRAWN)
    logs = [_logged(jobs, config, *PICTURED).log.assign(scheduler=name) for name, config in settings.items()]
    return pd.concat(logs).rename(columns=KEPT_AS).rename_axis("order").reset_index()


def _draw_time_spent(runs):
    shares = runs.data.melt(["mix", "pes", "fit", "scheduler"], var_name="what", value_name="share")
    shares["bar"] = shares["mix"] + ", " + shares["scheduler"]
    bars = [f"{mix}, {scheduler}" for mix, scheduler in product(MIXES, DRAWN)]
    shares = shares.sort_values("bar", key=lambda names: names.map(bars.index), kind="stable")
    how = {"column": "fit", "height": 12 * shares["bar"].nunique()}  # both machines are to fit on a screen
    panels = [
        charts.shares(shares[shares["pes"] == pes], "bar", title=f"Where the time of {pes} PEs goes", **how)
        for pes in MACHINES
    ]
    spun = runs.data[runs.data["mix"].isin(SPUN)].groupby("scheduler")["spinning"].mean()
    return Drawing(
        f"Spin control cuts spinning from {100 * spun[WITH]:.0f} to {100 * spun[SPIN]:.0f} % of the time",
        "Spinning and switching count as busy, as in the paper. Where tasks communicate, a part of the utilization is "
        "spinning, and this is the part that spin control reduces.",
        f"Means of {_sample(runs.size)}.",
        charts.stacked(panels),
    )


@rebuilt("", _draw_time_spent, (LABELLED,), again=None)
def time_spent(size: str, progress: bool) -> pd.DataFrame:
    """Show where the PEs' time goes under each scheduler."""
    data = pd.concat([results(mix, size, progress) for mix in MIXES])
    return data.groupby(["mix", "pes", "fit", "scheduler"], sort=False)[list(gang.DOES)].mean().reset_index()


FLOORS = (0.001, 0.0)


def _draw_memberships(runs):
    return Drawing(
        "Without a floor, a task's memberships vanish and it never changes its class",
        "A task sends and receives every 0.1 s until its partner has ended, and then only computes. With the floor, "
        "its memberships follow within a few slices, and the task is worth running locally. Without a floor (the "
        "formula as printed), its membership in computing has vanished long before, and nothing the task does can "
        "bring it back.",
        f"One task of {FOLLOWED:g} s among tasks of other jobs, on two PEs.",
        charts.memberships(runs.data, column="floor"),
        ringed=False,
    )


@rebuilt("", _draw_memberships, by=("floor", "order"), measures=("time", "f_io", "f_comm", "f_comp"))
def memberships(size: str, progress: bool) -> pd.DataFrame:
    """Show how a task's memberships and priority follow what it does, and that they need a floor."""
    tables = [memberships_of_a_task(floor=floor).assign(floor=f"floor {floor:g}") for floor in FLOORS]
    return pd.concat(tables).rename_axis("order").reset_index()


FOLLOWED = 20.0  # seconds, the duration of the task that is followed


@remember(64)
def memberships_of_a_task(kind: str = "msg", mean: float = 0.1, seed: int = 0, **settings) -> pd.DataFrame:
    """Follow one of a job's two tasks among tasks of other jobs; `mean` is that of its kind's bursts (seconds)."""
    rows = ((0.0, 2, kind, FOLLOWED), (0.0, 2, "emb", 6 * FOLLOWED), (0.0, 1, "io", 6 * FOLLOWED))
    jobs = Workload(pes=2, horizon=6 * FOLLOWED, seed=seed, jobs=rows)
    means = {"compute": mean, "gap": mean, "superstep": mean, "react": mean}
    return gang.simulate(jobs, Config("priority", **(means | settings)), watch=[(1, 0)]).memberships(1, 0)


# What the paper leaves open, and what is beyond it -----------------------------------------------------------

# What each reading changes, as arguments of `runs_as_read`.
READINGS = {
    "as in the figures": {},
    "with information: spin control, too": {"spun": True},
    "N = 2 communication statements": {"statements": 2},
    "N = 4": {"statements": 4},
    "N = 16": {"statements": 16},
    "constant bursts": {"bursts": "constant"},
    "uniform bursts": {"bursts": "uniform"},
    "I/O and communication in a slice: communication only": {"both": False},
    "no floor of memberships": {"floor": 0.0},
    "floor 0.02": {"floor": 0.02},
    "spinning is not busy": {"idle": ("idle", "spinning")},
    "spin control, spinning is not busy": {"spun": True, "idle": ("idle", "spinning")},
    "spin control, delta = 0": {"spun": True, "delta": 0.0},
    "CTC fit": {"table": "ctc"},
    "sizes: the largest of each range": {"sizes": "upper"},
    "sizes: as measured at KTH": {"sizes": "weighted"},
    "the row's task takes its PE back when its I/O is done": {"reclaim": True},
    "supersteps of a job's tasks differ by up to 10 %": {"imbalance": 0.1},
    "duration is what a task computes, without its I/O": {"on_top": True},
}
READ_ON = ("IO", "IO/Msg", "IO/BSP")


def against_first_reading(table: pd.DataFrame) -> pd.DataFrame:
    """Return each number of the readings, and by how much it differs from that of the first reading.

    Parameters
    ----------
    table : DataFrame
        Of `sensitivity`: one row for each mix and reading.

    Returns
    -------
    DataFrame
        One row for each mix, reading and measure: number (text, as in the table), change (%).
    """
    both = table["utilization"].str.split(", ", expand=True)
    columns = {"utilization without information": both[0], "utilization with information": both[1]}
    for label in WORDS.values():
        columns[f"{label} multiplied by"] = table[f"{label}, ratio"].str.partition(" ")[0]
    rows = table[["mix", "reading"]].assign(**columns)
    rows = rows.melt(["mix", "reading"], var_name="measure", value_name="number")
    numbers = rows["number"].astype(float)
    first = numbers.groupby([rows["mix"], rows["measure"]]).transform("first")
    return rows.assign(change=100 * (numbers / first - 1)).rename(columns={"change": "change (%)"})


def _draw_readings(runs):
    rows = against_first_reading(runs.data)
    first, ratio = runs.data["reading"].iloc[0], rows["measure"] == f"{WORDS[UTILIZATION]} multiplied by"
    ends = rows.loc[ratio, "number"].astype(float).agg(["min", "max"])
    chart = charts.changes(
        rows.assign(measure=rows["measure"].str.replace(" ", ", ", n=1)),  # heads in two lines
        "mix",
        "reading",
        "change (%)",
        panel="measure",
        written="number",
        title="What each reading changes",
        subtitle=f"colour: orange is more than {first} (first row), blue is less, none is the same",
        width=464,
    )
    return Drawing(
        f"Whatever the paper leaves open, information multiplies utilization by {ends['min']:.2f} to {ends['max']:.2f}",
        "Each row reads one thing differently that the paper does not say. If N > 1 communication statements are "
        "needed to count as communicating, a task that spins through a whole slice counts as computing, and is chosen "
        "to run, and spin, in other jobs' rows: utilization without work.",
        f"8 PEs, KTH fit. Means of {_sample(runs.size, SIDE)}.",
        chart,
        runs.data,
    )


@rebuilt("", _draw_readings, (LABELLED,), again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open, one reading at a time."""
    rows = []
    for mix, (reading, changed) in product(READ_ON, READINGS.items()):
        data = runs_as_read(mix, size, f"{reading}, {mix}", progress, **changed)
        means = data.groupby("scheduler")[UTILIZATION].mean()
        row = {"mix": mix, "reading": reading, "utilization": f"{means[WITHOUT]:.2f}, {means[WITH]:.2f}"}
        rows.append(row | _written_ratios(data))
    return pd.DataFrame(rows)


def runs_as_read(mix, size, words, progress, pes=8, table="kth", spun=False, idle=("idle",), **settings):
    """Run a mix as `compare` does; `spun` adds spin control to "with information", `idle` names what counts as idle."""
    schedulers = (WITHOUT, SPIN if spun else WITH)
    data = compare(mix, SIDE[size], words, progress, (pes,), (table,), schedulers, **settings)
    data[UTILIZATION] = 1 - data[list(idle)].sum(axis=1)
    return data.replace({"scheduler": {SPIN: WITH}})


SLICES = {"quick": (0.05, 0.2, 1.0), "now": (0.05, 0.2, 1.0), "full": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)}  # seconds


def _draw_slice_lengths(runs):
    means, chart = _utilization_lines(runs, "slice")
    plain = means[(means["scheduler"] == WITHOUT) & (means["mix"] == "IO")].sort_values("slice")
    first, last = plain.iloc[0], plain.iloc[-1]
    return Drawing(
        f"Without information, utilization falls from {100 * first[UTILIZATION]:.0f} to "
        f"{100 * last[UTILIZATION]:.0f} % as the slice grows from {first['slice']:g} ms to {last['slice'] / 1000:g} s "
        "(IO)",
        "With shorter slices the PE of a blocked task gets new work sooner, even without information, but more of "
        "the time goes into switching.",
        f"8 PEs, KTH fit, {_sample(runs.size, SIDE)}.",
        chart,
    )


@rebuilt("", _draw_slice_lengths, (LABELLED,), by=("mix", "slice", "scheduler"), measures=(UTILIZATION,), again="now")
def slice_lengths(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: other lengths of the slice."""
    parts = []
    for length, mix in product(SLICES[size], READ_ON):
        label = f"slice {length:g} s, {mix}"
        data = compare(mix, SIDE[size], label, progress, (8,), ("kth",), slice=length)
        parts.append(data.assign(slice=1000 * length))
    return pd.concat(parts, ignore_index=True)


SIZES = {"quick": (8, 32, 128), "now": (8, 32, 128), "full": (8, 16, 32, 64, 128, 256, 512, 1024)}
SCALED = {"quick": (1, 200), "now": (1, 20), "full": (3, 20)}


def _draw_machine_sizes(runs):
    means, chart = _utilization_lines(runs, "pes")
    gains = means.pivot_table(index="pes", columns=["scheduler", "mix"], values=UTILIZATION)
    ratio = gains[WITH] / gains[WITHOUT]
    few, many = ratio.iloc[0], ratio.iloc[-1]
    return Drawing(
        f"Information multiplies utilization by {_between(few)} on {few.name:,} PEs, by {_between(many)} on "
        f"{many.name:,}",
        "With more PEs jobs are wider, and beyond 256 PEs there are fewer jobs for each PE.",
        f"CTC fit; jobs of its size ranges up to the size of the machine arrive. {_sample(runs.size, SCALED)}.",
        chart,
    )


@rebuilt("", _draw_machine_sizes, (LABELLED,), by=("mix", "pes", "scheduler"), measures=(UTILIZATION,), again="now")
def machine_sizes(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: larger machines."""
    parts = [
        compare(mix, SCALED[size], f"machines, {mix}", progress, SIZES[size], ("ctc",)) for mix in ("IO", "IO/Msg")
    ]
    return pd.concat(parts, ignore_index=True)


def _utilization_lines(runs, x):
    by = ["mix", x, "scheduler"]
    means, rings = (
        None if data is None else over_seeds(data[[*by, "seed", UTILIZATION]], by) for data in (runs.data, runs.now)
    )
    return means, charts.lines(means, x, UTILIZATION, "scheduler", column="mix", rings=rings, log_x=x == "pes")


OPTIONS = {
    "as in the paper": {},
    "best fit": {"packing": "best-fit"},
    "buddies": {"packing": "buddy"},
    "slots unified": {"unify": True},
    "alternate scheduling": {"alternate": True},
    "both": {"unify": True, "alternate": True},
}


def _draw_options(runs):
    by_option = runs.data[runs.data["workload"] == "IO/Msg"].set_index("option")
    both, measured = (
        by_option.loc["both", f"{WITHOUT}: utilization"],
        by_option.loc["as in the paper", f"{WITH}: utilization"],
    )
    return Drawing(
        f"Unified slots and alternate scheduling together bring {both:.2f} utilization, runtime measurements alone "
        f"{measured:.2f}",
        "Later additions to gang scheduling recover what the scheduler without information loses to empty slots; only "
        "runtime measurements recover what it loses to blocked tasks.",
        f"16 PEs, KTH fit, means of {_sample(runs.size, SIDE)}.",
        None,
        runs.data,
    )


@rebuilt("", _draw_options, (LABELLED,), again=None)
def options(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: packings, unified slots, alternate scheduling; interactive jobs."""
    compared = [("IO/Msg", option, changed) for option, changed in OPTIONS.items()]
    compared += [(mix, new, {"spun": new == SPIN}) for mix in ADDED for new in (WITH, SPIN)]
    rows = []
    for mix, option, changed in compared:
        data = runs_as_read(mix, size, f"{mix}, {option}", progress, 16, **changed)
        row, means = {"workload": mix, "option": option}, data.groupby("scheduler")[[UTILIZATION, JOBS]].mean()
        for name in (WITHOUT, WITH):
            row |= {f"{name}: utilization": means.loc[name, UTILIZATION], f"{name}: jobs": means.loc[name, JOBS]}
        rows.append(row | _written_ratios(data))
    return pd.DataFrame(rows)


FIGURES = (
    *PAPERS_TABLES,
    *PAPERS_FIGURES,
    *(picture, time_spent, memberships, sensitivity, slice_lengths, machine_sizes, options),
)


# Live --------------------------------------------------------------------------------------------------------

LANES = 116  # pixels, so that both pictures fit on a screen
EMPTY = "empty: idle; faint: spinning; outlined: chosen locally"
LISTED = {"jobs": "jobs", JOBS: "completed", "turnaround": "mean response (min)"}
SHARES = (UTILIZATION, *gang.DOES)


def live(
    second: float = PICTURED[0],
    mix: str = SHOWN["mix"],
    scheduler: str = SPIN,
    pes: int = SHOWN["pes"],
    slice: float = 0.2,
    alpha: float = 2.0,
    beta: float = 0.3,
    delta: float = 0.0008,
    alternate: bool = False,
    bursts: str = "exponential",
    table: str = SHOWN["table"],
    seed: int = SHOWN["seed"],
    faster: float = SHOWN["faster"],
    color: str = "job",
) -> tuple:
    """Draw five slices of the same jobs without information and under another scheduler, with the measures of both.

    Parameters
    ----------
    second : float, seconds
        Start of the picture (s). The first of the five slices begins then.
    mix : str
        Mix of jobs. The kinds of jobs, as the paper names them.
    scheduler : {"with information", "with information and spin control", "round robin among ready tasks"}
        Scheduler. The picture compares it with the scheduler without information.
    pes : int
        PEs. The processing elements of the machine.
    slice : float, seconds
        Slice (s). The time between global switches from row to row.
    alpha : float
        Alpha: weight of I/O. In a task's priority, I/O counts alpha times as much as computing.
    beta : float
        Beta: least priority. A task of lower priority runs in its own row only.
    delta : float, seconds
        Delta: spin-control margin (s). A spinning task makes room only if more than this is left of the slice.
    alternate : bool
        Alternate selection. A job of another row also runs where all its columns are free.
    bursts : {"exponential", "constant", "uniform"}
        Lengths of bursts. How they are distributed around their means.
    table : {"kth", "ctc"}
        Model fitted to. The log that the model of jobs is fitted to.
    seed : int
        Seed. All random numbers depend on it.
    faster : float
        Time compression. At 25, jobs come and go 25 times as fast: 50,000 s take 2,000 s.
    color : {"job", "what"}
        Colour by. A colour for each job, or for each activity of a PE.
    """
    jobs = workload(mix, pes, table, seed, faster)
    changed = {"slice": slice, "alpha": alpha, "beta": beta, "delta": delta, "alternate": alternate, "bursts": bursts}
    settings = configs(WITHOUT, scheduler, **changed)
    if not second >= 0:
        raise ValueError(f"second must be at least 0, got {second}")
    if not 5 * slice <= jobs.horizon:
        raise ValueError(
            f"{jobs.horizon:g} s is too short for five slices of {slice:g} s; choose a shorter slice or a lower faster"
        )
    begin = slice * np.floor(min(second, jobs.horizon - 5 * slice) / slice + 1e-9)
    window = (begin, begin + 5 * slice)
    measures = pd.DataFrame({name: _logged(jobs, config, *window).metrics() for name, config in settings.items()}).T
    shares = (100 * measures[[*SHARES]]).add_suffix(" (%)")
    rows = measures[[*LISTED]].assign(turnaround=measures["turnaround"] / 60).rename(columns=LISTED).join(shares)
    rows = rows.rename_axis("scheduler").reset_index()
    caption = f"{jobs.horizon:,.0f} s, {MODELS[table]}, {mix}"
    used = " and ".join(f"{100 * measures.loc[name, UTILIZATION]:.0f} % {name}" for name in settings)
    chart = _slices(jobs, settings, window, color, subtitle="", height=LANES)
    return headed(chart, f"Utilization: {used}", WIDE, EMPTY), charts.table(rows, caption)


def _limits(mix, scheduler, slice, faster):
    """Say what the controls can do, as the limits of `widgets.live`."""
    limits = {"second": HORIZON / faster - 5 * slice}
    if not {"msg", "bsp"} & {*KINDS[mix]}:
        limits["delta"] = "no job of this mix communicates, so no task spins"
    elif scheduler != SPIN:
        limits["delta"] = "only spin control has it"
    if scheduler == TURNS:
        limits["alpha"] = limits["beta"] = "round robin knows no priorities"
    return limits


live.limits = _limits
live.groups = {
    "workload": ["mix", "pes", "bursts", "table", "seed", "faster"],
    "scheme": ["scheduler", "slice", "alpha", "beta", "delta", "alternate"],
    "view": ["second", "color"],
}


def live_memberships(
    floor: float = 0.001,
    kind: str = "msg",
    mean: float = 0.1,
    slice: float = 0.2,
    statements: int = 1,
    alpha: float = 2.0,
    seed: int = 0,
) -> tuple:
    """Draw memberships and priority of a task over time as it changes phase.

    Parameters
    ----------
    floor : float
        Floor of memberships. No membership falls below it, so none vanishes.
    kind : {"io", "msg", "bsp", "interactive", "emb"}
        Kind of job. The task does I/O, messages, barriers, interaction, or computing only.
    mean : float, seconds
        Mean burst of computing (s). The task computes this long on average before it does something else.
    slice : float, seconds
        Slice (s). The time between global switches from row to row.
    statements : int
        Statements that make it communicate. A slice with this many communication statements counts as communicating.
    alpha : float
        Alpha: weight of I/O. In the task's priority, I/O counts alpha times as much as computing.
    seed : int
        Seed. The lengths of bursts depend on it.
    """
    settings = {"floor": floor, "slice": slice, "statements": statements, "alpha": alpha}
    table = memberships_of_a_task(kind, mean, seed, **settings)
    means = table.loc[table["held"], list(MEMBERSHIPS)].mean().rename(MEMBERSHIPS).rename("mean")
    return charts.memberships(table), charts.table(means.rename_axis("membership").reset_index())


def _limits_of_memberships(kind):
    """Say which control has no effect, as the limits of `widgets.live`."""
    return {} if kind in ("msg", "bsp") else {"statements": "this task does not communicate"}


live_memberships.limits = _limits_of_memberships


# The ledger --------------------------------------------------------------------------------------------------

TABLED = "{:.0f} jobs, {:.0f} % with information; {:.0f} jobs, {:.0f} % without; ratios {:.2f}, {:.2f}"
PRINTED = {"SIL-5": "IO {:.0f} % (8 PEs), {:.0f} % (16 PEs); IO/Msg {:.0f}, {:.0f} %; IO/Msg/Emb {:.0f}, {:.0f} %"}
PRINTED |= {f"SIL-T{number}": TABLED for number in TABLES}
FORMS = {JOBS: ("jobs", "{:.1f} jobs", 1), UTILIZATION: (UTILIZATION, "{:.0f} %", 100)}  # and factors: percent
STEPS = (0.6, 0.913043, 0.993691, 0.999795)
CLAIMS = claims_of("silva2000")
SHARE, DOUBLES, ABOUT, A_LITTLE = (0.4, 0.6), (1.8, 2.2), (1 - CLOSE, 1 + CLOSE), (1 - CLOSE, 1)
AS_DRAWN, UNEVEN = "as in the figures", "uneven supersteps"
JUDGED = {  # what the paper leaves open and might change a verdict: settings of `compare`
    AS_DRAWN: {},
    "constant bursts": {"bursts": "constant"},
    "alternate selection": {"alternate": True},
    UNEVEN: {"imbalance": 0.1},
}
BURSTS = ("compute", "disk", "gap", "superstep")  # their means are settings of `gang.Config`
BESIDE = {  # also shown
    f"bursts {abs(change):.0%} {direction}": {name: (1 + change) * getattr(Config(), name) for name in BURSTS}
    for change, direction in ((-0.15, "shorter"), (0.15, "longer"))
}
SLICES_BACK = 5  # our choice: the paper's simpler scheduler averages over the last N slices, and it gives no N
READ = (20, 20)  # seeds, and how many times as fast jobs come and go, under the other readings
BARRIERS = ("SIL-4", "SIL-6", "SIL-7", "SIL-8", "SIL-9")  # claims on mixes that have supersteps
READ_SO = (
    "As in the figures: bursts of random length, no alternate selection, equal supersteps. The other readings change "
    f"one of these each (uneven supersteps differ by up to {JUDGED[UNEVEN]['imbalance']:.0%}), in {READ[0]} seeds "
    f"whose jobs come and go {READ[1]} times as fast."
)
CONJECTURES = {
    "SIL-2a": "with random bursts all tasks of a PE can wait for the disk at once.",
    "SIL-4b": "tasks that only compute fill empty slots, too.",
    "SIL-9": "only with Emb jobs is there nearly always a task that computes.",
    "SIL-6a": "tasks that make room rarely get their PE back within the slice, and those that wait for them spin.",
}


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims, both fits of the model in each row."""
    data = pd.concat([results(mix, size, progress) for mix in MIXES], ignore_index=True)
    checked, beside, rows = {AS_DRAWN: checks(data)}, {}, _exact()
    if size == "full":
        checked |= _as_read([*JUDGED.items()][1:], progress)
        beside = _as_read(BESIDE.items(), progress)
    trace, reasons = ", ".join(MODELS.values()), reasons_for(data)
    for name, main in checked[AS_DRAWN].items():
        several = [reading for reading in checked if reading != UNEVEN or name.startswith(BARRIERS)]
        readings = {reading: checked[reading][name] for reading in several}
        others = [
            replace(by_claim[name], quantity=f"{by_claim[name].quantity}, {label}")
            for label, by_claim in beside.items()
        ]
        about = {"why": reasons.get(name, ""), "conjecture": CONJECTURES.get(name, ""), "others": others}
        about |= {"details": f"{LABELLED} {READ_SO}", "measured": _as_printed(name, main) if name in PRINTED else None}
        rows.append(judged(CLAIMS[name], readings, trace, **about))
    rows.append(_by_turns(size, progress, trace))
    return sorted(rows, key=lambda row: [*CLAIMS].index(row["id"]))


def _as_read(readings, progress):
    """Return the checks of the claims under other settings, by reading."""
    runs = {
        reading: [compare(mix, READ, f"{reading}, {mix}", progress, **settings) for mix in MIXES]
        for reading, settings in readings
    }
    return {reading: checks(pd.concat(several, ignore_index=True)) for reading, several in runs.items()}


def _by_turns(size, progress, trace):
    """Judge whether choosing by priority is better than letting all ready tasks take turns.

    The paper says so of a simpler scheduler, which averages over the last slices: this is a reading, too.
    """

    def runs(sample, **settings):
        several = [compare(mix, sample, f"turns, {mix}", progress, **pair, **settings) for mix in MIXES]
        return pd.concat(several, ignore_index=True)

    pair, data = {"schedulers": (WITH, TURNS)}, {}
    data[AS_DRAWN] = runs(RUNS[size])
    if size == "full":
        simpler = {f"average over the last {SLICES_BACK} slices": {"window": SLICES_BACK}}
        data |= {reading: runs(READ, **changed) for reading, changed in (JUDGED | simpler).items() if changed}
    gains = {reading: _gains(part, WITH, TURNS) for reading, part in data.items()}
    comparison, higher = "of priority over round robin", {"expected": "higher", "bound": 1.0, "form": "{:.2f}"}
    readings = {name: Check(f"throughput {comparison}", _only(part, JOBS), **higher) for name, part in gains.items()}
    others = [Check(f"utilization {comparison}", _only(gains[AS_DRAWN], UTILIZATION), **higher)]
    spinning = 100 * data[AS_DRAWN].groupby("scheduler")["spinning"].mean()
    why = f"PEs spin {spinning[TURNS]:.0f} % of the time under round robin, and {spinning[WITH]:.0f} % by priority."
    return judged(CLAIMS["SIL-10"], readings, trace, others=others, why=why, details=f"{LABELLED} {READ_SO}")


def _exact():
    """Judge the claims that must come out exactly: the baseline of a spin, and the first memberships of a task."""
    baseline = gang.simulate(Workload(horizon=1)).baseline
    jobs = Workload(pes=1, horizon=1, jobs=((0.0, 1, "io", 1.0),))
    schedule = gang.simulate(jobs, Config(floor=0.0, bursts="constant", compute=0.05, disk=0.05), watch=[(1, 0)])
    memberships = tuple(schedule.memberships(1)["f_io"].round(6)[: len(STEPS)])
    text = "f_IO " + ", ".join(f"{value:g}" for value in memberships)
    return [
        exact(CLAIMS["SIL-0"], round(1e9 * baseline) == 55_000, f"{1e6 * baseline:g} us", why="The baseline differs."),
        exact(CLAIMS["SIL-1"], memberships == STEPS, text, why="The memberships differ."),
    ]


def checks(data: pd.DataFrame) -> dict[str, Check]:
    """Return the check of each claim from SIL-2a to SIL-9, by id, from the `results` of all mixes.

    Both fits of the model are cases of each check.
    """
    gains = _gains(data, WITH, WITHOUT)
    spun = _gains(data[data["mix"].isin(SPUN)], SPIN, WITH)
    io, computing = (gains[gains["mix"].isin(mixes)] for mixes in (["IO"], COMPUTING))
    shares = data.loc[data["mix"] == "IO", ["pes", "scheduler", "fit", "seed", "one_task_share"]]
    first = (("IO/Msg", "IO"), ("IO/BSP", "IO"))
    second = (("IO/Msg/Emb", "IO/Msg"), ("IO/BSP/Emb", "IO/BSP"))
    alike = (("IO/BSP", "IO/Msg"), ("IO/BSP/Emb", "IO/Msg/Emb"))
    less, ratio = "gain in utilization, of that of the other mix", "{:.2f}"
    printed = _printed(data, gains)
    of = {"expected": "is", "bound": "published", "form": "form", "single": True}
    overlaps = data.loc[(data["scheduler"] == WITH) & ~data["mix"].isin(COMPUTING)]
    overlaps = overlaps[["mix", "pes", "fit", "seed"]].assign(value=overlaps["io_overlap"])
    without = printed.loc[printed["of"] == f"utilization {WITHOUT}"].drop(columns=["of", "table"])
    checked = {
        "SIL-2a": Check("ratio of utilization", _only(io, UTILIZATION), "within", DOUBLES, form=ratio),
        "SIL-2b": _gains_less(io),
        "SIL-3": Check(
            "share of one-task jobs", shares.rename(columns={"one_task_share": "value"}), "within", SHARE, form=ratio
        ),
        "SIL-4a": Check(less, _compared(gains, first), "lower", 1.0, form=ratio, every=True),
        "SIL-4b": Check(less, _compared(gains, second), "lower", 1.0, form=ratio, every=True),
        "SIL-4c": Check(less, _compared(gains, alike), "within", ABOUT, form=ratio, every=True),
        "SIL-5": Check("utilization", without, **of),
        "SIL-6a": Check("ratio of throughput", _only(spun, JOBS), "higher", 1.0, form=ratio),
        "SIL-6b": Check("ratio of utilization", _only(spun, UTILIZATION), "within", A_LITTLE, form=ratio),
        "SIL-7a": Check("ratio", _long(computing), "within", ABOUT, form=ratio, every=True),
        "SIL-7b": _gains_less(computing),
        "SIL-8": Check("ratio", _long(gains[~gains["mix"].isin(COMPUTING)]), "higher", 1.0, form=ratio, every=True),
        "SIL-9": Check("share of I/O behind computing", overlaps, "not lower", 1 - CLOSE, form=ratio, every=True),
    }
    for number in TABLES:
        runs = printed.loc[printed["table"] == number, ["of", "fit", "seed", "value", "published", "form"]]
        checked[f"SIL-T{number}"] = Check(f"numbers of Table {number}", runs, **of)
    return checked


def _gains(data, new, old):
    """Return each seed's part of the ratios of both measures between two schedulers; the parts average to the ratios.

    One row for each mix, fit, machine and seed, with a column for each measure.
    """
    by = ["mix", "pes", "fit"]
    after, before = (data.loc[data["scheduler"] == name, [*by, "seed", *WORDS]] for name in (new, old))
    runs = after.merge(before, on=[*by, "seed"], suffixes=("", "_before"))
    runs = runs.assign(**{name: ratios_of_means(runs, name, f"{name}_before", by) for name in WORDS})
    return runs[[*by, "seed", *WORDS]]


def _only(gains, measure):
    """Return the runs of a check on the ratios of one measure."""
    return gains[["mix", "pes", "fit", "seed"]].assign(value=gains[measure])


def _long(gains):
    """Return the runs of a check on the ratios of both measures."""
    runs = gains.rename(columns=WORDS).melt(["mix", "pes", "fit", "seed"], [*WORDS.values()], "measure")
    return runs[["mix", "measure", "pes", "fit", "seed", "value"]]


def _gains_less(gains):
    """Check that throughput gains less than utilization, for each mix and machine."""
    runs = _only(gains.assign(less=gains[JOBS] - gains[UTILIZATION]), "less")
    return Check("ratio of throughput less that of utilization", runs, "lower", form="{:+.2f}")


def _compared(gains, pairs):
    """Compare the gains in utilization of mixes in pairs, on each machine."""
    by = ["pes", "fit"]
    runs = gains.pivot_table(UTILIZATION, [*by, "seed"], "mix", dropna=False, sort=False).reset_index()
    several = [
        runs[[*by, "seed"]].assign(mixes=f"{mix} over {other}", value=ratios_of_means(runs, mix, other, by))
        for mix, other in pairs
    ]
    return pd.concat(several, ignore_index=True)


def _printed(data, gains):
    """Return each number that the paper's tables print, in each run and as printed; in the order of `PRINTED`."""
    parts = []
    for number, (mix, pes, new, old) in TABLES.items():
        runs, factors = (table[(table["mix"] == mix) & (table["pes"] == pes)] for table in (data, gains))
        several = [(name, runs[runs["scheduler"] == name], numbers) for name, numbers in ((WITH, new), (WITHOUT, old))]
        several.append(("ratio", factors, np.divide(new, old)))
        for (name, table, numbers), (place, measure) in product(several, enumerate((JOBS, UTILIZATION))):
            label, form, scale = FORMS[measure] if name != "ratio" else (WORDS[measure], "{:.2f}", 1)
            about = {"table": number, "of": f"{label} {name}", "form": form, "published": scale * numbers[place]}
            parts.append(table[["mix", "pes", "fit", "seed"]].assign(value=scale * table[measure], **about))
    return pd.concat(parts, ignore_index=True)


def _as_printed(name, check):
    """Write down the means under each fit as the claim writes what is published."""
    means = {fit: check.cases.loc[check.cases["fit"] == fit, "value"] for fit in FITS.values()}
    return ". ".join(f"{fit}: {PRINTED[name].format(*values)}" for fit, values in means.items())


def reasons_for(data: pd.DataFrame) -> dict[str, str]:
    """Return the reasons found, by the claim's id; the numbers in them are those of the `results` of all mixes."""
    shares = data[data["mix"] == "IO"].pivot_table("one_task_share", ["fit", "pes"], "scheduler")
    by_fit, apart = shares.mean(axis="columns").groupby("fit").mean(), (shares[WITH] - shares[WITHOUT]).abs().max()
    idle = 100 * data[data["mix"].isin(COMPUTING)].pivot_table("idle", ["mix", "pes", "fit"], "scheduler")
    before, after = (f"{idle[name].min():.0f} to {idle[name].max():.0f} %" for name in (WITHOUT, WITH))
    reasons = {
        "SIL-3": f"The share is {_for_each_fit(by_fit, '{:.2f}')}; schedulers differ by {apart:.2f} at most.",
        "SIL-7a": (
            f"Without I/O a PE idles only if its row has no task for it: {before} of the time without information. "
            f"With information it then runs another task, and idles for {after}."
        ),
    }
    hidden = data[(data["scheduler"] == WITH) & ~data["mix"].isin(COMPUTING)].groupby("mix", sort=False)["io_overlap"]
    text = ", ".join(f"{share:.2f} ({mix})" for mix, share in hidden.mean().items())
    reasons["SIL-9"] = f"The share by mix: {text}."
    means = data[data["scheduler"] == WITHOUT].groupby(["mix", "pes", "fit"])[[JOBS, "jobs"]].mean()
    completed = 100 * means[JOBS] / means["jobs"]
    for number, (mix, pes, *_) in TABLES.items():
        text = _for_each_fit(completed.loc[mix, pes], "{:.0f} %")
        reasons[f"SIL-T{number}"] = f"Of the jobs submitted, those completed even without information are {text}."
    return reasons


def _for_each_fit(values, form):
    return " and ".join(f"{form.format(values[fit])} with the {fit}" for fit in FITS.values())
