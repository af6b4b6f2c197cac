package elf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// Sym is one entry of a symbol table.
type Sym struct {
	// Name as it is in the file, without a version ("@GLIBC_2.2.5").
	Name string
	// Value is the link-time address as the table has it: bit 0 is set for Thumb functions, and a
	// function of big-endian ppc64 (ELFv1) has the address of its descriptor. In object files it
	// includes the section's assigned address.
	Value, Size uint64
	// Type is one of SymNoType…, Bind one of BindLocal….
	Type, Bind uint8
	Other      uint8
	// Section is the section's index: 0 if the symbol is undefined, 0xfffffff1 for an absolute
	// value (SHN_ABS), 0xfffffff2 for common storage (SHN_COMMON). In the file the latter are
	// 0xfff1 and 0xfff2, which can be indexes in a file with many sections.
	Section uint32
	nameAt  uint32
}

// Defined reports whether the symbol has an address in this file.
func (s *Sym) Defined() bool {
	return s.Section != indexUndef && s.Section < indexReserve
}

// symTable is a symbol table and its names.
type symTable struct {
	entries, names *input.Source
	more           *input.Source // SHT_SYMTAB_SHNDX: section indexes above 16 bits, or nil
	dynamic        bool
}

// table returns the symbol table of a section type, or nil. Without section headers it finds
// .dynsym by the dynamic section.
func (f *File) table(kind uint32) *symTable {
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Type != kind || s.Size == 0 {
			continue
		}
		return f.tableOf(s)
	}
	if kind == secDynsym && f.dyn != nil {
		return f.dyn.symbols(f)
	}
	return nil
}

// tableOf returns the symbol table in a section.
func (f *File) tableOf(s *Section) *symTable {
	if t := f.tables[s]; t != nil {
		return t
	}
	t := &symTable{entries: f.raw(s), dynamic: s.Type == secDynsym}
	if int(s.Link) < len(f.Sections) && f.Sections[s.Link].HasBytes() {
		t.names = f.raw(&f.Sections[s.Link])
	} else {
		f.warn("section "+s.Name, s.Offset, "the number of its section of names", fmt.Sprint(s.Link))
		t.names = input.FromBytes("", nil)
	}
	for i := range f.Sections {
		if m := &f.Sections[i]; m.Type == secSymtabShndx && int(m.Link) == s.Index {
			t.more = f.raw(m)
		}
	}
	f.tables[s] = t
	return t
}

// symSize returns the size in bytes of a symbol table's entry.
func (f *File) symSize() int64 {
	if f.Class == 64 {
		return 24
	}
	return 16
}

// each calls fn for every entry after the null entry. It does not read names (see symbolName). The
// next call overwrites s.
func (f *File) each(t *symTable, fn func(i uint32, s *Sym) error) error {
	size := f.symSize()
	c := input.NewCursor(t.entries, "", 0, t.entries.Size, f.Order)
	// Entry 0 is the null symbol.
	c.Skip(min(size, t.entries.Size))
	var more *input.Cursor
	if t.more != nil {
		more = input.NewCursor(t.more, "", 0, t.more.Size, f.Order)
		more.Skip(min(4, t.more.Size))
	}
	var s Sym // outside the loop, to allocate it once
	for i := uint32(1); c.Left() >= size; i++ {
		s = Sym{}
		f.entry(c, &s)
		if more != nil && more.Left() >= 4 {
			if n := more.U32(); s.Section == indexMore {
				s.Section = n
			}
		}
		if c.Err() != nil {
			break
		}
		f.addSectionAddress(&s)
		if err := fn(i, &s); err != nil {
			return err
		}
	}
	return c.Err()
}

// entry reads an entry:
//
//	Elf32_Sym   st_name 4 | st_value 4 | st_size 4 | st_info 1 | st_other 1 | st_shndx 2
//	Elf64_Sym   st_name 4 | st_info 1 | st_other 1 | st_shndx 2 | st_value 8 | st_size 8
//
// st_info is the binding in the high four bits and the type in the low four: 0x12 is a global
// function.
func (f *File) entry(c *input.Cursor, s *Sym) {
	s.nameAt = c.U32()
	if f.Class == 32 {
		s.Value, s.Size = uint64(c.U32()), uint64(c.U32())
	}
	info := c.U8()
	s.Type, s.Bind = info&15, info>>4
	s.Other = c.U8()
	s.Section = uint32(c.U16())
	// Special indexes (0xff00 and above) are moved out of the range of real ones: see Sym.Section.
	if s.Section >= indexReserve&0xffff {
		s.Section |= 0xffff0000
	}
	if f.Class == 64 {
		s.Value, s.Size = c.U64(), c.U64()
	}
}

// addSectionAddress adds the section's assigned address to a symbol of an object file, whose value
// is an offset in the section.
func (f *File) addSectionAddress(s *Sym) {
	if f.Type == TypeRel && s.Defined() && int(s.Section) < len(f.Sections) {
		s.Value += f.Sections[s.Section].Address
	}
}

// symbolName reads a symbol's name, which is at an offset of the table's names.
func (f *File) symbolName(t *symTable, at uint32) string {
	name, _ := t.names.Text(int64(at), maxName)
	return name
}

// Symbols calls fn for every symbol of .symtab, or without one of .dynsym, in the order of
// the table. If fn returns an error, Symbols stops and returns it.
func (f *File) Symbols(fn func(Sym) error) error {
	t := f.table(secSymtab)
	if t == nil {
		return f.DynamicSymbols(fn)
	}
	return f.named(t, fn)
}

// DynamicSymbols calls fn for every symbol of .dynsym, the table that the loader uses.
func (f *File) DynamicSymbols(fn func(Sym) error) error {
	t := f.table(secDynsym)
	if t == nil {
		return nil
	}
	return f.named(t, fn)
}

// HasSymtab reports whether the file has .symtab, and not only .dynsym.
func (f *File) HasSymtab() bool { return f.table(secSymtab) != nil }

// named calls fn for the symbols of a table, with their names.
func (f *File) named(t *symTable, fn func(Sym) error) error {
	return f.each(t, func(_ uint32, s *Sym) error {
		s.Name = f.symbolName(t, s.nameAt)
		return fn(*s)
	})
}

// symbolValues returns a function that looks up a symbol's value by its index, for relocations.
// Symbol 0 and symbols that are defined in other files have the value 0.
func (f *File) symbolValues(s *Section) func(uint32) (uint64, error) {
	if s.Type != secSymtab && s.Type != secDynsym {
		return func(uint32) (uint64, error) { return 0, nil }
	}
	t := f.tableOf(s)
	return func(i uint32) (uint64, error) {
		if i == 0 {
			return 0, nil
		}
		sym, err := f.symbol(t, i)
		if err != nil || sym.Section == indexUndef || sym.Section == indexCommon {
			return 0, err
		}
		return sym.Value, nil
	}
}

// symbol reads one entry by its index, without its name.
func (f *File) symbol(t *symTable, i uint32) (s Sym, err error) {
	size := f.symSize()
	c := input.NewCursor(t.entries, "symbol", int64(i)*size, size, f.Order)
	f.entry(c, &s)
	if c.Err() != nil {
		return Sym{}, c.Err()
	}
	if s.Section == indexMore && t.more != nil {
		m := input.NewCursor(t.more, "symbol", 4*int64(i), 4, f.Order)
		s.Section = m.U32()
	}
	f.addSectionAddress(&s)
	return s, nil
}
