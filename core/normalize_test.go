package core

import (
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// TestNarrow: every address of a 32-bit process, also one that a 64-bit tool dumped, is one of 32 bits,
// whatever its writer has put above it; those of the dump as read, and of a 64-bit process, stay.
func TestNarrow(t *testing.T) {
	const up = 0xffffffff_00000000
	build := func(processor uint16, context []byte) []byte {
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: dumptest.OSWindows}).
			Module(up|0xa0000000, 0x20000, `C:\app.exe`, nil).UnloadedModule(up|0xb0000000, 0x1000, 1, "old.dll").
			Thread(1, context, up|0xc0000000, make([]byte, 64)).
			Memory(up|0xd0000000, []byte("list")).Memory64(up|0xe0000000, []byte("full")).
			MemoryInfo(up|0xf0000000, 0x1000, 0x1000, 4, 0x20000).
			ThreadInfo(1, [3]uint32{}, [6]uint64{0, 0, 0, 0, up | 0xa0001000, 0}).
			FunctionTable(up|0xa0000000, up|0xa0010000, up|0xa0000000, nil).
			Exception(1, 0xc0000005, 0, up|0xa0001000, context, 1, up|0xc0000010)
		return d.Nest(up | 0x80000000).Bytes()
	}
	fields := func(d *Dump) []uint64 {
		r, _ := d.Memory.Region(d.Memory.list[0].Start)
		return []uint64{d.Modules[0].Base, d.Unloaded[0].Base, d.Threads[0].StackStart, d.Memory.list64[0].Start, d.Memory.list[0].Start, r.Start, d.Regions[0].Base,
			d.Regions[0].AllocationBase, d.Windows.ThreadInfo[0].StartAddress, d.Windows.FunctionTables[0].Base, d.Exception.Address, d.Exception.Params[1], d.Exception.Record}
	}
	n := normalized(t, build(dumptest.CPUX86, dumptest.X86(map[string]uint64{"eip": 0xa0001000, "esp": 0xc0000000})))
	wow := normalized(t, build(dumptest.CPUAMD64, dumptest.AMD64(map[string]uint64{"rip": up | 0xa0001000, "rsp": up | 0xc0000000, "cs": 0x23})))
	for _, d := range []*Dump{n, wow} {
		read := fields(d.AsRead())
		for i, v := range fields(d) {
			if v>>32 != 0 || read[i] != up|v {
				t.Errorf("%s: field %d is 0x%x, as read 0x%x", d.CPUName(), i, v, read[i])
			}
		}
	}
	if m, rva := n.ModuleAt(0xa0001000); m != 0 || rva != 0x1000 {
		t.Errorf("0xa0001000 is in module %d at 0x%x", m, rva)
	}
	if v, ok := n.Memory.Word(0xe0000000, 4); !ok || v != 0x6c6c7566 {
		t.Errorf("the memory at 0xe0000000 is 0x%x, %v", v, ok)
	}
	if s := n.ThreadStack(0); s == nil || s.Start != 0xc0000000 {
		t.Errorf("the stack is %+v", s)
	}
	if c, err := wow.ThreadContext(0); err != nil || c.Regs.PC() != 0xa0001000 {
		t.Errorf("the context of 32-bit code is %+v, %v", c, err)
	}
	wide := normalized(t, build(dumptest.CPUAMD64, dumptest.AMD64(map[string]uint64{"rip": up | 0xa0001000, "cs": 0x33})))
	if wide.Modules[0].Base != up|0xa0000000 || wide.Exception.Params[1] != up|0xc0000010 {
		t.Errorf("a 64-bit process has the module 0x%x", wide.Modules[0].Base)
	}
	// mips keeps 32-bit values sign-extended in registers of 64 bits.
	mips := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUMIPS, Platform: dumptest.OSLinux}).
		Thread(1, dumptest.Context(dumptest.LittleEndian, "mips", map[string]uint64{"pc": up | 0x80001000, "sp": up | 0x90000000}), 0, nil).Bytes()
	if c, err := normalized(t, mips).ThreadContext(0); err != nil || c.Regs.PC() != 0x80001000 || c.Regs.SP() != 0x90000000 {
		t.Errorf("mips: pc 0x%x, %v", c.Regs.PC(), err)
	}
}

