"""Search for small workloads that tell the schedulers of `mutants` apart, and say what these make of the probes.

`python -m find_probes EASY` (in this folder) starts with the probes that exist, draws random workloads, and takes one
after another that tells most of the remaining pairs apart for its size, until nothing more is found. It prints each
with the schedules that follow. Workloads have no two events at one instant under any right convention, so a right
scheduler has one schedule (of conservative backfilling, one for each kind), however it orders the events. With the word
"ties" it looks for workloads that tell these orders apart instead. `python -m find_probes mistakes` writes what the
mutants make of all probes into `data/conformance/mistakes.csv`.
"""

import json
import sys
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from mutants import MUTANTS, RIGHT, SHOWN_BY_TIES, ByHand, has_ties, starts_of

from schedlab import conformance
from schedlab.schedule.simulation import simulate

LONG = 100  # jobs


def jobs_of(probe):
    """Return the jobs of a probe of the suite as (submit, run, estimate, procs); a missing estimate is the run time."""
    rows = probe.records.sort_values("submit_time", kind="stable")
    columns = ("submit_time", "run_time", "requested_time", "requested_procs")
    rows = [tuple(int(row[name]) for name in columns) for _, row in rows.iterrows()]
    return [(submit, run, run if estimate < 0 else estimate, procs) for submit, run, estimate, procs in rows]


def draw(random, many, ties=False):
    """Draw a workload of this many jobs: (jobs, procs)."""
    procs, longest = int(random.integers(2, 7)), int(random.choice([8, 12, 20]))
    submit = np.cumsum(random.integers(0 if ties else 1, 4, many))
    run = random.integers(1, 6 if ties else longest + 1, many)
    estimate = run + random.choice([0, 0, 2, 5, 9], many)
    width = random.integers(1, procs + 1, many)
    return [tuple(map(int, row)) for row in zip(submit - submit[0], run, estimate, width, strict=True)], procs


POPULAR = np.array([900, 1800, 3600, 7200, 14400, 28800, 43200, 64800])  # seconds


