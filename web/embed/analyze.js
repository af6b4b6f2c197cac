// The engine without a page: it takes a dump and symbols, and returns the report. It is for Node
// and for workers; on a page it would block the page's thread.
import { engineProgram } from "./assets.js";
import { isNamed } from "./core.js";
import { Go, runCrashpane, scope } from "./runtime.js";

export async function analyze(dump, { name, symbols = [], policy = "best" } = {}) {
  const files = [await readable(dump, name ?? dump?.name ?? "crash.dmp")];
  let count = 0;
  for await (const one of symbols) {
    count++;
    files.push(await readable(isNamed(one) ? one.data : one, one?.name ?? `symbols-${count}.sym`));
  }
  const module = await engineProgram();
  return JSON.parse(await run(module, { analyze: 1, files, policy: String(policy) }));
}

// Makes data that the program can read in parts: a Uint8Array, or in a browser's worker a Blob.
async function readable(data, name) {
  data = await data;
  name = String(name);
  if (ArrayBuffer.isView(data)) return { name, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
  if (data instanceof ArrayBuffer) return { name, data: new Uint8Array(data) };
  if (data instanceof Response || data instanceof ReadableStream) data = await (data instanceof Response ? data : new Response(data)).blob();
  if (!(data instanceof Blob)) throw new TypeError("a file must be bytes, a Blob, a Response or a ReadableStream");
  if (typeof FileReaderSync === "function") return { name, data };
  return { name, data: new Uint8Array(await data.arrayBuffer()) };
}

// Runs the program once. Its memory is freed afterwards.
async function run(module, request) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  return new Promise((done, fail) => {
    const own = {
      // Node does not exit while a MessagePort has a listener, so use a timer.
      MessageChannel: class {
        port1 = {};
        port2 = { postMessage: () => setTimeout(() => this.port1.onmessage?.({})) };
      },
      crashpaneWorker: {}, // wasm/worker/protocol_js.go
      postMessage(message) {
        if (message.ready) own.crashpaneWorker.receive(request);
        else if (message.stopped !== undefined) fail(new Error(`the engine stopped: ${message.stopped}`));
        else if (message.error !== undefined) fail(new Error(message.error));
        else if (message.analyzed !== undefined) done(message.json);
      },
    };
    const global = new Proxy(scope, {
      get: (target, key) => (key in own ? own[key] : Reflect.get(target, key)),
      set: (_, key, value) => {
        own[key] = value;
        return true;
      },
    });
    runCrashpane(go, instance, global).then(() => fail(new Error("the engine ended")), fail);
  });
}
