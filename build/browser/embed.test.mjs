// The viewer in frames and elements of a demo portal, and attacks by a hostile host page and by a
// hostile dump.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { promisify } from "node:util";
import { startPortal } from "../portal/portal.mjs";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const run = promisify(execFile);
let dir;
let open; // a site that knows nobody
let closed; // a site that was built for the portal, and with a token
let portal;
let stranger; // of another origin
let chrome;
let hostile;
let tab;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-embed-"));
  await run("go", ["run", "./build/portal/hostile", dir], { cwd: inRepo(".") });
  hostile = await readFile(join(dir, "hostile.dmp"));
  open = await startSite();
  const sample = await readFile(inRepo("testdata/sample/tilecruncher.dmp"));
  const folder = join(dir, "site");
  await cp(inRepo("dist/site"), folder, { recursive: true });
  closed = await startSite({ dir: folder });
  portal = await startPortal({
    frames: [closed.origin],
    frame: `${open.origin}/embed.html`,
    reports: [{ name: "tilecruncher.dmp", content: sample }, { name: "hostile.dmp", content: hostile }, { name: "hostile.sym", content: await readFile(join(dir, "hostile.sym")) }],
    pages: { "/bare.html": '<!doctype html><meta charset="utf-8"><title>Bare</title><body></body>' },
  });
  stranger = await startPortal({ frames: [closed.origin], pages: { "/bare.html": '<!doctype html><meta charset="utf-8"><title>Bare</title><body></body>' } });
  // As `bundle -embed-origins … -embed-token secret` writes it into the page.
  const html = (await readFile(join(folder, "embed.html"), "utf8"))
    .replace('data-origins=""', `data-origins="${portal.origin}"`)
    .replace('data-token-sha256=""', 'data-token-sha256="2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"');
  await writeFile(join(folder, "embed.html"), html);
  for (const packed of [".br", ".gz"]) await rm(join(folder, `embed.html${packed}`), { force: true });
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  for (const server of [portal, stranger, open, closed]) await server?.stop();
  await rm(dir, { recursive: true, force: true });
});
afterEach(() => tab?.close());

// Opens a page of the portal with only a frame. It stores the frame's messages in window.got.
async function bare(src, { origin = portal.origin } = {}) {
  tab = await chrome.open(`${origin}/bare.html`, { ready: false });
  await tab.page.evaluate(
    (address) =>
      new Promise((done) => {
        window.got = [];
        window.ports = [];
        window.addEventListener("message", ({ data, origin, ports }) => {
          window.got.push({ data, origin });
          window.ports.push(...ports);
        });
        const iframe = document.createElement("iframe");
        iframe.style.cssText = "width:1000px;height:640px";
        iframe.onload = done;
        iframe.src = address;
        document.body.append(iframe);
      }),
    src,
  );
  const frame = tab.page.frames().find((f) => f !== tab.page.mainFrame());
  await frame.waitForFunction(() => document.documentElement.dataset.ready === "1", undefined, { timeout: 60_000 });
  return frame;
}
const post = (message, to = "*") => tab.page.evaluate(([m, t]) => document.querySelector("iframe").contentWindow.postMessage(m, t), [message, to]);
const got = () => tab.page.evaluate(() => window.got);
// Waits for a message for which test returns true. It polls from here, because waiting in the page
// would evaluate text as code there, which the portal's policy forbids.
async function answered(test) {
  for (const until = Date.now() + 20_000; ; await tab.page.waitForTimeout(20)) {
    const all = await got();
    if (all.some(test)) return all;
    assert.ok(Date.now() < until, `no message for which ${test} holds:\n${JSON.stringify(all).slice(0, 4000)}\n${tab.problems.join("\n")}`);
  }
}
const shows = (frame, said) => frame.waitForFunction((t) => document.body.innerText.includes(t), said, { timeout: 30_000 });

test("the portal shows a crash in both ways; the frame, which does not know the portal, asks the user once", async () => {
  tab = await chrome.open(portal.origin, { ready: false });
  const p = tab.page;
  await p.waitForFunction(() => document.documentElement.dataset.portal === "ready");
  const frame = p.frameLocator("#frame");
  await frame.getByRole("alertdialog").waitFor();
  assert.match(await frame.getByRole("alertdialog").innerText(), new RegExp(`${portal.origin} wants to open a crash dump here`));
  await p.locator("#frame").scrollIntoViewIfNeeded();
  await frame.getByRole("button", { name: "Allow" }).click();
  await p.getByRole("button", { name: "tilecruncher.dmp" }).click();
  const said = (id) => p.waitForFunction((i) => /SIGSEGV.* in thread 5/.test(document.getElementById(i).textContent), id, { timeout: 60_000 });
  await said("frame-says");
  await frame.getByText("tile::blend_edges").first().waitFor();
  await p.waitForFunction(() => document.getElementById("element").shadowRoot.querySelector(".crashpane-root").innerText.includes("tile::blend_edges"));
  assert.equal(await frame.getByRole("alertdialog").count(), 0);
  assert.deepEqual(tab.problems.filter((m) => !m.includes("404")), []);
});

