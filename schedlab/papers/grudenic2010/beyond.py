"""What the paper leaves open, and what is beyond it: other loads, bounded searches, and what the sets cost."""

import time

import numpy as np
import pandas as pd

from schedlab import DPSA, EASY, charts, load_trace
from schedlab.experiment import grid
from schedlab.schedule.simulation import simulate
from schedlab.schedule.statistics import over_seeds, ratios_of_means
from schedlab.schemes.cases import case_of
from schedlab.show import interval

from ..cards import Drawing, rebuilt
from . import grids
from .figures import BROAD, GAIN, NOTES, beyond_chance, left_out_of, logs_at_hand
from .grids import AUDITED, BASE, CODES, COPIES, DPSAN, EXACT, LEFT_OUT, MOST_JOBS, RUN_ON, label, log, logs, values_of

PAYS = 5  # percent
LOADS = {"quick": (0.5, 0.7, 0.9), "full": tuple(round(0.5 + 0.05 * i, 2) for i in range(10))}
COPIES_BY_LOAD = {"quick": 3, "full": 10}
BUDGETS = {"quick": (10, 100, 1_000), "full": (10, 30, 100, 300, 1_000, 10_000, 100_000)}


def _draw_by_load(runs):
    by = ["trace", "load"]
    means, rings = runs.both(lambda data: over_seeds(_gain_of_means(data)[[*by, "seed", GAIN]], by))
    table = means.pivot_table(index="trace", columns="load", values=GAIN, sort=False)
    pays = [_pays_from(gains) for _, gains in table.iterrows()]
    table = table.rename(columns=lambda load: f"gain at {load} (%)").assign(**{f"above {PAYS} % from load": pays})
    some = sum(pays_from != "none" for pays_from in pays)
    return Drawing(
        f"DPSAn gains more than {PAYS} % from some load on, on {some} of {len(pays)} logs",
        "DPSAn prefers narrow jobs. Within one log its gain need not grow with the load: the mix of jobs matters as "
        f"much. Numbers: the last column has the lowest load from which on DPSAn gains more than {PAYS} %.",
        f"{len(pays)} whole logs, run times and estimates scaled to {means['load'].nunique()} loads, "
        f"{COPIES_BY_LOAD[runs.size]} shaken copies each; shaded: 95 % intervals.{left_out_of(runs.size)}",
        charts.lines(means, "load", GAIN, color="trace", rings=rings),
        table.reset_index(),
    )


