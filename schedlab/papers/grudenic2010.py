"""Grudenić and Bogunović: DPSA, lookahead backfilling that fills the hole before the reservation as well as it can."""

import re
import time
import warnings
from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from schedlab import charts
from schedlab.experiment import sweep
from schedlab.metrics import bounded_slowdown
from schedlab.schedule import Schedule
from schedlab.schemes import DPSA, EASY
from schedlab.simulation import case_of, simulate, simulate_many
from schedlab.statistics import IntervalWarning, over_seeds, paired, ratios_of_means, t_quantile
from schedlab.workload import archive, swf
from schedlab.workload.models.tsafrir import fit_tsafrir
from schedlab.workload.trace import Trace, load_trace

from . import kept
from .core import log_or_standin, standing_in
from .figure import Figure, Paper, chosen_size, rebuilt
from .ledger import Check, Claim, Ledger, exact, formatted, interval, judged, ledger, untestable

TITLE = "Lookahead backfilling (Grudenić and Bogunović)"
PAPER = Paper(
    authors="I. Grudenić and N. Bogunović",
    title="Computer cluster scheduling algorithm based on time bounded dynamic programming",
    venue="University of Zagreb",
    year=2010,
    says="Filling the hole before EASY's reservation with the best set of jobs lowers the mean bounded slowdown.",
    found=(
        ("Preferring narrow jobs (DPSAn) beats EASY on every log at hand where jobs wait", "GRU-1"),
        ("On most logs the effect of DPSAp, first come, first served, is smaller than chance", "GRU-2"),
        ("Preferring wide jobs (DPSAw) is worse", "GRU-3"),
    ),
)
NAMED = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "HPC2N-2002", "SDSC-Par-1995", "SDSC-Par-1996", "SDSC-SP2-1998")
GUESSED = ("CTC-SP2-1996", "SDSC-BLUE-2000")  # the paper has eight logs and names six
LOGS = NAMED + GUESSED
SCHEMES = (EASY(), DPSA(variant="p"), DPSA(variant="n"), DPSA(variant="w"))
BASE, *VARIANTS = map(str, SCHEMES)
DPSAP, DPSAN, DPSAW = VARIANTS
# Changes of the mean bounded slowdown that the paper's text has of single logs, in percent.
PRINTED = (("LLNL-Atlas-2006", DPSAN, -0.3), ("LLNL-Thunder-2007", DPSAN, -40.0), ("LLNL-Thunder-2007", DPSAP, 17.0))
EFFORT = ("decisions", "greedy", "longest", "table")
MEASURE = "bounded_slowdown"
GAIN = "gain (%)"
PAYS = 5  # percent

COPIES = {"quick": 4, "full": 20}  # shaken
SHAKE = 60  # seconds
TAUS = (10, 1, 60)  # seconds; the first is the paper's
LOADS = {"quick": (0.5, 0.7, 0.9), "full": tuple(round(0.5 + 0.05 * i, 2) for i in range(10))}
COPIES_BY_LOAD = {"quick": 3, "full": 10}
BUDGETS = {"quick": (10, 100, 1_000), "full": (10, 30, 100, 300, 1_000, 10_000, 100_000)}
AUDITED = "CTC-SP2-1996"

# The paper's example, (run time, processors): two jobs run, then J1 to J4 wait. All are submitted at 0. The paper tells
# it in words; these numbers are consistent with all of them.
EXAMPLE = ((2, 4), (7, 3), (2, 6), (4, 3), (5, 2), (4, 2))
EXAMPLE_PROCS = 7
EXAMPLE_NAMES = ("running", "running", "J1", "J2", "J3", "J4")

QUEUE_HOURS = {"t": 1, "s": 1, "m": 4, "l": 12, "ll": 12}
_QUEUE = re.compile(r"qf?\d+(ll|[tsml])")


# How jobs get estimates: overruns are cut at them unless it says otherwise.
USERS, EXACT, LEFT_OUT, RUN_ON = "users' estimates", "exact estimates", "jobs without one left out", "overruns run on"
ESTIMATES = (USERS, EXACT, LEFT_OUT, RUN_ON)


def log(name: str, estimates: str = USERS) -> Trace | None:
    """Give a log as these experiments take it, or its stand-in; None where there is neither.

    Where a user gave no estimate, the run time is taken. The logs of the SDSC Paragon have none at all, but queues with
    limits of time in their names: these are the estimates, or the run time where it is longer or the queue has no
    limit. (Their stand-ins have no queues.)

    Parameters
    ----------
    name : str
    estimates : {"users' estimates", "exact estimates", "jobs without one left out", "overruns run on"}
        None, too, where none or all of the jobs would be left out. Overruns are a matter of the simulation, not of the
        log: `conventions`.
    """
    if estimates not in ESTIMATES:
        raise ValueError(f"unknown estimates {estimates!r}; known: {', '.join(ESTIMATES)}")
    name = archive.resolve(name)
    return _log(name, archive.find(name), estimates)


@lru_cache(maxsize=len(LOGS) * len(ESTIMATES))  # generating a stand-in takes seconds
def _log(name, path, estimates):
    if estimates == RUN_ON:
        return _log(name, path, USERS)
    if estimates == EXACT:
        trace = _log(name, path, USERS)
        return None if trace is None else trace.with_estimates("exact")
    if estimates == LEFT_OUT:
        trace = _log(name, path, USERS)
        missing = 0 if trace is None else without_estimate(trace)
        return log_or_standin(name, missing_estimate="drop") if 0 < missing < len(trace) else None
    trace = log_or_standin(name)
    if trace is None:
        return None
    return with_queue_limits(trace) if name.startswith("SDSC-Par") else trace


