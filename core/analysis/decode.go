package analysis

import (
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// decoded is a decoded instruction of any processor, with its effects.
type decoded struct {
	text     string
	len      int
	accesses []Access
	// unknown: the instruction may access memory in ways that are not in accesses.
	unknown bool
	jump    *Jump
	// regs are the registers of addresses and targets, each once.
	regs []Register
	// division: it is an integer division. divisor is valid if divisorKnown.
	division     bool
	divisor      uint64
	divisorKnown bool
	divisorName  string
	// privileged: user code may not execute it.
	privileged bool
	// refused is why the processor may refuse the instruction itself with a general protection
	// fault, to follow its text: "loads a segment selector that is not valid". Or it is "".
	refused string
	// trap: the instruction stops the program on purpose: ud2, int3, brk, udf.
	trap bool
	// authenticates: it fails if a pointer fails authentication.
	authenticates bool
	x86           *x86Insn // nil on other processors
}

// machine is the state in which an instruction executes.
type machine struct {
	d    *core.Dump
	arch *cpu.Arch
	regs *cpu.Regs
	pc   uint64
	teb  uint64 // of the crashed thread on Windows; 0 if unknown
}

// decode decodes the instruction at pc and sets its accesses and its jump.
//
// An instruction whose bytes are in the program's file counts too: Dump.Code asks the files if the
// dump lacks the memory.
func (c *crash) decode() {
	m := &machine{d: c.d, arch: c.arch, regs: &c.ctx.Regs}
	if c.thread >= 0 && c.d.OS() == core.Windows {
		m.teb = c.d.Threads[c.thread].TEB
	}
	at := c.pc
	if c.afterInt3() && len(m.code(at-1, 1)) == 1 && m.code(at-1, 1)[0] == 0xcc {
		at--
	}
	in := m.decodeAt(at)
	if in == nil {
		return
	}
	c.insn = in
	module, _ := c.d.ModuleAt(c.pc)
	c.out.Instruction = &Instruction{Address: at, Text: in.text, Bytes: []byte{}, Module: module, Registers: append([]Register{}, in.regs...)}
	// Keep the bytes only if they are code: at a bad pc they may be private data.
	if place := c.places.At(c.pc); c.out.Instruction.Module >= 0 || place != nil && place.Exec {
		c.out.Instruction.Bytes = m.code(at, in.len)
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

// afterInt3 reports whether the reason may be an int3, after which pc is at the next instruction:
// often an ud2, which raises another signal. Windows sets pc back to the int3.
func (c *crash) afterInt3() bool {
	if c.arch.Instructions != cpu.DecodedX86 {
		return false
	}
	switch c.why.Name {
	case "SIGTRAP / SI_KERNEL", "SIGTRAP", "EXC_BREAKPOINT / EXC_I386_BPT":
		return true
	}
	return c.d.Exception.Text != "" && strings.HasPrefix(c.why.Name, "SIGTRAP") // LLDB has no si_code
}

// use adds a register to regs.
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

// add adds an access and its registers.
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
