package walker

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// goProgram has a function of C, the runtime's functions and a caller, 0x100 bytes each.
type goProgram struct{ names []string }

func (p goProgram) Lookup(_ int, rva uint64) (symbol.Symbol, symbol.Answer) {
	i := int(rva/0x100) - 1
	if i < 0 || i >= len(p.names) {
		return symbol.Symbol{}, symbol.No
	}
	return symbol.Symbol{Name: p.names[i], Start: rva &^ 0xff, Size: 0x100}, symbol.Yes
}
func (p goProgram) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	return unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}}, symbol.Yes
}
func (goProgram) Function(int, uint64) (symbol.Range, bool) { return symbol.Range{}, false }
func (p goProgram) FrameData(int, uint64) (unwind.FrameData, symbol.Answer) {
	return unwind.FrameData{}, symbol.No
}

// goMemory is memory by address; all of it is one range for the walker.
type goMemory map[uint64]uint64

func (m goMemory) Word(addr uint64, size int) (uint64, bool) { v, ok := m[addr]; return v, ok }
func (m goMemory) Stack(sp uint64) unwind.Memory {
	if _, ok := m[sp&^7]; ok {
		return m
	}
	return nil
}
func (m goMemory) Mapping(uint64) (Mapping, bool) { return Mapping{}, false }

func (m goMemory) Executable(uint64) (yes, known bool) { return false, false }

// TestGoSwitches: a walk goes on where the runtime left the goroutine's stack, by what it saved. The
// layouts of asmcgocall are those of Go 1.26 and of the releases before it on amd64, and the one
// where it was called on the thread's own stack.
func TestGoSwitches(t *testing.T) {
	const base, g0, g, m = 0x400000, 0xc000000100, 0xc000000400, 0xc000000800
	const system, gor = 0x7fff0000, 0xc000100000 // the two stacks
	world := func(extra goMemory) goMemory {
		all := goMemory{
			system: 1, system + 8: base + 0x210, // the callee's frame; what follows is the switching function's
			g0: system - 0x8000, g0 + 8: system + 0x1000, g0 + 48: m, g0 + 56: 0, g0 + 64: 0,
			g: gor, g + 8: gor + 0x1000, g + 48: m, g + 56: gor + 0xf00, g + 64: base + 0x308,
			m:           g0,
			gor + 0xf00: 0, gor + 0xf08: base + 0x410, // what the switching function pushed, and its caller
			gor + 0xf10: 0, gor + 0xf18: 0,
		}
		for n := uint64(1); n < mWords; n++ {
			all[m+8*n] = 0
		}
		all[m+8*30] = g
		for a, v := range extra {
			all[a] = v
		}
		return all
	}
	for _, c := range []struct {
		function string
		regs     map[string]uint64
		memory   goMemory
		want     string
	}{
		{"runtime.asmcgocall", nil, goMemory{system + 0x10: 0x100, system + 0x18: g}, "main.caller"},
		{"runtime.asmcgocall", nil, goMemory{system + 0x10: 5, system + 0x18: 5, system + 0x38: 0x100, system + 0x40: g}, ""},
		{"runtime.asmcgocall.abi0", nil, goMemory{system + 0x10: 5, system + 0x18: 5, system + 0x20: 5, system + 0x28: 5, system + 0x30: 5, system + 0x38: 0x100, system + 0x40: g}, "main.caller"},
		{"runtime.asmcgocall", nil, goMemory{system + 0x10: system + 0x30, system + 0x18: 0, system + 0x30: 0, system + 0x38: base + 0x410}, "main.caller"},
		{"runtime.asmcgocall", nil, goMemory{system + 0x10: 0x100000, system + 0x18: g}, ""},
		{"runtime.systemstack", map[string]uint64{"r14": g0}, nil, "main.caller"},
		{"runtime.systemstack", nil, goMemory{system: g0}, "main.caller"},
		{"runtime.systemstack", nil, nil, ""},
		{"runtime.systemstack", map[string]uint64{"r14": g0}, goMemory{g + 64: base + 0x408}, ""},
		{"runtime.systemstack", map[string]uint64{"r14": g0}, goMemory{m: g}, ""},
		{"runtime.morestack", map[string]uint64{"r14": g0}, goMemory{g + 64: base + 0x408}, "main.caller"},
		{"runtime.mcall", map[string]uint64{"r14": g0}, goMemory{g + 64: base + 0x408}, "main.caller"},
		{"runtime.morestack", nil, nil, ""},
		{"runtime.mcall", nil, nil, ""},
		{"runtime.mcall", map[string]uint64{"r14": g0}, goMemory{m + 8*30: 0}, "the goroutine left"},
	} {
		memory := world(c.memory)
		regs := cpu.Regs{Arch: cpu.AMD64}
		regs.Set(cpu.AMD64.PC, base+0x110)
		regs.Set(cpu.AMD64.SP, system)
		for name, v := range c.regs {
			r, _ := cpu.AMD64.Lookup(name)
			regs.Set(r, v)
		}
		w := New(Best, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate),
			goProgram{[]string{"fromC", c.function, "runtime.systemstack_switch", "main.caller"}})
		w.Space = memory
		stack := w.Walk(regs, memory)
		have := ""
		if len(stack.Frames) > 2 && stack.Frames[2].Source == SourceGo {
			have = stack.Frames[2].Symbol.Name
		}
		if have == "" && stack.Stop.Kind == StopEnd {
			have = "the goroutine left"
		}
		if have != c.want || have == "" && stack.Stop.Kind != StopSwitched {
			t.Errorf("%s %v %x: caller %q, stop %v; want %q", c.function, c.regs, c.memory, have, stack.Stop, c.want)
		}
	}
}

