package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
	"github.com/crashpane/crashpane/walker/readers"
)

// TestRenamedDebugFile: a separate debug file is used under any name, named on the command line or
// in a folder, if no file of the right name fits. It is found by the program's build id, also where
// the dump has another id of the program, or by the CRC that the program says. Other files in the
// folder are not mentioned.
func TestRenamedDebugFile(t *testing.T) {
	const base, stack = 0x400000, 0x7ffe0000
	symbols := []elftest.Sym{{Name: "internal", Value: 0x1040, Size: 0x20, Type: 2, Section: ".text"}}
	debugOf := func(size uint64, comment string, id ...string) string {
		f := &elftest.File{Class: 64, Machine: 62, Type: 3}
		for _, id := range id {
			f.BuildID([]byte(id))
		}
		f.Add(elftest.Section{Name: ".text", Type: 8, Flags: 6, Address: 0x1000, NoBits: size})
		f.Symbols(".symtab", symbols).Add(elftest.Section{Name: ".comment", Type: 1, Data: []byte(comment)})
		return string(f.Bytes())
	}
	right := debugOf(0x100, "")
	code := make([]byte, 0x100)
	code[0] = 0x90
	programOf := func(id ...string) []byte {
		f := &elftest.File{Class: 64, Machine: 62, Type: 3}
		f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: code})
		for _, id := range id {
			f.BuildID([]byte(id))
		}
		link := append([]byte("app.debug"), 0, 0, 0)
		f.Add(elftest.Section{Name: ".gnu_debuglink", Type: 1, Data: binary.LittleEndian.AppendUint32(link, crc32.ChecksumIEEE([]byte(right)))})
		f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Last: ".text", Address: 0x1000, Align: 0x1000}}
		return f.Bytes()
	}
	// Both programs have the hash of their code as one of their ids, which the dump has.
	program, built := programOf(), programOf("sixteen bytes id")
	b, err := readers.Open(input.FromBytes("app", program))
	if err != nil {
		t.Fatal(err)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": base + 0x48, "rsp": stack})
	dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(base, 0x1000, "/opt/app", dumptest.ELF(idBytes(b.Identity().DebugID))).
		Thread(7, ctx, stack, make([]byte, 16)).Exception(7, 11, 1, 0x45, ctx).Bytes()
	for name, c := range map[string]struct {
		files map[string]string
		used  bool
	}{
		"its name":                            {map[string]string{"app.debug": right}, true},
		"another name":                        {map[string]string{"some.dbg": right}, true},
		"another name, deep":                  {map[string]string{"a/b/c": right}, true},
		"its name is another build's":         {map[string]string{"app.debug": debugOf(0x100, "other"), "some.dbg": right}, true},
		"its name is that of other code":      {map[string]string{"app.debug": debugOf(0x200, ""), "some.dbg": right}, true},
		"another CRC":                         {map[string]string{"some.dbg": debugOf(0x100, "other")}, false},
		"other code":                          {map[string]string{"some.dbg": debugOf(0x200, "")}, false},
		"among files of other code":           {map[string]string{"1": debugOf(0x200, ""), "2": debugOf(0x300, ""), "3": right}, true},
		"among others with the same sections": {map[string]string{"1": debugOf(0x100, "a"), "2": right, "3": debugOf(0x100, "b")}, true},
		"packed: its name":                    {map[string]string{"app.debug": right}, true},
		"built: another name":                 {map[string]string{"some.dbg": debugOf(0x100, "", "sixteen bytes id")}, true},
		"built: another id":                   {map[string]string{"some.dbg": debugOf(0x100, "", "bytes id sixteen")}, false},
		"built: among others":                 {map[string]string{"1": debugOf(0x100, "", "bytes id sixteen"), "2": debugOf(0x100, "", "sixteen bytes id")}, true},
	} {
		dir := t.TempDir()
		files := map[string]string{"crash.dmp": string(dump), "symbols/app": string(program)}
		if strings.HasPrefix(name, "built: ") {
			files["symbols/app"] = string(built)
		}
		if strings.HasPrefix(name, "packed: ") {
			delete(files, "symbols/app")
			files["symbols/app.gz"] = packed(t, program)
		}
		for file, content := range c.files {
			files["symbols/"+file] = content
		}
		for file, content := range files {
			path := filepath.Join(dir, filepath.FromSlash(file))
			os.MkdirAll(filepath.Dir(path), 0o755)
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, out, stderr := crashpane("walk", "--format", "machine", filepath.Join(dir, "crash.dmp"), filepath.Join(dir, "symbols"))
		if used := strings.Contains(out, "\n0|0|app|internal|"); used != c.used {
			t.Errorf("%s: used %v\n%s%s", name, used, out, stderr)
		}
		if told := stderr != ""; told && !strings.HasPrefix(name, "its name is") && !(name == "built: another id" && strings.Contains(stderr, "app.debug is missing (its build id is ")) {
			t.Errorf("%s: %s", name, stderr)
		}
	}
}

// packed returns bytes as gzip packs them.
func packed(t *testing.T, p []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(p)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
