package input_test

import (
	"bytes"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// together is a reader of many places, which counts how often it is asked.
type together struct {
	*bytes.Reader
	asked int
}

func (m *together) ReadManyAt(parts []input.Part) error {
	m.asked++
	for _, p := range parts {
		if _, err := m.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// TestReadMany: the bytes are those of the places, of a file and of a part of it, and a place outside of them is an error.
func TestReadMany(t *testing.T) {
	data := []byte("0123456789abcdefghij")
	reader := &together{Reader: bytes.NewReader(data)}
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
		if err := c.src.ReadMany(parts); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(parts[0].Data) + string(parts[1].Data); got != c.want || c.src.ReadsMany() != c.many {
			t.Errorf("%s: %q, want %q; reads many: %v", name, got, c.want, c.src.ReadsMany())
		}
		for _, off := range []int64{-1, c.src.Size - 1, c.src.Size + 5} {
			if c.src.ReadMany([]input.Part{{Off: off, Data: make([]byte, 2)}}) == nil {
				t.Errorf("%s: nothing wrong with 2 bytes at %d of %d", name, off, c.src.Size)
			}
		}
	}
	if reader.asked != 2 {
		t.Errorf("asked %d times", reader.asked)
	}
}

// later is a reader that fills the places only when it is waited for.
type later struct{ together }

func (l *later) StartManyAt(parts []input.Part) (wait func() error) {
	return func() error { return l.ReadManyAt(parts) }
}

// TestStartMany: the bytes are there when they were waited for, whether the reader can do something else meanwhile or not.
func TestStartMany(t *testing.T) {
	data := []byte("0123456789abcdefghij")
	reader := &later{together{Reader: bytes.NewReader(data)}}
	for name, c := range map[string]struct {
		src  *input.Source
		want string
		late bool
	}{
		"plain":    {input.New("a", bytes.NewReader(data), 20), "12ij", false},
		"together": {input.New("a", &together{Reader: bytes.NewReader(data)}, 20), "12ij", false},
		"later":    {input.New("a", reader, 20), "12ij", true},
		"a part":   {input.New("a", reader, 20).Sub("b", 2, 18), "34ij", true},
	} {
		parts := []input.Part{{Off: 1, Data: make([]byte, 2)}, {Off: c.src.Size - 2, Data: make([]byte, 2)}}
		wait := c.src.StartMany(parts)
		if early := parts[0].Data[0] != 0; early == c.late {
			t.Errorf("%s: there before it was waited for: %v", name, early)
		}
		if err := wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := string(parts[0].Data) + string(parts[1].Data); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.src.StartMany([]input.Part{{Off: c.src.Size - 1, Data: make([]byte, 2)}})() == nil {
			t.Errorf("%s: nothing wrong with what lies outside", name)
		}
	}
}

// streamer is a reader that streams, unless it refuses.
type streamer struct {
	together
	refuses bool
}

func (r *streamer) StreamAt([][2]int64, int64) input.Stream {
	if r.refuses {
		return nil
	}
	return stream{}
}

type stream struct{ input.Stream }

// TestStream: a file streams if its reader does; a part of one does not.
func TestStream(t *testing.T) {
	can, refuses := &streamer{}, &streamer{refuses: true}
	for name, c := range map[string]struct {
		src  *input.Source
		want bool
	}{
		"a reader that can":      {input.New("a", can, 20), true},
		"one that refuses":       {input.New("a", refuses, 20), false},
		"one that cannot":        {input.New("a", &can.together, 20), false},
		"a part of one that can": {input.New("a", can, 20).Sub("b", 2, 18), false},
	} {
		if got := c.src.Stream([][2]int64{{2, 8}}, 0) != nil; got != c.want {
			t.Errorf("%s: streams: %v", name, got)
		}
	}
}

// TestAdjoining: what lies together is told from what only has room behind it.
func TestAdjoining(t *testing.T) {
	one, other := make([]byte, 64), make([]byte, 64)
	for _, c := range []struct {
		name  string
		parts [][]byte
		n     int
		size  int
	}{
		{"nothing", nil, 0, 0},
		{"one", [][]byte{one[:8]}, 1, 8},
		{"all", [][]byte{one[:8], one[8:20], one[20:64]}, 3, 64},
		{"a gap", [][]byte{one[:8], one[8:16], one[17:20]}, 2, 16},
		{"over each other", [][]byte{one[:8], one[7:16]}, 1, 8},
		{"another memory", [][]byte{one[:8], one[8:16], other[16:20]}, 2, 16},
		{"no room behind", [][]byte{one[:8:8], one[8:16]}, 1, 8},
		{"empty ones", [][]byte{one[:8], nil, one[8:16], {}}, 4, 16},
		{"the other way round", [][]byte{one[8:16], one[:8]}, 1, 8},
	} {
		var parts []input.Part
		for _, p := range c.parts {
			parts = append(parts, input.Part{Data: p})
		}
		n, data := input.Adjoining(parts)
		if n != c.n || len(data) != c.size || c.size > 0 && &data[0] != &c.parts[0][0] {
			t.Errorf("%s: %d parts, %d bytes", c.name, n, len(data))
		}
	}
}
