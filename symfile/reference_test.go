package symfile

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// reference reads a symbol file the plain way: everything into memory, strings.Fields, linear
// searches. It shares nothing with the reader.
type reference struct {
	funcs   []*refFunc
	pubs    []refPub
	files   map[string]string
	origins map[string]string
	cfis    []*refCFI
	wins    []refWin
	windows bool
}

type refFunc struct {
	addr, size, params uint64
	multi              bool
	name               string
	lines              [][4]uint64 // address, size, line, file
	inlines            []refInline
}

type refInline struct {
	level, callLine, addr, size uint64
	callFile, origin            string
}

type refPub struct {
	addr, params uint64
	multi        bool
	name         string
}

type refCFI struct {
	addr, size uint64
	rules      string
	deltas     []refDelta
}

type refDelta struct {
	addr  uint64
	rules string
}

type refWin struct {
	typ, addr, size uint64
	text            string
}

// rest is what is left of a line after n fields.
func rest(line string, n int) string {
	for range n {
		line = strings.TrimLeft(line, " ")
		i := strings.IndexByte(line, ' ')
		if i < 0 {
			return ""
		}
		line = line[i:]
	}
	return strings.TrimSpace(line)
}

func hexOf(s string) (uint64, bool) { v, err := strconv.ParseUint(s, 16, 64); return v, err == nil }
func decOf(s string) (uint64, bool) { v, err := strconv.ParseUint(s, 10, 32); return v, err == nil }

// hexes reads several fields; false if one is missing or no number.
func hexes(fs []string, n int) (v []uint64, ok bool) {
	if len(fs) < n {
		return nil, false
	}
	for _, s := range fs[:n] {
		x, ok := hexOf(s)
		if !ok {
			return nil, false
		}
		v = append(v, x)
	}
	return v, true
}

func newReference(text string) *reference {
	r := &reference{files: map[string]string{}, origins: map[string]string{}}
	var fn *refFunc
	var cfi *refCFI
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r \t")
		fs := strings.Fields(line)
		if len(fs) == 0 {
			continue
		}
		switch fs[0] {
		case "MODULE":
			r.windows = len(fs) > 1 && fs[1] == "windows"
		case "FUNC", "PUBLIC":
			skip := 1
			multi := len(fs) > 1 && fs[1] == "m"
			if multi {
				skip = 2
			}
			want := 3
			if fs[0] == "PUBLIC" {
				want = 2
			}
			v, ok := hexes(fs[min(skip, len(fs)):], want)
			name := rest(line, skip+want)
			if name == "" {
				name = nameless
			}
			if fs[0] == "PUBLIC" {
				if ok && v[0] != 0 {
					r.pubs = append(r.pubs, refPub{v[0], v[1], multi, name})
				}
				continue
			}
			fn = nil
			if ok {
				fn = &refFunc{addr: v[0], size: v[1], params: v[2], multi: multi, name: name}
				r.funcs = append(r.funcs, fn)
			}
		case "FILE":
			if len(fs) > 2 {
				if _, dup := r.files[fs[1]]; !dup {
					r.files[fs[1]] = rest(line, 2)
				}
			}
		case "INLINE_ORIGIN":
			if len(fs) < 3 {
				continue
			}
			name := rest(line, 2)
			if _, err := strconv.Atoi(fs[2]); err == nil && len(fs) > 3 {
				name = rest(line, 3)
			}
			if _, dup := r.origins[fs[1]]; !dup {
				r.origins[fs[1]] = name
			}
		case "INLINE":
			if fn == nil || len(fs) < 6 {
				continue
			}
			level, _ := decOf(fs[1])
			callLine, _ := decOf(fs[2])
			at, callFile := 3, "old"
			if len(fs)%2 == 1 {
				at, callFile = 4, fs[3]
			}
			for i := at + 1; i+1 < len(fs); i += 2 {
				v, _ := hexes(fs[i:], 2)
				fn.inlines = append(fn.inlines, refInline{level, callLine, v[0], v[1], callFile, fs[at]})
			}
		case "STACK":
			switch {
			case len(fs) > 2 && fs[1] == "WIN":
				if v, ok := hexes(fs[2:], 10); ok && (v[0] == 4 || v[0] == 0) && v[2] > 0 {
					r.wins = append(r.wins, refWin{v[0], v[1], v[2], rest(line, 12)})
				}
			case len(fs) > 2 && fs[1] == "CFI" && fs[2] == "INIT":
				cfi = nil
				if v, ok := hexes(fs[3:], 2); ok {
					cfi = &refCFI{addr: v[0], size: v[1], rules: rest(line, 5)}
					r.cfis = append(r.cfis, cfi)
				}
			case len(fs) > 2 && fs[1] == "CFI":
				if a, ok := hexOf(fs[2]); ok && cfi != nil {
					cfi.deltas = append(cfi.deltas, refDelta{a, rest(line, 3)})
				}
			}
		case "INFO":
		default:
			if len(fs) != 4 || fn == nil {
				continue
			}
			v, ok := hexes(fs, 2)
			l, ok2 := decOf(fs[2])
			n, ok3 := decOf(fs[3])
			if ok && ok2 && ok3 {
				fn.lines = append(fn.lines, [4]uint64{v[0], v[1], l, n})
			}
		}
	}
	keep := func(n int, at func(int) (addr, size uint64)) []int {
		var order, kept []int
		for i := range n {
			order = append(order, i)
		}
		sort.SliceStable(order, func(i, j int) bool {
			a, as := at(order[i])
			b, bs := at(order[j])
			return a < b || a == b && as < bs
		})
		for _, i := range order {
			a, s := at(i)
			if s == 0 || !fits(a, s) {
				continue
			}
			if n := len(kept); n > 0 {
				b, bs := at(kept[n-1])
				if covers(b, bs, a) {
					continue
				}
			}
			kept = append(kept, i)
		}
		return kept
	}
	var funcs []*refFunc
	for _, i := range keep(len(r.funcs), func(i int) (uint64, uint64) { return r.funcs[i].addr, r.funcs[i].size }) {
		fn := r.funcs[i]
		var lines [][4]uint64
		for _, j := range keep(len(fn.lines), func(j int) (uint64, uint64) { return fn.lines[j][0], fn.lines[j][1] }) {
			lines = append(lines, fn.lines[j])
		}
		fn.lines = lines
		funcs = append(funcs, fn)
	}
	r.funcs = funcs
	var cfis []*refCFI
	for _, i := range keep(len(r.cfis), func(i int) (uint64, uint64) { return r.cfis[i].addr, r.cfis[i].size }) {
		cfis = append(cfis, r.cfis[i])
	}
	r.cfis = cfis
	return r
}