// TestRenumber: the numbers of 32-bit programs on Windows for ARM are those of their processors.
func TestRenumber(t *testing.T) {
	for _, c := range []struct {
		number  uint16
		context []byte
		want    string
	}{
		{dumptest.CPUX86ARM64, dumptest.X86(map[string]uint64{"eip": 0x401000}), "x86"},
		{dumptest.CPUARM32Win, dumptest.Context(dumptest.LittleEndian, "arm-windows", map[string]uint64{"pc": 0x401000}), "arm"},
	} {
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: c.number, Platform: dumptest.OSWindows}).Thread(1, c.context, 0, nil)
		n := normalized(t, d.Bytes())
		if have := pcs(n); have != c.want+" 401000" {
			t.Errorf("%d: %s", c.number, have)
		}
		if have := n.CPUName(); have != c.want {
			t.Errorf("%d: %s", c.number, have)
		}
	}
}

// TestUnlistedThread: an exception's thread is there, though no list has it; of the thread that
// wrote the dump it is the state.
func TestUnlistedThread(t *testing.T) {
	const stack = 0x7000
	regs := dumptest.AMD64(map[string]uint64{"rip": 0x401234, "rsp": stack + 8, "cs": 0x33})
	empty := func() *dumptest.Dump {
		return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux})
	}
	for name, d := range map[string]*dumptest.Dump{
		"no list":     empty(),
		"not in list": empty().Thread(1, nil, 0, nil),
	} {
		n := normalized(t, d.Memory(stack, make([]byte, 64)).Exception(777, 11, 1, 0, regs).Bytes())
		i := n.ThreadByID(777)
		if i != n.ListedThreads() || n.Threads[i].Role() != RoleUnlisted || n.ExceptionOf(i) != n.Exception {
			t.Fatalf("%s: thread %d of %d", name, i, len(n.Threads))
		}
		if s := n.ThreadStack(i); s == nil || s.Start != stack {
			t.Errorf("%s: the stack is %+v", name, s)
		}
	}
	if n := normalized(t, empty().Exception(777, 11, 1, 0, nil).Bytes()); len(n.Threads) != 0 {
		t.Errorf("without registers there are %d threads", len(n.Threads))
	}
	seven := uint32(7)
	n := normalized(t, empty().Thread(7, regs, 0, nil).BreakpadInfo(&seven, nil).Exception(7, 11, 1, 0, regs).Bytes())
	if n.Breakpad.DumpThread != nil || n.AsRead().Breakpad.DumpThread == nil {
		t.Error("the exception's thread is left out, because it wrote the dump")
	}
}

// TestSeveralExceptions: the first counts, and each is the state of its thread. As read, the last
// counts.
func TestSeveralExceptions(t *testing.T) {
	at := func(pc uint64) []byte { return dumptest.AMD64(map[string]uint64{"rip": pc}) }
	n := normalized(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Thread(1, at(1), 0, nil).Thread(2, at(2), 0, nil).Thread(3, at(3), 0, nil).
		Exception(2, 11, 1, 0x10, at(0x22)).Exception(3, 8, 1, 0x20, at(0x33)).Bytes())
	if n.Exception.ThreadID != 2 || n.AsRead().Exception.ThreadID != 3 || len(n.Exceptions) != 2 {
		t.Fatalf("%+v", n.Exceptions)
	}
	for i, want := range []uint64{0, 0x22, 0x33} {
		e := n.ExceptionOf(i)
		if (e == nil) != (want == 0) {
			t.Fatalf("thread %d: %+v", i, e)
		}
		if e == nil {
			continue
		}
		if c, err := n.ContextOf(e); err != nil || c.Regs.PC() != want {
			t.Errorf("thread %d: %v, %v", i, c, err)
		}
	}
}

