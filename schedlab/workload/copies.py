"""Copies of tables that callers may change."""

import pandas as pd

from schedlab._runtime.files import note

LAZY = int(pd.__version__.partition(".")[0]) >= 3  # from 3.0 on, pandas copies what is shared when it is written to


def copied(table: pd.DataFrame) -> pd.DataFrame:
    """Copy a table; if pandas can, the values are copied only when somebody writes to them."""
    copy = table.copy(deep=not LAZY)
    if not LAZY:
        copy.index = table.index.copy(deep=True)  # which a deep copy of a table shares
    return copy


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
        vars(instance)[self.name] = table
