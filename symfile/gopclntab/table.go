// Package gopclntab reads the table that Go's linker puts into every program, also into stripped
// ones (-ldflags "-s -w"): the functions with their files, lines and inlined calls, and how far
// each instruction has moved the stack pointer. The runtime walks stacks with it.
//
//	header ─► functab: where functions begin ─► a function's record ─► pc-value tables: line, file, stack depth, inlined call
//	                                                                └► funcdata: the tree of its inlined calls
//
// Find looks for the table in a file that does not name it, Open reads the header. Then Lookup
// (lookup.go) and Each (each.go) have symbols, Rules (rules.go) unwind rules. A lookup searches
// functab and reads the records of one function.
//
// The format has no other specification than the runtime: runtime/symtab.go, runtime/symtabinl.go
// and internal/abi/symtab.go of Go's sources, and golang.org/s/go12symtab for what Go 1.2 began.
package gopclntab

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
)

// Config is what a reader must know about the program and the table does not contain. Addresses are
// those that the program was linked for.
type Config struct {
	// Arch is the processor; without it there are no unwind rules.
	Arch *cpu.Arch
	// Base is the address of RVA 0.
	Base uint64
	// File is the program's name, for origins and errors.
	File string
	// Code are the ranges of code that the file has the bytes of. Functions elsewhere are not
	// believed, so that the work on a table is bounded by the file's size.
	Code [][2]uint64
	// At reads n bytes at an address.
	At func(address uint64, n int64) ([]byte, error)
	// Data are the parts of the file that may have the linker's list of tables (see module).
	Data []Part
	// Relocated has the words that the loader computes, in a file that leaves them 0. It is nil if all
	// words have their values in the file.
	Relocated Relocated
}

// Relocated are words of a program: their addresses, and their values at the address that the
// program was linked for.
type Relocated interface {
	Each(fn func(at, value uint64) error) error
	At(address uint64) (value uint64, ok bool, err error)
}

// Part is a range of the program's memory that the file has.
type Part struct {
	Address uint64
	Src     *input.Source
}

const part = ".gopclntab"

// Table is an opened table.
type Table struct {
	src     *input.Source
	address uint64
	cfg     Config
	header
	module    module
	functions ordered.Table
	warnings  input.Warnings
	textLeft  *int64 // how many bytes of text Each may still read, nil elsewhere
}

// Open opens the table that begins with src and is linked at an address.
func Open(src *input.Source, address uint64, cfg Config) (*Table, error) {
	if cfg.At == nil {
		return nil, errors.New("gopclntab: no reader of the program's memory is given")
	}
	h, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	cfg.Code = merge(cfg.Code)
	t := &Table{src: src, address: address, cfg: cfg, header: h}
	if a := cfg.Arch; a != nil && a.WordSize != h.word {
		return nil, t.bad(7, fmt.Sprintf("pointers of %d bytes", a.WordSize), fmt.Sprint(h.word))
	}
	if err := t.findModule(); err != nil {
		return nil, err
	}
	t.functions = ordered.Table{N: h.count, Key: t.start}
	return t, nil
}

// bad returns an error about the table at an offset.
func (t *Table) bad(off int64, want, have string) error {
	return &input.FormatError{File: t.cfg.File, Part: part, Offset: off, Want: want, Have: have}
}

// Warnings lists what could not be read so far.
func (t *Table) Warnings() []string { return t.warnings.List(t.cfg.File + ": " + part) }

// warn notes an error of a function that is left out. A *NeedError is returned instead.
func (t *Table) warn(err error) error {
	if input.Needs(err) {
		return err
	}
	t.warnings.AddKind("function", err)
	return nil
}

// cursor reads from an offset of the table on.
func (t *Table) cursor(off int64) *input.Cursor {
	return input.NewCursor(t.src, part, off, t.src.Size-min(off, t.src.Size), t.order)
}

// uint reads a number of n bytes, 4 or 8.
func uint(c *input.Cursor, n int) uint64 {
	if n == 4 {
		return uint64(c.U32())
	}
	return c.U64()
}

// pointer reads a pointer of the program.
func (t *Table) pointer(address uint64) (uint64, error) {
	if t.cfg.Relocated != nil {
		if v, ok, err := t.cfg.Relocated.At(address); ok || err != nil {
			return v, err
		}
	}
	p, err := t.cfg.At(address, int64(t.word))
	if err != nil {
		return 0, err
	}
	return number(t.order, p, t.word), nil
}

// number decodes a number of n bytes, 4 or 8.
func number(order binary.ByteOrder, p []byte, n int) uint64 {
	if n == 4 {
		return uint64(order.Uint32(p))
	}
	return order.Uint64(p)
}

// maxText limits the length of names and paths.
const maxText = 1 << 16

// str reads a string that ends with a zero byte.
func (t *Table) str(off int64) (string, error) {
	s, err := t.src.Text(off, maxText+1)
	switch {
	case err != nil:
		return "", err
	case len(s) > maxText:
		return "", t.bad(off, "the end of a name", fmt.Sprintf("more than %d bytes", maxText))
	}
	return t.counted(s, off)
}

// counted returns a text, if Each may still have it.
func (t *Table) counted(s string, off int64) (string, error) {
	if t.textLeft == nil {
		return s, nil
	}
	if *t.textLeft -= int64(len(s)); *t.textLeft < 0 {
		return "", t.bad(off, "names of functions and files", "more text than the table can have")
	}
	return s, nil
}
