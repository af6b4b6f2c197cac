// Large symbol files: the engine searches them first, workers index them later, frames are
// corrected if a file was not sorted, indexes are stored if the user wants it, and nothing is sent.
import assert from "node:assert/strict";
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { createGzip } from "node:zlib";
import { grownSymbols } from "./grown.mjs";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const dump = "testdata/sample/tilecruncher.dmp";
const others = ["testdata/sample/libtilecodec.so.sym", "testdata/sample/libc.so.6.sym.gz"];
// A function on the crashed thread's stack.
const onStack = "Pipeline::start()::{lambda()#5}>::_M_invoke";

let site;
let chrome;
let dir;
let tab;
let workers; // how many were started since the page was opened, but for the engine
before(async () => {
  site = await startSite();
  chrome = await startChrome();
  dir = await mkdtemp(join(tmpdir(), "crashpane-exact-"));
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await rm(dir, { recursive: true, force: true });
});
async function visit() {
  tab = await chrome.open(site.origin);
  // The page can be ready before the browser reports the engine's worker.
  if (tab.page.workers().length === 0) await tab.page.waitForEvent("worker");
  workers = 0;
  tab.page.on("worker", () => workers++);
}
async function leave() {
  const { problems, foreign, requests } = tab;
  await tab.close();
  assert.deepEqual(problems, []);
  assert.deepEqual(foreign, []);
  assert.ok(requests.every((r) => r.method === "GET" && r.body === 0), "nothing but the page's own files is asked for");
}
beforeEach(visit);
afterEach(leave);

const put = async (name, megabytes, options) => grownSymbols(join(dir, name), megabytes, options);

// Returns the page's word for the symbols of the sample's program.
const state = () =>
  tab.page.evaluate(() => {
    const rows = [...document.querySelectorAll("#modules .row")];
    return rows.find((r) => r.querySelector(".fn").textContent === "tilecruncher")?.querySelector(".state span")?.textContent.split(":")[0] ?? "";
  });
const becomes = async (word) => {
  for (const until = Date.now() + 60_000; (await state()) !== word; ) {
    assert.ok(Date.now() < until, `the symbols of tilecruncher are said to be ${await state()}, not ${word}`);
    await tab.page.waitForTimeout(20);
  }
};

test("the crashed thread is shown before the file is fully indexed, and again after it", async () => {
  await tab.drop([dump, ...others, await put("tilecruncher.sym", 200)]);
  await tab.sees("main.cc:156");
  assert.ok(["indexed on demand", ""].includes(await state()), "the stack does not wait for the pass");
  await becomes("indexed on demand");
  await becomes("loaded");
  assert.ok(workers > 0, "workers have read it");
  assert.equal(tab.page.workers().length, 1, "they have ended, and their memory with them");
  const read = await tab.page.workers()[0].evaluate(() => globalThis.crashpaneWorker.read.bytes);
  assert.ok(read < 64 << 20, `the engine itself has read ${read} bytes of 200 MB`);
  assert.equal(await tab.page.locator(".notice").count(), 0, "a sorted file needs no correction");
});

test("frames from a file that is not sorted are corrected and highlighted", async () => {
  await tab.page.evaluate(() => {
    globalThis.marked = new Set();
    new MutationObserver(() => document.querySelectorAll("#stack .row.changed").forEach((r) => globalThis.marked.add(r.textContent))).observe(
      document.body,
      { subtree: true, childList: true, attributes: true, characterData: true },
    );
  });
  await tab.drop([dump, ...others, await put("tilecruncher.sym", 40, { moved: onStack })]);
  await tab.sees("tile::blend_edges");
  await becomes("loaded");
  await tab.sees("for a moment. The symbol file is not sorted");
  await tab.sees("main.cc:156");
  const marked = await tab.page.evaluate(() => [...globalThis.marked]);
  assert.ok(marked.some((row) => row.includes("main.cc:156")), `marked rows: ${marked.join(" | ")}`);
});

