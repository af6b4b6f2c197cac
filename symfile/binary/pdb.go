package binary

import (
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// pdbProgram is a PDB without its program. It has names, lines, inlined calls, and for x86 the
// frame data; the unwind rules of other processors are in the program.
type pdbProgram struct {
	src *input.Source
	pdb *pdb.File
}

// openPDB opens a PDB without its program: it has functions and lines, and on x86 frame data, but
// no code.
func openPDB(src *input.Source, _ *input.Warnings) (program, error) {
	p, err := pdb.Open(src)
	if err != nil {
		return nil, err
	}
	return &pdbProgram{src: src, pdb: p}, nil
}

func (f *pdbProgram) arch() *cpu.Arch         { return f.pdb.Arch }
func (f *pdbProgram) base() uint64            { return 0 }
func (f *pdbProgram) code(uint64, []byte) int { return 0 }
func (f *pdbProgram) isCode(uint64) bool      { return false }
func (f *pdbProgram) unwindTables() []*table  { return []*table{} }
func (f *pdbProgram) symbolSources(dwarf.Symbols) []*symbolSource {
	return []*symbolSource{pdbSource(f.src, f.pdb)}
}
func (f *pdbProgram) symbolTables() ([]*names, error) { return nil, nil }
func (f *pdbProgram) frameData() frameTable           { return f.pdb }
func (f *pdbProgram) warnings() []string              { return nil }
func (f *pdbProgram) sources() []*input.Source        { return []*input.Source{f.src} }

func pdbSource(src *input.Source, p *pdb.File) *symbolSource {
	return sourceOf("module streams", src, func() (symbolTable, error) { return p, nil })
}

// identity returns the PDB's identity. A PDB does not contain its own name or that of its program.
func (f *pdbProgram) identity() symbol.Identity {
	return symbol.Identity{Name: baseName(f.src.Name), DebugID: f.pdb.DebugID, OS: "windows", Stamped: true, ExactRules: true, Arch: dumpsyms.Arch(f.pdb.Arch), Kind: "debug file"}
}

// attach attaches the PDB to its program, and returns the program.
func (f *pdbProgram) attach(src *input.Source) (program, error) {
	head, err := firstBytes(src)
	if err != nil || !pe.Is(head) {
		return nil, err
	}
	p, err := newPE(src)
	if err != nil {
		return nil, nil // opening it as a file of its own reports the error
	}
	return p.attachPDB(f)
}

func (f *pdbProgram) missing(_ *symbol.Identity, out *symbol.Contents) {
	out.NoProgram = f.pdb.Arch == nil || !f.pdb.Arch.StackWIN
	name := strings.TrimSuffix(baseName(f.src.Name), ".pdb")
	out.ProgramName = name + ".exe or " + name + ".dll"
}

// FrameData returns the frame data of x86 at an RVA, which symbol files have as STACK WIN. The
// answer is NoFile if there is no PDB.
func (f *File) FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error) {
	if p := f.program.frameData(); p != nil {
		return p.FrameData(rva)
	}
	return unwind.FrameData{}, symbol.NoFile, nil
}
