// Package unwind holds unwind rules and the only code that evaluates them.
//
// A Row is the rules of one frame: how to compute the CFA, the return address and each saved
// register. Every source of rules (STACK CFI, STACK WIN, .eh_frame, .ARM.exidx, SFrame, .pdata, a
// frame pointer, a stack scan) makes a Row and computes nothing itself. Row.Apply takes the
// callee's registers and the dump's memory and returns the caller's registers.
//
//	STACK CFI … .cfa: $rsp 48 + .ra: .cfa -8 + ^  ──ParseCFI──►  Row{CFA: $rsp+48, RA: [cfa-8]}  ──Apply──►  caller's registers
//
// A rule that is more than a base, an offset and a word is code: a list of Ops for a stack machine. Three
// front ends make rules of what files have: ParseCFI (STACK CFI, cfi.go) and ParseProgram (STACK WIN,
// program.go) of Breakpad's words, package dwarfcfi of DWARF expressions, by Simplify. One evaluator
// (eval.go) executes them, and one printer (text.go) shows them. A Location (location.go) is the same
// for variables.
//
// Start at Row in rule.go, then Apply in eval.go. Format of the text: Breakpad's docs/symbol_files.md.
// Addresses of rules are module-relative; values are in the address space of the crashed process.
package unwind

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// Rule says how to compute one value. Which fields count depends on Kind. Compare rules with Equal.
// Their Code is shared, and must not be changed.
type Rule struct {
	Kind   Kind
	Reg    cpu.Reg
	Offset int64
	// Code, of a Computed, leaves the value on top of the stack.
	Code []Op
}

// Equal reports whether two rules are the same.
func (ru Rule) Equal(o Rule) bool {
	return ru.Kind == o.Kind && ru.Reg == o.Reg && ru.Offset == o.Offset && slices.Equal(ru.Code, o.Code)
}

// Plain: the rule has Breakpad's operators only, so that a STACK CFI record can hold it.
func (ru Rule) Plain() bool {
	return !slices.ContainsFunc(ru.Code, func(op Op) bool { return op.Kind > Load || op.Kind == FromModule })
}

// RegRule is the rule of one register.
type RegRule struct {
	Reg  cpu.Reg
	Rule Rule
}

// Equal reports whether two registers' rules are the same.
func (r RegRule) Equal(o RegRule) bool { return r.Reg == o.Reg && r.Rule.Equal(o.Rule) }

// Row is the unwind rules of one frame at one address. The caller's pc is RA. The caller's sp is
// CFA, unless Saved has a rule for sp. Compare rows with Equal. The zero Row has no rules.
type Row struct {
	CFA, RA Rule
	// Saved has the rules of the other registers, in the order of the source, each register at most
	// once.
	Saved []RegRule
	// Signal: the frame is a signal trampoline (the augmentation "S" of DWARF's CFI). Its caller
	// was interrupted, so the caller's pc is the interrupted instruction itself and not a return
	// address.
	Signal bool
	// OthersUndefined: every register without a rule is unknown in the caller, callee-saved ones
	// too. Sources that guess (frame pointer, scan) set it, because they do not know what else the
	// function saved.
	OthersUndefined bool
	// EntryFromFP: at the function's first instruction the record computes cfa = ebp + 4. That
	// cannot be: there only esp points at the return address. clang for macOS i386 writes such
	// records, since it numbers esp and ebp the other way round in .eh_frame.
	EntryFromFP bool
	// Outermost: the source says that the frame has no caller, and RA is Undefined. The function is
	// a thread's entry (_start, clone), or CannotUnwind is set.
	Outermost bool
	// CannotUnwind: the function's author declared that it cannot be unwound (EXIDX_CANTUNWIND).
	// Assemblers say so of each function without directives, so it has a caller mostly, and a symbol
	// file has no record for it.
	CannotUnwind bool
	// Topmost: the rules hold only while the function has made no call: the return address is still
	// in a register, or the source says that the function is a leaf. The walker refuses them for a
	// frame that it found by a return address.
	Topmost bool
	// WholeFunction: the source has one set of rules for a whole function, which hold where it calls
	// another (.ARM.exidx).
	WholeFunction bool
	// NoEpilogue: the source describes how a function is entered and not how it is left, as Apple's
	// compilers do.
	NoEpilogue bool
	// Signed is the key with which the function signed its return address (arm64 pointer
	// authentication). Apply leaves the signature in the upper bits; the walker, which knows how
	// many bits an address has, removes it.
	Signed SigningKey
	// Start is the module-relative address from which the rules hold: that of the INIT record or
	// the delta. It is 0 in rows that the walker made.
	Start uint64
	// Origin says where the rules come from.
	Origin Origin
}

// SigningKey is one of arm64's two keys for instruction addresses: paciasp signs with A, pacibsp
// with B.
type SigningKey uint8

const (
	// NotSigned: the address is as it is.
	NotSigned SigningKey = iota
	// KeyA and KeyB: the upper bits hold a code that the instructions PACIA… and PACIB… made.
	KeyA
	KeyB
)

// Origin says where a Row comes from, for a frame's explanation.
type Origin struct {
	// File is the symbol file or binary. It is empty for rules that the walker made itself.
	File string
	// Part is the kind of record or method: "STACK CFI", "STACK WIN 4", "frame pointer", "scan" …
	Part string
	// Line is the line in a text file, counted from 1, or 0. Offset is the offset in a binary file.
	Line   int
	Offset int64
	// Note says how the rules differ from the file's, or is empty.
	Note string
}

// Swapped returns the row with registers a and b swapped in every rule.
func (r Row) Swapped(a, b cpu.Reg) Row {
	swap := func(x cpu.Reg) cpu.Reg {
		switch x {
		case a:
			return b
		case b:
			return a
		}
		return x
	}
	rule := func(ru Rule) Rule {
		ru.Reg, ru.Code = swap(ru.Reg), slices.Clone(ru.Code)
		for i := range ru.Code {
			ru.Code[i].Reg = swap(ru.Code[i].Reg)
		}
		return ru
	}
	r.CFA, r.RA = rule(r.CFA), rule(r.RA)
	saved := make([]RegRule, len(r.Saved))
	for i, s := range r.Saved {
		saved[i] = RegRule{swap(s.Reg), rule(s.Rule)}
	}
	r.Saved = saved
	return r
}

// NoteSwapped begins Origin.Note of an i386 row whose esp and ebp were swapped (see EntryFromFP).
const NoteSwapped = "with esp and ebp swapped: "

// Memory reads the memory of the crashed process.
type Memory interface {
	// Word reads a word of size bytes at addr, in the dump's byte order: 4 or 8 bytes, for
	// DWARF expressions also 1 or 2. It returns false if the dump lacks any of the bytes.
	Word(addr uint64, size int) (uint64, bool)
}

// FrameData is a STACK WIN record as the file has it. In a PDB it is a record of the FPO or the
// frame data stream.
type FrameData struct {
	// Type is 4 (frame data, with a program string) or 0 (FPO). A lookup returns no others.
	Type                                                int
	Start, Size                                         uint64
	Prolog, Epilog, Params, SavedRegs, Locals, MaxStack uint32
	// Program is the program string. It is empty if HasProgram is false.
	Program    string
	HasProgram bool
	// AllocatesBP, of an FPO record: the function uses ebp as a general register and saves the
	// caller's.
	AllocatesBP bool
	// Origin says where the record is.
	Origin Origin
}
