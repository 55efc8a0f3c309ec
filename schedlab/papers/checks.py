"""How a claim is checked: conditions judged together, an effect pooled over them, and what follows for the claim.

One rule for all papers. A check has **conditions** (loads, logs, sites, classes; to readers, cases), each with an
independent run for each seed. The intervals of all conditions and of the effect pooled over them hold jointly with 95 %
(Holm): whatever is true, at most one check in twenty says something wrong.

- A condition **supports** the claim if its interval lies on the claimed side, beyond the noise that was stated
  beforehand. It **contradicts** it if its interval lies on the other side, beyond the noise. Else it is **open**.
- The check **holds** if at least one condition supports, none contradicts, and the pooled effect supports. A claim that
  something is so under every condition holds if none contradicts and the pooled effect supports.
- It **fails** if the pooled effect contradicts, or if conditions contradict and none supports.
- It is **mixed** if some conditions support and some contradict, and the pooled effect does not contradict.
- Else it is **undecided**: the intervals allow both.
- A claim that something is so under some condition, whatever the others, holds if one supports, fails if all
  contradict, and else is undecided.

A published number supports the claim if it lies within the interval of what was measured; where the paper made a single
run, the interval is that of a single run. Else it contradicts.

References
----------
Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known
from schedlab.schedule.statistics import t_beyond, t_quantile
from schedlab.show import formatted, interval
from schedlab.show.ledgers import CONDITION, NUMBERS, SINGLE, TOGETHER, VALUES, word, written

EXPECTED = ("lower", "higher", "not lower", "not higher", "within", "is")
SUPPORTS, OPEN, CONTRADICTS = "supports", "open", "contradicts"
HOLDS, MIXED, FAILS, UNDECIDED = "holds", "mixed", "fails", "undecided"
LEVEL = 0.05  # of all wrong statements of a check together
NAMED = 3  # conditions that a sentence names before it counts the others
FACTS = (*VALUES, *NUMBERS, "outcome")  # of a condition


@dataclass(frozen=True, eq=False)
class Check:
    """What was measured under some conditions, and what a claim expects of it.

    Parameters
    ----------
    quantity : str
        What was measured, in words.
    runs : DataFrame
        One row for each condition and seed: columns that tell the conditions apart, seed, and value. A value compares
        runs of the same seed, where the claim is a comparison: a difference, or what `ratios_of_means` gives.
    expected : {"lower", "higher", "not lower", "not higher", "within", "is"}
        How the value compares with `bound`. "is" is for published numbers.
    bound : float, or (float, float) for "within", or str for "is"
        For "is", the column of `runs` with the published number for each condition, or the number.
    noise : float
        Smaller differences from the bound do not matter, as was stated before the runs: "lower" and "higher" need a
        larger one, the others allow it.
    form : str
        Format of the values, with their unit: ``"{:+.1f} %"``; or the column of `runs` that has it.
    every : bool
        The claim is about every condition, that is, about the smallest effect.
    some : bool
        The claim is about some condition, whichever it is: others may contradict it.
    single : bool
        For "is": the paper made a single run, so the interval is that of a single run.
    logarithms : bool
        Values are natural logarithms of ratios. They are shown as changes in percent, as bound and noise are given.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.papers import Check
    >>> values = {"CTC": (-18.0, -22.0, -20.0, -19.0), "KTH": (1.0, -2.0, 0.5, -1.0)}
    >>> rows = [{"log": log, "seed": seed, "value": each} for log in values for seed, each in enumerate(values[log])]
    >>> check = Check("change of the mean turnaround", pd.DataFrame(rows), "lower")
    >>> check.table()[["condition", "outcome"]].values.tolist()
    [['CTC', 'supports'], ['KTH', 'open'], ['all cases together', 'holds']]
    >>> check.outcome, check.effect
    ('holds', '-10.1 % [-13.1 to -7.0] on average over 2 cases')
    """

    quantity: str
    runs: pd.DataFrame
    expected: str
    bound: float | tuple[float, float] | str = 0.0
    noise: float = 0.0
    form: str = "{:+.1f} %"
    every: bool = False
    some: bool = False
    single: bool = False
    logarithms: bool = False

    def __post_init__(self):
        check_known("expectation", self.expected, EXPECTED)
        missing = [name for name in ("seed", "value") if name not in self.runs.columns]
        if missing:
            raise ValueError(f"the runs of {self.quantity!r} have no column {missing[0]!r}; expected seed and value")
        runs = self.runs.dropna(subset="value").reset_index(drop=True)
        if isinstance(self.bound, str):
            check_known("column", self.bound, runs.columns)
        if (again := runs.duplicated([*self.by, "seed"])).any():
            raise ValueError(f"the runs of {self.quantity!r} have two values of a case and seed: row {again.idxmax()}")
        object.__setattr__(self, "runs", runs)

    @property
    def by(self) -> list[str]:
        """The columns that tell the conditions apart."""
        return [name for name in self.runs.columns if name not in ("seed", "value", self.bound, self.form)]

    @property
    def conditions(self) -> pd.DataFrame:
        """The conditions: what tells them apart, and the columns `FACTS`.

        value, low and high are the mean and the ends of its joint interval; mean and spread (the standard deviation of
        single runs) are logarithms where the values are; seeds counts the runs.
        """
        return self._judged[0]

    @property
    def pooled(self) -> dict:
        """The mean effect of all conditions, over the seeds that all have: a dictionary with the keys of `FACTS`.

        It is empty for several published numbers, which have no common effect.
        """
        return self._judged[1]

    @cached_property
    def _judged(self):
        if self.runs.empty:
            return pd.DataFrame(columns=[*self.by, *FACTS, "form", "bound"]), {}
        groups = self.runs.groupby(self.by or np.zeros(len(self.runs)), sort=False, dropna=False)
        values, some = groups["value"], groups.first().reset_index()
        n, family = len(some), np.column_stack([values.mean(), values.std(), values.size()])
        if n > 1 and self.expected != "is":
            conditions = self.runs.assign(condition=groups.ngroup()).pivot_table("value", "seed", "condition")
            means = conditions.dropna().mean(axis="columns")
            family = np.vstack([family, [means.mean(), means.std(), len(means)]])
        form, bound = (some.get(name, name) for name in (self.form, self.bound))
        facts = _judge(self, *family.T, *(bound if self.expected == "within" else (bound, bound)))
        conditions = pd.concat([some[self.by], facts.iloc[:n]], axis="columns").assign(form=form)
        if self.expected == "is":
            return conditions.assign(bound=bound), facts.iloc[0].to_dict() if n == 1 else {}
        return conditions, facts.iloc[-1].to_dict()

    @property
    def outcome(self) -> str:
        """What follows from the conditions: "holds", "mixed", "fails" or "undecided"."""
        conditions, pooled = set(self.conditions["outcome"]), self.pooled.get("outcome", OPEN)
        if self.some:
            return HOLDS if SUPPORTS in conditions else FAILS if conditions == {CONTRADICTS} else UNDECIDED
        if pooled == CONTRADICTS or (CONTRADICTS in conditions and SUPPORTS not in conditions):
            return FAILS
        if CONTRADICTS in conditions:
            return MIXED
        if self.expected == "is":
            return HOLDS if SUPPORTS in conditions else UNDECIDED
        return HOLDS if pooled == SUPPORTS and (self.every or SUPPORTS in conditions) else UNDECIDED

    @property
    def effect(self) -> str:
        """The pooled effect with its interval, in words; of published numbers, what was measured."""
        n = len(self.conditions)
        if self.expected == "is" or n == 1:
            return "; ".join(self.written(place) for place in range(n))
        text = interval(*(self.pooled[name] for name in VALUES), self.form)
        return f"{text} on average over {n} cases"

    @property
    def where(self) -> str:
        """Say which conditions do not support the claim, and whether the pooled effect does not; "" if all do."""
        return " ".join(filter(None, (self._where, self._against)))

    @property
    def _against(self):
        outcomes, pooled = set(self.conditions["outcome"]), self.pooled
        if len(self.conditions) == 1 or self.some or not pooled:
            return ""
        if pooled["outcome"] == CONTRADICTS and outcomes != {CONTRADICTS}:
            return "The effect over all cases contradicts it."
        if pooled["outcome"] == OPEN and SUPPORTS in outcomes and CONTRADICTS not in outcomes:
            few = pooled["seeds"] < 2
            return "The cases have too few seeds in common." if few else "The effect over all cases is open."
        return ""

    @property
    def _where(self):
        outcomes = self.conditions["outcome"].to_numpy()
        n, counts = len(outcomes), {name: int((outcomes == name).sum()) for name in (SUPPORTS, CONTRADICTS, OPEN)}
        if counts[SUPPORTS] == n:
            return ""
        if n == 1 and counts[CONTRADICTS]:
            return f"Measured {self._wrong(0)}." if self.expected == "is" else "What was measured contradicts it."
        if counts[OPEN] == n:
            return "The interval allows both." if n == 1 else f"The intervals of all {n} cases allow both."
        verb = "supports" if counts[SUPPORTS] == 1 else "support"
        parts = [f"{counts[SUPPORTS]} of {n} cases {verb} it"] if counts[SUPPORTS] else []
        if counts[CONTRADICTS]:
            few = [self._wrong(place) for place in np.flatnonzero(outcomes == CONTRADICTS)]
            more = f" ({'; '.join(few)})" if len(few) <= NAMED else ""
            verb = "contradicts" if counts[CONTRADICTS] == 1 else "contradict"
            parts.append(f"{counts[CONTRADICTS]}{'' if parts else f' of {n} cases'} {verb} it{more}")
        if counts[OPEN]:
            parts.append(f"{counts[OPEN]} {'is' if counts[OPEN] == 1 else 'are'} open")
        return f"{', '.join(parts)}."

    def written(self, place: int) -> str:
        """Write one condition down: value, interval, and what tells it apart from the others.

        Parameters
        ----------
        place : int
            Of the condition: its row in `conditions`, from 0.
        """
        return written(self.conditions[[*self.by, *VALUES]], place, self.conditions["form"].iloc[place])

    def _wrong(self, place):
        """Write down a condition that contradicts; if a number was published, by what factor it differs."""
        text = self.written(place)
        if self.expected != "is":
            return text
        row = self.conditions.iloc[place]
        return f"{text}, {row['value'] / row['bound']:.2g} times the published {formatted(row['bound'], row['form'])}"

    @property
    def wanted(self) -> str:
        """Say what is expected of a condition, in words; "" for published numbers, which differ between them."""
        if self.expected == "is":
            return ""
        if self.expected == "within":
            return " to ".join(formatted(bound, self.form) for bound in self.bound)
        if self.bound == 0 and self.form.startswith("{:+"):
            return self.expected
        return f"{self.expected} than {formatted(self.bound, self.form)}"

    def table(self) -> pd.DataFrame:
        """Return the conditions, and the effect of all if there are several, with the columns `CONDITION` of a ledger.

        These are check (the quantity), condition, measured, expected and outcome as text, and the numbers `NUMBERS`.
        """
        rows = []
        for row in self.conditions.to_dict("records"):
            condition = ", ".join(word(name, row[name]) for name in self.by) or SINGLE
            wanted = self.wanted or formatted(row["bound"], row["form"])
            rows.append((condition, interval(*(row[name] for name in VALUES), row["form"]), wanted, row))
        if len(rows) > 1:
            effect = "" if self.expected == "is" else interval(*(self.pooled[name] for name in VALUES), self.form)
            rows.append(
                (TOGETHER, effect, self.wanted, dict.fromkeys(NUMBERS) | self.pooled | {"outcome": self.outcome})
            )
        texts = [(self.quantity, *cells, row["outcome"]) for *cells, row in rows]
        numbers = [[row[name] for name in NUMBERS] for *_, row in rows]
        return pd.DataFrame(
            [(*text, *values) for text, values in zip(texts, numbers, strict=True)], columns=list(CONDITION)
        )


def _judge(check, mean, spread, seeds, first, last):
    """Judge several means together; return the columns `FACTS`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = spread * np.sqrt(1 / seeds + check.single)
    supports, contradicts = _margins(check, mean, np.asarray(first, float), np.asarray(last, float))
    margin = np.fmax(supports, contradicts)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(margin > 0, margin / error, 0.0)
    half = _half_lengths(t, error, seeds.astype(int))
    certain = contradicts > half
    fine = ~certain & ~np.isnan(half) if check.expected == "is" else supports > half
    ends = [mean, mean - half, mean + half]
    ends = [100 * np.expm1(end) for end in ends] if check.logarithms else ends
    outcome = np.select([fine, certain], [SUPPORTS, CONTRADICTS], OPEN)
    return pd.DataFrame(dict(zip(FACTS, (*ends, mean, spread, seeds.astype(int), outcome), strict=True)))


