// Parts of a symbol file on a server, for the engine. remote: {url, token, size, edition, head} as the page was answered. A part
// is of the same edition of the file as all others, or it is an error that says changed.
const remoteRange = (remote) => {
  let condition = Boolean(remote.edition) && !remote.edition.startsWith("W/"); // whether the server is told which edition is meant
  let proven = false;
  const changed = (why) => Object.assign(new Error(why), { changed: true });
  const get = (from, to) =>
    fetch(remote.url, {
      headers: {
        Range: `bytes=${from}-${to - 1}`,
        ...(condition && { "If-Range": remote.edition }),
        ...(remote.token && { Authorization: `Bearer ${remote.token}` }),
      },
      credentials: "omit", referrerPolicy: "no-referrer", mode: "cors", cache: "no-store",
    });
  async function once(from, to) {
    let response;
    try {
      response = await get(from, to);
    } catch (error) {
      if (!condition || proven) throw error;
      // Servers need not let a page of another origin send If-Range. What they answer says the edition too.
      condition = false;
      response = await get(from, to);
    }
    proven = true;
    if (response.status !== 206) {
      response.body?.cancel();
      if (response.status === 200 || response.status === 412 || response.status === 416) throw changed("the file on the server is another one now");
      throw Object.assign(new Error(`the server answered ${response.status}`), { final: response.status < 500 });
    }
    const edition = response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";
    if (edition !== remote.edition || response.headers.get("content-range") !== `bytes ${from}-${to - 1}/${remote.size}`) {
      response.body?.cancel();
      throw changed("the file on the server is another one now");
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.byteLength !== to - from) throw new Error("the server's answer ended early");
    return bytes;
  }
  return async (from, to) => {
    if (to <= remote.head.byteLength) return remote.head.subarray(from, to);
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

