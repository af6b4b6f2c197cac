package session_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// machoFat puts two thin files into a fat one.
func machoFat(amd64, arm64 []byte) []byte {
	b := []byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2}
	at := uint32(4096)
	for i, slice := range [][]byte{amd64, arm64} {
		for _, n := range []uint32{[]uint32{0x1000007, 0x100000c}[i], 0, at, uint32(len(slice)), 12} {
			b = binary.BigEndian.AppendUint32(b, n)
		}
		at += uint32(len(slice)+4095) &^ 4095
	}
	for _, slice := range [][]byte{amd64, arm64} {
		b = append(b, make([]byte, -len(b)&4095)...)
		b = append(b, slice...)
	}
	return b
}

// TestDroppedBundle: a dump of macOS with the fat program and the files of its dSYM folder: the slices
// of the dump's processor are used, and nothing is complained about.
func TestDroppedBundle(t *testing.T) {
	const base = 0x100000000
	file := func(name string) []byte { return testfile.Read(t, "../../symfile/macho/testdata/"+name+".gz") }
	program := file("m-x86_64-fp.dylib")
	m, err := macho.Open(input.FromBytes("m", program))
	if err != nil {
		t.Fatal(err)
	}
	names, err := m.Publics()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for i := range names.Len() {
		s := names.At(i)
		at[s.Name] = base + s.Start
	}
	uuid, _ := hex.DecodeString(m.DebugID()[:32])
	// leaf, called by framed behind its call, called by large, called by a function outside.
	stack := make([]byte, 256)
	put := func(off int, v uint64) { binary.LittleEndian.PutUint64(stack[off:], v) }
	const sp = 0x7ff0000
	frame := uint64(sp + 64)
	put(64, sp+128)             // framed's caller's rbp
	put(72, at["large"]+0x2c+5) // somewhere behind the start of large
	dump := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSMac}).
		Module(base, 0x3000, "/usr/local/lib/m-x86_64-fp.dylib", dumptest.RSDS(binary.BigEndian.Uint32(uuid), binary.BigEndian.Uint16(uuid[4:]), binary.BigEndian.Uint16(uuid[6:]), [8]byte(uuid[8:]), 0, "m-x86_64-fp.dylib")).
		Thread(7, dumptest.AMD64(map[string]uint64{"rip": at["framed"] + 0x20, "rsp": sp, "rbp": frame}), sp, stack).
		Bytes()
	var opt session.Options
	readers.Add(&opt)
	s := session.NewFiles(opt)
	s.Add(input.FromBytes("m.dmp", dump))
	const bundle = "m.dSYM/Contents/"
	for name, data := range map[string][]byte{
		"app/m-x86_64-fp.dylib":                       machoFat(program, bytes.ReplaceAll(file("m-arm64-nofp.dylib"), []byte("m-arm64-nofp.dylib"), []byte("m-x86_64-fp.dylib\x00"))),
		bundle + "Resources/DWARF/m-x86_64-fp.dylib":  machoFat(file("m-x86_64-fp.dwarf"), file("m-arm64-nofp.dwarf")),
		bundle + "Info.plist":                         []byte("<?xml version=\"1.0\"?><plist/>"),
		bundle + "Resources/Relocations/x86_64/m.yml": []byte("---\ntriple: x\n"),
	} {
		for _, it := range s.Add(input.FromBytes(name, data)) {
			if !it.Usable || it.Message != "" {
				t.Errorf("%s: %+v", name, it)
			}
		}
	}
	r := s.Report(0)
	f := &r.Threads[0].Frames[0]
	if f.Function.Raw != "framed" || f.Line == 0 || !strings.HasSuffix(f.File, "m.c") {
		t.Errorf("%+v", f)
	}
	if mod := &r.Modules[0]; mod.State != "loaded" || len(mod.Has.Missing) > 0 || len(mod.Warnings) > 0 {
		t.Errorf("%+v", mod)
	}
	if len(r.Threads[0].Frames) < 2 || r.Threads[0].Frames[1].Trust != "cfi" || r.Threads[0].Frames[1].Function.Raw != "large" {
		t.Errorf("%+v", r.Threads[0].Frames)
	}
	for _, it := range s.Items() {
		if u := s.Unused(it.ID, 0); u.Reason != session.NotUnused && !u.Needless {
			t.Errorf("%s: %+v", it.Name, u)
		}
	}
}
