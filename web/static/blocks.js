// Reads blocks of a File, for the engine: list has the offset and the size of each, in the order of the file. To the browser's processes each
// read costs a round of some 0.6 ms, whatever its size, up to some 100 KB. So what lies between two blocks that are close together is read
// along, several such runs are put together as one Blob, and some Blobs are read side by side. Promises the bytes of all blocks, one behind the other.
crashpaneWorker.blocks = async (file, list) => {
  const hole = 128 << 10; // is read along
  const most = 4 << 20; // bytes of a Blob
  const runs = 32; // of a Blob
  const blobs = [];
  let total = 0;
  let open; // the Blob that is being put together
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
