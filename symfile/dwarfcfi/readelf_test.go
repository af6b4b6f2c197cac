package dwarfcfi_test

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// What readelf --debug-dump=frames-interp prints is another reader's opinion of every row of every
// function: a difference means that a stack would be walked wrongly.

func machine(f *elf.File) *cpu.Arch {
	wide := f.Class == elf.ELFCLASS64
	pick := func(a, b *cpu.Arch) *cpu.Arch {
		if wide {
			return b
		}
		return a
	}
	switch f.Machine {
	case elf.EM_386:
		return cpu.X86
	case elf.EM_X86_64:
		return cpu.AMD64
	case elf.EM_ARM:
		return cpu.ARM
	case elf.EM_AARCH64:
		return cpu.ARM64
	case elf.EM_MIPS:
		return pick(cpu.MIPS, cpu.MIPS64)
	case elf.EM_PPC:
		return cpu.PPC
	case elf.EM_PPC64:
		return cpu.PPC64
	case elf.EM_SPARC, elf.EM_SPARCV9: // the rules of 64-bit files can be compared, though nothing walks their stacks
		return cpu.SPARC
	case elf.EM_RISCV:
		return pick(cpu.RISCV, cpu.RISCV64)
	case elf.EM_S390:
		return cpu.S390X
	}
	return nil
}

func openELF(t testing.TB, path string) (*elf.File, dwarfcfi.Config) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	cfg := dwarfcfi.Config{Arch: machine(f), Order: f.ByteOrder, AddressSize: 4, File: filepath.Base(path)}
	if f.Class == elf.ELFCLASS64 {
		cfg.AddressSize = 8
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			cfg.Base = p.Vaddr &^ (max(p.Align, 1) - 1)
			break
		}
	}
	if s := f.Section(".got"); s != nil {
		cfg.Got = s.Addr
	}
	if s := f.Section(".text"); s != nil {
		cfg.Text = s.Addr
	}
	cfg.At = func(address uint64, n int64) ([]byte, error) {
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && address >= p.Vaddr && address+uint64(n) <= p.Vaddr+p.Filesz {
				b := make([]byte, n)
				_, err := p.ReadAt(b, int64(address-p.Vaddr))
				return b, err
			}
		}
		return nil, fmt.Errorf("nothing at 0x%x", address)
	}
	return f, cfg
}

// tables opens the sections that a file has: ".eh_frame", ".eh_frame without hdr", ".debug_frame".
func tables(t testing.TB, path string) map[string]unwind.Table {
	t.Helper()
	f, cfg := openELF(t, path)
	out := map[string]unwind.Table{}
	src := func(s *elf.Section) *input.Source {
		if s.Flags&elf.SHF_COMPRESSED != 0 {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			return input.FromBytes(path, data)
		}
		return input.New(path, s.ReaderAt, int64(s.FileSize))
	}
	put := func(name string, tab unwind.Table, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = tab
	}
	if eh := f.Section(".eh_frame"); eh != nil && eh.Type != elf.SHT_NOBITS && eh.Size > 4 {
		if hdr := f.Section(".eh_frame_hdr"); hdr != nil {
			tab, err := dwarfcfi.EHFrame(src(eh), eh.Addr, src(hdr), hdr.Addr, cfg)
			put(".eh_frame", tab, err)
		}
		tab, err := dwarfcfi.EHFrame(src(eh), eh.Addr, nil, 0, cfg)
		put(".eh_frame scanned", tab, err)
	}
	if d := f.Section(".debug_frame"); d != nil && d.Type != elf.SHT_NOBITS {
		tab, err := dwarfcfi.DebugFrame(src(d), cfg)
		put(".debug_frame", tab, err)
	}
	return out
}

