package binary

import (
	"io"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// PDB is a PDB file as the symbols of a module: names, lines, inlined calls, and for x86 the rules that its frames are found by. Programs
// for other processors have their rules in the program (.pdata). It is not for use by several goroutines at once.
type PDB struct {
	*pdb.File
	name string
}

// IsPDB says whether a file begins as PDB files do, also as those of kinds that are not read.
func IsPDB(src *input.Source) bool { return pdb.Is(src) }

// OpenPDB reads a PDB's headers.
func OpenPDB(src *input.Source) (*PDB, error) {
	f, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	return &PDB{f, src.Name}, nil
}

// Name is the name of the file's source.
func (p *PDB) Name() string { return p.name }

// Identity is what the headers say. A PDB does not have its own name or that of its program.
func (p *PDB) Identity() symbol.Identity {
	return symbol.Identity{Name: baseName(p.name), DebugID: p.DebugID, OS: "windows", Arch: dumpsyms.Arch(p.Arch), Kind: "debug file"}
}

// Row answers No: see FrameData.
func (p *PDB) Row(uint64) (unwind.Row, symbol.Answer, error) { return unwind.Row{}, symbol.No, nil }

// Code answers 0: the program is in a file of its own.
func (p *PDB) Code(uint64, []byte) int { return 0 }

// Attach takes no other file.
func (p *PDB) Attach(*input.Source) (bool, error) { return false, nil }

// Has is what the file knows, as far as headers say.
func (p *PDB) Has() symbol.Contents {
	out := symbol.Contents{Parts: []symbol.Part{}, Missing: []string{}}
	add := func(has bool, what, section string) {
		if has {
			out.Parts = append(out.Parts, symbol.Part{What: what, File: p.name, Section: section})
		}
	}
	out.Functions, out.CFI = p.HasFunctions(), p.HasFrameData()
	out.Lines, out.Inlines = p.HasLines(), p.HasLines()
	out.OnlyExports = !out.Functions
	add(out.CFI, "unwind rules", "frame data")
	add(out.Functions, "functions", "module streams")
	add(out.Lines, "lines", "module streams")
	add(true, "names", "public names")
	if !out.CFI {
		out.Missing = append(out.Missing, "the program itself, whose .pdata has the unwind rules: "+strings.TrimSuffix(baseName(p.name), ".pdb")+".exe or .dll")
	}
	return out
}

// WriteSym writes all that is known as a Breakpad symbol file.
func (p *PDB) WriteSym(w io.Writer, opt SymOptions) (dumpsyms.Counts, error) {
	id := p.Identity()
	in := dumpsyms.Input{
		Module:    dumpsyms.Module{OS: id.OS, Arch: id.Arch, ID: id.DebugID, Name: id.Name},
		CPU:       p.Arch,
		Functions: p,
		Publics:   p.Publics,
		Demangle:  opt.Demangle,
	}
	if !opt.NoCFI {
		in.FrameData = p.EachFrameData
	}
	return dumpsyms.Write(w, in)
}
