// A crash on Windows with the files that a user may have: the program and the PDB, one of them, or
// a dump with all memory.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";
import { dir, setUp, tab } from "./setup.mjs";

const sample = "testdata/windows";
const [dump, full, exe] = ["app.dmp", "app-full.dmp", "app.exe"].map((name) => `${sample}/${name}`);
let pdb;
setUp({
  once: async () => {
    pdb = join(dir, "app.pdb");
    await writeFile(pdb, gunzipSync(await readFile(inRepo(`${sample}/app.pdb.gz`))));
  },
});

const stack = () => tab.page.locator("#stack").innerText();
const trusts = () => tab.page.evaluate(() => [...document.querySelectorAll("#stack .trust")].map((e) => e.innerText.trim()));
const wanted = async () => {
  await tab.part("wanted");
  await tab.page.locator("#wanted .row").first().waitFor();
  return tab.page.locator("#wanted").innerText();
};
const findings = async () => {
  await tab.page.click("#tab-findings");
  return tab.page.locator("#panel-body").innerText();
};

test("with the program and its PDB every frame has a name, a line, and a caller by the program's own rules", async () => {
  await tab.drop([dump, exe, pdb]);
  await tab.sees("app.c:27");
  const text = await stack();
  for (const [name, line] of [["total", 27], ["print_receipt", 33], ["print_all", 41], ["start", 50]]) {
    assert.match(text, new RegExp(`${name}\\b[^]*app\\.c:${line}\\b`), text);
  }
  assert.deepEqual((await trusts()).slice(0, 5), ["recorded", "unwind rule", "unwind rule", "unwind rule", "unwind rule"]);
  // Why a frame is there: the unwind rule for its instruction, and where the rule is.
  await tab.page.click("#stack .row:has-text('print_receipt')");
  await tab.page.click("#side-why");
  await tab.sees("app.exe .rdata+0x");
  await tab.sees("word at 0x14000ffed8 = 0x1400010d1");
  assert.match(await wanted(), /kernel32\.pdb, kernel32\.dll/);
  assert.doesNotMatch(await tab.page.locator("#wanted").innerText(), /app\./);
});

test("with the PDB alone the page asks for the program, by name and identifier", async () => {
  await tab.drop([dump, pdb]);
  await tab.sees("app.c:27");
  await tab.sees("app.pdb has names and no unwind rules: the callers of 4 frames were guessed. Add app.exe: without it callers on amd64 are guesses");
  assert.ok(await tab.page.locator(".verdict-finding").getByRole("button", { name: "Add files" }).isVisible());
  assert.match(await wanted(), /app\.exe\s+[0-9a-f]{12,}\s+app\.exe\/[0-9A-F]{8}[0-9a-f]+\/app\.exe/);
  await tab.page.click("#tab-modules");
  await tab.chooseModule("app.exe");
  await tab.sees("The program itself, app.exe: without it callers on x86_64 are guesses");
  await tab.drop([exe]);
  await tab.page.waitForFunction(() => [...document.querySelectorAll("#stack .trust")].slice(1, 5).every((e) => e.innerText.trim() === "unwind rule"));
  assert.doesNotMatch(await wanted(), /app\./);
});

test("with the program alone the page asks for the PDB, by name and id", async () => {
  await tab.drop([dump, exe]);
  await tab.page.waitForFunction(() => document.querySelectorAll("#stack .trust.cfi").length >= 4);
  assert.match(await wanted(), /app\.pdb\s+[0-9A-F]{33}/);
  assert.match(await findings(), /app\.exe alone has no functions and lines, which are in app\.pdb[^]*Add app\.pdb with id [0-9A-F]{33}/);
  await tab.drop([pdb]);
  await tab.sees("app.c:27");
});

test("with neither it asks for both, and says that a symbol file would do", async () => {
  await tab.drop([dump]);
  await tab.sees("#stack" && "app.exe");
  assert.match(await wanted(), /app\.pdb, app\.exe/);
  await tab.sees("and app.exe, or app.sym");
});

test("a page that was built without servers asks none, whatever address is typed", async () => {
  await tab.drop([dump]);
  await wanted();
  await tab.page.click("#sources-button");
  await tab.sees("Get symbols from a folder");
  for (const address of ["microsoft+https://symbols.example/download/symbols", "debuginfod+https://debug.example", "https://symbols.example"]) {
    await tab.page.locator("#symbols-base").fill(address);
    await tab.sees(`crashpane fetch DUMP --from ${address}`);
    assert.equal(await tab.page.locator('[data-act="ask"]').isDisabled(), true);
  }
  await tab.page.locator("#symbols-base").fill("other+https://symbols.example");
  await tab.sees("Begin it with microsoft+ or debuginfod+");
});

test("a PDB in a cabinet, as symbol servers store it, is unpacked", async () => {
  await tab.drop([dump, exe, `${sample}/app.pd_`]);
  await tab.sees("app.c:27");
});

test("the programs in a dump with all memory are read, and its stacks are exact", async () => {
  await tab.drop([full]);
  await tab.page.waitForFunction(() => document.querySelectorAll("#stack .trust.cfi").length >= 4, undefined, { timeout: 30_000 });
  await tab.chooseModule("app.exe");
  await tab.sees("memory of app.exe");
  await tab.drop([pdb]);
  await tab.sees("app.c:27");
  assert.deepEqual((await trusts()).slice(0, 5), ["recorded", "unwind rule", "unwind rule", "unwind rule", "unwind rule"]);
});
