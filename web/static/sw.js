// The service worker. It stores the files of this version, which the bundler lists above, and
// serves them without the network. It stores nothing else, and leaves other requests alone.
const scope = self.registration.scope;
const cacheName = `crashpane ${scope} ${version}`;
const ours = (name) => name.startsWith(`crashpane ${scope} `);
const addresses = new Set(files.map((file) => new URL(file, scope).href));
// Files whose names have the hash of their content never change.
const hashed = (address) => address.startsWith(scope) && /\.[0-9a-f]{8}\.[a-z]+$/.test(address);

async function fill() {
  const cache = await caches.open(cacheName);
  for (const address of addresses) {
    // An older version's file with the same hash is the same file.
    let response = hashed(address) ? await caches.match(address) : undefined;
    response ??= await fetch(address, { cache: hashed(address) ? "default" : "no-cache", credentials: "same-origin" });
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    // Browsers refuse a redirected response for a navigation, so copy it.
    if (response.redirected) response = new Response(response.body, { headers: response.headers });
    await cache.put(address, response);
  }
}

// Deletes the files of older versions, unless another window may still need them.
async function tidy() {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (windows.length > 1) return;
  for (const name of await caches.keys()) if (ours(name) && name !== cacheName) await caches.delete(name);
}

async function kept(address, request) {
  const cache = await caches.open(cacheName);
  return (await cache.match(address)) ?? (hashed(address) ? await caches.match(address) : undefined) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(fill()));
self.addEventListener("activate", (event) => event.waitUntil(tidy()));
self.addEventListener("message", ({ data }) => {
  if (data === "start") self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  const url = new URL(request.url);
  url.hash = "";
  let address = url.href;
  // The page itself, with any query string.
  if (request.mode === "navigate" && [scope, `${scope}index.html`].includes(url.origin + url.pathname)) address = scope;
  if (addresses.has(address) || hashed(address)) event.respondWith(kept(address, request));
});
