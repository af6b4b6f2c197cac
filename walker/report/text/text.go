// Package text prints a report as text. Write and WriteMachine print the two forms of Breakpad's
// minidump_stackwalk, for users and with "|" between fields. Scripts read both, so the output is
// the same byte for byte, with function names as the symbol file has them. Only where the walk is not
// Breakpad's, many guesses in a row are one entry of the form for users. WriteExplanation,
// WriteFindings and WriteComparison print what Breakpad does not have.
//
// Source of Breakpad's forms: src/processor/stackwalk_common.cc.
package text

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// Write prints Breakpad's form for users.
//
// The modules follow the threads. The crashed or requesting thread is first:
//
//	Operating system: Linux
//	                  0.0.0 Linux 6.1.0 #1 SMP aarch64
//	CPU: arm64
//	     8 CPUs
//
//	GPU: UNKNOWN
//
//	No crash
//	Process uptime: not available
//
//	Thread 1 (requested dump, did not crash)
//	 0  tool!work [tool.c : 3 + 0x10]
//	     x0 = 0x0000000000000000    x1 = 0x0000000000000011
//	    …
//	    Found by: given as instruction pointer in context
func Write(w io.Writer, r *report.Report) error {
	b := newPrinter(w)
	writeSystem(b, r)
	writeCrash(b, r)
	for _, n := range numbered(r) {
		b.printf("\n")
		b.printf("Thread %d%s\n", n.number, threadNote(r, n))
		writeStack(b, r, n.thread)
		if n.thread.HasSecond {
			second := &r.Threads[n.thread.Other]
			b.printf("\n")
			b.printf("Thread %d, %s\n", n.number, second.SecondName(r))
			writeStack(b, r, second)
		}
	}
	writeModules(b, r)
	return b.flush()
}

// writeSystem writes the first lines of minidump_stackwalk's output: operating system, processor,
// graphics.
func writeSystem(b *printer, r *report.Report) {
	s := &r.System
	b.printf("Operating system: %s\n", s.OS)
	if !r.Dump.Core {
		b.printf("                  %s\n", osVersion(r))
	}
	b.printf("CPU: %s\n", cpuName(r))
	if info := cpuInfo(r); info != "" {
		b.printf("     %s\n", info)
	}
	if r.Dump.Core {
		b.printf("\n")
		return
	}
	plural := "s"
	if s.CPUCount == 1 {
		plural = ""
	}
	b.printf("     %d CPU%s\n", s.CPUCount, plural)
	b.printf("\nGPU:")
	if g := s.GPU; g != nil {
		b.printf(" %s\n     %s\n     %s\n\n", g.Version, g.Vendor, g.Renderer)
	} else {
		b.printf(" UNKNOWN\n\n")
	}
}

// writeCrash writes the reason, the address and the uptime, or that there was no crash.
func writeCrash(b *printer, r *report.Report) {
	if c := r.Crash; c != nil {
		b.printf("Crash reason:  %s\n", Reason(r, &c.Reason, c.Params))
		b.printf("Crash address: 0x%x\n", c.Address)
		if len(c.Params) > 0 {
			b.printf("Crash parameters:\n")
		}
		for _, p := range c.Params {
			// Breakpad always prints an empty description after the space.
			b.printf("    value: 0x%016x  description: \n", p)
		}
	} else {
		b.printf("No crash\n")
	}
	if r.Assertion != "" {
		b.printf("Assertion: %s\n", r.Assertion)
	}
	if u := r.Process.Uptime; u != nil {
		b.printf("Process uptime: %d seconds\n", *u)
	} else {
		b.printf("Process uptime: not available\n")
	}
}

// threadNote returns what minidump_stackwalk writes after the number of the thread that crashed or
// requested the dump.
func threadNote(r *report.Report, n numberedThread) string {
	switch {
	case !n.requesting:
		return ""
	case n.thread.Unlisted:
		return fmt.Sprintf(" (crashed, id %d, not in the dump's list)", n.thread.ID)
	case r.Crash != nil:
		return " (crashed)"
	}
	return " (requested dump, did not crash)"
}

// writeStack writes the frames of a thread. Inlined calls have numbers of their own, as in
// minidump_stackwalk.
func writeStack(b *printer, r *report.Report, t *report.Thread) {
	if len(t.Frames) == 0 {
		b.printf(" <no frames>\n")
	}
	number := 0
	for i := range t.Frames {
		if n := t.Frames[i].Skipped; n > 0 {
			b.printf("    (%d frames of a recursion are left out: they repeat those above)\n", n)
			number += n + t.Frames[i].SkippedInlines
		}
		if g := t.GuessesAt(i); g != nil {
			if i == g.From {
				writeGuesses(b, r, t, g, number)
			}
			number += 1 + len(t.Frames[i].Inlines)
			continue
		}
		eachLine(r, &t.Frames[i], func(l line) {
			b.printf("%2d  ", number)
			number++
			writePlace(b, r, l)
			b.printf("\n ")
			if !l.inline {
				writeRegisters(b, l.frame.Regs)
			}
			b.printf("\n    Found by: %s\n", l.trust)
		})
	}
}

