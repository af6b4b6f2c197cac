// <crash-pane> in a host page with the strict policy of docs/EMBEDDING.md.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { startPortal } from "../portal/portal.mjs";
import { inRepo, startChrome } from "./harness.mjs";

const dump = inRepo("testdata/sample/tilecruncher.dmp");
const page = (body) => `<!doctype html><meta charset="utf-8"><title>Host</title><link rel="stylesheet" href="host.css"><script type="module" src="/crashpane/crashpane.js"></script><body>${body}</body>`;

let portal;
let chrome;
let tab;
let dir;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-element-"));
  await promisify(execFile)("go", ["run", "./build/bigsym", "-size", "8M", "-out", dir], { cwd: inRepo(".") });
  portal = await startPortal({
    pages: {
      "/host.css": "body { margin: 0 } crash-pane { height: 600px; --cp-accent: #7a1fa2 }",
      "/one.html": page('<p>Before</p><input id="field"><crash-pane id="a"></crash-pane>'),
      "/two.html": page('<crash-pane id="a" theme="dark" thread="2" frame="1" tab="files"></crash-pane><crash-pane id="b" theme="light" redact readonly></crash-pane>'),
      "/analyze.js": `import { analyze } from "/crashpane/crashpane.js";
        onmessage = async ({ data: [dump, ...symbols] }) => postMessage(await analyze(dump, { name: "big.dmp", symbols }).catch(String));`,
      "/big.dmp": await readFile(join(dir, "big.dmp")),
      "/big.sym": await readFile(join(dir, "big.sym")),
      "/drop.html": page('<crash-pane id="a" drop storage></crash-pane>'),
    },
  });
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  await portal?.stop();
  await rm(dir, { recursive: true, force: true });
});

async function open(path) {
  tab = await chrome.open(portal.origin + path, { ready: false });
  await tab.page.waitForFunction(() => [...document.querySelectorAll("crash-pane")].every((pane) => pane.dataset.ready === "1"), undefined, { timeout: 60_000 });
  return tab.page;
}
afterEach(async () => {
  const { problems, foreign } = tab;
  await tab.close();
  // Chromium logs the requests for symbols that this host page does not have.
  assert.deepEqual(problems.filter((p) => !p.includes("404")), []);
  assert.deepEqual(foreign, []);
});

// Returns the text that an element shows.
const text = (p, id) => p.evaluate((i) => document.getElementById(i).shadowRoot.querySelector(".crashpane-root").innerText, id);
const sees = (p, id, said) => p.waitForFunction(([i, t]) => document.getElementById(i).shadowRoot.querySelector(".crashpane-root").innerText.includes(t), [id, said], { timeout: 30_000 });
// Loads the sample in each form of data that a host page may have.
const load = (p, id, how = "buffer") =>
  p.evaluate(
    async ([i, way]) => {
      const response = await fetch("reports/0");
      const pane = document.getElementById(i);
      const data = way === "response" ? response : way === "stream" ? response.body : way === "blob" ? await response.blob() : way === "view" ? new Uint8Array(await response.arrayBuffer()) : await response.arrayBuffer();
      await pane.loadDump(data, { name: "tilecruncher.dmp" });
    },
    [id, how],
  );

test("the host page adds a dump and symbols, and gets the events", async () => {
  const p = await open("/one.html");
  await sees(p, "a", "No crash dump is open");
  await p.focus("#field");
  await p.evaluate(() => {
    window.events = [];
    const pane = document.getElementById("a");
    for (const name of ["progress", "symbols-needed", "report", "select", "error"]) pane.addEventListener(name, ({ detail }) => window.events.push([name, detail]));
    pane.setSymbolProvider(async ({ debugFile, debugId }) => {
      const response = await fetch(`symbols/${debugFile}/${debugId}`);
      return response.ok ? response : undefined;
    });
  });
  await load(p, "a");
  await sees(p, "a", "tile::blend_edges");
  const report = await p.evaluate(() => document.getElementById("a").getReport());
  assert.equal(report.crash_info.crashing_thread, 5);
  assert.ok(report.threads.length > 3);
  const events = await p.evaluate(() => window.events);
  const names = new Set(events.map(([name]) => name));
  for (const name of ["progress", "symbols-needed", "report", "select"]) assert.ok(names.has(name), `${name} is emitted`);
  const needed = events.find(([name]) => name === "symbols-needed")[1].symbols;
  assert.ok(needed.some((s) => s.debugFile === "tilecruncher" && s.debugId && s.storePath && s.codeFile && s.frames > 0), JSON.stringify(needed));
  // The viewer does not take the focus, and does not change the page's address.
  assert.equal(await p.evaluate(() => document.activeElement.id), "field");
  assert.equal(new URL(p.url()).hash, "");
  assert.equal(await p.title(), "Host");
  assert.equal(await p.evaluate(() => localStorage.length), 0);
});

