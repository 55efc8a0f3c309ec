// Works for the page, so that it never stalls: reads logs, simulates, and gives back what charts draw.

import { load } from "./kernels.mjs";
import { read } from "./reading.mjs";
import { measures, offeredLoad, scaled, shredded, simulate, slowdowns, sortedWaits } from "./simulate.mjs";
import { CLASSES, classOf, curve, distribution, gains, gantt, meanOf, profile, table, ticks } from "./views.mjs";

const KEPT = 6; // schedules; those of HPC2N take 13 MB each
const DAY = 86400;
const WEEK = 7 * DAY;

let call = null; // of the kernels
let schemes = {};
let workload = null;
const figures = new Map(); // workloads of figures, by their packed text
let rescaled = null; // to the last load
const kept = new Map(); // schedules, by what they are of

const handlers = {
  async start({ wide, narrow, kernels, known }) {
    schemes = known;
    call = await load(wide, { kernels }).catch(() => load(narrow, { kernels })); // without 64-bit memory
  },

  /** Take a log: one that the page has, or a file of the user. Returns what is known of it. */
  async log({ log, file, options }, report) {
    const next = file ? await read(file, options, report) : await unpacked(log);
    if (next.jobs.submit.length === 0) throw new Error(`${next.name} has no jobs that can be simulated`);
    kept.clear();
    rescaled = null;
    workload = { ...next, clock: next.clock ?? next.start ?? null };
    const { jobs, procs } = workload;
    const widest = jobs.procs.reduce((most, width) => Math.max(most, width), 0);
    workload.procs = procs ?? widest;
    const first = jobs.submit[0];
    const span = jobs.submit.at(-1) - first;
    const { jobs: _, ...facts } = workload;
    const counted = { widest, jobs: jobs.submit.length, first, span, load: offeredLoad(workload) };
    return { ...facts, ...counted, known: procs !== null };
  },

  /** Simulate both sides of a setting, and return their measures and the rows of the view. */
  run({ setting, high }) {
    const { view, load, sides } = setting;
    const named = Object.fromEntries(sides.map((name) => [name, scheduled(setting, load, name)]));
    const schedules = Object.values(named);
    const both = schedules.map((schedule) => ({ ...measures(schedule), classes: byClass(schedule) }));
    const span = Math.max(workload.jobs.submit.at(-1) - workload.jobs.submit[0], 10);
    if (view === "waits") return { both, upTo: span, rows: distribution(valuesOf(named, sortedWaits), span, high) };
    if (view === "slowdown") return { both };
    if (view === "time") {
      const begin = workload.jobs.submit[0];
      const end = Math.max(...schedules.map(lastEnd));
      const [rows, others] = schedules.map((schedule) => profile(schedule, begin, end));
      return { both, begin, end, rows, others: others ?? [] };
    }
    const begin = workload.jobs.submit[0] + setting.week * WEEK;
    const charts = schedules.map((schedule) => gantt(call, schedule, begin, begin + WEEK, sides.length));
    return { both, begin, end: begin + WEEK, charts };
  },

  /** Measure both sides at one load, for the curve. */
  point({ setting, load }) {
    return setting.sides.map((scheme) => ({ scheme, load, ...measures(scheduled(setting, load, scheme)) }));
  },

  curve({ results, high }) {
    const values = results.map((row) => row.bounded_slowdown);
    return { rows: curve(results, "bounded_slowdown", high), ticks: ticks(Math.min(...values), Math.max(...values)) };
  },

  /** Simulate the schemes of a live figure of the site: rows of distributions, by panel, and the means of the first. */
  async figure({ log, load, sides, columns, tau, upTo, high }) {
    const jobs = scaled(await workloadOf(log), load);
    const named = Object.fromEntries(sides.map(({ name, scheme }) => [name, simulate(call, jobs, scheme)]));
    const panels = columns.map((column) => valuesOf(named, (schedule) => sorted(schedule, column, tau)));
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const means = Object.entries(panels[0]).map(([name, values]) => [name, mean(values)]);
    return { rows: panels.map((values, i) => distribution(values, upTo[i], high)), means };
  },

  /** Simulate a day without and with the tasks of parameter sweeps: a Gantt chart of each, and what groups gain. */
  async day({ log, load, alone, rules, sweeps, breakdown, day }) {
    const jobs = scaled(await workloadOf(log), load);
    const schedules = [simulate(call, jobs, alone), shredded(call, jobs, rules, sweeps, breakdown)];
    const begin = jobs.jobs.submit[0] + day * DAY;
    const swept = new Set(sweeps);
    const colour = (job, tasks) => (tasks ? "tasks of a sweep" : swept.has(job) ? "sweep" : "other jobs");
    const charts = schedules.map((schedule) => gantt(call, schedule, begin, begin + DAY, 2, colour));
    return { charts, begin, clock: log.clock, gains: gains(...schedules, sweeps) };
  },

  /** Measure a run of a card of the site: with tasks of sweeps, by how many percent the means of a group fell. */
  async again({ log, load, scheme, tasks: { rules, sweeps, breakdown, group } = {} }) {
    const jobs = scaled(await workloadOf(log), load);
    const schedule = simulate(call, jobs, scheme);
    if (!rules) return measures(schedule);
    const all = gains(schedule, shredded(call, jobs, rules, sweeps, breakdown), sweeps);
    const [, turnaround, slowdown, loss] = all.find(([name]) => name === group);
    return { turnaround, slowdown, loss };
  },

  csv(setting) {
    return table(scheduled(setting, setting.load, setting.sides[0]));
  },
};

