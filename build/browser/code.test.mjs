// The code around a frame, in the frame zone.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { dump, setUp, symbols, tab } from "./setup.mjs";

const made = "../shared/corpus/other/made-here/core2md";
const skip = existsSync(inRepo(made)) ? false : "*** SKIPPED: the corpus with a dump and its binary is not here";

setUp();

async function opened(files = [dump, ...symbols], sees = ["tile::blend_edges", "__clone3"]) {
  await tab.drop(files);
  for (const text of sees) await tab.sees(text);
  await tab.page.locator("#stack").focus();
  await tab.page.keyboard.press("d");
  await tab.page.waitForSelector(".code-row.at");
}
const at = () => tab.page.locator(".code-row.at");
const list = () => tab.page.locator("#code");
const rows = () => list().evaluate((e) => [Math.round(e.scrollTop / 20), e.scrollHeight / 20]);

test("the instruction that crashed is marked among those around it, with lines and values", async () => {
  await opened();
  assert.match(await at().innerText(), /mov eax, dword ptr \[rsi\+0x2c\]/);
  await tab.sees("eax = 0x0 · rsi = 0x20");
  await tab.sees("codec.cc:33");
  await tab.sees("The dump’s memory");
  const [box, row] = [await list().boundingBox(), await at().boundingBox()];
  assert.ok(row.y > box.y + 20 && row.y + row.height < box.y + box.height, "it is in sight, with rows before it");
  await tab.page.getByRole("button", { name: "Bytes" }).click();
  assert.match(await at().innerText(), /8b 46 2c/);
  await tab.page.waitForFunction(() => /side=code/.test(location.hash));
});

test("a jump leads to its target, and Back to where it was", async () => {
  await opened();
  await tab.page.locator(".code-goal", { hasText: "+0x4d" }).first().focus();
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForFunction(() => /mov esi, 0x0/.test(document.querySelector(".code-row.at")?.textContent));
  assert.match(await at().innerText(), /\+0x4d/);
  await tab.page.getByRole("button", { name: "Back", exact: true }).click();
  await tab.page.waitForFunction(() => /rsi\+0x2c/.test(document.querySelector(".code-row.at")?.textContent));
});

test("a jump inside the listing is a line in the margin, and its target says where it comes from", async () => {
  await opened();
  const target = tab.page.locator(".code-row.code", { hasText: "mov eax, ecx" });
  assert.match(await target.innerText(), /from \+0x47 ↓/);
  assert.match(await target.evaluate((e) => getComputedStyle(e).backgroundImage), /gradient/);
  assert.equal(await tab.page.locator(".code-row.code", { hasText: "and edx, 0x3" }).evaluate((e) => getComputedStyle(e).backgroundImage), "none");
});

test("the listing goes on where it is scrolled to its end, and keeps its place", { skip }, async () => {
  await opened([`${made}/mt-core2md.dmp`, `${made}/mt`], ["mt.c:17"]);
  const [, before] = await rows();
  await list().evaluate((e) => (e.scrollTop = e.scrollHeight));
  await tab.page.waitForFunction((n) => document.getElementById("code").scrollHeight / 20 > n, before);
  await list().evaluate((e) => (e.scrollTop = 0));
  await tab.page.waitForFunction(() => document.getElementById("code").scrollTop > 0);
  // Another frame is listed around its own call.
  await tab.page.locator("#stack").focus();
  await tab.page.keyboard.press("j");
  await tab.sees("called frame 0");
  assert.match(await at().innerText(), /call rsi/);
});

test("a folder of sources shows the lines, among the instructions and by themselves", async () => {
  await opened();
  await tab.page.click("[data-act=code-source]");
  await tab.sees("was not added");
  await tab.drop(["testdata/sample/src"]);
  await tab.page.waitForFunction(() => /return neighbour\.width\(level\)/.test(document.querySelector(".code-row.at")?.textContent));
  assert.match(await at().innerText(), /^33\s/);
  await tab.page.click("[data-act=code-source]");
  await tab.page.locator(".code-row.line", { hasText: "codec.cc:33" }).getByText("return neighbour.width(level)").waitFor();
  await tab.page.click("[role=tab][data-arg=files]");
  await tab.sees("4 files, for the lines of frames");
});

test("a rule of the user makes a link to the source line, and nothing is requested", async () => {
  await opened();
  await tab.page.click("[data-act=code-source]");
  await tab.page.click("#source-links");
  const path = await tab.page.locator(".code-path").innerText();
  assert.match(path, /codec\.cc$/);
  await tab.page.fill("#link-prefix", path.replace("codec.cc", ""));
  await tab.page.getByRole("button", { name: "GitHub" }).click();
  await tab.page.fill("#link-template", "https://git.example/tiles/{path}#L{line}");
  await tab.page.getByRole("button", { name: "Add", exact: true }).click();
  const link = tab.page.getByRole("link", { name: "Open on git.example" });
  assert.equal(await link.getAttribute("href"), "https://git.example/tiles/codec.cc#L33");
  assert.match(await link.getAttribute("rel"), /noreferrer/);
  assert.deepEqual(tab.foreign, []);
});

test("where the code is missing the page says which file has it", async () => {
  await opened();
  await tab.page.locator("#frame-1\\.-1").click();
  await tab.sees("Drop tilecruncher with id 0a7e8d22796add4aaea34c6ff1567186505d4f66 to see its code.");
  assert.equal(await tab.page.locator(".code-row").count(), 0);
});
