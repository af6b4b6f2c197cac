package symfile

import (
	"errors"
	"slices"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Where one read costs as much as the work on what it gives, and many at once cost less, lookups whose addresses are known
// beforehand are prepared: each is begun, and where it lacks a slice, the slice is noted instead of read. What all of them lack is then
// read at once, and they are begun again, until none lacks anything. Addresses are taken in order, so that what is read at once lies
// close together; names stand elsewhere in the file, and are taken in their order when all of them are known. Where they lie so close that
// most of the file would be read, it is, by streams (see streaming).

// errAhead says that a slice is not at hand and was noted. It does not leave the package.
var errAhead = errors.New("to be read ahead")

const (
	// maxAheadRounds bounds how often lookups are begun: a search by proportion takes two or three slices, a function of many
	// lines lies in several.
	maxAheadRounds = 24
	// aheadBatch is how many lookups are prepared at a time, and how many places are read at once: what is read for them has to fit beside
	// each other (mostCached). With half as many, what each round costs by itself is more than what is gained by reading one while the
	// other is worked on; with more, it is only memory.
	aheadBatch = 192
	// aheadSlices is how many slices are read of each place: of many places that are read at once the bytes count, too. With half as many,
	// one lookup in five lacks another place, and reading that costs more than the bytes.
	aheadSlices = 16
	// aheadFirst is how many lookups are prepared before all others if there are at least firstFrom.
	aheadFirst, firstFrom = 96, 4 * aheadBatch
	// maxAhead is how many functions are prepared until their names are.
	maxAhead = mostNames / 2
	// aFile marks the number of a FILE among those of INLINE_ORIGINs.
	aFile = 1 << 32
)

// ahead is what lookups lack.
type ahead struct {
	spans  [][2]int64 // slices from and up to
	noted  []int64    // the slice of each that a lookup came to
	slices int64      // how many are read of each place
	missed bool       // the lookup that was begun last lacks something
	unsure bool       // of the next place twice as many are read
	round  int        // how often the lookups were begun
}

// unlessAhead has a lookup that is only prepared go on without a name, so that all names that it lacks are noted.
func unlessAhead(err error) error {
	if err == errAhead {
		return nil
	}
	return err
}

// Preparation fetches what lookups will read, in parts. No answer is another one for it. It fails in silence: the lookups will meet the
// same error and tell.
type Preparation struct {
	f         *File
	rules     []uint64 // addresses, and
	asked     []uint64 // those of functions
	located   map[uint64]located
	origins   []uint64
	files     []uint64
	gathered  bool // the names of what is located are known
	flying    []*batch
	streaming *streaming // lookups off the list streamed, for which streams were tried last
	streamed  *[]uint64
	spread    *[]uint64 // the list of which some were taken first, if need be
	few       bool      // its functions are one batch; the names of more are many, and found by each other
}

// batch are lookups that are prepared together.
type batch struct {
	args   []uint64 // of those that lack something
	begin  func(uint64) error
	per    int64 // how many slices are read of each place
	rounds int
	first  bool // what comes after it is guessed by what it finds
	found  *guesses
	also   func() error // what is prepared beside the lookups; nil if nothing is, or no more
	noted  []int64      // the slices that they came to and that were not at hand
	lacks  *flight      // what they lack, if it is under way
}

// guesses are how many lookups were prepared, and how many lacked more when there was what they lacked first.
type guesses struct{ all, wrong int }

// Prepare begins to fetch what CFI, Row and FrameData will read for the addresses in rules, and Lookup for those in functions. There is
// nothing to do unless the Source reads many places at once (input.Source.ReadsMany) and the file is searched where it lies.
func (f *File) Prepare(rules, functions []uint64) *Preparation {
	p := &Preparation{f: f}
	if f.readsAhead() {
		f.sparse.landAll()
		if st := f.sparse.streaming; st != nil { // whoever wanted it has gone
			st.end()
		}
		p.rules = ascending(rules, f.lacksRules)
		p.asked = ascending(functions, func(rva uint64) bool { return !f.symbols.has(rva) })
		p.few = len(p.asked) <= aheadBatch
	}
	return p
}

func (f *File) readsAhead() bool { return f.sparse != nil && f.src.ReadsMany() }

// Lacks reports whether Prepare would have rules to fetch for an address.
func (f *File) Lacks(rva uint64) bool { return f.readsAhead() && f.lacksRules(rva) }

func (f *File) lacksRules(rva uint64) bool {
	return !f.found.has(rva) && !f.rows.has(rva)
}

// ascending are those values that are wanted, sorted, each once.
func ascending(all []uint64, wanted func(uint64) bool) []uint64 {
	out := make([]uint64, 0, len(all))
	for _, v := range all {
		if wanted(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// All does all that is left, at once: of few lookups in one batch, of many as Step does it.
func (p *Preparation) All() {
	most := 1
	if len(p.rules) >= firstFrom || len(p.asked) >= firstFrom {
		most = 2
	}
	for p.step(most) {
	}
}

// Step does a part of the work, and reports whether there is more. What is to be read next is read between two steps, where the Source can
// do so.
func (p *Preparation) Step() (more bool) {
	return p.step(2)
}

// step is Step with so many batches under way.
func (p *Preparation) step(most int) (more bool) {
	f := p.f
	if !f.readsAhead() { // it has an index by now
		if p.streaming != nil {
			p.streaming.end()
			p.streaming = nil
		}
		return false
	}
	if p.streaming != nil {
		return p.streamOn()
	}
	if most > 1 && p.stream() {
		return true
	}
	if len(p.flying) < most && !(len(p.flying) > 0 && p.flying[0].first) {
		if b := p.next(); b != nil {
			if b.also = f.sparse.filesToo(); b.also == nil && p.few && b.found == &f.sparse.funcsFound {
				b.also = f.sparse.originsToo()
			}
			return p.fly(b, most > 1)
		}
	}
	if len(p.flying) > 0 {
		b := p.flying[0]
		p.flying = p.flying[1:]
		return p.fly(b, most > 1)
	}
	if !p.gathered && len(p.located) > 0 {
		p.gather()
		return true
	}
	for rva, at := range p.located {
		s, err := f.named(at)
		if err != nil {
			return false
		}
		f.symbols.put(rva, s)
	}
	p.located, p.gathered = nil, false
	return len(p.asked) > 0
}

// fly goes on with a batch, and reports whether all is well.
func (p *Preparation) fly(b *batch, apart bool) (ok bool) {
	s := p.f.sparse
	s.preparing = true
	b.first = b.first && b.rounds == 0
	if ok = s.begin(b, apart); ok && (len(b.args) > 0 || b.also != nil) {
		p.flying = append(p.flying, b)
	}
	if s.preparing = false; len(p.flying) == 0 {
		s.room(0)
	}
	return ok
}

// next is the next batch of lookups, nil if those that are under way come first.
func (p *Preparation) next() *batch {
	f := p.f
	switch {
	case len(p.rules) > 0:
		return p.someOf(&p.rules, &f.sparse.rulesFound, f.rulesAt, aheadBatch)
	case len(p.asked) > 0 && len(p.located) < maxAhead && !p.gathered:
		return p.someOf(&p.asked, &f.sparse.funcsFound, p.locate, maxAhead-len(p.located))
	case p.gathered && len(p.origins)+len(p.files) > 0:
		// File numbers come behind the origins' in one list, so that the last of both are read together.
		names := cut(&p.origins, aheadBatch)
		n := aheadBatch - len(names)
		if f.sparse.bytesOfSection(phaseFiles)+int64(len(names))*defaultSlice < mostCached {
			n = len(p.files)
		}
		for _, num := range cut(&p.files, n) {
			names = append(names, num|aFile)
		}
		return &batch{args: names, begin: p.nameOf, per: aheadSlices}
	}
	return nil
}

// someOf are the next lookups of a list, at most so many. Where guesses were wrong, some of many come first, from everywhere: by what they
// find the others are guessed better.
func (p *Preparation) someOf(list *[]uint64, found *guesses, begin func(uint64) error, most int) *batch {
	b := &batch{found: found, begin: begin, per: aheadSlices}
	all, n := *list, min(aheadBatch, most)
	if p.spread != list && len(all) >= firstFrom && found.wrong*4 >= found.all {
		first, rest := make([]uint64, 0, len(all)), make([]uint64, 0, len(all))
		for i, v := range all {
			if (i+1)*aheadFirst/len(all) > i*aheadFirst/len(all) {
				first = append(first, v)
			} else {
				rest = append(rest, v)
			}
		}
		n, b.first, *list = len(first), true, append(first, rest...)
	}
	p.spread = list
	b.args = cut(list, n)
	return b
}

// stream begins to read by streams what comes next, if that is worth while and was not tried.
func (p *Preparation) stream() (began bool) {
	s := p.f.sparse
	var list *[]uint64
	switch {
	case len(p.rules) > 0:
		if list = &p.rules; p.streamed != list && !s.present[phaseWin] && !s.present[phaseWinNext] {
			p.streaming = s.stream(list, markInit, p.f.rulesAt)
		}
	case len(p.asked) > 0 && len(p.located) < maxAhead && !p.gathered:
		if list = &p.asked; p.streamed != list {
			some := cut(list, maxAhead-len(p.located))
			p.streaming = s.stream(&some, markFunc, p.locate)
			*list = append(some, *list...)
		}
	case p.gathered && len(p.origins) > 0:
		if list = &p.origins; p.streamed != list {
			p.streaming = s.stream(list, markOrigin, p.nameOf)
		}
	}
	p.streamed = list
	return p.streaming != nil
}

// streamOn goes on with it, and reports whether all is well. What the streams left is prepared as what they were not begun for.
func (p *Preparation) streamOn() (ok bool) {
	more, err := p.streaming.some(p.f.sparse)
	if !more {
		*p.streamed = ascending(append(*p.streamed, p.streaming.end()...), func(uint64) bool { return true })
		p.streaming = nil
	}
	return err == nil
}

// locate finds a function.
func (p *Preparation) locate(rva uint64) error {
	at, ans, err := p.f.locate(rva)
	if err == nil && ans == symbol.Yes {
		if p.located == nil {
			p.located = map[uint64]located{}
		}
		p.located[rva] = at
	}
	return err
}

// nameOf finds the name of an INLINE_ORIGIN, or of a FILE.
func (p *Preparation) nameOf(num uint64) error {
	if num&aFile != 0 {
		_, err := p.f.fileName(uint32(num))
		return err
	}
	_, err := p.f.originName(uint32(num))
	return err
}

// gather notes the names of what is located that are not known.
func (p *Preparation) gather() {
	var origins, files []uint64
	for _, at := range p.located {
		files = append(files, uint64(at.file))
		for _, in := range at.inlines {
			origins, files = append(origins, uint64(in.origin)), append(files, uint64(in.file))
		}
	}
	p.origins = ascending(origins, func(num uint64) bool { return !p.f.origNames.has(uint32(num)) })
	p.files = ascending(files, func(num uint64) bool { return num != noFile && !p.f.fileNames.has(uint32(num)) })
	p.gathered = true
}

// cut takes up to n values off a list.
func cut(list *[]uint64, n int) []uint64 {
	n = min(n, len(*list))
	head := (*list)[:n:n]
	*list = (*list)[n:]
	return head
}

// foundRules are the unwind records for an address as they were found ahead.
type foundRules struct {
	cfi     CFIRecord
	covered bool
	win     unwind.FrameData
	answer  symbol.Answer
	noWin   bool // STACK WIN records were not looked for
}

// rulesAt finds the unwind records for an address, and keeps them.
func (f *File) rulesAt(rva uint64) error {
	var e foundRules
	var err error
	e.answer = symbol.No
	if e.cfi, e.covered, err = f.cfi(rva); err != nil && err != errAhead {
		return err
	}
	e.noWin = f.sparse.bounded
	if f.sparse.present[phaseWin] || f.sparse.present[phaseWinNext] {
		var problem error
		if e.win, e.answer, problem = f.frameData(rva); problem != nil {
			return problem
		}
	}
	if err == nil && !f.sparse.ahead.missed {
		f.found.put(rva, e)
	}
	return err
}

// readAhead begins the lookups of some arguments until all that they read is at hand. per is how many slices are read of each place.
func (s *sparse) readAhead(args []uint64, per int64, begin func(uint64) error) {
	was := s.preparing
	s.preparing = true
	defer func() { s.preparing = was }()
	b := &batch{args: args, begin: begin, per: per}
	for s.begin(b, false) && len(b.args) > 0 {
	}
}

// begin waits until there is what the lookups of a batch lack, and begins them again. Then those are left that lack more, which is under way
// if it is read apart, and else at hand. It reports whether that went well.
func (s *sparse) begin(b *batch, apart bool) (ok bool) {
	if b.lacks != nil && s.land(b.lacks) != nil {
		return false
	}
	b.lacks = nil
	if !apart {
		s.landAll() // what it lacks may be among that
	}
	if b.rounds++; b.rounds > maxAheadRounds {
		b.args, b.also = nil, nil
		return true
	}
	if s.borders && s.findBorders() != nil {
		return false
	}
	if s.lookAtNoted(b.noted) != nil {
		return false
	}
	s.ahead = &ahead{slices: b.per, round: b.rounds}
	left := make([]uint64, 0, len(b.args))
	var failed error
	for _, arg := range b.args {
		s.ahead.missed = false
		err := b.begin(arg)
		switch {
		case s.ahead.missed:
			left = append(left, arg)
		case err != nil:
			failed = err
		}
	}
	if b.also != nil {
		s.ahead.missed = false
		if b.also(); !s.ahead.missed {
			b.also = nil
		}
	}
	if b.rounds == 2 && b.found != nil {
		b.found.all += len(b.args)
		b.found.wrong += len(left)
	}
	spans := s.ahead.spans
	b.noted = s.ahead.noted
	s.ahead, b.args = nil, left
	if failed != nil {
		s.forget(spans)
		return false
	}
	if apart && len(spans) <= aheadBatch {
		b.lacks = s.start(spans, true)
		return true
	}
	for some := range slices.Chunk(spans, aheadBatch) {
		if s.land(s.start(some, false)) != nil {
			s.forget(spans)
			return false
		}
	}
	return true
}

// lookAtNoted has all slices that lookups came to make knots before the first lookup goes on: with those of others alone it would guess anew, and
// somewhere else. Where one has nothing but the lines of a long function, that is looked for before it.
func (s *sparse) lookAtNoted(noted []int64) error {
	for _, n := range noted {
		for s.shelf.find(n) != nil {
			sl, err := s.load(n)
			if err != nil {
				return err
			}
			if sl.marked() {
				break
			}
			n--
		}
	}
	return nil
}
