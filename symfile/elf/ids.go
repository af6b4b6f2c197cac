package elf

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// readNotes looks for the build id in the sections of notes, then in the segments: a stripped file may have no sections, and
// a separate debug file's segments may describe another file.
func (f *File) readNotes() {
	const most = 1000 // files have a handful
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

// note goes over notes: sizes of name and content, a type, and both padded to 4 bytes (or 8, if the section is so aligned).
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
			// An id of zeros (ld --build-id=0x00) is the same in every build.
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

// CodeID is the build id in lower-case hex, or "".
func (f *File) CodeID() string { return hex.EncodeToString(f.BuildID) }

// DebugID is the id by which Breakpad knows the file: 32 upper-case hex digits and an age of 0. It is made of the first 16
// bytes of the build id or, without one, the first of HashIDs. It is "" if the file has neither, as a separate debug file without
// build id.
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

// debugID writes 16 bytes as a GUID. Its first three fields are numbers, so their bytes turn around.
func debugID(g [16]byte) string {
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:])
}

// readHashIDs makes HashIDs: groups of 16 bytes of the code's first 4096, combined by exclusive or. Two things differ between writers:
//
//	which section  .text or text (Breakpad, src/common/linux/file_id.cc; the symbolic crate), or the first section with code,
//	               often .init (minidump-writer, src/linux/module_reader.rs; samply, by the object crate)
//	a last group   that the section's end cuts: read to its 16th byte (Breakpad), or to the end (the others)
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

// text is the section of a name that holds the program's code, or the first that holds code if the name is ""; nil if there is none.
func (f *File) text(name string) *Section {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type == secProgBits && s.Size > 0 && (s.Name == name || name == "" && s.Alloc() && s.Exec()) {
			return s
		}
	}
	return nil
}

// hashID is the id of n bytes from a section's start, as far as the file has them; "" if they are not there or make zero.
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
