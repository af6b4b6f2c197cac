package input_test

import (
	"errors"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/input/inputtest"
)

// Each round asks once for what all lookups lack, and what they read is what is in the file.
func TestRounds(t *testing.T) {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i >> 8)
	}
	reader := inputtest.NewTogether(data)
	src := input.New("file", reader, int64(len(data)))
	src.Budget = &input.Budget{}
	whole := src.Left(input.Memory)
	part := src.Sub("part", 0x1000, 0xf0000)
	rounds := input.NewRounds([]*input.Source{src, part})
	done := map[int]int{}
	// Lookup i follows three references, each known only when the last one is read.
	rounds.Run(20, func(i int) {
		at := int64(i) * 0x8000
		for range 3 {
			var b [2]byte
			if _, err := part.ReadDirect(b[:], at); err != nil {
				if !input.Needs(err) {
					t.Error(err)
				}
				return
			}
			if want := byte((at + 0x1000) >> 8); b[0] != want {
				t.Errorf("0x%x: %x, want %x", at, b[0], want)
			}
			at += 0x2000
		}
	}, func(i int) { done[i]++ })
	if len(done) != 20 || done[7] != 1 || reader.Many != 3 {
		t.Errorf("%d lookups are done, by %d reads", len(done), reader.Many)
	}
	// What was read is there, other bytes are read as always, and nothing is kept after Close.
	if b, err := src.Bytes(0x1000, 2); err != nil || b[0] != 0x10 {
		t.Error(b, err)
	}
	if err := src.Want(0x80, 8); err != nil {
		t.Errorf("outside of a round: %v", err)
	}
	if src.Left(input.Memory) == whole {
		t.Error("what is kept is not drawn")
	}
	rounds.Close()
	if src.Left(input.Memory) != whole {
		t.Error("what was kept is not given back")
	}
}

// A lookup that needs more and more ends, and a failed read too; readers of one place have no rounds.
func TestRoundsEnd(t *testing.T) {
	reader := inputtest.NewTogether(make([]byte, 1<<20))
	src := input.New("file", reader, 1<<20)
	rounds := input.NewRounds([]*input.Source{src})
	n := int64(0)
	rounds.Run(1, func(int) { n += 64; src.Want(n, 8) }, func(int) { t.Error("it is not done") })
	if n > 100*64 {
		t.Errorf("%d rounds", n/64)
	}
	rounds.Close()
	src = input.New("shorter", reader, 2<<20)
	src.Budget = &input.Budget{}
	rounds = input.NewRounds([]*input.Source{src})
	calls := 0
	rounds.Run(1, func(int) { calls++; src.Want(3<<19, 8) }, nil)
	if _, err := src.Bytes(3<<19, 8); calls != 1 || err == nil || errors.As(err, new(*input.NeedError)) {
		t.Error(calls, err)
	}
	if rounds.Close(); src.Left(input.Memory) != src.Budget.Limit(input.Memory) {
		t.Error("the memory for a read that failed is not given back")
	}
	if input.NewRounds([]*input.Source{input.FromBytes("a", nil)}) != nil {
		t.Error("rounds of a file in memory")
	}
}

// TestRoundBytes: small reads in many places of a file read little around them, also where one follows
// another, and reads after the rounds find the bytes that are in the file.
func TestRoundBytes(t *testing.T) {
	const places, apart, block = 20, 256 << 10, 16 << 10
	data := make([]byte, places*apart)
	for i := range data {
		data[i] = byte(i>>8 + i>>16)
	}
	reader := inputtest.NewTogether(data)
	src := input.New("file", reader, int64(len(data)))
	rounds := input.NewRounds([]*input.Source{src})
	rounds.Run(places, func(i int) {
		for _, at := range []int{100, block, 2 * block} { // one after the other: a round for each
			if b, err := src.Bytes(int64(i*apart+at), 8); err != nil || b[0] != data[i*apart+at] {
				return
			}
		}
	}, nil)
	rounds.Close()
	if most := int64(places * 3 * block); reader.Bytes > most || reader.Many != 3 {
		t.Errorf("%d bytes by %d reads, want at most %d by 3", reader.Bytes, reader.Many, most)
	}
	for at := 0; at < len(data); at += 1000 {
		if b, err := src.Bytes(int64(at), 4); err != nil || b[0] != data[at] {
			t.Fatalf("0x%x: %x, %v", at, b, err)
		}
	}
}
