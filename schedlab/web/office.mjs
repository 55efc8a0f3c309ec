// The page's side of the worker: starts it, asks it, and gives back its answers.

export class Stopped extends Error {}

/** Decode gzipped text. */
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/**
 * Start the worker.
 *
 * @param {{worker: string, wide: string, narrow: string, kernels: object, schemes: object}} parts - its script, the two
 *   forms of the module, what is known of its kernels, and the schemes
 * @param {(message: string) => void} failed
 * @returns {Promise<{ask: Function, stop: Function}>} `ask` resolves to the worker's answer, or throws its error
 */
export async function started({ worker: script, wide, narrow, kernels, schemes }, failed) {
  const waiting = new Map();
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address);
  let asked = 0;
  worker.addEventListener("message", ({ data: { id, result, error, progress } }) => {
    const { resolve, reject, report } = waiting.get(id);
    if (progress) return report?.(progress);
    waiting.delete(id);
    return error ? reject(Object.assign(new Error(error.message), error)) : resolve(result);
  });
  worker.addEventListener("error", (event) => failed(`The page’s worker failed: ${event.message}`));

  function ask(kind, request = {}, report = null) {
    const id = ++asked;
    worker.postMessage({ id, kind, ...request });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject, report }));
  }

  function stop() {
    worker.terminate();
    for (const { reject } of waiting.values()) reject(new Stopped());
  }

  const [module, other] = await Promise.all([wide, narrow].map(unpacked));
  await ask("start", { wide: module, narrow: other, kernels, known: schemes });
  URL.revokeObjectURL(address);
  return { ask, stop };
}
