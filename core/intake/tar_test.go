package intake

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
)

var modified = time.Unix(1700000000, 0)

// tarOf makes a tar archive of names and contents in a format of the standard library's writer.
func tarOf(format tar.Format, files ...[2]string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o644, ModTime: modified, Format: format, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f[0], "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			panic(err)
		}
		w.Write([]byte(f[1]))
	}
	w.Close()
	return b.String()
}

// sumTar writes the check sum into a header.
func sumTar(header []byte) {
	copy(header[148:], "        ")
	sum := 0
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// TestTar: the members of tars in all formats, compressed or not, are the files that were put in.
func TestTar(t *testing.T) {
	long := strings.Repeat("folder/", 30) + "a.sym"
	files := [][2]string{{"./a/", ""}, {"./a/app.sym", symText}, {long, symText + "x"}, {"empty", ""}, {"a/._app.sym", "metadata"}, {"crash.dmp", "MDMP" + noise(70000)}}
	want := map[string]string{"crash.zip/a/app.sym": symText, "crash.zip/" + long: symText + "x", "crash.zip/empty": "", "crash.zip/crash.dmp": files[5][1]}
	for _, format := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU} {
		data := tarOf(format, files...)
		var packed bytes.Buffer
		z, _ := zstd.NewWriter(&packed)
		z.Write([]byte(data))
		z.Close()
		for _, data := range []string{data, gz(data), packed.String()} {
			out, err := expand(data, Limits{})
			if err != nil {
				t.Error(format, err)
			}
			check(t, out, want)
			if len(out) > 0 && out[0].Modified != modified.Unix() {
				t.Errorf("%v: modified %d", format, out[0].Modified)
			}
		}
	}
	// One of before POSIX has no magic.
	old := []byte(tarOf(tar.FormatUSTAR, [2]string{"app.sym", symText}))
	clear(old[257:512])
	sumTar(old)
	out, err := expand(string(old), Limits{})
	if err != nil {
		t.Error(err)
	}
	check(t, out, map[string]string{"crash.zip/app.sym": symText})
	// A member is a part of the archive, and no copy.
	src := input.FromBytes("x.tar", old)
	if out, err := Expand(src, Limits{}, nil); err != nil || len(out) != 1 || out[0].Size != int64(len(symText)) {
		t.Error(out, err)
	}
}

// TestTarDepth: a compressed tar is one archive, so that what is in it may be as deep as in a zip.
func TestTarDepth(t *testing.T) {
	inner := zipOf(member{"a.sym.gz", gz(symText), 0})
	out, err := expand(gz(tarOf(tar.FormatGNU, [2]string{"in.zip", inner})), Limits{})
	if err != nil {
		t.Error(err)
	}
	check(t, out, map[string]string{"crash.zip/in.zip/a.sym": symText})
	data := symText
	for range 8 {
		data = gz(tarOf(tar.FormatGNU, [2]string{"in.tgz", data}))
	}
	if _, err := expand(data, Limits{}); err == nil || !strings.Contains(err.Error(), "too deep") {
		t.Errorf("eight compressed tars in each other: %v", err)
	}
}

