"""Lelong, Reis and Trystram: orders of EASY's queues, learned on a part of a log. Beyond the five papers."""

from functools import partial
from math import inf

import pandas as pd

from schedlab import EASY, Trace, charts, load_trace, simulate
from schedlab.experiment import grid, remember
from schedlab.schedule.statistics import over_seeds, ratios_of_means

from .cards import Drawing, Paper, rebuilt
from .ledger import Check, claimed, claims_of, judged

TITLE = "Beyond the five: tuning EASY's queues (Lelong, Reis and Trystram)"
PAPER = Paper(
    authors="J. Lelong, V. Reis and D. Trystram",
    title="Tuning EASY-backfilling queues",
    venue="JSSPP",
    year=2017,
    says=(
        "Orders of the queue and of backfilling that are learned on one part of a log lower the mean wait on another "
        "part; a bound on waiting keeps the longest wait from growing."
    ),
    findings=(
        ("Orders learned on one half of a log can fail on the other: on one of three logs, wide jobs starve", "LEL-1a"),
        ("Without a bound the longest wait grows", "LEL-2"),
        ("With a bound of a day the longest wait hardly grows on two of three logs", "LEL-3"),
    ),
    terms=(
        ("order of the queue", "who is the head, which gets the reservation; EASY: by arrival"),
        ("order of backfilling", "who of the others is tried first; EASY: by arrival"),
        ("shortest, narrowest, smallest area", "the least estimate, the fewest processors, the least product of both"),
        ("bound on waiting", "a job that has waited longer goes first, whatever the order"),
    ),
    doi="10.1007/978-3-319-77398-8_3",
)
LOGS = {
    "quick": ("KTH-SP2-1996", "CTC-SP2-1996"),
    "now": ("KTH-SP2-1996", "CTC-SP2-1996"),
    "full": ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998"),
}
JOBS = {"quick": 10_000, "now": None, "full": None}  # the first of a log
COPIES = {"quick": 3, "now": 1, "full": 10}
SHAKE = 60  # seconds
FCFS, SPF, SQF, SAF = "arrival", "shortest", "narrowest", "smallest area"
NAMED = {FCFS: "fcfs", SPF: "sjf", SQF: "narrow", SAF: "saf"}  # orders of backfilling
HOUR, NEVER = 3_600, 10**9  # seconds
BOUNDS = {"quick": (6, 24, 96), "full": (3, 6, 12, 24, 48, 96, 192)}  # hours
BOUND = 24  # hours, of the claim
FAR = 1e15  # before all other values
PAIR, QUEUES = ["primary", "backfill"], ["order of the queue", "order of backfilling"]
CHANGES = {"mean": "mean wait, change (%)", "longest": "longest wait, change (%)"}


def shortest(now, submit, estimate, procs, bound):
    """Shortest estimate first, after the jobs that have waited longer than the bound (seconds)."""
    return submit - FAR if now - submit > bound else estimate


def narrowest(now, submit, estimate, procs, bound):
    """Fewest processors first, after the jobs that have waited longer than the bound (seconds)."""
    return submit - FAR if now - submit > bound else procs


def smallest(now, submit, estimate, procs, bound):
    """Smallest area first, after the jobs that have waited longer than the bound (seconds)."""
    return submit - FAR if now - submit > bound else estimate * procs


ORDERS = {FCFS: None, SPF: shortest, SQF: narrowest, SAF: smallest}


