"""How fast the kernels are: jobs per second, memory, and the ratio to the naive twin, on whole logs.

    python tests/benchmarks/bench_kernels.py [--runs 5] [LOG ...]
    python tests/benchmarks/bench_kernels.py [--runs 5] --sweeps
    python tests/benchmarks/bench_kernels.py [--runs 5] --moldable
    python tests/benchmarks/bench_kernels.py [--runs 5] --iterative
    python tests/benchmarks/bench_kernels.py [--runs 5] --own [LOG ...]

The second command measures parameter sweeps on the CTC log; its times are of `simulate` and `simulate_sites`, tables
included. The third measures moldable jobs on the CTC log with 512 processors, beside EASY on the requested processors
in the same run. The fourth measures the iterative scheme there, in processor seconds, beside a straightforward kernel
that must give the same schedule. The fifth measures user-written policies and schemes, each beside its built-in
counterpart.

Times are those of the compiled kernel in one thread: the median of the runs. The twin rescans everything at every
event, so it is timed on the first thousand jobs of the log, and the kernel on the same jobs in the same run. Memory is
the peak of the kernel beyond its input, including its result.
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

import plain_iterative
import twins  # the tests' own
from museum import plain_easy, plain_fcfs
from timing import bytes_held, seconds

import schedlab as sl
from schedlab import parts
from schedlab.schemes.cases import case_of

LOGS = (
    *("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-SP2-1998", "HPC2N-2002", "SDSC-BLUE-2000", "LLNL-Thunder-2007"),
    *("LLNL-Atlas-2006", "lublin_256"),
)


def wfp3_of_a_user(now, submit, estimate, procs):
    """WFP3 as a user would write it."""
    return -(((now - submit) / max(estimate, 1)) ** 3) * procs


TWIN_JOBS = 1_000
SCHEMES = {
    "FCFS": (sl.FCFS(), twins.fcfs),
    "EASY": (sl.EASY(), twins.easy),
    "EASY-SJBF": (sl.EASY(backfill="sjf"), lambda jobs, procs: twins.easy(jobs, procs, backfill="sjf")),
    "Conservative": (sl.Conservative(), twins.conservative),
    "DPSAp": (sl.DPSA(variant="p"), None),  # the twin's search has no bound, and does not end if many jobs wait
    "DPSAn": (sl.DPSA(variant="n"), None),
    "DPSAw": (sl.DPSA(variant="w"), None),
    "EASY-WFP3": (sl.EASY(order="wfp3"), None),
    "EASY-WFP3 of a user": (sl.EASY(order=wfp3_of_a_user), None),
}
ON_TREES = {  # contiguous; the twin tracks every node, and is far slower
    "FCFS, contiguous": (sl.FCFS(), None),
    "EASY, contiguous": (sl.EASY(), None),
    "EASY, nodes promised": (sl.EASY(shadow="block"), None),
    "Conservative, nodes promised": (sl.Conservative(), None),
    "DPSAn, nodes promised": (sl.DPSA(variant="n", budget=1_000, shadow="block"), None),
}


@sl.compiled_scheme(memory=3)
def compiled_easy(c, reservation):
    """EASY made of the kernels' parts."""
    place = parts.back(c.queue) - (c.clock[parts.ARRIVED] - c.clock[parts.NEWCOMER])
    if not parts.still_blocked(c, reservation):
        parts.start_heads_that_fit(c)
        parts.reserve_for_head(c, reservation)
        place = parts.front(c.queue) + 1
    while place < parts.back(c.queue) and c.clock[parts.FREE] > 0:
        job = c.queue.item[place]
        procs = c.jobs.procs[job]
        in_time = parts.ends_by_shadow(c, reservation, job)
        if procs <= c.clock[parts.FREE] and (in_time or procs <= reservation[parts.EXTRA]):
            place = parts.begin_behind_head(c, reservation, place)
        else:
            place += 1


