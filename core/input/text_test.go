package input

import (
	"errors"
	"strings"
	"testing"
)

// TestText reads texts of a file in memory and of one that is read in blocks, within a block and over
// its end.
func TestText(t *testing.T) {
	long := strings.Repeat("long", 20_000)
	data := "one\x00\x00" + long + "\x00rest"
	for _, src := range []*Source{FromBytes("a", []byte(data)), New("a", strings.NewReader(data), int64(len(data)))} {
		for _, c := range []struct {
			off, limit int64
			want       string
			fails      bool
		}{
			{0, 100, "one", false}, {1, 100, "ne", false}, {0, 2, "on", false}, {3, 100, "", false}, {0, 0, "", false},
			{5, 1 << 20, long, false}, {5, 70_000, long[:70_000], false},
			{int64(len(data)) - 4, 100, "rest", true}, {int64(len(data)) - 4, 4, "rest", false}, {int64(len(data)), 100, "", true}, {-1, 100, "", true},
		} {
			got, err := src.Text(c.off, c.limit)
			var format *FormatError
			if got != c.want || c.fails != errors.As(err, &format) {
				t.Errorf("%d bytes at %d: %d bytes %.10q (%v), want %d", c.limit, c.off, len(got), got, err, len(c.want))
			}
		}
	}
}

// TestTextCosts: a text that many records point to is read only as often as the Budget allows.
func TestTextCosts(t *testing.T) {
	const size = 1 << 16
	src := FromBytes("a", make([]byte, size))
	for i := range src.data {
		src.data[i] = 'a'
	}
	src.Budget = &Budget{}
	src.Budget.Give(size)
	reads := src.Budget.Limit(Work) / (size / bytesPerStep)
	for range reads + 1 {
		if _, err := src.Text(0, size); err != nil {
			return
		}
	}
	t.Errorf("%d texts of %d bytes were read", reads, size)
}