@remember(32)
def half(log: str, jobs: int | None, second: bool) -> Trace:
    """Return one half of a log, or of its first jobs; orders are learned on the first half."""
    trace = load_trace(log, or_standin=True)
    trace = trace.head(jobs or len(trace))
    middle, end = trace.table["submit_time"].iloc[[len(trace) // 2, -1]]
    return trace.between(middle, end + 1, lead=False) if second else trace.head(len(trace) // 2)


def run(log, jobs, second, primary, backfill, bound, seed):
    """Measure mean and longest wait (seconds) of a copy of one half of a log under EASY with two orders."""
    order = "fcfs" if ORDERS[primary] is None else partial(ORDERS[primary], bound=bound)
    schedule = simulate(half(log, jobs, second).shake(SHAKE, seed), EASY(order=order, backfill=NAMED[backfill]))
    waits = schedule.start - schedule.submit
    return {"mean": waits.mean(), "longest": waits.max()}


def pairs(size: str, second: bool, progress: bool) -> pd.DataFrame:
    """Run every pair of orders on one half of each log, without a bound; changes are against EASY on the same copy."""
    settings = {"log": LOGS[size], "jobs": JOBS[size], "second": second, "bound": NEVER, "seed": range(COPIES[size])}
    runs = grid(
        run, primary=list(ORDERS), backfill=list(NAMED), activity="pairs of orders", progress=progress, **settings
    )
    return against_easy(runs, runs, PAIR)


def bounded(size: str, progress: bool) -> pd.DataFrame:
    """Run the learned pair of each log on its second half, under each bound (hours)."""
    base = {"primary": FCFS, "backfill": FCFS, "bound": NEVER}
    combinations = [{"log": log, **base} for log in LOGS[size]]
    for log, (primary, backfill) in learned(pairs(size, False, progress)).items():
        combinations += [
            {"log": log, "primary": primary, "backfill": backfill, "bound": HOUR * hours} for hours in BOUNDS[size]
        ]
    settings = {"jobs": JOBS[size], "second": True, "seed": range(COPIES[size])}
    runs = grid(run, combinations, activity="bounds on waiting", progress=progress, **settings)
    easy = runs["bound"] == NEVER
    return against_easy(runs[~easy], runs[easy], ["bound"]).assign(hours=lambda data: data["bound"] // HOUR)


def against_easy(runs, easy, by):
    """Return each run's part of the changes (percent) of mean and longest wait, over the copies, against EASY."""
    easy = easy[(easy[PAIR] == FCFS).all(axis=1)]
    runs = runs.merge(easy[["log", "seed", *CHANGES]], on=["log", "seed"], suffixes=("", "_easy"))
    new = {
        label: 100 * (ratios_of_means(runs, name, f"{name}_easy", ["log", *by]) - 1) for name, label in CHANGES.items()
    }
    return runs.assign(**new)


def learned(data: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the pair of orders with the least mean wait for each log."""
    means = data.groupby(["log", *PAIR], sort=False)["mean"].mean()
    return {log: means[log].idxmin() for log in data["log"].unique()}


def on_the_second_half(size, progress):
    """Return the runs of each log's learned pair on the second half, without a bound."""
    best, data = learned(pairs(size, False, progress)), pairs(size, True, progress)
    chosen = pd.concat(
        [data[(data["log"] == log) & (data[PAIR] == list(pair)).all(axis=1)] for log, pair in best.items()]
    )
    return chosen.assign(pair=chosen["primary"] + ", backfilling " + chosen["backfill"])


def _sample(size, where="lines"):
    part = "" if JOBS[size] is None else f" of the first {JOBS[size]:,} jobs"
    return f"{COPIES[size]} copies of each half{part}, submissions moved by up to a minute; {where}: 95 % intervals."


OTHERS = ("The paper uses five logs; these are other logs, or other parts of them.",)


def _logs(size):
    return LOGS[size]


def _draw_orders(runs):
    measure, panels = CHANGES["mean"], []
    for log in runs.data["log"].unique():
        means, rings = runs.both(lambda data, log=log: _of_pairs(data[data["log"] == log], measure))
        rings = None if rings is None or rings.empty else rings
        panels.append(charts.bars(means, QUEUES[0], measure, color=QUEUES[1], rings=rings, title=f"{log}: {measure}"))
    best = learned(runs.data)
    winners = "; ".join(f"{log}: {first}, backfilling {then}" for log, (first, then) in best.items())
    chosen = "`order of the queue` == @pair[0] and `order of backfilling` == @pair[1]"
    means = {log: _of_pairs(runs.data[runs.data["log"] == log], measure) for log in best}
    gains = [means[log].query(chosen)[measure].iloc[0] for log, pair in best.items()]
    return Drawing(
        f"The best pair of orders lowers the mean wait by {-max(gains):.0f} to {-min(gains):.0f} % on the half it is "
        f"learned on",
        f"Mean wait against EASY, which takes both orders by arrival; below zero is better. Best: {winners}.",
        f"First halves. {_sample(runs.size)}",
        charts.stacked(panels),
    )


def _of_pairs(runs, measure):
    means = over_seeds(runs[[*PAIR, "seed", measure]], PAIR)
    return means[(means[PAIR] != FCFS).any(axis=1)].rename(columns=dict(zip(PAIR, QUEUES, strict=True)))


@rebuilt("", _draw_orders, OTHERS, logs=_logs, by=("log", *PAIR), measures=("mean", "longest"), again="now")
def orders(size: str, progress: bool) -> pd.DataFrame:
    """Draw how each pair of orders changes the mean wait, on the half that it is learned on."""
    return pairs(size, False, progress)


def _draw_bounds(runs):
    by = ["log", "hours"]

    def means_of(data):
        means = over_seeds(data[[*by, "seed", *CHANGES.values()]], by)
        labels = [f"{hours:g} h" if hours < inf else "none" for hours in means["hours"]]
        means.insert(1, "bound on waiting", labels)
        return means

    means = means_of(runs.data)
    cells = []
    for measure in CHANGES.values():  # written as times: one log's longest wait grows far more than all others
        ends = {name: means[f"{measure}{end}"] for name, end in (("change", ""), ("low", "_low"), ("high", "_high"))}
        of = means[["log", "bound on waiting"]].assign(of=measure.partition(",")[0], **ends)
        cells.append(of.assign(times=[f"{1 + change / 100:.3g}" for change in of["change"]]))
    how = {"panel": "of", "interval": ("low", "high"), "written": "times"}
    how |= {
        "title": "Waits, times that of EASY, by bound on waiting",
        "subtitle": "blue is less than EASY, orange is more",
    }
    chart = charts.changes(pd.concat(cells), "log", "bound on waiting", "change", **how)
    mean, longest = CHANGES.values()
    without, day = (means[means["hours"] == hours].set_index("log") for hours in (inf, BOUND))
    return Drawing(
        f"With a bound of a day the longest wait is {_times(day[longest])} times EASY's, without one "
        f"{_times(without[longest])} times",
        f"On the other half the learned pair makes the mean wait {_times(without[mean])} times EASY's without a bound, "
        f"{_times(day[mean])} times with one of a day. A job that has waited longer than the bound goes first.",
        f"Learned on the first half, run on the second. {_sample(runs.size, 'in the fold of numbers')}",
        chart,
        means.drop(columns=["seeds", "hours"]),
    )


def _times(changes):
    """Say the range of some changes (percent) as times."""
    return " to ".join(f"{1 + end / 100:.2g}" for end in (changes.min(), changes.max()))


@rebuilt("", _draw_bounds, OTHERS, logs=_logs, claims=("LEL-1a", "LEL-1b", "LEL-2", "LEL-3"), again=None)
def bounds(size: str, progress: bool) -> pd.DataFrame:
    """Draw how the learned pair changes waits on the other half, if jobs that have waited beyond a bound go first."""
    without = on_the_second_half(size, progress).assign(hours=inf)
    return pd.concat([bounded(size, progress), without], ignore_index=True)


FIGURES = (orders, bounds)

HARDLY = 10  # percent
LEARNED = (-42, -11)  # percent
STARVING = "wide, long jobs starve behind smaller ones, and these few dominate the mean."


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the claims of the abstract."""
    tuned, limited = on_the_second_half(size, progress), bounded(size, progress)
    traces = ", ".join(half(log, JOBS[size], True).title for log in LOGS[size])
    # A quick run's halves are others than those of the whole logs, and so are its cases.
    part = "" if JOBS[size] is None else f", first {JOBS[size]:,} jobs"
    statements, checks = claims_of("lelong2017"), checks_of(tuned, limited[limited["hours"] == BOUND], part)
    reasons = {"LEL-1a": {"why": slower(tuned, JOBS[size]), "conjecture": STARVING}}
    return [judged(statements[name], check, traces, **reasons.get(name, {})) for name, check in checks.items()]


def checks_of(tuned: pd.DataFrame, limited: pd.DataFrame, part: str = "") -> dict[str, Check]:
    """Return the check of each claim.

    `tuned` are runs of the learned pairs on the second half, `limited` the same under the bound of the claim; `part`
    says which part of the logs, to be told with what is measured.
    """
    mean, longest = CHANGES.values()
    return {
        "LEL-1a": Check(f"mean wait{part}", _runs(tuned, mean, ["log", "pair"]), "lower"),
        "LEL-1b": Check(f"mean wait{part}", _runs(tuned, mean, ["log", "pair"]), "within", LEARNED),
        "LEL-2": Check(f"longest wait{part}", _runs(tuned, longest, ["log", "pair"]), "higher"),
        "LEL-3": Check(f"longest wait{part}", _runs(limited, longest, ["log"]), "not higher", HARDLY),
    }


def _runs(data, measure, by):
    return data[[*by, "seed", measure]].rename(columns={measure: "value"})


def slower(tuned: pd.DataFrame, jobs: int | None) -> str:
    """Say how busy the halves are, and how long a job waits, on logs whose mean wait the learned pair makes longer."""
    sentences, by_log = [], tuned.groupby("log", sort=False)
    for log in [log for log, change in by_log[CHANGES["mean"]].mean().items() if change > 0]:
        first, second = (half(log, jobs, is_second).offered_load() for is_second in (False, True))
        days = by_log.get_group(log)["longest"].mean() / (24 * HOUR)
        sentences.append(
            f"The offered load of {log} is {second:.2f} in the second half, {first:.2f} in the first; the longest wait "
            f"there is {days:.0f} days."
        )
    return " ".join(sentences)
