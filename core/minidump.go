// Package core reads minidumps. It decodes what the dump says into plain Go data, with a diagnostic
// for everything that is wrong in it. It knows nothing of symbols or stacks.
//
// Start at Open in this file. It reads the header and the directory, and then the streams by the
// table in streams.go, which has a row with a decoder for each stream type. The decoders fill Dump.
// context.go reads registers, memory.go joins what the streams have of the process' memory.
//
// Source of the layouts: Microsoft's minidumpapiset.h and Breakpad's minidump_format.h and its
// per-CPU headers. All integers are in the byte order that the signature shows; all positions in
// the file count from its first byte.
package core

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// Header is the file's fixed header.
type Header struct {
	Order       binary.ByteOrder // of the whole file, from the signature
	Version     uint32
	StreamCount uint32
	Directory   FileOff
	Checksum    uint32
	Time        uint32 // seconds since 1970 (UTC) when the dump was written
	Flags       uint64 // MINIDUMP_TYPE
}

// Dump is an opened minidump. Everything that is not in the file is nil, empty or zero.
type Dump struct {
	Src     *input.Source
	Header  Header
	Streams []Stream
	Diags   []Diagnostic

	System    *SystemInfo
	Misc      *MiscInfo
	Exception *Exception
	// Exceptions are those of all Exception streams, in file order. Exception is the last of them,
	// as in rust-minidump, and the first in a normalized dump.
	Exceptions []Exception
	Breakpad   *BreakpadInfo
	Assertion  *Assertion
	Threads    []Thread
	Modules    []Module         // in file order
	Unloaded   []UnloadedModule // in file order
	Regions    []MemoryInfo     // MemoryInfoList (16), in file order
	Linux      Linux

	Windows          WindowsInfo
	Handles          []Handle          // HandleData (12), in file order
	HandleOperations []HandleOperation // HandleOperationList (18), in file order
	HostModules      []Module          // of the system under Wine, in file order
	Crashpad         *CrashpadInfo
	MacCrashInfo     []MacCrashInfo
	MacBootArgs      *string // of the kernel
	Limits           []Limit // of the process, on Linux
	HasLimits        bool
	SoftErrors       string // JSON: what went wrong while the dump was written

	Micro *Micro // what only a microdump says; nil for minidumps
	// Registers is how an ELF core has registers; nil for minidumps, whose records say what they are.
	Registers *CoreRegisters
	Memory    *Memory // never nil
	// Program, if the caller sets it, reads what the dump has not of the program's code, from the
	// files that it was loaded from: the bytes at addr into p, answering how many there were.
	Program func(addr uint64, p []byte) int
	// Section, if the caller sets it, returns the section of a program's file that an address is in.
	Section func(addr uint64) (Section, bool)

	raw       *Dump           // what this was normalized from, else nil
	wow64     *Wow64          // see Normalized
	narrowed  bool            // see narrow
	ids       *threadIndex    // see indexThreads
	merged    []ModuleMapping // see ModuleMappings
	sizes     map[int]uint64  // see ExtendModule
	places    map[int]uint64  // see PlaceModule
	starts    []programStart  // by module, made with merged
	modules   *ModuleMap      // see ModuleAt
	need      error           // a *input.NeedError that a decoder met
	namesRead int64           // see afford
	truncated int             // memory ranges beyond the end of the file, wholly or in part
	bad       int             // how many diagnostics are Bad, including those beyond the limit of Diags
}

// Severity of a Diagnostic.
type Severity uint8

const (
	Note    Severity = iota // unusual, harmless
	Warning                 // something is missing or was corrected
	Bad                     // a part of the dump could not be read
)

// Diagnostic is something wrong or noteworthy in the dump; the rest of it is still shown.
type Diagnostic struct {
	Severity Severity
	Stream   StreamType // 0 if it is about the file as a whole
	Err      *input.FormatError
}

const (
	headerSize       = 32
	directorySize    = 12         // of one entry
	signature        = 0x504d444d // "MDMP"
	signatureSwapped = 0x4d444d50
	// The low half of the version is fixed, the high half is for the writer to choose.
	versionLow = 0xa793
	// maxStreams bounds the directory. No writer has more; each costs an entry in memory.
	maxStreams = 4096
	// maxDiags bounds what a hostile file can make us say.
	maxDiags = 200
)

// Open reads the header, the directory and the streams of a dump. What is wrong with a stream is in
// Diags; the error is for files that are not minidumps or have no readable directory
// (*input.FormatError), and for bytes that the source does not have yet (*input.NeedError: fetch
// them and call Open again).
func Open(src *input.Source) (*Dump, error) {
	d := &Dump{Src: src}
	d.Memory = newMemory(d)
	if err := d.readHeader(); err != nil {
		return nil, err
	}
	if err := d.readDirectory(); err != nil {
		return nil, err
	}
	d.decodeStreams()
	d.Memory.build()
	d.extendByHeaders()
	if d.need != nil {
		return nil, d.need
	}
	return d, nil
}

// TruncatedParts returns how many parts that the dump names (streams, stacks and contexts of
// threads, memory ranges) are beyond the end of the file, wholly or in part. It is more than 0 for
// a file that was cut short.
func (d *Dump) TruncatedParts() int {
	n := d.truncated
	for i := range d.Streams {
		if s := &d.Streams[i]; s.Type != StreamUnused && !s.Loc.In(d.Src.Size) {
			n++
		}
	}
	for i := range d.Threads {
		for _, l := range []Location{d.Threads[i].Stack, d.Threads[i].ContextLoc} {
			if l.Size > 0 && !l.In(d.Src.Size) {
				n++
			}
		}
	}
	return n
}

