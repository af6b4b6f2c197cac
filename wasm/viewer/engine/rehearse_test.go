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
	ctx := dumptest.AMD64(regs)
	build := func(n byte) dumptest.CodeView {
		return dumptest.ELF([]byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, n})
	}
	// Found by rules, twice by those of the large file, by the frame pointer, and by scanning.
	stack := words(1, 0x400000+madeFirst+0x40*777+4, 9, 0x400000+madeFirst+0x40*20_000+4, 9, 0x900020, 1, 2, 0x7ffe0060, 0x900030, 3, 4, 0, 0, 5, 0x900101, 6, 7)
	dump := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x300000, "/a/a", build(0xff)).Module(0x300000, 0x10000, "/a/c", nil).Module(0x900000, 0x10000, "/a/b", build(0xfe)).
		Thread(1, ctx, 0x7ffe0000, stack).Thread(2, ctx, 0x7ffe0000, stack).ThreadName(1, "a").
		Stream(0x47670003, []byte("vendor_id\t: a\nmodel name\t: a\n")).Stream(0x47670004, []byte("Name:\ta\nPid:\t1\n")).
		Stream(0x47670009, []byte("00400000-00700000 r-xp 00000000 00:00 0 /a/a\n7ffd0000-7fff0000 rw-p 00000000 00:00 0 [stack]\n")).
		Misc(1, 1, 1, 1).Memory(0x900000, []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x8b, 0x03, 0x90, 0x90, 0x90, 0x90, 0x90}).
		Exception(1, 11, 1, 0x10, ctx).Bytes()
	sym := "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFE0 b\nINFO CODE_ID 33221100 b\nFILE 0 /a/b.cc\nINLINE_ORIGIN 0 a()\n" +
		"FUNC 0 18 0 _ZN1b1cI1aEEvPKc\nINLINE 0 7 0 0 0 10\n0 10 3 0\n10 8 4 0\nFUNC 18 40 0 main\n18 40 9 0\nPUBLIC 100 0 _start\n" +
		"STACK CFI INIT 0 18 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 4 .cfa: $rsp 16 +\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(sym))
	z.Close()
	for name, want := range map[string][]byte{"a.dmp": dump, "b.sym.gz": packed.Bytes()} {
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
	var last app.Reply
	r.e.post = func(reply app.Reply) {
		if reply.Error != "" {
			t.Error(reply.Error)
		}
		if reply.Stack != nil {
			last = reply
		}
	}
	steps := 1
	for r.Step() {
		steps++
	}
	var names []string
	if last.Stack == nil {
		t.Fatal("no stack was described")
	}
	for _, row := range last.Stack.Rows {
		names = append(names, row.Function+" "+row.Source+" "+row.Word)
	}
	all := strings.Join(names, "\n")
	for _, want := range []string{"a::b", "std::a", "main", "b.cc:", "a.cc:12"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %d steps:\n%s", want, steps, all)
		}
	}
	if len(rehearsalDump)+len(rehearsalSym) > 12<<10 {
		t.Errorf("the files take %d bytes of what everyone fetches", len(rehearsalDump)+len(rehearsalSym))
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d steps, %d KB of heap in use", steps, m.HeapInuse>>10)
}
