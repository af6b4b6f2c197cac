package report

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// Input is what Build makes a report from.
type Input struct {
	Dump *core.Dump
	// Stacks has the stack of each thread of Dump.Threads. If it is shorter, the remaining threads
	// have no frames.
	Stacks []walker.Stack
	// Pending reports whether a thread is not walked yet. It is nil if all threads are walked.
	Pending func(thread int) bool
	// Symbols returns what is known about a module's symbols. It is nil if there are no symbol
	// files.
	Symbols func(module int) ModuleSymbols
	// Lookup returns the symbol at an address of a module. It is nil if there are no symbol files.
	Lookup func(module int, rva uint64) (symbol.Symbol, symbol.Answer)
	// Program is nil if there are no files of programs.
	Program Program
	// Policy is the name of the unwind policy.
	Policy string
	// Merged: the policy treats entries of the module list that are parts of one file as one
	// module.
	Merged bool
	// Demangle makes a name readable. If it is nil, display names stay empty; Report.Demangle can
	// fill them later.
	Demangle func(string) string
	// ExtraDiags are added to the dump's own diagnostics.
	ExtraDiags []Diagnostic
}

// ModuleSymbols is what a session knows about a module's symbols. If State is "", Build derives it
// from the frames.
type ModuleSymbols struct {
	State          SymbolState
	File, ID, Name string // of the file in use
	Warnings       []string
	Requested      bool // the walk looked for the module's symbols
	// Unplaced says why it is not known where the module's program begins, so that no symbols are
	// used; "" if it is.
	Unplaced string
	// IndexedOnDemand: there is no full index of the symbol file. Lookups search the file.
	IndexedOnDemand bool
	// NoUnwind: the symbol file has no unwind records.
	NoUnwind bool
	// UnwindNotes says what was ignored in unwind records that frames were found with: the first of
	// each kind, with its line. UnwindNoted is the number of records with such a note.
	UnwindNotes []string
	UnwindNoted int
	// Mismatch is a loaded file with the right name and another id.
	Mismatch Mismatch
	// Binary is the executable, library or debug file in use, in addition to the symbol file or
	// instead of one (File is then the same). BinaryByName: only its name, and its size or time
	// stamp, show that it is the module's.
	Binary       string
	BinaryByName bool
	// Has is what the files contain, as far as they have been read.
	Has symbol.Contents
	// IgnoredCFI: the user has disabled the module's call frame information.
	IgnoredCFI bool
}

// Build makes a report.
// The order of the steps matters: threads counts frames in modules, symbolStates and missing read
// those counts, and findings reads all of it.
func Build(in Input) *Report {
	d := in.Dump
	b := &builder{in: in, d: d, r: &Report{Version: Version, Policy: in.Policy, MainModule: -1, FirstThread: -1}}
	r := b.r
	r.Dump = Dump{Name: d.Src.Name, Size: d.Src.Size, Time: d.Header.Time, Flags: d.Header.Flags, WordSize: wordSize(in), Core: d.Registers != nil}
	r.Patterns = analysis.PatternsOf(d, r.Dump.WordSize)
	if d.Micro != nil {
		r.Dump.Micro, r.Dump.MicroArch, r.Dump.Size = true, d.Micro.Arch, d.Micro.Size
		r.Process.Product, r.Process.Type = d.Micro.Product, d.Micro.ProcessType
	}
	r.System = system(d)
	b.modules()
	b.threads()
	b.crash()
	b.exceptions()
	b.symbolStates()
	b.missing()
	b.publish()
	b.process()
	b.collectMessages()
	b.traces()
	b.linux()
	b.extras()
	r.Diagnostics = diagnostics(d, in.ExtraDiags)
	b.findings()
	if in.Demangle != nil {
		r.Demangle(in.Demangle)
	}
	return r
}

