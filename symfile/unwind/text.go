package unwind

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// regText returns a register's name, or its number if arch is nil.
func regText(arch *cpu.Arch, r cpu.Reg) string {
	if arch == nil {
		return "r#" + strconv.Itoa(int(r))
	}
	return "$" + arch.RegName(r)
}

// plus returns "base + off" or "base − off" (with U+2212), or base if off is 0.
func plus(base string, off int64) string {
	switch {
	case off > 0:
		return base + " + " + strconv.FormatInt(off, 10)
	case off < 0:
		return base + " − " + strconv.FormatUint(-uint64(off), 10)
	}
	return base
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// printer shows rules: with the names of registers, or with the values that they and the CFA have.
type printer struct {
	arch   *cpu.Arch // nil for registers as numbers
	callee *cpu.Regs // nil for names
	cfa    uint64
}

// reg returns a register's value, if that is wanted and known, or its name.
func (p *printer) reg(r cpu.Reg) string {
	if p.callee != nil {
		if v, known := p.callee.Get(r); known {
			return hex(v)
		}
	}
	return regText(p.arch, r)
}

// value returns a value of a rule or an op, or its reason for being none.
func (p *printer) value(kind Kind, reg cpu.Reg, off int64) string {
	cfa := "cfa"
	if p.callee != nil {
		cfa = hex(p.cfa)
	}
	switch kind {
	case Unset:
		return "no rule"
	case Same:
		return "unchanged"
	case FromReg:
		return plus(p.reg(reg), off)
	case AtReg:
		return "[" + plus(p.reg(reg), off) + "]"
	case FromCFA:
		return plus(cfa, off)
	case AtCFA:
		return "[" + plus(cfa, off) + "]"
	case Const:
		return hex(uint64(off))
	case AtConst:
		return "[" + hex(uint64(off)) + "]"
	case FromModule:
		return "module + " + hex(uint64(off))
	}
	return "lost"
}

// rule returns a rule as text.
func (p *printer) rule(ru *Rule) string {
	if ru.Kind == Computed {
		return p.infix(ru.Code)
	}
	return p.value(ru.Kind, ru.Reg, ru.Offset)
}

// Describe returns the rule as text: "$rsp + 48", "[cfa − 8]" (the word at that address),
// "unchanged", "lost". If arch is nil, registers are shown as numbers.
func (ru Rule) Describe(arch *cpu.Arch) string { return (&printer{arch: arch}).rule(&ru) }

// Computed shows how a value was computed, with numbers for names: "0x7ffe3d0 + 48 = 0x7ffe400",
// "word at 0x7ffe3f8 = 0x55d0a1f4". callee and cfa are Apply's argument and result. If the value
// could not be computed, Computed returns the reason.
func (m *RuleResult) Computed(callee *cpu.Regs, cfa uint64) string {
	if m.Err != nil {
		return m.Err.reason()
	}
	ru := m.Rule
	p := printer{callee.Arch, callee, cfa}
	value := hex(m.Value)
	switch ru.Kind {
	case AtReg, AtCFA, AtConst:
		base := map[Kind]uint64{AtCFA: cfa}[ru.Kind]
		if ru.Kind == AtReg {
			base, _ = callee.Get(ru.Reg)
		}
		return "word at " + hex(callee.Arch.Mask(base+uint64(ru.Offset))) + " = " + value
	case FromReg, FromCFA:
		if ru.Offset != 0 {
			return p.rule(&ru) + " = " + value
		}
	case Computed:
		return p.rule(&ru) + " = " + value
	}
	return value
}

// String returns the op as a word.
func (op *Op) String() string {
	switch op.Kind {
	case LoadSized, Pick, EntryValue:
		return operators[op.Kind].word + strconv.Itoa(int(op.Arg))
	}
	return operators[op.Kind].word
}

// Postfix returns a Computed rule in postfix notation, with Breakpad's words as far as they go:
// "$rsp 8 + ^". reg returns a register's name.
func (ru Rule) Postfix(reg func(cpu.Reg) string) string {
	var b []byte
	number := func(v int64) { b = strconv.AppendInt(append(b, ' '), v, 10) }
	for i := range ru.Code {
		op := &ru.Code[i]
		switch op.Kind {
		case FromReg, AtReg:
			b = append(append(b, ' '), reg(op.Reg)...)
		case FromCFA, AtCFA:
			b = append(b, " .cfa"...)
		case FromModule:
			b = append(b, " module"...)
		case Undefined:
			b = append(b, " .undef"...)
		case Const, AtConst:
			number(op.Offset)
		case If, Jump: // to which op, counted from 0
			b = append(append(b, ' '), operators[op.Kind].word...)
			b = strconv.AppendInt(b, int64(i)+1+int64(op.Arg), 10)
		default:
			b = append(append(b, ' '), op.String()...)
		}
		switch op.Kind {
		case FromReg, AtReg, FromCFA, AtCFA, FromModule:
			if op.Offset != 0 {
				number(op.Offset)
				b = append(b, " +"...)
			}
		}
		switch op.Kind {
		case AtReg, AtCFA, AtConst:
			b = append(b, " ^"...)
		}
	}
	return strings.TrimPrefix(string(b), " ")
}

// postfix returns code in postfix notation.
func postfix(arch *cpu.Arch, code []Op) string {
	return Rule{Kind: Computed, Code: code}.Postfix(func(r cpu.Reg) string { return regText(arch, r) })
}

// infix returns code in infix notation: "$rsp 8 + ^" becomes "[$rsp + 8]". Broken or long code, and
// what reorders the stack or jumps, stays as it is.
// Each entry of the stack is an operand in infix form; operators put parentheses around what they
// join.
func (p *printer) infix(code []Op) string {
	var stack []string
	size := 0
	for i := 0; i < len(code); i++ {
		op := &code[i]
		n := len(stack)
		takes, gives := op.arity()
		if n < takes || gives != 1 || takes > 2 {
			return postfix(p.arch, code)
		}
		var s string
		switch {
		case op.Kind == Const || op.Kind == AtConst:
			v := op.Offset
			if p.arch != nil && p.arch.WordSize == 4 {
				v = int64(int32(v))
			}
			if s = strconv.FormatInt(v, 10); op.Kind == AtConst {
				s = "[" + s + "]"
			}
		case op.Kind < Computed:
			if s = p.value(op.Kind, op.Reg, op.Offset); strings.Contains(s, " ") && s[0] != '[' {
				s = "(" + s + ")"
			}
		case op.Kind == EntryValue:
			nested := code[i+1:][:max(0, min(int(op.Arg), len(code)-i-1))]
			s = "entry(" + p.infix(nested) + ")"
			i += len(nested)
		case op.Kind == Load:
			s = "[" + bare(stack[n-1]) + "]"
		case op.Kind == Align:
			s = "align(" + bare(stack[n-2]) + ", " + bare(stack[n-1]) + ")"
		case takes == 1:
			s = "(" + op.String() + " " + stack[n-1] + ")"
		case op.Kind == Sub:
			s = "(" + stack[n-2] + " − " + stack[n-1] + ")"
		case op.Kind == Add && stack[n-1][0] == '-': // a negative number
			s = "(" + stack[n-2] + " − " + stack[n-1][1:] + ")"
		default:
			s = "(" + stack[n-2] + " " + op.String() + " " + stack[n-1] + ")"
		}
		stack = append(stack[:n-takes], s)
		// Each step copies the top of the stack, so a long expression would cost the square of its
		// length.
		if size += len(s); size > 1<<16 {
			return postfix(p.arch, code)
		}
	}
	if len(stack) != 1 {
		return postfix(p.arch, code)
	}
	return bare(stack[0])
}

// bare removes a pair of parentheses that encloses all of s.
func bare(s string) string {
	if len(s) < 2 || s[0] != '(' || s[len(s)-1] != ')' {
		return s
	}
	depth := 0
	for i := 0; i < len(s)-1; i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s
			}
		}
	}
	return s[1 : len(s)-1]
}

