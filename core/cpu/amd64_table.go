package cpu

// AMD64 is the 64-bit Intel and AMD architecture. DWARF numbers are those of the System V x86-64 psABI, figure 3.36;
// number 16 is the return address column.
var AMD64 = newArch(Arch{
	Name: "amd64",
	Names: []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	Order: []string{"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	WordSize: 8,
	CallSize: 1,
	// caller: rsp = rbp + 16, rip = [rbp + 8], rbp = [rbp]
	Frame:     FrameLayout{Style: FrameRecord, CFAOffset: 16, RAOffset: -8, FPOffset: -16},
	Canonical: canonical48,
}, roles{pc: "rip", sp: "rsp", fp: "rbp"},
	[]string{"rbx", "rbp", "r12", "r13", "r14", "r15"},
	[]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"})

// canonical48: bits 47 to 63 of a 48-bit virtual address are all equal. Both peers use these limits, also on machines
// with five-level paging, where user space asks for the larger addresses explicitly.
func canonical48(a uint64) bool {
	return a <= 0x00007fffffffffff || a >= 0xffff800000000000
}
