// A page of the Worker shows a crash with a symbol file of 1 GB in the Worker's bucket, and
// downloads only a small part of it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { inRepo, startChrome } from "../browser/harness.mjs";
import { startEdge } from "./edge.mjs";

const run = promisify(execFile);
const path = "big/0BADCAFE5EEDF00D0123456789ABCDEF0/big.sym";
let dir;
let edge;
let chrome;
after(async () => {
  await chrome?.close();
  await edge?.stop();
  if (dir) await rm(dir, { recursive: true, force: true });
});

const skip = process.env.BROWSER === "none" && "*** SKIPPED: what a page downloads of 1 GB in the bucket; BROWSER=none leaves the browser out";

test("the stacks of a dump need less than 5 MB of a file of 1 GB in the bucket", { skip }, async (t) => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-large-"));
  await run("go", ["run", "./build/bigsym", "-size", "1G", "-out", dir], { cwd: inRepo(".") });
  const [dump, sym] = [join(dir, "big.dmp"), join(dir, "big.sym")];
  const { size } = await stat(sym);
  assert.ok(size >= 2 ** 30);
  edge = await startEdge();
  // Compare with the command, for the same files on disk.
  const command = run(inRepo("dist/bin/crashpane"), ["walk", "--format", "json", dump, sym], { maxBuffer: 1 << 28 });
  assert.equal(await edge.put(path, sym), size);
  const { stdout } = await command;
  const native = JSON.parse(stdout);
  const crashed = native.threads[native.crash_info.crashing_thread].frames;

  chrome = await startChrome();
  const tab = await chrome.open(edge.url);
  await tab.drop([dump]);
  await tab.page.locator("#stack .row").first().waitFor();
  await tab.part("wanted");
  await tab.page.locator("#sources-button").click();
  await tab.page.locator(".source-addresses").getByText(new URL(`/symbols/${path}`, edge.url).href).waitFor();
  const parts = () => tab.requests.filter(({ url }) => url.includes("/symbols/"));
  assert.deepEqual(parts(), [], "something was asked without a word");
  await tab.page.locator('[data-act="ask"]').click();
  await tab.sees(`${crashed[0].function}`, { timeout: 120_000 });
  // The engine walks other stacks as long as that needs few bytes. Wait until it stops reading.
  for (let n = -1; n !== parts().length; await tab.page.waitForTimeout(1500)) n = parts().length;
  const shown = await tab.page.locator("#stack").innerText();
  // The page shortens long names.
  for (const { file, line } of crashed.slice(0, 6)) assert.ok(shown.includes(`${basename(file)}:${line}`), `${file}:${line} is not in the stack:\n${shown}`);
  const bytes = parts().reduce((sum, { came }) => sum + came, 0);
  t.diagnostic(`${bytes} bytes of ${size} in ${parts().length} answers`);
  assert.ok(parts().some(({ url }) => url.endsWith(path)));
  for (const { url, status } of parts()) assert.equal(status, url.endsWith(path) ? 206 : 404, url);
  assert.ok(bytes > 0 && bytes < 5_000_000, `${bytes} bytes came`);
  assert.deepEqual(tab.foreign, []);
});
