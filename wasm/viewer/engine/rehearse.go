package engine

import (
	"bytes"
	_ "embed"
	"io"
	"strconv"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/wire"
)

// A browser compiles a function of the program when it is called first, and all that opens, walks and describes a dump is called first
// when somebody waits for it; and it compiles it again, for speed, when it was at work for a while. So an engine that nobody has asked
// anything opens a made-up dump with made-up symbols, one small step at a time, and throws it away, and does so some times.

// Rehearsal is what there is to do.
type Rehearsal struct {
	e      *Engine
	source func(name string, content []byte) *input.Source
	steps  []func()
	again  int
}

// rehearsals is how often: until all that a real dump keeps at work is compiled for speed. With half as often, 20 functions were left that a large file then gave
// just enough to do: 70 ms of another core while somebody waited, against 12.
const rehearsals = 12

// packedOften is how often the packed file is packed one behind the other, which makes it one: until what unpacks is compiled for speed.
const packedOften = 60

// The dumps and the symbols of a library, as TestRehearsalFiles makes them.
//
//go:embed rehearsal/a.dmp
var rehearsalDump []byte

//go:embed rehearsal/w.dmp
var rehearsalWindows []byte

//go:embed rehearsal/b.sym.gz
var rehearsalSym []byte

// NewRehearsal prepares the steps. source makes a file of bytes in the way in which those come that are dropped.
func NewRehearsal(source func(name string, content []byte) *input.Source) *Rehearsal {
	r := &Rehearsal{source: source, again: rehearsals}
	r.begin()
	return r
}

// begin prepares the steps of one time.
func (r *Rehearsal) begin() {
	source := r.source
	r.again--
	r.e = New(func(r app.Reply) { wire.Append(nil, r) }, Options{})
	ask := func(req app.Request, src func() *input.Source) {
		r.steps = append(r.steps, func() {
			var back app.Request
			if wire.Read(wire.Append(nil, req), &back) != nil {
				return
			}
			var file *input.Source
			if src != nil {
				file = src()
			}
			r.e.Handle(back, file)
		})
	}
	add := func(name string, content []byte) {
		ask(app.Request{ID: 1, Op: app.OpAdd, Name: name}, func() *input.Source { return source(name, content) })
	}
	look := func(dump, parts int) {
		w := app.Span{Count: 60}
		ask(app.Request{ID: 1, Op: app.OpLook, Look: &app.Look{Dump: dump, Parts: parts, Thread: -1, Top: true, Threads: w, Stack: w, Modules: w, Wanted: w, Files: w, Content: w}}, nil)
	}
	add("a.dmp", rehearsalDump)
	look(0, app.PartSummary|app.PartThreads)
	add("b.sym.gz", bytes.Repeat(rehearsalSym, packedOften))
	const stack = app.PartSummary | app.PartThreads | app.PartStack | app.PartFrame
	first := r.again == rehearsals-1 // when steps are long, and the large file comes
	if first {
		look(0, stack)
	}
	add("c.sym", smallSymbols())
	look(0, stack)
	ask(app.Request{ID: 1, Op: app.OpAdd, Name: "a.sym"}, func() *input.Source { return input.New("a.sym", madeSymbols{}, madeSize) })
	r.steps = append(r.steps, func() { readSome(source("c", make([]byte, 16<<10))) })
	look(0, stack)
	add("w.dmp", rehearsalWindows)
	look(1, stack)
	look(0, app.PartsAll&^app.PartCompare)
	var idle func()
	idle = func() {
		if r.e.Idle() {
			r.steps = append([]func(){idle}, r.steps...)
		}
	}
	r.steps = append(r.steps, idle)
	look(0, app.PartsAll&^app.PartCompare)
}

// readSome reads a file in two places at once, as it is done with large ones.
func readSome(file *input.Source) {
	file.ReadMany([]input.Part{{Off: 0, Data: make([]byte, 64)}, {Off: 8 << 10, Data: make([]byte, 64)}, {Off: 12 << 10, Data: make([]byte, 64)}})
}

// Step does the next one and reports whether there are more. What goes wrong ends it; the real dump will say what it is.
func (r *Rehearsal) Step() (more bool) {
	defer func() {
		if recover() != nil {
			r.steps, more = nil, false
		}
	}()
	if len(r.steps) == 0 {
		return false
	}
	do := r.steps[0]
	r.steps = r.steps[1:]
	do()
	if len(r.steps) == 0 && r.again > 0 {
		r.begin()
	}
	return len(r.steps) > 0
}

