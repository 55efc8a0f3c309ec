"""The ledger of a paper: what it claims, what was measured, and the one rule that makes verdicts of the two.

A `Claim` is what a paper says. A `Check` holds measured cases against an expectation. `judged` makes a row of the
ledger of both, by one rule for all papers:

- A case **holds** if its value is as expected, beyond the noise, and its interval does not say otherwise: it excludes
  the bound, or reaches beyond a range by no more than the range's width. A case **fails** if it is clearly not as
  expected. What its interval leaves undecided is **open**.
- All cases hold: *reproduced*. None fails and some hold, or half of them or more hold: *trend only*. Fewer hold:
  *not reproduced*. All are open, or nothing could be measured: *not testable*.
"""

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import pandas as pd

VERDICTS = ("reproduced", "trend only", "not reproduced", "not testable")
KEPT = ("kept", "kept_trace", "kept_verdict", "kept_reason", "kept_details", "kept_cases")  # of the full size
LEDGER = ("id", "where", "statement", "published", "measured", "trace", "verdict", "reason", "details", "cases")
CASE = ("quantity", "case", "measured", "expected", "holds")
EXPECTED = ("lower", "higher", "not lower", "not higher", "within")
HOLDS, OPEN, FAILS = "yes", "open", "no"
STAND_INS = "All cases hold, but stand-ins are no evidence of the logs."
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
    """

    id: str
    where: str
    statement: str
    published: str


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
        Than or from `bound`.
    bound : float, or (float, float) for "within"
    noise : float
        A difference from the bound that means nothing: what is to be lower or higher must be so by more than this, what
        is to be no lower or no higher may be so by as much, and ranges are wider by it.
    form : str
        Format of the values, with their unit: ``"{:+.1f} %"``.
    """

    quantity: str
    cases: pd.DataFrame
    expected: str
    bound: float | tuple[float, float] = 0.0
    noise: float = 0.0
    form: str = "{:+.1f} %"

    def __post_init__(self):
        if self.expected not in EXPECTED:
            raise ValueError(f"unknown expectation {self.expected!r}; known: {', '.join(EXPECTED)}")
        missing = [name for name in ("value", "low", "high") if name not in self.cases.columns]
        if missing:
            raise ValueError(f"the cases of {self.quantity!r} have no column {missing[0]!r}")
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
        # Within the noise on both sides: there is no difference, which is decided, too.
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
        """Give the place of the case that decides: the furthest off of those that fail, else of those that are open."""
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
        """Write one case down: value, interval, and what tells it apart from the others."""
        row = self.cases.iloc[place]
        words = interval(row["value"], row["low"], row["high"], self.form)
        apart = [_word(name, row[name]) for name in self._labels() if len(set(self.cases[name])) > 1]
        return f"{words} ({', '.join(apart)})" if apart else words

    def table(self) -> pd.DataFrame:
        """Give the cases as text: quantity, what tells them apart, measured, expected, and whether they hold."""
        names = self._labels()
        return pd.DataFrame(
            {
                "quantity": self.quantity,
                "case": [", ".join(_word(name, row[name]) for name in names) for _, row in self.cases.iterrows()],
                "measured": [
                    interval(*row, self.form)
                    for row in self.cases[["value", "low", "high"]].itertuples(index=False, name=None)
                ],
                "expected": self.wanted,
                "holds": self.outcomes,
            }
        )

    def _labels(self):
        return [name for name in self.cases.columns if name not in ("value", "low", "high")]


def interval(value: float, low: float, high: float, form: str = "{:.2f}") -> str:
    """Write a figure down with its interval, if it has one; the unit stands once."""
    if np.isnan(value):
        return "-"
    words = formatted(value, form)
    if np.isnan([low, high]).any() or (low == value == high):
        return words
    unit = form.rpartition("}")[2]
    ends = (formatted(end, form).removesuffix(unit) for end in (low, high))
    return f"{words} [{' to '.join(ends)}]"


