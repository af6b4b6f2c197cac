package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
)

// The DBI stream says what the module is made of: object files ("modules"), which of them gave each
// range of code ("section contributions"), and which streams hold the rest.
//
// Source: LLVM, docs/PDB/DbiStream.rst.

// module is one object file's entry.
type module struct {
	stream   uint16 // noStream if it has no symbols
	symbols  uint32 // bytes of symbols, at the stream's start
	oldLines uint32 // bytes of lines in the form before Visual Studio 2005
	lines    uint32 // bytes of line information after those
	name     uint32 // where its name is in the DBI stream
}

// section is a section header: where a section is in memory, and whether it is code.
type section struct {
	rva, size uint32
	code      bool
}

// The debug streams by their index in the list at the DBI stream's end.
const (
	debugFPO             = 0
	debugToSource        = 3
	debugFromSource      = 4
	debugSections        = 5
	debugFrames          = 9
	debugSectionsAsBuilt = 10
)

// dbiHeaderSize is the size of the DBI stream's header, in bytes:
//
//	 0 signature, -1 since 1999      24 sizes of: list of modules, section contributions, section map,
//	 4 version                          list of sources, type server map
//	 8 age                           44 index of the MFC type server, which is not a size
//	12 stream of globals, u16        48 sizes of: list of debug streams, edit-and-continue names
//	16 stream of publics, u16        56 flags, u16; bit 1: private symbols were stripped
//	20 stream of records, u16        58 machine, u16, as in a PE header
//
// The substreams follow the header in the order of the sizes, but the edit-and-continue names
// are before the list of debug streams.
const dbiHeaderSize = 64

// readDBI reads the header and the list of debug streams, and answers the age. The list of modules,
// of megabytes in large files, is read when it is asked for.
func (f *File) readDBI(s *stream) (age uint32, err error) {
	c := cursor(s, 0, s.Size)
	if sign := c.U32(); c.Err() == nil && sign != 0xffffffff {
		c.FailAt(0, "the signature -1", fmt.Sprintf("0x%x (a file of before 1999)", sign))
	}
	c.Skip(4)
	age = c.U32()
	c.Skip(4)
	public := c.U16()
	c.Skip(2)
	records := c.U16()
	c.Skip(2)
	var sizes [8]int64
	for i := range sizes {
		if sizes[i] = int64(c.I32()); sizes[i] < 0 && i != 5 {
			c.FailAt(c.Off()-4, "a size", fmt.Sprint(sizes[i]))
		}
	}
	flags := c.U16()
	f.machine = c.U16()
	f.stripped = flags&2 != 0
	c.Skip(4)
	if err := c.Err(); err != nil {
		return 0, err
	}
	f.Arch = cpu.ByPE(f.machine)
	// A name for each of the eight numbers; sizes[5], the type server's index, is left out.
	modules, contribs, sectionMap, sources, servers, debug, ec := sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[6], sizes[7]
	f.dbi, f.moduleList = s, part{dbiHeaderSize, modules}
	if f.contributions, err = openContributions(s, dbiHeaderSize+modules, contribs); err != nil {
		return 0, err
	}
	// C's names begin with an underscore on 32-bit x86 only; publics takes it off there.
	f.publics = &publics{stream: int(public), number: int(records), x86: f.Arch != nil && f.Arch.Underscore}
	list := cursor(s, dbiHeaderSize+modules+contribs+sectionMap+sources+servers+ec, debug)
	// Linkers write up to 11 numbers of streams. A short list lacks the last kinds.
	numbers := make([]int, 0, 11)
	for list.Left() >= 2 && len(numbers) < cap(numbers) {
		numbers = append(numbers, int(list.U16()))
	}
	if err := list.Err(); err != nil {
		return 0, err
	}
	return age, f.readDebug(numbers)
}

// modules are the object files. What is wrong with their list costs those that follow.
func (f *File) modules() ([]module, error) {
	if f.listed == nil && f.dbi != nil {
		list, err := f.readModules()
		if err := f.pass(err); err != nil {
			return nil, err
		}
		f.listed = list
	}
	return f.listed, nil
}

