"""The paper's claims: what must hold in the runs under each reading of backfilling."""

from schedlab.machine import KaryTree
from schedlab.schedule.statistics import ratios_of_means

from ..checks import Check
from ..ledger import claimed, claims_of, exact, judged
from . import grids
from .grids import BACKFILLING, BLUE, BY, CONTIGUOUS, HPC2N, LOGS, READ, SAMPLES, THUNDER, WAIT, S, of_policies

# Job sizes by the stage at which they belong, k = 4.
STAGES = {1: (1, 4), 2: (5, 14, 16), 3: (17, 64), 4: (65, 240, 256), 5: (257, 1024), 6: (1025, 1152, 4096)}
READ_SO = (
    "The last three readings, of which jobs may outlast the reservation, are run on the first "
    f"{grids.READ_JOBS:,} jobs of each log, in {grids.READ_COPIES} copies."
)
# The readings, as policies.
RULE = {
    "reservation by count": "EASY (count)",
    "reservation by block": "EASY (block)",
    "by count with spare nodes": "EASY (count, spare nodes)",
    "by block without spare nodes": "EASY (block, no spare nodes)",
    "whatever fits until the reservation": "EASY (whatever fits)",
}
ABOUT, SLIGHTLY, ROUNDED = 0.05, 0.1, 0.005  # of s
CLAIMS = claims_of("pascual2008")
NODES_PROMISED = "while a head with promised nodes waits, other jobs can pass it, so contiguity costs little by block."


@claimed
def claims(size: str, progress: bool) -> list[dict]:
    """Return the ledger of the paper's claims, judged under each reading of backfilling."""
    data = grids.on_all_logs(SAMPLES[size], size, progress)
    titles = dict(zip(SAMPLES[size], data["trace"].unique(), strict=True))
    readings_of = dict.fromkeys(BACKFILLING, data)
    if size == "full":
        readings_of |= dict.fromkeys(READ[1:], grids.on_all_logs(SAMPLES[size], size, progress, READ))
    names = {title: name for name, title in titles.items()}
    readings_of = {policy: runs.assign(trace=runs["trace"].map(names)) for policy, runs in readings_of.items()}
    rows, data = [_levels()], readings_of[BACKFILLING[0]]
    for name, (check, logs, *why) in CHECKS.items():
        logs = SAMPLES[size] if logs is LOGS else logs
        part = data[data["trace"].isin(logs)]
        several = {policy: runs[runs["trace"].isin(logs)] for policy, runs in readings_of.items()}
        policies = {reading: policy for reading, policy in RULE.items() if policy in several}
        readings = {reading: check(several[policy], ("FCFS", policy)) for reading, policy in policies.items()}
        censored = "" if check in ON_TIMES else _censored(part)
        details = " ".join(filter(None, [grids.CHOSEN, grids.copies_in_words(size), censored, READ_SO]))
        reasons = {"why": _free_waits(part) if _free_waits in why else ""}
        reasons["conjecture"] = NODES_PROMISED if NODES_PROMISED in why else ""
        rows.append(judged(CLAIMS[name], readings, ", ".join(titles[log] for log in logs), details=details, **reasons))
    return rows


def _levels():
    tree = KaryTree(4, 6)
    stages = {int(procs): int(tree.stage(procs)) for sizes in STAGES.values() for procs in sizes}
    differ = [procs for stage, sizes in STAGES.items() for procs in sizes if stages[procs] != stage]
    texts = {procs: f"{procs:,} nodes: stage {stage}" for procs, stage in stages.items()}
    measured = "; ".join(texts[procs] for procs in (4, 14, *differ))
    why = f"other stages for {', '.join(f'{procs:,}' for procs in differ)} nodes"
    return exact(CLAIMS["PAS-0"], not differ, measured, why=why, details="; ".join(texts.values()))


def _free_waits(data):
    """Say how long jobs wait under backfilling when placement is free."""
    part = data[data["policy"].isin(BACKFILLING[:1]) & (data["allocation"] == grids.ANYWHERE)]
    waits = part.groupby("trace", sort=False)[WAIT].mean()
    minutes = ", ".join(f"{wait:.3g} on {name}" for name, wait in waits.items())
    return f"Minutes that jobs wait on average under backfilling when placement is free: {minutes}."


def _censored(data):
    """Say in how many runs of the primary reading lines do not cross; "" if they all do."""
    primary = of_policies(data, ("FCFS", BACKFILLING[0]))
    never, largest = _shown_in_figures(grids.of_copies(primary))["never"], data["s"].max()
    nowhere = f"lines cross nowhere up to s = {largest:g}, which counts as their crossing."
    return f"In {never.sum()} of {len(never)} runs (a copy of a log under a policy) {nowhere}" if never.any() else ""


