package pe

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// CodeView is the record of the debug directory that names the program's PDB.
type CodeView struct {
	// Signature is "RSDS" (PDB 7.0), "NB10" (PDB 2.0), or "" if the file has neither.
	Signature string
	GUID      [16]byte // RSDS
	Time      uint32   // NB10
	Age       uint32
	// File is the path of the PDB as the linker wrote it.
	File string
}

const (
	// An entry of the debug directory: 0 characteristics, 4 time, 8 version, 12 type, 16 size, 20
	// RVA, 24 file offset.
	debugEntrySize = 28
	debugCodeView  = 2 // IMAGE_DEBUG_TYPE_CODEVIEW
	// maxDebugEntries bounds the debug directory; linkers write up to eight.
	maxDebugEntries = 64
	// maxPDBPath bounds the path in a CodeView record.
	maxPDBPath = 1024
)

// readDebug looks for the CodeView record in the debug directory ("Debug directory").
//
//	entry: 12 type u32 · 16 size u32 · 20 RVA u32 · 24 file offset u32
func (f *File) readDebug() error {
	d := f.dirs[dirDebug]
	if d.rva == 0 || d.size == 0 {
		return nil
	}
	src := f.part("debug directory", d)
	if src.Size < int64(d.size) {
		f.warnings.Add(f.bad("debug directory", -1, fmt.Sprintf("%d bytes at RVA 0x%x", d.size, d.rva), fmt.Sprintf("%d bytes", src.Size)))
	}
	for i := range min(src.Size/debugEntrySize, maxDebugEntries) {
		c := input.NewCursor(src, "debug directory", i*debugEntrySize, debugEntrySize, binary.LittleEndian)
		c.Skip(12)
		kind, size, rva, off := c.U32(), c.U32(), c.U32(), c.U32()
		if c.Err() != nil {
			return c.Err()
		}
		if kind != debugCodeView {
			continue
		}
		// File offsets mean nothing in an image that was copied from memory, and RVAs are 0 for
		// data that is not loaded.
		at := int64(off)
		if f.mapped || off == 0 {
			at, _ = f.extent(uint64(rva))
		}
		if err := f.readCodeView(at, int64(size)); err != nil || f.CodeView.Signature != "" {
			return err
		}
	}
	return nil
}

// readCodeView reads the record at an offset of the file.
//
//	RSDS: 0 "RSDS" · 4 GUID 16 · 20 age u32 · 24 path, ends with 0
//	NB10: 0 "NB10" · 4 offset u32 · 8 time u32 · 12 age u32 · 16 path, ends with 0
func (f *File) readCodeView(at, size int64) error {
	c := input.NewCursor(f.Src, "CodeView record", at, size, binary.LittleEndian)
	cv := CodeView{Signature: string(c.Bytes(4))}
	switch cv.Signature {
	case "RSDS":
		c.Fill(cv.GUID[:])
		cv.Age = c.U32()
	case "NB10":
		c.Skip(4)
		cv.Time, cv.Age = c.U32(), c.U32()
	default:
		return c.Err()
	}
	path := c.Bytes(min(c.Left(), maxPDBPath))
	if c.Err() != nil {
		return c.Err()
	}
	for i, b := range path {
		if b == 0 {
			path = path[:i]
			break
		}
	}
	cv.File = string(path)
	f.CodeView = cv
	return nil
}

// DebugID is the PDB's id as in a symbol store: the GUID's fields as numbers, or the time of an
// older PDB, and the age; "" if the file has none. A GUID of zeros names no file.
//
// Example: the GUID {497B72F6-390A-44FC-878E-5A2D63B6CC4B} and the age 1 give
// 497B72F6390A44FC878E5A2D63B6CC4B1.
func (f *File) DebugID() string {
	cv := &f.CodeView
	switch {
	case cv.Signature == "RSDS" && cv.GUID != [16]byte{}:
		g := cv.GUID[:]
		le := binary.LittleEndian
		return fmt.Sprintf("%08X%04X%04X%X%x", le.Uint32(g), le.Uint16(g[4:]), le.Uint16(g[6:]), g[8:], cv.Age)
	case cv.Signature == "NB10":
		return fmt.Sprintf("%08X%x", cv.Time, cv.Age)
	}
	return ""
}

// CodeID names the image as symbol servers do, in lower case: eight digits of the time stamp, and
// the size of the image. It is "" for files without a time stamp: theirs is that of many others.
// Example: the stamp 0x45D35F6C and the size 0x2D000 give "45d35f6c2d000".
func (f *File) CodeID() string {
	if f.Stamp == 0 {
		return ""
	}
	return fmt.Sprintf("%08x%x", f.Stamp, f.ImageSize)
}

