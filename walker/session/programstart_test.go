package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker/report"
)

// An entry with an id that begins in the middle of its file: no name comes from a wrong start, and
// a finding says why there is none and what to add.
func TestProgramStart(t *testing.T) {
	const base, stack = 0x5590b80000, 0x7fe0000000
	const id = "030201000504070608090A0B0C0D0E0F0"
	sym := func(end int) []byte {
		out := "MODULE Linux arm64 " + id + " firefox\n"
		for i, name := range []string{"crash", "caller"} {
			out += fmt.Sprintf("FUNC %x 100 0 right_%s\nFUNC %x 100 0 wrong_%s\n", 0x35000+i*0x1000, name, 0x6000+i*0x1000, name)
		}
		return []byte(out + fmt.Sprintf("FUNC %x 10 0 last\n", end-0x10))
	}
	const maps = "5590b80000-5590ba0000 r--p 00000000 08:02 6 /usr/lib/firefox\n"
	const code = "5590baf000-5590c13000 r-xp 0001f000 08:02 6 /usr/lib/firefox\n"
	for _, c := range []struct {
		name, maps string
		end        int // of the code
		want       string
		finding    string
	}{
		{"the maps have the start", maps + code, 0x93000, "right_crash", ""},
		{"the maps have the entry alone", code, 0x40000, "", "the start of firefox is not known: its entry begins 0x1f000 bytes into the file, and the memory maps do not show where the program begins; 2 frames have no name, and offsets count from the entry's start; add firefox itself: its headers say where its code begins"},
		{"nothing has the start, and the entry is too small", "", 0x93000, "", "the start of firefox is not known: its entry has 0x64000 bytes, and by the symbol file there is code up to 0x93000, so that the entry does not begin where the program does; 2 frames have no name, and offsets count from the entry's start; add firefox itself: its headers say where its code begins"},
	} {
		ctx := dumptest.Context(dumptest.LittleEndian, "arm64", map[string]uint64{"pc": base + 0x35010, "lr": base + 0x36010, "sp": stack})
		d := dumptest.New(dumptest.LittleEndian).
			System(dumptest.System{Processor: dumptest.CPUARM64, Platform: dumptest.OSLinux}).
			Module(base+0x2f000, 0x64000, "/usr/lib/firefox", dumptest.ELF([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})).
			Thread(7, ctx, stack, make([]byte, 0x100)).
			Exception(7, 11, 1, 0x45, ctx)
		if c.maps != "" {
			d.Stream(0x47670009, []byte(c.maps))
		}
		s := withFakes()
		s.Add(source("a.dmp", d.Bytes()))
		s.Add(source("firefox.sym", sym(c.end)))
		r := s.Report(0)
		if got := r.Threads[0].Frames[0].Function.Raw; got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
		var finding string
		for _, f := range r.Findings {
			if f.Kind == report.FindingUnplaced {
				finding = f.Text + "; " + f.Suggestion
			}
		}
		if finding != c.finding {
			t.Errorf("%s: %q, not %q", c.name, finding, c.finding)
		}
		if c.want != "" {
			continue
		}
		s.Add(source("firefox", fake(strings.TrimSuffix(id, "0")+"0 firefox code")))
		for _, f := range s.Report(0).Findings {
			if f.Kind == report.FindingUnplaced && f.Suggestion != "have the dump written with the process's memory maps, or with all memory" {
				t.Errorf("%s, with the program: %q", c.name, f.Suggestion)
			}
		}
	}
}
