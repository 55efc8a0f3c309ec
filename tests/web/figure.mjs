// Asks the worker, as a page does, and writes its answers.
import { readFileSync, writeFileSync } from "node:fs";

const [file, out] = process.argv.slice(2);
const folder = new URL("../../schedlab/web/", import.meta.url);
const { kernels, requests } = JSON.parse(readFileSync(file));
const answers = [];
globalThis.self = { postMessage: (answer) => answers.push(answer) };
await import("../../schedlab/web/worker.mjs");
const module = readFileSync(new URL("kernels.wasm", folder));
await self.onmessage({ data: { id: 0, kind: "start", wide: module, narrow: module, kernels, known: {} } });
for (const [i, request] of requests.entries()) await self.onmessage({ data: { id: i + 1, ...request } });
writeFileSync(out, JSON.stringify(answers));
