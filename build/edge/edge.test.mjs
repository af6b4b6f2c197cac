// The Worker in workerd with a local R2 bucket: what a page gets when it reads symbols from it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startEdge } from "./edge.mjs";

const id = "5A9832E5287241C1838ED98914E9B7FF1";
const path = `/symbols/test_app.pdb/${id}/test_app.sym`;
const text = `MODULE windows x86 ${id} test_app.pdb\n` + "FUNC 1000 10 0 f\n".repeat(100);
const portal = "https://portal.example";
let edge;

before(async () => {
  edge = await startEdge({ SYMBOL_ORIGINS: portal, SYMBOL_TOKEN: "secret" });
  await edge.bucket.put(`test_app.pdb/${id}/test_app.sym`, text);
  await edge.bucket.put(`big.so/${id}/big.so.sym.gz`, new Uint8Array([0x1f, 0x8b, 8, 0]));
});
after(() => edge?.stop());

const ask = (path, init = {}) =>
  edge.fetch(path, { ...init, headers: { authorization: "Bearer secret", ...init.headers } });

test("a whole file, with the headers for caches", async () => {
  const r = await ask(path);
  assert.equal(r.status, 200);
  assert.equal(await r.text(), text);
  assert.equal(r.headers.get("accept-ranges"), "bytes");
  assert.match(r.headers.get("etag"), /^"[0-9a-f]+"$/);
  const again = await ask(path, { headers: { "if-none-match": r.headers.get("etag") } });
  assert.equal(again.status, 304);
});

test("a range request reads only a part of the file", async () => {
  const r = await ask(path, { headers: { range: "bytes=7-13" } });
  assert.equal(r.status, 206);
  assert.equal(r.headers.get("content-range"), `bytes 7-13/${text.length}`);
  assert.equal(await r.text(), "windows");
  assert.equal((await ask(path, { headers: { range: `bytes=${text.length}-` } })).status, 416);
});

test("a compressed file is sent completely, with its encoding", async () => {
  const r = await ask(`/symbols/big.so/${id}/big.so.sym`, { method: "HEAD", headers: { range: "bytes=0-1" } });
  assert.equal(r.status, 200);
  assert.equal(r.headers.get("content-encoding"), "gzip");
  assert.equal(r.headers.get("accept-ranges"), null);
});

test("a page of an allowed origin may read, another may not, and no page without the token", async () => {
  const from = (origin, headers = {}) => edge.fetch(path, { headers: { origin, ...headers } });
  const good = await from(portal, { authorization: "Bearer secret" });
  assert.equal(good.headers.get("access-control-allow-origin"), portal);
  assert.equal((await from("https://elsewhere.example", { authorization: "Bearer secret" })).headers.get("access-control-allow-origin"), null);
  assert.equal((await from(portal)).status, 401);
  const preflight = await edge.fetch(path, {
    method: "OPTIONS",
    headers: { origin: portal, "access-control-request-method": "GET", "access-control-request-headers": "authorization, range" },
  });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-headers"), /Range/);
});

test("if no token is set, none is needed", async () => {
  const open = await startEdge();
  try {
    assert.equal((await open.fetch(path)).status, 404);
    assert.equal((await open.fetch("/symbols/x")).status, 404);
  } finally {
    await open.stop();
  }
});

test("it accepts no uploads", async () => {
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const r = await ask(path, { method, body: method === "DELETE" ? undefined : "MDMP" });
    assert.equal(r.status, 405, method);
  }
  assert.equal(await (await ask(path)).text(), text);
});

test("the site's own files have their policy and may be cached", async () => {
  const page = await edge.fetch("/");
  assert.equal(page.status, 200);
  assert.match(page.headers.get("content-security-policy"), /default-src 'none'/);
  assert.match(page.headers.get("content-type"), /^text\/html/);
  const wasm = /crashpane\.[0-9a-f]+\.wasm/.exec(await edge.manifest())?.[0];
  assert.ok(wasm, "the site has no wasm");
  const module = await edge.fetch("/" + wasm);
  assert.equal(module.headers.get("content-type"), "application/wasm");
  assert.match(module.headers.get("cache-control"), /immutable/);
});
