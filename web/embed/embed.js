// The page for iframes: a viewer that a host page controls by messages (docs/EMBEDDING.md). Whether
// a page may do so is decided by the origin that the browser reports, before anything in a message
// is read.
import { Viewer, limitNames, limitsOf, placeOf } from "./core.js";
import { startCrashpane } from "./runtime.js";

const version = 1;
const { dataset } = document.body;
// The parameters in the frame's address, which the host page has set.
const parameters = new URLSearchParams(location.hash.slice(1));

// The symbol servers that the user may ask. By default these are all that the site was built with.
// If the address names servers, these are used, as far as their origins are the site's own or those
// that it was built with: its policy allows no others.
const built = (dataset.symbols ?? "").split(" ").filter(Boolean);
function sources() {
  const named = (parameters.get("network") ?? "").split(/\s+/).filter(Boolean);
  if (!named.length) return built;
  const origin = (address) => {
    try {
      return new URL(address.replace(/^(microsoft|debuginfod|breakpad)\+/, ""), location.href).origin;
    } catch {
      return "";
    }
  };
  const may = new Set([location.origin, ...built.map(origin)]);
  return named.filter((address) => {
    const listed = may.has(origin(address));
    if (!listed) console.warn(`Crashpane: ${address} is not asked for symbols, since this site was not built with it (SYMBOL_ORIGINS)`);
    return listed;
  });
}

// Origins for which the user need not consent, and the hash of a token that also makes consent
// unnecessary. Both were set when the site was built.
const origins = new Set((dataset.origins ?? "").split(" ").filter(Boolean));
const tokenHash = dataset.tokenSha256 ?? "";
const agreed = new Set();
const refused = new Set();

const known = new Set(["theme", "tab", "thread", "frame", ...limitNames]);
let options = Object.fromEntries([...parameters].filter(([key]) => known.has(key)).map(([key, value]) => [key, key === "thread" || key === "frame" ? Number(value) : value || true]));

const ports = new Set();
const viewer = new Viewer({
  start: startCrashpane,
  options: {
    wasm: dataset.wasm,
    engine: dataset.engine,
    engineSize: Number(dataset.engineSize) || 0,
    makeWorker: () => new Worker(dataset.worker),
    root: document.body,
    themed: document.documentElement,
    dropTarget: document.documentElement,
    storage: parameters.has("storage"),
    network: parameters.has("network"),
    symbols: sources(),
    limits: limits(),
  },
  emit: (event, detail) => {
    if (event === "ready") document.querySelector("[data-boot]")?.remove();
    for (const port of ports) port.postMessage({ type: "event", event, detail });
  },
});
apply();

function limits() {
  return limitsOf((name) => options[name]);
}

function apply() {
  viewer.setLimits(limits());
  if ("theme" in options) viewer.setTheme(options.theme);
  viewer.select(placeOf(options));
}

class Refusal extends Error {}

function setOptions(given) {
  if (given === undefined) return;
  if (given === null || typeof given !== "object") throw new Refusal("options are an object");
  for (const key of Object.keys(given)) if (!known.has(key)) throw new Refusal(`there is no option ${JSON.stringify(key.slice(0, 40))}`);
  // Once redact is set, no later message can unset it.
  options = { ...options, ...given, redact: options.redact || given.redact };
  apply();
}

// Messages are accepted from the host page and from the page that opened this one, but not from
// frames next to this one or within it.
function fromHost(source) {
  return source !== null && source !== window && (source === window.parent || source === window.opener);
}

async function hasToken(token) {
  if (!tokenHash || !crypto.subtle || typeof token !== "string" || token.length > 1000) return false;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("") === tokenHash;
}

// Answers go only to the sender's exact origin. A page without an origin ("null": a file, a
// sandbox) gets answers only through a port that it has sent.
function answer(event, message, transfer = []) {
  if (event.origin !== "null" && event.origin !== "") event.source.postMessage(message, { targetOrigin: event.origin, transfer });
}

let question; // the pending question to the user: {origin, done: [functions]}

// Reports whether an origin may use the viewer. It asks the user once, about one origin at a time.
async function trusts(event, token, asking) {
  const { origin } = event;
  if (parameters.has("origin") && parameters.get("origin") !== origin) return false;
  if (origin !== "null" && (origins.has(origin) || agreed.has(origin))) return true;
  if (await hasToken(token)) return true;
  if (origin === "null" || origin === "" || refused.has(origin) || (question && question.origin !== origin)) return false;
  asking();
  return new Promise((done) => {
    if (question) question.done.push(done);
    else ask(origin, done);
  });
}

