// The package, as npm packs it: it is complete, its types describe the report, and its engine
// returns the same report as the command.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { inRepo } from "./harness.mjs";

const run = promisify(execFile);
const sample = inRepo("testdata/sample");
let dir;
let home; // of the package when it is installed
let crashpane;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "crashpane-package-"));
  const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir], { cwd: inRepo("dist/npm") });
  await run("tar", ["-xzf", join(dir, JSON.parse(stdout)[0].filename), "-C", dir]);
  home = join(dir, "package");
  crashpane = await import(pathToFileURL(join(home, "crashpane.js")).href);
});
after(() => rm(dir, { recursive: true, force: true }));

// The sample's symbols, in the order in which the command finds them.
const symbols = async () => {
  const names = (await readdir(sample)).filter((name) => /\.sym(\.gz)?$/.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ name, data: await readFile(join(sample, name)) })));
};
const command = async (...args) => JSON.parse((await run(inRepo("dist/bin/crashpane"), ["walk", "--format", "json", ...args], { maxBuffer: 1 << 30 })).stdout);

test("the package has all files that it names, and its licenses", async () => {
  const files = await readdir(home);
  for (const name of ["package.json", "crashpane.js", "crashpane.d.ts", "crashpane.wasm", "crashpane-engine.wasm", "crashpane-worker.js", "embed.html", "README.md", "LICENSE", "licenses.txt"]) {
    assert.ok(files.includes(name), name);
  }
  for (const name of files.filter((n) => n.endsWith(".js"))) {
    const text = await readFile(join(home, name), "utf8");
    for (const [, path] of text.matchAll(/(?:from |import |new URL\()"(\.\/[^"]+)"/g)) assert.ok(files.includes(path.slice(2)), `${name} names ${path}`);
    assert.ok(!/\beval\(|new Function\(/.test(text.replace(/own\.eval = /, "")), `${name} makes code of text`);
  }
  const html = await readFile(join(home, "embed.html"), "utf8");
  for (const [, path] of html.matchAll(/(?:href|src|data-wasm|data-full|data-worker)="([^"]+)"/g)) assert.ok(files.includes(path), `embed.html names ${path}`);
  const { exports, version } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  assert.match(version, /^\d+\.\d+\.\d+(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/);
  for (const target of Object.values(exports).flatMap((t) => (typeof t === "string" ? [t] : Object.values(t)))) assert.ok(files.includes(target.slice(2)), target);
  assert.match(await readFile(join(home, "LICENSE"), "utf8"), /MIT License/);
  assert.match(await readFile(join(home, "licenses.txt"), "utf8"), /Go programming language/);
});

test("the package does not change the global object", () => {
  for (const name of ["Go", "fs", "startCrashpane", "crashpaneVuguHelper", "bootCrashpane"]) assert.ok(!(name in globalThis), name);
});

test("the engine returns the report of the command, and the types describe it", async () => {
  const report = await crashpane.analyze(await readFile(join(sample, "tilecruncher.dmp")), { name: "tilecruncher.dmp", symbols: await symbols() });
  assert.deepEqual(report, await command(join(sample, "tilecruncher.dmp"), sample));
  const wrong = check(report, "Report", types(await readFile(join(home, "crashpane.d.ts"), "utf8")));
  assert.deepEqual(wrong, []);
});

test("each form of data gives the same report, and each unwind policy works", async () => {
  const bytes = await readFile(join(sample, "tilecruncher.dmp"));
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const want = await command(join(sample, "tilecruncher.dmp"));
  for (const data of [buffer, new DataView(buffer), new Blob([bytes]), new Response(bytes), new Blob([bytes]).stream(), Promise.resolve(bytes)]) {
    assert.deepEqual(await crashpane.analyze(data, { name: "tilecruncher.dmp" }), want);
  }
  for (const policy of ["breakpad", "scan"]) {
    assert.deepEqual(await crashpane.analyze(bytes, { name: "tilecruncher.dmp", policy }), await command("--unwind", policy, join(sample, "tilecruncher.dmp")));
  }
});

test("the dump of an upload is analyzed, and what was sent with it is in the report", async () => {
  const dump = await readFile(join(sample, "tilecruncher.dmp"));
  const part = (rest) => `--b\r\nContent-Disposition: form-data; ${rest}\r\n`;
  const multipart = [part('name="prod"'), "\r\nTiles\r\n", part('name="upload_file_minidump"; filename="a.dmp"'), "\r\n", dump, "\r\n--b--\r\n"];
  const encoded = [part('name="prod"'), "\r\nTiles\r\n", part('name="a"; filename="a.dmp"'), "Content-Transfer-Encoding: base64\r\n\r\n", dump.toString("base64"), "\r\n--b--\r\n"];
  const uploads = {
    multipart,
    encoded,
    request: ["POST /submit HTTP/1.1\r\nHost: a\r\n\r\n", ...multipart],
    envelope: ['{"event_id":"9ec7"}\n{"type":"event"}\n{"tags":{"prod":"Tiles"}}\n', `{"type":"attachment","length":${dump.length},"filename":"a.dmp"}\n`, dump, "\n"],
  };
  for (const [name, parts] of Object.entries(uploads)) {
    const path = join(dir, name);
    await writeFile(path, Buffer.concat(parts.map((p) => Buffer.from(p))));
    const report = await crashpane.analyze(await readFile(path), { name, symbols: await symbols() });
    assert.deepEqual(report, await command(path, sample), name);
    const tag = { origin: "envelope", key: "tag prod", value: "Tiles" };
    assert.deepEqual(report.crashpane.upload.at(-1), name === "envelope" ? tag : { origin: "upload", key: "prod", value: "Tiles" }, name);
    assert.equal(report.threads.length, 6, name);
  }
});

test("unreadable data is an error", async () => {
  await assert.rejects(crashpane.analyze(new TextEncoder().encode("a note"), { name: "note.txt" }), /note\.txt/);
  await assert.rejects(crashpane.analyze(new Uint8Array(0)), /empty/);
  await assert.rejects(crashpane.analyze("a string"), TypeError);
  await assert.rejects(crashpane.analyze(await readFile(join(sample, "tilecruncher.dmp")), { policy: "luck" }), /no unwind policy/);
});

test("it works in a worker, and does not keep a program from exiting", async () => {
  const script = `
    import { analyze } from ${JSON.stringify(pathToFileURL(join(home, "crashpane.js")).href)};
    import { readFile } from "node:fs/promises";
    import { parentPort } from "node:worker_threads";
    const { threads } = await analyze(await readFile(${JSON.stringify(join(sample, "tilecruncher.dmp"))}));
    if (parentPort) parentPort.postMessage(threads.length);
    else console.log(threads.length);`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
  const [threads] = await Promise.all([
    new Promise((done, fail) => worker.once("message", done).once("error", fail)),
    new Promise((done) => worker.once("exit", done)),
  ]);
  assert.equal(threads, 6);
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { timeout: 60_000 });
  assert.equal(stdout.trim(), "6");
});

const corpus = inRepo("../shared/corpus");
test("over the corpus the engine and the command agree", { skip: existsSync(corpus) ? false : "*** SKIPPED: the corpus, ../shared/corpus, is not here ***" }, async (t) => {
  const found = [];
  const walk = async (folder) => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await walk(path);
      else if (/\.dmp$/.test(entry.name) && (await stat(path)).size < 4 << 20) found.push(path);
    }
  };
  await walk(corpus);
  const declared = types(await readFile(join(home, "crashpane.d.ts"), "utf8"));
  let same = 0;
  for (const path of found.sort()) {
    const bytes = await readFile(path);
    const native = await command(path).catch((error) => error);
    const ours = await crashpane.analyze(bytes, { name: path }).catch((error) => error);
    // The command says so by its exit status if it left out what would cost too much.
    if (/something was left out/.test(native.stderr)) {
      assert.ok(!(ours instanceof Error), `${path}: ${ours}`);
      continue;
    }
    if (native instanceof Error) {
      assert.ok(ours instanceof Error, `${path}: the command cannot read it, the engine can`);
      continue;
    }
    assert.deepEqual(ours, native, path);
    assert.deepEqual(check(ours, "Report", declared), [], path);
    same++;
  }
  t.diagnostic(`${same} of ${found.length} dumps give a report, the same in both`);
  assert.ok(same > 20);
});

// Reads the interfaces of the declarations: name → member → {optional, type}.
function types(text) {
  const found = new Map();
  const plain = text.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
  for (const [, name, body] of plain.matchAll(/interface (\w+)[^{]*\{\n([\s\S]*?)\n\}/g)) {
    const members = new Map();
    for (const [, key, mark, type] of body.matchAll(/^  "?([\w-]+)"?(\??): (.+);$/gm)) members.set(key, { optional: mark === "?", type });
    found.set(name, members);
  }
  for (const [, name, type] of plain.matchAll(/^export type (\w+) =([^;{]+);/gm)) found.set(name, type.replaceAll("\n", " ").trim().replace(/^\| /, ""));
  return found;
}

// Lists where a value does not match its type: "path: what is wrong". A member that the type lacks
// is wrong too.
function check(value, type, declared, path = "report") {
  const any = type.split(" | ").map((t) => t.trim());
  if (any.length > 1) {
    const tried = any.map((one) => check(value, one, declared, path));
    return tried.some((wrong) => wrong.length === 0) ? [] : tried.find((wrong) => !wrong[0].endsWith(`is ${kind(value)}`)) ?? [`${path}: ${type} is ${kind(value)}`];
  }
  if (type === "unknown") return [];
  if (type.startsWith('"')) return value === JSON.parse(type) ? [] : [`${path}: ${type} is ${kind(value)}`];
  if (type.endsWith("[]")) return Array.isArray(value) ? value.flatMap((one, i) => check(one, type.slice(0, -2), declared, `${path}[${i}]`)) : [`${path}: ${type} is ${kind(value)}`];
  if (type === "Record<string, string>") return kind(value) === "object" && Object.values(value).every((v) => typeof v === "string") ? [] : [`${path}: ${type} is ${kind(value)}`];
  const members = declared.get(type);
  if (typeof members === "string") return check(value, members, declared, path);
  if (!members) return kind(value) === type ? [] : [`${path}: ${type} is ${kind(value)}`];
  if (kind(value) !== "object") return [`${path}: ${type} is ${kind(value)}`];
  const wrong = [];
  for (const [key, member] of members) {
    if (key in value) wrong.push(...check(value[key], member.type, declared, `${path}.${key}`));
    else if (!member.optional) wrong.push(`${path}.${key}: is missing`);
  }
  for (const key of Object.keys(value)) if (!members.has(key)) wrong.push(`${path}.${key}: no type names it`);
  return wrong;
}

const kind = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
