package microdump_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/microdump"
)

// sample is a microdump with every record, of more than one chunk of stack.
func sample() dumptest.Micro {
	stack := make([]byte, 1000)
	for i := range stack {
		stack[i] = byte(i * 7)
	}
	return dumptest.Micro{
		Product: "AndroidWebView:62.0.3188.0", Process: "webview", GPU: "OpenGL ES 3.1 V@136|Qualcomm|Adreno (TM) 418",
		OS: "A", Arch: "arm", CPUs: 0x10, Hardware: "armv8l", Fingerprint: "maker/model/x:6.0 user/release-keys",
		Signal: 11, SignalName: "SIGSEGV", Address: 0x10,
		SP: 0xc3a39010, StackStart: 0xc3a39000, Stack: stack,
		Context: dumptest.ARM(map[string]uint64{"pc": 0xaab37124, "sp": 0xc3a39010, "r0": 1}),
		Modules: []dumptest.MicroModule{
			{Base: 0xaab37000, Size: 0x5000, ID: "CDDB210E1401729DD9368E97D91BFA6F0", Name: "app_process32"},
			{Base: 0xd403b000, Offset: 0x2000, Size: 0xc000, ID: "000000000000000000000000000000000", Name: "dalvik-jit-code-cache (deleted)"},
		},
		Gaps: "12C00000 FFF73000 00D9 31E89000 975F4000 0C:18 1D:01",
	}
}

const prefix = "08-17 19:45:06.579 F/google-breakpad(25655): "

