package session_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// microdump is a log with a microdump: a crash in lib's function, called from main.
func microdump(fingerprint string) string {
	stack := make([]byte, 64)
	copy(stack[8:], []byte{0x05, 0x21, 0x40, 0x00}) // a return address into main
	return dumptest.Micro{
		Product: "App:1.2", Process: "webview", OS: "A", Arch: "arm", CPUs: 4, Hardware: "armv7l", Fingerprint: fingerprint,
		GPU: "OpenGL|Vendor|Card|more", Signal: 11, SignalName: "SIGSEGV", Address: 0xfffffff0,
		SP: 0x7000, StackStart: 0x7000, Stack: stack,
		Context: dumptest.ARM(map[string]uint64{"pc": 0x501010, "sp": 0x7000}),
		Modules: []dumptest.MicroModule{
			{Base: 0x400000, Size: 0x10000, ID: "0102030405060708090A0B0C0D0E0F100", Name: "app"},
			{Base: 0x500000, Size: 0x10000, ID: "112233445566778899AABBCCDDEEFF000", Name: "lib.so (deleted)"},
		},
	}.Log("08-17 19:45:06.579 F/google-breakpad(25655): ", "\r\n")
}

const microSym = "MODULE android arm 0102030405060708090A0B0C0D0E0F100 app\nFILE 0 main.c\nFUNC 2000 200 0 main\n2000 200 7 0\n"

func TestMicrodump(t *testing.T) {
	s := session.NewFiles(session.Options{Policy: walker.Breakpad})
	items := s.Add(input.FromBytes("log.txt", []byte("before\n"+microdump("maker/x"))))
	if len(items) != 1 || items[0].Kind != session.KindDump || !items[0].Usable || items[0].Name != "log.txt" || items[0].Dump != 0 {
		t.Fatalf("items: %+v", items)
	}
	s.Add(input.FromBytes("app.sym", []byte(microSym)))
	r := s.Report(0)
	if !r.Dump.Micro || r.Process.Product != "App:1.2" || r.Process.Type != "webview" || *r.System.GPU != (report.GPU{Version: "OpenGL", Vendor: "Vendor", Renderer: "Card"}) ||
		r.Process.Name != "app" || r.Dump.Size != int64(len(microdump("maker/x"))) {
		t.Errorf("report: %+v %+v %+v", r.Dump, r.Process, r.System)
	}
	if c := r.Crash; c == nil || c.Thread != 0 || c.Address != 0xfffffff0 || !strings.Contains(c.Event.String(), "memory at 0xfffffff0") {
		t.Errorf("crash: %+v", c)
	}
	const want = `Operating system: Android
                  maker/x
CPU: arm
     4 CPUs

GPU: OpenGL
     Vendor
     Card

Crash reason:  SIGSEGV
Crash address: 0xfffffff0
Process uptime: not available

Thread 0 (crashed)
 0  lib.so + 0x1010
`
	const wantEnd = ` 1  app!main [main.c : 7 + 0x103]
     sp = 0x0000700c    pc = 0x00402105
    Found by: stack scanning

Loaded modules:
0x00400000 - 0x0040ffff  app  ???
0x00500000 - 0x0050ffff  lib.so  ???  (WARNING: No symbols, lib.so, 112233445566778899AABBCCDDEEFF000)
`
	var b bytes.Buffer
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, wantEnd) {
		t.Errorf("text:\n%s", got)
	}
	b.Reset()
	if err := text.WriteMachine(&b, r); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "GPU|OpenGL|Vendor|Card\nCrash|SIGSEGV|0xfffffff0|0\n") ||
		!strings.Contains(got, "Module|lib.so||lib.so|112233445566778899AABBCCDDEEFF000|0x00500000|0x0050ffff|0\n") {
		t.Errorf("machine:\n%s", got)
	}
}

// TestMicrodumps: several in one log are dumps of their own, which get symbols alike.
func TestMicrodumps(t *testing.T) {
	s := session.NewFiles(session.Options{})
	s.Add(input.FromBytes("app.sym", []byte(microSym)))
	items := s.Add(input.FromBytes("log.txt", []byte(microdump("one")+"noise\n"+microdump("two"))))
	if len(items) != 3 || items[0].Kind != session.KindArchive || !items[0].Usable || items[0].Dump != -1 {
		t.Fatalf("items: %+v", items)
	}
	for i, it := range items[1:] {
		if it.Name != []string{"log.txt #1", "log.txt #2"}[i] || it.Dump != i || it.Kind != session.KindDump {
			t.Errorf("item %d: %+v", i, it)
		}
		r := s.Report(i)
		if fr := r.Threads[0].Frames; r.System.OSVersion != []string{"one", "two"}[i] || len(fr) != 2 || fr[1].Function.Raw != "main" {
			t.Errorf("report %d: %+v", i, r.Threads[0])
		}
	}
	if items := s.Add(input.FromBytes("x", []byte("-----BEGIN BREAKPAD MICRODUMP----- is what I searched for"))); len(items) != 1 {
		t.Errorf("a text that speaks of microdumps: %+v", items)
	}
}

// TestMicrodumpOutput compares Breakpad's own microdumps with microdump_stackwalk's output, byte
// for byte.
func TestMicrodumpOutput(t *testing.T) {
	corpus(t) // skips without one
	at := func(parts ...string) string { return filepath.Join(append([]string{corpusRoot}, parts...)...) }
	equal, outputs := 0, 0
	for _, name := range []string{"arm", "arm64", "mips64", "multiple", "withcrashreason"} {
		s := session.NewFiles(session.Options{Policy: walker.Breakpad})
		add := func(path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s.Add(input.FromBytes(path, data))
		}
		add(at("breakpad/dumps/microdump-" + name + ".dmp"))
		// Breakpad reads the first microdump of a log only.
		for _, m := range s.Report(0).Modules {
			if p := at("breakpad/symbols", filepath.FromSlash(report.StorePath(m.DebugFile, m.DebugID))); m.DebugID != "" && exists(p) {
				add(p)
			}
		}
		for _, f := range []struct {
			golden string
			write  func(io.Writer, *report.Report) error
		}{
			{at("golden/microdump-" + name + ".breakpad.txt"), text.Write},
			{at("golden/microdump-" + name + ".breakpad-m.txt"), text.WriteMachine},
			{at("breakpad/expected/microdump.stackwalk-" + name + ".out"), text.Write},
			{at("breakpad/expected/microdump.stackwalk.machine_readable-" + name + ".out"), text.WriteMachine},
		} {
			want, err := os.ReadFile(f.golden)
			if err != nil {
				if strings.Contains(f.golden, "golden") {
					t.Error(err)
				}
				continue // Breakpad's repository has expectations for two of them
			}
			outputs++
			var got bytes.Buffer
			if err := f.write(&got, s.Report(0)); err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(got.Bytes(), want) {
				equal++
				continue
			}
			t.Errorf("%s differs\n%s", f.golden, firstDifference(got.String(), string(want)))
		}
	}
	t.Logf("microdumps: %d of %d outputs equal byte for byte", equal, outputs)
}
