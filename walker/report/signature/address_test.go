package signature

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report"
)

// TestAddress: what scanning found counts only where the frames before it are a system's libraries alone: all that
// aborts ends in the same one.
func TestAddress(t *testing.T) {
	frame := func(module int, rva uint64, trust string) report.Frame {
		return report.Frame{Module: module, RVA: rva, Trust: trust}
	}
	for want, frames := range map[string][]report.Frame{
		"app | SIGABRT | libc.so.6@2+0x10 | scan:app@1+0x30": {frame(1, 0x10, "context"), frame(1, 0x20, "scan"), frame(-1, 0, "scan"), frame(0, 0x30, "scan"), frame(0, 0x40, "scan")},
		"app | SIGABRT | libc.so.6@2+0x10 | app@1+0x30":      {frame(1, 0x10, "context"), frame(0, 0x30, "cfi"), frame(0, 0x40, "scan")},
		"app | SIGABRT | libc.so.6@2+0x10":                   {frame(1, 0x10, "context"), frame(1, 0x20, "scan")},
		"app | SIGABRT | app@1+0x30":                         {frame(0, 0x30, "context"), frame(0, 0x40, "scan")},
		"":                                                   {frame(-1, 0, "context"), frame(0, 0x40, "scan")},
	} {
		r := &report.Report{Crash: &report.Crash{Reason: report.Reason{Name: "SIGABRT"}}, Process: report.Process{Name: "app"}, Threads: []report.Thread{{Frames: frames}},
			Modules: []report.Module{{Name: "app", DebugID: "1"}, {Name: "libc.so.6", DebugID: "2"}}}
		if got := Address(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
