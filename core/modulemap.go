package core

import "sort"

// ModuleMapping is a part of a module in memory: Size bytes from Start on. The first one has
// the module-relative address RVA.
type ModuleMapping struct {
	Start, Size, RVA uint64
	Module           int // index into Dump.Modules
}

// Overlap says which module has the addresses that several modules claim.
type Overlap uint8

const (
	// OverlapTruncate: the lower module ends where the next begins; both stay.
	OverlapTruncate Overlap = iota
	// OverlapDrop: a module that begins inside another is left out.
	OverlapDrop
	// OverlapTruncateUpper: the module that reaches higher begins where the other ends. Microdumps
	// give modules the address that their file's first byte would have, which may be inside the
	// module below.
	OverlapTruncateUpper
)

// ModuleMap finds the module that covers an address, and the address's place in it.
type ModuleMap struct {
	ranges []moduleRange // sorted, disjoint
	top    uint64        // highest end of any module
}

// moduleRange is a range of addresses of one module; rva is the module-relative address of its
// start.
type moduleRange struct {
	start, end, rva uint64 // end exclusive
	module          int
}

// NewModuleMap sorts mappings by address and resolves overlaps as the policy says. Mappings of size
// 0 cover nothing; one that would run past the end of the address space ends there.
func NewModuleMap(mappings []ModuleMapping, overlap Overlap) *ModuleMap {
	m := &ModuleMap{}
	all := make([]moduleRange, 0, len(mappings))
	for _, s := range mappings {
		r := moduleRange{s.Start, s.Start + s.Size, s.RVA, s.Module}
		if s.Size == 0 {
			continue
		}
		if r.end < r.start {
			r.end = ^uint64(0)
		}
		if r.end > m.top {
			m.top = r.end
		}
		if overlap == OverlapTruncateUpper {
			m.ranges = storeUpper(m.ranges, r)
		}
		all = append(all, r)
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
				// Two modules at one address: the first keeps it (a duplicate entry of the list, in
				// practice).
				continue
			default:
				last.end = r.start
			}
		}
		m.ranges = append(m.ranges, r)
	}
	return m
}

// storeUpper puts r into the sorted list of disjoint ranges. Of two that overlap, the one that
// reaches higher is cut at its lower end; one that is covered wholly is left out.
//
// Source: Breakpad, src/processor/range_map-inl.h (kTruncateUpper).
func storeUpper(list []moduleRange, r moduleRange) []moduleRange {
	// Each round cuts r or the range that it overlaps first, and the loop ends when r has a place
	// or nothing of it is left.
	for r.start < r.end {
		i := sort.Search(len(list), func(i int) bool { return list[i].end > r.start })
		if i == len(list) || list[i].start >= r.end {
			list = append(list, r)
			copy(list[i+1:], list[i:])
			list[i] = r
			return list
		}
		switch other := &list[i]; {
		case other.end < r.end:
			r.cut(other.end)
		case other.end > r.end:
			other.cut(r.end)
		default:
			return list
		}
	}
	return list
}

// cut takes what is below start off a range.
func (r *moduleRange) cut(start uint64) { r.start, r.rva = start, r.rva+start-r.start }

// Order returns the modules that cover something, by address.
func (m *ModuleMap) Order() []int {
	out := make([]int, len(m.ranges))
	for i := range m.ranges {
		out[i] = m.ranges[i].module
	}
	return out
}

// Find returns the module that covers addr and the module-relative address, or -1 and 0.
func (m *ModuleMap) Find(addr uint64) (module int, rva uint64) {
	i := sort.Search(len(m.ranges), func(i int) bool { return m.ranges[i].end > addr })
	if i < len(m.ranges) && m.ranges[i].start <= addr {
		return m.ranges[i].module, m.ranges[i].rva + addr - m.ranges[i].start
	}
	return -1, 0
}

// Covers reports whether a module covers addr.
func (m *ModuleMap) Covers(addr uint64) bool {
	module, _ := m.Find(addr)
	return module >= 0
}

// Top returns the end of the highest module.
func (m *ModuleMap) Top() uint64 { return m.top }
