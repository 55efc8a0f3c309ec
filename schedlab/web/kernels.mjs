// Calls the kernels: puts arrays into the module's memory, passes arguments one by one as Numba does, reads results.

const SIZES = { int64: 8, float64: 8, bool: 1 };
const VIEWS = { int64: BigInt64Array, float64: Float64Array, bool: Uint8Array };
// An array, as Numba returns it: owner, parent, length, item size, address, shape, stride; 8 bytes each.
const LENGTH = 2;
const ADDRESS = 4;
const WORDS = 7;

/**
 * Make the module ready.
 *
 * @param {BufferSource} bytes - the module: kernels.wasm, or kernels64.wasm
 * @param {object} described - kernels.json
 * @returns {Promise<(name: string, values: object) => Array>} a function that calls a kernel with values by the names of
 *   its arguments, and returns copies of the arrays that it gives
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
    new VIEWS[kind](wasm.memory.buffer, address, array.length).set(array);
    return address;
  }

  function pass(kind, value, into) {
    if (kind.tuple) {
      for (const [name, part] of kind.tuple) pass(part, value[name], into);
    } else if (kind.array) {
      const length = BigInt(value.length);
      const size = BigInt(SIZES[kind.array]);
      into.push(pointer(0), pointer(0), length, size, pointer(place(value, kind.array)), length, size);
    } else {
      into.push(kind === "bool" ? Number(value) : BigInt(value));
    }
  }

  return function call(name, values) {
    const { args, names, returns } = described.kernels[name];
    for (const argument of names) {
      if (!(argument in values)) throw new TypeError(`kernel ${name} takes ${argument}`);
    }
    const mark = wasm.mark();
    try {
      const count = returns.tuple.length;
      const result = allocate(8 * WORDS * count);
      const error = allocate(64);
      const passed = [pointer(result), pointer(error)];
      args.forEach((kind, i) => pass(kind, values[names[i]], passed));
      if (wasm[name](...passed) !== 0) throw new Error(`kernel ${name} failed`);
      const words = new BigInt64Array(wasm.memory.buffer, result, WORDS * count);
      return returns.tuple.map(([, kind], i) => {
        const [length, address] = [words[WORDS * i + LENGTH], words[WORDS * i + ADDRESS]].map(Number);
        return new VIEWS[kind.array](wasm.memory.buffer, address, length).slice();
      });
    } finally {
      wasm.release(mark);
    }
  };
}
