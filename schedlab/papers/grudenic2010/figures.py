"""The paper's figures, also for each convention about estimates."""

import numpy as np
import pandas as pd

from schedlab import DPSA, EASY, charts
from schedlab.schedule.simulation import simulate
from schedlab.schedule.statistics import NOISE
from schedlab.show import formatted
from schedlab.web.in_page import Run

from ..cards import BROAD, Drawing, rebuilt
from . import grids
from .grids import BASE, CODES, DPSAN, LEFT_OUT, MEASURE, MOST_JOBS, SINGLE, USERS, as_gains, changes, example, logs

GAIN = "gain (%)"


def left_out_of(size, which="This leaves out"):
    """Say which logs a quick run leaves out, in a sentence that follows others."""
    if MOST_JOBS[size] is None:
        return ""
    some = logs(most=MOST_JOBS[size])
    missing = [grids.label(trace) for name, trace in logs().items() if name not in some]
    names = " and ".join(filter(None, (", ".join(missing[:-1]), *missing[-1:])))
    return f" {which} the longest logs, {names} (quick; full size: all logs)." if missing else ""


NOTES = (
    f"The paper does not name two of its eight logs; {' and '.join(grids.GUESSED)} are a guess.",
    "The logs of the SDSC Paragon have no estimates: the limits of their queues serve as estimates. Their stand-ins "
    "have no queues, and the run times serve.",
    "LLNL's logs record no arrival times: submissions are start times, so jobs hardly wait, in the stand-ins, too.",
    "The kept results lack SDSC-Par-1995, which was not at hand and has no stand-in.",
)


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
        f"The paper's example: {grids.EXAMPLE_PROCS} processors; two jobs run, J1 to J4 wait in this order; "
        "estimates are exact. The paper describes it in words, and the numbers here agree with every statement.",
        charts.gantts(schedules, color="job", label="job"),
        pd.DataFrame(measured).rename_axis("measure").reset_index(),
        ringed=False,
    )


def _examples_in_page():
    trace = example()
    return [Run(str(scheme), trace, scheme) for scheme in (EASY(), DPSA())]


