package session

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// TestLocks: who holds the lock that a thread waits for is told on each processor from what Linux' kernel and C libraries
// leave in registers and memory, with and without names, and not where they do not say it.
func TestLocks(t *testing.T) {
	const holder, waiter, lock, code, stack = 4321, 4322, 0x600000, 0x500000, 0x700000
	words := func(v ...uint32) (out []byte) {
		for _, v := range v {
			out = binary.LittleEndian.AppendUint32(out, v)
		}
		return out
	}
	glibc := words(2, 0, holder, 1, 0, 0)
	glibc32 := words(2, 0, holder, 0, 1, 0)
	robust := words(1<<31|holder, 0, holder, 1, 32, 0)
	written := words(1, 0, 1, 3, 0, 0, holder, 0)
	written32 := words(1, 0, 1, 3, 0, 0, 0, holder)
	musl := words(1, 1<<31|holder, 1, 0, 0, 0)
	bionic := words(0x4002, holder, 0, 0)
	bionic32 := words(holder<<16|0x8002, 0, 0)
	svc64, svc32, ecall := "\x01\x00\x00\xd4", "\x00\x00\x00\xef", "\x73\x00\x00\x00"
	type regs = map[string]uint64
	at := func(r regs, offset uint64) regs { // the address of the word in the lock
		for _, name := range []string{"rdi", "ebx", "x0", "r0"} {
			if _, ok := r[name]; ok {
				r[name] = lock + offset
			}
		}
		return r
	}
	amd64 := func() regs {
		return regs{"rip": code, "rcx": code, "rax": 1<<64 - 512, "rdi": lock, "rsi": 0x80, "rdx": 2}
	}
	x86 := func() regs { return regs{"eip": code, "eax": 1<<32 - 512, "ebx": lock, "ecx": 0x80, "edx": 2} }
	arm64 := func() regs { return regs{"pc": code, "x8": 98, "x0": lock, "x1": 0x80, "x2": 2} }
	arm := func() regs { return regs{"pc": code, "r7": 240, "r0": lock, "r1": 0x80, "r2": 2, "cpsr": 0x10} }
	riscv := func() regs { return regs{"pc": code, "a7": 98, "a0": 1<<64 - 512, "a1": 0x80, "a2": 2, "s1": lock} }
	with := func(r regs, name string, v uint64) regs { r[name] = v; return r }
	for _, c := range []struct {
		name, cpu, library, function string // of the frame, "" for none
		regs                         regs
		code                         string // at pc
		memory                       []byte
		kind                         string // of the lock, "" if nothing says who holds it
		state                        string
	}{
		{"amd64", "amd64", "libc.so.6", "", amd64(), "", glibc, "mutex", "waits for a lock"},
		{"amd64 with a name", "amd64", "libc.so.6", "__pthread_mutex_lock", with(amd64(), "rdx", 0), "", glibc, "mutex", "waits for a lock"},
		{"robust mutex", "amd64", "libpthread-2.31.so", "", with(amd64(), "rdx", 1<<31|holder), "", robust, "", "in a system call"},
		{"robust mutex with a name", "amd64", "libpthread-2.31.so", "__pthread_mutex_lock_full", with(amd64(), "rdx", 1<<31|holder), "", robust, "mutex", "waits for a lock"},
		{"in no system call", "amd64", "libc.so.6", "", with(with(amd64(), "rax", 0), "rcx", 1), "", glibc, "", ""},
		{"another call", "amd64", "libc.so.6", "", with(amd64(), "rsi", 0x81), "", glibc, "", "in a system call"},
		{"another library", "amd64", "libother.so", "", amd64(), "", glibc, "", "in a system call"},
		{"no such thread", "amd64", "libc.so.6", "pthread_mutex_lock", amd64(), "", words(2, 0, 99, 1, 0, 0), "", "waits for a lock"},
		{"x86", "x86", "libc.so.6", "", x86(), "", glibc32, "mutex", "waits for a lock"},
		{"arm64", "arm64", "libc.so.6", "", arm64(), svc64, glibc, "mutex", "waits for a lock"},
		{"arm64, another call", "arm64", "libc.so.6", "pthread_mutex_lock", with(arm64(), "x8", 73), svc64, glibc, "mutex", "waits for a lock"},
		{"arm64, without code", "arm64", "libc.so.6", "", arm64(), "", glibc, "", ""},
		{"arm", "arm", "libc.so.6", "", arm(), svc32, glibc32, "mutex", "waits for a lock"},
		{"riscv64", "riscv64", "libc.so.6", "pthread_mutex_lock", riscv(), ecall, glibc, "mutex", "waits for a lock"},
		{"riscv64 without names", "riscv64", "libc.so.6", "", riscv(), "", glibc, "", "in a system call"},
		{"no lock in a register", "riscv64", "libc.so.6", "pthread_mutex_lock", riscv(), ecall, words(2, 0, holder, 0, 0, 0), "", "waits for a lock"},
		{"written", "amd64", "libc.so.6", "__pthread_rwlock_rdlock", at(amd64(), 8), "", written, "reader-writer lock", "waits for a lock"},
		{"written, for the next writer", "amd64", "libc.so.6", "", at(with(amd64(), "rdx", 3), 12), "", written, "reader-writer lock", "waits for a lock"},
		{"written on x86", "x86", "libc.so.6", "", at(x86(), 8), "", written32, "reader-writer lock", "waits for a lock"},
		{"read", "amd64", "libc.so.6", "__pthread_rwlock_wrlock", at(amd64(), 8), "", words(10, 2, 3, 1, 0, 0, 0, 0), "", "waits for a lock"},
		{"musl", "amd64", "ld-musl-x86_64.so.1", "__pthread_mutex_timedlock", at(amd64(), 4), "", musl, "mutex", "waits for a lock"},
		{"musl on arm64", "arm64", "ld-musl-aarch64.so.1", "__pthread_mutex_timedlock", at(arm64(), 4), svc64, musl, "mutex", "waits for a lock"},
		{"a plain mutex of musl", "amd64", "ld-musl-x86_64.so.1", "__pthread_mutex_timedlock", at(amd64(), 4), "", words(0, 1<<31|16, 1), "", "waits for a lock"},
		{"bionic", "arm64", "libc.so", "pthread_mutex_lock", arm64(), svc64, bionic, "mutex", "waits for a lock"},
		{"bionic on arm", "arm", "libc.so", "pthread_mutex_lock", arm(), svc32, bionic32, "mutex", "waits for a lock"},
		{"a plain mutex of bionic", "arm64", "libc.so", "pthread_mutex_lock", arm64(), svc64, words(2, holder), "", "waits for a lock"},
	} {
		const module = code &^ 0xfff
		sp := map[string]string{"amd64": "rsp", "x86": "esp"}[c.cpu]
		if sp == "" {
			sp = "sp"
		}
		c.regs[sp] = stack + 0x100
		processor := map[string]uint16{"amd64": dumptest.CPUAMD64, "x86": dumptest.CPUX86, "arm64": dumptest.CPUARM64, "arm": dumptest.CPUARM, "riscv64": 0x8006}[c.cpu]
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: 0x8201}).
			Module(module, 0x3000, "/lib/"+c.library, appELF).
			Thread(holder, dumptest.Context(dumptest.LittleEndian, c.cpu, map[string]uint64{sp: stack}), stack, make([]byte, 0x80)).
			Thread(waiter, dumptest.Context(dumptest.LittleEndian, c.cpu, c.regs), stack+0x100, make([]byte, 0x80)).
			Memory(lock, append(c.memory, make([]byte, 64)...))
		if c.code != "" {
			if at := uint64(code); c.cpu == "riscv64" {
				d.Memory(at-4, []byte(c.code+"\x13\x00\x00\x00"))
			} else {
				d.Memory(at, []byte(c.code+"\x00\x00\x00\x00"))
			}
		}
		fs := NewFiles(Options{})
		fs.Add(input.FromBytes("a.dmp", d.Bytes()))
		if c.function != "" {
			fs.Add(input.FromBytes("lib.sym", []byte(fmt.Sprintf("MODULE Linux %s %s %s\nFUNC 0 100 0 %s\n", c.cpu, appID, c.library, c.function))))
		}
		fs.Report(0)
		m := fs.Session(0).Merged()
		kind := ""
		if len(m.Holders) == 1 && m.Holders[0].Thread == 0 && len(m.Holders[0].Waiting) == 1 {
			kind = m.Holders[0].Kind
		}
		if kind != c.kind || m.States[1].Word != c.state {
			t.Errorf("%s: %q, %q, %+v", c.name, kind, m.States[1].Word, m.Holders)
		}
	}
}

