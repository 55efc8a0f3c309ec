// Reads the Standard Workload Format: plain lines byte by byte, any other line as text, as Python's reader does.

import { BLANK, LogError, blocks, clipped, decoded, plain, quoted, strip } from "./reading_text.mjs";
import { usable } from "./reading_rules.mjs";

const FIELDS = [
  ...["job_number", "submit_time", "wait_time", "run_time", "allocated_procs", "avg_cpu_time", "used_memory"],
  ...["requested_procs", "requested_time", "requested_memory", "status", "user_id", "group_id", "executable"],
  ...["queue", "partition", "preceding_job", "think_time"],
];
const SIZES = ["allocated_procs", "requested_procs"];
const KEPT = [0, 1, 2, 3, 4, 7, 8, 10, 11];
const NAMES = ["number", "submit", "wait", "run", "allocated", "requested", "estimate", "status", "user"];
const MOST_FIELDS = 100; // in an extended record
const EXACT = 2 ** 53;
const MOST_PROCS = 2 ** 24;
const LATEST = 253_402_214_400; // seconds since 1970: the last day of the year 9999
const POWERS = Array.from({ length: 16 }, (_, digits) => 10 ** digits); // 15 digits and these are exact

const LABELS =
  "Version|Computer|Installation|Acknowledge|Information|Conversion|Note|MaxJobs|MaxRecords|Preemption|UnixStartTime|" +
  "TimeZone|TimeZoneString|StartTime|EndTime|MaxNodes|MaxProcs|MaxRuntime|MaxMemory|AllowOveruse|MaxQueues|Queues|" +
  "Queue|MaxPartitions|Partitions|Partition";
const LABELLED = [
  new RegExp(`^${BLANK}*;${BLANK}*(${LABELS})${BLANK}*:(?!//)([^]*)$`, "i"),
  new RegExp(`^${BLANK}*;${BLANK}*([A-Z][A-Za-z]*):(?!//)([^]*)$`), // any capitalised word before a colon
];
const COUNT = [1 - EXACT, EXACT - 1, "a number below 2^53 in magnitude"];
const SIZE = [1 - EXACT, MOST_PROCS, "a number of processors or nodes up to 16,777,216"];
const NUMBERED = [0, EXACT - 1, "a number below 2^53 and a name"];
const BOUNDS = {
  ...{ maxjobs: COUNT, maxrecords: COUNT, timezone: COUNT, maxruntime: COUNT, maxmemory: COUNT, maxqueues: COUNT },
  ...{ maxpartitions: COUNT, maxprocs: SIZE, maxnodes: SIZE, queue: NUMBERED, partition: NUMBERED },
  unixstarttime: [-1, LATEST, "seconds since 1970, up to the year 9999"],
};
const NO_ZONE = ["", "n/a", "none", "unknown", "-1"];

const [NEWLINE, RETURN, TAB, SPACE, MINUS, POINT, ZERO, NINE] = [10, 13, 9, 32, 45, 46, 48, 57];
const BETWEEN = /[ \t\r\v\f]+/; // fields: no other blanks
const isBlank = (byte) => byte === SPACE || (byte >= TAB && byte <= RETURN && byte !== NEWLINE);

/** The comment lines of a log: checked, and the first value of each label kept. */
class Header {
  values = {};
  entry = null; // the value that the next line may continue

  take(line) {
    const match = LABELLED[0].exec(line) ?? LABELLED[1].exec(line);
    const text = match ? strip(match[2]) : strip(strip(line).replace(/^;+/, ""));
    if (match) {
      const label = match[1].toLowerCase();
      const expected = unexpected(label, text);
      if (expected) return `${match[1]} is ${quoted(clipped(text))}, expected ${expected}`;
      this.entry = [text];
      this.values[label] ??= this.entry;
    } else if (text) {
      this.entry?.push(text);
    } else {
      this.entry = null;
    }
    return "";
  }

  integer(label, least, most) {
    const match = /^[+-]?[0-9]+(?!,?[0-9])/.exec(strip(this.values[label]?.join("\n") ?? ""));
    const number = match ? Number(match[0]) : NaN;
    return number >= least && number <= most ? number : null;
  }
}

function unexpected(label, value) {
  if (label === "timezonestring") {
    const fits = NO_ZONE.includes(value.toLowerCase()) || isZone(strip(value.split("(")[0]));
    return fits ? "" : "a time zone like Europe/Stockholm";
  }
  const digits = label in BOUNDS && /^[+-]?[0-9]+/.exec(value);
  if (!digits) return "";
  const [least, most, expected] = BOUNDS[label];
  return Number(digits[0]) < least || Number(digits[0]) > most ? expected : "";
}

