package intake

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
)

// TestCabinet: a PDB in a cabinet is what it was, held in memory or put into a spool; of what is
// not unpacked here a message says what to do; and a cabinet that claims to hold much costs nothing.
func TestCabinet(t *testing.T) {
	want := testfile.Read(t, "../../testdata/windows/app.pdb.gz")
	data := testfile.Read(t, "../../testdata/windows/app.pd_")
	put := &memorySpool{}
	for name, limits := range map[string]Limits{
		"memory": {},
		"spool":  {KeepWhole: 1000, Spool: func() (Spool, error) { return put, nil }},
	} {
		out, err := Expand(input.FromBytes("app.pd_", data), limits, nil)
		if err != nil || len(out) != 1 || out[0].Name != "app.pd_/app.pdb" {
			t.Fatalf("%s: %v %v", name, out, err)
		}
		got, err := out[0].Bytes(0, out[0].Size)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes of %d: %v", name, len(got), len(want), err)
		}
	}
	if !bytes.Equal(put.data, want) {
		t.Errorf("the spool got %d bytes of %d", len(put.data), len(want))
	}
	for what, change := range map[string]func(b []byte){
		`member "app.pdb": compressed by LZX, which is not supported; unpack it with expand`: func(b []byte) { b[42], b[43] = 3, 21 },
		`member "app.pdb": it goes on in another cabinet of a set`:                           func(b []byte) { b[44+8], b[44+9] = 0xfe, 0xff },
		`32768 of its 73728 bytes are unpacked and used: the data ends too early`:            nil,
		`73728 of its 4294967295 bytes are unpacked`:                                         func(b []byte) { copy(b[44:], "\xff\xff\xff\xff") },
	} {
		b := bytes.Clone(data)
		if change == nil {
			b = b[:len(b)/2]
		} else {
			change(b)
		}
		_, err := Expand(input.FromBytes("app.pd_", b), Limits{}, nil)
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}

// TestZipOfZstd: members of a zip that are compressed with zstd are read.
func TestZipOfZstd(t *testing.T) {
	for _, method := range []uint16{20, 93} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		z.RegisterCompressor(method, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
		w, err := z.CreateHeader(&zip.FileHeader{Name: "app.sym", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, symText)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		out, err := Expand(input.FromBytes("syms.zip", b.Bytes()), Limits{}, nil)
		if err != nil || len(out) != 1 {
			t.Fatalf("method %d: %v %v", method, out, err)
		}
		if got, err := out[0].Bytes(0, out[0].Size); err != nil || string(got) != symText {
			t.Errorf("method %d: %q, %v", method, got, err)
		}
	}
}

// TestWindow: how far data may look back takes memory, so a file that claims more than there is is
// refused, and one that needs less is read.
func TestWindow(t *testing.T) {
	const text = "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 app\n"
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed, zstd.WithWindowSize(128<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	// The size of the content is not known when the header is written.
	for range 3 << 20 / len(text) {
		w.Write([]byte(text))
		w.Flush()
	}
	w.Close()
	expand := func(given int64) ([]*input.Source, error) {
		src := input.FromBytes("a.sym.zst", packed.Bytes())
		src.Budget = &input.Budget{}
		src.Budget.Give(given)
		return Expand(src, Limits{}, nil)
	}
	if out, err := expand(1 << 10); err == nil || len(out) != 0 || !strings.Contains(err.Error(), "window") {
		t.Errorf("with 64 MB of memory: %v, %v", out, err)
	}
	if out, err := expand(100 << 20); err != nil || len(out) != 1 {
		t.Errorf("with more: %v, %v", out, err)
	}
}

// TestSevenZip: the members of a 7z archive are files as those of other archives, also in a spool and
// in another archive. What unpacks to more than is allowed is refused, and the others are read.
func TestSevenZip(t *testing.T) {
	data := testfile.Read(t, "sevenzip/testdata/lzma2.7z")
	var zipped bytes.Buffer
	w := zip.NewWriter(&zipped)
	m, err := w.Create("in.7z")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("FUNC 1000 20 0 main\n", 300)
	for _, c := range []struct {
		name   string
		data   []byte
		limits Limits
	}{
		{"a.7z", data, Limits{}},
		{"a.7z", data, Limits{KeepWhole: 1000, Spool: func() (Spool, error) { return &memorySpool{}, nil }}},
		{"out.zip/in.7z", zipped.Bytes(), Limits{}},
	} {
		out, err := Expand(input.FromBytes(strings.TrimSuffix(c.name, "/in.7z"), c.data), c.limits, nil)
		if err != nil || len(out) != 4 {
			t.Fatalf("%s: %d members, %v", c.name, len(out), err)
		}
		for _, o := range out {
			if o.Name != c.name+"/a/text.sym" {
				continue
			}
			if got, err := o.Bytes(0, o.Size); err != nil || string(got) != text {
				t.Errorf("%s: %d bytes, %v", o.Name, len(got), err)
			}
		}
	}
	out, err := Expand(input.FromBytes("a.7z", data), Limits{MaxStream: 8500}, nil)
	if !errors.Is(err, ErrTooLarge) || len(out) != 3 {
		t.Errorf("%d members, %v", len(out), err)
	}
	out, err = Expand(input.FromBytes("a.7z", data[:len(data)-30]), Limits{}, nil)
	if err == nil || len(out) != 0 {
		t.Errorf("without its end: %d members, %v", len(out), err)
	}
}

// TestBombsAmongOthers: members that unpack to far too much are left out, and the others are read; of
// many few are unpacked.
func TestBombsAmongOthers(t *testing.T) {
	for _, c := range []struct{ bombs, want int }{{0, 3}, {1, 3}, {2, 3}, {9, 3}} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		add := func(name string, content []byte) {
			m, err := w.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Write(content); err != nil {
				t.Fatal(err)
			}
		}
		for i := range c.bombs {
			add(string(rune('a'+i)), make([]byte, 3<<20))
		}
		for i := range 3 {
			add(string(rune('x'+i)), []byte("MODULE Linux x86_64 0 a\n"))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		out, err := Expand(input.FromBytes("a.zip", b.Bytes()), Limits{RatioFloor: 1 << 20, MaxRatio: 1}, nil)
		var problems *Problems
		if errors.As(err, &problems); c.bombs > 0 && problems.Count != min(c.bombs, maxBombs+1) {
			t.Errorf("%d bombs: %d are unpacked", c.bombs, problems.Count)
		}
		if len(out) != c.want || errors.Is(err, ErrRatio) != (c.bombs > 0) {
			t.Errorf("%d bombs: %d members, %v", c.bombs, len(out), err)
		}
	}
}
