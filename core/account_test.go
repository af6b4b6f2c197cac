package core

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// ByteClass says what became of a byte of a dump.
type ByteClass uint8

const (
	// ByteLoose: nothing points to it (gaps between parts, what a writer left over).
	ByteLoose ByteClass = iota
	ByteHeader
	ByteDirectory
	ByteStream  // a field of a decoded stream, or its padding
	ByteString  // a text that a stream points to
	ByteDebug   // a module's debug record
	ByteContext // a register
	ByteXState  // extended state without a register by name: features that were not stored
	ByteMemory  // the process' memory
	BytePart    // a record that a stream points to (annotations, link map, object information)
	ByteRaw     // a stream that is not in the table, or whose content is not described anywhere
	ByteBroken  // in a part that could not be read; a diagnostic says why
	ByteUnknown // inside a part that was decoded, but not read: a gap in this package
	byteClasses
)

var byteClassNames = [byteClasses]string{"loose", "header", "directory", "streams", "strings", "debug records", "contexts",
	"extended state", "memory", "parts", "raw", "broken", "unexplained"}

func (c ByteClass) String() string { return byteClassNames[c] }

// Coverage is an account of a dump's bytes: what each was decoded as.
type Coverage struct {
	Bytes [byteClasses]int64
	// Unknown are the runs of class ByteUnknown, with the part that they are in.
	Unknown []CoverageGap
}

// CoverageGap is a range that no decoder read.
type CoverageGap struct {
	Part string
	Loc  Location
}

// Cover opens a dump, reads everything in it and accounts for each byte. It takes one byte of
// memory per byte of the file. Errors are those of Open.
func Cover(src *input.Source) (*Dump, *Coverage, error) {
	d, a, err := cover(src)
	if err != nil {
		return nil, nil, err
	}
	return d, &a.sum, nil
}

func cover(src *input.Source) (*Dump, *account, error) {
	a := &account{class: make([]ByteClass, src.Size)}
	old := src.OnRead
	src.OnRead = a.saw
	defer func() { src.OnRead = old }()
	d, err := Open(src)
	if err != nil {
		return nil, nil, err
	}
	for i := range d.Threads {
		_, err := d.ThreadContext(i)
		a.context(d, d.Threads[i].ContextLoc, err)
	}
	for i := range d.Exceptions {
		_, err := d.ContextOf(&d.Exceptions[i])
		a.context(d, d.Exceptions[i].ContextLoc, err)
	}
	a.memory(d)
	for i := range d.Streams {
		a.stream(&d.Streams[i])
	}
	for _, c := range a.class {
		a.sum.Bytes[c]++
	}
	return d, a, nil
}

// account paints a dump's bytes.
type account struct {
	class []ByteClass
	sum   Coverage
}

// saw paints what was read. Decoding comes first; a byte that means two things keeps the first.
func (a *account) saw(part string, off, n int64) {
	c := ByteStream
	switch stream, rest, _ := strings.Cut(part, ", "); {
	case strings.HasPrefix(stream, "context of thread"), stream == "exception context":
		c = ByteContext
	case stream == "minidump header":
		c = ByteHeader
	case stream == "stream directory":
		c = ByteDirectory
	case rest == "" || rest == "padding":
	case strings.HasSuffix(rest, ", unknown"):
		c = ByteRaw
	case strings.Contains(rest, "record of"):
		c = ByteDebug
	case strings.Contains(rest, "name"), strings.Contains(rest, "string"), strings.Contains(rest, "handle's type"):
		c = ByteString
	default:
		c = BytePart
	}
	a.paint(Location{FileOff(off), uint64(n)}, c)
}

// paint sets the class of those bytes of a range that have none.
func (a *account) paint(l Location, c ByteClass) {
	for i := min(uint64(l.Off), uint64(len(a.class))); i < uint64(len(a.class)) && i-uint64(l.Off) < l.Size; i++ {
		if a.class[i] == ByteLoose {
			a.class[i] = c
		}
	}
}

// left marks the ranges of a part that no decoder read, and records them.
func (a *account) left(part string, l Location) {
	end := min(uint64(len(a.class)), uint64(l.Off)+l.Size)
	for i := uint64(l.Off); i < end; i++ {
		if a.class[i] != ByteLoose {
			continue
		}
		from := i
		for i < end && a.class[i] == ByteLoose {
			a.class[i] = ByteUnknown
			i++
		}
		a.sum.Unknown = append(a.sum.Unknown, CoverageGap{part, Location{FileOff(from), i - from}})
	}
}

func (a *account) context(d *Dump, l Location, err error) {
	if err != nil {
		a.paint(l, ByteBroken)
		return
	}
	p, err := d.Src.Bytes(int64(l.Off), int64(l.Size))
	if err != nil {
		a.paint(l, ByteBroken)
		return
	}
	// Compilers round a record up with zeros. What follows the records of the CPUs with extended
	// state is its area.
	for i := len(p); i > 0 && i > len(p)-8 && p[i-1] == 0; i-- {
		a.paint(Location{l.Off + FileOff(i-1), 1}, ByteContext)
	}
	if arch := d.Arch(); arch != nil {
		for _, c := range arch.Contexts {
			if base := uint64(c.Size); c.XState && l.Size > base {
				a.paint(Location{l.Off + FileOff(base), l.Size - base}, ByteXState)
			}
		}
	}
	a.left("context", l)
}

func (a *account) memory(d *Dump) {
	for _, list := range [][]Region{d.Memory.list64, d.Memory.list} {
		for _, r := range list {
			a.paint(r.Loc, ByteMemory)
		}
	}
	for i := range d.Threads {
		a.paint(d.Threads[i].Stack, ByteMemory)
	}
	for i := range d.Windows.ThreadsEx {
		a.paint(d.Windows.ThreadsEx[i].Backing, ByteMemory)
	}
}

func (a *account) stream(s *Stream) {
	switch row := s.Type.row(); {
	case s.Type == StreamUnused:
	case !s.Loc.In(int64(len(a.class))):
		a.paint(s.Loc, ByteBroken)
	case row == nil || row.Decode == nil || s.Duplicate:
		a.paint(s.Loc, ByteRaw)
	case !s.Decoded:
		a.paint(s.Loc, ByteBroken)
	default:
		a.left(s.Type.part(), s.Loc)
	}
}

// String returns the result on one line.
func (c *Coverage) String() string {
	var b strings.Builder
	for class, n := range c.Bytes {
		if n > 0 {
			fmt.Fprintf(&b, " %s %d", ByteClass(class), n)
		}
	}
	return strings.TrimSpace(b.String())
}
