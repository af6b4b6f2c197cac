package session

import (
	"cmp"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
)

// Memory is all memory that the dump and the programs that were added have, in the order of its
// addresses. It is valid for as long as the report is.
type Memory struct {
	s      *Session
	spans  []memorySpan // sorted, without overlap
	points *pointers
	rows   memoryRows
}

// memorySpan is a run of memory that is there: the dump's if module is -1, else that of a module's
// program. last is the address of its last byte.
type memorySpan struct {
	start, last uint64
	module      int
}

// WholeMemory returns all memory that there is.
func (s *Session) WholeMemory() (*Memory, error) {
	s.present()
	m := &Memory{s: s, points: s.pointers(false)}
	regions := s.Memory.Regions()
	if err := s.Src.Draw(input.Work, int64(len(regions)+len(s.Modules))); err != nil {
		return nil, err
	}
	for _, r := range regions {
		last := r.Start + (r.Loc.Size - 1)
		if n := len(m.spans); n > 0 && m.spans[n-1].last+1 == r.Start {
			m.spans[n-1].last = last
			continue
		}
		m.spans = append(m.spans, memorySpan{r.Start, last, -1})
	}
	dump := slices.Clip(m.spans)
	for i := range s.Modules {
		for _, p := range s.programParts(i) {
			m.spans = appendUncovered(m.spans, dump, p)
		}
	}
	slices.SortFunc(m.spans, func(a, b memorySpan) int { return cmp.Compare(a.start, b.start) })
	// Modules of damaged dumps overlap.
	kept := m.spans[:0]
	for _, p := range m.spans {
		if n := len(kept); n > 0 && kept[n-1].last >= p.start {
			if kept[n-1].last >= p.last {
				continue
			}
			p.start = kept[n-1].last + 1
		}
		kept = append(kept, p)
	}
	m.spans = kept
	return m, nil
}

// programParts are the sections of a module's program, if it was added.
func (s *Session) programParts(i int) (out []memorySpan) {
	m := &s.modules[i]
	if m.bin == nil || m.binAssigned || m.unplaced != "" {
		return nil
	}
	base, size := s.Modules[i].Base, s.Modules[i].Size
	for _, g := range m.bin.Identity.Sections {
		if g.Size > 0 && g.Start < size && base+g.Start >= base {
			out = append(out, memorySpan{base + g.Start, base + min(g.Start+(g.Size-1), size-1), i})
		}
	}
	if len(m.bin.Identity.Sections) == 0 && size > 0 {
		out = append(out, memorySpan{base, base + (size - 1), i})
	}
	return slices.DeleteFunc(out, func(p memorySpan) bool { return p.last < p.start })
}

// appendUncovered appends the parts of p that no span of have covers; have is sorted.
func appendUncovered(to, have []memorySpan, p memorySpan) []memorySpan {
	for i := sort.Search(len(have), func(i int) bool { return have[i].last >= p.start }); ; i++ {
		if i == len(have) || have[i].start > p.last {
			return append(to, p)
		}
		if have[i].start > p.start {
			to = append(to, memorySpan{p.start, have[i].start - 1, p.module})
		}
		if have[i].last >= p.last {
			return to
		}
		p.start = have[i].last + 1
	}
}

// At says what an address is in. texts says whether to show the text there, which may be private.
func (m *Memory) At(address uint64, texts bool) report.Pointee {
	m.points.texts = texts
	return m.points.at(address)
}

// read reads the bytes of a span.
func (m *Memory) read(p *memorySpan, address uint64, to []byte) int {
	if n := p.last - address; n < uint64(len(to))-1 {
		to = to[:n+1]
	}
	if p.module < 0 {
		return m.s.Memory.Read(address, to)
	}
	return m.s.programBytes(address, to)
}

// memoryRows numbers the rows of all memory, with unit bytes in a row: a row's address is a multiple of
// unit. Before each span, and after the last one, there is a row for the gap, if there is one.
type memoryRows struct {
	unit  uint64
	first []uint64 // the number of the first row of each span, without its gap
	total uint64
}

