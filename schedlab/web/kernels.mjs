// Calls the kernels: puts arrays into the module's memory, passes arguments one by one as Numba does, reads results.

const SIZES = { int64: 8, float64: 8, bool: 1, int8: 1 };
const VIEWS = { float64: Float64Array, bool: Uint8Array, int8: Int8Array };
// An array, as Numba returns it: owner, parent, length, item size, address, shape, strides; 8 bytes each.
const LENGTH = 2;
const ADDRESS = 4;
const WORDS = 5; // and two for each axis
const HALF = 2 ** 32;
const NEVER = 2 ** 63; // as a number of JavaScript; the kernels' own is less by 1

/**
 * Make the module ready.
 *
 * @param {BufferSource} bytes - the module: kernels.wasm, or kernels64.wasm
 * @param {object} described - kernels.json
 * @returns {Promise<(name: string, values: object) => Array>} a function that calls a kernel with values by the names
 *   of its arguments, and returns copies of the arrays that it gives. Whole numbers are numbers of JavaScript here,
 *   which are exact up to 2^53. A part of an order or of settings that has no value is 0, false or empty. What a kernel
 *   for pools changes is changed in the arrays of `values`, too; those of several axes are arrays of arrays.
 */
export async function load(bytes, described) {
  const { instance } = await WebAssembly.instantiate(bytes, { math: { exp: Math.exp, expm1: Math.expm1 } });
  const wasm = instance.exports;
  const wide = typeof wasm.mark() === "bigint";
  const pointer = (value) => (wide ? BigInt(value) : Number(value));
  const allocate = (size) => Number(wasm.allocate(pointer(size)));

  function place(array, kind, address) {
    if (kind === "int64") {
      const words = new Int32Array(wasm.memory.buffer, address, 2 * array.length);
      for (let i = 0; i < array.length; i++) {
        const never = array[i] >= NEVER;
        words[2 * i] = never ? -1 : array[i];
        words[2 * i + 1] = never ? HALF / 2 - 1 : Math.floor(array[i] / HALF);
      }
    } else {
      new VIEWS[kind](wasm.memory.buffer, address, array.length).set(array);
    }
  }

  function copied(kind, length, address) {
    if (kind !== "int64") return new VIEWS[kind](wasm.memory.buffer, address, length).slice();
    const words = new Int32Array(wasm.memory.buffer, address, 2 * length);
    const numbers = new Float64Array(length);
    for (let i = 0; i < length; i++) numbers[i] = words[2 * i + 1] * HALF + (words[2 * i] >>> 0);
    return numbers;
  }

  function pass(kind, value, into, rows) {
    if (kind.tuple) {
      for (const [name, part] of kind.tuple) pass(part, value?.[name], into, rows);
    } else if (kind.array) {
      const size = SIZES[kind.array];
      const shape = [];
      for (let part = value ?? []; shape.length < kind.axes; part = part[0] ?? []) shape.push(part.length);
      const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, length) => product * length, size));
      const bytes = strides[0] * shape[0];
      const address = allocate(Math.max(bytes, 8));
      [value ?? []].flat(kind.axes - 1).forEach((row, i) => {
        rows.push([row, kind.array, address + i * row.length * size]);
        place(...rows.at(-1));
      });
      into.push(pointer(0), pointer(0), BigInt(bytes / size), BigInt(size), pointer(address));
      into.push(...shape.map(BigInt), ...strides.map(BigInt));
    } else {
      into.push(kind === "int64" ? BigInt(value ?? 0) : Number(value ?? 0));
    }
  }

  return function call(name, values) {
    const { args, names, returns, changes } = described.kernels[name];
    const missing = names.find((argument) => !(argument in values));
    if (missing) throw new TypeError(`kernel ${name} takes ${missing}`);
    const mark = wasm.mark();
    try {
      const kinds = returns.tuple ? returns.tuple.map(([, kind]) => kind) : [returns];
      const size = kinds.reduce((words, { axes }) => words + WORDS + 2 * axes, 0);
      const result = allocate(8 * (size + 1));
      const error = allocate(64);
      const passed = [pointer(result), pointer(error)];
      const rows = [];
      args.forEach((kind, i) => pass(kind, values[names[i]], passed, rows));
      if (wasm[name](...passed) !== 0) throw new Error(`kernel ${name} failed`);
      for (const [row, kind, address] of changes ? rows : []) {
        copied(kind, row.length, address).forEach((number, i) => (row[i] = number));
      }
      const words = Array.from(new BigInt64Array(wasm.memory.buffer, result, size), Number);
      return kinds.map(({ array, axes }) => {
        const described = words.splice(0, WORDS + 2 * axes);
        return copied(array, described[LENGTH], described[ADDRESS]); // row by row
      });
    } finally {
      wasm.release(mark);
    }
  };
}
