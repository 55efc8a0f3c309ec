"""Grudenić and Bogunović: DPSA, lookahead backfilling that fills the hole before the reservation as best it can."""

import time
import warnings

import numpy as np
import pandas as pd

from schedlab import DPSA, EASY, Trace, charts, load_trace
from schedlab._runtime.text import check_known
from schedlab.experiment import grid, remember
from schedlab.schedule.metrics import bounded_slowdown, utilization
from schedlab.schedule.simulation import simulate, simulate_many
from schedlab.schedule.statistics import NOISE, IntervalWarning, over_seeds, paired, ratios_of_means
from schedlab.schemes.cases import case_of
from schedlab.show import formatted, interval
from schedlab.workload import LoadWarning, swf
from schedlab.workload.archive import TraceNotFound

from .cards import Drawing, Paper, rebuilt
from .checks import SUPPORTS, Check
from .ledger import Claim, claimed, claims_of, exact, judged, untestable

TITLE = "Lookahead backfilling (Grudenić and Bogunović)"
PAPER = Paper(
    authors="I. Grudenić and N. Bogunović",
    title="Computer cluster scheduling algorithm based on time bounded dynamic programming",
    venue="University of Zagreb",
    year=2010,
    says="Filling the hole before EASY's reservation with the best set of jobs lowers the mean bounded slowdown.",
    found=(
        ("Preferring narrow jobs (DPSAn) beats EASY on every available log where jobs wait", "GRU-1a"),
        ("On most logs the effect of DPSAp (first come, first served) is smaller than chance variation", "GRU-2a"),
        ("Preferring wide jobs (DPSAw) is worse", "GRU-3a"),
    ),
    words=(
        ("EASY", "backfilling: jobs may pass the head of the queue if they do not delay it"),
        ("DPSA", "the paper's scheduler: like EASY, but the set of jobs that passes the head is the best one"),
        ("DPSAn, DPSAp, DPSAw", "among equal sets, that of narrow jobs, of jobs that came first, of wide jobs"),
        ("narrow, wide", "of few processors, of many"),
        ("bounded slowdown", "wait and run time, over the run time; run times below tau count as tau"),
        ("tau", "10 s, unless it says otherwise"),
        ("exact estimates, overruns run on", "readings: estimates are the run times; jobs may outlive their estimates"),
    ),
    defaults=(
        ("exact estimates", "the users' estimates"),
        ("overruns run on", "jobs are killed at their estimates"),
        ("tau 1 s", "tau 10 s"),
        ("tau 60 s", "tau 10 s"),
    ),
    others=(("Figure 2", "pseudo-code of DPSA; Figures 3 and 4 test it"),),
)
NAMED = ("LLNL-Atlas-2006", "LLNL-Thunder-2007", "HPC2N-2002", "SDSC-Par-1995", "SDSC-Par-1996", "SDSC-SP2-1998")
GUESSED = ("CTC-SP2-1996", "SDSC-BLUE-2000")  # the paper has eight logs and names six
LOGS = NAMED + GUESSED
STANDIN = " (stand-in)"
SCHEMES = (EASY(), DPSA(variant="p"), DPSA(variant="n"), DPSA(variant="w"))
BASE, *VARIANTS = map(str, SCHEMES)
DPSAP, DPSAN, DPSAW = VARIANTS
# Changes of the mean bounded slowdown that the paper's text gives for single logs, in percent.
PRINTED = (("LLNL-Atlas-2006", DPSAN, -0.3), ("LLNL-Thunder-2007", DPSAN, -40.0), ("LLNL-Thunder-2007", DPSAP, 17.0))
MEASURE = "bounded_slowdown"
GAIN = "gain (%)"
CODES = "DPSAn prefers narrow jobs, DPSAp jobs that came first, DPSAw wide jobs."
CASE = ["trace", "scheme"]
PAYS = 5  # percent

COPIES = {"quick": 3, "full": 20}  # shaken
SHAKE = 60  # seconds
TAUS = (10, 1, 60)  # seconds; the first is the paper's
LOADS = {"quick": (0.5, 0.7, 0.9), "full": tuple(round(0.5 + 0.05 * i, 2) for i in range(10))}
COPIES_BY_LOAD = {"quick": 3, "full": 10}
BUDGETS = {"quick": (10, 100, 1_000), "full": (10, 30, 100, 300, 1_000, 10_000, 100_000)}
MOST_JOBS = {"quick": 100_000, "full": None}  # of a log that is used outside Figures 3 and 4
AUDITED = "CTC-SP2-1996"

# The paper's example: job, run time, processors. Two jobs run while J1 to J4 wait. All are submitted at 0. The paper
# describes it in words; these numbers agree with every statement.
EXAMPLE = (("running", 2, 4), ("running", 7, 3), ("J1", 2, 6), ("J2", 4, 3), ("J3", 5, 2), ("J4", 4, 2))
EXAMPLE_PROCS = 7

# How jobs get estimates, and what happens to a job that outlives its estimate.
USERS, EXACT, LEFT_OUT, RUN_ON = "users' estimates", "exact estimates", "jobs without one left out", "overruns run on"
ESTIMATES = {USERS: "kill", EXACT: "kill", LEFT_OUT: "kill", RUN_ON: "keep"}
SHAKEN, SINGLE = "copies with submissions shaken by up to a minute", "single copies, 95 %"
BROAD = 760  # pixels, for bars that have the page to themselves
charts.register({"gain": "#138A3B", "utilization": "#8C8C8C"})


# The logs ----------------------------------------------------------------------------------------------------


@remember(len(LOGS) * len(ESTIMATES))  # generating a stand-in takes seconds
def log(name: str, estimates: str = USERS) -> Trace | None:
    """Return a log, or its stand-in, under a convention about estimates (one of `ESTIMATES`).

    None if there is neither, or if leaving out jobs without an estimate would leave out none or all. The run time
    replaces a missing estimate. The logs of the SDSC Paragon have no estimates, but their queues have time limits in
    their names: these serve as estimates, or the run time where it is longer or the queue has no limit. (Their
    stand-ins have no queues.)
    """
    check_known("estimates", estimates, ESTIMATES)
    if estimates == USERS:
        try:
            trace = load_trace(name, or_standin=True)
        except TraceNotFound:
            return None
        return trace.with_estimates("queue") if trace.name.startswith("SDSC-Par") else trace
    trace = log(name)
    if estimates == EXACT and trace is not None:
        return trace.with_estimates("exact")
    if estimates == LEFT_OUT and trace is not None:
        some = 0 < without_estimate(trace) < len(trace)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoadWarning)  # the figure says how many jobs are left out
            return load_trace(name, or_standin=True, missing_estimate="drop") if some else None
    return trace


