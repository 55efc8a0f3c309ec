// Simulates a log: scales its load, calls a kernel, measures the schedule. Times in seconds, as numbers.
//
// A workload has jobs {submit, run, estimate, procs}, each a Float64Array in the order of arrival, and a machine of
// `procs` processors. A schedule has a workload, its machine, and the start of each job.

export const TAU = 10; // seconds: the least run time in the bounded slowdown

const KEYS = {
  lcfs: (job, i) => -job.submit[i],
  sjf: (job, i) => job.estimate[i], ljf: (job, i) => -job.estimate[i],
  narrow: (job, i) => job.procs[i], wide: (job, i) => -job.procs[i],
  saf: (job, i) => job.estimate[i] * job.procs[i], laf: (job, i) => -job.estimate[i] * job.procs[i],
};
export const ORDERS = ["fcfs", ...Object.keys(KEYS)];

/** The jobs in ascending order of their values, which are whole; equal values keep their order. */
export function sortedBy(values) {
  const count = values.length;
  const least = values.reduce((low, value) => Math.min(low, value), Infinity);
  const most = values.reduce((high, value) => Math.max(high, value), -Infinity);
  if ((most - least + 1) * count > Number.MAX_SAFE_INTEGER) {
    return Int32Array.from(values, (_, i) => i).sort((i, j) => values[i] - values[j] || i - j);
  }
  const keys = values.map((value, i) => (value - least) * count + i).sort(); // without a function, four times as fast
  const order = new Int32Array(count);
  for (let i = 0; i < count; i++) order[i] = keys[i] % count;
  return order;
}

const total = (count, value) => {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += value(i);
  return sum;
};

/** Run times as they are simulated: a job is killed when its estimate ends. */
const runs = (jobs) => jobs.run.map((run, i) => Math.min(run, jobs.estimate[i]));

/** Processor-seconds submitted, divided by the capacity between the first and the last submission. */
export function offeredLoad({ jobs, procs }) {
  const run = runs(jobs);
  const length = jobs.submit.at(-1) - jobs.submit[0];
  return length ? total(run.length, (i) => run[i] * jobs.procs[i]) / (procs * length) : Infinity;
}

/** Multiply run times and estimates, so that the offered load becomes `load`; null leaves the workload as it is. */
export function scaled(workload, load) {
  if (load === null) return workload;
  const before = workload.load ?? offeredLoad(workload);
  if (before === Infinity) throw new Error("all jobs are submitted at one instant: there is no load to scale");
  const factor = load / before;
  const rescaled = (time) => Math.max(1, even(time * factor));
  const { run, estimate } = workload.jobs;
  return { ...workload, jobs: { ...workload.jobs, run: run.map(rescaled), estimate: estimate.map(rescaled) } };
}

/** Round to a whole number, halves to the even one. */
export const even = (value) => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/**
 * Simulate a workload.
 *
 * @param {Function} call - as made by `load` of kernels.mjs
 * @param {object} workload
 * @param {{kernel: string, rules: object, backfill: ?string, perJob: string[]}} scheme - as page.py describes it; of
 *   the rules named in `perJob`, the value is for each job of the log
 * @param {string} order - of the queue, one of `ORDERS`
 * @param {number} machine - processors
 */
export function simulate(call, workload, scheme, order = scheme.order, machine = workload.procs) {
  const jobs = { ...workload.jobs, run: runs(workload.jobs) };
  if (scheme.moldable) return chosen(call, { ...workload, jobs }, scheme);
  const queue = { rank: rankOf(order, jobs) };
  const rules = { ...scheme.rules };
  const count = jobs.submit.length;
  for (const name of scheme.perJob) rules[name] *= count;
  if ("depth" in rules) rules.depth = Math.min(rules.depth, count);
  const backfill = scheme.backfill ? { rank: rankOf(scheme.backfill, jobs) } : queue;
  const own = Boolean(scheme.backfill);
  const values = { jobs, machine, order: queue, backfill, own, veto: {}, per_event: false, halt: [0], ...rules };
  const { settings } = rules;
  if (settings) values.settings = { ...settings, depth: Math.min(settings.depth ?? Infinity, count), ticks: [0] };
  const [start, promise] = call(scheme.kernel, values);
  return { workload, jobs, machine, start, promise, rank: queue.rank, scheme };
}

