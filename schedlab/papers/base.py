"""The base schedulers on real logs against load, and the published schedules they must match."""

import pandas as pd

from schedlab import EASY, FCFS, Conservative, Trace, charts, load_trace, model_trace, simulate, sweep
from schedlab.schedule.statistics import PILE_UP
from schedlab.workload import archive

from .cards import Drawing, Paper, rebuilt
from .ledger import Claim, claimed, exact, untestable

TITLE = "The base schedulers"
PAPER = Paper(
    authors="E. Gaussier, D. Glesser, V. Reis and D. Trystram",
    title="Improving backfilling by using machine learning to predict running times",
    venue="SC",
    year=2015,
    says="The base schedulers, against schedules that were published job by job with this paper.",
    findings=(("EASY gives the published mean slowdown and wait to every printed digit", "BASE-2"),),
    terms=(
        ("FCFS", "first come, first served: no job passes another"),
        ("EASY", "jobs may pass the head of the queue if they do not delay it"),
        ("EASY-SJF", "EASY with the queue in order of the estimates, shortest first"),
        ("Conservative", "jobs may pass others if they delay none of them"),
        ("bounded slowdown", "wait and run time, over the run time; run times below tau = 10 s count as tau"),
    ),
    doi="10.1145/2807591.2807646",
)
LOGS = ("CTC-SP2-1996", "KTH-SP2-1996", "SDSC-SP2-1998")
MODEL = {"model": "lublin", "jobs": 10_000, "machine": 256, "seed": 1}  # where there is neither log nor stand-in
SCHEMES = (FCFS(), EASY(), EASY(order="sjf"), Conservative())
SJBF = EASY(backfill="sjf")
LOADS = {"quick": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0), "full": tuple(round(0.5 + 0.025 * i, 3) for i in range(21))}
SHOWN = {"wait_time": "mean wait (s)", "bounded_slowdown": "mean bounded slowdown", "utilization": "utilization"}

# Schedules published with Gaussier, Glesser, Reis and Trystram, SC 2015 (predictsim). For each: the
# log as they filtered it, the scheme and its events, whether estimates are exact, and the printed means
# (seconds; bounded slowdown with tau = 10 s), as text because every printed digit must come out.
PUBLISHED = (
    ("BASE-1", "KTH-SP2-1996-2", EASY(), "batched", True, {"turnaround": "15187.6077", "bounded_slowdown": "71.7224"}),
    ("BASE-2", "KTH-SP2-1996-2", EASY(), "each", False, {"bounded_slowdown": "92.576540", "wait_time": "6836.8721"}),
    ("BASE-2", "KTH-SP2-1996-2", EASY(), "each", True, {"bounded_slowdown": "71.722385", "wait_time": "6327.6816"}),
    ("BASE-2", "KTH-SP2-1996-2", SJBF, "each", True, {"bounded_slowdown": "49.847719", "wait_time": "5436.0208"}),
    ("BASE-2", "CTC-SP2-1996", EASY(), "each", False, {"bounded_slowdown": "49.571290", "wait_time": "14272.5945"}),
    ("BASE-2", "CTC-SP2-1996", EASY(), "each", True, {"bounded_slowdown": "37.165401", "wait_time": "13581.7165"}),
    ("BASE-2", "CTC-SP2-1996", SJBF, "each", True, {"bounded_slowdown": "17.571687", "wait_time": "10004.9610"}),
)


def logs() -> list[Trace]:
    """Return the logs of the figure, stand-ins for those that are not at hand."""
    return [log_or_model(name) for name in LOGS]


def log_or_model(name: str) -> Trace:
    """Return a log if available, else its stand-in, else the Lublin-Feitelson model; the trace's title says which."""
    try:
        return load_trace(name, or_standin=True)
    except archive.TraceNotFound:
        return model_trace(**MODEL)


def _draw_against_load(runs):
    data = runs.data
    panels = [
        charts.lines(data, "load", measure, column="trace", log=True, title=title, rings=runs.now)
        for measure, title in (("bounded_slowdown", "Mean bounded slowdown"), ("wait_time", "Mean wait"))
    ]
    piles_up = data[data["longest_pile_up"] > PILE_UP].groupby("scheme", sort=False)["load"].min()
    seen = (
        "EASY and conservative lie close together. Serving the shortest estimate first helps at low load. But it "
        "gives the only reservation to the shortest job, so wide jobs wait until enough processors happen to be "
        "free: at high load this costs utilization and waiting on some logs."
    )
    if len(piles_up):
        seen += (
            f" Where one pile-up of the queue takes more than {100 * PILE_UP:.0f} % of the makespan, the queue does "
            f"not settle, and its means depend on how long the log is. The lowest such load of any log: "
            f"{', '.join(f'{scheme} {load:g}' for scheme, load in piles_up.items())}."
        )
    at = data[data["load"] == 0.8].pivot_table(index="trace", columns="scheme", values="wait_time", sort=False)
    times = at["FCFS"] / at["EASY"]
    return Drawing(
        f"At a load of 0.8 jobs wait {times.min():.0f} to {times.max():.0f} times as long under FCFS as under EASY",
        seen,
        f"{', '.join(data['trace'].unique())}, whole; run times and estimates scaled to the load, in steps of "
        + ("0.1 (quick; full size: 0.025)." if runs.size == "quick" else "0.025."),
        charts.stacked(panels),
        _at_load(data, 0.8),
    )


@rebuilt("", _draw_against_load, logs=LOGS, by=("trace", "load", "scheme"), measures=("wait_time", "bounded_slowdown"))
def figure1(size: str, progress: bool) -> pd.DataFrame:
    """Rebuild the figure of the base schedulers: mean wait and mean bounded slowdown against offered load.

    Loads in steps of 0.1, or of 0.025 in the full size; the traces are whole in both.
    """
    return sweep(logs(), SCHEMES, LOADS[size], progress=progress)


FIGURES = (figure1,)


def _at_load(data, load):
    table = data.loc[data["load"] == load, ["trace", "load", "scheme", *SHOWN]]
    return table.rename(columns={"load": "offered load", **SHOWN}).reset_index(drop=True)


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger: published schedules of EASY, to be matched in every printed digit, whatever the size."""
    return [_claim(*row) for row in PUBLISHED]


def _claim(name, log, scheme, events, exact_estimates, published):
    estimates = "exact" if exact_estimates else "user"
    statement = f"mean of all jobs under {scheme}, {estimates} estimates, {PASSES[events]}"
    claim = Claim(name, "result files of Gaussier et al., SC 2015", statement, _means(published))
    full = archive.resolve(log)
    if archive.find(full) is None:
        return untestable(claim, f"{log} is not at hand", full)
    trace = load_trace(log, missing_estimate="drop").cut_at_estimates()
    measures = simulate(trace.with_estimates("exact") if exact_estimates else trace, scheme, events=events).metrics()
    measured = {name: f"{measures[name]:.{len(text.partition('.')[2])}f}" for name, text in published.items()}
    return exact(claim, measured == published, _means(measured), trace.title, "differs in a printed digit")


PASSES = {"each": "one pass for each event", "batched": "one pass for all events of an instant"}
MEANS = {"turnaround": "turnaround {} s", "wait_time": "wait {} s", "bounded_slowdown": "bounded slowdown {}"}


def _means(values):
    return ", ".join(MEANS[name].format(text) for name, text in values.items())
