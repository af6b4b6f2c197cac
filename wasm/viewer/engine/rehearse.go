package engine

import (
	_ "embed"
	"io"
	"strconv"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/wire"
)

// A browser compiles a function of the program when it is called first, and all that opens, walks and describes a dump is called first
// when somebody waits for it. So an engine that nobody has asked anything opens a made-up dump with made-up symbols, one small step at a
// time, and throws it away.

// Rehearsal is what there is to do.
type Rehearsal struct {
	e     *Engine
	steps []func()
}

// The dump and the symbols of its library, as TestRehearsalFiles makes them.
//
//go:embed rehearsal/a.dmp
var rehearsalDump []byte

//go:embed rehearsal/b.sym.gz
var rehearsalSym []byte

// NewRehearsal prepares the steps. source makes a file of bytes in the way in which those come that are dropped.
func NewRehearsal(source func(name string, content []byte) *input.Source) *Rehearsal {
	r := &Rehearsal{e: New(func(r app.Reply) { wire.Append(nil, r) }, Options{})}
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
	look := func(parts int) {
		w := app.Span{Count: 20}
		ask(app.Request{ID: 1, Op: app.OpLook, Look: &app.Look{Parts: parts, Thread: -1, Top: true, Threads: w, Stack: w, Modules: w, Wanted: w, Files: w, Content: w}}, nil)
	}
	add("a.dmp", rehearsalDump)
	look(app.PartSummary | app.PartThreads)
	add("b.sym.gz", rehearsalSym)
	ask(app.Request{ID: 1, Op: app.OpAdd, Name: "a.sym"}, func() *input.Source { return input.New("a.sym", madeSymbols{}, madeSize) })
	r.steps = append(r.steps, func() { readSome(source("c", make([]byte, 16<<10))) })
	look(app.PartSummary | app.PartThreads | app.PartStack | app.PartFrame)
	look(app.PartsAll &^ app.PartCompare)
	r.steps = append(r.steps, func() {
		for r.e.Idle() {
		}
	})
	look(app.PartsAll &^ app.PartCompare)
	return r
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
	return len(r.steps) > 0
}

// madeSymbols is a symbol file that is large enough to be searched, and that is nowhere: each of its functions is the same text with
// another address, and each text is as long as every other.
type madeSymbols struct{}

const (
	madeID    = "00112233445566778899AABBCCDDEEFF0"
	madeHead  = "MODULE Linux x86_64 " + madeID + " a\nFILE 0 /a/a.cc\nFILE 1 /a/b.h\nINLINE_ORIGIN 0 std::a<int>::b()\n"
	madeFunc  = "FUNC 100000 40 0 a::b(int)\nINLINE 0 7 1 0 100000 20\n100000 40 12 0\n"
	madeRules = "STACK CFI INIT 100000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 100000 .cfa: $rsp 16 + $rbx: .cfa -16 + ^\n"
	madeFuncs = 30_000
	madeFirst = 0x100000 // address of the first
	madeSize  = int64(len(madeHead) + madeFuncs*(len(madeFunc)+len(madeRules)))
)

// ReadAt implements io.ReaderAt.
func (madeSymbols) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < madeSize {
		at := int(off) - len(madeHead)
		text := madeFunc
		switch {
		case at < 0:
			text, at = madeHead, int(off)
		case at < madeFuncs*len(madeFunc):
			text, at = madeText(madeFunc, at/len(madeFunc)), at%len(madeFunc)
		default:
			at -= madeFuncs * len(madeFunc)
			text, at = madeText(madeRules, at/len(madeRules)), at%len(madeRules)
		}
		k := copy(p[n:], text[at:])
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

// madeText is the text of a function.
func madeText(text string, i int) string {
	address := strconv.FormatInt(madeFirst+0x40*int64(i), 16)
	out := []byte(text)
	for at := 0; at+6 <= len(out); at++ {
		if string(out[at:at+6]) == "100000" {
			at += copy(out[at:], address)
		}
	}
	return string(out)
}
