"""Six weeks of a made-up cluster as Slurm writes them: always the same text, `data/cluster-sacct.txt.xz`.

``python -m tests.example_cluster`` writes the file again. Users, jobs and what becomes of them are drawn with a fixed
seed; when jobs start follows from a simulation of EASY backfilling, with priorities by QOS and a maintenance that jobs
must not run into.
"""

import lzma
import math
import random
from bisect import bisect, insort
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path
from zoneinfo import ZoneInfo

PATH = Path(__file__).parents[1] / "data" / "cluster-sacct.txt.xz"
ZONE = ZoneInfo("Europe/Berlin")
MINUTE, HOUR, DAY = 60, 3_600, 86_400
COLUMNS = (
    "JobID|JobIDRaw|Cluster|Partition|User|Group|Account|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|"
    "AllocCPUS|NNodes|ReqMem|AllocTRES|Reservation|State"
)
NOISE = "sacct: error: slurmdbd: Getting response to message type: DBD_GET_JOBS_COND"


def instant(text: str) -> int:
    """Return the seconds since 1970 at a time on the clock of the cluster."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ZONE).timestamp())


FIRST = instant("2024-09-18")  # when the simulation begins, so that the cluster is busy when the export does
BEGIN = instant("2024-09-26")
END = instant("2024-11-07")
MAINTENANCE = (instant("2024-10-15T06:00"), instant("2024-10-15T18:00"))
RUSH = (instant("2024-10-28"), instant("2024-11-01T20:00"))  # before a deadline of one account
COURSES = (instant("2024-10-09T14:00"), instant("2024-10-23T14:00"))
SPARE = MINUTE  # between the limit of a job and the maintenance

# What jobs of a pool wait for: CPUs, or GPUs. The partitions cpu and debug share their nodes.
POOLS = {"cpu": 2_048, "gpu": 48, "himem": 128}
POOL = {"cpu": "cpu", "debug": "cpu", "gpu": "gpu", "himem": "himem"}
LONGEST = {"cpu": 3 * DAY, "debug": HOUR // 2, "gpu": DAY, "himem": 2 * DAY}
TYPICAL = {"cpu": 1.7 * HOUR, "debug": 4 * MINUTE, "gpu": 2.7 * HOUR, "himem": 4.5 * HOUR}  # median of run times
RANK = {"high": 0, "normal": 1, "low": 2}
SIZES = {
    "cpu": ((1, 4, 8, 16, 32, 64, 128, 256, 512, 1_024), (16, 10, 12, 14, 12, 16, 10, 7, 3, 1)),
    "debug": ((1, 4, 16, 64, 128), (30, 25, 25, 15, 5)),
    "gpu": ((1, 2, 4, 8, 16), (50, 20, 20, 8, 2)),
    "himem": ((4, 8, 16, 32, 64), (20, 25, 30, 20, 5)),
}
MEMORY = {"cpu": ("2G", "4G", "4G", "8G"), "debug": ("2G",), "gpu": ("64G", "128G", "0"), "himem": ("500G", "900G")}
LIMITS = [MINUTE * minutes for minutes in (10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 2_880, 4_320, 5_760)]
USUAL_LIMIT = DAY  # of those who never think about it


@dataclass(frozen=True)
class Account:
    """A group of users: how many they are, how often they come, with which partitions, and how often with arrays."""

    users: int
    often: float
    partitions: dict
    arrays: float


ACCOUNTS = {
    "climate": Account(9, 26, {"cpu": 88, "debug": 10, "himem": 1}, 0.1),
    "chemistry": Account(8, 25, {"cpu": 63, "debug": 9, "gpu": 28}, 0.1),
    "physics": Account(8, 15, {"cpu": 79, "debug": 8, "gpu": 13}, 0.45),
    "vision": Account(6, 13, {"gpu": 88, "cpu": 6, "debug": 6}, 0.2),
    "biology": Account(6, 15, {"cpu": 37, "himem": 48, "gpu": 25}, 0.3),
    "astro": Account(3, 7, {"cpu": 62, "gpu": 30, "debug": 8}, 0.05),
}
HOURS = (2, 2, 1, 1, 1, 1, 2, 4, 8, 13, 15, 14, 10, 13, 15, 15, 14, 12, 9, 6, 5, 4, 4, 3)  # submissions by hour
WEEKDAYS = (10, 11, 11, 11, 9, 3, 3)
MOST = 6 * HOUR  # of a whole pool: what a user submits in one go
SESSIONS = 86  # submissions of one or several jobs on a mean day


@dataclass
class Job:
    """One submission to one pool: what it asks for, what would become of it, and what the simulation makes of it."""

    user: str
    account: str
    qos: str
    partition: str
    submit: int
    eligible: int
    size: int  # in what its pool counts
    cpus: int
    nodes: int
    memory: str
    tres: str
    limit: int
    limit_text: str
    run: int  # seconds until it ends by itself
    state: str
    patience: int | None = None  # seconds in the queue after which its user takes it back
    failure: int | None = None  # seconds of running after which its node fails, and it is queued again
    reservation: str = ""
    array: int = 0  # tasks of its array
    task: int = 0
    number: int = 0
    raw: int = 0
    start: int | None = None
    end: int | None = None
    final: str = ""

    @property
    def place(self) -> tuple:
        """The place in the queue: by QOS, debug first, then by time."""
        return -1 if self.partition == "debug" else RANK[self.qos], self.eligible, self.raw


def chosen(draw, weights: dict):
    """Draw a key of a table of weights."""
    return draw.choices(list(weights), list(weights.values()))[0]


def users(draw) -> dict:
    """Return the users of each account, with how often each comes: few come often, and many seldom."""
    names = [f"user{number:02d}" for number in range(1, 1 + sum(account.users for account in ACCOUNTS.values()))]
    draw.shuffle(names)
    groups = {}
    for account, settings in ACCOUNTS.items():
        groups[account] = {names.pop(): 1 / (1 + place) ** 1.1 for place in range(settings.users)}
    return groups


def drawn_jobs(draw) -> list[Job]:
    """Draw all jobs, in the order of their submission and with their numbers."""
    people = users(draw)
    jobs = []
    for hour in range(FIRST, END, HOUR):
        clock = datetime.fromtimestamp(hour, ZONE)
        busy = HOURS[clock.hour] / sum(HOURS) * WEEKDAYS[clock.weekday()] / sum(WEEKDAYS) * 7
        often = {account: settings.often for account, settings in ACCOUNTS.items()}
        if RUSH[0] <= hour < RUSH[1]:
            often["vision"] *= 3.2
        rate = SESSIONS * busy * sum(often.values()) / 100
        count = int(rate) + (draw.random() < rate % 1)
        for second in sorted(draw.randrange(HOUR) for _ in range(count)):
            account = chosen(draw, often)
            jobs += session(draw, hour + second, account, chosen(draw, people[account]))
    jobs.sort(key=lambda job: job.submit)
    return numbered([job for job in jobs if job.submit < END])


def numbered(jobs: list[Job]) -> list[Job]:
    """Number the jobs: each task of an array has a number of its own, and the array that of its first task."""
    arrays = {}
    for raw, job in enumerate(jobs, start=311_007):
        job.raw = raw
        job.number = arrays.setdefault((job.user, job.submit), raw) if job.array else raw
    return jobs


def session(draw, now: int, account: str, user: str) -> list[Job]:
    """Draw what a user submits in one go: a job, several like it, or an array."""
    partition = chosen(draw, ACCOUNTS[account].partitions)
    sizes, weights = SIZES[partition]
    size = draw.choices(sizes, weights)[0]
    if account == "climate" and partition == "cpu":
        size = max(size, draw.choice((16, 32, 64, 128)))
    is_array = partition != "debug" and draw.random() < ACCOUNTS[account].arrays
    count = 1
    if is_array:
        size = min(size, 2 if partition == "gpu" else 16)
        count = draw.randint(6, 50 if partition == "cpu" else 16)
    else:
        while count < 12 and draw.random() < 0.45:
            count += 1
    typical = min(TYPICAL[partition] * math.exp(draw.gauss(0, 1.15)), 0.9 * LONGEST[partition])
    count = min(count, max(1, int(MOST * POOLS[POOL[partition]] / (size * typical))))
    cpus = size * draw.choice((8, 16)) if partition == "gpu" else size
    first = shape(draw, partition, size, cpus)
    limit = limit_of(draw, partition, typical)
    qos = "normal"
    if is_array and draw.random() < 0.5:
        qos = "low"
    elif draw.random() < 0.06:
        qos = "high"
    limit_text = str(limit // MINUTE)
    if partition == "himem" and draw.random() < 0.06:
        limit = LONGEST[partition]
        limit_text = "Partition_Limit"
    reservation = "course" if partition == "debug" and any(0 <= now - at < 3 * HOUR for at in COURSES) else ""
    later = draw.randrange(HOUR, 8 * HOUR) if draw.random() < 0.02 else 0  # begins later, or waits for another job
    jobs = []
    submit = now
    for task in range(count):
        what = {"user": user, "account": account, "qos": qos, "partition": partition, "reservation": reservation}
        what |= first | {"limit": limit, "limit_text": limit_text, "size": size}
        what |= {"submit": submit, "eligible": submit + later, "array": count if is_array else 0, "task": task}
        jobs.append(Job(**what, **fate(draw, typical, limit)))
        if not is_array:
            submit += draw.randrange(2, 150)
    return jobs


def shape(draw, partition: str, size: int, cpus: int) -> dict:
    """Return what a job occupies, in the words of sacct; GPUs are written with their type, without it, or both."""
    gpus = size if partition == "gpu" else 0
    nodes = max(math.ceil(cpus / 64), math.ceil(gpus / 4))
    memory = draw.choice(MEMORY[partition])
    tres = [f"billing={cpus + 32 * gpus}", f"cpu={cpus}"]
    if gpus:
        forms = ([f"gres/gpu:a100={gpus}", f"gres/gpu={gpus}"], [f"gres/gpu={gpus}"], [f"gres/gpu:a100={gpus}"])
        tres += draw.choices(forms, (6, 3, 1))[0]
    tres += [f"mem={memory}"] * (memory != "0") + [f"node={nodes}"]
    return {"cpus": cpus, "nodes": nodes, "memory": memory, "tres": ",".join(tres)}


def limit_of(draw, partition: str, typical: float) -> int:
    """Draw the time limit that a user asks for: a round number far above what is needed, or always the same."""
    usual = partition != "debug" and draw.random() < 0.25
    wish = USUAL_LIMIT if usual else typical * draw.uniform(1.1, 5)
    return min(next((limit for limit in LIMITS if limit >= wish), LIMITS[-1]), LONGEST[partition])


def fate(draw, typical: float, limit: int) -> dict:
    """Draw how long a job would run, and how it ends."""
    run = max(5, round(typical * math.exp(draw.gauss(0, 0.45))))
    state = "COMPLETED"
    luck = draw.random()
    if luck < 0.012:
        run = 0
        state = "FAILED"
    elif luck < 0.07:
        run = max(1, round(run * draw.uniform(0.01, 0.6)))
        state = draw.choices(("FAILED", "OUT_OF_MEMORY"), (5, 1))[0]
    elif luck < 0.1:
        run = max(1, round(run * draw.uniform(0.05, 0.9)))
        state = f"CANCELLED by {draw.randint(1_001, 1_040)}"
    if run > limit:
        run = limit + draw.randrange(2, 30)
        state = "TIMEOUT"
    patience = draw.randrange(MINUTE, 10 * HOUR) if draw.random() < 0.05 else None
    failure = round(run * draw.uniform(0.05, 0.95)) if run > HOUR and draw.random() < 0.012 else None
    return {"run": run, "state": state, "patience": patience, "failure": failure}


@dataclass
class Pool:
    """A machine with a queue, on which jobs start by EASY backfilling; `closed` is a time in which nothing runs."""

    size: int
    closed: tuple = (math.inf, math.inf)
    running: list = field(default_factory=list)  # (end by the limit, size), sorted
    queue: list = field(default_factory=list)  # (place, job), sorted

    def fits(self, job: Job, now: float) -> bool:
        """Tell whether a job that starts now would not meet the maintenance."""
        begin, end = self.closed
        return now >= end or now + job.limit + SPARE <= begin

    def reservation(self, job: Job, now: int, free: int) -> tuple:
        """Return when the first job of the queue can start by the limits of those that run, and what is left then."""
        shadow = now
        for end, size in self.running:
            if job.size <= free and end > shadow:
                break
            shadow = max(now, end)
            free += size
        if not self.fits(job, shadow):
            shadow = self.closed[1]
            free = self.size
        return shadow, free - job.size

    def starting(self, now: int) -> list[Job]:
        """Return the jobs that start now, and take them from the queue."""
        free = self.size - sum(size for _, size in self.running)
        jobs = []

        def start(place):
            nonlocal free
            _, job = self.queue.pop(place)
            free -= job.size
            insort(self.running, (now + job.limit, job.size))
            jobs.append(job)

        while self.queue and self.queue[0][1].size <= free and self.fits(self.queue[0][1], now):
            start(0)
        if not self.queue or not free:
            return jobs
        shadow, extra = self.reservation(self.queue[0][1], now, free)
        place = 1
        while place < len(self.queue) and free:
            job = self.queue[place][1]
            within = now + job.limit <= shadow
            if job.size <= free and self.fits(job, now) and (within or job.size <= extra):
                extra -= 0 if within else job.size
                start(place)
            else:
                place += 1
        return jobs


ENDS, GOES, COMES, OPENS = range(4)


def simulated(jobs: list[Job], size: int, closed: tuple = (math.inf, math.inf)) -> list[Job]:
    """Let jobs run on a pool of this size up to the end of the export; return a copy for each of their runs.

    At one instant come ends, then withdrawals, then arrivals, then one pass of the scheduler.
    """
    pool = Pool(size, closed)
    events = [(closed[1], OPENS, -1, None)]
    for serial, job in enumerate(jobs):
        heappush(events, (job.eligible, COMES, serial, replace(job)))
    runs = []
    while events and events[0][0] < END:
        now = events[0][0]
        while events and events[0][0] == now:
            _, kind, serial, job = heappop(events)
            if kind == COMES:
                runs.append(job)
                insort(pool.queue, (job.place, job), key=lambda pair: pair[0])
                if job.patience is not None:
                    heappush(events, (now + job.patience, GOES, serial, job))
            elif kind == GOES and job.start is None:
                pool.queue.pop(bisect(pool.queue, job.place, key=lambda pair: pair[0]) - 1)
                job.end = now
                job.final = f"CANCELLED by {1_000 + int(job.user[-2:])}"
            elif kind == ENDS:
                pool.running.remove((job.start + job.limit, job.size))
                job.end = now
                job.final = job.state
                if job.failure is not None:
                    job.final = "NODE_FAIL" if job.raw % 3 else "REQUEUED"
                    again = {"submit": now, "eligible": now, "failure": None, "patience": None, "start": None}
                    heappush(events, (now, COMES, serial, replace(job, **again, end=None, final="")))
        for job in pool.starting(now):
            job.start = now
            serial = job.raw
            heappush(events, (now + (job.run if job.failure is None else job.failure), ENDS, serial, job))
    return runs


def clock(second: int | None, unknown: str = "Unknown") -> str:
    """Return an instant as the clock of the cluster showed it."""
    return unknown if second is None else datetime.fromtimestamp(second, ZONE).strftime("%Y-%m-%dT%H:%M:%S")


def record(job: Job, step: str = "", waiting: str = "") -> str:
    """Return the line of a run, of a step of it, or of all waiting tasks of an array."""
    name = f"{job.number}_{waiting or job.task}" if job.array else str(job.raw)
    began = job.start is not None
    elapsed = (END if job.end is None else job.end) - job.start if began else 0
    start = clock(job.start, "None" if job.end else "Unknown")
    who = [job.partition, job.user, "users", job.account, job.qos]
    what = [job.cpus if began else 0, job.nodes, job.memory, job.tres if began else ""]
    limit = job.limit_text
    state = job.final or ("RUNNING" if began else "PENDING")
    reservation = job.reservation
    if step:
        who = [""] * 5
        what[2] = ""
        limit = reservation = ""
        state = state.split()[0]
    times = [clock(job.submit), clock(job.eligible), start, clock(job.end)]
    fields = [name + step, f"{job.raw}{step}", "example", *who, *times, elapsed, limit, *what, reservation, state]
    return "|".join(map(str, fields))


def lines() -> list[str]:
    """Return the lines of the export: header, records by number, a few steps, and a message of sacct itself."""
    draw = random.Random(20_241_111)
    jobs = drawn_jobs(draw)
    runs = []
    for pool, size in POOLS.items():
        runs += simulated([job for job in jobs if POOL[job.partition] == pool], size, MAINTENANCE)
    runs = [run for run in runs if run.submit < END and (run.end is None or run.end >= BEGIN)]
    runs.sort(key=lambda run: (run.raw, run.submit))
    waiting = {}
    for run in runs:
        if run.array and run.start is run.end is None:
            waiting.setdefault(run.number, []).append(run)
    text = [COLUMNS]
    for run in runs:
        tasks = waiting.get(run.number, [])
        if len(tasks) > 1 and run in tasks:
            if run is tasks[0]:
                text.append(record(run, waiting=f"[{run.task}-{tasks[-1].task}]"))
            continue
        text.append(record(run))
        if run.start is not None and run.raw % 997 == 0:
            text += [record(run, ".batch"), record(run, ".extern"), record(run, ".0")]
    return [*text[:8_000], NOISE, *text[8_000:]]


def export() -> str:
    """Return the text of the export."""
    return "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PATH.write_bytes(lzma.compress(export().encode(), preset=9 | lzma.PRESET_EXTREME))
    print(PATH, PATH.stat().st_size, Counter(line.split("|")[3] for line in export().splitlines() if "|" in line))
