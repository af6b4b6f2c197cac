package report

import (
	"fmt"
	"sort"

	"github.com/crashpane/crashpane/walker"
)

// Repeat is a part of a stack in which functions call each other again and again: Count times the same
// Period functions, from the frame First on.
//
//	main a b a b a b c     First 1, Period 2, Count 3
//
// Skipped is how many further frames are between them, which were not kept, and Before how many are before the first.
type Repeat struct{ First, Period, Count, Skipped, Before int }

// Hidden returns the frames that repeat those of the first period: renderers show them as one row.
func (x *Repeat) Hidden() (from, count int) { return x.First + x.Period, (x.Count - 1) * x.Period }

const (
	// leastRepeated frames that repeat others are worth a row that says so.
	leastRepeated = 16
	// maxPeriod bounds the functions of a period, so that repeats needs time in proportion to the stack.
	maxPeriod = 256
)

// Fold is a run of frames that renderers show as one row: Count frames from the frame From on. They are
// guesses or repeat others; one of the pointers is set.
type Fold struct {
	From, Count int
	Guesses     *Guesses
	Repeat      *Repeat
}

// FoldAt returns the run that a frame is in, or nil.
func (t *Thread) FoldAt(frame int) *Fold {
	if g := t.GuessesAt(frame); g != nil {
		return &Fold{From: g.From, Count: g.Count, Guesses: g}
	}
	i := sort.Search(len(t.Repeats), func(i int) bool {
		from, n := t.Repeats[i].Hidden()
		return frame < from+n
	})
	if i == len(t.Repeats) {
		return nil
	}
	from, n := t.Repeats[i].Hidden()
	if frame < from {
		return nil
	}
	return &Fold{From: from, Count: n, Repeat: &t.Repeats[i]}
}

// Folds returns all runs, by frame.
func (t *Thread) Folds() (out []Fold) {
	for i := range t.Guesses {
		out = append(out, *t.FoldAt(t.Guesses[i].From))
	}
	for i := range t.Repeats {
		from, _ := t.Repeats[i].Hidden()
		out = append(out, *t.FoldAt(from))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].From < out[j].From })
	return out
}

// Times is how often the period is on the stack in all.
func (x *Repeat) Times() int { return x.Count + x.Skipped/x.Period }

// String says which frames repeat which: "frames 15 to 9,812 repeat the 3 frames above 3,266 times".
func (x *Repeat) String() string {
	from, n := x.Hidden()
	from, n = from+x.Before, n+x.Skipped
	frames := "the frame above"
	if x.Period > 1 {
		frames = fmt.Sprintf("the %d frames above", x.Period)
	}
	s := fmt.Sprintf("frames %s to %s repeat %s %s times", grouped(from), grouped(from+n-1), frames, grouped(n/x.Period))
	if x.Skipped > 0 {
		s += fmt.Sprintf(" (%s left out)", grouped(x.Skipped))
	}
	return s
}

// leaveOut records the frames that the walk left out before frame i, and their inlined calls and modules.
func (b *builder) leaveOut(t *Thread, i int, skipped *walker.Skipped) {
	f := &t.Frames[i]
	if i > 0 {
		f.LeftOut = t.Frames[i-1].LeftOut
	}
	if skipped == nil {
		return
	}
	f.Skipped, f.LeftOut = skipped.Count, f.LeftOut+skipped.Count
	rounds := skipped.Count / skipped.Period
	for k := max(0, i-skipped.Period); k < i; k++ {
		f.SkippedInlines += len(t.Frames[k].Inlines) * rounds
		if m := t.Frames[k].Module; m >= 0 {
			b.r.Modules[m].Frames += rounds
		}
	}
}

// Number returns the number of frame i in the whole stack: that of those that are left out counts, too.
func (t *Thread) Number(i int) int {
	if i < 0 || i >= len(t.Frames) {
		return i
	}
	return i + t.Frames[i].LeftOut
}

// FrameAt returns the index of the frame with a number, or if that is left out of the one after it. A number of no frame
// is returned as it is.
func (t *Thread) FrameAt(number int) int {
	if number < 0 || number >= t.Total() {
		return number
	}
	return sort.Search(len(t.Frames), func(i int) bool { return t.Number(i) >= number })
}

// Total is how many frames the stack has with those that are left out.
func (t *Thread) Total() int { return t.Number(len(t.Frames)-1) + 1 }

// grouped formats 10881 as "10,881".
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// sameFunction is what frames of one function have in common. Frames without a name are of one function
// if they are at one address.
type sameFunction struct {
	module  int
	name    string
	address uint64
}

func functionKey(f *Frame) sameFunction {
	if f.Named() {
		return sameFunction{module: f.Module, name: f.Function.Raw}
	}
	return sameFunction{module: f.Module, address: f.Lookup}
}

// FindRepeats fills in Repeats.
func (t *Thread) FindRepeats() { t.Repeats = repeats(t) }

// repeats returns the recursions in a stack, without guesses.
//
// It compares each frame with the last one of the same function. If that is p frames before, the
// stack may have the period p: then the frames that follow are those p before.
func repeats(t *Thread) []Repeat {
	out := []Repeat{}
	n := len(t.Frames)
	if n < leastRepeated {
		return out
	}
	ids, keys := map[sameFunction]int{}, make([]int, n)
	for i := range keys {
		if t.GuessesAt(i) != nil {
			keys[i] = -1 - i // is like no other
			continue
		}
		k := functionKey(&t.Frames[i])
		id, ok := ids[k]
		if !ok {
			id = len(ids)
			ids[k] = id
		}
		keys[i] = id
	}
	last := make([]int, len(ids))
	for i := range last {
		last[i] = -1
	}
	done, tried, end := 0, 0, 0 // frames before done are in runs; the period tried fits up to the frame end
	for i := 0; i < n; i++ {
		k := keys[i]
		if k < 0 {
			continue
		}
		before := last[k]
		last[k] = i
		p := i - before
		if before < done || p > maxPeriod || p == tried && i < end {
			continue
		}
		j := i
		for j < n && keys[j] == keys[j-p] {
			j++
		}
		start := before
		for start > done && keys[start-1] == keys[start-1+p] {
			start--
		}
		x := Repeat{First: start, Period: p, Count: (j - start) / p, Before: t.Frames[start].LeftOut}
		if _, hidden := x.Hidden(); x.Count < 3 || hidden < leastRepeated {
			tried, end = p, j
			continue
		}
		for k := start + 1; k <= min(start+x.Count*p, n-1); k++ {
			x.Skipped += t.Frames[k].Skipped
		}
		out = append(out, x)
		done = start + x.Count*p
		i = done - 1
	}
	return out
}
