"""What the paper leaves open, and what is beyond it."""

from itertools import product

import pandas as pd

from schedlab import charts
from schedlab.schedule.statistics import over_seeds

from ..cards import Drawing, rebuilt
from . import grids
from .grids import JOBS, LABELLED, SPIN, UTILIZATION, WITH, WITHOUT, WORDS, compare, range_of, sampled, written_ratios

SIDE = {"quick": (4, 200), "now": (1, 20), "full": (10, 20)}  # the same, for experiments outside the paper's figures
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
    """Return each number of the readings (text, as `sensitivity` has it), and its change (%) from the first reading."""
    both = table["utilization"].str.split(", ", expand=True)
    columns = {"utilization without information": both[0], "utilization with information": both[1]}
    for label in WORDS.values():
        columns[f"{label} multiplied by"] = table[f"{label}, ratio"].str.partition(" ")[0]
    rows = table[["mix", "reading"]].assign(**columns)
    rows = rows.melt(["mix", "reading"], var_name="measure", value_name="number")
    numbers = rows["number"].astype(float)
    first = numbers.groupby([rows["mix"], rows["measure"]]).transform("first")
    return rows.assign(**{"change (%)": 100 * (numbers / first - 1)})


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
        f"8 PEs, KTH fit. Means of {sampled(runs.size, SIDE)}.",
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
        rows.append(row | written_ratios(data))
    return pd.DataFrame(rows)


def runs_as_read(mix, size, label, progress, pes=8, table="kth", spun=False, idle=("idle",), **settings):
    """Run a mix as `compare` does; `spun` adds spin control to "with information", `idle` names what counts as idle."""
    schedulers = (WITHOUT, SPIN if spun else WITH)
    data = compare(mix, SIDE[size], label, progress, (pes,), (table,), schedulers, **settings)
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
        f"8 PEs, KTH fit, {sampled(runs.size, SIDE)}.",
        chart,
    )


@rebuilt("", _draw_slice_lengths, (LABELLED,), by=("mix", "slice", "scheduler"), measures=(UTILIZATION,), again="now")
def slice_lengths(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: other lengths of the slice."""
    parts = [
        compare(mix, SIDE[size], f"slice {s:g} s, {mix}", progress, (8,), ("kth",), slice=s).assign(slice=1000 * s)
        for s, mix in product(SLICES[size], READ_ON)
    ]
    return pd.concat(parts, ignore_index=True)


SIZES = {"quick": (8, 32, 128), "now": (8, 32, 128), "full": (8, 16, 32, 64, 128, 256, 512, 1024)}
SCALED = {"quick": (1, 200), "now": (1, 20), "full": (3, 20)}


def _draw_machine_sizes(runs):
    means, chart = _utilization_lines(runs, "pes")
    gains = means.pivot_table(index="pes", columns=["scheduler", "mix"], values=UTILIZATION)
    ratio = gains[WITH] / gains[WITHOUT]
    few, many = ratio.iloc[0], ratio.iloc[-1]
    return Drawing(
        f"Information multiplies utilization by {range_of(few)} on {few.name:,} PEs, by {range_of(many)} on "
        f"{many.name:,}",
        "With more PEs jobs are wider, and beyond 256 PEs there are fewer jobs for each PE.",
        f"CTC fit; jobs of its size ranges up to the size of the machine arrive. {sampled(runs.size, SCALED)}.",
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
    means, rings = runs.both(lambda data: over_seeds(data[[*by, "seed", UTILIZATION]], by))
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
    both = by_option.loc["both", f"{WITHOUT}: utilization"]
    measured = by_option.loc["as in the paper", f"{WITH}: utilization"]
    return Drawing(
        f"Unified slots and alternate scheduling together bring {both:.2f} utilization, runtime measurements alone "
        f"{measured:.2f}",
        "Later additions to gang scheduling recover what the scheduler without information loses to empty slots; only "
        "runtime measurements recover what it loses to blocked tasks.",
        f"16 PEs, KTH fit, means of {sampled(runs.size, SIDE)}.",
        None,
        runs.data,
    )


@rebuilt("", _draw_options, (LABELLED,), again=None)
def options(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: packings, unified slots, alternate scheduling; interactive jobs."""
    compared = [("IO/Msg", option, changed) for option, changed in OPTIONS.items()]
    compared += [(mix, new, {"spun": new == SPIN}) for mix in grids.ADDED for new in (WITH, SPIN)]
    rows = []
    for mix, option, changed in compared:
        data = runs_as_read(mix, size, f"{mix}, {option}", progress, 16, **changed)
        row, means = {"workload": mix, "option": option}, data.groupby("scheduler")[[UTILIZATION, JOBS]].mean()
        for name in (WITHOUT, WITH):
            row |= {f"{name}: utilization": means.loc[name, UTILIZATION], f"{name}: jobs": means.loc[name, JOBS]}
        rows.append(row | written_ratios(data))
    return pd.DataFrame(rows)
