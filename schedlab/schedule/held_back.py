"""What held a job back in a pool while it waited: a limit, a closed window, too little of a resource, or the scheme."""

import numpy as np

from schedlab import show


def reasons(schedule, place: int) -> dict[str, int]:
    """Return for how many seconds each reason held a job back, in words, the longest first.

    A limit counts first, then what is closed or too little at the instant, then windows to come.

    Parameters
    ----------
    schedule, place : Schedule, int
        A schedule on a machine of pools, and the position of the job.
    """
    waiting = _Waiting(schedule, place)
    codes = np.zeros(waiting.time.size, np.int64)
    texts = ["it fitted, but the scheme held it back"]
    for source in (waiting.limits, waiting.shortages, waiting.windows_to_come):
        for reason, where in source():
            codes[where & (codes == 0)] = len(texts)
            texts.append(reason)
    seconds = np.bincount(codes, waiting.lasts, len(texts)).astype(int)
    return {texts[i]: int(seconds[i]) for i in np.argsort(-seconds, kind="stable") if seconds[i]}


class _Waiting:
    """The instants at which something changed while a job waited, and what held from each to the next."""

    def __init__(self, schedule, place):
        self.schedule = schedule
        self.place = place
        self.case = schedule.case
        self.pooled = self.case.pooled
        self.pieces = schedule.outcome.pieces
        self.pool = self.case.places[place]
        self.estimate = self.case.jobs.estimate[place]
        windows = self.pooled.windows
        pieces = self.pieces
        came = schedule.outcome.submit[place]
        began = schedule.outcome.start[place]
        events = windows.event[windows.event[:, 3] == self.pool, 0]
        time = np.unique(np.concatenate([pieces.start, pieces.end, events, [came]]))
        self.time = time[(time >= came) & (time < began)]
        self.lasts = np.diff(np.append(self.time, began))
        self.demand = self.pooled.demand[place]
        self.capacity = self.pooled.capacity[self.pool]
        self.windows = range(windows.first[self.pool], windows.first[self.pool + 1])
        self.in_pool = self.case.places[pieces.job] == self.pool
        self.expected = pieces.start + self.case.jobs.estimate[pieces.job]

    def held(self, which, amounts):
        """Return what some of the runs hold together from each instant on, of amounts by job."""
        start = self.pieces.start[which]
        end = self.pieces.end[which]
        amount = amounts[self.pieces.job[which]]
        return sum(sign * _up_to(self.time, times, amount) for times, sign in ((start, 1), (end, -1)))

    def held_by_pool(self, which):
        columns = [self.held(self.in_pool & which, amounts) for amounts in self.pooled.demand.T]
        return np.column_stack(columns)

    def limits(self):
        limits = self.pooled.limits
        names = [limit for limit in self.schedule.machine.limits for _ in limit.most]
        for column, limit in enumerate(names):
            cell = limits.cell[:, column]
            amount = limits.amount[:, column]
            if cell[self.place] >= 0:
                together = self.held(cell[self.pieces.job] == cell[self.place], amount) + amount[self.place]
                yield f"a limit held it back: at most {limit}", together > limits.most[cell[self.place]]

    def shortages(self):
        windows = self.pooled.windows
        closed = np.zeros((self.time.size, self.capacity.size), np.int64)
        for i in self.windows:
            inside = (self.time >= windows.begin[i]) & (self.time < windows.end[i])
            closed[inside] += windows.closed[i]
            left = self.capacity - closed
            yield f"what it needs was closed, {self._span(i)}", inside & (self.demand > left).any(axis=1)
        free = self.capacity - closed - self.held_by_pool(self.in_pool)
        short = self.demand > free
        for mask in np.unique(short[short.any(axis=1)], axis=0):
            yield self._too_few(mask), (short == mask).all(axis=1)

    def windows_to_come(self):
        windows = self.pooled.windows
        for i in self.windows:
            begin = windows.begin[i]
            ahead = (self.time < begin) & (self.time + self.estimate > begin) & (windows.known[i] <= self.time)
            left = self.capacity - windows.closed[i] - self.held_by_pool(self.expected > begin)
            yield f"it would have run into the window {self._span(i)}", ahead & (self.demand > left).any(axis=1)

    def _span(self, window):
        windows = self.pooled.windows
        seconds = self.schedule.seconds
        trace = self.schedule.trace
        instants = (windows.begin[window], windows.end[window])
        begin, end = (show.instant(trace.at(int(seconds(instant)))) for instant in instants)
        return f"from {begin} to {end}"

    def _too_few(self, mask):
        machine = self.schedule.machine
        pool = machine.pools[self.pool][1]
        columns = np.flatnonzero(mask)
        needs = [pool.shown(machine.resources[i], int(self.demand[i])) for i in columns]
        if len(needs) == 1 and needs[0].startswith("1 "):
            return f"no {needs[0].removeprefix('1 ')} was free"
        return f"fewer than {' and '.join(needs)} were free"


def _up_to(instants, times, amounts):
    """Return the sum of the amounts of all times up to each instant."""
    order = np.argsort(times, kind="stable")
    sums = np.append(0, np.cumsum(amounts[order]))
    return sums[np.searchsorted(times[order], instants, side="right")]
