package report

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// This file reads the locks of Linux' C libraries: which thread holds the one that another waits for.

// linuxCall is how Linux programs on a processor call the system, and what a thread's registers are in a call.
type linuxCall struct {
	code   []string // instructions
	number string   // the register of the call's number, "" if the kernel overwrites it
	futex  uint64   // the number of futex
	// args are the registers of futex' address, operation and value.
	args [3]string
	// result has what the call returns. A call that waits has one of the kernel's own numbers in it.
	result string
	// again: the kernel has set pc back to the instruction, and the arguments' registers to what they were, before
	// others can see the registers of a waiting thread (arch/arm64/kernel/signal.c, arch/arm/kernel/signal.c: do_signal).
	again bool
}

// linuxCalls are from Linux' syscall(2) and arch/*/kernel. On riscv64 the result overwrites the first argument.
var linuxCalls = map[string]*linuxCall{
	"amd64":   {code: []string{"\x0f\x05"}, args: [3]string{"rdi", "rsi", "rdx"}, result: "rax"},
	"x86":     {code: []string{"\xcd\x80", "\x0f\x34", "\x0f\x05"}, args: [3]string{"ebx", "ecx", "edx"}, result: "eax"},
	"arm64":   {code: []string{"\x01\x00\x00\xd4"}, number: "x8", futex: 98, args: [3]string{"x0", "x1", "x2"}, again: true},
	"arm":     {code: []string{"\x00\x00\x00\xef", "\x00\xdf"}, number: "r7", futex: 240, args: [3]string{"r0", "r1", "r2"}, again: true},
	"riscv64": {code: []string{"\x73\x00\x00\x00"}, number: "a7", futex: 98, args: [3]string{"", "a1", "a2"}, result: "a0"},
}

// register returns a register of a frame by its name.
func register(f *Frame, name string) (uint64, bool) {
	if f.Regs == nil || f.Regs.Arch == nil {
		return 0, false
	}
	r, ok := f.Regs.Arch.Lookup(name)
	if !ok {
		return 0, false
	}
	return f.Regs.Get(r)
}

// inSystemCallOf reports whether a thread's first frame is in a system call, as its code or its registers prove.
// repeats: the instruction is at pc and not before it.
func inSystemCallOf(d *core.Dump, f *Frame) (in, repeats bool) {
	if f.Regs == nil || f.Regs.Arch == nil {
		return false, false
	}
	arch := f.Regs.Arch
	call := linuxCalls[arch.Name]
	if call == nil {
		return false, false
	}
	is := func(at uint64, code string) bool {
		p := make([]byte, len(code))
		return d.Code(at, p) == len(code) && string(p) == code
	}
	linux := d.System != nil && (d.System.OS == core.OSLinux || d.System.OS == core.Android)
	pc := arch.CodeAddress(f.PC)
	for _, code := range call.code {
		if is(pc-uint64(len(code)), code) {
			return true, false
		}
		if linux && call.again && is(pc, code) {
			return true, true
		}
	}
	if arch == cpu.AMD64 { // the instruction leaves the address after it in rcx (AMD64 manual, volume 3, SYSCALL)
		if rcx, ok := register(f, "rcx"); ok && rcx == f.PC {
			return true, false
		}
	}
	// ERESTARTSYS to ERESTART_RESTARTBLOCK never reach programs (include/linux/errno.h).
	result, ok := register(f, call.result)
	n := -int64(result)
	if arch.WordSize == 4 {
		n = -int64(int32(result))
	}
	return ok && linux && n >= 512 && n <= 516, false
}