// IsMinidump reports whether a file begins like a minidump of either byte order; first are its
// first bytes, 4 or more.
func IsMinidump(first []byte) bool {
	if len(first) < 4 {
		return false
	}
	s := binary.LittleEndian.Uint32(first)
	return s == signature || s == signatureSwapped
}

// readHeader reads MINIDUMP_HEADER and finds out the byte order by its signature. Its errors are
// those of a file that is not a minidump.
func (d *Dump) readHeader() error {
	wrong := func(off int64, want, have string) error {
		return &input.FormatError{File: d.Src.Name, Part: "minidump header", Offset: off, Want: want, Have: have}
	}
	if d.Src.Size == 0 {
		return wrong(0, "the letters MDMP", "an empty file")
	}
	first, err := d.Src.Bytes(0, min(d.Src.Size, 4))
	if err != nil {
		return err
	}
	if !IsMinidump(first) {
		return wrong(0, "the letters MDMP", fmt.Sprintf("a file that starts with %q", first))
	}
	if d.Src.Size < headerSize {
		return wrong(0, fmt.Sprintf("a header of %d bytes", headerSize), fmt.Sprintf("a file of %d bytes", d.Src.Size))
	}
	var order binary.ByteOrder = binary.LittleEndian
	if order.Uint32(first) == signatureSwapped {
		order = binary.BigEndian
	}
	d.Src.NoteRead("minidump header", 0, 4)
	c := input.NewCursor(d.Src, "minidump header", 4, headerSize-4, order)
	d.Header = Header{
		Order:       order,
		Version:     c.U32(),
		StreamCount: c.U32(),
		Directory:   FileOff(c.U32()),
		Checksum:    c.U32(),
		Time:        c.U32(),
		Flags:       c.U64(),
	}
	if c.Err() != nil {
		return c.Err()
	}
	if v := d.Header.Version & 0xffff; v != versionLow {
		return wrong(4, fmt.Sprintf("format version 0x%04x", versionLow), fmt.Sprintf("0x%04x", v))
	}
	return nil
}

// readDirectory fills Streams. A count that exceeds the file's room is cut to what fits.
func (d *Dump) readDirectory() error {
	off, count := int64(d.Header.Directory), int64(d.Header.StreamCount)
	if off > d.Src.Size {
		return &input.FormatError{File: d.Src.Name, Part: "stream directory", Offset: off,
			Want: fmt.Sprintf("%d entries of %d bytes", count, directorySize), Have: fmt.Sprintf("a file of %d bytes", d.Src.Size)}
	}
	fit := min(count, (d.Src.Size-off)/directorySize, maxStreams)
	if fit < count {
		e := &input.FormatError{File: d.Src.Name, Part: "stream directory", Offset: off,
			Want: fmt.Sprintf("%d entries of %d bytes", count, directorySize), Have: fmt.Sprintf("room for %d", fit)}
		if fit == 0 {
			return e
		}
		d.diagnose(Bad, 0, e)
	}
	c := input.NewCursor(d.Src, "stream directory", off, fit*directorySize, d.Header.Order)
	seen := map[StreamType]int{}
	for range fit {
		at := c.Off()
		s := Stream{Type: StreamType(c.U32())}
		s.Loc = Location{Size: uint64(c.U32()), Off: FileOff(c.U32())}
		if c.Err() != nil {
			return c.Err()
		}
		s.Name, s.Vendor, s.Form = s.Type.Name(), s.Type.Vendor(), s.Type.form()
		// 0 marks an entry that the writer reserved and did not use; it may occur often. Of several
		// streams of a type rust-minidump uses the last; so does Breakpad, but it refuses dumps
		// with a second one of the basic types.
		if s.Type != StreamUnused {
			if first, twice := seen[s.Type]; twice {
				d.Streams[first].Duplicate = true
				use := "another one; the last is used"
				if s.Type == StreamException {
					use = "another one" // all of them are decoded
				}
				d.diagnose(Warning, s.Type, &input.FormatError{File: d.Src.Name, Part: s.Type.part(), Offset: at,
					Want: "one stream of this type", Have: use})
			}
			seen[s.Type] = len(d.Streams)
		}
		d.Streams = append(d.Streams, s)
	}
	return nil
}

// diagnose keeps a finding. After maxDiags of them it only counts, in the last entry.
func (d *Dump) diagnose(sev Severity, stream StreamType, err error) {
	if err == nil {
		return
	}
	var need *input.NeedError
	if errors.As(err, &need) {
		d.need = cmp.Or(d.need, err)
		return
	}
	var fe *input.FormatError
	if !errors.As(err, &fe) {
		fe = &input.FormatError{File: d.Src.Name, Part: stream.part(), Offset: -1, Err: err}
	}
	if sev == Bad {
		d.bad++
	}
	switch {
	case len(d.Diags) < maxDiags:
		d.Diags = append(d.Diags, Diagnostic{sev, stream, fe})
	case len(d.Diags) == maxDiags:
		d.Diags = append(d.Diags, Diagnostic{Warning, 0, &input.FormatError{File: d.Src.Name, Offset: -1,
			Have: fmt.Sprintf("more than %d things are wrong; the rest is not listed", maxDiags)}})
	}
}

// remark diagnoses something at an offset of a stream.
func (d *Dump) remark(sev Severity, stream StreamType, off int64, want, have string) {
	d.diagnose(sev, stream, &input.FormatError{File: d.Src.Name, Part: stream.part(), Offset: off, Want: want, Have: have})
}
