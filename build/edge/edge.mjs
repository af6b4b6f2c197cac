// Runs the Worker as built (dist/edge, dist/site) in workerd, with a local bucket that is gone afterwards.
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";

const root = fileURLToPath(new URL("../..", import.meta.url));
const built = join(root, "dist/edge");
const site = join(root, "dist/site");

// headerRules reads _headers as the host's own tools do.
async function headerRules() {
  const rules = {};
  let path;
  for (const line of (await readFile(join(site, "_headers"), "utf8")).split("\n")) {
    if (line.startsWith("/")) rules[(path = line.trim())] = { set: {}, unset: [] };
    else if (line.trim()) rules[path].set[line.slice(0, line.indexOf(":")).trim()] = line.slice(line.indexOf(":") + 1).trim();
  }
  return { version: 2, rules };
}

export async function startEdge(vars = {}) {
  const store = await mkdtemp(join(tmpdir(), "crashpane-edge-"));
  const part = async (type, name) => ({ type, path: name, contents: await readFile(join(built, name)) });
  const mf = new Miniflare({
    modules: [
      await part("ESModule", "worker.mjs"),
      await part("ESModule", "runtime.mjs"),
      await part("ESModule", "wasm_exec.js"),
      await part("CompiledWasm", "app.wasm"),
    ],
    compatibilityDate: "2026-01-01",
    bindings: vars,
    r2Buckets: ["SYMBOLS"],
    r2Persist: store,
    cf: false,
    telemetry: { enabled: false },
    assets: { directory: site, binding: "ASSETS", routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: false, static_routing: { user_worker: ["/symbols/*"] } },
      assetConfig: { headers: await headerRules() } },
  });
  const base = await mf.ready;
  return {
    url: base.href,
    bucket: await mf.getR2Bucket("SYMBOLS"),
    fetch: (path, init) => fetch(new URL(path, base), { redirect: "manual", ...init }),
    manifest: async () => (await readdir(site)).join("\n"),
    stop: async () => {
      await mf.dispose();
      await rm(store, { recursive: true, force: true });
    },
  };
}
