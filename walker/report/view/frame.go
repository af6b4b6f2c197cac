package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// FrameDetail is the details of one row of a stack.
type FrameDetail struct {
	Thread, Frame, Inline int
	Title                 string // the full name, or the address
	Facts                 []Fact
	Registers             []Register
	// Note is about the registers as a whole, such as how many are unknown.
	Note string
	Why  Why
	// Warning is shown above the rest: symbols that may not match, a guessed frame.
	Warning string
}

// Register is one register of the frame.
type Register struct {
	Name, Value string // Value is "" if it is unknown
	Note        string // what the value may be
	Role        string // "pc", "sp", "fp", "lr", or ""
}

// Why says how a frame was found.
//
// Example, of a frame that call frame information found:
//
//	Sentence   Found by call frame information, which describes the frame of each function.
//	Rules      cfa = $rsp + 48:  0x7ffe3d0 + 48 = 0x7ffe400
//	           ra = [cfa - 8]:  …
//	Origin     libfoo.so.sym line 812
//	Attempts   those that the walker tried before and rejected
type Why struct {
	Sentence string
	Rules    []string // the rules that produced the frame, one per line
	Origin   string
	Attempts []Attempt // what was rejected before
	// Stop says why the stack has no frame after frame Last. StopAttempts is set for that frame
	// only.
	Stop         string
	Last         int
	StopAttempts []Attempt
	// Suggestion is what would make the stack more complete, or "".
	Suggestion string
	// The rest needs explanations (ExplainBy). Steps are the Rules in parts; Rules then have
	// numbers too.
	Steps   []Step
	Record  []string // the lines of the symbol file: "line 812: STACK CFI INIT …"
	Words   []ReadWord
	Checks  []string
	Notes   []string
	Scanned []string // words that a scan rejected, and why
	Changes []Change
}

// Step is a rule with its numbers: "cfa", "$rsp + 48", "0x7ffe3d0 + 48 = 0x7ffe400". Place is what
// a return address points to.
type Step struct{ For, Rule, Computed, Place string }

// ReadWord is a word of memory that was read.
type ReadWord struct{ Addr, Value, For, Place string }

// Change is a register's value in the called frame and in this one, "" if unknown. How is "rule",
// "unchanged" or "lost".
type Change struct{ Name, Before, After, How string }

// Attempt is an attempt to find a frame that the walker rejected.
type Attempt struct{ Source, Rule, Origin, Reason string }

// Frame returns the details of a row.
//
// What the report has comes at once. Numbers and words of memory need the walk to be made again
// (explain), which the engine does only for a frame that is shown.
func (v *View) Frame(ti, fi, inline int) *FrameDetail {
	t := v.thread(ti)
	if t == nil {
		return nil
	}
	d := &FrameDetail{Thread: ti, Frame: fi, Inline: inline, Facts: []Fact{}, Registers: []Register{}}
	d.Why = emptyWhy()
	if fi < 0 || fi >= len(t.Frames) {
		// Show why the thread has no frames.
		d.Title = "No frames"
		d.Why.Sentence, d.Why.Stop, d.Why.Last = "This thread has no frames.", stopSentence(t), -1
		d.Warning = d.Why.Stop
		d.Why.StopAttempts = attempts(t.Stop.Attempts)
		d.Why.Suggestion = Clean(t.Stop.Suggestion)
		return d
	}
	f := &t.Frames[fi]
	v.identity(d, f)
	d.Facts = append(d.Facts, v.instruction(ti, fi)...)
	if fi == 0 {
		d.Facts = append(d.Facts, v.threadFacts(t)...)
	}
	v.registers(d, f)
	v.why(d, t, fi)
	if v.explain == nil {
		return d
	}
	if x := v.explain(ti, fi); x != nil {
		v.frameInstruction(d, x.Instruction)
		v.numbers(&d.Why, x, f)
	}
	return d
}

