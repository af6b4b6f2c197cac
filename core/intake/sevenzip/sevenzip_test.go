package sevenzip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata, with 7-Zip (7zz)")

// files are what the archives of testdata have: text, x86 code with many calls of few functions and
// jumps, ARM64 code, an empty file.
func files() map[string][]byte {
	rng := rand.New(rand.NewSource(7))
	var x86, arm []byte
	for len(x86) < 9000 {
		x86 = append(x86, make([]byte, rng.Intn(6))...)
		rng.Read(x86[len(x86)-min(len(x86), 3):])
		call := func(opcode ...byte) {
			x86 = append(x86, opcode...)
			x86 = binary.LittleEndian.AppendUint32(x86, uint32(rng.Intn(8)*256)-uint32(len(x86)))
		}
		switch rng.Intn(5) {
		case 0, 1:
			call(0xe8)
		case 2:
			call(0xe9)
		case 3:
			call(0x0f, 0x80|byte(rng.Intn(16)))
		case 4:
			x86 = append(x86, 0xe8, 0xe8, 0xe9, byte(rng.Intn(256)))
		}
	}
	for i := uint32(0); len(arm) < 8000; i += 4 {
		insn := rng.Uint32()
		switch rng.Intn(3) {
		case 0:
			insn = 0x94000000 | (uint32(rng.Intn(8)*64)-i>>2)&0x3ffffff
		case 1:
			insn = 0x90000000 | rng.Uint32()&0x60ffffff
		}
		arm = binary.LittleEndian.AppendUint32(arm, insn)
	}
	return map[string][]byte{"a/text.sym": []byte(strings.Repeat("FUNC 1000 20 0 main\n", 300)), "x86.bin": x86, "arm.bin": arm, "a/empty": {}}
}

// archives are the options of 7-Zip for each archive of testdata.
var archives = map[string]string{
	"copy": "-mx=0", "lzma": "-m0=LZMA:d=64k", "lzma2": "-m0=LZMA2:d=64k", "deflate": "-m0=Deflate", "parts": "-ms=off -mhc=off", "nothing": "",
	"bcj": "-mf=BCJ -m0=LZMA:d=64k", "bcj2": "-m0=BCJ2 -m1=LZMA:d=64k -m2=LZMA:d=64k -m3=LZMA:d=64k -mb0:1 -mb0s1:2 -mb0s2:3", "arm64": "-mf=ARM64 -m0=LZMA2:d=64k",
	"encrypted": "-psecret", "ppmd": "-m0=PPMd:mem=1m", "bzip2": "-m0=BZip2",
	"delta": "-mf=Delta:4 -m0=LZMA2:d=64k",
}

// unpack returns the members of an archive, and the error that ended it.
func unpack(data []byte, memory int64) (map[string][]byte, error) {
	a, err := Open(bytes.NewReader(data), int64(len(data)), func() int64 { return memory }, nil)
	if a == nil {
		return nil, err
	}
	out := map[string][]byte{}
	for i := range a.Members {
		m := &a.Members[i]
		r, readErr := a.Reader(m)
		if readErr == nil {
			out[m.Name], readErr = io.ReadAll(r)
		}
		if err == nil {
			err = readErr
		}
	}
	return out, err
}

