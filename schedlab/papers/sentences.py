"""The five sentences that end each paper's notebook: what reproduces, what does not, what is open, surprises, advice.

A function for each paper takes the `Rows` of its kept ledger. Numbers come from these; other words are followed by the
condition under which they are true.
"""

from collections.abc import Callable, Iterator

import numpy as np

from schedlab.papers import kept

from .findings import FAILS, HOLDS, IN_PART, NOT_REPRODUCED, REPRODUCED, Finding, Rows, gains, part, percent, times
from .names import module_of

WHOLE = "whole log, as in the figures"  # Sabin's primary check
DRAWN = "as in the figures"  # Silva's


def _logged(value):
    """Return the change in percent that a mean of logarithms stands for."""
    return 100 * np.expm1(value)


def _load(name):
    """Return the load that the name of a condition ends with."""
    return float(name.rpartition("load ")[2])


def sabin2006(rows: Rows) -> Iterator[Finding]:
    """Say what was found about Sabin, Lang and Sadayappan's moldable jobs."""
    change = _logged(rows.effect("SAB-11", WHOLE))
    yield Finding(
        f"If jobs scale to the whole machine, the iterative scheme lowers the mean turnaround by {percent(change)} "
        "against ObF 4 with EF 1, and has nothing to set.",
        ("SAB-11",),
        change < 0 and rows.verdict("SAB-11") == REPRODUCED and not rows.under("SAB-11", FAILS),
    )
    worse = rows.conditions("SAB-13a", WHOLE, outcome="contradicts")
    loads = sorted({_load(name) for name in rows.conditions("SAB-13a", WHOLE).index})
    most = max(map(_load, worse.index), default=0)
    above = min((load for load in loads if load > most), default=most)
    yield Finding(
        f"If they scale only to about what they ask for, no shares beat iteration from load {above:g} on; at lower "
        f"loads plain shares are up to {percent(max(_logged(worse), default=0))} better.",
        ("SAB-13a",),
        rows.verdict("SAB-13a") == IN_PART and above > most and all("against ObF 1" in name for name in worse.index),
    )
    small, large = (_logged(rows.effect(claim, WHOLE)) for claim in ("SAB-12a", "SAB-12b"))
    yield Finding(
        f"Iteration serves small jobs ({percent(small)} faster) at the expense of the largest ({percent(large)} "
        "slower), unless backfilled jobs start on whatever is free; the paper leaves that open.",
        ("SAB-12a", "SAB-12b"),
        small < 0 < large and rows.under("SAB-12b", HOLDS) == ["backfilled jobs start at once or wait"],
    )
    low, high = (_logged(rows.effect(claim, "whole log")) for claim in ("SAB-3a", "SAB-3b"))
    yield Finding(
        f"With perfect speedup, overbooking surprises: it costs {percent(low)} at low load and gains {percent(high)} "
        "at high load, where the paper expects the opposite.",
        ("SAB-3a", "SAB-3b"),
        high < 0 < low and not {"as in the figures"} & {*rows.under("SAB-3a", HOLDS), *rows.under("SAB-3b", HOLDS)},
    )
    wide = rows.effect("SAB-18")
    yield Finding(
        f"To take home: let the queue set the widths; of greedy jobs, which choose for themselves, {percent(wide)} run "
        "on more than half of the machine, one after the other.",
        ("SAB-18",),
        wide > 50 and rows.verdict("SAB-18") == REPRODUCED,
    )