def conventions(estimates: str) -> dict[str, str]:
    """Give what `simulate` must be told of the estimates."""
    return {"overrun": "keep" if estimates == RUN_ON else "kill"}


def without_estimate(trace: Trace) -> int:
    """Count the jobs for which the log has no estimate."""
    return int((trace.repaired["field"] == "requested_time").sum())


def label(trace: Trace) -> str:
    """Name a log as the paper does, and say where it is a stand-in."""
    return f"{_plain(trace)} (stand-in)" if trace.source == "stand-in" else _plain(trace)


def _plain(trace):
    return next((name for name in LOGS if trace.name.startswith(name)), trace.name)


def names() -> list[str]:
    """List those of the paper's logs that can be simulated, be it by a stand-in."""
    return [name for name in LOGS if log(name) is not None]


def with_queue_limits(trace: Trace) -> Trace:
    """Take the limit of a job's queue for its estimate, where the name of the queue tells it."""
    limits = {
        number: 3600 * QUEUE_HOURS[found.group(1)]
        for number, name in trace.header.queues.items()
        if (found := _QUEUE.fullmatch(name.strip()))
    }
    limit = trace.table["queue"].map(limits).fillna(0)
    return trace.with_estimates(np.maximum(limit, trace.table["run_time"]).astype("int64"))


def example() -> Trace:
    """Give the paper's example."""
    records = pd.DataFrame({field: np.full(len(EXAMPLE), -1) for field in swf.FIELDS})
    run, procs = zip(*EXAMPLE, strict=True)
    records = records.assign(job_number=range(1, len(EXAMPLE) + 1), submit_time=0, run_time=run, requested_time=run)
    records = records.assign(requested_procs=procs, allocated_procs=procs, user_id=range(1, len(EXAMPLE) + 1))
    records = records.assign(job=EXAMPLE_NAMES)
    table = records.set_index("job_number")
    nothing = table.iloc[:0]
    area = table["run_time"] * table["requested_procs"]
    return Trace(table, "the paper's example", EXAMPLE_PROCS, swf.Header(), "model", nothing, nothing, area)


def _found() -> dict[str, Trace]:
    return {name: trace for name in LOGS if (trace := log(name)) is not None}


def _notes(found) -> tuple[str, ...]:
    """Say which logs are a guess, which are stand-ins, and which are missing."""
    notes = [f"The paper does not name two of its eight logs; {' and '.join(GUESSED)} are a guess."]
    notes += standing_in(name for name, trace in found.items() if trace.source == "stand-in")
    for trace in found.values():
        if trace.source == "stand-in" and trace.name.startswith("SDSC-Par"):
            notes.append(f"{label(trace)} has no queues, hence no limits: its estimates are the run times.")
    if any(trace.source == "stand-in" and trace.name.startswith("LLNL") for trace in found.values()):
        notes.append("Jobs of the stand-ins of LLNL's logs, too, are submitted when they fit, and hardly ever wait.")
    if len(found) < len(LOGS):
        missing = ", ".join(name for name in LOGS if name not in found)
        notes.append(f"Neither log nor stand-in at hand: {missing}.")
    return tuple(notes)


def changes(size: str, progress: bool = True, estimates: str = USERS) -> pd.DataFrame:
    """Compare the three variants with EASY on every log.

    Returns
    -------
    DataFrame
        One row for each log and scheme: utilization of the log itself; over copies of the log whose submissions were
        shaken, the mean bounded slowdown, change (percent, of this mean against that of EASY), the interval of this
        change (change_low, change_high), and the range of the changes on single copies (shaken_low, shaken_high; 2.5 %
        and 97.5 % quantiles); of the log itself, the change (logged) and its interval by batch means of the paired jobs
        (paired_low, paired_high).

    Notes
    -----
    Schedules are chaotic, and a single run of EASY would bring its luck into the changes of all variants: each copy has
    its own, and is compared within itself.
    """
    traces = _logs(estimates)
    bar = tqdm(traces.items(), desc=f"shaking, {estimates}", unit="log", delay=1, leave=False, disable=not progress)
    rows = [_changes(name, trace.title, COPIES[size], estimates) for name, trace in bar]
    return pd.DataFrame([row for several in rows for row in several])


def _logs(estimates):
    return {name: trace for name in LOGS if (trace := log(name, estimates)) is not None}


@lru_cache(maxsize=len(LOGS) * len(ESTIMATES))  # by title, lest a stand-in be taken for the log
def _changes(name, title, copies, estimates):
    trace = log(name, estimates)
    base, *others = _compared(trace, **conventions(estimates))
    runs = _shaken(name, title, copies, estimates)
    means, changes = runs.groupby("scheme")[TAUS[0]].mean(), _against_easy(runs)
    facts = {"trace": label(trace), "title": title, "utilization": base.metrics()["utilization"]}
    rows = [{**facts, "scheme": BASE, MEASURE: means[BASE]}]
    for schedule in others:
        scheme = str(schedule.scheme)
        logged = 100 * (_means(schedule)[TAUS[0]] / _means(base)[TAUS[0]] - 1)
        row = {"scheme": scheme, MEASURE: means[scheme], **changes.loc[scheme], "logged": logged}
        rows.append({**facts, **row, **_certain(schedule, base)})
    return rows


@lru_cache(maxsize=len(LOGS) * len(ESTIMATES))
def _shaken(name, title, copies, estimates):
    return _over_copies(log(name, estimates), copies, **conventions(estimates))