def _margins(check, value, first, last):
    """Return how far each value lies on the claimed side, and how far on the other; below 0 if it does not."""
    low, high = first - check.noise, last + check.noise
    if check.logarithms:
        low, high = np.log1p(low / 100), np.log1p(high / 100)
    if check.expected == "lower":
        return low - value, value - high
    if check.expected == "higher":
        return value - high, low - value
    if check.expected == "not lower":
        return value - low, low - value
    if check.expected == "not higher":
        return high - value, value - high
    outside = np.maximum(low - value, value - high)
    return (np.minimum(value - low, high - value) if check.expected == "within" else -outside), outside


def _half_lengths(t, error, seeds):
    """Return half of the length of each interval, so that all hold jointly; nan for a single run.

    Holm: the most certain mean is judged as if all had to be (Bonferroni), the next one as one of those that are left,
    and so on, until one cannot be told from its bound. All that are left then have its level.
    """
    beyond = [t_beyond(ratio, n - 1) if n > 1 else np.inf for ratio, n in zip(t, seeds, strict=True)]
    left, half, level = int((seeds > 1).sum()), np.full(len(t), np.nan), 0.0
    told_apart = True
    for place in np.argsort(beyond, kind="stable")[:left]:
        level = LEVEL / left if told_apart else level
        half[place] = t_quantile(1 - level / 2, int(seeds[place]) - 1) * error[place]
        told_apart &= beyond[place] <= level
        left -= 1
    return half
