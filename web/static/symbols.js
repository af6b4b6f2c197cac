// Gets symbol files from a server or a folder, at the user's request (wasm/viewer/sources_js.go).
const symbolHead = 64 << 10; // bytes of the first range request
const symbolWhole = 4 << 20; // files up to this size are fetched completely

// bases are the servers that the page was built with; if undefined, the page may not reach any
// server.
function symbolSources(bases, storage) {
  const web = /^https?:$/.test(location.protocol);
  // A layout may precede the address of a server: "microsoft+https://…". Without it, or with
  // breakpad+, its paths are those of Breakpad's servers.
  const resolve = (text) => {
    const [, layout, address] = /^(?:(microsoft\+|debuginfod\+)|breakpad\+)?(.*)$/s.exec(text);
    let url;
    try {
      if (!/^(https?:\/\/[^/]|\/[^/])/i.test(address)) throw new Error();
      url = new URL(address, location.href);
      if (url.username || url.password || url.search || url.hash || !/^https?:$/.test(url.protocol)) throw new Error();
    } catch {
      return { problem: "Type an address like https://symbols.example/path, without a user name, ? or #. Begin it with microsoft+ or debuginfod+ if the server has that layout." };
    }
    const { origin } = url;
    return { base: (layout ?? "") + url.href.replace(/\/+$/, ""), origin, allowed: bases !== undefined && (origins.has(origin) || (web && origin === location.origin)) };
  };
  const origins = new Set();
  const built = (bases ?? []).filter((base) => web || !/^(\w+\+)?\//.test(base)).map((base) => resolve(base));
  for (const { origin } of built) origins.add(origin);

  // Finds out why a request failed. If a request in mode no-cors succeeds, the server answers but
  // its CORS headers do not allow this page to read it.
  async function unanswered(url, error, signal) {
    const host = new URL(url).host;
    try {
      await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer", mode: "no-cors", cache: "no-store", signal });
    } catch {
      return `${host} cannot be reached (${error.message}), or redirects to a server that this page may not reach`;
    }
    const through = built.find(({ base }) => base.endsWith(`/servers/${host}`));
    return `${host} answers, but does not let this page read its answers (CORS: it would have to allow this page’s origin). ${through ? `This page’s own server can ask it for you: choose ${through.base}` : "Your system can read them: copy the command for curl, run it, and drop the folder that it makes"}`;
  }

  // Returns what the worker needs to read parts of a file (ranges.js), from the response with its
  // beginning; undefined if the response does not say which part it is.
  async function beginning(response, url, token) {
    const part = /^bytes 0-(\d+)\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
    const head = new Uint8Array(await response.arrayBuffer());
    const known = part && Number(part[1]) + 1 === head.byteLength && !response.headers.get("content-encoding");
    return known ? { url, token, size: Number(part[2]), edition: editionOf(response), head } : undefined;
  }

  // Requests the beginning of the index next to a symbol file, which crashpane index makes. Returns
  // undefined if it is missing, or cannot be read in parts.
  async function indexOf(url, token, signal) {
    if (!url.endsWith(".sym")) return undefined;
    try {
      const response = await fetchSymbols(`${url}.index`, token, { to: symbolHead, signal });
      if (response.status === 206) return await beginning(response, `${url}.index`, token);
      response.body?.cancel();
    } catch (error) {
      if (signal.aborted) throw error;
    }
    return undefined;
  }

  async function collect(response, name, progress) {
    const packed = response.headers.get("content-encoding");
    const total = packed ? 0 : Number(response.headers.get("content-length")) || 0;
    return new File([await collectStream(response.body.getReader(), (done) => progress(done, total))], name);
  }

  return {
    bases: bases && built.map(({ base }) => base),
    resolve,
    // Requests a symbol file. Returns {status, at}, where at is the address after a redirection,
    // and also either {file} or {remote}, with which the worker can read parts of the file and of
    // its index (ranges.js).
    async ask(url, token, whole, progress, signal) {
      let response;
      try {
        response = await fetchSymbols(url, token, { to: whole ? 0 : symbolHead, signal });
      } catch (error) {
        // For a range request, browsers do not accept a compressed answer, and some servers have
        // only that. Request the whole file.
        if (signal.aborted) throw error;
        response = await (whole ? Promise.reject(error) : fetchSymbols(url, token, { signal })).catch(async (error) => {
          throw new Error(await unanswered(url, error, signal));
        });
      }
      const at = response.redirected ? response.url : "";
      if (response.status === 206) {
        const remote = await beginning(response, url, token);
        if (remote && remote.size === remote.head.byteLength) return { status: 200, at, file: new File([remote.head], url) };
        if (remote?.size > symbolWhole) return { status: 206, at, remote: { ...remote, index: await indexOf(url, token, signal) } };
        // The file is small, or the server does not allow the page to read Content-Range (CORS).
        // Request the whole file.
        response = await fetchSymbols(url, token, { signal });
      }
      if (response.status !== 200) {
        response.body?.cancel();
        return { status: response.status, at };
      }
      return { status: 200, at, file: await collect(response, url, progress) };
    },
    folder: symbolFolder(storage),
  };
}

// A folder of symbol files that the user has chosen. The browser can store its handle, and asks the
// user for permission at the next visit.
function symbolFolder(storage) {
  let folder;
  const kept = storesIn("crashpane-folder", ["handles"], storage);
  // Returns the file with a path in the folder, or undefined.
  async function at(path) {
    try {
      const parts = path.split("/");
      let place = folder;
      for (const part of parts.slice(0, -1)) place = await place.getDirectoryHandle(part);
      return await (await place.getFileHandle(parts.at(-1))).getFile();
    } catch {
      return undefined;
    }
  }
  async function* all(place, path, depth) {
    for await (const [name, entry] of place.entries()) {
      if (entry.kind === "directory" && depth < 8) yield* all(entry, `${path}${name}/`, depth + 1);
      else if (entry.kind === "file" && /\.sym(\.gz)?$/i.test(name)) yield { path: path + name, entry };
    }
  }
  return {
    can: typeof showDirectoryPicker === "function",
    async pick() {
      folder = await showDirectoryPicker({ id: "crashpane-symbols", mode: "read" });
      return folder.name;
    },
    async recall() {
      folder ??= await kept("readonly", (handles) => handles.get("symbols"));
      return folder?.name ?? "";
    },
    keep: (yes) => kept("readwrite", (handles) => (yes && folder ? handles.put(folder, "symbols") : handles.delete("symbols"))),
    // Finds the files with paths of a symbol store. If it finds none, it looks for symbol files
    // anywhere in the folder, at most limit. Returns [{path, file}].
    async find(paths, limit) {
      const mode = { mode: "read" };
      if ((await folder.queryPermission?.(mode)) !== "granted" && (await folder.requestPermission?.(mode)) === "denied") throw new Error("you did not allow the browser to read it");
      const found = [];
      for (const path of paths) {
        const file = (await at(path)) ?? (await at(`${path}.gz`));
        if (file) found.push({ path: `${folder.name}/${path}`, file });
      }
      if (found.length > 0) return found;
      for await (const { path, entry } of all(folder, `${folder.name}/`, 0)) {
        found.push({ path, file: await entry.getFile() });
        if (found.length >= limit) break;
      }
      return found;
    },
  };
}

