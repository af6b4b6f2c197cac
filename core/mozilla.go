package core

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// MacCrashInfo is a record of stream 0x4d7a0001: what a module left for macOS' crash reporter in
// its __crash_info section. Source of the layouts: rust-minidump's format.rs.
type MacCrashInfo struct {
	Version uint64
	// Thread and DialogMode are there from version 4 on, AbortCause from version 5 on.
	Thread, DialogMode, AbortCause                       uint64
	Module, Message, Signature, Backtrace, SecondMessage string
}

// Limit is a line of /proc/PID/limits. Soft and Hard are as in the file: a number or "unlimited".
type Limit struct{ Name, Soft, Hard, Unit string }

const (
	macRecordsFixed = 20
	macRecord1      = 16
	macRecord4      = 32
	macRecord5      = 40
	// limitName is the width of a name in /proc/PID/limits, with the blank after it.
	limitName = 26
)

// decodeMacCrashInfo reads MINIDUMP_MAC_CRASH_INFO: stream_type u32 · record_count u32 ·
// record_start_size u32 · 20 × {DataSize u32, Rva u32}. A record is
//
//	0 stream_type u64 · 8 version u64 · (4:) 16 thread u64 · 24 dialog_mode u64 · (5:) 32 abort_cause u64
//	from record_start_size on: five texts, each ended by a 0
func decodeMacCrashInfo(d *Dump, s *Stream, c *input.Cursor) {
	c.Skip(4)
	at := c.Off()
	count, fixed := c.U32(), int64(c.U32())
	if c.Err() == nil && count > macRecordsFixed {
		d.remark(Warning, s.Type, at, fmt.Sprintf("at most %d records", macRecordsFixed), fmt.Sprint(count))
		count = macRecordsFixed
	}
	for i := range uint32(macRecordsFixed) {
		loc := location(c)
		if c.Err() != nil {
			return
		}
		if i < count {
			d.macCrashRecord(s, loc, fixed)
		}
	}
}

func (d *Dump) macCrashRecord(s *Stream, loc Location, fixed int64) {
	if !d.afford(s.Type, int64(min(loc.Size, maxText))) {
		return
	}
	c := input.NewCursor(d.Src, s.Type.part()+", record", int64(loc.Off), int64(min(loc.Size, maxText)), d.Header.Order)
	c.Skip(8)
	r := MacCrashInfo{Version: c.U64()}
	used := int64(macRecord1)
	if r.Version >= 4 && fixed >= macRecord4 {
		r.Thread, r.DialogMode, used = c.U64(), c.U64(), macRecord4
	}
	if r.Version >= 5 && fixed >= macRecord5 {
		r.AbortCause, used = c.U64(), macRecord5
	}
	c.Skip(max(fixed-used, 0))
	p := c.Bytes(c.Left())
	if c.Err() != nil {
		d.diagnose(Bad, s.Type, c.Err())
		return
	}
	for _, to := range []*string{&r.Module, &r.Message, &r.Signature, &r.Backtrace, &r.SecondMessage} {
		var one []byte
		one, p, _ = bytes.Cut(p, []byte{0})
		*to = strings.ToValidUTF8(string(one), "\uFFFD")
	}
	d.MacCrashInfo = append(d.MacCrashInfo, r)
}

// decodeMacBootArgs reads MINIDUMP_MAC_BOOTARGS: stream_type u32 · bootargs Rva u64, of a
// MINIDUMP_STRING; writers that do not pack have padding between them.
func decodeMacBootArgs(d *Dump, s *Stream, c *input.Cursor) {
	c.Skip(4)
	if s.Loc.Size == 16 {
		c.Skip(4)
	}
	at := c.Off()
	off := c.U64()
	if c.Err() != nil {
		return
	}
	if off >= uint64(d.Src.Size) {
		d.remark(Bad, s.Type, at, "the offset of the boot arguments inside the file", hexNum(off))
		return
	}
	args := d.stringAt(s.Type, FileOff(off), "boot arguments")
	d.MacBootArgs = &args
}

// decodeLinuxLimits reads /proc/PID/limits (proc_pid_limits(5)): a header, then a line a limit, in
// columns:
//
//	Max cpu time              unlimited            unlimited            seconds
func decodeLinuxLimits(d *Dump, _ *Stream, c *input.Cursor) {
	d.HasLimits = true
	first := true
	for line := range strings.Lines(text(c)) {
		line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n\x00"), "\uFFFD")
		if first || len(line) <= limitName || len(d.Limits) >= maxTextFields {
			first = false
			continue
		}
		l := Limit{Name: strings.TrimSpace(line[:limitName])}
		for i, f := range strings.Fields(line[limitName:]) {
			switch i {
			case 0:
				l.Soft = f
			case 1:
				l.Hard = f
			case 2:
				l.Unit = f
			}
		}
		d.Limits = append(d.Limits, l)
	}
}

// maxSoftErrors bounds a text of JSON in bytes: as a jsonwriter.Value it takes up to 50 times as much.
const maxSoftErrors = 1 << 20

// decodeSoftErrors keeps the JSON text of what went wrong while the dump was written.
func decodeSoftErrors(d *Dump, _ *Stream, c *input.Cursor) {
	if n := c.Left(); n > maxSoftErrors {
		c.Fail(fmt.Sprintf("at most %d bytes of JSON", maxSoftErrors), fmt.Sprint(n))
		return
	}
	d.SoftErrors = strings.ToValidUTF8(strings.TrimRight(text(c), "\x00"), "\uFFFD")
}
