package jsonreport

import (
	"github.com/crashpane/crashpane/walker/report"
)

// additions is the report's key "crashpane": what the schema has no place for.
//
//	assertion       text or null
//	crash           see crashAdditions, or null
//	diagnostics     [{severity, text}]
//	dump            {flags, name, size, time, word_size}
//	findings        [{kind, module, suggestion, text, thread}] of what makes stacks shorter or less certain than they could be
//	forced_symbols  [{debug_file, debug_id, module, symbol_file, symbol_id, symbol_name}]
//	main_module     index or null
//	policy          how the stacks were walked
//	process         name or null
//	report_version  of this key's form
//	system          one line for people, or null
//	wanted_symbols  [{debug_file, debug_id, frames, mismatch_file, mismatch_id, module, store_path}]
//	warnings        [{module, text}] of symbol files
func (p *printer) additions() {
	r := p.r
	p.strOrNull("assertion", r.Assertion)
	if c := r.Crash; c != nil {
		p.object("crash", func() { p.crashAdditions(c) })
	} else {
		p.null("crash")
	}
	p.list("diagnostics", len(r.Diagnostics), func(i int) {
		d := &r.Diagnostics[i]
		p.member(func() {
			p.str("severity", d.Severity)
			p.str("text", d.Text)
		})
	})
	p.object("dump", func() {
		p.str("flags", unpadded(r.Dump.Flags))
		p.str("name", report.BaseName(r.Dump.Name))
		p.int("size", r.Dump.Size)
		p.uint("time", uint64(r.Dump.Time))
		p.int("word_size", int64(r.Dump.WordSize))
	})
	p.findings()
	forced := r.ForcedModules()
	p.list("forced_symbols", len(forced), func(i int) {
		m := &r.Modules[forced[i]]
		p.member(func() {
			p.str("debug_file", report.BaseName(m.DebugFile))
			p.str("debug_id", m.DebugID)
			p.int("module", int64(forced[i]))
			p.str("symbol_file", report.BaseName(m.SymbolFile))
			p.str("symbol_id", m.SymbolID)
			p.str("symbol_name", m.SymbolName)
		})
	})
	if r.MainModule >= 0 {
		p.int("main_module", int64(r.MainModule))
	} else {
		p.null("main_module")
	}
	p.str("policy", r.Policy)
	p.strOrNull("process", r.Process.Name)
	p.int("report_version", int64(r.Version))
	p.strOrNull("system", r.System.Display)
	p.list("wanted_symbols", len(r.Wanted), func(i int) {
		w := &r.Wanted[i]
		p.member(func() {
			p.str("debug_file", w.DebugFile)
			p.str("debug_id", w.DebugID)
			p.int("frames", int64(w.Frames))
			p.strOrNull("mismatch_file", report.BaseName(w.MismatchFile))
			p.strOrNull("mismatch_id", w.MismatchID)
			p.int("module", int64(w.Module))
			p.str("store_path", w.StorePath)
		})
	})
	p.symbolWarnings()
}

func (p *printer) symbolWarnings() {
	type warning struct {
		module int
		text   string
	}
	var all []warning
	for i := range p.r.Modules {
		for _, t := range p.r.Modules[i].Warnings {
			all = append(all, warning{i, t})
		}
	}
	p.list("warnings", len(all), func(i int) {
		p.member(func() {
			p.int("module", int64(all[i].module))
			p.str("text", all[i].text)
		})
	})
}

