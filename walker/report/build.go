package report

import (
	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// Input is what a report is made of.
type Input struct {
	Dump *core.Dump
	// Stacks are parallel to Dump.Threads; missing ones are threads without frames.
	Stacks []walker.Stack
	// Pending says that a thread is not walked yet; nil if all are.
	Pending func(thread int) bool
	// Symbols tells of a module's symbol file; nil if there are none.
	Symbols func(module int) ModuleSymbols
	// Policy is the name of the policy that the stacks were walked with.
	Policy string
	// Merged: the policy has entries of the module list that are parts of one file as one module.
	Merged bool
	// Demangle makes a name readable. Nil leaves display names empty; Report.Demangle fills them later.
	Demangle func(string) string
	// ExtraDiags are told of beside the dump's own.
	ExtraDiags []Diagnostic
}

// ModuleSymbols is what a session knows of a module's symbols. A State of "" is worked out from the frames.
type ModuleSymbols struct {
	State          SymbolState
	File, ID, Name string // of the file in use
	Warnings       []string
	Looked         bool // somebody asked for the module's symbols
	// Sparse: the file was not read as a whole; answers come from searching it.
	Sparse bool
	// NoUnwind: the file was read, and has no unwind records at all.
	NoUnwind bool
	// UnwindNotes are what was passed over in records that frames were found with, the first of each kind with its line;
	// UnwindNoted is how many records have such a note.
	UnwindNotes []string
	UnwindNoted int
	// MismatchFile, MismatchID and MismatchItem are a given file of the right name and another id; "" and -1 if none.
	MismatchFile, MismatchID string
	MismatchItem             int
	// Binary is the executable, library or debug file in use, beside the symbol file or instead of one (File is then the same);
	// BinaryByName: nothing but its name and size says that it is the module's.
	Binary       string
	BinaryByName bool
	// Has is what the files have, as far as they have been looked at.
	Has symbol.Contents
	// IgnoredCFI: a person does not want the module's call frame information used.
	IgnoredCFI bool
}

// Build makes the report.
func Build(in Input) *Report {
	d := in.Dump
	b := &builder{in: in, d: d, r: &Report{Version: Version, Policy: in.Policy, MainModule: -1, FirstThread: -1}}
	r := b.r
	r.Dump = Dump{Name: d.Src.Name, Size: d.Src.Size, Time: d.Header.Time, Flags: d.Header.Flags, WordSize: wordSize(in)}
	if d.Micro != nil {
		r.Dump.Micro, r.Dump.Size = true, d.Micro.Size
		r.Process.Product, r.Process.Type = d.Micro.Product, d.Micro.ProcessType
	}
	r.System = system(d)
	b.modules()
	b.threads()
	b.crash()
	b.symbolStates()
	b.wanted()
	b.process()
	b.said()
	b.linux()
	b.extras()
	r.Diagnostics = diagnostics(d, in.ExtraDiags)
	b.findings()
	if in.Demangle != nil {
		r.Demangle(in.Demangle)
	}
	return r
}

type builder struct {
	in      Input
	d       *core.Dump
	r       *Report
	symbols []ModuleSymbols
	told    map[uint64]told
}

// told is how the rules of a row were described.
type told struct {
	row          *unwind.Row
	arch         *cpu.Arch
	rule, origin string
}

// rule describes the rules that a frame was found by, of the called frame's address. A recursion has the same ones again and again.
func (b *builder) rule(f *walker.Frame, callee uint64) (rule, place string) {
	if f.Source != walker.SourceCFI {
		return f.Row.Describe(f.Regs.Arch), origin(&f.Row)
	}
	t, ok := b.told[callee]
	if !ok || t.arch != f.Regs.Arch || !sameRules(t.row, &f.Row) {
		t = told{&f.Row, f.Regs.Arch, f.Row.Describe(f.Regs.Arch), origin(&f.Row)}
		if b.told == nil {
			b.told = map[uint64]told{}
		}
		b.told[callee] = t
	}
	return t.rule, t.origin
}

// sameRules: two rows are described alike.
func sameRules(a, b *unwind.Row) bool {
	if a.CFA != b.CFA || a.RA != b.RA || a.Signal != b.Signal || a.OthersLost != b.OthersLost || a.Topmost != b.Topmost ||
		a.Signed != b.Signed || a.Origin != b.Origin || len(a.Saved) != len(b.Saved) {
		return false
	}
	for i := range a.Saved {
		if a.Saved[i] != b.Saved[i] {
			return false
		}
	}
	return true
}

func (b *builder) modules() {
	d, r := b.d, b.r
	r.Modules = make([]Module, len(d.Modules))
	b.symbols = make([]ModuleSymbols, len(d.Modules))
	for i := range d.Modules {
		m := &d.Modules[i]
		r.Modules[i] = Module{
			Base: m.Base, Size: m.Size, Name: m.Name,
			DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeIDRust(),
			DebugFiles: Words{m.DebugFileBreakpad(), m.DebugFileRust()},
			DebugIDs:   Words{m.DebugIDBreakpad(), m.DebugIDRust()},
			Version:    Words{m.VersionBreakpad(), m.VersionRust()},
			Warnings:   []string{}, Mappings: []Mapping{},
		}
		b.symbols[i].MismatchItem = -1
		if b.in.Symbols != nil {
			b.symbols[i] = b.in.Symbols(i)
		}
	}
	if len(r.Modules) > 0 {
		// The executable is the first of the list; every writer puts it there.
		r.MainModule = 0
		r.Modules[0].Main = true
	}
	r.ModulesByAddress = modulesByAddress(d)
	b.mappings()
	r.Unloaded = make([]UnloadedModule, len(d.Unloaded))
	for i := range d.Unloaded {
		u := &d.Unloaded[i]
		r.Unloaded[i] = UnloadedModule{Base: u.Base, Size: u.Size, Name: u.Name, CodeID: u.CodeID()}
	}
}

func (b *builder) threads() {
	d, r := b.d, b.r
	r.Threads = make([]Thread, len(d.Threads))
	for i := range d.Threads {
		t := &r.Threads[i]
		*t = Thread{Index: i, ID: d.Threads[i].ID, Name: d.Threads[i].Name, Named: d.Threads[i].Named, Frames: []Frame{}, Stop: Stop{Attempts: []Attempt{}}}
		t.LastError, t.Times = lastError(d, i), threadTimes(d, t.ID)
		if t.Pending = b.in.Pending != nil && b.in.Pending(i); t.Pending || i >= len(b.in.Stacks) {
			continue
		}
		s := &b.in.Stacks[i]
		t.Omitted = s.Stop.Kind == walker.StopDumpThread
		t.Frames = make([]Frame, len(s.Frames))
		for j := range s.Frames {
			t.Frames[j] = b.frame(s.Frames, j)
		}
		var arch *cpu.Arch
		if n := len(s.Frames); n > 0 {
			arch = s.Frames[n-1].Regs.Arch
		}
		t.Stop = Stop{Kind: string(s.Stop.Kind), Detail: s.Stop.Detail, Attempts: attempts(s.Stop.Attempts, arch)}
	}
}

func (b *builder) frame(all []walker.Frame, i int) Frame {
	f := &all[i]
	out := Frame{
		PC: f.PC, Lookup: f.Lookup, Source: string(f.Source), Trust: f.Trust.String(), Module: f.Module, RVA: f.RVA, Listed: f.Module,
		Inlines: []Inline{}, Unloaded: []UnloadedHit{}, Regs: &f.Regs,
		Attempts: attempts(f.Attempts, f.Regs.Arch),
	}
	if i > 0 {
		out.Rule, out.Origin = b.rule(f, all[i-1].Lookup)
	}
	if f.Module < 0 {
		out.Unloaded = unloadedHits(b.d.Unloaded, f.Lookup)
		return out
	}
	m := &b.r.Modules[f.Module]
	m.Frames++
	for _, p := range m.Mappings {
		if f.Lookup-p.Start < p.Size {
			out.Listed = p.Listed
		}
	}
	out.MissingSymbols = f.Answer == symbol.NoFile
	out.Forced = b.forced(f.Module) || i > 0 && all[i-1].Module >= 0 && b.forced(all[i-1].Module) && fromSymbols(f.Trust)
	if f.Answer != symbol.Yes {
		return out
	}
	s := &f.Symbol
	out.Function.Raw, out.HasFunction = s.Name, s.Name != ""
	out.FunctionStart = f.Address(s.Start)
	out.Public, out.Multiple, out.From = s.Public, s.Multiple, BaseName(s.From)
	out.File, out.Line, out.HasLine = s.File, s.Line, s.HasLine
	if s.HasLine {
		out.LineStart = f.Address(s.LineStart)
	}
	if n := len(s.Inlines); n > 0 {
		out.Inlines = make([]Inline, n)
	}
	for i, in := range s.Inlines {
		out.Inlines[i] = Inline{Function: Name{Raw: in.Name}, File: in.File, Line: in.Line, HasLine: in.HasLine, Start: f.Address(in.Start)}
	}
	return out
}

// forced reports whether a module's symbols are of another build.
func (b *builder) forced(module int) bool { return b.symbols[module].State == SymbolsForced }

// fromSymbols reports whether a frame was found with its callee's symbols: if those were forced, so is the frame.
func fromSymbols(t walker.Trust) bool { return t == walker.TrustCFI || t == walker.TrustCFIScan }

func attempts(all []walker.Attempt, arch *cpu.Arch) []Attempt {
	out := make([]Attempt, len(all))
	for i := range all {
		a := &all[i]
		out[i] = Attempt{Source: string(a.Source), Origin: origin(&a.Row), Reason: a.Reason}
		if a.Row.CFA.Kind != 0 || a.Row.RA.Kind != 0 {
			out[i].Rule = a.Row.Describe(arch)
		}
	}
	return out
}

// origin names where rules came from without the folders of this machine: reports are passed on.
func origin(r *unwind.Row) string {
	o := r.Origin
	o.File = BaseName(o.File)
	return o.String()
}

// crash fills in the exception and the thread to show first. Only the exception's thread counts if there is an exception,
// else the one that asked for the dump; the thread that wrote the dump is neither, because it was not walked.
func (b *builder) crash() {
	d, r := b.d, b.r
	r.Assertion = assertion(d)
	if e := d.Exception; e != nil {
		why := reason.Decode(d)
		r.Crash = &Crash{
			Reason:  Words{why.Breakpad, why.Rust},
			Address: why.Address, RustAddress: why.RustAddress,
			Params: append([]uint64{}, e.Params...), ThreadID: e.ThreadID,
		}
		r.Crash.Analysis = analysis.Analyze(d)
		r.Crash.Event = r.Crash.Analysis.Event
		r.Crash.Thread = d.ThreadByID(e.ThreadID)
		r.Crash.Requested = why.Kind == reason.NoCrash
		if t := r.Crash.Thread; t >= 0 {
			r.Threads[t].Crashed = !r.Crash.Requested
			if r.Crash.Analysis.Overflow != analysis.No {
				r.Crash.Recursion = recursion(r.Threads[t].Frames)
			}
		}
	}
	r.FirstThread, r.HasRequesting = firstThread(d)
}

// FirstThread is the index of the thread that a dump's report shows first, -1 if there is none. It is known before
// anything is walked.
func FirstThread(d *core.Dump) int {
	i, _ := firstThread(d)
	return i
}

// firstThread also says whether it is the exception's thread, or the one that asked for the dump.
func firstThread(d *core.Dump) (first int, requesting bool) {
	wanted := -1
	if e := d.Exception; e != nil {
		wanted = d.ThreadByID(e.ThreadID)
	} else if d.Breakpad != nil && d.Breakpad.RequestingThread != nil {
		wanted = d.ThreadByID(*d.Breakpad.RequestingThread)
	}
	if wanted >= 0 && !WroteDump(d, wanted) {
		return wanted, true
	}
	first = -1
	for i := range d.Threads {
		if first < 0 || WroteDump(d, first) {
			first = i
		}
	}
	return first, false
}

// WroteDump reports whether a thread is the one that wrote the dump, and is left out for that.
func WroteDump(d *core.Dump, thread int) bool {
	b := d.Breakpad
	return b != nil && b.DumpThread != nil && *b.DumpThread == d.Threads[thread].ID
}

// Demangle fills in every display name.
func (r *Report) Demangle(f func(string) string) {
	seen := map[string]string{}
	fill := func(n *Name) {
		if n.Raw == "" {
			return
		}
		d, ok := seen[n.Raw]
		if !ok {
			d = f(n.Raw)
			seen[n.Raw] = d
		}
		n.Display = d
	}
	if r.Crash != nil && r.Crash.Recursion != nil {
		fill(&r.Crash.Recursion.Function)
	}
	for i := range r.Threads {
		for j := range r.Threads[i].Frames {
			fr := &r.Threads[i].Frames[j]
			fill(&fr.Function)
			for k := range fr.Inlines {
				fill(&fr.Inlines[k].Function)
			}
		}
	}
}
