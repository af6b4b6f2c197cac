// What the page fetches of a large symbol file on a server for the crashed thread alone, with the
// index next to it (crashpane index) and without: requests, bytes, and the time from the press to
// the named stack.
//
//     node build/browser/remote.mjs DIR…        folders as make_big_sym.py makes them: NAME.dmp, NAME/ID/NAME.sym
//
// For a thread of 60 frames in 1 GB, 300 requests and 8 MB are wanted with the index, the index's
// own among them.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { inRepo, startChrome, startSite } from "./harness.mjs";
import { siteWith, startSource } from "./symbols.mjs";
import { ms } from "./timing.mjs";

// A dump with the crashed thread and no other: the list of threads (stream 3), which has it first,
// is cut to one of 48 bytes.
function oneThread(path, to) {
  const dump = readFileSync(path);
  for (let i = 0, row = dump.readUInt32LE(12); i < dump.readUInt32LE(8); i++, row += 12) {
    if (dump.readUInt32LE(row) !== 3) continue;
    dump.writeUInt32LE(52, row + 4);
    dump.writeUInt32LE(1, dump.readUInt32LE(row + 8));
  }
  writeFileSync(to, dump);
}

const dirs = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "crashpane-remote-"));
const source = await startSource();
const made = await siteWith([source.base]);
const site = await startSite({ dir: made.site });
try {
  for (const dir of dirs) {
    const name = basename(readdirSync(dir).find((file) => file.endsWith(".dmp")), ".dmp");
    const path = `${name}/${readdirSync(join(dir, name))[0]}/${name}.sym`;
    const file = join(dir, path);
    const dump = join(scratch, `${name}.dmp`);
    oneThread(join(dir, `${name}.dmp`), dump);
    execFileSync(inRepo("dist/bin/crashpane"), ["index", file], { stdio: "inherit" });
    for (const index of [true, false]) {
      source.files = { [path]: { file }, ...(index && { [`${path}.index`]: { file: `${file}.index` } }) };
      source.seen = [];
      const chrome = await startChrome({ record: false });
      const tab = await chrome.open(site.origin);
      await tab.drop([dump]);
      await tab.page.locator("#stack .row").first().waitFor();
      await tab.part("wanted");
      await tab.page.locator("#sources-button").click();
      await tab.page.locator('[data-act="ask"]:not([disabled])').waitFor();
      const begun = performance.now();
      await tab.page.locator('[data-act="ask"]').click();
      await tab.page.waitForFunction(() => document.querySelector("#stack .row .src")?.textContent, undefined, { timeout: 600_000, polling: 50 });
      const took = performance.now() - begun;
      for (let n = -1; n !== source.seen.length; await tab.page.waitForTimeout(1500)) n = source.seen.length;
      const rows = await tab.page.evaluate(() => document.querySelector("#threads")?.innerText.trim().split("\n").length);
      const of = (list) => `${list.length} requests, ${(list.reduce((sum, { sent }) => sum + sent, 0) / 1e6).toFixed(1)} MB`;
      console.log(`${name}, ${index ? "with the index" : "without"}: ${of(source.seen)} (of the index ${of(source.seen.filter(({ url }) => url.endsWith(".index")))}), ${ms(took)}; lines of the thread list: ${rows}`);
      await chrome.close();
    }
  }
} finally {
  await site.stop();
  await source.stop();
  await made.remove();
  rmSync(scratch, { recursive: true });
}
