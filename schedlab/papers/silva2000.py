"""Silva and Scherson: gang scheduling that runs other tasks of a PE where measurements at run time say it pays."""

from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from schedlab import charts, gang
from schedlab.gang import Config, GangSchedule, Workload
from schedlab.statistics import over_seeds, t_quantile

from .figure import Figure, chosen_size, known, ledger, spread, watched

TITLE = "Gang scheduling with runtime measurements (Silva and Scherson)"
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
MODELS = {"kth": "Jann model, KTH fit, not Jann's numbers", "ctc": "Jann model, CTC fit"}
WITHOUT, WITH, SPIN = "without information", "with information", "with information and spin control"
SCHEDULERS = {WITHOUT: "gang", WITH: "priority", SPIN: "spin-block"}
JOBS, UTILIZATION = "completed", "utilization"
WORDS = {UTILIZATION: "utilization", JOBS: "throughput"}
HORIZON = 50_000  # seconds
RUNS = {"quick": (8, 50), "full": (20, 1)}  # seeds, and how many times as fast jobs come and go
SIDE = {"quick": (6, 200), "full": (10, 20)}  # the same beside the paper's figures
CONFIDENCE = 0.95
CLOSE = 0.1  # ratios that differ from one another, or from 1, by no more than this are called close

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


@cache
def outcome(workload: Workload, config: Config) -> dict[str, float]:
    """Measure a simulation, unless that was done already: see `GangSchedule.metrics`."""
    return gang.simulate(workload, config).metrics().to_dict()


def compare(workloads, configs: dict[str, Config], words: str, progress: bool = True) -> pd.DataFrame:
    """Simulate workloads under schedulers, whatever was not simulated before.

    Returns
    -------
    DataFrame
        One row for each workload and scheduler: mix, pes, fit, seed, scheduler, and the measures of `outcome`.
    """
    runs = [(name, workload, name_of, config) for name, workload in workloads for name_of, config in configs.items()]
    done = watched(spread(lambda run: outcome(run[1], run[3]), runs), len(runs), words, progress)
    return pd.DataFrame(
        [
            {**_about(name, workload), "scheduler": name_of, **found}
            for (name, workload, name_of, _), found in zip(runs, done, strict=True)
        ]
    )


def _about(name, workload):
    return {"mix": name, "pes": workload.pes, "fit": FITS[workload.table], "seed": workload.seed}


@lru_cache(maxsize=1024)
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
    jobs[["arrival_time", "duration"]] /= faster
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


class Ratio(NamedTuple):
    """A ratio of two means over the same seeds, and its interval."""

    ratio: float
    low: float
    high: float


def ratio_of(new, old) -> Ratio:
    """Compare two means over the same seeds by their ratio.

    The error of its logarithm is, to first order, that of new - ratio * old over the mean of new.
    """
    new, old = (np.asarray(values, float) for values in (new, old))
    if not old.any():
        return Ratio(np.nan, np.nan, np.nan)
    ratio = new.mean() / old.mean()
    if new.size == 1:
        return Ratio(ratio, np.nan, np.nan)
    error = np.std(new - ratio * old, ddof=1) / np.sqrt(new.size) / new.mean() if new.any() else np.nan
    half = t_quantile((1 + CONFIDENCE) / 2, new.size - 1) * error
    return Ratio(ratio, ratio * np.exp(-half), ratio * np.exp(half))


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
            found = ratio_of(by[measure][new], by[measure][old])
            ends = {"ratio": found.ratio, "ratio_low": found.low, "ratio_high": found.high}
            rows.append({"mix": mix, "fit": fit, "pes": pes, "measure": measure, **ends})
    return pd.DataFrame(rows)


def _reduced(size, runs=RUNS):
    told = _simulated(*runs[size])
    return f"{told} (quick; SIZE=full for {_simulated(*runs['full'])})" if size == "quick" else told


