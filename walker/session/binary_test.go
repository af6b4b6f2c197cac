package session

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// fakeBinary stands for a binary of the made dump's program. Its source names what it is: "id name
// flags".
type fakeBinary struct {
	id       symbol.Identity
	src      *input.Source
	attached []string
	noLines  bool
	noRules  bool   // code from 1000 on is push %rbx, and then nothing
	sum      string // the id that is made of a check sum
}

// fake is the content of a file that openFake opens: an ELF header, so that it is recognized, and
// words: id, name, kind, and the ids that are hashes of the code.
func fake(words string) []byte {
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	head[16], head[18] = 3, 62
	return append(head, words...)
}

func openFake(src *input.Source) (symbols.Binary, error) {
	b, err := src.Bytes(64, src.Size-64)
	if err != nil {
		return nil, err
	}
	w := strings.Fields(string(b))
	if w[0] == "broken" {
		return nil, errors.New(src.Name + ": section headers at offset 0x40: broken")
	}
	f := &fakeBinary{src: src, id: symbol.Identity{DebugID: strings.Trim(w[0], "-"), Name: w[1], Arch: "x86_64", OS: "Linux", Size: 0x10000, Code: w[2] != "debug"}}
	f.id.OtherIDs = w[3:]
	f.id.Sections = []symbol.Section{{Range: symbol.Range{Start: 0x2000, Size: 0x100}, Name: ".rodata"}}
	if f.id.DebugID != "" && !slices.Contains(f.id.OtherIDs, f.id.DebugID) {
		f.id.CodeID = strings.ToLower(f.id.DebugID)
	}
	f.noLines, f.noRules = w[2] == "plain", w[2] == "norules"
	return f, nil
}

func (f *fakeBinary) ChecksumID() (string, error) { return f.sum, nil }

func (f *fakeBinary) Identity() symbol.Identity { return f.id }
func (f *fakeBinary) Base() uint64              { return 0 }

func (f *fakeBinary) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	if rva >= 0x9000 {
		return symbol.Symbol{}, symbol.No, errors.New(f.src.Name + ": .debug_info at offset 0x10: broken")
	}
	for _, s := range []symbol.Symbol{{Name: "crash_me", Start: 0x1000, Size: 0x100}, {Name: "main", Start: 0x2000, Size: 0x100}} {
		if rva >= s.Start && rva < s.Start+s.Size {
			s.Name = f.id.Name + ":" + s.Name
			if !f.noLines {
				s.File, s.Line, s.HasLine = "/bin/src.c", 7, true
			}
			return s, symbol.Yes, nil
		}
	}
	return symbol.Symbol{}, symbol.No, nil
}

func (f *fakeBinary) Row(rva uint64) (unwind.Row, symbol.Answer, error) {
	if f.noRules {
		return unwind.Row{}, symbol.No, nil
	}
	return unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: cpu.AMD64.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8},
		Origin: unwind.Origin{File: f.src.Name, Part: ".eh_frame", Offset: 0x3a8}}, symbol.Yes, nil
}

func (*fakeBinary) Function(uint64) (symbol.Range, bool, error) { return symbol.Range{}, false, nil }

func (f *fakeBinary) FrameData(uint64) (unwind.FrameData, symbol.Answer, error) {
	return unwind.FrameData{}, symbol.NoFile, nil
}

func (f *fakeBinary) SourceSum(uint64, string) (symbol.Sum, error) { return symbol.Sum{}, nil }
func (f *fakeBinary) SourceLink(string) (string, error)            { return "", nil }
func (f *fakeBinary) Variables([]string) map[string]uint64         { return nil }
func (f *fakeBinary) Initial(uint64, []byte) int                   { return 0 }
func (f *fakeBinary) Pointer(uint64) (uint64, bool)                { return 0, false }
func (f *fakeBinary) Code(rva uint64, p []byte) int {
	for i := range p {
		p[i] = 0x90
		if f.noRules && rva+uint64(i) == 0x1000 {
			p[i] = 0x53
		}
	}
	return len(p)
}

func (f *fakeBinary) BigEndian() bool                                 { return false }
func (f *fakeBinary) IsARM(uint64) bool                               { return false }
func (f *fakeBinary) Names(int64, func(symbol.Symbol)) (int64, error) { return -1, nil }
func (f *fakeBinary) Has() symbol.Contents {
	return symbol.Contents{CFI: true, Functions: true, Lines: !f.noLines, Parts: []symbol.Part{{What: "unwind rules", File: f.src.Name, Section: ".eh_frame"}}}
}

func (f *fakeBinary) Warnings() []string        { return nil }
func (f *fakeBinary) Prefetch(_, _ []uint64)    {}
func (f *fakeBinary) NeedsPrefetch(uint64) bool { return false }

func (f *fakeBinary) Attach(src *input.Source) (bool, error) {
	if strings.HasSuffix(src.Name, ".wrong") {
		return false, errors.New(src.Name + ": another CRC")
	}
	if !strings.HasSuffix(src.Name, ".debug") {
		return false, nil
	}
	f.attached = append(f.attached, src.Name)
	f.noLines = false
	return true, nil
}

