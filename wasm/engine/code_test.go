package engine

import (
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestSourceLink: the source of a frame has the link that the PDB says. It is not looked for before the
// source is opened.
func TestSourceLink(t *testing.T) {
	k := newTalkWith(t, Options{Session: session.Options{OpenBinary: readers.Open}})
	ctx := dumptest.Context(dumptest.LittleEndian, "amd64", map[string]uint64{"rip": 0x401010, "rsp": 0x7ffe0000})
	id := dumptest.RSDS(0x8471EF33, 0xC3AD, 0x7077, [8]byte{0x4C, 0x4C, 0x44, 0x20, 0x50, 0x44, 0x42, 0x2E}, 1, "links.pdb")
	k.add("t.dmp", dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: 2}).
		Module(0x400000, 0x10000, `C:\t.dll`, id).Thread(7, ctx, 0x7ffe0000, make([]byte, 8)).Exception(7, 0xc0000005, 0, 0x45, ctx).Bytes())
	k.add("links.pdb", testfile.Read(t, "../../symfile/pdb/testdata/links.pdb.gz"))
	for source, want := range map[bool]string{false: "", true: "https://raw.githubusercontent.com/example/t/c0ffee/src/t.cc"} {
		r := k.look(protocol.Query{Selection: protocol.Selection{Inline: -1}, Code: &protocol.CodeQuery{After: 1, Source: source, Span: protocol.Span{Count: 4}}})
		if r.Code == nil || r.Code.Path != "/src/t.cc" || r.Code.Link != want {
			t.Errorf("source %v: %+v, want %q", source, r.Code, want)
		}
	}
}
