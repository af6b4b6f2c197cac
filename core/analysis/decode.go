package analysis

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// maxInstruction is the longest instruction of all: x86's limit. arm64's have 4 bytes.
const maxInstruction = 15

// decoded is an instruction with what it does, for any processor.
type decoded struct {
	text     string
	len      int
	accesses []Access
	// unknown: the instruction may access memory in ways that are not in accesses.
	unknown bool
	jump    *Jump
	// regs are the registers of addresses and targets, without repetition.
	regs []Register
	// division: an integer division; divisor its divisor, if it is known.
	division     bool
	divisor      uint64
	divisorKnown bool
	divisorName  string
	// privileged: user code may not execute it.
	privileged bool
	// trap: the instruction is there to stop the program: ud2, int3, brk, udf.
	trap bool
	x86  *x86Insn // what it was decoded from; nil on other processors
}

// machine is the state that an instruction runs on.
type machine struct {
	d    *core.Dump
	arch *cpu.Arch
	regs *cpu.Regs
	pc   uint64
	teb  uint64 // of the crashed thread on Windows; 0 if not known
}

// decode reads the instruction at the program counter.
func (c *crash) decode() {
	m := &machine{d: c.d, arch: c.arch, regs: &c.ctx.Regs, pc: c.pc}
	if c.thread >= 0 && c.d.OS() == core.Windows {
		m.teb = c.d.Threads[c.thread].TEB
	}
	var buf [maxInstruction]byte
	p := buf[:c.d.Code(c.pc, buf[:])]
	var in *decoded
	switch {
	case c.arch == nil:
	case c.arch.Instructions == cpu.DecodedX86:
		in = m.x86(p, 8*c.arch.WordSize)
	case c.arch.Instructions == cpu.DecodedA64:
		if len(p) >= 4 {
			in = m.a64(uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24)
		}
	}
	if in == nil || in.len > len(p) {
		return
	}
	c.insn = in
	module, _ := c.d.ModuleAt(c.pc)
	c.out.Instruction = &Instruction{Address: c.pc, Text: in.text, Bytes: []byte{}, Module: module, Registers: append([]Register{}, in.regs...)}
	// Bytes are shown where they are code. At a wild program counter they may be anybody's data.
	if place := c.places.At(c.pc); c.out.Instruction.Module >= 0 || place != nil && place.Exec {
		c.out.Instruction.Bytes = append(c.out.Instruction.Bytes, p[:in.len]...)
	}
	c.out.Accesses = append(c.out.Accesses, in.accesses...)
	c.out.AccessesKnown = !in.unknown
	c.out.Jump = in.jump
	for i := range c.out.Accesses {
		a := &c.out.Accesses[i]
		if p := c.places.At(a.Address); a.AddressKnown && p != nil {
			a.Guard = p.Guard
		}
	}
}

// use notes a register.
func (in *decoded) use(r Register) {
	if r.Name == "" {
		return
	}
	for _, have := range in.regs {
		if have.Name == r.Name {
			return
		}
	}
	in.regs = append(in.regs, r)
}

// add notes an access and its registers.
func (in *decoded) add(a Access) {
	in.use(a.Base)
	in.use(a.Index)
	in.accesses = append(in.accesses, a)
}

// reg reads a general register by the name that core/cpu has for it.
func (m *machine) reg(name string) (uint64, bool) {
	r, ok := m.arch.Lookup(name)
	if !ok {
		return 0, false
	}
	return m.regs.Get(r)
}
