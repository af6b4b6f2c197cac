package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/reason"
)

// Event says what happened, as parts of a sentence whose subject is the process: "app tried to read
// 8 bytes at 0x10 (null pointer plus 16, through rax)". The page's headline, reports and the JSON
// all print this Event.
type Event struct {
	// Did is what the process did: "hit a breakpoint", "tried to read 8 bytes at".
	Did string
	// Address follows Did, if HasAddress.
	Address    uint64
	HasAddress bool
	// Why is the cause, "null pointer plus 16, through rax", or "".
	Why string
	// Sent: a process sent the signal, and the code that was running did not cause it.
	Sent bool
}

// String returns the sentence without its subject: "tried to read 8 bytes at 0x10: null pointer
// plus 16, through rax".
func (e *Event) String() string {
	s := e.Did
	if e.HasAddress {
		s += " " + hexWord(e.Address)
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// event makes the Event.
//
//	tried to read 8 bytes at 0x10: null pointer plus 16, through rax
//	jumped to 0x7f75c0de1234: the memory there is data and may not be executed
//	divided an integer by zero: ecx is 0
//	ran out of stack: it reached its guard page after 8192 KB
//	was sent SIGSEGV by process 4711: the code that was running did not cause it
func (c *crash) event() Event {
	if c.out.Overflow != No {
		return c.overflowEvent()
	}
	e := Event{Did: c.why.Text, Why: c.why.Why}
	certain := c.why.Flags == siUser && c.d.Exception.CodeKnown || c.why.Flags == siTKill || c.why.Flags == siQueue || reason.SentByKill(c.d.Exception.Text)
	if (certain || !c.aboutMemory()) && c.sentSignal(&e) {
		return e
	}
	switch c.why.Kind {
	case reason.Memory, reason.InPage, reason.Misaligned:
		c.memoryEvent(&e)
	case reason.Arithmetic:
		c.divisionEvent(&e)
	case reason.Signal:
		name, _, _ := strings.Cut(c.why.Name, " ")
		e.Sent = strings.HasPrefix(name, "SIG") && !slices.Contains(ofCalls, name)
	case reason.Instruction, reason.Trap:
		switch {
		case c.insn == nil:
		case c.insn.authenticates && (c.insn.trap || c.why.Name == "SIGILL / ILL_ILLOPN"):
			e = Event{Did: "used a pointer that is not valid", Why: strings.TrimPrefix(c.insn.text+": pointer authentication failed", ": ")}
		case c.insn.text == "":
		case c.insn.trap || c.insn.privileged:
			e.Why = c.insn.purpose()
		}
	}
	return e
}

// memoryEvent sets the event of a memory access.
func (c *crash) memoryEvent(e *Event) {
	at := func(did string, addr uint64, why string) {
		*e = Event{Did: did, Address: addr, HasAddress: true, Why: why}
	}
	switch j := c.out.Jump; {
	case c.execution():
		at("jumped to", c.pc, c.because(c.pc, Exec, ""))
	case c.ranInto():
		why := cmp.Or(c.refusal(c.why.Address, Exec), "memory that may not be executed")
		at("ran into", c.why.Address, why+", with the instruction at "+hexWord(c.pc))
	case c.badTarget():
		did := cmp.Or(map[string]string{"call": "tried to call", "return": "tried to return to"}[j.How], "tried to jump to")
		at(did, j.Target, c.because(j.Target, Exec, through(j.Register, 0)))
	case c.out.Cause >= 0:
		c.accessEvent(e, &c.out.Accesses[c.out.Cause])
	case c.instructionRefused() && c.insn.privileged:
		*e = Event{Did: "executed a privileged instruction", Why: c.insn.purpose()}
	case c.instructionRefused():
		*e = Event{Did: "executed an instruction that the processor refused", Why: c.insn.text + " " + c.insn.refused}
	case c.sentSignal(e):
	case c.why.HasAddress:
		at(c.why.Text+" at", c.why.Address, c.because(c.why.Address, kindOf(c.why.Access), ""))
	}
}

// purpose returns the text of an instruction, and what it is for if that is to stop the program.
func (in *decoded) purpose() string {
	if in.trap {
		return in.text + ", which stops the program on purpose"
	}
	return in.text
}

// kindOf returns the kind of a reason's access.
func kindOf(a reason.Access) Kind {
	return [...]Kind{KindUnknown, Read, Write, Exec}[a&3]
}

// ofCalls are the other signals that the kernel sends a thread because of what it called.
var ofCalls = []string{"SIGPIPE", "SIGSTKFLT", "SIGTTIN", "SIGTTOU"}

// hexWord formats a number with 0x and without leading zeros.
func hexWord(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// maxPID is the highest process id of Linux (PID_MAX_LIMIT, 64-bit).
const maxPID = 1 << 22

// sender returns the process id of who sent the signal, or 0 if the dump has none. siginfo has it
// in the place of the address, since si_pid shares memory with si_addr (sigaction(2)); Crashpad has
// it as the first parameter. An address would be that of the instruction.
func (c *crash) sender() uint32 {
	v := c.d.Exception.Address
	if params := c.d.Exception.Params; len(params) > 0 {
		v = params[0]
	}
	if v == c.pc || uint32(v) > maxPID {
		return 0
	}
	return uint32(v)
}

// si_codes of signals that a process sent (asm-generic/siginfo.h).
const (
	siUser  = 0          // kill
	siQueue = 0xffffffff // sigqueue
	siTKill = 0xfffffffa // tkill, tgkill; so raise, pthread_kill and abort
)

// sentSignal reports whether a process sent the signal: si_code is 0 (SI_USER) and the instruction
// did not raise it. As many writers leave si_code 0 for every signal, that is not enough. For
// SIGSEGV and SIGBUS, the instruction must be known to access no memory; for all others, the sender
// must be recorded. Other si_codes of sent signals are certain. sentSignal sets the event, if e is
// not nil.
func (c *crash) sentSignal(e *Event) bool {
	if !strings.HasPrefix(c.why.Name, "SIG") {
		return false
	}
	pid, own, in := c.sender(), c.d.PID(), c.insn
	itself := own != nil && *own == pid
	if c.d.Exception.Text != "" {
		pid = reason.SenderInText(c.d.Exception.Text)
		itself = own != nil && *own == pid || pid == 0 && c.why.Flags == siTKill
	}
	switch code := c.why.Flags; {
	case itself && c.why.Kind == reason.Abort:
		return false
	case reason.SentByKill(c.d.Exception.Text):
	case code == siQueue, code == siTKill && itself, code == siUser && c.d.Exception.CodeKnown:
	case code != siUser:
		return false
	case c.aboutMemory():
		if in == nil || in.unknown || in.text == "" || len(in.accesses) > 0 || in.jump != nil || in.division {
			return false
		}
	case pid == 0, in != nil && (in.division || in.trap):
		return false
	}
	if e == nil {
		return true
	}
	name, _, _ := strings.Cut(c.why.Name, " ")
	if number, ok := strings.CutPrefix(c.why.Text, "was sent real-time "); ok {
		name = "real-time " + number
	}
	*e = Event{Did: "was sent " + name + " by a process", Why: "the code that was running did not cause it", Sent: true}
	switch {
	case itself:
		e.Did = "sent itself " + name
	case pid == 0:
	default:
		e.Did = fmt.Sprintf("was sent %s by process %d", name, pid)
	}
	return true
}

// accessEvent sets the event of the access that failed: "tried to read 8 bytes at 0x10: null
// pointer plus 16, through rax".
func (c *crash) accessEvent(e *Event, a *Access) {
	kind := a.Kind
	// If an instruction reads and writes, the reported access says which of the two failed.
	switch {
	case c.faultWithoutAddress():
	case c.why.Access == reason.Read:
		kind = Read
	case c.why.Access == reason.Write:
		kind = Write
	}
	did := "tried to " + [...]string{"access", "read", "write", "read and write", "execute"}[min(kind, Exec)]
	switch {
	case a.Size == 1:
		did += " 1 byte"
	case a.Size > 1:
		did += fmt.Sprintf(" %d bytes", a.Size)
	default:
		did += " memory"
	}
	*e = Event{Did: did + " at", Address: a.Address, HasAddress: true}
	adj := c.out.Adjusted
	switch {
	case adj != nil && adj.Kind == NullPointer:
		e.Why = nullPointer(a, adj)
	case adj != nil && adj.Register.Name != "":
		e.Why = c.because(a.Address, kind, through(adj.Register, int64(a.Address-adj.Register.Value)))
	default:
		e.Why = c.because(a.Address, kind, through(a.Base, a.Offset|int64(len(a.Index.Name))))
	}
}

// through names the register of an address. An address relative to pc is a constant of the code, so
// pc is not named.
func through(r Register, offset int64) string {
	switch {
	case r.Name == "" || r.Name == "rip" || r.Name == "pc":
		return ""
	case offset == 0:
		return "address in " + r.Name
	}
	return "through " + r.Name
}

// nullPointer returns how the address was computed from a null pointer.
//
//	[rdi], rdi 0               null pointer, in rdi
//	[rdi + 0x10], rdi 0        null pointer plus 16, through rdi
//	[rdi + rcx * 8], rdi 0     null pointer in rdi, indexed by rcx
//	[rdi + 0x10], rdi 0x20     close to a null pointer: rdi is 0x20
//	[0x10]                     close to a null pointer; the address is written in the
//	                           instruction itself
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

// because returns why an access to an address failed. through, if not "", is where the address came
// from.
func (c *crash) because(addr uint64, kind Kind, through string) string {
	why := c.refusal(addr, kind)
	if why != "" && through != "" {
		why += ", "
	}
	why += through
	if c.why.Address != addr && c.faultWithoutAddress() {
		what := ""
		if c.why.Access == reason.Read && kind != Read {
			what = "a read of "
		}
		why += "; the system reports " + what + hexWord(c.why.Address) + " instead"
	}
	return why
}

// refusal returns what is wrong with an address, or "". The checks that need no memory map come
// first, since a dump may have none. If no check applies, the result is that of the crash reason.
func (c *crash) refusal(addr uint64, kind Kind) string {
	p := c.out.Place
	switch {
	case c.why.Stated:
		return c.why.Why
	case addr == 0:
		return "null pointer"
	case addr < nullPage:
		return "close to a null pointer"
	case !c.possible(addr):
		return "not an address that can exist"
	case c.out.Cause >= 0 && c.faultWithoutAddress() && c.misaligned(&c.out.Accesses[c.out.Cause]) != 0:
		return fmt.Sprintf("not a multiple of %d, which %s needs", c.misaligned(&c.out.Accesses[c.out.Cause]), strings.Fields(c.insn.text)[0])
	case c.why.Kind != reason.Memory:
		return c.why.Why
	case p == nil && (c.why.Why == "" || c.protected()) && c.forbidden(addr, kind) != nil:
		return "the memory there " + restriction(c.forbidden(addr, kind), kind) + c.where(addr, nil)
	case kind == Exec && p == nil && c.protected():
		return "the memory there may not be executed" + c.where(addr, nil)
	case p != nil && !p.Mapped:
		return "no memory is mapped there"
	case p != nil && p.Guard:
		return "a guard page"
	case p != nil && !p.Allows(kind):
		return "the memory there " + restriction(p, kind) + c.where(addr, p)
	}
	return c.why.Why
}

// protected reports whether the system says that memory is there and its protection forbids the
// access, or for an execution on Windows, where the system says the same of memory that is not
// there, whether the dump shows that there is memory.
func (c *crash) protected() bool {
	switch c.why.Name {
	case "SIGSEGV / SEGV_ACCERR", "EXC_BAD_ACCESS / KERN_PROTECTION_FAILURE":
		return true
	}
	_, held := c.d.Memory.Region(c.why.Address)
	module, _ := c.d.ModuleAt(c.why.Address)
	return c.why.Access == reason.Exec && (held || module >= 0)
}

// restriction returns what the permissions forbid.
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

// where names what an address is in: the thread's stack, the heap, a file, or what else the memory
// map has as its name. p is nil without a map.
func (c *crash) where(addr uint64, p *Place) string {
	name := ""
	if p != nil {
		name = p.Name[strings.LastIndexByte(p.Name, '/')+1:]
	}
	switch {
	case p == nil && c.onStack(addr), p != nil && p.Mapped && p.Start <= c.sp && c.sp-p.Start < p.End-p.Start && (name == "" || name[0] == '['):
		name = "the thread's stack"
	case name == "[heap]":
		name = "the heap"
	}
	if name == "" {
		name = c.section(addr)
	}
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// section names the section of a program's file that an address is in: ".rdata of app.exe".
func (c *crash) section(addr uint64) string {
	if c.d.Section == nil {
		return ""
	}
	s, ok := c.d.Section(addr)
	module, _ := c.d.ModuleAt(addr)
	if !ok || module < 0 {
		return ""
	}
	return s.Name + " of " + core.FileName(c.d.Modules[module].Name)
}

// forbidden returns the section of a program's file that an address is in, if it forbids an access,
// else nil.
func (c *crash) forbidden(addr uint64, kind Kind) *Place {
	if c.d.Section == nil {
		return nil
	}
	s, ok := c.d.Section(addr)
	p := &Place{Start: s.Start, End: s.Start + s.Size, Read: true, Write: s.Write, Exec: s.Exec, Mapped: true}
	if !ok || p.Allows(kind) {
		return nil
	}
	return p
}

// onStack reports whether an address is in what the dump has of the crashed thread's stack.
func (c *crash) onStack(addr uint64) bool {
	if c.thread < 0 {
		return false
	}
	t := &c.d.Threads[c.thread]
	return addr >= t.StackStart && addr-t.StackStart < t.Stack.Size
}

// divisionEvent sets why a division failed. Systems report a quotient that does not fit as a
// division by zero too.
func (c *crash) divisionEvent(e *Event) {
	in := c.insn
	if in == nil || !in.division || !in.divisorKnown {
		return
	}
	what := in.divisorName
	if what == "" {
		what = "the divisor at " + hexWord(in.accesses[0].Address)
	}
	if in.divisor == 0 {
		e.Did, e.Why = "divided an integer by zero", what+" is 0"
		return
	}
	e.Did, e.Why = "divided integers and the result does not fit", fmt.Sprintf("%s is %s, not 0", what, hexWord(in.divisor))
}

// overflowEvent returns the event of a stack overflow: "ran out of stack: it reached its guard page
// after 8192 KB".
func (c *crash) overflowEvent() Event {
	e := Event{Did: "ran out of stack", Why: "it reached its end"}
	if c.out.Overflow == Likely {
		e.Did = "probably ran out of stack"
	}
	addr, _ := c.address()
	switch p := c.out.Place; {
	case c.why.Kind == reason.Stack || p != nil && p.Guard:
		e.Why = "it reached its guard page"
	case p == nil && c.leftStack(addr):
		e.Why = "the stack pointer has left the stack, which the dump does not hold"
	case p == nil && addr < c.sp:
		e.Why = fmt.Sprintf("the access failed %d bytes below the stack pointer", c.sp-addr)
	}
	if n := c.stackInUse(); n >= 10<<10 {
		e.Why += fmt.Sprintf(" after %d KB", n>>10)
	}
	return e
}
