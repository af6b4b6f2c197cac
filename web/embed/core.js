// The API of a viewer: what the custom element and the page for iframes have in common.

// The longest name of a file. Longer ones are cut.
const longestName = 255;

// fileOf makes a File from the host page's data: a File, Blob, ArrayBuffer, view, Response or
// ReadableStream, or a promise of one.
export async function fileOf(data, name) {
  data = await data;
  const called = (usual) => String(name ?? usual).slice(0, longestName);
  if (data instanceof File && (name === undefined || name === data.name)) return data;
  if (data instanceof Response) {
    if (!data.ok) throw new Error(`${data.url || "the response"} answered ${data.status}`);
    data = await data.blob();
  } else if (data instanceof ReadableStream) {
    data = await new Response(data).blob();
  }
  if (!(data instanceof Blob) && !(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) {
    throw new TypeError("a file must be a File, a Blob, an ArrayBuffer, a view of one, a Response or a ReadableStream");
  }
  return new File([data], called(data.name ?? "crash.dmp"));
}

// placeOf reads {thread, frame, tab, address} from untrusted data. Missing or invalid values become -1
// and "". An address is a text, "0x7ffe1000", because a number of JavaScript has only 53 bits.
export function placeOf(place) {
  const number = (n) => (Number.isInteger(n) && n >= 0 && n < 1 << 24 ? n : -1);
  return { thread: number(place?.thread), frame: number(place?.frame), tab: typeof place?.tab === "string" ? place.tab : "", address: /^0x[0-9a-f]{1,16}$/i.test(place?.address) ? place.address : "" };
}

// The options with which a host page limits a viewer, as attributes of the element and in messages
// to the frame, and how each is written in the limits of startCrashpane.
const limiting = { drop: (given) => ["noFiles", !given], readonly: (given) => ["readOnly", given], redact: (given) => ["redact", given] };
export const limitNames = Object.keys(limiting);

// limitsOf returns a viewer's limits. given reports whether the host page has set an option.
export const limitsOf = (given) => Object.fromEntries(limitNames.map((name) => limiting[name](Boolean(given(name)))));

const parallel = 4; // calls of the symbol provider at a time

export class Viewer {
  #control; // controls the viewer (wasm/viewer/control_js.go), when it is ready
  #ready;
  #emit;
  #mark = 0; // number of the last addition
  #waiting = []; // additions that the viewer has not finished: {mark, done}
  #queue = Promise.resolve(); // runs additions one after the other
  #problem = ""; // the viewer's last error
  #provider;
  #requested = new Set(); // symbols of the dump that were requested from the host page
  #asking = false; // requesting symbols now
  #reported = false; // there is a report whose missing symbols were not requested yet
  #place = placeOf(); // what to select when the next dump is there
  #fresh = false; // a dump was added, and there is no report of it yet
  #selected = ""; // the last select event
  #used = false; // files were added

  // start starts a viewer with options (startCrashpane); emit is called with each event's name and
  // detail.
  constructor({ start, options, emit }) {
    this.#emit = emit;
    this.#ready = new Promise((done, fail) => {
      const onEvent = (kind, detail, control) => {
        if (kind === "ready") {
          this.#control = control;
          done(control);
          emit("ready", {});
        } else {
          this.#handleEvent(kind, detail);
        }
      };
      start({ ...options, onEvent }).then(() => fail(new Error("the viewer ended")), fail);
    });
    this.#ready.catch((error) => emit("error", { level: "error", message: `The viewer could not start: ${error.message}` }));
  }

  #handleEvent(kind, detail) {
    switch (kind) {
      case "progress":
        this.#emit("progress", detail);
        break;
      case "error":
        this.#problem = detail.message;
        this.#emit("error", detail);
        break;
      case "select": {
        const now = JSON.stringify(detail);
        if (detail.thread >= 0 && now !== this.#selected) {
          this.#selected = now;
          this.#emit("select", detail);
        }
        break;
      }
      case "report":
        if (this.#fresh) {
          this.#fresh = false;
          this.#go(this.#place);
        }
        this.#emit("report", {});
        this.#askForSymbols();
        break;
      case "idle":
        this.#waiting = this.#waiting.filter(({ mark, done }) => {
          if (detail.mark < mark) return true;
          done(detail);
          return false;
        });
        break;
    }
  }

  #go({ thread, frame, tab, address }) {
    if (thread >= 0 || frame >= 0 || tab || address) this.#control?.("select", thread, frame, tab, address);
  }

  // Adds files, and waits until the viewer has finished with them.
  async #add(files) {
    const control = await this.#ready;
    const mark = ++this.#mark;
    this.#used = true;
    return new Promise((done) => {
      this.#waiting.push({ mark, done });
      control("add", files, mark);
    });
  }

  #inTurn(act) {
    const done = this.#queue.then(act);
    this.#queue = done.catch(() => {});
    return done;
  }

  // Shows a dump in place of all files so far. Rejects if the file contains no dump.
  loadDump(data, { name } = {}) {
    return this.#inTurn(async () => {
      const file = await fileOf(data, name);
      const control = await this.#ready;
      if (this.#used) control("clear");
      this.#requested = new Set();
      this.#problem = "";
      this.#selected = "";
      this.#fresh = true;
      const { dumps } = await this.#add([file]);
      if (!dumps) throw new Error(this.#problem || `${file.name} holds no crash dump`);
    });
  }

  // Adds symbol files: one, or an array of them, each data or {data, name}.
  addSymbols(data, { name } = {}) {
    return this.#inTurn(async () => {
      const all = Array.isArray(data) ? data : [{ data, name }];
      const files = await Promise.all(all.map((one) => (isNamed(one) ? fileOf(one.data, one.name ?? "symbols.sym") : fileOf(one, one?.name ?? "symbols.sym"))));
      if (files.length) await this.#add(files);
    });
  }

  // Returns the report of the open dump, in the JSON of minidump-stackwalk.
  async getReport() {
    const control = await this.#ready;
    const text = await new Promise((done, fail) => {
      control("export", "json", (text, problem) => (problem ? fail(new Error(problem)) : done(text)));
    });
    return JSON.parse(text);
  }

  // Selects a thread, a frame, a tab and an address; missing ones stay as they are.
  select(place) {
    this.#place = placeOf(place);
    if (!this.#fresh) this.#go(this.#place);
  }

  // Removes all files, and goes back to the start screen.
  async clear() {
    return this.#inTurn(async () => {
      const control = await this.#ready;
      control("clear");
      this.#requested = new Set();
      this.#selected = "";
      this.#used = false;
    });
  }

  // provider is called for each missing symbol file, and returns data, or nothing. undefined
  // removes it.
  setSymbolProvider(provider) {
    this.#provider = provider ?? undefined;
    if (provider) this.#requested.clear();
    if (provider && this.#used) this.#askForSymbols();
  }

  // Requests the symbols that the last report lacks, one report after the other.
  async #askForSymbols() {
    this.#reported = true;
    if (this.#asking) return;
    this.#asking = true;
    while (this.#reported) {
      this.#reported = false;
      // It fails if the dump was removed meanwhile, or the engine has ended, which is an event of
      // its own.
      await this.#requestMissing().catch(() => {});
    }
    this.#asking = false;
  }

  // Dispatches symbols-needed, once for each missing file, and calls the provider.
  async #requestMissing() {
    const requested = this.#requested;
    const { modules, crashpane } = await this.getReport();
    const symbols = [];
    for (const { debug_file: debugFile, debug_id: debugId, store_path: storePath, frames, module } of crashpane.wanted_symbols) {
      const key = `${debugFile} ${debugId}`;
      if (!debugFile || !debugId || requested.has(key)) continue;
      requested.add(key);
      symbols.push({ debugFile, debugId, storePath, frames, codeFile: modules[module]?.filename ?? "", codeId: modules[module]?.code_id ?? "" });
    }
    if (!symbols.length) return;
    this.#emit("symbols-needed", { symbols });
    const files = await this.#provided(symbols);
    if (files.length && requested === this.#requested) this.addSymbols(files); // else the dump is another one
  }

  async #provided(symbols) {
    const provider = this.#provider;
    const files = [];
    const left = [...symbols];
    const work = async () => {
      for (let symbol = left.shift(); symbol && provider; symbol = left.shift()) {
        try {
          const data = await provider(symbol);
          if (data) files.push(await fileOf(data, `${symbol.debugFile}.sym`));
        } catch (error) {
          this.#emit("error", { level: "warning", message: `No symbols for ${symbol.debugFile}: ${error?.message ?? error}` });
        }
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    return files;
  }

  async setLimits(limits) {
    (await this.#ready)("limits", limits);
  }

  async setTheme(theme) {
    (await this.#ready)("theme", theme === "dark" || theme === "light" ? theme : "");
  }

  // Ends the viewer's workers. It cannot be used any more.
  stop() {
    this.#ready.then((control) => control("stop"), () => {});
  }
}

// Reports whether a host page's file is {data, name}, and not the data alone.
export function isNamed(one) {
  return one !== null && typeof one === "object" && "data" in one && !(one instanceof Blob);
}
