"""The paper's claims: what it says, what must then hold in the runs, and why some of it does not."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from schedlab import Downey, Scheme, Speedup, simulate
from schedlab.papers.sabin2006.decisions import fair_shares

from ..ledger import Check, claimed, claims_of, exact, judged, untestable
from . import grids
from .beyond import decision_times
from .figures import DRAWN
from .grids import ALL, CLASSES, ITERATIVE, OVERBOOKED, PLAIN, PROCS, SHARES, SIX, WIDE, first, of_all, short

NOISE = 5  # percent: schedules are chaotic, so on 5,000 jobs smaller changes are noise
OF_PAPER, SMALL, LARGEST = CLASSES[1:], CLASSES[1:3], CLASSES[-1:]  # tiny jobs are no class of the paper
MOST = 50  # percent of the jobs
OVERBOOKING, EFFICIENCY = "overbooking, turnaround", "efficiency, turnaround"
PERFECT, WORST = (f"sigma {sigma:g}" for sigma in (grids.SIGMAS[0], grids.SIGMAS[-1]))
WHOLE = grids.how_many(None)
RUN = ["jobs", "scenario", "sigma", "group", "load", "seed"]  # what tells runs of a scheme apart
OF_ALIKE = ("3a", "3b", "3c", "3d", "4a", "4b")  # claims on jobs that scale alike
OF_RANDOM = ("9a", "9b", "9c", "10a", "10b", "13a", "13b", "14a", "14b")  # claims on jobs with random A
WAITING = (
    "where few jobs share the machine, shares are wide anyway, and overbooking makes small jobs wait for large ones"
)
SPARED = (
    "at high load shares are narrow; overbooking spares the largest jobs days on a few processors, and small jobs are "
    "quick even after waiting for them"
)
TRADED = (
    "iteration minimises a mean that counts every job equally, and so serves small jobs at the expense of the largest"
)
WIDEST = (
    "the largest jobs finish soonest if they get nearly the whole machine while others wait, as overbooking lets them"
)
CONJECTURES = {
    **dict.fromkeys(("3a", "5"), f"{WAITING}."),
    **dict.fromkeys(("3b", "3c"), f"{SPARED}."),
    "8b": "at ObF 4 the largest jobs often have the whole machine, so that moving processors can only take from them.",
    "9c": "where few jobs share the machine, hardly any can receive processors.",
    "10a": f"{WIDEST}.",
    **dict.fromkeys(("12b", "12c", "14a", "14b"), f"{TRADED}."),
    "13a": "at low load plain shares leave jobs about as wide as they ask to be, so iteration gains nothing over them.",
}
CHOSEN = ("processors chosen at submission", "processors chosen at each scheduling point")  # by `grids.UNRESTRICTED`
CLAIMS = {name.removeprefix("SAB-"): claim for name, claim in claims_of("sabin2006").items()}


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims."""
    trace, readings = first().title, {}
    for reading in grids.READINGS if size == "full" else [grids.AS_DRAWN]:
        readings[reading] = _runs(size, progress, reading, readings.get(grids.AS_DRAWN))
    system, random, alike = readings[grids.AS_DRAWN]
    rows = {"0": _one_job(trace), "0b": _stretched(trace), "1": _nothing_moves(size, trace), "2": _two_jobs(trace)}
    rows |= {"15": _decision_times(size, progress, trace), "18": _unrestricted(system, trace)}
    expected = {reading: _expected(*runs) for reading, runs in readings.items()}
    classes = classes_of(system, random, alike)
    for name, (main, *others) in expected[grids.AS_DRAWN].items():
        data = alike if name in OF_ALIKE else random if name in OF_RANDOM else system
        why = " ".join(filter(None, (region(main), classes.get(name))))
        reasons = {"why": why, "conjecture": CONJECTURES.get(name, "")}
        texts = {"details": _widths(data), "measured": _smallest(main) if main.every else None}
        checks = {reading: checks[name][0] for reading, checks in expected.items()} if len(expected) > 1 else main
        rows[name] = judged(CLAIMS[name], checks, trace, others=others, **reasons, **texts)
    return [rows[name] for name in CLAIMS]


