// Reads logs as the page does, and writes for each what was read, or the error, as a line of JSON.
import { openAsBlob, readFileSync } from "node:fs";
import { basename } from "node:path";

const [module, list] = process.argv.slice(2);
const { read } = await import(module);

async function result(path, options) {
  let progress = null;
  try {
    const file = new File([await openAsBlob(path)], basename(path));
    return { ...(await read(file, options, (latest) => (progress = latest))), progress };
  } catch (error) {
    const { name, message, columns, rows, stack } = error;
    return { error: { name, message, columns, rows, stack } };
  }
}

const listed = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
for (const { path, options, cost } of JSON.parse(readFileSync(list))) {
  const begin = performance.now();
  const log = await result(path, options);
  const seconds = (performance.now() - begin) / 1000;
  const memory = process.resourceUsage().maxRSS * 1024; // bytes, the most so far
  console.log(cost ? JSON.stringify({ jobs: log.jobs.number.length, seconds, memory }) : JSON.stringify(log, listed));
}
