package unwind

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// Computed shows how a value was computed, with numbers for names: "0x7ffe3d0 + 48 = 0x7ffe400",
// "word at 0x7ffe3f8 = 0x55d0a1f4". callee and cfa are Apply's argument and result. If the value
// could not be computed, Computed returns the reason.
func (m *RuleResult) Computed(callee *cpu.Regs, cfa uint64) string {
	if m.Err != nil {
		return m.Err.reason()
	}
	arch, ru := callee.Arch, &m.Rule
	value := hex(m.Value)
	sum := func(base uint64) string {
		if ru.Offset == 0 {
			return value
		}
		return plus(hex(base), ru.Offset) + " = " + value
	}
	wordAt := func(base uint64) string { return "word at " + hex(arch.Mask(base+uint64(ru.Offset))) + " = " + value }
	reg, _ := callee.Get(ru.Reg)
	switch ru.Kind {
	case FromReg:
		return sum(reg)
	case AtReg:
		return wordAt(reg)
	case FromCFA:
		return sum(cfa)
	case AtCFA:
		return wordAt(cfa)
	case AtConst:
		return wordAt(0)
	case Expr, Program:
		return infix(withNumbers(ru.Text, callee, cfa)) + " = " + value
	}
	return value
}

// withNumbers replaces registers and .cfa in a postfix expression by their values. Unknown
// registers keep their names.
func withNumbers(text string, callee *cpu.Regs, cfa uint64) string {
	var b strings.Builder
	for rest := text; ; {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			return b.String()
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch _, number := literal(tok); {
		case tok == ".cfa":
			tok = hex(cfa)
		case number || isOp(tok):
		default:
			if r, ok := callee.Arch.Lookup(tok); ok {
				if v, known := callee.Get(r); known {
					tok = hex(v)
				}
			}
		}
		b.WriteString(tok)
	}
}

func hex(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
