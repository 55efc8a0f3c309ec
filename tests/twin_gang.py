"""
Naive twin of the gang simulator: one loop over instants and a rescan of everything at each, to be checked by eye.

It follows section 3 of the specification and the exact meaning agreed for explicit programs, and imports nothing from
the package. Times are whole nanoseconds. A program is a list of steps (compute, operation), operations being

    ("io", ns)  ("think", ns)  ("send", to_rank, index)  ("recv", index)  ("barrier",)  ("end",)

where the last one is ("end",), or ("io", ns, "end") or ("think", ns, "end"). `index` counts the receives of the
receiver from 0.

The text leaves these points open; they are decided here:

1. A spin check that falls on a slice boundary precedes the global switch, so the time left to that switch is 0 and
   the task spins on.
2. A message or release that arrives for a task without its PE leaves the task inside its statement until it holds the
   PE again. Getting the PE then counts as a communication statement, when the switch is over.
3. `computed` includes the part of a computing step that is done by the horizon.
4. At the boundary after its last slice, the memberships of a finished task are updated too.
5. Round robin takes no notice of memberships: of all ready tasks of a PE, the next in job order after its last choice.
6. An average over the last N slices is one over the slices in which the task held its PE; at first there are fewer.
7. Without a floor all memberships may become 0, and then stay so.
"""

from dataclasses import dataclass, field
from math import inf

IO, COMM, COMP = range(3)
DOING = {"computing": "computing", "sending": "communicating", "receiving": "communicating", "waiting": "spinning"}


@dataclass(frozen=True)
class Settings:
    pes: int
    horizon: int
    scheduler: str = "gang"  # or "round-robin", "priority", "spin-block"
    slice: int = 200_000_000
    switch: int = 200_000
    latency: int = 10_000
    overhead: int = 8_750
    delta: int = 800_000
    alpha: float = 2
    beta: float = 0.3
    max_tasks: int = 10
    statements: int = 1
    floor: float = 0.001
    both: bool = True
    packing: str = "first-fit"  # or "best-fit", "buddy"
    unify: bool = False
    alternate: bool = False
    reclaim: bool = False  # the task of the row takes its PE back as soon as it is ready
    window: int = 0  # S is the average over this many slices; 0: m + S / 2


@dataclass(frozen=True)
class Job:
    arrival: int
    kind: str  # "io", "emb", "msg", "bsp" or "interactive"
    programs: list  # one for each task

    @property
    def size(self):
        return len(self.programs)


@dataclass(eq=False)
class Task:
    job: int
    rank: int
    program: list
    step: int = 0
    state: str = "computing"  # "sending", "receiving", "waiting" (for a message or release), "blocked", "done"
    left: int = 0  # of the piece: computing, sending or receiving
    until: int = -1  # when the disk or the thinking is done
    spin_blocked: bool = False
    pe: int = -1
    computed: int = 0
    f: list = field(default_factory=lambda: [0.5] * 3)
    S: list = field(default_factory=lambda: [0.5] * 3)
    measured: list = field(default_factory=list)  # m of each slice
    held: bool = False  # these three: in the current slice
    did_io: bool = False
    said: int = 0  # communication statements

    @property
    def operation(self):
        return self.program[self.step][1]


@dataclass(eq=False)
class PE:
    number: int
    task: Task | None = None
    to_load: int = 0  # what is left of the switch to `task`
    loaded: Task | None = None
    just_left: bool = False  # at this instant, by a task that blocked or is done
    spin_began: int = -1
    disk_free: int = 0
    disk_time: int = 0  # in which the disk worked
    overlap: int = 0  # of which the PE computed
    last_choice: int = -1


@dataclass(frozen=True)
class Result:
    """What came of it: lists by job, by job and rank, and by PE; a segment is (pe, job, rank, what, from, to)."""

    placed: list
    completed: list
    pe: list
    computed: list
    f: list
    S: list
    totals: list  # for each PE, ns by what it did: computing, communicating, spinning, switching, idle
    disk: list  # for each PE, ns in which its disk worked, and of these, ns in which the PE computed
    segments: list  # job and rank are -1 where the PE is idle


