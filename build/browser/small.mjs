// Measures small dumps with small symbol files in Chromium, from the drop on an open page to the
// painted stack, and whole processes of Breakpad and rust-minidump, in one run. It prints
// SKIPPED for dumps of the corpus and for peers that are not there. (The npm package minidump
// 0.26.0 has a built minidump_stackwalk of Breakpad: npm install --ignore-scripts. That of 0.22.0
// ignores symbol files with inlined calls, and so is fast.)
//
//     node build/browser/small.mjs [RUNS]        default: 5
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { inRepo, startSite } from "./harness.mjs";
import { median, ms, native, open, ratio } from "./timing.mjs";

const runs = Number(process.argv[2] ?? 5);
const scratch = mkdtempSync(join(tmpdir(), "crashpane-small-"));

// The sample's symbols, unpacked in a symbol store, because the peers read no archives.
function sampleCase() {
  const dir = inRepo("testdata/sample");
  const symbols = ["tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((name) => join(dir, name));
  for (const path of symbols) {
    const bytes = readFileSync(path);
    const text = path.endsWith(".gz") ? gunzipSync(bytes) : bytes;
    const [, , , id, name] = text.subarray(0, 1000).toString().split("\n")[0].trim().split(" ");
    const folder = join(scratch, name, id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.sym`), text);
  }
  return { name: "the sample, 2 MB of symbols", dump: join(dir, "tilecruncher.dmp"), symbols, store: scratch };
}

// A dump of the corpus: folder of a peer, dump, and names of its symbol files.
function corpusCase(name, folder, dump, ...files) {
  const store = inRepo(`../shared/corpus/${folder}/symbols`);
  if (!existsSync(store)) return console.log(`*** SKIPPED: there is no ${store}: ${name} is not timed ***`);
  const symbols = readdirSync(store, { recursive: true }).filter((path) => files.includes(basename(path))).map((path) => join(store, path));
  return { name, dump: inRepo(`../shared/corpus/${folder}/dumps/${dump}`), symbols, store };
}

const site = await startSite();
try {
  for (const one of [
    sampleCase(),
    corpusCase("macOS, inlined calls, 4.2 MB of symbols", "rust-minidump", "pipeline-inlines-macos-segv.dmp", "crash-client.sym"),
    corpusCase("Linux, 0.6 MB of symbols", "breakpad", "linux_null_read_av.dmp", "null_read_av.sym", "libc-2.13.so.sym", "ld-2.13.so.sym", "libgcc_s.so.1.sym"),
    corpusCase("Windows, STACK WIN, 0.7 MB of symbols", "breakpad", "minidump2.dmp", "kernel32.sym", "test_app.sym"),
  ].filter(Boolean)) {
    const times = { ours: [], breakpad: [], "rust-minidump": [] };
    const tasks = [];
    for (let i = 0; i < runs; i++) {
      times.breakpad.push(native("minidump_stackwalk", ["-m", one.dump, one.store]));
      times["rust-minidump"].push(native("minidump-stackwalk", ["--json", "--no-interactive", one.dump, one.store]));
      const tab = await open(site, [one.dump, ...one.symbols]);
      await tab.page.waitForTimeout(300);
      const n = await tab.noted();
      times.ours.push(n.stack - n.drop);
      tasks.push(...n.tasks);
      await tab.chrome.close();
    }
    const ours = median(times.ours);
    console.log(`\n${one.name}: drop to painted stack ${ms(ours)} (median of ${runs}; ${ms(Math.min(...times.ours))} to ${ms(Math.max(...times.ours))})`);
    for (const peer of ["breakpad", "rust-minidump"]) {
      if (times[peer].includes(undefined)) console.log(`  *** SKIPPED: ${peer} is not installed; nothing is compared with it ***`);
      else console.log(`  ${ratio(ours, median(times[peer]))} of ${peer}'s whole process, ${ms(median(times[peer]))}`);
    }
    console.log(`  tasks over 50 ms on the page's thread: ${tasks.length ? `${tasks.length} in ${runs} runs, longest ${Math.max(...tasks)} ms` : "none"}`);
  }
} finally {
  await site.stop();
  rmSync(scratch, { recursive: true, force: true });
}