@rebuilt("", _draw_by_load, NOTES, logs=logs_at_hand, by=("trace", "load"), measures=(BASE, DPSAN))
def figure4_load(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what DPSAn gains on each log as its load grows."""
    values = {"load": LOADS[size], "seed": range(COPIES_BY_LOAD[size])}
    runs = grid(
        _at_load, log=list(logs(most=MOST_JOBS[size]).values()), **values, activity="other loads", progress=progress
    )
    return runs[["trace", "load", "seed", BASE, DPSAN]]


def _gain_of_means(runs):
    return runs.assign(**{GAIN: 100 * (1 - ratios_of_means(runs, DPSAN, BASE, ["trace", "load"]))})


def _at_load(log, load, seed):
    """Simulate a shaken copy of a log at a load: the mean bounded slowdown under EASY and under DPSAn."""
    copy = log.scale_load(load).shake(grids.SHAKE, seed)
    means = {str(scheme): grids.mean_slowdown(simulate(copy, scheme)) for scheme in (EASY(), DPSA())}
    return {"trace": label(log), **means}


def _pays_from(gains):
    """Return the lowest load from which on all gains exceed `PAYS`, as text."""
    loads = [load for load in gains.index if (gains[load:] > PAYS).all()]
    return f"{loads[0]}" if loads else "none"


def _draw_bounded(runs):
    most = runs.data.loc[runs.data["budget"] == runs.data["budget"].max(), ["budget", "lost"]]
    lost, along = "processors missed (%)", "jobs tried at a pass, at most"
    names = {"missed": "passes missed (%)", "lost": lost, "worse": "change of the slowdown (%)", "budget": along}
    data, rings = runs.both(lambda table: table.rename(columns=names))
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


@rebuilt("", _draw_bounded, logs=(AUDITED,), by=("scheme", "budget"), measures=("missed", "lost", "worse"))
def bound(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: how far a bounded search falls short of the best set."""
    trace, budgets = log(AUDITED) or load_trace(AUDITED), BUDGETS[size]
    values = {"log": trace, "variant": list("pnw"), "budget": [None, *budgets]}  # without a budget, the exact set
    runs = grid(_searched, **values, activity="searching", progress=progress)
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
    return about | {"missed": 100 * missed, "lost": 100 * lost, "mean": grids.mean_slowdown(outcome)}


READ = ["trace", "reading", "scheme"]


def _draw_readings(runs):
    data = runs.data
    texts = [interval(*row, "{:+.1f}") for row in data[["change", "change_low", "change_high"]].to_numpy()]
    table = data.assign(words=np.where(data["change"].isna(), "not measured", texts))
    table = table.pivot_table(index=READ[:2], columns="scheme", values="words", aggfunc="first", sort=False)
    narrow = data[(data["scheme"] == DPSAN) & data["change"].notna()]
    better, worse = (beyond_chance(narrow, side) for side in ("better", "worse"))
    # What a reading leaves out differs between logs: the table says it.
    rows = data.assign(reading=data["reading"].str.replace(r" \(.*", "", regex=True))
    largest = rows.groupby("trace")["change"].agg(lambda column: column.abs().max())
    rows = rows.sort_values("trace", key=lambda logs: -logs.map(largest), kind="stable")
    title = "Mean bounded slowdown against EASY, change (%)"
    how = {"panel": "trace", "interval": ("change_low", "change_high"), "title": title}
    how["subtitle"] = "blue is less than EASY, orange is more"
    chart = charts.changes(rows, "scheme", "reading", "change", **how)
    return Drawing(
        f"Whatever the paper leaves open, DPSAn is better than EASY beyond chance in {better.sum()} of {len(narrow)} "
        f"cases, worse in {worse.sum() or 'none'}",
        "Each row reads one thing differently than Figure 3; a case is a log and a reading; logs with the largest "
        f"changes come first. Empty cells were not measured, or the reading changes nothing there. {CODES}",
        f"{data['trace'].nunique()} logs; means over {COPIES[runs.size]} {grids.SHAKEN}, the same for every "
        f"reading; in the fold of numbers: 95 % intervals in brackets.{left_out_of(runs.size)}",
        chart,
        table.rename_axis(columns=None).reset_index(),
    )


@rebuilt("", _draw_readings, NOTES, logs=logs_at_hand, again=None)
def sensitivity(size: str, progress: bool) -> pd.DataFrame:
    """Tabulate what the paper leaves open: tau, missing estimates, coinciding events, the cleaning of the logs."""
    columns, parts = ["change", "change_low", "change_high"], []
    nothing = pd.DataFrame({"scheme": grids.VARIANTS, **dict.fromkeys(columns, np.nan)})
    traces = logs(most=MOST_JOBS[size])
    readings = [(label(trace), *reading) for name, trace in traces.items() for reading in _readings(name, trace)]
    combinations = [combination for *_, combination in readings if combination is not None]
    runs = grids.copies(combinations, size, "other readings", progress, tau=None)
    rows = COPIES[size] * len(grids.SCHEMES)  # of a combination, in the order of these
    for trace, reading, tau, combination in readings:
        part = nothing
        if combination is not None:
            part, runs = grids.against_easy(runs[:rows].rename(columns={tau: grids.MEASURE})), runs[rows:]
        parts.append(part.assign(trace=trace, reading=reading))
    return pd.concat(parts)[[*READ, *columns]]


def _readings(name, trace):
    """Return each reading of what the paper leaves open: in words, tau, and what to simulate (None if impossible)."""
    (tau, *others), as_drawn = grids.TAUS, values_of(trace)
    yield "as in Figure 3", tau, as_drawn
    for other in others:
        yield f"tau = {other} s", other, as_drawn
    yield "one pass for each event", tau, as_drawn | {"events": "each"}
    limits = " (not the limits of the queues)" if name.startswith("SDSC-Par") and trace.source != "stand-in" else ""
    yield f"{EXACT}{limits}", tau, values_of(log(name, EXACT), EXACT)
    yield RUN_ON, tau, values_of(trace, RUN_ON)
    yield f"{RUN_ON}, and are known beforehand", tau, {"log": trace, "overrun": "extend"}
    kept, missing = log(name, LEFT_OUT), grids.without_estimate(trace)
    if kept is not None:
        reading = f"no estimate: left out ({missing:,} of {len(trace):,} jobs; load {kept.offered_load():.2g} is left)"
        yield reading, tau, values_of(kept, LEFT_OUT)
        if missing > len(trace) / 100:
            reading = "no estimate: drawn from a model fitted to the others"
            try:
                yield reading, tau, values_of(trace.with_estimates("fitted"))
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
        f"Each whole log in one thread, timed on the machine that made the numbers.{left_out_of(runs.size)}",
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


OF_EFFORT = {"by": ("trace", "scheme"), "measures": ("decisions", "greedy", "longest", "table"), "claims": ("GRU-7",)}


@rebuilt("", _draw_efforts, NOTES, logs=logs_at_hand, **OF_EFFORT)
def effort(size: str, progress: bool) -> pd.DataFrame:
    """Beyond the paper: what the exact sets cost."""
    return efforts(size, progress)


def efforts(size, progress):
    columns = ["trace", "procs", "jobs", "scheme", "seconds", "decisions", "greedy", "longest", "table"]
    values = {"log": list(logs(most=MOST_JOBS[size]).values()), "scheme": grids.SCHEMES[1:]}
    return grid(_timed, **values, threads=1, activity="measuring the effort", progress=progress)[columns]


def _timed(log, scheme):
    """Measure the cost of a scheme's sets, and the seconds that its simulation takes."""
    case, _ = case_of(log, scheme)
    facts, begin = scheme.audit(case), time.perf_counter()
    scheme.simulate(case)
    seconds = time.perf_counter() - begin
    return {"trace": label(log), "procs": log.procs, "jobs": len(log), "seconds": seconds, **facts}
