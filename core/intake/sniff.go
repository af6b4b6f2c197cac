// Package intake recognizes files by their content, never by their name, and unpacks archives and
// compressed files. It reads only the first bytes of a file, and searches logs for microdumps;
// whether a dump or a symbol file is valid is for its parser to find out.
//
// Start at Sniff in this file, which returns a Guess, and at Expand (expand.go), which returns the
// members of an archive and of archives in it. unpacked.go is a compressed file as an io.ReaderAt.
// Limits bounds what a hostile archive can cost.
package intake

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/sevenzip"
)

// Kind is the format of a file, as far as its content shows.
type Kind string

const (
	Minidump         Kind = "minidump"
	Sym              Kind = "sym"                // a Breakpad symbol file
	SymWithoutModule Kind = "sym-without-module" // its records, but no MODULE line that says which module it belongs to
	Gzip             Kind = "gzip"
	Zstd             Kind = "zstd"
	XZ               Kind = "xz"
	Zip              Kind = "zip"
	Cab              Kind = "cab"
	SevenZip         Kind = "7z"
	Tar              Kind = "tar"
	Ar               Kind = "ar"        // a static library or a Debian package
	Multipart        Kind = "multipart" // an upload of Chromium's or Breakpad's
	Envelope         Kind = "envelope"  // an upload of Sentry's
	HTTP             Kind = "http"      // a saved request or response
	Apport           Kind = "apport"    // a report of Ubuntu's Apport, with a core file
	UTF16            Kind = "utf-16"    // a text in UTF-16 that is read if it is in UTF-8
	CRLines          Kind = "cr-lines"  // one whose lines end in CR alone, which is read if they end in LF

	Empty       Kind = "empty"
	Unreadable  Kind = "unreadable" // the bytes could not be read; What says why
	ELF         Kind = "elf"        // an executable, library, object or debug file
	ELFCore     Kind = "elf-core"   // a kernel's dump of a process
	PE          Kind = "pe"
	PDB         Kind = "pdb"
	MachO       Kind = "macho"
	Fat         Kind = "fat"         // Mach-O files for several processors, in one
	MachOCore   Kind = "macho-core"  // a kernel's dump of a process
	Cache       Kind = "dyld-cache"  // the libraries of an Apple system in one file, or a part of it
	DiskImage   Kind = "disk-image"  // Apple's
	BundlePart  Kind = "bundle-part" // a file of an app, a framework, a dSYM … that has no code and no names
	KernelDump  Kind = "kernel-dump" // Windows
	UserDump    Kind = "user-dump"   // Windows, before minidumps
	Microdump   Kind = "microdump"   // Breakpad's text form for Android
	AppleCrash  Kind = "apple-crash" // a crash report of macOS or iOS
	Packed      Kind = "packed"      // compressed or an archive, in a way that is not opened here
	Text        Kind = "text"
	OtherBinary Kind = "binary" // none of the above: files that are not read
)

// IsDump reports whether a file is a dump of a process, whether or not it can be read.
func (k Kind) IsDump() bool { return k == Minidump || k == Microdump || k == ELFCore }

// IsBinary reports whether files of the kind are programs, libraries, or debug information of these.
// Which of them are read, symfile/binary says.
func (k Kind) IsBinary() bool { return k == ELF || k == PE || k == PDB || k == MachO }

// packedKind is a kind of files that Expand opens.
type packedKind struct {
	kind   Kind
	ending string // of the names of its files
	many   bool   // a file has any number of members
}

// packedKinds has a row for each.
var packedKinds = []packedKind{
	{Gzip, ".gz", false}, {Zstd, ".zst", false}, {XZ, ".xz", false}, {UTF16, "", false}, {CRLines, "", false}, {Apport, "", false},
	{Zip, ".zip", true}, {Cab, ".cab", true}, {SevenZip, ".7z", true}, {Tar, ".tar", true}, {Ar, ".a", true}, {Fat, "", true}, {Multipart, "", true}, {Envelope, "", true}, {HTTP, "", true},
}

// packing returns the kind's row of packedKinds, or a zero one.
func (k Kind) packing() packedKind {
	for _, p := range packedKinds {
		if p.kind == k {
			return p
		}
	}
	return packedKind{}
}

