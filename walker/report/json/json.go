// Package jsonreport writes a report in rust-minidump's JSON schema, so that programs which read
// minidump-stackwalk --json read it too. Field names, words and the alphabetical order of keys are
// the schema's. An unknown value is null. Fields that the schema lacks are in a key "crashpane" of
// the report and of each module, thread and frame.
//
// Start at Write in this file; additions.go documents the keys of "crashpane". The output has no
// command line, environment or memory bytes, and only the base name of the dump's file.
//
// Source of the schema: rust-minidump, minidump-processor/json-schema.md and src/process_state.rs.
package jsonreport

import (
	"cmp"
	"io"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/jsonwriter"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/signature"
)

// Options of Write.
type Options struct {
	// Pretty breaks lines and indents by two spaces.
	Pretty bool
	// Explain returns the explanation of a frame, which is large. If Explain or its result is nil,
	// the frame has none.
	Explain func(thread, frame int) *report.Explanation
	// Signatures are the lists for the crash's signature. nil means signature.Own.
	Signatures signature.Lists
	// Text, if it is set, replaces each text, before it is escaped.
	Text func(string) string
	// From and Count are a window of the rows of a comparison; without Count all of them.
	From, Count int
	// Private: with the messages that the program had in its memory.
	Private bool
}

// Write writes the report, without a newline at the end.
func Write(w io.Writer, r *report.Report, opt Options) error {
	return write(w, r, opt, (*printer).report)
}

// write writes an object whose members body writes.
// Addresses have as many digits as those of the crashed machine, 8 or 16, as rust-minidump writes
// them.
func write(w io.Writer, r *report.Report, opt Options, body func(p *printer)) error {
	form := jsonwriter.Compact
	if opt.Pretty {
		form = jsonwriter.Pretty
	}
	p := &printer{jsonwriter.New(w, form), r, opt.Explain, opt.Signatures, r.Said(opt.Private), 16, symbolsByName(r)}
	p.Text = opt.Text
	p.lists = cmp.Or(p.lists, signature.Own)
	if r.Dump.WordSize == 4 {
		p.digits = 8
	}
	p.PutObject(func() { body(p) })
	return p.Flush()
}

// printer writes the members of the report's objects. Its methods must write keys in alphabetical
// order.
type printer struct {
	*jsonwriter.Writer
	r       *report.Report
	explain func(thread, frame int) *report.Explanation
	lists   signature.Lists
	said    []report.Message
	digits  int // hexadecimal digits of an address: 8 or 16, as on the crashed machine
	symbols map[string]symbolFlags
}

// hex writes an address as a member, hexValue as an element of a list.
func (p *printer) hex(k string, v uint64) { p.Key(k); p.PutHex(v, p.digits) }
func (p *printer) hexValue(v uint64)      { p.PutHex(v, p.digits) }

// hexOrNull writes a number that is known, else null.
func (p *printer) hexOrNull(k string, v uint64, known bool) {
	if known {
		p.hex(k, v)
	} else {
		p.Null(k)
	}
}

// function writes the key of a function's name, or null.
func (p *printer) function(n report.Name) { p.StrOrNull("function", n.Shown()) }

// frameFunction writes the key of the name of a frame's function, or null. A name that is another function's is not the frame's.
func (p *printer) frameFunction(f *report.Frame) {
	if f.Named() {
		p.function(f.Function)
	} else {
		p.Null("function")
	}
}

// moduleName writes the key of a module's name, or null.
func (p *printer) moduleName(m int) {
	if m < 0 {
		p.Null("module")
		return
	}
	p.Str("module", report.BaseName(p.r.Modules[m].Name))
}

// report writes the schema's top level.
func (p *printer) report() {
	r := p.r
	p.Object("crash_info", p.crash)
	// The key crashing_thread is absent if the thread has no frames.
	if i := r.FirstThread; r.HasRequesting && i >= 0 && len(r.Threads[i].Frames) > 0 {
		p.Object("crashing_thread", func() { p.thread(&r.Threads[i], true) })
	}
	p.Object("crashpane", p.additions)
	p.handles()
	if r.MapCount != nil {
		p.Int("linux_memory_map_count", int64(*r.MapCount))
	} else {
		p.Null("linux_memory_map_count")
	}
	l := r.LSB
	p.ObjectOrNull("lsb_release", l != nil, func() {
		p.Str("codename", l.Codename)
		p.Str("description", l.Description)
		p.Str("id", l.ID)
		p.Str("release", l.Release)
	})
	p.macBootArgs()
	p.macCrashInfo()
	// rust-minidump always writes 0, even without modules.
	p.Int("main_module", 0)
	p.List("modules", len(r.Modules), p.module)
	p.Bool("modules_contains_cert_info", false) // certificates are not in the dump
	jsonwriter.NumberOrNull(p.Writer, "pid", r.Process.PID)
	p.procLimits()
	jsonwriter.NumberOrNull(p.Writer, "process_uptime", r.Process.Uptime)
	p.softErrors()
	p.Str("status", "OK")
	p.Object("system_info", p.system)
	p.Int("thread_count", int64(r.Listed))
	p.List("threads", r.Listed, func(i int) {
		p.PutObject(func() { p.thread(&r.Threads[i], false) })
	})
	p.List("unloaded_modules", len(r.Unloaded), p.unloaded)
}

