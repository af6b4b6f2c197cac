// What a user sends to others: every export of both menus is shown first, without private texts, and
// then copied or downloaded; the HTML report opens from a file, without a network.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { chrome, dir, dump, setUp, site, symbols, tab } from "./setup.mjs";

setUp({
  once: () => chrome.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin }),
});

async function opened() {
  await tab.drop([dump, ...symbols]);
  await tab.sees("tile::blend_edges");
  await tab.sees("__clone3");
}

const report = (text) => JSON.parse(text);
// In both menus, in this order; what is only in the menu of downloads follows below.
const tickets = {
  stack: (text) => {
    for (const said of ["edge_offset  [codec.cc:33]", "Dump:       tilecruncher.dmp", "Signature:  edge_offset", "B19F54F3834E401B9A6B97A1CCACE8B90", "__clone3"]) assert.ok(text.includes(said), said);
  },
  markdown: (text) => assert.match(text, /^\*\*tilecruncher tried .*\| 0 \| `tile::blend_edges\(tile::Tile const&, tile::Tile const&, unsigned int\)\+0xa` \|/s),
  jira: (text) => assert.match(text, /^\*tilecruncher tried .*\{noformat\}\n.*tile::blend_edges.*\{noformat\}\n$/s),
  windbg: (text) => assert.match(text, /\n # Child-SP          RetAddr               Call Site\n00 \(Inline Function\) --------`--------     libtilecodec_so!edge_offset \[/),
  html: (text) => assert.match(text, /^<!doctype html>.*tile::blend_edges.*<\/html>\n$/s),
  brief: (text) => assert.ok(text.startsWith("What happened: tilecruncher tried") && Buffer.byteLength(text) <= 8192),
  modules: (text) => assert.match(text, /^Module,Version,.*\nlibc\.so\.6,6\.0\.0\.0,/s),
  wanted: (text) => assert.equal(text, ""),
};
const reports = {
  text: (text) => assert.match(text, /^Operating system: Linux\n/),
  machine: (text) => assert.match(text, /^OS\|Linux\|/),
  json: (text) => {
    assert.equal(report(text).crash_info.type, "SIGSEGV / SEGV_MAPERR");
    assert.equal(report(text).crashing_thread.frames[0].inlines[0].function, "edge_offset");
    assert.ok(!/"(environ|cmdline|command_line|environment|explain)"/.test(text), "no command line, no environment, no words of the stack");
  },
};
const endings = { stack: ".txt", markdown: ".md", jira: ".jira.txt", windbg: ".k.txt", html: ".html", brief: ".brief.txt", modules: ".modules.csv", text: ".txt", machine: ".machine.txt", json: ".json" };
const menus = { copy: tickets, download: { ...tickets, ...reports } };
const kinds = Object.keys(menus.download).filter((kind) => kind !== "wanted"); // nothing is missing

test("every export of the menus is shown, and then copied or downloaded", async () => {
  await opened();
  const { page } = tab;
  for (const menu of Object.keys(menus)) {
    await page.locator(`#menu-${menu}`).click();
    const offered = await page.locator('.menu:not([hidden]) [data-act="export"]').evaluateAll((items) => items.map((item) => item.dataset.arg));
    assert.deepEqual(offered, Object.keys(menus[menu]), `the menu ${menu}`);
    await page.keyboard.press("Escape");
  }
  for (const kind of kinds) {
    const { name, text } = await tab.downloaded(kind);
    assert.equal(name, `tilecruncher${endings[kind]}`);
    menus.download[kind](text);
    if (kind in reports) continue;
    await tab.preview("copy", kind);
    if (kind === "html") {
      const report = page.frameLocator(".preview-frame iframe");
      assert.match(await report.locator("h1").textContent(), /^tilecruncher tried/);
      assert.equal(await report.locator("th").first().evaluate((head) => getComputedStyle(head).fontSize), "12px", "it has its own styles");
      assert.equal(await page.locator(".preview-frame iframe").getAttribute("sandbox"), "");
      if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, "preview.png") });
      await page.locator("#preview-act").focus();
    }
    const shown = kind === "html" ? text : await page.locator(".preview-text").textContent();
    assert.ok(text.startsWith(shown) && (shown === text || shown.length >= 60_000), `${kind}: the preview is the text`);
    await page.keyboard.press("Enter"); // the main button has the focus
    await page.waitForFunction(async (text) => (await navigator.clipboard.readText()).replaceAll("\r\n", "\n") === text, text, { polling: 200 });
    await page.locator(".preview").waitFor({ state: "detached" });
  }
  await page.keyboard.press("Escape");
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.keyboard.press("c");
  await page.locator(".preview-text", { hasText: "tile::blend_edges" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "", "nothing is copied before it is shown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).includes("tile::blend_edges"), undefined, { polling: 200 });
});

test("private texts are shown on request, and the dialog works by keyboard", async () => {
  await opened();
  const { page } = tab;
  await tab.preview("copy", "brief", { shown: true });
  await tab.sees("with private texts");
  await page.locator(".preview .button", { hasText: "Close" }).focus();
  const inDialog = () => page.evaluate(() => document.activeElement.closest(".dialog") !== null);
  for (let i = 0; i < 7; i++) {
    await page.keyboard.press(i < 4 ? "Tab" : "Shift+Tab");
    assert.ok(await inDialog(), "the focus stays in the dialog");
  }
  await page.keyboard.press("Escape");
  await page.locator(".preview").waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement.id === "menu-copy");
});

// With SHOTS=folder the screens are kept, to be looked at.
test("the HTML report opens from a file, without a network, in both themes and on paper", async () => {
  await opened();
  const { text } = await tab.downloaded("html");
  assert.ok(Buffer.byteLength(text) < 200_000);
  const file = join(dir, "report.html");
  await writeFile(file, text);
  const page = await chrome.context.newPage();
  const problems = [];
  const asked = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => asked.push(request.url()));
  await chrome.context.setOffline(true);
  try {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1440, 900]) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await page.goto(pathToFileURL(file).href);
        const [wide, ground] = await page.evaluate(() => [document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor]);
        assert.ok(wide <= width, `the report is ${wide} pixels wide in a window of ${width}`);
        assert.equal(ground, colorScheme === "dark" ? "rgb(20, 23, 28)" : "rgb(255, 255, 255)");
        if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `report-${colorScheme}-${width}.png`), fullPage: true });
      }
    }
    await page.locator("summary", { hasText: "Thread 0" }).click();
    assert.ok(await page.locator("details[open] code").first().isVisible(), "a thread opens without a script");
    await page.emulateMedia({ media: "print" });
    assert.ok(await page.locator("details:not([open]) td code").first().isVisible(), "threads that are closed are printed");
    if (process.env.SHOTS) await page.pdf({ path: join(process.env.SHOTS, "report.pdf"), format: "A4", margin: { top: "14mm", bottom: "14mm", left: "12mm", right: "12mm" } });
    assert.match(await page.title(), /^tilecruncher\.dmp/);
    assert.deepEqual(problems, []);
    assert.deepEqual(asked.filter((url) => !url.startsWith("file:")), []);
  } finally {
    await chrome.context.setOffline(false);
    await page.close();
  }
});
