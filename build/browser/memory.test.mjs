// Memory in the page: an address is a link that shows what is there, the address bar and Back have it, a
// search finds texts and pointers and can be stopped, the words of a stack say what they are, and texts
// are shown only when asked for. axe-core looks at each view.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { startChrome, startSite } from "./harness.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const stackPointer = "0x00007f7569879e38"; // of the sample's frame that crashed
const folder = mkdtempSync(join(tmpdir(), "memory-"));

let site;
let chrome;
let tab;
before(async () => {
  site = await startSite();
  chrome = await startChrome({ record: false, serviceWorkers: "block", bypassCSP: true });
});
after(async () => {
  rmSync(folder, { recursive: true });
  await chrome?.close();
  await site?.stop();
});
afterEach(async () => {
  const { problems } = tab;
  await tab.close();
  assert.deepEqual(problems, []);
});

async function open({ width = 1440, height = 900, scheme = "light" } = {}) {
  tab = await chrome.open(site.origin);
  await tab.page.setViewportSize({ width, height });
  await tab.page.emulateMedia({ colorScheme: scheme });
  await tab.page.getByRole("button", { name: "Open the sample" }).click();
  await tab.sees("tile::blend_edges");
}

// Waits until the marked row of the memory is that of an address, and returns its text, read at once: the list draws its rows again.
const here = async (address = "") => {
  const text = (a) => [...document.querySelectorAll(".mem-row.here")].map((row) => row.innerText).find((t) => t.includes(a));
  return (await tab.page.waitForFunction(text, address)).jsonValue();
};
async function ask(key, text) {
  await tab.page.keyboard.press(key);
  await tab.page.waitForSelector("#go-to:focus");
  await tab.page.keyboard.type(text);
}
const show = async (part) => tab.page.locator(`#tab-${part}, #part-${part}`).last().click();

test("a register leads to its memory, Back leads back, and a link opens the same place", async () => {
  await open();
  await tab.page.click(`.reg [data-arg="${stackPointer}"]`);
  assert.match(await here(stackPointer), new RegExp(`${stackPointer}\\s+0x00005576e8f687f6`));
  await tab.sees("stack of thread 5, frame 0");
  await tab.page.waitForURL(/tab=words&address=0x7f7569879e38/);
  // A word of it leads on: to code.
  await tab.page.locator(".mem-row.here .mem-word .address").click();
  await tab.sees("0x00005576e8f687f6");
  await tab.page.waitForURL(/tab=words&address=0x5576e8f687f6/);
  await tab.page.goBack();
  await tab.page.waitForFunction((at) => document.querySelector(".mem-row.here")?.textContent.includes(at), stackPointer);
  await show("bytes");
  await tab.page.waitForFunction(() => document.querySelector(".mem-row.here .mem-byte")?.textContent === "f6");
  await tab.page.getByRole("button", { name: "Back to the address before" }).click();
});

test("g goes to an address, a name and an action, by keyboard alone", async () => {
  await open();
  await ask("g", "rsp");
  await tab.page.keyboard.press("Enter");
  await here(stackPointer);
  await ask("Control+k", "blend_edges+0xa");
  await tab.page.waitForSelector("#go-list [role=option] >> text=frame 0 of thread 5");
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForFunction(() => document.querySelector(".memory-points")?.textContent.includes("tile::blend_edges"));
  await ask("g", "0x12345678");
  await tab.page.keyboard.press("Enter");
  await tab.sees("its bytes are not there");
  await ask("g", "words of the stack");
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForSelector("#stack-words .word-return");
});

test("texts are shown only when asked for", async () => {
  await open();
  await tab.page.click(`.reg [data-arg="${stackPointer}"]`);
  await show("bytes");
  await tab.page.waitForSelector(".mem-hex");
  assert.equal(await tab.page.$(".mem-text"), null);
  await show("text");
  await tab.sees("Texts are hidden");
  assert.equal(await tab.page.$(".mem-text"), null);
  await tab.page.getByRole("button", { name: "Show texts" }).click();
  await tab.page.waitForSelector(".mem-text");
});

test("the words of a stack are return addresses, saved registers and the canary, frame by frame", async () => {
  await open();
  await tab.page.keyboard.press("w");
  const words = await tab.page.waitForSelector("#stack-words .word-return");
  assert.match(await words.innerText(), /0x00005576e8f687f6\s+return address of frame 1, by unwind rule/);
  await tab.sees("rbx of frame 2, saved by frame 1");
  await tab.page.$eval("#stack-words", (list) => (list.scrollTop = 400));
  await tab.sees("canary of the stack protector");
  await tab.page.keyboard.press("n");
  await tab.page.waitForFunction(() => document.querySelector("#stack-words .word.here .word-frame")?.textContent.startsWith("0 ") && !document.querySelector("#stack-words").textContent.includes("blend_edges"));
  await tab.page.keyboard.press("w");
  await tab.page.waitForSelector("#stack .row.frame");
});

