package jsonreport

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteOutline writes the outline of a file as an object, without a newline at the end. Keys are in
// alphabetical order.
//
//	file   {arch, code_id, debug_id, missing[], module, name, os, parts[], warning_count, warnings[]}, with {file, section, what} of
//	       each part
//	list   null, or {complete, next_line, rows[]}; complete is false if there are more rows, next_line the next line
//	       with code where the asked one has none, or null
//	rows[] {address, file, folded, function, line, public, size}; file and line of source files and lines; a source file has
//	       no address. size is null for a public name, whose end is not known
//	place  null, or {address, file, function, inlines[], line, lines[], offset, parameter_size, rule, no_rule, size}: what is at an
//	       address; inlines are {file, function, line}, the innermost first; lines are those of the function, {address, file,
//	       inlined[], line, size}; rule is null, or {cfa, marks[], origin, program, ra, registers}, and no_rule says why
func WriteOutline(w io.Writer, o *report.Outline) error {
	r := &report.Report{}
	r.Dump.WordSize = o.File.WordSize
	return write(w, r, Options{Pretty: true}, func(p *printer) {
		f := &o.File
		p.Object("file", func() {
			p.StrOrNull("arch", f.Arch)
			p.StrOrNull("code_id", f.CodeID)
			p.StrOrNull("debug_id", f.DebugID)
			p.Strings("missing", f.Missing)
			p.StrOrNull("module", f.Module)
			p.Str("name", f.Name)
			p.StrOrNull("os", f.OS)
			p.Objects("parts", len(f.Parts), func(i int) {
				p.Str("file", f.Parts[i].File)
				p.Str("section", f.Parts[i].Section)
				p.Str("what", f.Parts[i].What)
			})
			p.Int("warning_count", int64(f.WarningCount))
			p.Strings("warnings", f.Warnings)
		})
		p.ObjectOrNull("list", o.List != nil, func() { p.outlineList(o.List) })
		p.ObjectOrNull("place", o.Place != nil, func() { p.outlinePlace(o.Place) })
	})
}

func (p *printer) outlineList(l *report.OutlineList) {
	p.Bool("complete", !l.More && l.Ended)
	p.IntOrNull("next_line", int64(l.NextLine), l.NextLine > 0)
	p.Objects("rows", len(l.Rows), func(i int) {
		r := &l.Rows[i]
		code := l.Kind != report.OutlineFiles
		p.hexOrNull("address", r.Address, code)
		p.StrOrNull("file", r.File)
		p.Bool("folded", r.Multiple)
		p.function(r.Name)
		p.IntOrNull("line", int64(r.Line), r.Line > 0)
		p.Bool("public", r.Public)
		p.IntOrNull("size", int64(r.Size), r.Size > 0)
	})
}

func (p *printer) outlinePlace(at *report.OutlinePlace) {
	f := &at.Function
	known := f.Name.Raw != ""
	p.hex("address", at.Address)
	p.StrOrNull("file", at.File)
	p.function(f.Name)
	p.Objects("inlines", len(at.Inlines), func(i int) {
		c := &at.Inlines[i]
		p.StrOrNull("file", c.File)
		p.function(c.Name)
		p.IntOrNull("line", int64(c.Line), c.Line > 0)
	})
	p.IntOrNull("line", int64(at.Line), at.HasLine)
	p.Objects("lines", len(at.Lines), func(i int) {
		l := &at.Lines[i]
		p.hex("address", l.Address)
		p.StrOrNull("file", l.File)
		p.List("inlined", len(l.Inlined), func(k int) { p.PutString(l.Inlined[k].Shown()) })
		p.Int("line", int64(l.Line))
		p.Int("size", int64(l.Size))
	})
	p.StrOrNull("no_rule", at.NoRule)
	p.hexOrNull("offset", at.Address-f.Address, known)
	p.IntOrNull("parameter_size", int64(at.ParamSize), known && !f.Public)
	if r := at.Rule; r == nil {
		p.Null("rule")
	} else {
		p.Object("rule", func() {
			p.StrOrNull("cfa", r.CFA)
			p.Strings("marks", r.Marks)
			p.StrOrNull("origin", r.Origin)
			p.StrOrNull("program", r.Text)
			p.StrOrNull("ra", r.RA)
			p.Objects("registers", len(r.Registers), func(i int) {
				p.Str("name", r.Registers[i].Name)
				p.Str("rule", r.Registers[i].Rule)
			})
		})
	}
	p.IntOrNull("size", int64(f.Size), f.Size > 0)
}
