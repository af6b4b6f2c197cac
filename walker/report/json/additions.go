package jsonreport

import (
	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
)

// additions writes the report's key "crashpane": fields that the schema does not have.
//
//	assertion       text or null
//	auxv            [{name, text, value}]: the auxiliary vector of Linux; text is what the value points to, or null
//	crash           see crashAdditions, or null
//	diagnostics     [{severity, text}]
//	dump            {flags, name, size, time, word_size}
//	exceptions      [{address, code, flags, nested[], params[], reason, reason_breakpad, sentence, thread: index or null, thread_id}]: all of
//	                the dump's; nested has those that were being handled when it was raised
//	findings        [{kind, module, suggestion, text, thread}]: why stacks are shorter or less reliable than they could be
//	forced_symbols  [{debug_file, debug_id, module, symbol_file, symbol_id, symbol_name}]
//	main_module     index or null
//	policy          name of the unwind policy
//	process         name or null
//	process_id      number or null
//	product         {channel, name, process_type, version} as annotations have them, each a text or null
//	repeats         [{count, first, period, skipped, thread}]: recursions; from the frame first on, count times the functions of period frames;
//	                skipped further frames between them are not listed
//	report_version  version of this key's format
//	said            [{source, text}]: the program's own messages about its end
//	system          one line for users, or null
//	traces          [{frames[{file, function, inlines[], line, module, offset, pc}], source}]: stacks that the program kept in annotations
//	upload          [{key, origin, value}]: what was sent with the dump, if it was in an upload
//	wanted_symbols  [{debug_file, debug_id, frames, mismatch_file, mismatch_id, module, program, program_id, server (that publishes it), store_path}]
//	warnings        [{module, text}] of symbol files
//	wow64           {host, program}: the processors of a 32-bit process that a 64-bit tool dumped, and of the 64-bit layer under it;
//	                program is null if the dump has the layer's registers alone; null for other processes
func (p *printer) additions() {
	r := p.r
	p.StrOrNull("assertion", r.Assertion)
	p.Objects("auxv", len(r.Process.Aux), func(i int) {
		a := &r.Process.Aux[i]
		p.Str("name", a.Name)
		p.StrOrNull("text", a.Text)
		p.hex("value", a.Value)
	})
	p.ObjectOrNull("crash", r.Crash != nil, func() { p.crashAdditions(r.Crash) })
	p.Objects("diagnostics", len(r.Diagnostics), func(i int) {
		d := &r.Diagnostics[i]
		p.Str("severity", d.Severity)
		p.Str("text", d.Text)
	})
	p.Object("dump", func() {
		p.Str("flags", unpadded(r.Dump.Flags))
		p.Str("name", report.BaseName(r.Dump.Name))
		p.Int("size", r.Dump.Size)
		p.Uint("time", uint64(r.Dump.Time))
		p.Int("word_size", int64(r.Dump.WordSize))
	})
	p.Objects("exceptions", len(r.Exceptions), func(i int) { p.exception(&r.Exceptions[i]) })
	p.findings()
	p.assignedSymbols()
	p.IntOrNull("main_module", int64(r.MainModule), r.MainModule >= 0)
	p.Str("policy", r.Policy)
	p.StrOrNull("process", r.Process.Name)
	jsonwriter.NumberOrNull(p.Writer, "process_id", r.Process.PID)
	p.Object("product", func() {
		p.StrOrNull("channel", r.Process.Channel)
		p.StrOrNull("name", r.Process.Product)
		p.StrOrNull("process_type", r.Process.Type)
		p.StrOrNull("version", r.Process.Version)
	})
	p.repeats()
	p.Int("report_version", int64(r.Version))
	p.Objects("said", len(p.said), func(i int) {
		p.Str("source", p.said[i].Source)
		p.Str("text", p.said[i].Text)
	})
	p.StrOrNull("system", r.System.Display)
	p.traces()
	p.Objects("upload", len(r.Upload), func(i int) {
		p.Str("key", r.Upload[i].Key)
		p.Str("origin", r.Upload[i].Origin)
		p.Str("value", r.Upload[i].Value)
	})
	p.missingSymbols()
	p.symbolWarnings()
	w := r.Wow64
	p.ObjectOrNull("wow64", w != nil, func() {
		p.Str("host", w.Host)
		p.StrOrNull("program", w.Program)
	})
}

// exception writes one of the dump's exceptions.
func (p *printer) exception(e *report.Exception) {
	p.hex("address", e.Address)
	p.Str("code", unpadded(uint64(e.Code)))
	p.Str("flags", unpadded(uint64(e.Flags)))
	p.nested(e)
	p.List("params", len(e.Params), func(i int) { p.hexValue(e.Params[i]) })
	p.Str("reason", e.Reason.Name)
	p.Str("reason_breakpad", text.Reason(p.r, &e.Reason, e.Params))
	p.Str("sentence", e.Event.String())
	p.IntOrNull("thread", int64(e.Thread), e.Thread >= 0 && e.Thread < p.r.Listed)
	p.Uint("thread_id", uint64(e.ThreadID))
}

