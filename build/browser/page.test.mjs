// What a user does with the page, from the first drop to a damaged file; and that nothing is sent.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inRepo, startChrome } from "./harness.mjs";
import { chrome, dir, dump, put, setUp, site, symbols, tab, withTab } from "./setup.mjs";

setUp();

// Waits until there is no request for a while, and returns how many there were.
async function quiet({ ms = 600, kept = true } = {}) {
  // The service worker requests the page's own files once, after the first start.
  if (kept) await tab.kept();
  for (let before = -1; before !== tab.requests.length; ) {
    before = tab.requests.length;
    await tab.page.waitForTimeout(ms);
  }
  return tab.requests.length;
}

async function symbolized() {
  await tab.sees("tile::blend_edges");
  await tab.sees("codec.cc:33");
  await tab.sees("__clone3");
}

test("the sample opens by one click and shows a crash of several threads", async () => {
  await tab.page.getByRole("button", { name: "Open the sample" }).click();
  await symbolized();
  const text = await tab.text();
  for (const said of ["SIGSEGV", "0x4c", "stitch-1", "encode-0", "watchdog", "edge_offset", "main.cc:166"]) {
    assert.ok(text.includes(said), `the page shows ${said}`);
  }
  for (const { method, url, body } of tab.requests) {
    assert.equal(method, "GET", url);
    assert.equal(body, 0, url);
    assert.equal(new URL(url).search, "", url);
  }
});

async function readsBoth() {
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  assert.ok(!(await tab.text()).includes("tile::blend_edges"), "without symbols there are no names yet");
  await tab.drop(symbols);
  await symbolized();
}

test("a real dump and its symbols are read without a single request", async () => {
  // Without a service worker, because the browser checks for newer versions of one at any time; the
  // next test has one.
  const alone = await startChrome({ serviceWorkers: "block" });
  try {
    await withTab(await alone.open(site.origin), async () => {
      await tab.sees("Turn the network off"); // the engine's program is there
      const before = await quiet({ kept: false });
      await readsBoth();
      await quiet({ kept: false });
      assert.deepEqual(tab.requests.slice(before), []);
      assert.deepEqual(tab.problems.filter((text) => !text.includes("Service Worker")), []);
      assert.deepEqual(tab.foreign, []);
    });
  } finally {
    await alone.close();
  }
});

test("with a service worker the browser may check for a newer version, and requests nothing else", async () => {
  const before = await quiet();
  await readsBoth();
  await quiet();
  for (const { method, url, body, headers } of tab.requests.slice(before)) {
    assert.deepEqual({ method, url, body, by: headers["service-worker"] }, { method: "GET", url: `${site.origin}/sw.js`, body: 0, by: "script" });
  }
});

test("it works with the network off", async () => {
  await tab.sees("Turn the network off");
  await quiet();
  await chrome.context.setOffline(true);
  try {
    await tab.drop([dump, ...symbols]);
    await symbolized();
  } finally {
    await chrome.context.setOffline(false);
  }
});

test("all files of a folder are read, with any names and any number", async () => {
  const filler = Object.fromEntries(Array.from({ length: 230 }, (_, i) => [`many/deep/note${i}.txt`, `note ${i}`]));
  await put({ ...filler, "many/deep/zz/crash.bin": await readFile(inRepo(dump)) });
  for (const path of symbols) await put({ [`many/deep/${path.split("/").at(-1)}.dat`]: await readFile(inRepo(path)) });
  await tab.drop([join(dir, "many")]);
  await symbolized();
  await tab.sees("234");
});

test("the file chooser works too", async () => {
  await tab.choose("[data-choose=files]", [...symbols, dump]);
  await symbolized();
});

test("the page names a damaged file and the problem, and continues", async () => {
  const whole = await readFile(inRepo(dump));
  const paths = await put({
    "empty.dmp": "",
    "notes.txt": "just a note",
    "header.dmp": whole.subarray(0, 16),
    "truncated.dmp": whole.subarray(0, 3000),
  });
  await tab.drop(paths);
  await tab.sees("empty.dmp: an empty file");
  await tab.sees("notes.txt: text beginning with");
  await tab.sees("header.dmp: minidump header at offset 0x0");
  await tab.sees("truncated.dmp");
  await tab.page.reload();
  await tab.ready();
  await tab.drop([...paths.slice(0, 3), dump, ...symbols]);
  await symbolized();
});

test("several dumps stay open", async () => {
  const first = await readFile(inRepo(dump));
  const second = Buffer.from(first);
  second[20] ^= 1; // its time: equal dumps are one
  await tab.drop(await put({ "first.dmp": first, "second.dmp": second }));
  await tab.sees("of 2)");
});

test("a drop arrives even if the elements under it are drawn again", async () => {
  await tab.drop([dump]);
  await tab.sees("libtilecodec.so");
  // The rows below disappear between the last dragover event and the drop.
  await tab.page.evaluate(() => {
    const drawAnew = () =>
      queueMicrotask(() => document.querySelectorAll("#stack .row").forEach((row) => row.replaceWith(row.cloneNode(true))));
    for (const type of ["dragenter", "dragover"]) document.addEventListener(type, drawAnew, true);
  });
  await tab.drop(symbols);
  await symbolized();
  assert.equal(await tab.page.locator(".dropveil").isVisible(), false);
});

test("dragging files across the page and away changes nothing", async () => {
  await tab.dragAcross([dump]);
  await tab.page.waitForSelector(".dropveil", { state: "hidden" });
  await tab.sees("Open the sample");
  await tab.drop([dump, ...symbols]);
  await symbolized();
});
