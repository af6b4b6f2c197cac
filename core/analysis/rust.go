package analysis

import (
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"golang.org/x/arch/x86/x86asm"
)

// Rust has the values that rust-minidump prints in crash_info (minidump-processor's op_analysis.rs
// and processor.rs). Known differences from the other fields of Result:
//
//   - It analyzes amd64 only.
//   - It computes an address relative to rip from the start of the instruction instead of its end.
//   - It ignores the bases of fs and gs.
//   - A base register of 0 is a null pointer, even if the index makes the address a large one.
//   - For most instructions it does not know whether they read or write.
//   - It does not find half of the mappings in /proc/PID/maps (see MemoryMap.dropOverlaps), nor bit flips in them.
//   - It searches flipped bits of address 0 too.
type Rust struct {
	// Instruction is printed as null if it is "".
	Instruction string
	// Accesses are printed as null unless HasAccesses.
	Accesses    []RustAccess
	HasAccesses bool
	// Jump is instruction_pointer_update, printed as null if nil.
	Jump *uint64
	// Adjusted is printed as null if nil. Its Address is printed as "address" or, for a null
	// pointer, as "offset".
	Adjusted *Adjusted
	// BitFlips are printed as null if there are none.
	BitFlips []BitFlip
	// Inconsistencies are contradictions to the crash reason.
	Inconsistencies []string
}

// RustAccess is a member of memory_accesses.
type RustAccess struct {
	Address uint64
	Size    *int   // nil is null
	Type    string // "read", "write" or "readwrite"; if "", the key is absent
	Guard   bool   // printed only if set
}

// rustView is the state of rust-minidump's analysis.
type rustView struct {
	c          *crash
	x          *x86Insn
	out        Rust
	null       []bool // parallel to out.Accesses: the base register is 0
	jumpKnown  bool   // it is known whether and where the instruction jumps
	derivable  bool
	registers  []string
	properties bool // the instruction was decoded
}

// rust makes rust-minidump's analysis.
func (c *crash) rust() Rust {
	v := &rustView{c: c}
	v.out.Accesses, v.out.BitFlips, v.out.Inconsistencies = []RustAccess{}, []BitFlip{}, []string{}
	if c.arch == cpu.AMD64 {
		if r, ok := c.d.Memory.ListedRust(c.pc); ok {
			var buf [maxInstruction]byte
			n := min(uint64(len(buf)), r.End()-c.pc)
			p := buf[:c.d.Memory.Read(c.pc, buf[:n])]
			if v.x = decodeX86(p, 64); v.x != nil {
				v.instruction()
			}
		}
	}
	v.bitFlips()
	for i := range v.out.Accesses {
		a := &v.out.Accesses[i]
		a.Guard = c.places.rustGuard(a.Address)
	}
	v.inconsistencies()
	return v.out
}

// instruction does the analysis of op_analysis.rs.
func (v *rustView) instruction() {
	v.properties = true
	v.out.Instruction = v.x.text()
	v.derivable = v.x.vec == nil && derivable(v.x.Op)
	v.out.HasAccesses = v.accesses()
	if !v.out.HasAccesses {
		v.out.Accesses, v.null = []RustAccess{}, nil
	}
	v.jump()
	for _, m := range v.x.mems {
		for _, r := range []x86asm.Reg{m.Base, m.Index} {
			if r != 0 {
				v.registers = append(v.registers, regText(&v.x.Inst, r))
			}
		}
	}
	sort.Strings(v.registers)
	v.adjust()
}

// address computes a memory operand as MemoryAddressInfo::try_from_operand does. It returns false
// if the context lacks a register.
func (v *rustView) address(m x86asm.Mem) (addr uint64, null, ok bool) {
	addr = uint64(m.Disp)
	if m.Base != 0 {
		base, known := v.reg(m.Base)
		if !known {
			return 0, false, false
		}
		addr += base
		null = base == 0
	}
	if m.Index != 0 {
		index, known := v.reg(m.Index)
		if !known {
			return 0, false, false
		}
		addr += index * uint64(max(1, m.Scale))
	}
	return addr, null, true
}

// reg reads a 64-bit register. rust-minidump does not know the names of its parts (eax, al).
func (v *rustView) reg(r x86asm.Reg) (uint64, bool) {
	name := regText(&v.x.Inst, r)
	reg, ok := cpu.AMD64.Lookup(name)
	if !ok {
		return 0, false
	}
	return v.c.ctx.Regs.Get(reg)
}

