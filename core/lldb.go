package core

import (
	"bytes"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// LLDB writes minidumps too ("process save-core --plugin-name=minidump"). They differ from others:
//
//   - A context record of amd64 ends after 736 bytes, in LLDB 16 after 720, and has only the general
//     registers.
//   - An exception has the flags "LLDB", the address of the instruction, and in place of its
//     parameters a text: "SIGSEGV: address not mapped to object (fault address=0x0)". The number of
//     parameters is 1, whatever its length. There is an exception for each thread that a signal
//     stopped.
//   - A module's size is that of its first segment and of those that follow without a gap.
//   - A module's name has no folder.
//
// Source: LLVM's lldb/source/Plugins/ObjectFile/Minidump/MinidumpFileBuilder.cpp (AddModuleList,
// AddExceptions, GetThreadContext_x86_64).

// lldbFlags are the flags of LLDB's exceptions (LLVM's llvm/BinaryFormat/Minidump.h,
// Exception::LLDB_FLAG).
const lldbFlags = 0x4c4c4442

// lldbText returns the text in an exception's parameters, all 15 of them, or "".
func lldbText(e *Exception, c *input.Cursor, params []uint64) string {
	if e.Flags != lldbFlags {
		return ""
	}
	var b []byte
	for _, v := range params {
		var p [8]byte
		c.Order.PutUint64(p[:], v)
		b = append(b, p[:]...)
	}
	b, _, _ = bytes.Cut(b, []byte{0})
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// SizesAreLeast: the sizes in the module list may be too small.
func (d *Dump) SizesAreLeast() bool {
	return d.Stream(StreamLLDB) != nil || d.Exception != nil && d.Exception.Flags == lldbFlags
}

// ExtendModule says that a module takes at least size bytes of memory, as its file says. It has an
// effect only where the dump may say too little.
func (d *Dump) ExtendModule(module int, size uint64) {
	if module >= len(d.Modules) || !d.SizesAreLeast() || size <= d.Modules[module].Size || size > reach || size <= d.sizes[module] {
		return
	}
	if d.sizes == nil {
		d.sizes = map[int]uint64{}
	}
	d.sizes[module] = size
	d.merged, d.modules = nil, nil
}

// extendByHeaders extends the modules whose ELF headers are in the dump's memory.
func (d *Dump) extendByHeaders() {
	if !d.SizesAreLeast() {
		return
	}
	left := d.mostHeaders()
	for i := range d.Modules {
		d.ExtendModule(i, d.elfSize(d.Modules[i].Base, &left))
	}
}

// mostHeaders is how many program headers the dump can hold. Each program has its own.
func (d *Dump) mostHeaders() uint64 { return uint64(d.Src.Size) / 32 }

// elfSize returns how many bytes of memory the program takes whose ELF header is at an address of
// the process, or 0 if the dump does not have the headers.
func (d *Dump) elfSize(base uint64, left *uint64) (size uint64) {
	for _, s := range d.elfSegments(base, left) {
		size = max(size, s.Start+s.Size)
	}
	return size
}

// elfSegments returns the segments of the program whose ELF header is at an address of the process,
// or nil if the dump does not have the headers (System V ABI, chapters 4 and 5). left is how many
// program headers may still be read.
//
//	header   4 class u8: 2 is 64-bit · 32 (28) e_phoff · 54 (42) e_phentsize u16 · 56 (44) e_phnum u16
//	program  0 p_type u32: 1 is PT_LOAD · 4 (24) p_flags u32: bit 0 is PF_X · 8 (4) p_offset · 16 (8) p_vaddr · 32 (16) p_filesz ·
//	         40 (20) p_memsz
func (d *Dump) elfSegments(base uint64, left *uint64) (out []Segment) {
	var magic [5]byte
	if d.Memory.Read(base, magic[:]) < len(magic) || string(magic[:4]) != "\x7fELF" {
		return nil
	}
	l := struct {
		word                                                       int
		phoff, entry, count, flags, offset, address, inFile, bytes uint64
	}{4, 28, 42, 44, 24, 4, 8, 16, 20}
	if magic[4] == 2 {
		l.word, l.phoff, l.entry, l.count, l.flags, l.offset, l.address, l.inFile, l.bytes = 8, 32, 54, 56, 4, 8, 16, 32, 40
	}
	read := func(at uint64, size int) uint64 {
		v, _ := d.Memory.Word(at, size)
		return v
	}
	first, entry := base+read(base+l.phoff, l.word), read(base+l.entry, 2)
	low := ^uint64(0)
	count := min(read(base+l.count, 2), *left)
	*left -= count
	for i := range count {
		if at := first + i*entry; read(at, 4) == 1 {
			s := Segment{Start: read(at+l.address, l.word), Size: read(at+l.bytes, l.word), Exec: read(at+l.flags, 4)&1 != 0,
				Offset: read(at+l.offset, l.word), FileSize: read(at+l.inFile, l.word)}
			low = min(low, s.Start)
			out = append(out, s)
		}
	}
	for i := range out { // the first segment begins in a page whose start the loader maps at the base
		out[i].Start -= low &^ (page - 1)
	}
	return out
}
