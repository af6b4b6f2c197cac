// Package reason decodes the exception record of a dump: why the system stopped the process. A
// Reason has the exception's name and a sentence for users.
//
//	Linux, code 11, flags 1    SIGSEGV / SEGV_MAPERR
//
// Start at Decode in this file; linux_reason.go, mac_reason.go and windows_reason.go decode for
// each system. The tables of codes are generated from data/*.tsv by internal/gen.
//
// Sources: the systems' headers that data/*.tsv name. The names' form, with " / " between them, is
// that of rust-minidump's minidump.rs (CrashReason).
package reason

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
)

// Access is the kind of a memory access.
type Access uint8

const (
	AccessUnknown Access = iota // there was none, or the system does not report its kind
	Read
	Write
	Exec
)

// tried returns the access as what a process did: "tried to read memory".
func (a Access) tried() string {
	return [...]string{"tried to access memory", "tried to read memory", "tried to write memory", "tried to execute code"}[a&3]
}

// Kind is the class of a crash.
type Kind uint8

const (
	Unknown     Kind = iota
	Memory           // access to unmapped memory, or one that the permissions forbid
	InPage           // memory that could not be loaded from its file or device
	Misaligned       // access to a misaligned address
	Stack            // stack overflow
	Instruction      // illegal or privileged instruction
	Arithmetic       // division by zero, overflow, floating-point errors
	Trap             // breakpoint, trap instruction, single step
	Abort            // the program ended itself: abort, fast fail
	Corruption       // a check found corrupted data: heap, stack cookie, lists
	Exception        // an uncaught exception of a language
	OutOfMemory      // the program ran out of memory
	Limit            // a resource limit or guard of the system
	Signal           // another signal, in most cases sent by another process
	Status           // an error code of the system, raised as an exception
	NoCrash          // the program requested a dump
)

// Reason is a decoded exception.
type Reason struct {
	// Name is the exception's name, with what is known about it: "SIGSEGV / SEGV_MAPERR". If it has
	// none, Name begins with "unknown " and has the numbers. It is "" without an exception.
	Name string
	// Code and Flags are the numbers that were decoded, after those of writers that have others in
	// their place: of Linux the signal and its si_code.
	Code, Flags uint32
	// Address is the accessed address of an access violation on Windows, else the exception's
	// address. It is cut to the width of the processor, since some writers extend its sign.
	Address uint64

	Kind   Kind
	Access Access
	// HasAddress: Address is an accessed address, not that of an instruction.
	HasAddress bool
	// Stated: Why states what was wrong, whatever the address is: a tag, a protection key, failing
	// hardware, alignment, pointer authentication. That the address is close to 0, say, then
	// explains nothing.
	Stated bool
	// Text is what the process did, to follow its name: "divided an integer by zero", "tried to
	// read memory".
	Text string
	// Why is the cause as the system reports it, "nothing is mapped there", or "".
	Why string
}

// Decode decodes the dump's exception. Without one, all fields but Kind and Text are empty.
func Decode(d *core.Dump) Reason {
	e := d.Exception
	if e == nil {
		return Reason{Kind: NoCrash, Text: "did not crash: the dump holds no exception"}
	}
	if e.Text != "" {
		return lldb(d)
	}
	if d.System == nil {
		return DecodeFor(core.OSUnknown, core.ProcUnknown, e.Code, e.Flags, e.Address, e.Params)
	}
	os, code := d.System.OS, e.Code
	if n, ok := d.SignalOf(e); ok {
		os, code = signalOf(os, code, n)
	}
	r := DecodeFor(os, d.ProcessorOf(e), code, e.Flags, e.Address, e.Params)
	if d.Micro != nil {
		return micro(d.Micro, r, e.Address)
	}
	if e.CodeKnown && e.Flags == 0 {
		x := record{code: code}
		r.Name, r.HasAddress = r.Name+" / SI_USER", false
		x.sender(&r, r.Name)
	}
	return r
}