def _over_copies(trace, copies, **told):
    """Simulate shaken copies; one row for each copy (seed) and scheme: the mean bounded slowdown for each tau."""
    return pd.DataFrame(
        [
            {"seed": seed, "scheme": str(schedule.scheme), **_means(schedule)}
            for seed in range(copies)
            for schedule in _compared(trace.shake(SHAKE, seed), **told)
        ]
    )


def _compared(trace, **told):
    return simulate_many([(trace, scheme) for scheme in SCHEMES], **told)


def _means(schedule):
    submit = schedule.trace.table["submit_time"].to_numpy()
    turnaround, run = schedule.end - submit, schedule.end - schedule.start
    return {tau: float(bounded_slowdown(turnaround, run, tau).mean()) for tau in TAUS}


def _against_easy(runs, tau=TAUS[0]):
    """Give, for each variant, the change of the mean over the copies, its interval, and the range of single copies."""
    base = runs[runs["scheme"] == BASE].set_index("seed")[tau]
    runs = runs[runs["scheme"] != BASE].assign(base=lambda table: table["seed"].map(base))
    runs = runs.assign(
        change=100 * (ratios_of_means(runs, tau, "base", ["scheme"]) - 1), single=100 * (runs[tau] / runs["base"] - 1)
    )
    found = over_seeds(runs[["scheme", "seed", "change"]], "scheme").set_index("scheme").drop(columns="seeds")
    single = runs.groupby("scheme")["single"]
    return found.assign(shaken_low=single.quantile(0.025), shaken_high=single.quantile(0.975))


def _certain(schedule: Schedule, base: Schedule):
    with warnings.catch_warnings(action="ignore", category=IntervalWarning):  # the caption says it of all of them
        ratio = paired(schedule, base, MEASURE).ratio
    return {"paired_low": 100 * (ratio.low - 1), "paired_high": 100 * (ratio.high - 1)}


@rebuilt
def figure1(size: str | None = None, progress: bool = True) -> Figure:
    """Rebuild Figure 1: one example under EASY and under DPSA."""
    chosen_size(size)
    schedules = {str(scheme): simulate(example(), scheme) for scheme in (EASY(), DPSA())}
    tables = [one.jobs.assign(scheme=name) for name, one in schedules.items()]
    data = pd.concat(tables)[["scheme", "job", "start_time", "end_time"]].reset_index(drop=True)
    title = "The same jobs under EASY and under DPSA"
    subtitle = f"the paper's example: {EXAMPLE_PROCS} processors; two jobs run, J1 to J4 wait in this order"
    chart = charts.gantts(schedules, color="job", label="job", title=title, subtitle=subtitle)
    measured = {
        name: {
            "makespan (s)": int(schedule.end.max()),
            "utilization": float((schedule.run * schedule.procs).sum() / (EXAMPLE_PROCS * schedule.end.max())),
            "mean slowdown of J1 to J4": float(schedule.jobs["slowdown"].iloc[2:].mean()),
            **{f"start of {job} (s)": int(at) for job, at in zip(EXAMPLE_NAMES[2:], schedule.start[2:], strict=True)},
        }
        for name, schedule in schedules.items()
    }
    return Figure(
        name="figure1",
        title="Figure 1: the same jobs under EASY and under DPSA",
        caption=(
            "At 2 s four processors become free. J1, the head of the queue, needs six and has to wait until 7 s. EASY "
            "starts J2, the first job that fits, on three of the four. DPSA starts J3 and J4, which use all four, and "
            "is done earlier. The paper gives the example in words; the numbers here agree with all of them. Estimates "
            "are exact."
        ),
        data=data,
        chart=chart,
        table=pd.DataFrame(measured).rename_axis("measure").reset_index(),
    )


@rebuilt
def figure3(size: str | None = None, progress: bool = True, estimates: str = USERS) -> Figure:
    """Rebuild Figure 3: change of the mean bounded slowdown against EASY, by log.

    Parameters
    ----------
    size, progress
        As in `core.figure1`.
    estimates : str
        One of `ESTIMATES`; see `log`.
    """
    size = chosen_size(size)
    data = changes(size, progress, estimates)
    if data.empty:
        return _nothing("figure3", "Figure 3: change of the mean bounded slowdown")
    return Figure(
        name="figure3",
        title="Figure 3: change of the mean bounded slowdown",
        caption=(
            f"Below zero is better than EASY. {_counted(data)} Bars: means over {_copies(size)}, EASY and the variant "
            "on the same copies; lines: 95 % intervals of these means. Boxes: where single copies lie; where they "
            "reach across zero, the sign of a single run means little. The table has the log itself, too, with an "
            "interval by batch means of its paired jobs; where few bursts of jobs decide the mean it is wide, or has "
            "no bounds. LLNL's logs record no arrival times: submissions are starts, and little waits."
        ),
        data=data,
        chart=_bars(data, size, estimates, width=BROAD),
        table=_table(data),
        notes=_notes(_found()),
    )


@rebuilt
def figure3_estimates(size: str | None = None, progress: bool = True) -> Figure:
    """Rebuild Figure 3 for each convention about estimates."""
    size = chosen_size(size)
    data = _by_estimates(size, progress)
    if data.empty:
        return _nothing("figure3-estimates", "Figure 3 by convention about estimates")
    return Figure(
        name="figure3-estimates",
        title="Figure 3 by convention about estimates",
        caption=(
            "The paper does not say what it did about missing and overrun estimates. Panels: as above (run times cut "
            "at the estimate; the run time where a user gave none); the run time for all; jobs without an estimate "
            "left out, on the logs that have some with and some without; overruns run on. Of LLNL-Thunder hardly any "
            "work is left where jobs without an estimate are left out, so that nothing waits."
        ),
        data=data,
        chart=charts.stacked([_bars(part, size, words) for words, part in data.groupby("estimates", sort=False)]),
        table=pd.concat([_table(part, words) for words, part in data.groupby("estimates", sort=False)]),
        notes=_notes(_found()),
    )


