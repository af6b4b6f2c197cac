package session_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/session"
)

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestZipOfOtherMethods: a member in a format that another program here reads says so, so that this one is fetched; of a format that
// nobody reads it is said that it has to be unpacked.
func TestZipOfOtherMethods(t *testing.T) {
	for _, c := range []struct {
		method  uint16
		decoder bool
		says    string
	}{{93, true, "zstd"}, {95, true, "xz"}, {12, false, "bzip2, which is not supported"}} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		z.RegisterCompressor(c.method, func(w io.Writer) (io.WriteCloser, error) { return nopCloser{w}, nil })
		w, err := z.CreateHeader(&zip.FileHeader{Name: "app.sym", Method: c.method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, "MODULE Linux x86_64 000000000000000000000000000000000 app\n")
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		src := input.FromBytes("syms.zip", b.Bytes())
		it := session.New(session.Options{}).Add(src)[0]
		if it.NeedsDecoder != c.decoder || it.Usable || !strings.Contains(it.Message, c.says) {
			t.Errorf("method %d: %+v", c.method, it)
		}
		if !c.decoder {
			continue
		}
		as := func(r io.Reader) (io.Reader, error) { return r, nil }
		got := session.New(session.Options{Limits: intake.Limits{Unpackers: map[intake.Kind]func(io.Reader) (io.Reader, error){intake.Zstd: as, intake.XZ: as}}}).Add(src)
		if len(got) != 2 || got[0].NeedsDecoder || got[1].SymName != "app" {
			t.Errorf("method %d, with a reader: %+v", c.method, got)
		}
	}
}
