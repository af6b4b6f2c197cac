// Package analysis says what a crash was, beyond the exception's code: which instruction was executing, which memory it
// accessed and by which registers, whether that memory exists and may be accessed, and what follows from it: a null pointer, an
// address that cannot be, the end of a stack, a flipped bit. It ends in an Event, a sentence for people.
//
// It says everything twice where rust-minidump says it too. Result.Rust holds what that tool prints, field by field, with its
// mistakes, so that outputs can be compared; the other fields hold what is so.
//
// Nothing here rates exploitability, and guesses are marked as such.
package analysis

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/reason"
)

// Result is what is known of a crash. Slices are never nil.
type Result struct {
	// Event says what happened. Guesses are sentences about it, each of which may be wrong.
	Event   Event
	Guesses []string
	// Instruction is what stood at the program counter; nil if the dump does not have its bytes, or nobody here can read them.
	Instruction *Instruction
	// Accesses are all accesses to memory of the instruction. AccessesKnown tells none from unknown.
	Accesses      []Access
	AccessesKnown bool
	// Cause is the index of the access that failed, or -1.
	Cause int
	// Jump is where the instruction would have gone on; nil if it does not branch or its target is not known.
	Jump *Jump
	// Adjusted is the address that matters where the system reports another; nil if there is none.
	Adjusted *Adjusted
	// Place is what the memory map says of the address that failed; nil if the dump has no map or there is no address.
	Place *Place
	// Overflow: the stack of the crashed thread is used up.
	Overflow Certainty
	// BitFlips are addresses of which the crash address differs by one bit, and that are mapped; the likeliest first.
	BitFlips []BitFlip
	// Rust is what rust-minidump says.
	Rust Rust
}

// Instruction is the crashing instruction.
type Instruction struct {
	Address uint64
	// Text is the instruction in its assembler's words; "" if this package can say what it accesses, and no more.
	Text string
	// Bytes are its machine code; empty if it lies in no module and in no memory that is known to hold code.
	Bytes []byte
	// Module is the index of the module that it lies in, or -1.
	Module int
	// Registers are those that its addresses and its target are computed from.
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
	// Address is valid if AddressKnown is set: a base in a segment or a vector register may not be in the dump.
	Address      uint64
	AddressKnown bool
	// Size in bytes; 0 if the instruction alone does not say.
	Size int
	Kind Kind
	// Implicit: no operand but part of what the instruction does, such as the stack of a call.
	Implicit bool
	// Guard: the address lies in a guard page.
	Guard bool
	// Base and Index are the registers of the address; Name is "" if there is none. Offset is the constant part.
	Base, Index Register
	Scale       uint8
	Offset      int64
}

// Jump is a change of the program counter.
type Jump struct {
	Target uint64
	// From says how: "call", "jump" or "return".
	How string
	// Register is what the target was read from, Slot the memory; Name is "" and InMemory false if it is neither.
	Register Register
	Slot     uint64
	InMemory bool
}

// Adjusted is the address behind the one that was reported.
type Adjusted struct {
	Kind AdjustedKind
	// Address that was accessed. Offset is its distance from the null pointer, for that kind.
	Address uint64
	Offset  int64
	// Register holds the null pointer or the odd address; Name is "" if there is none.
	Register Register
}

// AdjustedKind is why an address is adjusted.
type AdjustedKind string

const (
	NullPointer  AdjustedKind = "null-pointer"  // a null pointer plus an offset
	NonCanonical AdjustedKind = "non-canonical" // no address on amd64; the system reports 0 or -1 instead
)

// Certainty is how sure a statement is.
type Certainty uint8

const (
	No Certainty = iota
	Likely
	Yes
)

// BitFlip is an address that is mapped and differs in one bit from one that is not.
type BitFlip struct {
	Address uint64
	// Register held the address with the wrong bit; "" if it is the crash address itself.
	Register string
	// Confidence between 0 and 1, from the Details.
	Confidence float32
	Details    BitFlipDetails
}

// BitFlipDetails are what the confidence is made of.
type BitFlipDetails struct {
	WasNonCanonical bool // the address was none that can exist
	IsNull          bool // the corrected address is 0
	WasLow          bool // and the original was close to it, which speaks against a flip
	Nearby          int  // registers within a page of the corrected address
	Poison          bool // a register holds the pattern of freed memory, which speaks against a flip
}

// crash is all that the parts of the analysis share.
type crash struct {
	d      *core.Dump
	why    reason.Reason
	ctx    *core.Context // at the exception; nil if unreadable
	arch   *cpu.Arch     // nil if ctx is
	pc, sp uint64
	thread int // index of the crashed thread, or -1
	places *MemoryMap
	insn   *decoded // nil if there is no instruction
	out    Result
}

// Analyze works out what is known of the dump's exception; nil if it has none. It never fails: what is missing or broken in the
// dump is missing in the result.
func Analyze(d *core.Dump) *Result {
	if d.Exception == nil {
		return nil
	}
	c := &crash{d: d, why: reason.Decode(d), thread: d.ThreadByID(d.Exception.ThreadID), places: NewMemoryMap(d)}
	c.out = Result{Guesses: []string{}, Accesses: []Access{}, Cause: -1, BitFlips: []BitFlip{}}
	if ctx, err := d.ExceptionContext(); err == nil {
		c.ctx, c.arch, c.pc, c.sp = ctx, ctx.Arch, ctx.Regs.PC(), ctx.Regs.SP()
	}
	c.out.Rust = c.rust()
	if c.arch != nil {
		c.decode()
	}
	c.findCause()
	c.adjust()
	c.overflow()
	c.bitFlips()
	c.guess()
	c.out.Event = c.event()
	return &c.out
}

// address is the address that failed, as far as anybody knows it: that of the access that was found to be the cause, else
// what the system says. The second result is false if the crash is not about memory.
func (c *crash) address() (uint64, bool) {
	if c.out.Cause >= 0 {
		return c.out.Accesses[c.out.Cause].Address, true
	}
	return c.why.Address, c.why.HasAddress
}