def _by_estimates(size, progress):
    return pd.concat([changes(size, progress, estimates).assign(estimates=estimates) for estimates in ESTIMATES])


BROAD = 760  # pixels, for bars that have the page to themselves


def _bars(data, size, estimates, width=None):
    names = {"change": f"{MEASURE}_change", "shaken": f"{MEASURE}_change_range"}
    return charts.bars(
        data.rename(columns={f"{old}_{end}": f"{new}_{end}" for old, new in names.items() for end in ("low", "high")}),
        x="trace",
        y=MEASURE,
        base=BASE,
        published=_published(data, f"{MEASURE}_change"),
        range_label=SHAKEN,
        title=f"DPSA against EASY: {estimates}",
        subtitle=_with_standins(f"whole logs, {_copies(size)}", data),
        width=width,
    )


def _with_standins(words, data):
    return "; ".join([words, *(title for title in data["title"].unique() if "stand-in" in title)])


def _published(data, column):
    """Give the changes (percent) that the paper's text has of the logs that are drawn."""
    labels = {name: label for label in data["trace"] for name, *_ in PRINTED if label.startswith(name)}
    rows = [(labels[name], scheme, change) for name, scheme, change in PRINTED if name in labels]
    return pd.DataFrame(rows, columns=["trace", "scheme", column]) if rows else None


def _table(data, estimates=None):
    others = data[data["scheme"] != BASE]
    shown = others[["trace", "scheme", "change"]].rename(columns={"change": "change (%)"})
    shown = shown.assign(**_told(others))
    if estimates is not None:
        shown.insert(0, "estimates", estimates)
    return shown.reset_index(drop=True)


def _counted(data):
    """Tell on how many logs each variant is better than EASY."""
    counts = [
        f"{scheme} on {(changes < 0).sum()}"
        for scheme, changes in data[data["scheme"] != BASE].groupby("scheme", sort=False)["change"]
    ]
    return f"Better, of {data['trace'].nunique()} logs: {', '.join(counts)}."


def _nothing(name, title):
    """Give the figure where there is no log to draw it from."""
    return Figure(name, title, "None of the paper's logs is at hand.", pd.DataFrame(), notes=_notes({}))


SHAKEN = "single copies, 95 %"


def _copies(size):
    return f"{COPIES[size]} copies with submissions shaken by up to a minute"


def _told(data):
    """Give the columns that tables have beside the means over the copies."""
    return {
        "interval": _ranges(data, "change"),
        "single copies, 95 %": _ranges(data, "shaken"),
        "the log itself": data["logged"],
        "its paired interval": _ranges(data, "paired"),
    }


def _ranges(data, kind):
    ends = zip(data[f"{kind}_low"], data[f"{kind}_high"], strict=True)
    return [_range(*both) if np.isfinite(both).all() else "no bounds" for both in ends]


def _range(low, high):
    return f"{formatted(low, '{:+.1f}')} to {formatted(high, '{:+.1f}')}"


@rebuilt
def figure4(size: str | None = None, progress: bool = True, estimates: str = USERS) -> Figure:
    """Rebuild Figure 4: what DPSAn gains, and the utilization of the log; parameters as in `figure3`."""
    size = chosen_size(size)
    data = changes(size, progress, estimates)
    if data.empty:
        return _nothing("figure4", "Figure 4: DPSAn and utilization")
    gains = _gains(data)
    return Figure(
        name="figure4",
        title="Figure 4: DPSAn and utilization",
        caption=(
            "Above as in the paper, logs in order of utilization; below gain against utilization. Lookahead needs a "
            "queue: on a log that uses little of its machine there is nothing to choose from. Spearman's rank "
            f"correlation of gain and utilization: {_rank_correlation(gains):.2f}."
        ),
        data=gains,
        chart=charts.stacked([_in_order(gains), _points(gains, size, estimates)]),
        table=_table_of_gains(gains),
        notes=_notes(_found()),
    )


@rebuilt
def figure4_estimates(size: str | None = None, progress: bool = True) -> Figure:
    """Rebuild Figure 4 for each convention about estimates."""
    size = chosen_size(size)
    data = _by_estimates(size, progress)
    if data.empty:
        return _nothing("figure4-estimates", "Figure 4 by convention about estimates")
    gains = {words: _gains(part) for words, part in data.groupby("estimates", sort=False)}
    told = ", ".join(f"{words} {_rank_correlation(part):.2f}" for words, part in gains.items() if len(part) > 4)
    return Figure(
        name="figure4-estimates",
        title="Figure 4 by convention about estimates",
        caption=f"Panels as in Figure 3 by convention. Spearman's rank correlation of gain and utilization: {told}.",
        data=pd.concat(gains.values()),
        chart=charts.stacked([_points(part, size, words) for words, part in gains.items()]),
        table=pd.concat([_table_of_gains(part, words) for words, part in gains.items()]),
        notes=_notes(_found()),
    )


def _gains(data):
    gains = data[data["scheme"] == DPSAN].sort_values("utilization")
    names = {"change": GAIN, "shaken": f"{GAIN}_range"}
    turned = {"low": "high", "high": "low"}
    ends = {f"{new}_{end}": -gains[f"{old}_{turned[end]}"] for old, new in names.items() for end in turned}
    return gains.assign(**{GAIN: -gains["change"], **ends})