OWN_LOGS = ("KTH-SP2-1996", "CTC-SP2-1996", "SDSC-BLUE-2000")
# Each with the built-in scheme that it is compared with.
OWN = {
    "order of a user (wfp3)": (sl.EASY(order=wfp3_of_a_user), sl.EASY(order="wfp3")),
    "order by a column": (sl.EASY(order=lambda now, user, submit: user - 1e-3 * (now - submit)), sl.EASY(order="wfp3")),
    "fairshare": (sl.EASY(order="fairshare"), sl.EASY(order="wfp3")),
    "multifactor": (sl.EASY(order="multifactor"), sl.EASY(order="wfp3")),
    "veto, fixed": (sl.EASY(may_backfill=lambda estimate: estimate <= 36_000), sl.EASY()),
    "veto, user_running": (sl.EASY(may_backfill=lambda user_running: user_running == 0), sl.EASY(order="wfp3")),
    "2 reservations": (sl.EASY(reservations=2), sl.EASY()),
    "16 reservations": (sl.EASY(reservations=16), sl.EASY()),
    "all reservations": (sl.EASY(reservations="all"), sl.Conservative(compression="rebuild")),
    "compiled EASY": (compiled_easy, sl.EASY()),
    "FCFS in Python": (plain_fcfs, sl.FCFS()),
    "EASY in Python": (plain_easy, sl.EASY()),
}


def compare_own(logs, runs):
    """Print the table of user-written policies and schemes: interleaved runs, and the ratio of the medians."""
    print(f"{'log':<24}{'own':<24}{'ms':>9}{'jobs/s':>12}{'bytes/job':>11}  {'ratio to':<24}{'ms':>9}{'ratio':>8}")
    for log in logs:
        trace = sl.load_trace(log)
        for name, schemes in OWN.items():
            calls = [partial(scheme.simulate, case_of(trace, scheme)[0]) for scheme in schemes]
            times = [[], []]
            for again in range(1 + runs):
                for call, taken in zip(calls, times, strict=True):
                    time_taken = seconds(call, 1)
                    if again:  # the first compiles
                        taken.append(time_taken)
            own, other = map(median, times)
            print(
                f"{trace.name:<24}{name:<24}{1e3 * own:>9.1f}{len(trace) / own:>12,.0f}"
                f"{bytes_held(calls[0]) / len(trace):>11.0f}  {schemes[1]!s:<24}{1e3 * other:>9.1f}{own / other:>8.2f}",
                flush=True,
            )


def twin_ratio(scheme, twin, case, runs):
    """Return how many times faster the kernel is than its twin on the first jobs."""
    few = case.first(TWIN_JOBS)
    rows = [twins.Job(*row) for row in zip(*(column.tolist() for column in few.jobs), strict=True)]
    return seconds(lambda: twin(rows, case.machine.procs), 1) / seconds(lambda: scheme.simulate(few), runs)


def swept():
    """Return the names of runs with parameter sweeps, and what to call."""
    log = sl.load_trace("CTC-SP2-1996")
    wide = log.with_machine(512).with_estimates("exact")
    first = wide.head(5000).scale_load(0.9)
    months = [wide.between(f"1996-{month:02}-01", f"1996-{month + 1:02}-01").scale_load(0.9) for month in (7, 8, 9)]
    for share in (0, 0.05, 0.2):
        few = first.with_parameter_sweeps(share)
        for scheme in ("easy", "ojs", sl.OpportuneShredding(local="conservative"), "flooding"):
            name = f"first 5000 jobs, {share:.0%} sweeps, {scheme}"
            yield name, lambda few=few, scheme=scheme: sl.simulate(few, scheme)
    many = first.with_parameter_sweeps(1.0)
    sweeps = (many.jobs["breakdown"] > 0).sum()
    yield f"first 5000 jobs, {sweeps:,} sweeps, flooding", lambda: sl.simulate(many, "flooding")
    whole = log.with_parameter_sweeps(0.1)
    for scheme in ("ojs", sl.OpportuneShredding(local="conservative")):
        yield f"whole log, 10% sweeps, {scheme}", lambda scheme=scheme: sl.simulate(whole, scheme)
    months = [month.with_parameter_sweeps(0.1) for month in months]
    for scheme in ("easy", "ojs", sl.OpportuneShredding(everywhere=True)):
        name = f"three months at three sites, 10% sweeps, {scheme}"
        yield name, lambda scheme=scheme: sl.simulate_sites(months, scheme, speeds=(2, 1, 3))


def molded():
    """Return names of workloads and schemes of moldable jobs, the number of jobs, and what to call; EASY goes first."""
    log = sl.load_trace("CTC-SP2-1996").with_machine(512)
    paper = [sl.FairShareMoldable(overbooking=factor, efficiency=share) for factor in (1, 4) for share in (0, 0.5, 1)]
    others = [
        sl.FairShareMoldable(overbooking=4, efficiency=1, **option)
        for option in ({"canmove": "literal"}, {"weight": "proportional"}, {"backfill": "start-now"})
    ]
    for parallelism in ("system", "requested"):
        for load in (0.7, 0.9):
            trace = log.with_speedup(sl.Downey(A=parallelism), seed=1).scale_load(load, by="effective")
            case, _ = case_of(trace, sl.IterativeMoldable())
            yield parallelism, load, sl.EASY(), len(trace), partial(sl.EASY().simulate, case)
            # At 0.9 greedy takes minutes.
            for scheme in (*paper, *others) if load > 0.7 else (*paper, *others, sl.GreedyMoldable()):
                yield parallelism, load, scheme, len(trace), partial(scheme.choose, case)


