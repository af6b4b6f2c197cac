// The page as one file: opened from disk without a network, it does everything that the hosted page
// does, and its policy forbids every request.
import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { inRepo, startChrome } from "./harness.mjs";

const dump = "testdata/sample/tilecruncher.dmp";
const symbols = ["tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((name) => `testdata/sample/${name}`);

let chrome;
let dir;
let page;
before(async () => {
  chrome = await startChrome();
  // Alone in a folder, and under another name: it must not need other files.
  dir = await mkdtemp(join(tmpdir(), "crashpane-single-"));
  await copyFile(inRepo("dist/crashpane.html"), join(dir, "a crash viewer.html"));
  page = pathToFileURL(join(dir, "a crash viewer.html")).href;
  await chrome.context.setOffline(true);
});
after(async () => {
  await chrome?.close();
  await rm(dir, { recursive: true, force: true });
});

// All requests, on the wire and of the page, except for the file itself.
const asked = (tab) => tab.foreign.filter((r) => r.url !== page);

test("opened from disk and without a network it reads a dump and its symbols", async () => {
  const tab = await chrome.open(page);
  await tab.drop([dump]);
  await tab.sees("stitch-1");
  await tab.drop(symbols);
  await tab.sees("tile::blend_edges");
  await tab.sees("codec.cc:33");
  await tab.sees("__clone3");
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(asked(tab), []);
  await tab.close();
});

test("dropped folders are read, with a dump and alone", async () => {
  const crash = join(dir, "a crash");
  await mkdir(join(crash, "symbols", "deep"), { recursive: true });
  for (const path of symbols) await copyFile(inRepo(path), join(crash, "symbols", "deep", path.split("/").at(-1)));
  const tab = await chrome.open(page);
  await tab.drop([dump, join(crash, "symbols")]);
  await tab.sees("tile::blend_edges");
  await tab.sees("__clone3");
  await copyFile(inRepo(dump), join(crash, "crash.dmp"));
  const other = await chrome.open(page);
  await other.drop([crash]);
  await other.sees("tile::blend_edges");
  for (const one of [tab, other]) {
    assert.deepEqual(one.problems, []);
    assert.equal(await one.page.locator(".notice").count(), 0);
    await one.close();
  }
});

test("the page names a folder that the browser does not list, with a button that opens the chooser", async () => {
  const folder = join(dir, "kept from us");
  await mkdir(folder);
  const tab = await chrome.open(page);
  // As in a browser in which a page from a file cannot list a folder in either way.
  await tab.page.evaluate(() => {
    delete DataTransferItem.prototype.getAsFileSystemHandle;
  });
  await tab.drop([dump, folder]);
  await tab.sees("stitch-1");
  await tab.sees("The folder /kept from us cannot be read");
  const choosing = tab.page.waitForEvent("filechooser");
  await tab.page.getByRole("button", { name: "Choose the folder" }).click();
  assert.ok(await choosing);
  await tab.close();
});

test("the file has the sample", async () => {
  const tab = await chrome.open(page);
  await tab.page.getByRole("button", { name: "Open the sample" }).click();
  await tab.sees("tile::blend_edges");
  await tab.sees("SIGSEGV");
  await tab.page.waitForFunction(() => location.hash.includes("dump=tilecruncher"));
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(asked(tab), []);
  await tab.close();
});

test("the file has the readers of binaries", async () => {
  const head = Buffer.alloc(64);
  head.write("\x7fELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(3, 16);
  head.writeUInt16LE(62, 18);
  await writeFile(join(dir, "libsomething.so"), head);
  const tab = await chrome.open(page);
  await tab.drop([dump, ...symbols, join(dir, "libsomething.so")]);
  await tab.sees("tile::blend_edges");
  await tab.page.waitForFunction(() => !document.querySelector(".job:not([hidden])"));
  await tab.part("files");
  await tab.sees("libsomething.so");
  assert.ok(!(await tab.text()).includes("could not be loaded"));
  assert.deepEqual(asked(tab), []);
  await tab.close();
});

test("its policy forbids every request, even with a network", async () => {
  let reached = 0;
  const elsewhere = http.createServer((_, response) => {
    reached++;
    response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  });
  await new Promise((done) => elsewhere.listen(0, "127.0.0.1", done));
  await chrome.context.setOffline(false);
  const tab = await chrome.open(page);
  const outcome = await tab.page.evaluate(async (url) => {
    const tried = {};
    tried.fetch = await fetch(url).then(() => "reached", () => "stopped");
    tried.image = await new Promise((done) => {
      const image = new Image();
      image.onload = () => done("reached");
      image.onerror = () => done("stopped");
      image.src = url;
    });
    tried.worker = await new Promise((done) => {
      const text = `fetch(${JSON.stringify(url)}, { mode: "no-cors" }).then(() => postMessage("reached"), () => postMessage("stopped"))`;
      const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => done(data);
    });
    tried.script = await new Promise((done) => {
      const script = document.createElement("script");
      script.onload = () => done("reached");
      script.onerror = () => done("stopped");
      script.src = url;
      document.head.append(script);
    });
    return tried;
  }, `http://127.0.0.1:${elsewhere.address().port}/`);
  assert.deepEqual(outcome, { fetch: "stopped", image: "stopped", worker: "stopped", script: "stopped" });
  assert.equal(reached, 0);
  await tab.close();
  await new Promise((done) => elsewhere.close(done));
});
