// Symbol servers: the page requests nothing before it has shown the addresses and the user has
// pressed the button, requests nothing else, and reads only the parts of a large file that a stack
// needs.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { grownSymbols } from "./grown.mjs";
import { inRepo, startChrome, startSite } from "./harness.mjs";
import { siteWith, startSource } from "./symbols.mjs";

const run = promisify(execFile);
const dump = "testdata/sample/tilecruncher.dmp";
const windows = "testdata/windows/app.dmp";
const sample = async (name) => {
  const bytes = await readFile(inRepo(`testdata/sample/${name}`));
  return (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
};
const pathOf = (text) => {
  const [, , , id, name] = text.slice(0, text.indexOf("\n")).split(" ");
  return `${name}/${id}/${name}.sym`;
};

let source;
let other; // a source that the page was not built with
let made;
let site;
let chrome;
let dir;
let tab;
let program; // the sample's symbol files
let codec;
before(async () => {
  program = await sample("tilecruncher.sym.gz");
  codec = await sample("libtilecodec.so.sym");
  source = await startSource();
  other = await startSource({ [pathOf(program)]: { text: program } });
  made = await siteWith([source.base, `microsoft+${source.base}`, `debuginfod+${source.base}`]);
  site = await startSite({ dir: made.site });
  chrome = await startChrome();
  dir = await mkdtemp(join(tmpdir(), "crashpane-source-"));
  // Cookies are for all ports of a host, so the servers would get this one.
  await chrome.context.addCookies([{ name: "secret", value: "1", url: site.origin }]);
});
after(async () => {
  await chrome?.close();
  await site?.stop();
  await made?.remove();
  await source?.stop();
  await other?.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  source.files = { [pathOf(program)]: { text: program }, [pathOf(codec)]: { text: codec } };
  Object.assign(source, { ranges: true, cors: true, edition: "1", token: "", packed: false, broken: 0, slow: 0, seen: [], preflights: 0 });
  other.seen = [];
  tab = await chrome.open(site.origin);
});
afterEach(async () => {
  assert.deepEqual(other.seen, [], "a source that is not listed was asked");
  for (const { method, headers } of source.seen) {
    assert.equal(method, "GET");
    assert.equal(headers.cookie, undefined, "a cookie went along");
    assert.equal(headers.referer, undefined, "a referrer went along");
  }
  await tab.page.evaluate(() => localStorage.clear());
  await tab.close();
});

const panel = async (which = dump) => {
  await tab.drop([which]);
  await tab.page.locator("#stack .row").first().waitFor();
  await tab.part("wanted");
  await tab.page.locator("#sources-button").click();
  await tab.sees("Get symbols from a folder");
};
const addresses = async () => {
  await tab.page.waitForFunction(() => document.querySelector(".source-addresses")?.innerText.includes("/"));
  return (await tab.page.locator(".source-addresses").innerText()).split("\n");
};
const ask = () => tab.page.locator('[data-act="ask"]').click();
const said = () => tab.page.locator(".source-asked").innerText();
const answered = async (text) => {
  await tab.page.waitForFunction((t) => document.querySelector(".source-asked")?.innerText.includes(t), text, { timeout: 60_000 });
  return said();
};
const ended = () => tab.page.waitForFunction(() => !/ (waiting|asking|receiving)/.test(document.querySelector(".source-asked").innerText), undefined, { timeout: 60_000 });
const urls = () => source.seen.map(({ url }) => source.origin + url);

test("nothing is requested before the button is pressed, and then exactly the addresses shown", async () => {
  await panel();
  const shown = await addresses();
  assert.ok(shown.includes(`${source.base}/${pathOf(program)}`), shown.join("\n"));
  await tab.page.waitForTimeout(300);
  assert.deepEqual(source.seen, [], "something was asked without a word");
  await ask();
  await tab.sees("main.cc:156");
  await ended();
  assert.deepEqual([...new Set(urls())].sort(), [...shown].sort());
  assert.equal(source.preflights, 0);
  assert.match(await said(), /not found \(404\): the server has no file for id [0-9A-F]+/);
  const foreign = new Set(tab.foreign.map(({ url }) => url));
  assert.deepEqual([...foreign].sort(), [...shown].sort(), "the browser sent something else");
  assert.ok(tab.foreign.every(({ method, body }) => method === "GET" && !body));
  // The report says where the symbols come from.
  await tab.part("files");
  await tab.page.waitForFunction((u) => [...document.querySelectorAll("#files .fn")].some((e) => e.title === u), `${source.base}/${pathOf(program)}`);
});

test("a server in Microsoft's layout is asked for PDB and program, and for the cabinet only if it has no plain file", async () => {
  const [exe, packed] = await Promise.all(["app.exe", "app.pd_"].map((name) => readFile(inRepo(`testdata/windows/${name}`))));
  await panel(windows);
  await tab.page.locator(`[data-act="base"][data-arg="microsoft+${source.base}"]`).click();
  const shown = (await addresses()).map((line) => line.replace(/ if the server does not have that$/, ""));
  const [program, cabinet] = [shown.find((u) => u.endsWith("/app.exe")), shown.find((u) => u.endsWith("/app.pd_"))];
  assert.match(program, new RegExp(`^${source.base}/app\\.exe/[0-9A-F]{8}[0-9a-f]+/app\\.exe$`), shown.join("\n"));
  assert.match(cabinet, new RegExp(`^${source.base}/app\\.pdb/[0-9A-F]{33}/app\\.pd_$`), shown.join("\n"));
  source.files = { [program.slice(source.base.length + 1)]: { text: exe }, [cabinet.slice(source.base.length + 1)]: { text: packed } };
  await tab.page.waitForTimeout(300);
  assert.deepEqual(source.seen, [], "something was asked without a word");
  await ask();
  await tab.sees("app.c:27");
  await tab.page.waitForFunction(() => [...document.querySelectorAll("#stack .trust")].slice(1, 5).every((e) => e.innerText.trim() === "unwind rule"));
  await ended();
  const asked = new Set(urls());
  assert.deepEqual([...asked].filter((u) => !shown.includes(u)), [], "what was asked was not shown");
  assert.ok(asked.has(cabinet) && asked.has(program) && !asked.has(program.replace(/e$/, "_")), [...asked].join("\n"));
  assert.match(await said(), /kernel32\.pd_\n +not found \(404\)/);
});

test("an answer that is not the requested file is not used", async () => {
  const exe = await readFile(inRepo("testdata/windows/app.exe"));
  await panel(windows);
  await tab.page.locator(`[data-act="base"][data-arg="microsoft+${source.base}"]`).click();
  const shown = await addresses();
  const path = (name) => shown.find((u) => u.endsWith(`/${name}`)).slice(source.base.length + 1);
  // The program under another file's name, and a dump.
  source.files = { [path("kernel32.dll")]: { text: exe }, [path("app.exe")]: { text: await readFile(inRepo(windows)) } };
  await ask();
  await answered("is of another build: its id is ");
  await answered("is not a symbol file or a program: it is a minidump");
  await ended();
  assert.equal(await tab.page.evaluate(() => document.querySelectorAll("#stack .trust.cfi").length), 0);
});

test("debuginfod is asked by build id", async () => {
  await panel();
  await tab.page.locator(`[data-act="base"][data-arg="debuginfod+${source.base}"]`).click();
  const shown = await addresses();
  for (const url of shown) assert.match(url.slice(source.base.length), /^\/buildid\/[0-9a-f]{40}\/(debuginfo|executable)$/);
  assert.ok(shown.length >= 4);
  await ask();
  await ended();
  assert.deepEqual([...new Set(urls())].sort(), [...shown].sort());
});

// The sample's dump, as if its library were one of the repository's small programs, and had crashed
// in its function inner.
async function dumpOf(program) {
  const bytes = await readFile(inRepo(dump));
  const file = await readFile(inRepo(program));
  const note = file.indexOf("GNU\0", 0, "latin1"); // of the build id: sizes and type come before the name, the id after it
  const id = file.subarray(note + 4, note + 24);
  const first = Buffer.alloc(4); // the library's id begins with a number of 32 bits
  first.writeUInt32LE(parseInt(codec.split(" ")[3].slice(0, 8), 16));
  id.copy(bytes, bytes.indexOf(Buffer.concat([Buffer.from("LEpB"), first])) + 4);
  const address = (offset) => {
    const b = Buffer.alloc(8);
    b.writeBigUInt64LE(0x7f756a118000n + BigInt(offset));
    return b;
  };
  for (let at; (at = bytes.indexOf(address(0x127f))) >= 0; ) address(0x1020).copy(bytes, at);
  const path = join(dir, "inner.dmp");
  await writeFile(path, bytes);
  return { path, file, id: id.toString("hex") };
}

test("what debuginfod sends is a program, which names frames and has their unwind rules, and must have the build id", async () => {
  const { path, file, id } = await dumpOf("testdata/oracle/amd64.elf");
  await panel(path);
  await tab.page.locator(`[data-act="base"][data-arg="debuginfod+${source.base}"]`).click();
  const shown = await addresses();
  assert.ok(shown.includes(`${source.base}/buildid/${id}/executable`), shown.join("\n"));
  // Without the right id it is not used.
  const other = Buffer.from(file);
  other[other.indexOf("GNU\0", 0, "latin1") + 4] ^= 1;
  source.files = { [`buildid/${id}/executable`]: { text: other } };
  await ask();
  await answered("is of another build: its id is ");
  await ended();
  assert.doesNotMatch(await tab.page.locator("#stack").innerText(), /inner/);
  source.files = { [`buildid/${id}/executable`]: { text: file } };
  await ask();
  await tab.page.locator("#stack .row", { hasText: "inner" }).waitFor();
  await ended();
  assert.deepEqual([...new Set(urls())].filter((u) => !shown.includes(u)), [], "what was asked was not shown");
  await tab.page.click("#tab-modules");
  await tab.chooseModule("libtilecodec.so");
  await tab.sees("Available");
  assert.match(await tab.page.locator(".module-detail").innerText(), /Unwind rules\s+\S+, \.eh_frame[^]*Names\s+\S+, \.symtab/);
});

// The server sends parts of it.
test("a large program of a server becomes a symbol file", async () => {
  const { path, file, id } = await dumpOf("testdata/oracle/amd64.elf");
  await panel(path);
  await tab.page.locator(`[data-act="base"][data-arg="debuginfod+${source.base}"]`).click();
  await addresses();
  source.files = { [`buildid/${id}/executable`]: { text: Buffer.concat([file, Buffer.alloc(5 << 20)]) } };
  await ask();
  await answered("Crashpane reads only the parts that it needs");
  await tab.page.locator("#stack .row", { hasText: "inner" }).waitFor();
  await tab.page.click("#tab-modules");
  await tab.chooseModule("libtilecodec.so");
  const [download] = await Promise.all([tab.page.waitForEvent("download"), tab.page.click(".module-detail [data-act=make]")]);
  assert.match(await readFile(await download.path(), "utf8"), /^MODULE Linux x86_64 [0-9A-F]{33} \S+\n[^]*\b(FUNC|PUBLIC) .* inner\n/);
});

test("for a server that the page may not ask there is a command for curl, whose folder is dropped", async () => {
  await panel();
  await tab.page.locator("#symbols-base").fill(other.base);
  await tab.sees(`crashpane fetch DUMP --from ${other.base}`);
  await chrome.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
  await tab.page.locator('[data-act="copy-curl"]').click();
  await tab.page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("curl -fL"), undefined, { polling: 200 });
  const command = await tab.page.evaluate(() => navigator.clipboard.readText());
  assert.deepEqual(other.seen, [], "the page asked it");
  assert.ok(command.split("\n").every((line) => /^curl -fL --create-dirs -C - -o '[^']+' 'http:[^']+'$/.test(line)), command);
  const { stderr } = await run("sh", ["-c", command], { cwd: dir }).catch((error) => error); // what the server does not have is an error
  assert.match(stderr, /404/);
  assert.ok(other.seen.length >= 2, "curl asked for all");
  other.seen = [];
  await tab.drop([join(dir, "symbols")]);
  await tab.sees("main.cc:156");
});

