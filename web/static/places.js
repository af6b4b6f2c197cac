// Many places of a File at once, for the engine. To the browser's processes a place costs some 0.65 ms of CPU time (64 KB; with 4 KB 0.5), of which
// half goes into cutting it out; a stream costs 1 to 2 ms to begin and then 1.2 ms a megabyte, as long as there are others beside it. So places
// near each other are read as a run, with what lies between them, and of the others several as one Blob: while one Blob is read, the
// places of the next are cut out. What was read stays in buffers, of which the engine copies the few parts that it looks at.
const placeReader = (spare, group) => {
  const least = 6 << 20; // of a run, where it is divided among streams
  const streams = 3;
  const few = 6; // places that whoever asked waits for: with nothing beside it, what is promised comes later, since it goes through more threads
  const pieces = []; // buffers of 1 MB that no stream is filling
  const shorter = "it is shorter than it was";
  // Chromium forgets a stream of a File that nothing but its own pending read refers to, and the read then never ends.
  const reading = new Set();

  // What it costs to read a place alone, and a run of so many bytes, of which the first two megabytes go through memory that is new: in milliseconds.
  const costAlone = ({ size }) => 0.55 + size * 2.5e-6;
  const costOfRun = (bytes) => 1 + bytes * 1.2e-6 + Math.min(bytes, 2e6) * 0.7e-6;

  // places: from and size, by from. Which of them are read as runs (their indices, first and up to), and which alone, so that it costs least.
  function runs(places) {
    const ends = [];
    const costs = [0]; // of the first so many places, as they cost least
    const since = []; // and where the last part of these begins
    for (let n = 0; n < places.length; n++) {
      ends.push(Math.max(ends[n - 1] ?? 0, places[n].from + places[n].size));
      costs.push(costs[n] + costAlone(places[n]));
      since.push(n);
      for (let i = n - 1; i >= 0; i--) {
        const cost = costOfRun(ends[n] - places[i].from);
        if (cost > costs[n + 1]) break;
        if (costs[i] + cost < costs[n + 1]) {
          costs[n + 1] = costs[i] + cost;
          since[n] = i;
        }
      }
    }
    const worth = [];
    const alone = [];
    for (let n = places.length; n > 0; n = since[n - 1]) {
      if (since[n - 1] < n - 1) worth.unshift([since[n - 1], n]);
      else alone.unshift(places[n - 1]);
    }
    const span = (from, to) => ends[to - 1] - places[from].from;
    const most = Math.max(least, worth.reduce((sum, [a, b]) => sum + span(a, b), 0) / streams);
    const out = [];
    for (const [a, b] of worth) {
      for (let i = a, first = a; i < b; i++) {
        if (i + 1 === b || span(first, i + 1) >= most) {
          out.push([first, i + 1]);
          first = i + 1;
        }
      }
    }
    return { out, alone };
  }

  async function run(file, places, into) {
    const to = places.reduce((most, p) => Math.max(most, p.from + p.size), 0);
    const stream = file.slice(places[0].from, to).stream();
    let reader;
    let buffer;
    try {
      reader = stream.getReader({ mode: "byob" });
      buffer = pieces.pop() ?? new ArrayBuffer(1 << 20);
    } catch {
      reader = stream.getReader();
    }
    reading.add(reader);
    try {
      for (let at = places[0].from, first = 0; at < to; ) {
        const size = buffer && Math.min(buffer.byteLength, to - at);
        const { done, value } = await reader.read(buffer && new Uint8Array(buffer, 0, size), { min: size }); // at once, where it can: each answer costs a turn
        if (done || !value.byteLength) throw new Error(shorter);
        const end = at + value.byteLength;
        for (let i = first; i < places.length && places[i].from < end; i++) {
          const p = places[i];
          const from = Math.max(p.from, at);
          const upTo = Math.min(p.from + p.size, end);
          if (from < upTo) new Uint8Array(into[p.in], p.at + from - p.from).set(value.subarray(from - at, upTo - at));
          if (i === first && p.from + p.size <= end) first++;
        }
        if (buffer) buffer = value.buffer; // it is given back in another object
        at = end;
      }
      if (buffer) pieces.push(buffer);
    } finally {
      reading.delete(reader);
    }
  }

  const together = (file, places) => new Blob(places.map((p) => file.slice(p.from, p.from + p.size)));

  // Several places as one Blob, in a buffer of their own.
  async function blob(file, places, into) {
    const size = places.reduce((sum, p) => sum + p.size, 0);
    const all = together(file, places);
    let reader;
    try {
      reader = all.stream().getReader({ mode: "byob" });
    } catch {
      into[places[0].in] = await all.arrayBuffer();
      if (into[places[0].in].byteLength !== size) throw new Error(shorter);
      return;
    }
    let buffer = spare.take(size);
    reading.add(reader);
    try {
      for (let at = 0; at < size; ) {
        const { done, value } = await reader.read(new Uint8Array(buffer, at, size - at), { min: size - at });
        if (done || !value.byteLength) throw new Error(shorter);
        buffer = value.buffer;
        at += value.byteLength;
      }
    } finally {
      reading.delete(reader);
    }
    into[places[0].in] = buffer;
  }

  // list: from and size of each place, by from. The answer has buffers, and for each place in which of these its bytes are, and where; it is
  // promised, or there at once. Whoever needs it no more may give the buffers back (spare).
  return (file, list) => {
    const places = [];
    for (let i = 0; i < list.length; i += 2) places.push({ from: list[i], size: list[i + 1] });
    const { out, alone } = runs(places);
    const buffers = [];
    // Has some places lie in the next buffer, one behind the other.
    const lay = (some) => {
      let at = 0;
      for (const p of some) {
        p.in = buffers.length;
        p.at = at;
        at += p.size;
      }
      buffers.push(undefined);
      return at;
    };
    const answer = () => ({ buffers, at: Float64Array.from(places.flatMap((p) => [p.in, p.at])) });
    if (!out.length && alone.length <= few && self.FileReaderSync) {
      const size = lay(places);
      buffers[0] = new FileReaderSync().readAsArrayBuffer(together(file, places));
      if (buffers[0].byteLength !== size) throw new Error(shorter);
      return answer();
    }
    const work = [];
    const each = Math.ceil(alone.length / Math.ceil(alone.length / group));
    for (let i = 0; i < alone.length; i += each) {
      const some = alone.slice(i, i + each);
      lay(some);
      work.push(blob(file, some, buffers));
    }
    for (const [from, to] of out) {
      for (let i = from, first = from, size = 0; i < to; i++) {
        size += places[i].size;
        if (i + 1 < to && size + places[i + 1].size <= spare.size) continue;
        lay(places.slice(first, i + 1));
        buffers[buffers.length - 1] = spare.take(size);
        first = i + 1;
        size = 0;
      }
    }
    for (let lane = 0; lane < streams; lane++) {
      work.push((async () => {
        for (let next; (next = out.shift()); ) await run(file, places.slice(...next), buffers);
      })());
    }
    return Promise.all(work).then(answer);
  };
};

