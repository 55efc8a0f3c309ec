// What charts draw of schedules: rows of the tables whose columns the charts of Python name.

import { even, follow, lost, placed, sortedBy, startedBy } from "./simulate.mjs";

const POINTS = 400; // of a curve
const BINS = 600; // of a profile
const RECTANGLES = 5000; // of all Gantt charts together
const LINE = 15; // pixels between names at the ends of lines
const HOUR = 3600;
const [LONG, WIDE] = [HOUR, 32]; // seconds and processors: least of long and of wide jobs
export const CLASSES = ["short narrow", "short wide", "long narrow", "long wide"];
const STARTED = ["in its turn", "by a reservation", "backfilled within the shadow", "backfilled on extra processors"];

/** The place of a job's class among `CLASSES`, which are Kurian's. */
export const classOf = (jobs, i) => 2 * (jobs.run[i] >= LONG) + (jobs.procs[i] >= WIDE);

/** Rows of the distribution of sorted values: a curve for each name, from 1 to `upTo`, on a plot `high` pixels high. */
export function distribution(named, upTo, high) {
  const curves = Object.entries(named).map(([name, values]) => {
    const rows = steps(values).filter((row) => row.value <= upTo);
    const share = rows.length ? rows.at(-1).share : 0;
    if (rows.at(-1)?.value !== upTo) rows.push({ value: upTo, share });
    return { name, rows, last: rows.at(-1), order: [share, -values[values.length >> 1]], at: share };
  });
  curves.sort((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return labelled(curves, (share) => share * high);
}

function steps(sorted) {
  const places = new Map(); // the last place of each value
  sorted.forEach((value, i) => places.set(value, i));
  const values = new Set(places.keys());
  if (values.size > POINTS) {
    values.clear();
    for (let i = 0; i < POINTS; i++) values.add(sorted[even((i * (sorted.length - 1)) / (POINTS - 1))]);
  }
  const shareOf = (value) => (places.get(value) + 1) / sorted.length;
  return Array.from(values, (value) => ({ value: Math.max(value, 1), share: shareOf(value) }));
}

/** Rows of a measure by load: one line for each scheme. Each result has a scheme, a load and the measure. */
export function curve(results, measure, high) {
  const values = results.map((row) => Math.log(row[measure]));
  const [low, most] = [Math.min(...values), Math.max(...values)];
  const lines = [...new Set(results.map((row) => row.scheme))].map((name) => {
    const rows = results.filter((row) => row.scheme === name);
    return { name, rows, last: rows.at(-1), at: rows.at(-1)[measure] };
  });
  lines.sort((a, b) => a.at - b.at);
  return labelled(lines, (value) => (most > low ? ((Math.log(value) - low) / (most - low)) * high : 0));
}

/** Ticks of a logarithmic axis: powers of ten; over a shorter range 1, 2 and 5 times these. */
export const ticks = (low, high) =>
  (high > 100 * low ? [1] : [1, 2, 5]).flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power));

/** Name each line at its end; names that would touch move apart. */
function labelled(lines, pixels) {
  const wanted = lines.map((line) => pixels(line.at));
  const places = spread(wanted);
  return lines.flatMap(({ name, rows, last, at }, i) => {
    const label = { "label at": at, "label text": name, "label shift": wanted[i] - places[i] };
    const none = { "label at": null, "label text": "", "label shift": 0 };
    return rows.map((row) => ({ ...row, scheme: name, ...(row === last ? label : none) }));
  });
}

/** Move ascending places as little as necessary so that neighbours are a line apart. */
function spread(places) {
  const groups = [];
  const sum = (group) => group.reduce((all, place) => all + place, 0);
  const first = (group) => sum(group) / group.length - (LINE * (group.length - 1)) / 2;
  for (const place of places) {
    groups.push([place]);
    while (groups.length > 1 && first(groups.at(-1)) < first(groups.at(-2)) + LINE * groups.at(-2).length) {
      const last = groups.pop();
      groups.push([...groups.pop(), ...last]);
    }
  }
  return groups.flatMap((group) => group.map((_, i) => first(group) + LINE * i));
}

/** Rows of machine and queue over time: means over equal parts of a window [begin, end), and the longest queue. */
export function profile(schedule, begin, end) {
  const width = (end - begin) / BINS;
  const names = ["used", "queued", "work"];
  const bins = Array.from({ length: BINS }, () => ({ used: 0, queued: 0, work: 0, longest: 0 }));
  let [before, place] = [begin, 0];
  let state = { used: 0, queued: 0, work: 0 };
  follow(schedule, (now, next) => {
    fill(Math.min(now, end));
    state = { used: next.used, queued: next.queued, work: next.work };
  });
  fill(end);
  const rows = bins.map(({ used, queued, work, longest }, i) => {
    const means = { used: used / width, queued: queued / width, backlog: work / width / HOUR };
    return { time: begin + i * width, ...means, longest };
  });
  return [...rows, { ...rows.at(-1), time: end }];

  function fill(until) {
    while (before < until) {
      const edge = place === BINS - 1 ? end : begin + (place + 1) * width;
      const stop = Math.max(before, Math.min(until, edge));
      for (const name of names) bins[place][name] += state[name] * (stop - before);
      if (stop > before) bins[place].longest = Math.max(bins[place].longest, state.queued);
      before = stop;
      if (before >= edge) place++;
    }
  }
}

