package jsonreport

import (
	"encoding/hex"
	"io"
	"sort"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteExplanation writes an explanation as an object, without a newline at the end. In a report's
// frame (Options.Explain) the object lacks the members that the frame has already: attempts,
// before, end, frame, function, module, origin, pc, thread, trust. Keys are in alphabetical order.
//
//	after, before       {register: value} of this and of the called frame; unknown registers are absent
//	attempts[]          what was rejected before: {origin, reason, rule, source}
//	cfa                 hex
//	checks[], notes[]   sentences
//	end                 of the last frame: {attempts[], detail, kind, scanned, suggestion}, else null
//	instruction         that the frame is at, for a caller its call: {address, bytes, function, module, offset, target, text}, or null; what
//	                    is not known in it is null, and the place is that of what it calls
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

// explanation writes the members of an explanation. f is nil in a report's frame.
func (p *printer) explanation(x *report.Explanation, f *report.Frame) {
	alone := f != nil
	p.Object("after", func() {
		p.changes(x, func(c *report.RegisterChange) (uint64, bool) { return c.After, c.HasNow })
	})
	if alone {
		p.attempts(x.Attempts)
		p.Object("before", func() {
			p.changes(x, func(c *report.RegisterChange) (uint64, bool) { return c.Before, c.HadBefore })
		})
	}
	p.hex("cfa", x.CFA)
	p.Strings("checks", x.Checks)
	if alone {
		p.end(x.End)
		p.Int("frame", int64(p.r.Threads[x.Thread].Number(x.Frame)))
		p.frameFunction(f)
	}
	p.instruction(x.Instruction)
	if alone {
		p.moduleName(f.Module)
	}
	p.Strings("notes", x.Notes)
	if alone {
		p.StrOrNull("origin", x.Origin)
		p.hex("pc", f.PC)
	}
	p.Objects("record", len(x.Record), func(i int) {
		p.IntOrNull("line", int64(x.Record[i].Line), x.Record[i].Line > 0)
		p.Str("text", x.Record[i].Text)
	})
	p.scanned(x.Scanned)
	p.Str("source", x.Source)
	p.Objects("steps", len(x.Steps), func(i int) {
		s := &x.Steps[i]
		p.Str("computed", s.Computed)
		p.Str("for", s.For)
		p.Str("rule", s.Rule)
		p.hexOrNull("value", s.Value, s.Known)
	})
	if alone {
		p.Int("thread", int64(x.Thread))
		p.Str("trust", x.Trust)
	}
	p.Objects("words", len(x.Words), func(i int) {
		w := &x.Words[i]
		p.hex("address", w.Addr)
		p.Str("for", w.For)
		p.function(w.Place.Function)
		p.moduleName(w.Place.Module)
		p.hexOrNull("offset", w.Place.Offset, w.Place.Module >= 0)
		p.Int("size", int64(w.Size))
		p.hex("value", w.Value)
	})
}

// instruction writes the instruction that a frame is at, or null.
func (p *printer) instruction(in *report.Instruction) {
	p.ObjectOrNull("instruction", in != nil, func() {
		p.hex("address", in.Address)
		p.StrOrNull("bytes", hex.EncodeToString(in.Bytes))
		p.function(in.Place.Function)
		p.moduleName(in.Place.Module)
		p.hexOrNull("offset", in.Place.Offset, in.Place.Module >= 0)
		p.hexOrNull("target", in.Target, in.HasTarget)
		p.StrOrNull("text", in.Text)
	})
}

// end writes why the stack ends after the frame, or null for other frames.
func (p *printer) end(e *report.End) {
	p.ObjectOrNull("end", e != nil, func() {
		p.attempts(e.Attempts)
		p.Str("detail", e.Detail)
		p.Str("kind", e.Kind)
		p.scanned(e.Scanned)
		p.StrOrNull("suggestion", e.Suggestion)
	})
}

// changes writes the known registers of one side, sorted by name.
func (p *printer) changes(x *report.Explanation, side func(c *report.RegisterChange) (uint64, bool)) {
	for _, i := range byName(x.Registers) {
		if v, known := side(&x.Registers[i]); known {
			p.hex(x.Registers[i].Name, v)
		}
	}
}

// scanned writes which words a scan rejected, or null if nothing was scanned.
func (p *printer) scanned(s *report.Scanned) {
	p.ObjectOrNull("scanned", s != nil, func() {
		p.hex("from", s.From)
		p.Int("more", int64(s.More))
		p.Objects("rejected", len(s.Rejected), func(i int) {
			w := &s.Rejected[i]
			p.hex("address", w.Addr)
			p.moduleName(w.Module)
			p.Str("reason", w.Reason)
			p.hex("value", w.Value)
		})
		p.Int("words", int64(s.Words))
	})
}

// byName returns the indexes of registers sorted by name.
func byName(regs []report.RegisterChange) []int {
	order := make([]int, len(regs))
	for i := range order {
		order[i] = i
	}
	// sort.Slice and not slices.SortFunc, which adds kilobytes to the page's program for each type
	// that it sorts.
	sort.Slice(order, func(i, j int) bool { return regs[order[i]].Name < regs[order[j]].Name })
	return order
}
