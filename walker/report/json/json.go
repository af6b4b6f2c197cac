// Package jsonreport prints a report in rust-minidump's JSON schema, so that what reads minidump-stackwalk --json reads
// this too. Field names, words and the order of keys (alphabetical) are the schema's; a field whose value is unknown is
// there with null. Everything that the schema has no place for stands under a key "crashpane", of the report and of each
// thread and frame.
//
// No command line, environment or memory bytes are written, and only the base name of the dump's file.
//
// Source of the schema: rust-minidump, minidump-processor/json-schema.md and src/process_state.rs.
package jsonreport

import (
	"io"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
)

// Options of Write.
type Options struct {
	// Pretty breaks lines and indents by two blanks.
	Pretty bool
	// Explain gives the explanations of frames, which are large: nil, or a nil answer, leaves them out.
	Explain func(thread, frame int) *report.Explanation
}

// Write prints the report, without a newline at the end.
func Write(w io.Writer, r *report.Report, opt Options) error {
	e := &encoder{b: newOutput(w), pretty: opt.Pretty, digits: 2 * r.Dump.WordSize}
	if r.Dump.WordSize != 4 {
		e.digits = 16
	}
	p := &printer{e, r, opt.Explain}
	e.member(p.report)
	return e.b.flush()
}

type printer struct {
	*encoder
	r       *report.Report
	explain func(thread, frame int) *report.Explanation
}

func (p *printer) report() {
	r := p.r
	p.object("crash_info", p.crash)
	// A thread without frames is not repeated.
	if i := r.FirstThread; r.HasRequesting && i >= 0 && len(r.Threads[i].Frames) > 0 {
		p.object("crashing_thread", func() { p.thread(&r.Threads[i], true) })
	}
	p.object("crashpane", p.additions)
	p.handles()
	if r.MapCount != nil {
		p.int("linux_memory_map_count", int64(*r.MapCount))
	} else {
		p.null("linux_memory_map_count")
	}
	if l := r.LSB; l != nil {
		p.object("lsb_release", func() {
			p.str("codename", l.Codename)
			p.str("description", l.Description)
			p.str("id", l.ID)
			p.str("release", l.Release)
		})
	} else {
		p.null("lsb_release")
	}
	p.macBootArgs()
	p.macCrashInfo()
	// The schema's emitter writes 0 whether or not there is a module.
	p.int("main_module", 0)
	p.list("modules", len(r.Modules), p.module)
	p.bool("modules_contains_cert_info", r.HasCertInfo)
	if pid := r.Process.PID; pid != nil {
		p.uint("pid", uint64(*pid))
	} else {
		p.null("pid")
	}
	p.procLimits()
	if u := r.Process.UptimeRust; u != nil {
		p.uint("process_uptime", *u)
	} else {
		p.null("process_uptime")
	}
	p.softErrors()
	p.str("status", "OK")
	p.object("system_info", p.system)
	p.int("thread_count", int64(len(r.Threads)))
	p.list("threads", len(r.Threads), func(i int) {
		p.member(func() { p.thread(&r.Threads[i], false) })
	})
	p.list("unloaded_modules", len(r.Unloaded), p.unloaded)
}

func (p *printer) system() {
	s := &p.r.System
	p.str("cpu_arch", s.CPU.Rust)
	p.int("cpu_count", int64(s.CPUCount))
	p.strOrNull("cpu_info", s.CPUInfo.Rust)
	if s.Microcode != nil {
		// The one hex string that is not padded.
		p.str("cpu_microcode_version", unpadded(*s.Microcode))
	} else {
		p.null("cpu_microcode_version")
	}
	p.str("os", s.OS.Rust)
	p.strOrNull("os_ver", s.OSVersion.Rust)
}

// thread prints a thread; crashing is the copy of the crashed one, which has its place in the list and registers too.
func (p *printer) thread(t *report.Thread, crashing bool) {
	p.object("crashpane", func() { p.threadAdditions(t) })
	p.int("frame_count", int64(len(t.Frames)))
	p.list("frames", len(t.Frames), func(i int) {
		var x *report.Explanation
		if p.explain != nil && !crashing {
			x = p.explain(t.Index, i)
		}
		p.member(func() { p.frame(i, &t.Frames[i], crashing && i == 0, x) })
	})
	if t.LastError != nil {
		p.str("last_error_value", t.LastError.Text)
	} else {
		p.null("last_error_value")
	}
	p.uint("thread_id", uint64(t.ID))
	if t.Named {
		p.str("thread_name", t.Name)
	} else {
		p.null("thread_name")
	}
	if crashing {
		p.int("threads_index", int64(t.Index))
	}
}

func (p *printer) frame(number int, f *report.Frame, registers bool, x *report.Explanation) {
	p.object("crashpane", func() { p.frameAdditions(f, x) })
	p.strOrNull("file", f.File)
	p.int("frame", int64(number))
	if f.HasFunction {
		p.str("function", f.Function.Raw)
		p.hex("function_offset", f.Lookup-f.FunctionStart)
	} else {
		p.null("function")
		p.null("function_offset")
	}
	if len(f.Inlines) > 0 {
		p.list("inlines", len(f.Inlines), func(i int) {
			in := &f.Inlines[i]
			p.member(func() {
				// The innermost call has its line from a line record, and a record's 0 (code without a place in the source) is
				// none here; the others' are call sites, which are printed as they stand, and so are frames without inlined calls.
				p.strOrNull("file", in.File)
				p.str("function", in.Function.Raw)
				p.line(in.HasLine && (i > 0 || in.Line != 0), in.Line)
			})
		})
	} else {
		p.null("inlines")
	}
	p.line(f.HasLine, f.Line)
	p.bool("missing_symbols", !f.HasFunction)
	if f.Module >= 0 {
		m := &p.r.Modules[f.Listed]
		p.str("module", report.BaseName(m.Name))
		p.hex("module_offset", f.Lookup-m.Base)
	} else {
		p.null("module")
		p.null("module_offset")
	}
	p.hex("offset", f.Lookup)
	if registers {
		p.object("registers", func() { p.registers(f.Regs) })
	}
	p.str("trust", trustWord(f.Trust))
	if len(f.Unloaded) > 0 {
		p.list("unloaded_modules", len(f.Unloaded), func(i int) {
			u := &f.Unloaded[i]
			p.member(func() {
				p.str("module", u.Module)
				p.list("offsets", len(u.Offsets), func(j int) { p.hexValue(u.Offsets[j]) })
			})
		})
	} else {
		p.null("unloaded_modules")
	}
}

func (p *printer) line(has bool, line uint32) {
	if has {
		p.uint("line", uint64(line))
	} else {
		p.null("line")
	}
}

// registers prints the known general registers in the order of their names.
func (p *printer) registers(regs *cpu.Regs) {
	if regs == nil || regs.Arch == nil {
		return
	}
	names := make([]string, 0, len(regs.Arch.Names))
	values := map[string]uint64{}
	for i, name := range regs.Arch.Names {
		if v, known := regs.Get(cpu.Reg(i)); known {
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

// trustWord is the schema's word. It has none for a leaf's return address; rust-minidump finds the same word on the stack
// by scanning and says so.
func trustWord(trust string) string {
	switch trust {
	case "none", "":
		return "non"
	case "leaf":
		return "scan"
	}
	return trust
}
