package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
)

func opened(t *testing.T, d *dumptest.Dump) *core.Dump {
	raw := d.Bytes()
	out, err := core.Open(input.New("x.dmp", bytes.NewReader(raw), int64(len(raw))))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSeveralExceptions: the finding names the exception that the report shows. The policies that repeat other tools
// show the last one, as these do.
func TestSeveralExceptions(t *testing.T) {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	raw := opened(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Thread(1, ctx, 0x7000, make([]byte, 64)).Thread(2, ctx, 0x7000, make([]byte, 64)).
		Exception(1, 11, 1, 0x10, ctx).Exception(2, 6, 0, 0, ctx))
	for _, c := range []struct {
		d    *core.Dump
		want string
	}{{raw, "the last is shown as the crash"}, {raw.Normalized(), "the first is shown as the crash"}} {
		r := report.Build(report.Input{Dump: c.d})
		if len(r.Findings) == 0 || r.Findings[0].Kind != report.FindingSeveral || !strings.Contains(r.Findings[0].Text, c.want) {
			t.Errorf("exception %d is the crash: %+v", r.Crash.Index, r.Findings)
		}
	}
}

// TestTextInPlaceOfParameters: LLDB's mark makes parameters a text, whatever the exception's code is.
func TestTextInPlaceOfParameters(t *testing.T) {
	const lldb, inPageError = 0x4c4c4442, 0xc0000006
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	r := report.Build(report.Input{Dump: opened(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Thread(1, ctx, 0x7000, make([]byte, 64)).Exception(1, inPageError, lldb, 0x10, ctx, 0x41, 0x42, 0xc000009a))})
	if len(r.Crash.Params) != 0 {
		t.Errorf("parameters %v", r.Crash.Params)
	}
	if err := text.Write(io.Discard, r); err != nil {
		t.Error(err)
	}
	if err := jsonreport.Write(io.Discard, r, jsonreport.Options{}); err != nil {
		t.Error(err)
	}
}

// TestUnlistedThread: an exception of a thread that is not listed may have registers, which some policies do not walk.
func TestUnlistedThread(t *testing.T) {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	made := func(context []byte) *core.Dump {
		return opened(t, dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
			Thread(1, ctx, 0x7000, make([]byte, 64)).Exception(9, 11, 1, 0x10, context))
	}
	for _, c := range []struct {
		d    *core.Dump
		want string
	}{
		{made(ctx), "the unwind policy walks no thread that is not in the list"}, {made(ctx).Normalized(), "its first frame is the exception's own"},
		{made(nil), "has no registers of its own either"}, {made(nil).Normalized(), "has no registers of its own either"},
	} {
		r := report.Build(report.Input{Dump: c.d})
		if len(r.Findings) == 0 || r.Findings[0].Kind != report.FindingUnlisted || !strings.Contains(r.Findings[0].Text, c.want) {
			t.Errorf("%+v, want %q", r.Findings, c.want)
		}
	}
}
