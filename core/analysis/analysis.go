// Package analysis analyzes a crash: which instruction crashed, which memory it accessed through
// which registers, whether that memory is mapped and accessible, and the cause that follows: a null
// pointer, a non-canonical address, a stack overflow, a flipped bit. The result includes an Event,
// a sentence for users.
//
// Start at Analyze in this file. Its steps: decode.go, x86_insn.go and a64.go decode the
// instruction; cause.go finds the access that failed; overflow.go, bitflip.go and guess.go look for
// causes; sentence.go makes the Event. memorymap.go is the memory map.
//
// Nothing here rates exploitability.
package analysis

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/reason"
)

// Result is the analysis of a crash. Slices are never nil.
type Result struct {
	// Event says what happened. Guesses are sentences about likely causes, which may be wrong.
	Event   Event
	Guesses []string
	// Instruction is the instruction that crashed: at pc, or an int3 before it. It is nil if the dump lacks its bytes or this package
	// cannot decode it.
	Instruction *Instruction
	// Accesses are all memory accesses of the instruction. AccessesKnown distinguishes none from
	// unknown.
	Accesses      []Access
	AccessesKnown bool
	// Cause is the index of the access that failed, or -1.
	Cause int
	// Jump is the instruction's branch. It is nil if the instruction does not branch or the target
	// is unknown.
	Jump *Jump
	// Adjusted is the address that explains the crash, if the reported one does not. It is nil if
	// no such address is known.
	Adjusted *Adjusted
	// Place is the memory map's entry for the address that failed. It is nil without a map or an
	// address.
	Place *Place
	// Overflow reports whether the stack of the crashed thread overflowed.
	Overflow Certainty
	// BitFlips are mapped addresses that differ from the crash address in one bit, the likeliest
	// first.
	BitFlips []BitFlip
	// Contradictions are those between the exception, the instruction and the memory map.
	Contradictions []Contradiction
}

// Contradiction is a way in which a dump contradicts itself, which points to failing hardware or to
// a wrong dump.
type Contradiction string

const (
	NoDivision    Contradiction = "int_div_by_zero_not_possible"                    // the instruction does not divide
	NotPrivileged Contradiction = "priv_instruction_crash_without_priv_instruction" // every program may execute it
	AllCanonical  Contradiction = "non_canonical_address_falsely_reported"          // it accesses addresses that can exist
	NotAccessed   Contradiction = "crashing_access_not_found_in_memory_accesses"    // it does not access the reported address
	Allowed       Contradiction = "access_violation_when_access_allowed"            // the memory map allows the access
)

// Instruction is the crashing instruction.
type Instruction struct {
	Address uint64
	// Text is the instruction in assembler, or "" if this package knows only its accesses.
	Text string
	// Bytes is its machine code. It is empty unless the instruction is in a module or in executable
	// memory.
	Bytes []byte
	// Module is the index of its module, or -1.
	Module int
	// Registers are those from which its addresses and its target are computed.
	Registers []Register
}

// Register is a register that an instruction uses, with its value.
type Register struct {
	Name  string
	Value uint64
}

// Kind is the direction of an access.
type Kind uint8

const (
	KindUnknown Kind = iota
	Read
	Write
	ReadWrite
	Exec
)

func (k Kind) String() string {
	return [...]string{"access", "read", "write", "readwrite", "exec"}[min(k, Exec)]
}

// Access is one access to memory.
type Access struct {
	// Address is valid if AddressKnown: the dump may lack a segment's base or a vector register.
	Address      uint64
	AddressKnown bool
	// Size in bytes, or 0 if the instruction alone does not determine it.
	Size int
	Kind Kind
	// Implicit: the access is not an operand, such as the push of a call.
	Implicit bool
	// Guard: the address is in a guard page.
	Guard bool
	// The address is Base + Index * Scale + Offset. The Name of an absent register is "".
	Base, Index Register
	Scale       uint8
	Offset      int64
}

