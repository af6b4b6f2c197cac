package report

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/reason"
)

// system makes the description of the system, with the line for users.
func system(d *core.Dump) System {
	s := System{OS: d.OSName(), OSVersion: d.OSVersion(), CPU: d.CPUName(), CPUInfo: d.CPUInfo(), Microcode: d.Microcode(), BuildText: d.BuildText()}
	if i := d.System; i != nil {
		s.Known, s.CPUCount, s.Numbers, s.Processor = d.Registers == nil, int(i.CPUCount), [3]uint32{i.Major, i.Minor, i.Build}, i.Processor
	}
	if d.Micro != nil && d.Micro.GPU != nil {
		g := GPU(*d.Micro.GPU)
		s.GPU = &g
	}
	parts := []string{strings.TrimSpace(s.OS + " " + s.Version()), s.CPU}
	if w := d.Wow64(); w != nil && w.Program != nil {
		parts[1] += " on " + w.Host.Name + " (a 32-bit process, dumped by a 64-bit tool)"
	} else if w != nil {
		parts[1] += " (of a 32-bit process)"
	}
	if s.CPUCount > 1 {
		parts = append(parts, fmt.Sprintf("%d CPUs", s.CPUCount))
	}
	s.Display = strings.TrimPrefix(strings.Join(parts, ", "), ", ")
	return s
}

// Version returns the system's version for users. It is "" where a writer has zeros alone, as LLDB
// does. minidump-writer cuts a kernel's name in two: "6.1.0" and "-18-amd64".
func (s *System) Version() string {
	v := strings.Replace(strings.TrimSpace(s.OSVersion), " -", "-", 1)
	if strings.Trim(v, "0.") == "" {
		return ""
	}
	return v
}

// wordSize returns the size of an address in bytes: that of the walked registers, else that of the
// dump's processor number.
func wordSize(in Input) int {
	for i := range in.Stacks {
		if fs := in.Stacks[i].Frames; len(fs) > 0 && fs[0].Regs.Arch != nil {
			return fs[0].Regs.Arch.WordSize
		}
	}
	if a := in.Dump.Arch(); a != nil {
		return a.WordSize
	}
	if s := in.Dump.System; s != nil {
		switch s.Processor {
		case core.ProcMIPS, core.ProcPPC, core.ProcSHX, core.ProcX86Win64, core.ProcSPARC, core.ProcRISCV:
			return 4
		}
	}
	return 8
}

// process sets what the dump says about the process itself.
func (b *builder) process() {
	p := &b.r.Process
	p.Name, p.Aux = ProgramName(b.d), aux(b.d)
	p.PID, p.Uptime = b.d.PID(), b.d.Uptime()
}

// ProgramName returns the program's file name, or "" if it is unknown. The program is the first
// module, except in Apple's simulators, which list their loader before it.
func ProgramName(d *core.Dump) string {
	if len(d.Modules) == 0 {
		return ""
	}
	if d.OS() == core.MacOS || d.OS() == core.IOS {
		for i := range d.Modules {
			if name := BaseName(d.Modules[i].Name); name != "dyld" && name != "dyld_sim" {
				return name
			}
		}
	}
	return BaseName(d.Modules[0].Name)
}

// linux sets the fields that only Linux dumps have.
func (b *builder) linux() {
	l := &b.d.Linux
	if l.MapsText.Size > 0 {
		n := len(l.Maps)
		b.r.MapCount = &n
	}
	if l.LSBRelease.Size == 0 {
		return
	}
	// The keys of /etc/lsb-release, and of /etc/os-release, which newer writers store instead.
	get := func(keys ...string) string {
		for _, k := range keys {
			if v, ok := l.LSB[k]; ok {
				return v
			}
		}
		return ""
	}
	b.r.LSB = &LSBRelease{
		ID: get("DISTRIB_ID", "ID"), Release: get("DISTRIB_RELEASE", "VERSION_ID"),
		Codename:    get("DISTRIB_CODENAME", "VERSION_CODENAME"),
		Description: get("DISTRIB_DESCRIPTION", "PRETTY_NAME"),
	}
}

// assertion returns the assertion that the dump has, as Breakpad prints it (GetAssertion in
// minidump_processor.cc).
func assertion(d *core.Dump) string {
	a := d.Assertion
	if a == nil {
		return ""
	}
	s := fmt.Sprintf("Unknown assertion type 0x%08x", a.Type)
	switch a.Type {
	case 1:
		s = "Invalid parameter passed to library function"
	case 2:
		s = "Pure virtual function called"
	}
	if a.Expression != "" {
		s += " " + a.Expression
	}
	if a.Function != "" {
		s += " in function " + a.Function
	}
	if a.File != "" {
		s += ", in file " + a.File
	}
	if a.Line != 0 {
		s += fmt.Sprintf(" at line %d", a.Line)
	}
	return s
}

// lastError returns a thread's GetLastError value, or nil if the dump lacks the memory that has it.
func lastError(d *core.Dump, thread int) *LastError {
	v, ok := reason.LastErrorAt(d, thread)
	if !ok {
		return nil
	}
	return &LastError{Value: v, Text: reason.LastError(v)}
}

// diagnostics returns the problems of the dump, without folders of files.
func diagnostics(d *core.Dump, extra []Diagnostic) []Diagnostic {
	all := d.Diags[:len(d.Diags):len(d.Diags)]
	// If the exception's context cannot be read, the walk starts at the thread's own registers,
	// which are of a later moment.
	if d.Exception != nil && d.Exception.ContextLoc.Size > 0 && d.Micro == nil {
		var wrong *input.FormatError
		if _, err := d.ExceptionContext(); errors.As(err, &wrong) {
			all = append(all, core.Diagnostic{Severity: core.Warning, Err: wrong})
		}
	}
	// The walker treats memory that cannot be read as absent, so report the read error here.
	if wrong := d.Src.Failed(); wrong != nil {
		all = append(all, core.Diagnostic{Severity: core.Bad, Err: wrong})
	}
	out := []Diagnostic{}
	for i := range all {
		severity := "note"
		switch all[i].Severity {
		case core.Warning:
			severity = "warning"
		case core.Bad:
			severity = "error"
		}
		e := *all[i].Err
		e.File = BaseName(e.File)
		out = append(out, Diagnostic{Severity: severity, Text: e.Error()})
	}
	return append(out, extra...)
}