def draw_day(random, many, procs=100):
    """Draw a day of a busy machine: popular estimates, early ends, and more jobs waiting than running."""
    submit = np.cumsum(random.integers(1, 2 * 86_400 // many, many))
    estimate = random.choice(POPULAR, many)
    run = np.where(random.random(many) < 0.2, estimate, (estimate * random.beta(1, 1.5, many)).astype(int) + 1)
    wide = random.random(many) < 0.3
    width = np.where(wide, random.integers(procs // 3, procs + 1, many), random.integers(1, procs // 5, many))
    return [tuple(map(int, row)) for row in zip(submit - submit[0], run, estimate, width, strict=True)], procs


def is_plain(kind, jobs, procs):
    """Tell whether no right schedule has two events at one instant."""
    return not any(has_ties(member, jobs, procs) for member in RIGHT[kind].values())


def schedules(kind, jobs, procs):
    """Return the starts of each member of the library, by name; right ones have a name that begins with "right"."""
    members = {f"right: {name}": member for name, member in RIGHT[kind].items()} | MUTANTS[kind]
    return {name: starts_of(member, jobs, procs) for name, member in members.items()}


def starts_in(probe, member):
    """Return the starts of a probe of the suite under a member of the library, as `conformance` does."""
    return _starts_in(probe.number, member)


@cache
def _starts_in(number, member):
    probe = conformance.probe(number)
    scheme, events = (member, "batched") if isinstance(member, ByHand) else member
    schedule = simulate(probe.trace, scheme, events=events)
    starts = dict(zip(schedule.trace.table.index.tolist(), schedule.start.tolist(), strict=True))
    return tuple(starts.get(job, conformance.NONE) for job in probe.records.index)


def conventions_of(kind, name):
    """Return the choices that the name of a right scheduler stands for: of compression, if any, and of events."""
    choices = ("compression", "events") if kind == "conservative" else ("events",)
    return dict(zip(choices, name.split("; "), strict=True))


def under(probe):
    """Return, by the starts of each right schedule of a probe, which conventions give it; not where all do.

    In a long probe no two events fall on one instant, so the orders of events that no kernel has are left out there.
    """
    every, by_starts = {}, {}
    for name, member in RIGHT[probe.scheme].items():
        if len(probe.records) > LONG and probe.scheme == "conservative" and isinstance(member, ByHand):
            continue
        own = by_starts.setdefault(starts_in(probe, member), {})
        for choice, convention in conventions_of(probe.scheme, name).items():
            every.setdefault(choice, {})[convention] = own.setdefault(choice, {})[convention] = None
    return {
        starts: {choice: tuple(own[choice]) for choice in every if len(own[choice]) < len(every[choice])}
        for starts, own in by_starts.items()
    }


def mistakes():
    """Return the table of `conformance.mistakes`: what each mutant makes of each probe, but for the first answers."""
    rows = []
    for probe in conformance.probes():
        groups = {}
        for name, member in MUTANTS.get(probe.scheme, {}).items():
            groups.setdefault(starts_in(probe, member), []).append(name)
        groups.pop(probe.answers[0].starts, None)
        rows += [(probe.number, " ".join(map(str, starts)), "; ".join(names)) for starts, names in groups.items()]
    return pd.DataFrame(rows, columns=["probe", "starts", "mistakes"])


class Pairs:
    """The pairs of the library that no probe has told apart yet."""

    def __init__(self, kind):
        names = [*(f"right: {name}" for name in RIGHT[kind]), *MUTANTS[kind]]
        self.place = {name: i for i, name in enumerate(names)}
        self.names, self.alike = names, ~np.eye(len(names), dtype=bool)

    def _apart(self, starts):
        values = [starts[name] for name in self.names]
        kinds = {value: i for i, value in enumerate(dict.fromkeys(values))}
        kind = np.array([kinds[value] for value in values])
        return (kind[:, None] != kind[None, :]) & self.alike

    def worth(self, starts, wanted=lambda pair: True):
        apart = self._apart(starts)
        return sum(wanted((self.names[a], self.names[b])) for a, b in np.argwhere(np.triu(apart)))

    def take(self, starts):
        self.alike &= ~self._apart(starts)

    def left(self):
        return [(a, b) for a, b in combinations(self.names, 2) if self.alike[self.place[a], self.place[b]]]


def search(kind, sizes=(3, 4, 5, 6), large=(60, 60), many=1000, seed=1):
    """Yield workloads, each with the starts of all members, until no more pairs are told apart.

    First small ones, until each mutant differs from all that is right; then larger ones for the pairs that are left.
    """
    random, pairs = np.random.default_rng(seed), Pairs(kind)
    for probe in conformance.probes():
        if probe.scheme == kind:
            pairs.take(schedules(kind, jobs_of(probe), probe.procs))
    print(f"{kind}: {len(pairs.left())} pairs are left by the probes that exist", file=sys.stderr)
    for size in sizes:
        small = [draw(random, size) for _ in range(many)]
        yield from choose(kind, small, pairs, lambda pair: "right" in pair[0])
    for size in large:
        big = [draw_day(random, size) for _ in range(many // 10)]
        yield from choose(kind, big, pairs, lambda pair: True)
    print(f"not told apart: {pairs.left()}", file=sys.stderr)


def both_right_or_about_ties(pair):
    """Tell whether a pair is of two that are right, or of one that is and a mutant that only ties show."""
    return pair[0].startswith("right") and (pair[1].startswith("right") or pair[1] in SHOWN_BY_TIES)


def search_ties(kind, sizes=(3, 4, 5, 6), many=1000, seed=1):
    """Yield workloads that tell apart all that is right, and what only events at one instant show."""
    random, pairs = np.random.default_rng(seed), Pairs(kind)
    for size in sizes:
        small = [draw(random, size, ties=True) for _ in range(many)]
        yield from choose(kind, small, pairs, both_right_or_about_ties, plain=False)
    print(f"not told apart: {list(filter(both_right_or_about_ties, pairs.left()))}", file=sys.stderr)


def choose(kind, workloads, pairs, wanted, plain=True):
    """Yield the workloads that tell most of the wanted pairs apart, until none are left; each made simpler first."""
    pool = []
    for jobs, procs in workloads:
        if not plain or is_plain(kind, jobs, procs):
            starts = schedules(kind, jobs, procs)
            if pairs.worth(starts, wanted):
                pool.append((jobs, procs, starts))
    while pool and any(map(wanted, pairs.left())):
        worths = [pairs.worth(starts, wanted) for _, _, starts in pool]
        best = int(np.argmax(worths))
        if worths[best] == 0:
            break
        jobs, procs, _ = pool.pop(best)
        jobs, procs, starts = simpler(kind, jobs, procs, pairs, wanted, worths[best], plain)
        pairs.take(starts)
        yield jobs, procs, starts


def smaller(jobs):
    """Yield the workloads in which one number of one job is less."""
    for i, job in enumerate(jobs):
        for field in range(4):
            for value in range(0 if field == 0 else 1, job[field]):
                new = [*jobs[:i], (*job[:field], value, *job[field + 1 :]), *jobs[i + 1 :]]
                in_order = new[0][0] == 0 and new == sorted(new, key=lambda job: job[0])
                if in_order and all(estimate >= run for _, run, estimate, _ in new):
                    yield new


def simpler(kind, jobs, procs, pairs, wanted, worth, plain):
    """Make the numbers of a workload smaller as long as it tells as many pairs apart; large ones stay as they are."""
    starts = schedules(kind, jobs, procs)
    while len(jobs) <= 8:
        for new in smaller(jobs):
            if not plain or is_plain(kind, new, procs):
                found = schedules(kind, new, procs)
                if pairs.worth(found, wanted) >= worth:
                    jobs, starts = new, found
                    break
        else:
            break
    return jobs, procs, starts


def main(kind, seed="1", many="1000", how=""):
    """Print the probes that were found, one line of JSON each."""
    find = search_ties if how == "ties" else search
    for jobs, procs, starts in find(kind, seed=int(seed), many=int(many)):
        print(json.dumps({"kind": kind, "procs": procs, "jobs": jobs, "starts": starts}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "mistakes":
        mistakes().to_csv(conformance.folder() / "mistakes.csv", index=False)
    else:
        main(*sys.argv[1:])
