// Reads what sacct -P writes, and tables of jobs whose columns are known by their names or as the user says.

import { Account } from "./reading_rules.mjs";

// The columns of sacct, in small letters; of several, the first with a known value counts.
const SACCT = {
  job: ["jobid", "jobidraw"], raw: ["jobidraw", "jobid"], submit: ["submit"], start: ["start"], end: ["end"],
  run: ["elapsedraw", "elapsed"], estimate: ["timelimitraw", "timelimit"], procs: ["alloccpus", "ncpus", "reqcpus"],
  state: ["state"], cluster: ["cluster"],
};
// Columns of a table that are known by their names, and some that are known by these in small letters.
const TABLE = {
  submit: ["submit_time"], run: ["run_time"], procs: ["requested_procs"], estimate: ["requested_time"],
  job: ["job_number"],
};
const ALIKE = { id: ["jobid", "jobidraw", "job_id", "id_job"], state: ["state", "status", "job_state", "jobstate"] };
const UNIX = 500_000_000; // seconds since 1970; lower ones are on a clock of their own
const LONGEST = 2 ** 31; // seconds of a run; Slurm writes 2 ** 32 - 1 for no limit
const NOTHING = new Set(["", "unknown", "none", "n/a", "invalid", "unlimited", "partition_limit", "nan", "null", "-1"]);
const WAITS = /^(PENDING|CONFIGURING|REQUEUE_HOLD|REQUEUE_FED|RESV_DEL_HOLD|POWER_UP_NODE|WAITING|QUEUED)$/;
const RUNS = /^(RUNNING|SUSPENDED|STOPPED|COMPLETING|SIGNALING|STAGE_OUT|UPDATE_DB|EXPEDITING)$/;
const UNCLEAR = /\+$|^[\d.-]+$|^[A-Z]{1,3}$/; // states that are cut, numbers, or short
const JOB = /^(\d{1,15})(?:_(?:\d+|\[[^\]]*\]?)|\+\d+)?(\..+)?$/; // 7, 7_4, 7_[5-9%2], 7+1; then the step
const DATE = /^((?:19|20|21)\d\d-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)$/;
const CLOCK = /^(?:(\d{1,6})-(?=\d\d?:))?(\d{1,8}):([0-5]\d):([0-5]\d(?:\.\d+)?)$/; // 12:05:30, 2-12:05:30
const QUOTED = /^ *"((?:[^"]|"")*)"$/;
const SEPARATED = /^ *\w+([^\w\s]+|\t)(?=\w)/; // the first name of a header, and what stands before the next
const UNENDED = "left out: still running when the record was made";
const TWICE = "left out: given twice: same job, submission and start";

// What reads the text of each role; NaN if it is none, null if it means unknown.
const number = (text) => (/^\d{1,11}(?:\.\d{1,6})?$/.test(text) ? Number(text) : NaN);
function instant(text) {
  const [, day, clock] = DATE.exec(text) ?? [];
  const date = new Date(`${day}T${clock}Z`); // which takes February 30 for March 1
  if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)) return date.getTime() / 1000;
  return number(text);
}
function duration(text, unit) {
  const [days, hours, minutes, seconds] = (CLOCK.exec(text) ?? []).slice(1).map((part) => Number(part ?? 0));
  const length = CLOCK.test(text) ? 86_400 * days + 3600 * hours + 60 * minutes + seconds : number(text) * unit;
  return length < LONGEST ? length : NaN;
}
const size = (text) => (/^\d{1,7}(?:\.0{1,6})?$/.test(text) ? Number(text) || null : NaN);
const READS = { submit: instant, start: instant, end: instant, run: duration, estimate: duration, procs: size };

/** Split a line at its separators, of which some may stand in quotes; an empty list if the quotes are odd. */
function split(line, separator) {
  const isOpen = (text) => /^ *"/.test(text) && !QUOTED.test(text);
  const fields = [];
  for (const part of line.split(separator)) {
    fields.push(isOpen(fields.at(-1)) ? `${fields.pop()}${separator}${part}` : part);
  }
  if (fields.some((text) => text.includes('"') && !QUOTED.test(text))) return [];
  return fields.map((text) => QUOTED.exec(text)?.[1].replaceAll('""', '"') ?? text);
}

/** Return, by role, the places of the columns with some names. */
function placesOf(names, roles) {
  const places = (known) => known.map((name) => names.indexOf(name)).filter((place) => place >= 0);
  const here = Object.entries(roles).map(([role, known]) => [role, places(known)]);
  return Object.fromEntries(here.filter(([, each]) => each.length));
}

