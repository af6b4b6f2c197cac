package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// Frame returns the details of a row.
//
// What the report has comes at once. Numbers and words of memory need the walk to be made again
// (explain), which the engine does only for a frame that is shown.
func (v *View) Frame(ti, fi, inline int) *rows.FrameDetail {
	t := v.thread(ti)
	if t == nil {
		return nil
	}
	d := &rows.FrameDetail{Thread: ti, Frame: t.Number(fi), Inline: inline, Facts: []rows.Fact{}, Registers: []rows.Register{}}
	d.Why = emptyWhy()
	if fi < 0 || fi >= len(t.Frames) {
		// Show why the thread has no frames.
		d.Title = "No frames"
		d.Why.Sentence, d.Why.Stop, d.Why.Last = "This thread has no frames.", stopSentence(t), -1
		d.Warning = d.Why.Stop
		d.Why.StopAttempts = attempts(t.Stop.Attempts)
		d.Why.Suggestion = rows.Clean(t.Stop.Suggestion)
		return d
	}
	f := &t.Frames[fi]
	v.identity(d, f)
	d.Facts = append(d.Facts, v.instruction(ti, fi)...)
	if fi == 0 {
		d.Facts = append(d.Facts, v.threadFacts(t)...)
	}
	v.registers(d, f)
	d.Fault = v.faultNote()
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
func (v *View) identity(d *rows.FrameDetail, f *report.Frame) {
	add := func(key, value string, code bool) {
		if value != "" {
			d.Facts = append(d.Facts, rows.Fact{Key: key, Value: value, Code: code})
		}
	}
	name, file, line, has, start := f.Function, f.File, f.Line, f.HasLine, f.FunctionStart
	named := named(f)
	// The row is an inlined call: its name and line, and the frame's address.
	if d.Inline >= 0 && d.Inline < len(f.Inlines) {
		in := &f.Inlines[d.Inline]
		name, file, line, has, start, named = in.Function, in.File, in.Line, in.HasLine, in.Start, true
	}
	row := v.frameRow(f, d.Frame-f.LeftOut)
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
			outer = rows.Fold(v.full(f.Inlines[d.Inline+1].Function))
		}
		add("Inlined into", outer, true)
	}
	if named && rows.Clean(name.Raw) != v.full(name) {
		add("Symbol", rows.Clean(name.Raw), true)
	}
	if m := v.module(f.Module); m != nil {
		add("Module", rows.Clean(m.Name), true)
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
	add("Names from", rows.Clean(rows.BaseName(f.From)), true)
	switch {
	case d.Inline >= 0 || report.IsPlaceholder(f.Function.Raw):
	case f.Passed:
		add("Nearest name", v.full(f.Function)+", "+rows.Size(int64(f.Lookup-f.FunctionStart))+" before it, of another function", false)
	case f.Nearest:
		add("Named by", "the nearest public name below the address, whose function may have ended", false)
	case f.Public:
		add("Named by", "a public name, whose function covers the address", false)
	}
	if f.Multiple && d.Inline < 0 {
		add("Shared", "the linker folded several functions into this code; the name is one of them", false)
	}
	d.Warning = v.frameWarning(f)
}

// frameWarning says why a frame may be wrong, or returns "".
func (v *View) frameWarning(f *report.Frame) string {
	switch {
	case f.AssignedSymbols:
		if m := v.module(f.Module); m != nil && m.State == report.SymbolsAssigned && m.SymbolID != "" && m.DebugID != "" {
			return "Found or named by symbols of another build: the module has id " + rows.Clean(m.DebugID) + ", the file has " + rows.Clean(m.SymbolID) + "."
		}
		return "Found or named by symbols that you assigned. They may not match this build."
	case f.Trust == "none":
		return "Nothing in the dump shows that there is code at this address."
	case f.Scanned():
		return "A guess, found by searching the stack (scan): this call may be left over from earlier."
	}
	return ""
}

