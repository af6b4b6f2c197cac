package intake

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

const symText = "MODULE Linux x86_64 000000000000000000000000000000000 app\nFUNC 1000 10 0 main\n"

func gz(data string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(data))
	z.Close()
	return b.String()
}

// member is a file to be put into a zip; method 0 stores it.
type member struct {
	name, data string
	method     uint16
}

func zipOf(members ...member) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err != nil {
			panic(err)
		}
		w.Write([]byte(m.data))
	}
	z.Close()
	return b.String()
}

// noise is data that do not compress.
func noise(n int) string {
	b := make([]byte, n)
	rand.New(rand.NewSource(1)).Read(b)
	return string(b)
}

func expand(data string, limits Limits) ([]*input.Source, error) {
	return Expand(input.FromBytes("crash.zip", []byte(data)), limits, nil)
}

// content reads all of a source in odd steps from back to front, and then in one.
func content(t *testing.T, s *input.Source) string {
	t.Helper()
	all := make([]byte, s.Size)
	if n, err := s.ReadAt(all, 0); int64(n) != s.Size && err != nil {
		t.Errorf("%s: %v", s.Name, err)
	}
	for off := s.Size - 1; off >= 0; off -= 70_001 {
		n := min(1000, s.Size-off)
		p, err := s.Bytes(off, n)
		if err != nil || !bytes.Equal(p, all[off:off+n]) {
			t.Errorf("%s at %d: not the same bytes (%v)", s.Name, off, err)
		}
	}
	return string(all)
}

func check(t *testing.T, out []*input.Source, want map[string]string) {
	t.Helper()
	for _, s := range out {
		w, ok := want[s.Name]
		if !ok {
			t.Errorf("%s should not be there", s.Name)
		} else if have := content(t, s); have != w {
			t.Errorf("%s: %d bytes are not the %d that went in", s.Name, len(have), len(w))
		}
	}
	if len(out) != len(want) {
		t.Errorf("%d files, want %d", len(out), len(want))
	}
}

