package binary

import (
	"encoding/binary"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/pdata"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// peProgram is a PE file, with its PDB or its separate debug file if that is attached.
type peProgram struct {
	src   *input.Source
	pe    *pe.File
	pdb   *pdbProgram
	debug *pe.File // see pe_debug.go
	// functions is the table in .pdata, opened once for the two unwind tables that use it.
	functions *pdata.Table
	packed    map[*pe.Section]*input.Source
	// x86 reads the code, and exported are the program's own names; both are for 32-bit x86 alone.
	x86      *codeReader
	exported *pe.Publics
	isGo     bool
	goPart   *goTable // see goPE
}

// openPE opens a PE file.
func openPE(src *input.Source, _ *input.Warnings) (program, error) {
	p, err := newPE(src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func newPE(src *input.Source) (*peProgram, error) {
	p, err := pe.Open(src)
	if err != nil {
		return nil, err
	}
	golang, err := isGo(p)
	if input.Needs(err) {
		return nil, err
	}
	return &peProgram{src: src, pe: p, packed: map[*pe.Section]*input.Source{}, x86: &codeReader{pe: p}, isGo: golang}, nil
}

// openImage opens an image in memory, if its whole function table is there. Dumps often have an
// image's headers and nothing else.
//
// File.Code and File.Row then read the dump's memory at the addresses of the module.
func openImage(src *input.Source) (program, error) {
	p, err := pe.OpenMapped(src)
	if err != nil {
		return nil, err
	}
	table, rva := p.Exceptions()
	if table == nil || table.Size == 0 {
		return nil, &input.FormatError{File: src.Name, Part: "exception directory", Offset: -1, Want: "a function table", Have: "none"}
	}
	// The first and the last byte of the table show that the dump has it.
	for _, at := range []int64{0, table.Size - 1} {
		if _, err := table.Bytes(at, 1); err != nil {
			return nil, src.Wrap("exception directory", int64(rva)+at, err)
		}
	}
	return &peProgram{src: src, pe: p, packed: map[*pe.Section]*input.Source{}, x86: &codeReader{pe: p}}, nil
}

func (f *peProgram) arch() *cpu.Arch               { return f.pe.Arch }
func (f *peProgram) base() uint64                  { return f.pe.Base }
func (f *peProgram) code(rva uint64, p []byte) int { return f.pe.ReadCode(rva, p) }

// warnings returns what is wrong with the file, and what of a hybrid file cannot be read.
func (f *peProgram) warnings() []string {
	out := append([]string(nil), f.pe.Warnings()...)
	if f.debug != nil {
		out = append(out, f.debug.Warnings()...)
	}
	if f.pe.Hybrid == "arm64ec" && f.pe.ExtraExceptions() == nil {
		out = append(out, f.src.Name+": has ARM64EC code as well as x64 code, and no function table of it that could be read")
	}
	return out
}

// sources returns the files that answers may come from, the PDB first, whose names are used.
func (f *peProgram) sources() []*input.Source {
	if f.pdb != nil {
		return append(f.pdb.sources(), f.src)
	}
	if f.debug != nil {
		return []*input.Source{f.debug.Src, f.src}
	}
	return []*input.Source{f.src}
}

// frameData returns the frame data of a PDB, on x86 with what the program's code adds to it.
func (f *peProgram) frameData() frameTable {
	var t frameTable
	names := func(func(uint64, string) error) error { return nil }
	if f.pdb != nil {
		t, names = f.pdb.pdb, f.pdb.pdb.Publics
	}
	if f.hasWin() {
		return x86Frames{code: f.x86, pdb: t, beginning: f.beginning, names: names}
	}
	return t
}

// attach attaches a PDB, or a separate debug file. It returns nil for another file, and for one of
// another program.
func (f *peProgram) attach(src *input.Source) (program, error) {
	head, err := firstBytes(src)
	switch {
	case err != nil:
		return nil, err
	case pe.Is(head):
		return f.attachDebug(src)
	case !pdb.Is(head) || f.pdb != nil:
		return nil, nil
	}
	p, err := pdb.Open(src)
	if err != nil {
		return nil, nil // opening it as a file of its own reports the error
	}
	return f.attachPDB(&pdbProgram{src, p})
}

// attachPDB attaches a PDB if it has the id that the program's CodeView record names.
func (f *peProgram) attachPDB(p *pdbProgram) (program, error) {
	switch want := f.pe.DebugID(); {
	case strings.EqualFold(p.pdb.DebugID, want):
		f.pdb = p
		return f, nil
	// A PDB of this name with another id is that of another build: the error says so.
	case want != "" && strings.EqualFold(baseName(p.src.Name), baseName(f.pe.CodeView.File)):
		return nil, &input.FormatError{File: p.src.Name, Offset: -1, Want: "the id " + want + ", which " + baseName(f.src.Name) + " names", Have: p.pdb.DebugID}
	}
	return nil, nil
}

// isCode reports whether an address is in a section of code.
func (f *peProgram) isCode(rva uint64) bool {
	s := f.pe.SectionAt(rva)
	return s != nil && s.Exec()
}

// identity returns the program's identity. As in Breakpad, a Windows module has the name of its
// PDB, if it names one.
func (f *peProgram) identity() symbol.Identity {
	p := f.pe
	id := symbol.Identity{Name: baseName(p.CodeView.File), DebugID: p.DebugID(), CodeID: p.CodeID(), CodeName: baseName(f.src.Name),
		OS: "windows", Stamped: true, ExactRules: true, Arch: dumpsyms.Arch(p.Arch), Size: uint64(p.ImageSize), Code: hasPECode(p)}
	if !id.Code {
		id.CodeName = debuggedName(id.CodeName, p.IsDLL())
	}
	if id.Name == "" {
		id.Name, id.CodeName = id.CodeName, ""
	}
	var code layout
	for i := range p.Sections {
		s := &p.Sections[i]
		id.Sections = append(id.Sections, symbol.Section{Range: symbol.Range{Start: uint64(s.RVA), Size: uint64(s.Size)}, Name: s.Name, Write: s.Write(), Exec: s.Exec()})
		if s.Exec() {
			code.add(s.Name, uint64(s.RVA), uint64(s.Size))
		}
	}
	id.CodeLayout = code.String()
	if name, _, ok := p.DebugLink(); ok {
		id.LinkedNames = []string{baseName(name)}
	}
	switch {
	case !id.Code:
		id.Kind = "debug file"
	case p.IsEFI():
		id.Kind = "EFI program"
	case p.IsDriver():
		id.Kind = "driver"
	case p.IsDLL():
		id.Kind = "library"
	default:
		id.Kind = "executable"
	}
	if p.Hybrid != "" {
		id.Kind += " (" + p.Hybrid + ")"
	}
	return id
}

// missing adds the PDB or the debug file, which have the functions and lines, and says about a debug
// file without its program that it has no unwind rules.
func (f *peProgram) missing(id *symbol.Identity, out *symbol.Contents) {
	out.NoProgram, out.ProgramName = !id.Code && !out.CFI, id.CodeName
	if name, _, linked := f.pe.DebugLink(); f.debug == nil && !out.Functions {
		if linked {
			out.Missing = append(out.Missing, "the separate debug file "+baseName(name))
		}
		if linked || id.DebugID != "" {
			out.DebugLayout = id.CodeLayout
		}
	}
	if name := baseName(f.pe.CodeView.File); f.pdb == nil && name != "" && !out.Functions && id.DebugID != "" {
		out.Missing = append(out.Missing, "the debug information "+name+" (id "+id.DebugID+")")
		out.DebugFile, out.DebugID = name, id.DebugID
	}
}

// section returns a debug section's uncompressed content, or nil if the files have none.
func (f *peProgram) section(name string) (*input.Source, error) {
	file := f.with(name)
	s := file.Section(name)
	if s == nil {
		return nil, nil
	}
	if d := f.packed[s]; d != nil {
		return d, nil
	}
	d, err := file.Data(s)
	if err != nil || s.Name == name {
		return d, err
	}
	// ".zdebug_…", which Go's linker writes.
	if d, err = elf.Unzip(d); err == nil {
		f.packed[s] = d
	}
	return d, err
}

// symbolSources returns what has functions and lines: the PDB, and DWARF sections, which compilers
// of the GNU family put into the program.
//
// MinGW and Go's linker write DWARF into PE files; MSVC and clang-cl write a PDB.
func (f *peProgram) symbolSources(symbols dwarf.Symbols) []*symbolSource {
	out := []*symbolSource{}
	if f.pdb != nil {
		out = f.pdb.symbolSources(symbols)
	}
	if file := f.with(".debug_info"); file.Section(".debug_info") != nil {
		out = append(out, sourceOf(".debug_info", file.Src, func() (symbolTable, error) {
			return dwarf.Open(dwarf.Sections{
				Get: f.section, Order: binary.LittleEndian, Base: file.Base, File: file.Src.Name,
			}, dwarf.Options{Symbols: symbols})
		}))
	}
	if g := f.goPE(); g != nil {
		out = append(out, g.source())
	}
	return out
}

// symbolTables returns the exports or the COFF symbol table. With a PDB there is none, because the
// PDB's public names include them.
func (f *peProgram) symbolTables() ([]*names, error) {
	if f.pdb != nil {
		return nil, nil
	}
	named := f.named()
	n := &names{full: named.HasSymbols(), onDemand: onDemand[nameTable]{section: "exports", src: named.Src, open: func() (nameTable, error) {
		p, err := named.Publics()
		if err != nil {
			return nil, err
		}
		// With a COFF symbol table every function has a name, so the function table is not needed
		// to end one.
		if src, _ := f.pe.Exceptions(); src == nil || f.pe.Arch == nil || f.hasWin() || f.pe.Hybrid != "" || named.HasSymbols() {
			return p, nil
		}
		t, err := f.pdata()
		return exports{p, t}, err
	}}}
	if n.full {
		n.section = "COFF symbol table"
	}
	return []*names{n}, nil
}

// exports is the export table. Most functions are not exported, so a lookup must not give an
// export's name to the function after it: the function table says where functions end.
type exports struct {
	*pe.Publics
	functions *pdata.Table
}

// Lookup implements nameTable. If the function table cannot be read, it returns the last name
// before the address.
func (n exports) Lookup(rva uint64) (symbol.Symbol, bool) {
	s, ok := n.Publics.Lookup(rva)
	if !ok {
		return s, false
	}
	if apart, err := n.functions.DifferentFunctions(s.Start, rva); err == nil && apart {
		return symbol.Symbol{}, false
	}
	return s, true
}

// unwindTables returns the tables in the order in which they are asked. .pdata is what Windows
// itself uses. The DWARF sections are those of compilers of the GNU family, and leaves are what no
// table has.
//
//	.debug_frame before a frame    AMD64, if the file has both: see atEntry; .gopclntab so, too
//	.pdata                         not on x86, which has none
//	.eh_frame, .debug_frame        MinGW's
//	.gopclntab                     Go's, in a stripped program
//	leaf functions                 code that .pdata lacks: functions without a frame
func (f *peProgram) unwindTables() []*table {
	out := []*table{}
	addOf := func(file *pe.File, kind string, open func() (unwind.Table, error)) {
		out = append(out, &table{section: kind, src: file.Src, open: open})
	}
	add := func(kind string, open func() (unwind.Table, error)) { addOf(f.pe, kind, open) }
	exceptions, _ := f.pe.Exceptions()
	hasTable := exceptions != nil && !f.hasWin() && hasPECode(f.pe)
	inFrame := f.with(".debug_frame")
	debugFrame := inFrame.Section(".debug_frame") != nil
	if hasTable && debugFrame && f.pe.Arch == cpu.AMD64 {
		addOf(inFrame, ".debug_frame before a frame", func() (unwind.Table, error) {
			t, err := f.debugFrame()
			return atEntry{t, f.pe.Arch}, err
		})
	}
	golang := f.goPE()
	if hasTable && golang != nil && f.pe.Arch == cpu.AMD64 {
		add(goSection+" before a frame", func() (unwind.Table, error) {
			t, err := golang.rules()
			return atEntry{t, f.pe.Arch}, err
		})
	}
	if f.pe.Hybrid != "" {
		f.hybridTables(add)
	} else if hasTable {
		add(".pdata", func() (unwind.Table, error) { return f.pdata() })
	}
	if s := f.pe.Section(".eh_frame"); s != nil {
		add(".eh_frame", func() (unwind.Table, error) {
			src, err := f.section(".eh_frame")
			if err != nil {
				return nil, err
			}
			return dwarfcfi.EHFrame(src, f.pe.Base+uint64(s.RVA), nil, 0, f.cfiConfig())
		})
	}
	if debugFrame {
		addOf(inFrame, ".debug_frame", f.debugFrame)
	}
	if golang != nil {
		add(goSection, golang.rules)
	}
	// In a hybrid file the table covers one processor, so an address that it lacks may be code of
	// the other.
	if hasTable && f.pe.Hybrid == "" {
		add("leaf functions", func() (unwind.Table, error) {
			t, err := f.pdata()
			if err != nil {
				return nil, err
			}
			return t.Leaves(), nil
		})
	}
	return out
}

// hasWin reports whether frames of the program's processor are found by frame data and not by a
// function table: those of x86.
func (f *peProgram) hasWin() bool { return f.pe.Arch != nil && f.pe.Arch.StackWIN }

// debugFrame opens .debug_frame.
func (f *peProgram) debugFrame() (unwind.Table, error) {
	src, err := f.section(".debug_frame")
	if err != nil {
		return nil, err
	}
	return dwarfcfi.DebugFrame(src, f.cfiConfig())
}

// beginning returns where the function around an address begins, by the PDB or the program's own
// names. Only x86Frames needs it.
func (f *peProgram) beginning(rva uint64) (uint64, bool, error) {
	if f.pdb != nil {
		s, ans, err := f.pdb.pdb.Lookup(rva)
		return s.Start, ans == symbol.Yes, err
	}
	if f.exported == nil {
		p, err := f.named().Publics()
		if err != nil {
			return 0, false, err
		}
		f.exported = p
	}
	s, ok := f.exported.Lookup(rva)
	return s.Start, ok, nil
}

// pdata opens the function table.
func (f *peProgram) pdata() (*pdata.Table, error) {
	if f.functions == nil {
		src, _ := f.pe.Exceptions()
		t, err := pdata.Open(src, pdata.Config{Arch: f.pe.Arch, File: f.src.Name, At: f.pe.At, Code: f.pe.Code(), Place: f.pe.Place})
		if err != nil {
			return nil, err
		}
		f.functions = t
	}
	return f.functions, nil
}

// cfiConfig returns what package dwarfcfi must know about the program.
func (f *peProgram) cfiConfig() dwarfcfi.Config {
	cfg := dwarfcfi.Config{Arch: f.pe.Arch, Order: binary.LittleEndian, AddressSize: f.pe.Class / 8, Base: f.pe.Base, File: f.src.Name,
		At: func(address uint64, n int64) ([]byte, error) { return f.pe.At(address-f.pe.Base, n) }}
	for i := range f.pe.Sections {
		switch s := &f.pe.Sections[i]; s.Name {
		case ".text":
			cfg.Text = f.pe.Base + uint64(s.RVA)
		case ".data":
			cfg.Data = f.pe.Base + uint64(s.RVA)
		}
	}
	return cfg
}