def compare_molded(runs):
    """Print the table of moldable jobs."""
    print(f"{'A':<11}{'load':>4}  {'scheme':<42}{'ms':>9}{'jobs/s':>11}{'bytes/job':>11}{'x EASY':>9}")
    easy = None
    for parallelism, load, scheme, count, run in molded():
        run()  # compiles
        taken, held = seconds(run, runs), bytes_held(run)
        if isinstance(scheme, sl.EASY):
            easy = taken
        print(
            f"{parallelism:<11}{load:>4}  {scheme!s:<42}{1e3 * taken:>9.1f}{count / taken:>11,.0f}"
            f"{held / count:>11.0f}{taken / easy:>9.1f}",
            flush=True,
        )


def compare_iterative(runs):
    """Print how much faster the iterative kernel is than the straightforward one."""
    log = sl.load_trace("CTC-SP2-1996").with_machine(512)
    print(
        f"{'A':<11}{'load':>4}{'jobs':>8}{'seconds':>9}{'jobs/s':>9}{'bytes/job':>11}{'plain':>9}{'ratio':>7}{'tries':>11}"
    )
    for count, load in ((5_000, 0.9), (len(log), 0.7)):
        for parallelism in ("system", "requested"):
            trace = log.head(count).with_speedup(sl.Downey(A=parallelism), seed=1).scale_load(load, by="effective")
            case, _ = case_of(trace, scheme := sl.IterativeMoldable())
            run = partial(scheme.choose, case)
            plain = partial(plain_iterative.iterative, *case.jobs, 512, *case.laws[1:3])
            (start, width), (plain_start, plain_width, counted) = run(), plain()
            assert (start == plain_start).all()
            assert (width == plain_width).all()
            taken, held = seconds(run, runs, time.process_time), bytes_held(run)
            straightforward = seconds(plain, 1, time.process_time)
            print(
                f"{parallelism:<11}{load:>4}{count:>8,}{taken:>9.2f}{count / taken:>9,.0f}{held / count:>11.0f}"
                f"{straightforward:>9.2f}{straightforward / taken:>7.1f}{counted[1]:>11,}",
                flush=True,
            )


def compare_swept(runs):
    """Print the table of parameter sweeps."""
    for name, run in swept():
        run()  # compiles
        print(f"{name:<60}{1e3 * seconds(run, runs):>9.1f} ms")


def compare_schemes(logs, runs):
    """Print the table of whole logs."""
    print(f"{'log':<24}{'scheme':<22}{'jobs':>8}{'ms':>9}{'jobs/s':>12}{'bytes/job':>11}{'x twin':>9}")
    for log in logs:
        trace = sl.load_trace(log)
        stages = next(n for n in range(1, 13) if 4**n >= trace.procs)
        machines = {name: sl.KaryTree(4, stages, trace.procs) for name in ON_TREES}
        for name, (scheme, twin) in (SCHEMES | ON_TREES).items():
            case, _ = case_of(trace, scheme, machines.get(name))
            run = partial(scheme.simulate, case)
            run()  # compiles
            taken, held = seconds(run, runs), bytes_held(run)
            ratio = f"{twin_ratio(scheme, twin, case, runs):,.0f}" if twin else ""
            print(
                f"{trace.name:<24}{name:<22}{len(trace):>8,}{1e3 * taken:>9.1f}{len(trace) / taken:>12,.0f}"
                f"{held / len(trace):>11.0f}{ratio:>9}"
            )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", nargs="*", default=LOGS)
    parser.add_argument("--runs", type=int, default=5)
    for name in ("sweeps", "moldable", "iterative", "own"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    if options.own:
        compare_own(OWN_LOGS if options.logs is LOGS else options.logs, options.runs)
    elif options.moldable:
        compare_molded(options.runs)
    elif options.iterative:
        compare_iterative(options.runs)
    elif options.sweeps:
        compare_swept(options.runs)
    else:
        compare_schemes(options.logs, options.runs)


if __name__ == "__main__":
    main()
