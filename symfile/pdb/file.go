// Package pdb reads PDB files, Microsoft's format of debug information: functions, lines, inlined
// calls, public names, and the frame data of x86 code. A file is read by random access: opening
// reads headers, the first lookup the list of modules (object files), each lookup a part of one
// module.
//
// Sources: LLVM, docs/PDB; Microsoft, microsoft-pdb (cvinfo.h, the names of records and their
// fields).
package pdb

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// File is an opened PDB. It is not for use by several goroutines at once.
type File struct {
	src *input.Source
	msf *container

	// DebugID is the id as in a symbol store: the GUID's 32 hexadecimal digits and the age, in
	// upper case.
	DebugID string
	// Arch is the processor; nil if there is no table of it.
	Arch *cpu.Arch

	named map[string]int // streams by name
	links *sourceLinks   // nil until they are read
	names *stringTable   // of files and frame data

	dbi           *stream
	moduleList    part           // of dbi
	listed        []module       // nil until the list was read, see modules
	numbers       map[string]int // of the modules by name, nil until a module refers to another
	contributions *contributions
	sections      []section // of the file as it was linked; with an OMAP, before its code was moved
	toSource      *omap     // from addresses of the module to those as it was linked; nil if they are the same
	fromSource    *omap
	moves         map[symbol.Range][]symbol.Range // what moved found last
	movesKept     int                             // how many ranges are in it
	frames        []*frameTable
	publics       *publics
	types, ids    *types

	open     []*moduleData // most recently used first
	notes    input.Warnings
	machine  uint16
	stripped bool
}

// Open reads a PDB's headers. Errors name the stream and the offset in it.
func Open(src *input.Source) (*File, error) {
	c, err := openContainer(src)
	if err != nil {
		return nil, err
	}
	f := &File{src: src, msf: c}
	guid, age, err := f.readInfo()
	if err != nil {
		return nil, err
	}
	dbi := c.stream(streamDBI, "DBI")
	if dbi != nil && dbi.Size > 0 {
		// The linker counts its own runs in this stream; tools that change the file afterwards
		// count theirs in the other.
		if age, err = f.readDBI(dbi); err != nil {
			return nil, err
		}
	}
	f.DebugID = fmt.Sprintf("%s%X", guid, age)
	return f, nil
}

// Name is the name of the file's source.
func (f *File) Name() string { return f.src.Name }

// Warnings are what was passed over so far.
func (f *File) Warnings() []string { return f.notes.List(f.src.Name) }

// pass keeps an error as a warning. It returns that of bytes that are not here yet and that of a
// cancelled read, which say nothing about the file, else nil.
func (f *File) pass(err error) error {
	if err == nil || input.Needs(err) || f.src.Cancelled() != nil {
		return err
	}
	f.notes.Add(err)
	return nil
}

// cursor reads a stream's part from front to back.
func cursor(s *stream, off, size int64) *input.Cursor {
	return input.NewCursor(s.Source, "", off, size, binary.LittleEndian)
}

const (
	// maxInfo bounds the stream of ids and names of streams; a file has a dozen of them.
	maxInfo = 1 << 20
	// maxStreamName is the length in bytes to which names of streams are cut: without an end, many names
	// could have the same bytes. Linkers put paths of files into some.
	maxStreamName = 1 << 10
	// featureFastlink is set where symbols were left in the object files (/DEBUG:FASTLINK): "MINI".
	featureFastlink = 0x494e494d
)

