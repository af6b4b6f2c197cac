package core

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// Addresses of the 32-bit process of these tests. A thread's saved registers and its stack are where
// its number says.
const (
	teb32At   = 0x7fe00000
	savedAt   = 0x8fd20
	stack64   = 0x8e000
	stack32   = 0x19f000
	layerPC   = 0x77401cfc
	perThread = 0x100000
)

// wowRegs are a thread's registers in 64-bit code, wowSaved those that are saved for it.
func wowRegs(id uint64) []byte {
	return dumptest.AMD64(map[string]uint64{"rip": layerPC, "rsp": stack64 + id*perThread, "cs": 0x33})
}
func wowSaved(id uint64) []byte {
	return dumptest.X86(map[string]uint64{"eip": 0x401000 + id, "esp": stack32 + id*perThread, "ebp": stack32 + 0x20 + id*perThread, "cs": 0x23, "ss": 0x2b})
}

// wowThread adds a thread of the process, with what is in memory for it: list adds a range.
func wowThread(d *dumptest.Dump, list func(uint64, []byte) *dumptest.Dump, id uint64, context []byte) {
	at := id * perThread
	d.Thread(uint32(id), context, stack64+at, make([]byte, 64))
	list(dumptest.ThreadTEB(uint32(id)), dumptest.TEB64(dumptest.ThreadTEB(uint32(id)), teb32At+at, savedAt+at))
	list(teb32At+at, dumptest.TEB32(uint32(teb32At+at), uint32(id)+2))
	list(savedAt+at, dumptest.Reserved(0x14c, 4, wowSaved(id)))
	list(stack32+at, make([]byte, 256))
}

func wowDump(processor uint16) *dumptest.Dump {
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: processor, Platform: dumptest.OSWindows, Level: 6}).
		Module(0x400000, 0x20000, `C:\app\app.exe`, nil).
		Module(0x77400000, 0x10000, `C:\Windows\System32\wow64cpu.dll`, nil).
		Module(0x7ffb10000000, 0x60000, `C:\Windows\System32\wow64.dll`, nil).
		Module(0x7ffb20000000, 0x60000, `C:\Windows\System32\ntdll.dll`, nil)
}

func normalized(t *testing.T, data []byte) *Dump {
	t.Helper()
	d, err := Open(input.FromBytes("x.dmp", data))
	if err != nil {
		t.Fatal(err)
	}
	return d.Normalized()
}

// pcs are the processor and pc of each thread, "x86 401000".
func pcs(d *Dump) string {
	var out []string
	for i := range d.Threads {
		c, err := d.ThreadContext(i)
		if err != nil {
			out = append(out, "none")
			continue
		}
		out = append(out, c.Arch.Name+" "+hexNum(c.Regs.PC())[2:])
	}
	return strings.Join(out, ", ")
}

// TestWow64: the threads of a 32-bit process have their own registers, stacks and TEBs, and behind
// them what they were doing in the 64-bit layer, whichever list has the memory.
func TestWow64(t *testing.T) {
	for _, full := range []bool{false, true} {
		d := wowDump(dumptest.CPUAMD64)
		list := d.Memory
		if full {
			list = d.Memory64
		}
		wowThread(d, list, 1, wowRegs(1))
		wowThread(d, list, 2, dumptest.AMD64(map[string]uint64{"rip": 0x402222, "rsp": stack32 + 0x10 + 2*perThread, "rbx": 0x1122334455667788, "cs": 0x23, "eflags": 0x246}))
		wowThread(d, list, 3, wowRegs(3))
		d.Exception(1, 0xc0000005, 0, 0x401001, wowRegs(1), 0, 16)
		n := normalized(t, d.Bytes())
		if have, want := pcs(n), "x86 401001, x86 402222, x86 401003, amd64 77401cfc, amd64 77401cfc"; have != want {
			t.Fatalf("full %v: threads at %s, want %s", full, have, want)
		}
		if have := pcs(n.AsRead()); have != "amd64 77401cfc, amd64 402222, amd64 77401cfc" {
			t.Errorf("as read: %s", have)
		}
		if w := n.Wow64(); w == nil || w.Program != cpu.X86 || w.Host != cpu.AMD64 || len(w.Lacking) != 0 {
			t.Errorf("Wow64 is %+v", w)
		}
		if n.CPUName() != "x86" || n.CPUInfo() != "family 6 model 0 stepping 0" {
			t.Errorf("the processor is %q, %q", n.CPUName(), n.CPUInfo())
		}
		if c, err := n.ExceptionContext(); err != nil || c.Regs.PC() != 0x401001 || c.Arch != cpu.X86 || !n.Exception.SavedRegisters() {
			t.Errorf("the exception's context is %v, %v", c, err)
		}
		if n.ListedThreads() != 3 || n.Threads[3].Under() != 0 || n.Threads[4].Under() != 2 || n.Threads[0].Under() != -1 {
			t.Errorf("%d threads, second stacks of %d and %d", n.ListedThreads(), n.Threads[3].Under(), n.Threads[4].Under())
		}
		if s := n.ThreadStack(0); s == nil || s.Start != stack32+perThread {
			t.Errorf("the stack of thread 0 is %+v", s)
		}
		if s := n.ThreadStack(3); s == nil || s.Start != stack64+perThread {
			t.Errorf("the layer's stack of thread 0 is %+v", s)
		}
		if n.Threads[0].TEB != teb32At+perThread {
			t.Errorf("the TEB of thread 0 is 0x%x", n.Threads[0].TEB)
		}
		c, _ := n.ThreadContext(1)
		if ebx, _ := c.Regs.Get(3); ebx != 0x55667788 || c.extra("cs") != 0x23 {
			t.Errorf("ebx is 0x%x, cs 0x%x", ebx, c.extra("cs"))
		}
	}
}

