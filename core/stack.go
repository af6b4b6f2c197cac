package core

import (
	"encoding/binary"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// span reads words of one region. It keeps the block of the file that it read last, so that going
// up a stack costs a bounds check and a load a word.
type span struct {
	start, size uint64
	off         int64 // file offset of start
	src         *input.Source
	little      bool
	block       []byte
	blockOff    int64
}

// newSpan makes a span of a region.
func newSpan(d *Dump, r Region) span {
	return span{start: r.Start, size: r.Loc.Size, off: int64(r.Loc.Off), src: d.Src, little: d.Header.Order == binary.ByteOrder(binary.LittleEndian)}
}

// word reads the word at addr if all of it is in the region.
func (s *span) word(addr uint64, size int) (uint64, bool) {
	rel := addr - s.start
	if addr < s.start || size <= 0 || rel > s.size || uint64(size) > s.size-rel {
		return 0, false
	}
	at := s.off + int64(rel)
	i := at - s.blockOff
	if i < 0 || i+int64(size) > int64(len(s.block)) {
		block, start, err := s.src.Block(at)
		if err != nil {
			return 0, false
		}
		s.block, s.blockOff = block, start
		if i = at - start; i+int64(size) > int64(len(block)) {
			return s.split(at, size)
		}
	}
	p := s.block[i : i+int64(size)]
	switch {
	case size == 8 && s.little:
		return binary.LittleEndian.Uint64(p), true
	case size == 4 && s.little:
		return uint64(binary.LittleEndian.Uint32(p)), true
	case s.little:
		return decodeWord(p, binary.LittleEndian)
	}
	return decodeWord(p, binary.BigEndian)
}

// split reads a word that spans two blocks.
func (s *span) split(at int64, size int) (uint64, bool) {
	var buf [8]byte
	if size > len(buf) {
		return 0, false
	}
	if n, _ := s.src.ReadAt(buf[:size], at); n < size {
		return 0, false
	}
	if s.little {
		return decodeWord(buf[:size], binary.LittleEndian)
	}
	return decodeWord(buf[:size], binary.BigEndian)
}

// StackMemory is the memory that a thread's stack is unwound in. The peers read nothing but one
// region while they walk. It implements unwind.Memory.
type StackMemory struct {
	Start uint64
	End   uint64 // exclusive
	span  span   // of the region that most words are in
	rest  *Memory
}

// Word reads the size-byte word (4 or 8) at addr; false if any byte of it is outside the stack.
func (s *StackMemory) Word(addr uint64, size int) (uint64, bool) {
	v, ok := s.span.word(addr, size)
	if ok || s.rest == nil || !s.Contains(addr) {
		return v, ok
	}
	return s.rest.Word(addr, size)
}

// Contains reports whether an address is in the region.
func (s *StackMemory) Contains(addr uint64) bool { return addr >= s.Start && addr < s.End }

// newStack makes a stack of a region.
func (d *Dump) newStack(r Region) *StackMemory {
	end := r.End()
	if end < r.Start { // the region ends with the address space
		end = ^uint64(0)
	}
	return &StackMemory{Start: r.Start, End: end, span: newSpan(d, r)}
}

// StackAround returns the memory that the stack of thread i is in, whichever streams have it: all
// that the dump has without a gap around the stack pointer, or if it has nothing there, around the
// start of the thread's own range. Nil without such a range; a thread of -1 has no range of its own.
func (d *Dump) StackAround(i int, sp uint64) *StackMemory {
	own := d.ThreadStack(i)
	all, ok := d.Memory.extentAt(sp)
	if !ok && own != nil {
		all, ok = d.Memory.extentAt(own.Start)
	}
	if !ok {
		return own
	}
	// Where ranges overlap, the bytes of the thread's own range count.
	s := own
	if own == nil || own.Start < all.first || own.Start > all.last {
		r, _ := d.Memory.Region(sp)
		s = d.newStack(r)
	}
	s.Start, s.End, s.rest = all.first, max(all.last+1, all.last), d.Memory
	return s
}

// ThreadStack returns the memory that thread i's descriptor names. Windows sometimes writes a
// descriptor whose file offset is 0 or points nowhere, with the right address: the memory lists (5,
// then 9 as well) are asked then. Nil if there is none.
func (d *Dump) ThreadStack(i int) *StackMemory {
	if i < 0 || i >= len(d.Threads) {
		return nil
	}
	t := &d.Threads[i]
	if t.Stack.Off != 0 && t.Stack.Size != 0 && t.Stack.In(d.Src.Size) && t.StackStart+t.Stack.Size > t.StackStart {
		return d.newStack(Region{t.StackStart, t.Stack})
	}
	if t.StackStart != 0 {
		if r, ok := d.Memory.listed(t.StackStart, false); ok {
			return d.newStack(r)
		}
	}
	return nil
}

// StackBreakpad returns the region that Breakpad unwinds thread i in (minidump_processor.cc):
// always the thread's own, also if the exception's context has its stack pointer elsewhere. Its
// memory list is stream 5 only; a dump with stream 9 alone gets that here, where Breakpad would
// have nothing.
func (d *Dump) StackBreakpad(i int) *StackMemory { return d.ThreadStack(i) }

// StackRust returns the region that rust-minidump unwinds thread i in (processor.rs): the thread's
// own if it holds 8 bytes at the stack pointer of the context that is walked; else the memory
// list's region that holds the stack pointer, because the exception may have happened on another
// stack than the thread's (a signal stack, a fiber); else the thread's own after all.
func (d *Dump) StackRust(i int, sp uint64) *StackMemory {
	own := d.ThreadStack(i)
	if own != nil {
		if _, ok := own.Word(sp, 8); ok {
			return own
		}
	}
	if r, ok := d.Memory.listed(sp, true); ok {
		return d.newStack(r)
	}
	return own
}

// regionMap finds regions by address as the peers' range maps do.
type regionMap struct{ regions []Region }

// listed finds an address in the memory lists, stacks not included. With rust true only one list
// counts: stream 9 if the dump has it, else stream 5 (UnifiedMemoryList); else both do, 5 first.
func (m *Memory) listed(addr uint64, rust bool) (Region, bool) {
	if m.peerMem == nil {
		m.peerMem = map[bool]*regionMap{}
	}
	rm := m.peerMem[rust]
	if rm == nil {
		rm = &regionMap{}
		if rust && len(m.list64) > 0 {
			rm.add(m.list64)
		} else {
			rm.add(m.list)
			if !rust {
				rm.add(m.list64)
			}
		}
		m.peerMem[rust] = rm
	}
	i := sort.Search(len(rm.regions), func(i int) bool { return rm.regions[i].Start > addr }) - 1
	if i < 0 || !rm.regions[i].Contains(addr) {
		return Region{}, false
	}
	return rm.regions[i], true
}

// add keeps the regions that overlap none that is there already. Breakpad gives up the whole list
// at the first overlap, and rust-minidump leaves the later region out (into_rangemap_safe, in order
// of address); whole regions, never parts.
func (rm *regionMap) add(list []Region) {
	list = append([]Region(nil), list...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Start < list[j].Start })
	old := rm.regions
	rm.regions = make([]Region, 0, len(old)+len(list))
	free := func(r Region) bool {
		if n := len(rm.regions); n > 0 && rm.regions[n-1].Contains(r.Start) {
			return false
		}
		return len(old) == 0 || !(old[0].Start <= r.Start+(r.Loc.Size-1))
	}
	for _, r := range list {
		for len(old) > 0 && old[0].Start <= r.Start {
			rm.regions, old = append(rm.regions, old[0]), old[1:]
		}
		if free(r) {
			rm.regions = append(rm.regions, r)
		}
	}
	rm.regions = append(rm.regions, old...)
}
