package binary

import (
	"bytes"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// machoFile opens a file of package macho's test data.
func machoFile(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(machoSource(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func machoSource(t testing.TB, name string) *input.Source {
	return input.FromBytes(name, testfile.Read(t, "../macho/testdata/"+name+".gz"))
}

// TestMachO: a program and its dSYM, in any order, have functions, lines, inlined calls, names and
// rules; each alone says what is missing.
func TestMachO(t *testing.T) {
	for _, name := range []string{"m-arm64-fp", "m-arm64-nofp", "m-x86_64-fp", "m-x86_64-nofp"} {
		program, dsym := name+".dylib", name+".dwarf"
		for _, order := range [][2]string{{program, dsym}, {dsym, program}} {
			f := machoFile(t, order[0])
			if attached, err := f.Attach(machoSource(t, order[1])); !attached || err != nil {
				t.Fatalf("%s to %s: %v %v", order[1], order[0], attached, err)
			}
			id := f.Identity()
			if id.OS != "mac" || id.Name != program || id.Kind != "library" || !id.Code || len(id.DebugID) != 33 || id.Size == 0 {
				t.Errorf("%s: %+v", name, id)
			}
			has := f.Has()
			if !has.CFI || !has.Functions || !has.Lines || !has.Inlines || len(has.Missing) > 0 {
				t.Errorf("%s: %+v", name, has)
			}
			framed, ok := addressOf(f, "framed")
			if !ok {
				t.Fatalf("%s: no framed", name)
			}
			inlined := map[string]bool{}
			for rva := framed; rva < framed+0x60; rva++ {
				sym, answer, err := f.Lookup(rva)
				if answer != symbol.Yes || err != nil || sym.Name != "framed" || sym.File != "m.c" && !strings.HasSuffix(sym.File, "/m.c") || sym.Line == 0 && !sym.HasLine {
					t.Fatalf("%s+0x%x: %+v %v %v", name, rva-framed, sym, answer, err)
				}
				for _, in := range sym.Inlines {
					inlined[in.Name] = true
				}
				if row, answer, err := f.Row(rva); answer != symbol.Yes || err != nil || !row.WholeFunction && !row.NoEpilogue {
					t.Fatalf("%s+0x%x: %v %v %v", name, rva-framed, row, answer, err)
				}
			}
			if !inlined["twice"] {
				t.Errorf("%s: inlined calls %v", name, inlined)
			}
			if w := f.Warnings(); len(w) > 0 {
				t.Errorf("%s: %q", name, w)
			}
		}
		if has := machoFile(t, program).Has(); len(has.Missing) != 1 || !strings.HasPrefix(has.Missing[0], "the debug information "+program+".dSYM (uuid ") {
			t.Errorf("%s: missing %q", program, has.Missing)
		}
		if has := machoFile(t, dsym).Has(); !has.NoProgram || !strings.Contains(has.ProgramName, " (uuid ") {
			t.Errorf("%s: %v, program %q", dsym, has.NoProgram, has.ProgramName)
		}
		other := "m-x86_64-fp.dwarf"
		if name == "m-x86_64-fp" {
			other = "m-arm64-fp.dwarf"
		}
		if attached, err := machoFile(t, program).Attach(machoSource(t, other)); attached || err != nil {
			t.Errorf("%s to %s: %v %v", other, program, attached, err)
		}
	}
}

// TestMachOMovedApart: a dSYM whose code is elsewhere than the program's is refused with the reason.
func TestMachOMovedApart(t *testing.T) {
	dsym := testfile.Read(t, "../macho/testdata/m-arm64-fp.dwarf.gz")
	at := bytes.Index(dsym, []byte("__text\x00")) + 32
	dsym[at] += 16
	attached, err := machoFile(t, "m-arm64-fp.dylib").Attach(input.FromBytes("d", dsym))
	if attached || err == nil || !strings.Contains(err.Error(), "d: section __TEXT,__text: expected code 0x380 after the header, as in m-arm64-fp.dylib, found 0x390") {
		t.Errorf("%v %v", attached, err)
	}
}

// addressOf returns where a function starts.
func addressOf(f *File, name string) (rva uint64, ok bool) {
	tables, _ := f.symbolTables()
	for _, n := range tables {
		t, err := n.get()
		if err != nil {
			continue
		}
		for i := range t.Len() {
			if s := t.At(i); s.Name == name {
				return s.Start, true
			}
		}
	}
	return 0, false
}

// TestMachOSym: the symbol file has the module with its uuid, functions with lines and inlined calls,
// names and rules.
func TestMachOSym(t *testing.T) {
	f := machoFile(t, "m-x86_64-fp.dylib")
	if _, err := f.Attach(machoSource(t, "m-x86_64-fp.dwarf")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := f.WriteSym(&b, SymOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MODULE mac x86_64 " + f.Identity().DebugID + " m-x86_64-fp.dylib\n", "\nINLINE_ORIGIN 0 twice\n", " framed\n", " local\n", "\nPUBLIC ", " outside@plt\n",
		"\nSTACK CFI INIT ", ".cfa: $rbp 16 + .ra: .cfa -8 + ^"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestMachOSwapped: in the .debug_frame of a dSYM for i386 4 is esp and 5 is ebp. If they are the
// other way round, the rules are put right, and say so.
func TestMachOSwapped(t *testing.T) {
	for _, name := range []string{"right", "swapped"} {
		f := machoFile(t, "i386/BreakpadTest")
		if attached, err := f.Attach(machoSource(t, "i386/"+name+".dwarf")); !attached || err != nil {
			t.Fatal(attached, err)
		}
		// As llvm-dwarfdump prints them of right.dwarf.
		for rva, want := range map[uint64]string{
			0x192f: "",
			0x1930: "cfa = $esp + 4, ra = [cfa − 4]",
			0x1931: "cfa = $esp + 8, ra = [cfa − 4], $ebp = [cfa − 8]",
			0x1932: "cfa = $esp + 8, ra = [cfa − 4], $ebp = [cfa − 8]",
			0x1933: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8]",
			0x1939: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8], $esi = [cfa − 20], $edi = [cfa − 16], $ebx = [cfa − 12]",
			0x197e: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8], $esi = [cfa − 20], $edi = [cfa − 16], $ebx = [cfa − 12]",
			0x197f: "",
			0x1f00: "cfa = $esp + 4, ra = [cfa − 4]",
			0x1f55: "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8], $esi = [cfa − 12]",
		} {
			row, ans, err := f.Row(rva)
			got := ""
			if ans == symbol.Yes {
				got = row.Describe(f.Arch())
			}
			if err != nil || got != want {
				t.Errorf("%s at 0x%x: %q, want %q (%v)", name, rva, got, want, err)
			}
			if said := strings.Contains(row.Origin.Note, "esp and ebp swapped"); got != "" && said != (name == "swapped") || row.EntryFromFP {
				t.Errorf("%s at 0x%x: %q", name, rva, row.Origin.Note)
			}
		}
		var b bytes.Buffer
		if _, err := f.WriteSym(&b, SymOptions{}); err != nil || !strings.Contains(b.String(), "\nSTACK CFI INIT 1930 4f .cfa: $esp 4 + .ra: .cfa -4 + ^\n") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}
