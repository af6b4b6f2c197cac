package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
)

// counter counts the reads that reach the reader below.
type counter struct {
	r     *bytes.Reader
	reads int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.r.ReadAt(p, off)
}

func pattern(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return p
}

// TestReadAt reads pieces of all sizes at random from every kind of Source.
func TestReadAt(t *testing.T) {
	data := pattern(3*blockSize + 123)
	c := &counter{r: bytes.NewReader(data)}
	file := New("file", c, int64(len(data)))
	outer := append(append(pattern(777), data...), pattern(99)...)
	sources := map[string]*Source{
		"file":          file,
		"memory":        FromBytes("memory", data),
		"sub of memory": FromBytes("m", outer).Sub("s", 777, int64(len(data))),
		"sub of file":   New("f", bytes.NewReader(outer), int64(len(outer))).Sub("s", 777, int64(len(data))),
	}
	for name, s := range sources {
		rnd := rand.New(rand.NewSource(1))
		for range 2000 {
			off := rnd.Int63n(int64(len(data) + 100))
			n := rnd.Intn([]int{4, 100, 3 * blockSize}[rnd.Intn(3)])
			p := make([]byte, n)
			got, err := s.ReadAt(p, off)
			want := data[min(int(off), len(data)):min(int(off)+n, len(data))]
			if got != len(want) || !bytes.Equal(p[:got], want) || (got < n) != (err == io.EOF) {
				t.Fatalf("%s: %d bytes at %d: %d, %v", name, n, off, got, err)
			}
			direct := make([]byte, n)
			if got, err := s.ReadDirect(direct, off); got != len(want) || !bytes.Equal(direct[:got], want) || (got < n) != (err == io.EOF) {
				t.Fatalf("%s: direct %d bytes at %d: %d, %v", name, n, off, got, err)
			}
			b, err := s.Bytes(off, int64(n))
			if (err == nil) != (int(off)+n <= len(data)) || err == nil && !bytes.Equal(b, want) {
				t.Fatalf("%s: Bytes(%d, %d): %d bytes, %v", name, off, n, len(b), err)
			}
		}
	}
	before := c.reads
	for i := range int64(1000) { // small reads close to each other
		if _, err := file.Bytes(2*blockSize+i, 8); err != nil {
			t.Fatal(err)
		}
	}
	if c.reads > before+1 {
		t.Errorf("1000 small reads of a block cost %d reads of the file", c.reads-before)
	}
}

// TestBlockOfPart: a part's blocks are those of the whole file, kept there, and never show what
// lies around the part.
func TestBlockOfPart(t *testing.T) {
	data := pattern(3*blockSize + 123)
	c := &counter{r: bytes.NewReader(data)}
	whole := New("file", c, int64(len(data)))
	for _, part := range []*Source{whole.Sub("part", 1000, 2*blockSize), whole.Sub("outer", 500, 3*blockSize).Sub("part", 500, 2*blockSize)} {
		for off := int64(0); off < part.Size; off += 777 {
			block, start, err := part.Block(off)
			if err != nil || start < 0 || start > off || off >= start+int64(len(block)) || start+int64(len(block)) > part.Size ||
				!bytes.Equal(block, data[1000+start:][:len(block)]) {
				t.Fatalf("block at %d: %d bytes at %d, %v", off, len(block), start, err)
			}
		}
		if _, _, err := part.Block(part.Size); err == nil {
			t.Error("a block behind the part")
		}
	}
	if c.reads > 3 {
		t.Errorf("%d reads of the file for 3 blocks", c.reads)
	}
}

// TestBounds: claims beyond the file allocate nothing and say what was there.
func TestBounds(t *testing.T) {
	s := FromBytes("a.dmp", pattern(100))
	for _, c := range []struct {
		off, n int64
		want   string
	}{
		{90, 20, "a.dmp at offset 0x5a: expected 20 bytes, found only 10 bytes to the end of the file"},
		{0, 1 << 62, "expected 4611686018427387904 bytes"},
		{200, 1, "a file of 100 bytes"},
		{-1, 1, "a file of 100 bytes"},
		{0, -1, "-1 bytes"},
		{1<<63 - 1, 1<<63 - 1, "a file of 100 bytes"},
	} {
		_, err := s.Bytes(c.off, c.n)
		var fe *FormatError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Bytes(%d, %d): %v, want %q", c.off, c.n, err, c.want)
		}
	}
	if _, _, err := s.Block(100); err == nil {
		t.Error("a block beyond the end")
	}
	if n := s.Sub("x", 90, 1000).Size; n != 10 {
		t.Errorf("a part has %d bytes, want 10", n)
	}
	if n := s.Sub("x", 1000, 5).Size; n != 0 {
		t.Errorf("a part outside has %d bytes", n)
	}
	// A reader that has less than was promised is an error, not zeros.
	short := New("short", bytes.NewReader(pattern(10)), 100)
	if _, err := short.Bytes(0, 50); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("short reader: %v", err)
	}
	if New("x", nil, -5).Size != 0 {
		t.Error("a negative size")
	}
}

