// Accessibility: every zone is reachable at any size of the window, nothing important is cut on a
// phone, and keys and roles follow their standards. axe-core checks roles, names and contrast.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, afterEach, before, test } from "node:test";
import { startChrome, startSite } from "./harness.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const dump = "testdata/sample/tilecruncher.dmp";

let site;
let chrome;
let tab;
before(async () => {
  site = await startSite();
  // The page's policy would forbid the script of axe.
  chrome = await startChrome({ record: false, serviceWorkers: "block", bypassCSP: true });
});
after(async () => {
  await chrome?.close();
  await site?.stop();
});
afterEach(async () => {
  const { problems } = tab;
  await tab.close();
  assert.deepEqual(problems, []);
});

async function open({ width = 1440, height = 900, scheme = "light", symbols = true } = {}) {
  tab = await chrome.open(site.origin);
  await tab.page.setViewportSize({ width, height });
  await tab.page.emulateMedia({ colorScheme: scheme });
  if (symbols) await tab.page.getByRole("button", { name: "Open the sample" }).click();
  else await tab.choose("[data-choose=files]", [dump]);
  await tab.page.waitForSelector("#stack .row.frame");
  if (symbols) await tab.sees("tile::blend_edges");
}

const enabled = (group) => tab.page.$$eval(`${group} .tab`, (tabs) => tabs.filter((t) => !t.disabled).map((t) => t.id));
const openTabs = () => enabled(".panel-tabs");

async function show(id) {
  await tab.page.evaluate((id) => {
    const button = document.getElementById(id);
    if (button.getAttribute("aria-selected") !== "true") button.click();
  }, id);
  await tab.page.waitForFunction((id) => document.getElementById(id).getAttribute("aria-selected") === "true", id);
}

// Waits until the shown part has its content: a heading without text is one whose content has not come.
const filled = () =>
  tab.page.waitForFunction(() => {
    const part = document.querySelector(".panel-slot:not([hidden])");
    return part?.innerText.trim() && [...part.querySelectorAll("h2, h3, h4")].every((h) => h.offsetParent === null || h.innerText.trim() !== "");
  });

async function complaints() {
  return tab.page.evaluate(async () =>
    (await globalThis.axe.run(document)).violations.flatMap((v) => v.nodes.map((n) => `${v.id} (${v.impact}): ${n.target} ${n.failureSummary}`)),
  );
}

for (const scheme of ["light", "dark"]) {
  for (const symbols of [true, false]) {
    test(`axe finds nothing on any tab, ${scheme}, ${symbols ? "with" : "without"} symbols`, async () => {
      await open({ scheme, symbols });
      await tab.page.addScriptTag({ path: axe });
      for (const id of await openTabs()) {
        await show(id);
        for (const part of [id, ...(await enabled(".panel-parts")).slice(1)]) {
          await show(part);
          await filled();
          const row = await tab.page.$(".panel .row.choice-row");
          if (row) await row.click();
          assert.deepEqual(await complaints(), [], part);
        }
      }
      await tab.page.focus("#stack");
      await tab.page.keyboard.press("x"); // rows of the tabs have selected other frames
      await tab.page.click("#side-why");
      assert.deepEqual(await complaints(), [], "why");
      await tab.page.click("#side-code");
      await tab.page.waitForSelector(".code-row.at");
      assert.deepEqual(await complaints(), [], "code");
      await tab.page.fill("#search", "nothing is called so");
      await tab.sees("Not found");
      assert.deepEqual(await complaints(), [], "nothing found");
      await tab.page.click("#help-button");
      await tab.page.waitForSelector("[role=dialog]");
      assert.deepEqual(await complaints(), [], "help");
    });
  }
}

const heightOf = (selector) => tab.page.$eval(selector, (e) => e.getBoundingClientRect().height);

for (const [what, symbols, unused] of [
  ["with symbols", true],
  ["without symbols", false],
  ["with a notice and a finding", false, true],
]) {
  test(`900×700, ${what}: the crashed stack has twelve rows at first sight`, async () => {
    await open({ width: 900, height: 700, symbols });
    if (unused) {
      const buffer = Buffer.from("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a-library-of-another-program.so.1\nPUBLIC 1000 0 f\n");
      await tab.page.locator("[data-choose=files]").setInputFiles({ name: "a-library-of-another-program.so.1.sym", mimeType: "text/plain", buffer });
      await tab.page.locator(".notice", { hasText: "a-library-of-another-program" }).waitFor();
      assert.ok((await heightOf(".notice")) < 40, "a notice has one line");
      await tab.page.locator(".verdict-finding:visible").waitFor();
    }
    const rows = await tab.page.evaluate(() => {
      const { top, bottom } = document.querySelector("#stack").getBoundingClientRect();
      return Math.floor((Math.min(bottom, innerHeight) - top) / 26);
    });
    assert.ok(rows >= 12, `${rows} rows`);
    assert.ok(await tab.page.locator(".reg-value").first().isVisible(), "the registers are next to it");
    await tab.page.click("#tab-modules");
    await tab.page.locator("#modules .row").first().waitFor();
  });
}

