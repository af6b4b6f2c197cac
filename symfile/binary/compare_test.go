package binary_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// symText is a symbol file as text that can be asked what it lists, and opened, so that it can be
// asked what it answers.
type symText struct {
	text   string
	header []string // MODULE and INFO
	funcs  map[[2]uint64]string
	pubs   map[uint64]string
	cfi    [][2]uint64
	file   *symfile.File
	// plain: its writer leaves inlined calls out, and gives the lines that they were called from.
	plain bool
	// Where answers may change: the bounds of functions, lines and inlined calls, and of unwind
	// rules.
	codeAt, ruleAt []uint64
}

func readSym(t testing.TB, name, text string) *symText {
	t.Helper()
	s := &symText{text: text, funcs: map[[2]uint64]string{}, pubs: map[uint64]string{}}
	hex := func(w string) uint64 { v, _ := strconv.ParseUint(w, 16, 64); return v }
	for line := range strings.Lines(text) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		switch w[0] {
		case "MODULE", "INFO":
			s.header = append(s.header, strings.Join(w, " "))
		case "FUNC", "PUBLIC":
			at := 1
			if w[1] == "m" {
				at = 2
			}
			if w[0] == "FUNC" {
				s.codeAt = append(s.codeAt, hex(w[at]), hex(w[at])+hex(w[at+1]))
				s.funcs[[2]uint64{hex(w[at]), hex(w[at+1])}] = strings.Join(w[at+3:], " ")
			} else {
				s.pubs[hex(w[at])] = strings.Join(w[at+2:], " ")
			}
		case "STACK":
			switch {
			case len(w) > 4 && w[1] == "CFI" && w[2] == "INIT":
				s.cfi = append(s.cfi, [2]uint64{hex(w[3]), hex(w[3]) + hex(w[4])})
				s.ruleAt = append(s.ruleAt, hex(w[3]), hex(w[3])+hex(w[4]))
			case len(w) > 2 && w[1] == "CFI":
				s.ruleAt = append(s.ruleAt, hex(w[2]))
			}
		case "INLINE":
			at := 5
			if len(w)%2 == 0 { // the form without a call-site file
				at = 4
			}
			for ; at+1 < len(w); at += 2 {
				s.codeAt = append(s.codeAt, hex(w[at]), hex(w[at])+hex(w[at+1]))
			}
		case "FILE", "INLINE_ORIGIN":
		default:
			if len(w) == 4 {
				s.codeAt = append(s.codeAt, hex(w[0]), hex(w[0])+hex(w[1]))
			}
		}
	}
	f, err := symfile.Open(input.FromBytes(name, []byte(text)), symfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.file = f
	return s
}

// arch is the processor of the MODULE record.
func (s *symText) arch() *cpu.Arch {
	switch a := s.file.Module.Arch; a {
	case "x86_64":
		return cpu.AMD64
	default:
		return cpu.ByName(a)
	}
}

// differences are how often two symbol files differ, by kind, with the first few of each in words.
type differences struct {
	count map[string]int
	first map[string][]string
}

func (d *differences) add(kind, format string, args ...any) { d.many(1, kind, format, args...) }

// many is add for n of a kind.
func (d *differences) many(n int, kind, format string, args ...any) {
	if d.count == nil {
		d.count, d.first = map[string]int{}, map[string][]string{}
	}
	if d.count[kind] += n; len(d.first[kind]) < 6 {
		d.first[kind] = append(d.first[kind], fmt.Sprintf(format, args...))
	}
}

func (d *differences) String() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(func(yield func(string) bool) {
		for k := range d.count {
			if !yield(k) {
				return
			}
		}
	}) {
		fmt.Fprintf(&b, "%s: %d\n\t%s\n", kind, d.count[kind], strings.Join(d.first[kind], "\n\t"))
	}
	return b.String()
}

