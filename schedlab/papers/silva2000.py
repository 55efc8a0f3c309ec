"""Silva and Scherson: gang scheduling that runs other tasks of a PE where measurements at run time say it pays."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from schedlab import charts, gang
from schedlab.experiment import remember, table_of
from schedlab.gang import Config, GangSchedule, Workload
from schedlab.statistics import over_seeds, ratio_over_seeds, ratios_of_means

from . import kept
from .figure import Figure, Paper, chosen_size, known, rebuilt
from .ledger import Check, Claim, Ledger, exact, interval, judged, ledger

TITLE = "Gang scheduling with runtime measurements (Silva and Scherson)"
PAPER = Paper(
    authors="F. A. B. da Silva and I. D. Scherson",
    title="Improving parallel job scheduling using runtime measurements",
    venue="JSSPP",
    year=2000,
    says=(
        "Measuring at run time what each task does, and running another task where one blocks, doubles the utilization "
        "of a gang-scheduled machine with I/O jobs and completes half as many jobs again."
    ),
    found=(
        ("Every mix with I/O jobs gains in utilization and throughput", "SIL-8"),
        ("With I/O jobs alone utilization gains by less than twice, since random bursts queue at the disk", "SIL-2"),
        ("Spin control costs up to a tenth of the utilization; whether throughput gains depends on the model", "SIL-6"),
    ),
)
MIXES = {
    "IO": ("io",),
    "IO/Msg": ("io", "msg"),
    "IO/Msg/Emb": ("io", "msg", "emb"),
    "IO/BSP": ("io", "bsp"),
    "IO/BSP/Emb": ("io", "bsp", "emb"),
    "Emb/Msg": ("emb", "msg"),
    "Emb/BSP": ("emb", "bsp"),
}
ADDED = {"IO/interactive": ("io", "interactive"), "Msg/interactive": ("msg", "interactive")}
SPUN = ("IO/BSP", "IO/Msg")  # mixes under spin control, Figures 8 and 9
MACHINES = (8, 16)
FITS = {"kth": "KTH fit", "ctc": "CTC fit"}
MODELS = {"kth": "Jann model (KTH fit, not Jann's numbers)", "ctc": "Jann model (CTC fit)"}
WITHOUT, WITH, SPIN = "without information", "with information", "with information and spin control"
charts.register({WITHOUT: "#999999", WITH: "#0072B2", SPIN: "#D55E00", "CTC fit": "#332288", "KTH fit": "#882255"})
SCHEDULERS = {WITHOUT: "gang", WITH: "priority", SPIN: "spin-block"}
JOBS, UTILIZATION = "completed", "utilization"
WORDS = {UTILIZATION: "utilization", JOBS: "throughput"}
HORIZON = 50_000  # seconds
RUNS = {"quick": (8, 50), "full": (20, 1)}  # seeds, and how many times as fast jobs come and go
SIDE = {"quick": (6, 200), "full": (10, 20)}  # the same beside the paper's figures
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


# What is simulated -------------------------------------------------------------------------------------------


def outcome(workload: Workload, config: Config) -> pd.Series:
    """Measure a simulation, as `GangSchedule.metrics` does; turnaround is called response_time, as in the paper."""
    return gang.simulate(workload, config).metrics().rename(KEPT_AS)


def compare(workloads, configs: dict[str, Config], words: str, progress: bool = True) -> pd.DataFrame:
    """Simulate workloads, by the names of their mixes, under schedulers.

    Returns
    -------
    DataFrame
        One row for each workload and scheduler: mix, pes, fit, seed, scheduler, and the measures of `outcome`.
    """
    runs, names = [], []
    for (mix, jobs), (scheduler, config) in product(workloads, configs.items()):
        runs.append({"workload": jobs, "config": config})
        told = {"mix": mix, "pes": jobs.pes, "fit": FITS[jobs.table], "seed": jobs.seed}
        names.append(told | {"scheduler": scheduler})
    return table_of(outcome, runs, names, words=words, progress=progress)


@remember(1024)
def workload(mix: str, pes: int, table: str, seed: int, faster: float = 1, **settings) -> Workload:
    """Give the jobs of an experiment of 50,000 s, or the same jobs that come and go so many times as fast.

    What they do within a slice is the same, and so is the load: a hundredth of the time has as many jobs in it.
    """
    if not faster > 0:
        raise ValueError(f"faster must be greater than 0, got {faster}")
    whole = Workload(known("mix", mix, MIXES | ADDED), pes=pes, horizon=HORIZON, table=table, seed=seed, **settings)
    if faster == 1:
        return whole
    jobs = whole.jobs_table
    jobs[["submit_time", "duration"]] /= faster
    return replace(whole, horizon=HORIZON / faster, jobs=jobs)


def workloads(mix: str, runs: tuple[int, float], pes=MACHINES, tables=tuple(FITS), **settings) -> list:
    """Give a mix's workloads by its name: so many seeds, so many times as fast, for each machine and table."""
    seeds, faster = runs
    return [
        (mix, workload(mix, size, table, seed, faster, **settings))
        for table, size, seed in product(tables, pes, range(seeds))
    ]


