package session

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// Binary is an opened executable, library or debug file, see Options.OpenBinary. The addresses are
// module-relative. Errors are those of the file's reader, *input.NeedError among them.
type Binary interface {
	Identity() symbol.Identity
	// ChecksumID is the debug id that is made of a check sum of the whole file, as LLDB makes it
	// where it finds no other; "" if it finds one.
	ChecksumID() (string, error)
	// Lookup and Row answer as a symbol file does.
	Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error)
	Row(rva uint64) (unwind.Row, symbol.Answer, error)
	FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error)
	// Code reads those bytes of the program that are the same in memory, and returns how many it
	// read.
	Code(rva uint64, p []byte) int
	// Has is what is known of the module by now.
	Has() symbol.Contents
	// Warnings are what was passed over so far.
	Warnings() []string
	// Attach takes another file in if it belongs to this one: its debug file, split or
	// supplementary debug information. An error says why one that is named like such a file is not
	// it.
	Attach(src *input.Source) (bool, error)
}

// addBinary opens an executable, library or debug file; without anybody who can, the item says that
// it is one.
func (s *Session) addBinary(it *item, what string) {
	it.Kind = KindBinary
	if s.opt.OpenBinary == nil {
		it.NeedsDecoder = true
		it.Message = it.Name + ": " + what
		return
	}
	b, err := s.opt.OpenBinary(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	id := b.Identity()
	it.Usable, it.bin, it.ident = true, b, id
	it.know(KnownBinary(&id))
	wrong := b.Warnings()
	it.Warnings, it.WarningCount = wrong[:min(len(wrong), keptWarnings)], len(wrong)
	s.matchNew(it)
	s.attachAll()
}

// attachAll gives the binaries in use what belongs to them of the files that have come since.
func (s *Session) attachAll() {
	took := map[*item]bool{}
	for _, d := range s.dumps {
		for i := range d.modules {
			if main := d.modules[i].bin; main != nil && s.attach(main) {
				took[main] = true
			}
		}
	}
	for _, d := range s.dumps {
		for i := range d.modules {
			if took[d.modules[i].bin] {
				d.invalidate()
			}
		}
	}
}

// attach offers a binary the files that it has not seen yet, and says whether it took one.
// The list is gone through from where the last call ended (offered), so a file is offered once.
func (s *Session) attach(main *item) bool {
	took := false
	for ; main.offered < len(s.items); main.offered++ {
		it := s.items[main.offered]
		// A program of another build is not a part of it; debug files without a program may have
		// ids of their own.
		if it == main || it.bin == nil || it.ident.Code && !strings.EqualFold(it.ident.DebugID, main.ident.DebugID) {
			continue
		}
		ok, err := main.bin.Attach(it.src)
		took, it.part = took || ok, it.part || ok
		if err != nil && it.Message == "" && !s.matches(it) {
			it.Message = err.Error()
		}
	}
	return took
}

// matches reports whether a binary is of one of the dumps' modules by its own id.
func (s *Session) matches(it *item) bool {
	for _, d := range s.dumps {
		for i := range d.Modules {
			if exact, _ := it.isBinary(&d.Modules[i]); exact {
				return true
			}
		}
	}
	return false
}

// Binary returns the opened binary of an item, with the files attached so far that belong to it, or
// nil if the item is not a binary.
func (s *Session) Binary(itemID int) Binary {
	if itemID < 0 || itemID >= len(s.items) || s.items[itemID].bin == nil {
		return nil
	}
	s.attach(s.items[itemID])
	return s.items[itemID].bin
}

// IDInUse returns the debug id by which a dump's module knows the binary of an item; "" if none
// does. It is what a symbol file of the binary needs to be found for that dump.
func (s *Session) IDInUse(itemID int) string { return s.items[itemID].idInUse }

// matchBinary finds a module's binary: one that holds the program before one that holds debug
// information alone.
func (s *Session) matchBinary(d *dump, i int, candidates []candidate, ms *moduleSymbols) {
	m := &d.Modules[i]
	if it := d.assigned[assignment{i, KindBinary}]; it != nil {
		exact, _ := it.isBinary(m)
		ms.bin, ms.binAssigned = it, !exact
	} else {
		for _, c := range candidates {
			it := c.it
			if it.bin == nil {
				continue
			}
			exact, byName := it.isBinary(m)
			switch {
			case exact && (ms.bin == nil || ms.byName || it.ident.Code && !ms.bin.ident.Code):
				ms.bin, ms.byName = it, false
				it.idInUse = m.DebugID
			case byName && (ms.bin == nil || ms.byName && it.ident.Code && !ms.bin.ident.Code):
				ms.bin, ms.byName = it, true
			case !exact && it.sameName(m) && d.wrongArch(it.SymArch) == "":
				ms.mismatch = it
			}
		}
	}
}

// extendModules tells the dump how much memory the modules take, where it may say too little.
func (s *Session) extendModules(d *dump) {
	if !d.SizesAreLeast() {
		return
	}
	for i := range d.modules {
		ms := &d.modules[i]
		if ms.bin != nil && !ms.binAssigned {
			d.ExtendModule(i, ms.bin.ident.Size)
		}
		if ms.item == nil || ms.assigned {
			continue
		}
		if sym, err := s.open(ms.item); err == nil {
			d.ExtendModule(i, sym.End())
		}
	}
}

// placeModules tells the dump which segments the modules' programs have. Its entries may be of code
// alone, and a module may have no place that is known. Both peers take every entry for a program.
func (s *Session) placeModules(d *dump, policy walker.Policy) {
	for i := range d.modules {
		ms := &d.modules[i]
		var segments []core.Segment
		if ms.bin != nil && !ms.binAssigned {
			for _, g := range ms.bin.ident.Segments {
				segments = append(segments, core.Segment{Start: g.Start, Size: g.Size, Exec: g.Exec})
			}
		}
		ms.unplaced = policy.MergeEntries && !d.PlaceModule(i, segments)
	}
}

// binary returns the module's binary, or nil.
func (y *symbols) binary(module int) Binary {
	ms := &y.d.modules[module]
	ms.requested = true
	if ms.unplaced {
		return nil
	}
	y.s.lookForImage(y.d, module)
	if it := ms.program(); it != nil {
		return it.bin
	}
	return nil
}

// HoldsPrograms: a dump's memory has the beginning of one of its programs, and the unwind rules of
// its processor are in those (Options.OpenImage).
func (s *Session) HoldsPrograms(dumpIndex int) bool {
	d := s.Dump(dumpIndex)
	if d == nil || d.OS() != core.Windows || d.Arch() != nil && d.Arch().StackWIN && d.Wow64() == nil || d.Memory == nil {
		return false
	}
	for i := range d.Modules {
		var magic [2]byte
		if d.Memory.Read(d.Modules[i].Base, magic[:]) == len(magic) && string(magic[:]) == "MZ" {
			return true
		}
	}
	return false
}

// lookForImage opens a module's program in the dump's memory, once, if no file holds it. If there
// is its debug information, the program must take that in.
func (s *Session) lookForImage(d *dump, module int) {
	ms := &d.modules[module]
	if ms.bin != nil && ms.bin.ident.Code || ms.imageLooked || s.opt.OpenImage == nil {
		return
	}
	ms.imageLooked = true
	b := s.opt.OpenImage(d.Dump, module)
	if b == nil {
		return
	}
	image := &item{bin: b}
	if ms.bin != nil {
		image.Name = ms.bin.Name
		if took, err := b.Attach(ms.bin.src); !took || err != nil {
			return
		}
	}
	image.ident = b.Identity()
	ms.image = image
}

// program returns the source of the module's symbols: the program in memory, or the module's
// binary, or nil.
func (ms *moduleSymbols) program() *item {
	if ms.image != nil {
		return ms.image
	}
	return ms.bin
}

// exact reports whether the module's program is one of Windows, of this very build. Its function
// table describes each instruction, where the STACK CFI records that tools make of it have one rule
// for a whole function.
func (ms *moduleSymbols) exact() bool {
	it := ms.program()
	return it != nil && it.ident.OS == "windows" && !ms.binAssigned
}

// IgnoreCFI makes walks of a dump do without a module's call frame information, or with it again:
// of its symbol file and of its binary. Nothing happens if there is no such dump or module.
func (s *Session) IgnoreCFI(dumpIndex, module int, ignore bool) {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) || module < 0 || module >= len(s.dumps[dumpIndex].Modules) {
		return
	}
	d := s.dumps[dumpIndex]
	if d.ignored[module] == ignore {
		return
	}
	if d.ignored == nil {
		d.ignored = map[int]bool{}
	}
	d.ignored[module] = ignore
	d.invalidate()
}

