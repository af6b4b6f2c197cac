package session

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// placeModules tells the dump what the modules' files say about where their programs begin, if that is
// in doubt. Both peers take every entry for a program.
func (s *Session) placeModules(policy walker.Policy) {
	for i := range s.modules {
		ms := &s.modules[i]
		ms.unplaced = ""
		if policy.MergeEntries && s.StartInDoubt(i) {
			ms.programFile(func(f core.ProgramFile) { ms.unplaced = s.PlaceModule(i, f) })
		}
	}
}

// programFile calls do with what the files of a module's very build say about its program.
func (ms *moduleSymbols) programFile(do func(f core.ProgramFile)) {
	var f core.ProgramFile
	if ms.item != nil && !ms.assigned {
		ms.item.WithSym(true, func(sym *symfile.File) { f.From, f.To = sym.CodeBounds() })
	}
	if ms.bin == nil || ms.binAssigned {
		do(f)
		return
	}
	for _, g := range ms.bin.Identity.Segments {
		f.Segments = append(f.Segments, core.Segment{Start: g.Start, Size: g.Size, Offset: g.Offset, FileSize: g.FileSize, Exec: g.Exec})
	}
	ms.bin.WithBinary(func(b symbols.Binary) {
		f.Read = b.Code
		do(f)
	})
}

// binary returns the module's binary, or nil.
func (y *lookups) binary(module int) *symbols.File {
	ms := &y.s.modules[module]
	ms.requested = true
	if ms.unplaced != "" {
		return nil
	}
	if !y.images {
		return ms.bin
	}
	y.s.lookForImage(module)
	return ms.program()
}

// lookForImage opens a module's program in the dump's memory, once, if no file holds it. If there
// is its debug information, the program must take that in.
func (s *Session) lookForImage(module int) {
	ms := &s.modules[module]
	if ms.bin != nil && ms.bin.Identity.Code || ms.imageLooked || s.opt.OpenImage == nil {
		return
	}
	ms.imageLooked = true
	b := s.opt.OpenImage(s.Dump, module)
	if b == nil {
		return
	}
	name := ""
	if ms.bin != nil {
		name = ms.bin.Name()
		if took, err := b.Attach(ms.bin.Source()); !took || err != nil {
			return
		}
	}
	ms.image = symbols.Image(name, b)
}

// program returns the source of the module's symbols: the program in memory, or the module's
// binary, or nil.
func (ms *moduleSymbols) program() *symbols.File {
	if ms.image != nil {
		return ms.image
	}
	return ms.bin
}

// exact reports whether the module's program is better than a symbol file made of it, and of this very
// build.
func (ms *moduleSymbols) exact() bool {
	f := ms.program()
	return f != nil && f.Identity.ExactRules && !ms.binAssigned
}

// IgnoreCFI makes walks of a dump do without a module's call frame information, or with it again:
// of its symbol file and of its binary. Nothing happens if there is no such dump or module.
func (s *Session) IgnoreCFI(module int, ignore bool) {
	if module < 0 || module >= len(s.Modules) {
		return
	}
	if s.ignored[module] == ignore {
		return
	}
	if s.ignored == nil {
		s.ignored = map[int]bool{}
	}
	s.ignored[module] = ignore
	s.invalidate()
}

// programBytes reads the program's bytes at an address out of the binaries of the dump's modules.
func (s *Session) programBytes(addr uint64, p []byte) (n int) {
	i, rva := s.ModuleAt(addr)
	if i < 0 || s.modules[i].bin == nil || s.modules[i].binAssigned || s.modules[i].unplaced != "" {
		return 0
	}
	s.modules[i].bin.WithBinary(func(b symbols.Binary) { n = b.Code(rva, p) })
	return n
}