test("the user can stop indexing at once, and the stack stays", async () => {
  await tab.drop([dump, ...others, await put("tilecruncher.sym", 700)]);
  const stop = tab.page.locator('[data-act="stop-indexing"]');
  const took = await tab.pressWhen('.background:not([hidden]):has([data-act="stop-indexing"]:not([hidden]))', /./, '[data-act="stop-indexing"]');
  await stop.waitFor({ state: "hidden" });
  console.log(`stopped within ${took.toFixed(1)} ms`);
  assert.ok(took < 100, `stopping took ${took} ms`);
  for (const until = Date.now() + 5_000; tab.page.workers().length > 1 && Date.now() < until; ) await tab.page.waitForTimeout(20);
  assert.equal(tab.page.workers().length, 1, "the workers have ended");
  assert.equal(await state(), "indexed on demand");
  await tab.sees("main.cc:156");
});

test("a worker that ends without a word while it indexes is noticed", async () => {
  const ended = new Promise((resolve) =>
    tab.page.once("worker", (worker) => worker.evaluate(() => void setTimeout(() => self.close(), 100)).then(resolve)),
  );
  await tab.drop([dump, ...others, await put("tilecruncher.sym", 200)]);
  await ended;
  await tab.sees("nothing says why");
  await tab.page.locator(".background").waitFor({ state: "hidden" });
  assert.equal(await state(), "indexed on demand");
  await tab.sees("main.cc:156");
});

test("an index is stored at the request of the user, used at the next visit, and deleted", async () => {
  const files = [dump, ...others, await put("tilecruncher.sym", 100)];
  await tab.drop(files);
  await becomes("loaded");
  await tab.part("files");
  await tab.sees("No indexes kept");
  const databases = () => tab.page.evaluate(async () => (await indexedDB.databases()).length);
  assert.equal(await databases(), 0, "without being asked, nothing is stored");
  await leave();

  await visit();
  await tab.drop([files[0]]);
  await tab.page.locator("#stack .row").first().waitFor();
  await tab.part("files");
  await tab.page.locator('[data-act="keep"]').click();
  assert.equal(await tab.page.locator('[data-act="keep"]').getAttribute("aria-checked"), "true");
  await tab.page.locator("#tab-modules").click();
  await tab.drop(files.slice(1));
  await becomes("loaded");
  await tab.part("files");
  await tab.page.waitForFunction(() => /^Delete indexes \(.*[KM]B?\)/.test(document.querySelector('[data-act="clear-kept"]').textContent));
  await leave();

  await visit();
  await tab.drop(files);
  await becomes("loaded");
  assert.equal(workers, 0, "no worker reads the file");
  const read = await tab.page.workers()[0].evaluate(() => globalThis.crashpaneWorker.read.bytes);
  console.log(`with a kept index ${read} of ${100 << 20} bytes are read`);
  assert.ok(read < 25 << 20, `${read} bytes were read`);
  await tab.sees("main.cc:156");
  await tab.part("files");
  await tab.page.locator('[data-act="clear-kept"]').click();
  await tab.sees("No indexes kept");
  await leave();

  await visit();
  await tab.drop(files);
  await becomes("loaded");
  assert.ok(workers > 0, "what was cleared is read again");
});

test("a damaged stored index is not used", async () => {
  const files = [dump, ...others, await put("tilecruncher.sym", 40)];
  await tab.page.evaluate(() => localStorage.setItem("crashpane.keep", "yes"));
  await leave();
  await visit();
  await tab.drop(files);
  await becomes("loaded");
  await tab.part("files");
  await tab.sees("Delete indexes (");
  const damaged = await tab.page.evaluate(async () => {
    const opened = await new Promise((done) => Object.assign(indexedDB.open("crashpane"), { onsuccess: (e) => done(e.target.result) }));
    const transaction = opened.transaction("indexes", "readwrite");
    const store = transaction.objectStore("indexes");
    let count = 0;
    await new Promise((done) => {
      transaction.oncomplete = done;
      store.openCursor().onsuccess = ({ target: { result: cursor } }) => {
        if (!cursor) return;
        count++;
        const bytes = cursor.value;
        for (let i = 40; i < bytes.length; i += 977) bytes[i] ^= 0x55;
        cursor.update(bytes);
        cursor.continue();
      };
    });
    opened.close();
    return count;
  });
  assert.ok(damaged > 0, "an index is stored");
  await leave();
  await visit();
  await tab.drop(files);
  await becomes("loaded");
  assert.ok(workers > 0, "the file is read again");
  await tab.sees("main.cc:156");
  await tab.page.evaluate(() => localStorage.removeItem("crashpane.keep"));
});

