// Reads the Standard Workload Format, strictly, as Python's reader does.

import { usable } from "./reading_rules.mjs";
import { BLANK, LATEST, LogError, MOST_PROCS, clipped, lines, plain, quoted, strip } from "./reading_text.mjs";

const FIELDS = [
  "job_number", "submit_time", "wait_time", "run_time", "allocated_procs", "avg_cpu_time", "used_memory",
  "requested_procs", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable",
  "queue", "partition", "preceding_job", "think_time",
];
const KEPT = { number: 0, submit: 1, wait: 2, run: 3, allocated: 4, requested: 7, estimate: 8, status: 10, user: 11 };
const PLACES = Object.values(KEPT);
const MOST_FIELDS = 100; // in an extended record
const EXACT = 2 ** 53;
const BETWEEN = /[ \t\r\v\f]+/; // fields: no other blanks
const PLAIN = /^ *(?:-1|[0-9]{1,15})(?: +(?:-1|[0-9]{1,15})){17} *\r?$/; // as nearly every line is

const B = `${BLANK.source}*`;
const LABELS =
  "Version|Computer|Installation|Acknowledge|Information|Conversion|Note|MaxJobs|MaxRecords|Preemption|UnixStartTime|" +
  "TimeZone|TimeZoneString|StartTime|EndTime|MaxNodes|MaxProcs|MaxRuntime|MaxMemory|AllowOveruse|MaxQueues|Queues|" +
  "Queue|MaxPartitions|Partitions|Partition";
const LABELLED = new RegExp(`^${B};${B}(${LABELS})${B}:(?!//)([^]*)$`, "i");
const WORD = new RegExp(`^${B};${B}([A-Z][A-Za-z]*):(?!//)([^]*)$`); // any capitalised word before a colon
const COUNT = [1 - EXACT, EXACT - 1, "a number below 2^53 in magnitude"];
const SIZE = [1 - EXACT, MOST_PROCS, "a number of processors or nodes up to 16,777,216"];
const NUMBERED = [0, EXACT - 1, "a number below 2^53 and a name"];
const BOUNDS = {
  maxjobs: COUNT, maxrecords: COUNT, timezone: COUNT, maxruntime: COUNT, maxmemory: COUNT, maxqueues: COUNT,
  maxpartitions: COUNT, maxprocs: SIZE, maxnodes: SIZE, queue: NUMBERED, partition: NUMBERED,
  unixstarttime: [-1, LATEST, "seconds since 1970, up to the year 9999"],
};

function isZone(name) {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return /^[A-Z]/i.test(name) && (timeZone === name || timeZone.toLowerCase() !== name.toLowerCase());
  } catch {
    return false;
  }
}

/** Say what the value of a label should be; empty if it is that. */
function expectedOf(label, value) {
  if (label === "timezonestring") {
    const isNone = ["", "n/a", "none", "unknown", "-1"].includes(value.toLowerCase());
    return isNone || isZone(strip(value.split("(")[0])) ? "" : "a time zone like Europe/Stockholm";
  }
  const [least, most, expected] = BOUNDS[label] ?? [];
  const number = Number(/^[+-]?[0-9]+/.exec(value)?.[0] ?? NaN);
  return number < least || number > most ? expected : "";
}

/** Say what a field should hold; empty if it holds that. */
function expectedNumber(text, field) {
  const value = /^[-+.0-9e]+$/i.test(text) ? Number(text) : NaN;
  if (Number.isNaN(value)) return "a number";
  if (Math.abs(value) >= EXACT) return "a number below 2^53 in magnitude";
  return value < 0 && value !== -1 && field.endsWith("_procs") ? "a number of processors, or -1 for unknown" : "";
}

/** The records and the header of a log; each step of reading returns what is wrong with a line. */
class Log {
  size = 0;
  columns = PLACES.map(() => new Float64Array(2 ** 16));
  count = FIELDS.length; // fields of each record; of the first, there may be more
  labels = {}; // the first value of each
  value = []; // of the label before, which the next line may continue

  take(line) {
    if (this.count === FIELDS.length && PLAIN.test(line)) return this.add(line.trim().split(/ +/));
    const fields = line.split(BETWEEN).filter(Boolean);
    if (!fields.length) return "";
    return fields[0].startsWith(";") ? this.comment(line.replace(/\r+$/, "")) : this.record(line, fields);
  }

  add(fields) {
    if (this.size === this.columns[0].length) {
      const longer = () => new Float64Array(1.5 * this.size);
      this.columns.forEach((column, i) => (this.columns[i] = longer()).set(column));
    }
    for (let i = 0; i < PLACES.length; i += 1) this.columns[i][this.size] = Number(fields[PLACES[i]]);
    this.size += 1;
    return "";
  }

  record(line, fields) {
    const expected = FIELDS.map((field, place) => expectedNumber(fields[place] ?? "", field));
    const bad = expected.findIndex(Boolean);
    if (this.size === 0 && bad < 0 && fields.length <= MOST_FIELDS) this.count = fields.length;
    if (fields.length === this.count && bad < 0) return this.add(fields);
    if (fields.length === this.count) {
      return `field ${bad + 1} (${FIELDS[bad]}) is ${quoted(fields[bad])}, expected ${expected[bad]}`;
    }
    const text = plain(clipped(line.slice(line.indexOf(fields[0])).replace(/[ \t\r\v\f]+$/, "")));
    const count = `${this.count}${this.count > FIELDS.length ? " as in the first record" : ""}`;
    return `${fields.length} field${fields.length === 1 ? "" : "s"}, expected ${count}: '${text}'`;
  }

  comment(line) {
    const match = LABELLED.exec(line) ?? WORD.exec(line);
    const text = strip(match?.[2] ?? strip(line).replace(/^;+/, ""));
    if (match) {
      const expected = expectedOf(match[1].toLowerCase(), text);
      if (expected) return `${match[1]} is ${quoted(text)}, expected ${expected}`;
    }
    if (match || !text) this.value = [];
    this.value.push(text);
    if (match) this.labels[match[1].toLowerCase()] ??= this.value;
    return "";
  }

  /** Read the number at the beginning of the value of a label; null if there is none, or not in these bounds. */
  number(label, least, most) {
    const match = /^\s*([+-]?[0-9]+)(?!,?[0-9])/.exec(this.labels[label]?.join("\n") ?? "");
    const number = Number(match?.[1] ?? NaN);
    return number >= least && number <= most ? number : null;
  }
}

/** Read a log in SWF; see `read`. */
export async function readSwf(file, options, report) {
  const name = plain(file.name);
  const log = new Log();
  let number = 0;
  for await (const some of lines(file, "SWF text", report)) {
    for (const line of some) {
      number += 1;
      const problem = log.take(line);
      if (problem) throw new LogError(`${name}:${number}: ${problem}`);
    }
  }
  if (!log.size) throw new LogError(`${name}: no line is a record, expected at least one of ${FIELDS.length} numbers`);
  const columns = Object.keys(KEPT).map((key, i) => [key, log.columns[i].subarray(0, log.size)]);
  const procs = options.procs ?? log.number("maxprocs", 1, MOST_PROCS) ?? log.number("maxnodes", 1, MOST_PROCS);
  const start = log.number("unixstarttime", 0, LATEST);
  const title = name.replace(/\.(gz|bz2|xz|zst)$/, "").replace(/\.swf$/, "");
  return { name: title, procs, start, ...usable(name, Object.fromEntries(columns), procs) };
}
