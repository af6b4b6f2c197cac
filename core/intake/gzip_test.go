package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// gunzip reads data as the intake does.
func gunzip(data []byte) ([]byte, error) {
	var n int64
	return io.ReadAll(&members{in: &countedReader{bufio.NewReader(bytes.NewReader(data)), &n}})
}

func gzipped(t testing.TB, h gzip.Header, text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Header = h
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// full has all that a header can have.
var full = gzip.Header{Name: "a.sym", Comment: "a comment", Extra: []byte("XX\x02\x00ab"), ModTime: time.Unix(1e9, 0), OS: 3}

// headerSum is a file whose header has a checksum, which Go's library reads and does not write.
func headerSum(t testing.TB, sum byte) []byte {
	data := gzipped(t, gzip.Header{}, "text")
	data[3] |= 1 << 1 // FHCRC (RFC 1952, section 2.3.1)
	return append(append(bytes.Clone(data[:10]), sum, 0x74), data[10:]...)
}

func TestGzip(t *testing.T) {
	text := strings.Repeat("FUNC 1000 10 0 f\n", 5000)
	one, two := gzipped(t, full, text), gzipped(t, gzip.Header{}, "second")
	wrong, long := bytes.Clone(one), bytes.Clone(one)
	wrong[len(wrong)-8]++
	long[len(long)-4]++
	other := bytes.Clone(one)
	other[2] = 7 // a method that is not deflate
	for _, c := range []struct {
		name string
		data []byte
		want string
		err  error
	}{
		{"a full header", one, text, nil},
		{"members", append(bytes.Clone(one), two...), text + "second", nil},
		{"something behind", append(bytes.Clone(two), "zeros"...), "second", errNotGzip},
		{"one byte behind", append(bytes.Clone(two), 0x1f), "second", errNotGzip},
		{"a wrong checksum", wrong, text, ErrChecksum},
		{"a wrong size", long, text, ErrChecksum},
		{"another method", other, "", errNotGzip},
		{"a header's wrong checksum", headerSum(t, 0xff), "", errNotGzip},
		{"cut off in the trailer", one[:len(one)-3], text, io.ErrUnexpectedEOF},
		{"cut off in the second header", append(bytes.Clone(one), two[:5]...), text, io.ErrUnexpectedEOF},
		{"nothing", nil, "", io.ErrUnexpectedEOF},
	} {
		got, err := gunzip(c.data)
		if string(got) != c.want || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %d bytes and %v, want %d and %v", c.name, len(got), err, len(c.want), c.err)
		}
	}
	for n := range one {
		if _, err := gunzip(one[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are read without an error", n, len(one))
		}
	}
}

// FuzzGzip compares with Go's library, which refuses names of over 512 bytes.
func FuzzGzip(f *testing.F) {
	one := gzipped(f, full, "some text")
	f.Add(one)
	f.Add(append(bytes.Clone(one), gzipped(f, gzip.Header{}, "more")...))
	f.Add(headerSum(f, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := gunzip(data)
		var want []byte
		z, wantErr := gzip.NewReader(bytes.NewReader(data))
		if wantErr == nil {
			want, wantErr = io.ReadAll(z)
		}
		if err == nil && wantErr != nil && len(data) < 512 || wantErr == nil && (err != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%q and %v; the library: %q and %v", got, err, want, wantErr)
		}
	})
}