func (m *Memory) number(unit uint64) *memoryRows {
	r := &m.rows
	if r.unit == unit {
		return r
	}
	*r = memoryRows{unit: unit, first: make([]uint64, len(m.spans))}
	for i := range m.spans {
		p := &m.spans[i]
		if m.gapBefore(i) > 0 {
			r.total++
		}
		r.first[i] = r.total
		r.total += p.last/unit - p.start/unit + 1
	}
	if m.gapBefore(len(m.spans)) > 0 {
		r.total++
	}
	return r
}

// gapBefore is the size of the gap before a span, or with the number of spans after the last one. It is
// one byte too small where all addresses are missing.
func (m *Memory) gapBefore(i int) uint64 {
	from := m.after(i)
	switch {
	case i < len(m.spans):
		return m.spans[i].start - from
	case i > 0 && from == 0: // the last byte of all is there
		return 0
	case m.points.word == 4:
		return max(from, 1<<32) - from
	}
	return -max(from, 1)
}

// after is the address after the span before a span.
func (m *Memory) after(i int) uint64 {
	if i == 0 {
		return 0
	}
	return m.spans[i-1].last + 1
}

// rowOf returns the number of the row that an address is in.
func (m *Memory) rowOf(r *memoryRows, address uint64) uint64 {
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].last >= address })
	switch {
	case i == len(m.spans):
		return max(r.total, 1) - 1
	case address < m.spans[i].start:
		return r.first[i] - 1
	}
	return r.first[i] + address/r.unit - m.spans[i].start/r.unit
}

// row makes a row; words and their meanings come later.
func (m *Memory) row(r *memoryRows, n uint64) report.MemoryRow {
	i := sort.Search(len(r.first), func(i int) bool { return r.first[i] > n }) - 1 // the span whose first row is not after it
	if i >= 0 {
		p := &m.spans[i]
		if k := n - r.first[i]; k <= p.last/r.unit-p.start/r.unit {
			base := (p.start/r.unit + k) * r.unit
			at := max(base, p.start)
			room := make([]byte, min(r.unit-(at-base), p.last-at+1))
			out := report.MemoryRow{Address: base, Skip: int(at - base), From: "dump"}
			out.Bytes = room[:m.read(p, at, room)]
			if p.module >= 0 {
				out.From = m.s.Modules[p.module].Name
			}
			if len(out.Bytes) == 0 {
				out.From, out.Gap = "", uint64(len(room))
			}
			return out
		}
	}
	return report.MemoryRow{Address: m.after(i + 1), Gap: m.gapBefore(i + 1)}
}

// Part returns a window of count rows with unit bytes each, of the list that has an address; words says
// whether to say what the rows' words point to. from is a row of that list; one below 0 means the
// address's.
func (m *Memory) Part(address uint64, unit int, words, texts bool, from, count int) (*report.MemoryPart, error) {
	r := m.number(uint64(unit))
	count = min(count, 4096/unit+64) // what a screen has
	if err := m.s.Src.Draw(input.Work, int64(max(count, 0))*codeWork); err != nil {
		return nil, err
	}
	at := m.rowOf(r, address)
	start := at / report.MemoryRows * report.MemoryRows
	out := &report.MemoryPart{Address: address, Selected: int(at - start), Total: int(min(report.MemoryRows, r.total-start)), WordSize: m.points.word}
	if start > 0 {
		before := m.row(r, start-1)
		out.Earlier = before.Address
	}
	if next := start + report.MemoryRows; next < r.total {
		after := m.row(r, next)
		out.Later = after.Address
	}
	if from < 0 {
		from = out.Selected - count/2
	}
	out.From = max(0, min(from, out.Total))
	m.points.texts = texts
	for n := out.From; n < min(out.From+count, out.Total); n++ {
		row := m.row(r, start+uint64(n))
		if words && row.Skip == 0 && len(row.Bytes) == m.points.word {
			value := m.points.value(row.Bytes)
			row.Words = []report.MemoryWord{{Address: row.Address, Value: value, Points: m.points.at(value)}}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}
