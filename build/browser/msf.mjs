// The container of a PDB, for tests that change one: the numbers of pages are in the header (of the lists), in the lists (of the directory) and
// behind the sizes of streams in the directory.

// Answers where those numbers are in the file: those of the lists, those of the directory, and for each stream its size and those of its pages.
export function layout(pdb) {
  const u32 = (off) => pdb.readUInt32LE(off);
  const [page, pages, directorySize] = [u32(32), u32(40), u32(44)];
  const count = (bytes) => Math.ceil(bytes / page);
  // The words of what is in pages, of which the numbers are at offsets.
  const words = (numbers, size) => Array.from({ length: size / 4 }, (_, i) => u32(numbers[Math.floor((4 * i) / page)]) * page + ((4 * i) % page));
  const listSize = count(directorySize) * 4;
  const lists = Array.from({ length: count(listSize) }, (_, i) => 52 + 4 * i);
  const list = words(lists, listSize);
  const directory = words(list, directorySize);
  const streams = [];
  let next = 1 + u32(directory[0]);
  for (let i = 0; i < u32(directory[0]); i++) {
    const sizeAt = directory[1 + i];
    const size = u32(sizeAt) === 0xffffffff ? 0 : u32(sizeAt);
    const numbers = directory.slice(next, (next += count(size)));
    streams.push({ size, sizeAt, numbers, at: (off) => u32(numbers[Math.floor(off / page)]) * page + (off % page) });
  }
  return { page, pages, directorySize, lists, list, directory, streams };
}

// Writes a PDB with each page at so many times its place; what is between them takes no room on the disk. Answers the file's size.
export async function spread(pdb, file, times) {
  const { page, pages, lists, list, streams } = layout(pdb);
  for (const at of [...lists, ...list, ...streams.flatMap((s) => s.numbers)]) pdb.writeUInt32LE(pdb.readUInt32LE(at) * times, at);
  const whole = (pages - 1) * times + 1;
  pdb.writeUInt32LE(whole, 40);
  for (let p = 0; p < pages; p++) await file.write(pdb, p * page, page, p * times * page);
  return whole * page;
}
