package walker

import "sort"

// ModuleMap finds the module that covers an address. Modules are indices of the list it was made from.
type ModuleMap struct {
	ranges []moduleRange // sorted, disjoint
	top    uint64        // highest end of any module
}

type moduleRange struct {
	start, end uint64 // end exclusive
	module     int
}

// ModuleSpan is one module's place, as NewModuleMap takes it.
type ModuleSpan struct{ Base, Size uint64 }

// NewModuleMap sorts modules by address and settles overlaps as the policy says. Modules of size 0 cover nothing; one
// that would run past the end of the address space ends there.
func NewModuleMap(spans []ModuleSpan, overlap Overlap) *ModuleMap {
	m := &ModuleMap{}
	all := make([]moduleRange, 0, len(spans))
	for i, s := range spans {
		end := s.Base + s.Size
		if s.Size == 0 {
			continue
		}
		if end < s.Base {
			end = ^uint64(0)
		}
		if end > m.top {
			m.top = end
		}
		all = append(all, moduleRange{s.Base, end, i})
	}
	sort.SliceStable(all, func(a, b int) bool {
		if all[a].start != all[b].start {
			return all[a].start < all[b].start
		}
		return all[a].end < all[b].end
	})
	for _, r := range all {
		if n := len(m.ranges); n > 0 && m.ranges[n-1].end > r.start {
			last := &m.ranges[n-1]
			switch {
			case overlap == OverlapDrop, last.start == r.start:
				// Two modules at one address: the first keeps it (a duplicate entry of the list, in practice).
				continue
			default:
				last.end = r.start
			}
		}
		m.ranges = append(m.ranges, r)
	}
	return m
}

// Find is the module that covers addr, or -1.
func (m *ModuleMap) Find(addr uint64) int {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].end > addr })
	if i < len(m.ranges) && m.ranges[i].start <= addr {
		return m.ranges[i].module
	}
	return -1
}

// Top is the end of the highest module.
func (m *ModuleMap) Top() uint64 { return m.top }