def logs(estimates: str = USERS, most: int | None = None) -> dict[str, Trace]:
    """Return those of the paper's logs that are available, or their stand-ins; there must be at least one.

    Parameters
    ----------
    estimates : str
        The convention about estimates, as in `log`.
    most : int, optional
        Leave out logs with more jobs than this, counted under users' estimates. Default: no limit.
    """
    traces = {name: trace for name in LOGS if (trace := log(name)) is not None}
    if not traces:
        raise TraceNotFound(
            "None of the paper's logs is at hand, and no stand-in; `schedlab traces --fetch NAME` downloads a log."
        )
    short = [name for name, trace in traces.items() if most is None or len(trace) <= most]
    return {name: trace for name in short if (trace := log(name, estimates)) is not None}


def _without(size, which="This leaves out"):
    """Say which logs a quick run leaves out, in a sentence that follows others."""
    if MOST_JOBS[size] is None:
        return ""
    some = logs(most=MOST_JOBS[size])
    missing = [label(trace) for name, trace in logs().items() if name not in some]
    names = " and ".join(filter(None, (", ".join(missing[:-1]), *missing[-1:])))
    return f" {which} the longest logs, {names} (quick; full size: all logs)." if missing else ""


def without_estimate(trace: Trace) -> int:
    """Count the jobs for which the log has no estimate."""
    return int((trace.repaired["field"] == "requested_time").sum())


def label(trace: Trace) -> str:
    """Name a log as the paper does, and say where it is a stand-in."""
    name = next((name for name in LOGS if trace.name.startswith(name)), trace.name)
    return f"{name}{STANDIN}" if trace.source == "stand-in" else name


def example() -> Trace:
    """Return the paper's example."""
    table = pd.DataFrame(EXAMPLE, columns=["job", "run_time", "requested_procs"])
    table.index = pd.Index(range(1, len(table) + 1), name="job_number")
    table = table.assign(submit_time=0, requested_time=table["run_time"], allocated_procs=table["requested_procs"])
    table = table.assign(user_id=table.index).reindex(columns=[*swf.FIELDS[1:], "job"], fill_value=-1)
    area, nothing = table["run_time"] * table["requested_procs"], table.iloc[:0]
    return Trace(table, "the paper's example", EXAMPLE_PROCS, swf.Header(), "model", nothing, nothing, area)


NOTES = (
    f"The paper does not name two of its eight logs; {' and '.join(GUESSED)} are a guess.",
    "The logs of the SDSC Paragon have no estimates: the limits of their queues serve as estimates. Their stand-ins "
    "have no queues, and the run times serve.",
    "LLNL's logs record no arrival times: submissions are start times, so jobs hardly wait, in the stand-ins, too.",
    "The kept results lack SDSC-Par-1995, which was not at hand and has no stand-in.",
)


# What is simulated -------------------------------------------------------------------------------------------


def changes(size: str, progress: bool = True, estimates: str = USERS) -> pd.DataFrame:
    """Compare the three variants with EASY on every log; a quick run with other estimates skips the longest logs.

    Schedules are chaotic, and the luck of a single run of EASY would enter the changes of all variants. So EASY runs on
    each copy, and the variants are compared with it copy by copy.

    Returns
    -------
    DataFrame
        One row for each log and scheme: utilization; over copies of the log whose submissions were shaken, the mean
        bounded slowdown, change (percent, of this mean against that of EASY), the interval of this change (change_low,
        change_high), and the range of the changes on single copies (shaken_low, shaken_high; 2.5 % and 97.5 %
        quantiles); of the log itself, the change (logged) and its interval by batch means of the paired jobs
        (paired_low, paired_high; nan where a schedule does not settle).
    """
    most = None if estimates == USERS else MOST_JOBS[size]
    cases = [_case(trace, estimates) for trace in logs(estimates, most).values()]
    runs = copies(cases, size, f"shaking, {estimates}", progress)
    if runs.empty:  # no log has jobs without an estimate, to be left out
        return runs
    with warnings.catch_warnings(action="ignore", category=IntervalWarning):  # the caption says it of all of them
        itself = grid(_itself, cases, words=f"the logs themselves, {estimates}", progress=progress)
    means = runs.groupby(CASE, sort=False, as_index=False)[MEASURE].mean()
    data = itself.merge(means, "left", CASE).merge(_against_easy(runs), "left", CASE)
    against = ["change", "change_low", "change_high", "shaken_low", "shaken_high"]
    return data[["trace", "title", "utilization", "scheme", MEASURE, *against, "logged", "paired_low", "paired_high"]]


def copies(cases: list[dict], size: str, words: str, progress: bool = True, tau: int | None = TAUS[0]) -> pd.DataFrame:
    """Simulate shaken copies of logs; one row for each log, copy (seed) and scheme: trace, and the bounded slowdown.

    If tau is None, the bounded slowdown for each of `TAUS`, in columns of these names.
    """
    runs = grid(_copy, cases, seed=range(COPIES[size]), words=words, progress=progress)
    return runs if tau is None else runs.rename(columns={tau: MEASURE})


def _case(trace, estimates=USERS):
    """Return what is simulated: a log, and the treatment of jobs that outlive their estimates."""
    return {"log": trace, "overrun": ESTIMATES[estimates]}


def _copy(log, seed, **conventions):
    """Simulate a shaken copy of a log: for each scheme the mean bounded slowdown, for each tau."""
    copy, rows = log.shake(SHAKE, seed), []
    for scheme in SCHEMES:
        schedule = simulate(copy, scheme, **conventions)
        rows.append({"trace": label(log), "scheme": str(scheme), **{tau: _slowdown(schedule, tau) for tau in TAUS}})
    return pd.DataFrame(rows)


