package core

import "github.com/crashpane/crashpane/core/input"

// Thread is an entry of stream 3, with its name from stream 24.
type Thread struct {
	ID, SuspendCount, PriorityClass, Priority uint32
	TEB                                       uint64
	StackStart                                uint64   // address of the lowest stack byte in the dump
	Stack                                     Location // its bytes
	ContextLoc                                Location
	Name                                      string
	// Named: the dump has a name for the thread, which may be "".
	Named bool

	// The rest is set by Normalized.
	role  Role
	entry int // of the list as it was read, for RoleListed
	under int // of RoleLayer
	in    registersIn
	teb64 uint64 // of inSaved and inSuspended
}

// threadSize is the size of a MINIDUMP_THREAD in bytes.
const threadSize = 48

// decodeThreadList reads MINIDUMP_THREAD entries.
//
//	 0 ThreadId u32 · 4 SuspendCount u32 · 8 PriorityClass u32 · 12 Priority u32 · 16 Teb u64
//	24 Stack: StartOfMemoryRange u64 · 32 DataSize u32 · 36 Rva u32 · 40 Context: DataSize u32 · 44 Rva u32
func decodeThreadList(d *Dump, s *Stream, c *input.Cursor) {
	n := d.countedList(s, c, threadSize, maxThreads)
	for range n {
		t := readThread(c)
		if c.Err() != nil {
			return
		}
		d.Threads = append(d.Threads, t)
	}
}

// readThread reads one entry; ThreadExList's entries begin in the same way.
func readThread(c *input.Cursor) Thread {
	t := Thread{ID: c.U32(), SuspendCount: c.U32(), PriorityClass: c.U32(), Priority: c.U32(), TEB: c.U64(), StackStart: c.U64()}
	t.Stack = location(c)
	t.ContextLoc = location(c)
	return t
}

// location reads MINIDUMP_LOCATION_DESCRIPTOR: DataSize u32 · Rva u32.
func location(c *input.Cursor) Location {
	size := c.U32()
	return Location{Size: uint64(size), Off: FileOff(c.U32())}
}

// decodeThreadNames reads MINIDUMP_THREAD_NAME_LIST: a count, then {ThreadId u32, RvaOfThreadName
// u64} packed to 12 bytes. It runs after decodeThreadList (the order of streamTable), so the
// threads are there.
func decodeThreadNames(d *Dump, s *Stream, c *input.Cursor) {
	n := d.countedList(s, c, 12, maxThreads)
	names := make(map[uint32]string)
	for range n {
		id := c.U32()
		off := c.U64()
		if c.Err() != nil {
			return
		}
		if off > uint64(d.Src.Size) || off == 0 {
			d.remark(Warning, s.Type, c.Off()-8, "the offset of a name inside the file", hexNum(off))
			continue
		}
		names[id] = d.stringAt(s.Type, FileOff(off), "thread name")
	}
	for i := range d.Threads {
		d.Threads[i].Name, d.Threads[i].Named = names[d.Threads[i].ID]
	}
}

// Role returns what the thread is.
func (t *Thread) Role() Role { return t.role }

// Under returns the index of the thread whose second stack a thread of RoleLayer is, else -1.
func (t *Thread) Under() int {
	if t.role != RoleLayer {
		return -1
	}
	return t.under
}

// SavedRegisters reports whether the thread's registers are those that the 64-bit layer of a 32-bit
// process had saved.
func (t *Thread) SavedRegisters() bool { return t.in == inSaved }

// SavedRegisters is the same for an exception.
func (e *Exception) SavedRegisters() bool { return e.in == inSaved }

// Suspended reports whether the thread's registers are those that the 64-bit layer goes on with
// when the 32-bit code calls it.
func (t *Thread) Suspended() bool { return t.in == inSuspended }

// threadIndex has the indices of the first thread and of the first exception with a thread's id.
type threadIndex struct {
	threads, exceptions map[uint32]int
}

// indexThreads returns the index, which it makes at its first use.
func (d *Dump) indexThreads() *threadIndex {
	if d.ids != nil {
		return d.ids
	}
	d.ids = &threadIndex{make(map[uint32]int, len(d.Threads)), make(map[uint32]int, len(d.Exceptions))}
	for i := range d.Threads {
		if _, ok := d.ids.threads[d.Threads[i].ID]; !ok {
			d.ids.threads[d.Threads[i].ID] = i
		}
	}
	for i := range d.Exceptions {
		if _, ok := d.ids.exceptions[d.Exceptions[i].ThreadID]; !ok {
			d.ids.exceptions[d.Exceptions[i].ThreadID] = i
		}
	}
	return d.ids
}

// ThreadByID returns the index of the first thread with an id, or -1.
func (d *Dump) ThreadByID(id uint32) int {
	if i, ok := d.indexThreads().threads[id]; ok {
		return i
	}
	return -1
}