def _runs(size, progress, reading, drawn):
    """Return the runs at A = P, at A random, and where all jobs scale alike, under a reading of the shares.

    Iteration knows no shares: its runs are those of the figures (`drawn`).
    """
    schemes = {grids.SYSTEM: (*grids.SEVEN, *grids.UNRESTRICTED), grids.RANDOM: grids.SEVEN}
    system, random = (
        grids.results(scenario, size, progress, grids.SIX if drawn else some, reading).assign(scenario=scenario)
        for scenario, some in schemes.items()
    )
    if drawn:
        system, random = (
            pd.concat([part, runs[(runs["scheme"] == str(ITERATIVE)) & (runs["jobs"] == part["jobs"].iloc[0])]])
            for part, runs in zip((system, random), drawn, strict=False)
        )
    alike = grids.scalings(size, progress, reading)
    sigma = [f"sigma {sigma:g}" for sigma in alike["sigma"]]
    return system, random, alike.assign(sigma=sigma, scenario=grids.SYSTEM)


def _expected(system, random, alike):
    """Return the checks of each claim, the main one first: at A = P, at A random, and where all jobs scale alike."""
    system = system[~system["scheme"].isin(map(str, grids.UNRESTRICTED))]
    perfect, worst = (alike[alike["sigma"] == sigma] for sigma in (PERFECT, WORST))
    low, high = alike["load"].min(), alike["load"].max()
    more = [(scheme, OVERBOOKED[0]) for scheme in OVERBOOKED[1:]]
    overbooked = [(SHARES[4, ef], SHARES[1, ef]) for ef in (0, 0.5, 1)]
    efficient = [(SHARES[obf, 1], SHARES[obf, 0]) for obf in (1, 4)]
    at_four = [(SHARES[4, ef], SHARES[4, 0]) for ef in (0.5, 1)]
    iterated, against_all = [(ITERATIVE, WIDE)], [(ITERATIVE, share) for share in SIX]
    helped, both = _compared(random, efficient, groups=OF_PAPER), pd.concat([system, random])
    return {
        "3a": _checks(perfect[perfect["load"] == low], more, "lower", OVERBOOKING),
        "3b": _checks(perfect[perfect["load"] == high], more, "higher", OVERBOOKING),
        "3c": _checks(perfect, more, "higher", OVERBOOKING, SMALL),
        "3d": _checks(perfect, more, "lower", OVERBOOKING, LARGEST),
        "4a": _checks(worst[worst["load"] == low], more[-1:], "higher", OVERBOOKING)
        + _checks(worst, more[-1:], "higher", f"{OVERBOOKING}, every load"),
        "4b": _checked(_growth(_compared(worst, more[-1:])), "higher", f"growth of {OVERBOOKING}"),
        "5": _checks(system, [(WIDE, other) for other in SIX if other != WIDE], "lower", every=True),
        "5b": _checks(system, overbooked[:1], "not lower", OVERBOOKING),
        "6": _checks(system, [(SHARES[1, ef], PLAIN) for ef in (0.5, 1)], "higher", EFFICIENCY),
        "7a": _checks(system, overbooked, "higher", OVERBOOKING, SMALL),
        "7b": _checks(system, efficient, "lower", EFFICIENCY, SMALL),
        "8a": _checks(system, overbooked, "lower", OVERBOOKING, LARGEST),
        "8b": _checks(system, at_four, "within", EFFICIENCY, LARGEST, bound=(-NOISE, NOISE)),
        "8c": _checks(system, efficient[:1], "higher", EFFICIENCY, LARGEST),
        # The sign of EF at ObF 1 is left out: the paper has it both ways.
        "9a": _checks(random, [(SHARES[4, ef], PLAIN) for ef in (0, 0.5, 1)], "higher", OVERBOOKING),
        "9b": _checked(_growth(_compared(random, overbooked[:1])), "higher", f"growth of {OVERBOOKING}"),
        "9c": _checks(random, at_four, "lower", EFFICIENCY),
        "10a": _checks(random, overbooked, "higher", OVERBOOKING, OF_PAPER, every=True),
        "10b": _checked(_median(helped), "lower", f"{EFFICIENCY}, median class")
        + _checked(helped, "lower", f"{EFFICIENCY}, each class"),
        "11": _checks(system, iterated, "lower"),
        "12a": _checks(system, iterated, "lower", groups=SMALL),
        "12b": _checks(system, iterated, "not higher", groups=LARGEST),
        "12c": _checks(system, against_all, "not higher", groups=OF_PAPER, bound=NOISE, every=True),
        "13a": _checks(random, against_all, "lower", every=True),
        "13b": _checked(_growth(_compared(random, [(ITERATIVE, PLAIN)])), "lower", "growth of the change"),
        "14a": _checks(random, against_all, "lower", groups=OF_PAPER, every=True),
        "14b": _checks(random, against_all, "not higher", groups=OF_PAPER, bound=NOISE, every=True),
        "16": _checks(both, overbooked[:1], "higher", "mean queue", measure="queue")
        + _checks(alike, more, "higher", "mean queue where all jobs scale alike", measure="queue"),
        "17": _checks(both, overbooked[:1], "lower", "run time", LARGEST, "run")
        + _checks(alike, more, "lower", "run time where all jobs scale alike", LARGEST, "run"),
    }


