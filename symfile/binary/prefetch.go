package binary

import (
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// prefetched is how many addresses Prefetch looks up at a time, so that the units that the lookups
// of debug information decode stay in its cache.
const prefetched = 32

// cachedSymbol is the result of Lookup for an RVA.
type cachedSymbol struct {
	symbol symbol.Symbol
	answer symbol.Answer
	err    error
}

// NeedsPrefetch reports whether Prefetch would help to find the rules at an RVA.
func (f *File) NeedsPrefetch(rva uint64) bool {
	_, known := f.rows[rva]
	return !known && slices.ContainsFunc(f.program.sources(), input.ReadsMany)
}

// Prefetch looks up the rules at the RVAs in rules and the symbols at those in functions, where the
// files' readers read many ranges at once faster than one after the other (input.Rounds). The
// results are kept for calls of Row, and for those of Lookup until the next Prefetch. They are the
// same as without it.
func (f *File) Prefetch(rules, functions []uint64) {
	f.inRounds(rules, func(rva uint64) bool { _, ok := f.rows[rva]; return !ok }, func(list []uint64, rounds *input.Rounds) {
		var last cachedRow
		var code [32]byte
		rounds.Run(len(list), func(i int) {
			last.row, last.answer, last.err = f.findRow(list[i])
			f.program.code(list[i]-min(list[i], uint64(len(code)/2)), code[:]) // is it after a call?
		}, func(i int) { f.keepRow(list[i], last) })
	})
	if len(functions) > 0 {
		f.found = map[uint64]cachedSymbol{}
	}
	f.inRounds(functions, func(uint64) bool { return true }, func(list []uint64, rounds *input.Rounds) {
		for _, s := range f.symbolSources() {
			if t, err := s.get(); err == nil {
				if p, ok := t.(interface{ Prefetch([]uint64, *input.Rounds) }); ok {
					p.Prefetch(list, rounds)
				}
			}
		}
		f.inPrefetch = true
		var last cachedSymbol
		rounds.Run(len(list), func(i int) {
			f.needsTables = false
			last.symbol, last.answer, last.err = f.find(list[i])
		}, func(i int) {
			if !f.needsTables && (last.err == nil || f.src.Cancelled() == nil) {
				f.found[list[i]] = last
			}
		})
		f.inPrefetch = false
	})
}

// inRounds calls do for the RVAs that are lacking, some at a time and each once.
func (f *File) inRounds(rvas []uint64, lacking func(uint64) bool, do func(list []uint64, rounds *input.Rounds)) {
	rvas = slices.DeleteFunc(slices.Clone(rvas), func(rva uint64) bool { return !lacking(rva) })
	slices.Sort(rvas)
	for list := range slices.Chunk(slices.Compact(rvas), prefetched) {
		rounds := input.NewRounds(f.program.sources())
		if rounds == nil {
			return
		}
		do(list, rounds)
		rounds.Close()
	}
}
