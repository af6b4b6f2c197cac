package session

import (
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// inRegisters are how many arguments the calling conventions pass in registers; those after them are on the
// stack, the first at the stack pointer of the call. Processors whose conventions leave other words there are not
// listed. homes are the registers for whose values the caller of a function leaves space there.
var inRegisters = []struct {
	arch    *cpu.Arch
	windows bool
	count   int
	homes   []string
}{
	{cpu.X86, true, 0, nil},
	{cpu.X86, false, 0, nil},
	{cpu.AMD64, true, 4, []string{"rcx", "rdx", "r8", "r9"}},
	{cpu.AMD64, false, 6, nil},
	{cpu.ARM64, false, 8, nil},
	{cpu.ARM64, true, 8, nil},
	{cpu.ARM, false, 4, nil},
	{cpu.ARM, true, 4, nil},
	{cpu.RISCV, false, 8, nil},
	{cpu.RISCV64, false, 8, nil},
	{cpu.LoongArch64, false, 8, nil},
}

// unknownArguments is how many words of an argument area are marked where nothing says how large it is: most
// functions have no more arguments.
const unknownArguments = 4

// arguments marks the words in which a call passed arguments: they are the first of the calling frame's. The rest
// is marked before, since they end where another word has a role.
func (w *stackWords) arguments() {
	frames := w.stack.Frames
	last := 0
	for i := range w.out.Rows {
		k := w.out.Rows[i].Frame
		if k <= 0 || k == last || k >= len(frames) || frames[k].Tail != nil || frames[k].Skipped != nil { // another frame was called
			continue
		}
		last = k
		first := w.row(frames[k].Regs.SP())
		for n, role := range w.argumentArea(k - 1) {
			at := first + n
			if at >= len(w.out.Rows) || w.out.Rows[at].Frame != k || len(w.out.Rows[at].Roles) > 0 || w.out.Rows[at].Canary {
				break
			}
			w.out.Rows[at].Roles = append(w.out.Rows[at].Roles, role)
		}
	}
}

// argumentArea returns the roles of the words in which a frame got arguments, from the stack pointer of its caller on.
func (w *stackWords) argumentArea(frame int) []report.StackRole {
	f := &w.stack.Frames[frame]
	windows := w.m.s.Dump.System != nil && w.m.s.Dump.System.OS == core.Windows
	for _, c := range inRegisters {
		if c.arch != f.Regs.Arch || c.windows != windows {
			continue
		}
		var sym symbol.Symbol
		if f.Module >= 0 {
			sym, _ = w.m.s.walked.syms.Lookup(f.Module, f.RVA)
		}
		var out []report.StackRole
		add := func(count int, guess bool) []report.StackRole {
			for i := range min(count, 64) {
				out = append(out, report.StackRole{Kind: report.RoleArgument, Frame: frame, Number: i + 1, Of: count, Guess: guess})
			}
			return out
		}
		for i, name := range c.homes {
			out = append(out, report.StackRole{Kind: report.RoleArgument, Frame: frame, Number: i + 1, Register: name, Guess: true})
		}
		if c.arch == cpu.X86 {
			if size, known := w.argumentSize(f, &sym); known {
				return add(int(size+3)/4, w.stack.Frames[frame+1].Source == walker.SourceScan)
			}
		}
		count, known := parameters(w.m.s.readable(sym.Name))
		switch {
		case known:
			return add(count-c.count, true)
		case c.arch == cpu.X86:
			return add(unknownArguments, true)
		}
		return out
	}
	return nil
}

// argumentSize returns the size of the arguments that a function gets on the stack, as its STACK WIN record or its
// name in a symbol file of Windows says.
func (w *stackWords) argumentSize(f *walker.Frame, sym *symbol.Symbol) (uint32, bool) {
	if f.Module < 0 {
		return 0, false
	}
	if fd, answer := w.m.s.walked.syms.FrameData(f.Module, f.RVA); answer == symbol.Yes {
		return fd.Params, true
	}
	return sym.ParamSize, sym.ParamSize > 0
}

// readable makes a name readable.
func (s *Session) readable(name string) string {
	if s.opt.Demangle == nil {
		return name
	}
	return s.opt.Demangle(name)
}

// parameters counts the parameters in a readable name of a function; false if it has none: "main".
//
//	std::map<int, int>::at(int const&) const  → 1
func parameters(name string) (int, bool) {
	end := strings.LastIndexByte(name, ')')
	depth, commas, start := 0, 0, -1
	for i := end; i >= 0 && start < 0; i-- {
		switch name[i] {
		case ')', '>', ']', '}':
			depth++
		case '<', '[', '{':
			depth--
		case '(':
			if depth--; depth == 0 {
				start = i
			}
		case ',':
			if depth == 1 {
				commas++
			}
		}
	}
	if start < 0 {
		return 0, false
	}
	switch strings.TrimSpace(name[start+1 : end]) {
	case "", "void":
		return 0, true
	}
	return commas + 1, true
}