// judge compares the rows of one section with readelf's, at the first and the last address of each,
// and counts them.
func judge(t *testing.T, tabs map[string]unwind.Table, cfg dwarfcfi.Config, r io.Reader) (rows int) {
	t.Helper()
	wrong := 0
	spans := map[string]*ruleRanges{}
	for name, tab := range tabs {
		s := &ruleRanges{}
		if err := tab.Each(s.add); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		spans[name] = s
	}
	parseReadelf(r, func(section, entry string, want readelfRow) {
		if want.end <= want.start || want.start < cfg.Base || want.start == 0 {
			return
		}
		rows++
		for name, tab := range tabs {
			if plain, _, _ := strings.Cut(name, " "); plain != section {
				continue
			}
			for _, pc := range []uint64{want.start, want.end - 1} {
				row, ok, err := tab.Row(pc - cfg.Base)
				if why := differs(cfg.Arch, row, ok, err, want); why != "" {
					if wrong++; wrong < 20 {
						t.Errorf("%s FDE %s pc 0x%x: %s; readelf has cfa %s %v, here %s", name, entry, pc, why, want.cfa, want.cols, row.Describe(cfg.Arch))
					}
				}
				each, found := spans[name].at(pc - cfg.Base)
				if ok && (!found || !each.Equal(&row)) {
					if wrong++; wrong < 20 {
						t.Errorf("%s FDE %s pc 0x%x: Each has %v %s, Row %s", name, entry, pc, found, each.Describe(cfg.Arch), row.Describe(cfg.Arch))
					}
				}
			}
		}
	})
	if wrong > 0 {
		t.Errorf("%d differences in %d rows", wrong, rows)
	}
	return rows
}

// ruleRanges are the ranges of Each by address.
type ruleRanges struct {
	start, end []uint64
	row        []unwind.Row
}

func (s *ruleRanges) add(start, end uint64, row unwind.Row) error {
	if end <= start {
		return fmt.Errorf("a range from 0x%x to 0x%x", start, end)
	}
	s.start, s.end, s.row = append(s.start, start), append(s.end, end), append(s.row, row)
	return nil
}

func (s *ruleRanges) at(rva uint64) (unwind.Row, bool) {
	lo, hi := 0, len(s.start)
	for lo < hi {
		if mid := (lo + hi) / 2; s.start[mid] > rva {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 || rva >= s.end[lo-1] {
		return unwind.Row{}, false
	}
	return s.row[lo-1], true
}

const corpus = "../../../shared/corpus/other/"

func needCorpus(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("*** SKIPPED: the corpus is not next to the repository")
	}
}

func TestMadeHere(t *testing.T) {
	needCorpus(t)
	files, _ := filepath.Glob(corpus + "made-here/sframe/*.ehframe.txt")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, text := range files {
		path := strings.TrimSuffix(text, ".ehframe.txt")
		t.Run(path, func(t *testing.T) {
			_, cfg := openELF(t, path)
			f, err := os.Open(text)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			tabs := tables(t, path)
			t.Logf("%d rows", judge(t, tabs, cfg, f))
			for name, tab := range tabs {
				if w := tab.Warnings(); len(w) > 0 {
					t.Errorf("%s: %v", name, w)
				}
			}
		})
	}
}

// TestReadelf compares with the readelf that is installed: files of the corpus, and of the system
// that the test runs on.
func TestReadelf(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no processes here")
	}
	tool, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("*** SKIPPED: readelf is not installed")
	}
	for _, path := range hostFiles() {
		t.Run(path, func(t *testing.T) {
			if st, err := os.Stat(path); err != nil || testing.Short() && st.Size() > 1<<20 {
				t.Skip("*** SKIPPED: not there, or large under -short")
			}
			_, cfg := openELF(t, path)
			tabs := tables(t, path)
			if len(tabs) == 0 {
				t.Skip("*** SKIPPED: no call frame information")
			}
			cmd := exec.Command(tool, "--debug-dump=frames-interp", "--wide", path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d rows", judge(t, tabs, cfg, out))
			io.Copy(io.Discard, out)
			cmd.Wait()
			for name, tab := range tabs {
				if w := tab.Warnings(); len(w) > 0 {
					t.Logf("%s: %v", name, w)
				}
			}
		})
	}
}