test("a server that the page was not built with is not asked, and the page says what the user can do", async () => {
  await panel();
  await tab.page.locator("#symbols-base").fill(other.base);
  await tab.sees(`crashpane fetch DUMP --from ${other.base}`);
  assert.equal(await tab.page.locator('[data-act="ask"]').isDisabled(), true);
  for (const bad of ["javascript:alert(1)", "https://user:word@symbols.example", "data:text/plain,x", `${source.base}?dump=1`]) {
    await tab.page.locator("#symbols-base").fill(bad);
    await tab.sees("Type an address like");
    assert.equal(await tab.page.locator('[data-act="ask"]').isDisabled(), true);
  }
  assert.deepEqual(source.seen, []);
});

test("a typed token is sent only to its server, and not stored", async () => {
  source.token = "s3cret";
  await panel();
  await ask();
  await answered("refused (401): the server needs a token");
  await ended();
  await tab.page.locator("#symbols-token").fill("wrong");
  await ask();
  await answered("the server does not accept the token");
  await ended();
  await tab.page.locator("#symbols-token").fill("s3cret");
  await tab.page.locator('[data-act="remember"]').click();
  await ask();
  await tab.sees("main.cc:156");
  await ended();
  const stored = await tab.page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.ok(stored.includes(source.base) && !stored.includes("s3cret"), stored);
  await tab.page.locator("#symbols-base").fill(other.base);
  assert.equal(await tab.page.locator("#symbols-token").inputValue(), "");
});

