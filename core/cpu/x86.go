package cpu

// X86 is the 32-bit Intel architecture. The order of the names is the one in which Breakpad's stackwalk_common.cc prints
// them; DWARF numbers are those of the System V i386 psABI, table 2.14.
var X86 = newArch(Arch{
	Name:     "x86",
	Names:    []string{"eip", "esp", "ebp", "ebx", "esi", "edi", "eax", "ecx", "edx", "efl"},
	Order:    []string{"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "eip", "efl"},
	Aliases:  map[string]Reg{"eflags": 9}, // rust-minidump's spelling
	WordSize: 4,
	CallSize: 1,
	// caller: esp = ebp + 8, eip = [ebp + 4], ebp = [ebp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 8, RAOffset: -4, FPOffset: -8},
}, roles{pc: "eip", sp: "esp", fp: "ebp"},
	[]string{"ebp", "ebx", "esi", "edi"},
	[]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "efl"})
