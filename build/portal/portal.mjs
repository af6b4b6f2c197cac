// Serves the demo portal with a strict policy: node build/portal/portal.mjs [PORT [FRAME]]. FRAME
// is the address of an embed.html of another origin; `make portal` gives that of a server of
// dist/site.
import { readFile, readdir } from "node:fs/promises";
import http from "node:http";
import { basename, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../../..");
const sample = join(root, "testdata/sample");
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

// The policy that docs/EMBEDDING.md states for pages with the element, and what this page's frame
// needs; connect are sources of symbols.
export const policy = (frame, connect = []) =>
  ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "worker-src 'self'", ["connect-src 'self'", ...connect.map((address) => new URL(address).origin)].join(" "), `style-src 'self' 'sha256-XUHSFfvA7gCNp/218szGusfojoE47xkP5mG8tzSk8g0='`, "img-src data:", "base-uri 'none'", "form-action 'none'", `frame-src ${[frame].flat().filter(Boolean).map((address) => new URL(address).origin).join(" ") || "'none'"}`].join("; ");

// Symbols by debug file and id, as the MODULE line of each file says them.
async function symbolFiles() {
  const { gunzipSync } = await import("node:zlib");
  const found = new Map();
  for (const name of await readdir(sample)) {
    if (!/\.sym(\.gz)?$/.test(name)) continue;
    const content = await readFile(join(sample, name));
    const text = (name.endsWith(".gz") ? gunzipSync(content) : content).subarray(0, 300).toString();
    const [, id, file] = /^MODULE \S+ \S+ (\S+) (.+)/.exec(text) ?? [];
    if (id) found.set(`${file}/${id}`, join(sample, name));
  }
  return found;
}

// reports are {name, content}; pages are further pages of tests, by name, frames what these may
// frame, connect what they may ask.
export async function startPortal({ port = 0, frame, frames = [], connect = [], reports, pages = {} } = {}) {
  const symbols = await symbolFiles();
  const shown = reports ?? [{ name: "tilecruncher.dmp", content: await readFile(join(sample, "tilecruncher.dmp")) }];
  const find = async (path) => {
    if (path === "/portal.json") {
      const list = shown.map(({ name }, i) => ({ name, address: `reports/${i}` }));
      return { type: types[".json"], content: JSON.stringify({ frame, reports: list }) };
    }
    const [, kind, ...rest] = path.split("/").map(decodeURIComponent);
    if (kind === "reports" && shown[rest[0]]) return { content: shown[rest[0]].content };
    if (kind === "symbols" && symbols.has(rest.join("/"))) return { content: await readFile(symbols.get(rest.join("/"))) };
    if (pages[path]) return { type: types[extname(path)] ?? types[".html"], content: pages[path] };
    const folder = kind === "crashpane" ? join(root, "dist/npm") : join(root, "web/portal");
    const name = kind === "crashpane" ? rest.join("/") : path === "/" ? "index.html" : path.slice(1);
    if (name !== basename(name)) return undefined;
    return { type: types[extname(name)], content: await readFile(join(folder, name)).catch(() => undefined) };
  };
  const server = http.createServer(async (request, response) => {
    const found = request.method === "GET" ? await find(new URL(request.url, "http://portal").pathname).catch(() => undefined) : undefined;
    if (found?.content === undefined) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": found.type ?? "application/octet-stream", "content-security-policy": policy([frame, ...frames], connect), "x-content-type-options": "nosniff" });
    return response.end(found.content);
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port = "8090", frame = "http://127.0.0.1:8091/embed.html"] = process.argv.slice(2);
  const portal = await startPortal({ port: Number(port), frame });
  console.log(`The portal is at ${portal.origin}, its frame at ${frame}`);
}
