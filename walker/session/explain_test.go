package session

import (
	"bytes"
	"encoding/binary"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
)

var update = flag.Bool("update", false, "rewrite testdata")

// story is a made dump with symbols, whose explanation is kept as a text.
type story struct {
	name string
	dump []byte
	syms []string
	// assign gives the first symbol file to module 0 by hand.
	assign bool
}

func words64(w ...uint64) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func words32(w ...uint32) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

var appELF = dumptest.ELF([]byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})

// linux is an amd64 program with one thread.
func linux(sp uint64, stackAt uint64, fault uint64, stack []byte, regs map[string]uint64) []byte {
	regs["rip"], regs["rsp"] = 0x401010, sp
	ctx := dumptest.AMD64(regs)
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", appELF).
		Thread(7, ctx, stackAt, stack).
		Exception(7, 11, 1, fault, ctx).
		Bytes()
}

// x86Sym is a symbol file of the i386 program whose unwind records a story chooses.
func x86Sym(records string) string {
	return "MODULE Linux x86 " + appID + " app\nFUNC 1000 100 0 crash_me\nFUNC 2000 100 8 caller\nFUNC 3000 100 0 main\n" + records
}

// linux32 is an i386 program: crash_me was called by caller, that by main; the frames have no frame
// pointer but main's.
func linux32() []byte {
	ctx := dumptest.X86(map[string]uint64{"eip": 0x8049010, "esp": 0xbfff0000, "ebp": 0xbfff0020, "ebx": 7})
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 0, Platform: 0x8201}).
		Module(0x8048000, 0x10000, "/opt/app", appELF).
		Thread(7, ctx, 0xbfff0000, words32(1, 0x804a020, 2, 3, 0xbfff0010, 0x804b030, 6, 7, 0, 0, 0, 0)).
		Exception(7, 11, 1, 0x45, ctx).
		Bytes()
}

// cutShort is a dump whose stack memory lies beyond the end of the file.
func cutShort(dump []byte) []byte {
	d, err := core.Open(source("x.dmp", dump))
	if err != nil {
		panic(err)
	}
	at := d.Threads[0].Stack
	place := func(off uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(at.Size)), off)
	}
	return bytes.ReplaceAll(dump, place(uint32(at.Off)), place(uint32(len(dump)+0x1000)))
}

