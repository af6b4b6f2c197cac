package elf

import (
	"strings"
)

// slots maps the address of a GOT entry, which the loader sets to a function's address, to the function's index in the dynamic symbol
// table.
type slots map[uint64]uint32

// slotTypes has the relocation types that set such an entry: GLOB_DAT and JUMP_SLOT of each processor, the latter last. RISC-V has
// R_RISCV_32 and _64 instead of GLOB_DAT.
var slotTypes = map[uint16][]uint32{
	machX86: {6, 7}, machAMD64: {6, 7}, machARM: {21, 22}, machARM64: {1025, 1026}, machRISCV: {1, 2, 5}, machPPC: {20, 21}, machPPC64: {20, 21},
	machS390: {10, 11}, machSPARC: {20, 21}, machMIPS: {127},
}

// stub is a PLT entry: code at an address that jumps to the function in a slot. Size 0 means up to the next stub.
type stub struct{ at, size, slot uint64 }

// stubFinders has the functions that find stubs in the bytes of a PLT section, which is at an address. Bytes that look like a stub by
// accident refer to no known slot, and plt drops them.
var stubFinders = map[uint16]func(f *File, code []byte, at uint64, found func(stub)){
	machX86: x86Stubs, machAMD64: x86Stubs, machARM: armStubs, machARM64: arm64Stubs, machRISCV: riscvStubs, machS390: s390Stubs,
	machPPC: ppcStubs, machMIPS: mipsStubs,
}

// maxPLT is how many bytes of code are searched for stubs.
const maxPLT = 16 << 20

// plt adds names for the PLT stubs, through which a program calls imported functions. They have no symbols. A stub's code contains
// the address of its slot, and a relocation says which function the loader puts there:
//
//	401030  jmp *0x2fe2(%rip)                      slot 404018
//	R_X86_64_JUMP_SLOT at 404018, symbol puts      401030 is puts@plt
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
	switch f.machine() {
	case machSPARC: // the relocation is at the stub itself, into which the loader writes a jump
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
	case machPPC64:
		return f.ppc64Stubs(known, order, add)
	}
	find := stubFinders[f.machine()]
	if find == nil {
		return nil
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.HasBytes() || !s.Exec() || !(strings.HasPrefix(s.Name, ".plt") || s.Name == ".iplt" || s.Name == ".text" && f.machine() == machPPC) {
			continue
		}
		d, err := f.Data(s)
		if err != nil {
			return err
		}
		code, err := d.Bytes(0, min(d.Size, maxPLT))
		if err != nil {
			return err
		}
		var last stub
		keep := func(next uint64) {
			if symbol, ok := known[last.slot]; ok && last.size == 0 {
				size := min(next-last.at, 32)
				if s.EntSize > 4 && s.EntSize <= 64 {
					size = min(size, s.EntSize)
				}
				add(last.at, size, symbol)
			} else if ok {
				add(last.at, last.size, symbol)
			}
		}
		find(f, code, s.Address, func(s stub) {
			if f.Class == 32 {
				s.slot &= 0xffffffff
			}
			if _, ok := known[s.slot]; !ok {
				return
			}
			if last.at != 0 {
				keep(s.at)
			}
			last = s
		})
		if last.at != 0 {
			keep(s.Address + uint64(len(code)))
		}
	}
	return nil
}

