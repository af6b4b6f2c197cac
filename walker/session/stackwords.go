package session

import (
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// StackWords returns count words of a thread's stack. from is the number of the first; one below 0
// means those around the first word of a frame. The stack is the memory from the stack pointer on, as far
// as the dump says that it is the thread's.
func (m *Memory) StackWords(thread, frame, from, count int) (*report.StackWords, error) {
	out := &report.StackWords{Thread: thread, Selected: -1}
	if thread < 0 || thread >= len(m.s.walked.stacks) || len(m.s.walked.stacks[thread].Frames) == 0 {
		return out, nil
	}
	w := &stackWords{m: m, stack: &m.s.walked.stacks[thread], out: out}
	frames := w.stack.Frames
	arch := frames[0].Regs.Arch
	w.size = uint64(arch.WordSize)
	out.WordSize = arch.WordSize
	w.start = m.stackStart(frames) &^ (w.size - 1)
	out.Total = int(min((m.stackEnd(thread, w.start)-w.start)/w.size, report.MemoryRows))
	if frame >= 0 && frame < len(frames) {
		if sp := frames[frame].Regs.SP(); sp >= w.start && (sp-w.start)/w.size < uint64(out.Total) {
			out.Selected = int((sp - w.start) / w.size)
		}
	}
	if from < 0 {
		from = max(0, out.Selected) - 1
	}
	out.From = max(0, min(from, out.Total))
	count = min(count, out.Total-out.From, 512)
	if err := m.s.Src.Draw(input.Work, int64(max(count, 0))*codeWork+int64(len(frames))); err != nil || count <= 0 {
		return out, err
	}
	w.mem = stackMemory(m.s.Dump, thread, frames[0].Regs.SP(), m.s.walked.policy)
	m.s.walked.syms.arch = arch
	m.points.texts = false
	w.read(count)
	err := w.explain()
	w.canaries()
	w.arguments()
	return out, err
}

// stackStart is the first address of a stack that is shown: the stack pointer, or where a stack has overflown the
// beginning of its memory, which is above.
func (m *Memory) stackStart(frames []walker.Frame) uint64 {
	sp := frames[0].Regs.SP()
	if _, ok := m.s.Memory.Region(sp); ok || len(frames) < 2 {
		return sp
	}
	if region, ok := m.s.Memory.Region(frames[1].Regs.SP()); ok && region.Start > sp {
		return region.Start
	}
	return sp
}

// stackEnd is the first address after a thread's stack, whose memory from sp on is there.
func (m *Memory) stackEnd(thread int, sp uint64) uint64 {
	region, ok := m.s.Memory.Region(sp)
	if !ok {
		return sp
	}
	end := region.End()
	for {
		next, ok := m.s.Memory.Region(end)
		if !ok || end == 0 {
			break
		}
		end = next.End()
	}
	if th := &m.s.Threads[thread]; sp-th.StackStart < th.Stack.Size {
		return min(end, th.StackStart+th.Stack.Size)
	}
	if p := m.points.in(sp); p.Range != nil && p.Range.Start+p.Range.Size > sp {
		end = min(end, p.Range.Start+p.Range.Size)
	}
	return end
}

// stackWords makes a report.StackWords.
type stackWords struct {
	m           *Memory
	stack       *walker.Stack
	mem         unwind.Memory
	start, size uint64
	out         *report.StackWords
}

// read reads the window's words, and says whose frame's they are.
func (w *stackWords) read(count int) {
	at := w.start + uint64(w.out.From)*w.size
	room := make([]byte, uint64(count)*w.size)
	room = room[:w.m.s.Memory.Read(at, room)]
	for i := 0; uint64(i+1)*w.size <= uint64(len(room)); i++ {
		p := room[uint64(i)*w.size:]
		word := report.StackWord{Address: at + uint64(i)*w.size, Frame: -1}
		if w.size == 4 {
			word.Value = uint64(w.m.s.order().Uint32(p))
		} else {
			word.Value = w.m.s.order().Uint64(p)
		}
		word.Points = w.m.points.at(word.Value)
		w.out.Rows = append(w.out.Rows, word)
	}
	frames := w.stack.Frames
	for i := range frames {
		sp := frames[i].Regs.SP()
		end := sp
		if i+1 < len(frames) && frames[i+1].Skipped == nil {
			end = frames[i+1].Regs.SP()
		} else if frames[i].HasCFA {
			end = frames[i].CFA
		}
		for k := w.row(max(sp, at)); k < len(w.out.Rows) && w.out.Rows[k].Address < end; k++ {
			w.out.Rows[k].Frame = i
		}
	}
}

// row returns the number of an address's row in the window, or more than it has.
func (w *stackWords) row(address uint64) int {
	if len(w.out.Rows) == 0 || address < w.out.Rows[0].Address {
		return len(w.out.Rows)
	}
	return int(min((address-w.out.Rows[0].Address)/w.size, uint64(len(w.out.Rows))))
}

// explain says what the rules of the window's frames read, and what scans passed by. The words that lead to a
// frame are in the memory of the frame below it.
func (w *stackWords) explain() error {
	frames := w.stack.Frames
	explained := map[int]bool{}
	for i := range w.out.Rows {
		below := w.out.Rows[i].Frame
		if k := below + 1; below >= 0 && k < len(frames) && !explained[k] {
			explained[k] = true
			if err := w.m.s.Src.Draw(input.Work, explainWork); err != nil {
				return err
			}
			x, err := w.m.s.walked.walker.Explain(w.stack, k, w.mem)
			if err != nil {
				continue // what the rest says is still true
			}
			w.roles(k, x)
		}
	}
	last := len(frames) - 1
	end := w.m.s.walked.walker.ExplainStop(w.stack, w.mem)
	for i := range w.out.Rows {
		row := &w.out.Rows[i]
		if len(row.Roles) > 0 || row.Points.Place.Module < 0 {
			continue
		}
		scanned := -1 // the frames from whose top a scan looked at the word
		if k := row.Frame + 1; row.Frame >= 0 && k < len(frames) && frames[k].Source == walker.SourceScan {
			scanned = k
		} else if at := row.Address - end.From; end.Words > 0 && row.Address >= end.From && at/w.size < uint64(end.Words) {
			scanned = last + 1
		}
		if scanned > 0 {
			row.PassedBy = w.m.s.walked.walker.PassedBy(w.stack, scanned, w.mem, row.Address)
		}
	}
	return nil
}

// roles records what the words were read for that a frame was found with.
func (w *stackWords) roles(frame int, x *walker.Explanation) {
	for _, read := range x.Words {
		k := w.row(read.Addr)
		if k >= len(w.out.Rows) || read.Size != int(w.size) {
			continue
		}
		role := report.StackRole{Kind: report.RoleRead, Frame: frame}
		switch name, isRegister := strings.CutPrefix(read.For, "$"); {
		case read.For == "ra":
			role.Kind = report.RoleReturn
		case isRegister && name == strings.TrimPrefix(x.After.Arch.RegName(x.After.Arch.FP), "$"):
			role.Kind, role.Register = report.RoleFramePointer, name
		case isRegister:
			role.Kind, role.Register = report.RoleSaved, name
		}
		w.out.Rows[k].Roles = append(w.out.Rows[k].Roles, role)
	}
}

// canaries marks the words that are the stack protector's. The C libraries of GNU and of Android take it
// from the first bytes of AT_RANDOM, and set the one to 0 that is first in memory, so that no text runs
// over it (glibc sysdeps/unix/sysv/linux/dl-osinfo.h, _dl_setup_stack_chk_guard). So many random bits are nowhere by
// chance.
func (w *stackWords) canaries() {
	d := w.m.s.Dump
	at, ok := d.Linux.AuxValue("AT_RANDOM")
	if !ok || d.System == nil || d.System.OS != core.OSLinux && d.System.OS != core.Android {
		return
	}
	random, ok := d.Memory.Word(at, int(w.size))
	if !ok || random>>16 == 0 {
		return
	}
	guard := random &^ 0xff
	if w.m.s.walked.walker.BigEndian {
		guard = random &^ (0xff << (8 * (w.size - 1)))
	}
	for i := range w.out.Rows {
		if row := &w.out.Rows[i]; row.Value == guard {
			row.Canary = true
		}
	}
}
