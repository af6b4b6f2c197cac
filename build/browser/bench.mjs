// Measures the time from navigation until the page is ready, in a new Chromium, cold (nothing
// cached) and warm.
//
//     node build/browser/bench.mjs [RUNS]
import { startChrome, startSite } from "./harness.mjs";

const runs = Number(process.argv[2] ?? 15);
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

// The page sets an attribute when it is ready; an observer, which is set up before the page's
// scripts, notes the time.
function note() {
  const at = () => {
    if (document.documentElement?.dataset.ready === "1" && !globalThis.readyAt) globalThis.readyAt = performance.now();
  };
  new MutationObserver(at).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-ready"] });
}

async function measure(chrome, url) {
  const page = await chrome.context.newPage();
  await page.addInitScript(note);
  await page.goto(url);
  await page.waitForFunction(() => globalThis.readyAt, undefined, { timeout: 30_000 });
  // The first paint is reported a little later than it happens.
  await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length, undefined, { timeout: 5_000 });
  const result = await page.evaluate(() => ({
    usable: globalThis.readyAt,
    paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    bytes: performance.getEntriesByType("resource").reduce((sum, r) => sum + r.encodedBodySize, 0),
  }));
  await page.close();
  return result;
}

const site = await startSite();
try {
  const cold = [];
  for (let i = 0; i < Math.min(runs, 5); i++) {
    const chrome = await startChrome({ record: false });
    cold.push(await measure(chrome, site.origin));
    await chrome.close();
  }
  const chrome = await startChrome({ record: false });
  await measure(chrome, site.origin);
  const warm = [];
  for (let i = 0; i < runs; i++) warm.push(await measure(chrome, site.origin));
  await chrome.close();
  const line = (name, list) => {
    const usable = list.map((r) => r.usable);
    const [first, last] = [Math.min(...usable), Math.max(...usable)].map((n) => n.toFixed(0));
    const paint = median(list.map((r) => r.paint)).toFixed(0);
    console.log(
      `${name}: usable after ${median(usable).toFixed(0)} ms (median of ${list.length}, ${first} to ${last}); first paint ${paint} ms`,
    );
  };
  console.log(`page start, navigation to usable; ${cold[0].bytes} bytes of content-encoded resources`);
  line("new browser  ", cold);
  line("browser cache", warm);
} finally {
  await site.stop();
}