// programSection returns the section of a module's program that an address is in.
func (s *Session) programSection(addr uint64) (core.Section, bool) {
	i, rva := s.ModuleAt(addr)
	if i < 0 || s.modules[i].bin == nil || s.modules[i].binAssigned || s.modules[i].unplaced != "" {
		return core.Section{}, false
	}
	for _, g := range s.modules[i].bin.Identity.Sections {
		if rva-g.Start < g.Size {
			return core.Section{Start: addr - (rva - g.Start), Size: g.Size, Name: g.Name, Write: g.Write, Exec: g.Exec}, true
		}
	}
	return core.Section{}, false
}

// assignedCode reads instructions of the programs that the user assigned to modules of another build.
type assignedCode struct{ s *Session }

// Read implements walker.Code.
func (a assignedCode) Read(addr uint64, p []byte) (n int) {
	i, rva := a.s.ModuleAt(addr)
	if i < 0 || a.s.modules[i].bin == nil || !a.s.modules[i].binAssigned {
		return 0
	}
	a.s.modules[i].bin.WithBinary(func(b symbols.Binary) { n = b.Code(rva, p) })
	return n
}

// process is what the walker asks of the process's memory: instructions, what may be executed, and
// which memory the dump has.
type process struct {
	*core.Dump
	places *analysis.MemoryMap
}

// Read implements walker.Code.
func (p *process) Read(addr uint64, into []byte) int { return p.Code(addr, into) }

// Executable implements walker.Space. The memory map is read when it is first asked for.
func (p *process) Executable(addr uint64) (yes, known bool) {
	if p.places == nil {
		p.places = analysis.NewMemoryMap(p.Dump)
	}
	return p.places.Executable(addr)
}

// Mapping implements walker.Space.
func (p *process) Mapping(addr uint64) (walker.Mapping, bool) {
	if p.places == nil {
		p.places = analysis.NewMemoryMap(p.Dump)
	}
	if place := p.places.At(addr); place != nil && place.Mapped {
		return walker.Mapping{End: place.End, Name: place.Name}, true
	}
	return walker.Mapping{}, false
}

// Stack: after a stack overflow the stack pointer is in the guard page below the stack, and no
// dump has anything.
func (p *process) Stack(sp uint64) unwind.Memory {
	const page = 4096
	for _, at := range [...]uint64{sp, (sp + page - 1) &^ (page - 1)} {
		if m := p.StackAround(-1, at); m != nil {
			return m
		}
	}
	return nil // an untyped nil: the walker asks
}

// describe adds a module's binary to what a report says about its symbols.
func (ms *moduleSymbols) describe(m *core.Module, out *report.ModuleSymbols) {
	f := ms.bin
	if ms.item == nil {
		out.File, out.ID, out.Name = f.Name(), f.ID(), f.Known.Name
		out.UnwindNotes, out.UnwindNoted = ms.odd, len(ms.oddLines)
		switch {
		case ms.binAssigned:
			out.State = report.SymbolsAssigned
		case ms.requested:
			out.State = report.SymbolsLoaded
		}
	}
	out.Binary, out.BinaryByName = f.Name(), ms.byName
	out.Warnings = slices.Clone(out.Warnings)
	ofHeader, _ := f.Warnings()
	ofLookups, _ := ms.program().Warnings()
	ms.program().WithBinary(func(b symbols.Binary) {
		all := b.Warnings()
		for _, more := range [][]string{ofHeader, ofLookups, all[:min(len(all), maxWarnings)]} {
			for _, w := range more {
				if !slices.Contains(out.Warnings, w) {
					out.Warnings = append(out.Warnings, w)
				}
			}
		}
		if !ms.requested {
			return
		}
		has := b.Has()
		if has.NoProgram {
			has.Missing = append(has.Missing, symbol.MissingProgram(core.FileName(m.Name), f.Identity.Arch))
		}
		out.NoUnwind = (ms.item == nil || out.NoUnwind) && !has.CFI && !has.SFrame
		out.Has = merge(out.Has, has)
	})
}

// maxWarnings is how many of the warnings of a binary's parts a report has.
const maxWarnings = 20

