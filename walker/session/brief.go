package session

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/reason"
	"github.com/crashpane/crashpane/walker/report"
)

// Brief describes a dump in a list of dumps, as far as is known without walking.
type Brief struct {
	Reason  string // "SIGSEGV / SEGV_MAPERR"; "" without an exception
	Time    uint32 // when the dump was written, in seconds since 1970; 0 if it is not known
	Process string // file name of the program, "" if it is not known
	PID     *uint32
}

// Brief describes the dump.
func (s *Session) Brief() Brief {
	r := reason.Decode(s.Dump)
	return Brief{Reason: r.Name, Time: s.Header.Time, PID: s.PID(), Process: report.ProgramName(s.Dump)}
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
