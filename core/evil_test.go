package core

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// readAll opens a dump and asks everything of it that others ask.
func readAll(data []byte) {
	d, err := Open(input.FromBytes("evil.dmp", data))
	if err != nil {
		return
	}
	d.OSName()
	d.OSVersion()
	d.BuildText()
	d.CPUName()
	d.CPUInfo()
	d.PID()
	d.Uptime()
	if c, err := d.ExceptionContext(); err == nil {
		c.Regs.PC()
	}
	d.Arch()
	n := d.Normalized()
	for i := range n.Threads {
		n.ThreadContext(i)
		n.ThreadStack(i)
		if e := n.ExceptionOf(i); e != nil {
			n.ContextOf(e)
			n.NestedExceptions(e)
		}
	}
	for i := range d.Threads {
		var sp uint64
		if c, err := d.ThreadContext(i); err == nil {
			sp = c.Regs.SP()
		}
		for _, s := range []*StackMemory{d.ThreadStack(i), d.StackAt(i, sp)} {
			if s != nil {
				s.Word(s.Start, 8)
				s.Word(s.End-8, 8)
				s.Word(s.End-4, 8)
				s.Word(sp, 4)
			}
		}
	}
	if d.Crashpad != nil {
		for _, m := range d.Crashpad.Modules {
			for i := range m.Objects {
				m.Objects[i].Text()
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
		m.FileVersion()
		m.StoredID()
		m.StoredDebugFile()
		m.File()
		m.Flags.Words()
	}
}

// allocated is how many bytes this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// sweep breaks a dump. It cuts it at every 64th byte, and sets 32-bit words to the values that
// break readers: those of the header, the directory and the first bytes of every stream, or with
// all every word of the file. Memory must stay within 4 × the file + 64 MB, and no run may take
// five seconds. Under wasm, which is some ten times slower, every eighth of them is tried.
func sweep(t *testing.T, data []byte, all bool) int {
	limit := uint64(4*len(data) + 64<<20)
	runs, turn, step := 0, 0, 1
	if runtime.GOARCH == "wasm" {
		step = 8
	}
	try := func(p []byte, what func() string) {
		if turn++; turn%step != 0 {
			return
		}
		defer func() {
			if r := recover(); r != nil {
				t.Fatalf("%s: panic: %v", what(), r)
			}
		}()
		before, start := allocated(), time.Now()
		readAll(p)
		if used := allocated() - before; used > limit {
			t.Fatalf("%s: %d bytes allocated for a file of %d", what(), used, len(p))
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%s: took %v", what(), took)
		}
		runs++
	}
	for n := 0; n < len(data); n += 64 {
		try(data[:n], func() string { return fmt.Sprintf("cut at %d", n) })
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
	if all {
		add(4, len(data))
	} else {
		add(4, 28)
		add(int(d.Header.Directory), 12*len(d.Streams))
		for _, s := range d.Streams {
			add(int(s.Loc.Off), int(min(s.Loc.Size, 256)))
		}
	}
	broken := append([]byte(nil), data...)
	for _, off := range at {
		for _, v := range []uint32{0, 1, 0x7fffffff, 0xffffffff} {
			copy(broken[off:], data[off:off+4])
			d.Header.Order.PutUint32(broken[off:], v)
			try(broken, func() string { return fmt.Sprintf("word at %#x = %#x", off, v) })
		}
		copy(broken[off:], data[off:off+4])
	}
	return runs
}

func TestEvilOwn(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{dumptest.LittleEndian, dumptest.BigEndian} {
		t.Logf("%s: %d broken dumps read", order, sweep(t, everything(order).Bytes(), true))
	}
	for _, k := range kinds {
		b := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: k.proc})
		t.Logf("%s: %d broken dumps read", k.kind, sweep(t, b.Thread(1, dumptest.Context(dumptest.LittleEndian, k.kind, nil), 0x1000, make([]byte, 64)).Bytes(), false))
	}
	xstate := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64}).
		Thread(1, dumptest.AMD64XState(nil, make([]byte, 256), 1), 0, nil).Misc5(1, 1, "", "", dumptest.XState{Index: 2, Offset: 576, Size: 256})
	t.Logf("extended state: %d broken dumps read", sweep(t, xstate.Bytes(), true))
}

func TestEvilCorpus(t *testing.T) {
	corpusDumps(t) // skips without a corpus
	for _, name := range []string{
		"breakpad/dumps/minidump2.dmp", "breakpad/dumps/linux_null_read_av.dmp", "breakpad/dumps/linux_inline.dmp",
		"breakpad/dumps/thread_name_list.dmp", "breakpad/dumps/tiny-exe-with-cet-xsave.dmp", "breakpad/dumps/write_av_non_canonical.dmp",
		"rust-minidump/dumps/invalid-parameter.dmp", "rust-minidump/dumps/linux-mini.dmp", "rust-minidump/dumps/invalid-range.dmp",
		"symbolic/dumps/crash_macos.dmp", "chromium/renderer-crash.dmp", "derived/dumps/micro-arm.dmp", "derived/dumps/micro-arm64.dmp",
	} {
		data, err := os.ReadFile(filepath.Join(corpusDir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		t.Logf("%s: %d broken dumps read", name, sweep(t, data, false))
	}
}

// TestManyOverlaps: lists that all point to the same bytes cost memory for their entries only.
func TestManyOverlaps(t *testing.T) {
	b := dumptest.New(dumptest.LittleEndian)
	off := b.Put(make([]byte, 64<<10))
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

// TestSharedName: modules that all have the same long name cost what the file has, not that many
// times.
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

// TestSharedParts: annotations, handles' facts and link maps that all share their parts, or point
// to themselves, cost what the file has.
func TestSharedParts(t *testing.T) {
	word := func(p []byte, v ...uint32) []byte {
		for _, x := range v {
			p = binary.LittleEndian.AppendUint32(p, x)
		}
		return p
	}
	b := dumptest.New(dumptest.LittleEndian)
	name := uint32(b.UTF8(strings.Repeat("n", 60_000)))
	dict := word(nil, 5000)
	for range 5000 {
		dict = word(dict, name, name)
	}
	at := uint32(b.Put(dict))
	module := uint32(b.Put(word(nil, 1, uint32(len(dict)), at, uint32(len(dict)), at, uint32(len(dict)), at)))
	list := word(nil, 5000)
	for i := range uint32(5000) {
		list = word(list, i, 28, module)
	}
	mods := uint32(b.Put(list))
	b.Stream(0x43500001, word(make([]byte, 36), uint32(len(dict)), at, uint32(len(list)), mods))
	loop := b.Put(make([]byte, 12))
	binary.LittleEndian.PutUint32(b.Peek(loop), uint32(loop))
	handles := word(nil, 16, 40, 20_000, 0)
	for range 20_000 {
		handles = word(handles, 1, 0, 0, 0, 0, 0, 0, 0, uint32(loop), 0)
	}
	b.Stream(12, handles)
	data := b.Bytes()
	before, start := allocated(), time.Now()
	readAll(data)
	if used := allocated() - before; used > uint64(4*len(data)+64<<20) {
		t.Errorf("%d bytes allocated for a file of %d", used, len(data))
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
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
