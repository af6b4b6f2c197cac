package session

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
)

const (
	appID   = "00112233445566778899AABBCCDDEEFF0"
	otherID = "FF112233445566778899AABBCCDDEEFF0"
)

// appSym is a symbol file for the made dump's program: crash_me calls nobody and is called by main.
func appSym(id string) string {
	module := "MODULE Linux x86_64 " + id + " app\n"
	if id == "" {
		module = ""
	}
	return module + `FILE 0 /src/app/main.c
FUNC 1000 100 0 crash_me
1000 100 12 0
FUNC 2000 100 0 main
2000 100 34 0
STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^
STACK CFI INIT 2000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^
`
}

// appDump is a Linux amd64 program stopped in crash_me, called by main, called by nobody.
func appDump() []byte {
	const base, stack = 0x400000, 0x7ffe0000
	words := []uint64{1, base + 0x2020, 2, 0, 3, 4}
	var mem []byte
	for _, w := range words {
		mem = binary.LittleEndian.AppendUint64(mem, w)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x1010, "rsp": stack})
	id := []byte{0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	return dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(base, 0x10000, "/opt/app", dumptest.ELF(id)).
		Thread(7, ctx, stack, mem).
		Exception(7, 11, 1, 0x45, ctx).
		Bytes()
}

func source(name string, b []byte) *input.Source {
	return input.New(name, bytes.NewReader(b), int64(len(b)))
}

func functions(r *report.Report) string {
	if r == nil {
		return "no report"
	}
	var names []string
	for _, f := range r.Threads[0].Frames {
		n := f.Function.Raw
		if n == "" {
			n = "?"
		}
		if f.AssignedSymbols {
			n += "!"
		}
		names = append(names, n)
	}
	return strings.Join(names, " ")
}

func gz(b []byte) []byte {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	w.Write(b)
	w.Close()
	return buf.Bytes()
}

func zipOf(files map[string][]byte) []byte {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, b := range files {
		f, _ := w.Create(name)
		f.Write(b)
	}
	w.Close()
	return buf.Bytes()
}

// Files may come in any order, in archives, and under any name; the stack is the same.
func TestAnyOrderAnyWrapping(t *testing.T) {
	d, sym := appDump(), []byte(appSym(appID))
	for _, tc := range []struct {
		name  string
		files []*input.Source
	}{
		{"dump first", []*input.Source{source("x.bin", d), source("a.sym", sym)}},
		{"symbols first", []*input.Source{source("a.sym", sym), source("x.bin", d)}},
		{"no suffixes", []*input.Source{source("one", sym), source("two", d)}},
		{"gz", []*input.Source{source("a.sym.gz", gz(sym)), source("x.dmp.gz", gz(d))}},
		{"one zip", []*input.Source{source("case.zip", zipOf(map[string][]byte{"dumps/x.dmp": d, "syms/a.sym": sym}))}},
		{"gz in zip", []*input.Source{source("case.zip", zipOf(map[string][]byte{"x.dmp": d, "a.sym.gz": gz(sym)}))}},
		{"CRLF", []*input.Source{source("x.dmp", d), source("a.sym", bytes.ReplaceAll(sym, []byte("\n"), []byte("\r\n")))}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := NewFiles(Options{})
			for _, f := range tc.files {
				for _, it := range s.Add(f) {
					if !it.Usable {
						t.Errorf("%s: %s", it.Name, it.Message)
					}
				}
			}
			if len(s.Dumps()) != 1 {
				t.Fatalf("%d dumps", len(s.Dumps()))
			}
			if got := functions(s.Report(0)); got != "crash_me main" {
				t.Errorf("stack: %s", got)
			}
		})
	}
}

// Symbols added later are used at once, and the report stays the same pointer while nothing
// changes.
func TestSymbolsLater(t *testing.T) {
	s := NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	first := s.Report(0)
	if first != s.Report(0) {
		t.Error("walked twice although nothing changed")
	}
	if len(first.Missing) != 1 || first.Missing[0].DebugID != appID || first.Missing[0].DebugFile != "app" ||
		first.Missing[0].StorePath != "app/"+appID+"/app.sym" || first.Missing[0].Frames == 0 {
		t.Fatalf("wanted: %+v", first.Missing)
	}
	s.Add(source("unrelated.sym", []byte("MODULE Linux x86_64 123456789ABCDEF0 nothing\n")))
	if first != s.Report(0) {
		t.Error("walked again for a file that concerns no module")
	}
	s.Add(source("a.sym", []byte(appSym(appID))))
	r := s.Report(0)
	if got := functions(r); got != "crash_me main" {
		t.Errorf("stack: %s", got)
	}
	if len(r.Missing) != 0 || r.Modules[0].State != report.SymbolsLoaded {
		t.Errorf("wanted %+v, state %s", r.Missing, r.Modules[0].State)
	}
}