// TestWow64Fault: an exception's own registers count where it was in 32-bit code, or in the layer
// itself; then the program's stack is the second.
func TestWow64Fault(t *testing.T) {
	for name, c := range map[string]struct {
		context []byte
		address uint64
		want    string
	}{
		"in the program":   {dumptest.AMD64(map[string]uint64{"rip": 0x409999, "rsp": stack32 + 8 + perThread, "cs": 0x23}), 0x409999, "x86 409999; x86 401001, amd64 77401cfc"},
		"in the layer":     {wowRegs(1), layerPC, "amd64 77401cfc; amd64 77401cfc, x86 401001"},
		"an x86 record":    {dumptest.X86(map[string]uint64{"eip": 0x408888, "esp": stack32 + perThread, "cs": 0x23}), 0x408888, "x86 408888; x86 401001, amd64 77401cfc"},
		"passed on by it":  {wowRegs(1), 0x401001, "x86 401001; x86 401001, amd64 77401cfc"},
		"without a record": {nil, 0x401001, "x86 401001; x86 401001, amd64 77401cfc"},
	} {
		d := wowDump(dumptest.CPUAMD64)
		wowThread(d, d.Memory, 1, wowRegs(1))
		n := normalized(t, d.Exception(1, 0xc0000005, 0, c.address, c.context).Bytes())
		x, err := n.ExceptionContext()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if host := n.ProcessorOf(n.Exception) == ProcAMD64; host != (name == "in the layer") {
			t.Errorf("%s: the exception's processor is %d", name, n.ProcessorOf(n.Exception))
		}
		if n.Threads[0].TEB != teb32At+perThread || n.Threads[1].TEB != 0 {
			t.Errorf("%s: TEBs at 0x%x, 0x%x", name, n.Threads[0].TEB, n.Threads[1].TEB)
		}
		if have := x.Arch.Name + " " + hexNum(x.Regs.PC())[2:] + "; " + pcs(n); have != c.want {
			t.Errorf("%s: %s, want %s", name, have, c.want)
		}
	}
}

