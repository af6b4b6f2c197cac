package walker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// outermost are the functions that nobody calls: the system enters them with a made-up stack, so whatever a search above
// them finds is left over from something else. rust-minidump 918 asks for this; both peers scan on, and print what the
// dynamic loader left there as callers of _start.
//
// gdb stops at the same places: their call frame information says that there is no return address (System V ABI, AMD64,
// 3.4.1: the frame pointer of _start is 0 to mark the deepest frame). Mozilla's dump_syms writes that as a record without .ra; Breakpad's
// drops it and writes the rule of an ordinary function, which gives whatever is there. So reserved names, which no program gives to
// a function of its own, end a stack whatever the rules say; common ones do where the rules lead to no caller.
var reserved = map[core.OS][]string{
	core.OSLinux: {"_start", "__clone", "__clone3", "_dl_start_user"},
	core.Android: {"_start", "__bionic_clone"},
	core.MacOS:   {"_start", "start_wqthread"},
	core.IOS:     {"_start", "start_wqthread"},
	core.Windows: {"RtlUserThreadStart", "_RtlUserThreadStart", "_RtlUserThreadStart@8"},
}

// reservedByGo are those of Go's runtime on every system, without the suffix that some have for their calling convention. A goroutine's
// stack says that goexit called its first function; clone and rt0_go begin the stacks of threads; mcall and morestack leave a goroutine's
// stack for the scheduler's and never return, so that their callers are not on it.
var reservedByGo = []string{"runtime.goexit", "runtime.clone", "runtime.rt0_go", "runtime.mcall", "runtime.morestack"}

var common = map[core.OS][]string{
	core.OSLinux: {"clone", "clone3"},
	core.MacOS:   {"start", "thread_start"},
	core.IOS:     {"start", "thread_start"},
	core.Windows: {"BaseProcessStart", "BaseThreadStart"},
}

// ended says of the top frame that it has no caller, if its function is one of those and its rules lead to none. Where a thread was
// stopped or interrupted by a signal in clone, that may have been before it entered the new stack.
func (s *walk) ended() *Stop {
	if !s.Policy.EndAtOutermost || s.interrupted() {
		return nil
	}
	name := s.symbol(s.top()).Name
	if !s.isReserved(name) && !slices.Contains(common[s.OS], name) {
		return nil
	}
	return noCaller(name)
}

func (s *walk) isReserved(name string) bool {
	return name != "" && (slices.Contains(reserved[s.OS], name) || slices.Contains(reservedByGo, strings.TrimSuffix(name, ".abi0")))
}

func noCaller(name string) *Stop {
	return &Stop{Kind: StopEnd, Detail: name + " is where a stack begins: it has no caller"}
}

// endAtReserved takes away the frames above the first whose function has a reserved name. It is asked when the walk is over and all names
// are known: a walk that asked for each would read much more of a symbol file than its rules.
func (s *walk) endAtReserved() *Stop {
	if !s.Policy.EndAtOutermost {
		return nil
	}
	for i := 1; i+1 < len(s.frames); i++ {
		f := &s.frames[i]
		if f.Row.Signal || !s.isReserved(f.Symbol.Name) {
			continue
		}
		next := &s.frames[i+1]
		stop := noCaller(f.Symbol.Name)
		stop.Attempts = append(next.Attempts, Attempt{Source: next.Source, Row: next.Row,
			Reason: fmt.Sprintf("it gives pc 0x%x, but %s has no caller", next.PC, f.Symbol.Name)})
		s.frames = s.frames[:i+1]
		return stop
	}
	return nil
}
