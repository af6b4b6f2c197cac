package dwarfcfi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// DWARF expression operations (DWARF 5, section 7.7.1) that make sense in call frame information.
const (
	exDeref      = 0x06
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
	exFrameCFA   = 0x9c
)

// exWords maps operations without operands to words of unwind.Program.
var exWords = map[uint8]string{
	exDeref: "^", 0x12: "dup", 0x13: "drop", 0x14: "over", 0x16: "swap", 0x17: "rot", 0x19: "abs", 0x1a: "and", 0x1b: "div",
	0x1c: "-", 0x1d: "%", 0x1e: "*", 0x1f: "neg", 0x20: "not", 0x21: "or", 0x22: "+", 0x24: "shl", 0x25: "shr", 0x26: "shra",
	0x27: "xor", 0x29: "eq", 0x2a: "ge", 0x2b: "gt", 0x2c: "le", 0x2d: "lt", 0x2e: "ne", exFrameCFA: ".cfa",
}

// exNames has the names of operations that a rule cannot use, for error messages.
var exNames = map[uint8]string{
	0x03: "DW_OP_addr", 0x18: "DW_OP_xderef", 0x91: "DW_OP_fbreg", 0x93: "DW_OP_piece", 0x97: "DW_OP_push_object_address",
	0x98: "DW_OP_call2", 0x99: "DW_OP_call4", 0x9a: "DW_OP_call_ref", 0x9b: "DW_OP_form_tls_address", 0x9d: "DW_OP_bit_piece",
	0x9e: "DW_OP_implicit_value", 0x9f: "DW_OP_stack_value", 0xa1: "DW_OP_addrx", 0xa3: "DW_OP_entry_value", 0xf1: "DW_OP_GNU_encoded_addr",
	0xf3: "DW_OP_GNU_entry_value",
}

// maxExpression limits an expression's size in bytes. Real ones have some dozens.
const maxExpression = 4096

// jump is a jump whose target is not translated yet: the index of its word, and the byte of the
// expression that it jumps to.
type jump struct{ word, to int }

// translate translates an expression to the words of unwind.Program. pushCFA: the expression starts
// with the CFA on the stack, as those of register rules do (DWARF 5, section 6.4.2.3). DW_OP_addr
// is an error, because the load address is unknown here. GNU ld describes the PLT of amd64 with
//
//	DW_OP_breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus        cfa = rsp + 8 + ((rip & 15) >= 11) << 3
//	$rsp 8 + $rip 15 and 11 ge 3 shl +
//
// DW_OP_bra and DW_OP_skip count bytes from the operation after them, the words "if:N" and "jump:N"
// have the index of a word. A jump may lead forward, so their numbers are added when all operations
// are translated.
func (t *table) translate(e span, pushCFA bool) (string, error) {
	s := &t.section
	r := s.reader(e.code, e.off)
	var words []string
	if pushCFA {
		words = append(words, ".cfa")
	}
	var jumps []jump
	if len(e.code) > maxExpression {
		return "", s.bad(e.off, fmt.Sprintf("an expression of at most %d bytes", maxExpression), fmt.Sprintf("one of %d", len(e.code)))
	}
	first := make([]int, len(e.code)+1) // by byte of an operation: index of its first word; -1 inside an operation
	for i := range first {
		first[i] = -1
	}
	literal := func(v int64) { words = append(words, strconv.FormatInt(v, 10)) }
	for r.pos < len(r.data) && r.err == nil {
		first[r.pos] = len(words)
		at := r.pos
		op := r.u8()
		switch {
		case exWords[op] != "":
			words = append(words, exWords[op])
		case op == exNop:
		case op >= exLit0 && op <= exLit31:
			literal(int64(op - exLit0))
		case op >= exConst1u && op <= exConst8s:
			size := 1 << ((op - exConst1u) / 2)
			switch {
			case op&1 != 0:
				literal(r.sint(size))
			case size == 8:
				words = append(words, strconv.FormatUint(r.uint(8), 10))
			default:
				literal(int64(r.uint(size)))
			}
		case op == exConstu:
			words = append(words, strconv.FormatUint(r.uleb(), 10))
		case op == exConsts:
			literal(r.sleb())
		case op == exPlusUconst:
			words = append(words, strconv.FormatUint(r.uleb(), 10), "+")
		case op == exPick:
			words = append(words, "pick:"+strconv.Itoa(int(r.u8())))
		case op == exDerefSize:
			size := r.u8()
			if size != 1 && size != 2 && size != 4 && size != 8 {
				return "", s.bad(e.off+int64(at), "DW_OP_deref_size of 1, 2, 4 or 8 bytes", strconv.Itoa(int(size)))
			}
			words = append(words, "^"+strconv.Itoa(int(size)))
		case op >= exReg0 && op <= exBreg31 || op == exRegx || op == exBregx:
			n := uint64(op-exReg0) % 32
			if op == exRegx || op == exBregx {
				n = r.uleb()
			}
			reg, ok := t.register(n)
			if !ok {
				return "", s.bad(e.off+int64(at), "a general register of "+t.Arch.Name, fmt.Sprintf("DWARF register %d", n))
			}
			words = append(words, "$"+t.Arch.RegName(reg))
			// DW_OP_reg is a location and not a value. Compilers for mips write it for the
			// register's value, and GCC's runtime reads it so.
			if op >= exReg0 && op <= exReg31 || op == exRegx {
				break
			}
			if off := r.sleb(); off != 0 {
				literal(off)
				words = append(words, "+")
			}
		case op == exBra || op == exSkip:
			to := int(int16(r.uint(2)))
			to += r.pos
			word := "if:"
			if op == exSkip {
				word = "jump:"
			}
			if r.err == nil && (to < 0 || to > len(e.code)) {
				return "", s.bad(e.off+int64(at), "a jump inside of the expression", fmt.Sprintf("one to byte %d of %d", to, len(e.code)))
			}
			jumps = append(jumps, jump{len(words), to})
			words = append(words, word)
		default:
			name := exNames[op]
			if name == "" {
				name = fmt.Sprintf("operation 0x%02x", op)
			}
			return "", s.bad(e.off+int64(at), "an expression of call frame information", name)
		}
	}
	if r.err != nil {
		return "", r.err
	}
	first[len(e.code)] = len(words)
	for _, j := range jumps {
		to := first[j.to]
		if to < 0 {
			return "", s.bad(e.off, "jumps to operations", fmt.Sprintf("one to byte %d, inside an operation", j.to))
		}
		words[j.word] += strconv.Itoa(to)
	}
	return strings.Join(words, " "), nil
}

// expression returns an expression as a rule. The error names the operation that a rule cannot use.
func (t *table) expression(e span, forCFA bool) (unwind.Rule, error) {
	text, err := t.translate(e, !forCFA)
	if err != nil {
		return unwind.Rule{}, err
	}
	ru, err := unwind.ParseExpression(t.Arch, text, forCFA)
	if err != nil {
		return unwind.Rule{}, t.bad(e.off, "an expression that can be evaluated", err.Error())
	}
	return ru, nil
}

// deref returns the rule [ru]. DW_CFA_expression needs it: its expression gives the address at
// which the register is saved.
func (t *table) deref(ru unwind.Rule, e span) (unwind.Rule, error) {
	ru, err := unwind.Deref(t.Arch, ru)
	if err != nil {
		return unwind.Rule{}, t.bad(e.off, "an expression that can be evaluated", err.Error())
	}
	return ru, nil
}
