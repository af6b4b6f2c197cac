// The stacks of all threads, when a large symbol file is searched as it lies: what the engine looks up where stretches of the file come by
// streams, and what two workers read half of each, is what the command finds.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const run = promisify(execFile);
let site;
let chrome;
let dir;
before(async () => {
  site = await startSite();
  chrome = await startChrome();
  dir = await mkdtemp(join(tmpdir(), "crashpane-threads-"));
  await run("go", ["run", "./build/bigsym", "-size", "64M", "-out", dir], { cwd: inRepo(".") });
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await rm(dir, { recursive: true, force: true });
});

// The first worker is the engine; those that would read the file as a whole never begin.
const onlyTheEngine = () => {
  const Made = globalThis.Worker;
  let made = 0;
  globalThis.Worker = class extends Made {
    constructor(...args) {
      if (made++) return Object.assign(new EventTarget(), { postMessage() {}, terminate() {} });
      super(...args);
    }
  };
};

test("all threads are those of the command, before the file was read as a whole", async () => {
  await chrome.context.addInitScript(onlyTheEngine);
  const tab = await chrome.open(site.origin);
  const there = tab.page.workers().find((w) => w.url().endsWith("#places")) ?? (await tab.page.waitForEvent("worker", (w) => w.url().endsWith("#places")));
  assert.ok(there, "the worker that reads for the engine is there before it is needed");
  const engine = tab.page.workers().find((w) => !w.url().endsWith("#places"));
  // How often the engine had the other worker read, in each of the two ways.
  await engine.evaluate(() => {
    globalThis.asked = { read: 0, stream: 0 };
    for (const way of ["read", "stream"]) {
      const does = crashpaneApart[way];
      crashpaneApart[way] = (...args) => (globalThis.asked[way]++, does(...args));
    }
  });
  await tab.drop([join(dir, "big.dmp"), join(dir, "big.sym")]);
  await tab.page.locator("#stack .row .src").first().waitFor();
  await tab.page.locator("#menu-download").click();
  const [download] = await Promise.all([tab.page.waitForEvent("download"), tab.page.locator('[data-act="download"][data-arg="json"]').click()]);
  const page = JSON.parse(await readFile(await download.path(), "utf8"));
  const { stdout } = await run(inRepo("dist/bin/crashpane"), ["walk", "--format", "json", join(dir, "big.dmp"), join(dir, "big.sym")], { maxBuffer: 1 << 30 });
  const command = JSON.parse(stdout);
  assert.equal(page.threads.length, 32);
  assert.deepEqual(page.threads, command.threads);
  const asked = await engine.evaluate(() => globalThis.asked);
  assert.ok(asked.read > 0 && asked.stream > 2, `the other worker was asked ${JSON.stringify(asked)}`);
  assert.deepEqual(tab.problems, []);
  await tab.close();
});
