package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestIsSymbols: of a server's answers, only the requested file is accepted.
func TestIsSymbols(t *testing.T) {
	const id = "5A9832E5287241C1838ED98914E9B7FF1"
	for text, want := range map[string]string{
		"MODULE windows x86 " + id + " a.pdb\nFUNC 1 1 0 f\n":                  "",
		"MODULE windows x86 " + strings.ToLower(id) + " a.pdb\n":               "",
		"MODULE windows x86 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 a.pdb\n":         "of another build",
		"<!doctype html><title>Not found</title>":                              "not a symbol file or a program: it is an HTML page",
		"MDMP\x93\xa7\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00": "not a symbol file or a program: it is a minidump",
		"": "not a symbol file or a program: it is an empty file",
		gzipped("MODULE windows x86 " + id + " a.pdb\n"):                        "",
		gzipped("MODULE windows x86 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1 a.pdb\n"): "of another build",
		gzipped("MDMP\x93\xa7\x00\x00"):                                         "is a minidump",
	} {
		_, err := New(func(protocol.Answer) {}, Options{}).fromServer(input.FromBytes("https://symbols.example/a.sym", []byte(text)), id)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// program is a binary with nothing but ids.
type program struct {
	symbols.Binary
	debugID, codeID string
}

func (p program) Identity() symbol.Identity {
	return symbol.Identity{Name: "a.exe", DebugID: p.debugID, CodeID: p.codeID}
}

// TestProgramOfServer: a program or a debug file is accepted by its debug id or its code id, and
// not if it has neither.
func TestProgramOfServer(t *testing.T) {
	const debugID, codeID = "5A9832E5287241C1838ED98914E9B7FF1", "5f5e10003000"
	src := input.FromBytes("https://symbols.example/a.pdb", []byte("Microsoft C/C++ MSF 7.00\r\n"))
	for id, want := range map[string]bool{debugID: true, strings.ToLower(debugID): true, "5F5E10003000": true, "5F5E10003001": false, "": false} {
		opt := session.Options{OpenBinary: func(*input.Source) (symbols.Binary, error) { return program{debugID: debugID, codeID: codeID}, nil }}
		files, err := New(func(protocol.Answer) {}, Options{Session: opt}).fromServer(src, id)
		if (err == nil) != want || len(files) != 1 {
			t.Errorf("asked for %q: %v", id, err)
		}
	}
}

// A server may have symbols under either form of a big-endian file's id. Both addresses are
// requested, and either file is accepted.
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
		if len(rows) != 1 || rows[0].DebugID != turned || rows[0].StorePath != "app/"+turned+"/app.sym" || rows[0].Stores[0].Else != other {
			t.Errorf("%s: %+v", order, rows)
		}
	}
	for _, form := range []string{turned, plain} {
		if _, err := New(func(protocol.Answer) {}, Options{}).fromServer(input.FromBytes("a.sym", []byte("MODULE Linux mips "+form+" app\n")), turned); err != nil {
			t.Error(err)
		}
	}
}
