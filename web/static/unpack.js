// A gzip file of one member as a Blob of what it holds, by the browser's own inflater, which takes a fifth of the time of the program's. The
// answer is null if more than most bytes came out, and an error where anything is wrong, of which the program then finds out what; told is
// called with how much of the file was read.
const unpackGzip = async (packed, most, told) => {
  const step = 32 << 10; // is unpacked in one go: a thousand times that is in memory at most, if somebody has made it so
  const part = 4 << 20; // what came out goes to the browser in Blobs of this size
  const source = packed.stream().getReader();
  const inflater = new DecompressionStream("gzip");
  const into = inflater.writable.getWriter();
  const from = inflater.readable.getReader();
  unpacking.add(source).add(inflater);
  const feed = async () => {
    for (let done = 0; ; ) {
      const { done: end, value } = await source.read();
      if (end) return into.close();
      for (let at = 0; at < value.byteLength; at += step) {
        await into.ready;
        into.write(value.subarray(at, at + step)).catch(() => {}); // the reader hears of it
      }
      told((done += value.byteLength));
    }
  };
  const fed = feed().catch((error) => into.abort(error).catch(() => {}));
  try {
    const parts = [];
    let held = [];
    let size = 0;
    for (let total = 0; ; ) {
      const { done, value } = await from.read();
      if (done) break;
      total += value.byteLength;
      if (total > most) return null;
      held.push(value);
      size += value.byteLength;
      if (size >= part) {
        parts.push(new Blob(held));
        held = [];
        size = 0;
      }
    }
    const whole = new Blob([...parts, ...held]);
    await whole.slice(-1).arrayBuffer(); // a browser that had no room for a part says so when it is read
    return whole;
  } finally {
    from.cancel().catch(() => {});
    source.cancel().catch(() => {});
    await fed;
    unpacking.delete(source);
    unpacking.delete(inflater);
  }
};
// Chromium forgets a stream of a File that nothing but its own pending read refers to.
const unpacking = new Set();
crashpaneWorker.unpack = self.DecompressionStream && unpackGzip;
