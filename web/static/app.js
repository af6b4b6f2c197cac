// What makes the hosted page an installed application: it starts without a network, opens the files that the system hands it,
// and says when a newer version is there. Loaded when the page is idle, so that its start costs nothing.
globalThis.startCrashpaneApp = async ({ serviceWorker, calm, control }) => {
  // Files that were opened with the installed application.
  globalThis.launchQueue?.setConsumer(async ({ files }) => {
    if (files?.length) control("add", await Promise.all(files.map((handle) => handle.getFile())), 0);
  });
  const { serviceWorker: workers } = navigator;
  if (!workers || navigator.connection?.saveData) return;
  // The service worker fetches and stores all that the page may ever need: a second's work for each core, while somebody may drop a dump.
  await calm;
  const registration = await workers.register(serviceWorker, { scope: "./", updateViaCache: "none" });
  const tell = () => {
    if (registration.waiting && workers.controller) showUpdate(registration.waiting);
  };
  const watch = (worker) => worker?.addEventListener("statechange", tell);
  registration.addEventListener("updatefound", () => watch(registration.installing));
  watch(registration.installing);
  tell();
};

// A newer version waits until every window of this one is closed, or until somebody asks for it: it begins without the files that
// are open.
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
