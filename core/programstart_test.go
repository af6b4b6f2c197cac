package core_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
)

// A program whose code is 0x1000 bytes farther in memory than in the file, as lld lays it out.
var startSegments = []core.Segment{
	{Start: 0, Size: 0x3800, FileSize: 0x3800},
	{Start: 0x4800, Size: 0x5600, Offset: 0x3800, FileSize: 0x5600, Exec: true},
	{Start: 0xae00, Size: 0x1300, Offset: 0x8e00, FileSize: 0x300},
}

const (
	startBase = 0x7f0000100000
	startCode = startBase + 0x4000 // of 0x6000 bytes
)

// header64 is a page with an ELF header and the program headers of startSegments (System V ABI,
// chapters 4 and 5).
func header64() []byte {
	p := make([]byte, 0x1000)
	le := binary.LittleEndian
	copy(p, "\x7fELF\x02\x01\x01")
	le.PutUint64(p[32:], 64)
	le.PutUint16(p[54:], 56)
	le.PutUint16(p[56:], uint16(len(startSegments)))
	for i, g := range startSegments {
		h := p[64+56*i:]
		le.PutUint32(h, 1) // PT_LOAD
		le.PutUint32(h[4:], 4)
		if g.Exec {
			le.PutUint32(h[4:], 5)
		}
		le.PutUint64(h[8:], g.Offset)
		le.PutUint64(h[16:], g.Start)
		le.PutUint64(h[32:], g.FileSize)
		le.PutUint64(h[40:], g.Size)
	}
	return p
}

