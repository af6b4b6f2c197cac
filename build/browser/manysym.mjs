// Measures a dump of 300 modules with a folder of symbol files of several releases in Chromium, as
// a folder and as a zip. It measures the time from the drop until the crashed thread's frames have
// names, the time until the engine has nothing left to do, and the memory of the page's programs.
// Ten times the files should take ten times as long, and 4,000 at most 10 s.
//
//     node build/browser/manysym.mjs [FILES…]        default: 400 4000
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inRepo, startSite } from "./harness.mjs";
import { mb, ms, open, polling } from "./timing.mjs";
import { zip } from "./zip.mjs";

const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [400, 4000];
const scratch = mkdtempSync(join(tmpdir(), "crashpane-manysym-"));

function make(files) {
  const dir = join(scratch, `${files}`);
  execFileSync("go", ["run", "./build/manysym", "-modules", "300", "-files", `${files}`, "-o", dir], { cwd: inRepo("."), stdio: "inherit" });
  const symbols = join(dir, "symbols");
  writeFileSync(join(dir, "symbols.zip"), zip(...readdirSync(symbols).map((name) => ({ name, data: readFileSync(join(symbols, name)) }))));
  return { dump: join(dir, "many.dmp"), folder: symbols, zip: join(dir, "symbols.zip") };
}

// Notes when the headline says that all modules of the stack have symbols, and when the engine sent
// its last message.
function note() {
  const at = (globalThis.named = {});
  const look = () => {
    if (!at.named && /^Symbols for all/.test(document.querySelector(".verdict-quality .fact + .fact")?.textContent)) at.named = performance.now();
  };
  addEventListener("drop", () => new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true }), true);
}

const quiet = () => {
  const { said } = globalThis.noted;
  const last = Math.max(...Object.values(said).flat());
  return document.querySelector(".job").hidden && performance.now() - last > 2000 && last;
};

async function measure(site, files) {
  const tab = await open(site, files, { script: note });
  const last = await (await tab.page.waitForFunction(quiet, undefined, { timeout: 600_000, polling })).jsonValue();
  const { drop, tasks } = await tab.noted();
  const { named } = await tab.page.evaluate(() => globalThis.named);
  const peak = await tab.page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);
  await tab.chrome.close();
  return { named: named - drop, all: last - drop, peak, longest: Math.max(0, ...tasks), tasks: tasks.length };
}

const site = await startSite();
try {
  for (const count of counts) {
    const made = make(count);
    for (const form of ["folder", "zip"]) {
      const m = await measure(site, [made.dump, made[form]]);
      console.log(`${count} files, ${form}: names ${ms(m.named)}, all ${ms(m.all)}, ${mb(m.peak)}; ${m.tasks} tasks over 50 ms, longest ${m.longest} ms`);
    }
  }
} finally {
  await site.stop();
  rmSync(scratch, { recursive: true, force: true });
}
