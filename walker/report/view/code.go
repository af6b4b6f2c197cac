package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// CodeList is a listing of code, whose rows are made when they are shown.
type CodeList struct {
	v    *View
	code *report.Code
	rows []codeRow
	at   int
	text func(path string) SourceText
	jumps
}

// SourceText is a source file: its lines, counted from 1, what is doubtful about it, and why it has no
// lines; "" if that is not so.
type SourceText interface {
	Count() int
	Line(n int) string
	Title() string
	Doubt() string
	Trouble() string
}

// codeRow is a row of a listing: its kind, and its instruction.
type codeRow struct {
	kind string
	of   int
}

// CodeList makes a listing. text returns the source file that was added for a path, or nil.
func (v *View) CodeList(c *report.Code, text func(path string) SourceText) *CodeList {
	l := &CodeList{v: v, code: c, text: text}
	if c.Guessed && !c.MoreBefore {
		l.rows = append(l.rows, codeRow{rows.CodeNote, -1})
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Starts() {
			l.rows = append(l.rows, codeRow{rows.CodeFunction, i})
		}
		if row.Line != 0 {
			l.rows = append(l.rows, codeRow{rows.CodeLine, i})
		}
		if row.At {
			l.at = len(l.rows)
		}
		l.rows = append(l.rows, codeRow{rows.CodeInstruction, i})
		if l.note(row) != "" {
			l.rows = append(l.rows, codeRow{rows.CodeNote, i})
		}
	}
	l.jumps = l.jumpsOf()
	return l
}