// TestAppleCalls: without names of its functions, the number of a thread's system call says what it waits for, in the
// library of the system calls alone.
func TestAppleCalls(t *testing.T) {
	for _, c := range []struct {
		cpu, register string
		number        uint64
		library       string
		platform      uint32
		want          string
	}{
		{"amd64", "rax", 0x200014e, "libsystem_kernel.dylib", dumptest.OSMac, "sleeps"},
		{"amd64", "rax", 0x2000170, "libsystem_kernel.dylib", dumptest.OSIOS, "is idle in a pool"},
		{"amd64", "rax", 0x100001f, "libsystem_kernel.dylib", dumptest.OSMac, "waits for events"},
		{"amd64", "rax", 0x200012d, "libsystem_kernel.dylib", dumptest.OSMac, "waits for a lock"},
		{"amd64", "rax", 0x14e, "libsystem_kernel.dylib", dumptest.OSMac, ""},
		{"amd64", "rax", 0x200014e, "libother.dylib", dumptest.OSMac, ""},
		{"amd64", "rax", 0x200014e, "libsystem_kernel.dylib", dumptest.OSLinux, ""},
		{"arm64", "x16", 305, "libsystem_kernel.dylib", dumptest.OSIOS, "waits for a condition"},
		{"arm64", "x16", 1<<64 - 31, "libsystem_kernel.dylib", dumptest.OSMac, "waits for events"},
		{"arm64", "x16", 1<<32 + 305, "libsystem_kernel.dylib", dumptest.OSMac, ""},
	} {
		const base, stack = 0x500000, 0x700000
		pc, sp, processor := "rip", "rsp", uint16(dumptest.CPUAMD64)
		if c.cpu == "arm64" {
			pc, sp, processor = "pc", "sp", dumptest.CPUARM64
		}
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: c.platform}).
			Module(base, 0x3000, "/usr/lib/system/"+c.library, appELF).
			Thread(1, dumptest.Context(dumptest.LittleEndian, c.cpu, map[string]uint64{pc: base + 0x1000, sp: stack, c.register: c.number}), stack, make([]byte, 0x80))
		fs := NewFiles(Options{})
		fs.Add(input.FromBytes("a.dmp", d.Bytes()))
		fs.Report(0)
		if m := fs.Session(0).Merged(); m.States[0].Word != c.want || c.want != "" && !m.States[0].Guess {
			t.Errorf("%s %s = 0x%x in %s: %+v", c.cpu, c.register, c.number, c.library, m.States[0])
		}
	}
}
