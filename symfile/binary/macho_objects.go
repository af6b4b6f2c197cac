package binary

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// objectTable is the DWARF in the objects that a Mach-O program was linked from. The program's debug map
// says where each function of an object is in the program, and an object's symbols where it is in the
// object. An object is opened when a lookup needs it.
//
//	main.o: _main at 0x20, _f at 0x80        a.out: _f at 0x100003f00, _main at 0x100003f40
//	lookup of 0x100003f48                    main.o's lookup of 0x28, moved by 0x100003f20
type objectTable struct {
	debugMap *macho.DebugMap
	program  string                     // its file
	sources  map[string][]*input.Source // the objects that are there, by the last part of their names
	files    map[string][]*objectFile   // the same, for names that lookups needed
	objects  []*mappedObject            // as the debug map's, nil before they are needed
	byName   map[string][]int           // numbers of the debug map's objects, by the last part of their paths
	notes    input.Warnings
	wanted   []string // paths of those that lookups needed and that are not there
}

// mappedObject is an opened object. Its objectFile is nil if none of the files is the object.
type mappedObject struct {
	*objectFile
	// code is what the program has of the object, sorted by the address in the object. byName has where
	// a function begins there.
	code   []movedCode
	byName map[string]uint64
}

// movedCode is code of an object, and where it is in the program.
type movedCode struct{ address, size, rva uint64 }

// objectName returns the last part of an object's path, which may be a member of an archive.
func objectName(path string) string {
	path = strings.TrimSuffix(path, ")")
	return path[strings.LastIndexAny(path, `/\(`)+1:]
}

// newObjectTable makes the table of a program with the objects that are there.
func newObjectTable(program string, m *macho.DebugMap, sources map[string][]*input.Source) *objectTable {
	return &objectTable{debugMap: m, program: program, sources: sources, files: map[string][]*objectFile{}, objects: make([]*mappedObject, len(m.Objects))}
}

// Has reports whether there is an object.
func (t *objectTable) Has() bool {
	for _, of := range t.sources {
		if len(of) > 0 {
			return true
		}
	}
	return false
}

// Warnings returns what was wrong with objects, and what is wrong in those that are open.
func (t *objectTable) Warnings() []string {
	out := t.notes.List(t.program)
	for _, o := range t.objects {
		if o != nil && o.objectFile != nil {
			out = append(out, o.file.Warnings()...)
		}
	}
	return out
}

// warn adds a warning about an object.
func (t *objectTable) warn(file, have string) {
	t.notes.Add(&input.FormatError{File: file, Offset: -1, Have: have})
}

// maxSameName is how many files of an object's name are opened to find it.
const maxSameName = 8

// candidates returns the files that may be an object, those first that have its time and most of its
// path in common. Of many with its name, these are the ones around its place in the order of paths from
// their ends.
func (t *objectTable) candidates(of *macho.MappedObject) []*objectFile {
	key, all := reversed(of.Path), t.named(objectName(of.Path))
	at := sort.Search(len(all), func(i int) bool {
		return all[i].path > key || all[i].path == key && all[i].src.Modified >= of.Modified
	})
	from := max(0, min(at-maxSameName/2, len(all)-maxSameName))
	out := slices.Clone(all[from:min(len(all), from+maxSameName)])
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if x, y := sameTime(of, a.src), sameTime(of, b.src); x != y {
			return x
		}
		return commonBegin(a.path, key) > commonBegin(b.path, key)
	})
	return out
}

// named returns the files with an object's name, sorted by path and time.
func (t *objectTable) named(name string) []*objectFile {
	all, sorted := t.files[name]
	if !sorted {
		for _, src := range t.sources[name] {
			all = append(all, &objectFile{src: src, path: reversed(src.Name), owner: -1})
		}
		sort.SliceStable(all, func(i, j int) bool {
			a, b := all[i], all[j]
			return a.path < b.path || a.path == b.path && a.src.Modified < b.src.Modified
		})
		t.files[name] = all
	}
	return all
}

// owner returns the object of the debug map whose path has most in common with a file's, or -1 if two
// have as much. Objects of one name in two folders may have functions in common.
func (t *objectTable) owner(f *objectFile) int {
	if t.byName == nil {
		t.byName = map[string][]int{}
		for i := range t.debugMap.Objects {
			name := objectName(t.debugMap.Objects[i].Path)
			t.byName[name] = append(t.byName[name], i)
		}
	}
	if f.owned {
		return f.owner
	}
	most := -1
	for _, i := range t.byName[objectName(f.src.Name)] {
		switch n := commonBegin(reversed(t.debugMap.Objects[i].Path), f.path); {
		case n > most:
			most, f.owner = n, i
		case n == most:
			f.owner = -1
		}
	}
	f.owned = true
	return f.owner
}

