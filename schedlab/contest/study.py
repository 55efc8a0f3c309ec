"""The arena: which scheme wins on which log, what a win costs, and how far the schemes are from lower bounds."""

from dataclasses import replace

import numpy as np
import pandas as pd

from schedlab import charts, load_trace, simulate
from schedlab._runtime.text import check_known, spelt
from schedlab.charts._altair import alt
from schedlab.charts.sizes import WIDE
from schedlab.charts.theme import headed
from schedlab.contest.entrants import ARITY, BOUNDED, ENTRANTS, OTHERS, SHAKE, Setting
from schedlab.contest.results import Arena, arena
from schedlab.experiment import grid, remember
from schedlab.papers import kept
from schedlab.schedule.metrics import CLASS_WORDS, MEASURES
from schedlab.schedule.statistics import NOISE, ratios_of_means
from schedlab.schemes import DPSA, EASY, Conservative, Scheme
from schedlab.workload.trace import Trace

from ..papers.cards import Drawing, Paper, rebuilt
from ..papers.checks import CONTRADICTS, NAMED, Check
from ..papers.ledger import claimed, claims_of, judged
from . import charts as contest_charts

TITLE = "The arena: which scheme wins where"
PAPER = Paper(
    authors="The schedlab developers",
    title="Rigid schemes on the logs of the archive",
    venue="this package",
    year=2026,
    says="Four statements of three papers on backfilling, tested on all logs and loads at once.",
    findings=(
        ("Trying short candidates first lowers EASY's mean bounded slowdown on most logs, not on all", "ARE-1"),
        ("Long narrow jobs wait less under EASY than under conservative backfilling on most logs", "ARE-2"),
        ("Lookahead helps where narrow jobs come first; by itself it changes little", "ARE-4"),
    ),
    defaults=(("narrow jobs first (DPSAn)", "jobs by arrival (DPSAp)"),),
)
# One version of each archive log that we have. The original load of OSC is 0.13: at 0.9 its jobs run seven times as
# long.
LOGS = {
    "quick": ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998"),
    "now": ("KTH-SP2-1996",),  # beside the kept figures
    "full": (
        *("NASA-iPSC-1993", "LANL-CM5-1994", "SDSC-Par-1996", "CTC-SP2-1996", "KTH-SP2-1996", "SDSC-SP2-1998"),
        *("OSC-Clust-2000", "SDSC-BLUE-2000", "Sandia-Ross-2001", "HPC2N-2002", "SDSC-DS-2004", "LLNL-Atlas-2006"),
        *("LLNL-Thunder-2007", "RICC-2010", "CEA-Curie-2011"),
    ),
}
JOBS = {"quick": 5_000, "now": None, "full": None}  # taken from the beginning of each log; None: all
# Only the first jobs of two long logs: conservative backfilling would take hours where thousands of jobs wait.
PARTS = dict.fromkeys(("RICC-2010", "CEA-Curie-2011"), 30_000)
FIRST = 3_000  # jobs of each log for `changed`
LOADS = {"quick": (0.7, 0.9), "now": (0.7, 0.9), "full": (0.6, 0.7, 0.8, 0.9, 0.95)}
COPIES = {"quick": 3, "now": 1, "full": 6}
ROUNDS = {"quick": 20, "now": 0, "full": 150}  # of the search for lower bounds
SHOWN = 0.9  # the load of figures that show a single load
BASE = "EASY"
ACROSS = 560  # width of the tables of changes, in pixels
charts.register({"EASY-SAF": "#3EA08F", "EASY-WFP3": "#999933", "EASY-F1": "#AA4499"})
COSTS = {"max_wait_time": "longest wait", "gini": "inequality", "loss_of_capacity_share": "loss of capacity"}


@remember(32)
def log(name: str, jobs: int | None) -> Trace:
    """Return a log or its first jobs; if the log is missing, its stand-in."""
    trace = load_trace(name, or_standin=True)
    return trace if jobs is None else trace.head(jobs)