def _simulated(seeds, faster):
    told = f"{seeds} seeds of {HORIZON:,} s"
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
    printed = {WITH: new, WITHOUT: old}
    rows = {name: {} for name in (*dict.fromkeys([WITH, WITHOUT, *data["scheduler"]]), "ratio")}
    for place, (measure, words) in enumerate({JOBS: "jobs", UTILIZATION: "utilization"}.items()):
        form = "{:.1f}" if measure == JOBS else "{:.3f}"
        published = {name: f"{values[place]:g}" for name, values in printed.items()}
        published["ratio"] = f"{new[place] / old[place]:.2f}"
        for name, row in rows.items():
            row[f"{words}, published"] = published.get(name, "-")
        for fit in FITS.values():
            column = f"{words}, {fit}"
            means = over_seeds(data[data["fit"] == fit][["scheduler", "seed", measure]], "scheduler")
            for row in means.set_index("scheduler").itertuples():
                rows[row.Index][column] = _interval(
                    *(getattr(row, measure + end) for end in ("", "_low", "_high")), form
                )
            found = ratios(data[data["fit"] == fit]).set_index("measure").loc[measure]
            rows["ratio"][column] = _interval(found["ratio"], found["ratio_low"], found["ratio_high"], "{:.2f}")
    return pd.DataFrame(rows).T.rename_axis("").reset_index()


def _interval(mean, low, high, form="{:.2f}"):
    if np.isnan(mean):
        return "-"
    return form.format(mean) + ("" if np.isnan(low) else f" ({form.format(low)} to {form.format(high)})")


def _named(figure, name, words):
    figure.__name__ = figure.__qualname__ = name
    figure.__doc__ = words
    return figure


table1, table2, table3, table4, table5, table6 = map(_table, TABLES)


# Figures 3 to 11 ---------------------------------------------------------------------------------------------


def _figure(number, mix, expected, new=WITH, old=WITHOUT):
    """Make the function that rebuilds one of the figures of ratios."""

    def figure(size: str | None = None, progress: bool = True) -> Figure:
        size = chosen_size(size)
        data = results(mix, size, progress)
        found = ratios(data, new, old)
        printed = (new, old) == (WITH, WITHOUT) and any(mix == name for name, *_ in TABLES.values())
        drawn = pd.concat([found, _published(mix)]) if printed else found
        bars = [f"{WORDS[measure]}, {pes} PEs" for measure, pes in zip(drawn["measure"], drawn["pes"], strict=True)]
        drawn = drawn.assign(bars=bars).sort_values(["pes", "measure"], ascending=[True, False], kind="stable")
        title = f"{mix}: {new}" if old == WITHOUT else f"{mix}: spin control"
        chart = charts.ratios(
            drawn.dropna(subset="ratio").rename(columns={"bars": MEASURED}),
            x=MEASURED,
            y="ratio",
            color="fit",
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


def _published(mix):
    rows = [
        {"mix": mix, "fit": "published", "pes": pes, "measure": measure, "ratio": new[place] / old[place]}
        for name, pes, new, old in TABLES.values()
        if name == mix
        for place, measure in enumerate((JOBS, UTILIZATION))
    ]
    return pd.DataFrame(rows).assign(ratio_low=np.nan, ratio_high=np.nan)


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


@lru_cache(maxsize=64)
def _logged(workload, config, begin, end) -> GangSchedule:
    return gang.simulate(workload, config, log=(begin, end))


def _pictures(workload, settings, window, color="job"):
    """Draw some slices of the same jobs under schedulers by name."""
    drawn = []
    for name, config in settings.items():
        schedule = _logged(workload, config, *window)
        drawn.append(charts.slices(schedule, window, color, title=f"{name[0].upper()}{name[1:]}"))
    return charts.stacked(drawn)


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
        data=pd.concat(logs, ignore_index=True),
        chart=_pictures(jobs, settings, PICTURED),
    )


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


@lru_cache(maxsize=64)
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


