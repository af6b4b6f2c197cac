package elf

import (
	"hash/crc32"
	"io"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/xz"
)

// DebugLink returns the content of .gnu_debuglink: the name of the separate debug file, and the
// CRC-32 of the whole file (see CRC).
//
//	name\0 | padding to 4 bytes | CRC-32 4, in the file's byte order
//
// GDB looks for the name next to the program, in .debug next to it, and under /usr/lib/debug.
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	d, name := f.linkSection(".gnu_debuglink")
	if d == nil {
		return "", 0, false
	}
	b, err := d.Bytes((int64(len(name))+4)&^3, 4) // name, NUL, padding to 4 bytes, CRC
	if err != nil {
		f.warnErr(err)
		return "", 0, false
	}
	return name, f.Order.Uint32(b), true
}

// linkSection returns a section that begins with the name of another file, and the name, or nil. A
// section that cannot be read is a warning.
func (f *File) linkSection(section string) (*input.Source, string) {
	s := f.Section(section)
	if s == nil {
		return nil, ""
	}
	d, err := f.Data(s)
	if err != nil {
		f.warnErr(err)
		return nil, ""
	}
	name, err := d.Text(0, maxName)
	if err != nil || name == "" {
		f.warnErr(err)
		return nil, ""
	}
	return d, name
}

// AltLink returns the content of .gnu_debugaltlink: the name and the build id of the supplementary
// file that dwz makes, which has the debug information that several debug files share.
//
//	name\0 | build id, to the end of the section
func (f *File) AltLink() (name string, buildID []byte, ok bool) {
	d, name := f.linkSection(".gnu_debugaltlink")
	if d == nil {
		return "", nil, false
	}
	at := int64(len(name)) + 1
	buildID, err := d.Bytes(min(at, d.Size), min(max(d.Size-at, 0), 256))
	f.warnErr(err)
	return name, buildID, err == nil
}

// CRC returns the checksum by which .gnu_debuglink identifies a debug file: the CRC-32 of all its
// bytes.
func CRC(src *input.Source) (uint32, error) {
	h := crc32.NewIEEE()
	buffer := make([]byte, 1<<20)
	for off := int64(0); off < src.Size; {
		n, err := src.ReadDirect(buffer[:min(int64(len(buffer)), src.Size-off)], off)
		if err != nil && err != io.EOF {
			return 0, src.Wrap("", off, err)
		}
		h.Write(buffer[:n])
		off += int64(n)
	}
	return h.Sum32(), nil
}

// MiniDebugInfo returns the ELF file in .gnu_debugdata, or nil. Fedora strips
// programs and keeps a symbol table of their functions there, compressed with xz.
func (f *File) MiniDebugInfo() (*File, error) {
	s := f.Section(".gnu_debugdata")
	if s == nil {
		return nil, nil
	}
	d, err := f.Data(s)
	if err != nil {
		return nil, err
	}
	// The xz file does not say at its start how large it becomes: 64 times its size is far more than
	// symbol tables shrink.
	name := f.Src.Name + ": .gnu_debugdata"
	most := max(1<<20, 64*d.Size)
	plain, err := inMemory(d, most, func(packed io.Reader, memory int64) (io.Reader, error) {
		return xz.NewReader(packed, min(most, memory))
	})
	if err != nil {
		if !input.Needs(err) {
			err = notUnpacked(name, int64(len(plain)), err)
		}
		return nil, err
	}
	return Open(d.DeriveBytes(name, plain))
}