// writeGuesses writes a run of guesses, with the likeliest of them. number is that of its first line.
//
//	1  174 possible callers, found by stack scanning; --guesses lists them
//	   Likeliest: 12  app!parse [parse.c : 12 + 0x4]
func writeGuesses(b *printer, r *report.Report, t *report.Thread, g *report.Guesses, number int) {
	b.printf("%2d  %d possible callers, found by stack scanning; --guesses lists them\n", number, g.Count)
	next := 0
	for i := g.From; i < g.From+g.Count && next < len(g.Best); i++ {
		eachLine(r, &t.Frames[i], func(l line) {
			if i == g.Best[next] && !l.inline {
				b.printf("    Likeliest: %d  ", number)
				writePlace(b, r, l)
				b.printf("\n")
			}
			number++
		})
		if i == g.Best[next] {
			next++
		}
	}
}

// writePlace prints a frame's module, function and source line, as far as they are known, and the
// offset in the last of them.
//
//	app!parse [parse.c : 12 + 0x4]    0x4 bytes after the start of line 12's code
//	app!parse + 0x1c                  after the function's start
//	app + 0x4f3a                      after the module's start
//	0x7f75c0de1234                    in no module
//
// Breakpad prints a line number as a signed number of 32 bits.
func writePlace(b *printer, r *report.Report, l line) {
	if l.frame.Module < 0 {
		b.printf("0x%x", l.address)
		return
	}
	m := &r.Modules[l.frame.Listed]
	b.printf("%s", fileName(r, m.Name))
	switch {
	case l.function == "":
		b.printf(" + 0x%x", l.address-m.Base)
	case l.file == "":
		b.printf("!%s + 0x%x", l.function, l.address-l.functionStart)
	default:
		b.printf("!%s [%s : %d + 0x%x]", l.function, report.BaseName(l.file), int32(l.lineNumber), l.address-l.lineStart)
	}
}

// writeModules writes the modules by address.
func writeModules(b *printer, r *report.Report) {
	b.printf("\nLoaded modules:\n")
	troubles := symbolTroubles(r)
	for _, i := range r.ModulesByAddress {
		m := &r.Modules[i]
		version := cmp.Or(fileVersion(m), "???")
		b.printf("0x%08x - 0x%08x  %s  %s", m.Base, m.Base+m.Size-1, fileName(r, m.Name), version)
		if isMain(r, m) && m.Base != 0 {
			b.printf("  (main)")
		}
		if what := troubles[debugKey{m.StoredDebugFile, m.StoredID}]; what != "" {
			b.printf("  (WARNING: %s symbols, %s, %s)", what, fileName(r, m.StoredDebugFile), m.StoredID)
		}
		b.printf("\n")
	}
}

// isMain reports whether a module is at the main module's address, as Breakpad decides it.
// Microdumps have no main module.
func isMain(r *report.Report, m *report.Module) bool {
	return !r.Dump.Micro && r.MainModule >= 0 && m.Base == r.Modules[r.MainModule].Base
}

// debugKey is the name and id of a debug file. Breakpad records by it which modules with frames have no symbols, so that
// another module of the same debug file is marked, too.
type debugKey struct{ file, id string }

// symbolTroubles returns "No" or "Corrupt" for the modules whose symbols are.
func symbolTroubles(r *report.Report) map[debugKey]string {
	out := map[debugKey]string{}
	for i := range r.Modules {
		m := &r.Modules[i]
		k := debugKey{m.StoredDebugFile, m.StoredID}
		switch {
		case m.Frames == 0 || m.State == report.SymbolsLoaded || m.State == report.SymbolsAssigned:
		case m.State != report.SymbolsCorrupt:
			out[k] = "No"
		case out[k] == "":
			out[k] = "Corrupt"
		}
	}
	return out
}

// fileName returns a module's name as Breakpad prints it. In a microdump Breakpad reads a name up
// to its first space: "libart.so" for "libart.so (deleted)".
func fileName(r *report.Report, path string) string {
	if r.Dump.Micro {
		path, _, _ = strings.Cut(path, " ")
	}
	return report.BaseName(path)
}
