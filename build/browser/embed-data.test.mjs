// Data between a host page and a viewer, in the element and in the frame: streams and buffers that
// are transferred, symbol servers that the host page names, and private data, which a viewer with
// redact does not give away.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { startPortal } from "../portal/portal.mjs";
import { inRepo, startChrome, startSite, tabOf } from "./harness.mjs";
import { siteWith, startSource } from "./symbols.mjs";

const run = promisify(execFile);
const page = (body) => `<!doctype html><meta charset="utf-8"><title>Host</title><link rel="stylesheet" href="host.css"><script type="module" src="/crashpane/crashpane.js"></script><body>${body}</body>`;

let dir;
let source; // of symbols
let stranger; // a source that nobody has named
let made;
let site;
let portal;
let chrome;
let tab;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-embed-data-"));
  await run("go", ["run", "./build/portal/hostile", dir], { cwd: inRepo(".") });
  const program = gunzipSync(await readFile(inRepo("testdata/sample/tilecruncher.sym.gz"))).toString();
  const [, , , id, name] = program.slice(0, program.indexOf("\n")).split(" ");
  source = await startSource({ [`${name}/${id}/${name}.sym`]: { text: program } });
  stranger = await startSource();
  made = await siteWith([source.base]);
  site = await startSite({ dir: made.site });
  const named = await Promise.all(["tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym"].map(async (file) => ({ name: file, content: await readFile(inRepo(`testdata/sample/${file}`)) })));
  portal = await startPortal({
    frames: [site.origin],
    connect: [source.origin],
    reports: [...named, { name: "private.dmp", content: await readFile(join(dir, "private.dmp")) }],
    pages: {
      "/host.css": "body { margin: 0 } crash-pane, iframe { display: block; width: 1200px; height: 640px; border: 0 }",
      "/element.html": page('<crash-pane id="pane"></crash-pane>'),
      "/asking.html": page(`<crash-pane id="pane" network="${source.base}"></crash-pane>`),
      "/redact.html": page('<crash-pane id="pane" redact></crash-pane>'),
      "/frame.html": page('<iframe id="frame"></iframe>'),
    },
  });
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  for (const one of [portal, site, source, stranger]) await one?.stop();
  await made?.remove();
  await rm(dir, { recursive: true, force: true });
});
afterEach(async () => {
  source.seen = [];
  await tab?.close();
});

// Opens a page with an element, as window.pane, and returns the element's contents.
async function element(path) {
  tab = await chrome.open(portal.origin + path, { ready: false });
  await tab.page.waitForFunction(() => document.getElementById("pane")?.dataset.ready === "1", undefined, { timeout: 60_000 });
  await tab.page.evaluate(() => (window.pane = document.getElementById("pane")));
  return inside(tab.page, tab.page.locator("#pane"), `document.getElementById("pane").shadowRoot.querySelector(".crashpane-root")`);
}

// The same with a frame: window.pane is the package's connection. The user agrees.
async function frame(hash = "", options = {}) {
  tab = await chrome.open(`${portal.origin}/frame.html`, { ready: false });
  const connected = tab.page.evaluate(
    async ([src, given]) => {
      const { connectFrame } = await import("/crashpane/crashpane.js");
      const iframe = document.getElementById("frame");
      iframe.src = src;
      window.pane = await connectFrame(iframe, { options: given });
    },
    [`${site.origin}/embed.html${hash}`, options],
  );
  const content = tab.page.frameLocator("#frame");
  await content.getByRole("button", { name: "Allow" }).click({ timeout: 60_000 });
  await connected;
  const its = tab.page.frames().find((f) => f !== tab.page.mainFrame());
  return inside(its, content.locator("body"), 'document.querySelector(".crashpane-root")');
}

function inside(at, within, root) {
  const text = () => at.evaluate(`${root}.innerText`);
  return {
    locator: (selector) => within.locator(selector),
    text,
    // With what is only in attributes: names for screen readers, tooltips, styles, addresses.
    html: () => at.evaluate(`${root}.outerHTML`),
    press: async (key) => {
      await within.locator("#stack").focus();
      await tab.page.keyboard.press(key);
    },
    async sees(wanted) {
      for (const until = Date.now() + 60_000; !(await text()).includes(wanted); await at.waitForTimeout(50)) {
        assert.ok(Date.now() < until, `it does not show ${JSON.stringify(wanted)}, but:\n${await text()}`);
      }
    },
  };
}