// TestNeedError: what a reader lacks comes through everything unchanged.
func TestNeedError(t *testing.T) {
	need := &NeedError{Name: "r", Ranges: []Range{{0, 10}}}
	s := New("r", failing{need}, 1000)
	var got *NeedError
	if _, err := s.Bytes(0, 10); !errors.As(err, &got) || got != need {
		t.Errorf("Bytes: %v", err)
	}
	if _, err := s.ReadAt(make([]byte, 10), 0); !errors.As(err, &got) {
		t.Errorf("ReadAt: %v", err)
	}
	c := NewCursor(s, "part", 0, 100, binary.LittleEndian)
	if c.U32(); !errors.As(c.Err(), &got) {
		t.Errorf("cursor: %v", c.Err())
	}
	if _, err := New("r", failing{io.ErrClosedPipe}, 1000).Bytes(0, 10); !errors.Is(err, io.ErrClosedPipe) || !strings.HasPrefix(err.Error(), "r at offset 0x0: a read error") {
		t.Errorf("a read error: %v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestCursor(t *testing.T) {
	data := append(make([]byte, blockSize-3), pattern(100)...) // values lie across the first two blocks
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for name, s := range map[string]*Source{"memory": FromBytes("m", data), "file": New("f", bytes.NewReader(data), int64(len(data)))} {
			c := NewCursor(s, "part", blockSize-3, 50, order)
			p := data[blockSize-3:]
			if got, want := c.U64(), order.Uint64(p); got != want {
				t.Errorf("%s: u64 %#x, want %#x", name, got, want)
			}
			if got, want := c.U32(), order.Uint32(p[8:]); got != want {
				t.Errorf("%s: u32 %#x, want %#x", name, got, want)
			}
			if got, want := c.U16(), order.Uint16(p[12:]); got != want {
				t.Errorf("%s: u16 %#x, want %#x", name, got, want)
			}
			if got := c.U8(); got != p[14] {
				t.Errorf("%s: u8 %#x", name, got)
			}
			c.Skip(5)
			if got := c.Bytes(10); !bytes.Equal(got, p[20:30]) {
				t.Errorf("%s: bytes % x", name, got)
			}
			var fill [4]byte
			if c.Fill(fill[:]); !bytes.Equal(fill[:], p[30:34]) {
				t.Errorf("%s: fill % x", name, fill)
			}
			if got := c.I32(); got != int32(order.Uint32(p[34:])) {
				t.Errorf("%s: i32 %d", name, got)
			}
			if c.Left() != 12 || c.Off() != blockSize-3+38 || c.Err() != nil {
				t.Errorf("%s: left %d, off %d, %v", name, c.Left(), c.Off(), c.Err())
			}
		}
	}
}

// TestCursorSticks: the first error stays, names its place, and everything after it is zero.
func TestCursorSticks(t *testing.T) {
	s := FromBytes("a.dmp", pattern(100))
	for _, c := range []struct {
		off, size int64
		do        func(c *Cursor)
		want      string
	}{
		{10, 6, func(c *Cursor) { c.U32(); c.U32() }, "a.dmp: part at offset 0xe: expected 4 more bytes, found 2 bytes to the end of it"},
		{96, 50, func(c *Cursor) { c.U64() }, "found 4 bytes to the end of the file"},
		{10, 6, func(c *Cursor) { c.Bytes(1 << 60) }, "1152921504606846976 more bytes"},
		{10, 6, func(c *Cursor) { c.Skip(-1) }, "-1 more bytes"},
		{200, 6, func(c *Cursor) { c.U8() }, "at offset 0xc8: expected 1 more bytes, found 0 bytes to the end of the file"},
		{-1, 6, func(c *Cursor) { c.U8() }, "an offset and a size of 0 or more"},
		{1<<63 - 1, 1<<63 - 1, func(c *Cursor) { c.U8() }, "expected 1 more bytes"},
		{0, 50, func(c *Cursor) { c.Fail("a", "b"); c.Fail("c", "d") }, "expected a, found b"},
	} {
		cur := NewCursor(s, "part", c.off, c.size, binary.LittleEndian)
		c.do(cur)
		if cur.Err() == nil || !strings.Contains(cur.Err().Error(), c.want) {
			t.Errorf("%v, want %q", cur.Err(), c.want)
		}
		if cur.U64() != 0 || cur.U8() != 0 || cur.Bytes(1) != nil || cur.Left() != 0 {
			t.Errorf("%v: something was read after it", cur.Err())
		}
	}
}

func TestFormatError(t *testing.T) {
	for _, c := range []struct {
		e    FormatError
		want string
	}{
		{FormatError{File: "a.sym", Part: "FUNC record", Line: 7, Want: "a number", Have: `"x"`}, `a.sym: FUNC record at line 7: expected a number, found "x"`},
		{FormatError{File: "a", Offset: -1, Have: "an empty file"}, "a: an empty file"},
		{FormatError{File: "a", Offset: 16, Want: "more", Err: io.EOF}, "a at offset 0x10: expected more: EOF"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// FuzzCursor: any run of reads stays inside the part and never panics.
func FuzzCursor(f *testing.F) {
	f.Add([]byte("hello world"), int64(2), int64(5), []byte{1, 2, 4, 8, 9, 10})
	f.Fuzz(func(t *testing.T, data []byte, off, size int64, ops []byte) {
		c := NewCursor(FromBytes("f", data), "p", off, size, binary.BigEndian)
		for _, op := range ops {
			switch op % 7 {
			case 0:
				c.U8()
			case 1:
				c.U16()
			case 2:
				c.U32()
			case 3:
				c.U64()
			case 4:
				c.Skip(int64(op))
			case 5:
				c.Bytes(int64(op) << (op % 60))
			case 6:
				c.Fill(make([]byte, op))
			}
			if c.Err() == nil && (c.Off() < off || c.Off() > int64(len(data)) || c.Left() < 0) {
				t.Fatal(fmt.Sprint("outside: ", c.Off(), c.Left()))
			}
		}
	})
}

func BenchmarkCursor(b *testing.B) {
	data := pattern(1 << 20)
	s := New("f", bytes.NewReader(data), int64(len(data)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		c := NewCursor(s, "p", 0, int64(len(data)), binary.LittleEndian)
		for c.Left() >= 8 {
			c.U64()
		}
	}
}
