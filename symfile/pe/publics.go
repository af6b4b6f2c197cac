package pe

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Publics are the names of a file's code in its export directory and its COFF symbol table, by RVA,
// one an address. It keeps twelve bytes a name; the names themselves are read when they are asked
// for.
type Publics struct {
	f    *File
	list []public
	ord  uint32 // the first export's ordinal
	// names is the export directory's table of names.
	names *input.Source
}

// public packs a name: where it begins, and where the name is.
type public struct {
	rva uint32
	// from says which kind of name it is, ref which: an entry of the table of names, an ordinal, a
	// symbol.
	from uint8
	ref  uint32
}

const (
	// Their order is which name wins where two are of one address.
	fromName = iota
	fromSymbol
	fromOrdinal
	fromLabel
)

// maxExports is how many ordinals there can be.
const maxExports = 1 << 16

// Publics makes the table. An export that is forwarded to another library is not code of this one,
// and is left out. A symbol comes after an export of the same address, and an export without a
// name, which is called by its ordinal, last.
func (f *File) Publics() (*Publics, error) {
	p := &Publics{f: f}
	if err := p.addExports(); f.Src.Interrupted(err) {
		return nil, err
	} else if err != nil {
		f.warnings.Add(err)
	}
	if err := p.addSymbols(); f.Src.Interrupted(err) {
		return nil, err
	} else if err != nil {
		f.warnings.Add(err)
	}
	slices.SortStableFunc(p.list, func(a, b public) int { return cmp.Or(cmp.Compare(a.rva, b.rva), cmp.Compare(a.from, b.from)) })
	p.list = slices.CompactFunc(p.list, func(a, b public) bool { return a.rva == b.rva })
	p.list = slices.Clip(p.list)
	return p, nil
}

// addExports reads the export directory ("The .edata section").
//
//	16 first ordinal u32 · 20 addresses u32 · 24 names u32 · 28 RVA of the addresses u32 · 32 RVA of the names' RVAs u32 ·
//	36 RVA of their ordinals, u16 each, which count from the first
//
// The table of addresses is by ordinal; the tables of names and of ordinals go side by side, sorted
// by name. Example: if names[5] is "Sleep" and ordinals[5] is 9, then addresses[9] is Sleep's code,
// and its ordinal is 9 plus the first.
func (p *Publics) addExports() error {
	const part = "export directory"
	f, d := p.f, p.f.dirs[dirExport]
	if d.rva == 0 || d.size == 0 {
		return nil
	}
	head, err := f.At(uint64(d.rva), 40)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	p.ord = le.Uint32(head[16:])
	table := func(name string, rva, count, size uint32) *input.Source {
		src := f.part(name, directory{rva, min(count, maxExports) * size})
		if want := int64(count) * int64(size); src.Size < want {
			f.warnings.Add(f.bad(part, -1, fmt.Sprintf("%d bytes of %s at RVA 0x%x", want, name, rva), fmt.Sprintf("%d bytes", src.Size)))
		}
		return src
	}
	addresses := table("addresses", le.Uint32(head[28:]), le.Uint32(head[20:]), 4)
	p.names = table("names", le.Uint32(head[32:]), le.Uint32(head[24:]), 4)
	ordinals := table("ordinals", le.Uint32(head[36:]), le.Uint32(head[24:]), 2)
	all, err := addresses.Bytes(0, addresses.Size&^3)
	if err != nil {
		return err
	}
	byName, err := ordinals.Bytes(0, min(ordinals.Size/2, p.names.Size/4)*2)
	if err != nil {
		return err
	}
	add := func(i int, from uint8, ref uint32) bool {
		rva := le.Uint32(all[4*i:])
		if rva >= d.rva && rva-d.rva < d.size { // a forwarder's text
			return true
		}
		return p.add(uint64(rva), from, ref)
	}
	named := make([]bool, len(all)/4)
	for n := range len(byName) / 2 {
		if i := int(le.Uint16(byName[2*n:])); i < len(named) {
			named[i] = add(i, fromName, uint32(n)) || named[i]
		}
	}
	// What no name leads to is exported by its ordinal alone, as in many of Microsoft's libraries.
	for i := range named {
		if !named[i] {
			add(i, fromOrdinal, uint32(i))
		}
	}
	return nil
}

