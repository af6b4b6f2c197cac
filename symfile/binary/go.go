package binary

import (
	"bytes"
	le "encoding/binary"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/gopclntab"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// goTable is the table of functions in a program of Go, opened when it is needed. Its names, lines
// and rules are asked after those of all other sources: they are all that is left in a stripped
// program, and elsewhere the only ones for Go's assembler functions.
type goTable struct{ onDemand[*gopclntab.Table] }

// goSection is the name of its section in ELF files.
const goSection = ".gopclntab"

// source returns the table as a source of functions.
func (g *goTable) source() *symbolSource {
	s := sourceOf(goSection, g.src, func() (symbolTable, error) { return g.get() })
	s.functions, s.lines, s.inlines, s.asked, s.gaps = true, true, true, true, true
	return s
}

// rules opens the table as a source of unwind rules.
func (g *goTable) rules() (unwind.Table, error) {
	t, err := g.get()
	if err != nil {
		return nil, err
	}
	return t.Rules(), nil
}

// goELF returns the table of an ELF file, or nil. If no section has its name, Go's note says that
// there is one in a segment: in files without section headers, and in position-independent ones,
// where the system's linker makes it a part of .data.rel.ro.
func (f *elfProgram) goELF() *goTable {
	if f.goPart != nil || f.elf.Arch == nil || !hasCode(f.elf) {
		return f.goPart
	}
	e := f.elf
	var open func() (gopclntab.Part, error)
	for i := range e.Sections {
		if s := &e.Sections[i]; strings.HasSuffix(s.Name, goSection) && s.HasBytes() { // also .data.rel.ro.gopclntab
			open = func() (gopclntab.Part, error) {
				src, err := e.Data(s)
				return gopclntab.Part{Address: s.Address, Src: src}, err
			}
		}
	}
	if open == nil && hasGoNote(e) {
		open = func() (gopclntab.Part, error) {
			return findGo(append(segments(e, false), segments(e, true)...), e.Src.Name, e.Order, e.Class/8)
		}
	}
	if open == nil {
		return nil
	}
	f.goPart = &goTable{onDemand[*gopclntab.Table]{section: goSection, src: e.Src, open: func() (*gopclntab.Table, error) {
		p, err := open()
		if err != nil {
			return nil, err
		}
		cfg := gopclntab.Config{Arch: e.Arch, Base: e.Base, File: e.Src.Name, At: e.At, Code: elfCode(e), Data: segments(e, true)}
		if r := e.Relative(); r != nil {
			cfg.Relocated = r
		}
		return gopclntab.Open(p.Src, p.Address, cfg)
	}}}
	return f.goPart
}

// findGo searches parts of a file for the table.
func findGo(parts []gopclntab.Part, file string, order le.ByteOrder, word int) (gopclntab.Part, error) {
	for _, p := range parts {
		off, err := gopclntab.Find(p, order, word)
		if err != nil {
			return gopclntab.Part{}, err
		}
		if off >= 0 {
			return gopclntab.Part{Address: p.Address + uint64(off), Src: p.Src.Sub(p.Src.Name, off, p.Src.Size-off)}, nil
		}
	}
	return gopclntab.Part{}, &input.FormatError{File: file, Part: goSection, Offset: -1, Want: "Go's table of functions", Have: "none"}
}

// segments returns the parts of the file that are loaded, writable or not. Those that are written
// once, when the program is relocated, are among the former.
func segments(e *elf.File, writable bool) (out []gopclntab.Part) {
	for _, s := range e.Segments {
		if s.Type == segLoad && s.FileSize > 0 && (s.Flags&segWrite != 0) == writable {
			out = append(out, gopclntab.Part{Address: s.Address, Src: part(e, "data", s.Offset, s.FileSize)})
		}
	}
	return out
}

// elfCode returns the ranges of code that the file has.
func elfCode(e *elf.File) (out [][2]uint64) {
	for _, s := range e.Segments {
		if s.Type == segLoad && s.Flags&segExec != 0 && s.FileSize > 0 && s.Address+s.FileSize > s.Address {
			out = append(out, [2]uint64{s.Address, s.Address + min(s.FileSize, uint64(e.Src.Size))})
		}
	}
	return out
}

// hasGoNote reports whether a file has the note in which Go's linker writes the program's build id:
// owner "Go", type 4 (cmd/internal/buildid).
func hasGoNote(e *elf.File) bool {
	const segNote, most = 4, 4 << 10
	for _, s := range e.Segments {
		if s.Type != segNote || s.FileSize > most {
			continue
		}
		p, err := part(e, "notes", s.Offset, s.FileSize).Bytes(0, int64(s.FileSize))
		if err != nil {
			continue
		}
		owner := []byte("\x04\x00\x00\x00Go\x00\x00") // n_type, which is before the name
		e.Order.PutUint32(owner, 4)
		if bytes.Contains(p, owner) {
			return true
		}
	}
	return false
}

// isGo reports whether a PE file is a program of Go: its linker writes the program's build id at the
// beginning of .text, where gcc's linker puts some functions of C before it
// (debug/buildinfo, cmd/internal/buildid).
func isGo(p *pe.File) (bool, error) {
	const most = 4 << 10
	s := p.Section(".text")
	if s == nil {
		return false, nil
	}
	src, err := p.Data(s)
	if err != nil {
		return false, err
	}
	b, err := src.Bytes(0, min(most, src.Size))
	return bytes.Contains(b, []byte("\xff Go build ID: \"")), err
}

// goPE returns the table of a PE file, or nil. It is somewhere in the read-only data, which Go's linker
// has made executable too in older releases, or put into .text (before Go 1.11).
func (f *peProgram) goPE() *goTable {
	if f.goPart != nil || !f.isGo || f.pe.Arch == nil {
		return f.goPart
	}
	p := f.pe
	f.goPart = &goTable{onDemand[*gopclntab.Table]{section: goSection, src: f.src, open: func() (*gopclntab.Table, error) {
		cfg := gopclntab.Config{Arch: p.Arch, Base: p.Base, File: f.src.Name,
			At: func(address uint64, n int64) ([]byte, error) { return p.At(address-p.Base, n) }}
		for _, r := range p.Code() {
			cfg.Code = append(cfg.Code, [2]uint64{p.Base + r[0], p.Base + r[1]})
		}
		var constant, code []gopclntab.Part
		for i := range p.Sections {
			s := &p.Sections[i]
			src, err := p.Data(s)
			part := gopclntab.Part{Address: p.Base + uint64(s.RVA), Src: src}
			switch {
			case input.Needs(err):
				return nil, err
			case err != nil:
			case s.Exec():
				code = append(code, part)
			case s.Write():
				cfg.Data = append(cfg.Data, part)
			default:
				constant = append(constant, part)
			}
		}
		t, err := findGo(append(constant, code...), f.src.Name, le.LittleEndian, p.Class/8)
		if err != nil {
			return nil, err
		}
		return gopclntab.Open(t.Src, t.Address, cfg)
	}}}
	return f.goPart
}

// goMachO returns the table of a Mach-O file, or nil: Go's linker and Apple's both leave it a section
// of its own.
func (f *machoProgram) goMachO() *goTable {
	m := f.macho
	s := m.Section("__gopclntab")
	if f.goPart != nil || s == nil || !s.HasBytes() || m.Arch == nil || !m.HasCode() {
		return f.goPart
	}
	f.goPart = &goTable{onDemand[*gopclntab.Table]{section: goSection, src: m.Src, open: func() (*gopclntab.Table, error) {
		src, err := m.Data(s)
		if err != nil {
			return nil, err
		}
		cfg := gopclntab.Config{Arch: m.Arch, Base: m.Base, File: m.Src.Name, At: m.At}
		for i := range m.Sections {
			if s := &m.Sections[i]; s.Exec() && s.HasBytes() && s.Address+s.Size > s.Address {
				cfg.Code = append(cfg.Code, [2]uint64{s.Address, s.Address + min(s.Size, uint64(m.Src.Size))})
			}
		}
		for i := range m.Segments {
			if s := &m.Segments[i]; s.Writable() && s.FileSize > 0 {
				cfg.Data = append(cfg.Data, gopclntab.Part{Address: s.Address, Src: m.Src.Sub(m.Src.Name+": "+s.Name, int64(min(s.Offset, uint64(m.Src.Size))), int64(min(s.FileSize, uint64(m.Src.Size))))})
			}
		}
		if x, err := m.Fixups(); err != nil {
			return nil, err
		} else if x != nil {
			cfg.Relocated = x
		}
		return gopclntab.Open(src, s.Address, cfg)
	}}}
	return f.goPart
}