/**
 * Rows of a Gantt chart: a rectangle for each interval of processors of each piece of a job that runs in a window.
 *
 * @param {(job: number, tasks: number) => string} colour - of a piece
 * @returns {{rows: object[], shown: number, all: number, share: number}} of so many pieces with the most work in the
 *   window all rectangles are drawn, if `parts` charts are beside one another; they do this share of the work
 */
export function gantt(call, schedule, begin, end, parts, colour = (job) => CLASSES[classOf(schedule.jobs, job)]) {
  const { jobs, start } = schedule;
  const { offset, first, last, second, ...pieces } = placed(call, schedule);
  const times = [pieces.start, pieces.end].map((list) => Array.from(list, (time) => time / second));
  const clipped = times.map((list) => list.map((time) => Math.min(Math.max(time, begin), end)));
  const area = clipped[0].map((from, i) => (clipped[1][i] - from) * pieces.procs[i]);
  const all = [...area.keys()].filter((piece) => area[piece] > 0).sort((i, j) => area[j] - area[i] || i - j);
  const sum = (list) => list.reduce((work, piece) => work + area[piece], 0);
  let count = 0;
  const drawn = all.filter((piece) => (count += offset[piece + 1] - offset[piece]) <= RECTANGLES / parts);
  const [labels, ahead] = schedule.pieces ? [] : [startedBy(call, schedule), overtaken(jobs, start)];
  const number = schedule.workload.jobs.number;
  const rows = drawn.flatMap((piece) => {
    const job = pieces.job[piece];
    const [tasks, submit] = [pieces.tasks[piece], jobs.submit[job]];
    const held = { begin: clipped[0][piece], end: clipped[1][piece], procs: pieces.procs[piece], tasks };
    const hours = { wait: inHours(times[0][piece] - submit), run: inHours(jobs.run[job]) };
    const named = { job: number ? number[job] : job + 1, color: colour(job, tasks), submit };
    const row = { ...held, ...hours, ...named, estimate: inHours(jobs.estimate[job]) };
    if (ahead) Object.assign(row, { how: STARTED[labels[job]], promised: schedule.promise[job], ...ahead(job) });
    const lows = [...first.subarray(offset[piece], offset[piece + 1])];
    return lows.map((low, i) => ({ ...row, low, high: last[offset[piece] + i] + 1 }));
  });
  return { rows, shown: drawn.length, all: all.length, share: all.length ? sum(drawn) / sum(all) : 1 };
}

/** The number of jobs that are in a group, and the mean of a value of these. */
export function meanOf(count, isIn, value) {
  const places = Array.from({ length: count }, (_, i) => i).filter(isIn);
  return { jobs: places.length, mean: places.reduce((sum, i) => sum + value(i), 0) / places.length };
}

/** By how many percent the means of groups of jobs fell from a schedule without tasks of sweeps to one with them. */
export function gains(before, after, sweeps) {
  const { submit, run } = before.jobs;
  const swept = new Set(sweeps);
  const groups = { sweeps: (i) => swept.has(i), "other jobs": (i) => !swept.has(i) };
  CLASSES.forEach((name, place) => (groups[name] = (i) => !swept.has(i) && classOf(before.jobs, i) === place));
  const turnarounds = [(i) => before.start[i] + run[i] - submit[i], (i) => after.end[i] - submit[i]];
  const loss = 100 * (1 - after.lost / lost(before));
  const fall = (isIn, per) => {
    const [was, is] = turnarounds.map((turnaround) => meanOf(run.length, isIn, (i) => turnaround(i) / per(i)).mean);
    return 100 * (1 - is / was);
  };
  return Object.entries(groups).map(([name, isIn]) => [name, fall(isIn, () => 1), fall(isIn, (i) => run[i]), loss]);
}

const inHours = (seconds) => even((seconds / HOUR) * 1000) / 1000;

/** How many earlier jobs still waited when a job started, and how many later jobs had started before it. */
function overtaken(jobs, start) {
  const count = start.length;
  const begun = new Int32Array(count + 1); // of a Fenwick tree over the jobs in order of arrival
  const before = (place) => {
    let sum = 0;
    for (let i = place; i > 0; i -= i & -i) sum += begun[i];
    return sum;
  };
  const [passed, passing] = [new Int32Array(count), new Int32Array(count)];
  for (const [started, job] of sortedBy(start).entries()) {
    const earlier = before(job);
    passed[job] = job - earlier;
    passing[job] = started - earlier;
    for (let i = job + 1; i <= count; i += i & -i) begun[i]++;
  }
  return (job) => ({ passed: passed[job], passing: passing[job] });
}

/** A schedule as lines of CSV, a job each. */
export function table({ workload, jobs, start }) {
  const head = "job_number,submit_time,start_time,end_time,wait_time,run_time,requested_time,procs";
  const lines = Array.from(start, (at, i) => {
    const number = workload.jobs.number ? workload.jobs.number[i] : i + 1;
    const times = [jobs.submit[i], at, at + jobs.run[i], at - jobs.submit[i], jobs.run[i], jobs.estimate[i]];
    return [number, ...times, jobs.procs[i]].join();
  });
  return `${[head, ...lines].join("\n")}\n`;
}
