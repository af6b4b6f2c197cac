package reason

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Windows exception codes with parameters (winnt.h).
const (
	winAccessViolation = 0xc0000005
	winInPageError     = 0xc0000006
	winFastFail        = 0xc0000409 // STATUS_STACK_BUFFER_OVERRUN: __fastfail, and in older programs stack cookies
)

// winKinds has the classes of Windows exceptions. Others are Status.
var winKinds = [...]struct {
	code uint32
	kind Kind
}{
	{0x80000001, Memory}, {0x80000002, Misaligned}, {0x80000003, Trap}, {0x80000004, Trap},
	{0x4000001e, Trap}, {0x4000001f, Trap}, // the same of 32-bit code, to a 64-bit debugger
	{winAccessViolation, Memory}, {winInPageError, InPage},
	{0xc000001d, Instruction}, {0xc0000096, Instruction},
	// Array bounds, then exceptions of floating-point and of integer arithmetic.
	{0xc000008c, Arithmetic}, {0xc000008d, Arithmetic}, {0xc000008e, Arithmetic}, {0xc000008f, Arithmetic},
	{0xc0000090, Arithmetic}, {0xc0000091, Arithmetic}, {0xc0000092, Arithmetic}, {0xc0000093, Arithmetic},
	{0xc0000094, Arithmetic}, {0xc0000095, Arithmetic},
	{0xc00000fd, Stack}, {0xc0000374, Corruption}, {winFastFail, Abort}, {0xc0000417, Abort},
	{0x40000015, Abort}, // STATUS_FATAL_APP_EXIT, as handlers of SIGABRT record it
	// Codes of programs: Chromium's and Unreal Engine's for memory that ran out, Unreal Engine's for
	// a failed assertion, C++ (GCC, Visual C++), .NET (two), Delphi, Crashpad without a crash.
	{0xe0000008, OutOfMemory}, {0xc000, OutOfMemory}, {0x4000, Abort}, {0x20474343, Exception}, {0xe06d7363, Exception}, {0xe0434352, Exception}, {0xe0434f4d, Exception},
	{0xeedfade, Exception}, {0x0517a7ed, NoCrash},
}

// windows decodes a Windows exception.
func (x *record) windows(r Reason) Reason {
	e := find(tWindows, x.code)
	if r.Name = e.name; r.Name == "" {
		r.Name = windowsError(x.code)
	}
	r.Kind, r.Text = Status, e.text
	for _, k := range winKinds {
		if k.code == x.code {
			r.Kind = k.kind
		}
	}
	if e == (entry{}) {
		r.Text = fmt.Sprintf("raised the unknown exception 0x%08x", x.code)
		if !strings.HasPrefix(r.Name, "unknown ") {
			r.Text = fmt.Sprintf("raised exception %s (0x%08x)", r.Name, x.code)
		}
	}
	switch x.code {
	case winAccessViolation:
		x.access(&r)
		r.Text = "tried to access memory that it may not access"
		if r.Address == ^uint64(0) && x.processor == core.ProcAMD64 {
			// For a non-canonical address the processor raises a general protection fault without
			// an address, and Windows reports -1.
			r.Why = "probably another address that is not canonical; Windows does not say which"
		}
	case winInPageError:
		x.inPage(&r)
	case winFastFail:
		x.fastFail(&r)
	}
	return r
}

// access sets the address and the kind of an access violation or in-page error, and adds the kind to
// the name. params[0] is 0 for a read, 1 for a write, 8 for an execution (data execution
// prevention); params[1] is the address.
func (x *record) access(r *Reason) {
	if len(x.params) > 0 {
		switch x.params[0] {
		case 0:
			r.Access, r.Name = Read, r.Name+"_READ"
		case 1:
			r.Access, r.Name = Write, r.Name+"_WRITE"
		case 8:
			r.Access, r.Name = Exec, r.Name+"_EXEC"
		}
	}
	if len(x.params) >= 2 {
		r.Address = x.params[1]
		r.HasAddress = true
	}
}

// inPage decodes an in-page error: an access as in an access violation, and in params[2] the
// NTSTATUS that says why the page could not be loaded.
func (x *record) inPage(r *Reason) {
	x.access(r)
	r.Text, r.Why = "tried to access memory", "its page could not be read in"
	if len(x.params) >= 3 {
		status := nameOr(ntStatus.lookup(uint32(x.params[2])), uint32(x.params[2]))
		r.Name += " / " + status
		r.Why += ", " + status
	}
}

// fastFail decodes __fastfail, whose reason is in params[0].
func (x *record) fastFail(r *Reason) {
	if len(x.params) == 0 {
		return
	}
	reason := uint32(x.params[0])
	e := find(tFastFail, reason)
	r.Name = "EXCEPTION_STACK_BUFFER_OVERRUN / " + nameOr(e.name, reason)
	switch {
	case e.text != "":
		r.Text = e.text
	case e.name != "":
		r.Why = e.name
	default:
		r.Why = fmt.Sprintf("reason %d", reason)
	}
	switch reason {
	// FAST_FAIL_ codes of winnt.h whose checks found damaged data, such as stack cookies, lists and
	// virtual tables.
	case 0, 1, 2, 3, 4, 8, 18, 21, 29, 35, 50, 60, 61, 71:
		r.Kind = Corruption
	case 72:
		r.Kind = Exception
	}
}

// windowsError returns the name of an error code. The kind of code is unknown, so it tries WinError,
// then NTSTATUS, then a WinError in the facility of Visual C++ (delay loading).
func windowsError(code uint32) string {
	if name := winError.lookup(code); name != "" {
		return name
	}
	if name := ntStatus.lookup(code); name != "" {
		return name
	}
	const facilityVisualCPP = 109
	if code&0xf0000000 != 0 && code>>16&0xfff == facilityVisualCPP {
		if name := winError.lookup(code & 0xffff); name != "" {
			return "FACILITY_VISUALCPP / " + name
		}
	}
	return fmt.Sprintf("unknown 0x%08x", code)
}

// LastError returns the name of a GetLastError value: "ERROR_SUCCESS", "unknown 0x12345678".
func LastError(value uint32) string { return windowsError(value) }

// LastErrorAt reads a thread's GetLastError value from its thread environment block:
// TEB.LastErrorValue, a 32-bit word after 13 pointers. It returns false if the dump lacks that
// memory, and on other systems than Windows.
func LastErrorAt(d *core.Dump, thread int) (value uint32, ok bool) {
	if d.OS() != core.Windows || thread < 0 || thread >= len(d.Threads) {
		return 0, false
	}
	pointer := uint64(8)
	if has32(d.System.Processor) {
		pointer = 4
	}
	teb := d.Threads[thread].TEB
	addr := teb + 13*pointer
	if addr < teb {
		return 0, false
	}
	word, ok := d.Memory.Word(addr, 4)
	return uint32(word), ok
}