// accesses lists the accesses. It returns false if it cannot compute one; rust-minidump then drops
// all.
func (v *rustView) accesses() bool {
	size := v.rustSize()
	if size == 0 && !v.unsized() {
		return true
	}
	var sized *int
	if size != 0 {
		sized = &size
	}
	mems := v.x.mems
	if v.x.vec == nil && isCompareString(v.x.Op) && len(mems) == 2 {
		mems = []x86asm.Mem{mems[1], mems[0]}
	}
	for n, m := range mems {
		kind := ""
		if v.derivable {
			if v.x.Op == x86asm.LEA {
				continue
			}
			kind = v.x.kind(n).String()
		}
		addr, null, ok := v.address(m)
		if !ok {
			return false
		}
		v.out.Accesses = append(v.out.Accesses, RustAccess{Address: addr, Size: sized, Type: kind})
		v.null = append(v.null, null)
	}
	if !v.derivable {
		return true
	}
	rsp := v.c.sp
	stack := func(addr uint64, kind string) {
		v.out.Accesses = append(v.out.Accesses, RustAccess{Address: addr, Size: sized, Type: kind})
		v.null = append(v.null, addr == 0)
	}
	switch v.x.Op {
	case x86asm.CALL, x86asm.PUSH:
		stack(rsp-8, "write")
	case x86asm.POP, x86asm.RET, x86asm.LRET:
		stack(rsp, "read")
	}
	return true
}

// rustSize returns yaxpeax's mem_size, or 0 for none. Instructions that use the stack have one too.
//
//	mov rax, [rdi]     8
//	ret                8, the word that it pops
//	lea rax, [rdi]     8: rust-minidump skips the access itself
//	add rax, rdi       0: no memory
func (v *rustView) rustSize() int {
	x := v.x
	if x.vec == nil {
		switch x.Op {
		case x86asm.CALL, x86asm.POP, x86asm.RET:
			return 8
		case x86asm.PUSH:
			if len(x.mems) > 0 && x.size != 0 {
				return x.size
			}
			return 8
		case x86asm.LRET:
			return 10
		}
	}
	if len(x.mems) == 0 {
		return 0
	}
	return x.size
}

// unsized reports whether the instruction accesses memory of a size that it does not state.
func (v *rustView) unsized() bool { return len(v.x.mems) > 0 && v.x.Op != x86asm.XLATB }

// derivable reports whether rust-minidump knows how an instruction accesses memory.
func derivable(op x86asm.Op) bool {
	switch op {
	case x86asm.ADD, x86asm.CALL, x86asm.CMP, x86asm.DEC, x86asm.INC, x86asm.JMP, x86asm.LJMP, x86asm.LEA, x86asm.MOV, x86asm.MOVAPS, x86asm.MOVUPS,
		x86asm.POP, x86asm.PUSH, x86asm.LRET, x86asm.RET, x86asm.SUB, x86asm.UCOMISS:
		return true
	}
	return conditionalJump(op)
}

// conditionalJump reports whether an instruction is a jump by flags; jcxz and the like depend on a
// register.
func conditionalJump(op x86asm.Op) bool {
	s := op.String()
	return s[0] == 'J' && op != x86asm.JMP && !strings.HasSuffix(s, "CXZ")
}

// jump sets where rip goes.
func (v *rustView) jump() {
	to := func(addr uint64) { v.out.Jump, v.jumpKnown = &addr, true }
	if v.x.vec != nil {
		v.jumpKnown = true
		return
	}
	switch v.x.Op {
	case x86asm.CALL, x86asm.LCALL, x86asm.JMP, x86asm.LJMP:
		if r, ok := v.x.Args[0].(x86asm.Reg); ok {
			if addr, known := v.reg(r); known {
				to(addr)
			}
			return
		}
		if len(v.x.mems) == 0 {
			return
		}
		slot, _, ok := v.address(v.x.mems[0])
		if !ok {
			return
		}
		if r, listed := v.c.d.Memory.ListedRust(slot); listed && r.End()-slot >= 8 {
			if addr, read := v.c.d.Memory.Word(slot, 8); read {
				to(addr)
			}
		}
	case x86asm.RET, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ:
		if v.c.thread < 0 {
			return
		}
		if stack := v.c.d.ThreadStack(v.c.thread); stack != nil {
			if addr, ok := stack.Word(v.c.sp, 8); ok {
				to(addr)
			}
		}
	default:
		v.jumpKnown = !conditionalJump(v.x.Op)
	}
}