/** Simulate a scheme that chooses the processors of moldable jobs. */
function chosen(call, workload, scheme) {
  const { jobs, laws, procs: machine } = workload;
  const [start, procs] = call(scheme.kernel, { jobs, machine, laws, halt: [0], ...scheme.rules });
  const [run] = call("durations", { seconds: jobs.run, procs: jobs.procs, width: procs, laws });
  return { workload, jobs: { ...jobs, run, procs }, machine, start };
}

function rankOf(order, jobs) {
  if (order === "fcfs") return Float64Array.from(jobs.submit, (_, i) => i);
  const rank = new Float64Array(jobs.submit.length);
  sortedBy(jobs.submit.map((_, i) => KEYS[order](jobs, i))).forEach((job, place) => (rank[job] = place));
  return rank;
}

/** How each job started: 0 in its turn, 1 by a reservation, 2 within the shadow, 3 on extra processors. */
export function startedBy(call, { jobs, machine, start, promise, rank, scheme }) {
  const reserved = start.map((at, i) => at > jobs.submit[i] && promise[i] >= 0 && !scheme.oneReservation);
  const by_start = sortedBy(start);
  return call("started_by", { jobs, machine, order: { rank }, start, by_start, reserved, halt: [0] })[0];
}

/**
 * Simulate a scheme for parameter sweeps at one site.
 *
 * @param {object} rules - as the kernel takes them, and `starts`: the kind of the events at which tasks start
 * @param {number[]} sweeps - the jobs that are sweeps, each of `breakdown` tasks per processor
 * @returns {object} a schedule in pieces, with the end of each job in seconds; other times in ticks, of which a second
 *   has `breakdown`
 */
export function shredded(call, workload, rules, sweeps, breakdown) {
  const { procs: machine } = workload;
  const jobs = { ...workload.jobs, run: runs(workload.jobs) };
  const { procs, run } = jobs;
  const sweep = new Float64Array(run.length).fill(-1);
  sweeps.forEach((job, i) => (sweep[job] = i));
  const isFlood = (i) => rules.flooding && sweep[i] >= 0;
  const lasting = (times) => times.map((time, i) => (isFlood(i) ? time : time * breakdown));
  const queue = { submit: jobs.submit.map((time) => time * breakdown), run: lasting(run) };
  Object.assign(queue, { estimate: lasting(jobs.estimate), procs: procs.map((width, i) => (isFlood(i) ? 1 : width)) });
  const of = (values) => sweeps.map((job) => values[job]);
  const tasks = { count: of(procs).map((width) => width * breakdown), run: [of(run)], estimate: [of(jobs.estimate)] };
  const entries = { offset: [0, run.length], jobs: queue, sweep };
  const results = call("shredding", { entries, machine: [machine], tasks, rules, halt: [0] });
  const [start, , ends, claimed, events, [loss]] = results;
  const pieces = { job: [], start: [], end: [], procs: [], tasks: [], second: breakdown };
  const add = (job, begin, rounds, width, count) => {
    const piece = { job, start: begin, end: begin + rounds * run[job], procs: width, tasks: count };
    for (const [name, value] of Object.entries(piece)) pieces[name].push(value);
  };
  start.forEach((begin, job) => {
    const rounds = sweep[job] < 0 ? breakdown : Math.ceil(claimed[sweep[job]] / procs[job]);
    if (begin >= 0) add(job, begin, rounds, procs[job], 0);
  });
  for (let i = 0; i < events.length; i += 5) {
    const [number, , begin, count, kind] = events.subarray(i, i + 5);
    if (kind === rules.starts) add(sweeps[number], begin, 1, count, count);
  }
  const end = start.map((begin, i) => (sweep[i] < 0 ? begin + run[i] * breakdown : ends[sweep[i]]) / breakdown);
  return { workload, jobs, machine, start, end, pieces, lost: loss / breakdown };
}