// moduleAdditions is a module's key "crashpane". What does not apply is left out, and what the files have is known of those that
// were read.
//
//	binary (the file beside symbol_file, or instead of one), binary_by_name, cfi_ignored, has[cfi, functions, inlines, lines,
//	only_exports, sframe], mappings[{module, rva, size, start}] (where several entries of the list are one module: its parts by
//	address, this entry among them; module is the part's entry), missing[], parts[{file, section, what}], symbol_file, symbols_exact
func (p *printer) moduleAdditions(m *report.Module) {
	if m.Binary != "" {
		p.str("binary", report.BaseName(m.Binary))
	}
	if m.BinaryByName {
		p.bool("binary_by_name", true)
	}
	if m.IgnoredCFI {
		p.bool("cfi_ignored", true)
	}
	h := &m.Has
	known := len(h.Parts)+len(h.Missing) > 0
	if known {
		var has []string
		for _, w := range []struct {
			there bool
			word  string
		}{{h.CFI, "cfi"}, {h.Functions, "functions"}, {h.Inlines, "inlines"}, {h.Lines, "lines"}, {h.OnlyExports, "only_exports"}, {h.SFrame, "sframe"}} {
			if w.there {
				has = append(has, w.word)
			}
		}
		p.list("has", len(has), func(i int) { p.quote(has[i]) })
	}
	if len(m.Mappings) > 0 {
		p.list("mappings", len(m.Mappings), func(i int) {
			part := &m.Mappings[i]
			p.member(func() {
				p.int("module", int64(part.Listed))
				p.hex("rva", part.RVA)
				p.uint("size", part.Size)
				p.hex("start", part.Start)
			})
		})
	}
	if known {
		p.list("missing", len(h.Missing), func(i int) { p.quote(h.Missing[i]) })
		p.list("parts", len(h.Parts), func(i int) {
			p.member(func() {
				p.str("file", report.BaseName(h.Parts[i].File))
				p.str("section", h.Parts[i].Section)
				p.str("what", h.Parts[i].What)
			})
		})
	}
	if m.Binary != "" {
		p.str("symbol_file", report.BaseName(m.SymbolFile))
	}
	p.bool("symbols_exact", !m.SymbolsSparse)
}

// threadAdditions is a thread's key "crashpane": {omitted, stop{attempts[], detail, kind, suggestion}}.
func (p *printer) threadAdditions(t *report.Thread) {
	p.bool("omitted", t.Omitted)
	p.object("stop", func() {
		p.attempts(t.Stop.Attempts)
		p.str("detail", t.Stop.Detail)
		p.str("kind", t.Stop.Kind)
		p.strOrNull("suggestion", t.Stop.Suggestion)
	})
}

// frameAdditions is a frame's key "crashpane". pc is the address as recovered, a return address for callers; trust says
// "leaf" where the schema cannot. What does not apply is left out, because there are many frames.
//
//	attempts[], demangled, explain (see WriteExplanation), forced, inlines_demangled[], module_rva (where several entries of the list
//	are one module: relative to that; module_offset counts from the entry), multiple, origin, pc, public, rule,
//	symbols_from (the file that named it, where there are several), trust
func (p *printer) frameAdditions(f *report.Frame, x *report.Explanation) {
	if len(f.Attempts) > 0 {
		p.attempts(f.Attempts)
	}
	if f.Function.Differs() {
		p.str("demangled", f.Function.Display)
	}
	if x != nil {
		p.object("explain", func() { p.explanation(x, nil) })
	}
	if f.Forced {
		p.bool("forced", true)
	}
	for i := range f.Inlines {
		if f.Inlines[i].Function.Differs() {
			p.list("inlines_demangled", len(f.Inlines), func(j int) { p.quote(f.Inlines[j].Function.Shown()) })
			break
		}
	}
	if f.Module >= 0 && f.RVA != f.Lookup-p.r.Modules[f.Listed].Base {
		p.hex("module_rva", f.RVA)
	}
	if f.Multiple {
		p.bool("multiple", true)
	}
	if f.Origin != "" {
		p.str("origin", f.Origin)
	}
	p.hex("pc", f.PC)
	if f.Public {
		p.bool("public", true)
	}
	if f.Rule != "" {
		p.str("rule", f.Rule)
	}
	if f.From != "" {
		p.str("symbols_from", f.From)
	}
	if f.Trust == "leaf" {
		p.str("trust", f.Trust)
	}
}

func (p *printer) attempts(all []report.Attempt) {
	p.list("attempts", len(all), func(i int) {
		a := &all[i]
		p.member(func() {
			p.str("origin", a.Origin)
			p.str("reason", a.Reason)
			p.str("rule", a.Rule)
			p.str("source", a.Source)
		})
	})
}
