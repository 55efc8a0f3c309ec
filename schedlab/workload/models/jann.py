"""The model of Jann et al. (1997): jobs in ranges of sizes, each with its own laws of arrivals and run times.

Each range is a renewal process of its own, starting at time 0. Its times between arrivals and its run times each follow
a hyper-Erlang law of common order, fitted to the first three moments of a log. The jobs of all ranges are merged by
time.

The authors' printed tables were not available. The package has two tables in their place: the same model fitted anew to
the log of the same machine and months (``"ctc"``), and the model fitted to another machine's log (``"kth"``). Both are
in the package's data, and `fit_jann` rebuilds them. `read_jann` reads any other table.

References
----------
J. Jann, P. Pattnaik, H. Franke, F. Wang, J. Skovira, J. Riordan: Modeling of workload in MPPs. Job Scheduling
Strategies for Parallel Processing 1997, LNCS 1291, 95-116.
"""

import csv
import io
import math
import operator
import os
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from schedlab._runtime import paths
from schedlab._runtime.files import opened
from schedlab._runtime.streams import Streams, entropy
from schedlab._runtime.text import check_known, plain, spelt, suggestion

from ..fields import MOST_PROCS, clipped
from .common import EXACT, at_least_one, job_numbers, whole_seconds
from .hyper_erlang import HyperErlang

# The authors' ranges of sizes: the smallest and the largest of each.
RANGES = ((1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, 128), (129, 256), (257, 322))
SIZES = ("uniform", "upper", "weighted")

_KEPT = {"ctc": "CTC", "kth": "KTH, not Jann's numbers"}
_LAWS = ("arrival", "service")
_FIELDS = ("order", "lambda1", "lambda2", "p")
_COLUMNS = ("smallest", "largest", *(f"{law}_{field}" for law in _LAWS for field in _FIELDS))
_LARGEST_SHARE = {(3, 4): 0.68, (5, 8): 0.54, (9, 16): 0.36}  # measured at KTH


@dataclass(frozen=True)
class JannRange:
    """Hold one range of job sizes: smallest and largest, and the laws of times between arrivals and of run times."""

    smallest: int
    largest: int
    arrival: HyperErlang
    service: HyperErlang

    def __post_init__(self) -> None:
        at_least_one("smallest", self.smallest)
        if not self.smallest <= operator.index(self.largest):
            raise ValueError(f"largest must be at least smallest, {self.smallest}, got {self.largest}")

    @property
    def label(self) -> str:
        """The range as tables print it: 1, or 3-4."""
        return _label(self.smallest, self.largest)


