// Calls kernels with the arguments of a file, and writes how many of the numbers that they return differ from the file's.
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

const count = { calls: 0, numbers: 0, different: 0 };
for (const { kernel, values, returned } of JSON.parse(readFileSync(file))) {
  const { names, args } = described.kernels[kernel];
  const arrays = call(kernel, Object.fromEntries(names.map((name, i) => [name, decode(args[i], values[i])])));
  count.calls += 1;
  arrays.forEach((array, i) => {
    const expected = returned[i].flat();
    count.numbers += array.length;
    count.different += Math.abs(array.length - expected.length);
    array.forEach((value, j) => (count.different += Number(value) !== expected[j]));
  });
}
console.log(JSON.stringify(count));
