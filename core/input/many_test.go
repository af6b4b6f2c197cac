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

// keeper is a reader that keeps what it read, unless it refuses.
type keeper struct {
	together
	refuses bool
	apart   bool
}

func (k *keeper) KeepManyAt(places []input.Range, apart bool) (wait func() (input.Kept, error)) {
	if k.refuses {
		return nil
	}
	k.apart = apart
	return func() (input.Kept, error) { return nil, nil }
}

// TestKeepMany: a file keeps what is read if its reader does; a part of one does not, and a place outside is an error.
func TestKeepMany(t *testing.T) {
	can, refuses := &keeper{}, &keeper{refuses: true}
	for name, c := range map[string]struct {
		src  *input.Source
		want bool
	}{
		"a reader that can":      {input.New("a", can, 20), true},
		"one that refuses":       {input.New("a", refuses, 20), false},
		"one that cannot":        {input.New("a", &can.together, 20), false},
		"a part of one that can": {input.New("a", can, 20).Sub("b", 2, 18), false},
	} {
		wait := c.src.KeepMany([]input.Range{{Offset: 2, Size: 8}, {Offset: 12, Size: 8}}, true)
		if wait != nil != c.want {
			t.Errorf("%s: keeps: %v", name, wait != nil)
		} else if wait != nil {
			if _, err := wait(); err != nil || !can.apart {
				t.Errorf("%s: %v, apart: %v", name, err, can.apart)
			}
		}
	}
	for _, place := range []input.Range{{Offset: -1, Size: 2}, {Offset: 1, Size: -1}, {Offset: 19, Size: 2}, {Offset: 30, Size: 1}, {Offset: 1, Size: 1<<63 - 1}} {
		if _, err := input.New("a", can, 20).KeepMany([]input.Range{{Offset: 1, Size: 1}, place}, false)(); err == nil {
			t.Errorf("nothing wrong with %d bytes at %d of 20", place.Size, place.Offset)
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
