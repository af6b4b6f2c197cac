package dumptest

// Auxv adds the LinuxAuxv stream: pairs of words of 4 or 8 bytes, then the end, then bytes that
// must be ignored.
func (d *Dump) Auxv(word int, pairs ...[2]uint64) *Dump {
	r := d.w()
	put := func(v uint64) {
		if word == 4 {
			r.u32(uint32(v))
		} else {
			r.u64(v)
		}
	}
	for _, p := range append(pairs, [2]uint64{0, 0}, [2]uint64{9, 9}) {
		put(p[0])
		put(p[1])
	}
	return d.Stream(0x47670008, r.b)
}

// DSO is a module of the dynamic linker's list.
type DSO struct {
	Addr, Dynamic uint64
	Name          string
}

// DSODebug adds the LinuxDsoDebug stream in one of its forms: "32", "64" (with padding), "packed"
// (64-bit). The dynamic section is {1, 1} and {0, 0}.
//
// w is 4 or 8 bytes; compilers for 64-bit systems pad the 4-byte field before a w, unless the
// struct is packed:
//
//	version 4 | link maps RVA 4 | count 4 | brk w | ldbase w | dynamic w | dynamic section
//	link map: address w | name RVA 4 | dynamic w
func (d *Dump) DSODebug(form string, version uint32, brk, ldbase, dynamic uint64, dsos ...DSO) *Dump {
	list := d.w()
	word := func(r *w, v uint64) {
		if form == "32" {
			r.u32(uint32(v))
		} else {
			r.u64(v)
		}
	}
	pad := func(r *w) {
		if form == "64" {
			r.u32(0)
		}
	}
	for _, m := range dsos {
		name := d.String(m.Name)
		word(list, m.Addr)
		list.u32(uint32(name))
		pad(list)
		word(list, m.Dynamic)
	}
	at := d.Put(list.b)
	r := d.w().u32(version).u32(uint32(at)).u32(uint32(len(dsos)))
	pad(r)
	for _, v := range []uint64{brk, ldbase, dynamic, 1, 1, 0, 0} {
		word(r, v)
	}
	return d.Stream(0x4767000a, r.b)
}

// UTF8 adds a MinidumpUTF8String and returns its offset.
//
//	length 4, in bytes, without the NUL | text | NUL 1
func (d *Dump) UTF8(s string) int {
	return d.Put(d.w().u32(uint32(len(s))).raw([]byte(s)).u8(0).b)
}

// CrashpadModule is a module's entry of Crashpad's stream.
type CrashpadModule struct {
	Index   uint32
	List    []string
	Simple  [][2]string
	Objects []CrashpadObject
}

// CrashpadObject is an annotation object.
type CrashpadObject struct {
	Name  string
	Type  uint16
	Value []byte
}

func (d *Dump) dictionary(pairs [][2]string) (off, size int) {
	if len(pairs) == 0 {
		return 0, 0
	}
	r := d.w().u32(uint32(len(pairs)))
	for _, p := range pairs {
		key := d.UTF8(p[0])
		r.u32(uint32(key)).u32(uint32(d.UTF8(p[1])))
	}
	return d.Put(r.b), len(r.b)
}

// Crashpad adds the CrashpadInfo stream. mask 0 writes the older form without an address mask.
//
//	version 4 | report id 16 | client id 16 | annotations: size 4, RVA 4 | modules: size 4, RVA 4 |
//	  reserved 4 | address mask 8
//	module link: index 4 | size 4 | RVA 4
//	module: version 4 | list: size 4, RVA 4 | simple: size 4, RVA 4 | objects: size 4, RVA 4
func (d *Dump) Crashpad(report, client [16]byte, mask uint64, annotations [][2]string, modules ...CrashpadModule) *Dump {
	list := d.w().u32(uint32(len(modules)))
	for _, m := range modules {
		strings := d.w().u32(uint32(len(m.List)))
		for _, s := range m.List {
			strings.u32(uint32(d.UTF8(s)))
		}
		objects := d.w().u32(uint32(len(m.Objects)))
		for _, o := range m.Objects {
			name := d.UTF8(o.Name)
			value := d.Put(d.w().u32(uint32(len(o.Value))).raw(o.Value).b)
			objects.u32(uint32(name)).u16(o.Type).u16(0).u32(uint32(value))
		}
		dict, dictSize := d.dictionary(m.Simple)
		info := d.w().u32(1).u32(uint32(len(strings.b))).u32(uint32(d.Put(strings.b))).u32(uint32(dictSize)).u32(uint32(dict))
		info.u32(uint32(len(objects.b))).u32(uint32(d.Put(objects.b)))
		list.u32(m.Index).u32(uint32(len(info.b))).u32(uint32(d.Put(info.b)))
	}
	dict, dictSize := d.dictionary(annotations)
	r := d.w().u32(1)
	for _, g := range [][16]byte{report, client} {
		r.u32(uint32(g[0])<<24 | uint32(g[1])<<16 | uint32(g[2])<<8 | uint32(g[3])).u16(uint16(g[4])<<8 | uint16(g[5])).u16(uint16(g[6])<<8 | uint16(g[7])).raw(g[8:])
	}
	r.u32(uint32(dictSize)).u32(uint32(dict)).u32(uint32(len(list.b))).u32(uint32(d.Put(list.b)))
	if mask != 0 {
		r.u32(0).u64(mask)
	}
	return d.Stream(0x43500001, r.b)
}

// MacCrashInfo adds the MozMacosCrashInfo stream with one record of a version (1, 4 or 5): thread,
// dialog mode and abort cause, and texts.
func (d *Dump) MacCrashInfo(version uint64, numbers [3]uint64, texts ...string) *Dump {
	r := d.w().u64(0x4d7a0001).u64(version)
	if version >= 4 {
		r.u64(numbers[0]).u64(numbers[1])
	}
	if version >= 5 {
		r.u64(numbers[2])
	}
	fixed := len(r.b)
	for _, s := range texts {
		r.raw([]byte(s)).u8(0)
	}
	at := d.Put(r.b)
	s := d.w().u32(0x4d7a0001).u32(1).u32(uint32(fixed)).u32(uint32(len(r.b))).u32(uint32(at))
	return d.Stream(0x4d7a0001, s.zero(19*8).b)
}

// MacBootArgs adds the MozMacosBootArgs stream, packed or not.
//
//	stream type 4 | padding 4, unless packed | RVA of the text 8
func (d *Dump) MacBootArgs(packed bool, args string) *Dump {
	off := d.String(args)
	r := d.w().u32(0x4d7a0002)
	if !packed {
		r.u32(0)
	}
	return d.Stream(0x4d7a0002, r.u64(uint64(off)).b)
}
