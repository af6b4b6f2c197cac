package unwind

import "github.com/crashpane/crashpane/core/cpu"

// RuleError says why the text of an unwind record, or an expression, could not be made a rule.
type RuleError struct {
	Reason string
	// Text is the offending part of the record, or empty.
	Text string
}

func (e *RuleError) Error() string {
	if e.Text == "" {
		return e.Reason
	}
	return e.Reason + ": " + quote(e.Text)
}

// quote quotes text of an untrusted file for a message, shortened to 40 bytes.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return "\"" + s + "\""
}

// machine executes the postfix language of STACK CFI and STACK WIN (Breakpad's postfix_evaluator.h) on
// rules (see build.go). Words are separated by white space. A word is an operator (+ - * / % @ ^), a
// decimal literal, a register, or .cfa. Values are unsigned words of the CPU's size and wrap around.
//
//	.cfa -16 + ^      [cfa - 16]: push cfa, push -16, add, read the word
//
// A program, that is STACK WIN, has "=" too, variables, and names of its own.
type machine struct {
	arch    *cpu.Arch
	text    string
	program bool
	vars    func(string) (uint64, bool)
	set     []assigned // by the first assignment
	copied  int        // ops, see maxCopied
}

// assigned is a name of a program, with its value.
type assigned struct {
	name string
	rule Rule
}

// named is the Kind of an item of the stack that is a name, which a program may assign to or read.
// Its Offset is where the name is in the text.
const named Kind = 0xff

func (m *machine) fail(reason string) error { return &RuleError{Reason: reason, Text: m.text} }

// run executes the text. It returns how many items are left on the stack, and the top one.
func (m *machine) run() (top Rule, n int, err error) {
	if len(m.text) > maxText {
		return top, 0, m.fail("it is too long")
	}
	var stack [maxDepth]Rule
	for rest, steps := m.text, 0; ; steps++ {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			if n > 0 {
				top = stack[n-1]
			}
			return top, n, nil
		}
		if steps >= maxSteps {
			return top, 0, m.fail("it has too many words")
		}
		at := len(m.text) - len(rest) - len(tok)
		op := operator(tok)
		switch assigns := m.program && tok[0] == '='; {
		case assigns: // "=$eip" is "=" and "$eip"
			tok, rest = "=", m.text[at+1:]
		case op == Unset:
			if n == maxDepth {
				return top, 0, m.fail("it needs too deep a stack")
			}
			if err := m.push(&stack[n], tok, at); err != nil {
				return top, 0, err
			}
			n++
			continue
		}
		if n < 1 || n < 2 && op != Load {
			return top, 0, m.fail(tok + " lacks operands")
		}
		r := &stack[n-1]
		if r.Kind == named {
			if err := m.read(r); err != nil {
				return top, 0, err
			}
		}
		switch op {
		case Unset: // =
			// The name is below the value: "$T0 $ebp =" pushes the name, the value, and assigns.
			if n -= 2; !m.assign(&stack[n], r) {
				return top, 0, m.fail("only a name that begins with $ can be assigned")
			}
			continue
		case Load:
			r.unary(m.arch, Op{Kind: Load})
		default:
			n--
			l := &stack[n-1]
			if l.Kind == named {
				if err := m.read(l); err != nil {
					return top, 0, err
				}
			}
			m.copied += len(r.Code)
			l.binary(m.arch, op, r)
		}
		// A program that multiplies a name by itself doubles its rule.
		if m.copied > maxCopied || len(stack[n-1].Code) > maxSteps {
			return top, 0, m.fail("it grows too long")
		}
	}
}

// operator returns the operator of a word, or Unset.
func operator(tok string) Kind {
	if len(tok) == 1 {
		return wordKinds[tok[0]]
	}
	return Unset
}

var wordKinds = [256]Kind{'+': Add, '-': Sub, '*': Mul, '/': Div, '%': Mod, '@': Align, '^': Load}

// push makes an item of a word that is not an operator. A program's names are looked up when an
// operator reads them, since "=" needs the name itself.
func (m *machine) push(it *Rule, tok string, at int) (err error) {
	if v, ok := literal(tok); ok {
		*it = constant(m.arch, v)
	} else if m.program {
		*it = Rule{Kind: named, Offset: int64(at)}
	} else {
		*it, err = operand(m.arch, tok)
	}
	return err
}

// operand returns the rule for a word of STACK CFI that is neither an operator nor a number.
func operand(arch *cpu.Arch, tok string) (Rule, error) {
	switch tok {
	case ".cfa":
		return Rule{Kind: FromCFA}, nil
	case ".undef":
		return Rule{Kind: Undefined}, nil
	}
	if r, ok := arch.Lookup(tok); ok {
		return Rule{Kind: FromReg, Reg: r}, nil
	}
	return Rule{}, &RuleError{Reason: "unknown register or word", Text: tok}
}

// assign gives a program's name a value, unless the item cannot have one.
func (m *machine) assign(to, v *Rule) bool {
	if to.Kind != named {
		return false
	}
	name, _ := cut(m.text[to.Offset:])
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	if i := m.find(name); i >= 0 {
		m.set[i].rule = *v
	} else {
		m.set = append(m.set, assigned{name, *v})
	}
	return true
}

// find returns the index of a name that the program has assigned, or -1.
func (m *machine) find(name string) int {
	for i := range m.set {
		if m.set[i].name == name {
			return i
		}
	}
	return -1
}

// read replaces an item that is a name by its value.
func (m *machine) read(it *Rule) error {
	name, _ := cut(m.text[it.Offset:])
	if i := m.find(name); i >= 0 {
		*it = m.set[i].rule.shared()
		m.copied += len(it.Code)
		return nil
	}
	if name == ".undef" {
		*it = Rule{Kind: Undefined}
		return nil
	}
	if name[0] == '.' && m.vars != nil {
		if v, ok := m.vars(name); ok {
			*it = constant(m.arch, v)
			return nil
		}
	}
	// A program may not read $eip before it assigns it: the callee's own pc has no value in this
	// language.
	if r, ok := m.arch.Lookup(name); ok && name[0] == '$' && r != m.arch.PC {
		*it = Rule{Kind: FromReg, Reg: r}
		return nil
	}
	return &RuleError{Reason: "the program reads a name that has no value", Text: name}
}

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
