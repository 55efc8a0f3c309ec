"""The paper's claims: what must hold in the runs, under each reading of the paper."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from schedlab import gang
from schedlab.gang import Config, Workload
from schedlab.schedule.statistics import ratios_of_means

from ..checks import Check
from ..ledger import claimed, claims_of, exact, judged
from . import grids
from .grids import COMPUTING, FITS, JOBS, LABELLED, MIXES, TABLES, TURNS, UTILIZATION, WITH, WITHOUT, WORDS, compare

CLOSE = 0.1  # ratios that differ from one another, or from 1, by no more than this are called close
TABLED = "{:.0f} jobs, {:.0f} % with information; {:.0f} jobs, {:.0f} % without; ratios {:.2f}, {:.2f}"
PRINTED = {"SIL-5": "IO {:.0f} % (8 PEs), {:.0f} % (16 PEs); IO/Msg {:.0f}, {:.0f} %; IO/Msg/Emb {:.0f}, {:.0f} %"}
PRINTED |= {f"SIL-T{number}": TABLED for number in TABLES}
FORMS = {JOBS: ("jobs", "{:.1f} jobs", 1), UTILIZATION: (UTILIZATION, "{:.0f} %", 100)}  # and factors: percent
STEPS = (0.6, 0.913043, 0.993691, 0.999795)
CLAIMS = claims_of("silva2000")
SHARE, DOUBLES, ABOUT, A_LITTLE = (0.4, 0.6), (1.8, 2.2), (1 - CLOSE, 1 + CLOSE), (1 - CLOSE, 1)
AS_DRAWN, UNEVEN = "as in the figures", "uneven supersteps"
JUDGED = {  # what the paper leaves open and might change a verdict: settings of `compare`
    AS_DRAWN: {},
    "constant bursts": {"bursts": "constant"},
    "alternate selection": {"alternate": True},
    UNEVEN: {"imbalance": 0.1},
}
BURSTS = ("compute", "disk", "gap", "superstep")  # their means are settings of `gang.Config`
BESIDE = {  # also shown
    f"bursts {abs(change):.0%} {direction}": {name: (1 + change) * getattr(Config(), name) for name in BURSTS}
    for change, direction in ((-0.15, "shorter"), (0.15, "longer"))
}
SLICES_BACK = 5  # our choice: the paper's simpler scheduler averages over the last N slices, and it gives no N
READ = (20, 20)  # seeds, and how many times as fast jobs come and go, under the other readings
BARRIERS = ("SIL-4", "SIL-6", "SIL-7", "SIL-8", "SIL-9")  # claims on mixes that have supersteps
READ_SO = (
    "As in the figures: bursts of random length, no alternate selection, equal supersteps. The other readings change "
    f"one of these each (uneven supersteps differ by up to {JUDGED[UNEVEN]['imbalance']:.0%}), in {READ[0]} seeds "
    f"whose jobs come and go {READ[1]} times as fast."
)
CONJECTURES = {
    "SIL-2a": "with random bursts all tasks of a PE can wait for the disk at once.",
    "SIL-4b": "tasks that only compute fill empty slots, too.",
    "SIL-9": "only with Emb jobs is there nearly always a task that computes.",
    "SIL-6a": "tasks that make room rarely get their PE back within the slice, and those that wait for them spin.",
}


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims, both fits of the model in each row."""
    data = pd.concat([grids.results(mix, size, progress) for mix in MIXES], ignore_index=True)
    checked, beside, rows = {AS_DRAWN: checks(data)}, {}, _exact()
    if size == "full":
        checked |= _as_read([*JUDGED.items()][1:], progress)
        beside = _as_read(BESIDE.items(), progress)
    trace, reasons = ", ".join(grids.MODELS.values()), reasons_for(data)
    for name, main in checked[AS_DRAWN].items():
        several = [reading for reading in checked if reading != UNEVEN or name.startswith(BARRIERS)]
        readings = {reading: checked[reading][name] for reading in several}
        further = {label: by_claim[name] for label, by_claim in beside.items()}
        others = [replace(check, quantity=f"{check.quantity}, {label}") for label, check in further.items()]
        about = {"why": reasons.get(name, ""), "conjecture": CONJECTURES.get(name, ""), "others": others}
        about |= {"details": f"{LABELLED} {READ_SO}", "measured": _as_printed(name, main) if name in PRINTED else None}
        rows.append(judged(CLAIMS[name], readings, trace, **about))
    rows.append(_by_turns(size, progress, trace))
    return sorted(rows, key=lambda row: [*CLAIMS].index(row["id"]))


