// Findings: the page says next to a stack why it is incomplete, and the user can copy it. The
// Compare tab shows a thread's stack under several policies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { dump, setUp, symbols, tab } from "./setup.mjs";

setUp({
  each: async () => {
    await tab.drop([dump, ...symbols.slice(0, 2)]);
    await tab.sees("tile::blend_edges");
  },
});

test("the headline, the end of the stack and a tab name the missing symbols and what to drop", async () => {
  await tab.page.waitForFunction(() => document.querySelector(".verdict-finding:not([hidden])")?.innerText.includes("libc.so.6"));
  const hint = tab.page.locator("#stack .row.hint");
  assert.match(await hint.innerText(), /No symbols for libc\.so\.6: 2 frames are guesses; add libc\.so\.6\.sym with id [0-9A-F]+/);
  await hint.click();
  await tab.page.waitForFunction(() => document.querySelector("#tab-findings").getAttribute("aria-selected") === "true");
  await tab.page.locator(".finding").first().waitFor();
  const before = await tab.page.locator(".finding").count();
  await tab.drop(["testdata/sample/libc.so.6.sym.gz"]);
  await tab.page.waitForFunction((n) => document.querySelectorAll(".finding").length < n, before);
  await tab.page.waitForFunction(() => !document.querySelector("#stack .row.hint"));
});

test("each frame says where the stack ends and why", async () => {
  await tab.page.click("#side-why");
  await tab.page.waitForFunction(() => /The stack ends after frame 5/i.test(document.querySelector(".why").innerText));
  assert.match(await tab.page.locator(".why").innerText(), /What would help: no symbols for libc\.so\.6/);
});

test("the Compare tab shows a stack under each policy, and a row says why they differ", async () => {
  await tab.part("compare");
  await tab.page.waitForSelector("#compare .row");
  const heads = await tab.page.locator(".compare-grid .row.head .walk").allInnerTexts();
  assert.deepEqual(heads, ["cfi", "fp", "scan", "breakpad", "rust-minidump", "best"]);
  assert.match(await tab.text(), /Breakpad, rust-minidump and best (agree on [0-9,]+ of|find the same) [0-9,]+ frames/);
  await tab.page.click("#compare .row.parts");
  await tab.page.waitForFunction(() => /How each policy continues/.test(document.querySelector(".panel-side").innerText));
  assert.match(await tab.page.locator(".panel-side").innerText(), /fp .*(ends early|Frame pointer)/);
  // Another thread has another comparison.
  const first = await tab.page.locator("#compare").innerText();
  await tab.page.click("#stack .row");
  await tab.page.keyboard.press("n");
  await tab.page.waitForFunction((text) => document.querySelector("#compare").innerText !== text, first);
  const elements = await tab.page.evaluate(() => document.querySelectorAll(".crashpane-root *").length);
  assert.ok(elements < 560, `${elements} elements`);
});