// An entry that contains code of a program gives its addresses only from where the program begins,
// as far as something shows that.
func TestPlaceModule(t *testing.T) {
	whole := []entry{{startBase, 0xd000, "/opt/a.so", "a"}}
	code := []entry{{startCode, 0x6000, "/opt/a.so", "a"}}
	rest := []entry{{startCode, 0x9000, "/opt/a.so", "a"}} // code and data
	line := func(path string) string {
		return fmt.Sprintf("%x-%x r-xp 3000 fe:00 7 %s\n", startCode, startCode+0x6000, path)
	}
	apk := []entry{{startCode, 0x6000, "/data/app/base.apk", "a"}}
	text := make([]byte, 0x100)
	for i := range text {
		text[i] = byte(i*7 + 1)
	}
	// The program has this text at 0x5000.
	program := core.ProgramFile{Segments: startSegments, Read: func(rva uint64, p []byte) int {
		if rva >= 0x5000 && rva < 0x5100 {
			return copy(p, text[rva-0x5000:])
		}
		return copy(p, make([]byte, 0x100))
	}}
	sym, short := core.ProgramFile{From: 0x4800, To: 0x9e00}, core.ProgramFile{From: 0x5800, To: 0x7000}
	long := core.ProgramFile{From: 0x1000, To: 0x9000000}
	const (
		linux, android = dumptest.OSLinux, dumptest.OSAndroid
		unknown        = 1 << 60
	)
	for _, c := range []struct {
		name     string
		platform uint32
		entries  []entry
		maps     string
		memory   map[uint64][]byte
		file     core.ProgramFile
		at       uint64 // of the code's first byte in the program
		why      string
	}{
		{"a program", linux, whole, "", nil, core.ProgramFile{}, 0x4000, ""},
		{"a program and its symbol file", linux, whole, "", nil, sym, 0x4000, ""},
		{"a program and its file", linux, whole, "", nil, program, 0x4000, ""},
		{"a program of another size than its segments", linux, []entry{{startBase, 0xb000, "/opt/a.so", "a"}}, "", nil, program, 0x4000, ""},
		{"code alone, nothing contradicts", linux, code, "", nil, short, 0, "its entry has 0x6000 bytes, and by the symbol file there is code up to 0x7000"},
		{"code alone, the symbol file's code fits once", linux, code, "", nil, sym, 0x4000, ""},
		{"code alone, the symbol file's code is larger", linux, code, "", nil, long, 0, "its entry has 0x6000 bytes"},
		{"code and data, the symbol file's code fits more than once", linux, rest, "", nil, sym, 0, "its entry has 0x9000 bytes"},
		{"code alone, segments", linux, code, "", nil, program, 0x4000, ""},
		{"code and data, segments", linux, rest, "", nil, program, 0x4000, ""},
		{"a part of the code", linux, []entry{{startCode, 0x2000, "/opt/a.so", "a"}}, "", nil, program, 0, "the program's first segment alone 0x3800"},
		{"a part of the code that is larger than the first segment", linux, []entry{{startCode, 0x5000, "/opt/a.so", "a"}}, "",
			map[uint64][]byte{startCode + 0x1000: text}, program, 0, "the code at its entry's start in the dump's memory is not"},
		{"a program whose code is in memory", linux, []entry{{startBase, 0xb000, "/opt/a.so", "a"}}, "", map[uint64][]byte{startBase + 0x5000: text}, program, 0x4000, ""},
		{"an ELF header where the entry begins", linux, []entry{{startCode, 0x2000, "/opt/a.so", "a"}}, "", map[uint64][]byte{startCode: header64()}, program, 0, ""},
		{"an ELF header below the entry", linux, rest, "", map[uint64][]byte{startBase: header64()}, core.ProgramFile{}, 0x4000, ""},
		{"an ELF header of another program below the entry", linux, code, "", map[uint64][]byte{startBase - 0x1000: header64()}, short, 0, "its entry has 0x6000 bytes"},
		{"Windows", dumptest.OSWindows, code, "", nil, short, 0, ""},

		{"maps without the program's start", linux, code, line("/opt/a.so"), nil, core.ProgramFile{}, 0, "begins 0x3000 bytes into the file"},
		{"the same and a symbol file", linux, rest, line("/opt/a.so"), nil, sym, 0, "begins 0x3000 bytes into the file"},
		{"the same and the program's segments", linux, []entry{{startCode, 0x9999, "/opt/a.so", "a"}}, line("/opt/a.so"), nil, program, 0x4000, ""},
		{"the same and an ELF header below", linux, code, line("/opt/a.so"), map[uint64][]byte{startBase: header64()}, core.ProgramFile{}, 0x4000, ""},
		{"the file was deleted", linux, code, line("/opt/a.so (deleted)"), nil, core.ProgramFile{}, 0, "begins 0x3000 bytes into the file"},
		{"a name that the writer read there", linux, code, line("/opt/all.bin"), nil, sym, 0, ""},
		{"a library in a package", android, apk, line("/data/app/base.apk"), nil, sym, 0, ""},
		{"a part of a library in a package", android, apk, fmt.Sprintf("%x-%x r--p 1000 fe:00 7 /data/app/base.apk\n", startBase, startBase+0x2000) + line("/data/app/base.apk"), nil,
			core.ProgramFile{}, 0, "begins 0x3000 bytes into the file"},
		{"the same and the program's segments", android, apk, fmt.Sprintf("%x-%x r--p 1000 fe:00 7 /data/app/base.apk\n", startBase, startBase+0x2000) + line("/data/app/base.apk"), nil,
			program, 0x4000, ""},
		{"a copy of what no load has", linux, []entry{{startBase + 0x100000, 0x2000, "/opt/a.so", "a"}, code[0]},
			line("/opt/a.so") + fmt.Sprintf("%x-%x r-xp 0 fe:00 7 /opt/a.so\n", startBase+0x100000, startBase+0x102000), nil,
			core.ProgramFile{}, 0, "begins 0x3000 bytes into the file"},
		{"a gap after an entry without an id", linux, []entry{{startBase, 0x3000, "/opt/a.so", ""}, code[0]}, "", nil, core.ProgramFile{}, 0, "an entry of its name without an id is below it"},
		{"the same and the program's segments", linux, []entry{{startBase, 0x3000, "/opt/a.so", ""}, code[0]}, "", nil, program, 0x4000, ""},
		{"a gap before an entry without an id", linux, []entry{{startBase, 0x4000, "/opt/a.so", "a"}, {startCode + 0x1000, 0x5000, "/opt/a.so", ""}}, "", nil, sym, unknown, ""},
	} {
		d := withMemory(t, c.platform, c.entries, c.maps, c.memory)
		module := 0
		for i, e := range c.entries {
			if e.id != "" {
				module = i
			}
		}
		why := d.PlaceModule(module, c.file)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, not %q", c.name, why, c.why)
		}
		if m, at := d.ModuleAt(startCode); c.at != unknown && (m != module || at != c.at) {
			t.Errorf("%s: the code is at 0x%x of module %d, not at 0x%x", c.name, at, m, c.at)
		}
		if again := d.PlaceModule(module, c.file); again != why {
			t.Errorf("%s: then %q", c.name, again)
		}
	}
}