test("a dump that is loaded while the provider works gets its symbols too, and those of the one before are dropped", async () => {
  const p = await open("/one.html");
  await p.evaluate(() => {
    window.requested = [];
    document.getElementById("a").setSymbolProvider(({ debugFile }) => new Promise((settle) => window.requested.push({ debugFile, settle })));
  });
  const requests = () => p.evaluate(() => window.requested.filter(({ debugFile }) => debugFile === "tilecruncher").length);
  await load(p, "a");
  await p.waitForFunction(() => window.requested.length > 0);
  const before = await requests();
  await load(p, "a");
  await p.evaluate(() => window.requested.forEach(({ settle }) => settle(new TextEncoder().encode("MODULE Linux x86_64 000000000000000000000000000000000 old\n"))));
  await p.waitForFunction((n) => window.requested.filter(({ debugFile }) => debugFile === "tilecruncher").length > n, before, { timeout: 30_000 });
  await p.evaluate(() => document.getElementById("a").select({ tab: "files" }));
  await p.locator("#a #files .row").first().waitFor();
  assert.doesNotMatch(await p.locator("#a #files").innerText(), /\.sym/);
});

// It reads blocks of the symbol file, without the scripts of the page's own worker.
test("a worker analyzes a dump with a large symbol file", async () => {
  const p = await open("/one.html");
  const report = await p.evaluate(async () => {
    const files = await Promise.all(["/big.dmp", "/big.sym"].map(async (path) => new File([await (await fetch(path)).blob()], path.slice(1))));
    const worker = new Worker("/analyze.js", { type: "module" });
    return new Promise((done) => {
      worker.onmessage = ({ data }) => done(data);
      worker.onerror = ({ message }) => done(message);
      worker.postMessage(files);
    });
  });
  assert.equal(report.threads?.length, 32, JSON.stringify(report).slice(0, 300));
  for (const { frames } of report.threads) for (const frame of frames) assert.ok(frame.line > 0, JSON.stringify(frame));
});

test("every form of data is accepted, and a file that is not a dump is refused", async () => {
  const p = await open("/one.html");
  for (const way of ["response", "stream", "blob", "view"]) {
    await load(p, "a", way);
    await sees(p, "a", "stitch-1");
    await p.evaluate(() => document.getElementById("a").clear());
    await sees(p, "a", "No crash dump is open");
  }
  const refused = await p.evaluate(async () => {
    const pane = document.getElementById("a");
    const why = (promise) => promise.then(() => "taken", (error) => error.message);
    return [await why(pane.loadDump(new TextEncoder().encode("just a note"), { name: "notes.txt" })), await why(pane.loadDump("a string")), await why(pane.getReport())];
  });
  assert.match(refused[0], /notes\.txt/);
  assert.match(refused[1], /must be a File/);
  assert.match(refused[2], /no dump/);
});

test("two elements on a page have their own dump, theme, selection and limits", async () => {
  const p = await open("/two.html");
  await Promise.all([load(p, "a"), load(p, "b")]);
  await sees(p, "a", "stitch-1");
  await sees(p, "b", "stitch-1");
  const selected = (id) => p.evaluate((i) => document.getElementById(i).shadowRoot.querySelector("#threads .selected")?.innerText ?? "", id);
  await p.waitForFunction(() => document.getElementById("a").shadowRoot.querySelector("#tab-files[aria-selected=true]"));
  assert.notEqual(await selected("a"), await selected("b"));
  const ground = (id) => p.evaluate((i) => getComputedStyle(document.getElementById(i).shadowRoot.querySelector(".viewer")).backgroundColor, id);
  assert.notEqual(await ground("a"), await ground("b"));
  // The host page's style sheet sets the color.
  assert.equal(await p.evaluate(() => getComputedStyle(document.getElementById("b").shadowRoot.querySelector(".viewer")).getPropertyValue("--cp-accent").trim()), "#7a1fa2");
  const chosen = p.evaluate(() => new Promise((done) => document.getElementById("b").addEventListener("select", ({ detail }) => done(detail), { once: true })));
  await p.evaluate(() => document.getElementById("b").select({ thread: 0, frame: 1, tab: "system" }));
  assert.equal((await chosen).thread, 0);
  await p.evaluate(() => document.getElementById("b").remove());
  await p.evaluate(() => document.getElementById("a").setAttribute("tab", "modules"));
  await p.waitForFunction(() => document.getElementById("a").shadowRoot.querySelector("#tab-modules[aria-selected=true]"));
});

