// The stacks of all threads as one tree, and recursions as one row.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setUp, tab } from "./setup.mjs";
import { dump, symbols } from "./setup.mjs";

setUp();

const merged = () => tab.page.locator("#merged").innerText();
async function opened() {
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  await tab.page.waitForFunction(() => !document.querySelector("#threads .thread-top")?.innerText.includes("…\n"));
  await tab.page.focus("#stack");
  await tab.page.keyboard.press("1");
  await tab.page.locator("#merged .merged-row").first().waitFor();
}

test("the stacks of all threads are one tree, with the crashed path first and waiting threads in a line each", async () => {
  await opened();
  await tab.sees("6 threads, 6 different stacks");
  const first = tab.page.locator("#merged .merged-row").first();
  assert.match(await first.innerText(), /^\s*5\s[^]*__clone3/);
  assert.ok((await first.getAttribute("class")).includes("crashed"));
  assert.match(await merged(), /thread 5: crashed/);
  await tab.page.focus("#merged");
  await tab.page.keyboard.press("End");
  await tab.page.locator("#merged .merged-row", { hasText: "clockjoin" }).waitFor();
  assert.match(await merged(), /pthread_cond_wait[^\n]*waits for a condition \(a guess\)/);
  // A click on a frame of another thread selects that thread and frame.
  await tab.page.locator("#merged .merged-row", { hasText: "clock_nanosleep" }).click();
  await tab.page.locator("#threads .selected", { hasText: "watchdog" }).waitFor();
});

test("the tree works by keyboard: arrows move, fold and open, Enter selects", async () => {
  await opened();
  await tab.page.focus("#merged");
  await tab.page.keyboard.press("Home");
  const active = () => tab.page.evaluate(() => document.getElementById(document.querySelector("#merged").getAttribute("aria-activedescendant"))?.innerText);
  await tab.page.waitForFunction(() => document.querySelector("#merged").getAttribute("aria-activedescendant") === "merged-0");
  assert.match(await active(), /5\s[^]*__clone3\s+libc\.so\.6/);
  const rows = () => tab.page.locator("#merged .list-all").evaluate((e) => e.offsetHeight / 26);
  const before = await rows();
  await tab.page.keyboard.press("ArrowLeft");
  await tab.page.waitForFunction(() => document.querySelector("#merged-0").getAttribute("aria-expanded") === "false");
  assert.ok((await rows()) < before, "the folded branch is one row");
  await tab.page.keyboard.press("ArrowRight");
  await tab.page.waitForFunction(() => document.querySelector("#merged-0").getAttribute("aria-expanded") === "true");
  await tab.page.keyboard.press("End");
  await tab.page.locator("#merged .merged-row.selected", { hasText: "clockjoin" }).waitFor();
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForFunction(() => /Thread 0/.test(document.querySelector(".zone.stack").innerText));
});

test("what is searched is marked in the tree, also in folded branches", async () => {
  await opened();
  await tab.page.fill("#search", "start_thread");
  await tab.page.locator("#merged .merged-row.hit", { hasText: "start_thread" }).waitFor();
});

test("modules are sorted by a click on a head, and filtered; what is missing names the command and the servers' paths", async () => {
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  const names = () => tab.page.locator("#modules .row .fn").allInnerTexts();
  await tab.page.getByRole("button", { name: "Module", exact: true }).click();
  await tab.page.locator('[role="columnheader"][aria-sort="ascending"]').waitFor();
  await tab.page.waitForFunction(() => document.querySelector("#modules .row .fn").innerText.startsWith("ld-linux"));
  const sorted = await names();
  assert.deepEqual(sorted, [...sorted].sort((a, b) => a.localeCompare(b, "en", { sensitivity: "base" })));
  await tab.page.getByRole("searchbox", { name: "Filter the modules" }).fill("tilecodec");
  await tab.page.waitForFunction(() => document.querySelectorAll("#modules .row").length === 1);
  assert.match((await names())[0], /libtilecodec\.so · first on the stack/);
  await tab.page.locator("#modules .row").click();
  await tab.sees("crashpane dumpsyms libtilecodec.so > libtilecodec.so.sym");
  await tab.sees("libtilecodec.so/B19F54F3834E401B9A6B97A1CCACE8B90/libtilecodec.so.sym");
});

test("with two dumps open both are shown side by side, and the first frame that differs is marked", async () => {
  await tab.drop(["testdata/windows/app.dmp"]);
  await tab.sees("EXCEPTION_ACCESS_VIOLATION_READ");
  await tab.drop([dump, ...symbols]);
  await tab.sees("tilecruncher.dmp (2 of 2)");
  await tab.part("dumps");
  await tab.sees("The stacks differ from frame 0 on");
  const text = await tab.page.locator("#dumps").innerText();
  assert.match(text, /Reason\s+SIGSEGV \/ SEGV_MAPERR\s+EXCEPTION_ACCESS_VIOLATION_READ/);
  assert.match((await tab.page.locator('.differences [role="columnheader"]').allInnerTexts()).join(" "), /tilecruncher\.dmp.*app\.dmp/);
  await tab.page.locator("#dumps .row.parts").waitFor();
});
