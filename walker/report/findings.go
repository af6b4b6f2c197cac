package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// FindingKind is the kind of a finding. The words are part of the JSON output and do not change.
type FindingKind string

const (
	FindingCutShort   FindingKind = "file-cut-short"        // parts of the dump are beyond the end of its file
	FindingOverflow   FindingKind = "stack-overflow"        // the stack ran out
	FindingNoMemory   FindingKind = "no-stack-memory"       // the dump has no memory of a stack
	FindingOutside    FindingKind = "stack-pointer-outside" // the dump has memory of the stack, but not where sp points
	FindingNoContext  FindingKind = "no-registers"          // a thread's registers cannot be read
	FindingMismatch   FindingKind = "symbols-other-build"   // a loaded file has another id and is not used
	FindingAssigned   FindingKind = "symbols-by-hand"       // the same, but used because the user assigned it
	FindingUnreadable FindingKind = "symbols-unreadable"
	FindingNoUnwind   FindingKind = "symbols-without-unwind"  // a symbol file has no STACK records
	FindingBadRecord  FindingKind = "unusable-records"        // STACK CFI records without .cfa or .ra, or with invalid rules
	FindingOddRecord  FindingKind = "odd-records"             // STACK CFI records that were ignored in part
	FindingSwapped    FindingKind = "esp-ebp-exchanged"       // STACK CFI made from DWARF that swaps the numbers of the two
	FindingScanned    FindingKind = "scanned-frames"          // frames were found by scanning, because symbols are missing
	FindingEnds       FindingKind = "ends-without-symbols"    // a stack ends in a module without symbols
	FindingLost       FindingKind = "walk-lost"               // a walk came to no caller, and nothing proves that the stack ends there
	FindingSwitched   FindingKind = "goroutine-stack-missing" // Go's runtime switched stacks, and the dump lacks the goroutine's
	FindingLimit      FindingKind = "frame-limit"
	FindingExports    FindingKind = "only-exported-names"        // frames are too far after an exported name to have it
	FindingNoDebug    FindingKind = "program-without-debug-file" // the file with the program's functions and lines is missing
	FindingNoSystem   FindingKind = "no-system"                  // the dump does not say its system and processor
	FindingSeveral    FindingKind = "several-exceptions"         // the dump has more than one exception
	FindingNested     FindingKind = "nested-exception"           // the exception was raised while another was handled
	FindingUnlisted   FindingKind = "exception-thread-missing"   // the exception's thread is in no list
	FindingWow64      FindingKind = "wow64-registers-missing"    // the dump has the 64-bit layer's registers of a 32-bit thread only
	FindingLayer      FindingKind = "wow64-layer-missing"        // the dump does not show the second stack of a thread that ran 32-bit code
	FindingNameless   FindingKind = "module-without-name"
	FindingUnplaced   FindingKind = "module-start-unknown" // it is not known where a module's program begins
	FindingMissing    FindingKind = "missing-symbols"      // symbols are missing, and no walk was the worse for it
)

// Finding is a reason why stacks are shorter or less reliable than they could be.
type Finding struct {
	Kind FindingKind
	// Thread is the thread that it concerns, or -1 for several or none. Module is the module that
	// it concerns, or -1. Of several modules without symbols it is the one whose symbols help most.
	Thread, Module int
	// Text says what is wrong, with numbers. Suggestion says what would help, or is "".
	Text, Suggestion string
}

// kindOrder is the order of findings: causes come before their effects.
var kindOrder = []FindingKind{FindingCutShort, FindingNoSystem, FindingSeveral, FindingNested, FindingUnlisted, FindingWow64, FindingOverflow,
	FindingNoMemory, FindingOutside, FindingNoContext, FindingMismatch, FindingUnreadable,
	FindingUnplaced, FindingAssigned, FindingNoUnwind, FindingBadRecord, FindingSwapped, FindingOddRecord, FindingEnds, FindingScanned, FindingSwitched, FindingLost, FindingLimit, FindingMissing, FindingNoDebug, FindingExports, FindingNameless, FindingLayer}

// tally counts what concerns one module's symbols in all stacks.
type tally struct {
	scanned, ends     []int // threads, one entry for each caller found by scanning, and for each stack that ends in the module
	guessed           int   // callers of the module's frames that were found without an unwind record
	swapped           int   // callers found with esp and ebp swapped
	far               int   // frames too far after an exported name to have it
	badRecords        int   // frames that an unusable record covers
	badRecord, badWhy string
}

