package pdb_test

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// machines are the files of testdata, which make.sh makes of t.cc.
var machines = []string{"x64", "x86", "arm64"}

func testFile(t testing.TB, machine string) *pdb.File {
	t.Helper()
	f, err := pdb.Open(input.FromBytes(machine+".pdb", testfile.Read(t, "testdata/"+machine+".pdb.gz")))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// place is a line of a file.
type place struct {
	file string
	line uint32
}

// placesOf are the places of an address: that of the innermost inlined call first, that of the
// function last.
func placesOf(s *symbol.Symbol) (out []place) {
	for _, in := range s.Inlines {
		out = append(out, place{in.File, in.Line})
	}
	return append(out, place{s.File, s.Line})
}

// TestAgainstLLVM compares what is answered at every address with what llvm-symbolizer says.
func TestAgainstLLVM(t *testing.T) {
	for _, machine := range machines {
		var theirs []struct {
			Address string
			Symbol  []struct {
				FileName, FunctionName string
				Line                   uint32
			}
		}
		if err := json.Unmarshal(testfile.Read(t, "testdata/"+machine+".json.gz"), &theirs); err != nil {
			t.Fatal(err)
		}
		f := testFile(t, machine)
		compared, inlined := 0, 0
		for _, a := range theirs {
			var rva uint64
			fmt.Sscanf(a.Address, "0x%x", &rva)
			s, ans, err := f.Lookup(rva)
			if err != nil {
				t.Fatalf("%s: %x: %v", machine, rva, err)
			}
			last := a.Symbol[len(a.Symbol)-1]
			if last.FunctionName == "" || last.Line == 0 {
				// llvm-symbolizer names padding between functions after the public name before it.
				if ans == symbol.Yes && !s.Public {
					t.Errorf("%s: %x: %+v, llvm has nothing", machine, rva, s)
				}
				continue
			}
			var want []place
			for i, in := range a.Symbol {
				want = append(want, place{in.FileName, in.Line})
				if i < len(s.Inlines) && !strings.HasPrefix(s.Inlines[i].Name, in.FunctionName) {
					t.Errorf("%s: %x: inlined %s, llvm %s", machine, rva, s.Inlines[i].Name, in.FunctionName)
				}
			}
			have := placesOf(&s)
			if machine == "x86" && (rva == 0x11b0 || rva == 0x11e0) {
				// Two lines begin here: of the first there is no code, but llvm-symbolizer takes
				// it.
				want[0].line++
			}
			if ans != symbol.Yes || !slices.Equal(have, want) {
				t.Errorf("%s: %x: %v, llvm %v", machine, rva, have, want)
			}
			compared++
			if len(want) > 2 {
				inlined++
			}
		}
		if compared < 250 || inlined < 15 {
			t.Errorf("%s: only %d addresses were compared, %d of them with calls inlined in each other", machine, compared, inlined)
		}
	}
}

// TestEachIsLookup compares what Each returns for whole functions with what lookups answer, byte by byte.
func TestEachIsLookup(t *testing.T) {
	for _, machine := range machines {
		f := testFile(t, machine)
		names := []string{}
		err := f.Each(func(fn symbol.Function) error {
			names = append(names, fn.Name)
			for _, r := range fn.Ranges {
				for rva := r.Start; rva < r.Start+r.Size; rva++ {
					sameAsLookup(t, f, &fn, r, rva)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"shapes::Path::total(shapes::Point const*, unsigned int) const",
			"shapes::Path::paint(shapes::Color, double)",
			"shapes::Path::erase(int (*)(char const*, ...), void**)",
			"run(shapes::Path*, shapes::Point*, int)",
			"shapes::biggest<int,3>(int[3]&)",
			"helper(int, bool, short const&, unsigned long long)",
			"make()",
		}
		for _, n := range want {
			if !slices.Contains(names, n) {
				t.Errorf("%s: no function %s among %q", machine, n, names)
			}
		}
	}
}

func sameAsLookup(t *testing.T, f *pdb.File, fn *symbol.Function, r symbol.Range, rva uint64) {
	t.Helper()
	s, ans, err := f.Lookup(rva)
	if ans != symbol.Yes || err != nil || s.Name != fn.Name || s.Start != r.Start || s.Size != r.Size {
		t.Fatalf("%x: %v %v %q %x %x, want %q %x %x", rva, ans, err, s.Name, s.Start, s.Size, fn.Name, r.Start, r.Size)
	}
	covers := func(rs []symbol.Range) bool {
		return slices.ContainsFunc(rs, func(r symbol.Range) bool { return rva-r.Start < r.Size })
	}
	var want []place
	for _, l := range fn.Lines {
		if rva-l.Start < l.Size {
			want = append(want, place{l.File, l.Line})
		}
	}
	var calls []symbol.InlineCall
	for _, c := range fn.Inlines {
		if covers(c.Ranges) {
			calls = append([]symbol.InlineCall{c}, calls...)
		}
	}
	for i, c := range calls {
		want = append(want, place{c.CallFile, c.CallLine})
		if i >= len(s.Inlines) || s.Inlines[i].Name != c.Name {
			t.Fatalf("%x: inlined %+v, want %s", rva, s.Inlines, c.Name)
		}
	}
	if have := placesOf(&s); s.HasLine && !slices.Equal(have, want) {
		t.Fatalf("%x: %v, want %v", rva, have, want)
	}
}

// TestIdentity: the id is what the program's debug directory has, which names the file in symbol
// stores.
func TestIdentity(t *testing.T) {
	f := testFile(t, "x64")
	if !strings.HasSuffix(f.DebugID, "4C4C44205044422E1") || len(f.DebugID) != 33 { // lld's GUIDs end so: "LLD PDB."
		t.Errorf("debug id %s", f.DebugID)
	}
}

// TestFrameData: records of x86 functions are those of the place in the function; other processors
// have none.
func TestFrameData(t *testing.T) {
	f := testFile(t, "x86")
	found := 0
	err := f.Each(func(fn symbol.Function) error {
		for _, r := range fn.Ranges {
			saved := -1
			for rva := r.Start; rva < r.Start+r.Size; rva++ {
				d, ans, err := f.FrameData(rva)
				if err != nil || ans != symbol.Yes {
					continue
				}
				found++
				if rva-d.Start >= d.Size || d.Type != 4 || !d.HasProgram || !strings.Contains(d.Program, "$eip") {
					t.Fatalf("%x: %+v", rva, d)
				}
				if rva < r.Start+12 && int(d.SavedRegs) < saved {
					t.Errorf("%x: %d bytes of registers are saved, after %d", rva, d.SavedRegs, saved)
				}
				saved = int(d.SavedRegs)
			}
		}
		return nil
	})
	if err != nil || found < 200 {
		t.Errorf("%d addresses have records (%v)", found, err)
	}
	if _, ans, _ := testFile(t, "x64").FrameData(0x1010); ans != symbol.No {
		t.Errorf("x64: %v", ans)
	}
}

// partial is a file that is only partly here.
type partial struct {
	data []byte
	here map[int64]bool
}

const partSize = 512

func (p *partial) ReadAt(b []byte, off int64) (int, error) {
	need := &input.NeedError{Name: "partial"}
	for at := off / partSize; at*partSize < off+int64(len(b)); at++ {
		if !p.here[at] {
			need.Ranges = append(need.Ranges, input.Range{Offset: at * partSize, Size: partSize})
		}
	}
	if len(need.Ranges) > 0 {
		return 0, need
	}
	return bytes.NewReader(p.data).ReadAt(b, off)
}

// TestNeeds asks a file that is not here: what it needs first it says, and with that the answers
// are the same. It comes to an end, and without the whole file.
func TestNeeds(t *testing.T) {
	for _, machine := range machines {
		data := testfile.Read(t, "testdata/"+machine+".pdb.gz")
		p := &partial{data: data, here: map[int64]bool{}}
		src := input.New(machine+".pdb", p, int64(len(data)))
		rounds := 0
		fetch := func(err error) bool {
			if rounds++; rounds > 200 {
				t.Fatalf("no end: %v", err)
			}
			var need *input.NeedError
			if !input.Needs(err) {
				return false
			}
			need = err.(*input.NeedError)
			for _, r := range need.Ranges {
				p.here[r.Offset/partSize] = true
			}
			return true
		}
		f, err := pdb.Open(src)
		for fetch(err) {
			f, err = pdb.Open(src)
		}
		if err != nil {
			t.Fatal(err)
		}
		whole := testFile(t, machine)
		for rva := uint64(0x1000); rva < 0x1200; rva += 7 {
			s, ans, err := f.Lookup(rva)
			for fetch(err) {
				if ans != symbol.Needs {
					t.Fatalf("answer %v with %v", ans, err)
				}
				s, ans, err = f.Lookup(rva)
			}
			d, dans, err := f.FrameData(rva)
			for fetch(err) {
				d, dans, err = f.FrameData(rva)
			}
			rounds = 0
			want, wantAns, _ := whole.Lookup(rva)
			wantD, wantDans, _ := whole.FrameData(rva)
			if fmt.Sprint(s, ans, d, dans) != fmt.Sprint(want, wantAns, wantD, wantDans) {
				t.Errorf("%s %x: %v %v, want %v %v", machine, rva, s, ans, want, wantAns)
			}
		}
		if len(p.here)*partSize > len(data)*95/100 {
			t.Errorf("%s: %d of %d bytes were needed", machine, len(p.here)*partSize, len(data))
		}
	}
}

// TestOtherFormats: what looks like a PDB and cannot be read gets an error that says what it is and what
// to do.
func TestOtherFormats(t *testing.T) {
	good := testfile.Read(t, "testdata/x64.pdb.gz")
	fastlink := bytes.Replace(good, binary.LittleEndian.AppendUint32(nil, 20140508), []byte("MINI"), 1)
	pageSize := slices.Clone(good)
	pageSize[32] = 7
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"portable", []byte("BSJB\x01\x00\x01\x00and more"), ".NET"},
		{"old", []byte("Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00"), "dump_syms on Windows"},
		{"fastlink", fastlink, "/DEBUG:FULL"},
		{"page size", pageSize, "page size"},
		{"text", []byte("MODULE windows x86_64 0 x"), "something else"},
		{"empty", nil, "something else"},
		{"cut", good[:len(good)/2], "cut off"},
		{"header", good[:40], "56 bytes"},
	} {
		if _, err := pdb.Open(input.FromBytes(c.name, c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want one that says %q", c.name, err, c.want)
		}
	}
}

// TestSourceSum: the checksum of the source file is that of the file which was compiled.
func TestSourceSum(t *testing.T) {
	source, err := os.ReadFile("testdata/t.cc")
	if err != nil {
		t.Fatal(err)
	}
	want := symbol.Sum{Kind: "MD5", Hex: fmt.Sprintf("%x", md5.Sum(source))}
	for _, machine := range []string{"x64", "x86", "arm64"} {
		f, err := pdb.Open(input.FromBytes(machine+".pdb", testfile.Read(t, "testdata/"+machine+".pdb.gz")))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for rva := uint64(0x1000); rva < 0x1400; rva++ {
			s, ok, err := f.Lookup(rva)
			if err != nil || ok != symbol.Yes || s.File == "" {
				continue
			}
			found++
			if sum, err := f.SourceSum(rva, s.File); err != nil || sum != want {
				t.Fatalf("%s 0x%x, %s: %+v, %v, want %+v", machine, rva, s.File, sum, err, want)
			}
			if sum, err := f.SourceSum(rva, "other.cc"); err != nil || sum.Kind != "" {
				t.Fatalf("%s: %+v, %v", machine, sum, err)
			}
		}
		if found == 0 {
			t.Errorf("%s: no lines", machine)
		}
	}
}
