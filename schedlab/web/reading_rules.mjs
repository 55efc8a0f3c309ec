// The load filter: which records can be simulated, what fills in unknown values, and what must be said of both.

import { LogError, counted } from "./reading_text.mjs";

const FEW = 0.01; // of the work, or of the jobs where that is unknown
const CANCELLED = 5; // SWF's code
const MOST_REASONS = 5; // in a message
const PART = "part of a job whose summary line is kept";
const NO_RUN = "run time unknown: never started, or not recorded";
const NEVER = "cancelled, and its run time unknown";
const TOO_WIDE = "wider than the machine";
// Of each reason: whether it is worth a look (null: unless few jobs have it), and words for one line.
const DROPPED = {
  [PART]: [false, "part", "of jobs kept as a whole (left out)"],
  "submit time unknown": [true, "record", "without a submit time (left out)"],
  [NO_RUN]: [null, "record", "without a run time (left out)"],
  "run time is 0": [false, "job", "of 0 s (left out)"],
  "number of processors unknown": [null, "record", "without a number of processors (left out)"],
  [TOO_WIDE]: [true, "job", "wider than the machine (left out)"],
  "a step of a job, not a job": [false, "step", "of jobs (left out: no jobs themselves)"],
  "a message of a tool, not a record": [false, "line", "with a message of a tool (left out: no record)"],
  "given twice: same job, submission and start": [false, "record", "given twice (left out once)"],
  "still waiting when the record was made": [false, "job", "still waiting (left out)"],
  [NEVER]: [false, "job", "cancelled before the start (left out)"],
  "cancelled before it started": [false, "job", "cancelled before the start (left out)"],
  "never started": [false, "job", "that never started (left out)"],
  "still running when the record was made": [null, "job", "still running (left out)"],
};
// Of values that were filled in, in the order of Python: by field, then by reason.
const REPAIRED = {
  otherAllocated: [false, "job", "without allocated processors (requested taken)"],
  roundedAllocated: [null, "number", "of processors rounded up"],
  estimate: [true, "value", "that cannot be read (taken for unknown)"],
  shared: [true, "record", "numbered anew (numbers were not unique)"],
  several: [false, "record", "numbered anew (other runs of a job)"],
  otherRequested: [false, "job", "without requested processors (allocated taken)"],
  roundedRequested: [null, "number", "of processors rounded up"],
  taken: [null, "job", "without an estimate (run time taken)"],
  roundedEstimate: [false, "time", "rounded to a whole second"],
  roundedRun: [false, "time", "rounded to a whole second"],
  roundedSubmit: [false, "time", "rounded to a whole second"],
};

const percent = (share) => `${Number((100 * share).toPrecision(3))} % of the work`;

/** Adds up records that are left out, or values that are filled in, by reason. */
export class Account {
  tallies = new Map();

  add(key, work, lacks = !work) {
    const tally = this.tallies.get(key) ?? { count: 0, work: 0, lacking: 0 };
    this.tallies.set(key, tally);
    tally.count += 1;
    tally.work += work;
    tally.lacking += lacks;
  }

  /** Say in one line each what there is, the worst first, as `Trace.repairs` does. */
  sentences(jobs, work) {
    let total = work;
    for (const [key, tally] of this.tallies) if (!(key in REPAIRED)) total += tally.work;
    const rows = [...this.tallies].map(([key, { count, work: amount, lacking }]) => {
      const isRepair = key in REPAIRED;
      const [look, noun, rest] = REPAIRED[key] ?? DROPPED[key];
      const share = amount / (total || 1);
      const few = isRepair ? (amount ? share : count / jobs) <= FEW : lacking <= FEW * jobs;
      const isWorse = share > FEW && (!isRepair || key.startsWith("rounded"));
      const isBad = isWorse || (look ?? !few);
      const isWhole = isRepair && count === jobs && jobs > 1;
      const isShown = isRepair ? isBad && amount && (isWorse || !isWhole) : isWorse;
      const sentence = `${isWhole ? "all " : ""}${counted(count)} ${noun}${count === 1 ? "" : "s"} ${rest}`;
      const shown = rest.endsWith(")") ? `${sentence.slice(0, -1)}, ${percent(share)})` : `${sentence} (${percent(share)})`;
      return { isBad, share, count, sentence: isShown ? shown : sentence };
    });
    rows.sort((a, b) => b.isBad - a.isBad || b.share - a.share || b.count - a.count);
    return rows.map((row) => row.sentence);
  }