// IsPacked reports whether files of the kind are compressed files, archives or converted texts, which
// Expand opens.
func (k Kind) IsPacked() bool { return k.packing().kind != "" }

// HasMembers reports whether files of the kind are archives that Expand opens.
func (k Kind) HasMembers() bool { return k.packing().many }

// Endings returns the endings of the names of compressed files.
func Endings() (out []string) {
	for _, p := range packedKinds {
		if !p.many && p.ending != "" {
			out = append(out, p.ending)
		}
	}
	return out
}

// Guess is the result of Sniff.
type Guess struct {
	Kind Kind
	// What is the Kind in words, for the middle of a sentence: "an ELF core file for amd64".
	What string
}

// sniffSize is how many bytes of a file Sniff reads: one block of a Source.
const sniffSize = 64 << 10

// Sniff recognizes a file by its first bytes. A file that cannot be read is Unreadable.
func Sniff(src *input.Source) Guess {
	if src.Size == 0 {
		return Guess{Empty, "an empty file"}
	}
	head, _, err := src.Block(0)
	if head = head[:min(len(head), sniffSize)]; err == nil && int64(len(head)) < min(src.Size, sniffSize) {
		head, err = src.Bytes(0, min(src.Size, sniffSize))
	}
	if err != nil {
		return Guess{Unreadable, "not readable: " + err.Error()}
	}
	g := Guess{OtherBinary, "binary data beginning with " + firstBytes(head)}
	for _, look := range []func(*input.Source, []byte) Guess{bySignature, sniffELF, sniffPE, sniffMachO, sniffCache, sniffHTTP, sniffUpload, byText, sniffImage} {
		if found := look(src, head); found.Kind != "" {
			g = found
			break
		}
	}
	if g.Kind == Text || g.Kind == OtherBinary {
		if part := bundlePart(src.Name); part.Kind != "" {
			return part
		}
	}
	return g
}

// signatures are the magic numbers of formats that need no further check.
var signatures = []struct {
	bytes string
	guess Guess
}{
	{"MDMP", Guess{Minidump, "a minidump"}},
	{"PMDM", Guess{Minidump, "a minidump (big-endian)"}},
	{"\x1f\x8b", Guess{Gzip, "a gzip file"}},
	{"PK\x03\x04", Guess{Zip, "a zip archive"}},
	{"PK\x05\x06", Guess{Zip, "an empty zip archive"}},
	{"PK\x07\x08", Guess{Zip, "a part of a split zip archive"}},
	{"Microsoft C/C++ MSF 7.00\r\n", Guess{PDB, "a PDB file (Windows debug information)"}},
	{"Microsoft C/C++ program database 2", Guess{PDB, "an old PDB file (Windows debug information)"}},
	{"BSJB", Guess{PDB, "a portable PDB file (.NET debug information)"}},
	{"PAGEDU64", Guess{KernelDump, "a 64-bit Windows kernel dump, not a minidump of a process"}},
	{"PAGEDUMP", Guess{KernelDump, "a 32-bit Windows kernel dump, not a minidump of a process"}},
	{"KDUMP   ", Guess{KernelDump, "a dump of the Linux kernel (kdump, makedumpfile), not one of a process"}},
	{"makedumpfile\x00", Guess{KernelDump, "a dump of the Linux kernel (makedumpfile), not one of a process"}},
	{"USERDU64", Guess{UserDump, "a 64-bit Windows full user dump in the old format, not a minidump"}},
	{"USERDUMP", Guess{UserDump, "a 32-bit Windows full user dump in the old format, not a minidump"}},
	{"\x28\xb5\x2f\xfd", Guess{Zstd, "a zstd file; unpack it first"}},
	{"\xfd7zXZ\x00", Guess{XZ, "an xz file; unpack it first"}},
	{"xar!\x00\x1c", Guess{Packed, "a macOS package (.pkg, .xip: a xar archive); unpack it first"}},
	{"ProblemType: ", Guess{Apport, "a report of Apport"}},
	{"encrcdsa\x00", Guess{DiskImage, "an encrypted disk image of macOS (.dmg); open it first"}},
	{sevenzip.Magic, Guess{SevenZip, "a 7z archive"}},
	{"Rar!\x1a\x07", Guess{Packed, "a RAR archive; unpack it first"}},
	{"MSCF\x00\x00\x00\x00", Guess{Cab, "a Windows cabinet; unpack it first"}},
	{"SZDD\x88\xf0\x27\x33", Guess{Packed, "a file packed by compress.exe; unpack it with expand on Windows first"}},
	{arMagic, Guess{Ar, "a static library or Debian package (an ar archive)"}},
	{"!<thin>\n", Guess{Packed, "a list of object files (a thin ar archive); drop these"}},
	{"symindex", Guess{OtherBinary, "the index of a symbol file, for a server that has it next to that file"}},
	{"BC\xc0\xde", Guess{OtherBinary, "LLVM bitcode, which the linker compiles (-flto)"}},
	{"\xde\xc0\x17\x0b", Guess{OtherBinary, "LLVM bitcode, which the linker compiles (-flto)"}},
	{"\x00asm", Guess{OtherBinary, "a WebAssembly module"}},
	{"SQLite format 3\x00", Guess{OtherBinary, "an SQLite database"}},
	{"bplist00", Guess{OtherBinary, "a binary property list"}},
}

