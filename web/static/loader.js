// Starts viewers. The hosted page, the page as one file, the npm package, the element and the frame
// all use startCrashpane; what differs between them is a parameter. It makes the object through
// which a viewer's program reaches the browser.

// Vugu passes its JavaScript helper to window.eval, which a strict content security policy forbids.
// The bundle already has the helper as a function, so own.eval below has nothing to do for this
// text. Any other text is a mistake, and is refused.
const vuguAsks = "(function(){if(window.vuguRender)";

// Vugu stores its state on "window" and finds elements in "document". Each viewer gets stand-ins
// for both, so that one window can have several viewers, each in its own root.
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

// Runs a Go program with another global object. Go's glue (wasm_exec.js) puts the global object
// into its table of values, as number 5, before the program starts; this replaces it there.
function runWith(go, instance, global) {
  const exports = { ...instance.exports };
  exports.run = (argc, argv) => {
    // If the program gets the real global object, it is an ordinary value.
    go._ids.delete(go._values[5]);
    go._values[5] = global;
    go._ids.set(global, 5);
    instance.exports.run(argc, argv);
  };
  return go.run(Object.create(instance, { exports: { value: exports } }));
}

globalThis.runCrashpane = runWith;

// Compiles a program. wasm is bytes, a Response, a WebAssembly.Module, an address, a promise of one
// of these, or a function that returns one.
async function compile(wasm) {
  let got = await (typeof wasm === "function" ? wasm() : wasm);
  if (got instanceof WebAssembly.Module) return got;
  if (typeof got === "string" || got instanceof URL) got = await fetch(got, { credentials: "same-origin" });
  if (got instanceof Response) {
    if (!got.ok) throw new Error(`${got.url} answered ${got.status}`);
    // Some servers send another type, for which compileStreaming fails.
    if (!/^application\/wasm\b/.test(got.headers.get("content-type") ?? "")) return WebAssembly.compile(await got.arrayBuffer());
    return WebAssembly.compileStreaming(got);
  }
  return WebAssembly.compile(got);
}

// Gives viewer the function that makes workers with the engine's program, and the first of them. A
// worker fetches and compiles an address or a Blob itself, and says how far it is; the others get it
// compiled.
function addWorkers(viewer, first, makeWorker, engine, size, onEngine) {
  viewer.program = { done: 0, total: size };
  viewer.makeWorker = (worker = makeWorker()) => {
    const emit = (program) => worker.dispatchEvent(new MessageEvent("message", { data: { program } }));
    worker.addEventListener("message", ({ data }) => {
      if (!data.program || viewer.program.module) return;
      viewer.program = data.program;
      if (data.program.module || data.program.problem) onEngine?.();
    });
    const source = typeof engine === "function" ? engine() : engine;
    if (viewer.program.module) worker.postMessage({ program: viewer.program.module });
    else if (source instanceof Blob) worker.postMessage({ program: source, size });
    else if (typeof source === "string" || source instanceof URL) worker.postMessage({ program: new URL(source, globalThis.location.href).href, size });
    else
      compile(source).then(
        (module) => {
          worker.postMessage({ program: module });
          emit({ module });
        },
        (error) => emit({ problem: String(error?.message ?? error) }),
      );
    return worker;
  };
  viewer.first = viewer.makeWorker(first);
}

function make(document, name, attributes, parent) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// Measures the memory of the page's program and of all workers, in bytes, for tests and benchmarks.
// A worker sends its size with every message. peak is the largest total so far, which includes
// workers that have ended since.
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

// Returns the storage of preferences, or undefined if the browser refuses it.
function storageOf(window) {
  try {
    return window.localStorage;
  } catch {
    return undefined;
  }
}

