"""Tables of numbers as people read them: words for heads, readable units, intervals beside their values."""

import re

import numpy as np
import pandas as pd

from schedlab.show import duration, interval
from schedlab.show.reading import typeset

# What columns are called in tables, where their names in the data are not words.
HEADS = {"trace": "log", "pes": "PEs", "procs": "processors", "group": "jobs, by processor-seconds in the log"}
TIMES = {"s": 1, "minutes": 60}  # units of columns, in seconds
TIME = re.compile(rf"(.*) \(({'|'.join(TIMES)})\)")
LONG = 1_000  # seconds; columns that reach it are written in minutes, hours or days


def as_read(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table as people read it: intervals beside their values, times in readable units, heads in words.

    Examples
    --------
    >>> import pandas as pd
    >>> from schedlab.papers.tables import as_read
    >>> waits = pd.DataFrame({"trace": ["CTC"], "wait (s)": [6846.0], "change (%)": [-2.0]})
    >>> waits = waits.assign(**{"change (%)_low": -3.0, "change (%)_high": -1.0})
    >>> as_read(waits).replace("\N{MINUS SIGN}", "minus ", regex=True).to_dict("records")
    [{'log': 'CTC', 'wait': '114 min', 'change (%)': 'minus 2.0 [minus 3.0 to minus 1.0]'}]
    """
    readable = table.copy()
    for name in table.columns:
        ends = [f"{name}{end}" for end in ("_low", "_high")]
        if set(ends) <= set(table.columns):
            form = "{:+.1f}" if "%" in str(name) else "{:.3g}"  # changes have signs
            readable[name] = [typeset(interval(*row, form)) for row in table[[name, *ends]].to_numpy(float)]
            readable = readable.drop(columns=ends)
        elif (match := TIME.fullmatch(str(name))) and len(table):
            seconds = table[name].astype(float) * TIMES[match[2]]
            if seconds.abs().max() >= LONG:
                readable[name] = seconds.map(lambda value: "-" if np.isnan(value) else duration(value))
                readable = readable.rename(columns={name: match[1]})
    return readable.rename(columns=HEADS)
