package binary_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	files "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// linePairs are PDBs in a folder with their programs, which llvm-symbolizer wants.
var linePairs = []string{
	"winapple/debugpy/attach_x86.dll",
	"winapple/debugpy/inject_dll_amd64.exe",
	"winapple/wine/chain32-O2.exe",
	"winapple/wine/chain64-O2.exe",
	"winapple/clang-pe/t-i686-O2.dll",
	"winapple/clang-pe/t-x86_64-O2.dll",
	"winapple/clang-pe/t-aarch64-O2.dll",
	"winapple/clang-pe/t-thumbv7-O2.dll",
	"winapple/emulated/deep-i686-O2.dll",
	"winapple/emulated/deep-x86_64-O2.dll",
	"other/made-here/zig/t-x86_64-windows-gnu.exe",
	"other/mozilla+dump_syms/test_data/windows/dump_syms_regtest64.exe",
	"other/getsentry+symbolic/symbolic-testutils/fixtures/windows/crash.exe",
	"other/mstange+samply/fixtures/win64-ci/WriteArgument.exe",
}

// otherWords are words of types that Mozilla's dump_syms writes otherwise or leaves out, after
// blanks were taken out.
var otherWords = strings.NewReplacer("volatile", "", "<NoType>", "...", "`anonymousnamespace'", "(anonymousnamespace)", "__float128", "longdouble",
	"__half", "float16_t", "unsigned__int128", "uint128_t", "__int128", "int128_t", "conststd::nullptr_t", "voidconst*", "std::nullptr_t", "void*",
	"wchar_tconst[3]&", "constwchar_t[3]&")

// placed is one step of a stack: a function or inlined call and the line in it.
type placed struct{ name, at string }

// stackOf is what a symbol file says about an address, the innermost call first. at is a file's name
// without folders, and a line.
func stackOf(s *symbol.Symbol) (out []placed) {
	base := func(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }
	name := func(raw string) string { return otherWords.Replace(squeeze(raw)) }
	for _, in := range s.Inlines {
		out = append(out, placed{name(in.Name), fmt.Sprintf("%s:%d", base(in.File), in.Line)})
	}
	at := "no line"
	if s.HasLine && s.Line > 0 {
		at = fmt.Sprintf("%s:%d", base(s.File), s.Line)
	}
	return append(out, placed{name(s.Name), at})
}

// places are the lines of a stack.
func places(stack []placed) string {
	var out []string
	for _, p := range stack {
		out = append(out, p.at)
	}
	return strings.Join(out, " < ")
}

// A lineClass is a kind of difference between two readers of a PDB where it is known who is
// right. testdata/pdb-lines.tsv says why, and has an example of each.
type lineClass struct {
	name string
	is   func(ours, theirs *symbol.Symbol) bool
}

var mozillaClasses = []lineClass{
	{"mozilla: line from before the inlined call", func(ours, theirs *symbol.Symbol) bool {
		// Their INLINE record begins after the line record that they have for the address.
		return len(theirs.Inlines) > 0 && len(ours.Inlines) == len(theirs.Inlines) && theirs.LineStart < theirs.Inlines[0].Start &&
			slices.Equal(stackOf(ours)[1:], stackOf(theirs)[1:])
	}},
	{"mozilla: function without lines of its own", func(ours, theirs *symbol.Symbol) bool {
		return ours.Line == 0 && len(theirs.Inlines) == 0
	}},
	{"mozilla: name without parameters", func(ours, theirs *symbol.Symbol) bool {
		x, y := stackOf(ours), stackOf(theirs)
		return places(x) == places(y) && slices.EqualFunc(x, y, func(a, b placed) bool { return a == b || strings.HasPrefix(a.name, b.name+"(") })
	}},
	{"mozilla: last of several functions of one id", func(ours, theirs *symbol.Symbol) bool {
		x, y := stackOf(ours), stackOf(theirs)
		n := len(x) - 1
		return n > 0 && len(y) == n+1 && x[n] == y[n] && slices.EqualFunc(x, y, func(a, b placed) bool { return a.name == b.name })
	}},
}