def _in_order(gains):
    """Draw gain and utilization side by side, both in percent, logs in order of utilization."""
    series = {"gain": gains[GAIN], "utilization": 100 * gains["utilization"]}
    rows = [gains[["trace"]].assign(series=name, percent=values) for name, values in series.items()]
    published = _published(gains, "percent")
    if published is not None:
        published = published[published["scheme"] == DPSAN].drop(columns="scheme")
        published = published.assign(series=next(iter(series)), percent=-published["percent"])
    return charts.bars(
        pd.concat(rows, ignore_index=True),
        x="trace",
        y="percent",
        color="series",
        published=published,
        title=f"{DPSAN}'s gain and utilization",
        subtitle="whole logs in order of utilization under EASY; gain over EASY in the mean bounded slowdown",
    )


def _points(gains, size, estimates):
    return charts.points(
        gains,
        x="utilization",
        y=GAIN,
        label="trace",
        range_label=SHAKEN,
        title=f"What DPSAn gains over EASY: {estimates}",
        subtitle=_with_standins(f"in the mean bounded slowdown; whole logs, {_copies(size)}", gains),
    )


def _table_of_gains(gains, estimates=None):
    turned = {f"{kind}_low": -gains[f"{kind}_high"] for kind in ("change", "shaken", "paired")}
    turned |= {f"{kind}_high": -gains[f"{kind}_low"] for kind in ("change", "shaken", "paired")}
    shown = gains[["trace", "utilization", GAIN]].assign(**_told(gains.assign(**turned, logged=-gains["logged"])))
    shown = shown.reset_index(drop=True)
    if estimates is not None:
        shown.insert(0, "estimates", estimates)
    return shown


def _rank_correlation(gains):
    return float(gains[GAIN].rank().corr(gains["utilization"].rank()))


