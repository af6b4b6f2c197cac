package dumptest

import "unicode/utf16"

// System is the SystemInfo stream's content.
type System struct {
	Processor       uint16 // CPU…
	Level, Revision uint16
	CPUs, Product   uint8
	Version         [3]uint32 // major, minor, build
	Platform        uint32    // OS…
	CSD             string    // "" writes no string
	CPU             [24]byte  // the bytes as they are in the file
}

// System adds the SystemInfo stream.
//
//	processor 2 | level 2 | revision 2 | CPUs 1 | product 1 | major 4 | minor 4 | build 4 |
//	  platform 4 | CSD RVA 4
//	suite mask 2 | reserved 2 | CPU information 24
func (d *Dump) System(s System) *Dump {
	csd := 0
	if s.CSD != "" {
		csd = d.String(s.CSD)
	}
	r := d.w().u16(s.Processor).u16(s.Level).u16(s.Revision).u8(s.CPUs).u8(s.Product)
	r.u32(s.Version[0]).u32(s.Version[1]).u32(s.Version[2]).u32(s.Platform).u32(uint32(csd))
	r.u16(0).u16(0).raw(s.CPU[:])
	return d.Stream(7, r.b)
}

// Thread adds a thread with its context record and its stack. nil writes an empty location.
func (d *Dump) Thread(id uint32, context []byte, stackStart uint64, stack []byte) *Dump {
	ctxOff, stackOff := 0, 0
	if context != nil {
		ctxOff = d.Put(context)
	}
	if stack != nil {
		stackOff = d.Put(stack)
	}
	return d.ThreadAt(id, ctxOff, len(context), stackStart, stackOff, len(stack))
}

// ThreadAt adds a thread whose context and stack are at any offsets, also outside of the file.
//
//	id 4 | suspend count 4 | priority class 4 | priority 4 | TEB 8 |
//	  stack: start 8, size 4, RVA 4 | context: size 4, RVA 4
func (d *Dump) ThreadAt(id uint32, ctxOff, ctxSize int, stackStart uint64, stackOff, stackSize int) *Dump {
	r := d.w().u32(id).u32(0).u32(0x20).u32(1).u64(0x7ffd0000 + uint64(id)*0x1000) // teb
	r.u64(stackStart).u32(uint32(stackSize)).u32(uint32(stackOff))
	r.u32(uint32(ctxSize)).u32(uint32(ctxOff))
	d.threads = append(d.threads, thread{r.b})
	return d
}

// ThreadName adds the name of a thread.
//
// An entry has 12 bytes, without padding: id 4 | RVA of the name 8.
func (d *Dump) ThreadName(id uint32, name string) *Dump {
	d.names = append(d.names, d.w().u32(id).u64(uint64(d.String(name))).b)
	return d
}

// CodeView is the debug record of a module; make one with RSDS, NB10 or ELF. Nil writes none.
type CodeView func(d *Dump) []byte

// RSDS returns the record of a PDB 7.0: the GUID's fields, the age, the PDB's name.
//
//	"RSDS" | GUID: 4, 2, 2, 8 | age 4 | name\0
func RSDS(d1 uint32, d2, d3 uint16, d4 [8]byte, age uint32, pdb string) CodeView {
	return func(d *Dump) []byte {
		return d.w().u32(0x53445352).u32(d1).u16(d2).u16(d3).raw(d4[:]).u32(age).raw([]byte(pdb)).u8(0).b
	}
}

// NB10 returns the record of a PDB 2.0.
//
//	"NB10" | offset 4, 0 | time 4 | age 4 | name\0
func NB10(time, age uint32, pdb string) CodeView {
	return func(d *Dump) []byte {
		return d.w().u32(0x3031424e).u32(0).u32(time).u32(age).raw([]byte(pdb)).u8(0).b
	}
}

// ELF returns Breakpad's record of an ELF build id.
//
//	0x4270454c ("BpEL") | build id, to the end of the record
func ELF(buildID []byte) CodeView {
	return func(d *Dump) []byte { return d.w().u32(0x4270454c).raw(buildID).b }
}

// Raw returns a record with any content.
func Raw(p []byte) CodeView { return func(*Dump) []byte { return p } }

// Module adds a module without a version.
func (d *Dump) Module(base uint64, size uint32, name string, cv CodeView) *Dump {
	return d.VersionedModule(base, size, 0, name, cv, [4]uint16{}, false)
}

// VersionedModule adds a module with a time stamp and, if hasVersion is set, a VS_FIXEDFILEINFO.
//
//	base 8 | size 4 | checksum 4 | time 4 | name RVA 4 | VS_FIXEDFILEINFO 52 |
//	  CodeView: size 4, RVA 4
//	miscellaneous record: size 4, RVA 4 | reserved 16
func (d *Dump) VersionedModule(base uint64, size, timestamp uint32, name string, cv CodeView, v [4]uint16, hasVersion bool) *Dump {
	nameOff := d.String(name)
	var rec []byte
	recOff := 0
	if cv != nil {
		rec = cv(d)
		recOff = d.Put(rec)
	}
	r := d.w().u64(base).u32(size).u32(0).u32(timestamp).u32(uint32(nameOff))
	if hasVersion {
		r.u32(0xfeef04bd).u32(0x00010000).u32(uint32(v[0])<<16 | uint32(v[1])).u32(uint32(v[2])<<16 | uint32(v[3])).u32(0).u32(0)
		r.u32(0x3f).u32(0x2a).u32(0x40004).u32(2).u32(9).u32(0x01d50000).u32(0x12345678) // flags mask and flags, OS, type, subtype, date
	} else {
		r.zero(13 * 4)
	}
	r.u32(uint32(len(rec))).u32(uint32(recOff)).u32(0).u32(0).zero(16)
	d.modules = append(d.modules, r.b)
	return d
}

