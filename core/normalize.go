package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// Some fields of a dump do not say what they mean. Normalized returns what they mean; both peers
// take them at their word, so their policies walk the dump as it was read.

// Role says what a Thread is. Only Normalized adds others than those of the thread list; they come
// after them.
type Role uint8

const (
	RoleListed   Role = iota // an entry of the thread list
	RoleUnlisted             // the thread of an exception, which is not in the list
	RoleLayer                // the second stack of the thread Under, see Wow64
)

// Normalized returns a dump whose fields are what they mean. The bytes are shared.
//
//   - A number for 32-bit programs under a 64-bit system is the processor's own.
//   - 32-bit addresses have no copies of their sign above them, those of Wow64's processes too.
//   - Exception is the first of several.
//   - Two entries of the thread list with one id and the same registers are one thread.
//   - The thread that wrote the dump counts, if the exception is its own.
//   - A 32-bit process that a 64-bit tool dumped has its own registers and stacks (Wow64).
//   - An exception's thread is there even if no list has it (RoleUnlisted).
func (d *Dump) Normalized() *Dump {
	n := *d
	n.raw = d.AsRead()
	n.Threads, n.Exceptions, n.Diags = slices.Clone(d.Threads), slices.Clone(d.Exceptions), slices.Clone(d.Diags)
	n.merged, n.modules, n.ids = nil, nil, nil
	n.renumber()
	if a := n.Arch(); a != nil && a.WordSize == 4 {
		n.narrow()
		n.narrowed = true
	}
	if len(n.Exceptions) > 0 {
		n.Exception = &n.Exceptions[0]
	}
	n.mergeThreads()
	n.keepDumpThread()
	n.findWow64()
	n.addUnlisted()
	return &n
}

// AsRead returns the dump as its bytes have it.
func (d *Dump) AsRead() *Dump {
	if d.raw != nil {
		return d.raw
	}
	return d
}

// Another returns the dump as its bytes have it, for another session. Call it before the session's report:
// what that finds out of modules (ExtendModule, PlaceModule) would be known to the other one, too. Both share
// Memory, so that they are not for use by several goroutines at once.
func (d *Dump) Another() *Dump {
	c := *d.AsRead()
	c.sizes, c.places = maps.Clone(c.sizes), maps.Clone(c.places)
	c.merged, c.modules, c.starts, c.ids, c.Program, c.Section = nil, nil, nil, nil, nil, nil
	return &c
}

// Wow64 returns what is known about the process if it is a 32-bit one that a 64-bit tool dumped, else
// nil.
func (d *Dump) Wow64() *Wow64 { return d.wow64 }

// ListedThreads returns how many threads the dump's list has; Normalized adds others behind them.
func (d *Dump) ListedThreads() int {
	for i := range d.Threads {
		if d.Threads[i].role != RoleListed {
			return i
		}
	}
	return len(d.Threads)
}

// renumber replaces the processor numbers that Windows has for 32-bit programs on other machines.
func (d *Dump) renumber() {
	if d.System == nil {
		return
	}
	s := *d.System
	switch s.Processor {
	case ProcARM32Win64:
		s.Processor = ProcARM
	case ProcX86ARM64:
		s.Processor = ProcX86
	}
	d.System = &s
}

// low removes the copies of the sign above a 32-bit address.
func low(a uint64) uint64 {
	if a>>31 == 1<<33-1 {
		return uint64(uint32(a))
	}
	return a
}

// narrow removes the copies of the sign above every address of a 32-bit process. Writers that take
// an address for a signed number put them there.
func (d *Dump) narrow() {
	each := func(fields ...*uint64) {
		for _, f := range fields {
			*f = low(*f)
		}
	}
	for i := range d.Threads {
		each(&d.Threads[i].TEB, &d.Threads[i].StackStart)
	}
	d.Modules, d.Unloaded, d.Regions = slices.Clone(d.Modules), slices.Clone(d.Unloaded), slices.Clone(d.Regions)
	for i := range d.Modules {
		each(&d.Modules[i].Base)
	}
	for i := range d.Unloaded {
		each(&d.Unloaded[i].Base)
	}
	for i := range d.Regions {
		each(&d.Regions[i].Base, &d.Regions[i].AllocationBase)
	}
	for i := range d.Exceptions {
		e := &d.Exceptions[i]
		e.Params = slices.Clone(e.Params)
		each(&e.Address, &e.Record)
		for k := range e.Params {
			each(&e.Params[k])
		}
	}
	w := &d.Windows
	w.ThreadsEx, w.ThreadInfo, w.FunctionTables = slices.Clone(w.ThreadsEx), slices.Clone(w.ThreadInfo), slices.Clone(w.FunctionTables)
	for i := range w.ThreadsEx {
		each(&w.ThreadsEx[i].TEB, &w.ThreadsEx[i].StackStart, &w.ThreadsEx[i].BackingStart)
	}
	for i := range w.ThreadInfo {
		each(&w.ThreadInfo[i].StartAddress)
	}
	for i := range w.FunctionTables {
		each(&w.FunctionTables[i].Minimum, &w.FunctionTables[i].Maximum, &w.FunctionTables[i].Base)
	}
	m := newMemory(d)
	m.list, m.list64 = slices.Clone(d.Memory.list), slices.Clone(d.Memory.list64)
	for _, list := range [][]Region{m.list, m.list64} {
		for i := range list {
			each(&list[i].Start)
		}
	}
	d.Memory = m
	m.build()
}

