package elf

import (
	"encoding/hex"
	"fmt"

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
			f.BuildID = c.Bytes(min(size, 256))
			return len(f.BuildID) > 0
		}
		c.Skip(size)
		c.Skip(min((size+pad-1)&^(pad-1)-size, c.Left()))
	}
	f.warnErr(c.Err())
	return false
}

// CodeID is the build id in lower-case hex, or "".
func (f *File) CodeID() string { return hex.EncodeToString(f.BuildID) }

// DebugID is the id by which Breakpad knows the file: 32 upper-case hex digits and an age of 0. It is made of the first 16
// bytes of the build id or, without one, of the exclusive or of 16-byte groups of .text's first 4096 bytes (Breakpad's
// file_id.cc). The first three fields of a GUID are numbers, so their bytes turn around. It is "" if the file has neither,
// as a separate debug file without build id.
func (f *File) DebugID() string {
	var g [16]byte
	if len(f.BuildID) > 0 {
		copy(g[:], f.BuildID)
	} else if !f.hashText(&g) {
		return ""
	}
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:])
}

// hashText reads whole groups of 16 bytes, the last of them perhaps beyond the section's end, as Breakpad does.
func (f *File) hashText(g *[16]byte) bool {
	s := f.Section(".text")
	if s == nil || s.Type != 1 || s.Size == 0 || s.Offset >= uint64(f.Src.Size) {
		return false
	}
	n := (int64(min(s.Size, 4096)) + 15) &^ 15
	text, err := f.Src.Bytes(int64(s.Offset), min(n, f.Src.Size-int64(s.Offset)))
	if err != nil {
		return false
	}
	for i, b := range text {
		g[i%16] ^= b
	}
	return true
}
