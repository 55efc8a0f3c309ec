"""Progress of a grid and its remaining time: in a notebook, a terminal, or as lines in a log file."""

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Real
from threading import Event, Thread

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

SILENT = 1.0  # seconds; a shorter grid prints nothing
LINES = (60, 600)  # seconds between two lines in a log file: at first, at most
RENEWED = 0.3  # seconds between two estimates of the remaining time
ROUNDS = 8  # iterations of the fit: each effect belongs to one column, and columns are nearly independent in a product
DOUBT = 0.1  # how many runs the prior counts for: each value is first assumed to cost what all others do
LITTLE = np.log(1.5)  # a number that changes the cost by less than this hardly matters
TREND = 3  # numbers needed to see a trend
BAR = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}, {left}]"


class Costs:
    """Predicts the cost of runs from those that are done.

    The model: the logarithm of a run's seconds is a sum of one common term and one term per value. A new number gets
    the cost of its neighbours; beyond the known numbers, their trend continues.

    Parameters
    ----------
    names : sequence of mapping
        The values of each run, as they appear in the table.
    """

    def __init__(self, names: Sequence[Mapping]):
        table = pd.DataFrame(list(names))
        self.columns, self.codes, self.levels = [], [], []
        for name in table:
            codes, levels = pd.factorize(table[name].map(str) if table[name].dtype == object else table[name])
            if len(levels) > 1:
                self.columns.append(name)
                self.codes.append(np.where(codes < 0, len(levels), codes))  # a missing value counts as a value, too
                self.levels.append([*levels, None])
        self.seconds = np.full(len(table), np.nan)

    def learn(self, place: int, seconds: float) -> None:
        """Record how long a run took."""
        self.seconds[place] = max(seconds, 1e-6)

    def expected(self, places: Sequence[int]) -> tuple[np.ndarray, str]:
        """Predict how long runs will take.

        Returns
        -------
        seconds : array of float64
        unknown : str
            A value that many of them have but no finished run has, such as "scheme=EASY"; or two names that matter but
            no finished run has together, such as "log=KTH-SP2, scheme=EASY". Empty if there are none.
        """
        places, done = np.asarray(places, int), ~np.isnan(self.seconds)
        if not done.any():
            return np.full(len(places), np.nan), ""
        logs = np.log(self.seconds[done])
        mean = logs.mean()
        rest = logs - mean
        effects = [np.zeros(len(levels)) for levels in self.levels]
        counts = [np.bincount(codes[done], minlength=len(effect)) for codes, effect in self._with(effects)]
        for _ in range(ROUNDS):
            for (codes, effect), count in zip(self._with(effects), counts, strict=True):
                rest += effect[codes[done]]
                effect[:] = np.bincount(codes[done], rest, len(effect)) / (count + DOUBT)
                rest -= effect[codes[done]]
        unknown, most = "", 0
        for column, (codes, effect) in enumerate(self._with(effects)):
            known = counts[column] > 0
            doubtful = ~known & ~_fill(self.levels[column], effect, known)
            asked = np.where(doubtful, np.bincount(codes[places], minlength=len(effect)), 0)
            if asked.max() > most:
                most, unknown = asked.max(), f"{self.columns[column]}={self.levels[column][asked.argmax()]}"
        unknown = unknown or self._pair(places, done, effects, counts)
        total = mean + sum(effect[codes[places]] for codes, effect in self._with(effects))
        return np.exp(total + rest.var() / 2), unknown  # the mean of a lognormal distribution

    def _pair(self, places, done, effects, counts):
        """Name two values, of the two columns that matter most, that coming runs combine and no run so far did."""
        spans = [
            0.0 if _numbers(levels[:-1]).all() else np.ptp(effect[count > 0])
            for levels, effect, count in zip(self.levels, effects, counts, strict=True)
        ]
        two = [column for column in np.argsort(spans)[::-1][:2] if spans[column] > LITTLE]
        if len(two) < 2:
            return ""
        pairs = np.stack([self.codes[column] for column in two], axis=1)
        had, ahead = set(map(tuple, pairs[done])), Counter(map(tuple, pairs[places]))
        new = {
            pair: count
            for pair, count in ahead.items()
            if pair not in had and all(counts[column][code] for column, code in zip(two, pair, strict=True))
        }
        if not new:
            return ""
        most = max(new, key=new.get)
        return ", ".join(f"{self.columns[i]}={self.levels[i][code]}" for i, code in sorted(zip(two, most, strict=True)))

    def _with(self, effects):
        return zip(self.codes, effects, strict=True)


