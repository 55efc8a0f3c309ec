"""The ledger of a paper: what it claims, what was measured, and the one rule that turns both into verdicts.

A `Claim` is what a paper says. A `Check` compares measured cases with an expectation. `judged` makes a row of the
ledger from both, by one rule for all papers:

- A case **holds** if its value is as expected, beyond the noise, and its interval does not say otherwise: it excludes
  the bound, or reaches beyond a range by no more than the range's width. A case **fails** if it is clearly not as
  expected. A case is **open** if its interval leaves that undecided.
- All cases hold: *reproduced*. None fails and some hold, or half of them or more hold: *trend only*. Fewer hold:
  *not reproduced*. All are open, or nothing could be measured: *not testable*.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib import import_module

import numpy as np
import pandas as pd

from schedlab import kept
from schedlab.display import formatted
from schedlab.display.ledgers import CASE, KEPT, LEDGER, MEASURED, SAME, VERDICTS, Ledger, in_words, written
from schedlab.paths import data_dir
from schedlab.statistics import over_seeds
from schedlab.text import check_known

from .figure import as_called, chosen_size, paper_of

EXPECTED = ("lower", "higher", "not lower", "not higher", "within")
HOLDS, OPEN, FAILS = "yes", "open", "no"
STAND_INS = "All cases hold, but stand-ins are no evidence about the logs."
NAMED = 3  # cases that a reason names before it counts the others


@dataclass(frozen=True)
class Claim:
    """What a paper says.

    Attributes
    ----------
    id : str
        Such as "SAB-3".
    where : str
        Section, figure or table of the paper.
    statement : str
        In a few words.
    published : str
        A number, a range, or what the paper says of it.
    tolerance : str
        What counts as met where the paper does not say: our choice.

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
    """Return what a paper says, by id: the rows of its table in ``data/claims``.

    Parameters
    ----------
    paper : str
        Name of its module.
    """
    table = pd.read_csv(data_dir() / "claims" / f"{paper}.csv", dtype=str, keep_default_na=False)
    return {row["id"]: Claim(**row) for row in table.to_dict("records")}


@dataclass(frozen=True, eq=False)
class Check:
    """Measured cases, and what is expected of each.

    Parameters
    ----------
    quantity : str
        What was measured, in words.
    cases : DataFrame
        One row a case: columns that tell the cases apart, then value, low and high (of its interval; nan where there is
        none).
    expected : {"lower", "higher", "not lower", "not higher", "within"}
        How each value should compare with `bound`.
    bound : float, or (float, float) for "within"
    noise : float
        Smaller differences from the bound are noise: "lower" and "higher" need a larger difference, "not lower" and
        "not higher" allow this much, and a range is this much wider at both ends.
    form : str
        Format of the values, with their unit: ``"{:+.1f} %"``.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.papers import Check
    >>> measured = {"value": [-18.0, -6.0], "low": [-22.0, -9.0], "high": [-14.0, -3.0]}
    >>> cases = pd.DataFrame({"log": ["CTC", "KTH"]} | measured)
    >>> check = Check("change of the mean turnaround", cases, "within", (-25, -10))
    >>> check.table()[["measured", "holds"]].values.tolist()
    [['-18.0 % [-22.0 to -14.0]', 'yes'], ['-6.0 % [-9.0 to -3.0]', 'no']]
    """

    quantity: str
    cases: pd.DataFrame
    expected: str
    bound: float | tuple[float, float] = 0.0
    noise: float = 0.0
    form: str = "{:+.1f} %"

    def __post_init__(self):
        check_known("expectation", self.expected, EXPECTED)
        missing = [name for name in ("value", "low", "high") if name not in self.cases.columns]
        if missing:
            raise ValueError(f"the cases of {self.quantity!r} have no column {missing[0]!r}; expected value, low, high")
        measured = self.cases.dropna(subset="value").reset_index(drop=True)
        object.__setattr__(self, "cases", measured)

    @property
    def outcomes(self) -> np.ndarray:
        """Tell of each case whether it holds: "yes", "no" or "open"; shape (n_cases,)."""
        value, low, high = (self.cases[name].to_numpy(dtype=float) for name in ("value", "low", "high"))
        low, high = np.where(np.isnan(low), value, low), np.where(np.isnan(high), value, high)
        first, last = self.bound if self.expected == "within" else (self.bound, self.bound)
        below = (value < first - self.noise) & (high < first)  # clearly
        above = (value > last + self.noise) & (low > last)
        if self.expected == "within":
            first, last, width = first - self.noise, last + self.noise, last - first
            inside = (value >= first) & (value <= last) & (low >= first - width) & (high <= last + width)
            return np.select([below | above, inside], [FAILS, HOLDS], OPEN)
        if self.expected == "not lower":
            return np.select([below, low >= first - self.noise], [FAILS, HOLDS], OPEN)
        if self.expected == "not higher":
            return np.select([above, high <= last + self.noise], [FAILS, HOLDS], OPEN)
        right, wrong = (below, above) if self.expected == "lower" else (above, below)
        # Within the noise on both sides there is no difference, so the case is decided: it fails.
        none = (low >= first - self.noise) & (high <= last + self.noise)
        return np.select([right, wrong | (none & (self.noise > 0))], [HOLDS, FAILS], OPEN)

    @property
    def wanted(self) -> str:
        """Say what is expected, in words."""
        if self.expected == "within":
            return " to ".join(formatted(bound, self.form) for bound in self.bound)
        if self.bound == 0 and self.form.startswith("{:+"):
            return self.expected
        return f"{self.expected} than {formatted(self.bound, self.form)}"

    def weakest(self) -> int:
        """Return the place of the deciding case: the furthest off among those that fail, else among those open."""
        value = self.cases["value"].to_numpy(dtype=float)
        if self.expected in ("lower", "not higher"):
            off = value
        elif self.expected in ("higher", "not lower"):
            off = -value
        else:
            first, last = self.bound
            off = np.maximum(first - value, value - last)
        outcomes = self.outcomes
        worst = next(outcome for outcome in (FAILS, OPEN, HOLDS) if (outcomes == outcome).any())
        return int(np.where(outcomes == worst, off, -np.inf).argmax())

    def written(self, place: int) -> str:
        """Write one case down: value, interval, and what tells it apart from the others.

        Parameters
        ----------
        place : int
            Of the case: its row in `cases`, from 0.
        """
        return written(self.cases, place, self.form)

    def table(self) -> pd.DataFrame:
        """Return the cases as text: quantity, what tells them apart, measured, expected, and whether they hold."""
        facts = {"quantity": self.quantity, "expected": self.wanted, "holds": self.outcomes}
        return in_words(self.cases, self.form).assign(**facts)[list(CASE)]