// bySignature recognizes formats by their magic numbers.
func bySignature(src *input.Source, head []byte) Guess {
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.bytes)) {
			return s.guess
		}
	}
	if isTar(head) {
		return Guess{Tar, "a tar archive"}
	}
	// bzip2: "BZh", a digit, and the first block's or the end's mark.
	if len(head) >= 10 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17rE8P\x90") {
		if g := sniffImage(src, head); g.Kind != "" { // its first part is compressed
			return g
		}
		return Guess{Packed, "a bzip2 file; unpack it first"}
	}
	return Guess{}
}

// bundles are the endings of the folders in which Apple's systems keep a program with its files.
var bundles = []string{".app", ".appex", ".bundle", ".dSYM", ".framework", ".kext", ".plugin", ".xcarchive", ".xcframework", ".xctest", ".xpc"}

// bundlePart recognizes the property lists, tables and pictures of a bundle. It is the only
// recognition by name, because nothing in these files is characteristic. A file where
// a bundle has its debug information is not recognized so.
func bundlePart(name string) Guess {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.Contains(name, ".dSYM/Contents/Resources/DWARF/") {
		return Guess{}
	}
	for dir := path.Dir(name); dir != path.Dir(dir); dir = path.Dir(dir) {
		if slices.Contains(bundles, path.Ext(dir)) {
			return Guess{BundlePart, "a part of the folder " + path.Base(dir) + " that has no symbols"}
		}
	}
	return Guess{}
}

// symRecords are the first words of a symbol file's lines.
var symRecords = []string{"FILE ", "FUNC ", "PUBLIC ", "STACK CFI ", "STACK WIN ", "INFO ", "INLINE_ORIGIN ", "INLINE "}

// byText recognizes text, and formats that are text.
func byText(src *input.Source, head []byte) Guess {
	if order, _ := utf16Order(head); order != nil {
		if text := toUTF8(head); len(text) > 0 {
			switch g := byText(input.FromBytes(src.Name, text), text); g.Kind {
			case Sym, SymWithoutModule, Microdump, CRLines:
				return Guess{UTF16, g.What + " in UTF-16"}
			}
		}
		return Guess{Text, "text in UTF-16"}
	}
	if endsInCR(head) {
		text := Plain(head)
		switch g := byText(input.FromBytes(src.Name, text), text); g.Kind {
		case Sym, SymWithoutModule, Microdump:
			return Guess{CRLines, g.What + " whose lines end in CR alone"}
		}
	}
	body := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if line := string(firstLine(body)); strings.HasPrefix(line, "MODULE ") && len(strings.Fields(line)) >= 4 {
		return Guess{Sym, "a Breakpad symbol file"}
	}
	if isRecords(body) {
		return Guess{SymWithoutModule, "a Breakpad symbol file without its MODULE line"}
	}
	if bytes.Contains(head, []byte(microdumpMark)) {
		return Guess{Microdump, "a Breakpad microdump (text)"}
	}
	if !isText(body, int64(len(head)) == src.Size) {
		return Guess{}
	}
	if g := appleReport(body); g.Kind != "" {
		return g
	}
	start := strings.ToLower(string(firstLine(body)))
	switch {
	case strings.HasPrefix(start, "version https://git-lfs"):
		return Guess{Text, "a Git LFS pointer, not the file itself"}
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<html"):
		return Guess{Text, "an HTML page"}
	}
	if hasMicrodump(src) {
		return Guess{Microdump, "a Breakpad microdump in a log"}
	}
	return Guess{Text, fmt.Sprintf("text beginning with %q", clip(string(firstLine(body)), 40))}
}

