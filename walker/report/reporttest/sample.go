// Package reporttest has sample reports for the tests of renderers: every kind of frame, thread and
// module, with values that are easy to recognize in the output.
package reporttest

import (
	"fmt"

	"bytes"
	"encoding/binary"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// Regs makes registers from a map of names to values.
func Regs(arch *cpu.Arch, values map[string]uint64) cpu.Regs {
	g := cpu.Regs{Arch: arch}
	for name, v := range values {
		if r, ok := arch.Lookup(name); ok {
			g.Set(r, v)
		}
	}
	return g
}

// AllRegs sets every register to its index in the table times 0x11, and pc and sp to the arguments.
func AllRegs(arch *cpu.Arch, pc, sp uint64) cpu.Regs {
	g := cpu.Regs{Arch: arch}
	for i := range arch.Names {
		g.Set(cpu.Reg(i), uint64(i)*0x11)
	}
	g.Set(arch.PC, pc)
	g.Set(arch.SP, sp)
	return g
}

func dump(name string) *core.Dump {
	data := make([]byte, 4096)
	d := &core.Dump{Src: input.New(name, bytes.NewReader(data), int64(len(data))), Memory: &core.Memory{}}
	d.Header.Order = binary.LittleEndian
	d.Header.Time = 1_700_000_100
	return d
}

// Windows returns a crash of a 32-bit Windows program. It has inlined calls, a PUBLIC name, a
// module without symbols and one without an id, frames in no module and in an unloaded one,
// assigned symbols, the thread that wrote the dump before the crashed one, and a thread without
// frames.
func Windows() report.Input {
	d := dump("C:/dumps/app crash.dmp")
	d.System = &core.SystemInfo{OS: core.Windows, PlatformID: 2, Processor: core.ProcX86, Level: 6, Revision: 0x0d08,
		CPUCount: 1, Major: 5, Minor: 1, Build: 2600, CSDVersion: "Service Pack 2"}
	copy(d.System.CPUBytes[:], "GenuineIntel")
	pid := uint32(4711)
	d.Misc = &core.MiscInfo{Size: 24, Flags: 3, ProcessID: pid, CreateTime: 1_700_000_000, HasProcessID: true, HasTimes: true}
	d.Exception = &core.Exception{ThreadID: 20, Code: 0xc0000005, Address: 0x401010, Params: []uint64{1, 0x45}}
	d.Exceptions = []core.Exception{*d.Exception}
	writer := uint32(10)
	d.Breakpad = &core.BreakpadInfo{DumpThread: &writer}
	d.Assertion = &core.Assertion{Expression: "p | q", Function: "f", File: "a.cc", Line: 12, Type: 1}
	d.Threads = []core.Thread{{ID: 10}, {ID: 20, Name: "main \"quoted\"", Named: true}, {ID: 30}, {ID: 40}}
	d.Modules = []core.Module{
		module(0x400000, 0x10000, `C:\bin\app.exe`, `C:\build\app.pdb`),
		module(0x700000, 0x1000, `C:\bin\nopdb.dll`, ""),
		module(0x600000, 0x2000, `C:\bin\plugin.dll`, `plugin.PDB`),
		module(0x500000, 0x1000, `C:\bin\other.dll`, "other.pdb"),
	}
	d.Unloaded = []core.UnloadedModule{{Base: 0x900000, Size: 0x1000, TimeDateStamp: 0x12345678, Name: "gone.dll"},
		{Base: 0x900800, Size: 0x1000, Name: "alsogone.dll"}}

	named := symbol.Symbol{Name: "ns::crash|er(int)", Start: 0x1000, Size: 0x100, File: `c:\src\app.cc`, Line: 58, HasLine: true, LineStart: 0x100d,
		Inlines: []symbol.Inline{
			{Name: "_ZN3foo3barEv", File: `c:\src\inner.h`, Line: 7, HasLine: true, Start: 0x100e},
			{Name: "middle", Start: 0x1008},
		}}
	public := symbol.Symbol{Name: "_DllMain@12", Start: 0x80, Public: true, Extent: symbol.Nearest}
	zero := symbol.Symbol{Name: "generated", Start: 0x2000, Size: 0x40, File: `c:\src\gen.cc`, HasLine: true, LineStart: 0x2010, Multiple: true}
	arch := cpu.X86
	crashed := walker.Stack{
		Frames: []walker.Frame{
			{PC: 0x401010, Lookup: 0x401010, Regs: AllRegs(arch, 0x401010, 0x12f000), Trust: walker.TrustContext, Module: 0, Answer: symbol.Yes, Symbol: named},
			{PC: 0x402015, Lookup: 0x402014, Regs: partial(0x402015, 0x12f010), Trust: walker.TrustCFI, Module: 0, Answer: symbol.Yes, Symbol: zero,
				Row: row("app.sym", "STACK CFI", 812)},
			{PC: 0x600100, Lookup: 0x6000ff, Regs: partial(0x600100, 0x12f020), Trust: walker.TrustFramePointer, Module: 2, Answer: symbol.Yes, Symbol: public,
				Row:      row("", "frame pointer", 0),
				Attempts: []walker.Attempt{{Source: walker.SourceCFI, Reason: "no STACK CFI covers the address"}}},
			{PC: 0x600200, Lookup: 0x6001ff, Regs: partial(0x600200, 0x12f024), Trust: walker.TrustCFIScan, Module: 2, Answer: symbol.No},
			{PC: 0x700010, Lookup: 0x70000f, Regs: partial(0x700010, 0x12f030), Trust: walker.TrustScan, Module: 1, Answer: symbol.NoFile,
				Tail: &walker.TailCall{Module: 1, Symbol: symbol.Symbol{Name: "jumps_on"}}},
			{PC: 0x500010, Lookup: 0x50000f, Regs: partial(0x500010, 0x12f034), Trust: walker.TrustScan, Module: 3, Answer: symbol.NoFile},
			{PC: 0x900901, Lookup: 0x900900, Regs: partial(0x900901, 0x12f040), Trust: walker.TrustScan, Module: -1},
			{PC: 0x41414141, Lookup: 0x41414140, Regs: partial(0x41414141, 0x12f044), Trust: walker.TrustPrewalked, Module: -1},
		},
		Stop: walker.Stop{Kind: walker.StopNothingFound, Detail: "nothing was found",
			Attempts: []walker.Attempt{{Source: walker.SourceScan, Reason: "none of 40 words is a return address"}}},
	}
	return placed(report.Input{
		Dump: d, Policy: "best",
		Stacks: []walker.Stack{
			{Stop: walker.Stop{Kind: walker.StopDumpThread}},
			crashed,
			{Frames: []walker.Frame{{PC: 0x401010, Lookup: 0x401010, Regs: AllRegs(arch, 0x401010, 0x13f000), Trust: walker.TrustContext, Module: 0, Answer: symbol.No}},
				Stop: walker.Stop{Kind: walker.StopEnd}},
			{Stop: walker.Stop{Kind: walker.StopNoContext, Detail: "the context is beyond the end"}},
		},
		Symbols: func(m int) report.ModuleSymbols {
			switch m {
			case 0:
				return report.ModuleSymbols{State: report.SymbolsLoaded, File: "syms/app.sym", ID: d.Modules[0].DebugID, Name: "app.pdb", Requested: true,
					Warnings: []string{"app.sym line 9: unknown record"}}
			case 2:
				return report.ModuleSymbols{State: report.SymbolsAssigned, File: "plugin.sym", ID: "BAD0", Name: "plugin.pdb", Requested: true}
			case 3:
				return report.ModuleSymbols{Requested: true, Mismatch: report.Mismatch{File: "other.sym", ID: "0123", Item: 5}}
			}
			return report.ModuleSymbols{Requested: true}
		},
		Demangle: func(s string) string {
			if s == "_ZN3foo3barEv" {
				return "foo::bar()"
			}
			return s
		},
		ExtraDiags: []report.Diagnostic{{Severity: "warning", Text: "tab\there, \x01 and \xff"}},
	})
}

// Linux returns a dump of a 64-bit ARM program without a crash. The second thread requested it.
func Linux() report.Input {
	d := dump("dump.dmp")
	d.System = &core.SystemInfo{OS: core.OSLinux, PlatformID: 0x8201, Processor: core.ProcARM64, CPUCount: 8, CSDVersion: "Linux 6.1.0 #1 SMP aarch64"}
	asked := uint32(2)
	d.Breakpad = &core.BreakpadInfo{RequestingThread: &asked}
	d.Threads = []core.Thread{{ID: 1}, {ID: 2}}
	d.Modules = []core.Module{
		module(0x5500000000, 0x2000, "/usr/bin/tool", "tool"),
		// This module overlaps the first, which Breakpad truncates; it does not list the third, at
		// the same address.
		module(0x5500001000, 0x2000, "/usr/lib/liba.so", "liba.so"),
		module(0x5500001000, 0x1000, "/usr/lib/libdup.so", "libdup.so"),
	}
	arch := cpu.ARM64
	fn := symbol.Symbol{Name: "work", Start: 0x100, Size: 0x100, File: "/src/tool.c", Line: 3, HasLine: true, LineStart: 0x120}
	return placed(report.Input{
		Dump: d, Policy: "breakpad",
		Stacks: []walker.Stack{
			{Frames: []walker.Frame{{PC: 0x5500001800, Lookup: 0x5500001800, Regs: AllRegs(arch, 0x5500001800, 0x7f00), Trust: walker.TrustContext, Module: 1, Answer: symbol.NoFile}}},
			{Frames: []walker.Frame{
				{PC: 0x5500000130, Lookup: 0x5500000130, Regs: AllRegs(arch, 0x5500000130, 0x7e00), Trust: walker.TrustContext, Module: 0, Answer: symbol.Yes, Symbol: fn},
				{PC: 0x5500000134, Lookup: 0x5500000130, Regs: Regs(arch, map[string]uint64{"pc": 0x5500000134, "sp": 0x7e10, "fp": 0x7e20}), Trust: walker.TrustLeaf, Module: 0, Answer: symbol.Yes, Symbol: fn},
			}},
		},
	})
}

// placed sets the frames' module-relative addresses, as the walker does.
func placed(in report.Input) report.Input {
	for _, s := range in.Stacks {
		for i := range s.Frames {
			if f := &s.Frames[i]; f.Module >= 0 {
				f.RVA = f.Lookup - in.Dump.Modules[f.Module].Base
			}
		}
	}
	return in
}

func module(base, size uint64, name, debug string) core.Module {
	m := core.Module{Base: base, Size: size, Name: name, DebugFile: debug}
	if debug != "" {
		m.CodeView = core.CodeView{Signature: core.SigRSDS, Age: 1, File: debug}
		for i := range m.CodeView.GUID {
			m.CodeView.GUID[i] = byte(base>>20) + byte(base>>12) + byte(i)
		}
		m.DebugID, m.CodeID = m.StoredID(), fmt.Sprintf("00000000%x", size)
	}
	return m
}

func partial(pc, sp uint64) cpu.Regs {
	return Regs(cpu.X86, map[string]uint64{"eip": pc, "esp": sp, "ebp": sp + 8})
}

func row(file, part string, line int) unwind.Row {
	return unwind.Row{
		CFA:    unwind.Rule{Kind: unwind.FromReg, Reg: cpu.X86.SP, Offset: 8},
		RA:     unwind.Rule{Kind: unwind.AtCFA, Offset: -4},
		Origin: unwind.Origin{File: file, Part: part, Line: line},
	}
}
