package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// stackWith makes a thread whose frames have the functions of a text, a letter each.
func stackWith(functions string) *Thread {
	t := &Thread{}
	for _, c := range functions {
		t.Frames = append(t.Frames, Frame{HasFunction: true, Function: Name{Raw: string(c)}})
	}
	return t
}

func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		functions string
		want      []Repeat
	}{
		{"abcdefghijklmnopqrstuvwxyz", nil},
		{"m" + strings.Repeat("a", 16) + "z", nil},                                           // too few to be worth a row
		{"m" + strings.Repeat("a", 17) + "z", []Repeat{{First: 1, Period: 1, Count: 17}}},    //
		{strings.Repeat("ab", 20), []Repeat{{First: 0, Period: 2, Count: 20}}},               // the whole stack
		{"m" + strings.Repeat("ab", 20) + "ac", []Repeat{{First: 1, Period: 2, Count: 20}}},  //
		{"m" + strings.Repeat("abac", 10) + "m", []Repeat{{First: 1, Period: 4, Count: 10}}}, // a is in a period twice
		{"bc" + strings.Repeat("abc", 10), []Repeat{{First: 0, Period: 3, Count: 10}}},       // begins in the middle of a period
		{strings.Repeat("a", 20) + "x" + strings.Repeat("b", 20), []Repeat{{First: 0, Period: 1, Count: 20}, {First: 21, Period: 1, Count: 20}}},
		{strings.Repeat("abcdefghijklmnopqrst", 2), nil}, // twice is no recursion
	} {
		th := stackWith(c.functions)
		if got := repeats(th); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.functions, got, c.want)
		}
	}
	// Frames that are guesses are not folded twice.
	th := stackWith(strings.Repeat("a", 60))
	th.Guesses = []Guesses{{From: 30, Count: 10}}
	if got := repeats(th); !slices.Equal(got, []Repeat{{First: 0, Period: 1, Count: 30}, {First: 40, Period: 1, Count: 20}}) {
		t.Errorf("with guesses %v", got)
	}
	th.Repeats = repeats(th)
	for frame, want := range map[int]int{0: -1, 1: 1, 29: 1, 30: 30, 39: 30, 40: -1, 59: 41} {
		from := -1
		if f := th.FoldAt(frame); f != nil {
			from = f.From
		}
		if from != want {
			t.Errorf("frame %d is in the run of frame %d, not %d", frame, from, want)
		}
	}
	x := Repeat{First: 12, Period: 3, Count: 3267}
	if s := x.String(); s != "frames 15 to 9,812 repeat the 3 frames above 3,266 times" {
		t.Error(s)
	}
	x = Repeat{First: 12, Period: 3, Count: 100, Skipped: 9501, Before: 300}
	if s := x.String(); s != "frames 315 to 10,112 repeat the 3 frames above 3,266 times (9,501 left out)" {
		t.Error(s)
	}
}

// TestRepeatsGrow: a stack that has no period as long as it seems costs time in proportion to its frames.
func TestRepeatsGrow(t *testing.T) {
	thue := func(n int) string { // has squares everywhere and nothing three times in a row
		b := make([]byte, n)
		for i := range b {
			ones := 0
			for k := i; k > 0; k &= k - 1 {
				ones++
			}
			b[i] = 'a' + byte(ones&1)
		}
		return string(b)
	}
	testfile.Growth(t, 50_000, func(size int) (run func()) {
		th := stackWith(thue(size))
		return func() {
			if got := repeats(th); len(got) > 0 {
				t.Fatalf("%v", got)
			}
		}
	})
}