// builder is the state of one Build. symbols and layer have an element for each module of the dump.
type builder struct {
	in        Input
	d         *core.Dump
	r         *Report
	symbols   []ModuleSymbols
	layer     []layerUse
	described map[uint64]describedRow
	unloaded  map[uint64][]UnloadedHit // see unloadedAt
	// publishedIn has the publishers of programs by the folders of these. It is nil before it is needed.
	publishedIn map[string]*publisher
}

// layerUse is how the 64-bit layer of a 32-bit process uses a module: frames of second stacks, and
// whether a frame shows that its code is the layer's.
type layerUse struct {
	frames int
	code   bool
}

// describedRow is the text of a row's rules and origin.
type describedRow struct {
	row          *unwind.Row
	arch         *cpu.Arch
	rule, origin string
}

// rule returns the text of the rules and of the origin by which a frame was found. callee is the
// lookup address of the called frame. The text is cached, because all frames of a recursion have
// the same rules.
func (b *builder) rule(f *walker.Frame, callee uint64) (rule, place string) {
	if f.Source != walker.SourceCFI {
		return f.Row.Describe(f.Regs.Arch), origin(&f.Row)
	}
	t, ok := b.described[callee]
	if !ok || t.arch != f.Regs.Arch || !sameRules(t.row, &f.Row) {
		t = describedRow{&f.Row, f.Regs.Arch, f.Row.Describe(f.Regs.Arch), origin(&f.Row)}
		if b.described == nil {
			b.described = map[uint64]describedRow{}
		}
		b.described[callee] = t
	}
	return t.rule, t.origin
}

// sameRules reports whether two rows have the same text.
func sameRules(a, b *unwind.Row) bool {
	return a.CFA.Equal(b.CFA) && a.RA.Equal(b.RA) && a.Signal == b.Signal && a.OthersUndefined == b.OthersUndefined && a.Topmost == b.Topmost &&
		a.Signed == b.Signed && a.Origin == b.Origin && slices.EqualFunc(a.Saved, b.Saved, unwind.RegRule.Equal)
}

