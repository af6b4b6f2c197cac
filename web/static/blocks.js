// Reads blocks of a File, for the engine (wasm/viewer/worker/file_js.go). list has the offset and
// the size of each block, sorted by offset. Returns the promise of the bytes of all blocks,
// concatenated.
//
// Each read is a round trip to another process of the browser, which takes about 0.6 ms for any
// size up to about 100 KB. So gaps between blocks are read too if they are small, several such runs
// are joined to one Blob, and several Blobs are read in parallel.
crashpaneWorker.blocks = async (file, list) => {
  const hole = 128 << 10; // the largest gap that is read too, in bytes
  const most = 4 << 20; // the largest Blob, in bytes
  const runs = 32; // the most runs in a Blob
  const blobs = [];
  let total = 0;
  let open; // the Blob that is being joined
  for (let i = 0; i < list.length; i += 2) {
    const [from, to] = [list[i], list[i] + list[i + 1]];
    let run = open?.runs.at(-1);
    if (!open || open.size + list[i + 1] > most || (from - run.to > hole && open.runs.length === runs)) {
      blobs.push((open = { runs: [], blocks: [], size: 0 }));
      run = undefined;
    }
    if (!run || from - run.to > hole) open.runs.push((run = { from, to: from, at: open.size }));
    open.blocks.push({ from: run.at + from - run.from, size: to - from, at: total });
    open.size += Math.max(0, to - run.to);
    run.to = Math.max(run.to, to);
    total += to - from;
  }
  const out = new Uint8Array(total);
  const read = async () => {
    for (let blob; (blob = blobs.shift()); ) {
      const bytes = await new Blob(blob.runs.map(({ from, to }) => file.slice(from, to))).arrayBuffer();
      if (bytes.byteLength !== blob.size) throw new Error("the file has become shorter");
      for (const { from, size, at } of blob.blocks) out.set(new Uint8Array(bytes, from, size), at);
    }
  };
  await Promise.all(Array.from({ length: 4 }, read));
  return out;
};
