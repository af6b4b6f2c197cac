package cab

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// made is a cabinet to be written.
type made struct {
	method  uint16
	flags   uint16
	reserve [3]int // bytes that are somebody's own: in the header, in each folder, in each block
	files   []file
	folders int // that the files are divided among, in turn of their order; 0 is one
	split   int // how many bytes are in a block; 0 is 32 KiB
	noSums  bool
	utf8    bool
}

type file struct{ name, data string }

// bytes writes it as the specification has it, with nothing of the reader.
func (m made) bytes() []byte {
	var names, folders, list, data bytes.Buffer
	put16 := func(b *bytes.Buffer, v int) { b.Write([]byte{byte(v), byte(v >> 8)}) }
	put32 := func(b *bytes.Buffer, v int) { b.Write([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)}) }
	if m.flags&4 != 0 {
		put16(&names, m.reserve[0])
		names.Write([]byte{byte(m.reserve[1]), byte(m.reserve[2])})
		names.Write(make([]byte, m.reserve[0]))
	}
	for _, bit := range []uint16{1, 2} {
		if m.flags&bit != 0 {
			names.WriteString("other.cab\x00disk\x00")
		}
	}
	count, split := max(m.folders, 1), m.split
	if split == 0 {
		split = 32 << 10
	}
	contents, offsets := make([]string, count), make([]int, len(m.files))
	for i, f := range m.files {
		to := i * count / len(m.files)
		offsets[i] = len(contents[to])
		contents[to] += f.data
		put32(&list, len(f.data))
		put32(&list, offsets[i])
		put16(&list, to)
		put32(&list, 0x12345678)
		attributes := 0x20
		if m.utf8 {
			attributes |= 0x80
		}
		put16(&list, attributes)
		list.WriteString(f.name + "\x00")
	}
	before := 36 + names.Len() + count*(8+m.reserve[1]) + list.Len()
	for _, content := range contents {
		blocks := (len(content) + split - 1) / split
		put32(&folders, before+data.Len())
		put16(&folders, blocks)
		put16(&folders, int(m.method))
		folders.Write(make([]byte, m.reserve[1]))
		var window []byte
		for at := 0; at < len(content); at += split {
			raw := []byte(content[at:min(at+split, len(content))])
			packed := raw
			if m.method == 1 {
				var b bytes.Buffer
				b.WriteString("CK")
				z, _ := flate.NewWriterDict(&b, 9, window)
				z.Write(raw)
				z.Close()
				packed = b.Bytes()
				window = append(window, raw...)
				window = window[max(0, len(window)-32<<10):]
			}
			sizes := []byte{byte(len(packed)), byte(len(packed) >> 8), byte(len(raw)), byte(len(raw) >> 8)}
			sum := 0
			if !m.noSums {
				for _, b := range [][]byte{packed, sizes} {
					for ; len(b) >= 4; b = b[4:] {
						sum ^= int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
					}
					for i := range b {
						sum ^= int(b[i]) << (8 * (len(b) - 1 - i))
					}
				}
			}
			put32(&data, sum)
			data.Write(sizes)
			data.Write(make([]byte, m.reserve[2]))
			data.Write(packed)
		}
	}
	var out bytes.Buffer
	out.WriteString("MSCF\x00\x00\x00\x00")
	put32(&out, before+data.Len())
	put32(&out, 0)
	put32(&out, 36+names.Len()+folders.Len())
	put32(&out, 0)
	out.Write([]byte{3, 1})
	put16(&out, count)
	put16(&out, len(m.files))
	put16(&out, int(m.flags))
	put32(&out, 0)
	for _, b := range []*bytes.Buffer{&names, &folders, &list, &data} {
		out.Write(b.Bytes())
	}
	return out.Bytes()
}

