package dwarf

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// counted is a reader that counts what is read of it.
type counted struct {
	r     io.ReaderAt
	reads int
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	c.bytes += int64(len(p))
	return c.r.ReadAt(p, off)
}

// sections are an ELF file's, by the standard library's reader of the container.
func sections(tb testing.TB, name string, r io.ReaderAt, size int64) Sections {
	s, _ := sectionsOf(tb, name, r, size)
	return s
}

// sectionsOf also returns the file that they are in.
func sectionsOf(tb testing.TB, name string, r io.ReaderAt, size int64) (Sections, *input.Source) {
	tb.Helper()
	f, err := elf.NewFile(r)
	if err != nil {
		tb.Fatal(err)
	}
	base := ^uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			base = min(base, p.Vaddr)
		}
	}
	if base == ^uint64(0) {
		base = 0
	}
	s := Sections{Order: f.ByteOrder, Base: base, File: filepath.Base(name)}
	whole := input.New(name, r, size)
	s.Get = func(name string) (*input.Source, error) {
		sec := f.Section(name)
		if sec == nil && len(name) > 7 && name[:7] == ".debug_" {
			sec = f.Section(".z" + name[1:])
		}
		if sec == nil || sec.Type == elf.SHT_NOBITS {
			return nil, nil
		}
		if sec.Flags&elf.SHF_COMPRESSED != 0 || sec.Name[:2] == ".z" {
			b, err := sec.Data()
			if err != nil {
				return nil, err
			}
			return input.FromBytes(name, b), nil
		}
		return whole.Sub(name, int64(sec.Offset), int64(sec.Size)), nil
	}
	s.More = func(name string) (more []*input.Source, _ error) {
		first := f.Section(name)
		for _, sec := range f.Sections {
			if sec.Name == name && sec != first {
				more = append(more, whole.Sub(name, int64(sec.Offset), int64(sec.Size)))
			}
		}
		return more, nil
	}
	return s, whole
}

// openELF opens a file on the disk; its bytes are read as they are asked for.
func openELF(tb testing.TB, path string) Sections {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	return sections(tb, path, f, info.Size())
}

var littleEndian = binary.LittleEndian