// slots reads the relocations that set slots. order has the symbols of those of type JUMP_SLOT, in the order of the file.
func (f *File) slots(t *symTable) (known slots, order []uint32, err error) {
	types := slotTypes[f.machine()]
	if len(types) == 0 {
		return nil, nil, nil
	}
	known = slots{}
	jump := types[len(types)-1]
	var budget relocBudget
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != secRel && s.Type != secRela || !s.Alloc() || int(s.Link) >= len(f.Sections) || f.Sections[s.Link].Type != secDynsym {
			continue
		}
		if !budget.allows(f, s) {
			break
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
			if r.sym == 0 {
				return nil
			}
			fits := false
			for _, k := range types {
				fits = fits || r.kinds[0] == k
			}
			if !fits {
				return nil
			}
			sym, err := f.symbol(t, r.sym)
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

// x86Stubs finds the indirect jump of a stub:
//
//	ff 25 disp32   jmp *disp(%rip) on amd64, jmp *disp on x86
//	ff a3 disp32   jmp *disp(%ebx) on x86, where ebx is DT_PLTGOT
//
// Before it may be a bnd prefix (f2), and before that endbr64 or endbr32 (f3 0f 1e fa or fb).
func x86Stubs(f *File, code []byte, at uint64, found func(stub)) {
	var table uint64
	if f.dyn != nil {
		table = f.dyn.values[dynPLTGOT]
	}
	for i := 0; i+6 <= len(code); i++ {
		if code[i] != 0xff || code[i+1] != 0x25 && code[i+1] != 0xa3 {
			continue
		}
		disp := uint64(int64(int32(f.Order.Uint32(code[i+2:]))))
		slot := disp
		switch {
		case code[i+1] == 0xa3:
			slot = table + disp
		case f.Machine == machAMD64:
			slot = at + uint64(i) + 6 + disp
		}
		start := i
		if start > 0 && code[start-1] == 0xf2 {
			start--
		}
		if start >= 4 && code[start-4] == 0xf3 && code[start-3] == 0x0f && code[start-2] == 0x1e && code[start-1]&^1 == 0xfa {
			start -= 4
		}
		found(stub{at: at + uint64(start), slot: slot})
	}
}

// arm64Stubs finds "adrp x16, page; ldr x17, [x16, #offset]; …; br x17", with any registers, and with bti c before it or not. arm64
// instructions are always little-endian.
func arm64Stubs(_ *File, code []byte, at uint64, found func(stub)) {
	for i := 0; i+8 <= len(code); i += 4 {
		adrp, ldr := le32(code[i:]), le32(code[i+4:])
		if adrp&0x9f000000 != 0x90000000 || ldr&0xffc00000 != 0xf9400000 || ldr>>5&31 != adrp&31 {
			continue
		}
		page := int64(adrp>>29&3|adrp>>5&0x7ffff<<2) << 43 >> 43 << 12
		slot := (at+uint64(i))&^0xfff + uint64(page) + uint64(ldr>>10&0xfff)*8
		start := i
		if i >= 4 && le32(code[i-4:]) == 0xd503245f { // bti c
			start -= 4
		}
		found(stub{at: at + uint64(start), slot: slot})
	}
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// armStubs finds "add ip, pc, #a; add ip, ip, #b; … ldr pc, [ip, #c]!", and LLD's long form "ldr ip, [pc, #4]; add ip, ip, pc;
// ldr pc, [ip]". Thumb code enters 4 bytes earlier, at "bx pc; nop".
func armStubs(f *File, code []byte, at uint64, found func(stub)) {
	word := f.Order.Uint32
	if f.Flags&0x00800000 != 0 { // EF_ARM_BE8: data is big-endian, instructions are not
		word = le32
	}
	for i := 0; i+8 <= len(code); i += 4 {
		ip := uint32(0)
		n := i
		switch w := word(code[i:]); {
		case w&0xfffff000 == 0xe28fc000: // add ip, pc, #
			ip = uint32(at) + uint32(i) + 8 + armImmediate(w)
			n += 4
		case w == 0xe59fc004 && i+16 <= len(code) && word(code[i+4:]) == 0xe08cc00f:
			ip = f.Order.Uint32(code[i+12:]) + uint32(at) + uint32(i) + 12
			n += 8
		default:
			continue
		}
		for n+4 <= len(code) && word(code[n:])&0xfffff000 == 0xe28cc000 { // add ip, ip, #
			ip += armImmediate(word(code[n:]))
			n += 4
		}
		if n+4 > len(code) {
			return
		}
		ldr := word(code[n:])
		if ldr&0xfffff000 != 0xe5bcf000 && ldr&0xfffff000 != 0xe59cf000 { // ldr pc, [ip, #]! and without "!"
			continue
		}
		start := i
		if i >= 4 && word(code[i-4:]) == 0x46c04778 { // bx pc; nop
			start -= 4
		}
		found(stub{at: at + uint64(start), slot: uint64(ip + ldr&0xfff)})
		i = n
	}
}

// armImmediate decodes an immediate operand: 8 bits, rotated right by twice the value of the 4 bits above them.
func armImmediate(w uint32) uint32 {
	v, by := w&0xff, w>>8&15*2
	return v>>by | v<<(32-by)
}

// riscvStubs finds "auipc t3, high; ld t3, low(t3) (lw on riscv32); jalr t1, t3; nop".
func riscvStubs(_ *File, code []byte, at uint64, found func(stub)) {
	for i := 0; i+12 <= len(code); i += 4 {
		auipc, load, jalr := le32(code[i:]), le32(code[i+4:]), le32(code[i+8:])
		if auipc&0xfff != 0xe17 || load&0xfffff != 0xe3e03 && load&0xfffff != 0xe2e03 || jalr != 0x000e0367 {
			continue
		}
		slot := at + uint64(i) + uint64(int64(int32(auipc&^0xfff))) + uint64(int64(int32(load)>>20))
		found(stub{at: at + uint64(i), size: 16, slot: slot})
	}
}

// s390Stubs finds "larl %r1, slot; lg %r1, 0(%r1); br %r1; …", 32 bytes. The operand of larl is in halfwords, relative to itself.
func s390Stubs(f *File, code []byte, at uint64, found func(stub)) {
	for i := 0; i+14 <= len(code); i += 2 {
		if code[i] == 0xc0 && code[i+1] == 0x10 && code[i+6] == 0xe3 && code[i+7] == 0x10 && code[i+8] == 0x10 {
			disp := int64(int32(f.Order.Uint32(code[i+2:]))) * 2
			found(stub{at: at + uint64(i), slot: at + uint64(i) + uint64(disp)})
		}
	}
}

// ppcStubs finds the stubs of programs at fixed addresses, which are in .text: "lis r11, high; lwz r11, low(r11); mtctr r11; bctr".
// The stubs of libraries are relative to r30, which each object file sets differently; linkers write symbols for those.
func ppcStubs(f *File, code []byte, at uint64, found func(stub)) {
	for i := 0; i+16 <= len(code); i += 4 {
		lis, lwz := f.Order.Uint32(code[i:]), f.Order.Uint32(code[i+4:])
		if lis>>16 != 0x3d60 || lwz>>16 != 0x816b || f.Order.Uint32(code[i+8:]) != 0x7d6903a6 {
			continue
		}
		found(stub{at: at + uint64(i), size: 16, slot: uint64(lis<<16 + uint32(int32(int16(lwz))))})
	}
}

// mipsStubs finds "lui $15, high; lw $25, low($15) (ld on mips64); …; jr $25", 16 bytes.
func mipsStubs(f *File, code []byte, at uint64, found func(stub)) {
	for i := 0; i+16 <= len(code); i += 4 {
		lui, load := f.Order.Uint32(code[i:]), f.Order.Uint32(code[i+4:])
		if lui>>16 != 0x3c0f || load>>16 != 0x8df9 && load>>16 != 0xddf9 {
			continue
		}
		slot := uint64(int64(int32(lui<<16)) + int64(int16(load)))
		found(stub{at: at + uint64(i), size: 16, slot: slot})
	}
}

// ppc64Stubs finds two kinds of stubs. Lazy binding uses branches in .glink, one for each slot in the order of the relocations. The
// first is 32 bytes after DT_PPC64_GLINK. In ELFv2 a branch is one instruction, in ELFv1 two, or three from the 32769th on.
//
// Calls in the program go through stubs that linkers put between functions: "addis r11|r12, r2, high; ld r12, low(r11|r12);
// mtctr r12; bctr", or "ld r12, low(r2)" without addis if the slot is near. r2 is the TOC pointer: .got + 0x8000.
func (f *File) ppc64Stubs(known slots, order []uint32, add func(at, size uint64, symbol uint32)) error {
	v2 := f.Flags&3 == 2
	if f.dyn != nil && f.dyn.values[dynPPC64Glink] != 0 {
		at := f.dyn.values[dynPPC64Glink] + 32
		for i, symbol := range order {
			size := uint64(4)
			if !v2 {
				size = 8
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
		if addis := f.Order.Uint32(code[i:]); addis>>16 == 0x3d62 || addis>>16 == 0x3d82 {
			base, high, n = addis>>21&31, uint64(int64(int32(addis<<16))), i+4
		}
		ld := f.Order.Uint32(code[n:])
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

// mtctrFollows reports whether "mtctr r12" is among the next three instructions: ELFv1 stubs compute the descriptor's address before
// it.
func mtctrFollows(f *File, code []byte) bool {
	for i := 0; i+4 <= len(code) && i < 12; i += 4 {
		if f.Order.Uint32(code[i:]) == 0x7d8903a6 {
			return true
		}
	}
	return false
}
