package elf

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

// Public is the name of code in a symbol table.
type Public struct {
	// Name as the file has it. A PLT stub has the name of the imported function and "@plt".
	Name string
	// Start is the RVA of the first byte, Size the size in bytes, or 0 if the table does not have
	// it.
	Start, Size uint64
}

// Publics are the names of a file's code, sorted by RVA, one for each address. An entry takes 16
// bytes; At reads its name from the file.
type Publics struct {
	list []public
	// aliases are further names of functions whose address has a name in list.
	aliases []public
	names   [2]*symTable // .symtab and .dynsym
	f       *File
}

// public is a name in 16 bytes: the index of its symbol, and in flags its size, its table, and
// whether it is a PLT stub.
//
//	bit 31 fromDynsym | bit 30 isPLT | bits 27 to 29 rank, 0 after finish | bits 0 to 26 size
type public struct {
	rva    uint64
	symbol uint32
	flags  uint32
}

// isFunction reports whether a symbol of type function has a size. It needs the rank.
func (e public) isFunction() bool {
	rank := e.flags & rankMask >> rankShift
	return e.flags&maxSize > 0 && (rank <= rankWeak || rank == rankLocal)
}

// kind orders the names of one address: functions with a size before others.
func (e public) kind() int {
	if e.isFunction() {
		return 0
	}
	return 1
}

const (
	sizeBits   = 27 // functions are smaller than 128 MiB
	maxSize    = 1<<sizeBits - 1
	fromDynsym = 1 << 31
	isPLT      = 1 << 30
	rankShift  = sizeBits // 3 bits for the rank, until finish has sorted the list
	rankMask   = 7 << rankShift
)

// Len returns the number of names.
func (p *Publics) Len() int { return len(p.list) }

// At returns name i in the order of addresses.
func (p *Publics) At(i int) Public {
	e := p.list[i]
	return Public{Name: p.name(e), Start: e.rva, Size: uint64(e.flags & maxSize)}
}

// Position orders the names as the file has them: table by table, each by the symbol's number.
func (p *Publics) Position(i int) uint64 {
	e := p.list[i]
	return uint64(e.flags&fromDynsym)<<1 | uint64(e.symbol)
}

// table returns the symbol table that a name is in.
func (p *Publics) table(e public) *symTable {
	if e.flags&fromDynsym != 0 {
		return p.names[1]
	}
	return p.names[0]
}

// name reads a name from the file.
func (p *Publics) name(e public) (name string) {
	if t := p.table(e); t != nil {
		s, err := p.f.symbol(t, e.symbol)
		p.f.warnErr(err)
		if err == nil {
			name = p.f.symbolName(t, s.nameAt)
		}
	}
	if e.flags&isPLT != 0 {
		name += "@plt"
	}
	return name
}

// Lookup returns the name of the code at an RVA: the name whose size covers it or, if its size is
// unknown, the last one that starts at or before it in the same section.
func (p *Publics) Lookup(rva uint64) (Public, bool) {
	if n, _, _ := p.Piece(rva); n >= 0 {
		return p.At(n), true
	}
	return Public{}, false
}

// IsARM reports whether the symbol of the function at an RVA says that it is ARM code: its lowest bit is clear.
func (p *Publics) IsARM(rva uint64) bool {
	n, _, _ := p.Piece(rva)
	if n < 0 || p.list[n].flags&isPLT != 0 {
		return false
	}
	t := p.table(p.list[n])
	if t == nil {
		return false
	}
	s, err := p.f.symbol(t, p.list[n].symbol)
	return err == nil && s.Type == SymFunc && s.Value&1 == 0
}

// Piece returns the number of the name that Lookup returns for an RVA, and the code around it that
// has this name. Without a name n is -1, and end is where the next name starts.
//
//	100 f  size 40    100 to 110, 118 to 140
//	110 g  size 8     110 to 118
//	150 h  size 0     150 to the next name or the end of the section
func (p *Publics) Piece(rva uint64) (n int, start, end uint64) {
	i := p.last(rva)
	start, end = rva, ^uint64(0)
	if i+1 < len(p.list) {
		end = p.list[i+1].rva
	}
	// Names inside a function may end before the function does, so look back a little for one that
	// covers the RVA.
	inner := uint64(0) // where the names inside it end
	for back := 0; i >= 0 && back < 64; i, back = i-1, back+1 {
		at, size := p.list[i].rva, uint64(p.list[i].flags&maxSize)
		if size == 0 && back == 0 {
			size = p.codeEnd(at) - at
		}
		if rva-at < size {
			return i, max(at, inner), min(end, at+size)
		}
		inner = max(inner, at+size)
	}
	return -1, start, end
}

// codeEnd returns where the code of a label without size ends at the latest: with its section, or
// in a file without section headers with its segment.
func (p *Publics) codeEnd(rva uint64) uint64 {
	address := p.f.Base + rva
	after := func(size uint64) uint64 { return rva + min(size, ^uint64(0)-rva) } // sections may claim any size
	if s := p.f.SectionAt(address); s != nil {
		return after(s.Size - (address - s.Address))
	}
	if len(p.f.Sections) > 0 {
		return rva + 1
	}
	for i := range p.f.Segments {
		if s := &p.f.Segments[i]; s.Type == segLoad && address-s.Address < s.MemSize {
			return after(s.MemSize - (address - s.Address))
		}
	}
	return ^uint64(0)
}