// calledBack is a program in which C calls Go. crosscall2 has the code and the rules of Go 1.26, and
// the function of C a frame pointer.
type calledBack struct{ goProgram }

func (p calledBack) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	row, ok := p.goProgram.Row(0, rva)
	switch name := p.names[rva/0x100-1]; name {
	case "crosscall2":
		row.CFA.Offset = 0x18 + 0x30 + 16
	case "inC":
		row.CFA.Reg = cpu.AMD64.FP
	}
	return row, ok
}

// windowsProgram has Windows' rules for asmcgocall, which count from the frame pointer.
type windowsProgram struct{ goProgram }

func (p windowsProgram) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	row, ok := p.goProgram.Row(0, rva)
	if strings.HasPrefix(p.names[rva/0x100-1], "runtime.asmcgocall") {
		row.CFA.Reg = cpu.AMD64.FP
		row.Saved = []unwind.RegRule{{Reg: cpu.AMD64.FP, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -16}}}
	}
	return row, ok
}

// TestGoSwitchByFramePointer: what asmcgocall's frame pointer leads to is on the goroutine's stack,
// and true only if the thread's stack says that there was a switch.
func TestGoSwitchByFramePointer(t *testing.T) {
	const base, g, gor, system = 0x400000, 0xc000000400, 0xc000100000, 0x7fff0000
	for _, c := range []struct {
		depth uint64 // how deep the goroutine's stack was
		want  string
	}{{0x100, "NtWait runtime.asmcgocall_landingpad runtime.asmcgocall main.caller"}, {0x100000, "NtWait runtime.asmcgocall_landingpad runtime.asmcgocall"}} {
		memory := goMemory{system: 0, system + 8: base + 0x210, system + 0x50: gor + 0xf00, system + 0x58: base + 0x310,
			system + 0x60: c.depth, system + 0x68: g, g: gor, g + 8: gor + 0x1000, g + 48: 0xc000000800, g + 56: 0, g + 64: 0,
			gor + 0xf00: 0, gor + 0xf08: base + 0x410, gor + 0xf10: 0, gor + 0xf18: 0}
		regs := cpu.Regs{Arch: cpu.AMD64}
		regs.Set(cpu.AMD64.PC, base+0x110)
		regs.Set(cpu.AMD64.SP, system)
		regs.Set(cpu.AMD64.FP, system+0x50)
		w := New(Best, core.Windows, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate),
			windowsProgram{goProgram{[]string{"NtWait", "runtime.asmcgocall_landingpad", "runtime.asmcgocall", "main.caller"}}})
		w.Space = memory
		s := w.Walk(regs, memory)
		var have []string
		for i := range s.Frames {
			have = append(have, s.Frames[i].Symbol.Name)
		}
		if strings.Join(have, " ") != c.want {
			t.Errorf("have %s\nwant %s\n%+v", have, c.want, s.Stop)
		}
	}
}

