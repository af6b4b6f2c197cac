package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/reason"
)

// sentence says what happened: what was done, and why it failed.
func (c *crash) sentence() string {
	if c.out.Overflow != No {
		return c.overflowSentence()
	}
	switch c.why.Kind {
	case reason.Memory, reason.InPage, reason.Misaligned:
		switch {
		case c.execution():
			return "jump to " + hexWord(c.pc) + c.because(c.pc, Exec)
		case c.badTarget():
			j := c.out.Jump
			preposition := " to "
			if j.How == "call" {
				preposition = " of "
			}
			return j.How + preposition + hexWord(j.Target) + through(j.Register, 0) + c.because(j.Target, Exec)
		case c.out.Cause >= 0:
			return c.accessSentence(&c.out.Accesses[c.out.Cause])
		}
		if s := c.sentSignal(); s != "" {
			return s
		}
		if p := c.out.Place; p != nil && c.why.HasAddress && c.why.Address >= nullPage && !strings.Contains(c.why.Text, ": ") {
			return c.why.Text + c.because(c.why.Address, Kind(0))
		}
	case reason.Arithmetic:
		if s := c.division(); s != "" {
			return s
		}
	case reason.Instruction, reason.Trap:
		if c.insn != nil && c.insn.trap && c.insn.text != "" {
			return c.why.Text + ": " + c.insn.text + ", which is there to stop the program"
		}
		if c.insn != nil && c.insn.privileged {
			return c.why.Text + ": " + c.insn.text + " is for the system only"
		}
	}
	return c.why.Text
}

