package macho

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// Starts are the RVAs at which functions start, in order.
type Starts []uint32

// Starts reads LC_FUNCTION_STARTS: distances from one function to the next as ULEB128, the first
// from the header, up to a 0. Bit 0 of an address marks Thumb code, and is removed.
//
// For a file without the command, and for one in which it has no bytes (zig's linker), it is the
// addresses of the symbol table's code.
func (f *File) Starts() (Starts, error) {
	src := f.ranged("function starts", f.starts)
	all, err := src.Bytes(0, src.Size)
	if err != nil {
		return nil, err
	}
	if err := f.Src.Draw(input.Memory, 4*int64(len(all))); err != nil {
		return nil, err
	}
	out := make(Starts, 0, len(all))
	at := uint64(0)
	for len(all) > 0 {
		n, size := uleb(all)
		if size == 0 || n == 0 {
			break
		}
		all = all[size:]
		if n >= 1<<32-at {
			break
		}
		at += n
		rva := at
		if f.Arch != nil && f.Arch.ThumbBit {
			rva &^= 1
		}
		out = append(out, uint32(rva))
	}
	if len(out) == 0 {
		return f.symbolStarts()
	}
	return slices.Clip(out), nil
}

// altEntry is the bit of a symbol's description that says that the symbol is inside of the function
// before it (N_ALT_ENTRY in nlist.h).
const altEntry = 0x200

// symbolStarts are the addresses at which symbols of code are.
func (f *File) symbolStarts() (out Starts, err error) {
	err = f.Symbols(func(_ uint32, s *Sym) error {
		if !s.defined() || s.Desc&altEntry != 0 || s.Value < f.Base || s.Value-f.Base >= 1<<32 {
			return nil
		}
		if in := f.SectionAt(s.Value); in == nil || !in.Exec() {
			return nil
		}
		if len(out) == cap(out) {
			if err := f.Src.Draw(input.Memory, 4*int64(max(len(out), 64))); err != nil {
				return err
			}
		}
		rva := s.Value - f.Base
		if f.Arch != nil && f.Arch.ThumbBit {
			rva &^= 1
		}
		out = append(out, uint32(rva))
		return nil
	})
	slices.Sort(out)
	return slices.Clip(slices.Compact(out)), err
}

// Piece returns the code from the last start at or before an RVA to the next start, which is 1 << 32
// after the last one. ok is false before the first.
func (s Starts) Piece(rva uint64) (start, end uint64, ok bool) {
	next := sort.Search(len(s), func(i int) bool { return uint64(s[i]) > rva })
	end = 1 << 32
	if next < len(s) {
		end = uint64(s[next])
	}
	if next == 0 {
		return 0, end, false
	}
	return uint64(s[next-1]), end, true
}

// uleb decodes an unsigned LEB128 number of up to 64 bits. size is 0 if it does not end.
func uleb(b []byte) (n uint64, size int) {
	for shift := 0; size < len(b) && shift < 64; shift += 7 {
		x := b[size]
		size++
		n |= uint64(x&0x7f) << shift
		if x&0x80 == 0 {
			return n, size
		}
	}
	return 0, 0
}
