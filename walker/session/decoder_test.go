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

// TestZipOfOtherMethods: a member in a format that another program here reads says so, so that this
// one is fetched; of a format that nobody reads it is said that it has to be unpacked.
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
		it := session.NewFiles(session.Options{}).Add(src)[0]
		if it.NeedsDecoder != c.decoder || it.Usable || !strings.Contains(it.Message, c.says) {
			t.Errorf("method %d: %+v", c.method, it)
		}
		if !c.decoder {
			continue
		}
		as := func(r io.Reader, _ int64) (io.Reader, error) { return r, nil }
		got := session.NewFiles(session.Options{Limits: intake.Limits{Unpackers: map[intake.Kind]intake.Unpacker{intake.Zstd: as, intake.XZ: as}}}).Add(src)
		if len(got) != 2 || got[0].NeedsDecoder || got[1].SymName != "app" {
			t.Errorf("method %d, with a reader: %+v", c.method, got)
		}
	}
}

// TestCabinetNeedsDecoder: a cabinet says that another program here opens it; one that does gives
// what is in it.
func TestCabinetNeedsDecoder(t *testing.T) {
	src := input.FromBytes("app.pd_", []byte("MSCF\x00\x00\x00\x00 and so on"))
	if it := session.NewFiles(session.Options{}).Add(src)[0]; !it.NeedsDecoder || it.Usable || !strings.Contains(it.Message, "cabinet") {
		t.Errorf("%+v", it)
	}
	limits := intake.Limits{Archives: map[intake.Kind]func(*input.Source, func(string, int64, func() (io.Reader, error)) bool) error{
		intake.Cab: func(_ *input.Source, member func(string, int64, func() (io.Reader, error)) bool) error {
			text := "MODULE windows x86_64 5A9832E5287241C1838ED98914E9B7FF1 app.pdb\n"
			member(`dir\app.sym`, int64(len(text)), func() (io.Reader, error) { return strings.NewReader(text), nil })
			return nil
		}}}
	got := session.NewFiles(session.Options{Limits: limits}).Add(src)
	if len(got) != 2 || got[0].NeedsDecoder || got[0].Kind != session.KindArchive || got[1].Name != "app.pd_/dir/app.sym" || got[1].SymName != "app.pdb" {
		t.Errorf("%+v", got)
	}
}
