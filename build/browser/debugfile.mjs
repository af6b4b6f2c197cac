// A large program with its debug information dropped as it is, beside its dump: how long until the stack is there, how much of the file
// was read for it, and how much memory all of the page's programs had.
//
//     node build/browser/debugfile.mjs
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { inRepo, startChrome, startSite } from "./harness.mjs";

if (spawnSync("gcc", ["--version"]).error || spawnSync("objcopy", ["--version"]).error) {
  console.log("*** SKIPPED: the large debug file: gcc or objcopy, which make it, are not here ***");
  process.exit(0);
}
const dir = inRepo("dist/bench/elf");
if (!existsSync(join(dir, "big.dmp"))) execFileSync("go", ["run", "./build/bigelf", "-out", dir], { cwd: inRepo("."), stdio: "inherit" });
const program = join(dir, "big");
const size = statSync(program).size;

const site = await startSite();
const chrome = await startChrome({ record: false });
try {
  const page = await chrome.context.newPage();
  await page.goto(site.origin);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "1");
  await page.waitForTimeout(1000);
  const cdp = await page.context().newCDPSession(page);
  const data = { items: [], files: [join(dir, "big.dmp"), program], dragOperationsMask: 1 };
  const begun = performance.now();
  for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
  const sees = (css, text) => page.waitForFunction(([css, text]) => [...document.querySelectorAll(css)].some((e) => e.textContent.includes(text)), [css, text], { timeout: 600_000 });
  await sees("#stack .row .src", "unit.c");
  const stack = performance.now() - begun;
  await page.waitForFunction(() => ![...document.querySelectorAll(".thread-top")].some((e) => e.textContent === "…"), undefined, { timeout: 600_000 });
  const all = performance.now() - begun;
  const memory = await page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  let read = { bytes: 0, slices: 0 };
  for (const w of page.workers()) {
    const r = await w.evaluate(() => globalThis.crashpaneWorker?.read);
    if (r) read = { bytes: read.bytes + r.bytes, slices: read.slices + r.slices };
  }
  const mb = (n) => `${(n / 1e6).toFixed(0)} MB`;
  console.log(`a program of ${mb(size)} with DWARF, 8 threads of 60 frames in 50 functions of as many units`);
  console.log(`  drop to the crashed thread   ${Math.round(stack)} ms, to all threads ${Math.round(all)} ms`);
  console.log(`  read                         ${read.slices} slices, ${mb(read.bytes)}: ${((100 * read.bytes) / size).toFixed(1)} % of the file (wanted: 10 %)`);
  console.log(`  memory of all programs, peak ${mb(memory)} (wanted: 256 MB)`);
} finally {
  await chrome.close();
  await site.stop();
}
