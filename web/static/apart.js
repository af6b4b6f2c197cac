// Another worker that reads for the engine, which has something to do meanwhile: cutting a place out of a File holds up whoever does it. That worker
// runs this script, too, and no program. Where there can be none, places are read here, and stretches are not.
const apart = (local) => {
  let worker;
  let runs; // it has said something
  let asked = 0;
  const open = new Map(); // number → what was asked, and who is told what came
  const theirs = spareBuffers(0); // buffers that go back
  const here = ({ file, list, done, failed }) => new Promise((d) => d(local(file, list))).then(done, failed);
  function begin() {
    worker = null;
    try {
      worker = new Worker(`${self.location.href}#places`);
    } catch {
      return;
    }
    worker.onmessage = ({ data }) => {
      runs = true;
      open.get(data.id)?.came(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      worker = null;
      const left = [...open.values()];
      open.clear();
      left.forEach((ask) => ask.lost());
    };
  }
  function ready() {
    if (worker === undefined) begin();
    return worker;
  }

  // Promises the places as crashpanePlaces does.
  const read = (file, list) =>
    new Promise((done, failed) => {
      const ask = { file, list, done, failed };
      if (!ready()) return here(ask);
      const spare = theirs.all();
      const id = ++asked;
      open.set(id, {
        came: ({ kept, problem }) => {
          open.delete(id);
          if (kept) done({ ...kept, to: theirs });
          else failed(new Error(problem));
        },
        lost: () => here(ask),
      });
      worker.postMessage({ places: { file, list, spare, id } }, spare);
    });

  // Begins to read stretches (from and up to of each) in pieces, the first bytes of which are the last ones of the piece before; undefined where that
  // cannot be done. Whoever wants none for so long has gone.
  const patience = 10000;
  function stream(file, stretches, overlap) {
    if (!ready()) return undefined;
    const id = ++asked;
    const pieces = []; // that have come; the last one, or a problem, has no bytes
    const used = []; // buffers of those that were taken
    let wake;
    let piece; // that was taken last
    let wanted = true;
    const watch = setInterval(() => {
      if (!wanted) leave();
      wanted = false;
    }, patience);
    const room = new Uint8Array(most);
    const came = (what) => {
      pieces.push(what);
      wake?.();
    };
    const lost = () => came({ problem: "it was left" });
    open.set(id, { came, lost });
    worker.postMessage({ stream: { id, file, stretches, overlap } });
    const take = () => {
      if (pieces[0].problem) throw new Error(pieces[0].problem);
      piece = pieces[0].bytes && pieces.shift();
      return piece ? piece.at : -1;
    };
    function finish() {
      clearInterval(watch);
      if (!open.has(id)) return;
      open.delete(id);
      worker.postMessage({ stream: { id } });
    }
    function leave() {
      finish();
      lost();
    }
    return {
      // Where the next piece lies in the file, or a promise of that; -1 where there is none. The piece before is gone then.
      next: () => {
        wanted = true;
        if (piece) used.push(piece.bytes.buffer);
        piece = undefined;
        if (used.length && (used.length > 2 || !pieces.length) && open.has(id)) {
          const all = used.splice(0);
          worker.postMessage({ stream: { id, back: all } }, all);
        }
        return pieces.length ? take() : new Promise((done) => (wake = done)).then(take);
      },
      size: () => piece.bytes.length,
      // What was picked of the piece lies in room then.
      pick: (at, size) => room.set(piece.bytes.subarray(at, at + size)),
      room,
      end: finish,
    };
  }
  // How much can be picked at once.
  const most = 64 << 10;
  // Has the worker be there when it is needed first.
  const warm = () => worker === undefined && begin();
  const up = () => !!(worker && runs);
  return { read, stream, warm, up };
};
self.crashpaneApart = apart(crashpanePlaces);

// What was read of places, for the program: pick puts some bytes of the place of a number into room, and by give the buffers are given back when nothing of them is
// wanted any more. Its functions are called with numbers alone: what a call costs is mostly objects that are noted.
self.crashpaneKept = ({ buffers, at, to = crashpaneSpare }, room) => ({
  pick: (i, from, size) => room.set(new Uint8Array(buffers[at[2 * i]], at[2 * i + 1] + from, size)),
  give: () => to.give(buffers),
});

if (self.location.hash === "#places") {
  crashpaneWarm();
  postMessage({}); // it is there
}
