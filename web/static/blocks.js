// Reads blocks of a File, for the engine: list has the offset and the size of each. To the browser's processes a block costs a round of some
// 0.6 ms, so several are put together as one Blob, and some Blobs are read side by side. Promises the bytes of all blocks, one
// Uint8Array behind the other.
crashpaneWorker.blocks = async (file, list) => {
  const least = 4; // blocks of a Blob
  const most = 8; // Blobs
  const n = list.length / 2;
  const each = Math.max(least, Math.ceil(n / most));
  const parts = [];
  for (let i = 0; i < n; i += each) {
    const slices = [];
    for (let k = i; k < Math.min(i + each, n); k++) slices.push(file.slice(list[2 * k], list[2 * k] + list[2 * k + 1]));
    parts.push(new Blob(slices).arrayBuffer());
  }
  return (await Promise.all(parts)).map((buffer) => new Uint8Array(buffer));
};
