package binary_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// goTargets are the processors and systems for which TestStrippedGo builds a program: both byte
// orders, both sizes of pointers, both ways to keep a return address, all formats.
var goTargets = []string{"GOARCH=amd64", "GOARCH=arm64", "GOARCH=s390x", "GOOS=windows GOARCH=386", "GOOS=darwin GOARCH=arm64", "GOOS=darwin GOARCH=amd64"}

// TestStrippedGo: a program that Go's linker stripped has the names, lines, inlined calls and unwind
// rules of the same program with DWARF.
func TestStrippedGo(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("*** SKIPPED: there is no compiler")
	}
	for _, target := range goTargets {
		t.Run(target, func(t *testing.T) {
			dir := t.TempDir()
			build := func(name, ldflags string) string {
				out := filepath.Join(dir, name)
				cmd := exec.Command("go", "build", "-o", out, "-ldflags="+ldflags, "testdata/golang/main.go")
				cmd.Env = append(append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0"), strings.Fields(target)...)
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("*** SKIPPED: the program cannot be built: %v\n%s", err, text)
				}
				return out
			}
			stripped := build("stripped", "-s -w")
			if strings.Contains(target, "windows") {
				makeExecutable(t, stripped, ".rdata")
			}
			full := build("full", "")
			compareGo(t, stripped, full)
			if strings.Contains(target, "darwin") {
				chainFixups(t, stripped)
				compareGo(t, stripped, full)
			}
		})
	}
}

