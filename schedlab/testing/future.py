"""What a scheduler cannot know: later arrivals, how long jobs will run, and columns that are filled in afterwards."""

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from schedlab.schemes import Case, Outcome
from schedlab.workload.columns import WORDS

from .workloads import columns_of

# Columns that are known when a job is submitted; any other name must be declared.
KNOWN = frozenset(
    {
        *("job_number", "submit_time", "requested_procs", "requested_time", "requested_memory", "requested_nodes"),
        *("user", "user_id", "group", "group_id", "account", "project", "qos", "queue", "partition", "executable"),
        *("job_name", "preceding_job", "think_time", "dependency"),
    }
)
ARRIVALS, RUN_TIMES = "later arrivals", "run_time"
DROPPED, SOON, LATER = range(3)  # ways to change later arrivals


def unknown_columns(names: Collection[str], known: Collection[str]) -> list[str]:
    """Return the columns that are known only after a job has ended: neither in `KNOWN` nor declared as known."""
    return [name for name in names if not is_known(name, known)]


def is_known(name: str, known: Collection[str]) -> bool:
    """Tell whether a column is known when a job is submitted."""
    return name in KNOWN or name in known or WORDS.get(name) in KNOWN


def changed_at_random(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return other values of the kind and the size of these, whole or real numbers."""
    if values.dtype.kind == "f":
        largest = float(np.nanmax(np.abs(values), initial=1.0))
        return random.random(values.size) * 2 * largest
    largest = int(min(np.abs(values).max(initial=4), 2**50))
    other = random.integers(0, 2 * largest + 1, values.size)
    return np.where(other == values, other + 1, other)


def changes(case: Case, known: Collection[str]) -> list[str]:
    """Return what can be changed of the future of a case: arrivals, run times, and columns."""
    columns = unknown_columns([name for name in map(str, case.columns.table.columns) if name != RUN_TIMES], known)
    return [ARRIVALS, RUN_TIMES, *columns]


def changed(case: Case, outcome: Outcome, now: int, what: Collection[str], seed: int, extra: int = 0) -> Case:
    """Return a case that is the same up to an instant, as far as a scheduler can know, and changed afterwards.

    The instant is in seconds after the beginning of the case; what happens then is still the same. In the outcome each
    job is one piece. What to change is of `changes`; if arrivals are changed, `extra` more jobs arrive, and the seed
    also says in which way.
    """
    jobs, columns = case.jobs, {name: case.columns[name] for name in case.columns.table.columns}
    cut = case.cut
    known = int(np.searchsorted(jobs.submit, now, side="right"))
    ended = outcome.end <= now
    for name in what:
        random = np.random.default_rng([seed, len(name), len(case)])
        if name == RUN_TIMES:
            running = (outcome.start <= now) & ~ended
            least = np.where(running, now - outcome.start + 1, 0)
            most = np.maximum(np.maximum(jobs.estimate, jobs.run), least)
            run = np.where(ended, jobs.run, random.integers(least, most + 1))
            jobs = jobs._replace(run=run)
            columns[RUN_TIMES] = run
            cut = cut if cut is None else np.where(ended, cut, random.random(len(case)) < 0.5)
        elif name != ARRIVALS:
            columns[name] = np.where(ended, columns[name], changed_at_random(columns[name], random))
    case = replace(case, jobs=jobs, cut=cut, columns=columns_of(columns))
    return _with_other_arrivals(case, known, now, seed, extra) if ARRIVALS in what else case


def _with_other_arrivals(case, known, now, seed, extra):
    """Return a case with other jobs after the first ones: none, others that come sooner or later, and extra ones."""
    random, more = np.random.default_rng([seed, len(case)]), len(case) - known
    way = DROPPED if not extra and seed % 3 == 0 else SOON if seed % 3 == 1 else LATER
    if way == DROPPED:
        return case.first(known)
    # The later jobs in another order, then extra ones: jobs as there were, but short ones that do not pile up.
    places = np.concatenate([np.arange(known), known + random.permutation(more), random.integers(0, len(case), extra)])
    submit, run, estimate, procs = (column[places] for column in case.jobs)
    span = max(0, int(case.jobs.submit[-1]) - now)
    submit[known : known + more] = now + 1 + np.sort(random.integers(0, 2 * span + 2, more))
    submit[known + more :] = max(now, int(submit[: known + more].max())) + 1 + 3 * np.arange(extra)
    run[known + more :], estimate[known + more :] = 1, 2
    if way == SOON and more:
        submit[known] = now + 1
    columns = {name: case.columns[name] for name in case.columns.table.columns}
    own_place = np.arange(len(places))
    kept = np.where(own_place < len(case), own_place, places)  # users and the like stay
    first = columns["submit_time"][0] - case.jobs.submit[0]
    altered = {"submit_time": submit + first, "run_time": run, "requested_time": estimate, "requested_procs": procs}
    columns = {name: column[kept] for name, column in columns.items()}
    for name in altered.keys() & columns.keys():  # those of the first jobs stay: a column may differ from the case
        columns[name] = np.where(own_place < known, columns[name], altered[name])
    numbers = np.asarray(case.numbers)
    numbers = np.concatenate([numbers, numbers.max() + 1 + np.arange(extra)])
    cut = None if case.cut is None else case.cut[kept]
    jobs = type(case.jobs)(submit, run, estimate, procs)
    return replace(case, jobs=jobs, cut=cut, columns=columns_of(columns), numbers=pd.Index(numbers))


def instants(outcome: Outcome, most: int) -> Iterator[int]:
    """Return some instants at which jobs start, from the first to the last."""
    starts = np.unique(outcome.start)
    chosen = np.unique(np.linspace(0, len(starts) - 1, min(most, len(starts))).astype(int))
    yield from starts[chosen].tolist()