// readHybrid finds out whether the file has code of two processors: its load configuration then
// leads to metadata of the kind that Microsoft calls CHPE ("Load configuration directory", the
// field CHPEMetadataPointer).
//
// Windows on arm64 has two kinds of such files: ARM64EC for x64 processes, whose header says x64,
// and ARM64X for both, whose header says arm64.
func (f *File) readHybrid() error {
	switch f.Machine {
	case MachineARM64EC:
		f.Hybrid = "arm64ec"
		return nil
	case MachineARM64X:
		f.Hybrid = "arm64x"
		return nil
	case MachineAMD64, MachineARM64:
	default:
		return nil
	}
	// The directory begins with its size, and older ones end before the field. Its value is an
	// address, not an RVA.
	const field = 0xc8
	d := f.dirs[dirLoadConfig]
	if d.rva == 0 {
		return nil
	}
	size, err := f.At(uint64(d.rva), 4)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(size) < field+8 {
		return nil
	}
	p, err := f.At(uint64(d.rva)+field, 8)
	if err != nil {
		return err
	}
	at := binary.LittleEndian.Uint64(p)
	if at == 0 {
		return nil
	}
	if f.Hybrid = "arm64ec"; f.Machine == MachineARM64 {
		f.Hybrid = "arm64x"
	}
	return f.readCodeMap(at - f.Base)
}

// CodeRange is a range of a hybrid file's code of one kind.
type CodeRange struct {
	Start, End uint64
	Kind       uint8
}

// Kinds of code ranges.
const (
	CodeARM64   = 0
	CodeARM64EC = 1
	CodeX64     = 2
)

// maxRanges bounds how many ranges of code are read; linkers make a handful.
const maxRanges = 1 << 12

// readCodeMap reads what the metadata of a hybrid file says about its code, and where the function
// table of its other processor is.
//
//	4 code map RVA, 8 its count (4 bytes start, whose lowest two bits are the kind; 4 bytes length) · 64 second function table RVA, 68 its size
//
// Source: LLVM, Object/COFF.h (chpe_metadata, chpe_range_entry).
// Example: an entry 0x1002, 0x500 is x64 code from 0x1000 to 0x1500.
func (f *File) readCodeMap(rva uint64) error {
	m, err := f.At(rva, 72)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	count := min(le.Uint32(m[8:]), maxRanges)
	entries, err := f.At(uint64(le.Uint32(m[4:])), int64(count)*8)
	if err != nil {
		return err
	}
	for ; len(entries) > 0; entries = entries[8:] {
		start := le.Uint32(entries)
		f.ranges = append(f.ranges, CodeRange{uint64(start &^ 3), uint64(start&^3) + uint64(le.Uint32(entries[4:])), uint8(start & 3)})
	}
	f.extra = directory{le.Uint32(m[64:]), le.Uint32(m[68:])}
	return nil
}

// CodeKind is the kind of a hybrid file's code at an address; ok is false where its map has none,
// and for other files.
func (f *File) CodeKind(rva uint64) (kind uint8, ok bool) {
	for _, r := range f.ranges {
		if rva >= r.Start && rva < r.End {
			return r.Kind, true
		}
	}
	return 0, false
}

// ExtraExceptions is the function table of a hybrid file's other processor: ARM64's in a file for
// x64, x64's in one for ARM64. Other files have nil.
func (f *File) ExtraExceptions() *input.Source {
	if f.extra.rva == 0 || f.extra.size == 0 {
		return nil
	}
	return f.part("second .pdata", f.extra)
}

// DebugLink returns the content of .gnu_debuglink: the name of the separate debug file that GNU's
// tools make, and the CRC-32 of the whole file.
//
//	name\0 | padding to 4 bytes | CRC-32 4
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	s := f.Section(".gnu_debuglink")
	if s == nil {
		return "", 0, false
	}
	d, err := f.Data(s)
	if err != nil {
		f.warnings.Add(err)
		return "", 0, false
	}
	name, err = zeroEnded(d, 0, maxPDBPath)
	if err != nil || name == "" {
		return "", 0, false
	}
	b, err := d.Bytes((int64(len(name))+4)&^3, 4) // name, NUL, padding to 4 bytes, CRC
	if err != nil {
		f.warnings.Add(err)
		return "", 0, false
	}
	return name, binary.LittleEndian.Uint32(b), true
}
