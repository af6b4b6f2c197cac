package elf

import (
	"errors"
	"math/rand"
	"runtime"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// probes cuts a number down where everything costs ten times as much.
func probes(n int) int {
	if runtime.GOARCH == "wasm" || testing.Short() {
		return n / 20
	}
	return n
}

// useAll asks a file for all that it can tell. Errors must say which file they are about.
func useAll(t testing.TB, data []byte) {
	said := func(err error) {
		var fe *input.FormatError
		if err != nil && !errors.As(err, &fe) {
			t.Errorf("an error without a place: %v", err)
		}
	}
	f, err := Open(input.FromBytes("fuzz.elf", data))
	if err != nil {
		said(err)
		return
	}
	for i := range f.Sections {
		if i < 50 {
			_, err := f.Data(&f.Sections[i])
			said(err)
		}
	}
	_, err = f.At(f.Entry, 4)
	said(err)
	f.DebugID()
	f.CodeID()
	f.DebugLink()
	f.AltLink()
	_, err = f.MiniDebugInfo()
	said(err)
	said(f.Symbols(func(Sym) error { return nil }))
	said(f.DynamicSymbols(func(Sym) error { return nil }))
	p, err := f.Publics()
	said(err)
	if err == nil {
		for i := range min(p.Len(), 100) {
			p.Lookup(p.At(i).Start + 1)
		}
	}
}

// seeds are small files of every kind that the tests write.
func seeds(t *testing.T) [][]byte {
	var all [][]byte
	for _, class := range []int{32, 64} {
		for _, big := range []bool{false, true} {
			all = append(all, program(class, big).Bytes())
		}
	}
	return all
}

// TestTruncation cuts a program at every length.
func TestTruncation(t *testing.T) {
	for _, data := range seeds(t) {
		for n := 0; n < len(data); n += 4000 / probes(4000) {
			useAll(t, data[:n])
		}
	}
}

// TestDamage overwrites bytes of the headers and of everything at random.
func TestDamage(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, data := range seeds(t) {
		for range probes(2000) {
			bad := append([]byte(nil), data...)
			for range 1 + rnd.Intn(4) {
				bad[rnd.Intn(len(bad))] = byte(rnd.Intn(256))
			}
			useAll(t, bad)
		}
	}
}

func FuzzELF(f *testing.F) {
	for _, class := range []int{32, 64} {
		for _, big := range []bool{false, true} {
			f.Add(program(class, big).Bytes())
		}
	}
	f.Add((&elftest.File{Class: 64, Machine: 62, Type: 3}).Bytes())
	for _, data := range targetSeeds() {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { useAll(t, data) })
}
