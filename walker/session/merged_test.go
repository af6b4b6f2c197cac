package session

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
)

// hangs makes the dump of a process on Linux (or on Windows) and its symbols. Threads 1 to waiting wait
// for a lock that thread 0 has, whose words the dump holds if known; others of them are idle. deadlock:
// thread 0 waits for a lock of thread 1.
func hangs(windows, known, deadlock bool, waiting, idle int) (dump, app, lib []byte) {
	const appAt, libAt, locks, stacks = 0x400000, 0x7f0000000000, 0x600000, 0x7f5000000000
	system, libName, wait, idles := dumptest.System{Processor: 9, Platform: 0x8201}, "/lib/x86_64-linux-gnu/libc.so.6", "__pthread_mutex_lock", "epoll_wait"
	if windows {
		system, libName, wait, idles = dumptest.System{Processor: 9, Platform: 2}, `C:\Windows\System32\ntdll.dll`, "RtlEnterCriticalSection", "NtWaitForWorkViaWorkerFactory"
	}
	d := dumptest.New(dumptest.LittleEndian).System(system).Module(appAt, 0x10000, "/opt/app", dumptest.RSDS(1, 0, 0, [8]byte{}, 1, "app")).
		Module(libAt, 0x10000, libName, dumptest.RSDS(2, 0, 0, [8]byte{}, 1, "lib"))
	word := binary.LittleEndian.AppendUint64
	add := func(id int, at uint64, lock uint64, outer ...uint64) {
		sp := uint64(stacks + id<<16)
		var mem []byte
		for i, ra := range outer {
			mem = word(word(mem, sp+uint64(i+1)*16), ra)
		}
		mem = word(word(mem, 0), 0)
		d.Thread(uint32(1000+id), dumptest.AMD64(map[string]uint64{"rip": at, "rsp": sp, "rbp": sp, "rdi": lock, "rbx": lock}), sp, mem)
	}
	const inLock, inIdle = libAt + 0x1002, libAt + 0x2002
	if deadlock {
		add(0, inLock, locks+0x100, appAt+0x1020, appAt+0x3020)
	} else {
		add(0, appAt+0x1010, 0, appAt+0x3020)
	}
	for i := range waiting {
		add(1+i, inLock, locks, appAt+0x2020, appAt+0x3020)
	}
	for i := range idle {
		add(1+waiting+i, inIdle, 0, libAt+0x3020, appAt+0x3020)
	}
	d.Memory(libAt+0x1000, []byte{0x0f, 0x05, 0xc3, 0x90}).Memory(libAt+0x2000, []byte{0x0f, 0x05, 0xc3, 0x90})
	if known {
		lock := func(owner uint32) []byte {
			le := binary.LittleEndian
			if windows {
				p := word(nil, ^uint64(0))                       // DebugInfo
				p = le.AppendUint32(p, uint32(0xffffffff-1-4*2)) // held, two wait
				return word(le.AppendUint32(p, 1), uint64(owner))
			}
			return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 2), 0), owner)
		}
		d.Memory(locks, append(lock(1000), make([]byte, 16)...)).Memory(locks+0x100, append(lock(1001), make([]byte, 16)...))
	}
	sym := func(id int, name string, functions ...string) []byte {
		s := fmt.Sprintf("MODULE linux x86_64 0000000%d0000000000000000000000001 %s\n", id, name)
		for i, f := range functions {
			s += fmt.Sprintf("FUNC %x 100 0 %s\n", (i+1)*0x1000, f)
		}
		return []byte(s)
	}
	return d.Bytes(), sym(1, "app", "work", "store", "run"), sym(2, "lib", wait, idles, "loop")
}

func mergedOf(dump, app, lib []byte) (*report.Report, *report.Merged) {
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("hang.dmp", dump))
	fs.Add(input.FromBytes("app.sym", app))
	fs.Add(input.FromBytes("lib.sym", lib))
	return fs.Report(0), fs.Session(0).Merged()
}

func TestMerged(t *testing.T) {
	r, m := mergedOf(hangs(false, true, false, 3, 2))
	var all []string
	for i := range m.Branches {
		b := &m.Branches[i]
		line := fmt.Sprintf("%d %d", b.Level, len(b.Threads))
		for _, f := range b.Frames {
			line += " " + r.Threads[f.Thread].Frames[f.Frame].Function.Raw
		}
		if b.System {
			line += " (system)"
		}
		all = append(all, line+fmt.Sprint(" ", b.Ends))
	}
	want := []string{"0 6 run []", "1 3 store []", "2 3 __pthread_mutex_lock (system) [1 2 3]", "1 2 loop epoll_wait (system) [4 5]", "1 1 work [0]"}
	if !slices.Equal(all, want) || m.Stacks != 3 || m.Threads != 6 {
		t.Errorf("%d threads, %d stacks\n%s", m.Threads, m.Stacks, strings.Join(all, "\n"))
	}
	for thread, state := range map[int]report.State{0: {}, 2: {Word: "waits for a lock", Guess: true, Lock: true}, 4: {Word: "waits for events", Guess: true}} {
		if m.States[thread] != state {
			t.Errorf("thread %d: %+v", thread, m.States[thread])
		}
	}
	// Without names only the code shows what a thread was doing.
	if _, m := mergedOf(func() (a, b, c []byte) { a, _, _ = hangs(false, true, false, 1, 1); return a, nil, nil }()); m.States[1] != (report.State{Word: "in a system call"}) || len(m.Holders) > 0 {
		t.Errorf("%+v", m.States[1])
	}
}

func TestHolders(t *testing.T) {
	for _, windows := range []bool{false, true} {
		for _, c := range []struct {
			known, deadlock bool
			holders         []int
			unknown         int
		}{{true, false, []int{0}, 0}, {false, false, nil, 3}, {true, true, []int{0, 1}, 0}} {
			_, m := mergedOf(hangs(windows, c.known, c.deadlock, 3, 1))
			var holders []int
			for _, h := range m.Holders {
				holders = append(holders, h.Thread)
				if h.Deadlock != c.deadlock {
					t.Errorf("%+v", h)
				}
			}
			if !slices.Equal(holders, c.holders) || m.Unknown != c.unknown {
				t.Errorf("windows %v, %+v: %v, %d unknown", windows, c, holders, m.Unknown)
			}
			if c.known && !slices.Equal(m.Holders[0].Waiting, []int{1, 2, 3}) {
				t.Errorf("%+v", m.Holders[0])
			}
		}
	}
	_, m := mergedOf(hangs(false, true, false, 2, 0))
	if s := m.Holders[0].String(); s != "Thread 0 holds what threads 1, 2 wait for: the mutex at 0x600000 has the thread id 1000 as its owner" {
		t.Error(s)
	}
}

// BenchmarkMerge merges the stacks of 2,000 threads, where every second one waits for a lock.
func BenchmarkMerge(b *testing.B) {
	dump, app, lib := hangs(false, true, false, 1000, 999)
	fs := NewFiles(Options{})
	fs.Add(input.FromBytes("hang.dmp", dump))
	fs.Add(input.FromBytes("app.sym", app))
	fs.Add(input.FromBytes("lib.sym", lib))
	if r := fs.Report(0); len(r.Threads) != 2000 {
		b.Fatal(len(r.Threads))
	}
	for b.Loop() {
		if m := fs.Session(0).Merged(); len(m.Holders) != 1 || len(m.Holders[0].Waiting) != 1000 {
			b.Fatal(m.Holders)
		}
	}
}
