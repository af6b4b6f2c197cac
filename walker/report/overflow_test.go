package report

import "testing"

// TestRecursion: a name counts for the frames that have it, and is not said to be the function's where
// it is only the nearest one.
func TestRecursion(t *testing.T) {
	frame := func(name string, nearest, passed bool) Frame {
		return Frame{HasFunction: name != "", Function: Name{Raw: name}, Nearest: nearest, Passed: passed}
	}
	parse, export, far, none := frame("parse", false, false), frame("Export", true, false), frame("Export", false, true), frame("", false, false)
	a, b := frame("mutual_a", false, false), frame("mutual_b", false, false)
	for _, c := range []struct {
		frames []Frame
		want   string
	}{
		{[]Frame{parse, parse, none}, "full; 2 of its 3 frames are parse"},
		{[]Frame{export, export, none}, "full; 2 of its 3 frames are after Export"},
		{[]Frame{far, far, none}, "full"},
		{[]Frame{parse, none, none}, "full"},
		{[]Frame{parse, export}, "full"},
		{[]Frame{a, b, a, b, a, b, none}, "full; 6 of its 7 frames are mutual_a and mutual_b"},
		{[]Frame{parse, b, a, b, a, b, none, none}, "full; 5 of its 8 frames are mutual_b and mutual_a"},
		{[]Frame{a, a, parse, a, a, a, none}, "full; 5 of its 7 frames are mutual_a"},
		{[]Frame{a, parse, a, b, a, a, none}, "full; 4 of its 7 frames are mutual_a"},
		{[]Frame{a, none, none, b, a, b, none, none, none}, "full"},
	} {
		crash := Crash{Recursion: recursion(&Thread{Frames: c.frames})}
		crash.Event.Why = "full"
		if got := crash.Why(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	// Frames that were not kept count, too.
	crash := Crash{Recursion: recursion(&Thread{Frames: []Frame{parse, a, b, a, b, a, b, none}, Repeats: []Repeat{{First: 1, Period: 2, Count: 3, Skipped: 1000}}})}
	if got, want := crash.Why(), "; 1,006 of its 1,008 frames are mutual_a and mutual_b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