@dataclass(frozen=True)
class Reading:
    """What is read differently.

    Attributes
    ----------
    config, workload : dict
        Changed settings.
    spun : bool
        With information means spin control, too.
    idle : tuple of str
        What counts as idle.
    """

    config: dict = field(default_factory=dict)
    workload: dict = field(default_factory=dict)
    spun: bool = False
    idle: tuple[str, ...] = ("idle",)


READINGS = {
    "as in the figures": Reading(),
    "with information: spin control, too": Reading(spun=True),
    "N = 2 communication statements": Reading({"statements": 2}),
    "N = 4": Reading({"statements": 4}),
    "N = 16": Reading({"statements": 16}),
    "constant bursts": Reading({"bursts": "constant"}),
    "uniform bursts": Reading({"bursts": "uniform"}),
    "I/O and communication in a slice: communication only": Reading({"both": False}),
    "no floor of memberships": Reading({"floor": 0.0}),
    "floor 0.02": Reading({"floor": 0.02}),
    "spinning is not busy": Reading(idle=("idle", "spinning")),
    "spin control, spinning is not busy": Reading(spun=True, idle=("idle", "spinning")),
    "spin control, delta = 0": Reading({"delta": 0.0}, spun=True),
    "CTC fit": Reading(workload={"table": "ctc"}),
    "sizes: the largest of each range": Reading(workload={"sizes": "upper"}),
    "sizes: as measured at KTH": Reading(workload={"sizes": "weighted"}),
}
READ_ON = ("IO", "IO/Msg", "IO/BSP")


