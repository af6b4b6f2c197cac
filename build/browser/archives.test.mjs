// Large compressed symbol files: the browser unpacks them once, outside of the programs' memory,
// and the user sees the progress and can cancel. The page reports damaged, truncated and too large
// data, and uses what is intact.
import assert from "node:assert/strict";
import { readFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { deflateRawSync, gunzipSync, gzipSync } from "node:zlib";
import { grownSymbols } from "./grown.mjs";
import { inRepo, startChrome, startSite } from "./harness.mjs";
import { zip } from "./zip.mjs";

const dump = "testdata/sample/tilecruncher.dmp";
const others = ["testdata/sample/libtilecodec.so.sym", "testdata/sample/libc.so.6.sym.gz"];

let site;
let chrome;
let dir;
let tab;
let text; // a symbol file of 60 MB
before(async () => {
  site = await startSite();
  chrome = await startChrome();
  dir = await mkdtemp(join(tmpdir(), "crashpane-archives-"));
  const path = await grownSymbols(join(dir, "tilecruncher.sym"), 60);
  text = await readFile(path);
  await rm(path);
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  tab = await chrome.open(site.origin);
});
afterEach(async () => {
  const { problems, foreign } = tab;
  await tab.close();
  assert.deepEqual(problems, []);
  assert.deepEqual(foreign, []);
});

const put = async (name, ...parts) => {
  const path = join(dir, name);
  await writeFile(path, Buffer.concat(parts));
  return path;
};
const gz = (data) => gzipSync(data, { level: 1 });

const word = () =>
  tab.page.evaluate(() => {
    const rows = [...document.querySelectorAll("#modules .row")];
    return rows.find((r) => r.querySelector(".fn").textContent === "tilecruncher")?.querySelector(".state span")?.textContent.split(":")[0] ?? "";
  });
const becomes = async (want) => {
  for (const until = Date.now() + 60_000; (await word()) !== want; ) {
    assert.ok(Date.now() < until, `the symbols of tilecruncher are said to be ${await word()}, not ${want}`);
    await tab.page.waitForTimeout(20);
  }
};
const read = () => tab.page.workers()[0].evaluate(() => globalThis.crashpaneWorker.read.bytes);
const peak = () => tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak / 2 ** 20);

// Counts the workers, and notes the values of the progress bar.
async function noteBars() {
  let workers = 0;
  tab.page.on("worker", () => workers++);
  await tab.page.evaluate(() => {
    globalThis.bars = new Set();
    const look = () => {
      const bar = document.querySelector(".job:not([hidden]) .job-bar");
      if (bar) globalThis.bars.add(bar.getAttribute("value"));
      requestAnimationFrame(look);
    };
    look();
  });
  return { workers: () => workers, bars: () => tab.page.evaluate(() => [...globalThis.bars]) };
}

for (const [name, make] of [
  ["tilecruncher.sym.gz", () => gz(text)],
  ["symbols.zip", () => zip({ name: "a/tilecruncher.sym", data: text }, { name: "b/libfar.so.sym", data: Buffer.from("MODULE Linux x86_64 000000000000000000000000000000010 libfar.so\n") })],
]) {
  test(`${name}: is unpacked once, the bar moves, and several workers index it`, async () => {
    const packed = make();
    const path = await put(name, packed);
    const noted = await noteBars();
    await tab.drop([dump, ...others, path]);
    await tab.sees("main.cc:156", { timeout: 60_000 });
    const [bytes, memory, bars] = [await read(), await peak(), await noted.bars()];
    console.log(`${name}: ${bytes} bytes read for ${packed.length}, ${memory.toFixed(0)} MB of memory; the bar stood at ${bars.length} places`);
    assert.ok(bytes < packed.length + (30 << 20), `${bytes} bytes were read of a file of ${packed.length}`);
    assert.ok(memory < 80, `${memory} MB`);
    await becomes("loaded");
    assert.ok(noted.workers() > 0, "workers have read what was unpacked");
    // libfar.so is no module of the dump.
    const notices = await tab.page.locator(".notice").allInnerTexts();
    assert.equal(notices.length, name.endsWith(".zip") ? 1 : 0, notices.join());
    assert.ok(notices.every((text) => text.includes("libfar.so.sym is not used")), notices.join());
  });
}

test("all members of a gzip file are read", async () => {
  const half = text.indexOf("\n", text.length / 2) + 1;
  await tab.drop([dump, ...others, await put("tilecruncher.sym.gz", gz(text.subarray(0, half)), gz(text.subarray(half)))]);
  await tab.sees("main.cc:156", { timeout: 60_000 });
  await becomes("loaded");
});

test("damaged and truncated data is reported, and the data before it is used", async () => {
  const whole = gz(text);
  const broken = Buffer.from(whole);
  broken[broken.length - 6] ^= 1;
  for (const [data, said] of [
    [broken, "the checksum does not match"],
    [whole.subarray(0, whole.length - 5000), "the end of the file in the middle of the data"],
  ]) {
    await tab.drop([dump, ...others, await put("tilecruncher.sym.gz", data)]);
    await tab.part("files");
    await tab.sees(said, { timeout: 60_000 });
    await tab.sees("main.cc:156", { timeout: 60_000 });
    await tab.close();
    tab = await chrome.open(site.origin);
  }
  // A member of a zip is unpacked when a stack needs it.
  await tab.drop([dump, ...others, await put("wrong.zip", zip({ name: "tilecruncher.sym", data: text, sum: 1 }))]);
  await becomes("damaged");
  await tab.part("files");
  await tab.sees("the checksum does not match");
});