// identity adds the facts about the function, source line, module and address.
func (v *View) identity(d *FrameDetail, f *report.Frame) {
	add := func(key, value string, code bool) {
		if value != "" {
			d.Facts = append(d.Facts, Fact{key, value, code})
		}
	}
	name, file, line, has, start := f.Function, f.File, f.Line, f.HasLine, f.FunctionStart
	named := named(f)
	// The row is an inlined call: its name and line, and the frame's address.
	if d.Inline >= 0 && d.Inline < len(f.Inlines) {
		in := &f.Inlines[d.Inline]
		name, file, line, has, start, named = in.Function, in.File, in.Line, in.HasLine, in.Start, true
	}
	row := v.frameRow(f, d.Frame)
	d.Title = row.Full
	if named {
		if d.Title = v.full(name); d.Inline < 0 {
			d.Title += after(f)
		}
	}
	_, path := source(file, line, has)
	add("Source", path, true)
	if d.Inline >= 0 {
		outer := row.Function
		if d.Inline+1 < len(f.Inlines) {
			outer = Fold(v.full(f.Inlines[d.Inline+1].Function))
		}
		add("Inlined into", outer, true)
	}
	if named && Clean(name.Raw) != v.full(name) {
		add("Symbol", Clean(name.Raw), true)
	}
	if m := v.module(f.Module); m != nil {
		add("Module", Clean(m.Name), true)
		add("In module", "+"+short(f.RVA), true)
		if named && start != 0 && f.Lookup >= start {
			key := "In function"
			if f.Nearest && d.Inline < 0 {
				key = "After the name"
			}
			add(key, "+"+short(f.Lookup-start), true)
		}
	} else {
		add("Module", row.Module, true)
	}
	add("Address", row.Address, true)
	if f.PC != f.Lookup {
		add("Returns to", v.frameHex(f, f.PC), true)
	}
	// If the module has both a symbol file and a binary, From is the one with the name.
	add("Names from", Clean(BaseName(f.From)), true)
	switch {
	case d.Inline >= 0 || isPlaceholder(f.Function.Raw):
	case f.Passed:
		add("Nearest name", v.full(f.Function)+", "+Size(int64(f.Lookup-f.FunctionStart))+" before it, of another function", false)
	case f.Nearest:
		add("Named by", "the nearest public name below the address, whose function may have ended", false)
	case f.Public:
		add("Named by", "a public name, whose function covers the address", false)
	}
	if f.Multiple && d.Inline < 0 {
		add("Shared", "the linker folded several functions into this code; the name is one of them", false)
	}
	switch {
	case f.AssignedSymbols:
		m := v.module(f.Module)
		d.Warning = "Found or named by symbols that you assigned. They may not match this build."
		if m != nil && m.SymbolID != "" {
			d.Warning = "Found or named by symbols of another build: the module has id " + Clean(m.DebugID) + ", the file has " +
				Clean(m.SymbolID) + "."
		}
	case f.Trust == "none":
		d.Warning = "Nothing in the dump shows that there is code at this address."
	case row.Unreliable:
		d.Warning = "Found by scanning the stack: this call may be left over from earlier."
	}
}

// threadFacts returns the thread's last error and times, which the page shows with the details of
// its first frame.
func (v *View) threadFacts(t *report.Thread) (facts []Fact) {
	if e := t.LastError; e != nil && e.Value != 0 {
		facts = append(facts, Fact{"Last error", Clean(e.Text), true})
	}
	w := t.Times
	if w == nil {
		return facts
	}
	if w.Start != 0 {
		s := v.hex(w.Start)
		if place := v.place(w.Start); place != "" {
			s += "  " + place
		}
		facts = append(facts, Fact{"Thread start", s, true})
	}
	if w.Created != 0 {
		facts = append(facts, Fact{"Created", Time(w.Created), false})
	}
	if w.Ended != 0 {
		facts = append(facts, Fact{"Ended", Time(w.Ended) + ", with status " + short(uint64(w.ExitStatus)), false})
	}
	return append(facts, Fact{"CPU time", seconds(w.User) + " in user mode, " + seconds(w.Kernel) + " in kernel mode", false})
}

// seconds formats a duration in units of 100 ns.
func seconds(n uint64) string { return fmt.Sprintf("%d.%03d s", n/1e7, n/1e4%1000) }

