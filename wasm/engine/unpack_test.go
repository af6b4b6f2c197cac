package engine

import (
	"archive/zip"
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/web/protocol"
)

// zipWithSlow is a zip of the sample and of a file that takes long to unpack, which is its first.
func zipWithSlow(t *testing.T, size int) []byte {
	t.Helper()
	var slow, b bytes.Buffer
	x, err := xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&slow)
	if err != nil {
		t.Fatal(err)
	}
	x.Write(make([]byte, size))
	x.Close()
	z := zip.NewWriter(&b)
	add := func(name string, content []byte) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	add("slow.sym.xz", slow.Bytes())
	for _, name := range []string{"libtilecodec.so.sym", "tilecruncher.dmp"} {
		content, err := os.ReadFile(sample + name)
		if err != nil {
			t.Fatal(err)
		}
		add(name, content)
	}
	z.Close()
	return b.Bytes()
}

// TestUnpackedInTurns: the first answer to an archive has the dump, other files go before what takes
// long, queries are answered in between, and what is cancelled is reported as such.
func TestUnpackedInTurns(t *testing.T) {
	data := zipWithSlow(t, 160<<20)
	k := newTalk(t)
	k.ask(&protocol.Add{Names: []string{"a.zip"}, Others: true}, input.FromBytes("a.zip", data))
	r, problem := last[*protocol.Added](k)
	if problem != "" || len(r.Dumps) != 1 || r.Rest == 0 || len(r.Items) != 2 {
		t.Fatalf("%s %+v", problem, r)
	}
	answers := 0
	for !r.PutOff {
		if r.Rest == 0 {
			t.Fatal("what takes long is not postponed")
		}
		if s := k.screen(-1); s.Stack == nil || len(s.Stack.Rows) == 0 {
			t.Error("no stack while the archive is unpacked")
		}
		answers++
		k.ask(&protocol.Add{Continue: r.Rest, Others: true}, nil)
		r, _ = last[*protocol.Added](k)
	}
	if answers == 0 {
		t.Error("no query was answered while the archive was unpacked")
	}
	if files := k.screen(-1).Files.Rows; !slices.ContainsFunc(files, func(f protocol.FileRow) bool { return f.Name == "a.zip/libtilecodec.so.sym" }) {
		t.Errorf("%+v", files)
	}
	k.ask(&protocol.LeaveOut{}, nil)
	k.ask(&protocol.Add{Continue: r.Rest}, nil)
	if r, _ := last[*protocol.Added](k); r.Rest != 0 || r.All != 1 {
		t.Errorf("after it was cancelled: %+v", r)
	}
	if row := k.screen(-1).Files.Rows[0]; row.Message != "a.zip: cancelled before all its files were unpacked" {
		t.Errorf("%q", row.Message)
	}
}
