package exidx_test

import (
	"bufio"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/exidx"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// readelf --unwind puts each instruction into words. They are followed here with plain numbers in
// the registers and on the stack; applying our row to the same has to give the same caller.

// words is a stack in which the value of each word is its address.
type words struct{}

func (words) Word(addr uint64, size int) (uint64, bool) { return uint64(uint32(addr*7 + 1)), true }

func numbered() cpu.Regs {
	r := cpu.Regs{Arch: cpu.ARM}
	for i := range 16 {
		r.Set(cpu.ARM.DWARF[i], uint64(0x100000*(i+1)))
	}
	return r
}

// follow does what one line of readelf's says.
func follow(line string, regs *[16]uint32, vsp *uint32, popped map[int]bool) error {
	pop := func(i int) {
		v, _ := words{}.Word(uint64(*vsp), 4)
		regs[i], popped[i] = uint32(v), true
		*vsp += 4
	}
	switch {
	case strings.HasPrefix(line, "vsp = vsp "):
		var sign string
		var n uint32
		if _, err := fmt.Sscanf(line, "vsp = vsp %s %d", &sign, &n); err != nil {
			return err
		}
		if sign == "-" {
			n = -n
		}
		*vsp += n
	case strings.HasPrefix(line, "vsp = r"):
		n, err := strconv.Atoi(strings.Fields(line[7:])[0])
		if err != nil {
			return err
		}
		*vsp = regs[n]
	case strings.HasPrefix(line, "pop {D"):
		from, to, several := strings.Cut(strings.Trim(line[4:], "{} "), "-")
		a, err1 := strconv.Atoi(from[1:])
		b, err2 := a, error(nil)
		if several {
			b, err2 = strconv.Atoi(to[1:])
		}
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q", line)
		}
		*vsp += uint32(b-a+1) * 8
	case strings.HasPrefix(line, "pop {r"):
		for _, r := range strings.Split(strings.Trim(line[4:], "{} "), ", ") {
			n, err := strconv.Atoi(r[1:])
			if err != nil {
				return err
			}
			pop(n)
		}
		if popped[13] {
			*vsp = regs[13]
		}
	case line == "finish":
	default:
		return fmt.Errorf("what readelf says is not understood: %q", line)
	}
	return nil
}

func TestReadelf(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: no processes here")
	}
	tool, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("*** SKIPPED: readelf is not installed")
	}
	files, _ := filepath.Glob("../../../shared/corpus/other/mstange+framehop/fixtures/android/arm/*.so")
	more, _ := filepath.Glob("/usr/arm-linux-gnueabihf/lib/lib*.so.?")
	files = append(files, more...)
	if len(files) == 0 {
		t.Skip("*** SKIPPED: no ARM binaries here")
	}
	for _, path := range files {
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { compare(t, tool, path) })
	}
}

func openELF(t testing.TB, path string) unwind.Table {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	sec := f.Section(".ARM.exidx")
	if sec == nil {
		t.Skip("*** SKIPPED: no .ARM.exidx")
	}
	at := func(address uint64, n int64) ([]byte, error) {
		for _, s := range f.Sections {
			if s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC != 0 && address >= s.Addr && address+uint64(n) <= s.Addr+s.Size {
				p := make([]byte, n)
				_, err := s.ReadAt(p, int64(address-s.Addr))
				return p, err
			}
		}
		return nil, fmt.Errorf("nothing at 0x%x", address)
	}
	tab, err := exidx.Open(input.New(path, sec, int64(sec.Size)), sec.Addr, at, exidx.Config{Order: f.ByteOrder, File: filepath.Base(path)})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func compare(t *testing.T, tool, path string) {
	tab := openELF(t, path)
	out, err := exec.Command(tool, "--unwind", "--wide", path).Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	var start uint64
	var lines []string
	entries, wrong := 0, 0
	personal := 0
	judge := func() {
		if start == 0 {
			return
		}
		entries++
		if len(lines) == 1 && strings.HasPrefix(lines[0], "Personality") {
			personal++ // a routine without a name: readelf does not know the entry's form
			return
		}
		if why := judgeEntry(tab, start, lines); why != "" {
			if wrong++; wrong < 10 {
				t.Errorf("0x%x: %s\n%s", start, why, strings.Join(lines, "\n"))
			}
		}
	}
	sc := bufio.NewScanner(strings.NewReader(string(out)))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		line := sc.Text()
		switch {
		case strings.HasPrefix(line, "0x"):
			judge()
			first := strings.TrimSuffix(strings.Fields(line)[0], ":")
			start, _ = strconv.ParseUint(first[2:], 16, 64)
			lines = nil
			if strings.Contains(line, "[cantunwind]") {
				lines = []string{"cantunwind"}
			}
		case strings.HasPrefix(line, "  Personality"):
			lines = append(lines, strings.TrimSpace(line))
		case strings.HasPrefix(line, "  0x"):
			rest := strings.Fields(line)
			for len(rest) > 0 && strings.HasPrefix(rest[0], "0x") {
				rest = rest[1:]
			}
			lines = append(lines, strings.Join(rest, " "))
		}
	}
	judge()
	n := 0
	if err := tab.Each(func(uint64, uint64, unwind.Row) error { n++; return nil }); err != nil {
		t.Error(err)
	}
	t.Logf("%d entries, %d that readelf does not decode, %d ranges, warnings %v", entries, personal, n, tab.Warnings())
	if wrong > 0 || entries == 0 {
		t.Errorf("%d of %d entries differ", wrong, entries)
	}
}

func judgeEntry(tab unwind.Table, start uint64, lines []string) string {
	row, ok, err := tab.Row(start)
	if err != nil || !ok {
		return fmt.Sprintf("no row (%v)", err)
	}
	if len(lines) == 1 && (lines[0] == "cantunwind" || lines[0] == "Refuse to unwind") {
		if !row.Outermost {
			return "it can be unwound: " + row.Describe(cpu.ARM)
		}
		return ""
	}
	callee := numbered()
	var regs [16]uint32
	for i := range regs {
		v, _ := callee.Get(cpu.ARM.DWARF[i])
		regs[i] = uint32(v)
	}
	vsp, popped := regs[13], map[int]bool{}
	for _, l := range lines {
		if l == "finish" {
			break
		}
		if strings.HasPrefix(l, "Personality") {
			continue
		}
		if err := follow(l, &regs, &vsp, popped); err != nil {
			return err.Error()
		}
	}
	if !popped[15] {
		regs[15] = regs[14]
	}
	caller, _, err := row.Apply(&callee, words{}, nil)
	if err != nil {
		return err.Error()
	}
	regs[13] = vsp
	for i := range 16 {
		v, known := caller.Get(cpu.ARM.DWARF[i])
		if !known && (i < 4 || i == 12 || i == 14) && (!popped[i] || i == 14) {
			continue
		}
		if !known || uint32(v) != regs[i] {
			return fmt.Sprintf("r%d is 0x%x (known %v), want 0x%x; %s", i, v, known, regs[i], row.Describe(cpu.ARM))
		}
	}
	return ""
}
