package binary

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestPublicsOfLargeTable: the names of a large program are read in the order of the file, because to
// read a block for each name takes more work than a command may use: node has 110,000 symbols in 10
// MB, and its symbol file had no unwind rules. They still come by address.
func TestPublicsOfLargeTable(t *testing.T) {
	const count, size = 60_000, 16
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, count*size), Align: 16})
	symbols := make([]elftest.Sym, count)
	for i := range symbols {
		at := i * 7919 % count // far from those of the symbols before and after it
		symbols[i] = elftest.Sym{Name: fmt.Sprintf("f%0100d", at), Value: uint64(0x1000 + at*size), Size: size, Type: 2, Bind: 1, Section: ".text"}
	}
	data := f.Symbols(".symtab", symbols).Bytes()
	src := input.New("node", bytes.NewReader(data), int64(len(data)))
	src.Budget = &input.Budget{}
	src.Budget.Give(src.Size)
	given := src.Left(input.Memory)
	release := src.Hold()
	b, err := Open(src)
	if err != nil {
		t.Fatal(err)
	}
	work, memory := src.Left(input.Work), src.Left(input.Memory)
	n := 0
	if err := b.Publics(func(rva uint64, name string) error {
		if want := fmt.Sprintf("f%0100d", n); rva != uint64(0x1000+n*size) || name != want {
			return fmt.Errorf("name %d is %s at %#x", n, name, rva)
		}
		n++
		return nil
	}); err != nil || n != count {
		t.Fatal(n, err)
	}
	if work -= src.Left(input.Work); work > 8*src.Size {
		t.Errorf("%d steps of work for a file of %d bytes", work, src.Size)
	}
	if left := src.Left(input.Memory); memory-left > 20*count {
		t.Errorf("%d bytes of memory are not given back", memory-left)
	}
	if release(); src.Left(input.Memory) != given {
		t.Errorf("%d bytes of memory are left of %d when the file is closed", src.Left(input.Memory), given)
	}
}
