// Many dumps dropped at once are a table with their groups. A dump opens from it, and Back returns to it as it was.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { dump, put, setUp, symbols, tab } from "./setup.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let files;
setUp({
  browser: { record: true, bypassCSP: true },
  once: async () => {
    const whole = await readFile(inRepo(dump));
    const all = {};
    for (let i = 0; i < 60; i++) {
      const one = Buffer.from(whole);
      one.writeUInt32LE(whole.readUInt32LE(20) + i * 20 * 3600, 20); // the header's time
      all[`crash-${String(i).padStart(2, "0")}.dmp`] = one;
    }
    files = await put(all);
  },
});

const text = (selector) => tab.page.locator(selector).first().innerText();
const described = (n) => tab.page.waitForFunction((n) => document.querySelector(".dumps-title")?.innerText === `${n} dumps` && !document.querySelector(".dumps-note").innerText.includes("walked") && document.querySelector("#dump-groups .row"), n);

test("60 dumps are a table with one group, and each row has what the dump says", async () => {
  await tab.drop(files);
  await described(60);
  assert.equal(await text(".dumps-note"), "1 group");
  const row = await text("#dump-table .row");
  for (const part of ["libtilecodec.so", "SIGSEGV", "tilecruncher", "crash-59.dmp"]) assert.ok(row.includes(part), row);
  const group = await text("#dump-groups .row");
  assert.match(group, /^60\n/);
  assert.match(group, /\d{4}-\d\d-\d\d\n\d{4}-\d\d-\d\d/);
  assert.match(await tab.page.locator(".dumps-chart .bars").getAttribute("aria-label"), /^60 dumps from \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d, most on \d{4}-\d\d-\d\d: 2$/);
  assert.match(await tab.page.title(), /^60 dumps/);
  // Symbols that come later name all of them.
  await tab.drop(symbols);
  await tab.page.waitForFunction(() => {
    const names = [...document.querySelectorAll("#dump-groups .row .fn")].map((e) => e.innerText);
    return names.length === 1 && names[0].includes("edge_offset");
  });
  await described(60);
  assert.ok((await text("#dump-table .row")).includes("edge_offset"));
});

test("a dump opens by key, and Back and the button return to the table as it was", async () => {
  await tab.drop(files);
  await described(60);
  await tab.page.locator("#dumps-filter").fill("crash-4");
  await tab.page.waitForFunction(() => document.querySelector(".dumps-title").innerText === "10 of 60 dumps");
  await tab.page.locator("#dumps-filter").fill("process:tile");
  await described(60);
  await tab.page.locator("#dump-table").evaluate((e) => (e.scrollTop = 26 * 20));
  await tab.page.waitForFunction(() => document.querySelector("#dump-table .list-window").innerText.includes("crash-35"));
  await tab.page.locator("#dump-table").focus();
  await tab.page.keyboard.press("ArrowDown");
  await tab.page.keyboard.press("ArrowDown");
  const name = (await text("#dump-table .row.selected")).match(/crash-\d+\.dmp/)[0];
  await tab.page.waitForTimeout(400); // the address is written
  await tab.page.keyboard.press("Enter");
  await tab.sees("stitch-1");
  assert.ok((await text(".dump-name-text")).startsWith(name));
  await tab.page.waitForFunction((name) => location.hash.includes(name), name);
  const back = async () => {
    await tab.page.waitForSelector("#dump-table .row.selected");
    assert.ok((await text("#dump-table .row.selected")).includes(name));
    await tab.page.waitForFunction(() => Math.abs(document.querySelector("#dump-table").scrollTop - 26 * 20) < 27);
    assert.equal(await tab.page.locator("#dumps-filter").inputValue(), "process:tile");
  };
  await tab.page.goBack();
  await back();
  await tab.page.goForward();
  await tab.sees("stitch-1");
  await tab.page.locator("#all-dumps").click();
  await back();
  // Another one, by a click.
  await tab.page.locator("#dump-table .row").nth(20).click();
  await tab.sees("stitch-1");
  await tab.page.locator("#stack").focus();
  await tab.page.keyboard.press("b");
  await tab.page.waitForSelector("#dump-table .row");
});

test("a group, an order and a filter select what is exported", async () => {
  await tab.drop(files.slice(0, 12));
  await described(12);
  await tab.page.locator('.dumps-table [data-act="sort-dumps"]', { hasText: "File" }).click();
  await tab.page.waitForFunction(() => document.querySelector("#dump-table .row").innerText.includes("crash-00"));
  await tab.page.locator("#dump-groups .row").click();
  await tab.page.locator(".dumps-group").waitFor({ state: "visible" });
  await tab.page.locator("#dumps-filter").fill("crash-1");
  await tab.page.waitForFunction(() => document.querySelector(".dumps-title").innerText === "2 of 12 dumps");
  const download = async (kind) => {
    await tab.page.locator("#menu-download").click();
    const [file] = await Promise.all([tab.page.waitForEvent("download"), tab.page.locator(`[data-act="export-dumps"][data-arg="download.${kind}"]`).click()]);
    return { name: file.suggestedFilename(), lines: (await readFile(await file.path(), "utf8")).trim().split("\n") };
  };
  const csv = await download("csv");
  assert.equal(csv.name, "dumps.csv");
  assert.equal(csv.lines.length, 3);
  assert.ok(csv.lines[1].includes("crash-10.dmp"), csv.lines[1]);
  const json = await download("json");
  assert.deepEqual(json.lines.map((l) => JSON.parse(l).file), ["crash-10.dmp", "crash-11.dmp"]);
  assert.match(JSON.parse(json.lines[0]).id, /^[0-9a-f]{64}$/);
});

test("three dumps are opened as before, and their table is in the menu", async () => {
  await tab.drop(files.slice(0, 3));
  await tab.sees("of 3)");
  assert.equal(await tab.page.locator("#all-dumps").isVisible(), false);
  await tab.page.locator("#menu-dumps").click();
  await tab.page.getByRole("menuitem", { name: /Table of all dumps/ }).click();
  await described(3);
});

for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [[1440, 900], [900, 700]]) {
    test(`axe finds nothing in the table, ${colorScheme}, ${width} px`, async () => {
      await tab.page.setViewportSize({ width, height });
      await tab.page.emulateMedia({ colorScheme });
      await tab.drop(files.slice(0, 20));
      await described(20);
      await tab.page.locator("#dump-groups .row").click();
      await tab.page.locator(".dumps-group").waitFor({ state: "visible" });
      await tab.page.addScriptTag({ path: axe });
      const found = await tab.page.evaluate(async () => (await globalThis.axe.run(document)).violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target} ${n.failureSummary}`)));
      assert.deepEqual(found, []);
      assert.equal(await tab.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    });
  }
}
