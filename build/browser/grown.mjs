// Makes large symbol files for tests and benchmarks.
import { open, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";

// Writes symbols of the sample with megabytes of functions at higher addresses. moved is the name
// of a function to move far from its sorted position: a search does not find it there, and what it
// reads does not show that. lines is the number of lines for each function; real files have about
// 20, but it is functions that need memory.
export async function grownSymbols(path, megabytes, { moved, lines = 2, from = "testdata/sample/tilecruncher.sym.gz" } = {}) {
  const bytes = await readFile(inRepo(from));
  const sym = (from.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  const parts = { head: [], block: [], tail: [] };
  let into = parts.head;
  for (const line of sym.split(/(?<=\n)/)) {
    if (line.startsWith("FUNC")) into = moved && line.includes(moved) ? parts.block : parts.head;
    if (line.startsWith("STACK")) into = parts.tail;
    into.push(line);
  }
  const file = await open(path, "w");
  let written = 0;
  const write = async (text) => {
    await file.write(text);
    written += Buffer.byteLength(text);
  };
  await write(parts.head.join(""));
  let address = 0x1000000;
  for (let i = 0, chunk = []; written < megabytes << 20; i++) {
    if (i === 20_011) chunk.push(...parts.block);
    const size = 0x40 / lines;
    let text = `FUNC ${address.toString(16)} 40 0 filler_${i}(int)\n`;
    for (let n = 0; n < lines; n++) text += `${(address + n * size).toString(16)} ${size.toString(16)} ${(i % 1000) + n} 0\n`;
    chunk.push(text);
    address += 0x40;
    if (chunk.length > 10_000) {
      await write(chunk.join(""));
      chunk = [];
    }
  }
  await write(parts.tail.join(""));
  await file.close();
  return path;
}
