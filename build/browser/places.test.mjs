// Many places of a File read at once (web/static/places.js), in a browser: whatever lies near what, the bytes are those of the places.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { inRepo, startChrome } from "./harness.mjs";

const size = 64 << 20;
let chrome;
let dir;
let page;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-places-"));
  // Every word says where it lies.
  const words = new Uint32Array(size / 4);
  for (let i = 0; i < words.length; i++) words[i] = 4 * i;
  await writeFile(join(dir, "file"), new Uint8Array(words.buffer));
  chrome = await startChrome({ record: false });
  page = await chrome.context.newPage();
  await page.setContent("<input type=file>");
  await page.setInputFiles("input", join(dir, "file"));
  await page.addScriptTag({ path: inRepo("web/static/places.js") });
  await page.evaluate(() => {
    const file = document.querySelector("input").files[0];
    // The first place that has other bytes than it should, and how often the file was cut; places: from and size. Streams go on for another
    // list of the same name.
    globalThis.wrong = async (places, name = {}) => {
      let cuts = 0;
      const counted = { size: file.size, slice: (...at) => (cuts++, file.slice(...at)) };
      const list = places.toSorted((a, b) => a[0] - b[0]);
      const all = await crashpanePlaces(counted, list.flat(), new ArrayBuffer(0), name);
      let at = 0;
      for (const [from, size] of list) {
        for (let i = 0; i < size; i++) {
          const byte = ((from + i) & ~3) >>> (8 * ((from + i) & 3)) & 255;
          if (all[at + i] !== byte) return { place: [from, size], i, is: all[at + i], cuts };
        }
        at += size;
      }
      return { cuts, more: all.byteLength - at };
    };
  });
});
after(async () => {
  await chrome?.close();
  await rm(dir, { recursive: true, force: true });
});