test("the stack keeps its minimum size, however splitters are dragged and however small the window is", async () => {
  await open();
  const line = await tab.page.locator("#split-panel").boundingBox();
  await tab.page.mouse.move(700, line.y);
  await tab.page.mouse.down();
  await tab.page.mouse.move(700, 60, { steps: 5 });
  await tab.page.mouse.up();
  const sizes = [[1440, 900], [1000, 700], [1081, 500], [900, 800], [640, 480], [390, 844], [320, 568]];
  for (const again of [false, true]) {
    if (again) {
      await tab.page.reload();
      await tab.ready();
      await tab.page.getByRole("button", { name: "Open the sample" }).click();
      await tab.page.waitForSelector("#stack .row.frame");
    }
    for (const [width, height] of sizes) {
      await tab.page.setViewportSize({ width, height });
      assert.ok((await heightOf("#stack")) >= 3 * 26, `${width}×${height}: the stack is ${await heightOf("#stack")} px high`);
      assert.ok((await heightOf("#panel-body")) >= 3 * 26, `${width}×${height}: the lower panel is ${await heightOf("#panel-body")} px high`);
      // What does not fit must be reachable by scrolling.
      await tab.page.$eval(".panel-head", (e) => e.scrollIntoView());
      const { y } = await tab.page.locator(".panel-head").boundingBox();
      assert.ok(y >= 0 && y < height, `${width}×${height}: the lower tabs are at ${y}`);
    }
  }
  await tab.page.setViewportSize({ width: 1100, height: 700 });
  for (const id of ["threads", "frame"]) {
    const { x } = await tab.page.locator(`#split-${id}`).boundingBox();
    await tab.page.mouse.move(x, 400);
    await tab.page.mouse.down();
    await tab.page.mouse.move(550, 400, { steps: 5 });
    await tab.page.mouse.up();
  }
  const width = await tab.page.$eval("#stack", (e) => e.getBoundingClientRect().width);
  assert.ok(width >= 360, `the stack is ${width} px wide`);
});

test("on a phone nothing of the verdict and of the stack is cut", async () => {
  await open({ width: 390, height: 844, symbols: false });
  const cut = await tab.page.evaluate(() => {
    const out = [];
    const parts = "#help-button, #search, .dump-name-text, .verdict-line, .verdict-line span, .verdict-facts span, .verdict-finding-text, #stack .fn";
    for (const e of document.querySelectorAll(parts)) {
      const box = e.getBoundingClientRect();
      if (box.width === 0) continue;
      if (box.left < 0 || box.right > innerWidth || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 || e.scrollHeight > e.clientHeight + 2 && e.clientHeight > 0 && e.tagName !== "INPUT")
        out.push(`${e.className || e.id}: ${e.textContent}`);
    }
    return out;
  });
  assert.deepEqual(cut, []);
  assert.match(await tab.page.locator("#stack .row.frame .fn").first().innerText(), /^libtilecodec\.so\+0x127f$/);
});

test("a frame without a name is shown as module and offset, and the copy and the details have the same numbers", async () => {
  await open({ symbols: false });
  // Frame 1 is a caller: its address is in the call instruction, not after it.
  const row = tab.page.locator("#stack .row.frame").nth(1);
  const name = await row.locator(".fn").innerText();
  const address = await row.locator(".mod").innerText();
  await row.click();
  await tab.page.waitForFunction((name) => document.querySelector(".frame-title").textContent.startsWith(name), name);
  const details = await tab.page.locator(".frame-body .facts").innerText();
  assert.ok(details.includes(`+${name.split("+")[1]}`), `${name} in ${details}`);
  assert.ok(details.includes(address.match(/0x[0-9a-f]+/)[0]), `${address} in ${details}`);
  const offset = BigInt(name.split("+")[1]);
  assert.equal((BigInt(address.match(/0x[0-9a-f]+/)[0]) - offset) % 0x1000n, 0n, "address and offset belong together");
});

test("columns follow their content", async () => {
  await open({ symbols: false });
  const cut = await tab.page.$$eval("#stack .row.frame .mod", (cells) => cells.filter((c) => c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent));
  assert.deepEqual(cut, []);
  const source = await tab.page.$eval("#stack .row.frame .src", (e) => e.getBoundingClientRect().width);
  assert.equal(source, 0, "nothing has a source, so the column has no room");
});

test("every tab has a key, the panel folds and unfolds, Home and End work in the list of threads", async () => {
  await open();
  for (const id of await openTabs()) {
    const key = await tab.page.getAttribute(`#${id}`, "aria-keyshortcuts");
    assert.equal(key?.length, 1, `the key of ${id}`);
    await tab.page.focus("#stack");
    if ((await tab.page.getAttribute(`#${id}`, "aria-selected")) !== "true") await tab.page.keyboard.press(key);
    await tab.page.waitForFunction((id) => document.getElementById(id).getAttribute("aria-selected") === "true", id);
  }
  await tab.page.getByRole("button", { name: "Fold", exact: true }).click();
  await tab.page.waitForSelector("#panel-body", { state: "hidden" });
  await tab.page.getByRole("button", { name: "Unfold", exact: true }).click();
  await tab.page.waitForSelector("#panel-body");
  const selected = (n) =>
    tab.page.waitForFunction((n) => document.querySelector("#threads .selected")?.getAttribute("aria-posinset") === String(n), n);
  await tab.page.focus("#threads");
  await tab.page.keyboard.press("End");
  await selected(6);
  await tab.page.keyboard.press("Home");
  await selected(1);
});

test("in forced colors the lines of jumps are still drawn", async () => {
  await open();
  await tab.page.emulateMedia({ forcedColors: "active" });
  await tab.page.click("#side-code");
  await tab.page.waitForSelector(".code-row.at");
  const drawn = (pseudo) => tab.page.$$eval(".code-row", (rows, pseudo) => rows.filter((row) => getComputedStyle(row, pseudo).backgroundImage.includes("gradient")).length, pseudo);
  await tab.page.waitForFunction(() => [...document.querySelectorAll(".code-row")].some((row) => row.style.getPropertyValue("--jumps")));
  assert.equal(await drawn(null), 0, "forced colors take gradients away");
  assert.ok((await drawn("::before")) > 0);
});
