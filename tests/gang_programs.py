"""Small gang workloads for hypothesis: explicit programs that cannot deadlock, and times full of ties."""

import random
from dataclasses import replace

from hypothesis import strategies as st
from twin_gang import Job, Settings
from workloads import among, booleans, integers, lists, one_of

SCHEDULERS = ("gang", "priority", "spin-block")

# What the tasks of a job do, by kind; jobs of any kind may also do everything.
DEEDS = {
    "io": ("io",),
    "emb": (),
    "msg": ("message",),
    "bsp": ("barrier",),
    "interactive": ("think",),
}
ALL_DEEDS = ("io", "message", "barrier", "think")


@st.composite
def gang_settings(draw, schedulers=SCHEDULERS, slices=12):
    """Draw `Settings` in which slices, switches and messages take a few ns, over at most `slices` slices."""
    length = draw(among(8, 12, 20, 40))
    alpha, beta = draw(among((2.0, 0.3), (2.0, 0.3), (2.0, 0.9), (1.0, 0.5)))
    return Settings(
        pes=draw(among(2, 1, 2, 3, 4)),
        horizon=draw(one_of(integers(1, slices * length), among(slices * length - 1, slices * length))),
        scheduler=draw(among(*schedulers)),
        slice=length,
        switch=draw(integers(1, 4)),
        latency=draw(integers(1, 2)),
        overhead=draw(integers(1, 2)),
        delta=draw(among(1, 2, 4, 8)),
        alpha=alpha,
        beta=beta,
        max_tasks=draw(among(1, 2, 3, 10)),
        statements=draw(integers(1, 3)),
        floor=draw(among(0.001, 0.05)),
        both=draw(booleans()),
    )


@st.composite
def gang_job(draw, arrival, pes, length, kinds=tuple(DEEDS), most=8):
    """Draw a `Job` that does at most `most` things, all in one global order, so that it cannot deadlock."""
    kind = draw(among(*kinds))
    size = draw(one_of(integers(1, pes), among(pes)))
    everything = draw(integers(0, 3)) == 0 and set(kinds) == set(DEEDS)
    deeds = ALL_DEEDS if everything else DEEDS[kind]
    if size == 1:
        deeds = tuple(deed for deed in deeds if deed != "message")
    times = one_of(among(1, 2, 4, 8), among(length // 2, length - 4, length, 2 * length))

    programs = [[] for _ in range(size)]
    received = [0] * size
    for deed in draw(lists(among(*deeds), min_size=draw(integers(0, most)), max_size=most)) if deeds else ():
        rank = draw(integers(0, size - 1))
        if deed == "message":
            to_rank = (rank + draw(integers(1, size - 1))) % size
            programs[rank].append((draw(times), ("send", to_rank, received[to_rank])))
            programs[to_rank].append((draw(times), ("recv", received[to_rank])))
            received[to_rank] += 1
        elif deed == "barrier":
            for program in programs:
                program.append((draw(times), ("barrier",)))
        else:
            programs[rank].append((draw(times), (deed, draw(times))))
    for program in programs:
        if program and program[-1][1][0] in ("io", "think") and draw(booleans()):
            compute, operation = program.pop()
            program.append((compute, (*operation, "end")))
        else:
            program.append((draw(times), ("end",)))
    return Job(arrival, kind, programs)


@st.composite
def gang_workloads(draw, schedulers=SCHEDULERS, kinds=tuple(DEEDS), fewest=0, most=6, slices=12):
    """Draw (settings, jobs): the jobs in order of arrival, with ties, all of which fit on the machine."""
    settings = draw(gang_settings(schedulers, slices))
    unit = settings.slice // 4
    arrivals = draw(lists(integers(0, 16), min_size=draw(integers(fewest, most)), max_size=most))
    jobs = [draw(gang_job(unit * arrival, settings.pes, settings.slice, kinds)) for arrival in sorted(arrivals)]
    return settings, jobs


def crowded(seed):
    """Make (settings, jobs) of tasks that do I/O and wait for messages in turn, many on a PE, under spin control.

    They are drawn evenly and not by hypothesis, which seldom finds a task that makes room while another spins for it.
    """
    draw = random.Random(seed)
    settings = Settings(
        pes=draw.choice([2, 2, 3]),
        horizon=0,
        scheduler="spin-block",
        slice=draw.choice([20, 40, 40]),
        switch=draw.choice([1, 1, 2]),
        latency=draw.choice([1, 2]),
        overhead=1,
        delta=draw.choice([0, 0, 1]),
        beta=draw.choice([0.0, 0.3]),
        statements=draw.choice([1, 2, 3]),
        both=draw.random() < 0.5,
    )
    settings = replace(settings, horizon=settings.slice * draw.randint(6, 14))
    return settings, [_crowded_job(draw, settings.pes) for _ in range(draw.randint(3, 5))]


def _crowded_job(draw, pes):
    size = min(draw.choice([1, 2, 2, pes]), pes)
    kind = "interactive" if draw.random() < 0.4 else "io"
    programs, received = [[] for _ in range(size)], [0] * size

    def time():
        return draw.choice([1, 1, 2, 3, 5, 8, 12])

    for _ in range(draw.randint(3, 14)):
        rank, deed = draw.randrange(size), draw.random()
        if deed < 0.45 or size == 1:
            programs[rank].append((time(), (draw.choice(["io", "io", "think"]), time())))
        elif deed < 0.95:
            to_rank = (rank + draw.randint(1, size - 1)) % size
            programs[rank].append((time(), ("send", to_rank, received[to_rank])))
            programs[to_rank].append((time(), ("recv", received[to_rank])))
            received[to_rank] += 1
        else:
            for program in programs:
                program.append((time(), ("barrier",)))
    for program in programs:
        program.append((time(), ("end",)))
    return Job(0, kind, programs)
