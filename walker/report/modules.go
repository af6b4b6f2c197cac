package report

import (
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// BaseName returns the part of a path after the last "/" or "\". Both count, because any system
// reads dumps of any other.
func BaseName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// nameless reports whether a path has no file name that could be seen.
func nameless(path string) bool { return strings.TrimSpace(BaseName(path)) == "" }

// AssignedModules returns the indexes of modules whose symbols have another id and were assigned by
// the user.
func (r *Report) AssignedModules() []int {
	var out []int
	for i := range r.Modules {
		if r.Modules[i].State == SymbolsAssigned {
			out = append(out, i)
		}
	}
	return out
}

// span is a module's range in modulesByAddress, high inclusive.
type span struct {
	base, high uint64
	module     int
}

// modulesByAddress returns the modules in Breakpad's order. Breakpad's list is a map of disjoint
// ranges, keyed by their last address. If two modules overlap, on Linux and Android the lower one
// is truncated (in Android's microdumps the higher one), and on other systems the later one is left
// out. A module of size 0, or at the address of another, is always left out.
//
// Source: Breakpad, src/processor/range_map-inl.h (kTruncateLower), minidump.cc
// (MinidumpModuleList).
func modulesByAddress(d *core.Dump) []int {
	if d.Micro != nil && d.OS() == core.Android {
		return d.ModuleMap(false, core.OverlapTruncate).Order()
	}
	truncate := d.Micro == nil && (d.OS() == core.OSLinux || d.OS() == core.Android)
	var list []span
	for i := range d.Modules {
		if m := &d.Modules[i]; m.Size > 0 {
			list = store(list, span{m.Base, m.Base + m.Size - 1, i}, truncate)
		}
	}
	out := make([]int, len(list))
	for i, s := range list {
		out[i] = s.module
	}
	return out
}

// store adds s to the sorted list of disjoint spans, unless it passes the end of the address space.
func store(list []span, s span, truncate bool) []span {
	for s.high >= s.base {
		// The first range that ends at or after the start of s. Only this one can begin before s.
		i := sort.Search(len(list), func(i int) bool { return list[i].high >= s.base })
		if i == len(list) || list[i].base > s.high {
			list = append(list, s)
			copy(list[i+1:], list[i:])
			list[i] = s
			return list
		}
		other := &list[i]
		switch {
		case !truncate || other.base == s.base:
			return list
		case s.base < other.base:
			s.high = other.base - 1
		default:
			other.high = s.base - 1
		}
	}
	return list
}

// mappings sets Mappings and Merged: which entries of the module list are parts of one module.
func (b *builder) mappings() {
	r := b.r
	all := b.d.ModuleMappings(b.in.Merged)
	for i := range all {
		n := all[i].Module
		if n == i {
			continue
		}
		whole, listed := &r.Modules[n], n
		if len(whole.Mappings) == 0 {
			whole.add(all[n], n)
		}
		if i < len(r.Modules) { // otherwise it is not in the dump's list
			r.Modules[i].Merged, listed = true, i
		}
		whole.add(all[i], listed)
	}
	for i := range r.Modules {
		list := r.Modules[i].Mappings
		sort.Slice(list, func(a, b int) bool { return list[a].Start < list[b].Start })
	}
	r.ModuleMap = b.d.ModuleMap(b.in.Merged, core.OverlapTruncate)
}

func (m *Module) add(p core.ModuleMapping, listed int) {
	m.Mappings = append(m.Mappings, Mapping{p.Start, p.Size, p.RVA, listed})
}

// Range returns a module's address range; end is exclusive. It does not include parts that are
// mapped a second time elsewhere.
func (m *Module) Range() (start, end uint64) {
	start, end = m.Base, m.Base+m.Size
	for _, p := range m.Mappings {
		if p.RVA == 0 {
			start = p.Start
			break
		}
	}
	for _, p := range m.Mappings {
		if p.Start-p.RVA == start {
			end = max(end, p.Start+p.Size)
		}
	}
	return start, end
}

// maxUnloaded is how many unloaded modules at one address are considered. Windows remembers the last 64 in all
// (RTL_UNLOAD_EVENT_TRACE_NUMBER in winnt.h).
const maxUnloaded = 64

// unloadedAt is unloadedHits of the dump. Many threads may be at one address.
func (b *builder) unloadedAt(addr uint64) []UnloadedHit {
	hits, ok := b.unloaded[addr]
	if !ok {
		if b.unloaded == nil {
			b.unloaded = map[uint64][]UnloadedHit{}
		}
		hits = unloadedHits(b.d.Unloaded, addr)
		b.unloaded[addr] = hits
	}
	return hits
}

// unloadedHits returns the first maxUnloaded unloaded modules that covered an address, sorted by name, each with the
// sorted offsets in it.
func unloadedHits(all []core.UnloadedModule, addr uint64) []UnloadedHit {
	hits := []UnloadedHit{}
	n := 0
	for i := range all {
		u := &all[i]
		if addr < u.Base || addr-u.Base >= u.Size {
			continue
		}
		if n++; n > maxUnloaded {
			break
		}
		at := slices.IndexFunc(hits, func(h UnloadedHit) bool { return h.Module == u.Name })
		if at < 0 {
			at = len(hits)
			hits = append(hits, UnloadedHit{Module: u.Name})
		}
		if off := addr - u.Base; !slices.Contains(hits[at].Offsets, off) {
			hits[at].Offsets = append(hits[at].Offsets, off)
		}
	}
	// sort.Slice and not slices.SortFunc, which adds 8 KB to the page's program for each type that
	// it sorts.
	sort.Slice(hits, func(i, j int) bool { return hits[i].Module < hits[j].Module })
	for i := range hits {
		slices.Sort(hits[i].Offsets)
	}
	return hits
}

// symbolStates sets the modules' symbol states, from the session's knowledge and from the frames
// that need symbols.
func (b *builder) symbolStates() {
	for i := range b.r.Modules {
		m, s := &b.r.Modules[i], &b.symbols[i]
		m.SymbolFile, m.SymbolID, m.SymbolName, m.IndexedOnDemand = s.File, s.ID, s.Name, s.IndexedOnDemand
		m.Binary, m.BinaryByName, m.Has, m.IgnoredCFI = s.Binary, s.BinaryByName, s.Has, s.IgnoredCFI
		if m.Has.Parts == nil {
			m.Has.Parts = []symbol.Part{}
		}
		if m.Has.Missing == nil {
			m.Has.Missing = []string{}
		}
		for _, w := range s.Warnings {
			if s.File != "" { // folders may be private
				w = strings.ReplaceAll(w, s.File, BaseName(s.File))
			}
			m.Warnings = append(m.Warnings, w)
		}
		m.SymbolsRequested = s.Requested || m.Frames > 0
		switch s.State {
		case "", SymbolsMissing, SymbolsNotNeeded:
			m.State = SymbolsNotNeeded
			if m.Frames > 0 {
				m.State = SymbolsMissing
			}
			if s.Mismatch.File != "" {
				m.State = SymbolsMismatch
			}
		default:
			m.State = s.State
		}
	}
}

// IDSwapped reports whether the id of the module's symbol file is its own with the bytes in another order.
func (m *Module) IDSwapped() bool {
	return m.SymbolID != "" && m.SymbolID != m.DebugID && strings.EqualFold(core.ByteSwappedID(m.SymbolID), m.DebugID)
}

// IDDifference says how the debug id of a file, have, differs from the module's. An id is a signature of 32 digits, then an
// age; want is "" for a module without an id.
func IDDifference(want, have string) string {
	if want == "" {
		return "the dump has no id of the module to compare with"
	}
	if len(want) > 32 && len(have) > 32 {
		age := ""
		if have[32:] != want[32:] {
			age = ", age " + have[32:] + " instead of " + want[32:]
		}
		switch {
		case strings.EqualFold(want[:32], have[:32]):
			return "same signature" + age
		case strings.EqualFold(want[:32], core.ByteSwappedID(have)[:32]):
			return "same signature with its bytes in another order" + age
		}
	}
	return "another signature: another build"
}
