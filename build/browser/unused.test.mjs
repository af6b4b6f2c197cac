// A symbol file that belongs to no module of the dump says so, in a notice and in the Files tab; one
// that is used says nothing, whichever of the two came first.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { dir, setUp, tab } from "./setup.mjs";

let other; // symbols of a module that the dump does not have
let wide; // the right ones, in UTF-16 as PowerShell writes it
const dump = inRepo("testdata/sample/tilecruncher.dmp");

setUp({
  once: async () => {
    const text = await readFile(inRepo("testdata/sample/libtilecodec.so.sym"), "utf8");
    const rest = text.split("\n").filter((line) => !/^(MODULE|INFO)/.test(line));
    other = join(dir, "libother.so.sym");
    await writeFile(other, ["MODULE Linux x86_64 11112222333344445555666677778888A libother.so", ...rest].join("\n"));
    wide = join(dir, "wide.sym");
    await writeFile(wide, "\ufeff" + text.replaceAll("\n", "\r\n"), "utf16le");
  },
});

const notice = () => tab.page.locator(".notice", { hasText: "is not used" });

test("a file that matches no module is told of, and the Files tab says why", async () => {
  await tab.drop([dump]);
  await tab.sees("libtilecodec.so");
  await tab.drop([other]);
  await notice().waitFor();
  assert.match(await notice().innerText(), /libother\.so\.sym is not used: the dump has no module with its name, libother\.so, or its id/);
  await notice().getByRole("button", { name: "Show files" }).click();
  await tab.page.locator("#files .row", { hasText: "Not used: the dump has no module" }).waitFor();
});

test("symbols in UTF-16 are used without a message", async () => {
  await tab.drop([wide]);
  await tab.drop([dump]);
  await tab.sees("codec.cc");
  assert.equal(await notice().count(), 0);
});
