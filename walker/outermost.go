package walker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// reserved are the names of outermost functions, which have no caller: the system enters them with
// a made-up stack, so whatever a search above them finds is left over from something else.
// rust-minidump 918 asks for this; both peers scan on, and print what the dynamic loader left there
// as callers of _start.
//
// gdb stops at the same functions: their call frame information says that there is no return
// address (System V ABI, AMD64, 3.4.1: the frame pointer of _start is 0 to mark the deepest frame).
// Mozilla's dump_syms writes that as a record without .ra; Breakpad's drops it and writes the rule
// of an ordinary function, which gives whatever is there. So reserved names, which no program gives
// to a function of its own, end a stack whatever the rules say; common ones do where the rules lead
// to no caller.
//
// Go's runtime has its own on every system. A goroutine's stack says that goexit called its first
// function; clone and rt0_go begin the stacks of threads; mcall and morestack leave a goroutine's
// stack for the scheduler's and never return, so that their callers are not on it.
var reserved = []string{
	"_start", "__clone", "__clone3", "_dl_start_user", "__bionic_clone", "__start_context", "__startcontext",
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

// isReserved: a function has a reserved name, but for the suffix by which Go names a calling
// convention.
func isReserved(name string) bool {
	return slices.Contains(reserved, strings.TrimSuffix(name, ".abi0"))
}

// ended returns why the top frame has no caller, or "". Something must show it, and the frame's
// rules must find no caller. If a thread was stopped or interrupted by a signal in clone, that
// may have been before it entered the new stack.
func (s *walk) ended() *Stop {
	if !s.Policy.EndAtOutermost || s.interrupted() {
		return nil
	}
	for _, says := range endings {
		if why := says(s); why != "" {
			return &Stop{Kind: StopEnd, Detail: why}
		}
	}
	return nil
}

// endings are the signs that the top frame is the outermost one of its stack. Each returns how it
// is known, or "".
var endings = []func(*walk) string{
	(*walk).isCommon,
	func(s *walk) string { return s.entered(s.top()) },
	(*walk).endsFrameChain,
	(*walk).usedShadow,
}

// isCommon returns why a frame's function has no caller, by the names that runtimes give to the
// first function of a thread; "" for others.
func (s *walk) isCommon() string {
	name := s.symbol(s.top()).Name
	for _, c := range common {
		if c.name == name && c.os == s.OS {
			return noCaller(name)
		}
	}
	return ""
}

// noCaller is the Stop's detail for a function that is known by its name.
func noCaller(name string) string { return name + " is where a stack begins: nothing calls it" }

// entered reports whether the system enters a frame's function: by its reserved name, or because it
// is the program's entry point.
func (s *walk) entered(f *Frame) string {
	sym := s.symbol(f)
	if isReserved(sym.Name) {
		return noCaller(sym.Name)
	}
	if past := f.PC - s.Entry; s.Entry != 0 && past > 0 && past <= startSize && (sym.Name == "" || f.Address(sym.Start) == s.Entry) {
		return fmt.Sprintf("the program begins at 0x%x (AT_ENTRY), %d bytes before this return address: nothing calls that code", s.Entry, past)
	}
	return ""
}

// startSize is how far after the entry point the return address of its call may be. The _start of
// glibc, musl and Bionic makes its one call within 64 bytes on all CPUs of the dumps that have an
// auxiliary vector, and the next function that calls anything begins later.
const startSize = 64

// endsFrameChain: all code of Apple's systems keeps frame pointers, and a thread's first function
// finds 0 in that register. So the chain of a caller's frame pointer ends where the saved one is 0
// and no return address is next to it.
func (s *walk) endsFrameChain() string {
	if s.OS != core.MacOS && s.OS != core.IOS {
		return ""
	}
	reg := s.framePointer()
	fp, known := s.top().Regs.Get(reg)
	if !known || fp < s.top().Regs.SP() {
		return ""
	}
	saved, ok := s.word(fp)
	ra, _ := s.word(fp + uint64(s.arch.WordSize))
	if !ok || saved != 0 || s.Modules.Covers(s.strip(ra)-1) {
		return ""
	}
	return fmt.Sprintf("the chain of frame pointers ends here: the word at %s 0x%x is 0", s.arch.RegName(reg), fp)
}

// usedShadow: the CPU's shadow stack has every return address of the thread, and the top frame's
// was the last.
func (s *walk) usedShadow() string {
	if !s.shadowed || len(s.shadow) > 0 {
		return ""
	}
	return fmt.Sprintf("0x%x is the last return address on the shadow stack", s.top().PC)
}

// endsAtNull returns what a return address in the first page means: the end of the stack, if
// something proves it, or a walk that got lost. Rules that find 0 say that there is no caller, but a
// rule may be wrong: then the callers are still above, where a scan finds them.
func (s *walk) endsAtNull(src Source, row *unwind.Row, regs *cpu.Regs) *Stop {
	said := fmt.Sprintf("by %s, the next return address is 0x%x", src.words(), regs.PC())
	if !s.Policy.ProveEnd {
		return &Stop{Kind: StopEnd, Detail: said}
	}
	if stop := cmp.Or(s.ended(), s.stackBegins(nil)); stop != nil {
		return stop
	}
	but := ""
	switch {
	case row.Signal:
		but = "where no thread can have been interrupted"
	case !s.isNull(regs.PC()):
		but = "which is not an address of code"
	case s.scanned > 0:
		but = "which proves nothing, because a frame before it is a guess"
	case !s.endsChain(regs, s.fpWasRead() || s.readsFP(row)):
		if at, v, ok := s.scanFor(regs.SP(), s.scanWords()); ok {
			but = fmt.Sprintf("and above it, at 0x%x, there is a return address 0x%x: the stack may be cut", at, v)
		}
	}
	if but == "" {
		return &Stop{Kind: StopEnd, Detail: said}
	}
	return &Stop{Kind: StopLost, Detail: said + ", " + but}
}

// isNull: a pc is that of a return address of 0, which the CPU may keep as that of the call.
func (s *walk) isNull(pc uint64) bool { return pc == 0 || pc == uint64(s.arch.Frame.RABias) }

// endsChain: a caller's registers are those at the end of a chain of frame pointers, where both the
// return address and the next frame pointer are 0. wasRead: rules read the register from the stack;
// otherwise it is whatever the thread had in it. A powerpc's chain is of stack pointers, which every
// frame has; a function that has not saved its return address yet leaves 0 next to them, too.
func (s *walk) endsChain(regs *cpu.Regs, wasRead bool) bool {
	if s.arch.Frame.Style == cpu.BackChain {
		next, ok := s.word(regs.SP())
		return regs.PC() == 0 && ok && next == 0
	}
	fp, _ := regs.Get(s.framePointer())
	return s.isNull(regs.PC()) && fp == 0 && wasRead
}

// stackBegins reports whether a walk that found no caller has reached the start of the stack. On
// Windows stacks begin at a multiple of 64 KB (the allocation granularity, GetSystemInfo), and
// every thread in a function of ntdll.dll. So if the memory goes on to such an address, and no word
// of it points into a module, no return address can be there. Other systems have pointers into
// modules after a stack's first frame.
//
// A scan takes leftovers for callers, after the first frame too. So a stack with scanned frames is
// complete only if its thread's start is on it, and the frames that the scan found beyond it are
// removed.
func (s *walk) stackBegins(attempts []Attempt) *Stop {
	if !s.Policy.EndAtOutermost || s.OS != core.Windows || s.atContext() {
		return nil
	}
	sp := s.top().Regs.SP()
	// The loop ends at the end of the stack's memory, or at a word that may be a return address. Threads of a damaged dump
	// may all have the same large stack.
	at := sp
	for ; ; at += uint64(s.arch.WordSize) {
		v, ok := s.word(at)
		if !ok {
			break
		}
		if s.Modules.Covers(v) || s.Modules.Covers(v-1) {
			return nil
		}
		if s.Budget.Draw(input.Work, 1) != nil {
			return nil
		}
	}
	if at == sp || at%(64<<10) != 0 {
		return nil
	}
	stop := &Stop{Kind: StopEnd, Attempts: attempts, Detail: fmt.Sprintf("no word between sp 0x%x and the stack's beginning, 0x%x, points into a module", sp, at)}
	if s.scanned == 0 {
		return stop
	}
	start := s.threadStart()
	if start < 0 {
		return nil
	}
	if start+1 < len(s.frames) {
		next := &s.frames[start+1]
		stop.Attempts, stop.Detail = next.Attempts, fmt.Sprintf("every thread begins in ntdll.dll, which calls kernel32.dll: nothing calls this code. The address 0x%x, found by %s, is left from something else", next.PC, next.Source.words())
		s.leaveOut(start + 1)
	}
	return stop
}

// threadStart returns the last frame of ntdll.dll above one of kernel32.dll, or -1. Since Windows
// Vista every thread begins in RtlUserThreadStart of the former, on x86 in two functions of it, and
// BaseThreadInitThunk of the latter calls the program's function.
func (s *walk) threadStart() int {
	for i := len(s.frames) - 1; i > 0; i-- {
		if m := s.frames[i].Module; m < 0 || !slices.Contains(s.NTDLL, m) || !slices.Contains(s.Kernel32, s.frames[i-1].Module) {
			continue
		}
		for i+1 < len(s.frames) && slices.Contains(s.NTDLL, s.frames[i+1].Module) {
			i++
		}
		return i
	}
	return -1
}

// endAtOutermost removes the frames above the first one that is known to have no caller (see
// entered). It runs when the walk is over and all names are known: looking up each name during the
// walk would read much more of a symbol file than the rules alone.
func (s *walk) endAtOutermost() *Stop {
	if !s.Policy.EndAtOutermost {
		return nil
	}
	// Frame 0 is left out, as is a frame that a signal interrupted: such a thread may not have
	// entered its new stack yet.
	for i := 1; i+1 < len(s.frames); i++ {
		f := &s.frames[i]
		if f.Row.Signal || s.frames[i+1].Source == SourceGo {
			continue
		}
		why := s.entered(f)
		if why == "" {
			continue
		}
		next := &s.frames[i+1]
		stop := &Stop{Kind: StopEnd, Attempts: next.Attempts, Detail: fmt.Sprintf("%s. The address 0x%x, found by %s, is left from something else", why, next.PC, next.Source.words())}
		s.leaveOut(i + 1)
		return stop
	}
	return nil
}
