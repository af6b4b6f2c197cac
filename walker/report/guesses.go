package report

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/walker"
)

// Guesses is a run of frames that a search of the stack found: Count frames from the frame From on.
// Most of them may be left over from earlier calls, so renderers show the run as one row. Best are
// the frames in it that are likelier than the others, at most maxBest.
type Guesses struct {
	From, Count int
	Best        []int
}

const (
	// fewGuesses is how many such frames in a row are shown one by one: a person can check that many.
	fewGuesses = 4
	maxBest    = 3
)

// Contains reports whether a frame is in the run.
func (g *Guesses) Contains(frame int) bool { return frame >= g.From && frame < g.From+g.Count }

// GuessesAt returns the run that a frame is in, or nil.
func (t *Thread) GuessesAt(frame int) *Guesses {
	i := sort.Search(len(t.Guesses), func(i int) bool { return frame < t.Guesses[i].From+t.Guesses[i].Count })
	if i == len(t.Guesses) || !t.Guesses[i].Contains(frame) {
		return nil
	}
	return &t.Guesses[i]
}

// Found returns how many frames of the stack are in no run of guesses.
func (t *Thread) Found() int {
	n := len(t.Frames)
	for i := range t.Guesses {
		n -= t.Guesses[i].Count
	}
	return n
}

// ListGuesses makes renderers list all frames.
func (r *Report) ListGuesses() {
	for i := range r.Threads {
		r.Threads[i].Guesses = []Guesses{}
	}
}

// guesses returns the runs of guesses in a stack. The policies that repeat other tools, and those
// that ask for one source, list all frames.
//
// A scan's frame that calls the frame below, as the code shows, is as good as that. So a run begins
// behind such frames.
func (b *builder) guesses(t *Thread, frames []walker.Frame) []Guesses {
	out := []Guesses{}
	if b.in.Policy != walker.Best.Name {
		return out
	}
	for i := 0; i < len(frames); i++ {
		from := i
		for i < len(frames) && scannedFrame(&frames[i]) && (i > from || frames[i].Doubtful) {
			i++
		}
		if i-from > fewGuesses {
			out = append(out, Guesses{from, i - from, b.best(t, frames, from, i)})
		}
	}
	return out
}

// best returns which frames of a run are the likeliest: those in modules that are not the system's,
// with a name, and whose call leads to the frame below. Equal ones are nearer to the crash.
func (b *builder) best(t *Thread, frames []walker.Frame, from, to int) []int {
	type candidate struct{ frame, reasons int }
	var all []candidate
	seen := map[string]bool{}
	for i := from; i < to; i++ {
		f := &t.Frames[i]
		own := f.Module >= 0 && !b.r.IsSystems(f.Module)
		if !own && frames[i].Doubtful {
			continue
		}
		n := 0
		for _, reason := range []bool{own, f.Named(), !frames[i].Doubtful} {
			if reason {
				n++
			}
		}
		if f.Named() {
			if seen[f.Function.Raw] {
				continue
			}
			seen[f.Function.Raw] = true
		}
		all = append(all, candidate{i, n})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].reasons > all[j].reasons })
	out := []int{}
	for _, c := range all[:min(len(all), maxBest)] {
		out = append(out, c.frame)
	}
	slices.Sort(out)
	return out
}
