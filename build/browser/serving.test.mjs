// The built page on its server: headers, compression, caching, and what the policy forbids in a
// browser.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import http from "node:http";
import { after, before, test } from "node:test";
import zlib from "node:zlib";
import { inRepo, startChrome, startSite } from "./harness.mjs";

let site;
let chrome;
before(async () => {
  site = await startSite();
  chrome = await startChrome();
});
after(async () => {
  await chrome?.close();
  await site?.stop();
});

// Makes a plain request, because fetch would undo the compression.
function ask(path, headers = {}, method = "GET") {
  return new Promise((done, fail) => {
    const request = http.request(site.origin + path, { method, headers }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    request.on("error", fail);
    request.end();
  });
}

// The files that the page names, by their names without hashes.
async function named() {
  const html = (await ask("/")).body.toString();
  const files = {};
  for (const [, name] of html.matchAll(/(?:src|href|data-[a-z]+)="([^":]+\.[0-9a-f]{8}\.[a-z]+)"/g)) {
    files[name.replace(/\.[0-9a-f]{8}\./, ".")] = name;
  }
  return files;
}

test("the page and its files have the right types, compression and caching", async () => {
  const files = await named();
  const types = {
    "crashpane.js": "text/javascript; charset=utf-8",
    "crashpane.css": "text/css; charset=utf-8",
    "crashpane.wasm": "application/wasm",
    "crashpane-worker.js": "text/javascript; charset=utf-8",
  };
  for (const [plain, type] of Object.entries(types)) {
    assert.ok(files[plain], `the page names ${plain}`);
    const raw = await ask(`/${files[plain]}`);
    assert.equal(raw.headers["content-type"], type);
    assert.equal(raw.headers["content-encoding"], undefined);
    assert.equal(raw.headers["cache-control"], "public, max-age=31536000, immutable");
    const br = await ask(`/${files[plain]}`, { "accept-encoding": "gzip, br" });
    assert.equal(br.headers["content-encoding"], "br");
    assert.equal(br.headers.vary, "Accept-Encoding");
    assert.ok(zlib.brotliDecompressSync(br.body).equals(raw.body), `${plain}: brotli holds the same`);
    const gz = await ask(`/${files[plain]}`, { "accept-encoding": "gzip" });
    assert.equal(gz.headers["content-encoding"], "gzip");
    assert.ok(zlib.gunzipSync(gz.body).equals(raw.body), `${plain}: gzip holds the same`);
  }
  const page = await ask("/");
  assert.equal(page.headers["cache-control"], "no-cache");
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
});

test("the sample is served unchanged", async () => {
  const { files } = JSON.parse((await ask("/sample/files.json")).body);
  assert.equal(files[0].name, "tilecruncher.dmp");
  for (const { name, size } of files) {
    const served = await ask(`/sample/${name}`);
    assert.equal(served.body.length, size);
    assert.ok(served.body.equals(await readFile(inRepo(`testdata/sample/${name}`))), name);
  }
  // Symbol files that are gzip files must arrive as they are, even if the browser accepts gzip.
  const gz = await ask("/sample/libc.so.6.sym.gz", { "accept-encoding": "gzip, br" });
  assert.equal(gz.headers["content-encoding"], undefined);
});

test("every answer has the security headers", async () => {
  for (const [path, method] of [["/", "GET"], ["/none", "GET"], ["/", "POST"]]) {
    const { headers } = await ask(path, {}, method);
    assert.match(headers["content-security-policy"], /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self';/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["referrer-policy"], "no-referrer");
    assert.equal(headers["cross-origin-opener-policy"], "same-origin");
  }
  assert.equal((await ask("/", {}, "POST")).status, 405);
  assert.equal((await ask("/sample/")).status, 404);
});

test("in Chromium the page starts under the policy without errors, and only from its own origin", async () => {
  const tab = await chrome.open(site.origin);
  assert.deepEqual(tab.problems, []);
  assert.deepEqual(tab.foreign, []);
  assert.ok(tab.requests.length >= 4, "the recorder sees the page's requests");
  // The page's program is requested by its head. A request by the script that did not match that one would be a second.
  assert.equal(tab.requests.filter((r) => /\/crashpane\.[0-9a-f]+\.wasm$/.test(r.url)).length, 1, "the page's program is requested once");
  for (const { method, url, body } of tab.requests) {
    assert.equal(method, "GET", url);
    assert.equal(body, 0, url);
    assert.equal(new URL(url).search, "", url);
  }
  await tab.close();
});

test("in Chromium the policy stops a request to another origin, and eval", async () => {
  let reached = 0;
  const elsewhere = http.createServer((_, response) => {
    reached++;
    response.writeHead(200, { "access-control-allow-origin": "*" }).end();
  });
  await new Promise((done) => elsewhere.listen(0, "127.0.0.1", done));
  const other = `http://127.0.0.1:${elsewhere.address().port}/`;
  const tab = await chrome.open(site.origin);
  const outcome = await tab.page.evaluate(async (url) => {
    const tried = {};
    tried.fetch = await fetch(url, { method: "POST", body: "x" }).then(() => "reached", () => "stopped");
    tried.beacon = await new Promise((done) => {
      document.addEventListener("securitypolicyviolation", () => done("stopped"), { once: true });
      navigator.sendBeacon(url, "x");
      setTimeout(() => done("reached"), 2000);
    });
    tried.image = await new Promise((done) => {
      const image = new Image();
      image.onload = () => done("reached");
      image.onerror = () => done("stopped");
      image.src = url;
    });
    try {
      tried.eval = (0, eval)("1 + 1") === 2 ? "ran" : "stopped";
    } catch {
      tried.eval = "stopped";
    }
    return tried;
  }, other);
  assert.deepEqual(outcome, { fetch: "stopped", beacon: "stopped", image: "stopped", eval: "stopped" });
  assert.equal(reached, 0);
  await tab.close();
  await new Promise((done) => elsewhere.close(done));
});
