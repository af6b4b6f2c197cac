package report

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// Holder is a thread that holds a lock for which other threads wait, as the lock's own words in the
// dump's memory say.
type Holder struct {
	Thread  int
	Waiting []int
	Kind    string // "mutex", "critical section", "reader-writer lock"
	Lock    uint64 // its address
	// Deadlock: the thread itself waits for one of those that wait for it; Indirect: it does so through others.
	Deadlock, Indirect bool
	// Why says what shows it.
	Why string
}

// findHolders reads who holds the locks that threads wait for.
func (m *Merged) findHolders(d *core.Dump, r *Report) {
	waitsFor := map[int]int{}
	for i := range m.States {
		if !m.States[i].Lock {
			continue
		}
		h, ok := holderOf(d, r, &r.Threads[i])
		if !ok {
			m.Unknown++
			continue
		}
		waitsFor[i] = h.Thread
		at := slices.IndexFunc(m.Holders, func(o Holder) bool { return o.Thread == h.Thread && o.Lock == h.Lock })
		if at < 0 {
			at = len(m.Holders)
			m.Holders = append(m.Holders, h)
		}
		m.Holders[at].Waiting = append(m.Holders[at].Waiting, i)
	}
	m.findDeadlocks(waitsFor)
	sort.SliceStable(m.Holders, func(i, j int) bool {
		a, b := &m.Holders[i], &m.Holders[j]
		if a.Deadlock != b.Deadlock {
			return a.Deadlock
		}
		return len(a.Waiting) > len(b.Waiting)
	})
}

// findDeadlocks marks the locks that a deadlock is about. A thread in one may hold other locks, too, for which threads
// wait that are not in it. waitsFor has the thread that each waits for.
func (m *Merged) findDeadlocks(waitsFor map[int]int) {
	round := onCycle(waitsFor)
	for i := range m.Holders {
		h := &m.Holders[i]
		h.Deadlock = round[h.Thread] && slices.ContainsFunc(h.Waiting, func(w int) bool { return round[w] })
		h.Indirect = h.Deadlock && !slices.Contains(h.Waiting, waitsFor[h.Thread])
	}
}

// onCycle returns the threads that wait for themselves: directly, or through those that they wait for.
func onCycle(waitsFor map[int]int) map[int]bool {
	round, seenFrom := map[int]bool{}, map[int]int{}
	for start := range waitsFor {
		at, ok := start, true
		for seenFrom[at] == 0 && ok {
			seenFrom[at] = start + 1
			at, ok = waitsFor[at]
		}
		for ok && seenFrom[at] == start+1 && !round[at] { // the way from start came back to it
			round[at] = true
			at = waitsFor[at]
		}
	}
	return round
}

// holderOf returns the thread that holds the lock for which a thread waits, without Waiting. ok is false
// if the dump does not show it.
func holderOf(d *core.Dump, r *Report, t *Thread) (h Holder, ok bool) {
	if d == nil || d.Memory == nil || t.IsSecond || len(t.Frames) == 0 {
		return h, false
	}
	for i := range t.Frames[:min(len(t.Frames), stateFrames)] {
		f := &t.Frames[i]
		if !f.Named() || f.Module < 0 {
			continue
		}
		name := systemName(f.Function.Raw)
		if name == "RtlEnterCriticalSection" {
			return sectionHolder(d, r, t, i)
		}
		if slices.Contains(mutexFunctions, name) || slices.Contains(rwlockFunctions, name) {
			return linuxHolder(d, r, t, i)
		}
	}
	return linuxHolder(d, r, t, -1)
}

// sectionHolder reads a critical section of Windows (RTL_CRITICAL_SECTION in winnt.h):
//
//	64-bit  32-bit
//	     0       0  DebugInfo: -1, or a structure that points back to the section at its second word
//	     8       4  LockCount: bit 0 is 0 while it is held; without bits 0 and 1, -1 minus the number of waiters
//	    12       8  RecursionCount
//	    16      12  OwningThread: a thread id
//
// Its address is in a register of one of the frames that wait, or of their caller: only the structure
// itself shows in which.
func sectionHolder(d *core.Dump, r *Report, t *Thread, frame int) (h Holder, ok bool) {
	for i := range t.Frames[:min(len(t.Frames), frame+2)] {
		regs := t.Frames[i].Regs
		if regs == nil || regs.Arch == nil {
			continue
		}
		word := regs.Arch.WordSize
		for n := range regs.Arch.Names {
			at, known := regs.Get(cpu.Reg(n))
			if !known || at < 0x10000 {
				continue
			}
			debug, ok1 := d.Memory.Word(at, word)
			count, ok2 := d.Memory.Word(at+uint64(word), 4)
			recursion, ok3 := d.Memory.Word(at+uint64(word)+4, 4)
			owner, ok4 := d.Memory.Word(at+uint64(word)+8, word)
			none := ^uint64(0) >> (64 - 8*word)
			if !ok1 || !ok2 || !ok3 || !ok4 || int32(count) >= -1 || count&1 != 0 || recursion == 0 || recursion > 1<<16 {
				continue
			}
			if back, ok := d.Memory.Word(debug+uint64(word), word); debug != none && (!ok || back != at) {
				continue
			}
			if h, ok := holding(d, t, "critical section", at, owner); ok {
				return h, true
			}
		}
	}
	return h, false
}

// holding returns the thread with an id as the holder of a lock for which another one waits. owner is a word of the lock,
// which may be no id.
func holding(d *core.Dump, t *Thread, kind string, at, owner uint64) (h Holder, ok bool) {
	if owner == 0 || owner > math.MaxUint32 {
		return h, false
	}
	i := d.ThreadByID(uint32(owner))
	if i < 0 || i == t.Index {
		return h, false
	}
	return Holder{Thread: i, Kind: kind, Lock: at, Why: fmt.Sprintf("the %s at 0x%x has the thread id %d as its owner", kind, at, owner)}, true
}

// String names the holder and says why: "Thread 4 holds what threads 2, 3 wait for: the mutex …".
func (h *Holder) String() string {
	wait := "wait"
	if len(h.Waiting) == 1 {
		wait = "waits"
	}
	s := fmt.Sprintf("Thread %d holds what %s %s for: %s", h.Thread, threadsText(h.Waiting), wait, h.Why)
	if h.Deadlock {
		s += "; a deadlock, since it waits for one of them"
	}
	if h.Indirect {
		s += " through others"
	}
	return s
}

// UnknownText says how many threads wait for a lock whose holder is not known, or is "".
func (m *Merged) UnknownText() string {
	switch m.Unknown {
	case 0:
		return ""
	case 1:
		return "1 thread waits for a lock; the dump does not show which thread holds it"
	}
	return grouped(m.Unknown) + " threads wait for locks; the dump does not show which threads hold them"
}