function isZone(name) {
  if (!/^[A-Za-z]/.test(name)) return false; // +01:00 is no name
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

function expectedNumber(text, field) {
  const value = /^[-+.0-9eE]+$/.test(text) ? Number(text) : NaN;
  if (Number.isNaN(value)) return "a number";
  if (Math.abs(value) >= EXACT) return "a number below 2^53 in magnitude";
  return value < 0 && value !== -1 && SIZES.includes(field) ? "a number of processors, or -1 for unknown" : "";
}

/** Reads lines into rows of the fields that are kept. */
class Records {
  pieces = [];
  line = 1;
  count = 0; // fields of each record
  isRecord = false; // the line just read
  header = new Header();
  cells = new Float64Array(FIELDS.length);
  rows = new Float64Array(0);

  constructor(name) {
    this.name = name;
  }

  take(bytes) {
    const most = Math.ceil(bytes.length / (2 * FIELDS.length)) * KEPT.length;
    if (this.rows.length < most) this.rows = new Float64Array(most);
    let place = 0;
    for (let at = 0; at < bytes.length; this.line += 1) {
      let end = this.scan(bytes, at);
      if (end < 0) {
        end = bytes.indexOf(NEWLINE, at) + 1;
        this.parse(decoded(bytes.subarray(at, end - 1)));
      }
      at = end;
      if (this.isRecord) for (const field of KEPT) this.rows[place++] = this.cells[field];
    }
    this.pieces.push(this.rows.slice(0, place));
  }

  /** Read a line that is blank, or a record of plain numbers, as nearly all are; return its end, -1 for any other. */
  scan(bytes, at) {
    for (let field = 0; ; field += 1) {
      while (isBlank(bytes[at])) at += 1;
      if (bytes[at] === NEWLINE) {
        this.isRecord = field >= FIELDS.length && field === (this.count || field);
        if (this.isRecord) this.count = field;
        return this.isRecord || field === 0 ? at + 1 : -1;
      }
      if (field >= FIELDS.length) {
        if (field >= MOST_FIELDS) return -1;
        while (bytes[at] !== NEWLINE && !isBlank(bytes[at])) at += 1;
        continue;
      }
      const isNegative = bytes[at] === MINUS;
      if (isNegative) at += 1;
      let value = 0;
      let digits = 0;
      let decimals = 0;
      for (; bytes[at] >= ZERO && bytes[at] <= NINE; at += 1, digits += 1) value = 10 * value + bytes[at] - ZERO;
      if (bytes[at] === POINT) {
        at += 1;
        for (; bytes[at] >= ZERO && bytes[at] <= NINE; at += 1, decimals += 1) value = 10 * value + bytes[at] - ZERO;
      }
      digits += decimals;
      if (digits === 0 || digits >= POWERS.length || !(bytes[at] === NEWLINE || isBlank(bytes[at]))) return -1;
      value /= POWERS[decimals];
      if (isNegative && value !== 0 && value !== 1) return -1;
      this.cells[field] = isNegative && value ? -1 : value;
    }
  }

  /** Read any other line: a comment, or a record. */
  parse(line) {
    this.isRecord = !/^[ \t\r\v\f]*;/.test(line);
    const reason = this.isRecord ? this.record(line) : this.header.take(line.replace(/\r+$/, ""));
    if (reason) throw new LogError(`${this.name}:${this.line}: ${reason}`);
  }

  record(line) {
    const fields = line.split(BETWEEN).filter(Boolean);
    const problems = FIELDS.map((field, place) => expectedNumber(fields[place] ?? "", field));
    const bad = problems.findIndex(Boolean);
    const isFirst = this.count === 0 && bad < 0 && fields.length <= MOST_FIELDS;
    const expected = isFirst ? fields.length : this.count || FIELDS.length;
    if (fields.length !== expected) {
      const number = `${expected}${expected > FIELDS.length ? " as in the first record" : ""}`;
      const text = plain(clipped(strip(line, BETWEEN)));
      return `${fields.length} field${fields.length === 1 ? "" : "s"}, expected ${number}: '${text}'`;
    }
    if (bad >= 0) {
      return `field ${bad + 1} (${FIELDS[bad]}) is ${quoted(clipped(fields[bad]))}, expected ${problems[bad]}`;
    }
    this.cells.set(fields.slice(0, FIELDS.length).map(Number));
    this.count = expected;
    return "";
  }

  /** Return the fields as columns by their short names; the rows are given away, block by block. */
  columns() {
    const size = this.pieces.reduce((sum, piece) => sum + piece.length, 0) / KEPT.length;
    if (!size) {
      throw new LogError(`${this.name}: no line is a record, expected at least one of ${FIELDS.length} numbers`);
    }
    const columns = NAMES.map(() => new Float64Array(size));
    let row = 0;
    for (let piece = this.pieces.shift(); piece; piece = this.pieces.shift()) {
      for (let place = 0; place < piece.length; row += 1) for (const column of columns) column[row] = piece[place++];
    }
    return Object.fromEntries(NAMES.map((name, i) => [name, columns[i]]));
  }
}

/** Read a log in SWF; see `read`. */
export async function readSwf(file, options, report) {
  const name = plain(file.name);
  const records = new Records(name);
  for await (const block of blocks(file, "SWF text", report)) records.take(block);
  const { header } = records;
  const columns = records.columns();
  const size = header.integer("maxprocs", 1, MOST_PROCS) ?? header.integer("maxnodes", 1, MOST_PROCS);
  const procs = options.procs ?? size;
  return {
    name: name.replace(/\.(gz|bz2|xz|zst)$/, "").replace(/\.swf$/, ""),
    procs,
    start: header.integer("unixstarttime", 0, LATEST),
    ...usable(name, columns, procs),
  };
}
