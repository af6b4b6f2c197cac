// The harness of the browser tests: the built page on the project's server, a new Chromium, and a
// record of every request.
//
//     const site = await startSite();
//     const chrome = await startChrome();
//     const tab = await chrome.open(site.origin);   // waits until the page is ready
//     await tab.drop(["testdata/sample/tilecruncher.dmp", "some/folder"]);
//     tab.requests, tab.foreign, tab.problems       // what it asked for, and what went wrong
//     await chrome.close(); await site.stop();
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { findBrowser } from "./find.mjs";

export const root = resolve(fileURLToPath(import.meta.url), "../../..");
export const inRepo = (path) => resolve(root, path);

// Serves a built page on a free port, with the server of `make run`.
export async function startSite({ dir = "dist/site" } = {}) {
  const server = spawn(inRepo("dist/bin/serve"), ["-addr", "127.0.0.1:0", "-dir", inRepo(dir)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  const origin = await new Promise((done, fail) => {
    const listen = (chunk) => {
      said += chunk;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) done(found[0]);
    };
    server.stdout.on("data", listen);
    server.stderr.on("data", listen);
    server.on("error", fail);
    server.on("exit", (code) => fail(new Error(`the server ended (${code}): ${said}`)));
  });
  return {
    origin,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.removeAllListeners("exit");
      const ended = new Promise((done) => server.once("exit", done));
      server.kill();
      await ended;
    },
  };
}

