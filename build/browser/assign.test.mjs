// Symbols for a module without an id: wherever the page says what to do, the control for it is
// next to the text, and it works.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";
import { dir, setUp, tab } from "./setup.mjs";

let noIDs; // the sample, in which no module says which build it is
let symbols; // of tilecruncher, under a name that no module has
let unnamed; // the same without a MODULE line

setUp({
  once: async () => {
    const dump = await readFile(inRepo("testdata/sample/tilecruncher.dmp"));
    const [streams, directory] = [dump.readUInt32LE(8), dump.readUInt32LE(12)];
    for (let i = 0; i < streams; i++) {
      const entry = directory + 12 * i;
      if (dump.readUInt32LE(entry) !== 4) continue; // the module list
      const list = dump.readUInt32LE(entry + 8);
      for (let m = 0; m < dump.readUInt32LE(list); m++) dump.fill(0, list + 4 + 108 * m + 76, list + 4 + 108 * m + 84); // its CodeView record
    }
    noIDs = join(dir, "noids.dmp");
    await writeFile(noIDs, dump);
    const text = gunzipSync(await readFile(inRepo("testdata/sample/tilecruncher.sym.gz"))).toString();
    const [module, ...rest] = text.split("\n");
    symbols = join(dir, "renamed.sym");
    await writeFile(symbols, [module.replace(/ [^ ]+$/, " renamed"), ...rest].join("\n"));
    unnamed = join(dir, "unnamed.sym");
    await writeFile(unnamed, rest.filter((line) => !line.startsWith("INFO")).join("\n"));
  },
});

// Follows the instructions in the details of the selected module.
async function assign(file) {
  const title = tab.page.locator(".module-acts h3", { hasText: /./ });
  const module = await title.innerText();
  await tab.sees("Add its symbol file, then choose it here.");
  const [chooser] = await Promise.all([tab.page.waitForEvent("filechooser"), tab.page.locator(".assign-line").getByRole("button", { name: "Add files" }).click()]);
  await chooser.setFiles(file);
  const choice = tab.page.locator('.assign-line [data-input="use"]');
  await choice.waitFor({ state: "visible" });
  await choice.selectOption({ index: 1 });
  await tab.sees(`assigned renamed.sym to ${module}`);
  await tab.page.locator("#modules .row", { hasText: module }).filter({ hasText: "assigned" }).waitFor();
  return module;
}

test("the button in the headline leads to the control, and the symbols chosen there are used", async () => {
  await tab.drop([noIDs]);
  await tab.sees("The dump has no id for");
  await tab.page.locator(".verdict-finding").getByRole("button", { name: "Assign symbols" }).click();
  const module = await assign(symbols);
  // And undone.
  await tab.page.getByRole("button", { name: "Stop using" }).first().click();
  await tab.page.waitForFunction((m) => !document.body.innerText.includes(`assigned renamed.sym to ${m}`), module);
});

test("so does the button of each finding", async () => {
  await tab.drop([noIDs]);
  await tab.page.locator("#tab-findings").click();
  const finding = tab.page.locator(".finding", { hasText: "The dump has no id for" }).first();
  await finding.getByRole("button", { name: /^Assign symbols to / }).click();
  await assign(symbols);
});

test("so do the row after the last frame, through the findings, and the list of missing symbols", async () => {
  await tab.drop([noIDs]);
  await tab.page.locator("#stack .row.hint").click();
  await tab.page.locator(".finding").getByRole("button", { name: /^Assign symbols to / }).first().waitFor();
  await tab.part("wanted");
  const row = tab.page.locator("#wanted .row", { hasText: "tilecruncher" });
  await row.getByRole("button", { name: "Assign symbols" }).click();
  assert.equal(await assign(symbols), "tilecruncher");
  await tab.sees("main.cc:");
});

test("a file without a MODULE line can be assigned where the notice leads", async () => {
  await tab.drop([noIDs, unnamed]);
  await tab.sees("has no MODULE line");
  await tab.page.locator(".notice").getByRole("button", { name: "Show files" }).click();
  await tab.page.locator("#files .assign").selectOption({ label: "tilecruncher" });
  await tab.sees("main.cc:");
});
