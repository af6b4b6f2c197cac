// Long stretches of a File, read by another worker for the engine (see apart.js): of each, one piece after the other as the File has it. Streams
// cost least where several run side by side and none is held up, so there are twice as many buffers, which go to the engine and come back.
const pourer = () => {
  const most = 1 << 20; // bytes of a piece, without what came before
  const lanes = 6;
  const open = new Map(); // id → its buffers
  // Chromium forgets a stream of a File that nothing but its own pending read refers to, and the read then never ends.
  const reading = new Set();

  function begin(file, from, to) {
    const stream = file.slice(from, to).stream();
    try {
      return { reader: stream.getReader({ mode: "byob" }), fills: true };
    } catch {
      return { reader: stream.getReader(), came: new Uint8Array(0) };
    }
  }

  // Fills a part of a buffer, and answers it: a stream that fills buffers gives it back in another object.
  async function fill(lane, buffer, start, end) {
    while (start < end) {
      if (lane.came?.length) {
        const some = lane.came.subarray(0, end - start);
        new Uint8Array(buffer).set(some, start);
        lane.came = lane.came.subarray(some.length);
        start += some.length;
        continue;
      }
      const { done, value } = await lane.reader.read(lane.fills && new Uint8Array(buffer, start, end - start), { min: end - start });
      if (done || !value.byteLength) throw new Error("it is shorter than it was");
      if (lane.fills) {
        buffer = value.buffer;
        start += value.byteLength;
      } else {
        lane.came = value;
      }
    }
    return buffer;
  }

  async function pour(buffers, { id, file, overlap }, from, to) {
    const lane = begin(file, from, to);
    reading.add(lane);
    try {
      let before = new Uint8Array(0); // the end of the piece before
      for (let at = from; at < to; ) {
        let buffer = await buffers.take();
        if (!buffer) break;
        new Uint8Array(buffer).set(before);
        const size = Math.min(most, to - at);
        const end = before.length + size;
        buffer = await fill(lane, buffer, before.length, end);
        const piece = { id, at: at - before.length, bytes: new Uint8Array(buffer, 0, end) };
        at += size;
        if (at < to) before = piece.bytes.slice(-overlap);
        postMessage(piece, [buffer]);
      }
    } finally {
      reading.delete(lane);
      lane.reader.cancel().catch(() => {});
    }
  }

  // Buffers, which take promises until it is ended: then it has none.
  function stock(size) {
    const free = Array.from({ length: 2 * lanes }, () => new ArrayBuffer(size));
    const waiting = [];
    let ended = false;
    return {
      take: () => (ended ? undefined : free.pop() ?? new Promise((done) => waiting.push(done))),
      give: (buffer) => (waiting.length ? waiting.shift()(buffer) : free.push(buffer)),
      end: () => {
        ended = true;
        waiting.splice(0).forEach((done) => done());
      },
    };
  }

  // stretches: from and up to of each. back: buffers that are not needed any more. Without either, it is ended.
  return (ask) => {
    const { id, stretches, back, overlap } = ask;
    const known = open.get(id);
    if (back) return back.forEach((buffer) => known?.give(buffer));
    if (!stretches) {
      known?.end();
      open.delete(id);
      return;
    }
    const buffers = stock(most + overlap);
    open.set(id, buffers);
    let next = 0;
    const lane = async () => {
      while (next < stretches.length) await pour(buffers, ask, stretches[next++], stretches[next++]);
    };
    Promise.all(Array.from({ length: lanes }, lane)).then(
      () => postMessage({ id, ended: true }),
      (error) => postMessage({ id, problem: String(error?.message ?? error) }),
    );
  };
};
self.crashpanePour = pourer();