// findings makes the findings of the walked stacks, and sets the suggestion of each thread.
func (b *builder) findings() {
	r := b.r
	r.Findings = []Finding{}
	if n := b.d.TruncatedParts(); n > 0 {
		parts := "%d parts of the dump are"
		if n == 1 {
			parts = "%d part of the dump is"
		}
		r.Findings = append(r.Findings, Finding{Kind: FindingCutShort, Thread: -1, Module: -1, Suggestion: wholeFile,
			Text: fmt.Sprintf("the file is truncated: "+parts+" beyond its end, at %d bytes", n, b.d.Src.Size)})
	}
	b.dumpFindings()
	b.exceptionFindings()
	b.wow64Findings()
	tallies := make([]tally, len(r.Modules))
	byStop := map[FindingKind][]int{}
	for i := range b.in.Stacks {
		if i >= len(r.Threads) {
			break
		}
		if r.Threads[i].Pending {
			continue
		}
		s := &b.in.Stacks[i]
		r.Threads[i].Stop.Suggestion, r.Threads[i].Stop.Wants = b.suggestion(s)
		if r.Threads[i].IsSecond {
			continue // what it lacks is of use only to those who look at it
		}
		b.tallyStack(tallies, s, i)
		if kind, ok := b.stopFinding(s); ok {
			byStop[kind] = append(byStop[kind], i)
		}
	}
	b.wantFirst()
	if ran := b.overflow(); ran >= 0 {
		// The overflow explains why this thread's stack memory is missing.
		byStop[FindingOutside] = slices.DeleteFunc(byStop[FindingOutside], func(t int) bool { return t == ran })
	}
	// The order of a map does not matter here: the findings are sorted at the end.
	for kind, threads := range byStop {
		if len(threads) == 0 {
			continue
		}
		b.stopFound(kind, threads)
	}
	for m := range tallies {
		b.symbolFindings(m, &tallies[m])
	}
	b.missingFinding(tallies)
	sort.SliceStable(r.Findings, func(i, j int) bool {
		x, y := &r.Findings[i], &r.Findings[j]
		if a, b := slices.Index(kindOrder, x.Kind), slices.Index(kindOrder, y.Kind); a != b {
			return a < b
		}
		return x.Module < y.Module
	})
}

// tallyStack adds one thread's stack to the tallies.
func (b *builder) tallyStack(tallies []tally, s *walker.Stack, thread int) {
	// A frame is found by the symbols of the frame that it called, so what is wrong with a caller
	// counts for its callee's module.
	for j := range s.Frames {
		callee := s.Frames[j].Module
		if callee < 0 {
			continue
		}
		t := &tallies[callee]
		if b.r.Threads[thread].Frames[j].Passed {
			t.far++
		}
		tried := s.Stop.Attempts
		if j+1 < len(s.Frames) {
			caller := &s.Frames[j+1]
			tried = caller.Attempts
			if scannedFrame(caller) {
				t.scanned = append(t.scanned, thread)
			}
			if caller.Source != walker.SourceCFI && caller.Source != walker.SourceWin {
				t.guessed++
			}
			if strings.HasPrefix(caller.Row.Origin.Note, unwind.NoteSwapped) {
				t.swapped++
			}
		} else if b.cut(s) {
			t.ends = append(t.ends, thread)
		}
		if j+1 == len(s.Frames) && s.Stop.Kind == walker.StopEnd {
			// The outermost function's record has no return address on purpose, so it is not a bad
			// record.
			break
		}
		for _, a := range tried {
			if a.Source == walker.SourceCFI && a.Row.CFA.Kind == unwind.Unset && a.Row.Origin.Note != "" {
				t.badRecords++
				o := a.Row.Origin
				t.badWhy, o.Note = o.Note, ""
				t.badRecord = origin(&unwind.Row{Origin: o})
			}
		}
	}
}

// scannedFrame reports whether a frame was found by a search of the stack.
func scannedFrame(f *walker.Frame) bool {
	return f.Trust == walker.TrustScan || f.Trust == walker.TrustCFIScan
}