// compare says how our symbol file differs from another one of the same binary: in what is listed,
// and in what is answered at every address that either of them covers.
func compare(ours, theirs *symText) *differences {
	d := &differences{}
	for i, line := range theirs.header {
		// Lines such as the generator's name differ between writers.
		if !strings.HasPrefix(line, "INFO GENERATOR") && (i >= len(ours.header) || ours.header[i] != line) {
			d.add("header", "theirs %s", line)
		}
	}
	compareFunctions(d, ours, theirs)
	comparePublics(d, ours, theirs)
	pieces(append(slices.Clone(ours.codeAt), theirs.codeAt...), func(rva uint64, n int) { compareLookup(d, rva, n, ours, theirs) })
	if len(theirs.cfi) > 0 {
		compareRows(d, ours, theirs)
	}
	return d
}

// squeeze makes names comparable that differ in blanks only.
func squeeze(name string) string { return strings.ReplaceAll(name, " ", "") }

func compareFunctions(d *differences, ours, theirs *symText) {
	for _, r := range keys(theirs.funcs) {
		name, ok := ours.funcs[r]
		switch {
		case !ok:
			d.add("function of theirs only", "%x %x %s", r[0], r[1], theirs.funcs[r])
		case squeeze(name) != squeeze(theirs.funcs[r]):
			d.add("function name", "%x: %s, theirs %s", r[0], name, theirs.funcs[r])
		}
	}
	for _, r := range keys(ours.funcs) {
		if _, ok := theirs.funcs[r]; !ok {
			d.add("function of ours only", "%x %x %s", r[0], r[1], ours.funcs[r])
		}
	}
}

func keys(m map[[2]uint64]string) [][2]uint64 {
	var out [][2]uint64
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	return out
}

// comparePublics compares the names of code that is in no function of either.
func comparePublics(d *differences, ours, theirs *symText) {
	inFunc := func(s *symText, rva uint64) bool {
		sym, ans, err := s.file.Lookup(rva)
		return err == nil && ans == symbol.Yes && !sym.Public
	}
	for rva, name := range theirs.pubs {
		have, ok := ours.pubs[rva]
		switch {
		case inFunc(ours, rva) || inFunc(theirs, rva):
		case !ok && strings.Contains(name, " ELF section in "):
			d.add("section's name of theirs", "%x %s", rva, name)
		case !ok:
			d.add("public of theirs only", "%x %s", rva, name)
		case strings.Contains(name, " ELF section in "):
			d.add("section's name of theirs", "%x: %s, theirs %s", rva, have, name)
		case squeeze(have) != squeeze(name):
			d.add("public name", "%x: %s, theirs %s", rva, have, name)
		}
	}
	for rva, name := range ours.pubs {
		if _, ok := theirs.pubs[rva]; ok || inFunc(theirs, rva) {
			continue
		}
		if strings.HasSuffix(name, "@plt") {
			d.add("plt name of ours", "%x %s", rva, name)
		} else {
			d.add("public of ours only", "%x %s", rva, name)
		}
	}
}

// pieces cuts addresses at the bounds and calls f for every piece with its length.
func pieces(bounds []uint64, f func(rva uint64, n int)) {
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	for i := 1; i < len(bounds); i++ {
		f(bounds[i-1], int(bounds[i]-bounds[i-1]))
	}
}

func compareLookup(d *differences, rva uint64, n int, ours, theirs *symText) {
	a, _, _ := ours.file.Lookup(rva)
	b, _, _ := theirs.file.Lookup(rva)
	if theirs.plain {
		a.Inlines = nil
	}
	switch {
	case a.Public || b.Public || (a.Name == "") != (b.Name == ""):
		return // counted among the functions
	}
	place := func(s *symbol.Symbol) (string, uint32, bool) {
		if len(s.Inlines) > 0 {
			return s.Inlines[0].File, s.Inlines[0].Line, s.Inlines[0].HasLine
		}
		return s.File, s.Line, s.HasLine
	}
	af, al, ah := place(&a)
	bf, bl, bh := place(&b)
	switch {
	case ah != bh:
		d.many(n, "bytes with a line in one only", "%x: %s:%d %v, theirs %s:%d %v", rva, af, al, ah, bf, bl, bh)
	case al != bl:
		d.many(n, "bytes with another line", "%x: %s:%d, theirs %s:%d", rva, af, al, bf, bl)
	case af != bf && filepath.Base(af) == filepath.Base(bf):
		d.many(n, "bytes with another folder", "%x: %s:%d, theirs %s:%d", rva, af, al, bf, bl)
	case af != bf:
		d.many(n, "bytes with another file", "%x: %s:%d, theirs %s:%d", rva, af, al, bf, bl)
	}
	switch {
	case len(a.Inlines) != len(b.Inlines):
		d.many(n, "bytes with another number of inlined calls", "%x: %s, theirs %s", rva, calls(&a), calls(&b))
	case calls(&a) != calls(&b):
		d.many(n, "bytes with other inlined calls", "%x: %s, theirs %s", rva, calls(&a), calls(&b))
	}
}

