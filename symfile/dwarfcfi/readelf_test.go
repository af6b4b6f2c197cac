package dwarfcfi_test

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// What readelf --debug-dump=frames-interp prints is another reader's opinion of every row of every function: a difference means that
// a stack would be walked wrongly.

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

// sections opens what a file has: ".eh_frame", ".eh_frame without hdr", ".debug_frame".
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

// readelfRow is one line of readelf's tables.
type readelfRow struct {
	start, end uint64
	cfa        string
	cols       map[string]string
}

// parseReadelf calls f for every row, with the section's name and the offset of the entry.
func parseReadelf(r io.Reader, f func(section string, fde string, row readelfRow)) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	var section, entry string
	var names []string
	var rows []readelfRow
	var lo, hi uint64
	isFDE := false
	cies := map[string][]readelfRow{}
	cie := ""
	flush := func() {
		if entry == "" {
			return
		}
		if !isFDE {
			cies[section+entry] = rows
			rows = nil
			return
		}
		if len(rows) == 0 {
			if c := cies[section+cie]; len(c) > 0 {
				rows = append(rows, readelfRow{start: lo, cfa: c[len(c)-1].cfa, cols: c[len(c)-1].cols})
			}
		}
		for i := range rows {
			rows[i].end = hi
			if i+1 < len(rows) {
				rows[i].end = rows[i+1].start
			}
			f(section, entry, rows[i])
		}
		rows = nil
	}
	for sc.Scan() {
		line := sc.Text()
		fields := named(strings.Fields(line))
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			flush()
			section, entry = fields[3], ""
		case len(fields) > 3 && (fields[3] == "CIE" || fields[3] == "FDE"):
			flush()
			entry, isFDE, names = fields[0], fields[3] == "FDE", nil
			if isFDE {
				cie = strings.TrimPrefix(fields[4], "cie=")
				a, b, _ := strings.Cut(strings.TrimPrefix(fields[5], "pc="), "..")
				lo, _ = strconv.ParseUint(a, 16, 64)
				hi, _ = strconv.ParseUint(b, 16, 64)
			}
		case strings.HasPrefix(line, "   LOC "):
			names = fields[2:]
		case strings.HasSuffix(line, "ZERO terminator"):
		case names != nil && len(fields) == len(names)+2:
			loc, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil {
				continue
			}
			row := readelfRow{start: loc, cfa: fields[1], cols: map[string]string{}}
			for i, n := range names {
				row.cols[n] = fields[2+i]
			}
			rows = append(rows, row)
		}
	}
	flush()
}

// named takes the name where readelf has number and name: "r1 (rdx)".
func named(fields []string) []string {
	out := fields[:0]
	for _, f := range fields {
		if strings.HasPrefix(f, "(") && strings.HasSuffix(f, ")") && len(out) > 0 {
			out[len(out)-1] = strings.Trim(f, "()")
			continue
		}
		out = append(out, f)
	}
	return out
}

// readelfName is the name that readelf has for a register of ours.
func readelfName(a *cpu.Arch, n string) (cpu.Reg, bool) {
	if a == cpu.AMD64 || a == cpu.X86 {
		return a.Lookup(n)
	}
	if d, ok := strings.CutPrefix(n, "r"); ok && a != cpu.ARM {
		if v, err := strconv.Atoi(d); err == nil && v < len(a.DWARF) && a.DWARF[v] != cpu.NoReg {
			return a.DWARF[v], true
		}
		return 0, false
	}
	return a.Lookup(n)
}

// sameAs says what a rule of ours would look like in readelf's table, and whether that is what stands there.
func sameAs(a *cpu.Arch, ru unwind.Rule, said string, isRA bool) bool {
	switch {
	case said == "u":
		// The return address is then in its column's register, whichever that is, and sp is what it is before the call.
		return ru.Kind == unwind.Unset || ru.Kind == unwind.Undefined || isRA && ru.Kind == unwind.FromReg && ru.Offset == a.Frame.RABias ||
			a.CFABias != 0 && ru == unwind.Rule{Kind: unwind.FromCFA, Offset: -a.CFABias}
	case said == "s":
		return ru.Kind == unwind.Same || isRA && ru.Kind == unwind.FromReg && ru.Reg == a.LR
	case said == "exp" || said == "vexp":
		return ru.Kind != unwind.Unset && ru.Kind != unwind.Undefined && ru.Kind != unwind.Same
	case strings.HasPrefix(said, "c"):
		off, err := strconv.ParseInt(said[1:], 10, 64)
		return err == nil && ru == unwind.Rule{Kind: unwind.AtCFA, Offset: off}
	case strings.HasPrefix(said, "v"):
		off, err := strconv.ParseInt(said[1:], 10, 64)
		return err == nil && ru == unwind.Rule{Kind: unwind.FromCFA, Offset: off}
	}
	reg, ok := readelfName(a, said)
	want := unwind.Rule{Kind: unwind.FromReg, Reg: reg}
	if isRA {
		want.Offset = a.Frame.RABias
	}
	return ok && ru == want
}

func sameCFA(a *cpu.Arch, ru unwind.Rule, said string) bool {
	if said == "exp" {
		return ru.Kind != unwind.Unset && ru.Kind != unwind.Undefined
	}
	i := strings.LastIndexAny(said, "+-")
	if i < 1 {
		return false
	}
	reg, ok := readelfName(a, said[:i])
	off, err := strconv.ParseInt(said[i:], 10, 64)
	return ok && err == nil && ru == unwind.Rule{Kind: unwind.FromReg, Reg: reg, Offset: off}
}

// judge compares the rows of one section with readelf's, at the first and the last address of each, and counts them.
func judge(t *testing.T, tabs map[string]unwind.Table, cfg dwarfcfi.Config, r io.Reader) (rows int) {
	t.Helper()
	wrong := 0
	spans := map[string]*stretches{}
	for name, tab := range tabs {
		s := &stretches{}
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

// stretches are what Each gave, in order of address.
type stretches struct {
	start, end []uint64
	row        []unwind.Row
}

func (s *stretches) add(start, end uint64, row unwind.Row) error {
	if end <= start {
		return fmt.Errorf("a stretch from 0x%x to 0x%x", start, end)
	}
	s.start, s.end, s.row = append(s.start, start), append(s.end, end), append(s.row, row)
	return nil
}

func (s *stretches) at(rva uint64) (unwind.Row, bool) {
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

func differs(a *cpu.Arch, row unwind.Row, ok bool, err error, want readelfRow) string {
	if err != nil || !ok {
		return fmt.Sprintf("no row (%v, %v)", row.Origin, err)
	}
	if !sameCFA(a, row.CFA, want.cfa) {
		return "the CFA"
	}
	for name, said := range want.cols {
		if name == "ra" {
			if sameAs(a, row.RA, said, true) {
				continue
			}
			if _, register := a.Lookup(name); !register {
				return "the return address"
			}
			// Functions that are called in a way of their own have another column, and ra is a register like others.
		}
		reg, known := readelfName(a, name)
		if !known || reg == a.PC {
			continue
		}
		var ru unwind.Rule
		for _, s := range row.Saved {
			if s.Reg == reg {
				ru = s.Rule
			}
		}
		if !sameAs(a, ru, said, false) {
			return name
		}
	}
	return ""
}

const corpus = "../../../shared/corpus/other/"

func needCorpus(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("*** SKIPPED: the corpus is not beside the repository")
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

// TestReadelf compares with the readelf that is installed: files of the corpus, and of the system that the test runs on.
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
