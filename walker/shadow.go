package walker

import "fmt"

// shadowReach is how many words above sp a frame's return address is looked for when its value is
// known.
const shadowReach = 1 << 14

// proposeShadow takes the caller's pc from the shadow stack, where the CPU keeps a second copy of
// every return address that no program can overwrite (Intel SDM volume 1, chapter 17, "Control-flow
// Enforcement Technology"). If the same value is on the ordinary stack, there is the frame's
// end.
func (s *walk) proposeShadow() (candidate, string) {
	if len(s.shadow) == 0 {
		return candidate{}, notApplicable
	}
	want, sp := s.shadow[0], s.top().Regs.SP()
	if !s.Modules.Covers(want-1) && want < firstPage {
		return candidate{}, notApplicable
	}
	size := uint64(s.arch.WordSize)
	for i := uint64(0); i < shadowReach; i++ {
		at := sp + i*size
		v, ok := s.word(at)
		if !ok || at < sp {
			break
		}
		if v == want {
			row := returnAt(s.arch, at)
			row.Origin.Part = "shadow stack"
			return candidate{row: row, trust: TrustPrewalked}, ""
		}
	}
	return candidate{}, fmt.Sprintf("the shadow stack says 0x%x, which is not on the stack above sp 0x%x", want, sp)
}

// passShadow keeps shadow in step with the walk. A caller that another source found removes its own
// entry, and the entries before it, whose frames the source skipped. A caller that is not on the
// shadow stack removes none.
func (s *walk) passShadow(pc uint64) {
	for i, v := range s.shadow {
		if v == pc {
			s.shadow = s.shadow[i+1:]
			return
		}
		if i == maxSkipped {
			return
		}
	}
}

// maxSkipped is how many frames a walk may have missed and still be considered to follow the shadow
// stack.
const maxSkipped = 16