test("only embed.html may be shown in a frame", async () => {
  tab = await chrome.open(`${portal.origin}/bare.html`, { ready: false });
  await tab.page.evaluate((src) => {
    const iframe = document.createElement("iframe");
    iframe.src = src;
    document.body.append(iframe);
  }, `${open.origin}/`);
  await tab.page.waitForTimeout(1500);
  assert.ok(tab.problems.some((p) => p.includes("frame-ancestors")), tab.problems.join("\n"));
});

test("the user is not asked about an origin that the site was built for, nor with the right token", async () => {
  let frame = await bare(`${closed.origin}/embed.html`);
  await post({ crashpane: 1, type: "hello" });
  let all = await answered((m) => m.data.type === "welcome");
  assert.ok(all.every((m) => m.origin === closed.origin));
  assert.equal(await frame.locator(".embed-ask").count(), 0);
  await tab.close();
  frame = await bare(`${closed.origin}/embed.html`, { origin: stranger.origin });
  await post({ crashpane: 1, type: "hello", token: "guess" });
  await answered((m) => m.data.type === "asking");
  await frame.getByRole("button", { name: "Refuse" }).click();
  await answered((m) => m.data.code === "refused");
  await post({ crashpane: 1, type: "hello", token: "secret" });
  await answered((m) => m.data.type === "welcome");
});

test("requests outside of the protocol are refused with an answer", async () => {
  const frame = await bare(`${closed.origin}/embed.html`);
  await post({ crashpane: 2, type: "hello" });
  const [version] = await answered((m) => m.data.code === "version");
  assert.deepEqual(version.data.versions, [1]);
  await post({ crashpane: 1, type: "load", data: new Array(10) });
  await answered((m) => m.data.code === "unknown");
  await post({ crashpane: 1, type: "hello", options: { theme: "dark", onclick: "x" } });
  await answered((m) => /there is no option/.test(m.data.message));
  // Messages outside of the protocol get no answer. Earlier answers may still arrive.
  await tab.page.waitForTimeout(1000);
  const before = (await got()).length;
  for (const noise of [1, null, "hello", [], { type: "load" }, { perfetto: 1 }, { perfetto: { buffer: "text" } }]) await post(noise);
  await post({ crashpane: 1, type: "hello" });
  await answered((m) => m.data.type === "welcome");
  assert.deepEqual((await got()).slice(before).map((m) => m.data.type), ["welcome"]);
  const ask = (message) =>
    tab.page.evaluate(
      (m) =>
        new Promise((done) => {
          const [port] = window.ports;
          port.onmessage = ({ data }) => data.type !== "event" && done(data);
          port.postMessage(m);
        }),
      message,
    );
  for (const type of ["__proto__", "constructor", "toString", "eval", "", 7, undefined]) {
    const said = await ask({ id: 1, type });
    assert.deepEqual([said.type, said.code], ["error", "unknown"], String(type));
  }
  for (const bad of [{ type: "load", data: "<b>text</b>" }, { type: "load" }, { type: "symbols", files: [{}] }, { type: "symbols", files: "x" }, { type: "options", options: 5 }, { type: "report" }]) {
    const said = await ask({ id: 2, ...bad });
    assert.equal(said.type, "error", JSON.stringify(bad));
  }
  assert.equal((await ask({ id: 3, type: "select", place: { thread: -7, frame: "1", tab: { toString: "x" } } })).type, "done");
  assert.equal(await frame.evaluate(() => document.querySelectorAll(".stack .row").length), 0);
});

test("Perfetto's protocol: PING, PONG, and a buffer in either form", async () => {
  const frame = await bare(`${closed.origin}/embed.html`);
  await post("PING");
  const pongs = await answered((m) => m.data === "PONG");
  assert.equal(pongs[0].origin, closed.origin);
  const send = (shape) =>
    tab.page.evaluate(async (how) => {
      const buffer = await (await fetch("reports/0")).arrayBuffer();
      const message = how === "bare" ? buffer : { perfetto: { buffer, title: "<b>title</b>", fileName: "from-perfetto.dmp" } };
      document.querySelector("iframe").contentWindow.postMessage(message, "*", [buffer]);
    }, shape);
  await send("wrapped");
  await shows(frame, "from-perfetto.dmp");
  await shows(frame, "stitch-1");
  await send("bare");
  await shows(frame, "crash.dmp");
});