test("a search finds pointers and texts, its hits are links, and it can be stopped", async () => {
  await open();
  await show("memory");
  await show("find");
  await tab.page.selectOption('[data-input="memory-kind"]', "pointers");
  await tab.page.fill('[data-input="memory-text"]', "0x7f755400ba80");
  await tab.page.keyboard.press("Enter");
  await tab.sees("found in ");
  await tab.page.waitForSelector(".hits .row.region");
  await tab.page.locator(".hits .address").first().click();
  await here("0x00007f755400ba80");

  // Half a gigabyte takes a second or more. The file is sparse, so it takes little room.
  const big = join(folder, "big.dmp");
  writeFileSync(big, sparseDump(512 * 2 ** 20));
  await tab.choose("[data-choose=files]", [big]).catch(() => tab.drop([big]));
  await tab.sees("big.dmp");
  await show("find");
  await tab.page.selectOption('[data-input="memory-kind"]', "text");
  await tab.page.fill('[data-input="memory-text"]', "not there");
  await tab.page.keyboard.press("Enter");
  await tab.page.click('[data-act="stop-finding"]');
  await tab.sees("found until it was stopped");
});

for (const [scheme, width, height] of [["light", 1440, 900], ["dark", 900, 700]]) {
  test(`axe finds nothing on the views of memory, ${scheme}, ${width} × ${height}`, async () => {
    await open({ scheme, width, height });
    await tab.page.addScriptTag({ path: axe });
    const looks = async (what) =>
      assert.deepEqual(await tab.page.evaluate(async () => (await globalThis.axe.run(document)).violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target} ${n.failureSummary}`))), [], what);
    await ask("g", "rsp");
    await looks("go to");
    await tab.page.keyboard.press("Enter");
    await here();
    for (const part of ["words", "bytes", "text", "find", "memory"]) {
      await show(part);
      await tab.page.waitForTimeout(200);
      await looks(part);
    }
    await show("bytes");
    await tab.page.getByRole("button", { name: "Show texts" }).click();
    await tab.page.waitForSelector(".mem-text");
    await looks("bytes with texts");
    await show("find");
    await tab.page.getByRole("button", { name: "Texts near the stack" }).click();
    await tab.sees("texts in the stack");
    await looks("texts near the stack");
    await tab.page.keyboard.press("Escape");
    await tab.page.click('[data-act="stack-words"]');
    await tab.page.waitForSelector("#stack-words .word-return");
    await looks("words of the stack");
  });
}

// sparseDump makes a minidump with one thread and a range of size bytes of zeros (MINIDUMP_MEMORY64_LIST).
function sparseDump(size) {
  const context = Buffer.alloc(1232);
  context.writeUInt32LE(0x10000f, 48);
  context.writeBigUInt64LE(0x10000000n, 0x98);
  const at = (n) => 32 + 12 * 3 + n;
  const system = Buffer.alloc(56);
  system.writeUInt16LE(9, 0);
  system.writeUInt32LE(2, 20);
  const threads = Buffer.alloc(52);
  threads.writeUInt32LE(1, 0);
  threads.writeUInt32LE(7, 4);
  threads.writeBigUInt64LE(0x10000000n, 28);
  threads.writeUInt32LE(context.length, 44);
  threads.writeUInt32LE(at(0), 48);
  const base = 4096;
  const memory = Buffer.alloc(32);
  memory.writeBigUInt64LE(1n, 0);
  memory.writeBigUInt64LE(BigInt(base), 8);
  memory.writeBigUInt64LE(0x10000000n, 16);
  memory.writeBigUInt64LE(BigInt(size), 24);
  const parts = [context, system, threads, memory];
  const offsets = [];
  let off = at(0);
  for (const part of parts) {
    offsets.push(off);
    off += part.length;
  }
  const header = Buffer.alloc(32 + 36);
  header.write("MDMP", 0, "latin1");
  header.writeUInt32LE(0xa793, 4);
  header.writeUInt32LE(3, 8);
  header.writeUInt32LE(32, 12);
  [[7, 1], [3, 2], [9, 3]].forEach(([type, part], i) => {
    header.writeUInt32LE(type, 32 + 12 * i);
    header.writeUInt32LE(parts[part].length, 36 + 12 * i);
    header.writeUInt32LE(offsets[part], 40 + 12 * i);
  });
  const file = Buffer.alloc(base + size);
  Buffer.concat([header, ...parts]).copy(file);
  return file;
}