// Asks the user. The origin is shown as text, as the browser writes it.
function ask(origin, done) {
  question = { origin, done: [done] };
  const box = document.createElement("div");
  box.className = "embed-ask";
  box.setAttribute("role", "alertdialog");
  box.setAttribute("aria-labelledby", "embed-ask-text");
  const text = document.createElement("p");
  text.id = "embed-ask-text";
  const who = document.createElement("strong");
  who.textContent = origin;
  text.append(who, " wants to open a crash dump here. It can then read everything that this frame shows of its open dumps.");
  const decide = (title, yes, kind) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = kind;
    button.textContent = title;
    button.addEventListener("click", () => {
      (yes ? agreed : refused).add(origin);
      box.remove();
      const { done } = question;
      question = undefined;
      for (const settle of done) settle(yes);
    });
    return button;
  };
  const buttons = document.createElement("div");
  buttons.className = "embed-ask-buttons";
  buttons.append(decide("Allow", true, "button primary"), decide("Refuse", false, "button"));
  box.append(text, buttons);
  document.body.append(box);
}

// The requests that a port accepts.
const requests = {
  load: ({ data, name }) => viewer.loadDump(data, { name: nameOf(name) }),
  symbols: ({ files }) => {
    if (!Array.isArray(files)) throw new Refusal("files are an array of {data, name}");
    return viewer.addSymbols(files.map((file) => ({ data: file?.data, name: nameOf(file?.name) })));
  },
  report: () => viewer.getReport(),
  select: ({ place }) => viewer.select(place),
  options: ({ options }) => setOptions(options),
  clear: () => viewer.clear(),
};

const nameOf = (name) => (typeof name === "string" ? name : undefined);

function serve(port) {
  ports.add(port);
  port.onmessage = async ({ data }) => {
    const id = typeof data?.id === "number" || typeof data?.id === "string" ? data.id : null;
    try {
      const type = data?.type;
      if (typeof type !== "string" || !Object.hasOwn(requests, type)) throw new Refusal(`there is no message of type ${JSON.stringify(String(type).slice(0, 40))}`);
      port.postMessage({ id, type: "done", result: await requests[type](data) });
    } catch (error) {
      port.postMessage({ id, type: "error", code: error instanceof Refusal ? "unknown" : "failed", message: String(error?.message ?? error) });
    }
  };
}

async function hello(event) {
  const { data } = event;
  const given = event.ports[0];
  const reply = (message, transfer) => (given ? given.postMessage(message, transfer) : answer(event, message, transfer));
  const error = (code, message) => reply({ crashpane: version, type: "error", code, message, versions: [version] });
  if (data.crashpane !== version) return error("version", `this viewer speaks version ${version}`);
  if (data.type !== "hello") return error("unknown", `there is no message of type ${JSON.stringify(String(data.type).slice(0, 40))} outside of a port`);
  if (greeted.has(event.origin) && !given) return undefined; // a repeated hello, while the user is asked
  greeted.add(event.origin);
  try {
    if (!(await trusts(event, data.token, () => reply({ crashpane: version, type: "asking" })))) return error("refused", "this page may not use the viewer");
    setOptions(data.options);
    const channel = new MessageChannel();
    serve(channel.port1);
    reply({ crashpane: version, type: "welcome", version }, [channel.port2]);
  } catch (problem) {
    error("unknown", String(problem?.message ?? problem));
  } finally {
    greeted.delete(event.origin);
  }
  return undefined;
}
const greeted = new Set();

// Accepts the messages of Perfetto's viewer, so that host pages written for it can also use this
// one.
async function perfetto(event, payload) {
  const data = payload instanceof ArrayBuffer ? payload : payload.buffer;
  if (!(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) return;
  const name = nameOf(payload.fileName) ?? nameOf(payload.title);
  pending = { data, name };
  if (await trusts(event, undefined, () => {})) {
    const newest = pending;
    pending = undefined;
    if (newest) viewer.loadDump(newest.data, { name: newest.name }).catch(() => {}); // the viewer shows the error
  }
}
let pending; // the newest dump that waits for the user's consent

window.addEventListener("message", (event) => {
  if (!fromHost(event.source)) return;
  const { data } = event;
  if (data === "PING") answer(event, "PONG");
  else if (data instanceof ArrayBuffer) perfetto(event, data);
  else if (data === null || typeof data !== "object") return;
  else if ("crashpane" in data) hello(event);
  else if (data.perfetto !== null && typeof data.perfetto === "object") perfetto(event, data.perfetto);
});
