package intake

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// listOf is what the list says, a line a member, and how it ends.
func listOf(data []byte) (lines []string, err error) {
	src := input.New("a.zip", bytes.NewReader(data), int64(len(data)))
	z, err := openZip(src)
	if err != nil {
		return nil, err
	}
	for {
		m, ok, err := z.next()
		if !ok {
			return lines, err
		}
		off, err := m.data(src)
		if err != nil {
			off = -1
		}
		lines = append(lines, fmt.Sprintf("%q %x %d %08x %d %d %d", m.name, m.flags, m.method, m.sum, m.packed, m.size, off))
	}
}

// theirs is the same by the standard library.
func theirs(data []byte) (lines []string, err error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if z == nil {
		return nil, err
	}
	for _, f := range z.File {
		off, err := f.DataOffset()
		if err != nil || off > int64(len(data)) {
			off = -1
		}
		lines = append(lines, fmt.Sprintf("%q %x %d %08x %d %d %d", f.Name, f.Flags, f.Method, f.CRC32, int64(min(f.CompressedSize64, math.MaxInt64)), int64(min(f.UncompressedSize64, math.MaxInt64)), off))
	}
	return lines, nil
}

// wide is an archive of one stored member whose numbers stand in fields of 64 bits (APPNOTE.TXT
// 4.3.14, 4.3.15, 4.5.3).
func wide(name, text string) []byte {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				b.WriteString(s)
				continue
			}
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	const none = uint32(0xffffffff)
	n := uint64(len(text))
	put("PK\x03\x04", uint16(45), uint16(0), uint16(0), uint32(0), uint32(7), none, none, uint16(len(name)), uint16(20), name,
		uint16(1), uint16(16), n, n, text)
	list := uint64(b.Len())
	put("PK\x01\x02", uint16(45), uint16(45), uint16(0), uint16(0), uint32(0), uint32(7), none, none, uint16(len(name)), uint16(32), uint16(0), uint16(0),
		uint16(0), uint32(0), none, name, uint16(0x5455), uint16(0), uint16(1), uint16(24), n, n, uint64(0))
	size := uint64(b.Len()) - list
	end := uint64(b.Len())
	put("PK\x06\x06", uint64(44), uint16(45), uint16(45), uint32(0), uint32(0), uint64(1), uint64(1), size, list)
	put("PK\x06\x07", uint32(0), end, uint32(1))
	put("PK\x05\x06", uint16(0), uint16(0), uint16(0xffff), uint16(0xffff), none, none, uint16(0))
	return b.Bytes()
}

func zipLists() map[string][]byte {
	plain := zipOf(member{"a.sym", symText, 8}, member{"dir/", "", 0}, member{`dir\b.dmp`, "MDMP", 0}, member{strings.Repeat("long/", 900) + "c", symText, 8})
	var noted bytes.Buffer
	w := zip.NewWriter(&noted)
	w.Create("a")
	w.SetComment("a comment")
	w.Close()
	return map[string][]byte{
		"plain": []byte(plain), "empty": []byte(zipOf()), "wide": wide("w.sym", symText),
		"behind a program": []byte("#!/bin/sh\n" + strings.Repeat("x", 5000) + plain),
		"with a comment":   noted.Bytes(),
		"many":             many(70_000),
	}
}

// many is an archive with more members than the record at the end can count without wider numbers.
func many(n int) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i)})
	}
	w.Close()
	return b.Bytes()
}

// TestZipList: the list of any archive is what the standard library reads of it.
func TestZipList(t *testing.T) {
	for name, data := range zipLists() {
		got, err := listOf(data)
		want, wantErr := theirs(data)
		if err != nil || wantErr != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v, %d members %.300q\nwant %v, %d %.300q", name, err, len(got), got, wantErr, len(want), want)
		}
	}
}

// A comment may begin as the record before it does; the standard library takes it for one.
func TestZipListComment(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.Create("a")
	w.SetComment("PK\x05\x06 is how such a record begins")
	w.Close()
	if got, err := listOf(b.Bytes()); err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

// TestZipListCut: an archive that is cut off anywhere, or claims anything, is an error or a shorter
// list, and no panic.
func TestZipListCut(t *testing.T) {
	whole := zipLists()["plain"][:]
	for n := range len(whole) {
		if got, err := listOf(whole[:n]); err == nil {
			t.Fatalf("cut at %d of %d: %q", n, len(whole), got)
		}
	}
	for _, name := range []string{"wide", "plain"} {
		data := zipLists()[name]
		from := bytes.Index(data, []byte("PK\x01\x02"))
		for at := from; at < len(data); at++ {
			if at > from+200 && at < len(data)-200 {
				continue // names, mostly
			}
			for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				broken := bytes.Clone(data)
				broken[at] = v
				listOf(broken)
				Expand(input.FromBytes("a.zip", broken), Limits{}, nil)
			}
		}
	}
}

