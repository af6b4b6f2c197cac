package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// MemoryRange is a range of the process's memory map. Access, State and Contents are words.
type MemoryRange struct {
	Start, Size             uint64
	Access, State, Contents string
	// Mark is "danger" for the range of the fault address, "stack" for one with a thread's stack
	// pointer, or "".
	Mark string
}

// MemoryMap returns the process's memory map, from /proc/PID/maps, or from Windows's memory
// information, or else the ranges that the dump has. Contents names the fault address, stacks and
// modules.
func MemoryMap(d *core.Dump, r *Report) (all []MemoryRange) {
	type stack struct {
		at     uint64
		thread int
	}
	var stacks []stack // sorted, since there may be thousands of ranges and of threads
	for i := range r.Threads {
		if sp, ok := stackPointer(&r.Threads[i]); ok {
			stacks = append(stacks, stack{sp, i})
		}
	}
	slices.SortFunc(stacks, func(a, b stack) int { return cmp.Compare(a.at, b.at) })
	add := func(start, size uint64, access, state, path string) {
		if path == "" {
			path = moduleAt(r, start, size)
		}
		m := MemoryRange{Start: start, Size: size, Access: access, State: state, Contents: path}
		inside := func(a uint64) bool { return a >= start && a-start < size }
		if r.Crash != nil && r.Crash.Event.HasAddress && inside(r.Crash.Event.Address) {
			m.Mark, m.Contents = "danger", join("the fault address", path)
		}
		first := len(r.Threads) // the first thread whose stack pointer is inside
		for i := sort.Search(len(stacks), func(i int) bool { return stacks[i].at >= start }); i < len(stacks) && inside(stacks[i].at); i++ {
			first = min(first, stacks[i].thread)
		}
		if first < len(r.Threads) {
			m.Contents = join(stackOf(&r.Threads[first]), m.Contents)
			m.Mark = cmp.Or(m.Mark, "stack")
		}
		all = append(all, m)
	}
	switch {
	case len(d.Linux.Maps) > 0: // it has names, which Breakpad's memory information of Linux lacks
		for _, m := range d.Linux.Maps {
			state := ""
			switch {
			case strings.HasSuffix(m.Perms, "p"):
				state = "private"
			case strings.HasSuffix(m.Perms, "s"):
				state = "shared"
			}
			add(m.Start, m.End-m.Start, strings.TrimRight(m.Perms, "ps"), state, m.Path)
		}
	case len(d.Regions) > 0:
		for i := range d.Regions {
			r := &d.Regions[i]
			add(r.Base, r.Size, protection(r.Protect), regionState(r), "")
		}
	default:
		for _, r := range d.Memory.Regions() {
			add(r.Start, r.Loc.Size, "", inDump, "")
		}
	}
	return all
}

// inDump is the state of memory if the dump has its bytes and says nothing else about it.
const inDump = "in the dump"

// stackOf names a thread's stack.
func stackOf(t *Thread) string {
	switch {
	case t.Unlisted:
		return fmt.Sprintf("stack of the thread with id %d", t.ID)
	case t.IsSecond:
		return fmt.Sprintf("second stack of thread %d", t.Other)
	}
	return fmt.Sprintf("stack of thread %d", t.Index)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " · " + b
}

// stackPointer returns the stack pointer of a thread's first frame.
func stackPointer(t *Thread) (uint64, bool) {
	if len(t.Frames) == 0 || t.Frames[0].Regs == nil || t.Frames[0].Regs.Arch == nil {
		return 0, false
	}
	r := t.Frames[0].Regs
	return r.Get(r.Arch.SP)
}

// moduleAt returns the name of a module that overlaps a range: of the one at its start, or else of the first that begins in
// it; "" without one.
func moduleAt(r *Report, start, size uint64) string {
	if m, _ := r.ModuleMap.Find(start); m >= 0 {
		return BaseName(r.Modules[m].Name)
	}
	all := r.ModulesByAddress
	i := sort.Search(len(all), func(i int) bool { return r.Modules[all[i]].Base >= start })
	if i < len(all) && r.Modules[all[i]].Base-start < size {
		return BaseName(r.Modules[all[i]].Name)
	}
	return ""
}

// The values of PAGE_* in letters, as Linux writes them, of MEM_* for states, and of MEM_* for
// kinds of memory. They are made once, because a memory map has thousands of rows.
var (
	accessWords = map[uint32]string{0: "", 1: "none", 2: "r", 4: "rw", 8: "r, copy-on-write", 0x10: "x", 0x20: "rx", 0x40: "rwx", 0x80: "rx, copy-on-write"}
	stateWords  = map[uint32]string{0x1000: "committed", 0x2000: "reserved", 0x10000: "free"}
	kindWords   = map[uint32]string{0x20000: "private", 0x40000: "mapped", 0x1000000: "image"}
)

// protection describes a PAGE_* value: the access, then its modifiers.
func protection(p uint32) string {
	s, ok := accessWords[p&0xff]
	if !ok {
		s = fmt.Sprintf("0x%x", p)
	}
	if p&0x100 != 0 {
		s += ", guard"
	}
	return s
}

func regionState(r *core.MemoryInfo) string {
	if kind := kindWords[r.Type]; kind != "" {
		return join(stateWords[r.State], kind)
	}
	return stateWords[r.State]
}
