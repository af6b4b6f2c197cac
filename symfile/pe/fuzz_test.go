package pe_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pe"
)

// exercise asks a file all that can be asked. It is to end, and not to panic.
func exercise(data []byte) {
	for _, open := range []func(*input.Source) (*pe.File, error){pe.Open, pe.OpenMapped} {
		f, err := open(input.FromBytes("f", data))
		if err != nil {
			continue
		}
		f.DebugID()
		f.CodeID()
		for i := range f.Sections {
			f.Data(&f.Sections[i])
			f.Place(uint64(f.Sections[i].RVA))
		}
		var p [32]byte
		for _, rva := range []uint64{0, 0x1000, 0x1fff, uint64(f.ImageSize), ^uint64(0)} {
			f.At(rva, 32)
			f.ReadCode(rva, p[:])
		}
		f.Exceptions()
		f.Code()
		if names, err := f.Publics(); err == nil {
			for i := range min(names.Len(), 1000) {
				names.At(i)
			}
			names.Lookup(0x1010)
		}
		f.Warnings()
	}
}

// FuzzOpen opens a file that may be anything.
func FuzzOpen(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.dll")
	if err != nil || len(paths) < 8 {
		f.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("MZ"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 1<<20 {
			exercise(data)
		}
	})
}

// Files that end anywhere, and files with bytes turned over.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"x64.dll", "dwarf.dll"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		step := 7
		if runtime.GOOS == "js" { // it is ten times as slow
			step = 101
		}
		for at := 0; at < len(whole); at += step {
			exercise(whole[:at])
			data := append([]byte(nil), whole...)
			for i := at; i < min(at+4, len(data)); i++ {
				data[i] = 0xff
			}
			exercise(data)
		}
	}
}