@rebuilt(
    "Figure 1", _draw_example, by=("scheme", "order"), measures=("start_time", "end_time"), in_page=_examples_in_page
)
def figure1(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 1: one example under EASY and under DPSA."""
    several = [simulate(example(), scheme) for scheme in (EASY(), DPSA())]
    jobs = pd.concat([schedule.jobs.assign(scheme=str(schedule.scheme)) for schedule in several])
    jobs = jobs.rename_axis("order").reset_index()  # the job number: two jobs are called running
    return jobs[["scheme", "order", "job", "start_time", "end_time"]]


SINGLES = {"change": ("shaken_low", "shaken_high")}  # the ends of the changes on single copies


def logs_at_hand(size):
    return [name for name in grids.LOGS if grids.log(name) is not None]


def _sampled(data, size):
    return (
        f"{data['trace'].nunique()} whole logs, {grids.COPIES[size]} {grids.SHAKEN}; "
        "EASY and the variant run on the same copies. "
        "Lines: 95 % intervals of the means. Boxes: the range of single copies."
    )


def _draw_changes(runs):
    data = runs.data
    better, worse = _beyond(data, "better"), _beyond(data, "worse")
    count = data["trace"].nunique()
    first = data.loc[data["scheme"] == grids.DPSAP, "change"]
    least = data[data["scheme"] == DPSAN].sort_values("change").iloc[0]
    return Drawing(
        f"Preferring narrow jobs lowers the slowdown on {better[DPSAN]} of {count} logs, wide jobs raise it on "
        f"{worse[grids.DPSAW]}",
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
    return beyond_chance(variants, side).groupby(variants["scheme"], sort=False).sum()


def beyond_chance(rows, side):
    """Tell which changes are for the better, or for the worse, by more than noise and more than chance."""
    if side == "better":
        return (rows["change"] <= -NOISE) & (rows["change_high"] < 0)
    return (rows["change"] >= NOISE) & (rows["change_low"] > 0)


CHANGED = {"by": grids.BY, "measures": ("change", "logged", "utilization"), "within": SINGLES, "logs": logs_at_hand}


def _logs_in_page():
    """Return the runs of the shorter logs themselves, without copies."""
    traces = [trace for trace in grids.logs().values() if len(trace) <= grids.IN_PAGE]
    return [Run(f"{grids.label(trace)}, {scheme}", trace, scheme) for trace in traces for scheme in grids.SCHEMES]


@rebuilt("Figure 3", _draw_changes, NOTES, **CHANGED, in_page=_logs_in_page)
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
        f"{_sampled(runs.data, runs.size)}{left_out_of(runs.size, 'All panels but the first leave out')}",
        charts.stacked([_bars(part, convention, now.get(convention)) for convention, part in parts.items()]),
        _table(runs.data),
    )


@rebuilt("", _draw_changes_by_estimates, NOTES, logs=logs_at_hand, again=None)
def figure3_estimates(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 3 for each convention about estimates."""
    return pd.concat(_by_estimates(size, progress).values())


def _draw_gains(runs):
    gains = runs.data
    # Gain and utilization side by side, both in percent.
    rows, rings = runs.both(
        lambda data: pd.DataFrame(
            {"trace": data["trace"], "gain": data[GAIN], "utilization": 100 * data["utilization"]}
        ).melt("trace", var_name="series", value_name="percent")
    )
    options = {"color": "series", "width": BROAD, "title": f"{DPSAN}'s gain and utilization", "rings": rings}
    in_order = charts.bars(rows, "trace", "percent", published=_published(gains, "percent", -1), **options)
    least, most = gains.iloc[0], gains.loc[gains[GAIN].idxmax()]
    return Drawing(
        f"The gain of {DPSAN} and the utilization of a log: rank correlation {_rank_correlation(gains):.2f} over all "
        f"logs",
        f"Logs in order of utilization under EASY. {DPSAN}, which prefers narrow jobs, gains {most[GAIN]:.0f} % on "
        f"{most['trace']} at a utilization of {100 * most['utilization']:.0f} %, and {least[GAIN]:.1f} % on "
        f"{least['trace']}, the least used: lookahead needs a queue to choose from.",
        _sampled(gains, runs.size),
        charts.stacked([in_order, _points(gains, USERS, width=BROAD - 100)]),  # names stand beside the points
        _table(as_gains(gains), GAIN, "utilization"),
        printed="diamonds",
    )


OF_GAINS = {
    "by": ("trace",),
    "measures": (GAIN, "logged", "utilization"),
    "within": {GAIN: (f"{GAIN}_range_low", f"{GAIN}_range_high")},
    "logs": logs_at_hand,
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
        f"{_sampled(runs.data, runs.size)}{left_out_of(runs.size, 'All panels but the first leave out')}",
        charts.stacked([_points(part, on, width=BROAD // 2 - 40) for on, part in gains.items()]),
        _table(as_gains(runs.data), GAIN, "utilization"),
    )


@rebuilt("", _draw_gains_by_estimates, NOTES, logs=logs_at_hand, again=None)
def figure4_estimates(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild Figure 4 for each convention about estimates."""
    return pd.concat([_gains(part) for part in _by_estimates(size, progress).values()])


def _by_estimates(size, progress):
    """Return the result of `changes` under each convention about estimates that some log allows."""
    parts = {name: changes(size, progress, name).assign(estimates=name) for name in grids.ESTIMATES}
    return {name: part for name, part in parts.items() if len(part)}


def _gains(data):
    """Return DPSAn's rows in order of utilization; its gains stand beside its changes, named for charts."""
    data = data[data["scheme"] == DPSAN].sort_values("utilization")
    return data.join(_drawn(as_gains(data), GAIN))


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
    drawn = data[["trace", "scheme"]].assign(log=data["trace"].str.removesuffix(grids.STANDIN), series="gain")
    printed = pd.DataFrame(grids.PRINTED, columns=["log", "scheme", column]).merge(drawn)
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
