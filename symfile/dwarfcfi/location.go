package dwarfcfi

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Operations of location descriptions (DWARF 5, sections 2.5.1 and 2.6.1).
const (
	exAddr               = 0x03
	exFbreg              = 0x91
	exPiece              = 0x93
	exBitPiece           = 0x9d
	exImplicitValue      = 0x9e
	exStackValue         = 0x9f
	exImplicitPointer    = 0xa0
	exAddrx              = 0xa1
	exEntryValue         = 0xa3
	exGNUImplicitPointer = 0xf2
	exGNUEntryValue      = 0xf3
)

// Variables reads the location expressions of a unit's variables, which have more operations than
// those of call frame information.
type Variables struct {
	Config
	// Section is the name of the section of the expressions, for errors.
	Section string
	// OffsetSize is the size of the unit's references to other sections: 4 or 8.
	OffsetSize int
	// FrameBase is the base of the function's variables, as Value returns it, or Unset.
	FrameBase unwind.Rule
	// Address returns an entry of the unit's part of .debug_addr, or nil.
	Address func(index uint64) (uint64, bool)

	atEntry bool // of an expression that is an operand of DW_OP_entry_value
}

// Value returns an expression as a rule: that of a function's DW_AT_frame_base, where a register
// means what is in it.
func (v *Variables) Value(code []byte, off int64) (unwind.Rule, error) {
	x, err := v.translate(code, off)
	if err == nil {
		err = x.each(x.compute)
	}
	if err != nil {
		return unwind.Rule{}, err
	}
	return x.rule(false)
}

// Location returns where an expression says that a variable is.
func (v *Variables) Location(code []byte, off int64) (l unwind.Location, err error) {
	x, err := v.translate(code, off)
	if err == nil {
		err = x.each(x.locate)
	}
	if err == nil {
		err = x.take()
	}
	switch {
	case err != nil:
		return l, err
	case x.pieces == nil:
		return x.here, nil
	case x.here.Kind != unwind.Nowhere:
		return l, x.t.bad(x.r.at(), "DW_OP_piece after the last location", "the end")
	}
	return unwind.Location{Kind: unwind.InPieces, Pieces: x.pieces}, nil
}

// location is the expression of a variable that is being translated.
type location struct {
	*expression
	v      *Variables
	pieces []unwind.Piece
	here   unwind.Location // what is known about the piece so far, but for the rule
}

func (v *Variables) translate(code []byte, off int64) (*location, error) {
	t := &table{section: section{name: v.Section, Config: v.Config}}
	x, err := t.translate(span{code, off})
	return &location{expression: x, v: v}, err
}

// take completes the location of a piece: what the code computes is an address, if nothing else was
// said. Without code, the piece is nowhere.
func (x *location) take() (err error) {
	if len(x.code) == 0 && x.here.Kind != unwind.IsValue {
		return nil
	}
	if x.here.Kind == unwind.Nowhere {
		x.here.Kind = unwind.InMemory
	}
	x.here.Rule, err = x.rule(false)
	return err
}

// locate translates an operation of a location, or one that computes.
func (x *location) locate(op uint8, at int64) error {
	if op == exPiece || op == exBitPiece {
		return x.piece(op, at)
	}
	whole := isReg(op) || op == exImplicitValue || op == exImplicitPointer || op == exGNUImplicitPointer
	if x.here.Kind != unwind.Nowhere || whole && len(x.code) > 0 {
		return x.t.bad(at, "DW_OP_piece or the end after a location, and nothing before one", exName(op))
	}
	switch {
	case isReg(op):
		n := x.number(op)
		x.here = unwind.Location{Kind: unwind.InRegister, Reg: cpu.NoReg, Number: n}
		if reg, ok := x.t.register(n); ok {
			x.here.Reg, x.here.Number = reg, 0
		}
	case op == exStackValue:
		x.here.Kind = unwind.IsValue
	case op == exImplicitValue:
		x.here = unwind.Location{Kind: unwind.IsBytes, Bytes: x.r.expression().code}
	case whole: // the implicit pointers
		x.here = unwind.Location{Kind: unwind.IsPointer, Entity: x.r.uint(x.v.OffsetSize)}
		x.here.Rule = unwind.Rule{Kind: unwind.Const, Offset: x.r.sleb()}
	default:
		return x.compute(op, at)
	}
	return nil
}

// piece ends a part of a location.
func (x *location) piece(op uint8, at int64) error {
	p := unwind.Piece{Bits: x.r.uleb()}
	switch {
	case op == exBitPiece:
		p.Skip = x.r.uleb()
	case p.Bits >= 1<<61:
		return x.t.bad(at, "a piece of fewer than 2^61 bytes", fmt.Sprint(p.Bits))
	default:
		p.Bits *= 8
	}
	if x.r.err != nil {
		return x.r.err
	}
	err := x.take()
	p.Location, x.here = x.here, unwind.Location{}
	x.pieces = append(x.pieces, p)
	return err
}

// compute translates an operation that computes.
func (x *location) compute(op uint8, at int64) error {
	var address uint64
	switch {
	case op == exFbreg && x.v.FrameBase.Kind != unwind.Unset:
		base := unwind.Sum(x.t.Arch, x.v.FrameBase, x.r.sleb())
		x.code = append(x.code, base.Ops()...)
		return nil
	case (op == exEntryValue || op == exGNUEntryValue) && !x.v.atEntry:
		// An entry value of an entry value would be one of another function.
		inner := *x.v
		inner.atEntry = true
		e := x.r.expression()
		if x.r.err != nil {
			return x.r.err
		}
		ru, err := inner.Value(e.code, e.off)
		if err != nil {
			return err
		}
		ops := ru.Ops()
		x.add(unwind.EntryValue, len(ops))
		x.code = append(x.code, ops...)
		return nil
	case op == exAddr:
		address = x.r.uint(x.t.AddressSize)
	case op == exAddrx && x.v.Address != nil:
		n := x.r.uleb()
		var ok bool
		if address, ok = x.v.Address(n); !ok {
			return x.t.bad(at, "an index in .debug_addr", fmt.Sprint(n))
		}
	default:
		return x.step(op, at)
	}
	x.code = append(x.code, unwind.Op{Kind: unwind.FromModule, Offset: int64(address)})
	return nil
}
