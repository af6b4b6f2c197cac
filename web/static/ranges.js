// Reads parts of a symbol file on a server, for the engine (wasm/worker/remote_js.go), by
// HTTP range requests. remote is {url, token, size, edition, head} from the page's request
// (symbols.js): edition is the ETag or the date of the file, head its first bytes. If the file on
// the server changes, the error has changed set.
const remoteRange = (remote) => {
  let condition = Boolean(remote.edition) && !remote.edition.startsWith("W/"); // send If-Range; a weak ETag is not allowed there
  let proven = false;
  const changed = (why) => Object.assign(new Error(why), { changed: true });
  const get = (from, to) => fetchSymbols(remote.url, remote.token, { from, to, edition: condition && remote.edition });
  async function once(from, to) {
    let response;
    try {
      response = await get(from, to);
    } catch (error) {
      if (!condition || proven) throw error;
      // A server may not allow a page of another origin to send If-Range (CORS). The edition of its
      // answer is compared below in any case.
      condition = false;
      response = await get(from, to);
    }
    proven = true;
    if (response.status !== 206) {
      response.body?.cancel();
      if (response.status === 200 || response.status === 412 || response.status === 416) throw changed("the file on the server has changed");
      throw Object.assign(new Error(`the server answered ${response.status}`), { final: response.status < 500 });
    }
    if (editionOf(response) !== remote.edition || response.headers.get("content-range") !== `bytes ${from}-${to - 1}/${remote.size}`) {
      response.body?.cancel();
      throw changed("the file on the server has changed");
    }
    const bytes = await response.arrayBuffer();
    if (bytes.byteLength !== to - from) throw new Error("the server's answer ended early");
    return bytes;
  }
  return async (from, to) => {
    if (to <= remote.head.byteLength) return remote.head.slice(from, to).buffer;
    for (let tries = 2; ; tries--) {
      try {
        return await once(from, to);
      } catch (error) {
        if (error.changed || error.final || tries === 0) throw error;
        await new Promise((done) => setTimeout(done, 300));
      }
    }
  };
};
crashpaneWorker.range = remoteRange;

