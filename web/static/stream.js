// Reads a part of a File from start to end, for the engine (wasm/viewer/worker/stream_js.go). next returns the promise of the next bytes, and starts to read those after them, into the
// buffer of the bytes before. end cancels the pending read.
crashpaneWorker.stream = (file, from, to) => {
  const size = 2 << 20; // Chromium reads about two megabytes ahead
  const stream = file.slice(from, to).stream();
  const free = [];
  let reader;
  let fills = true; // the browser can read into our buffers (byob)
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    fills = false;
    reader = stream.getReader();
  }
  crashpaneWorker.stream.open.add(reader);
  let left = to - from;
  let last; // the bytes that next has returned
  async function read() {
    if (left <= 0) return null;
    const n = Math.min(size, left);
    const into = fills ? new Uint8Array(free.pop() ?? new ArrayBuffer(size), 0, n) : undefined;
    const { done, value } = await reader.read(into, { min: n }); // where supported, fills the buffer in one go: each result costs a task
    if (done || !value.byteLength) throw new Error("the file has become shorter");
    left -= value.byteLength;
    return value;
  }
  const begin = () => {
    const came = read();
    came.catch(() => {}); // next will throw it
    return came;
  };
  let ahead = begin();
  return {
    next: async () => {
      if (last && fills) free.push(last.buffer);
      last = await ahead;
      ahead = begin();
      return last;
    },
    end: () => {
      crashpaneWorker.stream.open.delete(reader);
      reader.cancel().catch(() => {});
    },
  };
};
// Chromium garbage collects the stream of a File to which only its pending read refers; then the read never ends. So keep references here.
crashpaneWorker.stream.open = new Set();
