package session

import (
	"bytes"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report/text"
)

// TestCore: a core has the stacks of a minidump of the same state, and the same first line. It says less of the system.
func TestCore(t *testing.T) {
	order := dumptest.LittleEndian
	const sp = 0x7ffe0000
	stack := words64(1, 0x402020, 5, 0x402030, 6, 0, 0, 0)
	regs := map[string]uint64{"rip": 0x401010, "rsp": sp, "rbp": 0, "rax": 0x10, "rbx": 7}
	ctx := dumptest.AMD64(regs)
	id := []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	minidump := dumptest.New(order).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", appELF).
		Thread(7, ctx, sp, stack).Exception(7, 11, 1, 0x10, ctx).Bytes()

	order64 := []string{"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx", "rsi", "rdi", "", "rip", "", "", "rsp", "", "", "", "", "", "", ""}
	var gregs []byte
	for _, name := range order64 {
		gregs = order.AppendUint64(gregs, regs[name])
	}
	core := dumptest.NewCore(order, true, 62).Thread(7, 11, gregs).Process(7, "app", "app").Signal(11, 1, 0x10).
		File(0x400000, 0x410000, 0, "/opt/app").
		Memory(0x400000, 0x1000, dumptest.Read, dumptest.ELFImage(order, true, 62, 0x10000, id)).
		Memory(0x401000, 0xf000, dumptest.Read|dumptest.Exec, nil).
		Memory(sp, 0x1000, dumptest.Read|dumptest.Write, stack).Bytes()

	walk := func(dump []byte) (s, first string) {
		fs := NewFiles(Options{})
		fs.Add(source("app.sym", []byte(appSym("00112233445566778899AABBCCDDEEFF0"))))
		fs.Add(source("dump", dump))
		r := fs.Report(0)
		var b bytes.Buffer
		if err := text.WriteMachine(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String(), r.Crash.Sentence()
	}
	want, wantFirst := walk(minidump)
	got, gotFirst := walk(core)
	want = strings.NewReplacer("OS|Linux|0.0.0", "OS|Linux|", "CPU|amd64|family 0 model 0 stepping 0|", "CPU|amd64||").Replace(want)
	if got != want || gotFirst != wantFirst {
		t.Errorf("%s\n%s\nthe minidump has\n%s\n%s", gotFirst, got, wantFirst, want)
	}
}
