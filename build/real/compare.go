//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// gdbFrame is a physical frame as gdb unwound it. Signal: it is the kernel's trampoline, so that its caller's registers come from memory
// where the kernel saved all of them. FramePointer: its code is known to keep the frame pointer, by which gdb found its caller.
type gdbFrame struct {
	PC           uint64 `json:"pc"`
	SP           uint64 `json:"sp"`
	Name         string `json:"name"`
	Signal       bool   `json:"signal"`
	FramePointer bool   `json:"fp"`
}

// gdbThread is a thread's stack, innermost frame first, and why gdb ended it.
type gdbThread struct {
	Frames []gdbFrame `json:"frames"`
	Reason string     `json:"reason"`
}

// code says what is mapped at an address: code of a file, code that the program made itself, or none.
type code uint8

const (
	noCode code = iota
	madeCode
	fileCode
)

// known cuts gdb's frames to those that it has rules for. gdb guesses the caller of code that is in no file, as the code of a JIT compiler, and
// may then go on with numbers that are no addresses. The frame of such code itself is known by its callee's rules. word is a word's size. complete: gdb reached the
// end of the stack.
func (t *gdbThread) known(at func(pc uint64) code, word uint64) (frames []gdbFrame, complete bool) {
	for i, f := range t.Frames {
		kind := at(f.PC)
		if kind == fileCode || f.Signal || f.FramePointer {
			continue
		}
		saved := i == 0 || t.Frames[i-1].Signal // all registers are the kernel's
		if kind == noCode && saved && i+1 < len(t.Frames) && t.Frames[i+1].SP == f.SP+word {
			continue // it was called by mistake, and its return address is where the call has put it
		}
		if kind == madeCode || saved {
			i++
		}
		return t.Frames[:i], false
	}
	return t.Frames, t.Reason == "outermost"
}

// ourFrame is a physical frame of the project's walker.
type ourFrame struct {
	pc, sp uint64
	name   string
	trust  string
}

// ourThread is a thread's stack as the project's walker found it, and why it ended.
type ourThread struct {
	frames []ourFrame
	stop   string // report.Stop's kind
	detail string
}

// endOfStack is the stop of a stack that was walked to its end.
const endOfStack = "end"

// difference is where a thread's stack is not what it has to be.
type difference struct {
	thread      uint32
	frame       int
	ours, truth string
}

func (d *difference) String() string {
	return fmt.Sprintf("thread %d frame %d: ours %s, gdb %s", d.thread, d.frame, d.ours, d.truth)
}

// threadResult is what comparing one thread found.
type threadResult struct {
	known int
	// equal frames are those before the first that differs: in a recursion frames behind it may look alike.
	equal int
	// absent are frames of gdb's which need memory that the dump does not have.
	absent int
	// moved: the thread ran between gdb's visit and the dump, so that nothing can be compared.
	moved bool
	diff  *difference
}

// process is what is known of a captured process besides the frames.
type process struct {
	at        func(pc uint64) code
	word      uint64
	hasMemory func(addr uint64) bool // whether the dump has the word there
	// complete: every stack can be walked to its end, also where gdb cannot.
	complete  bool
	landmarks []landmarks
}

// compareThread compares our frames with those that gdb knows.
func (p *process) compareThread(id uint32, ours *ourThread, gdb *gdbThread) threadResult {
	frames, complete := gdb.known(p.at, p.word)
	var r threadResult
	if len(frames) == 0 {
		return r
	}
	if ours == nil {
		r.known = len(frames)
		r.diff = &difference{id, 0, "no such thread", frames[0].String()}
		return r
	}
	// The innermost frame is the context, and not the work of any walker.
	if len(ours.frames) > 0 && (ours.frames[0].pc != frames[0].PC || ours.frames[0].sp != frames[0].SP) {
		r.moved = true
		return r
	}
	differ := func(i int, truth string) {
		if r.diff == nil {
			r.diff = &difference{id, i, ours.at(i), truth}
		}
	}
	for i := range frames {
		f := &frames[i]
		if i < len(ours.frames) && ours.frames[i].pc == f.PC && ours.frames[i].sp == f.SP {
			r.equal++
			continue
		}
		// Where the dump lacks the return address nobody can find this frame; what comes after depends on it.
		if i >= len(ours.frames) && i > 0 && !frames[i-1].Signal && !p.hasMemory(f.SP-p.word) {
			r.absent = len(frames) - i
		} else {
			differ(i, f.String())
		}
		break
	}
	r.known = len(frames) - r.absent
	switch {
	case r.absent > 0 || r.diff != nil:
	case complete && len(ours.frames) > len(frames):
		differ(len(frames), "the end of the stack")
	case !complete && p.complete && ours.stop != endOfStack:
		differ(len(ours.frames), "not known here; a complete stack is expected")
	}
	return r
}

func (f *gdbFrame) String() string {
	name := f.Name
	if name == "" {
		name = "?"
	}
	return fmt.Sprintf("pc 0x%x sp 0x%x (%s)", f.PC, f.SP, name)
}

func (t *ourThread) at(i int) string {
	if i >= len(t.frames) {
		return fmt.Sprintf("nothing (%s: %s)", t.stop, t.detail)
	}
	f := &t.frames[i]
	return fmt.Sprintf("pc 0x%x sp 0x%x (%s, %s)", f.pc, f.sp, f.name, f.trust)
}

// landmarks are parts of names of functions that must be on one stack in this order, the innermost first.
type landmarks []string

// missing returns the first landmark that no thread reaches, or "".
func (l landmarks) missing(threads map[uint32]*ourThread) string {
	most := 0
	for _, t := range threads {
		found := 0
		for i := range t.frames {
			if found < len(l) && strings.Contains(t.frames[i].name, l[found]) {
				found++
			}
		}
		most = max(most, found)
	}
	if most == len(l) {
		return ""
	}
	return l[most]
}

// result is what comparing a process found.
type result struct {
	threads, known, equal, absent, moved int
	// peer is how many frames rust-minidump has right; -1 where it did not run.
	peer  int
	diffs []*difference
	// missing are landmarks that are on no stack.
	missing []string
}

func (r *result) failed() bool { return len(r.diffs) > 0 || len(r.missing) > 0 || r.known == 0 }

// compare compares all threads of a process.
func (p *process) compare(ours map[uint32]*ourThread, gdb map[uint32]*gdbThread) *result {
	r := &result{peer: -1}
	for _, id := range slices.Sorted(maps.Keys(gdb)) {
		one := p.compareThread(id, ours[id], gdb[id])
		r.threads++
		r.known += one.known
		r.equal += one.equal
		r.absent += one.absent
		if one.moved {
			r.moved++
		}
		if one.diff != nil {
			r.diffs = append(r.diffs, one.diff)
		}
	}
	for _, l := range p.landmarks {
		if name := l.missing(ours); name != "" {
			r.missing = append(r.missing, name)
		}
	}
	return r
}
