package wire

import (
	"errors"
	"reflect"
	"testing"
)

type inner struct {
	Text string
	N    int64
}

type message struct {
	Yes, No bool
	Small   int
	Big     uint64
	Text    string
	Lines   []string
	Here    *inner
	Gone    *inner
	Many    []inner
	Bytes   []byte
}

var full = message{Yes: true, Small: -5, Big: 1<<64 - 1, Text: "Grüße\x00", Lines: []string{"", "b"}, Here: &inner{"x", -1 << 63},
	Many: []inner{{"a", 1}, {"b", 2}}, Bytes: []byte{0, 255}}

func TestThereAndBack(t *testing.T) {
	for _, m := range []message{{}, full} {
		var got message
		if err := Read(Append(nil, m), &got); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v\n%+v\n%+v", err, got, m)
		}
	}
	// The value's old contents are overwritten.
	got := full
	if err := Read(Append(nil, message{}), &got); err != nil || !reflect.DeepEqual(got, message{}) {
		t.Errorf("%v %+v", err, got)
	}
}

func TestDamage(t *testing.T) {
	b := Append(nil, full)
	for n := range b {
		var m message
		if err := Read(b[:n], &m); !errors.Is(err, ErrCut) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	var m message
	if err := Read(append(b, 0), &m); !errors.Is(err, ErrCut) {
		t.Errorf("a byte too many: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(Append(nil, full))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m message
		if Read(b, &m) == nil && len(b) > 0 {
			Append(nil, m)
		}
	})
}