// TestWow64Lacking: what is missing or damaged is reported, and the thread keeps what the dump has.
func TestWow64Lacking(t *testing.T) {
	teb := dumptest.ThreadTEB(1)
	good := dumptest.Reserved(0x14c, 4, wowSaved(1))
	wrong := func(at int, v uint32) []byte {
		p := append([]byte{}, good...)
		binary.LittleEndian.PutUint32(p[at:], v)
		return p
	}
	for name, c := range map[string]struct {
		teb   []byte
		saved []byte
		why   string
	}{
		"no TEB":                {nil, good, "does not hold its thread environment block"},
		"a short TEB":           {dumptest.TEB64(teb, 0, savedAt)[:0x1480], good, "does not hold its thread environment block"},
		"64-bit code alone":     {dumptest.TEB64(teb, 0, 0), good, "runs 64-bit code alone"},
		"a pointer to nowhere":  {dumptest.TEB64(teb, 0, 0xdeadbeef0000), good, "does not hold its saved registers at 0xdeadbeef0000"},
		"a pointer to the end":  {dumptest.TEB64(teb, 0, ^uint64(0)-1), good, "does not hold its saved registers"},
		"a record that is cut":  {dumptest.TEB64(teb, 0, savedAt), good[:200], "196 of the 716 bytes"},
		"an unknown machine":    {dumptest.TEB64(teb, 0, savedAt), wrong(0, 0x1234_0000), "unknown machine 0x1234"},
		"flags of another kind": {dumptest.TEB64(teb, 0, savedAt), wrong(4, 0x10001f), "its flags are 0x10001f"},
		"flags without control": {dumptest.TEB64(teb, 0, savedAt), wrong(4, 0x10006), "its flags are 0x10006"},
		"another code segment":  {dumptest.TEB64(teb, 0, savedAt), wrong(4+188, 0x33), "cs is 0x33"},
	} {
		d := wowDump(dumptest.CPUAMD64).Thread(1, wowRegs(1), stack64, make([]byte, 64)).Memory(savedAt, c.saved)
		if c.teb != nil {
			d.Memory(teb, c.teb)
		}
		n := normalized(t, d.Exception(1, 0xc0000005, 0, 0x401001, wowRegs(1)).Bytes())
		if have := pcs(n); have != "amd64 77401cfc" {
			t.Errorf("%s: %s", name, have)
		}
		if w := n.Wow64(); w == nil || w.Program != nil || len(w.Lacking) != 1 || !strings.Contains(w.Lacking[0].Why, c.why) {
			t.Errorf("%s: %+v, want %q", name, w, c.why)
		}
	}
}

// TestWow64WithoutModules: a 32-bit TEB and saved registers tell it as well.
func TestWow64WithoutModules(t *testing.T) {
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows})
	wowThread(d, d.Memory, 1, wowRegs(1))
	if have := pcs(normalized(t, d.Bytes())); have != "x86 401001, amd64 77401cfc" {
		t.Error(have)
	}
}

// TestWow64Older: Windows before 10 has no machine with the saved registers.
func TestWow64Older(t *testing.T) {
	d := wowDump(dumptest.CPUAMD64).Thread(1, wowRegs(1), stack64, make([]byte, 64)).
		Memory(dumptest.ThreadTEB(1), dumptest.TEB64(dumptest.ThreadTEB(1), 0, savedAt)).Memory(savedAt, dumptest.Reserved(0, 4, wowSaved(1)))
	if have := pcs(normalized(t, d.Bytes())); have != "x86 401001, amd64 77401cfc" {
		t.Error(have)
	}
}

// TestWow64OnARM64: 32-bit ARM code, in which the upper halves of the registers are unused, and its
// saved registers; x86 code that is translated has its registers in the emulator.
func TestWow64OnARM64(t *testing.T) {
	const xtajit, ntdll = 0x7ffb30000000, 0x7ffb20000000
	saved := func(id uint32, machine uint16, align int, context []byte) *dumptest.Dump {
		return wowDump(dumptest.CPUARM64).Module(xtajit, 0x10000, `C:\Windows\System32\xtajit.dll`, nil).
			Memory(dumptest.ThreadTEB(id), dumptest.TEB64(dumptest.ThreadTEB(id), 0, savedAt)).Memory(savedAt, dumptest.Reserved(machine, align, context))
	}
	arm := dumptest.Context(dumptest.LittleEndian, "arm-windows", map[string]uint64{"pc": 0x403000, "sp": stack32, "lr": 0x404001})
	at := func(pc uint64) []byte { return dumptest.ARM64(map[string]uint64{"pc": pc, "sp": stack64}) }
	for name, c := range map[string]struct {
		dump *dumptest.Dump
		want string
	}{
		"arm in a call": {saved(1, 0x1c4, 8, arm).Thread(1, at(ntdll+16), stack64, nil), "arm 403000, arm64 7ffb20000010"},
		"arm":           {saved(1, 0x1c4, 8, arm).Thread(1, dumptest.ARM64(map[string]uint64{"pc": 0x405000, "x13": stack32, "x14": 0x406001, "cpsr": 0x30}), 0, nil), "arm 405000"},
		"x86 in a call": {saved(1, 0x14c, 4, wowSaved(1)).Thread(1, at(ntdll+16), stack64, nil), "x86 401001, arm64 7ffb20000010"},
		"x86":           {saved(1, 0x14c, 4, wowSaved(1)).Thread(1, at(0x12345678), stack64, nil), "arm64 12345678"},
		"the emulator":  {saved(1, 0x14c, 4, wowSaved(1)).Thread(1, at(xtajit+16), stack64, nil), "arm64 7ffb30000010"},
		"compiled (CHPE)": {saved(1, 0x14c, 4, wowSaved(1)).Thread(1, at(0x401234), stack64, nil),
			"arm64 401234"},
	} {
		n := normalized(t, c.dump.Bytes())
		if have := pcs(n); have != c.want {
			t.Errorf("%s: %s, want %s", name, have, c.want)
		}
		if x, err := n.ThreadContext(0); err == nil && name == "arm" && (x.Regs.SP() != stack32 || x.Regs.Arch != cpu.ARM) {
			t.Errorf("%s: sp 0x%x", name, x.Regs.SP())
		}
	}
}