// futex returns the address that a thread's system call futex waits on. named: a function's name says that it is
// that call; else the operation and the value must be those of a lock.
func futex(d *core.Dump, f *Frame, named bool) (uint64, bool) {
	in, repeats := inSystemCallOf(d, f)
	if !in {
		return 0, false
	}
	call := linuxCalls[f.Regs.Arch.Name]
	if number, ok := register(f, call.number); call.again && (!repeats || !ok || number != call.futex) {
		return 0, false
	}
	if !named {
		op, ok1 := register(f, call.args[1])
		value, ok2 := register(f, call.args[2])
		const wait, lockPI, waitBits, lockPI2, flags = 0, 6, 9, 13, 0x180
		switch op &^ flags {
		case wait, waitBits: // a mutex with others that wait is 2; the words of rwlocks have bit 1 set
			if value&^1 != 2 {
				return 0, false
			}
		case lockPI, lockPI2:
		default:
			return 0, false
		}
		if !ok1 || !ok2 {
			return 0, false
		}
	}
	return register(f, call.args[0])
}

// lockForm is a lock of a C library.
type lockForm struct {
	kind      string
	library   func(name string) bool
	functions []string
	// waits are the offsets of the words that threads wait on.
	waits []uint64
	// owner reads the id of the thread that holds the lock. certain: everything in its words is as it is in such a lock with
	// others that wait, so that they show what they are. word is that of pointers, in bytes.
	owner func(m *core.Memory, at uint64, word int) (id uint64, certain bool)
}

var (
	mutexFunctions  = []string{"pthread_mutex_lock", "pthread_mutex_lock_full", "pthread_mutex_timedlock", "pthread_mutex_clocklock"}
	rwlockFunctions = []string{"pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
		"pthread_rwlock_clockrdlock", "pthread_rwlock_clockwrlock"}
)

// lockForms are the locks that say who holds them. Mutexes of musl and bionic do so only if they are recursive
// or check for errors; locks that are held for reading never do, nor do those of Rust and Go, Windows' SRW locks,
// and std::mutex without pthreads.
var lockForms = []lockForm{
	{"mutex", isGlibc, mutexFunctions, []uint64{0}, glibcMutex},
	{"reader-writer lock", isGlibc, rwlockFunctions, []uint64{8, 12}, glibcRWLock},
	{"mutex", isMusl, mutexFunctions, []uint64{4}, muslMutex},
	{"mutex", isBionic, mutexFunctions, []uint64{0}, bionicMutex},
}

func isGlibc(name string) bool {
	return strings.HasPrefix(name, "libc.so.6") || strings.HasPrefix(name, "libc-2.") || strings.HasPrefix(name, "libpthread")
}

func isMusl(name string) bool {
	return strings.HasPrefix(name, "ld-musl-") || strings.HasPrefix(name, "libc.musl-")
}

func isBionic(name string) bool { return name == "libc.so" }

// glibcMutex reads a mutex of the GNU C library (sysdeps/nptl/bits/struct_mutex.h):
//
//	64-bit  32-bit
//	     0       0  int lock: 0 if it is free, 2 if others wait; of some kinds the owner's id with bit 31 set
//	     4       4  unsigned count
//	     8       8  int owner: the id of the thread that holds it
//	    12      16  unsigned users
//	    16      12  int kind
func glibcMutex(m *core.Memory, at uint64, word int) (uint64, bool) {
	lock, ok1 := m.Word(at, 4)
	owner, ok2 := m.Word(at+8, 4)
	if !ok1 || !ok2 || lock == 0 {
		return 0, false
	}
	users, ok1 := m.Word(at+12, 4)
	kind, ok2 := m.Word(at+16, 4)
	if word == 4 {
		users, kind = kind, users
	}
	waited := lock == 2 || lock>>31 == 1 && lock&0x3fffffff == owner
	return owner, ok1 && ok2 && waited && users > 0 && users < 1<<22 && kind < 1<<10
}

