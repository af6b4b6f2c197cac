package core

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// Exception is stream 6.
// Its meaning depends on the system: on Linux, Code is the signal and Flags its si_code, and
// Address is si_addr; on Windows, they are those of an EXCEPTION_RECORD. Package reason knows the
// values.
type Exception struct {
	ThreadID   uint32
	Code       uint32
	Flags      uint32
	Record     uint64
	Address    uint64
	Params     []uint64 // NumberParameters of them, at most 15
	ContextLoc Location
	Text       string // what LLDB says about the exception
	// CodeKnown: Flags is what the kernel wrote as si_code, so that 0 is SI_USER. Writers of minidumps
	// may leave it 0.
	CodeKnown bool

	in    registersIn // set by Normalized
	teb64 uint64      // of inSaved
}

const maxExceptionParams = 15

// decodeException reads MINIDUMP_EXCEPTION_STREAM, 168 bytes.
//
//	 0 ThreadId u32 · 4 padding u32 · 8 ExceptionCode u32 · 12 ExceptionFlags u32 · 16 ExceptionRecord u64
//	24 ExceptionAddress u64 · 32 NumberParameters u32 · 36 padding u32 · 40 ExceptionInformation 15 × u64
//	160 Context: DataSize u32 · 164 Rva u32
func decodeException(d *Dump, s *Stream, c *input.Cursor) {
	e := &Exception{ThreadID: c.U32()}
	c.Skip(4)
	e.Code, e.Flags, e.Record, e.Address = c.U32(), c.U32(), c.U64(), c.U64()
	if c.Err() != nil {
		return
	}
	// From here on what is there is worth having even if the rest is cut off.
	d.Exception = e
	defer func() { d.Exceptions = append(d.Exceptions, *e) }()
	at := c.Off()
	n := c.U32()
	c.Skip(4)
	if n > maxExceptionParams && c.Err() == nil {
		d.remark(Warning, s.Type, at, fmt.Sprintf("at most %d parameters", maxExceptionParams), fmt.Sprintf("%d", n))
		n = maxExceptionParams
	}
	// The array always has 15 elements, so those after the claimed number are read and left out.
	all := make([]uint64, maxExceptionParams)
	for i := range all {
		v := c.U64()
		all[i] = v
		if uint32(i) < n && c.Err() == nil {
			e.Params = append(e.Params, v)
		}
	}
	e.Text = lldbText(e, c, all)
	e.ContextLoc = location(c)
}

// maxNested is how long a chain of records may be. An exception in a handler of an exception, in
// turn in a handler, is already rare.
const maxNested = 16

// NestedExceptions returns the exception records that an exception's Record points to in memory,
// one after the other: Windows keeps there what was raised before, such as the access violation
// under a failed attempt to handle it. missing is the address of the first record that the dump
// does not hold, 0 if it holds all.
//
//	EXCEPTION_RECORD (winnt.h): ExceptionCode u32 · ExceptionFlags u32 · ExceptionRecord pointer ·
//	ExceptionAddress pointer · NumberParameters u32, aligned like a pointer · 15 × ULONG_PTR
func (d *Dump) NestedExceptions(e *Exception) (nested []Exception, missing uint64) {
	a := d.Arch()
	if d.OS() != Windows || a == nil {
		return nil, 0
	}
	if w := d.wow64; w != nil && e.in == inRecord {
		a = w.Host
	}
	seen := map[uint64]bool{}
	for at := e.Record; at != 0 && !seen[at] && len(nested) < maxNested; {
		seen[at] = true
		size := uint64(a.WordSize)
		raw := make([]byte, 8+3*size+maxExceptionParams*size)
		if d.Memory.Read(at, raw) < len(raw) {
			return nested, at
		}
		pointer := func(i uint64) uint64 {
			v, _ := decodeWord(raw[8+i*size:8+(i+1)*size], d.Header.Order)
			return v
		}
		r := Exception{ThreadID: e.ThreadID, Code: d.Header.Order.Uint32(raw), Flags: d.Header.Order.Uint32(raw[4:]), Record: pointer(0), Address: pointer(1), in: e.in}
		n := uint64(d.Header.Order.Uint32(raw[8+2*size:]))
		if r.Code == 0 || n > maxExceptionParams {
			return nested, 0 // no record
		}
		for i := range n {
			r.Params = append(r.Params, pointer(3+i))
		}
		nested, at = append(nested, r), r.Record
	}
	return nested, 0
}

// BreakpadInfo is stream 0x47670001; a thread id is nil if the writer did not mark it valid.
type BreakpadInfo struct {
	DumpThread, RequestingThread *uint32
}

// decodeBreakpadInfo reads MDRawBreakpadInfo, 12 bytes.
//
//	0 validity u32 (1: dump thread, 2: requesting thread) · 4 dump_thread_id u32 · 8 requesting_thread_id u32
func decodeBreakpadInfo(d *Dump, _ *Stream, c *input.Cursor) {
	valid, dump, requesting := c.U32(), c.U32(), c.U32()
	if c.Err() != nil {
		return
	}
	d.Breakpad = &BreakpadInfo{}
	if valid&1 != 0 {
		d.Breakpad.DumpThread = &dump
	}
	if valid&2 != 0 {
		d.Breakpad.RequestingThread = &requesting
	}
}

// Assertion is stream 0x47670002.
type Assertion struct {
	Expression, Function, File string
	Line                       uint32
	Type                       uint32 // 1 invalid parameter, 2 pure virtual call
}

// decodeAssertion reads MDRawAssertionInfo, 776 bytes.
//
//	0 expression 128 × u16 · 256 function 128 × u16 · 512 file 128 × u16 · 768 line u32 · 772 type u32
func decodeAssertion(d *Dump, _ *Stream, c *input.Cursor) {
	a := &Assertion{}
	a.Expression = utf16Field(c.Bytes(256), c.Order)
	a.Function = utf16Field(c.Bytes(256), c.Order)
	a.File = utf16Field(c.Bytes(256), c.Order)
	a.Line, a.Type = c.U32(), c.U32()
	if c.Err() == nil {
		d.Assertion = a
	}
}

// hexNum formats a number of a message.
func hexNum(v uint64) string { return fmt.Sprintf("0x%x", v) }