def _as_read(readings, progress):
    """Return the checks of the claims under other settings, by reading."""
    runs = {
        reading: [compare(mix, READ, f"{reading}, {mix}", progress, **settings) for mix in MIXES]
        for reading, settings in readings
    }
    return {reading: checks(pd.concat(several, ignore_index=True)) for reading, several in runs.items()}


def _by_turns(size, progress, trace):
    """Judge whether choosing by priority is better than letting all ready tasks take turns.

    The paper says so of a simpler scheduler, which averages over the last slices: this is a reading, too.
    """

    def runs(sample, **settings):
        several = [compare(mix, sample, f"turns, {mix}", progress, **pair, **settings) for mix in MIXES]
        return pd.concat(several, ignore_index=True)

    pair, data = {"schedulers": (WITH, TURNS)}, {}
    data[AS_DRAWN] = runs(grids.RUNS[size])
    if size == "full":
        simpler = {f"average over the last {SLICES_BACK} slices": {"window": SLICES_BACK}}
        data |= {reading: runs(READ, **changed) for reading, changed in (JUDGED | simpler).items() if changed}
    gains = {reading: _gains(part, WITH, TURNS) for reading, part in data.items()}
    comparison, higher = "of priority over round robin", {"expected": "higher", "bound": 1.0, "form": "{:.2f}"}
    readings = {name: Check(f"throughput {comparison}", _only(part, JOBS), **higher) for name, part in gains.items()}
    others = [Check(f"utilization {comparison}", _only(gains[AS_DRAWN], UTILIZATION), **higher)]
    spinning = 100 * data[AS_DRAWN].groupby("scheduler")["spinning"].mean()
    why = f"PEs spin {spinning[TURNS]:.0f} % of the time under round robin, and {spinning[WITH]:.0f} % by priority."
    return judged(CLAIMS["SIL-10"], readings, trace, others=others, why=why, details=f"{LABELLED} {READ_SO}")


def _exact():
    """Judge the claims that must come out exactly: the baseline of a spin, and the first memberships of a task."""
    baseline = gang.simulate(Workload(horizon=1)).baseline
    jobs = Workload(pes=1, horizon=1, jobs=((0.0, 1, "io", 1.0),))
    schedule = gang.simulate(jobs, Config(floor=0.0, bursts="constant", compute=0.05, disk=0.05), watch=[(1, 0)])
    memberships = tuple(schedule.memberships(1)["f_io"].round(6)[: len(STEPS)])
    text = "f_IO " + ", ".join(f"{value:g}" for value in memberships)
    return [
        exact(CLAIMS["SIL-0"], round(1e9 * baseline) == 55_000, f"{1e6 * baseline:g} us", why="The baseline differs."),
        exact(CLAIMS["SIL-1"], memberships == STEPS, text, why="The memberships differ."),
    ]


