package jsonreport

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteExplanation prints one explanation as an object, without a newline at the end. In a report's frame (Options.Explain) the
// members are the same without those that stand there already: attempts, before, end, frame, function, module, origin, pc,
// thread, trust. Keys are in alphabetical order.
//
//	after, before       {register: value} of this and of the called frame, those that are known
//	attempts[]          what was tried before: {origin, reason, rule, source}
//	cfa                 hex
//	checks[], notes[]   sentences
//	end                 of the last frame: {attempts[], detail, kind, scanned, suggestion}, else null
//	frame, thread       numbers; module, function, pc as in a report's frame
//	origin, record[]    where the rules come from, and the lines of the symbol file: {line, text}
//	scanned             {from, more, rejected[{address, module, reason, value}], words} or null
//	source, trust
//	steps[]             {computed, for, rule, value or null}
//	words[]             {address, for, function, module, offset, size, value}
func WriteExplanation(w io.Writer, r *report.Report, x *report.Explanation, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		f := &r.Threads[x.Thread].Frames[x.Frame]
		p.explanation(x, f)
	})
}

// write prints an object with an encoder of its own.
func write(w io.Writer, r *report.Report, opt Options, body func(p *printer)) error {
	e := &encoder{b: newOutput(w), pretty: opt.Pretty, digits: 2 * r.Dump.WordSize}
	if r.Dump.WordSize != 4 {
		e.digits = 16
	}
	p := &printer{encoder: e, r: r}
	e.member(func() { body(p) })
	return e.b.flush()
}

// explanation prints the members; f is nil inside of a report's frame.
func (p *printer) explanation(x *report.Explanation, f *report.Frame) {
	alone := f != nil
	p.object("after", func() {
		p.changes(x, func(c *report.RegisterChange) (uint64, bool) { return c.After, c.HasNow })
	})
	if alone {
		p.attempts(x.Attempts)
		p.object("before", func() {
			p.changes(x, func(c *report.RegisterChange) (uint64, bool) { return c.Before, c.HadBefore })
		})
	}
	p.hex("cfa", x.CFA)
	p.strings("checks", x.Checks)
	if alone {
		p.end(x.End)
		p.int("frame", int64(x.Frame))
		p.functionOrNull("function", f.Function)
		p.moduleOrNull("module", f.Module)
	}
	p.strings("notes", x.Notes)
	if alone {
		p.strOrNull("origin", x.Origin)
		p.hex("pc", f.PC)
	}
	p.list("record", len(x.Record), func(i int) {
		p.member(func() {
			if x.Record[i].Line > 0 {
				p.int("line", int64(x.Record[i].Line))
			} else {
				p.null("line")
			}
			p.str("text", x.Record[i].Text)
		})
	})
	p.scanned(x.Scanned)
	p.str("source", x.Source)
	p.list("steps", len(x.Steps), func(i int) {
		s := &x.Steps[i]
		p.member(func() {
			p.str("computed", s.Computed)
			p.str("for", s.For)
			p.str("rule", s.Rule)
			if s.Known {
				p.hex("value", s.Value)
			} else {
				p.null("value")
			}
		})
	})
	if alone {
		p.int("thread", int64(x.Thread))
		p.str("trust", x.Trust)
	}
	p.list("words", len(x.Words), func(i int) {
		w := &x.Words[i]
		p.member(func() {
			p.hex("address", w.Addr)
			p.str("for", w.For)
			p.functionOrNull("function", w.Place.Function)
			p.moduleOrNull("module", w.Place.Module)
			if w.Place.Module >= 0 {
				p.hex("offset", w.Place.Offset)
			} else {
				p.null("offset")
			}
			p.int("size", int64(w.Size))
			p.hex("value", w.Value)
		})
	})
}

func (p *printer) end(e *report.End) {
	if e == nil {
		p.null("end")
		return
	}
	p.object("end", func() {
		p.attempts(e.Attempts)
		p.str("detail", e.Detail)
		p.str("kind", e.Kind)
		p.scanned(e.Scanned)
		p.strOrNull("suggestion", e.Suggestion)
	})
}

// changes prints the registers of one side that are known, in the order of their names.
func (p *printer) changes(x *report.Explanation, side func(c *report.RegisterChange) (uint64, bool)) {
	for _, i := range byName(x.Registers) {
		if v, known := side(&x.Registers[i]); known {
			p.hex(x.Registers[i].Name, v)
		}
	}
}

func (p *printer) scanned(s *report.Scanned) {
	if s == nil {
		p.null("scanned")
		return
	}
	p.object("scanned", func() {
		p.hex("from", s.From)
		p.int("more", int64(s.More))
		p.list("rejected", len(s.Rejected), func(i int) {
			w := &s.Rejected[i]
			p.member(func() {
				p.hex("address", w.Addr)
				p.moduleOrNull("module", w.Module)
				p.str("reason", w.Reason)
				p.hex("value", w.Value)
			})
		})
		p.int("words", int64(s.Words))
	})
}

func (p *printer) strings(key string, all []string) {
	p.list(key, len(all), func(i int) { p.quote(all[i]) })
}

func (p *printer) functionOrNull(key string, n report.Name) { p.strOrNull(key, n.Shown()) }

func (p *printer) moduleOrNull(key string, m int) {
	if m < 0 {
		p.null(key)
		return
	}
	p.str(key, report.BaseName(p.r.Modules[m].Name))
}

// findings prints what is wrong with the stacks: [{kind, module, suggestion, text, thread}].
func (p *printer) findings() {
	p.list("findings", len(p.r.Findings), func(i int) {
		f := &p.r.Findings[i]
		orNull := func(key string, v int) {
			if v < 0 {
				p.null(key)
			} else {
				p.int(key, int64(v))
			}
		}
		p.member(func() {
			p.str("kind", string(f.Kind))
			orNull("module", f.Module)
			p.strOrNull("suggestion", f.Suggestion)
			p.str("text", f.Text)
			orNull("thread", f.Thread)
		})
	})
}