func TestExpand(t *testing.T) {
	big := noise(3*chunkSize + 77)
	huge := strings.Repeat(noise(1<<16), (eagerSize>>16)+3) + "end"
	data := zipOf(
		member{"a/", "", 0},
		member{"a/app.sym", symText, zip.Deflate},
		member{"crash.dmp", "MDMP" + big, zip.Store},
		member{"big.bin", big, zip.Deflate},
		member{"huge.bin", huge, zip.Deflate},
		member{`win\dir\lib.sym.gz`, gz(symText) + gz("FUNC 2000 10 0 f\n"), zip.Deflate},
		member{"inner.zip", zipOf(member{"deep.sym.gz", gz(symText), zip.Store}, member{"empty", "", zip.Deflate}), zip.Deflate},
		member{"__MACOSX/a/._app.sym", "isMetadata", zip.Deflate},
		member{"a/.DS_Store", "isMetadata", zip.Deflate},
		member{"README", "read me", zip.Deflate},
	)
	var told []string
	out, err := Expand(input.FromBytes("crash.zip", []byte(data)), Limits{}, func(name string, done, total int64) error {
		told = append(told, name)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	check(t, out, map[string]string{
		"crash.zip/a/app.sym": symText, "crash.zip/crash.dmp": "MDMP" + big, "crash.zip/big.bin": big, "crash.zip/huge.bin": huge,
		"crash.zip/win/dir/lib.sym":    symText + "FUNC 2000 10 0 f\n",
		"crash.zip/inner.zip/deep.sym": symText,
		"crash.zip/inner.zip/empty":    "",
		"crash.zip/README":             "read me",
	})
	if len(told) < 9 {
		t.Errorf("progress: %q", told)
	}
}

func TestExpandPlain(t *testing.T) {
	src := input.FromBytes("a.dmp", []byte("MDMP...."))
	out, err := Expand(src, Limits{}, nil)
	if err != nil || len(out) != 1 || out[0] != src {
		t.Errorf("%v %v", out, err)
	}
	out, err = Expand(input.FromBytes("app.sym.gz", []byte(gz(symText)+strings.Repeat("\x00", 512))), Limits{}, nil)
	if err != nil {
		t.Error(err)
	}
	check(t, out, map[string]string{"app.sym": symText})
}

// wantProblem checks that there is a problem that names the file, an offset and some words.
func wantProblem(t *testing.T, err error, file, words string) {
	t.Helper()
	var f *input.FormatError
	if !errors.As(err, &f) || f.File != file || !strings.Contains(err.Error(), words) {
		t.Errorf("have %v, want %s and %q", err, file, words)
	}
}

func TestExpandDamaged(t *testing.T) {
	text := symText + strings.Repeat("PUBLIC 1234 0 name_of_some_length\n", 20000) + noise(5000)
	packed := gz(text)

	out, err := Expand(input.FromBytes("a.sym.gz", []byte(packed[:len(packed)-3000])), Limits{}, nil)
	wantProblem(t, err, "a.sym.gz", "the end of the file in the middle of the data")
	if len(out) != 1 || !strings.HasPrefix(text, content(t, out[0])) || out[0].Size < 1000 {
		t.Errorf("the data before the damage are not used: %v", out)
	}
	out, err = Expand(input.FromBytes("a.sym.gz", []byte(packed+"more and more data")), Limits{}, nil)
	wantProblem(t, err, "a.sym.gz", "after the compressed data")
	check(t, out, map[string]string{"a.sym": text})
	broken := packed[:len(packed)-8] + "xxxx" + packed[len(packed)-4:]
	out, err = Expand(input.FromBytes("a.sym.gz", []byte(broken)), Limits{}, nil)
	wantProblem(t, err, "a.sym.gz", "checksum")
	check(t, out, map[string]string{"a.sym": text})
	out, err = Expand(input.FromBytes("a.gz", []byte("\x1f\x8b")), Limits{}, nil)
	wantProblem(t, err, "a.gz", "offset 0x2")
	check(t, out, nil)

	// A zip: damage in one member, an encrypted one, one with an unknown method, one that is cut;
	// the others are used.
	whole := zipOf(member{"good.sym", symText, zip.Deflate}, member{"bad.bin", text, zip.Deflate}, member{"last.sym", symText, zip.Store})
	patched := func(change func(b []byte)) string {
		b := []byte(whole)
		change(b)
		return string(b)
	}
	local := strings.Index(whole, "bad.bin")
	central := strings.LastIndex(whole, "bad.bin")
	for _, tt := range []struct {
		words, data string
		rest        int // members that are still used
	}{
		{"damaged data", patched(func(b []byte) { copy(b[local+500:], strings.Repeat("\xff", 400)) }), 3},
		{"damaged data", patched(func(b []byte) { copy(b[local+7:], strings.Repeat("\xff", 400)) }), 2},
		{"encrypted", patched(func(b []byte) { b[central-46+8] |= 1 }), 2},
		{"bzip2, which is not supported", patched(func(b []byte) { b[central-46+10] = 12 }), 2},
		{"method 77", patched(func(b []byte) { b[central-46+10] = 77 }), 2},
		{"claimed size of", patched(func(b []byte) { b[central-46+10] = 0; b[central-46+23] = 0x7f }), 3},
		{"no readable local header", patched(func(b []byte) { b[central-46+45] = 0x7f }), 2},
		{"checksum", patched(func(b []byte) { b[central-46+16] ^= 1 }), 3},
		{"no readable list of members", whole[:len(whole)-30], 0},
	} {
		out, err := expand(tt.data, Limits{})
		wantProblem(t, err, "crash.zip", tt.words)
		if len(out) != tt.rest {
			t.Errorf("%s: %d members are left, want %d (%v)", tt.words, len(out), tt.rest, err)
		}
		for _, s := range out {
			if strings.HasSuffix(s.Name, ".sym") && content(t, s) != symText {
				t.Errorf("%s: %s is not what went in", tt.words, s.Name)
			}
		}
	}
}

// A large member is unpacked when it is read; damage is then an error of the read.
func TestExpandLazyDamage(t *testing.T) {
	data := []byte(zipOf(member{"huge.bin", noise(eagerSize + 5*chunkSize), zip.Deflate}, member{"b.sym", symText, zip.Deflate}))
	copy(data[eagerSize:], strings.Repeat("\xff", 100_000))
	out, err := expand(string(data), Limits{})
	if err != nil || len(out) != 2 || out[1].Name != "crash.zip/huge.bin" {
		t.Fatalf("%v %v", out, err)
	}
	huge := out[1]
	if _, err := huge.Bytes(0, 1000); err != nil {
		t.Error(err)
	}
	if _, err := huge.Bytes(huge.Size-10, 10); err == nil {
		t.Error("bytes behind the damage were read")
	}
	if _, err := huge.Bytes(1000, 1000); err != nil {
		t.Error(err)
	}
}

// zeroBomb is a zip whose members unpack to n bytes of zeros each.
func zeroBomb(members, n int) string {
	var b, packed bytes.Buffer
	f, _ := flate.NewWriter(&packed, 9)
	block := make([]byte, 1<<16)
	crc := crc32.NewIEEE()
	for left := n; left > 0; left -= len(block) {
		f.Write(block[:min(left, len(block))])
		crc.Write(block[:min(left, len(block))])
	}
	f.Close()
	z := zip.NewWriter(&b)
	for i := range members {
		w, _ := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprintf("%d.bin", i), Method: zip.Deflate, CRC32: crc.Sum32(),
			CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(n)})
		w.Write(packed.Bytes())
	}
	w, _ := z.Create("last.sym")
	w.Write([]byte(symText))
	z.Close()
	return b.String()
}