test("redact: the command line, the environment and memory are not available, nor a user's name", async () => {
  const p = await open("/two.html");
  await Promise.all([load(p, "a"), load(p, "b")]);
  await sees(p, "b", "stitch-1");
  const system = async (id) => {
    await p.evaluate((i) => document.getElementById(i).select({ tab: "system" }), id);
    await p.locator(`#${id} .group.wide`).first().waitFor(); // the groups that the tab has queried, all in one answer
    return text(p, id);
  };
  assert.match(await system("a"), /Command line/);
  assert.doesNotMatch(await system("b"), /Command line|Environment/);
  await p.evaluate(() => document.getElementById("b").select({ tab: "streams" }));
  await p.locator("#b [data-act=stream]").first().click();
  await sees(p, "b", "does not let this viewer show the contents of streams");
  // An address is selected by the host page. With redact, words that are no addresses are hidden, and bytes and texts.
  const address = "0x7f7569879e38";
  const selected = p.evaluate((id) => new Promise((done) => document.getElementById(id).addEventListener("select", ({ detail }) => detail.address && done(detail))), "a");
  for (const id of ["a", "b"]) await p.evaluate(([i, at]) => document.getElementById(i).select({ address: at }), [id, address]);
  assert.equal((await selected).address, address);
  // The lists move when their rows have come, so the marked rows are waited for by their addresses.
  assert.match(await p.locator("#a .mem-row.here", { hasText: address.slice(2) }).innerText(), /0x00005576e8f687f6/);
  await p.locator("#b .mem-row.here", { hasText: address.slice(2) }).waitFor();
  assert.match(await text(p, "b"), /only words that point into a module or a stack/);
  assert.match(await text(p, "b"), /hidden/);
  assert.equal(await p.locator("#b [data-act=memory-texts]:visible, #b [data-act=stack-texts]:visible").count(), 0);
  await p.locator("#b #tab-bytes").click();
  await sees(p, "b", "does not let this viewer show the contents of memory");
  assert.equal(await p.locator("#b .mem-hex, #b .mem-text").count(), 0);
  await p.locator("#b #tab-find").click();
  assert.deepEqual(await p.locator("#b [data-input=memory-kind] option").allInnerTexts(), ["Pointers to an address"]);
  const explained = (id) => p.evaluate(async (i) => (await document.getElementById(i).getReport()).threads.some((t) => t.frames.some((f) => f.crashpane.explain)), id);
  assert.equal(await explained("a"), true);
  assert.equal(await explained("b"), false);
});

test("the HTML report is previewed with its styles, and without scripts", async () => {
  const p = await open("/one.html");
  await load(p, "a");
  await sees(p, "a", "stitch-1");
  await p.locator("#a #menu-copy").click();
  await p.locator('#a .menu:not([hidden]) [data-act="export"][data-arg="html"]').click();
  const report = p.frameLocator("#a .preview-frame iframe[sandbox='']");
  assert.equal(await report.locator("th").first().evaluate((head) => getComputedStyle(head).fontSize), "12px");
});

test("the user can add files only if the host page allows it", async () => {
  let p = await open("/one.html");
  await tab.drop([dump], { x: 400, y: 300 });
  await p.waitForTimeout(500);
  assert.match(await text(p, "a"), /No crash dump is open/);
  assert.equal(await p.locator("#a [data-act=pick-files]:visible").count(), 0);
  await tab.close();
  p = await open("/drop.html");
  await tab.drop([dump], { x: 400, y: 300 });
  await sees(p, "a", "stitch-1");
  await p.locator("#a [data-act=theme]").click();
  assert.ok((await p.evaluate(() => Object.keys(localStorage))).includes("crashpane.theme"));
});
