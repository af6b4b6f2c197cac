// While a large symbol file is searched and not yet fully indexed, the page finds the same stacks
// of all threads as the command.
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

// The workers that would index the file for the engine never start.
const noIndexers = () => {
  globalThis.Worker = class extends EventTarget {
    postMessage() {}
    terminate() {}
  };
};

test("all stacks are those of the command, before the file is fully indexed", async () => {
  const tab = await chrome.open(site.origin);
  const engine = tab.page.workers()[0] ?? (await tab.page.waitForEvent("worker"));
  await engine.evaluate(noIndexers);
  await tab.drop([join(dir, "big.dmp"), join(dir, "big.sym")]);
  await tab.page.locator("#stack .row .src").first().waitFor();
  const page = JSON.parse((await tab.downloaded("json", { shown: true })).text);
  const { stdout } = await run(inRepo("dist/bin/crashpane"), ["walk", "--format", "json", join(dir, "big.dmp"), join(dir, "big.sym")], { maxBuffer: 1 << 30 });
  const command = JSON.parse(stdout);
  assert.equal(page.threads.length, 32);
  assert.deepEqual(page.threads, command.threads);
  assert.deepEqual(tab.problems, []);
  await tab.close();
});
