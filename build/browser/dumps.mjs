// Measures many dumps in Chromium, as a folder and as a zip: the time from the drop until the table has its first rows, until
// all dumps are described, and the memory of the page's programs. 500 dumps should take at most 10 s, and 10,000 at most 256 MB.
//
//     node build/browser/dumps.mjs [DUMPS…]        default: 500 10000
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inRepo, startChrome, startSite } from "./harness.mjs";
import { mb, ms } from "./timing.mjs";
import { zip } from "./zip.mjs";

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [500, 10_000];
const scratch = mkdtempSync(join(tmpdir(), "crashpane-dumps-"));
const whole = ["windows/app-full.dmp", "windows/app-full.dmp", "windows/app.dmp", "sample/tilecruncher.dmp"].map((name) => readFileSync(inRepo(`testdata/${name}`)));

// Makes dumps that differ in their header's time.
function make(count) {
  const folder = join(scratch, `${count}`);
  mkdirSync(folder);
  const members = [];
  for (let i = 0; i < count; i++) {
    const data = Buffer.from(whole[i % whole.length]);
    data.writeUInt32LE(1_760_000_000 + i * 977, 20);
    const name = `${String(i).padStart(5, "0")}.dmp`;
    members.push({ name, data });
    writeFileSync(join(folder, name), data);
  }
  writeFileSync(`${folder}.zip`, zip(...members));
  return { folder, zip: `${folder}.zip` };
}

// Notes the drop, the first row, and long tasks from the drop on.
function note() {
  const at = (globalThis.table = { tasks: [] });
  const look = () => {
    if (!at.rows && document.querySelector("#dump-table .row")) at.rows = performance.now();
  };
  new PerformanceObserver((list) => at.drop && at.tasks.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" });
  addEventListener("drop", () => ((at.drop = performance.now()), new MutationObserver(look).observe(document.body, { childList: true, subtree: true })), true);
}

const described = (count) => {
  const said = document.querySelector(".dumps-title")?.innerText;
  return said === `${count.toLocaleString("en-US")} dumps` && !document.querySelector(".dumps-note").innerText.includes("walked") && performance.now();
};

async function measure(site, file, count) {
  const chrome = await startChrome({ record: false });
  try {
    const tab = await chrome.open("about:blank", { ready: false });
    await tab.page.addInitScript(note);
    await tab.page.goto(site.origin);
    await tab.ready();
    await tab.page.waitForTimeout(2000); // the engine's program is there
    await tab.drop([file]);
    const all = await (await tab.page.waitForFunction(described, count, { timeout: 600_000, polling: 100 })).jsonValue();
    const { drop, rows, tasks } = await tab.page.evaluate(() => globalThis.table);
    const peak = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
    return { rows: rows - drop, all: all - drop, peak, longest: Math.max(0, ...tasks), tasks: tasks.length };
  } finally {
    await chrome.close();
  }
}

const site = await startSite();
try {
  for (const count of counts) {
    const made = make(count);
    for (const form of ["folder", "zip"]) {
      const m = await measure(site, made[form], count);
      console.log(`${count} dumps, ${form}: first rows ${ms(m.rows)}, all described ${ms(m.all)}, ${mb(m.peak)}; ${m.tasks} tasks over 50 ms, longest ${m.longest} ms`);
    }
  }
} finally {
  await site.stop();
  rmSync(scratch, { recursive: true, force: true });
}