def _slowdown(schedule, tau=TAUS[0]):
    """Return the mean bounded slowdown."""
    return float(bounded_slowdown(schedule.end - schedule.submit, schedule.run, tau).mean())


def _itself(log, **conventions):
    """Simulate a log as it is: for each variant the change against EASY, and its interval over the paired jobs."""
    base, *others = (simulate(log, scheme, **conventions) for scheme in SCHEMES)
    rows = [{"scheme": BASE}]
    for schedule in others:
        ratio = paired(schedule, base, MEASURE).ratio
        logged, low, high = (
            100 * (factor - 1) for factor in (_slowdown(schedule) / _slowdown(base), ratio.low, ratio.high)
        )
        rows.append({"scheme": str(schedule.scheme), "logged": logged, "paired_low": low, "paired_high": high})
    used = utilization(base.start, base.end, base.procs, log.procs, (base.submit[0], base.end.max()))
    return pd.DataFrame(rows).assign(trace=label(log), title=log.title, utilization=used)


def _changed(runs):
    """Give, for each variant and copy, its part of the change of the mean against EASY (percent)."""
    base = runs[runs["scheme"] == BASE].drop(columns="scheme").rename(columns={MEASURE: "base"})
    runs = runs[runs["scheme"] != BASE].merge(base[["trace", "seed", "base"]], on=["trace", "seed"])
    return runs.assign(change=100 * (ratios_of_means(runs, MEASURE, "base", CASE) - 1))


def _against_easy(runs):
    """Give, for each variant, the change of the mean over the copies, its interval, and the range of single copies."""
    runs = _changed(runs)
    single = (100 * (runs[MEASURE] / runs["base"] - 1)).groupby([runs[name] for name in CASE], sort=False)
    ends = {"shaken_low": single.quantile(0.025).to_numpy(), "shaken_high": single.quantile(0.975).to_numpy()}
    return over_seeds(runs[[*CASE, "seed", "change"]], CASE).drop(columns="seeds").assign(**ends)


def _turned(data):
    """Return gains in place of changes: the same table with the signs turned."""
    gains = {name: -data[name] for name in ("change", "logged") if name in data}
    for kind in (name.removesuffix("_low") for name in data if name.endswith("_low")):
        gains |= {f"{kind}_low": -data[f"{kind}_high"], f"{kind}_high": -data[f"{kind}_low"]}
    return data.assign(**gains)


# The figures -------------------------------------------------------------------------------------------------


def _draw_example(runs):
    schedules = {str(scheme): simulate(example(), scheme) for scheme in (EASY(), DPSA())}
    measured = {}
    for name, schedule in schedules.items():
        metrics, jobs = schedule.metrics(), schedule.jobs
        waiting = jobs[jobs["job"] != "running"]
        measured[name] = {
            "makespan (s)": metrics["makespan"],
            "utilization": metrics["utilization"],
            "mean slowdown of J1 to J4": waiting["slowdown"].mean(),
            **{f"start of {job} (s)": start for job, start in zip(waiting["job"], waiting["start_time"], strict=True)},
        }
    ends = [f"at {row['makespan (s)']:g} s under {name}" for name, row in measured.items()]
    return Drawing(
        "DPSA fills the hole that EASY leaves, and ends earlier",
        "At 2 s four processors become free. J1, the head of the queue, needs six and has to wait until 7 s. EASY "
        "starts J2, the first job that fits, on three of the four. DPSA starts J3 and J4, which use all four: all jobs "
        f"are done {' and '.join(ends)}.",
        f"The paper's example: {EXAMPLE_PROCS} processors; two jobs run, J1 to J4 wait in this order; estimates are "
        "exact. The paper describes it in words, and the numbers here agree with every statement.",
        charts.gantts(schedules, color="job", label="job"),
        pd.DataFrame(measured).rename_axis("measure").reset_index(),
        ringed=False,
    )


