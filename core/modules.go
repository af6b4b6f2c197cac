package core

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// Module is an entry of stream 4, as stored and as the field reads it.
type Module struct {
	Base, Size    uint64
	Checksum      uint32
	TimeDateStamp uint32
	Name          string // path as stored
	Version       [4]uint16
	HasVersion    bool // VS_FIXEDFILEINFO's signature is right
	FileVersionMS uint32
	FileVersionLS uint32
	StructVersion uint32 // of VS_FIXEDFILEINFO
	// ProductVersion is the version's second half in dumps of ELF modules by rust-minidump's
	// writer; see FileVersion.
	ProductVersionMS, ProductVersionLS uint32
	// The rest of VS_FIXEDFILEINFO (verrsrc.h). FileDate is a FILETIME: units of 100 ns since
	// 1601-01-01 UTC.
	FileFlagsMask, FileFlags, FileOS, FileType, FileSubtype uint32
	FileDate                                                uint64

	CodeView      CodeView
	MiscDebugFile string // IMAGE_DEBUG_MISC (old dumps)
	CodeViewLoc   Location
	MiscLoc       Location
	DebugFile     string // path as stored in the CodeView record, else the module's own
	DebugID       string // 33+ upper-case hex digits as in a symbol store, or ""
	CodeID        string // Windows: timestamp and size; others: the build id or uuid, or ""
	Flags         ModuleFlags

	os OS
	// big: the dump is big-endian.
	big bool
}

// CodeView is a module's debug record.
type CodeView struct {
	Signature uint32 // RSDS, NB10, BpEL …, or 0
	GUID      [16]byte
	Age       uint32
	Offset    uint32 // NB10
	Time      uint32 // NB10
	BuildID   []byte // BpEL
	File      string // PDB name as stored
}

// The signatures of CodeView records, as they read in the file's byte order.
const (
	SigRSDS = 0x53445352 // PDB 7.0
	SigNB10 = 0x3031424e // PDB 2.0
	SigBpEL = 0x4270454c // Breakpad's record of an ELF build id
)

// UnloadedModule is an entry of stream 14.
type UnloadedModule struct {
	Base, Size    uint64
	Checksum      uint32
	TimeDateStamp uint32
	Name          string
}

const (
	moduleSize = 108
	// moduleCost is what a module takes of memory in bytes: here, in its session and in the report.
	// All may take half of what there is.
	moduleCost         = 2200
	unloadedModuleSize = 24
	// maxCodeView bounds a debug record; it holds a path and a few numbers.
	maxCodeView = 32 << 10

	versionSignature = 0xfeef04bd // VS_FFI_SIGNATURE
	versionStruct    = 0x00010000 // VS_FFI_STRUCVERSION
)

// decodeModuleList reads MINIDUMP_MODULE entries. A module without bytes or beyond the end of the
// address space is kept in the list, with a diagnostic: it can contain no address.
//
//	 0 BaseOfImage u64 · 8 SizeOfImage u32 · 12 CheckSum u32 · 16 TimeDateStamp u32 · 20 ModuleNameRva u32
//	24 VS_FIXEDFILEINFO, 13 × u32: Signature · StrucVersion · FileVersionMS · FileVersionLS · ProductVersionMS ·
//	   ProductVersionLS · FileFlagsMask · FileFlags · FileOS · FileType · FileSubtype · FileDateMS · FileDateLS
//	76 CvRecord: DataSize u32 · Rva u32 · 84 MiscRecord: DataSize u32 · Rva u32 · 92 reserved 4 × u32
func decodeModuleList(d *Dump, s *Stream, c *input.Cursor) {
	d.Modules = d.moduleList(s, c)
	flagModules(d.Modules)
}

// decodeHostModules reads Wine's list of the host system's modules, ELF or Mach-O files, which has
// the form of the module list.
func decodeHostModules(d *Dump, s *Stream, c *input.Cursor) {
	d.HostModules = d.moduleList(s, c)
	flagModules(d.HostModules)
}

// moduleList reads a list of MINIDUMP_MODULE entries. What was read before an entry is cut off is
// kept.
func (d *Dump) moduleList(s *Stream, c *input.Cursor) (out []Module) {
	n := d.countedList(s, c, moduleSize, min(maxModules, d.Src.Left(input.Memory)/2/moduleCost))
	for range n {
		at := c.Off()
		m := Module{os: d.OS(), big: d.Header.Order == binary.ByteOrder(binary.BigEndian), Base: c.U64(), Size: uint64(c.U32()), Checksum: c.U32(), TimeDateStamp: c.U32()}
		name := c.U32()
		sig := c.U32()
		m.StructVersion, m.FileVersionMS, m.FileVersionLS = c.U32(), c.U32(), c.U32()
		m.ProductVersionMS, m.ProductVersionLS = c.U32(), c.U32()
		m.FileFlagsMask, m.FileFlags, m.FileOS, m.FileType, m.FileSubtype = c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
		// The upper half comes first.
		m.FileDate = uint64(c.U32())<<32 | uint64(c.U32())
		m.CodeViewLoc, m.MiscLoc = location(c), location(c)
		c.Skip(4 * 4)
		if c.Err() != nil {
			break
		}
		m.HasVersion = sig == versionSignature
		m.Version = [4]uint16{uint16(m.FileVersionMS >> 16), uint16(m.FileVersionMS), uint16(m.FileVersionLS >> 16), uint16(m.FileVersionLS)}
		m.Name = d.stringAt(s.Type, FileOff(name), "module name")
		d.readCodeView(&m)
		d.readDebugMisc(&m)
		m.identify()
		if m.Size == 0 || m.Base > ^uint64(0)-m.Size {
			d.remark(Warning, s.Type, at, "a module with an address range", fmt.Sprintf("%q at %s with %d bytes", m.Name, hexNum(m.Base), m.Size))
		}
		out = append(out, m)
	}
	return out
}

