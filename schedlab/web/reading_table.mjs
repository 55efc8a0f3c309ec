// Reads the rows of what sacct writes, and of tables of jobs with any columns.

import { NOISE } from "./reading_rules.mjs";
import { Runs } from "./reading_runs.mjs";
import { LogError, lines, plain, quoted, strip } from "./reading_text.mjs";

/** A table whose columns are not known by their names; it has `columns`, the first `rows`, and a `guess` by role. */
export class ColumnsNeeded extends Error {
  name = "ColumnsNeeded";
}

// The columns of sacct, in small letters; of several, the first with a known value counts.
const SACCT = {
  job: ["jobid", "jobidraw"], raw: ["jobidraw", "jobid"], submit: ["submit"], eligible: ["eligible"],
  start: ["start"], end: ["end"], run: ["elapsedraw", "elapsed"], estimate: ["timelimitraw", "timelimit"],
  procs: ["alloccpus", "ncpus", "reqcpus"], user: ["user", "uid"], state: ["state"], gpus: ["alloctres"],
  partition: ["partition"], cluster: ["cluster"],
};
// Columns of a table that are known by their names, and some that are known by these in small letters.
const TABLE = {
  submit: ["submit_time"], run: ["run_time"], procs: ["requested_procs"], estimate: ["requested_time"],
  job: ["job_number"], user: ["user_id"],
};
const ALIKE = {
  steps: ["jobid", "jobidraw", "job_id", "id_job"], gpus: ["alloctres", "tres_alloc"],
  state: ["state", "status", "job_state", "jobstate"],
};
const GUESSES = {
  submit: /submi|arriv|queued|enqueue|qtime|create/i, start: /start|begin/i, end: /end|finish|complet/i,
  run: /run|elapsed|duration|wall_?clock/i, procs: /cpu|proc|core|slot|node|gpu|size|width/i,
  estimate: /limit|estim|req.*time|wall_?time/i, user: /user|uid|owner/i,
};
const MISSING = /^ *(?:#?N\/?A|n\/a|NaN|nan|NULL|null|None|<NA>)$/; // in a table
const SEPARATED = /^\s*\w+([^\w\s]+|\t)(?=\w)/; // the first name of a header, and what stands before the next
const MESSAGE = /^\s*(?:sacct|slurm\w*): (?:error|warning|fatal|info|debug\d*): /i; // of Slurm's tools

/** Return the lines of the beginning of a log that are no messages. */
export const withoutMessages = (begin) => begin.filter((line) => strip(line) && !MESSAGE.test(line));

/** Split a line at its separators, of which some may stand in quotes; null if the quotes are odd. */
function split(line, separator) {
  if (!line.includes('"')) return line.split(separator);
  const fields = [];
  let text = null;
  for (const part of line.split(separator)) {
    text = text === null ? part : text + separator + part;
    const match = /^ *"((?:[^"]|"")*)"$/.exec(text);
    if (!match && /^ *"/.test(text)) continue;
    if (!match && text.includes('"')) return null;
    fields.push(match ? match[1].replaceAll('""', '"') : text);
    text = null;
  }
  return text === null ? fields : null;
}

/** Return, by role, the places of the columns with some names. */
function placesOf(names, roles) {
  const places = Object.entries(roles).map(([role, known]) => [role, known.map((name) => names.indexOf(name))]);
  const here = places.map(([role, each]) => [role, each.filter((place) => place >= 0)]);
  return Object.fromEntries(here.filter(([, each]) => each.length));
}

const isComplete = ({ submit, start, end, run, procs }) => submit && procs && (run || (start && end));

/** Return where the columns of sacct are, if a line of these names them; else null. */
export function exportForm(file, begin) {
  const separators = begin.map((line) => SEPARATED.exec(line)?.[1] ?? "|");
  const at = begin.findIndex((line, i) => line.split(separators[i]).some((name) => /^\s*jobid(raw)?\s*$/i.test(name)));
  if (at < 0) return null;
  const header = begin[at];
  const separator = separators[at];
  const names = header.split(separator).map((name) => name.trim());
  const lower = names.map((name) => name.toLowerCase());
  const places = placesOf(lower, SACCT);
  const isWhole = isComplete(places) && places.start;
  if (!isWhole && /^[,;\t]$/.test(separator)) return null; // a table of another kind
  const isOther = lower.includes("cputimeraw") && !lower.includes("alloccpus") && !lower.includes("ncpus");
  if (!isWhole || isOther || begin.slice(0, at).some((line) => line.includes(separator))) {
    const expected = "JobID, Submit, Start, End or ElapsedRaw, and AllocCPUS; sl.read_sacct in Python may read it";
    throw new LogError(`${file}: columns ${quoted(header)}, expected ${expected}`);
  }
  return { isExport: true, header, separator, names, places };
}

