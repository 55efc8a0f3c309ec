"""Cells of a Gantt chart of too many jobs: how much of each part of time and processors is held, and by what."""

from itertools import product

import numpy as np
import pandas as pd

MANY = 200_000  # jobs whose rectangles are in memory at a time
CELLS = (100, 50)  # along time, along processors


def cells_of(gantt, values: np.ndarray) -> pd.DataFrame:
    """Return a row for each cell of a Gantt chart that is held: its sides, its color and the share that is held.

    The color is the mean of what holds the cell if `values`, one of each job, are numbers, else the largest part.
    """
    (begin, end), (columns, rows) = gantt.window, gantt.cells
    numbers = values.dtype.kind in "iuf"
    # One layer each for: the sum of the numbers, what is held with a number, all that is held; or what each name holds.
    codes, names = (np.full(len(values), 2), ()) if numbers else pd.factorize(values)
    layers = np.zeros((3 if numbers else len(names), (columns + 2) * (rows + 2)))
    finite = np.isfinite(values) if numbers else None
    for first in range(0, gantt.drawn.size, MANY):
        row, bottom, top = gantt.rectangles(first, first + MANY)
        across = columns * (np.stack([gantt.start, gantt.until])[:, row] - begin) / (end - begin)
        up = rows * (np.stack([bottom, top]) - gantt.low) / (gantt.high - gantt.low)
        _add_corners(layers, rows, codes[row], across, up)
        if numbers:
            _add_corners(layers, rows, np.zeros(len(row), int), across, up, np.where(finite, values, 0.0)[row])
            _add_corners(layers, rows, np.ones(len(row), int), across, up, finite[row].astype(float))
    filled = layers.reshape(-1, columns + 2, rows + 2).cumsum(axis=1).cumsum(axis=2)[:, :columns, :rows]
    if numbers:
        total, with_number, held = filled
        # The mean over what is held; nan for cells in which no job has a number.
        mean = np.divide(total, with_number, where=with_number > 1e-9, out=np.full(held.shape, np.nan))
        colour = np.round(mean, 3)
    else:
        held = filled.sum(axis=0)
        colour = np.asarray(names)[filled.argmax(axis=0)]
    share = np.minimum(held.ravel(), 1)  # a log may hold more processors than the machine has
    column, row = np.divmod(np.arange(columns * rows), rows)
    edges = gantt.clock.values(np.linspace(begin, end, columns + 1))
    levels = np.linspace(gantt.low, gantt.high, rows + 1)
    sides = {"begin": edges[column], "end": edges[column + 1], "low": levels[row], "high": levels[row + 1]}
    return pd.DataFrame({**sides, "color": colour.ravel(), "held": np.round(share, 3)})[share > 0.0005]


def _add_corners(layers, rows, layer, across, up, weights=1.0):
    """Add rectangles to layers of cells, so that a cumulative sum along both axes gives the covered share of each cell.

    A side within cell i, at i + f, adds 1 - f to cell i and f to the next. The layers are modified in place, and are
    larger by two cells along each axis, than `rows` along processors. `layer` is that of each rectangle, `across` and
    `up` are its sides in cells, and `weights` what it adds to a cell that it covers.
    """
    for (i, x), (j, y) in product(enumerate(across), enumerate(up)):
        left, low = np.floor(x).astype("int64"), np.floor(y).astype("int64")
        right, high = x - left, y - low
        place = layer * layers.shape[1] + left * (rows + 2) + low
        signed = weights if i == j else -weights
        for step, part in (
            (0, (1 - right) * (1 - high)),
            (1, (1 - right) * high),
            (rows + 2, right * (1 - high)),
            (rows + 3, right * high),
        ):
            layers += np.bincount(place + step, signed * part, layers.size).reshape(layers.shape)