test("several large files are indexed in parallel", async () => {
  const codec = await put("libtilecodec.so.sym", 30, { from: others[0] });
  await tab.drop([dump, await put("tilecruncher.sym", 60), codec, others[1]]);
  await becomes("loaded");
  await tab.page.waitForFunction(() => {
    const words = [...document.querySelectorAll("#modules .row .state span")].map((e) => e.textContent.split(":")[0]);
    return words.includes("loaded") && !words.includes("indexed on demand");
  });
  await tab.sees("main.cc:156");
  await tab.sees("codec.cc:33");
});

test("a large compressed file is indexed in the same way, with the same memory", async () => {
  const plain = await put("tilecruncher.sym", 200, { moved: onStack, lines: 16 });
  const packed = join(dir, "packed.sym.gz");
  await pipeline(createReadStream(plain), createGzip({ level: 1 }), createWriteStream(packed));
  await rm(plain);
  // The engine answers during indexing: select a thread while the symbols are indexed on demand,
  // and note their state when its stack is there.
  const meanwhile = tab.page.evaluate(
    () =>
      new Promise((done) => {
        const state = () =>
          [...document.querySelectorAll("#modules .row")].find((r) => r.querySelector(".fn").textContent === "tilecruncher")?.querySelector(".state span")?.textContent.split(":")[0];
        const stack = () => document.querySelector("#stack").textContent;
        let before = "";
        const look = () => {
          if (before !== "" && stack() !== before) return done(state());
          if (before === "" && state() === "indexed on demand") {
            before = stack();
            document.querySelectorAll('#threads [role="option"]')[1].click();
          }
          requestAnimationFrame(look);
        };
        look();
      }),
  );
  await tab.drop([dump, ...others, packed]);
  assert.equal(await meanwhile, "indexed on demand", "a thread is shown before the pass is over");
  await tab.page.locator('#threads [role="option"]').first().click();
  await becomes("loaded");
  await tab.sees("for a moment. The symbol file is not sorted");
  const peak = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  console.log(`200 MB of packed symbols: ${(peak / 2 ** 20).toFixed(0)} MB of memory at most`);
  assert.ok(peak < 128 * 2 ** 20, `${peak} bytes of memory`);
  assert.ok(workers > 0, "workers have read what was unpacked");
});

// Makes a zstd frame of a file, with blocks that are not compressed (RFC 8878, 3.1.1): magic
// number, no options, a window of 2 MB, blocks of 128 KiB.
async function* zstd(chunks) {
  yield Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += 128 << 10) {
      const block = chunk.subarray(at, at + (128 << 10));
      const head = block.length << 3;
      yield Buffer.concat([Buffer.from([head & 255, (head >> 8) & 255, head >> 16]), block]);
    }
  }
  yield Buffer.from([1, 0, 0]); // the last one
}

test("a large file that can only be unpacked from its start is not held in memory", async () => {
  const plain = await put("tilecruncher.sym", 200, { moved: onStack, lines: 16 });
  const packed = join(dir, "packed.sym.zst");
  await pipeline(createReadStream(plain, { highWaterMark: 1 << 20 }), zstd, createWriteStream(packed));
  await rm(plain);
  await tab.drop([dump, ...others, packed]);
  await tab.sees("tile::blend_edges", { timeout: 120_000 });
  const peak = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  console.log(`200 MB of symbols in .zst: ${(peak / 2 ** 20).toFixed(0)} MB of memory at most`);
  assert.ok(peak < 128 * 2 ** 20, `${peak} bytes of memory`);
});

test("only the visible parts of a dump of several gigabytes are read", async () => {
  // The rest of the file is a hole, which takes no disk space; reading all of it would take
  // seconds.
  const path = join(dir, "full.dmp");
  await copyFile(inRepo(dump), path);
  await truncate(path, 6 * 2 ** 30);
  await tab.drop([path, ...others, "testdata/sample/tilecruncher.sym.gz"]);
  await tab.sees("codec.cc:33");
  await tab.page.locator("#tab-memory").click();
  await tab.page.waitForFunction(() => document.querySelectorAll("#grid .row").length > 3);
  const read = await tab.page.workers()[0].evaluate(() => globalThis.crashpaneWorker?.read);
  console.log(`${read.bytes} bytes in ${read.slices} slices of 6 GB and 2 MB of symbols`);
  assert.ok(read.bytes < 16 << 20, `${read.bytes} bytes were read`);
});