// stopFinding returns the kind of finding that the end of a stack alone gives.
func (b *builder) stopFinding(s *walker.Stack) (FindingKind, bool) {
	switch s.Stop.Kind {
	case walker.StopNoMemory:
		return FindingNoMemory, true
	case walker.StopNoContext:
		return FindingNoContext, true
	case walker.StopLost:
		return FindingLost, true
	case walker.StopSwitched:
		return FindingSwitched, true
	case walker.StopLimit:
		return FindingLimit, true
	case walker.StopNothingFound:
		if len(s.Frames) == 1 && !b.hasWord(s.Frames[0].Regs.SP()) {
			return FindingOutside, true
		}
	}
	return "", false
}

// cut reports whether the walk failed although the dump has more memory of the stack.
func (b *builder) cut(s *walker.Stack) bool {
	n := len(s.Frames)
	failed := s.Stop.Kind == walker.StopNothingFound || s.Stop.Kind == walker.StopNoProgress || s.Stop.Kind == walker.StopLost
	return n > 0 && failed && b.hasWord(s.Frames[n-1].Regs.SP())
}

// hasWord reports whether the dump has the word at an address.
func (b *builder) hasWord(addr uint64) bool {
	if b.d.Memory == nil {
		return false
	}
	_, ok := b.d.Memory.Word(addr, b.r.Dump.WordSize)
	return ok
}

// stopFound adds a finding about threads whose walks stopped for the same reason.
func (b *builder) stopFound(kind FindingKind, threads []int) {
	f := Finding{Kind: kind, Thread: oneOf(threads), Module: -1}
	who := b.threadsText(threads)
	switch kind {
	case FindingNoMemory:
		f.Text = "the dump holds no stack memory for " + who + ": only the first frame is known"
		f.Suggestion = b.wantsStacks()
	case FindingNoContext:
		f.Text = "the registers of " + who + " cannot be read, so there is no stack"
	case FindingLost:
		f.Text = fmt.Sprintf("what called the last frame of %s is not known: %s", who, b.in.Stacks[threads[0]].Stop.Detail)
		if len(threads) > 1 {
			f.Text = fmt.Sprintf("what called the last frames of %s is not known; in thread %d, %s", who, threads[0], b.in.Stacks[threads[0]].Stop.Detail)
		}
	case FindingSwitched:
		f.Text = "the goroutine's stack of " + who + " is not in the dump: Go's runtime had switched to the thread's own, and what called it is not known"
		f.Suggestion = "have the dump written with all memory: Go's stacks are on the heap"
	case FindingLimit:
		f.Text = "the stack of " + who + " is longer than what is shown: " + b.in.Stacks[threads[0]].Stop.Detail
	case FindingOutside:
		sp := b.r.Threads[threads[0]].Frames[0].Regs.SP()
		f.Text = fmt.Sprintf("the stack pointer of %s points to memory that the dump does not hold", who)
		if len(threads) == 1 {
			f.Text = fmt.Sprintf("the stack pointer of %s, 0x%x, points to memory that the dump does not hold", who, sp)
			if st := b.d.StackAround(threads[0], sp); st != nil {
				f.Text += fmt.Sprintf("; what it holds as that thread's stack is 0x%x to 0x%x", st.Start, st.End)
			}
		}
		f.Suggestion = "its callers are lost; its registers and the other threads are reliable"
	}
	b.r.Findings = append(b.r.Findings, f)
}

// wholeFile is the suggestion for a truncated file.
const wholeFile = "get the whole file: it was cut short when it was written, copied or uploaded"

// wantsStacks returns the suggestion for a dump without stack memory.
func (b *builder) wantsStacks() string {
	if b.d.TruncatedParts() > 0 {
		return wholeFile
	}
	return "have the dump written with the memory of its stacks"
}

// symbolFindings adds the findings about one module's symbols. Most modules have none.
func (b *builder) symbolFindings(m int, t *tally) {
	if mod := &b.r.Modules[m]; mod.Frames > 0 && (mod.State == SymbolsMismatch || mod.State == SymbolsAssigned || mod.State == SymbolsCorrupt) {
		b.stateFinding(m)
	}
	if mod := &b.r.Modules[m]; mod.Frames > 0 && b.symbols[m].Unplaced != "" {
		b.moduleFinding(FindingUnplaced, m, nil, b.addFile(m), "the start of %s is not known: %s; %s no name, and offsets count from the entry's start",
			mod.Title(), b.symbols[m].Unplaced, frames(mod.Frames, "has", "have"))
	}
	if len(t.scanned)+len(t.ends)+t.guessed+t.swapped+t.far+t.badRecords+b.symbols[m].UnwindNoted > 0 || b.r.Modules[m].partial() && b.r.Modules[m].Frames > 0 {
		b.tallyFindings(m, t)
	}
}

