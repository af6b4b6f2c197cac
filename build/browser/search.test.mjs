// The search finds everything that the page shows or copies, marks hits, and goes from hit to hit
// without hiding other rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dump, setUp, symbols, tab } from "./setup.mjs";

const files = [dump, ...symbols];

setUp({
  each: async () => {
    await tab.drop(files);
    await tab.sees("tile::blend_edges");
    await tab.page.waitForFunction(() => !document.querySelector(".verdict-quality").innerText.includes("Reading symbols"));
  },
});

const found = () => tab.page.locator(".search-found span").innerText();

// Searches for a text, and returns the number of hits.
async function count(text) {
  await tab.page.locator("#search").fill(text);
  await tab.page.waitForFunction(() => /^([\d,]+ found|Not found)$/.test(document.querySelector(".search-found span").innerText));
  const said = await found();
  return said === "Not found" ? 0 : Number(said.replace(/\D/g, ""));
}

async function goOn(key, at) {
  await tab.page.locator("#search").press(key);
  await tab.page.waitForFunction((n) => document.querySelector(".search-found span").innerText.startsWith(`${n} of `), at);
}

test("everything that the page shows or copies is found", async () => {
  const id = await tab.page.locator("#modules .row .code").first().innerText();
  const base = await tab.page.locator("#modules .row .code").nth(1).innerText();
  const address = (await tab.page.locator(".frame .facts-row", { hasText: "Address" }).locator("dd").innerText()).trim();
  assert.match(address, /^0x0000/);
  const short = address.replace(/^0x0+/, "0x");
  const offset = (await tab.page.locator("#stack .row.frame .mod").first().innerText()).replace(/\s/g, "");
  const rsp = await tab.page.locator(".reg", { hasText: "rsp" }).locator(".reg-value").innerText();
  for (const text of [address, short, short.toUpperCase().replace("0X", "0x"), offset, "codec.cc:33", "stitch-1", "SIGSEGV", "segv_maperr", id, base, rsp.replace(/^0x0+/, "0x"), "blend_edges", "libtilecodec.so!", "watchdog", "amd64"]) {
    assert.ok((await count(text)) > 0, `${text} is found`);
  }
  assert.equal(await count("no such thing anywhere"), 0);
});

test("hits are marked, and other rows stay visible", async () => {
  const rows = await tab.page.locator("#stack .row").count();
  const threads = await tab.page.locator("#threads .thread").count();
  const modules = await tab.page.locator("#modules .row").count();
  assert.ok((await count("blend_edges")) > 0);
  await tab.page.locator("#stack .row.hit", { hasText: "blend_edges" }).first().waitFor();
  assert.equal(await tab.page.locator("#stack .row").count(), rows);
  assert.equal(await tab.page.locator("#threads .thread").count(), threads);
  assert.equal(await tab.page.locator("#modules .row").count(), modules);
  assert.ok((await tab.page.locator("#stack .row.hit").count()) < rows);
  await tab.page.locator("#search").press("Escape");
  await tab.page.waitForFunction(() => !document.querySelector(".hit"));
});

test("Enter and Shift+Enter go from hit to hit, across threads and tabs, and from the last to the first", async () => {
  const n = await count("libc.so.6");
  assert.ok(n > 3);
  await goOn("Enter", 1);
  await tab.page.waitForFunction(() => document.querySelector("#stack .selected.hit"));
  await goOn("Enter", 2);
  await goOn("Shift+Enter", 1);
  await goOn("Shift+Enter", n);
  assert.match(await found(), new RegExp(`^${n} of ${n}$`));
  await goOn("Enter", 1);
  assert.equal(await tab.page.evaluate(() => document.activeElement.id), "search", "the focus stays");
  // The buttons do the same.
  await tab.page.getByRole("button", { name: "Next hit" }).click();
  await tab.page.waitForFunction(() => document.querySelector(".search-found span").innerText.startsWith("2 of "));
});

test("a hit in another thread, and one in a table of the lower panel, are scrolled into view", async () => {
  await count("watchdog");
  await goOn("Enter", 1);
  await tab.page.waitForFunction(() => document.querySelector("#threads .selected .thread-name").innerText === "watchdog");
  const streams = await count("ThreadNames");
  assert.ok(streams > 0);
  for (let i = 1; i <= streams; i++) await goOn("Enter", i);
  await tab.page.waitForFunction(() => document.querySelector("#tab-streams")?.getAttribute("aria-selected") === "true");
  await tab.page.locator("#grid .row.hit.current").waitFor();
  // Back returns to where the search began.
  await tab.page.waitForTimeout(400);
  await tab.page.goBack();
  await tab.page.waitForFunction(() => !document.querySelector("#tab-streams") && document.querySelector("#tab-modules").getAttribute("aria-selected") === "true");
});