// TestGoCallbacks: the frames of C that called Go are there, in a callback in a callback too, and
// those of the goroutine beyond. If one cannot be crossed, as a panic undoes what the runtime
// saved, it is as Go's runtime has it: as if the goroutine had called itself.
func TestGoCallbacks(t *testing.T) {
	const base, g0, g, m = 0x400000, 0xc000000100, 0xc000000400, 0xc000000800
	const system, gor = 0x7fff0000, 0xc000100000
	names := []string{"runtime.gopanic", "runtime.cgocallbackg", "runtime.cgocallback", "runtime.systemstack_switch", "crosscall2", "inC", "runtime.asmcgocall", "main.inner", "main.outer"}
	const panics, callbackg, callback, switched, crosscall, inC, asmcgocall, inner, outer = base + 0x110, base + 0x210, base + 0x310, base + 0x410, base + 0x541, base + 0x610, base + 0x710, base + 0x810, base + 0x910
	// push %rbp; mov %rsp, %rbp; sub $0x30, %rsp; mov %rbp, 0x28(%rsp); lea 0x28(%rsp), %rbp; …; call
	program := codeAt{base + 0x500: []byte("\x55\x48\x89\xe5\x48\x83\xec\x30\x48\x89\x6c\x24\x28\x48\x8d\x6c\x24\x28\x48\x89\x1c\x24\x4c\x89\x64\x24\x08\x4c\x89\x6c\x24\x10" +
		"\x4c\x89\x74\x24\x18\x4c\x89\x7c\x24\x20\x48\x83\xec\x18\x48\x89\x3c\x24\x48\x89\x74\x24\x08\x48\x89\x4c\x24\x10\xe8\x3f\x91\xff\xff")}
	memory := func() goMemory {
		all := goMemory{g0: system - 0x8000, g0 + 8: system + 0x1000, g0 + 48: m, g0 + 56: system, g0 + 64: 0,
			g: gor, g + 8: gor + 0x1000, g + 48: m, g + 56: 0, g + 64: 0, m: g0}
		for a := uint64(0); a < 0x400; a += 8 {
			all[system+a], all[gor+a], all[m+8+a] = 0, 0, 0
		}
		all[m+8*30] = g
		// Two callbacks. On the goroutine's stack: cgocallbackg, cgocallback, its made-up caller and
		// that one's; on the thread's: cgocallback, crosscall2, C and asmcgocall.
		for i, from := range []uint64{inner, outer} {
			at, thread := gor+uint64(i)*0x40, system+uint64(i)*0x100
			for n, ra := range []uint64{callback, switched, from, callbackg} {
				all[at+uint64(n)*16+8] = ra
			}
			all[thread], all[thread+8] = thread+0x100, crosscall
			all[thread+0x10+0x50], all[thread+0x10+0x48] = inC, thread+0x80
			all[thread+0x88] = asmcgocall
			all[thread+0x90], all[thread+0x98] = 0x1000-uint64(i)*0x40-0x20, g
		}
		all[gor+0x78] = 0 // main.outer is the goroutine's first function
		return all
	}
	const all = "runtime.cgocallbackg runtime.cgocallback crosscall2 inC runtime.asmcgocall main.inner " +
		"runtime.cgocallbackg runtime.cgocallback crosscall2 inC runtime.asmcgocall main.outer "
	const own = "runtime.cgocallbackg runtime.cgocallback runtime.systemstack_switch main.inner " +
		"runtime.cgocallbackg runtime.cgocallback runtime.systemstack_switch main.outer "
	for _, c := range []struct {
		name   string
		pc, sp uint64
		code   codeAt
		change func(goMemory)
		want   string
	}{
		{"both", callbackg, gor, program, nil, all},
		{"crosscall2 without code", callbackg, gor, nil, nil, own},
		{"in a panic", panics, gor - 16, program, func(m goMemory) { m[gor-16], m[gor-8] = 0, callbackg }, "runtime.gopanic " + own},
		{"another stack pointer", callbackg, gor, program, func(m goMemory) { m[g0+56] = system + 0x10 }, own},
		{"the outer one's is lost", callbackg, gor, program, func(m goMemory) { m[system] = gor }, all[:len(all)/2] + own[len(own)/2:]},
	} {
		mem := memory()
		if c.change != nil {
			c.change(mem)
		}
		regs := cpu.Regs{Arch: cpu.AMD64}
		regs.Set(cpu.AMD64.PC, c.pc)
		regs.Set(cpu.AMD64.SP, c.sp)
		r14, _ := cpu.AMD64.Lookup("r14")
		regs.Set(r14, g)
		w := New(Best, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate), calledBack{goProgram{names}})
		w.Space = mem
		if c.code != nil {
			w.Code = c.code
		}
		stack := w.Walk(regs, mem)
		have := ""
		for i := range stack.Frames {
			have += stack.Frames[i].Symbol.Name + " "
		}
		if have != c.want {
			t.Errorf("%s:\nhave %s\nwant %s\n%+v", c.name, have, c.want, stack.Stop)
		}
	}
}