func stories() []story {
	plain := words64(1, 0x402020, 2, 0, 3, 4)
	mixed := words64(5, 0x407777, 0x402020, 6, 0x403030, 7, 0, 0)
	names := "FUNC 1000 100 0 crash_me\nFUNC 2000 100 0 middle\nFUNC 3000 100 0 main\n"
	deep := make([]uint64, 0, 64)
	for range 30 {
		deep = append(deep, 1, 0x401020)
	}
	ios := dumptest.ARM64(map[string]uint64{"pc": 0x100401010, "sp": 0x16fe0000, "fp": 0x16fe0010, "lr": 0x100402020})
	return []story{
		{name: "call-frame-information", dump: appDump(), syms: []string{appSym(appID)}},
		{name: "scan-without-symbols", dump: linux(0x7ffe0000, 0x7ffe0000, 0x45, mixed, map[string]uint64{"rbp": 0})},
		{name: "names-without-stack-records", dump: linux(0x7ffe0000, 0x7ffe0000, 0x45, mixed, map[string]uint64{"rbp": 0}),
			syms: []string{"MODULE Linux x86_64 " + appID + " app\n" + names}},
		{name: "other-build", dump: appDump(), syms: []string{appSym(otherID)}},
		{name: "assigned-by-hand", dump: appDump(), syms: []string{appSym(otherID)}, assign: true},
		{name: "record-without-ra", dump: linux(0x7ffe0000, 0x7ffe0000, 0x45, plain, map[string]uint64{"rbp": 0}),
			syms: []string{"MODULE Linux x86_64 " + appID + " app\n" + names + "STACK CFI INIT 1000 100 .cfa: $rsp 16 +\n"}},
		{name: "eip-in-place-of-ra", dump: linux32(), syms: []string{x86Sym("STACK CFI INIT 1000 100 .cfa: $esp 8 + $eip: .cfa -4 + ^\nSTACK CFI INIT 2000 100 .cfa: $ebp 8 + .ra: .cfa -12 + ^ $ebp: .cfa -800 + ^\n")}},
		{name: "stack-win", dump: linux32(), syms: []string{x86Sym("STACK WIN 0 1000 100 0 0 0 4 0 0 0 0\nSTACK WIN 4 2000 100 0 0 8 0 8 0 1 $T0 $esp 8 + = $eip $T0 4 + ^ = $esp $T0 8 + = $ebp $T0 ^ =\n")}},
		{name: "return-address-zero", dump: linux(0x7ffe0000, 0x7ffe0000, 0x45, words64(1, 0, 2, 0x402020, 3, 0x403030), map[string]uint64{}),
			syms: []string{"MODULE Linux x86_64 " + appID + " app\n" + names + "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"}},
		{name: "go-stack-switch", dump: linux(0x7ffe0000, 0x7ffe0000, 0x45, words64(1, 0x402020, 0x20, 0xc000001000, 3, 0x402020), map[string]uint64{}),
			syms: []string{"MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 crash_me\nFUNC 2000 100 0 runtime.asmcgocall\nSTACK CFI INIT 1000 2000 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"}},
		{name: "no-stack-memory", dump: linux(0x7ffe0000, 0, 0x45, nil, map[string]uint64{})},
		{name: "file-cut-short", dump: cutShort(appDump())},
		{name: "sp-outside", dump: linux(0x5ffe0000, 0x7ffe0000, 0x45, plain, map[string]uint64{})},
		{name: "overflow", dump: linux(0x7ffe0000, 0x7ffe0000, 0x7ffdfff8, words64(append(deep, 2, 0x402020, 2, 0)...), map[string]uint64{}),
			syms: []string{appSym(appID)}},
		{name: "overflow-without-stack", dump: linux(0x7ffe0000, 0x7ffe1000, 0x7ffdfff8, plain, map[string]uint64{})},
		{name: "pointer-authentication", syms: []string{"MODULE mac arm64 " + appID + " app\n" + names + "STACK CFI INIT 1000 100 .cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^\n"},
			dump: dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 12, Platform: 0x8101}).
				Module(0x100400000, 0x10000, "/Applications/app", dumptest.RSDS(0x00112233, 0x4455, 0x6677, [8]byte{0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}, 0, "app")).
				Thread(7, ios, 0x16fe0000, words64(0x16fe0020, 0x00aa000100402020, 0, 0, 0, 0)).Exception(7, 1, 1, 0x45, ios).Bytes()},
		{name: "32-bit-by-64-bit-tool", dump: wow64Dump()},
		{name: "32-bit-code-by-64-bit-tool", dump: wow64Running()},
		{name: "thread-not-listed", dump: dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
			Module(0x400000, 0x10000, "/opt/app", appELF).Memory(0x7ffe0000, plain).Thread(7, nil, 0, nil).Exception(777, 11, 1, 0x45, at(0x401010)).Bytes(), syms: []string{appSym(appID)}},
		{name: "entries-of-code", dump: dumptest.Sentry{Release: 132, Mode: "stack", CPU: "amd64", ID: sentryID}.Bytes(), syms: []string{"MODULE Linux x86_64 " + appID + " app\nFUNC 1000 100 0 crash_me\n"}},
		{name: "two-exceptions", dump: dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
			Module(0x400000, 0x10000, "/opt/app", appELF).Thread(7, at(0x401000), 0x7ffe0000, plain).Thread(8, at(0x402000), 0x7ffe0000, plain).
			Exception(7, 11, 1, 0x45, at(0x401010)).Exception(8, 8, 1, 0x402010, at(0x402010)).Bytes(), syms: []string{appSym(appID)}},
		{name: "nested-exception", dump: dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2}).
			Module(0x400000, 0x10000, `C:\app.exe`, nil).Thread(7, at(0x401010), 0x7ffe0000, plain).
			Memory(0x5000, dumptest.ExceptionRecord(8, 0xc0000005, 0, 0x9000, 0x402000, 1, 0xabcd0000)).
			Exception(7, 0xc0000025, 1, 0x401010, at(0x401010)).Nest(0x5000).Bytes()},
		{name: "no-system-no-name", dump: dumptest.New(dumptest.LittleEndian).
			Module(0x400000, 0x10000, "", nil).Thread(7, at(0x401010), 0x7ffe0000, plain).Exception(7, 11, 1, 0x45, at(0x401010)).Bytes()},
	}
}

