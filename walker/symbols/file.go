package symbols

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Binary is an opened executable, library or debug file, see Options.OpenBinary. The addresses are
// module-relative. Errors are those of the file's reader, *input.NeedError among them. Only one
// goroutine may use it at a time.
type Binary interface {
	Identity() symbol.Identity
	// Base is the address at which RVA 0 is linked.
	Base() uint64
	// ChecksumID is the debug id that is made of a check sum of the whole file, as LLDB makes it
	// where it finds no other; "" if it finds one.
	ChecksumID() (string, error)
	// Lookup and Row answer as a symbol file does.
	Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error)
	Row(rva uint64) (unwind.Row, symbol.Answer, error)
	// SourceSum returns the checksum of a source file of the code at an address, by its path.
	SourceSum(rva uint64, path string) (symbol.Sum, error)
	// SourceLink returns the link that the file has to a source file, by its path: "https://…", or "".
	SourceLink(path string) (string, error)
	FrameData(rva uint64) (unwind.FrameData, symbol.Answer, error)
	// Function returns the code that unwind rules have as a function's at an address.
	Function(rva uint64) (symbol.Range, bool, error)
	// Code reads those bytes of the program that are the same in memory, and returns how many it
	// read.
	Code(rva uint64, p []byte) int
	// BigEndian is the byte order of the program. IsARM: a symbol says that code of 32-bit arm is ARM code, and not Thumb
	// code.
	BigEndian() bool
	IsARM(rva uint64) bool
	// Names calls each with a part of the names of code in the symbol tables. from is 0 at first, then what it returned, which is
	// below 0 at the end. It reads no debug information.
	Names(from int64, each func(name symbol.Symbol)) (next int64, err error)
	// Variables returns the RVAs of those variables that the file names. Initial reads what the file
	// has at an RVA, also where the program may have written since. Pointer returns the RVA that the
	// loader makes a pointer at an RVA of.
	Variables(names []string) map[string]uint64
	Initial(rva uint64, p []byte) int
	Pointer(rva uint64) (uint64, bool)
	// Prefetch makes lookups that follow faster: of rows at the addresses in rules, of symbols at
	// those in functions. It changes no answer. NeedsPrefetch reports whether it would help to find
	// the row at an address.
	Prefetch(rules, functions []uint64)
	NeedsPrefetch(rva uint64) bool
	// Has is what is known about the module by now.
	Has() symbol.Contents
	// Warnings are what was passed over so far.
	Warnings() []string
	// Attach takes another file in if it belongs to this one: its debug file, split or
	// supplementary debug information. An error says why one that is named like such a file is not
	// it.
	Attach(src *input.Source) (bool, error)
}

// File is a symbol file or a binary of a Store.
type File struct {
	store *Store
	src   *input.Source
	// IsBinary: the file is a binary, and not a symbol file. Known is what it says about the module
	// that it belongs to. Identity is a binary's, as its headers have it.
	IsBinary bool
	Known    Known
	Identity symbol.Identity

	keys   []Key
	number int // in the order of adding
	// users counts Use. tried are the files that were offered to a binary, waitsFor the keys under
	// which it waits for others. All are guarded by the Store.
	users    int
	tried    map[*File]bool
	waitsFor []string

	revision atomic.Int64          // see Revision
	part     atomic.Bool           // see IsPart
	refusal  atomic.Pointer[error] // see Refusal

	mu       sync.Mutex     // held by all that follows
	sym      *symfile.File  // nil until it is opened
	err      error          // why it cannot be opened
	binary   Binary         // nil if it was closed
	release  func()         // returns the memory of what was opened
	parts    []*File        // taken in by the binary
	failures input.Warnings // what lookups could not read
	header   []string       // warnings of a binary's headers
}

// Image makes a File of a program that is in no file, and in no Store: one in a dump's memory.
func Image(name string, b Binary) *File {
	return &File{src: input.FromBytes(name, nil), IsBinary: true, Identity: b.Identity(), binary: b}
}

// Name is the file's name, untrusted text.
func (f *File) Name() string { return f.src.Name }

// Source is the file's bytes.
func (f *File) Source() *input.Source { return f.src }

// Keys are what the file is known by.
func (f *File) Keys() []Key { return f.keys }

// ID is the debug id that the file states, or "".
func (f *File) ID() string { return f.Known.ID }