// narrowRegs does the same for the registers of a context: those of mips have 64 bits in the record
// and in the processor.
func (d *Dump) narrowRegs(c *Context) {
	if !d.narrowed {
		return
	}
	for r := range c.Arch.Names {
		if v, ok := c.Regs.Get(cpu.Reg(r)); ok {
			c.Regs.Set(cpu.Reg(r), low(v))
		}
	}
}

// mergeThreads makes one thread of entries that are the same one. LLDB, which puts the last of the
// threads whose stacks are in one range of memory into each one's entry, lists it twice, once with
// its stack.
func (d *Dump) mergeThreads() {
	first := make(map[uint32]int, len(d.Threads))
	kept := d.Threads[:0]
	for i, t := range d.Threads {
		t.entry = i
		k, listed := first[t.ID]
		if !listed {
			first[t.ID] = len(kept)
		}
		if !listed || !d.sameRegisters(&kept[k], &t) {
			kept = append(kept, t)
			continue
		}
		one := &kept[k]
		if one.Stack.Size == 0 {
			one.StackStart, one.Stack = t.StackStart, t.Stack
		}
		if t.Stack.Size == 0 {
			t.StackStart, t.Stack = one.StackStart, one.Stack
		}
		if t.entry, t.ContextLoc = one.entry, one.ContextLoc; t != *one {
			d.remark(Warning, StreamThreadList, -1, fmt.Sprintf("one entry for thread %d", t.ID), "two with the same registers that differ otherwise; the first is used")
		}
	}
	d.Threads, d.ids = kept, nil
}

// sameRegisters reports whether two entries have the same registers. A context without a stack
// pointer is of no thread that ran.
func (d *Dump) sameRegisters(a, b *Thread) bool {
	x, err := d.readContext(a.ContextLoc, "")
	if err != nil || x.Regs.SP() == 0 {
		return false
	}
	y, err := d.readContext(b.ContextLoc, "")
	return err == nil && x.Regs == y.Regs
}

// keepDumpThread forgets which thread wrote the dump if the exception is that thread's: its context
// is of the crash then, and it is the thread that counts most.
func (d *Dump) keepDumpThread() {
	if b := d.Breakpad; b != nil && b.DumpThread != nil && d.Exception != nil && *b.DumpThread == d.Exception.ThreadID {
		if _, err := d.ExceptionContext(); err == nil {
			d.Breakpad = &BreakpadInfo{RequestingThread: b.RequestingThread}
		}
	}
}

// addUnlisted adds a thread for each exception with registers whose thread is in no list.
func (d *Dump) addUnlisted() {
	known := map[uint32]bool{}
	for i := range d.Threads {
		known[d.Threads[i].ID] = true
	}
	d.ids = nil // there will be more threads
	for i := range d.Exceptions {
		e := &d.Exceptions[i]
		if known[e.ThreadID] {
			continue
		}
		known[e.ThreadID] = true
		c, err := d.ContextOf(e)
		if err != nil {
			continue
		}
		t := Thread{ID: e.ThreadID, ContextLoc: e.ContextLoc, role: RoleUnlisted}
		d.stackAt(&t, c.Regs.SP())
		d.Threads = append(d.Threads, t)
	}
}

// stackAt makes the memory around a stack pointer a thread's stack, if the dump has it.
func (d *Dump) stackAt(t *Thread, sp uint64) {
	t.StackStart, t.Stack = 0, Location{}
	if r, ok := d.Memory.Region(sp); ok {
		t.StackStart, t.Stack = r.Start, r.Loc
	}
}

// hasModule reports whether a module has one of some file names.
func (d *Dump) hasModule(names ...string) bool {
	for i := range d.Modules {
		for _, n := range names {
			if strings.EqualFold(FileName(d.Modules[i].Name), n) {
				return true
			}
		}
	}
	return false
}
