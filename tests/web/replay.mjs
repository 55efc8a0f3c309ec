// Calls kernels with the arguments of a file, and writes how many of the numbers that they return or change differ from
// the file's.
import { readFileSync } from "node:fs";
import { load } from "../../schedlab/web/kernels.mjs";

const [module, file] = process.argv.slice(2);
const folder = new URL("../../schedlab/web/", import.meta.url);
const described = JSON.parse(readFileSync(new URL("kernels.json", folder)));
const call = await load(readFileSync(new URL(module, folder)), described);

function decode(kind, value) {
  if (kind.tuple) return Object.fromEntries(kind.tuple.map(([name, part], i) => [name, decode(part, value[i])]));
  return value;
}

function flat(value) {
  return typeof value === "object" ? Object.values(value).flatMap(flat) : [Number(value)];
}

const count = { calls: 0, numbers: 0, different: 0 };
for (const { kernel, values, returned, changed } of JSON.parse(readFileSync(file))) {
  const { names, args } = described.kernels[kernel];
  const passed = Object.fromEntries(names.map((name, i) => [name, decode(args[i], values[i])]));
  const results = [...call(kernel, passed), ...(changed ? Object.values(passed) : [])].map(flat);
  const expected = [...returned, ...(changed ?? [])].map(flat);
  count.calls += 1;
  count.different += Math.abs(results.length - expected.length);
  results.forEach((numbers, i) => {
    count.numbers += numbers.length;
    count.different += Math.abs(numbers.length - expected[i].length);
    numbers.forEach((number, j) => (count.different += number !== expected[i][j]));
  });
}
console.log(JSON.stringify(count));
