package macho

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// relocated applies an object's relocations to the bytes of a section. An object's addresses count from
// 0 through all its sections, and most words have them in place. A word with an external symbol has
// what is to be added to the symbol's address.
//
//	0 address in the section u32 · 4 symbol's number 24 bits, pc-relative 1, length 2 (a power of two), external 1, type 4
//
// Of the types only the first, an address, and the difference of two symbols are in sections of data. A
// word with bit 31 of the address (scattered) has its value in place. Source: mach-o/reloc.h.
func (f *File) relocated(s *Section, src *input.Source) (*input.Source, error) {
	count := min(int64(s.NumRelocs), (f.Src.Size-int64(s.Relocs))/8)
	if f.Type != TypeObject || s.Exec() || count <= 0 {
		return src, nil
	}
	if err := f.Src.Draw(input.Memory, src.Size); err != nil {
		return nil, err
	}
	b, err := src.Bytes(0, src.Size)
	if err != nil {
		return nil, err
	}
	what := "relocations of section " + s.Name
	c := input.NewCursor(f.Src, what, int64(s.Relocs), 8*count, f.Order)
	for range count {
		address, word := c.U32(), c.U32()
		r := f.relocation(word)
		if c.Err() != nil || address&0x80000000 != 0 || !r.external {
			continue
		}
		sign := uint64(1)
		switch {
		case f.Class == 64 && f.isSubtractor(r.kind):
			sign = ^uint64(0)
		case r.kind != 0 || r.relative:
			continue
		}
		sym, err := f.symbolAt(r.symbol)
		if err != nil || uint64(address)+1<<r.length > uint64(len(b)) {
			if f.undecided(err) {
				return nil, err
			}
			f.bad(what, int64(s.Relocs), fmt.Sprintf("addresses in its %d bytes and %d symbols", len(b), f.symtab.count), fmt.Sprintf("0x%x and symbol %d", address, r.symbol))
			return src.DeriveBytes(src.Name, b), nil
		}
		switch at := b[address:]; r.length {
		case 2:
			f.Order.PutUint32(at, f.Order.Uint32(at)+uint32(sign*sym.Value))
		case 3:
			f.Order.PutUint64(at, f.Order.Uint64(at)+sign*sym.Value)
		}
	}
	return src.DeriveBytes(src.Name, b), c.Err()
}

// relocation is the second word of an entry.
type relocation struct {
	symbol             uint32
	relative, external bool
	length, kind       uint8
}

// relocation decodes the word, whose bit fields begin with the highest bit where the highest byte is
// first.
func (f *File) relocation(w uint32) relocation {
	if f.Order.Uint16([]byte{0, 1}) == 1 {
		return relocation{w >> 8, w&0x80 != 0, w&0x10 != 0, uint8(w >> 5 & 3), uint8(w & 15)}
	}
	return relocation{w & 0xffffff, w>>24&1 != 0, w>>27&1 != 0, uint8(w >> 25 & 3), uint8(w >> 28)}
}

// isSubtractor reports whether a type is of a symbol whose address is subtracted.
func (f *File) isSubtractor(kind uint8) bool {
	const subtractorX86, subtractorARM = 5, 1
	if f.CPU == cpuX86of64 {
		return kind == subtractorX86
	}
	return kind == subtractorARM
}
