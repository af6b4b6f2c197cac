package engine

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// memories has the memory of the dump that the page shows, and what was searched in it.
type memories struct {
	of     *report.Report
	all    *session.Memory
	search search
}

// memory returns all memory of a dump, made once for a report.
func (e *Engine) memory(dump int) (*session.Memory, error) {
	if of := e.viewed[dump]; e.memories.of != of || e.memories.all == nil {
		all, err := e.files.Session(dump).WholeMemory()
		if err != nil {
			return nil, err
		}
		e.memories.of, e.memories.all = of, all
	}
	return e.memories.all, nil
}

// pointee returns the function that says what an address of a dump is in, without private texts.
func (e *Engine) pointee(dump int) func(uint64) report.Pointee {
	all, err := e.memory(dump)
	if err != nil {
		return func(uint64) report.Pointee { return report.Nowhere() }
	}
	return func(address uint64) report.Pointee { return all.At(address, false) }
}

// addMemoryParts adds what is about the memory of the process.
func (e *Engine) addMemoryParts(r *protocol.MemoryResult, q protocol.Query, v *view.View) {
	if w := q.Memory.Places; w != nil {
		r.Places = &protocol.PlacesPage{Of: w.Text, Rows: v.Places(w.Text, e.pointee(q.Dump))}
	}
	if q.Memory.Rows != nil {
		r.Rows, _ = e.memoryPage(v, q) // without it the page shows what it had
	}
	if w := q.Memory.Stack; w != nil {
		r.Stack = e.stackWords(v, q.Dump, q.Selection, *w)
	}
	if q.Memory.Hits != nil {
		r.Hits = e.hits(v, q.Dump, *q.Memory.Hits)
	}
}

// stackWords makes a window of the words of the selected thread's stack; nil if it cannot be read.
func (e *Engine) stackWords(v *view.View, dump int, at protocol.Selection, w protocol.StackWordsQuery) *rows.StackWordPage {
	all, err := e.memory(dump)
	if err != nil {
		return nil
	}
	from := w.Span.From
	if w.Around {
		from = -1
	}
	part, err := all.StackWords(at.Thread, at.Frame, from, w.Span.Count)
	if err != nil {
		return nil
	}
	page := v.StackWords(part, e.redact)
	return &page
}

// memoryPage makes a window of the memory. Without an address it is that of the selected frame's
// stack pointer.
func (e *Engine) memoryPage(v *view.View, q protocol.Query) (*rows.MemoryPage, error) {
	w := q.Memory.Rows
	unit, ok := view.MemoryUnits[w.Form]
	if !ok {
		return nil, fmt.Errorf("memory has no form %q", rows.Clean(w.Form))
	}
	all, err := e.memory(q.Dump)
	if err != nil {
		return nil, err
	}
	if unit == 0 {
		unit = max(v.Report().Dump.WordSize, 4)
	}
	address := w.Address
	if rep := v.Report(); address == 0 && q.Thread < len(rep.Threads) && q.Frame < len(rep.Threads[q.Thread].Frames) {
		if regs := rep.Threads[q.Thread].Frames[q.Frame].Regs; regs != nil && regs.Arch != nil {
			address, _ = regs.Get(regs.Arch.SP)
		}
	}
	from := w.Span.From
	if w.Around {
		from = -1
	}
	texts := w.Texts && !e.redact
	part, err := all.Part(address, unit, w.Form == rows.MemoryWords, texts, from, w.Span.Count)
	if err != nil {
		return nil, err
	}
	page := v.Memory(part, all.At(address, texts), view.MemoryWish{Form: w.Form, Texts: texts, Redacted: e.redact})
	return &page, nil
}

// search is a search of the memory of a dump, in steps that the page asks for.
type search struct {
	dump     int
	of       *session.Memory
	steps    *session.MemorySearch
	patterns []session.Pattern
	texts    []session.StackText // in place of steps: the texts near a stack
	rows     []hitRow
	region   string // of the last row
	seen     int    // hits that are in rows
}

