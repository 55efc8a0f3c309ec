"""How certain a mean is: intervals by batch means, warm-up, paired comparison, replications.

Jobs of one run are not independent: long waits come together, so the textbook formula gives intervals that are far too
narrow. The method of batch means cuts a run, in order of submission, into batches so long that their means are nearly
independent, and uses those means as the sample. The queue of a schedule may never settle, because more work arrives
than its scheme can do, or because one pile-up fills much of the log. Then the mean depends on how long the log is; it
has no interval (`unsettled`).

Over several runs (seeds, or shaken copies of a log): `over_seeds` gives the mean of each scheme with its interval, and
`ratio_over_seeds`, `geometric_changes` and `ratios_of_means` compare schemes within each run, which needs fewer of
them; `crossing` finds where curves cross.

If there is reason to doubt an interval, its notes say why, and the call warns once with an `IntervalWarning`.
"""

from collections.abc import Callable
from functools import partial
from math import nan

import numpy as np
import pandas as pd

from schedlab._runtime.text import check_known, spelt, suggestion

from .batches import PILE_UP, Interval, IntervalWarning, batch_means, intervals, is_stationary, unsettled, warm_up
from .pairs import Comparison, Comparisons, paired
from .student import check_confidence, t_beyond, t_quantile

__all__ = [
    "NOISE", "PILE_UP", "Comparison", "Comparisons", "Interval", "IntervalWarning", "batch_means", "crossing",
    "geometric_changes", "geometric_means", "intervals", "is_stationary", "jackknife", "over_seeds", "paired",
    "ratio_over_seeds", "ratios_of_means", "t_beyond", "t_quantile", "unsettled", "warm_up",
]  # fmt: skip

NOISE = 0.5  # percent: a smaller change counts as none, however narrow its interval, and charts write it as 0
RUN = ("trace", "scheme", "load")  # columns that identify a run of a sweep, besides its seed


def over_seeds(table: pd.DataFrame, by=None, confidence: float = 0.95) -> pd.DataFrame:
    """Average the runs of a sweep over their seeds.

    The table has one row per group, in the order of the runs: `by`, seeds (how many), and for each measure its mean and
    the ends of its interval, ``{measure}_low`` and ``{measure}_high``, nan if there is only one seed.

    Parameters
    ----------
    table : DataFrame
        From `sweep` with seeds: one row per run, with a column seed.
    by : str or list of str, optional
        Columns that are equal for runs that differ only in their seeds. Default: trace, scheme and load, if present.
    confidence : float
        Of the intervals, such as 0.95, by Student's t; the seeds are independent.

    Notes
    -----
    What an interval means depends on what the seeds do. Over shaken copies of a log, it says how much chaos moves the
    mean, and nothing about another year of the same machine. Over seeds of a model, or of `Trace.bootstrap`, it says
    how much another log of the same kind would differ.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.8, 0.9], seed=range(4))
    >>> means = sl.over_seeds(runs)
    >>> len(runs), len(means), means["seeds"].unique().tolist()
    (24, 6, [4])
    >>> chart = sl.charts.lines(means, "load", "bounded_slowdown", title="Mean over four shaken copies, with intervals")
    """
    check_confidence(confidence)
    if "seed" not in table.columns:
        raise ValueError("the table has no column 'seed'; sweep(..., seed=range(10)) gives one")
    if by is None:
        by = [name for name in RUN if name in table.columns]
    by = [by] if isinstance(by, str) else list(by)
    missing = [name for name in by if name not in table.columns]
    if missing or not by:
        known = ", ".join(name for name in table.columns if name != "seed")
        named = missing[0] if missing else by
        known += suggestion(named, table.columns)
        raise ValueError(f"by is {spelt(named)}, expected columns of the table: {known}")
    measures = [name for name in table.select_dtypes("number").columns if name not in (*by, "seed")]
    groups = table.groupby(by, sort=False, dropna=False)
    seeds, values = groups.size(), groups[measures]
    known = values.count().to_numpy()  # a run may lack a measure
    mean, half = values.mean(), values.sem() * np.vectorize(partial(_half, confidence), otypes=[float])(known)
    parts = {"": mean, "_low": mean - half, "_high": mean + half}
    columns = {"seeds": seeds.array}
    columns |= {f"{name}{end}": part[name].array for name in measures for end, part in parts.items()}
    return pd.DataFrame(columns, seeds.index).reset_index()


