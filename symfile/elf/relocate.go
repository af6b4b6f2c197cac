package elf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// relocation is one record of SHT_REL or SHT_RELA (gABI, chapter 4, "Relocation").
//
//	Elf32_Rel    r_offset 4 | r_info 4: symbol<<8 + type      Elf32_Rela   … | r_addend 4
//	Elf64_Rel    r_offset 8 | r_info 8: symbol<<32 + type     Elf64_Rela   … | r_addend 8
type relocation struct {
	off    uint64
	sym    uint32
	kinds  [3]uint32 // MIPS64 has up to three in one record; elsewhere all but the first are 0
	addend int64
}

// eachReloc calls fn for the records of a relocation section.
func (f *File) eachReloc(s *Section, fn func(relocation) error) error {
	return f.relocRecords(f.raw(s), s.Type == secRela, fn)
}

// relocRecords calls fn for the records of a section. Those of SHT_RELA have an addend; that of
// SHT_REL is in the bytes that the record changes. In 64-bit files of sparc the type is only the
// low 8 bits of r_info (TypeMask); above them is data of the relocation.
func (f *File) relocRecords(src *input.Source, withAddend bool, fn func(relocation) error) error {
	step := 2 * f.word()
	if withAddend {
		step += f.word()
	}
	triple := f.cpu.TripleTypes && f.Class == 64
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	for c.Left() >= step {
		r := relocation{off: f.addr(c)}
		switch {
		case triple: // MIPS64: r_sym 4 | r_ssym 1 | r_type3 1 | r_type2 1 | r_type 1
			r.sym = c.U32()
			c.U8()
			r.kinds[2], r.kinds[1], r.kinds[0] = uint32(c.U8()), uint32(c.U8()), uint32(c.U8())
		case f.Class == 64:
			info := c.U64()
			r.sym, r.kinds[0] = uint32(info>>32), uint32(info)
			if f.cpu.TypeMask != 0 {
				r.kinds[0] &= f.cpu.TypeMask
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

// relocate applies all relocations of an object file's section to a copy of it. Relocations of
// unknown types are skipped with a warning.
func (f *File) relocate(s *Section, d *input.Source) (*input.Source, error) {
	var image []byte
	for i := range f.Sections {
		r := &f.Sections[i]
		if r.Type != secRel && r.Type != secRela || int(r.Info) != s.Index || r == s || r.Size == 0 {
			continue
		}
		if image == nil {
			if err := f.Src.Draw(input.Memory, d.Size); err != nil {
				return nil, f.Src.Wrap("section "+s.Name, int64(s.Offset), err)
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
	return f.Src.DeriveBytes(f.part(s), image), nil
}

// applyAll applies the relocations of section r to image, the bytes of section s.
func (f *File) applyAll(image []byte, s, r *Section) error {
	if int(r.Link) >= len(f.Sections) {
		f.warn("section "+r.Name, r.Offset, "the number of a symbol table", fmt.Sprint(r.Link))
		return nil
	}
	symbols := f.symbolValues(&f.Sections[r.Link])
	known := map[uint32]cpu.Relocation{}
	for _, k := range f.cpu.Relocations {
		known[k.Type] = k
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
			const r64 = 18 // R_MIPS_64
			if kind == 0 || i > 0 && (kind == e.kinds[0] || kind == r64) {
				continue // none, or a further type of MIPS64 that only widens the value
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

// apply applies one relocation to the bytes at, which are at an address. inPlace: the addend is in
// the bytes (SHT_REL).
//
// Example: an assembler for RISC-V writes the size of a function in .eh_frame, .Lend - f, as 0 with
// R_RISCV_ADD32 .Lend and R_RISCV_SUB32 f, since the linker may shorten the code between the two.
func (f *File) apply(at []byte, k cpu.Relocation, value uint64, addend int64, inPlace bool, address uint64) {
	switch k.Form {
	case cpu.SetULEB, cpu.SubULEB, cpu.AddULEB:
		f.applyULEB(at, k.Form, value+uint64(addend))
		return
	}
	if len(at) < int(k.Size) {
		return
	}
	at = at[:k.Size]
	old := f.load(at)
	if inPlace {
		// The addend has the place's size, and a sign.
		shift := 64 - 8*uint(k.Size)
		if k.Form == cpu.Relative31 {
			shift = 33
		}
		addend = int64(old<<shift) >> shift
	}
	v := value + uint64(addend)
	// Object files of RISC-V and LoongArch compute differences of addresses by two relocations of one
	// place: one adds, one subtracts.
	switch k.Form {
	case cpu.Relative:
		v -= address
	case cpu.Relative31:
		v = old&0x80000000 | (v-address)&0x7fffffff
	case cpu.AddTo:
		v = old + v
	case cpu.SubFrom:
		v = old - v
	case cpu.SubFrom6:
		v = old&^63 | (old-v)&63
	case cpu.Set6:
		v = old&^63 | v&63
	case cpu.AddTo6:
		v = old&^63 | (old+v)&63
	}
	f.store(at, v)
}

// load and store read and write the number in the place of a relocation.
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

// applyULEB relocates a ULEB128 number and keeps its length, which the assembler has padded for the
// largest possible value.
//
// Example: 90 80 00 is 0x10 in three bytes. Setting it to 0x1234 gives b4 a4 00.
func (f *File) applyULEB(at []byte, k cpu.RelocationForm, v uint64) {
	n, old := 0, uint64(0)
	for n < len(at) && n < 10 {
		old |= uint64(at[n]&0x7f) << (7 * n)
		n++
		if at[n-1]&0x80 == 0 {
			break
		}
	}
	switch k {
	case cpu.SubULEB:
		v = old - v
	case cpu.AddULEB:
		v = old + v
	}
	// The same number of bytes is written, with the continuation bit in all but the last.
	for i := range n {
		at[i] = byte(v & 0x7f)
		if i < n-1 {
			at[i] |= 0x80
		}
		v >>= 7
	}
}
