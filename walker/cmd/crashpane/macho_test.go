package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// machoTestdata is a file of symfile/macho/testdata, unpacked.
func machoTestdata(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("../../../symfile/macho/testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fat joins a file for x86_64 and one for arm64, as lipo does.
func fat(intel, arm []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0xcafebabe)
	b = binary.BigEndian.AppendUint32(b, 2)
	at := uint32(0x1000)
	for _, part := range []struct {
		cpu  uint32
		data []byte
	}{{0x01000007, intel}, {0x0100000c, arm}} {
		for _, v := range []uint32{part.cpu, 3, at, uint32(len(part.data)), 12} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		at = (at + uint32(len(part.data)) + 0xfff) &^ 0xfff
	}
	for _, data := range [][]byte{intel, arm} {
		b = append(b, make([]byte, (0x1000-len(b)%0x1000)%0x1000)...)
		b = append(b, data...)
	}
	return b
}

// For a program and a dSYM bundle for two processors, --arch chooses what dumpsyms and rules read, in
// Apple's words and ours; without it they say which there are.
func TestFat(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	x64, x64dsym := machoTestdata(t, "m-x86_64-fp.dylib"), machoTestdata(t, "m-x86_64-fp.dwarf")
	arm, armdsym := machoTestdata(t, "m-arm64-fp.dylib"), machoTestdata(t, "m-arm64-fp.dwarf")
	program := write("m", fat(x64, arm))
	write("m.dSYM/Contents/Info.plist", []byte("<plist/>"))
	write("m.dSYM/Contents/Resources/DWARF/m", fat(x64dsym, armdsym))
	bundle := filepath.Join(dir, "m.dSYM")
	for arch, thin := range map[string][2]string{"x86_64": {write("x64/m", x64), write("x64/d", x64dsym)}, "arm64": {write("arm/m", arm), write("arm/d", armdsym)}, "amd64": {write("x64/m", x64), write("x64/d", x64dsym)}} {
		code, want, problem := crashpane("dumpsyms", thin[0], thin[1])
		if code != 0 || !strings.Contains(want, "\nFUNC ") {
			t.Fatal(problem)
		}
		for _, files := range [][]string{{program, bundle}, {bundle, program}} {
			code, got, problem := crashpane(append([]string{"dumpsyms", "--arch", arch}, files...)...)
			if code != 0 || got != want {
				t.Errorf("%s %v: exit %d, %s, %d bytes, want %d", arch, files, code, problem, len(got), len(want))
			}
		}
		_, want, _ = crashpane("rules", thin[0])
		if code, got, problem := crashpane("rules", "--arch", arch, program); code != 0 || got != want || got == "" {
			t.Errorf("rules for %s: exit %d, %s", arch, code, problem)
		}
	}
	if code, _, problem := crashpane("dumpsyms", "--arch", "x86_64", filepath.Join(dir, "arm/m")); code != 1 || !strings.Contains(problem, "m is for arm64, and not for x86_64") {
		t.Errorf("a file for another processor: exit %d, %q", code, problem)
	}
	for _, c := range []struct{ arch, says string }{{"", "m is for several processors (x86_64, arm64): --arch says for which to read it"}, {"ppc", "m is for x86_64, arm64, and not for ppc"}} {
		for _, command := range []string{"dumpsyms", "rules"} {
			if code, _, problem := crashpane(command, "--arch", c.arch, program); code != 1 || !strings.Contains(problem, c.says) {
				t.Errorf("%s --arch %q: exit %d, %q, want %q", command, c.arch, code, problem, c.says)
			}
		}
	}
}

// --use takes the part of a file for several processors that is for the dump's.
func TestUseFat(t *testing.T) {
	dir := t.TempDir()
	id := dumptest.RSDS(1, 2, 3, [8]byte{4}, 0, "m")
	dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Platform: dumptest.OSMac, Processor: dumptest.CPUARM64}).
		Module(0x200000000, 0x10000, "/usr/lib/m", id).Thread(1, dumptest.ARM64(map[string]uint64{"pc": 0x200000388, "sp": 0x7000}), 0x7000, make([]byte, 64)).Bytes()
	writeFile(t, filepath.Join(dir, "a.dmp"), dump)
	writeFile(t, filepath.Join(dir, "m"), fat(machoTestdata(t, "m-x86_64-fp.dylib"), machoTestdata(t, "m-arm64-fp.dylib")))
	code, out, problem := crashpane("walk", "--use", filepath.Join(dir, "m"), filepath.Join(dir, "a.dmp"))
	if code != 0 || !strings.Contains(out, "m!leaf") {
		t.Errorf("exit %d, %s\n%s", code, problem, out)
	}
}

// Rules that were passed over because a page of them is damaged are in the output, and the command fails.
func TestRulesDamagedPage(t *testing.T) {
	b := machoTestdata(t, "m-x86_64-fp.dylib")
	at := bytes.Index(b, []byte{3, 0, 0, 0, 12, 0}) // a compressed page, whose entries begin after 12 bytes
	if at < 0 {
		t.Fatal("no page")
	}
	b[at] = 7
	path := filepath.Join(t.TempDir(), "m")
	writeFile(t, path, b)
	code, out, problem := crashpane("rules", "--source", "compact", path)
	if want := "a page of kind 2 or 3, found 7"; code != 1 || !strings.Contains(out+problem, want) {
		t.Errorf("exit %d, %q, %q, want %q", code, out, problem, want)
	}
}