def ratios_of_means(table: pd.DataFrame, new: str, old: str, by: list[str]) -> pd.Series:
    """Return each run's contribution to the ratio of two means over the seeds; nan if one of its values is missing.

    Averaging the runs' own ratios gives too much weight to runs whose old value is low by chance: of two schedules that
    differ by chance alone, each would seem worse than the other. These contributions average to mean(new) / mean(old),
    and their spread gives its error (delta method). Pass them to `over_seeds`.

    Parameters
    ----------
    table : DataFrame
        One row per run, with both values.
    new, old : str
        Columns.
    by : list of str
        The columns that say what was run; rows alike in them differ only in their seeds.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.schedule.statistics import over_seeds, ratios_of_means
    >>> runs = pd.DataFrame({"load": 0.8, "seed": [0, 1, 2], "sjf": [11.0, 12.5, 10.5], "easy": [22.0, 24.0, 23.0]})
    >>> runs["ratio"] = ratios_of_means(runs, new="sjf", old="easy", by=["load"])
    >>> table = over_seeds(runs[["load", "seed", "ratio"]], by="load")
    >>> table[["ratio", "ratio_low", "ratio_high"]].round(2).values.tolist()
    [[0.49, 0.41, 0.58]]
    """
    pairs = table[new].notna() & table[old].notna()
    groups = table.where(pairs).groupby([table[name] for name in by], sort=False)
    top, bottom = (groups[name].transform("mean") for name in (new, old))
    return (top / bottom + (table[new] - top / bottom * table[old]) / bottom).where(pairs)


def ratio_over_seeds(new, old, confidence: float = 0.95) -> tuple[float, float, float]:
    """Compare two means over the same seeds by their ratio: return mean(new) / mean(old) and the ends of its interval.

    To first order, the error of the ratio's logarithm is that of new - ratio * old, divided by the mean of new. Unlike
    `ratios_of_means`, this uses the logarithm, so swapping new and old inverts the ratio and its interval. All are nan
    if old is always 0, the ends also if new is, or if there is only one seed.

    Parameters
    ----------
    new, old : array-like, shape (n_seeds,)
        One value per seed, in the same order.
    confidence : float
        As in `over_seeds`.

    Examples
    --------
    >>> from schedlab.schedule.statistics import ratio_over_seeds
    >>> ratio, low, high = ratio_over_seeds(new=[11.0, 12.5, 10.5, 13.0], old=[10.0, 11.0, 10.0, 12.0])
    >>> print(f"{ratio:.2f} [{low:.2f} to {high:.2f}]")
    1.09 [1.04 to 1.15]
    """
    check_confidence(confidence)
    new, old = (np.asarray(values, float) for values in (new, old))
    if not old.any():
        return nan, nan, nan
    ratio = new.mean() / old.mean()
    if new.size == 1:
        return ratio, nan, nan
    error = np.std(new - ratio * old, ddof=1) / np.sqrt(new.size) / new.mean() if new.any() else nan
    half = t_quantile((1 + confidence) / 2, new.size - 1) * error
    return ratio, ratio * np.exp(-half), ratio * np.exp(half)


def crossing(x, y) -> float:
    """Find where values first fall to 0, by straight lines between the given points.

    It is the least x if the value there is already 0 or less, and nan if the values never fall to 0.

    Parameters
    ----------
    x, y : array-like, shape (n,)
        Places, in any order, and the value at each; nan if missing.

    Examples
    --------
    >>> import schedlab as sl
    >>> round(sl.statistics.crossing([0.0, 0.2, 0.4], [30.0, 10.0, -10.0]), 6)
    0.3
    """
    x, y = (np.asarray(values, float) for values in (x, y))
    if x.shape != y.shape:
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}, expected the same")
    order = np.argsort(x, kind="stable")
    order = order[~np.isnan(y[order])]
    x, y = x[order], y[order]
    below = np.flatnonzero(y <= 0)
    if not below.size:
        return nan
    i = below[0]
    return float(x[0] if i == 0 else x[i - 1] + (x[i] - x[i - 1]) * y[i - 1] / (y[i - 1] - y[i]))


