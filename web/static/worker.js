"use strict";

// The object that the program and the scripts of this worker share;
// wasm/worker/protocol_js.go describes it. The scripts that are joined to this one add
// range and unpack; the program adds read and fetched, and replaces receive, which keeps messages
// until then.
const waiting = [];
const crashpaneWorker = (self.crashpaneWorker = { kept: keptIndexes(true), receive: (message) => waiting.push(message) });

// The engine's worker. It gets and starts the engine's program, and reports how the program ended.
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
    module = await compile(program, (response) => count(response, size).catch(() => {})); // compiling has the same error
  } catch (error) {
    postMessage({ program: { problem: String(error?.message ?? error) } });
    return;
  }
  postMessage({ program: { module } });
  start(module).catch((error) => stopped(lastWords || String(error?.message ?? error)));
}

async function start(module) {
  const go = new Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  crashpaneWorker.memory = () => instance.exports.mem.buffer.byteLength;
  let address;
  crashpaneWorker.beside = () => {
    const worker = new Worker((address ??= script ? URL.createObjectURL(script) : self.location.href));
    const lock = `crashpane ${Math.random()}`;
    worker.postMessage({ lock });
    worker.postMessage({ program: module, script });
    let end;
    const ask = (message) =>
      new Promise((resolve, reject) => {
        end = (why) => {
          worker.terminate();
          reject(new Error(why));
        };
        worker.onmessage = ({ data }) => {
          if (data.indexed) resolve(data);
          else if (data.locked) navigator.locks.request(lock, () => end("it ended, and nothing says why"));
          else if (data.stopped) end(data.stopped);
        };
        worker.onerror = (event) => {
          event.preventDefault();
          end("a worker could not run");
        };
        worker.postMessage(message);
      });
    return { ask, end: (why) => end(why) };
  };
  const ended = go.run(instance);
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
  } else if (!data.script) {
    crashpaneWorker.receive(data);
  }
};