/** What held the processors of a schedule: here each job in one piece. */
function inOnePiece({ jobs, start }) {
  const end = start.map((at, i) => at + jobs.run[i]);
  return { job: start.map((_, i) => i), start, end, procs: jobs.procs, tasks: start.map(() => 0), second: 1 };
}

/** The pieces of a schedule, and the processors of each: `offset[i]` to `offset[i + 1]` of `first` and `last`. */
export function placed(call, schedule) {
  const pieces = schedule.pieces ?? inOnePiece(schedule);
  const [offset, first, last] = call("assign_processors", { ...pieces, machine: schedule.machine });
  return { ...pieces, offset, first, last };
}

/** The measures of a schedule, by the names of `Schedule.metrics`. */
export function measures(schedule) {
  const { jobs, machine, start, promise } = schedule;
  const count = start.length;
  const reserved = [...(promise ?? []).keys()].filter((job) => promise[job] >= 0);
  const slowed = slowdowns(schedule);
  const sorted = sortedWaits(schedule);
  const end = start.reduce((last, at, i) => Math.max(last, at + jobs.run[i]), 0);
  const length = end - jobs.submit[0];
  const capacity = machine * length;
  const all = total(count, (i) => sorted[i]);
  const quantiles = { median_wait_time: quantile(sorted, 0.5), p95_wait_time: quantile(sorted, 0.95) };
  return {
    jobs: count, wait_time: all / count, ...quantiles, mean_queue: all / length,
    bounded_slowdown: total(count, (i) => slowed[i]) / count,
    utilization: total(count, (i) => jobs.run[i] * jobs.procs[i]) / capacity,
    loss_of_capacity_share: lost(schedule) / capacity,
    reserved: reserved.length, // how many jobs had a promised start, and how many of these started later
    late: reserved.filter((job) => start[job] > promise[job]).length,
  };
}

/** The waits in ascending order. */
export function sortedWaits(schedule) {
  const { jobs, start } = schedule;
  schedule.sortedWaits ??= start.map((at, i) => at - jobs.submit[i]).sort();
  return schedule.sortedWaits;
}

/** The bounded slowdowns of all jobs. */
export function slowdowns({ jobs, start }, tau = TAU) {
  return start.map((at, i) => Math.max(1, (at - jobs.submit[i] + jobs.run[i]) / Math.max(jobs.run[i], tau)));
}

/** A quantile of sorted values, interpolated as by NumPy. */
export function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return sorted[low] + (place - low) * (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]);
}

/**
 * Go through the states of machine and queue in order of time.
 *
 * @param {Function} visit - is called with each instant and the state from then on: processors used, jobs queued, the
 *   processors that these want, and the work that they are, in processor-seconds
 */
export function follow({ jobs, start }, visit) {
  const count = start.length;
  const end = start.map((at, i) => at + jobs.run[i]);
  const [byStart, byEnd] = [sortedBy(start), sortedBy(end)];
  const state = { used: 0, queued: 0, demand: 0, work: 0 };
  let [came, begun, ended] = [0, 0, 0];
  while (ended < count) {
    let now = end[byEnd[ended]];
    if (came < count) now = Math.min(now, jobs.submit[came]);
    if (begun < count) now = Math.min(now, start[byStart[begun]]);
    for (; came < count && jobs.submit[came] === now; came++) queue(came, 1);
    for (; begun < count && start[byStart[begun]] === now; begun++) {
      queue(byStart[begun], -1);
      state.used += jobs.procs[byStart[begun]];
    }
    for (; ended < count && end[byEnd[ended]] === now; ended++) state.used -= jobs.procs[byEnd[ended]];
    visit(now, state);
  }

  function queue(job, sign) {
    state.queued += sign;
    state.demand += sign * jobs.procs[job];
    state.work += sign * jobs.run[job] * jobs.procs[job];
  }
}

/** Loss of capacity, in processor-seconds: idle processors that queued jobs could have used. */
export function lost(schedule) {
  let [sum, before, idle] = [0, 0, 0];
  follow(schedule, (now, state) => {
    sum += idle * (now - before);
    before = now;
    idle = Math.min(state.demand, schedule.machine - state.used);
  });
  return sum;
}