// madeSymbols is a symbol file that is large enough to be searched, and that is nowhere: each of its functions is the same text with
// another address, and each text is as long as every other.
type madeSymbols struct{}

const (
	madeID    = "00112233445566778899AABBCCDDEEFF0"
	madeHead  = "MODULE Linux x86_64 " + madeID + " a\nFILE 0 /a/a.cc\nFILE 1 /a/b.h\nINLINE_ORIGIN 0 std::a<int, std::less<int> >::b()\n"
	madeFunc  = "FUNC 100000 40 0 a::b(std::vector<int, std::allocator<int> > const&)\nINLINE 0 7 1 0 100000 20\n100000 40 12 0\n"
	madeRules = "STACK CFI INIT 100000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 100000 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n"
	madeFuncs = 30_000
	madeFirst = 0x100000 // address of the first
	madeSize  = int64(len(madeHead) + madeFuncs*(len(madeFunc)+len(madeRules)))
)

// smallSymbols is the text of a file that is read as a whole, with records of every kind.
func smallSymbols() []byte {
	b := []byte("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFD0 c\nFILE 0 /a/c.cc\nFILE 1 /a/b.h\nINLINE_ORIGIN 0 std::a<int>::b()\n")
	for _, part := range []struct {
		text     string
		from, to int
		step     int // 1 where files are in order
	}{
		{"FILE 100000 /a/a.cc\n", 0, 300, 1},
		{"FUNC 100000 40 0 a::b(int)\nINLINE 0 7 1 0 100000 20\n100000 10 12 0\n100010 10 13 0\n100020 10 14 1\n100030 10 15 0\n", 0, 300, 1},
		{"PUBLIC 100000 0 _ZN1a1bEv\n", 0, 300, 97},
		{"STACK WIN 4 100000 40 3 0 8 8 10 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =\n", 150, 300, 97},
		{madeRules, 0, 150, 1},
	} {
		n := part.to - part.from
		for i := range n {
			b = madeText(b, part.text, part.from+i*part.step%n)
		}
	}
	return b
}

// ReadAt implements io.ReaderAt.
func (madeSymbols) ReadAt(p []byte, off int64) (n int, err error) {
	var room [len(madeRules)]byte
	for n < len(p) && off < madeSize {
		at := int(off) - len(madeHead)
		text, i := madeFunc, at/len(madeFunc)
		switch {
		case at < 0:
			text, at, i = madeHead, int(off), -1
		case at < madeFuncs*len(madeFunc):
			at %= len(madeFunc)
		default:
			at -= madeFuncs * len(madeFunc)
			text, i, at = madeRules, at/len(madeRules), at%len(madeRules)
		}
		var k int
		if i < 0 {
			k = copy(p[n:], text[at:])
		} else {
			k = copy(p[n:], madeText(room[:0], text, i)[at:])
		}
		n += k
		off += int64(k)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ReadManyAt implements input.ManyReader, as files of the browser do.
func (m madeSymbols) ReadManyAt(parts []input.Part) error {
	for _, p := range parts {
		if _, err := m.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// KeepManyAt implements input.ManyKeeper.
func (m madeSymbols) KeepManyAt(places []input.Range, _ bool) (wait func() (input.Kept, error)) {
	return func() (input.Kept, error) { return madeKept(places), nil }
}

// madeKept are places of madeSymbols.
type madeKept []input.Range

// Copy implements input.Kept.
func (m madeKept) Copy(i int, p []byte, from int64) error {
	_, err := madeSymbols{}.ReadAt(p, m[i].Offset+from)
	return err
}

// Release implements input.Kept.
func (madeKept) Release() {}

// madeText appends the text of a function: what begins as 1000 is the address of the first.
func madeText(b []byte, text string, i int) []byte {
	from := len(b)
	b = append(b, text...)
	for at := 0; at < len(text)-6; at++ {
		if text[at] != '1' || text[at:at+4] != "1000" {
			continue
		}
		in, _ := strconv.ParseUint(text[at+4:at+6], 16, 8)
		strconv.AppendUint(b[:from+at], madeFirst+0x40*uint64(i)+in, 16)
		at += 5
	}
	return b
}
