package report

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core"
)

// Handle is a handle that the process had open.
type Handle struct {
	Handle     uint64
	Type, Name string // "" if not stored
	Access     uint32 // that was granted
	Count      uint32 // of handles of the object
}

// Limit is a resource limit. Soft and Hard are nil for "unlimited".
type Limit struct {
	Name       string
	Soft, Hard *uint64
	Unit       string // "" for a plain number
}

// MacCrashInfo is a module's message for macOS' crash reporter. Fields that are 0 or "" are not
// set.
type MacCrashInfo struct {
	Thread, DialogMode, AbortCause                  uint64
	Module, Message, Signature, Backtrace, Message2 string
}

// Streams whose presence matters even if they are empty.
const (
	streamHandleData   core.StreamType = 12
	streamMacCrashInfo core.StreamType = 0x4d7a0001
)

// extras sets fields that few dumps have.
func (b *builder) extras() {
	d, r := b.d, b.r
	r.Handles = make([]Handle, len(d.Handles))
	for i := range d.Handles {
		h := &d.Handles[i]
		r.Handles[i] = Handle{h.Handle, h.Type, h.Name, h.GrantedAccess, h.HandleCount}
	}
	r.Annotations = annotationsOf(d)
	r.HasHandles = decoded(d, streamHandleData)
	r.Limits = make([]Limit, len(d.Limits))
	for i := range d.Limits {
		l := &d.Limits[i]
		r.Limits[i] = Limit{l.Name, limit(l.Soft), limit(l.Hard), l.Unit}
	}
	r.HasLimits = d.HasLimits
	r.MacCrashInfo = make([]MacCrashInfo, len(d.MacCrashInfo))
	for i := range d.MacCrashInfo {
		m := &d.MacCrashInfo[i]
		r.MacCrashInfo[i] = MacCrashInfo{m.Thread, m.DialogMode, m.AbortCause, m.Module, m.Message, m.Signature, m.Backtrace, m.SecondMessage}
		if m.Version < 4 {
			r.MacCrashInfo[i] = MacCrashInfo{} // versions before 4 have none of these fields
		}
	}
	r.HasMacCrashInfo = decoded(d, streamMacCrashInfo)
	r.MacBootArgs = d.MacBootArgs
	r.SoftErrors = d.SoftErrors
}

// threadTimes returns a thread's times, or nil if the dump does not have them.
func threadTimes(d *core.Dump, id uint32) *ThreadTimes {
	i := d.ThreadInfo(id)
	if i == nil {
		return nil
	}
	return &ThreadTimes{Created: unixTime(i.CreateTime), Ended: unixTime(i.ExitTime), Kernel: i.KernelTime, User: i.UserTime, Start: i.StartAddress, ExitStatus: i.ExitStatus}
}

// unixTime converts a FILETIME, in units of 100 ns since 1601, to seconds since 1970. It returns 0
// for a time out of range, as unknown times are.
func unixTime(v uint64) uint32 {
	const to1970 = 11_644_473_600
	if s := v/1e7 - to1970; v >= to1970*1e7 && s <= 1<<32-1 {
		return uint32(s)
	}
	return 0
}

// auxTexts are the entries of the auxiliary vector whose values are addresses of strings
// (getauxval(3)).
var auxTexts = map[string]bool{"AT_PLATFORM": true, "AT_BASE_PLATFORM": true, "AT_EXECFN": true}

// aux returns the auxiliary vector, with those of its strings that the dump's memory has.
func aux(d *core.Dump) []Aux {
	out := make([]Aux, len(d.Linux.Aux))
	for i, e := range d.Linux.Aux {
		out[i] = Aux{Name: e.Name(), Value: e.Value}
		if auxTexts[out[i].Name] {
			var p [256]byte
			text, _, ended := bytes.Cut(p[:d.Memory.Read(e.Value, p[:])], []byte{0})
			if ended {
				out[i].Text = strings.ToValidUTF8(string(text), "\uFFFD")
			}
		}
	}
	return out
}

// decoded reports whether the dump has a stream and all of it could be read.
func decoded(d *core.Dump, t core.StreamType) bool {
	s := d.Stream(t)
	return s != nil && s.Decoded
}

// limit parses a limit as rust-minidump does: text that is not a number is 0.
func limit(s string) *uint64 {
	if s == "unlimited" {
		return nil
	}
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		v = 0
	}
	return &v
}
