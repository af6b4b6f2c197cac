package macho

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// maxName bounds a symbol's name, in bytes.
const maxName = 64 << 10

// symtab is LC_SYMTAB: where the symbols and their names are.
type symtab struct {
	symbols, count uint32
	names          part
	locals         part // LC_DYSYMTAB's first local symbol, and their number
	divided        bool // there is an LC_DYSYMTAB
}

// Sym is an entry of the symbol table (nlist.h).
type Sym struct {
	Type, Section uint8
	Desc          uint16
	Value         uint64
	nameAt        uint32
}

// Fields of an entry. A type with one of the bits of stabMask is a debugging entry (stab.h).
const (
	stabMask = 0xe0
	typeBits = 0x0e
	external = 0x01

	typeUndefined = 0x0
	typeAbsolute  = 0x2
	typeSection   = 0xe

	descThumb = 0x8

	// StabSO begins and ends a source file's entries, StabOSO names its object file, StabFUN begins
	// a function, and without a name has its size.
	StabSO  = 0x64
	StabOSO = 0x66
	StabFUN = 0x24
)

// Stab reports whether the entry is a debugging entry.
func (s *Sym) Stab() bool { return s.Type&stabMask != 0 }

// defined reports whether the entry has an address in a section.
func (s *Sym) defined() bool { return s.Type&stabMask == 0 && s.Type&typeBits == typeSection }

func (f *File) symSize() int64 {
	if f.Class == 64 {
		return 16
	}
	return 12
}

// HasSymbols reports whether the file has a symbol table.
func (f *File) HasSymbols() bool { return f.symtab.count > 0 }

// HasLocals reports whether the symbol table has more than imports and exports: strip leaves at most
// one local symbol ("radr://5614542").
func (f *File) HasLocals() bool {
	return f.HasSymbols() && (!f.symtab.divided || f.symtab.locals.size > 1 || f.Type == TypeObject)
}

// HasExports reports whether it has a trie of exported symbols.
func (f *File) HasExports() bool { return f.exports.size > 0 }

// Symbols calls fn for every entry of the symbol table, without reading names. The next call
// overwrites s.
//
//	0 name's offset u32 · 4 type u8 · 5 section's number from 1 u8 · 6 desc u16 · 8 value u32 or u64
func (f *File) Symbols(fn func(i uint32, s *Sym) error) error {
	return f.symbolsFrom(0, f.symtab.count, fn)
}

// symbolsFrom is Symbols for the entries from first to end.
func (f *File) symbolsFrom(first, end uint32, fn func(i uint32, s *Sym) error) error {
	size, count := f.symSize(), int64(end-first)
	src := f.Src.Sub(f.Src.Name+": symbol table", int64(f.symtab.symbols)+size*int64(first), size*count)
	if src.Size < size*count {
		f.bad("symbol table", int64(f.symtab.symbols), fmt.Sprintf("%d entries", f.symtab.count), fmt.Sprintf("%d bytes", src.Size))
	}
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	var s Sym
	for i := first; c.Left() >= size; i++ {
		f.symbol(c, &s)
		if c.Err() != nil {
			break
		}
		if err := fn(i, &s); err != nil {
			return err
		}
	}
	return c.Err()
}

func (f *File) symbol(c *input.Cursor, s *Sym) {
	*s = Sym{nameAt: c.U32(), Type: c.U8(), Section: c.U8(), Desc: c.U16()}
	if f.Class == 64 {
		s.Value = c.U64()
	} else {
		s.Value = uint64(c.U32())
	}
}

// symbolAt reads the entry with a number.
func (f *File) symbolAt(i uint32) (s Sym, err error) {
	if i >= f.symtab.count {
		return s, fmt.Errorf("symbol %d of %d", i, f.symtab.count)
	}
	c := input.NewCursor(f.Src, "symbol", int64(f.symtab.symbols)+int64(i)*f.symSize(), f.symSize(), f.Order)
	f.symbol(c, &s)
	return s, c.Err()
}