def configs(*names: str, **settings) -> dict[str, Config]:
    """Give schedulers by what the paper calls them."""
    return {name: Config(known("scheduler", name, SCHEDULERS), **settings) for name in names}


def results(mix: str, size: str, progress: bool = True) -> pd.DataFrame:
    """Give the runs behind the paper's tables and figures of a mix, as `compare` does: the same jobs for all."""
    return compare(workloads(mix, RUNS[size]), configs(*_schedulers(mix)), f"gangs, {mix}", progress)


def _schedulers(mix):
    return (WITHOUT, WITH, SPIN) if mix in SPUN else (WITHOUT, WITH)


def ratios(data: pd.DataFrame, new: str = WITH, old: str = WITHOUT) -> pd.DataFrame:
    """Compare two schedulers by utilization and throughput, seed by seed.

    Returns
    -------
    DataFrame
        One row for each mix, fit, machine and measure: mix, fit, pes, measure, ratio, ratio_low, ratio_high.
    """
    rows = []
    for (mix, fit, pes), part in data.groupby(["mix", "fit", "pes"], sort=False):
        by = part.pivot_table(index="seed", columns="scheduler", values=list(WORDS))
        for measure in WORDS:
            rows.append((mix, fit, pes, measure, *ratio_over_seeds(by[measure][new], by[measure][old])))
    return pd.DataFrame(rows, columns=["mix", "fit", "pes", "measure", "ratio", "ratio_low", "ratio_high"])


def _reduced(size, runs=RUNS):
    told = _simulated(*runs[size])
    return f"{told} (quick; full size: {_simulated(*runs['full'])})" if size == "quick" else told


def _simulated(seeds, faster):
    told = f"{seeds} {'seed' if seeds == 1 else 'seeds'} of {HORIZON:,} s"
    return told if faster == 1 else f"{told} in a {faster}th of the time, arrivals and durations likewise"


def _runs_told(size):
    return f"Means of {_reduced(size)}, 95 % intervals over the seeds; the paper has one run."


LABELLED = (
    "Jann's own tables could not be had: CTC fit is his model fitted to the log of his machine and months, KTH fit the "
    "same model fitted to another machine's log, not Jann's numbers."
)


# Tables 1 to 6 -----------------------------------------------------------------------------------------------


def _table(number):
    mix, pes, *published = TABLES[number]

    @rebuilt
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = results(mix, size, progress)
        data = data[data["pes"] == pes]
        return Figure(
            name=f"table{number}",
            title=f"Table {number}: {mix}, {pes} PEs",
            caption=f"Completed jobs and utilization. {_runs_told(size)} {LABELLED}",
            data=data,
            table=_beside_published(data, *published),
        )

    return _named(figure, f"table{number}", f"Rebuild Table {number}: {mix} on {pes} PEs.")


def _beside_published(data, new, old):
    """Tabulate both measures, as published and under each fit, a row each; schedulers and their ratio side by side."""
    named = [*dict.fromkeys([WITH, WITHOUT, *data["scheduler"]]), "ratio"]
    rows = []
    for place, (measure, words) in enumerate({JOBS: "completed jobs", UTILIZATION: "utilization"}.items()):
        form = "{:.1f}" if measure == JOBS else "{:.3f}"
        printed = {WITH: f"{new[place]:g}", WITHOUT: f"{old[place]:g}", "ratio": f"{new[place] / old[place]:.2f}"}
        rows.append({"": f"{words}, published"} | {name: printed.get(name, "-") for name in named})
        for fit in FITS.values():
            part = data[data["fit"] == fit]
            means = _cases(part, ["scheduler"], part[measure]).set_index("scheduler")
            row = {name: interval(*mean, form) for name, *mean in means.itertuples()}
            found = ratios(part).set_index("measure").loc[measure]
            row["ratio"] = interval(found["ratio"], found["ratio_low"], found["ratio_high"], "{:.2f}")
            rows.append({"": f"{words}, {fit}"} | {name: row[name] for name in named})
    return pd.DataFrame(rows)


def _named(figure, name, words):
    figure.__name__ = figure.__qualname__ = name
    figure.__doc__ = words
    return figure


table1, table2, table3, table4, table5, table6 = map(_table, TABLES)


# Figures 3 to 11 ---------------------------------------------------------------------------------------------


