package session

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// newWalker makes a walker for a dump. The policy is that of the walk with what the dump itself
// asks for.
func (s *Session) newWalker(policy walker.Policy) (*walker.Walker, *lookups) {
	os := core.OSUnknown
	if s.System != nil {
		os = s.System.OS
	}
	syms := &lookups{s: s, arch: s.Arch(), images: policy.Images}
	s.extendModules()
	s.placeModules(policy)
	w := walker.New(policy, os, s.ModuleMap(policy.MergeEntries, policy.Overlap), syms)
	w.Budget = s.Src.Budget
	memory := &process{Dump: s.Dump}
	w.Code, w.Space = memory, memory
	if len(s.assigned) > 0 {
		w.Assigned = assignedCode{s}
	}
	w.Unloaded = s.Unloaded
	w.Entry, _ = s.Linux.AuxValue("AT_ENTRY")
	for i := range s.Modules {
		switch name := core.FileName(s.Modules[i].Name); {
		case strings.EqualFold(name, "ntdll.dll"):
			w.NTDLL = append(w.NTDLL, i)
		case strings.EqualFold(name, "kernel32.dll"):
			w.Kernel32 = append(w.Kernel32, i)
		}
	}
	w.BigEndian = s.Header.Order == binary.ByteOrder(binary.BigEndian)
	return w, syms
}

// Explain says how a frame of the dump's present report was found. Threads and frames count from 0,
// threads in the dump's order. An error says that there is no such thread or frame.
func (s *Session) Explain(thread, frame int) (*report.Explanation, error) {
	r := s.present()
	if thread < 0 || thread >= len(r.Threads) {
		return nil, fmt.Errorf("there is no thread %d; the dump has %d", thread, len(r.Threads))
	}
	stack := &s.walked.stacks[thread]
	if len(stack.Frames) == 0 {
		return nil, fmt.Errorf("thread %d has no frames: %s", thread, stack.Stop.Detail)
	}
	if err := s.Src.Draw(input.Work, explainWork); err != nil {
		return nil, fmt.Errorf("thread %d: %w", thread, err)
	}
	context := stack.Frames[0].Regs
	mem := stackMemory(s.Dump, thread, context.SP(), s.walked.policy)
	s.walked.syms.arch = context.Arch
	x, err := s.walked.walker.Explain(stack, frame, mem)
	if err != nil {
		return nil, fmt.Errorf("thread %d: %w", thread, err)
	}
	in := report.ExplainInput{Report: r, Thread: thread, Frame: frame, Explained: x}
	if frame == 0 {
		in.RecordNotes = []string{s.contextNote(thread)}
	} else {
		in.Record, in.RecordNotes = s.record(&stack.Frames[frame-1], x)
	}
	if frame == len(stack.Frames)-1 {
		in.Stopped = s.walked.walker.ExplainStop(stack, mem)
	}
	in.Instruction = s.instruction(&stack.Frames[frame])
	out := report.Explain(in)
	if s.opt.Demangle != nil {
		out.Demangle(s.opt.Demangle)
	}
	return out, nil
}

// explainWork is the work of explaining a frame and writing that down, in steps.
const explainWork = 10000

// instruction returns the instruction that a frame is at, or nil.
func (s *Session) instruction(f *walker.Frame) *report.Instruction {
	function := uint64(0)
	if f.Symbol.Name != "" {
		function = f.Address(f.Symbol.Start)
	}
	in, target, known := analysis.At(s.Dump, &f.Regs, f.Lookup != f.PC, function)
	if in == nil {
		return nil
	}
	out := &report.Instruction{Address: in.Address, Text: in.Text, Bytes: in.Bytes, Target: target, HasTarget: known, Place: report.Place{Module: -1}}
	if m, rva := s.walked.walker.Modules.Find(target); known && m >= 0 {
		out.Place = report.Place{Module: m, Offset: rva}
		if sym, known := s.nameAt(m, rva); known && sym.Name != "" {
			out.Place.Function.Raw, out.Place.Offset = sym.Name, rva-sym.Start
		}
	}
	return out
}

// explainedFrames is how many frames of a thread an export explains, unless all are requested: a
// recursion that goes deeper says the same again, and an explanation takes some 2 KB.
const explainedFrames = 128

// Explainer returns a function that explains frames for an export: all frames, or of the first
// frames of the thread that is shown first.
func (s *Session) Explainer(all bool) func(thread, frame int) *report.Explanation {
	return func(thread, frame int) *report.Explanation {
		r := s.present()
		if !all && (thread != r.FirstThread || frame >= explainedFrames) {
			return nil
		}
		x, err := s.Explain(thread, frame)
		if err != nil {
			return nil
		}
		return x
	}
}

