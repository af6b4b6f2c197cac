package view

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// StackQuery selects a window of a stack: Count rows from row From on. Frame and Inline are the
// selected row, whose number StackPage.Selected has.
type StackQuery struct {
	Thread      int
	From, Count int
	Frame       int // selected
	Inline      int
	HideInlines bool
	ShowFolds   bool   // a run of guesses or of frames that repeat others is not one row
	Search      string // a Query
}

// layout is which rows a thread's stack has.
type layout struct {
	thread                 int
	hideInlines, showFolds bool
}

// rowsOf returns the number of the first row of each frame, and behind them the number of rows. A run
// of guesses, or of frames that repeat others, has a row before its first frame, and its frames have none unless they are shown.
//
// Example: frames with 0, 2 and 0 inlined calls begin at the rows 0, 1 and 4, and there are 5 rows.
// The numbers are kept, because the page asks for a window of rows at each step of scrolling.
func (v *View) rowsOf(l layout) []int32 {
	starts, ok := v.starts[l]
	if ok {
		return starts
	}
	t := v.thread(l.thread)
	starts = make([]int32, len(t.Frames)+1)
	n := 0
	for i := range t.Frames {
		starts[i] = int32(n)
		g := t.FoldAt(i)
		if g != nil && g.From == i {
			n++
		}
		if g == nil || l.showFolds {
			n++
			if !l.hideInlines {
				n += len(t.Frames[i].Inlines)
			}
		}
	}
	starts[len(t.Frames)] = int32(n)
	v.starts[l] = starts
	return starts
}

// Stack returns a window of a thread's stack. Inlined calls are above the frame that contains them,
// innermost first. Guesses are shown if the selected frame is one.
//
//	row 0   inlined call h          in frame 0
//	row 1   inlined call g          in frame 0
//	row 2   f                       frame 0
//	row 3   main                    frame 1
//	row 4   174 possible callers    frames 2 to 175
//	row 5   why the walk ended
//	row 6   what would help         if there is a suggestion
func (v *View) Stack(q StackQuery) rows.StackPage {
	out := rows.StackPage{Thread: q.Thread, Selected: -1, Rows: []rows.StackRow{}, Folds: []rows.Run{}}
	t := v.thread(q.Thread)
	if t == nil {
		return out
	}
	out.Name, out.Frames = rows.Clean(t.Name), t.Total()
	for _, f := range t.Folds() {
		from := t.Number(f.From)
		out.Folds = append(out.Folds, rows.Run{From: from, Count: t.Number(f.From+f.Count-1) - from + 1, Repeats: f.Repeat != nil})
	}
	shown := q.ShowFolds || t.FoldAt(q.Frame) != nil
	v.otherStack(&out, t)
	out.Quality = v.quality(t)
	out.SourceWidth, out.WhereWidth = v.widths(q.Thread)
	starts := v.rowsOf(layout{q.Thread, q.HideInlines, shown})
	n, tail := int(starts[len(t.Frames)]), v.stopRows(t)
	out.Total = n + len(tail)
	lo, hi := window(out.Total, q.From, q.Count)
	out.From = lo
	if q.Frame >= 0 && q.Frame < len(t.Frames) {
		// The frame's own row is its last.
		out.Selected = int(starts[q.Frame+1]) - 1
		if own := len(t.Frames[q.Frame].Inlines); !q.HideInlines && q.Inline >= 0 && q.Inline < own {
			out.Selected -= own - q.Inline
		}
	}
	click := "show"
	if shown {
		click = "hide"
	}
	// fi is the last frame that begins at or before row lo: the row is one of its.
	fi := max(0, sort.Search(len(t.Frames), func(i int) bool { return int(starts[i]) > lo })-1)
	for row := lo; row < hi && fi < len(t.Frames); fi++ {
		// The rows of a frame, from behind: itself, its inlined calls, the run that begins with it.
		for ; row < int(starts[fi+1]) && row < hi; row++ {
			inline := -1
			f := &t.Frames[fi]
			fold := t.FoldAt(fi)
			switch own := int(starts[fi+1]) - row; {
			case row == int(starts[fi]) && fold != nil && fold.From == fi:
				out.Rows = append(out.Rows, v.foldRow(t, fold, ": "+click))
				out.Rows[len(out.Rows)-1].Hit = !shown && v.foldHolds(t, fold, q.Search)
				continue
			case own > 1:
				inline = len(f.Inlines) + 1 - own
				out.Rows = append(out.Rows, v.inlineRow(f, fi, inline))
			default:
				out.Rows = append(out.Rows, v.frameRow(f, fi))
			}
			out.Rows[len(out.Rows)-1].Hit = v.frameHolds(f, fi, inline, q.Search)
		}
	}
	// The rows after the last frame say why the walk ended.
	for row := max(lo, n); row < hi; row++ {
		out.Rows = append(out.Rows, tail[row-n])
	}
	return out
}

