// What makes the first screen of a dump come soon, and is not to be lost without anybody noticing. Nothing here depends on how fast the machine is.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { grownSymbols } from "./grown.mjs";
import { startChrome, startSite } from "./harness.mjs";

const sample = ["tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((name) => `testdata/sample/${name}`);

let site;
let chrome;
before(async () => {
  site = await startSite();
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  await site?.stop();
});

// The screen without names would be drawn for nothing, and stand there for a moment. It is kept back for 0.8 s (firstNames).
test("beside one large symbol file the first screen has its names, unless they take long", async () => {
  const dir = await mkdtemp(join(tmpdir(), "crashpane-first-"));
  try {
    const sym = await grownSymbols(join(dir, "tilecruncher.sym"), 40);
    const tab = await chrome.open(site.origin);
    await tab.page.evaluate(() => {
      addEventListener("drop", () => (globalThis.dropped = performance.now()), true);
      new MutationObserver(() => {
        const rows = [...document.querySelectorAll("#stack .row")];
        if (rows.length) globalThis.first ??= { at: performance.now() - globalThis.dropped, named: rows.some((row) => row.querySelector(".src")?.textContent) };
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await tab.drop([sample[0], sym]);
    await tab.sees("main.cc:156");
    const { at, named } = await tab.page.evaluate(() => globalThis.first);
    assert.ok(named || at >= 800, `the first stack, ${at} ms after the drop, had no names`);
    await tab.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
