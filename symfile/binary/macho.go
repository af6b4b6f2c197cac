package binary

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/compact"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// machoProgram is a Mach-O file, with the debug information of its dSYM or its objects if these are
// attached.
type machoProgram struct {
	src      *input.Source
	macho    *macho.File
	dsym     *macho.File
	objects  map[string][]*input.Source // attached, by objectName
	debugMap *macho.DebugMap            // nil until it is read
	starts   *macho.Starts              // nil until they are asked for
	goPart   *goTable                   // see goMachO
	packed   map[*macho.Section]*input.Source
}

// openMachO opens a thin file. A core file is refused: it is a dump of a process and no program.
func openMachO(src *input.Source, _ *input.Warnings) (program, error) {
	m, err := macho.Open(src)
	if err != nil {
		return nil, err
	}
	if m.Type == macho.TypeCore {
		return nil, &input.FormatError{File: src.Name, Part: "Mach-O header", Offset: 12, Want: "an executable, library, object or debug file", Have: "a core file"}
	}
	return &machoProgram{src: src, macho: m}, nil
}

func (f *machoProgram) arch() *cpu.Arch       { return f.macho.Arch }
func (f *machoProgram) base() uint64          { return f.macho.Base }
func (f *machoProgram) frameData() frameTable { return nil }

// files returns the program and its dSYM.
func (f *machoProgram) files() []*macho.File {
	if f.dsym != nil {
		return []*macho.File{f.macho, f.dsym}
	}
	return []*macho.File{f.macho}
}

func (f *machoProgram) warnings() (out []string) {
	for _, m := range f.files() {
		out = append(out, m.Warnings()...)
	}
	return out
}

func (f *machoProgram) sources() (out []*input.Source) {
	for _, m := range f.files() {
		out = append(out, m.Src)
	}
	return out
}

// machoKinds are the kinds of files in words.
var machoKinds = map[uint32]string{macho.TypeObject: "object file", macho.TypeExecutable: "executable", macho.TypeDylib: "library", macho.TypeBundle: "bundle",
	macho.TypeDSYM: "dSYM", macho.TypeKext: "kernel extension", macho.TypeFileSet: "kernel collection"}

// identity returns the file's identity. A module has the uuid as its debug id and as its code id.
func (f *machoProgram) identity() symbol.Identity {
	m := f.macho
	id := symbol.Identity{Name: baseName(m.InstallName), DebugID: m.DebugID(), OS: "mac", Arch: machoArch(m), Code: m.HasCode(), Kind: machoKinds[m.Type], IDLoaded: true}
	if id.Name == "" {
		id.Name = strings.TrimSuffix(baseName(f.src.Name), ".dSYM")
	}
	if id.Kind == "" {
		id.Kind = fmt.Sprintf("Mach-O file of type %d", m.Type)
	}
	var code layout
	for i := range m.Sections {
		if s := &m.Sections[i]; s.Exec() {
			code.add(s.Name, s.Address, s.Size)
		}
	}
	id.CodeLayout = code.String()
	id.Object, id.NeedsObjects = m.Type == macho.TypeObject, f.mayHaveObjects()
	for _, s := range m.Segments {
		if s.Name != "__PAGEZERO" && s.Name != "__LINKEDIT" && s.Name != "__DWARF" && s.Address+s.Size > m.Base {
			id.Size = max(id.Size, s.Address+s.Size-m.Base)
		}
	}
	return id
}

// machoArch is the word for the processor in a MODULE record.
func machoArch(m *macho.File) string {
	switch {
	case m.CPU == 0x0200000c:
		return "arm64_32"
	case m.Arch == cpu.ARM64 && m.SubCPU == 2:
		return "arm64e"
	}
	return dumpsyms.Arch(m.Arch)
}

// code reads bytes that are the same in memory: those of segments that are not writable.
func (f *machoProgram) code(rva uint64, p []byte) int {
	if !f.macho.HasCode() {
		return 0
	}
	address := f.macho.Base + rva
	for i := range f.macho.Segments {
		s := &f.macho.Segments[i]
		if address < s.Address || address-s.Address >= s.FileSize {
			continue
		}
		if s.Writable() && f.macho.Type != macho.TypeObject {
			return 0
		}
		b, err := f.macho.At(address, int64(min(uint64(len(p)), s.FileSize-(address-s.Address))))
		if err != nil {
			return 0
		}
		return copy(p, b)
	}
	return 0
}

// isCode reports whether an address is in a section with instructions.
func (f *machoProgram) isCode(rva uint64) bool {
	s := f.macho.SectionAt(f.macho.Base + rva)
	return s != nil && s.Exec()
}

// bounds returns where the function at an RVA starts and the next one does, by the program's
// LC_FUNCTION_STARTS.
func (f *machoProgram) bounds(rva uint64) (start, end uint64, ok bool) {
	if f.starts == nil {
		for _, m := range f.files() {
			if s, err := m.Starts(); err == nil && (f.starts == nil || len(*f.starts) == 0) {
				f.starts = &s
			}
		}
		if f.starts == nil {
			return 0, 0, false
		}
	}
	return f.starts.Piece(rva)
}

