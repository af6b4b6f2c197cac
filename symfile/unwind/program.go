package unwind

import (
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// entry is one entry of a program's operand stack: a name, which the program may assign to or read,
// or a value.
type entry struct {
	name  string // "" for a value
	value Rule
}

// program is the state of ParseProgram.
type program struct {
	arch *cpu.Arch
	vars func(string) (uint64, bool)
	set  map[string]Rule // by name, with "$"
}

// ParseProgram makes a Row from a STACK WIN program string by executing it on rules instead of
// numbers (see parse.go). Each register that the program assigns gets one rule in terms of the
// callee's registers; temporaries ($T0 …) are substituted.
//
//	$T0 $ebp =  $eip $T0 4 + ^ =  $ebp $T0 ^ =  $esp $T0 8 + =
//	eip = [ebp + 4]     ebp = [ebp]     esp = ebp + 8
//
// vars returns the values of the predefined variables: .raSearch, .raSearchStart, .cbParams,
// .cbCalleeParams, .cbSavedRegs, .cbLocals. A program may not read a variable that vars does not
// know.
//
// Language: Breakpad's postfix_evaluator.h. The operators are + - * / % @ (round down to a
// multiple), ^ (memory word) and =. Only names with "$" can be assigned. Reading a name after its
// assignment gives the new value. "=$eip" is "=" and "$eip": the link-time code generation of
// Visual C++ 2010 writes no space there. The program must assign $eip, which becomes RA, and $esp,
// which becomes CFA.
// ParseProgram returns a *RuleError for a program that leaves a value on the stack, lacks operands,
// reads a name without value, or exceeds a limit.
//
// Of the callee-saved registers that the program does not assign, ebp and ebx keep their value, and
// esi and edi become unknown. Breakpad and rust-minidump do the same: a program lists registers
// that the function saved, but may not list all.
func ParseProgram(arch *cpu.Arch, text string, vars func(name string) (uint64, bool)) (Row, error) {
	if len(text) > maxText {
		return Row{}, &RuleError{Reason: "the program is too long", Text: text}
	}
	p := program{arch: arch, vars: vars, set: make(map[string]Rule, 8)}
	var stack [maxDepth]entry
	n := 0
	var order []string // assigned names in the order of the program
	rest := text
	for steps := 0; ; steps++ {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			break
		}
		if steps >= maxSteps {
			return Row{}, &RuleError{Reason: "the program has too many words"}
		}
		// "=$eip" is split into two tokens.
		if tok[0] == '=' && len(tok) > 1 {
			tok, rest = "=", tok[1:]+rest
		}
		switch {
		case tok == "=":
			if n < 2 {
				return Row{}, &RuleError{Reason: "= lacks operands", Text: text}
			}
			v, err := p.read(stack[n-1])
			if err != nil {
				return Row{}, err
			}
			// The name is below the value: "$T0 $ebp =" pushes the name, the value, and assigns.
			name := stack[n-2].name
			if len(name) < 2 || name[0] != '$' {
				return Row{}, &RuleError{Reason: "only a name that begins with $ can be assigned", Text: text}
			}
			n -= 2
			if _, again := p.set[name]; !again {
				order = append(order, name)
			}
			p.set[name] = v
		case tok == "^":
			if n < 1 {
				return Row{}, &RuleError{Reason: "^ lacks its operand", Text: text}
			}
			v, err := p.read(stack[n-1])
			if err == nil {
				v, err = deref(arch, v)
			}
			if err != nil {
				return Row{}, err
			}
			stack[n-1] = entry{value: v}
		case isOp(tok):
			if n < 2 {
				return Row{}, &RuleError{Reason: tok + " lacks operands", Text: text}
			}
			l, err := p.read(stack[n-2])
			if err != nil {
				return Row{}, err
			}
			r, err := p.read(stack[n-1])
			if err != nil {
				return Row{}, err
			}
			v, err := join(arch, tok[0], l, r)
			if err != nil {
				return Row{}, err
			}
			n--
			stack[n-1] = entry{value: v}
		default:
			if n == maxDepth {
				return Row{}, &RuleError{Reason: "the program needs too deep a stack"}
			}
			if v, ok := literal(tok); ok {
				stack[n] = entry{value: canon(arch, Rule{Kind: Const, Offset: int64(v)})}
			} else {
				// Names are looked up when an operator reads them, since "=" needs the name itself.
				stack[n] = entry{name: tok}
			}
			n++
		}
	}
	if n != 0 {
		return Row{}, &RuleError{Reason: "the program leaves a value on the stack", Text: text}
	}
	return p.row(order)
}

