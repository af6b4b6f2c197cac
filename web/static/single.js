// The page as one file: all its parts are blocks of text in it, and it fetches nothing.
const blocks = (kind) => [...document.querySelectorAll(`script[data-block="${kind}"]`)];

// Decodes a block. In browsers without fromBase64, a loop is many times faster than a function call
// for each byte.
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// Takes a program out of the page, in its gzip form.
function packed(kind) {
  const [block] = blocks(kind);
  const bytes = new Blob([bytesOf(block.textContent)]);
  block.remove();
  return bytes;
}

// A worker from a blob: URL of a file's page may not make workers from that URL, but from one of
// its own.
const script = new Blob([blocks("worker")[0].textContent], { type: "text/javascript" });
const makeWorker = () => {
  const worker = new Worker(URL.createObjectURL(script));
  worker.postMessage({ script });
  return worker;
};
let engine;
bootCrashpane({
  wasm: packed("wasm"),
  engine: () => (engine ??= packed("engine")),
  makeWorker,
  sample: async () => blocks("sample").map((block) => new File([bytesOf(block.textContent)], block.dataset.name)),
});