def _checks(data, pairs, expected, about="turnaround", groups=(ALL,), measure="turnaround", **settings):
    """Check how schemes compare in pairs, for groups of jobs."""
    return _checked(_compared(data, pairs, measure, groups), expected, about, **settings)


def _checked(rows, expected, about, **settings):
    """Check what was compared: on the whole log first, then on its first jobs, where small changes are noise."""
    labels = ["pair", *(name for name in ("scenario", "sigma") if len(set(rows[name])) > 1)]
    labels += ["group"] if set(rows.get("group", [ALL])) != {ALL} else []
    labels += ["loads" if "loads" in rows else "load"]
    several = {jobs: sample[[*labels, "seed", "value"]] for jobs, sample in rows.groupby("jobs", sort=False)}
    return [
        Check(f"{about}, {jobs}", several[jobs], expected, noise=NOISE * (jobs != WHOLE), logarithms=True, **settings)
        for jobs in sorted(several, key=lambda jobs: jobs != WHOLE)
    ]


def _compared(data, pairs, measure="turnaround", groups=(ALL,)):
    """Compare schemes in pairs, draw by draw, for groups of jobs: value is the logarithm of the ratio of a measure."""
    values = data[data["group"].isin(groups)].pivot_table(measure, RUN, "scheme", sort=False)
    logarithms = np.log(values.where(values > 0))  # the queue of a few jobs may be empty
    ratios = [
        (logarithms[str(scheme)] - logarithms[str(other)]).rename("value").reset_index() for scheme, other in pairs
    ]
    named = [f"{short(scheme)} against {short(other)}" for scheme, other in pairs]
    return pd.concat([rows.assign(pair=pair) for rows, pair in zip(ratios, named, strict=True)], ignore_index=True)


def _median(rows):
    """Return the median over the classes of each draw: below 0, most of them gain."""
    by = [name for name in (*RUN, "pair") if name != "group"]
    return rows.groupby(by, sort=False)["value"].median().reset_index()


def _growth(rows):
    """Compare the ratios at the highest load with those at the lowest, draw by draw."""
    loads = rows.groupby("jobs")["load"]
    at_low, at_high = (rows[rows["load"] == loads.transform(end)] for end in ("min", "max"))
    keys = [name for name in (*RUN, "pair") if name != "load"]
    both = at_high.merge(at_low, on=keys, suffixes=("", "_low"))
    spans = [f"load {high:g} against {low:g}" for high, low in zip(both["load"], both["load_low"], strict=True)]
    return both.assign(value=both["value"] - both["value_low"], loads=spans)


