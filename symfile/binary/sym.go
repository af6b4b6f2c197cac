package binary

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// SymOptions are options of WriteSym.
type SymOptions struct {
	// NoCFI omits the STACK CFI and STACK WIN records.
	NoCFI bool
	// ID is the debug id to write, one of those of Identity, or "" for Identity's DebugID.
	ID string
	// Demangle makes names readable. If it is nil, names stay as they are.
	Demangle func(string) string
	// Spool opens storage for records that would take too much memory. If it is nil, all are kept
	// in memory.
	Spool func() (input.Spool, error)
}

// noID is written for a file without an id.
const noID = "000000000000000000000000000000000"

// WriteSym writes the symbols and unwind rules of all files as a Breakpad symbol file.
//
// "crashpane dumpsyms" and the page's download of a symbol file call it. The error is that of w, of
// Spool, or an *input.NeedError; a part that cannot be read is a warning of the File.
func (f *File) WriteSym(w io.Writer, opt SymOptions) (dumpsyms.Counts, error) {
	other, err := f.otherIDs(opt.ID)
	if err != nil {
		return dumpsyms.Counts{}, err
	}
	codeID := f.id.CodeID
	if f.id.Stamped && !f.id.Code {
		codeID = "" // it has the size of the image, and a debug file's own is another
	}
	whole, _ := f.src.Within()
	in := dumpsyms.Input{
		Module:    dumpsyms.Module{OS: f.id.OS, Arch: f.id.Arch, ID: cmp.Or(opt.ID, f.id.DebugID, noID), Name: f.id.Name, CodeID: codeID, CodeName: f.id.CodeName, OtherIDs: other},
		CPU:       f.program.arch(),
		Functions: f,
		Publics:   f.Publics,
		NameEnd:   f.NameEnd,
		Demangle:  opt.Demangle,
		Spool:     opt.Spool,
		Budget:    whole.Budget,
	}
	if !opt.NoCFI {
		tables, err := f.Unwind()
		if err != nil {
			return dumpsyms.Counts{}, err
		}
		in.Unwind = tables
		if m, is := f.program.(*machoProgram); is {
			in.Unwind = append([]unwind.Table{codeTable{m, tables}}, tables...)
		}
		if p := f.program.frameData(); p != nil {
			in.FrameData = p.EachFrameData
		}
	}
	return dumpsyms.Write(w, in)
}

// otherIDs returns the ids of the program that dumps may have other than the one that is written: none
// if every writer of dumps finds the build id, and that is written.
func (f *File) otherIDs(written string) ([]string, error) {
	written = cmp.Or(written, f.id.DebugID)
	if f.id.IDLoaded && written == f.id.DebugID {
		return nil, nil
	}
	sum, err := f.ChecksumID()
	if err != nil {
		return nil, err
	}
	ids := append([]string{f.id.DebugID, sum}, f.id.OtherIDs...)
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" || strings.EqualFold(id, written) })
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
