// Reads a log that a user drops on the page: SWF, what sacct writes, or a table of jobs.

import { usable } from "./reading_rules.mjs";
import { Swf } from "./reading_swf.mjs";
import { Table } from "./reading_table.mjs";

const LONGEST = 2 ** 20; // letters of a line
const LONGEST_MESSAGE = 300; // letters
const SWF = /^[ \t]*(?:;|[-+.\d]+(?:[ \t]|$))/; // the first line
const COMMENT = /^[ \t]*;(?![^]*(?:MaxProcs|MaxNodes|UnixStartTime))[^\0]*$/i; // that changes no simulation
// Letters that Python takes for blanks or line ends where JavaScript does not, those of binary files, and whatever is
// not UTF-8, which the decoder replaces.
// oxlint-disable-next-line no-control-regex -- these are meant
const ODD = /[\0-\x08\v-\x1f\x85\u2028\u2029\ufeff\ufffd]/;
const plain = (text) => text.replaceAll(new RegExp(ODD, "g"), "?");

/** Yield the lines of a file, many at a time, so that the text of a long log is never in memory as a whole. */
async function* lines(file, refuse, report) {
  const failed = ({ message }) => refuse(`cannot be read, or its gzip stream is damaged (${message.trim()})`);
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer().catch(failed));
  let bytes = 0;
  const transform = (chunk, controller) => {
    bytes += chunk.length;
    report({ bytes, of: file.size });
    controller.enqueue(chunk);
  };
  const packed = file.stream().pipeThrough(new TransformStream({ transform }));
  const stream = first === 31 && second === 139 ? packed.pipeThrough(new DecompressionStream("gzip")) : packed;
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (let isEnd = false; !isEnd; ) {
      const { done, value = "" } = await reader.read().catch(failed);
      isEnd = done;
      const texts = (rest + value).replaceAll("\r\n", "\n").split("\n");
      rest = isEnd ? "" : texts.pop();
      if (rest.length > LONGEST) refuse("a line of more than a million letters, which Python reads");
      yield texts;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Read a log into the jobs that can be simulated, as schedlab in Python does, or not at all.
 *
 * @param {File} file
 * @param {{columns?: object}} options - names of a table's columns by role (submit, start, end, run, procs, estimate)
 * @param {(progress: {bytes: number, of: number}) => void} report
 * @returns {Promise<object>} name; procs, null if not known; start, of second 0, or null; jobs (number, submit, run,
 *   estimate, procs); and notes, on what was left out and what is not known
 * @throws {Error} called LogError, whose message is one line; or ColumnsNeeded, of a table
 */
export async function read(file, { columns } = {}, report = () => {}) {
  let number = 0;
  let log = null;
  const refuse = (problem, line = "") => {
    const message = plain(`${file.name}${line}: ${problem}`).slice(0, LONGEST_MESSAGE);
    throw Object.assign(new Error(message), { name: "LogError" });
  };
  const refuseLine = (problem) => refuse(problem, `:${number}`);
  for await (const texts of lines(file, refuse, report)) {
    for (const [place, line] of texts.entries()) {
      number += 1;
      if (/^ *$/.test(line) || line === log?.again) continue;
      if (!log && !columns && (SWF.test(line) || /\.swf(\.|$)/.test(file.name))) log = new Swf();
      if (log instanceof Swf && COMMENT.test(line)) continue;
      if (ODD.test(line)) refuseLine("not plain text in UTF-8: unpack xz or zip first; Python reads some");
      if (log) log.take(line, refuseLine);
      else log = new Table(line, texts.slice(place + 1), columns, refuseLine);
    }
  }
  if (!log?.size) refuse("no jobs, expected SWF, what sacct -P writes, or a table with the names of its columns");
  const { procs, start, records, account } = log.close();
  return { name: file.name, reader: log.reader, procs, start, ...usable(records, procs, account, refuse) };
}
