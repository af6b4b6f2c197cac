package stabs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

const corpusRoot = "../../../shared/corpus/other/made-here/stabs"

func openELF(t testing.TB, path string) *Table {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(input.FromBytes(path, data))
	if err != nil {
		t.Fatal(err)
	}
	table, err := OpenELF(f)
	if err != nil || table == nil {
		t.Fatalf("%s: %v, %v", path, table, err)
	}
	return table
}

// TestCorpusAgainstBreakpad compares functions and lines with what Breakpad's dump_syms wrote of
// the same programs. It leaves the directory out of file names, and writes lines without code,
// which are left out here.
func TestCorpusAgainstBreakpad(t *testing.T) {
	paths, _ := filepath.Glob(corpusRoot + "/*.breakpad.sym")
	if len(paths) == 0 {
		t.Skip("*** SKIPPED: there is no corpus of STABS at " + corpusRoot)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, l := range strings.Split(string(text), "\n") {
			var at, size, line, file uint64
			var name string
			if n, _ := fmt.Sscanf(l, "FUNC %x %x 0 %s", &at, &size, &name); n == 3 {
				fmt.Fprintf(&want, "%s %x+%x\n", name, at, size)
			} else if n, _ := fmt.Sscanf(l, "%x %x %d %d", &at, &size, &line, &file); n == 4 && size > 0 {
				fmt.Fprintf(&want, " %x+%x t.c:%d\n", at, size, line)
			}
		}
		table := openELF(t, strings.TrimSuffix(path, ".breakpad.sym"))
		got := strings.ReplaceAll(show(t, table), "/build/crashpane1/stabs/", "")
		if got != want.String() {
			t.Errorf("%s:\n%s\nwant:\n%s", path, got, want.String())
		}
		agree(t, table)
	}
}

// TestCompilers compiles the sources in testdata with whichever GCC for STABS is installed, links
// them, and compares every address with binutils' addr2line.
func TestCompilers(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no programs can be run under js/wasm; compilers are tried natively")
	}
	n := 0
	for _, prefix := range []string{"x86_64-linux-gnu-", "i686-linux-gnu-", "powerpc-linux-gnu-", "powerpc64-linux-gnu-", "mips-linux-gnu-",
		"mips64el-linux-gnuabi64-", "sparc64-linux-gnu-", "s390x-linux-gnu-"} {
		for _, options := range []string{"-gstabs+ -O2", "-gstabs -O0", "-gstabs+ -O1 -fuse-ld=gold"} {
			if compiled(t, prefix, options) {
				n++
			}
		}
	}
	if n == 0 {
		t.Skip("*** SKIPPED: no compiler here writes STABS; NOTHING was compared with addr2line")
	}
	t.Logf("%d programs compared", n)
}

func compiled(t *testing.T, prefix, options string) bool {
	dwarf := prefix == "powerpc64-linux-gnu-" // see below
	if dwarf {
		options = strings.ReplaceAll(options, "-O2", "-O1") // where DWARF marks lines that are no statements
	}
	dir := t.TempDir()
	out := filepath.Join(dir, "out.so")
	args := append(strings.Fields(options), "-shared", "-fPIC", "-nostdlib", "-w", "-o", out, "testdata/one.c", "testdata/three.c")
	if exec.Command(prefix+"g++", "--version").Run() == nil {
		args = append(args, "testdata/two.cc")
	}
	if text, err := exec.Command(prefix+"gcc", args...).CombinedOutput(); err != nil {
		t.Logf("*** SKIPPED: %sgcc %s: %v: %.200s", prefix, options, err, text)
		return false
	}
	table := openELF(t, out)
	agree(t, table)
	// The object file of one source says the same of its functions, at other addresses.
	object := filepath.Join(dir, "one.o")
	if text, err := exec.Command(prefix+"gcc", append(strings.Fields(options), "-c", "-fPIC", "-w", "-o", object, "testdata/one.c")...).CombinedOutput(); err != nil {
		t.Errorf("%s: %s", err, text)
	} else {
		inProgram := functions(t, table)
		for name, want := range functions(t, openELF(t, object)) {
			if inProgram[name] != want {
				t.Errorf("%s %s: %s in the object file:\n%s\nin the program:\n%s", prefix, options, name, want, inProgram[name])
			}
		}
	}
	var addresses strings.Builder
	var ours []symbol.Symbol
	table.Each(func(f symbol.Function) error {
		for a := f.Ranges[0].Start; a < f.Ranges[0].Start+f.Ranges[0].Size; a++ {
			s, _, err := table.Lookup(a)
			if err != nil {
				t.Fatal(err)
			}
			ours = append(ours, s)
			fmt.Fprintf(&addresses, "%#x\n", a)
		}
		return nil
	})
	if len(ours) < 100 {
		t.Errorf("%s %s: only %d addresses", prefix, options, len(ours))
	}
	if dwarf {
		// binutils does not follow descriptors from STABS to the code. The same code with DWARF has
		// the same addresses.
		for i, a := range args {
			args[i] = strings.ReplaceAll(strings.ReplaceAll(a, "-gstabs+", "-gdwarf-4"), "-gstabs", "-gdwarf-4")
		}
		if text, err := exec.Command(prefix+"gcc", args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	}
	tool := exec.Command(prefix+"addr2line", "-f", "-e", out)
	tool.Stdin = strings.NewReader(addresses.String())
	text, err := tool.Output()
	if err != nil {
		t.Logf("*** SKIPPED: %saddr2line: %v", prefix, err)
		return false
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	wrong, compared := 0, 0
	for _, s := range ours {
		lines.Scan()
		name := lines.Text()
		lines.Scan()
		place, _, _ := strings.Cut(lines.Text(), " (")
		if strings.HasSuffix(place, ":?") { // it misses functions before their unit's start, and all of ELFv1
			continue
		}
		compared++
		got := fmt.Sprintf("%s:%d", s.File, s.Line)
		// DWARF knows inlined functions, and the directory that -gstabs leaves out.
		if (name != s.Name || place != got) && !(dwarf && strings.HasSuffix(place, got) && (name == s.Name || name == "scaled" || name == "guarded")) {
			if wrong++; wrong < 20 {
				t.Errorf("%s %s: %s %s; addr2line: %s %s", prefix, options, s.Name, got, name, place)
			}
		}
	}
	t.Logf("%s %s: %d of %d addresses compared", prefix, options, compared, len(ours))
	if wrong > 0 {
		t.Errorf("%s %s: %d of %d addresses differ", prefix, options, wrong, len(ours))
	}
	return true
}

// functions writes each function with its lines relative to its start.
func functions(t *testing.T, table *Table) map[string]string {
	all := map[string]string{}
	table.Each(func(f symbol.Function) error {
		var b strings.Builder
		for _, l := range f.Lines {
			fmt.Fprintf(&b, " +%x %s:%d\n", l.Start-f.Ranges[0].Start, l.File, l.Line)
		}
		all[f.Name] = b.String()
		return nil
	})
	return all
}
