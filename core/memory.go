package core

import (
	"encoding/binary"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// Memory is the crashed process' memory as far as the dump holds it: streams 5 and 9 and every
// thread's stack. It implements unwind.Memory. It is not for use by several goroutines at once.
type Memory struct {
	d       *Dump
	list    []Region // stream 5, file order
	list64  []Region // stream 9, file order
	regions []Region // sorted, without overlap
	spans   []span   // regions, ready to be read
	joined  []extent // regions that touch each other as one, sorted
	last    int      // the span that was used last
}

// Region is a run of addresses whose bytes are in the dump.
type Region struct {
	Start uint64
	Loc   Location
}

// End returns the first address after the region.
func (r Region) End() uint64 { return r.Start + r.Loc.Size }

// Contains reports whether an address is in the region.
func (r Region) Contains(addr uint64) bool { return addr-r.Start < r.Loc.Size && addr >= r.Start }

// MemoryInfo is an entry of stream 16, or of /proc/maps where the dump has no such stream.
type MemoryInfo struct {
	Base, AllocationBase, Size uint64
	AllocationProtect, State   uint32
	Protect, Type              uint32
}

const (
	memoryDescriptorSize = 16
	memory64Size         = 16
	memoryInfoSize       = 48
)

func newMemory(d *Dump) *Memory { return &Memory{d: d} }

// decodeMemoryList reads MINIDUMP_MEMORY_DESCRIPTOR entries: StartOfMemoryRange u64 · DataSize u32
// · Rva u32.
func decodeMemoryList(d *Dump, s *Stream, c *input.Cursor) {
	n := d.countedList(s, c, memoryDescriptorSize, maxRegions)
	for range n {
		at := c.Off()
		r := Region{Start: c.U64()}
		r.Loc = location(c)
		if c.Err() != nil {
			return
		}
		if d.checkRegion(s.Type, at, &r) {
			d.Memory.list = append(d.Memory.list, r)
		}
	}
}

// decodeMemory64List reads MINIDUMP_MEMORY64_LIST: NumberOfMemoryRanges u64 · BaseRva u64, then
// StartOfMemoryRange u64 · DataSize u64. The bytes of all ranges follow each other from BaseRva on.
func decodeMemory64List(d *Dump, s *Stream, c *input.Cursor) {
	claimed, base := c.U64(), c.U64()
	if c.Err() != nil {
		return
	}
	n := d.fit(s, c, int64(min(claimed, 1<<40)), memory64Size, maxRegions)
	for range n {
		at := c.Off()
		start, size := c.U64(), c.U64()
		if c.Err() != nil {
			return
		}
		r := Region{start, Location{FileOff(base), size}}
		ok := d.checkRegion(s.Type, at, &r)
		if ok {
			d.Memory.list64 = append(d.Memory.list64, r)
		}
		if base+size < base {
			return // every later range would be beyond the end of any file
		}
		// There are no file offsets: each range's bytes begin where those of the range before end.
		base += size
	}
}

// checkRegion cuts a region to what the file has and to the address space; false if nothing is left
// of it. Rust-minidump drops a region that reaches beyond the file, Breakpad fails to read it; the
// part that is there is kept here.
func (d *Dump) checkRegion(stream StreamType, at int64, r *Region) bool {
	size := uint64(d.Src.Size)
	switch {
	case r.Loc == Location{}: // as Sentry's writer marks memory that it could not read
		return false
	case r.Loc.Size == 0:
		d.remark(Note, stream, at, "a memory range with bytes", "an empty one at "+hexNum(r.Start))
		return false
	case uint64(r.Loc.Off) >= size:
		d.truncated++
		d.remark(Warning, stream, at, "bytes for the memory at "+hexNum(r.Start), "file offset "+hexNum(uint64(r.Loc.Off))+", beyond the end of the file")
		return false
	case r.Loc.Size > size-uint64(r.Loc.Off):
		d.truncated++
		d.remark(Warning, stream, at, hexNum(r.Loc.Size)+" bytes for the memory at "+hexNum(r.Start), hexNum(size-uint64(r.Loc.Off))+" to the end of the file")
		r.Loc.Size = size - uint64(r.Loc.Off)
	}
	if r.Start+r.Loc.Size < r.Start {
		r.Loc.Size = -r.Start // up to the end of the address space; the last byte's address is 2^64 - 1
	}
	return true
}

// decodeMemoryInfoList reads MINIDUMP_MEMORY_INFO entries.
//
//	0 BaseAddress u64 · 8 AllocationBase u64 · 16 AllocationProtect u32 · 20 padding · 24 RegionSize u64
//	32 State u32 · 36 Protect u32 · 40 Type u32 · 44 padding
func decodeMemoryInfoList(d *Dump, s *Stream, c *input.Cursor) {
	n, entry := d.sizedList(s, c, memoryInfoSize, maxRegions, true)
	for range n {
		i := MemoryInfo{Base: c.U64(), AllocationBase: c.U64(), AllocationProtect: c.U32()}
		c.Skip(4)
		i.Size, i.State, i.Protect, i.Type = c.U64(), c.U32(), c.U32(), c.U32()
		c.Skip(4 + entry - memoryInfoSize)
		if c.Err() != nil {
			return
		}
		d.Regions = append(d.Regions, i)
	}
}

// build sorts the regions of all sources. If they overlap, a region keeps what no earlier one
// has: the lists come first (9 before 5, as in rust-minidump), then stacks and backing stores that
// no list holds; within a list the lower address wins, then the larger size.
func (m *Memory) build() {
	add := func(rs []Region) {
		rs = append([]Region(nil), rs...)
		sort.SliceStable(rs, func(i, j int) bool {
			if rs[i].Start != rs[j].Start {
				return rs[i].Start < rs[j].Start
			}
			return rs[i].Loc.Size > rs[j].Loc.Size
		})
		m.regions = merge(m.regions, rs)
	}
	add(m.list64)
	add(m.list)
	var stacks []Region
	for i := range m.d.Threads {
		t := &m.d.Threads[i]
		if r := (Region{t.StackStart, t.Stack}); t.Stack.Size > 0 && t.Stack.In(m.d.Src.Size) && r.End() > r.Start {
			stacks = append(stacks, r)
		}
	}
	for i := range m.d.Windows.ThreadsEx {
		t := &m.d.Windows.ThreadsEx[i]
		if r := (Region{t.BackingStart, t.Backing}); t.Backing.Size > 0 && t.Backing.In(m.d.Src.Size) && r.End() > r.Start {
			stacks = append(stacks, r)
		}
	}
	add(stacks)
	m.spans = make([]span, len(m.regions))
	for i, r := range m.regions {
		m.spans[i] = newSpan(m.d, r)
		if n := len(m.joined); n > 0 && m.joined[n-1].last+1 == r.Start {
			m.joined[n-1].last += r.Loc.Size
		} else {
			m.joined = append(m.joined, extent{r.Start, r.Start + (r.Loc.Size - 1)})
		}
	}
}

// extent is a run of addresses, first and last included.
type extent struct{ first, last uint64 }

// extentAt returns the addresses around addr that the dump has without a gap: writers put one stack
// into several regions, for example one for each block that they could read.
func (m *Memory) extentAt(addr uint64) (extent, bool) {
	i := sort.Search(len(m.joined), func(i int) bool { return m.joined[i].last >= addr })
	if i == len(m.joined) || addr < m.joined[i].first {
		return extent{}, false
	}
	return m.joined[i], true
}

// stackGap is what Linux keeps unmapped below a stack that grows: 256 pages (stack_guard_gap).
const stackGap = 1 << 20

// extentAbove returns the addresses that the dump has without a gap and that begin less than stackGap
// above addr.
func (m *Memory) extentAbove(addr uint64) (extent, bool) {
	i := sort.Search(len(m.joined), func(i int) bool { return m.joined[i].first > addr })
	if i == len(m.joined) || m.joined[i].first-addr >= stackGap {
		return extent{}, false
	}
	return m.joined[i], true
}

// merge adds the parts of the sorted regions add that no region of have covers; have is sorted and
// free of overlap.
//
// Example: have [10, 20) and add [5, 30) give [5, 10), [10, 20) of have, [20, 30).
func merge(have, add []Region) []Region {
	out := make([]Region, 0, len(have)+len(add))
	hi := 0
	var lastEnd uint64 // end of what is in out
	ended := false     // out reaches the end of the address space
	push := func(r Region) {
		out = append(out, r)
		lastEnd = r.End()
		ended = lastEnd == 0
	}
	for _, r := range add {
		for hi < len(have) && have[hi].Start <= r.Start {
			push(have[hi])
			hi++
		}
		for !ended {
			last := r.Start + (r.Loc.Size - 1) // the last byte, which does not overflow
			if len(out) > 0 && last < lastEnd {
				break
			}
			if len(out) > 0 && r.Start < lastEnd {
				cut := lastEnd - r.Start
				r = Region{lastEnd, Location{r.Loc.Off + FileOff(cut), r.Loc.Size - cut}}
			}
			if hi < len(have) && have[hi].Start <= last {
				// The next region is in the middle of this one: keep the part before it, continue
				// after it.
				if n := have[hi].Start - r.Start; n > 0 {
					push(Region{r.Start, Location{r.Loc.Off, n}})
				}
				push(have[hi])
				hi++
				continue
			}
			push(r)
			break
		}
	}
	return append(out, have[hi:]...)
}

// Regions returns all regions, sorted by address, without overlap.
func (m *Memory) Regions() []Region { return m.regions }

// Region finds the region that holds an address.
func (m *Memory) Region(addr uint64) (Region, bool) {
	if i := m.find(addr); i >= 0 {
		return m.regions[i], true
	}
	return Region{}, false
}

// find returns the index of the region that holds an address, or -1. Reads come in runs, so the
// last region is tried first.
func (m *Memory) find(addr uint64) int {
	if m.last < len(m.regions) && m.regions[m.last].Contains(addr) {
		return m.last
	}
	i := sort.Search(len(m.regions), func(i int) bool { return m.regions[i].Start > addr }) - 1
	if i < 0 || !m.regions[i].Contains(addr) {
		return -1
	}
	m.last = i
	return i
}

// Read copies the bytes from addr on into p, across regions that touch each other, and returns how
// many there were.
func (m *Memory) Read(addr uint64, p []byte) int {
	done := 0
	for done < len(p) {
		i := m.find(addr)
		if i < 0 {
			break
		}
		r := &m.regions[i]
		n := min(uint64(len(p)-done), r.Loc.Size-(addr-r.Start))
		got, err := m.d.Src.ReadAt(p[done:done+int(n)], int64(r.Loc.Off)+int64(addr-r.Start))
		done += got
		addr += uint64(got)
		if err != nil || addr == 0 {
			break
		}
	}
	return done
}

// Code reads the program's code: from the dump's memory, and where that ends from the files that
// were loaded (Program). It answers how many bytes there were.
func (d *Dump) Code(addr uint64, p []byte) int {
	n := d.Memory.Read(addr, p)
	if n < len(p) && d.Program != nil {
		n += d.Program(addr+uint64(n), p[n:])
	}
	return n
}

// Word reads the size-byte word (1, 2, 4 or 8) at addr in the dump's byte order; false if any byte
// of it is not there.
func (m *Memory) Word(addr uint64, size int) (uint64, bool) {
	i := m.find(addr)
	if i < 0 {
		return 0, false
	}
	if v, ok := m.spans[i].word(addr, size); ok {
		return v, true
	}
	// The word may span two adjacent regions.
	var buf [8]byte
	if size < 0 || size > 8 || m.Read(addr, buf[:size]) < size {
		return 0, false
	}
	return decodeWord(buf[:size], m.d.Header.Order)
}

// decodeWord reads a number of 1, 2, 4 or 8 bytes; false for other sizes.
func decodeWord(p []byte, order binary.ByteOrder) (uint64, bool) {
	switch len(p) {
	case 8:
		return order.Uint64(p), true
	case 4:
		return uint64(order.Uint32(p)), true
	case 2:
		return uint64(order.Uint16(p)), true
	case 1:
		return uint64(p[0]), true
	}
	return 0, false
}

// List returns the ranges of the memory list (stream 5) in file order, those with bytes in the
// file.
func (m *Memory) List() []Region { return m.list }

// List64 returns those of the full memory list (stream 9).
func (m *Memory) List64() []Region { return m.list64 }
