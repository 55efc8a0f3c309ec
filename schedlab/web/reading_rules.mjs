// The load filter: which records can be simulated, what fills in unknown values, and what must be said of both.

const FEW = 0.01; // of the work

/** Adds up the records that are left out or changed, and their work in processor-seconds, by reason. */
export class Account {
  rows = new Map();
  facts = []; // what else must be said

  add(text, work = 0) {
    const row = this.rows.get(text) ?? { text, count: 0, work: 0 };
    this.rows.set(text, { text, count: row.count + 1, work: row.work + work });
  }

  /** Say it in a line for each reason, the most work first; `kept` is the work of the jobs that are kept. */
  notes(kept) {
    const rows = [...this.rows.values()].sort((a, b) => b.work - a.work || b.count - a.count);
    const total = rows.filter(({ text }) => text.startsWith("left out")).reduce((sum, row) => sum + row.work, kept);
    const lines = rows.map(({ text, count, work }) => {
      const percent = work > FEW * total ? ` (${Number(((100 * work) / total).toPrecision(3))} % of the work)` : "";
      return `${count.toLocaleString("en")} record${count === 1 ? "" : "s"} ${text}${percent}`;
    });
    return [...lines, ...this.facts];
  }
}

/**
 * Keep the records that can be simulated on `procs` processors (null: on any), and fill in what is unknown.
 *
 * The records are columns, with -1 for unknown; `account` has what the reader left out itself. Times
 * become whole seconds and sizes whole processors, as in Python: submissions are rounded down, all others up.
 */
export function usable({ number, submit, run, estimate, procs: sizes }, procs, account, refuse) {
  const twice = number.slice().sort().find((each, i, sorted) => each === sorted[i - 1]);
  if (twice !== undefined) refuse(`several records of job ${twice}, expected one; sl.read_swf in Python reads them`);
  const kept = [];
  let total = 0;
  for (let i = 0; i < number.length; i += 1) {
    let reason = "";
    if (submit[i] < 0) reason = "submit time unknown";
    else if (run[i] < 0) reason = "run time unknown: never started, or not recorded";
    else if (run[i] === 0) reason = "run time is 0";
    else if (sizes[i] <= 0) reason = "number of processors unknown";
    else if (procs !== null && sizes[i] > procs) reason = `wider than the machine (${procs} processors)`;
    const work = Math.max(run[i], 0) * Math.max(sizes[i], 0);
    if (reason) account.add(`left out: ${reason}`, work);
    if (reason) continue;
    if (Math.ceil(estimate[i]) <= 0) account.add("changed: no estimate; the run time is taken", work);
    const rest = estimate[i] > 0 ? run[i] - Math.ceil(estimate[i]) : 0;
    if (rest > 0) account.add("cut at the estimate, though the job ran longer: is its unit right?", rest * sizes[i]);
    total += work;
    kept.push(i);
  }
  const notes = account.notes(total);
  if (!kept.length) refuse(`no record can be simulated: ${notes.slice(0, 5).join("; ")}`);
  const order = kept.sort((a, b) => Math.floor(submit[a]) - Math.floor(submit[b]) || a - b);
  const chosen = (value) => Float64Array.from(order, value);
  const jobs = {
    number: chosen((i) => number[i]), submit: chosen((i) => Math.floor(submit[i])),
    run: chosen((i) => Math.ceil(run[i])), procs: chosen((i) => Math.ceil(sizes[i])),
    estimate: chosen((i) => Math.ceil(Math.ceil(estimate[i]) > 0 ? estimate[i] : run[i])),
  };
  return { jobs, notes };
}