// nested writes the exceptions under another, which may be nil.
func (p *printer) nested(e *report.Exception) {
	if e == nil {
		e = &report.Exception{}
	}
	p.Objects("nested", len(e.Nested), func(i int) { p.exception(&e.Nested[i]) })
}

// findings writes the findings: [{kind, module, suggestion, text, thread}].
func (p *printer) findings() {
	p.Objects("findings", len(p.r.Findings), func(i int) {
		f := &p.r.Findings[i]
		p.Str("kind", string(f.Kind))
		p.IntOrNull("module", int64(f.Module), f.Module >= 0)
		p.StrOrNull("suggestion", f.Suggestion)
		p.Str("text", f.Text)
		p.IntOrNull("thread", int64(f.Thread), f.Thread >= 0 && f.Thread < p.r.Listed)
	})
}

// assignedSymbols writes the symbols with another id that the user assigned.
func (p *printer) assignedSymbols() {
	r := p.r
	assigned := r.AssignedModules()
	p.Objects("forced_symbols", len(assigned), func(i int) {
		m := &r.Modules[assigned[i]]
		p.Str("debug_file", report.BaseName(m.DebugFile))
		p.Str("debug_id", m.DebugID)
		p.Int("module", int64(assigned[i]))
		p.Str("symbol_file", report.BaseName(m.SymbolFile))
		p.Str("symbol_id", m.SymbolID)
		p.Str("symbol_name", m.SymbolName)
	})
}

// traces writes the stacks that the program stored in annotations.
func (p *printer) traces() {
	r := p.r
	p.Objects("traces", len(r.Traces), func(i int) {
		t := &r.Traces[i]
		p.Objects("frames", len(t.Frames), func(k int) { p.traceFrame(&t.Frames[k]) })
		p.Str("source", t.Source)
	})
}

// missingSymbols writes the missing symbol files.
func (p *printer) missingSymbols() {
	r := p.r
	p.Objects("wanted_symbols", len(r.Missing), func(i int) {
		w := &r.Missing[i]
		p.Str("debug_file", w.DebugFile)
		p.Str("debug_id", w.DebugID)
		p.Int("frames", int64(w.Frames))
		p.StrOrNull("mismatch_file", report.BaseName(w.Mismatch.File))
		p.StrOrNull("mismatch_id", w.Mismatch.ID)
		p.Int("module", int64(w.Module))
		p.StrOrNull("program", w.Program)
		p.StrOrNull("program_id", w.CodeID)
		p.StrOrNull("server", w.Server)
		p.Str("store_path", w.StorePath)
	})
}

func (p *printer) traceFrame(f *report.Frame) {
	p.StrOrNull("file", f.File)
	p.frameFunction(f)
	p.List("inlines", len(f.Inlines), func(i int) { p.PutString(f.Inlines[i].Function.Shown()) })
	p.line(f.HasLine, f.Line)
	p.moduleName(f.Module)
	p.hexOrNull("offset", f.RVA, f.Module >= 0)
	p.hex("pc", f.PC)
}

// symbolWarnings writes what was wrong with symbol files, each with its module.
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
	p.Objects("warnings", len(all), func(i int) {
		p.Int("module", int64(all[i].module))
		p.Str("text", all[i].text)
	})
}

// moduleAdditions writes a module's key "crashpane". Keys that do not apply are absent. has,
// missing and parts are there if the files have been read.
//
//	binary          the binary in use, in addition to symbol_file or instead of one
//	binary_by_name  only its name and size show that it is the module's
//	cfi_ignored     the user has disabled the module's call frame information
//	has[]           what the files contain: cfi, functions, inlines, lines, only_exports, sframe
//	mappings        [{module, rva, size, start}] by address, if several entries of the list are one module; module is the part's entry
//	missing[]       files that should exist and are not loaded
//	parts           [{file, section, what}]: which file has what
//	symbol_file, symbols_exact (there is a full index)
func (p *printer) moduleAdditions(m *report.Module) {
	if m.Binary != "" {
		p.Str("binary", report.BaseName(m.Binary))
	}
	p.BoolIf("binary_by_name", m.BinaryByName)
	p.BoolIf("cfi_ignored", m.IgnoredCFI)
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
		p.Strings("has", has)
	}
	if len(m.Mappings) > 0 {
		p.Objects("mappings", len(m.Mappings), func(i int) {
			part := &m.Mappings[i]
			p.Int("module", int64(part.Listed))
			p.hex("rva", part.RVA)
			p.Uint("size", part.Size)
			p.hex("start", part.Start)
		})
	}
	if known {
		p.Strings("missing", h.Missing)
		p.Objects("parts", len(h.Parts), func(i int) {
			p.Str("file", report.BaseName(h.Parts[i].File))
			p.Str("section", h.Parts[i].Section)
			p.Str("what", h.Parts[i].What)
		})
	}
	if m.Binary != "" {
		p.Str("symbol_file", report.BaseName(m.SymbolFile))
	}
	p.Bool("symbols_exact", !m.IndexedOnDemand)
}