// Names returns the names of the functions that start at an RVA, the one that At has first.
func (p *Publics) Names(rva uint64) (all []string) {
	add := func(list []public) {
		from, _ := slices.BinarySearchFunc(list, rva, func(e public, rva uint64) int { return cmp.Compare(e.rva, rva) })
		for _, e := range list[from:min(from+maxAliases, len(list))] {
			if e.rva == rva {
				all = append(all, p.name(e))
			}
		}
	}
	add(p.list)
	add(p.aliases)
	return all
}

// maxAliases limits the names of one address, since crafted files can have many: linkers fold a
// few functions of the same code.
const maxAliases = 64

// last returns the index of the last name at or before an address, or -1.
func (p *Publics) last(rva uint64) int {
	return sort.Search(len(p.list), func(i int) bool { return p.list[i].rva > rva }) - 1
}

// Publics makes the table of the file's code names: functions of .symtab and .dynsym, labels in
// executable sections, and PLT stubs. It clears bit 0 of Thumb functions, follows the function
// descriptors of ppc64's ELFv1 ABI (.opd), and leaves out mapping symbols ($a, $d, $x …).
func (f *File) Publics() (*Publics, error) {
	p := &Publics{f: f}
	b := publicsBuilder{f: f, p: p, exec: make([]bool, len(f.Sections))}
	for i := range f.Sections {
		s := &f.Sections[i]
		b.exec[i] = s.Alloc() && s.Exec()
		if s == f.opd {
			b.opd = i
		}
	}
	for which, kind := range []uint32{secSymtab, secDynsym} {
		t := f.table(kind)
		p.names[which] = t
		if t == nil {
			continue
		}
		if err := b.addTable(t, which); err != nil {
			return nil, err
		}
	}
	if err := f.plt(&b); err != nil {
		return nil, err
	}
	b.finish()
	return p, nil
}

// errFound ends a pass that has found something.
var errFound = errors.New("found")

// NamesFunction reports whether the symbol table has a function's name, without reading more of it
// than up to there.
func (f *File) NamesFunction() bool {
	t := f.table(secSymtab)
	return t != nil && f.each(t, func(_ uint32, s *Sym) error {
		if s.Defined() && s.Type == SymFunc {
			return errFound
		}
		return nil
	}) == errFound
}

// CodeAddress returns the address of a function's code. In ppc64's ELFv1 ABI (big-endian) function
// symbols and debug information may have the address of a descriptor in .opd, whose first word is
// the code's address. Other addresses are returned as they are.
func (f *File) CodeAddress(address uint64) uint64 {
	s := f.opd
	if s == nil || address < s.Address || address-s.Address >= s.Size {
		return address
	}
	d, err := f.Data(s)
	if err != nil {
		f.warnErr(err)
		return address
	}
	code, err := d.Bytes(int64(address-s.Address), 8)
	if err != nil {
		f.warnErr(err)
		return address
	}
	return f.Order.Uint64(code)
}

// marksMode reports whether the lowest bit of a symbol's value is not part of its address.
func (f *File) marksMode(s *Sym) bool {
	return f.cpu.ThumbSymbols && s.Type != SymNoType || f.cpu.OtherISA && s.Other&0xf0 == 0xf0
}

// FunctionNames calls fn with the functions of count entries of .symtab, or of a file without one of .dynsym, from number from
// on, with the addresses of their code. They are in the order of the table, which mostly is that of the names in
// the file: to read a million of them by address would read the file at random. more: there are further entries.
func (f *File) FunctionNames(from, count int, fn func(Sym)) (more bool, err error) {
	t := f.table(secSymtab)
	if t == nil {
		t = f.table(secDynsym)
	}
	if t == nil {
		return false, nil
	}
	total := int(t.entries.Size / f.symSize())
	end := min(from+count, total)
	for i := from; i < end; i++ {
		s, err := f.symbol(t, uint32(i))
		if err != nil {
			return false, err
		}
		if !s.Defined() || s.Type != SymFunc && s.Type != SymIFunc {
			continue
		}
		if f.marksMode(&s) {
			s.Value &^= 1
		}
		s.Value, s.Name = f.CodeAddress(s.Value), f.symbolName(t, s.nameAt)
		fn(s)
	}
	return end < total, nil
}

// publicsBuilder makes a Publics. exec says for each section whether it has code.
type publicsBuilder struct {
	f    *File
	p    *Publics
	exec []bool
	opd  int // the index of .opd, or 0
}

// Ranks of names. Of several names for one address a function with a size is kept, else the name
// with the lowest rank; of equal ones .symtab's, then the first in the table.
const (
	rankGlobal = iota
	rankWeak
	rankStub // before local names, because linkers write one where their stubs start
	rankLocal
	rankIFunc  // its code is a resolver, whose own name is another
	rankNoType // a label: a symbol without type
)

