package walker

import (
	"slices"
	"sort"
)

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
		if overlap == OverlapTruncateUpper {
			m.ranges = storeUpper(m.ranges, moduleRange{s.Base, end, i})
		}
		all = append(all, moduleRange{s.Base, end, i})
	}
	if overlap == OverlapTruncateUpper {
		return m
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

// storeUpper puts r into the sorted list of disjoint ranges. Of two that overlap, the one that reaches higher is cut at its lower
// end; one that is covered wholly is left out.
//
// Source: Breakpad, src/processor/range_map-inl.h (kTruncateUpper).
func storeUpper(list []moduleRange, r moduleRange) []moduleRange {
	for r.start < r.end {
		i := sort.Search(len(list), func(i int) bool { return list[i].end > r.start })
		if i == len(list) || list[i].start >= r.end {
			return slices.Insert(list, i, r)
		}
		switch other := &list[i]; {
		case other.end < r.end:
			r.start = other.end
		case other.end > r.end:
			other.start = r.end
		default:
			return list
		}
	}
	return list
}

// Order are the modules that cover something, by address.
func (m *ModuleMap) Order() []int {
	out := make([]int, len(m.ranges))
	for i := range m.ranges {
		out[i] = m.ranges[i].module
	}
	return out
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
