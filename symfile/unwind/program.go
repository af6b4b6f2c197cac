package unwind

import (
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// ParseProgram makes a Row from a STACK WIN program string by executing it on rules instead of
// numbers (see build.go). Each register that the program assigns gets one rule in terms of the
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
//
// ParseProgram returns a *RuleError for a program that leaves a value on the stack, lacks operands,
// reads a name without value, or exceeds a limit.
//
// Of the callee-saved registers that the program does not assign, ebp and ebx keep their value, and
// esi and edi become unknown. Breakpad and rust-minidump do the same: a program lists registers
// that the function saved, but may not list all.
func ParseProgram(arch *cpu.Arch, text string, vars func(name string) (uint64, bool)) (Row, error) {
	var few [8]assigned
	m := machine{arch: arch, text: text, program: true, vars: vars, set: few[:0]}
	_, n, err := m.run()
	if err == nil && n != 0 {
		err = m.fail("the program leaves a value on the stack")
	}
	if err != nil {
		return Row{}, err
	}
	return m.row()
}

// row makes the Row of the assigned registers.
func (m *machine) row() (Row, error) {
	arch := m.arch
	var row Row
	var seen [cpu.MaxRegs]bool
	for i := range m.set {
		r, ok := arch.Lookup(m.set[i].name)
		if !ok || int(r) >= len(seen) {
			continue // a temporary
		}
		seen[r] = true
		v := m.set[i].rule
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