// foldHolds reports whether a frame of a run contains a Query.
func (v *View) foldHolds(t *report.Thread, g *report.Fold, query string) bool {
	for i := g.From; i < g.From+g.Count && query != ""; i++ {
		if v.frameHolds(&t.Frames[i], i, -1, query) {
			return true
		}
	}
	return false
}

// foldRow returns the row for a run of frames, to show and hide them, or without the word for that if
// click is "".
//
// Its Frame is -1 and its Inline less than those of the rows after the last frame, so that the page's
// keys of rows differ.
func (v *View) foldRow(t *report.Thread, f *report.Fold, click string) rows.StackRow {
	if f.Repeat != nil {
		return rows.StackRow{Kind: rows.RowRepeat, Frame: -1, Inline: -3 - f.From, ModuleIndex: -1, Other: -1,
			Function: sentenceCase(f.Repeat.String()) + click, Full: "A recursion: the functions of the frames above call each other again and again."}
	}
	g := f.Guesses
	row := rows.StackRow{Kind: rows.RowGuesses, Frame: -1, Inline: -3 - g.From, ModuleIndex: -1, Other: -1, Unreliable: true,
		Function: rows.Number(g.Count) + " possible callers, found by scanning" + click,
		Full:     "Words on the stack that look like return addresses. Most may be left over from earlier calls."}
	if best := v.bestGuesses(t, g); best != "" {
		row.Function += ". " + best
		row.Full += " " + best + "."
	}
	return row
}

// bestGuesses names the likeliest frames of a run, or returns "".
//
//	Likeliest: app!parse (12), app!main (40)
func (v *View) bestGuesses(t *report.Thread, g *report.Guesses) string {
	var best []string
	for _, i := range g.Best {
		row := v.frameRow(&t.Frames[i], i)
		row.InFunction = ""
		best = append(best, fmt.Sprintf("%s (%d)", rows.Place(row), t.Number(i)))
	}
	if best == nil {
		return ""
	}
	return "Likeliest: " + strings.Join(best, ", ")
}

// otherStack says what else a thread has, or what it is.
func (v *View) otherStack(out *rows.StackPage, t *report.Thread) {
	name := func(i int) string {
		if s := &v.r.Threads[i]; len(s.Frames) > 0 && s.Frames[0].Regs.Arch.WordSize == 4 {
			return "32-bit stack"
		}
		return "64-bit layer"
	}
	number := t.Index
	switch {
	case t.Unlisted:
		out.Title = fmt.Sprintf("Thread with id %d, not in the dump’s list", t.ID)
		return
	case t.IsSecond:
		number = t.Other
	case !t.HasSecond:
		return
	}
	out.Other, out.Switch = t.Other, "Show the "+name(t.Other)
	out.Title = fmt.Sprintf("Thread %d, ", number)
	if out.Name != "" {
		out.Title += out.Name + ", "
	}
	out.Title += name(t.Index)
}

// holds reports whether s contains want, which is in lower case, ignoring the case of s.
func holds(s, want string) bool { return strings.Contains(strings.ToLower(s), want) }

// frameRow returns a frame's row with its name.
func (v *View) frameRow(f *report.Frame, i int) rows.StackRow {
	row := v.namedRow(f, i)
	if !row.NoSymbol {
		row.Function = rows.Fold(v.full(f.Function)) + after(f)
	}
	if f.TailCall.Raw != "" {
		row.InFunction = ""
		called := v.full(f.TailCall)
		row.Function += " → " + rows.Fold(called) + " (tail call)"
		row.Full += " → " + called + " (tail call)"
	}
	return row
}

// namedRow returns a frame's row with its full name alone: a search needs no folded one.
func (v *View) namedRow(f *report.Frame, i int) rows.StackRow {
	row := v.placedRow(f, i)
	v.nameRow(&row, f)
	return row
}