  /** Say why no record is left, the most frequent reasons first. */
  listed(procs) {
    const counts = new Map();
    let total = 0;
    for (const [key, { count }] of this.tallies) {
      if (key in REPAIRED) continue;
      const reason = key === NEVER ? NO_RUN : key === TOO_WIDE ? `${TOO_WIDE} (${procs} processors)` : key;
      counts.set(reason, (counts.get(reason) ?? 0) + count);
      total += count;
    }
    const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${counted(count)}: ${reason}`);
    const most = [...rows.slice(0, MOST_REASONS), ...(rows.length > MOST_REASONS ? ["..."] : [])];
    return `${counted(total)} records can be simulated; ${most.join("; ")}`;
  }
}

/** Tell which records are parts of a job that has a summary line, too, and whether others share a number. */
function parts({ number, status }) {
  const isPartial = (i) => status[i] >= 2 && status[i] <= 4 && status[i] % 1 === 0;
  const partial = new Set(number.filter((_, i) => isPartial(i)));
  const whole = new Set(partial.size ? number.filter((each, i) => !isPartial(i) && partial.has(each)) : []);
  const isPart = (i) => whole.size > 0 && isPartial(i) && whole.has(number[i]);
  const distinct = number.filter((_, i) => !isPart(i)).sort();
  return [isPart, distinct.some((each, i) => i > 0 && each === distinct[i - 1])];
}

/** Keep the user of each job, if it is known and a number that fits. */
export function usersOf(user, names = null) {
  const codes = Int32Array.from(user);
  const isKnown = codes.some((code) => code >= 0) && codes.every((code, i) => code === user[i]);
  return isKnown ? { codes, names } : null;
}

/**
 * Keep the records that can be simulated on `procs` processors (null: on any), and fill in what is unknown.
 *
 * @param {string} file - its name, for messages
 * @param {object} records - fields of SWF as columns, -1 for unknown; they are changed
 * @param {?number} procs
 * @param {Account} account - what the reader left out itself
 * @returns {object} jobs, wait, users, notes and mostProcs, as `read` gives them
 */
export function usable(file, records, procs, account = new Account()) {
  const { number, submit, wait, run, allocated, requested, estimate, status, user } = records;
  const [isPart, isShared] = parts(records);
  const kept = [];
  let total = 0;
  let mostProcs = 0;
  let isSorted = true;
  for (let i = 0; i < number.length; i += 1) {
    const size = requested[i] > 0 ? requested[i] : allocated[i];
    let reason = isPart(i) ? PART : "";
    if (!reason && submit[i] < 0) reason = "submit time unknown";
    if (!reason && run[i] < 0) reason = status[i] === CANCELLED ? NEVER : NO_RUN;
    if (!reason && run[i] === 0) reason = "run time is 0";
    if (!reason && size <= 0) reason = "number of processors unknown";
    if (!reason && procs !== null && size > procs) reason = TOO_WIDE;
    if (reason) account.add(reason, reason === PART ? 0 : Math.max(run[i], 0) * Math.max(size, 0));
    const work = reason ? 0 : filled(records, i, account);
    if (isShared && number[i] !== i + 1) account.add("shared", work);
    if (isShared) number[i] = i + 1;
    if (reason) continue;
    total += work;
    mostProcs = Math.max(mostProcs, requested[i]);
    isSorted &&= kept.length === 0 || submit[i] >= submit[kept.at(-1)];
    kept.push(i);
  }
  if (!kept.length) throw new LogError(`${file}: none of ${account.listed(procs)}`);
  if (!isSorted) kept.sort((a, b) => submit[a] - submit[b] || a - b);
  const chosen = (column) => Float64Array.from(kept, (i) => column[i]);
  const jobs = { number: chosen(number), submit: chosen(submit), run: chosen(run), estimate: chosen(estimate) };
  jobs.procs = chosen(requested);
  const waits = chosen(wait);
  return {
    jobs,
    mostProcs,
    wait: waits.some((each) => each >= 0) ? waits : null,
    users: usersOf(chosen(user)),
    notes: account.sentences(kept.length, total),
  };
}

/** Round the values of a record and fill in those that are unknown; return its processor-seconds. */
function filled({ submit, run, estimate, requested, allocated }, i, account) {
  const was = [submit[i], run[i], estimate[i], requested[i], allocated[i]];
  submit[i] = Math.floor(submit[i]);
  for (const column of [run, estimate, requested, allocated]) column[i] = Math.ceil(column[i]);
  const [start, length, limit, wish, got] = [submit[i], run[i], estimate[i], requested[i], allocated[i]];
  requested[i] = wish > 0 ? wish : got;
  if (limit <= 0) estimate[i] = length;
  const work = length * requested[i];
  if (was[0] !== start) account.add("roundedSubmit", 0);
  if (was[1] !== length) account.add("roundedRun", work * (1 - was[1] / length));
  if (was[2] !== limit) account.add("roundedEstimate", 0);
  if (was[3] !== wish) account.add("roundedRequested", work * (1 - was[3] / wish));
  if (was[4] !== got) account.add("roundedAllocated", 0);
  if (wish <= 0) account.add("otherRequested", work);
  if (got <= 0) account.add("otherAllocated", work);
  if (limit <= 0) account.add("taken", work);
  return work;
}