const isComplete = ({ submit, start, end, run, procs }) => submit && procs && (run || (start && end));

/**
 * Return the places of a table's columns, as the user says in `columns`, else by their names. If these do not say what
 * is what, the error has them as `columns`, and the first `rows`.
 */
function tablePlaces(names, rows, columns, refuse) {
  const isHeader = names.length > 2 && new Set(names).size === names.length && !/^[\d{[]/.test(names[0]);
  if (!isHeader) refuse("expected SWF, or a line with unique names of columns; Python reads JSON, PBS and LSF, too");
  const chosen = Object.entries(columns ?? {}).map(([role, name]) => [role, [names.indexOf(name)]]);
  const mine = Object.fromEntries(chosen);
  const { run, ...known } = { ...placesOf(names, TABLE), ...placesOf(names.map((name) => name.toLowerCase()), ALIKE) };
  const places = { ...(run && !mine.end ? { run } : {}), ...known, ...mine };
  const other = names.find((name) => ["wait_time", "allocated_procs"].includes(name));
  const isWhole = isComplete(places) && chosen.every(([, [place]]) => place >= 0);
  if (isWhole && other) refuse(`a column ${other}, which sl.read_table in Python reads`);
  if (isWhole) return places;
  if (columns) refuse("expected columns for submit, procs, and run or start and end");
  throw Object.assign(new Error("which columns are these?"), { name: "ColumnsNeeded", columns: names, rows });
}

/** The runs of a log, and where its columns are; of those that the user chose, `columns` has the names by role. */
export class Table {
  account = new Account();
  runs = [];
  size = 0;
  seen = new Map(); // runs by job, submission and start
  highest = 0; // number of a job, or of one of which only steps are there
  cluster = "";

  constructor(header, rows, columns, refuse) {
    const separator = SEPARATED.exec(header)?.[1] ?? "|";
    this.names = header.split(separator).map((name) => name.trim());
    this.places = placesOf(this.names.map((name) => name.toLowerCase()), SACCT);
    const isWhole = isComplete(this.places) && this.places.job && this.places.start;
    this.isExport = isWhole && !columns && (/\b(?:alloc|n)cpus\b/i.test(header) || !/cputimeraw/i.test(header));
    const [most] = [...",\t;|"].sort((a, b) => header.split(b).length - header.split(a).length);
    this.split = this.isExport ? (line) => line.split(separator) : (line) => split(line, most);
    this.reader = this.isExport ? { name: "read_sacct" } : { name: "read_table", separator: most };
    this.again = this.isExport ? header : null; // repeated where outputs were joined
    if (this.isExport) return;
    this.names = this.split(header).map((name) => name.replace(/^ +/, ""));
    this.places = tablePlaces(this.names, rows.slice(0, 5).map(this.split), columns, refuse);
  }

  take(line, fail) {
    const { isExport, names, places } = this;
    const refuse = (problem) => fail(`${problem}; sl.read_${isExport ? "sacct" : "table"} in Python reads more`);
    const fields = this.split(line);
    if (fields.length !== names.length) refuse(`${fields.length} fields, expected ${names.length}`);
    this.size += 1;
    const text = (role) => fields[places[role]?.[0]]?.trim() ?? "";
    const run = { number: this.size, reason: "" };
    if (places.job) {
      const [id, base] = [text("job"), text(isExport ? "raw" : "job")].map((name) => JOB.exec(name));
      const isJob = id && base && (isExport || id[0] === id[1]);
      if (!isJob) refuse(`job '${text("job")}', expected one like 123, and of sacct 123_4, 123_[5-9] or 123+0`);
      run.number = Number(base[1]);
      this.highest = Math.max(this.highest, run.number);
      if (id[2]) return this.account.add("left out: a step of a job, not a job");
    }
    if (/\d\.\w/.test(text("id"))) refuse(`a step, ${text("id")}, expected a job`);
    for (const role in READS) run[role] = this.value(fields, role, refuse);
    this.isDates ??= DATE.test(text("submit"));
    this.isUnix ??= run.submit >= UNIX;
    for (const role of ["submit", "start", "end"]) {
      if (this.isUnix && run[role] === 0) run[role] = NaN;
      const isOther = run[role] >= UNIX !== this.isUnix || DATE.test(text(role)) !== this.isDates;
      if (run[role] >= 0 && isOther) refuse(`${role} is '${text(role)}', expected the same clock everywhere`);
    }
    this.settle(run, text("state").split(" ")[0].toUpperCase(), refuse);
    if (places.job) this.compare(run, text("job"), refuse);
    this.cluster ||= text("cluster");
    if (![this.cluster, ""].includes(text("cluster"))) refuse(`the cluster ${text("cluster")}, expected one alone`);
    return this.runs.push(run);
  }

  /** Read the first known value of the columns of a role; NaN if there is none. */
  value(fields, role, refuse) {
    for (const place of this.places[role] ?? []) {
      const text = fields[place].trim();
      if (NOTHING.has(text.toLowerCase()) || (!this.isExport && text === "NA")) continue;
      const value = READS[role](text, this.isExport && role === "estimate" ? 60 : 1);
      const form = "a number, a time like 2024-03-01 12:00:00 or a duration like 12:05:30";
      if (!(value >= 0)) refuse(`column ${this.names[place]} (${role}) is '${text}', expected ${form}`);
      if (value !== null) return value;
    }
    return NaN;
  }

  /** Give a reason to a run that waits, goes on or never ran; refuse times that contradict each other. */
  settle(run, state, refuse) {
    const { start: hasStart, end: hasEnd } = this.places;
    const lasted = run.end - run.start;
    if (!hasStart) run.start = run.end - run.run;
    if (Number.isNaN(run.run)) run.run = lasted;
    const never = hasStart && Number.isNaN(run.start) && !(run.run > 0);
    const isUnended = hasStart && hasEnd && !Number.isNaN(run.start) && Number.isNaN(run.end);
    const isUnclear = isUnended && run.run > 0 && state && !WAITS.test(state) && !RUNS.test(state);
    if (isUnclear || UNCLEAR.test(state)) refuse(`state '${state}', expected its whole name, and an end if it ended`);
    if (WAITS.test(state) || never) run.reason = "left out: never started";
    else if (RUNS.test(state) || isUnended) run.reason = UNENDED;
    const isWrong = (lasted < 0 && run.run !== 0) || (lasted >= 0 && run.run > lasted + 1);
    if (!run.reason && isWrong) refuse(`a run of ${run.run} s, expected as long as from start to end (${lasted} s)`);
  }

  /** Leave out the first of two equal records, and one that had not ended if it comes again. */
  compare(run, id, refuse) {
    const key = [id, run.submit, Number.isNaN(run.start) ? run.run : run.start].join(" ");
    const before = this.seen.get(key);
    const isEqual = this.isExport && !run.reason && before?.run === run.run && before.procs === run.procs;
    if (before && !before.reason && !isEqual) refuse(`job ${id} again, started at the same time`);
    if (before) before.reason = TWICE;
    this.seen.set(key, run);
  }

  /** Make columns of the runs that are kept, as SWF has them. */
  close() {
    const { account, runs } = this;
    const ended = runs.filter((run) => ![UNENDED, TWICE].includes(run.reason));
    const first = ended.reduce((least, { submit }) => (submit < least ? submit : least), Infinity);
    const start = this.isUnix ? Math.floor(first) : 0;
    const kept = runs.filter((run) => !run.reason);
    const workOf = ({ reason, run, procs }) => (reason !== TWICE && run * procs > 0 ? run * procs : 0);
    for (const run of runs) if (run.reason) account.add(run.reason, workOf(run));
    const last = new Map(kept.map((run) => [run.number, run])); // which keeps the number of its job
    for (const run of kept) {
      run.submit -= start;
      run.start -= start;
      if (last.get(run.number) === run) continue;
      this.highest += 1;
      run.number = this.highest;
      account.add("changed: job numbers were not unique");
    }
    const column = (name) => Float64Array.from(kept, (run) => (run[name] >= 0 ? run[name] : -1));
    const columns = ["number", "submit", "run", "estimate", "procs"].map((name) => [name, column(name)]);
    const started = kept.filter((run) => !Number.isNaN(run.start));
    const procs = started.length ? mostInUse(started) : null;
    if (procs) account.facts.push(`size of the machine not known; the most processors in use at one instant: ${procs}`);
    account.facts.push("all partitions are one machine; memory and GPUs are not simulated; dates are in UTC");
    return { records: Object.fromEntries(columns), procs, start: this.isUnix ? start : null, account };
  }
}

/** Count the most processors in use at any instant; a run holds them in [start, end). */
function mostInUse(runs) {
  const working = runs.filter(({ run, procs }) => run * procs > 0);
  const changes = working.flatMap(({ start, run, procs }) => [[start, procs], [start + run, -procs]]);
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]); // at equal times, ends before starts
  let used = 0;
  return changes.reduce((most, [, procs]) => Math.max(most, (used += procs)), 1);
}
