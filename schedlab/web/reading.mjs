// Reads a log that a user drops on the page: SWF, what sacct writes, or a table of jobs.

import { readSwf } from "./reading_swf.mjs";

import { LogError } from "./reading_text.mjs";

export { LogError };

/**
 * Read a log, block by block, into the jobs that can be simulated.
 *
 * @param {File} file - a name, a size and a stream
 * @param {object} options - `procs`: size of the machine
 * @param {(progress: {bytes: number, of: number}) => void} report
 * @returns {Promise<object>} name, procs (null if unknown), start, jobs, wait, users, notes, mostProcs
 */
export async function read(file, options = {}, report = () => {}) {
  return readSwf(file, options, report);
}