// threadFacts returns the thread's last error and times, which the page shows with the details of
// its first frame.
func (v *View) threadFacts(t *report.Thread) (facts []rows.Fact) {
	if e := t.LastError; e != nil && e.Value != 0 {
		facts = append(facts, rows.Fact{Key: "Last error", Value: rows.Clean(e.Text), Code: true})
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
		facts = append(facts, rows.Fact{Key: "Thread start", Value: s, Code: true})
	}
	if w.Created != 0 {
		facts = append(facts, rows.Fact{Key: "Created", Value: Time(w.Created), Code: false})
	}
	if w.Ended != 0 {
		facts = append(facts, rows.Fact{Key: "Ended", Value: Time(w.Ended) + ", with status " + short(uint64(w.ExitStatus)), Code: false})
	}
	return append(facts, rows.Fact{Key: "CPU time", Value: seconds(w.User) + " in user mode, " + seconds(w.Kernel) + " in kernel mode", Code: false})
}

// seconds formats a duration in units of 100 ns.
func seconds(n uint64) string { return fmt.Sprintf("%d.%03d s", n/1e7, n/1e4%1000) }

// place formats an address as an offset in its module, or returns "".
func (v *View) place(x uint64) string {
	if i, rva := v.r.ModuleMap.Find(x); i >= 0 {
		return rows.Clean(v.r.Modules[i].Title()) + "+" + short(rva)
	}
	return ""
}

// registers adds the known registers, in the order of debuggers.
//
// Unknown registers are left out, except pc, sp, fp and lr, so that the user sees that they are
// unknown.
func (v *View) registers(d *rows.FrameDetail, f *report.Frame) {
	if f.Regs == nil || f.Regs.Arch == nil {
		d.Note = "No registers are known for this frame."
		return
	}
	a := f.Regs.Arch
	unknown := 0
	for _, r := range a.Shown() {
		reg := rows.Register{Name: a.Names[r]}
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

// AddressNote returns what a text that is an address ("0x7ffe0000") points to, as for a register; "" for other texts.
func (v *View) AddressNote(text string) string {
	digits, ok := strings.CutPrefix(text, "0x")
	if x, err := strconv.ParseUint(digits, 16, 64); ok && err == nil {
		return v.valueNote(x)
	}
	return ""
}

// faultNote returns what the crash's address points to, or "".
func (v *View) faultNote() string {
	if c := v.r.Crash; c == nil || !c.Event.HasAddress || c.Event.Address < 0x1000 || v.points == nil {
		return ""
	}
	p := v.points(v.r.Crash.Event.Address)
	if note := v.pointee(&p); note != "" {
		return note
	}
	return "no memory that the dump knows of"
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
	if p := v.pattern(x); p != "" {
		return p
	}
	if x < 0x1000 {
		return ""
	}
	if v.points != nil {
		p := v.points(x)
		return v.pointee(&p)
	}
	return v.place(x)
}

// why sets how the frame was found, and for the last frame why the stack ends.
//
// The report has a frame's rules in one line, separated by ", ", and the page shows each in a line
// of its own.
func (v *View) why(d *rows.FrameDetail, t *report.Thread, fi int) {
	f := &t.Frames[fi]
	w := &d.Why
	_, w.Sentence = rows.Word(f.Trust)
	if d.Inline >= 0 {
		_, s := rows.Word("inline")
		w.Sentence = s + " Of that frame: " + strings.ToLower(w.Sentence[:1]) + w.Sentence[1:]
	}
	for _, line := range strings.Split(strings.ReplaceAll(f.Rule, ", ", "\n"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			w.Rules = append(w.Rules, rows.Clean(line))
		}
	}
	w.Origin = rows.Clean(f.Origin)
	w.Attempts = attempts(f.Attempts)
	w.Stop, w.Last, w.Suggestion = stopSentence(t), t.Total()-1, rows.Clean(t.Stop.Suggestion)
	if fi == len(t.Frames)-1 {
		w.StopAttempts = attempts(t.Stop.Attempts)
	}
}

func attempts(from []report.Attempt) []rows.Attempt {
	out := []rows.Attempt{}
	for _, a := range from {
		out = append(out, rows.Attempt{Source: rows.SourceWord(a.Source), Rule: rows.Clean(a.Rule), Origin: rows.Clean(a.Origin), Reason: rows.Clean(a.Reason)})
	}
	return out
}
