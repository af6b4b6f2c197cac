package elf

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/publics.txt")

// TestTargets reads a program of each target (testdata/make.sh): what processor it is for, its ids,
// and every name.
func TestTargets(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.elf")
	if len(paths) == 0 {
		t.Fatal("no programs in testdata")
	}
	var b strings.Builder
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := open(t, data)
		p, err := f.Publics()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s: %s, %d bits, %v, base %#x, entry %#x, debug id %s, code id %s\n", filepath.Base(path), archName(f), f.Class, f.Order, f.Base, f.Entry,
			f.DebugID(), f.CodeID())
		for i := range p.Len() {
			s := p.At(i)
			fmt.Fprintf(&b, " %x+%x %s\n", s.Start, s.Size, s.Name)
		}
		if s, ok := p.Lookup(f.CodeAddress(f.Entry) - f.Base); !ok || s.Name != "run" {
			t.Errorf("%s: at the entry is %+v", path, s)
		}
		if len(f.BuildID) > 0 && !f.IDLoaded {
			t.Errorf("%s: its build id is not where writers of dumps find it", path)
		}
		for _, w := range f.Warnings() {
			t.Errorf("%s: %s", path, w)
		}
	}
	const golden = "testdata/publics.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s", err, b.String())
	}
}

func archName(f *File) string {
	if f.Arch == nil {
		return "a processor without table"
	}
	return f.Arch.Name
}

// TestTargetsDamaged cuts the programs, and overwrites bytes in them.
func TestTargetsDamaged(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(data); n += 13 * (2000 / probes(2000)) {
			useAll(t, data[:n])
			bad := append([]byte(nil), data...)
			bad[n] ^= byte(1 + n%255)
			useAll(t, bad)
		}
	}
}

// targetSeeds are the programs of testdata, for fuzzing.
func targetSeeds() (all [][]byte) {
	paths, _ := filepath.Glob("testdata/*.elf")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil {
			all = append(all, data)
		}
	}
	return all
}