// addTable adds the names of a symbol table: functions, and symbols without type in executable
// sections.
func (b *publicsBuilder) addTable(t *symTable, which int) error {
	f := b.f
	b.p.list = slices.Grow(b.p.list, int(t.entries.Size/f.symSize()))
	return f.each(t, func(i uint32, s *Sym) error {
		undefined := s.Section == indexUndef
		if s.nameAt == 0 || !s.Defined() && !(undefined && s.Value != 0 && t.dynamic) {
			return nil
		}
		rank := rankLocal
		switch s.Type {
		case SymIFunc:
			rank = rankIFunc
		case SymFunc:
			switch s.Bind {
			case BindGlobal, BindUnique:
				rank = rankGlobal
			case BindWeak:
				rank = rankWeak
			}
		case SymNoType:
			if undefined || !b.executable(s) {
				return nil
			}
			// Linkers write symbols for the ends of sections, and on MIPS for the start of all
			// code.
			if in := &f.Sections[s.Section]; s.Value-in.Address >= in.Size {
				return nil
			}
			if f.cpu.MappingSymbols {
				if name := f.symbolName(t, s.nameAt); isMappingSymbol(name) || name == "_ftext" {
					return nil
				}
			}
			rank = rankNoType
		default:
			return nil
		}
		value, size := s.Value, s.Size
		flags := uint32(0)
		if undefined {
			// An undefined symbol with a value: the address of its PLT stub, which the program uses
			// as the function's address.
			flags, size, rank = isPLT, 0, rankStub
		}
		if f.marksMode(s) {
			value &^= 1
		}
		if b.opd != 0 && int(s.Section) == b.opd {
			value = f.CodeAddress(value)
			if value == s.Value {
				return nil
			}
		}
		if which == 1 {
			flags |= fromDynsym
		}
		b.add(value, size, i, flags, uint32(rank))
		return nil
	})
}

// executable reports whether a symbol's section has code, or function descriptors, which addTable
// follows to the code.
func (b *publicsBuilder) executable(s *Sym) bool {
	return int(s.Section) < len(b.exec) && b.exec[s.Section] || int(s.Section) == b.opd && b.opd != 0
}

// add adds a name. rank decides between several names of one address. Code ends below the last
// address, so that an end never overflows.
func (b *publicsBuilder) add(address, size uint64, symbol, flags, rank uint32) {
	rva := address - b.f.Base
	if address < b.f.Base || rva == ^uint64(0) {
		return
	}
	b.p.list = append(b.p.list, public{rva, symbol, flags | rank<<rankShift | uint32(min(size, maxSize, ^uint64(0)-rva))})
}

// isMappingSymbol reports whether a name is that of a mapping symbol, which assemblers write where
// code or data begins: $a (ARM), $t (Thumb), $x (arm64 and RISC-V), $d (data). A suffix ".…" may
// follow, or on RISC-V an architecture: "$xrv64gc".
func isMappingSymbol(name string) bool {
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	switch name[1] {
	case 'a', 't', 'd', 'x':
		return len(name) == 2 || name[2] == '.' || name[1] == 'x' && (len(name) > 4 && name[2:4] == "rv")
	}
	return false
}

// finish sorts the names, keeps the best one of each address, and drops labels without size inside
// functions with a size, which would cut the function in two.
//
//	100 f       size 40    kept
//	100 f_new   size 40    the address has a name: among the aliases
//	100 f_old   size 0     dropped
//	110 .L3     no type    inside f: dropped
//	140 g       size 0     kept
func (b *publicsBuilder) finish() {
	l := b.p.list
	slices.SortFunc(l, func(a, c public) int {
		if by := cmp.Compare(a.rva, c.rva); by != 0 {
			return by
		}
		// Then functions with a size, by rank, .symtab before .dynsym, and the order of the table.
		return cmp.Or(cmp.Compare(a.kind(), c.kind()), cmp.Compare(a.flags&rankMask, c.flags&rankMask),
			cmp.Compare(a.flags&fromDynsym, c.flags&fromDynsym), cmp.Compare(a.symbol, c.symbol))
	})
	out := l[:0]
	end := uint64(0)
	for i, e := range l {
		size := uint64(e.flags & maxSize)
		if i > 0 && len(out) > 0 && out[len(out)-1].rva == e.rva {
			if last := &out[len(out)-1]; last.flags&maxSize == 0 && size > 0 { // take the size of another name
				last.flags |= e.flags & maxSize
				end = max(end, e.rva+size)
			}
			// The names of .dynsym are in .symtab too.
			if e.isFunction() && (e.flags&fromDynsym == 0 || b.p.names[0] == nil) {
				e.flags &^= rankMask
				b.p.aliases = append(b.p.aliases, e)
			}
			continue
		}
		if size == 0 && e.rva < end && e.flags&rankMask == rankNoType<<rankShift {
			continue
		}
		out = append(out, e)
		end = max(end, e.rva+size)
	}
	for i := range out {
		out[i].flags &^= rankMask
	}
	if len(out) < cap(out)/4*3 {
		out = append(make([]public, 0, len(out)), out...)
	}
	b.p.list = out
}
