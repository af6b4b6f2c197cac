// Reads a part of a File from its start to its end, for the engine. While what has come is worked on, the next bytes are read: next promises them,
// and has the buffer before be filled again. end lets go of what is still on its way.
crashpaneWorker.stream = (file, from, to) => {
  const size = 2 << 20; // Chromium reads some two megabytes ahead
  const stream = file.slice(from, to).stream();
  const free = [];
  let reader;
  let fills = true; // the stream fills buffers
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    fills = false;
    reader = stream.getReader();
  }
  crashpaneWorker.stream.open.add(reader);
  let left = to - from;
  let last; // that was given
  async function read() {
    if (left <= 0) return null;
    const n = Math.min(size, left);
    const into = fills ? new Uint8Array(free.pop() ?? new ArrayBuffer(size), 0, n) : undefined;
    const { done, value } = await reader.read(into, { min: n }); // at once, where it can: each answer costs a turn
    if (done || !value.byteLength) throw new Error("the file has become shorter");
    left -= value.byteLength;
    return value;
  }
  const begin = () => {
    const came = read();
    came.catch(() => {}); // next says so
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
// Chromium forgets a stream of a File that nothing but its own pending read refers to, and the read then never ends.
crashpaneWorker.stream.open = new Set();
