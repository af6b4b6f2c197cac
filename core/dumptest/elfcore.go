package dumptest

import "encoding/binary"

// Core builds an ELF core of Linux. Notes come in the order in which they are added.
type Core struct {
	order    binary.AppendByteOrder
	wide     bool // 64-bit
	machine  uint16
	notes    []byte
	files    [][3]uint64 // start, end, offset
	paths    []byte
	segments []coreSegment
}

type coreSegment struct {
	start, size uint64
	flags       uint32
	data        []byte
}

// The flags of Core.Memory.
const (
	Exec  = 1
	Write = 2
	Read  = 4
)

// NewCore begins a core for an e_machine number.
func NewCore(order binary.AppendByteOrder, wide bool, machine uint16) *Core {
	return &Core{order: order, wide: wide, machine: machine}
}

func (c *Core) u32(b []byte, all ...uint32) []byte {
	for _, v := range all {
		b = c.order.AppendUint32(b, v)
	}
	return b
}

func (c *Core) words(b []byte, all ...uint64) []byte {
	for _, v := range all {
		if c.wide {
			b = c.order.AppendUint64(b, v)
		} else {
			b = c.order.AppendUint32(b, uint32(v))
		}
	}
	return b
}

// Note adds a note.
func (c *Core) Note(name string, kind uint32, desc []byte) *Core {
	c.notes = appendNote(c.order, c.notes, name, kind, desc)
	return c
}

func appendNote(order binary.AppendByteOrder, b []byte, name string, kind uint32, desc []byte) []byte {
	for _, v := range []int{len(name) + 1, len(desc), int(kind)} {
		b = order.AppendUint32(b, uint32(v))
	}
	for _, p := range [][]byte{append([]byte(name), 0), desc} {
		b = append(b, p...)
		b = append(b, make([]byte, -len(p)&3)...)
	}
	return b
}

// Thread adds an NT_PRSTATUS with the registers as the processor's elf_gregset_t has them.
func (c *Core) Thread(id uint32, signal uint16, registers []byte) *Core {
	b := c.u32(nil, uint32(signal), 0, 0)
	b = c.order.AppendUint16(b, signal)
	b = append(b, 0, 0)
	b = c.words(b, 0, 0)
	b = c.u32(b, id, 0, 0, 0)
	b = c.words(b, make([]uint64, 8)...)
	b = append(b, registers...)
	return c.Note("CORE", 1, c.words(b, 0))
}

// Process adds an NT_PRPSINFO.
func (c *Core) Process(pid uint32, name, args string) *Core {
	b := c.words(c.u32(nil, 0), 0)
	b = c.u32(b, 0, 0, pid, 0, 0, 0)
	for _, f := range []struct {
		text string
		size int
	}{{name, 16}, {args, 80}} {
		b = append(b, f.text...)
		b = append(b, make([]byte, f.size-len(f.text))...)
	}
	return c.Note("CORE", 3, b)
}

// Signal adds an NT_SIGINFO.
func (c *Core) Signal(number, code uint32, address uint64) *Core {
	b := c.u32(nil, number, 0, code)
	if c.wide {
		b = c.u32(b, 0)
	}
	b = c.words(b, address)
	return c.Note("CORE", 0x53494749, append(b, make([]byte, 128-len(b))...))
}

// Auxv adds an NT_AUXV of pairs.
func (c *Core) Auxv(pairs ...[2]uint64) *Core {
	var b []byte
	for _, p := range append(pairs, [2]uint64{}) {
		b = c.words(b, p[:]...)
	}
	return c.Note("CORE", 6, b)
}

// File says that a file is mapped; Bytes adds the NT_FILE with all of them.
func (c *Core) File(start, end, offset uint64, path string) *Core {
	c.files = append(c.files, [3]uint64{start, end, offset / 4096})
	c.paths = append(append(c.paths, path...), 0)
	return c
}

// Memory adds a segment of size bytes. data is what the core has of it.
func (c *Core) Memory(start, size uint64, flags uint32, data []byte) *Core {
	c.segments = append(c.segments, coreSegment{start, size, flags, data})
	return c
}

// Bytes returns the core.
func (c *Core) Bytes() []byte {
	if len(c.files) > 0 {
		b := c.words(nil, uint64(len(c.files)), 4096)
		for _, f := range c.files {
			b = c.words(b, f[:]...)
		}
		c.Note("CORE", 0x46494c45, append(b, c.paths...))
	}
	header, entry := uint64(52), uint64(32)
	if c.wide {
		header, entry = 64, 56
	}
	at := header + entry*uint64(1+len(c.segments))
	out := elfHeader(c.order, c.wide, 4, c.machine, 1+len(c.segments))
	out = programHeader(c.order, c.wide, out, 4, 0, at, 0, uint64(len(c.notes)), 0)
	body := c.notes
	for _, s := range c.segments {
		out = programHeader(c.order, c.wide, out, 1, s.flags, at+uint64(len(body)), s.start, uint64(len(s.data)), s.size)
		body = append(body, s.data...)
	}
	return append(out, body...)
}

// ELFImage returns the first bytes of a program in memory: its headers, with one segment of size bytes, and a
// build id.
func ELFImage(order binary.AppendByteOrder, wide bool, machine uint16, size uint64, buildID []byte) []byte {
	note := appendNote(order, nil, "GNU", 3, buildID)
	return elfImage(order, wide, machine, size, note, nil)
}

// GoImage is the same of a program of Go, whose linker writes the build id behind the notes that the headers name.
func GoImage(order binary.AppendByteOrder, wide bool, machine uint16, size uint64, buildID []byte) []byte {
	return elfImage(order, wide, machine, size, appendNote(order, nil, "Go", 4, []byte("a/b/c/d")), appendNote(order, nil, "GNU", 3, buildID))
}

func elfImage(order binary.AppendByteOrder, wide bool, machine uint16, size uint64, note, behind []byte) []byte {
	out := elfHeader(order, wide, 3, machine, 2)
	at := uint64(52 + 2*32)
	if wide {
		at = 64 + 2*56
	}
	out = programHeader(order, wide, out, 1, Read|Exec, 0, 0, size, size)
	out = programHeader(order, wide, out, 4, Read, at, at, uint64(len(note)), uint64(len(note)))
	return append(append(out, note...), behind...)
}

// elfHeader writes a header whose program headers follow it.
func elfHeader(order binary.AppendByteOrder, wide bool, kind, machine uint16, programs int) []byte {
	c := Core{order: order, wide: wide}
	b := []byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	header, entry := uint16(52), uint16(32)
	if wide {
		b[4], header, entry = 2, 64, 56
	}
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b[5] = 2
	}
	b = order.AppendUint16(order.AppendUint16(b, kind), machine)
	b = c.words(c.u32(b, 1), 0, uint64(header), 0)
	b = c.u32(b, 0)
	for _, v := range []uint16{header, entry, uint16(programs), 0, 0, 0} {
		b = order.AppendUint16(b, v)
	}
	return b
}

func programHeader(order binary.AppendByteOrder, wide bool, b []byte, kind, flags uint32, offset, address, inFile, memory uint64) []byte {
	c := Core{order: order, wide: wide}
	b = c.u32(b, kind)
	if wide {
		b = c.u32(b, flags)
	}
	b = c.words(b, offset, address, 0, inFile, memory)
	if !wide {
		b = c.u32(b, flags)
	}
	return c.words(b, 4)
}
