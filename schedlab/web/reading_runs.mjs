// Python's rules that make a log of a table of runs: what is no run, what has not ended, what is given twice.

import { Account, OTHER, RUNNING, SHARED, STEP, TWICE, usable } from "./reading_rules.mjs";
import { LATEST, LogError, MOST_PROCS, clipped, counted, plain, quoted, strip } from "./reading_text.mjs";

const UNIX = 500_000_000; // seconds since 1970; lower ones are on a clock of their own
const NO_LIMIT = [2 ** 32 - 1, 2 ** 32 - 2]; // Slurm's
const UNITS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86_400 }; // in seconds
const NOTHING = new Set(["", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit", "nan", "null", "-1"]);
const INSTANTS = ["submit", "eligible", "start", "end"];
const COLUMNS = ["number", "submit", "wait", "run", "allocated", "requested", "estimate", "status", "user"];
const REQUESTED = ["reqcpus", "reqnodes", "cpus_req", "req_cpus", "req_nodes", "numprocessors"];
// States by what they mean for a run, of Slurm and of others; any other is that of a run that has ended, or unknown.
const KINDS = {
  waits: /^(PENDING|CONFIGURING|REQUEUE_HOLD|REQUEUE_FED|RESV_DEL_HOLD|POWER_UP_NODE|PD|CF|RH|RF|RD|WAITING|QUEUED)$/,
  runs: /^(RUNNING|SUSPENDED|STOPPED|COMPLETING|SIGNALING|STAGE_OUT|UPDATE_DB|EXPEDITING|R|S|ST|CG|SI|SO)$/,
  cancelled: /^(CANCELLED\+?|CA|KILLED|CANCELED|ABORTED|REJECTED|COMPLETED_KILLED)$/,
};

const JOB = /^([0-9]{1,15})(?:_(?:[0-9]+|\[[^\]]*\]?)|\+[0-9]+)?(\..+)?$/; // 7, 7_4, 7_[5-9%2], 7+1; then the step
const NUMBER = /^[0-9]{1,15}(?:\.[0-9]{1,6})?$/;
const DATE = /^((?:19|20|21)\d\d-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)$/;
const DAYS = /^([0-9]{1,6})-([0-9]{1,2})(?::([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]+)?))?)?$/;
const CLOCK = /^()(?:([0-9]{1,8}):(?=[0-5][0-9]:))?([0-9]{1,8}):([0-5][0-9](?:\.[0-9]+)?)$/; // (): no days

const NO_FIELDS = []; // of a row that has been read
const copied = (text) => (text.length > 12 ? [...text].join("") : text); // a long part would keep all of its line
const number = (text) => (NUMBER.test(text) ? Number(text) : NaN);
const workOf = (row) => (row.run > 0 && row.requested > 0 ? row.run * row.requested : 0);
const least = (rows, role) => rows.reduce((value, row) => (row[role] < value ? row[role] : value), Infinity);

// What reads a text in some unit (NaN if it is none, null if it means unknown), and what it expects.
const INSTANT = {
  expected: "a time like 2024-03-01 12:00:00, or seconds; Python reads other forms",
  read(text, unit) {
    const match = DATE.exec(text);
    if (!match) return number(text) * unit;
    const date = new Date(`${match[1]}T${match[2]}Z`); // which takes February 30 for March 1
    return Number.isNaN(date.getTime()) || !date.toISOString().startsWith(match[1]) ? NaN : date.getTime() / 1000;
  },
};
const DURATION = {
  expected: "seconds, or a duration like 05:30, 12:05:30, 2-12 or 2-12:05:30",
  read(text, unit) {
    const match = DAYS.exec(text) ?? CLOCK.exec(text);
    if (!match && NO_LIMIT.includes(number(text))) return null;
    const [days, hours, minutes, seconds] = (match ?? []).slice(1).map((part) => Number(part ?? 0));
    const length = match ? 86_400 * days + 3600 * hours + 60 * minutes + seconds : number(text) * unit;
    return length <= LATEST ? length : NaN;
  },
};
const SIZE = {
  expected: `a number up to ${counted(MOST_PROCS)}, or -1 for unknown`,
  read: (text) => (number(text) <= MOST_PROCS ? number(text) || null : NaN),
};

/** The runs of a log, a row each; `places` are the fields of each role. */
export class Runs {
  account = new Account();
  rows = [];
  isDates = null; // how times are written
  users = new Map(); // their numbers by name
  highest = 0; // number of a job, or of one of which only steps are there

  constructor(file, { names, places, isExport }, options) {
    Object.assign(this, { file, names, places, isExport, options });
    this.got = places.procs.filter((place) => !REQUESTED.includes(names[place].toLowerCase()));
  }

  refuse(row, role, text, expected, place = this.places[role][0]) {
    const where = `${this.file}:${row.line}: column ${quoted(this.names[place])} (${role})`;
    throw new LogError(`${where} is ${quoted(String(text))}, expected ${expected}`);
  }

