"""The results of checks: a `Report`, which displays itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from schedlab import show
from schedlab.schedule import Schedule


class CheckError(AssertionError):
    """A check of `schedlab.testing` failed; the message says which, and shows an example."""

    @property
    def report(self) -> "Report":
        """The results of all checks."""
        return self.args[0]


@dataclass(frozen=True)
class Check:
    """One check and its result.

    Attributes
    ----------
    name : str
        What must hold.
    passed : bool
    found : str
        What was found: a counterexample if the check failed.
    schedules : mapping of str to Schedule
        Schedules that show it, by name; `chart` draws them below one another.

    Examples
    --------
    >>> import schedlab as sl
    >>> report = sl.testing.check_scheme("fcfs", like="easy", effort=0.1, raises=False)
    >>> check = report.failed[0]
    >>> check.name
    'starts every job when EASY does'
    >>> chart = check.chart()
    """

    name: str
    passed: bool
    found: str = ""
    schedules: Mapping[str, Schedule] = field(default_factory=dict)

    def chart(self):
        """Draw the schedules that show what was found.

        Returns
        -------
        altair chart or None
            None if there is nothing to draw.
        """
        if not self.schedules:
            return None
        from schedlab.charts import gantts  # here, since Altair is slow to load

        try:
            return gantts(self.schedules, color="job_number", label="job_number", title=self.name)
        except ValueError:  # from a schedule that holds more processors than the machine has
            return None


@dataclass(frozen=True, repr=False)
class Report:
    """The results of all checks. It displays itself.

    Attributes
    ----------
    subject : str
        What was checked.
    checks : tuple of Check
    notes : tuple of str
        What is no error but worth knowing.
    covered : str
        What the workloads contained.

    Examples
    --------
    >>> import schedlab as sl
    >>> report = sl.testing.check_scheme("fcfs", like="easy", effort=0.1, raises=False)
    >>> report.passed
    False
    >>> report.table["passed"].tolist()
    [True, True, True, True, True, True, True, False]
    """

    subject: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    covered: str = ""

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return not self.failed

    @property
    def table(self) -> pd.DataFrame:
        """One row per check: check, passed, found."""
        return pd.DataFrame(
            [(check.name, check.passed, check.found) for check in self.checks], columns=["check", "passed", "found"]
        )

    def __repr__(self) -> str:
        lines = [f"{self.subject}: {self._summary()}"]
        for check in self.checks:
            lines += [f"{'passed' if check.passed else 'FAILED'}: {check.name}", *_indented(check.found)]
        for note in self.notes:
            first, *more = note.split("\n")
            lines += [f"note: {first}", *_indented("\n".join(more))]
        return "\n".join([*lines, *filter(None, [self.covered and f"covered: {self.covered}"])])

    def _repr_html_(self) -> str:
        from schedlab.charts.files import within  # here, since Altair is slow to load

        parts = [show.line(self._summary(), strong=self.subject)]
        for check in self.checks:
            lines = [f"{'✓' if check.passed else '✗'} {check.name}", *filter(None, check.found.split("\n"))]
            parts.append((show.line if check.passed else show.note)(lines[0]))
            parts += [show.line(lines[1], faint=True)] if len(lines) > 1 else []
            parts += [show.text("\n".join(lines[2:]))] if len(lines) > 2 else []
            parts += [within(chart, check.name)] if (chart := check.chart()) else []
        for note in self.notes:
            first, *more = note.split("\n")
            parts += [show.note(f"Note: {first}"), *([show.text("\n".join(more))] if more else [])]
        parts += [show.line(f"covered: {self.covered}", faint=True)] if self.covered else []
        return show.page(*parts)

    def _summary(self):
        if self.passed:
            return f"all {len(self.checks)} checks passed"
        return f"{len(self.failed)} of {len(self.checks)} checks failed"


def _indented(text):
    return [f"    {line}" for line in text.split("\n") if line]
