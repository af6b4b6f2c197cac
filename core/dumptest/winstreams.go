package dumptest

import "unicode/utf16"

// ThreadEx adds an entry of the ThreadExList stream: a thread and its backing store.
//
// An entry is that of ThreadAt, and then the backing store of Itanium: start 8 | size 4 | RVA 4.
func (d *Dump) ThreadEx(id uint32, context []byte, stackStart uint64, stack []byte, backingStart uint64, backing []byte) *Dump {
	ctx, st := d.Put(context), d.Put(stack)
	bk := d.Put(backing)
	r := d.w().u32(id).u32(2).u32(0x20).u32(1).u64(0x7ffd0000).u64(stackStart).u32(uint32(len(stack))).u32(uint32(st))
	r.u32(uint32(len(context))).u32(uint32(ctx)).u64(backingStart).u32(uint32(len(backing))).u32(uint32(bk))
	d.threadsEx = append(d.threadsEx, r.b)
	return d
}

// CommentA and CommentW add the comment streams.
func (d *Dump) CommentA(s string) *Dump { return d.Stream(10, append([]byte(s), 0)) }

func (d *Dump) CommentW(s string) *Dump {
	r := d.w()
	for _, u := range utf16.Encode([]rune(s)) {
		r.u16(u)
	}
	return d.Stream(11, r.u16(0).b)
}

// Handle is a descriptor of the HandleData stream. Info has information about the object, each with
// its type.
type Handle struct {
	Handle                              uint64
	Type, Name                          string
	Attributes, Access, Handles, Points uint32
	Info                                []HandleFact
}

// HandleFact is one piece of information about an object.
type HandleFact struct {
	Type uint32
	Data []byte
}

// Handles adds the HandleData stream, with descriptors of the second version if v2 is set.
//
//	header size 4 | descriptor size 4 | count 4 | reserved 4
//	handle 8 | type RVA 4 | name RVA 4 | attributes 4 | access 4 | handle count 4 | pointer count 4
//	second version: object information RVA 4 | reserved 4
func (d *Dump) Handles(v2 bool, handles ...Handle) *Dump {
	size := uint32(32)
	if v2 {
		size = 40
	}
	r := d.w().u32(16).u32(size).u32(uint32(len(handles))).u32(0)
	for _, h := range handles {
		var typ, name, info int
		if h.Type != "" {
			typ = d.String(h.Type)
		}
		if h.Name != "" {
			name = d.String(h.Name)
		}
		for i := len(h.Info) - 1; i >= 0; i-- { // the last first, so that each can point to the next
			f := h.Info[i]
			info = d.Put(d.w().u32(uint32(info)).u32(f.Type).u32(uint32(len(f.Data))).raw(f.Data).b)
		}
		r.u64(h.Handle).u32(uint32(typ)).u32(uint32(name)).u32(h.Attributes).u32(h.Access).u32(h.Handles).u32(h.Points)
		if v2 {
			r.u32(uint32(info)).u32(0)
		}
	}
	return d.Stream(12, r.b)
}

// FunctionTable adds the FunctionTable stream with one table of entries of 12 bytes, and with all
// optional padding.
func (d *Dump) FunctionTable(minimum, maximum, base uint64, native []byte, entries ...[3]uint32) *Dump {
	r := d.w().u32(24).u32(32).u32(uint32(len(native))).u32(12).u32(1).u32(8).zero(8)
	r.u64(minimum).u64(maximum).u64(base).u32(uint32(len(entries))).u32(4).raw(native)
	for _, e := range entries {
		r.u32(e[0]).u32(e[1]).u32(e[2])
	}
	return d.Stream(13, r.zero(4).b)
}

// ThreadInfo adds the ThreadInfoList stream with one entry: dump flags, error, exit status; then
// create, exit, kernel and user time, start address, affinity.
//
//	header size 4 | entry size 4 | count 4
//	id 4 | dump flags 4 | error 4 | exit status 4 | created 8 | ended 8 | kernel 8 | user 8 |
//	  start address 8 | affinity 8
func (d *Dump) ThreadInfo(id uint32, words [3]uint32, longs [6]uint64) *Dump {
	r := d.w().u32(12).u32(64).u32(1).u32(id)
	for _, v := range words {
		r.u32(v)
	}
	for _, v := range longs {
		r.u64(v)
	}
	return d.Stream(17, r.b)
}

// HandleOperation adds the HandleOperationList stream with one operation.
func (d *Dump) HandleOperation(handle uint64, process, thread, operation, index uint32, stack ...uint64) *Dump {
	r := d.w().u32(16).u32(288).u32(1).u32(0)
	r.u64(handle).u32(process).u32(thread).u32(operation).u32(0).u32(uint32(len(stack))).u32(index)
	for i := range 32 {
		if i < len(stack) {
			r.u64(stack[i])
		} else {
			r.u64(0)
		}
	}
	return d.Stream(18, r.b)
}

// Tokens adds the Token stream. Its sizes include the elements' headers, unless bare is set.
func (d *Dump) Tokens(bare bool, data ...[]byte) *Dump {
	r := d.w()
	for i, p := range data {
		size := 16 + len(p)
		if bare {
			size = len(p)
		}
		r.u32(uint32(size)).u32(uint32(100 + i)).u64(uint64(4 * (i + 1))).raw(p)
	}
	return d.Stream(19, d.w().u32(uint32(16+len(r.b))).u32(uint32(len(data))).u32(16).u32(16).raw(r.b).b)
}

// SystemMemory adds the SystemMemoryInfo stream of a revision, 1 or 2. Its numbers count up from 1.
func (d *Dump) SystemMemory(revision, flags uint16) *Dump {
	r := d.w().u16(revision).u16(flags)
	n := uint64(0)
	run := func(size, count int) {
		for range count {
			if n++; size == 4 {
				r.u32(uint32(n))
			} else {
				r.u64(n)
			}
		}
	}
	run(4, 6) // basic information
	run(8, 3)
	run(4, 1)
	run(8, 2) // file cache
	run(4, 1)
	run(8, 4)
	run(4, 2)
	run(8, 4)  // basic performance
	run(8, 4)  // performance
	run(4, 70) // from IoReadOperationCount to SystemCalls
	run(8, 4)
	if revision == 2 {
		run(8, 4)
	}
	return d.Stream(21, r.b)
}

// VMCounters adds the ProcessVmCounters stream of a revision, 1 or 2. Its numbers count up from 1.
func (d *Dump) VMCounters(revision, flags uint16) *Dump {
	r := d.w().u16(revision).u16(flags).u32(1)
	for i := range map[uint16]int{1: 9, 2: 18}[revision] {
		r.u64(uint64(i + 2))
	}
	return d.Stream(22, r.b)
}
