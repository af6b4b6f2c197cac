// A symbol server for the tests: files in Breakpad's layout, and a record of all requests and of
// the bytes sent.
import { spawn } from "node:child_process";
import { createReadStream, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";

// files: path after /store → {file} on the disk, or {text}. Settings may be changed while it runs:
// ranges, packed (gzip), token, cors, edition (the ETag), broken (answers with that status), slow
// (milliseconds between pieces of a body).
export async function startSource(files = {}, settings = {}) {
  const source = { files, ranges: true, cors: true, edition: "1", token: "", packed: false, broken: 0, slow: 0, seen: [], preflights: 0, ...settings };
  const server = http.createServer((request, response) => {
    const headers = source.cors ? { "access-control-allow-origin": "*", "access-control-expose-headers": "ETag, Content-Range" } : {};
    if (request.method === "OPTIONS") {
      source.preflights++;
      response.writeHead(204, { ...headers, "access-control-allow-headers": "Authorization, Range, If-Range" }).end();
      return;
    }
    const record = { method: request.method, url: request.url, headers: request.headers, sent: 0 };
    source.seen.push(record);
    const respond = (status, text) => response.writeHead(status, { ...headers, "content-type": "text/plain" }).end(text);
    if (source.broken) return respond(source.broken, "broken");
    if (source.token && request.headers.authorization !== `Bearer ${source.token}`) return respond(401, "a token is needed");
    const entry = source.files[decodeURIComponent(request.url).replace(/^\/store\//, "")];
    if (!entry) return respond(404, "not here");
    headers.etag = `"${source.edition}"`;
    if (source.packed) {
      const body = gzipSync(entry.text);
      record.sent += body.length;
      response.writeHead(200, { ...headers, "content-encoding": "gzip", "content-length": body.length }).end(body);
      return;
    }
    const size = entry.file ? statSync(entry.file).size : Buffer.byteLength(entry.text);
    const asked = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const current = !request.headers["if-range"] || request.headers["if-range"] === headers.etag;
    let [from, to, status] = [0, size, 200];
    if (asked && source.ranges && current) {
      [from, to, status] = [Number(asked[1]), Math.min(Number(asked[2]) + 1, size), 206];
      headers["content-range"] = `bytes ${from}-${to - 1}/${size}`;
    }
    response.writeHead(status, { ...headers, "content-length": to - from });
    const body = entry.file ? createReadStream(entry.file, { start: from, end: to - 1 }) : [Buffer.from(entry.text).subarray(from, to)];
    (async () => {
      for await (const piece of body) {
        if (response.destroyed) return;
        record.sent += piece.length;
        response.write(piece);
        if (source.slow) await new Promise((done) => setTimeout(done, source.slow));
      }
      response.end();
    })().catch(() => response.destroy());
  });
  Object.defineProperty(source, "sent", { get: () => source.seen.reduce((sum, { sent }) => sum + sent, 0) });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  source.origin = `http://127.0.0.1:${server.address().port}`;
  source.base = `${source.origin}/store`;
  source.stop = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  return source;
}

// Builds a site that may ask the bases. Returns its folder, and a function that removes it.
export async function siteWith(bases) {
  const dir = await mkdtemp(join(tmpdir(), "crashpane-sources-"));
  const site = join(dir, "site");
  const build = spawn(inRepo("dist/bin/bundle"), ["-quick", "-out", site, "-cache", "dist/cache", "-symbols", bases.join(" ")], { cwd: inRepo("."), stdio: ["ignore", "inherit", "inherit"] });
  const code = await new Promise((done) => build.on("close", done));
  if (code !== 0) throw new Error(`the bundle ended with ${code}`);
  return { site, remove: () => rm(dir, { recursive: true, force: true }) };
}