// Passes the sample to window.pane in one of the forms of data, and returns what was transferred.
const give = (how) =>
  tab.page.evaluate(async (way) => {
    const get = async (i) => {
      const response = await fetch(`reports/${i}`);
      if (way === "stream") return response.body;
      if (way === "blob") return response.blob();
      const buffer = await response.arrayBuffer();
      return way === "view" ? new Uint8Array(buffer) : buffer;
    };
    const moved = [];
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (message, transfer = []) {
      moved.push(...transfer.map((one) => one.constructor.name));
      return post.call(this, message, transfer);
    };
    const [dump, program, codec] = await Promise.all([0, 1, 2].map(get));
    await window.pane.loadDump(dump, { name: "tilecruncher.dmp" });
    await window.pane.addSymbols([{ data: program, name: "tilecruncher.sym.gz" }, { data: codec, name: "libtilecodec.so.sym" }]);
    MessagePort.prototype.postMessage = post;
    // The page cannot read what it has transferred.
    if (moved.length && [dump, program, codec].some((data) => data.byteLength)) return "still here";
    return moved;
  }, how);

const three = (what) => [what, what, what];
for (const [where, open, moves] of [
  ["the element", () => element("/element.html"), { stream: [], buffer: [], view: [], blob: [] }],
  ["the frame", () => frame(), { stream: three("ReadableStream"), buffer: three("ArrayBuffer"), view: three("ArrayBuffer"), blob: [] }],
]) {
  test(`${where} accepts a dump and its symbols as streams, buffers, views and blobs`, async () => {
    const viewer = await open();
    for (const [how, moved] of Object.entries(moves)) {
      assert.deepEqual(await give(how), moved, how);
      await viewer.sees("tile::blend_edges");
      const report = await tab.page.evaluate(() => window.pane.getReport());
      assert.equal(report.threads[report.crash_info.crashing_thread].frames[0].line, 52);
      await tab.page.evaluate(() => window.pane.clear());
      await viewer.sees("No crash dump is open");
    }
    // A stream that fails is an error, and the viewer keeps its dump.
    await give("buffer");
    const said = await tab.page.evaluate(async () => {
      const broken = new ReadableStream({ start: (c) => (c.enqueue(new Uint8Array([1, 2, 3])), c.error(new Error("the line is cut"))) });
      return window.pane.loadDump(broken, { name: "cut.dmp" }).then(() => "taken", (error) => error.message);
    });
    assert.notEqual(said, "taken");
    await viewer.sees("tile::blend_edges");
  });
}

// Requests symbols in the panel, as a user does.
async function askBySource(viewer) {
  await tab.page.evaluate(async () => window.pane.loadDump(await (await fetch("reports/0")).arrayBuffer(), { name: "tilecruncher.dmp" }));
  await viewer.sees("stitch-1");
  await tab.page.evaluate(() => window.pane.select({ tab: "wanted" }));
  await viewer.locator('[data-act="sources"]').first().click();
  await viewer.sees(`${source.base}/tilecruncher/`);
  await tab.page.waitForTimeout(300);
  assert.deepEqual(source.seen, [], "something was asked without a word");
  await viewer.locator('[data-act="ask"]').click();
  await viewer.sees("main.cc:156");
  assert.ok(source.seen.every(({ method, headers }) => method === "GET" && !headers.cookie && !headers.referer));
}

test("if the host page names symbol servers, the user can ask them: the element", async () => {
  const viewer = await element("/asking.html");
  await askBySource(viewer);
  await viewer.locator("#symbols-base").fill(stranger.base);
  await viewer.sees("The host page has not allowed");
  assert.equal(await viewer.locator('[data-act="ask"]').isDisabled(), true);
  assert.deepEqual(stranger.seen, []);
});

test("if the host page names symbol servers, the user can ask them: the frame", async () => {
  // The viewer offers the servers that the site was built with; if the host page names servers,
  // only those of them that the site was built with.
  for (const hash of ["#network", `#network=${encodeURIComponent(`${stranger.base} breakpad+${source.base}`)}`]) {
    const viewer = await frame(hash);
    await askBySource(viewer);
    assert.equal(await viewer.locator('[data-act="base"]').count(), 1);
    assert.deepEqual(stranger.seen, []);
    source.seen = [];
    if (hash === "#network") await tab.close();
  }
});

test("without the network attribute no server can be asked", async () => {
  for (const open of [() => element("/element.html"), () => frame()]) {
    const viewer = await open();
    await give("buffer");
    await viewer.sees("tile::blend_edges");
    await tab.page.evaluate(() => window.pane.select({ tab: "wanted" }));
    await viewer.sees("libc.so.6");
    for (const act of ["sources", "ask", "pick-store"]) assert.equal(await viewer.locator(`[data-act="${act}"]:visible`).count(), 0, act);
    assert.deepEqual(source.seen, []);
    await tab.close();
  }
});

