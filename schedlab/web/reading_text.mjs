// Text of any origin: unpacked in blocks of whole lines, decoded, and quoted in messages as Python's readers quote it.

/** A file cannot be read; the message is one line that says where, what was found and what was expected. */
export class LogError extends Error {
  name = "LogError";
}

const PACKINGS = [
  ["gzip", [0x1f, 0x8b]],
  ["bzip2", [0x42, 0x5a, 0x68]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
  ["Zstandard", [0x28, 0xb5, 0x2f, 0xfd]],
];
const BOM = [0xef, 0xbb, 0xbf];
const BLOCK = 2 ** 20; // bytes, so that a log of any length needs the memory of its numbers only
const LONGEST_LINE = 2 ** 24;
const BEGIN = 1024; // bytes that hold no NUL if this is text
const NEWLINE = 10;
const QUOTED = 60; // letters of a value in a message

const BLANK = "[\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"; // as Python has it
const BLANKS = new RegExp(BLANK);
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const begins = (bytes, magic) => magic.every((byte, i) => bytes[i] === byte);

/** Remove blanks from both ends, as Python does. */
export function strip(text, blanks = BLANKS) {
  let begin = 0;
  let end = text.length;
  while (end > begin && blanks.test(text[end - 1])) end -= 1;
  while (begin < end && blanks.test(text[begin])) begin += 1;
  return text.slice(begin, end);
}

function escaped(letter) {
  const code = letter.codePointAt(0);
  const [mark, width] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
  return SHORT[letter] ?? `\\${mark}${code.toString(16).padStart(width, "0")}`;
}

/** Make text of any origin fit for one line. */
export function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped).replace(/<(?=[/!])/g, "< ");
}

/** Shorten text that a message quotes. */
export function clipped(text) {
  const letters = [...text.slice(0, 2 * QUOTED + 2)];
  return letters.length > QUOTED ? `${letters.slice(0, QUOTED).join("")}...` : text;
}

/** Quote text as Python's repr does. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`);
  return mark + inner.replace(/(?! )[\p{C}\p{Z}]/gu, escaped) + mark;
}

/** Write a whole number with commas, as messages do. */
export const counted = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** Read UTF-8, otherwise Latin-1, in which any byte is valid. */
export function decoded(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

function joined(parts) {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Unpack a file, and yield its text in blocks of whole lines, of which each ends with a line end. */
export async function* blocks(file, expected, report) {
  const name = plain(file.name);
  let bytes = 0;
  const counter = new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      report({ bytes, of: file.size });
      controller.enqueue(chunk);
    },
  });
  const begin = await first(file, name);
  const packing = PACKINGS.find(([, magic]) => begins(begin, magic))?.[0];
  if (packing && packing !== "gzip") {
    throw new LogError(`${name}: packed by ${packing}, expected text or gzip; unpack it, or read it in Python`);
  }
  const unpacked = file.stream().pipeThrough(counter);
  const reader = (packing ? unpacked.pipeThrough(new DecompressionStream("gzip")) : unpacked).getReader();
  const damaged = packing ? "the gzip stream is damaged, ends early or is followed by another, expected one complete stream" : "cannot be read";
  let parts = [];
  let size = 0;
  let started = false;
  for (;;) {
    const { done, value } = await reader.read().catch((problem) => {
      throw new LogError(`${name}: ${damaged} (${plain(problem.message.trim() || problem.name)})`);
    });
    if (!done) {
      parts.push(value);
      size += value.length;
      if (size < BLOCK) continue;
    }
    if (!started) {
      parts = [checked(joined(parts), name, expected)];
      started = true;
    }
    const block = joined(done ? [...parts, [NEWLINE]] : parts);
    const cut = done ? block.length : block.lastIndexOf(NEWLINE) + 1;
    if (cut) yield block.subarray(0, cut);
    if (done) return;
    parts = [block.subarray(cut)];
    size = 0;
    if (parts[0].length > LONGEST_LINE) throw new LogError(`${name}: a line of more than 16 MB, expected ${expected}`);
  }
}

async function first(file, name) {
  const reader = file.stream().getReader();
  try {
    return (await reader.read()).value ?? [];
  } catch (problem) {
    throw new LogError(`${name}: cannot be read (${plain(problem.message)})`);
  } finally {
    reader.cancel().catch(() => {});
  }
}

function checked(bytes, name, expected) {
  if (begins(bytes, [0xff, 0xfe]) || begins(bytes, [0xfe, 0xff])) {
    throw new LogError(`${name}: text in UTF-16, expected UTF-8; Python reads it`);
  }
  if (bytes.subarray(0, BEGIN).includes(0)) throw new LogError(`${name}: the file is binary, expected ${expected}`);
  if (!bytes.length) throw new LogError(`${name}: the file is empty, expected ${expected}`);
  return begins(bytes, BOM) ? bytes.subarray(BOM.length) : bytes;
}

export { BLANK };