// canonical is rust-minidump's test, the same for all systems.
func canonical(addr uint64) bool { return addr < 0x0000_8000_0000_0000 || addr > 0xffff_7fff_ffff_ffff }

// adjust sets adjusted_address: an access with a null base, else a non-canonical address if the
// exception was a general protection fault.
func (v *rustView) adjust() {
	if !v.out.HasAccesses {
		return
	}
	var addrs []uint64
	for i, a := range v.out.Accesses {
		if v.null[i] {
			v.out.Adjusted = &Adjusted{Kind: NullPointer, Address: a.Address}
			return
		}
		addrs = append(addrs, a.Address)
	}
	if j := v.out.Jump; j != nil {
		if *j == 0 {
			v.out.Adjusted = &Adjusted{Kind: NullPointer}
			return
		}
		addrs = append(addrs, *j)
	}
	if !v.c.protectionFault() {
		return
	}
	for _, a := range addrs {
		if !canonical(a) {
			v.out.Adjusted = &Adjusted{Kind: NonCanonical, Address: a}
			return
		}
	}
}

// protectionFault reports whether the exception is a general protection fault of amd64, for which
// the processor gives no address. Windows reports a read of -1, macOS EXC_I386_GPFLT at 0, Linux
// SI_KERNEL at 0.
func (c *crash) protectionFault() bool {
	if c.d.System == nil || c.d.System.Processor != core.ProcAMD64 {
		return false
	}
	addr := c.why.RustAddress
	switch c.d.OS() {
	case core.Windows:
		return c.why.Rust == "EXCEPTION_ACCESS_VIOLATION_READ" && addr == ^uint64(0)
	case core.MacOS:
		return c.why.Rust == "EXC_BAD_ACCESS / EXC_I386_GPFLT" && addr == 0
	case core.OSLinux:
		return (c.why.Rust == "SIGSEGV / SI_KERNEL" || c.why.Rust == "SIGBUS / SI_KERNEL") && addr == 0
	}
	return false
}

// bitFlips searches flipped bits in the crash address and the instruction's registers.
//
// For amd64 it tries the bits below 48 of an address that may exist, and the bits from 48 on of a
// non-canonical one: a flip there is what made it non-canonical.
func (v *rustView) bitFlips() {
	c := v.c
	if c.d.System == nil {
		return
	}
	first, end := uint(0), uint(64)
	addr := c.why.RustAddress
	switch c.d.System.Processor {
	case core.ProcAMD64:
		end = 48
		if a := v.out.Adjusted; a != nil {
			if a.Kind == NullPointer {
				return
			}
			first, end, addr = 48, 64, a.Address
		}
	case core.ProcPPC64, core.ProcMIPS64:
	default:
		return
	}
	v.flips(addr, "", first, end)
	if c.ctx == nil {
		return
	}
	for i, name := range v.registers {
		if i > 0 && v.registers[i-1] == name {
			continue
		}
		if value, ok := c.reg(name); ok {
			v.flips(value, name, first, end)
		}
	}
}

// reg returns a register of the context by its name.
func (c *crash) reg(name string) (uint64, bool) {
	r, ok := c.arch.Lookup(name)
	if !ok {
		return 0, false
	}
	return c.ctx.Regs.Get(r)
}

// flips tries one value (bitflip::try_bit_flips).
func (v *rustView) flips(value uint64, register string, first, end uint) {
	if v.possible(value) {
		return
	}
	add := func(addr uint64) {
		f := BitFlip{Address: addr, Register: register}
		f.Details = v.c.flipDetails(addr, value, first == 48)
		f.Confidence = f.Details.confidence()
		v.out.BitFlips = append(v.out.BitFlips, f)
	}
	for bit := first; bit < end; bit++ {
		addr := value ^ 1<<bit
		if addr == 0 {
			add(addr)
		}
		if v.possible(addr) {
			add(addr)
		}
	}
}

