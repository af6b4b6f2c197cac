package walker

import "github.com/crashpane/crashpane/core/cpu"

// Skipped are frames of a recursion that the walk found and did not keep: Count of them, a multiple of Period.
// Each has the pc of the frame Period before it. Below are the registers of the last of them, which called nothing
// else than the frame that has the Skipped is the caller of.
type Skipped struct {
	Count, Period int
	Below         cpu.Regs
}

const (
	// skipEvery is after how many frames a recursion is looked for: that takes as long as to walk some frames. A block
	// of whole rounds has at least as many.
	skipEvery = 64
	// leastSame is how many frames repeat others before a recursion is believed.
	leastSame = 32
	// maxRound is the longest round of a recursion in frames.
	maxRound = 256
)

// rounds is the state of skipRounds: the frames from the frame start on are those of a recursion with a period, and
// go in blocks of whole rounds. With a period of 0 no recursion is known.
type rounds struct{ period, block, start int }

// skipRounds leaves out the rounds of a recursion that are between others: an overflown stack has hundreds of
// thousands of frames, which would take the memory that the frames above them need.
//
//	kept | block | block    ->    kept | block, which has the Skipped
//
// Every frame is found as usual, whatever its rules are. Two whole blocks are there before the first of them goes,
// since some sources look at the callee, too.
func (s *walk) skipRounds() {
	n, r := len(s.frames), &s.rounds
	if s.Policy.KeptFrames == 0 || n < s.Policy.KeptFrames || s.shadowed {
		return
	}
	if r.period == 0 {
		if n%skipEvery == 0 {
			p := s.round()
			*r = rounds{p, (skipEvery + p - 1) / max(p, 1) * p, n}
		}
		return
	}
	if !s.repeats(n-1, r.period) {
		*r = rounds{}
		return
	}
	if n < r.start+2*r.block {
		return
	}
	gone := s.frames[r.start : r.start+r.block]
	skipped := gone[0].Skipped
	if skipped == nil {
		skipped = &Skipped{Period: r.period}
	}
	skipped.Count, skipped.Below = skipped.Count+r.block, gone[r.block-1].Regs
	copy(gone, s.frames[r.start+r.block:])
	gone[0].Skipped = skipped
	s.frames, s.params = s.frames[:n-r.block], s.params[:n-r.block]
	s.calleeOf = 0
	s.Budget.Return(int64(r.block) * FrameCost)
}

// round returns how many frames make a round of the recursion that the last frames are of, or 0.
func (s *walk) round() int {
	n := len(s.frames)
	for p := 1; p <= maxRound; p++ {
		same := max(2*p, leastSame)
		if same+p >= n {
			return 0
		}
		j := 0
		for j < same && s.repeats(n-1-j, p) {
			j++
		}
		if j == same {
			return p
		}
	}
	return 0
}

// repeats reports whether a frame is like the one p frames before it, and neither is a guess.
func (s *walk) repeats(i, p int) bool {
	f, g := &s.frames[i], &s.frames[i-p]
	return f.PC == g.PC && f.Lookup == g.Lookup && f.Source == g.Source && f.Trust == g.Trust && f.Trust >= TrustFramePointer &&
		!f.Row.Signal && !f.Doubtful && f.Tail == nil && g.Tail == nil && f.returnedTo == g.returnedTo && len(f.Attempts) == len(g.Attempts)
}