// system writes the schema's system_info.
func (p *printer) system() {
	s := &p.r.System
	p.Str("cpu_arch", s.CPU)
	p.Int("cpu_count", int64(s.CPUCount))
	p.StrOrNull("cpu_info", s.CPUInfo)
	if s.Microcode != nil {
		// The only hexadecimal value that the schema does not pad.
		p.Str("cpu_microcode_version", unpadded(*s.Microcode))
	} else {
		p.Null("cpu_microcode_version")
	}
	p.Str("os", s.OS)
	p.StrOrNull("os_ver", s.OSVersion)
}

// thread writes a thread. crashing is for the key crashing_thread, which also has the thread's
// index and its registers.
func (p *printer) thread(t *report.Thread, crashing bool) {
	p.Object("crashpane", func() { p.threadAdditions(t) })
	p.Int("frame_count", int64(len(t.Frames)))
	p.List("frames", len(t.Frames), func(i int) {
		var x *report.Explanation
		if p.explain != nil && !crashing {
			x = p.explain(t.Index, i)
		}
		p.PutObject(func() { p.frame(t.Number(i), &t.Frames[i], crashing && i == 0, x) })
	})
	if t.LastError != nil {
		p.Str("last_error_value", t.LastError.Text)
	} else {
		p.Null("last_error_value")
	}
	p.Uint("thread_id", uint64(t.ID))
	if t.Named {
		p.Str("thread_name", t.Name)
	} else {
		p.Null("thread_name")
	}
	switch {
	case crashing && t.Unlisted:
		p.Null("threads_index")
	case crashing:
		p.Int("threads_index", int64(t.Index))
	}
}

// frame writes a frame of the schema. registers is set for the first frame of the key
// crashing_thread.
func (p *printer) frame(number int, f *report.Frame, registers bool, x *report.Explanation) {
	p.Object("crashpane", func() { p.frameAdditions(f, x) })
	p.StrOrNull("file", f.File)
	p.Int("frame", int64(number))
	if f.Named() {
		p.Str("function", f.Function.Raw)
		p.hex("function_offset", f.Lookup-f.FunctionStart)
	} else {
		p.Null("function")
		p.Null("function_offset")
	}
	if len(f.Inlines) > 0 {
		p.Objects("inlines", len(f.Inlines), func(i int) {
			in := &f.Inlines[i]
			// The innermost call's line is from a line record, where 0 means code without a
			// line: null. The others are call sites, for which rust-minidump writes a 0 too, as
			// it does for frames without inlined calls.
			p.StrOrNull("file", in.File)
			p.Str("function", in.Function.Raw)
			p.line(in.HasLine && (i > 0 || in.Line != 0), in.Line)
		})
	} else {
		p.Null("inlines")
	}
	p.line(f.HasLine, f.Line)
	p.Bool("missing_symbols", !f.Named())
	if f.Module >= 0 {
		m := &p.r.Modules[f.Listed]
		p.Str("module", report.BaseName(m.Name))
		p.hex("module_offset", f.Lookup-m.Base)
	} else {
		p.Null("module")
		p.Null("module_offset")
	}
	p.hex("offset", f.Lookup)
	if registers {
		p.Object("registers", func() { p.registers(f.Regs) })
	}
	p.Str("trust", trustWord(f.Trust))
	if len(f.Unloaded) > 0 {
		p.Objects("unloaded_modules", len(f.Unloaded), func(i int) {
			u := &f.Unloaded[i]
			p.Str("module", u.Module)
			p.List("offsets", len(u.Offsets), func(j int) { p.hexValue(u.Offsets[j]) })
		})
	} else {
		p.Null("unloaded_modules")
	}
}

// line writes a line number, or null.
func (p *printer) line(has bool, line uint32) {
	p.IntOrNull("line", int64(line), has)
}

// registers writes the known general registers, sorted by name.
func (p *printer) registers(regs *cpu.Regs) {
	if regs == nil || regs.Arch == nil {
		return
	}
	names := make([]string, 0, len(regs.Arch.Names))
	values := map[string]uint64{}
	for i, name := range regs.Arch.Names {
		if v, known := regs.Get(cpu.Reg(i)); known {
			// The table's name is that of CONTEXT; the schema has the usual one.
			if name == "efl" {
				name = "eflags"
			}
			names = append(names, name)
			values[name] = v
		}
	}
	sort.Strings(names)
	for _, name := range names {
		p.hex(name, values[name])
	}
}

// trustWord returns the schema's word for a trust. The schema has none for "leaf": rust-minidump
// finds such callers by scanning, and writes "scan".
func trustWord(trust string) string {
	switch trust {
	case "none", "":
		return "non"
	case "leaf":
		return "scan"
	}
	return trust
}