// glibcRWLock reads a lock of the GNU C library for reading and writing (sysdeps/nptl/bits/struct_rwlock.h):
//
//	64-bit  32-bit
//	     0       0  unsigned readers; bit 0 is set while it belongs to writers
//	     8       8  unsigned writing, writers: the words that threads wait on, 0 to 3
//	    16      16  two unused words
//	    24      28  int writer: the id of the thread that holds it for writing, or 0
func glibcRWLock(m *core.Memory, at uint64, word int) (uint64, bool) {
	readers, ok1 := m.Word(at, 4)
	phase, ok2 := m.Word(at+8, 4)
	writers, ok3 := m.Word(at+12, 4)
	unused, ok4 := m.Word(at+16, 8)
	writer, ok5 := m.Word(at+24, 4)
	if word == 4 {
		writer, ok5 = m.Word(at+28, 4)
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 {
		return 0, false
	}
	return writer, readers&1 == 1 && phase < 4 && writers < 4 && unused == 0
}

// muslMutex reads a mutex of musl (src/thread/pthread_mutex_trylock.c):
//
//	0  int type: 1 recursive, 2 checks for errors
//	4  int lock: the id of the thread that holds it, with bit 31 set if others wait
//	8  int waiters
func muslMutex(m *core.Memory, at uint64, _ int) (uint64, bool) {
	kind, ok1 := m.Word(at, 4)
	lock, ok2 := m.Word(at+4, 4)
	waiters, ok3 := m.Word(at+8, 4)
	if !ok1 || !ok2 || kind&3 != 1 && kind&3 != 2 {
		return 0, false
	}
	return lock & 0x3fffffff, ok3 && kind < 1<<8 && lock>>31 == 1 && waiters > 0 && waiters < 1<<22
}

// bionicMutex reads a mutex of Android's C library (libc/bionic/pthread_mutex.cpp):
//
//	0  16 bits of state: the lowest two are 2 if others wait, the highest two 1 if it is recursive, 2 if it checks for errors
//	   owner, the id of the thread that holds it: 32 bits at offset 4, in 32-bit processes 16 bits at offset 2
func bionicMutex(m *core.Memory, at uint64, word int) (uint64, bool) {
	state, ok1 := m.Word(at, 2)
	owner, ok2 := m.Word(at+4, 4)
	if word == 4 {
		owner, ok2 = m.Word(at+2, 2)
	}
	kind := state >> 14
	if !ok1 || !ok2 || kind != 1 && kind != 2 {
		return 0, false
	}
	return owner, state&3 == 2
}

// linuxHolder returns the thread that holds the lock of a C library for which another waits in frame i, or with i < 0
// in no function with a name.
func linuxHolder(d *core.Dump, r *Report, t *Thread, i int) (h Holder, ok bool) {
	first := &t.Frames[0]
	at := max(i, 0)
	if t.Frames[at].Module < 0 || first.Regs == nil || first.Regs.Arch == nil {
		return h, false
	}
	library := strings.ToLower(r.Modules[t.Frames[at].Module].Title())
	address, known := futex(d, first, i >= 0)
	for n := range lockForms {
		form := &lockForms[n]
		if !form.library(library) || i >= 0 && !slices.Contains(form.functions, systemName(t.Frames[i].Function.Raw)) {
			continue
		}
		try := func(at uint64, certain bool) bool {
			owner, is := form.owner(d.Memory, at, first.Regs.Arch.WordSize)
			if certain && !is {
				return false
			}
			h, ok = holding(d, t, form.kind, at, owner)
			return ok
		}
		for _, offset := range form.waits {
			if known && try(address-offset, i < 0 || len(form.waits) > 1) {
				return h, true
			}
		}
		if known || i < 0 {
			continue
		}
		// Its address is in a register of one of the frames that wait, or of their caller: only the lock itself shows in which.
		for _, f := range t.Frames[:min(len(t.Frames), i+2)] {
			for k := 0; f.Regs != nil && f.Regs.Arch != nil && k < len(f.Regs.Arch.Names); k++ {
				if v, is := f.Regs.Get(cpu.Reg(k)); is && v >= 0x1000 && v%4 == 0 && try(v, true) {
					return h, true
				}
			}
		}
	}
	return h, false
}
