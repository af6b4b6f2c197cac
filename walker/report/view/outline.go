package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// Outline makes the rows of the outline of a file. For a list that is nil it says that it is still to be
// made.
func (v *View) Outline(o *report.Outline) *rows.OutlinePage {
	f := &o.File
	v.r.Dump.WordSize = f.WordSize
	p := &rows.OutlinePage{Name: rows.Clean(rows.BaseName(f.Name)), Module: rows.Clean(strings.TrimSpace(f.Module + " " + f.DebugID)), Rows: []rows.OutlineRow{}, WarningCount: f.WarningCount}
	fact := func(key, value string) {
		if value != "" {
			p.Facts = append(p.Facts, rows.Fact{Key: key, Value: rows.Clean(value), Code: true})
		}
	}
	fact("Module", f.Module)
	fact("Debug id", f.DebugID)
	fact("Code id", f.CodeID)
	fact("System", strings.TrimSpace(f.OS+" "+f.Arch))
	fact("Addresses from", v.hex(f.Base))
	for _, part := range f.Parts {
		fact(upperFirst(part.What), rows.BaseName(part.File)+" "+part.Section)
	}
	for _, m := range f.Missing {
		fact("Not here", m)
	}
	for _, w := range f.Warnings {
		p.Warnings = append(p.Warnings, rows.Clean(w))
	}
	if l := o.List; l != nil {
		v.outlineList(p, l)
	}
	if o.Place != nil {
		p.Place = v.outlinePlace(o.Place)
	}
	return p
}

func (v *View) outlineList(p *rows.OutlinePage, l *report.OutlineList) {
	p.Kind, p.Text, p.Listed, p.Ended = l.Kind, l.Text, true, l.Ended
	p.From, p.Total = l.From, l.Total
	what := map[string][2]string{report.OutlineFunctions: {"function", "functions"}, report.OutlineFiles: {"source file", "source files"}, report.OutlineLines: {"place", "places"}}[l.Kind]
	p.Status = count(l.Total, what[0], what[1])
	switch {
	case !l.Ended:
		p.Status = fmt.Sprintf("%s so far · %s of %s", p.Status, rows.Size(l.Done), rows.Size(l.Size))
	case l.More:
		p.Status = "The first " + p.Status
	}
	if l.Ended && l.Total == 0 {
		p.Empty = l.Nothing()
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		if l.Kind == report.OutlineFiles {
			path := rows.Clean(r.File)
			p.Rows = append(p.Rows, rows.OutlineRow{Name: path, Full: path})
			continue
		}
		row := rows.OutlineRow{Address: v.hex(r.Address), Size: r.Bytes(), Full: v.full(r.Name)}
		row.Name = rows.Fold(row.Full)
		if r.Public {
			row.Size = "public"
		}
		if r.Multiple {
			row.Full += " (the linker folded other functions into it)"
		}
		if r.File != "" {
			row.Where, row.WherePath = source(r.File, r.Line, true)
		}
		p.Rows = append(p.Rows, row)
	}
}

func (v *View) outlinePlace(at *report.OutlinePlace) *rows.OutlinePlace {
	p := &rows.OutlinePlace{Address: v.hex(at.Address), Full: rows.Clean(at.Title(v.full)), Lines: []rows.OutlineRow{}, At: at.At}
	p.Title = rows.Fold(p.Full)
	p.From, p.Total = at.LinesFrom, at.LinesTotal
	fact := func(key, value string) {
		if value != "" {
			p.Facts = append(p.Facts, rows.Fact{Key: key, Value: rows.Clean(value), Code: true})
		}
	}
	if f := &at.Function; f.Name.Raw != "" {
		fact("Begins at", v.hex(f.Address))
		if f.Size > 0 {
			fact("Size", rows.Size(int64(min(f.Size, 1<<62))))
		}
		if f.Public {
			fact("Kind", "public name, whose end is not known")
		}
		if at.ParamSize > 0 {
			fact("Parameters", fmt.Sprintf("%d bytes on the stack", at.ParamSize))
		}
		if f.Multiple {
			fact("Folded", "the linker gave other functions this code")
		}
		if linked := rows.Clean(f.Name.Raw); linked != v.full(f.Name) {
			fact("Linkage name", linked)
		}
	}
	for _, c := range at.Inlines {
		fact("Inlined", v.full(c.Name)+"  "+where(c.File, c.Line))
	}
	if at.HasLine {
		fact("Source", where(at.File, at.Line))
	}
	if r := at.Rule; r != nil {
		fact("Unwind rule", r.Short())
		fact("Rule from", rows.BaseName(r.Origin))
	} else {
		fact("Unwind rule", at.NoRule)
	}
	for i := range at.Lines {
		l := &at.Lines[i]
		line := rows.OutlineRow{Address: v.hex(l.Address), Size: fmt.Sprint(l.Size)}
		line.Where, line.WherePath = source(l.File, l.Line, true)
		var in []string
		for _, n := range l.Inlined {
			in = append(in, v.full(n))
		}
		line.Full = rows.Clean(strings.Join(in, " in "))
		line.Name = line.Full
		p.Lines = append(p.Lines, line)
	}
	return p
}

func where(file string, line uint32) string {
	if file == "" {
		return fmt.Sprintf("line %d of a file that is not named", line)
	}
	return fmt.Sprintf("%s:%d", file, line)
}