// Starts a viewer in a root.
//
//   wasm         the page's program, in one of the forms of compile
//   engine       the engine's program, in the same forms, or as a Blob of its gzip form; its worker fetches an address
//   engineSize   its unpacked size in bytes, if known
//   makeWorker   makes a new Worker that runs worker.js
//   root         the element or shadow root that the viewer fills
//   sample       returns the promise of the sample's files, each a File; undefined without a sample
//   symbols      addresses of the symbol servers to offer; if undefined, the viewer may not reach any server
//   ownsWindow   the viewer is the whole page: it sets the title, and stores its state in the address
//   dropTarget   the element on which files may be dropped; the root by default
//   themed       the element with data-theme, and with data-ready when the viewer is ready; the root by default
//   network      whether the user may request symbols from servers
//   storage      whether the viewer may store anything in the browser
//   limits       {noFiles, readOnly, redact}: what the host page forbids
//   onEngine     called when a worker has the engine's program, or could not have it
//   onEvent      called with each event: its kind, its detail, and the function that controls the viewer (wasm/viewer/control_js.go)
//
// Returns a promise that is pending while the program runs.
async function startCrashpane({ wasm, engine, engineSize = 0, makeWorker, root, window = globalThis, document = window.document, sample, ownsWindow = false, dropTarget, themed, storage = true, network = true, limits, onEngine, onEvent, symbols }) {
  const worker = makeWorker(); // its script is there when the page's program is; then it fetches its own
  const module = await compile(wasm);
  const box = make(document, "div", { class: "crashpane-root" }, root);
  make(document, "div", { "data-mount": "" }, box);
  if (!sample) box.dataset.sample = "off";
  if (!network) box.dataset.network = "off";
  // These elements are outside of what the viewer draws: screen readers would read the live region
  // again after each drawing, and a click on the choosers must not be a click on the viewer.
  const aside = make(document, "div", { class: "offscreen" }, root);
  const live = make(document, "div", { "aria-live": "polite", role: "status" }, aside);
  const filesInput = make(document, "input", { type: "file", multiple: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "files" }, aside);
  const folderInput = make(document, "input", { type: "file", multiple: "", webkitdirectory: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "folder" }, aside);
  const { facade, facadeDocument } = standIns(window, document, box);
  globalThis.crashpaneVuguHelper(facade, facadeDocument);
  // The object through which the program reaches the browser. wasm/viewer/protocol_js.go describes
  // it.
  const viewer = {
    sample, ownsWindow, network, live, filesInput, folderInput,
    memory: memoryOf(),
    kept: keptIn(storage ? window : {}),
    storage: storage ? storageOf(window) : undefined,
    limits,
    // In a microtask, because the listener may call control, which must not run during an event.
    onEvent: onEvent && ((kind, detail) => queueMicrotask(() => onEvent(kind, detail, viewer.control))),
    sources: symbolSources(network ? symbols : undefined, window, storage),
    root: box,
    mount: "[data-mount]",
    hostWindow: window,
    dropTarget: dropTarget ?? box,
    themed: themed ?? box,
  };
  addWorkers(viewer, worker, makeWorker, engine, engineSize, onEngine);
  const global = new Proxy(globalThis, {
    get(target, key) {
      if (key === "crashpane") return viewer;
      if (key === "window") return facade;
      if (key === "document") return facadeDocument;
      return Reflect.get(target, key);
    },
  });
  await new Promise((done) => setTimeout(done)); // compiling ends a task, and the program's start is another
  const go = new globalThis.Go();
  const instance = await WebAssembly.instantiate(module, go.importObject);
  viewer.memory.page = () => instance.exports.mem.buffer.byteLength;
  box.crashpaneMemory = viewer.memory;
  return runWith(go, instance, global);
}
globalThis.startCrashpane = startCrashpane;
globalThis.compileCrashpane = compile;

// Fetches the sample's files. list is the address of a list of their names; they are in the same
// folder.
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

// Keeps files that the user drops before the viewer listens, because the browser would open them in
// place of the page. Returns a function that repeats the drop for the viewer. The files and entries
// must be read while the event is handled, because the list is empty afterwards.
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

// Starts the viewer as the whole page. It then removes the document's first text, or shows why the
// viewer could not start.
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
  let resolveQuiet, onEngine, timer;
  const whenQuiet = new Promise((resolve) => (resolveQuiet = resolve));
  const whenEngine = new Promise((resolve) => (onEngine = resolve));
  const onEvent = (kind, _, control) => {
    if (kind === "ready" && app) idle(() => addApp({ ...app, whenEngine, whenQuiet }, control), { timeout: 5000 });
    // The page is quiet some time after it is ready or idle. After other events the user waits for
    // something; and when the viewer is idle, workers may still index symbol files.
    clearTimeout(timer);
    timer = setTimeout(resolveQuiet, { ready: 3000, idle: 15_000 }[kind] ?? 60_000);
  };
  startCrashpane({ ...whole, onEngine, onEvent, ...options }).then(() => fail(new Error("the program ended")), fail);
}

// Adds app.js, which the page can do without.
function addApp({ script, ...options }, control) {
  const element = document.createElement("script");
  element.src = script;
  element.addEventListener("load", () => startCrashpaneApp({ ...options, control }).catch((error) => console.warn(`Crashpane: ${error.message}`)));
  document.head.append(element);
}
globalThis.bootCrashpane = bootCrashpane;

// The hosted page. The addresses are attributes of the script's element, because the names of the
// files have hashes.
const script = globalThis.document?.currentScript;
if (script?.dataset.wasm) {
  bootCrashpane({
    wasm: fetch(script.dataset.wasm, { credentials: "same-origin" }),
    engine: script.dataset.engine,
    engineSize: Number(script.dataset.engineSize) || 0,
    makeWorker: () => new Worker(script.dataset.worker),
    app: script.dataset.app && { script: script.dataset.app, serviceWorker: script.dataset.serviceWorker, pictures: { light: script.dataset.pictureLight, dark: script.dataset.pictureDark } },
    symbols: (script.dataset.symbols ?? "").split(" ").filter(Boolean),
    sample: script.dataset.sample && (() => filesBeside(script.dataset.sample)),
  });
}