// TestTarDamaged: what comes before the damage is used, and the message has the offset.
func TestTarDamaged(t *testing.T) {
	good := tarOf(tar.FormatPAX, [2]string{"a.sym", symText}, [2]string{"b.sym", symText})
	second := strings.LastIndex(good, "b.sym")
	change := func(at int, text string) string { return good[:at] + text + good[at+len(text):] }
	for name, c := range map[string]struct{ data, want string }{
		"check sum":    {change(second+1, "!"), "tar archive at offset 0x400: no header of a member"},
		"cut off":      {good[:second+300], "tar archive at offset 0x400: no header of a member"},
		"cut in bytes": {good[:second+520], `member "b.sym" at offset 0x600: a claimed size of 78 bytes, where the archive has 8`},
	} {
		out, err := expand(c.data, Limits{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(out) == 0 || out[0].Size != int64(len(symText)) {
			t.Errorf("%s: %d files, %v", name, len(out), err)
		}
	}
	sparse := []byte(good)
	header := sparse[second-second%512:]
	header[156] = tarSparse
	sumTar(header)
	if out, err := expand(string(sparse), Limits{}); err == nil || !strings.Contains(err.Error(), `member "b.sym" at offset 0x600: a file without its runs of zeros`) || len(out) != 1 {
		t.Errorf("a sparse member: %d files, %v", len(out), err)
	}
	for i := 0; i < len(good); i += 37 { // no cut is a panic or gives a file that was not there
		out, _ := expand(good[:i], Limits{})
		for _, f := range out {
			if f.Name != "crash.zip/a.sym" && f.Name != "crash.zip/b.sym" && f.Name != "crash.zip" {
				t.Errorf("cut at %d: %s", i, f.Name)
			}
		}
	}
	many := Limits{MaxMembers: 3}
	if out, err := expand(tarOf(tar.FormatGNU, [2]string{"a", "1"}, [2]string{"b", "2"}, [2]string{"c", "3"}, [2]string{"d", "4"}), many); err == nil || len(out) != 3 {
		t.Errorf("%d members where 3 are allowed: %v", len(out), err)
	}
}

// arOf makes an ar archive with names as GNU or BSD write them.
func arOf(bsd bool, files ...[2]string) string {
	out, names := arMagic, ""
	add := func(name, data string) {
		out += fmt.Sprintf("%-16s%-12d%-6d%-6d%-8o%-10d`\n", name, modified.Unix(), 0, 0, 0o644, len(data)) + data
		if len(data)&1 != 0 {
			out += "\n"
		}
	}
	if bsd {
		add("#1/12", "__.SYMDEF\x00\x00\x00")
		for _, f := range files {
			padded := f[0] + strings.Repeat("\x00", 4-len(f[0])&3)
			add(fmt.Sprintf("#1/%d", len(padded)), padded+f[1])
		}
		return out
	}
	add("/", "\x00\x00\x00\x00")
	for _, f := range files {
		names += f[0] + "/\n"
	}
	add("//", names)
	for _, f := range files {
		if len(f[0]) < 16 {
			add(f[0]+"/", f[1])
		} else {
			add(fmt.Sprintf("/%d", strings.Index(names, f[0])), f[1])
		}
	}
	return out
}

// TestAr: the objects of a static library are its members, whoever wrote it, and also in a fat one.
func TestAr(t *testing.T) {
	object := string(fat(nil, 0x100000c))
	files := [][2]string{{"short.o", object}, {"a name that is long.o", object + "x"}, {"notes.txt", "no object"}}
	want := map[string]string{"crash.zip/short.o": object, "crash.zip/a name that is long.o": object + "x"}
	for _, bsd := range []bool{true, false} {
		data := arOf(bsd, files...)
		out, err := expand(data, Limits{})
		if err != nil {
			t.Error(err)
		}
		check(t, out, want)
		for _, f := range out {
			if f.Modified != modified.Unix() {
				t.Errorf("%s: modified %d", f.Name, f.Modified)
			}
		}
		for i := range len(data) {
			expand(data[:i], Limits{})
		}
		if _, err := expand(data[:len(data)-75], Limits{}); err == nil || !strings.Contains(err.Error(), "offset 0x") {
			t.Errorf("cut off: %v", err)
		}
		var b []byte
		for _, w := range []uint32{0xcafebabe, 1, 0x100000c, 0, 28, uint32(len(data)), 0} {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		if out, err := Expand(input.FromBytes("lib.a", append(b, data...)), Limits{}, nil); err != nil || len(out) != 2 || out[0].Name != "lib.a/arm64/lib.a/short.o" {
			t.Errorf("a fat library: %v %v", out, err)
		}
	}
	if _, err := expand(arOf(false, [2]string{"a.obj", "\x64\x86"}), Limits{}); err == nil || !strings.Contains(err.Error(), "none of its 1 files is a Mach-O object") {
		t.Error(err)
	}
	deb := arOf(false, [2]string{"debian-binary", "2.0\n"}, [2]string{"data.tar.gz", gz(tarOf(tar.FormatGNU, [2]string{"./usr/lib/debug/a.sym", symText}))})
	out, err := expand(deb, Limits{})
	if err != nil {
		t.Error(err)
	}
	check(t, out, map[string]string{"crash.zip/data.tar/usr/lib/debug/a.sym": symText})
}

// FuzzTar: no tar or ar archive makes Expand panic, or gives more bytes than the limits allow.
func FuzzTar(f *testing.F) {
	for _, format := range []tar.Format{tar.FormatUSTAR, tar.FormatPAX, tar.FormatGNU} {
		f.Add([]byte(tarOf(format, [2]string{"a.sym", symText}, [2]string{strings.Repeat("d/", 60) + "b", "x"})))
	}
	f.Add([]byte(arOf(true, [2]string{"a.o", string(fat(nil, 7))})))
	f.Add([]byte(arOf(false, [2]string{"a long name, over sixteen.o", string(fat(nil, 7))})))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, _ := Expand(input.FromBytes("a", data), Limits{MaxStream: 1 << 20, RatioFloor: 1 << 20}, nil)
		for _, s := range out {
			if s.Size > 1<<20 && s.Size > int64(len(data)) {
				t.Errorf("%s has %d bytes", s.Name, s.Size)
			}
		}
	})
}

// TestTimes: members of a zip have the time in UTC that Info-ZIP's field says, and no other, since that
// of the list has no time zone. A compressed tar is named as one.
func TestTimes(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, h := range []*zip.FileHeader{{Name: "a.o", Modified: modified}, {Name: "b.o", Modified: modified, Method: zip.Deflate}, {Name: "c.o", ModifiedDate: 0x5000}} {
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(symText))
	}
	z.Close()
	out, err := expand(b.String(), Limits{})
	if err != nil || len(out) != 3 || out[0].Modified != modified.Unix() || out[1].Modified != modified.Unix() || out[2].Modified != 0 {
		t.Errorf("%v %v", out, err)
	}
	for name, want := range map[string]string{"x.tgz": "x.tar", "X.TXZ": "X.tar", "x.tzst": "x.tar", "x.tar.gz": "x.tar"} {
		if got := gunzipped(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestTarCutInName: an archive that ends in the middle of a long name says so.
func TestTarCutInName(t *testing.T) {
	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		data := tarOf(format, [2]string{"a.sym", symText}, [2]string{strings.Repeat("folder/", 100) + "b.sym", symText})
		out, err := expand(data[:512+512+512+100], Limits{})
		if len(out) != 1 || err == nil || !strings.Contains(err.Error(), "in the middle of a member's name") {
			t.Errorf("%v: %v, %v", format, out, err)
		}
	}
}
