package main

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/exidx"
	"github.com/crashpane/crashpane/symfile/sframe"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// ruleTable is one kind of rules in a file, opened when it is wanted.
type ruleTable struct {
	source string
	open   func() (unwind.Table, error)
}

// rulesFile is a file with rules. Base is the address that its module-relative addresses count from.
type rulesFile struct {
	arch   *cpu.Arch
	base   uint64
	tables []ruleTable
}

// openRules opens an ELF file or a symbol file.
func openRules(src *input.Source) (*rulesFile, error) {
	head, err := src.Bytes(0, min(4, src.Size))
	if err != nil {
		return nil, err
	}
	if elf.Is(head) {
		return elfRules(src)
	}
	return symRules(src)
}

func symRules(src *input.Source) (*rulesFile, error) {
	f, err := symfile.Open(src, symfile.Options{})
	if err != nil {
		return nil, err
	}
	if !f.HasModule {
		return nil, fmt.Errorf("%s: neither an ELF file nor a symbol file", src.Name)
	}
	out := &rulesFile{}
	for _, a := range cpu.All() {
		if dumpsyms.Arch(a) == f.Module.Arch {
			out.arch = a
		}
	}
	if out.arch == nil {
		return nil, fmt.Errorf("%s: the registers of %q are not known", src.Name, f.Module.Arch)
	}
	if f.Counts.CFIInits > 0 {
		out.tables = []ruleTable{{"cfi", func() (unwind.Table, error) { return f.CFITable(out.arch), nil }}}
	}
	return out, nil
}

func elfRules(src *input.Source) (*rulesFile, error) {
	e, err := elf.Open(src)
	if err != nil {
		return nil, err
	}
	if e.Arch == nil {
		return nil, fmt.Errorf("%s: the registers of machine %d are not known", src.Name, e.Machine)
	}
	out := &rulesFile{arch: e.Arch, base: e.Base}
	cfg := dwarfcfi.Config{Arch: e.Arch, Order: e.Order, AddressSize: e.Class / 8, Base: e.Base, File: src.Name, At: e.At}
	for name, at := range map[string]*uint64{".text": &cfg.Text, ".data": &cfg.Data, ".got": &cfg.Got} {
		if s := e.Section(name); s != nil {
			*at = s.Address
		}
	}
	add := func(name string, open func(*elf.Section, *input.Source) (unwind.Table, error)) {
		s := e.Section("." + name)
		if name == "exidx" {
			s = e.Section(".ARM.exidx")
		}
		if s == nil || !s.HasBytes() || s.Size == 0 {
			return
		}
		out.tables = append(out.tables, ruleTable{name, func() (unwind.Table, error) {
			data, err := e.Data(s)
			if err != nil {
				return nil, err
			}
			return open(s, data)
		}})
	}
	add("eh_frame", func(s *elf.Section, data *input.Source) (unwind.Table, error) {
		var hdr *input.Source
		var at uint64
		if h := e.Section(".eh_frame_hdr"); h != nil && h.HasBytes() {
			var err error
			if hdr, err = e.Data(h); err != nil {
				return nil, err
			}
			at = h.Address
		}
		return dwarfcfi.EHFrame(data, s.Address, hdr, at, cfg)
	})
	add("debug_frame", func(_ *elf.Section, data *input.Source) (unwind.Table, error) { return dwarfcfi.DebugFrame(data, cfg) })
	add("sframe", func(s *elf.Section, data *input.Source) (unwind.Table, error) {
		return sframe.Open(data, s.Address, sframe.Config{Arch: e.Arch, Base: e.Base, File: src.Name})
	})
	if e.Arch == cpu.ARM {
		add("exidx", func(s *elf.Section, data *input.Source) (unwind.Table, error) {
			end := uint64(0)
			for i := range e.Sections {
				if c := &e.Sections[i]; c.Exec() {
					end = max(end, c.Address+c.Size)
				}
			}
			return exidx.Open(data, s.Address, e.At, exidx.Config{Order: e.Order, Base: e.Base, End: end, File: src.Name})
		})
	}
	return out, nil
}
