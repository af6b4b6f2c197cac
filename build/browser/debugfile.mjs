// Measures large programs with debug information, dropped with their dumps: the time until the
// stack is there, how much of the files was read for it, and the memory of all programs of the
// page.
//
//     node build/browser/debugfile.mjs [elf|elf-clang|elf-gdb-index|dsym|pdb|pdb-8k…] [--sym]
//
// With --sym it also presses "Download .sym", which takes minutes, and prints the size of the file
// and the memory that making it took.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { inRepo, startChrome, startSite } from "./harness.mjs";

// For each case: the files to drop, the commands that make them and the tools these need, and texts
// of the first frames.
const cases = [
  { name: "elf", what: "a program with DWARF, 8 threads of 60 frames in 50 functions of as many units", tools: ["gcc", "objcopy"],
    make: ["./build/bigprogram"], files: ["big.dmp", "big"], says: "unit.c", wanted: "1 s, 10 % read, 256 MB of memory" },
  { name: "elf-clang", what: "the same by clang, whose units no section lists", tools: ["clang", "ld.lld", "objcopy"],
    make: ["./build/bigprogram", "-clang"], files: ["big.dmp", "big"], says: "unit.c", wanted: "10 % read, 96 MB of memory" },
  { name: "elf-gdb-index", what: "the same with .gdb_index", tools: ["clang", "ld.lld", "objcopy"],
    make: ["./build/bigprogram", "-clang", "-gdb-index"], files: ["big.dmp", "big"], says: "unit.c", wanted: "1 s, 10 % read, 96 MB of memory" },
  { name: "dsym", what: "a Mach-O program with its dSYM of 780 units, 8 threads of 60 frames in 50 functions", tools: ["clang-22", "ld64.lld-22", "dsymutil-22"],
    make: ["./build/bigprogram", "-macho"], files: ["big.dmp", "big", "big.dSYM/Contents/Resources/DWARF/big"], says: "unit.c", wanted: "1 s, 3 % read, 96 MB of memory" },
  { name: "pdb", what: "a library with a PDB of 20,000 modules, 20 frames with inlined calls in as many modules", tools: ["clang++", "lld-link"],
    make: ["./build/bigpdb"], files: ["big.dmp", "big.pdb", "big.dll"], says: "unit.cc", wanted: "1 s, 16 MB read, 96 MB of memory" },
  { name: "pdb-8k", what: "the same of 500 modules and pages of 8 KiB", tools: ["clang++", "lld-link"],
    make: ["./build/bigpdb", "-units", "500", "-functions", "4000", "-page", "8192"], files: ["big.dmp", "big.pdb", "big.dll"], says: "unit.cc",
    wanted: "1 s, 16 MB read, 96 MB of memory" },
];
const withSym = process.argv.includes("--sym");
const asked = process.argv.slice(2).filter((arg) => arg !== "--sym");

const site = await startSite();
try {
  for (const one of cases) {
    if (asked.length > 0 && !asked.includes(one.name)) continue;
    if (one.tools.some((tool) => spawnSync(tool, ["--version"]).error)) {
      console.log(`*** SKIPPED: ${one.what}: ${one.tools.join(" or ")}, which make it, are not here ***`);
      continue;
    }
    const dir = inRepo(`dist/bench/${one.name}`);
    if (!existsSync(join(dir, "big.dmp"))) execFileSync("go", ["run", ...one.make, "-out", dir], { cwd: inRepo("."), stdio: "inherit" });
    await measure(one, one.files.map((name) => join(dir, name)));
  }
} finally {
  await site.stop();
}

async function measure(one, files) {
  const chrome = await startChrome({ record: false });
  try {
    const page = await chrome.context.newPage();
    await page.goto(site.origin);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "1");
    await page.waitForTimeout(1000);
    const cdp = await page.context().newCDPSession(page);
    const data = { items: [], files, dragOperationsMask: 1 };
    const begun = performance.now();
    for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
    const sees = (css, text) => page.waitForFunction(([css, text]) => [...document.querySelectorAll(css)].some((e) => e.textContent.includes(text)), [css, text], { timeout: 600_000 });
    await sees("#stack .row .src", one.says);
    const stack = performance.now() - begun;
    const first = await readBy(page);
    await page.waitForFunction(() => ![...document.querySelectorAll(".thread-top")].some((e) => e.textContent === "…"), undefined, { timeout: 600_000 });
    const all = performance.now() - begun;
    const memory = await page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
    const read = await readBy(page);
    const mb = (n) => `${(n / 1e6).toFixed(0)} MB`;
    const size = files.reduce((sum, file) => sum + statSync(file).size, 0);
    console.log(`${one.what}: ${mb(size)} (wanted: ${one.wanted})`);
    console.log(`  drop to the crashed thread   ${Math.round(stack)} ms, to all threads ${Math.round(all)} ms`);
    const part = (r) => `${r.slices} slices, ${mb(r.bytes)}, ${((100 * r.bytes) / size).toFixed(1)} % of the files`;
    console.log(`  read for the crashed thread  ${part(first)}; for all: ${part(read)}`);
    console.log(`  memory of all programs, peak ${mb(memory)}`);
    if (withSym) await download(page, mb);
  } finally {
    await chrome.close();
  }
}

// readBy returns what all workers of a page have read of files.
async function readBy(page) {
  const sum = { bytes: 0, slices: 0 };
  for (const w of page.workers()) {
    const r = await w.evaluate(() => globalThis.crashpaneWorker?.read);
    if (r) { sum.bytes += r.bytes; sum.slices += r.slices; }
  }
  return sum;
}

async function download(page, mb) {
  await page.locator("#tab-modules").click(); await page.locator("#tab-files").click();
  const begun = performance.now();
  const coming = page.waitForEvent("download", { timeout: 3_600_000 });
  await page.locator("#files").getByRole("button", { name: "Download .sym" }).first().click();
  const file = await (await coming).path();
  const memory = await page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  console.log(`  Download .sym                ${mb(statSync(file).size)} after ${Math.round((performance.now() - begun) / 1000)} s, memory of all programs, peak ${mb(memory)} (wanted: 300 MB)`);
}
