// The hosted page as an installed application: it starts and works without its server, stores only
// its own files, opens files that the system passes to it, and says when there is a newer version.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const dump = "testdata/sample/tilecruncher.dmp";
const symbols = ["tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((name) => `testdata/sample/${name}`);

let site;
let chrome;
let dir;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-offline-"));
});
after(() => rm(dir, { recursive: true, force: true }));
beforeEach(async () => {
  site = await startSite();
  chrome = await startChrome();
});
afterEach(async () => {
  await chrome?.close();
  await site?.stop();
});

test("with the server stopped it starts, opens the sample, and reads dumps and binaries", async () => {
  const first = await chrome.open(site.origin);
  await first.kept();
  assert.deepEqual(first.problems, []);
  assert.deepEqual(first.foreign, []);
  await first.close();
  await site.stop();

  const tab = await chrome.open(`${site.origin}/?from=a-bookmark#tab=files`);
  await tab.page.getByRole("button", { name: "Open the sample" }).click();
  await tab.sees("tile::blend_edges");
  await tab.page.reload();
  await tab.ready();
  const head = Buffer.alloc(64);
  head.write("\x7fELF\x02\x01\x01", "latin1");
  head.writeUInt16LE(3, 16);
  head.writeUInt16LE(62, 18);
  await writeFile(join(dir, "libsomething.so"), head);
  await tab.drop([dump, ...symbols, join(dir, "libsomething.so")]);
  await tab.sees("codec.cc:33");
  await tab.sees("libsomething.so");
  assert.ok(!(await tab.text()).includes("could not be loaded"));
  assert.deepEqual(tab.foreign, []);
});

test("the service worker stores the files of the page and nothing else", async () => {
  const tab = await chrome.open(site.origin);
  await tab.kept();
  // Now the service worker controls the page.
  await tab.page.reload();
  await tab.ready();
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  await tab.page.evaluate(() => Promise.all(["licenses.txt", "none.0123abcd.js", "sample/none"].map((name) => fetch(name))));
  const kept = await tab.page.evaluate(async () => {
    const all = {};
    for (const name of await caches.keys()) all[name] = (await (await caches.open(name)).keys()).map((request) => request.url);
    return all;
  });
  assert.equal(Object.keys(kept).length, 1);
  const text = await readFile(inRepo("dist/site/sw.js"), "utf8");
  const listed = JSON.parse(/const files = (\[.*?\]);/.exec(text)[1]).map((name) => new URL(name, `${site.origin}/`).href);
  assert.deepEqual(Object.values(kept)[0].sort(), listed.sort());
  for (const { method, url, body } of tab.requests) {
    assert.equal(method, "GET", url);
    assert.equal(body, 0, url);
  }
});

test("it can be installed, and then opens dumps and symbols by a double click, without its server", async () => {
  const tab = await chrome.open(site.origin);
  await tab.kept();
  const { errors, data } = await tab.cdp.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const manifest = JSON.parse(data);
  assert.deepEqual(Object.values(manifest.file_handlers[0].accept).flat(), [".dmp", ".mdmp", ".sym", ".dylib", ".pdb", ".debug"]);
  const { installabilityErrors } = await tab.cdp.send("Page.getInstallabilityErrors");
  // An incognito window cannot install any page.
  assert.deepEqual(installabilityErrors.filter((e) => e.errorId !== "in-incognito"), []);
  const { appId: manifestId } = await tab.cdp.send("Page.getAppId");
  const system = await chrome.context.browser().newBrowserCDPSession();
  await system.send("PWA.install", { manifestId, installUrlOrBundleUrl: `${site.origin}/` });
  await site.stop();
  // As the system's file manager opens files of these types.
  const files = [join(dir, "opened.dmp"), join(dir, "opened.sym")];
  await cp(inRepo(dump), files[0]);
  await cp(inRepo("testdata/sample/libtilecodec.so.sym"), files[1]);
  const launch = async (file, wanted) => {
    await system.send("PWA.launchFilesInApp", { manifestId, files: [file] });
    const shown = async () => (await Promise.all(chrome.context.pages().map((page) => page.evaluate(() => document.body.innerText).catch(() => "")))).join("\n");
    for (const until = Date.now() + 30_000; !(await shown()).includes(wanted); await new Promise((done) => setTimeout(done, 100))) {
      assert.ok(Date.now() < until, `no window shows ${wanted}, but:\n${await shown()}`);
    }
    return shown();
  };
  assert.match(await launch(files[0], "stitch-1"), /opened\.dmp/);
  // Symbols are added to the open dump.
  await launch(files[1], "codec.cc");
  await system.send("PWA.uninstall", { manifestId });
});

test("a newer version is fetched, the page says so, and starts it on request", async () => {
  await site.stop();
  const folder = join(dir, "site");
  await cp(inRepo("dist/site"), folder, { recursive: true });
  site = await startSite({ dir: folder });
  const tab = await chrome.open(site.origin);
  await tab.kept();
  await tab.page.reload();
  await tab.ready();
  assert.equal(await tab.page.locator(".update").count(), 0);
  // Make another version, with another page.
  const html = (await readFile(join(folder, "index.html"), "utf8")).replace("<title>Crashpane</title>", "<title>Crashpane, the next</title>");
  await rm(join(folder, "index.html.br"), { force: true });
  await rm(join(folder, "index.html.gz"), { force: true });
  await writeFile(join(folder, "index.html"), html);
  const worker = (await readFile(join(folder, "sw.js"), "utf8")).replace(/version = "\w+"/, 'version = "next"');
  await rm(join(folder, "sw.js.br"), { force: true });
  await rm(join(folder, "sw.js.gz"), { force: true });
  await writeFile(join(folder, "sw.js"), worker);
  await tab.page.reload();
  await tab.ready();
  await tab.sees("A newer version of Crashpane is ready");
  await Promise.all([tab.page.waitForEvent("load"), tab.page.getByRole("button", { name: "Start now" }).click()]);
  await tab.ready();
  assert.match(await tab.page.content(), /<title>Crashpane, the next<\/title>|Crashpane, the next/);
  const names = await tab.page.evaluate(() => caches.keys());
  assert.equal(names.length, 1);
  assert.match(names[0], / next$/);
  assert.deepEqual(tab.problems, []);
});
