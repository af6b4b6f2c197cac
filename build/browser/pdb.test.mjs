// A Windows library and its PDB, dropped with a dump. The PDB is as large as those of large
// programs, because its pages are far apart in the file: the engine must read only the parts that
// it needs.
import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo, startChrome, startSite } from "./harness.mjs";
import { spread } from "./msf.mjs";

let site;
let chrome;
let dir;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-pdb-"));
  site = await startSite();
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await rm(dir, { recursive: true, force: true });
});

const made = async (name) => gunzipSync(await readFile(inRepo(`build/bigpdb/testdata/${name}.gz`)));

test("a stack reads only a small part of a PDB of a gigabyte", async () => {
  const [dmp, dll, pdb] = ["big.dmp", "big.dll", "big.pdb"].map((name) => join(dir, name));
  await writeFile(dmp, await made("big.dmp"));
  await writeFile(dll, await made("big.dll"));
  const small = await made("big.pdb");
  const used = small.length;
  const file = await open(pdb, "w");
  const size = await spread(small, file, Math.ceil(2 ** 30 / used));
  await file.close();
  assert.ok(size > 0.9 * 2 ** 30, `the file has ${size} bytes`);

  const tab = await chrome.open(site.origin);
  await tab.drop([dmp, dll, pdb]);
  await tab.page.locator("#stack .row .src", { hasText: "unit.cc:" }).first().waitFor({ timeout: 60_000 });
  const stack = await tab.page.locator("#stack").innerText();
  await tab.sees("20 frames");
  assert.match(stack, /Counter<\d+>::step\(int\)\s+unit\.cc:\d+\s+inline/);
  assert.match(stack, /Counter<\d+>::twice\(int\)\s+unit\.cc:\d+\s+inline/);
  assert.match(stack, /function_number_\d_of_the_unit/);
  assert.match(stack, /unwind rule/);
  let read = 0;
  for (const worker of tab.page.workers()) read += (await worker.evaluate(() => globalThis.crashpaneWorker?.read))?.bytes ?? 0;
  assert.ok(read > 0 && read < 16e6, `${read} bytes were read, of a PDB that has ${used} bytes in use`);
  const memory = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  assert.ok(memory < 96e6, `${memory} bytes of memory`);
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(tab.foreign, []);
  await tab.close();
});
