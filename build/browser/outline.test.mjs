// Symbols without a dump: a symbol file and a PDB, each dropped alone, open as an outline, with functions, files, lines and
// what is at an address. With a dump the outline is that of a module, and "go to" finds functions that are on no
// stack. axe-core looks at each view.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, afterEach, before, test } from "node:test";
import { startChrome, startSite } from "./harness.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let site;
let chrome;
let tab;
before(async () => {
  site = await startSite();
  chrome = await startChrome({ serviceWorkers: "block", bypassCSP: true });
});
after(async () => {
  await chrome?.close();
  await site?.stop();
});
afterEach(async () => {
  const { problems, foreign } = tab;
  await tab.close();
  assert.deepEqual(problems, []);
  assert.deepEqual(foreign, []);
});

async function open({ width = 1440, height = 900, scheme = "light" } = {}) {
  tab = await chrome.open(site.origin);
  await tab.page.setViewportSize({ width, height });
  await tab.page.emulateMedia({ colorScheme: scheme });
}
async function violations() {
  await tab.page.addScriptTag({ path: axe });
  const found = await tab.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join("\n")}`);
}
const rows = (text) => tab.page.locator("#outline .row", { hasText: text });
const side = (text) => tab.page.locator(".outline-side", { hasText: text }).waitFor();

test("a symbol file alone opens as an outline", async () => {
  await open();
  await tab.drop(["testdata/sample/libtilecodec.so.sym"]);
  await tab.page.getByRole("button", { name: "Show the functions of libtilecodec.so.sym" }).click();
  await tab.sees("10 functions");
  await side("Unwind rules");
  assert.deepEqual(await violations(), []);

  // By keyboard: a name, Enter, the arrows.
  await tab.page.waitForSelector("#outline-field:focus");
  await tab.page.keyboard.type("QUADTREE");
  await tab.sees("1 function");
  await tab.page.keyboard.press("Enter");
  await side("cfa rsp+");
  await tab.page.locator("#outline-lines .row", { hasText: "codec.cc:" }).first().waitFor();
  assert.deepEqual(await violations(), []);

  await tab.page.locator("#outline-field").fill("codec.cc:45");
  await rows("codec.cc:45").first().waitFor();
  await tab.page.locator("#outline-field").fill("codec.cc:1");
  await tab.sees("The next line with code is");

  // An address: its line is marked, in the list its function.
  await tab.page.locator("#outline-field").fill("0x1200");
  await side("+ 0x107");
  await tab.page.locator("#outline-lines .row.selected", { hasText: "codec.cc:45" }).waitFor();
  await tab.page.locator("#outline .row.selected", { hasText: "encode_quadtree" }).waitFor();

  await tab.page.getByRole("button", { name: "Source files" }).click();
  await rows("/src/tilecruncher/codec.cc").click();
  await rows("tile::blend_edges").first().waitFor();
  await tab.page.getByRole("button", { name: "Close", exact: true }).last().click();
  await tab.sees("Show the functions of");
});

test("a PDB alone opens as an outline, and several files are a choice", async () => {
  await open({ width: 900, height: 700, scheme: "dark" });
  await tab.drop(["symfile/pdb/testdata/x86.pdb.gz"]);
  await tab.page.getByRole("button", { name: "Show their functions" }).click();
  await rows("shapes::Path::total").first().click();
  await side("$T0 .raSearch");
  await tab.page.locator("#outline-lines .row", { hasText: "shapes::length2" }).first().waitFor(); // an inlined call
  assert.deepEqual(await violations(), []);
  await tab.drop(["symfile/dwarf/testdata/gcc5.elf"]);
  await tab.page.locator(".outline-file").selectOption({ label: "gcc5.elf" });
  await rows("geo::Shape::area").first().waitFor();
});

test("a module of a dump has its outline, and functions that are on no stack are found", async () => {
  await open();
  await tab.page.getByRole("button", { name: "Open the sample" }).click();
  await tab.sees("tile::blend_edges");
  await tab.chooseModule("libtilecodec.so");
  await tab.page.locator('[data-act="outline-module"]').click();
  await rows("tile::encode_quadtree").first().click();
  await side("codec.cc");
  assert.deepEqual(await violations(), []);
  await tab.page.locator('[data-act="outline-code"]').click();
  await tab.page.locator(".code-zone", { hasText: "Drop libtilecodec.so" }).waitFor(); // the dump does not have that code

  await tab.page.locator("#stack").focus();
  await tab.page.keyboard.press("g");
  await tab.page.waitForSelector("#go-to:focus");
  await tab.page.keyboard.type("deregister_tm");
  await tab.page.locator(".go-item", { hasText: "libtilecodec.so.sym" }).click();
  await tab.page.waitForURL(/tab=words&address=0x/);
});
