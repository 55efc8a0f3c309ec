// Reads the Standard Workload Format, strictly, as Python's reader does.

import { Account } from "./reading_rules.mjs";

const FIELDS = [
  "job_number", "submit_time", "wait_time", "run_time", "allocated_procs", "avg_cpu_time", "used_memory",
  "requested_procs", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable",
  "queue", "partition", "preceding_job", "think_time",
];
const KEPT = { number: 0, submit: 1, run: 3, allocated: 4, requested: 7, estimate: 8 };
const LABEL = /^[ \t]*;\s*(MaxProcs|MaxNodes|UnixStartTime)\s*:(?!\/\/)\s*(.*)$/i;
const BOUNDS = { maxprocs: [1, 2 ** 24], maxnodes: [1, 2 ** 24], unixstarttime: [0, 253_402_214_400] }; // year 9999

/** The records of a log, by column, and its size and start. */
export class Swf {
  size = 0;
  columns = Object.keys(KEPT).map(() => new Float64Array(2 ** 16));
  header = {};
  reader = { name: "read_swf" };
  bound = 0; // jobs that must wait for another

  take(line, refuse) {
    const [, label, value] = LABEL.exec(line) ?? [];
    if (label) this.label(label.toLowerCase(), value, refuse);
    if (/^[ \t]*;/.test(line)) return;
    const fields = line.split(/[ \t]+/).filter(Boolean);
    if (!fields.length) return;
    if (fields.length !== FIELDS.length) refuse(`${fields.length} fields, expected the 18 of SWF`);
    fields.forEach((text, i) => {
      const number = /^[-+.\de]+$/i.test(text) ? Number(text) : NaN;
      const isNoSize = FIELDS[i].endsWith("_procs") && number < 0 && number !== -1;
      const isExact = Math.abs(number) <= Number.MAX_SAFE_INTEGER;
      if (!isExact || isNoSize) refuse(`field ${i + 1} (${FIELDS[i]}) is '${text}', expected a number`);
    });
    if (this.size === this.columns[0].length) {
      const longer = () => new Float64Array(1.5 * this.size);
      this.columns.forEach((column, i) => (this.columns[i] = longer()).set(column));
    }
    Object.values(KEPT).forEach((place, i) => (this.columns[i][this.size] = Number(fields[place])));
    this.size += 1;
    this.bound += Number(fields[16]) > 0;
  }

  /** Take the value of a label, of which the first counts. */
  label(label, value, refuse) {
    const [least, most] = BOUNDS[label];
    const number = Number(/^[+-]?\d+/.exec(value)?.[0] ?? NaN);
    if (!value || number < -1 || number > most) refuse(`${label} is '${value}', expected ${least} to ${most}`);
    const isKnown = number >= least && !/^[+-]?\d+,\d/.test(value); // not 1 of 1,024
    if (!(label in this.header)) this.header[label] = isKnown ? number : null;
  }

  close() {
    const columns = Object.keys(KEPT).map((key, i) => [key, this.columns[i].subarray(0, this.size)]);
    const { requested, allocated, ...records } = Object.fromEntries(columns);
    records.procs = requested.map((size, i) => (size > 0 ? size : allocated[i]));
    const { maxprocs, maxnodes, unixstarttime = null } = this.header;
    const account = new Account();
    if (this.bound) account.facts.push(`jobs that must wait for another one, which is not simulated: ${this.bound}`);
    return { records, procs: maxprocs ?? maxnodes ?? null, start: unixstarttime, account };
  }
}