// readInfo reads the stream of ids: version, time, age, GUID; the names of streams as a hash table
// (offsets of names, numbers of streams); features.
//
// Source: LLVM, docs/PDB/PdbStream.rst.
//
//	 0 version, 4 time, 8 age, 12 GUID (16 bytes)
//	28 size of the names' text, text
//	   hash table: entries, capacity, words and bits of used ones, words and bits of deleted ones,
//	   then (offset of the name, number of the stream) for each used one
//	   features, 4 bytes each, up to the end
//
// A GUID's first three fields are little-endian numbers; its last eight bytes are printed in their
// order.
func (f *File) readInfo() (guid string, age uint32, err error) {
	s := f.msf.stream(streamInfo, "info")
	if s == nil {
		return "", 0, &input.FormatError{File: f.src.Name, Part: "stream directory", Offset: -1, Want: "an info stream", Have: fmt.Sprintf("%d streams", len(f.msf.sizes))}
	}
	c := cursor(s, 0, min(s.Size, maxInfo))
	c.Skip(8)
	age = c.U32()
	a, b, d, rest := c.U32(), c.U16(), c.U16(), c.Bytes(8)
	if err := c.Err(); err != nil {
		return "", 0, err
	}
	guid = fmt.Sprintf("%08X%04X%04X%X", a, b, d, rest)
	text := string(c.Bytes(int64(c.U32())))
	count := c.U32()
	c.Skip(4)
	words := c.U32() // of the bits that say which entries of the table are used
	used := 0
	for i := uint32(0); i < words && c.Err() == nil; i++ {
		// Each step clears the lowest bit that is set.
		for bits := c.U32(); bits != 0; bits &= bits - 1 {
			used++
		}
	}
	// The bits of deleted entries say nothing more.
	c.Skip(int64(c.U32()) * 4)
	if c.Err() == nil && int64(used) != int64(count) {
		f.notes.Add(fmt.Errorf("%s: %d names of streams; %d are used", s.Name, count, used))
	}
	f.named = map[string]int{}
	for range used {
		off, number := c.U32(), c.U32()
		if c.Err() == nil && int64(off) < int64(len(text)) {
			rest := text[off:]
			name, _, _ := strings.Cut(rest[:min(len(rest), maxStreamName)], "\x00")
			f.named[name] = int(min(number, noStream))
		}
	}
	for c.Left() >= 4 {
		if c.U32() == featureFastlink {
			return "", 0, &input.FormatError{File: f.src.Name, Part: "features", Offset: -1, Want: "a PDB that holds its symbols",
				Have: "one made with /DEBUG:FASTLINK, whose symbols are in the object files; make a full one with mspdbcmf.exe, or link with /DEBUG:FULL"}
		}
	}
	return guid, age, f.pass(c.Err())
}

// stringTable is the stream "/names": texts by their offset.
type stringTable struct {
	s     *stream
	base  int64
	known texts // that were read
}

// texts keeps texts that were read or made by their number, the last maxTexts bytes or less.
type texts struct {
	of   map[uint32]string
	size int
}

// keep keeps a text. It forgets all others if there is no room.
func (t *texts) keep(number uint32, text string) {
	const entry = 64 // bytes of memory without the text
	t.size += entry + len(text)
	if t.of == nil || t.size > maxTexts {
		t.of, t.size = map[uint32]string{}, entry+len(text)
	}
	t.of[number] = text
}

const (
	maxTexts = 1 << 20
	// maxKept is how many small answers are kept, such as ids of other modules.
	maxKept = 1 << 12
	// maxText bounds a text without an end, and one that is made of many.
	maxText = 1 << 16
	// namesMagic begins the table of names.
	namesMagic = 0xeffeeffe
)

// text is the text at an offset; "" where the table has none.
// A stream that is not as expected leaves all texts empty: files then have no names, but functions
// do.
func (f *File) text(off uint32) (string, error) {
	if f.names == nil {
		number, ok := f.named["/names"]
		if !ok {
			number = noStream
		}
		s := f.msf.stream(number, "names")
		t := &stringTable{}
		if s != nil {
			c := cursor(s, 0, s.Size)
			if magic := c.U32(); c.Err() == nil && magic != namesMagic {
				c.FailAt(0, fmt.Sprintf("0x%x", uint32(namesMagic)), fmt.Sprintf("0x%x", magic))
			}
			c.Skip(4)
			size := int64(c.U32())
			if err := f.pass(c.Err()); err != nil {
				return "", err
			}
			if c.Err() == nil {
				t.s, t.base = s, c.Off()
				t.s.Source = s.Sub(s.Name, 0, t.base+size)
			}
		}
		f.names = t
	}
	t := f.names
	if name, ok := t.known.of[off]; ok || t.s == nil {
		return name, nil
	}
	name, _, err := readText(t.s.Source, t.base+int64(off), t.s.Size)
	if err != nil {
		return "", err
	}
	t.known.keep(off, name)
	return name, nil
}

// readText reads a text up to its zero byte, or to end, and says where it ends.
func readText(s *input.Source, off, end int64) (string, int64, error) {
	var long []byte
	for off < end && len(long) < maxText {
		block, start, err := s.Block(off)
		if err != nil {
			return "", 0, err
		}
		b := block[off-start:]
		b = b[:min(int64(len(b)), end-off, maxText)]
		for i, c := range b {
			if c == 0 {
				return string(append(long, b[:i]...)), off + int64(i) + 1, nil
			}
		}
		long = append(long, b...)
		off += int64(len(b))
	}
	return string(long), off, nil
}

// Has says what there is, by the headers.
// Four bytes of symbols are the signature alone.
func (f *File) Has() (functions, lines bool, err error) {
	list, err := f.modules()
	for i := range list {
		functions = functions || list[i].symbols > 4 && list[i].stream != noStream
		lines = lines || list[i].lines > 0
	}
	return functions && !f.stripped, lines, err
}

// HasFrameData reports whether there are records of how frames of x86 code are found.
func (f *File) HasFrameData() bool { return len(f.frames) > 0 }
