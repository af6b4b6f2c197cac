// A page that holds a large File whose every word says where it lies, for tests of what reads Files.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChrome } from "./harness.mjs";

// size: in bytes. The page has the File in its only input; file is its path.
export async function openWords(size) {
  const dir = await mkdtemp(join(tmpdir(), "crashpane-words-"));
  const file = join(dir, "file");
  const words = new Uint32Array(size / 4);
  for (let i = 0; i < words.length; i++) words[i] = 4 * i;
  await writeFile(file, new Uint8Array(words.buffer));
  const chrome = await startChrome({ record: false });
  const page = await chrome.context.newPage();
  await page.setContent("<input type=file>");
  await page.setInputFiles("input", file);
  const close = async () => {
    await chrome.close();
    await rm(dir, { recursive: true, force: true });
  };
  return { page, file, close };
}
