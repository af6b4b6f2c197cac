// What the scripts of the page and of the engine's worker fetch: this file is joined to both.

// Fetches a file of the page's own.
async function fetchOwn(address) {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  return response;
}

// Compiles a program. wasm is bytes, a Blob of its gzip form, a WebAssembly.Module, an address, a
// promise of one of these, or a function that returns one. onResponse is called with a copy of the
// response that has the program.
async function compile(wasm, onResponse) {
  const source = await (typeof wasm === "function" ? wasm() : wasm);
  if (source instanceof WebAssembly.Module) return source;
  let response;
  if (typeof source === "string" || source instanceof URL) response = await fetchOwn(source);
  else if (source instanceof Blob) response = new Response(source.stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "content-type": "application/wasm" } });
  else return WebAssembly.compile(source);
  onResponse?.(response.clone());
  // Some servers send another type, for which compileStreaming fails.
  if (!/^application\/wasm\b/.test(response.headers.get("content-type") ?? "")) return WebAssembly.compile(await response.arrayBuffer());
  return WebAssembly.compileStreaming(response);
}

// Requests a symbol file from a server, or the bytes [from, to) of it (RFC 9110, section 14). A
// request has nothing but the address, the range, and the token if the user has typed one: no
// cookies, no referrer.
function fetchSymbols(url, token, { from = 0, to, edition, signal } = {}) {
  const headers = { ...(to && { Range: `bytes=${from}-${to - 1}` }), ...(edition && { "If-Range": edition }), ...(token && { Authorization: `Bearer ${token}` }) };
  return fetch(url, { headers, credentials: "omit", referrerPolicy: "no-referrer", mode: "cors", cache: "no-store", signal });
}

// Returns what tells a file on a server from a later one at the same address, or "".
const editionOf = ({ headers }) => headers.get("etag") ?? headers.get("last-modified") ?? "";

// Collects a stream in Blobs, which the browser stores in memory or on disk. onProgress is called
// with the number of bytes so far. If it returns false, collectStream ends, and returns null.
async function collectStream(reader, onProgress) {
  const blobs = [];
  let pieces = [];
  let waiting = 0; // bytes in pieces
  for (let done = 0; ; ) {
    const { value, done: end } = await reader.read();
    if (end) return new Blob([...blobs, ...pieces]);
    if (onProgress((done += value.byteLength)) === false) return null;
    pieces.push(value);
    if ((waiting += value.byteLength) < 4 << 20) continue;
    blobs.push(new Blob(pieces));
    pieces = [];
    waiting = 0;
  }
}