// Page returns the rows from number from on, counted from the row of the instruction that the
// listing is around.
func (l *CodeList) Page(from, n int) *rows.CodePage {
	c := l.code
	p := &rows.CodePage{Rows: []rows.CodeRow{}, At: l.at, Title: rows.Fold(l.v.codePlace(&c.Place)), MoreBefore: c.MoreBefore, MoreAfter: c.MoreAfter,
		Source: "The dump’s memory", Wanted: rows.Clean(c.Wanted(l.v.r))}
	if c.From != "" {
		p.Source = rows.Clean(rows.BaseName(c.From))
	}
	if c.Unread != "" {
		p.Note = rows.Clean(upperFirst(c.Unread)) + "."
	}
	if len(l.rows) == 0 {
		p.Source = ""
	}
	p.Total = len(l.rows)
	p.From = max(0, min(l.at+from, len(l.rows)))
	p.Lanes = l.jumps.count
	for i := p.From; i < min(len(l.rows), p.From+max(0, n)); i++ {
		row := l.row(l.rows[i])
		row.Lanes = l.lanesOf(i)
		if row.From = l.fromText(i); row.From != "" {
			row.Full += "  jumped to " + row.From
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// codePlace names a place in code.
func (v *View) codePlace(p *report.Place) string {
	if p.Module < 0 {
		return "Outside of every module"
	}
	return rows.Clean(p.Text(v.r, v.full))
}

// row makes a row.
func (l *CodeList) row(r codeRow) rows.CodeRow {
	if r.of < 0 {
		return rows.CodeRow{Kind: r.kind, Text: "The first instructions may be wrong.", Full: "The beginning of a function is not there, so where these instructions begin is a guess."}
	}
	in := &l.code.Rows[r.of]
	out := rows.CodeRow{Kind: r.kind, Address: l.v.hex(in.Address)}
	switch r.kind {
	case rows.CodeFunction:
		out.Full = l.v.full(in.In.Function)
		out.Text = rows.Fold(out.Full)
	case rows.CodeLine:
		out.Text, out.Full = source(in.File, in.Line, true)
		if t := l.text(in.File); t != nil {
			out.Source = sourceLine(strings.TrimLeft(t.Line(int(in.Line)), " \t"))
		}
	case rows.CodeNote:
		out.Text = l.note(in)
		out.Full = out.Text
	default:
		l.instruction(&out, in)
	}
	return out
}

func (l *CodeList) instruction(out *rows.CodeRow, in *report.CodeRow) {
	out.At, out.Bytes = in.At, fmt.Sprintf("% x", in.Bytes)
	out.Offset = "+" + short(in.In.Offset)
	if in.In.Module < 0 {
		out.Offset = ""
	}
	out.Text = rows.Clean(in.Text)
	if in.Text == "" && l.code.Unread == "" {
		out.Text = "not a known instruction"
	} else if in.Text == "" {
		out.Text = out.Bytes
	}
	out.Full = out.Address + "  " + out.Bytes + "  " + out.Text
	to, note := in.Target, ""
	switch {
	case in.HasTarget:
		note = l.v.codePlace(&in.Place)
	case in.Data == 0:
		return
	case l.v.points != nil:
		to, note = in.Data, l.v.valueNote(in.Data)
	default:
		to, note = in.Data, l.v.codePlace(&in.Place)
	}
	out.Target, out.Data, out.IsCode = "0x"+fmt.Sprintf("%x", to), !in.HasTarget, in.Place.Function.Raw != ""
	if in.HasTarget {
		out.Text = strings.TrimRight(strings.Replace(out.Text, out.Target, "", 1), " ,")
	}
	out.Goal = out.Target
	switch p := &in.Place; {
	case p.Module < 0, out.Data && !out.IsCode:
	case p.Function.Raw != "" && p.Module == in.In.Module && to-p.Offset == in.Address-in.In.Offset && p.Offset > 0:
		arrow := " ↓"
		if to <= in.Address {
			arrow = " ↑"
		}
		out.Goal = "+" + short(p.Offset) + arrow
	case p.Offset == 0 && p.Function.Raw != "":
		out.Goal = rows.Fold(l.v.full(p.Function))
	default:
		out.Goal = rows.Fold(l.v.codePlace(p))
	}
	if out.Data {
		note = out.Target + " " + note
	}
	out.Full += "  " + strings.TrimSpace(note)
}

// note says what is known about an instruction here, and the values of its registers.
func (l *CodeList) note(in *report.CodeRow) string {
	parts := in.Notes()
	for _, v := range in.Values {
		s := fmt.Sprintf("%s = 0x%x", v.Name, v.Value)
		if note := l.v.valueNote(v.Value); note != "" {
			s += " " + note
		}
		parts = append(parts, s)
	}
	return rows.Clean(strings.Join(parts, " · "))
}

// SourceList is a listing of a source file around a frame's line.
type SourceList struct {
	text SourceText
	path string
	line int
}

// NewSourceList makes a listing. text is nil if the file was not added.
func NewSourceList(path string, line int, text SourceText) *SourceList {
	return &SourceList{text, path, line}
}

// Page returns the rows from number from on, counted from that of the frame's line.
func (l *SourceList) Page(from, n int) *rows.CodePage {
	p := &rows.CodePage{Rows: []rows.CodeRow{}, Title: rows.Clean(rows.BaseName(l.path))}
	switch {
	case l.path == "":
		p.Title = "No source line"
		p.Note = "The symbols have no source line for this frame."
		return p
	case l.text == nil:
		p.Note = "The source file " + rows.Clean(l.path) + " was not added."
		return p
	case l.text.Trouble() != "":
		p.Note = "The source file cannot be shown: " + rows.Clean(l.text.Trouble()) + "."
	case l.line > l.text.Count():
		p.Note = fmt.Sprintf("It is another revision of the file: it has %d lines, and the frame is in line %d.", l.text.Count(), l.line)
	case l.text.Doubt() != "":
		p.Note = rows.Clean(l.text.Doubt() + ".")
	}
	p.Source, p.Total = rows.Clean(l.text.Title()), l.text.Count()
	p.At = max(0, min(l.line, p.Total)-1)
	p.From = max(0, min(p.At+from, p.Total))
	for i := p.From; i < min(p.Total, p.From+max(0, n)); i++ {
		text := sourceLine(l.text.Line(i + 1))
		p.Rows = append(p.Rows, rows.CodeRow{Kind: rows.CodeSource, Line: fmt.Sprint(i + 1), Text: text, Full: text, At: i+1 == l.line})
	}
	return p
}

// maxSourceLine is how many bytes of a line are shown: files that programs write may have lines of any
// length.
const maxSourceLine = 400

// sourceLine cleans a line of a source file. Tabs are four columns, as most editors show them.
func sourceLine(s string) string {
	if len(s) > maxSourceLine {
		s = strings.ToValidUTF8(s[:maxSourceLine], "") + "…"
	}
	return rows.Clean(strings.ReplaceAll(s, "\t", "    "))
}
