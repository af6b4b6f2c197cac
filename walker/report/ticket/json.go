package ticket

import (
	"io"

	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteJSON writes a ticket as an object, without a newline at the end. Keys are in alphabetical order. Texts of
// files are values, and never keys.
//
//	code, facts, messages[]  {name, text}: of the instruction that crashed, of the dump, and what the program said about its end
//	dump, what_happened      texts
//	findings[]               {suggestion, text, title}: why stacks are shorter or less reliable than they could be
//	hidden                   whether private texts are hidden
//	missing[]                texts: symbol files
//	modules[]                {code_id, debug_file, debug_id, name, version} of those on the first stack
//	registers[]              {name, value} of the first frame
//	stacks[]                 {frames[], more, quality, stop, suggestion, title, total}; more is how many frames after the last are not listed
//	stacks[].frames[]        {address, frame, function, module, offset, several, source, trust}: of an inlined call several is 0 and frame that of the
//	                         frame it is in; of a row for several frames, which function describes, several is how many
func WriteJSON(w io.Writer, t *Ticket) error {
	p := jsonwriter.New(w, jsonwriter.Compact)
	facts := func(key string, list []rows.Fact) {
		p.Objects(key, len(list), func(i int) {
			p.Str("name", list[i].Key)
			p.Str("text", list[i].Value)
		})
	}
	p.PutObject(func() {
		facts("code", t.Code)
		p.Str("dump", t.Dump)
		facts("facts", t.Facts)
		p.Objects("findings", len(t.Findings), func(i int) {
			f := &t.Findings[i]
			p.StrOrNull("suggestion", f.Suggestion)
			p.Str("text", f.Text)
			p.Str("title", f.Title)
		})
		p.Bool("hidden", t.Hidden)
		facts("messages", t.Messages)
		p.Strings("missing", t.Missing)
		p.Objects("modules", len(t.Modules), func(i int) {
			m := &t.Modules[i]
			p.StrOrNull("code_id", m.CodeID)
			p.StrOrNull("debug_file", m.DebugFile)
			p.StrOrNull("debug_id", m.DebugID)
			p.Str("name", m.Name)
			p.StrOrNull("version", m.Version)
		})
		p.Objects("registers", len(t.Registers), func(i int) {
			p.Str("name", t.Registers[i].Name)
			p.Str("value", t.Registers[i].Value)
		})
		p.Objects("stacks", len(t.Stacks), func(i int) { putStack(p, &t.Stacks[i]) })
		p.Str("what_happened", t.Verdict)
	})
	return p.Flush()
}

func putStack(p *jsonwriter.Writer, s *Stack) {
	p.Objects("frames", len(s.Frames), func(i int) {
		f := &s.Frames[i]
		several := f.Several
		if f.Kind == rows.RowFrame {
			several = 1
		}
		p.StrOrNull("address", f.Address)
		p.Int("frame", int64(f.Frame))
		p.Str("function", f.Full)
		p.StrOrNull("module", f.Module)
		p.StrOrNull("offset", f.Offset)
		p.Int("several", int64(several))
		p.StrOrNull("source", f.Source)
		p.StrOrNull("trust", f.Word)
	})
	p.Int("more", int64(s.More()))
	p.StrOrNull("quality", s.Quality)
	p.StrOrNull("stop", s.Stop)
	p.StrOrNull("suggestion", s.Suggestion)
	p.Str("title", s.Title)
	p.Int("total", int64(s.Total))
}