// Starts a proxy for all of Chromium's traffic, so that no request is missed, whether of a page, a
// worker or the browser itself. It passes on only requests to this machine.
async function startRecorder() {
  const seen = [];
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const record = { method: request.method, url: request.url, body: body.length, headers: request.headers, at: Date.now(), came: 0 };
      seen.push(record);
      const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
      if (url?.hostname !== "127.0.0.1") {
        response.writeHead(502).end();
        return;
      }
      const onward = http.request(url, { method: request.method, headers: request.headers }, (answer) => {
        record.status = answer.statusCode;
        response.writeHead(answer.statusCode, answer.headers);
        answer.on("data", (piece) => (record.came += piece.length));
        answer.pipe(response);
      });
      onward.on("error", () => response.writeHead(502).end());
      onward.end(body);
    });
  });
  // https and WebSockets need a tunnel; refuse it.
  server.on("connect", (request, socket) => {
    seen.push({ method: "CONNECT", url: request.url, body: 0, headers: request.headers, at: Date.now() });
    socket.on("error", () => {});
    socket.end("HTTP/1.1 502 No Tunnel\r\n\r\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    seen,
    address: `127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
}

// Hosts that Chromium itself asks, whatever page is open. A request of the page to one of them is
// still in tab.asked.
const browsersOwn = /(^|\.)(google\.com|googleapis\.com|gvt1\.com|gstatic\.com|chromium\.org)(:\d+)?$/;

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-sync",
];

// Starts Chromium with a new profile. record: false leaves the proxy out, for benchmarks;
// serviceWorkers: "block" disables them; bypassCSP lets a test run scripts of its own in the page.
export async function startChrome({ record = true, serviceWorkers = "allow", bypassCSP = false } = {}) {
  const recorder = record ? await startRecorder() : { seen: [], stop: async () => {} };
  const profile = await mkdtemp(join(tmpdir(), "crashpane-chrome-"));
  const proxy = record ? [`--proxy-server=http://${recorder.address}`, "--proxy-bypass-list=<-loopback>"] : [];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findBrowser(),
    headless: true,
    args: [...flags, ...proxy],
    acceptDownloads: true,
    serviceWorkers,
    bypassCSP,
    viewport: { width: 1280, height: 860 },
  });
  return {
    context,
    recorder,
    open: (url, options) => openTab(context, recorder, url, options),
    async close() {
      await context.close();
      await recorder.stop();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// Opens a page and waits until it is ready.
async function openTab(context, recorder, url, { ready = true, timeout = 30_000 } = {}) {
  const page = await context.newPage();
  const from = recorder.seen.length;
  const tab = new Tab(page, recorder, from, new URL(url).origin);
  await tab.watch();
  await page.goto(url, { timeout });
  if (ready) await tab.ready({ timeout });
  return tab;
}

// The parts of each tab of the lower panel, by the tab's first part (Tabs in web/app/panel.go).
const parts = {
  threads: ["threads"],
  memory: ["memory", "words", "bytes", "text", "find"],
  modules: ["modules", "wanted", "files", "outline"],
  findings: ["findings", "compare", "dumps", "log"],
  system: ["system", "annotations", "handles", "streams"],
};

// The tab of each part.
export const tabOf = Object.fromEntries(Object.entries(parts).flatMap(([tab, ids]) => ids.map((id) => [id, tab])));

class Tab {
  constructor(page, recorder, from, origin) {
    this.page = page;
    this.origin = origin;
    this.problems = []; // what the console, the page or the policy complained of
    this.asked = []; // what the page asked for, as the browser tells it
    this.recorder = recorder;
    this.from = from;
  }

  async watch() {
    const { page } = this;
    page.on("console", (message) => {
      if (message.type() === "error") this.problems.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.problems.push(`page: ${error.message}`));
    // With open files the page asks the user before it is closed; always accept.
    this.leavings = 0;
    page.on("dialog", (dialog) => {
      if (dialog.type() === "beforeunload") this.leavings++;
      dialog.accept().catch(() => {});
    });
    page.on("crash", () => this.problems.push("the page crashed"));
    page.on("request", (request) => {
      this.asked.push({ method: request.method(), url: request.url(), body: request.postDataBuffer()?.length ?? 0 });
    });
    this.cdp = await page.context().newCDPSession(page);
  }

  async ready({ timeout = 30_000 } = {}) {
    try {
      await this.page.waitForFunction(() => document.documentElement.dataset.ready === "1", undefined, { timeout });
    } catch (error) {
      throw new Error(`the page did not become usable: ${error.message}\n${this.problems.join("\n")}`);
    }
  }

  // Waits until the service worker has stored the files for offline use.
  async kept({ timeout = 60_000 } = {}) {
    await this.page.waitForFunction(() => navigator.serviceWorker.ready.then((r) => r.active?.state === "activated"), undefined, { timeout });
  }

  // All requests on the wire to the page's own origin since the tab was opened: {method, url, body,
  // status, came}; came is the bytes received.
  get requests() {
    return this.recorder.seen.slice(this.from).filter((r) => r.url.startsWith(`${this.origin}/`));
  }

  // Requests to other origins: those of the page, as the browser reports them, and those on the
  // wire, except the browser's own.
  get foreign() {
    const wire = this.recorder.seen.slice(this.from).filter((r) => {
      if (r.url.startsWith(`${this.origin}/`)) return false;
      const host = r.method === "CONNECT" ? r.url : new URL(r.url).host;
      return !browsersOwn.test(host);
    });
    const pageRequests = this.asked.filter((r) => !/^(data|blob):/.test(r.url) && !r.url.startsWith(`${this.origin}/`));
    return [...wire, ...pageRequests];
  }

  // Drops real files and folders onto the page; paths are relative to the repository.
  async drop(paths, { x = 400, y = 300 } = {}) {
    const data = { items: [], files: paths.map(inRepo), dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) {
      await this.cdp.send("Input.dispatchDragEvent", { type, x, y, data });
    }
  }

  // Opens a part of the lower panel: its tab, and the part by the switch next to the tabs.
  async part(id, within = "") {
    const button = this.page.locator(`${within} #tab-${id}`);
    await this.page.locator(`${within} #tab-modules`).waitFor(); // the page shows a dump
    if ((await button.count()) === 0) await this.page.locator(`${within} #tab-${tabOf[id]}`).click();
    await button.click();
  }

  // Chooses an export in a menu, "copy" or "download", and waits for its preview. shown: with private
  // texts.
  async preview(menu, kind, { shown = false } = {}) {
    await this.page.locator(`#menu-${menu}`).click();
    await this.page.locator(`.menu:not([hidden]) [data-act="export"][data-arg="${kind}"]`).click();
    const made = () => this.page.waitForFunction(() => document.querySelector(".preview-text")?.textContent.length > 0 || document.querySelector(".preview-frame iframe") !== null);
    await made();
    if (shown) {
      await this.page.locator('[data-act="private"]').click();
      await this.page.locator('[data-act="private"][aria-checked="true"]').waitFor();
      await made();
    }
  }

  // Downloads an export, and returns its name and text.
  async downloaded(kind, options) {
    await this.preview("download", kind, options);
    const [download] = await Promise.all([this.page.waitForEvent("download"), this.page.locator("#preview-act").click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  }

  // Drags files over the page and out of its window again, without dropping. If a drag is only
  // cancelled (dragCancel), Chromium sends no dragleave event, so first move out of the window.
  async dragAcross(paths, { x = 400, y = 300 } = {}) {
    const data = { items: [], files: paths.map(inRepo), dragOperationsMask: 1 };
    const to = (type, x, y) => this.cdp.send("Input.dispatchDragEvent", { type, x, y, data });
    await to("dragEnter", x, y);
    await to("dragOver", x, y);
    await this.page.waitForSelector(".dropveil:not([hidden])");
    await to("dragOver", -5, -5);
    await to("dragCancel", -5, -5);
  }

  // Chooses files, or one folder, in an <input type=file>.
  async choose(selector, paths) {
    await this.page.locator(selector).setInputFiles(paths.map(inRepo));
  }

  // Waits until the page shows a text.
  async sees(text, { timeout = 20_000 } = {}) {
    try {
      await this.page.waitForFunction((t) => document.body.innerText.includes(t), text, { timeout });
    } catch {
      const shown = await this.page.evaluate(() => document.body.innerText);
      throw new Error(`the page does not show ${JSON.stringify(text)}; it shows:\n${shown.slice(0, 4000)}\n${this.problems.join("\n")}`);
    }
  }

  // Waits for an element with a text, and presses a button in it in the same task, because the
  // element may be gone a moment later. Returns how many milliseconds the click took.
  async pressWhen(element, text, button) {
    const pressed = await this.page.waitForFunction(
      ([element, text, button]) => {
        const found = document.querySelector(element);
        if (!found || !new RegExp(text).test(found.textContent)) return false;
        const begun = performance.now();
        found.querySelector(button).click();
        return { ms: performance.now() - begun };
      },
      [element, text.source, button],
      { timeout: 60_000 },
    );
    return (await pressed.jsonValue()).ms;
  }

  // Shows the details of the first module whose row has a text. The rows are in the order of their
  // symbols' states, so a row may move just before a click at its place; dispatchEvent finds the row
  // and clicks it in one task.
  async chooseModule(text) {
    await this.page.locator("#modules .row", { hasText: text }).first().dispatchEvent("click");
  }

  text() {
    return this.page.evaluate(() => document.body.innerText);
  }

  async close() {
    await this.page.close();
  }
}
