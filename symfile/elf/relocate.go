package elf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// form is the computation of a relocation: S is the symbol's value, A the addend, P the address of the relocated bytes, V their value.
type form uint8

const (
	absolute   form = iota // S + A
	relative               // S + A − P
	relative31             // S + A − P in the low 31 bits
	addTo                  // V + S + A
	subFrom                // V − (S + A)
	subFrom6               // V − (S + A) in the low 6 bits
	set6                   // S + A in the low 6 bits
	setULEB                // S + A as a ULEB128 number of the same length
	subULEB                // V − (S + A), of ULEB128 numbers
)

// reloc is one type of relocation.
type reloc struct {
	kind uint32
	form form
	size uint8 // in bytes
}

// relocs has the relocation types that compilers use in debug sections and unwind tables, by e_machine. Sources: the tables of
// relocation types in the System V ABI's processor supplements.
var relocs = map[uint16][]reloc{
	machX86: {{1, absolute, 4}, {2, relative, 4}, {4, relative, 4}, {20, absolute, 2}, {21, relative, 2}, {22, absolute, 1}, {23, relative, 1},
		{32, absolute, 4}},
	machAMD64: {{1, absolute, 8}, {2, relative, 4}, {4, relative, 4}, {10, absolute, 4}, {11, absolute, 4}, {12, absolute, 2},
		{13, relative, 2}, {14, absolute, 1}, {15, relative, 1}, {17, absolute, 8}, {21, absolute, 4}, {24, relative, 8}},
	machARM: {{2, absolute, 4}, {3, relative, 4}, {5, absolute, 2}, {8, absolute, 1}, {38, absolute, 4}, {42, relative31, 4}, {106, absolute, 4}},
	machARM64: {{257, absolute, 8}, {258, absolute, 4}, {259, absolute, 2}, {260, relative, 8}, {261, relative, 4}, {262, relative, 2},
		{1029, absolute, 8}},
	machMIPS: {{2, absolute, 4}, {18, absolute, 8}, {38, absolute, 4}, {39, absolute, 4}, {41, absolute, 8}, {248, relative, 4}},
	machPPC:  {{1, absolute, 4}, {3, absolute, 2}, {24, absolute, 4}, {26, relative, 4}, {78, absolute, 4}},
	machPPC64: {{1, absolute, 4}, {3, absolute, 2}, {24, absolute, 4}, {26, relative, 4}, {38, absolute, 8}, {43, absolute, 8}, {44, relative, 8},
		{78, absolute, 8}},
	machS390: {{1, absolute, 1}, {3, absolute, 2}, {4, absolute, 4}, {5, relative, 4}, {16, relative, 2}, {22, absolute, 8}, {23, relative, 8}},
	machSPARC: {{1, absolute, 1}, {2, absolute, 2}, {3, absolute, 4}, {4, relative, 1}, {5, relative, 2}, {6, relative, 4}, {23, absolute, 4},
		{32, absolute, 8}, {46, relative, 8}, {54, absolute, 8}, {55, absolute, 2}, {78, absolute, 4}, {79, absolute, 8}},
	machRISCV: {{1, absolute, 4}, {2, absolute, 8}, {33, addTo, 1}, {34, addTo, 2}, {35, addTo, 4}, {36, addTo, 8}, {37, subFrom, 1}, {38, subFrom, 2},
		{39, subFrom, 4}, {40, subFrom, 8}, {52, subFrom6, 1}, {53, set6, 1}, {54, absolute, 1}, {55, absolute, 2}, {56, absolute, 4},
		{57, relative, 4}, {60, setULEB, 0}, {61, subULEB, 0}},
}

// relocation is one record of SHT_REL or SHT_RELA.
type relocation struct {
	off    uint64
	sym    uint32
	kinds  [3]uint32 // MIPS64 has up to three in one record; elsewhere the second is 0
	addend int64
}

// machine returns e_machine, mapped to one number for processors that have several.
func (f *File) machine() uint16 {
	switch f.Machine {
	case machMIPSOld:
		return machMIPS
	case machSPARC32Plus, machSPARCV9:
		return machSPARC
	}
	return f.Machine
}

// eachReloc calls fn for the records of a relocation section.
func (f *File) eachReloc(s *Section, fn func(relocation) error) error {
	return f.relocRecords(f.raw(s), s.Type == secRela, fn)
}

func (f *File) relocRecords(src *input.Source, withAddend bool, fn func(relocation) error) error {
	step := 2 * f.word()
	if withAddend {
		step += f.word()
	}
	mips64 := f.machine() == machMIPS && f.Class == 64
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	for c.Left() >= step {
		r := relocation{off: f.addr(c)}
		switch {
		case mips64: // r_sym 4 | r_ssym 1 | r_type3 1 | r_type2 1 | r_type 1
			r.sym = c.U32()
			c.U8()
			r.kinds[2], r.kinds[1], r.kinds[0] = uint32(c.U8()), uint32(c.U8()), uint32(c.U8())
		case f.Class == 64:
			info := c.U64()
			r.sym, r.kinds[0] = uint32(info>>32), uint32(info)
			if f.Machine == machSPARCV9 {
				r.kinds[0] &= 0xff // the upper bits are additional data of R_SPARC_OLO10
			}
		default:
			info := c.U32()
			r.sym, r.kinds[0] = info>>8, info&0xff
		}
		if withAddend {
			if f.Class == 64 {
				r.addend = int64(c.U64())
			} else {
				r.addend = int64(c.I32())
			}
		}
		if c.Err() != nil {
			break
		}
		if err := fn(r); err != nil {
			return err
		}
	}
	return c.Err()
}

