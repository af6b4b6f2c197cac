package session

import (
	"bytes"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
)

// TestDumpsAreToldApart: what a list says about each dump, and which are the same.
func TestDumpsAreToldApart(t *testing.T) {
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	dump := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/usr/bin/app", nil).
		Thread(7, context, 0x7000, make([]byte, 64)).
		Exception(7, 11, 1, 0x400020, context).Bytes()
	other := bytes.Clone(dump)
	other[20] = 60 // a minute later
	s := NewFiles(Options{})
	for _, data := range [][]byte{dump, other, dump} {
		s.Add(input.FromBytes("a.dmp", data))
	}
	if b := s.Session(1).Brief(); b.Reason != "SIGSEGV / SEGV_MAPERR" || b.Time != 60 || b.Process != "app" || b.PID != nil {
		t.Errorf("%+v", b)
	}
	for i, want := range []int{0, 1, 0} {
		if got := s.SameAs(i); got != want {
			t.Errorf("dump %d is the same as %d, not %d", i, got, want)
		}
	}
	if s.Session(9) != nil {
		t.Error("a dump that is not there")
	}
}
