"""Hyper-Erlang laws of common order: sums of exponentials that all have one of two rates, fitted to three moments.

References
----------
M. A. Johnson, M. R. Taaffe: Matching moments to phase distributions: mixtures of Erlang distributions of common
order. Stochastic Models 5 (1989) 711-743.
"""

import math
from dataclasses import dataclass

import numpy as np

from .common import at_least_one

_HIGHEST_ORDER = 100


@dataclass(frozen=True)
class HyperErlang:
    """Hold a hyper-Erlang law of common order: the sum of `order` exponentials that all have one of two rates.

    `lambda1` and `lambda2` are the rates, per second; `p` is the probability of the first.
    """

    order: int
    lambda1: float
    lambda2: float
    p: float

    def __post_init__(self) -> None:
        at_least_one("order", self.order)
        for name in ("lambda1", "lambda2"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be greater than 0, got {getattr(self, name)}")
        if not 0 <= self.p <= 1:
            raise ValueError(f"p must be between 0 and 1, got {self.p}")

    @property
    def moments(self) -> tuple[float, float, float]:
        """The first three raw moments: seconds, seconds squared, seconds cubed."""
        moments, rising = [], 1.0
        for k in (1, 2, 3):
            rising *= self.order + k - 1
            moments.append(rising * (self.p * self.lambda1**-k + (1 - self.p) * self.lambda2**-k))
        return tuple(moments)

    @property
    def mean(self) -> float:
        """The mean, in seconds."""
        return self.moments[0]

    @property
    def cv2(self) -> float:
        """The squared coefficient of variation."""
        first, second, _ = self.moments
        return second / first**2 - 1

    @classmethod
    def from_moments(cls, m1: float, m2: float, m3: float) -> "HyperErlang":
        """Return the law of the lowest order with these means of x, x squared and x cubed (Johnson and Taaffe 1989).

        Raise ValueError if no law of an order up to 100 has them. The moments of any law on positive numbers that takes
        more than one value satisfy m2 > m1**2 and m1 * m3 > m2**2, and some order fits them; the lower the variation,
        the higher the order (cv2 > 1 / order).
        """
        m1, m2, m3 = float(m1), float(m2), float(m3)
        for order in range(1, _HIGHEST_ORDER + 1):
            law = _matched(order, m1, m2, m3)
            if law is not None:
                return law
        moments = f"the moments {m1:.6g}, {m2:.6g}, {m3:.6g}"
        if not (m1 > 0 and m2 > m1 * m1 and m1 * m3 > m2 * m2):
            raise ValueError(f"no positive law has {moments}; feasible are m1 > 0, m2 > m1**2 and m1 * m3 > m2**2")
        raise ValueError(
            f"no hyper-Erlang law up to order {_HIGHEST_ORDER} has {moments} (squared coefficient of variation "
            f"{m2 / m1 / m1 - 1:.3g}); feasible are at least 1 / {_HIGHEST_ORDER} of it and m3 not too near m2**2 / m1"
        )

    def draw(self, count: int, seed: int | np.random.Generator = 0) -> np.ndarray:
        """Draw numbers, float64, shape (count,), seconds; a larger count begins with the same numbers."""
        branch, length = np.random.default_rng(seed).spawn(2)
        rate = np.where(branch.random(count) < self.p, self.lambda1, self.lambda2)
        return length.standard_gamma(self.order, count) / rate


def _matched(order, m1, m2, m3):
    """Return the law of this order with these moments, or None if there is none."""
    n = order
    a1, a2, a3 = m1 / n, m2 / (n * (n + 1)), m3 / (n * (n + 1) * (n + 2))
    d = a2 - a1 * a1
    if not d > 0:
        return None
    # The means of a stage, 1 / lambda, are the roots of x**2 - s x + q.
    s = (a3 - a1 * a2) / d
    q = (a1 * a3 - a2 * a2) / d
    if not (q > 0 and s > 0 and s * s > 4 * q):
        return None
    x = (s + math.sqrt(s * s - 4 * q)) / 2
    y = q / x
    p = (a1 - y) / (x - y)
    if not 0 <= p <= 1:
        return None
    law = HyperErlang(order, 1 / x, 1 / y, p)
    # At the edge of the feasible moments, rounding decides the signs above. A law that misses its moments is rejected:
    # the next order is as good there.
    close = all(math.isclose(*pair, rel_tol=1e-9) for pair in zip(law.moments, (m1, m2, m3), strict=True))
    return law if close else None
