// Measures large symbol files in Chromium and by rust-minidump, in one run on the same machine: a
// generated gigabyte with a dump of 32 threads, dropped into a new browser each time. Also measures
// memory, long tasks and scrolling.
//
//     node build/browser/big.mjs [RUNS [SIZE…]]        default: 3 runs of 100M and 1G
//
// The files are those of build/bigsym, and of the other generator if make bench has made them
// (CRASHPANE_GENERATED).
//
// On a busy machine everything is slower, and not in proportion, because a browser's reads go
// through three processes. Compare only figures of one run.
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { inRepo, startSite } from "./harness.mjs";
import { mb, median, ms, native, open, polling, ratio } from "./timing.mjs";

const runs = Number(process.argv[2] ?? 3);
const sizes = process.argv.length > 3 ? process.argv.slice(3) : ["100M", "1G"];
// The files, made once, in dist, which is not committed.
function made(size, ...also) {
  const dir = inRepo(`dist/bench/${size}`);
  const make = (...args) => execFileSync("go", ["run", "./build/bigsym", "-size", size, ...args, "-out", dir], { cwd: inRepo("."), stdio: "inherit" });
  if (!existsSync(join(dir, "big.sym"))) make();
  for (const [name, threads, frames] of also) {
    if (!existsSync(join(dir, name))) make("-dump", name, "-threads", threads, "-frames", frames);
  }
  const store = join(dir, "store/big/0BADCAFE5EEDF00D0123456789ABCDEF0");
  if (!existsSync(store)) {
    mkdirSync(store, { recursive: true });
    symlinkSync(join(dir, "big.sym"), join(store, "big.sym"));
  }
  return { dir, dump: join(dir, "big.dmp"), sym: join(dir, "big.sym"), store: join(dir, "store"), bytes: statSync(join(dir, "big.sym")).size };
}

// The files of the other generator, if they were made.
function generated(size) {
  const dir = join(process.env.CRASHPANE_GENERATED ?? inRepo("dist/generated"), size);
  if (!existsSync(join(dir, "big_synth.dmp"))) return console.log(`*** SKIPPED: there is no ${dir}: the files of the other generator are not timed ***`);
  const sym = join(dir, "big_synth", readdirSync(join(dir, "big_synth"))[0], "big_synth.sym");
  return { dir, dump: join(dir, "big_synth.dmp"), sym, store: dir, bytes: statSync(sym).size };
}

// A real symbol file with its dump, as `make bench` has unpacked or enlarged it, in the layout of a
// symbol store for the peer.
function real(name, dump) {
  const sym = join(process.env.CRASHPANE_GENERATED ?? inRepo("dist/generated"), name);
  if (!existsSync(sym) || !existsSync(dump)) return console.log(`*** SKIPPED: there is no ${sym}, or no ${dump}: real files are not timed ***`);
  const head = Buffer.alloc(1024);
  const file = openSync(sym);
  readSync(file, head);
  closeSync(file);
  const [, , , id, module] = head.toString().split("\n")[0].trim().split(" ");
  const store = `${sym}.store`;
  const place = join(store, module, id);
  mkdirSync(place, { recursive: true });
  const link = join(place, `${module.replace(/\.pdb$/, "")}.sym`);
  if (!existsSync(link)) symlinkSync(sym, link);
  return { dump, sym, store, bytes: statSync(sym).size };
}

const memory = (page) => page.evaluate(() => document.querySelector(".crashpane-root").crashpaneMemory.peak);

// Measures from the drop to the crashed thread, to all threads, and to the end of indexing.
async function whole(site, files, { exact = true, timeout = 900_000 } = {}) {
  const tab = await open(site, files);
  await tab.page.waitForFunction(() => globalThis.noted.said.Walked, undefined, { timeout, polling });
  if (exact) await tab.page.waitForFunction(() => globalThis.noted.loaded, undefined, { timeout, polling });
  const n = await tab.noted();
  const reads = await tab.page.workers()[0]?.evaluate(() => globalThis.crashpaneWorker?.read);
  for (const k in reads) reads[k] -= tab.before?.[k] ?? 0;
  const peak = await memory(tab.page);
  await tab.chrome.close();
  return { stack: n.stack - n.drop, all: n.said.Walked[0] - n.drop, pass: exact ? n.loaded - n.stack : 0, peak, reads, tasks: n.tasks };
}

async function large(site, size, files) {
  const rust = [];
  const ours = [];
  for (let i = 0; i < runs; i++) {
    rust.push(native("minidump-stackwalk", ["--json", "--no-interactive", files.dump, files.store]));
    ours.push(await whole(site, [files.dump, files.sym], { exact: i === 0 }));
  }
  const peer = rust.every((t) => t !== undefined) ? median(rust) : undefined;
  if (!peer) console.log("*** SKIPPED: minidump-stackwalk is not installed; nothing is compared with it ***");
  const stack = median(ours.map((r) => r.stack));
  const all = median(ours.map((r) => r.all));
  console.log(`\n${basename(files.sym)}, ${size} of symbols (${files.bytes} bytes), 32 threads, median of ${runs}`);
  console.log(`  rust-minidump, whole process      ${peer ? ms(peer) : "–"}`);
  console.log(`  drop to crashed thread, painted   ${ms(stack)}   ${ratio(stack, peer)} (wanted: 1/20 at 1G)`);
  console.log(`  drop to all threads walked        ${ms(all)}   ${ratio(all, peer)} (wanted: 1/4 at 1G)`);
  const first = ours[0];
  console.log(`  exact pass, ${files.bytes >> 20} MB in workers  ${ms(first.pass)}   ${(files.bytes / 1e3 / first.pass).toFixed(0)} MB/s`);
  console.log(`  memory of all programs, peak      ${mb(first.peak)} (wanted: 128 MB)`);
  if (first.reads) console.log(`  the engine read                   ${first.reads.slices} slices, ${mb(first.reads.bytes)}`);
  const tasks = ours.flatMap((r) => r.tasks);
  console.log(`  long tasks of the page's thread   ${tasks.length ? `${tasks.length}, longest ${Math.max(...tasks)} ms` : "none"}`);
}

