package session_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// TestLoongArch: a dump whose processor number 32-bit riscv has too is read as what its context
// record says, and its stack is walked by the program's call frame information, by frame pointers
// without the program, and by a scan where those lead nowhere. Both forms of the record are read.
func TestLoongArch(t *testing.T) {
	const program, base, stack = "../../symfile/elf/testdata/loongarch64-linux-musl.elf", 0x120000000, 0x7ffffb0000
	id, _ := hex.DecodeString("be3c10ab3843ffe85317a2c4848bdff985174da9") // its build id
	for _, kind := range []string{"loongarch64", "loongarch64-528"} {
		for _, c := range []struct {
			name    string
			program bool
			fp      uint64
			want    string
		}{
			// run's frame has 48 bytes: its return address is at fp − 8, its caller's fp at fp −
			// 16.
			{"call frame information", true, stack + 48, "loongarch64: run+0x70 context, run+0x7c cfi, end"},
			{"frame pointers", false, stack + 48, "loongarch64: 0x1510 context, 0x151c frame_pointer, end"},
			{"scan", false, 3, "loongarch64: 0x1510 context, 0x151c scan, nothing-found"},
		} {
			words := make([]uint64, 14)
			words[5], words[4] = base+0x1520, stack+96 // after the call at 0x151c
			ctx := dumptest.Context(dumptest.LittleEndian, kind, map[string]uint64{"pc": base + 0x1510, "sp": stack, "fp": c.fp, "ra": base + 0x1510})
			var mem []byte
			for _, w := range words {
				mem = binary.LittleEndian.AppendUint64(mem, w)
			}
			dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 0x8005, Platform: dumptest.OSLinux}).
				Module(base, 0x4000, "/opt/app", dumptest.ELF(id)).Thread(7, ctx, stack, mem).Exception(7, 11, 1, 0, ctx).Bytes()
			s := session.NewFiles(session.Options{OpenBinary: readers.Open})
			s.Add(input.New("app.dmp", bytes.NewReader(dump), int64(len(dump))))
			if c.program {
				if it := s.Add(fileSource(t, program))[0]; !it.Usable {
					t.Fatal(it.Message)
				}
			}
			r := s.Report(0)
			var frames []string
			for _, f := range r.Threads[0].Frames {
				where := fmt.Sprintf("0x%x", f.Lookup-base)
				if f.Function.Raw != "" {
					where = fmt.Sprintf("%s+0x%x", f.Function.Raw, f.Lookup-f.FunctionStart)
				}
				frames = append(frames, where+" "+f.Trust)
			}
			if got := r.System.CPU + ": " + strings.Join(append(frames, r.Threads[0].Stop.Kind), ", "); got != c.want {
				t.Errorf("%s, %s: %s\nwant %s", kind, c.name, got, c.want)
			}
		}
	}
}