// sharedRow returns what the rows of a frame and of its inlined calls have in common.
func (v *View) sharedRow(f *report.Frame, i int) rows.StackRow {
	return rows.StackRow{Frame: i + f.LeftOut, AssignedSymbols: f.AssignedSymbols, Address: v.frameHex(f, f.Lookup), ModuleIndex: f.Module, Other: v.other(f.Module),
		Unreliable: f.Scanned()}
}

// placedRow returns a frame's row without its name.
//
// widths calls it for every frame of a stack, so it must not demangle.
func (v *View) placedRow(f *report.Frame, i int) rows.StackRow {
	row := v.sharedRow(f, i)
	row.Kind, row.Inline, row.Trust, row.Missing = rows.RowFrame, -1, f.Trust, f.MissingSymbols
	row.Unreliable = row.Unreliable || f.Trust == "none"
	row.Word, _ = rows.Word(f.Trust)
	if m := v.module(f.Module); m != nil {
		row.Module = rows.Clean(m.Title())
		row.Offset = "+" + short(f.RVA)
	} else if len(f.Unloaded) > 0 {
		row.Module = rows.Clean(rows.BaseName(f.Unloaded[0].Module)) + " (unloaded)"
		if len(f.Unloaded[0].Offsets) > 0 {
			row.Offset = "+" + short(f.Unloaded[0].Offsets[0])
		}
	}
	row.Source, row.Path = source(f.File, f.Line, f.HasLine)
	return row
}

// widths returns the lengths of the longest Source and Where of a thread's rows. It needs no
// demangled names, since a deep stack has too many.
func (v *View) widths(ti int) (int, int) {
	if w, ok := v.width[ti]; ok {
		return w[0], w[1]
	}
	var w [2]int
	longest := func(row rows.StackRow) {
		w[0], w[1] = max(w[0], utf8.RuneCountInString(row.Source)), max(w[1], utf8.RuneCountInString(row.Where()))
	}
	t := v.thread(ti)
	for i := range t.Frames {
		f := &t.Frames[i]
		row := v.placedRow(f, i)
		row.NoSymbol = !named(f)
		longest(row)
		for k := range f.Inlines {
			in := &f.Inlines[k]
			row.Source, _ = source(in.File, in.Line, in.HasLine)
			longest(row)
		}
	}
	v.width[ti] = w
	return w[0], w[1]
}

// nameRow sets a row's full name, or without one where the address is.
func (v *View) nameRow(row *rows.StackRow, f *report.Frame) {
	if named(f) {
		row.Full = v.full(f.Function) + after(f)
		if !f.Nearest && f.FunctionStart != 0 && f.Lookup >= f.FunctionStart {
			row.InFunction = "+" + short(f.Lookup-f.FunctionStart)
		}
		return
	}
	row.NoSymbol = true
	row.Function = row.Module + row.Offset
	if row.Module == "" {
		row.Function = row.Address
	}
	switch {
	case f.Passed && !report.IsPlaceholder(f.Function.Raw):
		row.Full = row.Function + ", no name: the nearest one, " + rows.Size(int64(f.Lookup-f.FunctionStart)) + " before it, is another function's"
	case row.Module == "":
		row.Full = row.Function + ", in no module"
	case f.MissingSymbols && v.module(f.Module) != nil && v.module(f.Module).Has.OnlyExports:
		row.Full = row.Function + ", the files of " + row.Module + " have only exported names"
	case f.MissingSymbols:
		row.Full = row.Function + ", no symbols for " + row.Module
	default:
		row.Full = row.Function + ", the symbols of " + row.Module + " have no function here"
	}
}

// after returns "+0xd6", the offset of a frame's address from its name, if that is only the nearest
// name: it is then shown wherever the name is, because the address may be in another function.
func after(f *report.Frame) string {
	if !f.Nearest {
		return ""
	}
	return "+" + short(f.Lookup-f.FunctionStart)
}

// named reports whether a frame has a name of its own. "<name omitted>" and "<unknown in app.exe>"
// are what writers of symbol files write for functions without a name.
func named(f *report.Frame) bool { return f.Named() && !report.IsPlaceholder(f.Function.Raw) }

// inlineRow returns the row of inlined call k of a frame.
func (v *View) inlineRow(f *report.Frame, i, k int) rows.StackRow {
	row := v.namedInlineRow(f, i, k)
	row.Function = rows.Fold(row.Full)
	return row
}