// hitRow is a hit, or the heading of a region's.
type hitRow struct {
	region  string
	address uint64
	as      string
}

// searchStep is how many bytes of memory are searched before the engine answers, so that other requests wait
// for about 100 ms.
const searchStep = 32 << 20

// findMemory begins a search, or goes on with it.
func (e *Engine) findMemory(q *protocol.FindMemory) (*protocol.MemoryFound, error) {
	f := &e.memories.search
	s := e.session(q.Dump)
	if s == nil {
		return &protocol.MemoryFound{Ended: true}, fmt.Errorf("there is no such dump")
	}
	if !q.Next {
		*f = search{dump: q.Dump}
		if err := e.beginSearch(f, s, q); err != nil {
			return &protocol.MemoryFound{Ended: true}, err
		}
	}
	if f.steps == nil || f.dump != q.Dump {
		return &protocol.MemoryFound{Ended: true, Hits: len(f.texts), Rows: len(f.rows)}, nil
	}
	err := f.steps.Step(searchStep)
	for ; f.seen < len(f.steps.Hits); f.seen++ {
		hit := f.steps.Hits[f.seen]
		f.add(hit.Address, f.patterns[hit.Pattern].As)
	}
	return &protocol.MemoryFound{Done: f.steps.Done, Total: f.steps.Total, Hits: len(f.steps.Hits), Rows: len(f.rows), More: f.steps.More, Ended: f.steps.Ended || err != nil}, err
}

// add adds a hit, after the heading of its region if it is the first there.
func (f *search) add(address uint64, as string) {
	if region := f.of.Region(address); region != f.region {
		f.region, f.rows = region, append(f.rows, hitRow{region: region})
	}
	f.rows = append(f.rows, hitRow{address: address, as: as})
}

func (e *Engine) beginSearch(f *search, s *session.Session, q *protocol.FindMemory) (err error) {
	if f.of, err = e.memory(q.Dump); err != nil {
		return err
	}
	what := strings.TrimSpace(q.Text)
	// An answer to "is this text in memory?" would tell what is in it.
	if e.redact && q.Kind != protocol.FindPointers {
		return fmt.Errorf("the host page lets this viewer search only for pointers")
	}
	switch q.Kind {
	case protocol.FindText:
		if q.Text != "" {
			f.patterns = s.TextPatterns(q.Text)
		}
	case protocol.FindBytes:
		b, err := hex.DecodeString(strings.Map(func(r rune) rune {
			if r == ' ' || r == '-' {
				return -1
			}
			return r
		}, strings.TrimPrefix(what, "0x")))
		if err != nil {
			return fmt.Errorf("write bytes as hexadecimal digits, such as: 7f 45 4c 46")
		}
		f.patterns = []session.Pattern{{Bytes: b}}
	case protocol.FindPointers:
		a, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(what, "`", "")), "0x"), 16, 64)
		if err != nil {
			return fmt.Errorf("write an address, such as: 0x7ffe1000")
		}
		f.patterns = []session.Pattern{s.PointerPattern(a)}
	case protocol.FindStackTexts:
		if f.texts, err = f.of.StackTexts(q.Thread); err != nil {
			return err
		}
		for _, t := range f.texts {
			f.add(t.Address, t.Text)
		}
		return nil
	}
	f.steps, err = f.of.Search(f.patterns)
	return err
}

// hits makes a window of what was found.
func (e *Engine) hits(v *view.View, dump int, span protocol.Span) *rows.HitPage {
	f := &e.memories.search
	out := &rows.HitPage{Rows: []rows.HitRow{}}
	if f.of == nil || f.dump != dump {
		return out
	}
	out.Total = len(f.rows)
	out.From = max(0, min(span.From, out.Total))
	for _, r := range f.rows[out.From:min(out.From+span.Count, out.Total)] {
		out.Rows = append(out.Rows, v.Hit(r.region, r.address, r.as, f.of.At(r.address, false)))
	}
	return out
}
