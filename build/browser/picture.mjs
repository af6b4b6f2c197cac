// Draws the pictures of the page on the sample, for the start screen and the README: node
// build/browser/picture.mjs, after make site serve-bin
import { writeFile } from "node:fs/promises";
import { inRepo, startChrome, startSite } from "./harness.mjs";

const site = await startSite();
const chrome = await startChrome({ record: false, serviceWorkers: "block", bypassCSP: true });
const tab = await chrome.open(site.origin);
await tab.page.setViewportSize({ width: 1280, height: 760 });
await tab.page.getByRole("button", { name: "Open the sample" }).click();
await tab.sees("tile::blend_edges");
await tab.sees("__clone3");
await tab.page.waitForTimeout(3000); // highlights of changed rows end
for (const [name, colorScheme] of [["page-light.webp", "light"], ["page-dark.webp", "dark"]]) {
  await tab.page.emulateMedia({ colorScheme });
  const png = (await tab.page.screenshot()).toString("base64");
  // The browser is the one program here that writes WebP.
  const webp = await tab.page.evaluate(async (png) => {
    const image = new Image();
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.6).split(",")[1];
  }, png);
  await writeFile(inRepo(`web/static/${name}`), Buffer.from(webp, "base64"));
}
await chrome.close();
await site.stop();
