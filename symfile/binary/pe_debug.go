package binary

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/pe"
)

// MinGW's tools put a program's DWARF and its symbol table into a PE file of its own:
//
//	objcopy --only-keep-debug app.exe app.exe.debug
//	strip app.exe
//	objcopy --add-gnu-debuglink=app.exe.debug app.exe
//
// The debug file has the program's headers, and its sections of code and data without their bytes.

// hasPECode reports whether a file has the program's code.
func hasPECode(p *pe.File) bool {
	sections := false
	for i := range p.Sections {
		if s := &p.Sections[i]; s.Exec() {
			if s.FileSize > 0 {
				return true
			}
			sections = true
		}
	}
	return !sections // a library of data
}

// debuggedName returns the name of the program that a debug file is of, by the endings that tools
// give to its name.
//
// Example: app.exe.debug is of app.exe, and so is app.dbg.
func debuggedName(name string, library bool) string {
	for _, ending := range []string{".debug", ".dbg"} {
		if n := len(name) - len(ending); n > 0 && strings.EqualFold(name[n:], ending) {
			name = name[:n]
		}
	}
	switch {
	case strings.Contains(name, "."):
		return name
	case library:
		return name + ".dll"
	}
	return name + ".exe"
}

// attachDebug attaches the separate debug file, or returns the program of this debug file with it
// attached: by the debug id if both files have one, else by the name and the CRC in .gnu_debuglink.
func (f *peProgram) attachDebug(src *input.Source) (program, error) {
	other, err := newPE(src)
	if err != nil || src.Name == f.src.Name {
		return nil, nil // opening it as a file of its own reports the error
	}
	code, otherCode := hasPECode(f.pe), hasPECode(other.pe)
	switch {
	case code == otherCode || f.pe.Machine != other.pe.Machine || f.debug != nil || other.debug != nil:
		return nil, nil
	case otherCode:
		return other.takeDebug(f.pe)
	}
	return f.takeDebug(other.pe)
}

// takeDebug attaches a debug file. It returns nil if the file is of another program, and an error if
// it is named like the program's and is of another build. The CRC counts under any name.
func (f *peProgram) takeDebug(debug *pe.File) (program, error) {
	name, crc, linked := f.pe.DebugLink()
	named := linked && strings.EqualFold(baseName(name), baseName(debug.Src.Name))
	bad := func(want, have string) error {
		return &input.FormatError{File: debug.Src.Name, Offset: -1, Want: want, Have: have}
	}
	want, have := f.pe.DebugID(), debug.DebugID()
	switch {
	case want != "" && have != "" && want == have:
	case want != "" && have != "" && named:
		return nil, bad(fmt.Sprintf("the id %s, as %s has it", want, baseName(f.src.Name)), have)
	case want != "" && have != "" || !linked:
		return nil, nil
	default:
		switch sum, err := elf.CRC(debug.Src); {
		case err != nil:
			return nil, err
		case sum != crc && !named:
			return nil, nil
		case sum != crc:
			return nil, bad(fmt.Sprintf("the CRC %08x, which the .gnu_debuglink section of %s names", crc, f.src.Name), fmt.Sprintf("%08x", sum))
		}
	}
	f.debug, f.exported = debug, nil
	return f, nil
}

// with returns the file that has a debug section: the program, or its debug file.
func (f *peProgram) with(section string) *pe.File {
	if f.debug != nil && f.pe.Section(section) == nil {
		return f.debug
	}
	return f.pe
}

// named returns the file that has the names of code: the debug file, if it alone has a symbol table.
func (f *peProgram) named() *pe.File {
	if f.debug != nil && f.debug.HasSymbols() && !f.pe.HasSymbols() {
		return f.debug
	}
	return f.pe
}
