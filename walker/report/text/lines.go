package text

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
)

// numberedThread is a thread with the number that Breakpad prints for it.
type numberedThread struct {
	number     int
	thread     *report.Thread
	requesting bool
}

// numbered returns the threads, without second stacks, in the order of printing, the requesting one first. Breakpad omits
// the thread that wrote the dump and does not count it, so later threads have a number one lower
// than their index in the dump.
//
// Example: of the threads 0, 1 (wrote the dump), 2 (crashed), 3 the output has 1 (crashed), 0, 2.
func numbered(r *report.Report) []numberedThread {
	var out []numberedThread
	first := -1
	for i := range r.Threads {
		t := &r.Threads[i]
		if t.Omitted || t.IsSecond {
			continue
		}
		n := numberedThread{number: len(out), thread: t, requesting: r.HasRequesting && i == r.FirstThread}
		if n.requesting {
			first = len(out)
		}
		out = append(out, n)
	}
	if first > 0 {
		n := out[first]
		copy(out[1:first+1], out[:first])
		out[0] = n
	}
	return out
}

// line is one numbered line of a stack: a physical frame, or an inlined call.
type line struct {
	frame         *report.Frame
	inline        bool
	address       uint64 // the address from which offsets are computed
	function      string
	functionStart uint64
	file          string
	lineNumber    uint32
	lineStart     uint64
	trust         string
}

// eachLine calls do for the lines of a frame: its inlined calls, innermost first, then the frame
// itself.
func eachLine(r *report.Report, f *report.Frame, do func(line)) {
	for i := range f.Inlines {
		in := &f.Inlines[i]
		do(line{
			frame: f, inline: true, address: f.Lookup,
			function: in.Function.Printed(), functionStart: in.Start,
			// Breakpad copies the frame and changes only its names, so the start of the line record
			// is that of the frame.
			file: in.File, lineNumber: in.Line, lineStart: f.LineStart,
			trust: "inline record",
		})
	}
	address := f.Lookup
	if printsReturnAddress(r) {
		address = f.PC
	}
	name := ""
	if f.Named() {
		name = f.Function.Printed()
	}
	do(line{
		frame: f, address: address,
		function: name, functionStart: f.FunctionStart,
		file: f.File, lineNumber: f.Line, lineStart: f.LineStart,
		trust: trustWords(f.Trust),
	})
}

// printsReturnAddress reports whether Breakpad prints the return address of a caller. It does so
// for x86 and amd64. For other CPUs, and for inlined calls, it prints the address inside the call
// instruction.
func printsReturnAddress(r *report.Report) bool {
	name := cpuName(r)
	return name == cpu.X86.Name || name == cpu.AMD64.Name
}

// trustWords returns Breakpad's text for a trust (stack_frame.h).
func trustWords(trust string) string {
	switch trust {
	case "context":
		return "given as instruction pointer in context"
	case "prewalked":
		return "recovered by external stack walker"
	case "cfi":
		return "call frame info"
	case "cfi_scan":
		return "call frame info with scanning"
	case "frame_pointer":
		return "previous frame's frame pointer"
	case "leaf":
		return "simulating a return from leaf function"
	case "scan":
		return "stack scanning"
	}
	return "unknown"
}
