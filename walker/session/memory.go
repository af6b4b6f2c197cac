package session

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
)

// MemoryView returns size bytes of memory from an address on: the dump's, and where it has none that
// of the programs that were added. texts says whether to show the text that words point to, which may
// be private.
//
// Its rows begin at that very byte, and each has all of its words. Those of Memory.Part have numbers among the rows of
// all memory, so that the page can scroll; to make one of the other would take the code of both.
func (s *Session) MemoryView(start uint64, size int, texts bool) (*report.MemoryView, error) {
	const row = 16
	if err := s.Src.Draw(input.Work, int64(size)*codeWork); err != nil {
		return nil, err
	}
	points := s.pointers(texts)
	out := &report.MemoryView{Start: start, WordSize: points.word}
	for at := start; at-start < uint64(size) && at >= start; at += row {
		p := make([]byte, min(row, uint64(size)-(at-start)))
		n := s.Memory.Read(at, p)
		r := report.MemoryRow{Address: at, From: "dump"}
		if n == 0 {
			if n, r.From = s.Dump.Code(at, p), ""; n > 0 {
				if m, _ := s.walked.walker.Modules.Find(at); m >= 0 {
					r.From = s.Modules[m].Name
				}
			}
		}
		r.Bytes = p[:n]
		for w := 0; w+points.word <= n; w += points.word {
			value := points.value(p[w:])
			r.Words = append(r.Words, report.MemoryWord{Address: at + uint64(w), Value: value, Points: points.at(value)})
		}
		out.Rows = append(out.Rows, r)
	}
	return out, nil
}

// Pointee says what an address is in.
func (s *Session) Pointee(address uint64, texts bool) report.Pointee {
	return s.Pointees(texts)(address)
}

// Pointees returns the function that says what an address is in, for many addresses. It is valid for
// as long as the report is.
func (s *Session) Pointees(texts bool) func(address uint64) report.Pointee {
	return s.pointers(texts).at
}

// pointers finds what addresses are in.
type pointers struct {
	s      *Session
	c      coder
	ranges []report.MemoryRange // sorted by start
	frames []frameMemory        // sorted by start
	stacks []frameMemory        // of whole threads, whose frame is -1; sorted by start
	texts  bool
	word   int
}

// frameMemory is the memory of a frame: from its stack pointer to that of its caller. frame is its number in the whole
// stack.
type frameMemory struct {
	start, end    uint64
	thread, frame int
}

func (s *Session) pointers(texts bool) *pointers {
	r := s.present()
	p := &pointers{s: s, c: coder{of: s, arch: s.Arch()}, ranges: report.MemoryMap(s.Dump, r), texts: texts, word: 8}
	if p.c.arch != nil {
		p.word = p.c.arch.WordSize
	}
	slices.SortStableFunc(p.ranges, func(a, b report.MemoryRange) int { return cmp.Compare(a.Start, b.Start) })
	for t := range s.walked.stacks {
		if th := &s.Threads[t]; th.Stack.Size > 0 {
			p.stacks = append(p.stacks, frameMemory{th.StackStart, th.StackStart + th.Stack.Size, t, -1})
		}
		frames := s.walked.stacks[t].Frames
		for i := range frames {
			sp := frames[i].Regs.SP()
			m := frameMemory{start: sp, end: sp, thread: t, frame: r.Threads[t].Number(i)}
			if i+1 < len(frames) {
				m.end = frames[i+1].Regs.SP()
				if frames[i+1].Skipped != nil { // others are between them
					m.end = frames[i].CFA
				}
			}
			if m.end > m.start {
				p.frames = append(p.frames, m)
			}
		}
	}
	for _, list := range [][]frameMemory{p.stacks, p.frames} {
		slices.SortStableFunc(list, func(a, b frameMemory) int { return cmp.Compare(a.start, b.start) })
	}
	return p
}

// order is the dump's byte order.
func (s *Session) order() binary.ByteOrder {
	if s.Header.Order == nil {
		return binary.LittleEndian
	}
	return s.Header.Order
}

// value reads a word.
func (p *pointers) value(b []byte) uint64 {
	order := p.s.order()
	if p.word == 4 {
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// firstPage is the first address of a program: what is below is a number.
const firstPage = 0x1000

// at says what an address is in.
func (p *pointers) at(address uint64) report.Pointee {
	out := p.in(address)
	if address < firstPage {
		return out
	}
	out.Place = p.c.place(address)
	if p.texts {
		out.Text = p.text(address)
	}
	return out
}

// in says what an address is in, without its module.
func (p *pointers) in(address uint64) report.Pointee {
	out := report.Nowhere()
	if address < firstPage {
		return out
	}
	for _, list := range [][]frameMemory{p.stacks, p.frames} {
		if i := sort.Search(len(list), func(i int) bool { return list[i].start > address }) - 1; i >= 0 && address < list[i].end {
			out.Thread, out.Frame = list[i].thread, list[i].frame
		}
	}
	if i := sort.Search(len(p.ranges), func(i int) bool { return p.ranges[i].Start > address }) - 1; i >= 0 && address-p.ranges[i].Start < p.ranges[i].Size {
		out.Range = &p.ranges[i]
	}
	return out
}

// text returns the printable text at an address, of at least 4 bytes, up to 40.
func (p *pointers) text(address uint64) string {
	var b [40]byte
	text, _ := printable(b[:p.s.Dump.Code(address, b[:])])
	if len(text) < 4 {
		return ""
	}
	return text
}

// printable returns the text at the beginning of some bytes, and how many of them it takes: in ASCII, or in UTF-16 of
// these characters.
func printable(p []byte) (text string, size int) {
	const most = 40
	is := func(c byte) bool { return c >= ' ' && c <= '~' }
	n := 0
	for n < min(len(p), most) && is(p[n]) {
		n++
	}
	if n != 1 {
		return string(p[:n]), n
	}
	var wide []byte
	for i := 0; i+1 < len(p) && len(wide) < most && is(p[i]) && p[i+1] == 0; i += 2 {
		wide = append(wide, p[i])
	}
	return string(wide), 2 * len(wide)
}
