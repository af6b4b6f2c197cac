// Nested calls in interpreted and in optimized code, a callback of sort, and a worker; the main thread then waits inside of them.
const { Worker, isMainThread } = require("worker_threads");
const fs = require("fs");

const lock = new Int32Array(new SharedArrayBuffer(4));

function waitHere() {
  if (isMainThread) fs.writeSync(1, "ready\n");
  Atomics.wait(lock, 0, 0);
}

function hot(n, stop) {
  if (n === 0) {
    if (stop) waitHere();
    return 1;
  }
  return hot(n - 1, stop) * 3 + n;
}

function sorting() {
  return [5, 3, 8, 1].sort((a, b) => {
    if (a === 8 || b === 8) deep(10);
    return a - b;
  });
}

function deep(n) {
  if (n > 0) return [n].map((x) => deep(x - 1) + x)[0];
  for (let i = 0; i < 20000; i++) hot(20, false);
  return hot(20, true);
}

if (isMainThread) {
  const worker = new Worker(__filename);
  worker.on("online", () => setTimeout(sorting, 500));
} else sorting();
