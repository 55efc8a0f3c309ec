// Reads a log that a user drops on the page: SWF, what sacct writes, or a table of jobs.

import { readSwf } from "./reading_swf.mjs";
import { ColumnsNeeded, exportForm, readRows, tableForm, withoutMessages } from "./reading_table.mjs";
import { LogError, lines, plain } from "./reading_text.mjs";

export { ColumnsNeeded, LogError };

const MOST_BEFORE = 50; // lines before a header
const OTHERS = [
  [/^\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d(?:\.\d+)?;[A-Za-z];/, "the accounting of PBS, which sl.workload.read_pbs"],
  [/^"[A-Z][A-Z_0-9]+" "[^"]*" /, "the accounting of LSF, which sl.workload.read_lsf"],
  [/^\s*\{/, "JSON, which sl.read_sacct"],
  [/^\s*\[/, "JSON, which sl.read_public"],
  [/^PAR1/, "Parquet, which sl.read_table"],
];

/**
 * Read a log into the jobs that can be simulated, as schedlab in Python does; its text is never in memory as a whole.
 *
 * @param {File} file
 * @param {object} options - `procs`: size of the machine; of an export of sacct `cluster`; of a table `columns`, the
 *   names of columns by role (submit, start, end, run, procs, estimate, user), and `units`, one or by role
 * @param {(progress: {bytes: number, of: number}) => void} report
 * @returns {Promise<object>} name; procs, null if not known; start, of second 0, or null; jobs (number, submit, run,
 *   estimate, procs); mostProcs of a job; wait, -1 if not known, or null; users (codes, names) or null; and notes
 * @throws {LogError | ColumnsNeeded}
 */
export async function read(file, options = {}, report = () => {}) {
  const name = plain(file.name);
  if (/\.swf(\.|$)/.test(file.name) && !options.columns) return readSwf(file, options, report);
  let begin = [];
  for await (const some of lines(file, "a log of jobs", () => {})) {
    begin = withoutMessages(some.map((line) => line.replace(/\r$/, "")));
    break;
  }
  const first = begin[0] ?? "";
  const other = OTHERS.find(([form]) => form.test(first));
  if (other) throw new LogError(`${name}: ${other[1]} in Python reads`);
  begin = begin.slice(0, MOST_BEFORE);
  const { columns } = options;
  const sacct = columns ? null : exportForm(name, begin);
  if (sacct) return readRows(file, sacct, options, report);
  const isComment = first.trimStart().startsWith(";");
  const isTable = columns || /\.[ct]sv(\.|$)/.test(file.name) || (!isComment && /[,\t;|]/.test(first));
  if (!isTable) return readSwf(file, options, report);
  if (isComment) throw new LogError(`${name}: a table below comments, which sl.read_table in Python reads`);
  return readRows(file, tableForm(name, begin, columns), options, report);
}
