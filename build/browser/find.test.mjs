import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { findBrowser } from "./find.mjs";

const dir = mkdtempSync(join(tmpdir(), "crashpane-find-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const program = (name) => {
  const path = join(dir, name);
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  return path;
};

test("a browser that the environment names is used, and no other", () => {
  const named = program("my-own");
  assert.equal(findBrowser({ env: { CHROME: named, PATH: dir } }), named);
  assert.equal(findBrowser({ env: { CHROMIUM: named, PATH: dir } }), named);
  assert.throws(() => findBrowser({ env: { CHROME: join(dir, "none"), PATH: dir } }), /not a program/);
});

test("PATH is searched", () => {
  const onPath = program("chromium");
  assert.equal(findBrowser({ env: { PATH: dir } }), onPath);
});

test("BROWSER is used only if it is a Chrome", () => {
  const onPath = program("chromium");
  assert.equal(findBrowser({ env: { BROWSER: "firefox", PATH: dir } }), onPath);
  const chrome = program("my-chrome");
  assert.equal(findBrowser({ env: { BROWSER: chrome, PATH: dir } }), chrome);
});

test("without a browser it says in one line what to install, or installs it if it can", () => {
  const empty = join(dir, "empty");
  mkdirSync(empty);
  const nothing = { env: { PATH: empty }, places: [join(empty, "chrome")], log: () => {} };
  const oneLine = (error) => /install/.test(error.message) && /BROWSER=none/.test(error.message) && !error.message.includes("\n");
  assert.throws(() => findBrowser({ ...nothing, mayInstall: false }), oneLine);
  const broken = () => {
    throw new Error("no network\nand more");
  };
  assert.throws(() => findBrowser({ ...nothing, mayInstall: true, installer: broken }), oneLine);
  const installer = () => {
    writeFileSync(join(empty, "chromium"), "#!/bin/sh\n");
    chmodSync(join(empty, "chromium"), 0o755);
  };
  assert.equal(findBrowser({ ...nothing, mayInstall: true, installer }), join(empty, "chromium"));
});
