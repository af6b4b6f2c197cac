package elf

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// readNotes finds the build id, in note sections first and then in note segments: a stripped file
// may have no sections, and the segments of a separate debug file may describe the program's file.
// It also sets IDLoaded, and returns the ids that Breakpad takes from other notes.
func (f *File) readNotes() (other [][]byte) {
	const most = 1000 // real files have a handful
	n := 0
	add := func(id []byte) {
		if len(other) < maxOtherIDs && !slices.ContainsFunc(other, func(have []byte) bool { return bytes.Equal(have, id) }) {
			other = append(other, id)
		}
	}
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != secNote || n == most {
			continue
		}
		n++
		f.notes(f.raw(s), s.Align, func(name string, id []byte) {
			if name == noteGNU && len(f.BuildID) == 0 {
				f.BuildID = id
			} else if s.Name == ".note.gnu.build-id" {
				add(id)
			}
		})
	}
	hasCode := f.text("") != nil
	for _, s := range f.Segments[:min(len(f.Segments), most)] {
		if s.Type != segNote || s.Offset >= uint64(f.Src.Size) {
			continue
		}
		src := f.Src.Sub(f.Src.Name+": notes", int64(s.Offset), int64(min(s.FileSize, 1<<62)))
		f.notes(src, s.Align, func(name string, id []byte) {
			switch {
			case name == noteGNU && len(f.BuildID) == 0:
				f.BuildID = id
			case hasCode || n == 0:
				add(id)
			}
			if name == noteGNU && bytes.Equal(id, f.BuildID) && s.Address-f.Base == s.Offset {
				f.IDLoaded = true
			}
		})
	}
	return other
}

// noteGNU is the name in GNU's notes.
const noteGNU = "GNU\x00"

// notes calls each for every note of type NT_GNU_BUILD_ID, GNU's and others', with its name and its
// data:
//
//	namesz 4 | descsz 4 | type 4 | name, padded | desc, padded
//
// They are padded to 4 bytes, or to 8 if the section has that alignment.
//
// Example, in a little-endian file:
//
//	04 00 00 00  14 00 00 00  03 00 00 00    a name of 4 bytes, 20 bytes of data, NT_GNU_BUILD_ID
//	47 4e 55 00                              "GNU"
//	9c 3e …                                  the build id, a SHA-1 of the linker's output
func (f *File) notes(src *input.Source, align uint64, each func(name string, id []byte)) {
	pad := int64(4)
	if align == 8 {
		pad = 8
	}
	c := input.NewCursor(src, "note", 0, min(src.Size, maxNotes), f.Order)
	for c.Left() >= 12 {
		nameSize, size, kind := int64(c.U32()), int64(c.U32()), c.U32()
		if nameSize > c.Left() {
			return
		}
		name := c.Bytes(nameSize)
		c.Skip(min((12+nameSize+pad-1)&^(pad-1)-12-nameSize, c.Left()))
		if size > c.Left() {
			return
		}
		if kind == noteBuildID {
			// An id of zeros (ld --build-id=0x00) identifies nothing.
			if id := c.Bytes(min(size, 256)); len(bytes.Trim(id, "\x00")) > 0 {
				each(string(name), id)
			}
			c.Skip(max(size-256, 0))
		} else {
			c.Skip(size)
		}
		c.Skip(min((size+pad-1)&^(pad-1)-size, c.Left()))
	}
	f.warnErr(c.Err())
}

// CodeID returns the build id in lower-case hexadecimal digits, or "".
func (f *File) CodeID() string { return hex.EncodeToString(f.BuildID) }

// DebugID returns Breakpad's debug id: 32 upper-case hexadecimal digits and an age of 0. It is made
// of the first 16 bytes of the build id, or without one it is the first of OtherIDs. It is "" if the
// file has neither, such as a debug file without build id.
func (f *File) DebugID() string {
	if len(f.BuildID) > 0 {
		return debugID(f.BuildID)
	}
	if len(f.OtherIDs) > 0 {
		return f.OtherIDs[0]
	}
	return ""
}

// debugID formats an identifier's first 16 bytes, filled up with zeros, as a GUID and appends the
// age. The GUID's first three fields are little-endian numbers, so their bytes are reversed:
// 0123456789abcdef0123456789abcdef becomes 67452301AB89EFCD0123456789ABCDEF0.
func debugID(id []byte) string {
	var g [16]byte
	copy(g[:], id)
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:])
}

// readOtherIDs sets OtherIDs. Most are the exclusive or of the 16-byte groups of the code's first
// 4096 bytes. Writers differ in two points:
//
//	section      .text or text (Breakpad, src/common/linux/file_id.cc; the symbolic crate), or the first section with code,
//	             often .init (minidump-writer, src/linux/module_reader.rs; samply, by the object crate)
//	last group   if the section ends inside it: read to the group's end (Breakpad), or to the section's (the others)
//
// Breakpad, and minidump-writer before 0.8.0, take any note of type 3 for a build id: of Xen's, or
// of the second of two. LLDB takes the CRC-32 in .gnu_debuglink, as a number of four bytes
// (ObjectFileELF::GetUUID), and without that section one of the file's bytes, see ChecksumID.
func (f *File) readOtherIDs(notes [][]byte) {
	for _, s := range []*Section{f.text(".text"), f.text("text"), f.text("")} {
		if s == nil {
			continue
		}
		size := int64(min(s.Size, 4096))
		for _, n := range []int64{(size + 15) &^ 15, size} {
			f.addOtherID(f.hash(s, n))
		}
	}
	for _, id := range notes {
		f.addOtherID(id)
	}
	if _, crc, ok := f.DebugLink(); ok && len(f.BuildID) == 0 {
		f.addOtherID(binary.LittleEndian.AppendUint32(nil, crc))
	}
}

// maxOtherIDs limits OtherIDs. Real files have up to four.
const maxOtherIDs = 16

// addOtherID adds an id once, if it is not all zeros or the build id.
func (f *File) addOtherID(id []byte) {
	text := debugID(id)
	if len(bytes.Trim(id, "\x00")) > 0 && !slices.Contains(f.OtherIDs, text) && text != debugID(f.BuildID) && len(f.OtherIDs) < maxOtherIDs {
		f.OtherIDs = append(f.OtherIDs, text)
	}
}

// ChecksumID returns the id that LLDB gives a file without a build id and without .gnu_debuglink:
// the CRC-32 of all its bytes, as a number of four bytes. It returns "" for other files. It is
// computed once: every module of a dump may ask for it.
func (f *File) ChecksumID() (string, error) {
	if len(f.BuildID) > 0 || f.Section(".gnu_debuglink") != nil || f.checksumID != "" {
		return f.checksumID, nil
	}
	crc, err := CRC(f.Src)
	if err != nil {
		return "", err
	}
	f.checksumID = debugID(binary.LittleEndian.AppendUint32(nil, crc))
	return f.checksumID, nil
}

// text returns the section with a name, or the first section with code if the name is "". It returns
// nil if the file has no such section.
func (f *File) text(name string) *Section {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == secProgBits && s.Size > 0 && (s.Name == name || name == "" && s.Alloc() && s.Exec()) {
			return s
		}
	}
	return nil
}

// hash combines n bytes from a section's start, or those that the file has.
func (f *File) hash(s *Section, n int64) []byte {
	if s.Offset >= uint64(f.Src.Size) {
		return nil
	}
	text, err := f.Src.Bytes(int64(s.Offset), min(n, f.Src.Size-int64(s.Offset)))
	f.warnErr(err)
	g := make([]byte, 16)
	for i, b := range text {
		g[i%16] ^= b
	}
	return g
}