// modules makes the list of modules, in the dump's order, so that an index means the same in both.
func (b *builder) modules() {
	d, r := b.d, b.r
	r.Modules = make([]Module, len(d.Modules))
	b.symbols = make([]ModuleSymbols, len(d.Modules))
	for i := range d.Modules {
		m := &d.Modules[i]
		r.Modules[i] = Module{
			Base: m.Base, Size: m.Size, Name: m.Name,
			DebugFile: m.DebugFile, DebugID: m.DebugID, CodeID: m.CodeID,
			StoredDebugFile: m.StoredDebugFile(), StoredID: m.StoredID(),
			Version: m.FileVersion(), FileVersion: [2]uint32{m.FileVersionMS, m.FileVersionLS},
			Warnings: []string{}, Mappings: []Mapping{},
		}
		if b.in.Symbols != nil {
			b.symbols[i] = b.in.Symbols(i)
		}
	}
	if len(r.Modules) > 0 {
		// Every writer of dumps puts the executable first.
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

// threads makes the threads with the frames of those that are walked.
func (b *builder) threads() {
	d, r := b.d, b.r
	b.layer = make([]layerUse, len(r.Modules))
	r.Threads, r.Listed = make([]Thread, len(d.Threads)), d.ListedThreads()
	if w := d.Wow64(); w != nil {
		r.Wow64 = &Wow64{Host: w.Host.Name}
		if w.Program != nil {
			r.Wow64.Program = w.Program.Name
		}
	}
	for i := range d.Threads {
		t := &r.Threads[i]
		*t = Thread{Index: i, ID: d.Threads[i].ID, Name: d.Threads[i].Name, Named: d.Threads[i].Named, Frames: []Frame{}, Guesses: []Guesses{}, Repeats: []Repeat{}, Stop: Stop{Attempts: []Attempt{}},
			Unlisted: d.Threads[i].Role() == core.RoleUnlisted}
		if first := d.Threads[i].Under(); first >= 0 {
			t.IsSecond, t.Other = true, first
			r.Threads[first].HasSecond, r.Threads[first].Other = true, i
		}
		t.LastError, t.Times = lastError(d, i), threadTimes(d, t.ID)
		if t.Pending = b.in.Pending != nil && b.in.Pending(i); t.Pending || i >= len(b.in.Stacks) {
			continue
		}
		s := &b.in.Stacks[i]
		t.Omitted = s.Stop.Kind == walker.StopDumpThread
		t.Frames = make([]Frame, len(s.Frames))
		for j := range s.Frames {
			t.Frames[j] = b.frame(s.Frames, j)
			b.leaveOut(t, j, s.Frames[j].Skipped)
			b.noteLayer(t, &s.Frames[j])
		}
		t.Guesses = b.guesses(t, s.Frames)
		t.FindRepeats()
		t.Stop = stopOf(s)
	}
}

// stopOf returns why the walk of a stack ended.
func stopOf(s *walker.Stack) Stop {
	var arch *cpu.Arch
	if n := len(s.Frames); n > 0 {
		arch = s.Frames[n-1].Regs.Arch
	}
	return Stop{Kind: string(s.Stop.Kind), Detail: s.Stop.Detail, Attempts: attempts(s.Stop.Attempts, arch)}
}

// noteLayer notes a frame of the 64-bit layer. A thread whose own registers are not known has
// frames of it without a second stack.
func (b *builder) noteLayer(t *Thread, f *walker.Frame) {
	w := b.d.Wow64()
	if w == nil || f.Module < 0 {
		return
	}
	u := &b.layer[f.Module]
	if u.code = u.code || f.Regs.Arch == w.Host; t.IsSecond {
		u.frames++
	}
}

// frame makes frame i of a stack.
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
	if f.Tail != nil {
		out.TailCall = Name{Raw: f.Tail.Symbol.Name, Linked: f.Tail.Symbol.Linked}
		if out.TailCall.Raw == "" {
			out.TailCall.Raw = fmt.Sprintf("%s+0x%x", BaseName(b.r.Modules[f.Tail.Module].Name), f.Tail.RVA)
		}
	}
	if f.Module < 0 {
		out.Unloaded = b.unloadedAt(f.Lookup)
		return out
	}
	m := &b.r.Modules[f.Module]
	m.Frames++
	// A file that is mapped in parts has several entries in the dump's list; Listed is the entry
	// that has the frame.
	for _, p := range m.Mappings {
		if f.Lookup-p.Start < p.Size {
			out.Listed = p.Listed
		}
	}
	out.MissingSymbols = f.Answer == symbol.NoFile
	out.AssignedSymbols = b.assigned(f.Module) || i > 0 && all[i-1].Module >= 0 && b.assigned(all[i-1].Module) && fromSymbols(f)
	if f.Answer != symbol.Yes {
		return out
	}
	s := &f.Symbol
	out.Function, out.HasFunction = Name{Raw: s.Name, Linked: s.Linked}, s.Name != ""
	out.FunctionStart = f.Address(s.Start)
	out.Public, out.Multiple, out.From = s.Public, s.Multiple, BaseName(s.From)
	out.Nearest, out.Passed = s.Extent == symbol.Nearest, s.Extent == symbol.Passed
	out.File, out.Line, out.HasLine = s.File, s.Line, s.HasLine
	if s.HasLine {
		out.LineStart = f.Address(s.LineStart)
	}
	if n := len(s.Inlines); n > 0 {
		out.Inlines = make([]Inline, n)
	}
	for i, in := range s.Inlines {
		out.Inlines[i] = Inline{Function: Name{Raw: in.Name, Linked: s.Linked}, File: in.File, Line: in.Line, HasLine: in.HasLine, Start: f.Address(in.Start)}
	}
	return out
}

// assigned reports whether the user assigned symbols with another id to a module.
func (b *builder) assigned(module int) bool { return b.symbols[module].State == SymbolsAssigned }

// fromSymbols reports whether a frame was found with its callee's symbols or program. If those are
// assigned, so is the frame.
func fromSymbols(f *walker.Frame) bool {
	t := f.Trust
	return t == walker.TrustCFI || t == walker.TrustCFIScan || t == walker.TrustNone || f.Source == walker.SourceCode
}

// attempts makes the plain form of rejected candidates. One without any rule has no text of rules.
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

// origin returns where rules come from, without folders: users pass reports on, and folders may be
// private.
func origin(r *unwind.Row) string {
	o := r.Origin
	o.File = BaseName(o.File)
	return o.String()
}

// crash sets the exception and the thread to show first. If there is an exception it is the
// exception's thread, else the one that requested the dump. The thread that wrote the dump is never
// shown first, because it is not walked.
func (b *builder) crash() {
	d, r := b.d, b.r
	r.Assertion = assertion(d)
	if e := d.Exception; e != nil {
		why := reason.Decode(d)
		r.Crash = &Crash{
			Reason: Reason{why.Name, why.Code, why.Flags}, Address: why.Address,
			Params: append([]uint64{}, e.Params...), ThreadID: e.ThreadID,
		}
		if n := len(d.Exceptions); n > 0 && e != &d.Exceptions[0] {
			r.Crash.Index = n - 1 // the last counts in a dump that is not normalized
		}
		if e.Text != "" {
			r.Crash.Params = []uint64{} // they are the text
		}
		r.Crash.Analysis = analysis.Analyze(d)
		r.Crash.Event = r.Crash.Analysis.Event
		r.Crash.Thread = d.ThreadByID(e.ThreadID)
		r.Crash.Requested = why.Kind == reason.NoCrash
		if t := r.Crash.Thread; t >= 0 {
			r.Threads[t].Crashed = !r.Crash.Requested
			if r.Crash.Analysis.Overflow != analysis.No {
				r.Crash.Recursion = recursion(&r.Threads[t])
			}
			if !b.answered(&why) {
				b.ended(&why)
			}
		}
	}
	r.FirstThread, r.HasRequesting = firstThread(d)
}

// FirstThread returns the index of the thread that a dump's report shows first, or -1. It needs no
// stacks.
func FirstThread(d *core.Dump) int {
	i, _ := firstThread(d)
	return i
}

// firstThread also reports whether it is the exception's thread or the one that requested the dump.
func firstThread(d *core.Dump) (first int, requesting bool) {
	thread := -1
	if e := d.Exception; e != nil {
		thread = d.ThreadByID(e.ThreadID)
	} else if d.Breakpad != nil && d.Breakpad.RequestingThread != nil {
		thread = d.ThreadByID(*d.Breakpad.RequestingThread)
	}
	if thread >= 0 && !WroteDump(d, thread) {
		return thread, true
	}
	// Without such a thread: the first one that did not write the dump, else the first one.
	first = -1
	for i := range d.Threads {
		if first < 0 || WroteDump(d, first) {
			first = i
		}
	}
	return first, false
}

// WroteDump reports whether a thread wrote the dump. Such a thread is not walked.
func WroteDump(d *core.Dump, thread int) bool {
	b := d.Breakpad
	return b != nil && b.DumpThread != nil && *b.DumpThread == d.Threads[thread].ID
}

// Demangle sets the display name of every function.
func (r *Report) Demangle(f func(string) string) {
	// Functions recur in the stacks of all threads, and demangling is the dearest part of a report.
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
	if r.Crash != nil {
		fill(&r.Crash.Thrown)
	}
	if r.Crash != nil && r.Crash.Recursion != nil {
		for i := range r.Crash.Recursion.Functions {
			fill(&r.Crash.Recursion.Functions[i])
		}
	}
	frames := func(all []Frame) {
		for j := range all {
			fill(&all[j].Function)
			fill(&all[j].TailCall)
			for k := range all[j].Inlines {
				fill(&all[j].Inlines[k].Function)
			}
		}
	}
	for i := range r.Threads {
		frames(r.Threads[i].Frames)
	}
	for i := range r.Traces {
		frames(r.Traces[i].Frames)
	}
}