// calls are the inlined calls at an address with the places of the calls.
func calls(s *symbol.Symbol) string {
	var out []string
	for i, in := range s.Inlines {
		file, line := s.File, s.Line
		if i+1 < len(s.Inlines) {
			file, line = s.Inlines[i+1].File, s.Inlines[i+1].Line
		}
		out = append(out, fmt.Sprintf("%s by %s:%d", squeeze(in.Name), filepath.Base(file), line))
	}
	return strings.Join(out, ", ")
}

func compareRows(d *differences, ours, theirs *symText) {
	arch := theirs.arch()
	pieces(append(slices.Clone(ours.ruleAt), theirs.ruleAt...), func(rva uint64, n int) {
		a, ansA, _ := ours.file.Row(arch, rva)
		b, ansB, _ := theirs.file.Row(arch, rva)
		switch {
		case ansA == symbol.Yes && ansB != symbol.Yes:
			d.many(n, "pcs with a rule in ours only", "%x: %s", rva, a.Describe(arch))
		case ansA != symbol.Yes && ansB == symbol.Yes:
			d.many(n, "pcs with a rule in theirs only", "%x: %s", rva, b.Describe(arch))
		case ansA == symbol.Yes && !sameRow(arch, &a, &b):
			d.many(n, otherRule(arch, &a, &b), "%x: %s, theirs %s", rva, a.Describe(arch), b.Describe(arch))
		}
	})
}

// otherRule returns how two rows differ.
func otherRule(arch *cpu.Arch, ours, theirs *unwind.Row) string {
	of := func(r *unwind.Row, reg cpu.Reg) unwind.Rule {
		for _, s := range r.Saved {
			if s.Reg == reg && s.Rule.Kind != unwind.Same {
				return s.Rule
			}
		}
		return unwind.Rule{}
	}
	restored := ours.RA.Equal(theirs.RA) || ours.RA.Equal(unwind.Rule{Kind: unwind.FromReg, Reg: arch.LR})
	for r := range arch.Names {
		a, b := of(ours, cpu.Reg(r)), of(theirs, cpu.Reg(r))
		restored = restored && (a.Equal(b) || a.Kind == unwind.Unset)
	}
	sp := func(r *unwind.Row) bool { return r.CFA.Kind == unwind.FromReg && r.CFA.Reg == arch.SP }
	switch {
	case ours.Outermost && ours.CFA.Equal(theirs.CFA):
		return "pcs without a caller"
	case restored && ours.CFA.Equal(theirs.CFA):
		return "pcs after a register was restored"
	case sp(ours) && sp(theirs) && ours.RA.Equal(theirs.RA) && len(ours.Saved) == 0 && len(theirs.Saved) == 0 && theirs.CFA.Offset == 3*int64(arch.WordSize):
		return "pcs of .plt stubs"
	case ours.CFA.Kind == unwind.AtReg || ours.CFA.Kind == unwind.Computed:
		return "pcs with a cfa by an expression"
	}
	return "pcs with another rule"
}

// sameRow compares rows as what a .sym can say about them: a register that a call preserves is
// unchanged without a rule.
func sameRow(arch *cpu.Arch, a, b *unwind.Row) bool {
	strip := func(r *unwind.Row) unwind.Row {
		out := unwind.Row{CFA: r.CFA, RA: r.RA}
		for _, s := range r.Saved {
			if s.Rule.Kind != unwind.Unset && s.Rule.Kind != unwind.Undefined && !(s.Rule.Kind == unwind.Same && slices.Contains(arch.CalleeSaved, s.Reg)) {
				out.Saved = append(out.Saved, s)
			}
		}
		return out
	}
	x, y := strip(a), strip(b)
	return x.Equal(&y)
}
