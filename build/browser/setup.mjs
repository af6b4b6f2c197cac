// The setup of the page's tests: the built page, a Chromium, a temporary folder, and for each test
// a tab, which must not log errors and must not make requests to other origins. Node runs each test
// file in a process of its own, so these variables are not shared.
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

// Registers the setup. once is called after it, each when a test's tab is open. browser has the
// options of startChrome.
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

// Calls act with another tab in place of the test's.
export async function withTab(other, act) {
  const own = tab;
  tab = other;
  try {
    await act();
  } finally {
    tab = own;
  }
}

// Writes files, given by name and content, to the temporary folder, and returns their paths.
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
