package dwarfcfi

import (
	"fmt"
	"strconv"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// Operations of DWARF expressions (DWARF 5, section 7.7.1) that have operands, or are one of
// many.
const (
	exConst1u    = 0x08
	exConst8s    = 0x0f
	exConstu     = 0x10
	exConsts     = 0x11
	exPick       = 0x15
	exPlusUconst = 0x23
	exBra        = 0x28
	exSkip       = 0x2f
	exLit0       = 0x30
	exLit31      = 0x4f
	exReg0       = 0x50
	exReg31      = 0x6f
	exBreg0      = 0x70
	exBreg31     = 0x8f
	exRegx       = 0x90
	exBregx      = 0x92
	exDerefSize  = 0x94
	exNop        = 0x96
)

// exKinds maps operations without operands to those of package unwind.
var exKinds = [256]unwind.Kind{
	0x06: unwind.Load, 0x12: unwind.Dup, 0x13: unwind.Drop, 0x14: unwind.Over, 0x16: unwind.Swap, 0x17: unwind.Rot, 0x19: unwind.Abs,
	0x1a: unwind.And, 0x1b: unwind.Quotient, 0x1c: unwind.Sub, 0x1d: unwind.Mod, 0x1e: unwind.Mul, 0x1f: unwind.Neg, 0x20: unwind.Not,
	0x21: unwind.Or, 0x22: unwind.Add, 0x24: unwind.Shl, 0x25: unwind.Shr, 0x26: unwind.Shra, 0x27: unwind.Xor, 0x29: unwind.Eq,
	0x2a: unwind.Ge, 0x2b: unwind.Gt, 0x2c: unwind.Le, 0x2d: unwind.Lt, 0x2e: unwind.Ne, 0x9c: unwind.FromCFA,
}

// exNames has the names of operations that not every expression can use, for error messages.
var exNames = map[uint8]string{
	exAddr: "DW_OP_addr", 0x18: "DW_OP_xderef", exFbreg: "DW_OP_fbreg", exPiece: "DW_OP_piece", 0x95: "DW_OP_xderef_size",
	0x97: "DW_OP_push_object_address", 0x98: "DW_OP_call2", 0x99: "DW_OP_call4", 0x9a: "DW_OP_call_ref", 0x9b: "DW_OP_form_tls_address",
	exBitPiece: "DW_OP_bit_piece", exImplicitValue: "DW_OP_implicit_value", exStackValue: "DW_OP_stack_value",
	exImplicitPointer: "DW_OP_implicit_pointer", exAddrx: "DW_OP_addrx", 0xa2: "DW_OP_constx", exEntryValue: "DW_OP_entry_value",
	0xa4: "DW_OP_const_type", 0xa5: "DW_OP_regval_type", 0xa6: "DW_OP_deref_type", 0xa7: "DW_OP_xderef_type", 0xa8: "DW_OP_convert",
	0xa9: "DW_OP_reinterpret", 0xe0: "DW_OP_GNU_push_tls_address", 0xf1: "DW_OP_GNU_encoded_addr", exGNUImplicitPointer: "DW_OP_GNU_implicit_pointer",
	exGNUEntryValue: "DW_OP_GNU_entry_value", 0xf4: "DW_OP_GNU_const_type", 0xf5: "DW_OP_GNU_regval_type", 0xf6: "DW_OP_GNU_deref_type",
	0xf7: "DW_OP_GNU_convert", 0xf9: "DW_OP_GNU_reinterpret", 0xfa: "DW_OP_GNU_parameter_ref",
}

// maxExpression limits an expression's size in bytes. Real ones have some dozens.
const maxExpression = 4096

// jump is a jump whose target is not translated yet: the index of its op, and the byte of the
// expression that it jumps to.
type jump struct{ op, to int }

// expression is one that is being translated to code. GNU ld describes the PLT of amd64 with
//
//	DW_OP_breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus        cfa = rsp + 8 + ((rip & 15) >= 11) << 3
//
// DW_OP_bra and DW_OP_skip count bytes from the operation after them, the ops If and Jump count ops. A
// jump may lead forward, so distances are set when all operations are translated.
type expression struct {
	t    *table
	r    reader
	code []unwind.Op
	// first is, by byte of an operation, the index of its first op; -1 inside an operation.
	first []int
	jumps []jump
}

// translate begins with an expression.
func (t *table) translate(e span) (*expression, error) {
	if len(e.code) > maxExpression {
		return nil, t.bad(e.off, fmt.Sprintf("an expression of at most %d bytes", maxExpression), fmt.Sprintf("one of %d", len(e.code)))
	}
	x := &expression{t: t, r: t.section.reader(e.code, e.off), first: make([]int, len(e.code)+1)}
	for i := range x.first {
		x.first[i] = -1
	}
	return x, nil
}

// each calls f for each operation, with its code and its offset.
func (x *expression) each(f func(op uint8, at int64) error) error {
	for x.r.pos < len(x.r.data) && x.r.err == nil {
		x.first[x.r.pos] = len(x.code)
		at := x.r.at()
		if err := f(x.r.u8(), at); err != nil {
			return err
		}
	}
	return x.r.err
}

func (x *expression) add(kind unwind.Kind, arg int) {
	x.code = append(x.code, unwind.Op{Kind: kind, Arg: int32(arg)})
}

func (x *expression) literal(v int64) {
	x.code = append(x.code, unwind.Op{Kind: unwind.Const, Offset: v})
}

// number reads the DWARF number of a register, which is a part of the operation op or follows it.
func (x *expression) number(op uint8) uint64 {
	if op == exRegx || op == exBregx {
		return x.r.uleb()
	}
	return uint64(op-exReg0) % 32
}

// register reads the number of a register, whose value is needed.
func (x *expression) register(op uint8, at int64) (reg unwind.Op, err error) {
	n := x.number(op)
	r, ok := x.t.register(n)
	if !ok && x.r.err == nil {
		return reg, x.t.bad(at, "a general register of "+x.t.Arch.Name, fmt.Sprintf("DWARF register %d", n))
	}
	return unwind.Op{Kind: unwind.FromReg, Reg: r}, nil
}

// isReg: an operation is DW_OP_reg0 to DW_OP_reg31 or DW_OP_regx.
func isReg(op uint8) bool { return op >= exReg0 && op <= exReg31 || op == exRegx }

// step translates the operation op, which was read at the offset at.
func (x *expression) step(op uint8, at int64) error {
	r := &x.r
	switch {
	case exKinds[op] != unwind.Unset:
		x.add(exKinds[op], 0)
	case op == exNop:
	case op >= exLit0 && op <= exLit31:
		x.literal(int64(op - exLit0))
	case op >= exConst1u && op <= exConst8s:
		if size := 1 << ((op - exConst1u) / 2); op&1 != 0 {
			x.literal(r.sint(size))
		} else {
			x.literal(int64(r.uint(size)))
		}
	case op == exConstu:
		x.literal(int64(r.uleb()))
	case op == exConsts:
		x.literal(r.sleb())
	case op == exPlusUconst:
		x.literal(int64(r.uleb()))
		x.add(unwind.Add, 0)
	case op == exPick:
		x.add(unwind.Pick, int(r.u8()))
	case op == exDerefSize:
		size := r.u8()
		if size != 1 && size != 2 && size != 4 && size != 8 && r.err == nil {
			return x.t.bad(at, "DW_OP_deref_size of 1, 2, 4 or 8 bytes", strconv.Itoa(int(size)))
		}
		x.add(unwind.LoadSized, int(size))
	case op >= exReg0 && op <= exBreg31 || op == exRegx || op == exBregx:
		reg, err := x.register(op, at)
		if err != nil {
			return err
		}
		x.code = append(x.code, reg)
		// DW_OP_reg is a location and not a value. Compilers for mips write it for the register's
		// value, and GCC's runtime reads it so.
		if isReg(op) {
			break
		}
		if off := r.sleb(); off != 0 {
			x.literal(off)
			x.add(unwind.Add, 0)
		}
	case op == exBra || op == exSkip:
		to := int(int16(r.uint(2)))
		to += r.pos
		if r.err == nil && (to < 0 || to > len(r.data)) {
			return x.t.bad(at, "a jump inside of the expression", fmt.Sprintf("one to byte %d of %d", to, len(r.data)))
		}
		x.jumps = append(x.jumps, jump{len(x.code), to})
		if op == exBra {
			x.add(unwind.If, 0)
		} else {
			x.add(unwind.Jump, 0)
		}
	default:
		return x.t.bad(at, "an operation that this expression can use", exName(op))
	}
	return nil
}

func exName(op uint8) string {
	if name := exNames[op]; name != "" {
		return name
	}
	return fmt.Sprintf("operation 0x%02x", op)
}

// rule returns the code so far as a rule, and starts a new one with what follows.
func (x *expression) rule(forCFA bool) (unwind.Rule, error) {
	x.first[x.r.pos] = len(x.code)
	for _, j := range x.jumps {
		if x.first[j.to] < 0 {
			return unwind.Rule{}, x.t.bad(x.r.off, "jumps to operations", fmt.Sprintf("one to byte %d, inside an operation", j.to))
		}
		x.code[j.op].Arg = int32(x.first[j.to] - j.op - 1)
	}
	ru, err := unwind.Simplify(x.t.Arch, x.code, forCFA)
	if err != nil {
		return unwind.Rule{}, x.t.bad(x.r.off, "an expression that can be evaluated", err.Error())
	}
	x.code, x.jumps = nil, nil
	for i := range x.first {
		x.first[i] = -1
	}
	return ru, nil
}

// expression returns an expression of call frame information as a rule. Those of register rules
// start with the CFA on the stack (DWARF 5, section 6.4.2.3). DW_OP_addr is an error, because the
// load address is unknown here. The error names the operation that a rule cannot use.
func (t *table) expression(e span, forCFA bool) (unwind.Rule, error) {
	x, err := t.translate(e)
	if err != nil {
		return unwind.Rule{}, err
	}
	if !forCFA {
		x.add(unwind.FromCFA, 0)
	}
	if err := x.each(x.step); err != nil {
		return unwind.Rule{}, err
	}
	return x.rule(forCFA)
}
