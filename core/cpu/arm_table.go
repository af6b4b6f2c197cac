package cpu

// ARM is the 32-bit ARM architecture. The order is Breakpad's: r12 stands before the registers that have a role. Symbol
// files call those by number or by role; both are understood. FP is r11; iOS keeps its frame pointer in r7, which is for
// the walker to know. DWARF numbers are those of "DWARF for the Arm Architecture", section 4.1.
var ARM = newArch(Arch{
	Name: "arm",
	Names: []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r12",
		"fp", "sp", "lr", "pc"},
	Order: []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
		"fp", "r12", "sp", "lr", "pc"},
	Aliases:  map[string]Reg{"ip": 11, "r11": 12, "r13": 13, "r14": 14, "r15": 15},
	WordSize: 4,
	CallSize: 2,
	// caller (frames that push {fp, lr} and point fp at the pair): sp = fp + 8, pc = [fp + 4], fp = [fp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 8, RAOffset: -4, FPOffset: -8},
}, roles{pc: "pc", sp: "sp", fp: "fp", lr: "lr"},
	[]string{"r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp"},
	[]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "r12", "sp", "lr", "pc"})
