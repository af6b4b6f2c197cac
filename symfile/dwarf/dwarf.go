// Package dwarf reads functions, source lines and inlined calls from DWARF debug information,
// versions 2 to 5. The caller gives it sections by name (Sections), so it does not depend on the
// container: ELF, Mach-O or PE.
//
// Open returns a Data. Data.Lookup looks up one address, Data.Each lists all functions. Start at
// Lookup in lookup.go.
//
// A lookup reads only what its address needs:
//
//	index.go     which units cover the address: .debug_aranges, else the first entry of every unit
//	tree.go      the unit's entries: where its functions are (skim.go: of large units, only part of them), and
//	             below the function that covers the address its inlined calls (expand)
//	line.go      the unit's line program
//	names.go     the names of the function and of the inlined calls, when they are asked for
//	symbols.go   what entries lack and the symbol table has
//	split.go     the .dwo or .dwp file that has the unit's entries, if it is a skeleton
//
// Decoded units are cached. A damaged part of a file does not make the rest unreadable: the package
// skips what it cannot parse and adds a warning with the section and the offset. The work for one
// lookup is limited by the size of the sections (Data.allow).
//
// Format: https://dwarfstd.org/dwarf5std.html. GNU's extensions to DWARF 4:
// https://gcc.gnu.org/wiki/DebugFission and https://gcc.gnu.org/wiki/DebugFissionDWP.
package dwarf

import (
	"encoding/binary"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Sections are the debug sections of one file.
type Sections struct {
	// Get returns a section by its ELF name (".debug_info", ".debug_line.dwo" …), uncompressed, or
	// (nil, nil) if it is missing.
	Get func(name string) (*input.Source, error)
	// More returns the further sections of a name: GCC gives each type of a .dwo file a section of
	// its own. It may be nil.
	//
	// These are the sections of "gcc -gsplit-dwarf -fdebug-types-section": .debug_types.dwo in
	// DWARF 4, .debug_info.dwo in DWARF 5.
	More func(name string) ([]*input.Source, error)
	// Order is the byte order.
	Order binary.ByteOrder
	// Base is the link-time address of RVA 0.
	Base uint64
	// File is the file's name for errors. Untrusted text.
	File string
}

// Options has what the debug information may need besides its own file.
type Options struct {
	// Alt is the supplementary file that dwz makes (.gnu_debugaltlink, .debug_sup), or nil.
	Alt *Sections
	// Split returns a unit's .dwo file, or a .dwp file that may have the unit, or false if there is
	// neither. Each lookup that needs the file calls it again. It may be nil.
	Split func(dwoName string) (*Sections, bool)
	// Symbols is the file's symbol table, or nil.
	Symbols Symbols
	// ZeroIsCode: a function at address 0 exists. Otherwise the linker discarded it (see
	// discarded).
	ZeroIsCode bool
}

const (
	// maxCached limits the cache of decoded units, in bytes. The unit used last stays whatever its
	// size.
	maxCached = 40 << 20
	// nameless is the name of a function without one. Writers of .sym files use the same text.
	nameless = "<name omitted>"
)

// Data is the debug information of a file. It reads sections during lookups. It is not safe for
// concurrent use.
type Data struct {
	opt  Options
	main *object
	alt  *object

	byAddress addressIndex
	cache     []*unitData // most recently used first
	cached    int         // size of all in cache, in bytes
	overlaps  []overlap   // of the current lookup: the ranges in several units that cover the address
	dwps      map[*Sections]*object

	warnings input.Warnings
	wanted   []string
	wants    map[string]bool

	// spent is the work of the current call, see allow.
	spent [numWork]int64
}

// Open finds the sections and reads nothing of them. Its errors are those of Sections.Get.
func Open(s Sections, opt Options) (*Data, error) {
	d := &Data{opt: opt, wants: map[string]bool{}, dwps: map[*Sections]*object{}}
	d.main = newObject(d, s, false)
	if opt.Alt != nil {
		d.alt = newObject(d, *opt.Alt, false)
		d.main.alt = d.alt
	}
	for _, id := range []sectionID{secInfo, secLine, secAbbrev} {
		if _, err := d.main.section(id); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Close returns the memory that Data has drawn from the files' Budget. Data must not be used afterwards.
func (d *Data) Close() {
	for len(d.cache) > 0 {
		d.evict(0)
	}
	for _, o := range []*object{d.main, d.alt} {
		if o != nil {
			o.release(o.held)
		}
	}
}

// Warnings lists what Data skipped so far, without repetitions: the first hundred warnings, then
// the number of the rest.
func (d *Data) Warnings() []string {
	return d.warnings.List(d.main.s.File)
}

// Wanted lists the files that lookups needed and did not have: .dwo and .dwp files with the ids of
// units, and the supplementary file.
func (d *Data) Wanted() []string { return d.wanted }

// want adds a file to Wanted, once.
func (d *Data) want(what string) {
	if !d.wants[what] {
		d.wants[what] = true
		d.wanted = append(d.wanted, what)
	}
}

// work is a kind of work that a crafted file can ask for repeatedly, by many references to one part
// of a section.
type work uint8

const (
	workAbbrevs work = iota
	workRanges
	workLines
	workNames
	workScopes
	workSymbols
	numWork
)

// allow adds n bytes of work on a section of size bytes (symbols of a symbol table), and reports whether the current call is
// within its limit: 16 times the section and 4 MiB. A real file needs each byte a few times at
// most, in a lookup as well as in a pass over the whole file. Without a limit, 10,000 functions
// that name one list of ranges of 1 MiB have 10 GiB decoded.
func (d *Data) allow(w work, n, size int64) bool {
	d.spent[w] += n
	return d.spent[w] <= 16*size+(1<<22)
}

// begin starts a call of the API, whose work counts from zero.
func (d *Data) begin() { clear(d.spent[:]) }

// answerOf returns the answer of a lookup that failed with err.
func answerOf(err error) symbol.Answer {
	if input.Needs(err) {
		return symbol.Needs
	}
	return symbol.No
}
