// Tests of what makes the first screen of a dump fast. They do not depend on the speed of the
// machine.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { grownSymbols } from "./grown.mjs";
import { inRepo, startChrome, startSite } from "./harness.mjs";

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

// For the first text in a font's family, size and weight Chromium asks another process, while the
// page waits. So the start screen invisibly writes a text in each of them (warmUpFonts).
test("the warm-up has used every font of a dump's screen", async () => {
  const tab = await chrome.open(site.origin);
  const fonts = (all) =>
    tab.page.evaluate((selector) => {
      const found = {};
      for (const element of document.querySelectorAll(selector)) {
        const own = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
        const { fontStyle, fontWeight, fontSize, fontFamily, visibility } = getComputedStyle(element);
        if (own && element.getClientRects().length) found[[fontStyle, fontWeight, fontSize, fontFamily].join(" ")] ??= `${element.localName}.${element.className} ${visibility}`;
      }
      return found;
    }, all);
  await tab.page.waitForFunction(() => {
    const n = document.querySelectorAll("[data-warm-up] span").length;
    const done = n > 0 && n === globalThis.before;
    globalThis.before = n;
    return done;
  }, undefined, { polling: 500 });
  const warm = await fonts("body *");
  await tab.drop(sample.slice(0, 1)); // without symbols, which has more to say
  await tab.page.locator("#stack .row").first().waitFor();
  const missing = [];
  const look = async () => {
    await tab.page.waitForTimeout(300);
    for (const [font, where] of Object.entries(await fonts("body *"))) if (!warm[font]) missing.push(`${font} (${where})`);
  };
  await look();
  await tab.drop(sample.slice(1));
  await tab.sees("main.cc:156");
  await look();
  assert.deepEqual(missing, [], "warmUpFonts in wasm/viewer lacks these");
  assert.ok(!(await tab.text()).includes("ABCDEFGHIJ"), "what is written for the fonts' sake is seen");
  await tab.close();
});

// A screen without names would be visible only for a moment. It is held back for up to 0.8 s
// (firstNames).
test("the first screen has the names from a large symbol file, unless they take long", async () => {
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

// The program may take long to load; without a listener, the browser would meanwhile open a dropped
// file in place of the page.
test("files and folders that are dropped before the program is loaded are opened when it is", async () => {
  const slow = await startChrome({ serviceWorkers: "block" });
  let send;
  const sent = new Promise((done) => (send = done));
  await slow.context.route(/\/crashpane[-.][^/]*wasm$/, async (route) => {
    await sent;
    await route.continue();
  });
  const tab = await slow.open(site.origin, { ready: false });
  await tab.sees("Crashpane is starting");
  await tab.drop(sample.slice(0, 1));
  const folder = await mkdtemp(join(tmpdir(), "crashpane-early-"));
  for (const file of sample.slice(1)) await copyFile(inRepo(file), join(folder, basename(file)));
  await tab.drop([folder]);
  assert.ok((await tab.text()).includes("Crashpane is starting"), "the page was left");
  send();
  await tab.ready();
  await tab.sees("main.cc:156");
  await tab.close();
  await slow.close();
  await rm(folder, { recursive: true });
});