// readCodeView reads a module's debug record; one that is cut off or unknown leaves what could be
// read.
//
//	RSDS: 0 signature u32 · 4 GUID 16 · 20 age u32 · 24 PDB name, ends with 0
//	NB10: 0 signature u32 · 4 offset u32 · 8 time u32 · 12 age u32 · 16 PDB name, ends with 0
//	BpEL: 0 signature u32 · 4 build id, the rest of the record
func (d *Dump) readCodeView(m *Module) {
	if m.CodeViewLoc.Size == 0 || !d.afford(StreamModuleList, int64(min(m.CodeViewLoc.Size, maxCodeView))) {
		return
	}
	part := fmt.Sprintf("ModuleList stream, CodeView record of %q", m.Name)
	c := input.NewCursor(d.Src, part, int64(m.CodeViewLoc.Off), int64(min(m.CodeViewLoc.Size, maxCodeView)), d.Header.Order)
	cv := CodeView{Signature: c.U32()}
	switch cv.Signature {
	case SigRSDS:
		// A GUID is a u32, two u16 and eight bytes; it is kept in the order that it has in a
		// little-endian file.
		binary.LittleEndian.PutUint32(cv.GUID[0:], c.U32())
		binary.LittleEndian.PutUint16(cv.GUID[4:], c.U16())
		binary.LittleEndian.PutUint16(cv.GUID[6:], c.U16())
		c.Fill(cv.GUID[8:])
		cv.Age = c.U32()
		cv.File = cString(c.Bytes(c.Left()))
	case SigNB10:
		cv.Offset, cv.Time, cv.Age = c.U32(), c.U32(), c.U32()
		cv.File = cString(c.Bytes(c.Left()))
	case SigBpEL:
		cv.BuildID = c.Bytes(c.Left())
	default:
		// A record of a kind that names no file (CodeView inside the image, NB09 and NB11):
		// CodeViewLoc has its bytes.
		d.Src.NoteRead(part+", unknown", c.Off(), c.Left())
	}
	d.diagnose(Warning, StreamModuleList, c.Err())
	if c.Err() == nil {
		m.CodeView = cv
	}
}

// readDebugMisc reads IMAGE_DEBUG_MISC, which old linkers wrote for a .dbg file.
//
//	0 DataType u32 · 4 Length u32, all of it · 8 Unicode u8 · 9 reserved 3 · 12 name
func (d *Dump) readDebugMisc(m *Module) {
	if m.MiscLoc.Size == 0 || !d.afford(StreamModuleList, int64(min(m.MiscLoc.Size, maxCodeView))) {
		return
	}
	part := fmt.Sprintf("ModuleList stream, debug record of %q", m.Name)
	c := input.NewCursor(d.Src, part, int64(m.MiscLoc.Off), int64(min(m.MiscLoc.Size, maxCodeView)), d.Header.Order)
	c.Skip(8)
	unicode := c.U8() != 0
	c.Skip(3)
	p := c.Bytes(c.Left())
	if c.Err() != nil {
		d.diagnose(Warning, StreamModuleList, c.Err())
		return
	}
	if unicode {
		m.MiscDebugFile = utf16Field(p, c.Order)
	} else {
		m.MiscDebugFile = cString(p)
	}
}

// decodeUnloadedList reads MINIDUMP_UNLOADED_MODULE entries.
//
//	0 BaseOfImage u64 · 8 SizeOfImage u32 · 12 CheckSum u32 · 16 TimeDateStamp u32 · 20 ModuleNameRva u32
func decodeUnloadedList(d *Dump, s *Stream, c *input.Cursor) {
	n, entry := d.sizedList(s, c, unloadedModuleSize, maxModules, false)
	for range n {
		u := UnloadedModule{Base: c.U64(), Size: uint64(c.U32()), Checksum: c.U32(), TimeDateStamp: c.U32()}
		name := c.U32()
		c.Skip(entry - unloadedModuleSize)
		if c.Err() != nil {
			return
		}
		u.Name = d.stringAt(s.Type, FileOff(name), "name of an unloaded module")
		d.Unloaded = append(d.Unloaded, u)
	}
}

// End returns the first address after the module.
func (m *Module) End() uint64 { return m.Base + m.Size }

// FileName returns a path's last part; both kinds of slash separate.
func FileName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}
