// The host page's side of the protocol of embed.html: it sends hello until the frame answers with a
// port, and then uses that port.
import { isNamed } from "./core.js";

const version = 1;
const patience = 100; // milliseconds between two hellos

// Connects to an iframe that shows embed.html. Returns the promise of a connection; the user may
// have to agree in the frame first.
//
//   token    proves that this page may use the viewer, if the viewer was built with one
//   options  {theme, tab, thread, frame, readonly, drop, redact}
//   signal   cancels
export function connectFrame(iframe, { token, options, signal } = {}) {
  const target = new URL(iframe.src, iframe.ownerDocument.baseURI).origin;
  return new Promise((done, fail) => {
    const end = (settle, value) => {
      clearInterval(timer);
      removeEventListener("message", onMessage);
      signal?.removeEventListener("abort", abort);
      settle(value);
    };
    const onMessage = ({ source, origin, data, ports }) => {
      if (source !== iframe.contentWindow || origin !== target || data?.crashpane !== version) return;
      if (data.type === "welcome" && ports[0]) end(done, new Connection(ports[0]));
      else if (data.type === "asking") clearInterval(timer); // it has got the hello, and asks the user
      else if (data.type === "error") end(fail, new Error(data.message));
    };
    const abort = () => end(fail, signal.reason);
    const hello = () => iframe.contentWindow?.postMessage({ crashpane: version, type: "hello", token, options }, target);
    addEventListener("message", onMessage);
    signal?.addEventListener("abort", abort);
    const timer = setInterval(hello, patience);
    if (signal?.aborted) abort();
  });
}

// The methods and events of <crash-pane>, for a viewer in a frame.
class Connection extends EventTarget {
  #port;
  #next = 0;
  #open = new Map();

  constructor(port) {
    super();
    this.#port = port;
    port.onmessage = ({ data }) => {
      if (data.type === "event") {
        this.dispatchEvent(new CustomEvent(data.event, { detail: data.detail }));
        return;
      }
      const waiting = this.#open.get(data.id);
      this.#open.delete(data.id);
      if (data.type === "error") waiting?.fail(new Error(data.message));
      else waiting?.done(data.result);
    };
  }

  #ask(type, content, transfer = []) {
    const id = ++this.#next;
    return new Promise((done, fail) => {
      this.#open.set(id, { done, fail });
      this.#port.postMessage({ id, type, ...content }, transfer);
    });
  }

  // A buffer or a stream is transferred to the frame: this page cannot use it any more.
  loadDump(data, { name } = {}) {
    return this.#ask("load", { data, name: name ?? data?.name }, moved([data]));
  }
  addSymbols(data, { name } = {}) {
    const all = Array.isArray(data) ? data : [{ data, name }];
    const files = all.map((one) => ({ data: isNamed(one) ? one.data : one, name: one?.name }));
    return this.#ask("symbols", { files }, moved(files.map((file) => file.data)));
  }
  getReport() {
    return this.#ask("report", {});
  }
  select(place) {
    return this.#ask("select", { place });
  }
  setOptions(options) {
    return this.#ask("options", { options });
  }
  clear() {
    return this.#ask("clear", {});
  }
  // Ends the connection. The frame keeps its dump.
  close() {
    this.#port.close();
  }
}

const moved = (all) => [...new Set(all.map((data) => (ArrayBuffer.isView(data) ? data.buffer : data)).filter((data) => data instanceof ArrayBuffer || data instanceof ReadableStream))];
