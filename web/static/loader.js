// Starts viewers. The hosted page, the page as one file, the npm package, the element and the frame
// all use startCrashpane; what differs between them is a parameter. It makes the object through
// which a viewer's program reaches the browser.

// Vugu passes its JavaScript helper to window.eval, which a strict content security policy forbids.
// The bundle already has the helper as a function, so own.eval below has nothing to do for this
// text. Any other text is a mistake, and is refused.
const vuguAsks = "(function(){if(window.vuguRender)";

// Makes a stand-in for the global object of a viewer's program, which has the viewer as "crashpane".
// Vugu stores its state on "window" and finds elements in "document", so each viewer has its own of
// both, and one window can have several viewers, each in its own root.
function standIn(viewer, root) {
  const own = Object.create(null);
  own.crashpane = viewer;
  own.document = {
    querySelector: (selector) => root.querySelector(selector),
    querySelectorAll: (selector) => root.querySelectorAll(selector),
    createElement: (name) => document.createElement(name),
    createElementNS: (namespace, name) => document.createElementNS(namespace, name),
    createTextNode: (text) => document.createTextNode(text),
    createComment: (text) => document.createComment(text),
    head: document.head,
  };
  own.window = new Proxy(globalThis, {
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
  own.eval = (text) => {
    if (!String(text).startsWith(vuguAsks)) throw new EvalError("Crashpane evaluates no text");
  };
  return own.window;
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

// Gives viewer the function that makes workers with the engine's program, and the first of them,
// which fetches and compiles the program, and says how far it is; the others get it compiled.
function addWorkers(viewer, first, makeWorker, engine, size, onEngine) {
  viewer.program = { done: 0, total: size };
  viewer.makeWorker = (worker = makeWorker()) => {
    worker.addEventListener("message", ({ data }) => {
      if (data.memory) viewer.memory.set(worker, data.memory);
      if (!data.program || viewer.program.module) return;
      viewer.program = data.program;
      if (data.program.module || data.program.problem) onEngine?.();
    });
    const send = async () => {
      const program = viewer.program.module ?? (await (typeof engine === "function" ? engine() : engine));
      const isAddress = typeof program === "string" || program instanceof URL;
      worker.postMessage({ program: isAddress ? new URL(program, location.href).href : program, size });
    };
    send().catch((error) => worker.dispatchEvent(new MessageEvent("message", { data: { program: { problem: String(error?.message ?? error) } } })));
    return worker;
  };
  viewer.first = viewer.makeWorker(first);
}

function make(name, attributes, parent) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

// Has the size of the memory of each worker, in bytes, for tests and benchmarks. A worker sends it
// with every message. peak is the largest total so far, with the memory of the page's own program,
// and with that of workers that have ended since.
class Memory extends Map {
  peak = 0;
  page = () => 0;
  set(worker, bytes) {
    super.set(worker, bytes);
    const total = [...this.values()].reduce((sum, n) => sum + n, this.page());
    this.peak = Math.max(this.peak, total);
    return this;
  }
}

// Starts a viewer in a root.
//
//   wasm, engine the page's program and the engine's, each in one of the forms of compile
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
async function startCrashpane({ wasm, engine, engineSize = 0, makeWorker, root, sample, ownsWindow = false, dropTarget, themed, storage = true, network = true, limits, onEngine, onEvent, symbols }) {
  const worker = makeWorker(); // its script is there when the page's program is; then it fetches its own
  const module = await compile(wasm);
  const box = make("div", { class: "crashpane-root" }, root);
  make("div", { "data-mount": "" }, box);
  if (!sample) box.dataset.sample = "off";
  if (!network) box.dataset.network = "off";
  // These elements are outside of what the viewer draws: screen readers would read the live region
  // again after each drawing, and a click on the choosers must not be a click on the viewer.
  const aside = make("div", { class: "offscreen" }, root);
  const live = make("div", { "aria-live": "polite", role: "status" }, aside);
  const filesInput = make("input", { type: "file", multiple: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "files" }, aside);
  const folderInput = make("input", { type: "file", multiple: "", webkitdirectory: "", tabindex: "-1", "aria-hidden": "true", "data-choose": "folder" }, aside);
  // The object through which the program reaches the browser. wasm/viewer/protocol_js.go describes
  // it.
  const viewer = {
    sample, ownsWindow, network, storage, limits, live, filesInput, folderInput,
    memory: new Memory(),
    kept: keptIndexes(storage),
    // In a microtask, because the listener may call control, which must not run during an event.
    onEvent: onEvent && ((kind, detail) => queueMicrotask(() => onEvent(kind, detail, viewer.control))),
    sources: symbolSources(network ? symbols : undefined, storage),
    root: box,
    mount: "[data-mount]",
    hostWindow: globalThis,
    dropTarget: dropTarget ?? box,
    themed: themed ?? box,
  };
  addWorkers(viewer, worker, makeWorker, engine, engineSize, onEngine);
  const global = standIn(viewer, box);
  globalThis.crashpaneVuguHelper(global, global.document);
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
  const { files } = await (await fetchOwn(list)).json();
  const folder = list.slice(0, list.lastIndexOf("/") + 1);
  return Promise.all(files.map(async ({ name }) => new File([await (await fetchOwn(folder + name)).blob()], name)));
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
    wasm: script.dataset.wasm,
    engine: script.dataset.engine,
    engineSize: Number(script.dataset.engineSize) || 0,
    makeWorker: () => new Worker(script.dataset.worker),
    app: script.dataset.app && { script: script.dataset.app, serviceWorker: script.dataset.serviceWorker, pictures: { light: script.dataset.pictureLight, dark: script.dataset.pictureDark } },
    symbols: (script.dataset.symbols ?? "").split(" ").filter(Boolean),
    sample: script.dataset.sample && (() => filesBeside(script.dataset.sample)),
  });
}