def cases(data: pd.DataFrame, name: str, by: Sequence[str]) -> pd.DataFrame:
    """Return the mean of a column over the seeds, and its interval, as the cases of a `Check`: `by`, value, low, high.

    Parameters
    ----------
    data : DataFrame
        One row a run, with a column seed.
    name : str
        The column.
    by : sequence of str
        The columns that tell cases apart.
    """
    found = over_seeds(data[[*by, "seed", name]], list(by))
    return found[list(by)].assign(value=found[name], low=found[f"{name}_low"], high=found[f"{name}_high"])


def judged(
    claim: Claim,
    checks: Check | Sequence[Check],
    trace: str,
    *,
    why: str = "",
    details: str = "",
    measured: str | None = None,
) -> dict:
    """Make a row of the ledger, with keys as in `LEDGER`, by the rule of this module.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    checks : Check, or several
        All of their cases count alike.
    trace : str
        What it was measured on.
    why : str
        The reason found for cases that fail, in one sentence.
    details : str
        What a reader who wants to know more must know: conventions chosen after results were seen, and the like.
    measured : str, optional
        One figure with its interval; by default that of the case that decides.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.papers import Check, Claim, judged
    >>> claim = Claim("X-1", "Figure 5", "change of the mean turnaround", "10 to 25 % less")
    >>> measured = {"value": [-18.0, -6.0], "low": [-22.0, -9.0], "high": [-14.0, -3.0]}
    >>> cases = pd.DataFrame({"log": ["CTC", "KTH"]} | measured)
    >>> row = judged(claim, Check("turnaround", cases, "within", (-25, -10)), trace="CTC and KTH")
    >>> row["verdict"], row["reason"]
    ('trend only', 'Holds in 1 of 2 cases; not: -6.0 % [-9.0 to -3.0] (KTH).')
    """
    checks = [checks] if isinstance(checks, Check) else list(checks)
    checks = [check for check in checks if len(check.cases)]
    if not checks:
        return untestable(claim, why or "nothing could be measured", trace)
    outcomes = np.concatenate([check.outcomes for check in checks])
    n, holds, fails = outcomes.size, int((outcomes == HOLDS).sum()), int((outcomes == FAILS).sum())
    if holds == n:
        verdict = "reproduced"
    elif not (holds or fails):
        verdict = "not testable"
    elif not fails or 2 * holds >= n:
        verdict = "trend only"
    else:
        verdict = "not reproduced"
    standin = "stand-in" in trace and verdict == "reproduced"
    verdict = "trend only" if standin else verdict
    # The check that fails in most of its cases decides, then that which is open in most, else the first.
    worst = max(checks, key=lambda check: [(check.outcomes == outcome).mean() for outcome in (FAILS, OPEN)])
    if measured is None:
        words = worst.written(worst.weakest())
        measured = f"{worst.quantity}: {words}" if len(checks) > 1 else words
    reason = ""
    if verdict != "reproduced":
        reason = STAND_INS if standin else _where(checks, n, holds, fails)
        reason = f"{reason} {why}" if why and fails else reason
    cases = pd.concat([check.table() for check in checks], ignore_index=True)
    return _row(claim, measured, trace, verdict, reason, details, cases.to_dict("records"))


