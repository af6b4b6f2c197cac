// Package dumptest writes minidumps for tests: small ones, damaged ones, in either byte order. It
// shares no layout with package core, so that tests find a wrong offset in either. Like the headers
// of the format, it writes record by record, field by field.
//
//	dump := dumptest.New(dumptest.LittleEndian).
//		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
//		Module(0x400000, 0x1000, "/bin/app", dumptest.ELF(buildID)).
//		Thread(1, dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000}), 0x7000, stack).
//		Bytes()
package dumptest

import (
	"encoding/binary"
	"unicode/utf16"
)

// The byte orders of a dump.
var (
	LittleEndian binary.AppendByteOrder = binary.LittleEndian
	BigEndian    binary.AppendByteOrder = binary.BigEndian
)

// Processors and platforms, for System.
const (
	CPUX86      = 0
	CPUARM      = 5
	CPUAMD64    = 9
	CPUARM64    = 12
	CPUARM32Win = 13
	CPUX86ARM64 = 14
	CPUARM64Old = 0x8003
	CPUMIPS     = 1

	OSWindows = 2
	OSMac     = 0x8101
	OSIOS     = 0x8102
	OSLinux   = 0x8201
	OSAndroid = 0x8203
)

// Dump is a minidump that is being written. Every method adds something and returns the Dump.
type Dump struct {
	order   binary.AppendByteOrder
	buf     []byte
	dir     []entry
	time    uint32
	flags   uint64
	version uint32

	threads   []thread
	threadsEx [][]byte
	modules   [][]byte
	hosts     [][]byte
	unloaded  [][]byte
	memory    [][]byte
	memory64  []region64
	names     [][]byte
	infos     [][]byte
	pad       bool
}

type entry struct {
	typ       uint32
	off, size int
}

type thread struct {
	record []byte
}

type region64 struct {
	addr uint64
	data []byte
}

// New returns an empty dump.
//
// The first 32 bytes are for the header, which Bytes writes.
func New(order binary.AppendByteOrder) *Dump {
	return &Dump{order: order, buf: make([]byte, 32), version: 0xa793}
}

// w is a record being written.
type w struct {
	binary.AppendByteOrder
	b []byte
}

func (d *Dump) w() *w { return &w{AppendByteOrder: d.order} }

func (w *w) u8(v uint8) *w   { w.b = append(w.b, v); return w }
func (w *w) u16(v uint16) *w { w.b = w.AppendUint16(w.b, v); return w }
func (w *w) u32(v uint32) *w { w.b = w.AppendUint32(w.b, v); return w }
func (w *w) u64(v uint64) *w { w.b = w.AppendUint64(w.b, v); return w }
func (w *w) raw(p []byte) *w { w.b = append(w.b, p...); return w }
func (w *w) zero(n int) *w   { return w.raw(make([]byte, n)) }

// Put appends bytes to the file, aligned to 4, and returns their offset. No directory entry points
// to them.
func (d *Dump) Put(p []byte) int {
	for len(d.buf)%4 != 0 {
		d.buf = append(d.buf, 0)
	}
	off := len(d.buf)
	d.buf = append(d.buf, p...)
	return off
}

// Peek returns the file's bytes from an offset on, which a test may change.
func (d *Dump) Peek(off int) []byte { return d.buf[off:] }

// String adds a MINIDUMP_STRING and returns its offset.
//
//	length 4, in bytes, without the NUL | UTF-16 units | NUL 2
func (d *Dump) String(s string) int {
	units := utf16.Encode([]rune(s))
	r := d.w().u32(uint32(2 * len(units)))
	for _, u := range units {
		r.u16(u)
	}
	return d.Put(r.u16(0).b)
}

// Time sets the time of the dump, in seconds since 1970.
func (d *Dump) Time(t uint32) *Dump { d.time = t; return d }

// Version sets the header's version field.
func (d *Dump) Version(v uint32) *Dump { d.version = v; return d }

// Padded puts 4 bytes between the count and the entries of the thread, module and memory lists, as
// some writers do.
func (d *Dump) Padded() *Dump { d.pad = true; return d }

// Stream adds a stream with any content. A type may occur twice.
func (d *Dump) Stream(typ uint32, content []byte) *Dump {
	d.dir = append(d.dir, entry{typ, d.Put(content), len(content)})
	return d
}

// Entry adds a directory entry with any offset and size.
func (d *Dump) Entry(typ uint32, off, size int) *Dump {
	d.dir = append(d.dir, entry{typ, off, size})
	return d
}

// Bytes finishes the dump. Call it once, as the last method.
//
//	MINIDUMP_HEADER       signature 4 "MDMP" | version 4 | number of streams 4 | directory RVA 4 |
//	                      checksum 4 | time 4 | flags 8
//	MINIDUMP_DIRECTORY    stream type 4 | size 4 | RVA 4
func (d *Dump) Bytes() []byte {
	d.finish()
	dir := d.w()
	for _, e := range d.dir {
		dir.u32(e.typ).u32(uint32(e.size)).u32(uint32(e.off))
	}
	at := d.Put(dir.b)
	head := d.w().u32(0x504d444d).u32(d.version).u32(uint32(len(d.dir))).u32(uint32(at)).u32(0).u32(d.time).u64(d.flags)
	copy(d.buf, head.b)
	return d.buf
}

// finish writes the streams whose entries were collected. The thread, module and memory lists have
// a count of 4 bytes before their entries; the others have a header of their own:
//
//	14 UnloadedModuleList, 16 MemoryInfoList    header size 4 | entry size 4 | count 4 or 8
//	24 ThreadNames                              count 4
//	9 Memory64List                              count 8 | RVA of all bytes 8 | {start 8, size 8} …
func (d *Dump) finish() {
	var threads [][]byte
	for _, t := range d.threads {
		threads = append(threads, t.record)
	}
	d.list(3, threads)
	d.list(8, d.threadsEx)
	d.list(4, d.modules)
	d.list(0xfff0, d.hosts)
	d.list(5, d.memory)
	if d.names != nil {
		r := d.w().u32(uint32(len(d.names)))
		for _, n := range d.names {
			r.raw(n)
		}
		d.Stream(24, r.b)
	}
	if d.unloaded != nil {
		r := d.w().u32(12).u32(24).u32(uint32(len(d.unloaded)))
		for _, u := range d.unloaded {
			r.raw(u)
		}
		d.Stream(14, r.b)
	}
	if d.infos != nil {
		r := d.w().u32(16).u32(48).u64(uint64(len(d.infos)))
		for _, i := range d.infos {
			r.raw(i)
		}
		d.Stream(16, r.b)
	}
	if d.memory64 != nil {
		var all []byte
		for _, m := range d.memory64 {
			all = append(all, m.data...)
		}
		base := d.Put(all)
		r := d.w().u64(uint64(len(d.memory64))).u64(uint64(base))
		for _, m := range d.memory64 {
			r.u64(m.addr).u64(uint64(len(m.data)))
		}
		d.Stream(9, r.b)
	}
}

func (d *Dump) list(typ uint32, entries [][]byte) {
	if entries == nil {
		return
	}
	r := d.w().u32(uint32(len(entries)))
	if d.pad {
		r.u32(0)
	}
	for _, e := range entries {
		r.raw(e)
	}
	d.Stream(typ, r.b)
}
