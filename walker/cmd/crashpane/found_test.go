package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestNamedAndFound: a symbol file is used by the same rules whether it is named, in a folder or in
// an archive.
func TestNamedAndFound(t *testing.T) {
	raw, err := os.ReadFile(codecSym)
	if err != nil {
		t.Fatal(err)
	}
	module, rest, _ := strings.Cut(string(raw), "\n")
	info, rest, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(info, "INFO CODE_ID ") {
		t.Fatal(info)
	}
	const zeros, other = "000000000000000000000000000000000", "C19F54F3834E401B9A6B97A1CCACE8B90"
	with := func(id string) string { return strings.Replace(module, codecID, id, 1) + "\n" }
	wide := func(text string, order binary.ByteOrder) string {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"))) {
			b = append(b, 0, 0)
			order.PutUint16(b[len(b)-2:], u)
		}
		return string(b)
	}
	packed := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		used bool
	}{
		"its id":                             {string(raw), true},
		"zeros and the code id":              {with(zeros) + info + "\n" + rest, true},
		"no id and the code id":              {strings.Replace(with(""), "  ", " ", 1) + info + "\n" + rest, true},
		"no MODULE and the code id":          {info + "\n" + rest, true},
		"zeros and no code id":               {with(zeros) + rest, false},
		"zeros and another code id":          {with(zeros) + "INFO CODE_ID 0011223344556677\n" + rest, false},
		"an id of another writer":            {with(other) + "INFO OTHER_ID " + codecID + "\n" + rest, true},
		"another id":                         {with(other) + rest, false},
		"CR alone":                           {strings.ReplaceAll(string(raw), "\n", "\r"), true},
		"UTF-16":                             {wide(string(raw), binary.LittleEndian), true},
		"big-endian UTF-16":                  {wide(string(raw), binary.BigEndian), true},
		"UTF-16, packed":                     {packed(wide(string(raw), binary.LittleEndian)), true},
		"UTF-16, zeros and the code id":      {wide(with(zeros)+info+"\n"+rest, binary.LittleEndian), true},
		"UTF-16 of another build's id alone": {wide(with(other)+rest, binary.LittleEndian), false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "deep", "some.txt")
		archive := filepath.Join(t.TempDir(), "a.zip")
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("deep/some.txt")
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(c.text))
		z.Close()
		os.Mkdir(filepath.Dir(path), 0o755)
		for file, text := range map[string]string{path: c.text, archive: b.String()} {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, from := range []string{path, dir, archive} {
			_, out, stderr := crashpane("walk", "--format", "machine", codecDmp, from)
			if used := strings.Contains(out, "|libtilecodec.so|edge_offset|"); used != c.used {
				t.Errorf("%s, %s: used %v\n%s", name, from, used, stderr)
			}
			// Files that are not used are always reported, one by one or by their number.
			if said := strings.Contains(stderr, "not used") || strings.Contains(stderr, "of no module"); said == c.used {
				t.Errorf("%s, %s: %q", name, from, stderr)
			}
		}
	}
}

// TestOtherName: a file without a build id whose hash is the module's, and whose name is another, is
// said to be that wherever it was found, with what to do.
func TestOtherName(t *testing.T) {
	raw, err := os.ReadFile(codecSym)
	if err != nil {
		t.Fatal(err)
	}
	module, rest, _ := strings.Cut(string(raw), "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	module = strings.Replace(strings.Replace(module, codecID, "C19F54F3834E401B9A6B97A1CCACE8B90", 1), "libtilecodec.so", "renamed.so", 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "renamed.so.sym")
	if err := os.WriteFile(path, []byte(module+"\nINFO OTHER_ID "+codecID+"\n"+rest), 0o644); err != nil {
		t.Fatal(err)
	}
	want := "its code begins like that of libtilecodec.so, whose id " + codecID + " is made of that, but its name is renamed.so; --use MODULE=" + path
	for _, from := range []string{path, dir} {
		if _, _, stderr := crashpane("walk", codecDmp, from); !strings.Contains(stderr, want) {
			t.Errorf("%s: %q", from, stderr)
		}
	}
}
