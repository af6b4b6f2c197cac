// Everything that differs between a hosted page, one file opened from disk, a package and an element in
// somebody's page is a parameter of startCrashpane; what a viewer touches of the browser goes through the object made here.
// Vugu asks window.eval for its helper, which a strict content security policy forbids. The bundle carries the helper as a
// function already, so this one call has nothing left to do. Any other text is a mistake, and is refused.
const vuguAsks = "(function(){if(window.vuguRender)";

// Vugu keeps its state on "window" and looks for elements in "document". A viewer gets stand-ins for both, so that several
// live side by side, each in its own root.
function standIns(window, document, root) {
  const own = Object.create(null);
  const facadeDocument = {
    querySelector: (selector) => root.querySelector(selector),
    querySelectorAll: (selector) => root.querySelectorAll(selector),
    createElement: (name) => document.createElement(name),
    createElementNS: (namespace, name) => document.createElementNS(namespace, name),
    createTextNode: (text) => document.createTextNode(text),
    createComment: (text) => document.createComment(text),
    head: document.head,
  };
  const facade = new Proxy(window, {
    get(target, key) {
      if (key in own) return own[key];
      const value = Reflect.get(target, key);
      // Functions of the window itself must be called on it; classes are left alone.
      return typeof value === "function" && !("prototype" in value) ? value.bind(target) : value;
    },
    set(target, key, value) {
      own[key] = value;
      return true;
    },
    has: (target, key) => key in own || key in target,
  });
  own.window = facade;
  own.document = facadeDocument;
  own.eval = (text) => {
    if (!String(text).startsWith(vuguAsks)) throw new EvalError("Crashpane evaluates no text");
  };
  return { facade, facadeDocument };
}

// Go takes its global object from its glue. Running it with another one is done by putting it in place after the glue has
// made its table of values and before the program starts.
function runWith(go, instance, global) {
  const exports = { ...instance.exports };
  exports.run = (argc, argv) => {
    // The real one, if the program gets it as a value, is then a value like any other.
    go._ids.delete(go._values[5]);
    go._values[5] = global;
    go._ids.set(global, 5);
    instance.exports.run(argc, argv);
  };
  return go.run(Object.create(instance, { exports: { value: exports } }));
}

globalThis.runCrashpane = runWith;

// Compiles a program: bytes, a Response, a WebAssembly.Module, an address, a promise of one of them, or a function that answers
// one and is only then called.
async function compile(wasm, { progress, signal, size = 0 } = {}) {
  let got = await (typeof wasm === "function" ? wasm(signal) : wasm);
  if (got instanceof WebAssembly.Module) return got;
  if (typeof got === "string" || got instanceof URL) got = await fetch(got, { credentials: "same-origin", signal });
  if (got instanceof Response) {
    if (!got.ok) throw new Error(`${got.url} answered ${got.status}`);
    if (progress) got = counted(got, progress, size);
    // Some servers do not know the type, and then the browser does not compile while it reads.
    if (!/^application\/wasm\b/.test(got.headers.get("content-type") ?? "")) return WebAssembly.compile(await got.arrayBuffer());
    return WebAssembly.compileStreaming(got);
  }
  return WebAssembly.compile(got);
}

// A Response that tells some times a second how much of it has come.
function counted(response, progress, size) {
  let done = 0;
  let told = 0;
  const counter = new TransformStream({
    transform(piece, controller) {
      done += piece.byteLength;
      if (performance.now() - told > 100) {
        told = performance.now();
        progress(done, size);
      }
      controller.enqueue(piece);
    },
  });
  return new Response(response.body.pipeThrough(counter), { headers: { "content-type": "application/wasm" } });
}

function make(document, name, attributes, parent) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// What the programs have in memory: the page's and that of each worker, which says its own with every message, in bytes; and the
// most that there was at a time, with the workers that have ended since.
function memoryOf() {
  const used = new Map();
  const memory = {
    peak: 0,
    total: () => [...used.values()].reduce((sum, bytes) => sum + bytes, 0),
    set(who, bytes) {
      used.set(who, bytes);
      memory.peak = Math.max(memory.peak, memory.total());
    },
    watch(worker) {
      const terminate = worker.terminate.bind(worker);
      worker.terminate = () => {
        used.delete(worker);
        terminate();
      };
      worker.addEventListener("message", ({ data }) => {
        if (data.memory) memory.set(worker, data.memory);
        if (memory.page) memory.set(memory, memory.page());
      });
    },
  };
  return memory;
}