// linkProgram is a program of Go for a CPU that keeps return addresses in a register, whose functions
// have 16 bytes of stack, but for a leaf, sigtramp and goexit, by Go's rules outermost functions.
type linkProgram struct {
	goProgram
	a *cpu.Arch
}

func (p linkProgram) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	a := p.a
	row := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -16}}
	if rva < 0x100 || rva >= 0x100*uint64(len(p.names)+1) {
		return row, symbol.No
	}
	switch p.names[rva/0x100-1] {
	case "main.leaf":
		row.CFA.Offset, row.RA, row.Topmost = 0, unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}, true
	case "runtime.goexit":
		row.CFA.Offset, row.RA, row.Outermost = 0, unwind.Rule{Kind: unwind.Undefined}, true
	case "runtime.sigtramp", "sigtramp":
		row.CFA.Offset, row.RA, row.Outermost = 192, unwind.Rule{Kind: unwind.Undefined}, true
	}
	return row, symbol.Yes
}

// TestGoSignals: a handler of Go's runtime leads to what it interrupted, and sigpanic to the function
// that it is said to be called by, at the very instruction. On arm64 the link register is pushed
// before that call, which leaves need.
func TestGoSignals(t *testing.T) {
	const base, stack, restorer = 0x400000, 0x7fff0000, 0x5500801000
	for _, c := range []struct {
		name   string
		arch   *cpu.Arch
		names  []string // from base + 0x100 on, 0x100 bytes each; a thread is in the first
		memory []uint64 // from the stack pointer on
		want   string
	}{
		{"amd64", cpu.AMD64, []string{"runtime.gopanic", "runtime.sigpanic", "main.other", "main.f", "main.caller"},
			[]uint64{0, base + 0x210, 0, base + 0x400, 0, base + 0x510}, "runtime.gopanic runtime.sigpanic main.f main.caller "},
		{"arm64", cpu.ARM64, []string{"runtime.gopanic", "runtime.sigpanic", "main.other", "main.f", "main.caller"},
			[]uint64{base + 0x210, 0, base + 0x400, 0, 77, 0, base + 0x510}, "runtime.gopanic runtime.sigpanic main.f main.caller "},
		{"arm64, a leaf", cpu.ARM64, []string{"runtime.gopanic", "runtime.sigpanic", "main.other", "main.leaf", "main.caller"},
			[]uint64{base + 0x210, 0, base + 0x400, 0, base + 0x510}, "runtime.gopanic runtime.sigpanic main.leaf main.caller "},
		{"arm64, a handler", cpu.ARM64, []string{"runtime.sigtrampgo", "runtime.sigtramp", "main.f", "main.caller"},
			[]uint64{base + 0x210, 0, restorer}, "runtime.sigtrampgo runtime.sigtramp  main.f main.caller "},
		{"a handler of big-endian ppc64", cpu.ARM64, []string{"runtime.sigtrampgo", "sigtramp", "main.f", "main.caller"},
			[]uint64{base + 0x210, 0, restorer}, "runtime.sigtrampgo sigtramp  main.f main.caller "},
		{"before the switch", cpu.AMD64, []string{"gosave_systemstack_switch", "runtime.systemstack", "main.f", "main.caller"},
			[]uint64{0, base + 0x210, 0, base + 0x310, 0, base + 0x410}, "gosave_systemstack_switch runtime.systemstack main.f main.caller "},
		{"arm64, no handler", cpu.ARM64, []string{"runtime.sigtrampgo", "runtime.sigtramp", "main.f", "main.caller"},
			[]uint64{base + 0x210, 0, base + 0x310}, "runtime.sigtrampgo runtime.sigtramp "},
	} {
		memory := goMemory{}
		for i := range uint64(200) {
			memory[stack+8*i] = 0
		}
		for i, v := range c.memory {
			memory[stack+8*uint64(i)] = v
		}
		// The signal's frame, and the stack that it interrupted.
		frame := uint64(stack + 16 + 192 + 128 + 176 + 8)
		memory[frame+8*31], memory[frame+8*32], memory[stack+0x500], memory[stack+0x510] = stack+0x500, base+0x300, base+0x410, 0
		regs := cpu.Regs{Arch: c.arch}
		regs.Set(c.arch.PC, base+0x110)
		regs.Set(c.arch.SP, stack)
		var symbols Symbols = linkProgram{goProgram{c.names}, c.arch}
		if c.arch == cpu.AMD64 {
			symbols = goProgram{c.names}
		}
		w := New(Best, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate), symbols)
		w.Space, w.Code = memory, codeAt{restorer: {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}}
		s := w.Walk(regs, memory)
		have := ""
		for i := range s.Frames {
			have += s.Frames[i].Symbol.Name + " "
		}
		if have != c.want {
			t.Errorf("%s:\nhave %s\nwant %s\n%+v", c.name, have, c.want, s.Stop)
		}
	}
}

