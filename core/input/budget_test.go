package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

// What files may cost follows from their size, at least so much; what was unpacked to storage
// counts for work and output, and not for memory.
func TestBudgetLimits(t *testing.T) {
	for _, c := range []struct {
		given, unpacked      int64
		memory, work, output int64
	}{
		{0, 0, 64 << 20, 256 << 20, 64 << 20},
		{1 << 20, 0, 68 << 20, 306 << 20, 104 << 20},
		{1 << 20, 1 << 20, 68 << 20, 356 << 20, 144 << 20},
	} {
		b := &Budget{}
		b.Give(c.given)
		b.GiveUnpacked(c.unpacked)
		if m, w, o := b.Limit(Memory), b.Limit(Work), b.Limit(Output); m != c.memory || w != c.work || o != c.output {
			t.Errorf("%d and %d bytes: memory %d, work %d, output %d", c.given, c.unpacked, m, w, o)
		}
	}
}

// Memory that does not fit is not taken, and what is given back fits again. The first error stays.
func TestBudgetMemory(t *testing.T) {
	b := &Budget{}
	if err := b.Draw(Memory, 60<<20); err != nil || b.Left(Memory) != 4<<20 {
		t.Errorf("%v, %d left", err, b.Left(Memory))
	}
	err := b.Draw(Memory, 5<<20)
	var e *BudgetError
	if !errors.As(err, &e) || e.Limit != 64<<20 || b.Left(Memory) != 4<<20 {
		t.Errorf("%v, %d left", err, b.Left(Memory))
	}
	b.Return(60 << 20)
	if err := b.Draw(Memory, 5<<20); err != nil {
		t.Error(err)
	}
	if b.Err() == nil || !strings.Contains(b.Err().Error(), "67108864 bytes of memory that are allowed for files of 0 bytes") {
		t.Errorf("the first error was %v", b.Err())
	}
	var none *Budget
	if err := none.Draw(Work, 1<<60); err != nil || none.Err() != nil {
		t.Errorf("without a budget: %v", err)
	}
}

// When a file is closed, it gives back what was drawn through it, through its parts and through what was made of it.
func TestHold(t *testing.T) {
	for name, src := range map[string]*Source{"in memory": FromBytes("a", make([]byte, 64)), "on disk": New("a", bytes.NewReader(make([]byte, 64)), 64)} {
		src.Budget = &Budget{}
		release := src.Hold()
		for _, s := range []*Source{src, src.Sub("b", 8, 16), src.Sub("b", 8, 16).Sub("c", 1, 2), src.DeriveBytes("d", make([]byte, 8))} {
			if err := s.Draw(Memory, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if release(); src.Left(Memory) != 64<<20 {
			t.Errorf("%s: %d bytes left", name, src.Left(Memory))
		}
		// Two members of an archive.
		a, b := src.Sub("a", 0, 8), src.Sub("b", 8, 8)
		releaseA, releaseB := a.Hold(), b.Hold()
		for _, s := range []*Source{a, b} {
			if err := s.Draw(Memory, 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if releaseA(); src.Left(Memory) != 63<<20 {
			t.Errorf("%s: %d bytes left after one of two was closed", name, src.Left(Memory))
		}
		if releaseB(); src.Left(Memory) != 64<<20 {
			t.Errorf("%s: %d bytes left after both were closed", name, src.Left(Memory))
		}
	}
}

// A Cursor, reads of a file and of what was made of it, and a writer stop when the budget is used up.
func TestBudgetStops(t *testing.T) {
	data := make([]byte, 1<<20)
	used := func() *Budget {
		b := &Budget{}
		b.Draw(Work, b.Limit(Work)-1)
		return b
	}
	stopped := func(what string, err error) {
		t.Helper()
		var e *BudgetError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
	src := FromBytes("a", data)
	src.Budget = used()
	c := NewCursor(src.Sub("part", 100, 1<<19), "part", 0, 1<<19, binary.LittleEndian)
	for c.Left() > 0 {
		c.U8()
	}
	stopped("a cursor", c.Err())
	file := New("a", bytes.NewReader(data), int64(len(data)))
	file.Budget = used()
	_, err := file.Bytes(0, 100)
	stopped("a file", err)
	_, err = file.ReadDirect(make([]byte, 100), 0)
	stopped("a direct read", err)
	_, err = file.Derive("made", bytes.NewReader(data), 1000).Bytes(0, 100)
	stopped("what was made of it", err)
	b := used()
	for range 2 { // each may write as much
		w := b.Writer(io.Discard)
		if n, err := w.Write(make([]byte, 64<<20)); n != 64<<20 || err != nil {
			t.Errorf("wrote %d: %v", n, err)
		}
		_, err = w.Write([]byte("x"))
		stopped("a writer", err)
	}
	if b.Begin(); b.Err() != nil || b.Draw(Work, 1000) != nil {
		t.Error("another task has no work left")
	}
}

// A file may claim any number. One that overflows the sum, or is negative, is refused, and the next
// draw succeeds.
func TestBudgetClaims(t *testing.T) {
	for _, claim := range []int64{1<<63 - 1, -1, -1 << 63} {
		for _, r := range []Resource{Memory, Work, Unpacked} {
			b := &Budget{}
			if err := b.Draw(r, 100); err != nil {
				t.Fatal(err)
			}
			if err := b.Draw(r, claim); err == nil {
				t.Errorf("resource %d: %d are drawn", r, claim)
			}
			want := b.Limit(r) - 100
			if r == Work {
				want = 0
			}
			if left := b.Left(r); left != want {
				t.Errorf("resource %d: after %d, %d are left, not %d", r, claim, left, want)
			}
		}
	}
}

// TestInterrupted: errors of missing bytes, of a Budget that is used up and of one that is cancelled say nothing about a file.
func TestInterrupted(t *testing.T) {
	src := FromBytes("x", make([]byte, 10))
	src.Budget = &Budget{}
	_, outside := src.Bytes(5, 6)
	used := src.Wrap("part", 0, src.Draw(Work, 1<<40))
	for _, c := range []struct {
		err  error
		want bool
	}{{nil, false}, {outside, false}, {io.ErrUnexpectedEOF, false}, {&NeedError{}, true}, {used, true}} {
		if src.Interrupted(c.err) != c.want {
			t.Errorf("%v: %v", c.err, !c.want)
		}
	}
	src.Budget.Cancel(errors.New("cancelled"))
	if !src.Interrupted(outside) || src.Interrupted(nil) {
		t.Error("cancelled")
	}
}
