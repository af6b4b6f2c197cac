package pdb

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
)

// types is a stream of type records (TPI) or of ids of functions (IPI). Records have no fixed size;
// a table of the numbers and offsets of some of them leads to near any other.
//
// Source: LLVM, docs/PDB/TpiStream.rst.
type types struct {
	s           *stream // or nil
	first, last uint32  // numbers: that of the first record, and the one after the last
	base, size  int64   // of the records in the stream
	hash        *stream
	index       int64 // of the table in hash
	ordered     ordered.Table
	// seen are offsets of records, every seenEach-th, of a stream without a table.
	seen  []int64
	names texts // that were made
}

const seenEach = 256

// openTypes opens the stream once.
//
//	 0 version, 4 size of this header, 8 first number, 12 number after the last, 16 bytes of records
//	20 stream of the hash u16, 22 further stream u16, 24 key size, 28 buckets
//	32 offset and size of the hashes, 40 of the table of (number, offset), 48 of adjustments
//
// The two last pairs are ranges of the stream of the hash.
func (f *File) openTypes(t **types, number int, what string) (*types, error) {
	if *t != nil {
		return *t, nil
	}
	out := &types{}
	if s := f.msf.stream(number, what); s != nil && s.Size > 0 {
		c := cursor(s, 0, s.Size)
		c.Skip(4)
		out.base = int64(c.U32())
		out.first, out.last = c.U32(), c.U32()
		out.size = int64(c.U32())
		hash := int(c.U16())
		c.Skip(2 + 4 + 4 + 4 + 4)
		index, size := int64(c.I32()), int64(c.U32())
		if c.Err() == nil && out.base+out.size > s.Size {
			c.FailAt(16, fmt.Sprintf("no more than %d bytes of records", max(s.Size-out.base, 0)), fmt.Sprint(out.size))
		}
		if err := f.pass(c.Err()); err != nil {
			return nil, err
		}
		if c.Err() == nil {
			out.s = s
			const entry = 8 // number, offset
			if h := f.msf.stream(hash, what+" index"); h != nil && index >= 0 && size >= entry && index+size <= h.Size {
				out.hash, out.index = h, index
				out.ordered = ordered.Table{N: int(size / entry), Key: func(i int) (uint64, error) {
					b, err := h.record(index+int64(i)*entry, 4)
					return uint64(u32(b, 0)), err
				}}
			}
		}
	}
	*t = out
	return out, nil
}

// record is a record by its number, from its length field on: 0 length, 2 kind. It is nil if the
// stream lacks it.
//
// Records are found from a known one near it: by the table, or, where a stream has none, by what
// was seen on earlier walks from the start. From there each record's length leads to the next.
func (t *types) record(number uint32) ([]byte, error) {
	if t.s == nil || number < t.first || number >= t.last {
		return nil, nil
	}
	at, n := int64(0), t.first // the offset of record n
	if t.hash != nil {
		pos, err := t.ordered.Search(uint64(number))
		if err != nil {
			return nil, err
		}
		if pos >= 0 {
			b, err := t.hash.record(t.index+int64(t.ordered.Record(pos))*8, 8)
			if err != nil {
				return nil, err
			}
			n, at = u32(b, 0), int64(u32(b, 4))
		}
	} else if len(t.seen) > 0 {
		i := min(int(number-t.first)/seenEach, len(t.seen)-1)
		n, at = t.first+uint32(i)*seenEach, t.seen[i]
	}
	for {
		if i := int(n-t.first) / seenEach; t.hash == nil && int(n-t.first)%seenEach == 0 && i == len(t.seen) {
			t.seen = append(t.seen, at)
		}
		block, start, err := t.s.Block(t.base + at)
		if err != nil {
			return nil, err
		}
		i := t.base + at - start
		// A record that begins in the last byte of a block has its length across two blocks.
		var head [2]byte
		if copy(head[:], block[i:]) < 2 {
			b, err := t.s.Bytes(t.base+at, 2)
			if err != nil {
				return nil, err
			}
			copy(head[:], b)
		}
		size := int64(binary.LittleEndian.Uint16(head[:])) + 2
		if size < 4 || size > t.size-at {
			return nil, &input.FormatError{File: t.s.Name, Part: "types", Offset: t.base + at, Want: fmt.Sprintf("a record of 4 to %d bytes", t.size-at), Have: fmt.Sprint(size)}
		}
		if n == number {
			if i+size <= int64(len(block)) {
				return block[i : i+size], nil
			}
			return t.s.Bytes(t.base+at, size)
		}
		// A table leads to each 8 KB of records or so, but that of a damaged file need not.
		const together = 64
		if at, n = at+size, n+1; n%together == 0 {
			if err := t.s.Draw(input.Work, together); err != nil {
				return nil, t.s.Wrap("types", t.base+at, err)
			}
		}
	}
}

