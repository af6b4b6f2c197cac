// Many places of a File at once, for the engine. To the browser a place costs some 0.4 ms (64 KB; with 4 KB 0.3), of which half goes
// into cutting it out; a stream costs 1 to 2 ms to begin and then 0.5 ms a megabyte, as long as there are others beside it. So places
// near each other are read as a run, with what lies between them, and of the others several as one Blob: while one Blob is read, the
// places of the next are cut out. Where a stream has stopped, it goes on for the places that are asked for next and lie behind (symfile asks
// in an order that makes them).
const placeReader = () => {
  // In milliseconds: a place alone, beginning a stream, and its going on.
  const [perPlace, perStream, perByte] = [0.4, 1.5, 0.5e-6];
  const near = perStream / perByte; // a gap that costs as much to read as to begin anew behind it
  const least = 6 << 20; // of a run, where it is divided among streams
  const many = 64; // places from which streams are kept: such a list is one of several
  const turn = 1 << 20; // that a stream is asked for at once: each answer costs a turn of the worker
  const streams = 6; // with three each megabyte takes a tenth more CPU time, since threads wake each other more often
  // Places in a Blob. One for each place takes twice as long, one for all leaves nothing to be done side by side. Chromium reads 64 KB in one go:
  // places of exactly that size (symfile) never need two.
  const group = 16;
  const buffers = []; // that no stream is filling
  let answer = new Uint8Array(0); // its memory is used again: pages that are new cost more than what is copied to them
  // Chromium forgets a stream of a File that nothing but its own pending read refers to, and the read then never ends.
  const reading = new Set();
  const kept = []; // streams that stopped where a run ended
  let rest; // a timer: they have been kept for a while

  const endOf = (places) => places.reduce((most, p) => Math.max(most, p.from + p.size), 0);

  const goesOn = (lane, key, from) => lane.key === key && lane.from <= from && from <= lane.end + near;

  // The cheapest way to the bytes of places (from, size, and where in the answer, by from), each of which is read alone, or by a stream that
  // begins there or goes on from the place before. A run: its places' indices, first and up to.
  function plan(places, key) {
    const ways = []; // for each place: whether a stream that goes over it begins there, and how the place before is read if one does, or if it is alone
    let alone = 0; // the cost so far, if the last place is read alone, and if a stream goes over it
    let stream = Infinity;
    let last = 0; // how far that stream has read
    const ready = kept.filter((lane) => lane.key === key);
    for (const { from, size } of places) {
      const at = ready.findIndex((lane) => goesOn(lane, key, from));
      const left = at < 0 ? undefined : ready.splice(at, 1)[0]; // for the first place that lies behind it
      const before = Math.min(alone, stream);
      const begin = before + (left ? perByte * Math.max(0, from + size - left.end) : perStream + perByte * size);
      const on = stream + perByte * Math.max(0, from + size - last);
      ways.push({ begins: begin < on, before: alone < stream ? "alone" : "stream" });
      alone = before + perPlace;
      stream = Math.min(begin, on);
      last = Math.max(last, from + size, begin < on && left ? left.end : 0);
    }
    const singly = [];
    const stretches = [];
    let how = alone < stream ? "alone" : "stream";
    for (let i = places.length - 1, upTo = places.length; i >= 0; i--) {
      const { begins, before } = ways[i];
      if (how === "alone") singly.push(places[i]);
      else if (begins) stretches.push([i, upTo]);
      if (how === "alone" || begins) [how, upTo] = [before, i];
    }
    // Long ones are divided among streams.
    const span = (a, b) => endOf(places.slice(a, b)) - places[a].from;
    const most = Math.max(least, stretches.reduce((sum, [a, b]) => sum + span(a, b), 0) / streams);
    const runs = [];
    for (const [a, b] of stretches.reverse()) {
      for (let i = a, first = a; i < b; i++) {
        if (i + 1 === b || places[i].from + places[i].size - places[first].from >= most) {
          runs.push([first, i + 1]);
          first = i + 1;
        }
      }
    }
    return { runs, singly: singly.reverse() };
  }

  // A stream of a File, and what it has read last: bytes, that lie at from and end before end.
  function begin(file, key, from, to) {
    const all = file.slice(from, to).stream();
    const lane = { key, from, end: from, to, bytes: new Uint8Array(0) };
    try {
      lane.reader = all.getReader({ mode: "byob" });
      lane.buffer = buffers.pop() ?? new ArrayBuffer(turn);
    } catch {
      lane.reader = all.getReader();
    }
    return lane;
  }

  async function goOn(lane) {
    const size = Math.min(turn, lane.to - lane.end);
    const { done, value } = await lane.reader.read(lane.buffer && new Uint8Array(lane.buffer, 0, size), { min: size });
    if (done || !value.byteLength) throw new Error("it is shorter than it was");
    if (lane.buffer) lane.buffer = value.buffer; // it is given back in another object
    lane.bytes = value;
    lane.from = lane.end;
    lane.end += value.byteLength;
  }

  function leave(lane) {
    lane.reader.cancel().catch(() => {});
    if (lane.buffer) buffers.push(lane.buffer);
  }

  // A stream that is kept ends at limit at the latest.
  async function run(file, key, places, limit, into) {
    const from = places[0].from;
    const to = endOf(places);
    const at = kept.findIndex((l) => goesOn(l, key, from) && to <= l.to);
    const lane = at >= 0 ? kept.splice(at, 1)[0] : begin(file, key, from, Math.max(to, limit));
    reading.add(lane);
    try {
      for (let first = 0; ; await goOn(lane)) {
        for (let i = first; i < places.length && places[i].from < lane.end; i++) {
          const p = places[i];
          const start = Math.max(p.from, lane.from);
          const upTo = Math.min(p.from + p.size, lane.end);
          if (start < upTo) into.set(lane.bytes.subarray(start - lane.from, upTo - lane.from), p.at + start - p.from);
          if (i === first && p.from + p.size <= lane.end) first++;
        }
        if (first === places.length) break;
      }
    } finally {
      reading.delete(lane);
    }
    if (lane.end < lane.to) kept.push(lane);
    else leave(lane);
    if (kept.length > 2 * streams) leave(kept.shift());
  }

  function forget() {
    kept.splice(0).forEach(leave);
    buffers.length = 0;
  }

  const together = (file, places) => new Blob(places.map((p) => file.slice(p.from, p.from + p.size)));

  async function blob(file, places, into) {
    const all = new Uint8Array(await together(file, places).arrayBuffer());
    let at = 0;
    for (const p of places) into.set(all.subarray(at, (at += p.size)), p.at);
    if (at !== all.byteLength) throw new Error("it is shorter than it was");
  }

  // list: from and size of each place, by from. The answer has their bytes one after the other, in room if one is given that is large
  // enough, else until something else is asked; it is promised, or there at once. key tells Files apart that come as copies. With room, streams are
  // kept: who waits for the answer does not want what lies behind.
  return (file, list, room, key = file) => {
    const places = [];
    let total = 0;
    for (let i = 0; i < list.length; i += 2) {
      places.push({ from: list[i], size: list[i + 1], at: total });
      total += list[i + 1];
    }
    const { runs, singly } = plan(places, key);
    // With nothing beside it, what is promised comes later: it goes through more threads.
    if (!runs.length && singly.length <= group && self.FileReaderSync) return new Uint8Array(new FileReaderSync().readAsArrayBuffer(together(file, places)));
    let all = room ? new Uint8Array(room) : answer;
    if (all.byteLength < total) all = new Uint8Array(total);
    if (!room) answer = all;
    const into = all.subarray(0, total);
    // Where the next run begins, another stream has been already when this one comes there.
    const limit = (next) => (!room || places.length < many ? 0 : next ? endOf([places[next[0]]]) : file.size);
    const work = [];
    clearTimeout(rest);
    for (let i = 0; i < singly.length; i += group) work.push(blob(file, singly.slice(i, i + group), into));
    for (let lane = 0; lane < streams; lane++) {
      work.push((async () => {
        for (let next; (next = runs.shift()); ) await run(file, key, places.slice(...next), limit(runs[0]), into);
      })());
    }
    return Promise.all(work)
      .then(
        () => into,
        (error) => {
          answer = new Uint8Array(0); // the other streams may still write into this one
          throw error;
        },
      )
      .finally(() => {
        clearTimeout(rest);
        rest = setTimeout(forget, 2000);
      });
  };
};
self.crashpanePlaces = placeReader();

