// Back returns to where the user was, and the page asks before it is closed. Several dumps are
// distinguished, can be closed, and are listed once.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { chrome, dir, dump, put, setUp, symbols, tab } from "./setup.mjs";

setUp();

const hashHas = (text) => tab.page.waitForFunction((t) => location.hash.includes(t), text);
const selected = () => tab.page.locator("#stack .selected .fn").innerText();

test("thread, frame and tab are entries of the history", async () => {
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  await hashHas("dump=tilecruncher");
  const first = await selected();
  await tab.page.locator("#stack .row.frame").nth(2).click();
  await hashHas("frame=");
  const second = await selected();
  assert.notEqual(first, second);
  await tab.page.locator("#tab-system").click();
  await hashHas("tab=system");
  await tab.page.locator("#threads .thread").nth(2).click();
  await tab.page.waitForFunction(() => document.querySelectorAll("#threads .thread")[2].classList.contains("selected"));
  await tab.page.waitForTimeout(400);
  await tab.page.goBack();
  await tab.page.waitForFunction(() => document.querySelectorAll("#threads .thread")[0].classList.contains("selected"));
  await tab.page.waitForFunction((t) => document.querySelector("#stack .selected .fn")?.innerText === t, second);
  assert.equal(await tab.page.locator("#tab-system").getAttribute("aria-selected"), "true");
  await tab.page.goBack();
  await tab.page.waitForFunction(() => document.querySelector("#tab-modules").getAttribute("aria-selected") === "true");
  await tab.page.goBack();
  await tab.page.waitForFunction((t) => document.querySelector("#stack .selected .fn")?.innerText === t, first);
  await tab.page.goForward();
  await tab.page.waitForFunction((t) => document.querySelector("#stack .selected .fn")?.innerText === t, second);
  assert.equal(tab.leavings, 0);
  assert.ok((await tab.text()).includes("tile::blend_edges"), "the files are still here");
});

test("closing the page asks if files are open, and not otherwise", async () => {
  await tab.page.locator("body").click();
  await tab.page.reload();
  await tab.ready();
  assert.equal(tab.leavings, 0);
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  await tab.page.locator("#stack .row").first().click();
  await tab.page.reload();
  await tab.ready();
  assert.equal(tab.leavings, 1);
});