// place formats an address as an offset in its module, or returns "".
func (v *View) place(x uint64) string {
	if i, rva := v.r.ModuleMap.Find(x); i >= 0 {
		return Clean(v.r.Modules[i].Title()) + "+" + short(rva)
	}
	return ""
}

// registers adds the known registers, in the order of debuggers.
//
// Unknown registers are left out, except pc, sp, fp and lr, of which the user sees that they are
// unknown.
func (v *View) registers(d *FrameDetail, f *report.Frame) {
	if f.Regs == nil || f.Regs.Arch == nil {
		d.Note = "No registers are known for this frame."
		return
	}
	a := f.Regs.Arch
	unknown := 0
	for _, r := range a.Shown() {
		reg := Register{Name: a.Names[r]}
		switch r {
		case a.PC:
			reg.Role = "pc"
		case a.SP:
			reg.Role = "sp"
		case a.FP:
			reg.Role = "fp"
		case a.LR:
			reg.Role = "lr"
		}
		if x, ok := f.Regs.Get(r); ok {
			reg.Value = v.frameHex(f, x)
			reg.Note = v.valueNote(x)
		} else {
			unknown++
			if reg.Role == "" {
				continue // the note has their number
			}
		}
		d.Registers = append(d.Registers, reg)
	}
	if unknown > 0 && d.Frame > 0 {
		d.Note = count(unknown, "register is", "registers are") + " unknown: calls do not preserve them."
	} else if unknown > 0 {
		d.Note = count(unknown, "register is", "registers are") + " not in the dump."
	}
}

// valueNote returns what a register's value may be: the fault address, a fill pattern, an address
// in a module.
//
// Values below 0x1000 get no note of a place: small numbers are counts and flags, and no module is
// in the first page.
func (v *View) valueNote(x uint64) string {
	if c := v.r.Crash; c != nil && c.Event.HasAddress && x == c.Event.Address && x >= 0x1000 {
		return "the fault address"
	}
	if p := Pattern(x); p != "" {
		return p
	}
	if x < 0x1000 {
		return ""
	}
	return v.place(x)
}

// why sets how the frame was found, and for the last frame why the stack ends.
//
// The report has a frame's rules in one line, separated by ", ", and the page shows each in a line
// of its own.
func (v *View) why(d *FrameDetail, t *report.Thread, fi int) {
	f := &t.Frames[fi]
	w := &d.Why
	_, w.Sentence = Word(f.Trust)
	if d.Inline >= 0 {
		_, s := Word("inline")
		w.Sentence = s + " The frame that holds it: " + strings.ToLower(w.Sentence[:1]) + w.Sentence[1:]
	}
	for _, line := range strings.Split(strings.ReplaceAll(f.Rule, ", ", "\n"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			w.Rules = append(w.Rules, Clean(line))
		}
	}
	w.Origin = Clean(f.Origin)
	w.Attempts = attempts(f.Attempts)
	w.Stop, w.Last, w.Suggestion = stopSentence(t), len(t.Frames)-1, Clean(t.Stop.Suggestion)
	if fi == w.Last {
		w.StopAttempts = attempts(t.Stop.Attempts)
	}
}

func attempts(from []report.Attempt) []Attempt {
	out := []Attempt{}
	for _, a := range from {
		out = append(out, Attempt{sourceWord(a.Source), Clean(a.Rule), Clean(a.Origin), Clean(a.Reason)})
	}
	return out
}

// sourceWord returns the page's word for a source of rules.
func sourceWord(s string) string {
	switch s {
	case "cfi":
		return "Call frame information"
	case "signal-code":
		return "Code that returns from a signal's handler"
	case "go-stack":
		return "Stack pointer saved by Go's runtime"
	case "code":
		return "Code of the function"
	case "stack-win":
		return "Frame data (STACK WIN)"
	case "frame-pointer":
		return "Frame pointer"
	case "leaf":
		return "Leaf function"
	case "shadow-stack":
		return "Shadow stack"
	case "scan":
		return "Scan"
	case "context":
		return "Context"
	}
	return Clean(s)
}