def formatted(value: float, form: str) -> str:
    """Write a figure down, with more digits than its format has where that would make it a zero that it is not."""
    words = form.format(value)
    if re.search("[1-9]", words) or not np.isfinite(value):
        return words
    if not value:
        return re.sub("[+-]", "", words)
    places = re.search(r"\.\d+f", form)
    digits = int(np.ceil(-np.log10(abs(value))))
    return form.replace(places[0], f".{digits}f").format(value) if places else words


def _word(name, value):
    if name == "load":
        return f"load {value:g}"
    if name in ("share", "sweeps"):
        return f"{value:g} % sweeps"
    if name == "pes":
        return f"{value} PEs"
    return f"{name} {value:g}" if isinstance(value, float) else str(value)


def judged(
    claim: Claim,
    checks: Check | Sequence[Check],
    trace: str,
    *,
    why: str = "",
    details: str = "",
    measured: str | None = None,
) -> dict:
    """Make a row of the ledger by the rule of this module.

    Parameters
    ----------
    claim : Claim
    checks : Check, or several
        All of their cases count alike.
    trace : str
        What it was measured on.
    why : str
        Where not all cases hold: the reason that was found, in one sentence.
    details : str
        What a reader who wants to know more must know: conventions chosen after results were seen, and the like.
    measured : str, optional
        One figure with its interval; by default that of the case that decides.
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
        return f"Chance leaves open {'the only case' if n == 1 else f'all of {n} cases'}."
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
    """Make a row of what must come out exactly: it does, or it does not, and then `why` says how it differs."""
    verdict = "reproduced" if holds else "not reproduced"
    return _row(claim, measured, trace, verdict, "" if holds else why, details, [])


def untestable(claim: Claim, why: str, trace: str = "", details: str = "") -> dict:
    """Make a row of what could not be measured."""
    return _row(claim, "", trace, "not testable", why, details, [])


def _row(claim, measured, trace, verdict, reason, details, cases):
    told = {"measured": measured, "trace": trace, "verdict": verdict, "reason": reason}
    return {**vars(claim), **told, "details": details, "cases": cases}


class Ledger(pd.DataFrame):
    """A ledger: a table that shows itself with verdicts to filter by, and with the cases behind a fold."""

    @property
    def _constructor(self):
        return Ledger

    def _repr_html_(self):
        return as_html(self) if set(LEDGER) <= set(self.columns) else super()._repr_html_()


SAME = ["id", "statement", "trace"]


def ledger(rows: Iterable[dict], kept: pd.DataFrame | None = None) -> Ledger:
    """Make a ledger of rows; each must have all columns, a verdict that exists, and the reason where it needs one.

    Parameters
    ----------
    rows : iterable of dict
        As `judged`, `exact` and `untestable` give them.
    kept : DataFrame, optional
        The ledger of the full size that was kept (`schedlab.papers.kept`), to be shown beside this run.
    """
    rows = list(rows)
    for row in rows:
        if row.keys() != set(LEDGER):
            raise ValueError(f"a row of the ledger has {', '.join(row)}; expected {', '.join(LEDGER)}")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"unknown verdict {row['verdict']!r}; known: {', '.join(VERDICTS)}")
        if row["verdict"].startswith("not ") and not row["reason"]:
            raise ValueError(f"{row['id']} is {row['verdict']}, but no reason is given")
    table = Ledger(rows, columns=list(LEDGER))
    if kept is None:
        return table
    names = ("measured", "trace", "verdict", "reason", "details", "cases")
    full = kept.rename(columns=dict(zip(names, KEPT, strict=True)))
    # Where a claim has several rows, their statements tell them apart, or else their traces.
    by = next(by for by in (["id"], ["id", "statement"], SAME) if by == SAME or not kept.duplicated(by).any())
    return Ledger(table.merge(full.assign(trace=full["kept_trace"])[[*by, *KEPT]], "left", by))


def standing(table: pd.DataFrame) -> pd.Series:
    """Give the verdict that stands for each row: that of the kept full size, else that of this run."""
    return table["kept_verdict"].fillna(table["verdict"]) if "kept_verdict" in table else table["verdict"]


def counted(table: pd.DataFrame) -> dict[str, int]:
    """Count the rows of each verdict that stands, in the order of `VERDICTS`."""
    counts = standing(table).value_counts()
    return {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS}


# Shown -------------------------------------------------------------------------------------------------------

STYLE = """
.schedlab-ledger { overflow-x: auto; font-size: 13px; line-height: 1.4; color: inherit; }
.schedlab-ledger table { border-collapse: collapse; width: 100%; margin: .4em 0; table-layout: auto; }
.schedlab-ledger tr { background: transparent !important; }
.schedlab-ledger th, .schedlab-ledger td { text-align: left !important; vertical-align: top; padding: .3em .7em 0;
  border: none; background: transparent; color: inherit; white-space: normal; }
