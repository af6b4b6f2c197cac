package binary_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// readBackFiles are binaries with their companions.
var readBackFiles = [][]string{
	{moz + "basic.full"},
	{moz + "basic.stripped", moz + "basic.dbg"},
	{symbolic + "crash", symbolic + "crash.debug"},
	{symbolic + "crash", symbolic + "crash.debug-zlib"},
	{symbolic + "arm64/cfi_test"},
	{samply + "simple-example/out/with-dwo/main", samply + "simple-example/out/with-dwo/main.dwo", samply + "simple-example/out/with-dwo/file1.dwo",
		samply + "simple-example/out/with-dwo/file2.dwo", samply + "simple-example/out/with-dwo/file3.dwo"},
	{samply + "simple-example/out/with-dwp/main", samply + "simple-example/out/with-dwp/main.dwp"},
	{samply + "simple-example/out/dwp-debuglink/main", samply + "simple-example/out/dwp-debuglink/main.dbg"},
	{samply + "ls-linux/ls", samply + "ls-linux/260a3e6e46db57abf718f6a3562c6eedccf269.debug", samply + "ls-linux/coreutils.debug"},
	{made + "stabs/t-stabs"}, {made + "stabs/t-stabs32"},
	{made + "sframe/amd64-O2.elf"}, {made + "sframe/arm64be-O2.so"},
	{made + "core2md/mt"},
	{framehop + "aarch64/vdso.so"}, {framehop + "aarch64/ld-2.31.so"},
	{framehop + "x86_64/nofp/libc.so.6"}, {framehop + "x86_64/nofp/release-libsoftokn3.so"},
	{"other/mstange+framehop/fixtures/android/arm/release-libmozglue.so"},
	{mozPE + "basic64.dll"}, {mozPE + "basic64-dwarf.dll"}, {mozPE + "dump_syms_regtest64.exe"}, {"other/made-here/zig/t-x86_64-windows-gnu.exe"},
	{"other/made-here/wine/crash64c.exe"}, {symbolicPE + "hello-dwarf.exe"}, {winapple + "wine/chain32-O2.exe"}, {winapple + "debugpy/inject_dll_amd64.exe"},
	{winapple + "emulated/deep-aarch64-O0.dll"}, {winapple + "clang-pe/t-aarch64-O2.dll"}, {winapple + "clang-pe/t-thumbv7-O0.dll"},
	{winapple + "emulated/deep-thumbv7-O2.dll"},
}

// Folders of Windows' files in the corpus.
const (
	mozPE      = "other/mozilla+dump_syms/test_data/windows/"
	symbolicPE = "other/getsentry+symbolic/symbolic-testutils/fixtures/windows/"
	winapple   = "winapple/"
)

// TestReadBack: a symbol file that we wrote answers at every address of a function what the binary
// answers, and at every address that has unwind rules the same rules.
func TestReadBack(t *testing.T) {
	corpus(t)
	for _, files := range readBackFiles {
		name := strings.Join(files[:1], "")
		var paths []string
		for _, f := range files {
			paths = append(paths, filepath.Join(corpusRoot, f))
		}
		readBack(t, name, open(t, paths[0], paths[1:]...))
	}
}

// TestReadBackTargets is TestReadBack for a program of each processor, as 32 and 64 bits and in
// both byte orders.
func TestReadBackTargets(t *testing.T) {
	words, read := map[string]string{}, map[*cpu.Arch]bool{}
	for _, pattern := range []string{"../../testdata/oracle/*.elf", "../elf/testdata/*.elf"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) < 10 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			b := open(t, path)
			words[b.Identity().Arch], read[b.Arch()] = path, true
			readBack(t, path, b)
		}
	}
	if words["sparcv9"] == "" { // it has no table
		t.Errorf("no file of sparcv9 among %v", words)
	}
	for _, a := range cpu.All() {
		if !read[a] && a != cpu.RISCV && a != cpu.SPARC { // no compiler of these is in Debian
			t.Errorf("no file of %s among %v", a.Name, words)
		}
	}
}

// TestReadBackMachO is TestReadBack for Mach-O programs with their dSYMs, and real ones without.
func TestReadBackMachO(t *testing.T) {
	for _, files := range [][]string{
		{"m-x86_64-fp.dylib", "m-x86_64-fp.dwarf"}, {"m-x86_64-nofp.dylib", "m-x86_64-nofp.dwarf"}, {"m-arm64-fp.dylib", "m-arm64-fp.dwarf"}, {"m-arm64-nofp.dylib", "m-arm64-nofp.dwarf"},
		{"traces/philox-arm64"}, {"traces/philox-x86_64"}, {"traces/swift-arm64"}, {"traces/swift-x86_64"}, {"traces/pac-arm64e"},
	} {
		var b *binary.File
		for i, name := range files {
			src := input.FromBytes(name, testfile.Read(t, "../macho/testdata/"+name+".gz"))
			var err error
			taken := true
			if i == 0 {
				b, err = binary.Open(src)
			} else {
				taken, err = b.Attach(src)
			}
			if err != nil || !taken {
				t.Fatal(name, taken, err)
			}
		}
		readBack(t, files[0], b)
	}
}