// read returns the value of a stack entry.
func (p *program) read(e entry) (Rule, error) {
	if e.name == "" {
		return e.value, nil
	}
	if v, ok := p.set[e.name]; ok {
		return v, nil
	}
	if e.name == ".undef" {
		return Rule{Kind: Undefined}, nil
	}
	if e.name[0] == '.' && p.vars != nil {
		if v, ok := p.vars(e.name); ok {
			return canon(p.arch, Rule{Kind: Const, Offset: int64(v)}), nil
		}
	}
	// A program may not read $eip before it assigns it: the callee's own pc has no value in this
	// language.
	if r, ok := p.arch.Lookup(e.name); ok && e.name[0] == '$' && r != p.arch.PC {
		return Rule{Kind: FromReg, Reg: r}, nil
	}
	return Rule{}, &RuleError{Reason: "the program reads a name that has no value", Text: e.name}
}

// row makes the Row of the assigned registers, which order lists.
func (p *program) row(order []string) (Row, error) {
	arch := p.arch
	var row Row
	var seen [cpu.MaxRegs]bool
	for _, name := range order {
		r, ok := arch.Lookup(name)
		if !ok || int(r) >= len(seen) {
			continue // a temporary
		}
		seen[r] = true
		v := p.set[name]
		switch r {
		case arch.PC:
			row.RA = v
			continue
		case arch.SP:
			row.CFA = v
			continue
		}
		if v.Kind == FromReg && v.Reg == r && v.Offset == 0 {
			v = Rule{Kind: Same}
		}
		row.Saved = append(row.Saved, RegRule{r, v})
	}
	switch {
	case row.RA.Kind == Unset || row.RA.Kind == Undefined:
		return Row{}, &RuleError{Reason: "the program gives no value to $" + arch.RegName(arch.PC)}
	case row.CFA.Kind == Unset || row.CFA.Kind == Undefined:
		return Row{}, &RuleError{Reason: "the program gives no value to $" + arch.RegName(arch.SP)}
	}
	// See ParseProgram: esi and edi, which the program does not mention, may have been overwritten.
	ebx, _ := arch.Lookup("ebx")
	for _, r := range arch.CalleeSaved {
		if !seen[r] && r != arch.FP && r != ebx && r != arch.SP && r != arch.PC {
			row.Saved = append(row.Saved, RegRule{r, Rule{Kind: Undefined}})
		}
	}
	return row, nil
}

// ProgramText returns the record's program, or for a record without one (FPO, and some of type 4)
// an equivalent program:
//
//	eip = [.raSearchStart]     esp = .raSearchStart + 4
//	ebp = [esp + .cbCalleeParams + .cbSavedRegs − 8] if the function uses ebp for its own purposes, else unchanged
//
// Source: symbol_files.md, "Interpreting a STACK WIN record".
func (d *FrameData) ProgramText() string {
	switch {
	case d.HasProgram && strings.TrimSpace(d.Program) != "":
		return d.Program
	case d.AllocatesBP:
		return "$eip .raSearchStart ^ = $ebp $esp .cbCalleeParams + .cbSavedRegs + 8 - ^ = $esp .raSearchStart 4 + ="
	}
	return "$eip .raSearchStart ^ = $esp .raSearchStart 4 + ="
}

// Vars returns the predefined variables of a record, for ParseProgram. calleeParams is the size in
// bytes of the parameters of the function that this frame called, 0 for the first frame.
// raSearchStart is the stack address at which the return address is expected: esp + Locals +
// SavedRegs + calleeParams, or the address that a search found.
func (d *FrameData) Vars(calleeParams uint32, raSearchStart uint64) func(string) (uint64, bool) {
	return func(name string) (uint64, bool) {
		switch name {
		case ".raSearch", ".raSearchStart":
			return raSearchStart, true
		case ".cbParams":
			return uint64(d.Params), true
		case ".cbCalleeParams":
			return uint64(calleeParams), true
		case ".cbSavedRegs":
			return uint64(d.SavedRegs), true
		case ".cbLocals":
			return uint64(d.Locals), true
		}
		return 0, false
	}
}
