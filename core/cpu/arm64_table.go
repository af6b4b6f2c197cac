package cpu

// ARM64 is the 64-bit ARM architecture (AArch64); one register file serves Windows' context layout and Breakpad's old one.
// DWARF numbers are those of "DWARF for the Arm 64-bit Architecture", section 4.1: 31 is sp, 32 is pc.
var ARM64 = newArch(Arch{
	Name: "arm64",
	Names: []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp", "lr", "sp", "pc"},
	Aliases:  map[string]Reg{"x29": 29, "x30": 30, "x31": 31},
	WordSize: 8,
	CallSize: 4,
	// caller: sp = fp + 16, pc = [fp + 8], fp = [fp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 16, RAOffset: -8, FPOffset: -16},
}, roles{pc: "pc", sp: "sp", fp: "fp", lr: "lr"},
	[]string{"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp"},
	[]string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp", "lr", "sp", "pc"})
