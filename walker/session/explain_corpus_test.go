package session_test

import (
	"testing"

	"github.com/crashpane/crashpane/walker"
)

// Every frame of every dump of the corpus can be explained, by every policy, and its explanation
// ends in the frame's own registers: nothing is explained that was not computed. Long recursions
// are explained at both ends.
func TestExplainCorpus(t *testing.T) {
	frames, words, noted := 0, 0, 0
	cases := corpus(t)
	for i := range cases {
		c := &cases[i]
		for _, p := range walker.Policies() {
			s, r := c.opened(t, p)
			if r == nil {
				continue
			}
			for n := range r.Threads {
				th := &r.Threads[n]
				for f := range th.Frames {
					if f > 500 && f < len(th.Frames)-50 {
						continue
					}
					x, err := s.Session(0).Explain(n, f)
					if err != nil {
						t.Fatalf("%s, %s: %v", c.name, p.Name, err)
					}
					frames++
					words += len(x.Words)
					if len(x.Notes) > 0 {
						noted++
					}
					if f > 0 && len(x.Steps) < 2 {
						t.Errorf("%s, %s: thread %d frame %d has no steps: %+v", c.name, p.Name, n, f, x)
					}
					for _, reg := range x.Registers {
						at, known := th.Frames[f].Regs.Arch.Lookup(reg.Name)
						v, has := th.Frames[f].Regs.Get(at)
						if !known || has != reg.HasNow || v != reg.After {
							t.Errorf("%s, %s: thread %d frame %d: %s is 0x%x (%v), the explanation says 0x%x (%v)", c.name, p.Name, n, f,
								reg.Name, v, has, reg.After, reg.HasNow)
						}
						if reg.How == "unchanged" && f > 0 && (!reg.HadBefore || reg.Before != reg.After) {
							t.Errorf("%s, %s: thread %d frame %d: %s is said to be unchanged: %+v", c.name, p.Name, n, f, reg.Name, reg)
						}
					}
				}
			}
		}
	}
	t.Logf("%d frames explained, %d words read, %d frames with notes", frames, words, noted)
	if frames < 30_000 || words < 100_000 {
		t.Errorf("only %d frames were explained, with %d words", frames, words)
	}
}
