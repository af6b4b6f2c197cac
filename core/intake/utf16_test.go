package intake

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/crashpane/crashpane/core/input"
)

// utf16Of returns a text in UTF-16, with the mark of its byte order.
func utf16Of(text string, order binary.ByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

// TestUTF16: a symbol file in UTF-16 is the same text in UTF-8, of any size and in any archive, and
// what is not a character becomes the replacement character.
func TestUTF16(t *testing.T) {
	const module = "MODULE windows x86_64 0 a.pdb\r\n"
	// The buffer's end falls into the middle of a pair, and between the halves of others.
	long := module + strings.Repeat("FUNC 1000 10 0 f\U0001f600ö€\r\n", 20000)
	zipped := func(text string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create("in/a.sym")
		w.Write([]byte(text))
		z.Close()
		return b.String()
	}
	gzipped := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	for _, c := range []struct{ name, data, want string }{
		{"little-endian", utf16Of(long, le), long},
		{"big-endian", utf16Of(long, bige), long},
		{"without a mark", utf16Of(long, le)[2:], long},
		{"big-endian without a mark", utf16Of(long, bige)[2:], long},
		{"half a unit at the end", utf16Of(module, le) + "x", module},
		{"half a pair at the end", utf16Of(module, le) + "\x3d\xd8", module + "\ufffd"},
		{"halves without the other", utf16Of(module, le) + "\x3d\xd8x\x00\x00\xde", module + "\ufffdx\ufffd"},
		{"in a zip", zipped(utf16Of(long, le)), long},
		{"gzip in a zip in a zip", zipped(zipped(gzipped(utf16Of(module, le)))), module},
	} {
		for _, keep := range []int64{0, 1000} { // the latter goes to the spool
			spools := 0
			out, err := Expand(input.FromBytes("a.sym", []byte(c.data)), Limits{KeepWhole: keep, Spool: func() (Spool, error) { spools++; return &memorySpool{}, nil }}, nil)
			if err != nil || len(out) != 1 {
				t.Errorf("%s: %d files, %v", c.name, len(out), err)
				continue
			}
			got, err := out[0].Bytes(0, out[0].Size)
			if err != nil || string(got) != c.want {
				t.Errorf("%s: %v, %d bytes, want %d: %.100q", c.name, err, len(got), len(c.want), got)
			}
			if keep > 0 && len(c.want) > 1000 && spools == 0 {
				t.Errorf("%s: kept in memory", c.name)
			}
		}
	}
}