func read(t testing.TB, text string) []*core.Dump {
	t.Helper()
	dumps, err := microdump.Read(input.FromBytes("log.txt", []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return dumps
}

func TestRead(t *testing.T) {
	dumps := read(t, "08-17 19:45:06.1 I/chatty( 1): hello\n"+sample().Log(prefix, "\n"))
	if len(dumps) != 1 {
		t.Fatalf("%d dumps", len(dumps))
	}
	d := dumps[0]
	if len(d.Diags) > 0 {
		t.Errorf("diagnosed: %v", d.Diags[0].Err)
	}
	m := *d.Micro
	want := core.Micro{FirstLine: 2, LastLine: 16, Size: int64(len(sample().Log(prefix, "\n"))), Complete: true,
		Product: "AndroidWebView:62.0.3188.0", ProcessType: "webview", Arch: "arm", Hardware: "armv8l",
		Fingerprint: "maker/model/x:6.0 user/release-keys", Signal: "SIGSEGV",
		GPU:           &core.GPU{Version: "OpenGL ES 3.1 V@136", Vendor: "Qualcomm", Renderer: "Adreno (TM) 418"},
		Stack:         &core.MicroStack{Pointer: 0xc3a39010, Start: 0xc3a39000, Size: 1000},
		ModuleOffsets: []uint64{0, 0x2000},
		Space: &core.AddressSpace{Low: 0x12c00000, High: 0xfff73000, Gaps: 0xd9, Largest: 0x31e89000, Sum: 0x975f4000,
			BySize: []core.GapCount{{Bit: 0xc, Count: 0x18}, {Bit: 0x1d, Count: 1}}},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("Micro is\n%+v\nnot\n%+v", m, want)
	}
	if d.Src.Name != "log.txt" || d.OS() != core.Android || d.System.Processor != core.ProcARM || d.System.CPUCount != 16 {
		t.Errorf("system: %s %+v", d.Src.Name, d.System)
	}
	if e := d.Exception; e == nil || e.Code != 11 || e.Address != 0x10 || e.ThreadID != 0 {
		t.Errorf("exception: %+v", e)
	}
	if d.OSName() != "Android" || d.OSVersion() != m.Fingerprint || d.CPUName() != "arm" || d.CPUInfo() != m.Hardware || d.BuildText() != nil {
		t.Errorf("%s %s, %s %s", d.OSName(), d.OSVersion(), d.CPUName(), d.CPUInfo())
	}

	c, err := d.ThreadContext(0)
	if err != nil || len(d.Threads) != 1 {
		t.Fatalf("%d threads: %v", len(d.Threads), err)
	}
	if c.Arch != cpu.ARM || c.Regs.PC() != 0xaab37124 || c.Regs.SP() != 0xc3a39010 {
		t.Errorf("registers: %s pc 0x%x sp 0x%x", c.Arch.Name, c.Regs.PC(), c.Regs.SP())
	}
	if c, err := d.ExceptionContext(); err != nil || c.Regs.PC() != 0xaab37124 {
		t.Errorf("exception context: %v", err)
	}
	stack := sample().Stack
	for name, s := range map[string]*core.StackMemory{"own": d.ThreadStack(0), "at sp": d.StackAt(0, c.Regs.SP())} {
		if s == nil || s.Start != 0xc3a39000 || s.End != 0xc3a39000+1000 {
			t.Fatalf("%s stack: %+v", name, s)
		}
		if v, ok := s.Word(0xc3a39000+382, 4); !ok || v != uint64(binary.LittleEndian.Uint32(stack[382:])) {
			t.Errorf("%s stack: a word across two lines is 0x%x, %v", name, v, ok)
		}
	}
	if v, ok := d.Memory.Word(0xc3a39000+996, 4); !ok || v != uint64(binary.LittleEndian.Uint32(stack[996:])) {
		t.Errorf("memory: 0x%x, %v", v, ok)
	}

	if len(d.Modules) != 2 {
		t.Fatalf("modules: %+v", d.Modules)
	}
	app, jit := &d.Modules[0], &d.Modules[1]
	if app.Base != 0xaab37000 || app.Size != 0x5000 || app.Name != "app_process32" || app.DebugFile != "app_process32" ||
		app.DebugID != "CDDB210E1401729DD9368E97D91BFA6F0" || app.StoredID() != app.DebugID {
		t.Errorf("module: %+v", app)
	}
	if jit.Name != "dalvik-jit-code-cache (deleted)" || jit.DebugID != "" || jit.StoredID() != strings.Repeat("0", 33) {
		t.Errorf("module without an id: %+v", jit)
	}
}

// TestPrefixes: the same microdump in every form that a log can have says the same.
func TestPrefixes(t *testing.T) {
	want := read(t, sample().Log(prefix, "\n"))[0]
	for name, text := range map[string]string{
		"brief":      sample().Log("F/google-breakpad( 3745): ", "\n"),
		"time":       sample().Log("02-25 07:54:01.688 F/google-breakpad(13589): ", "\r\n"),
		"threadtime": sample().Log("02-23 15:49:14.700  1740  1739 F google-breakpad: ", "\n"),
		"tag":        sample().Log("F/google-breakpad: ", "\n"),
		"bare":       sample().Log("", "\n"),
		"long":       sample().Log("[ 08-17 19:45:06.579 25655:25655 F/google-breakpad ]\n", "\n\n"),
		"chatty":     strings.ReplaceAll(sample().Log(prefix, "\n"), "\n", "\n08-17 19:45:06.1 I/google-breakpad-not-at-all( 1): C 00\n"),
		"no end":     strings.TrimSuffix(sample().Log(prefix, "\n"), "\n"),
	} {
		got := read(t, text)
		if len(got) != 1 {
			t.Errorf("%s: %d dumps", name, len(got))
			continue
		}
		g := got[0]
		g.Micro.FirstLine, g.Micro.LastLine, g.Micro.Size = want.Micro.FirstLine, want.Micro.LastLine, want.Micro.Size
		if !reflect.DeepEqual(g.Micro, want.Micro) || !reflect.DeepEqual(g.Modules, want.Modules) || len(g.Diags) > 0 ||
			!reflect.DeepEqual(g.Threads, want.Threads) {
			t.Errorf("%s: differs: %+v %v", name, g.Micro, g.Diags)
		}
	}
}

// TestSeveral: several microdumps in a log, some of them between each other's lines, one cut off by
// the next, and a log that begins in the middle of one.
func TestSeveral(t *testing.T) {
	one, two := sample(), sample()
	two.Product, two.Address = "Other:1.0", 0x20
	a, b := one.Lines(), two.Lines()
	var text strings.Builder
	tail := a[len(a)-3:]
	for _, line := range tail { // the end of one that began before the log
		fmt.Fprintf(&text, "F/google-breakpad( 1): %s\n", line)
	}
	for i := range a {
		fmt.Fprintf(&text, "F/google-breakpad( 2): %s\nF/google-breakpad( 3): %s\n", a[i], b[i])
	}
	for _, line := range a[:5] { // its process was killed while it wrote
		fmt.Fprintf(&text, "F/google-breakpad( 4): %s\n", line)
	}
	text.WriteString(two.Log("F/google-breakpad( 4): ", "\n"))
	dumps := read(t, text.String())
	if len(dumps) != 4 {
		t.Fatalf("%d dumps", len(dumps))
	}
	for i, want := range []struct {
		name, product string
		complete      bool
		modules       int
	}{
		{"log.txt #1", "AndroidWebView:62.0.3188.0", true, 2},
		{"log.txt #2", "Other:1.0", true, 2},
		{"log.txt #3", "AndroidWebView:62.0.3188.0", false, 0},
		{"log.txt #4", "Other:1.0", true, 2},
	} {
		d := dumps[i]
		if d.Src.Name != want.name || d.Micro.Product != want.product || d.Micro.Complete != want.complete || len(d.Modules) != want.modules {
			t.Errorf("dump %d is %s: %+v with %d modules, not %+v", i, d.Src.Name, d.Micro, len(d.Modules), want)
		}
		if want.complete != (len(d.Diags) == 0) {
			t.Errorf("%s: diagnostics %v", want.name, d.Diags)
		}
	}
}

func TestNone(t *testing.T) {
	var fe *input.FormatError
	for _, text := range []string{"", "hello", "google-breakpad", prefix + "M 1 2 3 4 5"} {
		if _, err := microdump.Read(input.FromBytes("log.txt", []byte(text))); !errors.As(err, &fe) {
			t.Errorf("%q: %v", text, err)
		}
	}
	need := &input.NeedError{Name: "log.txt"}
	src := input.New("log.txt", brokenReader{need}, 100)
	if _, err := microdump.Read(src); !errors.Is(err, need) {
		t.Errorf("bytes that are not there yet: %v", err)
	}
	src = input.New("log.txt", brokenReader{io.ErrClosedPipe}, 100)
	if _, err := microdump.Read(src); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a read error: %v", err)
	}
}

type brokenReader struct{ err error }

func (b brokenReader) ReadAt([]byte, int64) (int, error) { return 0, b.err }

// TestContexts: every processor that the writer knows.
func TestContexts(t *testing.T) {
	for _, c := range []struct {
		arch    string
		context []byte
		want    *cpu.Arch
		pc      uint64
		wide    bool
	}{
		{"x86", dumptest.X86(map[string]uint64{"eip": 0x1234, "esp": 0x5000}), cpu.X86, 0x1234, false},
		{"x86_64", dumptest.AMD64(map[string]uint64{"rip": 0x7f0012345678, "rsp": 0x5000}), cpu.AMD64, 0x7f0012345678, true},
		{"arm", dumptest.ARM(map[string]uint64{"pc": 0x1234, "sp": 0x5000}), cpu.ARM, 0x1234, false},
		{"arm64", dumptest.ARM64(map[string]uint64{"pc": 0x7f00123456, "sp": 0x5000}), cpu.ARM64, 0x7f00123456, true},
		{"arm64", dumptest.ARM64Old(map[string]uint64{"pc": 0x7f00123456, "sp": 0x5000}), cpu.ARM64, 0x7f00123456, true},
	} {
		m := sample()
		m.OS, m.Arch, m.Context, m.Wide = "L", c.arch, c.context, c.wide
		m.SP, m.StackStart = 0x5000, 0x5000
		d := read(t, m.Log("", "\n"))[0]
		got, err := d.ThreadContext(0)
		if err != nil {
			t.Errorf("%s: %v", c.arch, err)
			continue
		}
		if got.Arch != c.want || got.Regs.PC() != c.pc || d.Arch() != c.want || d.CPUName() != c.want.Name ||
			d.OS() != core.OSLinux || len(d.Diags) > 0 {
			t.Errorf("%s: %s pc 0x%x, %v", c.arch, got.Arch.Name, got.Regs.PC(), d.Diags)
		}
		if s := d.ThreadStack(0); s == nil || s.Start != 0x5000 {
			t.Errorf("%s: no stack", c.arch)
		}
	}
}

// TestBudget: what reads a microdump draws from the log's budget.
func TestBudget(t *testing.T) {
	src := input.FromBytes("log", []byte(sample().Log("", "\n")))
	src.Budget = &input.Budget{}
	dumps, err := microdump.Read(src)
	if err != nil || len(dumps) != 1 || dumps[0].Src.Budget != src.Budget {
		t.Error(dumps, err)
	}
}
