// The full engine: it is fetched when a binary is dropped, and not before; it takes over what the
// first engine has shown.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const dump = "testdata/sample/tilecruncher.dmp";
const symbols = ["tilecruncher.sym.gz", "libtilecodec.so.sym"].map((name) => `testdata/sample/${name}`);

let site;
let chrome;
let dir;
before(async () => {
  site = await startSite();
  // A service worker would have fetched the full engine already.
  chrome = await startChrome({ serviceWorkers: "block" });
  dir = await mkdtemp(join(tmpdir(), "crashpane-readers-"));
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await rm(dir, { recursive: true, force: true });
});

// The header of an ELF library for amd64, and nothing after it.
async function library(name) {
  const head = Buffer.alloc(64);
  head.write("\x7fELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(3, 16);
  head.writeUInt16LE(62, 18);
  const path = join(dir, name);
  await writeFile(path, head);
  return path;
}

// Makes a zstd frame with blocks that are not compressed (RFC 8878, 3.1.1): a size of four bytes,
// one segment, no checksum.
function zstd(content) {
  const head = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  head.writeUInt32LE(content.length, 5);
  const parts = [head];
  for (let at = 0; at < content.length; at += 100_000) {
    const block = content.subarray(at, at + 100_000);
    const is = Buffer.alloc(4);
    is.writeUInt32LE((block.length << 3) | (at + block.length === content.length ? 1 : 0));
    parts.push(is.subarray(0, 3), block);
  }
  return Buffer.concat(parts);
}

const fetched = (tab) => tab.requests.filter((r) => r.url.includes("crashpane-full")).length;

test("a binary loads the full engine once, and everything else stays", async () => {
  const tab = await chrome.open(site.origin);
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  assert.equal(fetched(tab), 0, "dumps and symbol files need nothing more");
  await tab.page.click("#stack .row:nth-of-type(2)");
  await tab.page.click("#tab-files");
  await tab.drop([await library("libsomething.so")]);
  await tab.page.waitForFunction(() => !document.querySelector(".job:not([hidden])"));
  await tab.sees("libsomething.so");
  await tab.sees("tile::blend_edges");
  assert.equal(fetched(tab), 1);
  await tab.drop([await library("libother.so")]);
  await tab.sees("libother.so");
  assert.equal(fetched(tab), 1, "it is here already");
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(tab.foreign, []);
  await tab.close();
});

test("the full engine also reads symbol files in .zst", async () => {
  const text = gunzipSync(await readFile(inRepo("testdata/sample/tilecruncher.sym.gz")));
  const path = join(dir, "tilecruncher.sym.zst");
  await writeFile(path, zstd(text));
  const tab = await chrome.open(site.origin);
  await tab.drop([dump, path]);
  await tab.sees("std::_Function_handler");
  assert.deepEqual(tab.problems, []);
  await tab.close();
});

test("without the network the page says what could not be loaded, and the rest works", async () => {
  const tab = await chrome.open(site.origin);
  await tab.page.route("**/crashpane-full*", (route) => route.abort());
  await tab.drop([dump, await library("liblost.so")]);
  await tab.sees("Crashpane could not load its reader for liblost.so");
  await tab.drop(symbols);
  await tab.sees("tile::blend_edges");
  // Chromium logs the failed request.
  assert.deepEqual(tab.problems.filter((p) => !p.includes("ERR_FAILED")), []);
  await tab.close();
});

test("loading can be cancelled", async () => {
  const tab = await chrome.open(site.origin);
  let go;
  const held = new Promise((done) => (go = done));
  await tab.page.route("**/crashpane-full*", async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  await tab.drop([dump, await library("libslow.so")]);
  await tab.sees("Loading the reader for libslow.so");
  await tab.page.click(".job [data-act=cancel]");
  await tab.sees("Cancelled: 1 file left out.");
  go();
  await tab.drop(symbols);
  await tab.sees("tile::blend_edges");
  assert.deepEqual(tab.problems, []);
  await tab.close();
});

test("the full engine works offline once it was fetched", async () => {
  const other = await startSite();
  const first = await chrome.open(other.origin);
  await first.drop([dump, await library("libonce.so")]);
  await first.page.click("#tab-files");
  await first.sees("libonce.so");
  await first.page.waitForFunction(() => !document.querySelector(".job:not([hidden])"));
  const second = await chrome.open(other.origin);
  // The last file that a page fetches by itself, after it is ready.
  const done = () => performance.getEntriesByType("resource").some((r) => r.name.includes("crashpane-app"));
  await second.page.waitForFunction(done);
  await other.stop();
  await second.drop([dump, ...symbols, await library("libagain.so")]);
  await second.page.click("#tab-files");
  await second.page.waitForFunction(() => /libagain\.so\s+binary/.test(document.querySelector("#files")?.innerText));
  await second.sees("tile::blend_edges");
  assert.deepEqual(second.problems, []);
  await first.close();
  await second.close();
});

// The page as one file, and the package, pass the programs in other forms than addresses.
test("the loader accepts the full engine as bytes, and gets it only when it is needed", async () => {
  const tab = await chrome.open(site.origin);
  await tab.page.evaluate(() => {
    const { wasm, full, worker } = document.querySelector("script[data-full]").dataset;
    const root = document.createElement("div");
    root.id = "another";
    document.body.append(root);
    window.asked = 0;
    startCrashpane({
      wasm: fetch(wasm),
      full: async () => {
        window.asked++;
        return (await fetch(full)).arrayBuffer();
      },
      makeWorker: () => new Worker(worker),
      root,
    });
  });
  await tab.page.waitForSelector("#another .start-drop", { timeout: 30_000 });
  await tab.choose("#another [data-choose=files]", [dump]);
  await tab.page.waitForSelector("#another #stack .row");
  assert.equal(await tab.page.evaluate(() => window.asked), 0);
  await tab.choose("#another [data-choose=files]", [await library("libbytes.so")]);
  await tab.page.locator("#another #tab-files").click();
  await tab.page.waitForFunction(() => /libbytes\.so\s+binary/.test(document.querySelector("#another #files")?.innerText));
  assert.equal(await tab.page.evaluate(() => window.asked), 1);
  assert.deepEqual(tab.problems, []);
  await tab.close();
});