// Indexes of symbol files that are kept for the next visit, in IndexedDB. It is opened when it is first asked for.
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

// The storage of preferences; none where the browser refuses.
function storageOf(window) {
  try {
    return window.localStorage;
  } catch {
    return undefined;
  }
}

// Starts a viewer in a root.
//
//   wasm         the program: bytes, a Response, a WebAssembly.Module, an address, a promise of one, or a function that answers one
//   full         the engine with all readers, in the same forms; as a function or an address it is fetched when a file needs it
//   fullSize     its bytes when unpacked, if known
//   makeWorker   makes a new Worker that runs worker.js
//   root         the element or shadow root that the viewer fills
//   sample       answers the promise of the sample's files, each a File, or undefined
//   symbols      the sources of symbol files that it offers, as addresses; without a list the page may reach no server
//   ownsWindow   the viewer is the page: it may name it, and keeps its state in the address
//   dropTarget   where files may be dropped; the root by default
//   themed       the element that carries data-theme, and data-ready when the viewer can be used; the root by default
//   network      whether a person may have the viewer ask servers for symbols
//   storage      whether anything may be kept in the browser for the next visit
//   limits       {noFiles, readOnly, redact}: what the viewer may not do
//   told         is called with each event: its kind, its detail, and the function that the viewer is spoken to by (control in
//                wasm/viewer/control_js.go)
//
// Answers the promise of what ends it: it stays open while the viewer lives.
async function startCrashpane({ wasm, full, fullSize, makeWorker, root, window = globalThis, document = window.document, sample, ownsWindow = false, dropTarget, themed, storage = true, network = true, limits, told, symbols }) {
  const module = await compile(wasm);
  const box = make(document, "div", { class: "crashpane-root" }, root);
  make(document, "div", { "data-mount": "" }, box);
  if (!sample) box.dataset.sample = "off";
  if (!network) box.dataset.network = "off";
  // Beside what is drawn: the live region would be read again at each drawing, and a click on the choosers must not be
  // heard as a click on the viewer.
  const aside = make(document, "div", { class: "offscreen" }, root);
  const live = make(document, "div", { "aria-live": "polite", role: "status" }, aside);
  const filesInput = make(document, "input", { type: "file", multiple: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "files" }, aside);
  const folderInput = make(document, "input", { type: "file", multiple: "", webkitdirectory: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "folder" }, aside);
  const { facade, facadeDocument } = standIns(window, document, box);
  globalThis.crashpaneVuguHelper(facade, facadeDocument);
  // All that the program has of the browser; wasm/viewer/protocol_js.go says what each is, and is the other side.
  const viewer = {
    full: full && ((progress, signal) => compile(full, { progress, signal, size: fullSize })),
    module, makeWorker, sample, ownsWindow, network, live, filesInput, folderInput,
    memory: memoryOf(),
    kept: keptIn(storage ? window : {}),
    storage: storage ? storageOf(window) : undefined,
    limits,
    // Later, because the viewer cannot be spoken to while it speaks.
    told: told && ((kind, detail) => queueMicrotask(() => told(kind, detail, viewer.control))),
    sources: symbolSources(network ? symbols : undefined, window, storage),
    root: box,
    mount: "[data-mount]",
    hostWindow: window,
    dropTarget: dropTarget ?? box,
    themed: themed ?? box,
  };
  const global = new Proxy(globalThis, {
    get(target, key) {
      if (key === "crashpane") return viewer;
      if (key === "window") return facade;
      if (key === "document") return facadeDocument;
      return Reflect.get(target, key);
    },
  });
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  viewer.memory.page = () => instance.exports.mem.buffer.byteLength;
  box.crashpaneMemory = viewer.memory;
  return runWith(go, instance, global);
}
globalThis.startCrashpane = startCrashpane;
globalThis.compileCrashpane = compile;

