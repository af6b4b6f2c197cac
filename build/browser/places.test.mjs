// Many places of a File read at once (web/static/places.js, apart.js), in a browser: whatever lies near what, the bytes are those of the places.
import assert from "node:assert/strict";
import { readFile, truncate } from "node:fs/promises";
import { after, before, test } from "node:test";
import { inRepo } from "./harness.mjs";
import { openWords } from "./words.mjs";

const size = 64 << 20;
let words;
let page;
before(async () => {
  words = await openWords(size);
  page = words.page;
  await page.addScriptTag({ path: inRepo("web/static/places.js") });
  await page.evaluate(() => {
    const file = document.querySelector("input").files[0];
    // The first place that has other bytes than it should, and how often the file was cut; places: from and size.
    globalThis.wrong = async (places) => {
      let cuts = 0;
      const counted = { slice: (...at) => (cuts++, file.slice(...at)) };
      const list = places.toSorted((a, b) => a[0] - b[0]);
      const { buffers, at } = await crashpanePlaces(counted, list.flat());
      for (const [k, [from, size]] of list.entries()) {
        const bytes = new Uint8Array(buffers[at[2 * k]], at[2 * k + 1], size);
        for (let i = 0; i < size; i++) {
          const byte = ((from + i) & ~3) >>> (8 * ((from + i) & 3)) & 255;
          if (bytes[i] !== byte) return { place: [from, size], i, is: bytes[i], cuts };
        }
      }
      crashpaneSpare.give(buffers); // for the next ones
      return { cuts };
    };
  });
});
after(() => words?.close());

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
    assert.ok(got.cuts >= cuts[0] && got.cuts <= cuts[1], `${name}: ${got.cuts} cuts`);
  }
});

test("where a stream does not fill buffers, the bytes are the same", async () => {
  const below = random(5);
  const places = Array.from({ length: 60 }, () => [below(size - 65_536), 65_536]);
  const got = await page.evaluate(async (p) => {
    const { getReader } = ReadableStream.prototype;
    ReadableStream.prototype.getReader = function (how) { if (how) throw new TypeError(); return getReader.call(this); };
    try {
      return await globalThis.wrong(p);
    } finally {
      ReadableStream.prototype.getReader = getReader;
    }
  }, places);
  assert.equal(got.place, undefined, JSON.stringify(got));
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
  const { file, lists } = data;
  let workers = 0;
  const Made = self.Worker;
  if (Made) self.Worker = class extends Made { constructor(url) { super(url); workers++; } };
  const check = async (list) => {
    const room = new Uint8Array(16 << 10);
    const kept = crashpaneKept(await crashpaneApart.read(file, list.flat()), room);
    for (const [k, [from, size]] of list.entries()) {
      const first = Math.min(k % 7, size - 1);
      kept.pick(k, first, size - first);
      for (let i = first; i < size; i += 1 + (i >> 6)) {
        if (room[i - first] !== ((((from + i) & ~3) >>> (8 * ((from + i) & 3))) & 255)) return { place: [from, size], i };
      }
    }
    kept.give();
  };
  try {
    let wrong;
    for (let i = 0; i < lists.length; i += 2) wrong ??= (await Promise.all(lists.slice(i, i + 2).map(check))).find((w) => w);
    postMessage({ wrong, workers });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error), workers });
  }
};`;
const apart = async (lists, before = "") => {
  const script = engine(before + (await readFile(inRepo("web/static/places.js"), "utf8")) + (await readFile(inRepo("web/static/apart.js"), "utf8")));
  return page.evaluate(
    ([script, lists]) =>
      new Promise((done) => {
        const worker = new Worker(URL.createObjectURL(new Blob([script])));
        worker.onmessage = ({ data }) => done(data);
        worker.postMessage({ file: document.querySelector("input").files[0], lists });
      }),
    [script, lists],
  );
};

test("another worker reads them as well, and where there is none they are read all the same", async () => {
  const below = random(11);
  const lists = Array.from({ length: 12 }, (_, n) =>
    Array.from({ length: n % 3 ? 120 : 3 }, () => [below(size - 20_000), 1 + below(16_000)]).sort((a, b) => a[0] - b[0]),
  );
  assert.deepEqual(await apart(lists), { wrong: undefined, workers: 1 });
  assert.deepEqual(await apart(lists, "delete self.Worker;\n"), { wrong: undefined, workers: 0 });
  // One that does not run.
  assert.deepEqual(await apart(lists, 'const { Worker: W } = self; self.Worker = class extends W { constructor() { super(URL.createObjectURL(new Blob(["throw 1"]))); } };\n'), { wrong: undefined, workers: 1 });
});

test("a file that was cut meanwhile is an error, as places alone and as a stream", async () => {
  await truncate(words.file, 1 << 20);
  for (const places of [[[30_000_000, 9]], Array.from({ length: 50 }, (_, i) => [i * 300_000, 16])]) {
    const said = await page.evaluate((p) => crashpanePlaces(document.querySelector("input").files[0], p.flat()).then(() => "nothing", (e) => e.message || String(e)), places);
    assert.notEqual(said, "nothing");
    assert.ok((await apart([places])).failed, "as it is where another worker reads");
  }
});
