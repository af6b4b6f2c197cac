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

// TestCancelled: what a cancelled call could not read is read by the next one.
func TestCancelled(t *testing.T) {
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
		budget.Cancel(context.Canceled)
		for range 2 {
			if _, _, err := f.Row(rva); err != nil {
				failed++
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", file, err)
				}
			}
			if _, _, err := f.Lookup(rva); err != nil {
				failed++
			}
		}
		budget.Resume()
		if have, a, err := f.Row(rva); err != nil || a != answer || !reflect.DeepEqual(have, row) {
			t.Errorf("%s: row %+v, %v, %v, want %+v, %v", file, have, a, err, row, answer)
		}
		if have, a, err := f.Lookup(rva); err != nil || a != found || !reflect.DeepEqual(have, name) {
			t.Errorf("%s: %+v, %v, %v, want %+v, %v", file, have, a, err, name, found)
		}
	}
	if failed < 6 {
		t.Errorf("%d calls failed while they were cancelled", failed)
	}
}
