package elf

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// room is a Spool for tests.
type room struct{ data []byte }

func (r *room) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(r.data) {
		r.data = append(r.data, make([]byte, need-len(r.data))...)
	}
	return copy(r.data[off:], p), nil
}

func (r *room) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(r.data).ReadAt(p, off)
}

// numbered are n KiB, each with its own number.
func numbered(n int) (plain []byte) {
	for i := range n {
		plain = append(plain, bytes.Repeat(binary.LittleEndian.AppendUint64(nil, uint64(i)), 128)...)
	}
	return plain
}

// TestSpooled: large compressed sections are read from anywhere, with a spool and without, where
// only the spool holds what was unpacked.
func TestSpooled(t *testing.T) {
	plain := numbered(17 << 10)
	f := &elftest.File{Class: 64, Machine: 62, Type: 2}
	f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: plain, Compress: "zlib"})
	f.Add(elftest.Section{Name: ".zdebug_str", Type: 1, Data: plain, Compress: "gnu"})
	for _, spools := range []bool{true, false} {
		data := f.Bytes()
		src := input.New("f", bytes.NewReader(data), int64(len(data)))
		var made []*room
		if spools {
			src.Spool = func() (input.Spool, error) {
				made = append(made, &room{})
				return made[len(made)-1], nil
			}
		}
		e, err := Open(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".debug_info", ".debug_str"} {
			d, err := e.Data(e.Section(name))
			if err != nil || d.Size != int64(len(plain)) {
				t.Fatalf("%s: %v", name, err)
			}
			for _, i := range []int64{17000, 5, 1 << 14, 0, 17<<10 - 1} {
				b, err := d.Bytes(i<<10+8, 8)
				if err != nil || binary.LittleEndian.Uint64(b) != uint64(i) {
					t.Errorf("%s: % x, %v, want %#x", name, b, err, i)
				}
			}
		}
		if spools && (len(made) != 2 || len(made[0].data) != len(plain) || !bytes.Equal(made[1].data, plain)) {
			t.Errorf("%d spools", len(made))
		}
	}
}

// TestSpooledDamaged: a section with a wrong size, or is not compressed, is found out,
// and what comes before the damage is readable.
func TestSpooledDamaged(t *testing.T) {
	const size = 20 << 20
	p := elftest.Zlib(make([]byte, size))
	open := func(p []byte, claims int64) (*input.Source, error) {
		src := input.FromBytes("zeros", p)
		src.Spool = func() (input.Spool, error) { return &room{}, nil }
		src.Budget = &input.Budget{}
		return unpack(src, "zeros", 0, claims, openZlib)
	}
	src, err := open(p, size+10)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := src.Bytes(size-5, 5); err != nil || !bytes.Equal(b, make([]byte, 5)) {
		t.Errorf("% x, %v", b, err)
	}
	if _, err := src.Bytes(size-5, 10); err == nil || !strings.Contains(err.Error(), "ends here") {
		t.Errorf("behind the end: %v", err)
	}
	if _, err := open(p, 1<<40); err == nil {
		t.Error("a claim of a terabyte")
	}
	if _, err := open(p[1:], 1<<25); err == nil {
		t.Error("another start")
	}
	p = elftest.Zlib(numbered(size >> 10))
	if src, err := open(p[:len(p)/2], size); err != nil {
		t.Error(err)
	} else if _, err := src.Bytes(size-5, 5); err == nil {
		t.Error("a cut stream has its last bytes")
	}
}