def region(check: Check) -> str:
    """Say at which loads or in which classes no condition of a check contradicts, or for which of both; else ""."""
    conditions = check.conditions
    clear = [_clear(conditions, key) for key in ("load", "group") if key in conditions]
    if not any(clear) and {"load", "group"} <= set(conditions) and (conditions["outcome"] == "contradicts").any():
        parts = conditions.groupby("group", sort=False)
        several = [(group, _clear(part, "load", always=True)) for group, part in parts]
        clear = ["; ".join(f"in the class {group} {loads}" for group, loads in several if loads)]
    return f"No case contradicts {', or '.join(filter(None, clear))}." if any(clear) else ""


def _clear(conditions, key, always=False):
    """Say for which loads or classes no condition contradicts; "" if that is for all (unless `always`) or for none."""
    clear = conditions.groupby(key, sort=False)["outcome"].agg(lambda outcomes: "contradicts" not in set(outcomes))
    if not clear.any() or (clear.all() and not always):
        return ""
    if key == "group":
        return "; ".join(f"in the class {group}" for group in clear.index[clear])
    clear = clear.sort_index()
    apart = (~clear).cumsum()[clear]  # the same for loads without one between them that contradicts
    ends = [(stretch.index[0], stretch.index[-1]) for _, stretch in clear[clear].groupby(apart)]
    return "; ".join(f"at load {low:g}" if low == high else f"at loads of {low:g} to {high:g}" for low, high in ends)


def classes_of(system: pd.DataFrame, random: pd.DataFrame, alike: pd.DataFrame) -> dict[str, str]:
    """Say for some claims, by the end of their ids, how the turnaround of each class changes; see `by_class`.

    The runs are those at A = P, at A random, and where all jobs scale alike.
    """
    perfect = alike[alike["sigma"] == PERFECT]
    low, high = (perfect[perfect["load"] == load] for load in (perfect["load"].min(), perfect["load"].max()))
    return {
        "3a": by_class(low, OVERBOOKED[-1], OVERBOOKED[0]),
        "3b": by_class(high, OVERBOOKED[-1], OVERBOOKED[0]),
        "5": by_class(system, WIDE, PLAIN),
        "6": by_class(system, SHARES[1, 1], PLAIN),
        "13a": by_class(random, ITERATIVE, PLAIN),
    }


def by_class(data: pd.DataFrame, scheme: Scheme, other: Scheme) -> str:
    """Say how a scheme changes the turnaround of each class, over the loads of the whole log if it was run."""
    rows = _compared(data, [(scheme, other)], groups=CLASSES)
    rows = rows[rows["jobs"] == max(rows["jobs"], key=lambda jobs: jobs == WHOLE)]
    means = rows.groupby("group")["value"].mean()
    changes = ", ".join(f"{100 * np.expm1(means[name]):+.0f} % ({name})" for name in CLASSES if name in means)
    return f"{short(scheme)} against {short(other)} by class, in processor-seconds: {changes}."


def _smallest(check):
    """Write down the smallest effect, which a claim about every condition is about."""
    means = check.conditions["mean"]
    place = means.argmin() if check.expected == "higher" else means.argmax()
    return f"{check.quantity}, smallest effect: {check.written(place)}"


def _widths(data):
    """Say on how many processors jobs run at the highest load, and what share is wasted."""
    part = of_all(data[data["load"] == data["load"].max()])
    part = part[part["jobs"] == part["jobs"].iloc[0]]
    widths = ", ".join(
        f"{short(name)} {rows['procs'].mean():.0f} and {100 * rows['wasted'].sum() / rows['area'].sum():.0f} %"
        for name, rows in part.groupby("scheme", sort=False)
    )
    return f"{DRAWN} Mean processors of a job, and processor-seconds wasted, at load {data['load'].max():g}: {widths}."