// A symbol file of another processor is not offered for "use anyway", and refused.
func TestOtherProcessor(t *testing.T) {
	for _, c := range []struct {
		arch    string
		refused bool
	}{{"x86_64", false}, {"x86_64h", false}, {"something", false}, {"x86", true}, {"arm64e", true}, {"mips", true}} {
		s := NewFiles(Options{})
		s.Add(source("x.dmp", appDump()))
		it := s.Add(source("a.sym", []byte(strings.Replace(appSym(otherID), "x86_64", c.arch, 1))))[0]
		r := s.Report(0)
		if offered := r.Missing[0].Mismatch.File != ""; offered == c.refused {
			t.Errorf("%s: offered %v", c.arch, offered)
		}
		unused := s.Unused(it.ID, 0)
		if said := strings.HasPrefix(unused.Why, "it is for "+c.arch+", and the dump is of amd64"); !unused.Wanted || said != c.refused || said != (unused.Reason == OtherProcessor) {
			t.Errorf("%s: %+v", c.arch, unused)
		}
		if err := s.Assign(it.ID, 0, 0); (err != nil) != c.refused {
			t.Errorf("%s: %v", c.arch, err)
		}
	}
}

// A symbol file of another build is not used, both ids are shown, and "use anyway" marks what it
// touches.
func TestMismatch(t *testing.T) {
	s := NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	items := s.Add(source("a.sym", []byte(appSym(otherID))))
	r := s.Report(0)
	if strings.Contains(functions(r), "main") {
		t.Fatalf("symbols of another build were used: %s", functions(r))
	}
	if len(r.Missing) != 1 || r.Missing[0].Mismatch.ID != otherID || r.Missing[0].DebugID != appID || r.Missing[0].Mismatch.Item != items[0].ID {
		t.Fatalf("wanted: %+v", r.Missing)
	}
	if r.Modules[0].State != report.SymbolsMismatch {
		t.Errorf("state %s", r.Modules[0].State)
	}
	if err := s.Assign(items[0].ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	r = s.Report(0)
	if got := functions(r); got != "crash_me! main!" {
		t.Errorf("stack: %s", got)
	}
	if r.Modules[0].State != report.SymbolsAssigned {
		t.Errorf("state %s", r.Modules[0].State)
	}
	s.Session(0).Unassign(0)
	if got := functions(s.Report(0)); strings.Contains(got, "main") {
		t.Errorf("still used: %s", got)
	}
}

func TestSymbolsWithoutModule(t *testing.T) {
	s := NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	items := s.Add(source("a.sym", []byte(appSym(""))))
	if !items[0].NeedsAssignment || items[0].Kind != KindSym {
		t.Fatalf("%+v", items[0])
	}
	if err := s.Assign(items[0].ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	if got := functions(s.Report(0)); got != "crash_me! main!" {
		t.Errorf("stack: %s", got)
	}
	if err := s.Assign(99, 0, 0); err == nil {
		t.Error("a file that does not exist was assigned")
	}
	if err := s.Assign(items[0].ID, 0, 5); err == nil {
		t.Error("a module that does not exist was assigned")
	}
}

// The place in a symbol store identifies a file, whatever its MODULE record says.
func TestStoreLayout(t *testing.T) {
	s := NewFiles(Options{})
	s.Add(source("x.dmp", appDump()))
	s.Add(source("symbols/app/"+appID+"/app.sym", []byte(appSym(otherID))))
	if got := functions(s.Report(0)); got != "crash_me main" {
		t.Errorf("stack: %s", got)
	}
}

// What cannot be used says what it was taken for, and the rest goes on.
func TestUnusableFiles(t *testing.T) {
	d := appDump()
	for _, tc := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty.dmp", nil, "empty"},
		{"notes.txt", []byte("dear diary, today it crashed again\n"), "text"},
		{"app", []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00"), "ELF"},
		{"cut.dmp", d[:20], "cut.dmp"},
	} {
		s := NewFiles(Options{})
		items := s.Add(source(tc.name, tc.b))
		if items[0].Usable || !strings.Contains(items[0].Message, tc.want) || !strings.Contains(items[0].Message, tc.name) {
			t.Errorf("%s: usable %v, message %q", tc.name, items[0].Usable, items[0].Message)
		}
		s.Add(source("x.dmp", d))
		if len(s.Dumps()) != 1 || s.Report(0) == nil {
			t.Errorf("%s: the next file is not read", tc.name)
		}
	}
}

// A dump cut anywhere still gives a report of what is left, or a message; nothing panics.
func TestTruncatedDumps(t *testing.T) {
	d, sym := appDump(), []byte(appSym(appID))
	for n := 0; n < len(d); n += 16 {
		s := NewFiles(Options{})
		s.Add(source("a.sym", sym))
		items := s.Add(source("x.dmp", d[:n]))
		if !items[0].Usable {
			if items[0].Message == "" {
				t.Errorf("cut at %d: refused without a word", n)
			}
			continue
		}
		if r := s.Report(0); r == nil {
			t.Errorf("cut at %d: no report", n)
		}
	}
}
