// Opens a database of the browser at the first use. Returns a function that runs a transaction: it
// calls use with the stores of names, and returns the promise of the result of the request that
// use returns.
function storesIn(database, names, allowed) {
  let opened;
  const open = () =>
    (opened ??= new Promise((done, fail) => {
      if (!allowed) throw new Error("this page may store nothing");
      const request = indexedDB.open(database, 1);
      request.onupgradeneeded = () => names.forEach((name) => request.result.createObjectStore(name));
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    }));
  return async (mode, use) => {
    const transaction = (await open()).transaction(names, mode);
    const request = use(...names.map((name) => transaction.objectStore(name)));
    return new Promise((done, fail) => {
      transaction.oncomplete = () => done(request?.result);
      transaction.onabort = transaction.onerror = () => fail(transaction.error);
    });
  };
}

// Stores indexes of symbol files for the next visit: the engine's worker loads and stores them
// (wasm/worker/worker_js.go), the page measures and deletes them (wasm/viewer/host_js.go).
function keptIndexes(allowed) {
  const run = storesIn("crashpane", ["indexes", "sizes"], allowed);
  return {
    get: (key) => run("readonly", (indexes) => indexes.get(key)),
    put: (key, bytes) =>
      run("readwrite", (indexes, sizes) => {
        indexes.put(bytes, key);
        sizes.put(bytes.byteLength, key);
      }),
    size: async () => {
      const all = (await run("readonly", (_, sizes) => sizes.getAll())) ?? [];
      return { bytes: all.reduce((sum, n) => sum + n, 0), count: all.length };
    },
    clear: () =>
      run("readwrite", (indexes, sizes) => {
        indexes.clear();
        sizes.clear();
      }),
  };
}
