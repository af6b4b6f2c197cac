package elfcore_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/elfcore"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
)

var buildID = []byte("0123456789abcdef0123")

// registers has where the program counter and the stack pointer are in the elf_gregset_t of a processor, in
// words, and how many words it has.
var registers = map[string]struct{ pc, sp, words int }{
	"amd64": {16, 19, 27}, "x86": {12, 15, 17}, "arm": {15, 13, 18}, "arm64": {32, 31, 34}, "mips": {40, 35, 45}, "mips64": {34, 29, 45},
	"ppc": {32, 1, 48}, "ppc64": {32, 1, 48}, "riscv": {0, 2, 32}, "riscv64": {0, 2, 32}, "s390x": {1, 17, 27}, "loongarch64": {33, 3, 45}, "sparc": {1, 18, 38},
}

func gregset(a *cpu.Arch, order binary.AppendByteOrder, pc, sp uint64) (b []byte) {
	at := registers[a.Name]
	for i := range at.words {
		v := uint64(i)
		switch i {
		case at.pc:
			v = pc
		case at.sp:
			v = sp
		}
		if a.WordSize == 8 {
			b = order.AppendUint64(b, v)
		} else {
			b = order.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// made is a core with two threads, a program, its code left out of the core, a file that is not a program, a
// library whose header the core has not, and the kernel's own page.
func made(a *cpu.Arch, order binary.AppendByteOrder) *dumptest.Core {
	wide, machine := a.WordSize == 8, a.ELFMachines[0]
	c := dumptest.NewCore(order, wide, machine)
	c.Thread(101, 11, gregset(a, order, 0x401010, 0x7ff00100)).Process(100, "app", "/opt/app --secret").Signal(11, 1, 0x10)
	c.Auxv([2]uint64{9, 0x401000}, [2]uint64{33, 0x7ffff000}).Thread(102, 0, gregset(a, order, 0x501010, 0x600100))
	c.File(0x300000, 0x301000, 0, "/usr/share/data").File(0x400000, 0x401000, 0, "/opt/app (deleted)").File(0x401000, 0x402000, 0x1000, "/opt/app (deleted)")
	c.File(0x500000, 0x502000, 0, "/lib/libx.so")
	c.Memory(0x300000, 0x1000, dumptest.Read, []byte("no program"))
	c.Memory(0x400000, 0x1000, dumptest.Read, dumptest.ELFImage(order, wide, machine, 0x5000, buildID)).Memory(0x401000, 0x1000, dumptest.Read|dumptest.Exec, nil)
	c.Memory(0x500000, 0x2000, dumptest.Read|dumptest.Exec, nil).Memory(0x600000, 0x1000, dumptest.Read|dumptest.Write, make([]byte, 0x1000))
	c.Memory(0x7ff00000, 0x2000, dumptest.Read|dumptest.Write, make([]byte, 0x2000))
	return c.Memory(0x7ffff000, 0x1000, dumptest.Read|dumptest.Exec, dumptest.ELFImage(order, wide, machine, 0x800, buildID[:8]))
}

func TestRead(t *testing.T) {
	for _, a := range cpu.All() {
		order := dumptest.LittleEndian
		if a.Name == "sparc" || a.Name == "s390x" || a.Name == "ppc" {
			order = dumptest.BigEndian
		}
		d, err := elfcore.Read(input.FromBytes("core", made(a, order).Bytes()))
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		check(t, a, d)
	}
}

func check(t *testing.T, a *cpu.Arch, d *core.Dump) {
	t.Helper()
	for _, g := range d.Diags {
		t.Errorf("%s: %v", a.Name, g.Err)
	}
	if d.Arch() != a || d.OS() != core.OSLinux || d.Linux.PID != 100 || len(d.Threads) != 2 {
		t.Fatalf("%s: %v, %v, process %d, %d threads", a.Name, d.Arch(), d.OS(), d.Linux.PID, len(d.Threads))
	}
	for i, want := range []struct{ pc, sp, stack uint64 }{{0x401010, 0x7ff00100, 0x7ff00080}, {0x501010, 0x600100, 0x600080}} {
		c, err := d.ThreadContext(i)
		if err != nil {
			t.Fatalf("%s: thread %d: %v", a.Name, i, err)
		}
		pc, _ := c.Regs.Get(a.PC)
		if pc != want.pc || c.Regs.SP() != want.sp || d.Threads[i].StackStart != want.stack {
			t.Errorf("%s: thread %d: pc %x, sp %x, stack %x", a.Name, i, pc, c.Regs.SP(), d.Threads[i].StackStart)
		}
	}
	code := uint32(1)
	if strings.HasPrefix(a.Name, "mips") { // which has the two words the other way round
		code = 0
	}
	if e := d.Exception; e == nil || e.ThreadID != 101 || e.Code != 11 || e.Flags != code || e.Address != 0x10 {
		t.Errorf("%s: exception %+v", a.Name, e)
	}
	var modules []string
	for i := range d.Modules {
		m := &d.Modules[i]
		modules = append(modules, fmt.Sprintf("%s %x %x %s", m.Name, m.Base, m.Size, m.CodeID))
	}
	want := "/opt/app 400000 5000 3031323334353637383961626364656630313233\n/lib/libx.so 500000 2000 \nlinux-gate.so 7ffff000 800 3031323334353637"
	if got := strings.Join(modules, "\n"); got != want {
		t.Errorf("%s: modules\n%s\nwant\n%s", a.Name, got, want)
	}
	if m := d.Linux.Maps[2]; m.Start != 0x401000 || m.Perms != "r-x" || m.Path != "/opt/app (deleted)" || m.Offset != 0x1000 || len(d.Linux.Maps) != 7 {
		t.Errorf("%s: map %+v of %d", a.Name, m, len(d.Linux.Maps))
	}
	if got := len(d.Memory.Regions()); got != 5 {
		t.Errorf("%s: %d regions of memory", a.Name, got)
	}
}

// TestSignals: a core that gcore wrote of a process that runs has no exception, nor does another thread's signal
// make one; one of an old kernel has the signal alone.
func TestSignals(t *testing.T) {
	a, order := cpu.AMD64, dumptest.LittleEndian
	regs := gregset(a, order, 0x401010, 0x7ff00100)
	for _, c := range []struct {
		what   string
		core   *dumptest.Core
		signal uint32
		code   uint32
	}{
		{"gcore", dumptest.NewCore(order, true, 62).Thread(1, 19, regs).Signal(19, 0x80, 0), 0, 0},
		{"no signal", dumptest.NewCore(order, true, 62).Thread(1, 0, regs), 0, 0},
		{"another thread", dumptest.NewCore(order, true, 62).Thread(1, 0, regs).Signal(0, 0, 0).Thread(2, 11, regs).Signal(11, 1, 0), 0, 0},
		{"without a siginfo", dumptest.NewCore(order, true, 62).Thread(1, 6, regs), 6, 0},
		{"sent", dumptest.NewCore(order, true, 62).Thread(1, 6, regs).Signal(6, 0xfffffffa, 1000<<32|77), 6, 0xfffffffa},
		{"sent by kill", dumptest.NewCore(order, true, 62).Thread(1, 11, regs).Signal(11, 0, 1000<<32|77), 11, 0},
		{"a bus error of MIPS", dumptest.NewCore(order, true, 8).Thread(1, 10, gregset(cpu.MIPS64, order, 1, 2)), 10, 0},
	} {
		d, err := elfcore.Read(input.FromBytes("core", c.core.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		switch e := d.Exception; {
		case c.signal == 0 && e != nil, c.signal != 0 && (e == nil || e.Code != c.signal || e.Flags != c.code || e.ThreadID != 1 || e.CodeKnown != (e.Address != 0)):
			t.Errorf("%s: %+v", c.what, e)
		}
	}
}

// TestRefused: what is not a core of Linux is an error that says what it is.
func TestRefused(t *testing.T) {
	order := dumptest.LittleEndian
	for want, data := range map[string][]byte{
		"an ELF header":                  []byte("MDMP"),
		"of type 3":                      dumptest.ELFImage(order, true, 62, 0x1000, buildID),
		"number 9999, 64 bits":           dumptest.NewCore(order, true, 9999).Bytes(),
		"one of FreeBSD":                 dumptest.NewCore(order, true, 62).Note("FreeBSD", 1, make([]byte, 300)).Bytes(),
		"one of Solaris":                 dumptest.NewCore(order, true, 62).Note("CORE", 10, make([]byte, 300)).Bytes(),
		"one of the Linux kernel itself": dumptest.NewCore(order, true, 62).Thread(1, 0, gregset(cpu.AMD64, order, 1, 2)).Note("VMCOREINFO", 0, make([]byte, 300)).Bytes(),
	} {
		if _, err := elfcore.Read(input.FromBytes("core", data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestTruncated: a core may end anywhere, as where a limit of its size cut it off. What is there is read, and
// what is missing is reported.
func TestTruncated(t *testing.T) {
	for _, a := range []*cpu.Arch{cpu.AMD64, cpu.X86} {
		data := made(a, dumptest.LittleEndian).Bytes()
		for n := range data {
			d, err := elfcore.Read(input.FromBytes("core", data[:n]))
			if err == nil && len(d.Diags) == 0 {
				t.Fatalf("%s: %d of %d bytes: nothing is missing", a.Name, n, len(data))
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, a := range cpu.All() {
		f.Add(made(a, dumptest.LittleEndian).Bytes())
		f.Add(made(a, dumptest.BigEndian).Bytes())
		f.Add(linked(a, true, 21, 0x481100).Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := elfcore.Read(input.FromBytes("core", data))
		if err != nil {
			return
		}
		for i := range d.Threads {
			_, _ = d.ThreadContext(i)
		}
		if len(d.Modules) > len(data) || len(d.Linux.Maps) > len(data) {
			t.Errorf("%d modules and %d maps of %d bytes", len(d.Modules), len(d.Linux.Maps), len(data))
		}
	})
}

// TestManySegments: where a process has too many mappings for the header's 16 bits, a section header has
// the number.
func TestManySegments(t *testing.T) {
	for _, a := range []*cpu.Arch{cpu.AMD64, cpu.X86} {
		data := made(a, dumptest.LittleEndian).Bytes()
		le := binary.LittleEndian
		sections, count, info := 40, 56, 44 // e_shoff, e_phnum; sh_info
		if a.WordSize == 4 {
			sections, count, info = 32, 44, 28
		}
		header := make([]byte, 64)
		le.PutUint32(header[info:], uint32(le.Uint16(data[count:])))
		le.PutUint16(data[count:], 0xffff)
		le.PutUint32(data[sections:], uint32(len(data)))
		d, err := elfcore.Read(input.FromBytes("core", append(data, header...)))
		if err != nil {
			t.Fatal(err)
		}
		check(t, a, d)
	}
}

// TestGrowth: files that overlap, all with the program's entry in them, cost in proportion to their number.
func TestGrowth(t *testing.T) {
	testfile.Growth(t, 1000, func(n int) func() {
		c := dumptest.NewCore(dumptest.LittleEndian, true, cpu.AMD64.ELFMachines[0])
		end := uint64(0x10000 + 0x1000*(n+1))
		c.Thread(1, 11, gregset(cpu.AMD64, dumptest.LittleEndian, 0x10000, 0)).Auxv([2]uint64{9, end - 8})
		for i := range n {
			c.File(0x10000+0x1000*uint64(i), end, 0, fmt.Sprint("/lib/", i))
		}
		data := c.Memory(0x10000, end-0x10000, dumptest.Read|dumptest.Exec, nil).Bytes()
		return func() {
			d, err := elfcore.Read(input.FromBytes("core", data))
			if err != nil || len(d.Modules) != n {
				t.Fatal(len(d.Modules), err)
			}
		}
	})
}