// Places in a Blob at most. One for each takes twice as long, one for all leaves nothing to be done side by side. Chromium reads 64 KB in one go:
// places of exactly that size (symfile) never need two.
const inBlob = 11;

// Buffers of one size, for as many, that nothing is in any more. Their memory is used again: pages that are new cost more than what is copied to them. When nobody
// has given one for a while, at most least stay.
const spareBuffers = (least) => {
  const size = inBlob << 16;
  const most = 48;
  const patience = 5000;
  const buffers = [];
  let rest; // a timer
  return {
    size,
    take: (n) => (n > size ? new ArrayBuffer(n) : buffers.pop() ?? new ArrayBuffer(size)),
    all: () => buffers.splice(0),
    give: (some) => {
      for (const b of some) if (b.byteLength === size && buffers.length < most) buffers.push(b);
      clearTimeout(rest);
      rest = setTimeout(() => (buffers.length = Math.min(buffers.length, least)), patience);
    },
  };
};
self.crashpaneSpare = spareBuffers(8);
self.crashpanePlaces = placeReader(crashpaneSpare, inBlob);

// Reads what is nowhere, and leaves the buffers for what is read next: the first time takes longer.
self.crashpaneWarm = async () => {
  const blob = new Blob([new Uint8Array(1 << 20)]);
  const file = { slice: (from, to) => blob.slice(0, to - from) };
  const list = [];
  for (let i = 0; i < 64; i++) list.push(i << 21, 64 << 10);
  for (let i = 0; i < 8; i++) list.push((i << 16) + (1 << 28), 64 << 10);
  for (let i = 0; i < 3; i++) crashpaneSpare.give((await crashpanePlaces(file, list)).buffers);
};

// For an engine that asked another worker (see apart.js): one after the other, in the order in which they were asked.
let served = Promise.resolve();
self.crashpaneServe = ({ file, list, spare, id }) => {
  served = served
    .then(() => {
      crashpaneSpare.give(spare);
      return crashpanePlaces(file, list);
    })
    .then(
      (kept) => postMessage({ id, kept }, [...new Set(kept.buffers)]),
      (error) => postMessage({ id, problem: String(error?.message ?? error) }),
    );
};