// The same by another worker, for an engine that has something to do meanwhile: cutting a place out of a File holds up whoever does it.
// That worker runs this script, too, and no program. Where there can be none, it is done here.
const apart = (local) => {
  let worker;
  let rest; // a timer: nobody has asked for a while
  let asked = 0;
  const open = new Map(); // number → what was asked, and what settles its promise
  const keys = new WeakMap(); // File → what the other worker knows it by: it gets a copy each time
  let known = 0;
  const rooms = []; // memory that was given back, of few sizes, so that one mostly fits
  const here = ({ file, list, done, failed }) => new Promise((d) => d(local(file, list, new ArrayBuffer(0)))).then(done, failed);
  function begin() {
    worker = null;
    try {
      worker = new Worker(`${self.location.href}#places`);
    } catch {
      return;
    }
    worker.onmessage = ({ data: { id, bytes, problem } }) => {
      const { done, failed } = open.get(id);
      open.delete(id);
      if (!open.size) rest = setTimeout(end, 5000);
      if (bytes) done(bytes);
      else failed(new Error(problem));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      clearTimeout(rest);
      worker = null;
      open.forEach(here);
      open.clear();
    };
  }
  function end() {
    worker.terminate();
    worker = undefined;
    rooms.length = 0;
  }
  return {
    // Promises the bytes of the places, until they are given back.
    read: (file, list) =>
      new Promise((done, failed) => {
        if (worker === undefined) begin();
        const ask = { file, list, done, failed };
        if (!worker) return here(ask);
        clearTimeout(rest);
        let total = 0;
        for (let i = 1; i < list.length; i += 2) total += list[i];
        const grain = total > 4 << 20 ? 16 << 20 : 4 << 20;
        const size = Math.ceil(total / grain) * grain;
        const fits = rooms.findIndex((r) => r.byteLength === size);
        const room = fits < 0 ? new ArrayBuffer(size) : rooms.splice(fits, 1)[0];
        open.set(++asked, ask);
        if (!keys.has(file)) keys.set(file, ++known);
        worker.postMessage({ places: { file, key: keys.get(file), list, room, id: asked } }, [room]);
      }),
    back: ({ buffer }) => {
      rooms.push(buffer);
      if (rooms.length > 4) rooms.shift();
    },
  };
};
self.crashpaneApart = apart(crashpanePlaces);

// The other side of it: one after the other, in the order in which they were asked.
let served = Promise.resolve();
self.crashpaneServe = ({ file, key, list, room, id }) => {
  served = served
    .then(() => crashpanePlaces(file, list, room, key))
    .then(
      (bytes) => postMessage({ id, bytes }, [bytes.buffer]),
      (error) => postMessage({ id, problem: String(error?.message ?? error) }),
    );
};

