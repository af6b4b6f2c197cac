package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
)

// TestGuesses: a stack is a word a frame: its trust, whether it is doubtful (?), its module (p the
// program, o another of the user's, s the system's, - none), and its name.
func TestGuesses(t *testing.T) {
	stack := func(words ...string) string { return strings.Join(words, " ") }
	many := func(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	for _, c := range []struct{ stack, policy, want string }{
		{stack("context,p", many(4, "scan,?s")), "best", ""},
		{stack("context,p", many(5, "scan,?s")), "best", "1+5 []"},
		{stack("context,p", many(174, "scan,?p")), "best", "1+174 [1 2 3]"},
		{stack("context,p", many(174, "scan,?p")), "breakpad", ""},
		{stack("context,p", many(174, "scan,?p")), "scan", ""},
		{stack("context,p,f", "cfi,p", many(5, "scan,?-"), "cfi,p", many(6, "cfi_scan,?s")), "best", "2+5 [], 8+6 []"},
		// Frames whose calls lead to the frame below are listed where they follow a frame that is not a guess.
		{stack("context,p", many(9, "scan,p,f")), "best", ""},
		{stack("context,p", many(2, "scan,p,f"), many(5, "scan,?s")), "best", "3+5 []"},
		{stack("context,p", many(3, "scan,?s"), many(3, "scan,s")), "best", "1+6 [4 5 6]"},
		// A name in an own module is likelier than an own module, and that than a name of the system's.
		{stack("context,p", "scan,?s,read", "scan,?p", "scan,?o,parse", "scan,?s,poll", "scan,?p,main", "scan,?-"), "best", "1+6 [2 3 5]"},
		{stack("context,p", "scan,?p,f", "scan,?p,f", "scan,?p,g", "scan,p,h", "scan,?p,i", "scan,?p"), "best", "1+6 [1 3 4]"},
	} {
		b := &builder{in: Input{Policy: c.policy}, r: &Report{Modules: []Module{
			{Name: `C:\Windows\app.exe`, Main: true}, {Name: "/opt/app/libown.so"}, {Name: "/usr/lib/x86_64-linux-gnu/libc.so.6"}}}}
		var th Thread
		var frames []walker.Frame
		for _, word := range strings.Fields(c.stack) {
			part := append(strings.Split(word, ","), "")
			module, doubtful := strings.CutPrefix(part[1], "?")
			trust := map[string]walker.Trust{"context": walker.TrustContext, "cfi": walker.TrustCFI, "scan": walker.TrustScan, "cfi_scan": walker.TrustCFIScan}[part[0]]
			frames = append(frames, walker.Frame{Trust: trust, Doubtful: doubtful})
			th.Frames = append(th.Frames, Frame{Module: strings.Index("pos", module), HasFunction: part[2] != "", Function: Name{Raw: part[2]}})
		}
		var have []string
		th.Guesses = b.guesses(&th, frames)
		found := len(frames)
		for _, g := range th.Guesses {
			have = append(have, fmt.Sprintf("%d+%d %v", g.From, g.Count, g.Best))
			found -= g.Count
		}
		if have := strings.Join(have, ", "); have != c.want || th.Found() != found {
			t.Errorf("%s: %s, want %s", c.stack, have, c.want)
		}
	}
}

func TestIsSystem(t *testing.T) {
	for path, want := range map[string]bool{
		`C:\Windows\System32\ntdll.dll`: true, `D:\WINDOWS\SysWOW64\kernel32.dll`: true, `\SystemRoot\System32\drivers\x.sys`: true,
		`C:\Program Files\app\app.dll`: false, `C:\WindowsApps\x.dll`: false, "app.exe": false,
		"/usr/lib/x86_64-linux-gnu/libc.so.6": true, "/lib64/ld-linux-x86-64.so.2": true, "linux-gate.so": true, "/usr/local/lib/libx.so": false,
		"/srv/app/lib/x.so": false, "/System/Library/Frameworks/AppKit.framework/AppKit": true, "/usr/lib/libSystem.B.dylib": true,
		"/Applications/App.app/Contents/MacOS/App": false, "/system/lib64/libc.so": true, "/data/app/x/lib/arm64/libapp.so": false,
	} {
		if r := (&Report{Modules: []Module{{Name: "/x/app"}, {Name: path}}}); r.IsSystems(1) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	if (&Report{Modules: []Module{{Name: "/usr/lib/firefox/firefox"}}}).IsSystems(0) {
		t.Error("the program itself is no part of the system")
	}
}

func TestListGuesses(t *testing.T) {
	r := &Report{Threads: []Thread{{Frames: make([]Frame, 9), Guesses: []Guesses{{From: 1, Count: 8, Best: []int{2}}}}}}
	th := &r.Threads[0]
	if g := th.GuessesAt(8); g == nil || g.From != 1 || th.GuessesAt(0) != nil || th.GuessesAt(9) != nil || !slices.Equal(g.Best, []int{2}) {
		t.Errorf("%+v", g)
	}
	if r.ListGuesses(); len(th.Guesses) > 0 || th.Found() != 9 {
		t.Errorf("%+v", th.Guesses)
	}
}
