// Runs the built Worker (dist/edge, dist/edge-site) in workerd, with a temporary local bucket.
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const root = fileURLToPath(new URL("../..", import.meta.url));
const built = join(root, "dist/edge");
const edgeSite = join(root, "dist/edge-site/site");

// headerRules reads _headers as the host's own tools do.
async function headerRules(site) {
  const rules = {};
  let path;
  for (const line of (await readFile(join(site, "_headers"), "utf8")).split("\n")) {
    if (line.startsWith("/")) rules[(path = line.trim())] = { set: {}, unset: [] };
    else if (line.trim()) rules[path].set[line.slice(0, line.indexOf(":")).trim()] = line.slice(line.indexOf(":") + 1).trim();
  }
  return { version: 2, rules };
}

// A Worker that streams uploads into the bucket, because Node's interface would hold each file in
// memory. Only these tests can reach it.
const filler = {
  name: "filler",
  modules: true,
  script: `export default {
    async fetch(request, { SYMBOLS }) {
      const { size } = await SYMBOLS.put(decodeURIComponent(new URL(request.url).pathname.slice(1)), request.body);
      return new Response(String(size));
    },
  };`,
  compatibilityDate: "2026-01-01",
  r2Buckets: ["SYMBOLS"],
  unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
};

// Sends a file, and returns the number of bytes that arrived.
const send = (address, file, length) =>
  new Promise((done, fail) => {
    const request = http.request(address, { method: "PUT", headers: { "content-length": length } }, async (response) => {
      let said = "";
      for await (const piece of response.setEncoding("utf8")) said += piece;
      if (response.statusCode === 200) done(Number(said));
      else fail(new Error(`the bucket took no file: ${response.statusCode} ${said.slice(0, 500)}`));
    });
    request.on("error", fail);
    createReadStream(file, { highWaterMark: 1 << 20 }).on("error", fail).pipe(request);
  });

// site is the folder of another site than that of make edge.
export async function startEdge(vars = {}, site = edgeSite) {
  const store = await mkdtemp(join(tmpdir(), "crashpane-edge-"));
  const part = async (type, name) => ({ type, path: name, contents: await readFile(join(built, name)) });
  const worker = {
    name: "crashpane",
    modules: [
      await part("ESModule", "worker.mjs"),
      await part("ESModule", "runtime.mjs"),
      await part("ESModule", "wasm_exec.js"),
      await part("CompiledWasm", "app.wasm"),
    ],
    compatibilityDate: "2026-01-01",
    bindings: vars,
    r2Buckets: ["SYMBOLS"],
    assets: { directory: site, binding: "ASSETS", routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: false, static_routing: { user_worker: ["/symbols/*", "/servers/*"] } },
      assetConfig: { headers: await headerRules(site) } },
  };
  const mf = new Miniflare({ workers: [worker, filler], r2Persist: store, cf: false, telemetry: { enabled: false } });
  const base = await mf.ready;
  return {
    url: base.href,
    bucket: await mf.getR2Bucket("SYMBOLS"),
    // Puts a file of any size into the bucket.
    put: async (key, file) => send(new URL(encodeURI(key), await mf.unsafeGetDirectURL("filler")), file, (await stat(file)).size),
    fetch: (path, init) => fetch(new URL(path, base), { redirect: "manual", ...init }),
    manifest: async () => (await readdir(site)).join("\n"),
    stop: async () => {
      await mf.dispose();
      await rm(store, { recursive: true, force: true });
    },
  };
}
