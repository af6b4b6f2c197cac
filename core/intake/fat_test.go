package intake

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// fat makes a fat file: words of its header, then data, then a Mach-O header for each processor.
func fat(words []uint32, slices ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	for _, cputype := range slices {
		b = append(b, "\xcf\xfa\xed\xfe"...)
		b = binary.LittleEndian.AppendUint32(b, cputype)
		b = append(b, 0, 0, 0, 0, 6, 0, 0, 0)
	}
	return b
}

// TestFat: a fat file is an archive of a file for each processor, which are parts of it.
func TestFat(t *testing.T) {
	const amd64, arm64 = 0x1000007, 0x100000c
	for _, c := range []struct {
		name  string
		data  []byte
		want  string
		wrong string
	}{
		{"two", fat([]uint32{0xcafebabe, 2, amd64, 3, 48, 16, 0, arm64, 2, 64, 16, 0}, amd64, arm64), "a/amd64/a a/arm64/a", ""},
		{"offsets of 64 bits", fat([]uint32{fat64, 1, arm64, 2, 0, 40, 0, 16, 0, 0}, arm64), "a/arm64/a", ""},
		{"two of one processor", fat([]uint32{0xcafebabe, 2, arm64, 0, 48, 16, 0, arm64, 0x80000002, 64, 16, 0}, arm64, arm64), "a/arm64/a a/arm64-2/a", ""},
		{"one outside", fat([]uint32{0xcafebabe, 2, arm64, 0, 48, 16, 0, amd64, 3, 64, 17, 0}, arm64, amd64), "a/arm64/a", `member "amd64": 17 bytes at offset 0x40, where the file has 80 in all`},
		{"a header that is cut off", fat([]uint32{0xcafebabe, 40, arm64, 0, 48, 16, 0, amd64}, arm64)[:32], "", "fat header"},
		{"many claimed", fat([]uint32{fat64, 0xffffffff, arm64, 0}), "", "fat header"},
	} {
		files, err := Expand(input.FromBytes("a", c.data), Limits{}, nil)
		var names []string
		for _, f := range files {
			if g := Sniff(f); g.Kind == MachO {
				names = append(names, f.Name)
			}
		}
		got := strings.Join(names, " ")
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) || c.want != "" && got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