test("the page says what is wrong with an answer", async () => {
  await panel();
  source.broken = 503;
  await ask();
  await answered("server error (503)");
  await ended();
  source.broken = 0;
  source.cors = false;
  await ask();
  await answered("does not let this page read its answers (CORS");
  await ended();
  source.cors = true;
  source.files[pathOf(program)] = { text: "<!doctype html><title>Everything is here</title>" };
  source.files[pathOf(codec)] = { text: codec.replace(/^(MODULE \S+ \S+ )\S+/, `$1${"A".repeat(33)}`) };
  await ask();
  await answered("is not a symbol file or a program: it is an HTML page");
  await answered(`is of another build: its id is ${"A".repeat(33)}`);
});

test("a server without range requests, or with compressed files, sends complete files", async () => {
  await panel();
  source.packed = true;
  await ask();
  await tab.sees("main.cc:156");
  await ended();
  assert.match(await said(), /received, /);
});

test("the download of a large complete file can be cancelled", async () => {
  source.files = { [pathOf(program)]: { file: await grownSymbols(join(dir, "whole.sym"), 40) } };
  Object.assign(source, { ranges: false, slow: 20 });
  await panel();
  await ask();
  await tab.sees("Asking for");
  await tab.page.waitForFunction(() => /receiving, .* of 4/.test(document.querySelector(".source-asked").innerText), undefined, { timeout: 60_000 });
  await tab.page.locator('[data-act="cancel"]').click();
  await answered("cancelled");
  const sent = source.sent;
  await tab.page.waitForTimeout(500);
  assert.ok(source.sent - sent < 4 << 20, "the server goes on sending");
});

