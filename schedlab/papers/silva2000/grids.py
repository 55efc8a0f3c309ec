"""The paper's mixes of jobs under its schedulers, and the ratios between these."""

from dataclasses import replace
from itertools import product

import pandas as pd

from schedlab import charts, gang
from schedlab._runtime.text import check_known
from schedlab.experiment import remember, table_of
from schedlab.gang import Config, Workload
from schedlab.schedule.statistics import ratio_over_seeds
from schedlab.show import interval

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
RATIO = ["ratio", "ratio_low", "ratio_high"]
SINGLE = ["ratio_range_low", "ratio_range_high"]  # of single seeds
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


def compare(mix, sample, label, progress=True, machines=MACHINES, tables=tuple(FITS), schedulers=(), **settings):
    """Simulate the same jobs of a mix under each scheduler (by default those that the paper compares on it).

    One row a run: mix, pes, fit, seed, scheduler, and the measures of `run`.
    """
    seeds, faster = sample
    runs, names = [], []
    for table, pes, seed, scheduler in product(tables, machines, range(seeds), schedulers or COMPARED[mix]):
        names.append({"mix": mix, "pes": pes, "fit": FITS[table], "seed": seed, "scheduler": scheduler})
        runs.append(dict(mix=mix, pes=pes, table=table, seed=seed, faster=faster, scheduler=scheduler, **settings))
    return table_of(run, runs, names, activity=label, progress=progress)


def results(mix: str, size: str, progress: bool = True, machines: tuple[int, ...] = MACHINES) -> pd.DataFrame:
    """Return the runs behind the paper's tables and figures of a mix, as `compare` does."""
    tables = ("kth",) if size == "now" else tuple(FITS)  # beside a kept figure
    return compare(mix, RUNS[size], f"gangs, {mix}", progress, machines, tables)


def ratios(data: pd.DataFrame, new: str = WITH, old: str = WITHOUT) -> pd.DataFrame:
    """Compare two schedulers over the same seeds: a row for each mix, fit, machine and measure (of `WORDS`)."""
    rows = []
    for key, part in data.groupby(["mix", "fit", "pes"], sort=False):
        by = part.set_index(["scheduler", "seed"])[list(WORDS)]
        these, those = by.loc[new].align(by.loc[old])  # seed by seed
        single = (these / those).agg(["min", "max"])
        rows += [
            (*key, measure, *ratio_over_seeds(these[measure], those[measure]), *single[measure]) for measure in WORDS
        ]
    return pd.DataFrame(rows, columns=["mix", "fit", "pes", "measure", *RATIO, *SINGLE])


def sampled(size, runs=RUNS):
    """Say how many seeds are run for how long, and for a quick run how many the full size has."""
    seeds, faster = runs[size]
    text = f"{seeds} {'seed' if seeds == 1 else 'seeds'} of {HORIZON:,} s"
    if faster != 1:
        text += f", arrivals and durations compressed {faster} times"
    return text if size == "full" else f"{text} (quick; full size: {sampled('full', runs)})"


BY = ("mix", "pes", "fit", "scheduler")
OF_RUNS = {"by": BY, "measures": (JOBS, UTILIZATION), "again": "now"}


def range_of(values):
    values = sorted(values)
    return " to ".join(dict.fromkeys(f"{end:.2f}" for end in (values[0], values[-1])))


def written_ratios(data):
    """Write down the ratios of one mix on one machine, with their intervals."""
    intervals = ratios(data).set_index("measure")[RATIO]
    return {f"{label}, ratio": interval(*intervals.loc[measure]) for measure, label in WORDS.items()}
