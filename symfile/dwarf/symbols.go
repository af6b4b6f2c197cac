package dwarf

import (
	"slices"
	"sort"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// Symbols is the symbol table of the file. It completes what entries lack: a name that is not a linkage
// name, and whole functions. Those of assembler sources have line rows and no entry, and so have most
// functions of "clang -gline-tables-only", copies whose entry the compiler dropped, and all of a unit
// whose .dwo file is missing. Such a function is a symbol's code:
//
//	symbols     f 100 to 120    g 130 to 140    h 140 to 160
//	entries     100 to 120
//	line rows   100 to 130                      140 to 160
//	functions   f, by its entry                 h, by its symbol
type Symbols interface {
	// Len returns how many names there are.
	Len() int
	// Piece returns the number of the name that the code at an RVA has, and the code around it that
	// has this name. Without a name n is -1, and the code ends where the next name starts.
	Piece(rva uint64) (n int, code symbol.Range, err error)
	// Name returns a name by its number.
	Name(n int) string
	// Linkage returns the linkage name of a function that an entry calls plain, or the name of one
	// that an entry does not name. It starts at one of the addresses. Without such a name it returns
	// "".
	Linkage(starts []uint64, plain string) (string, error)
}

// unlisted returns the function at an address that no entry has.
//
// It knows the symbol's code from the symbol table, and finds the unit and the end of the function by
// the same rules as symbolFunctions does for Each.
func (d *Data) unlisted(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	if d.opt.Symbols == nil {
		return symbol.Symbol{}, symbol.No, nil
	}
	n, code, err := d.opt.Symbols.Piece(rva)
	if err != nil || n < 0 {
		return symbol.Symbol{}, answerOf(err), err
	}
	data, at, err := d.codeOf(code)
	if err != nil || data == nil || rva < at.start || rva >= at.end {
		return symbol.Symbol{}, answerOf(err), err
	}
	s := symbol.Symbol{Name: d.opt.Symbols.Name(n), Start: at.start, Size: at.end - at.start}
	if err = d.addLine(&s, data, at, rva); err != nil {
		return symbol.Symbol{}, answerOf(err), err
	}
	return s, symbol.Yes, nil
}

// codeOf returns the part of a symbol's code that is a function without an entry, and its unit, or
// nil if an entry or no line row covers the symbol's first byte. The function ends before the next
// entry, and at the latest with the line rows of its section.
func (d *Data) codeOf(code symbol.Range) (*unitData, span, error) {
	at := span{code.Start, code.Start + code.Size}
	if data, _, err := d.functionAt(at.start); data != nil || err != nil {
		return nil, span{}, err
	}
	// functionAt has read the units' first entries, since no entry has the address.
	var list [maxOver]int64
	units := d.byAddress.over(list[:0], at.start, at.start+1)
	slices.Sort(units)
	for _, off := range units {
		data, err := d.loadAt(off)
		if err != nil {
			return nil, span{}, err
		}
		if data == nil {
			continue
		}
		if q := data.table.sequenceAt(at.start); q != nil {
			at.end = min(at.end, q.end)
			at.end, err = d.beforeEntry(at)
			return data, at, err
		}
	}
	return nil, span{}, nil
}

// beforeEntry returns where the first entry that begins in a range begins, or else the range's end.
func (d *Data) beforeEntry(at span) (uint64, error) {
	var list [maxOver]int64
	for _, off := range d.byAddress.over(list[:0], at.start, at.end) {
		data, err := d.loadAt(off)
		if err == nil && data != nil {
			data, err = d.loadWhole(data.u)
		}
		if err != nil {
			return 0, err
		}
		if data == nil {
			continue
		}
		if i := sort.Search(len(data.index), func(i int) bool { return data.index[i].start > at.start }); i < len(data.index) {
			at.end = min(at.end, data.index[i].start)
		}
	}
	return at.end, nil
}

// symbolFunctions encodes the functions of a unit that have no entry: the symbols that begin in one
// of its line sequences and in its ranges, by which a lookup finds it: those that its first entry
// states, and those of .debug_aranges.
//
// Symbols that an entry covers are left out here if the entry is in the same unit, else by
// dropOverlaps.
func (e *unitEncoder) symbolFunctions(spans []span) error {
	d, symbols := e.d.u.obj.d, e.d.u.obj.d.opt.Symbols
	if symbols == nil {
		return nil
	}
	spans = merge(spans, false)
	for _, q := range e.d.table.seqs {
		for at := q.start; at < q.end; {
			n, code, err := symbols.Piece(at)
			if err != nil {
				return err
			}
			// A symbol begins in the code of one unit, so that an honest file needs each once. The
			// factor makes the limit of allow as many as there are, and 262,144.
			if n >= 0 && !d.allow(workSymbols, 16, int64(symbols.Len())) {
				return d.warnings.Pass(e.d.u.sec().errorf(e.d.u.off, "line programs of different code", "many of the same"))
			}
			first := at
			if at = code.Start + code.Size; at <= first {
				break
			}
			if _, has := e.d.at(code.Start); n < 0 || code.Start < first || has ||
				!covers(spans, code.Start) && !slices.Contains(d.byAddress.aranges.over(nil, code.Start, code.Start+1), e.d.u.off) {
				continue
			}
			if in := e.d.table.sequenceAt(code.Start); in != nil {
				if err := e.symbolFunction(symbols.Name(n), span{code.Start, min(at, in.end)}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// symbolFunction encodes a function that a symbol names.
func (e *unitEncoder) symbolFunction(name string, at span) error {
	all := e.all
	all.spans = append(all.spans, owned{at, int32(len(all.fns))})
	all.fns = append(all.fns, keptFunction{name: name, unit: e.number, at: uint32(len(e.b)), symbol: true})
	all.pieces = e.d.table.within(all.pieces[:0], at.start, at.end)
	if err := e.lines(at.start, all.pieces); err != nil {
		return err
	}
	return e.calls(at.start, nil)
}

// covers reports whether one of the ranges, which are sorted, has an address.
func covers(spans []span, rva uint64) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].end > rva })
	return i < len(spans) && spans[i].start <= rva
}
