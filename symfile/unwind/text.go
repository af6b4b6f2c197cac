package unwind

import (
	"fmt"
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

// Describe returns the rule as text: "$rsp + 48", "[cfa − 8]" (the word at that address),
// "unchanged", "lost". If arch is nil, registers are shown as numbers.
func (ru Rule) Describe(arch *cpu.Arch) string {
	switch ru.Kind {
	case Unset:
		return "no rule"
	case Undefined:
		return "lost"
	case Same:
		return "unchanged"
	case FromReg:
		return plus(regText(arch, ru.Reg), ru.Offset)
	case AtReg:
		return "[" + plus(regText(arch, ru.Reg), ru.Offset) + "]"
	case FromCFA:
		return plus("cfa", ru.Offset)
	case AtCFA:
		return "[" + plus("cfa", ru.Offset) + "]"
	case Const:
		return fmt.Sprintf("0x%x", uint64(ru.Offset))
	case AtConst:
		return fmt.Sprintf("[0x%x]", uint64(ru.Offset))
	}
	return infix(ru.Text)
}

// infix rewrites a postfix expression in infix notation: "$rsp 8 + ^" becomes "[$rsp + 8]". A
// broken or long expression stays as it is.
// Each entry of the stack is an operand in infix form; operators put parentheses around what they
// join.
func infix(text string) string {
	var stack []string
	size := 0
	for rest := text; ; {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			break
		}
		n := len(stack)
		switch {
		case tok == "^":
			if n < 1 {
				return text
			}
			stack[n-1] = "[" + bare(stack[n-1]) + "]"
		case isOp(tok):
			if n < 2 {
				return text
			}
			op := tok
			if op == "-" {
				op = "−"
			}
			l, r := stack[n-2], stack[n-1]
			if tok == "@" {
				stack[n-2] = "align(" + bare(l) + ", " + bare(r) + ")"
			} else {
				stack[n-2] = "(" + l + " " + op + " " + r + ")"
			}
			stack = stack[:n-1]
		default:
			if takes, gives, known := arity(tok); known {
				// Words that reorder the stack or jump have no infix form.
				if n < takes || gives != 1 || takes > 2 {
					return text
				}
				word := "(" + tok + " " + stack[n-1] + ")"
				if takes == 2 {
					word = "(" + stack[n-2] + " " + tok + " " + stack[n-1] + ")"
				}
				stack = append(stack[:n-takes], word)
				break
			}
			if tok == ".cfa" {
				tok = "cfa"
			}
			stack = append(stack, tok)
		}
		// Each step copies the top of the stack, so a long expression would cost the square of its
		// length.
		if size += len(stack[len(stack)-1]); size > 1<<16 {
			return text
		}
	}
	if len(stack) != 1 {
		return text
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
	if r.CFA != o.CFA || r.RA != o.RA || r.Signal != o.Signal || r.OthersUndefined != o.OthersUndefined {
		return false
	}
	return r.within(o) && o.within(r)
}

// within reports whether o has each saved rule of r.
func (r *Row) within(o *Row) bool {
outer:
	for _, s := range r.Saved {
		if s.Rule.Kind == Unset {
			continue
		}
		for _, t := range o.Saved {
			if t == s {
				continue outer
			}
		}
		return false
	}
	return true
}