def _where(checks, n, holds, fails):
    if not (holds or fails):
        one, several = "The only case is open: its interval does not decide it.", "their intervals do not decide them."
        return one if n == 1 else f"All {n} cases are open: {several}"
    told = f"Holds in {holds} of {n} {'case' if n == 1 else 'cases'}"
    left = n - holds - fails
    told += f", {left} {'is' if left == 1 else 'are'} open" if left else ""
    wrong = [
        f"{check.quantity} {check.written(place)}" if len(checks) > 1 else check.written(place)
        for check in checks
        for place in np.flatnonzero(check.outcomes == FAILS)
    ]
    if 0 < len(wrong) <= NAMED:
        told += f"; not: {'; '.join(wrong)}"
    return f"{told}."


def exact(claim: Claim, holds: bool, measured: str, trace: str = "no trace", why: str = "", details: str = "") -> dict:
    """Make a row for a claim that must come out exactly; if it does not, `why` says how it differs.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    holds : bool
        Whether it came out.
    measured : str
        What was found, with its unit.
    trace : str
        What it was measured on.
    why : str
        Where it does not hold: how it differs, in one sentence.
    details : str
        As in `judged`. The result has the same form.

    Examples
    --------
    >>> from schedlab.papers import Claim, exact
    >>> claim = Claim("X-2", "Table 5", "mean bounded slowdown of EASY on the KTH SP2", "92.576540")
    >>> exact(claim, holds=True, measured="92.576540", trace="KTH-SP2-1996-2")["verdict"]
    'reproduced'
    """
    verdict = "reproduced" if holds else "not reproduced"
    return _row(claim, measured, trace, verdict, "" if holds else why, details, [])


def untestable(claim: Claim, why: str, trace: str = "", details: str = "") -> dict:
    """Make a row for a claim that could not be measured.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    why : str
        The reason, in one sentence.
    trace : str
        What it would be measured on.
    details : str
        As in `judged`. The result has the same form.

    Examples
    --------
    >>> from schedlab.papers import Claim, untestable
    >>> claim = Claim("X-3", "Table 6", "energy that EASY takes on the KTH SP2", "17 MWh")
    >>> untestable(claim, why="the log does not record power", trace="KTH-SP2-1996-2")["verdict"]
    'not testable'
    """
    return _row(claim, "", trace, "not testable", why, details, [])


def _row(claim, measured, trace, verdict, reason, details, cases):
    values = (measured, trace, verdict, reason, details, cases)
    return {**vars(claim), **dict(zip(MEASURED, values, strict=True)), "doi": ""}


def ledger(rows: Iterable[dict], kept: pd.DataFrame | None = None) -> Ledger:
    """Make a ledger of rows; each must have all columns, a known verdict, and a reason if the verdict needs one.

    Parameters
    ----------
    rows : iterable of dict
        As `judged`, `exact` and `untestable` give them.
    kept : DataFrame, optional
        The ledger of the full size that was kept (`schedlab.kept`), to be shown beside this run.

    Returns
    -------
    Ledger
        One row a claim; those of the full size beside it where they are kept.

    Raises
    ------
    ValueError
        For a row that lacks one of these.

    Examples
    --------
    >>> from schedlab.papers import Claim, exact, ledger, untestable
    >>> slowdown = Claim("X-2", "Table 5", "mean bounded slowdown of EASY on the KTH SP2", "92.576540")
    >>> energy = Claim("X-3", "Table 6", "energy that EASY takes on the KTH SP2", "17 MWh")
    >>> table = ledger([exact(slowdown, True, "92.576540"), untestable(energy, "the log does not record power")])
    >>> table[["id", "verdict"]].values.tolist()
    [['X-2', 'reproduced'], ['X-3', 'not testable']]
    """
    rows = list(rows)
    for row in rows:
        if row.keys() != set(LEDGER):
            raise ValueError(f"a row of the ledger has {', '.join(row)}; expected {', '.join(LEDGER)}")
        check_known("verdict", row["verdict"], VERDICTS)
        if row["verdict"].startswith("not ") and not row["reason"]:
            raise ValueError(f"{row['id']} is {row['verdict']}, but no reason is given")
    table = Ledger(rows, columns=list(LEDGER))
    if kept is None:
        return table
    full = kept.rename(columns=dict(zip(MEASURED, KEPT, strict=True)))
    # Where a claim has several rows, their statements tell them apart, or else their traces.
    by = next(by for by in (["id"], ["id", "statement"], SAME) if by == SAME or not kept.duplicated(by).any())
    return Ledger(table.merge(full.assign(trace=full["kept_trace"])[[*by, *KEPT]], "left", by))


def claimed(function: Callable[..., Iterable[dict]]) -> Callable[..., Ledger]:
    """Turn a function that gives a paper's rows into one that gives its ledger, with the full size beside it.

    Parameters
    ----------
    function : callable
        Of the size and whether to show progress; gives rows, as `ledger` takes them.
    """
    paper = paper_of(function)

    @wraps(function)
    def claims(size: str | None = None, progress: bool = True) -> Ledger:
        rows = function(chosen_size(size), progress)
        doi = import_module(f"{__package__}.{paper}").PAPER.doi
        return ledger([{**row, "doi": doi} for row in rows], kept.ledger_of(paper))

    return as_called(claims, Ledger)