/** Return where the columns of a table are, as `columns` says, else by their names; or throw ColumnsNeeded. */
export function tableForm(file, begin, columns) {
  const refuse = (problem) => {
    throw new LogError(`${file}: ${problem}`);
  };
  const [header = "", ...rows] = begin;
  const marks = [...(/\.tsv\b/.test(file) ? "\t" : ",\t;|")].map((mark) => [header.split(mark).length, mark]);
  const separator = marks.reduce((best, each) => (each[0] > best[0] ? each : best))[1];
  const names = (split(header, separator) ?? [header]).map((name) => name.replace(/^ +/, ""));
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) refuse(`several columns are called ${quoted(twice)}, expected unique names`);
  const isDatabase = names.includes("id_job") && names.includes("time_submit");
  if (isDatabase) refuse(`a table of Slurm's database, which sl.read_public(..., log="slurmdbd") in Python reads`);
  if (header.includes("\r")) refuse("a line end within the header, expected the names of columns");
  const chosen = Object.entries(columns ?? {}).filter(([, name]) => name);
  const unknown = chosen.find(([, name]) => !names.includes(name));
  if (unknown) refuse(`no column ${quoted(unknown[1])} for ${unknown[0]}; columns: ${plain(names.join(", "))}`);
  const lower = names.map((name) => name.toLowerCase());
  const { run, ...known } = { ...placesOf(names, TABLE), ...placesOf(lower, ALIKE) };
  const given = Object.fromEntries(chosen.map(([role, name]) => [role, [names.indexOf(name)]]));
  const places = { ...(run && !given.end ? { run } : {}), ...known, ...given };
  const used = Object.values(places).flat();
  const unclear = names.find((name, i) => ["wait_time", "allocated_procs"].includes(name) && !used.includes(i));
  if (isComplete(places) && unclear) refuse(`a column ${unclear}, which sl.read_table in Python reads`);
  if (isComplete(places)) return { isExport: false, header, separator, names, places };
  if (columns) refuse("expected columns for submit, procs, and run or start and end");
  const guess = Object.entries(GUESSES).map(([role, like]) => [role, names.find((name) => like.test(name)) ?? null]);
  const first = rows.slice(0, 5).map((line) => split(line, separator) ?? [line]);
  const facts = { columns: names, rows: first, guess: Object.fromEntries(guess) };
  throw Object.assign(new ColumnsNeeded(`${file}: which columns are these?`), facts);
}

/** Return the fields of a line, none if it cannot be split; those that a row of a table lacks are unknown. */
function fieldsOf(line, { isExport, separator, names }) {
  if (isExport) return line.split(separator);
  const fields = line.includes("\r") ? null : split(line, separator);
  if (!fields) return [];
  const length = Math.max(fields.length, names.length);
  return Array.from({ length }, (_, i) => (fields[i] ?? "").replace(MISSING, ""));
}

/** Read the rows of a table or of an export of sacct; see `read`. */
export async function readRows(file, form, options, report) {
  const name = plain(file.name);
  const { isExport, header, separator, names } = form;
  const runs = new Runs(name, form, options);
  let number = 0;
  let isBelow = false;
  for await (const some of lines(file, "a table of jobs", report, !isExport)) {
    for (const text of some) {
      const line = text.replace(/\r$/, "");
      number += 1;
      const isHeader = line === header && (isExport || !isBelow); // repeated where outputs were joined
      isBelow ||= isHeader;
      const isBlank = isExport ? !strip(line) : /^[ \t]*$/.test(line) && !line.includes(separator);
      if (isHeader || isBlank) continue;
      if (isExport && (!isBelow || MESSAGE.test(line))) {
        runs.account.leaveOut(NOISE, 0);
        continue;
      }
      const fields = fieldsOf(line, form);
      if (fields.length !== names.length) {
        const count = `${fields.length} fields, expected ${names.length}`;
        throw new LogError(`${name}:${number}: ${count}; a separator or line end in a field? Python may read it`);
      }
      runs.take(number, fields);
    }
  }
  return runs.close(name.replace(/\.(gz|bz2|xz|zst)$/, "").replace(/(.)\.[^.]*$/, "$1"));
}
