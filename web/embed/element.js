// <crash-pane>: a viewer in a shadow root. A page may have several; each runs a program of its own,
// compiled once for all.
import { engineProgram, makeWorker, viewerProgram } from "./assets.js";
import { limitNames, limitsOf, placeOf, Viewer } from "./core.js";
import { startCrashpane } from "./runtime.js";
import { style } from "./style.js";

let sheet;

// Without a document (in Node or a worker) the class exists but does nothing, so that the package
// can be imported there.
export class CrashPaneElement extends (globalThis.HTMLElement ?? class {}) {
  static observedAttributes = ["theme", "tab", "thread", "frame", ...limitNames];

  #viewer;
  #root;
  #waiting = []; // calls before the element was in a document

  connectedCallback() {
    if (this.#viewer) return;
    if (!this.#root) {
      this.#root = this.attachShadow({ mode: "open" });
      if (!sheet) {
        sheet = new CSSStyleSheet();
        sheet.replaceSync(style);
      }
      this.#root.adoptedStyleSheets = [sheet];
    }
    this.#root.replaceChildren();
    delete this.dataset.ready;
    this.#viewer = new Viewer({
      start: startCrashpane,
      options: {
        wasm: viewerProgram,
        engine: engineProgram,
        makeWorker,
        root: this.#root,
        dropTarget: this,
        themed: this,
        storage: this.hasAttribute("storage"),
        network: this.hasAttribute("network"),
        symbols: (this.getAttribute("network") ?? "").split(/\s+/).filter(Boolean),
        limits: this.#limits(),
      },
      emit: (name, detail) => this.dispatchEvent(new CustomEvent(name, { detail })),
    });
    if (this.hasAttribute("theme")) this.#viewer.setTheme(this.getAttribute("theme"));
    this.#viewer.select(this.#place());
    for (const act of this.#waiting.splice(0)) act(this.#viewer);
  }

  // Moving an element removes it and inserts it again at once. End the viewer only if it stays
  // removed.
  disconnectedCallback() {
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#viewer?.stop();
      this.#viewer = undefined;
      this.#root.replaceChildren();
    });
  }

  attributeChangedCallback(name, before, after) {
    if (!this.#viewer || before === after) return;
    if (name === "theme") this.#viewer.setTheme(after);
    else if (limitNames.includes(name)) this.#viewer.setLimits(this.#limits());
    else this.#viewer.select(this.#place());
  }

  #limits() {
    return limitsOf((name) => this.hasAttribute(name));
  }

  #place() {
    const number = (name) => (/^\d+$/.test(this.getAttribute(name) ?? "") ? Number(this.getAttribute(name)) : -1);
    return placeOf({ thread: number("thread"), frame: number("frame"), tab: this.getAttribute("tab") ?? "" });
  }

  #with(act) {
    if (this.#viewer) return act(this.#viewer);
    return new Promise((done, fail) => this.#waiting.push((viewer) => Promise.resolve(act(viewer)).then(done, fail)));
  }

  loadDump(data, options) {
    return this.#with((viewer) => viewer.loadDump(data, options));
  }
  addSymbols(data, options) {
    return this.#with((viewer) => viewer.addSymbols(data, options));
  }
  setSymbolProvider(provider) {
    if (provider != null && typeof provider !== "function") throw new TypeError("a symbol provider is a function");
    this.#with((viewer) => viewer.setSymbolProvider(provider));
  }
  getReport() {
    return this.#with((viewer) => viewer.getReport());
  }
  select(place) {
    this.#with((viewer) => viewer.select(place));
  }
  clear() {
    return this.#with((viewer) => viewer.clear());
  }
}

if (globalThis.customElements && !customElements.get("crash-pane")) customElements.define("crash-pane", CrashPaneElement);