def sensitivity(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate what the paper leaves open, one reading at a time."""
    size = chosen_size(size)
    rows = []
    for reading, changed in READINGS.items():
        row = {"reading": reading}
        for mix in READ_ON:
            data = _read(mix, changed, size, f"reading: {reading}, {mix}", progress)
            row |= {f"{mix}: {words}": text for words, text in _told_briefly(data).items()}
        rows.append(row)
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


def _read(mix, changed, size, words, progress):
    settings = dict(changed.workload)
    tables = (settings.pop("table", "kth"),)
    runs = workloads(mix, SIDE[size], MACHINES[:1], tables, **settings)
    new = SPIN if changed.spun else WITH
    data = compare(runs, configs(WITHOUT, new, **changed.config), words, progress)
    data[UTILIZATION] = 1 - data[list(changed.idle)].sum(axis=1)
    return data.assign(scheduler=data["scheduler"].replace(SPIN, WITH))


def _told_briefly(data):
    found = ratios(data).set_index("measure")
    by = data.groupby("scheduler")[UTILIZATION].mean()
    told = {"utilization": f"{by[WITHOUT]:.2f}, {by[WITH]:.2f}"}
    for measure, words in WORDS.items():
        told[f"{words}, ratio"] = _interval(*found.loc[measure, ["ratio", "ratio_low", "ratio_high"]])
    return told


SLICES = {"quick": (0.05, 0.2, 1.0), "full": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)}  # seconds


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


def options(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: packings, unified slots, alternate scheduling; interactive jobs."""
    size = chosen_size(size)
    rows = []
    for name, changed in OPTIONS.items():
        data = compare(
            workloads("IO/Msg", SIDE[size], (16,), ("kth",)), configs(WITHOUT, WITH, **changed), name, progress
        )
        rows.append({"workload": "IO/Msg", "option": name, **_told_fully(data)})
    for mix in ADDED:
        runs = workloads(mix, SIDE[size], MACHINES[1:], ("kth",))
        for new in (WITH, SPIN):
            data = compare(runs, configs(WITHOUT, new), mix, progress)
            data["scheduler"] = data["scheduler"].replace(SPIN, WITH)
            rows.append({"workload": mix, "option": new, **_told_fully(data)})
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


def _told_fully(data):
    by = data.groupby("scheduler")[[UTILIZATION, JOBS, "response_time"]].mean()
    told = {}
    for name in (WITHOUT, WITH):
        told[f"{name}: utilization"] = by.loc[name, UTILIZATION]
        told[f"{name}: jobs"] = by.loc[name, JOBS]
    return told | {words: text for words, text in _told_briefly(data).items() if words.endswith("ratio")}


FIGURES = (
    table1,
    table2,
    table3,
    table4,
    table5,
    table6,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
    figure9,
    figure10,
    figure11,
    picture,
    time_spent,
    memberships,
    sensitivity,
    slice_lengths,
    machine_sizes,
    options,
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
    jobs = _jobs(mix, pes, table, seed, faster)
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
        found = _logged(jobs, config, *window).metrics()
        rows[name] = {words: found[key] for key, words in LISTED.items()}
    rows = pd.DataFrame(rows).T.rename_axis(f"{jobs.horizon:,.0f} s, {MODELS[table]}, {mix}").reset_index()
    return _pictures(jobs, settings, window, color), charts.table(rows)


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
_jobs = lru_cache(maxsize=16)(workload)
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


def claims(size: str | None = None, progress: bool = True) -> pd.DataFrame:
    """Give the ledger of the paper's claims, a row for each table of the model."""
    size = chosen_size(size)
    data = pd.concat([results(mix, size, progress) for mix in MIXES], ignore_index=True)
    rows = [{**PUBLISHED[name], **test(), "trace": "no trace"} for name, test in EXACT.items()]
    for table, fit in FITS.items():
        part = data[data["fit"] == fit]
        judge = Judge(part, size)
        tested = {f"SIL-{n}": getattr(judge, f"claim{n}") for n in range(2, 9)}
        tested |= {f"SIL-T{n}": lambda n=n, judge=judge: judge.table(n) for n in TABLES}
        rows += [{**PUBLISHED[name], **test(), "trace": MODELS[table]} for name, test in tested.items()]
    order = list(PUBLISHED)
    return ledger(sorted(rows, key=lambda row: order.index(row["id"])))


def _rows(*rows):
    return {row[0]: dict(zip(("id", "where", "statement", "published"), row, strict=True)) for row in rows}


PUBLISHED = _rows(
    ("SIL-0", "section 5", "the baseline of a spin is a request and its answer, 2 L + 4 o", "55 us"),
    (
        "SIL-1",
        "section 3",
        "memberships of a task that does I/O in every slice",
        "f_IO 0.6, 0.913043, 0.993691, 0.999795",
    ),
    ("SIL-2", "Figure 3", "IO: utilization about doubles, throughput gains less", "in words"),
    ("SIL-3", "section 5", "IO: of the completed jobs one-task jobs are", "about half"),
    (
        "SIL-4",
        "Figures 3 to 7",
        "utilization gains most for IO, then IO/Msg, then IO/Msg/Emb; with BSP about as much as with Msg",
        "in words",
    ),
    (
        "SIL-5",
        "Tables 1 to 6",
        "utilization without information, 8 and 16 PEs",
        "IO 42, 43 %; IO/Msg 63, 62 %; IO/Msg/Emb 72, 70 %",
    ),
    ("SIL-6", "Figures 8 and 9", "spin control: throughput gains, utilization falls a little", "in words"),
    ("SIL-7", "Figures 10 and 11", "Emb/Msg, Emb/BSP: all ratios close to 1, the main gain in utilization", "in words"),
    ("SIL-8", "Figures 3 to 7", "every ratio is above 1", "in words"),
    *(
        (
            f"SIL-T{number}",
            f"Table {number}",
            f"{mix}, {pes} PEs: jobs and utilization with information, without, and their ratios",
            f"{new[0]}, {new[1]:.0%}; {old[0]}, {old[1]:.0%}; {new[0] / old[0]:.2f}, {new[1] / old[1]:.2f}",
        )
        for number, (mix, pes, new, old) in TABLES.items()
    ),
)


def _verdict(holds, measured, reason, otherwise="trend only"):
    return {"measured": measured, "verdict": "reproduced" if holds else otherwise, "reason": "" if holds else reason}


def _baseline():
    measured = gang.simulate(Workload(horizon=1)).baseline
    return _verdict(round(1e9 * measured) == 55_000, f"{1e6 * measured:g} us", "another baseline", "not reproduced")


STEPS = (0.6, 0.913043, 0.993691, 0.999795)


def _classified():
    workload = Workload(pes=1, horizon=1, jobs=((0.0, 1, "io", 1.0),))
    config = Config(floor=0.0, bursts="constant", compute=0.05, disk=0.05)
    schedule = gang.simulate(workload, config, watch=[(1, 0)])
    found = tuple(schedule.memberships(1)["f_io"].round(6)[: len(STEPS)])
    words = ", ".join(f"{value:g}" for value in found)
    return _verdict(found == STEPS, f"f_IO {words}", "other memberships", "not reproduced")


EXACT = {"SIL-0": _baseline, "SIL-1": _classified}


COMPUTING = ("Emb/Msg", "Emb/BSP")
DISKS = tuple(mix for mix in MIXES if mix not in COMPUTING)


def _of_mixes(found, mixes):
    return found[found.index.get_level_values("mix").isin(mixes)]


class Judge:
    """Test the paper's claims on the runs of one table of the model.

    Parameters
    ----------
    data : DataFrame
        As of `results`, all mixes.
    size : {"quick", "full"}

    Notes
    -----
    What an interval leaves open is not decided: a quick run says so instead of a verdict.
    """

    def __init__(self, data: pd.DataFrame, size: str):
        self._data, self._size = data, size
        by = ["mix", "pes", "measure"]
        self._gains = ratios(data).drop(columns="fit").set_index(by)
        self._spun = ratios(data[data["mix"].isin(SPUN)], SPIN, WITH).drop(columns="fit").set_index(by)

    def claim2(self):
        gains = self._gains.loc["IO"]
        checks = [_within(f"utilization, {pes} PEs", gains.loc[(pes, UTILIZATION)], 1.8, 2.2) for pes in MACHINES]
        for pes in MACHINES:
            use, jobs = (gains.loc[(pes, measure), "ratio"] for measure in (UTILIZATION, JOBS))
            checks.append((f"throughput, {pes} PEs, {jobs:.2f}, gains less", bool(jobs < use)))
        return self._judged(checks, _ratios_told(gains), WHY_IO)

    def claim3(self):
        part = self._data[(self._data["mix"] == "IO")]
        means = over_seeds(part[["pes", "scheduler", "seed", "one_task_share"]].dropna(), ["pes", "scheduler"])
        checks, words = [], []
        for row in means.itertuples():
            share = Ratio(row.one_task_share, row.one_task_share_low, row.one_task_share_high)
            words.append(f"{row.pes} PEs, {row.scheduler}: {_interval(*share)}")
            checks.append(_within(f"share, {row.pes} PEs, {row.scheduler}", share, 0.4, 0.6))
        return self._judged(checks, "; ".join(words), WHY_SHARE)

    def claim4(self):
        use = self._gains.xs(UTILIZATION, level="measure")["ratio"]
        checks = []
        for pes, other in product(MACHINES, ("Msg", "BSP")):
            chain = [use[(mix, pes)] for mix in ("IO", f"IO/{other}", f"IO/{other}/Emb")]
            checks.append((f"order with {other}, {pes} PEs", chain[0] > chain[1] > chain[2]))
        for pes, mix in product(MACHINES, ("IO/{}", "IO/{}/Emb")):
            one, other = (use[(mix.format(kind), pes)] for kind in ("Msg", "BSP"))
            checks.append((f"{mix.format('BSP')} like {mix.format('Msg')}, {pes} PEs", abs(other / one - 1) <= CLOSE))
        return self._judged(checks, _ratios_told(_of_mixes(self._gains, DISKS), UTILIZATION), WHY_EMB)

    def claim5(self):
        checks, words = [], []
        for mix, pes, _, (_, printed) in TABLES.values():
            runs = self._runs(mix, pes, WITHOUT)[UTILIZATION]
            words.append(f"{mix}, {pes} PEs: {_spread_told(runs, '{:.2f}')}")
            checks.append(
                (f"{mix}, {pes} PEs, {printed:.2f} beside {_spread_told(runs, '{:.2f}')}", _one_of(printed, runs))
            )
        return self._judged(checks, "; ".join(words), WHY_REFERENCE, numbers=True)

    def claim6(self):
        checks = []
        for (mix, pes, measure), found in self._spun.iterrows():
            if measure == JOBS:
                checks.append(_above(f"throughput, {mix}, {pes} PEs", found, 1))
            else:
                checks.append(_within(f"utilization, {mix}, {pes} PEs", found, 1 - CLOSE, 1))
        return self._judged(checks, _ratios_told(self._spun), WHY_SPIN)

    def claim7(self):
        gains = _of_mixes(self._gains, COMPUTING)
        checks = [
            _within(f"{WORDS[measure]}, {mix}, {pes} PEs", found, 1 - CLOSE, 1 + CLOSE)
            for (mix, pes, measure), found in gains.iterrows()
        ]
        for mix, pes in product(COMPUTING, MACHINES):
            use, jobs = (gains.loc[(mix, pes, measure), "ratio"] for measure in (UTILIZATION, JOBS))
            checks.append((f"utilization gains more, {mix}, {pes} PEs", bool(use > jobs)))
        return self._judged(checks, _ratios_told(gains), WHY_SLOTS)

    def claim8(self):
        gains = _of_mixes(self._gains, DISKS)
        checks = [
            _above(f"{WORDS[measure]}, {mix}, {pes} PEs", found, 1) for (mix, pes, measure), found in gains.iterrows()
        ]
        return self._judged(checks, _ratios_told(gains), "")

    def table(self, number: int) -> dict:
        """Compare each number of a table with single runs: is it one of the middle 95 %?"""
        mix, pes, *printed = TABLES[number]
        new, old = (self._runs(mix, pes, name) for name in (WITH, WITHOUT))
        checks, words = [], []
        for measure, form in ((JOBS, "{:.1f}"), (UTILIZATION, "{:.2f}")):
            place = (JOBS, UTILIZATION).index(measure)
            one, other = (values[place] for values in printed)
            for name, value, runs in ((WITH, one, new[measure]), (WITHOUT, other, old[measure])):
                words.append(f"{JOBS if measure == JOBS else UTILIZATION} {name} {_mean_told(runs, form)}")
                checks.append(
                    (f"{WORDS[measure]} {name} {value:g}, runs {_spread_told(runs, form)}", _one_of(value, runs))
                )
            ratio = (new[measure] / old[measure]).replace(np.inf, np.nan).dropna()
            found = self._gains.loc[(mix, pes, measure)]
            words.append(f"ratio {_interval(*found)}")
            checks.append(
                (
                    f"{WORDS[measure]}, ratio {one / other:.2f}, runs {_spread_told(ratio, '{:.2f}')}",
                    _one_of(one / other, ratio),
                )
            )
        gains = [self._gains.loc[(mix, pes, measure), "ratio_low"] > 1 for measure in WORDS]
        wrong = [told for told, holds in checks if holds is False]
        known = {JOBS: WHY_TABLES, UTILIZATION: WHY_USED.get(mix, "")}
        reasons = [known[measure] for measure in WORDS if any(told.startswith(WORDS[measure]) for told in wrong)]
        return self._judged(checks, "; ".join(words), ". ".join(filter(None, reasons)), numbers=True, trend=all(gains))

    def _runs(self, mix, pes, scheduler):
        data = self._data
        part = data[(data["mix"] == mix) & (data["pes"] == pes) & (data["scheduler"] == scheduler)]
        return part.set_index("seed")[list(WORDS)]

    def _judged(self, checks, measured, why, *, numbers=False, trend=True):
        """Give the verdict on checks that hold (True), do not (False), or that the intervals leave open (None)."""
        wrong = [words for words, holds in checks if holds is not None and not holds]
        unclear = [words for words, holds in checks if holds is None]
        quick = self._size == "quick"
        if quick and not wrong and (numbers or unclear):
            few = f"{RUNS['quick'][0]} seeds do not tell; SIZE=full for {RUNS['full'][0]}"
            return {"measured": measured, "verdict": "not testable", "reason": few}
        if not wrong and not unclear:
            return {"measured": measured, "verdict": "reproduced", "reason": ""}
        faults = [f"not: {'; '.join(wrong)}"] * bool(wrong) + [f"not clear: {'; '.join(unclear)}"] * bool(unclear)
        right = sum(bool(holds) for _, holds in checks)
        verdict = "trend only" if trend and right >= len(wrong) else "not reproduced"
        return {"measured": measured, "verdict": verdict, "reason": ". ".join([*faults, *[why] * bool(why)])}


WHY_IO = (
    "Random bursts let all tasks of a PE wait for the disk at once; with constant bursts utilization about doubles "
    "(sensitivity)"
)
WHY_SHARE = "The table of the model decides which jobs there are, and the scheduler hardly changes which are completed"
WHY_EMB = "Tasks that only compute fill empty slots, too, so that mixes with them gain as much"
WHY_REFERENCE = "With constant bursts it is lower (sensitivity)"
WHY_SPIN = (
    "A task that makes room has its PE back at the next slice at the earliest; those that wait for it spin meanwhile"
)
WHY_SLOTS = "Many slots of the matrix are empty without information, and tasks that compute fill nearly all of them"
WHY_TABLES = (
    "Where most jobs last minutes, most of what arrives is completed under either scheduler, and throughput has little "
    "to gain"
)


WHY_USED = {"IO": WHY_IO, "IO/Msg/Emb": WHY_EMB}  # of the tables' utilization


def _above(words, found, bound):
    """Tell whether a ratio is above a bound: None where its interval has the bound within."""
    told = f"{words} {_interval(*found)}"
    low, high = (found.iloc[1], found.iloc[2]) if isinstance(found, pd.Series) else found[1:]
    return told, (True if low > bound else False if high < bound else None)


def _within(words, found, low, high):
    """Tell whether a ratio is between two bounds: None where its interval has one of them within."""
    mean, begin, end = found
    inside = begin >= low and end <= high
    outside = end < low or begin > high
    return f"{words} {_interval(mean, begin, end)}", (True if inside else False if outside else None)


def _middle(runs):
    """Give between which values 95 % of single runs lie."""
    if len(runs) < 2:
        return np.nan, np.nan
    half = t_quantile((1 + CONFIDENCE) / 2, len(runs) - 1) * runs.std(ddof=1) * np.sqrt(1 + 1 / len(runs))
    return runs.mean() - half, runs.mean() + half


def _one_of(value, runs):
    """Tell whether a published run could be one of ours."""
    low, high = _middle(runs)
    return None if np.isnan(low) else bool(low <= value <= high)


def _spread_told(runs, form):
    low, high = _middle(runs)
    return f"{form.format(low)} to {form.format(high)}"


def _mean_told(runs, form):
    half = t_quantile((1 + CONFIDENCE) / 2, len(runs) - 1) * runs.sem()
    return _interval(runs.mean(), runs.mean() - half, runs.mean() + half, form)


def _ratios_told(found, only=None):
    names = [name for name in found.index.names if name != "measure"]
    words = []
    for index, row in found.iterrows():
        *where, measure = index
        if only in (None, measure):
            place = ", ".join(
                f"{value} PEs" if name == "pes" else value for name, value in zip(names, where, strict=True)
            )
            words.append(f"{place}: {WORDS[measure]} {_interval(*row)}")
    return "; ".join(words)
