// Makes the hosted page an installable application: it works offline, opens files that the system
// passes to it, says when there is a newer version, and shows a picture of what one gets. The loader adds this script when the page
// is idle, so that it does not delay the start.
globalThis.startCrashpaneApp = async ({ serviceWorker, pictures, whenEngine, whenQuiet, control }) => {
  // The start screen's pictures of a crash. The browser fetches the one that it shows, which must not delay the engine's program.
  whenEngine.then(() => {
    for (const [scheme, address] of Object.entries(pictures)) {
      if (address) document.documentElement.style.setProperty(`--cp-picture-${scheme}`, `url("${new URL(address, location)}")`);
    }
  });
  // Files that the user opens with the installed application.
  globalThis.launchQueue?.setConsumer(async ({ files }) => {
    if (files?.length) control("add", await Promise.all(files.map((handle) => handle.getFile())), 0);
  });
  const { serviceWorker: workers } = navigator;
  if (!workers || navigator.connection?.saveData) return;
  // Installing the service worker fetches and stores all files of the page, which keeps each core
  // busy for a second. Wait until the page is idle.
  await whenQuiet;
  const registration = await workers.register(serviceWorker, { scope: "./", updateViaCache: "none" });
  const showIfWaiting = () => {
    if (registration.waiting && workers.controller) showUpdate(registration.waiting);
  };
  const watch = (worker) => worker?.addEventListener("statechange", showIfWaiting);
  registration.addEventListener("updatefound", () => watch(registration.installing));
  watch(registration.installing);
  showIfWaiting();
};

// A newer version starts when all windows of this one are closed, or at the user's request. It
// starts without the open files.
function showUpdate(waiting) {
  if (document.querySelector(".update")) return;
  const bar = document.createElement("div");
  bar.className = "update";
  bar.setAttribute("role", "status");
  const text = document.createElement("span");
  text.textContent = "A newer version of Crashpane is ready. It starts when you have closed all windows of this one.";
  const button = (title, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button small";
    made.textContent = title;
    made.addEventListener("click", act);
    return made;
  };
  const now = button("Start now", () => {
    navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
    waiting.postMessage("start");
  });
  now.title = "You must drop the open files again.";
  bar.append(text, now, button("Later", () => bar.remove()));
  document.body.append(bar);
}