// Name reads the name of an entry as it is in the file; "" if it has none.
func (f *File) Name(s *Sym) (string, error) {
	if s.nameAt == 0 || s.nameAt >= f.symtab.names.size {
		return "", nil
	}
	off := int64(f.symtab.names.off) + int64(s.nameAt)
	left := min(int64(f.symtab.names.size-s.nameAt), f.Src.Size-off)
	return zeroEnded(f.Src, off, min(left, maxName))
}

// undecided reports whether an error says nothing about the file: its bytes are not here yet, or the
// read was cancelled.
func (f *File) undecided(err error) bool {
	return input.Needs(err) || err != nil && f.Src.Cancelled() != nil
}

// firstByte reads the first byte of the name of an entry; 0 if it has none.
func (f *File) firstByte(s *Sym) (byte, error) {
	if s.nameAt == 0 || s.nameAt >= f.symtab.names.size {
		return 0, nil
	}
	off := int64(f.symtab.names.off) + int64(s.nameAt)
	block, start, err := f.Src.Block(off)
	if err != nil {
		return 0, err
	}
	return block[off-start], nil
}

// zeroEnded reads a text that ends with a zero, of up to n bytes.
func zeroEnded(src *input.Source, off, n int64) (string, error) {
	const step = 128
	var b strings.Builder
	for n > 0 {
		p, err := src.Bytes(off, min(step, n))
		if err != nil {
			return "", err
		}
		if i := slices.Index(p, 0); i >= 0 {
			b.Write(p[:i])
			break
		}
		b.Write(p)
		off, n = off+int64(len(p)), n-int64(len(p))
	}
	return b.String(), nil
}

// plain removes the underscore that Apple's compilers put before every name of C:
//
//	_main       main
//	__ZN1a1bEv  _ZN1a1bEv
//	-[A b]      as it is
func plain(name string) string { return strings.TrimPrefix(name, "_") }

// Publics are the names of a file's code by RVA, one an address.
type Publics struct {
	f      *File
	list   []public
	starts Starts
	names  []string // of exports and stubs
}

// public is a name: where it begins, what kind it is, and where the name is.
type public struct {
	rva, ref uint32
	from     uint8
}

// Their order is which name wins where two are of one address.
const (
	fromExternal = iota
	fromExport
	fromLocal
	fromPrivate // a label that assemblers make: "ltmp0", "L…"
	fromStub
)

// Publics makes the table: the symbol table's names of code, those of the exports trie if the table
// was stripped of them, and those of stubs.
func (f *File) Publics() (*Publics, error) {
	starts, err := f.Starts()
	if err != nil {
		return nil, err
	}
	p := &Publics{f: f, starts: starts}
	for _, add := range []func() error{p.addSymbols, p.addExports, p.addStubs} {
		if err := add(); f.undecided(err) {
			return nil, err
		} else if err != nil {
			f.warnings.Add(err)
		}
	}
	slices.SortStableFunc(p.list, func(a, b public) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.from, b.from)) })
	p.list = slices.Clip(slices.CompactFunc(p.list, func(a, b public) bool { return a.rva == b.rva }))
	return p, nil
}

// errFound ends a pass that has found something.
var errFound = errors.New("found")

// NamesCode reports whether the symbol table has a name in code, without reading more of it than up
// to there. The global names, which follow the local ones and the many entries of the debug map, are
// read first.
func (f *File) NamesCode() bool {
	is := func(_ uint32, s *Sym) error {
		if in := f.SectionAt(s.Value); s.defined() && in != nil && in.Exec() {
			return errFound
		}
		return nil
	}
	if global := f.symtab.locals.off + f.symtab.locals.size; global < f.symtab.count && f.symbolsFrom(global, f.symtab.count, is) == errFound {
		return true
	}
	return f.Symbols(is) == errFound
}

