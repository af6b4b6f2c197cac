// Measures many dumps in Chromium, as a folder, a zip and a tar: the time from the drop until the table has its first rows, until
// all dumps are described, the memory of the page's programs, and the longest task of the page's thread, by the clock and in
// the processor's time, which other programs do not lengthen. 500 dumps should take at most 10 s, 10,000 at most 256 MB, a task 50 ms.
//
//     node build/browser/dumps.mjs [DUMPS…]        default: 500 10000
import { execFileSync } from "node:child_process";
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
  execFileSync("tar", ["-cf", `${folder}.tar`, "-C", scratch, `${count}`]);
  return { folder, zip: `${folder}.zip`, tar: `${folder}.tar` };
}

// Notes the drop and the first row.
function note() {
  const at = (globalThis.table = {});
  const look = () => {
    if (!at.rows && document.querySelector("#dump-table .row")) at.rows = performance.now();
  };
  addEventListener("drop", () => ((at.drop = performance.now()), new MutationObserver(look).observe(document.body, { childList: true, subtree: true })), true);
}

const described = (count) => {
  const said = document.querySelector(".dumps-title")?.innerText;
  return said === `${count.toLocaleString("en-US")} dumps` && document.querySelector("#dump-table .row") && !document.querySelector(".dumps-note").innerText.includes("walked") && performance.now();
};

// Traces the tasks of the pages' threads until the function that it returns is called.
async function traceTasks(browser) {
  const cdp = await browser.newBrowserCDPSession();
  const tasks = [];
  const threads = new Set();
  const thread = (e) => `${e.pid} ${e.tid}`;
  cdp.on("Tracing.dataCollected", ({ value }) => {
    for (const e of value) {
      if (e.name === "thread_name" && e.args.name === "CrRendererMain") threads.add(thread(e));
      if (e.name === "ThreadControllerImpl::RunTask" && e.dur > 10_000) tasks.push(e);
    }
  });
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel"], excludedCategories: ["*"] } });
  return async () => {
    const complete = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
    await cdp.send("Tracing.end");
    await complete;
    return tasks.filter((e) => threads.has(thread(e))).map((e) => ({ took: e.dur / 1000, worked: e.tdur / 1000 }));
  };
}

async function measure(site, file, count) {
  const chrome = await startChrome({ record: false });
  try {
    const tab = await chrome.open("about:blank", { ready: false });
    await tab.page.addInitScript(note);
    await tab.page.goto(site.origin);
    await tab.ready();
    await tab.page.waitForTimeout(2000); // the engine's program is there
    const ended = await traceTasks(chrome.context.browser());
    await tab.drop([file]);
    const all = await (await tab.page.waitForFunction(described, count, { timeout: 600_000, polling: 100 })).jsonValue();
    const { drop, rows } = await tab.page.evaluate(() => globalThis.table);
    const tasks = await ended();
    const longest = (of) => Math.max(0, ...tasks.map((t) => t[of]));
    const peak = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
    return { rows: rows - drop, all: all - drop, peak, took: longest("took"), worked: longest("worked") };
  } finally {
    await chrome.close();
  }
}

const site = await startSite();
try {
  for (const count of counts) {
    const made = make(count);
    for (const form of ["folder", "zip", "tar"]) {
      const m = await measure(site, made[form], count);
      console.log(`${count} dumps, ${form}: first rows ${ms(m.rows)}, all described ${ms(m.all)}, ${mb(m.peak)}; longest task ${ms(m.took)}, ${ms(m.worked)} of the processor`);
    }
  }
} finally {
  await site.stop();
  rmSync(scratch, { recursive: true, force: true });
}