// moduleFinding adds a finding about a module. It has a thread if threads are all the same.
func (b *builder) moduleFinding(kind FindingKind, m int, threads []int, suggestion, format string, args ...any) {
	b.r.Findings = append(b.r.Findings, Finding{Kind: kind, Thread: oneOf(threads), Module: m, Text: fmt.Sprintf(format, args...), Suggestion: suggestion})
}

// stateFinding adds the finding about a module whose symbols have another id or are unreadable.
func (b *builder) stateFinding(m int) {
	mod, s := &b.r.Modules[m], &b.symbols[m]
	name := mod.Title()
	switch mod.State {
	case SymbolsMismatch:
		if mod.DebugID == "" {
			b.moduleFinding(FindingMismatch, m, nil, b.addFile(m), "%s was not used for %s: the dump has no id of the module to compare its id (%s) with; %s in the module",
				BaseName(s.Mismatch.File), name, s.Mismatch.ID, frames(mod.Frames, "is", "are"))
			return
		}
		b.moduleFinding(FindingMismatch, m, nil, b.addFile(m)+", or use the file anyway (“Use anyway” on the page, --use FILE in a terminal)", "%s is of another build of %s (its id is %s, the module's %s) and was not used; %s in the module",
			BaseName(s.Mismatch.File), name, s.Mismatch.ID, mod.DebugID, frames(mod.Frames, "is", "are"))
	case SymbolsAssigned:
		suggestion, where := "", ""
		if mod.DebugID != "" { // without an id, a file cannot be known to match better
			suggestion = b.addFile(m)
		}
		if len(b.r.Threads) > 1 {
			where = " in all threads"
		}
		b.moduleFinding(FindingAssigned, m, nil, suggestion, "you assigned %s to %s, although its id (%s) is not the module's (%s): %s with it%s may be wrong",
			BaseName(s.File), name, cmp.Or(s.ID, "none"), cmp.Or(mod.DebugID, "none"), frames(b.framesBy(m), "found or named", "found or named"), where)
	case SymbolsCorrupt:
		b.moduleFinding(FindingUnreadable, m, nil, b.addFile(m), "the symbols of %s could not be read: %s", name, strings.Join(mod.Warnings, "; "))
	}
}

// framesBy returns how many frames of all threads the assigned symbols of a module found or named.
func (b *builder) framesBy(m int) (n int) {
	for i := range b.r.Threads {
		all := b.r.Threads[i].Frames
		for k := range all {
			if all[k].AssignedSymbols && (all[k].Module == m || k > 0 && all[k-1].Module == m) {
				n++
			}
		}
	}
	return n
}

