// What tests of the page begin with: the built page, a Chromium, a folder for files of their own, and for each test a tab, which must neither complain
// nor reach elsewhere. Each test file is a process of its own, so what is here is its own.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach } from "node:test";
import { startChrome, startSite } from "./harness.mjs";

export const dump = "testdata/sample/tilecruncher.dmp";
export const symbols = ["tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz"].map((name) => `testdata/sample/${name}`);

export let site;
export let chrome;
export let tab;
export let dir;

// Prepares all of that; once is done when it is there, each when a tab is open. browser are the options of startChrome.
export function setUp({ once, each, browser } = {}) {
  before(async () => {
    site = await startSite();
    chrome = await startChrome(browser);
    dir = await mkdtemp(join(tmpdir(), "crashpane-browser-"));
    await once?.();
  });
  after(async () => {
    await chrome?.close();
    await site?.stop();
    if (dir) await rm(dir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    tab = await chrome.open(site.origin);
    await each?.();
  });
  afterEach(async () => {
    const { problems, foreign } = tab;
    await tab.close();
    assert.deepEqual(problems, []);
    assert.deepEqual(foreign, []);
  });
}

// Does something with another tab in place of the test's.
export async function withTab(other, act) {
  const own = tab;
  tab = other;
  try {
    await act();
  } finally {
    tab = own;
  }
}

// Files of our own making, by name and content; answers their paths.
export async function put(files) {
  const paths = [];
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, content);
    paths.push(path);
  }
  return paths;
}
