package session

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/walker/report"
)

// Brief describes a dump in a list of dumps, as far as is known without walking.
type Brief struct {
	Reason  string // as rust-minidump names it, or Breakpad; "" without an exception
	Time    uint32 // when the dump was written, in seconds since 1970; 0 if it is not known
	Process string // file name of the program, "" if it is not known
	PID     *uint32
}

// Brief describes the dump with an index. It is empty if there is no such dump.
func (s *Session) Brief(i int) Brief {
	d := s.Dump(i)
	if d == nil {
		return Brief{}
	}
	r := reason.Decode(d)
	b := Brief{Reason: r.Rust, Time: d.Header.Time, PID: d.PID(), Process: report.ProgramName(d)}
	if b.Reason == "" {
		b.Reason = r.Breakpad
	}
	return b
}

// SameAs returns the first dump with the same bytes as a dump, which may be the dump itself.
func (s *Session) SameAs(i int) int {
	for k := range min(i, len(s.dumps)) {
		if sameBytes(s.dumps[k].Src, s.dumps[i].Src) {
			return k
		}
	}
	return i
}

// sameBytes compares two files. Most differ in size or in their first block, which has the time.
func sameBytes(a, b *input.Source) bool {
	if a.Size != b.Size {
		return false
	}
	const part = 64 << 10
	for off := int64(0); off < a.Size; off += part {
		n := min(part, a.Size-off)
		x, err := a.Bytes(off, n)
		y, err2 := b.Bytes(off, n)
		if err != nil || err2 != nil || string(x) != string(y) {
			return false
		}
	}
	return true
}
