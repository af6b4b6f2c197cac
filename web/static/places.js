// Many places of a File at once, for the engine. To the browser a place costs some 0.4 ms (64 KB; with 4 KB 0.3), of which half goes
// into cutting it out; a stream costs 1 to 2 ms to begin and then 0.5 ms a megabyte, as long as there are others beside it. So places
// near each other are read as a run, with what lies between them, and of the others several as one Blob: while one Blob is read, the
// places of the next are cut out.
const placeReader = () => {
  const near = 1 << 20; // a gap that costs about as much to read as to leave out
  const least = 6 << 20; // of a run, where it is divided among streams
  const streams = 3;
  // Places in a Blob. One for each place takes twice as long, one for all leaves nothing to be done side by side. Chromium reads 64 KB in one go:
  // places of exactly that size (symfile) never need two.
  const group = 16;
  const buffers = []; // that no stream is filling
  let answer = new Uint8Array(0); // its memory is used again: pages that are new cost more than what is copied to them
  // Chromium forgets a stream of a File that nothing but its own pending read refers to, and the read then never ends.
  const reading = new Set();

  // places: from, size, and where in the answer, by from. A run: its places' indices, first and up to.
  function runs(places) {
    const end = (i) => places[i].from + places[i].size;
    const span = (from, to) => { // of places that are near each other
      let last = 0;
      for (let i = from; i < to; i++) last = Math.max(last, end(i));
      return last - places[from].from;
    };
    const stretches = [];
    for (let i = 0, first = 0, last = 0; i < places.length; i++) {
      last = Math.max(last, end(i));
      if (i + 1 === places.length || places[i + 1].from > last + near) {
        stretches.push([first, i + 1]);
        first = i + 1;
      }
    }
    const worth = stretches.filter(([a, b]) => (b - a) * 0.6 > 1.2 + (0.8 * span(a, b)) / 1e6);
    const most = Math.max(least, worth.reduce((sum, [a, b]) => sum + span(a, b), 0) / streams);
    const out = [];
    for (const [a, b] of worth) {
      for (let i = a, first = a; i < b; i++) {
        if (i + 1 === b || end(i) - places[first].from >= most) {
          out.push([first, i + 1]);
          first = i + 1;
        }
      }
    }
    return { out, alone: stretches.filter((s) => !worth.includes(s)).flatMap(([a, b]) => places.slice(a, b)) };
  }

  async function run(file, places, into) {
    const to = places.reduce((most, p) => Math.max(most, p.from + p.size), 0);
    const stream = file.slice(places[0].from, to).stream();
    let reader;
    let buffer;
    try {
      reader = stream.getReader({ mode: "byob" });
      buffer = buffers.pop() ?? new ArrayBuffer(1 << 20);
    } catch {
      reader = stream.getReader();
    }
    reading.add(reader);
    try {
      for (let at = places[0].from, first = 0; at < to; ) {
        const size = buffer && Math.min(buffer.byteLength, to - at);
        const { done, value } = await reader.read(buffer && new Uint8Array(buffer, 0, size), { min: size }); // at once, where it can: each answer costs a turn
        if (done || !value.byteLength) throw new Error("it is shorter than it was");
        const end = at + value.byteLength;
        for (let i = first; i < places.length && places[i].from < end; i++) {
          const p = places[i];
          const from = Math.max(p.from, at);
          const upTo = Math.min(p.from + p.size, end);
          if (from < upTo) into.set(value.subarray(from - at, upTo - at), p.at + from - p.from);
          if (i === first && p.from + p.size <= end) first++;
        }
        if (buffer) buffer = value.buffer; // it is given back in another object
        at = end;
      }
      if (buffer) buffers.push(buffer);
    } finally {
      reading.delete(reader);
    }
  }

  const together = (file, places) => new Blob(places.map((p) => file.slice(p.from, p.from + p.size)));

  async function blob(file, places, into) {
    const all = new Uint8Array(await together(file, places).arrayBuffer());
    let at = 0;
    for (const p of places) into.set(all.subarray(at, (at += p.size)), p.at);
    if (at !== all.byteLength) throw new Error("it is shorter than it was");
  }

  // list: from and size of each place, by from. The answer has their bytes one after the other, in room if one is given that is large
  // enough, else until something else is asked; it is promised, or there at once.
  return (file, list, room) => {
    const places = [];
    let total = 0;
    for (let i = 0; i < list.length; i += 2) {
      places.push({ from: list[i], size: list[i + 1], at: total });
      total += list[i + 1];
    }
    const { out, alone } = runs(places);
    // With nothing beside it, what is promised comes later: it goes through more threads.
    if (!out.length && alone.length <= group && self.FileReaderSync) return new Uint8Array(new FileReaderSync().readAsArrayBuffer(together(file, places)));
    let all = room ? new Uint8Array(room) : answer;
    if (all.byteLength < total) all = new Uint8Array(total);
    if (!room) answer = all;
    const into = all.subarray(0, total);
    const work = [];
    for (let i = 0; i < alone.length; i += group) work.push(blob(file, alone.slice(i, i + group), into));
    for (let lane = 0; lane < streams; lane++) {
      work.push((async () => {
        for (let next; (next = out.shift()); ) await run(file, places.slice(...next), into);
      })());
    }
    return Promise.all(work).then(
      () => into,
      (error) => {
        answer = new Uint8Array(0); // the other streams may still write into this one
        throw error;
      },
    );
  };
};
self.crashpanePlaces = placeReader();

// For an engine that asked another worker (see apart.js): one after the other, in the order in which they were asked.
let served = Promise.resolve();
self.crashpaneServe = ({ file, list, room, id }) => {
  served = served
    .then(() => crashpanePlaces(file, list, room))
    .then(
      (bytes) => postMessage({ id, bytes }, [bytes.buffer]),
      (error) => postMessage({ id, problem: String(error?.message ?? error) }),
    );
};