def _figure(number, mix, expected, new=WITH, old=WITHOUT):
    """Make the function that rebuilds one of the figures of ratios."""

    @rebuilt
    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = results(mix, size, progress)
        found = ratios(data, new, old)
        title = f"{mix}: {new}" if old == WITHOUT else f"{mix}: spin control"
        chart = charts.ratios(
            _in_order(found.dropna(subset="ratio")),
            x=MEASURED,
            y="ratio",
            color="fit",
            published=_published(mix) if (new, old) == (WITH, WITHOUT) else None,
            title=title,
            subtitle=f"{new}, over {old}; the same jobs",
        )
        return Figure(
            name=f"figure{number}",
            title=f"Figure {number}: {title}",
            caption=f"{expected} {_runs_told(size)} {LABELLED}",
            data=data,
            chart=chart,
        )

    return _named(figure, f"figure{number}", f"Rebuild Figure {number}: {mix}, {new} over {old}.")


MEASURED = "measure and machine"


def _in_order(rows):
    """Name the groups of bars: each machine's utilization and throughput."""
    groups = [f"{WORDS[measure]}, {pes} PEs" for measure, pes in zip(rows["measure"], rows["pes"], strict=True)]
    return rows.assign(**{MEASURED: groups}).sort_values(["pes", "measure"], ascending=[True, False], kind="stable")


def _published(mix):
    """Give the ratios of the paper's tables of a mix; None where it has none."""
    rows = [
        {"pes": pes, "measure": measure, "ratio": new[place] / old[place]}
        for name, pes, new, old in TABLES.values()
        if name == mix
        for place, measure in enumerate((JOBS, UTILIZATION))
    ]
    return _in_order(pd.DataFrame(rows))[[MEASURED, "ratio"]] if rows else None


GAIN = "In the paper utilization gains most, since what a task leaves is taken by others; throughput gains too."
figure3 = _figure(3, "IO", "In the paper utilization doubles, and throughput gains half.")
figure4 = _figure(4, "IO/Msg", GAIN)
figure5 = _figure(5, "IO/Msg/Emb", GAIN)
figure6 = _figure(6, "IO/BSP", f"{GAIN} With barriers as with messages.")
figure7 = _figure(7, "IO/BSP/Emb", f"{GAIN} With barriers as with messages.")
SPUN_WORDS = "In the paper throughput gains by spin control, and utilization falls a little, as less is spun."
figure8 = _figure(8, "IO/BSP", SPUN_WORDS, SPIN, WITH)
figure9 = _figure(9, "IO/Msg", SPUN_WORDS, SPIN, WITH)
CLOSE_WORDS = "In the paper all ratios are close to 1; what is gained is idle slots that computing tasks fill."
figure10 = _figure(10, "Emb/Msg", CLOSE_WORDS)
figure11 = _figure(11, "Emb/BSP", CLOSE_WORDS)


# What explains them ------------------------------------------------------------------------------------------


SHOWN = {"mix": "IO/Msg", "pes": 8, "table": "kth", "seed": 1, "faster": 25}
PICTURED = (1_200.0, 1_201.0)


@remember(64)
def _logged(workload, config, begin, end) -> GangSchedule:
    return gang.simulate(workload, config, log=(begin, end))


def _pictures(workload, settings, window, color="job"):
    """Draw some slices of the same jobs under schedulers by name."""
    drawn = []
    for name, config in settings.items():
        schedule = _logged(workload, config, *window)
        drawn.append(charts.slices(schedule, window, color, title=f"{name[0].upper()}{name[1:]}"))
    return charts.stacked(drawn)


@rebuilt
def picture(size: str | None = None, progress: bool = True) -> Figure:
    """Show what each PE does, slice by slice, without and with information, and under spin control."""
    jobs, settings = workload(**SHOWN), configs(*SCHEDULERS)
    logs = [_logged(jobs, config, *PICTURED).log.assign(scheduler=name) for name, config in settings.items()]
    return Figure(
        name="picture",
        title="Behind the figures: what each PE does, slice by slice",
        caption=(
            "Tasks of one job share a row and run together. Without information a PE idles where the row has no task "
            "for it or its task waits for the disk; with it the PE takes another of "
            "its tasks that is likely to compute or do I/O, whatever its row (dark border). Under spin control a task "
            f"that waits for a message (pale) makes room, too. {SHOWN['mix']}, {MODELS[SHOWN['table']]}, seed "
            f"{SHOWN['seed']}, jobs {SHOWN['faster']} times as fast."
        ),
        data=pd.concat(logs, ignore_index=True).rename(columns=KEPT_AS),
        chart=_pictures(jobs, settings, PICTURED),
    )


