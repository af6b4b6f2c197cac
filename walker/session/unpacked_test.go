package session

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// A compressed section that claims to be larger than usual is refused, and the file says so, unless the user
// allows as much.
func TestSectionUnpacksToMore(t *testing.T) {
	const size = 1 << 30
	packed := append(binary.BigEndian.AppendUint64([]byte("ZLIB"), size), elftest.Zlib(make([]byte, 100))...)
	program := elfOf(10, elftest.Section{Name: ".zdebug_info", Type: 1, Data: packed}).Bytes()
	for _, allowed := range []int64{0, size} {
		fs := NewFiles(Options{OpenBinary: OpenBinary})
		fs.Add(input.FromBytes("a.dmp", elfDump()))
		src := input.New("app", bytes.NewReader(program), int64(len(program)))
		src.MaxUnpacked = allowed
		id := fs.Add(src)[0].ID
		fs.Report(0)
		if it := fs.Items()[id]; it.Refused != (allowed == 0) || !it.Usable {
			t.Errorf("%d bytes are allowed: %+v; %v", allowed, it, fs.Budget().Err())
		}
	}
}
