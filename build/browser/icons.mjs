// Draws the icons of the installed application from web/static/icon.svg: node
// build/browser/icons.mjs
import { readFile } from "node:fs/promises";
import { inRepo, startChrome } from "./harness.mjs";

const svg = await readFile(inRepo("web/static/icon.svg"), "utf8");
const chrome = await startChrome({ record: false });
const page = await chrome.context.newPage();
for (const [name, size, part, ground] of [
  ["icon-192.png", 192, 1, "transparent"],
  ["icon-512.png", 512, 1, "transparent"],
  // The system masks this icon with a shape of its own, so the picture is in its middle.
  ["icon-maskable.png", 512, 0.7, "#2456c8"],
]) {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>body{margin:0;display:grid;place-items:center;height:100vh;background:${ground}}svg{width:${part * 100}%}</style>${svg}`);
  await page.screenshot({ path: inRepo(`web/static/${name}`), omitBackground: true });
}
await chrome.close();