def silva2000(rows: Rows) -> Iterator[Finding]:
    """Say what was found about Silva and Scherson's gang scheduling."""
    utilization, throughput = (
        gains(rows.conditions("SIL-8", DRAWN, f", {name},")) for name in ("utilization", "throughput")
    )
    yield Finding(
        f"Every mix with I/O jobs gains from runtime measurements: utilization {percent(*utilization)}, throughput "
        f"{percent(*throughput)}.",
        ("SIL-8",),
        rows.verdict("SIL-8") == REPRODUCED and min(*utilization, *throughput) > 0,
    )
    drawn, constant = (rows.effect("SIL-2a", name) for name in (DRAWN, "constant bursts"))
    yield Finding(
        f"With I/O jobs alone, utilization grows by a factor of {times(drawn)}, not 2; if all bursts have the same "
        f"length, which the paper does not say, the factor is {times(constant)}.",
        ("SIL-2a",),
        rows.verdict("SIL-2a") == NOT_REPRODUCED and drawn < 1.8 <= constant,
    )
    tables = [f"SIL-T{number}" for number in range(1, 7)]
    wrong = [name for table in tables for name in rows.conditions(table, DRAWN, outcome="contradicts").index]
    unsure = [name for table in tables for name in rows.conditions(table, DRAWN, outcome="open").index]
    ctc = [gains(rows.conditions(table, DRAWN, "throughput ratio, CTC fit"))[0] for table in tables]
    yield Finding(
        "Throughput hangs on the job model: fitted to KTH's log, single runs can give all numbers of Tables 1 to 6; "
        f"fitted to CTC's, it gains only {percent(*ctc)}.",
        tuple(tables),
        wrong != [] and all(name.endswith("CTC fit") for name in wrong) and not unsure and 0 < min(ctc) < max(ctc) < 10,
    )
    idle, filled = (gains(rows.conditions("SIL-7a", name, ", utilization,")) for name in (DRAWN, "alternate selection"))
    yield Finding(
        f"Without any I/O, utilization still gains {percent(*idle)}, a surprise; {percent(*filled)} is left if the "
        "scheduler without information may fill empty slots, too.",
        ("SIL-7a",),
        "alternate selection" in rows.under("SIL-7a", HOLDS) and min(idle) > 10 and max(filled) < 10,
    )
    chosen = gains([rows.effect("SIL-10", DRAWN)])
    yield Finding(
        f"To take home: fill idle slots with any ready task; choosing it by priority adds {percent(*chosen)} of "
        "throughput to round robin, and spin control adds none.",
        ("SIL-10", "SIL-6a"),
        0 < chosen[0] < 10 and rows.verdict("SIL-10") == REPRODUCED and rows.verdict("SIL-6a") == NOT_REPRODUCED,
    )


def kurian2003(rows: Rows) -> Iterator[Finding]:
    """Say what was found about Kurian, Balaji and Sadayappan's opportune job shredding."""
    lost = rows.effect("KUR-6c", "EASY")
    yield Finding(
        "Flooding helps sweeps at the expense of all others, as published: the turnaround and slowdown of these grow "
        f"by {percent(lost)} on average, most for short narrow jobs.",
        ("KUR-6c", "KUR-9"),
        lost < 0 and rows.verdicts("KUR-6c", "KUR-9") == {REPRODUCED},
    )
    gain, loss = (rows.effect(claim, "EASY") for claim in ("KUR-1", "KUR-2"))
    stated = [rows.published(claim, "EASY").replace(".0 %", " %") for claim in ("KUR-1", "KUR-2")]
    yield Finding(
        f"In its best case, shredding improves the slowdown of sweeps by {percent(gain)} (published: {stated[0]}), and "
        f"the loss of capacity by {percent(loss)}, far more than the published {stated[1]}.",
        ("KUR-1", "KUR-2"),
        "EASY" in rows.under("KUR-1", HOLDS)
        and "EASY" in rows.under("KUR-2", FAILS)
        and loss > 2 * float(stated[1][:-2]),
    )
    short = rows.conditions("KUR-4a", "EASY", outcome="contradicts")
    bound, kept_to = float(rows.row("KUR-4a")["published"][:-2]), rows.conditions("KUR-4a", "conservative backfilling")
    yield Finding(
        "Whether short narrow jobs suffer depends on the local scheduler, which is not named: under EASY they lose up "
        f"to {percent(min(short, default=0))}, under conservative backfilling no class loses over {bound:g} %.",
        ("KUR-4a",),
        len(short) > 0
        and all(name.endswith("SN") for name in short.index)
        and min(kept_to) > -bound
        and "conservative backfilling" in rows.under("KUR-4a", HOLDS),
    )
    three, copies = (rows.effect("KUR-10a", name) for name in ("EASY", "a copy in every queue"))
    worst = rows.conditions("KUR-10a", "a copy in every queue", outcome="contradicts")
    yield Finding(
        f"Over three sites sweeps gain most, {percent(three)} on average; surprisingly, a copy of each in every queue "
        f"makes those of the fastest site up to {percent(min(worst, default=0))} slower.",
        ("KUR-10a",),
        gain < three
        and copies < three
        and len(worst) > 0
        and all("site 3, turnaround" in name for name in worst.index),
    )
    others = rows.effect("KUR-3", "conservative backfilling")
    sweeps = rows.effect("KUR-1", "conservative backfilling")
    yield Finding(
        f"To take home: shred under conservative backfilling; the slowdown of sweeps falls by up to {percent(sweeps)}, "
        f"and with 5 % sweeps the other jobs gain {percent(others)} on average.",
        ("KUR-1", "KUR-3"),
        0 < others < sweeps and "conservative backfilling" in rows.under("KUR-3", HOLDS),
    )


