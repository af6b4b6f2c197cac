package cpu

import "slices"

// S390X is the 64-bit z/Architecture. No writer of minidumps is known for it; the table serves unwind data (SFrame has it). The
// program counter is the address half of the PSW. DWARF numbers are those of the s390x ELF ABI supplement, section 1.6.1: 0 to
// 15 are the general registers, 65 is the PSW's address.
//
// Calls have 2, 4 or 6 bytes; 2 bytes before the return address lies inside of each. A frame pointer, where there is one, is
// r11, and points at no record.
var S390X = newArch(Arch{
	Name:     "s390x",
	Names:    append(slices.Clone(zGeneral), "pc"),
	Aliases:  map[string]Reg{"pswa": 16, "sp": 15},
	WordSize: 8,
	CallSize: 2,
}, roles{pc: "pc", sp: "r15", fp: "r11", lr: "r14"}, zGeneral[6:14], func() []string {
	d := append(slices.Clone(zGeneral), make([]string, 50)...)
	d[65] = "pc"
	return d
}())

var zGeneral = numbered("r", 16)
