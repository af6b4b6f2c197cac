// Dropped binaries: they give names and unwind rules, the page says what they contain, and makes
// symbol files from them.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { setUp, tab } from "./setup.mjs";

const elf = "symfile/elf/testdata/x86_64-linux-gnu.elf";
const made = "../shared/corpus/other/made-here/core2md";
const skip = existsSync(inRepo(made)) ? false : "*** SKIPPED: the corpus with a dump and its binary is not here";

setUp();

async function downloaded(click) {
  const [download] = await Promise.all([tab.page.waitForEvent("download"), click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test("a binary alone becomes a symbol file", async () => {
  await tab.drop([elf]);
  const button = tab.page.locator('.start-made [data-act="make"]');
  await button.waitFor({ timeout: 30_000 });
  const { name, text } = await downloaded(() => button.click());
  assert.match(name, /\.sym$/);
  assert.match(text, /^MODULE Linux x86_64 [0-9A-F]{33} \S+\n/);
  assert.match(text, /\nSTACK CFI INIT [0-9a-f]+ [0-9a-f]+ /);
  assert.match(text, /\n(FUNC|PUBLIC) /);
  await tab.sees(`${name} written`);
});

test("the page says if the worker that makes a symbol file ends without a word", async () => {
  await tab.drop([elf]);
  const button = tab.page.locator('.start-made [data-act="make"]');
  await button.waitFor({ timeout: 30_000 });
  // It is asked for nothing, so it is not done before it ends.
  await tab.page.evaluate(() => {
    globalThis.Worker = class extends Worker {
      postMessage(message, ...rest) {
        if (!message.request) super.postMessage(message, ...rest);
      }
    };
  });
  const [worker] = await Promise.all([tab.page.waitForEvent("worker"), button.click()]);
  await worker.evaluate(() => setTimeout(() => self.close(), 1000));
  await tab.sees("its worker has ended, and nothing says why");
});

test("a dump's binary names its frames, and the module says what its files contain", { skip }, async () => {
  await tab.drop([`${made}/mt-core2md.dmp`, `${made}/mt`]);
  await tab.sees("mt.c:17");
  await tab.sees("loaded: unwind rules · lines");
  await tab.chooseModule("loaded");
  await tab.sees("Available");
  const detail = await tab.page.locator(".module-detail").innerText();
  assert.match(detail, /Unwind rules\s+mt, \.eh_frame/);
  assert.match(detail, /Lines\s+mt, \.debug_/);
  const { name, text } = await downloaded(() => tab.page.click(".module-detail [data-act=make]"));
  assert.equal(name, "mt.sym");
  assert.match(text, /^MODULE Linux x86_64 /);
  assert.match(text, /\nFUNC [0-9a-f]+ [0-9a-f]+ [0-9a-f]+ boom\n/);
});

test("a module's call frame information can be ignored, and used again", { skip }, async () => {
  await tab.drop([`${made}/mt-core2md.dmp`, `${made}/mt`]);
  await tab.sees("mt.c:17");
  await tab.page.keyboard.press("s"); // the frames of the recursion, too
  const cfi = () => tab.page.locator("#stack .trust.cfi").count();
  await tab.page.waitForFunction(() => document.querySelectorAll("#stack .trust.cfi").length > 5);
  await tab.chooseModule("loaded");
  await tab.page.click("[data-act=ignore]");
  await tab.page.waitForFunction(() => document.querySelectorAll("#stack .trust.cfi").length === 0);
  await tab.sees("unwind rules · lines, not used");
  await tab.page.click("[data-act=ignore]");
  await tab.page.waitForFunction(() => document.querySelectorAll("#stack .trust.cfi").length > 5);
  assert.ok((await cfi()) > 5);
});