// TestGoMorestack: a function that calls morestack has not made its frame yet. If return addresses
// are in a register, the runtime keeps that function's own. Its place moved in Go 1.25. RISC-V calls
// morestack with another register for its return address. A goroutine's stack ends in goexit.
func TestGoMorestack(t *testing.T) {
	const base, system, gor, g0, g, m = 0x400000, 0x7fff0000, 0xc000100000, 0x500000, 0xc000000400, 0x600000
	const names = "runtime.newstack runtime.morestack main.leaf main.caller runtime.goexit"
	for _, c := range []struct {
		name string
		arch *cpu.Arch
		lr   uint64 // the word of a g
		code codeAt
		want string
	}{
		{"arm64", cpu.ARM64, 11, nil, names},
		{"arm64, Go 1.24", cpu.ARM64, 12, nil, names},
		{"riscv64, jal t0", cpu.RISCV64, 11, codeAt{base + 0x304: {0xef, 0xf2, 0xdf, 0xdf}, base + 0x404: {0xef, 0xf0, 0x5f, 0xc0}}, names},
		{"riscv64, j", cpu.RISCV64, 11, codeAt{base + 0x304: {0x6f, 0xf0, 0xdf, 0xdf}}, "runtime.newstack runtime.morestack"},
		{"mips64", cpu.MIPS64, 11, nil, names},
		{"ppc64", cpu.PPC64, 12, nil, names},
		{"s390x", cpu.S390X, 11, nil, names},
	} {
		memory := goMemory{}
		for i := range uint64(0x80) {
			memory[system+8*i], memory[gor+0xf00+8*i], memory[g+8*i], memory[g0+8*i], memory[m+8*i] = 0, 0, 0, 0, 0
		}
		for at, v := range map[uint64]uint64{system: base + 0x210,
			g0: system - 0x8000, g0 + 8: system + 0x20, g0 + 48: m, g: gor, g + 8: gor + 0x1000, g + 48: m, m: g0, m + 8*30: g,
			g + 56: gor + 0xf00, g + 64: base + 0x308, gor + 0xf00: base + 0x500 + uint64(c.arch.JumpAlign)} {
			memory[at] = v
		}
		if c.lr > 0 {
			memory[g+8*c.lr] = base + 0x408
		}
		regs := cpu.Regs{Arch: c.arch}
		regs.Set(c.arch.PC, base+0x110)
		regs.Set(c.arch.SP, system)
		regs.Set(c.arch.CalleeSaved[0], g0)
		w := New(Best, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate),
			linkProgram{goProgram{strings.Fields(names)}, c.arch})
		w.Space = memory
		if c.code != nil {
			w.Code = c.code
		}
		s := w.Walk(regs, memory)
		var have []string
		for i := range s.Frames {
			have = append(have, s.Frames[i].Symbol.Name)
		}
		if strings.Join(have, " ") != c.want || c.want == names && s.Stop.Kind != StopEnd {
			t.Errorf("%s:\nhave %s\nwant %s\n%+v", c.name, have, c.want, s.Stop)
		}
	}
}

