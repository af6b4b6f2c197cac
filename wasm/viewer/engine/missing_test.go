package engine

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestIsSymbols: a server may answer what it likes, and nothing but the file that was asked for is taken.
func TestIsSymbols(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	for text, want := range map[string]string{
		"MODULE windows x86 " + id + " a.pdb\nFUNC 1 1 0 f\n":                  "",
		"MODULE windows x86 " + strings.ToLower(id) + " a.pdb\n":               "",
		"MODULE windows x86 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 a.pdb\n":         "of another build",
		"<!doctype html><title>Not found</title>":                              "no symbol file",
		"MDMP\x93\xa7\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00": "no symbol file",
		"": "no symbol file",
	} {
		err := isSymbols(input.FromBytes("https://symbols.example/a.sym", []byte(text)), id)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A server may have symbols under either form of a big-endian file's id. Both addresses are asked, and either file is taken.
func TestMissingBigEndian(t *testing.T) {
	const turned, plain = "33221100554477668899AABBCCDDEEFF0", "00112233445566778899AABBCCDDEEFF0"
	id := []byte{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	for _, order := range []binary.AppendByteOrder{dumptest.BigEndian, dumptest.LittleEndian} {
		k := newTalk(t)
		ctx := dumptest.Context(order, "mips", map[string]uint64{"pc": 0x401010, "sp": 0x7ffe0000})
		k.add("x.dmp", dumptest.New(order).System(dumptest.System{Processor: dumptest.CPUMIPS, Platform: 0x8201}).
			Module(0x400000, 0x10000, "/opt/app", dumptest.ELF(id)).Thread(7, ctx, 0x7ffe0000, make([]byte, 8)).Exception(7, 11, 1, 0x45, ctx).Bytes())
		other := ""
		if order == dumptest.BigEndian {
			other = "app/" + plain + "/app.sym"
		}
		k.ask(&protocol.ListMissing{}, nil)
		r, _ := last[*protocol.Missing](k)
		rows := r.Rows
		if len(rows) != 1 || rows[0].DebugID != turned || rows[0].StorePath != "app/"+turned+"/app.sym" || rows[0].OtherPath != other {
			t.Errorf("%s: %+v", order, rows)
		}
	}
	for _, form := range []string{turned, plain} {
		if err := isSymbols(input.FromBytes("a.sym", []byte("MODULE Linux mips "+form+" app\n")), turned); err != nil {
			t.Error(err)
		}
	}
}