@remember(2)
def part(name: str, jobs: int) -> Trace:
    """Return the first jobs of a log; the name of the trace says how many."""
    trace = log(name, jobs)
    return trace.rename(f"{trace.name}, first {jobs:,} jobs")


def competing(size: str) -> list[Trace]:
    """Return the logs of the arena at a size."""
    jobs = {name: PARTS.get(name) if JOBS[size] is None else JOBS[size] for name in LOGS[size]}
    return [part(name, jobs[name]) if jobs[name] else log(name, None) for name in LOGS[size]]


def _named(called):
    """Return the trace that has this name in the kept results."""
    name, cut, jobs = called.removesuffix(" jobs").partition(", first ")
    return part(name, int(jobs.replace(",", ""))) if cut else load_trace(name)


def results(size: str, progress: bool = True, bounded: bool = True) -> Arena:
    """Run the arena at a size, with lower bounds if `bounded`."""
    copies, rounds = range(COPIES[size]), ROUNDS[size] if bounded else None
    return arena(competing(size), ENTRANTS, LOADS[size], copies, rounds=rounds, progress=progress)


def kept_results() -> Arena:
    """Return the kept full-size results, to judge them by other measures or to add schemes.

    Raises FileNotFoundError if none are kept.

    Examples
    --------
    >>> import schedlab as sl
    >>> full = sl.papers.arena.kept_results()
    >>> full.judged_by("wait_time").ranks().columns.tolist()
    ['scheme', 'rank', 'best', 'worst', 'wins', 'tied', 'cells']
    """
    runs, bounds = (kept.numbers_of("arena", name) for name in ("winners", "bounds"))
    if runs is None or bounds is None:
        raise FileNotFoundError(f"no results of the arena are kept in {kept.folder()}; run: schedlab figures arena")
    return Arena(runs, bounds, Setting(LOADS["full"], tuple(range(COPIES["full"]))), load=_named)


def _arena_of(runs):
    """Return the arena that a figure draws: the kept one, or that of a run."""
    return kept_results() if runs.kept else results(runs.size)


def _sample(size, jobs=None):
    jobs = jobs or JOBS[size]
    sample = f"The first {jobs:,} jobs of each log" if jobs else f"Whole logs, but only parts of {' and '.join(PARTS)}"
    return (
        f"{sample}; {COPIES[size]} copies at each load, with submissions moved by up to a minute; run times and "
        "estimates are scaled to reach the load."
    )


def _draw_who_wins(runs):
    contest = _arena_of(runs)
    return Drawing(
        _most_wins(contest),
        "The best scheme of a cell by mean bounded slowdown, with ties marked. With 95 % confidence, the best is the "
        f"winner or tied with it. Differences below {NOISE:g} % count as ties.",
        _sample(runs.size),
        draw_winners(contest),
        ranked(contest),
        ringed=False,
    )


def _most_wins(contest):
    ranks = contest.ranks()
    first, cells = ranks.loc[ranks["wins"].idxmax()], int(ranks["cells"].max())
    return f"{first['scheme']} wins most: alone in {first['wins']:.0f} of {cells} cells"


RUNS = {"logs": LOGS.get, "by": ("log", "load", "scheme"), "again": "now"}


@rebuilt("", _draw_who_wins, measures=("wait_time", "bounded_slowdown"), **RUNS)
def winners(size: str, progress: bool) -> pd.DataFrame:
    """Draw which rigid scheme has the least mean bounded slowdown on each log at each load, with ties marked."""
    return results(size, progress, bounded=size != "now").runs


def draw_winners(contest: Arena) -> alt.LayerChart:
    """Draw which scheme wins where, by the measure that decides."""
    subtitle = f"best {words_of(contest.measure)}; means over shaken copies"
    return contest_charts.winners(contest.wins(), title="Which scheme wins where", subtitle=subtitle)