// tallyFindings adds the findings of a module's tally.
func (b *builder) tallyFindings(m int, t *tally) {
	mod, s := &b.r.Modules[m], &b.symbols[m]
	name := mod.Title()
	file := BaseName(s.File)
	add := func(kind FindingKind, threads []int, suggestion, format string, args ...any) {
		b.moduleFinding(kind, m, threads, suggestion, format, args...)
	}
	used := mod.State == SymbolsLoaded || mod.State == SymbolsAssigned
	if used && mod.Has.NoProgram && t.guessed > 0 {
		add(FindingNoUnwind, nil, b.addFile(m),
			"%s has names and no unwind rules: the callers of %s were guessed", file, frames(t.guessed, "", ""))
	} else if used && s.NoUnwind && t.guessed > 0 {
		how := "add the program or library itself, or a symbol file made from one that still has its unwind rules (.eh_frame, .debug_frame, or the PDB)"
		if b.needsProgram(m) {
			how = "add " + name + " itself, or a symbol file made from it and its PDB (crashpane dumpsyms)"
		}
		add(FindingNoUnwind, nil, how,
			"%s has names and no unwind rules (STACK records): the callers of %s in %s had to be guessed", file, frames(t.guessed, "", ""), name)
	}
	if t.badRecords > 0 {
		add(FindingBadRecord, nil, "", "%s could not use the unwind rules that cover them (%s: %s)",
			frames(t.badRecords, "in "+name, "in "+name), t.badRecord, t.badWhy)
	}
	if t.swapped > 0 {
		add(FindingSwapped, nil, "you need to do nothing; a dump_syms that knows this numbering writes a file that every reader understands",
			"%s has esp and ebp swapped, as clang for macOS i386 numbered them in .debug_frame; %s with the two swapped back",
			file, frames(t.swapped, "was found", "were found"))
	}
	if s.UnwindNoted > 0 {
		more := ""
		if s.UnwindNoted > len(s.UnwindNotes) {
			more = fmt.Sprintf("; and %d more such records", s.UnwindNoted-len(s.UnwindNotes))
		}
		add(FindingOddRecord, nil, "", "%s: %s%s", file, strings.Join(s.UnwindNotes, "; "), more)
	}
	if used && mod.Has.DebugFile != "" {
		add(FindingNoDebug, nil, b.addFile(m), "%s alone has no functions and lines, which are in %s: %s", name, mod.Has.DebugFile, frames(mod.Frames, "lacks them", "lack them"))
	} else if used && mod.Has.AltFile != "" {
		add(FindingNoDebug, nil, b.addFile(m), "%s lacks names and lines that it shares with other files in %s", cmp.Or(file, name), mod.Has.AltFile)
	} else if used && t.far > 0 {
		add(FindingExports, nil, "add the program with its debug information, as it was before strip, or its debug file, or a symbol file made from one of them (crashpane dumpsyms)",
			"%s no name: %s has only the names of exported functions, and the nearest is another function's", frames(t.far, "in "+name+" has", "in "+name+" have"), file)
	}
	if n := len(t.scanned); used && n > 0 && !s.NoUnwind && t.badRecords == 0 {
		add(FindingScanned, t.scanned, "", "%s has no unwind rule that gives a caller for %s: the callers are guesses%s", file,
			frames(n, "in "+name, "in "+name), b.ofThem(t.scanned))
	}
}

// bare reports whether a module has no usable symbols.
func (b *builder) bare(m int) bool {
	return m >= 0 && (b.symbols[m].File == "" || b.r.Modules[m].State == SymbolsCorrupt)
}

// wants returns the module whose missing symbols would help a stack most, or -1: the first in
// Report.Missing of those whose callers were found by scanning and of the one in which the stack ends
// early. If these are all the system's, another module of the stack comes before them: its user has its
// symbols, and the system's only help on. scanned is how many of its callers were found by scanning.
func (b *builder) wants(s *walker.Stack) (module, scanned int) {
	gains, on := map[int]int{}, map[int]bool{}
	module = -1
	for j := range s.Frames {
		m, n := s.Frames[j].Module, 0
		if j+1 < len(s.Frames) && scannedFrame(&s.Frames[j+1]) {
			n = 1
		}
		if m < 0 || !b.bare(m) && !b.r.Modules[m].partial() {
			continue
		}
		on[m] = true
		if !b.bare(m) && !b.r.Modules[m].Has.NoProgram {
			continue // it has its unwind rules, and lacks names
		}
		if n == 0 && (j+1 < len(s.Frames) || !b.cut(s)) {
			continue
		}
		if gains[m] += n; module < 0 {
			module = m // modules with damaged files are not in Report.Missing
		}
	}
	if module < 0 {
		return -1, 0
	}
	other := -1
	for i := range b.r.Missing {
		m := b.r.Missing[i].Module
		if n, ok := gains[m]; ok && (other < 0 || !b.r.IsSystems(m)) {
			return m, n
		}
		if other < 0 && on[m] && !b.r.IsSystems(m) {
			other = m
		}
	}
	if other >= 0 {
		return other, 0
	}
	return module, gains[module]
}

// suggestion returns what would make a stack more complete, and the module whose symbols it asks
// for, or -1.
func (b *builder) suggestion(s *walker.Stack) (string, int) {
	if s.Stop.Kind == walker.StopNoMemory {
		return b.wantsStacks(), -1
	}
	m, scanned := b.wants(s)
	if m < 0 {
		return "", -1
	}
	how := ", where the stack ends; "
	switch {
	case scanned > 0:
		how = ": " + frames(scanned, "is a guess", "are guesses") + "; "
	case s.Frames[len(s.Frames)-1].Module != m || !b.cut(s):
		how = ": its frames have no names; "
	}
	what := "no symbols for "
	switch mod := &b.r.Modules[m]; {
	case mod.Has.NoProgram:
		what = "no unwind rules for "
	case mod.partial():
		what, how = "no functions and lines for ", "; "
		if mod.Has.DebugFile == "" {
			what = "not all functions and lines for "
		}
	}
	return what + b.r.Modules[m].Title() + how + b.addFile(m), m
}

