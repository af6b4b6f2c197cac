package unwind

import "github.com/crashpane/crashpane/core/cpu"

// The postfix language of STACK CFI and STACK WIN (Breakpad's postfix_evaluator.h): tokens
// separated by white space. A token is an operator (+ - * / % @ ^), a decimal literal, a register,
// or .cfa. Values are unsigned words of the CPU's size and wrap around.
//
//	.cfa -16 + ^      [cfa - 16]: push cfa, push -16, add, read the word

const (
	// maxDepth limits the operand stack. Real rules need three or four entries.
	maxDepth = 32
	// maxSteps limits the tokens of one expression, maxText its bytes, so that a crafted file
	// cannot make one frame slow.
	maxSteps = 2048
	maxText  = 16384
)

// cut splits s after its first token. The token is empty at the end of s.
func cut(s string) (tok, rest string) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	j := i
	for j < len(s) && !isSpace(s[j]) {
		j++
	}
	return s[i:j], s[j:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// literal parses a decimal number with an optional "-" as 64 bits; a negative number wraps around.
// It refuses a number that does not fit, as Breakpad and rust-minidump do.
func literal(tok string) (uint64, bool) {
	neg := false
	if len(tok) > 1 && tok[0] == '-' {
		neg, tok = true, tok[1:]
	}
	// 2^64 − 1 has 20 digits.
	if len(tok) == 0 || len(tok) > 20 {
		return 0, false
	}
	var v uint64
	for i := 0; i < len(tok); i++ {
		d := uint64(tok[i] - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	if neg {
		if v > 1<<63 {
			return 0, false
		}
		v = -v
	}
	return v, true
}

// isOp reports whether tok is an operator of expressions. "=" is one in STACK WIN programs only.
func isOp(tok string) bool {
	if len(tok) != 1 {
		return false
	}
	switch tok[0] {
	case '+', '-', '*', '/', '%', '@', '^':
		return true
	}
	return false
}

// binary computes l op r in 64 bits. The caller masks the result to the CPU's word size.
//
//	@  rounds l down to a multiple of r, which must be a power of two (the alignment of a stack)
//
// Example: 0x1237 @ 16 is 0x1230.
func binary(op byte, l, r uint64) (uint64, Cause) {
	switch op {
	case '+':
		return l + r, 0
	case '-':
		return l - r, 0
	case '*':
		return l * r, 0
	case '/':
		if r == 0 {
			return 0, DivisionByZero
		}
		return l / r, 0
	case '%':
		if r == 0 {
			return 0, DivisionByZero
		}
		return l % r, 0
	case '@':
		if r == 0 || r&(r-1) != 0 {
			return 0, BadAlignment
		}
		return l &^ (r - 1), 0
	}
	return 0, BadProgram
}

// expr evaluates a postfix expression, which must leave exactly one value.
func (e *evaluation) expr(text string) (uint64, fault) {
	arch := e.callee.Arch
	var stack [maxDepth]uint64
	n := 0
	if len(text) > maxText {
		return 0, fault{cause: BadProgram, text: "the expression is too long"}
	}
	for steps := 0; ; steps++ {
		tok, rest := cut(text)
		if tok == "" {
			break
		}
		text = rest
		if steps >= maxSteps {
			return 0, fault{cause: BadProgram, text: "the expression has too many tokens"}
		}
		if isOp(tok) {
			if tok == "^" {
				if n < 1 {
					return 0, fault{cause: BadProgram, text: "^ lacks its operand"}
				}
				v, f := e.word(stack[n-1])
				if f.cause != 0 {
					return 0, f
				}
				stack[n-1] = v
				continue
			}
			if n < 2 {
				return 0, fault{cause: BadProgram, text: tok + " lacks operands"}
			}
			v, c := binary(tok[0], stack[n-2], stack[n-1])
			if c != 0 {
				return 0, fault{cause: c, text: tok}
			}
			n--
			stack[n-1] = arch.Mask(v)
			continue
		}
		if n == maxDepth {
			return 0, fault{cause: BadProgram, text: "the expression needs too deep a stack"}
		}
		v, f := e.operand(arch, tok)
		if f.cause != 0 {
			return 0, f
		}
		stack[n] = v
		n++
	}
	if n != 1 {
		return 0, fault{cause: BadProgram, text: "the expression does not leave one value"}
	}
	return stack[0], fault{}
}

// operand returns the value of a token that is not an operator: a literal, a register, .cfa, or
// .undef (no value).
func (e *evaluation) operand(arch *cpu.Arch, tok string) (uint64, fault) {
	switch tok {
	case ".cfa":
		if !e.hasCFA {
			return 0, fault{cause: BadProgram, text: "the rule of .cfa reads .cfa"}
		}
		return e.cfa, fault{}
	case ".undef":
		return 0, fault{cause: Unrecoverable}
	}
	if v, ok := literal(tok); ok {
		return arch.Mask(v), fault{}
	}
	r, ok := arch.Lookup(tok)
	if !ok {
		return 0, fault{cause: BadProgram, text: "unknown word " + quote(tok)}
	}
	return e.reg(r)
}

// quote quotes text of an untrusted file for a message, shortened to 40 bytes.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return "\"" + s + "\""
}
