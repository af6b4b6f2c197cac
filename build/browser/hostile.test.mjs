// A dump of Windows dropped with a program or PDB that somebody has changed to mislead or to hold
// up its reader. The dump is shown all the same, the problem is reported with the file, the part of
// it and the offset, and the page goes on answering.
import assert from "node:assert/strict";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";
import { assemble, layout } from "./msf.mjs";
import { dir, put, setUp, tab } from "./setup.mjs";

const sample = (name) => inRepo(`testdata/windows/${name}`);
const dump = sample("app.dmp");
let exe;
let pdb;
setUp({
  once: async () => {
    exe = await readFile(sample("app.exe"));
    pdb = gunzipSync(await readFile(sample("app.pdb.gz")));
  },
  each: () => tab.cdp.send("Performance.enable", { timeDomain: "threadTicks" }),
});

// Streams of the sample's PDB (llvm-pdbutil dump --streams).
const dbi = 3;
const appModule = 11;

// changed is a copy in which change has written.
const changed = (bytes, change) => {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
};

// Where things are in the sample's program: PE format, "Optional Header Data Directories" and
// "Section Table".
function programParts(bytes) {
  const header = bytes.readUInt32LE(0x3c);
  const sections = [];
  for (let i = 0; i < bytes.readUInt16LE(header + 6); i++) {
    const at = header + 24 + bytes.readUInt16LE(header + 20) + 40 * i;
    sections.push({ at, rva: bytes.readUInt32LE(at + 12), size: bytes.readUInt32LE(at + 16), off: bytes.readUInt32LE(at + 20) });
  }
  const offset = (rva) => {
    const s = sections.find((s) => rva >= s.rva && rva < s.rva + s.size);
    return rva - s.rva + s.off;
  };
  return { header, sections, offset, functionTable: offset(bytes.readUInt32LE(header + 24 + 112 + 8 * 3)) };
}

const damagedPDBs = {
  "a page of a module is outside of the file": {
    change: (b) => b.writeUInt32LE(0x7fffffff, layout(b).streams[appModule].numbers[0]),
    says: /app\.pdb: stream 11 \(module\): its pages' numbers in the stream directory at offset 0x64: expected pages of a file of 73728 bytes, found page 2147483647/,
    shows: /print_receipt/,
  },
  "a symbol record of no size, which leads to itself": {
    change: (b) => b.writeUInt16LE(0, layout(b).streams[appModule].at(4)),
    says: /app\.pdb: stream 11 \(module\): symbols at offset 0x4: expected a record of 4 to 956 bytes, found 2/,
    shows: /print_receipt[^]*app\.c:33/,
  },
  "more streams than the directory has room for": {
    change: (b) => b.writeUInt32LE(0xfffffff0, layout(b).directory[0]),
    says: /app\.pdb\n.*not usable\n.*\nstream directory at offset 0x4: expected sizes of 4294967280 streams, found a directory of 116 bytes/,
    shows: /app\.exe/,
  },
  "a list of modules larger than its stream": {
    change: (b) => b.writeUInt32LE(0x7ffffff0, layout(b).streams[dbi].at(24)),
    says: /app\.pdb\n.*not usable\n.*\nstream 3 \(DBI\) at offset 0x80000030: expected 4 more bytes/,
    shows: /app\.exe/,
  },
};

const damagedPrograms = {
  "an unwind record that continues in itself": {
    change: (b) => {
      const { offset, functionTable } = programParts(b);
      const record = offset(b.readUInt32LE(functionTable + 8));
      b[record] = 1 | (4 << 3); // version 1, UNW_FLAG_CHAININFO
      b[record + 2] = 0; // no unwind codes: the entry that it continues in follows
      b.copy(b, record + 4, functionTable, functionTable + 12);
    },
    says: /app\.exe: unwind record in \.rdata at offset 0xc4: expected at most 32 records that lead to each other, found more, or a circle/,
    shows: /print_receipt[^]*app\.c:33/,
  },
  "a header outside of the file": {
    change: (b) => b.writeUInt32LE(0x7ffffff0, 0x3c),
    says: /app\.exe\n.*not usable\n.*\nfile header at offset 0x7ffffff0: expected 4 more bytes, found 0 bytes to the end of the file/,
    shows: /print_receipt[^]*app\.c:33/,
  },
  "sections outside of the file": {
    change: (b) => programParts(b).sections.forEach((s) => b.writeUInt32LE(0x7ffffff0, s.at + 20)),
    says: /app\.exe at offset 0x[0-9a-f]+: expected a file of at least \d+ bytes, as its headers tell of, found its end: it is cut off, or damaged/,
    shows: /app\.exe/,
  },
};

