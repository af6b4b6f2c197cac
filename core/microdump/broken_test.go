package microdump_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/microdump"
)

// TestBroken changes one line of a sound microdump; the diagnostic names that line, and the rest is
// read.
func TestBroken(t *testing.T) {
	lines := sample().Lines()
	at := func(start string) int {
		for i, l := range lines {
			if strings.HasPrefix(l, start) {
				return i
			}
		}
		t.Fatalf("no line starts with %q", start)
		return 0
	}
	for _, c := range []struct {
		start   string // of the line that is replaced
		instead string
		want    string // a part of the diagnostic
		other   int    // the line it names, if not the changed one; -1: none is expected
		good    func(d *core.Dump) bool
	}{
		{"O ", "O A", "O record", 0, func(d *core.Dump) bool { return d.System == nil && len(d.Modules) == 2 }},
		{"O ", "O Z arm 02 x y", "found \"Z\"", 0, func(d *core.Dump) bool { return d.System.OS == core.OSUnknown && d.OSName() == "" }},
		{"O ", "O A vax 02 x y", "a known processor", 0, func(d *core.Dump) bool { return d.Micro.Arch == "vax" }},
		{"O ", "O A arm zz x y", "O record", 0, func(d *core.Dump) bool { return d.OS() == core.Android }},
		{"O ", "O A arm 02", "", -1, func(d *core.Dump) bool { return d.System.CPUCount == 2 }},
		{"R ", "R 0000000B SIGSEGV", "R record", 0, func(d *core.Dump) bool { return d.Exception.Code == 0 && d.Micro.Signal == "" }},
		{"R ", "R SIGSEGV 0B 10", "a signal's number", 0, func(d *core.Dump) bool { return d.Micro.Signal == "" }},
		{"R ", "R 00000005 SIGTRAP", "R record", 0, nil},
		{"G ", "G", "", -1, func(d *core.Dump) bool { return d.Micro.GPU == nil }},
		{"G ", "G UNKNOWN", "", -1, func(d *core.Dump) bool { return d.Micro.GPU == nil }},
		{"G ", "G a|b", "", -1, func(d *core.Dump) bool { return *d.Micro.GPU == core.GPU{Version: "a", Vendor: "b"} }},
		{"H ", "H 1 2 3", "H record", 0, func(d *core.Dump) bool { return d.Micro.Space == nil }},
		{"H ", "H 1 2 3 4 5 6:7 8:x", "H record", 0, func(d *core.Dump) bool { return len(d.Micro.Space.BySize) == 1 }},
		{"S 0 ", "S 0 x y z", "S record", 0, func(d *core.Dump) bool { return d.Micro.Stack == nil && d.Threads[0].Stack.Size == 1000 }},
		{"S C3A39180", "S C3A39180 0102X304", "S record", 0, func(d *core.Dump) bool { return d.Threads[0].Stack.Size == 384+2 }},
		{"S C3A39180", "S C3A39180", "S record", 0, nil},
		{"S C3A39180", "", "expected the bytes at 0xc3a39180, found those at 0xc3a39300", at("S C3A39300") + 1,
			func(d *core.Dump) bool { return d.Threads[0].Stack.Size == 384 && len(d.Memory.Regions()) == 2 }},
		{"S C3A39000", "", "1000 bytes of stack, found 616", at("S 0") + 1, func(d *core.Dump) bool { return d.Threads[0].StackStart == 0xc3a39180 }},
		{"S C3A39300", "S FFFFFFFFFFFFFFFF 0102", "S record", 0, nil},
		{"C ", "C 0102", "C record", 0, func(d *core.Dump) bool { return d.Threads[0].Stack.Size == 1000 }},
		{"C ", "C 012", "C record", 0, nil},
		{"C ", "", "a line with the context", len(lines), func(d *core.Dump) bool { return d.Threads[0].Stack.Size == 1000 }},
		{"M AAB37000", "M AAB37000 0 5000", "address, offset, size", 0, func(d *core.Dump) bool { return len(d.Modules) == 1 }},
		{"M AAB37000", "M AAB37000 0 5000 12345 short id", "an id of 32", 0, func(d *core.Dump) bool { return d.Modules[0].Name == "short id" && d.Modules[0].DebugID == "" }},
		{"M AAB37000", "M AAB37000 0 0 CDDB210E1401729DD9368E97D91BFA6F0 x", "an address range", 0, nil},
		{"M AAB37000", "M AAB37000 0 1000 CDDB210E1401729DD9368E97D91BFA6F2a x", "", -1,
			func(d *core.Dump) bool { return d.Modules[0].StoredID() == "CDDB210E1401729DD9368E97D91BFA6F2a" }},
		{"V ", "Q what is this", "one of the letters", 0, nil},
		{"-----END", "", "truncated", len(lines) - 1, nil},
	} {
		broken := append([]string(nil), lines...)
		n := at(c.start)
		broken[n] = c.instead
		if c.other == 0 {
			c.other = n + 1
		}
		var text strings.Builder
		for _, l := range broken {
			if l == "" {
				l = "08-17 19:45:06.1 I/other( 9): something"
			} else {
				l = prefix + l
			}
			text.WriteString(l + "\n")
		}
		d := read(t, text.String())[0]
		found := c.other < 0 && len(d.Diags) == 0
		for _, g := range d.Diags {
			s := g.Err.Error()
			found = found || strings.Contains(s, c.want) && strings.Contains(s, "log.txt: microdump") && strings.Contains(s, fmt.Sprintf(" at line %d:", c.other))
		}
		if !found {
			t.Errorf("%q: diagnostics %v", c.instead, messages(d))
		}
		if c.good != nil && !c.good(d) {
			t.Errorf("%q: what is left is wrong: %+v %+v", c.instead, d.Micro, d.Threads)
		}
		use(d)
	}
}