// Jump is a change of the program counter.
type Jump struct {
	Target uint64
	// How is "call", "jump" or "return".
	How string
	// Register is the register with the target, or its Name is "". Slot is the address of the
	// memory with the target, if InMemory.
	Register Register
	Slot     uint64
	InMemory bool
}

// Adjusted is the address that explains the crash.
type Adjusted struct {
	Kind AdjustedKind
	// Address is the accessed address. Offset is its distance from the null pointer, for that kind.
	Address uint64
	Offset  int64
	// Register is the register with the null pointer or the non-canonical address, or its Name is
	// "".
	Register Register
}

// AdjustedKind is why an address is adjusted.
type AdjustedKind string

const (
	NullPointer  AdjustedKind = "null-pointer"  // a null pointer plus an offset
	NonCanonical AdjustedKind = "non-canonical" // not a valid address on amd64; the system reports 0 or -1 instead
)

// Certainty is how sure a statement is.
type Certainty uint8

const (
	No Certainty = iota
	Likely
	Yes
)

// BitFlip is a mapped address that differs in one bit from an unmapped one.
type BitFlip struct {
	Address uint64
	// Register has the address with the wrong bit. It is "" for the crash address itself.
	Register string
	// Confidence is between 0 and 1, computed from Details.
	Confidence float32
	Details    BitFlipDetails
}

// BitFlipDetails are the facts from which the confidence is computed.
type BitFlipDetails struct {
	WasNonCanonical bool // the original address was not canonical
	IsNull          bool // the corrected address is 0
	WasLow          bool // and the original was close to 0, which makes a flip less likely
	Nearby          int  // registers within a page of the corrected address
	Poison          bool // a register has the pattern of freed memory, which makes a flip less likely
}

// crash is the state of the analysis.
type crash struct {
	d      *core.Dump
	why    reason.Reason
	ctx    *core.Context // of the exception; nil if unreadable
	arch   *cpu.Arch     // nil if ctx is
	pc, sp uint64
	thread int // index of the crashed thread, or -1
	places *MemoryMap
	insn   *decoded // nil if there is no instruction
	out    Result
}

// Analyze analyzes the dump's exception. It returns nil for a dump without one. It never fails: what
// the dump lacks, the result lacks.
//
// The order of the steps matters: the cause needs the accesses of the instruction, Adjusted and
// Place need the cause, an overflow needs the place, and bit flips and guesses are looked for only
// if there is no overflow.
func Analyze(d *core.Dump) *Result {
	if d.Exception == nil {
		return nil
	}
	ctx, _ := d.ExceptionContext()
	return analyze(d, ctx)
}

// AnalyzeAt analyzes an exception that the dump's exception followed, at the registers of its
// moment.
func AnalyzeAt(d *core.Dump, e *core.Exception, regs *cpu.Regs) *Result {
	earlier := *d
	earlier.Exception = e
	return analyze(&earlier, &core.Context{Arch: regs.Arch, Regs: *regs})
}

// analyze analyzes the dump's exception. ctx is nil if its registers are unreadable.
func analyze(d *core.Dump, ctx *core.Context) *Result {
	c := &crash{d: d, why: reason.Decode(d), thread: d.ThreadByID(d.Exception.ThreadID), places: NewMemoryMap(d)}
	c.out = Result{Guesses: []string{}, Accesses: []Access{}, Cause: -1, BitFlips: []BitFlip{}, Contradictions: []Contradiction{}}
	if ctx != nil {
		c.ctx, c.arch, c.pc, c.sp = ctx, ctx.Arch, ctx.Regs.PC(), ctx.Regs.SP()
	}
	if c.arch != nil {
		c.decode()
	}
	c.findCause()
	c.adjust()
	c.overflow()
	c.bitFlips()
	c.guess()
	c.out.Event = c.event()
	out := c.out // without the rest, which has the dump
	return &out
}

// address returns the address that failed: that of the access in Cause, else the one that the
// system reports. It returns false if the crash is not about memory.
func (c *crash) address() (uint64, bool) {
	if c.out.Cause >= 0 {
		return c.out.Accesses[c.out.Cause].Address, true
	}
	return c.why.Address, c.why.HasAddress
}