def _fill(levels, effect, known):
    """Set the effect of new numbers from their neighbours; tell for which of them this is reliable.

    It is reliable within the known range, and beyond it if the number seems to matter little, as a seed does.
    """
    numbers = _numbers(levels)
    seen, new = np.flatnonzero(numbers & known), np.flatnonzero(numbers & ~known)
    sure = np.zeros(len(levels), bool)
    if seen.size and new.size:
        at = np.array([float(one) if is_number else 1.0 for one, is_number in zip(levels, numbers, strict=True)])
        at = np.log(at) if (at > 0).all() else at
        seen = seen[np.argsort(at[seen])]
        first, last = at[seen[[0, -1]]]
        effect[new] = np.interp(at[new], at[seen], effect[seen])
        if seen.size >= TREND:  # it continues at most as far again as the known range
            slope, _ = np.polyfit(at[seen], effect[seen], 1)
            effect[new] += slope * np.clip(at[new] - np.clip(at[new], first, last), first - last, last - first)
        within = (at[new] > first) & (at[new] < last)
        sure[new] = within | (seen.size > 1 and np.ptp(effect[seen]) < LITTLE)
    return sure


def _numbers(levels):
    return np.array([isinstance(one, Real) and not isinstance(one, bool) for one in levels], bool)


class Progress:
    """The progress bar of a grid; if standard error is a file, lines instead.

    Parameters
    ----------
    names : sequence of mapping
        The values of all runs, as they appear in the table.
    places : sequence of int
        Positions of the runs to make.
    known : mapping
        Results from elsewhere, by position.
    words : str
        The label.
    shown : bool
    workers : int
        How many run at a time.
    """

    def __init__(
        self,
        names: Sequence[Mapping],
        places: Sequence[int],
        known: Mapping,
        words: str,
        shown: bool,
        workers: int,
    ):
        self.words, self.total, self.workers = words, len(places), max(workers, 1)
        self.left_places, self.costs = dict.fromkeys(places), Costs(names) if shown and sys.stderr is not None else None
        self.done = self.failed = 0
        self.spent, self.begin = 0.0, time.monotonic()
        self.estimated, self.until, self.unknown = -RENEWED, None, ""
        self.bar = None
        if self.costs is not None:
            for place, result in known.items():
                self.costs.learn(place, result.seconds)
            self.in_lines = not getattr(sys.stderr, "isatty", bool)() and "ipykernel" not in sys.modules
            self.over = Event()

    def __enter__(self):
        if self.costs is not None:
            if self.in_lines:
                self.lines = Thread(target=self._lines, daemon=True)
                self.lines.start()
            else:
                self.bar = _Bar(self, total=self.total, desc=self.words, unit="run", delay=SILENT, leave=False)
        return self

    def __exit__(self, *_):
        if self.bar is not None:
            self.bar.close()
        elif self.costs is not None:
            self.over.set()
            self.lines.join()

    def update(self, place: int, result) -> None:
        """Record that a run is done.

        Parameters
        ----------
        place : int
        result : schedlab.experiment.results.Result
        """
        self.done += 1
        if self.costs is None:
            return
        self.failed += result.failed
        self.spent += result.seconds
        self.costs.learn(place, result.seconds)
        self.left_places.pop(place, None)
        if (now := time.monotonic()) - self.estimated >= RENEWED:
            self._estimate(now)
        if self.bar is not None:
            self.bar.update()

    def _estimate(self, now):
        self.estimated = now
        if not self.left_places:
            self.until, self.unknown = now, ""
            return
        seconds, self.unknown = self.costs.expected(list(self.left_places))
        # Work done per second: less than the number of workers if they wait for one another.
        speed = min(max(self.spent / max(now - self.begin, 1e-6), 0.1), self.workers)
        self.until = now + max(seconds.sum() / speed, seconds.max())

    def remaining(self) -> str:
        """Say how long the rest will take, and how certain that is."""
        if self.until is None:
            return "time left unknown"
        words = f"{span(max(self.until - time.monotonic(), 0))} left"
        if self.unknown:
            words = f"perhaps {words} ({self.unknown} not measured yet)"
        return f"{words}, {self.failed} failed" if self.failed else words

    def _lines(self):
        """Write a line from time to time, less and less often; a last one at the end, unless the grid was quick."""
        pause, said = SILENT, False
        while not self.over.wait(pause):
            pause, said = (min(2 * pause, LINES[1]) if said else LINES[0]), True
            self._say(self.remaining())
        took = time.monotonic() - self.begin
        if said or took > SILENT:
            self._say(f"after {span(took)}" + (f", {self.failed} failed" if self.failed else ""))

    def _say(self, words):
        print(
            f"{time.strftime('%X')} {self.words}: {self.done:,} of {self.total:,}, {words}", file=sys.stderr, flush=True
        )


class _Bar(tqdm):
    """A progress bar with the remaining time of a grid; it counts down even when nothing else happens."""

    def __init__(self, progress, **settings):
        self.progress = progress
        super().__init__(bar_format=BAR, **settings)

    @property
    def format_dict(self):
        return super().format_dict | {"left": self.progress.remaining()}


def span(seconds: float) -> str:
    """Write a length of time in words.

    Examples
    --------
    >>> span(8.2), span(100), span(4000), span(200_000)
    ('8 s', '2 min', '1.1 h', '2.3 days')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 86_400 else f"{seconds / 86_400:.1f} days"
