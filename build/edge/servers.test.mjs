// Symbol servers without CORS: the page says so, and the Worker of the page's own host can ask
// them; it asks no other server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { inRepo, startChrome } from "../browser/harness.mjs";
import { siteWith, startSource } from "../browser/symbols.mjs";
import { startEdge } from "./edge.mjs";

let source; // without CORS
let host;
let files;
let edge;
let made;
let chrome;
before(async () => {
  source = await startSource({}, { cors: false });
  host = new URL(source.origin).host;
  files = Object.fromEntries(await Promise.all(["app.exe", "app.pd_"].map(async (name) => [name, { text: await readFile(inRepo(`testdata/windows/${name}`)) }])));
  made = await siteWith([`microsoft+${source.base}`, `microsoft+/servers/${host}`]);
  edge = await startEdge({ SYMBOL_SERVERS: `microsoft+${source.base}` }, made.site);
  if (process.env.BROWSER !== "none") chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  await edge?.stop();
  await made?.remove();
  await source?.stop();
});
beforeEach(() => {
  source.files = {};
  source.seen = [];
});

const path = "app.exe/5F5E10AB3000/app.exe";

test("a file of a listed server is passed on, and only the path and the range of the request are", async () => {
  source.files = { [path]: files["app.exe"] };
  const r = await edge.fetch(`/servers/${host}/${path}`, { headers: { range: "bytes=0-1", cookie: "secret=1", authorization: "Bearer x", referer: "https://a.example/dump", origin: "https://a.example" } });
  assert.equal(r.status, 206);
  assert.equal(r.headers.get("content-range"), `bytes 0-1/${files["app.exe"].text.length}`);
  assert.equal(await r.text(), "MZ");
  const [{ method, url, headers }] = source.seen;
  assert.equal(`${method} ${url}`, `GET /store/${path}`);
  for (const name of ["cookie", "authorization", "referer", "origin"]) assert.equal(headers[name], undefined, name);
  assert.equal(await (await edge.fetch(`/servers/${host}/${path}`)).arrayBuffer().then((b) => b.byteLength), files["app.exe"].text.length);
  assert.equal((await edge.fetch(`/servers/${host}/other.exe/5F5E10AB3000/other.exe`)).status, 404);
});

test("no other server is asked, no other path, and nothing is sent", async () => {
  const refused = async (what, status, init) => assert.equal((await edge.fetch(`/servers/${what}`, init)).status, status, what);
  await refused(`localhost:${new URL(source.origin).port}/${path}`, 403);
  await refused(`evil.example/${path}`, 403);
  await refused(`${host}/..%2f..%2fetc/passwd`, 403);
  await refused(`${host}/app.exe/not-an-id/app.exe`, 403);
  await refused(`${host}/${path}?dump=1`, 403);
  for (const method of ["POST", "PUT", "DELETE"]) await refused(`${host}/${path}`, 405, { method, body: method === "DELETE" ? undefined : "MDMP" });
  assert.deepEqual(source.seen, []);
});

test("the Worker does not follow a redirection to a server that is not listed", async () => {
  const other = await startSource({ [path]: files["app.exe"] });
  const leading = http.createServer((request, response) => response.writeHead(302, { location: `${other.origin}${request.url}` }).end());
  await new Promise((done) => leading.listen(0, "127.0.0.1", done));
  const from = `127.0.0.1:${leading.address().port}`;
  try {
    for (const [vars, status, asked] of [[{}, 502, 0], [{ SYMBOL_REDIRECTS: other.origin }, 200, 1]]) {
      const worker = await startEdge({ SYMBOL_SERVERS: `microsoft+http://${from}/store`, ...vars }, made.site);
      try {
        const r = await worker.fetch(`/servers/${from}/${path}`);
        assert.equal(r.status, status);
        if (status === 502) assert.match(await r.text(), /SYMBOL_REDIRECTS/);
        assert.equal(other.seen.length, asked);
      } finally {
        await worker.stop();
      }
    }
  } finally {
    leading.closeAllConnections();
    leading.close();
    await other.stop();
  }
});

test("a page says that a server has no CORS, and reads from it through its own host", { skip: process.env.BROWSER === "none" && "*** SKIPPED: BROWSER=none leaves the browser out" }, async () => {
  const tab = await chrome.open(edge.url);
  await tab.drop(["testdata/windows/app.dmp"]);
  await tab.page.locator("#stack .row").first().waitFor();
  await tab.part("wanted");
  await tab.page.locator("#sources-button").click();
  await tab.sees("Get symbols from a folder");
  const choose = async (base) => {
    await tab.page.locator(`[data-act="base"][data-arg="${base}"]`).click();
    await tab.page.waitForFunction((b) => document.querySelector(".source-addresses")?.innerText.startsWith(b), base.replace("microsoft+", "").replace(/^\//, edge.url));
    return (await tab.page.locator(".source-addresses").innerText()).split("\n").map((line) => line.replace(/ if the server does not have that$/, ""));
  };
  const direct = await choose(`microsoft+${source.base}`);
  assert.deepEqual(source.seen, [], "something was asked without a word");
  const at = (name) => direct.find((u) => u.endsWith(`/${name}`)).slice(source.base.length + 1);
  source.files = { [at("app.exe")]: files["app.exe"], [at("app.pd_")]: files["app.pd_"] };
  await tab.page.locator('[data-act="ask"]').click();
  const through = `microsoft+${edge.url}servers/${host}`;
  await tab.sees(`${host} answers, but does not let this page read its answers (CORS: it would have to allow this page’s origin). This page’s own server can ask it for you: choose ${through}`);
  await tab.page.waitForFunction(() => !/ (waiting|asking|receiving)/.test(document.querySelector(".source-asked").innerText));
  source.seen = [];
  const shown = await choose(through);
  assert.deepEqual(source.seen, []);
  await tab.page.locator('[data-act="ask"]').click();
  await tab.sees("app.c:27");
  await tab.page.waitForFunction(() => [...document.querySelectorAll("#stack .trust")].slice(1, 5).every((e) => e.innerText.trim() === "unwind rule"));
  for (const { method, url, headers } of source.seen) {
    assert.equal(method, "GET");
    assert.ok(shown.includes(`${edge.url}servers/${host}${url.replace(/^\/store/, "")}`), url);
    for (const name of ["cookie", "referer", "origin"]) assert.equal(headers[name], undefined, name);
  }
  assert.ok(source.seen.some(({ url }) => url.endsWith("/app.pd_")));
  await tab.close();
});