func withFakes() *Files { return NewFiles(Options{OpenBinary: openFake}) }

// fromOf says for every frame which function and line it has, who said so, and where its rules come
// from.
func fromOf(r *report.Report) string {
	var out []string
	for _, f := range r.Threads[0].Frames {
		s := f.Function.Raw + "/" + report.BaseName(f.File) + "/" + f.From
		if f.Source == "cfi" {
			s += "<" + f.Origin
		}
		if f.AssignedSymbols {
			s += "!"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// TestSectionOfProgram: the dump asks the module's program for the section of an address, and not one
// of another build.
func TestSectionOfProgram(t *testing.T) {
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	s.Add(source("app.elf", fake(otherID+" app code")))
	s.Report(0)
	d := s.sessions[0]
	if got, ok := d.Section(0x402010); ok {
		t.Errorf("a program of another build: %+v", got)
	}
	s.Add(source("app.elf", fake(appID+" app code")))
	s.Report(0)
	want := core.Section{Start: 0x402000, Size: 0x100, Name: ".rodata"}
	if got, ok := d.Section(0x402010); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, addr := range []uint64{0x401fff, 0x402100, 0x10} {
		if got, ok := d.Section(addr); ok {
			t.Errorf("0x%x: %+v", addr, got)
		}
	}
}

// A binary alone serves names, lines and rules; next to a symbol file each answers what the other
// cannot.
func TestBinaryAndSym(t *testing.T) {
	const fakeRule = "<app.elf .eh_frame+0x3a8"
	noCFI := strings.ReplaceAll(appSym(appID), "STACK CFI", "INFO")
	onlyPublic := "MODULE Linux x86_64 " + appID + " app\nPUBLIC 1000 0 exported\nSTACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n"
	for _, tc := range []struct {
		name, sym, elf, want string
	}{
		{"binary alone", "", appID + " app code", "app:crash_me/src.c/ app:main/src.c/" + fakeRule},
		{"both", appSym(appID), appID + " app code", "crash_me/main.c/a.sym main/main.c/a.sym<a.sym line 7"},
		{"symbols without rules", noCFI, appID + " app code", "crash_me/main.c/a.sym main/main.c/a.sym" + fakeRule},
		{"exports only", onlyPublic, appID + " app code", "app:crash_me/src.c/app.elf app:main/src.c/app.elf<a.sym line 3"},
		{"exports only, binary without lines", onlyPublic, appID + " app plain", "app:crash_me//app.elf app:main//app.elf<a.sym line 3"},
		{"binary of another build", "", otherID + " app code", "// "},
		{"no ids, by name and size", "", "- app code", "app:crash_me/src.c/ app:main/src.c/" + fakeRule},
		{"no ids, another name", "", "- other code", "// "},
		{"debug file alone", "", appID + " app debug", "app:crash_me/src.c/ app:main/src.c/" + fakeRule},
	} {
		s := withFakes()
		s.Add(source("x.dmp", appDump()))
		s.Report(0)
		if tc.sym != "" {
			s.Add(source("a.sym", []byte(tc.sym)))
		}
		items := s.Add(source("app.elf", fake(tc.elf)))
		if items[0].Kind != KindBinary || !items[0].Usable {
			t.Errorf("%s: %+v", tc.name, items[0])
		}
		r := s.Report(0)
		got := fromOf(r)
		if tc.want == "// " && strings.HasPrefix(got, "//") {
			continue
		}
		// Above main nothing is known; what a rule of the fake finds there does not matter.
		if !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s\nwant %s", tc.name, got, tc.want)
		}
		for _, f := range r.Threads[0].Frames[:2] {
			if binarys := strings.HasPrefix(f.Function.Raw, "app:"); f.Function.Linked != binarys {
				t.Errorf("%s: %s is taken to be a name of the binary: %v", tc.name, f.Function.Raw, !binarys)
			}
		}
		m := &r.Modules[0]
		if m.State != report.SymbolsLoaded || m.Binary != "app.elf" || m.BinaryByName != (tc.name == "no ids, by name and size") || !m.Has.CFI {
			t.Errorf("%s: %+v", tc.name, m)
		}
	}
}

// Files in any order, companions found among them, and one of another build used only when a person
// says so.
func TestBinaryParts(t *testing.T) {
	app, debug := source("app.elf", fake(appID+" app plain")), source("app.debug", fake(appID+" app debug"))
	for _, files := range [][]*input.Source{
		{source("x.dmp", appDump()), app, debug}, {debug, app, source("x.dmp", appDump())}, {app, source("x.dmp", appDump()), debug},
	} {
		s := withFakes()
		for _, f := range files {
			s.Add(f)
			s.Report(0)
		}
		if got := fromOf(s.Report(0)); !strings.HasPrefix(got, "app:crash_me/src.c/ app:main/src.c/<app.elf ") {
			t.Errorf("%s first: %s", files[0].Name, got)
		}
		if r := s.Report(0); r != s.Report(0) {
			t.Error("walked twice although nothing changed")
		}
	}
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	s.Add(app)
	if it := s.Add(source("app.debug.wrong", fake(otherID+" app debug")))[0]; it.ID != 2 || !strings.Contains(s.Items()[2].Message, "another CRC") {
		t.Errorf("%+v", s.Items()[2])
	}
	s = withFakes()
	s.Add(source("x.dmp", appDump()))
	it := s.Add(source("app.elf", fake(otherID+" app code")))[0]
	r := s.Report(0)
	if r.Modules[0].State != report.SymbolsMismatch || r.Missing[0].Mismatch.Item != it.ID || r.Missing[0].Mismatch.ID != otherID {
		t.Errorf("%+v", r.Missing)
	}
	if err := s.Assign(it.ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if got := fromOf(s.Report(0)); !strings.HasPrefix(got, "app:crash_me/src.c/! app:main/src.c/<app.elf .eh_frame+0x3a8!") || s.Report(0).Modules[0].State != report.SymbolsAssigned {
		t.Errorf("used anyway: %s", got)
	}
	s.Session(0).Unassign(0)
	if s.Report(0).Modules[0].State != report.SymbolsMismatch {
		t.Errorf("taken back: %+v", s.Report(0).Modules[0])
	}
}

// The code of a program that was assigned by hand leads to callers, as its rules would, and the frames
// are marked.
func TestAssignedProgram(t *testing.T) {
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	if err := s.Assign(s.Add(source("app.elf", fake(otherID+" app norules")))[0].ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if f := s.Report(0).Threads[0].Frames; len(f) < 2 || f[1].Source != "code" || f[1].PC != 0x402020 || !f[1].AssignedSymbols {
		t.Errorf("%+v", f)
	}
}

// A person who does not trust a module's rules can do without them.
func TestIgnoreCFI(t *testing.T) {
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	s.Add(source("a.sym", []byte(appSym(appID))))
	s.Add(source("app.elf", fake(appID+" app code")))
	with := fromOf(s.Report(0))
	s.Session(0).IgnoreCFI(0, true)
	r := s.Report(0)
	if got := fromOf(r); strings.Contains(got, "<") || !r.Modules[0].IgnoredCFI {
		t.Errorf("ignored: %s", got)
	}
	said := false
	for _, a := range r.Threads[0].Stop.Attempts {
		said = said || strings.Contains(a.Origin, "you chose to ignore")
	}
	if !said {
		t.Errorf("no attempt says so: %+v", r.Threads[0].Stop)
	}
	s.Session(0).IgnoreCFI(0, false)
	s.Session(0).IgnoreCFI(9, true)
	if got := fromOf(s.Report(0)); got != with {
		t.Errorf("and again: %s, was %s", got, with)
	}
}

// A binary reader's problems are reported with the module; a file that is not a binary is reported with the item.
func TestBinaryErrors(t *testing.T) {
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	if it := s.Add(source("bad.elf", fake("broken x x")))[0]; it.Usable || !strings.Contains(it.Message, "section headers at offset 0x40") {
		t.Errorf("%+v", it)
	}
	core := fake("x")
	core[16] = 4
	if it := s.Add(source("core", core))[0]; it.Usable || it.Kind == KindBinary || !strings.Contains(it.Message, "core: ELF header") {
		t.Errorf("%+v", it)
	}
	s.Add(source("/folder/app.elf", fake(appID+" app code")))
	y := &lookups{s: s.Session(0), arch: cpu.AMD64}
	for range 3 {
		if _, ans := y.Lookup(0, 0x9000); ans != symbol.No {
			t.Errorf("%v", ans)
		}
	}
	if r := s.Report(0); len(r.Modules[0].Warnings) != 1 || r.Modules[0].Warnings[0] != "app.elf: .debug_info at offset 0x10: broken" {
		t.Errorf("%q", r.Modules[0].Warnings)
	}
	// Without a reader of binaries the file is known as one.
	s = NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	if it := s.Add(source("app.elf", fake(appID+" app code")))[0]; it.Kind != KindBinary || it.Usable || it.Message == "" {
		t.Errorf("%+v", it)
	}
}

// Code that the dump does not hold is read out of the binary: the crashing instruction, and the
// calls before return addresses.
func TestCodeOfBinary(t *testing.T) {
	s := withFakes()
	s.Add(source("x.dmp", appDump()))
	if in := s.Report(0).Crash.Analysis.Instruction; in != nil {
		t.Fatalf("the dump has code: %+v", in)
	}
	s.Add(source("app.elf", fake(appID+" app code")))
	if in := s.Report(0).Crash.Analysis.Instruction; in == nil || in.Text != "nop" {
		t.Errorf("%+v", in)
	}
	var p [4]byte
	c := &process{Dump: s.Session(0).Dump}
	if n := c.Read(0x40fffe, p[:]); n != 4 || p[0] != 0x90 {
		t.Errorf("%d bytes % x", n, p)
	}
	if n := c.Read(0x410000, p[:]); n != 0 {
		t.Errorf("%d bytes behind the module", n)
	}
}