// The sample's files, by the address of their list: plain files beside it.
async function filesBeside(list) {
  const get = async (address) => {
    const response = await fetch(address, { credentials: "same-origin" });
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return response;
  };
  const { files } = await (await get(list)).json();
  const folder = list.slice(0, list.lastIndexOf("/") + 1);
  return Promise.all(files.map(async ({ name }) => new File([await (await get(folder + name)).blob()], name)));
}

// Keeps what is dropped before the viewer listens: the browser would open a dropped file in place of the page. Answers the function that
// drops it again, for the viewer. What the items are must be asked while the event is handled: afterwards the browser's list is empty.
function keepDrops(target) {
  const dropped = [];
  const over = (e) => e.preventDefault();
  const drop = (e) => {
    e.preventDefault();
    for (const item of e.dataTransfer.items) {
      const file = item.getAsFile(), entry = item.webkitGetAsEntry?.(), handle = entry?.isDirectory && item.getAsFileSystemHandle?.();
      if (file) dropped.push({ kind: "file", getAsFile: () => file, webkitGetAsEntry: () => entry, getAsFileSystemHandle: () => handle });
    }
  };
  target.addEventListener("dragover", over);
  target.addEventListener("drop", drop);
  return () => {
    target.removeEventListener("dragover", over);
    target.removeEventListener("drop", drop);
    const event = new Event("drop", { cancelable: true });
    event.dataTransfer = { types: ["Files"], items: dropped };
    if (dropped.length) target.dispatchEvent(event);
  };
}

// Starts the viewer that is the page. What the document shows meanwhile goes when the viewer is there, or says why it is not.
function bootCrashpane({ app, ...options }) {
  const boot = document.querySelector("[data-boot]");
  const fail = (error) => {
    const text = document.createElement("p");
    text.className = "boot-error";
    text.textContent = `Crashpane could not start: ${error?.message ?? error}. It needs a browser with WebAssembly. Reloading the page may help.`;
    boot?.remove();
    document.body.prepend(text);
  };
  const whole = { root: document.body, ownsWindow: true, dropTarget: document.documentElement, themed: document.documentElement };
  const dropEarly = keepDrops(whole.dropTarget);
  const started = new MutationObserver(() => {
    if (document.documentElement.dataset.ready !== "1") return;
    boot?.remove();
    started.disconnect();
    dropEarly();
  });
  started.observe(document.documentElement, { attributes: true, attributeFilter: ["data-ready"] });
  const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 1000));
  let calmed, timer;
  const calm = new Promise((done) => (calmed = done));
  const told = (kind, _, control) => {
    if (kind === "ready" && app) idle(() => addApp({ ...app, calm }, control), { timeout: 5000 });
    // Whatever else the viewer tells of, somebody waits for it; and when it is idle, workers may still read symbols as a whole.
    clearTimeout(timer);
    timer = setTimeout(calmed, { ready: 3000, idle: 15_000 }[kind] ?? 60_000);
  };
  startCrashpane({ ...whole, told, ...options }).then(() => fail(new Error("the program ended")), fail);
}

// What the page can do without comes when it is idle.
function addApp({ script, ...options }, control) {
  const element = document.createElement("script");
  element.src = script;
  element.addEventListener("load", () => startCrashpaneApp({ ...options, control }).catch((error) => console.warn(`Crashpane: ${error.message}`)));
  document.head.append(element);
}
globalThis.bootCrashpane = bootCrashpane;

// The hosted page: every address stands on the script's own element, because the names carry hashes.
const script = globalThis.document?.currentScript;
if (script?.dataset.wasm) {
  bootCrashpane({
    wasm: fetch(script.dataset.wasm, { credentials: "same-origin" }),
    full: script.dataset.full,
    fullSize: Number(script.dataset.fullSize) || 0,
    makeWorker: () => new Worker(script.dataset.worker),
    app: script.dataset.app && { script: script.dataset.app, serviceWorker: script.dataset.serviceWorker },
    symbols: (script.dataset.symbols ?? "").split(" ").filter(Boolean),
    sample: script.dataset.sample && (() => filesBeside(script.dataset.sample)),
  });
}
