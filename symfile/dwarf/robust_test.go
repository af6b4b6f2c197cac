package dwarf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// made are sections in memory.
type made map[string][]byte

func (m made) sections(order binary.ByteOrder) Sections {
	return Sections{Order: order, File: "made", Get: func(name string) (*input.Source, error) {
		b, ok := m[name]
		if !ok {
			return nil, nil
		}
		return input.FromBytes(name, b), nil
	}}
}

// loaded are the debug sections of a file of testdata.
func loaded(tb testing.TB, name string) made {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	m := made{}
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			if m[s.Name], err = s.Data(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return m
}

// all calls every method: nothing may panic, hang, or return an error for damage in the file.
func all(tb testing.TB, m made) (functions int, warnings []string) {
	tb.Helper()
	defer func(was int64) { skimFrom = was }(skimFrom)
	skimFrom = 0
	s := m.sections(binary.LittleEndian)
	opt := Options{Alt: &s, Split: func(string) (*Sections, bool) { return &s, true }}
	d, err := Open(s, opt)
	if err != nil {
		tb.Fatal(err)
	}
	d.Has()
	var at []uint64
	if err := d.Each(func(f symbol.Function) error {
		functions++
		if len(f.Ranges) == 0 || f.Name == "" {
			tb.Errorf("%+v", f)
		}
		last := uint64(0)
		for _, l := range f.Lines {
			if l.Start < last || l.Size == 0 || !inside(f.Ranges, l.Start) || !inside(f.Ranges, l.Start+l.Size-1) {
				tb.Errorf("%s: line %+v, behind %x, in %x", f.Name, l, last, f.Ranges)
			}
			last = l.Start + l.Size
		}
		at = append(at, f.Ranges[0].Start)
		return nil
	}); err != nil {
		tb.Fatalf("Each: %v", err)
	}
	d, _ = Open(s, opt)
	for i := 0; i < len(at); i += 1 + len(at)/5 {
		if _, _, err := d.Lookup(at[i]); err != nil {
			tb.Fatalf("Lookup: %v", err)
		}
	}
	if _, _, err := d.Lookup(0x1234567); err != nil {
		tb.Fatalf("Lookup: %v", err)
	}
	for _, w := range d.Warnings() {
		if !strings.Contains(w, ".debug_") && !strings.Contains(w, ".gdb_index") {
			tb.Errorf("a warning without a section: %s", w)
		}
	}
	return functions, d.Warnings()
}

// TestTruncated cuts each section at each offset: the rest is read, and a warning names the damage.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"gcc5.elf", "clang5.elf", "gcc2.elf", "gcc5-dwz.elf"} {
		whole := loaded(t, name)
		want, _ := all(t, whole)
		for section, b := range whole {
			if section == ".debug_loclists" || section == ".debug_loc" || section == ".debug_frame" {
				continue
			}
			step := 1 + len(b)/sweep
			for n := 0; n < len(b); n += step {
				cut := made{}
				for k, v := range whole {
					cut[k] = v
				}
				cut[section] = b[:n:n]
				if got, _ := all(t, cut); got > want {
					t.Errorf("%s: %d bytes of %s: %d functions, whole %d", name, n, section, got, want)
				}
			}
		}
	}
}

// TestFlipped changes bytes all over.
func TestFlipped(t *testing.T) {
	for _, name := range []string{"gcc5.elf", "clang4.elf", "gcc4-types.elf"} {
		whole := loaded(t, name)
		for section, b := range whole {
			step := 1 + len(b)/(sweep/2)
			for n := 0; n < len(b); n += step {
				for _, v := range []byte{0, 0xff, b[n] ^ 0x80, b[n] + 1} {
					bad := made{}
					for k, v := range whole {
						bad[k] = v
					}
					bad[section] = bytes.Clone(b)
					bad[section][n] = v
					all(t, bad)
				}
			}
		}
	}
}

// TestReadErrors: errors of the reader are returned, and missing bytes make the answer Needs.
func TestReadErrors(t *testing.T) {
	whole := loaded(t, "gcc5.elf")
	need := &input.NeedError{Name: "part", Ranges: []input.Range{{Offset: 1, Size: 2}}}
	for name, c := range map[string]struct {
		err  error
		want symbol.Answer
	}{"needs": {need, symbol.Needs}, "fails": {errors.New("disk on fire"), symbol.No}} {
		for _, section := range []string{".debug_info", ".debug_line", ".debug_abbrev", ".debug_str", ".debug_aranges", ".debug_rnglists"} {
			s := whole.sections(binary.LittleEndian)
			broken := false
			get := s.Get
			s.Get = func(n string) (*input.Source, error) {
				if n == section && broken {
					return input.New(n, failing{c.err}, int64(len(whole[n]))), nil
				}
				return get(n)
			}
			broken = true
			d, err := Open(s, Options{})
			if err == nil {
				var ans symbol.Answer
				if _, ans, err = d.Lookup(0x1000); ans != c.want {
					t.Errorf("%s, %s: %v, want %v", name, section, ans, c.want)
				}
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%s, %s: %v", name, section, err)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// fuzzed makes sections of one piece of bytes: each begins with its number and its length.
func fuzzed(data []byte) made {
	m := made{}
	for len(data) >= 3 {
		id := sectionID(data[0]&0x7f) % numSections
		n := min(int(binary.LittleEndian.Uint16(data[1:])), len(data)-3)
		name := sectionKinds[id].name
		if data[0]&0x80 != 0 {
			name += ".dwo"
		}
		m[name] = data[3 : 3+n]
		data = data[3+n:]
	}
	return m
}

func packed(m made) []byte {
	var out []byte
	for i, kind := range sectionKinds {
		for _, dwo := range []string{"", ".dwo"} {
			b, ok := m[kind.name+dwo]
			if !ok {
				continue
			}
			id := byte(i)
			if dwo != "" {
				id |= 0x80
			}
			b = b[:min(len(b), 0xffff)]
			out = append(out, id, byte(len(b)), byte(len(b)>>8))
			out = append(out, b...)
		}
	}
	return out
}

// FuzzDWARF goes over everything that made sections answer.
func FuzzDWARF(f *testing.F) {
	for _, name := range []string{"gcc2.elf", "gcc5.elf", "clang5.elf", "gcc4-split-more.dwo", "clang5-split.dwp"} {
		f.Add(packed(loaded(f, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		all(t, fuzzed(data))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%d bytes took %v", len(data), took)
		}
	})
}

// FuzzLine executes a line program.
func FuzzLine(f *testing.F) {
	for _, name := range []string{"gcc2.elf", "gcc5.elf", "clang5.elf", "clang5-64.elf"} {
		f.Add(loaded(f, name)[".debug_line"])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Open(made{".debug_line": data}.sections(binary.LittleEndian), Options{})
		if err != nil {
			t.Fatal(err)
		}
		u := &unit{obj: d.main, hasStmts: true, encoding: encoding{version: 5, addr: 8, off: 4}}
		table, err := d.lines(u)
		if err := d.warnings.Pass(err); err != nil {
			t.Fatal(err)
		}
		last := uint64(0)
		for _, p := range table.within(nil, 0, 1<<20) {
			if p.start < last || p.end <= p.start {
				t.Fatalf("lines over each other: %+v after %x", p, last)
			}
			last = p.end
			if _, err := table.path(p.file); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// sweep is how many offsets of a section the sweeps try: all of them would take minutes under wasm.
var sweep = func() int {
	if runtime.GOOS == "js" {
		return 6
	}
	return 60
}()