// Kinds of type records.
//
// Source: microsoft-pdb, include/cvinfo.h (LEAF_ENUM_e).
const (
	leafModifier  = 0x1001
	leafPointer   = 0x1002
	leafProcedure = 0x1008
	leafMember    = 0x1009 // LF_MFUNCTION
	leafArgList   = 0x1201
	leafArray     = 0x1503
	leafClass     = 0x1504
	leafStructure = 0x1505
	leafUnion     = 0x1506
	leafEnum      = 0x1507
	leafInterface = 0x1519
	leafFuncID    = 0x1601
	leafMFuncID   = 0x1602
	leafStringID  = 0x1605
)

// functionName is an inlined function's name with its scope and parameters, by its id.
//
// A free function's record (LF_FUNC_ID) has the namespace as text, a method's (LF_MFUNC_ID) its
// class as a type. Names inside of classes are without it: "push_back" becomes
// "std::vector<int>::push_back(int const&)".
func (f *File) functionName(id uint32) (string, error) {
	ids, err := f.openTypes(&f.ids, streamIPI, "IPI")
	if err != nil {
		return "", err
	}
	if name, ok := ids.names.of[id]; ok {
		return name, nil
	}
	rec, err := ids.record(id)
	if err != nil {
		return "", f.pass(err)
	}
	text, scope := "", ""
	switch u16(rec, 2) {
	case leafFuncID: // 4 scope (a text's id), 8 type, 12 name
		text = zeroEnded(rec[min(12, len(rec)):])
		if s := u32(rec, 4); s != 0 && s != id {
			outer, err := ids.record(s)
			if err != nil {
				return "", f.pass(err)
			}
			if u16(outer, 2) == leafStringID { // 4 its parts, 8 text
				scope = namedScope(zeroEnded(outer[min(8, len(outer)):]))
			}
		}
	case leafMFuncID: // 4 class, 8 type, 12 name
		text = zeroEnded(rec[min(12, len(rec)):])
		if scope, err = f.typeName(u32(rec, 4)); err != nil {
			return "", f.pass(err)
		}
	default:
		return "", nil
	}
	if scope != "" {
		text = scope + "::" + text
	}
	args, err := f.parameters(u32(rec, 8))
	if err != nil {
		return "", f.pass(err)
	}
	text += args
	ids.names.keep(id, text)
	return text, nil
}

// namedScope writes namespaces without a name as the names of functions have them. In a scope they
// are "?A0x" and a number of the file.
func namedScope(scope string) string {
	const prefix = "?A0x"
	if !strings.Contains(scope, prefix) {
		return scope
	}
	parts := strings.Split(scope, "::")
	for i, p := range parts {
		if strings.HasPrefix(p, prefix) {
			parts[i] = "`anonymous namespace'"
		}
	}
	return strings.Join(parts, "::")
}

// idType is the type of an id: that of a function.
func (f *File) idType(id uint32) (uint32, error) {
	ids, err := f.openTypes(&f.ids, streamIPI, "IPI")
	if err != nil {
		return 0, err
	}
	rec, err := ids.record(id)
	return u32(rec, 8), err
}