// possible reports whether an address is mapped and allows the access that failed.
func (v *rustView) possible(addr uint64) bool {
	i := v.c.places.rustAt(addr)
	if i < 0 {
		return false
	}
	r := &v.c.places.rust[i]
	switch v.c.why.Rust {
	case "EXCEPTION_ACCESS_VIOLATION_READ":
		return r.Read
	case "EXCEPTION_ACCESS_VIOLATION_WRITE":
		return r.Write
	case "EXCEPTION_ACCESS_VIOLATION_EXEC":
		return r.Executable
	}
	return true
}

// inconsistencies sets the contradictions to the crash reason (check_for_crash_inconsistencies).
func (v *rustView) inconsistencies() {
	say := func(words string) { v.out.Inconsistencies = append(v.out.Inconsistencies, words) }
	switch v.c.why.Rust {
	case "EXC_ARITHMETIC / EXC_I386_DIV", "EXC_ARITHMETIC / EXC_PPC_ZERO_DIVIDE", "SIGFPE / FPE_INTDIV", "EXCEPTION_INT_DIVIDE_BY_ZERO":
		if v.properties && (v.x.vec != nil || v.x.Op != x86asm.DIV && v.x.Op != x86asm.IDIV) {
			say("int_div_by_zero_not_possible")
		}
	case "EXCEPTION_PRIV_INSTRUCTION", "STATUS_PRIVILEGED_INSTRUCTION":
		if v.properties && (v.x.vec != nil || !rustPrivileged(v.x.Op)) {
			say("priv_instruction_crash_without_priv_instruction")
		}
	case "EXCEPTION_ACCESS_VIOLATION_READ":
		if v.c.protectionFault() && v.notAmongAccesses() {
			if v.derivable && v.x.Op != x86asm.MOVAPS && v.allCanonical() {
				say("non_canonical_address_falsely_reported")
			}
			return
		}
		v.violation(say)
	case "EXCEPTION_ACCESS_VIOLATION_WRITE", "EXCEPTION_ACCESS_VIOLATION_EXEC", "EXCEPTION_STACK_OVERFLOW":
		v.violation(say)
	}
}

// violation compares an access violation with the instruction and with the memory map.
func (v *rustView) violation(say func(string)) {
	if v.notAmongAccesses() {
		say("crashing_access_not_found_in_memory_accesses")
	}
	if v.c.why.Rust != "EXCEPTION_STACK_OVERFLOW" && v.c.places.rustAt(v.c.why.RustAddress) >= 0 && v.possible(v.c.why.RustAddress) {
		say("access_violation_when_access_allowed")
	}
}

// notAmongAccesses reports whether the instruction does not access the crash address as the reason
// says.
func (v *rustView) notAmongAccesses() bool {
	if !v.out.HasAccesses {
		return false
	}
	kind := "read"
	switch v.c.why.Rust {
	case "EXCEPTION_ACCESS_VIOLATION_EXEC":
		return v.c.pc != v.c.why.RustAddress
	case "EXCEPTION_STACK_OVERFLOW":
		return v.derivable && len(v.out.Accesses) == 0
	case "EXCEPTION_ACCESS_VIOLATION_WRITE":
		kind = "write"
	}
	for _, a := range v.out.Accesses {
		if (a.Type == kind || a.Type == "readwrite") && a.Size != nil && v.c.why.RustAddress-a.Address < uint64(*a.Size) {
			return false
		}
	}
	return v.derivable
}

// allCanonical reports whether all accesses and the jump are known and have canonical addresses.
func (v *rustView) allCanonical() bool {
	if !v.out.HasAccesses || !v.jumpKnown {
		return false
	}
	for _, a := range v.out.Accesses {
		if !canonical(a.Address) {
			return false
		}
	}
	return v.out.Jump == nil || canonical(*v.out.Jump)
}

// rustPrivileged is rust-minidump's list of privileged instructions. It has every mov, because
// those to control registers are.
func rustPrivileged(op x86asm.Op) bool {
	switch op {
	case x86asm.MOV, x86asm.INT, x86asm.INTO, x86asm.ICEBP, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.RDPMC, x86asm.RDTSC, x86asm.RDTSCP, x86asm.LRET:
		return true
	case x86asm.INVPCID, x86asm.RSM:
		return false
	}
	return x86Privileged(op)
}
