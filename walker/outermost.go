package walker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// reserved are the names of outermost functions, that nobody calls: the system enters them with a made-up stack, so whatever a search
// above them finds is left over from something else. rust-minidump 918 asks for this; both peers scan on, and print what the dynamic loader
// left there as callers of _start.
//
// gdb stops at the same places: their call frame information says that there is no return address (System V ABI, AMD64,
// 3.4.1: the frame pointer of _start is 0 to mark the deepest frame). Mozilla's dump_syms writes that as a record without .ra; Breakpad's
// drops it and writes the rule of an ordinary function, which gives whatever is there. So reserved names, which no program gives to
// a function of its own, end a stack whatever the rules say; common ones do where the rules lead to no caller.
//
// Go's runtime has its own on every system. A goroutine's stack says that goexit called its first function; clone and rt0_go begin the stacks
// of threads; mcall and morestack leave a goroutine's stack for the scheduler's and never return, so that their callers are not on it.
var reserved = []string{
	"_start", "__clone", "__clone3", "_dl_start_user", "__bionic_clone",
	"start_wqthread",
	"RtlUserThreadStart", "_RtlUserThreadStart", "_RtlUserThreadStart@8",
	"runtime.goexit", "runtime.clone", "runtime.rt0_go", "runtime.mcall", "runtime.morestack",
}

// common are entry functions of a system whose names a program may use itself.
var common = []struct {
	os   core.OS
	name string
}{
	{core.OSLinux, "clone"}, {core.OSLinux, "clone3"},
	{core.MacOS, "start"}, {core.MacOS, "thread_start"}, {core.IOS, "start"}, {core.IOS, "thread_start"},
	{core.Windows, "BaseProcessStart"}, {core.Windows, "BaseThreadStart"},
}

// isReserved: a function has a reserved name, but for the suffix by which Go names a calling convention.
func isReserved(name string) bool {
	return slices.Contains(reserved, strings.TrimSuffix(name, ".abi0"))
}

// ended says of the top frame that it has no caller, if its function is one of those and its rules lead to none. Where a thread was
// stopped or interrupted by a signal in clone, that may have been before it entered the new stack.
func (s *walk) ended() *Stop {
	if !s.Policy.EndAtOutermost || s.interrupted() {
		return nil
	}
	name := s.symbol(s.top()).Name
	for _, c := range common {
		if c.name == name && c.os == s.OS {
			return noCaller(name)
		}
	}
	if isReserved(name) {
		return noCaller(name)
	}
	return nil
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
		if f.Row.Signal || !isReserved(f.Symbol.Name) {
			continue
		}
		next := &s.frames[i+1]
		stop := noCaller(f.Symbol.Name)
		stop.Detail += fmt.Sprintf("; %s gives 0x%x", next.Source, next.PC)
		stop.Attempts = next.Attempts
		s.frames = s.frames[:i+1]
		return stop
	}
	return nil
}