// namedInlineRow is inlineRow with the full name alone.
func (v *View) namedInlineRow(f *report.Frame, i, k int) rows.StackRow {
	in := &f.Inlines[k]
	row := v.sharedRow(f, i)
	row.Kind, row.Inline, row.Trust, row.Full = rows.RowInline, k, "inline", v.full(in.Function)
	row.Word, _ = rows.Word(row.Trust)
	if m := v.module(f.Module); m != nil {
		row.Module = rows.Clean(m.Title())
	}
	row.Source, row.Path = source(in.File, in.Line, in.HasLine)
	return row
}

// stopRows returns the rows after the last frame.
//
// Their Inline is -1 and -2, so that the page's key of a row (frame and inline) differs for the
// two.
func (v *View) stopRows(t *report.Thread) []rows.StackRow {
	list := []rows.StackRow{{Kind: rows.RowStop, Frame: -1, Inline: -1, ModuleIndex: -1, Other: -1, Function: stopSentence(t)}}
	if s := rows.Clean(t.Stop.Suggestion); s != "" {
		list = append(list, rows.StackRow{Kind: rows.RowStop, Suggestion: true, Frame: -1, Inline: -2, ModuleIndex: -1, Other: -1, Function: sentenceCase(s), Full: s})
	}
	return list
}

// stopSentence returns why a walk ended.
func stopSentence(t *report.Thread) string {
	if t.Omitted {
		return "No frames: this thread wrote the dump."
	}
	if t.Pending {
		return "Crashpane is still finding the frames of this thread."
	}
	d := rows.Clean(t.Stop.Detail)
	switch t.Stop.Kind {
	case "end":
		d = cmp.Or(d, "the chain of frames ends here")
		return "End of the stack: " + d
	case "":
		return "End of the stack"
	}
	if d == "" {
		d = strings.ReplaceAll(rows.Clean(t.Stop.Kind), "-", " ")
	}
	return "The stack ends early: " + d
}

// source returns "file.cpp:12", and the full path with the line. Code that the compiler made for no line
// has line 0 (DWARF 5, section 6.2.2).
func source(file string, line uint32, has bool) (string, string) {
	if file == "" {
		return "", ""
	}
	file = rows.Clean(file)
	s := rows.BaseName(file)
	switch {
	case has && line == 0:
		return s + ", no line", file + ", no line: the compiler made this code for none"
	case has:
		n := ":" + strconv.FormatUint(uint64(line), 10)
		return s + n, file + n
	}
	return s, file
}

// quality returns how many modules of a stack have symbols, and how many frames are unreliable.
//
//	Symbols for 3 of 5 modules on this stack · add libfoo.so first · 2 frames are guesses
func (v *View) quality(t *report.Thread) string {
	if len(t.Frames) == 0 {
		return ""
	}
	// Modules are counted once, however many frames they have.
	seen, have, exports, total, assigned := map[int]bool{}, 0, 0, 0, 0
	weak, distant := 0, 0
	for i := range t.Frames {
		f := &t.Frames[i]
		if f.Scanned() {
			weak++
		}
		if f.AssignedSymbols {
			assigned++
		}
		if f.Passed {
			distant++
		}
		if m := v.module(f.Module); m != nil && !seen[f.Module] {
			seen[f.Module] = true
			total++
			switch {
			case m.State != report.SymbolsLoaded && m.State != report.SymbolsAssigned:
			case m.Has.OnlyExports:
				exports++
			default:
				have++
			}
		}
	}
	var parts []string
	switch {
	case total == 0:
		parts = append(parts, "No frame is in a module")
	case have == total && total == 1:
		parts = append(parts, "Symbols for the only module on this stack")
	case have == total:
		parts = append(parts, "Symbols for all "+rows.Number(total)+" modules on this stack")
	default:
		parts = append(parts, "Symbols for "+rows.Number(have)+" of "+count(total, "module", "modules")+" on this stack")
	}
	if exports > 0 {
		parts = append(parts, "only exported names for "+count(exports, "module", "modules"))
	}
	if m := v.module(t.Stop.Wants); t.Stop.Suggestion != "" && m != nil {
		parts = append(parts, "add "+rows.Clean(m.FileToAdd())+" first")
	}
	if distant > 0 {
		parts = append(parts, count(distant, "frame has", "frames have")+" no name")
	}
	if weak > 0 {
		parts = append(parts, count(weak, "frame is a guess", "frames are guesses"))
	}
	if assigned > 0 {
		parts = append(parts, count(assigned, "frame", "frames")+" found or named by symbols that you assigned")
	}
	return strings.Join(parts, " · ")
}
