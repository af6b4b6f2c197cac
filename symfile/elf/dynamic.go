package elf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// dynamic is the content of the dynamic section: the value of each tag (DT_…), an address or a
// size.
type dynamic struct {
	values map[uint64]uint64
}

// readDynamic reads the dynamic section, by its section header or its segment, and sets SoName and
// Interp. The section is an array that DT_NULL ends (gABI, chapter 5, "Dynamic Section"); w is the
// size of an address:
//
//	d_tag w | d_val or d_ptr w
func (f *File) readDynamic() {
	for _, s := range f.Segments {
		if s.Type == segInterp && s.FileSize > 0 { // in a debug file it has no bytes
			var err error
			f.Interp, err = f.Src.Sub(f.Src.Name+": interpreter", int64(min(s.Offset, 1<<62)), int64(min(s.FileSize, maxSectionName))).Text(0, maxSectionName)
			f.warnErr(err)
		}
	}
	var src *input.Source
	names := (*input.Source)(nil)
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Type == secDynamic {
			src = f.raw(s)
			if int(s.Link) < len(f.Sections) {
				names = f.raw(&f.Sections[s.Link])
			}
		}
	}
	if src == nil {
		for _, s := range f.Segments {
			if s.Type == segDynamic && s.Offset < uint64(f.Src.Size) && len(f.Sections) == 0 {
				src = f.Src.Sub(f.Src.Name+": dynamic segment", int64(s.Offset), int64(min(s.FileSize, 1<<62)))
			}
		}
	}
	if src == nil {
		return
	}
	d := &dynamic{values: map[uint64]uint64{}}
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	for range maxSections {
		if c.Left() < 2*f.word() {
			break
		}
		tag, value := f.addr(c), f.addr(c)
		if tag == 0 || c.Err() != nil {
			break
		}
		// DT_NEEDED occurs once for each library; the other tags occur once.
		if tag != dynNeeded {
			d.values[tag] = value
		}
	}
	if c.Err() != nil {
		f.warnErr(c.Err())
	}
	f.dyn = d
	if at, ok := d.values[dynSoName]; ok {
		if names == nil {
			names = f.loaded(d.values[dynStrtab], d.values[dynStrSize])
		}
		if names != nil {
			var err error
			f.SoName, err = names.Text(int64(min(at, 1<<62)), maxName)
			f.warnErr(err)
		}
	}
}

// loaded returns the part of the file that a segment maps to an address, or nil.
func (f *File) loaded(address, size uint64) *input.Source {
	for _, s := range f.Segments {
		if s.Type == segLoad && address >= s.Address && address-s.Address < s.FileSize {
			off := s.Offset + (address - s.Address)
			if off < s.Offset || off >= uint64(f.Src.Size) {
				return nil
			}
			return f.Src.Sub(fmt.Sprintf("%s: address 0x%x", f.Src.Name, address), int64(off), int64(min(size, s.FileSize-(address-s.Address))))
		}
	}
	return nil
}

// symbols finds the dynamic symbol table without section headers. The dynamic section does not have
// its length, but the hash tables do.
func (d *dynamic) symbols(f *File) *symTable {
	at, ok := d.values[dynSymtab]
	if !ok {
		return nil
	}
	names := f.loaded(d.values[dynStrtab], d.values[dynStrSize])
	// DT_HASH is exact and cheap. Many linkers write DT_GNU_HASH alone, whose chains must be
	// followed to the end.
	count := d.countByHash(f)
	if count == 0 {
		count = d.countByGNUHash(f)
	}
	if strtab := d.values[dynStrtab]; count == 0 && strtab > at { // linkers put the names right after the symbols
		count = (strtab - at) / uint64(f.symSize())
	}
	entries := f.loaded(at, count*uint64(f.symSize()))
	if entries == nil || names == nil {
		return nil
	}
	return &symTable{entries: entries, names: names, dynamic: true}
}

// countByHash returns the number of symbols by DT_HASH, which begins with nbucket and nchain;
// nchain is the number of symbols.
func (d *dynamic) countByHash(f *File) uint64 {
	at, ok := d.values[dynHash]
	src := f.loaded(at, 16)
	if !ok || src == nil {
		return 0
	}
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	if f.Class == 64 && f.cpu.WideHash { // its entries have 8 bytes
		c.U64()
		return min(c.U64(), 1<<32)
	}
	c.U32()
	return uint64(c.U32())
}

// countByGNUHash returns the number of symbols by DT_GNU_HASH. Its buckets have the first symbol of
// each chain. A chain ends at a hash with bit 0 set, and the chain that begins last ends with the
// last symbol.
//
//	nbuckets 4 | symoffset 4 | bloom_size 4 | bloom_shift 4 | bloom: bloom_size words | buckets: nbuckets × 4 | chains: hashes of
//	the symbols from symoffset on, 4 each
//
// Example: with symoffset 5 and the buckets 0, 5, 8, the last chain begins with symbol 8. Bit 0 is
// clear in the hash of symbol 8 and set in that of symbol 9, so there are 10 symbols.
func (d *dynamic) countByGNUHash(f *File) uint64 {
	at, ok := d.values[dynGNUHash]
	src := f.loaded(at, 1<<40)
	if !ok || src == nil {
		return 0
	}
	c := input.NewCursor(src, "", 0, src.Size, f.Order)
	buckets, first, bloom := c.U32(), c.U32(), c.U32()
	c.U32()
	c.Skip(int64(bloom) * f.word())
	last := uint32(0)
	for range buckets {
		last = max(last, c.U32())
		if c.Err() != nil {
			return 0
		}
	}
	if last < first {
		return uint64(first)
	}
	c.Skip(4 * int64(last-first))
	for ; c.Left() >= 4; last++ {
		if c.U32()&1 != 0 {
			return uint64(last) + 1
		}
	}
	return 0
}