def _of_jobs(count, **columns):
    """Return the first jobs of the log with other numbers in their columns."""
    trace = first(jobs=count)
    return replace(trace, table=trace.table.assign(**columns))


def _one_job(title):
    trace = _of_jobs(1, run_time=1000, requested_time=1000, requested_procs=5)
    work = trace.with_speedup(Speedup(lambda n: 1 + 0.375 * (n - 1))).sequential_work()[0]
    return exact(CLAIMS["0"], work == 2500, f"{work:,.0f} processor-seconds", title, "The amount of work differs.")


def _stretched(title):
    trace = first().with_speedup(Downey(), seed=0).scale_load(0.65, "effective")
    seconds, before = trace.table["run_time"].to_numpy(), trace.effective_load()
    stretched = trace.scale_load(0.9, "effective").table["run_time"].to_numpy()
    factor = 0.9 / before
    measured = f"every run time x {factor:.4f}, rounded; the load before was {before:.4f}"
    holds = (stretched == np.maximum(1, np.rint(seconds * factor))).all()
    return exact(CLAIMS["0b"], bool(holds), measured, title, "Run times differ.")


def _nothing_moves(size, title):
    """Check how many jobs started on more processors than their fair share: with EF 0 none, with EF 1 some."""
    trace = grids.workload(jobs=grids.SIDE[size][0])
    schedules = {key: simulate(trace, SHARES[key]) for key in product((1, 4), (0, 1))}
    beyond = {key: int((schedule.procs > fair_shares(schedule)).sum()) for key, schedule in schedules.items()}
    moved = ", ".join(f"ObF {obf} EF {ef}: {count}" for (obf, ef), count in beyond.items())
    holds = all((count == 0) == (ef == 0) for (_, ef), count in beyond.items())
    measured = f"of {len(trace):,} jobs, on more processors than their fair share: {moved}"
    return exact(CLAIMS["1"], holds, measured, title, "With EF 0 a job exceeded its share, or with EF 1 none did.")


def _two_jobs(title):
    lasts = 3_600
    trace = _of_jobs(2, submit_time=0, run_time=lasts, requested_time=lasts, requested_procs=PROCS // 2)
    trace = trace.with_speedup(Downey(sigma=0))
    means = [float(simulate(trace, scheme).end.mean()) / lasts for scheme in OVERBOOKED[:2]]
    return exact(CLAIMS["2"], means == [1, 0.75], "; ".join(f"{mean:g} T" for mean in means), title, "They differ.")


def _decision_times(size, progress, title):
    """Tell how long decisions take today, since the claim is about the hardware of its time."""
    table = decision_times(size, progress).data
    longest = table.loc[table["longest (ms)"].idxmax()]
    details = "; ".join(
        f"{row['scenario']}, load {row['load']:g}: median {row['median (ms)']:.3g} ms, 99th percentile "
        f"{row['99th percentile (ms)']:.3g} ms"
        for _, row in table.iterrows()
    )
    measured = f"longest decision {longest['longest (ms)']:.3g} ms ({longest['scenario']}, load {longest['load']:g})"
    return untestable(CLAIMS["15"], "The paper's hardware of 2006 is not at hand.", title, details, measured)


def _unrestricted(system, title):
    """Check how many jobs run on more than half of the machine if nothing but the machine limits them."""
    about, readings = f"jobs on more than half of the machine, {grids.how_many(grids.JOBS)}", {}
    for reading, scheme in zip(CHOSEN, grids.UNRESTRICTED, strict=True):
        rows = of_all(system)[lambda data, name=str(scheme): data["scheme"] == name]
        runs = rows.assign(value=100 * rows["wide"])[["load", "seed", "value"]]
        readings[reading] = Check(about, runs, "higher", MOST, form="{:.1f} %")
    return judged(CLAIMS["18"], readings, title, why="Such jobs are simulated in the full size only.")
