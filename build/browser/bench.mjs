// Measures the start of the page: from navigation until it is usable, until the sample's stack is
// there after a click at that moment, and until a Windows crash with its program and PDB is there
// that is dropped at that moment. Each is measured in a new browser (cold) and with what a browser
// has kept (warm), on this machine's own network and with a server slowed down to 20 Mbit/s and
// 40 ms. Several built sites are measured in turn.
//
//     node build/browser/bench.mjs [--runs 5] [SITE…]
import { readFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const args = process.argv.slice(2);
const at = args.indexOf("--runs");
const runs = at < 0 ? 5 : Number(args.splice(at, 2)[1]);
const dirs = args.length ? args : ["dist/site"];
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

// The page sets an attribute when it is ready; an observer, which is set up before the page's
// scripts, notes the time, and that of the first named rows of a stack.
function note() {
  const look = () => {
    if (document.documentElement?.dataset.ready === "1") globalThis.readyAt ??= performance.now();
    if (document.querySelector("#stack .row .src")?.textContent) globalThis.stackAt ??= performance.now();
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["data-ready"] });
}

// Puts a slow network before a site: answers begin after 40 ms, and share 20 Mbit/s.
async function slowed(origin) {
  const rate = 20e6 / 8;
  let free = 0; // when the line is free again
  const server = http.createServer((request, response) => {
    http.get(new URL(request.url, origin), { headers: { ...request.headers, host: new URL(origin).host } }, async (answer) => {
      await new Promise((done) => setTimeout(done, 40));
      response.writeHead(answer.statusCode, answer.headers);
      for await (const piece of answer) {
        for (let from = 0; from < piece.length; from += 16384) {
          const part = piece.subarray(from, from + 16384);
          free = Math.max(free, performance.now()) + (part.length / rate) * 1000;
          await new Promise((done) => setTimeout(done, free - performance.now()));
          response.write(part);
        }
      }
      response.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { origin: `http://127.0.0.1:${server.address().port}`, stop: () => (server.closeAllConnections(), server.close()) };
}

const dir = await mkdtemp(join(tmpdir(), "crashpane-bench-"));
await writeFile(join(dir, "app.pdb"), gunzipSync(await readFile(inRepo("testdata/windows/app.pdb.gz"))));
const windows = [...["app.dmp", "app.exe"].map((name) => inRepo(`testdata/windows/${name}`)), join(dir, "app.pdb")];
const cases = {
  "the sample": (page) => page.getByRole("button", { name: "Open the sample" }).click(),
  "program + PDB": async (page) => {
    const cdp = await page.context().newCDPSession(page);
    const data = { items: [], files: windows, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
  },
};

async function measure(chrome, url, act) {
  const page = await chrome.context.newPage();
  page.on("dialog", (dialog) => dialog.accept().catch(() => {}));
  await page.addInitScript(note);
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => globalThis.readyAt, undefined, { timeout: 60_000, polling: 5 });
  await act(page);
  await page.waitForFunction(() => globalThis.stackAt, undefined, { timeout: 60_000, polling: 20 });
  const result = await page.evaluate(() => ({ usable: globalThis.readyAt, stack: globalThis.stackAt }));
  await page.close();
  return result;
}

// results has lists of milliseconds by "network, cache, what" and site.
const results = new Map();
function add(key, site, value) {
  const row = results.get(key) ?? results.set(key, new Map()).get(key);
  row.set(site, [...(row.get(site) ?? []), value]);
}

const sites = [];
for (const name of dirs) {
  const site = await startSite({ dir: name });
  sites.push({ name, site, slow: await slowed(site.origin) });
}
try {
  for (let run = 0; run < runs; run++) {
    for (const [what, act] of Object.entries(cases)) {
      for (const network of ["local", "20 Mbit/s"]) {
        for (const { name, site, slow } of sites) {
          const chrome = await startChrome({ record: false });
          for (const cache of ["cold", "warm"]) {
            const { usable, stack } = await measure(chrome, network === "local" ? site.origin : slow.origin, act);
            add(`${network}, ${cache}: usable`, name, usable);
            add(`${network}, ${cache}: ${what}`, name, stack);
          }
          await chrome.close();
        }
      }
    }
  }
} finally {
  for (const { site, slow } of sites) {
    slow.stop();
    await site.stop();
  }
  await rm(dir, { recursive: true, force: true });
}
console.log(`from navigation, medians of ${runs} runs, in ms${dirs.length > 1 ? `, for ${dirs.join(", ")}` : ""}`);
for (const [key, row] of [...results].sort(([a], [b]) => (a < b ? -1 : 1))) {
  console.log(`${key.padEnd(40)} ${[...row.values()].map((list) => median(list).toFixed(0).padStart(6)).join(" ")}`);
}
