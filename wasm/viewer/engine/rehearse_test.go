package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/app"
)

var update = flag.Bool("update", false, "write the files of the rehearsal anew")

// TestRehearsalFiles: the files are what is made here, with -update.
func TestRehearsalFiles(t *testing.T) {
	words := func(w ...uint64) (b []byte) {
		for _, v := range w {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	regs := map[string]uint64{"rip": 0x900008, "rsp": 0x7ffe0000, "rbp": 0x7ffe0040, "rax": 0x7ffe0010}
	build := func(n byte) dumptest.CodeView {
		return dumptest.ELF([]byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, n})
	}
	// Found by rules, most by those of the large file, by the frame pointer, and by scanning.
	frames := func(thread, n uint64) []byte {
		stack := words(1)
		for i := range n {
			stack = append(stack, words(0x400000+madeFirst+0x40*(777+i*(28_800/n)+thread*131)+4, 9)...)
		}
		return stack
	}
	stack := frames(0, 24)
	regs["rbp"] += uint64(len(stack)) - 5*8
	stack = append(stack, words(0x900020, 1, 2, regs["rbp"]+0x20, 0x900030, 3, 4, 0, 0, 5, 0x1000000+madeFirst+0x40*77+0x2a, 6, 0x900101, 7)...)
	ctx := dumptest.AMD64(regs)
	regs["rsp"] = 0x7ffd0000
	deep := dumptest.AMD64(regs)
	dump := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x300000, "/a/a", build(0xff)).Module(0x1000000, 0x300000, "/a/c", build(0xfd)).Module(0x900000, 0x10000, "/a/b", build(0xfe)).
		Thread(1, ctx, 0x7ffe0000, stack).Thread(2, ctx, 0x7ffe0000, stack).
		Thread(3, deep, regs["rsp"], frames(1, 150)).ThreadName(1, "a").
		Stream(0x47670003, []byte("vendor_id\t: a\nmodel name\t: a\n")).Stream(0x47670004, []byte("Name:\ta\nPid:\t1\n")).
		Stream(0x47670009, []byte("00400000-00700000 r-xp 00000000 00:00 0 /a/a\n7ffd0000-7fff0000 rw-p 00000000 00:00 0 [stack]\n")).
		Misc(1, 1, 1, 1).Memory(0x900000, []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x8b, 0x03, 0x90, 0x90, 0x90, 0x90, 0x90}).
		Exception(1, 11, 1, 0x10, ctx).Bytes()
	// The same symbols, those of them that are made, for a 32-bit process of Windows.
	words32 := func(w ...uint32) (b []byte) {
		for _, v := range w {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	in := func(i uint32) uint32 { return 0x1000000 + madeFirst + 0x40*i + 0x2a }
	ctx32 := dumptest.X86(map[string]uint64{"eip": uint64(in(200)), "esp": 0x120000, "ebp": 0x120040})
	windows := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUX86, Platform: dumptest.OSWindows}).
		Module(0x1000000, 0x300000, `c:\a\c`, dumptest.RSDS(0x00112233, 0x4455, 0x6677, [8]byte{0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xfd}, 0, "c")).
		Thread(1, ctx32, 0x120000, words32(1, 2, 3, 4, in(201), 5, 6, 7, 8, 9, in(202), 1, 2, in(203), 3, 4, 5, 6, 7, in(204), 1, 2, 3, 0x120060, in(10), 1, 2, 3, 0, 0, 1)).
		Exception(1, 0xc0000005, 0, 0x10, ctx32).Bytes()
	sym := "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFE0 b\nINFO CODE_ID 33221100 b\nFILE 0 /a/b.cc\nINLINE_ORIGIN 0 a()\n" +
		"FUNC 0 18 0 _ZN1b1cI1aEEvPKc\nINLINE 0 7 0 0 0 10\n0 10 3 0\n10 8 4 0\nFUNC 18 40 0 main\n18 40 9 0\nPUBLIC 100 0 _start\n" +
		"STACK CFI INIT 0 18 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 4 .cfa: $rsp 16 +\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(sym))
	z.Close()
	for name, want := range map[string][]byte{"a.dmp": dump, "w.dmp": windows, "b.sym.gz": packed.Bytes()} {
		if *update {
			if err := os.WriteFile("rehearsal/"+name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := os.ReadFile("rehearsal/" + name); err != nil || name != "b.sym.gz" && !bytes.Equal(have, want) {
			t.Errorf("%s: %v; run this test with -update", name, err)
		}
	}
}

// TestRehearsal: it does what a real dump has done: frames by rules of both files, names, inlined calls.
func TestRehearsal(t *testing.T) {
	r := NewRehearsal(input.FromBytes)
	last := map[int]app.Reply{} // dump → its stack
	r.e.post = func(reply app.Reply) {
		if reply.Error != "" {
			t.Error(reply.Error)
		}
		if reply.Stack != nil {
			if !(len(last) == 2 && r.again < rehearsals-1) {
				last[reply.Dump] = reply // of the first time
			}
		}
	}
	steps := 1
	for r.Step() {
		steps++
	}
	for dump, wanted := range [][]string{{"a::b", "std::a", "main", "b.cc:", "a.cc:12", "b.h:14"}, {"a::b", "b.h:14", "stack-win"}} {
		if last[dump].Stack == nil {
			t.Fatalf("no stack of dump %d was described", dump)
		}
		var names []string
		for _, row := range last[dump].Stack.Rows {
			names = append(names, row.Function+" "+row.Source+" "+row.Word)
		}
		all := strings.Join(names, "\n")
		for _, want := range wanted {
			if !strings.Contains(all, want) {
				t.Errorf("no %q in %d steps:\n%s", want, steps, all)
			}
		}
	}
	if len(rehearsalDump)+len(rehearsalWindows)+len(rehearsalSym) > 12<<10 {
		t.Errorf("the files take %d bytes of what everyone fetches", len(rehearsalDump)+len(rehearsalWindows)+len(rehearsalSym))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d steps, %d KB of heap in use", steps, m.HeapInuse>>10)
}
