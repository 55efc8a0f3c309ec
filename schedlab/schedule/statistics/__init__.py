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

from .batches import (
    PILE_UP,
    Interval,
    IntervalWarning,
    batch_means,
    check_warm_up,
    intervals,
    is_stationary,
    unsettled,
    warm_up,
)
from .pairs import Comparison, paired
from .replications import (
    NOISE,
    crossing,
    geometric_changes,
    geometric_means,
    jackknife,
    over_seeds,
    ratio_over_seeds,
    ratios_of_means,
)
from .student import t_beyond, t_quantile

__all__ = [
    "NOISE",
    "PILE_UP",
    "Comparison",
    "Interval",
    "IntervalWarning",
    "batch_means",
    "check_warm_up",
    "crossing",
    "geometric_changes",
    "geometric_means",
    "intervals",
    "is_stationary",
    "jackknife",
    "over_seeds",
    "paired",
    "ratio_over_seeds",
    "ratios_of_means",
    "t_beyond",
    "t_quantile",
    "unsettled",
    "warm_up",
]