// at is the context of an amd64 thread on the stack at 0x7ffe0000.
func at(pc uint64) []byte {
	return dumptest.AMD64(map[string]uint64{"rip": pc, "rsp": 0x7ffe0000, "cs": 0x33})
}

// wow64Dump is a 32-bit process, dumped by a 64-bit tool. Thread 1 crashed; of thread 2 the dump
// lacks what the 64-bit layer has saved.
func wow64Dump() []byte {
	layer := dumptest.AMD64(map[string]uint64{"rip": 0x77401cfc, "rsp": 0x8e000, "cs": 0x33})
	teb, reserved := dumptest.ThreadTEB(1), uint64(0x8fd20)
	saved := dumptest.X86(map[string]uint64{"eip": 0x401010, "esp": 0x19f000, "ebp": 0x19f008, "cs": 0x23})
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2, Level: 6}).
		Module(0x400000, 0x10000, `C:\app.exe`, nil).Module(0x77400000, 0x10000, `C:\Windows\System32\wow64cpu.dll`, nil).
		Module(0x77500000, 0x10000, `C:\Windows\SysWOW64\ntdll.dll`, nil).Module(0x7ffb20000000, 0x10000, `C:\Windows\System32\ntdll.dll`, nil).
		Thread(1, layer, 0x8e000, words64(0x7ffb20001234, 0, 0, 0)).Thread(2, layer, 0x8e000, words64(0x7ffb20001234, 0, 0, 0)).
		Memory(teb, dumptest.TEB64(teb, 0, reserved)).Memory(reserved, dumptest.Reserved(0x14c, 4, saved)).
		Memory(0x19f000, words32(0, 0, 0x19f010, 0x402020, 0, 0x77502222, 0, 0)).
		Exception(1, 0xc0000005, 0, 0x401010, layer, 0, 0x10).Bytes()
}

// wow64Running is a dump of the same kind, whose threads were running 32-bit code. Of thread 2 the
// dump does not show what it had left in the 64-bit layer.
func wow64Running() []byte {
	const teb32, gate = 0x7fe00000, 0x77406000
	running := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x19f000, "rbp": 0x19f008, "cs": 0x23,
		"r12": dumptest.ThreadTEB(1), "r14": 0x8e000, "r15": 0x77404660})
	teb := dumptest.ThreadTEB(1)
	id := func(n uint32, name string) dumptest.CodeView {
		return dumptest.RSDS(n, 1, 2, [8]byte{3, 4, 5, 6, 7, 8, 9, 10}, 1, name)
	}
	return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 2, Level: 6}).
		Module(0x400000, 0x10000, `C:\app.exe`, id(1, "app.pdb")).Module(0x77400000, 0x10000, `C:\Windows\System32\wow64cpu.dll`, id(2, "wow64cpu.pdb")).
		Module(0x7ffb10000000, 0x10000, `C:\Windows\System32\wow64.dll`, id(3, "wow64.pdb")).
		Thread(1, running, 0x19f000, words32(0, 0, 0x19f010, 0x402020, 0, 0)).Thread(2, running, 0x19f000, words32(0, 0, 0x19f010, 0x402020, 0, 0)).
		Memory(teb, dumptest.KeepStack(dumptest.TEB64(teb, teb32, 0), 0x8e000, 0x90000, 0)).
		Memory(teb32, dumptest.Enter(dumptest.TEB32(teb32, 0), gate)).Memory(gate, dumptest.FarJump(0x77401782, 0x33)).
		Memory(0x8e000, words64(0, 0, 0x7ffb10001234, 0, 0, 0x7ffb10002345, 0)).
		Exception(1, 0xc0000005, 0, 0x401010, running, 0, 0x10).Bytes()
}