// threadAdditions writes a thread's key "crashpane": {omitted, stop{attempts[], detail, kind,
// suggestion}, times{created, ended, exit_status, kernel, start, user} or null, wow64{frames[],
// stop} or null}. Points in time are in seconds since 1970, null if unknown. kernel and user are in
// seconds. wow64 is the second stack of a thread of a 32-bit process: what it was doing in the
// 64-bit layer, or if the exception was there, in the process itself.
func (p *printer) threadAdditions(t *report.Thread) {
	p.Bool("omitted", t.Omitted)
	p.stop(&t.Stop)
	p.times(t.Times)
	p.second(t)
}

// stop writes why a walk ended.
func (p *printer) stop(s *report.Stop) {
	p.Object("stop", func() {
		p.attempts(s.Attempts)
		p.Str("detail", s.Detail)
		p.Str("kind", s.Kind)
		p.StrOrNull("suggestion", s.Suggestion)
	})
}

// times writes when a thread ran.
func (p *printer) times(t *report.ThreadTimes) {
	p.ObjectOrNull("times", t != nil, func() {
		p.time("created", t.Created)
		p.time("ended", t.Ended)
		p.Uint("exit_status", uint64(t.ExitStatus))
		p.Float("kernel", float64(t.Kernel)/1e7)
		p.hex("start", t.Start)
		p.Float("user", float64(t.User)/1e7)
	})
}

// second writes the second stack of a thread of a 32-bit process.
func (p *printer) second(t *report.Thread) {
	p.ObjectOrNull("wow64", t.HasSecond, func() {
		other := &p.r.Threads[t.Other]
		p.List("frames", len(other.Frames), func(i int) {
			p.PutObject(func() { p.frame(other.Number(i), &other.Frames[i], false, nil) })
		})
		p.stop(&other.Stop)
	})
}

// time is a point in time, null for 0.
func (p *printer) time(key string, t uint32) {
	p.IntOrNull(key, int64(t), t != 0)
}

// frameAdditions writes a frame's key "crashpane". Keys that do not apply are absent, because there
// are many frames.
//
//	attempts[], demangled, explain (see WriteExplanation), forced, inlines_demangled[]
//	module_rva      if several entries of the list are one module: relative to the module; module_offset is relative to the entry
//	multiple
//	nearest         the function is the last public name before the address: where its code ends is not known
//	origin
//	pc              the recovered address, for callers a return address
//	public, rule
//	symbols_from    the file with the name, if there are several
//	tail_call       the function that the frame called and that jumped on to the frame below, which has no frame itself
//	trust           "leaf", which the schema does not have
func (p *printer) frameAdditions(f *report.Frame, x *report.Explanation) {
	if len(f.Attempts) > 0 {
		p.attempts(f.Attempts)
	}
	if f.Named() && f.Function.Differs() {
		p.Str("demangled", f.Function.Display)
	}
	if x != nil {
		p.Object("explain", func() { p.explanation(x, nil) })
	}
	p.BoolIf("forced", f.AssignedSymbols)
	for i := range f.Inlines {
		if f.Inlines[i].Function.Differs() {
			p.List("inlines_demangled", len(f.Inlines), func(j int) { p.PutString(f.Inlines[j].Function.Shown()) })
			break
		}
	}
	if f.Module >= 0 && f.RVA != f.Lookup-p.r.Modules[f.Listed].Base {
		p.hex("module_rva", f.RVA)
	}
	p.BoolIf("multiple", f.Multiple)
	p.BoolIf("nearest", f.Nearest)
	p.StrIf("origin", f.Origin)
	p.hex("pc", f.PC)
	p.BoolIf("public", f.Public && f.Named())
	p.StrIf("rule", f.Rule)
	p.StrIf("symbols_from", f.From)
	if f.TailCall.Raw != "" {
		p.Str("tail_call", f.TailCall.Shown())
	}
	if f.Trust == "leaf" {
		p.Str("trust", f.Trust)
	}
}

// attempts writes the rejected candidates, in the order in which the walker tried them.
func (p *printer) attempts(all []report.Attempt) {
	p.Objects("attempts", len(all), func(i int) {
		a := &all[i]
		p.Str("origin", a.Origin)
		p.Str("reason", a.Reason)
		p.Str("rule", a.Rule)
		p.Str("source", a.Source)
	})
}

// repeats writes the recursions of all stacks.
func (p *printer) repeats() {
	type of struct {
		thread int
		report.Repeat
	}
	var all []of
	for i := range p.r.Threads {
		for _, x := range p.r.Threads[i].Repeats {
			all = append(all, of{i, x})
		}
	}
	p.Objects("repeats", len(all), func(i int) {
		p.Int("count", int64(all[i].Count))
		p.Int("first", int64(all[i].First+all[i].Before))
		p.Int("period", int64(all[i].Period))
		p.Int("skipped", int64(all[i].Skipped))
		p.Int("thread", int64(all[i].thread))
	})
}
