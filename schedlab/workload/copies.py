"""Copies of tables that callers may change."""

import numpy as np
import pandas as pd

from schedlab.files import note

LAZY = int(pd.__version__.partition(".")[0]) >= 3  # from 3.0 on, pandas copies what is shared when it is written to


def copied(table: pd.DataFrame) -> pd.DataFrame:
    """Copy a table; if pandas can, the values are copied only when somebody writes to them."""
    return table.copy(deep=not LAZY)


class Table:
    """A field of a dataclass that holds a table and hands out copies of it, so that nobody changes it in place.

    Whoever takes one depends on the files from which the instance was made, its field `files`.
    """

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError(self.name)  # to a dataclass, the field has no default
        note(vars(instance).get("files", {}))
        return copied(vars(instance)[self.name])

    def __set__(self, instance, table):
        for block in table._mgr.blocks:  # a copy on write does not guard `Series.array`
            values = block.values  # noqa: PD011 - a block's, not a table's
            if isinstance(values, np.ndarray):
                values.flags.writeable = False
        vars(instance)[self.name] = table
