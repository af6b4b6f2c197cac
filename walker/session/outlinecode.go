package session

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// program returns the file that has the code: the binary itself, or of a symbol file a binary with its id;
// nil if none was added.
func (o *Outline) program() *symbols.File {
	if o.file.IsBinary {
		return o.file
	}
	if o.code != nil {
		return o.code
	}
	for _, c := range o.fs.store.For(o.file.Keys()) {
		if c.IsBinary && c.Identity.Code && (c.Sure || c.Answers(o.file.ID())) {
			o.code = c.File
			o.fs.store.Use(o.code)
			break
		}
	}
	return o.code
}

// unknownCPU is in place of a processor that core/cpu does not have: its code is shown as bytes, in rows of 4.
var unknownCPU = &cpu.Arch{Name: "this processor's", WordSize: 8, Code: cpu.Code{JumpAlign: 4}}

// CodeAt returns the code around an address, with the rules by which callers are found. The address's lowest bit
// says on 32-bit arm that it is Thumb code.
func (o *Outline) CodeAt(at uint64, wish CodeWish) (*report.Code, error) {
	arch := cmp.Or(o.arch, unknownCPU)
	c := &coder{of: o, src: o.file.Source(), order: binary.LittleEndian, arch: arch, thumb: arch.ThumbBit && at&1 == 1, wish: wish, out: &report.Code{}}
	if o.bigEndian() {
		c.order = binary.BigEndian
	}
	return c.at(at).done(o.fs.opt.Demangle), nil
}

// Position is the position in the source of an address, in the innermost inlined call there; "" and 0 if none is known.
func (o *Outline) Position(address uint64) (file string, line int) {
	l := o.locate(address)
	file, n := l.position()
	return file, int(n)
}

// Address returns the address of what a text names: an address, or the function that has exactly this name, as the
// file has it or readable; else the only one whose name contains it. named: it is a function's. The error says how many
// have it.
func (o *Outline) Address(text string) (at uint64, named bool, err error) {
	wish, address, is := ParseOutline(text)
	if is {
		return address, false, nil
	}
	wish.Kind = report.OutlineFunctions
	var list *report.OutlineList
	for ended := false; !ended; ended = list.Ended {
		if list, err = o.List(wish, 0, maxOutline, 1<<40); err != nil {
			return 0, false, err
		}
	}
	for i := range list.Rows {
		name := &list.Rows[i].Name
		if name.Raw == text || o.fs.opt.Demangle != nil && o.fs.opt.Demangle(name.Raw) == text {
			return list.Rows[i].Address, true, nil
		}
	}
	switch list.Total {
	case 0:
		return 0, false, errors.New("no function has the name " + text)
	case 1:
		return list.Rows[0].Address, true, nil
	}
	return 0, false, fmt.Errorf("%d functions have %s in their names: crashpane outline lists them", list.Total, text)
}

// SymbolsOf returns the item of a symbol file of a binary, if one was added, else the binary's own.
func (fs *Files) SymbolsOf(item int) int {
	if f := fs.file(item); f != nil && f.IsBinary {
		for _, c := range fs.store.For(f.Keys()) {
			if !c.IsBinary && f.Answers(c.ID()) && fs.itemOf(c.File) >= 0 {
				return fs.itemOf(c.File)
			}
		}
	}
	return item
}

// Report is what renderers of the outline's code need of a report: its module 0 is the file.
func (o *Outline) Report() *report.Report {
	k := &o.file.Known
	m := report.Module{Name: k.CodeName, DebugID: k.ID, CodeID: k.CodeID}
	m.Name = cmp.Or(m.Name, k.Name)
	if _, absent := o.noCode(); absent && o.file.IsBinary {
		m.Name = "the program" // the name of its debug file is not its own
	}
	r := &report.Report{Modules: []report.Module{m}}
	if r.Dump.WordSize = 8; o.arch != nil {
		r.Dump.WordSize = o.arch.WordSize
	}
	return r
}

func (o *Outline) readCode(address uint64, p []byte) (n int) {
	if f := o.program(); f != nil {
		f.WithBinary(func(b symbols.Binary) { n = b.Code(o.rva(address), p) })
	}
	return n
}

// locate looks up in the symbol file, or in the binary.
func (o *Outline) locate(address uint64) located {
	l := located{rva: o.rva(address)}
	sym, answer, err := o.file.Lookup(l.rva)
	if sym.Extent == symbol.Passed {
		sym.Name, sym.Linked = "", false
	}
	l.sym, l.known = sym, err == nil && answer == symbol.Yes && (sym.Name != "" || sym.HasLine)
	if f := o.program(); f != nil {
		if size := f.Identity.Size; size > 0 && l.rva >= size {
			l.module = -1
		}
		if o.arch != nil && o.arch.ThumbBit {
			l.thumb = true
			f.WithBinary(func(b symbols.Binary) { l.thumb = !b.IsARM(l.rva) })
		}
	}
	return l
}

func (o *Outline) bigEndian() (is bool) {
	if f := o.program(); f != nil {
		f.WithBinary(func(b symbols.Binary) { is = b.BigEndian() })
	}
	return is
}

func (o *Outline) codeFile(int) string { return o.program().Name() }

func (o *Outline) noCode() (string, bool) {
	f, has := o.program(), false
	if f == nil {
		return "a symbol file has no code, and the program that it is of was not added", true
	}
	if f.WithBinary(func(b symbols.Binary) { has = b.Identity().Code }); !has {
		return "the file has debug information and no code", true
	}
	return "the program has no code there", false
}

func (o *Outline) rule(address uint64) string {
	place := &report.OutlinePlace{}
	o.addRule(place, o.rva(address))
	if place.Rule == nil {
		return ""
	}
	return place.Rule.Short()
}
