package binary_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/binary"
)

// TestInterrupted: what a call could not read, because it was cancelled or its work used up, is read by
// the next one.
func TestInterrupted(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		testInterrupted(t, context.Canceled, func(b *input.Budget) { b.Cancel(context.Canceled) }, (*input.Budget).Resume)
	})
	t.Run("work", func(t *testing.T) {
		testInterrupted(t, nil, func(b *input.Budget) { b.Draw(input.Work, b.Left(input.Work)) }, (*input.Budget).Begin)
	})
}

func testInterrupted(t *testing.T, want error, interrupt, resume func(*input.Budget)) {
	failed := 0
	for file, rva := range map[string]uint64{
		"../macho/testdata/m-arm64-fp.dylib.gz": 0x390,
		"../macho/testdata/m-arm64-fp.dwarf.gz": 0x390,
		"../pe/testdata/x64-O0.dll":             0x1010,
		"../pe/testdata/mingw64.dll":            0x1010,
		"../pdb/testdata/x64.pdb.gz":            0x1010,
	} {
		data := testfile.Read(t, file)
		open := func() (*binary.File, *input.Budget) {
			src := input.FromBytes(file, data)
			src.Budget = &input.Budget{}
			f, err := binary.Open(src)
			if err != nil {
				t.Fatal(file, err)
			}
			return f, src.Budget
		}
		f, _ := open()
		row, answer, err := f.Row(rva)
		name, found, err2 := f.Lookup(rva)
		if err != nil || err2 != nil {
			t.Fatal(file, err, err2)
		}
		f, budget := open()
		interrupt(budget)
		for range 2 {
			if _, _, err := f.Row(rva); err != nil {
				failed++
				if want == nil && !errors.As(err, new(*input.BudgetError)) || want != nil && !errors.Is(err, want) {
					t.Errorf("%s: %v", file, err)
				}
			}
			if _, _, err := f.Lookup(rva); err != nil {
				failed++
			}
		}
		resume(budget)
		if have, a, err := f.Row(rva); err != nil || a != answer || !reflect.DeepEqual(have, row) {
			t.Errorf("%s: row %+v, %v, %v, want %+v, %v", file, have, a, err, row, answer)
		}
		if have, a, err := f.Lookup(rva); err != nil || a != found || !reflect.DeepEqual(have, name) {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v", file, have, a, err, name, found)
		}
	}
	if failed < 6 {
		t.Errorf("%d calls failed while they were interrupted", failed)
	}
}