// TestNotWow64: a 64-bit program may use slot 1 as it likes, and cs says nothing on Linux.
func TestNotWow64(t *testing.T) {
	native := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Module(0x400000, 0x20000, `C:\app\app.exe`, nil).Thread(1, wowRegs(1), stack64, nil).
		Memory(dumptest.ThreadTEB(1), dumptest.TEB64(dumptest.ThreadTEB(1), 0, savedAt)).Memory(savedAt, dumptest.Reserved(0x14c, 4, wowSaved(1)))
	linux := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Thread(1, dumptest.AMD64(map[string]uint64{"rip": 0x401000, "cs": 0x23}), 0, nil)
	for _, d := range []*dumptest.Dump{native, linux} {
		n := normalized(t, d.Bytes())
		if n.Wow64() != nil || !strings.HasPrefix(pcs(n), "amd64 ") {
			t.Errorf("%+v, %s", n.Wow64(), pcs(n))
		}
	}
}

// TestSuspendedLayer: the layer of a thread in 32-bit code goes on where the far jump of the
// program's calls leads, with the stack pointer in r14 or, on older systems, in the TEB.
func TestSuspendedLayer(t *testing.T) {
	const gate, entry, table, onward = 0x77406000, 0x77406009, 0x77404660, 0x77401782
	teb, sp := dumptest.ThreadTEB(1), uint64(stack64+0x20)
	record := func(regs map[string]uint64) []byte {
		all := map[string]uint64{"rip": 0x402222, "rsp": stack32, "cs": 0x23, "r12": teb, "r13": savedAt + 0x80, "r14": sp, "r15": table}
		for name, v := range regs {
			all[name] = v
		}
		return dumptest.AMD64(all)
	}
	type memory struct {
		teb64, teb32, gate, code, table, stack []byte
	}
	good := func() memory {
		return memory{
			dumptest.KeepStack(dumptest.TEB64(teb, teb32At, savedAt), stack64, stack64+0x1000, 0), dumptest.Enter(dumptest.TEB32(teb32At, 0), gate),
			dumptest.FarJump(entry, 0x33), []byte("\x41\xff\xa7\xf8\x00\x00\x00"), binary.LittleEndian.AppendUint64(nil, onward), make([]byte, 64)}
	}
	nothing := func(*memory) {}
	for name, c := range map[string]struct {
		regs   map[string]uint64
		change func(m *memory)
		want   string // where the layer goes on, or what is missing
	}{
		"Windows 10": {nil, nothing, "amd64 77401782"},
		"Windows 7": {map[string]uint64{"r14": 7}, func(m *memory) {
			binary.LittleEndian.PutUint64(m.teb64[0x1480:], sp)
			m.code = []byte("\x67\x44\x8b\x04\x24\x45\x89")
		}, "amd64 77406009"},
		"without the target":      {nil, func(m *memory) { m.code = nil }, "amd64 77406009"},
		"another r12":             {map[string]uint64{"r12": teb + 8}, nothing, "neither its registers nor"},
		"r14 beyond the stack":    {map[string]uint64{"r14": stack64 + 0x1000}, nothing, "neither its registers nor"},
		"r14 below the stack":     {map[string]uint64{"r14": stack64 - 16}, nothing, "neither its registers nor"},
		"r14 not aligned":         {map[string]uint64{"r14": sp + 8}, nothing, "neither its registers nor"},
		"a stack not in the dump": {nil, func(m *memory) { m.stack = nil }, "does not hold its 64-bit stack at 0x8e020"},
		"no TEB":                  {nil, func(m *memory) { m.teb64 = nil }, "does not hold its thread environment block (TEB)"},
		"a TEB of another thread": {nil, func(m *memory) { m.teb64[0x30]++ }, "does not hold its thread environment block (TEB)"},
		"no 32-bit TEB":           {nil, func(m *memory) { m.teb32 = nil }, "does not hold its 32-bit thread environment block"},
		"a short 32-bit TEB":      {nil, func(m *memory) { m.teb32 = m.teb32[:0xc0] }, "does not hold its 32-bit thread environment block"},
		"no code":                 {nil, func(m *memory) { m.gate = m.gate[:6] }, "does not hold the code at 0x77406000"},
		"another instruction":     {nil, func(m *memory) { m.gate[0] = 0xe9 }, "the code at 0x77406000, by which 32-bit code enters the layer, is not a far jump"},
		"another segment":         {nil, func(m *memory) { m.gate[5] = 0x23 }, "is not a far jump"},
		"no table":                {nil, func(m *memory) { m.table = nil }, "does not hold the address at 0x77404758"},
		"an address in no module": {nil, func(m *memory) { m.table = make([]byte, 8) }, "0x0, is in no module"},
	} {
		m := good()
		c.change(&m)
		d := wowDump(dumptest.CPUAMD64).Thread(1, record(c.regs), stack32, make([]byte, 64))
		for at, p := range map[uint64][]byte{teb: m.teb64, teb32At: m.teb32, gate: m.gate, entry: m.code, table + 0xf8: m.table, stack64: m.stack, savedAt: dumptest.Reserved(0x14c, 4, wowSaved(1))} {
			if p != nil {
				d.Memory(at, p)
			}
		}
		n := normalized(t, d.Bytes())
		left := n.Wow64().Left
		if !strings.HasPrefix(c.want, "amd64") {
			if have := pcs(n); have != "x86 402222" || len(left) != 1 || left[0].Thread != 0 || !strings.Contains(left[0].Why, c.want) {
				t.Errorf("%s: %s; %+v, want %q", name, have, left, c.want)
			}
			continue
		}
		if have := pcs(n); have != "x86 402222, "+c.want || len(left) != 0 {
			t.Errorf("%s: %s, want %s; %+v", name, have, c.want, left)
			continue
		}
		x, _ := n.ThreadContext(1)
		if rbx, known := x.Regs.Get(3); known || x.Regs.SP() != sp || !n.Threads[1].Suspended() || n.Threads[1].Under() != 0 {
			t.Errorf("%s: sp 0x%x, rbx 0x%x (known %v)", name, x.Regs.SP(), rbx, known)
		}
		if s := n.ThreadStack(1); s == nil || s.Start != stack64 {
			t.Errorf("%s: the layer's stack is %+v", name, s)
		}
	}
}

