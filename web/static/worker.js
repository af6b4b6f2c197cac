"use strict";

// The object that the program and the scripts of this worker share;
// wasm/worker/protocol_js.go describes it. The scripts that are joined to this one add
// range and unpack; the program adds receive, read and fetched.
const crashpaneWorker = (self.crashpaneWorker = { kept: keptIn(self) });

// The engine's worker. It gets and starts the engine's program, keeps messages until the program
// listens, and reports how the program ended.
const waiting = [];
let running = false;
let lastWords = "";
let script; // a Blob with this script, where the address of it is not for its workers (single.js)

// A Go program that panics writes the reason to standard error, which Go's glue sends to the
// console. Keep the first line as the reason.
for (const level of ["log", "error"]) {
  const write = console[level].bind(console);
  console[level] = (...words) => {
    const text = words.join(" ");
    const found = /^(?:panic|fatal error|runtime): ?(.*)/m.exec(text);
    if (found && !lastWords) lastWords = found[1];
    write(...words);
  };
}

function stopped(why) {
  postMessage({ stopped: why });
  close();
}

// Returns the program compiled. program is that already, its address, or a Blob of its gzip form.
async function compiled(program, size) {
  if (program instanceof WebAssembly.Module) return program;
  const response =
    program instanceof Blob
      ? new Response(program.stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } })
      : await fetch(program, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  count(response.clone(), size).catch(() => {}); // compiling has the same error
  // Some servers send another type, for which compileStreaming fails.
  if (!/^application\/wasm\b/.test(response.headers.get("content-type") ?? "")) return WebAssembly.compile(await response.arrayBuffer());
  return WebAssembly.compileStreaming(response);
}

// Tells the page ten times a second how many bytes have arrived. It reads a copy of the response.
async function count(response, total) {
  let done = 0;
  let reported = 0;
  const reader = response.body.getReader();
  for (let piece; !(piece = await reader.read()).done; ) {
    done += piece.value.byteLength;
    if (performance.now() - reported > 100) {
      reported = performance.now();
      postMessage({ program: { done, total } });
    }
  }
}

async function load(program, size) {
  let module;
  try {
    module = await compiled(program, size);
  } catch (error) {
    postMessage({ program: { problem: String(error?.message ?? error) } });
    return;
  }
  if (module !== program) postMessage({ program: { module } });
  start(module).catch((error) => stopped(lastWords || String(error?.message ?? error)));
}

async function start(module) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  crashpaneWorker.memory = () => instance.exports.mem.buffer.byteLength;
  let address;
  crashpaneWorker.beside = () => {
    const worker = new Worker((address ??= script ? URL.createObjectURL(script) : self.location.href));
    let pending; // settles the promise of the message that it answers
    const end = (why) => {
      worker.terminate();
      pending?.reject(new Error(why));
    };
    worker.onmessage = ({ data }) => {
      if (data.indexed) pending.resolve(data);
      else if (data.stopped) end(data.stopped);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      end("a worker could not run");
    };
    worker.postMessage({ program: module, script });
    const ask = (message) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject };
        worker.postMessage(message);
      });
    return { ask, end };
  };
  const ended = go.run(instance);
  running = true;
  for (const message of waiting.splice(0)) crashpaneWorker.receive(message);
  await ended;
  stopped(lastWords || "it ended");
}

onmessage = ({ data }) => {
  if (data.script) script = data.script;
  // Held until the worker ends, however it does: a worker that closes itself causes no event.
  if (data.lock) {
    const hold = () => {
      postMessage({ locked: true });
      return new Promise(() => {});
    };
    navigator.locks?.request(data.lock, hold).catch(() => {});
  } else if (data.program) {
    load(data.program, data.size);
  } else if (running) {
    crashpaneWorker.receive(data);
  } else if (!data.script) {
    waiting.push(data);
  }
};