// withMemory gives a Source a budget with so much memory.
func withMemory(src *input.Source, n int64) *input.Source {
	src.Budget = &input.Budget{}
	src.Budget.Draw(input.Memory, src.Budget.Left(input.Memory)-n)
	return src
}

func TestExpandLimits(t *testing.T) {
	small := Limits{MaxStream: 4 << 20, MaxRatio: 100, RatioFloor: 1 << 20, MaxMembers: 5, MaxDepth: 2}

	// Announced as more than is allowed: refused before anything is unpacked.
	out, err := expand(zeroBomb(1, 5<<20), small)
	if !errors.Is(err, ErrTooLarge) || len(out) != 1 || out[0].Name != "crash.zip/last.sym" {
		t.Errorf("%v %v", out, err)
	}
	// Within the total, but a thousandfold: it is left out.
	out, err = expand(zeroBomb(1, 3<<20), small)
	if !errors.Is(err, ErrRatio) || len(out) != 1 || out[0].Name != "crash.zip/last.sym" {
		t.Errorf("%v %v", out, err)
	}
	// Members that are too much only together.
	together := small
	together.RatioFloor, together.MaxMembers = 4<<20, 20
	out, err = expand(zeroBomb(9, 1<<20), together)
	if !errors.Is(err, ErrRatio) || len(out) != 4 {
		t.Errorf("together: %d members, %v", len(out), err)
	}
	// Several that are too much for the memory together: they are unpacked when they are read, and
	// some of them can be.
	small.RatioFloor = 1 << 30
	out, err = Expand(withMemory(input.FromBytes("crash.zip", []byte(zeroBomb(4, 3<<20/2))), 4<<20), small, nil)
	if err != nil || len(out) != 5 {
		t.Errorf("%v %v", out, err)
	}
	for i, member := range out {
		_, err := member.Bytes(0, member.Size)
		var budget *input.BudgetError
		if over := errors.As(err, &budget); over != (i == 3 || i == 4) || err != nil && !over {
			t.Errorf("member %d: %v", i, err)
		}
	}
	// gzip.
	small.RatioFloor = 1 << 20
	out, err = Expand(input.FromBytes("a.gz", []byte(gz(strings.Repeat("\x00", 3<<20)))), small, nil)
	if !errors.Is(err, ErrRatio) || len(out) != 0 {
		t.Errorf("%v %v", out, err)
	}
	out, err = Expand(input.FromBytes("a.gz", []byte(gz(noise(5<<20)))), small, nil)
	if !errors.Is(err, ErrTooLarge) || len(out) != 0 {
		t.Errorf("%v %v", out, err)
	}
	// What the user allows.
	for _, c := range []struct {
		name, data string
		allows     int64
		refused    bool
	}{
		{"crash.zip", zeroBomb(1, 5<<20), 5 << 20, true}, // its last member is the one too many
		{"crash.zip", zeroBomb(1, 5<<20), 6 << 20, false},
		{"a.gz", gz(noise(5 << 20)), 5<<20 - 1, true},
		{"a.gz", gz(noise(5 << 20)), 5 << 20, false},
		{"a.gz", gz(strings.Repeat("\x00", 3<<20)), 3 << 20, false},
	} {
		src := input.FromBytes(c.name, []byte(c.data))
		src.MaxUnpacked = c.allows
		small.Advice = "; ask for more"
		_, err := Expand(src, small, nil)
		if Refused(err) != c.refused || err != nil && (!c.refused || !strings.Contains(err.Error(), "; ask for more")) {
			t.Errorf("%s with %d bytes allowed: %v", c.name, c.allows, err)
		}
	}
	// Members.
	var many []member
	for i := range 9 {
		many = append(many, member{fmt.Sprint(i), symText, zip.Deflate})
	}
	out, err = expand(zipOf(many...), small)
	wantProblem(t, err, "crash.zip", "more than 5 members")
	if len(out) != 5 {
		t.Errorf("%d members", len(out))
	}
	// Depth: what is too deep stays an archive.
	deep := zipOf(member{"1.zip", zipOf(member{"2.zip", zipOf(member{"3.sym", symText, 0}), 0}), 0})
	out, err = expand(deep, small)
	wantProblem(t, err, "crash.zip/1.zip/2.zip", "too deep")
	if len(out) != 1 {
		t.Errorf("%v", out)
	}
	// A file that announces much and has little takes little.
	lie := []byte(zipOf(member{"a.bin", symText, zip.Deflate}))
	at := bytes.LastIndex(lie, []byte("a.bin")) - 46 + 24
	copy(lie[at:], "\xff\xff\xff\x3f")
	out, err = expand(string(lie), Limits{})
	if len(out) != 1 || out[0].Size > 1<<20 {
		t.Errorf("%v %v", out, err)
	}
}

