// Simulates the runs of a file as the page does, and writes starts, measures and rows of charts.
import { readFileSync, writeFileSync } from "node:fs";
import { load } from "../../schedlab/web/kernels.mjs";
import { measures, offeredLoad, scaled, simulate, slowdowns, sortedWaits, startedBy } from "../../schedlab/web/simulate.mjs";
import { distribution, gantt, profile, table } from "../../schedlab/web/views.mjs";

const [file, out] = process.argv.slice(2);
const folder = new URL("../../schedlab/web/", import.meta.url);
const { kernels, schemes, workloads, runs, charts } = JSON.parse(readFileSync(file));
const call = await load(readFileSync(new URL("kernels.wasm", folder)), { kernels });
const known = workloads.map(({ jobs, procs }) => {
  const columns = Object.entries(jobs).map(([name, values]) => [name, Float64Array.from(values)]);
  return { jobs: Object.fromEntries(columns), procs };
});
const results = runs.map(({ workload, load: target, scheme, order, machine }) => {
  const jobs = scaled(known[workload], target);
  const schedule = simulate(call, jobs, schemes[scheme], order, machine ?? jobs.procs);
  const result = { start: Array.from(schedule.start), measures: measures(schedule), load: offeredLoad(jobs) };
  if (!charts) return result;
  const [begin, end] = charts;
  const drawn = gantt(call, schedule, begin, end, 1);
  const labels = Array.from(startedBy(call, schedule));
  return { ...result, labels, waits: distribution({ it: sortedWaits(schedule) }, charts[2], 240), slowdowns: distribution({ it: slowdowns(schedule).sort() }, charts[2], 240), time: profile(schedule, begin, end), gantt: drawn, csv: table(schedule) };
});
writeFileSync(out, JSON.stringify(results));
