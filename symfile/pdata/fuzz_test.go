package pdata_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdata"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// exercise asks a table all that can be asked. It is to end, and not to panic.
func exercise(t *testing.T, arch *cpu.Arch, table, img []byte, rvas ...uint64) {
	m := &made{arch: arch, image: img}
	cfg := m.config()
	cfg.Code = [][2]uint64{{0, uint64(len(img))}}
	tab, err := pdata.Open(input.FromBytes(".pdata", table), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []unwind.Table{tab, tab.Leaves()} {
		for _, rva := range rvas {
			of.Row(rva)
		}
		last := uint64(0)
		err := of.Each(func(start, end uint64, row unwind.Row) error {
			if start < last || end <= start || end > uint64(len(img)) {
				t.Fatalf("rows from 0x%x to 0x%x, after 0x%x, of 0x%x bytes", start, end, last, len(img))
			}
			last = end
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		of.Warnings()
	}
}

// fuzz seeds a target with the tables of the files that are made for the reader of PE files, each
// with its image from 0x1000 on.
func fuzz(f *testing.F, arch *cpu.Arch, files ...string) {
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join("../pe/testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 0x300)], b, uint64(0x1000))
	}
	rec := record(1, 4, 6, 5|2<<4, code(6, 2, 3), code(2, 0, 3))
	m := image(arch).put(records, rec...).entry(codeAt, codeAt+0x20, records).entry(codeAt+0x20, codeAt+0x40, records|1)
	f.Add(m.table, m.image, uint64(codeAt+4))
	m = image(arch).put(records, arm64Record(1, 0xe6, 0xe1, 0xd0, 0x02, 0x83, 0xe4)...).entry(codeAt, records).entry(codeAt+0x100, 0x0123c0a1)
	f.Add(m.table, m.image, uint64(codeAt+4))
	f.Fuzz(func(t *testing.T, table, img []byte, rva uint64) {
		if len(table) > 1<<12 || len(img) > 1<<14 {
			return
		}
		exercise(t, arch, table, img, rva, rva+1, rva+16, 0, ^uint64(0))
	})
}

// FuzzX64 reads function tables and records that may be anything.
func FuzzX64(f *testing.F) { fuzz(f, cpu.AMD64, "x64.dll", "x64-O0.dll") }

// FuzzARM64 is FuzzX64 for arm64.
func FuzzARM64(f *testing.F) { fuzz(f, cpu.ARM64, "arm64.dll", "arm64-pac.dll") }

// FuzzThumb is FuzzX64 for arm.
func FuzzThumb(f *testing.F) { fuzz(f, cpu.ARM, "arm.dll", "arm-O0.dll") }
