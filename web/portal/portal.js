// A small internal portal: its crash reports, shown by Crashpane in both ways. The addresses are
// those of build/portal/portal.mjs.
import { connectFrame } from "/crashpane/crashpane.js";

const show = (id, text) => (document.getElementById(id).textContent = text);
const fetched = async (address) => {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  return response;
};

const { frame, reports } = await (await fetched("portal.json")).json();

// Symbols are asked for by the name and id of the debug file; this portal keeps them where the
// reports are.
const symbolsOf = async ({ debugFile, debugId }) => {
  const response = await fetch(`symbols/${encodeURIComponent(debugFile)}/${encodeURIComponent(debugId)}`);
  return response.ok ? response.blob() : undefined;
};

// The element.
const element = document.getElementById("element");
element.setSymbolProvider(symbolsOf);
element.addEventListener("symbols-needed", ({ detail }) => show("element-says", `Needs symbols of ${detail.symbols.map((s) => s.debugFile).join(", ")}`));
element.addEventListener("error", ({ detail }) => show("element-says", detail.message));
element.addEventListener("select", ({ detail }) => show("element-says", `${detail.dump}: thread ${detail.thread}, frame ${detail.frame} is selected`));

// The frame, which is of another origin: its page cannot be reached from here but by messages.
const iframe = document.getElementById("frame");
iframe.src = frame;
const connected = connectFrame(iframe).then((connection) => {
  connection.addEventListener("symbols-needed", async ({ detail }) => {
    const found = await Promise.all(detail.symbols.map(async (symbol) => ({ data: await symbolsOf(symbol), name: `${symbol.debugFile}.sym` })));
    await connection.addSymbols(found.filter(({ data }) => data));
  });
  return connection;
});

async function open({ name, address }) {
  const showElement = async () => {
    await element.loadDump(await fetched(address), { name });
    const { crash_info: crash } = await element.getReport();
    show("element-says", `${name}: ${crash.type} in thread ${crash.crashing_thread}`);
  };
  const showFrame = async () => {
    const connection = await connected;
    // A stream goes over as it comes, if the browser can hand it over.
    const { body } = await fetched(address);
    await connection.loadDump(body, { name });
    const { crash_info: crash } = await connection.getReport();
    show("frame-says", `${name}: ${crash.type} in thread ${crash.crashing_thread}`);
  };
  await Promise.all([
    showElement().catch((error) => show("element-says", error.message)),
    showFrame().catch((error) => show("frame-says", error.message)),
  ]);
}

for (const report of reports) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = report.name;
  button.addEventListener("click", () => {
    document.querySelector("#reports [aria-current]")?.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    open(report);
  });
  const item = document.createElement("li");
  item.append(button);
  document.getElementById("reports").append(item);
}
document.documentElement.dataset.portal = "ready";