// text is data that compress, with references that reach far back.
func text(n int, seed int64) string {
	r := rand.New(rand.NewSource(seed))
	var b strings.Builder
	for b.Len() < n {
		if at := b.Len(); at > 1000 && r.Intn(3) == 0 {
			from := r.Intn(min(at, 30000))
			b.WriteString(b.String()[at-from : min(at, at-from+200)])
			continue
		}
		fmt.Fprintf(&b, "FUNC %x %x 0 function_%d\n", r.Intn(1<<20), r.Intn(100), r.Intn(1000))
	}
	return b.String()[:n]
}

var three = []file{{"a.pdb", text(100_000, 1)}, {`dir\b.exe`, text(70_001, 2)}, {"empty", ""}, {"c.dll", "short"}}

func cabinets() map[string]made {
	return map[string]made{
		"stored": {files: three}, "mszip": {method: 1, files: three}, "two folders": {method: 1, files: three, folders: 2},
		"reserved parts":        {method: 1, flags: 4, reserve: [3]int{20, 3, 5}, files: three},
		"no checksums":          {method: 1, noSums: true, files: three},
		"names of other parts":  {method: 1, flags: 3, files: three},
		"small blocks":          {method: 1, split: 1000, files: three},
		"names in UTF-8":        {files: []file{{"größe.pdb", "x"}}, utf8: true},
		"names in another code": {files: []file{{"gr\xf6\xdfe.pdb", "x"}}},
		"no members":            {},
	}
}

// content reads the members of a cabinet in an order of their numbers.
func content(data []byte, order func([]Member) []int) (map[string]string, error) {
	c, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, i := range order(c.Members) {
		r, err := c.Reader(&c.Members[i])
		if err != nil {
			return out, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return out, err
		}
		out[c.Members[i].Name] = string(b)
	}
	return out, nil
}

func forward(m []Member) (out []int) {
	for i := range m {
		out = append(out, i)
	}
	return out
}

func backward(m []Member) []int {
	out := forward(m)
	slices.Reverse(out)
	return out
}

// TestMembers: what went in comes out, in any order.
func TestMembers(t *testing.T) {
	for name, m := range cabinets() {
		for _, order := range []func([]Member) []int{forward, backward} {
			got, err := content(m.bytes(), order)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, f := range m.files {
				want := f.name
				if !m.utf8 {
					want = latin(f.name)
				}
				if got[want] != f.data {
					t.Errorf("%s: %s: %d bytes are not the %d that went in", name, f.name, len(got[want]), len(f.data))
				}
			}
			if len(got) != len(m.files) {
				t.Errorf("%s: %d members", name, len(got))
			}
		}
	}
}

// TestGcab: a PDB packed by another program, as symbol servers have it.
func TestGcab(t *testing.T) {
	const dir = "../../../testdata/windows/"
	want := testfile.Read(t, dir+"app.pdb.gz")
	got, err := content(testfile.Read(t, dir+"app.pd_"), forward)
	if err != nil || len(got) != 1 || got["app.pdb"] != string(want) {
		t.Errorf("%d members, %d bytes of %d: %v", len(got), len(got["app.pdb"]), len(want), err)
	}
}