// wantFirst moves the symbol file that FirstThread's stack suggests to the front of Report.Missing,
// so that the suggestion and the list begin with the same file.
func (b *builder) wantFirst() {
	r := b.r
	if r.FirstThread < 0 || r.Threads[r.FirstThread].Stop.Suggestion == "" {
		return
	}
	i := slices.IndexFunc(r.Missing, func(w MissingFile) bool { return w.Module == r.Threads[r.FirstThread].Stop.Wants })
	if i > 0 {
		w := r.Missing[i]
		copy(r.Missing[1:i+1], r.Missing[:i])
		r.Missing[0] = w
	}
}

// missingFinding adds one finding for all modules in Report.Missing, and for those with damaged files
// that made stacks worse. It has the first's advice, which the line above the stack gives, too, and
// counts the modules that it counts.
func (b *builder) missingFinding(tallies []tally) {
	var modules, scanned, ends []int
	partial := 0
	for i := range b.r.Missing {
		m := &b.r.Missing[i]
		modules = append(modules, m.Module)
		if m.Partial {
			partial++
		}
	}
	for m := range tallies {
		t := &tallies[m]
		if !b.bare(m) || len(t.scanned)+len(t.ends) == 0 {
			continue
		}
		// Report.Missing has one entry for modules that need the same file.
		if !slices.Contains(modules, m) && (len(modules) == 0 || b.r.Modules[m].State == SymbolsCorrupt) {
			modules = append(modules, m)
		}
		scanned, ends = append(scanned, t.scanned...), append(ends, t.ends...)
	}
	if len(modules) == 0 || len(modules) == 1 && partial == 1 && b.hasFinding(modules[0]) {
		return
	}
	first := modules[0]
	f := Finding{Kind: FindingScanned, Thread: -1, Module: first, Text: "no symbols for ", Suggestion: b.addFile(first)}
	if partial > 0 {
		f.Text = "no symbols, or not all of them, for "
	}
	f.Text += b.r.Modules[first].Title()
	switch n := len(modules) - 1; {
	case n == 0:
	case n == 1 && b.r.Modules[modules[1]].Title() == b.r.Modules[first].Title():
		f.Text += " and the other module of that name" // a 32-bit process has two ntdll.dll
	case n == 1:
		f.Text += " and " + b.r.Modules[modules[1]].Title()
	default:
		f.Text += fmt.Sprintf(" and %d more modules", n)
	}
	slices.Sort(ends)
	slices.Sort(scanned)
	ends = slices.Compact(ends)
	byScan := frames(len(scanned), "is a guess", "are guesses") + b.ofThem(scanned)
	switch {
	case len(scanned)+len(ends) == 0:
		f.Kind = FindingMissing
		if n := b.namelessFrames(); n > 0 {
			f.Text += ": " + frames(n, "has no name", "have no names")
		}
	case len(scanned) == 0:
		f.Kind, f.Thread = FindingEnds, oneOf(ends)
		f.Text += ", where " + b.endText(ends)
	case slices.Contains(ends, b.r.FirstThread):
		f.Kind, f.Thread = FindingEnds, oneOf(ends)
		f.Text += ", where " + b.endText(ends) + "; " + byScan
	case len(ends) > 0: // not FirstThread's, which the scan continued
		f.Text += ": " + byScan + "; " + b.endText(ends)
	default:
		f.Thread = oneOf(scanned)
		f.Text += ": " + byScan
	}
	b.r.Findings = append(b.r.Findings, f)
}

// hasFinding reports whether there is a finding about a module.
func (b *builder) hasFinding(module int) bool {
	return slices.ContainsFunc(b.r.Findings, func(f Finding) bool { return f.Module == module })
}

// namelessFrames returns how many frames of all threads are in modules of Report.Missing and have no name.
func (b *builder) namelessFrames() (n int) {
	missing := make([]bool, len(b.r.Modules))
	for i := range b.r.Missing {
		missing[b.r.Missing[i].Module] = true
	}
	for i := range b.r.Threads {
		for k := range b.r.Threads[i].Frames {
			if f := &b.r.Threads[i].Frames[k]; f.Module >= 0 && missing[f.Module] && !f.Named() {
				n++
			}
		}
	}
	return n
}