def jackknife(
    measure: Callable[[pd.DataFrame], float], runs: pd.DataFrame, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Measure all runs together, for example by a correlation, and return the value with an interval over the seeds.

    The interval is that of the jackknife: it follows from how the measure changes when each seed in turn is left out.
    Its ends are nan if there is only one seed.

    Parameters
    ----------
    measure : callable
        Takes a table of runs, and gives a number.
    runs : DataFrame
        One row per run, with a column seed.
    confidence : float
        As in `over_seeds`.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.schedule.statistics import jackknife
    >>> runs = pd.DataFrame({"seed": [0, 1, 2, 3], "wait": [10.0, 12.0, 11.0, 15.0]})
    >>> value, low, high = jackknife(lambda part: part["wait"].mean(), runs)
    >>> print(f"{value:.2f} [{low:.2f} to {high:.2f}]")
    12.00 [8.56 to 15.44]

    References
    ----------
    B. Efron: The jackknife, the bootstrap and other resampling plans. SIAM, 1982.
    """
    check_confidence(confidence)
    check_known("column", "seed", runs.columns)
    value, seeds = measure(runs), runs["seed"].unique()
    if seeds.size < 2:
        return value, nan, nan
    without = [measure(runs[runs["seed"] != seed]) for seed in seeds]
    n = seeds.size
    half = t_quantile((1 + confidence) / 2, n - 1) * (n - 1) / np.sqrt(n) * np.std(without, ddof=1)
    return value, value - half, value + half


def geometric_means(table: pd.DataFrame, name: str, by, confidence: float = 0.95) -> pd.DataFrame:
    """Average a measure over the seeds geometrically, as `over_seeds` does: for values that span orders of magnitude.

    Parameters
    ----------
    table, by, confidence : optional
        As in `over_seeds`; all columns of `by` must be named.
    name : str
        The measure, above 0.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.9], seed=range(5))
    >>> means = sl.statistics.geometric_means(runs, "bounded_slowdown", by=["scheme", "load"])
    >>> means[["scheme", "load", "bounded_slowdown"]].round(1).values.tolist()
    [['EASY', 0.7, 96.9], ['EASY-SJF', 0.7, 48.7], ['EASY', 0.9, 175.9], ['EASY-SJF', 0.9, 55.1]]
    """
    by = _columns(by, name, table)
    means = over_seeds(table[[*by, "seed"]].assign(**{name: _logarithms(table[name])}), by, confidence)
    columns = [name, f"{name}_low", f"{name}_high"]
    return means.assign(**{column: np.exp(means[column]) for column in columns})


def geometric_changes(new: pd.DataFrame, old: pd.DataFrame, name: str, by, confidence: float = 0.95) -> pd.DataFrame:
    """Compare a measure of two tables of runs, seed by seed, by the geometric mean of its ratios.

    Swapping the tables inverts the ratio, so chance alone favours neither. For each comparison the table has `by`,
    seeds (those in both tables), change, and the ends of its interval, low and high. All in percent; below 0, the new
    values are lower.

    Parameters
    ----------
    new, old : DataFrame
        One row per run, with a column seed. No two runs of a table are of one comparison and seed.
    name, by, confidence : optional
        As in `geometric_means`.

    Examples
    --------
    >>> import schedlab as sl
    >>> trace = sl.model_trace("lublin", jobs=500, machine=64, seed=1)
    >>> runs = sl.sweep(trace, ["easy", "easy-sjf"], load=[0.7, 0.9], seed=range(5))
    >>> sjf, easy = runs[runs["scheme"] == "EASY-SJF"], runs[runs["scheme"] == "EASY"]
    >>> changes = sl.statistics.geometric_changes(sjf, easy, "bounded_slowdown", by="load")
    >>> changes[["load", "change", "low", "high"]].round(1).values.tolist()  # percent
    [[0.7, -49.7, -53.1, -46.2], [0.9, -68.7, -72.5, -64.3]]
    """
    by = _columns(by, name, new, old)
    keys = [*by, "seed"]
    for runs in (new, old):
        _logarithms(runs[name])
        if (again := runs.duplicated(keys)).any():
            place = ", ".join(f"{column} {runs.loc[again, column].iloc[0]}" for column in keys)
            raise ValueError(f"the table has several runs of {place}")
    after, before = (runs.set_index(keys)[name] for runs in (new, old))
    runs = np.log(after / before).rename("change").reset_index()
    changes = over_seeds(runs.dropna(subset="change"), by, confidence)
    columns = {"change": "change", "low": "change_low", "high": "change_high"}
    return changes[[*by, "seeds"]].assign(**{end: 100 * np.expm1(changes[column]) for end, column in columns.items()})


def _columns(by, name, *tables):
    """Return `by` as a list, after checking that each table has its columns, the measure and the seeds."""
    by = [by] if isinstance(by, str) else list(by)
    for table in tables:
        for column in (*by, name, "seed"):
            check_known("column", column, table.columns)
    return by


def _logarithms(values):
    bad = values[~(values > 0) & values.notna()]
    if len(bad):
        raise ValueError(f"{values.name} is {bad.iloc[0]:g}, expected a number above 0")
    return np.log(values)


def _half(confidence, seeds):
    return t_quantile((1 + confidence) / 2, seeds - 1) if seeds > 1 else nan
