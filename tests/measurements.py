"""Measured cases for the rule of the ledgers."""

import numpy as np
import pandas as pd

T = 3.182446305284263  # quantile of Student's t at 97.5 %, three degrees of freedom


def exactly(*conditions, half=1.0, **labels):
    """Return runs of cases whose single intervals at 95 % have these means and half lengths."""
    rows = []
    for place, condition in enumerate(conditions):
        value, own = condition if isinstance(condition, tuple) else (condition, half)
        apart = own / T * np.sqrt(3)  # four runs, two on either side
        rows += [{"load": 0.1 * (place + 1), "seed": i, "value": value + (-1) ** i * apart} for i in range(4)]
    return pd.DataFrame(rows).assign(**labels)
