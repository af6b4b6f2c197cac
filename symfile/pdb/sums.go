package pdb

import (
	"encoding/hex"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// sumKinds are the kinds of checksums, by their numbers (CV_SourceChksum_t of cvinfo.h).
var sumKinds = []string{1: "MD5", 2: "SHA-1", 3: "SHA-256"}

// SourceSum returns the checksum of a source file of the object file that gave the code at an RVA.
//
// The entries of files are in the subsection of checksums: 0 offset of the name, 4 size of the checksum
// u8, 5 its kind u8, 6 the checksum; each begins at a multiple of 4.
func (f *File) SourceSum(rva uint64, path string) (symbol.Sum, error) {
	linked, _, ok, err := f.linked(rva)
	if err != nil || !ok || f.contributions == nil {
		return symbol.Sum{}, err
	}
	number, off, ok := f.split(linked)
	if !ok {
		return symbol.Sum{}, nil
	}
	from, covered, err := f.contributions.find(number, off)
	if err != nil || !covered {
		return symbol.Sum{}, err
	}
	m, err := f.module(from.module)
	if err != nil {
		return symbol.Sum{}, err
	}
	if err := m.aroundLines(); err != nil {
		return symbol.Sum{}, err
	}
	const head = 6
	for at := int64(0); at+head <= m.checksums.size; {
		b, err := m.bytes(m.checksums.off+at, head)
		if err != nil {
			return symbol.Sum{}, err
		}
		size, kind, name := int64(b[4]), int(b[5]), u32(b, 0)
		if at+head+size > m.checksums.size {
			break
		}
		text, err := m.f.text(name)
		if err != nil {
			return symbol.Sum{}, err
		}
		if text == path {
			if size == 0 || kind >= len(sumKinds) || sumKinds[kind] == "" {
				return symbol.Sum{}, nil
			}
			sum, err := m.bytes(m.checksums.off+at+head, size)
			return symbol.Sum{Kind: sumKinds[kind], Hex: hex.EncodeToString(sum)}, err
		}
		at += (head + size + 3) &^ 3
	}
	return symbol.Sum{}, nil
}
