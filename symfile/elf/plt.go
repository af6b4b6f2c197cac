package elf

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// slots maps the address of a GOT entry, which the loader sets to a function's address, to the
// function's index in the dynamic symbol table.
type slots map[uint64]uint32

// maxPLT is how many bytes of code are searched for stubs.
const maxPLT = 16 << 20

// plt adds names for the PLT stubs, through which a program calls imported functions. They have no
// symbols. A stub's code contains the address of its slot, and a relocation says which function the
// loader puts there:
//
//	401030  jmp *0x2fe2(%rip)                      slot 404018
//	R_X86_64_JUMP_SLOT at 404018, symbol puts      401030 is puts@plt
//
// In order: the slots by their relocations; for sparc and ppc64 the stubs by their own rules; for
// the others each section of stubs, in which the processor's table (cpu.ELF.Stubs) recognizes the
// instructions. A stub whose slot has no relocation gets no name.
func (f *File) plt(b *publicsBuilder) error {
	t := f.table(secDynsym)
	if t == nil || f.Type == TypeRel {
		return nil
	}
	known, order, err := f.slots(t)
	if err != nil || len(known) == 0 {
		return err
	}
	add := func(at, size uint64, symbol uint32) {
		b.add(at, size, symbol, fromDynsym|isPLT, rankStub)
	}
	switch {
	case f.cpu.SlotsAreStubs: // sparc: the relocation is at the stub itself, into which the loader writes a jump
		size := uint64(12)
		if f.Class == 64 {
			size = 32
		}
		if s := f.Section(".plt"); s != nil {
			for slot, symbol := range known {
				if slot >= s.Address && slot-s.Address < s.Size {
					add(slot, size, symbol)
				}
			}
		}
		return nil
	case f.cpu.Glink:
		return f.ppc64Stubs(known, order, add)
	}
	if f.cpu.Stubs == nil {
		return nil
	}
	table := uint64(0)
	if f.dyn != nil {
		table = f.dyn.values[dynPLTGOT]
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.HasBytes() || !s.Exec() || !(strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt" || s.Name == ".text" && f.cpu.StubsInText) {
			continue
		}
		if err := f.sectionStubs(s, table, known, add); err != nil {
			return err
		}
	}
	return nil
}

// sectionStubs finds the stubs in a section. table is the address that DT_PLTGOT has, or 0.
func (f *File) sectionStubs(s *Section, table uint64, known slots, add func(at, size uint64, symbol uint32)) error {
	d, err := f.Data(s)
	if err != nil {
		return err
	}
	code, err := d.Bytes(0, min(d.Size, maxPLT))
	if err != nil {
		return err
	}
	// A stub's size is known when the next one is found: it reaches to there, or to the entry size of
	// the section.
	var last cpu.Stub
	keep := func(next uint64) {
		size := last.Size
		if size == 0 {
			size = min(next-last.At, 32)
			if s.EntSize > 4 && s.EntSize <= 64 {
				size = min(size, s.EntSize)
			}
		}
		if last.At != 0 {
			add(last.At, size, known[last.Slot])
		}
	}
	p := &cpu.PLT{Code: code, Address: s.Address, Order: f.Order, Flags: f.Flags, Table: table}
	f.cpu.Stubs(p, func(stub cpu.Stub) {
		if f.Class == 32 {
			stub.Slot &= 0xffffffff
		}
		if _, ok := known[stub.Slot]; ok {
			keep(stub.At)
			last = stub
		}
	})
	keep(s.Address + uint64(len(code)))
	return nil
}

