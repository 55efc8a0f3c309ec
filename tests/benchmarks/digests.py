"""Digests of results: schedules, the figures' data, the ledgers' measured values; to be compared after a change.

    python tests/benchmarks/digests.py before.json
    python tests/benchmarks/digests.py after.json --against before.json

A restructuring must leave all of them unchanged, bit for bit. Differences are listed, and the exit code is then 1.
Measured times are left out. The logs are those of SCHEDLAB_DATA, with stand-ins for missing ones. --only selects parts:
schedules, or names of papers.
"""

import argparse
import hashlib
import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

import schedlab as sl
from schedlab.papers.kept import TIMED
from schedlab.workload.conventions import KEEP, KILL_BACKFILLED

LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "HPC2N-2002")
JOBS = 5_000
RIGID = (
    sl.FCFS(),
    *(sl.EASY(order=order) for order in ("fcfs", "sjf", "saf", "wfp3", "unicef")),
    sl.EASY(backfill="sjf"),
    sl.Conservative(),
    *(sl.Conservative(compression=kind) for kind in ("reservation", "none", "rebuild")),
    *(sl.DPSA(variant=variant) for variant in "pnw"),
    sl.DPSA(variant="n", budget=100),
)
# Orders under EASY, FCFS for none; allocations; reservations; what becomes of jobs that outlive their estimates.
ON_TREES = (
    (None, "fcfs", "sjf"),
    ("contiguous", "first-free", "random"),
    ("count", "block"),
    ("kill", KILL_BACKFILLED),
)
TAKE_TIME = ("effort", "decision_times")  # figures of measured times


def digest(*values) -> str:
    """Return a digest of arrays, tables and plain values."""
    sha = hashlib.sha256()
    for value in values:
        if isinstance(value, pd.DataFrame):
            sha.update(repr([(str(name), str(kind)) for name, kind in value.dtypes.items()]).encode())
            sha.update(value.to_csv(float_format="%.17g").encode())
        elif isinstance(value, np.ndarray):
            sha.update(np.ascontiguousarray(value).tobytes())
        else:
            sha.update(repr(value).encode())
    return sha.hexdigest()[:16]


def schedules():
    """Return name and digest of schedules of all families, under all conventions that they support."""
    for log in LOGS:
        trace = sl.load_trace(log, or_standin=True).head(JOBS)
        for scheme, events, overrun in product(RIGID, ("batched", "each"), ("kill", "extend", KEEP)):
            if overrun in scheme.overruns:
                yield _named(trace, scheme, events=events, overrun=overrun)
        small = trace.with_machine(256)
        for order, allocation, reservation, overrun in product(*ON_TREES):
            tree = sl.KaryTree(4, 4, allocation=allocation, speedup=0.2)
            plain = sl.FCFS() if order is None else sl.EASY(order=order)
            scheme = plain if order is None else replace(plain, shadow=reservation)
            schedule = sl.simulate(small, scheme, machine=tree, overrun=overrun)
            name = f"{small.title}, {allocation} {reservation} tree, {order or 'no'} backfilling, {overrun}"
            yield name, digest(schedule.jobs, schedule.metrics().rename(str(plain)).to_frame())
        moldable = trace.head(1_000).with_speedup(sl.Downey("system", (0, 2)), 0.8, 1)
        for name in ("shares", "greedy", "iterative"):
            yield _named(moldable, sl.schemes.scheme(name))
        yield _named(moldable, sl.FairShareMoldable(overbooking=4, efficiency=1))
        swept = trace.with_parameter_sweeps(0.1, seed=1)
        for scheme in (sl.Flooding(), sl.OpportuneShredding()):
            yield _named(swept, scheme)
            sites = sl.simulate_sites([swept, swept.shake(60, 1)], scheme, speeds=(2, 1))
            yield f"two sites, {scheme}, {log}", digest(*(site.jobs for site in sites))
        yield _named(trace, sl.schemes.scheme("log"))
    for scheduler, mix, seed in product(("gang", "priority", "spin-block"), ({"io": 0.5, "msg": 0.5}, "bsp"), range(2)):
        mixed = mix if isinstance(mix, dict) else {mix: 1}
        workload = sl.gang.Workload(pes=8, horizon=200, mix=mixed, seed=seed)
        schedule = sl.gang.simulate(workload, scheduler)
        yield f"gang, {scheduler}, {mixed}, seed {seed}", digest(schedule.table, schedule.metrics().to_frame())


def _named(trace, scheme, **settings):
    schedule = sl.simulate(trace, scheme, **settings)
    told = ", ".join(map(str, settings.values()))
    return f"{trace.title}, {scheme}, {told}", digest(schedule.jobs, schedule.metrics().to_frame())


def paper(module):
    """Return name and digest of the data of each quick figure of a paper, and the measured values of its ledger."""
    name = module.__name__.rpartition(".")[2]
    for function in module.FIGURES:
        if function.__name__ not in TAKE_TIME:
            built = function(size="quick", progress=False)
            yield f"{name}, {built.name}", digest(built.data)
    for row in module.claims("quick", progress=False).to_dict("records"):
        if row["id"] not in TIMED:
            yield f"{name}, {row['id']}, {row['statement']}, {row['trace']}", f"{row['measured']}: {row['verdict']}"


def main():
    """Write the digests, and compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path, help="digests made before")
    parser.add_argument("--only", nargs="+", default=[], help="schedules, or names of papers")
    options = parser.parse_args()
    parts = []
    if not options.only or "schedules" in options.only:
        parts.append(schedules())
    names = [name for name in options.only if name != "schedules"]
    if not options.only or names:
        parts += map(paper, sl.papers.modules(names))
    bar = tqdm(unit=" digests")
    found = {}
    for part in parts:
        for name, value in part:
            found[name] = value
            bar.update()
    bar.close()
    options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.against is None:
        print(f"{len(found):,} digests")
        return
    before = json.loads(options.against.read_text(encoding="utf-8"))
    differ = [name for name in found if name in before and found[name] != before[name]]
    new, gone = len(found.keys() - before.keys()), len(before.keys() - found.keys())
    print(f"{len(found):,} digests: {len(differ)} differ, {new} new, {gone} gone")
    for name in differ:
        print(f"  {name}: {before[name]} -> {found[name]}")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