// CodeNames calls fn with the RVAs and names of code of count entries of the symbol table from number from on, in the order of
// the table. more: there are further entries.
func (f *File) CodeNames(from, count uint32, fn func(rva uint64, name string)) (more bool, err error) {
	end := from + min(count, f.symtab.count-min(from, f.symtab.count))
	err = f.symbolsFrom(from, end, func(_ uint32, s *Sym) error {
		at := s.Value
		if f.Arch != nil && f.Arch.ThumbBit {
			at &^= 1
		}
		if in := f.SectionAt(at); s.defined() && in != nil && in.Exec() && at >= f.Base {
			name, err := f.Name(s)
			if err != nil {
				return err
			}
			fn(at-f.Base, plain(name))
		}
		return nil
	})
	return end < f.symtab.count, err
}

// add adds a name of a link-time address, if there is code.
func (p *Publics) add(address uint64, from uint8, ref uint32) error {
	if p.f.Arch != nil && p.f.Arch.ThumbBit {
		address &^= 1
	}
	s := p.f.SectionAt(address)
	if s == nil || !s.Exec() || address < p.f.Base || address-p.f.Base >= 1<<32 {
		return nil
	}
	if len(p.list) == cap(p.list) {
		if err := p.f.Src.Draw(input.Memory, 12*int64(max(len(p.list), 64))); err != nil {
			return err
		}
	}
	p.list = append(p.list, public{uint32(address - p.f.Base), ref, from})
	return nil
}

// addSymbols adds the names of the symbol table. In a file whose segments were moved, or that is laid
// out as in memory, the table and the segments do not fit each other; a warning says so.
func (p *Publics) addSymbols() error {
	defined, misfits, removed := 0, 0, 0
	err := p.f.Symbols(func(i uint32, s *Sym) error {
		if !s.defined() {
			return nil
		}
		defined++
		if !p.f.inSegment(s.Value) || s.nameAt >= p.f.symtab.names.size {
			misfits++
			return nil
		}
		if s.Type&external != 0 {
			return p.add(s.Value, fromExternal, i)
		}
		from := uint8(fromLocal)
		b, err := p.f.firstByte(s)
		name := ""
		switch {
		case b == 'l' || b == 'L':
			from = fromPrivate
		case b == '<':
			name, err = p.f.Name(s)
		}
		if p.f.undecided(err) {
			return err
		}
		if name == "<redacted>" {
			removed++
			return nil
		}
		return p.add(s.Value, from, i)
	})
	const what = "symbol table"
	if at := int64(p.f.symtab.symbols); misfits > defined/2 {
		p.f.bad(what, at, "symbols in the file's segments, with names", fmt.Sprintf("%d of %d that are not. The file is damaged, or it was "+
			"copied from memory or moved to other addresses: take it as it was linked", misfits, defined))
	} else if removed > 0 {
		p.f.bad(what, at, "names", fmt.Sprintf("%d that are <redacted>, as in a library that was taken out of a dyld shared cache. "+
			"Xcode's copy for a device (iOS DeviceSupport) has the names", removed))
	}
	return err
}

// inSegment reports whether an address is in a segment, or at its end.
func (f *File) inSegment(address uint64) bool {
	return slices.ContainsFunc(f.Segments, func(s Segment) bool { return address >= s.Address && address-s.Address <= s.Size })
}

// named keeps a name for At and returns its number.
func (p *Publics) named(name string) (uint32, error) {
	if err := p.f.Src.Draw(input.Memory, int64(len(name))+16); err != nil {
		return 0, err
	}
	p.names = append(p.names, name)
	return uint32(len(p.names) - 1), nil
}

// addExports adds the names of the exports trie, if the symbol table has none of its exports.
func (p *Publics) addExports() error {
	if slices.ContainsFunc(p.list, func(e public) bool { return e.from == fromExternal }) {
		return nil
	}
	return p.f.eachExport(func(name string, offset uint64) error {
		ref, err := p.named(plain(name))
		if err != nil {
			return err
		}
		return p.add(p.f.Base+offset, fromExport, ref)
	})
}