def grudenic2010(rows: Rows) -> Iterator[Finding]:
    """Say what was found about Grudenić and Bogunović's lookahead."""
    figure = "as in Figure 3"
    wide, better = rows.effect("GRU-3a", figure), rows.conditions("GRU-3a", figure, outcome="contradicts")
    yield Finding(
        f"Preferring wide jobs (DPSAw) is worse than EASY, as published: by {percent(wide)} on average over the logs, "
        "and better on none.",
        ("GRU-3a",),
        wide > 0 and len(better) == 0 and rows.verdict("GRU-3a") == REPRODUCED,
    )
    narrow, logs = rows.effect("GRU-1a", figure), rows.conditions("GRU-1a", figure)
    sure, unsure = (rows.conditions("GRU-1a", figure, outcome=name) for name in ("supports", "open"))
    yield Finding(
        f"Preferring narrow jobs (DPSAn) is better by {percent(narrow)} on average, beyond chance on {len(sure)} of "
        f"{len(logs)} logs; on LLNL-Atlas, where hardly any job waits, by {percent(*unsure)}.",
        ("GRU-1a",),
        narrow < 0 and list(unsure.index) == ["LLNL-Atlas-2006"] and max(unsure) < 0,
    )
    exact = rows.conditions("GRU-1a", "exact estimates", outcome="contradicts")
    yield Finding(
        f"The paper leaves open which estimates it uses: with exact ones DPSAn is {percent(max(exact, default=0))} "
        "worse than EASY on HPC2N.",
        ("GRU-1a",),
        list(exact.index) == ["HPC2N-2002"] and "exact estimates" not in rows.under("GRU-1a", HOLDS),
    )
    single, chance = rows.conditions("GRU-2a", figure), rows.conditions("GRU-2a", figure, outcome="open")
    yield Finding(
        "Whether first come, first served (DPSAp) helps is chance: over shaken copies the sign is open on "
        f"{len(chance)} of {len(single)} logs; the paper has four better and four worse.",
        ("GRU-2a", "GRU-2b"),
        len(chance) == len(single) > 0 and len(rows.conditions("GRU-2b", figure, outcome="open")) == len(single),
    )
    grows = rows.effect("GRU-4", figure)
    yield Finding(
        "To take home: look ahead with narrow jobs first, above all on busy machines: the gain grows with utilization "
        f"(linear correlation {part(grows)}).",
        ("GRU-4",),
        grows > 0.8 and rows.verdict("GRU-4") == REPRODUCED,
    )


def pascual2008(rows: Rows) -> Iterator[Finding]:
    """Say what was found about Pascual and Miguel-Alonso's contiguous placement."""
    count, block = "reservation by count", "reservation by block"
    first = rows.conditions("PAS-2a", count)
    yield Finding(
        f"On HPC2N contiguity pays from a speed-up of {part(*first)} on, for FCFS and backfilling alike, about the "
        f"published {float(rows.published('PAS-2a', count)):g}, if the head is promised a time.",
        ("PAS-2a", "PAS-2b"),
        count in rows.under("PAS-2a", HOLDS) and count in rows.under("PAS-2b", HOLDS),
    )
    crossings = {name: rows.conditions("PAS-7", name, "EASY") for name in (count, block)}
    thunder, blue = (rows.conditions("PAS-7", count, log).mean() for log in ("LLNL-Thunder-2007", "SDSC-BLUE-2000"))
    yield Finding(
        f"On LLNL-Thunder it pays only from {part(thunder)} on, not slightly above SDSC-BLUE's {part(blue)}: that log "
        "has no arrival times, so hardly any job waits when placed anywhere.",
        ("PAS-4b",),
        thunder - blue > 0.05 and count in rows.under("PAS-4b", FAILS),
    )
    yield Finding(
        "All depends on what the queue's head is promised, which is not said: under backfilling, the speed-up needed "
        f"is {part(*crossings[count])} for a time, {part(*crossings[block])} for nodes.",
        ("PAS-7",),
        max(crossings[block]) < min(crossings[count]) and block in rows.under("PAS-7", FAILS),
    )
    waits = [rows.conditions("PAS-1", name, "SDSC-BLUE-2000, EASY").iloc[0] for name in (block, count)]
    yield Finding(
        "Surprisingly, the reservation costs more than contiguity itself: under backfilling on SDSC-BLUE, jobs wait "
        f"{times(waits[1])} times as long if the head is promised a time, {times(waits[0])} times if nodes.",
        ("PAS-1",),
        1 < waits[0] < 1.5 and waits[1] > 3 * waits[0],
    )
    avoided, higher = _one_more_stage()
    yield Finding(
        f"To take home: let jobs spread one stage further; under FCFS and a promised time this avoids "
        f"{percent(*avoided)} of the added wait, for {percent(*higher)} more stages.",
        (),
        min(avoided) > 90 and max(higher) < 10,
    )