@rebuilt
def figure4_load(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: what DPSAn gains on each log as its load grows."""
    size = chosen_size(size)
    found = _found()
    if not found:
        return _nothing("figure4-load", "Beyond Figure 4: the same logs at other loads")
    seeds = range(COPIES_BY_LOAD[size])
    table = sweep(list(found.values()), (EASY(), DPSA()), LOADS[size], seeds, shake=SHAKE, progress=progress)
    table["trace"] = table["trace"].map({trace.title: label(trace) for trace in found.values()})
    by = ["trace", "load"]
    wide = table.pivot_table(index=[*by, "seed"], columns="scheme", values=MEASURE, sort=False).reset_index()
    wide[GAIN] = 100 * (1 - ratios_of_means(wide, DPSAN, BASE, by))
    data = over_seeds(wide[[*by, "seed", GAIN]], by)
    chart = charts.lines(
        data,
        x="load",
        y=GAIN,
        color="trace",
        title="What DPSAn gains over EASY as the load grows",
        subtitle="in the mean bounded slowdown; run times and estimates scaled to the load; whole logs: "
        + ", ".join(trace.title for trace in found.values()),
    )
    shown = data.pivot_table(index="trace", columns="load", values=GAIN, sort=False)
    pays = [_pays_from(gains) for _, gains in shown.iterrows()]
    shown = shown.rename(columns=lambda load: f"gain at {load} (%)").assign(**{f"above {PAYS} % from load": pays})
    return Figure(
        name="figure4-load",
        title="Beyond Figure 4: the same logs at other loads",
        caption=(
            f"When DPSAn pays: the last column has the load from which it gains more than {PAYS} % at all higher ones. "
            "Within one log the gain need not grow with the load: the mix of jobs decides as much. Gains of the means "
            f"over {len(seeds)} shaken copies; shaded: 95 % intervals. "
            + ("Three loads (quick; full size: ten, and ten copies)." if size == "quick" else "Ten loads.")
        ),
        data=data,
        chart=chart,
        table=shown.reset_index(),
        notes=_notes(found),
    )


def _pays_from(gains):
    """Give the lowest load from which on all gains are worth while, as text."""
    loads = [load for load in gains.index if (gains[load:] > PAYS).all()]
    return f"{loads[0]}" if loads else "none"


@rebuilt
def bound(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: how far a bounded search stays from the best set."""
    size = chosen_size(size)
    trace = log(AUDITED)
    if trace is None:
        return _nothing("bound", "Beyond the paper: the quality of a bounded search")
    runs = list(product("pnw", BUDGETS[size]))
    exact = {variant: _mean(simulate(trace, DPSA(variant=variant))) for variant in "pnw"}
    rows = []
    for variant, budget in tqdm(runs, desc="searching", unit="run", delay=1, leave=False, disable=not progress):
        scheme = DPSA(variant=variant, budget=budget)
        found = scheme.audit(case_of(trace, scheme)[0])
        missed, lost = found["missed"] / max(found["decisions"], 1), found["lost"] / max(found["best"], 1)
        row = {"scheme": f"DPSA{variant}", "budget": budget, "decisions": found["decisions"]}
        worse = 100 * (_mean(simulate(trace, scheme)) / exact[variant] - 1)
        rows.append({**row, "missed": 100 * missed, "lost": 100 * lost, "worse": worse, "magnitude": np.log10(budget)})
    data = pd.DataFrame(rows)
    words, along = "processors missed (%)", "jobs tried at a pass (powers of ten)"
    most = data[data["budget"] == max(BUDGETS[size])]
    return Figure(
        name="bound",
        title="Beyond the paper: the quality of a bounded search",
        caption=(
            "The paper's search is exponential. Of the processors that the best sets would use, those of a search that "
            f"tries at most {max(BUDGETS[size]):,} jobs at a pass leave {most['lost'].min():.2g} to "
            f"{most['lost'].max():.2g} % idle; a hole that is missed again at the next pass counts again. Small "
            "budgets go into the front of the list, where in a long queue most jobs fit nowhere. The last column has "
            "what the bound does to the mean bounded slowdown, against exact sets, in single runs of the log itself: "
            "where hardly anything is missed, it is chance, as with the single copies of Figure 3. "
            + ("Budgets up to 1,000 (quick; full size: more)." if size == "quick" else "")
        ).strip(),
        data=data,
        chart=charts.lines(
            data.rename(columns={"lost": words, "magnitude": along}),
            x=along,
            y=words,
            title="What a bounded search misses",
            subtitle=f"of the processors that the best sets use, all passes; {trace.title}, whole log",
        ),
        table=data.drop(columns="magnitude").rename(
            columns={"missed": "passes missed (%)", "lost": words, "worse": "change of the slowdown (%)"}
        ),
        notes=standing_in([AUDITED]) if trace.source == "stand-in" else (),
    )


def _mean(schedule):
    return float(schedule.jobs[MEASURE].mean())


@rebuilt
def sensitivity(size: str | None = None, progress: bool = True) -> Figure:
    """Tabulate what the paper leaves open: tau, missing estimates, coinciding events, the cleaning of the logs."""
    size = chosen_size(size)
    found = _found()
    bar = tqdm(found.items(), desc="readings", unit="log", delay=1, leave=False, disable=not progress)
    parts = [
        changes.reset_index().assign(trace=label(trace), reading=words)
        for name, trace in bar
        for words, changes in _readings(name, trace, COPIES[size])
    ]
    columns = ["trace", "reading", "scheme", "change", "change_low", "change_high"]
    data = pd.concat(parts)[columns] if parts else pd.DataFrame(columns=columns)
    data["told"] = [
        "not measured" if np.isnan(change) else interval(change, low, high, "{:+.1f}")
        for change, low, high in data[columns[3:]].itertuples(index=False)
    ]
    shown = data.pivot_table(index=columns[:2], columns="scheme", values="told", aggfunc="first", sort=False)
    return Figure(
        name="sensitivity",
        title="What the paper does not say",
        caption=(
            "Change of the mean bounded slowdown against EASY (%): as in Figure 3, and with one reading changed. Means "
            f"over {_copies(size)}, the same for every reading, with 95 % intervals."
        ),
        data=data.drop(columns="told"),
        table=shown.rename_axis(columns=None).reset_index(),
        notes=_notes(found),
    )


def _readings(name, trace, copies):
    """Give the changes under each reading of what the paper leaves open; nan where it was not measured."""
    nothing = pd.DataFrame(np.nan, pd.Index(VARIANTS, name="scheme"), ["change", "change_low", "change_high"])
    runs = {
        words: _shaken(name, each.title, copies, words) for words in ESTIMATES if (each := log(name, words)) is not None
    }
    yield "as in Figure 3", _against_easy(runs[USERS])
    for tau in TAUS[1:]:
        yield f"tau = {tau} s", _against_easy(runs[USERS], tau)
    yield "one pass for each event", _against_easy(_over_copies(trace, copies, events="each"))
    limits = " (not the limits of the queues)" if name.startswith("SDSC-Par") and trace.source != "stand-in" else ""
    yield f"{EXACT}{limits}", _against_easy(runs[EXACT])
    yield RUN_ON, _against_easy(runs[RUN_ON])
    yield f"{RUN_ON}, and are known beforehand", _against_easy(_over_copies(trace, copies, overrun="extend"))
    missing = without_estimate(trace)
    if LEFT_OUT in runs:
        kept = log(name, LEFT_OUT)
        words = f"no estimate: left out ({missing:,} of {len(trace):,} jobs; load {kept.offered_load():.2g} is left)"
        yield words, _against_easy(runs[LEFT_OUT])
        if missing > len(trace) / 100:
            filled = _filled(trace, kept)
            words = "no estimate: drawn from a model fitted to the others"
            if filled is None:
                yield f"{words}, who have too few, or too few long ones", nothing
            else:
                yield words, _against_easy(_over_copies(filled, copies))
    yield "raw log: not at hand, the catalogue has the cleaned one", nothing


def _filled(trace, kept):
    """Fill missing estimates in by the model of Tsafrir, Etsion and Feitelson, fitted to those that there are.

    None where more jobs run long than the model has long estimates, or too few have one to fit it to.
    """
    run = trace.table["run_time"]
    try:
        model = fit_tsafrir(kept)
        drawn = np.maximum(model.assign(run.clip(upper=model.longest).to_numpy()), run)
    except ValueError:
        return None
    return trace.with_estimates(trace.table["requested_time"].where(trace.table.index.isin(kept.table.index), drawn))


@rebuilt
def effort(size: str | None = None, progress: bool = True) -> Figure:
    """Beyond the paper: what the exact sets cost."""
    chosen_size(size)
    found = _found()
    rows = []
    for trace in found.values():
        for scheme in SCHEMES[1:]:
            case, _ = case_of(trace, scheme)
            told = scheme.audit(case)
            begin = time.perf_counter()
            scheme.simulate(case)
            seconds = time.perf_counter() - begin
            row = {"trace": label(trace), "procs": trace.procs, "jobs": len(trace), "scheme": str(scheme)}
            rows.append({**row, "seconds": seconds, **{fact: told[fact] for fact in EFFORT}})
    data = pd.DataFrame(rows, columns=["trace", "procs", "jobs", "scheme", "seconds", *EFFORT])
    share = (100 * data["greedy"] / data["decisions"]).astype(object).where(data["decisions"] > 0, "nothing to decide")
    shown = data.assign(greedy=share, table=data["table"] / 1000)
    shown = shown.rename(columns={"greedy": "decided by the shortcut (%)", "longest": "longest list (jobs)"})
    return Figure(
        name="effort",
        title="Beyond the paper: what the exact sets cost",
        caption=(
            "Each whole log, in one thread, as it took this machine while the page was made. A decision is a pass with "
            "jobs to choose from, only new ones where nothing was freed since the last pass. The shortcut: taking "
            "whatever fits, down the list, reaches the bound, so that no tables are made."
        ),
        data=data,
        table=shown.rename(columns={"table": "largest table (kB)"}),
        notes=_notes(found),
    )


FIGURES = (figure1, figure3, figure3_estimates, figure4, figure4_estimates, figure4_load, bound, effort, sensitivity)


def live(
    name: str = AUDITED, load: float = 0.85, variant: str = "n", depth: int = 1000, budget: int = 0, tau: float = 10
) -> tuple:
    """Compare DPSA with EASY for one setting: the distributions of the bounded slowdown, and the means.

    Parameters
    ----------
    name : str
        The log that is simulated.
    load : float
        Offered load to scale run times to.
    variant : {"n", "p", "w"}
        Which jobs DPSA prefers among equally good sets: narrow ones, those that came first, wide ones.
    depth : int
        How many waiting jobs behind the head are considered.
    budget : int
        Jobs that the search tries at a pass; 0 for the exact set.
    tau : float, seconds
        Run times below tau count as tau in the bounded slowdown.

    Returns
    -------
    chart, table
    """
    trace = load_trace(name) if log(name) is None else log(name)  # the former says where to get it
    scheme = DPSA(variant=variant, depth=depth, budget=budget or None)
    schedules = simulate_many([(trace.scale_load(load), one) for one in (EASY(), scheme)])
    slowdowns = {
        str(one.scheme): bounded_slowdown(one.jobs["turnaround"], one.jobs["run_time"], tau) for one in schedules
    }
    chart = charts.distribution(
        slowdowns, MEASURE, title=f"load={load:.2f}", subtitle=f"{trace.title}, {len(trace):,} jobs, tau = {tau:g} s"
    )
    means = {name: {"mean": values.mean(), "median": values.median()} for name, values in slowdowns.items()}
    return chart, charts.table(pd.DataFrame(means).rename_axis("bounded slowdown"))


LABELS = {
    "name": "log",
    "load": "offered load",
    "variant": "DPSA prefers",
    "depth": "jobs considered behind the head",
    "budget": "jobs tried at a pass (0: exact set)",
    "tau": "tau (s)",
}
PREFERRED = {"narrow jobs": "n", "jobs that came first": "p", "wide jobs": "w"}


# The ledger --------------------------------------------------------------------------------------------------


def claims(size: str | None = None, progress: bool = True) -> Ledger:
    """Give the ledger of the paper's claims."""
    size = chosen_size(size)
    data = changes(size, progress)
    if data.empty:
        rows = [untestable(claim, "Neither the paper's logs nor stand-ins are at hand.") for claim in CLAIMS.values()]
        return ledger([*rows, _example_row()], kept.ledger_of("grudenic2010"))
    traces = ", ".join(data["title"].unique())
    rows = [
        judged(CLAIMS["GRU-1"], _all_better(data), traces, why=NO_ARRIVALS, details=RANGES),
        judged(CLAIMS["GRU-2"], _mixed(data), traces, details=f"{SIGNS_ONLY} {RANGES}", measured=_signs(data)),
        judged(CLAIMS["GRU-3"], _all_worse(data), traces, why=NO_ARRIVALS, details=RANGES),
        judged(CLAIMS["GRU-4"], _grows(data, _all_shaken(size)), traces, why=MIX_DECIDES, details=JACKKNIFE),
        judged(CLAIMS["GRU-5"], _negligible(data), traces, details=RANGES),
        _example_row(),
    ]
    measured = {name.removesuffix(" (stand-in)") for name in data["trace"]}
    rows += [untestable(_bars_of(name), NOT_AT_HAND, name) for name in LOGS if name not in measured]
    return ledger(rows, kept.ledger_of("grudenic2010"))


def _claim(name, *words):
    return Claim(f"GRU-{name}", *words)


CLAIMS = {
    claim.id: claim
    for claim in (
        _claim(
            "1",
            "Figure 3",
            "DPSAn is better than EASY on all eight logs",
            "by 0.3 % (LLNL-Atlas) to 40 % (LLNL-Thunder)",
        ),
        _claim(
            "2",
            "Figure 3",
            "DPSAp is better on some logs and worse on others",
            "better on four by 1 to 8 %, worse on four by up to 17 %",
        ),
        _claim("3", "Figure 3", "DPSAw is worse than EASY on all logs", "by up to 145 %"),
        _claim(
            "4",
            "Figure 4",
            "DPSAn's gain grows about linearly with utilization, except on the SDSC Paragon and SP2",
            "about linear",
        ),
        _claim("5", "Figure 4", "the gain is negligible on LLNL-Atlas and HPC2N, which are little used", "negligible"),
    )
}
EXAMPLE_CLAIM = _claim(
    "6",
    "Figure 1",
    "the example: EASY starts J2, then J1, then J3 and J4; DPSA starts J3 and J4 at once",
    "EASY J1 7, J2 2, J3 9, J4 9; DPSA J3 2, J4 2",
)
RANGES = (
    "Values are changes against EASY of the mean bounded slowdown over copies of the log whose submissions are moved "
    "by up to a minute, EASY and DPSA on the same copies. Brackets: 95 % intervals of these means. Single runs, and so "
    "the log itself, differ by more (Figure 3)."
)
SIGNS_ONLY = (
    "Only the signs are judged: on most logs moving submissions by up to a minute changes DPSAp's result by more than "
    "the published differences. A log counts for sure where its interval excludes 0."
)
MIX_DECIDES = "The mix of jobs decides as much as utilization does."
JACKKNIFE = (
    "Gains of the means over shaken copies; the interval of their correlation is the jackknife's over the copies."
)
NO_ARRIVALS = "LLNL's logs record no arrival times (submissions are starts), so few bursts decide their means."
NOT_AT_HAND = "Neither the log nor a stand-in is at hand."
CLOSE = 0.1  # published figures may be missed by this share of them
NEGLIGIBLE = 5  # percent


def _bars_of(name):
    return Claim("GRU-1 to GRU-4", "Figures 3 and 4", f"the bars of {name}", "bars without numbers")


def _example_row():
    starts = [simulate(example(), scheme).start.tolist()[2:] for scheme in (EASY(), DPSA())]
    words = "; ".join(
        f"{name} " + ", ".join(f"J{i} {start}" for i, start in enumerate(found, 1))
        for name, found in zip(("EASY", "DPSA"), starts, strict=True)
    )
    as_published = starts == [[7, 2, 9, 9], [7, 9, 2, 2]]
    return exact(EXAMPLE_CLAIM, as_published, words, "the paper's example", "The starts differ.")


def _changed(data, scheme):
    """Give the change on each log under a scheme, with its interval over the shaken copies."""
    names = {"change": "value", "change_low": "low", "change_high": "high"}
    return data[data["scheme"] == scheme].rename(columns=names)[["trace", *names.values()]]


def _better_by(cases, log):
    """Give the gain on a log, as positive percent."""
    found = cases[cases["trace"].str.startswith(log)]
    return found.assign(value=-found["value"], low=-found["high"], high=-found["low"])


def _all_better(data):
    cases = _changed(data, DPSAN)
    least, most = _better_by(cases, "LLNL-Atlas"), _better_by(cases, "LLNL-Thunder")
    return [
        Check("change", cases, "lower"),
        Check("gain on LLNL-Atlas", least, "within", (0.1, 0.5), form="{:.2g} %"),
        Check("gain on LLNL-Thunder", most, "within", _near(40), form="{:.0f} %"),
    ]


def _near(published):
    return published * (1 - CLOSE), published * (1 + CLOSE)


def _mixed(data):
    """Check that both signs occur: the value is the number of logs with the rarer one."""
    cases = _changed(data, DPSAP)
    turned = cases.assign(value=-cases["value"], low=-cases["high"], high=-cases["low"])
    counts = pd.DataFrame([(each[["value", "low", "high"]] > 0).sum() for each in (cases, turned)])
    return [Check("logs of the rarer sign", counts.min().to_frame().T, "not lower", 1, form="{:.0f}")]


def _signs(data):
    cases, logged = _changed(data, DPSAP), data.loc[data["scheme"] == DPSAP, "logged"]
    better, worse, sure_better, sure_worse = (
        (signs > 0).sum() for signs in (-cases["value"], cases["value"], -cases["high"], cases["low"])
    )
    return (
        f"better on {better} ({sure_better} for sure), worse on {worse} ({sure_worse} for sure) of {len(cases)} logs; "
        f"in single runs of the logs themselves {(logged < 0).sum()} and {(logged > 0).sum()}"
    )


def _all_worse(data):
    cases = _changed(data, DPSAW)
    most = cases[cases["value"] == cases["value"].max()]
    return [
        Check("change", cases, "higher"),
        Check("largest change", most, "within", _near(145), form="{:+.0f} %"),
    ]


def _all_shaken(size):
    """Give the runs on shaken copies behind `changes`: trace, seed, scheme, and the mean bounded slowdown."""
    parts = [
        _shaken(name, trace.title, COPIES[size], USERS).assign(trace=label(trace))
        for name, trace in _logs(USERS).items()
    ]
    return pd.concat(parts).rename(columns={TAUS[0]: MEASURE})


def _grows(data, runs):
    gains = data[data["scheme"] == DPSAN]
    named = gains[~gains["trace"].str.startswith(("SDSC-Par", "SDSC-SP2"))].set_index("trace")
    if len(named) < 3:
        return []
    case = _correlation(named["utilization"], runs[runs["trace"].isin(named.index)])
    quantity = f"correlation of gain and utilization on {len(named)} logs"
    return [
        Check(quantity, case, "higher", 0.0, form="{:.2f}"),
        Check(f"{quantity}, for a straight line", case, "higher", 0.8, form="{:.2f}"),
    ]


def _correlation(utilization, runs):
    """Correlate DPSAn's gains with utilization; the interval is the jackknife's over the copies."""

    def correlated(part):
        means = part.pivot_table(index="trace", columns="scheme", values=MEASURE)
        return (1 - means[DPSAN] / means[BASE]).corr(utilization)

    value, seeds = correlated(runs), runs["seed"].unique()
    n = len(seeds)
    without = [correlated(runs[runs["seed"] != seed]) for seed in seeds] if n > 1 else [np.nan]
    half = t_quantile(0.975, max(n - 1, 1)) * (n - 1) / np.sqrt(n) * np.std(without, ddof=min(n - 1, 1))
    return pd.DataFrame({"value": [value], "low": [max(value - half, -1)], "high": [min(value + half, 1)]})


def _negligible(data):
    cases = _changed(data, DPSAN)
    two = cases[cases["trace"].str.startswith(("LLNL-Atlas", "HPC2N"))]
    return Check("change", two, "within", (-NEGLIGIBLE, NEGLIGIBLE))