.schedlab-ledger thead, .schedlab-ledger > table > tbody { border-bottom: 1px solid rgba(128, 128, 128, .4); }
.schedlab-ledger > table > tbody::after { content: ""; display: block; height: .4em; }
.schedlab-ledger .id, .schedlab-ledger .trace, .schedlab-ledger .verdict { white-space: nowrap; }
.schedlab-ledger .statement { min-width: 12em; width: 36%; }
.schedlab-ledger .published { min-width: 11em; }
.schedlab-ledger .measured { min-width: 12em; width: 32%; }
.schedlab-ledger .quick { opacity: .8; display: block; }
.schedlab-ledger .reason { font-size: 12px; }
.schedlab-ledger summary { cursor: pointer; }
.schedlab-ledger details table { width: auto; }
.schedlab-ledger label { margin-right: 1.2em; white-space: nowrap; cursor: pointer; }
"""
# Ground and letters both, so that they are read in a dark notebook too.
VERDICT_STYLE = """
strong.verdict { white-space: nowrap; padding: .1em .5em; border-radius: .3em; font-weight: 600; }
strong.reproduced { background: #d3efe3; color: #00452f; }
strong.trend-only { background: #fdeecb; color: #5c3d00; }
strong.not-reproduced { background: #fbdcd5; color: #7a1a12; }
strong.not-testable { background: #e4e4e4; color: #333333; }
"""
SHOWN = ("id", "what the paper says", "published", "measured", "verdict")


def as_html(table: pd.DataFrame) -> str:
    """Write a ledger as HTML without a script: filters by verdict, and for each claim a row, its reason and a fold.

    Behind the fold are details, traces and all cases.
    """
    verdicts = standing(table)
    key = f"l{crc32(table[['id', 'measured']].to_csv().encode()):08x}"
    present = [verdict for verdict in VERDICTS if (verdicts == verdict).any()]
    filters, rules = [], []
    for number, verdict in enumerate(["all", *present]):
        count = len(table) if verdict == "all" else (verdicts == verdict).sum()
        checked = " checked" if verdict == "all" else ""
        filters.append(
            f'<input type="radio" name="{key}" id="{key}-{number}"{checked}> '
            f'<label for="{key}-{number}">{verdict} ({count})</label>'
        )
        if verdict != "all":
            others = f"tbody:not(.row-{_class(verdict)})"
            rules.append(f"#{key}-{number}:checked ~ table > {others} {{ display: none; }}")
    measured = [_source(row) for _, row in table.iterrows()]
    traces = list(dict.fromkeys(trace for trace in measured if trace))
    one = len(traces) == 1
    head = "".join(f"<th>{name}</th>" for name in SHOWN)
    rows = "".join(_html_rows(row, verdict, one) for (_, row), verdict in zip(table.iterrows(), verdicts, strict=True))
    about = f'<p class="trace">Measured on {_text(traces[0])}.</p>' if one else ""
    return (
        f'<div class="schedlab-ledger"><style>{STYLE}{VERDICT_STYLE}{"".join(rules)}</style>{about}{"".join(filters)}'
        f"<table><thead><tr>{head}</tr></thead>{rows}</table></div>"
    )


def _is_full(row):
    """Tell whether what is shown of a row is of the full size, as it was kept."""
    return "kept" in row and isinstance(row["kept"], str)


def _source(row):
    """Give the traces on which the cases of a row were measured that are shown, "" where there are none."""
    trace = row["kept_trace"] if _is_full(row) else row["trace"]
    return "" if trace == "no trace" else trace


def _html_rows(row, verdict, one):
    full = _is_full(row)
    reason, details, cases = (row[f"kept_{name}" if full else name] for name in ("reason", "details", "cases"))
    measured = _text(row["kept"] if full else row["measured"]) or "-"
    if full and (row["measured"], row["verdict"]) != (row["kept"], row["kept_verdict"]):
        other = "" if row["trace"] == row["kept_trace"] else f", on {_text(row['trace'])}"
        words = f"just now{other}: {_text(row['measured']) or '-'}, {row['verdict']}"
        measured = f'full size: {measured}<span class="quick">{words}</span>'
    cells = {
        "id": _text(row["id"]),
        "statement": f'{_text(row["statement"])} <span class="where">({_text(row["where"])})</span>',
        "published": _text(row["published"]),
        "measured": measured,
        "verdict": f'<strong class="verdict {_class(verdict)}">{verdict}</strong>',
    }
    cells = "".join(f'<td class="{name}">{cell}</td>' for name, cell in cells.items())
    below = _text(reason) + _fold(details, "" if one else _source(row), cases)
    below = f'<tr><td></td><td class="reason" colspan="{len(SHOWN) - 1}">{below}</td></tr>' if below else ""
    return f'<tbody class="row-{_class(verdict)}"><tr>{cells}</tr>{below}</tbody>'


def _fold(details, traces, cases):
    """Write what is behind a claim's fold, and on the fold how many cases on which traces."""
    names = re.split(r", (?![^(]*\))", traces) if traces else []  # a title may have such commas
    many = len(names) > 2
    on = f"{len(names)} logs" if many else " and ".join(f'<span class="trace">{_text(name)}</span>' for name in names)
    told = [f"{len(cases)} case{'s' * (len(cases) > 1)}"] * bool(cases) + [f"on {on}"] * bool(on)
    if not (many or details or cases):
        return f"<div>{' '.join(told)}</div>" if told else ""
    parts = [f"<div>{_text(words)}</div>" for words in (details, f"Measured on {traces}." * many) if words]
    if cases:
        lines = [_html_line(cases[0], "th"), *(_html_line(case.values(), "td") for case in cases)]
        parts.append(f"<table>{''.join(lines)}</table>")
    return f"<details><summary>{' '.join(told) or 'more'}</summary>{''.join(parts)}</details>"


def _html_line(cells, tag):
    return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"


def _class(verdict):
    return verdict.replace(" ", "-")


def _text(words):
    return html.escape(str(words))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Give a ledger's columns as a terminal or a Markdown page shows them: one line a claim."""
    kept = "kept" in table
    measured = table["measured"].where(table["kept"].isna(), table["kept"]) if kept else table["measured"]
    reason = table["reason"].where(table["kept"].isna(), table["kept_reason"]) if kept else table["reason"]
    shown = pd.DataFrame({"id": table["id"], "verdict": standing(table), "what the paper says": table["statement"]})
    return shown.assign(published=table["published"], measured=measured, reason=reason)


def as_json(table: pd.DataFrame) -> str:
    """Write a ledger as JSON: a list of rows, each with its cases."""
    return json.dumps(table.astype(object).where(table.notna(), None).to_dict("records"), indent=2, ensure_ascii=False)


def as_markdown(table: pd.DataFrame) -> str:
    """Write a ledger as a table in Markdown."""
    shown = summary(table)
    lines = [list(shown.columns), ["---"] * shown.shape[1], *shown.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
