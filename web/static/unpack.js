// Unpacks a gzip file of one member to a Blob with the browser's DecompressionStream, for the
// engine (wasm/worker/spool_js.go): it is five times as fast as the program's own code.
// Returns null if there are more than most bytes. It fails if anything is wrong with the file; the
// program then finds out what it is. onProgress is called with the number of bytes read,
// and returns whether to go on.
const unpackGzip = async (packed, most, onProgress) => {
  const step = 32 << 10; // bytes unpacked in one go: deflate expands at most about a thousand times, so a malicious file takes 32 MB of memory
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
        into.write(value.subarray(at, at + step)).catch(() => {}); // the reader gets the error
      }
      if (!onProgress((done += value.byteLength))) throw new Error("it was cancelled");
    }
  };
  const fed = feed().catch((error) => into.abort(error).catch(() => {}));
  try {
    const whole = await collectStream(from, (size) => size <= most);
    await whole?.slice(-1).arrayBuffer(); // reading fails if the browser could not store the Blob
    return whole;
  } finally {
    from.cancel().catch(() => {});
    source.cancel().catch(() => {});
    await fed;
    unpacking.delete(source);
    unpacking.delete(inflater);
  }
};
// Chromium garbage collects the stream of a File to which only its pending read refers, so keep
// references here.
const unpacking = new Set();
crashpaneWorker.unpack = self.DecompressionStream && unpackGzip;
