package text

import (
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// strip removes the separators of fields and lines from a field.
var strip = strings.NewReplacer("|", "", "\n", "")

// WriteMachine prints Breakpad's machine-readable form (minidump_stackwalk -m):
//
//	OS|name|version
//	CPU|cpu|cpu info|count
//	GPU|version|vendor|renderer
//	Crash|reason|address|thread
//	Module|file|version|debug file|debug id|first address|last address|main
//
//	thread|frame|module|function|source file|line|offset
//	LeftOut|thread|first frame|number of frames of a recursion that are not listed
//
// Empty fields stay. There is no empty line between threads; the requesting thread comes first.
func WriteMachine(w io.Writer, r *report.Report) error {
	b := newPrinter(w)
	s := &r.System
	b.printf("OS|%s|%s\n", strip.Replace(s.OS), strip.Replace(osVersion(r)))
	b.printf("CPU|%s|%s|%d\n", strip.Replace(cpuName(r)), strip.Replace(cpuInfo(r)), s.CPUCount)
	gpu := report.GPU{}
	if s.GPU != nil {
		gpu = *s.GPU
	}
	b.printf("GPU|%s|%s|%s\n", strip.Replace(gpu.Version), strip.Replace(gpu.Vendor), strip.Replace(gpu.Renderer))

	threads := numbered(r)
	switch {
	case r.Crash != nil:
		b.printf("Crash|%s|0x%x|", strip.Replace(Reason(r, &r.Crash.Reason, r.Crash.Params)), r.Crash.Address)
	case r.Assertion != "":
		b.printf("Crash|%s||", strip.Replace(r.Assertion))
	default:
		b.printf("Crash|No crash||")
	}
	if len(threads) > 0 && threads[0].requesting {
		b.printf("%d", threads[0].number)
	}
	b.printf("\n")

	for _, i := range r.ModulesByAddress {
		m := &r.Modules[i]
		main := 0
		if isMain(r, m) {
			main = 1
		}
		b.printf("Module|%s|%s|%s|%s|0x%08x|0x%08x|%d\n",
			strip.Replace(fileName(r, m.Name)), strip.Replace(fileVersion(m)),
			strip.Replace(fileName(r, m.StoredDebugFile)), strip.Replace(m.StoredID), m.Base, m.Base+m.Size-1, main)
	}
	b.printf("\n")

	for _, n := range threads {
		number := 0
		for i := range n.thread.Frames {
			if f := &n.thread.Frames[i]; f.Skipped > 0 {
				left := f.Skipped + f.SkippedInlines
				b.printf("LeftOut|%d|%d|%d\n", n.number, number, left)
				number += left
			}
			eachLine(r, &n.thread.Frames[i], func(l line) {
				b.printf("%d|%d|", n.number, number)
				number++
				writeFields(b, r, l)
				b.printf("\n")
			})
		}
	}
	return b.flush()
}

// writeFields prints module|function|source file|line|offset by the rules of writePlace, with the
// source's full path.
//
//	tool|work|tool.c|3|0x10
//	tool|work|||0x1c
//	tool||||0x4f3a
//	||||0x7f75c0de1234
func writeFields(b *printer, r *report.Report, l line) {
	if l.frame.Module < 0 {
		b.printf("||||0x%x", l.address)
		return
	}
	m := &r.Modules[l.frame.Listed]
	b.printf("%s", strip.Replace(fileName(r, m.Name)))
	switch {
	case l.function == "":
		b.printf("||||0x%x", l.address-m.Base)
	case l.file == "":
		b.printf("|%s|||0x%x", strip.Replace(l.function), l.address-l.functionStart)
	default:
		b.printf("|%s|%s|%d|0x%x", strip.Replace(l.function), strip.Replace(l.file), int32(l.lineNumber),
			l.address-l.lineStart)
	}
}
