package binary_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/input/inputtest"
	"github.com/crashpane/crashpane/symfile/binary"
)

// Prefetch changes no row and no symbol, whatever the format.
func TestPrefetch(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../elf/testdata/*.elf", "../dwarf/testdata/*5.elf", "../pe/testdata/*.exe", "../pe/testdata/*.dll", "../macho/testdata/*", "../pdb/testdata/*.pdb", "testdata/go*/*"} {
		list, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	n := 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if z, bad := gzip.NewReader(bytes.NewReader(data)); bad == nil {
			data, err = io.ReadAll(z)
		}
		if err != nil || !binary.Is(input.FromBytes(path, data)) {
			continue
		}
		n++
		t.Run(filepath.Base(path), func(t *testing.T) {
			plain, err := binary.Open(input.New(path, bytes.NewReader(data), int64(len(data))))
			if err != nil {
				t.Fatal(err)
			}
			reader := inputtest.NewTogether(data)
			f, err := binary.Open(input.New(path, reader, int64(len(data))))
			if err != nil {
				t.Fatal(err)
			}
			var rvas []uint64
			for rva := uint64(0); rva < min(uint64(len(data))*2, 200_000); rva += 97 {
				rvas = append(rvas, rva)
			}
			f.Prefetch(rvas, rvas)
			for _, rva := range rvas {
				row, answer, _ := plain.Row(rva)
				gotRow, gotAnswer, err := f.Row(rva)
				if !reflect.DeepEqual(gotRow, row) || gotAnswer != answer {
					t.Fatalf("0x%x: row %+v (%v, %v), want %+v (%v)", rva, gotRow, gotAnswer, err, row, answer)
				}
				sym, answer, _ := plain.Lookup(rva)
				got, gotAnswer, err := f.Lookup(rva)
				if !reflect.DeepEqual(got, sym) || gotAnswer != answer {
					t.Fatalf("0x%x: %+v (%v, %v), want %+v (%v)", rva, got, gotAnswer, err, sym, answer)
				}
			}
			if got, want := fmt.Sprint(f.Warnings()), fmt.Sprint(plain.Warnings()); got != want {
				t.Errorf("warnings %s, want %s", got, want)
			}
		})
	}
	if n < 20 {
		t.Errorf("only %d files", n)
	}
}
