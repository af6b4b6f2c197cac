package session

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/crashpane/crashpane/core/input"
)

// maxHits limits what a MemorySearch finds.
const maxHits = 10000

// Pattern is bytes to find. As says what they are, if there are several forms.
type Pattern struct {
	Bytes []byte
	As    string
}

// TextPatterns are a text's bytes in UTF-8 and in UTF-16, in the dump's byte order.
func (s *Session) TextPatterns(text string) []Pattern {
	var wide []byte
	for _, u := range utf16.Encode([]rune(text)) {
		wide = append(wide, 0, 0)
		s.order().PutUint16(wide[len(wide)-2:], u)
	}
	return []Pattern{{[]byte(text), "UTF-8"}, {wide, "UTF-16"}}
}

// PointerPattern is the bytes of a pointer to an address.
func (s *Session) PointerPattern(address uint64) Pattern {
	b := make([]byte, 8)
	if arch := s.Arch(); arch != nil && arch.WordSize == 4 {
		b = b[:4]
		s.order().PutUint32(b, uint32(address))
	} else {
		s.order().PutUint64(b, address)
	}
	return Pattern{Bytes: b}
}

// MemorySearch searches all memory that there is, in steps.
type MemorySearch struct {
	m        *Memory
	patterns []Pattern
	longest  int
	span     int    // the one that is searched
	at       uint64 // where in it
	room     []byte
	Hits     []Hit // in the order of addresses
	// Done and Total are in bytes.
	Done, Total int64
	// More says that there are more hits than the most that a search finds.
	More, Ended bool
}

// Hit is an address at which a pattern is.
type Hit struct {
	Address uint64
	Pattern int
}

// searchBlock is how many bytes are read at once: each read of a browser takes a round trip through its processes. With
// 1 MB it searches 190 MB/s, with 8 MB 300 to 470 (Chromium, a file of 256 MB), half of what it reads.
const searchBlock = 8 << 20

// missingWork is the work of asking for a block that is not there, in steps: a program may say that it has any number.
const missingWork = 4 << 10

// Search begins a search for any of some patterns.
func (m *Memory) Search(patterns []Pattern) (*MemorySearch, error) {
	f := &MemorySearch{m: m, patterns: patterns}
	for _, p := range patterns {
		if len(p.Bytes) == 0 {
			return nil, fmt.Errorf("nothing to find")
		}
		f.longest = max(f.longest, len(p.Bytes))
	}
	for i := range m.spans {
		f.Total += int64(min(m.spans[i].last-m.spans[i].start, 1<<60)) + 1
	}
	if len(m.spans) > 0 {
		f.at = m.spans[0].start
	}
	return f, nil
}

// Step searches at least size bytes on, and ends the search when there are no more.
func (f *MemorySearch) Step(size int64) error {
	room := int64(searchBlock + f.longest - 1)
	if err := f.m.s.Src.Draw(input.Memory, room); err != nil {
		return err
	}
	defer f.m.s.Src.Return(room)
	if f.room == nil {
		f.room = make([]byte, room)
	}
	for until := f.Done + size; f.Done < until && !f.Ended; {
		if f.span == len(f.m.spans) {
			f.Ended = true
			break
		}
		span := &f.m.spans[f.span]
		p := f.read(span)
		if err := f.m.s.Src.Draw(input.Work, int64(max(len(p), missingWork))); err != nil {
			return err
		}
		left := span.last - f.at // that many bytes follow the one at f.at
		block := min(searchBlock-1, left)
		if f.block(p, int(block)+1); f.More {
			f.Ended = true
		}
		f.Done += int64(block) + 1
		if block == left {
			if f.span++; f.span < len(f.m.spans) {
				f.at = f.m.spans[f.span].start
			}
			continue
		}
		f.at += block + 1
	}
	return nil
}

// read reads a block, and what follows it up to the length of a pattern, also from the span that
// follows without a gap.
func (f *MemorySearch) read(span *memorySpan) []byte {
	n := f.m.read(span, f.at, f.room)
	if next := f.span + 1; n < len(f.room) && n > 0 && f.at+uint64(n-1) == span.last && next < len(f.m.spans) && f.m.spans[next].start == span.last+1 {
		n += f.m.read(&f.m.spans[next], f.m.spans[next].start, f.room[n:])
	}
	return f.room[:n]
}

// block finds the patterns that begin in the first most bytes of p.
func (f *MemorySearch) block(p []byte, most int) {
	first := len(f.Hits)
	for i := range f.patterns {
		what, before := f.patterns[i].Bytes, len(f.Hits)
		for from := 0; ; {
			k := bytes.Index(p[from:], what)
			if k < 0 || from+k >= most {
				break
			}
			if len(f.Hits)-before == maxHits {
				f.More = true
				break
			}
			f.Hits = append(f.Hits, Hit{f.at + uint64(from+k), i})
			from += k + 1
		}
	}
	slices.SortStableFunc(f.Hits[first:], func(a, b Hit) int { return cmp.Compare(a.Address, b.Address) })
	if len(f.Hits) > maxHits {
		f.Hits, f.More = f.Hits[:maxHits], true
	}
}

// Region names what an address is in, without the function: a module, a stack, a range of the memory
// map.
func (m *Memory) Region(address uint64) string {
	if i, _ := m.s.walked.walker.Modules.Find(address); i >= 0 {
		return m.s.Modules[i].Name
	}
	p := m.points.in(address)
	return p.Words(nil, nil)
}

// StackText is a text that is in a stack, or that a word of it points to.
type StackText struct {
	Address uint64
	Text    string
}

// shortestText is how long a text in a stack is at least, in characters: shorter ones are more often
// chance.
const shortestText = 6

// maxStackTexts limits the bytes of a stack that StackTexts reads.
const maxStackTexts = 1 << 20

// StackTexts returns the texts in a thread's stack from its stack pointer on, and those that its words point
// to, in the order of the stack. They may be private.
func (m *Memory) StackTexts(thread int) (out []StackText, err error) {
	if thread < 0 || thread >= len(m.s.walked.stacks) || len(m.s.walked.stacks[thread].Frames) == 0 {
		return nil, nil
	}
	sp := m.stackStart(m.s.walked.stacks[thread].Frames)
	room := make([]byte, maxStackTexts)
	room = room[:m.s.Memory.Read(sp, room)]
	if err := m.s.Src.Draw(input.Work, int64(len(room))); err != nil {
		return nil, err
	}
	seen := map[uint64]bool{}
	add := func(at uint64, text string) {
		if len(text) >= shortestText && !seen[at] && len(out) < maxHits {
			seen[at] = true
			out = append(out, StackText{at, text})
		}
	}
	end := 0 // of the last text in the stack itself
	for at := 0; at+m.points.word <= len(room); at += m.points.word {
		if at >= end {
			if text, size := printable(room[at:]); len(text) >= shortestText {
				add(sp+uint64(at), text)
				end = at + size
				continue
			}
		} else {
			continue
		}
		if value := m.points.value(room[at:]); value >= firstPage {
			add(value, m.points.text(value))
		}
	}
	return out, nil
}