test("other windows, and origins that the frame's address excludes, are ignored", async () => {
  const frame = await bare(`${closed.origin}/embed.html#origin=https://other.example`);
  await post({ crashpane: 1, type: "hello" });
  await answered((m) => m.data.code === "refused");
  assert.equal(await frame.locator(".embed-ask").count(), 0);
  await tab.close();
  const second = await bare(`${closed.origin}/embed.html`);
  // Another frame of the same host is not the host page.
  await tab.page.evaluate(() => {
    const beside = document.createElement("iframe");
    beside.srcdoc = "<p>beside</p>";
    document.body.append(beside);
    return new Promise((done) => (beside.onload = done));
  });
  const beside = tab.page.frames().find((f) => f.parentFrame() && f !== second);
  await beside.evaluate(() => window.parent.frames[0].postMessage({ crashpane: 1, type: "hello" }, "*")).catch(() => {});
  await tab.page.waitForTimeout(500);
  assert.deepEqual(await got(), []);
});

// Opens every tab of a viewer with the hostile dump and its symbols: names of modules, functions,
// threads and annotations must be text.
async function lookAround(frame, inside, select) {
  for (const name of ["modules", "wanted", "findings", "files", "system", "streams", "annotations", "log"]) {
    await select(name);
    let found;
    for (const until = Date.now() + 10_000; !found?.panel.trim() && Date.now() < until; ) {
      await frame.waitForTimeout(250);
      found = await frame.evaluate(inside);
    }
    assert.equal(found.attacked, undefined, name);
    assert.equal(found.elements, 0, name);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u0007\u001b]/.test(found.text), `${name}: what turns the direction of writing is not shown as such`);
    assert.ok(found.longest < 20_000, `${name}: an element shows ${found.longest} characters`);
    for (const [where, text] of [["stack", found.stack], ["threads", found.threads], ...(["modules", "annotations"].includes(name) ? [[name, found.panel]] : [])]) {
      assert.ok(text.includes("<img src=x"), `the names of ${where} are shown as text: ${text.slice(0, 2000)}`);
      // Functions with such a name are not on the open stack.
      if (where !== "stack") assert.ok(text.includes("‹U+202E›"), `what turns the direction of writing is named in ${where}: ${text.slice(0, 3000)}`);
    }
    // Both the name and the value of an annotation.
    if (name === "annotations") assert.ok(found.panel.split("<img src=x").length > 4, found.panel.slice(0, 2000));
  }
}
const lookAt = (root) => {
  const all = [...root.querySelectorAll("*")];
  return {
    attacked: window.attacked,
    elements: root.querySelectorAll("img, script:not([src]), iframe").length,
    text: root.querySelector(".crashpane-root").innerText,
    stack: root.querySelector("#stack").innerText,
    threads: root.querySelector("#threads").innerText,
    panel: root.querySelector("#panel-body").innerText,
    longest: Math.max(...all.filter((e) => e.childElementCount === 0).map((e) => e.textContent.length)),
  };
};

test("a hostile dump is text, in the element and in the frame", async () => {
  const frame = await bare(`${closed.origin}/embed.html`);
  await post({ crashpane: 1, type: "hello" });
  await answered((m) => m.data.type === "welcome");
  const ask = (message, report) =>
    tab.page.evaluate(
      async ([m, from]) => {
        const data = from === undefined ? undefined : await (await fetch(`reports/${from}`)).blob();
        return new Promise((done) => {
          const [port] = window.ports;
          port.onmessage = ({ data: answer }) => answer.type !== "event" && done(answer);
          port.postMessage({ id: 1, ...m, ...(m.type === "symbols" ? { files: [{ data, name: m.name }] } : data && { data }) });
        });
      },
      [message, report],
    );
  const name = `<img src=x onerror=window.attacked=3>\u202e${"n".repeat(1 << 20)}`;
  assert.equal((await ask({ type: "load", name }, 1)).type, "done");
  assert.equal((await ask({ type: "symbols", name }, 2)).type, "done");
  await frame.evaluate(`window.lookAt = ${lookAt}`);
  await lookAround(frame, () => window.lookAt(document), (tabName) => ask({ type: "select", place: { tab: tabName } }));
  const report = (await ask({ type: "report" })).result;
  assert.equal(report.modules[0].filename, "script>");
  assert.equal(await tab.page.evaluate(() => window.attacked), undefined);
  await tab.close();

  tab = await chrome.open(portal.origin, { ready: false });
  const p = tab.page;
  await p.waitForFunction(() => document.getElementById("element").dataset.ready === "1", undefined, { timeout: 60_000 });
  await p.evaluate(async (called) => {
    const pane = document.getElementById("element");
    await pane.loadDump(await fetch("reports/1"), { name: called });
    await pane.addSymbols(await fetch("reports/2"), { name: called });
  }, name);
  await p.evaluate(`window.lookAt = ${lookAt}`);
  await lookAround(p, () => window.lookAt(document.getElementById("element").shadowRoot), (tabName) => p.evaluate((t) => document.getElementById("element").select({ tab: t }), tabName));
});
