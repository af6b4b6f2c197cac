// Package symfile reads Breakpad symbol files (.sym), the text that dump_syms makes of a binary's
// debug information.
//
// There are two ways to find a record. Open indexes the whole file in one pass, and keeps only
// where each function, public symbol and unwind record is; OpenOnDemand reads some blocks, and
// finds records by the order that writers sort them in (package lazy). With either, names, lines,
// inlined calls and unwind rules are decoded when a lookup hits them. Memory grows with the number
// of functions and unwind records, not with the size of the file, and nothing is allocated from a
// number that the file claims.
//
// Nothing in a file makes it unreadable: what cannot be understood is passed over with a warning
// that names the line. Format:
// https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md
package symfile

import (
	"bytes"
	"cmp"
	"errors"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Options are the settings of Open and OpenOnDemand. The zero value reads a file in the caller's
// goroutine and reports no progress.
type Options struct {
	// Progress is called about once a MiB with the bytes read so far and the file's size. It may be
	// nil.
	Progress func(done, total int64)
	// Slice is how much OpenOnDemand's lookups read at a time, in bytes; 0 means 64 KiB, which
	// suits a File in a browser. On a disk 4 KiB are faster.
	Slice int64
	// Workers are the goroutines that share Open's pass over a large file; 0 and 1 mean no other
	// than the caller's. They read the Source at once (see input.Source.ReadDirect).
	Workers int
	// Indexers, if set, share the pass instead, with a goroutine for each that waits for it.
	Indexers []ChunkIndexer
}

// Counts are the numbers of records of each kind that were read, whether they are used or not.
type Counts struct {
	// Lines of text, blank ones included.
	Lines int
	// Files, Origins, Funcs, Publics, LineRecords, Inlines: FILE, INLINE_ORIGIN, FUNC, PUBLIC, line
	// and INLINE records.
	Files, Origins, Funcs, Publics, LineRecords, Inlines int
	// CFIInits and CFIDeltas: STACK CFI INIT and STACK CFI records.
	CFIInits, CFIDeltas int
	// WinFrameData, WinFPO, WinOther: STACK WIN records of type 4 (FRAMEDATA), of type 0 (FPO), and
	// of the other types of Breakpad's list (1 TRAP, 2 TSS, 3 standard), which no reader uses.
	WinFrameData, WinFPO, WinOther int
	// Infos are INFO records, Unknown counts lines that are not records of the format.
	Infos, Unknown int
}

// HasSymbols reports whether the file can name any code.
func (c *Counts) HasSymbols() bool { return c.Funcs+c.Publics > 0 }

// HasUnwind reports whether the file can unwind any code.
func (c *Counts) HasUnwind() bool { return c.CFIInits+c.WinFrameData+c.WinFPO > 0 }

// File is a symbol file that lookups can search. It reads its Source during lookups, so the Source
// must stay open. Like the Source it is not safe for use by several goroutines at once.
type File struct {
	// Module is the MODULE record; the zero Module if HasModule is false.
	Module    Module
	HasModule bool
	// CodeID and CodeFile are the two fields of INFO CODE_ID: the binary's own identifier, and its
	// name.
	CodeID, CodeFile string
	// URL is where a supplier of symbols got the file from (INFO URL).
	URL string
	// Counts are the numbers of records; zero until the whole file is indexed, see FullyIndexed.
	Counts Counts
	// Warnings are what was passed over, in order of lines; of each kind the first are kept.
	// WarningCount counts all.
	Warnings     []Warning
	WarningCount int

	src    *input.Source
	warned [numKinds]int

	tables [numTables]table
	extras []extra
	// index is the stored index that the tables come from, or nil if they were made here. A stored
	// index may be of another build of the file, so each record that it names is compared with the
	// file (sure). wrong is the first difference that was found.
	index *input.Source
	wrong error

	text    *lazy.Text     // the file
	lazy    *lazy.File     // how the file is searched until it is read as a whole; then nil
	indexed [lazy.All]bool // of a file that is searched: sections that the tables have
	batch   bool           // lookups are those of Prefetch
	revised bool           // see Revised
	opt     Options

	// Caches of what lookups decoded; reset empties them. fns is by the FUNC's file offset, fnLines
	// is the number of lines and inlined ranges in it.
	fns       map[int64]*function
	fnLines   int
	symbols   *recent[uint64, symbol.Symbol]
	fileNames *recent[uint32, string]
	origNames *recent[uint32, string]
	pubNames  *recent[int64, symbol.Symbol]
	rows      *recent[uint64, rowEntry]
	cfis      *recent[uint64, CFIRecord] // by Prefetch
	rowArch   *cpu.Arch
}

type rowEntry struct {
	row    unwind.Row
	answer symbol.Answer
	err    error
	notes  []string
}

// exactBlock is the size in bytes of a block that lookups read of an indexed file. The index says
// where a record is, so a lookup needs little more than its line.
const exactBlock = 4 << 10

// Open indexes a symbol file in one pass over src. The only errors are the reader's own
// (*input.NeedError among them): a file that is not a symbol file gives a File without a module and
// with warnings for its lines.
//
// With Workers or Indexers the pass is shared (see chunk.go). If the chunks depend on each other,
// one indexer makes the pass again over all of the file.
func Open(src *input.Source, opt Options) (*File, error) {
	s := &scanner{f: newFile(src, opt)}
	s.f.reset()
	err := s.runAll(src, 0, src.Size, opt.Progress)
	if errors.Is(err, ErrIndivisible) { // then one indexer makes the pass over all of it
		var index []byte
		x := opt.indexers()[0]
		defer x.Stop()
		if index, err = x.Index(Chunk{Src: src, To: src.Size}); err == nil {
			return OpenIndexed(src, input.FromBytes(src.Name, index), opt)
		}
	}
	if err != nil {
		return nil, err
	}
	s.f.finish()
	return s.f, nil
}

// newFile returns a File without an index and without caches.
func newFile(src *input.Source, opt Options) *File {
	f := &File{src: src, opt: opt, text: lazy.NewText(src, cmp.Or(opt.Slice, exactBlock))}
	for k := tablePublics; k < numTables; k++ {
		f.tables[k].thin = true
	}
	f.tables[tableFuncs].lined, f.tables[tableInits].lined = true, true
	return f
}

// reset empties the caches.
func (f *File) reset() {
	f.fns = make(map[int64]*function)
	f.fnLines = 0
	f.symbols = newRecent[uint64, symbol.Symbol](mostSymbols)
	f.fileNames = newRecent[uint32, string](mostNames)
	f.origNames = newRecent[uint32, string](mostNames)
	f.pubNames = newRecent[int64, symbol.Symbol](mostNames)
	f.rows = newRecent[uint64, rowEntry](mostRules)
	f.cfis = newRecent[uint64, CFIRecord](mostRules)
}

// Name returns the name of the Source.
func (f *File) Name() string { return f.src.Name }

// Identity is what the records at the beginning of a symbol file say about its binary.
type Identity struct {
	// Module is the MODULE record; the zero Module if HasModule is false.
	Module
	HasModule bool
	// CodeID is the binary's own identifier (INFO CODE_ID), or "".
	CodeID string
	// OtherIDs are debug ids that some writers of dumps give the binary instead of Module.ID (INFO
	// OTHER_ID, which "crashpane dumpsyms" writes).
	OtherIDs []string
}

// Identify reads the MODULE record and the INFO records that a symbol file begins with, by which a
// session recognizes symbol files. prefix is the beginning of a file; 1 KiB is plenty. A name that
// is longer than the prefix is cut.
//
//	MODULE windows x86_64 5A9832E5287241C1838ED98914E9B7FF1 foo.pdb
//	INFO CODE_ID 5A9832E524000 foo.dll
func Identify(prefix []byte) (id Identity) {
	prefix = bytes.TrimLeft(bytes.TrimPrefix(prefix, bom), "\r\n")
	for i, line := range bytes.Split(prefix, []byte{'\n'}) {
		if rest, ok := keyword(line, "MODULE"); ok && i == 0 {
			id.Module, id.HasModule = parseModule(rest)
			continue
		}
		info, ok := keyword(line, "INFO")
		if !ok {
			break
		}
		w := fields{rest: trimEOL(info)}
		switch string(w.word()) {
		case "CODE_ID":
			if id.CodeID == "" {
				id.CodeID = string(w.word())
			}
		case "OTHER_ID":
			id.OtherIDs = append(id.OtherIDs, string(w.word()))
		}
	}
	return id
}

// bom is the mark that some editors put in front of a text.
var bom = []byte("\xef\xbb\xbf")