// Describe returns the row as text: "cfa = $rsp + 48, ra = [cfa − 8], $rbx = [cfa − 16]". arch may
// be nil.
func (r *Row) Describe(arch *cpu.Arch) string {
	var b strings.Builder
	b.WriteString("cfa = " + r.CFA.Describe(arch) + ", ra = " + r.RA.Describe(arch))
	for _, s := range r.Saved {
		if s.Rule.Kind != Unset {
			b.WriteString(", " + regText(arch, s.Reg) + " = " + s.Rule.Describe(arch))
		}
	}
	switch r.Signed {
	case KeyA:
		b.WriteString(" (signed with key A)")
	case KeyB:
		b.WriteString(" (signed with key B)")
	}
	if r.OthersUndefined {
		b.WriteString(", other registers lost")
	}
	if r.Signal {
		b.WriteString(" (signal frame)")
	}
	if r.Topmost {
		b.WriteString(" (topmost frame only)")
	}
	return b.String()
}

// String is Describe with numbers for registers.
func (r Row) String() string { return r.Describe(nil) }

// String returns the origin as text: "libfoo.sym line 812", "libfoo.so .eh_frame+0x3a8", "frame
// pointer".
func (o Origin) String() string {
	if o.Note == "" {
		return o.location()
	}
	return o.location() + ", " + o.Note
}

// location is String without the note.
func (o Origin) location() string {
	s := o.File
	switch {
	case o.File == "":
		return o.Part
	case o.Line > 0:
		return s + " line " + strconv.Itoa(o.Line)
	case o.Offset > 0:
		return s + " " + o.Part + "+0x" + strconv.FormatInt(o.Offset, 16)
	}
	return s + " " + o.Part
}

// Equal reports whether two rows have the same rules. The order of Saved and the Origin do not
// matter, and a saved register whose rule is Unset counts as absent.
func (r *Row) Equal(o *Row) bool {
	if !r.CFA.Equal(o.CFA) || !r.RA.Equal(o.RA) || r.Signed != o.Signed || r.Signal != o.Signal || r.OthersUndefined != o.OthersUndefined {
		return false
	}
	return r.within(o) && o.within(r)
}

// within reports whether o has each saved rule of r.
func (r *Row) within(o *Row) bool {
	return !slices.ContainsFunc(r.Saved, func(s RegRule) bool { return s.Rule.Kind != Unset && !slices.ContainsFunc(o.Saved, s.Equal) })
}