// function returns the code of the function at an RVA.
func (f *machoProgram) function(rva uint64) (code symbol.Range, ok bool) {
	start, end, ok := f.bounds(rva)
	s := f.macho.SectionAt(f.macho.Base + start)
	if !ok || s == nil || !s.Exec() || s != f.macho.SectionAt(f.macho.Base+rva) {
		return code, false
	}
	return symbol.Range{Start: start, Size: min(end, s.Address+s.Size-f.macho.Base) - start}, true
}

// unwindTables returns the compact unwind information before the DWARF that it refers to, and last
// the .debug_frame of a dSYM.
//
// A file without either has its rules in __eh_frame or nowhere.
func (f *machoProgram) unwindTables() []*table {
	out := []*table{}
	add := func(m *macho.File, s *macho.Section, name string, open func(src *input.Source, cfg dwarfcfi.Config) (unwind.Table, error)) {
		if s == nil || !s.HasBytes() {
			return
		}
		out = append(out, &table{section: name, src: m.Src, open: func() (unwind.Table, error) {
			src, err := f.data(m, s)
			if err != nil {
				return nil, err
			}
			t, err := open(src, dwarfcfi.Config{Arch: m.Arch, Order: m.Order, AddressSize: m.AddressSize(), Base: m.Base, File: m.Src.Name, At: m.At})
			if err != nil || name == compact.SectionName || name == compact.ObjectSection {
				return t, err
			}
			return entered{t}, nil
		}})
	}
	m := f.macho
	words := compact.Config{Arch: m.Arch, Order: m.Order, File: m.Src.Name, Bounds: f.bounds,
		Code: func(rva uint64, n int64) ([]byte, error) { return f.macho.At(f.macho.Base+rva, n) }}
	if !m.HasCode() { // a dSYM's __eh_frame has no functions
		m = &macho.File{}
	}
	add(m, m.Section(compact.SectionName), compact.SectionName, func(src *input.Source, _ dwarfcfi.Config) (unwind.Table, error) {
		return compact.Open(src, words)
	})
	add(m, m.Section(compact.ObjectSection), compact.ObjectSection, func(src *input.Source, cfg dwarfcfi.Config) (unwind.Table, error) {
		return compact.OpenObject(src, cfg.AddressSize, words)
	})
	if s := m.Section("__eh_frame"); s != nil {
		add(m, s, s.Name, func(src *input.Source, cfg dwarfcfi.Config) (unwind.Table, error) {
			cfg.ESPIs5 = true
			return dwarfcfi.EHFrame(src, s.Address, nil, 0, cfg)
		})
	}
	for _, m := range f.files() {
		add(m, m.Debug(".debug_frame"), ".debug_frame", dwarfcfi.DebugFrame)
	}
	if g := f.goMachO(); g != nil {
		out = append(out, &table{section: goSection, src: g.src, open: g.rules})
	}
	return out
}

// entered is a table of Apple's compilers, which do not describe epilogues.
type entered struct{ unwind.Table }

// Row implements unwind.Table.
func (b entered) Row(rva uint64) (unwind.Row, bool, error) {
	row, ok, err := b.Table.Row(rva)
	row.NoEpilogue = true
	return row, ok, err
}

// Function implements unwind.Functions.
func (b entered) Function(rva uint64) (start, end uint64, ok bool, err error) {
	if f, knows := b.Table.(unwind.Functions); knows {
		return f.Function(rva)
	}
	return 0, 0, false, nil
}

// symbolSources returns the DWARF of the dSYM or of the file itself, else that of the objects.
func (f *machoProgram) symbolSources(symbols dwarf.Symbols) []*symbolSource {
	out := []*symbolSource{}
	for _, m := range f.files() {
		if s := m.Debug(".debug_info"); s == nil || !s.HasBytes() {
			continue
		}
		out = append(out, sourceOf(".debug_info", m.Src, func() (symbolTable, error) {
			return dwarf.Open(dwarf.Sections{
				Get: func(name string) (*input.Source, error) {
					s := m.Debug(name)
					if s == nil {
						return nil, nil
					}
					return f.data(m, s)
				},
				Order: m.Order, Base: m.Base, File: m.Src.Name,
			}, dwarf.Options{Symbols: symbols, ZeroIsCode: m.Type == macho.TypeObject})
		}))
	}
	if len(out) == 0 && f.mayHaveObjects() {
		out = append(out, sourceOf("objects of the debug map", f.src, func() (symbolTable, error) {
			m, err := f.readDebugMap()
			if err != nil {
				return nil, err
			}
			return newObjectTable(f.src.Name, m, f.objects), nil
		}))
	}
	if g := f.goMachO(); g != nil {
		out = append(out, g.source())
	}
	return out
}

// data returns a section's bytes, unpacked.
func (f *machoProgram) data(m *macho.File, s *macho.Section) (*input.Source, error) {
	if d := f.packed[s]; d != nil {
		return d, nil
	}
	d, err := m.Data(s)
	if err != nil || !strings.HasPrefix(s.Name, "__zdebug_") {
		return d, err
	}
	if d, err = elf.Unzip(d); err == nil {
		if f.packed == nil {
			f.packed = map[*macho.Section]*input.Source{}
		}
		f.packed[s] = d
	}
	return d, err
}