def ranked(contest: Arena) -> pd.DataFrame:
    """Return the ranks of the schemes, with readable column headings."""
    heads = {"rank": "mean rank", "best": "best rank", "worst": "worst rank", "wins": "won alone"}
    return contest.ranks().round(1).rename(columns=heads | {"tied": "won or tied"})


def priced(contest: Arena) -> pd.DataFrame:
    """Return what each scheme gains and costs against EASY, with readable column headings."""
    heads = {name: f"{label}, change (%)" for name, label in _gain_and_costs(contest).items()}
    return contest.price(COSTS, BASE).drop(columns="kind").round(1).rename(columns=heads)


def _gain_and_costs(contest):
    return {contest.measure: words_of(contest.measure), **COSTS}


def words_of(measure: str) -> str:
    """Describe a measure (one of `entrants.JUDGED`), which may be that of one class of jobs."""
    name, _, code = measure.partition(" ")
    labels = {"gini": "inequality of slowdowns (Gini)", "unfair": "share of jobs that start later than under FCFS"}
    label = labels.get(name) or MEASURES[name][0]
    return f"{label} of {CLASS_WORDS[code]} jobs" if code else label


def _draw_bounded(runs):
    contest = _arena_of(runs)
    cells, chart = contest.cells("turnaround"), draw_bounds(contest.judged_by("turnaround"), load=SHOWN)
    best = cells.loc[cells.groupby(["log", "load"], sort=False)["value"].idxmin()]
    table = best.rename(columns={"above": "above the bound by at most (%)", "scheme": "best scheme"})
    table["mean turnaround (h)"], table["bound (h)"] = table["value"] / 3600, table["bound"] / 3600
    names = ["log", "load", "best scheme", "mean turnaround (h)", "bound (h)", "above the bound by at most (%)"]
    at = best.loc[np.isclose(best["load"], SHOWN), "above"]
    return Drawing(
        f"At a load of {SHOWN:g} the best scheme is at most {at.min():.0f} to {at.max():.0f} % above what no "
        f"schedule can beat",
        "The lower bound holds for every schedule of these jobs, even one that knows all arrivals and run times in "
        "advance. How much of the gap any scheme could close is not known.",
        _sample(runs.size),
        chart,
        table[names].reset_index(drop=True),
    )


@rebuilt("", _draw_bounded, logs=LOGS.get, again=None)
def bounds(size: str, progress: bool) -> pd.DataFrame:
    """Draw the mean turnaround of every scheme beside a lower bound on that of any schedule."""
    return results(size, progress).bounds


def draw_bounds(contest: Arena, log: str | None = None, load: float | None = None) -> alt.LayerChart:
    """Draw the deciding measure in multiples of its lower bound: for one log at all loads, or all logs at one load."""
    if (log is None) == (load is None):
        raise ValueError(f"log is {spelt(log)} and load is {spelt(load)}, expected one of them")
    cells, measure = contest.cells(), words_of(contest.measure)
    if load is None:
        check_known("log", log, cells["log"].unique())
    elif not np.isclose(cells["load"], load).any():
        known = ", ".join(f"{level:g}" for level in cells["load"].unique())
        raise ValueError(f"there is no load {load:g}; known: {known}")
    cells = cells[(cells["log"] == log) if load is None else np.isclose(cells["load"], load)]
    title = f"{measure[0].upper()}{measure[1:]}, in multiples of what no schedule can beat"
    scope = log if load is None else f"offered load {load:g}"
    panel = "load" if load is None else "log"
    return contest_charts.against_bounds(
        cells, contest.measure, panel, title=title, subtitle=f"{scope}; means over shaken copies"
    )


def _draw_priced(runs):
    contest, data = _arena_of(runs), runs.data
    least = data.loc[data[contest.measure].idxmin()]
    return Drawing(
        f"{least['scheme']} lowers the mean bounded slowdown most, by {-least[contest.measure]:.0f} %, and the longest "
        f"wait changes by {least['max_wait_time']:+.0f} %",
        "The first column shows the gain against EASY, the others what it costs.",
        _sample(runs.size),
        draw_price(contest),
    )


