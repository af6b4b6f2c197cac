package text

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
)

// numberedThread is a thread with the number that Breakpad gives it.
type numberedThread struct {
	number     int
	thread     *report.Thread
	requesting bool
}

// numbered are the threads in the order of printing: the requesting one first. The thread that wrote the dump is left out
// and not counted, so that later threads have numbers one lower than their place in the dump.
func numbered(r *report.Report) []numberedThread {
	var out []numberedThread
	first := -1
	for i := range r.Threads {
		t := &r.Threads[i]
		if t.Omitted {
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

// line is one numbered line of a stack: a physical frame, or a call inlined into it.
type line struct {
	frame         *report.Frame
	inline        bool
	address       uint64 // the one that offsets are counted from
	function      string
	functionStart uint64
	file          string
	lineNumber    uint32
	lineStart     uint64
	trust         string
}

// eachLine gives the lines of a frame: its inlined calls, innermost first, then itself.
func eachLine(r *report.Report, f *report.Frame, do func(line)) {
	for i := range f.Inlines {
		in := &f.Inlines[i]
		do(line{
			frame: f, inline: true, address: f.Lookup,
			function: in.Function.Raw, functionStart: in.Start,
			// Breakpad copies the frame and then changes its names: the line record, and so its start, is the same.
			file: in.File, lineNumber: in.Line, lineStart: f.LineStart,
			trust: "inline record",
		})
	}
	address := f.Lookup
	if printsReturnAddress(r) {
		address = f.PC
	}
	do(line{
		frame: f, address: address,
		function: f.Function.Raw, functionStart: f.FunctionStart,
		file: f.File, lineNumber: f.Line, lineStart: f.LineStart,
		trust: trustWords(f.Trust),
	})
}

// printsReturnAddress: Breakpad's frames of these CPUs give their return address for printing; those of all others give
// the address inside the call. Inlined calls never have a return address.
func printsReturnAddress(r *report.Report) bool {
	a := cpu.ByName(r.System.CPU.Breakpad)
	return a != nil && a.PrintsReturn
}

// trustWords are Breakpad's words (stack_frame.h) for the model's.
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
