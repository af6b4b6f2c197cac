// Package reason says why a process crashed, from the exception record of its dump: in Breakpad's words, in
// rust-minidump's words, and in words for people. The first two are exactly what each tool prints, so that their outputs
// can be compared with ours; where a tool does not know a code, they are what it prints for unknown ones.
//
// Sources: Breakpad's minidump_processor.cc (GetCrashReason), rust-minidump's minidump.rs (CrashReason), the systems'
// own headers as named in data/*.tsv.
package reason

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
)

// Access is what the program tried to do with memory.
type Access uint8

const (
	AccessUnknown Access = iota // there was none, or the system does not say which
	Read
	Write
	Exec
)

// tried is the access as what a process tried to do.
func (a Access) tried() string {
	return [...]string{"tried to access memory", "tried to read memory", "tried to write memory", "tried to execute code"}[a&3]
}

// Kind is the class of a crash, for whoever wants to show or count them.
type Kind uint8

const (
	Unknown     Kind = iota
	Memory           // access to memory that is not there or not allowed
	InPage           // memory that could not be read in from its file, or from a part of the hardware
	Misaligned       // access to an address that is not aligned
	Stack            // stack overflow
	Instruction      // illegal or privileged instruction
	Arithmetic       // division by zero, overflow, floating-point errors
	Trap             // breakpoint, trap instruction, single step
	Abort            // the program ended itself: abort, fast fail
	Corruption       // a check found damaged data: heap, stack cookie, lists
	Exception        // a language's exception was not caught
	OutOfMemory      // the program ran out of memory
	Limit            // a resource limit or a guard of the system
	Signal           // another signal, sent from outside in most cases
	Status           // a system's error code, raised as an exception
	NoCrash          // the program asked for a dump
)

// Reason is a decoded exception.
type Reason struct {
	// Breakpad and Rust are the words of Breakpad's and rust-minidump's output; "" without an exception.
	Breakpad, Rust string
	// Address is the crash address as Breakpad prints it: where the access went for an access violation on Windows,
	// else the exception's address. RustAddress is rust-minidump's; they differ on a few processors only, where one of
	// them cuts addresses to 32 bits and the other does not.
	Address, RustAddress uint64

	Kind   Kind
	Access Access
	// HasAddress: Address is the memory that was accessed, not an instruction.
	HasAddress bool
	// Text is what the process did, as it follows the process's name: "divided an integer by zero", "tried to read memory".
	Text string
	// Why is why the system stopped it for that: "nothing is mapped there"; "" if it does not say.
	Why string
}

// Decode says why the dump's process crashed. Without an exception all is empty except Text.
func Decode(d *core.Dump) Reason {
	e := d.Exception
	if e == nil {
		return Reason{Kind: NoCrash, Text: "did not crash: the dump holds no exception"}
	}
	if d.System == nil {
		// Neither tool can name the code then; Breakpad does not cut the address either.
		return DecodeFor(core.OSUnknown, core.ProcUnknown, e.Code, e.Flags, e.Address, e.Params)
	}
	r := DecodeFor(d.System.OS, d.System.Processor, e.Code, e.Flags, e.Address, e.Params)
	if d.Micro != nil {
		return micro(d.Micro, r, e.Address)
	}
	return r
}

// micro corrects the words for a microdump, which names the signal and has no si_code: Breakpad prints the name as it stands there
// and does not cut the address. Older microdumps do not say why the process crashed.
func micro(m *core.Micro, r Reason, addr uint64) Reason {
	r.Breakpad, r.Address = m.Signal, addr
	if m.Signal == "" {
		return Reason{Kind: Unknown, Text: "crashed", Why: "the microdump does not say how"}
	}
	if r.Kind == Unknown {
		r.Text = "was stopped by " + m.Signal
	}
	return r
}

// DecodeFor decodes an exception record. The processor is the dump's processor_architecture word (core.ProcX86, …), addr
// the record's exception address, params its exception information.
func DecodeFor(os core.OS, processor uint16, code, flags uint32, addr uint64, params []uint64) Reason {
	x := record{processor, code, flags, addr, params}
	r := Reason{
		Breakpad: fmt.Sprintf("0x%08x / 0x%08x", code, flags),
		Rust:     fmt.Sprintf("unknown 0x%08x / 0x%08x", code, flags),
		Text:     fmt.Sprintf("raised the unknown exception 0x%08x", code),
		Address:  addr,
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
	r.RustAddress = r.Address
	if breakpad32(processor) {
		r.Address = uint64(uint32(r.Address))
	}
	if rust32(processor) {
		r.RustAddress = uint64(uint32(r.RustAddress))
	}
	if r.HasAddress {
		r.Text = r.Access.tried()
	}
	return r
}

// record is an exception record with the processor that made it.
type record struct {
	processor   uint16
	code, flags uint32
	addr        uint64
	params      []uint64
}

// param gives a word of the exception information; words beyond those that the record counts are 0.
func (x *record) param(i int) uint64 {
	if i < len(x.params) {
		return x.params[i]
	}
	return 0
}

// plain decodes the codes of a system that only Breakpad knows. It prints the name; on Fuchsia also the flags.
func (x *record) plain(r Reason, t table) Reason {
	e := find(t, x.code)
	if e.name == "" {
		return r
	}
	r.Breakpad = e.name
	if t == tFuchsia {
		r.Breakpad += fmt.Sprintf(" / 0x%08x", x.flags)
	}
	r.Text = e.text
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

// breakpad32 and rust32 say whether a tool cuts crash addresses to 32 bits on a processor: some writers sign-extend them.
func breakpad32(processor uint16) bool {
	switch processor {
	case core.ProcX86, core.ProcMIPS, core.ProcPPC, core.ProcSHX, core.ProcARM, core.ProcX86Win64:
		return true
	}
	return false
}

func rust32(processor uint16) bool {
	switch processor {
	case core.ProcX86, core.ProcX86Win64, core.ProcPPC, core.ProcSPARC, core.ProcARM, core.ProcMIPS:
		return true
	}
	return false
}

// or gives a name, or the number as both tools write it.
func or(name string, known bool, number uint32) string {
	if known {
		return name
	}
	return fmt.Sprintf("0x%08x", number)
}