// sameTime reports whether a file may be of the time that the debug map has for an object.
func sameTime(of *macho.MappedObject, src *input.Source) bool {
	return of.Modified == 0 || src.Modified == 0 || of.Modified == src.Modified
}

// reversed returns a path from its end to its beginning. A member of an archive is "lib.a(a.o)" or
// "lib.a/a.o".
func reversed(path string) string {
	b := []byte(strings.NewReplacer(`\`, "/", "(", "/", ")", "").Replace(path))
	slices.Reverse(b)
	return string(b)
}

func commonBegin(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// object returns an object of the debug map, opened. It has no code if it is not there.
func (t *objectTable) object(i int) (*mappedObject, error) {
	if o := t.objects[i]; o != nil {
		return o, nil
	}
	o, err := t.find(i)
	if err != nil {
		return nil, err
	}
	t.objects[i] = o
	return o, nil
}

// find opens the first file that is an object of the debug map. Its file is nil if none is.
func (t *objectTable) find(i int) (*mappedObject, error) {
	of := &t.debugMap.Objects[i]
	for _, f := range t.candidates(of) {
		if own := t.owner(f); own >= 0 && own != i {
			continue
		}
		o, refused, err := t.open(i, f)
		switch {
		case input.Needs(err):
			return nil, err
		case err != nil:
			t.notes.Add(err)
		case refused != "":
			t.warn(f.src.Name, fmt.Sprintf("not the object %s that %s was linked from: %s", of.Path, t.program, refused))
		default:
			switch {
			case of.Modified == 0 || f.src.Modified == 0:
				t.warn(t.program, "the times of its objects are not known, so only the sizes of their functions show that they are of this build; of another one, lines may differ")
			case !sameTime(of, f.src):
				t.warn(f.src.Name, fmt.Sprintf("an object of %s, where %s was linked from one of %s; it is used because its functions have the same sizes, but lines may differ",
					utc(f.src.Modified), t.program, utc(of.Modified)))
			}
			return o, nil
		}
	}
	t.wanted = append(t.wanted, of.Path)
	return &mappedObject{}, nil
}

// utc writes a time without time.Format, which takes a browser long to compile.
func utc(seconds int64) string {
	t := time.Unix(seconds, 0).UTC()
	y, m, d := t.Date()
	h, min, sec := t.Clock()
	return fmt.Sprintf("%d-%02d-%02d %02d:%02d:%02d UTC", y, int(m), d, h, min, sec)
}

// maxPadding is how much may follow a function in the object that the linker left out: functions are
// aligned to a cache line at most.
const maxPadding = 64

// open opens a file as an object of the debug map. refused says why it is another one.
func (t *objectTable) open(i int, f *objectFile) (o *mappedObject, refused string, err error) {
	if err := f.open(); err != nil {
		return nil, "", err
	}
	o = &mappedObject{objectFile: f, byName: map[string]uint64{}}
	functions := t.debugMap.Functions(i)
	for _, fn := range functions {
		a, ok := f.atoms[fn.Name]
		if !ok {
			continue
		}
		if fn.Size > a.Size || a.Size-fn.Size >= maxPadding {
			return nil, fmt.Sprintf("its function %s has %d bytes, and the program's %d", fn.Name, a.Size, fn.Size), nil
		}
		o.byName[fn.Name] = a.Address
		o.code = append(o.code, movedCode{a.Address, fn.Size, fn.RVA})
	}
	if len(o.code) == 0 {
		return nil, fmt.Sprintf("it has none of its %d functions", len(functions)), nil
	}
	slices.SortStableFunc(o.code, func(a, b movedCode) int { return cmp.Compare(a.address, b.address) })
	return o, "", nil
}

// objectFile is a file that may be an object. path is its name, reversed. What follows is there if it is
// open.
type objectFile struct {
	src  *input.Source
	path string
	// owner is what objectTable.owner returns, once owned is set.
	owner int
	owned bool

	file  *File
	atoms map[string]macho.Atom
	err   error
}

// open opens the file, once.
func (f *objectFile) open() error {
	if f.file != nil || f.err != nil {
		return f.err
	}
	file, err := Open(f.src)
	var atoms []macho.Atom
	if err == nil {
		atoms, err = file.program.(*machoProgram).macho.Atoms() // attachObject has seen that it is an object
	}
	if err != nil {
		if !input.Needs(err) {
			f.err = err
		}
		return err
	}
	f.file, f.atoms = file, make(map[string]macho.Atom, len(atoms))
	for _, a := range atoms {
		f.atoms[a.Name] = a
	}
	return nil
}

// Lookup implements symbolTable.
func (t *objectTable) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	for _, fn := range t.debugMap.Find(rva) {
		o, err := t.object(fn.Object)
		if err != nil {
			return symbol.Symbol{}, symbol.Needs, err
		}
		at, ok := o.byName[fn.Name]
		if !ok {
			continue
		}
		s, answer, err := o.file.Lookup(at + rva - fn.RVA)
		if input.Needs(err) {
			return symbol.Symbol{}, symbol.Needs, err
		}
		if answer != symbol.Yes || s.Public {
			continue
		}
		c := movedCode{at, fn.Size, fn.RVA}
		s.LineStart = c.moved(s.LineStart)
		for i := range s.Inlines {
			s.Inlines[i].Start = c.moved(s.Inlines[i].Start)
		}
		in := c.clip(symbol.Range{Start: s.Start, Size: s.Size})
		s.Start, s.Size = in.Start, in.Size
		return s, answer, nil
	}
	return symbol.Symbol{}, symbol.No, nil
}

// moved returns where an address of the object is in the program. One before the code is its start.
func (c *movedCode) moved(address uint64) uint64 { return max(address, c.address) - c.address + c.rva }

// clip returns the part of a range that is in the code, in the program.
func (c *movedCode) clip(r symbol.Range) symbol.Range {
	start, end := max(r.Start, c.address), min(r.Start+r.Size, c.address+c.size)
	if start >= end {
		return symbol.Range{}
	}
	return symbol.Range{Start: c.moved(start), Size: end - start}
}

// Each implements symbolTable: it calls fn for the functions that the program has of the objects that
// are there, object by object.
func (t *objectTable) Each(fn func(symbol.Function) error) error {
	done := map[*objectFile]bool{}
	for i := range t.debugMap.Objects {
		o := t.objects[i]
		if o == nil {
			var err error
			if o, err = t.find(i); err != nil {
				return err
			}
		}
		if o.objectFile == nil || done[o.objectFile] { // a linker takes an object once
			t.objects[i] = o
			continue
		}
		done[o.objectFile] = true
		var all []symbol.Function
		if err := o.file.Each(func(f symbol.Function) error {
			if o.move(&f) {
				all = append(all, f)
			}
			return nil
		}); err != nil {
			return err
		}
		for _, w := range o.file.Warnings() {
			t.notes.Add(fmt.Errorf("%s", w))
		}
		o.file.setProgram(o.file.program) // so that what was read of one object is not kept
		slices.SortStableFunc(all, func(a, b symbol.Function) int { return cmp.Compare(a.Ranges[0].Start, b.Ranges[0].Start) })
		for _, f := range all {
			if err := fn(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// move moves a function of the object to the program, and reports whether the program has it.
func (o *mappedObject) move(f *symbol.Function) bool {
	f.Ranges = o.ranges(f.Ranges)
	lines := f.Lines
	f.Lines = nil
	for _, l := range lines {
		for _, r := range o.ranges([]symbol.Range{l.Range}) {
			f.Lines = append(f.Lines, symbol.Line{Range: r, File: l.File, Line: l.Line})
		}
	}
	slices.SortFunc(f.Lines, func(a, b symbol.Line) int { return cmp.Compare(a.Start, b.Start) })
	calls := f.Inlines
	f.Inlines = nil
	for _, c := range calls {
		if c.Ranges = o.ranges(c.Ranges); len(c.Ranges) > 0 {
			f.Inlines = append(f.Inlines, c)
		}
	}
	return len(f.Ranges) > 0
}

// ranges returns where ranges of the object are in the program, sorted.
func (o *mappedObject) ranges(in []symbol.Range) (out []symbol.Range) {
	for _, r := range in {
		i := sort.Search(len(o.code), func(i int) bool { return o.code[i].address+o.code[i].size > r.Start })
		for ; i < len(o.code) && o.code[i].address < r.Start+r.Size; i++ {
			if i > 0 && o.code[i].address == o.code[i-1].address {
				continue // another name of the same code
			}
			if p := o.code[i].clip(r); p.Size > 0 {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b symbol.Range) int { return cmp.Compare(a.Start, b.Start) })
	return out
}