/** Return a workload of a figure; equal jobs can speed up in different ways. */
async function workloadOf(log, key = log.data + JSON.stringify(log.laws)) {
  figures.set(key, figures.get(key) ?? (await unpacked(log)));
  return figures.get(key);
}

/** The values of a measure of all jobs that count, in ascending order. */
function sorted(schedule, column, tau) {
  const { jobs, start } = schedule;
  const turnaround = (_, i) => start[i] + jobs.run[i] - jobs.submit[i];
  const values = {
    bounded_slowdown: () => slowdowns(schedule, tau), turnaround: () => start.map(turnaround),
    procs: () => jobs.procs, wait_time: () => start.map((at, i) => at - jobs.submit[i]),
  }[column]();
  return values.slice(...(schedule.workload.counted ?? [])).sort();
}

const valuesOf = (named, measure) =>
  Object.fromEntries(Object.entries(named).map(([name, schedule]) => [name, measure(schedule)]));

function scheduled({ machine, order }, load, scheme) {
  const key = [machine, load, scheme, order].join();
  const known = kept.get(key);
  kept.delete(key);
  if (load !== rescaled?.load) rescaled = { load, workload: scaled(workload, load) };
  const schedule = known ?? simulate(call, rescaled.workload, schemes[scheme], order, machine);
  kept.set(key, schedule);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return schedule;
}

const lastEnd = ({ start, jobs }) => start.reduce((last, at, i) => Math.max(last, at + jobs.run[i]), 0);

/** Mean waits of short and long, narrow and wide jobs. */
function byClass({ jobs, start }) {
  const classes = CLASSES.map((name, place) => {
    const isIn = (i) => classOf(jobs, i) === place;
    return { name, ...meanOf(start.length, isIn, (i) => start[i] - jobs.submit[i]) };
  });
  return classes.filter((part) => part.jobs);
}

/** Read a log of the page: four columns of 32-bit numbers, byte by byte, the first as differences. */
async function unpacked({ data, ...facts }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = planes.length / 16;
  const [submit, run, estimate, width] = [0, 1, 2, 3].map((column) =>
    Float64Array.from({ length: count }, (_, i) => {
      const byte = (plane) => planes[(4 * column + plane) * count + i];
      return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
    }),
  );
  for (let i = 1; i < count; i++) submit[i] += submit[i - 1];
  return { ...facts, notes: [], jobs: { submit, run, estimate, procs: width } };
}

let work = Promise.resolve(); // one request after the other

self.onmessage = ({ data }) => (work = work.then(() => answer(data)));

async function answer({ id, kind, ...request }) {
  const report = (progress) => self.postMessage({ id, progress });
  try {
    self.postMessage({ id, result: await handlers[kind](request, report) });
  } catch (error) {
    const { name, message, columns, rows } = error;
    self.postMessage({ id, error: { name, message, columns, rows } });
  }
}