const (
	// listChunk is how much of the list of modules is read at once. That of 20,000 modules has 3
	// MB, and in a browser each read is a round trip.
	listChunk = 1 << 20
	// moduleHeader is the size of a module's entry up to its names.
	moduleHeader = 64
	// maxModule bounds an entry: its header and two texts.
	maxModule = moduleHeader + 2*maxText
)

// readModules reads the list of object files: for each a section contribution (28 bytes), flags,
// stream, sizes, two names.
//
//	 0 unused, 4 section contribution (28 bytes), 32 flags u16
//	34 stream u16, 36 bytes of symbols, 40 of old lines, 44 of lines
//	48 number of sources u16, 52 unused, 56 and 60 indexes of names
//	64 name of the object file, name of its library; both end with a zero byte
//
// An entry begins at a multiple of 4 from the start of the list.
func (f *File) readModules() ([]module, error) {
	list := []module{}
	fail := func(at int64, want, have string) error {
		return &input.FormatError{File: f.dbi.Name, Part: "list of modules", Offset: at, Want: want, Have: have}
	}
	at, left := f.moduleList.off, f.moduleList.size // of what is not read yet
	var b []byte                                    // what is read, and not in the list yet
	for left > 0 || len(b) > 0 {
		entry, size := moduleOf(b, left == 0)
		switch {
		case size > maxModule, size == 0 && len(b) > maxModule:
			return list, fail(at-int64(len(b)), fmt.Sprintf("the entry of a module, of at most %d bytes", maxModule), "a longer one")
		case size > 0:
			entry.name += uint32(at - int64(len(b)))
			list, b = append(list, entry), b[size:]
		case left == 0:
			return list, fail(at-int64(len(b)), fmt.Sprintf("%d bytes", moduleHeader), fmt.Sprintf("%d bytes to the end of the list", len(b)))
		default:
			more, err := f.dbi.Bytes(at, min(listChunk, left))
			if err != nil {
				return list, err
			}
			b, at, left = append(b, more...), at+int64(len(more)), left-int64(len(more))
		}
	}
	return list, nil
}

// moduleOf reads the first entry of a list, and returns its size with what aligns the next one to 4
// bytes. name is relative to the start of b. The size is 0 if b ends before the entry does; in the
// last part of the list it ends a name.
func moduleOf(b []byte, last bool) (m module, size int) {
	if len(b) < moduleHeader {
		return m, 0
	}
	m = module{stream: u16(b, 34), symbols: u32(b, 36), oldLines: u32(b, 40), lines: u32(b, 44), name: moduleHeader}
	size = moduleHeader
	for range 2 {
		n := bytes.IndexByte(b[size:], 0)
		switch {
		case n >= 0:
			size += n + 1
		case last:
			size = len(b)
		default:
			return m, 0
		}
	}
	if aligned := (size + 3) &^ 3; aligned <= len(b) {
		return m, aligned
	}
	if !last {
		return m, 0
	}
	return m, len(b)
}

// readDebug opens the streams that the list at the DBI stream's end names.
//
// A tool that moves code after linking leaves two lists of section headers: those of the module as
// it is now, and those as it was built. Symbols speak of the latter, so with an OMAP the latter are
// read.
func (f *File) readDebug(numbers []int) error {
	stream := func(i int, what string) *stream {
		if i >= len(numbers) {
			return nil
		}
		return f.msf.stream(numbers[i], what)
	}
	sections := stream(debugSections, "section headers")
	if to, from := stream(debugToSource, "OMAP to source"), stream(debugFromSource, "OMAP from source"); to != nil && from != nil && to.Size >= omapSize {
		f.toSource, f.fromSource = openOMAP(to), openOMAP(from)
		if asBuilt := stream(debugSectionsAsBuilt, "section headers as built"); asBuilt != nil {
			sections = asBuilt
		}
	}
	if sections != nil {
		// Section numbers have 16 bits. A header: 8 size in memory, 12 address, 36 flags.
		const headerSize, most, sectionExecutable = 40, 1 << 16, 0x20000000
		c := cursor(sections, 0, min(sections.Size, headerSize*most))
		for c.Left() >= headerSize {
			c.Skip(8)
			size, rva := c.U32(), c.U32()
			c.Skip(headerSize - 20)
			f.sections = append(f.sections, section{rva, size, c.U32()&sectionExecutable != 0})
		}
		if err := c.Err(); err != nil {
			return err
		}
	}
	if len(f.sections) == 0 {
		f.notes.Add(fmt.Errorf("%s: without section headers nothing is known about addresses", f.src.Name))
	}
	if f.Arch != nil && f.Arch.StackWIN {
		f.openFrames(stream(debugFrames, "frame data"), stream(debugFPO, "FPO"))
	}
	return nil
}

