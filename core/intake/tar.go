package intake

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// A tar archive is a sequence of members, each a header of 512 bytes and the member's bytes, padded to
// a multiple of 512. A member is a part of the archive and is not copied.
//
//	0 name 100 · 124 size 12 · 136 modification time 12 · 148 check sum 8 · 156 type 1 · 257 magic 6 · 345 prefix of the name 155
//
// Numbers are octal text, or binary if the first byte has its high bit set (GNU). Sources: POSIX.1-2017,
// pax, "ustar Interchange Format" and "pax Interchange Format"; GNU tar's manual, "Basic Tar Format".

const (
	tarPart  = "tar archive"
	tarBlock = 512
	// maxTarNote bounds what is read of a long name or of extended attributes, in bytes.
	maxTarNote = 64 << 10
)

// Types of members.
const (
	tarFile, tarOldFile, tarContiguous = '0', 0, '7'
	tarLongName                        = 'L' // GNU: the name of the next member
	tarExtended                        = 'x' // pax: attributes of the next member
	tarSparse                          = 'S' // GNU: without its runs of zeros
)

// tarHeader is what a header says about a member, or what extended attributes before it do: then size and
// modified are -1 where they say nothing.
type tarHeader struct {
	name           string
	size, modified int64
	kind           byte
	sparse         bool
}

// isTar reports whether a block is a member's header: by its magic, or of one without (before POSIX) by
// its check sum.
func isTar(head []byte) bool {
	return len(head) >= tarBlock && (string(head[257:262]) == "ustar" || head[0] != 0 && tarSum(head))
}

// tarSum reports whether a header has the check sum that it states: the sum of its bytes, with spaces
// in place of the check sum. Old writers add signed bytes.
func tarSum(h []byte) bool {
	want, ok := tarNumber(h[148:156])
	unsigned, signed := int64(0), int64(0)
	for i, b := range h[:tarBlock] {
		if i >= 148 && i < 156 {
			b = ' '
		}
		unsigned, signed = unsigned+int64(b), signed+int64(int8(b))
	}
	return ok && (want == unsigned || want == signed)
}

// tarNumber reads a number of a header.
func tarNumber(field []byte) (n int64, ok bool) {
	if field[0]&0x80 != 0 {
		for i, b := range field {
			if i == 0 {
				b &= 0x3f // negative numbers become large ones
			}
			if n >= 1<<54 {
				return 0, false
			}
			n = n<<8 | int64(b)
		}
		return n, true
	}
	text := strings.Trim(string(field), " \x00")
	if text == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(text, 8, 64)
	return n, err == nil && n >= 0
}

// tarText reads a text of a header, which a zero may end.
func tarText(field []byte) string {
	text, _, _ := bytes.Cut(field, []byte{0})
	return string(text)
}

// parseTar reads a header. ok is false for other bytes.
func parseTar(h []byte) (t tarHeader, ok bool) {
	t.name, t.kind, t.sparse = tarText(h[:100]), h[156], h[156] == tarSparse
	if prefix := tarText(h[345:500]); prefix != "" && string(h[257:263]) == "ustar\x00" {
		t.name = prefix + "/" + t.name
	}
	t.size, ok = tarNumber(h[124:136])
	t.modified, _ = tarNumber(h[136:148])
	if t.kind >= '1' && t.kind <= '6' { // links, devices, folders have only a header
		t.size = 0
	}
	return t, ok && tarSum(h)
}

// extend reads pax attributes, each "LENGTH KEY=VALUE\n".
func (t *tarHeader) extend(attributes []byte) {
	for len(attributes) > 0 {
		length, _, _ := bytes.Cut(attributes, []byte(" "))
		n, err := strconv.Atoi(string(length))
		if err != nil || n <= len(length)+1 || n > len(attributes) {
			return
		}
		key, value, _ := strings.Cut(strings.TrimSuffix(string(attributes[len(length)+1:n]), "\n"), "=")
		attributes = attributes[n:]
		value, _, _ = strings.Cut(value, "\x00")
		seconds, _, _ := strings.Cut(value, ".")
		number, err := strconv.ParseInt(seconds, 10, 64)
		switch isNumber := err == nil && number >= 0; {
		case key == "path", key == "GNU.sparse.name":
			t.name = value
		case key == "size" && isNumber:
			t.size = number
		case key == "mtime" && isNumber:
			t.modified = number
		case strings.HasPrefix(key, "GNU.sparse."):
			t.sparse = true
		}
	}
}

