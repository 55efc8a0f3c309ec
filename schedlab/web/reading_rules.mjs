// The load filter: which records can be simulated, what fills in unknown values, and what must be said of both.

import { LogError, MOST_PROCS, counted } from "./reading_text.mjs";

const FEW = 0.01; // of the work
const MOST_REASONS = 5; // in a message
const ROUNDED = ["submit", "run", "estimate", "requested", "allocated"];
const PART = "part of a job whose summary line is kept";
export const STEP = "a step of a job, not a job";
export const NOISE = "a message of a tool, not a record";
export const TWICE = "given twice: same job, submission and start";
export const RUNNING = "still running when the record was made";
export const SHARED = "changed: job numbers were not unique";
export const OTHER = "not of cluster "; // and its name
const NO_WORK = [PART, STEP, NOISE, TWICE, OTHER]; // records that are no lost work

/** Adds up the records that are left out and the values that are changed, by reason. */
export class Account {
  tallies = new Map();

  leaveOut(reason, work) {
    this.add(`left out: ${reason}`, NO_WORK.some((begin) => reason.startsWith(begin)) ? 0 : work, true);
  }

  add(text, work = 0, isLost = false) {
    const { count, work: sum } = this.tallies.get(text) ?? { count: 0, work: 0 };
    this.tallies.set(text, { text, count: count + 1, work: sum + work, isLost });
  }

  /** Say it in a line for each reason, the most work first; `work` is that of the jobs that are kept. */
  sentences(work) {
    const rows = [...this.tallies.values()].sort((a, b) => b.work - a.work || b.count - a.count);
    const total = rows.reduce((sum, row) => sum + (row.isLost ? row.work : 0), work);
    return rows.map((row) => {
      const share = row.work / total;
      const percent = share > FEW ? ` (${Number((100 * share).toPrecision(3))} % of the work)` : "";
      return `${counted(row.count)} record${row.count === 1 ? "" : "s"} ${row.text}${percent}`;
    });
  }

  /** Say why no record is left. */
  refusal() {
    const rows = [...this.tallies.values()].filter((row) => row.isLost).sort((a, b) => b.count - a.count);
    const texts = rows.map((row) => `${counted(row.count)}: ${row.text.replace("left out: ", "")}`);
    if (rows.length > MOST_REASONS) texts.splice(MOST_REASONS, rows.length, "...");
    const total = rows.reduce((sum, row) => sum + row.count, 0);
    return `none of ${counted(total)} records can be simulated; ${texts.join("; ")}`;
  }
}

/** Return what tells parts of a job that has a summary line, too, and whether other records share a number. */
function parts({ number, status }) {
  const isPartial = (i) => status[i] >= 2 && status[i] <= 4 && Number.isInteger(status[i]);
  const isRising = number.every((each, i) => i === 0 || each > number[i - 1]);
  if (isRising) return [() => false, false];
  const partial = new Set(number.filter((_, i) => isPartial(i)));
  const whole = new Set(number.filter((each, i) => !isPartial(i) && partial.has(each)));
  const isPart = (i) => isPartial(i) && whole.has(number[i]);
  const sorted = number.filter((_, i) => !isPart(i)).sort();
  return [isPart, sorted.some((each, i) => each === sorted[i - 1])];
}

/** Round the values of a record, and fill in those that are unknown; return its work, in processor-seconds. */
function filled(records, i, account) {
  const { run, estimate, requested, allocated } = records;
  const added = {};
  for (const field of ROUNDED) {
    const value = records[field][i];
    if (Number.isInteger(value)) continue;
    records[field][i] = field === "submit" ? Math.floor(value) : Math.ceil(value);
    added[field] = records[field][i] - value;
  }
  if (allocated[i] <= 0) account.add("changed: allocated processors not in the log; those requested are taken");
  if (requested[i] <= 0) account.add("changed: requested processors not in the log; those allocated are taken");
  if (requested[i] <= 0) requested[i] = allocated[i];
  const work = run[i] * requested[i];
  if (estimate[i] <= 0) account.add("changed: no estimate; the run time is taken", work);
  if (estimate[i] <= 0) estimate[i] = run[i];
  const factors = { run: requested[i], requested: run[i] };
  for (const field in added) {
    account.add(`changed: ${field} rounded to a whole number`, added[field] * (factors[field] ?? 0));
  }
  return work;
}

/**
 * Keep the records that can be simulated on `procs` processors (null: on any), and fill in what is unknown.
 *
 * `records` are columns, some fields of SWF, with -1 for unknown, and are changed; `account` has what the reader left
 * out itself. Returns jobs, wait, users, notes and mostProcs, as `read` gives them.
 */
export function usable(file, records, procs, account = new Account()) {
  const { number, submit, wait, run, estimate, allocated, requested, user } = records;
  if (procs !== null && !(procs >= 1 && procs <= MOST_PROCS)) {
    throw new LogError(`${file}: a machine of ${procs} processors, expected 1 to ${counted(MOST_PROCS)}`);
  }
  const [isPart, isShared] = parts(records);
  const kept = [];
  let total = 0;
  let isSorted = true;
  for (let i = 0; i < number.length; i += 1) {
    const size = requested[i] > 0 ? requested[i] : allocated[i];
    let reason = "";
    if (isPart(i)) reason = PART;
    else if (submit[i] < 0) reason = "submit time unknown";
    else if (run[i] < 0) reason = "run time unknown: never started, or not recorded";
    else if (run[i] === 0) reason = "run time is 0";
    else if (size <= 0) reason = "number of processors unknown";
    else if (procs !== null && size > procs) reason = `wider than the machine (${procs} processors)`;
    if (reason) account.leaveOut(reason, Math.max(run[i], 0) * Math.max(size, 0));
    const work = reason ? 0 : filled(records, i, account);
    if (isShared && number[i] !== i + 1) account.add(SHARED, work);
    if (isShared) number[i] = i + 1;
    if (reason) continue;
    total += work;
    isSorted &&= !kept.length || submit[i] >= submit[kept.at(-1)];
    kept.push(i);
  }
  if (!kept.length) throw new LogError(`${file}: ${account.refusal()}`);
  if (!isSorted) kept.sort((a, b) => submit[a] - submit[b] || a - b);
  const chosen = (column) => new Float64Array(kept.length).map((_, k) => column[kept[k]]);
  const jobs = { number: chosen(number), submit: chosen(submit), run: chosen(run), estimate: chosen(estimate) };
  jobs.procs = chosen(requested);
  const waits = chosen(wait);
  const codes = new Int32Array(kept.length).map((_, k) => user[kept[k]]);
  const isUser = codes.some((code) => code >= 0) && codes.every((code, k) => code === user[kept[k]]);
  return {
    jobs,
    mostProcs: jobs.procs.reduce((most, each) => Math.max(most, each), 0),
    wait: waits.some((each) => each >= 0) ? waits : null,
    users: isUser ? { codes, names: null } : null,
    notes: account.sentences(total),
  };
}
