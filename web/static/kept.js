// Stores indexes of symbol files for the next visit, in IndexedDB: the engine's worker loads and
// stores them (wasm/worker/worker_js.go), the page measures and deletes them
// (wasm/viewer/host_js.go). It opens the database at the first call.
function keptIn(window) {
  let opened;
  const database = () =>
    (opened ??= new Promise((done, fail) => {
      const request = window.indexedDB.open("crashpane", 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("indexes");
        request.result.createObjectStore("sizes");
      };
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    }));
  const run = async (mode, use) => {
    const transaction = (await database()).transaction(["indexes", "sizes"], mode);
    const request = use(transaction.objectStore("indexes"), transaction.objectStore("sizes"));
    return new Promise((done, fail) => {
      transaction.oncomplete = () => done(request?.result);
      transaction.onabort = transaction.onerror = () => fail(transaction.error);
    });
  };
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