test("the menu shows reason, time and process of dumps; equal ones are listed once; one can be closed", async () => {
  const whole = await readFile(inRepo(dump));
  const later = Buffer.from(whole);
  later.writeUInt32LE(whole.readUInt32LE(20) + 3600, 20); // the header's time
  await tab.drop(await put({ "first.dmp": whole, "second.dmp": later, "copy.dmp": whole }));
  await tab.sees("of 2)");
  await tab.sees("the same dump as");
  await tab.page.locator("#menu-dumps").click();
  const items = tab.page.locator('.menu [role="menuitemradio"]');
  assert.equal(await items.count(), 2);
  const texts = await items.allInnerTexts();
  for (const text of texts) {
    assert.match(text, /SIGSEGV/);
    assert.match(text, /tilecruncher \d+/);
    assert.match(text, /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  }
  assert.notEqual(texts[0].split("\n").slice(1).join(), texts[1].split("\n").slice(1).join());
  const open = await tab.page.locator(".dump-name-text").innerText();
  await tab.page.getByRole("menuitem", { name: /^Close / }).click();
  await tab.page.waitForFunction((t) => !document.querySelector(".dump-name-text").innerText.includes("of 2"), open);
  const left = await tab.page.locator(".dump-name-text").innerText();
  assert.notEqual(left, open.replace(/ \(.*/, ""));
  await tab.page.locator("#menu-dumps").click();
  assert.equal(await tab.page.locator('.menu [role="menuitemradio"]').count(), 1);
  await tab.page.getByRole("menuitem", { name: /^Close / }).click();
  await tab.sees("Open the sample");
  // A closed dump opens again when it is dropped again.
  await tab.drop(await put({ "again.dmp": whole }));
  await tab.sees("stitch-1");
});

test("another unwind policy is named above the stack, with a button for the default", async () => {
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  const note = tab.page.locator('.stack [data-act="policy"]');
  assert.equal(await note.isVisible(), false);
  await tab.page.locator("#tab-system").click();
  await tab.page.locator('[data-input="policy"]').selectOption("scan");
  await note.waitFor({ state: "visible" });
  assert.match(await note.innerText(), /Unwind policy: scan/);
  await note.click();
  await note.waitFor({ state: "hidden" });
  assert.equal(await tab.page.locator('[data-input="policy"]').inputValue(), "best");
});

test("the start page lists what it cannot use, with the reason and the next step", async () => {
  const whole = await readFile(inRepo(dump));
  await tab.drop(await put({ "cut off.dmp": whole.subarray(0, 16), "note.txt": "just a note", "it's here.7z": Buffer.from("7z\xbc\xaf\x27\x1c and more", "latin1") }));
  await tab.sees("cut off.dmp: minidump header at offset 0x0");
  await tab.sees("note.txt: text beginning with");
  const list = tab.page.locator(".rejected li:visible");
  assert.equal(await list.count(), 3);
  const text = await tab.page.locator(".rejected").innerText();
  assert.ok(text.includes("ls -l 'cut off.dmp'"), text);
  assert.ok(text.includes(`7z x 'it'\\''s here.7z'`), text);
  assert.equal(await tab.page.locator(".notice").count(), 0, "the list says it once");
  await chrome.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await tab.page.locator(".rejected li", { hasText: "cut off" }).getByRole("button", { name: "Copy" }).click();
  await tab.page.waitForFunction(async () => (await navigator.clipboard.readText()) === "ls -l 'cut off.dmp'");
});

test("while symbols are being read the page says so, and does not call them missing", async () => {
  await tab.drop([dump]);
  await tab.sees("Missing symbols:");
  // Note what the page shows each time it is drawn, from the drop on.
  await tab.page.evaluate(() => {
    globalThis.seen = [];
    new MutationObserver(() => {
      const reading = document.querySelector(".verdict-quality")?.innerText.includes("Reading symbols");
      // "Missing symbols" alone is the name of a tab. The button has a number after it.
      globalThis.seen.push({ reading, missing: /No symbols for|Missing symbols:/.test(document.querySelector(".crash").innerText) });
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`syms/other${i}.sym`, `MODULE Linux x86_64 ${String(i).padStart(33, "0")} other${i}\nFUNC 1000 10 0 f\n`]));
  await put(many);
  for (const path of symbols) await put({ [`syms/${path.split("/").at(-1)}`]: await readFile(inRepo(path)) });
  await tab.drop([join(dir, "syms")]);
  await tab.sees("tile::blend_edges");
  await tab.page.waitForFunction(() => !document.querySelector(".verdict-quality").innerText.includes("Reading symbols"));
  const seen = await tab.page.evaluate(() => globalThis.seen);
  assert.ok(seen.some((s) => s.reading), "it says that it reads symbols");
  assert.deepEqual(seen.filter((s) => s.reading && s.missing), []);
});

test("after a reload the page says which dump its address is about, and opens it at the place under any name", async () => {
  const whole = await readFile(inRepo(dump));
  const later = Buffer.from(whole);
  later.writeUInt32LE(whole.readUInt32LE(20) + 3600, 20); // the header's time
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  await tab.page.locator("#stack .row.frame").nth(2).click();
  await hashHas("frame=2");
  const place = await selected();
  await tab.page.reload();
  await tab.ready();
  assert.match(await tab.text(), /This address is about a dump that is not open: tilecruncher\.dmp, id [0-9a-f]{16}, signature libtilecodec\.so\. Drop it to see the same place\./);
  await tab.drop(await put({ "later.dmp": later }));
  await tab.sees("This is not the dump of the address, which is tilecruncher.dmp");
  await tab.drop(await put({ "renamed.dmp": whole }));
  await tab.page.waitForFunction((t) => document.querySelector("#stack .selected .fn")?.innerText === t, place);
  await hashHas("dump=renamed.dmp");
  await hashHas("frame=2");
});

test("a link without names has only the dump's id and the place", async () => {
  await chrome.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  const copied = async (item) => {
    await tab.page.click("#menu-copy");
    await tab.page.getByRole("menuitem", { name: item }).click();
    await tab.sees("Link copied");
    return tab.page.evaluate(() => navigator.clipboard.readText());
  };
  assert.match(await copied("Link without names"), /^http:\/\/127\.0\.0\.1:\d+\/#id=[0-9a-f]{16}&thread=5$/);
  assert.match(await copied("Link with the dump"), /#dump=tilecruncher\.dmp&id=[0-9a-f]{16}&crash=libtilecodec\.so&thread=5$/);
});
