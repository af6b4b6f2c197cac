package walker

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// Skipped are frames of a recursion that the walk passed through and did not keep: Count of them, a multiple of Period.
// Each has the pc of the frame Period before it. Below are the registers of the last of them, which called nothing
// else than the frame that has the Skipped is the caller of.
type Skipped struct {
	Count, Period int
	Below         cpu.Regs
}

const (
	// skipEvery is after how many frames a recursion is looked for: that takes as long as to walk some frames.
	skipEvery = 64
	// leastSame is how many frames repeat others before a recursion is believed.
	leastSame = 32
	// maxRound is the longest round of a recursion in frames.
	maxRound = 256
)

// skipRounds goes on through a recursion without keeping its frames, if the last ones are of one: an overflown stack has
// hundreds of thousands, which would take the memory that the frames above them need.
//
// Which rules call frame information has depends on the pc alone. So as long as the rules of the frames a round
// before give the pc of these frames again, the walk would find the same, and only registers differ. Where that ends,
// the walk goes on as usual from the last whole round.
func (s *walk) skipRounds() error {
	n := len(s.frames)
	if s.Policy.KeptFrames == 0 || n < s.Policy.KeptFrames || n%skipEvery != 0 || s.shadowed {
		return nil
	}
	period := s.round()
	if period == 0 {
		return nil
	}
	round := slices.Clone(s.frames[n-period:])
	s.frames = append(s.frames, s.frames[n-1])
	top := &s.frames[n]
	var (
		kept Frame  // the last one that begins a round
		cfa  uint64 // of the frame before
	)
	for steps := 0; ; steps++ {
		want := &round[steps%period]
		if err := s.Budget.Draw(input.Work, 100+int64(len(want.Row.Saved))); err != nil {
			break
		}
		s.calleeOf = 0
		regs, at, err := s.apply(SourceCFI, &want.Row)
		if err != nil {
			break
		}
		s.stripPointers(&regs, SourceCFI, &want.Row)
		if regs.PC() != want.PC || regs.SP() <= top.Regs.SP() || s.check(SourceCFI, &regs) != "" || s.refuted(false, &regs) != "" {
			break
		}
		if steps == 0 {
			cfa = at
		}
		if steps > 0 && steps%period == 0 {
			kept = *want
			kept.Regs, kept.CFA, kept.HasCFA = regs, 0, false
			kept.Skipped = &Skipped{Count: steps, Period: period, Below: top.Regs}
		}
		top.PC, top.Lookup, top.Module, top.RVA, top.Regs = want.PC, want.Lookup, want.Module, want.RVA, regs
	}
	s.frames, s.calleeOf = s.frames[:n], 0
	if kept.Skipped == nil {
		return nil
	}
	if err := s.draw(&kept); err != nil {
		return err
	}
	s.remember(SourceCFI, &kept.Regs)
	s.top().CFA, s.top().HasCFA = cfa, true
	s.push(kept)
	return nil
}

// round returns how many frames make a round of the recursion that the last frames are of, or 0. Call frame
// information has found them all.
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
		if j == 0 && !plainCFI(&s.frames[n-1]) {
			return 0
		}
	}
	return 0
}

// repeats reports whether a frame is like the one p frames before it.
func (s *walk) repeats(i, p int) bool {
	f, g := &s.frames[i], &s.frames[i-p]
	return f.PC == g.PC && f.Lookup == g.Lookup && plainCFI(f) && plainCFI(g)
}

// plainCFI reports whether call frame information alone led to a frame.
func plainCFI(f *Frame) bool {
	return f.Source == SourceCFI && f.Trust == TrustCFI && !f.Row.Signal && f.Tail == nil && !f.Doubtful && !f.returnedTo && len(f.Attempts) == 0
}