@rebuilt("", _draw_priced, logs=LOGS.get, again=None)
def price(size: str, progress: bool) -> pd.DataFrame:
    """Draw the gain of each scheme in mean bounded slowdown, and what it costs, compared with EASY."""
    return results(size, progress).price(COSTS, BASE)


def draw_price(contest: Arena) -> alt.LayerChart:
    """Draw how the deciding measure and the costs change, compared with EASY."""
    data = contest.price(COSTS, BASE).rename(columns=_gain_and_costs(contest))
    data = data.melt("scheme", list(_gain_and_costs(contest).values()), "measure", "change (%)")
    subtitle = "change against EASY (%): geometric mean over logs and loads; blue is less"
    title = "What each scheme gains, and what it costs"
    return charts.changes(data, "measure", "scheme", "change (%)", title=title, subtitle=subtitle, width=ACROSS)


def _draw_by_class(runs):
    rows = runs.data.dropna()
    worst = rows.loc[rows["change (%)"].idxmax()]
    return Drawing(
        f"{worst['class'].capitalize()} jobs pay most: {worst['change (%)']:+.0f} % mean wait under {worst['scheme']}",
        "Mean wait of each class of jobs against EASY. Short: runs for less than an hour; narrow: asks for fewer "
        "than 32 processors.",
        _sample(runs.size),
        draw_classes(_arena_of(runs)),
    )


@rebuilt("", _draw_by_class, logs=LOGS.get, again=None)
def classes(size: str, progress: bool) -> pd.DataFrame:
    """Draw how the mean wait of each class of jobs changes, compared with EASY."""
    return by_class(results(size, progress))


def by_class(contest: Arena) -> pd.DataFrame:
    """Return by how much the mean wait of each class of jobs changes compared with EASY, in percent."""
    rows = []
    for code, label in CLASS_WORDS.items():
        table = contest.judged_by(f"wait_time {code}").price((), BASE)
        rows.append(table[["scheme"]].assign(**{"class": label, "change (%)": table[f"wait_time {code}"]}))
    return pd.concat(rows, ignore_index=True)


def draw_classes(contest: Arena) -> alt.LayerChart:
    """Draw by how much the mean wait of each class of jobs changes compared with EASY."""
    title = "Who waits less, and who more"
    subtitle = "mean wait, change against EASY (%): geometric mean over logs and loads; blue is less"
    data = by_class(contest)
    return charts.changes(data, "class", "scheme", "change (%)", title=title, subtitle=subtitle, width=ACROSS)


ALL = "all"
LOW = 29  # height of a row of the map, in pixels, so that it fits on a screen with its controls
TIES = "full colour: every other scheme is worse; pale: tied with others; grey: all are tied"


def live(measure: str = "bounded_slowdown", log: str = ALL, confidence: float = 0.95) -> alt.LayerChart:
    """Draw the kept results by another measure: which scheme wins where, or one log beside its bounds.

    Parameters
    ----------
    measure : str
        Deciding measure. Its mean over the copies tells who wins.
    log : str
        Logs. All, or a single one, of which the schemes are shown beside the lower bounds at every load.
    confidence : float
        Confidence. The higher it is, the more schemes are tied.
    """
    contest = replace(kept_results().judged_by(measure), confidence=confidence)
    if log != ALL:
        return draw_bounds(contest.judged_by(measure if measure in BOUNDED else "turnaround"), log=log)
    chart = charts.resized(draw_winners(contest), height=LOW * contest.runs["log"].nunique())
    return headed(chart, f"By {words_of(measure)}, {_most_wins(contest)}", WIDE, TIES)


live.limits = lambda log: {} if log == ALL else {"confidence": "a log beside its bounds has no winners"}


