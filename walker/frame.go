package walker

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Trust says how a frame was found, weakest first. The words are stable; Breakpad's and
// rust-minidump's are in the renderers.
type Trust uint8

const (
	TrustNone         Trust = iota // the callee's rules, and nothing shows that there is code at the address that they give
	TrustScan                      // a word on the stack that looks like a return address
	TrustCFIScan                   // STACK WIN rules, helped by scanning
	TrustFramePointer              // the frame pointer's chain
	TrustCFI                       // call frame information
	TrustLeaf                      // a function without a frame, its return address at sp or in lr
	TrustPrewalked                 // from a list of callers that another source made: the CPU's shadow stack
	TrustContext                   // a thread's context
)

func (t Trust) String() string {
	return [...]string{"none", "scan", "cfi_scan", "frame_pointer", "cfi", "leaf", "prewalked", "context"}[t]
}

// Frame is one physical frame. Inlined calls are in its Symbol.
type Frame struct {
	// PC is the address as recovered: for frame 0 the instruction, for a caller its return address.
	PC uint64
	// Lookup is the address that symbols and rules are looked up with: PC, or PC minus the CPU's
	// call size for a caller, because the instruction after a call may belong to another line,
	// inline or function.
	Lookup uint64
	// Regs are the frame's registers as far as they are known.
	Regs cpu.Regs
	// CFA is the frame's canonical frame address, by the rules that led to its caller. HasCFA is false
	// if there were none, or if they do not know the frame: a scan's.
	CFA    uint64
	HasCFA bool
	Trust  Trust
	// Source is what proposed Row; SourceContext for frame 0.
	Source Source
	// Row are the rules that produced this frame from its callee; zero for frame 0.
	Row unwind.Row
	// Tail is the function that this frame called if it is not that of the frame below but jumped
	// there; else nil.
	Tail *TailCall
	// Module is the index in the dump's module list, or -1; RVA is Lookup relative to the module.
	Module int
	RVA    uint64
	// Answer reports whether the module's symbols were there; Symbol is set if it is symbol.Yes.
	Answer symbol.Answer
	Symbol symbol.Symbol
	// Win are the numbers that a STACK WIN record was evaluated with, where Row comes from one.
	Win WinPlace
	// Attempts are the sources that were tried for this frame before the one that worked, and why
	// each was rejected.
	Attempts []Attempt
	// Doubtful: a search of the stack found the frame, or one that it follows from, and nothing shows
	// that the frame's call leads to the frame below.
	Doubtful bool
	// Skipped says which frames of a recursion were left out of the list before this one, or is nil.
	Skipped *Skipped

	unnamed bool // Symbol and Answer were not looked up yet
	// returnedTo: the frame's function was not called, but returned to (ReturnToEntry).
	returnedTo bool
}

// Address returns the address of a part of the frame's function, which has the module-relative
// address rva. A module may be mapped in several places; the function is in that of the frame.
func (f *Frame) Address(rva uint64) uint64 { return f.Lookup - (f.RVA - rva) }

// Recovered reports whether the frame's value of a register comes from the thread's context, or from a
// rule about that register. Other known registers are those that calls preserve, as long as everybody
// keeps to that.
func (f *Frame) Recovered(r cpu.Reg) bool {
	if !f.Regs.Known(r) {
		return false
	}
	return f.Source == SourceContext || r == f.Regs.Arch.PC || r == f.Regs.Arch.SP ||
		slices.ContainsFunc(f.Row.Saved, func(s unwind.RegRule) bool { return s.Reg == r && s.Rule.Kind != unwind.Unset })
}

// WinPlace has the values that a STACK WIN record's program uses and that are not in the record.
type WinPlace struct {
	// CalleeParams is the size in bytes of the arguments at the callee's esp: .cbCalleeParams.
	CalleeParams uint32
	// Computed is where the return address should be by the record's sizes, SearchStart where it
	// was then looked for: .raSearchStart. Both are 0 in frames without a record.
	Computed, SearchStart uint32
	// Aligned: the program aligns esp, so that SearchStart was taken from ebp.
	Aligned bool
}

// Attempt is a candidate caller that was not taken.
type Attempt struct {
	Source Source
	// Row is what the source proposed; its zero value if it had nothing to propose.
	Row unwind.Row
	// Reason is a plain sentence with the numbers.
	Reason string
}

// Stack is one thread's walked stack.
type Stack struct {
	Frames []Frame
	Stop   Stop
}

// StopKind is why a walk ended; stable words, part of goldens.
type StopKind string

const (
	StopNoContext    StopKind = "no-context" // the thread has no readable context
	StopNoCPU        StopKind = "unsupported-cpu"
	StopDumpThread   StopKind = "dump-thread" // the thread that wrote the dump; both peers leave it out
	StopNoMemory     StopKind = "no-stack-memory"
	StopEnd          StopKind = "end"            // the last frame is known to have no caller: the stack is complete
	StopLost         StopKind = "lost"           // the next return address is not an address of code, and nothing proves that the stack ends
	StopNoProgress   StopKind = "no-progress"    // the stack pointer did not move up
	StopSwitched     StopKind = "stack-switched" // the function switched stacks, and the one that it left is not in the dump
	StopLeftStack    StopKind = "left-stack"     // the stack pointer is in no memory that the dump has, and neither is any caller's
	StopNothingFound StopKind = "nothing-found"  // no source produced an acceptable caller
	StopLimit        StopKind = "frame-limit"
)

// Stop is why and where a walk ended.
type Stop struct {
	Kind StopKind
	// Detail is a plain sentence with the numbers.
	Detail string
	// Attempts are the sources tried for the frame that was not found.
	Attempts []Attempt
}