// A list with a damaged part: the members before it are used.
func TestZipListDamaged(t *testing.T) {
	data := []byte(zipOf(member{"a.sym", symText, 8}, member{"b.sym", symText, 8}, member{"c.sym", symText, 8}))
	data[bytes.LastIndex(data, []byte("PK\x01\x02"))] = 'x'
	out, err := expand(string(data), Limits{})
	wantProblem(t, err, "crash.zip", "a damaged list of members; the 2 before are used")
	check(t, out, map[string]string{"crash.zip/a.sym": symText, "crash.zip/b.sym": symText})
}

// All members are there, and the list claims to be longer by less than one: the rest is nobody's.
func TestZipListRest(t *testing.T) {
	data := []byte(zipOf(member{"a.sym", symText, 8}))
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	for _, more := range []int{1, 45} {
		longer := slices.Concat(data[:end], make([]byte, more), data[end:])
		longer[end+more+12] += byte(more)
		out, err := expand(string(longer), Limits{})
		if err != nil {
			t.Errorf("%d bytes more: %v", more, err)
		}
		check(t, out, map[string]string{"crash.zip/a.sym": symText})
	}
}

// FuzzZipList: what the standard library reads of a list is read here, too, and the other way round
// for archives without damage.
func FuzzZipList(f *testing.F) {
	for name, data := range zipLists() {
		if name != "many" {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := listOf(data)
		want, wantErr := theirs(data)
		if wantErr == nil && want != nil && (err != nil || len(got) != len(want)) {
			t.Errorf("%v, %d members; want %d", err, len(got), len(want))
		}
	})
}

// Of members that share their bytes, those are used that an archive of its size may have.
func TestZipOverlap(t *testing.T) {
	const members = 300
	data := bytes.Repeat([]byte("MODULE Linux x86_64 0 a\n"), 1000)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.CreateHeader(&zip.FileHeader{Name: "0.sym", Method: zip.Store})
	f.Write(data)
	w.Close()
	one := b.Bytes()
	end := len(one) - 22
	at := int(binary.LittleEndian.Uint32(one[end+16:]))
	out := bytes.Clone(one[:at])
	for range members {
		out = append(out, one[at:end]...)
	}
	tail := bytes.Clone(one[end:])
	binary.LittleEndian.PutUint16(tail[8:], members)
	binary.LittleEndian.PutUint16(tail[10:], members)
	binary.LittleEndian.PutUint32(tail[12:], uint32(members*(end-at)))
	got, err := Expand(input.FromBytes("a.zip", append(out, tail...)), Limits{}, nil)
	if len(got) < 2 || len(got) > 5 || err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("%d members: %v", len(got), err)
	}
}

// TestOverlapBehindClaim: a member that claims more bytes than there can be does not hide that those after it
// overlap.
func TestOverlapBehindClaim(t *testing.T) {
	data := []byte(zipOf(member{"a.sym", symText, 0}))
	at := bytes.Index(data, []byte("PK\x01\x02"))
	end := bytes.Index(data, []byte("PK\x05\x06"))
	entry, tail := data[at:end], bytes.Clone(data[end:])
	le := binary.LittleEndian
	claim := bytes.Clone(entry)
	le.PutUint32(claim[20:], 0xffffffff)
	le.PutUint16(claim[30:], 12) // the extra field: id 1, 8 bytes
	claim = le.AppendUint64(append(claim[:46+5:46+5], 1, 0, 8, 0), 1<<63)
	const copies = 100
	archive := append(bytes.Clone(data[:at]), claim...)
	for range copies {
		archive = append(archive, entry...)
	}
	le.PutUint16(tail[8:], copies+1)
	le.PutUint16(tail[10:], copies+1)
	le.PutUint32(tail[12:], uint32(len(archive)-at))
	out, err := expand(string(append(archive, tail...)), Limits{})
	if err == nil || !strings.Contains(err.Error(), "members that overlap") || len(out) > copies {
		t.Errorf("%d members, %v", len(out), err)
	}
}