const (
	// microdumpMark is in a microdump's first line.
	microdumpMark = "-----BEGIN BREAKPAD MICRODUMP-----"
	// maxLog is how far into an unrecognized text a microdump is searched for: the crash is at the
	// end of its log.
	maxLog = 64 << 20
)

// hasMicrodump searches a log after the bytes that byText has checked. A part that cannot be read
// ends the search.
func hasMicrodump(src *input.Source) bool {
	back := int64(len(microdumpMark) - 1)
	for off := int64(sniffSize); off < min(src.Size, maxLog); off += sniffSize {
		// The mark may span two chunks.
		p, err := src.Bytes(off-back, min(sniffSize+back, src.Size-off+back))
		if err != nil {
			return false
		}
		if bytes.Contains(p, []byte(microdumpMark)) {
			return true
		}
	}
	return false
}

// firstLine returns the first line that is not blank, without its end.
func firstLine(text []byte) []byte {
	text = bytes.TrimLeft(text, " \t\r\n")
	if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
		text = text[:end]
	}
	return text
}

// isRecords reports whether the first lines are records of a symbol file. Line records (hexadecimal
// numbers) do not count, but may be between others. The last line may be cut off and is left out if
// there are others.
func isRecords(text []byte) bool {
	lines := bytes.SplitN(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"), 12)
	if len(lines) > 1 {
		lines = lines[:len(lines)-1]
	}
	found := 0
next:
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		for _, word := range symRecords {
			if bytes.HasPrefix(line, []byte(word)) && len(bytes.Fields(line)) >= 3 {
				found++
				continue next
			}
		}
		isLine := found > 0 && len(bytes.Fields(line)) == 4 && len(bytes.Trim(line, "0123456789abcdefABCDEF ")) == 0
		if i == 0 || len(line) > 0 && !isLine {
			return false
		}
	}
	return found > 0
}

// appleReport recognizes crash reports of macOS and iOS: text, or two JSON values (.ips).
func appleReport(text []byte) Guess {
	line := firstLine(text)
	if bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"bug_type"`)) {
		return Guess{AppleCrash, "a crash report of macOS or iOS (.ips), not a minidump"}
	}
	marks := 0
	for _, m := range []string{"Incident Identifier:", "Process:  ", "Report Version:", "Exception Type:", "Crashed Thread:", "OS Version: "} {
		if bytes.Contains(text, []byte("\n"+m)) || bytes.HasPrefix(text, []byte(m)) {
			marks++
		}
	}
	if marks >= 3 {
		return Guess{AppleCrash, "a crash report of macOS or iOS (text), not a minidump"}
	}
	return Guess{}
}

// isText reports whether bytes are text: UTF-8 without control characters. whole says that the
// bytes are not cut off, so that a broken last character counts.
func isText(b []byte, whole bool) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			return !whole && len(b) < utf8.UTFMax
		}
		if unicode.IsControl(r) && !strings.ContainsRune("\t\n\v\f\r\x1b", r) {
			return false
		}
		b = b[n:]
	}
	return true
}

// firstBytes writes the first bytes in hexadecimal: "4d 5a 90 00 …".
func firstBytes(b []byte) string {
	if len(b) <= 8 {
		return fmt.Sprintf("% x", b)
	}
	return fmt.Sprintf("% x …", b[:8])
}

// clip shortens text to n characters.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// sniffReader is Sniff for bytes that are not a Source yet: one that is made later has no block of them in
// its cache.
func sniffReader(name string, r io.ReaderAt, size int64) Guess {
	return Sniff(input.New(name, r, size))
}