// Revision counts how often the file's answers may have changed: a large symbol file that was
// searched got an index, or a binary took in another file. Lookups that were made at an earlier
// revision have to be made again.
func (f *File) Revision() int64 { return f.revision.Load() }

// IsPart: a binary has taken the file in, as its debug information.
func (f *File) IsPart() bool { return f.part.Load() }

// Answers reports whether a debug id is the binary's, by any writer.
func (f *File) Answers(debugID string) bool {
	return core.SameID(f.Identity.DebugID, debugID) || slices.ContainsFunc(f.Identity.OtherIDs, func(id string) bool { return core.SameID(id, debugID) })
}

// hasChecksum reports whether a debug id is made of the file's check sum, as LLDB makes it. It reads
// the file only if the id has the form of one: four bytes.
func (f *File) hasChecksum(id string) bool {
	if len(id) < 33 || !core.NoID(id[8:]) {
		return false
	}
	f.mu.Lock()
	defer f.unlock()
	b, err := f.openBinary()
	if err != nil {
		return false
	}
	sum, err := b.ChecksumID()
	return err == nil && core.SameID(sum, id)
}

// Open opens the file, unless it is open. The error is that of the first time.
func (f *File) Open() error {
	f.mu.Lock()
	defer f.unlock()
	if f.IsBinary {
		_, err := f.openBinary()
		return err
	}
	_, err := f.open()
	return err
}

// open opens a symbol file. The caller holds mu.
func (f *File) open() (*symfile.File, error) {
	if err := f.src.Cancelled(); err != nil {
		return nil, err
	}
	if f.sym == nil && f.err == nil {
		f.src.Materialize()
		open := symfile.Open
		if f.store.opt.OnDemand {
			open = symfile.OpenOnDemand
		}
		f.sym, f.err = open(f.src, f.Options())
	}
	return f.sym, f.err
}

// Options are the settings of reading the symbol file.
func (f *File) Options() symfile.Options {
	opt := f.store.opt.Sym
	opt.Slice = cmp.Or(f.src.Slice, opt.Slice)
	opt.Progress = func(done, total int64) {
		if f.store.opt.Progress != nil {
			f.store.opt.Progress(f, done, total)
		}
	}
	return opt
}

// openBinary opens a binary again that was closed, with its parts. The caller holds mu.
func (f *File) openBinary() (Binary, error) {
	if err := f.src.Cancelled(); err != nil {
		return nil, err
	}
	if f.binary == nil && f.err == nil {
		f.release = f.src.Hold()
		f.binary, f.err = f.store.opt.OpenBinary(f.src)
		for _, part := range f.parts {
			if f.err == nil {
				_, f.err = f.binary.Attach(part.src)
			}
		}
	}
	return f.binary, f.err
}

// close frees what lookups have read, until the next one.
func (f *File) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget()
}

// forget is close for a caller that holds mu.
func (f *File) forget() {
	f.sym, f.binary = nil, nil
	if f.release != nil {
		f.release()
	}
}

// unlock unlocks mu after a lookup. It forgets what was read while the work was cancelled, which may
// lack something: the next lookup opens the file again.
func (f *File) unlock() {
	if f.src.Cancelled() != nil {
		f.forget()
		f.err = nil
	}
	f.mu.Unlock()
}

// revised takes note of what a lookup has changed. The caller holds mu.
func (f *File) revised() {
	if f.sym != nil && f.sym.Revised() {
		f.revision.Add(1)
	}
}

// read opens the file and calls one of two functions with it, by what it is. If it cannot be opened,
// neither is called.
func (f *File) read(sym func(s *symfile.File), binary func(b Binary)) {
	f.mu.Lock()
	defer f.unlock()
	if f.IsBinary {
		if b, err := f.openBinary(); err == nil {
			binary(b)
		}
		return
	}
	if s, err := f.open(); err == nil {
		sym(s)
		f.revised()
	}
}

// Lookup returns the symbol at an address. The answer is NoFile if the file cannot be opened.
func (f *File) Lookup(rva uint64) (sym symbol.Symbol, answer symbol.Answer, err error) {
	f.read(func(s *symfile.File) { sym, answer, err = s.Lookup(rva) }, func(b Binary) { sym, answer, err = b.Lookup(rva) })
	return sym, answer, err
}

