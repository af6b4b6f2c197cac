package analysis

import (
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Protection bits of stream 16 (PAGE_* of winnt.h) and states (MEM_*).
const (
	pageReadOnly     = 0x02
	pageReadWrite    = 0x04
	pageWriteCopy    = 0x08
	pageExecute      = 0x10
	pageExecuteRead  = 0x20
	pageExecuteRW    = 0x40
	pageExecuteWCopy = 0x80
	pageGuard        = 0x100

	readable   = pageReadOnly | pageReadWrite | pageExecuteRead | pageExecuteRW
	writable   = pageReadWrite | pageWriteCopy | pageExecuteRW | pageExecuteWCopy
	executable = pageExecute | pageExecuteRead | pageExecuteRW | pageExecuteWCopy

	memCommit  = 0x1000
	memReserve = 0x2000
	memFree    = 0x10000
)

// Place is a run of addresses in the memory map, with what may be done there.
type Place struct {
	Start, End        uint64 // End is the first address after it; 0 stands for 2^64
	Read, Write, Exec bool
	// Mapped: there is memory. A reserved range has none and is not Mapped, as is one between two entries of the map.
	Mapped bool
	// Guard: the page is a guard page by its own flag, or has no permissions and lies directly before or behind memory that has.
	Guard bool
	// Name is what is mapped there, "" if that is not known: a file, "[stack]".
	Name string
}

// Perms are the permissions in the form of /proc/PID/maps: "rw-".
func (p *Place) Perms() string {
	b := []byte("---")
	for i, on := range []bool{p.Read, p.Write, p.Exec} {
		if on {
			b[i] = "rwx"[i]
		}
	}
	return string(b)
}

// Allows says whether the permissions cover an access.
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

// MemoryMap is the memory map of the process: the dump's MemoryInfoList if it has one, else /proc/PID/maps.
type MemoryMap struct {
	places []Place // sorted, without overlap; empty if the dump has no map
	rust   []rustRange
}

// rustRange is an entry of the map as rust-minidump finds it: Last is inclusive.
type rustRange struct {
	First, Last             uint64
	Read, Write, Executable bool
}

// NewMemoryMap reads the memory map of a dump. It is empty if the dump has none.
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
				p.Read = p.Read || r.Protect&(pageWriteCopy|pageExecuteWCopy) != 0
				p.Guard = r.Protect&pageGuard != 0
			}
			if r.State&memFree == 0 { // free memory is listed too
				all = append(all, p)
			}
			// Everything in this list counts, by its protection alone, and a page that is copied when written is not readable.
			if r.Base+r.Size > r.Base {
				m.rust = append(m.rust, rustRange{r.Base, r.Base + r.Size - 1,
					r.Protect&readable != 0, r.Protect&writable != 0, r.Protect&executable != 0})
			}
		}
	case d.Linux.HasMaps:
		for _, l := range d.Linux.Maps {
			r, w, x := strings.Contains(l.Perms, "r"), strings.Contains(l.Perms, "w"), strings.Contains(l.Perms, "x")
			if l.End > l.Start {
				all = append(all, Place{Start: l.Start, End: l.End, Read: r, Write: w, Exec: x, Mapped: true, Name: l.Path})
			}
			// The end counts as part of the mapping, which makes neighbours overlap (see dropOverlaps).
			m.rust = append(m.rust, rustRange{l.Start, l.End, r, w, x})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start < all[j].Start })
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
	m.dropOverlaps()
	return m
}

// maxGuard is the largest range without permissions that is taken for a guard page; larger ones are address space that was
// reserved. rust-minidump has the same limit.
const maxGuard = 32 << 10

// looksLikeGuard: a small range without permissions next to one that has some.
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

// dropOverlaps keeps the entries that rust-minidump's range map keeps (into_rangemap_safe): in order of address, without
// those that overlap the one before. Since it takes the end of a Linux mapping for part of it, every mapping that begins
// where another ends is lost.
func (m *MemoryMap) dropOverlaps() {
	sort.SliceStable(m.rust, func(i, j int) bool {
		if m.rust[i].First != m.rust[j].First {
			return m.rust[i].First < m.rust[j].First
		}
		return m.rust[i].Last < m.rust[j].Last
	})
	kept := m.rust[:0]
	for _, r := range m.rust {
		if r.Last < r.First || len(kept) > 0 && r.First <= kept[len(kept)-1].Last {
			continue
		}
		kept = append(kept, r)
	}
	m.rust = kept
}

// known says whether the dump has a map at all.
func (m *MemoryMap) known() bool { return len(m.places) > 0 }

// At finds the place of an address: nil without a map, one that is not Mapped for an address in no entry.
func (m *MemoryMap) At(addr uint64) *Place {
	if !m.known() {
		return nil
	}
	i, inside := m.find(addr)
	if inside {
		p := m.places[i-1]
		return &p
	}
	hole := &Place{}
	if i > 0 {
		hole.Start = m.places[i-1].End
	}
	if i < len(m.places) {
		hole.End = m.places[i].Start
	}
	return hole
}

// find is how many entries begin at or below an address, and whether the last of them has it.
func (m *MemoryMap) find(addr uint64) (n int, inside bool) {
	n = sort.Search(len(m.places), func(i int) bool { return m.places[i].Start > addr })
	return n, n > 0 && (m.places[n-1].End > addr || m.places[n-1].End == 0)
}

// Executable says whether an address is in memory that may be executed; known is false where nothing is mapped, or without a map.
func (m *MemoryMap) Executable(addr uint64) (yes, known bool) {
	n, inside := m.find(addr)
	if !inside || !m.places[n-1].Mapped {
		return false, false
	}
	return m.places[n-1].Exec, true
}

// above is the entry that begins where p ends, or nil.
func (m *MemoryMap) above(p *Place) *Place {
	i := sort.Search(len(m.places), func(i int) bool { return m.places[i].Start >= p.End })
	if p.End == 0 || i >= len(m.places) || m.places[i].Start != p.End {
		return nil
	}
	return &m.places[i]
}

// rustAt is what rust-minidump finds at an address: the index of the entry, or -1.
func (m *MemoryMap) rustAt(addr uint64) int {
	i := sort.Search(len(m.rust), func(i int) bool { return m.rust[i].First > addr }) - 1
	if i < 0 || m.rust[i].Last < addr {
		return -1
	}
	return i
}

// rustGuard is rust-minidump's test for a guard page (processor.rs, check_for_guard_pages).
func (m *MemoryMap) rustGuard(addr uint64) bool {
	i := m.rustAt(addr)
	if i < 0 {
		return false
	}
	open := func(r *rustRange) bool { return r.Read || r.Write || r.Executable }
	r := &m.rust[i]
	if open(r) || r.Last-r.First >= maxGuard {
		return false
	}
	before := i > 0 && m.rust[i-1].Last+1 == r.First && open(&m.rust[i-1])
	after := i+1 < len(m.rust) && r.Last+1 == m.rust[i+1].First && open(&m.rust[i+1])
	return before || after
}