// TestRefused: what is not unpacked here says what to do.
func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"LZX", func(b []byte) { b[42], b[43] = 3, 21 }, "compressed by LZX, which is not supported; unpack it with expand on Windows or cabextract elsewhere"},
		{"Quantum", func(b []byte) { b[42] = 2 }, "compressed by Quantum, which"},
		{"another method", func(b []byte) { b[42] = 9 }, "compressed by method 9"},
		{"from another cabinet", func(b []byte) { b[44+8], b[44+9] = 0xfd, 0xff }, "another cabinet of a set"},
		{"into another cabinet", func(b []byte) { b[44+8], b[44+9] = 0xfe, 0xff }, "another cabinet of a set"},
		{"a block that goes on in another", func(b []byte) { b[44+24+6], b[44+24+7] = 0, 0 }, "another cabinet of a set"},
		{"a folder that is not there", func(b []byte) { b[44+8] = 7 }, "a member of folder 7, of 1"},
		{"damaged data", func(b []byte) { b[len(b)-3]++ }, "checksum does not match"},
		{"damaged data without checksum", func(b []byte) { copy(b[44+24:], "\x00\x00\x00\x00"); b[len(b)-30] ^= 0xff; b[len(b)-31] ^= 0xff }, "deflate data"},
		{"not CK", func(b []byte) { copy(b[44+24:], "\x00\x00\x00\x00"); b[44+24+8] = 'X' }, "begin with CK"},
		{"a member behind the folder", func(b []byte) { b[44+6] = 1 }, "ends after"},
		{"version 2", func(b []byte) { b[25] = 2 }, "version 2.3"},
		{"no cabinet", func(b []byte) { b[0] = 'X' }, "no cabinet"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := made{method: 1, files: []file{{"app.pdb", text(3000, 3)}}}.bytes()
			tc.change(data)
			_, err := content(data, forward)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			var method *MethodError
			if errors.As(err, &method) != strings.HasPrefix(tc.want, "compressed by") {
				t.Errorf("%T", err)
			}
		})
	}
}

// TestMuchForLittle: a small cabinet whose members come after 2 GB each, in folders that share
// their blocks, does not unpack all of that for each.
func TestMuchForLittle(t *testing.T) {
	m := made{method: 1, files: []file{{"a", strings.Repeat("x", 32<<10)}}}
	for i := range 50 {
		m.files = append(m.files, file{fmt.Sprint(i), ""})
	}
	data := m.bytes()
	list := 36 + 8
	at := list + 16 + 2
	for range 50 { // each of a byte at 32767
		copy(data[at:], []byte{1, 0, 0, 0, 0xff, 0x7f, 0, 0})
		at += 16 + bytes.IndexByte(data[at+16:], 0) + 1
	}
	c, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(c.Members) != 51 {
		t.Fatal(err)
	}
	c.skipped = maxSkipped - 10*32<<10
	read := 0
	for i := range c.Members[1:] {
		if r, err := c.Reader(&c.Members[i+1]); err == nil {
			io.Copy(io.Discard, r)
			read++
		} else if !strings.Contains(err.Error(), "too much of the cabinet") {
			t.Fatal(err)
		}
	}
	if read < 9 || read > 11 {
		t.Errorf("%d members are read", read)
	}
}

// TestCut: a cabinet that is cut off anywhere is an error, and no panic.
func TestCut(t *testing.T) {
	whole := made{method: 1, flags: 7, reserve: [3]int{5, 1, 2}, files: []file{{"a", text(2000, 4)}, {"b", text(500, 5)}}, split: 700}.bytes()
	for n := range len(whole) {
		if got, err := content(whole[:n], forward); err == nil {
			t.Fatalf("cut at %d of %d: %d members", n, len(whole), len(got))
		}
	}
	for i := range whole { // any byte may be anything
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := bytes.Clone(whole)
			b[i] = v
			content(b, forward)
		}
	}
}

func FuzzCabinet(f *testing.F) {
	for _, m := range cabinets() {
		for i := range m.files {
			m.files = slices.Clone(m.files)
			m.files[i].data = m.files[i].data[:min(len(m.files[i].data), 2000)]
		}
		f.Add(m.bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Open(bytes.NewReader(data), int64(len(data)))
		if c == nil && err == nil {
			t.Fatal("neither a cabinet nor an error")
		}
		if err != nil {
			return
		}
		for i := range c.Members[:min(len(c.Members), 5)] {
			r, err := c.Reader(&c.Members[i])
			if err != nil {
				continue
			}
			if n, _ := io.Copy(io.Discard, io.LimitReader(r, 1<<20)); n > c.Members[i].Size {
				t.Fatalf("%d bytes of a member of %d", n, c.Members[i].Size)
			}
		}
	})
}
