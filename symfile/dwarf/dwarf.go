// Package dwarf reads functions, source lines and inlined calls out of DWARF, versions 2 to 5, as compilers leave it in ELF,
// Mach-O and PE files. It knows sections by their names and no container.
//
// Only what an address needs is read: which unit covers it (.debug_aranges, else the first entry of every unit), that unit's
// entries and its line program. Of a unit it is kept where its functions and inlined calls lie, in flat slices; names are read
// when somebody asks. Few units are kept at a time.
//
// Nothing in a file makes it unreadable. What cannot be understood is passed over with a warning that names the section and
// the offset in it, and the work for one lookup is bounded by the size of the sections.
// Format: https://dwarfstd.org/dwarf5std.html, and for what GCC had before it
// https://gcc.gnu.org/wiki/DebugFission and https://gcc.gnu.org/wiki/DebugFissionDWP.
package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Sections are the debug sections of one file.
type Sections struct {
	// Get answers a section by its ELF name (".debug_info", ".debug_line.dwo", ...), uncompressed; (nil, nil) if there is none.
	Get func(name string) (*input.Source, error)
	// More answers the sections of a name behind the first: GCC writes each type of a .dwo file into one of its own. It may be
	// nil.
	More func(name string) ([]*input.Source, error)
	// Order of multi-byte values.
	Order binary.ByteOrder
	// AddressSize in bytes, 4 or 8. Units say their own; it is used where nothing else says one.
	AddressSize int
	// Base is the link-time address of RVA 0.
	Base uint64
	// File is the file's name for errors. Untrusted text.
	File string
}

// Options are what Open's caller has beside the file itself.
type Options struct {
	// Alt is the supplementary file that dwz made (.gnu_debugaltlink, .debug_sup), or nil.
	Alt *Sections
	// Split answers the .dwo file of a unit, or a .dwp file in which its .debug_cu_index tells where it is; false if neither
	// is at hand. It is asked again at each lookup that needs the file. It may be nil.
	Split func(dwoName, compDir string, dwoID uint64) (*Sections, bool)
	// ZeroIsCode: code at address 0 is code. Otherwise what lies there are functions that the linker threw away.
	ZeroIsCode bool
}

const (
	// maxWarnings bounds how many warnings are kept; all are counted.
	maxWarnings = 100
	// maxCached bounds the units that are kept, in bytes; one is kept whatever its size.
	maxCached = 40 << 20
	// nameless stands for a name that the file does not have; the .sym files' writers use the same words.
	nameless = "<name omitted>"
)

// Data is a file's debug information. It reads its sections during lookups; it is not for use by several goroutines at once.
type Data struct {
	opt  Options
	main *object
	alt  *object

	byAddress addressIndex
	cache     []*unitData // the one used last first
	twins     []twin      // what the lookup under way found
	dwps      map[*Sections]*object

	warnings []string
	said     map[string]bool
	warned   int
	wanted   []string
	wants    map[string]bool

	// spent is the work of the call under way, see allow.
	spent [numWork]int64
}

// Open looks at nothing but which sections there are. Its errors are those of Get.
func Open(s Sections, opt Options) (*Data, error) {
	d := &Data{opt: opt, said: map[string]bool{}, wants: map[string]bool{}, dwps: map[*Sections]*object{}}
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

// Warnings are what was passed over so far, each kind of it at each place once. The list is cut after the first hundred.
func (d *Data) Warnings() []string {
	if d.warned > len(d.warnings) {
		return append(d.warnings[:len(d.warnings):len(d.warnings)], fmt.Sprintf("%s: %d more warnings", d.main.s.File, d.warned-len(d.warnings)))
	}
	return d.warnings
}

// Wanted are the files that lookups missed so far: split units' files with their ids, and the supplementary file.
func (d *Data) Wanted() []string { return d.wanted }

func (d *Data) want(what string) {
	if !d.wants[what] {
		d.wants[what] = true
		d.wanted = append(d.wanted, what)
	}
}

// note takes an error that a part of the file caused as a warning, and hands back those that concern the reading itself.
func (d *Data) note(err error) error {
	if err == nil {
		return nil
	}
	var need *input.NeedError
	var format *input.FormatError
	if errors.As(err, &need) || !errors.As(err, &format) || format.Err != nil {
		return err
	}
	text := err.Error()
	if d.said[text] {
		return nil
	}
	d.warned++
	if len(d.warnings) < maxWarnings {
		d.said[text] = true
		d.warnings = append(d.warnings, text)
	}
	return nil
}

// work is a kind of effort that references in a crafted file can ask for again and again.
type work uint8

const (
	workAbbrevs work = iota
	workRanges
	workLines
	workNames
	workScopes
	numWork
)

// allow counts n bytes of work on a section against what an honest file can ask for: each of its bytes a few times. A pass
// over the whole file may ask for as much as a lookup, since it reads each part once.
func (d *Data) allow(w work, n, size int64) bool {
	d.spent[w] += n
	return d.spent[w] <= 16*size+(1<<22)
}

// begin starts a call: its work is counted from zero.
func (d *Data) begin() { clear(d.spent[:]) }

// answerOf is how a lookup that failed answers.
func answerOf(err error) symbol.Answer {
	var need *input.NeedError
	if errors.As(err, &need) {
		return symbol.Needs
	}
	return symbol.No
}