// with returns the header with what attributes before it say in place of its own.
func (t tarHeader) with(said tarHeader) tarHeader {
	t.sparse = t.sparse || said.sparse
	if said.name != "" {
		t.name = said.name
	}
	if said.size >= 0 {
		t.size = said.size
	}
	if said.modified >= 0 {
		t.modified = said.modified
	}
	return t
}

// tarAtOnce is how many members of a tar archive are looked at before they are given to the caller.
const tarAtOnce = 64

// openTar adds the members of a tar archive, some at a time.
func (e *expander) openTar(src *input.Source, depth int) {
	nothing := tarHeader{size: -1, modified: -1}
	at, said := int64(0), nothing
	e.later(src.Name, 0, func(*task) (done bool) {
		for first := len(e.out); at < src.Size; {
			if n := len(e.out) - first; n >= tarAtOnce || n > 0 && e.pauses() {
				return false
			}
			next, ok := e.tarEntry(src, at, &said, depth)
			if !ok {
				return true
			}
			at = next
		}
		return true
	})
}

// tarEntry reads the header at an offset, adds its member, and returns where the next one is. ok is false at the end. said is
// what headers said about the member that follows them.
func (e *expander) tarEntry(src *input.Source, at int64, said *tarHeader, depth int) (next int64, ok bool) {
	block, err := src.Bytes(at, min(tarBlock, src.Size-at))
	if err == nil && len(bytes.Trim(block, "\x00")) == 0 {
		return 0, false // the end, or padding
	}
	h, ok := tarHeader{}, false
	if err == nil && len(block) == tarBlock {
		h, ok = parseTar(block)
	}
	if !ok {
		e.problem(src.Name, tarPart, at, "no header of a member; those before are used", err)
		return 0, false
	}
	data := at + tarBlock
	switch h.kind {
	case tarLongName, tarExtended:
		if h.size > src.Size-data {
			e.problem(src.Name, tarPart, data, "the end of the file in the middle of a member's name or attributes", nil)
			return 0, false
		}
		note, err := src.Bytes(data, min(h.size, maxTarNote))
		if err != nil {
			e.problem(src.Name, tarPart, data, "", err)
			return 0, false
		}
		if h.kind == tarLongName {
			said.name = tarText(note)
		} else {
			said.extend(note)
		}
	default:
		h = h.with(*said)
		*said = tarHeader{size: -1, modified: -1}
		if !e.tarMember(src, h, data, depth) {
			return 0, false
		}
	}
	if h.size > src.Size-data {
		return 0, false
	}
	return data + (h.size+tarBlock-1)/tarBlock*tarBlock, true
}

// tarMember adds a member whose bytes are at an offset, and reports whether to go on.
func (e *expander) tarMember(src *input.Source, h tarHeader, data int64, depth int) bool {
	name := strings.TrimPrefix(h.name, "./")
	if h.kind != tarFile && h.kind != tarOldFile && h.kind != tarContiguous && !h.sparse || strings.HasSuffix(name, "/") || isMetadata(name) {
		return true
	}
	if !e.another(src, tarPart) {
		return false
	}
	if h.sparse {
		e.problem(src.Name, fmt.Sprintf("member %q", name), data, "a file without its runs of zeros (sparse), which is not supported; unpack it first", nil)
		return true
	}
	return e.addPart(src, name, data, h.size, h.modified, depth)
}

// addPart adds a member that is a part of its archive, and reports whether to go on.
func (e *expander) addPart(src *input.Source, name string, off, size, modified int64, depth int) bool {
	full := src.Name + "/" + name
	if e.progressOf(full, src)(off); e.over {
		return false
	}
	if left := src.Size - off; size < 0 || size > left {
		e.problem(src.Name, fmt.Sprintf("member %q", name), off, fmt.Sprintf("a claimed size of %d bytes, where the archive has %d", uint64(size), left), nil)
	}
	inner := src.Sub(full, off, size)
	inner.Modified = modified
	e.expand(inner, Sniff(inner), depth+1, nil)
	return e.need == nil && !e.over && e.bombs <= maxBombs
}