// What the page says of the files: next to each, and with the module that they are of.
async function said() {
  await tab.part("files");
  await tab.page.locator("#files .row").first().waitFor();
  const files = await tab.page.locator("#files").innerText();
  await tab.page.click("#tab-modules");
  await tab.chooseModule("app.exe");
  await tab.page.locator(".module-detail").waitFor();
  return `${files}\n${await tab.page.locator(".module-detail").innerText()}`;
}

// The processor time of the page's own thread so far, in ms: other programs on the machine do not
// add to it.
async function busy() {
  const { metrics } = await tab.cdp.send("Performance.getMetrics");
  return metrics.find((m) => m.name === "TaskDuration").value * 1000;
}

// Drops the dump with other files, and waits until its stack shows something.
async function opened(files, shows) {
  await tab.drop([dump, ...files]);
  await tab.page.waitForFunction((shows) => new RegExp(shows).test(document.querySelector("#stack")?.innerText) && !document.querySelector(".job:not([hidden])"), shows.source);
}

let usual; // what the page's thread has to do for the sample as it is, in ms
test("the sample as it is", async () => {
  const before = await busy();
  await opened(await put({ "app.exe": exe, "app.pdb": pdb }), /print_receipt[^]*app\.c:33/);
  await said();
  usual = (await busy()) - before;
});

for (const [kind, cases, name] of [["PDB", damagedPDBs, "app.pdb"], ["program", damagedPrograms, "app.exe"]]) {
  for (const [what, { change, says, shows }] of Object.entries(cases)) {
    test(`a ${kind} with ${what}`, async () => {
      const files = await put({ "app.exe": exe, "app.pdb": pdb, [name]: changed(name === "app.exe" ? exe : pdb, change) });
      const before = await busy();
      await opened(files, shows);
      await tab.sees("EXCEPTION_ACCESS_VIOLATION_READ");
      assert.match(await said(), says);
      const took = (await busy()) - before;
      assert.ok(took < 2 * usual + 100, `the page's thread was busy for ${took} ms, and with the sample as it is for ${usual} ms`);
    });
  }
}

test("a PDB with a module of a gigabyte of symbols is left out at once when that is asked", async () => {
  const page = 32 << 10;
  const { streams } = layout(pdb);
  const contents = streams.map(({ size, at }) => ({ data: Buffer.from(Array.from({ length: size }, (_, i) => pdb[at(i)])) }));
  // Records of 64 bytes without meaning, the first after the signature (4), so that all pages are
  // alike.
  const symbols = Buffer.alloc(page);
  for (let at = 0; at < page; at += 64) {
    symbols.writeUInt32LE(4, at);
    symbols.writeUInt16LE(62, at + 4);
    symbols.writeUInt16LE(0x1101, at + 6);
  }
  const times = 2 ** 30 / page;
  contents[appModule] = { data: symbols, times };
  // The first module's entry, after a header of 64 bytes: 36 bytes of symbols, 44 bytes of lines.
  contents[dbi].data.writeUInt32LE(page * times, 64 + 36);
  contents[dbi].data.writeUInt32LE(0, 64 + 44);
  const path = join(dir, "large", "app.pdb");
  await mkdir(join(dir, "large"), { recursive: true });
  const file = await open(path, "w");
  await assemble(file, page, contents);
  await file.close();

  // The engine must be loaded: before that, the PDB could be cancelled before it is read.
  await tab.drop([dump, ...(await put({ "app.exe": exe }))]);
  await tab.part("files");
  await tab.page.waitForFunction(() => /app\.exe/.test(document.querySelector("#files")?.innerText) && !/not usable/.test(document.querySelector("#files").innerText));

  const took = [];
  // A machine that is busy may take its time once.
  for (let tries = 0; tries < 3 && !took.some((ms) => ms < 100); tries++) {
    await tab.drop([path]);
    took.push(await tab.pressWhen(".job:not([hidden])", /Reading app\.pdb\s+Cancel/, '[data-act="cancel"]'));
    await tab.sees("Cancelled: 1 file left out");
    await tab.page.locator(".job").waitFor({ state: "hidden" });
    await tab.page.locator("#stack .row").nth(3).waitFor();
    await tab.page.waitForFunction(() => !/ GB/.test(document.querySelector("#files").innerText));
  }
  console.log(`cancelled within ${took.map((ms) => ms.toFixed(1))} ms`);
  assert.ok(took.some((ms) => ms < 100), `cancelling took ${took} ms`);
});