// armProgram is a program of Go for arm: functions push lr, and asmcgocall's later rules count what
// it reserves on the stack that it switched to.
type armProgram struct{ goProgram }

func (p armProgram) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	a := cpu.ARM
	row := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}, Topmost: true}
	if rva < 0x100 || rva >= 0x100*uint64(len(p.names)+1) {
		return row, symbol.No
	}
	if rva&0xff < 4 {
		return row, symbol.Yes
	}
	frame := int64(4)
	switch {
	case p.names[rva/0x100-1] == "runtime.asmcgocall" && rva&0xff >= 0x40:
		frame = 28
	case p.names[rva/0x100-1] == "main.caller":
		frame = 8
	}
	return unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: frame}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -frame}}, symbol.Yes
}

// TestGoRulesOnArm: the goroutine's frame of asmcgocall is as large as before the switch, and a pc
// in systemstack_switch is right behind the instruction that makes its frame.
func TestGoRulesOnArm(t *testing.T) {
	const base, system, gor, g, m = 0x400000, 0x7fff0000, 0x3000000, 0x4000100, 0x4000800
	for _, c := range []struct {
		names []string
		words map[uint64]uint64
		want  string
	}{
		// The depth and the g, as Go 1.26 keeps them at 16 and 20.
		{[]string{"inC", "runtime.asmcgocall", "runtime.systemstack_switch", "main.caller", "main.outer"},
			map[uint64]uint64{system: base + 0x250, system + 4 + 16: 0x100, system + 4 + 20: g, gor + 0xf00: base + 0x410, gor + 0xf04: base + 0x510},
			"inC runtime.asmcgocall main.caller main.outer "},
		{[]string{"runtime.cgocallbackg", "runtime.cgocallback", "runtime.systemstack_switch", "main.caller", "main.outer"},
			map[uint64]uint64{system: base + 0x210, system + 4: base + 0x304, system + 8: base + 0x410, system + 12: base + 0x510},
			"runtime.cgocallbackg runtime.cgocallback runtime.systemstack_switch main.caller main.outer "},
	} {
		memory := armMemory{}
		for i := range uint64(0x100) {
			memory[system+4*i], memory[gor+0xf00+4*i], memory[g+4*i] = 0, 0, 0
		}
		memory[g], memory[g+4], memory[g+24] = gor, gor+0x1000, m
		for at, v := range c.words {
			memory[at] = v
		}
		regs := cpu.Regs{Arch: cpu.ARM}
		regs.Set(cpu.ARM.PC, base+0x110)
		regs.Set(cpu.ARM.SP, system)
		w := New(Best, core.OSLinux, core.NewModuleMap([]core.ModuleMapping{{Module: 0, Start: base, Size: 0x1000}}, core.OverlapTruncate), armProgram{goProgram{c.names}})
		w.Space = memory
		s := w.Walk(regs, memory)
		have := ""
		for i := range s.Frames {
			if s.Frames[i].Trust == TrustScan {
				have += "by a scan: "
			}
			have += s.Frames[i].Symbol.Name + " "
		}
		if have != c.want {
			t.Errorf("have %s\nwant %s\n%+v", have, c.want, s.Stop)
		}
	}
}

// armMemory is goMemory with words of four bytes.
type armMemory map[uint64]uint64

func (m armMemory) Word(addr uint64, size int) (uint64, bool) { v, ok := m[addr]; return v, ok }
func (m armMemory) Stack(sp uint64) unwind.Memory {
	if _, ok := m[sp&^3]; ok {
		return m
	}
	return nil
}
func (m armMemory) Mapping(uint64) (Mapping, bool)      { return Mapping{}, false }
func (m armMemory) Executable(uint64) (yes, known bool) { return false, false }