// makeExecutable makes a section of a PE file executable, as Go's linker did with .rdata in older
// releases.
func makeExecutable(t *testing.T, file, section string) {
	t.Helper()
	b, err := os.ReadFile(file)
	header := bytes.Index(b, append([]byte(section), make([]byte, 8-len(section))...))
	if err != nil || header < 0 {
		t.Fatalf("no section %s: %v", section, err)
	}
	b[header+39] |= 0x20 // IMAGE_SCN_MEM_EXECUTE
	if err := os.WriteFile(file, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

// chainFixups makes the pointers in the data of a Mach-O file as the system's linker does, which links
// programs with C code: each has the distance from the header and to the next pointer of its page.
func chainFixups(t *testing.T, file string) {
	t.Helper()
	const command, dyldInfo, page = 0x80000034, 0x80000022, 0x1000
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := macho.Open(input.FromBytes(file, b))
	if err != nil {
		t.Fatal(err)
	}
	n := le
	end := m.Base
	for _, s := range m.Segments {
		end = max(end, s.Address+s.Size)
	}
	table := n.AppendUint32(make([]byte, 4), 28)
	table = n.AppendUint32(append(table, make([]byte, 20)...), uint32(len(m.Segments)))
	offsets := len(table)
	table = append(table, make([]byte, 4*len(m.Segments))...)
	for i, s := range m.Segments {
		if !s.Writable() || s.FileSize == 0 {
			continue
		}
		n.PutUint32(table[offsets+4*i:], uint32(len(table)-28))
		pages := s.FileSize / page
		table = n.AppendUint16(n.AppendUint16(append(table, 0, 0, 0, 0), page), 6)
		table = n.AppendUint16(n.AppendUint32(n.AppendUint64(table, s.Address-m.Base), 0), uint16(pages))
		for p := range pages {
			data := b[s.Offset+p*page:][:page]
			first, last := uint16(0xffff), 0
			for at := 0; at < page; at += 8 {
				v := n.Uint64(data[at:])
				if v < m.Base || v >= end {
					continue
				}
				if first == 0xffff {
					first = uint16(at)
				} else {
					n.PutUint64(data[last:], n.Uint64(data[last:])|uint64(at-last)/4<<51)
				}
				n.PutUint64(data[at:], v-m.Base)
				last = at
			}
			table = n.AppendUint16(table, first)
		}
	}
	at := bytes.Index(b, n.AppendUint32(nil, dyldInfo))
	n.PutUint32(b[at:], command)
	n.PutUint32(b[at+8:], uint32(len(b)))
	n.PutUint32(b[at+12:], uint32(len(table)))
	if err := os.WriteFile(file, append(b, table...), 0o755); err != nil {
		t.Fatal(err)
	}
}

// compareGo compares a stripped program with the same one that has DWARF.
func compareGo(t *testing.T, stripped, full string) {
	s, f := open(t, stripped), open(t, full)
	if has := s.Has(); !has.Functions || !has.Lines || !has.Inlines || !has.CFI {
		t.Fatalf("%s has %+v", stripped, has)
	}
	functions, names, lines, inlined, rows := 0, wrong{t: t}, wrong{t: t}, wrong{t: t}, wrong{t: t}
	err := f.Each(func(fn symbol.Function) error {
		if len(fn.Lines) == 0 || !strings.Contains(fn.Name, ".") {
			return nil
		}
		functions++
		step := uint64(1)
		if functions%8 != 0 && !strings.HasPrefix(fn.Name, "main.") {
			step = 64
		}
		for _, r := range fn.Ranges {
			for rva := r.Start; rva < r.Start+r.Size; rva += step {
				want, _, err := f.Lookup(rva)
				have, ans, err2 := s.Lookup(rva)
				if err != nil || err2 != nil {
					return fmt.Errorf("0x%x: %v, %v", rva, err, err2)
				}
				names.check(ans == symbol.Yes && have.Name == want.Name && have.Start == want.Start && have.Size == want.Size, "0x%x: function %s at 0x%x+0x%x, not %s at 0x%x+0x%x", rva, have.Name, have.Start, have.Size, want.Name, want.Start, want.Size)
				if row, ok := debugFrame(t, f, rva); ok {
					mine, ok := goRow(t, s, rva)
					rows.check(ok && mine.CFA.Equal(row.CFA) && mine.RA.Equal(row.RA) && mine.Outermost == row.Outermost && mine.Topmost == row.Topmost,
						"0x%x: %s\nnot %s", rva, mine.Describe(s.Arch()), row.Describe(f.Arch()))
				}
				if want.Line == 0 {
					continue // Go's DWARF has no line for the first instructions of generated functions
				}
				lines.check(innermost(&have) == innermost(&want), "0x%x: line %s, not %s", rva, innermost(&have), innermost(&want))
				inlined.check(inlines(&have) == inlines(&want), "0x%x: %s\nnot %s", rva, inlines(&have), inlines(&want))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if functions < 500 || names.good == 0 || rows.good == 0 {
		t.Errorf("%d functions, %d addresses, %d of them with rules", functions, names.good, rows.good)
	}
	t.Logf("%d functions; of addresses right and wrong: names %d %d, lines %d %d, inlined calls %d %d, rules %d %d", functions,
		names.good, names.bad, lines.good, lines.bad, inlined.good, inlined.bad, rows.good, rows.bad)
}

// wrong counts what is right and reports the first few things that are wrong.
type wrong struct {
	t         *testing.T
	good, bad int
}

func (w *wrong) check(ok bool, format string, args ...any) {
	if ok {
		w.good++
	} else if w.bad++; w.bad <= 5 {
		w.t.Errorf(format, args...)
	}
}

// innermost is the line of an address in the innermost inlined call.
func innermost(s *symbol.Symbol) string {
	if len(s.Inlines) > 0 {
		return fmt.Sprintf("%s:%d", s.Inlines[0].File, s.Inlines[0].Line)
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// inlines is the chain of inlined calls of an address.
func inlines(s *symbol.Symbol) (out string) {
	for _, c := range s.Inlines {
		out += fmt.Sprintf("%s %s:%d < ", c.Name, c.File, c.Line)
	}
	return fmt.Sprintf("%s%s %s:%d", out, s.Name, s.File, s.Line)
}

// debugFrame and goRow return the rules of one section.
func debugFrame(t *testing.T, f *binary.File, rva uint64) (unwind.Row, bool) {
	return sectionRow(t, f, ".debug_frame", rva)
}

func goRow(t *testing.T, f *binary.File, rva uint64) (unwind.Row, bool) {
	return sectionRow(t, f, ".gopclntab", rva)
}

func sectionRow(t *testing.T, f *binary.File, kind string, rva uint64) (unwind.Row, bool) {
	for _, s := range f.UnwindSections() {
		if s.Kind != kind {
			continue
		}
		table, err := s.Open()
		if err != nil {
			t.Fatal(err)
		}
		row, ok, err := table.Row(rva)
		if err != nil {
			t.Fatal(err)
		}
		return row, ok
	}
	return unwind.Row{}, false
}