@rebuilt
def time_spent(size: str | None = None, progress: bool = True) -> Figure:
    """Show where the PEs' time goes under each scheduler."""
    size = chosen_size(size)
    data = pd.concat([results(mix, size, progress) for mix in MIXES])
    means = data.groupby(["mix", "pes", "fit", "scheduler"], sort=False)[list(gang.DOES)].mean().reset_index()
    long = means.melt(["mix", "pes", "fit", "scheduler"], var_name="what", value_name="share")
    long["bar"] = long["mix"] + ", " + long["scheduler"]
    order = {f"{mix}, {name}": place for place, (mix, name) in enumerate(product(MIXES, SCHEDULERS))}
    long = long.sort_values("bar", key=lambda bars: bars.map(order), kind="stable")
    panels = [
        charts.shares(
            long[long["pes"] == pes], "bar", column="fit", title=f"Where the time of {pes} PEs goes", subtitle=""
        )
        for pes in MACHINES
    ]
    return Figure(
        name="time-spent",
        title="Behind the figures: where the time goes",
        caption=(
            "Spinning and switching count as busy, as in the paper: where tasks communicate, a good part of the "
            f"utilization is spinning, and it is what spin control takes away. Means of {_reduced(size)}."
        ),
        data=means,
        chart=charts.stacked(panels),
    )


FLOORS = (0.001, 0.0)


@rebuilt
def memberships(size: str | None = None, progress: bool = True) -> Figure:
    """Show how a task's memberships and priority follow what it does, and that they need a floor."""
    data = pd.concat([_followed(floor=floor).assign(floor=f"floor {floor:g}") for floor in FLOORS], ignore_index=True)
    return Figure(
        name="memberships",
        title="Behind the figures: memberships of a task as it changes phase",
        caption=(
            "A task sends and receives every 0.1 s until its partner has ended, and then computes what is left. With "
            "the floor the change is seen within a few slices, and the task is worth running locally. Without one, by "
            "the formula as it is printed, its membership in computing has vanished long before, and nothing that the "
            "task does will ever bring it back."
        ),
        data=data,
        chart=_followed_chart(data, "floor"),
    )


PHASES = {"f_io": "I/O", "f_comm": "communicating", "f_comp": "computing", "priority": "priority"}
FOLLOWED = 20.0  # seconds of its own


@remember(64)
def _followed(kind="msg", mean=0.1, seed=0, **settings):
    """Follow a task of two among tasks of other jobs; the bursts of its kind have this mean."""
    rows = ((0.0, 2, kind, FOLLOWED), (0.0, 2, "emb", 6 * FOLLOWED), (0.0, 1, "io", 6 * FOLLOWED))
    jobs = Workload(pes=2, horizon=6 * FOLLOWED, seed=seed, jobs=rows)
    means = {"compute": mean, "gap": mean, "superstep": mean, "react": mean}
    return gang.simulate(jobs, Config("priority", **(means | settings)), watch=[(1, 0)]).memberships(1, 0)


def _followed_chart(table, column=None):
    held = table[table["held"]]
    long = held.melt(["time", *filter(None, (column,))], list(PHASES), var_name="of", value_name="membership")
    return charts.lines(
        long.assign(of=long["of"].map(PHASES)).rename(columns={"time": "time (s)"}),
        "time (s)",
        "membership",
        "of",
        column=column,
        title="Memberships and priority of a task",
        subtitle="at the end of each slice in which it held its PE",
    )


# What the paper leaves open, and what is beyond it -----------------------------------------------------------


# What is read differently, as `_read` takes it.
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