// addFile returns a suggestion that says which symbol file to add, and where it is published.
func (b *builder) addFile(m int) string {
	text := b.fileToAdd(m)
	if p := b.published(m); p != nil && b.r.Modules[m].DebugID != "" && b.symbols[m].Unplaced == "" {
		text += "; " + p.says()
	}
	return text
}

func (b *builder) fileToAdd(m int) string {
	mod := &b.r.Modules[m]
	file, id := mod.debugFile()
	switch s := &b.symbols[m]; {
	case s.Unplaced != "" && s.Binary != "":
		return "have the dump written with the process's memory maps, or with all memory"
	case s.Unplaced != "":
		return "add " + mod.Title() + " itself: its headers say where its code begins"
	}
	if id == "" {
		text := "the dump has no id for " + mod.Title() + ": "
		if b.d.OS() == core.Windows && m < len(b.d.Modules) && b.d.Modules[m].TimeDateStamp != 0 {
			text += "add that file itself, known by its time stamp and size, or " // the program names its PDB
		}
		return text + "add a symbol file of " + cmp.Or(file, mod.Title()) + " and assign it (“Assign symbols” on the page, --use " + mod.Title() + "=FILE in a terminal)"
	}
	path := StorePath(file, id)
	sym := path[strings.LastIndexByte(path, '/')+1:]
	switch os := b.d.OS(); {
	case mod.Has.NoProgram:
		return "add " + mod.Title() + ": without it callers on " + b.processorOf(m) + " are guesses"
	case mod.Has.AltFile != "" && mod.Has.DebugFile == "":
		return "add " + mod.Has.AltFile + " with build id " + mod.Has.AltID
	case os == core.Windows && mod.Has.DebugFile != "":
		return "add " + file + " with id " + id
	case os == core.Windows:
		text := "add " + file + " with id " + id
		if b.needsProgram(m) && !mod.Has.CFI {
			text += " and " + mod.Title()
		}
		return text + ", or " + sym
	case mod.Has.DebugFile != "":
		return "add " + mod.Has.DebugFile + " with build id " + mod.CodeID + ", or " + sym + " with id " + id
	case os == core.OSLinux || os == core.Android:
		return "add " + sym + " with id " + id + ", or " + file + " itself" // the binary, with its debug file if it has one
	}
	return "add " + sym + " with id " + id
}

// frames returns "1 frame is" or "3 frames are".
func frames(n int, one, many string) string {
	if n == 1 {
		return strings.TrimSpace("1 frame " + one)
	}
	return strings.TrimSpace(fmt.Sprintf("%d frames %s", n, many))
}

// oneOf returns the thread if all of a sorted list are the same, else -1.
func oneOf(threads []int) int {
	if len(threads) == 0 || threads[0] != threads[len(threads)-1] {
		return -1
	}
	return threads[0]
}

// threadsText returns "thread 3" or "12 threads".
func (b *builder) threadsText(threads []int) string {
	if len(threads) == 1 {
		return b.threadText(threads[0])
	}
	return fmt.Sprintf("%d threads", len(threads))
}

// threadText returns "thread 3", or "the thread with the id 777" for one that has no number.
func (b *builder) threadText(i int) string {
	if b.r.Threads[i].Unlisted {
		return fmt.Sprintf("the thread with the id %d", b.r.Threads[i].ID)
	}
	return fmt.Sprintf("thread %d", i)
}

// ofThem returns how many of the frames are of the first thread, or "" if all are or the dump names
// no such thread.
func (b *builder) ofThem(threads []int) string {
	first := 0
	for _, t := range threads {
		if t == b.r.FirstThread {
			first++
		}
	}
	switch {
	case first == len(threads) || !b.r.HasRequesting:
		return ""
	case first == 0:
		return ", none of them in " + b.threadText(b.r.FirstThread)
	}
	return fmt.Sprintf(", %d of them in %s", first, b.threadText(b.r.FirstThread))
}

func (b *builder) endText(threads []int) string {
	if len(threads) == 1 {
		return "the stack of " + b.threadText(threads[0]) + " breaks off"
	}
	return fmt.Sprintf("the stacks of %d threads break off", len(threads))
}