def checks(data: pd.DataFrame) -> dict[str, Check]:
    """Return the check of each claim from SIL-2a to SIL-9, by id, from the `results` of all mixes.

    Both fits of the model are conditions of each check.
    """
    gains = _gains(data, WITH, WITHOUT)
    spun = _gains(data[data["mix"].isin(grids.SPUN)], grids.SPIN, WITH)
    io, computing = (gains[gains["mix"].isin(mixes)] for mixes in (["IO"], COMPUTING))
    shares = data.loc[data["mix"] == "IO", ["pes", "scheduler", "fit", "seed", "one_task_share"]]
    first = (("IO/Msg", "IO"), ("IO/BSP", "IO"))
    second = (("IO/Msg/Emb", "IO/Msg"), ("IO/BSP/Emb", "IO/BSP"))
    alike = (("IO/BSP", "IO/Msg"), ("IO/BSP/Emb", "IO/Msg/Emb"))
    less, ratio = "gain in utilization, of that of the other mix", "{:.2f}"
    printed = _printed(data, gains)
    of = {"expected": "is", "bound": "published", "form": "form", "single": True}
    overlaps = data.loc[(data["scheduler"] == WITH) & ~data["mix"].isin(COMPUTING)]
    overlaps = overlaps[["mix", "pes", "fit", "seed"]].assign(value=overlaps["io_overlap"])
    without = printed.loc[printed["of"] == f"utilization {WITHOUT}"].drop(columns=["of", "table"])
    checked = {
        "SIL-2a": Check("ratio of utilization", _only(io, UTILIZATION), "within", DOUBLES, form=ratio),
        "SIL-2b": _gains_less(io),
        "SIL-3": Check(
            "share of one-task jobs", shares.rename(columns={"one_task_share": "value"}), "within", SHARE, form=ratio
        ),
        "SIL-4a": Check(less, _compared(gains, first), "lower", 1.0, form=ratio, every=True),
        "SIL-4b": Check(less, _compared(gains, second), "lower", 1.0, form=ratio, every=True),
        "SIL-4c": Check(less, _compared(gains, alike), "within", ABOUT, form=ratio, every=True),
        "SIL-5": Check("utilization", without, **of),
        "SIL-6a": Check("ratio of throughput", _only(spun, JOBS), "higher", 1.0, form=ratio),
        "SIL-6b": Check("ratio of utilization", _only(spun, UTILIZATION), "within", A_LITTLE, form=ratio),
        "SIL-7a": Check("ratio", _long(computing), "within", ABOUT, form=ratio, every=True),
        "SIL-7b": _gains_less(computing),
        "SIL-8": Check("ratio", _long(gains[~gains["mix"].isin(COMPUTING)]), "higher", 1.0, form=ratio, every=True),
        "SIL-9": Check("share of I/O behind computing", overlaps, "not lower", 1 - CLOSE, form=ratio, every=True),
    }
    for number in TABLES:
        runs = printed.loc[printed["table"] == number, ["of", "fit", "seed", "value", "published", "form"]]
        checked[f"SIL-T{number}"] = Check(f"numbers of Table {number}", runs, **of)
    return checked


def _gains(data, new, old):
    """Return each seed's part of the ratios of both measures between two schedulers; the parts average to the ratios.

    One row for each mix, fit, machine and seed, with a column for each measure.
    """
    by = ["mix", "pes", "fit"]
    after, before = (data.loc[data["scheduler"] == name, [*by, "seed", *WORDS]] for name in (new, old))
    runs = after.merge(before, on=[*by, "seed"], suffixes=("", "_before"))
    runs = runs.assign(**{name: ratios_of_means(runs, name, f"{name}_before", by) for name in WORDS})
    return runs[[*by, "seed", *WORDS]]


def _only(gains, measure):
    """Return the runs of a check on the ratios of one measure."""
    return gains[["mix", "pes", "fit", "seed"]].assign(value=gains[measure])


def _long(gains):
    """Return the runs of a check on the ratios of both measures."""
    runs = gains.rename(columns=WORDS).melt(["mix", "pes", "fit", "seed"], [*WORDS.values()], "measure")
    return runs[["mix", "measure", "pes", "fit", "seed", "value"]]


