// The code of programs without a dump, in the outline: instructions with lines, targets and unwind rules, by keyboard, on the
// history and after a reload. What has no code or no decoder says so.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { inRepo } from "./harness.mjs";
import { dump, put, setUp, symbols, tab } from "./setup.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const macho = "symfile/macho/testdata";
const program = [`${macho}/m-x86_64-fp.dylib.gz`, `${macho}/m-x86_64-fp.dwarf.gz`];
const made = "../shared/corpus/other/made-here/core2md";
const skip = existsSync(inRepo(made)) ? false : "*** SKIPPED: the corpus with a dump and its binary is not here";

setUp({ browser: { serviceWorkers: "block", bypassCSP: true } });

const at = () => tab.page.locator(".code-row.at");
const title = (text) => tab.page.locator(".outline-title", { hasText: text }).waitFor();
const hashHas = (text) => tab.page.waitForFunction((t) => location.hash.includes(t), text);
async function violations() {
  await tab.page.addScriptTag({ path: axe });
  const found = await tab.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 200)).join("\n")}`);
}
async function outline(files, button = "Show their functions") {
  await tab.drop(files);
  await tab.page.getByRole("button", { name: button }).click();
  await tab.page.waitForSelector("#outline .row");
}
async function find(text) {
  await tab.page.locator("#outline-field").fill(text);
  await tab.page.locator("#outline .row", { hasText: text }).first().waitFor();
  await tab.page.locator("#outline-field").press("Enter");
}

test("the instructions of a program, by keyboard; jumps, Back and a reload keep the place", async () => {
  await outline(program, "Show the functions of m-x86_64-fp.dylib");
  await find("recurse");
  await title("recurse");
  await tab.page.waitForSelector("#outline:focus");
  await tab.page.keyboard.press("d");
  await at().filter({ hasText: "push rbp" }).waitFor();
  const listed = tab.page.locator("#code");
  await listed.getByText("m.c:").first().waitFor();
  await listed.getByText("rule: cfa rbp+16").first().waitFor();
  assert.equal(await tab.page.locator("[data-act=outline-code]").getAttribute("aria-pressed"), "true");
  assert.deepEqual(await violations(), []);
  await hashHas("side=code");
  const first = await tab.page.evaluate(() => location.hash);

  await tab.page.locator(".code-goal", { hasText: "+0x39" }).focus();
  await tab.page.keyboard.press("Enter");
  await title("recurse + 0x39");
  await tab.page.waitForFunction((h) => location.hash !== h, first);
  const second = await tab.page.evaluate(() => location.hash);
  await tab.page.goBack();
  await title("recurse");
  await at().filter({ hasText: "push rbp" }).waitFor();
  await tab.page.goForward();
  await title("recurse + 0x39");
  await tab.page.locator(".code-goal", { hasText: "outside@plt" }).first().click(); // another function
  await title("outside@plt");
  await tab.page.waitForFunction((h) => location.hash !== h, second);
  await tab.page.goBack();
  await title("recurse + 0x39");

  // Each address leads to its code: that of a row, and that of a fact.
  await tab.page.goBack();
  await title("recurse");
  await tab.page.locator(".code-row.code", { hasText: "cmp edi, 0x2" }).locator(".address").click();
  await title("recurse + 0x14");
  await tab.page.locator(".outline-side .facts .address").first().click();
  await at().filter({ hasText: "push rbp" }).waitFor();

  await tab.page.goto(`${tab.page.url().split("#")[0]}${second}`);
  await tab.page.reload();
  await tab.ready();
  await tab.sees("This address is about the functions of m-x86_64-fp.dylib");
  await tab.drop(program);
  await title("recurse + 0x39");
  await at().waitFor();
  assert.equal(await tab.page.locator("#outline-field").inputValue(), "recurse");
});

test("a symbol file has no code, and shows that of its program when it comes", async () => {
  const elf = await readFile(inRepo("symfile/elf/testdata/x86_64-linux-gnu.elf"));
  const files = await put({ "x.sym": "MODULE Linux x86_64 8721EE21E60CD12400C4DC494C7D91D60 x.so\nFILE 0 /src/x.c\nFUNC 47c 20 0 started\n47c 20 7 0\n", "x.so": elf });
  await tab.page.setViewportSize({ width: 900, height: 700 });
  await tab.page.emulateMedia({ colorScheme: "dark" });
  await outline(files.slice(0, 1));
  await find("started");
  await tab.page.getByRole("button", { name: "Code", exact: true }).click();
  await tab.sees("A symbol file has no code");
  await tab.sees("Drop x.so with debug id 8721EE21E60CD12400C4DC494C7D91D60 to see its code.");
  assert.deepEqual(await violations(), []);
  await tab.drop(files.slice(1));
  await at().filter({ hasText: "push rbx" }).waitFor();
  await tab.page.locator(".code-row.line", { hasText: "x.c:7" }).waitFor();
  assert.deepEqual(await violations(), []);
});

test("code that is not decoded is shown as bytes, and the page says so", async () => {
  const elf = "symfile/elf/testdata";
  for (const [file, name, says, bytes] of [
    ["symfile/pe/testdata/arm.dll", "Ordinal7", "It may be Thumb code, which is not decoded.", "2d e9"],
    [`${elf}/arm-linux-gnueabihf.elf`, "run", "It may be Thumb code, which is not decoded.", "38 b5"],
    [`${elf}/mips-linux-gnu.elf`, "run", "Mips instructions are not decoded.", "27 bd ff d0"],
    [`${elf}/s390x-linux-gnu.elf`, "run", "S390x instructions are not decoded.", "eb bf"],
    [`${elf}/sparc64-linux-gnu.elf`, "run", "This processor's instructions are not decoded.", "9d e3 bf 50"],
  ]) {
    await tab.page.goto(tab.page.url().split("#")[0]);
    await tab.page.reload();
    await tab.ready();
    await outline([file]);
    await find(name);
    await tab.page.getByRole("button", { name: "Code", exact: true }).click();
    await tab.sees(says);
    await at().filter({ hasText: bytes }).waitFor();
  }
});

test("a Mach-O file for several processors is a choice", async () => {
  const parts = await Promise.all(["x86_64", "arm64"].map(async (cpu) => gunzipSync(await readFile(inRepo(`${macho}/m-${cpu}-fp.dylib.gz`)))));
  // The header of mach-o/fat.h: magic, number; of each part cputype, subtype, offset, size, alignment.
  const [page, starts] = [1 << 14, [1 << 14, 1 << 20]];
  const fat = Buffer.alloc(starts[1] + parts[1].length);
  [0xcafebabe, 2, 0x01000007, 3, starts[0], parts[0].length, 14, 0x0100000c, 0, starts[1], parts[1].length, 14].forEach((n, i) => fat.writeUInt32BE(n, 4 * i));
  assert.ok(parts[0].length <= starts[1] - page);
  parts.forEach((part, i) => part.copy(fat, starts[i]));
  await outline(await put({ m: fat }), "Show the functions of arm64/m");
  await find("recurse");
  await tab.page.getByRole("button", { name: "Code", exact: true }).click();
  await at().filter({ hasText: "stp x24, x23" }).waitFor();
  await tab.page.locator(".outline-file").selectOption({ label: "amd64/m" });
  await find("recurse");
  await at().filter({ hasText: "push rbp" }).waitFor();
  await hashHas("symbols=amd64%2Fm");
});

test("with a dump the outline's file, text and address are in the page's address, too", async () => {
  const files = [dump, ...symbols];
  await tab.drop(files);
  await tab.sees("tile::blend_edges");
  await tab.chooseModule("libtilecodec.so");
  await tab.page.locator("[data-act=outline-module]").click();
  await tab.page.locator("#outline .row", { hasText: "tile::encode_quadtree" }).waitFor();
  await find("quadtree");
  await title("encode_quadtree");
  for (const part of ["tab=outline", "symbols=libtilecodec.so.sym", "functions=quadtree", "address=0x7"]) await hashHas(part);
  await tab.page.reload();
  await tab.ready();
  await tab.drop(files);
  await title("encode_quadtree");
  assert.equal(await tab.page.locator("#outline-field").inputValue(), "quadtree");
  assert.equal(await tab.page.locator("#outline .row").count(), 1);
  await tab.page.locator("[data-act=outline-code]").click();
  await tab.page.locator(".frame .code-zone", { hasText: "Drop libtilecodec.so" }).waitFor(); // the dump does not have that code
});

test("go to finds a function that is on no stack in a program without a symbol file, and says what it searched", { skip }, async () => {
  await tab.drop([`${made}/mt-core2md.dmp`, `${made}/mt`]);
  await tab.sees("mt.c:17");
  await tab.page.locator("#stack").focus();
  await tab.page.keyboard.press("g");
  await tab.page.waitForSelector("#go-to:focus");
  await tab.page.keyboard.type("register_tm");
  await tab.page.locator(".go-item", { hasText: "deregister_tm_clones" }).waitFor();
  await tab.sees("Functions are those of the stacks, the symbol tables of 1 program.");
  assert.deepEqual(await violations(), []);
  await tab.page.locator("#go-to").fill("no_such_name");
  await tab.sees("No function of the stacks, the symbol tables of 1 program, and no module");
});