func hexWord(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// sentSignal: a SIGSEGV or SIGBUS with si_code 0 whose instruction accesses no memory was sent by a process. siginfo then has its id
// where the address would be (sigaction(2): si_pid and si_uid lie over si_addr).
func (c *crash) sentSignal() string {
	in := c.insn
	if in == nil || in.unknown || in.text == "" || len(in.accesses) > 0 || in.jump != nil || in.division || c.d.Exception.Flags != 0 ||
		!strings.HasPrefix(c.why.Rust, "SIG") {
		return ""
	}
	name, _, _ := strings.Cut(c.why.Rust, " ")
	s := name + " sent by a process, not caused by this instruction"
	if pid := uint32(c.d.Exception.Address); pid != 0 {
		if own := c.d.PID(); own != nil && *own == pid {
			return name + " that the process sent to itself, not caused by this instruction"
		}
		s = fmt.Sprintf("%s sent by a process (%d), not caused by this instruction", name, pid)
	}
	return s
}

// accessSentence: "read of 8 bytes at 0x10: null pointer plus 16, through rax".
func (c *crash) accessSentence(a *Access) string {
	kind := a.Kind
	// Of an instruction that does both, Windows says at which half it failed.
	switch {
	case c.faultWithoutAddress():
	case c.why.Access == reason.Read:
		kind = Read
	case c.why.Access == reason.Write:
		kind = Write
	}
	s := [...]string{"access", "read", "write", "read and write", "execution"}[min(kind, Exec)]
	switch {
	case a.Size == 1:
		s += " of 1 byte"
	case a.Size > 1:
		s += fmt.Sprintf(" of %d bytes", a.Size)
	}
	s += " at " + hexWord(a.Address)
	if adj := c.out.Adjusted; adj != nil && adj.Kind == NullPointer {
		return s + ": " + nullPointer(a, adj)
	}
	if adj := c.out.Adjusted; adj != nil && adj.Register.Name != "" {
		return s + through(adj.Register, int64(a.Address-adj.Register.Value)) + c.because(a.Address, kind)
	}
	return s + through(a.Base, a.Offset|int64(len(a.Index.Name))) + c.because(a.Address, kind)
}

// through names the register of an address. One that counts from the program counter is a constant of the code.
func through(r Register, offset int64) string {
	switch {
	case r.Name == "" || r.Name == "rip" || r.Name == "pc":
		return ""
	case offset == 0:
		return ", in " + r.Name
	}
	return ", through " + r.Name
}

// nullPointer says how the address comes from a null pointer.
func nullPointer(a *Access, adj *Adjusted) string {
	r := adj.Register
	switch {
	case r.Name == "" && a.Index.Name == "":
		if adj.Offset == 0 {
			return "null pointer, written in the instruction itself"
		}
		return "close to a null pointer; the address is written in the instruction itself"
	case r.Name != "" && r.Value == 0 && a.Index.Name != "" && a.Index.Value != 0:
		return fmt.Sprintf("null pointer in %s, indexed by %s", r.Name, a.Index.Name)
	case r.Value != 0:
		return fmt.Sprintf("close to a null pointer: %s is %s", r.Name, hexWord(r.Value))
	case r.Name == "":
		return fmt.Sprintf("close to a null pointer: %s is %s", a.Index.Name, hexWord(a.Index.Value))
	case adj.Offset == 0:
		return "null pointer, in " + r.Name
	case adj.Offset < 0:
		return fmt.Sprintf("null pointer minus %d, through %s", -adj.Offset, r.Name)
	}
	return fmt.Sprintf("null pointer plus %d, through %s", adj.Offset, r.Name)
}

// because says why an access to an address failed, beginning with ": "; "" if nobody knows.
func (c *crash) because(addr uint64, kind Kind) string {
	p := c.out.Place
	reported := ""
	if c.why.Address != addr && c.faultWithoutAddress() {
		reported = "; the system reports " + hexWord(c.why.Address) + " instead"
	}
	switch {
	case kind == Exec && addr < nullPage:
		if addr == 0 {
			return ": null pointer"
		}
		return ": close to a null pointer"
	case !c.possible(addr):
		return ": not an address that can exist" + reported
	case c.out.Cause >= 0 && c.faultWithoutAddress() && c.misaligned(&c.out.Accesses[c.out.Cause]) != 0:
		return fmt.Sprintf(": not a multiple of %d, which %s needs%s", c.misaligned(&c.out.Accesses[c.out.Cause]), strings.Fields(c.insn.text)[0], reported)
	case c.why.Kind != reason.Memory:
		if _, why, ok := strings.Cut(c.why.Text, ": "); ok {
			return ": " + why
		}
		return ""
	case p != nil && !p.Mapped:
		return ": no memory is mapped there"
	case p != nil && p.Guard:
		return ": a guard page"
	case p != nil && !p.Allows(kind):
		return ": the memory there " + restriction(p, kind) + c.where(p)
	}
	if _, why, ok := strings.Cut(c.why.Text, ": "); ok {
		return ": " + why
	}
	return ""
}

// restriction says what the permissions forbid.
func restriction(p *Place, kind Kind) string {
	switch {
	case !p.Read && !p.Write && !p.Exec:
		return "may not be accessed"
	case kind == Exec && p.Write:
		return "is data and may not be executed"
	case kind == Exec:
		return "may not be executed"
	case kind == Read:
		return "may not be read"
	case p.Exec:
		return "is code and may not be written"
	}
	return "may only be read"
}

// where names what is mapped at a place: a file by its base name, or what /proc/PID/maps calls it.
func (c *crash) where(p *Place) string {
	name := p.Name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if name == "" {
		if c.sp >= p.Start && c.sp-p.Start < p.End-p.Start {
			return " (the thread's stack)"
		}
		return ""
	}
	return " (" + name + ")"
}

// division says why a division failed. A quotient that has no room is reported as a division by zero, too.
func (c *crash) division() string {
	in := c.insn
	if in == nil || !in.division || !in.divisorKnown {
		return ""
	}
	what := in.divisorName
	if what == "" {
		what = "the divisor at " + hexWord(in.accesses[0].Address)
	}
	if in.divisor == 0 {
		return "division by zero: " + what + " is 0"
	}
	return fmt.Sprintf("division whose result has no room: %s is %s, not 0", what, hexWord(in.divisor))
}

// overflowSentence: `stack overflow: the stack of thread 12 ("worker") reached its guard page`.
func (c *crash) overflowSentence() string {
	s := "stack overflow: the stack"
	if c.out.Overflow == Likely {
		s = "probably a stack overflow: the stack"
	}
	if c.thread >= 0 {
		t := &c.d.Threads[c.thread]
		s += fmt.Sprintf(" of thread %d", t.ID)
		if t.Name != "" {
			s += fmt.Sprintf(" (%q)", t.Name)
		}
	}
	if p := c.out.Place; c.why.Kind == reason.Stack || p != nil && p.Guard {
		s += " reached its guard page"
	} else {
		s += " reached its end"
	}
	if n := c.stackInUse(); n >= 10<<10 {
		s += fmt.Sprintf(" after %d KB", n>>10)
	}
	return s
}
