package intake

import (
	"bytes"
	"errors"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
)

// memorySpool is a Spool for tests; of one that is full, writes fail, from a size on if there is
// one.
type memorySpool struct {
	data []byte
	full error
	room int
}

func (m *memorySpool) WriteAt(p []byte, off int64) (int, error) {
	if m.full != nil && int(off)+len(p) > m.room {
		return 0, m.full
	}
	if need := int(off) + len(p); need > len(m.data) {
		m.data = append(m.data, make([]byte, need-len(m.data))...)
	}
	return copy(m.data[off:], p), nil
}

func (m *memorySpool) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.data).ReadAt(p, off)
}

// TestZstdSpooled: a large file in another format than deflate is unpacked into a spool and read
// from there.
func TestZstdSpooled(t *testing.T) {
	text := append([]byte(symText), symLike(10<<20)...)
	packed := &bytes.Buffer{}
	w, err := zstd.NewWriter(packed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	w.Close()
	spool := &memorySpool{}
	limits := Limits{KeepWhole: 1 << 20, Spool: func() (Spool, error) { return spool, nil }}
	src := func() *input.Source {
		return input.New("a.sym.zst", bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	}
	out, err := Expand(src(), limits, nil)
	if err != nil || len(out) != 1 || out[0].Name != "a.sym" || out[0].Size != int64(len(text)) {
		t.Fatal(out, err)
	}
	if len(spool.data) != len(text) {
		t.Errorf("%d of %d bytes are in the spool", len(spool.data), len(text))
	}
	for _, at := range []int64{5 << 20, 0, 9<<20 + 12345, 300, out[0].Size - 700} {
		p := make([]byte, 700)
		if _, err := out[0].ReadDirect(p, at); err != nil || !bytes.Equal(p, text[at:at+700]) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	// Damage and a spool without room are errors that name the file; what came before the damage is
	// used.
	limits.Spool = func() (Spool, error) { return &memorySpool{full: errors.New("no room")}, nil }
	if _, err := Expand(src(), limits, nil); err == nil || !bytes.Contains([]byte(err.Error()), []byte("a.sym.zst: zstd data")) {
		t.Errorf("no room: %v", err)
	}
	limits.Spool = nil
	if _, err := Expand(withMemory(src(), 9<<20), limits, nil); !tooMuch(err) || Refused(err) {
		t.Errorf("no spool: %v", err)
	}
	cut := input.New("a.sym.zst", bytes.NewReader(packed.Bytes()[:packed.Len()/2]), int64(packed.Len()/2))
	if out, err := Expand(cut, limits, nil); err == nil || len(out) != 1 || out[0].Size < 1<<20 {
		t.Errorf("cut: %v %v", out, err)
	}
}

// TestDeflateSpooled: large deflate data are read from a spool, and never unpacked again; one that
// has no room (any more) is an error that names the file.
func TestDeflateSpooled(t *testing.T) {
	text := append([]byte(symText), symLike(10<<20)...)
	packed := []byte(gz(string(text)))
	for _, spool := range []*memorySpool{{}, {full: errors.New("no room")}, {full: errors.New("no room"), room: 5 << 20}} {
		limits := Limits{KeepWhole: 1 << 20, Spool: func() (Spool, error) { return spool, nil }}
		reads := &counted{Reader: bytes.NewReader(packed)}
		out, err := Expand(input.New("a.sym.gz", reads, int64(len(packed))), limits, nil)
		if spool.full != nil {
			wantProblem(t, err, "a.sym.gz", "no room")
			continue
		}
		if err != nil || len(out) != 1 || out[0].Size != int64(len(text)) {
			t.Fatal(out, err)
		}
		unpacked := reads.n
		for _, at := range []int64{5 << 20, 0, 9<<20 + 12345, 300, 7 << 20, out[0].Size - 700} {
			p := make([]byte, 700)
			if _, err := out[0].ReadDirect(p, at); err != nil || !bytes.Equal(p, text[at:at+700]) {
				t.Errorf("at %d: %v", at, err)
			}
		}
		if reads.n != unpacked || len(spool.data) != len(text) {
			t.Errorf("%d packed bytes were read again; %d of %d are in the spool", reads.n-unpacked, len(spool.data), len(text))
		}
	}
}

// counted counts what is read.
type counted struct {
	*bytes.Reader
	n int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n += n
	return n, err
}
