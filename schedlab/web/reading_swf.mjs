// Reads the Standard Workload Format, strictly, as Python's reader does.

import { Account } from "./reading_rules.mjs";

const FIELDS = [
  "job_number", "submit_time", "wait_time", "run_time", "allocated_procs", "avg_cpu_time", "used_memory",
  "requested_procs", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable",
  "queue", "partition", "preceding_job", "think_time",
];
const KEPT = { number: 0, submit: 1, run: 3, allocated: 4, requested: 7, estimate: 8 };
const LABEL = /^[ \t]*;\s*(MaxProcs|MaxNodes|UnixStartTime)\s*:(?!\/\/)\s*(.*)$/i;
const MOST = { maxprocs: 2 ** 24, maxnodes: 2 ** 24, unixstarttime: 253_402_214_400 }; // processors; the year 9999
const EXACT = 2 ** 53;

/** The records of a log, by column, and its size and start. */
export class Swf {
  size = 0;
  columns = Object.keys(KEPT).map(() => new Float64Array(2 ** 16));
  header = {};

  take(line, refuse) {
    if (/^[ \t]*;/.test(line)) return this.label(line, refuse);
    const fields = line.split(/[ \t]+/).filter(Boolean);
    if (!fields.length) return;
    if (fields.length !== FIELDS.length) refuse(`${fields.length} fields, expected the 18 of SWF`);
    for (let i = 0; i < FIELDS.length; i += 1) {
      const value = /^[-+.\de]+$/i.test(fields[i]) ? Number(fields[i]) : NaN;
      const isSize = FIELDS[i].endsWith("_procs");
      if (Math.abs(value) < EXACT && !(isSize && value < 0 && value !== -1)) continue;
      const expected = `a number${isSize ? ", -1 for unknown" : " below 2^53"}`;
      refuse(`field ${i + 1} (${FIELDS[i]}) is '${fields[i].slice(0, 60)}', expected ${expected}`);
    }
    if (this.size === this.columns[0].length) {
      const longer = () => new Float64Array(1.5 * this.size);
      this.columns.forEach((column, i) => (this.columns[i] = longer()).set(column));
    }
    Object.values(KEPT).forEach((place, i) => (this.columns[i][this.size] = Number(fields[place])));
    this.size += 1;
  }

  /** Take a comment; the first value of a label counts. */
  label(line, refuse) {
    const [, label, value] = LABEL.exec(line) ?? [];
    if (!label) return;
    const key = label.toLowerCase();
    const number = Number(/^[+-]?\d+/.exec(value)?.[0] ?? NaN);
    if (!value || number < -1 || number > MOST[key]) refuse(`${label} is '${value}', expected up to ${MOST[key]}`);
    const isWhole = number >= (key === "unixstarttime" ? 0 : 1) && !/^[+-]?\d+,\d/.test(value); // not 1 of 1,024
    if (!(key in this.header)) this.header[key] = isWhole ? number : null;
  }

  close() {
    const columns = Object.keys(KEPT).map((key, i) => [key, this.columns[i].subarray(0, this.size)]);
    const { requested, allocated, ...records } = Object.fromEntries(columns);
    records.procs = requested.map((size, i) => (size > 0 ? size : allocated[i]));
    const { maxprocs, maxnodes, unixstarttime = null } = this.header;
    const procs = maxprocs ?? maxnodes ?? null;
    return { records, procs, start: unixstarttime, account: new Account(), notes: [] };
  }
}