// SourceSum returns the checksum of a source file of the code at an address. A symbol file has none.
func (f *File) SourceSum(rva uint64, path string) (sum symbol.Sum, err error) {
	f.read(func(*symfile.File) {}, func(b Binary) { sum, err = b.SourceSum(rva, path) })
	return sum, err
}

// SourceLink returns the link to a source file, by its path. A symbol file has none.
func (f *File) SourceLink(path string) (link string, err error) {
	f.read(func(*symfile.File) {}, func(b Binary) { link, err = b.SourceLink(path) })
	return link, err
}

// Row returns the unwind rules at an address, and what of a symbol file's record was passed over.
func (f *File) Row(arch *cpu.Arch, rva uint64) (row unwind.Row, notes []string, answer symbol.Answer, err error) {
	f.read(func(s *symfile.File) {
		row, answer, err = s.Row(arch, rva)
		notes = s.RowNotes(rva)
	}, func(b Binary) { row, answer, err = b.Row(rva) })
	return row, notes, answer, err
}

// Prefetch looks up together what many lookups need, where reading many parts of the file at once is
// cheaper. It changes no answer.
func (f *File) Prefetch(rules, functions []uint64) {
	f.read(func(s *symfile.File) { s.Prefetch(rules, functions) }, func(b Binary) { b.Prefetch(rules, functions) })
}

// NeedsPrefetch reports whether Prefetch would help to find the rules at an address. indexed: the
// file is a symbol file with an index.
func (f *File) NeedsPrefetch(rva uint64) (needs, indexed bool) {
	f.read(func(s *symfile.File) { needs, indexed = s.NeedsPrefetch(rva), s.FullyIndexed() }, func(b Binary) { needs = b.NeedsPrefetch(rva) })
	return needs, indexed
}

// FrameData returns the STACK WIN record at an address.
func (f *File) FrameData(rva uint64) (fd unwind.FrameData, answer symbol.Answer, err error) {
	f.read(func(s *symfile.File) { fd, answer, err = s.FrameData(rva) }, func(b Binary) { fd, answer, err = b.FrameData(rva) })
	return fd, answer, err
}

// Function returns the code that unwind rules have as a function's at an address.
func (f *File) Function(rva uint64) (code symbol.Range, ok bool, err error) {
	f.read(func(s *symfile.File) { code, ok, err = s.Function(rva) }, func(b Binary) { code, ok, err = b.Function(rva) })
	return code, ok, err
}

// WithSym calls do with the opened symbol file, and returns false if it is not open: open says
// whether to open it first. do must not keep it.
func (f *File) WithSym(open bool, do func(s *symfile.File)) bool {
	f.mu.Lock()
	defer f.unlock()
	if open && !f.IsBinary {
		f.open()
	}
	if f.sym == nil {
		return false
	}
	do(f.sym)
	f.revised()
	return true
}

// WithBinary calls do with the binary, and returns false without one. do must not keep it.
func (f *File) WithBinary(do func(b Binary)) bool {
	f.mu.Lock()
	defer f.unlock()
	if !f.IsBinary {
		return false
	}
	b, err := f.openBinary()
	if err != nil {
		return false
	}
	do(b)
	return true
}

// Adopt has lookups in a symbol file use a full index that was made meanwhile.
func (f *File) Adopt(full *symfile.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sym == nil { // no stack needed it yet
		f.sym, f.err = full, nil
		return
	}
	f.sym.Adopt(full)
	f.revised()
}

// maxWarnings is how many of a file's warnings are carried into items and reports.
const maxWarnings = 20

// Fail keeps what a lookup could not read as a warning, once.
func (f *File) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.src.Cancelled() == nil {
		f.failures.Add(err)
	}
}

// Warnings returns the first of the file's warnings, and how many there are. Those of a symbol
// file's text are known once it was read, each naming its line. Those of a binary are of its
// headers: a file that is cut off says so. Then come the errors of lookups.
func (f *File) Warnings() (list []string, count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Concat(f.header, f.failures.List(f.src.Name))
	list, count = slices.Clip(all[:min(len(all), maxWarnings)]), len(all)
	if f.sym == nil {
		return list, count
	}
	for _, w := range f.sym.Warnings {
		if len(list) >= maxWarnings {
			break
		}
		list = append(list, f.src.Name+": "+w.String())
	}
	return list, count + f.sym.WarningCount
}

// Err returns why the file could not be opened, or nil.
func (f *File) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
