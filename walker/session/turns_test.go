package session

import (
	"archive/tar"
	"bytes"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/intake"
)

// TestTarInTurns: a tar of many dumps is added member by member, so that others go first and what was added can be released.
func TestTarInTurns(t *testing.T) {
	const dumps = 200
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range dumps {
		ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010 + uint64(i), "rsp": 0x7000})
		data := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).Thread(7, ctx, 0x7000, make([]byte, 64)).Exception(7, 11, 1, 8, ctx).Bytes()
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%03d.dmp", i), Size: int64(len(data)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		w.Write(data)
	}
	w.Close()
	fs := NewFiles(Options{})
	turn := intake.Turn{Over: func() bool { return true }}
	items, state := fs.AddPart(source("all.tar", b.Bytes()), turn)
	archive, calls, listed := items[0].ID, 1, len(items)-1
	for ; state != intake.Done && calls < 10*dumps; calls++ {
		items, state = fs.Continue(archive, turn)
		if len(items) > 2 {
			t.Fatalf("%d items in one turn", len(items))
		}
		listed += len(items)
	}
	if fs.DumpCount() != dumps || calls < dumps || listed != dumps+1 {
		t.Errorf("%d dumps, %d items in %d turns", fs.DumpCount(), listed, calls)
	}
	if all := NewFiles(Options{}).Add(source("all.tar", b.Bytes())); len(all) != dumps+1 {
		t.Errorf("without turns: %d items", len(all))
	}
}
