package intake

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
)

// TestSevenZipZstd: 7-Zip itself writes no Zstandard, but its forks do, by this method.
func TestSevenZipZstd(t *testing.T) {
	want := bytes.Repeat([]byte("FUNC 1000 20 0 main\n"), 5000)
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := w.EncodeAll(want, nil)
	number := func(n int) string { return string(binary.LittleEndian.AppendUint32([]byte{0xf0}, uint32(n))) }
	list := "\x01\x04\x06\x00\x01\x09" + number(len(packed)) + "\x00\x07\x0b\x01\x00\x01\x24\x04\xf7\x11\x01\x05\x01\x05\x03\x00\x00\x0c" + number(len(want)) +
		"\x00\x00\x05\x01\x11\x05\x00a\x00\x00\x00\x00\x00"
	start := binary.LittleEndian.AppendUint64(nil, uint64(len(packed)))
	start = binary.LittleEndian.AppendUint64(start, uint64(len(list)))
	start = binary.LittleEndian.AppendUint32(start, crc32.ChecksumIEEE([]byte(list)))
	archive := binary.LittleEndian.AppendUint32([]byte("7z\xbc\xaf\x27\x1c\x00\x04"), crc32.ChecksumIEEE(start))
	archive = append(append(append(archive, start...), packed...), list...)
	out, err := Expand(input.FromBytes("a.7z", archive), Limits{}, nil)
	if err != nil || len(out) != 1 || content(t, out[0]) != string(want) {
		t.Errorf("%v, %v", out, err)
	}
}
