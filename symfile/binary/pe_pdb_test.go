package binary_test

import (
	"bytes"
	goBinary "encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// madePair is a made program and a made PDB, whose id is put into the program: they are of
// different sources, but a reader cannot know.
func madePair(t testing.TB, machine string) (program, pdb []byte, id string) {
	t.Helper()
	pdb = testfile.Read(t, "../pdb/testdata/"+machine+".pdb.gz")
	program = testfile.Read(t, "../pe/testdata/"+machine+".dll")
	f, err := binary.Open(input.FromBytes("t.pdb", pdb))
	if err != nil {
		t.Fatal(err)
	}
	id = f.Identity().DebugID
	guid, err := hex.DecodeString(id[:32])
	at := bytes.Index(program, []byte("RSDS"))
	if err != nil || at < 0 || id[32:] != "1" {
		t.Fatal(id, at, err)
	}
	// A GUID is a number of four bytes, two of two, and eight bytes.
	for i, from := range []int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15} {
		program[at+4+i] = guid[from]
	}
	return program, pdb, id
}

// TestPEWithPDB: a program and its PDB know together what each of them knows, whichever comes
// first.
func TestPEWithPDB(t *testing.T) {
	for machine, rules := range map[string]string{"x64": "STACK CFI INIT ", "arm64": "STACK CFI INIT ", "x86": "STACK WIN 4 "} {
		program, pdb, id := madePair(t, machine)
		exe, dbg := input.FromBytes("app.dll", program), input.FromBytes("t.pdb", pdb)
		alone, err := binary.Open(dbg)
		if err != nil {
			t.Fatal(err)
		}
		names := sym(t, alone)
		if has := alone.Has(); has.NoProgram != (machine != "x86") || has.CFI == has.NoProgram || !has.Functions || !has.Lines || len(has.Missing) > 0 {
			t.Errorf("%s: the PDB alone: %+v", machine, has)
		}
		if strings.Contains(names, "STACK CFI") || strings.Contains(names, "INFO CODE_ID") {
			t.Errorf("%s: the PDB alone:\n%s", machine, names)
		}
		if f, _ := binary.Open(exe); !strings.Contains(strings.Join(f.Has().Missing, ""), "t.pdb (id "+id+")") {
			t.Errorf("%s: the program alone lacks %q", machine, f.Has().Missing)
		}
		var texts []string
		for _, order := range [][]*input.Source{{exe, dbg}, {dbg, exe}} {
			f, err := binary.Open(order[0])
			if err != nil {
				t.Fatal(err)
			}
			f.Has() // what was opened for that is closed again
			if took, err := f.Attach(order[1]); !took || err != nil {
				t.Fatalf("%s: %v %v", machine, took, err)
			}
			if took, err := f.Attach(order[1]); took || err != nil {
				t.Errorf("%s: taken twice: %v %v", machine, took, err)
			}
			if has := f.Has(); !has.CFI || !has.Functions || !has.Lines || has.NoProgram || has.OnlyExports || len(has.Missing) > 0 {
				t.Errorf("%s: %+v", machine, has)
			}
			if got := f.Identity(); got.DebugID != id || got.Name != "t.pdb" || got.CodeName != "app.dll" || !got.Code || got.CodeID == "" {
				t.Errorf("%s: %+v", machine, got)
			}
			texts = append(texts, sym(t, f))
			var code [4]byte
			if n := f.Code(0x1000, code[:]); n != 4 {
				t.Errorf("%s: %d bytes of code", machine, n)
			}
		}
		if texts[0] != texts[1] || !strings.Contains(texts[0], "\n"+rules) || !strings.Contains(texts[0], "\nINFO CODE_ID ") {
			t.Errorf("%s: the one way\n%.1000s\nthe other\n%.1000s", machine, texts[0], texts[1])
		}
		// All records of x86's frames are there, and those that the program's code adds.
		for line := range strings.Lines(names) {
			if strings.HasPrefix(line, "STACK WIN ") && !strings.Contains(texts[0], line) {
				t.Errorf("%s: not with the program: %s", machine, line)
			}
		}
		// All functions, lines, inlined calls and names are the PDB's.
		if body := func(s string) string {
			_, s, _ = strings.Cut(s, "\nFILE ")
			s, _, _ = strings.Cut(s, "\nSTACK ")
			return strings.TrimSpace(s)
		}; body(texts[0]) != body(names) {
			t.Errorf("%s: the PDB alone\n%s\nwith its program\n%s", machine, names, texts[0])
		}
	}
}

