"""The paper's claims: what must hold in the runs, under each reading of the paper."""

import pandas as pd

from schedlab import DPSA, EASY
from schedlab.schedule.simulation import simulate
from schedlab.workload.archive import TraceNotFound

from ..checks import SUPPORTS, Check
from ..ledger import Claim, claimed, claims_of, exact, judged, untestable
from . import grids
from .beyond import efforts
from .grids import BASE, BY, DPSAN, DPSAP, EXACT, LOGS, MEASURE, PRINTED, RUN_ON, TAUS, USERS, changes, logs

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
    starts = [simulate(grids.example(), scheme).start.tolist()[2:] for scheme in (EASY(), DPSA())]
    easy, dpsa = (", ".join(f"J{i} {start}" for i, start in enumerate(times, 1)) for times in starts)
    as_published, measured = starts == [[7, 2, 9, 9], [7, 9, 2, 2]], f"EASY {easy}; DPSA {dpsa}"
    return exact(CLAIMS["GRU-6"], as_published, measured, "the paper's example", "The starts differ.")


def _effort_row(size, progress):
    slowest = efforts(size, progress).sort_values("seconds").iloc[-1]
    measured = (
        f"all {slowest['decisions']:,} decisions of {slowest['scheme']} on {slowest['trace']}, each exact and by "
        f"tables, in {slowest['seconds']:.1f} s together"
    )
    return untestable(CLAIMS["GRU-7"], OTHER_MACHINE, slowest["trace"], measured=measured)


def _as_read(size, progress):
    """Return shaken copies and utilizations under each reading, that of Figure 3 first; only this for a quick run."""
    measured = {}
    for estimates in (USERS, EXACT, RUN_ON) if size == "full" else (USERS,):
        combinations = [grids.values_of(trace, estimates) for trace in logs(estimates).values()]
        runs = grids.copies(combinations, size, f"shaking, {estimates}", progress, tau=None)
        used = changes(size, progress, estimates).groupby("trace")["utilization"].first()
        for tau in TAUS if size == "full" and estimates == USERS else TAUS[:1]:
            reading = f"tau {tau} s" if tau != TAUS[0] else AS_DRAWN if estimates == USERS else estimates
            measured[reading] = runs.rename(columns={tau: MEASURE}), used
    return measured


PRINTED_ONCE = {"expected": "is", "bound": "published", "single": True}


def checks(runs: pd.DataFrame, used: pd.Series) -> dict[str, Check]:
    """Return the check of each claim on logs, by its id, from the runs of `copies` and the utilization of each log."""
    rows = grids.changes_of_copies(runs)[[*BY, "seed", "change"]].rename(columns={"change": "value"})
    first, narrow, wide = (rows[rows["scheme"] == name].drop(columns="scheme") for name in grids.VARIANTS)
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


def _printed(rows, variant):
    """Return the changes under a variant on the logs for which the paper prints a number, beside this number."""
    printed = {log: percent for log, scheme, percent in PRINTED if scheme == variant}
    published = rows["trace"].str.removesuffix(grids.STANDIN).map(printed)
    return rows.assign(published=published).dropna(subset="published")


def _signs_in_words(check, data, sign):
    """Say on how many logs DPSAp is better, or worse: for sure, by the mean, and in single runs."""
    turned = -1 if sign == "better" else 1
    sure, logged = (check.conditions["outcome"] == SUPPORTS).sum(), data.loc[data["scheme"] == DPSAP, "logged"]
    by_mean, single = ((turned * values > 0).sum() for values in (check.conditions["value"], logged))
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