def simulate(settings, jobs):
    """Run the jobs, given in order of arrival, from 0 to the horizon."""
    assert settings.scheduler in ("gang", "round-robin", "priority", "spin-block"), settings.scheduler
    latency, overhead = settings.latency, settings.overhead
    baseline = 2 * latency + 4 * overhead

    tasks = [
        [Task(j, r, program, left=program[0][0]) for r, program in enumerate(job.programs)]
        for j, job in enumerate(jobs)
    ]
    everyone = [task for row in tasks for task in row]
    pes = [PE(number) for number in range(settings.pes)]
    rows, current = [], 0  # a row is a list with a job, or None, for each PE
    turn = [None] * settings.pes  # the jobs that have their turn: those of the current row
    waiting = list(range(len(jobs)))
    placed, completed = [-1] * len(jobs), [-1] * len(jobs)
    arrivals = {}  # (job, rank, index) of a message, once it is on its way
    executed = {}  # (job, number) of a barrier: how many tasks have executed it
    releases = {}  # (job, number) of a barrier, once all have
    segments = []
    now = 0

    # ---- programs

    def next_step(task):
        task.step += 1
        task.state, task.left = "computing", task.program[task.step][0]

    def barrier_of(task):
        return task.job, sum(operation == ("barrier",) for _, operation in task.program[: task.step])

    def arrived(task):
        """Tell whether what a task waits for in a receive or barrier is there."""
        if task.operation[0] == "recv":
            return arrivals.get((task.job, task.rank, task.operation[1]), inf) <= now
        return releases.get(barrier_of(task), inf) <= now

    def wait(pe, task):
        """Go on if what the task waits for is there, else begin a spin."""
        task.state = "waiting"
        if not arrived(task):
            pe.spin_began = now
        elif task.operation[0] == "recv":
            task.state, task.left = "receiving", overhead
        else:
            next_step(task)

    def leave(pe):
        pe.task, pe.just_left = None, True

    def done(task):
        task.state = "done"
        if all(other.state == "done" for other in tasks[task.job]):
            completed[task.job] = now

    def execute(pe, task):
        name, *rest = task.operation
        task.did_io |= name in ("io", "think")
        task.said += name in ("send", "recv", "barrier")
        if name == "io":
            pe.disk_free = max(now, pe.disk_free) + rest[0]
            task.state, task.until = "blocked", pe.disk_free
            leave(pe)
        elif name == "think":
            task.state, task.until = "blocked", now + rest[0]
            leave(pe)
        elif name == "end":
            done(task)
            leave(pe)
        elif name == "send":
            task.state, task.left = "sending", overhead
        elif name == "recv":
            wait(pe, task)
        elif name == "barrier":
            barrier = barrier_of(task)
            executed[barrier] = executed.get(barrier, 0) + 1
            if executed[barrier] == jobs[task.job].size:
                releases[barrier] = now + baseline
            wait(pe, task)

    def end_piece(pe, task):
        if task.state == "computing":
            execute(pe, task)
        else:
            if task.state == "sending":
                _, to_rank, index = task.operation
                arrivals[task.job, to_rank, index] = now + latency
            next_step(task)

    # ---- who gets a PE

    def on(pe):
        return [task for task in everyone if task.pe == pe.number]

    def ready(task):
        if task.spin_blocked:
            return arrived(task)
        return task.state not in ("blocked", "done")

    def hold(pe):
        pe.loaded, pe.task.held = pe.task, True
        pe.task.said += pe.task.state in ("sending", "receiving", "waiting")
        if pe.task.state == "waiting":
            wait(pe, pe.task)

    def give(pe, task):
        task.spin_blocked = False
        if task is pe.loaded:
            pe.to_load = 0
        elif task is not pe.task:  # else the rest of a switch that the boundary has cut
            pe.to_load = settings.switch
        pe.task = task
        if pe.to_load == 0:
            hold(pe)

    def give_first(pe, *choosers):
        """Give the PE to the task of the first chooser that has one; if none has, the PE is idle."""
        for choose in choosers:
            task = choose(pe)
            if task is not None:
                give(pe, task)
                return
        pe.task = None

    def of_row(pe):
        """Return the task of the current row, if it is ready."""
        return next((task for task in on(pe) if task.job == turn[pe.number] and ready(task)), None)

    def by_priority(pe):
        def priority(task):
            return max(settings.alpha * task.f[IO], task.f[COMP])

        candidates = [task for task in on(pe) if ready(task) and settings.beta <= priority(task) <= settings.alpha]
        if not candidates:
            return None
        highest = max(priority(task) for task in candidates)
        return in_turn(pe, [task for task in candidates if priority(task) >= highest - 1e-9])

    def by_round_robin(pe):
        return in_turn(pe, [task for task in on(pe) if ready(task)])

    def in_turn(pe, tasks):
        """Return the task of the job that follows the PE's last choice, if there are any."""
        chosen = min(tasks, key=lambda task: (task.job <= pe.last_choice, task.job), default=None)
        if chosen is not None:
            pe.last_choice = chosen.job
        return chosen

    local = by_round_robin if settings.scheduler == "round-robin" else by_priority

    def ask(pe):
        if settings.scheduler == "gang":
            give_first(pe, of_row)
        elif pe.just_left and not settings.reclaim:
            give_first(pe, local, of_row)
        else:
            give_first(pe, of_row, local)

    def check_spin(pe):
        def welcome(task):
            is_io = task.f[IO] > task.f[COMM] and task.f[IO] > task.f[COMP]
            return task is not pe.task and ready(task) and (is_io or jobs[task.job].kind == "interactive")

        to_boundary = -now % settings.slice
        if any(welcome(task) for task in on(pe)) and to_boundary > settings.delta:
            pe.task.spin_blocked = True
            leave(pe)

    # ---- the slice boundary

    def update_memberships(task):
        talked = task.said >= settings.statements
        m = [0, 0, 0]
        if task.did_io and (settings.both or not talked):
            m[IO] = 0.5
        if talked:
            m[COMM] = 0.5
        if not task.did_io and not talked:
            m[COMP] = 0.5
        task.measured.append(m)
        last = task.measured[-settings.window :]
        for i in range(3):
            task.S[i] = sum(each[i] for each in last) / len(last) if settings.window else m[i] + task.S[i] / 2
        weights = [task.S[i] * task.f[i] for i in range(3)]
        if sum(weights) == 0:
            task.f = [0, 0, 0]
            return
        floored = [max(weight / sum(weights), settings.floor) for weight in weights]
        task.f = [value / sum(floored) for value in floored]

    def finished(job):
        return job is None or completed[job] >= 0

    def columns_for(job):
        """Return (row, columns), the row being new if need be, or None."""
        counts = [sum(not finished(task.job) for task in on(pe)) for pe in pes]
        size, new, found = jobs[job].size, [None] * settings.pes, []
        for row in [*rows, new]:
            free = [p for p in range(settings.pes) if row[p] is None and counts[p] < settings.max_tasks]
            if settings.packing == "buddy":
                block = next(2**i for i in range(20) if 2**i >= size)
                for first in range(0, settings.pes - size + 1, block):
                    if set(range(first, min(first + block, settings.pes))) <= set(free):
                        return row, list(range(first, first + size))
            elif len(free) >= size:
                found.append((row is new, len(free) * (settings.packing == "best-fit"), len(found), row, free[:size]))
        return min(found)[3:] if found else None

    def place_jobs():
        while waiting and jobs[waiting[0]].arrival <= now:
            found = columns_for(waiting[0])
            if found is None:
                return
            job, (row, columns) = waiting.pop(0), found
            if all(row is not other for other in rows):
                rows.append(row)
            for task, column in zip(tasks[job], columns, strict=True):
                row[column], task.pe = job, column
            placed[job] = now

    def switch_globally():
        nonlocal rows, current
        for task in everyone:
            if task.held:
                update_memberships(task)
            task.held, task.did_io, task.said = False, False, 0
        ended = any(job is not None and finished(job) for row in rows for job in row)
        rows = [[None if finished(job) else job for job in row] for row in rows]
        for i, row in enumerate(rows):
            for other in rows[i + 1 :] if settings.unify and ended else ():
                if all(a is None or b is None for a, b in zip(row, other, strict=True)):
                    row[:] = [b if a is None else a for a, b in zip(row, other, strict=True)]
                    other[:] = [None] * settings.pes
        surviving = [i for i, row in enumerate(rows) if any(job is not None for job in row)]
        rows = [rows[i] for i in surviving]
        following = sum(i <= current for i in surviving)
        place_jobs()
        current = following % len(rows) if rows else 0
        turn[:] = rows[current] if rows else [None] * settings.pes
        for row in rows[current + 1 :] + rows[:current] if settings.alternate else ():
            for job in set(row) - {None}:
                columns = [p for p in range(settings.pes) if row[p] == job]
                if all(turn[p] is None for p in columns):
                    for p in columns:
                        turn[p] = job
        for pe in pes:
            if settings.scheduler == "gang":
                give_first(pe, of_row)
            else:
                give_first(pe, of_row, local)

    # ---- from instant to instant

    def doing(pe):
        if pe.task is None:
            return "idle"
        return "switching" if pe.to_load else DOING[pe.task.state]

    def next_instant():
        times = [(now // settings.slice + 1) * settings.slice, settings.horizon]
        times += [task.until for task in everyone] + list(arrivals.values()) + list(releases.values())
        for pe in pes:
            what = doing(pe)
            if what == "switching":
                times.append(now + pe.to_load)
            elif what == "spinning":
                times.append(pe.spin_began + baseline)
            elif what != "idle":
                times.append(now + pe.task.left)
        return min(t for t in times if t > now)

    def pass_time(until):
        for pe in pes:
            what = doing(pe)
            who = (-1, -1) if what == "idle" else (pe.task.job, pe.task.rank)
            segments.append((pe.number, *who, what, now, until))
            if what == "switching":
                pe.to_load -= until - now
            elif what in ("computing", "communicating"):
                pe.task.left -= until - now
            if what == "computing":
                pe.task.computed += until - now
            if any(task.state == "blocked" and task.operation[0] == "io" for task in on(pe)):
                pe.disk_time += until - now
                pe.overlap += until - now if what == "computing" else 0

    while True:
        # Arrivals, ends of switches and pieces, spin checks; then the global switch, or the PEs without a task ask.
        for task in everyone:
            if task.state == "blocked" and task.until == now:
                if task.operation[-1] == "end":
                    done(task)
                else:
                    next_step(task)
        for pe in pes:
            if pe.task is not None and pe.to_load == 0:
                if pe.loaded is not pe.task:
                    hold(pe)
                elif pe.task.state != "waiting":
                    if pe.task.left == 0:
                        end_piece(pe, pe.task)
                elif arrived(pe.task):
                    wait(pe, pe.task)
            if settings.scheduler == "spin-block" and doing(pe) == "spinning" and pe.spin_began + baseline == now:
                check_spin(pe)
        if now == settings.horizon:
            break
        if now % settings.slice == 0:
            switch_globally()
        else:
            for pe in pes:
                if pe.task is None:
                    ask(pe)
                elif settings.reclaim and of_row(pe) not in (None, pe.task):
                    give(pe, of_row(pe))
        for pe in pes:
            pe.just_left = False
        until = next_instant()
        pass_time(until)
        now = until

    def by_task(name):
        return [[getattr(task, name) for task in row] for row in tasks]

    totals = [dict.fromkeys(("computing", "communicating", "spinning", "switching", "idle"), 0) for _ in pes]
    for number, _, _, what, begin, end in segments:
        totals[number][what] += end - begin
    columns = map(by_task, ("pe", "computed", "f", "S"))
    disk = [(pe.disk_time, pe.overlap) for pe in pes]
    return Result(placed, completed, *columns, totals, disk, joined(segments))


def joined(segments):
    """Return the segments in order of PE and time; join those that continue the previous one."""
    result = []
    for segment in sorted(segments, key=lambda segment: (segment[0], segment[4])):
        if result and result[-1][:4] == segment[:4]:
            result[-1] = (*segment[:4], result[-1][4], segment[5])
        else:
            result.append(segment)
    return result