def _draw_changed(runs):
    data, ends = runs.data, ("low", "high")
    means = data.groupby("scheme", sort=False)["change"].median()
    chart = charts.changes(data, "load", "log", "change", panel="scheme", interval=ends, width=624)
    return Drawing(
        f"More freedom or less: in the median, turnaround changes by {means.min():+.0f} % ({means.idxmin()}) to "
        f"{means.max():+.0f} % ({means.idxmax()})",
        "Mean turnaround against EASY (%), by offered load; blue is less. The same jobs with more freedom, or with "
        "less: moldable jobs may run on other numbers of processors, the tasks of a sweep may run apart, and nodes "
        f"must lie in one block of a {ARITY}-ary tree. A faint number may be chance: its 95 % interval, from copies "
        f"compared pair by pair, contains 0. Or it is below {NOISE:g} %.",
        _sample(runs.size, FIRST),
        chart,
    )


@rebuilt("", _draw_changed, logs=LOGS.get, again=None)
def changed(size: str, progress: bool) -> pd.DataFrame:
    """Draw how the mean turnaround changes when schemes may change jobs or must allocate nodes, compared with EASY."""
    traces, copies = [log(name, FIRST) for name in LOGS[size]], range(COPIES[size])
    contest = arena(traces, (EASY(), *OTHERS), LOADS[size], copies, rounds=None, progress=progress)
    return contest.against(BASE, "turnaround")


NARROW = EASY(order="narrow")
REBUILT = Conservative(compression="rebuild")
# Cells with surprising winners, and the schemes that explain them: log, load, schemes.
SURPRISES = (
    ("Sandia-Ross-2001", 0.8, (EASY(), EASY(order="f1"), NARROW, EASY(order="saf"), EASY(order="sjf"))),
    ("LANL-CM5-1994", 0.9, (EASY(), Conservative(), REBUILT, EASY(order="sjf"))),
    ("SDSC-BLUE-2000", 0.95, (EASY(), DPSA(variant="n"), EASY(order="sjf"), EASY(order="saf"))),
)
USERS, EXACT = "users' estimates", "exact estimates"
FEW = {"quick": 1, "now": 1, "full": 6}
COUNTED = {"quick": "one copy of each", "full": "six copies of each"}
PRICED = {"wait_time": "mean wait", "max_wait_time": "longest wait", "loss_of_capacity_share": "loss of capacity"}


def explained(name: str, load: float, estimates: str, scheme: Scheme, seed: int) -> pd.Series:
    """Measure a shaken copy of a whole log, with users' estimates or exact ones."""
    trace = log(name, None).scale_load(load).shake(SHAKE, seed)
    if estimates == EXACT:
        trace = trace.cut_at_estimates().with_estimates("exact")
    return simulate(trace, scheme).metrics()[list(PRICED)]


def _draw_surprises(runs):
    panels = []
    means = runs.data.groupby(["name", "load", "scheme", "estimates"], sort=False)[list(PRICED)].mean()
    for name, load, _ in SURPRISES:
        base = means.loc[name, load, BASE, USERS]
        change = 100 * (means.loc[name, load] / base - 1).rename(columns=PRICED)
        rows = change.reset_index().melt(["scheme", "estimates"], var_name="measure", value_name="change (%)")
        rows = rows[(rows["measure"] == PRICED["wait_time"]) | (rows["estimates"] == USERS)]
        rows["column"] = rows["measure"] + rows["estimates"].map({USERS: "", EXACT: ", exact estimates"})
        title = f"{name} at a load of {load:g}"
        panels.append(charts.changes(rows, "column", "scheme", "change (%)", title=title))
    return Drawing(
        "Three cells that surprise: estimates decide two of them",
        "Change against EASY with users' estimates (%). Sandia: with exact estimates, shortest job first wins; "
        "users' estimates say little there, and an order by width alone does as well as F1. LANL: the advantage of "
        "conservative backfilling comes from jobs that end early, and disappears when reservations are rebuilt in "
        "the order of the queue. BLUE: an order by length or area leaves more processors idle than a load of 0.95 "
        "allows.",
        f"Whole logs, {COUNTED[runs.size]}.",
        charts.stacked(panels),
        ringed=False,
    )