@rebuilt("Figure 1", _draw_example, by=("scheme", "order"), measures=("start_time", "end_time"))
def figure1(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 1: one example under EASY and under DPSA."""
    several = [simulate(example(), scheme) for scheme in (EASY(), DPSA())]
    jobs = pd.concat([schedule.jobs.assign(scheme=str(schedule.scheme)) for schedule in several])
    jobs = jobs.rename_axis("order").reset_index()  # the job number: two jobs are called running
    return jobs[["scheme", "order", "job", "start_time", "end_time"]]


SINGLES = {"change": ("shaken_low", "shaken_high")}  # the ends of the changes on single copies


def _at_hand(size):
    return [name for name in LOGS if log(name) is not None]


def _sampled(data, size):
    return (
        f"{data['trace'].nunique()} whole logs, {COPIES[size]} {SHAKEN}; EASY and the variant run on the same copies. "
        "Lines: 95 % intervals of the means. Boxes: the range of single copies."
    )


def _draw_changes(runs):
    data = runs.data
    better, worse = _beyond(data, "better"), _beyond(data, "worse")
    count = data["trace"].nunique()
    first = data.loc[data["scheme"] == DPSAP, "change"]
    least = data[data["scheme"] == DPSAN].sort_values("change").iloc[0]
    return Drawing(
        f"Preferring narrow jobs lowers the slowdown on {better[DPSAN]} of {count} logs, wide jobs raise it on "
        f"{worse[DPSAW]}",
        f"Change of the mean bounded slowdown against EASY; below zero is better. {CODES} DPSAn gains up to "
        f"{-least['change']:.0f} % ({least['trace']}); DPSAp changes it by {first.min():+.1f} to {first.max():+.1f} %. "
        f"Counted are changes of at least {NOISE:g} % beyond chance. Where a box crosses zero, the sign of a single "
        "run means little.",
        f"{_sampled(data, runs.size)} LLNL's logs record no arrival times: submissions are start times, so jobs "
        "hardly wait.",
        _bars(data, USERS, runs.now, BROAD),
        _table(data),
        printed="diamonds",
    )


def _beyond(data, side):
    """Count the logs on which each variant is better, or worse, than EASY, by more than noise and more than chance."""
    variants = data[data["scheme"] != BASE]
    if side == "better":
        mask = (variants["change"] <= -NOISE) & (variants["change_high"] < 0)
    else:
        mask = (variants["change"] >= NOISE) & (variants["change_low"] > 0)
    return mask.groupby(variants["scheme"], sort=False).sum()


CHANGED = {"by": CASE, "measures": ("change", "logged", "utilization"), "within": SINGLES, "logs": _at_hand}


@rebuilt("Figure 3", _draw_changes, NOTES, **CHANGED)
def figure3(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 3: change of the mean bounded slowdown against EASY, by log."""
    return changes(size, progress)


def _draw_changes_by_estimates(runs):
    parts = dict(list(runs.data.groupby("estimates", sort=False)))
    now = {} if runs.now is None else dict(list(runs.now.groupby("estimates", sort=False)))
    gains = {convention: _beyond(part, "better")[DPSAN] for convention, part in parts.items()}
    counts = "; ".join(
        f"{convention}: on {count} of {parts[convention]['trace'].nunique()}" for convention, count in gains.items()
    )
    seen = (
        f"DPSAn is better than EASY, beyond chance, by convention: {counts}. {CODES} The paper does not say how it "
        "treats missing estimates and jobs that outlive theirs."
    )
    if LEFT_OUT in parts and parts[LEFT_OUT]["trace"].str.startswith("LLNL-Thunder").any():
        seen += " Leaving out jobs without an estimate leaves so little work of LLNL-Thunder that nothing waits there."
    return Drawing(
        "DPSAn gains on most logs under "
        f"{sum(2 * gains[name] > parts[name]['trace'].nunique() for name in gains)} of {len(gains)} conventions "
        "about estimates",
        seen,
        "Panels: run times cut at the estimate, and the run time in place of a missing one; exact estimates for all; "
        "jobs without an estimate left out, on the logs where some have one and some do not; jobs run on past theirs. "
        f"{_sampled(runs.data, runs.size)}{_without(runs.size, 'All panels but the first leave out')}",
        charts.stacked([_bars(part, convention, now.get(convention)) for convention, part in parts.items()]),
        _table(runs.data),
    )


@rebuilt("", _draw_changes_by_estimates, NOTES, logs=_at_hand, again=None)
def figure3_estimates(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 3 for each convention about estimates."""
    return pd.concat(_by_estimates(size, progress).values())


def _draw_gains(runs):
    gains = runs.data
    # Gain and utilization side by side, both in percent.
    rows, rings = (
        None
        if data is None
        else pd.DataFrame({"trace": data["trace"], "gain": data[GAIN], "utilization": 100 * data["utilization"]}).melt(
            "trace", var_name="series", value_name="percent"
        )
        for data in (gains, runs.now)
    )
    options = {
        "published": _published(gains, "percent", -1),
        "rings": rings,
        "title": f"{DPSAN}'s gain and utilization",
    }
    in_order = charts.bars(rows, "trace", "percent", color="series", width=BROAD, **options)
    least, most = gains.iloc[0], gains.loc[gains[GAIN].idxmax()]
    return Drawing(
        f"The gain of {DPSAN} and the utilization of a log: rank correlation {_rank_correlation(gains):.2f} over all "
        f"logs",
        f"Logs in order of utilization under EASY. {DPSAN}, which prefers narrow jobs, gains {most[GAIN]:.0f} % on "
        f"{most['trace']} at a utilization of {100 * most['utilization']:.0f} %, and {least[GAIN]:.1f} % on "
        f"{least['trace']}, the least used: lookahead needs a queue to choose from.",
        _sampled(gains, runs.size),
        charts.stacked([in_order, _points(gains, USERS, width=BROAD - 100)]),  # names stand beside the points
        _table(_turned(gains), GAIN, "utilization"),
        printed="diamonds",
    )


OF_GAINS = {
    "by": ("trace",),
    "measures": (GAIN, "logged", "utilization"),
    "within": {GAIN: (f"{GAIN}_range_low", f"{GAIN}_range_high")},
    "logs": _at_hand,
}


@rebuilt("Figure 4", _draw_gains, NOTES, **OF_GAINS)
def figure4(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 4: what DPSAn gains, and the utilization of the log."""
    return _gains(changes(size, progress))


def _draw_gains_by_estimates(runs):
    gains = dict(list(runs.data.groupby("estimates", sort=False)))
    ranks = {convention: _rank_correlation(part) for convention, part in gains.items() if len(part) > 4}
    ranked = "; ".join(f"{convention}: {rank:.2f}" for convention, rank in ranks.items())
    ends = f"{min(ranks.values()):.2f} to {max(ranks.values()):.2f}" if ranks else "of too few logs"
    return Drawing(
        f"Gain and utilization have a rank correlation of {ends}, by convention about estimates",
        f"Spearman's rank correlation of utilization and what {DPSAN} gains, which prefers narrow jobs: {ranked}.",
        f"{_sampled(runs.data, runs.size)}{_without(runs.size, 'All panels but the first leave out')}",
        charts.stacked([_points(part, on, width=BROAD // 2 - 40) for on, part in gains.items()]),
        _table(_turned(runs.data), GAIN, "utilization"),
    )


@rebuilt("", _draw_gains_by_estimates, NOTES, logs=_at_hand, again=None)
def figure4_estimates(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 4 for each convention about estimates."""
    return pd.concat([_gains(part) for part in _by_estimates(size, progress).values()])


def _by_estimates(size, progress):
    """Return the result of `changes` under each convention about estimates that some log allows."""
    parts = {convention: changes(size, progress, convention).assign(estimates=convention) for convention in ESTIMATES}
    return {convention: part for convention, part in parts.items() if len(part)}


def _gains(data):
    """Return DPSAn's rows in order of utilization; its gains stand beside its changes, named for charts."""
    data = data[data["scheme"] == DPSAN].sort_values("utilization")
    return data.join(_drawn(_turned(data), GAIN))


def _drawn(data, y):
    """Return changes or gains, their intervals and the ranges of single copies, as charts call them."""
    kinds = {"change": y, "shaken": f"{y}_range"}
    names = {f"{kind}_{end}": f"{drawn}_{end}" for kind, drawn in kinds.items() for end in ("low", "high")}
    return data[["change", *names]].rename(columns={"change": y, **names})


def _bars(data, estimates, now=None, width=None):
    change, about = f"{MEASURE}_change", _about(f"DPSA against EASY: {estimates}", data)
    rows, published = data.join(_drawn(data, change)), _published(data, change)
    rings = None if now is None else now.rename(columns={"change": change})
    return charts.bars(rows, "trace", MEASURE, BASE, published=published, rings=rings, width=width, **about)


def _points(gains, estimates, width=None):
    about = _about(f"What DPSAn gains over EASY: {estimates}", gains)
    names = gains["trace"].str.replace(r"-\d{4}", "", regex=True)
    if names.is_unique:  # without its year, a name has room beside its point
        gains = gains.assign(trace=names)
    return charts.points(gains, "utilization", GAIN, "trace", width=width, **about)


def _about(title, data):
    standins = [title for title in data["title"].unique() if "stand-in" in title]
    return {"title": title, "subtitle": "; ".join(standins), "range_label": SINGLE}


def _published(data, column, sign=1):
    """Return the changes (percent), or gains, that the paper's text prints for the drawn cases; None if it has none."""
    drawn = data[["trace", "scheme"]].assign(log=data["trace"].str.removesuffix(STANDIN), series="gain")
    printed = pd.DataFrame(PRINTED, columns=["log", "scheme", column]).merge(drawn)
    return None if printed.empty else printed.assign(**{column: sign * printed[column]})


def _rank_correlation(gains):
    return float(gains[GAIN].rank().corr(gains["utilization"].rank()))


def _table(data, value="change (%)", beside="scheme"):
    """Tabulate the variants' changes, or gains: over the copies, on single ones, and on the log itself."""
    data = data[data["scheme"] != BASE].reset_index(drop=True)
    table = data[[name for name in ("estimates", "trace", beside) if name in data]].copy()
    table[value], table["interval"], table[SINGLE] = data["change"], _ranges(data, "change"), _ranges(data, "shaken")
    table["the log itself"], table["its paired interval"] = data["logged"], _ranges(data, "paired")
    return table


def _ranges(data, kind):
    ends = data[[f"{kind}_low", f"{kind}_high"]].to_numpy()
    texts = [" to ".join(formatted(end, "{:+.1f}") for end in both) for both in ends]
    return np.where(np.isfinite(ends).all(axis=1), texts, "no bounds")


def _draw_by_load(runs):
    by = ["trace", "load"]
    means, rings = (
        None if data is None else over_seeds(_gain_of_means(data)[[*by, "seed", GAIN]], by)
        for data in (runs.data, runs.now)
    )
    table = means.pivot_table(index="trace", columns="load", values=GAIN, sort=False)
    pays = [_pays_from(gains) for _, gains in table.iterrows()]
    table = table.rename(columns=lambda load: f"gain at {load} (%)").assign(**{f"above {PAYS} % from load": pays})
    some = sum(pays_from != "none" for pays_from in pays)
    return Drawing(
        f"DPSAn gains more than {PAYS} % from some load on, on {some} of {len(pays)} logs",
        "DPSAn prefers narrow jobs. Within one log its gain need not grow with the load: the mix of jobs matters as "
        f"much. Numbers: the last column has the lowest load from which on DPSAn gains more than {PAYS} %.",
        f"{len(pays)} whole logs, run times and estimates scaled to {means['load'].nunique()} loads, "
        f"{COPIES_BY_LOAD[runs.size]} shaken copies each; shaded: 95 % intervals.{_without(runs.size)}",
        charts.lines(means, "load", GAIN, color="trace", rings=rings),
        table.reset_index(),
    )


@rebuilt("", _draw_by_load, NOTES, logs=_at_hand, by=("trace", "load"), measures=(BASE, DPSAN))
def figure4_load(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what DPSAn gains on each log as its load grows."""
    values = {"load": LOADS[size], "seed": range(COPIES_BY_LOAD[size])}
    runs = grid(
        _at_load, log=list(logs(most=MOST_JOBS[size]).values()), **values, words="other loads", progress=progress
    )
    return runs[["trace", "load", "seed", BASE, DPSAN]]


def _gain_of_means(runs):
    return runs.assign(**{GAIN: 100 * (1 - ratios_of_means(runs, DPSAN, BASE, ["trace", "load"]))})


def _at_load(log, load, seed):
    """Simulate a shaken copy of a log at a load: the mean bounded slowdown under EASY and under DPSAn."""
    copy = log.scale_load(load).shake(SHAKE, seed)
    return {"trace": label(log), **{str(scheme): _slowdown(simulate(copy, scheme)) for scheme in (EASY(), DPSA())}}


def _pays_from(gains):
    """Return the lowest load from which on all gains exceed `PAYS`, as text."""
    loads = [load for load in gains.index if (gains[load:] > PAYS).all()]
    return f"{loads[0]}" if loads else "none"


def _draw_bounded(runs):
    most = runs.data.loc[runs.data["budget"] == runs.data["budget"].max(), ["budget", "lost"]]
    lost, along = "processors missed (%)", "jobs tried at a pass, at most"
    names = {"missed": "passes missed (%)", "lost": lost, "worse": "change of the slowdown (%)", "budget": along}
    data, rings = (None if table is None else table.rename(columns=names) for table in (runs.data, runs.now))
    few = runs.data.loc[runs.data["budget"] == runs.data["budget"].min(), ["budget", "lost"]]
    many, missed = most["budget"].iloc[0], np.ceil(10 * most["lost"].max()) / 10
    return Drawing(
        f"A search of {few['budget'].iloc[0]} jobs a pass misses up to {few['lost'].max():.0f} % of the processors "
        f"that the best sets use, one of {many:,} under {missed:.1f} %",
        "The paper's search is exponential; here it ends after so many jobs. A hole that is missed again at the next "
        "pass counts again. A small budget is spent at the front of the list, where most jobs of a long queue do not "
        f"fit. Where hardly anything is missed, the change of the slowdown is chance. {CODES}",
        f"{runs.title(AUDITED)}, the whole log as it is.",
        charts.lines(data, along, lost, rings=rings, log_x=10),
        data.drop(columns="magnitude"),
    )


@rebuilt(
    "",
    _draw_bounded,
    logs=(AUDITED,),
    by=("scheme", "budget"),
    measures=("missed", "lost", "worse"),
)
def bound(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: how far a bounded search falls short of the best set."""
    trace, budgets = log(AUDITED) or load_trace(AUDITED), BUDGETS[size]
    values = {"log": trace, "variant": list("pnw"), "budget": [None, *budgets]}  # without a budget, the exact set
    runs = grid(_searched, **values, words="searching", progress=progress)
    means = runs[runs["budget"].isna()].set_index("scheme")["mean"]
    data = runs.dropna(subset="budget").astype({"budget": "int64"}).reset_index(drop=True)
    data["worse"], data["magnitude"] = 100 * (data["mean"] / data["scheme"].map(means) - 1), np.log10(data["budget"])
    return data[["scheme", "budget", "decisions", "missed", "lost", "worse", "magnitude"]]


def _searched(log, variant, budget):
    """Measure what a search within a budget misses, in percent, and the mean bounded slowdown."""
    scheme = DPSA(variant=variant, budget=budget)
    outcome, facts = scheme.audited(case_of(log, scheme)[0])
    missed, lost = facts["missed"] / max(facts["decisions"], 1), facts["lost"] / max(facts["best"], 1)
    about = {"scheme": scheme.label, "decisions": facts["decisions"]}
    return about | {"missed": 100 * missed, "lost": 100 * lost, "mean": _slowdown(outcome)}


READ = ["trace", "reading", "scheme"]


def _draw_readings(runs):
    data = runs.data
    texts = [interval(*row, "{:+.1f}") for row in data[["change", "change_low", "change_high"]].to_numpy()]
    table = data.assign(words=np.where(data["change"].isna(), "not measured", texts))
    table = table.pivot_table(index=READ[:2], columns="scheme", values="words", aggfunc="first", sort=False)
    narrow = data[(data["scheme"] == DPSAN) & data["change"].notna()]
    better = (narrow["change"] <= -NOISE) & (narrow["change_high"] < 0)
    worse = (narrow["change"] >= NOISE) & (narrow["change_low"] > 0)
    # What a reading leaves out differs between logs: the table says it.
    rows = data.assign(reading=data["reading"].str.replace(r" \(.*", "", regex=True))
    largest = rows.groupby("trace")["change"].agg(lambda changes: changes.abs().max())
    rows = rows.sort_values("trace", key=lambda logs: -logs.map(largest), kind="stable")
    chart = charts.changes(
        rows,
        "scheme",
        "reading",
        "change",
        panel="trace",
        interval=("change_low", "change_high"),
        title="Mean bounded slowdown against EASY, change (%)",
        subtitle="blue is less than EASY, orange is more",
    )
    return Drawing(
        f"Whatever the paper leaves open, DPSAn is better than EASY beyond chance in {better.sum()} of {len(narrow)} "
        f"cases, worse in {worse.sum() or 'none'}",
        "Each row reads one thing differently than Figure 3; a case is a log and a reading; logs with the largest "
        f"changes come first. Empty cells were not measured, or the reading changes nothing there. {CODES}",
        f"{data['trace'].nunique()} logs; means over {COPIES[runs.size]} {SHAKEN}, the same for every "
        f"reading; in the fold of numbers: 95 % intervals in brackets.{_without(runs.size)}",
        chart,
        table.rename_axis(columns=None).reset_index(),
    )


@rebuilt("", _draw_readings, NOTES, logs=_at_hand, again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: tau, missing estimates, coinciding events, the cleaning of the logs."""
    columns, parts = ["change", "change_low", "change_high"], []
    nothing = pd.DataFrame({"scheme": VARIANTS, **dict.fromkeys(columns, np.nan)})
    traces = logs(most=MOST_JOBS[size])
    readings = [(label(trace), *reading) for name, trace in traces.items() for reading in _readings(name, trace)]
    runs = copies([case for *_, case in readings if case is not None], size, "other readings", progress, tau=None)
    rows = COPIES[size] * len(SCHEMES)  # of a case, in the order of the cases
    for trace, reading, tau, case in readings:
        part = nothing
        if case is not None:
            part, runs = _against_easy(runs[:rows].rename(columns={tau: MEASURE})), runs[rows:]
        parts.append(part.assign(trace=trace, reading=reading))
    return pd.concat(parts)[[*READ, *columns]]


def _readings(name, trace):
    """Return each reading of what the paper leaves open: in words, tau, and what to simulate (None if impossible)."""
    (tau, *others), as_drawn = TAUS, _case(trace)
    yield "as in Figure 3", tau, as_drawn
    for other in others:
        yield f"tau = {other} s", other, as_drawn
    yield "one pass for each event", tau, as_drawn | {"events": "each"}
    limits = " (not the limits of the queues)" if name.startswith("SDSC-Par") and trace.source != "stand-in" else ""
    yield f"{EXACT}{limits}", tau, _case(log(name, EXACT), EXACT)
    yield RUN_ON, tau, _case(trace, RUN_ON)
    yield f"{RUN_ON}, and are known beforehand", tau, {"log": trace, "overrun": "extend"}
    kept, missing = log(name, LEFT_OUT), without_estimate(trace)
    if kept is not None:
        reading = f"no estimate: left out ({missing:,} of {len(trace):,} jobs; load {kept.offered_load():.2g} is left)"
        yield reading, tau, _case(kept, LEFT_OUT)
        if missing > len(trace) / 100:
            reading = "no estimate: drawn from a model fitted to the others"
            try:
                yield reading, tau, _case(trace.with_estimates("fitted"))
            except ValueError:
                yield f"{reading}, who have too few, or too few long ones", tau, None
    yield "raw log: not at hand, the catalogue has the cleaned one", tau, None


def _draw_efforts(runs):
    data = runs.data
    share = (100 * data["greedy"] / data["decisions"]).astype(object).where(data["decisions"] > 0, "nothing to decide")
    names = {"greedy": "decided by the shortcut (%)", "longest": "longest list (jobs)", "table": "largest table (kB)"}
    slowest = data.loc[data["seconds"].idxmax()]
    return Drawing(
        f"The exact sets of the slowest log take {slowest['seconds']:.1f} s for {slowest['decisions']:,} decisions",
        "A point is a log under its slowest variant. A decision is a pass with jobs to choose from; if nothing was "
        "freed since the last pass, these are the new jobs only. The shortcut: if taking whatever fits, down the list, "
        f"reaches the upper bound, no tables are needed. {CODES}",
        f"Each whole log in one thread, timed on the machine that made the numbers.{_without(runs.size)}",
        _times(data),
        data.assign(greedy=share, table=data["table"] / 1000).rename(columns=names),
    )


def _times(data):
    """Draw each log's slowest variant: its decisions and its seconds; boxes reach down to the fastest one."""
    seconds = data.groupby("trace")["seconds"]
    data = data.assign(seconds_range_low=seconds.transform("min"), seconds_range_high=seconds.transform("max"))
    slowest = data.loc[seconds.idxmax()]
    about = {"title": "Seconds for a whole log, by decisions", "range_label": "the variants, fastest to slowest"}
    return charts.points(slowest, "decisions", "seconds", "trace", width=BROAD - 100, **about)


@rebuilt(
    "",
    _draw_efforts,
    NOTES,
    logs=_at_hand,
    by=("trace", "scheme"),
    measures=("decisions", "greedy", "longest", "table"),
    claims=("GRU-7",),
)
def effort(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what the exact sets cost."""
    return _efforts(size, progress)


def _efforts(size, progress):
    columns = ["trace", "procs", "jobs", "scheme", "seconds", "decisions", "greedy", "longest", "table"]
    values = {"log": list(logs(most=MOST_JOBS[size]).values()), "scheme": SCHEMES[1:]}
    return grid(_timed, **values, threads=1, words="measuring the effort", progress=progress)[columns]


def _timed(log, scheme):
    """Measure the cost of a scheme's sets, and the seconds that its simulation takes."""
    case, _ = case_of(log, scheme)
    facts, begin = scheme.audit(case), time.perf_counter()
    scheme.simulate(case)
    seconds = time.perf_counter() - begin
    return {"trace": label(log), "procs": log.procs, "jobs": len(log), "seconds": seconds, **facts}


FIGURES = (figure1, figure3, figure3_estimates, figure4, figure4_estimates, figure4_load, bound, effort, sensitivity)


# Live --------------------------------------------------------------------------------------------------------

HIGHEST = 1e5  # end of the axis at any load: a wait of eleven days of a job of ten seconds
WIDTH = 640
PREFERRED = {"narrow jobs": "n", "jobs that came first": "p", "wide jobs": "w"}


def live(
    name: str = AUDITED,
    load: float = 0.85,
    variant: str = "n",
    depth: int = 1000,
    budget: int = 0,
    estimates: str = USERS,
    tau: float = 10,
) -> tuple:
    """Compare DPSA with EASY for one setting: the distributions of the bounded slowdown, and the means.

    Parameters
    ----------
    name : str
        Log. The whole of it is simulated.
    load : float
        Offered load. Run times are scaled to it.
    variant : {"n", "p", "w"}
        Preferred jobs. Among equally good sets: narrow jobs ("n"), the first to come ("p"), or wide jobs ("w").
    depth : int
        Jobs considered behind the head. Those further back in the queue wait.
    budget : int
        Jobs tried at a pass (0: exact set). The search stops after this many.
    estimates : str
        Estimates. A job is killed when its estimate expires, unless overruns run on.
    tau : float, seconds
        Tau (s). Run times below it count as tau in the bounded slowdown.
    """
    trace = log(name, estimates) or load_trace(name)  # its error says where to get the log
    scheme = DPSA(variant=variant, depth=depth, budget=budget or None)
    runs = [(trace.scale_load(load), choice) for choice in (EASY(), scheme)]
    schedules = simulate_many(runs, overrun=ESTIMATES[estimates])
    # By its variant alone, so that it has the colour of the figures; the controls say the depth and the budget.
    jobs = dict(zip((BASE, str(DPSA(variant=variant))), (schedule.jobs for schedule in schedules), strict=True))
    slowdowns = {name: bounded_slowdown(of["turnaround"], of["run_time"], tau) for name, of in jobs.items()}
    base, chosen = (values.mean() for values in slowdowns.values())
    title = f"Mean bounded slowdown {chosen:.3g} under {scheme}, {base:.3g} under EASY"
    subtitle = f"{trace.title}, {len(trace):,} jobs"
    chart = charts.distribution(slowdowns, MEASURE, up_to=HIGHEST, title=title, subtitle=subtitle, width=WIDTH)
    return chart, charts.table(pd.DataFrame(slowdowns).agg(["mean", "median"]).rename_axis("bounded slowdown"))


def _limits(depth):
    """Say which controls have no effect, as the limits of `widgets.live`."""
    return (
        {"budget": "one job is tried anyway", "variant": "sets of one job are not equally good"} if depth == 1 else {}
    )


live.limits = _limits
live.groups = {"workload": ["name", "load", "estimates"], "scheme": ["variant", "depth", "budget"], "view": ["tau"]}


# The ledger --------------------------------------------------------------------------------------------------

LARGEST = 145  # percent, published: the largest change under DPSAw
LINEAR = 0.8  # correlation
NEGLIGIBLE = 5  # percent
CLAIMS = claims_of("grudenic2010")
RANGES = (
    "Values are changes of the mean bounded slowdown against EASY, over copies of the log whose submissions are moved "
    "by up to a minute; EASY and DPSA run on the same copies."
)
READ_SO = (
    f"As in Figure 3: {USERS}, jobs are killed when these expire, tau is {TAUS[0]} s. The other readings change one of "
    "these each."
)
GROWTH = (
    "The correlation is that of the utilization of each log with the gain of its mean over the copies; its interval is "
    "the jackknife's over the copies."
)
AS_DRAWN = "as in Figure 3"
OTHER_MACHINE = "The paper's machine is not at hand."


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims."""
    try:
        available = logs()
    except TraceNotFound as missing:
        rows = [untestable(claim, str(missing)) for name, claim in CLAIMS.items() if name != "GRU-6"]
        return [*rows, _example_row()]
    data = changes(size, progress)
    traces = ", ".join(data["title"].unique())
    readings = {reading: checks(*measured) for reading, measured in _as_read(size, progress).items()}
    main = readings[AS_DRAWN]
    printed = Check("change", _printed(main["GRU-2b"].runs, DPSAP), **PRINTED_ONCE)
    more = {
        "GRU-2a": {"measured": _signs_in_words(main["GRU-2a"], data, "better")},
        "GRU-2b": {"measured": _signs_in_words(main["GRU-2b"], data, "worse"), "others": [printed]},
    }
    rows = []
    for name in main:
        several = {reading: by_claim[name] for reading, by_claim in readings.items()}
        details = f"{GROWTH if name == 'GRU-4' else RANGES} {READ_SO}"
        rows.append(judged(CLAIMS[name], several, traces, details=details, **more.get(name, {})))
    rows += [_example_row(), _effort_row(size, progress)]
    for name in LOGS:
        if name not in available:
            claim = Claim("GRU-1a to GRU-4", "Figures 3 and 4", f"results on {name}", "bars without numbers")
            rows.append(untestable(claim, "Neither the log nor a stand-in is at hand.", name))
    return rows


def _example_row():
    starts = [simulate(example(), scheme).start.tolist()[2:] for scheme in (EASY(), DPSA())]
    easy, dpsa = (", ".join(f"J{i} {start}" for i, start in enumerate(times, 1)) for times in starts)
    as_published, measured = starts == [[7, 2, 9, 9], [7, 9, 2, 2]], f"EASY {easy}; DPSA {dpsa}"
    return exact(CLAIMS["GRU-6"], as_published, measured, "the paper's example", "The starts differ.")


def _effort_row(size, progress):
    slowest = _efforts(size, progress).sort_values("seconds").iloc[-1]
    measured = (
        f"all {slowest['decisions']:,} decisions of {slowest['scheme']} on {slowest['trace']}, each exact and by "
        f"tables, in {slowest['seconds']:.1f} s together"
    )
    return untestable(CLAIMS["GRU-7"], OTHER_MACHINE, slowest["trace"], measured=measured)


def _as_read(size, progress):
    """Return shaken copies and utilizations under each reading, that of Figure 3 first; only this for a quick run."""
    measured = {}
    for estimates in (USERS, EXACT, RUN_ON) if size == "full" else (USERS,):
        cases = [_case(trace, estimates) for trace in logs(estimates).values()]
        runs = copies(cases, size, f"shaking, {estimates}", progress, tau=None)
        used = changes(size, progress, estimates).groupby("trace")["utilization"].first()
        for tau in TAUS if size == "full" and estimates == USERS else TAUS[:1]:
            reading = f"tau {tau} s" if tau != TAUS[0] else AS_DRAWN if estimates == USERS else estimates
            measured[reading] = runs.rename(columns={tau: MEASURE}), used
    return measured


PRINTED_ONCE = {"expected": "is", "bound": "published", "single": True}


def checks(runs: pd.DataFrame, used: pd.Series) -> dict[str, Check]:
    """Return the check of each claim on logs, by its id.

    Parameters
    ----------
    runs : DataFrame
        From `copies`.
    used : Series
        Utilization by log.
    """
    rows = _changed(runs)[[*CASE, "seed", "change"]].rename(columns={"change": "value"})
    first, narrow, wide = (rows[rows["scheme"] == name].drop(columns="scheme") for name in VARIANTS)
    largest = wide.groupby("seed", as_index=False)["value"].max()
    little = narrow[narrow["trace"].str.startswith(("LLNL-Atlas", "HPC2N"))]
    grows = _correlations(runs, used)
    return {
        "GRU-1a": Check("change", narrow, "lower", every=True),
        "GRU-1b": Check("change", _printed(narrow, DPSAN), **PRINTED_ONCE),
        "GRU-2a": Check("change", first, "lower", some=True),
        "GRU-2b": Check("change", first, "higher", some=True),
        "GRU-3a": Check("change", wide, "higher", every=True),
        "GRU-3b": Check("largest change", largest, "is", LARGEST, form="{:+.0f} %", single=True),
        "GRU-4": Check("correlation of gain and utilization", grows, "higher", LINEAR, form="{:.2f}"),
        "GRU-5": Check("change", little, "within", (-NEGLIGIBLE, NEGLIGIBLE), every=True),
    }


def _printed(changes, variant):
    """Return the changes under a variant on the logs for which the paper prints a number, beside this number."""
    printed = {log: percent for log, scheme, percent in PRINTED if scheme == variant}
    published = changes["trace"].str.removesuffix(STANDIN).map(printed)
    return changes.assign(published=published).dropna(subset="published")


def _signs_in_words(check, data, sign):
    """Say on how many logs DPSAp is better, or worse: for sure, by the mean, and in single runs."""
    turned = -1 if sign == "better" else 1
    sure, logged = (check.cases["outcome"] == SUPPORTS).sum(), data.loc[data["scheme"] == DPSAP, "logged"]
    by_mean, single = ((turned * values > 0).sum() for values in (check.cases["value"], logged))
    return (
        f"{sign} on {sure} of {len(logged)} logs beyond chance; on {by_mean} in the mean over the copies, and on "
        f"{single} in single runs of the logs themselves"
    )


def _correlations(runs, used):
    """Correlate DPSAn's gains with utilization: for each copy the jackknife's pseudo-value, whose mean is the estimate.

    Empty if there are fewer than three logs besides those that the paper excepts.
    """
    runs = runs[~runs["trace"].str.startswith(("SDSC-Par", "SDSC-SP2"))]

    def correlated(part):
        means = part.pivot_table(MEASURE, "trace", "scheme")
        return (1 - means[DPSAN] / means[BASE]).corr(used)

    seeds = runs["seed"].unique() if runs["trace"].nunique() > 2 else []
    n = len(seeds)
    values = [n * correlated(runs) - (n - 1) * correlated(runs[runs["seed"] != seed]) for seed in seeds if n > 1]
    return pd.DataFrame({"seed": seeds[: len(values)], "value": values})