def _gains_less(gains):
    """Check that throughput gains less than utilization, for each mix and machine."""
    runs = _only(gains.assign(less=gains[JOBS] - gains[UTILIZATION]), "less")
    return Check("ratio of throughput less that of utilization", runs, "lower", form="{:+.2f}")


def _compared(gains, pairs):
    """Compare the gains in utilization of mixes in pairs, on each machine."""
    by = ["pes", "fit"]
    runs = gains.pivot_table(UTILIZATION, [*by, "seed"], "mix", dropna=False, sort=False).reset_index()
    several = [
        runs[[*by, "seed"]].assign(mixes=f"{mix} over {other}", value=ratios_of_means(runs, mix, other, by))
        for mix, other in pairs
    ]
    return pd.concat(several, ignore_index=True)


def _printed(data, gains):
    """Return each number that the paper's tables print, in each run and as printed; in the order of `PRINTED`."""
    parts = []
    for number, (mix, pes, new, old) in TABLES.items():
        runs, factors = (table[(table["mix"] == mix) & (table["pes"] == pes)] for table in (data, gains))
        several = [(name, runs[runs["scheduler"] == name], numbers) for name, numbers in ((WITH, new), (WITHOUT, old))]
        several.append(("ratio", factors, np.divide(new, old)))
        for (name, table, numbers), (place, measure) in product(several, enumerate((JOBS, UTILIZATION))):
            label, form, scale = FORMS[measure] if name != "ratio" else (WORDS[measure], "{:.2f}", 1)
            about = {"table": number, "of": f"{label} {name}", "form": form, "published": scale * numbers[place]}
            parts.append(table[["mix", "pes", "fit", "seed"]].assign(value=scale * table[measure], **about))
    return pd.concat(parts, ignore_index=True)


def _as_printed(name, check):
    """Write down the means under each fit as the claim writes what is published."""
    means = {fit: check.conditions.loc[check.conditions["fit"] == fit, "value"] for fit in FITS.values()}
    return ". ".join(f"{fit}: {PRINTED[name].format(*values)}" for fit, values in means.items())


def reasons_for(data: pd.DataFrame) -> dict[str, str]:
    """Return the reasons found, by the claim's id; the numbers in them are those of the `results` of all mixes."""
    shares = data[data["mix"] == "IO"].pivot_table("one_task_share", ["fit", "pes"], "scheduler")
    by_fit, apart = shares.mean(axis="columns").groupby("fit").mean(), (shares[WITH] - shares[WITHOUT]).abs().max()
    idle = 100 * data[data["mix"].isin(COMPUTING)].pivot_table("idle", ["mix", "pes", "fit"], "scheduler")
    before, after = (f"{idle[name].min():.0f} to {idle[name].max():.0f} %" for name in (WITHOUT, WITH))
    reasons = {
        "SIL-3": f"The share is {_for_each_fit(by_fit, '{:.2f}')}; schedulers differ by {apart:.2f} at most.",
        "SIL-7a": (
            f"Without I/O a PE idles only if its row has no task for it: {before} of the time without information. "
            f"With information it then runs another task, and idles for {after}."
        ),
    }
    hidden = data[(data["scheduler"] == WITH) & ~data["mix"].isin(COMPUTING)].groupby("mix", sort=False)["io_overlap"]
    text = ", ".join(f"{share:.2f} ({mix})" for mix, share in hidden.mean().items())
    reasons["SIL-9"] = f"The share by mix: {text}."
    means = data[data["scheduler"] == WITHOUT].groupby(["mix", "pes", "fit"])[[JOBS, "jobs"]].mean()
    completed = 100 * means[JOBS] / means["jobs"]
    for number, (mix, pes, *_) in TABLES.items():
        text = _for_each_fit(completed.loc[mix, pes], "{:.0f} %")
        reasons[f"SIL-T{number}"] = f"Of the jobs submitted, those completed even without information are {text}."
    return reasons


def _for_each_fit(values, form):
    return " and ".join(f"{form.format(values[fit])} with the {fit}" for fit in FITS.values())