// fits reports whether a range ends inside the address space.
func fits(addr, size uint64) bool {
	sum := new(big.Int).Add(new(big.Int).SetUint64(addr), new(big.Int).SetUint64(size))
	return sum.IsUint64()
}

func covers(addr, size, x uint64) bool { return x >= addr && x-addr < size }

func (r *reference) lookup(x uint64) symbol.Symbol {
	var before *refFunc
	for _, fn := range r.funcs {
		if fn.addr > x {
			break
		}
		before = fn
	}
	if fn := before; fn != nil && covers(fn.addr, fn.size, x) {
		s := symbol.Symbol{Name: fn.name, Start: fn.addr, Size: fn.size, ParamSize: uint32(fn.params), Multiple: fn.multi}
		own, line, has := "", uint32(0), false
		for _, l := range fn.lines {
			if covers(l[0], l[1], x) {
				own, line, has = r.files[fmt.Sprint(l[3])], uint32(l[2]), true
				s.LineStart = l[0]
			}
		}
		s.File, s.Line, s.HasLine = own, line, has
		for level := uint64(0); ; level++ {
			var best *refInline
			for i := range fn.inlines {
				in := &fn.inlines[i]
				if in.level == level && in.size > 0 && fits(in.addr, in.size) && covers(in.addr, in.size, x) &&
					(best == nil || in.addr > best.addr || in.addr == best.addr && in.size <= best.size) {
					best = in
				}
			}
			if best == nil {
				break
			}
			site := own
			if best.callFile != "old" {
				site = r.files[best.callFile]
			}
			if level == 0 {
				s.File, s.Line, s.HasLine = site, uint32(best.callLine), true
				if !has {
					s.LineStart = best.addr
				}
			} else {
				s.Inlines[0].File, s.Inlines[0].Line, s.Inlines[0].HasLine = site, uint32(best.callLine), true
			}
			name, ok := r.origins[best.origin]
			if !ok {
				name = nameless
			}
			s.Inlines = slices.Insert(s.Inlines, 0, symbol.Inline{Name: name, File: own, Line: line, HasLine: has, Start: best.addr})
		}
		return s
	}
	var pub *refPub
	for i := range r.pubs {
		if p := &r.pubs[i]; p.addr <= x && (pub == nil || p.addr > pub.addr) {
			pub = p
		}
	}
	if pub == nil || before != nil && before.addr >= pub.addr {
		return symbol.Symbol{}
	}
	return symbol.Symbol{Name: pub.name, Start: pub.addr, ParamSize: uint32(pub.params), Public: true, Multiple: pub.multi, Extent: r.extent(pub.addr, x)}
}