@dataclass(frozen=True, repr=False)
class JannTable:
    """Hold the parameters of the model, range by range.

    Parameters
    ----------
    name : str
        Whose numbers they are, without control characters; a trace's title quotes it.
    ranges : tuple of JannRange
        By size, not overlapping, at least one.

    Examples
    --------
    >>> import schedlab as sl
    >>> from schedlab.workload.models.jann import jann_table
    >>> table = jann_table("ctc")
    >>> table.procs, table.on_machine(64).frame().index.tolist()
    (322, ['1', '2', '3-4', '5-8', '9-16', '17-32', '33-64'])
    >>> faster = sl.model_trace("jann", jobs=1000, seed=1, table=table.scale_arrivals(2))
    >>> round(table.gap / table.scale_arrivals(2).gap, 6)
    2.0
    """

    name: str
    ranges: tuple[JannRange, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", plain(self.name))
        if not self.ranges:
            raise ValueError("a table needs at least one range")
        for before, after in zip(self.ranges, self.ranges[1:], strict=False):
            if after.smallest <= before.largest:
                raise ValueError(f"ranges must go up and not overlap, got {after.label} after {before.label}")

    def __repr__(self) -> str:
        return f"<JannTable {self.name}: {len(self.ranges)} ranges, sizes up to {self.procs}>"

    @property
    def procs(self) -> int:
        """The largest size."""
        return self.ranges[-1].largest

    @property
    def gap(self) -> float:
        """Mean time between arrivals over all ranges, in seconds."""
        return 1 / sum(1 / span.arrival.mean for span in self.ranges)

    def frame(self) -> pd.DataFrame:
        """Return the table as columns: one row a range, int64 sizes and orders, float64 rates per second."""
        rows = [(span.smallest, span.largest, *astuple(span.arrival), *astuple(span.service)) for span in self.ranges]
        labels = pd.Index([span.label for span in self.ranges], name="range")
        return pd.DataFrame(rows, columns=list(_COLUMNS), index=labels)

    def on_machine(self, procs: int) -> "JannTable":
        """Leave out the ranges beyond the machine's size, and cut the range that contains this size.

        Parameters
        ----------
        procs : int
            Processors of the machine; it is an error if no range fits.
        """
        procs = at_least_one("procs", procs)
        fitting = (span for span in self.ranges if span.smallest <= procs)
        cut = tuple(replace(span, largest=min(span.largest, procs)) for span in fitting)
        if not cut:
            least = self.ranges[0].smallest
            raise ValueError(f"no range of {self.name} fits on {procs} processors; the least size is {least}")
        return replace(self, ranges=cut)

    def scale_arrivals(self, factor: float) -> "JannTable":
        """Multiply all arrival rates by a factor.

        Parameters
        ----------
        factor : float
            Above 0; 2 halves the mean time between submissions.
        """
        if not 0 < factor < math.inf:
            raise ValueError(f"factor must be greater than 0, got {factor}")
        ranges = []
        for span in self.ranges:
            law = span.arrival
            faster = replace(law, lambda1=law.lambda1 * factor, lambda2=law.lambda2 * factor)
            ranges.append(replace(span, arrival=faster))
        return replace(self, ranges=tuple(ranges))

    def to_csv(self, path: str | os.PathLike) -> None:
        """Write the table with all digits, in the form that `read_jann` reads.

        Parameters
        ----------
        path : path
            The file to write.
        """
        self.frame().to_csv(path, index=False, lineterminator="\n")


def jann(
    jobs: int = 10_000,
    machine: int | None = None,
    seed: int | np.random.Generator = 0,
    table: "str | os.PathLike | JannTable" = "ctc",
    sizes: str = "uniform",
) -> pd.DataFrame:
    """Generate rigid jobs with the model of Jann et al.: one row a job, sorted by submit time; all int64.

    `machine` is the largest size of the table by default; wider ranges are left out (`JannTable.on_machine`). The same
    seed gives the same jobs, and with more jobs the first ones are the same.

    `sizes` says how a size is drawn within its range; as far as is known, the authors' paper does not say. "uniform":
    all are equally likely. "upper": always the largest. "weighted": the largest with the probability measured on the
    KTH log (0.68 for 3-4, 0.54 for 5-8 and 0.36 for 9-16), the others equally likely; other ranges as with "uniform".

    Columns: ``submit_time``, seconds since the start of all ranges, rounded down; ``run_time``, seconds, rounded to
    nearest, at least 1; ``requested_procs``. Index: `job_number`, from 1.
    """
    jobs = at_least_one("jobs", jobs)
    check_known("sizes", sizes, SIZES)
    table = jann_table(table)
    ranges = table.on_machine(table.procs if machine is None else machine).ranges
    seed = entropy(seed)
    streams = [Streams(seed, i) for i in range(len(ranges))]

    arrival, range_of = _arrivals(ranges, streams, jobs)
    size = np.empty(jobs, np.int64)
    run_time = np.empty(jobs, np.int64)
    for i, span in enumerate(ranges):
        mine = range_of == i
        count = int(mine.sum())
        size[mine] = _sizes(span, count, streams[i], sizes)
        run_time[mine] = whole_seconds(np.maximum(1, np.rint(span.service.draw(count, streams[i]("service")))))
    columns = {"submit_time": whole_seconds(np.floor(arrival)), "run_time": run_time, "requested_procs": size}
    return pd.DataFrame(columns, index=job_numbers(jobs))


def jann_table(which: "str | os.PathLike | JannTable") -> JannTable:
    """Return a table of the model's parameters: a kept one by its name, that of a file (`read_jann`), or the given one.

    "ctc" is the model fitted to the jobs of the CTC SP2 that ended before 12 September 1996, the authors' machine and
    months. "kth", not the authors' numbers, is fitted to the log of KTH's SP2, with arrivals 2.6 times as fast to match
    the authors' rate of one job every 396.3 s; its sizes go up to 128.
    """
    if isinstance(which, JannTable):
        return which
    if isinstance(which, str) and which in _KEPT:
        return read_jann(paths.data_dir() / f"jann-{which}.csv", name=_KEPT[which])
    if not isinstance(which, os.PathLike) and not (isinstance(which, str) and which.endswith(".csv")):
        known = f"{', '.join(_KEPT)}, the path of a .csv file, a JannTable{suggestion(which, _KEPT)}"
        raise ValueError(f"unknown table {which!r}; known: {known}")
    return read_jann(which)


def read_jann(path: str | os.PathLike, name: str | None = None) -> JannTable:
    """Read a table of the model's parameters, such as the authors' own, typed in.

    Parameters
    ----------
    path : path
        A CSV file: the header ``smallest,largest,arrival_order,arrival_lambda1,arrival_lambda2,arrival_p,
        service_order,service_lambda1,service_lambda2,service_p`` in one line, then a line for each range; rates
        per second.
    name : str, optional
        Name of the table; by default that of the file.

    Raises
    ------
    ValueError
        With file, line, field, value and what was expected.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import schedlab as sl
    >>> from schedlab.workload.models.jann import jann_table
    >>> with TemporaryDirectory() as folder:
    ...     jann_table("kth").to_csv(Path(folder, "mine.csv"))
    ...     table = sl.workload.read_jann(Path(folder, "mine.csv"))
    >>> table.name, len(table.ranges)
    ('mine', 8)
    """
    path = Path(path)
    file = plain(path.name)
    ranges = []
    reader = csv.reader(io.StringIO(_text(path, file), newline=""))
    try:
        header = next(reader, [])
        if tuple(header) != _COLUMNS:
            line = clipped(",".join(header), 200)
            raise ValueError(f"{file}:1: the header is {spelt(line)}, expected {','.join(_COLUMNS)!r}")
        for row in reader:
            where = f"{file}:{reader.line_num}"
            if len(row) != len(_COLUMNS):
                raise ValueError(f"{where}: {len(row)} fields, expected {len(_COLUMNS)}")
            values = [_number(where, field, text) for field, text in enumerate(row)]
            if values[1] < values[0]:
                raise ValueError(f"{where}: field 2 (largest) is {values[1]}, expected at least smallest, {values[0]}")
            if ranges and values[0] <= ranges[-1].largest:
                expected = f"more than {ranges[-1].largest}, where the range before ends"
                raise ValueError(f"{where}: field 1 (smallest) is {values[0]}, expected {expected}")
            ranges.append(JannRange(*values[:2], HyperErlang(*values[2:6]), HyperErlang(*values[6:])))
    except csv.Error as error:
        raise ValueError(f"{file}:{reader.line_num}: {error}, expected numbers with commas between") from None
    if not ranges:
        raise ValueError(f"{file}: no range, expected at least one line after the header")
    return JannTable(path.stem if name is None else name, tuple(ranges))


def fit_jann(trace, ranges: tuple[tuple[int, int], ...] | None = None, name: str | None = None) -> JannTable:
    """Fit the model of Jann et al. (1997) to a log: laws with the first three moments of its gaps and run times.

    Parameters
    ----------
    trace : Trace, or DataFrame with its columns
        The log, in the order of its submit times.
    ranges : tuple of (int, int), optional
        Smallest and largest size of each range. By default 1, 2, 3-4, 5-8 and so on up to the machine's size. Ranges
        without jobs are left out.
    name : str, optional
        Name of the table; by default it says what it was fitted to.

    Raises
    ------
    ValueError
        If a range has too few jobs, or too regular ones, to fit its three moments; if a job falls into no range.

    Examples
    --------
    >>> from schedlab.workload.models.jann import fit_jann, jann
    >>> fit_jann(jann(5000, machine=8, seed=1), name="again")
    <JannTable again: 4 ranges, sizes up to 8>
    """
    table = getattr(trace, "jobs", trace)
    size = table["requested_procs"].to_numpy()
    if not size.size:
        raise ValueError("the log has no jobs to fit to")
    ranges = _powers_of_two(getattr(trace, "procs", int(size.max()))) if ranges is None else tuple(ranges)
    inside = np.zeros(size.size, bool)
    fitted = []
    for smallest, largest in ranges:
        mine = (size >= smallest) & (size <= largest)
        inside |= mine
        if mine.any():
            jobs = table[mine]
            fitted.append(JannRange(int(smallest), int(largest), *_fitted_laws(jobs, _label(smallest, largest))))
    if not inside.all():
        missed = size[~inside]
        first = f"the first with {missed[0]} processors"
        raise ValueError(f"{missed.size} jobs fall into no range, {first}; give other ranges=")
    return JannTable(f"fitted to {getattr(trace, 'name', 'a table')}" if name is None else name, tuple(fitted))


def _arrivals(ranges, streams, jobs):
    """Draw the first arrivals of all ranges together: seconds, float64, shape (jobs,), and each one's range."""
    share = np.array([1 / span.arrival.mean for span in ranges])
    counts = np.ceil(1.2 * jobs * share / share.sum()).astype(np.int64) + 20
    while True:
        clocks = [
            np.cumsum(span.arrival.draw(count, stream("gap")))
            for span, count, stream in zip(ranges, counts, streams, strict=True)
        ]
        arrival = np.concatenate(clocks)
        first = np.argsort(arrival, kind="stable")[:jobs]
        # None is missed once every range has been drawn beyond the last of them.
        if first.size == jobs and arrival[first[-1]] <= min(clock[-1] for clock in clocks):
            return arrival[first], np.repeat(np.arange(len(ranges)), counts)[first]
        counts *= 2


def _sizes(span, count, streams, rule):
    """Draw sizes within a range, int64, shape (count,)."""
    if rule == "upper":
        return np.full(count, span.largest)
    place = streams("size").random(count)
    uniform = span.smallest + (place * (span.largest - span.smallest + 1)).astype(np.int64)
    share = _LARGEST_SHARE.get((span.smallest, span.largest))
    if rule == "uniform" or share is None:
        return uniform
    others = span.smallest + (place * (span.largest - span.smallest)).astype(np.int64)
    return np.where(streams("size largest").random(count) < share, span.largest, others)


def _fitted_laws(jobs, label):
    """Return the laws of a range's times between arrivals and of its run times."""
    submit = jobs["submit_time"].to_numpy(np.float64)
    samples = {"times between arrivals": np.diff(submit), "run times": jobs["run_time"].to_numpy(np.float64)}
    laws = []
    for what, values in samples.items():
        try:
            laws.append(HyperErlang.from_moments(*_moments(values)))
        except ValueError as error:
            advice = "give ranges= that join it with its neighbour"
            raise ValueError(f"{what} of range {label} ({len(jobs)} jobs): {error}; {advice}") from None
    return laws


def _moments(values):
    """Return three raw moments. Their sums are rounded once, so that every machine gets the same bits."""
    if not values.size:
        raise ValueError("no value")
    squares = values * values
    return tuple(math.fsum(powers) / values.size for powers in (values, squares, squares * values))


def _powers_of_two(procs):
    powers = [2**power for power in range((procs - 1).bit_length() + 1)]
    return tuple((power // 2 + 1, min(power, procs)) for power in powers)


def _label(smallest, largest):
    return f"{smallest}" if smallest == largest else f"{smallest}-{largest}"


def _text(path, file):
    opened(path)
    content = path.read_bytes()
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{file}:{line}: byte {content[error.start]:#x} is not UTF-8, expected UTF-8 text") from None


def _number(where, field, text):
    column = _COLUMNS[field]
    whole = column in ("smallest", "largest") or column.endswith("order")
    least, most = (1, MOST_PROCS) if whole else (1 / EXACT, EXACT)
    expected = f"a whole number from 1 to {most:,}" if whole else "a number greater than 0, from 2^-53 to 2^53"
    if column.endswith("_p"):
        expected = "a probability, 0 to 1"
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        value = math.nan
    fits = 0 <= value <= 1 if column.endswith("_p") else least <= value <= most
    if not fits:
        raise ValueError(f"{where}: field {field + 1} ({column}) is {spelt(clipped(text))}, expected {expected}")
    return value