// program reads the program's bytes at an address out of the binaries of the dump's modules.
func (d *dump) program(addr uint64, p []byte) int {
	i, rva := d.ModuleAt(addr)
	if i < 0 || d.modules[i].bin == nil || d.modules[i].binAssigned || d.modules[i].unplaced {
		return 0
	}
	return d.modules[i].bin.bin.Code(rva, p)
}

// assignedCode reads instructions of the programs that the user assigned to modules of another build.
type assignedCode struct{ d *dump }

// Read implements walker.Code.
func (a assignedCode) Read(addr uint64, p []byte) int {
	i, rva := a.d.ModuleAt(addr)
	if i < 0 || a.d.modules[i].bin == nil || !a.d.modules[i].binAssigned {
		return 0
	}
	return a.d.modules[i].bin.bin.Code(rva, p)
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

// Stack: after a stack overflow the stack pointer is in the guard page below the stack, of which no
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
	it, bin := ms.bin, ms.program().bin
	if ms.item == nil {
		out.File, out.ID, out.Name = it.Name, it.SymID, it.SymName
		out.UnwindNotes, out.UnwindNoted = ms.odd, len(ms.oddLines)
		switch {
		case ms.binAssigned:
			out.State = report.SymbolsAssigned
		case ms.requested:
			out.State = report.SymbolsLoaded
		}
	}
	for _, more := range [][]string{it.Warnings, ms.program().failures, bin.Warnings()} {
		out.Warnings = slices.Clone(out.Warnings)
		for _, w := range more[:min(len(more), keptWarnings)] {
			out.Warnings = once(out.Warnings, w)
		}
	}
	out.Binary, out.BinaryByName = it.Name, ms.byName
	if ms.requested {
		has := bin.Has()
		if has.NoProgram {
			has.Missing = append(has.Missing, symbol.MissingProgram(core.FileName(m.Name), it.ident.Arch))
		}
		out.NoUnwind = (ms.item == nil || out.NoUnwind) && !has.CFI && !has.SFrame
		out.Has = merge(out.Has, has)
	}
}

