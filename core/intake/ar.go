package intake

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// An ar archive is a static library or a Debian package: a text of 8 bytes, then members at even
// offsets, each a header of 60 bytes and the member's bytes. A member is a part of the archive.
//
//	0 name 16 · 16 modification time 12 · 28 owner, group 6 each · 40 mode 8 · 48 size 10 · 58 "`\n"
//
// Numbers are decimal text. A name that does not fit is, as BSD writes it, before the member's bytes:
// "#1/LENGTH"; as GNU does, in the member "//" at an offset: "/OFFSET", ended by "/\n". Sources: ar(5)
// of FreeBSD; System V ABI, "Archive File".

const (
	arPart       = "ar archive"
	arMagic      = "!<arch>\n"
	arHeaderSize = 60
)

// openAr adds the members of an ar archive that are Mach-O objects, or the archives of a Debian
// package. Other objects have nothing that a dump needs.
func (e *expander) openAr(src *input.Source, depth int) {
	var longNames []byte
	used, others := false, 0
	for at := int64(len(arMagic)); at < src.Size; {
		h, err := src.Bytes(at, min(arHeaderSize, src.Size-at))
		if err == nil && len(bytes.Trim(h, "\n\x00")) == 0 {
			break // padding
		}
		data := at + arHeaderSize
		size, ok := int64(0), err == nil && len(h) == arHeaderSize && string(h[58:]) == "`\n"
		if ok {
			size, ok = arNumber(h[48:58])
		}
		if !ok {
			e.problem(src.Name, arPart, at, "no header of a member; those before are used", err)
			break
		}
		at = data + size + size&1
		name := strings.TrimRight(string(h[:16]), " ")
		switch {
		case name == "//":
			if longNames, err = src.Bytes(data, min(size, src.Size-data)); err != nil {
				e.problem(src.Name, arPart, data, "", err)
				return
			}
			continue
		case name == "/", name == "/SYM64/": // GNU's index
			continue
		case strings.HasPrefix(name, "#1/"):
			n, _ := strconv.ParseInt(name[3:], 10, 64)
			n = max(0, min(n, size, src.Size-data))
			text, err := src.Bytes(data, n)
			if err != nil {
				e.problem(src.Name, arPart, data, "", err)
				return
			}
			name, data, size = tarText(text), data+n, size-n
		case strings.HasPrefix(name, "/"):
			name = arName(longNames, name[1:])
		default:
			name = strings.TrimSuffix(name, "/") // GNU ends names so
		}
		if strings.HasPrefix(name, "__.SYMDEF") { // BSD's index
			continue
		}
		if !e.another(src, arPart) {
			return
		}
		k, whole := Sniff(src.Sub(name, data, size)).Kind, size <= src.Size-data
		if whole && k != MachO && (!k.IsPacked() || k.IsConverted()) {
			others++
			continue
		}
		used = true
		modified, _ := arNumber(h[16:28])
		if !e.addPart(src, name, data, size, modified, depth) {
			return
		}
	}
	if !used && others > 0 {
		e.problem(src.Name, arPart, -1, fmt.Sprintf("none of its %d files is a Mach-O object or a part of a Debian package", others), nil)
	}
}

// arNumber reads a number of a header. Blanks are 0.
func arNumber(field []byte) (int64, bool) {
	text := strings.TrimRight(string(field), " ")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0
}

// arName returns the name at an offset in the member of long names.
func arName(names []byte, offset string) string {
	n, err := strconv.Atoi(offset)
	if err != nil || n < 0 || n >= len(names) {
		return "/" + offset
	}
	name, _, _ := bytes.Cut(names[n:], []byte("\n"))
	return strings.TrimSuffix(string(name), "/")
}