func TestExpandCancel(t *testing.T) {
	data := zipOf(member{"a.sym", symText, zip.Deflate}, member{"b.sym", symText, zip.Deflate}, member{"c.sym", symText, zip.Deflate})
	out, err := Expand(input.FromBytes("crash.zip", []byte(data)), Limits{}, func(name string, _, _ int64) error {
		if name == "crash.zip/b.sym" {
			return context.Canceled
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || len(out) != 1 {
		t.Errorf("%v %v", out, err)
	}
}

func TestExpandNeedsBytes(t *testing.T) {
	need := &input.NeedError{Name: "a", Ranges: []input.Range{{Offset: 0, Size: 10}}}
	out, err := Expand(input.New("a.zip", failing{need}, 1000), Limits{}, nil)
	var have *input.NeedError
	if !errors.As(err, &have) || len(out) != 0 {
		t.Errorf("%v %v", out, err)
	}
}

// FuzzExpand: no panic, no more memory than the limits allow, and everything that comes out can be
// read or says why not.
func FuzzExpand(f *testing.F) {
	f.Add([]byte(zipOf(member{"a.sym", symText, zip.Deflate}, member{"b.sym.gz", gz(symText), zip.Store}, member{"c.zip", zipOf(member{"d", "x", 8}), 8})))
	f.Add([]byte(gz(symText) + gz("more")))
	f.Add([]byte(zeroBomb(2, 1<<18)))
	f.Add([]byte("MDMP"))
	f.Add([]byte(symText))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{MaxMembers: 100}
		out, _ := Expand(input.FromBytes("x", data), limits, nil)
		var unpacked int64
		for _, s := range out {
			Sniff(s)
			n, _ := io.Copy(io.Discard, io.NewSectionReader(s, 0, s.Size))
			unpacked += n
		}
		// Stored members may overlap in the archive, so that each is as large as the file at most.
		limits = limits.orDefault()
		if most := max(limits.RatioFloor, limits.MaxRatio*int64(len(data))) + int64(len(out)+1)*int64(len(data)); unpacked > most {
			t.Errorf("%d bytes", unpacked)
		}
	})
}

// TestForget: what is given back is unpacked again by the next read, and what cannot be stays.
func TestForget(t *testing.T) {
	text := symText + strings.Repeat("FUNC 2000 10 0 other\n", 20_000)
	badSum := []byte(zipOf(member{"a.sym", text, 8}))
	badSum[bytes.LastIndex(badSum, []byte("PK\x01\x02"))+16] ^= 1
	for name, data := range map[string]string{
		"gzip": gz(text), "gzip in a zip": zipOf(member{"a.sym.gz", gz(text), 0}), "gzip deflated in a zip": zipOf(member{"a.sym.gz", gz(text), 8}),
		"other data behind it": gz(text) + "something else", "cut off": gz(text)[:len(gz(text))/2], "member": zipOf(member{"a.sym", text, 8}),
		"member with another checksum": string(badSum),
	} {
		out, _ := expand(data, Limits{})
		if len(out) != 1 {
			t.Errorf("%s: %v", name, out)
			continue
		}
		want := content(t, out[0])
		out[0].Forget()
		if got := content(t, out[0]); got != want || len(got) < 1000 {
			t.Errorf("%s: %d bytes, and %d after Forget", name, len(want), len(got))
		}
	}
}
