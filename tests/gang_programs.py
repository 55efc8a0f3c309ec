"""Small gang workloads for hypothesis: explicit programs that cannot deadlock, and times full of ties."""

import random
from dataclasses import replace

from hypothesis import strategies as st
from twin_gang import Job, Settings
from workloads import among, integers, named, one_of, pick

SCHEDULERS = ("gang", "round-robin", "priority", "spin-block")

# What the tasks of a job do, by kind; jobs of any kind may also do everything.
DEEDS = {"io": ("io",), "emb": (), "msg": ("message",), "bsp": ("barrier",), "interactive": ("think",)}
ALL_DEEDS = ("io", "message", "barrier", "think")


def some(draw, fewest, most):
    """Draw a number, many more often than few."""
    return max(pick(draw, *[range(fewest, most + 1)] * 2))


def gang_settings(draw, schedulers=SCHEDULERS, slices=12):
    """Draw `Settings` in which slices, switches and messages take a few ns, over at most `slices` slices."""
    drawn = named(
        draw,
        pes=(2, 1, 2, 3, 4),
        scheduler=schedulers,
        slice=(8, 12, 20, 40),
        switch=range(1, 5),
        latency=(1, 2),
        overhead=(1, 2),
        delta=(1, 2, 4, 8),
        thresholds=((2.0, 0.3), (2.0, 0.3), (2.0, 0.9), (1.0, 0.5)),
        max_tasks=(1, 2, 3, 10),
        statements=(1, 2, 3),
        floor=(0.001, 0.05),
        both=(False, True),
        window=(0, 0, 1, 2, 3, 5),
    )
    alpha, beta = drawn.pop("thresholds")
    end = slices * drawn["slice"]
    return Settings(horizon=draw(one_of(integers(1, end), among(end - 1, end))), alpha=alpha, beta=beta, **drawn)


def gang_job(draw, arrival, pes, length, kinds=tuple(DEEDS), most=8):
    """Draw a `Job` that does at most `most` things, all in one global order, so that it cannot deadlock."""
    sizes = (*range(1, pes + 1), *[pes] * pes)
    kind, size, everything = pick(draw, kinds, sizes, (False, False, False, True))
    deeds = ALL_DEEDS if everything and set(kinds) == set(DEEDS) else DEEDS[kind]
    if size == 1:
        deeds = tuple(deed for deed in deeds if deed != "message")
    times = (1, 2, 4, 8, length // 2, length - 4, length, 2 * length)

    programs = [[] for _ in range(size)]
    received = [0] * size
    for _ in range(some(draw, 0, most) if deeds else 0):
        deed, rank, further, compute, lasting = pick(draw, deeds, range(size), range(1, max(2, size)), times, times)
        if deed == "message":
            to_rank = (rank + further) % size
            programs[rank].append((compute, ("send", to_rank, received[to_rank])))
            programs[to_rank].append((lasting, ("recv", received[to_rank])))
            received[to_rank] += 1
        elif deed == "barrier":
            for program, each in zip(programs, pick(draw, *[times] * size), strict=True):
                program.append((each, ("barrier",)))
        else:
            programs[rank].append((compute, (deed, lasting)))
    for program in programs:
        compute, at_once = pick(draw, times, (False, True))
        if program and program[-1][1][0] in ("io", "think") and at_once:
            compute, operation = program.pop()
            program.append((compute, (*operation, "end")))
        else:
            program.append((compute, ("end",)))
    return Job(arrival, kind, programs)


@st.composite
def gang_workloads(draw, schedulers=SCHEDULERS, kinds=tuple(DEEDS), fewest=0, most=6, slices=12):
    """Draw (settings, jobs): the jobs in order of arrival, with ties, all of which fit on the machine."""
    settings = gang_settings(draw, schedulers, slices)
    unit = settings.slice // 4
    arrivals = sorted(draw(integers(0, 16)) for _ in range(some(draw, fewest, most)))
    jobs = [gang_job(draw, unit * arrival, settings.pes, settings.slice, kinds) for arrival in arrivals]
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