// contextNote says which registers frame 0 has.
func (s *Session) contextNote(thread int) string {
	t := &s.Threads[thread]
	if t.Role() == core.RoleLayer && t.SavedRegisters() {
		return "the registers are those that the 64-bit layer had saved for the program"
	} else if t.Suspended() {
		return "the thread ran 32-bit code; the registers are those with which the 64-bit layer goes on when that calls it"
	} else if t.Role() == core.RoleLayer {
		return "the registers are those of the 64-bit layer in which the 32-bit program's thread was"
	}
	if e := s.ExceptionOf(thread); e != nil {
		if _, err := s.ContextOf(e); err == nil {
			if e.SavedRegisters() {
				return "the registers are those that the 64-bit layer had saved when it passed the exception on"
			}
			return "the registers are those of the exception"
		}
	}
	if t.SavedRegisters() {
		return "the registers are those that the 64-bit layer had saved for the program when the dump was written"
	}
	return "the registers are those of the thread when the dump was written"
}

// record gives the lines of the symbol file that the rules of an explanation come from.
func (s *Session) record(callee *walker.Frame, x *walker.Explanation) ([]report.RecordLine, []string) {
	if callee.Module < 0 || x.Source != walker.SourceCFI && x.Source != walker.SourceWin {
		return nil, nil
	}
	f := s.walked.syms.file(callee.Module)
	if b := s.walked.syms.binary(callee.Module); b != nil && x.Source == walker.SourceWin && (f == nil || x.Row.Origin.File != f.Name()) {
		fd, _, err := b.FrameData(callee.RVA)
		if err != nil {
			return nil, nil
		}
		return []report.RecordLine{{Text: fd.ProgramText()}}, winNotes(x, fd, err)
	}
	if f == nil || x.Row.Origin.File != f.Name() && x.Source == walker.SourceCFI {
		return nil, nil
	}
	var out []report.RecordLine
	var notes []string
	f.WithSym(true, func(sym *symfile.File) { out, notes = s.symRecord(sym, callee.RVA, x) })
	return out, notes
}

// symRecord is record of a symbol file.
func (s *Session) symRecord(f *symfile.File, rva uint64, x *walker.Explanation) (out []report.RecordLine, notes []string) {
	if x.Source == walker.SourceWin {
		line, ok, err := f.WinText(rva)
		if !ok || err != nil {
			return nil, unreadRecord(err)
		}
		fd, _, err := f.FrameData(rva)
		return []report.RecordLine{{Line: line.Line, Text: line.Text}}, winNotes(x, fd, err)
	}
	lines, err := f.CFIText(rva)
	for _, l := range lines {
		out = append(out, report.RecordLine{Line: l.Line, Text: l.Text})
	}
	// The cache of rows may have forgotten the notes.
	if err == nil {
		_, _, err = f.Row(s.walked.syms.arch, rva)
	}
	if err != nil {
		return out, unreadRecord(err)
	}
	notes = append([]string{}, f.RowNotes(rva)...)
	if x.Row.Origin.Note != "" {
		notes = append(notes, "the rules were used "+x.Row.Origin.Note)
	}
	return out, notes
}

// unreadRecord records why the record behind a frame's rules is not shown with them.
func unreadRecord(err error) []string {
	if err == nil {
		return nil
	}
	return []string{"the record cannot be read again: " + err.Error()}
}

// winNotes returns a record's numbers, which its program may use, and for an FPO record the program
// that it is equivalent to.
func winNotes(x *walker.Explanation, fd unwind.FrameData, err error) []string {
	if err != nil {
		return unreadRecord(err)
	}
	notes := []string{fmt.Sprintf("the record's sizes in bytes: parameters %d, saved registers %d, locals %d", fd.Params, fd.SavedRegs, fd.Locals)}
	if !fd.HasProgram || fd.Program == "" {
		notes = append(notes, "the record has no program; it stands for "+fd.ProgramText())
	}
	at, esp := x.Win, x.Before.SP()
	if at.SearchStart == 0 {
		return notes
	}
	sum := fmt.Sprintf("esp 0x%x + callee's parameters %d + saved registers %d + locals %d = 0x%x", esp, at.CalleeParams, fd.SavedRegs, fd.Locals, at.Computed)
	switch {
	case at.Aligned:
		sum = fmt.Sprintf("ebp + 4 = 0x%x, since the program aligns esp", at.SearchStart)
	case at.SearchStart != at.Computed:
		sum += fmt.Sprintf("; the first return address from there on lies at 0x%x", at.SearchStart)
	}
	return append(notes, ".raSearchStart is "+sum)
}
