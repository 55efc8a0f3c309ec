// Calls the kernels: puts arrays into the module's memory, passes arguments one by one as Numba does, reads results.

const SIZES = { int64: 8, float64: 8, bool: 1, int8: 1 };
const VIEWS = { float64: Float64Array, bool: Uint8Array, int8: Int8Array };
// An array, as Numba returns it: owner, parent, length, item size, address, shape, strides; 8 bytes each.
const LENGTH = 2;
const ADDRESS = 4;
const WORDS = 5; // and two for each axis
const HALF = 2 ** 32;

/**
 * Make the module ready.
 *
 * @param {BufferSource} bytes - the module: kernels.wasm, or kernels64.wasm
 * @param {object} described - kernels.json
 * @returns {Promise<(name: string, values: object) => Array>} a function that calls a kernel with values by the names
 *   of its arguments, and returns copies of the arrays that it gives. Whole numbers are numbers of JavaScript here,
 *   which are exact up to 2^53. A part of an order or of settings that has no value is 0, false or empty.
 */
export async function load(bytes, described) {
  const imports = { math: { exp: Math.exp, expm1: Math.expm1 } };
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  const wasm = instance.exports;
  const wide = typeof wasm.mark() === "bigint";
  const pointer = (value) => (wide ? BigInt(value) : Number(value));
  const allocate = (size) => Number(wasm.allocate(pointer(size)));

  function place(array, kind) {
    const address = allocate(Math.max(array.length * SIZES[kind], 8));
    if (kind === "int64") {
      const words = new Int32Array(wasm.memory.buffer, address, 2 * array.length);
      for (let i = 0; i < array.length; i++) {
        words[2 * i] = array[i];
        words[2 * i + 1] = Math.floor(array[i] / HALF);
      }
    } else {
      new VIEWS[kind](wasm.memory.buffer, address, array.length).set(array);
    }
    return address;
  }

  function copied(kind, length, address) {
    if (kind !== "int64") return new VIEWS[kind](wasm.memory.buffer, address, length).slice();
    const words = new Int32Array(wasm.memory.buffer, address, 2 * length);
    const numbers = new Float64Array(length);
    for (let i = 0; i < length; i++) numbers[i] = words[2 * i + 1] * HALF + (words[2 * i] >>> 0);
    return numbers;
  }

  function pass(kind, value, into) {
    if (kind.tuple) {
      for (const [name, part] of kind.tuple) pass(part, value?.[name], into);
    } else if (kind.array) {
      const rows = value ?? [];
      const array = kind.axes === 2 ? Array.from(rows).flatMap((row) => Array.from(row)) : rows;
      const size = SIZES[kind.array];
      const [shape, strides] = [[array.length], [size]];
      if (kind.axes === 2) {
        const across = rows[0]?.length ?? 0;
        shape.splice(0, 1, rows.length, across);
        strides.unshift(across * size);
      }
      const address = pointer(place(array, kind.array));
      into.push(pointer(0), pointer(0), BigInt(array.length), BigInt(size), address);
      into.push(...shape.map(BigInt), ...strides.map(BigInt));
    } else {
      into.push(kind === "int64" ? BigInt(value ?? 0) : Number(value ?? 0));
    }
  }

  return function call(name, values) {
    const { args, names, returns } = described.kernels[name];
    for (const argument of names) {
      if (!(argument in values)) throw new TypeError(`kernel ${name} takes ${argument}`);
    }
    const mark = wasm.mark();
    try {
      const kinds = returns.tuple ? returns.tuple.map(([, kind]) => kind) : [returns];
      const size = kinds.reduce((words, { axes }) => words + WORDS + 2 * axes, 0);
      const result = allocate(8 * size);
      const error = allocate(64);
      const passed = [pointer(result), pointer(error)];
      args.forEach((kind, i) => pass(kind, values[names[i]], passed));
      if (wasm[name](...passed) !== 0) throw new Error(`kernel ${name} failed`);
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