// merge joins what two files know of a module.
func merge(a, b symbol.Contents) symbol.Contents {
	names := func(c *symbol.Contents) bool { return c.Functions || c.OnlyExports }
	only := (a.OnlyExports || !names(&a)) && (b.OnlyExports || !names(&b)) && (a.OnlyExports || b.OnlyExports)
	out := symbol.Contents{CFI: a.CFI || b.CFI, SFrame: a.SFrame || b.SFrame, Functions: a.Functions || b.Functions, Lines: a.Lines || b.Lines,
		Inlines: a.Inlines || b.Inlines, OnlyExports: only && !a.Functions && !b.Functions, Parts: append(a.Parts, b.Parts...), Missing: append(a.Missing, b.Missing...),
		NoProgram: b.NoProgram && !a.CFI}
	if !a.Functions && !a.Lines {
		out.DebugFile, out.DebugID = b.DebugFile, b.DebugID
	}
	return out
}

// symContents returns what a symbol file is known to have. One that is only searched does not say
// which kinds of names it has; where it has lines, it has functions.
func (it *item) symContents() symbol.Contents {
	f, c := it.sym, &it.sym.Counts
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
			out.Parts = append(out.Parts, symbol.Part{What: p.what, File: it.Name, Section: p.section})
		}
	}
	return out
}