// rva is the address of a section's byte, as it was linked. Section numbers count from 1.
// It is false for a section that the file does not have, such as 0.
func (f *File) rva(section uint16, off uint32) (uint64, bool) {
	if section == 0 || int(section) > len(f.sections) {
		return 0, false
	}
	return uint64(f.sections[section-1].rva) + uint64(off), true
}

// split is the section of an address, as it was linked, and the offset in it.
// ok is false for an address between sections, and for the headers before the first.
func (f *File) split(rva uint64) (uint16, uint32, bool) {
	for i, s := range f.sections {
		if rva >= uint64(s.rva) && rva-uint64(s.rva) < uint64(s.size) {
			return uint16(i + 1), uint32(rva - uint64(s.rva)), true
		}
	}
	return 0, 0, false
}

// contribution is a range of code or data and the module that it comes from.
type contribution struct {
	section uint16
	off     uint32
	size    uint32
	module  int
}

// contributions is the table of them, sorted by section and offset.
// base is the offset of the first entry in the stream, step the size of an entry.
type contributions struct {
	s       *stream
	base    int64
	step    int64
	ordered ordered.Table
}

// Versions of the table, which differ in the size of an entry.
const (
	// "Ver60" in LLVM's names, of 28 bytes an entry.
	contribVersion1 = 0xeffe0000 + 19970605
	// "V2", which adds four bytes with the section's number in the object file.
	contribVersion2 = 0xeffe0000 + 20140516
)

// openContributions reads the version and leaves the entries, which are thousands, to searches.
func openContributions(s *stream, off, size int64) (*contributions, error) {
	t := &contributions{s: s, base: off + 4, step: 28}
	// Without a table every address is uncovered, and only public names answer.
	if size < 4 {
		return t, nil
	}
	c := cursor(s, off, size)
	switch version := c.U32(); {
	case c.Err() != nil:
	case version == contribVersion2:
		t.step = 32
	case version != contribVersion1:
		c.FailAt(off, "a known version of the section contributions", fmt.Sprintf("0x%x", version))
	}
	t.ordered = ordered.Table{N: int(c.Left() / t.step), Key: func(i int) (uint64, error) {
		e, err := t.at(i)
		return e.key(), err
	}}
	return t, c.Err()
}

// sectionOffset is an address as linkers write it, a section's number and an offset in it, as one
// number. Symbol records have addresses in this form. As numbers they sort as the table of
// contributions does.
//
// Example: byte 0x10 of section 1 is 0x1_0000_0010.
func sectionOffset(section uint16, off uint32) uint64 { return uint64(section)<<32 | uint64(off) }

func (e *contribution) key() uint64 { return sectionOffset(e.section, e.off) }

// at reads section u16, 4 offset, 8 size, 12 characteristics, 16 module u16, two checksums.
func (t *contributions) at(i int) (contribution, error) {
	b, err := t.s.record(t.base+int64(i)*t.step, 18)
	if err != nil {
		return contribution{}, err
	}
	le := binary.LittleEndian
	return contribution{section: le.Uint16(b), off: le.Uint32(b[4:]), size: le.Uint32(b[8:]), module: int(le.Uint16(b[16:]))}, nil
}

// find is the contribution that covers a section's byte.
func (t *contributions) find(section uint16, off uint32) (contribution, bool, error) {
	pos, err := t.ordered.Search(sectionOffset(section, off))
	if err != nil || pos < 0 {
		return contribution{}, false, err
	}
	e, err := t.at(t.ordered.Record(pos))
	return e, err == nil && e.section == section && off-e.off < e.size, err
}

// moduleName is the name of an object file, the one of a number in the list, for messages.
func (f *File) moduleName(m *module, number int) string {
	name, _, err := readText(f.dbi.Source, int64(m.name), f.dbi.Size)
	if err != nil || name == "" {
		return fmt.Sprintf("module %d", number)
	}
	return name
}
