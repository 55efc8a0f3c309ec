"""Copies of tables that callers may change."""

import pandas as pd

LAZY = int(pd.__version__.partition(".")[0]) >= 3  # from 3.0 on, pandas copies what is shared when it is written to


def copied(table: pd.DataFrame) -> pd.DataFrame:
    """Copy a table; if pandas can, the values are copied only when somebody writes to them."""
    return table.copy(deep=not LAZY)
