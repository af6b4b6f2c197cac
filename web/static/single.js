// One file that is the whole page: its parts lie in it as blocks of text, and nothing is fetched.
const blocks = (kind) => [...document.querySelectorAll(`script[data-block="${kind}"]`)];

// The bytes of a block. A loop, where the browser cannot do it itself, is many times faster than a function for each byte.
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

// A program, as an answer that never was on a wire: the browser compiles it while it is unpacked.
function program(kind) {
  const [block] = blocks(kind);
  const packed = new Blob([bytesOf(block.textContent)]);
  block.remove();
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
}

const worker = URL.createObjectURL(new Blob([blocks("worker")[0].textContent], { type: "text/javascript" }));
let full; // unpacked once; a second try after a failure finds it here
bootCrashpane({
  wasm: program("wasm"),
  full: () => (full ??= WebAssembly.compileStreaming(program("full"))),
  makeWorker: () => new Worker(worker),
  sample: async () => blocks("sample").map((block) => new File([bytesOf(block.textContent)], block.dataset.name)),
});
