package reason

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
)

// Windows exception codes that carry more than their name (winnt.h).
const (
	winAccessViolation = 0xc0000005
	winInPageError     = 0xc0000006
	winFastFail        = 0xc0000409 // STATUS_STACK_BUFFER_OVERRUN: __fastfail, and formerly stack cookies
)

// winKinds are the classes of the Windows exceptions that have one.
var winKinds = [...]struct {
	code uint32
	kind Kind
}{
	{0x80000001, Memory}, {0x80000002, Misaligned}, {0x80000003, Trap}, {0x80000004, Trap},
	{winAccessViolation, Memory}, {winInPageError, InPage},
	{0xc000001d, Instruction}, {0xc0000096, Instruction},
	{0xc000008c, Arithmetic}, {0xc000008d, Arithmetic}, {0xc000008e, Arithmetic}, {0xc000008f, Arithmetic},
	{0xc0000090, Arithmetic}, {0xc0000091, Arithmetic}, {0xc0000092, Arithmetic}, {0xc0000093, Arithmetic},
	{0xc0000094, Arithmetic}, {0xc0000095, Arithmetic},
	{0xc00000fd, Stack}, {0xc0000374, Corruption}, {winFastFail, Abort}, {0xc0000417, Abort},
	{0xe0000008, OutOfMemory}, {0xe06d7363, Exception}, {0xe0434352, Exception}, {0xe0434f4d, Exception},
	{0xeedfade, Exception}, {0x0517a7ed, NoCrash},
}

// windows decodes a Windows exception.
func (x *record) windows(r Reason) Reason {
	e := find(tWindows, x.code)
	r.Rust = windowsError(x.code)
	if name, ok := e.breakpad(); ok {
		r.Breakpad = name
	}
	if name, ok := e.rust(); ok {
		r.Rust = name
	}
	r.Kind, r.Text = Status, e.text
	for _, k := range winKinds {
		if k.code == x.code {
			r.Kind = k.kind
		}
	}
	if e == (entry{}) {
		r.Text = fmt.Sprintf("raised the unknown exception 0x%08x", x.code)
		if name, _, ok := ntStatus.lookup(x.code); ok {
			r.Text = fmt.Sprintf("raised exception %s (0x%08x)", name, x.code)
		}
	}
	switch x.code {
	case winAccessViolation:
		x.access(&r)
		if word := accessWord(x.params); word != "" {
			r.Breakpad += "_" + word
			r.Rust += "_" + word
		}
		r.Text = "tried to access memory that it may not"
		if r.Address == ^uint64(0) && x.processor == core.ProcAMD64 {
			// The processor raises a general protection fault without an address for non-canonical ones, and
			// Windows fills in -1.
			r.Why = "probably another address that is not canonical; Windows does not say which"
		}
	case winInPageError:
		x.inPage(&r)
	case winFastFail:
		x.fastFail(&r)
	}
	return r
}

// access fills in the address and the kind of an access violation or in-page error. params[0] is 0 for a read, 1 for a
// write, 8 for an execution (data execution prevention), params[1] the address.
func (x *record) access(r *Reason) {
	switch accessWord(x.params) {
	case "READ":
		r.Access = Read
	case "WRITE":
		r.Access = Write
	case "EXEC":
		r.Access = Exec
	}
	if len(x.params) >= 2 {
		r.Address = x.params[1]
		r.HasAddress = true
	}
}

// accessWord is the suffix that both tools give to the two exceptions with an access; "" if there is none.
func accessWord(params []uint64) string {
	if len(params) == 0 {
		return ""
	}
	switch params[0] {
	case 0:
		return "READ"
	case 1:
		return "WRITE"
	case 8:
		return "EXEC"
	}
	return ""
}

// inPage decodes an in-page error: an access as in an access violation, and in params[2] the NTSTATUS that says why the
// page could not be read in. rust-minidump says READ, WRITE or EXEC only together with the status.
func (x *record) inPage(r *Reason) {
	x.access(r)
	word := accessWord(x.params)
	if word != "" {
		r.Breakpad += "_" + word
	}
	r.Text, r.Why = "tried to access memory", "its page could not be read in"
	if len(x.params) < 3 {
		return
	}
	status := uint32(x.params[2])
	name, peers, ok := ntStatus.lookup(status)
	r.Breakpad += " / " + or(name, ok && peers&inBreakpad != 0, status)
	if word != "" {
		r.Rust += "_" + word + " / " + or(name, ok && peers&inRust != 0, status)
	}
	r.Why += ", " + or(name, ok, status)
}

// fastFail decodes __fastfail, whose reason is in params[0]. Breakpad prints the reason alone and does not know 0, the old
// stack cookie check; rust-minidump prints both and, without a reason, the code's NTSTATUS name.
func (x *record) fastFail(r *Reason) {
	if len(x.params) == 0 {
		return
	}
	reason := uint32(x.params[0])
	e := find(tFastFail, reason)
	if name, ok := e.breakpad(); ok {
		r.Breakpad = name
	}
	name, known := e.rust()
	r.Rust = "EXCEPTION_STACK_BUFFER_OVERRUN / " + or(name, known, reason)
	switch {
	case e.text != "":
		r.Text = e.text
	case e.name != "":
		r.Why = e.name
	default:
		r.Why = fmt.Sprintf("reason %d", reason)
	}
	switch reason {
	case 0, 1, 2, 3, 4, 8, 18, 21, 29, 35, 50, 60, 61, 71:
		r.Kind = Corruption
	case 72:
		r.Kind = Exception
	}
}

// windowsError names an error code as rust-minidump does, which cannot know which of Windows' sets of codes a number comes
// from and tries WinError, then NTSTATUS, then a WinError wrapped with the facility of Visual C++ (delay loading).
func windowsError(code uint32) string {
	if name, _, ok := winError.lookup(code); ok {
		return name
	}
	if name, peers, ok := ntStatus.lookup(code); ok && peers&inRust != 0 {
		return name
	}
	const facilityVisualCPP = 109
	if code&0xf0000000 != 0 && code>>16&0xfff == facilityVisualCPP {
		if name, _, ok := winError.lookup(code & 0xffff); ok {
			return "FACILITY_VISUALCPP / " + name
		}
	}
	return fmt.Sprintf("unknown 0x%08x", code)
}

// LastError names a value of GetLastError as rust-minidump's last_error_value does: "ERROR_SUCCESS",
// "unknown 0x12345678".
func LastError(value uint32) string { return windowsError(value) }

// LastErrorAt reads what GetLastError would have given to a thread, from its thread environment block: a 32-bit word
// behind 13 pointers (TEB.LastErrorValue). It is false if the dump does not hold that memory. As rust-minidump does, it
// reads the word whatever system wrote the dump, because its output has it; it means something on Windows only
// (Crashpad for Apple's systems puts another address into the thread record's field).
func LastErrorAt(d *core.Dump, thread int) (value uint32, ok bool) {
	if d.System == nil || thread < 0 || thread >= len(d.Threads) {
		return 0, false
	}
	pointer := uint64(4)
	if !rust32(d.System.Processor) {
		switch d.System.Processor {
		case core.ProcAMD64, core.ProcARM64, core.ProcARM64Old, core.ProcPPC64, core.ProcMIPS64:
			pointer = 8
		default:
			return 0, false
		}
	}
	teb := d.Threads[thread].TEB
	addr := teb + 13*pointer
	if addr < teb {
		return 0, false
	}
	word, ok := d.Memory.Word(addr, 4)
	return uint32(word), ok
}
