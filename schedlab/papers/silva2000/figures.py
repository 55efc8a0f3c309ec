"""The paper's tables and figures, and what explains them."""

from itertools import product

import pandas as pd

from schedlab import charts, gang
from schedlab.experiment import remember
from schedlab.gang import Config, GangSchedule, Workload
from schedlab.schedule.statistics import over_seeds
from schedlab.show import interval

from ..cards import BROAD, Drawing, rebuilt
from . import grids
from .grids import DRAWN, FITS, JOBS, LABELLED, MACHINES, SPIN, TABLES, UTILIZATION, WITH, WITHOUT, WORDS, workload


def _table(number):
    """Make the function that rebuilds one of the paper's tables."""
    mix, pes, *published = TABLES[number]

    def run(size, progress):
        data = grids.results(mix, size, progress, (pes,) if size == "now" else MACHINES)
        return data[data["pes"] == pes]

    def draw(runs):
        (new, old), ratio = published, grids.ratios(runs.data).set_index(["fit", "measure"])["ratio"]
        gains = {fit: ratio[fit, UTILIZATION] for fit in FITS.values()}
        return Drawing(
            f"{mix} on {pes} PEs: information multiplies utilization by {grids.range_of(gains.values())} (published: "
            f"{new[1] / old[1]:.2f})",
            f"Throughput is multiplied by {grids.range_of(ratio[fit, JOBS] for fit in FITS.values())} (published: "
            f"{new[0] / old[0]:.2f}). {_kinds(mix)} PEs: processors.",
            f"Completed jobs and utilization, as published and under two fits of the job model. "
            f"{_measured_on(runs.size)}",
            None,
            _beside_published(runs.data, *published),
        )

    about = f"Rebuild Table {number}: {mix} on {pes} PEs."
    return rebuilt(f"Table {number}", draw, (LABELLED,), name=f"table{number}", about=about, **grids.OF_RUNS)(run)


def _measured_on(size):
    return f"Means of {grids.sampled(size)}, 95 % intervals over the seeds; the paper has one run."


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
            rows.append(row | {"ratio": grids.written_ratios(part)[f"{WORDS[measure]}, ratio"]})
    named = dict.fromkeys([WITH, WITHOUT, *data["scheduler"]])
    return pd.DataFrame(rows, columns=["", *named, "ratio"]).fillna("-")


PAPERS_TABLES = tuple(map(_table, TABLES))
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
SAID = {"IO": "compute and use the disk by turns", "Msg": "send messages"}
SAID |= {"BSP": "meet at barriers", "Emb": "only compute"}


def _kinds(mix):
    """Say what the jobs of a mix do."""
    return f"Jobs: {'; '.join(f'{kind}: {SAID[kind]}' for kind in mix.split('/'))}."


def _ratio_figure(number):
    """Make the function that rebuilds one of the figures of ratios."""
    mix, new, in_the_paper = RATIO_FIGURES[number]
    old, what = (WITHOUT, "information") if new == WITH else (WITH, "spin control")

    def run(size, progress):
        return grids.results(mix, size, progress, MACHINES[:1] if size == "now" else MACHINES)

    def draw(runs):
        data, rings = runs.both(lambda table: _by_machine(grids.ratios(table, new, old).dropna(subset="ratio")))
        published = _published(mix) if new == WITH else None
        options = {"published": published, "rings": rings, "range_label": "single runs, least to most"}
        chart = charts.ratios(data, x=MEASURED, y="ratio", color="fit", width=BROAD, **options)
        of = {measure: grids.range_of(data.loc[data["measure"] == measure, "ratio"]) for measure in WORDS}
        return Drawing(
            f"{mix}: {what} multiplies utilization by {of[UTILIZATION]}, throughput by {of[JOBS]}",
            f"{_by_fit(data)} {in_the_paper} {_kinds(mix)}",
            f"Of the same jobs under the scheduler {new}, over {old}. {_measured_on(runs.size)}",
            chart,
            printed="diamonds" if published is not None else "",
        )

    about = f"Rebuild Figure {number}: {mix}, {new} over {old}."
    return rebuilt(f"Figure {number}", draw, (LABELLED,), name=f"figure{number}", about=about, **grids.OF_RUNS)(run)


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


PAPERS_FIGURES = tuple(map(_ratio_figure, RATIO_FIGURES))
SHOWN = {"mix": "IO/Msg", "pes": 8, "table": "kth", "seed": 1, "faster": 25}
PICTURED = (1_200.0, 1_201.0)


@remember(64)
def logged_schedule(workload, config, begin, end) -> GangSchedule:
    return gang.simulate(workload, config, log=(begin, end))


def slices_under(workload, settings, window, color="job", **size):
    """Draw some slices of the same jobs under schedulers by name."""
    schedules = {
        name[0].upper() + name[1:]: logged_schedule(workload, config, *window) for name, config in settings.items()
    }
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
        f"One second, five slices: {SHOWN['mix']}, {grids.MODELS[SHOWN['table']]}, seed {SHOWN['seed']}, "
        f"jobs coming and going {SHOWN['faster']} times as fast.",
        slices_under(workload(**SHOWN), grids.configs(*DRAWN), PICTURED),
        ringed=False,
    )


@rebuilt("", _draw_slices, by=("scheduler", "order"), measures=("pe", "job", "rank", "begin", "end"))
def picture(size: str, progress: bool) -> pd.DataFrame:
    """Show what each PE does, slice by slice, without and with information, and under spin control."""
    jobs, settings = workload(**SHOWN), grids.configs(*DRAWN)
    logs = [logged_schedule(jobs, config, *PICTURED).log.assign(scheduler=name) for name, config in settings.items()]
    return pd.concat(logs).rename(columns=grids.KEPT_AS).rename_axis("order").reset_index()


def _draw_time_spent(runs):
    shares = runs.data.melt(["mix", "pes", "fit", "scheduler"], var_name="what", value_name="share")
    shares["bar"] = shares["mix"] + ", " + shares["scheduler"]
    bars = [f"{mix}, {scheduler}" for mix, scheduler in product(grids.MIXES, DRAWN)]
    shares = shares.sort_values("bar", key=lambda names: names.map(bars.index), kind="stable")
    how = {"column": "fit", "height": 12 * shares["bar"].nunique()}  # both machines are to fit on a screen
    panels = [
        charts.shares(shares[shares["pes"] == pes], "bar", title=f"Where the time of {pes} PEs goes", **how)
        for pes in MACHINES
    ]
    spun = runs.data[runs.data["mix"].isin(grids.SPUN)].groupby("scheduler")["spinning"].mean()
    return Drawing(
        f"Spin control cuts spinning from {100 * spun[WITH]:.0f} to {100 * spun[SPIN]:.0f} % of the time",
        "Spinning and switching count as busy, as in the paper. Where tasks communicate, a part of the utilization is "
        "spinning, and this is the part that spin control reduces.",
        f"Means of {grids.sampled(runs.size)}.",
        charts.stacked(panels),
    )


@rebuilt("", _draw_time_spent, (LABELLED,), again=None)
def time_spent(size: str, progress: bool) -> pd.DataFrame:
    """Show where the PEs' time goes under each scheduler."""
    data = pd.concat([grids.results(mix, size, progress) for mix in grids.MIXES])
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
