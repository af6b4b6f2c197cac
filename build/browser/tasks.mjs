// Measures the longest tasks of the page's thread while a dump is opened, stepped through and
// scrolled, and counts the page's elements. A task should take less than 50 ms, the limit of the
// Long Tasks API.
//
//     node build/browser/tasks.mjs [RUNS] [DUMP [SYMBOLS…]]
import { inRepo, startChrome, startSite } from "./harness.mjs";

const runs = Number(process.argv[2] ?? 7);
const given = process.argv.slice(3);
const sample = ["tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((n) => `testdata/sample/${n}`);
const files = given.length ? given : sample;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

// Set up before any of the page's scripts.
function note() {
  globalThis.longTasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((e) => globalThis.longTasks.push(Math.round(e.duration)))).observe({ type: "longtask" });
}

// Scrolls a list by some rows in each frame, and returns the times between frames.
async function scroll(page, selector) {
  return page.evaluate(async (to) => {
    const list = document.querySelector(to);
    const frames = [];
    let last = await new Promise(requestAnimationFrame);
    const step = Math.max(40, Math.min(1500, list.scrollHeight / 90));
    for (let i = 0; i < 90 && list.scrollTop + list.clientHeight < list.scrollHeight - 1; i++) {
      list.scrollTop += step;
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - last);
      last = now;
    }
    return frames;
  }, selector);
}

const site = await startSite();
const phases = {};
const frames = { "#stack": [], "#threads": [] };
const opened = [];
let elements = 0;
for (let run = 0; run < runs; run++) {
  // A new browser each time, because it must compile the program, as for a new user.
  const chrome = await startChrome({ record: false });
  const page = await chrome.context.newPage();
  await page.addInitScript(note);
  await page.goto(site.origin);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "1");
  const phase = async (name) => {
    await page.waitForTimeout(300);
    const tasks = await page.evaluate(() => globalThis.longTasks.splice(0));
    (phases[name] ??= []).push(tasks.length ? Math.max(...tasks) : 0);
    if (tasks.length > 1) (phases[`${name} (sum)`] ??= []).push(tasks.reduce((a, b) => a + b));
  };
  await page.waitForTimeout(700); // nobody drops a file sooner
  await phase("start of the page");
  const cdp = await page.context().newCDPSession(page);
  const dropped = Date.now();
  const data = { items: [], files: files.map(inRepo), dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
  await page.waitForFunction(() => document.querySelector("#stack .row") && !document.querySelector(".job:not([hidden])"), undefined, { timeout: 240_000 });
  opened.push(Date.now() - dropped);
  await page.waitForTimeout(500);
  await phase("a dump is opened");
  elements = await page.evaluate(() => document.querySelectorAll(".viewer, .viewer *").length);
  for (const key of ["j", "j", "k", "n", "n", "p", "x", "e", "e"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(50);
  }
  await phase("keys");
  for (const key of ["2", "3", "4", "5", "6", "7", "8", "9", "1"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(80);
  }
  await phase("tabs");
  for (const list of Object.keys(frames)) frames[list].push(...(await scroll(page, list)));
  await phase("scrolling");
  await page.keyboard.press("/");
  await page.keyboard.type("st", { delay: 60 });
  await phase("search");
  await chrome.close();
}
await site.stop();
console.log(`${elements} elements; opened after ${median(opened)} ms (all: ${opened.join(", ")})`);
for (const [name, list] of Object.entries(phases)) {
  console.log(`${name}: longest task ${median(list) || "under 50"} ms (median of ${list.length}; all: ${list.join(", ")})`);
}
for (const [list, times] of Object.entries(frames)) {
  if (!times.length) continue;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (q) => sorted[Math.floor((sorted.length - 1) * q)].toFixed(1);
  console.log(`${list}: frames of ${at(0.5)} ms (median of ${times.length}; 95th ${at(0.95)}, longest ${at(1)})`);
}
