"""What other simulators make of the probes: their results, as a table and as a picture."""

import numpy as np
import pandas as pd

from .judging import fault, verdict_of
from .suite import KINDS, folder, probe


def others() -> pd.DataFrame:
    """Return the results of other simulators on the logs.

    Returns
    -------
    DataFrame
        One row per simulator and probe: simulator, version, its scheme, probe, title, convention (or what is wrong, if
        no convention is followed), follows (whether it follows the scheme that the probe tests).

    Examples
    --------
    >>> import schedlab as sl
    >>> table = sl.conformance.others()
    >>> table.loc[table["probe"] == 17, ["simulator", "follows"]].values.tolist()
    [['predictsim', True], ['CQSim', False]]
    """
    rows = []
    for run in pd.read_csv(folder() / "others.csv", dtype=str).itertuples():
        about = probe(int(run.probe))
        verdict = verdict_of(about, dict(enumerate(map(int, run.starts.split()), start=1)))
        convention = verdict[5] or f"none: {fault(about, verdict[3])}"
        rows.append((run.simulator, run.version, run.scheme, *verdict[:1], *verdict[2:3], convention, verdict[4]))
    return pd.DataFrame(rows, columns=["simulator", "version", "scheme", "probe", "title", "convention", "follows"])


def picture():
    """Draw which of the other simulators follow the scheme that each probe tests: a mark for each row of `others`.

    The tooltip names the convention that the simulator follows, or what is wrong.

    Returns
    -------
    altair chart

    Examples
    --------
    >>> import schedlab as sl
    >>> chart = sl.conformance.picture()
    """
    from schedlab.charts import marks  # here, since Altair is slow to load

    meanings = same, other, wrong = "the scheme, as in schedlab", "the scheme, by another convention", "not the scheme"
    rows = others()
    tested = [probe(number) for number in rows["probe"]]
    first = rows["convention"] == [test.answers[0].convention for test in tested]
    rows["mark"] = np.where(rows["follows"], np.where(first, same, other), wrong)
    rows["tested"] = [f"{test.scheme}, probe {test.number}: {test.title}" for test in tested]
    rows["kind"] = [KINDS.index(test.scheme) for test in tested]
    return marks(
        rows.sort_values(["kind", "probe"], kind="stable"),
        "simulator",
        "tested",
        "mark",
        meanings,
        details=["version", "scheme", "convention"],
        step=96,
        title=f"{rows['follows'].sum()} of {len(rows)} schedules of other simulators are of the scheme that they name",
    )
