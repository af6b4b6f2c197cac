// The addresses of the package's files. They are next to this file, unless configure sets others.
import { compileCrashpane } from "./runtime.js";

const places = {
  viewer: new URL("./crashpane.wasm", import.meta.url),
  engine: new URL("./crashpane-engine.wasm", import.meta.url),
  worker: new URL("./crashpane-worker.js", import.meta.url),
};

// Sets addresses. viewer and engine may also be bytes or a WebAssembly.Module; worker may be a
// function that makes a Worker. full is an older name of engine.
export function configure({ full, ...others }) {
  others.engine ??= full;
  for (const name of Object.keys(places)) {
    if (others[name] === undefined) continue;
    places[name] = typeof others[name] === "string" ? new URL(others[name], globalThis.document?.baseURI ?? import.meta.url) : others[name];
    compiled.delete(name);
  }
}

// Each program is compiled once for all viewers.
const compiled = new Map();
function program(name) {
  if (!compiled.has(name)) {
    const module = load(places[name]);
    compiled.set(name, module);
    module.catch(() => compiled.delete(name)); // try again next time
  }
  return compiled.get(name);
}

async function load(place) {
  // Node's fetch does not read files.
  if (place instanceof URL && place.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
    return WebAssembly.compile(await readFile(place));
  }
  return compileCrashpane(place);
}

export const viewerProgram = () => program("viewer");
export const engineProgram = () => program("engine");
export const makeWorker = () => (typeof places.worker === "function" ? places.worker() : new Worker(places.worker));
