package elfcore

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// elf is an ELF file's header and program headers: those of a core, or in a process' memory those of a
// program (System V ABI, chapters 4 and 5).
type elf struct {
	src     *input.Source
	order   binary.ByteOrder
	wide    bool // 64-bit
	kind    uint16
	machine uint16
	flags   uint32
	// unread is how many program headers are not there.
	segments []segment
	unread   uint64
}

// segment is a program header.
type segment struct {
	kind, flags                     uint32
	offset, address, inFile, memory uint64
}

const (
	kindCore = 4 // e_type

	segmentLoad = 1 // p_type
	segmentNote = 4

	flagExec, flagWrite, flagRead = 1, 2, 4 // p_flags

	// manySegments is an e_phnum that says that the number is the sh_info of the first section header.
	manySegments = 0xffff
)

// openELF reads the headers. Program headers that the file has no room for are left out.
func openELF(src *input.Source, most uint64) (*elf, error) {
	head, err := src.Bytes(0, min(16, src.Size))
	if err != nil {
		return nil, err
	}
	f := &elf{src: src, order: binary.LittleEndian}
	if len(head) < 16 || string(head[:4]) != "\x7fELF" || head[4] != 1 && head[4] != 2 || head[5] != 1 && head[5] != 2 {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 0, Want: "an ELF header of 32 or 64 bits", Have: fmt.Sprintf("%q", head)}
	}
	f.wide = head[4] == 2
	if head[5] == 2 {
		f.order = binary.BigEndian
	}
	c := input.NewCursor(src, "ELF header", 16, 48, f.order)
	f.kind, f.machine = c.U16(), c.U16()
	c.Skip(4) // e_version
	f.word(c) // e_entry
	programs, sections := f.word(c), f.word(c)
	f.flags = c.U32()
	c.Skip(2) // e_ehsize
	size, count := int64(c.U16()), uint64(c.U16())
	if c.Err() != nil {
		return nil, c.Err()
	}
	if count == manySegments {
		at := int64(28) // sh_info
		if f.wide {
			at = 44
		}
		s := input.NewCursor(src, "section header", int64(sections)+at, 4, f.order)
		if count = uint64(s.U32()); s.Err() != nil {
			return nil, s.Err()
		}
	}
	least := int64(32)
	if f.wide {
		least = 56
	}
	if size < least || int64(programs) < 0 || int64(programs) > src.Size {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 0, Want: fmt.Sprintf("program headers of %d bytes in the file", least),
			Have: fmt.Sprintf("%d of %d bytes at %d", count, size, programs)}
	}
	fit := min(count, uint64(src.Size-int64(programs))/uint64(size), most)
	f.unread = count - fit
	c = input.NewCursor(src, "program headers", int64(programs), int64(fit)*size, f.order)
	for range fit {
		f.segments = append(f.segments, f.segment(c))
		c.Skip(size - least)
	}
	return f, c.Err()
}

// word reads a word of the file's class.
func (f *elf) word(c *input.Cursor) uint64 {
	if f.wide {
		return c.U64()
	}
	return uint64(c.U32())
}

// wordSize is the size of a word in bytes.
func (f *elf) wordSize() int64 {
	if f.wide {
		return 8
	}
	return 4
}

func (f *elf) segment(c *input.Cursor) (s segment) {
	s.kind = c.U32()
	if f.wide {
		s.flags = c.U32()
	}
	s.offset, s.address = f.word(c), f.word(c)
	f.word(c) // p_paddr
	s.inFile, s.memory = f.word(c), f.word(c)
	if !f.wide {
		s.flags = c.U32()
	}
	f.word(c) // p_align
	return s
}

// note is an entry of a note segment: its desc is size bytes at a file offset.
type note struct {
	name     string
	kind     uint32
	at, size int64
}

// notes calls found for each note of some bytes of the file, until it returns false. Entries are aligned to
// 4 bytes, as the kernel and GNU's tools write them whatever the class (gABI, "Note Section").
func (f *elf) notes(part string, off, size int64, found func(n note) bool) error {
	const longest = 64 // more than any name that is known
	c := input.NewCursor(f.src, part, off, size, f.order)
	align := func(n int64) int64 { return (n + 3) &^ 3 }
	for c.Left() >= 12 {
		nameSize, n := int64(c.U32()), note{size: int64(c.U32()), kind: c.U32()}
		name := c.Bytes(min(nameSize, longest))
		c.Skip(align(nameSize) - int64(len(name)))
		if n.at = c.Off(); c.Err() != nil || n.size > c.Left() {
			c.Fail(fmt.Sprintf("a note of %d bytes", n.size), fmt.Sprintf("%d", c.Left()))
			return c.Err()
		}
		for len(name) > 0 && name[len(name)-1] == 0 {
			name = name[:len(name)-1]
		}
		n.name = string(name)
		if !found(n) {
			return nil
		}
		c.Skip(min(align(n.size), c.Left()))
	}
	return c.Err()
}

// buildID returns the build id of a program, as the kernel and GNU's linkers write it, or nil.
// address says where a segment with its notes is.
func (f *elf) buildID(address func(s *segment) int64) (id []byte) {
	const gnuBuildID = 3
	for i := range f.segments {
		s := &f.segments[i]
		if s.kind != segmentNote {
			continue
		}
		end := int64(0) // of a note of Go
		found := func(n note) bool {
			if n.name == "Go" {
				end = (n.at + n.size + 3) &^ 3
			}
			if n.name == "GNU" && n.kind == gnuBuildID && n.size <= 64 {
				id, _ = f.src.Bytes(n.at, n.size)
			}
			return id == nil
		}
		_ = f.notes("notes", address(s), int64(min(s.inFile, 1<<20)), found)
		if id == nil && end > 0 && end < f.src.Size {
			// Go's linker writes the build id after its own note, and leaves it out of the segment.
			_ = f.notes("notes", end, min(f.src.Size-end, 12+4+20), found)
		}
	}
	return id
}