test("a file with an implausible compression ratio is refused", async () => {
  const zeros = Buffer.alloc(400 << 20);
  await tab.drop([dump, await put("bomb.sym.gz", gzipSync(zeros, { level: 9 }))]);
  await tab.part("files");
  await tab.sees("it unpacks to implausibly many times its size", { timeout: 60_000 });
  assert.ok((await peak()) < 128, `${await peak()} MB`);
  await tab.drop([await put("bomb.zip", zip({ name: "a.sym", data: Buffer.alloc(30 << 20), packed: deflateRawSync(zeros, { level: 9 }) }))]);
  await tab.sees("bomb.zip/a.sym");
  assert.ok((await peak()) < 128, `${await peak()} MB`);
});

test("what was refused is unpacked if the user wants it", async () => {
  const padded = Buffer.concat([gunzipSync(await readFile("testdata/sample/tilecruncher.sym.gz")), Buffer.alloc(70 << 20, `INFO ${"x".repeat(1000)}\n`)]);
  const path = await put("tilecruncher.sym.gz", gzipSync(padded, { level: 9 }));
  await tab.drop([dump, ...others, path]);
  await tab.page.locator(".notice", { hasText: "it unpacks to implausibly many times its size" }).waitFor({ timeout: 60_000 });
  assert.equal(await word(), "missing");
  await tab.page.locator(".notice", { hasText: "implausibly" }).getByText("Unpack it anyway").click();
  await becomes("loaded");
  await tab.sees("main.cc:156");
  assert.equal(await tab.page.locator(".notice", { hasText: "implausibly" }).count(), 0);
  assert.ok((await peak()) < 128, `${await peak()} MB`);
});

test("without DecompressionStream the program unpacks it with the same result", async () => {
  const old = await startChrome({ serviceWorkers: "block" });
  await old.context.route("**/crashpane-worker*.js", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: `delete self.DecompressionStream;\n${await answer.text()}` });
  });
  const newer = tab;
  tab = await old.open(site.origin);
  try {
    for (const [name, data] of [["tilecruncher.zip", zip({ name: "tilecruncher.sym", data: text })], ["tilecruncher.sym.gz", gz(text)]]) {
      const noted = await noteBars();
      await tab.drop([dump, ...others, await put(name, data)]);
      await tab.sees("main.cc:156", { timeout: 60_000 });
      await becomes("loaded");
      const [bytes, memory, bars] = [await read(), await peak(), await noted.bars()];
      console.log(`${name}: ${bytes} bytes read for ${data.length}, ${memory.toFixed(0)} MB of memory; the bar stood at ${bars.length} places`);
      assert.ok(noted.workers() > 0, "workers have read what was unpacked");
      assert.ok(bars.length > 2, `the bar stood at ${bars}`);
      assert.ok(memory < 100, `${memory} MB`);
      await tab.close();
      tab = await old.open(site.origin);
    }
    assert.deepEqual(tab.problems, []);
  } finally {
    await old.close();
    tab = newer;
  }
});

test("the dump of an archive is shown while what takes long is unpacked, also where that comes first", async () => {
  // Its last member is small, so it is not known to be large, and not left to the browser's inflater.
  const slow = Buffer.concat([gz(Buffer.alloc(400 << 20, text.subarray(0, 20_000))), gz(Buffer.from("\n"))]);
  await tab.drop([await put("all.zip", zip({ name: "slow.sym.gz", data: slow }, { name: "tilecruncher.dmp", data: await readFile(inRepo(dump)) }))]);
  await tab.page.waitForFunction(
    () => document.querySelectorAll("#stack .row").length > 3 && document.querySelector(".job:not([hidden])")?.textContent.includes("Unpacking slow.sym"),
    undefined,
    { timeout: 30_000, polling: 20 },
  );
  // The page answers while it goes on.
  await tab.page.keyboard.press("j");
  await tab.page.waitForFunction(() => document.querySelector("#stack .row.selected, #stack .row[aria-selected=true]")?.textContent.trim().startsWith("1"));
  assert.ok(await tab.page.locator(".job:not([hidden])").count(), "the archive was unpacked before the page answered");
  await tab.page.waitForFunction(() => !document.querySelector(".job:not([hidden])"), undefined, { timeout: 60_000 });
});

test("unpacking is cancelled within 100 ms", async () => {
  const large = Buffer.concat(Array.from({ length: 12 }, () => text));
  for (const [name, data] of [["large.sym.gz", gz(large)], ["large.zip", zip({ name: "tilecruncher.sym", data: large })]]) {
    const path = await put(name, data);
    const took = [];
    // A busy machine may be slow once.
    for (let tries = 0; tries < 3 && !took.some((ms) => ms < 100); tries++) {
      await tab.drop([dump, path]);
      took.push(await tab.pressWhen(".job:not([hidden])", /Unpacking/, '[data-act="cancel"]'));
      await tab.sees("Cancelled: 1 file left out");
      await tab.page.locator("#stack .row").first().waitFor();
      await tab.close();
      tab = await chrome.open(site.origin);
    }
    console.log(`${name}: cancelled within ${took.map((ms) => ms.toFixed(1))} ms`);
    assert.ok(took.some((ms) => ms < 100), `cancelling took ${took} ms`);
  }
});
