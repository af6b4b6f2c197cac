// Long stretches of a File read by another worker (web/static/streams.js, apart.js), in a browser: whatever the stretches, all of each comes, in
// its order, and the bytes are those of the File.
import assert from "node:assert/strict";
import { readFile, truncate } from "node:fs/promises";
import { after, before, test } from "node:test";
import { inRepo } from "./harness.mjs";
import { openWords } from "./words.mjs";

const size = 48 << 20;
const mb = 1 << 20;
let words;
let page;
before(async () => {
  words = await openWords(size);
  page = words.page;
});
after(() => words?.close());

// The script of a worker as the engine's is, with what it does for a test: an expression of a function of the file, whose answer is the test's.
const engine = (first, scripts, doing) => `${first}${scripts}
const overlap = 5000;
const byte = (at) => ((at & ~3) >>> (8 * (at & 3))) & 255;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
// What is wrong with what comes of the stretches, and how many pieces came, at most so many.
async function check(file, stretches, most = Infinity) {
  const stream = crashpaneApart.stream(file, stretches, overlap);
  if (!stream) return "none";
  const reached = new Map(); // stretch → up to where it came
  let pieces = 0;
  for (let at; pieces < most && (at = await stream.next()) >= 0; pieces++) {
    const end = at + stream.size();
    let i = 0;
    while (i < stretches.length && !((reached.get(i) ?? stretches[i]) - (reached.has(i) ? overlap : 0) === at && end <= stretches[i + 1])) i += 2;
    if (i >= stretches.length) return { at, end, reached: [...reached] };
    reached.set(i, end);
    for (const from of [at, Math.max(at, end - 65536), at + (end - at >> 1)]) {
      const n = Math.min(65536, end - from);
      stream.pick(from - at, n);
      for (let k = 0; k < n; k += 1 + (k >> 5)) if (stream.room[k] !== byte(from + k)) return { at, end, from, k };
    }
  }
  stream.end();
  if (pieces < most) for (let i = 0; i < stretches.length; i += 2) if (reached.get(i) !== stretches[i + 1]) return { stretch: i / 2, reached: reached.get(i) };
  return pieces;
}
onmessage = async ({ data }) => {
  if (data.places) return crashpaneServe(data.places);
  if (data.stream) return crashpanePour(data.stream);
  try {
    postMessage({ answer: await (${doing})(data.file) });
  } catch (error) {
    postMessage({ failed: String(error.message ?? error) });
  }
};`;
async function inEngine(doing, first = "") {
  const scripts = await Promise.all(["places.js", "streams.js", "apart.js"].map((name) => readFile(inRepo(`web/static/${name}`), "utf8")));
  return page.evaluate(
    ([script]) =>
      new Promise((done) => {
        const worker = new Worker(URL.createObjectURL(new Blob([script])));
        worker.onmessage = ({ data }) => done(data);
        worker.postMessage({ file: document.querySelector("input").files[0] });
        setTimeout(done, 20_000, { failed: "it takes too long" });
      }),
    [engine(first, scripts.join("\n"), doing)],
  );
}
const checked = async (stretches, first) => (await inEngine(`(file) => check(file, ${JSON.stringify(stretches)})`, first)).answer;
const withoutBuffers = "const { getReader } = ReadableStream.prototype; ReadableStream.prototype.getReader = function (how) { if (how) throw new TypeError(); return getReader.call(this); };\n";

test("all of each stretch comes, in its order", async () => {
  const many = Array.from({ length: 20 }, (_, i) => [i * 2 * mb + 17 * i, i * 2 * mb + 100_000 * (i + 1)]).flat();
  for (const [name, stretches, pieces] of [
    ["nothing", [], 0],
    ["a byte", [7, 8], 1],
    ["less than what comes twice", [100, 3000], 1],
    ["one piece", [5, 5 + mb], 1],
    ["somewhat more", [5, 9 + mb], 2],
    ["up to the end", [size - 3 * mb - 1, size], 4],
    ["all of it by eight", Array.from({ length: 8 }, (_, i) => [i * 6 * mb, Math.min(size, (i + 1) * 6 * mb + 5000)]).flat(), 56 - 1],
    ["many, each once", many, many.reduce((n, to, i) => n + (i % 2 ? Math.ceil((to - many[i - 1]) / mb) : 0), 0)],
  ]) {
    assert.deepEqual(await checked(stretches), pieces, name);
    assert.deepEqual(await checked(stretches, withoutBuffers), pieces, `${name}, where a stream does not fill buffers`);
  }
});

test("a stream that is ended early leaves room for others, and places can be read beside it", async () => {
  const { answer, failed } = await inEngine(`async (file) => {
    const all = [0, ${size}];
    const early = [];
    for (let i = 0; i < 10; i++) early.push(await check(file, all, i * 3));
    const [one, other, places] = await Promise.all([check(file, all), check(file, [${mb}, ${9 * mb}]), crashpaneApart.read(file, [5, 100, ${20 * mb}, 100])]);
    const at = (k) => new Uint8Array(places.buffers[places.at[2 * k]])[places.at[2 * k + 1]];
    return [early.every((n, i) => n === i * 3), one, other, at(0) === byte(5) && at(1) === byte(${20 * mb})];
  }`);
  assert.deepEqual([failed, answer], [undefined, [true, 48, 8, true]]);
});

test("who asks for no more is left after a while", async () => {
  const soon = "const { setInterval: every } = self; self.setInterval = (what, ms) => every(what, ms / 50);\n";
  const { failed } = await inEngine(
    `async (file) => {
      const stream = crashpaneApart.stream(file, [0, ${size}], overlap);
      for (let i = 0; i < 20; i++) { // asked often enough
        await pause(50);
        await stream.next();
      }
      await pause(800);
      for (;;) if ((await stream.next()) < 0) return "all came";
    }`,
    soon,
  );
  assert.equal(failed, "it was left");
});

test("where there is no other worker there are none, and one that stops is an error", async () => {
  const doing = `async (file) => check(file, [0, ${size}])`;
  assert.deepEqual(await inEngine(doing, "delete self.Worker;\n"), { answer: "none" });
  const broken = 'const { Worker: W } = self; self.Worker = class extends W { constructor() { super(URL.createObjectURL(new Blob(["throw 1"]))); } };\n';
  assert.deepEqual(await inEngine(doing, broken), { failed: "it was left" });
  assert.deepEqual(await inEngine(`async (file) => [await check(file, [0, 9]).catch((e) => e.message), await check(file, [0, 9])]`, broken), { answer: ["it was left", "none"] });
});

test("a file that was cut meanwhile is an error", async () => {
  await truncate(words.file, mb);
  for (const first of ["", withoutBuffers]) assert.ok((await inEngine(`(file) => check(file, [0, ${size}])`, first)).failed);
});
