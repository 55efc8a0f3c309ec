// Text of any origin: unpacked, cut into lines, and quoted in messages as Python's readers quote it.

/** A log that is not read; the message is one line that says where, what stands there and what was expected. */
export class LogError extends Error {
  name = "LogError";
}

export const MOST_PROCS = 2 ** 24;
export const LATEST = 253_402_214_400; // seconds since 1970: the last day of the year 9999
// oxlint-disable-next-line no-control-regex -- Python's blanks
export const BLANK = /[\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const BLANKS = new RegExp(`^${BLANK.source}+`);
const PACKINGS = { gzip: [31, 139], bzip2: [66, 90, 104], xz: [253, 55, 122, 88, 90], Zstandard: [40, 181, 47, 253] };
const UTF8 = [239, 187, 191];
const BEGIN = 1024; // bytes without a 0, if this is text
const BLOCK = 2 ** 20; // bytes that are in memory at once
const LONGEST = 2 ** 24; // bytes of a line
const QUOTED = 60; // letters of a value in a message

/** Remove the blanks around a text. */
export function strip(text) {
  let end = text.length;
  while (end > 0 && BLANK.test(text[end - 1])) end -= 1;
  return text.slice(0, end).replace(BLANKS, "");
}

/** Write a whole number with commas. */
export const counted = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

function escaped(letter) {
  const code = letter.codePointAt(0);
  const [mark, width] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
  return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[letter] ?? `\\${mark}${code.toString(16).padStart(width, "0")}`;
}

/** Make text fit for one line. */
export function plain(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped).replace(/<(?=[/!])/g, "< ");
}

/** Shorten text that a message quotes. */
export function clipped(text) {
  const letters = Array.from(text.slice(0, 2 * QUOTED + 2));
  return letters.length > QUOTED ? `${letters.slice(0, QUOTED).join("")}...` : text;
}

/** Quote text as Python's repr does, in short. */
export function quoted(text) {
  const inner = clipped(text).replaceAll("\\", "\\\\");
  const mark = inner.includes("'") && !inner.includes('"') ? '"' : "'";
  return mark + inner.replaceAll(mark, `\\${mark}`).replace(/(?! )[\p{C}\p{Z}]/gu, escaped) + mark;
}

function utf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Read lines as UTF-8, and those that are not as Latin-1, in which any byte is valid. */
function decoded(bytes) {
  const text = utf8(bytes);
  if (text !== null) return text.split("\n");
  const latin = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return latin.split("\n").map((line) => utf8(Uint8Array.from(line, (letter) => letter.charCodeAt(0))) ?? line);
}

/** Yield the lines of a file, many at a time, so that the text of a long log is never in memory as a whole. */
export async function* lines(file, expected, report, isUtf8 = false) {
  const refuse = (problem) => {
    throw new LogError(`${plain(file.name)}: ${problem}`);
  };
  const failed = ({ message }) => refuse(`cannot be read, or the gzip stream is damaged (${plain(message.trim())})`);
  const begins = (bytes, magic) => magic.every((byte, i) => bytes[i] === byte);
  const first = new Uint8Array(await file.slice(0, 6).arrayBuffer().catch(failed));
  const packing = Object.keys(PACKINGS).find((name) => begins(first, PACKINGS[name]));
  if (packing && packing !== "gzip") refuse(`packed by ${packing}, expected text or gzip; schedlab in Python reads it`);
  let bytes = 0;
  const transform = (chunk, controller) => {
    bytes += chunk.length;
    report({ bytes, of: file.size });
    controller.enqueue(chunk);
  };
  const stream = file.stream().pipeThrough(new TransformStream({ transform }));
  const reader = (packing ? stream.pipeThrough(new DecompressionStream("gzip")) : stream).getReader();
  let parts = [];
  let isBegin = true;
  try {
    for (let size = 0, isEnd = false; !isEnd; ) {
      const { done, value = new Uint8Array(0) } = await reader.read().catch(failed);
      isEnd = done;
      parts.push(value);
      size += value.length;
      if (size < BLOCK && !isEnd) continue;
      let block = new Uint8Array(await new Blob(parts).arrayBuffer());
      if (isBegin) {
        if (begins(block, [255, 254]) || begins(block, [254, 255])) refuse("text in UTF-16, which Python reads");
        if (block.subarray(0, BEGIN).includes(0)) refuse(`the file is binary, expected ${expected}`);
        if (!block.length) refuse(`the file is empty, expected ${expected}`);
        if (begins(block, UTF8)) block = block.subarray(UTF8.length);
      }
      const end = isEnd ? block.length : block.lastIndexOf(10);
      if (block.length - end > LONGEST) refuse("a line of more than 16 MB, which Python reads");
      if (isUtf8 && utf8(block.subarray(0, end + 1)) === null) refuse("not text in UTF-8");
      if (end >= 0) yield decoded(block.subarray(0, end));
      parts = [block.subarray(end + 1)];
      isBegin = false;
      size = 0;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
