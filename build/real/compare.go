//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// gdbFrame is a physical frame that gdb unwound. Signal is set for the signal trampoline: the
// kernel has saved all its caller's registers on the stack. FramePointer is set for code that is
// known to keep the frame pointer, with which gdb found its caller.
type gdbFrame struct {
	PC           uint64 `json:"pc"`
	SP           uint64 `json:"sp"`
	Name         string `json:"name"`
	Signal       bool   `json:"signal"`
	FramePointer bool   `json:"fp"`
}

// gdbThread is a thread's stack, innermost frame first, and gdb's reason for its end.
type gdbThread struct {
	Frames []gdbFrame `json:"frames"`
	Reason string     `json:"reason"`
}

// contexts returns the threads with their innermost frames alone, which need no rules.
func contexts(threads map[uint32]*gdbThread) map[uint32]*gdbThread {
	out := map[uint32]*gdbThread{}
	for id, t := range threads {
		out[id] = &gdbThread{Frames: t.Frames[:min(1, len(t.Frames))]}
	}
	return out
}

// code is the kind of code that is mapped at an address.
type code uint8

const (
	noCode   code = iota // nothing, or memory without code
	madeCode             // anonymous memory: code that the program generated, as a JIT compiler does
	fileCode             // a mapped file
)

// known returns gdb's frames up to the first whose caller gdb guessed. gdb has no unwind rules for
// code that is not in a file, such as a JIT compiler's. It guesses the caller of such a frame, and
// may continue with values that are not addresses. The frame itself is correct, because gdb found
// it with the rules of its callee. word is the size of a word in bytes. complete reports whether
// gdb reached the end of the stack.
func (t *gdbThread) known(at func(pc uint64) code, word uint64) (frames []gdbFrame, complete bool) {
	for i, f := range t.Frames {
		kind := at(f.PC)
		if kind == fileCode || f.Signal || f.FramePointer {
			continue
		}
		saved := i == 0 || t.Frames[i-1].Signal // the kernel has saved all registers of this frame
		if kind == noCode && saved && i+1 < len(t.Frames) && t.Frames[i+1].SP == f.SP+word {
			continue // the program called an address without code: the call has pushed the return address and nothing else
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

// ourThread is a thread's stack that the project's walker found, and the reason for its end.
type ourThread struct {
	frames []ourFrame
	stop   string // report.Stop's kind
	detail string
}

// endOfStack is the stop's kind of a stack that was walked to its end.
const endOfStack = "end"

// difference is the first frame of a thread at which the walker and gdb disagree.
type difference struct {
	thread      uint32
	frame       int
	ours, truth string
}

func (d *difference) String() string {
	return fmt.Sprintf("thread %d frame %d: ours %s, gdb %s", d.thread, d.frame, d.ours, d.truth)
}

// threadResult is the result of comparing one thread. The counts are of frames.
type threadResult struct {
	known int
	// equal counts the frames before the first that differs. Later frames do not count: in a
	// recursion they may look alike by chance.
	equal int
	// absent counts gdb's frames that need memory that the dump does not have.
	absent int
	// moved is set if the thread ran between gdb's visit and the dump, so that its frames cannot be
	// compared.
	moved bool
	diff  *difference
}

// process has the facts about a captured process that a comparison needs besides the frames.
type process struct {
	at        func(pc uint64) code
	word      uint64
	hasMemory func(addr uint64) bool // whether the dump has the word there
	// complete is set if every stack can be walked to its end, also where gdb cannot.
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
	// The innermost frame is the thread's context. No walker computes it, so a difference there
	// means that the thread has moved.
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
		// If the dump lacks the return address, no walker can find this frame and those after it.
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

// landmarks are parts of names of functions. Some thread's stack must have them all in this order,
// the innermost first.
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

// result is the result of comparing a process. The counts are sums over its threads.
type result struct {
	threads, known, equal, absent, moved int
	// peer is how many of rust-minidump's frames equal gdb's, -1 if it did not run.
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