  /** Read the first known value of the fields of a role; NaN if there is none. */
  value(row, role, { read, expected }, places = this.places[role] ?? []) {
    const { units = this.isExport ? { estimate: "min" } : {} } = this.options;
    for (const place of places) {
      const text = strip(row.fields[place] ?? "");
      if (NOTHING.has(text.toLowerCase())) continue;
      const value = read(text, UNITS[units[role] ?? (typeof units === "string" ? units : "s")]);
      if (!(value >= 0)) this.refuse(row, role, text, expected, place);
      if (INSTANTS.includes(role) && (this.isDates ??= DATE.test(text)) !== DATE.test(text)) {
        this.refuse(row, role, text, "all times as dates, or all as seconds", place);
      }
      if (value !== null) return value;
    }
    return NaN;
  }

  /** Take a row. */
  take(line, fields) {
    const text = (role) => strip(fields[this.places[role]?.[0]] ?? "");
    const row = { line, fields, id: copied(text("job")), number: NaN, reason: "" };
    if (/^[0-9]+[_+]?[0-9]*\.(?:batch|extern|interactive)$/.test(text("steps"))) row.reason = STEP;
    if (/^[0-9_+]+\.[0-9]+$/.test(text("steps"))) this.refuse(row, "steps", text("steps"), "a job, or 123.batch");
    if (this.places.job && this.isStep(row)) return this.account.leaveOut(STEP, 0);
    for (const role of INSTANTS) row[role] = this.value(row, role, INSTANT);
    for (const role of ["run", "estimate"]) row[role] = this.value(row, role, DURATION);
    row.allocated = this.value(row, "procs", SIZE, this.got);
    row.requested = Number.isNaN(row.allocated) ? this.value(row, "procs", SIZE) : row.allocated;
    row.state = copied(text("state").split(" ")[0].toUpperCase());
    row.kind = Object.keys(KINDS).find((kind) => KINDS[kind].test(row.state)) ?? "";
    if (!row.kind && /\+$|^[0-9.-]+$/.test(row.state)) this.refuse(row, "state", row.state, "a state by its name");
    row.user = copied(text("user").replace(/^-[0-9]+$/, ""));
    if (row.user && !this.users.has(row.user)) this.users.set(row.user, this.users.size);
    row.partition = copied(text("partition").split(",")[0]);
    row.cluster = copied(text("cluster"));
    row.hasGpus = /gpu[^,]*[=:]0*[1-9]/.test(text("gpus"));
    if (this.isExport || !this.places.job) row.fields = NO_FIELDS;
    return this.rows.push(row);
  }

  /** Read the number of a job; tell whether it is that of a step. */
  isStep(row) {
    const { job, raw = job } = this.places;
    const [id, base] = [job, raw].map(([place]) => JOB.exec(row.fields[place]));
    const place = id ? raw[0] : job[0];
    const isJob = id && base && (this.isExport || !id[2]);
    if (!isJob) this.refuse(row, "job", row.fields[place], "a job like 123, 123_4, 123_[5-9] or 123+0", place);
    row.number = Number(base[1]);
    this.highest = Math.max(this.highest, row.number);
    return id[2] !== undefined;
  }

  /** Make a log of the rows; see `read`. */
  close(name) {
    const { rows, file, account, options } = this;
    if (!rows.length) throw new LogError(`${file}: no job in it, expected a row for each`);
    const clusters = [...new Set(rows.map((row) => row.cluster))].filter(Boolean);
    const { cluster } = options;
    if (cluster ? !clusters.includes(cluster) : clusters.length > 1) {
      const listed = plain(clusters.slice(0, 10).map(clipped).join(", "));
      throw new LogError(`${file}: jobs of several clusters (${listed}), expected one of them; give cluster=`);
    }
    for (const row of rows) if (cluster && row.cluster !== cluster) row.reason = `${OTHER}${cluster}`;
    const isDated = this.isDated();
    this.leaveOut();
    if (this.places.job) this.leaveOutTwice();
    const clock = rows.filter((row) => ![STEP, RUNNING, TWICE].includes(row.reason));
    const first = least(clock.length ? clock : rows, "submit");
    const start = isDated && first < Infinity ? Math.floor(first) : null;
    const kept = rows.filter((row) => !row.reason);
    this.setNumbers(kept);
    for (const row of rows) if (row.reason) account.leaveOut(row.reason, workOf(row));
    const started = kept.filter((row) => !Number.isNaN(row.start));
    const procs = options.procs ?? (started.length || !kept.length ? mostInUse(started) : null);
    const records = {};
    for (const role of COLUMNS) records[role] = new Float64Array(kept.length).fill(-1);
    kept.forEach((row, i) => {
      row.wait = row.start - row.submit;
      row.submit -= start ?? 0;
      row.user = this.users.get(row.user);
      for (const role of COLUMNS) if (row[role] >= 0) records[role][i] = row[role];
    });
    const result = { name, procs, start, ...usable(file, records, procs, account) };
    if (result.users) result.users.names = [...this.users.keys()];
    result.notes.push(...this.notes(kept, procs));
    return result;
  }