func messages(d *core.Dump) []string {
	var out []string
	for i := range d.Diags {
		out = append(out, d.Diags[i].Err.Error())
	}
	return out
}

// use asks everything of a dump that others ask.
func use(d *core.Dump) {
	d.OSName()
	d.CPUName()
	d.CPUInfo()
	d.Arch()
	d.ExceptionContext()
	for i := range d.Threads {
		var sp uint64
		if c, err := d.ThreadContext(i); err == nil {
			sp = c.Regs.SP()
		}
		for _, s := range []*core.StackMemory{d.ThreadStack(i), d.StackAt(i, sp)} {
			if s != nil {
				s.Word(s.Start, 8)
				s.Word(s.End-4, 8)
				s.Word(sp, 4)
			}
		}
	}
	for _, r := range d.Memory.Regions() {
		d.Memory.Word(r.End()-8, 8)
		d.Memory.Word(r.Start, 4)
	}
	for i := range d.Modules {
		d.Modules[i].StoredID()
	}
}

// TestTruncated cuts a microdump at every byte, and puts odd bytes everywhere.
func TestTruncated(t *testing.T) {
	whole, every := 400, 7
	if runtime.GOOS == "js" { // each try costs ten times as much there
		whole, every = 100, 97
	}
	text := []byte("intro\n" + sample().Log(prefix, "\n") + sample().Log("", "\r\n"))
	for n := range text {
		if n < whole || n%every == 0 || runtime.GOOS != "js" {
			try(text[:n])
		}
		for _, b := range []byte{0, '\n', ' ', 'Z', 0xff} {
			changed := append([]byte(nil), text...)
			changed[n] = b
			if n%every == 0 || n < whole { // all of a beginning, a part of the long lines of digits
				try(changed)
			}
		}
	}
}

func try(data []byte) {
	dumps, err := microdump.Read(input.FromBytes("log.txt", data))
	if err != nil {
		return
	}
	for _, d := range dumps {
		use(d)
	}
}

// TestLarge: logs that are made to fill memory, and lines without an end.
func TestLarge(t *testing.T) {
	mark := "google-breakpad: -----BEGIN BREAKPAD MICRODUMP-----\n"
	const size = 8 << 20
	for name, text := range map[string]string{
		"dumps":    strings.Repeat(mark, size/len(mark)),
		"modules":  mark + strings.Repeat("google-breakpad: M 1 0 1 0 a\n", size/29),
		"chunks":   mark + strings.Repeat("google-breakpad: S 1 00\n", size/24),
		"gaps":     mark + "google-breakpad: H 1 1 1 1 1" + strings.Repeat(" 1:1", 10000) + "\n",
		"letters":  mark + strings.Repeat("google-breakpad: \xff\n", size/19),
		"line":     mark + "google-breakpad: C " + strings.Repeat("00", size/2),
		"no lines": strings.Repeat("x", size),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		try([]byte(text))
		runtime.ReadMemStats(&after)
		// What lives at once is less than what is allocated in all; strings of lines come and go.
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*uint64(len(text))+64<<20 {
			t.Errorf("%s: %d bytes allocated for a log of %d", name, used, len(text))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample().Log(prefix, "\n")))
	f.Add([]byte(sample().Log("", "\r\n") + sample().Log("F/google-breakpad: ", "\n")))
	wide := sample()
	wide.Wide = true
	f.Add([]byte(wide.Log(prefix, "\n")))
	f.Fuzz(func(t *testing.T, data []byte) { try(data) })
}

// TestCorpus reads Breakpad's own microdumps; session's tests compare what comes of them with
// Breakpad's output.
func TestCorpus(t *testing.T) {
	const corpus = "../../../shared/corpus/breakpad/dumps"
	files, _ := filepath.Glob(filepath.Join(corpus, "microdump-*.dmp"))
	if len(files) == 0 {
		t.Skip("SKIPPED: no corpus next to the repository: NO real microdump is read")
	}
	for _, c := range []struct {
		name                    string
		dumps, complete, module int // modules in the first
		stack                   uint64
		signal                  string
	}{
		{"arm", 1, 1, 6, 0x2000, ""},
		{"arm64", 1, 1, 8, 0x3000, ""},
		{"mips64", 1, 1, 8, 0x1000, ""},
		{"multiple", 2, 1, 156, 0x2000, ""},
		{"withcrashreason", 6, 6, 203, 0x2000, "SIGTRAP"},
	} {
		data, err := os.ReadFile(filepath.Join(corpus, "microdump-"+c.name+".dmp"))
		if err != nil {
			t.Fatal(err)
		}
		dumps := read(t, string(data))
		complete := 0
		for _, d := range dumps {
			if d.Micro.Complete {
				complete++
			}
		}
		d := dumps[0]
		if len(dumps) != c.dumps || complete != c.complete || len(d.Modules) != c.module || d.Threads[0].Stack.Size != c.stack || d.Micro.Signal != c.signal {
			t.Errorf("%s: %d dumps, %d complete, %d modules, 0x%x bytes of stack, signal %q", c.name, len(dumps), complete, len(d.Modules), d.Threads[0].Stack.Size, d.Micro.Signal)
		}
		// Cut anywhere, it is still read.
		for n := 0; n < len(data); n += 1 + len(data)/100 {
			try(data[:n])
		}
		t.Logf("%s: %d diagnostics %.300v", c.name, len(d.Diags), messages(d))
	}
}
