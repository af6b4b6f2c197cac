package cpu

import "slices"

// S390X is the 64-bit z/Architecture. No writer of minidumps is known for it; the table serves unwind data (SFrame has it). The
// program counter is the address half of the PSW. DWARF numbers are those of the s390x ELF ABI supplement, section 1.6.1: 0 to
// 15 are the general registers, 16 to 31 the floating-point registers in the order of their pairs, 65 is the PSW's address.
//
// The floating-point registers are here because functions that call nothing keep their return address and their caller's
// registers in them.
//
// Calls have 2, 4 or 6 bytes; 2 bytes before the return address lies inside of each. A frame pointer, where there is one, is
// r11, and points at no record.
var S390X = newArch(Arch{
	Name:     "s390x",
	Names:    slices.Concat(zGeneral, []string{"pc"}, zFloat),
	Aliases:  map[string]Reg{"pswa": 16, "sp": 15},
	WordSize: 8,
	CallSize: 2,
	CFABias:  160,
}, roles{pc: "pc", sp: "r15", fp: "r11", lr: "r14"}, slices.Concat(zGeneral[6:14], zFloat[8:]), func() []string {
	d := slices.Concat(zGeneral, []string{"f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7",
		"f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15"}, make([]string, 34))
	d[65] = "pc"
	return d
}())

var (
	zGeneral = numbered("r", 16)
	zFloat   = numbered("f", 16)
)