test("the stack reads less than 5 MB of a file of 1 GB", async () => {
  const file = await grownSymbols(join(dir, "big.sym"), 1024);
  source.files = { [pathOf(program)]: { file }, [pathOf(codec)]: { text: codec } };
  await panel();
  await ask();
  await tab.sees("main.cc:156", { timeout: 60_000 });
  await ended();
  assert.match(await said(), /found, 1\.1 GB; Crashpane reads only the parts that it needs/);
  await tab.page.waitForTimeout(1500);
  console.log(`${source.sent} bytes of 1 GB in ${source.seen.length} answers`);
  assert.ok(source.sent < 5_000_000, `${source.sent} bytes were sent`);
  await rm(file);
});

test("the index next to a large file is asked for and used, and one that does not fit is named", async () => {
  // A function that is not in its place: a search does not find it, the index does.
  const onStack = "Pipeline::start()::{lambda()#5}>::_M_invoke";
  const file = await grownSymbols(join(dir, "moved.sym"), 40, { moved: onStack });
  execFileSync(inRepo("dist/bin/crashpane"), ["index", file]);
  const index = await readFile(`${file}.index`);
  const damaged = Buffer.from(index);
  for (let n = damaged.readUInt32LE(9); n < damaged.length; n += 100) damaged[n] ^= 1; // behind what is read at once
  const module = () =>
    tab.page.evaluate(() => [...document.querySelectorAll("#modules .row")].find((row) => row.querySelector(".fn").textContent === "tilecruncher")?.innerText ?? "");
  for (const [text, used] of [[index, true], [index.subarray(0, -1), false], [damaged, false]]) {
    source.files = { [pathOf(program)]: { file }, [`${pathOf(program)}.index`]: { text }, [pathOf(codec)]: { text: codec } };
    source.seen = [];
    await panel();
    await tab.sees("with a large .sym file for its index");
    await ask();
    await tab.sees("tile::blend_edges", { timeout: 60_000 });
    await ended();
    if (used) await tab.sees("main.cc:156");
    assert.ok(urls().includes(`${source.base}/${pathOf(program)}.index`), "its index was not asked for");
    await tab.page.locator("#tab-modules").click();
    await tab.page.waitForFunction(() => document.querySelector("#modules .row"));
    for (const until = Date.now() + 20_000; !(await module()).includes(used ? "loaded" : "indexed on demand"); await tab.page.waitForTimeout(50)) {
      assert.ok(Date.now() < until, `the symbols are said to be ${await module()}`);
    }
    await tab.part("files");
    await tab.page.waitForFunction((u) => [...document.querySelectorAll("#files .fn")].some((e) => e.title === u), `${source.base}/${pathOf(program)}`);
    assert.equal((await tab.page.locator("#files").innerText()).includes("the index next to the file is not used"), !used);
    await tab.close();
    tab = await chrome.open(site.origin);
  }
  await rm(file);
});