// slots reads the relocations that set slots. order has the symbols of those of type JUMP_SLOT, in
// the order of the file.
func (f *File) slots(t *symTable) (known slots, order []uint32, err error) {
	types := f.cpu.Slots
	if len(types) == 0 {
		return nil, nil, nil
	}
	known = slots{}
	// The last type of the table is JUMP_SLOT. The stubs of lazy binding are in the order of these
	// records.
	jump := types[len(types)-1]
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != secRel && s.Type != secRela || !s.Alloc() || int(s.Link) >= len(f.Sections) || f.Sections[s.Link].Type != secDynsym {
			continue
		}
		src := f.raw(s)
		if f.dyn != nil { // skip the relative relocations, which linkers put first: large programs have millions
			skip := uint64(0)
			switch s.Address {
			case f.dyn.values[dynRela]:
				skip = f.dyn.values[dynRelaCount] * uint64(3*f.word())
			case f.dyn.values[dynRel]:
				skip = f.dyn.values[dynRelCount] * uint64(2*f.word())
			}
			if skip <= uint64(src.Size) {
				src = src.Sub(src.Name, int64(skip), src.Size)
			}
		}
		err := f.relocRecords(src, s.Type == secRela, func(r relocation) error {
			if r.sym == 0 || !slices.Contains(types, r.kinds[0]) {
				return nil
			}
			sym, err := f.symbol(t, r.sym)
			if input.Needs(err) {
				return err
			}
			if err != nil || sym.nameAt == 0 {
				return nil // ignore a damaged record
			}
			known[r.off] = r.sym
			if r.kinds[0] == jump {
				order = append(order, r.sym)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return known, order, nil
}

// ppc64Stubs finds two kinds of stubs. Lazy binding uses branches in .glink, one for each slot in
// the order of the relocations. The first is 32 bytes after DT_PPC64_GLINK. In ELFv2 a branch is
// one instruction, in ELFv1 two, or three from the 32769th on.
//
// Calls in the program go through stubs that linkers put between functions: "addis r11|r12, r2,
// high; ld r12, low(r11|r12); mtctr r12; bctr", or "ld r12, low(r2)" without addis if the slot is
// near. r2 is the TOC pointer: .got + 0x8000.
//
// Example, with .got at 0x10018000, so that r2 is 0x10020000:
//
//	3d 62 00 01   addis r11, r2, 1      0x10030000
//	e9 8b 80 18   ld r12, -0x7fe8(r11)  the slot is 0x10028018
//	7d 89 03 a6   mtctr r12
//	4e 80 04 20   bctr
func (f *File) ppc64Stubs(known slots, order []uint32, add func(at, size uint64, symbol uint32)) error {
	v2 := f.Flags&3 == 2
	if f.dyn != nil && f.dyn.values[dynPPC64Glink] != 0 {
		at := f.dyn.values[dynPPC64Glink] + 32
		for i, symbol := range order {
			size := uint64(4)
			if !v2 {
				size = 8
				// The index no longer fits in the immediate of one instruction.
				if i >= 0x8000 {
					size = 12
				}
			}
			add(at, size, symbol)
			at += size
		}
	}
	toc := uint64(0)
	if s := f.Section(".got"); s != nil {
		toc = s.Address + 0x8000
	}
	text := f.Section(".text")
	if toc == 0 || text == nil {
		return nil
	}
	d, err := f.Data(text)
	if err != nil {
		return err
	}
	code, err := d.Bytes(0, min(d.Size, 4*maxPLT))
	if err != nil {
		return err
	}
	const saveTOC1, saveTOC2 = 0xf8410028, 0xf8410018 // std r2, 40(r1) and 24(r1)
	for i := 0; i+12 <= len(code); i += 4 {
		base, high, n := uint32(2), uint64(0), i
		// 0x3d62 and 0x3d82 are "addis r11, r2" and "addis r12, r2".
		if addis := f.Order.Uint32(code[i:]); addis>>16 == 0x3d62 || addis>>16 == 0x3d82 {
			base, high, n = addis>>21&31, uint64(int64(int32(addis<<16))), i+4
		}
		ld := f.Order.Uint32(code[n:])
		// 58 is the primary opcode of ld; the lowest two bits are 0, which distinguishes it from
		// ldu and lwa.
		if ld>>26 != 58 || ld&3 != 0 || ld>>16&31 != base || ld>>21&31 != 12 || !mtctrFollows(f, code[n+4:]) {
			continue
		}
		symbol, ok := known[toc+high+uint64(int64(int16(ld)))]
		if !ok {
			continue
		}
		start := i
		if i >= 4 {
			if w := f.Order.Uint32(code[i-4:]); w == saveTOC1 || w == saveTOC2 {
				start -= 4
			}
		}
		add(text.Address+uint64(start), 0, symbol)
		i = n
	}
	return nil
}

// mtctrFollows reports whether "mtctr r12" is among the next three instructions: ELFv1 stubs
// compute the descriptor's address before it.
func mtctrFollows(f *File, code []byte) bool {
	for i := 0; i+4 <= len(code) && i < 12; i += 4 {
		if f.Order.Uint32(code[i:]) == 0x7d8903a6 {
			return true
		}
	}
	return false
}
