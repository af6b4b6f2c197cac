// What the measuring scripts of the page have in common: a page that is opened as a person does, files dropped on it as by a hand, and a
// note of what its thread and its workers did from then on; and whole processes of other tools.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { startChrome } from "./harness.mjs";

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)];
export const ms = (n) => (n >= 10_000 ? `${(n / 1000).toFixed(1)} s` : `${Math.round(n)} ms`);
export const mb = (n) => `${(n / 1048576).toFixed(0)} MB`;

// Whole processes, output thrown away.
export function native(bin, args) {
  const begun = performance.now();
  const { error, status } = spawnSync(bin, args, { stdio: ["ignore", "ignore", "ignore"] });
  if (error || status) return undefined;
  return performance.now() - begun;
}

// The types of the engine's replies, in the order of the protocol's table: a message begins with the number of its row.
const replies = [...readFileSync(new URL("../../web/protocol/protocol.go", import.meta.url), "utf8").matchAll(/^\t\{(?:&\w+\{\}|nil), &(\w+)\{\}\},$/gm)].map((row) => row[1]);
for (const name of ["QueryResult", "Walked"]) if (!replies.includes(name)) throw new Error(`web/protocol has no reply ${name}`);

// Set up before any of the page's scripts: notes what the workers say, when the stack is painted, long tasks.
function note({ cores, replies }) {
  if (cores) Object.defineProperty(navigator, "hardwareConcurrency", { value: cores });
  const at = (globalThis.noted = { tasks: [], said: {}, workers: 0 });
  new PerformanceObserver((list) => list.getEntries().forEach((e) => at.tasks.push(Math.round(e.duration)))).observe({ type: "longtask" });
  const Made = globalThis.Worker;
  globalThis.Worker = class extends Made {
    constructor(...args) {
      super(...args);
      if (at.workers++ === 1) at.said.pass ??= performance.now();
      this.addEventListener("message", ({ data }) => {
        if (data.reply) (at.said[replies[data.reply[0]]] ??= []).push?.(performance.now());
      });
    }
  };
  // What is drawn is looked at when it has changed, and not at each frame: having the browser make frames all the time takes a part of
  // what is measured. What stands in the document is painted at the end of the frame's task, and the next task comes when it is: one that goes
  // before all others, since a message (of a MessageChannel) comes only when the answer that follows has been drawn.
  addEventListener("drop", () => {
    at.drop = performance.now();
    let seen = false;
    const eyes = new MutationObserver(() => {
      if (!seen && document.querySelector("#stack .row .src")?.textContent) {
        seen = true;
        requestAnimationFrame(() => scheduler.postTask(() => (at.stack = performance.now()), { priority: "user-blocking" }));
      }
      if (!at.loaded && [...document.querySelectorAll("#modules .state span")].some((e) => e.textContent.startsWith("loaded"))) at.loaded = performance.now();
    });
    eyes.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
  }, true);
}

// How often, in milliseconds, the page is asked whether it is done: by frames, as Playwright does it otherwise, the browser makes them for that.
export const polling = 50;

export async function open(site, files, { cores, timeout = 600_000 } = {}) {
  const chrome = await startChrome({ record: false });
  const page = await chrome.context.newPage();
  await page.addInitScript(note, { cores, replies });
  await page.goto(site.origin);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "1");
  await page.waitForTimeout(5000); // the page is open, and its warm-up is over
  await page.evaluate(() => globalThis.noted.tasks.splice(0));
  const before = await page.workers()[0]?.evaluate(() => globalThis.crashpaneWorker?.read); // by the warm-up
  const cdp = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await cdp.send("Input.dispatchDragEvent", { type, x: 400, y: 300, data });
  await page.waitForFunction(() => globalThis.noted.stack, undefined, { timeout, polling });
  return { chrome, page, before, noted: () => page.evaluate(() => globalThis.noted) };
}

export const ratio = (a, b) => (b ? (a < b ? `1/${(b / a).toFixed(1)}` : `${(a / b).toFixed(2)}×`) : "nothing to compare with");
