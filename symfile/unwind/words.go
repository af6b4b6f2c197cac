package unwind

import "strings"

// The operators that a Program has beyond Breakpad's. Each is one operation of DWARF expressions
// (DWARF 5, section 2.5.1). Values are words of the CPU's size; operators marked signed read them
// as two's complement.
//
//	and or xor shl shr       l r → value
//	shra div                 l r → value, signed
//	eq ne lt le gt ge        l r → 1 or 0, signed
//	not neg abs              v → value; abs is signed
//	^1 ^2 ^4 ^8              address → the word of so many bytes there, zero-extended
//	dup drop over swap rot   reorder the top of the stack, as in DWARF
//	pick:N                   push a copy of the item N below the top
//	if:N jump:N              continue at word N of the program, counted from 0; if pops a value and jumps unless it is 0
//
// A Program's value is the top of the stack at its end; more may be below it. An Expr must leave
// exactly one value.

// arity returns how many items a word pops and pushes. known is false for Breakpad's operators and
// for operands.
func arity(tok string) (takes, gives int, known bool) {
	switch tok {
	case "and", "or", "xor", "shl", "shr", "shra", "div", "eq", "ne", "lt", "le", "gt", "ge":
		return 2, 1, true
	case "not", "neg", "abs", "^1", "^2", "^4", "^8":
		return 1, 1, true
	case "dup":
		return 1, 2, true
	case "drop":
		return 1, 0, true
	case "over":
		return 2, 3, true
	case "swap":
		return 2, 2, true
	case "rot":
		return 3, 3, true
	}
	switch word, n := numbered(tok); word {
	case "pick":
		return n + 1, n + 2, true
	case "if":
		return 1, 0, true
	case "jump":
		return 0, 0, true
	}
	return 0, 0, false
}

// numbered splits a word like "pick:2". word is "" if tok is not of that form.
// A number beyond maxSteps is no valid jump, as no program has so many words.
func numbered(tok string) (word string, n int) {
	word, digits, ok := strings.Cut(tok, ":")
	v, number := literal(digits)
	if !ok || !number || v > maxSteps {
		return "", 0
	}
	return word, int(v)
}

// signed reads a value of the word size as two's complement.
func signed(v uint64, wordSize int) int64 {
	if wordSize == 4 {
		return int64(int32(v))
	}
	return int64(v)
}

// compute returns l op r, or op r for operators of one value. The results are those of DWARF 5,
// sections 2.5.1.4 and 2.5.1.5.
func compute(op string, l, r uint64, wordSize int) (uint64, Cause) {
	sl, sr := signed(l, wordSize), signed(r, wordSize)
	truth := func(b bool) (uint64, Cause) {
		if b {
			return 1, 0
		}
		return 0, 0
	}
	switch op {
	case "and":
		return l & r, 0
	case "or":
		return l | r, 0
	case "xor":
		return l ^ r, 0
	// As in Go, a shift by the word size or more gives 0, or −1 for shra of a negative value.
	case "shl":
		return l << r, 0
	case "shr":
		return l >> r, 0
	case "shra":
		return uint64(sl >> r), 0
	case "div":
		switch sr {
		case 0:
			return 0, DivisionByZero
		case -1: // as an integer division the smallest value / -1 would overflow
			return -l, 0
		}
		return uint64(sl / sr), 0
	case "eq":
		return truth(l == r)
	case "ne":
		return truth(l != r)
	case "lt":
		return truth(sl < sr)
	case "le":
		return truth(sl <= sr)
	case "gt":
		return truth(sl > sr)
	case "ge":
		return truth(sl >= sr)
	case "not":
		return ^r, 0
	case "neg":
		return -r, 0
	case "abs":
		return uint64(max(sr, -sr)), 0
	}
	return 0, BadProgram
}

// shuffle executes dup, drop, over, swap, rot or pick:N on the n items of st, which must have space
// for the result. The caller changes n.
func shuffle[T any](tok string, st []T, n int) {
	switch tok {
	case "dup":
		st[n] = st[n-1]
	case "over":
		st[n] = st[n-2]
	case "swap":
		st[n-1], st[n-2] = st[n-2], st[n-1]
	case "rot": // the top moves below the two items under it
		st[n-1], st[n-2], st[n-3] = st[n-2], st[n-3], st[n-1]
	default:
		if word, i := numbered(tok); word == "pick" {
			st[n] = st[n-1-i]
		}
	}
}

// wordAt returns the program's text from its word i on.
func wordAt(text string, i int) string {
	for ; i > 0; i-- {
		_, text = cut(text)
	}
	return text
}

// program evaluates a Program's text.
// Unlike expr it may jump, also back. maxSteps counts executed words, so that a loop ends.
func (e *evaluation) program(text string) (uint64, fault) {
	arch := e.callee.Arch
	bad := func(why string) (uint64, fault) { return 0, fault{cause: BadProgram, text: why} }
	if len(text) > maxText {
		return bad("the program is too long")
	}
	var stack [maxDepth]uint64
	n, rest := 0, text
	for steps := 0; ; steps++ {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			break
		}
		if steps >= maxSteps {
			return bad("the program takes too many steps")
		}
		takes, gives, known := arity(tok)
		switch {
		case known:
		case tok == "^":
			takes, gives = 1, 1
		case isOp(tok):
			takes, gives = 2, 1
		default:
			gives = 1
		}
		if n < takes {
			return bad(tok + " lacks operands")
		}
		if n-takes+gives > maxDepth {
			return bad("the program needs too deep a stack")
		}
		var v uint64
		var f fault
		word, to := numbered(tok)
		switch {
		case word == "jump" || word == "if" && stack[n-1] != 0:
			rest = wordAt(text, to)
		case word == "if":
		case !known && takes == 0:
			v, f = e.operand(arch, tok)
		case tok[0] == '^' && len(tok) > 1:
			v, f = e.read(stack[n-1], int(tok[1]-'0'))
		case tok == "^":
			v, f = e.word(stack[n-1])
		case !known:
			v, f.cause = binary(tok[0], stack[n-2], stack[n-1])
			f.text = tok
		case gives == 1 && takes > 0:
			v, f.cause = compute(tok, stack[max(n-2, 0)], stack[n-1], arch.WordSize)
			f.text = tok
		default:
			shuffle(tok, stack[:], n)
		}
		if f.cause != 0 {
			return 0, f
		}
		n += gives - takes
		if gives == 1 {
			stack[n-1] = arch.Mask(v)
		}
	}
	if n < 1 {
		return bad("the program leaves no value")
	}
	return stack[n-1], fault{}
}
