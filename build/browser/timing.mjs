// What the page's benchmarks have in common: opening the page, dropping files on it, noting what
// its thread and its workers do from then on, and running other tools.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { startChrome } from "./harness.mjs";

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)];
export const ms = (n) => (n >= 10_000 ? `${(n / 1000).toFixed(1)} s` : `${Math.round(n)} ms`);
export const mb = (n) => `${(n / 1048576).toFixed(0)} MB`;

// Runs a process and discards its output.
export function native(bin, args) {
  const begun = performance.now();
  const { error, status } = spawnSync(bin, args, { stdio: ["ignore", "ignore", "ignore"] });
  if (error || status) return undefined;
  return performance.now() - begun;
}

// The types of the engine's replies, in the order of the protocol's table: a message begins with
// the number of its row.
const replies = [...readFileSync(new URL("../../web/protocol/protocol.go", import.meta.url), "utf8").matchAll(/^\t\{(?:&\w+\{\}|nil), &(\w+)\{\}\},$/gm)].map((row) => row[1]);
for (const name of ["QueryResult", "Walked"]) if (!replies.includes(name)) throw new Error(`web/protocol has no reply ${name}`);

// Runs before the page's scripts, and notes the workers' messages, when the stack is painted, and
// long tasks.
function note({ replies }) {
  const at = (globalThis.noted = { tasks: [], said: {} });
  new PerformanceObserver((list) => list.getEntries().forEach((e) => at.tasks.push(Math.round(e.duration)))).observe({ type: "longtask" });
  const Made = globalThis.Worker;
  globalThis.Worker = class extends Made {
    constructor(...args) {
      super(...args);
      this.addEventListener("message", ({ data }) => {
        if (data.reply) (at.said[replies[data.reply[0]]] ??= []).push?.(performance.now());
      });
    }
  };
  // Check the page when the document has changed, and not in each frame, because having the browser
  // make frames all the time would slow down what is measured. The document is painted at the end
  // of the frame's task, so the next task comes after the painting. That task must have a high
  // priority: a message of a MessageChannel would arrive only after the next answer was drawn.
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

// The interval in milliseconds at which the page is polled. By default Playwright polls in each
// frame, for which the browser has to make frames.
export const polling = 50;

// script is a function that runs before the page's scripts, too.
export async function open(site, files, { timeout = 600_000, script } = {}) {
  const chrome = await startChrome({ record: false });
  const page = await chrome.context.newPage();
  await page.addInitScript(note, { replies });
  if (script) await page.addInitScript(script);
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