// TestNestedExceptions: a chain of records in memory, of either size; one that ends outside of the
// dump, and one that is a ring.
func TestNestedExceptions(t *testing.T) {
	for word, processor := range map[int]uint16{4: dumptest.CPUX86, 8: dumptest.CPUAMD64} {
		for name, c := range map[string]struct {
			last    uint64 // what the second record points to
			missing uint64
		}{"whole": {}, "ring": {last: 0x5000}, "cut": {last: 0x9000, missing: 0x9000}} {
			d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: processor, Platform: dumptest.OSWindows}).
				Memory(0x5000, dumptest.ExceptionRecord(word, 0xc0000025, 1, 0x6000, 0x401000)).
				Memory(0x6000, dumptest.ExceptionRecord(word, 0xc0000005, 0, c.last, 0x402000, 1, 0xabcd0000)).
				Exception(1, 0xc0000026, 1, 0x400000, nil).Nest(0x5000)
			n := normalized(t, d.Bytes())
			got, missing := n.NestedExceptions(n.Exception)
			if len(got) != 2 || missing != c.missing {
				t.Fatalf("%d bytes, %s: %d records, missing 0x%x", word, name, len(got), missing)
			}
			if e := got[1]; e.Code != 0xc0000005 || e.Address != 0x402000 || len(e.Params) != 2 || e.Params[1] != 0xabcd0000 || got[0].Flags != 1 {
				t.Errorf("%d bytes, %s: %+v", word, name, got)
			}
		}
	}
}

// TestThreadListedTwice: entries with one id and the same registers are one thread, with the stack
// that either has; entries that only share the id are several.
func TestThreadListedTwice(t *testing.T) {
	regs := func(sp uint64) []byte { return dumptest.AMD64(map[string]uint64{"rip": 0x401000, "rsp": sp}) }
	build := func(add func(d *dumptest.Dump)) *Dump {
		d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux})
		add(d)
		return normalized(t, d.Thread(9, regs(0x9000), 0x9000, make([]byte, 16)).Bytes())
	}
	stack := make([]byte, 16)
	for name, c := range map[string]struct {
		add         func(d *dumptest.Dump)
		want, diags int
	}{
		"one record": {func(d *dumptest.Dump) {
			at := d.Put(regs(0x7000))
			d.ThreadAt(5, at, len(regs(0)), 0, 0, 0).ThreadAt(5, at, len(regs(0)), 0x7000, d.Put(stack), len(stack))
		}, 2, 0},
		"the same": {func(d *dumptest.Dump) { d.Thread(5, regs(0x7000), 0x7000, stack).Thread(5, regs(0x7000), 0, nil) }, 2, 0},
		"three times": {func(d *dumptest.Dump) {
			d.Thread(5, regs(0x7000), 0x7000, stack).Thread(5, regs(0x7000), 0, nil).Thread(5, regs(0x7000), 0, nil)
		}, 2, 0},
		"other stacks": {func(d *dumptest.Dump) {
			d.Thread(5, regs(0x7000), 0x7000, stack).Thread(5, regs(0x7000), 0x6000, stack)
		}, 2, 1},
		"other registers": {func(d *dumptest.Dump) {
			d.Thread(5, regs(0x7000), 0x7000, stack).Thread(5, regs(0x7008), 0x7000, stack)
		}, 3, 0},
		"another id": {func(d *dumptest.Dump) {
			d.Thread(5, regs(0x7000), 0x7000, stack).Thread(6, regs(0x7000), 0x7000, stack)
		}, 3, 0},
		"no registers": {func(d *dumptest.Dump) { d.Thread(5, regs(0), 0x7000, stack).Thread(5, regs(0), 0, nil) }, 3, 0},
		"no contexts":  {func(d *dumptest.Dump) { d.Thread(5, nil, 0x7000, stack).Thread(5, nil, 0, nil) }, 3, 0},
	} {
		n := build(c.add)
		if len(n.Threads) != c.want || n.ListedThreads() != c.want || len(n.Diags)-len(n.AsRead().Diags) != c.diags {
			t.Errorf("%s: %d threads, %v", name, len(n.Threads), n.Diags)
			continue
		}
		last := n.Threads[c.want-1]
		if s := n.ThreadStack(0); s == nil || s.Start != 0x7000 || last.ID != 9 || last.entry != len(n.AsRead().Threads)-1 || n.ThreadByID(9) != c.want-1 {
			t.Errorf("%s: the stack is %+v, the last thread %+v", name, s, last)
		}
	}
}