  /** Check that all times are on one clock, and tell whether it is that of dates. */
  isDated() {
    const isDated = this.isDates || least(this.rows.filter((row) => row.submit > 0), "submit") >= UNIX;
    const expected = isDated ? "a date from 1985 on" : "seconds on the clock of the submissions";
    for (const row of this.rows) {
      for (const role of INSTANTS) {
        if (isDated && row[role] === 0) row[role] = NaN;
        const isOther = isDated ? row[role] < UNIX : row[role] >= UNIX;
        if (isOther || row[role] > LATEST) this.refuse(row, role, row[role], expected);
      }
    }
    return isDated;
  }

  /** Give a reason to each run that waits, goes on or never ran; refuse times that contradict each other. */
  leaveOut() {
    const { start: hasStart, end: hasEnd } = this.places;
    let last = 0;
    for (const row of this.rows) {
      row.lasted = row.end - row.start;
      row.recorded = row.run;
      if (!hasStart) row.start = row.end - row.run;
      if (Number.isNaN(row.run)) row.run = row.lasted;
      for (const role of ["submit", "start", "end"]) if (row[role] > last) last = row[role];
    }
    for (const row of this.rows) {
      const { kind, start, end, run, lasted } = row;
      const isUnended = hasStart && hasEnd && !Number.isNaN(start) && Number.isNaN(end);
      const never = hasStart && Number.isNaN(start) && !(run > 0);
      const isUnused = (run === 0 && Number.isNaN(row.allocated)) || (end < start && !(run > 0));
      if (kind === "waits") row.reason ||= "still waiting when the record was made";
      if (kind === "cancelled" && (never || isUnused)) row.reason ||= "cancelled before it started";
      if (never) row.reason ||= "never started";
      if (kind === "runs" || isUnended) row.reason ||= RUNNING;
      if ((kind === "runs" || isUnended) && Number.isNaN(run)) row.run = last - start;
      const isUnclear = isUnended && run > 0 && row.state && !["waits", "runs"].includes(kind);
      if (isUnclear) this.refuse(row, "end", "", `an end, as the run is ${row.state}`);
      if (row.reason || !hasStart || !hasEnd) continue;
      if (lasted < 0 && run !== 0) this.refuse(row, "end", end, "a time at or after the start (Python has time_zone=)");
      if (lasted >= 0 && row.recorded > lasted + 1) this.refuse(row, "run", run, "at most the time from start to end");
    }
  }

  /** Keep the last of equal records, one that has ended if there is any. */
  leaveOutTwice() {
    if (new Set(this.rows.map((row) => row.id)).size === this.rows.length) return;
    const seen = new Set();
    const equal = new Set();
    const [others, settled] = [true, false].map((isOut) => this.rows.filter((row) => (row.reason !== "") === isOut));
    for (const row of [...others, ...settled].reverse()) {
      if (row.reason.startsWith(OTHER)) continue; // the same number is another job
      const key = [row.id, row.submit, Number.isNaN(row.start) ? row.run : row.start].join("\n");
      const whole = [key, row.run, row.requested, ...row.fields].join("\n");
      if (seen.has(key) && (row.reason || equal.has(whole))) row.reason = TWICE;
      seen.add(key);
      equal.add(whole);
    }
  }

  /** Number the runs that are kept: the last of a job keeps its number. */
  setNumbers(kept) {
    if (!this.places.job) this.rows.forEach((row, i) => (row.number = i + 1));
    const last = new Map(kept.map((row) => [row.number, row]));
    for (const row of kept) {
      if (last.get(row.number) === row) continue;
      this.highest += 1;
      row.number = this.highest;
      this.account.add(SHARED);
    }
  }

  notes(kept, procs) {
    const partitions = [...new Set(kept.map((row) => row.partition))].filter(Boolean);
    const having = kept.filter((row) => row.hasGpus).length;
    const isGuessed = procs !== null && !this.options.procs;
    return [
      isGuessed && `size of the machine not given; the most processors in use at one instant: ${counted(procs)}`,
      partitions.length > 1 && `${partitions.length} partitions on one machine: ${plain(partitions.join(", "))}`,
      having && `${counted(having)} job${having > 1 ? "s have" : " has"} GPUs, which are not simulated`,
      this.isDates && "no time zone was given; dates are those of UTC",
    ].filter(Boolean);
  }
}

/** Count the most processors in use at any instant; a run holds them in [start, end). */
function mostInUse(rows) {
  const endOf = (row) => row.start + row.run;
  const starts = rows.filter((row) => workOf(row) > 0).sort((a, b) => a.start - b.start);
  const ends = [...starts].sort((a, b) => endOf(a) - endOf(b));
  let used = 0;
  let most = 1;
  let ended = 0;
  for (const row of starts) {
    for (; endOf(ends[ended]) <= row.start; ended += 1) used -= ends[ended].requested;
    used += row.requested;
    most = Math.max(most, used);
  }
  return Math.ceil(most);
}
