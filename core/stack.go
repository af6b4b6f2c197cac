package core

import (
	"encoding/binary"

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
// that the dump has without a gap around the stack pointer, or if it has nothing there, right above
// it, or around the start of the thread's own range. Nil without such a range; a thread of -1 has no
// range of its own.
//
// A frame that did not fit on its stack begins below it, in what Linux keeps unmapped there.
func (d *Dump) StackAround(i int, sp uint64) *StackMemory {
	own := d.ThreadStack(i)
	all, ok := d.Memory.extentAt(sp)
	at := sp
	if !ok {
		all, ok = d.Memory.extentAbove(sp)
		at = all.first
	}
	if !ok && own != nil {
		at = own.Start
		all, ok = d.Memory.extentAt(at)
	}
	if !ok {
		return own
	}
	// If ranges overlap, the bytes of the thread's own range count.
	s := own
	if own == nil || own.Start < all.first || own.Start > all.last {
		r, _ := d.Memory.Region(at)
		s = d.newStack(r)
	}
	s.Start, s.End, s.rest = all.first, max(all.last+1, all.last), d.Memory
	return s
}

// ThreadStack returns the memory that thread i's descriptor names. Windows sometimes writes a
// descriptor whose file offset is 0 or points nowhere, but with the right address. Then the result is
// the region at that address, or nil.
func (d *Dump) ThreadStack(i int) *StackMemory {
	if i < 0 || i >= len(d.Threads) {
		return nil
	}
	t := &d.Threads[i]
	if t.Stack.Off != 0 && t.Stack.Size != 0 && t.Stack.In(d.Src.Size) && t.StackStart+t.Stack.Size > t.StackStart {
		return d.newStack(Region{t.StackStart, t.Stack})
	}
	if t.StackStart != 0 {
		if r, ok := d.Memory.Region(t.StackStart); ok {
			return d.newStack(r)
		}
	}
	return nil
}

// StackAt returns the memory of thread i's stack if its sp is there, else the region that has sp: the
// exception may have happened on another stack than the thread's (a signal stack, a fiber). It
// returns the thread's own after all if the dump has nothing at sp.
func (d *Dump) StackAt(i int, sp uint64) *StackMemory {
	own := d.ThreadStack(i)
	if own != nil {
		if _, ok := own.Word(sp, 8); ok {
			return own
		}
	}
	if r, ok := d.Memory.Region(sp); ok {
		return d.newStack(r)
	}
	return own
}
