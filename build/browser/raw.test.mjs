// The dump's own data: streams, the memory map, private data. Also splitters, the context menu,
// highlights of changed rows, and pasting.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { chrome, dump, put, setUp, site, symbols, tab } from "./setup.mjs";

setUp({
  once: () => chrome.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin }),
});

async function opened() {
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  await tab.sees("__clone3");
}

test("every stream is listed, and shown decoded, as text or as bytes", async () => {
  await opened();
  const { page } = tab;
  await tab.part("streams");
  await page.locator("#grid .row", { hasText: "ThreadList" }).first().click();
  await tab.sees("thread[0].id");
  await page.getByRole("button", { name: "As bytes" }).click();
  await tab.sees("00000000  ");
  await page.locator("#grid .row", { hasText: "ModuleList" }).first().click();
  await tab.sees("module[0].name");
  await tab.part("handles");
  await tab.sees("/dev/null");
  await page.locator("#tab-memory").click();
  await tab.sees("[heap]");
  await page.locator("#tab-system").click();
  await tab.sees("/proc/cpuinfo");
});

test("a tab without data in the dump is disabled", async () => {
  const bytes = Buffer.from(await readFile(inRepo(dump)));
  const handles = 12;
  const directory = bytes.readUInt32LE(12);
  for (let i = 0; i < bytes.readUInt32LE(8); i++) {
    if (bytes.readUInt32LE(directory + 12 * i) === handles) bytes.writeUInt32LE(0, directory + 12 * i);
  }
  await tab.drop(await put({ "bare.dmp": bytes }));
  await tab.page.locator("#tab-system").click();
  await tab.page.locator("#tab-handles:disabled").waitFor();
});

test("zones are resized by pointer and by keyboard, and keep their size", async () => {
  await opened();
  const { page } = tab;
  const width = () => page.locator(".zone.threads").evaluate((zone) => zone.offsetWidth);
  const before = await width();
  const line = await page.locator("#split-threads").boundingBox();
  await page.mouse.move(line.x, line.y + 100);
  await page.mouse.down();
  await page.mouse.move(line.x + 60, line.y + 100, { steps: 4 });
  await page.mouse.up();
  assert.equal(await width(), before + 60);
  await page.locator("#split-threads").press("ArrowLeft");
  await page.waitForFunction((w) => document.querySelector(".zone.threads").offsetWidth === w, before + 44);
  await page.reload();
  await tab.ready();
  await opened();
  assert.equal(await width(), before + 44);
});

test("the context menu copies, and shows the module", async () => {
  await opened();
  const { page } = tab;
  await page.locator("#stack .row", { hasText: "start_thread" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Copy frame as text" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("libc.so.6!start_thread"), undefined, { polling: 200 });
  await page.locator("#stack .row", { hasText: "start_thread" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Show module" }).click();
  await page.locator("#modules .row.selected", { hasText: "libc.so.6" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.id === "stack");
});

test("rows that change because of symbols are highlighted for a moment", async () => {
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  await tab.page.waitForTimeout(500);
  await tab.drop(symbols);
  await tab.page.locator("#stack .row.changed").first().waitFor();
  await tab.page.waitForFunction(() => !document.querySelector(".changed"), undefined, { timeout: 10_000 });
});

test("pasted files are read like dropped ones", async () => {
  const bytes = (await readFile(inRepo(dump))).toString("base64");
  await tab.page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], "pasted.dmp"));
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, bytes);
  await tab.sees("pasted.dmp");
  await tab.sees("stitch-1");
});