// relocate applies all relocations of an object file's section to a copy of it. Relocations of unknown types are skipped with a
// warning.
func (f *File) relocate(s *Section, d *input.Source) (*input.Source, error) {
	var image []byte
	var budget relocBudget
	for i := range f.Sections {
		r := &f.Sections[i]
		if r.Type != secRel && r.Type != secRela || int(r.Info) != s.Index || r == s || r.Size == 0 {
			continue
		}
		if !budget.allows(f, r) {
			break
		}
		if image == nil {
			if d.Size > maxInflated {
				return nil, &input.FormatError{File: f.Src.Name, Part: "section " + s.Name, Offset: int64(s.Offset),
					Want: fmt.Sprintf("at most %d bytes, since they have to be relocated", int64(maxInflated)), Have: fmt.Sprint(d.Size)}
			}
			var err error
			if image, err = d.Bytes(0, d.Size); err != nil {
				return nil, err
			}
		}
		if err := f.applyAll(image, s, r); err != nil {
			return nil, err
		}
	}
	if image == nil {
		return d, nil
	}
	return input.FromBytes(f.part(s), image), nil
}

// relocBudget limits the bytes of relocation sections to the size of the file: in a crafted file they can overlap.
type relocBudget struct{ used uint64 }

func (b *relocBudget) allows(f *File, s *Section) bool {
	b.used += min(s.Size, uint64(f.Src.Size))
	if b.used > uint64(f.Src.Size) {
		f.warn("section "+s.Name, s.Offset, "relocation sections that do not overlap", fmt.Sprintf("%d bytes of them in a file of %d", b.used, f.Src.Size))
		return false
	}
	return true
}

// applyAll applies the relocations of section r to image, the bytes of section s.
func (f *File) applyAll(image []byte, s, r *Section) error {
	if int(r.Link) >= len(f.Sections) {
		f.warn("section "+r.Name, r.Offset, "the number of a symbol table", fmt.Sprint(r.Link))
		return nil
	}
	symbols := f.symbolValues(&f.Sections[r.Link])
	known := map[uint32]reloc{}
	for _, k := range relocs[f.machine()] {
		known[k.kind] = k
	}
	unknown := map[uint32]bool{}
	n := int64(-1)
	return f.eachReloc(r, func(e relocation) error {
		n++
		if e.off > uint64(len(image)) {
			f.warn("section "+r.Name, r.Offset, fmt.Sprintf("an offset inside %s", s.Name), fmt.Sprintf("0x%x in record %d", e.off, n))
			return nil
		}
		value, err := symbols(e.sym)
		if err != nil {
			return err
		}
		for i, kind := range e.kinds {
			if kind == 0 { // none
				continue
			}
			if i > 0 && kind == e.kinds[0] || i > 0 && f.machine() == machMIPS && kind == 18 {
				continue // MIPS64: a second type that only widens the value
			}
			k, ok := known[kind]
			if !ok {
				if !unknown[kind] {
					unknown[kind] = true
					f.warn("section "+r.Name, r.Offset, "a known type of relocation", fmt.Sprintf("type %d", kind))
				}
				continue
			}
			f.apply(image[e.off:], k, value, e.addend, r.Type == secRel, s.Address+e.off)
		}
		return nil
	})
}

// apply applies one relocation to the bytes at, which are at an address. inPlace: the addend is in the bytes (SHT_REL).
func (f *File) apply(at []byte, k reloc, value uint64, addend int64, inPlace bool, address uint64) {
	if k.form == setULEB || k.form == subULEB {
		f.applyULEB(at, k.form, value+uint64(addend))
		return
	}
	if len(at) < int(k.size) {
		return
	}
	at = at[:k.size]
	old := f.load(at)
	if inPlace {
		switch k.form {
		case relative31:
			addend = int64(old<<33) >> 33
		default:
			shift := 64 - 8*uint(k.size)
			addend = int64(old<<shift) >> shift
		}
	}
	v := value + uint64(addend)
	switch k.form {
	case relative:
		v -= address
	case relative31:
		v = old&0x80000000 | (v-address)&0x7fffffff
	case addTo:
		v = old + v
	case subFrom:
		v = old - v
	case subFrom6:
		v = old&^63 | (old-v)&63
	case set6:
		v = old&^63 | v&63
	}
	f.store(at, v)
}

func (f *File) load(b []byte) (v uint64) {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(f.Order.Uint16(b))
	case 4:
		return uint64(f.Order.Uint32(b))
	}
	return f.Order.Uint64(b)
}

func (f *File) store(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		f.Order.PutUint16(b, uint16(v))
	case 4:
		f.Order.PutUint32(b, uint32(v))
	default:
		f.Order.PutUint64(b, v)
	}
}

// applyULEB relocates a ULEB128 number and keeps its length, which the assembler has padded for the largest possible value.
func (f *File) applyULEB(at []byte, k form, v uint64) {
	n, old := 0, uint64(0)
	for n < len(at) && n < 10 {
		old |= uint64(at[n]&0x7f) << (7 * n)
		n++
		if at[n-1]&0x80 == 0 {
			break
		}
	}
	if k == subULEB {
		v = old - v
	}
	for i := range n {
		at[i] = byte(v & 0x7f)
		if i < n-1 {
			at[i] |= 0x80
		}
		v >>= 7
	}
}
