package session_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// TestParityBest compares the stacks of the default policy with both tools' outputs, thread by
// thread and frame by frame. If the two agree we must, unless testdata/parity/differences.tsv
// says why not; where they do not, we should agree with one. Every difference is in that file, and
// the file has none that does not occur.
func TestParityBest(t *testing.T) {
	cases := corpus(t)
	known := readDifferences(t)
	var sum counts
	for i := range cases {
		c := &cases[i]
		r, bp, rust := c.load(t, walker.Best)
		if r == nil {
			continue
		}
		sum.dumps++
		for n := range r.Threads {
			th := &r.Threads[n]
			sum.threads++
			ours := ourFrames(r, th)
			likeBP, likeRust := true, true
			for f := range max(len(ours), len(bp[n]), len(rust[n])) {
				a, b, c2 := at(ours, f), at(bp[n], f), at(rust[n], f)
				likeBP, likeRust = likeBP && matches(a, b, bp != nil), likeRust && matches(a, c2, rust != nil)
				kind := sum.frame(matches(a, b, bp != nil), matches(a, c2, rust != nil), matches(b, c2, bp != nil && rust != nil))
				if kind != "" {
					known.note(t, c.name, n, f, kind, a, b, c2)
				}
			}
			sum.stack(likeBP, likeRust)
		}
	}
	known.finish(t, "both", "breakpad", "rust", "neither")
	t.Logf("best: %s", sum.String())
}

// TestParityBreakpad and TestParityRust compare the stacks of a tool's policy with that tool's
// output alone.
func TestParityBreakpad(t *testing.T) { parityOne(t, walker.Breakpad, "unwind-breakpad") }
func TestParityRust(t *testing.T)     { parityOne(t, walker.RustMinidump, "unwind-rust") }

func parityOne(t *testing.T, p walker.Policy, kind string) {
	cases := corpus(t)
	known := readDifferences(t)
	dumps, equalDumps, threads, frames, equal := 0, 0, 0, 0, 0
	for i := range cases {
		c := &cases[i]
		r, bp, rust := c.load(t, p)
		want := bp
		if kind == "unwind-rust" {
			want = rust
		}
		if r == nil || want == nil {
			continue
		}
		dumps++
		same := true
		for n := range r.Threads {
			threads++
			ours := ourFrames(r, &r.Threads[n])
			for f := range max(len(ours), len(want[n])) {
				frames++
				a, b := at(ours, f), at(want[n], f)
				if matches(a, b, true) {
					equal++
					continue
				}
				same = false
				known.note(t, c.name, n, f, kind, a, b)
			}
		}
		if same {
			equalDumps++
		}
	}
	known.finish(t, kind)
	t.Logf("%s: %d of %d dumps equal; %d of %d frames of %d threads", p.Name, equalDumps, dumps, equal, frames, threads)
}

// load walks a case and reads its goldens; a golden that does not exist is nil.
func (c *parityCase) load(t *testing.T, p walker.Policy) (r *report.Report, bp, rust stacks) {
	t.Helper()
	machine, js := golden(t, c.golden+".breakpad-m.txt"), golden(t, c.golden+".rust.json")
	if len(machine) == 0 && len(js) == 0 {
		return nil, nil, nil
	}
	r = c.walked(t, p)
	if r == nil {
		return nil, nil, nil
	}
	var walked []int
	for i := range r.Threads {
		if !r.Threads[i].Omitted {
			walked = append(walked, i)
		}
	}
	if len(machine) > 0 {
		bp = breakpadStacks(t, machine, golden(t, c.golden+".breakpad.txt"), walked)
	}
	if len(js) > 0 {
		rust = rustStacks(t, js, callSize(r))
	}
	return r, bp, rust
}

func callSize(r *report.Report) uint64 {
	switch r.System.CPU {
	case "arm":
		return 2
	case "arm64":
		return 4
	}
	return 1
}

