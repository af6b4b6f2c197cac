package macho

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// Flags of an export: its kind in the low two bits, and that another library has it.
const (
	exportKind     = 0x3
	exportReexport = 0x8
)

// maxExportDepth is how deep the trie may be, and how long a name.
const maxExportDepth = 4096

// eachExport calls fn for each exported symbol with its offset from the header. Symbols of other
// libraries and absolute ones are passed over.
//
// The exports are a trie. A node is
//
//	uleb size of the terminal part, which is flags uleb and offset uleb ·
//	u8 number of children, each a zero-ended text and the child's offset in the trie as uleb
//
// The path of texts from the root to a node with a terminal part is a symbol's name.
func (f *File) eachExport(fn func(name string, offset uint64) error) error {
	src := f.ranged("exports trie", f.exports)
	b, err := src.Bytes(0, src.Size)
	if err != nil {
		return err
	}
	seen := make(map[uint64]bool)
	var visit func(at uint64, name []byte, depth int) error
	visit = func(at uint64, name []byte, depth int) error {
		bad := func(want, have string) error {
			return &input.FormatError{File: f.Src.Name, Part: "exports trie", Offset: int64(f.exports.off) + int64(at), Want: want, Have: have}
		}
		switch {
		case at >= uint64(len(b)):
			return bad("a node", fmt.Sprintf("an offset beyond its %d bytes", len(b)))
		case seen[at]:
			return bad("a node of its own", "one that is part of another name too")
		case len(name) > maxExportDepth || depth > maxExportDepth:
			return bad("a shorter name", fmt.Sprintf("%d bytes in %d parts", len(name), depth))
		}
		if err := f.Src.Draw(input.Memory, 48); err != nil { // an entry of seen
			return err
		}
		if err := f.Src.Draw(input.Work, int64(len(name))); err != nil {
			return err
		}
		seen[at] = true
		size, n := uleb(b[at:])
		rest := b[at+uint64(n):]
		if n == 0 || size > uint64(len(rest)) {
			return bad("the size of a node", "more than is left")
		}
		if size > 0 {
			flags, n := uleb(rest[:size])
			offset, m := uleb(rest[n:size])
			if n > 0 && m > 0 && flags&exportReexport == 0 && flags&exportKind == 0 {
				if err := fn(string(name), offset); err != nil {
					return err
				}
			}
		}
		rest = rest[size:]
		if len(rest) == 0 {
			return bad("a number of children", "the end")
		}
		children := int(rest[0])
		rest = rest[1:]
		for range children {
			end := 0
			for end < len(rest) && rest[end] != 0 {
				end++
			}
			if end == len(rest) {
				return bad("a text that ends", "the end")
			}
			child, n := uleb(rest[end+1:])
			if n == 0 {
				return bad("the offset of a child", "the end")
			}
			if err := visit(child, append(name, rest[:end]...), depth+1); err != nil {
				return err
			}
			rest = rest[end+1+n:]
		}
		return nil
	}
	if len(b) == 0 {
		return nil
	}
	return visit(0, nil, 0)
}