// merge joins what two files know about a module.
func merge(a, b symbol.Contents) symbol.Contents {
	names := func(c *symbol.Contents) bool { return c.Functions || c.OnlyExports }
	only := (a.OnlyExports || !names(&a)) && (b.OnlyExports || !names(&b)) && (a.OnlyExports || b.OnlyExports)
	out := symbol.Contents{CFI: a.CFI || b.CFI, SFrame: a.SFrame || b.SFrame, Functions: a.Functions || b.Functions, Lines: a.Lines || b.Lines,
		Inlines: a.Inlines || b.Inlines, OnlyExports: only && !a.Functions && !b.Functions, Parts: append(a.Parts, b.Parts...), Missing: append(a.Missing, b.Missing...),
		NoProgram: b.NoProgram && !a.CFI, DebugLayout: cmp.Or(b.DebugLayout, a.DebugLayout)}
	if !a.Functions && !a.Lines {
		out.DebugFile, out.DebugID = b.DebugFile, b.DebugID
	}
	if !a.Lines { // a symbol file was made with it, or has what it has
		out.AltFile, out.AltID = b.AltFile, b.AltID
	}
	return out
}

// symContents returns what a symbol file is known to have. One that is only searched does not say
// which kinds of names it has; where it has lines, it has functions.
func symContents(f *symfile.File) symbol.Contents {
	c := &f.Counts
	out := symbol.Contents{CFI: f.HasUnwind(), Lines: f.HasLines(), Inlines: f.HasInlines()}
	out.Functions, out.OnlyExports = c.Funcs > 0, c.Funcs == 0 && c.Publics > 0
	names, section := c.Publics > 0, "PUBLIC"
	if !f.FullyIndexed() {
		out.Functions = out.Lines
		names, section = !out.Lines && f.HasSymbols(), "FUNC or PUBLIC"
	}
	for _, p := range []struct {
		there         bool
		what, section string
	}{{out.CFI, "unwind rules", "STACK"}, {out.Functions, "functions", "FUNC"}, {out.Lines, "lines", "line records"}, {out.Inlines, "inlined calls", "INLINE"},
		{names, "names", section}} {
		if p.there {
			out.Parts = append(out.Parts, symbol.Part{What: p.what, File: f.Name(), Section: p.section})
		}
	}
	return out
}

// programs has what the files of the dump's modules say about the process' memory, for reports. Files of
// other builds, which a user has assigned, say nothing of it.
type programs struct{ s *Session }

func (p programs) of(module int, do func(b symbols.Binary)) {
	ms := &p.s.modules[module]
	if ms.bin != nil && !ms.binAssigned && ms.unplaced == "" {
		ms.bin.WithBinary(do)
	}
}

func (p programs) at(addr uint64, do func(b symbols.Binary, rva, base uint64)) {
	if i, rva := p.s.ModuleAt(addr); i >= 0 {
		p.of(i, func(b symbols.Binary) { do(b, rva, addr-rva) })
	}
}

// Variables is for report.Program.
func (p programs) Variables(module int, names ...string) (found map[string]uint64) {
	base := p.s.Modules[module].Base
	for _, m := range p.s.ModuleMappings(p.s.opt.Policy.MergeEntries) {
		if m.Module == module && m.RVA == 0 {
			base = m.Start
		}
	}
	p.of(module, func(b symbols.Binary) {
		found = b.Variables(names)
		for n := range found {
			found[n] += base
		}
	})
	return found
}

// Initial is for report.Program.
func (p programs) Initial(addr uint64, to []byte) (n int) {
	p.at(addr, func(b symbols.Binary, rva, _ uint64) { n = b.Initial(rva, to) })
	return n
}

// Pointer is for report.Program.
func (p programs) Pointer(addr uint64) (v uint64, ok bool) {
	p.at(addr, func(b symbols.Binary, rva, base uint64) {
		if v, ok = b.Pointer(rva); ok {
			v += base
		}
	})
	return v, ok
}