@rebuilt
def sensitivity(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate what the paper leaves open, one reading at a time."""
    size = chosen_size(size)
    rows = []
    for mix, (reading, changed) in product(READ_ON, READINGS.items()):
        data = _read(mix, size, f"{reading}, {mix}", progress, **changed)
        means = data.groupby("scheduler")[UTILIZATION].mean()
        told = {"mix": mix, "reading": reading, "utilization": f"{means[WITHOUT]:.2f}, {means[WITH]:.2f}"}
        rows.append(told | _ratios_told(data))
    data = pd.DataFrame(rows)
    return Figure(
        name="sensitivity",
        title="What the paper does not say",
        caption=(
            f"8 PEs, KTH fit: utilization without and with information, and the ratios of utilization and of "
            f"throughput. Means of {_reduced(size, SIDE)}. With more than one communication statement asked for (N), a "
            "task that spins all through a slice counts as computing, and is chosen to spin in place of others' rows: "
            "utilization that is no work."
        ),
        data=data,
        table=data,
    )


def _read(
    mix, size, words, progress, *, table="kth", sizes="uniform", spun=False, idle=("idle",), on_top=False, **config
):
    """Run a mix as it is read.

    With information may mean spin control, too (spun); spinning may count as idle; the time of the disk may come on top
    of the durations; `table` and `sizes` are those of the workload, and the rest those of the scheduler.
    """
    runs = workloads(mix, SIDE[size], MACHINES[:1], (table,), sizes=sizes)
    if on_top:
        runs = [(name, _with_disk_on_top(jobs)) for name, jobs in runs]
    data = compare(runs, configs(WITHOUT, SPIN if spun else WITH, **config), words, progress)
    data[UTILIZATION] = 1 - data[list(idle)].sum(axis=1)
    return data.replace({"scheduler": {SPIN: WITH}})


@remember(1024)
def _with_disk_on_top(workload):
    """Lengthen I/O jobs by the mean time that their tasks wait for the disk."""
    jobs, config = workload.jobs_table, Config()
    jobs.loc[jobs["kind"] == "io", "duration"] *= 1 + config.disk / config.compute
    return replace(workload, jobs=jobs)


def _ratios_told(data):
    found = ratios(data).set_index("measure")[["ratio", "ratio_low", "ratio_high"]]
    return {f"{words}, ratio": interval(*found.loc[measure]) for measure, words in WORDS.items()}


SLICES = {"quick": (0.05, 0.2, 1.0), "full": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)}  # seconds


@rebuilt
def slice_lengths(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: other lengths of the slice."""
    size = chosen_size(size)
    parts = []
    for length in SLICES[size]:
        for mix in READ_ON:
            runs = workloads(mix, SIDE[size], MACHINES[:1], ("kth",))
            found = compare(runs, configs(*_schedulers(mix), slice=length), f"slice {length:g} s, {mix}", progress)
            parts.append(found.assign(slice=1000 * length))
    return _lines_figure(
        pd.concat(parts, ignore_index=True),
        "slice",
        "slice-lengths",
        "Beyond the paper: length of the slice",
        "The shorter the slice, the sooner the PE of a blocked task gets work again without information, and the more "
        f"of the time is switching. 8 PEs, KTH fit, {_reduced(size, SIDE)}.",
    )


SIZES = {"quick": (8, 32, 128), "full": (8, 16, 32, 64, 128, 256, 512, 1024)}
SCALED = {"quick": (1, 200), "full": (3, 20)}


@rebuilt
def machine_sizes(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: larger machines."""
    size = chosen_size(size)
    parts = []
    for mix in ("IO", "IO/Msg"):
        runs = workloads(mix, SCALED[size], SIZES[size], ("ctc",))
        parts.append(compare(runs, configs(*_schedulers(mix)), f"machines, {mix}", progress))
    return _lines_figure(
        pd.concat(parts, ignore_index=True),
        "pes",
        "machine-sizes",
        "Beyond the paper: larger machines",
        "CTC fit, whose ranges up to the size of the machine arrive: the more PEs, the wider jobs are, and the fewer "
        f"there are for each PE beyond 256. {_reduced(size, SCALED)}.",
    )


def _lines_figure(data, x, name, title, caption):
    means = over_seeds(data[["mix", x, "scheduler", "seed", UTILIZATION]], ["mix", x, "scheduler"])
    chart = charts.lines(means, x, UTILIZATION, "scheduler", column="mix", title=title.partition(": ")[2].capitalize())
    return Figure(name=name, title=title, caption=caption, data=data, chart=chart)


OPTIONS = {
    "as in the paper": {},
    "best fit": {"packing": "best-fit"},
    "buddies": {"packing": "buddy"},
    "slots unified": {"unify": True},
    "alternate scheduling": {"alternate": True},
    "both": {"unify": True, "alternate": True},
}


@rebuilt
def options(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: packings, unified slots, alternate scheduling; interactive jobs."""
    size = chosen_size(size)
    runs = {mix: workloads(mix, SIDE[size], MACHINES[1:], ("kth",)) for mix in ("IO/Msg", *ADDED)}
    cases = [("IO/Msg", option, configs(WITHOUT, WITH, **changed)) for option, changed in OPTIONS.items()]
    cases += [(mix, new, configs(WITHOUT, new)) for mix in ADDED for new in (WITH, SPIN)]
    rows = []
    for mix, option, settings in cases:
        data = compare(runs[mix], settings, f"{mix}, {option}", progress).replace({"scheduler": {SPIN: WITH}})
        means = data.groupby("scheduler")[[UTILIZATION, JOBS]].mean()
        told = {
            f"{name}: {words}": means.loc[name, measure]
            for name in (WITHOUT, WITH)
            for measure, words in ((UTILIZATION, "utilization"), (JOBS, "jobs"))
        }
        rows.append({"workload": mix, "option": option} | told | _ratios_told(data))
    data = pd.DataFrame(rows)
    return Figure(
        name="options",
        title="Beyond the paper: packing, unified and alternate slots, interactive jobs",
        caption=(
            "What later work added to gang scheduling mends what the reference loses to empty slots; what it loses to "
            f"blocked tasks only measurements mend. 16 PEs, KTH fit, means of {_reduced(size, SIDE)}."
        ),
        data=data,
        table=data,
    )


FIGURES = (
    *(table1, table2, table3, table4, table5, table6),
    *(figure3, figure4, figure5, figure6, figure7, figure8, figure9, figure10, figure11),
    *(picture, time_spent, memberships),
    *(sensitivity, slice_lengths, machine_sizes, options),
)


# Live --------------------------------------------------------------------------------------------------------


def live(
    second: float = PICTURED[0],
    mix: str = SHOWN["mix"],
    scheduler: str = SPIN,
    pes: int = SHOWN["pes"],
    slice: float = 0.2,
    alpha: float = 2.0,
    beta: float = 0.3,
    delta: float = 0.0008,
    table: str = SHOWN["table"],
    seed: int = SHOWN["seed"],
    faster: float = SHOWN["faster"],
    color: str = "job",
) -> tuple:
    """Draw five slices of the same jobs without information and under another scheduler, and what each brings.

    Parameters
    ----------
    second : float, seconds
        When the five slices begin.
    mix : str
        Kinds of jobs, as the paper names them.
    scheduler : {"with information", "with information and spin control"}
        What is compared with the scheduler without information.
    pes : int
        Processing elements of the machine.
    slice : float, seconds
        Between global switches from row to row.
    alpha : float
        How much more than a membership in computing one in I/O counts for the priority of a task.
    beta : float
        A task of lower priority runs in its own row only.
    delta : float, seconds
        Under spin control: a spinning task makes room only if more than this is left of the slice.
    table : {"kth", "ctc"}
        The log that the model of jobs is fitted to.
    seed : int
        Of everything that is drawn.
    faster : float
        How many times as fast jobs come and go, so that 50,000 s are over sooner.
    color : {"job", "what"}
        Colours for jobs, or for what a PE does.

    Returns
    -------
    chart, table
    """
    jobs = workload(mix, pes, table, seed, faster)
    settings = configs(WITHOUT, scheduler, slice=slice, alpha=alpha, beta=beta, delta=delta)
    if not second >= 0:
        raise ValueError(f"second must be from 0 on, got {second}")
    if not 5 * slice <= jobs.horizon:
        raise ValueError(
            f"{jobs.horizon:g} s are not five slices of {slice:g} s: choose a shorter slice, or a smaller faster"
        )
    begin = slice * np.floor(min(second, jobs.horizon - 5 * slice) / slice + 1e-9)
    window = (begin, begin + 5 * slice)
    rows = {}
    for name, config in settings.items():
        found = _logged(jobs, config, *window).metrics().rename(KEPT_AS)
        rows[name] = {words: found[key] for key, words in LISTED.items()}
    rows = pd.DataFrame(rows).T.rename_axis("scheduler").reset_index()
    told = f"{jobs.horizon:,.0f} s, {MODELS[table]}, {mix}"
    return _pictures(jobs, settings, window, color), charts.table(rows, told)


LABELS = {
    "second": "slices from (s)",
    "mix": "mix of jobs",
    "scheduler": "scheduler",
    "pes": "PEs",
    "slice": "slice (s)",
    "alpha": "alpha: weight of I/O",
    "beta": "beta: least priority",
    "delta": "delta: spin-control margin (s)",
    "table": "model fitted to",
    "seed": "seed",
    "faster": "jobs come and go, times as fast",
    "color": "colours for",
}
LISTED = {
    "jobs": "jobs",
    JOBS: "completed",
    "response_time": "mean response (s)",
    UTILIZATION: "utilization",
    **{what: what for what in gang.DOES},
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
        Least membership, so that none vanishes.
    kind : {"io", "msg", "bsp", "interactive", "emb"}
        Of the task's job: I/O, messages, barriers, interactive, computing only.
    mean : float, seconds
        Of the task's bursts of computing.
    slice : float, seconds
        Between global switches from row to row.
    statements : int
        How many communication statements in a slice make the task one that communicates.
    alpha : float
        How much more than a membership in computing one in I/O counts for the priority.
    seed : int
        Of the lengths of bursts.

    Returns
    -------
    chart, table
    """
    table = _followed(kind, mean, seed, floor=floor, slice=slice, statements=statements, alpha=alpha)
    means = table.loc[table["held"], list(PHASES)].mean().rename(PHASES).rename("mean").rename_axis("of")
    return _followed_chart(table), charts.table(means.reset_index())


LABELS_OF_MEMBERSHIPS = {
    "floor": "floor of memberships",
    "kind": "kind of job",
    "mean": "mean burst of computing (s)",
    "slice": "slice (s)",
    "statements": "statements that make it communicate",
    "alpha": "alpha: weight of I/O",
    "seed": "seed",
}


# The ledger --------------------------------------------------------------------------------------------------


def claims(size: str | None = None, progress: bool = True) -> Ledger:
    """Give the ledger of the paper's claims, a row for each table of the model."""
    size = chosen_size(size)
    data = pd.concat([results(mix, size, progress) for mix in MIXES], ignore_index=True)
    cases = {table: Cases(data[data["fit"] == fit]) for table, fit in FITS.items()}
    rows = [_baseline(), _classified()]
    rows += [
        judged(claim, cases[table].of(name), MODELS[table], why=WHY.get(name, ""), details=LABELLED)
        for name, claim in CLAIMS.items()
        for table in FITS
    ]
    return ledger(rows, kept.ledger_of("silva2000"))


def _claim(name, place, statement, published):
    return Claim(f"SIL-{name}", place, statement, published)


def _table_claim(number, mix, pes, new, old):
    statement = f"{mix}, {pes} PEs: jobs and utilization with information, without, and their ratios"
    means = f"{new[0]}, {new[1]:.0%}; {old[0]}, {old[1]:.0%}"
    published = f"{means}; {new[0] / old[0]:.2f}, {new[1] / old[1]:.2f}"
    return _claim(f"T{number}", f"Table {number}", statement, published)


BASELINE = _claim("0", "section 5", "the baseline of a spin is a request and its answer, 2 L + 4 o", "55 us")
STEPS = (0.6, 0.913043, 0.993691, 0.999795)
MEMBERSHIPS = _claim(
    "1", "section 3", "memberships of a task that does I/O in every slice", f"f_IO {', '.join(map(str, STEPS))}"
)
CLAIMS = {
    claim.id.removeprefix("SIL-"): claim
    for claim in (
        _claim(
            "2",
            "Figure 3",
            "IO: utilization about doubles, throughput gains less",
            "utilization x 2.00 and 1.95, throughput x 1.50 and 1.53",
        ),
        _claim("3", "section 5", "IO: of the completed jobs one-task jobs are", "about half"),
        _claim(
            "4",
            "Figures 3 to 7",
            "utilization gains most for IO, then IO/Msg, then IO/Msg/Emb; with BSP about as much as with Msg",
            "IO > IO/Msg > IO/Msg/Emb",
        ),
        _claim(
            "5",
            "Tables 1 to 6",
            "utilization without information, 8 and 16 PEs",
            "IO 42, 43 %; IO/Msg 63, 62 %; IO/Msg/Emb 72, 70 %",
        ),
        _claim(
            "6",
            "Figures 8 and 9",
            "spin control: throughput gains, utilization falls a little",
            "above 1; just below 1",
        ),
        _claim(
            "7", "Figures 10 and 11", "Emb/Msg, Emb/BSP: ratios close to 1, the main gain in utilization", "close to 1"
        ),
        _claim("8", "Figures 3 to 7", "every ratio is above 1", "above 1"),
        *(_table_claim(number, *printed) for number, printed in TABLES.items()),
    )
}
WHY_IO = (
    "Random bursts let all tasks of a PE wait for the disk at once; with constant bursts utilization about doubles "
    "(sensitivity)."
)
WHY_EMB = "Tasks that only compute fill empty slots, too, so that mixes with them gain as much."
WHY = {
    "2": WHY_IO,
    "3": "The table of the model decides which jobs there are; the scheduler hardly changes which are completed.",
    "4": WHY_EMB,
    "5": "With constant bursts it is lower (sensitivity).",
    "6": (
        "Of the tasks that make room under IO/Msg only a quarter to a half get their PE back within the slice, and "
        "tasks that wait for the others spin meanwhile."
    ),
    "7": "Many slots of the matrix are empty without information, and tasks that compute fill nearly all of them.",
    "T1": WHY_IO,
    "T2": WHY_IO,
    "T5": WHY_EMB,
    "T6": WHY_EMB,
}


def _baseline():
    measured = gang.simulate(Workload(horizon=1)).baseline
    return exact(BASELINE, round(1e9 * measured) == 55_000, f"{1e6 * measured:g} us", why="The baseline differs.")


def _classified():
    workload = Workload(pes=1, horizon=1, jobs=((0.0, 1, "io", 1.0),))
    config = Config(floor=0.0, bursts="constant", compute=0.05, disk=0.05)
    schedule = gang.simulate(workload, config, watch=[(1, 0)])
    found = tuple(schedule.memberships(1)["f_io"].round(6)[: len(STEPS)])
    words = "f_IO " + ", ".join(f"{value:g}" for value in found)
    return exact(MEMBERSHIPS, found == STEPS, words, why="The memberships differ.")


RATIO = "{:.2f}"
ABOUT_ONE = (1 - CLOSE, 1 + CLOSE)
COMPUTING = ("Emb/Msg", "Emb/BSP")
DISKS = tuple(mix for mix in MIXES if mix not in COMPUTING)


class Cases:
    """The measured cases of the paper's claims, on the runs of one table of the model.

    Published figures are asked for within `CLOSE` of them, ratios and tables alike.

    Parameters
    ----------
    data : DataFrame
        As of `results`, all mixes.
    """

    def __init__(self, data: pd.DataFrame):
        self._data, self._parts = data, _parts(data)
        self._gains, self._spun = ratios(data), ratios(data[data["mix"].isin(SPUN)], SPIN, WITH)

    def of(self, name: str) -> list[Check]:
        """Give the checks of a claim by its number."""
        return self._table(int(name[1:])) if name.startswith("T") else getattr(self, f"_claim{name}")()

    def _claim2(self):
        gains = _of(self._gains, mix="IO")
        return [_ratio_is(gains, UTILIZATION, "within", (1.8, 2.2)), self._apart(("IO",))]

    def _claim3(self):
        part = _of(self._data, mix="IO").dropna(subset="one_task_share")
        cases = _cases(part, ["pes", "scheduler"], part["one_task_share"])
        return [Check("share of one-task jobs", cases, "within", (0.4, 0.6), form=RATIO)]

    def _claim4(self):
        steps = [("IO/Msg", "IO"), ("IO/BSP", "IO"), ("IO/Msg/Emb", "IO/Msg"), ("IO/BSP/Emb", "IO/BSP")]
        alike = [("IO/BSP", "IO/Msg"), ("IO/BSP/Emb", "IO/Msg/Emb")]
        return [
            Check("gain, of that of the mix before", self._compared(steps), "lower", 1.0, form=RATIO),
            Check("gain with BSP, of that with Msg", self._compared(alike), "within", ABOUT_ONE, form=RATIO),
        ]

    def _claim5(self):
        return [self._mean_is(mix, pes, WITHOUT, UTILIZATION, old[1], RATIO) for mix, pes, _, old in TABLES.values()]

    def _claim6(self):
        return [
            _ratio_is(self._spun, JOBS, "higher", 1.0),
            _ratio_is(self._spun, UTILIZATION, "within", (1 - CLOSE, 1)),
        ]

    def _claim7(self):
        gains = self._gains[self._gains["mix"].isin(COMPUTING)]
        return [*(_ratio_is(gains, name, "within", ABOUT_ONE) for name in WORDS), self._apart(COMPUTING)]

    def _claim8(self):
        gains = self._gains[self._gains["mix"].isin(DISKS)]
        return [_ratio_is(gains, name, "higher", 1.0) for name in WORDS]

    def _table(self, number):
        mix, pes, new, old = TABLES[number]
        gains = _of(self._gains, mix=mix, pes=pes)
        checks = []
        for place, (measure, form) in enumerate(((JOBS, "{:.1f}"), (UTILIZATION, RATIO))):
            checks.append(self._mean_is(mix, pes, WITH, measure, new[place], form))
            checks.append(self._mean_is(mix, pes, WITHOUT, measure, old[place], form))
            checks.append(_ratio_is(gains, measure, "within", _near(new[place] / old[place])))
        return checks

    def _mean_is(self, mix, pes, scheduler, measure, published, form):
        """Check that a mean is near the published one."""
        part = _of(self._data, mix=mix, pes=pes, scheduler=scheduler)
        cases = _cases(part, ["mix", "pes", "scheduler"], part[measure])
        return Check(WORDS[measure], cases, "within", _near(published), form=form)

    def _apart(self, mixes):
        """Check that throughput gains less than utilization, for each mix and machine."""
        parts = self._parts[self._parts["mix"].isin(mixes)]
        cases = _cases(parts, ["mix", "pes"], parts[JOBS] - parts[UTILIZATION])
        return Check("throughput's gain less utilization's", cases, "lower", form="{:+.2f}")

    def _compared(self, pairs):
        """Compare the gains in utilization of mixes in pairs, on each machine."""
        runs = self._parts.pivot_table(UTILIZATION, ["pes", "seed"], "mix", dropna=False).reset_index()
        several = [runs.assign(mixes=f"{one} over {other}", one=runs[one], other=runs[other]) for one, other in pairs]
        parts = pd.concat(several, ignore_index=True)
        by = ["mixes", "pes"]
        return _cases(parts, by, ratios_of_means(parts, "one", "other", by))


def _of(table, **values):
    """Take the rows that have these values."""
    return table[(table[list(values)] == pd.Series(values)).all(axis=1)]


def _ratio_is(found, measure, expectation, expected):
    """Check the ratios of a measure, as `ratios` gives them."""
    cases = _of(found, measure=measure).drop(columns=["measure", "fit"])
    cases = cases.rename(columns={"ratio": "value", "ratio_low": "low", "ratio_high": "high"})
    return Check(f"{WORDS[measure]}, ratio", cases, expectation, expected, form=RATIO)


def _near(published):
    return published * (1 - CLOSE), published * (1 + CLOSE)


def _parts(data):
    """Give each seed's part of the gains in throughput and utilization, which average to them."""
    by, measures = ["mix", "pes"], list(WORDS)
    new, old = (data.loc[data["scheduler"] == name, [*by, "seed", *measures]] for name in (WITH, WITHOUT))
    runs = new.merge(old, on=[*by, "seed"], suffixes=("", "_before"))
    return runs.assign(**{name: ratios_of_means(runs, name, f"{name}_before", by) for name in measures})


def _cases(runs, by, values):
    """Average values of runs over their seeds, as the cases of a check."""
    means = over_seeds(runs[[*by, "seed"]].assign(value=values), by)
    return means.rename(columns={"value_low": "low", "value_high": "high"}).drop(columns="seeds")
