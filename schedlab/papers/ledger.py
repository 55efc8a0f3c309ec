"""The ledger of a paper: what it claims, what was measured, and the verdict that follows.

A `Claim` is one sentence of a paper. `judged` makes a row of the ledger from the claim's one main `Check` (by the rule
of `checks`) on its primary sample: a check that holds is *reproduced*, one that is mixed is *in part*, one that fails
is *not reproduced*, and *undecided* stays undecided. Where the paper leaves something open, the check is made under
each reading; a claim that holds under one and not under another is *in part*, unless the primary reading holds and
others only leave it open. Further checks stand below the row, with outcomes of their own; they do not vote. *Cannot be
tested* names what is missing.

Verdicts are those of the full size. A quick run says whether it agrees: whether what it measures under each condition
lies within the spread of the kept runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps

import numpy as np
import pandas as pd

from schedlab._runtime.paths import data_dir
from schedlab._runtime.text import check_known
from schedlab.papers import kept
from schedlab.schedule.statistics import t_quantile
from schedlab.show.ledgers import AGREEMENTS, KEPT, LEDGER, MEASURED, SAME, TOGETHER, VERDICTS, Ledger

from .cards import as_called, chosen_size, paper_of
from .checks import FAILS, HOLDS, LEVEL, MIXED, UNDECIDED, Check
from .names import module_of

REPRODUCED, IN_PART, NOT_REPRODUCED, STILL_UNDECIDED, CANNOT = VERDICTS
AGREES, DIFFERS, UNCOMPARED = AGREEMENTS
VERDICT = {HOLDS: REPRODUCED, MIXED: IN_PART, FAILS: NOT_REPRODUCED, UNDECIDED: STILL_UNDECIDED}
STAND_INS = "Stand-ins are no evidence about the logs."


@dataclass(frozen=True)
class Claim:
    """What a paper says.

    Attributes
    ----------
    id, where : str
        Such as "SAB-3"; section, figure or table of the paper.
    statement, published : str
        In a few words; a number, a range, or what the paper says of it.
    tolerance : str
        Noise and bounds that the paper does not give: our choice, stated before the runs.

    Examples
    --------
    >>> from schedlab.papers import Claim
    >>> claim = Claim("X-2", "Table 5", "mean bounded slowdown of EASY on the KTH SP2", "92.576540")
    """

    id: str
    where: str
    statement: str
    published: str
    tolerance: str = ""


def claims_of(paper: str) -> dict[str, Claim]:
    """Return what a paper says, by id: the rows of its table in ``data/claims``."""
    table = pd.read_csv(data_dir() / "claims" / f"{paper}.csv", dtype=str, keep_default_na=False)
    return {row["id"]: Claim(**row) for row in table.to_dict("records")}


def judged(
    claim: Claim,
    check: Check | Mapping[str, Check] | None,
    trace: str,
    *,
    others: Sequence[Check] = (),
    why: str = "",
    conjecture: str = "",
    details: str = "",
    measured: str | None = None,
) -> dict:
    """Make a row of the ledger, with keys as in `LEDGER`, by the rule of this module.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    check : Check, or mapping of str to Check
        The main check; if the paper leaves something open, under each reading, the primary one first.
    trace : str
        What it was measured on.
    others : sequence of Check
        Further checks, to stand below.
    why : str
        The reason found for what is not as claimed: a sentence whose numbers can be recomputed.
    conjecture : str
        A reason that was not checked.
    details : str
        What a reader who wants to know more must know: conventions chosen after results were seen, and the like.
    measured : str, optional
        The effect with its interval, in words. Default: that of the main check.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.papers import Check, Claim, judged
    >>> claim = Claim("X-1", "Figure 5", "the mean turnaround falls", "lower")
    >>> values = {"CTC": (-18.0, -22.0, -20.0, -19.0), "KTH": (1.0, 2.0, 0.5, 1.5)}
    >>> rows = [{"log": log, "seed": seed, "value": each} for log in values for seed, each in enumerate(values[log])]
    >>> row = judged(claim, Check("change", pd.DataFrame(rows), "lower"), trace="CTC and KTH")
    >>> row["verdict"], row["reason"]
    ('in part', '1 of 2 cases supports it, 1 contradicts it (+1.2 % [+0.2 to +2.3] (KTH)).')
    """
    readings = check if isinstance(check, Mapping) else {"": check}
    checked = {name: test for name, test in readings.items() if test is not None and len(test.conditions)}
    main = next(iter(readings.values()), None)
    if not checked or main is None or not len(main.conditions):
        return untestable(claim, why or "nothing could be measured", trace)
    under = {outcome: [name for name, test in checked.items() if test.outcome == outcome] for outcome in VERDICT}
    some_only = under[HOLDS] and (any(under[outcome] for outcome in DENIED) or main.outcome != HOLDS)
    verdict = IN_PART if some_only else VERDICT[main.outcome]
    summary = "; ".join(f"{WORDS[outcome]}: {', '.join(names)}" for outcome, names in under.items() if names)
    summary = summary if len(checked) > 1 else ""
    tables = [test.table().assign(check=_named(test, name)) for name, test in checked.items()]
    tables += [other.table() for other in others if len(other.conditions)]
    reason = [main.where] if verdict != REPRODUCED or main.every or main.some else []
    if verdict == IN_PART and main.outcome == HOLDS:
        reason += [f"{_named(test, name)}: {test.where}" for name, test in checked.items() if test.outcome in DENIED]
    if "stand-in" in trace:
        verdict, reason = CANNOT, [STAND_INS]
    elif verdict != REPRODUCED:
        reason += [why, conjecture and f"Conjecture: {conjecture}"]
    measured = measured or f"{main.quantity}: {main.effect}"
    conditions = pd.concat(tables, ignore_index=True).to_dict("records")
    return _row(claim, measured, trace, verdict, " ".join(filter(None, reason)), summary, details, conditions)


DENIED = (FAILS, MIXED)  # outcomes of readings that make a claim that holds under others hold in part
WORDS = {HOLDS: "holds under", MIXED: "holds in part under", FAILS: "fails under", UNDECIDED: "undecided under"}


def _named(check, reading):
    return f"{check.quantity}, {reading}" if reading else check.quantity


def exact(claim: Claim, holds: bool, measured: str, trace: str = "no trace", why: str = "", details: str = "") -> dict:
    """Make a row for a claim that must come out exactly; if it does not, `why` says how it differs.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    holds : bool
        Whether it came out.
    measured, trace : str
        What was found, with its unit, and on what.
    why, details : str
        Where it does not hold: how it differs, in one sentence; as in `judged`. The result has the same form.

    Examples
    --------
    >>> from schedlab.papers import Claim, exact
    >>> claim = Claim("X-2", "Table 5", "mean bounded slowdown of EASY on the KTH SP2", "92.576540")
    >>> exact(claim, holds=True, measured="92.576540", trace="KTH-SP2-1996-2")["verdict"]
    'reproduced'
    """
    verdict = REPRODUCED if holds else NOT_REPRODUCED
    return _row(claim, measured, trace, verdict, "" if holds else why, "", details, [])


def untestable(claim: Claim, why: str, trace: str = "", details: str = "", measured: str = "") -> dict:
    """Make a row for a claim that could not be measured, or only on other hardware.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    why, trace : str
        The reason, in one sentence; what it would be measured on.
    details, measured : str
        As in `judged`, whose result has the same form; what was measured nonetheless, such as a time today.

    Examples
    --------
    >>> from schedlab.papers import Claim, untestable
    >>> claim = Claim("X-3", "Table 6", "energy that EASY takes on the KTH SP2", "17 MWh")
    >>> untestable(claim, why="the log does not record power", trace="KTH-SP2-1996-2")["verdict"]
    'cannot be tested'
    """
    return _row(claim, measured, trace, CANNOT, why, "", details, [])


def _row(claim, measured, trace, verdict, reason, readings, details, conditions):
    values = (measured, trace, verdict, reason, readings, details, conditions)
    return {**vars(claim), **dict(zip(MEASURED, values, strict=True)), "doi": ""}


def ledger(rows: Iterable[dict], kept: pd.DataFrame | None = None) -> Ledger:
    """Make a ledger of rows; each must have all columns, a known verdict, and a reason if the verdict needs one.

    Parameters
    ----------
    rows : iterable of dict
        As `judged`, `exact` and `untestable` give them; others are refused.
    kept : DataFrame, optional
        The ledger of the full size that was kept (`schedlab.papers.kept`), to be shown beside this run.

    Returns
    -------
    Ledger
        One row a claim; those of the full size beside it where they are kept.

    Examples
    --------
    >>> from schedlab.papers import Claim, exact, ledger, untestable
    >>> slowdown = Claim("X-2", "Table 5", "mean bounded slowdown of EASY on the KTH SP2", "92.576540")
    >>> energy = Claim("X-3", "Table 6", "energy that EASY takes on the KTH SP2", "17 MWh")
    >>> table = ledger([exact(slowdown, True, "92.576540"), untestable(energy, "the log does not record power")])
    >>> table[["id", "verdict"]].values.tolist()
    [['X-2', 'reproduced'], ['X-3', 'cannot be tested']]
    """
    rows = list(rows)
    for row in rows:
        if row.keys() != set(LEDGER):
            raise ValueError(f"a row of the ledger has {', '.join(row)}; expected {', '.join(LEDGER)}")
        check_known("verdict", row["verdict"], (*VERDICTS, *AGREEMENTS))
        if row["verdict"] in (NOT_REPRODUCED, CANNOT) and not row["reason"]:
            raise ValueError(f"no reason is given for the verdict of {row['id']}: {row['verdict']}")
    table = Ledger(rows, columns=list(LEDGER))
    if kept is None:
        return table
    full = kept.rename(columns=dict(zip(MEASURED, KEPT, strict=True)))
    # Where a claim has several rows, their statements tell them apart, or else their traces.
    by = next(by for by in (["id"], ["id", "statement"], SAME) if by == SAME or not kept.duplicated(by).any())
    return Ledger(table.merge(full.assign(trace=full["kept_trace"])[[*by, *KEPT]], "left", by))


def _agreement(row, full):
    """Say whether a row of a quick run agrees with that of the full size, instead of a verdict; and the reason if not.

    It agrees if every condition that both have lies within the spread of the kept single runs, jointly at 95 %.
    """
    if row["verdict"] == CANNOT:
        return {}
    if full is None or full["verdict"] == CANNOT:
        return {"verdict": UNCOMPARED, "reason": ""}
    if not row["conditions"]:  # what must come out exactly
        agrees = row["verdict"] == full["verdict"]
        return {"verdict": AGREES if agrees else DIFFERS, "reason": "" if agrees else row["reason"]}
    before = {(then["check"], then["condition"]): then for then in full["conditions"]}
    conditions = [now for now in row["conditions"] if now["condition"] != TOGETHER]
    pairs = [(now, before.get((now["check"], now["condition"]))) for now in conditions]
    pairs = [(now, then) for now, then in pairs if then is not None and float(then["seeds"]) > 1]
    if not pairs:
        return {"verdict": UNCOMPARED, "reason": ""}
    apart = [now for now, then in pairs if not _in_spread(now, then, LEVEL / len(pairs))]
    listed = "; ".join(f"{now['check']}, {now['condition']}: {now['measured']}" for now in apart)
    reason = f"Not within the spread of single runs: {listed}." * bool(apart)
    return {"verdict": DIFFERS if apart else AGREES, "reason": reason}


def _in_spread(now, then, level):
    mean, spread, seeds = (float(then[name]) for name in ("mean", "spread", "seeds"))
    reach = t_quantile(1 - level / 2, int(seeds) - 1) * spread * np.sqrt(1 + 1 / seeds)
    return abs(float(now["mean"]) - mean) <= reach + 1e-9 * abs(mean)


def claimed(function: Callable[..., Iterable[dict]]) -> Callable[..., Ledger]:
    """Turn a function that gives a paper's rows into one that gives its ledger, with the full size beside it.

    Parameters
    ----------
    function : callable
        Of the size and whether to show progress; gives rows, as `ledger` takes them. The new function also takes the
        ledger of the full size; default: the kept one.
    """
    paper = paper_of(function)

    @wraps(function)
    def claims(size: str | None = None, progress: bool = True, full: pd.DataFrame | None = None) -> Ledger:
        size, full = chosen_size(size), kept.ledger_of(paper) if full is None else full
        rows = function(size, progress)
        if size == "quick":
            before = {} if full is None else {(row["id"], row["statement"]): row for row in full.to_dict("records")}
            rows = [row | _agreement(row, before.get((row["id"], row["statement"]))) for row in rows]
        doi = module_of(paper).PAPER.doi
        return ledger([{**row, "doi": doi} for row in rows], full)

    return as_called(claims, Ledger)