// extent is that of a PUBLIC record at an address.
func (r *reference) extent(public, x uint64) symbol.Extent {
	if x == public {
		return symbol.Covers
	}
	last := -1
	for i, c := range r.cfis {
		if c.addr <= x {
			last = i
		}
	}
	if last < 0 {
		return r.extentByWin(public, x)
	}
	c := r.cfis[last]
	if c.addr > public && r.windows && covers(c.addr, c.size, x) {
		for last > 0 && r.cfis[last-1].addr+r.cfis[last-1].size == r.cfis[last].addr && r.cfis[last].addr > public {
			last--
		}
		if r.cfis[last].addr <= public {
			return symbol.Nearest
		}
	}
	switch in := covers(c.addr, c.size, x); {
	case c.addr == public && in:
		return symbol.Covers
	case c.addr > public, covers(c.addr, c.size, public) && !in:
		return symbol.Passed
	}
	return symbol.Nearest
}

func (r *reference) extentByWin(public, x uint64) symbol.Extent {
	out := symbol.Nearest
	for _, typ := range []uint64{4, 0} {
		best := symbol.Nearest
		found := false
		for _, w := range r.wins {
			if w.typ != typ || !fits(w.addr, w.size) {
				continue
			}
			at, own := covers(w.addr, w.size, x), covers(w.addr, w.size, public)
			if at || own {
				out = symbol.Passed
			}
			if at && own {
				found = true
				if w.addr == public {
					best = symbol.Covers
				}
			}
		}
		if found {
			return best
		}
	}
	return out
}

func (r *reference) cfi(x uint64) (string, []string, bool) {
	for _, c := range r.cfis {
		if !covers(c.addr, c.size, x) {
			continue
		}
		ds := slices.Clone(c.deltas)
		sort.SliceStable(ds, func(i, j int) bool { return ds[i].addr < ds[j].addr })
		var rules []string
		for _, d := range ds {
			if d.addr >= c.addr && d.addr <= x {
				rules = append(rules, d.rules)
			}
		}
		return c.rules, rules, true
	}
	return "", nil, false
}

func (r *reference) win(x uint64) (best refWin, ok bool) {
	for _, typ := range []uint64{4, 0} {
		for _, w := range r.wins {
			if w.typ == typ && fits(w.addr, w.size) && covers(w.addr, w.size, x) &&
				(!ok || w.addr > best.addr || w.addr == best.addr && w.size < best.size) {
				best, ok = w, true
			}
		}
		if ok {
			return best, true
		}
	}
	return best, false
}

// interesting are the addresses at which an answer may change.
func (r *reference) interesting() []uint64 {
	var xs []uint64
	add := func(addr, size uint64) { xs = append(xs, addr, addr-1, addr+size, addr+size-1, addr+size/2) }
	for _, fn := range r.funcs {
		add(fn.addr, fn.size)
		for _, l := range fn.lines {
			add(l[0], l[1])
		}
		for _, in := range fn.inlines {
			add(in.addr, in.size)
		}
	}
	for _, p := range r.pubs {
		add(p.addr, 1)
	}
	for _, c := range r.cfis {
		add(c.addr, c.size)
		for _, d := range c.deltas {
			add(d.addr, 1)
		}
	}
	for _, w := range r.wins {
		add(w.addr, w.size)
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// compare looks at most n of the interesting addresses up in both, spread over the file.
func compare(t *testing.T, name string, f *File, r *reference, n int) {
	t.Helper()
	xs := r.interesting()
	step := max(1, len(xs)/n)
	for i := 0; i < len(xs); i += step {
		x := xs[i]
		got, ans, err := f.Lookup(x)
		want := r.lookup(x)
		if err != nil || (ans == symbol.Yes) != (want.Name != "") || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: Lookup(0x%x):\n got %+v %v %v\nwant %+v", name, x, got, ans, err, want)
		}
		c, found, err := f.CFI(x)
		rules, deltas, wantFound := r.cfi(x)
		var gotDeltas []string
		for _, d := range c.Deltas {
			gotDeltas = append(gotDeltas, d.Rules)
		}
		if err != nil || found != wantFound || c.Rules != rules || !slices.Equal(gotDeltas, deltas) {
			t.Fatalf("%s: CFI(0x%x):\n got %+v %v %v\nwant %s %q %v", name, x, c, found, err, rules, deltas, wantFound)
		}
		d, ans, err := f.FrameData(x)
		w, has := r.win(x)
		if err != nil || (ans == symbol.Yes) != has || d.Start != w.addr || d.Size != w.size || has && (uint64(d.Type) != w.typ || d.HasProgram && d.Program != w.text) {
			t.Fatalf("%s: FrameData(0x%x):\n got %+v %v %v\nwant %+v", name, x, d, ans, err, w)
		}
	}
}
