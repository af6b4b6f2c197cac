// The engine's program: its worker fetches it when the page has its own, files wait for it, and all
// kinds of files are read by it.
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
  // A service worker would have the program already.
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

const fetched = (tab) => tab.requests.filter((r) => r.url.includes("crashpane-engine")).length;

// Holds the program back until the function that it returns is called.
async function hold() {
  let go;
  const held = new Promise((done) => (go = done));
  await chrome.context.route("**/crashpane-engine*", async (route) => {
    await held;
    await route.continue().catch(() => {});
  });
  return async () => {
    go();
    await chrome.context.unroute("**/crashpane-engine*");
  };
}

test("the program is fetched once, and reads dumps, symbol files and binaries", async () => {
  const tab = await chrome.open(site.origin);
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  assert.equal(fetched(tab), 1);
  await tab.part("files");
  await tab.drop([await library("libsomething.so")]);
  await tab.sees("libsomething.so");
  await tab.sees("tile::blend_edges");
  assert.equal(fetched(tab), 1, "it is here already");
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(tab.foreign, []);
  await tab.close();
});

test("the start screen's picture waits for the program", async () => {
  const release = await hold();
  const tab = await chrome.open(site.origin);
  const picture = () => tab.asked.some((r) => r.url.endsWith(".webp"));
  await tab.page.waitForTimeout(1500);
  assert.ok(!picture(), "the picture is fetched before the program");
  await release();
  for (let tries = 0; !picture() && tries < 100; tries++) await tab.page.waitForTimeout(100);
  assert.ok(picture(), "the picture is never fetched");
  await tab.close();
});

test("symbol files in .zst are read", async () => {
  const text = gunzipSync(await readFile(inRepo("testdata/sample/tilecruncher.sym.gz")));
  const path = join(dir, "tilecruncher.sym.zst");
  await writeFile(path, zstd(text));
  const tab = await chrome.open(site.origin);
  await tab.drop([dump, path]);
  await tab.sees("std::_Function_handler");
  assert.deepEqual(tab.problems, []);
  await tab.close();
});

test("files wait for the program, and the page says how much of it has arrived", async () => {
  const go = await hold();
  const tab = await chrome.open(site.origin);
  await tab.sees("The engine is still loading.");
  await tab.drop([dump, ...symbols]);
  await tab.sees("Loading the engine");
  await tab.page.click(".job [data-act=cancel]");
  await tab.sees("Cancelled: 3 files left out.");
  await tab.drop([dump, ...symbols]);
  await go();
  await tab.sees("tile::blend_edges");
  assert.deepEqual(tab.problems, []);
  await tab.close();
});

test("where the program cannot be had, the page says so, and tries again with the same files", async () => {
  await chrome.context.route("**/crashpane-engine*", (route) => route.abort());
  const tab = await chrome.open(site.origin);
  await tab.drop([dump, ...symbols]);
  await tab.sees("Crashpane could not load its engine");
  await chrome.context.unroute("**/crashpane-engine*");
  await tab.page.getByRole("button", { name: "Try again" }).click();
  await tab.sees("tile::blend_edges");
  // Chromium logs the failed requests.
  assert.deepEqual(tab.problems.filter((p) => !p.includes("ERR_FAILED")), []);
  await tab.close();
});

test("the page works offline once it says so", async () => {
  const other = await startSite();
  const tab = await chrome.open(other.origin);
  await tab.sees("Turn the network off: everything still works.");
  // The last file that a page fetches by itself, after it is ready: crashpane-app.js has the start screen show it.
  await tab.page.waitForFunction(() => performance.getEntriesByType("resource").some((r) => /page-(light|dark)/.test(r.name)));
  await other.stop();
  await tab.drop([dump, ...symbols, await library("libagain.so")]);
  await tab.part("files");
  await tab.page.waitForFunction(() => /libagain\.so\s+binary/.test(document.querySelector("#files")?.innerText));
  await tab.sees("tile::blend_edges");
  assert.deepEqual(tab.problems, []);
  await tab.close();
});

// The page as one file, and the package, pass the programs in other forms than addresses.
test("the loader accepts the program as bytes", async () => {
  const tab = await chrome.open(site.origin);
  await tab.page.evaluate(() => {
    const { wasm, engine, worker } = document.querySelector("script[data-engine]").dataset;
    const root = document.createElement("div");
    root.id = "another";
    document.body.append(root);
    window.asked = 0;
    startCrashpane({
      wasm: fetch(wasm).then((response) => response.arrayBuffer()),
      engine: async () => {
        window.asked++;
        return (await fetch(engine)).arrayBuffer();
      },
      makeWorker: () => new Worker(worker),
      root,
    });
  });
  await tab.page.waitForSelector("#another .start-drop", { timeout: 30_000 });
  await tab.choose("#another [data-choose=files]", [dump]);
  await tab.page.waitForSelector("#another #stack .row");
  await tab.choose("#another [data-choose=files]", [await library("libbytes.so")]);
  await tab.part("files", "#another");
  await tab.page.waitForFunction(() => /libbytes\.so\s+binary/.test(document.querySelector("#another #files")?.innerText));
  assert.equal(await tab.page.evaluate(() => window.asked), 1);
  assert.deepEqual(tab.problems, []);
  await tab.close();
});
