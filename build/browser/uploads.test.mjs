// A crash reporter's upload: the dump in it is opened, and what was sent with it is in the tab
// Annotations.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { inRepo } from "./harness.mjs";
import { dir, setUp, tab } from "./setup.mjs";

const uploads = {}; // file names, by the form of the upload
setUp({
  once: async () => {
    const dump = await readFile(inRepo("testdata/sample/tilecruncher.dmp"));
    const disposition = (rest) => `Content-Disposition: form-data; ${rest}\r\n\r\n`;
    const body = ["--b\r\n", disposition('name="prod"'), "Sent_Tiles\r\n--b\r\n", disposition('name="upload_file_minidump"; filename="a.dmp"'), dump, "\r\n--b--\r\n"];
    const envelope = ['{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}\n{"type":"event"}\n{"tags":{"gpu":"Sent_Tiles"}}\n', `{"type":"attachment","length":${dump.length},"filename":"a.dmp"}\n`, dump, "\n"];
    for (const [name, parts] of Object.entries({ body, envelope })) {
      uploads[name] = join(dir, name);
      await writeFile(uploads[name], Buffer.concat(parts.map((p) => Buffer.from(p))));
    }
  },
});

for (const [name, from] of [["body", "Upload"], ["envelope", "Envelope"]]) {
  test(`${name}: the dump is opened, and what was sent with it is an annotation`, async () => {
    await tab.drop([uploads[name]]);
    await tab.sees("libtilecodec.so");
    await tab.part("annotations");
    const row = tab.page.locator("#panel-body .row", { hasText: "Sent_Tiles" }).first();
    await row.waitFor();
    assert.equal((await row.locator(".cell").first().innerText()).trim(), from);
  });
}