// macSignals are the signals of macOS whose numbers differ from Linux's (sys/signal.h), and those
// that have the same.
var macSignals = map[uint32]uint32{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 8: 8, 9: 9, 10: sigbus, 11: sigsegv, 12: sigsys, 13: 13, 14: 14, 15: 15,
	24: 24, 25: 25, 30: 10, 31: 12}

// signalOf returns the system and the code that decode a signal's number where a writer has it
// together with other bits.
func signalOf(os core.OS, code, number uint32) (core.OS, uint32) {
	switch os {
	case core.OSLinux, core.Android:
		return os, number
	case core.MacOS, core.IOS:
		if n, ok := macSignals[number]; ok {
			return core.OSLinux, n
		}
	}
	return os, code
}

// micro corrects the Reason for a microdump, which has the signal's name and no si_code. Older
// microdumps have no signal.
func micro(m *core.Micro, r Reason, addr uint64) Reason {
	r.Address = addr
	if m.Signal == "" {
		return Reason{Kind: Unknown, Text: "crashed", Why: "the microdump does not say how"}
	}
	if r.Name = m.Signal; r.Kind == Unknown {
		r.Text = "was stopped by " + m.Signal
	}
	return r
}

// DecodeFor decodes an exception record. processor is the dump's processor_architecture
// (core.ProcX86 …), addr the record's ExceptionAddress, params its ExceptionInformation.
//
// The fields begin with those of an unknown exception. The system's decoder replaces what it knows.
func DecodeFor(os core.OS, processor uint16, code, flags uint32, addr uint64, params []uint64) Reason {
	x := record{processor, code, flags, addr, params}
	r := Reason{
		Name: fmt.Sprintf("unknown 0x%08x / 0x%08x", code, flags),
		Text: fmt.Sprintf("raised the unknown exception 0x%08x", code),
		Code: code, Flags: flags, Address: addr,
	}
	switch os {
	case core.Windows:
		r = x.windows(r)
	case core.OSLinux, core.Android:
		r = x.linux(r)
	case core.MacOS, core.IOS:
		r = x.mac(r)
	case core.Solaris:
		r = x.plain(r, tSolaris)
	case core.PS3:
		r = x.plain(r, tPs3)
	case core.Fuchsia:
		r = x.plain(r, tFuchsia)
	}
	if has32(processor) {
		r.Address = uint64(uint32(r.Address))
	}
	if r.HasAddress {
		r.Text = r.Access.tried()
	}
	return r
}

// record is an exception record and its processor.
type record struct {
	processor   uint16
	code, flags uint32
	addr        uint64
	params      []uint64
}

// param returns element i of the exception information, or 0 if the record has fewer.
func (x *record) param(i int) uint64 {
	if i < len(x.params) {
		return x.params[i]
	}
	return 0
}

// plain decodes the codes of a system that has a name for each and nothing else.
func (x *record) plain(r Reason, t table) Reason {
	e := find(t, x.code)
	if e.name == "" {
		return r
	}
	r.Name, r.Text = e.name, e.text
	if r.Text == "" {
		r.Text = "raised exception " + e.name
	}
	switch {
	case t == tSolaris:
		r.Kind = signalKind(e.name)
	case t == tFuchsia && e.name == "FATAL_PAGE_FAULT":
		r.Kind = Memory
	case t == tFuchsia && e.name == "UNDEFINED_INSTRUCTION":
		r.Kind = Instruction
	case t == tFuchsia && (e.name == "SW_BREAKPOINT" || e.name == "HW_BREAKPOINT"):
		r.Kind = Trap
	case t == tFuchsia && e.name == "UNALIGNED_ACCESS":
		r.Kind = Misaligned
	}
	return r
}

// has32 reports whether addresses of a processor have 32 bits.
func has32(processor uint16) bool {
	switch processor {
	case core.ProcX86, core.ProcX86Win64, core.ProcMIPS, core.ProcPPC, core.ProcSHX, core.ProcSPARC, core.ProcARM:
		return true
	}
	return false
}

// nameOr returns a name, or without one the number in hexadecimal.
func nameOr(name string, number uint32) string {
	if name != "" {
		return name
	}
	return fmt.Sprintf("0x%08x", number)
}
