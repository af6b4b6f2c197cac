package unwind

import "github.com/crashpane/crashpane/core/cpu"

// LocationKind says where a Location is.
type LocationKind uint8

const (
	// Nowhere: the value does not exist at this place of the program.
	Nowhere LocationKind = iota
	// InMemory: Rule computes the address.
	InMemory
	// InRegister: the value is in Reg, where a debugger could change it. Of a register that core/cpu
	// lacks, for example one of floating point, Reg is cpu.NoReg and Number its DWARF number.
	InRegister
	// IsValue: Rule computes the value itself, which is not stored.
	IsValue
	// IsBytes: the value is Bytes.
	IsBytes
	// IsPointer: a pointer to something that the compiler removed, whose value Entity has: it points
	// Rule bytes into that.
	IsPointer
	// InPieces: the value is Pieces, one after the other.
	InPieces
)

// Location says where a value is: of a variable, in terms of a frame's registers and CFA (DWARF 5,
// section 2.6). Its rules are those of unwinding, and so are evaluated and shown as they are.
type Location struct {
	Kind   LocationKind
	Reg    cpu.Reg
	Number uint64
	Rule   Rule
	Bytes  []byte
	// Entity is the offset of an IsPointer's DIE in its section.
	Entity uint64
	Pieces []Piece
	// Err says why Rule has no value, after In.
	Err *EvalError
}

// Piece is a part of a value.
type Piece struct {
	Location
	// Bits is the part's size, Skip how many bits of the location come before it. Both are as the
	// file has them.
	Bits, Skip uint64
}

// Scope is the frame in which a location is evaluated.
type Scope struct {
	Regs *cpu.Regs
	Mem  Memory
	// CFA is the frame's; HasCFA is false if it is not known.
	CFA    uint64
	HasCFA bool
	// Moved is the module's address minus its preferred one.
	Moved uint64
	// Entry returns the value that code had when the frame's function was entered, which the caller's
	// call site says; nil if nothing is known about it.
	Entry func(code []Op) (uint64, bool)
}

// In evaluates a location in a frame: its rules, and those of its pieces, become constants. Where
// one cannot be computed, that location or piece is Nowhere, and its Err says why.
func (l Location) In(s *Scope) Location {
	switch l.Kind {
	case InMemory, IsValue:
		e := evaluation{callee: s.Regs, mem: s.Mem, cfa: s.CFA, hasCFA: s.HasCFA, want: forValue, scope: s}
		v, ok := e.compute(&l.Rule)
		if !ok {
			return Location{Err: e.err()}
		}
		l.Rule = Rule{Kind: Const, Offset: int64(v)}
	case InPieces:
		pieces := make([]Piece, len(l.Pieces))
		for i, p := range l.Pieces {
			p.Location = p.Location.In(s)
			pieces[i] = p
		}
		l.Pieces = pieces
	}
	return l
}