// The dump has "hunter2" in the command line, the environment, annotations, handles, memory and the
// name of a user.
const secret = /hunter2|327265746e7568|68\W*75\W*6e\W*74\W*65\W*72\W*32/i; // also as a word and as bytes
for (const [where, open] of [
  ["the element", () => element("/redact.html")],
  ["the frame, by its options", () => frame("", { redact: true })],
  ["the frame, by its address", () => frame("#redact")],
]) {
  test(`with redact private data is neither shown nor sent: ${where}`, async () => {
    const viewer = await open();
    await tab.page.evaluate(async () => {
      window.told = [];
      for (const name of ["progress", "symbols-needed", "report", "select", "error"]) window.pane.addEventListener(name, ({ detail }) => window.told.push(JSON.stringify(detail)));
      await window.pane.loadDump(await (await fetch("reports/3")).arrayBuffer(), { name: "private.dmp" });
    });
    // A host page cannot unset it for a frame.
    if (where.startsWith("the frame")) await tab.page.evaluate(() => window.pane.setOptions({ redact: false }));
    const seen = [];
    const tabs = Object.keys(tabOf).filter((name) => name !== "dumps");
    for (const name of tabs) {
      await tab.page.evaluate((t) => window.pane.select({ tab: t }), name);
      await viewer.locator(`#tab-${name}[aria-selected=true]`).waitFor();
      await tab.page.waitForTimeout(200);
      seen.push(await viewer.text());
      seen.push(await viewer.html());
      if (name === "annotations" || name === "handles") assert.match(seen.at(-1), /hidden/, name);
      if (name !== "streams") continue;
      for (const stream of await viewer.locator('[data-act="stream"]').all()) {
        await stream.click();
        await viewer.sees("does not let this viewer show the contents of streams");
        seen.push(await viewer.text());
      }
    }
    // Every form of the memory, at the words that have the secret; a search for it; the stack's words, the code, why a
    // frame is there; what g and the search field find for it; the previews of all exports.
    await tab.page.evaluate(() => window.pane.select({ address: "0x7080" }));
    for (const form of ["words", "bytes", "text", "find"]) {
      await tab.page.evaluate((t) => window.pane.select({ tab: t }), form);
      await viewer.locator(`#tab-${form}[aria-selected=true]`).waitFor();
      await tab.page.waitForTimeout(200);
      seen.push(await viewer.html());
    }
    for (const key of ["w", "d", "e"]) {
      await viewer.press(key);
      await tab.page.waitForTimeout(200);
      seen.push(await viewer.html());
    }
    const typed = "hunter2";
    for (const key of ["g", "/"]) {
      await viewer.press(key);
      const field = viewer.locator(key === "g" ? "#go-to" : "#search");
      await field.fill(typed);
      await tab.page.waitForTimeout(300);
      seen.push((await viewer.html()).replaceAll(`value="${typed}"`, ""));
      await field.fill("");
      await field.press("Escape");
    }
    for (const menu of ["copy", "download"]) {
      await viewer.locator(`#menu-${menu}`).click();
      const kinds = await viewer.locator('.menu:not([hidden]) [data-act="export"]').evaluateAll((all) => all.map((one) => one.dataset.arg));
      assert.ok(kinds.length > 3, menu);
      for (const [i, kind] of kinds.entries()) {
        if (i > 0) await viewer.locator(`#menu-${menu}`).click();
        await viewer.locator(`.menu:not([hidden]) [data-act="export"][data-arg="${kind}"]`).click();
        await viewer.locator(".preview-text, .preview-frame iframe").first().waitFor();
        await tab.page.waitForTimeout(100);
        seen.push(await viewer.html());
        await viewer.locator('[data-act="close-preview"]').click();
      }
    }
    seen.push(await tab.page.title(), tab.page.url(), ...tab.page.frames().map((f) => f.url()));
    const [report, told] = await tab.page.evaluate(async () => [JSON.stringify(await window.pane.getReport()), window.told.join("\n")]);
    assert.ok(seen.some((text) => text.includes("/USER/bin/app")));
    assert.ok(told.includes("tab"));
    for (const text of [...seen, report, told]) assert.doesNotMatch(text, secret);
  });
}

test("without redact the same dump is shown completely", async () => {
  const viewer = await element("/element.html");
  await tab.page.evaluate(async () => window.pane.loadDump(await (await fetch("reports/3")).arrayBuffer(), { name: "private.dmp" }));
  for (const name of ["annotations", "handles"]) {
    await tab.page.evaluate((t) => window.pane.select({ tab: t }), name);
    await viewer.sees("hunter2");
  }
  await tab.page.evaluate(() => window.pane.select({ address: "0x7080" }));
  for (const [name, wanted] of [
    ["words", "327265746e7568"],
    ["bytes", "68 75 6e 74 65 72 32"],
  ]) {
    await tab.page.evaluate((t) => window.pane.select({ tab: t }), name);
    await viewer.sees(wanted);
  }
});