// TestFrameBeyondCode: a record that claims 4 GB costs what the program's code costs.
func TestFrameBeyondCode(t *testing.T) {
	program, pdb, _ := madePair(t, "x86")
	write := func(pdb []byte) (text string, work int64) {
		exe, dbg := input.FromBytes("app.dll", program), input.FromBytes("t.pdb", pdb)
		exe.Budget = &input.Budget{}
		f, err := binary.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		if took, err := f.Attach(dbg); !took || err != nil {
			t.Fatal(took, err)
		}
		text = sym(t, f)
		return text, exe.Budget.Limit(input.Work) - exe.Budget.Left(input.Work)
	}
	right, least := write(pdb)
	_, record, _ := strings.Cut(right, "\nSTACK WIN 4 ")
	var start, size uint32
	if _, err := fmt.Sscanf(record, "%x %x", &start, &size); err != nil {
		t.Fatal(err)
	}
	le := goBinary.LittleEndian
	at := bytes.Index(pdb, le.AppendUint32(le.AppendUint32(nil, start), size))
	if at < 0 {
		t.Fatal("the PDB has no such record")
	}
	wrong := bytes.Clone(pdb)
	le.PutUint32(wrong[at+4:], 0xffffffff)
	if _, work := write(wrong); work > 10*least+1<<20 {
		t.Errorf("%d steps, and %d with the right record", work, least)
	}
}

// TestPDBOfAnotherBuild is refused, with both ids where its name is that of the right one.
func TestPDBOfAnotherBuild(t *testing.T) {
	_, pdb, id := madePair(t, "x64")
	program, err := os.ReadFile("../pe/testdata/x64.dll") // has its own id
	if err != nil {
		t.Fatal(err)
	}
	exe := func() *input.Source { return input.FromBytes("app.dll", program) }
	for _, c := range []struct{ name, message string }{
		{"t.pdb", "the id 900BB09A2D2D2C3F4C4C44205044422E1, which app.dll names"}, {"other.pdb", ""},
	} {
		for _, order := range [][]*input.Source{{exe(), input.FromBytes(c.name, pdb)}, {input.FromBytes(c.name, pdb), exe()}} {
			f, err := binary.Open(order[0])
			if err != nil {
				t.Fatal(err)
			}
			took, err := f.Attach(order[1])
			if took || (err != nil) != (c.message != "") || err != nil && (!strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), id)) {
				t.Errorf("%s: %v %v", c.name, took, err)
			}
		}
	}
}

// TestWithoutUnderscore: only what compilers put before names of C is taken off.
func TestWithoutUnderscore(t *testing.T) {
	for linked, want := range map[string]string{"_main": "main", "__chkstk": "_chkstk", "main": "main", "_": "_", "": "", "_CloseHandle@4": "_CloseHandle@4",
		"@fast@8": "@fast@8", "?f@@YAXXZ": "?f@@YAXXZ", "__imp__CloseHandle@4": "__imp__CloseHandle@4"} {
		if got := symbol.WithoutUnderscore(linked); got != want {
			t.Errorf("%q: %q, not %q", linked, got, want)
		}
	}
}

// TestPublicNameAndDWARF: where a PDB has no more than a public name and the program's DWARF has
// the function, the function answers.
func TestPublicNameAndDWARF(t *testing.T) {
	corpus(t)
	dir := filepath.Join(corpusRoot, "other/made-here/wine")
	f := open(t, filepath.Join(dir, "crash64c.exe"), filepath.Join(dir, "crash64c.pdb"))
	for rva, want := range map[uint64]string{0x1595: "crash_here(int volatile*, int) crash.c:32", 0x1b94: "__dyn_tls_init tlssup.c:88"} {
		s, ans, err := f.Lookup(rva)
		got := fmt.Sprintf("%s %s:%d", s.Name, s.File[strings.LastIndexByte(s.File, '/')+1:], s.Line)
		if ans != symbol.Yes || err != nil || got != want {
			t.Errorf("0x%x is %s (%v, %v), want %s", rva, got, ans, err, want)
		}
	}
}