def _one_more_stage():
    """Return what quasi-contiguous placement avoids of the added wait, and how much higher jobs lie, in percent."""
    runs = kept.numbers_of("pascual2008", "allocations")
    runs = runs[runs["policy"].isin(["FCFS", "EASY (count)"])]
    means = runs.pivot_table(["wait_minutes", "mean stage"], ["trace", "policy"], "allocation")
    waits, stages = means["wait_minutes"], means["mean stage"]
    added = (waits["quasi-contiguous"] - waits["first-free"]) / (waits["contiguous"] - waits["first-free"])
    return 100 * (1 - added), gains(stages["quasi-contiguous"] / stages["contiguous"])


def arena(rows: Rows) -> Iterator[Finding]:
    """Say what was found in the arena."""
    claims = ("ARE-1", "ARE-2", "ARE-3")
    held = {claim: len(rows.conditions(claim, outcome="supports")) for claim in claims}
    cells = {claim: len(rows.conditions(claim)) for claim in claims}
    counts = ", ".join(f"{held[claim]} of {cells[claim]}" for claim in claims)
    yield Finding(
        f"Three statements of the literature hold in most cells and none in all: {counts}.",
        claims,
        all(cells[claim] / 2 < held[claim] and len(rows.conditions(claim, outcome="contradicts")) for claim in claims),
    )
    narrow, order, wide = (rows.effect("ARE-4", name) for name in ("DPSAn", "DPSAp", "DPSAw"))
    yield Finding(
        f"Lookahead lives by the order of its list: the mean bounded slowdown falls by {percent(narrow)} with narrow "
        f"jobs first, {percent(order)} by arrival, and rises by {percent(wide)} with wide first.",
        ("ARE-4",),
        narrow < 3 * order < 0 < wide and rows.under("ARE-4", HOLDS) == ["narrow jobs first (DPSAn)"],
    )
    won, total = _wins()
    alone = won.value_counts()
    yield Finding(
        f"No scheme wins everywhere: {len(alone)} schemes win {len(won)} of {total} cells alone, {alone.index[0]} "
        f"{alone.iloc[0]} of them; in the others the copies do not tell the best apart.",
        (),
        len(alone) > 1 and 0 < len(won) < total,
    )
    price = kept.numbers_of("arena", "price").set_index("scheme")
    area = price.loc["EASY-SAF"]
    longer = 1 + area["max_wait_time"] / 100
    yield Finding(
        "What a win costs is the surprise: smallest area first lowers the mean bounded slowdown by "
        f"{percent(area['bounded_slowdown'])}, and makes the longest wait {times(longer)} times as long as under EASY.",
        (),
        area["bounded_slowdown"] == price["bounded_slowdown"].min() < 0 and longer > 2,
    )
    tried, longest = len(rows.conditions("ARE-4", "DPSAn")), price.loc["DPSAn", "max_wait_time"]
    safe, harmed = (len(rows.conditions("ARE-4", "DPSAn", outcome=name)) for name in ("supports", "contradicts"))
    yield Finding(
        f"To take home: DPSAn is a safe step beyond EASY: better beyond chance in {safe} of {tried} cells, worse "
        f"in none, and the longest wait grows by {percent(longest)}.",
        ("ARE-4",),
        safe > tried / 2 and harmed == 0 and 0 < longest < 20,
    )


def _wins():
    """Return the schemes that win a cell of the arena alone, cell by cell, and the number of all cells."""
    kept_results = module_of("arena").kept_results

    wins = kept_results().wins()
    return wins.loc[wins["tied"] == "", "winner"], len(wins)


SENTENCES: dict[str, Callable[[Rows], Iterator[Finding]]] = {
    function.__name__: function for function in (sabin2006, silva2000, kurian2003, grudenic2010, pascual2008, arena)
}