// HostModule adds an entry of Wine's list of the modules of the host system.
func (d *Dump) HostModule(base uint64, size uint32, name string, cv CodeView) *Dump {
	own := d.modules
	d.modules = d.hosts
	d.Module(base, size, name, cv)
	d.hosts, d.modules = d.modules, own
	return d
}

// UnloadedModule adds an entry of the UnloadedModuleList stream.
//
//	base 8 | size 4 | checksum 4 | time 4 | name RVA 4
func (d *Dump) UnloadedModule(base uint64, size, timestamp uint32, name string) *Dump {
	d.unloaded = append(d.unloaded, d.w().u64(base).u32(size).u32(0).u32(timestamp).u32(uint32(d.String(name))).b)
	return d
}

// Memory adds a range of the MemoryList stream.
func (d *Dump) Memory(addr uint64, p []byte) *Dump {
	off := d.Put(p)
	return d.MemoryAt(addr, off, len(p))
}

// MemoryAt adds a range whose bytes are at any offset, also outside of the file.
//
//	start 8 | size 4 | RVA 4
func (d *Dump) MemoryAt(addr uint64, off, size int) *Dump {
	d.memory = append(d.memory, d.w().u64(addr).u32(uint32(size)).u32(uint32(off)).b)
	return d
}

// Memory64 adds a range of the Memory64List stream.
func (d *Dump) Memory64(addr uint64, p []byte) *Dump {
	d.memory64 = append(d.memory64, region64{addr, p})
	return d
}

// MemoryInfo adds an entry of the MemoryInfoList stream.
//
//	base 8 | allocation base 8 | allocation protection 4 | padding 4 | size 8 | state 4 |
//	  protection 4 | type 4 | padding 4
func (d *Dump) MemoryInfo(base, size uint64, state, protect, typ uint32) *Dump {
	d.infos = append(d.infos, d.w().u64(base).u64(base).u32(protect).u32(0).u64(size).u32(state).u32(protect).u32(typ).u32(0).b)
	return d
}

// Exception adds the Exception stream.
//
//	thread id 4 | padding 4 | code 4 | flags 4 | nested record 8 | address 8 |
//	  number of parameters 4 | padding 4
//	parameters 15 × 8 | context: size 4, RVA 4
func (d *Dump) Exception(threadID, code, flags uint32, address uint64, context []byte, params ...uint64) *Dump {
	off := 0
	if context != nil {
		off = d.Put(context)
	}
	r := d.w().u32(threadID).u32(0).u32(code).u32(flags).u64(0).u64(address).u32(uint32(len(params))).u32(0)
	for i := range 15 {
		if i < len(params) {
			r.u64(params[i])
		} else {
			r.u64(0)
		}
	}
	return d.Stream(6, r.u32(uint32(len(context))).u32(uint32(off)).b)
}

// XState is one feature of Misc5's table.
type XState struct{ Index, Offset, Size uint32 }

// Misc5 adds the MiscInfo stream of the fifth version, all flags set.
func (d *Dump) Misc5(pid, created uint32, zone, build string, features ...XState) *Dump {
	r := d.w().u32(1364).u32(0x3f7).u32(pid).u32(created).u32(2).u32(3)
	r.u32(3000).u32(2000).u32(3000).u32(1).u32(0)
	r.u32(0x2000).u32(0).u32(0).u32(1)
	r.u32(0xffffffc4).raw(d.wide(zone, 32)).u16(0).u16(10).u16(0).u16(5).u16(3).u16(0).u16(0).u16(0).u32(0)
	r.raw(d.wide(zone+" summer", 32)).u16(0).u16(3).u16(0).u16(5).u16(2).u16(0).u16(0).u16(0).u32(0xffffffc4)
	r.raw(d.wide(build, 260)).raw(d.wide("dbg", 40))
	var enabled uint64
	var table [64][2]uint32
	for _, f := range features {
		enabled |= 1 << f.Index
		table[f.Index] = [2]uint32{f.Offset, f.Size}
	}
	r.u32(528).u32(2000).u64(enabled)
	for _, t := range table {
		r.u32(t[0]).u32(t[1])
	}
	return d.Stream(15, r.u32(0xc00c1e).b)
}

// wide returns a UTF-16 field of n units.
func (d *Dump) wide(s string, n int) []byte {
	r := d.w()
	for _, u := range utf16.Encode([]rune(s)) {
		r.u16(u)
	}
	r.zero(2 * n)
	return r.b[:2*n]
}

// BreakpadInfo adds the stream that names the thread that wrote the dump and the one that requested
// it. nil omits one.
//
//	validity 4: bit 0 the first id, bit 1 the second | id of the writing thread 4 |
//	  id of the requesting thread 4
func (d *Dump) BreakpadInfo(dumpThread, requestingThread *uint32) *Dump {
	var valid, a, b uint32
	if dumpThread != nil {
		valid, a = valid|1, *dumpThread
	}
	if requestingThread != nil {
		valid, b = valid|2, *requestingThread
	}
	return d.Stream(0x47670001, d.w().u32(valid).u32(a).u32(b).b)
}

// Assertion adds the AssertionInfo stream.
//
//	expression 128 UTF-16 units | function 128 | file 128 | line 4 | type 4
func (d *Dump) Assertion(expression, function, file string, line, typ uint32) *Dump {
	return d.Stream(0x47670002, d.w().raw(d.wide(expression, 128)).raw(d.wide(function, 128)).raw(d.wide(file, 128)).u32(line).u32(typ).b)
}