// llvmClass is in which way llvm-symbolizer's answer differs from ours at an address; next says
// whether its answer at the byte after it is ours there. "" is for what is not known.
func llvmClass(ours, llvm string, next bool) string {
	x, y := strings.Split(ours, " < "), strings.Split(llvm, " < ")
	switch {
	case next && len(x) == len(y):
		return "llvm: first of two lines at an address"
	case len(y) < len(x):
		return "llvm: inlined call is missing"
	case len(y) == len(x) && slices.Equal(x[1:], y[1:]):
		return "llvm: another line of the inlined call"
	case len(y) == len(x):
		return "llvm: another line of a caller"
	}
	return ""
}

// symbolized is what llvm-symbolizer says about addresses: of each the lines, the innermost call
// first; "no line" as stackOf has it.
func symbolized(t *testing.T, tool, program string, addresses []uint64) []string {
	t.Helper()
	var in bytes.Buffer
	for _, at := range addresses {
		fmt.Fprintf(&in, "0x%x\n", at)
	}
	cmd := exec.Command(tool, "--obj="+program, "--relative-address", "--output-style=JSON")
	cmd.Stdin = &in
	answers, err := cmd.Output()
	if err != nil {
		t.Logf("%s %s: %v", tool, program, err)
		return nil
	}
	var out []string
	sc := bufio.NewScanner(bytes.NewReader(answers))
	for sc.Buffer(nil, 1<<24); sc.Scan(); {
		var v struct {
			Symbol []struct {
				FileName string
				Line     uint32
			}
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		var stack []placed
		for _, s := range v.Symbol {
			p := placed{at: "no line"}
			if s.Line > 0 {
				p.at = fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(s.FileName, `\`, "/")), s.Line)
			}
			stack = append(stack, p)
		}
		out = append(out, places(stack))
	}
	if len(out) != len(addresses) {
		t.Fatalf("%s: %d answers to %d questions", tool, len(out), len(addresses))
	}
	return out
}

// tally counts differences of one kind in one pair.
type tally struct {
	bytes   int
	verdict [4]int // bytes in which llvm-symbolizer agrees with us, with Mozilla's, with neither; in which it was not asked
	example string
}

// TestPDBLines compares lines and inlined calls, byte by byte, with what Mozilla's dump_syms makes
// of the same PDBs, and has llvm-symbolizer judge each difference. All but one byte of a thousand
// are equal, or differ in a way that is in testdata/pdb-lines.tsv, with as many bytes as it says
// (-update writes the numbers); and llvm-symbolizer agrees with Mozilla's in none. If it agrees
// with neither, or differs from both, its own mistakes are in the table.
func TestPDBLines(t *testing.T) {
	corpus(t)
	tool, err := exec.LookPath("dump_syms")
	if err != nil {
		t.Skip("*** SKIPPED: Mozilla's dump_syms is not installed")
	}
	llvm, err := exec.LookPath("llvm-symbolizer-19")
	if err != nil {
		t.Skip("*** SKIPPED: llvm-symbolizer-19 is not installed, which judges the differences")
	}
	const table = "testdata/pdb-lines.tsv"
	header, known := readLineTable(t, table)
	var rows []string
	for _, pair := range linePairs {
		program := filepath.Join(corpusRoot, pair)
		pdb := strings.TrimSuffix(program, filepath.Ext(program)) + ".pdb"
		text, err := exec.Command(tool, "-j1", "--inlines", pdb).Output()
		if err != nil {
			t.Errorf("dump_syms %s: %v", pdb, err)
			continue
		}
		all, open, found := comparePDBLines(t, llvm, program, readSym(t, "ours.sym", pdbSym(t, open(t, pdb))), readSym(t, "theirs.sym", string(text)))
		if share := float64(open) / float64(all); share > 0.001 {
			t.Errorf("%s: %d of %d bytes differ in ways that are not settled: %s", pair, open, all, found[""].example)
		}
		delete(found, "")
		for _, class := range slices.Sorted(maps.Keys(found)) {
			c := found[class]
			if c.verdict[1] > 0 && strings.HasPrefix(class, "mozilla") {
				t.Errorf("%s: %s: llvm-symbolizer agrees with Mozilla's in %d bytes", pair, class, c.verdict[1])
			}
			row := fmt.Sprintf("%s\t%s\t%d\t%d\t%d\t%s", class, pair, c.bytes, c.verdict[0], c.verdict[2], c.example)
			rows = append(rows, row)
			if !*update && !slices.Contains(known, row) {
				t.Errorf("not in %s: %s", table, row)
			}
			if !strings.Contains(header, "\n# "+class+": ") {
				t.Errorf("%s does not say who is right: %s", table, class)
			}
		}
		t.Logf("%s: %d bytes, %d in ways that are not settled", pair, all, open)
	}
	slices.Sort(rows)
	if *update {
		if err := os.WriteFile(table, []byte(header+strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if len(rows) != len(known) {
		t.Errorf("%d differences, %s has %d", len(rows), table, len(known))
	}
}

// readLineTable is the table's comments and its rows.
func readLineTable(t *testing.T, path string) (header string, rows []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			header += line
		} else {
			rows = append(rows, strings.TrimSuffix(line, "\n"))
		}
	}
	return header, rows
}

// comparePDBLines compares two symbol files of a program, and ours with llvm-symbolizer. all is how
// many bytes of code there are, open in how many of them Mozilla's differs in a way that is not
// known.
func comparePDBLines(t *testing.T, llvm, program string, ours, theirs *symText) (all, open int, found map[string]*tally) {
	t.Helper()
	type piece struct {
		rva  uint64
		n    int
		a, b symbol.Symbol
	}
	var list []piece
	var at []uint64
	pieces(append(slices.Clone(ours.codeAt), theirs.codeAt...), func(rva uint64, n int) {
		a, _, _ := ours.file.Lookup(rva)
		b, _, _ := theirs.file.Lookup(rva)
		if a.Name == "" || a.Public || b.Public {
			return
		}
		all += n
		list = append(list, piece{rva, n, a, b})
		at = append(at, rva)
	})
	says := symbolized(t, llvm, program, at)
	// Of the others, the byte after is asked too.
	behind := map[uint64]int{}
	at = at[:0]
	for i, s := range says {
		if s != places(stackOf(&list[i].a)) {
			behind[list[i].rva+1] = len(at)
			at = append(at, list[i].rva+1)
		}
	}
	saysBehind := symbolized(t, llvm, program, at)
	found = map[string]*tally{}
	add := func(class string, p *piece, verdict int, example string) {
		c := found[class]
		if c == nil {
			c = &tally{example: fmt.Sprintf("%x: %s", p.rva, example)}
			found[class] = c
		}
		c.bytes += p.n
		c.verdict[verdict] += p.n
	}
	for i := range list {
		p := &list[i]
		x, y := stackOf(&p.a), stackOf(&p.b)
		our, their := places(x), places(y)
		judge, verdict := "llvm-symbolizer crashes", 3
		if says != nil {
			judge = says[i]
			switch judge {
			case our:
				verdict = 0
			case their:
				verdict = 1
			default:
				verdict = 2
			}
		}
		if !slices.Equal(x, y) {
			class := ""
			if k := slices.IndexFunc(mozillaClasses, func(c lineClass) bool { return c.is(&p.a, &p.b) }); k >= 0 {
				class = mozillaClasses[k].name
			} else {
				open += p.n
			}
			add(class, p, verdict, fmt.Sprintf("%s; mozilla %s; llvm %s", our, their, judge))
		}
		if verdict == 2 || verdict == 1 {
			next, _, _ := ours.file.Lookup(p.rva + 1)
			if class := llvmClass(our, judge, saysBehind[behind[p.rva+1]] == places(stackOf(&next))); class != "" {
				add(class, p, verdict, fmt.Sprintf("%s; mozilla %s; llvm %s", our, their, judge))
			} else {
				t.Errorf("%s: 0x%x: %s, llvm-symbolizer %s", program, p.rva, our, judge)
			}
		}
	}
	if found[""] == nil {
		found[""] = &tally{}
	}
	return all, open, found
}

// TestSourceLinkOfMozilla: the source server of a PDB that Mozilla's build has made leads to the file's revision.
func TestSourceLinkOfMozilla(t *testing.T) {
	corpus(t)
	b, err := os.ReadFile(filepath.Join(corpusRoot, "other/mstange+samply/fixtures/win64-ci/WriteArgument.pdb"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(input.FromBytes("WriteArgument.pdb", b))
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://hg.mozilla.org/mozilla-central/raw-file/1706d4d54ec68fae1280305b70a02cb24c16ff68/uriloader/exthandler/tests/WriteArgument.cpp"
	if link, err := f.SourceLink("/builds/worker/checkouts/gecko/uriloader/exthandler/tests/WriteArgument.cpp"); err != nil || link != want {
		t.Errorf("%q, %v, want %q", link, err, want)
	}
}