// open opens the dump and adds the symbols.
func (st *story) open(t *testing.T) *Files {
	t.Helper()
	s := NewFiles(Options{Policy: walker.Best, Demangle: demangle.Name})
	s.Add(source("x.dmp", st.dump))
	for _, sym := range st.syms {
		it := s.Add(source("app.sym", []byte(sym)))
		if st.assign {
			if err := s.Assign(it[0].ID, 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// TestFindingsHaveStories: a story has each kind of finding but the named ones, which have none yet
// (TestExplainSwapped has one of them).
func TestFindingsHaveStories(t *testing.T) {
	told := map[report.FindingKind]bool{report.FindingLimit: true, report.FindingNoContext: true, report.FindingSwapped: true, report.FindingExports: true,
		report.FindingNoDebug: true, report.FindingBadRecord: true, report.FindingUnreadable: true}
	for _, st := range stories() {
		for _, f := range st.open(t).Report(0).Findings {
			told[f.Kind] = true
		}
	}
	for name, k := range enumtest.Strings[report.FindingKind](t, "../report", "FindingKind") {
		if !told[k] {
			t.Errorf("no story has a finding of report.%s", name)
		}
	}
}

// Each story's explanation, comparison and findings are as they were when somebody read and
// believed them.
func TestExplainStories(t *testing.T) {
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) {
			got := storyText(t, st.open(t))
			path := "testdata/explain/" + st.name + ".txt"
			if *update {
				if err := os.MkdirAll("testdata/explain", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s (rewrite it with -update if that is right):\n%s", path, got)
			}
		})
	}
}

func storyText(t *testing.T, s *Files) string {
	t.Helper()
	r := s.Report(0)
	var b bytes.Buffer
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	fail(text.WriteFindings(&b, r))
	for f := range r.Threads[0].Frames {
		if f == 4 {
			b.WriteString("\n…\n")
			break
		}
		x, err := s.Session(0).Explain(0, f)
		fail(err)
		b.WriteByte('\n')
		fail(text.WriteExplanation(&b, r, x))
	}
	c, err := s.Session(0).Compare(0)
	fail(err)
	b.WriteByte('\n')
	fail(text.WriteComparison(&b, r, c))
	// Registers that say nothing make the texts long.
	lines := strings.SplitAfter(b.String(), "\n")
	kept := lines[:0]
	for _, l := range lines {
		if !strings.Contains(l, "0x0000000000000000 → unknown") && !strings.HasSuffix(l, " 0x0000000000000000\n") &&
			!strings.Contains(l, "0x00000000 → unknown") && !strings.HasSuffix(l, " 0x00000000\n") {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "")
}

// The swapped registers of the i386 macOS case are explained, with the rules as they stand and as they
// were used.
func TestExplainSwapped(t *testing.T) {
	s := swappedSession(t, swappedRules, walker.Best)
	x, err := s.Session(0).Explain(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.WriteExplanation(&b, s.Report(0), x); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"with esp and ebp swapped", "line 8: STACK CFI 1931 $esp: .cfa -8 + ^ .cfa: $ebp 8 +", "0xbffd5f58 + 8 = 0xbffd5f60"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	found := false
	for _, f := range s.Report(0).Findings {
		found = found || f.Kind == "esp-ebp-exchanged" && f.Module == 0 && strings.Contains(f.Text, "BreakpadTest.sym has esp and ebp swapped")
	}
	if !found {
		t.Errorf("findings: %+v", s.Report(0).Findings)
	}
	for _, f := range swappedSession(t, rightRules, walker.Best).Report(0).Findings {
		if f.Kind == "esp-ebp-exchanged" {
			t.Errorf("a right file is accused: %+v", f)
		}
	}
}

func TestExplainNothing(t *testing.T) {
	s := NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	for _, c := range [][2]int{{1, 0}, {-1, 0}, {0, 99}, {0, -1}} {
		if _, err := s.Session(0).Explain(c[0], c[1]); err == nil {
			t.Errorf("thread %d frame %d is explained", c[0], c[1])
		}
	}
	if _, err := s.Session(0).Compare(3); err == nil {
		t.Error("no thread")
	}
	// A change of policy is a change of what is explained.
	s.SetPolicy(walker.FPOnly)
	if x, err := s.Session(0).Explain(0, 0); err != nil || x.End == nil || x.End.Attempts[0].Source != "frame-pointer" {
		t.Errorf("%+v, %v", x, err)
	}
}
