// Package sample tests the page's sample: the engine's report must equal golden.txt, which
// golden.py made from rust-minidump's output.
package sample

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

const folder = "../../testdata/sample"

func openSample(t *testing.T) *report.Report {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	s := session.NewFiles(session.Options{})
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".dmp") && !strings.Contains(name, ".sym") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range s.Add(input.FromBytes(name, content)) {
			if !item.Usable || item.Message != "" {
				t.Errorf("%s: usable %v: %s", item.Name, item.Usable, item.Message)
			}
		}
	}
	r := s.Report(0)
	if r == nil {
		t.Fatal("the sample's dump was not recognized")
	}
	return r
}

// lines formats a report as golden.txt is formatted. A stack ends with _start, which has no caller:
// what a scan finds beyond it differs from walker to walker.
func lines(r *report.Report) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("reason %s", r.Crash.Reason.Name)
	add("address 0x%016x", r.Crash.Address)
	add("crashed %d", r.Crash.Thread)
	for _, thread := range r.Threads {
		add("thread %d %s", thread.Index, thread.Name)
		for i := range thread.Frames {
			f := &thread.Frames[i]
			module := "?"
			if f.Module >= 0 {
				module = filepath.Base(r.Modules[f.Module].Name)
			}
			for j := range f.Inlines {
				in := &f.Inlines[j]
				add("  inline\t%s\t%s\t%s\t%d", module, in.Function.Raw, orUnknown(in.File), in.Line)
			}
			add("  %s\t%s\t%s\t%s\t%d", f.Trust, module, orUnknown(f.Function.Raw), orUnknown(f.File), f.Line)
		}
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "?"
	}
	return s
}

// untilStart removes the frames after _start of each thread.
func untilStart(lines []string) []string {
	var kept []string
	below := false
	for _, line := range lines {
		if strings.HasPrefix(line, "thread ") {
			below = false
		}
		if !below {
			kept = append(kept, line)
		}
		if strings.Contains(line, "\t_start\t") {
			below = true
		}
	}
	return kept
}

func TestSampleShowsWhatItsGoldenSays(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join(folder, "golden.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for scanner := bufio.NewScanner(bytes.NewReader(golden)); scanner.Scan(); {
		want = append(want, scanner.Text())
	}
	want = untilStart(want)
	got := untilStart(lines(openSample(t)))
	for i := 0; i < len(want) || i < len(got); i++ {
		var w, g string
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			t.Fatalf("line %d:\nours   %q\ngolden %q", i+1, g, w)
		}
	}
}

// TestSampleTellsItsStory: the sample has what its README tells.
func TestSampleTellsItsStory(t *testing.T) {
	r := openSample(t)
	if r.Crash.Address != 0x4c || r.Threads[r.Crash.Thread].Name != "stitch-1" {
		t.Errorf("crash at %#x on thread %q", r.Crash.Address, r.Threads[r.Crash.Thread].Name)
	}
	tops := map[string]string{
		"tilecruncher": "__futex_abstimed_wait_common",
		"encode-0":     "tile::encode_quadtree(tile::Level const&, tile::Area, unsigned int)",
		"write":        "__GI___write",
		"index":        "__futex_abstimed_wait_common",
		"watchdog":     "__clock_nanosleep",
		"stitch-1":     "tile::blend_edges(tile::Tile const&, tile::Tile const&, unsigned int)",
	}
	if len(r.Threads) != len(tops) {
		t.Errorf("%d threads", len(r.Threads))
	}
	for _, thread := range r.Threads {
		if len(thread.Frames) < 4 {
			t.Errorf("%s has only %d frames", thread.Name, len(thread.Frames))
			continue
		}
		if top := thread.Frames[0].Function.Raw; top != tops[thread.Name] {
			t.Errorf("%s is in %q, not in %q", thread.Name, top, tops[thread.Name])
		}
	}
}

// TestSampleHoldsNothingPrivate: every visitor of the page can open the dump, so it must not
// contain data of the machine that made it.
func TestSampleHoldsNothingPrivate(t *testing.T) {
	dump, err := os.ReadFile(filepath.Join(folder, "tilecruncher.dmp"))
	if err != nil {
		t.Fatal(err)
	}
	// Without the zeros, UTF-16 strings read as ASCII.
	for _, text := range [][]byte{dump, bytes.ReplaceAll(dump, []byte{0}, nil)} {
		for _, word := range regexp.MustCompile(`[A-Z_]{2,}=[^\x00\n]*`).FindAll(text, -1) {
			switch name, _, _ := strings.Cut(string(word), "="); name {
			case "PATH", "LANG": // the whole environment that the program was started with
			case "PRETTY_NAME", "NAME", "VERSION_ID", "VERSION", "VERSION_CODENAME", "ID", "HOME_URL", "SUPPORT_URL", "BUG_REPORT_URL":
			default:
				t.Errorf("the dump holds the variable %.60q", word)
			}
		}
		for _, p := range regexp.MustCompile(`/(home|root|tmp|work|var|mnt|Users)/[A-Za-z0-9]`).FindAll(text, -1) {
			t.Errorf("the dump holds a path %q", p)
		}
	}
}
