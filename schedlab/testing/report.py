"""What came of checks: a `Report`, which shows itself."""

from dataclasses import dataclass

import pandas as pd

from schedlab import display


class CheckError(AssertionError):
    """A check of `schedlab.testing` has failed; the message says which, and shows an example."""


@dataclass(frozen=True)
class Check:
    """One check, and what came of it.

    Attributes
    ----------
    name : str
        What must hold.
    passed : bool
    found : str
        What was found: an example where it does not hold.
    """

    name: str
    passed: bool
    found: str = ""


@dataclass(frozen=True, repr=False)
class Report:
    """What came of all checks. It shows itself.

    Attributes
    ----------
    subject : str
        What was checked.
    checks : tuple of Check
    """

    subject: str
    checks: tuple[Check, ...]

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
        """One row a check: check, passed, found."""
        return pd.DataFrame(
            [(check.name, check.passed, check.found) for check in self.checks], columns=["check", "passed", "found"]
        )

    def __repr__(self) -> str:
        lines = [f"{'passed' if check.passed else 'FAILED'}: {check.name}" for check in self.checks]
        said = ["\n".join(f"    {line}" for line in check.found.split("\n") if line) for check in self.checks]
        return "\n".join(
            [
                f"{self.subject}: {self._summary()}",
                *(each for pair in zip(lines, said, strict=True) for each in pair if each),
            ]
        )

    def _repr_html_(self) -> str:
        parts = [display.line(self._summary(), strong=self.subject)]
        for check in self.checks:
            words = [f"{'✓' if check.passed else '✗'} {check.name}", *filter(None, check.found.split("\n"))]
            parts.append((display.line if check.passed else display.note)(words[0]))
            parts += [display.line(line, faint=True) for line in words[1:]]
        return display.page(*parts)

    def _summary(self):
        if self.passed:
            return f"all {len(self.checks)} checks passed"
        return f"{len(self.failed)} of {len(self.checks)} checks failed"
