// Reads logs as the page does, and writes for each what was read, or the error, as a line of JSON.
import { openAsBlob, readFileSync } from "node:fs";
import { basename } from "node:path";

const [module, list] = process.argv.slice(2);
const { read } = await import(module);

async function result(path, options) {
  const progress = [];
  try {
    const file = new File([await openAsBlob(path)], basename(path));
    return { ...(await read(file, options, (each) => progress.push(each))), progress: progress.at(-1) ?? null };
  } catch (error) {
    const { name, message, columns, rows, guess } = error;
    return { error: { name, message, columns, rows, guess, stack: error.stack } };
  }
}

const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
for (const { path, options } of JSON.parse(readFileSync(list))) {
  console.log(JSON.stringify(await result(path, options), plain));
}