// symbolTables returns the symbol table of the dSYM, which strip does not change, and that of the
// program.
func (f *machoProgram) symbolTables() ([]*names, error) {
	var out []*names
	for _, m := range []*macho.File{f.dsym, f.macho} {
		if m == nil || !m.HasSymbols() && !m.HasExports() {
			continue
		}
		out = append(out, &names{full: m.HasLocals(), some: m.NamesCode, onDemand: onDemand[nameTable]{section: "symbol table", src: m.Src, open: func() (nameTable, error) {
			return m.Publics()
		}}})
	}
	return out, nil
}

// attach attaches the dSYM, or the program to a dSYM, by the uuid, or an object by the debug map.
func (f *machoProgram) attach(src *input.Source) (program, error) {
	head, err := firstBytes(src)
	if err != nil {
		return nil, err
	}
	if !macho.Is(head) || f.dsym != nil {
		return nil, nil
	}
	if cputype, kind := macho.Kind(head); kind == macho.TypeObject {
		return f.attachObject(src, cputype)
	}
	other, err := macho.Open(src)
	if err != nil {
		return nil, nil // opening it as a file of its own reports the error
	}
	switch {
	case len(other.UUID) == 0 || !bytes.Equal(other.UUID, f.macho.UUID):
		return nil, nil
	case other.Type == macho.TypeDSYM && f.macho.Type != macho.TypeDSYM:
		if err := sameLayout(f.macho, other); err != nil {
			return nil, err
		}
		f.dsym = other
		return f, nil
	case f.macho.Type == macho.TypeDSYM && other.Type != macho.TypeDSYM:
		if err := sameLayout(other, f.macho); err != nil {
			return nil, err
		}
		return &machoProgram{src: src, macho: other, dsym: f.macho}, nil
	}
	return nil, nil
}

// sameLayout returns an error if a section with code is at another distance from the header in the
// dSYM than in the program: the names and lines there would be those of other code. In a kernel
// collection the segments of an extension are moved apart.
func sameLayout(program, dsym *macho.File) error {
	for i := range program.Sections {
		for k := range dsym.Sections {
			a, b := &program.Sections[i], &dsym.Sections[k]
			if a.Exec() && a.Segment == b.Segment && a.Name == b.Name && a.Address-program.Base != b.Address-dsym.Base {
				return &input.FormatError{File: dsym.Src.Name, Part: "section " + b.Segment + "," + b.Name, Offset: -1,
					Want: fmt.Sprintf("code 0x%x after the header, as in %s", a.Address-program.Base, program.Src.Name),
					Have: fmt.Sprintf("0x%x; the program's segments were moved apart, and its dSYM is not used", b.Address-dsym.Base)}
			}
		}
	}
	return nil
}

// mayHaveObjects reports whether the file may have a debug map.
func (f *machoProgram) mayHaveObjects() bool {
	return f.macho.HasCode() && f.macho.Type != macho.TypeObject && f.macho.HasSymbols()
}

// readDebugMap returns the debug map, and makes the names of its objects the keys of objects.
func (f *machoProgram) readDebugMap() (*macho.DebugMap, error) {
	if f.debugMap == nil {
		m, err := f.macho.DebugMap()
		if err != nil {
			return nil, err
		}
		f.debugMap, f.objects = m, map[string][]*input.Source{}
		for i := range m.Objects {
			f.objects[objectName(m.Objects[i].Path)] = nil
		}
	}
	return f.debugMap, nil
}

// attachObject attaches an object if the debug map has one of its name. Whether it is that one, is
// found out when a lookup needs it.
func (f *machoProgram) attachObject(src *input.Source, cputype uint32) (program, error) {
	if !f.mayHaveObjects() || cputype != f.macho.CPU {
		return nil, nil
	}
	if _, err := f.readDebugMap(); err != nil {
		return nil, err
	}
	name := baseName(src.Name)
	if _, named := f.objects[name]; !named {
		return nil, nil
	}
	f.objects[name] = append(f.objects[name], src)
	return f, nil
}

// missing adds the dSYM of a program, and says about a dSYM alone that it has no unwind rules.
func (f *machoProgram) missing(id *symbol.Identity, out *symbol.Contents) {
	add := func(text string) { out.Missing = append(out.Missing, text) }
	uuid := func() string {
		if id.DebugID == "" {
			return ""
		}
		u := strings.TrimSuffix(id.DebugID, "0")
		return fmt.Sprintf(" (uuid %s-%s-%s-%s-%s)", u[:8], u[8:12], u[12:16], u[16:20], u[20:])
	}
	if f.macho.Encrypted() {
		add("code and unwind rules, which are encrypted: the program as it was built, from the Xcode archive's Products folder")
	}
	switch {
	case f.macho.Type == macho.TypeDSYM && !out.CFI:
		out.NoProgram, out.ProgramName = true, id.Name+uuid()
	case f.dsym == nil && !out.Functions && id.Code:
		add("the debug information " + id.Name + ".dSYM" + uuid())
	}
}
