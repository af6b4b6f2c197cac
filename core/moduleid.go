package core

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"
)

// identify fills DebugFile, DebugID and CodeID from what was read. An id that is all zeros names no
// symbol file and is left out.
func (m *Module) identify() {
	m.DebugFile = cmp.Or(m.debugFile(), m.Name)
	if !m.nilID() {
		m.DebugID = strings.ToUpper(m.StoredID())
	}
	m.CodeID = m.codeID()
}

// debugFile returns the file that the debug record names. An ELF module is its own debug file.
func (m *Module) debugFile() string {
	switch m.CodeView.Signature {
	case SigRSDS, SigNB10:
		return m.CodeView.File
	case SigBpEL:
		return m.Name
	}
	return ""
}

// guidID writes a GUID's fields as hex numbers and the age after them, the way of Microsoft's
// symbol stores: the first three fields are numbers, so a GUID read as bytes has theirs swapped.
// The age is in lower case.
//
// Example: the bytes 33 22 11 00 55 44 77 66 88 99 aa bb cc dd ee ff and the age 10 give
// 00112233445566778899AABBCCDDEEFFa.
func guidID(g []byte, age uint32) string {
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X%x", g[3], g[2], g[1], g[0], g[5], g[4], g[7], g[6], g[8:16], age)
}

// NoID reports whether a debug id says nothing: it is empty, or all zeros.
func NoID(id string) bool { return strings.Trim(id, "0") == "" }

// SameID reports whether two debug ids name one build: they are equal, or would be if one of them
// had the bytes of the GUID's first three fields, which are numbers, the other way round. For a
// big-endian ELF file, Breakpad's dump_syms and ours write the build id with these bytes swapped,
// as of any file; Mozilla's, and whatever is made with the symbolic crate, writes them as they are.
// No id is the same as none.
func SameID(a, b string) bool {
	if a == "" || len(a) != len(b) {
		return false
	}
	return strings.EqualFold(a, b) || len(a) > 32 && strings.EqualFold(a[16:], b[16:]) && strings.EqualFold(a, ByteSwappedID(b))
}

// ByteSwappedID returns a debug id with the bytes of the GUID's first three fields the other way
// round, see SameID; "" if the id has no GUID.
func ByteSwappedID(id string) string {
	if len(id) <= 32 {
		return ""
	}
	b := []byte(id)
	for i, from := range swapOrder {
		b[i] = id[from]
	}
	return string(b)
}

// swapOrder is where each of a debug id's first 16 digits comes from when the bytes of a u32 and of
// two u16 are swapped.
var swapOrder = [16]uint8{6, 7, 4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 14, 15, 12, 13}

// buildGUID returns the first 16 bytes of a build id, filled up with zeros.
func (m *Module) buildGUID() []byte {
	g := make([]byte, 16)
	copy(g, m.CodeView.BuildID)
	return g
}

// allZero reports whether all bytes are 0.
func allZero(p []byte) bool {
	return len(bytes.Trim(p, "\x00")) == 0
}

// StoredID returns the debug id as the debug record has it, be it zeros, or "".
func (m *Module) StoredID() string {
	switch m.CodeView.Signature {
	case SigRSDS:
		return guidID(m.CodeView.GUID[:], m.CodeView.Age)
	case SigNB10:
		return fmt.Sprintf("%08X%x", m.CodeView.Time, m.CodeView.Age)
	case SigBpEL:
		return guidID(m.buildGUID(), 0)
	}
	return ""
}

// nilID says that the debug record has an id of zeros (a nil GUID, an empty build id): it names no
// symbol file.
func (m *Module) nilID() bool {
	return m.CodeView.Signature == SigRSDS && allZero(m.CodeView.GUID[:]) ||
		m.CodeView.Signature == SigBpEL && allZero(m.CodeView.BuildID)
}

// StoredDebugFile returns the file that the CodeView record names, else the one of the
// IMAGE_DEBUG_MISC record, else "".
func (m *Module) StoredDebugFile() string {
	if f := m.debugFile(); f != "" {
		return f
	}
	return m.MiscDebugFile
}

// codeID returns, in lower case, the uuid on Apple's systems, the build id of ELF modules, timestamp
// and size for what has a PDB or stems from Windows.
func (m *Module) codeID() string {
	cv := &m.CodeView
	switch {
	case cv.Signature == SigRSDS && (m.os == MacOS || m.os == IOS):
		id := guidID(cv.GUID[:], 0)
		return strings.ToLower(id[:32])
	case cv.Signature == SigRSDS, cv.Signature == SigNB10:
		return strings.ToLower(windowsCodeID(m.TimeDateStamp, m.Size))
	case cv.Signature == SigBpEL:
		if allZero(cv.BuildID) {
			return ""
		}
		return hex.EncodeToString(cv.BuildID)
	case m.CodeViewLoc.Size == 0 && m.os == Windows:
		return strings.ToLower(windowsCodeID(m.TimeDateStamp, m.Size))
	}
	return ""
}

// windowsCodeID names an image as Microsoft's symbol servers do: eight digits of timestamp, the
// size without padding.
func windowsCodeID(timestamp uint32, size uint64) string {
	return fmt.Sprintf("%08X%x", timestamp, size)
}

// CodeID returns an unloaded module's code id, in lower case.
func (u *UnloadedModule) CodeID() string {
	return strings.ToLower(windowsCodeID(u.TimeDateStamp, u.Size))
}

// FileVersion returns the file's version, "10.0.19041.1", or "". If modules are ELF files, the
// writer of rust-minidump puts each number into a field of 32 bits; others pack two into one, as on
// Windows.
func (m *Module) FileVersion() string {
	switch {
	case !m.HasVersion || m.StructVersion&versionStruct == 0:
		return ""
	case m.os != Windows && m.os != MacOS && m.os != IOS && m.FileVersionMS < 1<<16 && m.FileVersionLS < 1<<16:
		return fmt.Sprintf("%d.%d.%d.%d", m.FileVersionMS, m.FileVersionLS, m.ProductVersionMS, m.ProductVersionLS)
	}
	return fmt.Sprintf("%d.%d.%d.%d", m.Version[0], m.Version[1], m.Version[2], m.Version[3])
}
