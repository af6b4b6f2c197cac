package session

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// lldbDump is a program in the form of LLDB's minidumps: short contexts, no stack in the thread
// list, a module as large as its first segment, text in place of the exception's parameters.
// headers: the dump holds the program's ELF header. context is the kind of context records.
func lldbDump(headers bool, context string) []byte {
	const base, stack = 0x400000, 0x7ffe0000
	var mem []byte
	for _, w := range []uint64{1, base + 0x2020, 2, 0, 3, 4} {
		mem = binary.LittleEndian.AppendUint64(mem, w)
	}
	var params []uint64
	text := append([]byte("SIGSEGV: address not mapped to object (fault address=0x18)"), make([]byte, 62)...)
	for i := 0; i < 120; i += 8 {
		params = append(params, binary.LittleEndian.Uint64(text[i:]))
	}
	ctx := dumptest.Context(dumptest.LittleEndian, context, map[string]uint64{"rip": base + 0x1010, "rsp": stack})
	id := dumptest.ELF([]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
	d := dumptest.New(dumptest.LittleEndian).Stream(0x4c4c4442, nil).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(base, 0x800, "app", id).
		Thread(7, ctx, 0, nil).
		Exception(7, 11, 0x4c4c4442, base+0x1010, ctx, params...).
		Memory64(stack, mem)
	if headers {
		// Elf64_Ehdr with one PT_LOAD of 0x3000 bytes behind it.
		h := make([]byte, 120)
		copy(h, "\x7fELF\x02\x01\x01")
		binary.LittleEndian.PutUint64(h[32:], 64)
		binary.LittleEndian.PutUint16(h[54:], 56)
		binary.LittleEndian.PutUint16(h[56:], 1)
		binary.LittleEndian.PutUint32(h[64:], 1)
		binary.LittleEndian.PutUint64(h[104:], 0x3000)
		d.Memory(base, h)
	}
	return d.Bytes()
}

// LLDB's dump is walked with the program's real extent, which the symbol file has, or the program's
// headers in memory.
func TestLLDB(t *testing.T) {
	for _, c := range []struct {
		headers      bool
		context, sym string
		want         string
	}{
		{false, "amd64-lldb", "", "? -1"},
		{false, "amd64-lldb", appSym(appID), "crash_me 0 main 0"},
		{true, "amd64-lldb", "", "? 0"},
		{true, "amd64-lldb", appSym(appID), "crash_me 0 main 0"},
		{true, "amd64-lldb16", appSym(appID), "crash_me 0 main 0"},
	} {
		s := NewFiles(Options{})
		s.Add(source("a.dmp", lldbDump(c.headers, c.context)))
		if c.sym != "" {
			s.Add(source("app.sym", []byte(c.sym)))
		}
		r := s.Report(0)
		if r.System.Display != "Linux, amd64" {
			t.Errorf("the system: %s", r.System.Display)
		}
		got := ""
		for i, f := range r.Threads[0].Frames {
			if i < 2 && (i == 0 || c.sym != "") {
				name := f.Function.Raw
				if name == "" {
					name = "?"
				}
				got += fmt.Sprintf(" %s %d", name, f.Module)
			}
		}
		if got != " "+c.want {
			t.Errorf("headers %v, symbols %v: %s, not %s", c.headers, c.sym != "", got, c.want)
		}
		if r.Crash.Address != 0x18 || r.Crash.Reason.Name != "SIGSEGV / SEGV_MAPERR" || len(r.Crash.Params) > 0 {
			t.Errorf("%+v", r.Crash)
		}
		if m := r.Messages; len(m) != 1 || m[0] != (report.Message{Source: "LLDB", Text: "SIGSEGV: address not mapped to object (fault address=0x18)", Private: true}) {
			t.Errorf("%v", m)
		}
	}
	// The peers refuse such a context.
	s := NewFiles(Options{Policy: walker.Breakpad})
	s.Add(source("a.dmp", lldbDump(false, "amd64-lldb")))
	if r := s.Report(0); len(r.Threads[0].Frames) > 0 || r.Threads[0].Stop.Kind != string(walker.StopNoContext) {
		t.Errorf("%+v", r.Threads[0].Stop)
	}
}
