package binary

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// objectFiles are a linked program of package macho's test data and its objects, by name. Those of
// libx.a, which the archive's reader would give, are "libx.a/lib.o".
func objectFiles(t testing.TB, name string) map[string]*input.Source {
	t.Helper()
	out := map[string]*input.Source{}
	r := tar.NewReader(bytes.NewReader(testfile.Read(t, "../macho/testdata/objects/"+name+".tar.gz")))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := h.Name
		if path == "libx.a" {
			at := bytes.Index(data, []byte("\xcf\xfa\xed\xfe"))
			path, data = "libx.a/lib.o", data[at:]
		}
		if h.Name == name {
			path = "program"
		}
		out[path] = input.FromBytes(path, data)
	}
}

// openWith opens a program with objects.
func openWith(t testing.TB, files map[string]*input.Source, objects ...string) *File {
	t.Helper()
	f, err := Open(files["program"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range objects {
		if attached, err := f.Attach(files[name]); !attached || err != nil {
			t.Fatalf("%s: %v %v", name, attached, err)
		}
	}
	return f
}

// symbolized writes an answer as testdata's truth.py does: innermost call first.
func symbolized(s symbol.Symbol) string {
	if s.Public { // of padding after a function
		return " :0"
	}
	text := ""
	for _, in := range s.Inlines {
		text += fmt.Sprintf("%s %s:%d < ", in.Name, in.File, in.Line)
	}
	return text + fmt.Sprintf("%s %s:%d", s.Name, s.File, s.Line)
}

// addressIn splits a line of the truth.
func addressIn(line string) (address uint64, answer string) {
	hex, answer, _ := strings.Cut(line, " ")
	fmt.Sscanf(hex, "%x", &address)
	return address, answer
}

// TestObjects: a program and the objects that it was linked from, whose functions are elsewhere in them,
// have the functions, lines and inlined calls that the program has with the dSYM of dsymutil, at every
// address, by llvm-symbolizer.
func TestObjects(t *testing.T) {
	for _, name := range []string{"arm64-2", "arm64-3", "arm64-4", "arm64-5", "x86_64-2", "x86_64-3", "x86_64-4", "x86_64-5", "i386-2", "i386-4", "armv7-2", "armv7-4"} {
		files := objectFiles(t, name)
		var objects []string
		for path := range files {
			if path != "program" {
				objects = append(objects, path)
			}
		}
		f := openWith(t, files, objects...)
		truth, err := os.ReadFile("../macho/testdata/objects/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(truth)), "\n")
		compared := 0
		for i, line := range lines {
			address, want := addressIn(line)
			next := address + 1
			if i+1 < len(lines) {
				next, _ = addressIn(lines[i+1])
			}
			for ; address < next; address++ {
				s, answer, err := f.Lookup(address - f.Base())
				if got := symbolized(s); err != nil || got != want {
					t.Errorf("%s: %x: %v, %v, %q; want %q", name, address, answer, err, got, want)
					break
				}
				compared++
			}
		}
		if compared < 60 {
			t.Errorf("%s: %d addresses", name, compared)
		}
		if has := f.Has(); !has.Functions || !has.Lines || !has.Inlines || len(has.Missing) > 0 || len(f.Warnings()) != 1 || !strings.Contains(f.Warnings()[0], untimed) {
			t.Errorf("%s: %+v %q", name, has, f.Warnings())
		}
	}
}

// TestObjectsEach: the functions of a symbol file are those of lookups.
func TestObjectsEach(t *testing.T) {
	f := openWith(t, objectFiles(t, "arm64-5"), "a.o", "b.o", "libx.a/lib.o")
	count := 0
	if err := f.Each(func(fn symbol.Function) error {
		count++
		for _, l := range fn.Lines {
			s, answer, err := f.Lookup(l.Start)
			line := s.Line
			if len(s.Inlines) > 0 {
				line = s.Inlines[0].Line
			}
			if answer != symbol.Yes || err != nil || s.Name != fn.Name || s.Start != fn.Ranges[0].Start || s.Size != fn.Ranges[0].Size || line != l.Line {
				t.Errorf("%s line %d at %x: %+v %v %v", fn.Name, l.Line, l.Start, s, answer, err)
			}
		}
		for _, c := range fn.Inlines {
			if s, _, _ := f.Lookup(c.Ranges[0].Start); len(s.Inlines) <= c.Depth || s.Inlines[len(s.Inlines)-1-c.Depth].Name != c.Name {
				t.Errorf("%s: %+v: %+v", fn.Name, c, s)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if count != 8 { // dead is in a.o, but not in the program
		t.Errorf("%d functions", count)
	}
}

// changed returns a file with bytes replaced.
func changed(src *input.Source, old, now string) *input.Source {
	b, _ := src.Bytes(0, src.Size)
	return input.FromBytes(src.Name, bytes.ReplaceAll(b, []byte(old), []byte(now)))
}

// renamed returns a file under another name, and with a modification time.
func renamed(src *input.Source, name string, modified int64) *input.Source {
	b, _ := src.Bytes(0, src.Size)
	out := input.FromBytes(name, b)
	out.Modified = modified
	return out
}

// untimed is the message for objects where nothing but the sizes of functions shows their build.
const untimed = "the times of its objects are not known"

// TestOtherObjects: an object that is not the one that the program was linked from is not used, and one
// that may be another is reported.
func TestOtherObjects(t *testing.T) {
	files := objectFiles(t, "arm64-5")
	main, helper := uint64(0x39c), uint64(0x444) // of a.o and b.o
	lineAt := func(f *File, rva uint64) uint32 {
		s, _, err := f.Lookup(rva)
		if err != nil {
			t.Error(err)
		}
		return s.Line
	}
	attach := func(f *File, src *input.Source) bool {
		took, err := f.Attach(src)
		if err != nil {
			t.Error(err)
		}
		return took
	}
	f := openWith(t, files)
	if attach(f, objectFiles(t, "x86_64-5")["a.o"]) {
		t.Error("an object for another processor is attached")
	}
	if attach(f, renamed(files["a.o"], "c.o", 0)) {
		t.Error("an object of another name is attached")
	}
	if lineAt(f, main) != 0 || !strings.Contains(strings.Join(f.Has().Missing, "\n"), "without a dSYM, the objects that it was linked from: a.o") {
		t.Errorf("without objects: %q", f.Has().Missing)
	}
	for what, c := range map[string]struct {
		src   *input.Source
		wrong string
		used  bool
	}{
		"of other functions":    {changed(files["a.o"], "_main", "_niam"), untimed, true}, // the others count
		"of larger functions":   {renamed(files["b.o"], "a.o", 0), "its function __Z4weakIiET_S0_ has 24 bytes, and the program's 28", false},
		"of none of them":       {renamed(files["libx.a/lib.o"], "a.o", 0), "it has none of its 4 functions", false},
		"of the right size":     {files["a.o"], untimed, true},
		"of an unknown time":    {renamed(files["a.o"], "/x/a.o", 12345), untimed, true},
		"in the wrong building": {renamed(files["a.o"], "elsewhere/a.o", 0), untimed, true},
	} {
		f := openWith(t, files)
		attach(f, c.src)
		lineAt(f, main)
		warnings := strings.Join(f.Warnings(), "\n")
		if c.wrong == "" && warnings != "" || !strings.Contains(warnings, c.wrong) {
			t.Errorf("%s: %q", what, warnings)
		}
		if s, _, _ := f.Lookup(0x378); (s.Line == 9) != c.used {
			t.Errorf("%s: %+v", what, s)
		}
	}
	// The debug map's time.
	const stamp = 1700000000
	program := files["program"]
	b, _ := program.Bytes(0, program.Size)
	b = bytes.Clone(b)
	at := 0
	for i := 0; i+16 <= len(b); i += 8 {
		if b[i+4] == 0x66 && b[i+5] == 0 && b[i+6] == 1 && b[i+7] == 0 && bytes.Equal(b[i+8:i+16], make([]byte, 8)) {
			b[i+8], b[i+9], b[i+10], b[i+11] = 0x00, 0xf1, 0x53, 0x65
			at++
		}
	}
	if at != 3 {
		t.Fatalf("%d objects", at)
	}
	files["program"] = input.FromBytes("program", b)
	f = openWith(t, files)
	attach(f, renamed(files["a.o"], "old/a.o", stamp-1))
	attach(f, renamed(files["b.o"], "b.o", stamp))
	if lineAt(f, helper) != 4 || len(f.Warnings()) > 0 {
		t.Errorf("of the same time: %q", f.Warnings())
	}
	if lineAt(f, main) != 11 || !strings.Contains(strings.Join(f.Warnings(), "\n"), "old/a.o: an object of 2023-11-14 22:13:19 UTC, where program was linked from one of 2023-11-14 22:13:20 UTC") {
		t.Errorf("of another time: %q", f.Warnings())
	}
	// Of several with the name, the one of the time counts, whatever the order.
	f = openWith(t, files)
	attach(f, renamed(files["libx.a/lib.o"], "x/a.o", stamp-5))
	attach(f, renamed(files["b.o"], "y/a.o", 0))
	attach(f, renamed(files["a.o"], "z/a.o", stamp))
	if lineAt(f, main) != 11 {
		t.Errorf("of three, the wrong one: %q", f.Warnings())
	}
}

// exerciseObjects asks a program with one object all that there is.
func exerciseObjects(program, object []byte) {
	f, err := Open(input.FromBytes("program", program))
	if err != nil {
		return
	}
	f.Attach(input.FromBytes("a.o", object))
	f.Attach(input.FromBytes("b.o", object))
	for rva := uint64(0x370); rva < 0x520; rva += 12 {
		f.Lookup(rva)
		f.Lookup(rva + 0xc90) // of link.py's programs
	}
	f.Each(func(symbol.Function) error { return nil })
	f.Has()
	f.Warnings()
	if f, err = Open(input.FromBytes("b.o", object)); err == nil {
		f.Row(0x40)
		f.WriteSym(io.Discard, SymOptions{})
	}
}

// bytesOf returns a file's bytes.
func bytesOf(src *input.Source) []byte {
	b, _ := src.Bytes(0, src.Size)
	return bytes.Clone(b)
}

// TestDamagedObjects turns bytes of a program and of its object over, and cuts them off.
func TestDamagedObjects(t *testing.T) {
	step := 7
	if runtime.GOOS == "js" { // it is ten times as slow
		step = 97
	}
	for _, name := range []string{"arm64-5", "i386-2"} {
		files := objectFiles(t, name)
		program, object := bytesOf(files["program"]), bytesOf(files["b.o"])
		// The code of a program is of no interest: its load commands and its symbols are.
		for at := 0; at < len(program); at += step {
			if at == 1024 {
				at = bytes.Index(program, []byte("\x66\x00\x01\x00")) - 64
			}
			cut := program[:at]
			exerciseObjects(cut, object)
			damaged := bytes.Clone(program)
			damaged[at] ^= 0xff
			exerciseObjects(damaged, object)
		}
		for at := 0; at < len(object); at += step {
			exerciseObjects(program, object[:at])
			damaged := bytes.Clone(object)
			damaged[at] ^= 0xff
			exerciseObjects(program, damaged)
		}
	}
	// Damage is reported, with the offset.
	files := objectFiles(t, "arm64-5")
	object := bytesOf(files["b.o"])
	f := openWith(t, files)
	for _, cut := range []int{len(object) - 200, 100} {
		f = openWith(t, files)
		if _, err := f.Attach(input.FromBytes("b.o", object[:cut])); err != nil {
			t.Error(err)
		}
		f.Lookup(0x444)
		if w := strings.Join(f.Warnings(), "\n"); !strings.Contains(w, "b.o") || !strings.Contains(w, "offset 0x") && !strings.Contains(w, "none of its") {
			t.Errorf("cut off at %d: %q", cut, w)
		}
	}
}

// FuzzObjects: no program and no object makes lookups panic.
func FuzzObjects(f *testing.F) {
	for _, name := range []string{"arm64-5", "x86_64-2", "i386-4", "armv7-2"} {
		files := objectFiles(f, name)
		f.Add(bytesOf(files["program"]), bytesOf(files["b.o"]))
	}
	f.Fuzz(func(_ *testing.T, program, object []byte) {
		if len(program)+len(object) < 1<<20 {
			exerciseObjects(program, object)
		}
	})
}

// TestObjectAlone: an object by itself has functions, lines and rules at its own addresses, and a kernel
// extension is read as a program is.
func TestObjectAlone(t *testing.T) {
	for name, c := range map[string]struct {
		helper uint64
		rule   string
	}{
		"arm64-5":  {0x3c, "cfa = $fp + 16"},
		"x86_64-4": {0x30, "cfa = $rbp + 16"},
	} {
		files := objectFiles(t, name)
		f, err := Open(files["b.o"])
		if err != nil {
			t.Fatal(err)
		}
		if id := f.Identity(); id.Kind != "object file" || !id.Object || id.DebugID != "" || !id.Code {
			t.Errorf("%s: %+v", name, id)
		}
		s, answer, err := f.Lookup(c.helper)
		if answer != symbol.Yes || err != nil || s.Name != "_ZL6helperi" || s.Start != c.helper || s.Line != 4 {
			t.Errorf("%s: %v %v %+v", name, answer, err, s)
		}
		row, answer, err := f.Row(c.helper + 0x20)
		if answer != symbol.Yes || err != nil || row.Origin.Part != "__compact_unwind" || row.Start != c.helper || !strings.HasPrefix(row.Describe(f.Arch()), c.rule) {
			t.Errorf("%s: %v %v %+v %s", name, answer, err, row, row.Describe(f.Arch()))
		}
		var sym bytes.Buffer
		if _, err := f.WriteSym(&sym, SymOptions{}); err != nil || !strings.Contains(sym.String(), fmt.Sprintf("\nFUNC %x ", c.helper)) || !strings.Contains(sym.String(), fmt.Sprintf("\nSTACK CFI INIT %x ", c.helper)) {
			t.Errorf("%s: %v\n%s", name, err, sym.String())
		}
		kext := bytesOf(files["program"])
		kext[12] = macho.TypeKext
		files["program"] = input.FromBytes("x.kext/Contents/MacOS/x", kext)
		f = openWith(t, files, "a.o", "b.o", "libx.a/lib.o")
		if id := f.Identity(); id.Kind != "kernel extension" || len(id.DebugID) != 33 {
			t.Errorf("%s: %+v", name, id)
		}
		if has := f.Has(); !has.Functions || !has.CFI || len(f.Warnings()) > 0 {
			t.Errorf("%s: %+v %q", name, has, f.Warnings())
		}
	}
}

// Of objects of one name, a file is the one whose path is most like its own: two may have functions in
// common. A file without a folder may be any of them.
func TestOwner(t *testing.T) {
	table := &objectTable{debugMap: &macho.DebugMap{Objects: []macho.MappedObject{{Path: "/x/a/util.o"}, {Path: "/x/b/util.o"}, {Path: "/x/main.o"}, {Path: "/x/a/lib.a(main.o)"}}}}
	for path, want := range map[string]int{"/y/b/util.o": 1, "x/a/util.o": 0, "util.o": -1, "c/util.o": -1, "main.o": -1, "y/x/main.o": 2, "z/lib.a/main.o": 3, "other.o": -1} {
		f := &objectFile{src: input.FromBytes(path, nil), path: reversed(path), owner: -1}
		for range 2 {
			if got := table.owner(f); got != want {
				t.Errorf("%s is object %d, want %d", path, got, want)
			}
		}
	}
	if got := someOf([]string{"/x/a/util.o", "/x/b/util.o"}); got != "/x/a/util.o, /x/b/util.o" {
		t.Error(got)
	}
}