// Compares the time to the crashed thread for two files. They are opened in turn, because a machine
// that is busy for some minutes would change the ratio by more than the difference.
async function growth(site, from, to) {
  const times = [[], []];
  for (let i = 0; i < 6 * runs; i++) {
    for (const [k, { dump, sym }] of [from, to].entries()) {
      const tab = await open(site, [dump, sym]);
      const n = await tab.noted();
      await tab.chrome.close();
      times[k].push(n.stack - n.drop);
    }
  }
  const [less, more] = times.map(median);
  console.log(`\n${basename(to.sym)}, from ${from.size} to ${to.size}, in turn, medians of ${6 * runs}: ${ms(less)} and ${ms(more)} to the crashed thread, ${(more / less).toFixed(2)}× (wanted: 1.3×)`);
}

// Measures indexing by the page's workers, and by the command on one core.
async function passes(site, { dump, sym, store, bytes }) {
  const { pass } = await whole(site, [dump, sym]);
  process.env.GOMAXPROCS = "1";
  const cli = native(inRepo("dist/bin/crashpane"), ["walk", "--exact", "--format", "json", dump, store]);
  delete process.env.GOMAXPROCS;
  console.log(`\nexact pass over ${bytes >> 20} MB, from the stack to the full index: ${ms(pass)}, ${ratio(pass, cli)} of crashpane walk --exact on one core, ${cli ? ms(cli) : "–"} (wanted: 2.5×)`);
}

// Measures the time between frames while a list is scrolled, and from the arrival of rows until
// they are painted.
async function scrolling(site, name, files, list, wait) {
  const tab = await open(site, files);
  await tab.page.waitForFunction(() => globalThis.noted.said.Walked || ![...document.querySelectorAll(".thread-top")].some((e) => e.textContent === "…"), undefined, { timeout: 600_000, polling });
  await tab.page.waitForTimeout(wait);
  const n = await tab.noted();
  const frames = await tab.page.evaluate(async (to) => {
    const box = document.querySelector(to);
    const out = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < 150 && box.scrollTop + box.clientHeight < box.scrollHeight - 1; i++) {
      box.scrollTop += Math.max(30, Math.min(900, box.scrollHeight / 150));
      const now = await new Promise(requestAnimationFrame);
      out.push(now - last);
      last = now;
    }
    return { out, rows: box.querySelector(".list-all").offsetHeight };
  }, list);
  await tab.chrome.close();
  const sorted = frames.out.toSorted((a, b) => a - b);
  const q = (p) => sorted[Math.floor((sorted.length - 1) * p)]?.toFixed(1);
  const came = n.said.QueryResult.filter((t) => t <= n.stack).at(-1);
  console.log(`\n${name}: ${frames.rows} px of rows; painted ${ms(n.stack - came)} after its rows came (wanted: 100 ms)`);
  console.log(`  frames while scrolling ${list}: ${q(0.5)} ms (median of ${sorted.length}; 95th ${q(0.95)}, longest ${q(1)}); long tasks ${n.tasks.length ? `${n.tasks.length}, longest ${Math.max(...n.tasks)} ms` : "none"}`);
}

const site = await startSite();
try {
  for (const files of [made, generated]) {
    const all = [];
    for (const size of sizes) {
      const these = files(size);
      if (!these) continue;
      await large(site, size, these);
      all.push({ size, ...these });
    }
    for (const [i, to] of all.slice(1).entries()) await growth(site, all[i], to);
  }
  const corpus = inRepo("../shared/corpus");
  for (const [what, files] of [
    ["1G, STACK CFI sorted", generated("1G-sorted")],
    ["a real file, 82 MB", real("bigcrash.sym", join(corpus, "large/bigcrash.dmp"))],
    ["the same, inflated to 1G", real("bigcrash-1G.sym", join(corpus, "large/bigcrash.dmp"))],
    ["Windows, STACK WIN, inflated to 300M", real("test_app-300M.sym", join(corpus, "breakpad/dumps/minidump2.dmp"))],
  ]) {
    if (files) await large(site, what, files);
  }
  await passes(site, made(sizes[0]));
  const small = made("20M", ["many.dmp", "2000", "5"], ["deep.dmp", "2", "10000"], ["busy.dmp", "500", "20"]);
  await scrolling(site, "2,000 threads", [join(small.dir, "many.dmp"), small.sym], "#threads", 500);
  await scrolling(site, "10,000 frames in a thread", [join(small.dir, "deep.dmp"), small.sym], "#stack", 500);
  const biggest = made(sizes.at(-1), ["busy.dmp", "500", "20"]);
  await scrolling(site, `500 threads with ${sizes.at(-1)} of symbols, while they are walked and read`, [join(biggest.dir, "busy.dmp"), biggest.sym], "#stack", 0);
} finally {
  await site.stop();
}
if (process.env.KEEP !== "1") rmSync(inRepo("dist/bench/1G"), { recursive: true, force: true });
