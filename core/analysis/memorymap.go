package analysis

import (
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Protections (PAGE_*) and states (MEM_*) of the MemoryInfoListStream, from winnt.h.
const (
	pageReadOnly     = 0x02
	pageReadWrite    = 0x04
	pageWriteCopy    = 0x08
	pageExecute      = 0x10
	pageExecuteRead  = 0x20
	pageExecuteRW    = 0x40
	pageExecuteWCopy = 0x80
	pageGuard        = 0x100

	readable   = pageReadOnly | pageReadWrite | pageWriteCopy | pageExecuteRead | pageExecuteRW | pageExecuteWCopy
	writable   = pageReadWrite | pageWriteCopy | pageExecuteRW | pageExecuteWCopy
	executable = pageExecute | pageExecuteRead | pageExecuteRW | pageExecuteWCopy

	memCommit  = 0x1000
	memReserve = 0x2000
	memFree    = 0x10000
)

// Place is a range of the memory map, with its permissions.
type Place struct {
	Start, End        uint64 // End is exclusive; 0 means 2^64
	Read, Write, Exec bool
	// Mapped: there is memory. Reserved ranges and gaps between entries have none.
	Mapped bool
	// Guard: it is a guard page, by its flag, or because it is small, has no permissions, and is
	// adjacent to memory that has.
	Guard bool
	// Name is what is mapped there (a file, "[stack]"), or "".
	Name string
}

// Perms returns the permissions as in /proc/PID/maps: "rw-".
func (p *Place) Perms() string {
	b := []byte("---")
	for i, on := range []bool{p.Read, p.Write, p.Exec} {
		if on {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}

// Allows reports whether the permissions allow an access.
func (p *Place) Allows(k Kind) bool {
	switch k {
	case Read:
		return p.Read
	case Write:
		return p.Write
	case ReadWrite:
		return p.Read && p.Write
	case Exec:
		return p.Exec
	}
	return true
}

// MemoryMap is the memory map of the process: the dump's MemoryInfoListStream if it has one, else
// /proc/PID/maps.
type MemoryMap struct {
	places []Place // sorted, without overlaps; empty if the dump has no map
}

// NewMemoryMap reads the memory map of a dump. It is empty if the dump has none.
//
// In order: the entries of the stream or of maps; their order by address; overlaps, which a map
// that was read while it changed may have; guard pages, which need their neighbors.
func NewMemoryMap(d *core.Dump) *MemoryMap {
	m := &MemoryMap{}
	var all []Place
	switch {
	case d.Stream(core.StreamMemoryInfoList) != nil && len(d.Regions) > 0:
		for _, r := range d.Regions {
			if r.Size == 0 {
				continue
			}
			on := r.State&memCommit != 0 || r.State&(memFree|memReserve) == 0
			p := Place{Start: r.Base, End: r.Base + r.Size, Mapped: on}
			if on {
				p.Read, p.Write, p.Exec = r.Protect&readable != 0, r.Protect&writable != 0, r.Protect&executable != 0
				p.Guard = r.Protect&pageGuard != 0
			}
			if r.State&memFree == 0 { // free memory is listed too
				all = append(all, p)
			}
		}
	case d.Linux.HasMaps:
		for _, l := range d.Linux.Maps {
			r, w, x := strings.Contains(l.Perms, "r"), strings.Contains(l.Perms, "w"), strings.Contains(l.Perms, "x")
			if l.End > l.Start {
				all = append(all, Place{Start: l.Start, End: l.End, Read: r, Write: w, Exec: x, Mapped: true, Name: l.Path})
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	// Of entries that overlap, the one that begins first keeps its range, and the other what is
	// left.
	for _, p := range all {
		if n := len(m.places); n > 0 && (m.places[n-1].End > p.Start || m.places[n-1].End == 0) {
			if p.End != 0 && p.End <= m.places[n-1].End || m.places[n-1].End == 0 {
				continue
			}
			p.Start = m.places[n-1].End
		}
		m.places = append(m.places, p)
	}
	for i := range m.places {
		p := &m.places[i]
		p.Guard = p.Guard || m.looksLikeGuard(i)
	}
	return m
}

// maxGuard is the size in bytes of the largest range without permissions that counts as a guard
// page. Larger ones are reserved address space.
const maxGuard = 32 << 10

// looksLikeGuard reports whether entry i is a small range without permissions, adjacent to one that
// has some.
func (m *MemoryMap) looksLikeGuard(i int) bool {
	p := &m.places[i]
	if p.Read || p.Write || p.Exec || p.End-p.Start > maxGuard {
		return false
	}
	open := func(j int) bool {
		if j < 0 || j >= len(m.places) {
			return false
		}
		q := &m.places[j]
		return (q.End == p.Start || p.End == q.Start) && (q.Read || q.Write || q.Exec)
	}
	return open(i-1) || open(i+1)
}

// known reports whether the dump has a map.
func (m *MemoryMap) known() bool { return len(m.places) > 0 }

// At returns the place of an address. It is nil without a map, and a Place that is not Mapped for
// an address in no entry.
func (m *MemoryMap) At(addr uint64) *Place {
	if !m.known() {
		return nil
	}
	i, inside := m.find(addr)
	if inside {
		p := m.places[i-1]
		return &p
	}
	// Between two entries nothing is mapped.
	hole := &Place{}
	if i > 0 {
		hole.Start = m.places[i-1].End
	}
	if i < len(m.places) {
		hole.End = m.places[i].Start
	}
	return hole
}

// find returns how many entries begin at or below an address, and whether the last of them contains
// it.
func (m *MemoryMap) find(addr uint64) (n int, inside bool) {
	n = sort.Search(len(m.places), func(i int) bool { return m.places[i].Start > addr })
	return n, n > 0 && (m.places[n-1].End > addr || m.places[n-1].End == 0)
}

// Executable reports whether an address is in executable memory. known is false if nothing is
// mapped there or there is no map.
func (m *MemoryMap) Executable(addr uint64) (yes, known bool) {
	n, inside := m.find(addr)
	if !inside || !m.places[n-1].Mapped {
		return false, false
	}
	return m.places[n-1].Exec, true
}

// above returns the entry that begins where p ends, or nil.
func (m *MemoryMap) above(p *Place) *Place {
	i := sort.Search(len(m.places), func(i int) bool { return m.places[i].Start >= p.End })
	if p.End == 0 || i >= len(m.places) || m.places[i].Start != p.End {
		return nil
	}
	return &m.places[i]
}
