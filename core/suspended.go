package core

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// While 32-bit code runs, the 64-bit layer of a thread (Wow64) waits for its next call, and keeps
// what it needs then where 32-bit code cannot change it. wow64cpu.dll has these in all versions of
// Windows (published disassemblies of CpupReturnFromSimulatedCode; Wine's dlls/wow64cpu does the
// same):
//
//	r12                the TEB64
//	r14                the 64-bit stack pointer; Windows before 10 takes TlsSlots[0] (WRK's
//	                   wow64tls.h: WOW64_TLS_STACKPTR64), and 0 there means that the layer runs
//	r15                the table of what a call may jump to
//	TEB64 + 8, + 0x10  NT_TIB.StackBase and StackLimit: the bounds of the 64-bit stack
//	TEB32 + 0xc0       WOW32Reserved: the code that a 32-bit program calls. It is a far jump into
//	                   64-bit code (ea, address u32, selector u16), where Windows 10 jumps on by the
//	                   table (41 ff a7, offset i32: jmp [r15 + offset])
//
// So the layer goes on at the end of those jumps, with that stack pointer. That is also the state
// that Windows gives a thread when an exception of 32-bit code is handled in the layer
// (CpuResetToConsistentState).
const (
	tebStackBase  = 8
	tebStackLimit = 0x10
	tebSelf       = 0x30
	tls64Stack    = 0    // WOW64_TLS_STACKPTR64
	teb32Gate     = 0xc0 // WOW32Reserved
	codeSegment64 = 0x33 // cs of 64-bit code
	stackAlign    = 16   // of the stack pointer in a function that calls others (x64 ABI)
)

// suspended returns the registers with which the 64-bit layer goes on when the 32-bit code of a
// thread calls it: those that are known. loc is the thread's record, in 32-bit code. why says what
// is missing.
func (d *Dump) suspended(loc Location, teb uint64) (c *Context, why string) {
	native, err := d.raw.readContext(loc, "")
	if err != nil || native.Arch != cpu.AMD64 {
		return nil, "where it is kept is known for amd64 alone"
	}
	sp, why := d.layerStack(native, teb)
	if why != "" {
		return nil, why
	}
	pc, why := d.layerEntry(native, teb)
	if why != "" {
		return nil, why
	}
	c = &Context{Arch: native.Arch, Flags: native.Flags, Loc: loc, Regs: cpu.Regs{Arch: native.Arch}}
	for _, name := range []string{"r12", "r13", "r15"} { // no 32-bit code has them
		r, _ := c.Arch.Lookup(name)
		v, _ := native.Regs.Get(r)
		c.Regs.Set(r, v)
	}
	c.Regs.Set(c.Arch.SP, sp)
	c.Regs.Set(c.Arch.PC, pc)
	return c, ""
}

// layerStack returns the stack pointer that the layer of a thread goes on with.
func (d *Dump) layerStack(native *Context, teb uint64) (sp uint64, why string) {
	self, ok := d.Memory.Word(teb+tebSelf, 8)
	base, hasBase := d.Memory.Word(teb+tebStackBase, 8)
	limit, hasLimit := d.Memory.Word(teb+tebStackLimit, 8)
	if teb == 0 || !ok || !hasBase || !hasLimit || self != teb {
		return 0, fmt.Sprintf("the dump does not hold its thread environment block (TEB) at 0x%x", teb)
	}
	inStack := func(a uint64) bool { return a >= limit && a < base && a%stackAlign == 0 }
	register := func(name string) uint64 {
		r, _ := native.Arch.Lookup(name)
		v, _ := native.Regs.Get(r)
		return v
	}
	sp = register("r14")
	if register("r12") != teb || !inStack(sp) {
		sp, _ = d.Memory.Word(teb+tebTLS+8*tls64Stack, 8)
	}
	if !inStack(sp) {
		return 0, fmt.Sprintf("neither its registers nor its thread environment block (TEB) at 0x%x have a pointer to its 64-bit stack, 0x%x to 0x%x", teb, limit, base)
	}
	if _, ok := d.Memory.Region(sp); !ok {
		return 0, fmt.Sprintf("the dump does not hold its 64-bit stack at 0x%x", sp)
	}
	return sp, ""
}

// layerEntry returns where the layer goes on.
func (d *Dump) layerEntry(native *Context, teb uint64) (pc uint64, why string) {
	teb32 := d.programTEB(teb)
	gate, ok := d.Memory.Word(teb32+teb32Gate, 4)
	if teb32 == 0 || !ok {
		return 0, "the dump does not hold its 32-bit thread environment block, which says where the layer is entered"
	}
	var far, table [7]byte
	if d.Memory.Read(gate, far[:]) < len(far) {
		return 0, fmt.Sprintf("the dump does not hold the code at 0x%x, by which 32-bit code enters the layer", gate)
	}
	pc = uint64(binary.LittleEndian.Uint32(far[1:]))
	if far[0] != 0xea || binary.LittleEndian.Uint16(far[5:]) != codeSegment64 {
		return 0, fmt.Sprintf("the code at 0x%x, by which 32-bit code enters the layer, is not a far jump", gate)
	}
	if d.Memory.Read(pc, table[:]) == len(table) && string(table[:3]) == "\x41\xff\xa7" {
		r, _ := native.Arch.Lookup("r15")
		v, _ := native.Regs.Get(r)
		at := v + uint64(int64(int32(binary.LittleEndian.Uint32(table[3:]))))
		if pc, ok = d.Memory.Word(at, 8); !ok {
			return 0, fmt.Sprintf("the dump does not hold the address at 0x%x, where the layer goes on", at)
		}
	}
	if m, _ := d.ModuleAt(pc); m < 0 {
		return 0, fmt.Sprintf("where the layer goes on, 0x%x, is in no module", pc)
	}
	return pc, ""
}