// add adds the name of an RVA if there is code.
func (p *Publics) add(rva uint64, from uint8, ref uint32) bool {
	if p.f.Arch != nil && p.f.Arch.ThumbBit {
		rva &^= 1 // Thumb
	}
	if s := p.f.SectionAt(rva); s == nil || !s.Exec() {
		return false
	}
	p.list = append(p.list, public{uint32(rva), from, ref})
	return true
}

// addSymbols adds the functions and labels of the COFF symbol table.
//
// GNU's and LLVM's linkers for MinGW leave the table in programs; Microsoft's linker does not write
// it. Static labels are the functions of assembler sources that other files don't use: assemblers
// leave out those of compilers. A section's name has auxiliary records; that and names that begin
// with a dot (".text", ".file") are not functions.
func (p *Publics) addSymbols() error {
	const (
		external, static, label = 2, 3, 6
		function                = 0x20
	)
	f := p.f
	if !f.HasSymbols() {
		return nil
	}
	count := min(f.symbolCount, (f.Src.Size-f.symbolsAt)/symbolSize)
	for i := int64(0); i < count; i++ {
		s, err := f.readSymbol(i)
		if err != nil {
			return err
		}
		from := uint8(fromSymbol)
		if s.class == label || s.class == static && s.kind != function && s.aux == 0 {
			from = fromLabel
		}
		known := from == fromLabel || s.class == external || s.class == static && s.kind == function
		if n := int(s.section) - 1; known && n >= 0 && n < len(f.Sections) && s.name[0] != '.' {
			p.add(uint64(f.Sections[n].RVA)+uint64(s.value), from, uint32(i))
		}
		// Auxiliary records have the same size and are passed over.
		i += int64(s.aux)
	}
	return nil
}

// Len is the number of names.
func (p *Publics) Len() int { return len(p.list) }

// At is the name with number i in the order of addresses. For a name that cannot be read it is "".
func (p *Publics) At(i int) symbol.Symbol {
	e := p.list[i]
	out := symbol.Symbol{Start: uint64(e.rva), Public: true}
	switch e.from {
	case fromOrdinal:
		out.Name = fmt.Sprintf("Ordinal%d", p.ord+e.ref)
	case fromSymbol, fromLabel:
		if s, err := p.f.readSymbol(int64(e.ref)); err == nil {
			out.Name, _ = p.f.symbolName(&s)
			if p.f.Arch != nil && p.f.Arch.Underscore {
				out.Name = symbol.WithoutUnderscore(out.Name)
			}
		}
	case fromName:
		if at, err := p.names.Bytes(int64(e.ref)*4, 4); err == nil {
			if off, n := p.f.extent(uint64(binary.LittleEndian.Uint32(at))); n > 0 {
				out.Name, _ = zeroEnded(p.f.Src, off, min(n, maxName))
			}
		}
	}
	return out
}

// Position orders the names as the file has them, one kind after the other.
func (p *Publics) Position(i int) uint64 { return uint64(p.list[i].from)<<32 | uint64(p.list[i].ref) }

// Lookup is the last name at or before an RVA in the same section.
func (p *Publics) Lookup(rva uint64) (symbol.Symbol, bool) {
	if n, _ := p.Piece(rva); n >= 0 {
		return p.At(n), true
	}
	return symbol.Symbol{}, false
}

// Piece returns the number of the name that Lookup returns for an RVA, and the code that has this
// name, to the next one or the end of the section. Without a name n is -1, and the code ends where
// the next name starts.
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
	s := p.f.SectionAt(start)
	if s == nil || s != p.f.SectionAt(rva) {
		return -1, none
	}
	return next - 1, symbol.Range{Start: start, Size: min(end, uint64(s.RVA)+uint64(s.span())) - start}
}

// Names returns the name of an RVA where a function starts.
func (p *Publics) Names(rva uint64) []string {
	if n, code := p.Piece(rva); n >= 0 && code.Start == rva {
		return []string{p.At(n).Name}
	}
	return nil
}
