package dwarf

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// benchFile is the file to measure with: CRASHPANE_DWARF, an ELF file with sections that are not
// compressed, else the largest one of the corpus.
func benchFile(b *testing.B) (Sections, int64) {
	path := os.Getenv("CRASHPANE_DWARF")
	if path == "" {
		path = filepath.Join(corpus, "getsentry+symbolic/symbolic-testutils/fixtures/linux/crash.debug")
	}
	if _, err := os.Stat(path); err != nil {
		b.Skipf("*** SKIPPED: %s is not there", path)
	}
	s := openELF(b, path)
	info, err := s.Get(".debug_info")
	if err != nil || info == nil {
		b.Fatalf("%s has no .debug_info: %v", path, err)
	}
	return s, info.Size
}

// BenchmarkIndex finds out which unit has which code, from the units' first entries.
func BenchmarkIndex(b *testing.B) {
	s, size := benchFile(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for range b.N {
		d, err := Open(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.readRoots(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstLookup opens the file and looks one address up.
func BenchmarkFirstLookup(b *testing.B) {
	s, size := benchFile(b)
	addrs := someAddresses(b, s)
	b.SetBytes(size)
	b.ReportAllocs()
	for i := range b.N {
		d, err := Open(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, ans, err := d.Lookup(addrs[i%len(addrs)]); ans != symbol.Yes || err != nil {
			b.Fatal(ans, err)
		}
	}
}

// BenchmarkLookup looks addresses up all over the file.
func BenchmarkLookup(b *testing.B) {
	s, _ := benchFile(b)
	addrs := someAddresses(b, s)
	d, err := Open(s, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := range b.N {
		if _, ans, err := d.Lookup(addrs[i%len(addrs)]); ans != symbol.Yes || err != nil {
			b.Fatal(ans, err)
		}
	}
}

// BenchmarkEach goes over all functions; bytes are those of .debug_info.
func BenchmarkEach(b *testing.B) {
	s, size := benchFile(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for range b.N {
		d, err := Open(s, Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		if err := d.Each(func(f symbol.Function) error { n += len(f.Lines); return nil }); err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkOneUnit goes over the functions of a small file.
func BenchmarkOneUnit(b *testing.B) {
	m := loaded(b, "gcc5.elf")
	b.SetBytes(int64(len(m[".debug_info"])))
	b.ReportAllocs()
	for range b.N {
		d, err := Open(m.sections(binary.LittleEndian), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Each(func(f symbol.Function) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// someAddresses are some addresses of functions, spread over the file.
func someAddresses(b *testing.B, s Sections) []uint64 {
	d, err := Open(s, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var all []uint64
	if err := d.Each(func(f symbol.Function) error {
		all = append(all, f.Ranges[0].Start+f.Ranges[0].Size/2)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	var few []uint64
	for i := 0; i < len(all); i += 1 + len(all)/100 {
		few = append(few, all[i*7919%len(all)])
	}
	return few
}
