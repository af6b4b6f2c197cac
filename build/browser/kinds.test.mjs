// What is rare in dumps, as build/kinds makes it: two stacks of one thread, tail calls, public names,
// programs whose start is unknown, several exceptions, symbols of several builds.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { inRepo } from "./harness.mjs";
import { dir, setUp, tab } from "./setup.mjs";

setUp({ once: () => promisify(execFile)("go", ["run", "./build/kinds", dir], { cwd: inRepo(".") }) });

const made = (...names) => tab.drop(names.map((name) => join(dir, name)));
const functions = () => tab.page.locator("#stack .row.frame .fn").allInnerTexts();

// The heading of the stack, and in narrow windows the chooser that replaces it.
const heading = () =>
  tab.page.evaluate(() => [...document.querySelectorAll(".stack .zone-title, .thread-chooser-text")].filter((e) => e.checkVisibility()).map((e) => e.innerText));

for (const width of [1440, 900]) {
  test(`${width} pixels: each stack of a thread says which one it is, and has its processor's digits`, async () => {
    await tab.page.setViewportSize({ width, height: 860 });
    await made("wow64.dmp");
    await tab.sees("app.exe+0x1010");
    assert.deepEqual(await heading(), ["Thread 0, worker, 32-bit stack"]);
    await tab.sees("0x0019f000"); // esp
    const last = tab.page.locator("#stack-head .cell").last();
    assert.ok(await last.evaluate((e) => e.scrollWidth <= e.clientWidth), "the title of the last column is cut");
    await tab.page.getByRole("button", { name: "Show the 64-bit layer" }).click();
    await tab.sees("wow64cpu.dll+0x1cfc");
    assert.deepEqual(await heading(), ["Thread 0, worker, 64-bit layer"]);
    await tab.sees("0x1122334455667788"); // rax
    await tab.sees("0x000000000008e000"); // rsp
    await tab.page.getByRole("button", { name: "Show the 32-bit stack" }).click();
    await tab.sees("app.exe+0x1010");
  });
}

test("a thread in 32-bit code has the layer that it left as its second stack", async () => {
  await made("wow64.dmp");
  await tab.sees("app.exe+0x1010");
  await tab.page.locator("#threads .thread").nth(1).click();
  await tab.sees("app.exe+0x3010");
  await tab.page.getByRole("button", { name: "Show the 64-bit layer" }).click();
  await tab.sees("wow64cpu.dll+0x1782");
  assert.deepEqual(await functions(), ["wow64cpu.dll+0x1782", "wow64.dll+0x2344"]);
  await tab.page.click("#side-why");
  await tab.sees("the registers are those with which the 64-bit layer goes on when that calls it");
});

test("a tail call is in its caller's row", async () => {
  await made("app.dmp", "tail.sym");
  await tab.sees("parse_body");
  assert.deepEqual(await functions(), ["parse_body", "main → handle_request (tail call)"]);
});

test("a public name has its offset, and the module says once that it has exports alone", async () => {
  await made("app.dmp", "public.sym");
  await tab.sees("parse_body+0xd6");
  assert.deepEqual(await functions(), ["parse_body+0xd6", "main+0x14"]);
  const row = await tab.page.locator("#modules .row", { hasText: "app" }).first().innerText();
  assert.equal(row.match(/exported names/g)?.length, 1, row);
});

test("a finding about a program whose start is unknown keeps the program's name", async () => {
  await made("code.dmp");
  await tab.sees("The start of app is not known");
});

test("several exceptions are told", async () => {
  await made("two.dmp");
  await tab.sees("The dump has 2 exceptions, and the first is shown as the crash: thread 0: SIGSEGV");
});

test("of a folder with several builds only what is missing is told", async () => {
  const notice = tab.page.locator(".notice", { hasText: "is not used" });
  await made("app.dmp", "tail.sym", "old/app.sym");
  await tab.sees("parse_body");
  await tab.part("files");
  await tab.page.locator("#files .row", { hasText: "Not used: " }).waitFor();
  assert.equal(await notice.count(), 0);
});

test("a file of another build is told where the right one is missing", async () => {
  await made("app.dmp", "old/app.sym");
  await tab.page.locator(".notice", { hasText: "app.sym is not used" }).waitFor();
});

for (const width of [1440, 900, 600]) {
  test(`${width} pixels: many possible callers are one row, which lists them when it is asked`, async () => {
    await tab.page.setViewportSize({ width, height: 860 });
    await made("guesses.dmp");
    await tab.sees("40 possible callers, found by scanning: show. Likeliest: app+0xfff (1)");
    assert.deepEqual(await functions(), ["app+0x3010"]);
    const row = tab.page.locator("#stack .row.guesses");
    await row.click();
    await tab.sees("40 possible callers, found by scanning: hide");
    await tab.sees("app+0x102f");
    await tab.page.locator("#stack .row", { hasText: "app+0x102f" }).click();
    await tab.page.keyboard.press("s");
    await tab.sees("found by scanning: show");
    assert.deepEqual(await functions(), ["app+0x3010"]);
    assert.match(await tab.page.locator("#stack .row.selected").innerText(), /app\+0x3010/);
    // What a search finds among them is listed.
    await tab.page.fill("#search", "app+0x112f");
    await tab.page.keyboard.press("Enter");
    await tab.page.locator("#stack .row.selected", { hasText: "app+0x112f" }).waitFor();
  });
}