func at(all []frame, i int) frame {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// matches compares two frames; has is false if a golden is not there, which matches everything.
func matches(a, b frame, has bool) bool {
	if !has {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		a, b := &a[i], &b[i]
		if a.Module != b.Module || a.Function != b.Function || a.File != b.File || a.Line != b.Line ||
			a.Trust != b.Trust && a.Trust != "" && b.Trust != "" || a.PC != b.PC && a.PC != 0 && b.PC != 0 {
			return false
		}
	}
	return true
}

// counts are the frames by whom we agree with.
type counts struct {
	dumps, threads, frames, both, breakpad, rust, neither, against int
	// stacks that are equal in every frame: to both, to one, to none
	allBoth, allBreakpad, allRust, allNone int
}

// stack counts a whole thread.
func (s *counts) stack(bp, rust bool) {
	switch {
	case bp && rust:
		s.allBoth++
	case bp:
		s.allBreakpad++
	case rust:
		s.allRust++
	default:
		s.allNone++
	}
}

// frame counts one and returns the kind of difference, or "".
func (s *counts) frame(bp, rust, agree bool) string {
	s.frames++
	switch {
	case bp && rust:
		s.both++
		return ""
	case bp:
		s.breakpad++
		return "rust"
	case rust:
		s.rust++
		return "breakpad"
	case agree:
		s.against++
		return "both"
	}
	s.neither++
	return "neither"
}

func (s *counts) String() string {
	return fmt.Sprintf("%d dumps, %d threads, %d frames compared: %d equal to both, %d to Breakpad only, %d to rust-minidump only, %d to neither where they differ, %d unlike both where they agree; whole threads: %d equal to both, %d to Breakpad only, %d to rust-minidump only, %d to none",
		s.dumps, s.threads, s.frames, s.both, s.breakpad, s.rust, s.neither, s.against, s.allBoth, s.allBreakpad, s.allRust, s.allNone)
}

// difference is a line of differences.tsv: dump, thread ("*" for any), frame (likewise), kind,
// cause. The kinds are whom we differ from with the default policy (both: where they agree;
// breakpad or rust: where we agree with the other; neither: where they differ) and unwind-breakpad
// and unwind-rust for the tool's own policy.
type difference struct {
	line                             int
	dump, thread, frame, kind, cause string
	hits                             int
}

type differences struct {
	all      []difference
	unlisted int
	shown    map[string]bool
}

const differencesFile = "testdata/parity/differences.tsv"

func readDifferences(t *testing.T) *differences {
	t.Helper()
	data, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	d := differences{shown: map[string]bool{}}
	sc := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; sc.Scan(); n++ {
		if sc.Text() == "" || sc.Text()[0] == '#' {
			continue
		}
		f := strings.Split(sc.Text(), "\t")
		if len(f) != 5 {
			t.Fatalf("%s:%d: %d fields, not 5", differencesFile, n, len(f))
		}
		d.all = append(d.all, difference{n, f[0], f[1], f[2], f[3], f[4], 0})
	}
	return &d
}

// note looks a difference up; rows are ours and the goldens', for the message.
func (d *differences) note(t *testing.T, dump string, thread, frame int, kind string, frames ...frame) {
	t.Helper()
	for i := range d.all {
		k := &d.all[i]
		if k.dump == dump && k.kind == kind && covers(k.thread, thread) && covers(k.frame, frame) {
			k.hits++
			return
		}
	}
	// One wrong frame makes all further ones of its thread wrong; the first is enough to see why.
	d.unlisted++
	if at := fmt.Sprint(dump, thread, kind); !d.shown[at] && len(d.shown) < 60 {
		d.shown[at] = true
		t.Errorf("%s thread %d frame %d: unlike %s\n%s", dump, thread, frame, kind, describe(frames))
	}
}

// covers reports whether "*", "7" or "7-" (7 and all after it) covers n.
func covers(field string, n int) bool {
	if field == "*" {
		return true
	}
	from, open := strings.CutSuffix(field, "-")
	v, err := strconv.Atoi(from)
	return err == nil && (v == n || open && n > v)
}

func describe(frames []frame) string {
	var b strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&b, "  %s\n", [...]string{"ours:", "golden:", "rust-minidump's:"}[i])
		for _, r := range f {
			fmt.Fprintf(&b, "    %-13s 0x%x %s!%s %s:%d\n", r.Trust, r.PC, r.Module, r.Function, r.File, r.Line)
		}
	}
	return b.String()
}

// finish fails for listed differences of these kinds that did not occur.
func (d *differences) finish(t *testing.T, kinds ...string) {
	t.Helper()
	if d.unlisted > 0 {
		t.Errorf("%d frames differ that %s does not list", d.unlisted, differencesFile)
	}
	for _, k := range d.all {
		for _, kind := range kinds {
			if k.kind == kind && k.hits == 0 {
				t.Errorf("%s:%d: the difference of %s no longer occurs", differencesFile, k.line, k.dump)
			}
		}
	}
}