func hostFiles() []string {
	list := []string{"/bin/bash", "/usr/bin/python3", "/lib/x86_64-linux-gnu/libc.so.6", "/lib/ld-linux.so.2", "/lib/i386-linux-gnu/libc.so.6"}
	// Libraries of cross compilers, one a processor.
	cross, _ := filepath.Glob("/usr/*-linux-gnu*/lib*/libc.so.6")
	list = append(list, cross...)
	cross, _ = filepath.Glob("/usr/*-linux-gnu*/lib*/libgcc_s.so.1")
	list = append(list, cross...)
	for _, c := range []string{"mstange+framehop/fixtures/linux/*/*.so*", "mstange+framehop/fixtures/linux/*/*/*.so*", "mstange+framehop/fixtures/android/arm/*.so",
		"getsentry+symbolic/symbolic-testutils/fixtures/linux/crash*", "getsentry+symbolic/symbolic-testutils/fixtures/linux/arm64/*", "mozilla+dump_syms/test_data/linux/basic.full",
		"mozilla+dump_syms/test_data/linux/basic.dbg", "getsentry+rust-breakpad/tests/fixtures/hello_linux", "made-here/core2md/mt", "made-here/stabs/t-stabs", "made-here/stabs/t-stabs32",
		"mstange+samply/fixtures/*/*"} {
		found, _ := filepath.Glob(corpus + c)
		for _, f := range found {
			if isELF(f) {
				list = append(list, f)
			}
		}
	}
	return list
}

func isELF(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return machine(f) != nil
}

func machineOf(t testing.TB, path string) *cpu.Arch {
	_, cfg := openELF(t, path)
	return cfg.Arch
}

// TestRawSections wraps the corpus' bare sections into ELF files for readelf.
func TestRawSections(t *testing.T) {
	needCorpus(t)
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no processes here")
	}
	readelf, err := exec.LookPath("readelf")
	objcopy, err2 := exec.LookPath("objcopy")
	if err != nil || err2 != nil {
		t.Skip("*** SKIPPED: readelf and objcopy are not both installed")
	}
	for _, c := range []struct{ file, section string }{
		{"gimli-rs+gimli/fixtures/self/eh_frame", ".eh_frame,alloc,load,readonly,data,contents"},
		{"go-delve+delve/pkg/dwarf/frame/testdata/frame", ".debug_frame"},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			plain, placed := filepath.Join(t.TempDir(), "a.o"), filepath.Join(t.TempDir(), "a.elf")
			name, _, _ := strings.Cut(c.section, ",")
			for _, args := range [][]string{
				{"-I", "binary", "-O", "elf64-x86-64", "--rename-section", ".data=" + c.section, corpus + c.file, plain},
				{"--change-section-address", name + "=0x10000000", plain, placed},
			} {
				if out, err := exec.Command(objcopy, args...).CombinedOutput(); err != nil {
					t.Skipf("*** SKIPPED: objcopy: %v %s", err, out)
				}
			}
			out, err := exec.Command(readelf, "--debug-dump=frames-interp", "--wide", placed).Output()
			if err != nil {
				t.Fatal(err)
			}
			_, cfg := openELF(t, placed)
			n := judge(t, tables(t, placed), cfg, strings.NewReader(string(out)))
			t.Logf("%d rows", n)
			if n < 1000 {
				t.Error("too few rows")
			}
		})
	}
}

// The two sections in the corpus are of different programs, which shows only when the table's
// entries are looked at. The answers are those of the section.
func TestHeaderOfAnotherProgram(t *testing.T) {
	needCorpus(t)
	read := func(name string) *input.Source {
		data, err := os.ReadFile(corpus + "gimli-rs+gimli/fixtures/self/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return input.FromBytes(name, data)
	}
	hdr := read("eh_frame_hdr")
	head, err := hdr.Bytes(0, 8)
	if err != nil {
		t.Fatal(err)
	}
	const frames = 0x10000000
	at := frames - 4 - uint64(int64(int32(binary.LittleEndian.Uint32(head[4:])))) // the header says how far away the section is
	cfg := dwarfcfi.Config{Arch: cpu.AMD64, Order: binary.LittleEndian, AddressSize: 8, File: "self"}
	with, err := dwarfcfi.EHFrame(read("eh_frame"), frames, hdr, at, cfg)
	if err != nil {
		t.Fatal(err)
	}
	without, err := dwarfcfi.EHFrame(read("eh_frame"), frames, nil, 0, cfg)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = without.Each(func(start, end uint64, want unwind.Row) error {
		n++
		for _, rva := range []uint64{start, end - 1} {
			if got, ok, err := with.Row(rva); err != nil || !ok || !got.Equal(&want) {
				t.Errorf("0x%x: %s %v %v, want %s", rva, got.Describe(cpu.AMD64), ok, err, want.Describe(cpu.AMD64))
			}
		}
		return nil
	})
	if err != nil || n < 1000 || len(with.Warnings()) != 1 {
		t.Errorf("%d ranges, %v, %v", n, err, with.Warnings())
	}
}
