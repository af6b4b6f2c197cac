package input_test

import (
	"bytes"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/input/inputtest"
)

// TestReadMany: the bytes are those of the places, of a file and of a part of it, and a place
// outside of them is an error.
func TestReadMany(t *testing.T) {
	data := []byte("0123456789abcdefghij")
	reader := inputtest.NewTogether(data)
	for name, c := range map[string]struct {
		src  *input.Source
		want string
		many bool
	}{
		"plain":                 {input.New("a", bytes.NewReader(data), 20), "12ij", false},
		"together":              {input.New("a", reader, 20), "12ij", true},
		"a part":                {input.New("a", reader, 20).Sub("b", 2, 18), "34ij", true},
		"a part of a plain one": {input.New("a", bytes.NewReader(data), 20).Sub("b", 2, 18), "34ij", false},
	} {
		parts := []input.Part{{Off: 1, Data: make([]byte, 2)}, {Off: c.src.Size - 2, Data: make([]byte, 2)}}
		if err := input.ReadMany(c.src, parts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(parts[0].Data) + string(parts[1].Data); got != c.want || input.ReadsMany(c.src) != c.many {
			t.Errorf("%s: %q, want %q; reads many: %v", name, got, c.want, input.ReadsMany(c.src))
		}
		for _, off := range []int64{-1, c.src.Size - 1, c.src.Size + 5} {
			if input.ReadMany(c.src, []input.Part{{Off: off, Data: make([]byte, 2)}}) == nil {
				t.Errorf("%s: nothing wrong with 2 bytes at %d of %d", name, off, c.src.Size)
			}
		}
	}
	if reader.Many != 2 {
		t.Errorf("asked %d times", reader.Many)
	}
}