// addStubs adds a name for each stub: that of the function it jumps to, with "@plt", as of ELF
// files. The table of indirect symbols says which symbol a stub is of.
func (p *Publics) addStubs() error {
	f := p.f
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Flags&typeMask != typeStubs || s.Reserved2 == 0 {
			continue
		}
		size := uint64(s.Reserved2)
		if f.Arch == cpu.ARM64 && size%4 != 0 {
			size = 12 // Go's linker writes 6, which is right on amd64
		}
		count := min(s.Size/size, uint64(f.indirect.size))
		table := f.Src.Sub(f.Src.Name+": indirect symbols", int64(f.indirect.off)+4*int64(s.Reserved1), 4*int64(count))
		c := input.NewCursor(table, "", 0, table.Size, f.Order)
		for n := uint64(0); c.Left() >= 4; n++ {
			sym, err := f.symbolAt(c.U32() &^ 0xc0000000) // INDIRECT_SYMBOL_LOCAL and ABS have no symbol
			name := ""
			if err == nil {
				name, err = f.Name(&sym)
			}
			if f.undecided(err) {
				return err
			}
			if name = plain(name); err != nil || name == "" {
				continue
			}
			ref, err := p.named(name + "@plt")
			if err != nil {
				return err
			}
			if err := p.add(s.Address+n*size, fromStub, ref); err != nil {
				return err
			}
		}
		if c.Err() != nil {
			return c.Err()
		}
	}
	return nil
}

// Len is the number of names.
func (p *Publics) Len() int { return len(p.list) }

// At is the name with number i in the order of addresses, with its size if the file says where
// functions start.
func (p *Publics) At(i int) symbol.Symbol {
	e := p.list[i]
	out := symbol.Symbol{Start: uint64(e.rva), Public: true}
	if e.from == fromExport || e.from == fromStub {
		out.Name = p.names[e.ref]
	} else if s, err := p.f.symbolAt(e.ref); err == nil {
		name, _ := p.f.Name(&s)
		out.Name = plain(name)
	}
	if len(p.starts) > 0 {
		_, code := p.Piece(uint64(e.rva))
		out.Size = code.Size
	}
	return out
}

// Position orders the names as the file has them, one kind after the other.
func (p *Publics) Position(i int) uint64 { return uint64(p.list[i].from)<<32 | uint64(p.list[i].ref) }

// Lookup is the name of the code at an RVA.
func (p *Publics) Lookup(rva uint64) (symbol.Symbol, bool) {
	if n, _ := p.Piece(rva); n >= 0 {
		return p.At(n), true
	}
	return symbol.Symbol{}, false
}

// Piece returns the number of the name that Lookup returns for an RVA, and the code that has this
// name: to the next name, the next function's start, or the end of the section. Without a name n is
// -1, and the code ends where the next name starts.
func (p *Publics) Piece(rva uint64) (n int, code symbol.Range) {
	next := sort.Search(len(p.list), func(i int) bool { return uint64(p.list[i].rva) > rva })
	end := uint64(1 << 32)
	if next < len(p.list) {
		end = uint64(p.list[next].rva)
	}
	none := symbol.Range{Start: rva, Size: end - min(rva, end)}
	if next == 0 {
		return -1, none
	}
	start := uint64(p.list[next-1].rva)
	_, after, _ := p.starts.Piece(start)
	if rva >= after {
		return -1, none
	}
	end = min(end, after)
	s := p.f.SectionAt(p.f.Base + start)
	if s == nil || s != p.f.SectionAt(p.f.Base+rva) {
		return -1, none
	}
	return next - 1, symbol.Range{Start: start, Size: min(end, s.Address+s.Size-p.f.Base) - start}
}

// Names returns the name of an RVA where a function starts.
func (p *Publics) Names(rva uint64) []string {
	if n, code := p.Piece(rva); n >= 0 && code.Start == rva {
		return []string{p.At(n).Name}
	}
	return nil
}
