package core

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// readAll opens a dump and asks everything of it that others ask.
func readAll(data []byte) {
	d, err := Open(input.FromBytes("evil.dmp", data))
	if err != nil {
		return
	}
	d.SystemWords()
	d.PID()
	d.UptimeBreakpad()
	d.UptimeRust()
	if c, err := d.ExceptionContext(); err == nil {
		c.Regs.PC()
	}
	d.Arch()
	for i := range d.Threads {
		var sp uint64
		if c, err := d.ThreadContext(i); err == nil {
			sp = c.Regs.SP()
		}
		for _, s := range []*StackMemory{d.StackBreakpad(i), d.StackRust(i, sp)} {
			if s != nil {
				s.Word(s.Start, 8)
				s.Word(s.End-8, 8)
				s.Word(s.End-4, 8)
				s.Word(sp, 4)
			}
		}
	}
	var p [64]byte
	for _, r := range d.Memory.Regions() {
		d.Memory.Word(r.End()-8, 8)
		d.Memory.Word(r.Start, 4)
		d.Memory.Read(r.End()-3, p[:])
		d.Memory.Region(r.Start)
	}
	for i := range d.Modules {
		m := &d.Modules[i]
		m.VersionRust()
		m.VersionBreakpad()
		m.CodeIDBreakpad()
		m.DebugIDRust()
	}
}

// sweep breaks a dump in every way of the issue: cut at every 64th byte, and each 32-bit word of the header, the directory and the
// first bytes of every stream set to the values that break readers. Memory must stay within 4 × the file + 64 MB.
func sweep(t *testing.T, data []byte) int {
	limit := uint64(4*len(data) + 64<<20)
	runs := 0
	try := func(what string, p []byte) {
		defer func() {
			if r := recover(); r != nil {
				t.Fatalf("%s: panic: %v", what, r)
			}
		}()
		var before, after runtime.MemStats
		check := runs%64 == 0 // reading the statistics stops the world
		if check {
			runtime.ReadMemStats(&before)
		}
		readAll(p)
		if check {
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > limit {
				t.Fatalf("%s: %d bytes allocated for a file of %d", what, used, len(p))
			}
		}
		runs++
	}
	for n := 0; n < len(data); n += 64 {
		try(fmt.Sprintf("cut at %d", n), data[:n])
	}
	d, err := Open(input.FromBytes("good.dmp", data))
	if err != nil {
		return runs
	}
	at := []int{}
	add := func(off, size int) {
		for i := off; i+4 <= off+size && i+4 <= len(data); i += 4 {
			at = append(at, i)
		}
	}
	add(4, 28)
	add(int(d.Header.Directory), 12*len(d.Streams))
	for _, s := range d.Streams {
		add(int(s.Loc.Off), int(min(s.Loc.Size, 256)))
	}
	broken := append([]byte(nil), data...)
	for _, off := range at {
		for _, v := range []uint32{0, 1, 0x7fffffff, 0xffffffff} {
			copy(broken[off:], data[off:off+4])
			d.Header.Order.PutUint32(broken[off:], v)
			try(fmt.Sprintf("word at %#x = %#x", off, v), broken)
		}
		copy(broken[off:], data[off:off+4])
	}
	return runs
}

func TestEvilOwn(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
		t.Logf("%s: %d broken dumps read", order, sweep(t, everything(order).Bytes()))
	}
}

func TestEvilCorpus(t *testing.T) {
	corpusDumps(t) // skips without a corpus
	for _, name := range []string{
		"breakpad/dumps/minidump2.dmp", "breakpad/dumps/linux_null_read_av.dmp", "breakpad/dumps/linux_inline.dmp",
		"breakpad/dumps/thread_name_list.dmp", "breakpad/dumps/tiny-exe-with-cet-xsave.dmp", "breakpad/dumps/write_av_non_canonical.dmp",
		"rust-minidump/dumps/invalid-parameter.dmp", "rust-minidump/dumps/linux-mini.dmp", "rust-minidump/dumps/invalid-range.dmp",
		"symbolic/dumps/crash_macos.dmp", "derived/dumps/micro-arm.dmp", "derived/dumps/micro-arm64.dmp",
	} {
		data, err := os.ReadFile(filepath.Join(corpusDir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %d broken dumps read", name, sweep(t, data))
	}
}

// TestManyOverlaps: lists that all point to the same bytes cost memory for their entries only.
func TestManyOverlaps(t *testing.T) {
	b := dumptest.New(dumptest.LittleEndian)
	off := b.Put("bytes", make([]byte, 64<<10))
	for i := range 20000 {
		b.MemoryAt(uint64(i)*16, off, 64<<10)
	}
	data := b.Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	readAll(data)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(4*len(data)+64<<20) {
		t.Errorf("%d bytes allocated for a file of %d", used, len(data))
	}
}

// TestSharedName: modules that all have the same long name cost what the file has, not that many times.
func TestSharedName(t *testing.T) {
	b := dumptest.New(dumptest.LittleEndian)
	name := b.String(strings.Repeat("n", 60_000))
	const n = 30_000
	list := make([]byte, 4+108*n)
	binary.LittleEndian.PutUint32(list, n)
	for i := range n {
		e := list[4+108*i:]
		binary.LittleEndian.PutUint64(e, uint64(i)<<16)
		binary.LittleEndian.PutUint32(e[8:], 0x1000)
		binary.LittleEndian.PutUint32(e[20:], uint32(name))
	}
	data := b.Stream(4, list).Bytes()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := open(t, data)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(4*len(data)+64<<20) {
		t.Errorf("%d bytes allocated for a file of %d", used, len(data))
	}
	if len(d.Modules) != n || len(d.Diags) != 1 || !strings.Contains(d.Diags[0].Err.Error(), "the rest is left out") {
		t.Errorf("%d modules, %d diagnostics", len(d.Modules), len(d.Diags))
	}
}

// FuzzOpen: no input makes the reader panic.
func FuzzOpen(f *testing.F) {
	f.Add(everything(dumptest.LittleEndian).Bytes())
	f.Add(everything(dumptest.BigEndian).Bytes())
	f.Add(dumptest.New(dumptest.LittleEndian).Padded().Thread(1, dumptest.ARM(nil), 1, []byte{1}).Bytes())
	f.Add([]byte("MDMP"))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(data) })
}

// FuzzContext: no record makes the context reader panic, whatever the processor.
func FuzzContext(f *testing.F) {
	for _, k := range kinds {
		f.Add(k.proc, false, dumptest.Context(dumptest.LittleEndian, k.kind, nil))
	}
	f.Add(uint16(dumptest.CPUAMD64), true, dumptest.AMD64XState(nil, make([]byte, 256), 1))
	f.Add(uint16(0xffff), false, dumptest.ARM64(nil))
	f.Fuzz(func(t *testing.T, proc uint16, misc bool, record []byte) {
		b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: proc}).Thread(1, record, 0x1000, record)
		if misc {
			b.Misc5(1, 1, "", "", dumptest.XState{Index: 2, Offset: 576, Size: 256}, dumptest.XState{Index: 18, Offset: 2816, Size: 8192})
		}
		d, err := Open(input.FromBytes("fuzz.dmp", b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.ThreadContext(0)
		if err == nil && !c.Regs.AllKnown() {
			t.Error("a context was read and registers are unknown")
		}
	})
}
