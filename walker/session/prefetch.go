package session

import (
	"slices"

	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/symbols"
)

// If a symbol file is searched or a binary read, looking up many addresses at once costs little more than looking
// up one. A walk asks address by address, and which one is next only the rules of the last tell.
// But it is on the stack: the words there that point into the module's code are looked up together.
// That changes no answer.

// prefetchWords is how many words of a stack are looked at for addresses at a time, and
// prefetchRules how many of these are looked up; in a file on a server, where what is not needed is
// a request too, remoteRules.
const prefetchWords, prefetchRules, remoteRules = 4096, 256, 64

// aheadThreads is for how many threads at a time a file with an index is asked what their stacks
// may need.
const aheadThreads = 64

// ahead looks up what the stacks of the next threads point to, in files that have an index: where
// that is in a file is then known, and what lies close together is read together. For a file that is
// searched, each address that is not needed would cost as much as one that is.
func (s *Session) ahead() {
	w := &s.walked
	if w.next < w.ahead {
		return
	}
	byModule := map[int][]uint64{}
	add := func(module int, rva uint64) {
		if module >= 0 {
			byModule[module] = append(byModule[module], rva)
		}
	}
	for w.ahead = w.next; w.ahead < min(w.next+aheadThreads, len(w.done)); w.ahead++ {
		if w.done[w.ahead] {
			continue
		}
		if steps, _ := s.beginThread(w.walker, w.syms, w.ahead, w.policy); steps != nil {
			add(steps.Wants())
			steps.Words(0, prefetchWords, add)
			s.Src.Return(walker.FrameCost)
		}
	}
	for module, list := range byModule {
		if f := s.modules[module].item; f != nil && f.Source().Slice == 0 {
			f.WithSym(false, func(sym *symfile.File) {
				if sym.FullyIndexed() {
					sym.Prefetch(list, list)
				}
			})
		}
	}
}

// prefetch is for the walk of one thread.
type prefetch struct {
	y     *lookups
	steps *walker.Steps
	seen  map[int]uint64 // module → address on the stack up to which
}

// rules looks up the unwind rules that the next step lacks, and with them those that later steps in
// the same module may ask for. For a file on a server that has no index, where each of them takes
// several requests, only those of the next step.
func (p *prefetch) rules() {
	module, rva := p.steps.Wants()
	if module < 0 || p.y.s.ignored[module] {
		return
	}
	f := p.file(module)
	if f == nil {
		return
	}
	needs, indexed := f.NeedsPrefetch(rva)
	if !needs {
		return
	}
	list := []uint64{rva}
	most := prefetchRules
	if f.Source().Slice != 0 {
		if most = 1; indexed {
			most = remoteRules
		}
	}
	if p.seen == nil {
		p.seen = map[int]uint64{}
	}
	for left := prefetchWords; left > 0 && len(list) < most; left -= 64 {
		p.seen[module] = p.steps.Words(p.seen[module], 64, func(m int, rva uint64) {
			if m == module && !slices.Contains(list, rva) { // a recursion has the same few again and again
				list = append(list, rva)
			}
		})
	}
	// The name of the first frame is asked for before the walk goes on, too. On a server a round costs more than
	// the names of words that turn out to be no frames.
	names := list[:1]
	if most == remoteRules {
		names = list
	}
	f.Prefetch(list, names)
}

// file returns the module's symbol file, or else its binary, or nil.
func (p *prefetch) file(module int) *symbols.File {
	if f := p.y.file(module); f != nil {
		return f
	}
	return p.y.binary(module)
}

// names looks up the symbols of all frames.
func (p *prefetch) names() {
	byModule := map[int][]uint64{}
	p.steps.Unnamed(func(module int, rva uint64) { byModule[module] = append(byModule[module], rva) })
	for module, list := range byModule {
		if f := p.file(module); f != nil {
			f.Prefetch(nil, list)
		}
	}
}
