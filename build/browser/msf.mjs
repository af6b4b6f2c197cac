// The container of a PDB, for tests that change one: the numbers of pages are in the header (of the
// lists), in the lists (of the directory) and behind the sizes of streams in the directory.

// Answers where those numbers are in the file: those of the lists, those of the directory, and for
// each stream its size and those of its pages.
export function layout(pdb) {
  const u32 = (off) => pdb.readUInt32LE(off);
  const [page, pages, directorySize] = [u32(32), u32(40), u32(44)];
  const count = (bytes) => Math.ceil(bytes / page);
  // The words of what is in pages, whose numbers are at offsets.
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

// Writes a PDB with each page at so many times its place; what is between them takes no room on the
// disk. Answers the file's size.
export async function spread(pdb, file, times) {
  const { page, pages, lists, list, streams } = layout(pdb);
  for (const at of [...lists, ...list, ...streams.flatMap((s) => s.numbers)]) pdb.writeUInt32LE(pdb.readUInt32LE(at) * times, at);
  const whole = (pages - 1) * times + 1;
  pdb.writeUInt32LE(whole, 40);
  for (let p = 0; p < pages; p++) await file.write(pdb, p * page, page, p * times * page);
  return whole * page;
}

// Writes a PDB of pages of a size with such streams: {data, times}. The pages of data that comes
// several times are there once, and counted as often, so that a stream may be larger than what is
// on the disk.
export async function assemble(file, page, streams) {
  let pages = 3; // the header, and two that say which pages are free
  const add = async (data) => {
    const first = pages;
    await file.write(data, 0, data.length, first * page);
    pages += Math.ceil(data.length / page);
    return Array.from({ length: pages - first }, (_, i) => first + i);
  };
  const numbers = [];
  let used = 3;
  for (const { data, times = 1 } of streams) {
    const own = await add(data);
    for (let i = 0; i < times; i++) numbers.push(...own);
    used += own.length * times;
  }
  const words = (list) => Buffer.from(Uint32Array.from(list).buffer);
  const directory = words([streams.length, ...streams.map(({ data, times = 1 }) => data.length * times), ...numbers]);
  const list = words(await add(directory));
  const lists = words(await add(list));
  const whole = Math.max(pages, used);
  await file.write(Buffer.concat([Buffer.from("Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0", "latin1"), words([page, 1, whole, directory.length, 0]), lists]), 0, undefined, 0);
  await file.truncate(whole * page);
}