OF_SURPRISES = {"by": ("name", "load", "scheme", "estimates"), "measures": ("wait_time", "max_wait_time")}


@rebuilt("", _draw_surprises, logs=[name for name, *_ in SURPRISES], again="now", **OF_SURPRISES)
def surprises(size: str, progress: bool) -> pd.DataFrame:
    """Draw three surprising cells: what exact estimates change there, and what a win costs."""
    combinations = [
        {"name": name, "load": load, "scheme": scheme, "estimates": estimates}
        for name, load, schemes in SURPRISES
        for scheme in schemes
        for estimates in (USERS, EXACT)
    ]
    return grid(explained, combinations, seed=range(FEW[size]), activity="explaining", progress=progress)


FIGURES = (winners, bounds, price, classes, surprises, changed)


def _changes(runs, scheme, measure, base=BASE):
    """Return, for each copy, its part of the change (percent) of a measure from one scheme to another."""
    by = ["log", "load"]
    new, old = (runs[runs["scheme"] == name].set_index([*by, "seed"])[measure] for name in (scheme, base))
    table = pd.DataFrame({"new": new, "old": old}).dropna().reset_index()
    value = 100 * (ratios_of_means(table, "new", "old", by) - 1)
    return table[[*by, "seed"]].assign(value=value)


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of four statements of three papers."""
    runs, statements = results(size, progress, bounded=False).runs, claims_of("arena")
    rows = []
    for name, check in tested(runs).items():
        main = next(iter(check.values())) if isinstance(check, dict) else check
        why, conjecture = where_not(main), CONJECTURES.get(name, "")
        rows.append(judged(statements[name], check, _traces(size), why=why, conjecture=conjecture))
    return rows


def tested(runs: pd.DataFrame) -> dict[str, Check | dict[str, Check]]:
    """Return the check of each statement, or that under each reading, with a condition for each log and load."""

    def check(scheme, measure, base=BASE, every=False):
        quantity = f"{measure.replace('_', ' ')} of {scheme}, change against {base}"
        return Check(quantity, _changes(runs, scheme, measure, base), "lower", every=every)

    return {
        "ARE-1": check("EASY-SJBF", "bounded_slowdown"),
        # That paper speaks of consistent trends, so of every case.
        "ARE-2": check(BASE, "wait_time LN", "Conservative", every=True),
        "ARE-3": check("Conservative", "wait_time SW", every=True),
        "ARE-4": {label: check(scheme, "bounded_slowdown") for scheme, label in VARIANTS.items()},
    }


# Readings of what stands for lookahead: the order of the list.
VARIANTS = {
    "DPSAp": "jobs by arrival (DPSAp)",
    "DPSAn": "narrow jobs first (DPSAn)",
    "DPSAw": "wide jobs first (DPSAw)",
}


def where_not(check: Check) -> str:
    """Say on which logs and at which loads a check is contradicted; "" if `Check.where` names the few cases anyway."""
    wrong = check.conditions[check.conditions["outcome"] == CONTRADICTS]
    if len(wrong) <= NAMED:
        return ""
    counts = ", ".join(f"{log} ({n})" for log, n in wrong["log"].value_counts(sort=False).items())
    loads = " to ".join(f"{load:g}" for load in sorted({wrong["load"].min(), wrong["load"].max()}))
    return f"Those that contradict it are at loads of {loads}: {counts}."


CONJECTURES = {  # why claims fail
    "ARE-1": (
        "on LLNL-Atlas at 0.8 one episode of five weeks decides, in which jobs of over half of the machine wait twice "
        "as long."
    )
}


def _traces(size):
    """Say briefly what the claims were measured on; the conditions name the logs."""
    standing = any("stand-in" in trace.title for trace in competing(size))
    return f"{len(LOGS[size])} logs{' (stand-ins)' if standing else ''}"
