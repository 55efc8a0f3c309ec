"""Stand-ins: look-alikes of the archive's logs, generated from small tables of fitted figures.

`fit` summarizes a log in a table, which is kept in ``data/standins``; `generate` makes as many records from it as the
log has. Two features of a log matter most to a scheduler: the load rises and falls over hours and weeks, and users
submit the same job again and again. So the table keeps

* *the series*: the log is cut into blocks of equal numbers of jobs. For each block the table keeps the number of jobs
  in each *stratum*, a class of run time and width, and the block's work, but not the order inside it. For the times,
  the log is cut into *spells*, the shortest runs of whole hours with as many jobs as a block. The table keeps the hours
  and the jobs of each;
* *repeats*: how far back, among the jobs of its stratum, is the last job equal to a job in user, size and estimate. If
  there is none, the job is the first of its *kind*. A generated job copies the job that far back, as in Simon's
  process. As often as in the log, it also copies the run time, or nearly;
* *kinds*: sizes with estimates; popular pairs are exact and rare ones rounded. *Run times*: quantiles of their ratio to
  the estimate, by classes of run time, estimate and width, and quantiles of the time by which jobs overrun the
  estimate. *Gaps*: quantiles of the time between submissions, separately for jobs of one user and of different users,
  on a clock that runs faster in the busy hours of the week;
* *users*: how many jobs each had, rounded and sorted; over how long a part of the log; and how far back the previous
  job of a user is when that user submits something new.

Kinds, run times and users are distributed evenly over the families of jobs that copying makes. With random draws, a few
large families would determine what most jobs are like. Finally, the run times of a block are shifted until its work is
about as in the log. If a log's submit times are start times (it has no wait times), jobs are delayed until they fit.

The table holds only counts, means and rounded numbers of several jobs. Fitting and generating are integer arithmetic on
the raw output of PCG64, which NumPy guarantees, so every machine builds the same table and the same records.

References
----------
D. G. Feitelson, "Workload Modeling for Computer Systems Performance Evaluation", Cambridge University Press, 2015:
locality of sampling and user-based models.
D. Tsafrir, Y. Etsion, D. G. Feitelson, "Modeling user runtime estimates", JSSPP 2005, LNCS 3834: popular values.
H. A. Simon, "On a class of skew distribution functions", Biometrika 42, 1955, pp. 425-440.
"""

import gzip
import json
from pathlib import Path

import pandas as pd

from .. import archive, swf
from .fitting import fit
from .generating import SEED, generate

__all__ = ["SEED", "fit", "generate", "load", "look_alike", "names", "save", "text_of"]


def names() -> list[str]:
    """List the logs that have a stand-in, by official name."""
    return [name for name in archive.catalogue().index if archive.standin_table(name).is_file()]


def look_alike(name: str, seed: int = SEED) -> swf.Log:
    """Generate the look-alike of a log (`archive.resolve`); raise TraceNotFound if there is no stand-in for it."""
    name = archive.resolve(name)
    path = archive.standin_table(name)
    if not path.is_file():
        raise archive.TraceNotFound(f"{name} has no stand-in; there are stand-ins for {', '.join(names()) or 'no log'}")
    header, records = generate(load(path), seed)
    return swf.Log(header, records, skipped=pd.DataFrame(), sha256="", path=path)


def load(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def save(table: dict, path: Path) -> None:
    """Write a table, without a time stamp."""
    path.write_bytes(gzip.compress(text_of(table), 9, mtime=0))


def text_of(table: dict) -> bytes:
    """Return the text of a table: JSON, one entry per line."""
    lines = (f'"{key}":{json.dumps(value, separators=(",", ":"))}' for key, value in table.items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
