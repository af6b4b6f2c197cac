package elf

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// readNotes finds the build id, in note sections first and then in note segments: a stripped file
// may have no sections, and the segments of a separate debug file may describe the program's file.
func (f *File) readNotes() {
	const most = 1000 // real files have a handful
	n := 0
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Type == secNote && n < most {
			if n++; f.note(f.raw(s), s.Align) {
				return
			}
		}
	}
	n = 0
	for _, s := range f.Segments {
		if n++; n > most {
			return
		}
		if s.Type == segNote && s.Offset < uint64(f.Src.Size) &&
			f.note(f.Src.Sub(f.Src.Name+": notes", int64(s.Offset), int64(min(s.FileSize, 1<<62))), s.Align) {
			return
		}
	}
}

// note searches notes for the build id:
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
func (f *File) note(src *input.Source, align uint64) bool {
	pad := int64(4)
	if align == 8 {
		pad = 8
	}
	c := input.NewCursor(src, "note", 0, min(src.Size, maxNotes), f.Order)
	for c.Left() >= 12 {
		nameSize, size, kind := int64(c.U32()), int64(c.U32()), c.U32()
		if nameSize > c.Left() {
			return false
		}
		name := c.Bytes(nameSize)
		c.Skip(min((12+nameSize+pad-1)&^(pad-1)-12-nameSize, c.Left()))
		if size > c.Left() {
			return false
		}
		if kind == noteBuildID && string(name) == "GNU\x00" {
			// An id of zeros (ld --build-id=0x00) identifies nothing.
			if id := c.Bytes(min(size, 256)); len(bytes.Trim(id, "\x00")) > 0 {
				f.BuildID = id
				return true
			}
			c.Skip(max(size-256, 0))
		} else {
			c.Skip(size)
		}
		c.Skip(min((size+pad-1)&^(pad-1)-size, c.Left()))
	}
	f.warnErr(c.Err())
	return false
}

// CodeID returns the build id in lower-case hexadecimal digits, or "".
func (f *File) CodeID() string { return hex.EncodeToString(f.BuildID) }

// DebugID returns Breakpad's debug id: 32 upper-case hexadecimal digits and an age of 0. It is made
// of the first 16 bytes of the build id, or without one it is the first of HashIDs. It is "" if the
// file has neither, such as a debug file without build id.
func (f *File) DebugID() string {
	if len(f.BuildID) > 0 {
		var g [16]byte
		copy(g[:], f.BuildID)
		return debugID(g)
	}
	if len(f.HashIDs) > 0 {
		return f.HashIDs[0]
	}
	return ""
}

// debugID formats 16 bytes as a GUID and appends the age. The GUID's first three fields are
// little-endian numbers, so their bytes are reversed: 0123456789abcdef0123456789abcdef becomes
// 67452301AB89EFCD0123456789ABCDEF0.
func debugID(g [16]byte) string {
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:])
}

// readHashIDs sets HashIDs: the exclusive or of the 16-byte groups of the code's first 4096 bytes.
// Writers differ in two points:
//
//	section      .text or text (Breakpad, src/common/linux/file_id.cc; the symbolic crate), or the first section with code,
//	             often .init (minidump-writer, src/linux/module_reader.rs; samply, by the object crate)
//	last group   if the section ends inside it: read to the group's end (Breakpad), or to the section's (the others)
func (f *File) readHashIDs() {
	for _, s := range []*Section{f.text(".text"), f.text("text"), f.text("")} {
		if s == nil {
			continue
		}
		size := int64(min(s.Size, 4096))
		for _, n := range []int64{(size + 15) &^ 15, size} {
			if id := f.hashID(s, n); id != "" && !slices.Contains(f.HashIDs, id) {
				f.HashIDs = append(f.HashIDs, id)
			}
		}
	}
}

// text returns the section with a name, or if the name is "" the first section with code. It
// returns nil if there is none.
func (f *File) text(name string) *Section {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == secProgBits && s.Size > 0 && (s.Name == name || name == "" && s.Alloc() && s.Exec()) {
			return s
		}
	}
	return nil
}

// hashID returns the id of n bytes from a section's start, or of those that the file has. It
// returns "" if the id would be zero.
func (f *File) hashID(s *Section, n int64) string {
	if s.Offset >= uint64(f.Src.Size) {
		return ""
	}
	text, err := f.Src.Bytes(int64(s.Offset), min(n, f.Src.Size-int64(s.Offset)))
	f.warnErr(err)
	var g [16]byte
	for i, b := range text {
		g[i%16] ^= b
	}
	if g == [16]byte{} {
		return ""
	}
	return debugID(g)
}