def _shown_in_figures(runs):
    """Leave out FCFS for the logs of Figure 5, which has backfilling only, and those that are not in the paper."""
    return runs[(runs["policy"] != "FCFS") | (runs["trace"] == HPC2N)]


def _crossed(data, policies):
    """Return the crossings as runs of a check."""
    runs = of_policies(_shown_in_figures(grids.of_copies(data)), policies)
    return runs.drop(columns="never").rename(columns={"crossing": "value"})


def _apart(runs, by, first, second):
    """Return by how much the runs with one value of a column lie above those with another, in each copy."""
    wide = runs.pivot_table("value", "seed", by)
    return (wide[first] - wide[second]).rename("value").reset_index()


def _many_times(data, policies):
    runs = grids.ratio_of_each(of_policies(data, policies))
    return Check("wait, times as long", runs, "within", (7, 100), form="{:.3g}", every=True)


def _about(data, policies):
    runs = _crossed(data, policies).drop(columns="trace")
    return Check("crossing", runs, "is", 0.25, noise=ABOUT, form=S, single=True)


def _nearly_same(data, policies):
    runs = _apart(_crossed(data, policies), "policy", policies[-1], "FCFS")
    return Check("backfilling's crossing less that of FCFS", runs, "within", (-ABOUT, ABOUT), form="{:+.3f}")


def _within(data, policies):
    return Check("crossing", _crossed(data, policies[-1:])[["seed", "value"]], "within", (0.25, 0.30), ROUNDED, S)


def _above(log, other, *expected):
    """Make a check that compares the crossings of two logs under backfilling."""

    def check(data, policies):
        runs = _apart(_crossed(data, policies[-1:]), "trace", log, other)
        return Check(f"crossing on {log} less that on {other}", runs, *expected, form="{:+.3f}")

    return check


def _lower(data, policies):
    data = data[(data["allocation"] == CONTIGUOUS) | (data["s"] == 0)]  # without contiguity s means nothing
    contiguous = data["allocation"] + data["s"].map(", s {:g}".format)
    data = data.assign(placed=contiguous.where(data["allocation"] == CONTIGUOUS, data["allocation"]))
    by = ["trace", "placed"]
    wide = data.pivot_table(grids.TOTAL, [*by, "seed"], "policy", sort=False).reset_index()
    runs = wide[[*by, "seed"]].assign(value=100 * (ratios_of_means(wide, policies[-1], "FCFS", by) - 1))
    return Check("total time against FCFS", runs, "lower", every=True)


def _mostly_waiting(data, policies):
    part = of_policies(data[(data["allocation"] == CONTIGUOUS) & (data["s"] == 0)], policies)
    runs = part[[*BY, "seed"]].assign(value=100 * part["waiting"])
    return Check("waiting, of the total time at s = 0", runs, "higher", 50, form="{:.0f} %")


def _waits_fall(data, policies):
    data = of_policies(data[data["allocation"] == CONTIGUOUS], policies).sort_values("s", kind="stable")
    steps = data.groupby([*BY, "seed"], sort=False)
    data = data.assign(**{"from": steps["s"].shift(), "to": data["s"], "before": steps[WAIT].shift()})
    data, by = data.dropna(subset="before"), [*BY, "from", "to"]
    runs = data[[*by, "seed"]].assign(value=100 * (ratios_of_means(data, WAIT, "before", by) - 1))
    return Check("wait against the next smaller s", runs, "lower", every=True)


def _overall(data, policies):
    return Check("crossing", _crossed(data, policies), "within", (0.25, 0.30), ABOUT, S)


# Of each claim but the first: the check, the logs, and what to say where it fails.
CHECKS = {
    "PAS-1": (_many_times, LOGS, _free_waits, NODES_PROMISED),
    "PAS-2a": (_about, [HPC2N], NODES_PROMISED),
    "PAS-2b": (_nearly_same, [HPC2N], NODES_PROMISED),
    "PAS-3a": (_within, [BLUE], NODES_PROMISED),
    "PAS-3b": (_above(BLUE, HPC2N, "higher"), [BLUE, HPC2N]),
    "PAS-4a": (_above(THUNDER, BLUE, "higher"), [THUNDER, BLUE]),
    "PAS-4b": (_above(THUNDER, BLUE, "not higher", SLIGHTLY), [THUNDER, BLUE], _free_waits),
    "PAS-5": (_lower, LOGS),
    "PAS-6a": (_mostly_waiting, LOGS, NODES_PROMISED),
    "PAS-6b": (_waits_fall, LOGS),
    "PAS-7": (_overall, LOGS, _free_waits, NODES_PROMISED),
}
ON_TIMES = (_many_times, _lower, _mostly_waiting, _waits_fall)  # the other checks are on crossings