// Numbers below n, the same in each run.
function random(seed) {
  return (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
}

test("the bytes are those of the places, in few cuts where they lie near each other", async () => {
  const below = random(7);
  const many = (n, from, width, most) => Array.from({ length: n }, () => [from + below(width - most), 1 + below(most)]);
  for (const [name, places, cuts] of [
    ["one", [[12345, 100]], [1, 1]],
    ["at both ends", [[0, 5], [size - 7, 7]], [2, 2]],
    ["far from each other", Array.from({ length: 12 }, (_, i) => [i * 5_000_000 + below(1000), 4353]), [12, 12]],
    ["near each other", many(200, 0, 20_000_000, 65_793), [2, 6]],
    ["all over the file", many(150, 0, size, 16_641), [2, 50]],
    ["two heaps and three alone", [...many(60, 0, 900_000, 5000), ...many(60, 30_000_000, 900_000, 5000), [10_000_000, 9], [20_000_000, 9], [60_000_000, 9]], [4, 6]],
    ["over each other", [[1000, 500], [1000, 500], [1100, 50], [900, 3000], [2000, 4000], ...many(20, 5000, 100_000, 30_000)], [1, 4]],
    ["up to the end", [...many(80, size - 2_000_000, 2_000_000, 9000), [size - 9001, 9001]], [1, 4]],
  ]) {
    const got = await page.evaluate((p) => globalThis.wrong(p), places);
    assert.equal(got.place, undefined, `${name}: ${JSON.stringify(got)}`);
    assert.equal(got.more, 0, name);
    assert.ok(got.cuts >= cuts[0] && got.cuts <= cuts[1], `${name}: ${got.cuts} cuts`);
  }
});

test("streams go on for the places that lie behind, of the same file, for two seconds", async () => {
  const below = random(5);
  const wrong = (places, name) => page.evaluate(([p, n]) => globalThis.wrong(p, n), [places, name]);
  // Three heaps of places, and behind each of them the next ones: within what was read already, and somewhat further on.
  const heaps = (...at) => at.flatMap((from) => Array.from({ length: 30 }, (_, i) => [Math.round((from + i * 0.03) * 2 ** 20) + below(9000), 1 + below(9000)]));
  const cuts = [];
  for (const [name, at] of [
    ["a", [0, 20, 40]],
    ["a", [0.95, 20.9, 41]],
    ["a", [1.7, 22.5, 43.5]],
    ["b", [2.7, 23.5, 44.5]],
    ["a", [2.7, 23.5, 44.5]],
    ["a", [0.2, 20.1, 40.3]],
    ["a", [58, 60, 62.9]],
  ]) {
    const got = await wrong(heaps(...at), name);
    assert.equal(got.place, undefined, `${name} ${at}: ${JSON.stringify(got)}`);
    cuts.push(got.cuts);
  }
  assert.deepEqual(cuts.slice(0, 6), [3, 0, 0, 3, 0, 3]);
  await page.waitForTimeout(2500);
  assert.equal((await wrong(heaps(3.7, 24.5, 45.5), "a")).cuts, 3);
});

// A stream that nothing holds is collected by Chromium, with the read that is waited for.
test("a hundred readings in a row all come to an end", async () => {
  const below = random(3);
  for (let round = 0; round < 100; round++) {
    const from = below(size / 2);
    const places = Array.from({ length: 150 }, () => [from + below(size / 2 - 20_000), 1 + below(16_000)]);
    const got = await page.evaluate(
      ([p, check]) => {
        const done = check ? globalThis.wrong(p) : Promise.resolve(crashpanePlaces(document.querySelector("input").files[0], p.sort((a, b) => a[0] - b[0]).flat())).then(() => ({}));
        return Promise.race([done, new Promise((late) => setTimeout(late, 20_000, { late: true }))]);
      },
      [places, round % 20 === 0],
    );
    assert.ok(!got.late && !got.place, `reading ${round}: ${JSON.stringify(got)}`);
  }
});

// The script of a worker as the engine's is, which has the lists read two at a time and answers the first that is wrong, and how often it asked
// another worker.
const engine = (before) => `${before}
onmessage = async ({ data }) => {
  if (data.places) return crashpaneServe(data.places);
  const { files, lists } = data;
  let workers = 0;
  const Made = self.Worker;
  if (Made) self.Worker = class extends Made { constructor(url) { super(url); workers++; } };
  const check = async (list, n) => {
    const all = await crashpaneApart.read(files[n % files.length], list.flat());
    let at = 0;
    for (const [from, size] of list) {
      for (let i = 0; i < size; i += 1 + (i >> 6)) {
        const there = n % files.length ? from + i + 1 : from + i; // the second file is the first without its first byte
        if (all[at + i] !== (((there & ~3) >>> (8 * (there & 3))) & 255)) return { place: [from, size], i, n };
      }
      at += size;
    }
    crashpaneApart.back(all);
    return at === all.byteLength ? undefined : { more: all.byteLength - at };
  };
  try {
    let wrong;
    for (let i = 0; i < lists.length; i += 2) wrong ??= (await Promise.all([check(lists[i], i), check(lists[i + 1], i + 1)])).find((w) => w);
    postMessage({ wrong, workers });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error), workers });
  }
};`;
const apart = async (lists, before = "", two = false) => {
  const script = engine(before + (await readFile(inRepo("web/static/places.js"), "utf8")));
  return page.evaluate(
    ([script, lists, two]) =>
      new Promise((done) => {
        const worker = new Worker(URL.createObjectURL(new Blob([script])));
        worker.onmessage = ({ data }) => done(data);
        const [file] = document.querySelector("input").files;
        worker.postMessage({ files: two ? [file, file.slice(1)] : [file], lists });
      }),
    [script, lists, two],
  );
};

test("another worker reads them as well, and where there is none they are read all the same", async () => {
  const below = random(11);
  const lists = Array.from({ length: 12 }, (_, n) =>
    Array.from({ length: n % 3 ? 120 : 3 }, () => [below(size - 20_000), 1 + below(16_000)]).sort((a, b) => a[0] - b[0]),
  );
  assert.deepEqual(await apart(lists), { wrong: undefined, workers: 1 });
  assert.deepEqual(await apart(lists, "delete self.Worker;\n"), { wrong: undefined, workers: 0 });
  // Where one file's places end, another's go on.
  const rows = Array.from({ length: 12 }, (_, n) => Array.from({ length: 90 }, (_, i) => [(n >> 1) * 8_000_000 + i * 80_000 + below(9000), 1 + below(16_000)]));
  assert.deepEqual(await apart(rows, "", true), { wrong: undefined, workers: 1 });
  // One that does not run.
  assert.deepEqual(await apart(lists, 'const { Worker: W } = self; self.Worker = class extends W { constructor() { super(URL.createObjectURL(new Blob(["throw 1"]))); } };\n'), { wrong: undefined, workers: 1 });
});

test("a file that was cut meanwhile is an error, as places alone and as a stream", async () => {
  await page.waitForTimeout(2500); // nothing is left of what was read before
  await truncate(join(dir, "file"), 1 << 20);
  for (const places of [[[30_000_000, 9]], Array.from({ length: 50 }, (_, i) => [i * 300_000, 16])]) {
    const said = await page.evaluate((p) => crashpanePlaces(document.querySelector("input").files[0], p.flat()).then(() => "nothing", (e) => e.message || String(e)), places);
    assert.notEqual(said, "nothing");
    assert.ok((await apart([places, places])).failed, "as it is where another worker reads");
  }
});
