"""Student's t distribution, and what confidence may be."""

from functools import lru_cache
from math import atan, cos, pi, sin, sqrt, tan
from numbers import Real

import numpy as np

from schedlab._runtime.text import spelt


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: int) -> float:
    """Return the quantile of Student's t distribution.

    It has a closed form in the angle atan(t / sqrt(df)): a finite sum that increases with the angle, and is inverted by
    bisection, down to the last bits of a float64.

    Parameters
    ----------
    p, df : float, int
        In (0, 1); degrees of freedom, at least 1.

    Examples
    --------
    >>> from schedlab.schedule.statistics import t_quantile
    >>> round(t_quantile(0.975, df=4), 3)
    2.776

    References
    ----------
    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
    """
    if not (0 < p < 1 and df >= 1):
        raise ValueError(f"p and df are {p} and {df}, expected p in (0, 1) and df of at least 1")
    if p < 0.5:
        return -t_quantile(1 - p, df)
    low, high = 0.0, pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if _t_within(middle, df) < 2 * p - 1:
            low = middle
        else:
            high = middle
    return sqrt(df) * tan(low)


def t_beyond(t: float, df: int) -> float:
    """Return the probability that the absolute value of Student's t is larger than `t`.

    Parameters
    ----------
    t, df : float, int
        0 or more; degrees of freedom, at least 1.

    Examples
    --------
    >>> from schedlab.schedule.statistics import t_beyond
    >>> round(t_beyond(2.776, df=4), 3)
    0.05
    """
    return max(0.0, 1 - _t_within(atan(t / sqrt(df)), df))


def _t_within(angle, df):
    """Return the probability that abs(t) <= sqrt(df) tan(angle)."""
    odd = df % 2
    # 1 + 1/2 c^2 + 1/2 3/4 c^4 + ... for even df, c (1 + 2/3 c^2 + 2/3 4/5 c^4 + ...) for odd ones; df // 2 terms.
    k = np.arange(1, df // 2)
    factors = (2 * k / (2 * k + 1) if odd else (2 * k - 1) / (2 * k)) * cos(angle) ** 2
    series = sin(angle) * (1 + float(np.cumprod(factors).sum())) if df > 1 else 0.0
    return 2 / pi * (angle + series * cos(angle)) if odd else series


def check_confidence(confidence):
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ValueError(f"confidence must be between 0 and 1, got {spelt(confidence)}")