// TestSuspendedOnARM64: nothing is known about what the layer keeps there.
func TestSuspendedOnARM64(t *testing.T) {
	d := wowDump(dumptest.CPUARM64).Thread(1, dumptest.ARM64(map[string]uint64{"pc": 0x405000, "x13": stack32, "cpsr": 0x30}), 0, nil)
	if n := normalized(t, d.Bytes()); pcs(n) != "arm 405000" || len(n.Wow64().Left) != 1 || n.Wow64().Left[0].Why != "where it is kept is known for amd64 alone" {
		t.Errorf("%s, %+v", pcs(n), n.Wow64().Left)
	}
}

// TestWow64Cancelled: a context that cannot be read any more is an error, also where it is a record of the
// program's own.
func TestWow64Cancelled(t *testing.T) {
	own := dumptest.X86(map[string]uint64{"eip": 0x401000, "esp": 0x9000, "cs": 0x23})
	d := open(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Module(0x77000000, 0x1000, `C:\Windows\System32\wow64.dll`, nil).Thread(1, own, 0x9000, make([]byte, 64)).Bytes()).Normalized()
	if c, err := d.ThreadContext(0); err != nil || c.Regs.PC() != 0x401000 || c.Arch != cpu.X86 {
		t.Fatal(c, err)
	}
	d.Src.Budget = &input.Budget{}
	d.Src.Budget.Cancel(errors.New("cancelled"))
	if _, err := d.ThreadContext(0); err == nil {
		t.Error("no error")
	}
}
