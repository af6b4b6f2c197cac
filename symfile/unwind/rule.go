// Package unwind holds register-recovery rules and their evaluation. Whatever knows how to unwind (STACK CFI, STACK WIN,
// .eh_frame, .debug_frame, SFrame, the tables of PE files and of 32-bit ARM, a frame pointer, a stack scan) only makes a Row;
// Row.Apply is the one place that turns a callee's registers into its caller's.
//
// Start with Row and Rule, then eval.go, which applies them. parse.go and cfi.go read Breakpad's words, words.go has those that DWARF
// expressions need besides.
package unwind

import "github.com/crashpane/crashpane/core/cpu"

// RuleKind says how a value is found. The formulas name the callee's registers; cfa is the frame's canonical frame
// address, which is the caller's stack pointer at the call.
type RuleKind uint8

const (
	// Unset: no rule; the default for the register applies (callee-saved: unchanged, others: unknown).
	Unset RuleKind = iota
	// Undefined: the value is lost.
	Undefined
	// Same: value = the callee's value of the same register.
	Same
	// FromReg: value = Reg + Offset
	FromReg
	// AtReg: value = [Reg + Offset]
	AtReg
	// FromCFA: value = cfa + Offset
	FromCFA
	// AtCFA: value = [cfa + Offset]
	AtCFA
	// Const: value = Offset (an address that the source found itself, as a scan does)
	Const
	// AtConst: value = [Offset]
	AtConst
	// Expr: value = the postfix program in Text, in Breakpad's words (STACK CFI / STACK WIN)
	Expr
	// Program: value = the postfix program in Text, in Breakpad's words and those of words.go, which DWARF expressions need
	Program
)

// Rule says where one value comes from. It is comparable.
type Rule struct {
	Kind   RuleKind
	Reg    cpu.Reg
	Offset int64
	Text   string
}

// RegRule is the rule of one register.
type RegRule struct {
	Reg  cpu.Reg
	Rule Rule
}

// Row is one set of recovery rules: those of the frame that covers an address. The caller's pc is RA, its sp is CFA unless
// Saved has a rule for sp. Rows are compared with Equal. The zero Row has no rules.
type Row struct {
	CFA, RA Rule
	// Saved are the rules of other registers, each register at most once, in the order of the source.
	Saved []RegRule
	// Signal: the frame is a signal handler's trampoline; its caller's pc is exact, not a return address.
	Signal bool
	// OthersLost: registers without a rule are unknown in the caller, callee-saved ones too. Set by sources that guess (frame
	// pointer, scan), whose rows say nothing of what else the function saved.
	OthersLost bool
	// EntryFromFP: the record finds the cfa one word above ebp at the function's first instruction, where only esp can point at
	// the return address. Compilers that number esp and ebp the other way round (clang for macOS i386) make such records.
	EntryFromFP bool
	// Outermost: the source says that the frame has no caller (RA is then Undefined): the function is where the system enters a
	// thread, or its author declared that it cannot be unwound.
	Outermost bool
	// Topmost: the function has not called anything: the return address is still in a register, or the source says that the function never
	// calls. The rules hold for the frame in which a thread was stopped or that a signal interrupted; the walker refuses them for a frame that was
	// found by its return address.
	Topmost bool
	// Signed says with which key the word that RA leads to was signed (arm64 pointer authentication). Apply leaves the code in
	// the upper bits; whoever knows how many bits addresses have takes it off.
	Signed SigningKey
	// Start is the module-relative address from which the rules hold (that of the INIT record or delta); 0 for rows that the
	// walker made.
	Start uint64
	// Origin says where the rules come from.
	Origin Origin
}

// SigningKey is one of arm64's two keys for instruction pointers.
type SigningKey uint8

const (
	// NotSigned: the address is as it is.
	NotSigned SigningKey = iota
	// KeyA and KeyB: the upper bits hold a code that the instructions PACIA… and PACIB… made.
	KeyA
	KeyB
)

// Origin names the place a Row came from, for the person who asks why.
type Origin struct {
	// File is the symbol file or binary; empty for rules that the walker made itself.
	File string
	// Part is what kind of record or method: "STACK CFI", "STACK WIN 4", "frame pointer", "scan" …
	Part string
	// Line is the line in a text file, counted from 1, or 0; Offset the file offset where lines mean nothing.
	Line   int
	Offset int64
	// Note says what was done to the rules before they were used; "" for rules as they stand there.
	Note string
}

// Exchanged are the rules with two registers in each other's place.
func (r Row) Exchanged(a, b cpu.Reg) Row {
	swap := func(x cpu.Reg) cpu.Reg {
		switch x {
		case a:
			return b
		case b:
			return a
		}
		return x
	}
	rule := func(ru Rule) Rule { ru.Reg = swap(ru.Reg); return ru }
	r.CFA, r.RA = rule(r.CFA), rule(r.RA)
	saved := make([]RegRule, len(r.Saved))
	for i, s := range r.Saved {
		saved[i] = RegRule{swap(s.Reg), rule(s.Rule)}
	}
	r.Saved = saved
	return r
}

// NoteExchanged begins the Origin's note of i386 rules in which esp and ebp were put in each other's places.
const NoteExchanged = "with esp and ebp exchanged: "

// Memory reads the crashed process' memory.
type Memory interface {
	// Word reads the size-byte word (4 or 8; Programs also ask for 1 and 2) at addr in the dump's byte order; false if any byte of it is not there.
	Word(addr uint64, size int) (uint64, bool)
}

// FrameData is a STACK WIN record (what the PDB calls FPO or frame data), as it stands in the file.
type FrameData struct {
	// Type is 4 (frame data with a program string) or 0 (FPO); others are never returned by a lookup.
	Type                                                int
	Start, Size                                         uint64
	Prolog, Epilog, Params, SavedRegs, Locals, MaxStack uint32
	// Program is the program string; empty if HasProgram is false.
	Program    string
	HasProgram bool
	// AllocatesBP says of an FPO record that the function uses ebp for its own purposes.
	AllocatesBP bool
	// Origin says where the record is.
	Origin Origin
}