test("a file that changes on the server while it is read is read again from the start", async () => {
  const file = await grownSymbols(join(dir, "changes.sym"), 60);
  source.files = { [pathOf(program)]: { file } };
  await panel();
  await ask();
  await tab.sees("main.cc:156", { timeout: 60_000 });
  await ended();
  // Wait for the background work, so that all further reads are because of the button.
  for (let n = -1; n !== source.seen.length; await tab.page.waitForTimeout(1000)) n = source.seen.length;
  source.edition = "2";
  const before = source.seen.length;
  await tab.page.locator('[data-act="read-all"]').click();
  // The first request for a file has no If-Range.
  for (const until = Date.now() + 60_000; !source.seen.slice(before).some(({ headers }) => headers.range === "bytes=0-65535" && !headers["if-range"]); ) {
    assert.ok(Date.now() < until, `it was not begun again: ${await said()}`);
    await tab.page.waitForTimeout(50);
  }
  await tab.sees("main.cc:156");
  // Now read all of the changed file.
  await tab.page.locator('[data-act="read-all"]').click();
  await answered("fully indexed");
  // Wait for the other threads, since the next test counts requests from zero.
  for (let n = -1; n !== source.seen.length; await tab.page.waitForTimeout(1000)) n = source.seen.length;
});

test("a folder is chosen once, and the page looks in it by paths", async () => {
  await panel();
  await tab.page.evaluate(
    async ([files]) => {
      const root = await navigator.storage.getDirectory();
      const store = await root.getDirectoryHandle("store", { create: true });
      for (const [path, text] of files) {
        const parts = path.split("/");
        let place = store;
        for (const part of parts.slice(0, -1)) place = await place.getDirectoryHandle(part, { create: true });
        const writer = await (await place.getFileHandle(parts.at(-1), { create: true })).createWritable();
        await writer.write(text);
        await writer.close();
      }
      // A test cannot press the buttons of the browser's chooser.
      window.showDirectoryPicker = async () => store;
    },
    [[[pathOf(program), program], [pathOf(codec), codec]]],
  );
  await tab.page.locator('[data-act="remember"]').click();
  await tab.page.locator('[data-act="pick-store"]').click();
  await tab.sees("main.cc:156");
  await tab.part("files");
  await tab.sees("tilecruncher.sym");
  await tab.close();
  // At the next visit one press of a button looks in the folder.
  tab = await chrome.open(site.origin);
  await panel();
  await tab.page.locator('[data-act="store"]').click();
  await tab.sees("main.cc:156");
  assert.deepEqual(source.seen, []);
});