func readBack(t *testing.T, name string, b *binary.File) {
	t.Helper()
	var text bytes.Buffer
	n, err := b.WriteSym(&text, binary.SymOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Overlapping > 0 {
		t.Errorf("%s: %+v", name, n)
	}
	s := readSym(t, "ours.sym", text.String())
	if s.file.WarningCount > 0 {
		t.Errorf("%s: %v", name, s.file.Warnings)
	}
	lookups := readBackLookups(t, name, b, s)
	if b.Identity().OS == "mac" { // it has rules of the code too: walker/session walks stacks with them
		return
	}
	rows, lost := readBackRows(t, name, b, s, b.Arch())
	t.Logf("%s: %d lookups, %d rows the same; %d rows that the format has no words for", name, lookups, rows, lost)
}

// every calls f for the bounds and for addresses between them: all, or of large files some.
func every(bounds []uint64, f func(rva uint64)) {
	rnd := rand.New(rand.NewSource(1))
	pieces(slices.Clone(bounds), func(rva uint64, n int) {
		f(rva)
		f(rva + uint64(n) - 1)
		f(rva + uint64(rnd.Intn(n)))
	})
}

func readBackLookups(t *testing.T, name string, b *binary.File, s *symText) int {
	n, bad := 0, 0
	every(s.codeAt, func(rva uint64) {
		have, ans, err := s.file.Lookup(rva)
		if err != nil {
			t.Fatal(err)
		}
		if ans != symbol.Yes || have.Public {
			return
		}
		n++
		want, ans, err := b.Lookup(rva)
		for i := range have.Inlines {
			if have.Inlines[i].File == "<unknown>" {
				have.Inlines[i].File = ""
			}
		}
		if have.File == "<unknown>" {
			have.File = ""
		}
		have.Multiple, want.Multiple = false, false // a binary knows only when it has seen everything
		if a, b := fmt.Sprintf("%+v", have), fmt.Sprintf("%+v", want); err != nil || ans != symbol.Yes || a != b {
			if bad++; bad <= 3 {
				t.Errorf("%s at 0x%x: read back %s\nthe binary has %s %v %v", name, rva, a, b, ans, err)
			}
		}
	})
	if bad > 3 {
		t.Errorf("%s: %d lookups differ", name, bad)
	}
	return n
}

func readBackRows(t *testing.T, name string, b *binary.File, s *symText, arch *cpu.Arch) (n, lost int) {
	bad := 0
	every(s.ruleAt, func(rva uint64) {
		have, ans, err := s.file.Row(arch, rva)
		if err != nil {
			t.Fatalf("%s at 0x%x: %v", name, rva, err)
		}
		want, answer, err := b.Row(rva)
		if err != nil {
			t.Fatalf("%s at 0x%x: %v", name, rva, err)
		}
		if want.CannotUnwind { // no rule, in a symbol file
			answer, want = symbol.No, unwind.Row{}
		}
		if !want.CFA.Plain() {
			// The cfa of a .plt stub is written for each address: it has the same value.
			a, okA := cfaAt(arch, have, rva)
			b, okB := cfaAt(arch, want, rva)
			if !okA && ans == symbol.No {
				lost++
			} else if n++; !okA || !okB || a != b {
				bad++
				t.Errorf("%s at 0x%x: read back %s, the binary has %s", name, rva, have.Describe(arch), want.Describe(arch))
			}
			return
		}
		for _, r := range append([]unwind.RegRule{{Rule: want.RA}}, want.Saved...) {
			if !r.Rule.Plain() {
				lost++
				return
			}
		}
		n++
		if ans != answer && !(answer == symbol.Yes && want.CFA.Kind == unwind.Unset) || ans == symbol.Yes && (!sameRow(arch, &have, &want) || have.Outermost != want.Outermost) {
			if bad++; bad <= 3 {
				t.Errorf("%s at 0x%x: read back %s (%v), the binary has %s (%v)", name, rva, have.Describe(arch), ans, want.Describe(arch), answer)
			}
		}
	})
	if bad > 3 {
		t.Errorf("%s: %d rows differ", name, bad)
	}
	return n, lost
}

// cfaAt is the cfa of a row at an address, for a made-up stack.
func cfaAt(arch *cpu.Arch, row unwind.Row, rva uint64) (uint64, bool) {
	regs := cpu.Regs{Arch: arch}
	regs.Set(arch.PC, rva)
	regs.Set(arch.SP, 0x7ffe1230)
	row.RA, row.Saved = unwind.Rule{Kind: unwind.Const}, nil
	caller, _, err := row.Apply(&regs, noMemory{}, nil)
	return caller.SP(), err == nil
}

type noMemory struct{}

func (noMemory) Word(uint64, int) (uint64, bool) { return 0, false }