func TestArchives(t *testing.T) {
	want := files()
	if *update {
		makeArchives(t, want)
	}
	for name := range archives {
		data, err := os.ReadFile("testdata/" + name + ".7z")
		if err != nil {
			t.Fatal(err)
		}
		have, err := unpack(data, 1<<20)
		var method *MethodError
		switch errors.As(err, &method); {
		case name == "encrypted" || name == "ppmd":
			if word := map[string]string{"encrypted": "encryption", "ppmd": "PPMd"}[name]; method == nil || method.Method != word {
				t.Errorf("%s: %v", name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case name == "nothing":
			if len(have) != 0 {
				t.Errorf("%s has %d members", name, len(have))
			}
			continue
		}
		for file, content := range want {
			if !bytes.Equal(have[file], content) || have[file] == nil {
				t.Errorf("%s: %s has %d bytes, of %d, or others", name, file, len(have[file]), len(content))
			}
		}
		if len(have) != len(want) {
			t.Errorf("%s has %d members", name, len(have))
		}
	}
}

// makeArchives writes testdata.
func makeArchives(t *testing.T, files map[string][]byte) {
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, options := range archives {
		out, err := filepath.Abs("testdata/" + name + ".7z")
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(out)
		args := append([]string{"a", "-t7z", "-mtm=off"}, strings.Fields(options)...)
		if args = append(args, out, "a", "x86.bin", "arm.bin"); name == "nothing" {
			args = append(args[:len(args)-3], "-x!*", "a")
		}
		tool := exec.Command("7zz", args...)
		tool.Dir = dir
		if said, err := tool.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
	}
}

// TestDamage: a byte of an archive that is changed, or bytes that are missing, give an error or what
// the archive had, and no member of other bytes with a checksum.
func TestDamage(t *testing.T) {
	want := files()
	for name := range archives {
		whole, err := os.ReadFile("testdata/" + name + ".7z")
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(whole)/150)
		for at := 0; at < len(whole); at += step {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 0x55
			for _, data := range [][]byte{flipped, whole[:at]} {
				have, err := unpack(data, 1<<20)
				for file, content := range have {
					if err == nil && !bytes.Equal(content, want[file]) {
						t.Fatalf("%s, at %d: %s has other bytes", name, at, file)
					}
				}
			}
		}
	}
}

// withList makes an archive of a list of members.
func withList(list []byte) []byte {
	start := binary.LittleEndian.AppendUint64(nil, 0)
	start = binary.LittleEndian.AppendUint64(start, uint64(len(list)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE(list))
	out := append([]byte(Magic), 0, 4)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(start))
	return append(append(out, start...), list...)
}

// TestHostileLists: what a list claims costs nothing, and coders cannot be connected to a circle.
func TestHostileLists(t *testing.T) {
	const many = "\xff\xff\xff\xff\xff\xff\xff\xff\x0f"
	folder := func(f string) string {
		return "\x01\x04\x06\x00\x01\x09\x00\x00\x07\x0b\x01\x00" + f + "\x0c\x00\x00\x00\x00"
	}
	for name, c := range map[string]struct{ list, want string }{
		"members":    {"\x01\x05" + many, "parts in a list of"},
		"streams":    {"\x01\x04\x06\x00" + many + "\x09", "parts in a list of"},
		"a part":     {"\x01\x05\x01\x11" + many, "at the end of the list of members"},
		"folders":    {"\x01\x04\x07\x0b" + many, "parts in a list of"},
		"coders":     {folder(many), "a folder of"},
		"inputs":     {folder("\x01\x11\x00" + many + "\x01"), "inputs and"},
		"a circle":   {folder("\x02\x11\x00\x01\x01\x11\x00\x01\x01\x00\x00"), ""},
		"no pack":    {folder("\x02\x01\x00\x01\x00\x00\x01"), ""},
		"a method":   {folder("\x01\x0f"), "a coder with flags"},
		"ends":       {"\x01\x04", "ends too early"},
		"a kind":     {"\x63", "no list of members"},
		"compressed": {"\x17\x06\x00\x01\x09\x00\x00\x07\x0b\x01\x00\x01\x01\x00\x0c" + many + "\x00\x00", "of too many bytes"},
	} {
		have, err := unpack(withList([]byte(c.list)), 1<<20)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(have) > 0 {
			t.Errorf("%s: %d members, %v", name, len(have), err)
		}
	}
}

// TestDictionary: a dictionary that the archive claims takes no more memory than is allowed, nor than
// the folder has bytes.
func TestDictionary(t *testing.T) {
	data, err := os.ReadFile("testdata/lzma.7z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unpack(data, 4096); err == nil {
		t.Error("a match that reaches beyond the memory that is allowed was read")
	}
	a, err := Open(bytes.NewReader(data), int64(len(data)), func() int64 { return 1 << 30 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.folders {
		for k := range a.folders[i].coders {
			if p := a.folders[i].coders[k].props; len(p) == 5 {
				binary.LittleEndian.PutUint32(p[1:], 0xffffffff)
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range a.Members {
		r, err := a.Reader(&a.Members[i])
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 8<<20 {
		t.Errorf("a dictionary that claims 4 GB takes %d bytes", after.TotalAlloc-before.TotalAlloc)
	}
}

func FuzzOpen(f *testing.F) {
	for name := range archives {
		data, err := os.ReadFile("testdata/" + name + ".7z")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
		if n := binary.LittleEndian.Uint64(data[12:]); int(n)+startSize < len(data) {
			f.Add(data[startSize+n:], true)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, list bool) {
		if list { // with the checksums that a changed list would not have
			data = withList(data)
		}
		a, _ := Open(bytes.NewReader(data), int64(len(data)), func() int64 { return 1 << 20 }, nil)
		if a == nil {
			return
		}
		left := int64(4 << 20)
		for i := range a.Members[:min(len(a.Members), 64)] {
			r, err := a.Reader(&a.Members[i])
			if err != nil {
				continue
			}
			n, _ := io.Copy(io.Discard, io.LimitReader(r, left))
			if left -= n; left <= 0 {
				break
			}
		}
	})
}

// TestContradictoryLists: parts of a list that occur twice, with other numbers, are an error, and no member refers
// to what is not there.
func TestContradictoryLists(t *testing.T) {
	folders := func(n byte) []byte { // of one byte each, stored
		sizes := bytes.Repeat([]byte{1}, int(n))
		return slices.Concat([]byte{idPackInfo, 0, n, idSize}, sizes, []byte{idEnd, idUnpackInfo, idFolder, n, 0},
			bytes.Repeat([]byte{1, 1, 0}, int(n)), []byte{idCodersSize}, sizes, []byte{idEnd})
	}
	names := func(n byte) []byte {
		return slices.Concat([]byte{idNames, 1 + 4*n, 0}, bytes.Repeat([]byte{'a', 0, 0, 0}, int(n)))
	}
	for name, list := range map[string][]byte{
		"members without bytes": slices.Concat([]byte{idHeader, idFiles, 3, idEmptyStream, 1, 0x80, idEmptyFile, 1, 0x80, idEmptyStream, 1, 0xe0}, names(3), []byte{idEnd, idEnd}),
		"lists of members": slices.Concat([]byte{idHeader, idMainStreams}, folders(3), []byte{idEnd, idFiles, 3}, names(3), []byte{idEnd, idMainStreams}, folders(1),
			[]byte{idEnd, idFiles, 0, idEnd, idEnd}),
		"lists of folders": slices.Concat([]byte{idHeader, idMainStreams}, folders(3), []byte{idSubStreams, idEnd}, folders(1), []byte{idEnd, idFiles, 3}, names(3), []byte{idEnd, idEnd}),
	} {
		if _, err := unpack(withList(list), 1<<20); err == nil {
			t.Errorf("two %s: no error", name)
		}
	}
}

// TestManyMembers: the members that a list may have take little memory.
func TestManyMembers(t *testing.T) {
	const count = maxItems + 1
	list := []byte{idHeader, idFiles, 0xe0, count & 0xff, count >> 8 & 0xff, count >> 16, idEmptyStream, 0xe0}
	bits := (count + 7) / 8
	list = append(list, byte(bits), byte(bits>>8), byte(bits>>16))
	list = append(list, bytes.Repeat([]byte{0xff}, bits)...)
	size := 1 + 4*count
	list = append(list, idNames, 0xe0, byte(size), byte(size>>8), byte(size>>16), 0)
	list = append(append(list, bytes.Repeat([]byte{'a', 0, 0, 0}, count)...), idEnd, idEnd)
	if _, err := unpack(withList(list), 1<<20); err == nil || !strings.Contains(err.Error(), "parts in a list") {
		t.Error(err)
	}
}
